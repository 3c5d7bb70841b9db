"""From a study that came over the network to one that this party takes part in: who signed it, what it asks, and who
approved it. Until all of that is decided, and the rows are checked, nothing is sent.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from murmure.core.errors import InvalidParameter, MurmureError
from murmure.core.file_format import PLAIN_FILE, FileFormat
from murmure.core.random import fresh_key
from murmure.parties.party.history import earlier_conditions
from murmure.parties.party.local_sums import AllLocalSums, LocalSums, compute_local_sums
from murmure.parties.party.policy import Policy
from murmure.parties.party.refusals import NotApproved, OtherCoordinator, OtherStudy, StudyEnded, Unreachable
from murmure.parties.party.row_sources import open_rows
from murmure.parties.party.runner import DECLINE_SECONDS, DEFAULT_WAIT, PartyRunner, RoundSums, rows_fingerprint
from murmure.parties.study.cohort_guard import exact_columns
from murmure.secure.errors import Declined
from murmure.secure.party import Party

if TYPE_CHECKING:
    from murmure.parties.http.client import Client
    from murmure.parties.party.folder import PartyFolder
    from murmure.parties.party.ledger_account import StudyAccount
    from murmure.parties.study.document import Study

DECLINE_TICK = 2.0  # seconds: a party that declines by its own rules does so after 2, 4, 8, ... of them


@dataclass(frozen=True)
class Invitation:
    """A study at an address, and what this party requires of it."""

    home: PartyFolder
    study: Study
    signed: bytes = field(repr=False)
    url: str
    policy: Policy
    approve: str | None = None  # the digest of the one study that is approved
    fingerprint: str | None = None  # of the one coordinator that is trusted
    accept_new_keys: tuple[str, ...] = ()  # names of parties that made a new key, as somebody confirmed with them
    account: StudyAccount | None = None  # the account that pays for noisy studies

    def check_signer(self) -> None:
        """Require the key that was pinned or is named now, and the study that was approved."""
        card = self.study.coordinator
        self.home.store.check_pin(self.url, card)
        if self.fingerprint is not None and not _matches(self.fingerprint, card.fingerprint, 32):
            raise OtherCoordinator(
                "the study is signed by {fingerprint}, which is not the coordinator that you named.",
                hint="ask the coordinator for its fingerprint in another way, for example by telephone",
                fingerprint=card.fingerprint,
            )
        if self.approve is not None and not _matches(self.approve, self.study.digest.hex(), 64):
            raise OtherStudy(
                "the study at {url} has the digest {digest}, which is not the one approved.",
                hint="it has changed since: read it again with murmure party look",
                url=self.url,
                digest=self.study.digest.hex(),
            )

    def check_roster(self) -> None:
        """Require the keys of earlier studies. A study that was joined goes on with the keys it has."""
        if self.home.store.study(self.study.digest) is None:
            self.home.store.check_roster(self.study.roster, self.accept_new_keys)

    def check_not_declined(self) -> None:
        """A refusal that was sent is final: the coordinator takes nothing more from this party in this study."""
        decisions = [
            decision for decision in self.home.store.decisions() if decision["study"] == self.study.digest.hex()
        ]
        latest = next(
            (decision for decision in reversed(decisions) if decision["decision"] in ("declined", "not told")), None
        )
        if latest is not None and latest["decision"] == "declined":
            raise Declined(
                "this party declined {name!r} ({at}), and the coordinator was told.",
                hint="a refusal cannot be withdrawn: ask the coordinator for a new study",
                name=self.study.name,
                at=latest["at"],
            )

    def approval(self, yes: bool) -> str | None:
        """Who approved the study; None if a person has to be asked."""
        if self.home.store.study(self.study.digest) is not None:
            return "joined before"
        if self.approve is not None:
            return "approved by its digest"
        if not yes:
            return None
        if self.fingerprint is not None or self.home.store.pinned(self.url) is not None:
            return "approved by --yes, from a pinned coordinator"
        raise NotApproved(
            "--yes would approve whatever is at the address: name the study, or at least who signs it.",
            hint="--approve {digest}, or --coordinator-fingerprint",
            digest=self.study.digest.hex(),
        )


def check_known(terms: Invitation) -> None:
    """Require the expected study, signer and roster. If one is not as expected, the coordinator gets no answer."""
    with _recorded(terms):
        terms.check_signer()
        terms.home.place_in(terms.study)
        terms.check_not_declined()
        terms.check_roster()


def check_rules(terms: Invitation) -> None:
    """This party's rules, as far as no row has to be read."""
    study, home = terms.study, terms.home
    with _recorded(terms):
        terms.policy.check(study)
        terms.policy.check_budget(study, home.store.charges())
        if terms.account is not None:
            terms.account.check(study, home.store.charges())
        if home.store.study(study.digest) is None:
            terms.policy.check_sums(study, *home.store.exact_sums(study.digest, exact_columns(study)))
            terms.policy.check_conditions(study, earlier_conditions(home.store, study)[0])


@contextmanager
def _recorded(terms: Invitation) -> Iterator[None]:
    """Record why this party refuses, in its own file and nowhere else."""
    try:
        yield
    except MurmureError as error:
        why = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        terms.home.store.decide(terms.study.digest, terms.study.name, "refused", why)
        raise


def read_rows(terms: Invitation, rows: str, query: str | None = None, file: FileFormat = PLAIN_FILE) -> AllLocalSums:
    """This party's sums of every question, once every row is known to be within its bounds."""
    # After joining, an error in the rows is not a decision: the same command may go on with the right rows.
    joined = terms.home.store.study(terms.study.digest) is not None
    with nullcontext() if joined else _recorded(terms):
        local_sums = compute_local_sums(terms.study, open_rows(rows, query, file))
        terms.policy.check_rows(terms.study, local_sums[0].rows)
    return local_sums


def needs_rows(terms: Invitation) -> bool:
    """Whether a vector is still to be made: rows may change after the last one has left."""
    return terms.home.store.needs_rows(terms.study.digest, terms.study.rounds)


def join_study(
    terms: Invitation,
    client: Client,
    local_sums: Sequence[LocalSums],
    why: str,
    on_stage: Callable[[int, str], None] = lambda round, stage: None,
    log: Callable[[str], None] = lambda line: None,
    wait: float = DEFAULT_WAIT,
) -> list[RoundSums]:
    """Join, or resume, and stay until the last result. wait: seconds for the others' next step."""
    study, home = terms.study, terms.home
    if needs_rows(terms):
        mark = rows_fingerprint(home.identity, study.digest, local_sums)
        known = (study.digest, terms.url, study.coordinator, study.name, terms.signed, mark, why)
        home.store.join(*known, study.roster, terms.accept_new_keys)
    log(f"{study.name}: {why}")
    return PartyRunner(home, study, client, local_sums, terms.policy, on_stage, log, wait, terms.account).run()


def decline_automatically(terms: Invitation, client: Client, since: float) -> bool:
    """Decline because of this party's own rules or rows, so that nobody waits; whether the coordinator has it.

    It is the same message that a person's refusal is. It leaves 2, 4, 8, 16 ... seconds after the study came (since:
    time.monotonic() then), so its time only reveals the order of magnitude of how soon a rule refused, or how far the
    rows were read. A party that has joined before keeps its place: the same command with other rows or rules may go on.
    """
    if terms.home.store.study(terms.study.digest) is not None:
        return False
    elapsed, moment = time.monotonic() - since, DECLINE_TICK
    while moment < elapsed:
        moment *= 2
    time.sleep(moment - elapsed)
    patience, client.patience = client.patience, min(client.patience, DECLINE_SECONDS)
    try:
        decline(terms, client, "stopped by its own rules or rows")
    except MurmureError:
        return False
    finally:
        client.patience = patience
    return True


def decline(terms: Invitation, client: Client, why: str) -> None:
    """Send a signed refusal, so that nobody waits. A study that was joined cannot be declined."""
    study, home = terms.study, terms.home
    terms.check_signer()
    if home.store.study(study.digest) is not None:
        raise Declined(
            "this party has joined {name!r} and can no longer decline it.",
            hint="stop the process that runs it",
            name=study.name,
        )
    session = study.session(1, range(len(study.roster)))
    refusal = Party(session, home.identity, home.place_in(study), fresh_key()).refuse()
    # Recorded before it is sent: a crash in between must not leave a refusal that this party does not know of.
    home.store.decide(study.digest, study.name, "declined", why)
    try:
        client.send(refusal)
    except StudyEnded:  # others declined before: nobody is waiting any more
        return
    except Unreachable:
        home.store.decide(study.digest, study.name, "not told", "the coordinator did not answer when it was told no")
        raise


def _matches(given: str, expected: str, digits: int) -> bool:
    """Compare hexadecimal digits, however they are spaced."""
    plain = "".join(given.split()).lower()
    with suppress(ValueError):
        if len(bytes.fromhex(plain)) == digits // 2:
            return hmac.compare_digest(plain, "".join(expected.split()))
    raise InvalidParameter(
        "a fingerprint or digest must have {digits} hexadecimal digits, got {plain_count} characters.",
        digits=digits,
        plain_count=len(plain),
    )
