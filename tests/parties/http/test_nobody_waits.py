"""Nobody waits for ever: parties that are killed, hang, decline or send nonsense, an office that does not go on.

Every command is a process of its own, and every one of them ends, in the sum over those who are left or in a refusal
that has a name.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sqlite3
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.parties.processes import TOML, Child, Town, invoke, stops

from murmure.parties.party import invitation
from murmure.parties.party import runner as at_work
from murmure.secure.joined import JoinedParties
from murmure.secure.messages import Kind, parse_message
from murmure.secure.party import Party

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
KINDS = ("keys", "shares", "opened", "masked", "agree", "reveal")
QUICK_STOPS = (("masked", signal.SIGKILL), ("shares", signal.SIGSTOP))
IN_THE_SUM = ("agree", "reveal")  # who goes before these is in it


def outcome(child: Child) -> Any:
    """The sums; or the name of the refusal."""
    said = child.ended()
    assert said is not None
    if said["code"] == 0:
        return said["out"]["results"][0]["sums"]
    assert said["code"] == 2, said
    return said["out"]["error"]["type"]


def events(town: Town) -> list[bytes]:
    connection = sqlite3.connect(f"{town.served.log.as_uri()}?mode=ro", uri=True, timeout=10)
    try:
        found = connection.execute("SELECT message FROM murmure_events WHERE kind = 'message' ORDER BY number")
        return [raw for (raw,) in found]
    finally:
        connection.close()


# -- parties that are killed, or hang ----------------------------------------------------------------------------------


STOPS = [
    pytest.param(kind, how, marks=[] if (kind, how) in QUICK_STOPS else pytest.mark.slow, id=f"{kind}, {how.name}")
    for kind in KINDS
    for how in (signal.SIGKILL, signal.SIGSTOP)
]


@pytest.mark.parametrize(("kind", "how"), STOPS)
def test_one_that_stops_is_left_out(tmp_path: Path, kind: str, how: signal.Signals) -> None:
    """Of four one may go. Before which message it stops does not matter, nor whether it dies or only says nothing."""
    town = Town(tmp_path)
    with town.serving(12 if kind == "keys" else 60, 3) as (url, office):
        gone = town.join(3, url, before=stops(kind, how))
        sums = [outcome(child) for child in [town.join(i, url) for i in range(3)]]
        gone.end()
        done = office.ended()

    assert sums == [town.total((0, 1, 2, 3) if kind in IN_THE_SUM else (0, 1, 2))] * 3
    assert done is not None and done["code"] == 0
    assert town.states()[3] == ("done" if kind in IN_THE_SUM else "vanished")
    assert "refused" not in done["err"] and "StudyOver" not in done["err"]  # after a success nobody was refused


@pytest.mark.parametrize(("kind", "how"), STOPS)
def test_two_that_stop_end_the_study(tmp_path: Path, kind: str, how: signal.Signals) -> None:
    """For everybody, with its name and with how many vanished."""
    town = Town(tmp_path)
    with town.serving(12 if kind == "keys" else 60, 3) as (url, office):
        gone = [town.join(i, url, before=stops(kind, how)) for i in (2, 3)]
        refused = [outcome(child) for child in [town.join(i, url, "--patience", 20) for i in (0, 1)]]
        for child in gone:
            child.end()
        failed = office.ended()

    assert refused == ["StudyEnded"] * 2
    assert failed is not None and failed["code"] == 2 and "TooFewParties" in json.dumps(failed["out"])
    assert town.states()[2:] == ["vanished"] * 2
    assert "2 have stopped answering" in json.dumps(failed["out"])


def test_an_office_to_which_nobody_comes(tmp_path: Path) -> None:
    """And one to which too few come: --wait ends both."""
    nobody, few = Town(tmp_path / "nobody"), Town(tmp_path / "few")
    with nobody.serving(0.5) as (_, office), few.serving(4) as (url, desk):
        party = few.join(0, url)
        ended = [office.ended(), desk.ended()]

        assert outcome(party) == "StudyEnded"
    assert [one and one["code"] for one in ended] == [2, 2]
    assert all("TooFewParties" in json.dumps(one) for one in ended)
    assert "0 of 4 parties joined" in json.dumps(ended[0]) and "4 have stopped answering" in json.dumps(ended[0])
    assert few.states() == ["left out", "vanished", "vanished", "vanished"] or few.states()[1:] == ["vanished"] * 3


def test_an_office_that_does_not_go_on(tmp_path: Path) -> None:
    """It answers for ever and never says anything: --wait of the party ends that, with a no that arrives."""
    town = Town(tmp_path)
    with town.serving(1e6) as (url, _):
        child = town.join(0, url, "--wait", 1)
        said = child.ended()

        assert said is not None and said["code"] == 2
        assert said["out"]["error"]["type"] == "TooFewParties" and "1 seconds" in said["out"]["error"]["message"]
        assert [parse_message(raw).kind for raw in events(town)] == [Kind.KEYS, Kind.REFUSE]
        again = town.join(0, url).ended()
    assert again is not None and again["out"]["error"]["type"] == "StudyEnded"


@pytest.mark.parametrize(
    "how", [signal.SIGKILL, pytest.param(signal.SIGSTOP, marks=pytest.mark.slow)], ids=["killed", "hangs"]
)
def test_an_office_that_is_gone(tmp_path: Path, how: signal.Signals) -> None:
    """Without an answer a party gives up after --patience; what it has joined it may go on with."""
    town = Town(tmp_path)
    with town.serving(1e6) as (url, office):
        child = town.join(0, url, "--patience", 1)
        while not events(town):
            time.sleep(0.05)
        os.kill(office.pid, how)
        assert outcome(child) == "Unreachable"
    joined = town.homes[0].store.study(town.study.digest)
    assert joined is not None and joined.state == "joined"


# -- parties that decline by themselves --------------------------------------------------------------------------------

RULES: dict[str, tuple[Any, ...]] = {
    "TooFewParties": ("--minimum-parties", 30),
    "ForbiddenColumn": ("--forbid-column", "ward"),
    "NoiseRequired": ("--require-noise",),
    "OverBudget": ("--budget", 1),
    "RareCondition": ("--minimum-cell", 30),
    "TooFewRows": ("--minimum-rows", 41),
}
ROWS: dict[str, str | bytes] = {
    "a type": "age,ward\n" + "old,icu\n" * 40,
    "a label": "age,ward\n" + "30,attic\n" * 40,
    "a bound": "age,ward\n" + "30,icu\n" * 39 + "121,icu\n",
    "a column": "age\n" + "30\n" * 40,
    "nobody": "age,ward\n",
    "few": "age,ward\n" + "30,icu\n" * 39,
    "no table": b"\x00\x01\xff\xfe" * 100,
    "a gap": "age,ward\n" + "30,icu\n" * 39 + ",icu\n",
    "a longer line": "age,ward\n" + "30,icu\n" * 39 + "30,icu,1\n",
}


def test_whatever_stops_a_party_it_declines_and_gives_no_reason(tmp_path: Path) -> None:
    """Its own rules, or its own rows. The same empty message leaves; the reason stays at its terminal, in its file."""
    town = Town(tmp_path, 40, 19)  # so many that all of these may go, and nothing ends meanwhile
    for i, rows in enumerate(ROWS.values(), len(RULES)):
        (town.folder / f"r{i}.csv").write_bytes(rows if isinstance(rows, bytes) else rows.encode())
    options = [*RULES.values(), *(() for _ in ROWS)]
    with town.serving(1e6) as (url, _):
        told = [invoke(*town.words(i, url, *more), "--json") for i, more in enumerate(options)]
        raws, states = events(town), town.states()

    assert [(parse_message(raw).kind, len(raw)) for raw in raws] == [(Kind.REFUSE, 108)] * len(options)
    assert states == ["declined"] * len(options) + ["awaited"] * (40 - len(options))
    for i, ran in enumerate(told):
        error = json.loads(ran.stdout)["error"]["type"]
        assert ran.exit_code == 2 and "told no, without a reason" in ran.stderr
        assert i >= len(RULES) or error == list(RULES)[i]
        decisions = town.homes[i].store.decisions()
        assert [one["decision"] for one in decisions] == ["refused", "declined"]
        assert decisions[0]["why"].startswith(error) and "rules or rows" in decisions[1]["why"]


def test_a_person_at_a_terminal_is_asked_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is not there, or another study than was meant, is no reason to decline; a stranger hears nothing."""
    town = Town(tmp_path)
    monkeypatch.setattr("murmure.cli.party_join._has_terminal", lambda: True)
    with town.serving(1e6) as (url, _):
        rows = ("--home", town.folder / "p0", "--rows", town.folder / "r0.csv")
        left = invoke("party", "join", url, *rows, "--minimum-parties", 9, typed="no\n")
        monkeypatch.setattr("murmure.cli.party_join._has_terminal", lambda: False)
        stranger = invoke("party", "join", url, *rows, "--minimum-parties", 9)
        assert stranger.exit_code == 2 and "requires at least 9" in stranger.stderr
        monkeypatch.setattr("murmure.cli.party_join._has_terminal", lambda: True)
        nowhere = invoke(*town.words(1, url), "--rows", "nowhere.csv")
        other = invoke("party", "join", url, *rows, "--minimum-parties", 3, "--approve", "0" * 64)
        assert events(town) == [] and "Nothing was sent" in left.stderr and "requires at least 9" in left.stderr
        assert [left.exit_code, nowhere.exit_code, other.exit_code] == [2, 2, 2]
        told = invoke("party", "join", url, *rows, "--minimum-parties", 9, typed="yes\n")
        assert len(events(town)) == 1 and "without a reason" in told.stderr


def test_when_a_party_declines_tells_an_order_of_magnitude(monkeypatch: pytest.MonkeyPatch) -> None:
    """2, 4, 8, 16 ... seconds after the study came, however long the rules and the rows took."""
    slept: list[float] = []
    now = [0.0]
    monkeypatch.setattr(invitation, "DECLINE_TICK", 2.0)
    monkeypatch.setattr(invitation.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(invitation.time, "sleep", slept.append)
    monkeypatch.setattr(invitation, "decline", lambda terms, client, why: None)

    store = SimpleNamespace(study=lambda digest: None)
    terms: Any = SimpleNamespace(home=SimpleNamespace(store=store), study=SimpleNamespace(digest=b""))
    client: Any = SimpleNamespace(patience=5.0)
    for took in (0.001, 0.5, 1.999, 2.001, 3.0, 17.3):
        now[0] = 100.0 + took
        assert invitation.decline_automatically(terms, client, 100.0)
        assert math.log2(took + slept[-1]) == pytest.approx(max(1, math.ceil(math.log2(took))))


def test_the_others_go_on_and_the_result_counts_who_declined_and_who_vanished(tmp_path: Path) -> None:
    """One declines by its rows, one is killed: the words of the result tell them apart."""
    model = TOML + '[[models]]\nmodel = "ols"\nformula = "age ~ ward"\n'
    town = Town(tmp_path, 8, 2, model.replace("rows = 1000", 'rows = 1000\nratio = "1"'))
    (town.folder / "r7.csv").write_text("age,ward\n")
    with town.serving(60, 4) as (url, office):
        children = [town.join(i, url) for i in range(6)]
        others = [town.join(6, url, before=stops("masked", signal.SIGKILL)), town.join(7, url)]
        sums = [outcome(child) for child in children]
        assert others[0].ended() is None and outcome(others[1]) == "EmptySource"
        ended = office.ended()

    assert ended is not None and ended["code"] == 0, ended
    assert sums == [town.total(range(6))] * 6
    assert town.states() == ["done"] * 6 + ["vanished", "declined"]
    assert invoke("study", "result", town.served.path, "--html", tmp_path / "r.html").exit_code == 0
    text = " ".join(invoke("study", "result", town.served.path).output.split())
    assert "Of 8 parties 6 are in the sums: 1 has declined and 1 has stopped answering." in text
    assert text.count("1 has declined and 1 has stopped answering") == 2 and "Hospital 5" in text
    page = (tmp_path / "r.html").read_text("utf-8")
    assert (
        "1 has declined and 1 has stopped answering" in page
        and "1 a refusé et 1 ne répond plus" in page
        and "the others have stopped" not in text
    )


# -- parties that send nonsense ----------------------------------------------------------------------------------------


def seals_nonsense() -> None:
    own = Party._split_secrets

    def wrong(party: Party, joined: JoinedParties) -> dict[int, tuple[bytes, bytes]]:
        return {i: one if i == party.index else (b"\xff" * 33,) * 2 for i, one in own(party, joined).items()}

    Party._split_secrets = wrong  # type: ignore[method-assign]


def cuts(kind: str) -> Any:
    """Signs a body that is cut short."""
    from murmure.secure.messages import sign_message

    def change() -> None:
        send = at_work.RoundRunner._send

        def sends(one: Any) -> None:
            for k, (what, raw) in enumerate(one.unsent):
                if what == kind:
                    message = parse_message(raw)
                    short = sign_message(
                        message.kind, message.session, message.sender, message.body[:-1], one.machine.identity
                    )
                    one.unsent[k] = what, short
            send(one)

        at_work.RoundRunner._send = sends  # type: ignore[method-assign]

    return change


def never_opens() -> None:
    """Says that it could not open what several others sealed."""
    party = Party._open_box
    Party._open_box = lambda one, other, box: None if other < 2 else party(one, other, box)  # type: ignore[method-assign]


LIES = {"seals nonsense": seals_nonsense, "accuses": never_opens, **{f"cuts {kind}": cuts(kind) for kind in KINDS}}
QUICK = ("seals nonsense", "cuts masked", "cuts reveal")


@pytest.mark.parametrize("lie", [one if one in QUICK else pytest.param(one, marks=pytest.mark.slow) for one in LIES])
def test_one_that_sends_nonsense_is_left_out_and_named(tmp_path: Path, lie: str) -> None:
    """At once: the patience of the office is longer than this test."""
    town = Town(tmp_path)
    with town.serving(100, 100) as (url, office):
        liar = town.join(3, url, "--patience", 1, before=LIES[lie])
        sums = [outcome(child) for child in [town.join(i, url) for i in range(3)]]
        liar.ended()
        liar_in_sum = lie in ("cuts agree", "cuts reveal")
        held, _ = joined_standing(town)
        os.kill(office.pid, signal.SIGKILL)

    assert sums == [town.total(range(3 + liar_in_sum))] * 3
    assert town.states() == ["done"] * 3 + (["done"] if liar_in_sum else ["unusable"])
    assert list(held["left"]) == ["3"] and held["left"]["3"][0] == "unusable"


def joined_standing(town: Town) -> Any:
    from murmure.parties.coordinator.store import read_progress

    return read_progress(town.served.log, town.study.digest)
