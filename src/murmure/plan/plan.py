"""A plan fills three slots and is data: JSON in, JSON out, and a digest that every report and release carries."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from murmure.catalogue import MECHANISMS, NOISES, QUESTIONS, RECORDS, SHARINGS, persisted_name
from murmure.certify.certificate import certify
from murmure.core.blocks import NoisySum
from murmure.core.domain import Decimals, Domain
from murmure.core.errors import (
    InvalidParameter,
    MurmureError,
    OutsideDomain,
    PlanMismatch,
    PlanRefused,
    pluralise,
    shorten,
)
from murmure.core.estimates.column_estimates import Estimates, without_bars
from murmure.core.random import Random, random_or_secure
from murmure.core.schema import Schema
from murmure.core.types import (
    MAX_SUM,
    Certificate,
    Observer,
    Relation,
    Release,
    Statistic,
    Total,
    Unit,
    int_array,
    room_for,
)
from murmure.core.zcdp import epsilon_from_rho
from murmure.engines.base.task import Task, one_column
from murmure.laws.records import Records
from murmure.plan.codec import part_from_dict, part_to_dict
from murmure.plan.reports import Reports
from murmure.secure.ring import RingEncoder
from murmure.statistics.base.left_out_rows import with_left_out_count
from murmure.statistics.base.statistic import in_words

if TYPE_CHECKING:
    from murmure.central.base.bound_choice import BoundChoice
    from murmure.central.base.bound_noise import BoundNoise
    from murmure.central.base.gate import Gate

VERSION = 1
MAX_ROWS = 1 << 32  # sums under a curator hold so many rows; whether there are more may not decide about an error
REPORTED_DELTA = 1e-6  # the delta at which a certificate says what rho amounts to, where nobody named one
LEFT_OUT = "left out"  # what becomes of missing numbers at a curator; before 0.6 they counted as the middle
SLOTS = {"murmure", "statistic", "person", "parties", "curator", "unit", "rows_per_person", "relation", "missing"}


@dataclass(frozen=True)
class Plan:
    """Which mechanism stands at which of three places: the person, the parties, the curator.

    unit: what a guarantee protects, "row" or the name of the column that tells people apart; with a name, one person
    has at most `rows_per_person` rows, and pays for each of them. relation: what a curator hides, "add/remove" (whether
    somebody is in the data at all) or "replace" (what they hold; how many rows there are is then public).
    """

    statistic: Statistic
    person: Any = None
    parties: Any = None
    curator: Any = None
    unit: str = "row"
    rows_per_person: int = 1
    relation: Relation = "add/remove"

    def __post_init__(self) -> None:
        if not isinstance(self.statistic, Statistic):
            raise InvalidParameter(
                f"Plan.statistic must be a statistic, got {shorten(self.statistic)}.",
                hint="Plan(Histogram(domain), person=GRR(domain, epsilon=1.0))",
            )
        if self.lenient:
            object.__setattr__(self, "statistic", with_left_out_count(self.statistic))
        if self.parties is not None and type(self.parties).__name__ not in SHARINGS:
            raise InvalidParameter(
                f"Plan.parties must say how parties share a sum, got {shorten(self.parties)}.",
                hint="Plan(Histogram(domain), parties=PairwiseMasks(5))",
            )
        if not isinstance(self.unit, str) or not self.unit or self.unit in (self.step.columns or ()):
            raise InvalidParameter(
                f'Plan.unit must be "row" or the name of a column that is not randomised, got {shorten(self.unit)}.',
                hint="the column that tells people apart is read to count rows, and leaves with nobody",
            )
        if isinstance(self.rows_per_person, bool) or not isinstance(self.rows_per_person, int | np.integer):
            raise InvalidParameter(f"Plan.rows_per_person must be a whole number, got {shorten(self.rows_per_person)}.")
        if self.rows_per_person < 1 or (self.unit == "row" and self.rows_per_person != 1):
            raise InvalidParameter(
                f"Plan.rows_per_person = {self.rows_per_person} does not fit unit = {self.unit!r}.",
                hint='unit="row" protects one row; unit="person_id", rows_per_person=5 protects people with 5 rows',
            )
        if self.relation not in ("add/remove", "replace"):
            raise InvalidParameter(f'Plan.relation must be "add/remove" or "replace", got {shorten(self.relation)}.')
        if self.person is None:
            _ = self.tallier  # weights in the clear are refused now
        else:
            self._check_person()
        if self.curator is not None:
            self._check_curator()
        if self.parties is not None:
            self._check_parties()

    def _check_person(self) -> None:
        if not hasattr(self.person, "affine") or not hasattr(self.person, "domain"):
            raise InvalidParameter(
                f"Plan.person must be a mechanism, got {shorten(self.person)}.",
                hint="Plan(Histogram(domain), person=GRR(domain, epsilon=1.0))",
            )
        if self.person.domain != self.statistic.domain:
            raise PlanRefused(
                f"Plan refused: the statistic asks about {self.statistic.domain!r}, the mechanism randomises "
                f"{self.person.domain!r}.",
                hint="give both the same domain",
            )
        units: tuple[Unit, ...] = ("record", "attribute") if self.of_records else ("record",)
        for unit in units:
            certificate = certify(self.person, unit)
            if certificate.asked is not None and certificate.epsilon > certificate.asked:
                raise PlanRefused(
                    f"Plan refused: {type(self.person).__name__} was asked for {certificate.asked!r} and costs "
                    f"{certificate.epsilon!r}.",
                    hint="this is a bug in the mechanism; please report it",
                )
        problem = self.statistic.why_unanswerable(self.person.affine())  # type: ignore[attr-defined]
        if problem is not None:
            raise PlanRefused(
                f"Plan refused: {type(self.person).__name__} cannot answer {type(self.statistic).__name__}: {problem}.",
                hint="advise(domain, epsilon) lists what can; em(mechanism, tally) gives a bar-less histogram",
            )

        _ = self.tallier  # a pair that cannot be read is refused now

    def _check_curator(self) -> None:
        if self.person is not None:
            raise PlanRefused(
                "Plan refused: its answers are randomised at the person already, and need no noise at the curator.",
                hint="fill one of the two places",
            )
        if not hasattr(self.curator, "bind") and not hasattr(self.curator, "bind_scores"):
            raise InvalidParameter(
                f"Plan.curator must be noise, got {shorten(self.curator)}.",
                hint="Plan(Histogram(domain), curator=DiscreteLaplace(epsilon=1.0))",
            )
        wanted = "candidates" if self.chooses else "blocks"
        if not hasattr(self.statistic, wanted):
            what = "choose among the answers of" if self.chooses else "protect"
            chooser = getattr(self.statistic, "choose_with", None)
            raise PlanRefused(
                f"Plan refused: {type(self.curator).__name__} cannot {what} {self._asks}.",
                hint=chooser and f"one of several answers is chosen: curator={chooser}(epsilon=1.0)",
            )
        if self.lenient:
            for domain in self._domains:
                _refuse_long(domain)
        rows = MAX_ROWS if self.parties is None else self.parties.rows * self.parties.parties
        if self.statistic.largest > MAX_SUM // rows:
            raise PlanRefused(
                f"Plan refused: one row can add {self.statistic.largest:_} to {self._asks}; {rows:_} rows could exceed "
                "2**63 - 1.",
                hint="use a coarser grid (fewer cells)"
                if self.parties is None
                else "fewer rows at a party: PairwiseMasks(..., rows=...); or tighter bounds, or a coarser grid",
            )
        asked = getattr(self.curator, "epsilon", None)
        if asked is not None and self.bound.epsilon > asked:
            raise PlanRefused(
                f"Plan refused: {type(self.curator).__name__} was asked for {asked!r}, costs {self.bound.epsilon!r}.",
                hint="this is a bug in the noise; please report it",
            )

    def _check_parties(self) -> None:
        if self.chooses:
            raise PlanRefused(
                f"Plan refused: {type(self.curator).__name__} looks at all scores before it chooses, and between "
                "parties nobody does.",
                hint="noise that is thrown in shares: DiscreteLaplace, DiscreteGaussian, Skellam",
            )
        if getattr(self.statistic, "weights", None) is not None:
            raise PlanRefused("Plan refused: weights are for tables that people randomised.")
        wanted = getattr(self.statistic, "least_honest", 2)
        others = self.parties.minimum - max(self.parties.colluders, wanted > 2)  # each party knows its own part
        if others < wanted:
            raise PlanRefused(
                f"Plan refused: {self._asks} adds up squares of what each party has, by which {others} "
                f"honest parties could be told apart; it takes {wanted} or more.",
                hint=f"more parties, or fewer colluders and dropouts: of {self.parties.parties} parties "
                f"{self.parties.dropouts} may vanish and {self.parties.colluders} collude",
            )
        _ = self.encoder  # no headroom is refused now

    @property
    def _asks(self) -> str:
        return type(self.statistic).__name__

    @property
    def chooses(self) -> bool:
        """Whether the curator picks one of several candidates instead of adding noise."""
        return hasattr(self.curator, "bind_scores")

    @cached_property
    def bound(self) -> BoundNoise | BoundChoice:
        """The curator's noise, bound to what one person can move."""
        rows = int(self.rows_per_person)
        if self.chooses:
            ask: Any = self.statistic
            return self.curator.bind_scores(ask.candidates, ask.score_sensitivity, self.relation, rows)  # type: ignore[no-any-return]
        if self.parties is not None:
            from murmure.central.base.noise_shares import bind_shares

            blocks, sharing = self.statistic.blocks, self.parties  # type: ignore[attr-defined]
            return bind_shares(self.curator, blocks, self.relation, rows, sharing.honest, sharing.parties)
        return self.curator.bind(self.statistic.blocks, self.relation, rows)  # type: ignore[no-any-return, attr-defined]

    @property
    def lenient(self) -> bool:
        """Whether rows are read whatever they hold. A party reads its own strictly: it errs before it says anything."""
        return self.curator is not None and self.parties is None

    @property
    def of_records(self) -> bool:
        """Whether a person holds several attributes."""
        return isinstance(self.statistic.domain, Schema)

    @cached_property
    def tallier(self) -> Any:
        """What adds reports up and reads the sum: the mechanism itself, or its view of what the statistic asks."""
        if self.person is None:
            if getattr(self.statistic, "weights", None) is not None:
                raise PlanRefused("Plan refused: weights are for tables that people randomised.")
            return None
        if hasattr(self.statistic, "tallier"):
            return self.statistic.tallier(self.person)
        return self.person

    @property
    def max_entry(self) -> int:
        """What one row can add to one entry of the sum, at most."""
        return self.statistic.largest if self.person is None else getattr(self.statistic, "max_entry", 1)

    @cached_property
    def encoder(self) -> RingEncoder:
        """How one party's sum stands in the ring: in the clear with the number of its rows before it."""
        assert self.parties is not None
        rows: int = self.parties.rows
        if self.curator is None:
            entries, noise = 1 + self._sum_width, 0
        else:
            entries = self.statistic.width
            noise = max(law.quantile(2.0**-64) for law in self.bound.shares)  # type: ignore[union-attr]
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
        weights = self.statistic.weigh(rows) if hasattr(self.statistic, "weigh") else None
        if weights is not None and kept is not None:
            weights = weights[kept]
        return records if weights is None else replace(records, weights=weights)

    # -- the three places where a plan runs -------------------------------------------------------

    def report(self, column: Any, rng: Random | None = None) -> Reports:
        """Beside the person: check, encode, randomise. Secure randomness unless a seeded generator is passed."""
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
                f"Plan.tally takes Reports, got {shorten(type(reports).__name__)}.",
                hint="plan.report(column, rng) makes them, Reports.load(path) reads them; run(plan, reports=answers) "
                "takes labels and counts",
            )
        if reports.plan != self.digest:
            raise PlanMismatch(
                f"these reports answer plan {reports.plan[:12]}, not this plan {self.digest[:12]}.",
                hint="load the plan they were made with (Plan.from_json), or collect again",
            )
        data = reports.data
        if isinstance(data, Records) and hasattr(self.person, "refuse_others"):
            self.person.refuse_others(data)  # a digest that somebody wrote by hand is not what drew them
        if isinstance(data, Records) and data.weights is None and getattr(self.statistic, "weights", None) is not None:
            raise PlanRefused("Plan refused: these reports carry no weights.", hint="run(plan, frame) reads them")
        return Total(len(reports), self.tallier.tally(data))

    def settle(self, total: Total, seeded: bool = False) -> Release:
        """Beside the curator: from the sum to what may be shown."""
        if total.n < 1:
            raise PlanRefused("Plan refused: nobody was added up.")
        if not getattr(self.statistic, "wide", False):
            room_for(total.n, self.max_entry, "the tally")
        by_people = self.statistic.interpret_exact if self.person is None else self.tallier.estimate
        estimate = self.statistic.finish(by_people(total.sum, total.n))
        if self.unit != "row" and isinstance(estimate, Estimates):
            about = f"that is rows, of which one person has up to {self.rows_per_person}"
            estimate = replace(estimate, remark=f"{estimate.remark}; {about}" if estimate.remark else about)
        return Release(estimate, self.guarantees(), self.digest, seeded, about=self.describe())

    def protect(self, total: Total, gate: Gate) -> tuple[int, ...]:
        """Beside the curator: the sum passes the gate, and this is all that leaves."""
        if self.chooses:
            gate.choose(self.digest, self.statistic.scores(total.sum), self.bound)  # type: ignore[attr-defined, arg-type]
        else:
            gate.add(self.digest, total.sum, self.bound)  # type: ignore[arg-type]
        return gate.answers[-1].answer

    def record_masked_answer(self, values: Sequence[int], gate: Gate) -> tuple[int, ...]:
        """Between parties: the sum came with their shares of the noise, and the gate keeps what left."""
        gate.passed(self.digest, self.bound, tuple(int(v) for v in values))  # type: ignore[arg-type]
        return gate.answers[-1].answer

    def interpret(self, answer: Sequence[int], survivors: int | None = None) -> Any:
        """What the statistic makes of an answer that left the gate, now or earlier.

        survivors: between parties, how many threw their share of the noise; None: not known, and all are counted.
        """
        if self.chooses:
            return self.statistic.chosen(int(answer[0]))  # type: ignore[attr-defined]
        known = self.parties is not None and survivors is not None
        laws = (self.bound.of(survivors) if known else self.bound).laws  # type: ignore[union-attr, arg-type]
        noisy = NoisySum(self.bound.blocks, np.array(answer, np.int64), laws)  # type: ignore[union-attr]
        estimate = self.statistic.interpret(noisy)  # type: ignore[attr-defined]
        if hasattr(self.curator, "post_process"):  # what left the gate is biased
            return without_bars(estimate, "its sums were cut to a public range after noise was added")
        return estimate

    def release_answer(self, answer: Sequence[int], seeded: bool = False, survivors: int | None = None) -> Release:
        """A protected answer with its guarantees."""
        return Release(self.interpret(answer, survivors), self.guarantees(), self.digest, seeded, about=self.describe())

    def estimate(self, reports: Reports) -> Release:
        """From collected reports to a release."""
        return self.settle(self.tally(reports), reports.seeded)

    @property
    def step(self) -> TallyStep:
        """What an engine runs on every batch: randomise and tally at once, so that no report is kept."""
        return TallyStep(self)

    # -- what it promises, and how it travels -----------------------------------------------------

    def guarantees(self) -> Mapping[Observer, Certificate]:
        """What each observer can learn about one person, at most."""
        if self.parties is not None:
            return self._between()
        if self.curator is not None:
            return {"curator": self._nothing("the curator sees every row"), "reader": self._protected()}
        if self.person is None:
            nothing = self._nothing("nothing is randomised")
            return {"collector": nothing, "reader": nothing}
        certificate = self._certificate("record")
        out = {"collector": certificate, "reader": certificate}
        if self.of_records:
            out["either, about one attribute"] = self._certificate("attribute")
        return out

    def _between(self) -> Mapping[Observer, Certificate]:
        """The coordinator sees masks; whoever reads the sum, and whoever colludes, sees what the sum tells."""
        if self.curator is not None:
            read = self._protected()
            honest = f"at least {self.parties.honest} parties are honest, stay, and add their share of the noise"
            read = replace(read, assumption=honest if read.assumption is None else f"{read.assumption}; {honest}")
        elif self.person is not None:
            read = self._certificate("record")
        else:
            read = self._nothing("the sum is exact")
        masked = certify(self.parties)
        provided = "; ".join(text for text in (read.assumption, masked.assumption) if text)
        seen = replace(read, hides=masked.hides, assumption=provided)
        out = {
            "coordinator": seen,
            pluralise(self.parties.colluders, "colluding party", "colluding parties"): seen,
            "reader": read,
        }
        if self.person is not None and self.of_records:
            out["each, about one attribute"] = self._certificate("attribute")
        return out

    def _nothing(self, method: str) -> Certificate:
        return Certificate(math.inf, 0.0, "replace", "record", (self.statistic.domain.public(),), method)

    def _protected(self) -> Certificate:
        bound, epsilon, delta, method = self.bound, self.bound.epsilon, self.bound.delta, self.bound.method
        if math.isinf(epsilon) and math.isfinite(bound.cost.rho):
            delta = REPORTED_DELTA
            epsilon = epsilon_from_rho(bound.cost.rho, delta)
            method = f"{method}; rho = {bound.cost.rho:.6g} (zero-concentrated), said at delta = {delta:g}"
        public = [self.statistic.domain.public(), "the noise and its integers"]
        if bound.relation == "replace":
            public.append("how many rows there are")
        return Certificate(
            epsilon=epsilon,
            delta=delta,
            relation=bound.relation,
            unit="record",
            public=tuple(public),
            method=method,
            assumption=None
            if self.unit == "row"
            else f"column {self.unit} tells people apart; of one person "
            f"{self.rows_per_person} rows are read, and others are left out"
            if self.parties is None
            else f"column {self.unit} tells people apart, nobody has more than {self.rows_per_person} rows, and all "
            "rows of one person lie at one party",
            asked=getattr(self.curator, "epsilon", None),
        )

    def _certificate(self, unit: Unit) -> Certificate:
        """For one person: of one row, or of as many as were declared."""
        rows = 1 if self.unit == "row" else int(self.rows_per_person)
        certificate, provided = certify(self.person, unit, rows), []
        if self.unit != "row":
            provided.append(f"column {self.unit} tells people apart, and nobody has more than {rows} rows")
        if self.drops:
            provided.append("a row that is left out shows that it held a value outside the public domain")
        held = [text for text in (certificate.assumption, *provided) if text]
        return replace(certificate, assumption="; ".join(held) or None)

    @property
    def _domains(self) -> list[Domain]:
        domain = self.statistic.domain
        return [domain[name] for name in domain.private] if isinstance(domain, Schema) else [domain]

    @property
    def drops(self) -> bool:
        """Whether rows can be left out because of what they hold."""
        domain = self.statistic.domain
        return domain.drops if isinstance(domain, Schema) else domain.outside == "drop"

    def describe(self) -> str:
        """What is asked, of which columns, and through what."""
        slot = self.person if self.curator is None else self.curator
        exact = "in the clear" if self.parties is None else "exactly"
        through = exact if slot is None else f"through {type(slot).__name__}"
        among = "" if self.parties is None else f", between {self.parties.parties} parties"
        return f"{in_words(self.statistic)} {through}{among}"

    def to_json(self) -> str:
        """Versioned; carries the integers of the law, so that no client ever computes an exponential."""
        return json.dumps(self._dict, indent=1, sort_keys=True, ensure_ascii=False)

    @cached_property
    def _dict(self) -> dict[str, Any]:
        out = {
            "murmure": VERSION,
            "statistic": part_to_dict(self.statistic),
            "person": None,
            "parties": None,
            "curator": None,
        }
        if self.person is not None:
            out["person"] = {**part_to_dict(self.person), "law": self.person.channel.integers()}
        if self.curator is not None:
            out["curator"] = {**part_to_dict(self.curator), "law": self.bound.integers()}
            out["relation"] = self.relation
        if self.lenient:
            out["missing"] = LEFT_OUT
        if self.parties is not None:
            out["parties"] = part_to_dict(self.parties)
        if self.unit != "row":  # a plan about rows is written as it always was
            out |= {"unit": self.unit, "rows_per_person": int(self.rows_per_person)}
        return out

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

        at_most: the largest epsilon that is accepted, for whoever takes plans from others.
        """
        try:
            plan = cls._from_dict(json.loads(text))
        except MurmureError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError) as error:
            path = isinstance(text, os.PathLike) or (isinstance(text, str) and "{" not in text)
            raise PlanRefused(
                f"Plan refused: this is not a plan ({type(error).__name__}: {shorten(str(error), 120)}).",
                hint="pass the text, not the path: Path(...).read_text()"
                if path
                else "plans are written by Plan.to_json",
            ) from None
        seen = [c for who, c in plan.guarantees().items() if who != "curator"]
        costs = max(certificate.epsilon for certificate in seen)
        if at_most is not None and not costs <= at_most:
            raise PlanRefused(
                f"Plan refused: it costs epsilon = {costs:.6g}, above the {at_most:g} that is allowed here."
            )
        return plan

    @classmethod
    def _from_dict(cls, held: Any) -> Plan:
        if not isinstance(held, dict) or type(held.get("murmure")) is not int or held["murmure"] != VERSION:
            if not isinstance(held, dict) or "murmure" not in held:
                raise PlanRefused("Plan refused: this JSON is not a plan.", hint="plans are written by Plan.to_json")
            got = held["murmure"]
            raise PlanRefused(
                f"Plan refused: this is plan version {shorten(got)}, this software reads version {VERSION}.",
                hint="install the release of murmure that wrote it",
            )
        unknown = set(held) - SLOTS
        if unknown:
            raise PlanRefused(f"Plan refused: it has parts this version cannot read: {sorted(unknown)}.")
        sharing = held.get("parties")
        parties = None if sharing is None else part_from_dict(sharing, SHARINGS)
        written = held.get("person")
        person = None if written is None else part_from_dict(written, {**MECHANISMS, **RECORDS}, besides=("law",))
        noise = held.get("curator")
        curator = None if noise is None else part_from_dict(noise, NOISES, besides=("law",))
        protects = {name: held[name] for name in ("unit", "rows_per_person", "relation") if name in held}
        statistic = part_from_dict(held.get("statistic"), QUESTIONS)
        plan = cls(statistic, person, parties, curator, **protects)
        if held.get("missing") != (LEFT_OUT if plan.lenient else None):
            raise PlanRefused(
                "Plan refused: it does not say that missing numbers are left out, as this version leaves them.",
                hint="before 0.6 a missing number counted as the middle of its range: ask again, with a new plan",
            )
        laws = (written, plan.person and plan.person.channel), (noise, plan.curator and plan.bound)
        if any(said is not None and said["law"] != json.loads(json.dumps(one.integers())) for said, one in laws):
            raise PlanRefused(
                "Plan refused: its integers are not those of the mechanism it names.",
                hint="it was written by another release, or tampered with",
            )
        return plan


def _refuse_long(domain: Domain) -> None:
    """Where every row is read, a number is its float64, which does not hold more digits."""
    if isinstance(domain, Decimals) and not domain.short:
        raise PlanRefused(
            f"Plan refused: a curator reads numbers of at most 15 digits, got {domain!r}.",
            hint="use fewer places or narrower bounds; exact sums between parties take longer numbers",
        )


@dataclass(frozen=True)
class TallyStep:
    """One batch: randomised and added up where it lies. It travels to other threads, processes and machines."""

    plan: Plan

    @property
    def columns(self) -> tuple[str, ...] | None:
        """All that is read of a table; None where the plan names no column."""
        domain = self.plan.statistic.domain
        if isinstance(domain, Schema):
            weights = getattr(self.plan.statistic, "weights", None)
            return domain.private if weights is None else (*domain.private, *domain.open)
        return None if domain.column is None else (domain.column,)

    @property
    def lenient(self) -> bool:
        """Whether rows are read whatever they hold."""
        return self.plan.lenient

    def __call__(self, task: Task) -> Total:
        plan = self.plan
        try:
            column = getattr(plan.statistic.domain, "column", None)
            rows = task.batch if plan.of_records else one_column(task.batch, column)
            if plan.lenient:  # whatever a row holds, it is added, and nothing is refused
                return Total(len(task), plan.statistic.tally(plan.statistic.encode_lenient(rows)))  # type: ignore[attr-defined]
            if plan.person is None:
                codes = plan.statistic.encode(rows)
                n = len(codes[0]) if isinstance(codes, tuple) and codes else len(codes)
                return Total(n if plan.drops else len(task), plan.statistic.tally(codes))
            if not plan.of_records:
                reports = plan.person.report(rows, task.rng)
                return Total(len(reports) if plan.drops else len(task), plan.tallier.tally(reports))
            public = (
                plan.drops and getattr(plan.statistic, "weights", None) is not None
            )  # then these columns are read too
            codes, kept = plan.statistic.domain.encode_kept(rows, public)  # type: ignore[union-attr]
            records = plan.person.randomise(codes, task.rng, task.first or 0)
            return Total(len(records), plan.tallier.tally(plan.weigh(records, rows, kept)))
        except OutsideDomain as error:  # the row of the whole source, not of its batch
            raise (error if task.first is None else error.later(task.first)) from None
