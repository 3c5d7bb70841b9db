"""A plan fills three slots and is data: JSON in, JSON out, and a digest that every report and release carries."""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from murmure.catalogue import MECHANISMS, RECORDS, STATISTICS, load
from murmure.certify.certificate import certify
from murmure.core.domain import Domain, domain_from_dict
from murmure.core.errors import InvalidParameter, MurmureError, OutsideDomain, PlanMismatch, PlanRefused, shorten
from murmure.core.estimates import Estimates
from murmure.core.random import Random, random_or_secure
from murmure.core.schema import Schema
from murmure.core.types import Array, Certificate, Observer, Release, Statistic, Total, Unit, room_for
from murmure.engines.task import Task, one_column
from murmure.laws.records import Records

VERSION = 1
COINS = {"truth", "yes_coin", "innocuous"}  # fields that are written as exact fractions


@dataclass(frozen=True, eq=False, repr=False)
class Reports:
    """Randomised answers and the digest of the plan they answer."""

    data: Array | Records = field(repr=False)
    plan: str
    seeded: bool

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"Reports({len(self)} reports, plan {self.plan[:12]}, {'seeded' if self.seeded else 'secure'})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all or nothing: a killed run leaves no file that looks finished."""
        target = Path(path)
        if not target.parent.is_dir():
            raise InvalidParameter(f"Reports.save: there is no folder {str(target.parent)!r}.", hint="make it first")
        handle, name = tempfile.mkstemp(dir=target.parent or ".", prefix=f".{target.name}.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as out:
                np.savez(out, **_arrays(self.data), plan=np.array(self.plan), seeded=np.array(self.seeded))
                out.flush()
                os.fsync(out.fileno())
            os.replace(name, target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Reports:
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as held:
                return cls(_reports(held), str(held["plan"]), bool(held["seeded"]))
        except FileNotFoundError:
            raise InvalidParameter(f"there is no report file {str(path)!r}.") from None
        except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InvalidParameter(
                f"{str(path)!r} is not a report file ({type(error).__name__}).",
                hint="report files are written by Reports.save; a truncated one cannot be read",
            ) from None


def _arrays(data: Array | Records) -> dict[str, Any]:
    if not isinstance(data, Records):
        return {"data": data}
    out = {f"part{i}": part for i, part in enumerate(data.parts)}
    if data.rows is not None:
        out |= {f"rows{i}": rows for i, rows in enumerate(data.rows)}
    return {"people": np.array(data.n), **out}


def _reports(held: Any) -> Array | Records:
    if "data" in held:
        return np.asarray(held["data"])
    count = sum(name.startswith("part") for name in held.files)
    rows = tuple(held[f"rows{i}"] for i in range(count)) if "rows0" in held else None
    return Records(int(held["people"]), tuple(held[f"part{i}"] for i in range(count)), rows)


@dataclass(frozen=True)
class Plan:
    """Which mechanism stands at which of three places: the person, the parties, the curator.

    unit: what a guarantee protects, "row" or the name of the column that tells people apart; with a name, one person
    has at most `rows_per_person` rows, and pays for each of them.
    """

    statistic: Statistic
    person: Any = None
    parties: Any = None
    curator: Any = None
    unit: str = "row"
    rows_per_person: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.statistic, Statistic):
            raise InvalidParameter(
                f"Plan.statistic must be a statistic, got {shorten(self.statistic)}.",
                hint="Plan(Histogram(domain), person=GRR(domain, epsilon=1.0))",
            )
        for slot in ("parties", "curator"):
            if getattr(self, slot) is not None:
                raise PlanRefused(
                    f"Plan refused: nothing in this version can fill the {slot} slot, got "
                    f"{shorten(getattr(self, slot))}.",
                    hint="the person slot is ready; the other two come with later releases",
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
        if self.person is None:
            _ = self.reader  # weights in the clear are refused now
        else:
            self._check_person()

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
        problem = self.statistic.reads(self.person.affine())  # type: ignore[attr-defined]
        if problem is not None:
            raise PlanRefused(
                f"Plan refused: {type(self.person).__name__} cannot answer {type(self.statistic).__name__}: {problem}.",
                hint="advise(domain, epsilon) lists what can; em(mechanism, tally) gives a bar-less histogram",
            )

        _ = self.reader  # a pair that cannot be read is refused now

    @property
    def of_records(self) -> bool:
        """Whether a person holds several attributes."""
        return isinstance(self.statistic.domain, Schema)

    @cached_property
    def reader(self) -> Any:
        """What adds reports up and reads the sum: the mechanism itself, or its view of what the statistic asks."""
        if self.person is None:
            if getattr(self.statistic, "weights", None) is not None:
                raise PlanRefused("Plan refused: weights are for tables that people randomised.")
            return None
        if hasattr(self.statistic, "reader"):
            return self.statistic.reader(self.person)
        return self.person

    def weigh(self, records: Records, rows: Any) -> Records:
        """The same records with the public weights that the statistic asks for, if it does."""
        weights = self.statistic.weigh(rows) if hasattr(self.statistic, "weigh") else None
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
                hint="plan.report(column, rng) makes them, Reports.load(path) reads them",
            )
        if reports.plan != self.digest:
            raise PlanMismatch(
                f"these reports answer plan {reports.plan[:12]}, not this plan {self.digest[:12]}.",
                hint="load the plan they were made with (Plan.from_json), or collect again",
            )
        data = reports.data
        if isinstance(data, Records) and data.weights is None and getattr(self.statistic, "weights", None) is not None:
            raise PlanRefused("Plan refused: these reports carry no weights.", hint="run(plan, frame) reads them")
        return Total(len(reports), self.reader.tally(data))

    def settle(self, total: Total, seeded: bool = False) -> Release:
        """Beside the curator: from the sum to what may be shown."""
        if total.n < 1:
            raise PlanRefused("Plan refused: nobody was added up.")
        heaviest = getattr(self.statistic, "heaviest", 1)
        room_for(total.n, self.statistic.largest if self.person is None else heaviest, "the tally")
        by_people = self.statistic.clear if self.person is None else self.reader.estimate
        estimate = self.statistic.finish(by_people(total.sum, total.n))
        if self.unit != "row" and isinstance(estimate, Estimates):
            about = f"that is rows, of which one person has up to {self.rows_per_person}"
            estimate = replace(estimate, remark=f"{estimate.remark}; {about}" if estimate.remark else about)
        return Release(estimate, self.guarantees(), self.digest, seeded, about=self.describe())

    def estimate(self, reports: Reports) -> Release:
        """From collected reports to a release."""
        return self.settle(self.tally(reports), reports.seeded)

    @property
    def step(self) -> Step:
        """What an engine runs on every batch: randomise and tally at once, so that no report is kept."""
        return Step(self)

    # -- what it promises, and how it travels -----------------------------------------------------

    def guarantees(self) -> Mapping[Observer, Certificate]:
        """What each observer can learn about one person, at most."""
        if self.person is None:
            nothing = Certificate(
                math.inf,
                0.0,
                "replace",
                "record",
                (self.statistic.domain.public(),),
                "nothing is randomised",
            )
            return {"collector": nothing, "reader": nothing}
        certificate = self._certificate("record")
        out = {"collector": certificate, "reader": certificate}
        if self.of_records:
            out["either, about one attribute"] = self._certificate("attribute")
        return out

    def _certificate(self, unit: Unit) -> Certificate:
        """For one person: of one row, or of as many as were declared."""
        if self.unit == "row":
            return certify(self.person, unit)
        certificate = certify(self.person, unit, int(self.rows_per_person))
        bound = f"column {self.unit} tells people apart, and nobody has more than {self.rows_per_person} rows"
        provided = bound if certificate.assumption is None else f"{certificate.assumption}; {bound}"
        return replace(certificate, assumption=provided)

    def describe(self) -> str:
        domain = self.statistic.domain
        if isinstance(domain, Schema):
            column = f"{len(domain.private)} columns"
            if hasattr(self.statistic, "first"):
                column = f"{self.statistic.first} and {self.statistic.second}"  # type: ignore[attr-defined]
        else:
            column = domain.column or ""
        return (
            type(self.statistic).__name__
            + (f" of {column}" if column else "")
            + (f" through {type(self.person).__name__}" if self.person is not None else " in the clear")
        )

    def to_json(self) -> str:
        """Versioned; carries the integers of the law, so that no client ever computes an exponential."""
        return json.dumps(self._dict, indent=1, sort_keys=True, ensure_ascii=False)

    @cached_property
    def _dict(self) -> dict[str, Any]:
        out = {
            "murmure": VERSION,
            "statistic": _to_dict(self.statistic),
            "person": None if self.person is None else {**_to_dict(self.person), "law": self.person.channel.integers()},
            "parties": None,
            "curator": None,
        }
        if self.unit != "row":  # a plan about rows is written as it always was
            out |= {"unit": self.unit, "rows_per_person": int(self.rows_per_person)}
        return out

    @cached_property
    def digest(self) -> str:
        compact = json.dumps(self._dict, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(compact.encode()).hexdigest()

    def __reduce__(self) -> Any:
        if type(self.statistic).__name__ in STATISTICS and type(self.person).__name__ in {*MECHANISMS, *RECORDS}:
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
        costs = max(certificate.epsilon for certificate in plan.guarantees().values())
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
        unknown = set(held) - {"murmure", "statistic", "person", "parties", "curator", "unit", "rows_per_person"}
        if unknown or held.get("parties") is not None or held.get("curator") is not None:
            raise PlanRefused(f"Plan refused: it has parts this version cannot read: {sorted(unknown) or 'slots'}.")
        written = held.get("person")
        person = None if written is None else _from_dict(written, {**MECHANISMS, **RECORDS}, besides=("law",))
        protects = {name: held[name] for name in ("unit", "rows_per_person") if name in held}
        plan = cls(_from_dict(held.get("statistic"), STATISTICS), person, **protects)
        if written is not None and written["law"] != json.loads(json.dumps(plan.person.channel.integers())):
            raise PlanRefused(
                "Plan refused: its integers are not those of the mechanism it names.",
                hint="it was written by another release, or tampered with",
            )
        return plan


@dataclass(frozen=True)
class Step:
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

    def __call__(self, task: Task) -> Total:
        plan, n = self.plan, len(task)
        try:
            column = getattr(plan.statistic.domain, "column", None)
            rows = task.batch if plan.of_records else one_column(task.batch, column)
            if plan.person is None:
                return Total(n, plan.statistic.tally(plan.statistic.encode(rows)))
            if not plan.of_records:
                return Total(n, plan.reader.tally(plan.person.report(rows, task.rng)))
            records = plan.person.report(rows, task.rng, task.first or 0)
            return Total(n, plan.reader.tally(plan.weigh(records, rows)))
        except OutsideDomain as error:  # the row of the whole source, not of its batch
            raise (error if task.first is None else error.later(task.first)) from None


def _to_dict(thing: Any) -> dict[str, Any]:
    out: dict[str, Any] = {"type": type(thing).__name__}
    for f in fields(thing):
        value = getattr(thing, f.name)
        if isinstance(value, Domain | Schema):
            value = value.to_dict()  # type: ignore[assignment]
        elif isinstance(value, Fraction):
            value = f"{value.numerator}/{value.denominator}"
        out[f.name] = value
    return out


def _from_dict(held: Any, known: Mapping[str, str], besides: tuple[str, ...] = ()) -> Any:
    kind = held.get("type") if isinstance(held, dict) else held
    if not isinstance(kind, str) or kind not in known or not isinstance(held, dict):
        raise PlanRefused(f"Plan refused: unknown part {shorten(kind)}; this version knows {', '.join(sorted(known))}.")
    maker = load(kind)
    arguments = {name: value for name, value in held.items() if name not in ("type", *besides)}
    wanted = {f.name for f in fields(maker)}
    if set(arguments) != wanted:
        raise PlanRefused(f"Plan refused: {kind} is written with {sorted(wanted)}, got {sorted(arguments)}.")
    if not isinstance(arguments["domain"], dict):
        raise PlanRefused(f"Plan refused: the domain of {kind} is no domain: {shorten(arguments['domain'])}.")
    described = arguments["domain"]
    arguments["domain"] = (Schema.from_dict if described.get("type") == "Schema" else domain_from_dict)(described)
    for name in COINS & set(arguments):
        if isinstance(arguments[name], str):
            arguments[name] = Fraction(arguments[name])
    return maker(**arguments)
