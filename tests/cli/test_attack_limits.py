"""What an attack's command refuses, in the words of its options."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import murmure as mu
from murmure.cli import main
from murmure.cli.option_words import in_options


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("bayes GRR --categories 1000000000 --epsilon 1", "at most 1,000,000 answers"),
        ("average GRR --categories 4 --epsilon 1 --times 1000000", "at most 10,000, got 1,000,000"),
        ("attributes t.csv --schema s.toml --epsilon 1 --known 0.5", "--knowledge partial"),
        ("bayes GRR --categories 2 --epsilon 1 --prior 0.5,0.6", "--prior 0.7,0.3"),
        ("bayes GRR --categories 2000000 --epsilon 1", "Hint: --categories 1000, for example"),
        ("bayes GRR --categories 4 --epsilon 1 --repetitions -1", "Error: --repetitions must be a whole number"),
        ("average GRR --categories 4 --epsilon 1 --times 0", "Error: --times must be a whole number from 1, got 0."),
        ("average GRR --categories 4 --epsilon 1 --times 1000000", "Hint: --times 1,10,100"),
        ("average GRR --categories 4 --epsilon 1 --budget 2", "Error: --budget is for noise at a curator."),
        ("deniability --categories 5,4 --epsilon 1 --surveys 0", "Error: --surveys must be a whole number"),
        ("poison --categories 4 --epsilon 1 --test-level 2", "Error: --test-level must lie strictly between 0 and 1"),
        ("poison --categories 4 --epsilon 1 --targets a,b", "Error: --targets must be values, or how many: 1 to 3"),
        ("poison --categories 4 --epsilon 1 --forged 20000", "Error: 20,000 of 10,000 reports cannot all be forged."),
        ("floating-point --count -1", "Error: --count must be a whole number from 0 to 1,000, got -1."),
    ],
)
def test_refused(words: str, message: str) -> None:
    ran = CliRunner().invoke(main, ["attack", *words.split()])

    assert ran.exit_code != 0 and message in ran.output, ran.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("GRR --categories 3 --epsilon 1 --time-limit 0", "Error: --time-limit must be a positive number of seconds"),
        ("GRR --categories 3 --epsilon 1 --alpha 2", "Error: --alpha must be a probability below 1"),
        ("GRR --categories 3 --epsilon 1 --claim -1", "Error: --claim must be a number from 0, got -1."),
        (
            "--python json:dumps --epsilon 1 --pair 0,1 --fresh --batched",
            "Error: --fresh makes a randomiser for each report, --batched takes many reports of one.",
        ),
    ],
)
def test_audits_refused(words: str, message: str) -> None:
    ran = CliRunner().invoke(main, ["audit", *words.split()])

    assert ran.exit_code == 2 and message in ran.output, ran.output


def test_what_is_typed_without_a_name_is_no_option() -> None:
    text = "linkage.identified must be a table, got 3."

    assert in_options(text, {"identified": 3, "top": 1}, ["identified"]) == "IDENTIFIED must be a table, got 3."
    assert in_options("top is empty", {"identified": 3, "top": 1}, ["identified"]) == "--top is empty"
    assert in_options("on top is nothing", {"top": 1}) == "on top is nothing"


def test_a_table_that_is_not_there_is_called_so(tmp_path: Path) -> None:
    schema = mu.Schema({"sex": mu.Categories(["f", "m"]), "age": mu.Integers(0, 4)})
    people = {"sex": ["f", "m"], "age": [1, 2]}
    mu.sanitise(people, mu.SPL(schema, 1.0), tmp_path / "out.csv", rng=mu.Random.seeded(1))
    ran = CliRunner().invoke(main, ["attack", "link", str(tmp_path / "out.csv"), str(tmp_path / "nobody.csv")])

    assert ran.exit_code == 2 and "nobody.csv" in ran.output and "must be a table" not in ran.output, ran.output


def test_more_forged_reports_than_reports() -> None:
    words = ["estimate", "--mechanism", "GRR", "--epsilon", "1", "--counts", "no=30,yes=70", "--forged"]

    assert CliRunner().invoke(main, [*words, "100"]).exit_code == 0
    ran = CliRunner().invoke(main, [*words, "101"])
    assert ran.exit_code != 0 and "100, got 101" in ran.output, ran.output
