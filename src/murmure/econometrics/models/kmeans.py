"""k-means by exact sums (Lloyd): how many rows are nearest to each centre, and the sums of their columns.

    c_i <- S[x : nearest(x) = i] / #{nearest(x) = i},      until the sums repeat
    nearest: smallest sum_j (x_j - c_ij)^2; of several, the lowest i

Centres are given, or start on the diagonal of the public bounds, (2 i + 1) / (2 k) of the way. An empty cluster keeps
its centre. Lloyd, IEEE Transactions on Information Theory 28(2), 1982. The sum of squared distances falls in every
round, so the search ends. As always with k-means, the result depends on the start.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction, OptionForm
from murmure.core.domain import Integers, Interval
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.core.types import Model
from murmure.econometrics.algebra.rounding import Floats, rounded
from murmure.econometrics.design.columns import (
    bounds_of_domain,
    decimal_text,
    exact_number,
    name_list,
    number_columns,
    select_columns,
)
from murmure.econometrics.design.factors import quoted
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.design.scales import exponent
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example
from murmure.econometrics.results.result import ModelResult
from murmure.econometrics.rows.kmeans_rows import MAX_CLUSTERS
from murmure.econometrics.steps.newton import check_rounds
from murmure.show.document import Table
from murmure.statistics.exact.function_sums import FunctionSums

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How


@dataclass(frozen=True)
class Lloyd(Model):
    """k-means of some columns of numbers.

    centres: where to start, one tuple of decimals for each cluster; () for the public rule. scaled: distances in shares
    of each column's public range, so that units do not matter.
    """

    domain: Schema
    columns: tuple[str, ...]
    clusters: int
    centres: tuple[tuple[str, ...], ...] = ()
    scaled: bool = False
    rounds: int = 100

    noise_refusal: ClassVar[str | None] = Phrase(
        "its exact sums have no bound that suits noise; use murmure.learn.KMeans"
    )

    entry = ModelEntry(
        order=280,
        functions=(
            ModelFunction(
                "kmeans",
                CommandForm(
                    "Clusters, by Lloyd's rounds.",
                    (),
                    (
                        OptionForm("columns", "Which columns.  [required]", kind="names"),
                        OptionForm("clusters", "How many.  [required]", kind="whole", metavar="K", low=1, high=10_000),
                        "scaled",
                        "rounds",
                    ),
                    "t.csv --columns x,y --clusters 3",
                ),
                study=(
                    'columns = ["age", "stay"]\nclusters = 2\ncentres = [[30, 20], [80, 30]]\nscaled = true\nrounds '
                    "= 20",
                ),
            ),
        ),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", number_columns("Lloyd", self.domain, tuple(self.columns)))
        object.__setattr__(self, "domain", select_columns("Lloyd", self.domain, self.columns))
        k, d = self.clusters, len(self.columns)
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MAX_CLUSTERS:
            raise InvalidParameter(
                "Lloyd.clusters must be a whole number up to {max_clusters}, got {got}.",
                max_clusters=MAX_CLUSTERS,
                got=shorten(k),
            )
        if not isinstance(self.scaled, bool):
            raise InvalidParameter("Lloyd.scaled must be True or False, got {got}.", got=shorten(self.scaled))
        check_rounds("Lloyd", self.rounds)
        rows = [tuple(row) for row in self.centres]
        if rows and (len(rows) != k or any(len(row) != d for row in rows)):
            raise InvalidParameter(
                "Lloyd.centres must be {k} tuples of {d} numbers, got {got}.",
                hint="one for each cluster, in the order of columns; () starts from the public bounds",
                k=k,
                d=d,
                got=shorten(self.centres),
            )
        texts = tuple(tuple(_text(exact_number("Lloyd", "centres", v)) for v in row) for row in rows)
        object.__setattr__(self, "centres", texts)
        _ = self._asks(self._start())

    @property
    def max_sums(self) -> int:
        """Sums of all rounds together, at most."""
        return self.rounds * self._asks(self._start()).width

    def in_words(self) -> str:
        return Phrase(
            "{k} clusters of {columns} (k-means), in at most {rounds} rounds of sums",
            k=self.clusters,
            columns=name_list(self.columns),
            rounds=self.rounds,
        )

    def _start(self) -> list[list[Fraction]]:
        if self.centres:
            return [[Fraction(v) for v in row] for row in self.centres]
        ends = [bounds_of_domain(self.domain[name]) for name in self.columns]
        k = self.clusters
        return [[low + (high - low) * Fraction(2 * i + 1, 2 * k) for low, high in ends] for i in range(k)]

    @property
    def _scales(self) -> list[int]:
        return [exponent(self.domain, quoted(name)) for name in self.columns]

    def _factors(self) -> list[Fraction]:
        """Factors from scaled columns to the units of distances."""
        if not self.scaled:
            return [Fraction(2) ** k for k in self._scales]
        ends = [bounds_of_domain(self.domain[name]) for name in self.columns]
        return [Fraction(2) ** k / (high - low) for k, (low, high) in zip(self._scales, ends, strict=True)]

    def _asks(self, centres: Sequence[Sequence[Fraction]]) -> FunctionSums:
        at = [v / Fraction(2) ** k for row in centres for v, k in zip(row, self._scales, strict=True)]
        parameters = [rounded(v) for v in (*at, *self._factors())]
        return FunctionSums(
            self.domain,
            "nearest",
            tuple(quoted(name) for name in self.columns),
            tuple(f"{v.numerator}/{v.denominator}" for v in parameters),
            (str(self.clusters), *map(str, self._scales)),
        )

    def steps(self) -> Generator[Any, Any, KMeansResult]:
        centres, d = self._start(), len(self.columns)
        previous: tuple[Fraction, ...] | None = None
        settled = False
        for _ in range(self.rounds):
            answer = yield self._asks(centres)
            sums = tuple(Fraction(v) for v in answer.sums)
            settled = sums[:-1] == previous  # without the distances, which change with the centres
            counts = [sums[i * (d + 1)] for i in range(self.clusters)]
            if settled:
                break
            previous = sums[:-1]
            for i, count in enumerate(counts):
                if count:
                    cluster_sums = sums[i * (d + 1) + 1 : (i + 1) * (d + 1)]
                    centres[i] = [v * Fraction(2) ** k / count for v, k in zip(cluster_sums, self._scales, strict=True)]
        return KMeansResult(
            columns=self.columns,
            centres=tuple(tuple(row) for row in centres),
            counts=tuple(int(v) for v in counts),
            squares=sums[-1],
            settled=settled,
            n=answer.n,
            max_rounds=self.rounds,
        )


def _text(v: Fraction) -> str:
    return decimal_text(v) or str(v)


@dataclass(frozen=True, eq=False)
class KMeansResult(ModelResult):
    """Centres and sizes of clusters. squares: the sum of squared distances to the centres of the last round."""

    columns: tuple[str, ...]
    centres: tuple[tuple[Fraction, ...], ...]
    counts: tuple[int, ...]
    squares: Fraction
    settled: bool
    n: int
    max_rounds: int
    how: How | None = None

    @property
    def cluster_centers(self) -> Floats:
        return np.array([[float(v) for v in row] for row in self.centres])

    @property
    def inertia(self) -> float:
        return float(self.squares)

    @property
    def title(self) -> str:
        return Phrase("k-means of {columns}", columns=name_list(self.columns))

    @property
    def remarks(self) -> tuple[str, ...]:
        empty = [str(i + 1) for i, count in enumerate(self.counts) if not count]
        out: list[str] = []
        if not self.settled:
            out.append(Phrase("not settled after {n} rounds: allow more, rounds=...", n=self.max_rounds))
        if empty:
            out.append(
                Phrase("cluster {names}: nobody is near, and the centre stayed where it was", names=name_list(empty))
            )
        return tuple(out)

    def facts(self) -> list[tuple[str, Any]]:
        return [
            (Phrase("Rows"), self.n),
            (Phrase("Clusters"), len(self.counts)),
            (Phrase("Squared distances"), self.inertia),
        ]

    def tables(self) -> list[Table]:
        rows = zip(self.counts, self.centres, strict=True)
        body = tuple((str(i + 1), count, *map(float, centre)) for i, (count, centre) in enumerate(rows))
        return [Table("", (Phrase("cluster"), Phrase("rows"), *self.columns), body)]


def kmeans(
    data: Any,
    columns: Sequence[str],
    clusters: int,
    *,
    centres: Sequence[Sequence[Any]] = (),
    scaled: bool = False,
    rounds: int = 100,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> KMeansResult:
    """k-means by exact sums: `kmeans(table, ["age", "stay"], 3)`; data and privacy as in `ask`."""
    domain = schema_for("kmeans", data, schema, list(columns), privacy)
    model = Lloyd(domain, tuple(columns), clusters, tuple(tuple(row) for row in centres), scaled, rounds)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


_PLANE = Schema({"x": Integers(0, 100), "y": Interval(-1.0, 1.0, cells=64)})
_ROWS: dict[str, list[Any]] = {
    "x": [(i % 3) * 30 + (i * i * 5) % 11 for i in range(45)],
    "y": [((i % 3) - 1) * 0.6 + ((i * 7) % 9 - 4) / 25 for i in range(45)],
}

EXAMPLES = (
    Example(Lloyd(_PLANE, ("x", "y"), 3, scaled=True), _ROWS),
    Example(Lloyd(_PLANE, ("x",), 2, (("1",), ("2",))), _ROWS),
)
