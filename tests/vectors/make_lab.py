"""What the lab must compute, from the public Python functions: `python tests/vectors/make_lab.py` writes lab.json.

Each vector is a call of one of the lab's functions (docs/lab/*.js) and what it must return; numbers to a relative 1e-8.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import murmure as mu
from murmure.core.fixed import WORD
from murmure.lectures import mistakes

FILE = Path(__file__).with_name("lab.json")
EPSILONS = (0.1, 0.5, 1.0, 1.0986122886681098, 2.0, 4.0)
COINS = ((0.5, 0.5), (0.5, 0.25), (0.2, 0.9), (0.9, 0.4))
GAMMAS = ("absolute", "variance")

Vector = dict[str, Any]


def vector(module: str, function: str, arguments: list[Any], returns: Any) -> Vector:
    name = f"{function}({', '.join('law' if isinstance(one, list) else str(one) for one in arguments)})"
    return {"name": name, "module": module, "function": function, "arguments": arguments, "returns": returns}


def coin_vectors() -> Iterator[Vector]:
    answers = mu.Categories(["no", "yes"])
    for truth, yes in COINS:
        warner = mu.Warner(answers, truth=truth, yes_coin=yes)
        law = warner.channel
        a, c = float(law.prob(1, 1)), float(law.prob(0, 1))
        matrix = [[a, float(law.prob(1, 0))], [c, float(law.prob(0, 0))]]
        exact = {"a": a, "c": c, "epsilon": mu.certify(warner).epsilon, "matrix": matrix}
        yield vector("laws", "warner", [truth, yes], exact)
        for f, n in ((0.3, 1000), (0.0, 50)):
            variance = float(warner.variance(np.array([1 - f, f]), n)[1])
            yield vector("variances", "warnerVariance", [truth, yes, f, n], variance)
    for epsilon in EPSILONS:
        best = mu.Warner(answers, epsilon=epsilon)
        a, c = map(float, best.yes)
        yield vector("laws", "bestTruth", [epsilon], a - c)
        yield vector(
            "variances", "bestCoinVariance", [epsilon, 1000], float(best.variance(np.array([0.6, 0.4]), 1000)[1])
        )


def grr_vectors() -> Iterator[Vector]:
    for epsilon, k in itertools.product(EPSILONS, (2, 9, 40)):
        law = mu.GRR(mu.Categories(k), epsilon).channel
        yield vector("laws", "grr", [epsilon, k], {"p": float(law.prob(1, 1)), "q": float(law.prob(1, 0))})


def number_vectors() -> Iterator[Vector]:
    hundredths = mu.Interval(0.0, 1.0, cells=100)
    for x in (0.0, 0.29, 0.3, 0.57, 0.99, 1.0):  # in floats, 0.29 and 0.57 lie just below a cell
        yield vector("laws", "cellOf", [x, 100], int(hundredths.encode([x])[0]))
    for epsilon, x in itertools.product(EPSILONS, (0.0, 0.3)):
        law = _law(mu.BoundedLaplace(mu.Interval(0.0, 1.0, cells=20), epsilon), x)
        yield vector("laws", "boundedLaplace", [epsilon, 20, x], law)
        yield vector("laws", "meanReport", [law], float(np.dot(law, mu.Interval(0.0, 1.0, cells=20).numbers())))
    for epsilon in EPSILONS:
        yield vector("laws", "laplaceOutside", [epsilon, 0], mistakes.share_outside_listing(epsilon))
    for epsilon, gamma in itertools.product(EPSILONS, GAMMAS):
        for cells in (20, 100):
            staircase = mu.BoundedStaircase(mu.Interval(0.0, 1.0, cells=cells), epsilon, gamma=gamma)  # type: ignore[arg-type]
            yield vector("laws", "calibratedStair", [epsilon, gamma, cells], {"inner": staircase.inner_epsilon})
        small = mu.BoundedStaircase(mu.Interval(0.0, 1.0, cells=20), epsilon, gamma=gamma)  # type: ignore[arg-type]
        yield vector("laws", "boundedStair", [epsilon, gamma, 20, 0.3], _law(small, 0.3))


def _law(mechanism: Any, x: float) -> list[float]:
    (code,) = mechanism.domain.encode([x])
    return [float(mechanism.channel.prob(int(code), y)) for y in range(mechanism.domain.size)]


def lesson_vectors() -> Iterator[Vector]:
    """The staircase as the lecture has it."""
    for epsilon, gamma in itertools.product(EPSILONS, GAMMAS):
        # 64 cells make it slow; below 0.5 the first of them is not all outside the step of a person at 1/2
        if epsilon in (0.5, 1.0, 4.0):
            fine = mistakes.redrawn_staircase(epsilon, gamma)  # type: ignore[arg-type]
            yield vector("laws", "redrawnLoss", [epsilon, gamma], mu.certify(fine).epsilon)
        redrawn = mistakes.redrawn_staircase(epsilon, gamma, 16)  # type: ignore[arg-type]
        wide = mistakes.unbounded_staircase(epsilon, gamma, 16).channel  # type: ignore[arg-type]
        reports = redrawn.channel.outcomes()
        for x in (0, 5):
            law = [float(redrawn.channel.prob(x, y)) for y in reports]
            yield vector("laws", "redrawnStair", [epsilon, gamma, x / 16, 16], law)
            inside = float(sum(wide.prob(x, y) for y in reports))
            yield vector("laws", "stairInside", [epsilon, gamma, x / 16], inside)
    for epsilon in (0.5, 1.0, 2.0, 4.0):  # at 0.1 the steps of the lesson end before the mass does
        for printed in (True, False):
            steps = mistakes.StaircaseSteps(epsilon, printed).weights
            heights = [weight / WORD / 2 for weight in steps[1:4]]
            for j, height in enumerate(heights):  # j + 0.99 lies on step j, whatever gamma is
                yield vector("laws", "stairDensity", [epsilon, "variance", j + 0.99, printed], height)
            if printed:
                yield vector("laws", "printedMass", [epsilon, "variance"], sum(steps[:-1]) / WORD)


def oracle_vectors() -> Iterator[Vector]:
    for epsilon, k, n, f in (
        *((epsilon, 128, 100_000, 0.0) for epsilon in (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)),  # the lecture's figure
        (1.0, 4, 10_000, 0.5),
        (1.0, 16, 1000, 0.9),
        (0.4, 7, 500, 0.2),
        (2.0, 9, 1000, 0.1),
        (3.0, 2, 1000, 0.3),
        (9.5, 50, 1000, 0.1),  # 13,361 bins share 65,536 hashes
    ):
        domain = mu.Categories(k)
        by = {
            "mean": mu.advise(domain, epsilon, n),
            "star": mu.advise(domain, epsilon, n, rank_by="var-star"),
            "atShare": mu.advise(domain, epsilon, n, shares=f),
        }
        rows = {row["mechanism"]: row for row in by["mean"].rows}
        at_share = {row["mechanism"]: row["mean_variance"] for row in by["atShare"].rows}
        wanted = []
        for name in ("GRR", "SUE", "OUE", "HadamardResponse", "BLH", "OLH", "SubsetSelection"):
            supports = getattr(mu, name)(domain, epsilon).supports
            one = {"name": name, "p": float(supports.p), "q": float(supports.q)}
            one |= {"star": rows[name]["var_star"], "atShare": at_share[name], "mean": rows[name]["mean_variance"]}
            wanted.append(one | ({"setting": rows[name]["detail"]} if rows[name]["detail"] else {}))
        yield vector("variances", "compare", [epsilon, k, n, f], wanted)
        yield vector("variances", "choice", [epsilon, k, n, f], {key: a.best["mechanism"] for key, a in by.items()})


def record_vectors() -> Iterator[Vector]:
    for epsilon, k, d, n, f in ((1.0, 5, 3, 10_000, 0.2), (0.5, 2, 2, 1000, 0.5), (3.0, 10, 5, 10_000, 0.1)):
        schema = mu.Schema({f"a{i}": mu.Categories(k) for i in range(d)})
        shares = [np.array([f, *[(1 - f) / (k - 1)] * (k - 1)])] * d
        for paper in (False, True):
            calibrate: Any = "paper" if paper else "record"
            wanted = []
            for name, fake in (("GRR", "GRR"), ("OUE", "OUE-z")):
                built = {
                    f"SPL[{name}]": mu.SPL(schema, epsilon, oracle=name),
                    f"SMP[{name}]": mu.SMP(schema, epsilon, oracle=name),
                    f"RS+FD[{fake}]": mu.RSFD(schema, epsilon, fake, calibrate=calibrate),
                }
                for title, mechanism in built.items():
                    costs = {unit: mu.certify(mechanism, unit).epsilon for unit in ("record", "attribute")}  # type: ignore[arg-type]
                    wanted.append({"name": title, "variance": float(mechanism.variance(shares, n)[0][0]), **costs})
            yield vector("variances", "solutions", [epsilon, k, d, n, f, paper], wanted)


def lab_vectors() -> list[Vector]:
    parts = (coin_vectors, grr_vectors, number_vectors, lesson_vectors, oracle_vectors, record_vectors)
    return [one for part in parts for one in part()]


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in lab_vectors())
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
