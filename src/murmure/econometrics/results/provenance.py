"""How a result was obtained, which every result reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from murmure.core.errors import Plural
from murmure.core.notices import REHEARSAL_NOTICE, REHEARSAL_NOTICE_FR, rehearsed
from murmure.core.types import Certificate, Statistic
from murmure.plan.plan import Plan
from murmure.plan.privacy import Central, Clear, Privacy, Secure, guarantees_of, noise_in
from murmure.statistics.estimates.sums_estimate import SumsInterface

Say = Callable[[str, str], str]  # chooses between English and French


def english(en: str, fr: str) -> str:
    return en


def french(en: str, fr: str) -> str:
    return fr


@dataclass(frozen=True)
class How:
    """Where the sums came from, how many there were, and what they revealed to whom."""

    privacy: str  # in words: "in the clear", "between 5 parties", ...
    rounds: int
    sums: int  # numbers released in all rounds
    parties: int | None = None
    present: int | None = None  # the parties whose rows are in the sums
    absent: tuple[str, ...] = ()  # why the others are absent, if known: in English and in French
    rows: int | None = None
    bits: int | None = None  # of the longest sum
    grid: tuple[str, ...] = ()  # columns that were rounded to a stated grid before adding up
    revealed: tuple[str, ...] = ()
    in_french: tuple[str, ...] = field(default=(), repr=False)  # `privacy`, then `revealed`, for French pages
    guarantees: Mapping[str, Certificate] = field(default_factory=dict, repr=False)
    plans: tuple[str, ...] = field(default=(), repr=False)
    seeded: bool = False
    rehearsal: bool = False  # all parties ran in one process
    charge: Any = field(default=None, compare=False, repr=False)  # what a ledger charged
    directly: tuple[str, str] | None = None  # how rows were read directly, without sums: English and French

    def lines(self) -> list[str]:
        """Plain sentences, for the foot of a summary."""
        rows = "" if self.rows is None else f"{self.rows:_}".replace("_", " ") + f" row{'s' * (self.rows != 1)}, "
        sums = Plural("{n} sum", "{n} sums", n=self.sums)
        longest = f", the longest of {self.bits} bits" if self.bits else ""
        way = (
            self.directly[0]
            if self.directly
            else f"{sums} in {Plural('{n} round', '{n} rounds', n=self.rounds)}{longest}"
        )
        out = [REHEARSAL_NOTICE] if self.rehearsal else []
        out.append(f"Obtained {self.privacy}: {rows}{way}.")
        if self.parties is not None and self.present not in (None, self.parties):
            why = f": {self.absent[0]}" if self.absent else ""
            out.append(f"Of {self.parties} parties {self.present} are in the sums{why}.")
        if self.grid:
            out.append(f"Numbers of {', '.join(self.grid)} were rounded to their grid; all else is exact.")
        if self.seeded:
            out.append("SEEDED RANDOMNESS: an experiment, not for real people.")
        return [*out, *self.revealed]

    def lines_in_french(self) -> list[str]:
        """The same, for French pages."""
        if not self.in_french:
            return self.lines()
        where, *revealed = self.in_french
        rows = "" if self.rows is None else f"{self.rows:_}".replace("_", " ") + f" ligne{'s' * (self.rows > 1)}, "
        sums = f"{Plural('{n} somme', '{n} sommes', n=self.sums)} en {Plural('{n} tour', '{n} tours', n=self.rounds)}"
        longest = f", la plus longue de {self.bits} bits" if self.bits else ""
        way = self.directly[1] if self.directly else f"{sums}{longest}"
        out = [REHEARSAL_NOTICE_FR] if self.rehearsal else []
        out.append(f"Obtenu {where} : {rows}{way}.")
        if self.parties is not None and self.present not in (None, self.parties):
            why = f" : {self.absent[1]}" if self.absent else ""
            out.append(f"Des {self.parties} participants, {self.present} sont dans les sommes{why}.")
        if self.grid:
            out.append(
                f"Les nombres de {', '.join(self.grid)} ont été arrondis à leur grille ; tout le reste est exact."
            )
        if self.seeded:
            out.append("HASARD À GRAINE : une expérience, pas pour de vraies personnes.")
        return [*out, *revealed]

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
        privacy=_where(privacy, parties, english),
        rounds=len(plans),
        sums=sum(plan.statistic.width for plan in plans) + (secure and noise is None) * len(plans),
        parties=parties,
        present=present if secure else apart,
        rows=None if noise is not None else rows,
        bits=max(bits, default=None),
        grid=tuple(grid),
        revealed=tuple(_revealed(privacy, guarantees, plans, english)),
        in_french=(_where(privacy, parties, french), *_revealed(privacy, guarantees, plans, french)),
        guarantees=rehearsed(guarantees) if rehearsal else guarantees,
        plans=tuple(plan.digest for plan in plans),
        seeded=seeded and noise is not None,
        rehearsal=rehearsal,
    )


def how_read_directly(
    of: Statistic, rows: int, tables: int | None, rounds: int, grid: Sequence[str], directly: tuple[str, str]
) -> How:
    """How figures were read off rows directly, in the clear. of: any statistic of the rows, since in the clear each
    reveals everything about a person. tables: how many there are, if several.
    """
    out = how_of(Clear(), [Plan(of)], [], apart=tables)
    return replace(out, rounds=rounds, sums=0, rows=rows, grid=tuple(grid), plans=(), directly=directly)


def _where(privacy: Privacy, parties: int | None, say: Say) -> str:
    noise = noise_in(privacy)
    if isinstance(privacy, Secure):
        masked = say("by masked sums between {} parties", "par sommes masquées entre {} participants").format(parties)
        with_noise = say(", with noise that they threw in shares", ", avec un bruit jeté par parts")
        return masked if noise is None else masked + with_noise
    if noise is not None:
        return say("with noise at the curator", "avec du bruit chez le dépositaire")
    clear = say("in the clear", "en clair")
    return clear if parties is None else clear + say(" from ", ", de ") + Plural("{n} table", "{n} tables", n=parties)


def _who_sees_what(sharing: Any, rounds: int, say: Say) -> str:
    """What the coordinator, parties and colluders see of the sums between parties."""
    colluders = sharing.colluders
    out = say(
        "The coordinator and every party see the sums over all parties, and what follows from these",
        "Le coordinateur et chaque participant voient les sommes de tous, et ce qui en découle",
    )
    if colluders:
        out += say(
            "; {} with the coordinator, the sums over the others",
            " ; {} avec le coordinateur, les sommes des autres",
        ).format(
            say(
                Plural("{n} party that colludes", "{n} parties that collude", n=colluders),
                Plural("{n} participant de connivence", "{n} participants de connivence", n=colluders),
            )
        )
    out += say(
        ". Where these are few rows, or two parties, single ones may follow.",
        ". Là où ces autres ont peu de lignes, ou ne sont que deux, un seul peut en découler.",
    )
    more = say(
        " More is told only if more than {} collude{}.", " Rien de plus n’est dit, sauf connivence de plus de {}{}."
    )
    limit = say(
        Plural("{n} party", "{n} parties", n=colluders), Plural("{n} participant", "{n} participants", n=colluders)
    )
    trust = say(
        ", or the coordinator reports a false total from which the next question follows",
        ", ou si le coordinateur annonce un faux total dont dépend la question suivante",
    )
    return out + more.format(limit, trust if rounds > 1 else "")


def _revealed(privacy: Privacy, guarantees: Mapping[str, Certificate], plans: Sequence[Plan], say: Say) -> list[str]:
    noise = noise_in(privacy)
    if isinstance(privacy, Secure):
        who = _who_sees_what(privacy.sharing, len(plans), say)
    elif isinstance(privacy, Central):
        who = say(
            "The curator sees every row; whoever reads the result sees the noisy sums.",
            "Le dépositaire voit chaque ligne ; qui lit le résultat voit les sommes bruitées.",
        )
    else:
        who = say("Whoever ran this saw every row.", "Qui a fait ce calcul a vu chaque ligne.")
    if noise is None:
        # pairs of English and French
        statements = [plan.statistic.reveals for plan in plans if plan.statistic.reveals is not None]
        more = dict.fromkeys(say(*both) for both in statements) if isinstance(privacy, Secure) else {}
        exact = say(
            "The sums are exact: no differential privacy.",
            "Les sommes sont exactes : aucune confidentialité différentielle.",
        )
        return [who, *more, exact]
    reader = guarantees["reader"]
    delta = f", delta = {reader.delta:g}" if reader.delta else ""
    row = say("one row", "d’une ligne")
    person = row if noise.unit == "row" else say("one person", "d’une personne") + f" ({noise.unit})"
    promise = say("Differential privacy of {}:", "Confidentialité différentielle {} :").format(person)
    return [who, f"{promise} epsilon = {reader.epsilon:.6g}{delta} ({reader.relation})."]
