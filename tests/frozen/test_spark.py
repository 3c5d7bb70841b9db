"""On Spark: the same integers, and the same seeded draws, as when they were frozen (tests/frozen/on_spark.py)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.frozen import on_spark
from tests.frozen.compare import differences
from tests.frozen.make import load

FROZEN = load("spark")


@pytest.mark.parametrize("name", FROZEN)
def test_spark_gives_the_frozen_figures(name: str, spark: Any) -> None:
    kept = FROZEN[name]
    wrong = differences(kept["figures"], on_spark.observed(kept, spark))

    assert not wrong, f"{name} on Spark:\n" + "\n".join(wrong[:20])


def test_every_persisted_name_is_frozen_on_spark() -> None:
    """Run `python -m tests.frozen.make --spark` to add what is new; it changes nothing that is there."""
    assert not [name for name in on_spark.chosen() if name not in FROZEN]
