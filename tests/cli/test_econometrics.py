"""`murmure ols` and its family: every command runs, says the same in text, JSON and HTML, and refuses in words."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from murmure import econometrics
from murmure.cli import main
from murmure.cli.econometrics import command_forms, model_command
from murmure.core.domain import Categories, Decimals, Integers
from murmure.core.schema import Schema

N = 90
SCHEMA = Schema(
    {
        "stay": Integers(0, 60),
        "age": Integers(18, 99),
        "cost": Decimals("0.5", "90.5", 1),
        "ward": Categories(["A", "B", "C"]),
        "sex": Categories(["f", "m"]),
        "died": Categories(["no", "yes"]),
        "days": Integers(1, 30),
        "score": Integers(0, 20),
        "n": Integers(1, 4),
    }
)
TABLE: dict[str, list[Any]] = {
    "stay": [(7 * i * i + 3 * i) % 41 for i in range(N)],
    "age": [18 + (i * 29) % 80 for i in range(N)],
    "cost": [0.5 + (i * i * 7 % 90) for i in range(N)],
    "ward": ["ABC"[(i * i + i // 5) % 3] for i in range(N)],
    "sex": ["fm"[i * 7 % 5 % 2] for i in range(N)],
    "died": [("no", "yes")[(i * i // 3) % 7 % 2] for i in range(N)],
    "days": [1 + (i * 11) % 29 for i in range(N)],
    "score": [(i * 5 + (i * i // 3) % 7) % 21 for i in range(N)],
    "n": [1 + i % 4 for i in range(N)],
}
CALLS = {
    "ols": '"stay ~ age + ward" {t} --errors HC1',
    "wls": '"stay ~ age" {t} --weights n',
    "ridge": '"stay ~ age + score" {t} --lambdas 0.1,1,10',
    "iv": '"stay ~ age" {t} --instruments "score"',
    "did": "stay {t} --treated sex --post died",
    "fixed-effects": '"stay ~ age" {t} {t2} {t3}',
    "logit": '"died ~ age" {t}',
    "probit": '"died ~ age" {t}',
    "poisson": '"stay ~ age" {t} --dispersion pearson',
    "gamma": '"cost ~ age" {t}',
    "negative-binomial": '"stay ~ age" {t}',
    "cox": '"age" {t} --time days --event died',
    "mle": '"days ~ age" {t} --family weibull',
    "describe": "{t} --columns age,stay",
    "covariance": "{t} --columns age,stay",
    "correlation": "{t} --columns age,stay",
    "pca": "{t} --columns age,stay,score --scaled",
    "ttest": "stay {t} --by sex",
    "anova": "stay {t} --by ward",
    "contingency": "ward died {t}",
    "mantel-haenszel": "sex died {t} --strata ward",
    "ecdf": "stay {t} --grid 1,5,10,20",
    "quantiles": "stay {t} --shares 0.5,0.9",
    "histogram": "stay {t} --edges 0,10,20,60",
    "kaplan-meier": "days {t} --event died --by sex",
    "logrank": "days {t} --event died --by sex",
    "roc": "score {t} --outcome died",
    "kmeans": "{t} --columns age,stay --clusters 2",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for k, name in enumerate(("t", "t2", "t3", "t4")):
        with open(f"{name}.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(TABLE)
            writer.writerows(zip(*(column[k:] for column in TABLE.values()), strict=True))
    SCHEMA.save("schema.toml") if hasattr(SCHEMA, "save") else Path("schema.toml").write_text(SCHEMA.to_toml())
    return tmp_path


def typed(line: str) -> Result:
    return CliRunner().invoke(main, shlex.split(line))


def call(name: str, *more: str) -> str:
    places = {k: f"{k}.csv" for k in ("t", "t2", "t3")}
    return " ".join([name, CALLS[name].format(**places), *more])


def test_every_function_is_a_command() -> None:
    """What the package offers can be typed, but for what takes Python objects; and every command is tried here."""
    typed_ones = set(command_forms())

    assert typed_ones == set(CALLS)
    left_out = {name.replace("_", "-") for name in econometrics.FUNCTIONS} - typed_ones
    assert left_out == {"randomised-ols", "quantile"}


@pytest.mark.parametrize("name", CALLS)
def test_every_command_answers(name: str, folder: Path) -> None:
    """Text and JSON of one run agree, and say how they were obtained."""
    text, held = typed(call(name)), typed(call(name, "--json"))

    assert text.exit_code == 0, text.output
    assert "Obtained in the clear" in text.output
    said = json.loads(held.output)
    assert said["tables"] and said["title"] in text.output
    rows = 3 * N - 3 if name == "fixed-effects" else N
    assert said["how"]["rows"] == rows


def test_the_same_figures_as_the_function(folder: Path) -> None:
    """The command reads the file as the function does, to the last digit."""
    said = json.loads(typed('ols "cost ~ age + ward" t.csv --schema schema.toml --json').output)
    fit = econometrics.ols("cost ~ age + ward", TABLE, schema=SCHEMA)

    assert [row[1] for row in said["tables"][0]["rows"]] == fit.params.tolist()


def test_pages_pictures_and_latex(folder: Path) -> None:
    """--html writes one whole file, --plot a picture, --latex prints a tabular."""
    ran = typed(call("ols", "--html out.html --plot out.png"))
    page = (folder / "out.html").read_text()

    assert ran.exit_code == 0, ran.output
    assert page.startswith("<!doctype html>") and "stay ~ age + ward" in page and "</html>" in page
    assert (folder / "out.png").read_bytes().startswith(b"\x89PNG")
    assert "tabular" in typed(call("ols", "--latex")).output
    assert typed(call("ols", "--html out.html")).exit_code == 0  # one of our own is written again
    (folder / "mine.html").write_text("<p>my own page")
    assert typed(call("ols", "--html mine.html")).exit_code == 2
    assert (folder / "mine.html").read_text() == "<p>my own page"


def test_between_tables(folder: Path) -> None:
    """--secure masks the sums between the tables; without it they are added up in the clear, to the same figures."""
    line = 'ols "stay ~ age + ward" t.csv t2.csv t3.csv t4.csv --schema schema.toml --json'
    clear, secure = json.loads(typed(line).output), json.loads(typed(line + " --secure").output)

    assert secure["tables"] == clear["tables"]
    assert secure["how"]["parties"] == 4 and "masked sums" in secure["how"]["privacy"]


@pytest.mark.parametrize(
    "line", ['ols "stay ~ age + ward"', 'wls "stay ~ age" --weights n', "describe --columns age,stay"]
)
def test_secure_says_first_that_whoever_ran_it_held_every_row(folder: Path, line: str) -> None:
    """In text before the title, on stderr beside LaTeX, in JSON and on the page before any guarantee."""
    command, *rest = line.split(" ", 1)
    words = f"{command} {rest[0]} t.csv t2.csv t3.csv t4.csv --schema schema.toml --secure"
    words = words.replace("describe --columns age,stay t.csv t2.csv t3.csv t4.csv",
                          "describe t.csv t2.csv t3.csv t4.csv --columns age,stay")  # fmt: skip
    text, held = typed(words), json.loads(typed(words + " --json").output)
    latex = typed(words + " --latex --html secure.html")
    page = (folder / "secure.html").read_text()

    first = text.output.splitlines()[:4]  # below the title, above all figures
    assert any(line.startswith("REHEARSAL IN ONE PROCESS: whoever ran this held every row") for line in first), first
    assert "REHEARSAL IN ONE PROCESS" in latex.stdout.split("\\begin")[0]
    assert next(iter(held["how"])) == "rehearsal" and next(iter(held["how"]["guarantees"])) == "whoever ran it"
    assert page.index("held every row") < page.index("between 4 parties")


def test_secure_keeps_the_rules_of_a_study(folder: Path) -> None:
    """With the same ways out by name, which belong to --secure alone."""
    files = "t.csv t2.csv t3.csv t4.csv --schema schema.toml"
    rare = f'ols "stay ~ I(age == 97)" {files} --secure'
    assert "age == 97" in typed(rare).output and typed(rare).exit_code == 2
    assert typed(rare + " --minimum-cell 1").exit_code == typed(rare + " --rows-are-public").exit_code == 0
    for option in ("--minimum-cell 1", "--rows-are-public"):
        ran = typed(f'ols "stay ~ age" {files} {option}')
        assert ran.exit_code == 2 and "for --secure" in ran.output


def test_with_noise(folder: Path) -> None:
    """Noise is charged in a ledger; asked again, the same answer comes at no cost."""
    line = 'ols "stay ~ age" t.csv --schema schema.toml --epsilon 5 --json'
    refused = typed(line)
    first, again = (json.loads(typed(line + more).output) for more in (" --budget 10", ""))

    assert refused.exit_code == 2 and "budget" in refused.output
    assert first["how"]["guarantees"]["reader"]["epsilon"] <= 5
    assert again["tables"] == first["tables"] and again["ledger"]["again"]
    assert first["ledger"]["spent"]["epsilon"] == pytest.approx(5)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ols", "needs FORMULA"),
        ('ols "stay ~ age"', "needs a table DATA"),
        ('ols "stay ~ nothing" t.csv', "nothing"),
        ('ols "stay ~ scale(age)" t.csv', "scale"),
        ('ols "stay ~ age" t.csv --epsilon 1', "needs --schema"),
        ('ols "stay ~ age" t.csv --secure --schema schema.toml', "three tables"),
        ('ols "stay ~ age" t.csv --budget 1', "is for noise"),
        ('ols "stay ~ age" t.csv --html out.txt', "end in .html"),
        ('ols "stay ~ age" t.csv --errors HC9', "HC9"),
        ('logit "died ~ age" t.csv --schema schema.toml --epsilon 1 --budget 1', "noise"),
        ('iv "stay ~ age" t.csv', "--instruments"),
        ("ecdf stay t.csv --grid 1,b", "not a number"),
        ('ols "stay ~ age" nowhere.csv', "nowhere.csv"),
        ("mantel-haenszel sex died t.csv", "--strata"),
    ],
)
def test_refusals(line: str, said: str, folder: Path) -> None:
    """One message and a way out, on exit code 2; the same as JSON."""
    ran = typed(line)

    assert ran.exit_code == 2 and said in ran.output and "Hint" in ran.output, ran.output
    assert json.loads(typed(line + " --json").output)["error"]["message"]


def test_every_example_of_the_help_can_be_read() -> None:
    """The examples name the options that there are."""
    for name, function in command_forms().items():
        words = shlex.split(function.command.example)
        options = [word for word in words if word.startswith("--")]
        known = {opt for param in model_command(name).params for opt in param.opts}

        assert set(options) <= known, name
