"""`murmure study`: from a card to a result; with `murmure party` at the other end, each in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from murmure.cli import main

STUDY = """
name = "Stay 2026"
purpose = "How long people stay, by age."
dropouts = 1
rows = 1000
least_rows = 10

[columns.age]
type = "integers"
low = 0
high = 120

[columns.stay]
type = "integers"
low = 0
high = 60

[[queries]]
sums = ["age", "stay"]

[[queries]]
sums = ["age * stay"]
"""
NAMES = ("North", "South", "East", "West")


def call(*args: Any) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args])


def data(*args: Any) -> Any:
    ran = call(*args, "--json")
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A coordinator, four parties and their rows."""
    (tmp_path / "study.toml").write_text(STUDY)
    data("study", "init", tmp_path / "office", "--name", "Office")
    for i, name in enumerate(NAMES):
        data("party", "init", tmp_path / name, "--name", name)
        rows = [f"{30 + i + k},{k}" for k in range(12)]
        (tmp_path / f"{name}.csv").write_text("age,stay\n" + "\n".join(rows) + "\n")
    return tmp_path


def new(place: Path) -> Path:
    cards = [place / name / "card.json" for name in NAMES]
    return Path(data("study", "new", place / "office", place / "study.toml", *cards)["folder"])


def truth(names: Any) -> tuple[int, int, int]:
    pairs = [(30 + NAMES.index(name) + k, k) for name in names for k in range(12)]
    return sum(a for a, _ in pairs), sum(s for _, s in pairs), sum(a * s for a, s in pairs)


def start(*args: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "murmure", *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_init(tmp_path: Path) -> None:
    """A key that nobody else reads, and a card that says nothing of it; a second time it is left alone."""
    held = data("study", "init", tmp_path / "office", "--name", "Office")
    key = tmp_path / "office" / "identity.key"

    assert held["card"] == json.loads((tmp_path / "office" / "card.json").read_text())
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert key.read_text().strip() not in json.dumps(held)
    before = key.read_text()
    ran = call("study", "init", tmp_path / "office", "--name", "Other")
    assert ran.exit_code == 2 and "exists" in ran.stderr and key.read_text() == before
    assert call("study", "init", tmp_path / "x", "--name", "a\nb").exit_code == 2 and not (tmp_path / "x").exists()


def test_new_and_show(place: Path) -> None:
    """The same words as the parties read; signed, in a folder of its own, and never overwritten."""
    folder = new(place)
    shown, held = call("study", "show", folder), data("study", "show", folder)

    assert folder == place / "office" / "stay-2026"
    assert [one["name"] for one in held["parties"]] == list(NAMES) and held["rounds"] == 2
    for line in held["words"]:
        assert " ".join(line.split()) in " ".join(shown.stdout.split())
    assert "Combien" not in shown.stdout and held["digest"] in shown.stdout
    assert data("study", "show", folder, "--lang", "fr")["words"] != held["words"]
    cards = [place / name / "card.json" for name in NAMES]
    ran = call("study", "new", place / "office", place / "study.toml", *cards)
    assert ran.exit_code == 2 and "already a study with this name" in ran.stderr
    assert data("study", "status", folder)["state"] == "gathering"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("new", "nowhere", "study.toml", "North/card.json"), "cannot read"),
        (("new", "office", "nothing.toml", "North/card.json", "South/card.json", "East/card.json"), "cannot read"),
        (("new", "office", "study.toml", "study.toml"), "is not a card"),
        (("new", "office", "study.toml", "North/card.json"), "parties"),
        (("show", "office"), "study.json"),
        (("status", "nowhere"), "cannot read"),
        (("result", "office"), "study.json"),
        (("run", "nowhere"), "cannot read"),
        (("run", "office", "--wait", "nan"), "--wait must be a number of seconds"),
        (("run", "office", "--patience", "-1"), "--patience must be a number of seconds"),
        (("run", "office", "--key", "k.pem"), "belong together"),
        (("run", "office", "--key", "k.pem", "--certificate", "c.pem"), "there is no file"),
        (("shwo", "office"), "did you mean show"),
    ],
)
def test_mistakes(place: Path, args: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence and a way out, as JSON too; never a traceback."""
    monkeypatch.chdir(place)
    for extra in ((), ("--json",)):
        ran = call("study", *args, *extra)
        assert ran.exit_code == 2 and said in ran.output, ran.output
        if extra:
            assert set(json.loads(ran.stdout)["error"]) == {"type", "message", "hint"}


def test_too_many_exact_sums(place: Path) -> None:
    """As many sums as rows could be solved for the rows: refused before anything is signed."""
    sums = ", ".join(f'"age * stay + {i}"' for i in range(40))
    (place / "study.toml").write_text(STUDY.replace('["age * stay"]', f"[{sums}]"))
    ran = call("study", "new", place / "office", place / "study.toml", *(place / n / "card.json" for n in NAMES))

    assert (
        ran.exit_code == 2
        and "CohortRefused"
        in call(
            "study", "new", place / "office", place / "study.toml", *(place / n / "card.json" for n in NAMES), "--json"
        ).stdout
    )
    assert not (place / "office" / "stay-2026").exists()


def test_no_result_yet(place: Path) -> None:
    ran = call("study", "result", new(place))
    assert ran.exit_code == 2 and "no result yet" in ran.stderr


def test_a_port_that_is_taken(place: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = call("study", "run", new(place), "--port", taken.getsockname()[1])
    assert ran.exit_code == 2 and "cannot listen" in ran.stderr


def test_from_cards_to_a_result(place: Path) -> None:
    """Three of four parties join, each a process; the coordinator is killed once in between, and the sums are exact."""
    folder = new(place)
    digest = data("study", "show", folder)["digest"]
    options = ("--patience", 20, "--json")
    office = start("study", "run", folder, "--port", 0, "--wait", 60, *options)
    assert office.stdout is not None
    said = json.loads(office.stdout.readline())
    port = said["url"].rsplit(":", 1)[1]
    assert said["event"] == "serving" and said["page"].startswith(said["url"] + "/?token=")
    common = ("--yes", "--approve", digest, "--minimum-parties", 3, "--json")
    parties = [
        start("party", "join", said["url"], "--rows", place / f"{name}.csv", "--home", place / name, *common)
        for name in NAMES[:3]
    ]
    end = time.monotonic() + 30
    while len([p for p in data("study", "status", folder)["parties"] if p["state"] == "answered"]) < 2:
        assert time.monotonic() < end
        time.sleep(0.05)
    os.kill(office.pid, signal.SIGKILL)
    office.communicate()
    assert "being" not in call("study", "status", folder).stderr
    office = start("study", "run", folder, "--port", port, "--wait", 7, *options)
    out, log = office.communicate(timeout=60)
    outs = [party.communicate(timeout=60) for party in parties]

    assert office.returncode == 0, log
    assert [party.returncode for party in parties] == [0, 0, 0], outs
    ended = json.loads(out.splitlines()[-1])
    figures = [figure["said"] for one in ended["results"] for figure in one["figures"]]
    assert tuple(map(int, figures)) == truth(NAMES[:3])
    assert ended["state"] == "done" and ended["results"][0]["people"] == 36
    assert [p["state"] for p in ended["parties"]] == ["done", "done", "done", "vanished"]
    assert "token" not in log and "Traceback" not in log

    held = data("study", "result", folder, "--html", place / "r.html")
    assert held["results"] == ended["results"] and "Résultats" in (place / "r.html").read_text("utf-8")
    shown = call("study", "result", folder).stdout
    assert f"{truth(NAMES[:3])[2]:,}" in shown and "of 3 parties: North, South and East." in shown
    assert shown.count("The totals are exact: no differential privacy") == 2  # once a round
    assert "the coordinator with 1 of the parties: The sum over the others in it" in shown
    assert "any reader: The exact total" in shown and "done" in call("study", "status", folder).stdout


def test_a_study_that_fails_says_why(place: Path) -> None:
    """Everybody declines: exit code 2 and the reason, for people and for machines; nothing was learnt."""
    folder = new(place)
    office = start("study", "run", folder, "--port", 0, "--patience", 2)
    assert office.stdout is not None
    url = office.stdout.readline().split()[-1]
    for name in NAMES[:2]:
        ran = call("party", "decline", url, "--home", place / name)
        assert ran.exit_code == 0, ran.output
    for name in NAMES[2:]:
        call("party", "decline", url, "--home", place / name)
    _, err = office.communicate(timeout=40)

    assert office.returncode == 2 and "TooFewParties" in err and "Traceback" not in err
    assert "ended without a result" in call("study", "result", folder).stderr
    assert data("study", "status", folder)["ended"]["error"] == "TooFewParties"


def test_stopped_by_hand(place: Path) -> None:
    """Ctrl-C and SIGTERM end it at once and tidily, also while somebody waits."""
    office = start("study", "run", new(place), "--port", 0)
    assert office.stdout is not None
    assert "Parties join at" in office.stdout.readline() and "?token=" in office.stdout.readline()
    time.sleep(0.3)
    begun = time.monotonic()
    office.send_signal(signal.SIGTERM)
    _, err = office.communicate(timeout=20)

    assert office.returncode == 130 and "Traceback" not in err and time.monotonic() - begun < 10
