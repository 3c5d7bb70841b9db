"""`murmure estimate --mechanism ... --counts / --reports`: people's own coins, from the command line."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import murmure as mu
from murmure.cli import main

ANSWERS = ["no"] * 300 + ["yes"] * 200


def typed(*args: Any) -> Result:
    return CliRunner().invoke(main, ["estimate", *map(str, args)])


def shares(*args: Any) -> dict[str, float]:
    result = typed(*args, "--json")
    assert result.exit_code == 0, result.output
    return {row["label"]: row.get("share", row.get("value")) for row in json.loads(result.output)["figures"]}


def refused(*args: Any) -> str:
    """The message, which is the same with --json."""
    plain, machine = typed(*args), typed(*args, "--json")
    assert plain.exit_code == machine.exit_code == 2, plain.output
    assert "Traceback" not in plain.output
    return str(json.loads(machine.output)["error"]["message"])


@pytest.mark.parametrize(
    "coins",
    [
        ["--mechanism", "two-coins"],
        ["--mechanism", "Two-Coins"],
        ["--mechanism", "Warner"],
        ["--mechanism", "warner", "--truth", "1/2", "--yes-coin", "0.5"],
        ["--mechanism", "warner", "--epsilon", "1.0986122886681098"],
        ["--mechanism", "grr", "--epsilon", "1.0986122886681098"],
    ],
    ids=" ".join,
)
def test_the_lectures_coins(coins: list[str], tmp_path: Path) -> None:
    """200 yes of 500 are 30 %, however they are named, ordered, counted or listed."""
    pa.csv.write_csv(pa.table({"answer": ANSWERS}), tmp_path / "answers.csv")
    pq.write_table(pa.table({"id": range(500), "answer": ANSWERS}), tmp_path / "answers.parquet")
    domain = ["--labels", "no,yes"]
    for said in (
        ["--counts", "no=300,yes=200"],
        ["--counts", "yes=200, no = 300"],
        ["--counts", "no=300,yes=200", *domain],
        ["--reports", tmp_path / "answers.csv", *domain],
        ["--reports", tmp_path / "answers.parquet", "--column", "answer", *domain],
    ):
        got = shares(*coins, *said)

        assert got.keys() == {"no", "yes"}
        assert abs(got["yes"] - 0.3) < 1e-9 and abs(got["no"] - 0.7) < 1e-9


def test_coins_that_favour_yes_are_read_by_their_own_law() -> None:
    """P[yes | yes] = 5/8 and P[yes | no] = 1/8: whichever answer is named first, yes is the yes."""
    coins = ["--mechanism", "warner", "--truth", "1/2", "--yes-coin", "1/4"]
    wanted = float((Fraction(200, 500) - Fraction(1, 8)) / (Fraction(5, 8) - Fraction(1, 8)))
    for counts in ("no=300,yes=200", "yes=200,no=300", "No=300,YES=200"):
        assert list(shares(*coins, "--counts", counts).values())[1] == pytest.approx(wanted, abs=1e-9)
    assert shares(*coins, "--labels", "non,oui", "--counts", "oui=200,non=300")["oui"] == pytest.approx(
        wanted, abs=1e-9
    )

    assert "which of 'oui' and 'non' is the yes" in refused(*coins, "--counts", "oui=200,non=300")
    assert shares("--mechanism", "two-coins", "--counts", "oui=200,non=300")["oui"] == pytest.approx(0.3, abs=1e-9)


def test_it_says_all_that_the_release_says(tmp_path: Path) -> None:
    """On the terminal, as JSON and as a page: where the randomness came from, and on what the guarantee rests."""
    plain = " ".join(typed("--mechanism", "two-coins", "--counts", "no=300,yes=200").output.split())
    page, plot = tmp_path / "page.html", tmp_path / "plot.svg"
    result = typed("--mechanism", "two-coins", "--counts", "no=300,yes=200", "--json", "--html", page, "--plot", plot)
    held = json.loads(result.output)

    assert "RANDOMISED OUTSIDE THE SOFTWARE" in plain and "'no', 'yes'" in plain and "0.3000" in plain
    assert "provided each person followed the plan's randomisation with fair coins" in plain
    assert "SEEDED" not in plain and "secure" not in plain.lower()
    assert held["randomised_outside"] is True and held["seeded"] is False
    assert held["answers_named_by"] == "--counts" and held["mechanism"]["type"] == "Warner"
    assert all("fair coins" in c["assumption"] for c in held["guarantees"].values())
    assert "outside the software" in page.read_text() and "hors du logiciel" in page.read_text()
    assert plot.read_text().startswith("<?xml")


def test_levels_targets_and_consistent_shares_work_as_for_tables() -> None:
    coins = ["--mechanism", "two-coins", "--counts", "no=300,yes=200", "--json"]
    usual, wide, narrow = (
        json.loads(typed(*coins, *more).output)["figures"][1]
        for more in ([], ["--target", "superpopulation"], ["--level", "0.5"])
    )

    assert wide["low"] < usual["low"] < narrow["low"] <= 0.3 <= narrow["high"] < usual["high"] < wide["high"]
    assert json.loads(typed(*coins, "--simultaneous").output)["level_each"] == pytest.approx(0.975)
    few = json.loads(typed("--mechanism", "two-coins", "--counts", "no=9,yes=1", "--consistent", "--json").output)
    assert [row["share"] for row in few["consistent"]] == [1.0, 0.0]


def test_the_answers_of_counts_are_those_that_are_named() -> None:
    """Three answers need three names: one that nobody gave is named with 0, and changes the law."""
    grr = ["--mechanism", "GRR", "--epsilon", "1", "--counts"]
    assert list(shares(*grr, "often=20,never=140,once=40")) == ["often", "never", "once"]
    assert list(shares(*grr, "never=140,once=40,often=0")) == ["never", "once", "often"]
    assert shares(*grr, "never=140,once=40", "--labels", "never,once,often") == shares(
        *grr, "never=140,once=40,often=0"
    )
    assert shares(*grr, "never=140,once=40") != shares(*grr, "never=140,once=40,often=0")
    assert shares(*grr, "0=5,3=7", "--categories", 4).keys() == {"0", "1", "2", "3"}
    assert shares(*grr, "3=5,4=7", "--integers", "3:5").keys() == {"3", "4", "5", "mean"}


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ('"no, never"=300,yes=200', ["no, never", "yes"]),
        ('"no, never=300",yes=200', ["no, never", "yes"]),
        ("a=b=300,c=200", ["a=b", "c"]),
        ('"a=b,c"=300,"say ""yes"""=200', ["a=b,c", 'say "yes"']),
        (" no = 300 , yes = 2e2 ", ["no", "yes"]),
        ("no=3_00,yes=200.0", ["no", "yes"]),
        ("ça=300,naïf=200", ["ça", "naïf"]),
    ],
)
def test_labels_may_hold_commas_and_equals_signs(text: str, labels: list[str]) -> None:
    assert shares("--mechanism", "two-coins", "--counts", text) == pytest.approx(
        dict(zip(labels, (0.7, 0.3), strict=True))
    )


BAD = {
    "nothing": ([], "needs a sanitised table OUT"),
    "no reports": (["--mechanism", "two-coins"], "--counts or --reports"),
    "no mechanism": (["--counts", "no=3,yes=4"], "--mechanism or --plan"),
    "both": (["--mechanism", "two-coins", "--counts", "no=3,yes=4", "--reports", "x.csv"], "exclude one another"),
    "a table too": (["x.parquet", "--mechanism", "two-coins", "--counts", "no=3,yes=4"], "exclude one another"),
    "a pair": (["--mechanism", "two-coins", "--counts", "no=3,yes=4", "--pair", "a,b"], "sanitised tables"),
    "empty": (["--mechanism", "two-coins", "--counts", ""], "holds no count"),
    "nobody": (["--mechanism", "two-coins", "--counts", "no=0,yes=0"], "nobody"),
    "no count": (["--mechanism", "two-coins", "--counts", "no,yes"], "ANSWER=COUNT"),
    "no label": (["--mechanism", "two-coins", "--counts", "=3,yes=4"], "ANSWER=COUNT"),
    "a comma too many": (["--mechanism", "two-coins", "--counts", "no=3,,yes=4"], "ANSWER=COUNT"),
    "negative": (["--mechanism", "two-coins", "--counts", "no=-3,yes=4"], "whole number, at least 0, got '-3'"),
    "fractional": (["--mechanism", "two-coins", "--counts", "no=3.5,yes=4"], "whole number, at least 0, got '3.5'"),
    "words": (["--mechanism", "two-coins", "--counts", "no=three,yes=4"], "whole number, at least 0"),
    "not a number": (["--mechanism", "two-coins", "--counts", "no=nan,yes=4"], "whole number, at least 0"),
    "infinitely many": (["--mechanism", "two-coins", "--counts", "no=inf,yes=4"], "whole number, at least 0"),
    "too many": (["--mechanism", "two-coins", "--counts", "no=1e19,yes=4"], "can exceed"),
    "far too many": (["--mechanism", "two-coins", "--counts", "no=1e999999999,yes=4"], "whole number"),
    "a label twice": (["--mechanism", "two-coins", "--counts", "no=3,yes=4,no=5"], "names 'no' twice"),
    "a label in two spellings": (
        ["--mechanism", "GRR", "--epsilon", 1, "--categories", 2, "--counts", "1=3,01=4"],
        "counted twice",
    ),
    "an unknown label": (
        ["--mechanism", "two-coins", "--labels", "no,yes", "--counts", "no=3,oui=4"],
        "no answer 'oui'",
    ),
    "one label": (["--mechanism", "two-coins", "--counts", "no=3"], "at least two"),
    "three labels": (["--mechanism", "two-coins", "--counts", "no=3,yes=4,maybe=5"], "two answers"),
    "an unknown mechanism": (["--mechanism", "coins", "--counts", "no=3,yes=4"], "no mechanism 'coins'"),
    "records": (["--mechanism", "SPL", "--epsilon", 1, "--counts", "no=3,yes=4"], "mechanism of records"),
    "no epsilon": (["--mechanism", "GRR", "--counts", "no=3,yes=4"], "needs --epsilon"),
    "fair coins of another kind": (["--mechanism", "two-coins", "--epsilon", 1, "--counts", "no=3,yes=4"], "fair"),
    "a truth that is not one": (["--mechanism", "Warner", "--truth", "x.csv", "--counts", "no=3,yes=4"], "probability"),
    "an option of another": (["--mechanism", "Warner", "--w", 3, "--counts", "no=3,yes=4"], "takes no --w"),
    "a biased mechanism": (
        ["--mechanism", "BoundedLaplace", "--epsilon", 1, "--integers", "0:3", "--counts", "0=3,1=4"],
        "cannot answer",
    ),
    "counts of bits": (["--mechanism", "OUE", "--epsilon", 1, "--counts", "no=3,yes=4"], "counts do not say"),
    "an option without a mechanism": (["x.parquet", "--epsilon", 1], "--epsilon is for --mechanism"),
    "labels without a mechanism": (["x.parquet", "--labels", "no,yes"], "--labels is for --mechanism"),
    "a column of counts": (["--mechanism", "two-coins", "--counts", "no=3,yes=4", "--column", "a"], "--column"),
    "no file": (["--mechanism", "two-coins", "--reports", "no-such.csv"], "no-such.csv"),
    "no labels": (["--mechanism", "GRR", "--epsilon", 1, "--reports", "no-such.csv"], "what one person may answer"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_meant_is_refused(name: str) -> None:
    args, words = BAD[name]

    assert words in refused(*args)


def test_bad_files_are_refused(tmp_path: Path) -> None:
    """Nobody, somebody missing, two columns, another answer, no header."""
    coins = ["--mechanism", "two-coins", "--reports", tmp_path / "a.csv"]
    for text, words in (
        ("", "empty"),
        ("answer\n", "no rows"),
        ("answer\nyes\n\nno\n", "row 1 has no value"),
        ("answer,id\nyes,1\n,2\n", "names no column"),
        ("answer\nyes\nmaybe\n", "row 1 holds 'maybe'"),
        ("answer,id\nyes,1\nno,2\n", "names no column"),
        ("yes\nno\nno\n", "no header"),
    ):
        (tmp_path / "a.csv").write_text(text)

        assert words in refused(*coins)
    (tmp_path / "a.csv").write_text("answer\noui\nnon\n")

    assert "--labels NO,YES" in typed(*coins).output
    assert shares(*coins, "--labels", "non,oui")["oui"] == 0.5
    (tmp_path / "a.csv").write_text("answer,id\nyes,1\n,2\n")

    assert "row 1 has no value" in refused(*coins, "--column", "answer")
    assert "no column 'answers'" in refused(*coins, "--column", "answers")


def test_plans_and_saved_reports(tmp_path: Path) -> None:
    """A plan's file says everything; reports that Reports.save wrote say how they were drawn."""
    domain = mu.Categories(["no", "yes"])
    plan = mu.Plan(mu.Histogram(domain), person=mu.OUE(domain, 1.0))
    (tmp_path / "plan.json").write_text(plan.to_json())
    reports = plan.report(ANSWERS, mu.Random.seeded(1))
    reports.save(tmp_path / "reports.npz")
    result = typed("--plan", tmp_path / "plan.json", "--reports", tmp_path / "reports.npz", "--json")
    held = json.loads(result.output)

    assert held["seeded"] is True and held["randomised_outside"] is False and held["plan"] == plan.digest
    assert [row["share"] for row in held["figures"]] == plan.estimate(reports).estimate.mean.tolist()
    (tmp_path / "coins.json").write_text(mu.Plan(mu.Histogram(domain), person=mu.Warner(domain)).to_json())
    assert shares("--plan", tmp_path / "coins.json", "--counts", "yes=200,no=300")["yes"] == pytest.approx(0.3)
    (tmp_path / "noisy.json").write_text(mu.Plan(mu.Histogram(domain), curator=mu.DiscreteLaplace(1.0)).to_json())
    assert "at the person" in refused("--plan", tmp_path / "noisy.json", "--counts", "no=3,yes=4")
    assert "not this plan" in refused("--plan", tmp_path / "coins.json", "--reports", tmp_path / "reports.npz")
    schema = mu.Schema({"a": domain})
    (tmp_path / "rows.json").write_text(mu.Plan(mu.Marginals(schema), person=mu.SPL(schema, 1.0)).to_json())
    assert "whole rows" in refused("--plan", tmp_path / "rows.json", "--counts", "no=3,yes=4")


def test_numbers_of_a_mean(tmp_path: Path) -> None:
    """Reports of Duchi's mechanism are two numbers, in a file or counted."""
    domain = mu.Integers(0, 10)
    plan = mu.Plan(mu.Mean(domain), person=mu.Duchi(domain, 1.0))
    reports = plan.report([2, 3, 9] * 100, mu.Random.seeded(4))
    low, high = (float(v) for v in plan.person.readout)
    numbers = [low if code == 0 else high for code in reports.data]
    pa.csv.write_csv(pa.table({"x": numbers}), tmp_path / "x.csv")
    duchi = ["--mechanism", "Duchi", "--integers", "0:10", "--epsilon", 1]
    wanted = {"mean": plan.estimate(reports).estimate.mean[0]}

    assert shares(*duchi, "--reports", tmp_path / "x.csv") == wanted
    assert shares(*duchi, "--counts", f"{low!r}={numbers.count(low)},{high!r}={numbers.count(high)}") == wanted
    assert "one of the numbers" in refused(*duchi, "--counts", "0=3,10=4")


def test_a_page_does_not_replace_the_reports(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("answer\nyes\nno\n")
    (tmp_path / "page.html").symlink_to(path)

    assert "would be overwritten" in refused(
        "--mechanism", "two-coins", "--reports", path, "--html", tmp_path / "page.html"
    )
    assert path.read_text() == "answer\nyes\nno\n"
