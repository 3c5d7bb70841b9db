"""Differencing: two exact sums over sets that differ in one person are that person's row.

    sum over everybody  -  sum over everybody but the one who is 34 and lives in the north  =  their row

Neither set is small, so a rule about small sets does not see it. What does: rules that compare a question with its
complement and with earlier ones, one cohort for each study, and noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from murmure.attacks.base.attack_result import AttackResult
from murmure.attacks.base.draws import sample_rows
from murmure.attacks.base.repetitions import check_count, with_bar
from murmure.attacks.base.success import Success, counted
from murmure.attacks.base.table_rows import TableRows
from murmure.attacks.base.threat_model import ThreatModel
from murmure.attacks.parties.sums_of_rows.best_values import DifferenceLaw, likeliest
from murmure.attacks.parties.sums_of_rows.member_values import likeliest_member
from murmure.attacks.parties.sums_of_rows.questions import PersonalQuestions
from murmure.central.base.bound_noise import BoundNoise
from murmure.central.base.gate import Gate
from murmure.central.discrete_laplace import DiscreteLaplace
from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, MurmureError, Phrase, shorten
from murmure.core.fixed import positive_epsilon
from murmure.core.random import Random, random_or_secure
from murmure.core.schema import Schema
from murmure.core.types import Ints
from murmure.plan.disclosure_rules import DisclosureRules
from murmure.plan.plan import Plan
from murmure.run.run import run
from murmure.secure.cohorts import Cohorts
from murmure.show.phrase import Several
from murmure.statistics.conditions.minimum_cell import MINIMUM_CELL
from murmure.statistics.sums import Sums

PARTIES = 5  # among whom the rows are, where rules between parties are tried
NO_GUARD = Phrase("no guard")


def differencing(
    data: Any,
    schema: Schema,
    knows: Sequence[str],
    wants: Sequence[str] | None = None,
    epsilon: Sequence[float] | float = (),
    targets: int = 50,
    minimum: int = MINIMUM_CELL,
    rng: Random | None = None,
) -> AttackResult:
    """How many people's rows follow from exact sums, and what stops it.

    knows: columns by which the attacker recognises a person (labels and whole numbers). wants: the columns to recover;
    None: all others. epsilon: the same two questions with noise that costs so much together; several are allowed.
    targets: how many people are attacked, drawn at random. minimum: sets of fewer rows are not answered, where that is
    the rule.

    >>> import murmure as mu
    >>> from murmure.attacks import differencing
    >>> schema = mu.Schema({"age": mu.Integers(18, 97), "ward": mu.Categories(["A", "B"]), "stay": mu.Integers(0, 60)})
    >>> people = {"age": list(range(18, 98)), "ward": ["A", "B"] * 40, "stay": [i * i % 59 for i in range(80)]}
    >>> found = differencing(people, schema, ["age"], epsilon=1.0, targets=20, rng=mu.Random.seeded(7))
    >>> for row in found.rows:
    ...     print(f"{row.attacker}; {row.setting['guard']}: {row.value:.0%}")
    alone; no guard: 100%
    alone; 5 rows or more: 0%
    alone; study rules: 0%
    difference; no guard: 100%
    difference; 5 rows or more: 100%
    difference; study rules: 0%
    departure; no guard: 100%
    departure; one cohort: 0%
    difference; epsilon = 1: 10%
    """
    check_count("targets", targets)
    check_count("minimum", minimum)
    if not isinstance(schema, Schema):
        raise InvalidParameter("schema must be a Schema, got {got}.", got=shorten(schema))
    names = [knows] if isinstance(knows, str) else list(knows)
    others = tuple(name for name in schema.private if name not in names) if wants is None else tuple(wants)
    used = Schema({name: schema.column_specs[name] for name in schema.private if name in {*names, *others}})
    asked = PersonalQuestions(TableRows.read(used, data), tuple(names), others)
    spent = [positive_epsilon("differencing", e) for e in np.atleast_1d(np.asarray(epsilon, object)).tolist()]
    rng = random_or_secure(rng, "differencing")
    chosen = sample_rows(len(asked.rows), min(targets, len(asked.rows)), rng.child(0)).tolist()
    attack = _AskedSums(asked, chosen, minimum)
    rows = [attack.succeeds(*how) for how in attack.exact_ways()]
    for number, e in enumerate(spent):
        recover = partial(attack.from_noise, epsilon=e, rng=rng.child(1, number), laws={})
        rows.append(attack.succeeds(DIFFERENCE, Phrase("epsilon = {epsilon:g}", epsilon=e), recover, e))
    return AttackResult(
        "difference",
        Phrase("Two sums that differ in one person"),
        ThreatModel(
            Phrase("exact sums, or noisy ones, over sets that the attacker chooses"),
            Phrase(
                "{columns} of the person; how many people have the same ones; which rows there are and how often, the "
                "person's among them",
                columns=Several(names, Phrase(", ")),
            ),
            Phrase("{columns} of the same person", columns=Several(others, Phrase(", "))),
        ),
        Phrase("share of people whose values are all recovered"),
        tuple(rows),
        notes=(
            Phrase(
                "{unique:.0%} of the people attacked are the only ones with their {columns}.",
                unique=attack.unique_share,
                columns=Several(names, Phrase(", ")),
            ),
            Phrase(
                "Alone: a sum over that person. Difference: a sum over all, less one over all others. Departure: the "
                "same sum before and after the person leaves. An attacker who is refused guesses the most frequent "
                "values; where several people look alike, the likeliest ones given their sum."
            ),
            Phrase(
                "Candidates are the rows of the table, and the number of people who look alike is exact under noise "
                "too: an attacker who knows less recovers less."
            ),
            Phrase(
                "{n} rows or more: sums over fewer rows are not answered. Study rules: those that exact sums between "
                "parties keep, judged from public bounds. One cohort: a second one that differs in fewer than three "
                "parties is refused.",
                n=minimum,
            ),
        ),
        details={"targets": len(chosen), "minimum": minimum, "unique": attack.unique_share},
        baseline=Phrase("without the sums"),
    )


ALONE = Phrase("alone")
DIFFERENCE = Phrase("difference")
COHORTS = Phrase("departure")


@dataclass(frozen=True)
class _AboutOne:
    """What exact sums say of one person, and whether the rules between parties would have refused them."""

    alone: Ints  # the last figure of both counts people
    others: Ints
    alone_refused: bool
    difference_refused: bool


@dataclass(frozen=True)
class _AskedSums:
    asked: PersonalQuestions
    chosen: list[int]
    minimum: int
    _known: dict[int, _AboutOne] = field(default_factory=dict)

    def succeeds(
        self, attacker: str, guard: str, recover: Callable[[int], Ints | None], at: float | None = None
    ) -> Success:
        values, guess = self.asked.values, self._most_frequent
        hits = 0
        for row in with_bar(self.chosen, Phrase("asking about people")):
            found = recover(row)
            hits += bool((values[row] == (guess if found is None else found)).all())
        baseline = float((values[self.chosen] == guess).all(axis=1).mean())
        return counted(attacker, hits, len(self.chosen), baseline, at, guard=guard)

    @cached_property
    def _most_frequent(self) -> Ints:
        rows, counts = np.unique(self.asked.values, axis=0, return_counts=True)
        return np.asarray(rows[np.argmax(counts)])

    @property
    def unique_share(self) -> float:
        """Of the people attacked: who is the only one that meets their condition."""
        return float(np.mean([self._about(row).alone[-1] == 1 for row in self.chosen]))

    # -- exact sums

    def exact_ways(self) -> Iterable[tuple[str, str, Callable[[int], Ints | None]]]:
        small = Phrase("{n} rows or more", n=self.minimum)
        rules = Phrase("study rules")
        yield ALONE, NO_GUARD, lambda row: self._alone(row)
        yield ALONE, small, lambda row: self._alone(row, self.minimum)
        yield ALONE, rules, lambda row: None if self._about(row).alone_refused else self._alone(row)
        yield DIFFERENCE, NO_GUARD, lambda row: self._difference(row)
        yield DIFFERENCE, small, lambda row: self._difference(row, self.minimum)
        yield DIFFERENCE, rules, lambda row: None if self._about(row).difference_refused else self._difference(row)
        yield COHORTS, NO_GUARD, self._leaving
        yield COHORTS, Phrase("one cohort"), self._leaving_a_party

    @cached_property
    def _about_all(self) -> Sums:
        return self.asked.about_all()

    @cached_property
    def _all(self) -> Ints:
        return self._sums(self._about_all)

    def _sums(self, question: Sums, rows: TableRows | None = None) -> Ints:
        release = run(Plan(question), (rows or self.asked.rows).table)
        return np.array(release.estimate.whole, np.int64)

    def _about(self, row: int) -> _AboutOne:
        if row not in self._known:
            alone, others = self.asked.about_one(row), self.asked.about_others(row)
            refused = self._refused([alone]), self._refused([self._about_all, others])
            self._known[row] = _AboutOne(self._sums(alone), self._sums(others), *refused)
        return self._known[row]

    def _refused(self, questions: Sequence[Sums]) -> bool:
        """By the rules for exact sums between parties, which are judged before any row is read."""
        rules, n = DisclosureRules(minimum_cell=self.minimum), len(self.asked.rows)
        try:
            for question in questions:
                rules.check(Plan(question), [n // PARTIES] * PARTIES)
        except MurmureError:
            return True
        return False

    def _alone(self, row: int, minimum: int = 1) -> Ints | None:
        alone = self._about(row).alone
        return None if alone[-1] < minimum else self._one_of(alone[:-1], int(alone[-1]))

    def _difference(self, row: int, minimum: int = 1) -> Ints | None:
        others = self._about(row).others
        if others[-1] < minimum:
            return None
        return self._one_of(self._all - others[:-1], len(self.asked.rows) - int(others[-1]))

    def _one_of(self, total: Ints, people: int) -> Ints:
        """The row of one person; of several who look alike, the likeliest one."""
        if people == 1:
            return total
        return likeliest_member(total, people, self.asked.values, self.asked.parts)

    def _leaving(self, row: int) -> Ints:
        return self._all - self._sums(self._about_all, self.asked.rows.without(row))

    def _leaving_a_party(self, row: int) -> Ints | None:
        """The person is a party among others, who remember over whom a sum was released."""
        before = frozenset({"the person", *(f"party {i}" for i in range(1, PARTIES))})
        try:
            Cohorts().including(before).check(before - {"the person"})
        except MurmureError:
            return None
        return self._leaving(row)

    # -- noisy sums

    def from_noise(self, row: int, epsilon: float, rng: Random, laws: dict[Any, DifferenceLaw]) -> Ints:
        """Both questions, with half of epsilon each: the likeliest row."""
        answers = []
        # The attacker has no use for a noisy count of the others, and does not pay for it.
        for number, question in enumerate((self._about_all, self.asked.about_others(row, count=False))):
            gate = Gate(rng.child(row, number))
            run(Plan(question, curator=DiscreteLaplace(epsilon / 2)), self.asked.rows.table, rng=gate.rng, gate=gate)
            answers.append(gate.answers[-1])
        first, second = (np.array(answer.answer, np.int64) for answer in answers)
        bound = answers[0].bound
        assert isinstance(bound, BoundNoise)
        of = bound.laws
        for law in of:
            if law not in laws:
                laws[law] = DifferenceLaw(law)
        noise = [2 * float(law.variance) for law in of]
        people = int(self._about(row).alone[-1])  # how many look alike follows from public shares
        return likeliest(first - second, self.asked.values, [laws[law] for law in of], noise, people)


def _example(**settings: Any) -> AttackResult:
    schema = Schema({"age": Integers(18, 97), "ward": Categories(["A", "B"]), "stay": Integers(0, 60)})
    people = {
        "age": [18 + i * 7 % 60 for i in range(80)],
        "ward": list("AB") * 40,
        "stay": [i * i % 59 for i in range(80)],
    }
    return differencing(people, schema, rng=Random.seeded(1), **settings)


EXAMPLES = (
    lambda: _example(knows=["age", "ward"], targets=3),
    lambda: _example(knows=["age"], wants=["stay"], epsilon=(1.0, 50.0), targets=2),
)
