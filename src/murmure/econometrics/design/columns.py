"""What models need to know about columns: whether they hold numbers or labels, a public middle, a public grid.

Sums are taken about the middle c of the public bounds: S[(x - c)^2] is at most a quarter of the largest S[x^2], so it
needs less noise. Exact figures do not depend on c.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from murmure.core.domain import Categories, Decimals, Integers, Interval
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.econometrics.design.constant_columns import constant_value, refuse_constant
from murmure.econometrics.design.factors import literal, quoted
from murmure.statistics.expressions.terms import grid_of

MAX_CELLS = 4096  # without a public grid
MAX_COUNTS = 1 << 20  # with one
MAX_GROUPS = 64
EDGE_DIGITS = 12  # of the edges of even bins


def select_columns(owner: str, schema: Schema, names: Iterable[Any]) -> Schema:
    """The schema of these columns alone: parties need not have, or show, the others."""
    out = {}
    for name in names:
        if not isinstance(name, str):
            raise InvalidParameter("{owner}: a column name must be text, got {got}.", owner=owner, got=shorten(name))
        _ = schema[name]  # raises the error of the schema if there is no such column
        if name not in schema.private:
            raise InvalidParameter(
                "{owner}: column {name!r} is public; public columns are passed through, not added up.",
                hint="remove public = true from the schema",
                owner=owner,
                name=name,
            )
        if name in out:
            raise InvalidParameter(
                "{owner}: column {name!r} is named twice.", hint="use each column once", owner=owner, name=name
            )
        out[name] = schema.column_specs[name]
    return schema.with_columns(out)


def number_columns(owner: str, schema: Schema, names: Sequence[str] | None) -> tuple[str, ...]:
    """These columns, or all that hold numbers."""
    if isinstance(names, str):
        raise InvalidParameter(
            "{owner}.columns must be a list of names, got {got}.",
            hint='["{names}"]',
            owner=owner,
            got=shorten(names),
            names=names,
        )
    if names is None:
        names = [name for name in schema.private if not isinstance(schema[name], Categories)]
        if not names:
            raise InvalidParameter(
                "{owner}: no column holds numbers; the schema has {schema}.",
                owner=owner,
                schema=shorten(list(schema), 120),
            )
    names = tuple(names)
    if not names:
        raise InvalidParameter("{owner}.columns is empty.", hint='["age", "stay"]', owner=owner)
    for name in names:
        require_number(owner, schema, name)
    return names


def require_number(owner: str, schema: Schema, name: str) -> Any:
    """The domain of a column of numbers."""
    domain = schema[name]
    if isinstance(domain, Categories):
        raise InvalidParameter(
            "{owner}: column {name!r} holds labels, not numbers: {domain}.",
            hint="contingency(...) counts labels; declare numbers as Integers, Decimals or Interval",
            owner=owner,
            name=name,
            domain=domain.describe(),
        )
    return domain


def bounds_of_domain(domain: Any) -> tuple[Fraction, Fraction]:
    """The public bounds, exactly."""
    if isinstance(domain, Interval):
        return Fraction(repr(domain.low)), Fraction(repr(domain.high))
    first, step = grid_of(domain)
    return first, first + step * (domain.size - 1)


def decimal_text(value: Fraction) -> str | None:
    """A fraction as an exact decimal; None if the decimal does not end."""
    rest, places = value.denominator, 0
    twos = fives = 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return None
    places = max(twos, fives)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def middle(domain: Any) -> Fraction:
    """A public number near the middle of the bounds; on the grid of the column, if the column is not an interval."""
    low, high = bounds_of_domain(domain)
    mid = (low + high) / 2
    if not isinstance(domain, Interval):
        first, step = grid_of(domain)
        mid = first + step * ((mid - first) // step)
    # Expressions contain the middle as a decimal, which must end and be short.
    text = decimal_text(mid)
    return mid if text is not None and len(text) <= 40 else Fraction(0)


def centred(schema: Schema, name: str) -> tuple[str, Fraction]:
    """The column minus the middle of its bounds, as an expression; and this middle."""
    c = middle(schema[name])
    if c == 0:
        return quoted(name), c
    return f"({quoted(name)} {'-' if c > 0 else '+'} {decimal_text(abs(c))})", c


# -- groups -----------------------------------------------------------------------------------------------------------


def group_labels(owner: str, schema: Schema, name: str, what: str = "by") -> tuple[str, ...]:
    """The labels of a column that puts people into groups."""
    domain = schema[name]
    whole = isinstance(domain, Integers) and domain.size <= MAX_GROUPS
    if not (isinstance(domain, Categories) or whole):
        raise InvalidParameter(
            "{owner}.{what}: column {name!r} does not hold categories: {domain}.",
            hint="use Categories([...]), or Integers with at most {max_groups} values; group a number into classes "
            "first",
            owner=owner,
            what=what,
            name=name,
            domain=domain.describe(),
            max_groups=MAX_GROUPS,
        )
    if domain.size > MAX_CELLS:
        raise InvalidParameter(
            "{owner}.{what}: column {name!r} has {size} labels; at most {max_cells}.",
            owner=owner,
            what=what,
            name=name,
            size=domain.size,
            max_cells=MAX_CELLS,
        )
    labels = tuple(domain.labels())
    if len(set(labels)) < len(labels):
        raise InvalidParameter(
            "{owner}.{what}: two labels of column {name!r} look the same: {labels}.",
            owner=owner,
            what=what,
            name=name,
            labels=shorten(labels),
        )
    return labels


def chosen_labels(owner: str, schema: Schema, name: str, groups: Sequence[Any] | None) -> tuple[str, ...]:
    """The labels of the groups that are compared: these, or all."""
    labels = group_labels(owner, schema, name)
    refuse_constant(schema, name, f"{owner}.by", Phrase("there is only one group; name a column with at least two"))
    if groups is None:
        return labels
    if isinstance(groups, str) or not isinstance(groups, Sequence):
        raise InvalidParameter("{owner}.groups must be a list of labels, got {got}.", owner=owner, got=shorten(groups))
    out = tuple(str(label) for label in groups)
    for label in out:
        if label not in labels:
            raise InvalidParameter(
                "{owner}.groups: column {name!r} has no label {label}; it is {schema}.",
                owner=owner,
                name=name,
                label=shorten(label),
                schema=schema[name].describe(),
            )
    if len(set(out)) < len(out):
        raise InvalidParameter("{owner}.groups names a label twice: {out}.", owner=owner, out=shorten(out))
    return out


def label_condition(schema: Schema, name: str, label: str) -> str:
    """The expression that is 1 for rows with this label, and 0 for others."""
    domain: Any = schema[name]
    code = list(domain.labels()).index(label)
    if isinstance(domain, Integers):
        value: Any = domain.low + code
    else:
        value = code if isinstance(domain.values, int) else domain.values[code]
    return f"({quoted(name)} == {literal(value)})"


def no_and_yes(owner: str, schema: Schema, name: str, what: str) -> tuple[str, str]:
    """The labels of no and of yes (the second) of a column with two values."""
    domain: Any = schema[name]
    if not _is_no_and_yes(domain):
        label = constant_value(schema, name)
        refuse_constant(
            schema,
            name,
            f"{owner}.{what}",
            Phrase(
                "name both values in a schema, with yes second; or give a condition: {name} == {label}",
                name=quoted(name),
                label=label,
            ),
        )
    if isinstance(domain, Interval) or domain.size != 2:
        described = domain.describe() if isinstance(domain, Interval) else Phrase("{size} values", size=domain.size)
        raise InvalidParameter(
            "{owner}.{what}: column {name!r} must hold two values, the second of which is yes, got {got}.",
            hint='Categories(["no", "yes"]) or Integers(0, 1)',
            owner=owner,
            what=what,
            name=name,
            got=described,
        )
    no, yes = domain.labels()
    return no, yes


def _is_no_and_yes(domain: Any) -> bool:
    """Whether the values are 0 and 1, which mean no and yes even if all rows hold one of them."""
    if isinstance(domain, Categories):
        return domain.values == 2 or (not isinstance(domain.values, int) and tuple(domain.values) == (0, 1))
    return (
        not isinstance(domain, Interval)
        and domain.size == 2
        and [int(end) for end in bounds_of_domain(domain)] == [0, 1]
    )


# -- grids ------------------------------------------------------------------------------------------------------------


def exact_number(owner: str, what: str, value: Any) -> Fraction:
    """The decimal that was written, exactly: 0.1 is a tenth, and not the float next to it."""
    if isinstance(value, np.generic):
        value = value.item()
    try:
        if isinstance(value, bool):
            raise ValueError
        if isinstance(value, int | Decimal | Fraction):
            return Fraction(value)
        return Fraction(repr(value) if isinstance(value, float) else str(value))
    except (ValueError, OverflowError, ZeroDivisionError):
        raise InvalidParameter(
            "{owner}.{what} must hold numbers, got {got}.", owner=owner, what=what, got=shorten(value)
        ) from None


def grid_cuts(owner: str, schema: Schema, name: str, grid: Any, cells: int = 1, what: str = "grid") -> tuple[str, ...]:
    """A public grid as decimals, checked; (): the values of the column. cells: those of the other columns."""
    domain = require_number(owner, schema, name)
    low, high = bounds_of_domain(domain)
    if grid is None:
        if domain.size * cells <= MAX_CELLS:
            return ()
        raise InvalidParameter(
            "{owner}.{what} is missing: column {name!r} is {domain}, which makes {number} cells.",
            hint="{what}=[...] lists increasing public points, {what}=100 makes a hundred equal cells; without "
            "it, at most {max_cells} cells are allowed",
            owner=owner,
            what=what,
            name=name,
            domain=domain.describe(),
            number=domain.size * cells,
            max_cells=MAX_CELLS,
        )
    if isinstance(grid, int | np.integer) and not isinstance(grid, bool):
        if 0 < domain.size <= grid and domain.size * cells <= MAX_CELLS:
            return ()  # the column has no more values than that
        points = _even_points(owner, what, int(grid), low, high, whole=isinstance(domain, Integers))
    elif isinstance(grid, str) or not isinstance(grid, Iterable):
        raise InvalidParameter(
            "{owner}.{what} must be a list of numbers, got {got}.",
            hint="{what}=[0, 10]",
            owner=owner,
            what=what,
            got=shorten(grid),
        )
    else:
        points = [exact_number(owner, what, v) for v in grid]
    if not points:
        raise InvalidParameter(
            "{owner}.{what} is empty.", hint="{what}=None takes the column's own values", owner=owner, what=what
        )
    if any(b <= a for a, b in pairwise(points)):
        raise InvalidParameter(
            "{owner}.{what} must increase, got {got}.",
            owner=owner,
            what=what,
            got=shorten([float(v) for v in points], 80),
        )
    if points[0] < low or points[-1] > high:
        raise InvalidParameter(
            "{owner}.{what} must lie within column {name!r}, {domain}, got {point:g} to {points:g}.",
            owner=owner,
            what=what,
            name=name,
            domain=domain.describe(),
            point=float(points[0]),
            points=float(points[-1]),
        )
    if len(points) * cells > MAX_COUNTS:
        raise InvalidParameter(
            "{owner}.{what} makes {number} cells; at most 2**20.", owner=owner, what=what, number=len(points) * cells
        )
    out = [decimal_text(v) for v in points]
    if any(text is None for text in out):
        raise InvalidParameter(
            "{owner}.{what} must hold decimals, got {got}.",
            owner=owner,
            what=what,
            got=shorten([str(v) for v in points], 80),
        )
    return tuple(str(text) for text in out)


def widen_to_grid(schema: Schema, name: str, grid: Any) -> Schema:
    """An inferred schema, with the bounds of this column widened to the grid: no row lies beyond the inferred ones."""
    domain: Any = schema[name]
    if not isinstance(grid, list | tuple | np.ndarray) or not len(grid) or not isinstance(domain, Integers | Decimals):
        return schema
    points = [exact_number("grid", "points", v) for v in grid]
    places = domain.places if isinstance(domain, Decimals) else 0
    low, high = bounds_of_domain(domain)
    low, high = min(low, *points), max(high, *points)
    ends = math.floor(low * 10**places), math.ceil(high * 10**places)
    wider: Any
    if isinstance(domain, Decimals):
        wider = replace(domain, low=Decimal(ends[0]).scaleb(-places), high=Decimal(ends[1]).scaleb(-places))
    else:
        wider = replace(domain, low=ends[0], high=ends[1])
    return schema.with_columns({**schema.column_specs, name: wider})


def _even_points(owner: str, what: str, cells: int, low: Fraction, high: Fraction, whole: bool) -> list[Fraction]:
    """The ends of even cells, as short decimals; as whole numbers, if the column holds these."""
    if cells < 1:
        raise InvalidParameter(
            "{owner}.{what} must be at least one cell, got {got}.", owner=owner, what=what, got=cells
        )
    places = 0 if whole else max(0, EDGE_DIGITS - math.floor(math.log10(high - low)))
    inner = [math.floor((low + (high - low) * k / cells) * 10**places) for k in range(1, cells)]
    points_above = {*(Fraction(v, 10**places) for v in inner), high}
    points = sorted(v for v in points_above if low < v <= high)
    return [low, *points] if what == "edges" else points  # a grid counts rows up to each point, bins lie between edges


def inner_cuts(domain: Any, cuts: Sequence[str], first: bool = True) -> tuple[str, ...]:
    """The cuts that separate rows: below the upper bound and, with first=False, above the lower one."""
    low, high = bounds_of_domain(domain)
    return tuple(c for c in cuts if Fraction(c) < high and (first or Fraction(c) > low))


def domain_values(domain: Any) -> list[Fraction]:
    """Every value of a column of numbers, exactly."""
    first, step = grid_of(domain)
    return [first + step * code for code in range(domain.size)]


def name_list(names: Sequence[str], limit: int = 6) -> str:
    """Names for a sentence: the first of them, and how many more there are."""
    shown = ", ".join(names[:limit])
    if len(names) <= limit:
        return shown
    return Phrase("{names} and {more} more", names=shown, more=len(names) - limit)
