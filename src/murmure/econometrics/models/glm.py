"""Regressions of binary outcomes, counts and positive numbers, from rounds of sums (irls.py, glm_rows.py).

    Logit, Probit, Poisson, NegativeBinomial    Cov = H^-1, observed information; log-likelihood of the rows
    Gamma                                       Cov = phi (Z'W Z)^-1, expected information; phi = chi^2 / (n - p)

The figures are those of statsmodels' models of these names and of its GLM(Gamma), whose dispersion is Pearson's, with
three exceptions. HC1 has a factor n / (n - k) that statsmodels leaves out here (irls.py). Without an intercept there is
no likelihood ratio or pseudo R-squared, since the model with a constant alone is not nested in it. Poisson with
dispersion="pearson" is a quasi-likelihood (Wedderburn, Biometrika 61(3), 1974), which has no log-likelihood and no AIC.
McCullagh and Nelder, Generalized Linear Models, 2nd ed. 1989, section 2.5; NB2: Cameron and Trivedi 2013, section 3.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction, OptionForm
from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.econometrics.algebra.matrices import Matrix, Vector, inverse
from murmure.econometrics.algebra.rounding import exp_fraction, log_float
from murmure.econometrics.design.design_matrix import Design
from murmure.econometrics.design.from_formula import design_from_formula, expression_of
from murmure.econometrics.design.scales import bounds_of, exponent
from murmure.econometrics.errors import FitFailed, NoVariation
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example
from murmure.econometrics.results.regression import Regression
from murmure.econometrics.steps.irls import Errors, LinkedModel, check_cap
from murmure.econometrics.steps.newton import Iterate, bent_step, iterate_from_answer

MIN_THETA = Fraction(-16)  # of log(alpha): below it, counts vary no more than Poisson's
MAX_THETA = Fraction(12)


@dataclass(frozen=True)
class Logit(LinkedModel):
    """Logistic regression of an outcome that is 0 or 1."""

    family: ClassVar[str] = "logit"

    entry = ModelEntry(
        order=210,
        functions=(
            ModelFunction(
                "logit",
                CommandForm(
                    "Logistic regression.", ("FORMULA",), ("errors", "rounds"), '"died ~ age + ward" visits.csv'
                ),
                study=('formula = "ill ~ age"\nrounds = 12',),
            ),
        ),
    )

    def _check_outcome(self) -> None:
        low, high, step = bounds_of(self.design.domain, self.design.outcome)
        if low < 0 or high > 1 or step.denominator != 1:
            hint = Phrase("Integers(0, 1), a category of two labels, or a condition: (stay > 7) ~ age")
            raise self._refuse_outcome(Phrase("an outcome that is 0 or 1"), hint)

    def _llnull(self, null: dict[str, Fraction], n: int) -> float | None:
        share = null["y"] / n
        return float(null["y"]) * log_float(share) + float(n - null["y"]) * log_float(1 - share)


@dataclass(frozen=True)
class Probit(Logit):
    """Probit regression of an outcome that is 0 or 1."""

    family: ClassVar[str] = "probit"

    entry = ModelEntry(
        order=220,
        functions=(
            ModelFunction(
                "probit",
                CommandForm("Probit regression.", ("FORMULA",), ("errors", "rounds"), '"died ~ age + ward" visits.csv'),
                study=('formula = "ill ~ age"\nrounds = 12',),
            ),
        ),
    )


@dataclass(frozen=True)
class Poisson(LinkedModel):
    """Poisson regression of counts.

    offset: an expression whose coefficient is 1, such as log(days). dispersion: None (variance = mean), or "pearson":
    errors grow by the root of chi-squared / (n - p), where counts vary more than Poisson's.
    """

    family: ClassVar[str] = "poisson"
    offset: str | None = None
    dispersion: str | None = None

    entry = ModelEntry(
        order=230,
        functions=(
            ModelFunction(
                "poisson",
                CommandForm(
                    "Poisson regression.",
                    ("FORMULA",),
                    (
                        "offset",
                        OptionForm("dispersion", "Errors for overdispersed counts.", choices=("pearson",)),
                        "errors",
                        "rounds",
                    ),
                    '"visits ~ age" people.csv',
                ),
                study=('formula = "falls ~ age"\noffset = "log(days)"\ndispersion = "pearson"\nrounds = 12',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        if self.dispersion not in (None, "pearson"):
            raise InvalidParameter(
                '{kind}.dispersion must be None or "pearson", got {got}.',
                kind=type(self).__name__,
                got=shorten(self.dispersion),
            )
        if self.dispersion is not None and self.errors != "nonrobust":
            raise InvalidParameter(
                "{kind}: robust errors hold for any dispersion.",
                hint="give only one of the two",
                kind=type(self).__name__,
            )
        super().__post_init__()

    @property
    def _offset(self) -> str | None:
        return self.offset

    def _check_outcome(self) -> None:
        low, _, step = bounds_of(self.design.domain, self.design.outcome)
        if low < 0 or step.denominator != 1:
            raise self._refuse_outcome(Phrase("counts: 0, 1, 2, ..."), Phrase("Integers(0, ...) in the schema"))

    def _check_varies(self, n: int, null: dict[str, Fraction]) -> None:
        if null["y"] == 0:
            raise NoVariation(
                "outcome {outcome_name!r} is 0 for everybody.",
                hint="there is nothing to explain",
                columns=[self.design.outcome_name],
                outcome_name=self.design.outcome_name,
            )

    def _check_end(self, iterate: Iterate | None) -> None:
        check_cap(self, iterate)

    @property
    def _about_likelihood(self) -> str | None:
        if self.dispersion is None:
            return None
        return Phrase("a dispersion of Pearson's is that of a quasi-likelihood: it has no log-likelihood, AIC or BIC")

    def _llf(self, iterate: Iterate, scale: Fraction) -> float | None:
        return super()._llf(iterate, scale) if self.dispersion is None else None

    def _dispersion(self, iterate: Iterate) -> Fraction:
        if self.dispersion is None:
            return Fraction(1)
        return iterate.sums["chi-squared"] / (iterate.n - len(self.design.terms))

    def _llnull(self, null: dict[str, Fraction], n: int) -> float | None:
        if self.dispersion is not None:
            return None
        y = float(null["y"])
        return y * log_float(null["y"] / null["exp(offset)"]) + float(null["y offset"]) - y - float(null["log(y!)"])


@dataclass(frozen=True)
class Gamma(LinkedModel):
    """Gamma regression of positive numbers. link: "log" or "inverse" (1 / mean)."""

    family: ClassVar[str] = "gamma"
    link: str = "log"

    entry = ModelEntry(
        order=240,
        functions=(
            ModelFunction(
                "gamma",
                CommandForm(
                    "Gamma regression.",
                    ("FORMULA",),
                    (OptionForm("link", "[default: log]", choices=("log", "inverse")), "errors", "rounds"),
                    '"cost ~ age" claims.csv',
                ),
                study=('formula = "stay ~ age"\nlink = "log"\nrounds = 12',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        if self.link not in ("log", "inverse"):
            raise InvalidParameter('Gamma.link must be "log" or "inverse", got {got}.', got=shorten(self.link))
        super().__post_init__()

    @property
    def _family(self) -> str:
        return "gamma" if self.link == "log" else "inverse"

    @property
    def _outcome_scale(self) -> int:
        return 0 if self.link == "log" else exponent(self.design.domain, self.design.outcome)

    def _check_outcome(self) -> None:
        if bounds_of(self.design.domain, self.design.outcome)[0] <= 0:
            raise self._refuse_outcome(Phrase("an outcome above 0"), Phrase("a lower bound above 0 in the schema"))

    def _check_varies(self, n: int, null: dict[str, Fraction]) -> None:
        pass

    def _start(self, guess: Vector, null: dict[str, Fraction], n: int) -> Vector:
        if self.link == "log" or not self.design.has_intercept:
            return guess
        # The same mean for all rows is always admissible, whatever the columns are.
        mean = Fraction(n) / null["y"]
        return tuple(mean * Fraction(2) ** k * (j == self.design.intercept) for j, k in enumerate(self._scales))

    def interpret(self, at: Vector, answer: Any) -> Iterate:
        iterate = iterate_from_answer(at, answer, len(at))
        return replace(iterate, outside=self.link == "inverse" and iterate.sums["at the cap"] > 0)

    def _check_end(self, iterate: Iterate | None) -> None:
        if self.link == "log":
            check_cap(self, iterate)
        if iterate is not None and iterate.sums["chi-squared"] <= iterate.n * Fraction(1, 1 << 80):
            raise NoVariation(
                "outcome {outcome_name!r} is predicted without error: it has no dispersion.",
                hint="there is nothing to estimate a standard error from",
                columns=[self.design.outcome_name],
                outcome_name=self.design.outcome_name,
            )

    def _bread(self, iterate: Iterate, gram: Matrix) -> Matrix:
        # Expected information: with the log link it is Z'Z, which the first round asked for.
        return inverse(gram if self.link == "log" else iterate.information)

    def _dispersion(self, iterate: Iterate) -> Fraction:
        return iterate.sums["chi-squared"] / (iterate.n - len(self.design.terms))

    def _llf(self, iterate: Iterate, scale: Fraction) -> float | None:
        k, n = 1 / float(scale), iterate.n
        log, ratio, log_y = (float(iterate.sums[name]) for name in ("log(y / mu)", "y / mu", "log(y)"))
        log_y += n * self._outcome_scale * math.log(2)
        return n * k * math.log(k) + k * (log - ratio) - n * math.lgamma(k) - log_y


@dataclass(frozen=True)
class NegativeBinomial(Poisson):
    """Negative binomial regression of counts (NB2): variance = mean + alpha mean^2, alpha estimated with the rest."""

    family: ClassVar[str] = "nb2"
    _more_names: ClassVar[tuple[str, ...]] = ("alpha",)

    entry = ModelEntry(
        order=250,
        functions=(
            ModelFunction(
                "negative_binomial",
                CommandForm(
                    "Counts that vary more than Poisson's.",
                    ("FORMULA",),
                    ("offset", "errors", "rounds"),
                    '"visits ~ age" people.csv',
                ),
                study=('formula = "falls ~ age"\noffset = "log(days)"\nrounds = 20',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        if self.dispersion is not None:
            raise InvalidParameter("NegativeBinomial has its own dispersion: alpha.", hint="leave out dispersion")
        super().__post_init__()

    def step(self, iterate: Iterate) -> Vector:
        return bent_step(iterate)

    def interpret(self, at: Vector, answer: Any) -> Iterate:
        iterate = iterate_from_answer(at, answer, len(at))
        if at[-1] < MIN_THETA:
            raise FitFailed(
                "negative binomial regression: these counts vary no more than a Poisson law, so alpha goes to 0.",
                hint="use poisson(...)",
                columns=["alpha"],
            )
        return replace(iterate, outside=at[-1] > MAX_THETA)

    def _in_units(self, at: Vector, covariance: Matrix, *units: Fraction) -> tuple[Vector, Matrix]:
        """alpha = exp(theta): its covariances are those of theta times alpha."""
        alpha = exp_fraction(at[-1])
        coefficients, scaled = super()._in_units(at, covariance, alpha)
        return (*coefficients[:-1], alpha), scaled

    def _llnull(self, null: dict[str, Fraction], n: int) -> float | None:
        return None  # alpha of the model with a constant alone would take further rounds


# -- functions --------------------------------------------------------------------------------------------------------


def logit(
    formula: str,
    data: Any,
    *,
    schema: Any = None,
    errors: Errors = "nonrobust",
    rounds: int = 25,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> Regression:
    """Logistic regression: `logit("readmitted ~ age + ward", table)`; data and privacy as in `ask`."""
    design = design_from_formula("logit", formula, data, schema, privacy)
    return ask(Logit(design, errors, rounds), data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


def probit(
    formula: str,
    data: Any,
    *,
    schema: Any = None,
    errors: Errors = "nonrobust",
    rounds: int = 25,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> Regression:
    """Probit regression: `probit("readmitted ~ age + ward", table)`; data and privacy as in `ask`."""
    design = design_from_formula("probit", formula, data, schema, privacy)
    return ask(Probit(design, errors, rounds), data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


def poisson(
    formula: str,
    data: Any,
    *,
    offset: str | None = None,
    dispersion: Literal["pearson"] | None = None,
    schema: Any = None,
    errors: Errors = "nonrobust",
    rounds: int = 25,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> Regression:
    """Poisson regression of counts: `poisson("falls ~ age", table, offset="log(days)")`."""
    offset = None if offset is None else expression_of("poisson", "offset", offset, data, schema)
    design = design_from_formula("poisson", formula, data, schema, privacy, offset, positive=True)
    model = Poisson(design, errors, rounds, offset, dispersion)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


def gamma(
    formula: str,
    data: Any,
    *,
    link: Literal["log", "inverse"] = "log",
    schema: Any = None,
    errors: Errors = "nonrobust",
    rounds: int = 25,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> Regression:
    """Gamma regression of positive numbers: `gamma("cost ~ age", table)`; data and privacy as in `ask`."""
    design = design_from_formula("gamma", formula, data, schema, privacy)
    model = Gamma(design, errors, rounds, link)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


def negative_binomial(
    formula: str,
    data: Any,
    *,
    offset: str | None = None,
    schema: Any = None,
    errors: Errors = "nonrobust",
    rounds: int = 50,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> Regression:
    """Negative binomial regression (NB2): `negative_binomial("visits ~ age", table)`; data and privacy as in `ask`."""
    offset = None if offset is None else expression_of("negative_binomial", "offset", offset, data, schema)
    design = design_from_formula("negative_binomial", formula, data, schema, privacy, offset, positive=True)
    model = NegativeBinomial(design, errors, rounds, offset)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


_WARD = Schema(
    {
        "ill": Integers(0, 1),
        "falls": Integers(0, 40),
        "cost": Integers(1, 5000),
        "age": Integers(18, 99),
        "days": Integers(1, 60),
        "ward": Categories(["A", "B", "C"]),
    }
)
_ROWS: dict[str, list[Any]] = {
    "ill": [(i * 13 + i * i // 7) % 5 // 3 for i in range(54)],
    "falls": [(i * i * 3 + i) % 7 * (i % 4) // 2 for i in range(54)],
    "cost": [40 + (i * 173) % 911 + 13 * (i % 5) for i in range(54)],
    "age": [18 + (i * 29) % 80 for i in range(54)],
    "days": [1 + (i * 11) % 37 for i in range(54)],
    "ward": ["ABC"[(i * i + i // 5) % 3] for i in range(54)],
}


def _example(outcome: str, *names: str) -> Design:
    terms = {"Intercept": "1", "ward[T.B]": "(ward == 'B')", "ward[T.C]": "(ward == 'C')"}
    columns = ("Intercept", *names)
    used = {outcome, *(name.split("[")[0] for name in names)}
    domain = Schema({name: _WARD.column_specs[name] for name in _WARD if name in used})
    formula = f"{outcome} ~ {' + '.join(dict.fromkeys(name.split('[')[0] for name in names))}"
    return Design(domain, formula, outcome, outcome, columns, tuple(terms.get(name, name) for name in columns))


EXAMPLES = (
    Example(Logit(_example("ill", "age", "ward[T.B]", "ward[T.C]")), _ROWS),
    Example(Logit(_example("ill", "age"), "HC1"), _ROWS),
    Example(Probit(_example("ill", "age", "days")), _ROWS),
    Example(Poisson(_example("falls", "age", "days"), offset="log(days)"), _ROWS),
    Example(Poisson(_example("falls", "age"), dispersion="pearson"), _ROWS),
    Example(Gamma(_example("cost", "age", "days")), _ROWS),
    Example(Gamma(_example("cost", "age"), link="inverse"), _ROWS),
    Example(NegativeBinomial(_example("falls", "age"), rounds=50), _ROWS),
)
