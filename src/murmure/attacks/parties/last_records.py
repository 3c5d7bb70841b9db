"""Reconstruction: the last honest rows of a regression, when everybody else colludes.

    X'X, X'y and y'y over all rows, less the colluders' rows  =  the same sums over the m rows that are left

No protocol hides these: the sum over the honest is what colluders learn in the best case. Of one row they are the row.
Of m rows they fix all but a rotation, and public bounds and whole numbers leave few rotations, or one, while m is not
much larger than the number of columns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.attacks.base.attack_result import AttackResult
from murmure.attacks.base.draws import sample_rows
from murmure.attacks.base.repetitions import check_count, with_bar
from murmure.attacks.base.success import Success, exact, repeated_share
from murmure.attacks.base.table_rows import TableRows
from murmure.attacks.base.threat_model import ThreatModel
from murmure.attacks.parties.sums_of_rows.best_rows import best_among_tables, best_independent, table_weights
from murmure.attacks.parties.sums_of_rows.colluders import RegressionSums
from murmure.attacks.parties.sums_of_rows.integer_rows import TooManySolutions, rows_with
from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.fixed import positive_epsilon
from murmure.core.random import Random, random_or_secure
from murmure.core.schema import Schema
from murmure.core.types import Floats, Ints
from murmure.econometrics.design.from_formula import design_from_formula
from murmure.show.document import Number, Table

MAX_HONEST = 8  # rows that are searched for
MAX_COUNTED = 1000  # honest rows for which tables are counted
HIDDEN_BITS = 10  # a thousand sets of rows that fit, on average and at least


def reconstruction(
    data: Any,
    schema: Schema,
    formula: str,
    honest: Sequence[int] | int = (1, 2, 3, 4),
    epsilon: Sequence[float] | float = (),
    repetitions: int = 10,
    rng: Random | None = None,
) -> AttackResult:
    """How many of the last honest rows follow from the exact sums of a regression.

    formula: of the regression, as `econometrics.ols` takes it. honest: how many rows are not the colluders'; several
    are allowed. epsilon: the same sums with noise. In every repetition other rows are the honest ones.

    >>> import murmure as mu
    >>> from murmure.attacks import reconstruction
    >>> schema = mu.Schema({"age": mu.Integers(18, 97), "stay": mu.Integers(0, 60)})
    >>> people = {"age": list(range(18, 98)), "stay": [i * i % 59 for i in range(80)]}
    >>> found = reconstruction(people, schema, "stay ~ age", (1, 2, 3), rng=mu.Random.seeded(7))
    >>> for row in found.rows[:3]:
    ...     print(f"{row.at} honest rows: {row.value:.0%} recovered")
    1 honest rows: 100% recovered
    2 honest rows: 100% recovered
    3 honest rows: 90% recovered
    """
    check_count("repetitions", repetitions)
    sizes = [check_count("honest", m) for m in np.atleast_1d(np.asarray(honest, object)).tolist()]
    if max(sizes) > MAX_HONEST:
        raise InvalidParameter(
            "honest must be at most {most}, got {got}: more rows are not searched for.", most=MAX_HONEST, got=max(sizes)
        )
    spent = [positive_epsilon("reconstruction", e) for e in np.atleast_1d(np.asarray(epsilon, object)).tolist()]
    rows = TableRows.read(design_from_formula("reconstruction", formula, None, schema, None).domain, data)
    if len(rows) <= max(sizes):
        raise InvalidParameter(
            "{m} of {rows} rows cannot be the honest ones: the colluders need some.", m=max(sizes), rows=len(rows)
        )
    rng = random_or_secure(rng, "reconstruction")
    sums = RegressionSums(rows, formula)
    steps = [(i, m, r) for i, m in enumerate(sizes) for r in range(repetitions)]
    trials: dict[int, list[_Trial]] = {m: [] for m in sizes}
    for i, m, r in with_bar(steps, Phrase("searching for rows")):
        trials[m].append(_trial(sums, sample_rows(len(rows), m, rng.child(i, r)), spent, rng.child(i, r, 1)))
    return AttackResult(
        "reconstruct",
        Phrase("The last honest rows of a regression"),
        ThreatModel(
            Phrase("the sums of squares and products of the regression {formula}", formula=formula),
            Phrase("all rows but a few, and public bounds"),
            Phrase("these few rows"),
        ),
        Phrase("share of the honest rows that are recovered"),
        tuple(_rows(sums, trials, spent)),
        axis=Phrase("honest rows"),
        blocks=(_ambiguity(sums, trials),),
        notes=(
            Phrase(
                "Where several sets of rows fit the sums, the attacker weighs them by how often the others have such "
                "rows. Without the sums, the guess is the most frequent rows of the table."
            ),
            *(
                [
                    Phrase(
                        "With noise, the attacker guesses from the sums, taking what they do not explain for normal, "
                        "or ignores them: whichever did better over all repetitions."
                    )
                ]
                if spent
                else []
            ),
            _hidden_in_words(_hidden_from(sums)),
            Phrase("Noise protects whatever the others know; a minimum of rows protects only from this search."),
        ),
        details={
            "formula": formula,
            "sums": len(sums.question.figures),
            "hidden_from": _hidden_from(sums),
            "solutions": {str(m): [t.solutions for t in found] for m, found in trials.items()},
            "refused": {str(m): sums.refused(m) for m in trials},
        },
        baseline=Phrase("without the sums"),
    )


@dataclass(frozen=True)
class _Trial:
    recovered: float
    baseline: float
    solutions: int | None  # None: more than the search goes through
    with_noise: tuple[float, ...]


def _trial(sums: RegressionSums, honest: Ints, spent: Sequence[float], rng: Random) -> _Trial:
    truth, m = sums.values[honest], len(honest)
    theirs = np.delete(sums.values, honest, axis=0)
    baseline = _without_sums(sums, m)
    try:
        found = rows_with(sums.honest_gram(honest), m, sums.bounds)
        guess = best_among_tables(found, table_weights(found, theirs))
        recovered, solutions = _shared(guess, truth), len(found)
    except TooManySolutions:
        recovered, solutions = baseline, None
    noisy = []
    for number, epsilon in enumerate(spent):
        total, deviation = sums.noisy_sums(honest, epsilon, rng.child(number))
        low, high = (np.array([getattr(b, end) for b in sums.bounds]) for end in ("low", "high"))
        if (deviation > m * np.maximum(high - low, 1) / 4).any():  # noise drowns the range
            noisy.append(baseline)
        elif m == 1:  # one row is its sums
            noisy.append(_shared(np.clip(np.rint(total), low, high).astype(np.int64)[None, :], truth))
        else:
            noisy.append(_shared(_from_noisy_sums(total, deviation, m, theirs), truth))
    return _Trial(recovered, baseline, solutions, tuple(noisy))


def _without_sums(sums: RegressionSums, m: int) -> float:
    """What the best guess of m rows reaches that knows the shares of rows in the whole table, and no sums."""
    _, counts = np.unique(sums.values, axis=0, return_counts=True)
    return best_independent(counts / counts.sum(), m)[1]


def _from_noisy_sums(total: Floats, deviation: Floats, m: int, theirs: Ints) -> Ints:
    """The best guess of m rows: shares as among the others', and what the sums say if the rest of them is normal."""
    rows, counts = np.unique(theirs, axis=0, return_counts=True)
    away = total - rows - (m - 1) * theirs.mean(axis=0)
    spread = (m - 1) * theirs.var(axis=0) + deviation**2 + 1e-9  # the constant has no spread
    logs = np.log(counts) - (away**2 / (2 * spread)).sum(axis=1)
    chances = np.exp(logs - logs.max())
    return np.asarray(rows[best_independent(chances / chances.sum(), m)[0]])


def _shared(found: Ints, truth: Ints) -> float:
    """The share of true rows in a table that is found; equal rows count as often."""
    rows, counts = np.unique(truth, axis=0, return_counts=True)
    hits = [min(int((found == row).all(axis=1).sum()), int(n)) for row, n in zip(rows, counts, strict=True)]
    return sum(hits) / len(truth)


def _rows(sums: RegressionSums, trials: Mapping[int, Sequence[_Trial]], spent: Sequence[float]) -> list[Success]:
    open_sums, ruled, noisy = [], [], []
    for m, found in trials.items():
        baseline = found[0].baseline
        recovered = [t.recovered for t in found]
        open_sums.append(repeated_share(Phrase("the exact sums"), recovered, baseline, m))
        rules = Phrase("study rules")
        # Who is refused has only what is known without the sums, and that is computed.
        refused = exact(rules, baseline, baseline, m)
        ruled.append(refused if sums.refused(m) else repeated_share(rules, recovered, baseline, m))
        for i, e in enumerate(spent):
            label = Phrase("epsilon = {epsilon:g}", epsilon=e)
            noisy.append(_unless_ignored(label, [t.with_noise[i] for t in found], baseline, m))
    return [*open_sums, *ruled, *sorted(noisy, key=lambda row: str(row.attacker))]


def _unless_ignored(label: str, recovered: Sequence[float], baseline: float, m: int) -> Success:
    """An attacker whom noisy sums mislead is free to ignore them."""
    if np.mean(recovered) < baseline:
        return exact(label, baseline, baseline, m)
    return repeated_share(label, recovered, baseline, m)


def _ambiguity(sums: RegressionSums, trials: Mapping[int, Sequence[_Trial]]) -> Table:
    lines = []
    for m, found in trials.items():
        counts = [math.inf if t.solutions is None else t.solutions for t in found]
        middle = float(np.median(counts))
        lines.append(
            (
                m,
                Phrase("more than listed") if math.isinf(middle) else Number(middle, "plain"),
                Number(float(np.mean([c == 1 for c in counts])), "share", 0),
                Phrase("yes") if sums.refused(m) else Phrase("no"),
            )
        )
    head = (
        Phrase("honest rows"),
        Phrase("tables that fit (median)"),
        Phrase("only one fits"),
        Phrase("refused by study rules"),
    )
    return Table(Phrase("What the sums leave open"), head, tuple(lines))


def _hidden_from(sums: RegressionSums) -> int | None:
    """The fewest rows for which there are so many more tables than sums; None: not even MAX_COUNTED are enough."""
    return next((m for m in range(1, MAX_COUNTED + 1) if sums.least_ambiguity(m) >= HIDDEN_BITS), None)


def _hidden_in_words(rows: int | None) -> str:
    if rows is None:
        return Phrase(
            "Even {rows} honest rows leave few tables open, as far as counting tables and sums can tell.",
            rows=MAX_COUNTED,
        )
    return Phrase(
        "On average a thousand sets of rows or more fit the sums from {rows} honest rows on: there are that many more "
        "tables than sums. Fewer rows may be safe too, but nothing says so.",
        rows=rows,
    )


def _example(**settings: Any) -> AttackResult:
    schema = Schema({"age": Integers(18, 57), "ward": Categories(["A", "B"]), "stay": Integers(0, 20)})
    people = {
        "age": [18 + i * 7 % 40 for i in range(60)],
        "ward": list("ABB") * 20,
        "stay": [i * i % 19 for i in range(60)],
    }
    return reconstruction(people, schema, rng=Random.seeded(1), **settings)


EXAMPLES = (
    lambda: _example(formula="stay ~ age", honest=(1, 2, 3), repetitions=2),
    lambda: _example(formula="stay ~ age + ward", honest=2, epsilon=1.0, repetitions=2),
)
