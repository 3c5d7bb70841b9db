"""`murmure serve`, as a real process and as commands on its folder."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

pytest.importorskip("httptools")
pytest.importorskip("msgspec")
pytest.importorskip("argon2")

from murmure.cli import main
from murmure.collector.service.collector import Collector
from murmure.plan.sent_reports import answer

DOCUMENT = {
    "murmure_survey": 1,
    "title": {"en": "Exams", "fr": "Examens"},
    "questions": [
        {"name": "cheated", "kind": "yes-no", "text": {"en": "Have you ever cheated?", "fr": "Déjà triché ?"}}
    ],
    "people": 500,
    "epsilon": 1.0,
    "link": "open",
}
PASSWORD = "correct horse"


def run(*args: str, text: str | None = None) -> Result:
    return CliRunner().invoke(main, ["serve", *args], input=text, catch_exceptions=False)


def survey_in(folder: Path) -> tuple[str, Any]:
    """A folder with an account and an open survey: its id, and its plan."""
    with Collector(folder) as collector:
        owner = collector.analysts.create("anna", PASSWORD)
        record = collector.open(collector.surveys.create(owner.number, DOCUMENT))
        return record.id, record.plan


@contextmanager
def process(folder: Path, *args: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """Where Ctrl-C is heard (a test runner may have it ignored)."""
    heard = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\nfrom murmure.cli import main; main()"
    )
    serving = subprocess.Popen(
        [sys.executable, "-c", heard, "serve", "--folder", str(folder), "--port", "0", "--json", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        assert serving.stdout is not None
        line = serving.stdout.readline()
        assert line, serving.communicate()
        yield serving, json.loads(line)
    finally:
        serving.kill()
        serving.communicate()


def post(port: int, path: str, body: Any) -> tuple[int, dict[str, Any]]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as line:
        line.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        reply = line.getresponse()
        return reply.status, json.loads(reply.read())


def get(port: int, path: str, **headers: str) -> tuple[int, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as line:
        line.request("GET", path, headers=headers)
        reply = line.getresponse()
        return reply.status, reply.read().decode()


# -- the service -------------------------------------------------------------------------------------------------------


def test_the_first_start_prints_a_link_that_works_once(tmp_path: Path) -> None:
    """One JSON line with the addresses; the link makes an account, and the next start prints none."""
    with process(tmp_path / "surveys") as (serving, line):
        assert (line["event"], line["url"]) == ("serving", f"http://127.0.0.1:{line['port']}")
        setup = line["setup"].partition("/first?setup=")[2]
        fields = {"setup": setup, "name": "anna", "password": PASSWORD}
        assert get(line["port"], "/first?setup=" + setup)[0] == 200
        assert post(line["port"], "/api/first-analyst", {**fields, "setup": "0" * 32})[0] == 403
        assert post(line["port"], "/api/first-analyst", fields)[0] in (200, 201)
        assert post(line["port"], "/api/first-analyst", {**fields, "name": "eve"})[0] == 403
        serving.send_signal(signal.SIGTERM)
        assert serving.communicate(timeout=20) == ("", "")
        assert serving.returncode == 0
    with process(tmp_path / "surveys") as (serving, line):
        assert line["setup"] is None


def test_sigterm_under_load_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """Eight clients send while it stops; after a restart every acknowledged report is there once."""
    survey, plan = survey_in(tmp_path)
    acknowledged: list[dict[str, Any]] = []
    sent: list[dict[str, Any]] = []
    stop = threading.Event()

    def client(port: int) -> None:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        with closing(line):
            while not stop.is_set():
                one = {"token": secrets.token_hex(16), "report": answer(plan, "yes")["report"]}
                body = json.dumps({**one, "wave": 1, "plan": plan.digest})
                sent.append(one)
                try:
                    line.request("POST", f"/api/surveys/{survey}/reports", body, {"Content-Type": "application/json"})
                    reply = line.getresponse()
                    status, _ = reply.status, reply.read()
                except (OSError, http.client.HTTPException):
                    return
                if status == 201:
                    acknowledged.append(one)

    with process(tmp_path) as (serving, line):
        clients = [threading.Thread(target=client, args=(line["port"],)) for _ in range(8)]
        for one in clients:
            one.start()
        time.sleep(1.0)
        serving.send_signal(signal.SIGTERM)
        printed = serving.communicate(timeout=20)
        stop.set()
        for one in clients:
            one.join()
        assert (serving.returncode, printed) == (0, ("", ""))
    assert len(acknowledged) > 50

    with process(tmp_path) as (serving, line):
        batch = {"plan": plan.digest, "wave": 1, "reports": acknowledged}
        status, reply = post(line["port"], f"/api/surveys/{survey}/batches", batch)
        assert (status, reply["stored"], reply["before"]) == (200, 0, len(acknowledged))
        serving.send_signal(signal.SIGINT)
        assert serving.wait(20) == 0
    checked = json.loads(run("check", "--folder", str(tmp_path), "--json").stdout)
    (count,) = checked["surveys"][0]["answers"]
    assert len(acknowledged) <= count <= len(sent)


def test_settings_come_from_the_environment_too(tmp_path: Path) -> None:
    """And a secret among them opens /metrics without being on the command line."""
    settings = {
        "MURMURE_SERVE_PUBLIC_URL": "https://survey.example.org/",
        "MURMURE_SERVE_METRICS_TOKEN": "let-me-see",
        "MURMURE_SERVE_TRUST_PROXY": "1",
    }
    with process(tmp_path, **settings) as (serving, line):
        assert line["url"] == "https://survey.example.org"
        assert line["setup"].startswith("https://survey.example.org/first?setup=")
        assert get(line["port"], "/metrics")[0] in (401, 403)
        assert get(line["port"], "/metrics", Authorization="Bearer let-me-see")[0] == 200
        serving.send_signal(signal.SIGTERM)
        assert serving.communicate(timeout=20) == ("", "")  # no warning: the proxy has the certificate


def test_without_tls_on_a_network_it_warns(tmp_path: Path) -> None:
    with process(tmp_path, "--host", "0.0.0.0") as (serving, line):
        assert "0.0.0.0" not in line["url"]
        serving.send_signal(signal.SIGTERM)
        warning = serving.communicate(timeout=20)[1]
        assert "could replace the page itself" in warning and "passwords can be read" in warning


def test_a_proxy_that_is_not_trusted_or_not_private_is_warned_of(tmp_path: Path) -> None:
    """It listens at this machine alone, but people come over the network without TLS; and they share one limit."""
    with process(tmp_path, "--public-url", "http://survey.example.org") as (serving, _):
        serving.send_signal(signal.SIGTERM)
        warning = serving.communicate(timeout=20)[1]
        assert "could replace the page itself" in warning and "without --trust-proxy everyone shares" in warning


def test_one_process_at_a_time(tmp_path: Path) -> None:
    """A second one on the same folder is told so, and so are commands that read the log."""
    survey, _ = survey_in(tmp_path)
    with process(tmp_path):
        for args in (["--port", "0"], ["check"], ["export", survey, "-o", str(tmp_path / "x.json")]):
            result = run("--folder", str(tmp_path), *args)
            assert result.exit_code == 2 and result.stderr.startswith("Error: ") and "Hint: " in result.stderr
        listed = run("--folder", str(tmp_path), "analyst", "list", "--json")
        assert json.loads(listed.stdout)["analysts"] == ["anna"]


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = run("--folder", str(tmp_path / "new"), "--port", str(taken.getsockname()[1]))

    assert result.exit_code == 2
    assert result.stderr.startswith("Error: cannot listen at '127.0.0.1' port ")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--certificate", "c.pem"], "--certificate and --key belong together"),
        (["--certificate", "c.pem", "--key", "k.pem"], "there is no file 'c.pem'"),
        (["--public-url", "survey.example.org"], "--public-url must be the address of a site"),
        (["--public-url", "https://example.org/surveys"], "without a path"),
        (["--port", "70000"], "--port"),
    ],
)
def test_settings_that_cannot_be_right(tmp_path: Path, args: list[str], words: str) -> None:
    """Are refused before anything is made."""
    result = run("--folder", str(tmp_path / "new"), *args)

    assert result.exit_code == 2 and words in result.stderr
    assert not (tmp_path / "new").exists()


# -- accounts ----------------------------------------------------------------------------------------------------------


def test_accounts(tmp_path: Path) -> None:
    """Added, listed, changed and removed; a password comes from a file or from standard input."""
    folder = str(tmp_path / "surveys")
    (tmp_path / "secret").write_text(PASSWORD + "\n")
    added = run("analyst", "add", "anna", "--folder", folder, "--password-file", str(tmp_path / "secret"))
    assert (added.exit_code, added.stdout) == (0, "Added: anna.\n")
    run("analyst", "add", "ben", "--folder", folder, "--password-file", "-", text="another password\n")
    assert run("analyst", "list", "--folder", folder).stdout == "anna\nben\n"
    with Collector(Path(folder)) as collector:
        assert collector.analysts.sign_in("anna", PASSWORD)
        assert collector.analysts.sign_in("ben", "another password")
    run("analyst", "password", "anna", "--folder", folder, "--password-file", "-", text="third password")
    removed = run("analyst", "remove", "ben", "--folder", folder, "--json")
    assert json.loads(removed.stdout) == {"folder": folder, "analyst": "ben", "change": "removed"}
    with Collector(Path(folder)) as collector:
        assert collector.analysts.sign_in("anna", "third password")
        assert [one.name for one in collector.analysts.list()] == ["anna"]


@pytest.mark.parametrize(
    ("args", "text", "words"),
    [
        (["add", "anna", "--password-file", "-"], "short", "a password must have"),
        (["add", "anna"], "", "no terminal to ask for the password"),
        (["add", "../x", "--password-file", "-"], PASSWORD, "a name must have"),
        (["remove", "eve"], "", "there is no analyst 'eve'"),
        (["password", "eve", "--password-file", "-"], PASSWORD, "there is no analyst 'eve'"),
    ],
)
def test_accounts_that_cannot_be(tmp_path: Path, args: list[str], text: str, words: str) -> None:
    Collector(tmp_path).close()
    result = run("analyst", *args, "--folder", str(tmp_path), text=text)

    assert result.exit_code == 2 and words in result.stderr
    assert PASSWORD not in result.output


def test_no_folder(tmp_path: Path) -> None:
    """Commands that only look make none."""
    for args in (["check"], ["analyst", "list"], ["export", "x", "-o", "x.csv"]):
        result = run(*args, "--folder", str(tmp_path / "none"))
        assert result.exit_code == 2 and "there are no surveys in" in result.stderr
    assert not (tmp_path / "none").exists()


# -- reports -----------------------------------------------------------------------------------------------------------


def test_an_export_is_what_estimate_reads(tmp_path: Path) -> None:
    survey, plan = survey_in(tmp_path / "surveys")
    reports = [{"token": secrets.token_hex(16), "report": answer(plan, "yes")["report"]} for _ in range(300)]
    with process(tmp_path / "surveys") as (serving, line):
        batch = {"plan": plan.digest, "wave": 1, "reports": reports}
        assert post(line["port"], f"/api/surveys/{survey}/batches", batch)[1]["stored"] == 300
        serving.send_signal(signal.SIGTERM)
        serving.wait(20)
    for ending in ("parquet", "csv", "json"):
        file = tmp_path / f"reports.{ending}"
        written = run("export", survey, "-o", str(file), "--folder", str(tmp_path / "surveys"), "--json")
        assert json.loads(written.stdout)["reports"] == 300
        again = run("export", survey, "-o", str(file), "--folder", str(tmp_path / "surveys"))
        assert again.exit_code == 2 and "already exists" in again.stderr
    estimate = CliRunner().invoke(main, ["estimate", str(tmp_path / "reports.parquet"), "--json"])
    assert estimate.exit_code == 0 and "300" in estimate.stdout


def test_a_survey_that_is_not_there(tmp_path: Path) -> None:
    survey, _ = survey_in(tmp_path)
    result = run("export", "nothing", "-o", str(tmp_path / "x.csv"), "--folder", str(tmp_path))

    assert result.exit_code == 2 and f"surveys with reports: {survey}" in result.stderr
    assert run("export", survey, "-o", "x.txt", "--folder", str(tmp_path)).exit_code == 2
