"""Instrumental variables by two-stage least squares, from one round: all products of columns, instruments and outcome.

    H = X'W (W'W)^-1 W'X,     beta = H^-1 X'W (W'W)^-1 W'y,
    RSS = |y - X beta|^2,     Cov = RSS / (n - p) H^-1

First-stage F of an endogenous column: what the excluded instruments add to the included ones (partial F). Sargan's test
of overidentifying instruments:  n e'W (W'W)^-1 W'e / e'e ~ chi2(q - p)  with e = y - X beta.
Sargan, Econometrica 26(3), 1958; Wooldridge, Econometric Analysis of Cross Section and Panel Data, 2010, section 5.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction, OptionForm
from murmure.core.domain import Integers
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.econometrics.algebra.matrices import (
    Matrix,
    Singular,
    condition_number,
    dependencies,
    dot,
    inverse,
    matmul,
    quadratic,
    scaled,
    solve,
    submatrix,
    times,
    transpose,
)
from murmure.econometrics.algebra.rounding import to_floats
from murmure.econometrics.design.design_matrix import Design, columns_in_words
from murmure.econometrics.design.from_formula import design_from_formula
from murmure.econometrics.errors import Collinear, FitFailed, NoVariation
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example, OneQuestion
from murmure.econometrics.results.instrument_tests import first_stages, sargan
from murmure.econometrics.results.regression import Regression
from murmure.econometrics.steps.least_squares import check_columns, check_rows
from murmure.statistics.exact.cross_products import CrossProducts
from murmure.statistics.expressions.parser import read_expression
from murmure.statistics.expressions.terms import Terms

if TYPE_CHECKING:
    from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate


@dataclass(frozen=True)
class IV(OneQuestion):
    """Two-stage least squares. instruments: a design without outcome; columns in both designs are exogenous."""

    design: Design
    instruments: Design

    entry = ModelEntry(
        order=60,
        functions=(
            ModelFunction(
                "iv",
                CommandForm(
                    "Two-stage least squares.",
                    ("FORMULA",),
                    (
                        OptionForm(
                            "instruments",
                            'What stands for the endogenous columns: "z1 + z2 + x1".  [required]',
                            metavar="Z",
                        ),
                    ),
                    '"pay ~ school" t.csv --instruments "distance"',
                ),
                study=('formula = "stay ~ falls + age"\ninstruments = "distance + age"',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        if not isinstance(self.instruments, Design) or self.instruments.outcome:
            raise InvalidParameter("IV.instruments must be a design without an outcome.")
        if not self.endogenous:
            raise InvalidParameter(
                "IV: every column is its own instrument, so this is ordinary least squares.",
                hint="leave the endogenous columns out of instruments",
            )
        if len(self.excluded) < len(self.endogenous):
            names = [self._name(term) for term in self.endogenous]
            raise InvalidParameter(
                "IV is not identified: {name_count} endogenous columns ({names}) and "
                "{excluded_count} instruments that are not in the formula.",
                hint="give as many instruments as endogenous columns; exogenous columns belong in both",
                name_count=len(names),
                names=", ".join(names),
                excluded_count=len(self.excluded),
            )
        _ = self._asks

    def _name(self, term: str) -> str:
        for design in (self.design, self.instruments):
            if term in design.terms:
                return design.names[design.terms.index(term)]
        return term

    @cached_property
    def _numbers(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """A number for each term and each instrument: equal ones have equal numbers, as x * z and z * x."""
        terms = Terms(self._schema)
        columns = tuple(terms.product([read_expression(text, terms)]) for text in self.design.terms)
        return columns, tuple(terms.product([read_expression(text, terms)]) for text in self.instruments.terms)

    @property
    def endogenous(self) -> tuple[str, ...]:
        columns, instruments = self._numbers
        return tuple(term for term, number in zip(self.design.terms, columns, strict=True) if number not in instruments)

    @property
    def excluded(self) -> tuple[str, ...]:
        """Instruments that are not columns of the model."""
        columns, instruments = self._numbers
        return tuple(
            term for term, number in zip(self.instruments.terms, instruments, strict=True) if number not in columns
        )

    @property
    def _schema(self) -> Schema:
        both = {**self.design.domain.column_specs, **self.instruments.domain.column_specs}
        return self.design.domain.with_columns(both)

    @property
    def _asks(self) -> CrossProducts:
        return CrossProducts(self._schema, (*self.design.terms, *self.excluded, self.design.outcome))

    def in_words(self) -> str:
        return Phrase(
            "a regression by instrumental variables of {outcome} on {columns}; instruments: {instruments}",
            outcome=self.design.outcome_name,
            columns=columns_in_words(self.design),
            instruments=", ".join(self._name(term) for term in self.excluded),
        )

    def steps(self) -> Generator[Any, Any, Regression]:
        crossed: CrossProductsEstimate = yield self._asks
        return self._result(crossed)

    def _result(self, crossed: CrossProductsEstimate) -> Regression:
        M, factors = crossed.matrix, crossed.factors
        p = len(self.design.terms)
        X, W, y = list(range(p)), self._places, len(factors) - 1
        noisy = crossed.noise is not None
        if not noisy:
            assert crossed.n is not None
            check_rows(crossed.n, max(p, len(W)))
            check_columns(self.design, submatrix(M, X))
            check_columns(self.instruments, submatrix(M, W))
        try:
            P = solve(submatrix(M, W), submatrix(M, W, X))  # first stages: the instruments explain W P of X
            H = matmul(submatrix(M, X, W), P)
            g = times(transpose(P), [M[w][y] for w in W])
            inverted = inverse(H)
        except Singular:
            raise self._not_identified(noisy, M, X, W) from None
        beta = times(inverted, g)
        # y - X beta as a combination of all factors: its sums of products then follow from M.
        residual = [Fraction(0)] * len(factors)
        residual[y] = Fraction(1)
        for j in X:
            residual[j] -= beta[j]
        rss = quadratic(residual, M)
        one = self.design.intercept
        tss = M[y][y] if one is None else M[y][y] - (M[one][y] ** 2 / M[one][one] if M[one][one] else 0)
        result = Regression(
            model="2SLS",
            formula=self.design.formula,
            outcome=self.design.outcome_name,
            names=self.design.names,
            coefficients=beta,
            covariance=None,
            n=crossed.n,
            df_model=p - self.design.has_intercept,
            df_resid=None,
            has_intercept=self.design.has_intercept,
            wald_f=True,
            design=self.design,
            remarks=(Phrase("Instruments: {names}.", names=", ".join(self.instruments.names)),),
        )
        if noisy:
            return self._with_noise(result, crossed, P, H, residual, rss, X, W)
        n = crossed.n
        assert n is not None
        if tss == 0:
            raise NoVariation(
                "outcome {outcome_name!r} is the same for everybody.",
                columns=[self.design.outcome_name],
                outcome_name=self.design.outcome_name,
            )
        scale = rss / (n - p)
        return replace(
            result,
            covariance=scaled(inverted, scale),
            df_resid=n - p,
            scale=scale,
            rss=rss,
            tss=tss,
            condition_number=condition_number(submatrix(M, X)),
            extras=self._first_stages(M, W, n) | sargan(M, W, residual, rss, n, len(W) - p),
        )

    def _not_identified(self, noisy: bool, M: Matrix, X: Sequence[int], W: Sequence[int]) -> FitFailed:
        if noisy:
            return FitFailed("the noisy sums have no solution.", hint="a larger epsilon, or more rows")
        H = matmul(submatrix(M, X, W), solve(submatrix(M, W), submatrix(M, W, X)))
        k, combination = next(iter(dependencies(H).items()))
        named = [self.design.names[j] for j in (k, *combination)]
        return Collinear(
            "IV is not identified: the instruments do not separate {named!r} from the others ({named_2}).",
            hint="other instruments",
            columns=named,
            named=named[0],
            named_2=", ".join(named[1:]) or Phrase("none"),
        )

    @property
    def _places(self) -> list[int]:
        """The index of each instrument among the columns, followed by the excluded instruments."""
        columns, instruments = self._numbers
        numbers = [*columns, *(number for number in instruments if number not in columns)]
        return [numbers.index(number) for number in instruments]

    def _first_stages(self, M: Matrix, W: Sequence[int], n: int) -> dict[str, Any]:
        factors = (*self.design.terms, *self.excluded)
        included = [w for w in W if w < len(self.design.terms)]
        endogenous = {self._name(term): factors.index(term) for term in self.endogenous}
        return first_stages(M, endogenous, W, included, n)

    def _with_noise(
        self,
        result: Regression,
        crossed: CrossProductsEstimate,
        P: Matrix,
        H: Matrix,
        residual: Sequence[Fraction],
        rss: Fraction,
        X: list[int],
        W: list[int],
    ) -> Regression:
        """Errors with noise. Noise N moves the equations P'W'e = 0 by P'N_W e + (N_WX - N_WW P)'s, s = (W'W)^-1 W'e."""
        from murmure.econometrics.results.noise_aware_errors import (
            NOISE_AWARE,
            NOISE_COUNTED,
            noise_dominates,
            noisy_covariance,
            noisy_row_count,
        )

        M, m = crossed.matrix, len(crossed.factors)
        n = noisy_row_count(crossed)
        try:
            s = to_floats([row[0] for row in solve(submatrix(M, W), [[dot(M[w], residual)] for w in W])])
        except Singular:
            raise self._not_identified(True, M, X, W) from None
        e, first = to_floats(residual), to_floats(P)
        moves = np.zeros((len(X), m, m))
        for j in X:
            apart = np.zeros(m)
            apart[j] = 1.0
            apart[W] -= first[:, j]
            moves[j][W] += np.outer(first[:, j], e) + np.outer(s, apart)
        noisy = noisy_covariance(crossed, X, H, moves, rss, n)
        weak = noise_dominates(crossed, to_floats(submatrix(M, W)), W)
        has_errors = noisy.covariance is not None and not weak
        return replace(
            result,
            covariance=noisy.covariance if has_errors else None,
            df_resid=float(n) - len(X) if n is not None and n > len(X) else None,
            use_t=False,
            cov_type=NOISE_AWARE,
            scale=noisy.scale,
            remarks=(*result.remarks, NOISE_COUNTED) if has_errors else result.remarks,
            reason=None
            if has_errors
            else noisy.reason or Phrase("the noise is large compared with what the instruments add up to"),
        )


def iv(
    formula: str,
    data: Any,
    instruments: str,
    *,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> Regression:
    """Two-stage least squares: `iv("wage ~ educ + age", table, instruments="near + age")`; data as in `ask`.

    instruments: the right side of a formula, with the exogenous columns too, which are their own instruments.
    """
    if not isinstance(instruments, str):
        raise InvalidParameter(
            'iv.instruments must be text such as "z1 + z2 + x1", got {got}.', got=shorten(instruments)
        )
    right = instruments if "~" in instruments else f"~ {instruments}"
    design = design_from_formula("iv", formula, data, schema, privacy)
    by = design_from_formula("iv", right, data, schema, privacy, outcome=False)
    return ask(IV(design, by), data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


_SCHEMA = Schema(
    {"y": Integers(0, 120), "x": Integers(0, 40), "d": Integers(0, 60), "z": Integers(0, 20), "v": Integers(0, 12)}
)
_ROWS: dict[str, list[Any]] = {
    "x": [(7 * i * i + 5 * i) % 37 for i in range(48)],
    "z": [(11 * i + i * i // 3) % 19 for i in range(48)],
    "v": [(5 * i * i + 1) % 13 for i in range(48)],
}
_ROWS["d"] = [2 * z + v // 2 + (3 * i * i) % 8 for i, (z, v) in enumerate(zip(_ROWS["z"], _ROWS["v"], strict=True))]
_ROWS["y"] = [
    d + x // 2 + (3 * i * i) % 8 + (i * 13) % 9 for i, (d, x) in enumerate(zip(_ROWS["d"], _ROWS["x"], strict=True))
]


def _part(*names: str) -> Schema:
    return Schema({name: _SCHEMA[name] for name in names})


_MODEL = Design(_part("y", "x", "d"), "y ~ x + d", "y", "y", ("Intercept", "x", "d"), ("1", "x", "d"))
_BY = Design(_part("x", "z", "v"), "~ x + z + v", "", "", ("Intercept", "x", "z", "v"), ("1", "x", "z", "v"))
_JUST = Design(_part("x", "z"), "~ x + z", "", "", ("Intercept", "x", "z"), ("1", "x", "z"))

EXAMPLES = (Example(IV(_MODEL, _BY), _ROWS), Example(IV(_MODEL, _JUST), _ROWS))
