"""`murmure class`, as a teacher holds it: real processes, real reports, Ctrl-C, and nothing left behind."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import sys
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner, Result

pytest.importorskip("httptools")
pytest.importorskip("msgspec")
pytest.importorskip("argon2")
pytest.importorskip("segno")
if sys.platform == "win32":
    pytest.skip("terminals and signals of Unix", allow_module_level=True)

from tests.cli.lesson_processes import CTRL_C, LINK, Terminal, running
from tests.show.languages import english_lines, french_lines

from murmure.cli import main
from murmure.cli.class_room import survey_document
from murmure.cli.terminal_qr import BORDER, qr_lines
from murmure.collector.client import SurveyClient
from murmure.collector.http.server import ServeSettings
from murmure.collector.http.survey_session import survey_session
from murmure.collector.survey.survey import Survey
from murmure.core.serving import listening

ONLY_HERE = ("--host", "127.0.0.1", "--port", "0", "--no-open")


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["class", *args], catch_exceptions=False)


def status(address: str, cookie: str | None = None) -> tuple[int, dict[str, str], str]:
    """Redirects are not followed."""
    parts = urlsplit(address)
    with closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)) as line:
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        line.request("GET", path, headers={"Cookie": cookie} if cookie else {})
        reply = line.getresponse()
        return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read().decode()


# -- a lesson ----------------------------------------------------------------------------------------------------------


def test_a_lesson_from_the_first_report_to_nothing(tmp_path: Path) -> None:
    """Three people answer, the projector's link signs in once, Ctrl-C gives the figures and leaves no file."""
    with running(tmp_path, "class", "--json", "--people", "25", *ONLY_HERE) as session:
        opened = session.event("open")
        for answer in ("yes", "no", "yes"):
            assert SurveyClient(opened["link"]).answer(answer).stored == "now"
        while session.event("answers")["answers"] < 3:
            pass
        first, headers, _ = status(opened["projector"])
        again = status(opened["projector"])[0]
        projector = f"http://127.0.0.1:{opened['port']}{headers['location']}"
        page = status(projector, headers["set-cookie"].partition(";")[0])[2]
        assert (first, again) == (303, 403)
        assert "Have you ever cheated in an exam?" in page and ">3</b> of 25 have answered" in page
        assert len(session.left) == 1
        session.process.send_signal(signal.SIGINT)
        closed = session.event("closed")
        out, err = session.process.communicate(timeout=60)

        assert (session.process.returncode, out, err) == (0, "", "")
        assert closed["answers"] == 3 and closed["results"]["state"] == "closed"
        assert [row["label"] for row in closed["results"]["release"]["figures"]] == ["no", "yes"]
        assert closed["attack"]["odds_at_most"] == pytest.approx(3)
        assert session.left == []


@pytest.mark.parametrize(("lang", "other"), [("fr", english_lines), ("en", french_lines)], ids=["fr", "en"])
def test_a_lesson_speaks_one_language(tmp_path: Path, lang: str, other: Any) -> None:
    with running(tmp_path, "class", *ONLY_HERE, "--lang", lang) as session:
        assert session.process.stdout is not None
        told = ""
        while (link := LINK.search(told)) is None:
            told += session.process.stdout.readline()
        SurveyClient(link[0]).answer("yes")
        told += "".join(session.stop(signal.SIGINT))

        assert session.process.returncode == 0
        assert other(told) == []


def test_a_terminal_shows_a_code_and_ends_with_the_figures(tmp_path: Path) -> None:
    """In a terminal: links, the count, then Ctrl-C; exit code 0, no traceback, nothing left."""
    terminal = Terminal(tmp_path, "class", *ONLY_HERE)
    terminal.wait_for("Ctrl-C ends the lesson")
    link = LINK.search(terminal.shown)
    assert link is not None
    SurveyClient(link[0]).answer("yes")
    terminal.wait_for("1 of 30 has answered")
    terminal.type(CTRL_C)

    assert terminal.exit_code() == 0
    assert "The room attacks its own reports" in terminal.shown and "Traceback" not in terminal.shown
    assert list(terminal.temporary.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_end_it_as_ctrl_c_does(tmp_path: Path, number: int) -> None:
    with running(tmp_path, "class", *ONLY_HERE) as session:
        assert session.process.stdout is not None
        while "Ctrl-C ends the lesson" not in session.process.stdout.readline():
            pass
        out, err = session.stop(number)

        assert (session.process.returncode, out, err) == (0, "Nobody has answered.\n", "")
        assert session.left == []


def test_a_second_ctrl_c_leaves_at_once_and_nothing_behind(tmp_path: Path) -> None:
    """Whatever the command is doing: three of them in a row."""
    terminal = Terminal(tmp_path, "class", *ONLY_HERE)
    terminal.wait_for("Ctrl-C ends the lesson")
    terminal.type(CTRL_C * 3)

    assert terminal.exit_code() in (0, 130)  # 0: it had ended before the second was heard
    assert "Traceback" not in terminal.shown and "Exception" not in terminal.shown
    assert list(terminal.temporary.iterdir()) == []


def test_a_terminal_that_is_closed(tmp_path: Path) -> None:
    """Nobody can read the figures any more; the folder is removed all the same."""
    terminal = Terminal(tmp_path, "class", *ONLY_HERE)
    terminal.wait_for("Ctrl-C ends the lesson")
    terminal.hang_up()

    assert list(terminal.temporary.iterdir()) == []


def test_a_folder_that_is_named_is_kept(tmp_path: Path) -> None:
    """With its reports, and `murmure serve` reads it."""
    with running(tmp_path, "class", "--json", "--folder", "lesson", *ONLY_HERE) as session:
        SurveyClient(session.event("open")["link"]).answer("no")
        session.stop(signal.SIGINT)
        assert session.left == []
    checked = CliRunner().invoke(main, ["serve", "check", "--folder", str(tmp_path / "lesson"), "--json"])

    assert [survey["answers"] for survey in json.loads(checked.stdout)["surveys"]] == [[1]]


# -- where it listens --------------------------------------------------------------------------------------------------


def test_the_usual_port_in_use_is_no_obstacle(tmp_path: Path) -> None:
    """Without --port another free one is taken; a port that was asked for and is taken is an error."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = run("--host", "127.0.0.1", "--port", str(port), "--no-open")

    assert refused.exit_code == 2 and f"cannot listen at '127.0.0.1' port {port}" in refused.stderr


def test_without_a_port_another_one_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from murmure.cli import lesson_screen

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setattr(lesson_screen, "USUAL_PORT", taken.getsockname()[1])
        assert lesson_screen.usual_port("127.0.0.1") == 0
    assert lesson_screen.usual_port("127.0.0.1") == lesson_screen.USUAL_PORT


def test_the_ticket_does_not_cross_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Listening everywhere without TLS: telephones get the network's address, the projector's link this machine's."""
    from murmure.collector.http import server

    monkeypatch.setattr(server, "reachable_address", lambda: "192.0.2.7")
    with survey_session(tmp_path, DOCUMENT, ServeSettings(host="0.0.0.0")) as session:
        assert session.link.startswith(f"http://192.0.2.7:{session.urls.port}/s/")
        assert session.projector().startswith(f"http://127.0.0.1:{session.urls.port}/sign-in/")
        assert session.projector() != session.projector()
    with survey_session(tmp_path, DOCUMENT, ServeSettings(public_url="https://survey.example.org")) as session:
        assert session.projector().startswith("https://survey.example.org/sign-in/")


def test_plain_http_on_a_network_is_said_and_so_is_no_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from murmure.cli.lesson_screen import only_here, warn_plain_network
    from murmure.collector.http import server

    for address, said in (("192.0.2.7", True), (None, False)):
        monkeypatch.setattr(server, "reachable_address", lambda address=address: address)
        with survey_session(tmp_path, DOCUMENT, ServeSettings(host="0.0.0.0")) as session:
            warn_plain_network(session)
            assert only_here(session) != said
        assert ("plain HTTP" in capfd.readouterr().err) == said


def test_no_network_is_the_address_of_this_machine() -> None:
    """What the machine of this test says: an address, or none; never that of the machine itself."""
    assert listening.reachable_address() not in listening.LOOPBACK


# -- the question ------------------------------------------------------------------------------------------------------

DOCUMENT = survey_document(None, None, None, None, None, 1.0, 25)


def test_warners_question_is_asked_without_any_option() -> None:
    survey = Survey.from_dict(DOCUMENT)

    assert survey.questions[0].kind == "yes-no" and survey.questions[0].text.fr
    assert survey.people == 25


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"choice": "foot,bus,car"}, "choice"),
        ({"scale": "no,rather,yes"}, "scale"),
        ({"number": "0:80"}, "number"),
        ({}, "yes-no"),
    ],
)
def test_every_kind_of_question(given: dict[str, str], kind: str) -> None:
    options: dict[str, Any] = {"choice": None, "scale": None, "number": None} | given
    survey = Survey.from_dict(survey_document("Why?", None, **options, epsilon=1.0, people=25))

    assert survey.questions[0].kind == kind and survey.questions[0].text.fr == "Why?"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--choice", "a,b", "--scale", "a,b", "--question", "x"], "exclude one another"),
        (["--choice", "a,b"], "there is no question"),
        (["--number", "low", "--question", "x"], "two whole numbers"),
        (["--number", "9:3", "--question", "x"], "greater than the lowest"),
        (["--choice", "a", "--question", "x"], "2 to 1,000 options"),
        (["--epsilon", "99"], "from 0.01 to 8"),
        (["--people", "0"], "people"),
        (["--certificate", "c.pem"], "belong together"),
        (["--public-url", "nowhere"], "--public-url"),
        (["--host", "not an address"], "cannot listen"),
    ],
)
def test_what_cannot_be_asked_or_served(args: list[str], said: str, tmp_path: Path) -> None:
    """One sentence, exit code 2; with --json as JSON; nothing is made."""
    plain, as_json = run(*args, "--no-open"), run(*args, "--no-open", "--json")

    assert plain.exit_code == 2 and plain.stderr.startswith("Error: ") and said in " ".join(plain.stderr.split())
    assert as_json.exit_code == 2 and said in json.loads(as_json.stdout)["error"]["message"]


# -- the code ----------------------------------------------------------------------------------------------------------


def test_the_code_in_the_terminal_is_the_code_of_the_link() -> None:
    """Read back from colours: every module, with a quiet zone of four; black on white in every palette."""
    import re

    import segno

    link = "http://192.168.100.200:8480/s/k3v9q2mdx7ab#p=0123456789abcdef"
    rows: list[list[int]] = []
    for line in qr_lines(link):
        upper: list[int] = []
        lower: list[int] = []
        for ink, paper, blocks in re.findall(r"\x1b\[38;5;(\d+);48;5;(\d+)m(\u2580+)", line):
            assert {ink, paper} <= {"16", "231"}
            upper += [int(ink == "16")] * len(blocks)
            lower += [int(paper == "16")] * len(blocks)
        assert line.endswith("\x1b[0m")
        rows += [upper, lower]
    code = segno.make(link, micro=False, error="m")
    expected = [list(row) for row in code.matrix_iter(border=BORDER)]

    assert rows[: len(expected)] == expected
    assert not any(rows[-1][:]) and len(rows[0]) <= 49


def test_a_page_of_the_service_is_reachable_by_its_link(tmp_path: Path) -> None:
    with survey_session(tmp_path, DOCUMENT, ServeSettings()) as session, urllib.request.urlopen(session.link) as page:
        assert page.status == 200
