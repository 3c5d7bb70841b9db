"""What else is a sum: distribution, quantiles, logistic regression, maximum likelihood, all between five parties."""

from __future__ import annotations

from typing import Any

import numpy as np

import murmure as mu
from murmure import econometrics
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.float_draws import gaussian, open_uniforms
from murmure.show.document import Curve, Curves, Number, Table

HOLDERS = 5
SCHEMA = mu.Schema({"age": mu.Integers(18, 97), "days": mu.Decimals(0.1, 90, 1), "ill": mu.Categories(["no", "yes"])})
GRID = tuple(range(20, 100, 5))
MODELS = {
    "ecdf": Phrase("empirical distribution"),
    "quantiles": Phrase("quantiles"),
    "ols": Phrase("linear regression"),
    "logit": Phrase("logistic regression"),
    "mle": Phrase("maximum likelihood, exponential law"),
}


def patients(rng: Random, n: int) -> dict[str, Any]:
    age = np.clip(np.rint(55 + gaussian(rng, n, 16)), 18, 97).astype(int)
    days = np.clip(np.round(-np.log(open_uniforms(rng, n)) * (2 + age / 20), 1), 0.1, 90)
    ill = open_uniforms(rng, n) < 1 / (1 + np.exp(4 - age / 15))
    return {"age": age.tolist(), "days": days.tolist(), "ill": np.where(ill, "yes", "no").tolist()}


def fitted(model: str, data: Any, privacy: Any) -> Any:
    how = {"schema": SCHEMA, "privacy": privacy}
    if model == "ecdf":
        return econometrics.ecdf("age", data, grid=list(GRID), **how)
    if model == "quantiles":
        return econometrics.quantiles("age", data, (0.25, 0.5, 0.75), **how)
    if model == "mle":
        return econometrics.mle(family="exponential", formula="days ~ 1", data=data, **how)
    formula = {"ols": "days ~ age", "logit": "ill ~ age"}[model]
    return getattr(econometrics, model)(formula, data, **how)


def cell(work: Work, rng: Random, model: str, n: int) -> dict[str, Any]:
    """The same model of all rows in one place, and between the parties: equal to the last bit, or not."""
    table = patients(work.rng("patients", n), n)
    parts = [{name: column[i::HOLDERS] for name, column in table.items()} for i in range(HOLDERS)]
    together = fitted(model, table, None)
    apart = fitted(model, parts, mu.Secure(rows_are_public=True))  # invented rows: no limit on the number of sums
    return {
        "equal": figures(model, together) == figures(model, apart),
        "rounds": apart.how.rounds,
        "sums": apart.how.sums,
        "points": [float(point) for point in apart.points] if model == "ecdf" else [],
        "curve": figures(model, apart) if model == "ecdf" else [],
        "refused": refusal(model, parts),
    }


def refusal(model: str, parts: Any) -> bool:
    """Whether the rules of a study refuse so many exact sums on so few rows."""
    try:
        fitted(model, parts, mu.Secure())
    except mu.MurmureError:
        return True
    return False


FIGURES = {"ecdf": "shares", "quantiles": "values", "ols": "params", "logit": "params", "mle": "params"}


def figures(model: str, result: Any) -> list[float]:
    """The numbers of a result, to the last bit."""
    return [float(value) for value in np.ravel(getattr(result, FIGURES[model]))]


def measure(work: Work) -> Measured:
    n = work.choose(150, 1_500, 6_000)
    models = list(MODELS)[: work.choose(2, 5, 5)]
    found = dict(zip(models, work.cells(cell, [{"model": model, "n": n} for model in models]), strict=True))
    equal = [model for model in models if found[model]["equal"]]
    ages = np.array(patients(work.rng("patients", n), n)["age"])
    grid, years = tuple(found["ecdf"]["points"]), tuple(float(a) for a in range(18, 98))
    yes, no = Phrase("yes"), Phrase("no")
    return Measured(
        Phrase(
            "{equal} of {models} models are the same to the last bit between {parties} parties and on all {n:,} rows "
            "in one place; they take {few} to {many} rounds of sums.",
            equal=len(equal),
            models=len(models),
            parties=HOLDERS,
            n=n,
            few=min(one["rounds"] for one in found.values()),
            many=max(one["rounds"] for one in found.values()),
        ),
        {
            "model": models,
            **{name: [found[m][name] for m in models] for name in ("equal", "rounds", "sums", "refused")},
        },
        (
            Curves(
                Phrase("Empirical distribution of age, by masked sums"),
                (
                    Curve(Phrase("masked sums"), grid, tuple(found["ecdf"]["curve"]), step=True),
                    Curve(
                        Phrase("the rows themselves"), years, tuple(float((ages <= a).mean()) for a in years), step=True
                    ),
                ),
                Phrase("age"),
                Phrase("share up to it"),
            ),
        ),
        None,
        (
            Table(
                Phrase("Models between {parties} parties", parties=HOLDERS),
                (
                    Phrase("model"),
                    Phrase("rounds"),
                    Phrase("sums"),
                    Phrase("same to the last bit"),
                    Phrase("too many exact sums for a study of these rows"),
                ),
                tuple(
                    (
                        MODELS[model],
                        Number(found[model]["rounds"]),
                        Number(found[model]["sums"]),
                        yes if found[model]["equal"] else no,
                        yes if found[model]["refused"] else no,
                    )
                    for model in models
                ),
            ),
        ),
    )


ITEM = Item(
    Phrase("What else is a sum"),
    Phrase("4.3, flexibility"),
    measure,
    claimed=Phrase(
        "linear and logistic regression, maximum likelihood, empirical distributions and quantiles can be computed"
    ),
)
