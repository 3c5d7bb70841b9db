"""A small sample of this project's own mutants, all of which its tests find."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.mutants.__main__ import main


@pytest.mark.slow
def test_tests_of_secret_sharing_find_every_mutant_of_the_sample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten of the mutants of Shamir's shares, drawn by a seed; a cache of its own, so that each is really tried."""
    words = ["secure/shamir.py", "--tests", "tests/secure/test_shamir.py", "--sample", "10", "--seed", "1"]

    assert main([*words, "--least", "100", "--cache", str(tmp_path)]) == 0, capsys.readouterr().out
