"""A party at work: the machine of messages, its memory, and its own rules, from joining to the result.

Each received message is stored with all that follows from it in one transaction, and only then is the answer sent. So
after kill -9 at any point the same bytes leave, or none had left; a sum is masked once.
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

from murmure.core.errors import MurmureError, Phrase
from murmure.parties.party.local_sums import LocalSums, sums_for_plan
from murmure.parties.party.policy import Policy
from murmure.parties.party.refusals import PartyRefused, StoreFailed, StudyEnded
from murmure.parties.party.store import RoundState
from murmure.parties.party.transaction import PartyTransaction, read_charges
from murmure.parties.study.cohort_guard import SumRequest, check_cohort, exact_columns, sum_request
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
    from murmure.parties.party.ledger_account import StudyAccount
    from murmure.parties.study.document import Study
    from murmure.parties.study.replay import Turn
    from murmure.secure.identity import Identity

POLL_SECONDS = 20  # that the coordinator holds an empty inbox open
DEFAULT_WAIT = 86_400.0  # seconds without a further step of the protocol, after which a party gives up
ACKNOWLEDGE_SECONDS = 3.0  # at most, to tell the coordinator that it need not stay for this party
DECLINE_SECONDS = 30.0  # at most, to tell it that this party declines
ALL_MESSAGES = 0xFFFF_FFFF  # more than there can be
ANSWER_KINDS = {Kind.SHARES: "shares", Kind.OPENED: "opened", Kind.AGREE: "agree"}


@dataclass(frozen=True)
class RoundSums:
    """One round: the sums over its cohort."""

    sums: list[int]
    cohort: tuple[int, ...]


@dataclass
class PartyRunner:
    """One party in one study, which it approved.

    local_sums: a vector for every question that is known in advance; those of a model's later questions are computed
    when it asks (AllLocalSums). wait: seconds without a further step after which it declines and gives up, even if the
    coordinator still answers.
    """

    home: PartyFolder
    study: Study
    client: Client
    local_sums: Sequence[LocalSums] = field(repr=False)
    policy: Policy = field(default_factory=Policy)
    on_stage: Callable[[int, str], None] = lambda round, stage: None
    log: Callable[[str], None] = lambda line: None
    wait: float = DEFAULT_WAIT
    account: StudyAccount | None = None
    ask_counter: AskCounter = field(default_factory=AskCounter, init=False, repr=False)

    @cached_property
    def place(self) -> int:
        return self.home.place_in(self.study)

    def run(self) -> list[RoundSums]:
        """Run to the end of the last round, from where it stopped. Two processes cannot do so at once."""
        with self.home.locked_for(self.study.digest):
            joined = self.home.store.study(self.study.digest)
            if joined is None:
                raise StoreFailed("this study was not joined.", hint="murmure party join")
            done = [RoundSums(*result) for result in self.home.store.results(self.study.digest)]
            if done or joined.state == "failed":
                self.home.store.file.wipe()  # the last process may have been killed before it could
            if joined.state == "failed":
                self._send_refusals()
                self._acknowledge(ALL_MESSAGES)
                raise StudyEnded(
                    "this study has ended for this party: {reason}", hint="it cannot be resumed", reason=joined.reason
                )
            while (turn := self.study.turn(len(done) + 1, [result.sums for result in done])) is not None:
                done.append(self._round(turn, done))
            # A model may end before its last possible round, so only now is it known which round was the last.
            self.home.store.finish_study(self.study.digest, len(done))
            self._acknowledge(self.home.store.received_count(self.study.digest))
            return done

    def inbox(self, after: int, wait: int, max_bytes: int) -> list[bytes]:
        """What the coordinator sent after the first `after` messages."""

        def ask() -> bytes:
            return sign_message(
                Kind.ASK, self.study.digest, self.place, self.ask_counter.next_body(after), self.home.identity
            )

        while True:
            try:
                return self.client.inbox(ask, wait, max_bytes)
            except WrongSession:
                # The coordinator has accepted a higher number: the clock here was set back.
                if self.ask_counter.exhausted:
                    raise
                self.ask_counter.jump_ahead()

    @contextmanager
    def _impatiently(self, seconds: float) -> Iterator[None]:
        """For messages that nothing depends on: errors are ignored, and a slow coordinator is not waited for."""
        patience = self.client.patience
        self.client.patience = min(patience, seconds)
        try:
            with suppress(MurmureError):
                yield
        finally:
            self.client.patience = patience

    def _acknowledge(self, received: int) -> None:
        """Tell the coordinator that everything was received and is on the disk: it need not stay for this party."""
        with self._impatiently(ACKNOWLEDGE_SECONDS):
            self.inbox(received, 0, 1 << 16)

    def _send_refusals(self) -> None:
        """Send the refusals that were stored when this party gave up, unless the coordinator takes nothing more."""
        for number, message in self.home.store.unsent_refusals(self.study.digest):
            with self._impatiently(DECLINE_SECONDS):
                with suppress(ProtocolRefused, StudyEnded):
                    self.client.send(message)
                self.home.store.record_refusal_sent(self.study.digest, number)

    def _round(self, turn: Turn, done: Sequence[RoundSums]) -> RoundSums:
        """What is asked follows from the sums that this party has stored, and not from what anybody sends now."""
        members = done[0].cohort if done else tuple(range(len(self.study.roster)))
        released = [result.sums for result in done]
        try:
            runner = RoundRunner(self, turn, self.study.session(turn.round, members, released))
        except BadMessage as error:  # begun under another version of the protocol: it cannot go on
            reason = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            self.home.store.fail(self.study.digest, self.study.name, reason, turn.round, None)
            raise BadMessage(
                "the study {name!r} was begun under another version of the protocol, and cannot go on.",
                hint="ask the coordinator for a new study; what this one cost stays recorded",
                name=self.study.name,
            ) from None
        try:
            runner.prepare()
            return runner.run()
        except Exception as error:  # an error of this software too: nobody should wait for it
            if runner.machine.stage == "failed" or isinstance(error, StudyEnded):
                self._give_up(runner, error)
            raise

    def _give_up(self, round: RoundRunner, error: Exception) -> None:
        """Erase the secrets, and store a refusal with that, to be sent until it arrives. It gives no reason."""
        message = str(error).split("\n")[0] if isinstance(error, MurmureError) else "a mistake in the software"
        self.log(f"round {round.number}: {type(error).__name__}")
        # Once the study has ended, nobody waits for a refusal.
        refusal = None if isinstance(error, StudyEnded) else round.machine.refuse()
        reason = f"{type(error).__name__}: {message}"
        self.home.store.fail(self.study.digest, self.study.name, reason, round.number, refusal)
        self._send_refusals()
        if round.machine.ended is not None:
            self._acknowledge(ALL_MESSAGES)


class RoundRunner:
    """One sum: receive a message, store it, answer."""

    def __init__(self, runner: PartyRunner, turn: Turn, session: Session) -> None:
        self.runner, self.turn, self.session = runner, turn, session
        self.number = number = turn.round
        self.local_sum: LocalSums | None = None
        self.study, self.store = runner.study.digest, runner.home.store
        self.received_count = self.store.received_count(self.study)
        self.acknowledged: list[str] = []
        # The seed is stored before anything derived from it leaves: after a crash the same masks are made again.
        state = self.store.open_round(self.study, number, lambda seed: self._machine(seed).keys())
        self.machine = self._machine(state.seed)
        self._noise = derive(state.seed, "noise", session.digest)
        self._replay(state)
        self.unsent = [(kind, state.sent[kind]) for kind in state.unacknowledged]
        self._is_masked = "masked" in state.sent

    def _machine(self, seed: bytes) -> Party:
        return Party(self.session, self.runner.home.identity, self.runner.place, seed)

    def _replay(self, state: RoundState) -> None:
        """After a restart: the same machine, by what it received. Its answers must be those that were stored."""
        messages = {"keys": self.machine.keys()}
        for raw in state.received:
            answer = self.machine.receive(raw)
            if answer is not None:
                messages[ANSWER_KINDS[parse_message(answer).kind]] = answer
            if self.machine.stage == "vector":
                self.machine.resume(state.sent["masked"])
            elif self.machine.stage == "reveal":
                messages["reveal"] = self.machine.reveal()
        if any(state.sent.get(kind) != message for kind, message in messages.items()):
            raise StoreFailed(
                "round {number} cannot be resumed: the message would differ from the stored one.",
                hint="the party's file comes from another time, or from another release of the software",
                number=self.number,
            )

    @cached_property
    def _request(self) -> SumRequest:
        """What this round asks for, as the guard of cohorts compares it."""
        return sum_request(self.runner.study, self.turn)

    # -- to the result ---------------------------------------------------------------------------

    def prepare(self) -> None:
        """What is asked, and this party's sums, before anything of this round is sent: the others do not wait for it.
        If it fails, they get a refusal."""
        try:
            _ = self._request
            if not self._is_masked:
                self.local_sum = sums_for_plan(self.runner.local_sums, self.turn.plan)
        except Exception:
            self.machine.refuse()
            raise

    def run(self) -> RoundSums:
        runner = self.runner
        steps, until = self.machine.steps, time.monotonic() + runner.wait
        while True:
            self._send()
            runner.on_stage(self.number, self.machine.stage)
            # Only progress of the protocol counts: a coordinator that answers polls and does nothing is given up.
            if self.machine.steps > steps:
                steps, until = self.machine.steps, time.monotonic() + runner.wait
            left = until - time.monotonic()
            if left <= 0:
                self._stop_waiting()
            for raw in runner.inbox(self.received_count, min(POLL_SECONDS, math.ceil(left)), self._max_answer_bytes):
                self._receive(raw)
                if self.machine.stage == "done":
                    assert self.machine.result is not None
                    runner.on_stage(self.number, "done")
                    return RoundSums([int(v) for v in self.machine.result], self.machine.cohort)
                self._send()

    def _stop_waiting(self) -> NoReturn:
        self.machine.refuse()
        raise TooFewParties(
            "nothing happened for {wait:g} seconds: too few parties are taking part, or the coordinator has stopped.",
            hint="the coordinator was told that this party declines; ask it for a new study when the others have "
            "time (--wait sets how long this party waits)",
            wait=self.runner.wait,
        )

    def _send(self) -> None:
        """Send what is stored and not yet acknowledged. That it arrived is stored with the next message."""
        while self.unsent:
            kind, message = self.unsent[0]
            try:
                self.runner.client.send(message)
            except (OutOfOrder, StudyEnded):
                # Once the vector may have arrived, the others can go on alone. Only the inbox, which is signed, says
                # what became of it: this refusal is not signed, and anybody on the network can forge it.
                if kind not in ("masked", "agree", "reveal"):
                    raise StudyEnded(
                        "the {kind} message of round {number} is no longer accepted: the study has ended, or the "
                        "others went on without this party.",
                        hint="none of this party's rows are in the sum",
                        kind=kind,
                        number=self.number,
                    ) from None
            self.runner.log(f"round {self.number}: {kind} sent, {len(message)} bytes")
            self.acknowledged.append(kind)
            del self.unsent[0]

    def _receive(self, raw: bytes) -> None:
        """Process a message and store all that follows in one transaction. Nothing leaves before it has ended."""
        kind = parse_message(raw).kind
        self.runner.log(f"round {self.number}: {kind.name} heard, {len(raw)} bytes")
        number = self.received_count + 1
        with self.store.transaction(self.study, self.number) as transaction:
            answer = self.machine.receive(raw)
            if self.machine.ended is not None:
                raise StudyEnded(
                    "the coordinator ended the study: {why_ended}.", why_ended=self._why_ended(self.machine.ended)
                )
            for kind_sent in self.acknowledged:
                transaction.record_acknowledged(kind_sent)
            transaction.record_received(number, raw)
            answers = [] if answer is None else [(ANSWER_KINDS[parse_message(answer).kind], answer)]
            if self.machine.stage == "vector":
                self._approve_cohort(transaction, self.machine.shared, for_good=False)
                answers.append(("masked", self._masked_vector()))
            elif self.machine.stage == "agree":
                # A refusal here keeps the signature from being stored, and so from being sent.
                self._approve_cohort(transaction, self.machine.cohort, for_good=None)
            elif self.machine.stage == "reveal":
                self._approve_cohort(transaction, self.machine.cohort, for_good=True)
                answers.append(("reveal", self.machine.reveal()))
            for kind_to_send, message in answers:
                transaction.record_sent(kind_to_send, message)
            if self.machine.stage == "done":
                assert self.machine.result is not None
                # Whether a model goes on may take long to compute: not here, while the file is locked.
                last = self.number == self.runner.study.rounds
                transaction.finish_round(self.machine.result, self.machine.cohort, last)
        self.received_count, self.acknowledged, self.unsent = number, [], [*self.unsent, *answers]
        if self.machine.stage == "done":
            self.store.file.wipe()

    def _why_ended(self, reason: str) -> str:
        minimum = self.session.sharing.minimum
        known = {
            "TooFewParties": Phrase(
                "too few parties take part, or too few stayed (at least {minimum} were agreed)", minimum=minimum
            ),
            "CohortRefused": Phrase("combined with earlier releases, the sum would reveal too few parties"),
            "Declined": Phrase("a party withdrew its agreement"),
        }
        return Phrase("{why} ({reason})", why=known[reason], reason=reason) if reason in known else reason

    def _masked_vector(self) -> bytes:
        """This party's sums, with its share of the noise if there is any, encoded and masked."""
        local_sum = self.local_sum or sums_for_plan(self.runner.local_sums, self.turn.plan)
        return self.machine.mask(local_sum.with_noise(self._noise), noisy=local_sum.noisy)

    def _approve_cohort(self, transaction: PartyTransaction, cohort: tuple[int, ...], for_good: bool | None) -> None:
        """Check a sum over this cohort against this party's rules, and record it.

        It is recorded from the first approval on, and the record is never removed: once the vector has left, others may
        unmask the sum without this party, whatever the coordinator says. for_good=False: before the vector leaves,
        about those who shared their secrets; a refusal keeps this party's sum out for good. None: before it signs the
        lists, about those whose vectors came. True: before the reveal, once more. By then a quorum of others could
        remove the masks without this party, so its refusal is one of many, all of which check the same.
        """
        study, policy = self.runner.study, self.runner.policy
        try:
            if len(cohort) < policy.minimum_parties:
                raise TooFewParties(
                    "the sum would be over {cohort_count} parties, but this party requires {minimum_parties}.",
                    cohort_count=len(cohort),
                    minimum_parties=policy.minimum_parties,
                )
            if self.number > 1 and cohort != self.session.members:
                raise CohortRefused(
                    "round {number} has lost a party since the first round: the difference would reveal its sum.",
                    hint="the study ends here; start a new one with the remaining parties",
                    number=self.number,
                )
            request = self._request
            members = frozenset(study.roster[place].key.hex() for place in cohort)
            if request.exact:
                check_cohort(
                    study, members, transaction.earlier_cohorts(request, policy.guard), transaction.known_names
                )
            transaction.record_release(request, members, certain=for_good is True)
            if for_good is False:
                policy.check_sums(study, *transaction.exact_sums(exact_columns(study)))
                self._pay(transaction)
        except (ProtocolRefused, PartyRefused):
            self.machine.refuse()  # it is signed again when it is sent; from here on nothing else leaves
            raise

    def _pay(self, transaction: PartyTransaction) -> None:
        """Charge the noise before the vector leaves. The budget is checked again: other studies may have paid since."""
        earlier = read_charges(transaction.run)
        self.runner.policy.check_budget(self.runner.study, earlier)
        if self.turn.plan.curator is not None:
            charge = charge_of(self.runner.study, self.number, self.turn.plan)
            if self.runner.account is not None:
                self.runner.account.pay(charge, earlier)
            transaction.record_charge(charge)

    @property
    def _max_answer_bytes(self) -> int:
        """The most bytes that a whole round can have for one party: an answer with more is not a coordinator's."""
        n = len(self.session.members) + 1
        return (
            7 * (ENVELOPE_BYTES + 64)
            + n * (KEYS_MESSAGE_BYTES + SEALED_RECORD_BYTES + 2 * SIGNATURE_BYTES + 32)
            + 8 * self.session.encoder.words
        )


def rows_fingerprint(identity: Identity, study: bytes, local_sums: Sequence[LocalSums]) -> bytes:
    """Recognises the same rows, for those who have the party's key; to others it reveals nothing."""
    content = json.dumps([local_sum.exact for local_sum in local_sums]).encode()
    return hmac.digest(derive(identity.secret(), "rows", study), content, hashlib.sha256().name)
