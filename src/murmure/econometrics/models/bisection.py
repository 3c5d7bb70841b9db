"""Quantiles by bisection: each round counts the rows at or below a point, and gains one bit of each quantile.

    x_q = min {v : #{x <= v} >= q n}          a value of the column, exactly: its error has no bin width

The first point is the middle of the public bounds, and each count decides which half holds x_q. ceil(log2(values))
rounds find it exactly, fewer rounds with a tolerance; several quantiles share the rounds. The points depend on earlier
counts. All counts are released, and the result lists them.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from murmure.core.catalogue_entries import ModelEntry, ModelFunction
from murmure.core.domain import Integers, Interval
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.core.types import Model
from murmure.econometrics.design.columns import decimal_text, exact_number, name_list, require_number, select_columns
from murmure.econometrics.design.factors import quoted
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example
from murmure.econometrics.results.result import ModelResult, number_name
from murmure.show.document import Table
from murmure.statistics.expressions.terms import grid_of
from murmure.statistics.sums import Sums

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How

MAX_QUANTILES = 100


@dataclass(frozen=True)
class Bisection(Model):
    """Quantiles of a column. probabilities: decimals from 0 to 1. tolerance: largest width of a bracket; 0: exact."""

    domain: Schema
    column: str
    probabilities: tuple[str, ...] = ("0.5",)
    tolerance: str = "0"

    noise_refusal: ClassVar[str | None] = Phrase(
        "every round would spend part of the budget; mu.Quantile chooses among all values in one round, with a "
        "smaller error"
    )

    entry = ModelEntry(
        order=270,
        functions=(ModelFunction("quantile", study=('column = "age"\nprobabilities = [0.5]\ntolerance = 20',)),),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "domain", select_columns("Bisection", self.domain, [self.column]))
        require_number("Bisection", self.domain, self.column)
        given = self.probabilities
        if isinstance(given, str) or not isinstance(given, tuple | list) or not 0 < len(given) <= MAX_QUANTILES:
            raise InvalidParameter(
                "Bisection.probabilities must be 1 to {max_quantiles} numbers, got {got}.",
                hint="(0.25, 0.5, 0.75)",
                max_quantiles=MAX_QUANTILES,
                got=shorten(given),
            )
        texts = []
        for q in given:
            p = exact_number("Bisection", "probabilities", q)
            text = decimal_text(p)
            if not 0 <= p <= 1 or text is None:
                raise InvalidParameter(
                    "Bisection.probabilities must be decimals from 0 to 1, got {got}.", got=shorten(q)
                )
            texts.append(text)
        if len(set(texts)) < len(texts):
            raise InvalidParameter(
                "Bisection.probabilities holds a number twice: {texts}.", texts=shorten(tuple(texts))
            )
        object.__setattr__(self, "probabilities", tuple(texts))
        wide = exact_number("Bisection", "tolerance", self.tolerance)
        if wide < 0:
            raise InvalidParameter("Bisection.tolerance must not be negative, got {got}.", got=shorten(self.tolerance))
        object.__setattr__(self, "tolerance", decimal_text(wide) or str(wide))

    @property
    def _enough(self) -> int:
        """How many steps of the grid a bracket may span."""
        return int(Fraction(self.tolerance) / grid_of(self.domain[self.column])[1])  # type: ignore[arg-type]

    @property
    def rounds(self) -> int:
        # a bracket is halved until it is narrow enough
        size, rounds = self.domain[self.column].size - 1, 0
        while size > self._enough:
            size, rounds = size // 2, rounds + 1
        return max(1, rounds)

    @property
    def max_sums(self) -> int:
        """Sums of all rounds together, at most: a count for each quantile in each round, but never more than values."""
        return min(self.rounds * len(self.probabilities), max(1, self.domain[self.column].size - 1))

    @property
    def finest_cells(self) -> tuple[str, int]:
        """The column, and into how many cells the last rounds may divide it, whatever the counts are."""
        return self.column, -(-self.domain[self.column].size // (self._enough + 1))

    def in_words(self) -> str:
        return Phrase(
            "the quantiles {shares} of {column}, by at most {rounds} rounds of counts",
            shares=name_list(self.probabilities),
            column=self.column,
            rounds=self.rounds,
        )

    def _value(self, code: int) -> Fraction:
        first, step = grid_of(self.domain[self.column])  # type: ignore[arg-type]
        return first + step * code

    def _below(self, code: int) -> str:
        """The condition x <= the value of this code, with a decimal at this value, or between it and the next."""
        value, after = self._value(code), self._value(code + 1)
        text = decimal_text(value)
        if text is None or len(text) > 40:
            places = 1
            while Fraction(-(-value.numerator * 10**places // value.denominator), 10**places) >= after:
                places += 1
            text = str(decimal_text(Fraction(-(-value.numerator * 10**places // value.denominator), 10**places)))
        return f"{quoted(self.column)} <= {text}"

    def steps(self) -> Generator[Any, Any, QuantileBrackets]:
        top = self.domain[self.column].size - 1
        # x_q is one of the codes low + 1 .. high: too few rows are at or below `low`
        low, high = [-1] * len(self.probabilities), [top] * len(self.probabilities)
        wanted = [Fraction(q) for q in self.probabilities]
        counted: dict[int, int] = {}
        n: int | None = None
        first = True
        while first or any(b - a - 1 > self._enough for a, b in zip(low, high, strict=True)):
            first = False
            middles = {(a + b) // 2 for a, b in zip(low, high, strict=True) if b - a - 1 > self._enough}
            # A point that was counted is an end of every bracket that held it, so none of these was.
            points = sorted(middles or {top // 2})
            texts = [self._below(m) for m in points]
            answer = yield Sums(self.domain, tuple(texts))
            n = int(answer.n)
            counted |= {m: int(v) for m, v in zip(points, answer.sums, strict=True)}
            for k, q in enumerate(wanted):
                for m in points:
                    enough = counted[m] >= max(q * n, Fraction(1))  # the smallest value has at least one row
                    if enough and low[k] < m < high[k]:
                        high[k] = m
                    elif not enough and low[k] < m < high[k]:
                        low[k] = m
        assert n is not None
        return QuantileBrackets(
            column=self.column,
            probabilities=self.probabilities,
            low=tuple(self._value(a + 1) for a in low),
            high=tuple(self._value(b) for b in high),
            n=n,
            counts=tuple((self._value(m), count) for m, count in sorted(counted.items())),
            grid=(self.column,) if isinstance(self.domain[self.column], Interval) else (),
        )


@dataclass(frozen=True, eq=False)
class QuantileBrackets(ModelResult):
    """Quantiles, each within a bracket that certainly contains it; an exact quantile has equal ends."""

    column: str
    probabilities: tuple[str, ...]
    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]
    n: int
    counts: tuple[tuple[Fraction, int], ...]  # rows at or below each point: everything that was released
    grid: tuple[str, ...] = ()
    how: How | None = None

    @property
    def values(self) -> tuple[Fraction, ...]:
        """The upper ends of the brackets; the quantiles themselves, if exact."""
        return self.high

    @property
    def title(self) -> str:
        return Phrase("Quantiles of {column}", column=self.column)

    def facts(self) -> list[tuple[str, Any]]:
        return [(Phrase("Rows"), self.n), (Phrase("Counts released"), len(self.counts))]

    def tables(self) -> list[Table]:
        rows = tuple((q, float(a), float(b)) for q, a, b in zip(self.probabilities, self.low, self.high, strict=True))
        counts = tuple((number_name(v, short=True), count, count / self.n) for v, count in self.counts)
        return [
            Table("", (Phrase("probability"), Phrase("at least"), Phrase("at most")), rows),
            Table(Phrase("Rows at or below"), (Phrase("point"), Phrase("rows"), Phrase("share")), counts),
        ]


def quantile(
    column: str,
    data: Any,
    probabilities: Sequence[Any] | float | str = (0.5,),
    *,
    tolerance: Any = 0,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> QuantileBrackets:
    """Quantiles of a column, exactly: `quantile("age", table, [0.25, 0.5])`; data and privacy as in `ask`."""
    several: Any = (probabilities,) if isinstance(probabilities, int | float | str) else probabilities
    domain = schema_for("quantile", data, schema, [column], privacy)
    model = Bisection(domain, column, tuple(several), tolerance)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


_ROWS: dict[str, list[Any]] = {
    "age": [(i * i * 7 + 3 * i) % 83 for i in range(47)],
    "dose": [0.5 + (i * 13 % 40) / 20 for i in range(47)],
}

EXAMPLES = (
    Example(Bisection(Schema({"age": Integers(0, 120)}), "age", ("0", "0.25", "0.5", "0.9", "1")), _ROWS),
    Example(Bisection(Schema({"dose": Interval(0.0, 3.0, cells=64)}), "dose", ("0.5",), "0.1"), _ROWS),
)
