"""`murmure schema`: drafts that say what they are, shown, and held against data."""

from __future__ import annotations

import csv
import gzip
import importlib
import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from murmure.cli import main
from murmure.core.column import Column
from murmure.core.domain import Categories, Dates, Integers, Interval
from murmure.core.schema import Schema

drafts = importlib.import_module("murmure.cli.schema.drafts")  # murmure.cli.schema itself is the command
N = 400
PEOPLE: dict[str, list[Any]] = {
    "name": [f"person {i}" for i in range(N)],
    "age": [18 + (i * 7) % 80 for i in range(N)],
    "smoker": [("no", "yes", None, 'a, b\n"c"')[i % 4] for i in range(N)],
    "income": [None if i == 5 else 1000.5 + i for i in range(N)],
    "kids": [i % 4 for i in range(N)],
    "ok": [i % 3 == 0 for i in range(N)],
    "zip": [("01234", "75011")[i % 2] for i in range(N)],
    "same": ["x"] * N,
    "nothing": [None] * N,
}


def call(*args: Any) -> Result:
    return CliRunner().invoke(main, ["schema", *map(str, args)])


def write(path: Path, rows: dict[str, list[Any]] = PEOPLE) -> Path:
    table = pa.table(rows)
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".arrow":
        pyarrow.feather.write_feather(table, path, compression="uncompressed")
    else:
        with gzip.open(path, "wt", newline="") if path.suffix == ".gz" else path.open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(rows)
            words = {True: "true", False: "false", None: ""}
            out.writerows(
                [words[v] if v is None or isinstance(v, bool) else v for v in row]
                for row in zip(*rows.values(), strict=True)
            )
    return path


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz", "people.parquet", "people.arrow"])
def test_a_draft(name: str, tmp_path: Path) -> None:
    """The same from every format: each column that was read off the data is marked, in the file and aloud."""
    data, out = write(tmp_path / name), tmp_path / "out.toml"
    result = call("init", data, "-o", out)

    assert result.exit_code == 0, result.output
    schema = Schema.load(out)
    drafted = {"from_data": True}
    labels = {"missing": "value", "missing_value": "missing", **drafted}
    assert schema.column_specs == {
        "age": Column(Integers(18, 97), **drafted),
        "smoker": Column(Categories(['a, b\n"c"', "no", "yes"]), **labels),
        "income": Column(Interval(1000.5, 1000.5 + N - 1), **drafted),
        "kids": Column(Categories([0, 1, 2, 3]), **drafted),
        "ok": Column(Categories([False, True])),
        "zip": Column(Categories(["01234", "75011"]), **drafted),
    }
    text = out.read_text()
    assert text.count("# READ OFF THE DATA: replace by public") == text.count("from_data = true\n") == 5
    for column in schema.drafted:
        assert f"READ OFF THE DATA: column {column!r}" in result.stderr
    assert "READ OFF THE DATA: column 'ok'" not in result.stderr and "WARNING" in result.stderr
    assert "column 'income' refuses them" in result.stderr
    for column, why in (("name", "identifier"), ("same", "one value only"), ("nothing", "holds nothing")):
        assert f"Left out: column {column!r}" in result.stderr and why in result.stderr
        assert f"# Left out: {column!r}" in text
    assert not [p for p in tmp_path.iterdir() if p not in (data, out)]


def test_a_draft_in_json(tmp_path: Path) -> None:
    """JSON and nothing else on standard output; the warning still goes to standard error."""
    data, out = write(tmp_path / "people.parquet"), tmp_path / "s.toml"
    result = call("init", data, "-o", out, "--json", "--columns", "age,ok,name")
    said = json.loads(result.stdout)

    assert said["must_replace"] == ["age"] and said["columns"] == ["age", "ok"] and said["rows"] == N
    assert said["schema"] == str(out) and set(said["left_out"]) == {"name"} and said["most_labels"] == 1000
    assert "READ OFF THE DATA: column 'age'" in result.stderr
    assert list(Schema.load(out)) == ["age", "ok"]


def test_a_draft_is_never_used_as_it_is(tmp_path: Path) -> None:
    """Once its bounds are public and the mark is gone, it is."""
    data, out = write(tmp_path / "people.csv"), tmp_path / "s.toml"
    call("init", data, "-o", out, "--columns", "age")
    with pytest.raises(ValueError, match="read off the data"):
        Schema.load(out).encode({"age": [20]})
    out.write_text(out.read_text().replace("from_data = true\n", "").replace("low = 18", "low = 0"))

    assert Schema.load(out).encode({"age": [20]})[0].tolist() == [20]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """Without --force; and never the data. What fails leaves nothing behind."""
    data, out = write(tmp_path / "people.csv"), tmp_path / "s.toml"
    out.write_text("mine")
    refused = call("init", data, "-o", out)
    assert refused.exit_code == 2 and "already exists" in refused.stderr and out.read_text() == "mine"
    assert call("init", data, "-o", out, "--force").exit_code == 0 and "[columns.age]" in out.read_text()
    before = data.read_bytes()
    onto = call("init", data, "-o", data, "--force")
    assert onto.exit_code == 2 and "is the data" in onto.stderr and data.read_bytes() == before
    nowhere = call("init", data, "-o", tmp_path / "absent" / "s.toml")
    assert nowhere.exit_code == 2 and "cannot write" in nowhere.stderr
    assert sorted(os.listdir(tmp_path)) == ["people.csv", "s.toml"]


MISTAKES: dict[str, tuple[list[str], str]] = {
    "no such file": (["init", "absent.csv"], "there is no file 'absent.csv'"),
    "another format": (["init", "people.xlsx"], "cannot read 'people.xlsx'"),
    "no such column": (["init", "people.csv", "--columns", "agee"], "did you mean 'age'?"),
    "an empty column": (["init", "people.csv", "--columns", "age,,x"], "--columns holds an empty name"),
    "a column twice": (["init", "people.csv", "--columns", "age,age"], "two columns called 'age'"),
    "nothing to draft": (["init", "people.csv", "--columns", "name"], "no column of 'people.csv' can be drafted"),
    "no rows": (["init", "header.csv"], "no column of 'header.csv' can be drafted"),
    "no schema": (["show", "absent.toml"], "cannot read 'absent.toml': no such file"),
    "no TOML": (["show", "people.csv"], "people.csv is not TOML"),
    "bounds the wrong way round": (
        ["show", "bad.toml"],
        "bad.toml, column 'age': low must be below high, got 9 and 5.",
    ),
    "check with a bad schema": (["check", "bad.toml", "people.csv"], "low must be below high"),
    "data without the column": (["check", "other.toml", "people.csv"], "has no column 'Age'"),
    "unknown command": (["initt"], "did you mean init?"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_one_clear_message(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On standard error, or as JSON; exit code 2; no file."""
    monkeypatch.chdir(tmp_path)
    write(Path("people.csv"))
    Path("people.xlsx").write_text("x")
    Path("header.csv").write_text("a,b\n")
    Path("bad.toml").write_text('[columns.age]\ntype = "integers"\nlow = 9\nhigh = 5')
    Path("other.toml").write_text('[columns.Age]\ntype = "integers"\nlow = 0\nhigh = 5')
    Path("number.toml").write_text('[columns.name]\ntype = "integers"\nlow = 0\nhigh = 5')
    args, words = MISTAKES[what]
    files = sorted(os.listdir())
    result, as_json = call(*args), call(*args, "--json")
    said = json.loads(as_json.stdout)["error"]

    assert result.exit_code == as_json.exit_code == 2
    assert words in result.stderr.replace("\n  Hint: ", " ") and result.stdout == ""
    assert words in f"{said['message']} {said['hint']}"
    assert sorted(os.listdir()) == files


# ---- what a draft makes of columns


def drafted(values: Any, tmp_path: Path, suffix: str = ".parquet") -> Column | str:
    rows = {"x": values, "y": [i % 2 for i in range(len(values))]}
    data = write(tmp_path / f"data{suffix}", rows)
    said = json.loads(call("init", data, "-o", tmp_path / "s.toml", "--force", "--json").stdout)
    if "x" in said["left_out"]:
        return said["left_out"]["x"]
    return Schema.load(tmp_path / "s.toml").column_specs["x"]


COLUMNS: dict[str, tuple[Any, Any]] = {
    "few numbers, often": ([1, 2, 99] * 30, Categories([1, 2, 99])),
    "few numbers, once": ([30, 41, 77], Integers(30, 77)),
    "negative numbers": (list(range(-50, 50)), Integers(-50, 49)),
    "whole floats without gaps": ([1.0, 2.0, 70.0] * 30, Interval(1, 70)),
    "infinity": ([1.0, 2.5, float("inf"), float("-inf")], Interval(1, 2.5)),
    "huge numbers": ([2**40 * i for i in range(50)], "at most 2**31"),
    "unsigned numbers": (pa.array([10**15 - 1 - i for i in range(30)], pa.uint64()), Integers(10**15 - 30, 10**15 - 1)),
    "times of one day": (pa.array([1, 2, 3], pa.timestamp("s")), "it holds one value only"),
    "days": (pa.array([0, 90], pa.date32()), Dates("1970-01-01", "1970-04-01")),
    "months": (pa.array([0, 900], pa.date32()), Dates("1970-01-01", "1972-06-19", "month")),
    "years": (pa.array([0, 19000 * 86_400], pa.timestamp("s")), Dates("1970-01-01", "2022-01-08", "year")),
    "times of the day": (pa.array([1, 2], pa.time32("s")), "values of type time32"),
    "decimals": (pa.array([1, 2, 3], pa.decimal128(5, 2)), "values of type decimal128(5, 2)"),
    "lists": (pa.array([[1], [2]]), "values of type list"),
    "bytes": (pa.array([b"a", b"b"]), "values of type binary"),
    "dictionary": (pa.array(["a", "b", "a"]).dictionary_encode(), Categories(["a", "b"])),
    "large text": (pa.array(["b", "a", "a"], pa.large_string()), Categories(["a", "b"])),
    "many texts": ([f"t{i % 1500}" for i in range(6000)], "more than 1000 different texts"),
    "names": ([f"t{i}" for i in range(2000)], "identifier"),
    "few names": ([f"t{i}" for i in range(6)], "identifier"),
}


@pytest.mark.parametrize("what", COLUMNS)
def test_what_is_drafted(what: str, tmp_path: Path) -> None:
    values, expected = COLUMNS[what]
    found = drafted(values, tmp_path)

    if isinstance(expected, str):
        assert isinstance(found, str) and expected in found
    else:
        assert found == Column(expected, from_data=True)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([40, None, 90, 41] * 10, Column(Categories([40, 41, 90]), missing="value", from_data=True)),
        ([40.0, float("nan"), 90.0], Column(Integers(40, 90), from_data=True)),
        ([*range(50), None], Column(Integers(0, 49), from_data=True)),
        ([True, None, False], Column(Categories([False, True]), missing="value", from_data=True)),
        (
            ["missing", "x", None],
            Column(Categories(["missing", "x"]), missing="value", missing_value="no missing", from_data=True),
        ),
    ],
)
def test_gaps(values: list[Any], expected: Column, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels get one for missing answers, under a name that is free; whole numbers with gaps stay whole numbers."""
    monkeypatch.setattr(drafts, "MIN_REPEATS", 10)

    assert drafted(values, tmp_path) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "2", "70"], Integers(1, 70)),
        (["1", "2.5", "7e1"], Interval(1, 70)),
        (["1", "2", "x"], Categories(["1", "2", "x"])),
        (["007", "008", "123"], Categories(["007", "008", "123"])),
        (["0x1f", "1", "2"], Categories(["0x1f", "1", "2"])),
        (["1.0", "", "70.0"], Interval(1, 70)),
        (["TRUE", "FALSE", "TRUE"], Categories([False, True])),
        (["true", "2", "x"], Categories(["2", "true", "x"])),
        (["é", '"q"', "a,b"], Categories(['"q"', "a,b", "é"])),
        (["0", "-5", "40"], Integers(-5, 40)),
    ],
)
def test_the_text_of_a_csv(values: list[str], expected: Any, tmp_path: Path) -> None:
    """Numbers where all of it are numbers; a code that starts with 0 is text. The draft reads its own data."""
    found = drafted(values, tmp_path, ".csv")

    assert isinstance(found, Column) and found.domain == expected
    if "" not in values:
        assert call("check", tmp_path / "s.toml", tmp_path / "data.csv").exit_code == 0


def test_batches_are_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A column that turns out to be text, or real, in a later batch; no more than so many values are kept."""
    import murmure.engines.sources.tables as tables

    real = tables.open_table
    monkeypatch.setattr(tables, "open_table", lambda *args, **how: real(*args, **{**how, "rows": 2}))
    monkeypatch.setattr(drafts, "MAX_LABELS", 3)
    rows: dict[str, list[Any]] = {
        "turns real": ["1", "2", "3", "", "4.5", "6"],
        "turns text": ["1", "2", "3", "3", "x", "x"],
        "was boolean": ["true", "false", "", "", "2", "2"],
        "late": ["", "", "", "", "5", "60"],
        "four": ["a", "b", "c", "d", "a", "a"],
        "x": list("aabbaa"),
    }
    data = write(tmp_path / "data.csv", rows)
    said = json.loads(call("init", data, "-o", tmp_path / "s.toml", "--json").stdout)
    schema = Schema.load(tmp_path / "s.toml")

    assert schema.column_specs["turns real"].domain == Interval(1, 6)
    assert "turns text" in said["left_out"] and "more than 3" in said["left_out"]["turns text"]
    assert schema.column_specs["was boolean"].domain == Categories(["2", "false", "true"])
    assert schema.column_specs["late"].domain == Integers(5, 60)
    assert "more than 3" in said["left_out"]["four"]


def test_a_name_cannot_escape_its_comment(tmp_path: Path) -> None:
    """A column called by a line of TOML stays a name."""
    name = 'x"]\nlow = 3 # \x07'
    rows = {name: ["a", "b"], "bad\n[columns.y]": ["z", "z"], "": ["q", "r"]}
    data = write(tmp_path / "data.parquet", rows)
    result = call("init", data, "-o", tmp_path / "s.toml")

    assert result.exit_code == 0, result.output
    assert list(tomllib.loads((tmp_path / "s.toml").read_text())["columns"]) == [name]
    assert "it has no name" in result.stderr


LOOKS_MISSING: dict[str, list[Any]] = {
    "smoker": [("no", "yes", "NA", None)[i % 4] for i in range(N)],
    "income": ["-" if i == 7 else str(1000 + i) for i in range(N)],
    "job": [("none", "cook", "N/A", "null")[i % 4] for i in range(N)],
}


def test_text_that_looks_like_a_missing_value_is_noted(tmp_path: Path) -> None:
    """In a file with types of its own it is a label, or makes text of numbers, which hardly anybody means."""
    data, out = write(tmp_path / "d.parquet", LOOKS_MISSING), tmp_path / "s.toml"
    result = call("init", data, "-o", out, "--json")

    assert "column 'smoker': 'NA' looks like a missing value; empty fields are read as missing." in result.stderr
    assert "column 'job': 'N/A', 'null' look like missing values;" in result.stderr
    said = json.loads(result.stdout)["looks_missing"]
    assert said == {"smoker": ["NA"], "income": ["-"], "job": ["N/A", "null"]}


def test_words_for_missing_values_are_declared(tmp_path: Path) -> None:
    """In a file of text they go into [file], out loud, and make no label and no text of numbers."""
    data, out = write(tmp_path / "d.csv", LOOKS_MISSING), tmp_path / "s.toml"
    result = call("init", data, "-o", out, "--json")
    schema = Schema.load(out)

    assert "missing values: '-', 'N/A', 'NA', 'null', as in 'smoker', 'income', 'job'" in result.stderr
    assert schema.file.missing == ("-", "N/A", "NA", "null") and json.loads(result.stdout)["looks_missing"] == {}
    assert schema.column_specs["income"].domain == Integers(1000, 1000 + N - 1)
    assert schema.column_specs["smoker"].domain == Categories(["no", "yes"])


@pytest.mark.parametrize(("words", "labels"), [(("ja", "nein"), ["nein", "ja"]), (("Oui", "non", "o"), ["non", "Oui"])])
def test_yes_and_no_are_two_labels(words: tuple[str, ...], labels: list[str], tmp_path: Path) -> None:
    """In the words of the file, no first; other spellings go into [file], and every row has one of the two."""
    data, out = (
        write(tmp_path / "d.csv", {"smoker": list(words) * 9, "n": list(range(9)) * len(words)}),
        tmp_path / "s.toml",
    )
    call("init", data, "-o", out)
    schema = Schema.load(out)

    assert schema.column_specs["smoker"].domain == Categories(labels)
    assert bool(schema.file.yes) == (len(words) > 2) and call("check", out, data).exit_code == 0


def test_an_empty_text_is_noted_and_good_labels_are_not(tmp_path: Path) -> None:
    data, out = tmp_path / "d.csv", tmp_path / "s.toml"
    data.write_text("a,b\n" + 'x,u\n"",v\n,u\n' * 20)
    noted = [line for line in call("init", data, "-o", out).stderr.splitlines() if line.startswith("Note")]

    assert noted == [
        "Note: column 'a': '' looks like a missing value; empty fields (without quotation marks) are read as missing."
    ]


# ---- show and check


@pytest.mark.parametrize(("size", "last", "more"), [(60, "'label 59'", None), (130, "'label 99'", "and 30 more")])
def test_show_cuts_no_label(size: int, last: str, more: str | None, tmp_path: Path) -> None:
    """All of them, or how many more there are."""
    path = tmp_path / "s.toml"
    path.write_text(Schema({"a": Categories([f"label {i}" for i in range(size)])}).to_toml())
    shown = " ".join(call("show", path).stdout.split())

    assert last in shown and "..." not in shown
    assert (more in shown) if more else ("more" not in shown)


def test_show(tmp_path: Path) -> None:
    """Every column, what it says, and what is still to be replaced."""
    schema = Schema(
        {
            "age": Column(Integers(18, 99), missing="constant", missing_value=40, note="in years [bold]x[/]"),
            "smoker": Column(Categories(["no", "yes"]), missing="value", from_data=True),
            "region": Column(Categories(3), public=True),
        }
    )
    path = tmp_path / "s.toml"
    path.write_text(schema.to_toml())
    shown, said = call("show", path).stdout, json.loads(call("show", path, "--json").stdout)

    for words in ("from 18 to 99", "count as 40", "[bold]x[/]", "count as 'missing'", "never randomised", "READ OFF"):
        assert words in shown
    assert "before anything is released: smoker" in " ".join(shown.split())
    assert said["drafted"] == ["smoker"] and said["public"] == ["region"] and said["private"] == ["age", "smoker"]
    assert Schema.from_dict({key: said[key] for key in ("type", "columns", "order")}) == schema


@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_check(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are counted over batches; a row that is wrong twice is one row; the first of each column is named."""
    import murmure.engines.sources.tables as tables

    real = tables.open_table
    monkeypatch.setattr(tables, "open_table", lambda *args, **how: real(*args, **{**how, "rows": 2}))
    path = tmp_path / "s.toml"
    path.write_text(
        '[columns.age]\ntype = "integers"\nlow = 18\nhigh = 99\n'
        '[columns.smoker]\ntype = "categories"\nvalues = ["no", "yes"]\n'
    )
    data = write(
        tmp_path / name, {"age": [20, 30, 40, 17, 100], "smoker": ["no", "yes", "no", "NO", None], "z": [1] * 5}
    )
    result, as_json = call("check", path, data), call("check", path, data, "--json")
    said = json.loads(as_json.stdout)

    assert result.exit_code == as_json.exit_code == 2
    assert (said["rows"], said["valid"]) == (5, 3)
    assert said["columns"]["age"]["invalid"] == 2 and said["columns"]["age"]["first"]["row"] == 3
    assert (
        said["columns"]["smoker"]["invalid"] == 2
        and "row 3 holds 'NO'" in said["columns"]["smoker"]["first"]["message"]
    )
    shown = result.stdout.replace("\u00a0", " ")
    assert "3 of 5 rows are valid" in shown and "age: 2 rows do not match" in shown
    assert ("line 5: '17'" if name == "data.csv" else "row 3 holds 17") in shown


def test_check_of_good_data(tmp_path: Path) -> None:
    """Exit code 0, with a draft too; public columns count."""
    path = tmp_path / "s.toml"
    path.write_text('[columns.r]\ntype = "categories"\nvalues = [1, 2]\npublic = true\nfrom_data = true')
    good, bad = write(tmp_path / "good.csv", {"r": [1, 2]}), write(tmp_path / "bad.csv", {"r": [1, 3]})

    assert call("check", path, good).exit_code == 0 and "Read off the data" in call("check", path, good).stdout
    assert call("check", path, bad).exit_code == 2


def test_check_looks_at_every_row_whatever_it_holds(tmp_path: Path) -> None:
    """Text among numbers is a row that is not valid, and does not end the reading."""
    (tmp_path / "schema.toml").write_text('[columns.age]\ntype = "integers"\nlow = 0\nhigh = 9\n')
    (tmp_path / "people.csv").write_text("age,x\n1,a\nmany,a\n2.0,a\n,a\n7.5,a\n")
    result = call("check", str(tmp_path / "schema.toml"), str(tmp_path / "people.csv"), "--json")

    said = json.loads(result.stdout)
    assert (said["rows"], said["valid"], said["columns"]["age"]["invalid"]) == (5, 2, 3)
