"""Least squares with randomised columns: estimates the regression on the true answers, from the law of the reports.

    A = sum t t',   c = sum t y,   unbiased (corrected_products.py);     beta = A^-1 c
    V = A^-1 (sum psi psi') A^-1,   psi_i = c_i - A_i beta               (the sandwich of the estimating equations)

A regression on the reports themselves is biased: the coefficient of a randomised covariate towards 0, and others by
their correlation with it. Here the sums are unbiased, and beta is consistent (corrected scores: Nakamura, Biometrika
77, 1990). V covers sampling and randomisation together, since psi_i varies by both. As epsilon grows, psi_i becomes t_i
(y_i - t_i beta), and V the covariance HC0.
"""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from murmure.catalogue import MECHANISMS
from murmure.certify.accounting import sequential
from murmure.core.blocks import Cost
from murmure.core.catalogue_entries import ModelEntry, ModelFunction
from murmure.core.column import Column
from murmure.core.domain import Categories, Integers, with_column
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.core.types import Model
from murmure.econometrics.algebra.matrices import Matrix, condition_number, inverse, matmul, solve, submatrix
from murmure.econometrics.algebra.positive_definite import first_not_positive
from murmure.econometrics.algebra.rounding import rounded
from murmure.econometrics.design.design_matrix import Design, columns_in_words, part_of
from murmure.econometrics.design.formula import columns_named, read_formula
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.errors import Collinear, FitFailed
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example
from murmure.econometrics.results.regression import Regression
from murmure.econometrics.rows.corrected_products import CorrectedProducts
from murmure.econometrics.rows.reported_columns import ReportedColumn
from murmure.econometrics.steps.least_squares import check_columns, check_rows
from murmure.local.grr import GRR
from murmure.local.piecewise import Piecewise
from murmure.plan.codec import part_from_dict, part_to_dict
from murmure.statistics.exact.function_sums import FunctionSums

ERRORS = Phrase("errors hold the sample and the randomisation together (sandwich of the corrected equations)")
BELOW_ZERO = Phrase(
    "the corrected sums of squares are below 0, by chance: variance of residuals, R-squared and F are not known"
)


@dataclass(frozen=True)
class RandomisedOLS(Model):
    """A formula, and the columns of the table that hold reports, each with its mechanism (as JSON)."""

    design: Design  # over the true answers
    columns: tuple[str, ...]
    mechanisms: tuple[str, ...]

    noise_refusal = Phrase(
        "no bound is known on how far one report moves its sums; reports are already protected at the person"
    )
    rounds = 2
    entry = ModelEntry(
        order=90,
        functions=(
            ModelFunction(
                "randomised_ols",
                study=(
                    'formula = "stay ~ age + smoker"\nrandomised = { smoker = { mechanism = "GRR", epsilon = 3.0 } }',
                ),
            ),
        ),
    )

    def __post_init__(self) -> None:
        if len(self.columns) != len(self.mechanisms) or not self.columns:
            raise InvalidParameter(
                "RandomisedOLS needs a mechanism for each of its columns, got {mechanism_count} for {column_count}.",
                hint='randomised={{"smoker": mu.GRR(schema["smoker"], epsilon=1.0)}}; with none of them, ols(...)',
                mechanism_count=len(self.mechanisms),
                column_count=len(self.columns),
            )
        for name, text in zip(self.columns, self.mechanisms, strict=True):
            if name not in self.design.domain.private:
                raise InvalidParameter("RandomisedOLS: the design does not use column {name}.", name=shorten(name))
            true = with_column(self.design.domain.column_specs[name].coded, None)
            mechanism = part_from_dict(json.loads(text), MECHANISMS)
            if with_column(mechanism.domain, None) != true:
                raise InvalidParameter(
                    "column {name!r} is {true} in the schema, but {domain} for {kind}.",
                    hint='build the mechanism with schema["{name}"]',
                    name=name,
                    true=true.describe(),
                    domain=mechanism.domain.describe(),
                    kind=type(mechanism).__name__,
                )
        _ = self.corrected.products  # refuses now what the reports cannot estimate

    @cached_property
    def corrected(self) -> CorrectedProducts:
        pairs = zip(self.columns, self.mechanisms, strict=True)
        reported = tuple(ReportedColumn(name, part_from_dict(json.loads(text), MECHANISMS)) for name, text in pairs)
        return CorrectedProducts(reported, self.design.terms, self.design.outcome)

    @cached_property
    def domain(self) -> Schema:
        """The schema of the table, in which some columns hold reports."""
        columns: dict[str, Any] = dict(self.design.domain.column_specs)
        columns |= {c.name: Column(c.cells) for c in self.corrected.columns if c.is_number}
        return self.design.domain.with_columns(columns)

    def in_words(self) -> str:
        return Phrase(
            "a least-squares regression of {outcome} on {columns}, corrected for the randomisation of {through}",
            outcome=self.design.outcome_name,
            columns=columns_in_words(self.design),
            through=", ".join(f"{c.name} ({type(c.mechanism).__name__})" for c in self.corrected.columns),
        )

    def _ask(self, which: str, at: tuple[Fraction, ...] = ()) -> FunctionSums:
        parameters = tuple(f"{v.numerator}/{v.denominator}" for v in at)
        settings = (which, self.corrected.to_text())
        return FunctionSums(self.domain, "randomised", self.corrected.inputs, parameters, settings)

    def steps(self) -> Generator[Any, Any, Regression]:
        answer: Any = yield self._ask("products")
        n, p = answer.n, len(self.design.terms)
        check_rows(n, p)
        sums = dict(zip(self.corrected.pairs, answer.sums, strict=True))
        A = [[sums[min(a, b), max(a, b)] for b in range(p)] for a in range(p)]
        c = [sums[a, p] for a in range(p)]
        self._check(A)
        beta = tuple(row[0] for row in solve(A, [[v] for v in c]))
        spread: Any = yield self._ask("scatter", tuple(rounded(b) for b in beta))
        half = iter(spread.sums)
        S = [[Fraction(0)] * p for _ in range(p)]
        for a in range(p):
            for b in range(a, p):
                S[a][b] = S[b][a] = next(half)
        return self._result(n, A, c, sums.get((p, p)), beta, S)

    def _check(self, A: list[list[Fraction]]) -> None:
        """Refuse true columns that are collinear, and corrected sums that chance made impossible."""
        factors, design = self.corrected.factors, self.design
        true = [j for j in range(len(A)) if not any(m.reported for m in factors[j])]
        if true:
            alone, names = submatrix(A, true), tuple(design.names[j] for j in true)
            bad = first_not_positive(alone)
            if bad is not None:
                check_columns(replace(design, names=names, terms=tuple(design.terms[j] for j in true)), alone)
                raise Collinear(
                    "column {name!r} is a combination of others, to the precision of floats.",
                    hint="leave one of them out of the formula",
                    columns=names[: bad + 1],
                    name=names[bad],
                )
        bad = first_not_positive(A)
        if bad is None:
            return
        raise FitFailed(
            "the corrected sums are not sums of squares, from column {name!r} on: the randomness of the reports "
            "exceeds the variation of the columns.",
            hint="more rows, a larger epsilon, or fewer randomised columns",
            columns=[self.design.names[bad]],
            name=self.design.names[bad],
        )

    def _result(
        self,
        n: int,
        A: list[list[Fraction]],
        c: list[Fraction],
        yy: Fraction | None,
        beta: tuple[Fraction, ...],
        S: list[list[Fraction]],
    ) -> Regression:
        p, one = len(beta), self.design.intercept
        inverted = inverse(A)
        covariance: Matrix = matmul(matmul(inverted, S), inverted)
        rss = tss = scale = None
        remarks = [ERRORS, *self.design.remarks]
        if yy is None:
            remarks.append(
                Phrase(
                    "reports of {name} tell no squares, which coefficients and their errors do not need; variance of "
                    "residuals, R-squared and F, which do, are not known",
                    name=self.design.outcome_name,
                )
            )
        else:
            rss = yy - sum((b * v for b, v in zip(beta, c, strict=True)), Fraction(0))
            tss = yy if one is None else yy - c[one] ** 2 / A[one][one]
            if rss < 0 or tss <= 0:
                rss = tss = None
                remarks.append(BELOW_ZERO)
            else:
                scale = rss / (n - p)
        return Regression(
            model=Phrase("OLS of randomised answers"),
            formula=self.design.formula,
            outcome=self.design.outcome_name,
            names=self.design.names,
            coefficients=beta,
            covariance=covariance,
            n=n,
            df_model=p - (one is not None),
            df_resid=n - p,
            use_t=False,
            cov_type="randomised",
            scale=scale,
            rss=rss,
            tss=tss,
            has_intercept=one is not None,
            extras={Phrase("Epsilon of a person"): self.epsilon},
            remarks=(*remarks, *self._paid()),
            condition_number=condition_number(A),
            design=self.design,
        )

    @property
    def epsilon(self) -> float:
        """The epsilon of one person for all columns that are read together."""
        return sequential([Cost(c.certificate.epsilon, math.inf) for c in self.corrected.columns]).epsilon

    def _paid(self) -> list[str]:
        out: list[str] = []
        for column in self.corrected.columns:
            certificate = column.certificate
            about = {
                "name": column.name,
                "mechanism": type(column.mechanism).__name__,
                "epsilon": certificate.epsilon,
            }
            if certificate.assumption:
                out.append(
                    Phrase(
                        "{name} came through {mechanism}: epsilon = {epsilon:.6g} for every person, provided "
                        "{assumption}",
                        assumption=certificate.assumption,
                        **about,
                    )
                )
            else:
                out.append(Phrase("{name} came through {mechanism}: epsilon = {epsilon:.6g} for every person", **about))
        if len(out) > 1:
            out.append(Phrase("together these columns cost every person epsilon = {epsilon:.6g}", epsilon=self.epsilon))
        true = [name for name in self.design.columns if name not in self.columns]
        if true:
            out.append(Phrase("true answers, which no report protects: {columns}", columns=", ".join(true)))
        return out


def randomised_ols(
    formula: str,
    data: Any,
    *,
    randomised: Mapping[str, Any],
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> Regression:
    """Least squares of true answers, from a table in which some columns hold reports, as `sanitise` writes them.

    randomised: the mechanism of each such column, {"smoker": GRR(...), "income": Piecewise(...)}; the columns of one
    person are randomised independently of one another. schema: of the true answers. data and privacy as in `ask`.
    """
    if not isinstance(randomised, Mapping) or not randomised or not all(isinstance(name, str) for name in randomised):
        raise InvalidParameter(
            "randomised_ols.randomised must name columns and their mechanisms, got {got}.",
            hint='randomised={{"smoker": mu.GRR(schema["smoker"], epsilon=1.0)}}',
            got=shorten(randomised),
        )
    for name, mechanism in randomised.items():
        ReportedColumn(name, mechanism)  # refuses now what a regression cannot use
    if schema is None:
        wanted = columns_named(formula).columns
        rest = [name for name in wanted if name not in randomised]
        columns = dict(schema_for("randomised_ols", data, None, rest, privacy).column_specs) if rest else {}
        schema = Schema(columns | {name: Column(m.domain) for name, m in randomised.items() if name in wanted})
    else:
        schema = schema_for("randomised_ols", data, schema, None, privacy)
    design = read_formula(formula, schema)
    used = {name: mechanism for name, mechanism in randomised.items() if name in design.columns}
    if not used:
        raise InvalidParameter(
            "formula {formula} reads none of the randomised columns {randomised}.",
            hint="ols(...) is for true answers",
            formula=shorten(formula, 100),
            randomised=", ".join(randomised),
        )
    model = RandomisedOLS(design, tuple(used), _as_json(*used.values()))
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


def _as_json(*mechanisms: Any) -> tuple[str, ...]:
    return tuple(json.dumps(part_to_dict(m), sort_keys=True, ensure_ascii=False) for m in mechanisms)


_HOSPITAL = Schema(
    {
        "stay": Integers(0, 60),
        "age": Integers(18, 99),
        "smoker": Categories(["never", "once", "daily"]),
        "income": Integers(0, 9),
    }
)
_SMOKING, _INCOME = GRR(_HOSPITAL["smoker"], 2.0), Piecewise(Integers(0, 9), 4.0)
_LAW, _CELLS = _INCOME.channel, ReportedColumn("income", _INCOME).cell_values
_BY_SMOKING = Design(
    domain=part_of(_HOSPITAL, ("stay", "age", "smoker")),
    formula="stay ~ age + smoker",
    outcome="stay",
    outcome_name="stay",
    names=("Intercept", "age", "smoker[T.once]", "smoker[T.daily]"),
    terms=("1", "age", "smoker == 'once'", "smoker == 'daily'"),
)
_BY_INCOME = Design(
    domain=part_of(_HOSPITAL, ("smoker", "age", "income")),
    formula="income ~ age + smoker:age",
    outcome="income",
    outcome_name="income",
    names=("Intercept", "age", "smoker[T.daily]:age"),
    terms=("1", "age", "(smoker == 'daily') * age"),
)
_ROWS: dict[str, list[Any]] = {  # made by a rule: mostly near a true answer, sometimes anywhere
    "stay": [(11 * (i * i % 3) + 3 * i) % 41 for i in range(60)],
    "age": [18 + (i * 29) % 80 for i in range(60)],
    "smoker": [("never", "once", "daily")[(i * i + i // 7) % 3] for i in range(60)],
    "income": [
        float(_CELLS[_LAW.step * (i * 3 % 10) + 5 * i % _LAW.length if i % 6 else 11 * i % _LAW.outputs])
        for i in range(60)
    ],
}

EXAMPLES = (
    Example(RandomisedOLS(_BY_SMOKING, ("smoker",), _as_json(_SMOKING)), _ROWS),
    Example(RandomisedOLS(_BY_INCOME, ("smoker", "income"), _as_json(_SMOKING, _INCOME)), _ROWS),
    Example(
        RandomisedOLS(
            Design(
                part_of(_HOSPITAL, ("stay", "income")),
                "stay ~ income",
                "stay",
                "stay",
                ("Intercept", "income"),
                ("1", "income"),
            ),
            ("income",),
            _as_json(_INCOME),
        ),
        _ROWS,
    ),
)
