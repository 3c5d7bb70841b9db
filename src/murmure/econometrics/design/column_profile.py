"""What one column of one's own table holds, batch after batch: its ends, its decimals, its labels.

A float is exact where it is the nearest one of a decimal of at most 15 digits, which is how people write numbers: two
such decimals never share a float. Then the column is on the grid of its decimals and sums of it are exact. Floats that
came out of a calculation have 17 digits; they are put on a grid of 17 digits of the largest of them, so that a float
moves by 2**-53 of itself and half a step, 10**-16 of the largest, at most (core/cells/parsed_decimals.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.cells.meaning import MAX_15_DIGITS
from murmure.core.decimals import MAX_BOUND, MAX_PLACES, MAX_VALUES, Decimals
from murmure.core.domain import MAX_SIZE, Categories, Domain, Integers
from murmure.core.errors import InvalidParameter, shorten
from murmure.econometrics.design.number_texts import strange_among_numbers

DIGITS = 15  # of a decimal that is the only one of its float
GRID = 17  # of the largest number, where numbers are rounded: codes stay below 2**58
MIN_DIGITS = 10  # of the largest number, at the very least
NARROW = 6  # of one that is the only one of its float of 32 bits
LOOK = 1024  # floats that are looked at first: most columns that need the rounded grid show it at once
BLOCK = 1 << 15
MAX_INFERRED_LABELS = 100_000
FEWER = "name the columns that are needed, or put labels together"


def places_of(x: NDArray[Any], known: int, digits: int) -> int | None:
    """The fewest decimals, at least `known`, that all of these have; None: some need more than so many digits."""
    rest = x[~_is_decimal(x, known, digits)]
    for part in (rest[:LOOK], rest):
        need = known
        for places in range(DIGITS + 1):
            if not len(part):
                break
            good = _is_decimal(part, places, digits)
            need = max(need, places) if good.any() else need
            part = part[~good]
        if len(part):
            return None
    return need


def _is_decimal(x: NDArray[Any], places: int, digits: int) -> NDArray[np.bool_]:
    out, ten, most = np.empty(len(x), bool), float(10**places), float(10**digits)
    for a in range(0, len(x), BLOCK):
        part = x[a : a + BLOCK]
        c = np.rint(part.astype(np.float64, copy=False) * ten)
        out[a : a + BLOCK] = ((c / ten).astype(x.dtype, copy=False) == part) & (np.abs(c) < most)
    return out


@dataclass
class ColumnProfile:
    """A column, as far as it has been read."""

    name: str
    as_labels: bool = False  # numbers are wanted as labels
    in_text: bool = False  # a CSV: numbers and booleans come as text
    pointed: bool = False  # there, some are written with a point: 1.0 is no whole number to whoever parses the file
    kind: str | None = None  # "numbers", "labels", "booleans"
    low: Decimal | None = None
    high: Decimal | None = None
    places: int | None = 0  # None: more than any decimal of 15 digits has
    labels: set[Any] | None = field(default_factory=set)  # None: too many
    strange: bool = False  # too many were seen, and most of them are numbers
    in_words: bool = True  # labels came as text: nothing but their look says what they are

    # -- batches

    def see(self, column: Any) -> None:
        """A batch of the column, of which nothing is missing."""
        import pyarrow as pa

        t = pa.types
        if t.is_dictionary(column.type):
            self.in_words = False
            self._see_labels(column.unique().dictionary_decode())
        elif t.is_boolean(column.type):
            self._is("booleans")
        elif t.is_string(column.type) or t.is_large_string(column.type) or str(column.type) == "string_view":
            self._see_text(column)
        elif t.is_integer(column.type) or t.is_floating(column.type) or t.is_decimal(column.type):
            if self.as_labels:
                self._keep(column.unique().to_pylist())
            self._measure(column)
        else:
            raise InvalidParameter(
                f"column {self.name!r} holds values of type {column.type}, which are neither numbers nor labels.",
                hint="write dates as text, or as numbers such as days since a date",
            )

    def _is(self, kind: str) -> None:
        if self.kind not in (None, kind):
            words = {"labels": "text", "numbers": "numbers", "booleans": "booleans"}
            raise InvalidParameter(
                f"column {self.name!r} holds {words[kind]} here, and {words[str(self.kind)]} before.",
                hint="give it one type in all tables",
            )
        self.kind = kind

    def _see_labels(self, different: Any) -> None:
        if str(different.type) in ("bool", "null"):
            self._is("booleans")
            return
        self._is("labels")
        self._keep(different.to_pylist())

    def _keep(self, labels: list[Any]) -> None:
        if self.labels is not None:
            self.labels.update(labels)
            if len(self.labels) > MAX_INFERRED_LABELS:
                self.strange = bool(strange_among_numbers(self.labels))
                self.labels = None

    def _measure(self, column: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self._is("numbers")
        if not pa.types.is_floating(column.type):
            ends = pc.min_max(column).as_py()
            if pa.types.is_decimal(column.type) and self.places is not None:
                self.places = max(self.places, column.type.scale)
            self._widen(Decimal(ends["min"]), Decimal(ends["max"]))
            return
        x = column.to_numpy(zero_copy_only=False)
        x = x.astype(np.float32) if x.dtype == np.float16 else x
        digits = NARROW if x.dtype == np.float32 else DIGITS
        if self.places is not None:
            self.places = places_of(x, self.places, digits)
        self._widen(*(Decimal(str(end)) for end in (x.min(), x.max())))

    def _widen(self, low: Decimal, high: Decimal) -> None:
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)

    def _see_text(self, column: Any) -> None:
        """Text of a CSV may be numbers or booleans: it is what all of it can be."""
        different = column.unique()
        if not self.in_text:
            self._see_labels(different)
            return
        self._keep(different.to_pylist())  # numbers too: a later row may hold a word
        if self.kind in (None, "booleans") and set(different.slice(0, 9).to_pylist()) <= BOOLEAN_WORDS:
            self.kind = "booleans"
            return
        numbers = self._numbers_in(different) if self.kind in (None, "numbers") else None
        if numbers is None:
            self.kind = "labels"
            return
        self._measure(numbers)

    def _numbers_in(self, different: Any) -> Any:
        """The numbers that a text writes; None where it is none. 007 is a name in digits, and so is 0x1f."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pc.any(pc.match_substring_regex(different, r"^[+-]?0[0-9xX]")).as_py():
            return None
        try:
            return different.cast(pa.int64())
        except pa.ArrowInvalid:
            self.pointed = True
        try:
            numbers = different.cast(pa.float64())
        except pa.ArrowInvalid:
            return None
        return numbers if pc.all(pc.is_finite(numbers)).as_py() else None

    # -- what it is

    @property
    def is_mixed(self) -> bool:
        """Text that is numbers but for some rows, and that nobody said to be labels."""
        if self.kind != "labels" or self.as_labels or not self.in_words:
            return False
        return self.strange if self.labels is None else bool(strange_among_numbers(self.labels))

    @property
    def same(self) -> Any:
        """The value that all rows hold, where it is one and the same; else None."""
        if self.kind == "numbers":
            return self.low if self.low == self.high else None
        if self.kind == "labels" and self.labels is not None and len(self.labels) == 1:
            return next(iter(self.labels))
        return None

    def domain(self, order: list[Any] | None = None) -> Domain:
        """The domain that holds what was seen; order: that of the labels."""
        if self.kind == "booleans":
            return Categories([False, True])
        if self.kind == "labels" or self.as_labels:
            return self._categories(order)
        assert self.low is not None and self.high is not None
        return number_domain(self.name, self.low, self.high, self.places, not self.pointed)

    def _categories(self, order: list[Any] | None) -> Categories:
        if self.labels is None:
            raise InvalidParameter(
                f"column {self.name!r} holds more than {MAX_INFERRED_LABELS} different labels.", hint=FEWER
            )
        labels: set[Any] = self.labels
        if self.kind == "numbers":
            labels = {float(v) for v in labels}
            if not self.pointed and all(v.is_integer() for v in labels):
                labels = {int(v) for v in self.labels}
        odd = [v for v in labels if not isinstance(v, str | int | float)]
        if odd:
            raise InvalidParameter(
                f"column {self.name!r} holds {shorten(odd[0])}, which is no label.", hint="write labels as text"
            )
        numbers = all(not isinstance(v, str) for v in labels)
        out = sorted(labels) if numbers or all(isinstance(v, str) for v in labels) else sorted(labels, key=str)
        if order is not None:
            out = [v for v in order if v in labels] + [v for v in out if v not in order]
        if len(out) == 1:  # a category needs another that could be
            if numbers and out[0] == 1:  # of no and yes
                out.insert(0, type(out[0])(0))
            else:
                out.append(max(out) + 1 if numbers else f"other than {out[0]}")
        return Categories(out)


BOOLEAN_WORDS = {"true", "false", "True", "False", "TRUE", "FALSE"}  # what a CSV may call a boolean


def number_domain(name: str, low: Decimal, high: Decimal, places: int | None, whole: bool = True) -> Domain:
    """Whole numbers, decimals, or decimals that are rounded, between these ends; one value is widened by one.

    A column of ones is one of no and yes: 0 or 1.
    """
    if max(abs(low), abs(high)) + 1 >= MAX_BOUND:
        raise InvalidParameter(
            f"column {name!r} holds numbers up to {max(abs(low), abs(high)):.3g}, and {MAX_BOUND:.0e} is too much.",
            hint="divide the column by a power of ten",
        )
    with localcontext(prec=60):
        most = max(abs(low), abs(high))
        low, high = low + 0, high + 0  # there is no -0
        if low == high:
            low, high = (Decimal(0), high) if high == 1 else (low, high + 1)
        if places is not None and places <= MAX_PLACES and (high - low) * 10**places < MAX_VALUES:
            if whole and places == 0 and high - low < MAX_SIZE and max(abs(low), abs(high)) < MAX_15_DIGITS:
                return Integers(int(low), int(high))
            return Decimals(low, high, places)
        places = min(MAX_PLACES, max(0, GRID - 1 - most.adjusted()))
        if most.scaleb(places) < 10**MIN_DIGITS:
            raise InvalidParameter(
                f"column {name!r} holds numbers no larger than {most:.3g}, too small for {MAX_PLACES} decimals.",
                hint="multiply the column by a power of ten",
            )
        step = Decimal(1).scaleb(-places)
        return Decimals(
            low.quantize(step, rounding=ROUND_FLOOR),
            high.quantize(step, rounding=ROUND_CEILING),
            places,
            rounding="nearest",
        )
