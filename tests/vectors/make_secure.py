"""Writes secure_messages.json: two whole sessions byte by byte, and messages that must be refused, with the reason.

Run by hand when the protocol's version changes: python tests/vectors/make_secure.py
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "secure"))

from play import PARTIES, VALUES, Play, fixed, identity  # noqa: E402

from murmure.secure.identity import Identity  # noqa: E402
from murmure.secure.messages import (  # noqa: E402
    FROM_COORDINATOR,
    HEADER,
    SIGNATURE_BYTES,
    AliveBody,
    Kind,
    MaskedBody,
    SealedBody,
    pack_parties,
    pack_signatures,
    parse_message,
    parse_signatures,
    sign_message,
    signed_bytes,
)
from murmure.secure.session import PROTOCOL  # noqa: E402

HEAD_COORDINATOR = Identity.from_bytes(fixed("coordinator"))


def resigned(raw: bytes, who: Identity, at: int, put: bytes) -> bytes:
    """The message with some bytes changed, and signed again."""
    changed = bytearray(raw[:-SIGNATURE_BYTES])
    changed[at : at + len(put)] = put
    return bytes(changed) + who.sign(bytes(changed))


def bad(play: Play) -> Iterator[dict[str, Any]]:
    """Messages to the coordinator or to party 0, after so many lines of the play."""
    lines = play.lines
    session = play.session.digest

    def index(to: str, kind: Kind, sender: int | None = None) -> int:
        return next(
            i
            for i, (whom, raw) in enumerate(lines)
            if whom == to and (m := parse_message(raw)).kind is kind and (sender is None or m.sender == sender)
        )

    def case(name: str, to: str, after: int, raw: bytes, error: str) -> dict[str, Any]:
        return {"name": name, "to": to, "after": after, "message": raw.hex(), "error": error}

    def from_head(kind: Kind, body: bytes) -> bytes:
        return sign_message(kind, session, FROM_COORDINATOR, body, HEAD_COORDINATOR)

    keys = index("coordinator", Kind.KEYS, 0)
    raw = lines[keys][1]
    me = identity(0)
    yield case("cut short", "coordinator", keys, raw[:-1], "BadMessage")
    yield case("half a header", "coordinator", keys, raw[:20], "BadMessage")
    yield case("nothing at all", "coordinator", keys, b"", "BadMessage")
    yield case("glued", "coordinator", keys, raw + b"\0", "BadMessage")
    yield case("not ours", "coordinator", keys, b"XX" + raw[2:], "BadMessage")
    yield case("unknown version", "coordinator", keys, resigned(raw, me, 2, b"\4"), "BadMessage")
    yield case("the version before this one", "coordinator", keys, resigned(raw, me, 2, b"\2"), "BadMessage")
    yield case("unknown kind", "coordinator", keys, resigned(raw, me, 3, b"\x63"), "BadMessage")
    yield case(
        "a body that is too short",
        "coordinator",
        keys,
        sign_message(Kind.KEYS, session, 0, bytes(95), me),
        "BadMessage",
    )
    yield case(
        "a body that is too long", "coordinator", keys, sign_message(Kind.KEYS, session, 0, bytes(97), me), "BadMessage"
    )
    yield case("a changed bit", "coordinator", keys, raw[:60] + bytes([raw[60] ^ 1]) + raw[61:], "ForgedMessage")
    yield case("a changed signature", "coordinator", keys, raw[:-1] + bytes([raw[-1] ^ 1]), "ForgedMessage")
    yield case("signed by another party", "coordinator", keys, resigned(raw, identity(1), 0, b"MU"), "ForgedMessage")
    yield case(
        "a sender out of the roster", "coordinator", keys, resigned(raw, me, 36, struct.pack("<I", 9)), "RosterDiffers"
    )
    yield case("a party as coordinator", "coordinator", keys, from_head(Kind.ROSTER, b""), "RosterDiffers")
    yield case("another session", "coordinator", keys, resigned(raw, me, 4, bytes(32)), "WrongSession")
    yield case(
        "another answer in the same place",
        "coordinator",
        keys + 1,
        resigned(raw, me, HEADER.size, bytes(32)),
        "Equivocation",
    )
    copied = sign_message(Kind.KEYS, session, 1, parse_message(raw).body, identity(1))
    yield case("somebody's keys copied", "coordinator", keys + 1, copied, "RosterDiffers")
    for name, point in (("zero", bytes(32)), ("one", b"\1" + bytes(31))):
        no_key = sign_message(Kind.KEYS, session, 0, point + parse_message(raw).body[32:], me)
        yield case(f"a session key of small order: {name}", "coordinator", keys, no_key, "BadMessage")
    twin = bytearray(parse_message(raw).body)
    twin[31] |= 0x80
    yield case(
        "a key by its other name",
        "coordinator",
        keys,
        sign_message(Kind.KEYS, session, 0, bytes(twin), me),
        "BadMessage",
    )
    masked = index("coordinator", Kind.MASKED, 0)
    yield case("a vector before its time", "coordinator", keys + 1, lines[masked][1], "OutOfOrder")
    shares = index("coordinator", Kind.SHARES, 0)
    sealed = SealedBody.parse(parse_message(lines[shares][1]))
    fewer = SealedBody(sealed.places[1:], sealed.boxes[1:]).pack()
    yield case(
        "shares for fewer than all neighbours",
        "coordinator",
        shares,
        sign_message(Kind.SHARES, session, 0, fewer, me),
        "RosterDiffers",
    )
    twice = SealedBody(sealed.places, sealed.boxes).pack()
    twice = twice[:4] + twice[4:90] + twice[4:90] + twice[176:]
    yield case(
        "shares for one neighbour twice",
        "coordinator",
        shares,
        sign_message(Kind.SHARES, session, 0, twice, me),
        "BadMessage",
    )
    vector = parse_message(lines[masked][1]).body
    short = sign_message(Kind.MASKED, session, 0, vector[8:], me)
    yield case("a vector that is too short", "coordinator", masked, short, "BadMessage")
    bare = sign_message(Kind.MASKED, session, 0, vector[:-SIGNATURE_BYTES], me)
    yield case("a vector without the signature under who shared", "coordinator", masked, bare, "BadMessage")
    elsewhere = signed_bytes(Kind.MASKED_FOR, session, 0, bytes(32))
    other = sign_message(Kind.MASKED, session, 0, vector[:-SIGNATURE_BYTES] + me.sign(elsewhere), me)
    yield case("a vector masked for others", "coordinator", masked, other, "RosterDiffers")
    apart = sign_message(Kind.MASKED_FOR, session, 0, bytes(32), me)
    yield case("a signature under who shared, by itself", "coordinator", masked, apart, "BadMessage")
    yield case(
        "keys that come too late",
        "coordinator",
        masked,
        sign_message(Kind.KEYS, session, 0, bytes(96), me),
        "Equivocation",
    )
    reveal = index("coordinator", Kind.REVEAL, 0)
    body = bytearray(parse_message(lines[reveal][1]).body)
    body[8] ^= 1
    wrong = sign_message(Kind.REVEAL, session, 0, bytes(body), me)
    yield case("a share of the other secret", "coordinator", reveal, wrong, "RosterDiffers")

    roster = index("party 0", Kind.ROSTER)
    raw = lines[roster][1]
    yield case(
        "a roster that the coordinator did not sign",
        "party 0",
        roster,
        resigned(raw, identity(2), 0, b"MU"),
        "ForgedMessage",
    )
    inner = bytearray(parse_message(raw).body)
    inner[4 + 204 + 60] ^= 1  # a key of party 1
    yield case(
        "a key that its party did not sign", "party 0", roster, from_head(Kind.ROSTER, bytes(inner)), "ForgedMessage"
    )
    gap = parse_message(raw).body[4 + 204 :]
    yield case(
        "a roster without this party",
        "party 0",
        roster,
        from_head(Kind.ROSTER, struct.pack("<I", 3) + gap),
        "RosterDiffers",
    )
    two = parse_message(raw).body[4 : 4 + 2 * 204]
    yield case("too few joined", "party 0", roster, from_head(Kind.ROSTER, struct.pack("<I", 2) + two), "TooFewParties")
    swapped = parse_message(raw).body
    swapped = swapped[:4] + swapped[208:412] + swapped[4:208] + swapped[412:]
    yield case("a roster out of order", "party 0", roster, from_head(Kind.ROSTER, swapped), "BadMessage")
    delivery = index("party 0", Kind.DELIVERY)
    sealed = SealedBody.parse(parse_message(lines[delivery][1]))
    fewer = SealedBody(sealed.places[1:], sealed.boxes[1:], sealed.members).pack(delivery=True)
    yield case("a neighbour's shares held back", "party 0", delivery, from_head(Kind.DELIVERY, fewer), "RosterDiffers")
    shared = index("party 0", Kind.SHARED)
    for name, there, error in (
        ("shared, who did not seal", (0, 1, 2, 3, 4), "RosterDiffers"),
        ("this party did not share", (1, 2, 3), "RosterDiffers"),
        ("too few shared", (0, 1), "TooFewParties"),
    ):
        yield case(name, "party 0", shared, from_head(Kind.SHARED, pack_parties(there)), error)
    yield case("vectors that came before who shared", "party 0", shared, from_head(Kind.ALIVE, b""), "OutOfOrder")
    opened = index("coordinator", Kind.OPENED, 0)
    for name, body, error in (
        ("a complaint of oneself", pack_parties((0,)), "RosterDiffers"),
        ("a complaint of nobody in the roster", pack_parties((9,)), "RosterDiffers"),
        ("a complaint cut short", pack_parties((1,))[:-1], "BadMessage"),
        ("a complaint of one party twice", struct.pack("<III", 2, 1, 1), "BadMessage"),
    ):
        yield case(name, "coordinator", opened, sign_message(Kind.OPENED, session, 0, body, me), error)
    yield case(
        "a second roster",
        "party 0",
        delivery,
        resigned(raw, HEAD_COORDINATOR, HEADER.size, struct.pack("<I", 3)),
        "Equivocation",
    )
    alive = index("party 0", Kind.ALIVE)
    lists = (
        ("alive and dropped at once", (0, 1, 2), (2, 3), "RosterDiffers"),
        ("a union that is not the frozen roster", (0, 1, 2), (), "RosterDiffers"),
        ("this party dropped", (1, 2, 3), (0,), "RosterDiffers"),
        ("too few alive", (0, 1), (2, 3), "TooFewParties"),
    )
    signed = {
        place: MaskedBody.parse(parse_message(lines[index("coordinator", Kind.MASKED, place)][1]), 3).signature
        for place in (0, 1, 2)
    }

    def living(here: tuple[int, ...], gone: tuple[int, ...], **instead: bytes) -> bytes:
        signatures = tuple(instead.get(f"of_{place}", signed.get(place, bytes(SIGNATURE_BYTES))) for place in here)
        return from_head(Kind.ALIVE, AliveBody(here, gone, signatures).pack())

    for name, here, gone, error in lists:
        yield case(name, "party 0", alive, living(here, gone), error)
    another = identity(1).sign(signed_bytes(Kind.MASKED_FOR, session, 1, bytes(32)))
    yield case(
        "a vector that was masked for another list",
        "party 0",
        alive,
        living((0, 1, 2), (3,), of_1=another),
        "RosterDiffers",
    )
    yield case(
        "a vector whose list somebody else signed",
        "party 0",
        alive,
        living((0, 1, 2), (3,), of_1=signed[2]),
        "RosterDiffers",
    )
    yield case("a result before the shares", "party 0", alive, from_head(Kind.RESULT, b""), "OutOfOrder")
    yield case("shares for a peer asked twice", "party 0", reveal, living((0, 1, 2, 3), ()), "AskedTwice")
    agreed = index("party 0", Kind.AGREED)
    yield case("other lists before they are agreed", "party 0", agreed, living((0, 1, 2, 3), ()), "AskedTwice")
    yield case("a result before anybody agreed", "party 0", agreed, from_head(Kind.RESULT, b""), "OutOfOrder")
    mine = index("coordinator", Kind.AGREE, 0)
    yield case(
        "a party that signs other lists",
        "coordinator",
        mine,
        sign_message(Kind.AGREE, session, 0, bytes(32), me),
        "RosterDiffers",
    )
    yield from not_agreed(play, agreed, case, from_head)


def not_agreed(play: Play, after: int, case: Any, from_head: Any) -> Iterator[dict[str, Any]]:
    """AGREED messages with which party 0 must reveal nothing; three of four must have signed."""
    session = play.session.digest
    signed = parse_signatures(parse_message(play.lines[after][1]))

    def says(name: str, body: bytes, error: str) -> dict[str, Any]:
        return case(name, "party 0", after, from_head(Kind.AGREED, body), error)

    def by(place: int, digest: bytes, kind: Kind = Kind.AGREE, session: bytes = session) -> bytes:
        return identity(place).sign(signed_bytes(kind, session, place, digest))

    the_same = next(parse_message(raw).body for _, raw in play.lines if parse_message(raw).kind is Kind.AGREE)
    assert signed == {place: by(place, the_same) for place in (0, 1, 2)}
    two = {place: signed[place] for place in (0, 1)}
    yield says("one signature too few", pack_signatures(two), "TooFewParties")
    yield says("nobody signed", pack_signatures({}), "TooFewParties")
    twice = struct.pack("<I", 3) + pack_signatures(two)[4:] + struct.pack("<I", 1) + signed[1]
    yield says("one who signed, twice", twice, "BadMessage")
    yield says("one who signed, twice under two names", pack_signatures(two | {2: signed[1]}), "RosterDiffers")
    yield says("one who vanished signed", pack_signatures(two | {3: by(3, the_same)}), "RosterDiffers")
    yield says("one who is not in the roster signed", pack_signatures(two | {4: by(4, the_same)}), "RosterDiffers")
    yield says("one signed other lists", pack_signatures(two | {2: by(2, bytes(32))}), "RosterDiffers")
    yield says("one signed another kind", pack_signatures(two | {2: by(2, the_same, Kind.MASKED_FOR)}), "RosterDiffers")
    yield says(
        "one signed in another session", pack_signatures(two | {2: by(2, the_same, session=bytes(32))}), "RosterDiffers"
    )
    forged = signed[2][:-1] + bytes([signed[2][-1] ^ 1])
    yield says("an agreement that was forged", pack_signatures(two | {2: forged}), "RosterDiffers")
    yield says("an agreement that was cut short", pack_signatures(signed)[:-1], "BadMessage")


def main() -> None:
    held: list[dict[str, Any]] = []
    for trust in ("curious", "lying"):
        play = Play(trust).finish()
        total = [sum(VALUES[i][k] for i in range(PARTIES - 1)) for k in range(3)]
        assert play.coordinator.result == total
        held.append(
            {
                "trust": trust,
                "session": play.session.digest.hex(),
                "lines": [
                    {"to": to, "kind": parse_message(raw).kind.name, "message": raw.hex()} for to, raw in play.lines
                ],
                "cohort": list(play.coordinator.cohort),
                "result": [str(v) for v in total],
                "bad": list(bad(play)),
            }
        )
    (HERE / "secure_messages.json").write_text(json.dumps({"protocol": PROTOCOL, "sessions": held}, indent=1) + "\n")


if __name__ == "__main__":
    main()
