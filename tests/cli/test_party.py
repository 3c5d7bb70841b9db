"""`murmure party`: from a key to a result, with the real coordinator; and every way to say no."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from murmure.cli import main, party_join
from murmure.ledger.ledger import Ledger
from murmure.parties.coordinator.folders import CoordinatorFolder, StudyFolder
from murmure.parties.party.folder import PartyFolder as PartyHome
from murmure.parties.study.document import Study

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
TOML = """
name = "Stay 2026"
purpose = "How long people stay, by age."
minimum_parties = 3
least_rows = 3
rows = 1000

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
"""
ROWS = [
    [(40, 1), (50, 2), (60, 3), (61, 4)],
    [(20, 5), (30, 6), (31, 7), (32, 8)],
    [(70, 9), (80, 10), (81, 0), (82, 0)],
]
TOTAL = ["12", str(sum(age for rows in ROWS for age, _ in rows)), str(sum(stay for rows in ROWS for _, stay in rows))]


def call(*args: Any, typed: str | None = None) -> Result:
    return CliRunner().invoke(main, ["party", *map(str, args)], input=typed)


def data(*args: Any) -> Any:
    ran = call(*args, "--json")
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


def refused(*args: Any) -> tuple[str, str]:
    """Exit code 2, the error's name and what it says."""
    ran = call(*args, "--json")
    assert ran.exit_code == 2, ran.output
    said = json.loads(ran.stdout)["error"]
    assert call(*args).exit_code == 2
    return said["type"], said["message"]


def forked(work: Callable[[int], None]) -> tuple[int, int]:
    here, there = os.pipe()
    pid = os.fork()
    if pid:
        os.close(there)
        return pid, here
    try:
        os.close(here)
        work(there)
    finally:
        os._exit(0)


class Town:
    """An office, three parties with rows, and a study."""

    def __init__(self, folder: Path, toml: str = TOML) -> None:
        self.folder = folder
        self.parties = [PartyHome.create(folder / f"p{i}", f"Hospital {i}") for i in range(3)]
        for i, rows in enumerate(ROWS):
            (folder / f"r{i}.csv").write_text("age,stay\n" + "".join(f"{a},{s}\n" for a, s in rows))
        (folder / "study.toml").write_text(toml)
        self.home = CoordinatorFolder.create(folder / "office", "Office")
        cards = tuple(one.card for one in self.parties)
        self.study = Study.from_toml(folder / "study.toml", cards, self.home.card)
        self.served = StudyFolder.create(self.home, self.study)
        self.digest = self.study.digest.hex()

    @contextmanager
    def serving(self) -> Iterator[str]:
        from murmure.parties.http.server import ServerSettings, serve

        def work(pipe: int) -> None:
            serve(
                self.served, ServerSettings(once=False), lambda where: (os.write(pipe, where.parties.encode()), None)[1]
            )

        pid, pipe = forked(work)
        try:
            yield os.read(pipe, 100).decode()
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(pipe)

    def join(self, i: int, url: str, *more: Any) -> tuple[Any, ...]:
        rows = ("--rows", self.folder / f"r{i}.csv", "--ledger", self.folder / f"l{i}.db")
        return "join", url, "--home", self.folder / f"p{i}", *rows, *more

    def child(self, i: int, url: str) -> int:
        """A party that says yes, in a process of its own."""
        ok = ("--approve", self.digest, "--minimum-parties", 3)
        pid, pipe = forked(lambda pipe: os.write(pipe, call(*self.join(i, url, *ok)).output.encode()) and None)
        os.close(pipe)
        return pid

    def came(self) -> int:
        """How many messages the coordinator accepted."""
        import sqlite3

        connection = sqlite3.connect(f"{self.served.log.as_uri()}?mode=ro", uri=True, timeout=10)
        try:
            return int(connection.execute("SELECT count(*) FROM murmure_events WHERE kind = 'message'").fetchone()[0])
        finally:
            connection.close()


@pytest.fixture
def town(tmp_path: Path) -> Town:
    return Town(tmp_path)


# -- key and card ------------------------------------------------------------------------------------------------------


def test_init_and_card(tmp_path: Path) -> None:
    """A key for its owner's eyes, a card for everybody's; a second init changes nothing."""
    home = tmp_path / "h"
    ran = call("init", home, "--name", "Hôpital A")
    card = data("card", "--home", home)

    assert ran.exit_code == 0 and card["fingerprint"] in ran.output and "card.json" in ran.output
    assert json.loads((home / "card.json").read_text("utf-8")) == card["card"]
    assert card["card"]["name"] == "Hôpital A"
    secret = (home / "identity.key").read_text().strip()
    assert secret not in ran.output and (home / "identity.key").stat().st_mode & 0o777 == 0o600
    assert refused("init", home, "--name", "B")[0] == "InvalidParameter"
    assert refused("init", tmp_path / "x", "--name", " ")[0] == "InvalidParameter" and not (tmp_path / "x").exists()
    assert (home / "identity.key").read_text().strip() == secret
    assert refused("card", "--home", tmp_path / "nowhere")[0] == "StoreFailed"


def test_nothing_was_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call("init", tmp_path / "h", "--name", "A")
    monkeypatch.setenv("MURMURE_PARTY", str(tmp_path / "h"))

    assert "No study was joined" in call("status").output and data("status")["studies"] == []
    assert "Nothing was decided" in call("history").output and data("history") == {
        "decisions": [],
        "released": [],
        "paid": [],
    }
    monkeypatch.setenv("MURMURE_PARTY", str(tmp_path / "nowhere"))
    assert refused("status")[0] == "StoreFailed"


def test_a_result_that_is_not_there(tmp_path: Path) -> None:
    call("init", tmp_path / "h", "--name", "A")

    assert refused("result", "--home", tmp_path / "h")[0] == "UsageError"


# -- a study -----------------------------------------------------------------------------------------------------------


def test_look_join_and_history(town: Town) -> None:
    """What is asked, in two languages; the exact sums, from the command's own mouth; and what is remembered."""
    with town.serving() as url:
        words, mots = call("look", url, "--home", town.folder / "p0"), call("look", url, "--lang", "fr")
        held = data("look", url, "--home", town.folder / "p0")
        others = [town.child(i, url) for i in (1, 2)]
        result = data(*town.join(0, url, "--approve", town.digest, "--minimum-parties", 3))
        for pid in others:
            os.waitpid(pid, 0)
        again = call(*town.join(0, url, "--minimum-parties", 3))  # joined before: nobody is asked
        (town.folder / "r0.csv").write_text("age,stay\n1,1\n2,2\n3,3\n4,4\n")
        other = refused(*town.join(0, url, "--minimum-parties", 3))

    assert words.exit_code == mots.exit_code == 0
    assert town.digest in words.output and "(you)" in words.output and "(vous)" not in mots.output
    assert "Who takes part" in words.output and "Qui participe" in mots.output
    assert "\n  - the sum of" in words.output and "-   -" not in words.output + mots.output  # a list in a list
    for one in town.parties:
        assert one.card.fingerprint in words.output
    assert held["digest"] == town.digest and [one["you"] for one in held["parties"]] == [True, False, False]
    (sums,) = result["results"]
    assert sums["sums"] == TOTAL and sums["cohort"] == ["Hospital 0", "Hospital 1", "Hospital 2"] and sums["exact"]
    assert again.exit_code == 0 and TOTAL[1] in again.stdout and TOTAL[2] in again.stdout
    assert other[0] == "OtherRows"
    for which in ((), (town.digest[:8],)):  # said again from what is kept here
        assert data("result", *which, "--home", town.folder / "p0") == result
    assert refused("result", "Another study", "--home", town.folder / "p0")[0] == "UsageError"
    (study,) = data("status", "--home", town.folder / "p0")["studies"]
    assert study["state"] == "done" and study["sums"] == [TOTAL] and study["url"] == url
    history = data("history", "--home", town.folder / "p0")
    assert [one["decision"] for one in history["decisions"]] == ["approved", "finished"]
    assert history["released"][0]["columns"] == ["age", "stay", "the number of rows"]
    assert len(history["released"][0]["members"]) == 3 and history["paid"] == []
    text = call("history", "--home", town.folder / "p0").output
    assert (
        "exact sums of “age”, “stay” and the number of rows over 3 parties" in text and "approved by its digest" in text
    )


NOISE = """
[noise]
law = "DiscreteLaplace"
epsilon = 1.0
"""


def test_what_noisy_studies_cost_in_all(town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A noisy study is paid for; the next says so, is refused over the budget, and joined within it."""
    cards = tuple(one.card for one in town.parties)
    for name in ("First", "Second"):
        (tmp_path / "noisy.toml").write_text(TOML.replace("Stay 2026", name) + NOISE)
        town.study = Study.from_toml(tmp_path / "noisy.toml", cards, town.home.card)
        town.served = StudyFolder.create(town.home, town.study)
        town.digest = town.study.digest.hex()
        with town.serving() as url:
            own = town.join(0, url, "--minimum-parties", 3, "--approve", town.digest)
            if name == "Second":
                over = refused(*own, "--budget", 1.9, "--rows", "none.csv", "--no-decline")
                assert over[0] == "OverBudget"  # before rows are read
                assert refused(*own, "--delta", 1e-6)[0] == "UsageError" and town.came() == 0
                words, mots = (
                    call("look", url, "--home", town.folder / "p0", "--lang", lang).output for lang in ("en", "fr")
                )
                monkeypatch.setattr(party_join, "_has_terminal", lambda: True)
                asked = call(*town.join(0, url, "--minimum-parties", 3), typed="later\n")
                assert "have already cost your rows epsilon = 1, in “First”." in " ".join(words.split())
                assert "With this study it will be epsilon = 2." in words and "ce sera epsilon = 2." in mots
                assert "With this study it will be epsilon = 2." in asked.stdout
            others = [town.child(i, url) for i in (1, 2)]
            assert call(*own, "--budget", 2).exit_code == 0
            for pid in others:
                os.waitpid(pid, 0)
    for command in ("status", "history"):
        text = call(command, "--home", town.folder / "p0").output
        assert "Paid so far, for column “age”: epsilon = 2 in 2 noisy studies (protects one row, in the data or" in text
        paid = data(command, "--home", town.folder / "p0")["paid"]
        assert [(one["column"], one["epsilon"], one["delta"]) for one in paid] == [
            ("age", 2.0, 0.0),
            ("stay", 2.0, 0.0),
        ]
    assert "noisy sums of “age” and “stay” over 3 parties" in text


def test_a_noisy_study_is_charged_to_the_account_of_the_rows(town: Town, tmp_path: Path) -> None:
    """The ledger of a party's own questions holds it, once; what is left there stops the next study."""
    cards = tuple(one.card for one in town.parties)
    (tmp_path / "noisy.toml").write_text(TOML.replace("Stay 2026", "First") + NOISE)
    town.study = Study.from_toml(tmp_path / "noisy.toml", cards, town.home.card)
    town.served = StudyFolder.create(town.home, town.study)
    town.digest = town.study.digest.hex()
    ledger = Ledger(town.folder / "l0.db")
    ledger.set_budget("r0.csv", 1.75)
    with town.serving() as url:
        own = town.join(0, url, "--minimum-parties", 3, "--approve", town.digest)
        others = [town.child(i, url) for i in (1, 2)]
        assert call(*own).exit_code == 0
        for pid in others:
            os.waitpid(pid, 0)
        assert call(*own).exit_code == 0  # again: the result is there, and nothing is paid twice
    (entry,) = (entry for entry in ledger.history() if entry.kind == "charge")

    assert (entry.dataset, entry.epsilon, entry.plan) == ("r0.csv", 1.0, f"{town.digest} round 1")
    assert ledger.left("r0.csv").epsilon == 0.75 and ledger.verify() == 2
    assert Ledger(town.folder / "l1.db").spent("r1.csv").epsilon == 1.0  # without a budget it is added up
    (tmp_path / "second.toml").write_text(TOML.replace("Stay 2026", "Second") + NOISE)
    town.study = Study.from_toml(tmp_path / "second.toml", cards, town.home.card)
    town.served = StudyFolder.create(town.home, town.study)
    with town.serving() as url:
        again = town.join(0, url, "--minimum-parties", 3, "--approve", town.study.digest.hex(), "--no-decline")
        kind, said = refused(*again)
        # A ledger that is newer than the first study: what that cost counts there too.
        late = town.folder / "late.db"
        Ledger(late).set_budget("r0.csv", 1.75)
        also = refused(*again, "--ledger", late)[0]
        assert town.came() == 0
    assert kind == also == "OverBudget" and "does not cover this" in said


def test_a_key_that_changed(town: Town, tmp_path: Path) -> None:
    """Hospital 2 comes with another key: refused by name, until somebody says that they asked."""
    study, p0 = town.study, town.parties[0]
    p0.store.join(study.digest, "http://127.0.0.1:1", study.coordinator, "S", b"", bytes(32), "test", study.roster)
    (tmp_path / "later.toml").write_text(TOML.replace("Stay 2026", "Later"))
    stranger = PartyHome.create(tmp_path / "stranger", "Hospital 2").card
    later = Study.from_toml(tmp_path / "later.toml", (*study.roster[:2], stranger), town.home.card)
    town.served = StudyFolder.create(town.home, later)
    with town.serving() as url:
        args = town.join(0, url, "--minimum-parties", 3, "--approve", later.digest.hex())
        kind, said = refused(*args)
        told = call("look", url, "--home", p0.folder).output
        taken = refused(*args, "--accept-new-key", "Hospital 2", "--rows", "nothing.csv")
        assert town.came() == 0
    assert kind == "OtherKey" and stranger.fingerprint in said and study.roster[2].fingerprint in said
    assert "“Hospital 2” has another key than in the studies that you joined before" in told
    assert taken[0] not in ("OtherKey", "UsageError")  # on to the rows, which are not there


def test_refusals_before_anything_is_sent(town: Town) -> None:
    """By name, each; with --no-decline the coordinator's log stays empty, and what is wrong can be mended."""
    with town.serving() as url:
        yes = ("--approve", town.digest, "--no-decline")
        three = (*yes, "--minimum-parties", 3)
        assert refused(*town.join(0, url, *yes)) == (
            "TooFewParties",
            "question 1 of 'Stay 2026' may be answered by 3 parties; this party requires at least 5.",
        )
        assert refused(*town.join(0, url, "--minimum-parties", 2))[0] == "InvalidParameter"
        assert refused(*town.join(0, url, *three, "--forbid-column", "Stay"))[0] == "ForbiddenColumn"
        assert refused(*town.join(0, url, *three, "--require-noise"))[0] == "NoiseRequired"
        assert refused(*town.join(0, url, *three, "--minimum-rows", 5))[0] == "TooFewRows"
        assert refused(*town.join(0, url, "--approve", "0" * 64, "--minimum-parties", 3))[0] == "OtherStudy"
        assert refused(*town.join(0, url, "--minimum-parties", 3))[0] == "NotApproved"
        assert refused(*town.join(0, url, "--minimum-parties", 3, "--yes"))[0] == "NotApproved"
        wrong = ("--yes", "--coordinator-fingerprint", "0000 " * 8)
        assert refused(*town.join(0, url, "--minimum-parties", 3, *wrong))[0] == "OtherCoordinator"
        (town.folder / "r0.csv").write_text("age,stay\n40,1\n50,2\n121,3\n")
        kind, said = refused(*town.join(0, url, *three))
        assert kind == "OutsideDomain" and "row 3 (the first is row 1; line 4 of the CSV" in said
        (town.folder / "r0.csv").write_text("age\n40\n50\n60\n")
        assert refused(*town.join(0, url, *three))[0] == "MissingColumn"
        assert refused("join", url, "--home", town.folder / "p0", *three)[0] == "UsageError"
        stranger = PartyHome.create(town.folder / "p9", "Hospital 0")
        assert refused("join", url, "--home", stranger.folder, "--rows", "x.csv", *three)[0] == "NotOnRoster"
        assert town.came() == 0
    assert data("status", "--home", town.folder / "p0")["studies"] == []
    kinds = [one["why"].split(":")[0] for one in data("history", "--home", town.folder / "p0")["decisions"]]
    rules = {"TooFewParties", "ForbiddenColumn", "NoiseRequired", "OtherStudy", "OtherCoordinator"}
    assert rules | {"TooFewRows", "OutsideDomain", "MissingColumn"} == set(kinds)


@pytest.mark.parametrize(
    ("lang", "yes", "no"),
    [("en", "yes", "no"), ("fr", "oui", "non"), ("en", "y", "n"), ("en", "oui", "non"), ("fr", "y", "n")],
)
def test_a_person_decides(town: Town, lang: str, yes: str, no: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a terminal: leave without a word, say no, or say yes; a yes after a no is refused at home."""
    monkeypatch.setattr(party_join, "_has_terminal", lambda: True)
    with town.serving() as url:
        options = ("--minimum-parties", 3, "--lang", lang)
        left = call(*town.join(0, url, *options), typed="later\n")
        assert left.exit_code == 1 and "Error" not in left.stderr and town.came() == 0
        assert left.stdout.endswith({"en": "Nothing was sent.\n", "fr": "Rien n’a été envoyé.\n"}[lang])
        assert town.digest in left.stdout
        declined = call(*town.join(0, url, *options), typed=f"{no}\n")
        assert declined.exit_code == 1 and "Error" not in declined.stderr and town.came() == 1
        assert {"en": "The coordinator has been told.", "fr": "Le coordinateur en est informé."}[
            lang
        ] in declined.stdout
        late = call(*town.join(0, url, *options), typed=f"{yes}\n")
        said = {"en": ("this party declined", "new study"), "fr": ("ce participant a refusé", "nouvelle étude")}[lang]
        assert late.exit_code == 2 and all(part in late.stderr for part in said)


def test_decline(town: Town) -> None:
    with town.serving() as url:
        assert data("decline", url, "--home", town.folder / "p0")["declined"] is True
        assert town.came() == 1
    assert [one["decision"] for one in data("history", "--home", town.folder / "p0")["decisions"]] == ["declined"]


def test_another_coordinator_under_the_same_address(town: Town, tmp_path: Path) -> None:
    """The first join pins the key; whoever signs with another is refused, whatever is approved."""
    home = town.parties[0]
    study = town.study
    home.store.join(study.digest, "http://127.0.0.1:1", study.coordinator, study.name, b"", bytes(32), "test")
    (tmp_path / "other").mkdir()
    other = Town(tmp_path / "other")
    with other.serving() as url:
        with home.store.file.writing() as run:
            run("UPDATE coordinators SET url = ?", url)
        args = (
            "join",
            url,
            "--home",
            home.folder,
            "--rows",
            "x.csv",
            "--approve",
            other.digest,
            "--minimum-parties",
            3,
        )
        kind, said = refused(*args)
    assert kind == "OtherCoordinator" and study.coordinator.fingerprint in said


def test_nobody_answers(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = importlib.import_module("murmure.cli.party")  # murmure.cli.party itself is the group
    monkeypatch.setattr(commands, "FIRST_PATIENCE", 0.1)
    assert refused("look", "http://127.0.0.1:9")[0] == "Unreachable"
    assert refused("look", "http://office.example")[0] == "Untrusted"
    kind, said = refused("look", "https://me:s3cret@office.example")
    assert kind == "InvalidParameter" and "s3cret" not in said
    assert refused(*town.join(0, "http://127.0.0.1:9", "--patience", -1))[0] == "UsageError"


def test_killed_and_started_again(town: Town) -> None:
    """The real command, kill -9 once it has joined: the same command goes on, and the sum is exact."""
    with town.serving() as url:
        command = [sys.executable, "-m", "murmure", "party", *map(str, town.join(0, url))]
        command += ["--approve", town.digest, "--minimum-parties", "3", "--json", "--verbose"]
        first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        end = time.monotonic() + 30
        while town.came() < 1 and time.monotonic() < end:
            time.sleep(0.02)
        first.kill()
        first.communicate()
        others = [town.child(i, url) for i in (1, 2)]
        second = subprocess.run(command, capture_output=True, timeout=60)
        for pid in others:
            os.waitpid(pid, 0)

    assert first.returncode == -signal.SIGKILL
    assert json.loads(second.stdout)["results"][0]["sums"] == TOTAL
    lines = second.stderr.decode().splitlines()
    assert any("joined before" in line for line in lines) and any("RESULT heard" in line for line in lines)
    secrets = [(town.folder / "p0/identity.key").read_text().strip(), str(sum(age for age, _ in ROWS[0]))]
    assert not any(secret in line.split("]", 1)[-1] for secret in secrets for line in lines)


def test_a_party_imports_little() -> None:
    """Thirty parties share a machine: no pandas, scipy or pyarrow before rows need them, and no web server at all."""
    code = (
        "import sys, murmure.cli, murmure.parties.party.invitation, murmure.parties.http.client\n"
        "import murmure.parties.study.document\n"
        "heavy = 'pandas scipy pyarrow numba starlette uvicorn rich duckdb'.split()\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
