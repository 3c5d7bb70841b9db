"""What is asked, by whom, of whom, and under which terms: one signed document for the whole study.

Every key and every message of the study is bound to its digest, so nobody can change a word of it later.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from murmure.core.errors import InvalidParameter, MurmureError, Phrase, shorten
from murmure.core.types import Sharing
from murmure.parties.study.json_codec import (
    HINT,
    VERSION,
    check_version,
    fraction,
    list_field,
    models_from_dict,
    models_to_dict,
    parse_json,
    study_digest,
)
from murmure.parties.study.model_checks import answer_words, check_models, check_question, check_work
from murmure.parties.study.plan_checks import check_noise, check_plans
from murmure.parties.study.questions import StudyQuestion, exact_questions, model_question, secure_privacy
from murmure.parties.study.replay import ModelOutcome, ModelReplay, Turn
from murmure.plan.plan import Plan
from murmure.secure.errors import BadMessage, CohortRefused
from murmure.secure.identity import Card, Identity, is_visible_text, lookalike_key
from murmure.secure.ring import RingEncoder
from murmure.secure.session import Session
from murmure.statistics.conditions.conditions import Conditions
from murmure.statistics.conditions.disclosure import hidden_by_noise
from murmure.statistics.conditions.minimum_cell import MINIMUM_CELL, Problem, first_problem

if TYPE_CHECKING:
    from murmure.plan.privacy import Central, Secure
    from murmure.secure.sharing import PairwiseMasks

SIGNATURE_PREFIX = b"murmure study, signed by its coordinator\n"
DEFAULT_RATIO = Fraction(1, 3)
MAX_RATIO = 1000  # above 1, rows can be solved for: only for rows that are public anyway
DEFAULT_LEAST_ROWS = 10


@dataclass(frozen=True)
class Study:
    """Plans and models between the parties of one roster, asked one after the other: a round for each plan, and for a
    model as many as it takes.

    The parties that answer the first round answer all of them. least_rows: the fewest rows that a party may bring.
    ratio: the most exact sums for each row that is certainly there (sums that noise hides do not count); above 1 only
    for rows that are public. models: econometrics.OLS and others, after the plans. parties: how sums are shared, where
    no plan says it. noises: for each model a Central, which is what all its rounds cost together, or None.

    >>> import murmure as mu
    >>> from murmure.secure.identity import Identity
    >>> names = ("Brest", "Lille", "Lyon", "Nantes", "Paris")
    >>> cards = [Identity.from_bytes(bytes([i]) * 32).card(name) for i, name in enumerate(names)]
    >>> ministry = Identity.from_bytes(b"m" * 32).card("Ministry")  # Identity.fresh() for a real one
    >>> stay = mu.Mean(mu.Integers(0, 365, column="stay"))
    >>> plan = mu.Plan(stay, parties=mu.PairwiseMasks(5, dropouts=1, rows=10_000))
    >>> study = mu.Study("Length of stay", "How long do patients stay?", ministry, cards, (plan,))
    >>> for sentence in study.in_words("en"):
    ...     print(sentence)
    “Ministry” (here: the asker) asks 5 organisations for totals over their rows: “Brest”, “Lille”, “Lyon”, “Nantes” and “Paris”.
    The asker’s key is 6211 db96 02cb c8ae 303c 8d9e 00b8 066c. Compare it with them by telephone before you trust it.
    The study is called “Length of stay”.
    Its purpose, in the asker’s words: “How long do patients stay?”
    These columns of your table are read, on your own machine, and no others: “stay” (whole numbers from 0 to 365).
    If a row holds anything else in one of them, nothing is sent, and you are told which row it is.
    Question 1 of 1: the mean of “stay”: how many rows there are, the sum of their values and the sum of their squares.
    In all, 4 numbers leave you, and no row: the totals over your rows and how many rows you have, each hidden behind random numbers that cancel out only once the totals of all who answer are added together.
    The asker and every organisation that answers learn the totals over all who answered, how many rows they have together (an exact sum too), and who answered; nobody learns the totals of one organisation.
    Even if the asker and one of the organisations put together all that they know, they learn only the totals over the others, who are at least 3, and what follows from these: where the others have few rows, that may be single rows. More of them together could work out the totals of fewer, and at worst yours.
    This holds even if the asker breaks the rules and tells different organisations different things about who takes part: before anything is unmasked, 4 of the 5 organisations have signed the same lists.
    It counts only if the other organisations are who they say they are: compare their keys too. If the asker made some of them up, the total less what it added itself is that of fewer, and at worst yours.
    The asker tells you what the totals are; your software checks only that they are possible. The study trusts it in this: where a question follows from totals before it, false ones would choose it.
    The number of rows comes with all exact totals. So your software compares who answers with all exact totals that you released before, whatever they were of, and refuses where a difference would tell about few organisations (unless you told it to compare the same questions only).
    It knows only of studies in which you took part. What is said here is said of this study by itself: totals over other organisations, asked by others or by an asker who breaks the rules, may be combined with it.
    The totals are exact, without differential privacy: no noise hides what one row adds. Anyone who knows all other rows can work out the last one, and a total over few rows, such as those that fulfil a rare condition, tells about these few.
    Counted by how much they can tell, there are 3 exact sums for at least 40 rows in all; at most 13 are allowed, since with about as many sums as rows single rows could be worked out.
    No total is restricted to rows that fulfil a condition. Only noise limits what someone learns who combines totals on purpose.
    Nothing is released unless at least 4 of the 5 organisations answer to the end. Your own software makes sure of it.
    Each organisation brings at least 10 rows, and at most 10,000.
    You may refuse: then nothing of your table leaves, and the others learn only that you do not take part.
    Once your totals have been added to those of the others, they cannot be taken out again.
    """  # noqa: E501

    name: str
    purpose: str
    coordinator: Card
    roster: tuple[Card, ...]
    plans: tuple[Plan, ...]
    least_rows: int = DEFAULT_LEAST_ROWS
    ratio: Fraction = DEFAULT_RATIO
    models: tuple[Any, ...] = ()
    parties: PairwiseMasks | None = None
    noises: tuple[Central | None, ...] = ()

    def __post_init__(self) -> None:
        for name, limit in (("name", 80), ("purpose", 4000)):
            text = getattr(self, name)
            if not isinstance(text, str) or not 0 < len(text) <= limit or not is_visible_text(text):
                raise InvalidParameter(
                    "Study.{name} must be 1 to {limit} letters that can be printed, in one line with single blanks, "
                    "got {got}.",
                    hint="people decide from this text: use plain words",
                    name=name,
                    limit=limit,
                    got=shorten(text),
                )
        # Lists are accepted, but a study holds tuples: nothing of it may change after it was checked.
        for name in ("roster", "plans", "models", "noises"):
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))
        self._check_cards()
        self._check_plans()
        self._check_terms()
        self._check_models()

    def _check_cards(self) -> None:
        if not isinstance(self.coordinator, Card):
            raise InvalidParameter("Study.coordinator must be a Card, got {got}.", got=shorten(self.coordinator))
        if not isinstance(self.roster, tuple) or not all(isinstance(card, Card) for card in self.roster):
            raise InvalidParameter("Study.roster must be a tuple of Cards, got {got}.", got=shorten(self.roster))
        # Names are compared by what they look like: a person decides by them.
        cards = (self.coordinator, *self.roster)
        names, keys = [lookalike_key(card.name) for card in cards], [card.key for card in cards]
        for values in (names, keys):
            counts = Counter[object](values)
            repeated = next((card.name for card, value in zip(cards, values, strict=True) if counts[value] > 1), None)
            if repeated is not None:
                raise InvalidParameter(
                    "Study: the name of {repeated!r} appears twice among the coordinator and the roster, or looks like "
                    "another one."
                    if values is names
                    else "Study: the key of {repeated!r} appears twice among the coordinator and the roster.",
                    hint="every party, and the coordinator too, creates its own key (murmure party init)",
                    repeated=repeated,
                )

    def _check_plans(self) -> None:
        check_plans(self.plans, self.models)
        if self.parties is not None and not isinstance(self.parties, Sharing):
            raise InvalidParameter(
                "Study.parties must say how parties share a sum, got {got}.",
                hint="PairwiseMasks(5)",
                got=shorten(self.parties),
            )
        if self.plans and self.parties not in (None, self.plans[0].parties):
            raise InvalidParameter("Study.parties contradicts the plans.", hint="leave it out")
        if self.sharing.parties != len(self.roster):
            raise InvalidParameter(
                "Study.roster has {roster_count} parties, but the plans are made for {parties}.",
                hint="PairwiseMasks({roster_count})",
                roster_count=len(self.roster),
                parties=self.sharing.parties,
            )

    def _check_models(self) -> None:
        if not self.noises:
            object.__setattr__(self, "noises", (None,) * len(self.models))
        check_models(self.models, self.noises, len(self.plans))
        for question in self.questions[len(self.plans) :]:
            check_question(question)
        check_work(sum(answer_words(q.model, q.plan.statistic) for q in self.questions if q.model is not None))
        check_noise(question.plan for question in self.questions)

    def _check_terms(self) -> None:
        rows = self.least_rows
        if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= self.sharing.rows:
            raise InvalidParameter(
                "Study.least_rows must be a whole number from 1 to {rows} (the most rows of a party), got {got}.",
                hint="the fewest rows that a party brings; ten is usual",
                rows=self.sharing.rows,
                got=shorten(rows),
            )
        if isinstance(self.ratio, int) and not isinstance(self.ratio, bool):
            object.__setattr__(self, "ratio", Fraction(self.ratio))
        if not isinstance(self.ratio, Fraction) or not 0 < self.ratio <= MAX_RATIO:
            raise InvalidParameter(
                "Study.ratio must be a Fraction above 0 and at most {max_ratio}, got {got}.",
                hint="a third is usual: with as many sums as rows, the rows can be worked out",
                max_ratio=MAX_RATIO,
                got=shorten(self.ratio),
            )

    # -- what it asks -------------------------------------------------------------------------------------------------

    @cached_property
    def sharing(self) -> PairwiseMasks:
        """The terms that all questions share."""
        from murmure.secure.sharing import PairwiseMasks

        if self.plans:
            return self.plans[0].parties  # type: ignore[no-any-return]
        return PairwiseMasks(len(self.roster)) if self.parties is None else self.parties

    @cached_property
    def questions(self) -> tuple[StudyQuestion, ...]:
        """All questions that are known in advance: the plans, and the first round of every model."""
        plans = [StudyQuestion(number, plan) for number, plan in enumerate(self.plans, 1)]
        of_models = (
            model_question(number, model, secure_privacy(self.sharing, noise), self.sharing)
            for number, (model, noise) in enumerate(zip(self.models, self.noises, strict=True), len(plans) + 1)
        )
        return (*plans, *of_models)

    def privacy_of(self, question: int) -> Secure:
        """How the sums of a model are protected, by the number of its question."""
        return secure_privacy(self.sharing, self.noises[question - 1 - len(self.plans)])

    @cached_property
    def hides_rows(self) -> tuple[bool, ...]:
        """For every question, whether noise hides a row in its totals. Noise that is too small counts as none."""
        counted = [question for question in self.questions for _ in range(question.rounds)]
        hides = hidden_by_noise([question.plan for question in counted])
        return tuple({question.number: hidden for question, hidden in zip(counted, hides, strict=True)}.values())

    @cached_property
    def exact_sums(self) -> int:
        """How many sums are released without noise that hides a row; a long sum counts as several
        (statistics/conditions/disclosure.py).

        The number of rows comes with them and is not counted. Models count with the most that they may ask.
        """
        return sum(question.sums for question in exact_questions(self))

    @property
    def exact_may_be_noisy(self) -> bool:
        """Whether one of the exact questions can be asked with noise: otherwise noise is not suggested as a way out."""
        return any(question.takes_noise for question in exact_questions(self))

    @property
    def surely_rows(self) -> int:
        """The number of rows that are in every released total, at least."""
        return self.sharing.minimum * self.least_rows

    def check_ratio(self) -> None:
        """Refuse so many exact sums that single rows could be solved for."""
        from murmure.secure.cohorts import check_ratio

        if self.exact_sums:
            try:
                check_ratio(self.exact_sums, self.surely_rows, self.ratio)
            except CohortRefused as error:
                allowed = math.floor(self.ratio * self.surely_rows)
                needed = -(-self.exact_sums // (self.ratio * self.sharing.minimum))
                raise CohortRefused(
                    error.message,
                    hint="at most {allowed:_} sums; or least_rows = {needed} (fewest rows of each party){detail}",
                    allowed=allowed,
                    needed=needed,
                    detail=Phrase(", or noise") if self.exact_may_be_noisy else "",
                ) from None

    @cached_property
    def conditions(self) -> tuple[tuple[int, Conditions], ...]:
        """For every exact question, its number and the conditions in it."""
        return tuple((question.number, question.conditions) for question in exact_questions(self))

    def rare_condition(self, minimum_cell: int = MINIMUM_CELL, before: Sequence[Conditions] = ()) -> Problem | None:
        """A condition that too few rows may fulfil, by public facts alone (minimum_cell.py), or None.

        before: what earlier studies asked of the same rows.
        """
        if before:
            return first_problem(self.conditions, self.least_rows, minimum_cell, before)
        known: dict[int, Problem | None] = self.__dict__.setdefault("_rare", {})
        if minimum_cell not in known:
            known[minimum_cell] = first_problem(self.conditions, self.least_rows, minimum_cell)
        return known[minimum_cell]

    def check_conditions(self, minimum_cell: int = MINIMUM_CELL) -> None:
        """Refuse conditions that too few rows may fulfil, unless rows are public (ratio above 1)."""
        from murmure.statistics.conditions.refusals import refusal

        problem = None if self.ratio > 1 else self.rare_condition(minimum_cell)
        if problem is not None:
            way_out = Phrase(
                "or minimum_cell=1 (murmure study new --minimum-cell 1), if every party allows a sum over one row"
            )
            noise = self.questions[problem.question - 1].takes_noise
            raise refusal(
                problem,
                Phrase("question {question} of {name!r}", question=problem.question, name=self.name),
                way_out,
                noise,
            )

    def in_words(self, language: Literal["en", "fr"] = "en") -> list[str]:
        """Plain sentences, for the person who approves or refuses."""
        from murmure.parties.study.study_words import study_lines

        return study_lines(self, language)

    # -- round after round -------------------------------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        """The largest number of rounds; a model may need fewer."""
        return sum(question.rounds for question in self.questions)

    @property
    def rounds_vary(self) -> bool:
        """Whether fewer rounds may be enough, because a model may stop early."""
        return any(question.rounds > 1 for question in self.questions)

    @cached_property
    def _replay(self) -> ModelReplay:
        return ModelReplay(self)

    def turn(self, round: int, released: Sequence[Sequence[int]] = ()) -> Turn | None:
        """What is asked in this round, given the sums of all rounds before it; None: the study is over.

        It follows from the study and these sums alone: everybody who has both finds the same.
        """
        if isinstance(round, bool) or not isinstance(round, int) or not 1 <= round <= self.rounds + 1:
            raise InvalidParameter(
                "this study has rounds 1 to {rounds}, {detail}, got {got}.",
                rounds=self.rounds,
                detail=Phrase("at most") if self.models else Phrase("one for each question"),
                got=shorten(round),
            )
        # Plans are known without any sums; only models need those of all rounds before.
        if round <= len(self.plans):
            return Turn(round, self.plans[round - 1], round)
        if round > 1 and len(released) < round - 1 and self.models:
            raise InvalidParameter(
                "what round {round} asks depends on the sums of {round_2} rounds, got {got}.",
                round=round,
                round_2=round - 1,
                got=len(released),
            )
        return self._replay.turn(round, released) if self.models else None

    def plan(self, round: int, released: Sequence[Sequence[int]] = ()) -> Plan | None:
        """The plan of this round, given the sums of all rounds before it; None: the study is over."""
        turn = self.turn(round, released)
        return None if turn is None else turn.plan

    def outcome(self, released: Sequence[Sequence[int]], present: int | None = None) -> tuple[ModelOutcome, ...]:
        """What became of every model, given the sums of all rounds so far. present: how many parties are in them."""
        if not self.models:
            return ()
        known = self._replay.outcomes(released)
        if present is not None:
            known = tuple(outcome.with_provenance(present=present) for outcome in known)
        return (*known, *(ModelOutcome(model) for model in self.models[len(known) :]))

    def encoder(self, round: int, released: Sequence[Sequence[int]] = ()) -> RingEncoder:
        """How the sums of this round become words of the ring."""
        return self._turn(round, released).plan.encoder

    def session(self, round: int, members: Iterable[int], released: Sequence[Sequence[int]] = ()) -> Session:
        """What all messages of this round are bound to. members: places in the roster."""
        plan = self._turn(round, released).plan
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

    def _turn(self, round: int, released: Sequence[Sequence[int]]) -> Turn:
        turn = self.turn(round, released)
        if turn is None:
            raise InvalidParameter(
                "this study has rounds 1 to {rounds}, and is over before round {round}.",
                rounds=self.rounds,
                round=round,
            )
        return turn

    def __getstate__(self) -> dict[str, Any]:
        """Its fields only: what is cached is computed again."""
        return {name: value for name, value in vars(self).items() if name in self.__dataclass_fields__}

    # -- how it travels -----------------------------------------------------------------------------------------------

    @classmethod
    def from_toml(
        cls, path: str | os.PathLike[str], cards: Iterable[Card], coordinator: Card, minimum_cell: int = MINIMUM_CELL
    ) -> Study:
        """From a study.toml that a person wrote, and the cards of those who are asked.

        minimum_cell: the fewest rows that a condition may select. Each party has its own rule for it.
        """
        from murmure.parties.study.toml_file import read_study

        return read_study(path, tuple(cards), coordinator, minimum_cell)

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
            **(models_to_dict(self.models, self.sharing, self.noises) if self.models else {}),
        }

    def to_json(self) -> str:
        """Versioned; the digest is of its compact form."""
        return json.dumps(self._dict, indent=1, sort_keys=True, ensure_ascii=False)

    @cached_property
    def digest(self) -> bytes:
        """32 bytes that identify every word of it."""
        return study_digest(self._dict)

    @classmethod
    def from_json(cls, text: str | bytes) -> Study:
        """Refuse another version, and missing or unknown fields."""
        return cls._from_dict(parse_json(text))

    @classmethod
    def _from_dict(cls, fields: Any) -> Study:
        check_version(fields)
        try:
            out = cls(
                fields["name"],
                fields["purpose"],
                Card.from_dict(fields["coordinator"]),
                tuple(Card.from_dict(card) for card in list_field(fields, "roster")),
                tuple(Plan.from_json(json.dumps(plan)) for plan in list_field(fields, "plans")),
                fields["least_rows"],
                fraction(fields["ratio"]),
                *models_from_dict(fields),
            )
        except MurmureError as error:
            raise BadMessage(
                "this study cannot be accepted: {message}", hint=error.hint, message=error.message
            ) from None
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError):
            raise BadMessage("this study cannot be read: one of its fields is not valid.", hint=HINT) from None
        # A second spelling of the same study would have a second digest, and so a second signature.
        if out.digest != study_digest(fields):
            raise BadMessage("this study is not written in the form that this software writes.", hint=HINT)
        return out

    def signed(self, identity: Identity) -> bytes:
        """The document with the coordinator's signature, as parties get it."""
        if identity.public != self.coordinator.key:
            raise InvalidParameter(
                "Study.signed takes the identity of its coordinator, {name} ({fingerprint}).",
                hint="murmure study init creates it, and murmure study new signs with it",
                name=self.coordinator.name,
                fingerprint=self.coordinator.fingerprint,
            )
        envelope = {"study": self._dict, "signature": identity.sign(SIGNATURE_PREFIX + self.digest).hex()}
        return json.dumps(envelope, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

    @classmethod
    def open(cls, signed: bytes) -> Study:
        """The study, once its signature is verified. Whether to trust its coordinator is decided elsewhere."""
        envelope = parse_json(signed)
        if not isinstance(envelope, Mapping) or set(envelope) != {"study", "signature"}:
            raise BadMessage("this is not a signed study.", hint=HINT)
        # Only the version and the card are read before the signature is verified: all else is a stranger's text.
        check_version(envelope["study"])
        try:
            coordinator = Card.from_dict(envelope["study"]["coordinator"])
            signature = bytes.fromhex(envelope["signature"])
        except (MurmureError, TypeError, ValueError):
            raise BadMessage("this is not a signed study: its signature or its coordinator cannot be read.") from None
        coordinator.verify(SIGNATURE_PREFIX + study_digest(envelope["study"]), signature)
        return cls._from_dict(envelope["study"])
