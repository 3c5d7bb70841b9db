"""A party at work: the machine of messages, its memory, and its own rules, from joining to the result.

Each message that is heard is written down with all that follows from it in one transaction, and only then is the answer
sent. So after kill -9 at any point the same bytes leave, or none had left; a sum is masked once.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from murmure.core.errors import MurmureError
from murmure.parties.party.local_sums import LocalSums, sums_for_plan
from murmure.parties.party.policy import Policy
from murmure.parties.party.refusals import PartyRefused, StoreFailed, StudyEnded
from murmure.parties.party.store import RoundState
from murmure.parties.party.transaction import PartyTransaction
from murmure.parties.study.cohort_guard import check_cohort, exact_columns, sum_request
from murmure.parties.study.costs import charge_of
from murmure.parties.study.freshness import AskCounter
from murmure.secure.errors import BadMessage, CohortRefused, OutOfOrder, ProtocolRefused, TooFewParties, WrongSession
from murmure.secure.messages import (
    ENVELOPE_BYTES,
    KEYS_MESSAGE_BYTES,
    SEALED_RECORD_BYTES,
    SIGNATURE_BYTES,
    Kind,
    parse_message,
    sign_message,
)
from murmure.secure.party import Party
from murmure.secure.session import Session, derive

if TYPE_CHECKING:
    from murmure.parties.http.client import Client
    from murmure.parties.party.folder import PartyFolder
    from murmure.parties.study.document import Study
    from murmure.parties.study.replay import Turn
    from murmure.secure.identity import Identity

WAIT = 20  # seconds that an empty inbox is held open
DEFAULT_WAIT = 86_400.0  # seconds without a further step of the protocol, after which a party gives up
THANKS, DECLINE_SECONDS = (
    3.0,
    30.0,
)  # seconds at most to tell the coordinator that it may go, and that this party says no
ALL = 0xFFFF_FFFF  # messages, whatever there are
SAYS = {Kind.SHARES: "shares", Kind.OPENED: "opened", Kind.AGREE: "agree"}
ENDS = {  # a coordinator gives the name of a refusal; what that means here
    "TooFewParties": "too few parties take part, or stayed (at least {minimum} were agreed)",
    "CohortRefused": "with what was released before, the sum would tell about too few parties",
    "Declined": "a party took its agreement back",
}


@dataclass(frozen=True)
class RoundSums:
    """One round: the sums over its cohort."""

    sums: list[int]
    cohort: tuple[int, ...]


@dataclass
class PartyRunner:
    """One party in one study, which it approved. own: its sums, a vector for every question that is known beforehand;
    of a model's later ones they are found when it asks (OwnSums). wait: seconds without a further step after which it
    says no and gives up, though the coordinator answers.
    """

    home: PartyFolder
    study: Study
    client: Client
    own: Sequence[LocalSums] = field(repr=False)
    policy: Policy = field(default_factory=Policy)
    tell: Callable[[int, str], None] = lambda round, stage: None
    log: Callable[[str], None] = lambda line: None
    wait: float = DEFAULT_WAIT
    numbers: AskCounter = field(default_factory=AskCounter, init=False, repr=False)

    @cached_property
    def place(self) -> int:
        return self.home.place_in(self.study)

    def run(self) -> list[RoundSums]:
        """From where it stands to the end of the last round; two processes cannot run it at once."""
        with self.home.locked_for(self.study.digest):
            joined = self.home.store.study(self.study.digest)
            if joined is None:
                raise StoreFailed("this study was not joined.", hint="murmure party join")
            done = [RoundSums(*one) for one in self.home.store.results(self.study.digest)]
            if done or joined.state == "failed":
                self.home.store.file.wipe()  # if the last process was killed before it could
            if joined.state == "failed":
                self._tell_no()
                self._acknowledge(ALL)
                raise StudyEnded(f"this study has ended for this party: {joined.reason}", hint="it cannot be resumed")
            while (turn := self.study.turn(len(done) + 1, [one.sums for one in done])) is not None:
                done.append(self._round(turn, done))
            self.home.store.over(self.study.digest, len(done))
            self._acknowledge(self.home.store.heard(self.study.digest))
            return done

    def inbox(self, after: int, wait: int, largest: int) -> list[bytes]:
        """What the coordinator said after the first `after` messages."""

        def ask() -> bytes:
            return sign_message(Kind.ASK, self.study.digest, self.place, self.numbers.body(after), self.home.identity)

        while True:
            try:
                return self.client.inbox(ask, wait, largest)
            except WrongSession:
                if self.numbers.hopeless:
                    raise
                self.numbers.leap()

    @contextmanager
    def _for_at_most(self, seconds: float) -> Iterator[None]:
        """Nothing hangs on it here: a coordinator that does not answer is left alone."""
        patience = self.client.patience
        self.client.patience = min(patience, seconds)
        try:
            with suppress(MurmureError):
                yield
        finally:
            self.client.patience = patience

    def _acknowledge(self, heard: int) -> None:
        """That all was heard and is on the disk: the coordinator need not stay for this party."""
        with self._for_at_most(THANKS):
            self.inbox(heard, 0, 1 << 16)

    def _tell_no(self) -> None:
        """What was written when this party gave up, until the coordinator has it or takes nothing more."""
        for number, message in self.home.store.unsaid_no(self.study.digest):
            with self._for_at_most(DECLINE_SECONDS):
                with suppress(ProtocolRefused, StudyEnded):
                    self.client.send(message)
                self.home.store.said_no(self.study.digest, number)

    def _round(self, turn: Turn, done: Sequence[RoundSums]) -> RoundSums:
        """What is asked follows from the sums that this party has heard itself, and from nothing that is said now."""
        members = done[0].cohort if done else tuple(range(len(self.study.roster)))
        released = [one.sums for one in done]
        try:
            one = RoundRunner(self, turn, self.study.session(turn.round, members, released), released)
        except BadMessage as error:  # it was begun under another version of the protocol, and cannot go on
            reason = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            self.home.store.fail(self.study.digest, self.study.name, reason, turn.round, None)
            raise
        try:
            one.look_at_rows()
            return one.run()
        except Exception as error:  # a mistake of ours too: nobody should wait for it
            if one.machine.stage == "failed" or isinstance(error, StudyEnded):
                self._give_up(one, error)
            raise

    def _give_up(self, one: RoundRunner, error: Exception) -> None:
        """No way on: the secrets go, and a no is written with that, to be sent until it arrives. It has no reason."""
        said = str(error).split("\n")[0] if isinstance(error, MurmureError) else "a mistake in the software"
        self.log(f"round {one.number}: {type(error).__name__}")
        refusal = None if isinstance(error, StudyEnded) else one.machine.refuse()
        reason = f"{type(error).__name__}: {said}"
        self.home.store.fail(self.study.digest, self.study.name, reason, one.number, refusal)
        self._tell_no()
        if one.machine.ended is not None:
            self._acknowledge(ALL)


class RoundRunner:
    """One sum: hear, write down, answer."""

    def __init__(self, runner: PartyRunner, turn: Turn, session: Session, released: list[list[int]]) -> None:
        self.runner, self.turn, self.session, self.released = runner, turn, session, released
        self.number = number = turn.round
        self.own: LocalSums | None = None
        self.study, self.store = runner.study.digest, runner.home.store
        self.heard = self.store.heard(self.study)
        self.acknowledged: list[str] = []
        kept = self.store.begin(self.study, number, lambda seed: self._machine(seed).keys())
        self.machine = self._machine(kept.seed)
        self._noise = derive(kept.seed, "noise", session.digest)
        self._again(kept)
        self.unsent = [(kind, kept.sent[kind]) for kind in kept.unacknowledged]
        self._masked_before = "masked" in kept.sent

    def _machine(self, seed: bytes) -> Party:
        return Party(self.session, self.runner.home.identity, self.runner.place, seed)

    def _again(self, kept: RoundState) -> None:
        """After a restart: the same machine, by what it heard. What it says must be what was written."""
        said = {"keys": self.machine.keys()}
        for raw in kept.heard:
            answer = self.machine.hear(raw)
            if answer is not None:
                said[SAYS[parse_message(answer).kind]] = answer
            if self.machine.stage == "vector":
                self.machine.resume(kept.sent["masked"])
            elif self.machine.stage == "reveal":
                said["reveal"] = self.machine.reveal()
        if any(kept.sent.get(kind) != message for kind, message in said.items()):
            raise StoreFailed(
                f"round {self.number} cannot be resumed: what would be said is not what was written.",
                hint="the party's file is that of another time, or of another release of the software",
            )

    # -- to the result ---------------------------------------------------------------------------

    def look_at_rows(self) -> None:
        """The own sums, before anything of this round is sent. If there are none, the others are told no."""
        if self._masked_before:
            return
        try:
            self.own = sums_for_plan(self.runner.own, self.turn.plan)
        except Exception:
            self.machine.refuse()
            raise

    def run(self) -> RoundSums:
        runner = self.runner
        steps, until = self.machine.steps, time.monotonic() + runner.wait
        while True:
            self._send()
            runner.tell(self.number, self.machine.stage)
            if self.machine.steps > steps:
                steps, until = self.machine.steps, time.monotonic() + runner.wait
            left = until - time.monotonic()
            if left <= 0:
                self._waited_enough()
            for raw in runner.inbox(self.heard, min(WAIT, math.ceil(left)), self._largest):
                self._hear(raw)
                if self.machine.stage == "done":
                    assert self.machine.result is not None
                    runner.tell(self.number, "done")
                    return RoundSums([int(v) for v in self.machine.result], self.machine.cohort)
                self._send()

    def _waited_enough(self) -> NoReturn:
        self.machine.refuse()
        raise TooFewParties(
            f"no further step came for {self.runner.wait:g} seconds: too few parties take part, or the coordinator "
            "does not go on.",
            hint="the coordinator was told no; ask it for a new study when the others have time (--wait is how long "
            "this party waits)",
        )

    def _send(self) -> None:
        """What is written and not yet acknowledged. That it arrived is written with what comes next."""
        while self.unsent:
            kind, message = self.unsent[0]
            try:
                self.runner.client.send(message)
            except (OutOfOrder, StudyEnded):
                # Once the vector may be there the others can go on alone. Only the inbox, which is signed, says what
                # came of it: whoever is on the line can make up a refusal.
                if kind not in ("masked", "agree", "reveal"):
                    raise StudyEnded(
                        f"the {kind} message of round {self.number} is not taken any more: the study has ended, or the "
                        "others went on without this party.",
                        hint="nothing of this party's rows is in the sum",
                    ) from None
            self.runner.log(f"round {self.number}: {kind} sent, {len(message)} bytes")
            self.acknowledged.append(kind)
            del self.unsent[0]

    def _hear(self, raw: bytes) -> None:
        """Heard, followed, written: in one transaction. Nothing leaves before it has ended."""
        kind = parse_message(raw).kind
        self.runner.log(f"round {self.number}: {kind.name} heard, {len(raw)} bytes")
        number = self.heard + 1
        with self.store.step(self.study, self.number) as step:
            answer = self.machine.hear(raw)
            if self.machine.ended is not None:
                raise StudyEnded(f"the coordinator ended the study: {self._why_ended(self.machine.ended)}.")
            for before in self.acknowledged:
                step.acknowledged(before)
            step.heard(number, raw)
            said = [] if answer is None else [(SAYS[parse_message(answer).kind], answer)]
            if self.machine.stage == "vector":
                self._agree_to(step, self.machine.shared, for_good=False)
                said.append(("masked", self._masked()))
            elif self.machine.stage == "agree":  # what it would sign is not written, and so not sent, if this says no
                self._agree_to(step, self.machine.cohort, for_good=None)
            elif self.machine.stage == "reveal":
                self._agree_to(step, self.machine.cohort, for_good=True)
                said.append(("reveal", self.machine.reveal()))
            for what, message in said:
                step.sent(what, message)
            if self.machine.stage == "done":
                assert self.machine.result is not None
                # Whether a model goes on may take long to work out: not here, where the file is locked.
                last = self.number == self.runner.study.rounds
                step.finish(self.machine.result, self.machine.cohort, last)
        self.heard, self.acknowledged, self.unsent = number, [], [*self.unsent, *said]
        if self.machine.stage == "done":
            self.store.file.wipe()

    def _why_ended(self, reason: str) -> str:
        if reason not in ENDS:
            return reason
        return f"{ENDS[reason].format(minimum=self.session.sharing.minimum)} ({reason})"

    def _masked(self) -> bytes:
        """Own sums, with this party's share of the noise if there is any, encoded and masked."""
        own = self.own or sums_for_plan(self.runner.own, self.turn.plan)
        return self.machine.mask(own.drawn(self._noise), noisy=own.noisy)

    def _agree_to(self, step: PartyTransaction, cohort: tuple[int, ...], for_good: bool | None) -> None:
        """A sum over this cohort: allowed by the own rules, and recorded if it is about to be unmasked.

        Written down from the first yes on, and never taken back: once the vector has left, others may unmask the sum
        without this party, whatever the coordinator says of it. for_good=False: before the vector leaves, about those
        who shared their secrets; a no keeps this party's sum out for good. None: before it signs the lists, about those
        whose vectors came; True: before the reveal, once more. By then a quorum of others could undo the masks without
        this party,
        so that its no is one of many, all of which ask the same.
        """
        study, policy = self.runner.study, self.runner.policy
        try:
            if len(cohort) < policy.minimum_parties:
                raise TooFewParties(
                    f"the sum would be over {len(cohort)} parties, and this party wants {policy.minimum_parties}."
                )
            if self.number > 1 and cohort != self.session.members:
                raise CohortRefused(
                    f"round {self.number} has lost a party since the first round: the difference would tell about it.",
                    hint="the study ends here; a new one begins with those who are there",
                )
            asked = sum_request(study, self.turn)
            members = frozenset(study.roster[place].key.hex() for place in cohort)
            if asked.exact:
                check_cohort(study, members, step.before(asked, policy.guard), step.names)
            step.release(asked, members, certain=for_good is True)
            if for_good is False:
                policy.check_sums(study, *step.exact_sums(exact_columns(study)))
                self._pay(step)
        except (ProtocolRefused, PartyRefused):
            self.machine.refuse()  # signed again when it is sent; from here on nothing else is said
            raise

    def _pay(self, step: PartyTransaction) -> None:
        """Before the vector leaves; asked again, since another study may have paid after this one was joined."""
        self.runner.policy.check_budget(self.runner.study, step.charges())
        if self.turn.plan.curator is not None:
            step.charge(charge_of(self.runner.study, self.number, self.turn.plan))

    @property
    def _largest(self) -> int:
        """Bytes that a whole round can have for one party; whoever sends more is no coordinator."""
        n = len(self.session.members) + 1
        return (
            7 * (ENVELOPE_BYTES + 64)
            + n * (KEYS_MESSAGE_BYTES + SEALED_RECORD_BYTES + 2 * SIGNATURE_BYTES + 32)
            + 8 * self.session.encoder.words
        )


def rows_fingerprint(identity: Identity, study: bytes, own: Sequence[LocalSums]) -> bytes:
    """Tells other rows from the same, to whoever holds the party's key; to others it says nothing."""
    said = json.dumps([one.exact for one in own]).encode()
    return hmac.digest(derive(identity.secret(), "rows", study), said, hashlib.sha256().name)
