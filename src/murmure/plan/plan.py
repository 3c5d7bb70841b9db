"""A plan fills three slots and is data: JSON in, JSON out, and a digest that every report and release carries."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, cast

import numpy as np

from murmure.catalogue import MECHANISMS, NOISES, QUESTIONS, RECORDS, persisted_name
from murmure.core.blocks import NoisySum
from murmure.core.errors import InvalidParameter, MurmureError, Phrase, PlanMismatch, PlanRefused, shorten
from murmure.core.estimates.column_estimates import Estimates, without_bars
from murmure.core.random import Random, random_or_secure
from murmure.core.schema import Schema
from murmure.core.types import (
    Answer,
    Certificate,
    Choosable,
    Chooser,
    Observer,
    PostProcessed,
    Promises,
    Protectable,
    Relation,
    Release,
    Statistic,
    Total,
    int_array,
    room_for,
)
from murmure.laws.records import Records
from murmure.local.base.record_mechanism import RecordMechanism
from murmure.plan.checks import check_plan, require_statistic
from murmure.plan.codec import plan_from_dict, plan_to_dict
from murmure.plan.guarantees import guarantees
from murmure.plan.reports import Reports
from murmure.plan.step import TallyStep
from murmure.secure.ring import RingEncoder
from murmure.show.phrase import apart

if TYPE_CHECKING:
    from murmure.central.base.bound_choice import BoundChoice
    from murmure.central.base.bound_noise import BoundNoise
    from murmure.central.base.gate import Gate
    from murmure.central.base.noise_shares import BoundShares
    from murmure.certify.leverage import Leverage


@dataclass(frozen=True)
class Plan(Promises, Generic[Answer]):
    """Which mechanism is at which of three places: the person, the parties, the curator.

    unit: what a guarantee protects, "row" or the name of the column that tells people apart. With a name, one person
    has at most `rows_per_person` rows, and each of them adds to the cost. relation: what a curator hides, "add/remove"
    (whether somebody is in the data at all) or "replace" (what they hold; the number of rows is then public). coins:
    who draws which hash or which columns a report is about, where the mechanism makes that public: each "person", or
    the "collector", so that a forger cannot choose. The guarantee is the same, since it holds for each fixed coin;
    estimates assume coins that are uniform, as a keyed hash of each person's token is, and not chosen by anybody.

    >>> import murmure as mu
    >>> domain = mu.Categories(["no", "yes"])
    >>> plan = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, epsilon=1.0))
    >>> print(plan.describe(), plan.digest[:12])
    Histogram through GRR 82439d35bcdc
    >>> print(mu.Plan.from_json(plan.to_json()) == plan)
    True
    >>> reports = plan.report(["no", "yes", "no"], mu.Random.seeded(7))
    >>> print(plan.tally(reports))
    Total(n=3, sum=array([1, 2]))
    """

    statistic: Statistic[Answer]
    person: Any = None
    parties: Any = None
    curator: Any = None
    unit: str = "row"
    rows_per_person: int = 1
    relation: Relation = "add/remove"
    coins: Literal["person", "collector"] = "person"

    def __post_init__(self) -> None:
        require_statistic(self)
        if self.lenient:
            object.__setattr__(self, "statistic", self.statistic.with_left_out_count())
        check_plan(self)

    def __repr__(self) -> str:
        shown = [f for f in fields(self) if f.name != "coins" or self.coins != "person"]  # as it always was
        return f"Plan({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in shown)})"

    @property
    def chooses(self) -> bool:
        """Whether the curator picks one of several candidates instead of adding noise."""
        return isinstance(self.curator, Chooser)

    @cached_property
    def bound(self) -> BoundNoise | BoundChoice:
        """The curator's noise, bound to what one person can move."""
        rows = int(self.rows_per_person)
        if self.chooses:
            assert isinstance(self.statistic, Choosable)
            candidates, moves = self.statistic.candidates, self.statistic.score_sensitivity
            return self.curator.bind_scores(candidates, moves, self.relation, rows)  # type: ignore[no-any-return]
        assert isinstance(self.statistic, Protectable)
        if self.parties is not None:
            from murmure.central.base.noise_shares import bind_shares

            blocks, sharing = self.statistic.blocks, self.parties
            return bind_shares(self.curator, blocks, self.relation, rows, sharing.honest, sharing.parties)
        return self.curator.bind(self.statistic.blocks, self.relation, rows)  # type: ignore[no-any-return]

    @property
    def lenient(self) -> bool:
        """Whether rows are read whatever they hold. A party reads strictly: it fails before it sends anything."""
        return self.curator is not None and self.parties is None

    @property
    def of_records(self) -> bool:
        """Whether a person holds several attributes."""
        return isinstance(self.statistic.domain, Schema)

    @cached_property
    def tallier(self) -> Any:
        """What adds reports up and estimates from the sum: the mechanism, or its view of what the statistic asks."""
        if self.person is None:
            if self.statistic.weights is not None:
                raise PlanRefused("Plan refused: weights are for tables that people randomised.")
            return None
        return self.statistic.tallier(self.person)

    @property
    def max_entry(self) -> int:
        """What one row can add to one entry of the sum, at most."""
        return self.statistic.largest if self.person is None else self.statistic.max_entry

    @cached_property
    def encoder(self) -> RingEncoder:
        """How one party's sum is written in the ring: without noise, the number of its rows comes first."""
        assert self.parties is not None
        rows: int = self.parties.rows
        if self.curator is None:
            entries, noise = 1 + self._sum_width, 0
        else:
            entries = self.statistic.width
            noise = max(law.quantile(2.0**-64) for law in cast("BoundShares", self.bound).shares)
        return RingEncoder(entries, max(rows, rows * self.max_entry) + noise, self.parties.parties)

    @property
    def _sum_width(self) -> int:
        """How long the sum is; reports are added up as their mechanism says."""
        if self.person is None:
            return self.statistic.width
        domain = self.statistic.domain
        nobody: Any = {name: [] for name in domain.private} if isinstance(domain, Schema) else []
        return len(self.tallier.tally(self.person.report(nobody, Random.seeded(0))))

    def decode_total(self, values: Sequence[int]) -> Total:
        """The number of rows and their sum, out of what the parties added up."""
        return Total(int(values[0]), int_array(values[1:]))

    def weigh(self, records: Records, rows: Any, kept: Any = None) -> Records:
        """The same records with the public weights that the statistic asks for, if it does; kept: of which rows."""
        weights = self.statistic.weigh(rows)
        if weights is not None and kept is not None:
            weights = weights[kept]
        return records if weights is None else replace(records, weights=weights)

    # -- the three places where a plan runs -------------------------------------------------------

    def report(self, column: Any, rng: Random | None = None) -> Reports:
        """Beside the person: check, encode, randomise. Secure randomness unless a seeded generator is passed.

        Public coins are drawn here too, also where the collector gives them out (`coins`): their law is the same.
        One person's report with the collector's coins is made by `murmure.plan.sent_reports.answer`.
        """
        if self.person is None:
            raise PlanRefused(
                "Plan refused: it has no mechanism at the person, so there is nothing to report but the raw answer."
            )
        rng = random_or_secure(rng, "Plan.report")
        return Reports(self.person.report(column, rng), self.digest, rng.is_seeded)

    def tally(self, reports: Reports) -> Total:
        """Beside the adder: integers that add up. Refuses reports that answer another plan."""
        if not isinstance(reports, Reports):
            raise InvalidParameter(
                "Plan.tally takes Reports, got {got}.",
                hint="plan.report(column, rng) creates them, Reports.load(path) reads them; run(plan, "
                "reports=answers) takes labels and counts",
                got=shorten(type(reports).__name__),
            )
        if reports.plan != self.digest:
            raise PlanMismatch(
                "these reports answer plan {plan}, not this plan {digest}.",
                hint="load the plan that they were made with (Plan.from_json), or collect them again",
                plan=reports.plan[:12],
                digest=self.digest[:12],
            )
        data = reports.data
        if isinstance(data, Records) and isinstance(self.person, RecordMechanism):
            self.person.refuse_others(data)  # a digest that somebody wrote by hand is not what drew them
        if isinstance(data, Records) and data.weights is None and self.statistic.weights is not None:
            raise PlanRefused("Plan refused: these reports carry no weights.", hint="run(plan, frame) reads them")
        return Total(len(reports), self.tallier.tally(data))

    def settle(self, total: Total, seeded: bool = False) -> Release[Answer]:
        """Beside the curator: from the sum to what may be shown."""
        return self.release(self.interpret_total(total), seeded)

    def interpret_total(self, total: Total) -> Any:
        """What the statistic makes of an exact sum, or of a sum of reports."""
        if total.n < 1:
            raise PlanRefused("Plan refused: nobody was added up.")
        if not self.statistic.wide:
            room_for(total.n, self.max_entry, Phrase("the tally"))
        by_people = self.statistic.interpret_exact if self.person is None else self.tallier.estimate
        estimate = self.statistic.finish(by_people(total.sum, total.n))
        if self.unit != "row" and isinstance(estimate, Estimates):
            about = Phrase("that is rows, of which one person has up to {rows}", rows=self.rows_per_person)
            estimate = replace(estimate, remark=apart([estimate.remark, about]) if estimate.remark else about)
        return estimate

    def release(self, estimate: Any, seeded: bool = False) -> Release[Answer]:
        """An estimate with what the plan guarantees, and which plan it answers."""
        return Release(estimate, guarantees(self), self.digest, seeded, about=self.describe())

    def protect(self, total: Total, gate: Gate) -> tuple[int, ...]:
        """Beside the curator: the sum passes the gate, and this is all that leaves."""
        if self.chooses:
            assert isinstance(self.statistic, Choosable)
            gate.choose(self.digest, self.statistic.scores(total.sum), cast("BoundChoice", self.bound))
        else:
            gate.add(self.digest, total.sum, cast("BoundNoise", self.bound))
        return gate.answers[-1].answer

    def record_masked_answer(self, values: Sequence[int], gate: Gate) -> tuple[int, ...]:
        """Between parties: the sum came with their shares of the noise, and the gate keeps what left."""
        gate.note_answer(self.digest, cast("BoundShares", self.bound), tuple(int(v) for v in values))
        return gate.answers[-1].answer

    def interpret(self, answer: Sequence[int], survivors: int | None = None) -> Any:
        """What the statistic makes of an answer that left the gate, now or earlier.

        survivors: between parties, how many added their share of the noise; None: not known, and all are counted.
        """
        if self.chooses:
            assert isinstance(self.statistic, Choosable)
            return self.statistic.chosen(int(answer[0]))
        assert isinstance(self.statistic, Protectable)
        bound = cast("BoundNoise", self.bound)
        if self.parties is not None and survivors is not None:
            bound = cast("BoundShares", bound).for_survivors(survivors)
        estimate = self.statistic.interpret(NoisySum(bound.blocks, np.array(answer, np.int64), bound.laws))
        if isinstance(self.curator, PostProcessed):  # what left the gate is biased
            return without_bars(estimate, Phrase("its sums were cut to a public range after noise was added"))
        return estimate

    def release_answer(
        self, answer: Sequence[int], seeded: bool = False, survivors: int | None = None
    ) -> Release[Answer]:
        """A protected answer with its guarantees."""
        return self.release(self.interpret(answer, survivors), seeded)

    def estimate(self, reports: Reports) -> Release[Answer]:
        """From collected reports to a release."""
        return self.settle(self.tally(reports), reports.seeded)

    @property
    def step(self) -> TallyStep:
        """What an engine runs on every batch: randomise and tally at once, so that no report is kept."""
        return TallyStep(self)

    # -- what it promises, and how it travels -----------------------------------------------------

    def guarantees(self) -> Mapping[Observer, Certificate]:
        """What each observer can learn about one person, at most."""
        return guarantees(self)

    def leverage(self) -> Mapping[str, Leverage]:
        """By column ("" where there is one question): how many honest people one forged report counts for, at most.

        It is the same where the collector gives out the coins: with any hash a forger can still support the value they
        want, and their best coin is what one report is worth. What such coins limit is how often a forger gets it: a
        token that was dealt at random shows a column with that column's chance, and puts few values into one bin of its
        hash. But those who hold many tokens can spend the best ones, so count every token that they hold.
        """
        from murmure.certify.leverage import leverages

        return leverages(self.person, self.statistic)

    @property
    def drops(self) -> bool:
        """Whether rows can be left out because of what they hold."""
        domain = self.statistic.domain
        return domain.drops if isinstance(domain, Schema) else domain.outside == "drop"

    def describe(self) -> str:
        """What is asked, of which columns, and through what."""
        slot = self.person if self.curator is None else self.curator
        question = self.statistic.in_words()
        if slot is not None:
            asked = Phrase("{question} through {mechanism}", question=question, mechanism=type(slot).__name__)
        elif self.parties is None:
            asked = Phrase("{question} in the clear", question=question)
        else:
            asked = Phrase("{question} exactly", question=question)
        if self.parties is None:
            return asked
        return Phrase("{asked}, between {parties} parties", asked=asked, parties=self.parties.parties)

    def to_json(self) -> str:
        """Versioned; carries the integers of the law, so that no client ever computes an exponential."""
        return json.dumps(self._dict, indent=1, sort_keys=True, ensure_ascii=False)

    @cached_property
    def _dict(self) -> dict[str, Any]:
        return plan_to_dict(self)

    @cached_property
    def digest(self) -> str:
        compact = json.dumps(self._dict, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(compact.encode()).hexdigest()

    def __reduce__(self) -> Any:
        slot = self.person if self.curator is None else self.curator
        if persisted_name(self.statistic) in QUESTIONS and type(slot).__name__ in {*MECHANISMS, *RECORDS, *NOISES}:
            return Plan.from_json, (self.to_json(),)  # as it travels anywhere else
        return super().__reduce__()

    @classmethod
    def from_json(cls, text: str, at_most: float | None = None) -> Plan:
        """Refuses another version, unknown parts, and integers that are not those of the stated mechanism.

        at_most: the largest epsilon that is accepted, for those who take plans from others.
        """
        try:
            plan = plan_from_dict(cls, json.loads(text))
        except MurmureError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError) as error:
            path = isinstance(text, os.PathLike) or (isinstance(text, str) and "{" not in text)
            raise PlanRefused(
                "Plan refused: this is not a plan ({kind}: {error}).",
                hint="pass the text, not the path: Path(...).read_text()"
                if path
                else "plans are written by Plan.to_json",
                kind=type(error).__name__,
                error=shorten(str(error), 120),
            ) from None
        costs = max(c.epsilon for observer, c in plan.guarantees().items() if observer != "curator")
        if at_most is not None and not costs <= at_most:
            raise PlanRefused(
                "Plan refused: it costs epsilon = {costs:.6g}, above the {at_most:g} that is allowed here.",
                costs=costs,
                at_most=at_most,
            )
        return plan
