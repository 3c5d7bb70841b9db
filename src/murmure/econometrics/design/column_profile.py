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
GRID_DIGITS = 17  # of the largest number, where numbers are rounded: codes stay below 2**58
MIN_DIGITS = 10  # of the largest number, at the very least
FLOAT32_DIGITS = 6  # of one that is the only one of its float of 32 bits
FIRST_LOOK = 1024  # floats that are looked at first: most columns that need the rounded grid show it at once
BLOCK = 1 << 15
MAX_INFERRED_LABELS = 100_000
FEWER_LABELS = "name the columns that are needed, or put labels together"


def decimal_places(x: NDArray[Any], known: int, digits: int) -> int | None:
    """The fewest decimals, at least `known`, that all of these have; None: some need more than so many digits."""
    rest = x[~_is_decimal(x, known, digits)]
    for part in (rest[:FIRST_LOOK], rest):
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
    out, ten, bound = np.empty(len(x), bool), float(10**places), float(10**digits)
    for a in range(0, len(x), BLOCK):
        part = x[a : a + BLOCK]
        c = np.rint(part.astype(np.float64, copy=False) * ten)
        out[a : a + BLOCK] = ((c / ten).astype(x.dtype, copy=False) == part) & (np.abs(c) < bound)
    return out


@dataclass
class ColumnProfile:
    """A column, as far as it has been read."""

    name: str
    as_labels: bool = False  # numbers are wanted as labels
    from_text: bool = False  # a CSV: numbers and booleans come as text
    has_point: bool = False  # there, some are written with a point: 1.0 is no whole number to whoever parses the file
    kind: str | None = None  # "numbers", "labels", "booleans"
    low: Decimal | None = None
    high: Decimal | None = None
    places: int | None = 0  # None: more than any decimal of 15 digits has
    labels: set[Any] | None = field(default_factory=set)  # None: too many
    mostly_numbers: bool = False  # too many were seen, and most of them are numbers
    labels_are_text: bool = True  # labels came as text: nothing but their look says what they are

    # -- batches

    def update(self, column: Any) -> None:
        """A batch of the column, of which nothing is missing."""
        import pyarrow as pa

        t = pa.types
        if t.is_dictionary(column.type):
            self.labels_are_text = False
            self._add_labels(column.unique().dictionary_decode())
        elif t.is_boolean(column.type):
            self._set_kind("booleans")
        elif t.is_string(column.type) or t.is_large_string(column.type) or str(column.type) == "string_view":
            self._add_text(column)
        elif t.is_integer(column.type) or t.is_floating(column.type) or t.is_decimal(column.type):
            if self.as_labels:
                self._keep_labels(column.unique().to_pylist())
            self._measure(column)
        else:
            raise InvalidParameter(
                f"column {self.name!r} holds values of type {column.type}, which are neither numbers nor labels.",
                hint="write dates as text, or as numbers such as days since a date",
            )

    def _set_kind(self, kind: str) -> None:
        if self.kind not in (None, kind):
            words = {"labels": "text", "numbers": "numbers", "booleans": "booleans"}
            raise InvalidParameter(
                f"column {self.name!r} holds {words[kind]} here, and {words[str(self.kind)]} before.",
                hint="give it one type in all tables",
            )
        self.kind = kind

    def _add_labels(self, distinct: Any) -> None:
        if str(distinct.type) in ("bool", "null"):
            self._set_kind("booleans")
            return
        self._set_kind("labels")
        self._keep_labels(distinct.to_pylist())

    def _keep_labels(self, labels: list[Any]) -> None:
        if self.labels is not None:
            self.labels.update(labels)
            if len(self.labels) > MAX_INFERRED_LABELS:
                self.mostly_numbers = bool(strange_among_numbers(self.labels))
                self.labels = None

    def _measure(self, column: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self._set_kind("numbers")
        if not pa.types.is_floating(column.type):
            ends = pc.min_max(column).as_py()
            if pa.types.is_decimal(column.type) and self.places is not None:
                self.places = max(self.places, column.type.scale)
            self._widen(Decimal(ends["min"]), Decimal(ends["max"]))
            return
        x = column.to_numpy(zero_copy_only=False)
        x = x.astype(np.float32) if x.dtype == np.float16 else x
        digits = FLOAT32_DIGITS if x.dtype == np.float32 else DIGITS
        if self.places is not None:
            self.places = decimal_places(x, self.places, digits)
        self._widen(*(Decimal(str(end)) for end in (x.min(), x.max())))

    def _widen(self, low: Decimal, high: Decimal) -> None:
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)

    def _add_text(self, column: Any) -> None:
        """Text of a CSV may be numbers or booleans: it is what all of it can be."""
        distinct = column.unique()
        if not self.from_text:
            self._add_labels(distinct)
            return
        self._keep_labels(distinct.to_pylist())  # numbers too: a later row may hold a word
        if self.kind in (None, "booleans") and set(distinct.slice(0, 9).to_pylist()) <= BOOLEAN_WORDS:
            self.kind = "booleans"
            return
        numbers = self._numbers_in(distinct) if self.kind in (None, "numbers") else None
        if numbers is None:
            self.kind = "labels"
            return
        self._measure(numbers)

    def _numbers_in(self, distinct: Any) -> Any:
        """The numbers that a text writes; None where it is none. 007 is a name in digits, and so is 0x1f."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pc.any(pc.match_substring_regex(distinct, r"^[+-]?0[0-9xX]")).as_py():
            return None
        try:
            return distinct.cast(pa.int64())
        except pa.ArrowInvalid:
            self.has_point = True
        try:
            numbers = distinct.cast(pa.float64())
        except pa.ArrowInvalid:
            return None
        return numbers if pc.all(pc.is_finite(numbers)).as_py() else None

    # -- what it is

    @property
    def is_mixed(self) -> bool:
        """Text that is numbers but for some rows, and that nobody said to be labels."""
        if self.kind != "labels" or self.as_labels or not self.labels_are_text:
            return False
        return self.mostly_numbers if self.labels is None else bool(strange_among_numbers(self.labels))

    @property
    def constant(self) -> Any:
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
        return number_domain(self.name, self.low, self.high, self.places, not self.has_point)

    def _categories(self, order: list[Any] | None) -> Categories:
        if self.labels is None:
            raise InvalidParameter(
                f"column {self.name!r} holds more than {MAX_INFERRED_LABELS} different labels.", hint=FEWER_LABELS
            )
        labels: set[Any] = self.labels
        if self.kind == "numbers":
            labels = {float(v) for v in labels}
            if not self.has_point and all(v.is_integer() for v in labels):
                labels = {int(v) for v in self.labels}
        no_labels = [v for v in labels if not isinstance(v, str | int | float)]
        if no_labels:
            raise InvalidParameter(
                f"column {self.name!r} holds {shorten(no_labels[0])}, which is no label.", hint="write labels as text"
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
        largest = max(abs(low), abs(high))
        low, high = low + 0, high + 0  # there is no -0
        if low == high:
            low, high = (Decimal(0), high) if high == 1 else (low, high + 1)
        if places is not None and places <= MAX_PLACES and (high - low) * 10**places < MAX_VALUES:
            if whole and places == 0 and high - low < MAX_SIZE and max(abs(low), abs(high)) < MAX_15_DIGITS:
                return Integers(int(low), int(high))
            return Decimals(low, high, places)
        places = min(MAX_PLACES, max(0, GRID_DIGITS - 1 - largest.adjusted()))
        if largest.scaleb(places) < 10**MIN_DIGITS:
            raise InvalidParameter(
                f"column {name!r} holds numbers no larger than {largest:.3g}, too small for {MAX_PLACES} decimals.",
                hint="multiply the column by a power of ten",
            )
        step = Decimal(1).scaleb(-places)
        return Decimals(
            low.quantize(step, rounding=ROUND_FLOOR),
            high.quantize(step, rounding=ROUND_CEILING),
            places,
            rounding="nearest",
        )
