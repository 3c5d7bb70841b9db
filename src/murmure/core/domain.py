"""What one person may hold: public constants only, never read off the data.

A domain numbers its values 0 .. size-1 (the *codes*); every mechanism works on codes. `encode` refuses what the domain
does not hold: nothing is clipped, rounded or guessed silently. A domain can have another rule, for every place where
rows are read: outside="clamp" moves numbers to the nearest value, outside="drop" leaves the row out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.categories import Categories as Categories
from murmure.core.cells.meaning import CLOSE, MAX_15_DIGITS, rounded_all
from murmure.core.cells.parsed_columns import (
    WIDEN_HINT,
    Codes,
    ParsedColumn,
    add_outside,
    clamp_outside,
    either,
    one_column,
    outside_bounds,
    parse_integers,
    parse_numbers,
)
from murmure.core.dates import Dates as Dates
from murmure.core.decimals import Decimals as Decimals
from murmure.core.domain_policies import (
    MAX_SIZE as MAX_SIZE,
)
from murmure.core.domain_policies import (
    MISSING_NUMBER_HINT,
    Outside,
    check_absent,
    check_outside,
    check_whole,
    of_column,
    policy_fields,
    settings_repr,
)
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import is_finite_number
from murmure.core.types import Domain as Domain
from murmure.core.types import Floats, Ints, Mask, NumberDomain

MAX_INT64 = (1 << 63) - 1
BLOCK = 1 << 14  # values that stay in the cache from one pass to the next


@dataclass(frozen=True, repr=False)
class Integers(NumberDomain):
    """A whole number from low to high, both public and both included.

    >>> import murmure as mu
    >>> age = mu.Integers(18, 99)
    >>> print(age.size, age.encode([18, 40, 99]).tolist())
    82 [0, 22, 81]
    >>> try:
    ...     age.encode([17])
    ... except mu.MurmureError as error:
    ...     print(error)
    Integers: row 0 holds 17 (1 outside in all here); wanted a whole number from 18 to 99.
      Hint: widen the domain to public bounds, or correct those rows before they are randomised
    """

    low: int
    high: int
    column: str | None = None
    absent: int | None = None  # what a missing answer counts as, where a curator reads every row; None: it is left out
    outside: Outside = "refuse"  # what becomes of a row with another number

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer):
                raise InvalidParameter(
                    "Integers.{name} must be a whole number, got {got}.", name=name, got=shorten(value)
                )
            object.__setattr__(self, name, int(value))
        if self.high <= self.low:
            raise InvalidParameter(
                "Integers needs low < high, got {low} and {high}.", hint="low comes first", low=self.low, high=self.high
            )
        if self.high - self.low >= MAX_SIZE:
            raise InvalidParameter("Integers holds at most 2**31 values, got {got}.", got=self.high - self.low + 1)
        if max(-self.low, self.high) >= MAX_15_DIGITS:
            raise InvalidParameter(
                "Integers holds numbers of at most 15 digits, got {low} to {high}: numbers are read as floats, which "
                "hold no more.",
                hint="for exact sums of longer numbers: Decimals(low, high, places=0)",
                low=self.low,
                high=self.high,
            )
        check_outside("Integers", self.outside, labels=False)
        check_absent(self)

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def encode(self, values: Any) -> Codes:
        return self.parse(values).all_valid(self)

    def parse(self, values: Any) -> ParsedColumn:
        return clamp_outside(self, values, parse_integers(self, values, self.low, self.high))

    def nearest(self, x: NDArray[Any]) -> Ints:
        """The code of the nearest whole number from low to high; of two, the even one."""
        if x.dtype.kind != "f":
            x = np.minimum(x, np.uint64(MAX_INT64)) if x.dtype == np.uint64 else x
            return np.clip(x.astype(np.int64), self.low, self.high) - self.low
        x = np.clip(x.astype(np.float64, copy=False), self.low, self.high)
        steps = np.rint(x)
        halves = np.flatnonzero(np.abs(x - steps) >= 0.5 - CLOSE * np.abs(x))
        if len(halves):  # a file reader may be off by one unit in the last place
            steps[halves] = np.rint(rounded_all(x[halves]))
        return steps.astype(np.int64) - self.low

    def nearest_codes(self, values: Any, parsed: ParsedColumn, rows: Mask) -> Codes:
        """The codes of the nearest values of some rows of a column."""
        return self.nearest(parse_numbers(self, one_column(values)).array[rows])

    def label(self, code: int) -> str:
        return str(self.low + code)

    def labels(self) -> list[str]:
        return [self.label(code) for code in range(self.size)]

    def numbers(self) -> Floats:
        return np.arange(self.low, self.high + 1, dtype=np.float64)

    def scale(self) -> tuple[float, float, float]:
        """value = low + step * code, and how far a value may have moved to reach the grid."""
        return float(self.low), 1.0, 0.0

    missing_hint = MISSING_NUMBER_HINT

    def public(self) -> str:
        return of_column(Phrase("the whole numbers {low} to {high}", low=self.low, high=self.high), self)

    def describe(self) -> str:
        return Phrase("a whole number from {low} to {high}", low=self.low, high=self.high)

    def __repr__(self) -> str:
        return f"Integers({self.low}, {self.high}{settings_repr(self)})"

    def to_dict(self) -> dict[str, Any]:
        return {"type": "Integers", "low": self.low, "high": self.high, "column": self.column} | policy_fields(self)


@dataclass(frozen=True, repr=False)
class Interval(NumberDomain):
    """A real number between two public bounds, put on a grid of `cells` equal cells.

    Code i stands for the cell's midpoint, so a value moves by at most half a cell:
    (high - low) / (2 cells).

    >>> import murmure as mu
    >>> dose = mu.Interval(0.0, 10.0, cells=100)
    >>> print(dose.encode([0.0, 0.07, 10.0]).tolist())
    [0, 0, 99]
    >>> print(dose.step, [float(v) for v in dose.numbers()[:3].round(2)])
    0.1 [0.05, 0.15, 0.25]
    """

    low: float
    high: float
    cells: int = 1024
    column: str | None = None
    absent: float | None = None  # what a missing answer counts as, where a curator reads every row; None: left out
    outside: Outside = "refuse"  # what becomes of a row with another number

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = getattr(self, name)
            if isinstance(value, bool | str) or not isinstance(value, int | float | np.integer | np.floating):
                raise InvalidParameter(
                    "Interval.{name} must be a finite number, got {got}.", name=name, got=shorten(value)
                )
            if not is_finite_number(value if isinstance(value, int) else float(value)):
                raise InvalidParameter(
                    "Interval.{name} must be a finite number, got {got}.",
                    hint="bounds are public constants: choose them without looking at the data",
                    name=name,
                    got=shorten(value),
                )
            object.__setattr__(self, name, float(value))
        if self.high <= self.low or not math.isfinite(self.high - self.low):
            raise InvalidParameter(
                "Interval needs low < high, got {low!r} and {high!r}.",
                hint="low comes first",
                low=self.low,
                high=self.high,
            )
        # Much narrower, cells / (high - low) would overflow.
        if not self.high - self.low > 1e-280:
            raise InvalidParameter(
                "Interval is too narrow for floats: {low!r} to {high!r}.", low=self.low, high=self.high
            )
        cells = check_whole("Interval", "cells", self.cells, 2, Phrase("with a single cell every answer is the same"))
        if cells > 1 << 16:
            raise InvalidParameter("Interval.cells must be at most 65536, got {got}.", got=cells)
        object.__setattr__(self, "cells", cells)
        check_outside("Interval", self.outside, labels=False)
        check_absent(self)

    @property
    def size(self) -> int:
        return self.cells

    @property
    def step(self) -> float:
        return (self.high - self.low) / self.cells

    def encode(self, values: Any) -> Codes:
        return self.parse(values).all_valid(self)

    def parse(self, values: Any) -> ParsedColumn:
        values = one_column(values)
        parsed = parse_numbers(self, values).parse(values)
        real = parsed.codes.astype(np.float64, copy=False)
        if len(real) and not (real.min() >= self.low and real.max() <= self.high):  # also where one is NaN
            below, above = outside_bounds(real, self.low, self.high)
            add_outside(parsed, below | above, WIDEN_HINT)
            bad = either(parsed.missing, parsed.outside_mask)
            real = real if bad is None else np.where(bad, self.low, real)
        parsed.codes = self.cells_of(real).astype(np.min_scalar_type(self.cells - 1))
        return clamp_outside(self, values, parsed)

    def nearest_codes(self, values: Any, parsed: ParsedColumn, rows: Mask) -> Codes:
        """The cells of some rows of a column."""
        return self.nearest(parse_numbers(self, values).array[rows])

    def nearest(self, x: NDArray[Any]) -> Ints:
        """The cell of every number; beyond the bounds the first or the last."""
        return self.cells_of(x).astype(np.int64)

    def cells_of(self, x: Floats) -> Floats:
        """The cell of every number, none of them NaN; beyond the bounds the first or the last.

        A number next to the edge of a cell is rounded to 15 digits first: a file reader may be off by one unit in the
        last place, and must not move everybody who holds that number to the next cell.
        """
        out, x = np.empty(len(x)), x.astype(np.float64, copy=False)
        # In place and block by block, so that no pass makes a copy of the whole column.
        times = self.cells / (self.high - self.low)
        close = CLOSE * (max(abs(self.low), abs(self.high)) * times + self.cells)
        for a in range(0, len(x), BLOCK):
            block, cell = x[a : a + BLOCK], out[a : a + BLOCK]
            np.subtract(block, self.low, out=cell)
            with np.errstate(over="ignore"):
                cell *= times
            np.clip(cell, 0, self.cells, out=cell)
            edge = np.rint(cell)
            off = np.abs(np.subtract(cell, edge, out=edge), out=edge)
            near = np.flatnonzero(off <= close)
            near = near[(cell[near] > close) & (cell[near] < self.cells - close)]  # beyond the bounds there is no edge
            if len(near):
                cell[near] = (rounded_all(block[near]) - self.low) * times
            np.minimum(cell, self.cells - 1, out=cell)
            np.floor(cell, out=cell)
        return out

    def label(self, code: int) -> str:
        return f"{self.low + (code + 0.5) * self.step:.6g}"

    def labels(self) -> list[str]:
        return [self.label(code) for code in range(self.size)]

    def numbers(self) -> Floats:
        return np.asarray(self.low + (np.arange(self.cells) + 0.5) * self.step, np.float64)

    def scale(self) -> tuple[float, float, float]:
        """value = low + step * code, and how far a value may have moved to reach the grid."""
        return self.low + self.step / 2, self.step, self.step / 2

    missing_hint = MISSING_NUMBER_HINT

    def public(self) -> str:
        return of_column(
            Phrase("the numbers {low:g} to {high:g} in {cells} cells", low=self.low, high=self.high, cells=self.cells),
            self,
        )

    def describe(self) -> str:
        return Phrase("a number from {low:g} to {high:g}", low=self.low, high=self.high)

    def __repr__(self) -> str:
        return f"Interval({self.low:g}, {self.high:g}, cells={self.cells}{settings_repr(self)})"

    def to_dict(self) -> dict[str, Any]:
        return {
            "type": "Interval",
            "low": self.low,
            "high": self.high,
            "cells": self.cells,
            "column": self.column,
        } | policy_fields(self)


DOMAINS: dict[str, type[Categories] | type[Integers] | type[Interval] | type[Decimals] | type[Dates]] = {
    "Categories": Categories,
    "Integers": Integers,
    "Interval": Interval,
    "Decimals": Decimals,
    "Dates": Dates,
}


def check_few_values(owner: str, domain: Any) -> None:
    """Refuse a domain with more than 2**31 values or 15 digits: noise on single values, and floats, do not take it."""
    if isinstance(domain, Decimals) and not domain.short:
        raise InvalidParameter(
            "{owner} takes numbers of at most 15 digits, got {got!r}: numbers are read as floats, which hold no more.",
            hint="use fewer places or narrower bounds; only exact sums, Sums(schema, [...]), take longer numbers",
            owner=owner,
            got=domain,
        )
    if domain.size > MAX_SIZE:
        raise InvalidParameter(
            "{owner} takes at most 2**31 values in a column, got {size} of {domain!r}.",
            hint="use fewer places or narrower bounds, Interval(low, high, cells=...) for a coarse grid, or ask for "
            "exact sums: Sums(schema, [...])",
            owner=owner,
            size=domain.size,
            domain=domain,
        )


def domain_from_dict(fields: Mapping[str, Any]) -> Domain:
    """From JSON; an unknown kind is refused."""
    rest = dict(fields)
    kind = rest.pop("type", None)
    if kind not in DOMAINS:
        raise InvalidParameter(
            "a domain must be one of {domains}, got {got}.", domains=sorted(DOMAINS), got=shorten(kind)
        )
    return DOMAINS[kind](**rest)


def with_column(domain: Domain, name: str | None) -> Domain:
    """The same domain, of another column."""
    return _replaced(domain, column=name)


def with_outside(domain: Domain, outside: Outside) -> Domain:
    """The same domain, with another rule for values that it does not hold."""
    return domain if domain.outside == outside else _replaced(domain, outside=outside)


def without_replacements(domain: Domain) -> Domain:
    """The same values, and no replacement for others: for data that are not rows of people, such as reports."""
    return with_outside(absent_as(domain, None), "refuse")


def absent_as(domain: Domain, value: Any) -> Domain:
    """The same domain, in which a missing answer counts as this value."""
    return _replaced(domain, absent=value)


def _replaced(domain: Domain, **settings: Any) -> Domain:
    return domain.replaced(**settings) if isinstance(domain, Categories) else replace(domain, **settings)  # type: ignore[type-var]
