"""A coordinator that lies, and colluders who hand it all they hold: what can they open?

An attack says what each party is told; the liar signs it, keeps every answer, and in the end takes off all masks that
it can. A sum over some parties is open if nothing but known masks is left in it, and is then worked out in numbers and
compared with the truth: so a test cannot mistake a refusal for a failure of the attack, or the other way round.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Collection, Iterable

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from murmure.core.random import fresh_key
from murmure.secure import masks, shamir
from murmure.secure.errors import ForgedMessage, ProtocolRefused, SharesDoNotFit
from murmure.secure.in_process import session_in_process
from murmure.secure.joined import JoinedParties, shared_secret
from murmure.secure.masks import commitment_to
from murmure.secure.messages import (
    FROM_COORDINATOR,
    SHARE_OF_KEY,
    SHARE_OF_SELF_MASK,
    SIGNATURE_BYTES,
    AliveBody,
    Kind,
    MaskedBody,
    RevealBody,
    SealedBody,
    pack_parties,
    pack_signatures,
    parse_message,
    sign_message,
    signed_bytes,
)
from murmure.secure.party import Party
from murmure.secure.ring import RingEncoder
from murmure.secure.shamir import SHARE_BYTES
from murmure.secure.sharing import PairwiseMasks

ENTRIES = 2


class Liar:
    """party: the class of the honest ones; a mutant shows that an attack works where a rule is missing."""

    def __init__(self, sharing: PairwiseMasks, colluders: Iterable[int] = (), party: type[Party] = Party) -> None:
        n = sharing.parties
        self.sharing, self.colluders = sharing, frozenset(colluders)
        self.encoder = RingEncoder(ENTRIES, 10**6, n)
        self.session, self.head, self.identities = session_in_process(sharing, self.encoder)
        self.everybody = frozenset(range(n))
        self.honest = self.everybody - self.colluders
        self.values = [[100 + i, i * i + 3] for i in range(n)]
        self._seeds = [fresh_key() for _ in range(n)]
        self.parties = {i: party(self.session, self.identities[i], i, self._seeds[i]) for i in self.honest}
        self._keys = {i: self.machine(i).keys() for i in self.everybody}
        for one in self.parties.values():
            one.keys()
        self.refused: dict[int, Exception] = {}
        self.joined: dict[
            int, JoinedParties
        ] = {}  # what each honest party was told: who joined, who shared, who is alive
        self.shared: dict[int, frozenset[int]] = {}
        self.lists: dict[int, AliveBody] = {}
        self._sealed: dict[tuple[bytes, int], dict[int, bytes]] = {}  # by roster and sender
        self._masked: dict[int, MaskedBody] = {}
        self._shown: dict[int, bytes] = {}  # the digest that each party signed
        self._signed: dict[bytes, dict[int, bytes]] = defaultdict(dict)  # by digest
        self._shares: dict[tuple[int, int], dict[int, bytes]] = defaultdict(dict)  # by owner and secret

    def machine(self, i: int) -> Party:
        """A colluder runs one for each roster."""
        return Party(self.session, self.identities[i], i, self._seeds[i])

    def corrupt(self, whom: Iterable[int]) -> None:
        """Before the first message: these collude too. The ring is known, and so where they stand in it."""
        self.colluders |= set(whom)
        self.honest = self.everybody - self.colluders
        self.parties = {i: one for i, one in self.parties.items() if i in self.honest}

    def ring(self, members: Collection[int] | None = None) -> list[int]:
        """The order of the sparse graph, known as soon as the keys are."""
        return [int(i) for i in self._joined_of(members or self.everybody)._order]

    def _joined_of(self, members: Collection[int]) -> JoinedParties:
        return JoinedParties(self.session, {i: parse_message(self._keys[i]) for i in sorted(members)})

    def _tell(self, to: int, kind: Kind, body: bytes) -> bytes | None:
        """The party's answer; None also where it refuses, which is kept."""
        if to in self.refused:
            return None
        try:
            return self.parties[to].receive(sign_message(kind, self.session.digest, FROM_COORDINATOR, body, self.head))
        except ProtocolRefused as error:
            self.refused[to] = error
            return None

    # -- what it tells one party --------------------------------------------------------------------------------------

    def roster(self, to: int, members: Collection[int]) -> None:
        joined = self._joined_of(members)
        raw = sign_message(Kind.ROSTER, self.session.digest, FROM_COORDINATOR, joined.pack(), self.head)
        for colluder in self.colluders & set(members):
            if (joined.digest, colluder) not in self._sealed:
                machine = self.machine(colluder)
                machine.keys()
                self._keep_boxes(joined, machine.receive(raw))
        answer = self._tell(to, Kind.ROSTER, joined.pack())
        if answer is not None:
            self.joined[to] = joined
            self._keep_boxes(joined, answer)
            self._open_for_colluders(joined, to)

    def _keep_boxes(self, joined: JoinedParties, answer: bytes | None) -> None:
        assert answer is not None
        message = parse_message(answer)
        sealed = SealedBody.parse(message)
        self._sealed[joined.digest, message.sender] = dict(zip(sealed.places, sealed.boxes, strict=True))

    def _open_for_colluders(self, joined: JoinedParties, owner: int) -> None:
        for colluder in self.colluders & set(self._sealed[joined.digest, owner]):
            secret = shared_secret(self.machine(colluder)._box_key, joined.keys[owner].box, "x")
            box = self._sealed[joined.digest, owner][colluder]
            opened = masks.box_open(masks.box_key(secret, joined.digest, owner, colluder), box, joined.digest)
            self._shares[owner, SHARE_OF_SELF_MASK][colluder] = opened[:SHARE_BYTES]
            self._shares[owner, SHARE_OF_KEY][colluder] = opened[SHARE_BYTES:]

    def deliver(
        self, to: int, shared: Collection[int], sealed: Collection[int] = (), spoiled: Collection[int] = ()
    ) -> None:
        """Tells who sealed shares and who shared, and hears the masked vector. spoiled: whose boxes it damages."""
        if to not in self.joined or to in self.refused:
            return
        joined = self.joined[to]
        listed = {*shared, *sealed}
        near = tuple(i for i in joined.neighbours(to) if i in listed)
        no_box = bytes(2 * SHARE_BYTES + 16)
        boxes = [no_box if i in spoiled else self._sealed.get((joined.digest, i), {}).get(to, no_box) for i in near]
        self._tell(to, Kind.DELIVERY, SealedBody(near, boxes, tuple(sorted(listed))).pack(delivery=True))
        self._tell(to, Kind.SHARED, pack_parties(shared))
        if to not in self.refused:
            self.shared[to] = frozenset(shared)
            self._masked[to] = MaskedBody.parse(
                parse_message(self.parties[to].mask(self.values[to])), self.encoder.words
            )

    def alive(self, to: int, alive: Collection[int]) -> None:
        """Tells whose vectors came, of those it said had shared, with the signatures as they are."""
        if to not in self.shared or to in self.refused:
            return
        joined, shared = self.joined[to], tuple(sorted(self.shared[to]))
        told = joined.masking_digest(shared)
        signatures = []
        for i in sorted(alive):
            if i in self.colluders:  # who signs whatever is wanted
                said = signed_bytes(Kind.MASKED_FOR, self.session.digest, i, told)
                signatures.append(self.identities[i].sign(said))
            else:
                signatures.append(self._masked[i].signature if i in self._masked else bytes(SIGNATURE_BYTES))
        lists = AliveBody(tuple(sorted(alive)), tuple(sorted(self.shared[to] - set(alive))), tuple(signatures))
        answer = self._tell(to, Kind.ALIVE, lists.pack())
        if to not in self.refused:
            self.lists[to] = lists
        if answer is not None:
            self._shown[to] = parse_message(answer).body
            self._signed[self._shown[to]][to] = parse_message(answer).raw[-SIGNATURE_BYTES:]

    def agreed_and_revealed(self, to: int) -> None:
        """Gives it every signature under what it signed, and takes the shares that it then reveals."""
        if to not in self.lists or to in self.refused:
            return
        party = self.parties[to]
        if party.stage == "agree":
            shown = self._shown[to]
            signatures = dict(self._signed[shown])
            for i in self.colluders & set(self.lists[to].alive):
                said = signed_bytes(Kind.AGREE, self.session.digest, i, shown)
                signatures[i] = self.identities[i].sign(said)
            listed = {i: one for i, one in signatures.items() if i in self.lists[to].alive}
            self._tell(to, Kind.AGREED, pack_signatures(listed))
        if to not in self.refused and party.stage == "reveal":
            revealed = RevealBody.parse(parse_message(party.reveal()))
            for owner, (what, share) in zip(revealed.places, revealed.shares, strict=True):
                self._shares[owner, what][to] = share

    def play(self, told: dict[int, World]) -> None:
        """Each party hears its world, message by message."""
        for i in sorted(told):
            self.roster(i, told[i].members or self.everybody)
        for i in sorted(told):
            self.deliver(i, told[i].shared, told[i].sealed, told[i].spoiled)
        for i in sorted(told):
            self.alive(i, told[i].alive)
        for i in sorted(told):
            self.agreed_and_revealed(i)

    # -- what it opens ------------------------------------------------------------------------------------------------

    def opened(self) -> list[frozenset[int]]:
        """The least sets of honest parties whose sum the coalition works out; each is compared with the truth."""
        own = {i: b for i in self._masked if (b := self._secret(i, SHARE_OF_SELF_MASK)) is not None}
        private = {
            i: X25519PrivateKey.from_private_bytes(k) for i in self.honest if (k := self._secret(i, SHARE_OF_KEY))
        }
        private |= {i: self.machine(i)._mask_key for i in self.colluders}
        linked: dict[int, set[int]] = {i: set() for i in own}
        bare = {}  # vectors without the masks that are known
        for i in own:
            joined, ring = self.joined[i], self.encoder.ring
            left = self._masked[i].words.copy()
            masks.add_mask(left, masks.self_key(own[i], joined.digest), -1, ring)
            for other in set(joined.neighbours(i)) & self.shared[i]:
                known = private.get(other) or private.get(i)
                if known is None:
                    same = other in self.joined and self.joined[other].digest == joined.digest
                    linked[i].add(other if same else -1)  # -1: a mask that nobody takes off
                    continue
                public = joined.keys[i if other in private else other].mask
                low, high = min(i, other), max(i, other)
                key = masks.pair_key(shared_secret(known, public, "x"), joined.digest, low, high)
                masks.add_mask(left, key, -1 if i < other else 1, ring)
            bare[i] = left
        parts = []
        for part in _closed(linked):
            total = np.zeros(self.encoder.words, np.uint64)
            for i in part:
                self.encoder.ring.add(total, bare[i])
            truth = [sum(self.values[i][k] for i in part) for k in range(ENTRIES)]
            assert self.encoder.decode(total, len(self.everybody)) == truth, "it only seemed to be open"
            parts.append(part)
        return parts

    def _secret(self, owner: int, what: int) -> bytes | None:
        if owner not in self.joined:
            return None
        joined, shares = self.joined[owner], self._shares[owner, what]
        threshold = self.parties[owner]._joined.threshold  # type: ignore[union-attr]
        if len(shares) < threshold:
            return None
        with contextlib.suppress(SharesDoNotFit, ForgedMessage):
            secret = shamir.join({i + 1: share for i, share in shares.items()}, threshold)
            if what == SHARE_OF_SELF_MASK:
                right = commitment_to(secret, self.session.digest, owner) == joined.keys[owner].commitment
            else:
                public = X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()
                right = public == joined.keys[owner].mask
            return secret if right else None
        return None


class World:
    """What one party is told: who shared, whose vectors came, and who joined (None: everybody).

    sealed: who else sealed shares and was left out again; spoiled: whose boxes were damaged on the way.
    """

    def __init__(
        self,
        shared: Collection[int],
        alive: Collection[int] | None = None,
        members: Collection[int] | None = None,
        sealed: Collection[int] = (),
        spoiled: Collection[int] = (),
    ) -> None:
        self.sealed, self.spoiled = frozenset(sealed), frozenset(spoiled)
        self.shared = frozenset(shared)
        self.alive = self.shared if alive is None else frozenset(alive)
        self.members = None if members is None else frozenset(members)


def _closed(linked: dict[int, set[int]]) -> list[frozenset[int]]:
    """The least sets in which every unknown mask stands twice. Who has one that nobody takes off is hidden by it."""
    seen = dict(linked)
    while hidden := [i for i in seen if any(i not in seen.get(other, ()) for other in seen[i])]:
        for i in hidden:
            del seen[i]
    out = []
    while seen:
        part, todo = set[int](), [next(iter(seen))]
        while todo:
            i = todo.pop()
            part.add(i)
            todo += seen.pop(i, set()) - part
        out.append(frozenset(part))
    return out
