"""Learners with known defects, each written with our gate: the replay audit must reject every one of them.

They are the defects of published libraries and of the lecture. Each has a sound counterpart that the audit must pass:
an audit that rejects everything would be no audit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from murmure.catalogue import load
from murmure.central.base.gate import Gate
from murmure.core.blocks import Block, NoisySum
from murmure.core.types import Relation

EPSILON = 1.0
GRID = 1000  # values from -1 to 1 become whole numbers from -1000 to 1000


def bound_to(blocks: Sequence[Block], epsilon: float, relation: Relation = "add/remove") -> Any:
    return load("DiscreteLaplace")(epsilon=epsilon).bind(tuple(blocks), relation, 1)


def ask(
    gate: Gate, question: str, total: Any, moves: int, epsilon: float, relation: Relation = "add/remove"
) -> np.ndarray:
    """One block, with its declared L1 sensitivity."""
    total = np.atleast_1d(np.asarray(total, np.int64))
    block = Block(question, len(total), moves, moves**2, replace_l1=moves if relation == "replace" else None)
    noisy: NoisySum = gate.add(question, total, bound_to([block], epsilon, relation))
    return noisy.sum


def on_grid(column: Any) -> np.ndarray:
    return np.rint(np.clip(np.asarray(column, float), -1.0, 1.0) * GRID).astype(np.int64)


def points(data: dict[str, list[float]]) -> np.ndarray:
    return np.stack([on_grid(data[name]) for name in sorted(data) if name.startswith("x")], axis=1)


# -- k-means -----------------------------------------------------------------------------------------------------------


def kmeans(
    data: dict[str, list[float]],
    gate: Gate,
    steps: int = 2,
    shares: tuple[float, float] | None = None,
    skip_empty: bool = False,
    labels: bool = False,
) -> Any:
    """Two clusters from a fixed start; a step's share is split between counts and d sums, 1.5 : 1 : ... : 1."""
    x = points(data)
    d = x.shape[1]
    count_share, sum_share = shares or (1.5 / (1.5 + d), 1 / (1.5 + d))
    centres = np.linspace(-0.5, 0.5, 2)[:, None] * np.ones(d) * GRID
    for step in range(steps):
        nearest = np.argmin(((x[:, None, :] - centres) ** 2).sum(axis=2), axis=1)
        for k in range(2):
            mine = x[nearest == k]
            if skip_empty and not len(mine):
                continue
            each = EPSILON / steps
            count = ask(gate, f"count {k} {step}", [len(mine)], 1, each * count_share / 2)[0]
            sums = [
                ask(gate, f"sum {k} {step} {j}", [mine[:, j].sum()], GRID, each * sum_share / 2)[0] for j in range(d)
            ]
            centres[k] = np.clip(np.array(sums) / max(1, count), -GRID, GRID)
    return (centres, nearest.tolist()) if labels else centres


def kmeans_swapped_budgets(data: dict[str, list[float]], gate: Gate) -> Any:
    """diffprivlib: a helper returns (count, sum), its caller reads (sum, count); d sums spend the larger share."""
    d = sum(name.startswith("x") for name in data)
    return kmeans(data, gate, shares=(1 / (1.5 + d), 1.5 / (1.5 + d)))


def kmeans_skipped_empty_cluster(data: dict[str, list[float]], gate: Gate) -> Any:
    """diffprivlib: an empty cluster gets no noise and keeps its centre, so one point more is seen for certain."""
    return kmeans(data, gate, skip_empty=True)


def kmeans_exact_labels(data: dict[str, list[float]], gate: Gate) -> Any:
    """diffprivlib publishes labels_ and inertia_, exact functions of the rows."""
    return kmeans(data, gate, labels=True)


def kmeans_steps_from_true_n(data: dict[str, list[float]], gate: Gate) -> Any:
    """diffprivlib: the number of iterations follows from the true number of rows, which is private."""
    return kmeans(data, gate, steps=2 if len(data["x0"]) < 5 else 3)


# -- naive Bayes -------------------------------------------------------------------------------------------------------


def naive_bayes(data: dict[str, list[float]], gate: Gate) -> Any:
    """Public classes 0 and 1, noisy counts and noisy sums: classes are disjoint, so each question covers both."""
    x, y = on_grid(data["x0"]), np.asarray(data["y"])
    counts = ask(gate, "counts", [(y == c).sum() for c in (0, 1)], 1, EPSILON / 2)
    sums = ask(gate, "sums", [x[y == c].sum() for c in (0, 1)], GRID, EPSILON / 2)
    return counts, sums / np.maximum(1, counts)


def naive_bayes_private_n(data: dict[str, list[float]], gate: Gate) -> Any:
    """Vaidya 2013, as in the lecture: a class's mean gets noise for (U - L) / (n + 1), with that class's own n."""
    x, y = on_grid(data["x0"]), np.asarray(data["y"])
    counts = ask(gate, "counts", [(y == c).sum() for c in (0, 1)], 1, EPSILON / 2)
    means = []
    for c in (0, 1):
        mine = x[y == c]
        moves = max(1, 2 * GRID // (len(mine) + 1))
        means.append(ask(gate, f"mean {c}", [mine.sum() // max(1, len(mine))], moves, EPSILON / 4)[0])
    return counts, means


def naive_bayes_forced_to_n(data: dict[str, list[float]], gate: Gate) -> Any:
    """diffprivlib: noisy class counts are pushed up or down until they add up to the exact n, which is then public."""
    counts, means = naive_bayes(data, gate)
    counts = counts.copy()
    counts[0] += len(data["y"]) - counts.sum()
    return counts, means


def naive_bayes_classes_from_y(data: dict[str, list[float]], gate: Gate) -> Any:
    """diffprivlib: the list of classes is read off y, so the one person of a rare class is seen."""
    y = np.asarray(data["y"])
    return [ask(gate, f"class {c}", [(y == c).sum()], 1, EPSILON)[0] for c in np.unique(y).tolist()]


def naive_bayes_warns_of_an_empty_class(data: dict[str, list[float]], gate: Gate) -> Any:
    """A warning about the raw rows: whoever sees it knows that nobody is in a class."""
    if len(set(data["y"])) < 2:
        warnings.warn("a class is empty", stacklevel=2)
    return naive_bayes(data, gate)


def naive_bayes_fails_on_an_empty_class(data: dict[str, list[float]], gate: Gate) -> Any:
    """An error about the raw rows: a failed run is a release too, and an unpaid one."""
    if len(set(data["y"])) < 2:
        raise ValueError("a class is empty")
    return naive_bayes(data, gate)


def naive_bayes_fails_on_nan(data: dict[str, list[float]], gate: Gate) -> Any:
    """scikit-learn's check of X: whether somebody's value is missing decides whether there is an answer."""
    if np.isnan(data["x0"]).any():
        raise ValueError("Input contains NaN")
    return naive_bayes(data, gate)


def naive_bayes_label_may_change(data: dict[str, list[float]], gate: Gate) -> Any:
    """diffprivlib under replace-one: a record that changes its label moves two counts, and one is declared."""
    y = np.asarray(data["y"])
    return ask(gate, "counts", [(y == c).sum() for c in (0, 1)], 1, EPSILON, "replace")


def bounds_from_the_data(data: dict[str, list[float]], gate: Gate) -> Any:
    """diffprivlib without bounds: the true minimum and maximum scale the noise, and are kept as public attributes."""
    x = on_grid(data["x0"])
    low, high = (int(x.min()), int(x.max())) if len(x) else (0, 1)
    return ask(gate, "sum", [x.sum()], max(1, abs(low), abs(high)), EPSILON)


# -- linear regression -------------------------------------------------------------------------------------------------


def regression(data: dict[str, list[float]], gate: Gate, exact_squares: bool = False, squares: int = GRID**2) -> Any:
    """Sums of x y and of x**2, for the slope through the origin."""
    x, y = on_grid(data["x0"]), on_grid(data["y"])
    xy = ask(gate, "xy", [(x * y).sum()], GRID**2, EPSILON / 2)[0]
    total = (x * x).sum()
    xx = total if exact_squares else ask(gate, "xx", [total], squares, EPSILON / 2)[0]
    return xy, xx


def regression_exact_squares(data: dict[str, list[float]], gate: Gate) -> Any:
    """diffprivlib (IBM#105): with bounds (0, 1) the sum of squares gets no noise at all and comes out exactly."""
    return regression(data, gate, exact_squares=True)


def regression_lower_bound_twice(data: dict[str, list[float]], gate: Gate) -> Any:
    """The same code with bounds (0.1, 1): the sensitivity is that of the lower bound's square, not the upper's."""
    return regression(data, gate, squares=GRID**2 // 100)


def functional_mechanism(data: dict[str, list[float]], gate: Gate, moves: int) -> Any:
    """(y - w0 - w1 x)**2: the sums of 1, x, y, x**2, x y, y**2 with the weights that they have in it."""
    x, y = on_grid(data["x0"]), on_grid(data["y"])
    total = [2 * GRID * x, 2 * GRID * y, x * x, 2 * x * y, y * y]
    return ask(gate, "coefficients", [t.sum() for t in total], moves, EPSILON, "replace")


def regression_forgotten_intercept(data: dict[str, list[float]], gate: Gate) -> Any:
    """The lecture's 2 (1 + d)**2 counts the features and not the intercept: at d = 1 it is 8, and the truth is 9."""
    return functional_mechanism(data, gate, 8 * GRID**2)


# -- noise -------------------------------------------------------------------------------------------------------------


def noise_too_small_for_its_cost(data: dict[str, list[float]], gate: Gate) -> Any:
    """A tenth of the noise under the name, the sensitivity and the cost of the whole."""
    block = Block("count", 1, 1, 1)
    small = replace(bound_to([block], EPSILON), laws=bound_to([block], 10 * EPSILON).laws)
    return gate.add("count", np.array([len(data["x0"])], np.int64), small).sum


def another_question(data: dict[str, list[float]], gate: Gate) -> Any:
    """The exact majority decides what is asked."""
    question = "ones" if sum(np.asarray(data["y"]) == 1) * 2 > len(data["y"]) else "zeros"
    return ask(gate, question, [len(data["y"])], 1, EPSILON)


def caught_by_the_learner(data: dict[str, list[float]], gate: Gate) -> Any:
    """A learner that swallows every error does not swallow the audit's."""
    try:
        return ask(gate, "sum", [100 * len(data["y"])], 1, EPSILON)
    except Exception:
        return np.zeros(1)


@dataclass(frozen=True)
class Control:
    """A learner, a pair of neighbours that shows its defect, and what the audit says of it; None: it is sound."""

    ask: Callable[[Any, Gate], Any]
    data: dict[str, list[float]]
    neighbour: dict[str, list[float]]
    says: str | None
    relation: Relation = "add/remove"


def _wide(rows: int) -> dict[str, list[float]]:
    """Rows of eight numbers, all near the first centre: the second cluster is empty."""
    return {f"x{j}": [-0.5 - 0.01 * j] * rows for j in range(8)}


def _with(data: dict[str, list[float]], **row: float) -> dict[str, list[float]]:
    return {name: [*column, row.get(name, row.get("rest", 0.5))] for name, column in data.items()}


_FLAT = {"x0": [0.2, -0.4, 0.9, 0.1], "y": [0, 0, 0, 0]}
_BOTH = {"x0": [0.2, -0.4, 0.9, 0.1], "y": [0, 1, 1, 0]}

SOUND = (
    Control(kmeans, _wide(4), _with(_wide(4), rest=0.7), None),
    Control(naive_bayes, _FLAT, _with(_FLAT, x0=1.0, y=1), None),
    Control(regression, _BOTH, _with(_BOTH, x0=-1.0, y=1), None),
    Control(
        lambda data, gate: functional_mechanism(data, gate, 9 * GRID**2),
        {"x0": [0.3, -1.0], "y": [0.1, -1.0]},
        {"x0": [0.3, 0.0], "y": [0.1, 1.0]},
        None,
        "replace",
    ),
)
BROKEN = (
    Control(kmeans_swapped_budgets, _wide(4), _with(_wide(4)), "cost epsilon = .* together; 1 was claimed"),
    Control(kmeans_skipped_empty_cluster, _wide(4), _with(_wide(4)), "question .* differs in the second run|asks more"),
    Control(kmeans_exact_labels, _wide(4), _with(_wide(4)), "did not pass the gate"),
    Control(kmeans_steps_from_true_n, _wide(4), _with(_wide(4)), "different cost|different sensitivity|asks more"),
    Control(naive_bayes_private_n, _BOTH, _with(_BOTH, x0=1.0, y=1), "question 3 of 3 has a different sensitivity"),
    Control(naive_bayes_forced_to_n, _BOTH, _with(_BOTH, y=1), r"the result\[0\]: something was released"),
    Control(naive_bayes_classes_from_y, _FLAT, _with(_FLAT, y=1), "asks more questions than the 1"),
    Control(naive_bayes_warns_of_an_empty_class, _FLAT, _with(_FLAT, y=1), "a different warning"),
    Control(naive_bayes_fails_on_an_empty_class, _FLAT, _with(_FLAT, y=1), "a different error"),
    Control(naive_bayes_fails_on_nan, _BOTH, _with(_BOTH, x0=float("nan"), y=1), "a different error"),
    Control(
        naive_bayes_label_may_change,
        _BOTH,
        {**_BOTH, "y": [0, 1, 1, 1]},
        "changes block 'counts' in l1 by 2, more than the declared 1",
        "replace",
    ),
    Control(bounds_from_the_data, _BOTH, _with(_BOTH, x0=1.0), "different sensitivity"),
    Control(regression_exact_squares, _BOTH, _with(_BOTH, x0=0.5), r"the result\[1\]: something was released"),
    Control(regression_lower_bound_twice, _BOTH, _with(_BOTH, x0=1.0), "by 1000000, more than the declared 10000"),
    Control(
        regression_forgotten_intercept,
        {"x0": [0.3, -1.0], "y": [0.1, -1.0]},
        {"x0": [0.3, 0.0], "y": [0.1, 1.0]},
        "by 9000000, more than the declared 8000000",
        "replace",
    ),
    Control(noise_too_small_for_its_cost, _BOTH, _with(_BOTH), "its answer reveals .* about one person, but costs"),
    Control(another_question, _BOTH, _with(_BOTH, y=1), "question 1 of 1 differs in the second run"),
    Control(caught_by_the_learner, _BOTH, _with(_BOTH), "by 100, more than the declared 1"),
)
