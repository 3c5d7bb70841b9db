"""What an attack's command refuses, in the words of its options."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from murmure.cli import main


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("bayes GRR --categories 1000000000 --epsilon 1", "at most 1,000,000 answers"),
        ("average GRR --categories 4 --epsilon 1 --times 1000000", "at most 10,000, got 1,000,000"),
        ("attributes t.csv --schema s.toml --epsilon 1 --known 0.5", "--knowledge partial"),
        ("bayes GRR --categories 2 --epsilon 1 --prior 0.5,0.6", "--prior 0.7,0.3"),
    ],
)
def test_refused(words: str, message: str) -> None:
    ran = CliRunner().invoke(main, ["attack", *words.split()])

    assert ran.exit_code != 0 and message in ran.output, ran.output


def test_more_forged_reports_than_reports() -> None:
    words = ["estimate", "--mechanism", "GRR", "--epsilon", "1", "--counts", "no=30,yes=70", "--forged"]

    assert CliRunner().invoke(main, [*words, "100"]).exit_code == 0
    ran = CliRunner().invoke(main, [*words, "101"])
    assert ran.exit_code != 0 and "100, got 101" in ran.output, ran.output
