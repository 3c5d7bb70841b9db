"""The protocol on the wire: two whole sessions byte by byte, and every message that must be refused, by name."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from play import Play

import murmure.secure.errors as errors
from murmure.secure.messages import parse_message

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "secure_messages.json").read_text())
BAD = [
    pytest.param(held, case, id=f"{held['trust']}: {case['name']}")
    for held in VECTORS["sessions"]
    for case in held["bad"]
]


@pytest.mark.parametrize("held", VECTORS["sessions"], ids=lambda held: held["trust"])
def test_a_session_says_the_same_bytes_for_ever(held: dict[str, Any]) -> None:
    """Whoever changes a byte on the wire must change the protocol's version."""
    play = Play(held["trust"]).finish()

    assert play.session.digest.hex() == held["session"]
    assert [(to, raw.hex()) for to, raw in play.lines] == [(line["to"], line["message"]) for line in held["lines"]]
    assert [str(v) for v in play.coordinator.result] == held["result"]
    assert list(play.coordinator.cohort) == held["cohort"]


@pytest.mark.parametrize(("held", "case"), BAD)
def test_a_bad_message_is_refused_by_name(held: dict[str, Any], case: dict[str, Any]) -> None:
    """Nothing is said in return, the error is the named one, and it tells no secret."""
    play = Play(held["trust"])
    _replay(play, held["lines"][: case["after"]])
    raw = bytes.fromhex(case["message"])
    with pytest.raises(getattr(errors, case["error"])) as caught:
        play.coordinator.receive(raw) if case["to"] == "coordinator" else play.parties[0].receive(raw)

    said = f"{caught.value} {caught.value!r}"
    assert "\\x" not in said and (len(raw) < 76 or raw[44:76].hex() not in said)


@pytest.mark.parametrize("held", VECTORS["sessions"], ids=lambda held: held["trust"])
def test_what_the_coordinator_refuses_changes_nothing(held: dict[str, Any]) -> None:
    """After every bad message the session still ends in the sum, with the same bytes."""
    for case in held["bad"]:
        if case["to"] != "coordinator":
            continue
        play = Play(held["trust"])
        _replay(play, held["lines"][: case["after"]])
        with pytest.raises(errors.ProtocolRefused):
            play.coordinator.receive(bytes.fromhex(case["message"]))
        _replay(play, held["lines"][case["after"] :])

        assert [str(v) for v in play.coordinator.result] == held["result"], case["name"]


def _replay(play: Play, lines: list[dict[str, Any]]) -> None:
    """Give the machines what the vectors hold. The coordinator closes when a party hears what closing makes."""
    for line in lines:
        raw = bytes.fromhex(line["message"])
        if line["to"] == "coordinator":
            sender = play.parties[parse_message(raw).sender]
            if sender.stage == "keys":
                sender.keys()
            elif sender.stage == "vector":
                sender.resume(raw)
            elif sender.stage == "reveal":
                assert sender.reveal() == raw
            play.coordinator.receive(raw)
            continue
        place = int(line["to"].split()[1])
        while raw not in play.coordinator.inbox(place):
            play.coordinator.close()
        play.parties[place].receive(raw)
