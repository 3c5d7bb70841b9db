"""Ridge regression: all penalties from one round, since the sums are those of least squares.

    beta(lambda) = (A + lambda P)^-1 c,       df(lambda) = tr(A (A + lambda P)^-1)
    RSS(lambda) = y'y - 2 c'beta + beta'A beta,     GCV(lambda) = (RSS / n) / (1 - df / n)^2

Hoerl and Kennard, Technometrics 12(1), 1970, eq. (2.1); generalised cross-validation: Golub, Heath and Wahba,
Technometrics 21(2), 1979, eq. (1.4). P is the identity; by default its entry of the intercept is 0.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction, OptionForm
from murmure.core.errors import InvalidParameter, Phrase
from murmure.econometrics.algebra.matrices import submatrix
from murmure.econometrics.design.design_matrix import Design, columns_in_words
from murmure.econometrics.design.from_formula import design_from_formula
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example, OneQuestion
from murmure.econometrics.models.ols import _DESIGN, _ROWS
from murmure.econometrics.results.ridge_path import RidgePath, penalty
from murmure.econometrics.steps.least_squares import check_columns
from murmure.statistics.exact.cross_products import CrossProducts

if TYPE_CHECKING:
    from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate

LAMBDAS = ("0", "0.01", "0.1", "1", "10", "100", "1000", "10000")


@dataclass(frozen=True)
class Ridge(OneQuestion):
    """Least squares with a penalty on squared coefficients. lambdas: penalties, as decimals or fractions."""

    design: Design
    lambdas: tuple[str, ...] = LAMBDAS
    penalise_intercept: bool = False

    entry = ModelEntry(
        order=50,
        functions=(
            ModelFunction(
                "ridge",
                CommandForm(
                    "Ridge regression for many penalties.",
                    ("FORMULA",),
                    (OptionForm("lambdas", "Penalties.  [default: 0 and powers of ten]", kind="numbers"),),
                    '"y ~ a + b" t.csv --lambdas 0.1,1,10',
                ),
                study=('formula = "stay ~ age + falls"\nlambdas = [0.1, 1, 10]\npenalise_intercept = true',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "lambdas", tuple(self.lambdas))
        if not self.lambdas:
            raise InvalidParameter("Ridge.lambdas must hold at least one penalty.")
        for text in self.lambdas:
            penalty(text)
        _ = self._asks

    @property
    def _asks(self) -> CrossProducts:
        return CrossProducts(self.design.domain, (*self.design.terms, self.design.outcome))

    def in_words(self) -> str:
        return Phrase(
            "a ridge regression of {outcome} on {columns}, for {n} penalties",
            outcome=self.design.outcome_name,
            columns=columns_in_words(self.design),
            n=len(self.lambdas),
        )

    def steps(self) -> Generator[Any, Any, RidgePath]:
        crossed: CrossProductsEstimate = yield self._asks
        p = len(self.design.terms)
        at = list(range(p))
        A = submatrix(crossed.matrix, at)
        if crossed.noise is None and any(penalty(text) == 0 for text in self.lambdas):
            check_columns(self.design, A)
        free = [not self.penalise_intercept and term == "1" for term in self.design.terms]
        path = RidgePath(
            formula=self.design.formula,
            outcome=self.design.outcome_name,
            names=self.design.names,
            A=A,
            c=tuple(row[p] for row in crossed.matrix[:p]),
            yy=crossed.matrix[p][p],
            n=crossed.n,
            penalised=tuple(not is_free for is_free in free),
            lambdas=tuple(penalty(text) for text in self.lambdas),
            noisy=crossed.noise is not None,
            design=self.design,
        )
        _ = path.fits  # refuses penalties without a solution
        return path


def ridge(
    formula: str,
    data: Any,
    *,
    lambdas: Sequence[Any] = LAMBDAS,
    penalise_intercept: bool = False,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> RidgePath:
    """Ridge regression for many penalties at once: `ridge("stay ~ age + bmi", table).best`; data as in `ask`."""
    design = design_from_formula("ridge", formula, data, schema, privacy)
    model = Ridge(design, tuple(str(penalty(v)) for v in lambdas), penalise_intercept)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


EXAMPLES = (
    Example(Ridge(_DESIGN), _ROWS),
    Example(Ridge(_DESIGN, ("1/3", "20"), penalise_intercept=True), _ROWS),
)
