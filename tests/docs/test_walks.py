"""The walks that docs/how-it-works.md shows are those that the code takes today."""

from __future__ import annotations

import pytest
from tests.docs import walks


@pytest.mark.parametrize("name", walks.TITLES)
def test_a_walk_is_the_one_on_the_page(name: str) -> None:
    """`python -m tests.docs.walks` writes the page."""
    assert walks.written(name) in walks.PAGE.read_text(encoding="utf-8")
