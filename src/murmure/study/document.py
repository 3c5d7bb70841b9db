"""What is asked, by whom, of whom, and under which terms: one signed document that stands for the whole study.

Every key and every message of the study is bound to its digest, so nobody can change a word of it later.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from murmure.core.errors import InvalidParameter, MurmureError, shorten
from murmure.plan import Plan
from murmure.secure.errors import BadMessage, CohortRefused
from murmure.secure.identity import Card, Identity, alike, plain
from murmure.secure.ring import Encoder
from murmure.secure.session import Session
from murmure.study.counted import hidden_by_noise, sums_in
from murmure.study.plans import check_plans
from murmure.study.written import REWRITE, VERSION, check_version, fraction, listed, read
from murmure.study.written import digest as digest_of

if TYPE_CHECKING:
    from murmure.secure.sharing import PairwiseMasks

SIGNED = b"murmure study, signed by its coordinator\n"
RATIO = Fraction(1, 3)
LEAST_ROWS = 10


@dataclass(frozen=True)
class Study:
    """Plans between the parties of one roster, asked one after the other, a round for each.

    The parties that answer the first plan answer all. least_rows: the fewest rows a party may bring. ratio: the most
    exact sums for every row that is surely there (plans whose noise hides rows do not count).
    """

    name: str
    purpose: str
    coordinator: Card
    roster: tuple[Card, ...]
    plans: tuple[Plan, ...]
    least_rows: int = LEAST_ROWS
    ratio: Fraction = RATIO

    def __post_init__(self) -> None:
        for name, most in (("name", 80), ("purpose", 4000)):
            text = getattr(self, name)
            if not isinstance(text, str) or not 0 < len(text) <= most or not plain(text):
                raise InvalidParameter(
                    f"Study.{name} must be 1 to {most} letters that can be printed, in one line with single blanks, "
                    f"got {shorten(text)}.",
                    hint="a person decides by it: say it in plain words",
                )
        for name in ("roster", "plans"):
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))
        self._check_cards()
        self._check_plans()
        self._check_terms()

    def _check_cards(self) -> None:
        if not isinstance(self.coordinator, Card):
            raise InvalidParameter(f"Study.coordinator must be a Card, got {shorten(self.coordinator)}.")
        if not isinstance(self.roster, tuple) or not all(isinstance(card, Card) for card in self.roster):
            raise InvalidParameter(f"Study.roster must be a tuple of Cards, got {shorten(self.roster)}.")
        cards = (self.coordinator, *self.roster)
        for what, seen in (("name", [alike(card.name) for card in cards]), ("key", [card.key for card in cards])):
            often = Counter[object](seen)
            twice = next((card.name for card, one in zip(cards, seen, strict=True) if often[one] > 1), None)
            if twice is not None:
                raise InvalidParameter(
                    f"Study: the {what} of {twice!r} stands twice among the coordinator and the roster"
                    f"{', or looks like another one' * (what == 'name')}.",
                    hint="every party, and the coordinator too, makes a key of its own (murmure party init)",
                )

    def _check_plans(self) -> None:
        check_plans(self.plans)
        if self.sharing.parties != len(self.roster):
            raise InvalidParameter(
                f"Study.roster has {len(self.roster)} parties, and the plans are made for {self.sharing.parties}.",
                hint=f"PairwiseMasks({len(self.roster)})",
            )

    def _check_terms(self) -> None:
        rows = self.least_rows
        if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= self.sharing.rows:
            raise InvalidParameter(
                f"Study.least_rows must be a whole number from 1 to {self.sharing.rows} (the most rows of a party), "
                f"got {shorten(rows)}.",
                hint="the fewest rows that a party brings; ten is usual",
            )
        if isinstance(self.ratio, int) and not isinstance(self.ratio, bool):
            object.__setattr__(self, "ratio", Fraction(self.ratio))
        if not isinstance(self.ratio, Fraction) or not 0 < self.ratio <= 1:
            raise InvalidParameter(
                f"Study.ratio must be a Fraction above 0 and at most 1, got {shorten(self.ratio)}.",
                hint="a third is usual: with as many sums as rows, rows can be solved for",
            )

    # -- what it says -------------------------------------------------------------------------------------------------

    @property
    def sharing(self) -> PairwiseMasks:
        """The terms that all plans share."""
        return self.plans[0].parties  # type: ignore[no-any-return]

    @cached_property
    def hides_rows(self) -> tuple[bool, ...]:
        """Of every question, whether noise hides a row in its totals. Too small for that, it is none."""
        return hidden_by_noise(self.plans)

    @cached_property
    def exact_sums(self) -> int:
        """How many sums are released without noise that hides a row; a long sum counts as several (counted.py).

        How many rows there are comes with them and is not counted.
        """
        exact = (plan for plan, hides in zip(self.plans, self.hides_rows, strict=True) if not hides)
        return sum(sum(sums_in(plan.statistic)) for plan in exact)

    @property
    def surely_rows(self) -> int:
        """So many rows are in every released total, at least."""
        return self.sharing.minimum * self.least_rows

    def check_ratio(self) -> None:
        """Refuses so many exact sums that single rows could be solved for."""
        from murmure.secure.cohorts import check_ratio

        if self.exact_sums:
            try:
                check_ratio(self.exact_sums, self.surely_rows, self.ratio)
            except CohortRefused as error:
                most = math.floor(self.ratio * self.surely_rows)
                enough = -(-self.exact_sums // (self.ratio * self.sharing.minimum))
                raise CohortRefused(
                    str(error).removesuffix(f"\n  Hint: {error.hint}"),
                    hint=f"at most {most:_} sums; or least_rows = {enough} (fewest rows of each party), or noise",
                ) from None

    def in_words(self, language: Literal["en", "fr"] = "en") -> list[str]:
        """Plain sentences, for whoever approves or refuses."""
        from murmure.study.words import study_in_words

        return study_in_words(self, language)

    def encoder(self, round: int) -> Encoder:
        """How the sums of this round become words of the ring."""
        return self._plan(round).encoder  # type: ignore[no-any-return]

    def session(self, round: int, members: Iterable[int]) -> Session:
        """What all messages of this round are bound to. members: places in the roster."""
        plan = self._plan(round)
        return Session(
            self.digest,
            round,
            bytes.fromhex(plan.digest),
            self.roster,
            self.coordinator,
            self.sharing,
            plan.encoder,
            tuple(members),
        )

    def _plan(self, round: int) -> Plan:
        if isinstance(round, bool) or not isinstance(round, int) or not 1 <= round <= len(self.plans):
            raise InvalidParameter(
                f"this study has rounds 1 to {len(self.plans)}, one for each question, got {shorten(round)}."
            )
        return self.plans[round - 1]

    # -- how it travels -----------------------------------------------------------------------------------------------

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str], cards: Iterable[Card], coordinator: Card) -> Study:
        """From a study.toml that a person wrote, and the cards of those who are asked."""
        from murmure.study.from_toml import read_study

        return read_study(path, tuple(cards), coordinator)

    @cached_property
    def _dict(self) -> dict[str, Any]:
        return {
            "murmure_study": VERSION,
            "name": self.name,
            "purpose": self.purpose,
            "coordinator": self.coordinator.to_dict(),
            "roster": [card.to_dict() for card in self.roster],
            "plans": [json.loads(plan.to_json()) for plan in self.plans],
            "least_rows": self.least_rows,
            "ratio": f"{self.ratio.numerator}/{self.ratio.denominator}",
        }

    def to_json(self) -> str:
        """Versioned; the digest is of its compact form."""
        return json.dumps(self._dict, indent=1, sort_keys=True, ensure_ascii=False)

    @cached_property
    def digest(self) -> bytes:
        """32 bytes that stand for every word of it."""
        return digest_of(self._dict)

    @classmethod
    def from_json(cls, text: str | bytes) -> Study:
        """Refuses another version, and fields that are missing or too many."""
        return cls._from_dict(read(text))

    @classmethod
    def _from_dict(cls, held: Any) -> Study:
        check_version(held)
        try:
            out = cls(
                held["name"],
                held["purpose"],
                Card.from_dict(held["coordinator"]),
                tuple(Card.from_dict(card) for card in listed(held, "roster")),
                tuple(Plan.from_json(json.dumps(plan)) for plan in listed(held, "plans")),
                held["least_rows"],
                fraction(held["ratio"]),
            )
        except MurmureError as error:
            message = str(error).removesuffix(f"\n  Hint: {error.hint}")
            raise BadMessage(f"this study cannot be accepted: {message}", hint=error.hint) from None
        except (TypeError, ValueError, ArithmeticError, RecursionError):
            raise BadMessage(
                "this study cannot be read: a field of it is none that it may hold.", hint=REWRITE
            ) from None
        if out.digest != digest_of(held):
            raise BadMessage("this study is not written as this software writes it.", hint=REWRITE)
        return out

    def signed(self, identity: Identity) -> bytes:
        """The document with the coordinator's signature: what parties are given."""
        if identity.public != self.coordinator.key:
            raise InvalidParameter(
                f"Study.signed takes the identity of its coordinator, {self.coordinator.name} "
                f"({self.coordinator.fingerprint}).",
                hint="murmure study init makes it, and murmure study new signs with it",
            )
        held = {"study": self._dict, "signature": identity.sign(SIGNED + self.digest).hex()}
        return json.dumps(held, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

    @classmethod
    def open(cls, signed: bytes) -> Study:
        """The study, once its coordinator's signature is verified. Whether to trust that coordinator is not said."""
        held = read(signed)
        if not isinstance(held, Mapping) or set(held) != {"study", "signature"}:
            raise BadMessage("this is no signed study.", hint=REWRITE)
        check_version(held["study"])
        try:
            coordinator = Card.from_dict(held["study"]["coordinator"])
            signature = bytes.fromhex(held["signature"])
        except (MurmureError, TypeError, ValueError):
            raise BadMessage("this is no signed study: its signature or its coordinator cannot be read.") from None
        coordinator.verify(SIGNED + digest_of(held["study"]), signature)
        return cls._from_dict(held["study"])
