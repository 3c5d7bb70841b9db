"""What one column of a table holds, collected batch by batch: its smallest and largest number, decimals, labels.

People write decimals of at most 15 digits, and two such decimals never share a float. If every float of a column is the
nearest one of such a decimal, the column is on the grid of its decimals, and its sums are exact. Floats that were
calculated have 17 digits. These are put on a grid of 17 digits of the largest of them: a float then moves by at most
2**-53 of itself and half a step, 10**-16 of the largest (core/cells/parsed_decimals.py).
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
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.econometrics.design.number_texts import strange_among_numbers

DIGITS = 15  # two decimals of at most 15 digits never share a float
GRID_DIGITS = 17  # of the largest number, if numbers are rounded: codes stay below 2**58
MIN_DIGITS = 10  # of the largest number; with fewer the column is refused
FLOAT32_DIGITS = 6  # as DIGITS, for floats of 32 bits
# Most columns that need the rounded grid show it within their first floats, so these are tried before all others.
FIRST_LOOK = 1024
BLOCK = 1 << 15
MAX_INFERRED_LABELS = 100_000
FEWER_LABELS = Phrase("name the columns that are needed, or merge labels")


def decimal_places(x: NDArray[Any], known: int, digits: int) -> int | None:
    """The fewest decimals, at least `known`, that write all of these; None if some need more than `digits` digits."""
    need: int | None = known
    for part in (x[:FIRST_LOOK], x):
        need = _places_beyond(part[~_is_decimal(part, known, digits)], known, digits)
        if need is None:
            break
    return need


def _places_beyond(rest: NDArray[Any], known: int, digits: int) -> int | None:
    """The same for numbers that need more than `known`."""
    need = known
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
    """What the batches of a column that were read so far hold."""

    name: str
    as_labels: bool = False  # numbers count as labels
    from_text: bool = False  # from a CSV file, where numbers and booleans are text
    has_point: bool = False  # some numbers of a CSV have a decimal point: parsers do not read 1.0 as a whole number
    kind: str | None = None  # "numbers", "labels", "booleans"
    low: Decimal | None = None
    high: Decimal | None = None
    places: int | None = 0  # decimals; None if 15 digits are not enough
    labels: set[Any] | None = field(default_factory=set)  # None: too many
    mostly_numbers: bool = False  # there are too many labels to keep, and most of them are numbers
    labels_are_text: bool = True  # no type of the table marks them as labels

    # -- batches

    def update(self, column: Any) -> None:
        """Add a batch of the column, without missing values."""
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
                "column {name!r} holds values of type {type}, which are neither numbers nor labels.",
                hint="write dates as text, or as numbers such as days since a date",
                name=self.name,
                type=column.type,
            )

    def _set_kind(self, kind: str) -> None:
        if self.kind not in (None, kind):
            words = {"labels": Phrase("text"), "numbers": Phrase("numbers"), "booleans": Phrase("booleans")}
            raise InvalidParameter(
                "column {name!r} holds {word} here, but held {words} earlier.",
                hint="give it one type in all tables",
                name=self.name,
                word=words[kind],
                words=words[str(self.kind)],
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
        """Text of a CSV file: booleans or numbers if all of it can be read so, else labels."""
        distinct = column.unique()
        if not self.from_text:
            self._add_labels(distinct)
            return
        self._keep_labels(distinct.to_pylist())  # numbers too: a later batch may hold a word
        if self.kind in (None, "booleans") and set(distinct.slice(0, 9).to_pylist()) <= BOOLEAN_WORDS:
            self.kind = "booleans"
            return
        numbers = self._numbers_in(distinct) if self.kind in (None, "numbers") else None
        if numbers is None:
            self.kind = "labels"
            return
        self._measure(numbers)

    def _numbers_in(self, distinct: Any) -> Any:
        """The texts as numbers; None if some are not numbers. 007 and 0x1f are names in digits, not numbers."""
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
        """Whether most texts are numbers and some are not, in a column that is not declared to hold labels."""
        if self.kind != "labels" or self.as_labels or not self.labels_are_text:
            return False
        return self.mostly_numbers if self.labels is None else bool(strange_among_numbers(self.labels))

    @property
    def constant(self) -> Any:
        """The value of all rows, if they hold only one; else None."""
        if self.kind == "numbers":
            return self.low if self.low == self.high else None
        if self.kind == "labels" and self.labels is not None and len(self.labels) == 1:
            return next(iter(self.labels))
        return None

    def domain(self, order: list[Any] | None = None) -> Domain:
        """The smallest domain that holds all batches. order: the order of the labels."""
        if self.kind == "booleans":
            return Categories([False, True])
        if self.kind == "labels" or self.as_labels:
            return self._categories(order)
        assert self.low is not None and self.high is not None
        return number_domain(self.name, self.low, self.high, self.places, not self.has_point)

    def _categories(self, order: list[Any] | None) -> Categories:
        if self.labels is None:
            raise InvalidParameter(
                "column {name!r} holds more than {max_inferred_labels} different labels.",
                hint=FEWER_LABELS,
                name=self.name,
                max_inferred_labels=MAX_INFERRED_LABELS,
            )
        labels: set[Any] = self.labels
        if self.kind == "numbers":
            labels = {float(v) for v in labels}
            if not self.has_point and all(v.is_integer() for v in labels):
                labels = {int(v) for v in self.labels}
        no_labels = [v for v in labels if not isinstance(v, str | int | float)]
        if no_labels:
            raise InvalidParameter(
                "column {name!r} holds {no_label}, which is not a label.",
                hint="write labels as text",
                name=self.name,
                no_label=shorten(no_labels[0]),
            )
        numbers = all(not isinstance(v, str) for v in labels)
        out = sorted(labels) if numbers or all(isinstance(v, str) for v in labels) else sorted(labels, key=str)
        if order is not None:
            out = [v for v in order if v in labels] + [v for v in out if v not in order]
        # Categories need two values at least, so another is made up; a column of ones is one of no (0) and yes (1).
        if len(out) == 1:
            if numbers and out[0] == 1:
                out.insert(0, type(out[0])(0))
            else:
                out.append(max(out) + 1 if numbers else f"other than {out[0]}")
        return Categories(out)


BOOLEAN_WORDS = {"true", "false", "True", "False", "TRUE", "FALSE"}  # in CSV files


def number_domain(name: str, low: Decimal, high: Decimal, places: int | None, whole: bool = True) -> Domain:
    """Whole numbers, decimals, or rounded decimals between these bounds.

    A domain needs two values at least: a single value gets a larger neighbour, and a column of ones becomes 0 or 1.
    """
    if max(abs(low), abs(high)) + 1 >= MAX_BOUND:
        raise InvalidParameter(
            "column {name!r} holds numbers up to {low:.3g}; the limit is {max_bound:.0e}.",
            hint="divide the column by a power of ten",
            name=name,
            low=max(abs(low), abs(high)),
            max_bound=MAX_BOUND,
        )
    with localcontext(prec=60):
        largest = max(abs(low), abs(high))
        low, high = low + 0, high + 0  # turns -0 into 0
        if low == high:
            low, high = (Decimal(0), high) if high == 1 else (low, high + 1)
        if places is not None and places <= MAX_PLACES and (high - low) * 10**places < MAX_VALUES:
            if whole and places == 0 and high - low < MAX_SIZE and max(abs(low), abs(high)) < MAX_15_DIGITS:
                return Integers(int(low), int(high))
            return Decimals(low, high, places)
        places = min(MAX_PLACES, max(0, GRID_DIGITS - 1 - largest.adjusted()))
        if largest.scaleb(places) < 10**MIN_DIGITS:
            raise InvalidParameter(
                "column {name!r} holds numbers no larger than {largest:.3g}, too small for {max_places} decimals.",
                hint="multiply the column by a power of ten",
                name=name,
                largest=largest,
                max_places=MAX_PLACES,
            )
        step = Decimal(1).scaleb(-places)
        return Decimals(
            low.quantize(step, rounding=ROUND_FLOOR),
            high.quantize(step, rounding=ROUND_CEILING),
            places,
            rounding="nearest",
        )
