"""Every page that Murmure makes, by name: files as functions of a folder to work in, live pages as servers.

Pages are made as people make them, by the commands, from small synthetic data. Their HTML is nobody's business here.
"""

from __future__ import annotations

import csv
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner
from tests.cli import test_econometrics as models
from tests.parties import hands as hands_of
from tests.parties.http.test_models import PATIENTS, Town, patients

from murmure.cli import main
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.schema import Schema

REGIONS = ["North", "South", "The islands and the overseas territories"]  # one label needs several lines
SCHEMA = Schema(
    {
        "smoker": Categories(["no", "yes"]),
        "region": Categories(REGIONS),
        "kids": Integers(0, 4),
        "income": Interval(0.0, 100.0, cells=50),
    }
)
PEOPLE = 300


def murmure(*words: Any) -> None:
    ran = CliRunner().invoke(main, list(map(str, words)))
    assert ran.exit_code == 0, (words, ran.output, ran.exception)


def page_of(folder: Path, *words: Any) -> str:
    """The page that a command writes for --html."""
    path = folder / "page.html"
    murmure(*words, "--html", path)
    return path.read_text("utf-8")


def write_csv(path: Path, table: Mapping[str, Any]) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    return path


def write_people(folder: Path) -> tuple[Path, Path]:
    """A table of people and its schema."""
    g = np.random.default_rng(5)
    table = {
        "smoker": g.choice(["no", "yes"], PEOPLE, p=[0.7, 0.3]),
        "region": g.choice(REGIONS, PEOPLE, p=[0.6, 0.3, 0.1]),
        "kids": g.integers(0, 5, PEOPLE),
        "income": g.uniform(0, 100, PEOPLE).round(2),
    }
    schema = folder / "schema.toml"
    schema.write_text(SCHEMA.to_toml(), encoding="utf-8")
    return write_csv(folder / "people.csv", table), schema


# -- files -------------------------------------------------------------------------------------------------------------


def demo(folder: Path) -> str:
    murmure("demo", "--no-open", "--people", PEOPLE, "--seed", 1, "--out", folder)
    return next(folder.glob("*.html")).read_text("utf-8")


def survey(*options: str) -> Callable[[Path], str]:
    """`estimate` of a table whose rows were randomised one by one."""

    def make(folder: Path) -> str:
        (people, schema), out = write_people(folder), folder / "out.csv"
        murmure("sanitise", people, "--schema", schema, "--epsilon", 6, "--seed", 2, "-o", out)
        return page_of(folder, "estimate", out, *(str(people) if word == "PEOPLE" else word for word in options))

    return make


def sanitised(folder: Path) -> str:
    """Figures of the run that randomised the rows."""
    people, schema = write_people(folder)
    out = folder / "out.csv"
    return page_of(folder, "sanitise", people, "--schema", schema, "--epsilon", 6, "--seed", 2, "-o", out, "--estimate")


def coins(folder: Path) -> str:
    """`estimate` of answers that people randomised themselves."""
    return page_of(folder, "estimate", "--mechanism", "two-coins", "--counts", "no=300,yes=200")


def card(*words: Any) -> Callable[[Path], str]:
    """The card of a poll, to print."""

    def make(folder: Path) -> str:
        path = folder / "card.html"
        murmure("poll", "design", "--question", "Have you ever cheated?", *words, "--card", path)
        return path.read_text("utf-8")

    return make


def attacked(words: str) -> Callable[[Path], str]:
    """The page of an attack."""
    return lambda folder: page_of(folder, "attack", *shlex.split(words))


def query(words: str) -> Callable[[Path], str]:
    """One question to a table, charged in a ledger or seeded."""

    def make(folder: Path) -> str:
        people, schema = write_people(folder)
        question, *more = (str(folder / "ledger.db") if word == "LEDGER" else word for word in shlex.split(words))
        return page_of(folder, "query", question, people, "--schema", schema, "--epsilon", 1, *more)

    return make


def attributes(*options: str) -> Callable[[Path], str]:
    """`attack attributes` on a table of people."""

    def make(folder: Path) -> str:
        people, schema = write_people(folder)
        command = ("attack", "attributes", people, "--schema", schema, "--seed", 1, "--repetitions", 2)
        return page_of(folder, *command, *options)

    return make


def repeated_surveys(folder: Path) -> str:
    """People of a table who are looked for in their reports to two surveys."""
    people, schema = write_people(folder)
    words = "--epsilon 2,6 --surveys 2 --repetitions 2 --top 1 --seed 1"
    return page_of(folder, "attack", "identities", people, "--schema", schema, *words.split())


def on_people(words: str) -> Callable[[Path], str]:
    """An attack on a table of people."""

    def make(folder: Path) -> str:
        people, schema = write_people(folder)
        return page_of(folder, "attack", *shlex.split(words.format(people=people, schema=schema)))

    return make


def averaging(folder: Path) -> str:
    return page_of(folder, "attack", "average", "DiscreteLaplace", "--epsilon", 0.1, "--budget", 1)


def model(words: str) -> Callable[[Path], str]:
    """The command of one model; {t}, {t2} and {t3} are tables, as in tests/cli/test_econometrics.py."""

    def make(folder: Path) -> str:
        tables = {t: write_csv(folder / f"{t}.csv", models.TABLE) for t in ("t", "t2", "t3")}
        (folder / "schema.toml").write_text(models.SCHEMA.to_toml(), encoding="utf-8")
        paths = {**tables, "schema": folder / "schema.toml", "ledger": folder / "ledger.db"}
        return page_of(folder, *(word.format(**paths) for word in shlex.split(words)))

    return make


def study_of_sums(folder: Path) -> str:
    """Five parties, one of which vanished."""
    hands = hands_of.Hands(folder, dropouts=1)
    with hands_of.serving(hands.folder, once=False, wait=2.0, patience=2.0) as (line, _):
        play(hands, line, 4)
        return page_of(folder, "study", "result", hands.folder.path)


def study_of_a_model(folder: Path) -> str:
    """Three parties; a sum with noise, and a regression."""
    noisy = '[[queries]]\nstatistic = "Mean"\ncolumn = "age"\nnoise = { epsilon = 1.0 }\n'
    town = Town(
        folder, PATIENTS + noisy + '[[models]]\nmodel = "ols"\nformula = "ill ~ age"\n', [*map(patients, range(3))]
    )
    told = town.together()
    assert [code for code, _ in told] == [0, 0, 0], told
    return page_of(folder, "study", "result", town.served.path)


def attack(words: str) -> Callable[[Path], str]:
    """An attack that needs no data."""
    return lambda folder: page_of(folder, "attack", *shlex.split(words))


def linked_table(folder: Path) -> str:
    """A sanitised table, linked with the one that it was made from."""
    (people, schema), out = write_people(folder), folder / "out.csv"
    murmure("sanitise", people, "--schema", schema, "--epsilon", 9, "--solution", "spl", "--seed", 2, "-o", out)
    return page_of(folder, "attack", "link", out, people, "--same-order")


def sheet(*more: str) -> Callable[[Path], str]:
    """The exercise sheet, which is in French first."""

    def made(folder: Path) -> str:
        path = folder / "sheet.html"
        murmure("lectures", "sheet", *more, "--out", path)
        return path.read_text("utf-8")

    return made


def lecture(folder: Path) -> str:
    """The page of a lecture with some of its items: sentences, a formula of one long word, a tree, tables, folds."""
    items = ("000/warner-tree", "000/grr-law", "000/bounded-laplace", "000/two-gammas")
    murmure("lectures", "run", *items, "--quick", "--jobs", 1, "--out", folder)
    return (folder / "000" / "index.html").read_text("utf-8")


FILES: dict[str, Callable[[Path], str]] = {
    "attack attributes": attributes("--epsilon", "1,2,4", "--solution", "rsfd-oue-z", "--calibrate", "paper"),
    "demo": demo,
    "lectures run": lecture,
    "lectures sheet": sheet(),
    "lectures sheet --solutions": sheet("--solutions"),
    "estimate": survey(),
    "estimate with truth": survey("--truth", "PEOPLE", "--simultaneous"),
    "estimate a pair": survey("--pair", "smoker,region", "--consistent"),
    "estimate coins": coins,
    "sanitise": sanitised,
    "poll design, two coins": card("--people", 500, "--margin", 8),
    "poll design, a birthday": card("--people", 25, "--epsilon", 2, "--device", "birthday"),
    "poll design, cards": card("--people", 500, "--epsilon", 2, "--answers", "never,once,a few times,every week"),
    "poll design, slips": card("--people", 500, "--epsilon", 2, "--answers", "a,b,c,d,e,f,g,the islands and overseas"),
    "poll tally": lambda folder: page_of(folder, "poll", "tally", "--device", "die", "--counts", "no=13,yes=12"),
    "estimate forged": survey("--forged", "20"),
    "attack poison": attacked("poison --categories 4 --epsilon 1,2 --people 200 --repetitions 2 --seed 1"),
    "query count": query("count --where smoker=yes --ledger LEDGER --budget 3"),
    "query mean": query("mean --column income --by region --no-ledger --seed 1"),
    "query table": query("table --column smoker,region --no-ledger --seed 1"),
    "query quantile": query("quantile --column kids --at 0.25,0.5,0.75 --no-ledger --seed 1"),
    "query mode": query("mode --column region --no-ledger --seed 1"),
    "attack bayes": attack("bayes GRR OUE --categories 4 --epsilon 0.5,1,2"),
    "attack deniability": attack("deniability --categories 9,5,3 --epsilon 2 --oracle GRR,OLH --metric all --seed 1"),
    "attack link": linked_table,
    "attack identities": repeated_surveys,
    "attack difference": on_people("difference {people} --schema {schema} --knows region --wants kids --seed 1"),
    "attack membership": on_people(
        "membership naive-bayes {people} --schema {schema} --target smoker --epsilon 1 --repetitions 2 --seed 1"
    ),
    "attack average": averaging,
    "audit": lambda folder: page_of(
        folder, "audit", "GRR", "--categories", 3, "--epsilon", 1, "--samples", 1000, "--seed", 1, "--alpha", 0.001
    ),
    "study result": study_of_sums,
    "study result of a model": study_of_a_model,
    "ols with noise": model('ols "stay ~ age" {t} --schema {schema} --epsilon 5 --ledger {ledger} --budget 9'),
    "ols rehearsed": model('ols "stay ~ age + ward" {t} {t2} {t3} --schema {schema} --secure'),
    "attack floating-point": lambda folder: page_of(folder, "attack", "floating-point", "--draws", 50, "--seed", 1),
    "attack reconstruct": model('attack reconstruct "stay ~ age" {t} --schema {schema} --repetitions 2 --seed 1'),
    **{name: model(f"{name} {words}") for name, words in models.CALLS.items()},
}


# -- live --------------------------------------------------------------------------------------------------------------


def play(hands: hands_of.Hands, line: hands_of.Line, parties: int, until: Any = lambda hand: False) -> None:
    works = [partial(hands_of.take_part, hands.hand(place), line, until) for place in range(parties)]
    raised = hands_of.together(works)
    assert raised == []


@contextmanager
def served(folder: Path, act: Callable[[hands_of.Hands, hands_of.Line], None], **how: Any) -> Iterator[str]:
    """The address of the coordinator's page, when the parties have acted."""
    hands = hands_of.Hands(folder)
    with hands_of.serving(hands.folder, **{"once": False, "wait": 600.0, "patience": 600.0, **how}) as (line, server):
        act(hands, line)
        assert server.where is not None
        yield server.where.page


def two_arrive(hands: hands_of.Hands, line: hands_of.Line) -> None:
    for place in range(2):
        assert line.send(hands.hand(place).party.keys())[0] == 200


def none_sends_sums(hands: hands_of.Hands, line: hands_of.Line) -> None:
    play(hands, line, 5, until=lambda hand: hand.party.stage not in ("keys", "shares"))


def all_finish(hands: hands_of.Hands, line: hands_of.Line) -> None:
    play(hands, line, 5)


def nobody_comes(hands: hands_of.Hands, line: hands_of.Line) -> None:
    for _ in range(200):
        if b'"failed"' in line.request("GET", f"/status.json?token={hands.folder.token}")[1]:
            return
        time.sleep(0.05)
    raise AssertionError("the study waits for more than its 0.2 s")


LIVE: dict[str, Callable[[Path], AbstractContextManager[str]]] = {
    "live, gathering": partial(served, act=two_arrive),
    "live, running": partial(served, act=none_sends_sums),
    "live, done": partial(served, act=all_finish),
    "live, failed": partial(served, act=nobody_comes, wait=0.2),
}
