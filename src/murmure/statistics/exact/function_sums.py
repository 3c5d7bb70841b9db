"""Sums of real functions of rows, on a stated grid: scores of likelihoods, residuals, what no exact arithmetic gives.

    value of a row = u 2**-62,   u whole,   |value| <= 2**62

Every row's float is put on the grid before it is added up, so a sum does not depend on the order of rows, on how they
are cut, or on who holds them. A float of 2**-9 or more is on the grid already; smaller ones move by 2**-63 at most.

Nothing bounds what one row can add in a way that would be of use to noise: a curator refuses this question. Between
parties the sums are exact, and each party evaluates the function for its own rows only.

Parameters follow from the sums of earlier rounds. If a row that they make too large stopped its holder, everybody would
see whose row it is, and someone who steers the parameters could single it out. So no row stops anything: what it adds
is cut at 2**62, what is not a number counts as 0, and one more figure counts such rows. Everybody sees that figure in
the sum over all parties, and the question fails for all alike.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from murmure.core.catalogue_entries import SumEntry
from murmure.core.cells.gridded_floats import GriddedFloats
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, OutsideDomain, Phrase, shorten
from murmure.core.schema import Schema
from murmure.core.types import Array, Described
from murmure.statistics.base.exact_sums import TermsStatistic
from murmure.statistics.estimates.sums_estimate import SumsEstimate
from murmure.statistics.expressions.double_double import lows_of
from murmure.statistics.expressions.factors import rounded_columns
from murmure.statistics.expressions.fixed_point import (
    PARTS,
    POINT,
    ROWS,
    UNIT,
    kept_within,
    sums_of,
    whole_numbers,
    whole_of,
)
from murmure.statistics.expressions.parser import labelled, read_expression
from murmure.statistics.expressions.real_functions import floats_of
from murmure.statistics.expressions.row_functions import RowFunction, function_of
from murmure.statistics.expressions.terms import Term, Terms

BEYOND = 1 << 1000  # beyond every float
ENTRIES = 1 << 17  # values at a time: they stay in the cache
DECODED = 1 << 13  # rows that are made floats at a time
PIECE = 1 << 18  # rows whose columns are floats at a time
NUMBER = re.compile(
    r"[+-]?\d{1,4000}(?:/\d{1,4000})?|[+-]?\d{0,400}\.\d{1,400}|[+-]?\d{1,40}(?:\.\d{0,40})?[eE][+-]?\d{1,3}"
)


class FunctionSumsEstimate(SumsEstimate):
    """The sums of a function of rows: `sums` are exact fractions of what each row's value is on the grid."""

    @property
    def bits(self) -> int:
        """Of the longest whole number among the sums."""
        return max(abs(v).bit_length() for v in self.whole)


@dataclass(frozen=True)
class FunctionSums(TermsStatistic, Described):
    """`Evaluated(schema, "residuals", ("stay", "1", "age"), at=("2.5", "1/30"), settings=("scores",))`.

    function: a name in row_functions.FUNCTIONS. inputs: expressions of the columns, which the function gets as floats,
    each exact value correctly rounded. at: public parameters, as "p/q" or decimals. settings: further words.
    A row with a label that is not listed is left out. The last figure, which has no label, counts rows that were cut.
    """

    domain: Schema
    function: str
    inputs: tuple[str, ...]
    at: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    largest = 1 << 2 * POINT
    wide = True  # sums are Python's integers
    trailing_counts = 1  # how many of the last figures are small whole numbers
    entry = SumEntry(order=130)

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Schema):
            raise InvalidParameter("Evaluated.domain must be a Schema, got {got}.", got=shorten(self.domain))
        self._check_parameters()
        terms = Terms(self.domain)
        numbers = tuple(read_expression(text, terms) for text in self.inputs)
        for text, k in zip(self.inputs, numbers, strict=True):
            if terms[k].max_abs * abs(terms[k].unit) >= BEYOND:
                raise InvalidParameter(
                    "Evaluated.inputs: by the bounds of its columns, {text} can be too large for a float.",
                    hint="use a smaller power, or log(...)",
                    text=shorten(text),
                )
        self._keep_columns_read(terms, numbers)
        self._set_terms(terms, numbers)

    def _check_parameters(self) -> None:
        for name in ("inputs", "at", "settings"):
            texts = getattr(self, name)
            if not isinstance(texts, tuple | list) or not all(isinstance(text, str) for text in texts):
                raise InvalidParameter(
                    "Evaluated.{name} must be a tuple of texts, got {got}.", name=name, got=shorten(texts)
                )
            object.__setattr__(self, name, tuple(text.strip() for text in texts))
        if not self.inputs:
            raise InvalidParameter("Evaluated.inputs must name at least one expression.")
        for text in self.at:
            if NUMBER.fullmatch(text) is None or re.search("/0+$", text):
                raise InvalidParameter(
                    "Evaluated.at must hold numbers, got {got}.", hint='write "1/3" or "0.25"', got=shorten(text)
                )
            if abs(Fraction(text)) >= BEYOND:
                raise InvalidParameter(
                    "Evaluated.at: {text} is too large for a float.", hint="scale the columns", text=shorten(text)
                )
        _ = self.labels
        self._function.check(self.inputs, self.at, self.settings)

    def with_parameters(self, at: tuple[str, ...], settings: tuple[str, ...]) -> Self:
        """Sums of the same inputs, whose expressions need not be read again."""
        other = object.__new__(type(self))
        kept = (*(field.name for field in fields(self)), "_function", "terms", "wanted")
        vars(other).update({name: vars(self)[name] for name in kept}, at=at, settings=settings)
        other._check_parameters()
        return other

    @cached_property
    def _function(self) -> RowFunction:
        return function_of(self.function)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Of every figure but the last."""
        found = tuple(self._function.labels(self.inputs, self.settings))
        if not found or len(set(found)) != len(found):
            raise InvalidParameter(
                "function {function!r} must name each of its figures once, got {got}.",
                function=self.function,
                got=shorten(found),
            )
        return found

    @property
    def width(self) -> int:
        return len(self.labels) + 1

    @property
    def units(self) -> tuple[Fraction, ...]:
        """What one step of each integer sum is worth."""
        return (*(UNIT,) * len(self.labels), Fraction(1))

    @property
    def formulas(self) -> tuple[str, ...]:
        return self.inputs

    def in_words(self) -> str:
        """The question in the words of a ledger and a release."""
        return Phrase("Sums of {words}", words=self.words())

    def words(self) -> str:
        """What is added up."""
        return self._function.in_words(self.inputs, self.at, self.settings)

    # -- rows ---------------------------------------------------------------------------------------------------------

    def encode(self, rows: Any) -> Any:
        return self.domain.encode_in_blocks(rows)

    def _columns(self, x: Sequence[Array], step: int) -> Iterator[tuple[Array, dict[int, Any], int]]:
        """Some rows at a time: which are there, the terms in whole numbers, and how many rows they are of."""
        order, names, rows = self.terms.dependencies(self.wanted), self.domain.private, len(x[0])
        for a in range(0, rows, step):
            codes: dict[str, Any] = {
                name: part if isinstance(part := column[a : a + step], GriddedFloats) else np.asarray(part)
                for name, column in zip(names, x, strict=True)
            }
            here = np.ones(min(step, rows - a), bool)
            for name in labelled(self.domain, names):
                here &= codes[name] != self.domain[name].size
            if not here.all():
                codes = {name: column[here] for name, column in codes.items()}
            yield here, self.terms.values(order, codes), int(here.sum())

    @cached_property
    def _step(self) -> int:
        """Few enough rows at a time that all their values stay in the cache, and that their sums are exact."""
        return min(ROWS, max(1 << 8, ENTRIES // self.width))

    @cached_property
    def _parameters(self) -> tuple[float, ...]:
        return tuple(float(Fraction(text)) for text in self.at)

    def _values(self, x: Sequence[Array]) -> Iterator[tuple[Array, NDArray[np.float64], Array]]:
        """Some rows at a time: which are there, what each of them adds, and which were cut."""
        terms, numbers = self.terms, self.wanted
        for here, values, n in self._columns(x, self._step):
            columns: tuple[Any, ...] = tuple(self._floats(values[k], terms[k], n) for k in numbers)
            if self._function.pairs:
                low = (lows_of(values[k], terms[k].unit, high) for k, high in zip(numbers, columns, strict=True))
                columns = tuple(zip(columns, low, strict=True))
            yield here, *self._values_at(columns, n)

    def _values_at(self, columns: tuple[Any, ...], n: int) -> tuple[NDArray[np.float64], Array]:
        with np.errstate(all="ignore"):  # NaN and infinity are handled by kept_within
            found = np.asarray(self._function.values(columns, self._parameters, self.settings), np.float64)
        wanted = (n, len(self.labels))
        assert found.shape == wanted, f"{self.function}: {found.shape}, not {wanted}"
        return kept_within(found)

    @staticmethod
    def _floats(v: Any, term: Term, n: int) -> NDArray[np.float64]:
        return np.full(n, float(v * term.unit)) if isinstance(v, int) else floats_of(v, term.unit, term.max_abs)

    def lift(self, x: Sequence[Array]) -> NDArray[Any]:
        parts = [np.empty((0, self.width), object)]
        for here, found, beyond in self._values(x):
            out = np.zeros((len(here), self.width), object)
            if len(found):
                out[here, :-1] = whole_numbers(found)
                out[here, -1] = [int(one) for one in beyond]
            parts.append(out)
        return np.concatenate(parts)

    def tally(self, x: Sequence[Array]) -> NDArray[Any]:
        if self._function.pairs:
            return self._total((found, beyond) for _, found, beyond in self._values(x))
        pieces = ([column[a : a + PIECE] for column in x] for a in range(0, len(x[0]), PIECE))
        return sum((self.tally_columns(self.columns_of(piece)) for piece in pieces), np.zeros(self.width, object))

    @property
    def column_key(self) -> Hashable:
        """What `columns_of` depends on besides the rows; None where nothing is worth keeping."""
        return None if self._function.pairs else (json.dumps(self.domain.to_dict(), sort_keys=True), self.inputs)

    def columns_of(self, x: Sequence[Array]) -> NDArray[np.float64]:
        """The inputs of the function as floats: a line for each of them, without rows that are left out."""
        out, n = np.empty((len(self.wanted), len(x[0]))), 0
        for _, values, rows in self._columns(x, DECODED):
            for line, k in zip(out, self.wanted, strict=True):
                line[n : n + rows] = self._floats(values[k], self.terms[k], rows)
            n += rows
        out = out if n == out.shape[1] else np.ascontiguousarray(out[:, :n])
        out.flags.writeable = False  # they may be kept for the next question
        return out

    def tally_columns(self, columns: NDArray[np.float64]) -> NDArray[Any]:
        """The sums over rows whose columns_of these are."""
        found = self._function.sums(columns, self._parameters, self.settings)
        if found is not None:
            return np.array([*found, 0], object)
        n = columns.shape[1]
        pieces = (columns[:, a : a + self._step] for a in range(0, n, self._step))
        return self._total(self._values_at(tuple(piece), piece.shape[1]) for piece in pieces)

    def _total(self, parts: Iterable[tuple[NDArray[np.float64], Array]]) -> NDArray[Any]:
        k, rows, many = len(self.labels), 0, 0
        out, sums = np.zeros(k, object), np.zeros((len(PARTS), k))
        for found, beyond in parts:
            if rows + len(found) > ROWS:
                out, sums, rows = out + whole_of(sums), np.zeros_like(sums), 0
            sums += sums_of(found)
            rows, many = rows + len(found), many + int(beyond.sum())
        return np.array([*(out + whole_of(sums)), many], object)

    # -- what is read -------------------------------------------------------------------------------------------------

    def interpret_exact(self, total: Sequence[int] | NDArray[Any], n: int) -> FunctionSumsEstimate:
        """The exact sums of n rows; refused where one of them was cut."""
        *whole, beyond = (int(v) for v in total)
        check_beyond(self, beyond)
        units, none = self.units[:-1], (None,) * len(whole)
        return FunctionSumsEstimate.of(self.labels, tuple(whole), units, none, n, rounded_columns(self.domain))  # type: ignore[return-value]

    def reference(self, x: Sequence[Array]) -> NDArray[np.float64]:
        found = np.concatenate([values for _, values, _ in self._values(x)])
        return np.array([math.fsum(column) for column in found.T])


def check_beyond(statistic: FunctionSums, rows: int) -> None:
    """Refuse a sum over everybody if a row was cut. Nobody learns whose row it was."""
    if rows:
        many = Phrase("{rows} row{detail}", rows=rows, detail=Phrase("s add") if rows != 1 else Phrase(" adds"))
        raise OutsideDomain(
            "{function}: {many} more than 2**{point} to a sum, or something that is not a number.",
            hint="the parameters of this step are too far off: choose another start, or scale the columns",
            function=statistic.function,
            many=many,
            point=POINT,
        )


_PEOPLE = Schema({"stay": Integers(-2, 30), "age": Integers(0, 99), "ward": Categories(["A", "B", "C"])})
_DOSES = Schema({"dose": Interval(0.5, 2.5, cells=8), "income": Integers(-(10**9), 10**9)})

EXAMPLES = (
    FunctionSums(_PEOPLE, "residuals", ("stay", "1", "age", "ward == 'B'"), ("2.5", "-1/30", "0.1"), ("meat",)),
    FunctionSums(_PEOPLE, "residuals", ("stay", "1", "age / 7"), ("2.5", "-1/30"), ("squares",)),
    FunctionSums(_DOSES, "residuals", ("dose", "1", "income", "dose ** 2"), ("1/3", "1/7", "-2"), ("scores",)),
)
