"""Two holders of different columns of the same people: what masked sums can do, what they cannot, and what leaks."""

from __future__ import annotations

from typing import Any

import numpy as np

import murmure as mu
from murmure import econometrics
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.core.types import Floats
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.float_draws import gaussian, laplace
from murmure.show.document import Curve, Curves, IntervalRow, Intervals, Number, Table

SCHEMA = mu.Schema({"age": mu.Integers(18, 77), "bonus": mu.Integers(0, 9), "cost": mu.Integers(0, 100)})
COSTS = mu.Schema({"cost": SCHEMA["cost"]})  # the provider's table
FORMULA, SLOPE = "cost ~ age + bonus", 0.8  # what a year of age adds
EPSILON = 4.0
FEW = 40  # people whose costs the insurer tries to read from sums


def people(rng: Random, n: int) -> dict[str, Any]:
    """The insurer holds age and bonus, the provider the cost of care, of the same people in the same order."""
    words = rng.words(2 * n).reshape(2, n)
    age, bonus = (words[0] % np.uint64(60)).astype(int) + 18, (words[1] % np.uint64(10)).astype(int)
    cost = np.clip(np.rint(10 + SLOPE * age - bonus + gaussian(rng, n, 8)), 0, 100).astype(int)
    return {"age": age, "bonus": bonus, "cost": cost}


def dealt_product(rng: Random, x: Any, y: Any) -> int:
    """sum of x_i y_i modulo 2**64, by random numbers of a dealer who sees neither (Beaver, CRYPTO 1991).

    The dealer gives a and r to the insurer, b and a.b - r to the provider. Insurer and provider exchange x - a and
    y - b, which are uniform whatever x and y are. Their two numbers add up to the product.
    """
    n = len(x)
    x, y = x.astype(np.uint64), y.astype(np.uint64)
    a, b, r = rng.words(n), rng.words(n), rng.words(1)[0]
    to_provider, to_insurer = x - a, y - b  # what is exchanged
    with np.errstate(over="ignore"):
        insurer = (to_insurer * x).sum() + r  # x.(y - b) + r
        provider = (to_provider * b).sum() + (a * b).sum() - r  # (x - a).b + a.b - r
        return int(insurer + provider)


def reports(work: Work, rng: Random, n: int, run: int) -> dict[str, Any]:
    """The provider sends one randomised cost for each person; the insurer corrects for the randomisation."""
    table = people(work.rng("people", run, n), n)
    record = mu.Plain(COSTS, EPSILON, numeric="Piecewise")
    column = mu.sanitise({"cost": table["cost"]}, record, rng=rng).column("cost")  # what the provider sends
    mechanism = mu.Piecewise(COSTS["cost"], EPSILON)
    sent = {**table, "cost": np.asarray(column)}
    fit = econometrics.randomised_ols(FORMULA, sent, schema=SCHEMA, randomised={"cost": mechanism})
    clear = econometrics.ols(FORMULA, table, schema=SCHEMA)
    return {"slope": float(fit.params[1]), "error": float(np.asarray(fit.bse)[1]), "clear": float(clear.params[1])}


def products(work: Work, rng: Random, n: int) -> dict[str, Any]:
    """The missing products X'y by a dealer's numbers: exact, or not."""
    table = people(rng, n)
    names = ("age", "bonus")
    found = [dealt_product(rng, table[name], table["cost"]) for name in names]
    return {"found": found, "true": [int((table[name] * table["cost"]).sum()) for name in names]}


def read_costs(work: Work, rng: Random, asked: int, run: int) -> dict[str, float]:
    """The insurer asks for `asked` exact sums of f(age, bonus) cost, f its own, and solves for the costs."""
    table = people(rng, FEW)
    functions = (rng.words(asked * FEW) % np.uint64(100)).astype(np.int64).reshape(asked, FEW)
    truth = table["cost"].astype(float)
    exact = functions @ truth
    noise = laplace(rng, asked, asked * 99 * 100 / 1.0)  # epsilon 1 in all: each sum moves by up to 99 * 100
    return {"exact": recovered(functions, exact, truth), "noisy": recovered(functions, exact + noise, truth)}


def recovered(functions: Any, answers: Floats, truth: Floats) -> float:
    """The share of costs that are right after rounding: least squares around the mean of all, which is public."""
    centre = np.full(len(truth), np.rint(truth.mean()))
    found, *_ = np.linalg.lstsq(functions.astype(float), answers - functions @ centre, rcond=None)
    return float((np.rint(centre + found) == truth).mean())


def ends(values: Floats) -> tuple[float, float]:
    """Between which 95% of the runs lie."""
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


def measure(work: Work) -> Measured:
    n, runs = work.choose(200, 2_000, 2_000), work.choose(2, 15, 60)
    found = work.cells(reports, [{"n": n, "run": run} for run in range(runs)])
    dealt = work.cells(products, [{"n": n}])[0]
    slopes, clear = (np.array([one[name] for one in found]) for name in ("slope", "clear"))
    covered = float(np.mean([abs(one["slope"] - SLOPE) <= 1.96 * one["error"] for one in found]))
    steps = work.choose((10, 40), (1, 5, 10, 15, 20, 25, 30, 35, 38, 40, 45), tuple(range(1, 46, 2)))
    tries = work.choose(1, 10, 50)
    leaks = work.cells(read_costs, [{"asked": asked, "run": run} for asked in steps for run in range(tries)])
    curves = {
        name: [float(np.mean([one[name] for one in leaks[i * tries : (i + 1) * tries]])) for i in range(len(steps))]
        for name in ("exact", "noisy")
    }
    equal = dealt["found"] == dealt["true"]
    full = next((asked for asked, share in zip(steps, curves["exact"], strict=True) if share > 0.99), None)
    x = tuple(map(float, steps))
    leak = (
        Phrase("all {few} costs are read from {full} exact sums", few=FEW, full=full)
        if full
        else Phrase(
            "{share:.0%} of {few} costs are read from {full} exact sums",
            share=curves["exact"][-1],
            few=FEW,
            full=steps[-1],
        )
    )
    return Measured(
        Phrase(
            "Masked sums give each holder's own sums and no product of two holders' columns. Randomised costs (epsilon "
            "{epsilon:g}) do: the slope of age is {mean:.3f} on average, standard deviation {deviation:.3f}, where the "
            "rows in one place give {clear:.3f} with {own:.3f} ({runs} runs; intervals cover in {covered:.0%}). With a "
            "dealer's random numbers the products are exact: {equal}. And exact sums leak: {leak}.",
            epsilon=EPSILON,
            mean=float(slopes.mean()),
            deviation=float(slopes.std()),
            clear=float(clear.mean()),
            own=float(clear.std()),
            runs=runs,
            covered=covered,
            equal=Phrase("yes") if equal else Phrase("no"),
            leak=leak,
        ),
        {"sums_asked": steps, **curves},
        (
            Intervals(
                Phrase("What a year of age adds to the cost: mean and 95% of the runs"),
                tuple(
                    IntervalRow(name, float(values.mean()), *ends(values), SLOPE)
                    for name, values in (
                        (Phrase("rows in one place"), clear),
                        (Phrase("randomised costs"), slopes),
                    )
                ),
                unit="value",
                words=(Phrase("95% of the runs"), Phrase("mean")),
                picture=True,
                axis=Phrase("slope"),
            ),
            Curves(
                Phrase("Costs that the insurer reads from exact sums over {few} people", few=FEW),
                (
                    Curve(Phrase("exact sums"), x, tuple(curves["exact"])),
                    Curve(Phrase("noise, epsilon 1 in all"), x, tuple(curves["noisy"])),
                ),
                Phrase("sums asked for"),
                Phrase("share of costs recovered"),
            ),
        ),
        Phrase(
            "The protocol adds functions of one party's data. A product of the insurer's age and the provider's cost "
            "is a function of two parties, whoever the rows belong to. If each person were a party the product would "
            "be theirs to form, but the insurer knows the ages: each exact sum is then an equation for the costs."
        ),
        (
            Table(
                Phrase("Different columns of the same people: what can be done, with what"),
                (Phrase("wanted"), Phrase("with"), Phrase("who learns what"), Phrase("here")),
                (
                    (
                        Phrase("means and variances of each column"),
                        Phrase("each holder adds up; masks add nothing"),
                        Phrase("the sums"),
                        Phrase("mu.run, mu.Sums"),
                    ),
                    (
                        Phrase("products across holders, one regression"),
                        Phrase("randomised values of one holder"),
                        Phrase("the other learns epsilon about each person"),
                        Phrase("mu.sanitise, econometrics.randomised_ols"),
                    ),
                    (
                        Phrase("exact products across holders"),
                        Phrase("random numbers of a dealer who does not collude"),
                        Phrase("the products; many of them give the rows"),
                        Phrase("ten lines in this item; not a part of Murmure"),
                    ),
                    (
                        Phrase("any question, later"),
                        Phrase("one holder trusted with all columns"),
                        Phrase("readers learn epsilon about each person"),
                        Phrase("mu.Central(epsilon)"),
                    ),
                ),
                words=True,
            ),
            Table(
                Phrase("Products by a dealer's numbers, modulo 2**64"),
                (Phrase("product"), Phrase("found"), Phrase("true")),
                tuple(
                    (name, Number(a), Number(b))
                    for name, a, b in zip(("age x cost", "bonus x cost"), dealt["found"], dealt["true"], strict=True)
                ),
            ),
        ),
    )


ITEM = Item(
    Phrase("Insurer and provider: different columns of the same people"),
    Phrase("6, transposition to an insurer and a provider"),
    measure,
    claimed=Phrase("the method can be arranged for an insurer and a provider by treating each row as a party"),
)
