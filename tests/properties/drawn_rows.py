"""Rows that Hypothesis draws for a question: any number of people, in any order, cut anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from tests.frozen.rows import frame_of

MOST = 200  # rows
SLOW_DRAWS = [HealthCheck.too_slow, HealthCheck.data_too_large]


def few(examples: int) -> Any:
    """So many draws, always the same: a run is a check of what was checked before, and a failure comes back."""
    return settings(
        max_examples=examples, derandomize=True, deadline=None, database=None, suppress_health_check=SLOW_DRAWS
    )


sizes = st.integers(1, MOST)
seeds = st.integers(0, 2**32 - 1)


def rows_for(question: Any, n: int, seed: int) -> Any:
    """n rows of the domain of a question or a mechanism, drawn with replacement: some values many times, some never."""
    frame = frame_of(question.domain.to_dict(), MOST)
    return taken(frame, np.random.default_rng(seed).integers(0, MOST, n))


def taken(frame: Any, places: Any) -> Any:
    """These rows, in this order."""
    if isinstance(frame, dict):
        return {name: [column[i] for i in places] for name, column in frame.items()}
    return [frame[i] for i in places]


def shuffled(frame: Any, n: int, seed: int) -> Any:
    return taken(frame, np.random.default_rng(seed).permutation(n))


def cut_at(frame: Any, n: int, at: int) -> list[Any]:
    """In two parts, neither of them empty if there are two rows."""
    at = min(max(at % n, 1), n)
    return [taken(frame, range(at)), *([taken(frame, range(at, n))] if at < n else [])]
