"""Re-identification over five surveys with the settings of Arcolezi et al., PVLDB 16(5), 2023, a cell at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from murmure.attacks import reidentification
from murmure.core.random import Random
from murmure.lectures.course.work import Work
from murmure.lectures.record_attacks.attribute_runs import people_of, schema_of

SURVEYS = 5


def published_surveys(seed: int, names: Sequence[str], surveys: int = SURVEYS) -> list[list[str]]:
    """The columns of the surveys that the published code draws with this seed (NumPy's old generator)."""
    draw = np.random.RandomState(seed)
    counts = draw.randint(round(len(names) / 2), len(names), surveys)
    return [[names[j] for j in draw.choice(range(len(names)), count, replace=False)] for count in counts]


def survey_cell(
    work: Work,
    rng: Random,
    data: str,
    solution: Any,
    oracle: str,
    calibrate: Any,
    epsilons: list[float],
    top: list[int],
    targets: int | None,
    repetition: int,
) -> list[list[list[float]]]:
    """One repetition: [epsilon][survey][k], the share of people found among the k best matches so far.

    Repetition r has the surveys of the published code's seed r: surveys differ more than draws do.
    """
    people = people_of(work, data)
    targets = None if targets is None else min(targets, len(next(iter(people.values()))))
    result = reidentification(
        people,
        schema_of(work, data),
        epsilons,
        solution=solution,
        oracle=oracle,
        calibrate=calibrate,
        surveys=published_surveys(repetition, list(people)),
        scores=["equal attributes"],
        top=top,
        targets=targets,
        repetitions=1,
        rng=rng,
    )
    found = {(row.setting["epsilon"], int(row.at or 0), row.setting["top"]): row.value for row in result.rows}
    return [[[found[e, s, k] for k in top] for s in range(1, SURVEYS + 1)] for e in epsilons]
