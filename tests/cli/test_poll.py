"""`murmure poll`: a device, a card and a plan from `design`; shares with intervals from `tally`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import murmure as mu
from murmure.cli import main

QUESTION = ("--question", "Have you ever cheated in an exam?")


def run(*words: Any) -> Result:
    return CliRunner().invoke(main, ["poll", *map(str, words)], catch_exceptions=False)


def told(*words: Any) -> Any:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def designed(folder: Path, *words: Any) -> tuple[Any, Path, Path]:
    card, plan = folder / "card.html", folder / "plan.json"
    out = told("design", *QUESTION, "--people", 500, *words, "--card", card, "--plan", plan)
    return out, card, plan


def test_from_a_question_to_shares(tmp_path: Path) -> None:
    """The plan that `design` wrote is the one that `tally` reads; 200 of 500 said yes, so 30 % mean it."""
    out, card, plan = designed(tmp_path, "--margin", 8)
    shares = told("tally", "--plan", plan, "--counts", "no=300,yes=200")

    assert out["chosen"] == "two-coins"
    assert mu.Plan.from_json(plan.read_text()).digest == shares["plan"]
    assert shares["plan"] in card.read_text()
    assert [round(row["share"], 9) for row in shares["figures"]] == [0.7, 0.3]
    assert shares["randomised_outside"] is True


def test_tally_is_estimate(tmp_path: Path) -> None:
    """One estimator: the same JSON from both commands."""
    _, _, plan = designed(tmp_path, "--epsilon", 2)
    counts = ("--plan", str(plan), "--counts", "no=13,yes=12", "--simultaneous")
    estimated = CliRunner().invoke(main, ["estimate", *counts, "--json"])

    assert told("tally", *counts) == json.loads(estimated.stdout)


def test_a_table_of_answers(tmp_path: Path) -> None:
    table = tmp_path / "answers.csv"
    table.write_text("name,said\n" + "a,yes\n" * 12 + "b,no\n" * 13)
    by_rows = told("tally", "--device", "die", "--reports", table, "--column", "said")
    by_counts = told("tally", "--device", "die", "--counts", "no=13,yes=12")

    assert [(r["low"], r["high"]) for r in by_rows["figures"]] == [(r["low"], r["high"]) for r in by_counts["figures"]]


def test_more_answers_by_slips(tmp_path: Path) -> None:
    answers = ("--answers", "never,once,often")
    out, _, plan = designed(tmp_path, *answers, "--epsilon", 1.2)
    shares = told("tally", "--plan", plan, "--counts", "never=300,once=120,often=80")

    assert next(d for d in out["devices"] if d["device"] == out["chosen"])["mechanism"]["type"] == "GRR"
    assert sum(row["share"] for row in shares["figures"]) == pytest.approx(1)


def test_forged_answers_widen_the_intervals(tmp_path: Path) -> None:
    counts = ("tally", "--device", "two-coins", "--counts", "no=60,yes=40")
    plain, wide = (told(*counts, *more)["figures"][1] for more in ((), ("--forged", 5)))

    assert wide["low"] < plain["low"]
    assert wide["high"] > plain["high"]


def test_page_and_picture(tmp_path: Path) -> None:
    html, plot = tmp_path / "report.html", tmp_path / "shares.svg"
    result = run("tally", "--device", "cards-32", "--counts", "no=20,yes=5", "--html", html, "--plot", plot)

    assert result.exit_code == 0
    assert "RANDOMISED OUTSIDE THE SOFTWARE" in result.stdout
    assert html.read_text().startswith("<!doctype html>")
    assert "<svg" in plot.read_text()


def test_answers_in_french(tmp_path: Path) -> None:
    """Without --answers, non and oui; and the card is in French first."""
    out, card, plan = designed(tmp_path, "--margin", 8, "--lang", "fr")

    assert out["answers"] == ["non", "oui"]
    assert '<html lang="fr">' in card.read_text()
    assert told("tally", "--lang", "fr", "--plan", plan, "--counts", "non=3,oui=2")["people"] == 5
    assert told("tally", "--lang", "fr", "--device", "birthday", "--counts", "non=3,oui=2")["people"] == 5


def test_an_unknown_answer_in_french() -> None:
    """The whole sentence, with what was wanted."""
    result = run("tally", "--lang", "fr", "--device", "die", "--answers", "non,oui", "--counts", "no=3,oui=2")

    assert "ce plan n’a pas de réponse 'no'" in result.stderr
    assert "l’une des valeurs ['non', 'oui']" in result.stderr


def test_a_device_of_ones_own_choice(tmp_path: Path) -> None:
    out, card, _ = designed(tmp_path, "--margin", 1, "--device", "die")

    assert out["chosen"] == "die"
    assert not next(d for d in out["devices"] if d["device"] == "die")["meets"]
    assert "Throw a die." in card.read_text()


def test_nothing_is_written_when_no_device_will_do(tmp_path: Path) -> None:
    card, plan = tmp_path / "card.html", tmp_path / "plan.json"
    result = run("design", *QUESTION, "--people", 20, "--margin", 1, "--card", card, "--plan", plan)

    assert result.exit_code == 2
    assert "no card is written: No device gives a margin of 1 percentage points" in result.stderr
    assert not card.exists()
    assert not plan.exists()


def test_files_of_others_stay(tmp_path: Path) -> None:
    card, plan = tmp_path / "card.html", tmp_path / "plan.json"
    card.write_text("my page")
    words = ("design", *QUESTION, "--people", 500, "--margin", 8)
    refused = run(*words, "--card", card, "--plan", plan)
    same = run(*words, "--card", plan, "--plan", plan)

    assert (refused.exit_code, same.exit_code) == (2, 2)
    assert card.read_text() == "my page"
    assert not plan.exists()
    plan.write_text("my notes")

    assert run(*words, "--plan", plan).exit_code == 2
    assert plan.read_text() == "my notes"


DESIGN = ("design", *QUESTION, "--people", "100", "--margin", "10")
BAD: dict[str, tuple[tuple[Any, ...], str]] = {
    "nobody": (("design", *QUESTION, "--people", 0, "--margin", 8), "whole number from 1"),
    "no margin": (("design", *QUESTION, "--people", 9, "--margin", 0), "--margin must lie between 0 and 50"),
    "a margin of 200": (("design", *QUESTION, "--people", 9, "--margin", 200), "got 200"),
    "no wish": (("design", *QUESTION, "--people", 9), "nothing says what the poll should reach"),
    "no question": (("design", "--people", 9, "--margin", 8), "needs --question"),
    "one answer": ((*DESIGN, "--answers", "yes"), "--answers must be at least two different ones"),
    "answers that repeat": ((*DESIGN, "--answers", "a,b,a"), "--answers must be at least two different ones"),
    "an empty answer": ((*DESIGN, "--answers", "a,,b"), "--answers holds an empty answer"),
    "300 answers": ((*DESIGN, "--answers", ",".join(map(str, range(300)))), "at most 20 answers, got 300"),
    "an unknown device": ((*DESIGN, "--device", "roulette"), "there is no device 'roulette'"),
    "a device for two": ((*DESIGN, "--answers", "a,b,c", "--device", "two-coins"), "does not work for 3 answers"),
    "no plan": (("tally", "--counts", "no=3,yes=2"), "give --plan or --device"),
    "both": (("tally", "--plan", "p.json", "--device", "die", "--counts", "no=3"), "exclude one another"),
    "nothing said": (("tally", "--device", "die"), "give --counts or --reports"),
    "counts and reports": (("tally", "--device", "die", "--counts", "no=3", "--reports", "x"), "exclude one another"),
    "a negative count": (("tally", "--device", "die", "--counts", "no=-3,yes=2"), "at least 0"),
    "part of a person": (("tally", "--device", "die", "--counts", "no=3.5,yes=2"), "whole number"),
    "nobody answered": (("tally", "--device", "die", "--counts", "no=0,yes=0"), "all counts are 0"),
    "an unknown answer": (
        ("tally", "--device", "die", "--answers", "no,yes", "--counts", "no=3,maybe=2"),
        "there is no answer 'maybe' in this plan",
    ),
    "which is the yes": (
        ("tally", "--device", "birthday", "--counts", "right=3,wrong=2"),
        "which of 'right' or 'wrong'",
    ),
    "no such file": (("tally", "--plan", "nowhere.json", "--counts", "no=3,yes=2"), "cannot read 'nowhere.json'"),
    "no such table": (("tally", "--device", "die", "--reports", "nowhere.csv"), "nowhere.csv"),
    "more forged than there are": (("tally", "--device", "die", "--counts", "no=3,yes=2", "--forged", 6), "at most"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence, exit code 2, nothing on standard output, no file left behind."""
    monkeypatch.chdir(tmp_path)
    words, message = BAD[name]
    result = run(*words)

    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_plan_of_another_kind(tmp_path: Path) -> None:
    """About records, about noise at a curator, about numbers; or no plan at all."""
    schema = mu.Schema({"smoker": mu.Categories(["no", "yes"])})
    domain = mu.Categories(["no", "yes"])
    records = mu.Plan(mu.Marginals(schema), person=mu.SPL(schema, 1.0))
    curator = mu.Plan(mu.Histogram(domain), curator=mu.DiscreteLaplace(1.0))
    path = tmp_path / "plan.json"
    for text, message in (
        (records.to_json(), "a plan about whole rows"),
        (curator.to_json(), "randomised at the person"),
        ('{"a": 1}', "not a plan"),
        ("no json", "JSON"),
    ):
        path.write_text(text)
        result = run("tally", "--plan", path, "--counts", "no=3,yes=2")

        assert result.exit_code == 2, result.output
        assert message in result.stderr
