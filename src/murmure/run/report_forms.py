"""How reports are written when this software did not make them, and how they are parsed.

    Warner, UnrelatedQuestion, GRR          the answer itself: a value of the domain
    Duchi, Piecewise, Hybrid, SquareWave    the number that the report stands for (its readout)
    HadamardResponse                        the number of the report
    SUE, OUE, RAPPOR                        a bit for each value of the domain, in its order
    SubsetSelection                         the values in the set; or bits, as above
    BLH, OLH, any other                     the array that `Plan.report(...).data` has

The first two can be counted: their tally is how often each report came. Codes of the domain are not reports: a whole
number is always a label, so that no number has two meanings.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.cells.parsed_columns import (
    WIDEN_HINT,
    ParsedColumn,
    add_outside,
    one_column,
    parse_integers,
    parse_numbers,
)
from murmure.core.column import kind_of
from murmure.core.domain import without_replacements
from murmure.core.errors import InvalidParameter, OutsideDomain, Phrase, PlanRefused, shorten
from murmure.core.types import Array
from murmure.laws.bits import pack, packed_words
from murmure.local.base.randomisers import NumericOracle
from murmure.local.subset import SubsetSelection
from murmure.local.unary import PackedOracle

WAY_OUT = Phrase(
    "a report must be one that the plan's mechanism can produce; leave out the rows of people who sent none"
)
# A number may be this far from the one that is meant, as a part of the distance between two numbers.
CLOSE = 1e-6
MAX_NAMED = 6


@dataclass(frozen=True)
class ReportWords:
    """What reports may be, in words: what an error says was wanted."""

    words: str
    column: str | None = None
    missing_hint = WAY_OUT
    absent, outside = None, "refuse"  # a report that is not one is refused, whatever the schema does with rows

    def describe(self) -> str:
        return self.words


@dataclass(frozen=True)
class ReportForm:
    """How the reports of one mechanism are written. This one: the array that the mechanism's own tally takes."""

    mechanism: Any

    countable = False  # whether counts of single reports say everything

    @property
    def kind(self) -> str:
        """What the cells of a CSV are."""
        return "text"

    @property
    def columns(self) -> tuple[str, ...]:
        """Of a table that writes one report over several columns."""
        return ()

    @property
    def name(self) -> str:
        return type(self.mechanism).__name__

    @property
    def wanted(self) -> str:
        return Phrase("the array of reports that Plan.report(...).data has for {name}", name=self.name)

    def parse(self, values: Any) -> Array:
        """Reports in the mechanism's own form; refuses what is missing or cannot be one."""
        if not isinstance(values, np.ndarray):
            raise InvalidParameter(
                "reports of {name} are not answers that a person can write down: wanted {wanted}, got {kind}.",
                hint="Reports.load(path) reads what Reports.save wrote; GRR and Warner have reports that are answers",
                name=self.name,
                wanted=self.wanted,
                kind=shorten(type(values).__name__),
            )
        return values

    def count_codes(self, labels: Sequence[Any]) -> Array:
        """The code of each label of a count."""
        raise PlanRefused(
            "Plan refused: counts do not say what each person reported through {name}.",
            hint="pass the reports one by one: {wanted}",
            name=self.name,
            wanted=self.wanted,
        )

    @property
    def outputs(self) -> int:
        return int(self.mechanism.domain.size)


@dataclass(frozen=True)
class AnswerForm(ReportForm):
    """A report is an answer: labels in, labels out."""

    countable = True

    @property
    def kind(self) -> str:
        return kind_of(without_replacements(self.mechanism.domain))

    @property
    def wanted(self) -> str:
        return self.mechanism.domain.describe()

    def parse(self, values: Any) -> Array:
        return without_replacements(self.mechanism.domain).encode(values)

    def count_codes(self, labels: Sequence[Any]) -> Array:
        return self.parse(list(labels))


@dataclass(frozen=True)
class NumberForm(ReportForm):
    """A report is a number of the mechanism's public output grid: what a sanitised table holds."""

    countable = True

    @property
    def kind(self) -> str:
        return "real"

    @property
    def outputs(self) -> int:
        return int(self.mechanism.outputs)

    @cached_property
    def _grid(self) -> tuple[NDArray[np.float64], NDArray[np.intp], float]:
        """The numbers in order, the code of each, and how far off one may be."""
        low, step, _ = self.mechanism.domain.scale()
        numbers = low + step * self.mechanism.readouts()[0]
        order = np.argsort(numbers, kind="stable")
        gap = float(np.diff(numbers[order]).min())
        if gap <= 0:
            raise PlanRefused(
                "Plan refused: two reports of {name} have the same number, so the number does not tell which was sent.",
                hint="pass Reports: Plan.report creates them, Reports.load reads them",
                name=self.name,
            )
        return numbers[order], order, CLOSE * gap

    @property
    def wanted(self) -> str:
        numbers = self._grid[0]
        if len(numbers) <= MAX_NAMED:
            return Phrase(
                "one of the numbers {numbers}, which {name} reports",
                numbers=", ".join(f"{v:.15g}" for v in numbers),
                name=self.name,
            )
        return Phrase(
            "one of the {number_count} numbers from {number:.15g} to {numbers:.15g} that {name} reports",
            number_count=len(numbers),
            number=numbers[0],
            numbers=numbers[-1],
            name=self.name,
        )

    def parse(self, values: Any) -> Array:
        numbers, order, close = self._grid
        about = ReportWords(self.wanted, self.mechanism.domain.column)
        values = one_column(values)
        found = parse_numbers(about, values)
        parsed: ParsedColumn = found.parse(values)
        x = found.array.astype(np.float64)
        right = np.clip(np.searchsorted(numbers, x), 1, len(numbers) - 1)
        with np.errstate(invalid="ignore"):
            near = np.where(np.abs(x - numbers[right - 1]) <= np.abs(numbers[right] - x), right - 1, right)
            add_outside(parsed, ~(np.abs(x - numbers[near]) <= close), WIDEN_HINT)
        parsed.codes = order[near]
        return parsed.all_valid(about)

    def count_codes(self, labels: Sequence[Any]) -> Array:
        return self.parse(list(labels))


@dataclass(frozen=True)
class IndexForm(ReportForm):
    """A report is the number of an outcome, which means nothing by itself."""

    @property
    def kind(self) -> str:
        return "integer"

    @property
    def outputs(self) -> int:
        return len(self.mechanism.channel.outcomes())

    @property
    def wanted(self) -> str:
        return Phrase("the number of a report of {name}, from 0 to {outputs}", name=self.name, outputs=self.outputs - 1)

    def parse(self, values: Any) -> Array:
        about = ReportWords(self.wanted, self.mechanism.domain.column)
        return parse_integers(about, values, 0, self.outputs - 1).all_valid(about)


@dataclass(frozen=True)
class BitForm(ReportForm):
    """A report is a bit for each value: rows of bits, a matrix, or a table with a column for each value."""

    @property
    def kind(self) -> str:
        return "integer"

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.mechanism.domain.labels())

    @property
    def wanted(self) -> str:
        return Phrase("{outputs} bits, one for each value of the domain in its order", outputs=self.outputs)

    def parse(self, values: Any) -> Array:
        k = self.outputs
        if isinstance(values, np.ndarray) and values.dtype == np.uint64 and values.shape[1:] == (packed_words(k),):
            return values  # packed already: the mechanism's own form
        return pack(self._bits(self._matrix(values)))

    def _matrix(self, values: Any) -> Any:
        """One row for each report, whatever holds them."""
        if hasattr(values, "num_columns"):  # a batch of a table with a column for each value
            zeros_and_ones = [self._bits(values.column(i)) for i in range(values.num_columns)]
            return np.column_stack(zeros_and_ones)
        if isinstance(values, np.ndarray) and values.ndim == 2:
            if values.shape[1] != self.outputs:
                raise self._wrong(Phrase("{shape} columns", shape=values.shape[1]))
            return values
        rows = rows_of(values)
        for i, row in enumerate(rows):
            if not isinstance(row, list | tuple) or len(row) != self.outputs:
                raise OutsideDomain.at(
                    "Bits", i, Phrase("holds {row}; wanted {wanted}.", row=shorten(row), wanted=self.wanted), WAY_OUT
                )
        return rows

    def _bits(self, values: Any) -> Array:
        """Zeros and ones of rows, or of one column; true and false are 1 and 0."""
        about, k = ReportWords("0 or 1"), self.outputs
        flat: Any
        if isinstance(values, np.ndarray) and values.ndim == 2:
            flat = values.reshape(-1)
        elif isinstance(values, list):
            flat = [cell for row in values for cell in row]
        else:
            return parse_integers(about, values, 0, 1).all_valid(about)
        try:
            return parse_integers(about, flat, 0, 1).all_valid(about).reshape(-1, k)
        except OutsideDomain as error:
            if error.row is None:
                raise
            who, cell, rest = error.row
            raise OutsideDomain.at(
                who,
                cell // k,
                Phrase("(value {number} of {k}) {rest}", number=cell % k + 1, k=k, rest=rest),
                error.hint,
            ) from None

    def _wrong(self, got: str) -> InvalidParameter:
        return InvalidParameter(
            "reports of {name} are {wanted}; got {got}.", name=self.name, wanted=self.wanted, got=got
        )


@dataclass(frozen=True)
class SetForm(BitForm):
    """A report is a set of values: lists of them, or bits."""

    @property
    def wanted(self) -> str:
        return Phrase("{size} different values of the domain", size=self.mechanism.size)

    def parse(self, values: Any) -> Array:
        if hasattr(values, "num_columns") or (isinstance(values, np.ndarray) and values.ndim == 2):
            return super().parse(values)
        rows, k = rows_of(values), self.outputs
        for i, row in enumerate(rows):
            if not isinstance(row, list | tuple | set | frozenset) or len(row) != self.mechanism.size:
                raise OutsideDomain.at(
                    "Sets", i, Phrase("holds {row}; wanted {wanted}.", row=shorten(row), wanted=self.wanted), WAY_OUT
                )
        w = int(self.mechanism.size)
        try:
            codes = without_replacements(self.mechanism.domain).encode([value for row in rows for value in row])
        except OutsideDomain as error:
            if error.row is None:
                raise
            who, cell, rest = error.row
            raise OutsideDomain.at(
                who,
                cell // w,
                Phrase("(value {number} of {w}) {rest}", number=cell % w + 1, w=w, rest=rest),
                error.hint,
            ) from None
        bits = np.zeros((len(rows), k), np.uint8)
        bits[np.repeat(np.arange(len(rows)), w), codes] = 1
        twice = bits.sum(axis=1) != w
        if twice.any():
            row = int(np.argmax(twice))
            raise OutsideDomain.at(
                "Sets", row, Phrase("names a value twice; wanted {wanted}.", wanted=self.wanted), WAY_OUT
            )
        return pack(bits)


def rows_of(values: Any) -> list[Any]:
    """A list of rows, each a list of Python's own values."""
    values = one_column(values)
    for how in ("to_pylist", "tolist"):
        if hasattr(values, how):
            values = getattr(values, how)()
            break
    return [row.tolist() if isinstance(row, np.ndarray) else row for row in values]


@functools.singledispatch
def form_of(mechanism: Any) -> ReportForm:
    """How reports of this mechanism are written."""
    channel = mechanism.channel
    outcomes: Any = None if channel.report_ndim else channel.outcomes()
    if not hasattr(outcomes, "__len__"):
        return ReportForm(mechanism)
    return AnswerForm(mechanism) if len(outcomes) == mechanism.domain.size else IndexForm(mechanism)


@form_of.register
def _(mechanism: NumericOracle) -> ReportForm:
    return NumberForm(mechanism)


@form_of.register
def _(mechanism: PackedOracle) -> ReportForm:
    return BitForm(mechanism)


@form_of.register
def _(mechanism: SubsetSelection) -> ReportForm:
    return SetForm(mechanism)
