"""Membership inference: was this row among those that a model learned from?

The game: a fair coin decides whether the row is in the table; a learner is fitted; the attacker looks at what it
released, and guesses the coin. Under epsilon differential privacy nobody guesses right more often than

    (e^epsilon + delta) / (e^epsilon + 1)

whatever they know. Two attackers: one knows all other rows, and computes the exact likelihood ratio of the noisy
answers from the law of the noise (nobody does better); the other knows the population, and fits shadow models.

Kairouz, Oh, Viswanath, ICML 2015, theorem 2.1 (the bound); Carlini and others, S&P 2022 (shadow models).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from murmure.attacks.base.attack_result import AttackResult
from murmure.attacks.base.draws import sample_rows
from murmure.attacks.base.repetitions import check_count, with_bar
from murmure.attacks.base.success import Success, counted, exact, repeated_share
from murmure.attacks.base.table_rows import TableRows
from murmure.attacks.base.threat_model import ThreatModel
from murmure.attacks.curator.learner_games.likelihood_gate import log_ratio
from murmure.attacks.curator.learner_games.shadow_fits import (
    NormalRatio,
    are_equal,
    area_under_curve,
    fitted_numbers,
    released_numbers,
)
from murmure.central.base.gate import Gate
from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import positive_epsilon
from murmure.core.random import Random, random_or_secure
from murmure.core.schema import Schema
from murmure.learn.base import Learner
from murmure.learn.kmeans import KMeans
from murmure.learn.linear import LinearRegression
from murmure.learn.naive_bayes import NaiveBayes
from murmure.plan.privacy import Central, Clear

Knows = Literal["table", "population"]
BOUND = Phrase("most that epsilon allows")
CLEAR = Phrase("without noise")
RATIO = Phrase("likelihood ratio, guesses")
CHANCE = Phrase("likelihood ratio, chances")  # that a guess is right, given the answers


def membership_inference(
    learner: Any,
    data: Any,
    epsilon: Sequence[float] | float | None = None,
    knows: Knows = "table",
    target: int | Mapping[str, Any] | None = None,
    repetitions: int = 100,
    shadows: int = 50,
    rng: Random | None = None,
) -> AttackResult:
    """How often an attacker sees that a row was in the table, from the model that was learned.

    learner: of murmure.learn, not fitted, with its schema. epsilon: that of Central, one or several; None: as the
    learner has it. knows: "table", all other rows; or "population", a table that the others are drawn from. target: the
    row, as a number in `data` or as a mapping; None: the row with the highest value in every column, which moves sums
    most. repetitions: games for each epsilon. shadows: models fitted with the row, and as many without.

    >>> import murmure as mu
    >>> from murmure.attacks import membership_inference
    >>> from murmure.learn import NaiveBayes
    >>> schema = mu.Schema({"age": mu.Integers(0, 100), "sick": mu.Categories(["no", "yes"])})
    >>> people = {"age": [20, 25, 30, 70, 75, 80] * 20, "sick": ["no", "no", "no", "yes", "yes", "yes"] * 20}
    >>> learner = NaiveBayes(schema, target="sick")
    >>> found = membership_inference(learner, people, epsilon=1.0, repetitions=40, rng=mu.Random.seeded(7))
    >>> for row in found.rows:
    ...     print(f"{row.attacker}: {row.value:.3f}")
    without noise: 1.000
    likelihood ratio, chances: 0.614
    likelihood ratio, guesses: 0.500
    most that epsilon allows: 0.731
    """
    if not isinstance(learner, Learner) or not isinstance(learner.schema, Schema):
        raise InvalidParameter(
            "membership_inference takes a learner with a schema, got {got}.",
            hint='NaiveBayes(schema, target="sick")',
            got=shorten(learner),
        )
    if knows not in ("table", "population"):
        raise InvalidParameter('knows must be "table" or "population", got {got}.', got=shorten(knows))
    check_count("repetitions", repetitions, 2)
    check_count("shadows", shadows, 2)
    rng = random_or_secure(rng, "membership_inference")
    game = _Game.of(learner, TableRows.read(learner.schema, data), target)
    privacies = _privacies(learner.privacy, epsilon)
    rows: list[Success] = []
    areas: dict[str, float] = {}
    for number, privacy in enumerate(privacies):
        at = None if privacy is None else privacy.epsilon
        stream = rng.child(number)
        if knows == "table":
            rows += game.against_all(privacy, repetitions, stream)
        else:
            row, areas[str(at)] = game.against_population(privacy, repetitions, shadows, stream)
            rows.append(row)
        if privacy is not None:
            e = math.exp(privacy.epsilon)
            rows.append(exact(BOUND, (e + privacy.delta) / (e + 1), 0.5, at))
    flat = [row for row in rows if row.at is None]
    noisy = sorted((row for row in rows if row.at is not None), key=lambda row: str(row.attacker))
    # On an axis of epsilons, what needs none is a level line.
    at_all = sorted({row.at for row in noisy if row.at is not None})
    level = [replace(row, at=e) for row in flat for e in at_all] if at_all else flat
    rows = [*level, *noisy]
    return AttackResult(
        "membership",
        Phrase("Was this row among those learned from? {learner}", learner=type(learner).__name__),
        ThreatModel(
            Phrase("the model, and the noisy sums that it was learned from")
            if knows == "table"
            else Phrase("the numbers of the model"),
            Phrase("the row, all other rows, and the law of the noise")
            if knows == "table"
            else Phrase("the row, the population, and how the model is learned"),
            Phrase("whether the row was in the table; a fair coin decided it"),
        ),
        Phrase("share of right guesses"),
        tuple(rows),
        axis=Phrase("epsilon") if at_all else None,
        notes=(
            Phrase(
                "The likelihood ratio is exact, so no attacker who sees the model does better. Guesses are counted, "
                "and in few games luck may carry them past the bound; their chances, given the answers, are computed, "
                "and vary less."
            )
            if knows == "table"
            else Phrase("Shadow models give a lower bound on what such an attacker reaches."),
        ),
        details={
            "learner": type(learner).__name__,
            "knows": knows,
            "relation": game.relation,
            **({"areas": areas} if areas else {}),
        },
        baseline=Phrase("without the model"),
    )


def _privacies(privacy: Any, epsilon: Any) -> list[Central | None]:
    """The clear, and every noise."""
    if epsilon is None:
        if privacy is not None and not isinstance(privacy, Clear | Central):
            raise InvalidParameter(
                "membership_inference attacks learners under Clear and Central, got {got}.",
                hint="epsilon=1.0, or privacy=Central(1.0)",
                got=shorten(privacy),
            )
        return [None, privacy] if isinstance(privacy, Central) else [None]
    spent = [positive_epsilon("membership_inference", e) for e in np.atleast_1d(np.asarray(epsilon, object)).tolist()]
    base = privacy if isinstance(privacy, Central) else Central(1.0)
    return [None, *(replace(base, epsilon=e) for e in sorted(spent))]


@dataclass(frozen=True)
class _Game:
    learner: Any
    others: dict[str, list[Any]]  # all rows but the one in question
    row: dict[str, Any]
    instead: dict[str, Any] | None  # what stands in its place; None: nothing, the table has one row less

    @classmethod
    def of(cls, learner: Any, rows: TableRows, target: Any) -> _Game:
        if isinstance(target, int) and not isinstance(target, bool):
            if not 0 <= target < len(rows):
                raise InvalidParameter(
                    "target must be a row from 0 to {last}, got {got}.", last=len(rows) - 1, got=target
                )
            row = {name: rows.table.column(name)[target].as_py() for name in rows.schema.private}
            rows = rows.without(target)
        elif target is None:
            row = _corner(rows.schema, last=True)
        elif isinstance(target, Mapping) and set(target) == set(rows.schema.private):
            row = dict(target)
        else:
            raise InvalidParameter(
                "target must be the number of a row, or a mapping of {column_names}, got {got}.",
                column_names=shorten(list(rows.schema.private), 120),
                got=shorten(target),
            )
        replaced = isinstance(learner.privacy, Central) and learner.privacy.relation == "replace"
        return cls(learner, rows.table.to_pydict(), row, _corner(rows.schema, last=False) if replaced else None)

    @property
    def relation(self) -> str:
        return "add/remove" if self.instead is None else "replace"

    def _tables(self, others: Mapping[str, list[Any]]) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
        """With the row, and without."""
        inside = {name: [*column, self.row[name]] for name, column in others.items()}
        if self.instead is None:
            return inside, dict(others)
        return inside, {name: [*column, self.instead[name]] for name, column in others.items()}

    def _learner(self, privacy: Central | None) -> Any:
        return copy.copy(self.learner).set_params(privacy=privacy or Clear(), ledger=None, rng=None)

    def against_all(self, privacy: Central | None, repetitions: int, rng: Random) -> list[Success]:
        """By the exact likelihood ratio; without noise, by whether the released numbers differ at all."""
        learner, tables = self._learner(privacy), self._tables(self.others)
        if privacy is None:
            first, second = (released_numbers(copy.copy(learner).fit(t, gate=Gate(rng.child(0)))) for t in tables)
            return [exact(CLEAR, 0.5 if are_equal(first, second) else 1.0, 0.5)]
        hits, chances = 0, []
        for i in with_bar(range(repetitions), Phrase("fitting models")):
            stream = rng.child(i)
            ratio = log_ratio(learner, tables[i % 2], tables[1 - i % 2], stream)
            hits += bool(ratio > 0) if ratio else int(stream.words(1)[0] & np.uint64(1))  # equally likely: a coin
            chances.append(1 / (1 + math.exp(-abs(ratio))))
        return [
            counted(RATIO, hits, repetitions, 0.5, privacy.epsilon),
            repeated_share(CHANCE, chances, 0.5, privacy.epsilon),
        ]

    def against_population(
        self, privacy: Central | None, repetitions: int, shadows: int, rng: Random
    ) -> tuple[Success, float]:
        """By shadow models; those that are attacked are fitted to further tables of the same population."""
        learner, n = self._learner(privacy), len(next(iter(self.others.values())))
        numbers: list[list[Any]] = [[], []]
        fits = shadows + -(-repetitions // 2)
        for i in with_bar(range(fits), Phrase("fitting models")):
            chosen = sample_rows(n, max(1, n // 2), rng.child(i)).tolist()
            others = {name: [column[j] for j in chosen] for name, column in self.others.items()}
            for side, table in enumerate(self._tables(others)):
                numbers[side].append(fitted_numbers(learner, table, rng.child(i, 1 + side)))
        ratio = NormalRatio.of(*(side[:shadows] for side in numbers))
        inside, outside = ([ratio.score(x) for x in side[shadows:]] for side in numbers)
        hits = sum(s > 0 for s in inside) + sum(s <= 0 for s in outside)
        label = CLEAR if privacy is None else Phrase("shadow models")
        tested = len(inside) + len(outside)
        row = counted(label, hits, tested, 0.5, None if privacy is None else privacy.epsilon)
        return row, area_under_curve(inside, outside)


def _corner(schema: Schema, last: bool) -> dict[str, Any]:
    """The row with the highest (or lowest) number in every column, and the last (or first) label."""
    out: dict[str, Any] = {}
    for name in schema.private:
        domain = schema[name]
        if isinstance(domain, Categories):
            values = range(domain.values) if isinstance(domain.values, int) else domain.values
            out[name] = values[-1 if last else 0]
        else:
            out[name] = domain.high if last else domain.low
    return out


def _people(n: int) -> tuple[Schema, dict[str, list[Any]]]:
    schema = Schema({"age": Integers(0, 100), "pay": Integers(0, 50), "sick": Categories(["no", "yes"])})
    rows: dict[str, list[Any]] = {
        "age": [(i * i * 7 + 3 * i) % 101 for i in range(n)],
        "pay": [(5 * i + i * i // 3) % 51 for i in range(n)],
        "sick": [("no", "yes")[(i * i * 7 + 3 * i) % 101 > 50] for i in range(n)],
    }
    return schema, rows


def _example(kind: Any, columns: Sequence[str], learner: Mapping[str, Any], **settings: Any) -> AttackResult:
    schema, rows = _people(40)
    part = Schema({name: schema.column_specs[name] for name in columns})
    return membership_inference(
        kind(schema=part, **learner), {name: rows[name] for name in columns}, rng=Random.seeded(1), **settings
    )


EXAMPLES = (
    lambda: _example(
        NaiveBayes, ("age", "sick"), {"target": "sick", "split": "equal"}, epsilon=(1.0, 4.0), repetitions=2
    ),
    lambda: _example(
        LinearRegression, ("age", "pay"), {"target": "pay"}, epsilon=1.0, repetitions=2, shadows=2, knows="population"
    ),
    lambda: _example(KMeans, ("age", "pay"), {"n_clusters": 2, "privacy": Central(2.0)}, repetitions=2),
)
