"""Every command speaks the language that was asked for: help, output and errors. JSON stays English."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result
from tests.cli.test_econometrics import CALLS, SCHEMA, TABLE
from tests.cli.test_errors import MISTAKES
from tests.show.languages import english_lines, french_lines, text_of_page

from murmure.cli import main
from murmure.collector.intake.arrival import Outcome
from murmure.collector.service.collector import Collector
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.schema import Schema
from murmure.plan.sent_reports import answer

PEOPLE = 200
COMMANDS = [  # in order: later ones read what earlier ones wrote
    "advise --labels no,yes --epsilon 1 --people 1000",
    "advise --interval 0:100 --epsilon 0.5,1 --people 1000",
    "advise --schema s.toml --epsilon 1 --people 1000",
    "lectures list",
    "lectures statements",
    "lectures run 000/grr-law --quick --jobs 1 --out lectures",
    "lectures sheet --solutions --out sheet.html",
    "certify GRR --categories 4 --epsilon 1",
    "certify Warner --truth 1/2 --yes-coin 1/2",
    "certify rsfd-grr --schema s.toml --epsilon 1",
    "certify RAPPOR --categories 4 --epsilon-once 0.5 --epsilon 1 --for-ever",
    "certify --list",
    "advise --labels no,yes --margin 3 --people 2000",
    "advise --categories 3 --margin 0.01 --people 10",
    "advise --interval 0:10 --margin 0.5 --people 2000",
    "advise --schema s.toml --margin 9 --people 5000",
    "poll design --question Q? --people 500 --margin 8 --card card.html --plan plan.json",
    "poll design --question Q? --answers a,b,c,d --people 500 --epsilon 2 --card cards.html",
    "poll design --question Q? --people 500 --epsilon 2 --device birthday --card birthday.html",
    "poll design --question Q? --people 50 --margin 2",
    "poll tally --device two-coins --counts no=13,yes=12 --html poll.html",
    "attack poison --categories 4 --epsilon 1 --people 200 --repetitions 2 --seed 1 --html poison.html",
    "estimate --mechanism two-coins --counts no=300,yes=200 --forged 10 --html forged.html",
    "audit GRR --categories 3 --epsilon 1 --samples 1000 --seed 1 --html audit.html",
    "audit rsfd-grr --schema s.toml --epsilon 1 --samples 300 --seed 1 --alpha 0.001",
    "new study my-study",
    "schema init people.csv -o draft.toml",
    "schema show s.toml",
    "schema check s.toml people.csv",
    "sanitise people.csv --schema s.toml --epsilon 4 --solution spl --seed 1 -o out.csv",
    "estimate out.csv",
    "estimate out.csv --truth people.csv --simultaneous --html estimate.html --title T --question Q? --author A",
    "estimate out.csv --pair smoker,kids --consistent",
    "estimate --mechanism two-coins --counts no=300,yes=200",
    "attack bayes GRR OLH --categories 5 --epsilon 0.5 --people 50 --repetitions 2 --html bayes.html",
    "attack bayes smp --schema s.toml --epsilon 1 --attribute kids",
    "attack deniability --categories 5,4,3 --epsilon 3 --oracle GRR,OLH --metric all",
    "attack link out.csv people.csv --same-order --html link.html",
    "attack link out.csv people.csv --targets 20",
    "query count people.csv --schema s.toml --epsilon 1 --budget 90 --where smoker=y",
    "query mean people.csv --schema s.toml --epsilon 1 --column income --by smoker",
    "query histogram people.csv --schema s.toml --epsilon 1 --column kids --html query.html",
    "query quantile people.csv --schema s.toml --epsilon 1 --column kids --at 0.5",
    "query mode people.csv --schema s.toml --epsilon 1 --column smoker",
    "train linear people.csv --schema s.toml --target income --epsilon 1 -o linear.json",
    "train naive-bayes people.csv --schema s.toml --target smoker --epsilon 1 -o bayes.json",
    "train kmeans people.csv --schema s.toml --features kids,income --clusters 2 --epsilon 0.5 -o kmeans.json",
    "predict bayes.json people.csv -o predicted.csv",
    "attack floating-point --draws 50 --seed 1 --html floats.html",
    "attack difference people.csv --schema s.toml --knows kids,smoker --epsilon 1 --targets 2 --seed 1 --html d.html",
    'attack reconstruct "stay ~ age + ward" {t} --schema models.toml --honest 1,2 --epsilon 1 --repetitions 2 --seed 1',
    "attack membership naive-bayes people.csv --schema s.toml --target smoker --epsilon 1,2 --repetitions 2 --seed 1",
    "attack membership linear people.csv --schema s.toml --target income --epsilon 1 --knows population "
    "--repetitions 2 --shadows 2 --seed 1",
    "serve analyst add anna --folder surveys --password-file password.txt",
    "serve analyst password anna --folder surveys --password-file password.txt",
    "serve analyst list --folder surveys",
    "serve analyst remove anna --folder surveys",
    "serve check --folder surveys",
    "serve export {survey} --folder asked -o asked.json --force",
    "ledger show",
    "ledger history people",
    "ledger budget people --epsilon 20",
    "ledger answer 1",
    "demo --no-open --people 300 --seed 1",
    "attack identities people.csv --schema s.toml --epsilon 2,4 --surveys 2 --repetitions 2 --seed 1 --html ids.html",
    "attack average GRR --categories 4 --epsilon 1 --times 1,10 --html average.html",
    "attack average RAPPOR --categories 4 --epsilon 2 --epsilon-once 1 --times 1,10",
    "attack average DiscreteLaplace --epsilon 0.1 --budget 1 --times 1,10",
    "party init p --name Clinic",
    "party card --home p",
    "party status --home p",
    "party history --home p",
    "study init c --name Asker",
    "attack attributes people.csv --schema s.toml --epsilon 1 --seed 1 --repetitions 2",
    "attack attributes people.csv --schema s.toml --epsilon 1,2 --solution rsfd-oue-z --calibrate paper --seed 1 "
    "--repetitions 2 --knowledge hybrid --html attributes.html",
    "study models",
    "study models ols",
    *(f"{name} {words}" for name, words in CALLS.items()),
    'ols "stay ~ age + ward" {t} --schema models.toml --epsilon 5 --budget 9 --html ols.html --title T',
    'ols "stay ~ age + ward" {t} {t2} {t3} --schema models.toml --secure',
]
TRIED_ELSEWHERE = {  # between processes, in both languages: tests/parties, tests/pages, test_class.py
    *("party join", "party look", "party decline", "party result"),
    *("study new", "study run", "study result", "study show", "study status"),
    *("completion", "ledger import", "class"),
}


def leaves(group: click.Group, above: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, (*above, name))
        yield " ".join((*above, name)), command


EVERY = dict(leaves(main))


def run(*words: str, **environment: Any) -> Result:
    return CliRunner().invoke(main, list(words), env={"LANG": "C", "LC_ALL": "", "LANGUAGE": "", **environment})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("people")
    g = np.random.default_rng(5)
    schema = Schema(
        {"smoker": Categories(["n", "y"]), "kids": Integers(0, 4), "income": Interval(0.0, 100.0, cells=50)}
    )
    columns = {
        "smoker": g.choice(["n", "y"], PEOPLE),
        "kids": g.integers(0, 5, PEOPLE),
        "income": g.uniform(0, 100, PEOPLE),
    }
    _write(place / "people.csv", columns)
    for name in ("t", "t2", "t3"):
        _write(place / f"{name}.csv", TABLE)
    (place / "s.toml").write_text(schema.to_toml())
    (place / "models.toml").write_text(SCHEMA.to_toml())
    (place / "password.txt").write_text("correct horse battery staple")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        yield place


def answered_survey(folder: Path) -> str:
    """The id of an open survey with one report."""
    question = {"name": "cheated", "kind": "yes-no", "text": {"en": "-"}}
    survey = {"murmure_survey": 1, "title": {"en": "-"}, "questions": [question], "people": 9, "epsilon": 1.0}
    with Collector(folder) as collector:
        record = collector.open(
            collector.surveys.create(collector.analysts.create("a", "a long password").number, survey)
        )
        reception, told = collector.reception(record.id), Queue[Any]()
        collector.store(reception, [reception.arrival("0" * 32, answer(record.plan, "no")["report"])], told.put)
        assert told.get(timeout=60) == [Outcome.STORED]
    return record.id


def _write(path: Path, columns: Any) -> None:
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")


def test_every_command_is_tried() -> None:
    tried = {name for name in EVERY for line in COMMANDS if line.split()[: len(name.split())] == name.split()}

    assert {name for name, command in EVERY.items() if not isinstance(command, click.Group)} - tried == TRIED_ELSEWHERE


@pytest.mark.parametrize(("lang", "other"), [("fr", english_lines), ("en", french_lines)], ids=["fr", "en"])
def test_commands_speak_one_language(lang: str, other: Any, folder: Path, tmp_path: Path) -> None:
    """All of them in one folder, since one reads what another wrote; pages too."""
    paths = {name: folder / f"{name}.csv" for name in ("t", "t2", "t3")}
    wrong = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MURMURE_LEDGER", str(tmp_path / "ledger.db"))
        patch.chdir(tmp_path)
        for path in folder.iterdir():
            (tmp_path / path.name).symlink_to(path)
        paths["survey"] = answered_survey(tmp_path / "asked")
        for line in COMMANDS:
            ran = run(*(word.format(**paths) for word in shlex.split(line)), "--lang", lang)
            assert ran.exit_code == 0, (line, ran.output, ran.exception)
            if found := other(ran.output + ran.stderr):
                wrong[line] = found
        for page in tmp_path.glob("*.html"):
            if found := other(text_of_page(page.read_text("utf-8"), lang)):
                wrong[page.name] = found

    assert wrong == {}


@pytest.mark.parametrize(("lang", "other"), [("fr", english_lines), ("en", french_lines)], ids=["fr", "en"])
def test_help_speaks_one_language(lang: str, other: Any) -> None:
    wrong = {}
    for name in ("", *EVERY):
        ran = run(*name.split(), "--help", "--lang", lang)
        assert ran.exit_code == 0, (name, ran.output)
        if found := other(ran.output):
            wrong[name] = found

    assert wrong == {}


@pytest.mark.parametrize(("lang", "other"), [("fr", english_lines), ("en", french_lines)], ids=["fr", "en"])
def test_errors_speak_one_language(lang: str, other: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = {}
    for name, (words, *_) in MISTAKES.items():
        ran = run("--lang", lang, *words)
        assert ran.exit_code != 0, name
        assert ran.stderr.startswith({"en": "Error: ", "fr": "Erreur\u00a0: "}[lang]), (name, ran.stderr)
        if found := other(ran.stderr):
            wrong[name] = found

    assert wrong == {}


def test_the_locale_is_followed() -> None:
    words = ["certify", "GRR", "--categories", "4", "--epsilon", "-1"]

    assert run(*words, LANG="fr_FR.UTF-8").stderr.startswith("Erreur")
    assert run(*words, LANG="fr_FR.UTF-8", LC_ALL="en_GB.UTF-8").stderr.startswith("Error")
    assert run("--lang", "en", *words, LANG="fr_FR.UTF-8").stderr.startswith("Error")
    assert run(*words).stderr.startswith("Error")  # no language leaks from the run before


def test_json_does_not_depend_on_the_language() -> None:
    words = ["certify", "GRR", "--categories", "4", "--epsilon", "1", "--json"]
    mistake = ["certify", "GRR", "--categories", "4", "--epsilon", "-1", "--json"]

    assert json.loads(run(*words, "--lang", "fr").output) == json.loads(run(*words).output)
    assert run(*mistake, "--lang", "fr").output == run(*mistake).output
