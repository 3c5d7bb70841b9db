"""Maximum likelihood: `mle(...)` of a law by its name (exponential, Weibull, beta, multinomial) or by a custom score.

    exponential   mean e^(z'b)
    weibull       scale e^(z'b), shape e^theta
    beta          mean 1 / (1 + e^(-z'b)), precision e^theta

A study contains only the name of the family: every party has the formulas (family_rows.py), and no code is sent. Sums,
steps and errors are those of the other regressions (irls.py). Rows are not censored; for censored times there are
cox(...) and kaplan_meier(...). multinomial.py has the multinomial law, custom_score.py the custom scores.

    "hessian"     Cov = H^-1, observed information             "sandwich"    H^-1 S[u u'] H^-1        one more round
    "opg"         S[u u']^-1                                   one more round
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction, OptionForm
from murmure.core.domain import Categories, Decimals, Integers
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.econometrics.algebra.matrices import Matrix, Vector, dot
from murmure.econometrics.algebra.rounding import log_float, log_fraction, rounded
from murmure.econometrics.design.columns import exact_number
from murmure.econometrics.design.design_matrix import Design
from murmure.econometrics.design.from_formula import columns_in_text, design_from_formula, schema_for
from murmure.econometrics.design.scales import bounds_of
from murmure.econometrics.errors import NoVariation
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example
from murmure.econometrics.models.multinomial import multinomial_model
from murmure.econometrics.results.regression import Regression
from murmure.econometrics.rows.family_rows import LAWS
from murmure.econometrics.rows.glm_rows import Family
from murmure.econometrics.steps.custom_score import MLE, CustomRows, Errors, Score
from murmure.econometrics.steps.irls import CUT_ROWS, LinkedRegression, check_cap
from murmure.econometrics.steps.named_family import NamedFamily, start_refusal, start_values
from murmure.econometrics.steps.newton import FAMILY_ROUNDS, Iterate, bent_step, iterate_from_answer, newton_step

FamilyName = Literal["exponential", "weibull", "beta", "multinomial"]

MAX_THETA = Fraction(12)  # rows cannot determine a shape or a precision beyond e^12
MIN_REST = Fraction(1, 1 << 40)  # of the mean square of residuals of a first guess: less is the rounding of rows
FIRST_GUESS = {
    "weibull": Fraction(1645, 1000),
    "beta": Fraction(4),
}  # k^2 or phi of a first guess, times the mean square of its residuals


@dataclass(frozen=True, eq=False)
class FamilyFit(LinkedRegression):
    """The fit of a law by its name; `law` has its parameters in the usual form (shape, scale, a, b)."""

    @property
    def law(self) -> Mapping[str, float]:
        """Shape or precision; for a formula without columns, such as "time ~ 1", also scale, or a and b."""
        parameters: Mapping[str, float] = self.extras.get("Parameters", {})
        return parameters

    def predict(self, rows: Any) -> Any:
        """The mean of the outcome for new rows."""
        mean = super().predict(rows)
        return mean * math.gamma(1 + 1 / self.law["shape"]) if "shape" in self.law else mean


@dataclass(frozen=True)
class FamilyMLE(NamedFamily):
    """`mle(family="weibull", formula="days ~ age", ...)`. start: a value for each parameter, or () for a first guess.

    errors: "hessian", "sandwich" or "opg".
    """

    distribution: str = "exponential"
    start: tuple[str, ...] = ()

    _result_type: ClassVar[type[LinkedRegression]] = FamilyFit

    entry = ModelEntry(
        order=290,
        functions=(
            ModelFunction(
                "mle",
                CommandForm(
                    "An exponential, Weibull, beta or multinomial law, by name.",
                    ("FORMULA",),
                    (
                        OptionForm(
                            "family",
                            "Which law.  [required]",
                            choices=("exponential", "weibull", "beta", "multinomial"),
                        ),
                        OptionForm(
                            "errors", "Standard errors.  [default: hessian]", choices=("hessian", "sandwich", "opg")
                        ),
                        "rounds",
                    ),
                    '"days ~ age" visits.csv --family weibull',
                ),
                study=(
                    'family = "weibull"\nformula = "days ~ age"\nerrors = "sandwich"\nrounds = 12',
                    'family = "exponential"\nformula = "days ~ 1"\nrounds = 12',
                    'family = "beta"\nformula = "share ~ age"\nrounds = 15\nstart = { Intercept = 0, age = 0, '
                    '"log(precision)" = 1 }',
                    'family = "multinomial"\nformula = "ward ~ age"\nrounds = 12',
                ),
                excluded=(
                    (
                        ("score", "hessian", "loglik"),
                        "a function is code, and nobody runs the code of others on rows of their own; name a family "
                        "instead",
                    ),
                    (("columns",), "they are the arguments of a function of one's own; a family takes a formula"),
                ),
                required=("family", "formula"),
                defaults={"errors": '"hessian"', "rounds": "25"},
            ),
        ),
    )

    def __post_init__(self) -> None:
        if self.distribution not in LAWS:
            raise InvalidParameter(
                "mle.family must be one of {laws}, got {got}.", laws=", ".join(LAWS), got=shorten(self.distribution)
            )
        object.__setattr__(self, "start", tuple(str(exact_number("mle", "start", v)) for v in self.start))
        super().__post_init__()
        if self.start and len(self.start) != len(self.parameters):
            raise start_refusal(self.start, self.parameters)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all parameters."""
        return (*self.design.names, *self._more_names)

    @property
    def _more_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return {"weibull": ("log(shape)",), "beta": ("log(precision)",)}.get(self.distribution, ())

    @property
    def _family(self) -> str:
        return self.distribution

    @property
    def _law(self) -> Family:
        return LAWS[self.distribution]

    @property
    def _link(self) -> str:
        return "logit" if self.distribution == "beta" else "log"

    def _check_outcome(self) -> None:
        low, high, _ = bounds_of(self.design.domain, self.design.outcome)
        if self.distribution == "beta" and not 0 < low <= high < 1:
            hint = Phrase('strictly inside: type = "decimals", low = 0.001, high = 0.999, places = 3')
            raise self._refuse_outcome(Phrase("an outcome between 0 and 1"), hint)
        if self.distribution != "beta" and low <= 0:
            raise self._refuse_outcome(Phrase("an outcome above 0"), Phrase("a lower bound above 0 in the schema"))

    def _refuse_outcome(self, wanted: str, hint: str) -> InvalidParameter | NoVariation:
        message = super()._refuse_outcome(wanted, hint).message
        kind = Phrase("mle of family {family!r}", family=self.distribution)
        return InvalidParameter(Phrase(message.template, **message.fields | {"kind": kind}), hint=hint)

    def later_rounds(self) -> str:
        """What every round releases, including the first."""
        p = len(self.design.terms)
        y = Phrase("log(y / (1 - y))") if self.distribution == "beta" else Phrase("log(y)")
        more = Phrase("{y} squared", y=y) if self._extra else Phrase("the outcome")
        return Phrase(
            "the first round releases {width} sums over all rows: {p} of columns times {y} of the outcome y, {square} "
            "of products of two columns, 1 of {more}, and {cut}; {later}",
            width=self._asks("start", ()).width,
            p=p,
            y=y,
            square=p * (p + 1) // 2,
            more=more,
            cut=CUT_ROWS,
            later=super().later_rounds(),
        )

    # -- the ascent

    def _check_varies(self, n: int, null: dict[str, Fraction]) -> None:
        pass

    def _start(self, guess: Vector, null: dict[str, Fraction], n: int) -> Vector:
        if self.start:
            p, values = len(guess), [Fraction(v) for v in self.start]
            return (*self._coordinates.from_units(values[:p]), *values[p:])
        return guess if not self._extra else (*guess, null["theta"])

    def _first_guess(self, guess: Vector, score: Vector, null: dict[str, Fraction], n: int) -> dict[str, Fraction]:
        """theta, from the residuals of least squares of log y (variance pi^2 / 6 k^2) or of logit y (about 4 / phi)."""
        if not self._extra:
            return null
        rest = (null["squares"] - dot(guess, score)) / n
        if rest <= MIN_REST:
            name = self.design.outcome_name
            raise NoVariation(
                "outcome {name!r} is predicted without error: its {more_name} is unbounded.",
                hint="there is nothing to estimate a standard error from",
                columns=[name],
                name=name,
                more_name=self._more_names[0],
            )
        theta = log_fraction(FIRST_GUESS[self.distribution] / rest) / (2 if self.distribution == "weibull" else 1)
        return null | {"theta": rounded(max(-MAX_THETA, min(MAX_THETA, theta)), 16)}

    def step(self, iterate: Iterate) -> Vector:
        return bent_step(iterate) if self._extra else newton_step(iterate)

    def interpret(self, at: Vector, answer: Any) -> Iterate:
        iterate = iterate_from_answer(at, answer, len(at))
        return replace(iterate, outside=bool(self._extra) and abs(at[-1]) > 2 * MAX_THETA)

    def _check_end(self, iterate: Iterate | None) -> None:
        check_cap(self, iterate)

    # -- the result

    def _in_units(self, at: Vector, covariance: Matrix, *units: Fraction) -> tuple[Vector, Matrix]:
        return super()._in_units(at, covariance, *(Fraction(1),) * self._extra)

    def _llnull(self, null: dict[str, Fraction], n: int) -> float | None:
        """For the exponential law only: the shape or precision of another null model would take further rounds."""
        compared = self.distribution == "exponential" and len(self.design.terms) > 1
        return -n * (1 + log_float(null["y"] / n)) if compared else None

    def _result(self, *arguments: Any) -> LinkedRegression:
        regression = super()._result(*arguments)
        law = self._parameters(regression.params)
        more: dict[str, Any] = {Phrase("Parameters"): law} if law else {}
        return replace(
            regression,
            model=f"MLE ({self.distribution})",
            df_resid=(regression.n or 0) - len(self.parameters),
            extras={**regression.extras, **more},
        )

    def _parameters(self, b: Any) -> dict[str, float]:
        """The parameters in their usual form."""
        out = {}
        alone = self.design.terms == ("1",)
        last = float(np.exp(b[-1]))
        if self.distribution == "exponential" and alone:
            out = {"scale": float(np.exp(b[0]))}
        if self.distribution == "weibull":
            out = {"shape": last} | ({"scale": float(np.exp(b[0]))} if alone else {})
        if self.distribution == "beta":
            mean = float(1 / (1 + np.exp(-b[0])))
            out = {"precision": last} | ({"a": mean * last, "b": (1 - mean) * last} if alone else {})
        return out


def family_model(
    family: Any, formula: Any, data: Any, schema: Any, privacy: Any, errors: Any, rounds: Any, start: Any
) -> Any:
    """The model of mle(family=..., formula=...)."""
    if family not in get_args(FamilyName):
        known = ", ".join(get_args(FamilyName))
        got = Phrase("it is left out") if family is None else Phrase("got {family}", family=shorten(family))
        raise InvalidParameter(
            "mle.family must be one of {known}; {got}.",
            hint='family="weibull", formula="days ~ age"; in the clear, your own score: mle(score, start, table, '
            "columns)",
            known=known,
            got=got,
        )
    if not isinstance(formula, str):
        got = Phrase("it is left out") if formula is None else Phrase("got {formula}", formula=shorten(formula))
        raise InvalidParameter(
            "mle.formula must be text; {got}.",
            hint='formula="days ~ age", or "days ~ 1" for the law of one column',
            got=got,
        )
    errors, rounds = "hessian" if errors is None else errors, FAMILY_ROUNDS if rounds is None else rounds
    if family == "multinomial":
        return multinomial_model(formula, data, schema, privacy, errors, rounds, start)
    design = design_from_formula("mle", formula, data, schema, privacy)
    if start is None:
        return FamilyMLE(design, errors, rounds, family)
    plain = FamilyMLE(design, errors, rounds, family)
    return replace(plain, start=start_values(start, plain.parameters))


def mle(
    score: Score | None = None,
    start: Mapping[str, Any] | Sequence[Any] | None = None,
    data: Any = None,
    columns: Sequence[str] = (),
    *,
    family: FamilyName | None = None,
    formula: str | None = None,
    hessian: Score | None = None,
    loglik: Score | None = None,
    errors: Errors | None = None,
    rounds: int | None = None,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> Regression:
    """Maximum likelihood of a named family, or by a custom score; data and privacy as in `ask`.

    `mle(family="weibull", formula="days ~ age", data=table)`: family is "exponential", "weibull", "beta" or
    "multinomial" (an outcome of labels); "days ~ 1" is the law of one column. Families run in studies too. errors:
    "hessian" (the default), "sandwich" or "opg". start may be left out.

    `mle(score, start, table, columns)` solves S[score(theta, rows)] = 0 by Newton's steps (likelihoods: or BHHH's).
    score(theta, rows) -> (n, p): rows maps each of `columns` (columns, or expressions of them) to floats.
    hessian(theta, rows) -> (n, p, p): derivatives of the score, [:, i, j] of score i in parameter j. loglik(theta,
    rows) -> (n,): steps are halved where its sum falls. start: a value for each parameter, by name or in a list.
    errors: "sandwich" (the default) holds for any equation; "hessian" and "opg" where the score is that of the true
    likelihood.
    """
    if score is None and hessian is None and loglik is None and not columns:
        named: Any = family_model(family, formula, data, schema, privacy, errors, rounds, start)
        return ask(named, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]
    if family is not None or formula is not None:
        raise InvalidParameter(
            "mle takes a family and a formula, or your own score with start and columns; got parts of both.",
            hint='mle(family="weibull", formula="days ~ age", data=table), or mle(score, start, table, columns)',
        )
    for name, function in (("score", score), ("hessian", hessian), ("loglik", loglik)):
        if not callable(function) and (name == "score" or function is not None):
            raise InvalidParameter(
                "mle.{name} must be a function of parameters and rows, got {got}.", name=name, got=shorten(function)
            )
    assert callable(score)
    if isinstance(columns, str):
        raise InvalidParameter(
            "mle.columns must be a list, got {got}.",
            hint='["{column_names}"]',
            got=shorten(columns),
            column_names=columns,
        )
    if start is None:
        raise InvalidParameter(
            "mle.start is missing: it must give every parameter a value.",
            hint='{{"mean": 0, "log sd": 0}}, or a list of numbers',
        )
    names = tuple(start) if isinstance(start, Mapping) else tuple(f"theta {j + 1}" for j in range(len(start)))
    values = [exact_number("mle", "start", v) for v in (start.values() if isinstance(start, Mapping) else start)]
    wanted = list(dict.fromkeys(name for text in columns for name in columns_in_text(text)))
    domain = schema_for("mle", data, schema, wanted, privacy)
    rows = CustomRows(tuple(columns), len(values), score, hessian, loglik)
    model = MLE.of(
        rows, domain, names, values, "sandwich" if errors is None else errors, 100 if rounds is None else rounds
    )
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


_CLINIC = Schema(
    {
        "days": Integers(1, 400),
        "share": Decimals(Decimal("0.001"), Decimal("0.999"), 3),
        "age": Integers(18, 99),
        "ward": Categories(["A", "B", "C"]),
    }
)
_ROWS: dict[str, list[Any]] = {
    "days": [1 + (i * i * 37 + 11 * i) % 97 * (1 + i % 3) for i in range(54)],
    "share": [f"{(57 * i * i + 19 * i) % 901 / 1000 + 0.05:.3f}" for i in range(54)],
    "age": [18 + (i * 29) % 80 for i in range(54)],
    "ward": ["ABC"[(i * i + i // 5) % 3] for i in range(54)],
}


def _example(formula: str, outcome: str, names: tuple[str, ...]) -> Design:
    terms = {"Intercept": "1", "ward[T.B]": "(ward == 'B')", "ward[T.C]": "(ward == 'C')"}
    used = {outcome, *(name.split("[")[0] for name in names)}
    domain = Schema({name: _CLINIC.column_specs[name] for name in _CLINIC if name in used})
    return Design(domain, formula, outcome, outcome, names, tuple(terms.get(name, name) for name in names))


_DAYS = _example("days ~ age", "days", ("Intercept", "age"))
EXAMPLES = (
    Example(FamilyMLE(_DAYS), _ROWS),
    Example(FamilyMLE(_DAYS, distribution="weibull"), _ROWS),
    Example(FamilyMLE(_DAYS, "sandwich", 30, "weibull", ("4", "0", "1/2")), _ROWS),
    Example(
        FamilyMLE(_example("share ~ ward", "share", ("Intercept", "ward[T.B]", "ward[T.C]")), distribution="beta"),
        _ROWS,
    ),
)
