"""`murmure advise`: what it prints, in words and in JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from murmure.cli import main

ROW = {
    "leverage",
    "mechanism",
    "epsilon",
    "mean_variance",
    "worst_variance",
    "var_star",
    "report_bits",
    "detail",
    "best",
    "standard_error",
}


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["advise", *args], catch_exceptions=False)


def rows(*args: str) -> list[dict[str, Any]]:
    result = run(*args, "--json")

    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["rows"]


def test_the_table_marks_the_best_and_ends_with_one_sentence() -> None:
    """Names, errors in percentage points and bits; then what it means in plain words."""
    result = run("--categories", "128", "--epsilon", "1", "--people", "100000")

    assert result.exit_code == 0
    assert result.stderr == ""
    best = next(line for line in result.stdout.splitlines() if "best" in line)
    assert best.split()[:5] == ["SubsetSelection", "0.601", "0.682", "3.6098e-05", "103.2"]
    closing = " ".join(result.stdout.split("\n\n")[-1].split())
    assert "standard error of about 0.601 percentage points on average over the answers (at worst 0.682)" in closing
    assert "and one report costs 103 bits" in closing
    assert closing.endswith("(OLH: 0.608 for 18 bits).")


def test_json_is_the_advice_and_nothing_else() -> None:
    """Its rows carry every field, and the ranking is by the key that was asked for."""
    result = run("--categories", "4", "--epsilon", "1", "--people", "1000", "--json")
    held = json.loads(result.stdout)

    assert set(held) == {"domain", "people", "statistic", "rank_by", "rows", "sentence", "caution", "plot"}
    assert held["domain"] == {"type": "Categories", "values": 4, "column": None}
    assert (held["people"], held["statistic"], held["rank_by"], held["plot"]) == (1000, "histogram", "mean", None)
    assert all(set(row) == ROW for row in held["rows"])
    assert [row["best"] for row in held["rows"]] == [True] + [False] * (len(held["rows"]) - 1)
    assert held["rows"][0]["standard_error"] == math.sqrt(held["rows"][0]["mean_variance"])
    assert result.stdout.isascii()


def test_the_lectures_figure_is_one_call(tmp_path: Path) -> None:
    """N = 1e5, k = 128, epsilon from 0.5 to 5: the figures of reference/math.md, and a drawing."""
    path = tmp_path / "var-star.svg"
    got = rows(
        *("--categories", "128", "--epsilon", "0.5:5:0.5", "--people", "1e5"),
        *("--rank-by", "var-star", "--plot", str(path)),
    )
    star = {(row["mechanism"], row["epsilon"]): row["var_star"] for row in got}

    assert sorted({row["epsilon"] for row in got}) == [0.5 * i for i in range(1, 11)]
    assert star["GRR", 1.0] == pytest.approx(4.359648e-04, rel=1e-6)
    assert star["OUE", 2.0] == pytest.approx(7.240617e-06, rel=1e-6)
    assert star["SubsetSelection", 4.0] == pytest.approx(5.842426e-07, rel=1e-6)
    assert path.read_text(encoding="utf-8").startswith("<?xml")
    assert [p.name for p in tmp_path.iterdir()] == ["var-star.svg"]


def test_the_help_shows_that_call() -> None:
    """The example of the help is the lecture's figure, and it runs."""
    text = " ".join(run("--help").stdout.split())

    assert "--categories 128 --epsilon 0.5:5:0.5 --people 1e5 --rank-by var-star --plot var-star.svg" in text


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_plots(tmp_path: Path, suffix: str) -> None:
    """A drawing in each format, named in the answer."""
    path = tmp_path / f"figure.{suffix}"
    result = run("--labels", "no,yes", "--epsilon", "1,2", "--people", "50", "--plot", str(path))

    assert result.exit_code == 0
    assert path.stat().st_size > 1000
    assert f"Drawn in {path}" in result.stdout.replace("\n", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", [1.0]),
        ("0.5,1,2", [0.5, 1.0, 2.0]),
        ("0.5:1:0.1", [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]),
        ("1:2:0.7", [1.0, 1.7]),
        ("2:2:1", [2.0]),
    ],
)
def test_epsilon_is_a_number_a_list_or_a_range(text: str, expected: list[float]) -> None:
    """Ranges are counted in decimals: 0.1 six times is six steps."""
    got = rows("--labels", "no,yes", "--epsilon", text, "--people", "100")

    assert list(dict.fromkeys(row["epsilon"] for row in got)) == expected


def test_several_epsilons_are_blocks_of_one_table() -> None:
    """The closing sentence goes from the first to the last."""
    result = run("--categories", "4", "--epsilon", "1,3", "--people", "1")

    assert result.stdout.count("<- best") == 2
    assert "With 1 person, the best standard error of every share goes from about" in " ".join(result.stdout.split())


@pytest.mark.parametrize("people", ["100000", "100_000", "1e5"])
def test_people_as_people_write_them(people: str) -> None:
    assert "from 100,000 people" in run("--categories", "4", "--epsilon", "1", "--people", people).stdout


@pytest.mark.parametrize(
    ("domain", "statistic", "first"),
    [
        (["--categories", "4"], "histogram", "GRR"),
        (["--labels", "a,b,c"], "histogram", "GRR"),
        (["--labels", '"a, b",c'], "histogram", "GRR"),
        (["--integers", "-3:3"], "histogram", "GRR"),
        (["--integers", "0:10", "--statistic", "mean"], "mean", "Piecewise"),
        (["--interval", "0:1"], "mean", "Piecewise"),
        (["--interval", "-1.5:2", "--cells", "64"], "mean", "Piecewise"),
    ],
)
def test_domains(domain: list[str], statistic: str, first: str) -> None:
    """Each kind of answer, and what is asked of it unless told otherwise."""
    result = run(*domain, "--epsilon", "1.5", "--people", "500", "--json")
    held = json.loads(result.stdout)

    assert (held["statistic"], held["rows"][0]["mechanism"]) == (statistic, first)
    assert (held["rows"][0]["var_star"] is None) == (statistic == "mean")
    assert run(*domain, "--epsilon", "1.5", "--people", "500").exit_code == 0


def test_labels_are_kept_as_typed_and_never_read_as_markup() -> None:
    """A label such as [bold] is shown, not obeyed."""
    result = run("--labels", "[bold]no,yes :smile:", "--epsilon", "1", "--people", "10")

    assert "[bold]no, yes :smile:" in result.stdout


def test_shares() -> None:
    """One share, or all of them, move the variances as the formula says."""
    at = ("--categories", "128", "--epsilon", "1", "--people", "1e5")
    one = {row["mechanism"]: row for row in rows(*at, "--share", "0.1")}

    assert one["GRR"]["mean_variance"] == pytest.approx(5.092939e-04, rel=1e-6)
    assert one["OUE"]["mean_variance"] == pytest.approx(3.782694e-05, rel=1e-6)
    every = rows("--categories", "4", "--epsilon", "1", "--people", "1", "--shares", "0.5,0.3,0.2,0")
    grr = next(row for row in every if row["mechanism"] == "GRR")
    assert grr["worst_variance"] == pytest.approx(2.180044, rel=1e-6)


def test_rank_by() -> None:
    """The order follows the key."""
    at = ("--categories", "16", "--epsilon", "2", "--people", "1000")
    for rank_by, key in (("mean", "mean_variance"), ("worst", "worst_variance"), ("var-star", "var_star")):
        values = [row[key] for row in rows(*at, "--rank-by", rank_by)]

        assert values == sorted(values)
        assert run(*at, "--rank-by", rank_by).exit_code == 0


def test_no_colour_in_a_pipe() -> None:
    """Escape codes are for terminals only."""
    assert "\x1b" not in run("--categories", "4", "--epsilon", "1", "--people", "9").output


def test_numbers_are_whole_in_narrow_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prose is wrapped between words, tables are not cut."""
    monkeypatch.setenv("COLUMNS", "50")
    said = run("--categories", "1000", "--epsilon", "1", "--people", "123456789").stdout

    assert said.count("123,456,789") == 2 and "1,000 answers" in said
    assert max(map(len, said.split("\n\n")[-1].splitlines())) <= 50
    assert "\u2026" not in said


def test_the_sentence_names_what_was_asked() -> None:
    """One share, all of them on average, the worst of them, or a rare one."""
    at = ("--categories", "4", "--epsilon", "1", "--people", "100", "--json")

    def said(*args: str) -> str:
        return json.loads(run(*at, *args).stdout)["sentence"]

    assert (
        "every share a standard error of about 13.7 percentage points on average over the answers (at worst 16.6)"
        in said()
    )
    assert "a share of 0.1 a standard error of about 13.1 percentage points, and one" in said("--share", "0.1")
    assert "on average" not in said("--rank-by", "worst")
    assert "a rare answer" in said("--rank-by", "var-star")
    mean = json.loads(run("--interval", "0:1", "--epsilon", "1", "--people", "9", "--json").stdout)["sentence"]
    assert "on average over the values (at worst" in mean


# -- whole records ----------------------------------------------------------------------------------------------------

SCHEMA = """
[columns.smoker]
type = "categories"
values = ["no", "yes"]
missing = "value"

[columns.region]
type = "categories"
values = ["north", "south", "east", "west"]

[columns.age]
type = "integers"
low = 18
high = 99
"""


@pytest.fixture
def schema(tmp_path: Path) -> str:
    path = tmp_path / "schema.toml"
    path.write_text(SCHEMA, encoding="utf-8")
    return str(path)


def test_a_schema_ranks_solutions(schema: str) -> None:
    """Splitting, sampling, fakes and plain; both epsilons; the protocol of every column; one sentence."""
    result = run("--schema", schema, "--epsilon", "2", "--people", "1e4")
    words = " ".join(result.stdout.split())

    assert result.exit_code == 0 and result.stderr == ""
    assert result.stdout.startswith("The figures of 3 columns, from 10,000 people")
    best = next(line for line in result.stdout.splitlines() if "<- best" in line)
    assert best.startswith("SMP, 1 of 3")
    for part in ("RS+FD[OUE-z]", "Plain: biased, no figure: age", "region GRR", "age Hybrid", "SPL"):
        assert part in words, part
    assert "at epsilon 2 for a whole record, SMP, 1 of 3 gives a standard error of about" in words
    assert words.endswith("it knows nothing of pairs of columns.")


def test_a_schema_as_json(schema: str, tmp_path: Path) -> None:
    """JSON and nothing else: schema, rows with certificates and variances, the sentence, where it was drawn."""
    picture = tmp_path / "figure.svg"
    result = run("--schema", schema, "--epsilon", "1,8", "--people", "500", "--json", "--plot", str(picture))
    held = json.loads(result.stdout)

    assert set(held) == {"schema", "people", "rank_by", "rows", "sentence", "caution", "plot"}
    assert held["schema"]["type"] == "Schema" and held["plot"] == str(picture)
    assert sum(row["best"] for row in held["rows"]) == 2
    plain = [row for row in held["rows"] if row["mechanism"] == "Plain"]
    assert [row["mean_variance"] for row in plain] == [None, None]
    for row in held["rows"]:
        assert row["epsilon_attribute"] <= row["epsilon_record"] <= row["epsilon"]
    assert "goes from about" in held["sentence"]
    assert picture.read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--categories", "4"], "--categories is for one question, --schema for whole records."),
        (["--shares", "0.5,0.5"], "--shares is for one question, --schema for whole records."),
        (["--statistic", "mean"], "--statistic is for one question, --schema for whole records."),
        (["--rank-by", "var-star"], "must be one of mean, worst for records"),
    ],
)
def test_what_a_schema_excludes(schema: str, args: list[str], message: str) -> None:
    result = run("--schema", schema, "--epsilon", "1", "--people", "10", *args)

    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_a_schema_that_cannot_be_used(tmp_path: Path) -> None:
    """No file, or bounds that were read off the data."""
    missing = run("--schema", str(tmp_path / "absent.toml"), "--epsilon", "1", "--people", "10")
    drafted = tmp_path / "draft.toml"
    drafted.write_text(SCHEMA + "from_data = true\n", encoding="utf-8")
    draft = run("--schema", str(drafted), "--epsilon", "1", "--people", "10")

    assert missing.exit_code == draft.exit_code == 2
    assert "absent.toml" in missing.stderr and "read off the data" in draft.stderr
