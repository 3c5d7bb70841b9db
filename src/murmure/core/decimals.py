"""Numbers as people write them: with a limited number of decimals, between two public bounds, each of them exact.

    code i stands for low + i / 10**places, exactly

A float holds a decimal only nearly: 0.1 is the float nearest to a tenth. It is read as the shortest decimal that it is
the nearest float of, which is what Python prints; so a tenth is a tenth in a list, a CSV, a frame and Arrow's decimals.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from murmure.core.cells.meaning import MAX_15_DIGITS
from murmure.core.cells.parsed_columns import Codes, ParsedColumn, clamp_outside, one_column, parse_numbers
from murmure.core.cells.parsed_decimals import decimal_text, nearest_decimal_codes, parse_decimals, plain_text
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
from murmure.core.types import Floats, Ints, Mask, NumberDomain

MAX_VALUES = 1 << 62  # codes are int64, and so is the difference of two of them
MAX_PLACES = 18
MAX_LISTED = 1 << 24  # values that are listed one by one
MAX_BOUND = 10**18
PUBLIC_HINT = Phrase("bounds are public constants: choose them without looking at the data")

Rounding = Literal["refuse", "nearest"]


@dataclass(frozen=True, repr=False)
class Decimals(NumberDomain):
    """A number with at most `places` decimals between two public bounds: `Decimals(0, "99.9", places=1)`.

    A number with more decimals is refused, or moved to the nearest that has no more where rounding="nearest". Digits
    beyond the fifteenth are read only where the domain itself has more, and then only exact sums take it
    (core/cells/parsed_decimals.py).

    >>> import murmure as mu
    >>> price = mu.Decimals(0, 100, places=2)
    >>> print(price.size, [price.label(code) for code in price.encode([0.1, 19.99, 100])])
    10001 ['0.1', '19.99', '100']
    >>> try:
    ...     price.encode([0.125])
    ... except mu.MurmureError as error:
    ...     print(error)
    Decimals: row 0 holds 0.125 (1 outside in all here); wanted a number from 0 to 100 with at most 2 decimals.
      Hint: round the column yourself, or say so: Decimals(...) with a larger places than 2, or rounding="nearest"
    """

    low: Decimal  # given as a whole number, a float, a text or a Decimal; 0.1 is a tenth
    high: Decimal
    places: int
    rounding: Rounding = "refuse"
    column: str | None = None
    absent: Decimal | None = None  # what a missing answer counts as, where a curator reads every row; None: left out
    outside: Outside = "refuse"  # what becomes of a row with another number

    if TYPE_CHECKING:  # bounds become Decimals

        def __init__(
            self,
            low: Decimal | float | str,
            high: Decimal | float | str,
            places: int,
            rounding: Rounding = "refuse",
            column: str | None = None,
            absent: Decimal | float | str | None = None,
            outside: Outside = "refuse",
        ) -> None: ...

    def __post_init__(self) -> None:
        places = check_whole("Decimals", "places", self.places, 0, None)
        if places > MAX_PLACES:
            raise InvalidParameter(
                "Decimals.places must be at most {max_places}, got {got}.", max_places=MAX_PLACES, got=places
            )
        object.__setattr__(self, "places", places)
        if self.rounding not in get_args(Rounding):
            raise InvalidParameter(
                'Decimals.rounding must be "refuse" or "nearest", got {got}.', got=shorten(self.rounding)
            )
        for name in ("low", "high"):
            object.__setattr__(self, name, self._checked_bound(name, getattr(self, name)))
        if self.high <= self.low:
            raise InvalidParameter(
                "Decimals needs low < high, got {low} and {high}.", hint="low comes first", low=self.low, high=self.high
            )
        if self.size > MAX_VALUES:
            raise InvalidParameter(
                "Decimals holds at most 2**62 values, got about 2**{bit_length}.",
                hint="use fewer places, or narrower bounds",
                bit_length=self.size.bit_length() - 1,
            )
        check_outside("Decimals", self.outside, labels=False)
        if self.absent is not None:
            object.__setattr__(self, "absent", self.constant("Decimals.absent", self.absent))
        check_absent(self)

    def _checked_bound(self, name: str, value: object) -> Decimal:
        text = decimal_text(value)
        if text is None:
            raise InvalidParameter(
                "Decimals.{name} must be a finite number, got {got}.", hint=PUBLIC_HINT, name=name, got=shorten(value)
            )
        exact = Fraction(text)
        if abs(exact) >= MAX_BOUND:
            raise InvalidParameter(
                "Decimals.{name} must lie between -10**18 and 10**18, got {got}.", name=name, got=shorten(value)
            )
        if (exact * 10**self.places).denominator != 1:
            raise InvalidParameter(
                "Decimals.{name} must have at most {places} decimals (places), got {got}.",
                hint="use more places, or round the bound yourself",
                name=name,
                places=self.places,
                got=shorten(value),
            )
        return Decimal(text)

    def constant(self, name: str, value: object) -> Decimal:
        """A public constant of the domain, as exact as its bounds: text is a number here, since no row holds it."""
        text = decimal_text(value)
        if text is None:
            raise InvalidParameter(
                "{name} must be {value}, got {got}.", name=name, value=self.describe(), got=shorten(value)
            )
        return Decimal(text)

    # -- exact values

    @property
    def low_exact(self) -> Fraction:
        return Fraction(self.low)

    @property
    def high_exact(self) -> Fraction:
        return Fraction(self.high)

    @property
    def step(self) -> Fraction:
        return Fraction(1, 10**self.places)

    @cached_property
    def first(self) -> int:
        """The lowest value in steps: code i stands for (first + i) / 10**places."""
        return int(self.low_exact * 10**self.places)

    @cached_property
    def size(self) -> int:
        return int((self.high_exact - self.low_exact) * 10**self.places) + 1

    @cached_property
    def short(self) -> bool:
        """Whether all values have at most 15 digits, as floats do."""
        return max(-self.first, self.first + self.size - 1) < MAX_15_DIGITS

    def exact(self, code: int) -> Fraction:
        """The value of a code."""
        return Fraction(self.first + int(code), 10**self.places)

    def floats(self, codes: Codes) -> Floats:
        """The nearest float of every code's value."""
        codes, over = np.asarray(codes, np.int64), 10**self.places
        if max(-self.first, self.first + self.size) <= 1 << 53:  # a quotient of two floats is rounded once
            return np.asarray((codes + self.first) / over, np.float64)
        return np.fromiter(((self.first + code) / over for code in codes.tolist()), np.float64, len(codes))

    # -- codes

    def encode(self, values: Any) -> Codes:
        return self.parse(values).all_valid(self)

    def parse(self, values: Any) -> ParsedColumn:
        return clamp_outside(self, values, parse_decimals(self, values))

    def nearest(self, array: NDArray[Any]) -> Ints:
        """A code for every number, none of them NaN: the nearest value (core/cells/lenient_encoding.py)."""
        return nearest_decimal_codes(self, array)

    def nearest_codes(self, values: Any, parsed: ParsedColumn, rows: Mask) -> Codes:
        """The codes of the nearest values of some rows. A long domain has already moved all but infinity to them."""
        numbers = parse_numbers(self, one_column(values)).array[rows]
        if self.short:
            return self.nearest(numbers)
        return np.where(np.isinf(numbers), np.where(numbers > 0, self.size - 1, 0), parsed.codes[rows])

    # -- all values, one by one

    def label(self, code: int) -> str:
        return plain_text(self.first + int(code), self.places)

    def labels(self) -> list[str]:
        self._refuse_listing()
        return [self.label(code) for code in range(self.size)]

    def numbers(self) -> Floats:
        self._refuse_listing()
        return self.floats(np.arange(self.size))

    def _refuse_listing(self) -> None:
        if self.size > MAX_LISTED:
            raise InvalidParameter(
                "{value!r} has {size} values, too many to list (at most 2**24).",
                hint="use fewer places or narrower bounds, or Interval(low, high, cells=...) for a coarse grid",
                value=self,
                size=self.size,
            )

    def scale(self) -> tuple[float, float, float]:
        """value = low + step * code, and how far a value may have moved to reach the grid."""
        step = float(self.step)
        return float(self.low), step, step / 2 if self.rounding == "nearest" else 0.0

    # -- in words

    missing_hint = MISSING_NUMBER_HINT

    def public(self) -> str:
        rounded = self.rounding == "nearest"
        values = Phrase(
            "the numbers {low} to {high} with at most {places} decimals, others rounded to the nearest"
            if rounded
            else "the numbers {low} to {high} with at most {places} decimals",
            low=self.low,
            high=self.high,
            places=self.places,
        )
        return of_column(values, self)

    def describe(self) -> str:
        if self.rounding == "nearest":
            return Phrase("a number from {low} to {high}", low=self.low, high=self.high)
        return Phrase(
            "a number from {low} to {high} with at most {places} decimals",
            low=self.low,
            high=self.high,
            places=self.places,
        )

    def __repr__(self) -> str:
        rounding = "" if self.rounding == "refuse" else f", rounding={self.rounding!r}"
        return f"Decimals({self.low}, {self.high}, places={self.places}{rounding}{settings_repr(self)})"

    def to_dict(self) -> dict[str, Any]:
        return {
            "type": "Decimals",
            "low": str(self.low),
            "high": str(self.high),
            "places": self.places,
            "rounding": self.rounding,
            "column": self.column,
        } | {name: str(value) for name, value in policy_fields(self).items()}
