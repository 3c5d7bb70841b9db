"""Principal components, from the exact covariance (or correlation) of columns: p(p+1)/2 + p + 1 sums, one round.

    C = sum_k lambda_k v_k v_k',    lambda_1 >= lambda_2 >= ...,    share k = lambda_k / trace C

The matrix is exact, and rounded once before its eigenvectors are computed. A vector and its opposite are the same
component, so the largest entry is made positive (of several, the first).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction
from murmure.core.domain import Integers, Interval
from murmure.core.errors import InvalidParameter, MissingColumn, Phrase, shorten
from murmure.core.schema import Schema
from murmure.econometrics.algebra.moments import signed_root
from murmure.econometrics.algebra.rounding import Floats, root, to_floats
from murmure.econometrics.design.columns import name_list, number_columns, select_columns
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.errors import FitFailed, NoVariation
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example, OneRound
from murmure.econometrics.models.covariance import (
    ColumnMoments,
    ColumnMomentsResult,
    column_moments,
    products_of,
)
from murmure.econometrics.results.result import Drawable
from murmure.show.document import Curve, Curves, Intervals, Table
from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How

AS_LARGE = 1 - 1e-9  # entries within this factor of the largest count as equally large
NOISY = Phrase("noise moves eigenvalues apart and may make small ones negative, so no error is given")


@dataclass(frozen=True)
class PCA(OneRound):
    """Principal components of columns. scaled: from correlations, so that units do not matter."""

    domain: Schema
    columns: tuple[str, ...]
    scaled: bool = False

    entry = ModelEntry(
        order=190,
        functions=(
            ModelFunction(
                "pca",
                CommandForm("Principal components.", (), ("columns", "scaled"), "visits.csv --columns age,stay,cost"),
                study=('columns = ["age", "stay", "falls"]\nscaled = true',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", number_columns("PCA", self.domain, self.columns))
        object.__setattr__(self, "domain", select_columns("PCA", self.domain, self.columns))
        if len(self.columns) < 2:
            raise InvalidParameter("PCA.columns must name two columns or more, got {got}.", got=list(self.columns))
        if not isinstance(self.scaled, bool):
            raise InvalidParameter("PCA.scaled must be True or False, got {got}.", got=shorten(self.scaled))
        _ = products_of(self.domain, self.columns)

    def in_words(self) -> str:
        columns = name_list(self.columns)
        if self.scaled:
            return Phrase("principal components of {columns} (correlations)", columns=columns)
        return Phrase("principal components of {columns} (covariances)", columns=columns)

    def steps(self) -> Generator[Any, Any, PCAResult]:
        crossed: CrossProductsEstimate = yield products_of(self.domain, self.columns)
        scatter = column_moments(self.domain, self.columns, crossed)
        C, noisy = scatter.covariance, crossed.noise is not None
        flat = [name for k, name in enumerate(self.columns) if C[k][k] <= 0]
        if noisy and (sum(C[k][k] for k in range(len(C))) <= 0 or (flat and self.scaled)):
            raise FitFailed("with the noise, a variance is not positive.", hint="a larger epsilon", columns=flat)
        if not noisy and (len(flat) == len(C) or (flat and self.scaled)):
            raise NoVariation(
                "column {flat!r} is the same for everybody.", hint="leave it out", columns=flat, flat=flat[0]
            )
        return PCAResult.of(scatter, self.scaled, noisy)


@dataclass(frozen=True, eq=False, kw_only=True)
class PCAResult(ColumnMomentsResult, Drawable):
    """`eigenvalues`, `explained` (shares), `loadings` (a column for each component), `project(rows)`."""

    scatter: ColumnMoments
    scaled: bool
    eigenvalues: Floats
    loadings: Floats
    noisy: bool = False
    how: How | None = None

    @classmethod
    def of(cls, scatter: ColumnMoments, scaled: bool, noisy: bool) -> PCAResult:
        C = scatter.covariance
        over = range(len(C))
        matrix = to_floats(C)
        if scaled:
            matrix = np.array(
                [
                    [1.0 if a == b else signed_root(C[a][b] ** 2 / (C[a][a] * C[b][b]), C[a][b]) for b in over]
                    for a in over
                ]
            )
        values, vectors = np.linalg.eigh(matrix)
        values, vectors = values[::-1].copy(), vectors[:, ::-1].copy()
        if not noisy:
            values = np.maximum(values, 0.0)  # a covariance has no negative eigenvalues, but rounding can make some
        for k in over:
            size = np.abs(vectors[:, k])
            if vectors[int(np.argmax(size >= AS_LARGE * size.max())), k] < 0:
                vectors[:, k] *= -1
        # + 0.0 turns -0.0 into 0.0
        return cls(scatter=scatter, scaled=scaled, eigenvalues=values, loadings=vectors + 0.0, noisy=noisy)

    @property
    def explained(self) -> Floats:
        """The share of each component in the variance of all columns."""
        return np.asarray(self.eigenvalues / self.eigenvalues.sum())

    @property
    def mean(self) -> Floats:
        return to_floats(self.scatter.means)

    @property
    def reason(self) -> str | None:
        return NOISY if self.noisy else None

    def project(self, rows: Any, components: int | None = None) -> Floats:
        """Rows in components: (rows - means) times loadings, divided by standard deviations first if scaled."""
        for name in self.columns:
            try:
                _ = rows[name]
            except (KeyError, IndexError, TypeError):
                raise MissingColumn(
                    "project: there is no column {name!r}.", hint="a frame or a dictionary", name=name
                ) from None
        x = np.stack([np.asarray(rows[name], float) for name in self.columns], axis=-1) - self.mean
        if self.scaled:
            C = self.scatter.covariance
            x = x / np.array([root(C[k][k]) for k in range(len(C))])
        return np.asarray(x @ self.loadings[:, :components])

    @property
    def title(self) -> str:
        columns = name_list(self.columns)
        if self.scaled:
            return Phrase("Principal components of {columns}, correlations", columns=columns)
        return Phrase("Principal components of {columns}, covariances", columns=columns)

    def facts(self) -> list[tuple[str, Any]]:
        return [(Phrase("rows"), self.n), (Phrase("columns"), len(self.columns))]

    def tables(self) -> list[Table]:
        names = tuple(f"PC{k + 1}" for k in range(len(self.columns)))
        shares = tuple(
            (name, float(v), float(share), float(total))
            for name, v, share, total in zip(
                names, self.eigenvalues, self.explained, np.cumsum(self.explained), strict=True
            )
        )
        few = names[:8]
        loads = tuple(
            (name, *map(float, row[: len(few)])) for name, row in zip(self.columns, self.loadings, strict=True)
        )
        return [
            Table(
                Phrase("Variance explained"), ("", Phrase("eigenvalue"), Phrase("share"), Phrase("cumulated")), shares
            ),
            Table(Phrase("Loadings"), ("", *few), loads),
        ]

    @property
    def notes(self) -> list[str]:
        out: list[str] = [Phrase("A component and its opposite are the same: the largest loading of each is positive.")]
        if len(self.columns) > 8:
            out.append(Phrase("Loadings of {n} more components are in .loadings.", n=len(self.columns) - 8))
        if self.noisy:
            out.append(Phrase("Noise moves eigenvalues apart and may make small ones negative, so no error is given."))
        return out

    def pictures(self) -> list[Intervals | Curves]:
        """Shares of variance, and their sum (a scree plot)."""
        k = tuple(float(i + 1) for i in range(len(self.columns)))
        lines = (
            Curve(Phrase("share"), k, tuple(map(float, self.explained))),
            Curve(Phrase("cumulated"), k, tuple(map(float, np.cumsum(self.explained)))),
        )
        title = Phrase("Share of variance of each component, and of all up to it")
        return [Curves(title, lines, Phrase("component"), Phrase("share of variance"))]


def pca(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    scaled: bool = False,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> PCAResult:
    """`pca(table, ["age", "stay"])`; scaled=True takes correlations instead of covariances; data as in `ask`."""
    domain = schema_for("pca", data, schema, columns, privacy, numbers=True)
    model = PCA(domain, number_columns("pca", domain, columns), scaled)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


_BODY = Schema({"height": Integers(140, 210), "weight": Integers(40, 140), "pulse": Interval(40.0, 120.0, cells=16)})
_ROWS: dict[str, list[Any]] = {
    "height": [145 + (i * i * 3 + i) % 60 for i in range(40)],
    "weight": [45 + (i * i * 3 + i) % 60 + (i * 11) % 23 for i in range(40)],
    "pulse": [50.0 + (i * 17) % 61 for i in range(40)],
}
EXAMPLES = (
    Example(PCA(_BODY, ("height", "weight", "pulse")), _ROWS),
    Example(PCA(_BODY, ("height", "weight", "pulse"), scaled=True), _ROWS),
)
