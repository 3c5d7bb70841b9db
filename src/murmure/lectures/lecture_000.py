"""Lecture 000's sanitised table, kept as a lesson: the bounds, the labels and the stand-in for missing values are taken
from the data, and every column is given the same epsilon. Nothing here is for real people.

>>> frame = {"age": [31, 0, 50], "outcome": ["no", "yes", "no"]}
>>> lesson = sanitised_as_in_the_lecture(frame, 1.0, zero_is_missing=["age"])
>>> lesson.total
2.0
>>> print(lesson.faults[0])
age: 1 missing values replaced by 40.5, the median of the data: everybody who sees the table learns about the others
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from murmure.core.column import Column
from murmure.core.domain import Categories, Domain, Integers, Interval
from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.random import Random, random_or_secure
from murmure.core.schema import Schema
from murmure.local.spl import Plain

TELLS = Phrase("everybody who sees the table learns about the others")


@dataclass(frozen=True)
class TableLesson:
    """The table of the lecture, what it costs, and why even that is not a guarantee."""

    table: Mapping[str, Any] = field(repr=False)
    draft: Schema  # every bound is marked as taken from the data: only the command `schema` accepts it
    per_column: float
    total: float  # the answer to the lecture's question "valeur du eps global?", had the bounds been public
    faults: tuple[str, ...]

    warning = Phrase("a lesson: bounds and stand-ins were read off the data, so no epsilon holds for this table")


def sanitised_as_in_the_lecture(
    frame: Mapping[str, Any],
    epsilon: float,
    zero_is_missing: Sequence[str] = (),
    numeric: str = "BoundedLaplace",
    rng: Random | None = None,
) -> TableLesson:
    """Replace zeros by the median, read bounds and labels off the data, then randomise every column with epsilon.

    (The listing's own noise is not repeated: it redraws nothing, see `mistakes.share_outside_listing`. Here numbers go
    through the bounded mechanisms that are right for public bounds, which these are not.)
    """
    rng = random_or_secure(rng, "sanitised_as_in_the_lecture")
    columns = {name: np.asarray(values) for name, values in frame.items()}
    faults: list[str] = []
    for name in zero_is_missing:
        if name not in columns:
            raise InvalidParameter("zero_is_missing names {name!r}, which the table does not have.", name=name)
        columns[name] = _replace_zeros_by_median(name, columns[name], faults)
    # Each of these steps looks at the data, and so reveals something before any noise is drawn.
    domains = {name: _domain_of_data(name, values, faults) for name, values in columns.items()}
    mechanism = Plain.per_column(Schema(domains), epsilon, numeric=numeric)
    records = mechanism.report(columns, rng)
    table = {}
    for name, part, reports in zip(mechanism.columns, mechanism.parts, records.parts, strict=True):
        domain = part.domain
        labels = domain.numbers() if not isinstance(domain, Categories) else np.array(domain.labels(), object)
        table[name] = labels[reports]
    draft = Schema({name: Column(domain, from_data=True) for name, domain in domains.items()})
    return TableLesson(table, draft, epsilon, mechanism.epsilon, tuple(faults))


def _replace_zeros_by_median(name: str, values: Any, faults: list[str]) -> Any:
    missing = values == 0
    median = float(np.median(values[~missing]))
    count = int(missing.sum())
    faults.append(
        Phrase(
            "{name}: {count} missing values replaced by {median:g}, the median of the data: {tells}",
            name=name,
            count=count,
            median=median,
            tells=TELLS,
        )
    )
    return np.where(missing, median, values)


def _domain_of_data(name: str, values: Any, faults: list[str]) -> Domain:
    if values.dtype.kind not in "iuf":
        labels = sorted(set(values.tolist()))
        faults.append(
            Phrase(
                "{name}: the labels {labels} were read off the data: a rare answer shows that somebody gave it",
                name=name,
                labels=labels,
            )
        )
        return Categories(labels)
    low, high = values.min(), values.max()
    faults.append(
        Phrase(
            "{name}: the bounds {low:g} and {high:g} are two people's values: {tells}",
            name=name,
            low=float(low),
            high=float(high),
            tells=TELLS,
        )
    )
    if (values == np.floor(values)).all():
        return Integers(int(low), int(high))
    return Interval(float(low), float(high))
