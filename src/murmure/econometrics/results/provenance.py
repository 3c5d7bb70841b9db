"""How a result was obtained, which every result reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from murmure.core.certificate_blocks import RELATION_NAMES
from murmure.core.errors import Phrase, Plural
from murmure.core.notices import REHEARSAL_NOTICE, rehearsed
from murmure.core.types import Certificate, Statistic
from murmure.plan.plan import Plan
from murmure.plan.privacy import Central, Clear, Privacy, Secure, guarantees_of, noise_in
from murmure.run.report.certificate_words import max_certainty
from murmure.show.document import Fold, Items, Section, paragraphs, sentences
from murmure.show.phrase import Code, Several
from murmure.statistics.estimates.sums_estimate import SumsInterface

LARGE = 20.0  # an epsilon: the odds may change by a factor of some 500 million
SEEDED = Phrase("SEEDED RANDOMNESS: an experiment, not for real people.")


@dataclass(frozen=True)
class How:
    """Where the sums came from, how many there were, and what they revealed to whom."""

    privacy: str  # in words: "in the clear", "between 5 parties", ...
    rounds: int
    sums: int  # numbers released in all rounds
    parties: int | None = None
    present: int | None = None  # the parties whose rows are in the sums
    absent: str | None = None  # why the others are absent, if known
    rows: int | None = None
    bits: int | None = None  # of the longest sum
    grid: tuple[str, ...] = ()  # columns that were rounded to a stated grid before adding up
    revealed: tuple[str, ...] = ()
    meaning: tuple[str, ...] = field(default=(), repr=False)  # what the guarantee means, in plain words
    guarantees: Mapping[str, Certificate] = field(default_factory=dict, repr=False)
    plans: tuple[str, ...] = field(default=(), repr=False)
    seeded: bool = False
    rehearsal: bool = False  # all parties ran in one process
    charge: Any = field(default=None, compare=False, repr=False)  # what a ledger charged
    explained: str | None = None  # what was done with the sums, in plain words
    directly: str | None = None  # how rows were read directly, without sums

    def computed(self) -> list[str]:
        """Plain sentences: where the figures came from."""
        way = self.directly or self._sums()
        out: list[str] = []
        if self.rows is None:
            out.append(Phrase("Obtained {privacy}: {way}.", privacy=self.privacy, way=way))
        else:
            rows = Plural("{n:,} row", "{n:,} rows", n=self.rows)
            out.append(Phrase("Obtained {privacy}: {rows}, {way}.", privacy=self.privacy, rows=rows, way=way))
        if self.parties is not None and self.present not in (None, self.parties):
            counts = {"parties": self.parties, "present": self.present}
            if self.absent:
                out.append(Phrase("Of {parties} parties {present} are in the sums: {why}.", why=self.absent, **counts))
            else:
                out.append(Phrase("Of {parties} parties {present} are in the sums.", **counts))
        if self.grid:
            columns = Several(self.grid)
            out.append(Phrase("Numbers of {columns} were rounded to their grid; all else is exact.", columns=columns))
        return out

    def _sums(self) -> str:
        sums, rounds = Plural("{n:,} sum", "{n:,} sums", n=self.sums), Plural("{n} round", "{n} rounds", n=self.rounds)
        if not self.bits:
            return Phrase("{sums} in {rounds}", sums=sums, rounds=rounds)
        return Phrase("{sums} in {rounds}, the longest of {bits} bits", sums=sums, rounds=rounds, bits=self.bits)

    def warnings(self) -> list[str]:
        return [text for text, holds in ((REHEARSAL_NOTICE, self.rehearsal), (SEEDED, self.seeded)) if holds]

    def lines(self) -> list[str]:
        """All of it, as plain sentences."""
        return [*self.warnings(), *self.computed(), *self.revealed]

    def sections(self) -> tuple[Section, ...]:
        """How it was computed, and what was revealed to whom."""
        codes = Items(tuple(Phrase("{digest}", digest=Code(plan)) for plan in self.plans))
        questions = [Fold(Phrase("Fingerprints of what was asked, one for each round"), (codes,))] if self.plans else []
        return (
            Section(Phrase("How it was computed"), (*paragraphs([*self.computed(), self.explained]), *questions)),
            Section(Phrase("What was revealed to whom"), (Items(self.revealed), *paragraphs(self.meaning))),
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            **({"rehearsal": REHEARSAL_NOTICE} if self.rehearsal else {}),
            "privacy": self.privacy,
            "rounds": self.rounds,
            "sums": self.sums,
            "parties": self.parties,
            "present": self.present,
            "rows": self.rows,
            "bits": self.bits,
            "grid": list(self.grid),
            "revealed": list(self.revealed),
            "guarantees": {observer: c.to_dict() for observer, c in self.guarantees.items()},
            "plans": list(self.plans),
            "seeded": self.seeded,
        }


def how_of(
    privacy: Privacy,
    plans: Sequence[Plan],
    answers: Sequence[Any],
    present: int | None = None,
    apart: int | None = None,
    seeded: bool = False,
    in_process: bool = False,
) -> How:
    """From the plans and the answers to them. apart: the number of tables that were added up in the clear.

    in_process: one process had the tables of all parties.
    """
    noise, secure = noise_in(privacy), isinstance(privacy, Secure)
    parties = privacy.parties if isinstance(privacy, Secure) else apart
    rows = next((a.n for a in answers if a.n is not None), None)
    sums = [a for a in answers if isinstance(a, SumsInterface)]
    bits = [a.bits for a in sums if a.bits]
    grid = dict.fromkeys(name for a in sums for name in a.grid)
    guarantees = guarantees_of(plans, privacy)
    rehearsal = secure and in_process
    return How(
        privacy=_where(privacy, parties),
        rounds=len(plans),
        sums=sum(plan.statistic.width for plan in plans) + (secure and noise is None) * len(plans),
        parties=parties,
        present=present if secure else apart,
        rows=None if noise is not None else rows,
        bits=max(bits, default=None),
        grid=tuple(grid),
        revealed=tuple(_revealed(privacy, guarantees, plans)),
        meaning=() if noise is None else _meaning(guarantees["reader"], _protected(noise)),
        guarantees=rehearsed(guarantees) if rehearsal else guarantees,
        plans=tuple(plan.digest for plan in plans),
        explained=_explanation(privacy),
        seeded=seeded and noise is not None,
        rehearsal=rehearsal,
    )


def how_read_directly(
    of: Statistic, rows: int, tables: int | None, rounds: int, grid: Sequence[str], directly: str
) -> How:
    """How figures were read off rows directly, in the clear. of: any statistic of the rows, since in the clear each
    reveals everything about a person. tables: how many there are, if several.
    """
    out = how_of(Clear(), [Plan(of)], [], apart=tables)
    return replace(out, rounds=rounds, sums=0, rows=rows, grid=tuple(grid), plans=(), explained=None, directly=directly)


def _explanation(privacy: Privacy) -> str:
    if isinstance(privacy, Secure):
        return Phrase(
            "Each party added up its own rows, and masked its sums before it sent them; the masks cancel in the total "
            "over all parties, from which all figures follow."
        )
    if noise_in(privacy) is not None:
        return Phrase("Random noise was added to the sums before anything was computed; all figures follow from these.")
    return Phrase("All figures follow from these sums, which are exact.")


def _where(privacy: Privacy, parties: int | None) -> str:
    noise = noise_in(privacy)
    if isinstance(privacy, Secure):
        if noise is None:
            return Phrase("by masked sums between {parties} parties", parties=parties)
        return Phrase("by masked sums between {parties} parties, with noise that they threw in shares", parties=parties)
    if noise is not None:
        return Phrase("with noise at the curator")
    if parties is None:
        return Phrase("in the clear")
    return Plural("in the clear from {n} table", "in the clear from {n} tables", n=parties)


def _who_sees_what(sharing: Any, rounds: int) -> str:
    """What the coordinator, parties and colluders see of the sums between parties."""
    colluders = sharing.colluders
    if colluders:
        who = Plural("{n} party that colludes", "{n} parties that collude", n=colluders)
        first = Phrase(
            "The coordinator and every party see the sums over all parties, and what follows from these; {who} with "
            "the coordinator, the sums over the others.",
            who=who,
        )
    else:
        first = Phrase("The coordinator and every party see the sums over all parties, and what follows from these.")
    few = Phrase("Where these are few rows, or two parties, single ones may follow.")
    limit = Plural("{n} party", "{n} parties", n=colluders)
    if rounds > 1:
        more = Phrase(
            "More is told only if more than {limit} collude, or the coordinator reports a false total from which the "
            "next question follows.",
            limit=limit,
        )
    else:
        more = Phrase("More is told only if more than {limit} collude.", limit=limit)
    return sentences(first, few, more)


def _revealed(privacy: Privacy, guarantees: Mapping[str, Certificate], plans: Sequence[Plan]) -> list[str]:
    noise = noise_in(privacy)
    who: str
    if isinstance(privacy, Secure):
        who = _who_sees_what(privacy.sharing, len(plans))
    elif isinstance(privacy, Central):
        who = Phrase("The curator sees every row; whoever reads the result sees the noisy sums.")
    else:
        who = Phrase("Whoever ran this saw every row.")
    if noise is None:
        statements = [plan.statistic.reveals for plan in plans if plan.statistic.reveals is not None]
        more = dict.fromkeys(statements) if isinstance(privacy, Secure) else {}
        return [who, *more, Phrase("The sums are exact: no differential privacy.")]
    reader = guarantees["reader"]
    cost = {"unit": _protected(noise), "epsilon": reader.epsilon, "relation": RELATION_NAMES[reader.relation]}
    if not reader.delta:
        promise = Phrase("Differential privacy of {unit}: epsilon = {epsilon:.6g} ({relation}).", **cost)
    else:
        promise = Phrase(
            "Differential privacy of {unit}: epsilon = {epsilon:.6g}, delta = {delta:g} ({relation}).",
            delta=reader.delta,
            **cost,
        )
    return [who, promise]


def _protected(noise: Any) -> Phrase:
    """What one guarantee is about."""
    return Phrase("one row") if noise.unit == "row" else Phrase("one person ({unit})", unit=noise.unit)


def _meaning(certificate: Certificate, unit: str) -> tuple[str, ...]:
    """The guarantee in plain words, and what it rests on."""
    if not math.isfinite(certificate.epsilon):
        return ()
    odds = _odds(certificate, unit)
    if not certificate.assumption:
        return (odds,)
    return odds, Phrase("This holds provided {assumption}.", assumption=certificate.assumption)


def _odds(certificate: Certificate, unit: str) -> str:
    """What an epsilon means, for what is protected. With delta > 0 only the success of a guess is bounded."""
    if certificate.epsilon > LARGE:
        return Phrase("In words: an epsilon as large as this keeps almost nothing hidden.")
    of_values = certificate.relation == "replace"
    if certificate.delta:
        certainty = max_certainty(certificate.epsilon, certificate.delta)
        if of_values:
            return Phrase(
                "In words: someone who guesses between two things that {unit} may hold, from even odds, is right at "
                "most {certainty:g} times in 100.",
                unit=unit,
                certainty=certainty,
            )
        return Phrase(
            "In words: someone who guesses whether {unit} is in the table, from even odds, is right at most "
            "{certainty:g} times in 100.",
            unit=unit,
            certainty=certainty,
        )
    factor = math.exp(certificate.epsilon)
    if of_values:
        return Phrase(
            "In words: whatever a reader thought of what {unit} holds, the result changes the odds by a factor of at "
            "most {factor:.3g}.",
            unit=unit,
            factor=factor,
        )
    return Phrase(
        "In words: whatever a reader thought of whether {unit} is in the table, the result changes the odds by a "
        "factor of at most {factor:.3g}.",
        unit=unit,
        factor=factor,
    )
