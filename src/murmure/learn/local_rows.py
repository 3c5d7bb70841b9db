"""Learning when every row was randomised at the person: the rows as a recipient sees them, or unbiased tables.

`sanitised` gives rows that look like answers: a category through generalised randomised response, a number through a
bounded mechanism (the lecture's pair: staircase and GRR), every column at its share of epsilon. A model learned
from them is a model of blurred people.

`class_tables` gives what the law allows: unbiased counts of class and value together. Left to choose, a person
reports one pair (class, attribute), drawn by chance, as one answer with the whole of epsilon (SMP of the pairs):
the class is paid for once, inside the pair, and not in every column. With a mechanism by name all columns are reported
at their shares, and a pair is read through the product of its two channels (statistics/learning/class_pairs.py).
Numbers are cut into public bins of equal width.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.column import Column
from murmure.core.domain import Categories, Decimals, Domain, Integers, Interval
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.estimates.estimate import Estimate
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.core.types import Certificate, Release
from murmure.local.base.oracle_choice import LISTING, NUMERIC
from murmure.local.base.randomisers import NumericOracle
from murmure.local.spl import SPL, Plain
from murmure.plan.plan import Plan
from murmure.plan.privacy import Local
from murmure.run.engine_choice import is_elsewhere
from murmure.run.run import run
from murmure.statistics.learning.class_moments import ClassMoments, ClassSummary, summary_of_tables
from murmure.statistics.marginals import Marginals

Floats = NDArray[np.float64]

BINS = 8  # of a number: enough for a mean and a variance, few enough for the noise


def is_number(domain: Domain) -> bool:
    return isinstance(domain, Integers | Interval | Decimals)


def chosen_names(
    schema: Schema, given: Any, default: Mapping[bool, str], allowed: Mapping[bool, tuple[str, ...]]
) -> tuple[str, ...]:
    """The mechanism of every private column: one name for the columns that it fits, or a mapping; else the default.

    default, allowed: by whether the column is a number.
    """
    if given is None:
        given = {}
    if isinstance(given, str):
        fits = {kind for kind in (False, True) if given in allowed[kind]}
        if not fits:
            known = sorted({*allowed[False], *allowed[True]})
            raise InvalidParameter(
                "Local.mechanism must be one of {known}, got {got!r}.", known=", ".join(known), got=given
            )
        given = {name: given for name in schema.private if is_number(schema[name]) in fits}
    if not isinstance(given, Mapping) or set(given) - set(schema.private):
        raise InvalidParameter(
            "Local.mechanism must be a name, or a mapping from columns to names, got {got}.",
            hint="columns: {private}",
            got=shorten(given),
            private=", ".join(schema.private),
        )
    names = []
    for column in schema.private:
        number = is_number(schema[column])
        name = given.get(column, default[number])
        if name not in allowed[number]:
            raise InvalidParameter(
                "Local.mechanism: column {column!r} takes one of {allowed}, got {got}.",
                column=column,
                allowed=", ".join(allowed[number]),
                got=shorten(name),
            )
        names.append(name)
    return tuple(names)


def row_mechanism(schema: Schema, privacy: Local) -> Plain:
    """What randomises a row so that it looks like one; the lecture's choice unless another is named."""
    names = chosen_names(
        schema, privacy.mechanism, {False: "GRR", True: "BoundedStaircase"}, {False: ("GRR",), True: NUMERIC}
    )
    return Plain(schema, privacy.epsilon, oracle=names)


def sanitised_rows(schema: Schema, frame: Any, privacy: Local, rng: Random) -> tuple[Any, Mapping[str, Certificate]]:
    """The rows as a recipient would see them, with the columns of the schema; and what each observer learns.

    Numbers of an unbiased mechanism (Piecewise, Duchi, Hybrid) may lie beyond the bounds; they
    are moved to the nearest bound.
    """
    from murmure.run.tables.sanitiser import sanitise

    mechanism = row_mechanism(schema, privacy)
    table = sanitise(frame, mechanism, rng=rng)
    return _clip_to_bounds(table, schema, mechanism), Plan(Marginals(schema), person=mechanism).guarantees()


def _clip_to_bounds(table: Any, schema: Schema, mechanism: Plain) -> Any:
    """Numbers moved to the nearest bound where a mechanism's reports leave the range; others as they are."""
    beyond = [
        name for name, part in zip(schema.private, mechanism.parts, strict=True) if isinstance(part, NumericOracle)
    ]
    if not beyond or is_elsewhere(table):
        return table
    import pyarrow as pa

    columns = {name: table.column(name) for name in table.column_names}
    for name in beyond:
        domain: Any = schema[name]
        clipped = np.clip(np.asarray(columns[name], float), float(domain.low), float(domain.high))
        columns[name] = pa.array(np.rint(clipped).astype(np.int64) if isinstance(domain, Integers) else clipped)
    return pa.table(columns)


# -- unbiased tables ---------------------------------------------------------------------------------------------------


def binned(schema: Schema, target: str, bins: int = BINS) -> Schema:
    """The same columns, numbers in public bins: Interval codes are the bins."""
    columns = {}
    for name in schema.private:
        about, domain = schema.column_specs[name], schema.column_specs[name].domain
        if isinstance(domain, Integers) and domain.size > bins and name != target:
            domain = Interval(domain.low - 0.5, domain.high + 0.5, bins)
        elif isinstance(domain, Interval) and domain.cells > bins:
            domain = Interval(domain.low, domain.high, bins)
        missing = about.missing_value
        if isinstance(domain, Decimals) and domain.size > bins and name != target:
            half = float(domain.step) / 2
            domain = Interval(float(domain.low) - half, float(domain.high) + half, bins)
            missing = None if missing is None else float(missing)
        columns[name] = Column(domain, about.missing, missing, about.note, outside=about.outside)
    return Schema(columns)


def class_tables(
    ask: ClassMoments, frame: Any, privacy: Local, rng: Random, engine: Any = None
) -> tuple[ClassSummary, Mapping[str, Certificate]]:
    """Class counts, moments and tables from unbiased joint counts; and what each observer learns."""
    schema = binned(ask.domain, ask.target)
    if privacy.mechanism is None:
        release, names = _by_pairs(schema, ask, frame, privacy, rng)
    else:
        release, names = _by_columns(schema, ask, frame, privacy, rng, engine)
    n, C = release.estimate.n, ask.classes
    tables, noise = {}, {}
    for name in ask.attributes:
        estimate: Estimate = release.estimate[names[name]]
        # Nobody was drawn for this pair: an even table with so much noise that it says nothing.
        if np.isnan(estimate.mean).any():
            k = schema[name].size
            tables[name], noise[name] = np.full((C, k), n / (C * k)), np.full((C, k), float(n) ** 2)
        else:
            tables[name] = n * estimate.mean.reshape(C, -1)
            noise[name] = n * n * np.asarray(estimate.variance("fixed")).reshape(C, -1)
    guarantees = dict(release.guarantees)
    if privacy.mechanism is None:  # a pair is not an attribute, so no claim is made about one attribute alone
        guarantees = {who: c for who, c in guarantees.items() if c.unit == "record"}
    return summary_of_tables(ask, tables, noise), guarantees


def _by_pairs(
    schema: Schema, ask: ClassMoments, frame: Any, privacy: Local, rng: Random
) -> tuple[Release, dict[str, str]]:
    """One pair (class, attribute) of every person, as one answer."""
    from murmure.local.smp import SMP

    if is_elsewhere(frame):
        raise InvalidParameter(
            "Local: pairs of class and attribute are built in memory, not on Spark.",
            hint='Local(epsilon, mechanism="GRR") reports columns, which Spark randomises in place',
        )
    codes = dict(zip(schema.private, _encode_all(schema, frame), strict=True))
    names = {name: f"{ask.target} and {name}" for name in ask.attributes}
    pairs = Schema({names[name]: Categories(ask.classes * schema[name].size) for name in ask.attributes})
    class_codes = codes[ask.target].astype(np.int64)
    rows = {names[name]: class_codes * schema[name].size + codes[name] for name in ask.attributes}
    return run(Plan(Marginals(pairs), person=SMP(pairs, privacy.epsilon)), rows, rng=rng), names


def _by_columns(
    schema: Schema, ask: ClassMoments, frame: Any, privacy: Local, rng: Random, engine: Any
) -> tuple[Release, dict[str, str]]:
    """Every column on its own, each at its share; pairs are read through the product of their channels."""
    from murmure.statistics.learning.class_pairs import ClassPairs

    listing = {False: LISTING, True: LISTING}
    oracle = chosen_names(schema, privacy.mechanism, {False: "GRR", True: "GRR"}, listing)
    plan = Plan(ClassPairs(schema, ask.target), person=SPL(schema, privacy.epsilon, oracle=oracle))
    return run(plan, frame, engine, rng=rng), {name: name for name in ask.attributes}


def _encode_all(schema: Schema, frame: Any) -> list[NDArray[Any]]:
    """Every row's codes, refused where the schema does not hold them: the holder of the row is told."""
    from murmure.engines.sources.tables import open_table

    parts = [schema.encode(batch) for batch in open_table(frame, schema.private, schema.kinds).batches()]
    return [np.concatenate(column) for column in zip(*parts, strict=True)]
