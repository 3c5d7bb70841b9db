"""Difference in differences: the change of the treated, minus the change of the others at the same time.

    y = b0 + b1 D + b2 T + delta D T + covariates

delta is the effect if both groups would have changed alike without treatment (parallel trends), which data cannot show.
Without covariates it is the difference of two differences of means. Least squares, from one round.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction, OptionForm
from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.econometrics.design.constant_columns import refuse_constant
from murmure.econometrics.design.design_matrix import Design, columns_in_words
from murmure.econometrics.design.from_formula import design_from_formula, expression_of
from murmure.econometrics.fit import ask
from murmure.econometrics.model import ClusterErrors, Example
from murmure.econometrics.models.ols import OLS, Errors
from murmure.econometrics.results.regression import Regression
from murmure.show.document import sentences

TRENDS = Phrase("The effect is causal only if both groups would have moved alike without treatment (parallel trends).")


@dataclass(frozen=True)
class DiD(ClusterErrors):
    """Least squares whose coefficient `effect` is the difference in differences."""

    design: Design
    effect: str
    errors: str = "nonrobust"

    entry = ModelEntry(
        order=70,
        functions=(
            ModelFunction(
                "did",
                CommandForm(
                    "Difference in differences.",
                    ("OUTCOME",),
                    (
                        OptionForm("treated", "The column that says who is treated.  [required]", metavar="D"),
                        OptionForm("post", "The column that says what came after.  [required]", metavar="T"),
                        OptionForm("covariates", 'Further columns: "age + ward".', metavar="X"),
                        "errors",
                    ),
                    "jobs stores.csv --treated state --post after",
                ),
                study=('outcome = "stay"\ntreated = "treated"\npost = "after"\ncovariates = "age"\nerrors = "HC0"',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        if self.effect not in self.design.names:
            raise InvalidParameter(
                "DiD.effect must be a column of the design, got {got}; there are {names}.",
                got=shorten(self.effect),
                names=", ".join(self.design.names),
            )
        _ = self._fit

    @cached_property
    def _fit(self) -> OLS:
        return OLS(self.design, self.errors)

    @property
    def noise_refusal(self) -> str | None:
        return self._fit.noise_refusal

    @property
    def domain(self) -> Schema:
        return self._fit.domain

    @property
    def rounds(self) -> int:
        return self._fit.rounds

    def in_words(self) -> str:
        return Phrase(
            "a difference in differences of {outcome} ({effect}), by a regression on {columns}",
            outcome=self.design.outcome_name,
            effect=self.effect,
            columns=columns_in_words(self.design),
        )

    def steps(self) -> Generator[Any, Any, Regression]:
        result = yield from self._fit.steps()
        return replace(
            result,
            model=Phrase("Difference in differences"),
            effect=self.effect,
            remarks=(
                *result.remarks,
                sentences(Phrase("The effect is the coefficient of {effect}.", effect=self.effect), TRENDS),
            ),
        )


def did(
    outcome: str,
    data: Any,
    *,
    treated: str,
    post: str,
    covariates: str | None = None,
    errors: Errors = "nonrobust",
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> Regression:
    """Difference in differences: `did("wage", table, treated="state", post="after", covariates="age")`.

    treated, post: columns of 0 and 1, or of two labels, the second of which is the treated group and the time after.
    """
    outcome, treated, post = (
        expression_of("did", what, text, data, schema)
        for what, text in (("outcome", outcome), ("treated", treated), ("post", post))
    )
    more = f" + {covariates}" if covariates else ""
    design = design_from_formula("did", f"{outcome} ~ {treated} * {post}{more}", data, schema, privacy)
    for name in (treated, post):
        domain = design.domain[name.strip("`")]
        refuse_constant(design.domain, name.strip("`"), "did", Phrase("both groups, and both times, must have rows"))
        two = isinstance(domain, Categories) and domain.size == 2
        if not two and not (isinstance(domain, Integers) and (domain.low, domain.high) == (0, 1)):
            raise InvalidParameter(
                "did: column {name!r} must be 0 or 1, or have two labels, got {got}.",
                hint='Integers(0, 1) or Categories(["no", "yes"]) in the schema',
                name=name,
                got=domain.describe(),
            )
    pairs = [name for name in design.names if name.count(":") == 1 and _pair(name) == {_plain(treated), _plain(post)}]
    if not pairs:
        raise InvalidParameter(
            "did.treated and did.post must be two columns, got {treated} and {post}.",
            hint='treated="state", post="after"',
            treated=shorten(treated),
            post=shorten(post),
        )
    return ask(DiD(design, pairs[0], errors), data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


def _plain(name: str) -> str:
    return name.strip("`").split("[T.")[0].strip("`")


def _pair(name: str) -> set[str]:
    return {_plain(part) for part in name.split(":")}


_SCHEMA = Schema(
    {
        "wage": Integers(0, 100),
        "treated": Integers(0, 1),
        "post": Categories(["before", "after"]),
        "age": Integers(18, 65),
    }
)
_ROWS: dict[str, list[Any]] = {
    "treated": [i % 2 for i in range(52)],
    "post": ["before" if i % 4 < 2 else "after" for i in range(52)],
    "age": [18 + (7 * i * i) % 47 for i in range(52)],
}
_ROWS["wage"] = [
    20 + 8 * t + 5 * (p == "after") + 6 * t * (p == "after") + age // 3 + (11 * i * i) % 13
    for i, (t, p, age) in enumerate(zip(_ROWS["treated"], _ROWS["post"], _ROWS["age"], strict=True))
]
_DESIGN = Design(
    domain=_SCHEMA,
    formula="wage ~ treated * post + age",
    outcome="wage",
    outcome_name="wage",
    names=("Intercept", "treated", "post[T.after]", "treated:post[T.after]", "age"),
    terms=("1", "treated", "(post == 'after')", "treated * (post == 'after')", "age"),
)

EXAMPLES = (
    Example(DiD(_DESIGN, "treated:post[T.after]"), _ROWS),
    Example(DiD(_DESIGN, "treated:post[T.after]", "HC1"), _ROWS),
)
