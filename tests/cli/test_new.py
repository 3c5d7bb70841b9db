"""`murmure new`: folders that work at once. The commands of every README run here as they are written."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from murmure.cli import main
from murmure.cli.new import KINDS
from murmure.cli.starters.starter import NAMES_FOLDER
from murmure.core.files import folder_or_nothing

LANGUAGES = ("en", "fr")


def invoke(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args])


def shell_blocks(readme: Path) -> list[str]:
    """What a reader types, block by block."""
    return re.findall(r"^```sh\n(.*?)^```$", readme.read_text(encoding="utf-8"), flags=re.M | re.S)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def run_readme(folder: Path, lang: str, commands: Path, blocks: slice = slice(None)) -> list[str]:
    """Types the blocks in a shell, as the README says; only the port is another, since tests share a machine."""
    port, out = free_port(), []
    env = {name: value for name, value in os.environ.items() if name not in ("LANGUAGE", "LC_ALL", "LC_MESSAGES")}
    path = os.pathsep.join([str(commands), str(Path(sys.executable).parent), os.environ["PATH"]])
    env |= {"PATH": path, "LANG": f"{lang}.UTF-8"}
    env.pop("MURMURE_LEDGER", None)
    for block in shell_blocks(folder / "README.md")[blocks]:
        typed = block.replace(":8460", f":{port}").replace("murmure study run", f"murmure study run --port {port}")
        ran = subprocess.run(
            ["sh", "-ec", typed], cwd=folder, env=env, capture_output=True, encoding="utf-8", timeout=240
        )
        logs = "".join(f"\n{log.name}: {log.read_text()}" for log in folder.glob("*.log"))

        assert ran.returncode == 0, f"{block}\n{ran.stdout}\n{ran.stderr}{logs}"
        out.append(ran.stdout)
    return out


def new_folder(tmp_path: Path, kind: str, lang: str = "en") -> Path:
    result = invoke("new", kind, tmp_path / kind, "--lang", lang)

    assert result.exit_code == 0, result.output
    return tmp_path / kind


# -- they work ---------------------------------------------------------------------------------------------------------


WITHOUT_NETWORK = [kind for kind in KINDS if kind != "study"]


def check_results(kind: str, folder: Path, said: list[str]) -> None:
    assert 3 <= len(said) <= 4
    assert all(text.strip() for text in said)
    pages = [page for page in folder.glob("*.html") if page.name not in ("card.html", "carte.html")]  # a poll's card
    assert len(pages) == (0 if kind == "model" else 1)
    for page in pages:  # of both languages
        assert 'lang="fr"' in page.read_text(encoding="utf-8") and 'lang="en"' in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", WITHOUT_NETWORK)
def test_every_command_of_a_readme_runs(kind: str, tmp_path: Path, forked_commands: Path) -> None:
    folder = new_folder(tmp_path, kind)

    check_results(kind, folder, run_readme(folder, "en", forked_commands))


@pytest.mark.parametrize("kind", WITHOUT_NETWORK)
def test_every_command_of_a_french_readme_runs(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, which is quicker: the shell has been tested."""
    folder = new_folder(tmp_path, kind, "fr")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("MURMURE_LEDGER", raising=False)
    monkeypatch.setenv("LANG", "fr_FR.UTF-8")
    said = []
    for block in shell_blocks(folder / "README.md"):
        murmure, *args = shlex.split(block)
        result = invoke(*args)

        assert murmure == "murmure" and result.exit_code == 0, result.output
        said.append(result.stdout)
    check_results(kind, folder, said)


def test_the_study_gives_the_regression_of_the_pooled_rows(tmp_path: Path, forked_commands: Path) -> None:
    """The slope between parties is that of all rows together, which only this test ever holds in one place."""
    folder = new_folder(tmp_path, "study")
    said = run_readme(folder, "en", forked_commands)
    rows = [row for path in folder.glob("invented-*.csv") for row in csv.DictReader(path.read_text().splitlines())]
    ages, stays = ([float(row[name]) for row in rows] for name in ("age", "stay"))
    middle, mean = sum(ages) / len(ages), sum(stays) / len(stays)
    slope = sum((a - middle) * (s - mean) for a, s in zip(ages, stays, strict=True)) / sum(
        (a - middle) ** 2 for a in ages
    )
    found = re.search(r"^age +([0-9.]+)", said[-1], flags=re.M)

    assert len(rows) == 400
    assert found is not None and found[1] == f"{slope:.5g}"
    assert (folder / "report.html").exists()


def test_the_french_study_is_written_and_signed(tmp_path: Path, forked_commands: Path) -> None:
    """All but the network, which the slow test below goes through."""
    folder = new_folder(tmp_path, "study", "fr")
    said = run_readme(folder, "fr", forked_commands, slice(2))

    assert (folder / "office" / "duree-de-sejour" / "study.json").exists()
    assert "Durée de séjour" in said[1]


@pytest.mark.slow
def test_the_french_study_runs(tmp_path: Path) -> None:
    folder = new_folder(tmp_path, "study", "fr")
    run_readme(folder, "fr", Path(sys.executable).parent)  # real processes

    assert (folder / "rapport.html").exists()


def test_the_interval_of_the_poll_holds_its_truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A seeded draw: a first look should not be one of the five in a hundred that miss. The README says 20 %."""
    folder = new_folder(tmp_path, "poll")
    monkeypatch.chdir(folder)
    design, tally, _ = shell_blocks(folder / "README.md")
    invoke(*shlex.split(design)[1:])
    result = json.loads(invoke(*shlex.split(tally)[1:-2], "--json").stdout)
    (figures,) = [figure for figure in result["figures"] if figure["label"] == "yes"]

    assert figures["low"] < 0.2 < figures["high"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_answers_in_a_file_give_the_figures_of_their_counts(
    lang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the README of the poll says about files is true of its own."""
    folder = new_folder(tmp_path, "poll", lang)
    monkeypatch.chdir(folder)
    text = (folder / "README.md").read_text(encoding="utf-8")
    options = re.search(r"`(--reports [^`]+)`", text)
    counts = re.search(r"--counts \S+", text)
    assert options is not None and counts is not None
    invoke(*shlex.split(shell_blocks(folder / "README.md")[0])[1:])
    command = ["poll", "tally", "--plan", "plan.json", "--json"]
    by_file, by_counts = (
        json.loads(invoke(*command, *given.split()).stdout)["figures"] for given in (options[1], counts[0])
    )

    assert [row["share"] for row in by_file] == [row["share"] for row in by_counts]


def test_the_model_learns_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It guesses right more often than the commoner answer alone would: without noise, which a test cannot seed."""
    folder = new_folder(tmp_path, "model")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("MURMURE_LEDGER", raising=False)
    block = next(block for block in shell_blocks(folder / "README.md") if "murmure train" in block)
    clear = block.replace("--epsilon 1 --budget 3", "--clear")
    accuracy = json.loads(invoke(*shlex.split(clear)[1:], "--json").stdout)["score"]["value"]
    others = list(csv.DictReader((folder / "invented-others.csv").read_text().splitlines()))

    assert clear != block and accuracy > 0.05 + sum(row["smoker"] == "no" for row in others) / len(others)


# -- what is in them ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_says_that_it_is_invented(kind: str, tmp_path: Path) -> None:
    """In the README of each language, and in the name of every file of rows."""
    english, french = (new_folder(tmp_path / lang, kind, lang) for lang in made(tmp_path))

    assert "Everybody in this folder is invented" in (english / "README.md").read_text(encoding="utf-8")
    assert "inventé" in (french / "README.md").read_text(encoding="utf-8")
    assert all("invent" in path.name for folder in (english, french) for path in folder.glob("*.csv"))
    assert not re.search(r"\b(the|and|with)\b", prose(french / "README.md")), "English in a French README"


def made(tmp_path: Path) -> tuple[str, ...]:
    for lang in LANGUAGES:
        (tmp_path / lang).mkdir()
    return LANGUAGES


def prose(readme: Path) -> str:
    text = re.sub(r"^```.*?^```$", "", readme.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.sub(r"`[^`]*`", "", text)


def test_the_same_release_writes_the_same_folder(tmp_path: Path) -> None:
    for kind in KINDS:
        first, second = tmp_path / f"{kind}-1", tmp_path / f"{kind}-2"
        invoke("new", kind, first), invoke("new", kind, second)

        assert {p.name: p.read_bytes() for p in first.iterdir()} == {p.name: p.read_bytes() for p in second.iterdir()}


def test_names_are_the_same_in_both_languages() -> None:
    """The same keys, and values that any terminal can type; a question stands in quotes."""
    tables = {lang: tomllib.loads((NAMES_FOLDER / f"{lang}.toml").read_text(encoding="utf-8")) for lang in LANGUAGES}

    assert tables["en"].keys() == tables["fr"].keys()
    for table in tables.values():
        assert all(
            str(value).isascii() and " " not in "".join(value) for key, value in table.items() if key != "question"
        )


def test_json(tmp_path: Path) -> None:
    result = json.loads(invoke("new", "table", tmp_path / "mine", "--json").stdout)

    assert result["kind"] == "table"
    assert result["folder"] == str(tmp_path / "mine")
    assert set(result["files"]) == {path.name for path in (tmp_path / "mine").iterdir()}
    assert result["extras"] == ["tables"] and result["missing_extras"] == []
    assert [f"{command}\n" for command in result["commands"]] == shell_blocks(tmp_path / "mine" / "README.md")


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys.modules["murmure.cli.new"], "find_spec", lambda module: None if module == "pyarrow" else module
    )

    assert "Its commands need what is not installed yet. Type: " in invoke("new", "table", tmp_path / "a").stdout
    assert json.loads(invoke("new", "study", tmp_path / "b", "--json").stdout)["missing_extras"] == ["tables"]


def test_without_a_name_the_folder_is_called_after_its_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoke("new", "query")

    assert "Now type: cd query" in result.stdout
    assert (tmp_path / "query" / "README.md").exists()


def test_an_empty_folder_is_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And stays the same folder: a terminal may be in it."""
    monkeypatch.chdir(tmp_path)
    before = tmp_path.stat().st_ino
    result = invoke("new", "poll", ".")

    assert result.exit_code == 0 and "cd " not in result.stdout
    assert tmp_path.stat().st_ino == before
    assert {path.name for path in tmp_path.iterdir()} == {"README.md", "invented-answers.csv"}


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "problem", "hint"),
    [
        ((), "murmure new needs a KIND", "the kinds are poll, table, query, study, model"),
        (("pol",), "there is no kind 'pol'", "did you mean poll?"),
        (("garden",), "there is no kind 'garden'", "the kinds are poll, table"),
        (("poll", "full"), "the folder 'full' is not empty; nothing in it was changed", "murmure new poll FOLDER"),
        (("poll", "file"), "'file' exists, and is not a folder", "murmure new poll FOLDER"),
        (("poll", "file/inside"), "cannot write 'file/inside'", "choose one that exists"),
        (("poll", "nowhere/inside"), "there is no folder 'nowhere'", "create the folder first"),
        (("poll", "/proc/inside"), "cannot write '/proc/inside'", "choose a folder that exists"),
        (("poll", "x" * 300), "cannot write", "choose a folder"),
    ],
)
def test_what_cannot_be_is_refused(
    args: tuple[str, ...], problem: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one sentence with a way out, and nothing changes."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    before = {path: path.is_file() and path.read_text() for path in tmp_path.rglob("*")}
    result = invoke("new", *args)

    assert result.exit_code == 2
    assert problem in result.stderr and hint in result.stderr
    assert {path: path.is_file() and path.read_text() for path in tmp_path.rglob("*")} == before
    assert json.loads(invoke("new", *args, "--json").stdout)["error"]["hint"]


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_nothing_half_written_is_left(
    exists: bool, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk or Ctrl-C at the last file: no folder, or the empty one that was there."""
    folder = tmp_path / "mine"
    if exists:
        folder.mkdir()
    write, count = Path.write_text, []

    def failing(self: Path, *args: object, **more: object) -> int:
        count.append(self)
        if len(count) == 2:
            raise error
        return write(self, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "write_text", failing)
    result = invoke("new", "table", folder)

    assert result.exit_code in (2, 130)
    assert len(count) == 2
    assert sorted(tmp_path.rglob("*")) == ([folder] if exists else [])


def test_moving_into_a_folder_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If somebody writes a file of the same name meanwhile, theirs stays and ours go."""
    from murmure.core.errors import CannotWrite

    with pytest.raises(CannotWrite, match="another process wrote it"), folder_or_nothing(tmp_path) as part:
        (part / "a").write_text("ours")
        (part / "b").write_text("ours")
        (tmp_path / "b").write_text("theirs")

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"b": "theirs"}


def test_a_folder_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    from murmure.core.errors import CannotWrite

    with pytest.raises(CannotWrite), folder_or_nothing(tmp_path / "mine") as part:
        (part / "a").write_text("ours")
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "b").write_text("theirs")

    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*"))] == ["mine", "mine/b"]


def test_a_signal_leaves_nothing(tmp_path: Path) -> None:
    """A real process, stopped while it writes: SIGTERM ends it as Ctrl-C does."""
    code = (
        "import pathlib, time\n"
        "from murmure.cli import main\n"
        "write = pathlib.Path.write_text\n"
        "def slow(self, *a, **k):\n"
        "    write(self, *a, **k); print('wrote', flush=True); time.sleep(60)\n"
        "pathlib.Path.write_text = slow\n"
        "main(['new', 'table', 'mine'])\n"
    )
    run = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None and run.stdout.readline() == "wrote\n"
    inside = [path.name for path in tmp_path.iterdir()]
    run.send_signal(signal.SIGTERM)

    assert len(inside) == 1 and inside[0].endswith(".part")
    assert run.wait(timeout=60) == 130
    run.stdout.close()
    for _ in range(50):
        if not list(tmp_path.iterdir()):
            break
        time.sleep(0.1)
    assert list(tmp_path.iterdir()) == []
