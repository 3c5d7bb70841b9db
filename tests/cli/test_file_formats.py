"""Commands read a French spreadsheet's CSV as [file] of their schema says, or by `--file-format`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from murmure.cli import main

SCHEMA = """
[file]
separator = ";"
encoding = "windows-1252"
decimal = ","
missing = ["N/A"]
yes = ["oui"]
no = ["non"]

[columns."Âge"]
type = "integers"
low = 18
high = 77

[columns.Revenu]
type = "real"
low = 0.0
high = 100.0
cells = 1000

[columns.Fumeur]
type = "categories"
values = ["non", "oui"]
missing = "constant"
missing_value = "non"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """300 people, a third of whom smoke; incomes are 0,5 to 99,5."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{18 + i % 60};{i % 100},5;{('Oui', 'NON', 'N/A')[i % 3]}" for i in range(300)]
    (tmp_path / "people.csv").write_bytes("\r\n".join(["Âge;Revenu;Fumeur", *rows, ""]).encode("windows-1252"))
    (tmp_path / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path


def run(words: str) -> dict[str, Any]:
    ran = CliRunner().invoke(main, [*words.split(), "--json"], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)
    assert isinstance(found, dict)
    return found


def test_a_query(folder: Path) -> None:
    """The mean is 50; at epsilon 50 the noise is far below 0.5."""
    found = run("query mean people.csv --column Revenu --schema schema.toml --epsilon 50 --budget 60")

    assert abs(found["figures"][0]["value"] - 50) < 0.5


def test_a_sanitised_table_beside_its_original(folder: Path) -> None:
    run("sanitise people.csv --schema schema.toml --epsilon 60 --solution plain -o out.parquet --seed 7")
    found = run("estimate out.parquet --columns Fumeur --truth people.csv --file-format schema.toml")

    assert [round(row["truth"], 3) for row in found["figures"]] == [0.667, 0.333]


def test_a_model_and_its_predictions(folder: Path) -> None:
    run("train linear people.csv --schema schema.toml --target Revenu --epsilon 50 --budget 60 -o model.json")
    found = run("predict model.json people.csv --file-format schema.toml -o predicted.csv")

    assert found["rows"] == 300


def test_without_the_format_it_is_said_what_to_do(folder: Path) -> None:
    run("train linear people.csv --schema schema.toml --target Revenu --epsilon 50 --budget 60 -o model.json")
    ran = CliRunner().invoke(main, ["predict", "model.json", "people.csv", "-o", "predicted.csv"])

    assert ran.exit_code == 2 and "murmure schema init" in ran.output and not Path("predicted.csv").exists()


def test_answers_that_people_randomised_themselves(folder: Path) -> None:
    Path("answers.csv").write_bytes("réponse;ville\nOui;Nîmes\nNon;Paris\noui;Sète\nN/A;Sète\n".encode("windows-1252"))
    words = "estimate --mechanism two-coins --labels non,oui --reports answers.csv --column réponse --file-format"
    ran = CliRunner().invoke(main, [*words.split(), "schema.toml"])
    assert "row 3 has no value" in ran.output  # who did not answer sent no report

    Path("answers.csv").write_bytes("réponse;ville\nOui;Nîmes\nNon;Paris\noui;Sète\n".encode("windows-1252"))
    assert run(f"{words} schema.toml")["people"] == 3


def test_a_regression(folder: Path) -> None:
    ran = CliRunner().invoke(main, ["ols", "Revenu ~ Âge", "people.csv", "--schema", "schema.toml", "--json"])

    assert ran.exit_code == 0 and json.loads(ran.stdout)["facts"]["Rows"] == 300
