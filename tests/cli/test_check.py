"""`schema check`: rows that do not match, by the line of their file; and [file] put into a schema that people wrote."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.written_ways import write_workbook

import murmure as mu
from murmure.cli import main
from murmure.cli.schema.file_section import insert_file_section
from murmure.core.file_format import FileFormat
from murmure.core.schema import Schema


def call(*args: Any) -> Any:
    return CliRunner().invoke(main, list(map(str, args)))


AGES = '[columns."âge"]\ntype = "integers"\nlow = 18\nhigh = 99\n'
NOTES = '[columns.note]\ntype = "categories"\nvalues = ["a", "b"]\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_first_three_by_line(folder: Path) -> None:
    """The line that an editor shows, with line breaks inside of quotes and empty lines counted; the cell as written."""
    Path("s.toml").write_text(AGES + NOTES, "utf-8")
    rows = '20;"a\nb"\n\n"1 200";b\n30;a\n12 ans;c\n17;a\n16;a\n15;a\n;b\n'
    Path("d.csv").write_text("âge;note\n" + rows, "cp1252")
    said = json.loads(call("schema", "check", "s.toml", "d.csv", "--json").stdout)
    ages, notes = said["columns"]["âge"], said["columns"]["note"]

    assert (said["rows"], said["valid"]) == (8, 1) and ages["invalid"] == 6 and ages["missing"] == 1
    assert ages["rows"]["invalid"] == [
        {"row": 1, "line": 5, "cell": "1 200"},
        {"row": 3, "line": 7, "cell": "12 ans"},
        {"row": 4, "line": 8, "cell": "17"},
    ]
    assert notes["rows"]["invalid"] == [
        {"row": 0, "line": 2, "cell": "a\nb"},
        {"row": 3, "line": 7, "cell": "c"},
    ]
    assert Schema.load("s.toml").file == FileFormat(separator=";", encoding="windows-1252", thousands=" ")


@pytest.mark.parametrize("rows", ["20\n460\n", '20\n460\n""\n'], ids=["outside", "outside and missing"])
def test_the_hint_fits_with_and_without_missing_values(folder: Path, rows: str) -> None:
    """There is no word about others where nothing was named before."""
    Path("s.toml").write_text(AGES, "utf-8")
    Path("d.csv").write_text("âge\n" + rows, "utf-8")
    said = " ".join(call("schema", "check", "s.toml", "d.csv").stdout.split())

    assert 'Hint: correct wrong values, widen the bounds, or say outside = "clamp" or outside = "drop"' in said
    assert ("missing_value say what counts for missing values (1 here)" in said) == ('""' in rows)


def test_the_line_of_a_sheet(folder: Path) -> None:
    """Lines above the header and empty lines count, as in a spreadsheet."""
    write_workbook(folder / "d.xlsx", [["Titre"], [], ["âge", "note"], [20, "a"], [], [17.5, "a"], ["x", "b"]])
    Path("s.toml").write_text(AGES, "utf-8")
    result = call("schema", "check", "s.toml", "d.xlsx")

    assert result.exit_code == 2 and Schema.load("s.toml").file.skip == 2
    assert "line 6: '17.5'" in result.stdout and "line 7: 'x'" in result.stdout


def test_the_file_is_named_where_there_are_several(folder: Path) -> None:
    Path("data").mkdir()
    for name, age in (("a", 20), ("b", 10)):
        (Path("data") / f"{name}.csv").write_text(f"âge,note\n20,a\n{age},b\n", "utf-8")
    Path("s.toml").write_text(AGES, "utf-8")
    result = call("schema", "check", "s.toml", "data")

    assert "b.csv, line 3: '10'" in result.stdout


def test_clamped_and_dropped_rows_are_named_and_sanitise_counts_the_same(folder: Path) -> None:
    """One code counts: what `check` says beforehand is what the receipt says."""
    Path("s.toml").write_text(AGES + 'outside = "clamp"\n' + NOTES + 'outside = "drop"\n', "utf-8")
    ages = [17, 20, 130, 40, 5, 60] * 20
    notes = ["a", "b", "c", "a", "b", "c"] * 20
    lines = "".join(f"{age},{note}\n" for age, note in zip(ages, notes, strict=True))
    Path("d.csv").write_text("âge,note\n" + lines, "utf-8")
    checked = call("schema", "check", "s.toml", "d.csv", "--json")
    said = json.loads(checked.stdout)["columns"]
    done = mu.sanitise("d.csv", mu.SMP(Schema.load("s.toml"), 1.0), "out.parquet", rng=mu.Random.seeded(1))

    assert checked.exit_code == 0
    assert said["âge"]["clamped"] == 60 and said["note"]["dropped"] == 40 == done.dropped
    # a row that is dropped is not moved as well: a third of them have an age of 130
    assert done.moved == {"âge": 60 - 20}
    assert [row["line"] for row in said["âge"]["rows"]["clamped"]] == [2, 4, 6]
    assert [row["cell"] for row in said["note"]["rows"]["dropped"]] == ["c", "c", "c"]


# ---- [file]


def test_nothing_is_written_without_need(folder: Path) -> None:
    """Into a schema of a plain file, or of a file that it describes, or with --no-write."""
    Path("s.toml").write_text(AGES, "utf-8")
    Path("plain.csv").write_text("âge,note\n20,a\n", "utf-8")
    Path("d.csv").write_text("âge;note\n20;a\n30;b\n", "utf-8")
    before = Path("s.toml").read_bytes()
    assert call("schema", "check", "s.toml", "plain.csv").exit_code == 0
    result = call("schema", "check", "s.toml", "d.csv", "--no-write")
    assert result.exit_code == 0 and "fields are separated by semicolons" in result.stderr
    assert Path("s.toml").read_bytes() == before

    assert call("schema", "check", "s.toml", "d.csv").exit_code == 0
    written = Path("s.toml").read_bytes()
    again = call("schema", "check", "s.toml", "d.csv")
    assert again.exit_code == 0 and again.stderr == "" and Path("s.toml").read_bytes() == written
    assert sorted(os.listdir()) == ["d.csv", "plain.csv", "s.toml"]


def test_the_schema_wins_and_the_difference_is_said(folder: Path) -> None:
    """No look at the rows changes how they are read, once the schema says it."""
    income = '[columns.income]\ntype = "real"\nlow = 0.0\nhigh = 10.0\n'
    Path("s.toml").write_text('[file]\nseparator = ";"\n' + income, "utf-8")
    Path("d.csv").write_text("income;note\n1,5;a\n2,25;N/A\n", "utf-8")
    before = Path("s.toml").read_bytes()
    result = call("schema", "check", "s.toml", "d.csv")

    assert result.exit_code == 2 and "income: 2 rows do not match" in result.stdout
    assert "LOOK: decimal is '.' in the schema, which is how the file is read; it looks like ','." in result.stderr
    assert Path("s.toml").read_bytes() == before


def test_a_word_that_the_schema_calls_an_answer_is_none(folder: Path) -> None:
    """NA is a label here, and stays one."""
    Path("s.toml").write_text('[columns.note]\ntype = "categories"\nvalues = ["a", "NA"]\n', "utf-8")
    Path("d.csv").write_text("âge,note\n20,a\n30,NA\n", "utf-8")
    before = Path("s.toml").read_bytes()

    assert call("schema", "check", "s.toml", "d.csv").exit_code == 0 and Path("s.toml").read_bytes() == before


SCHEMAS = {
    "comments": '# mine\noutside = "clamp" # all\n\n# us\n[columns.a]\ntype = "integers"\nlow = 0 # low\nhigh = 9\n',
    "no blank line": '[columns.a]\ntype = "integers"\nlow = 0\nhigh = 9\n',
    "dotted keys": 'columns.a.type = "integers"\ncolumns.a.low = 0\ncolumns.a.high = 9',
    "one line": 'columns = {a = {type = "integers", low = 0, high = 9}}\n',
    "a bracket in a text": 'columns.a = {type = "integers", low = 0, high = 9, note = """\n[x]\n"""}\n',
    "Windows lines": '# mine\r\n[columns.a]\r\ntype = "integers"\r\nlow = 0\r\nhigh = 9\r\n',
}


@pytest.mark.parametrize("how", SCHEMAS)
def test_everything_else_stays_as_it_was(how: str, folder: Path) -> None:
    """The text of the schema is the old one with one piece more, and reads as the same columns."""
    text, file = SCHEMAS[how], FileFormat(separator=";", missing=("N/A",))
    placed = insert_file_section(text, file)

    assert Schema.from_toml(placed) == Schema.from_toml(text) and Schema.from_toml(placed).file == file
    assert all(line in placed for line in text.splitlines(keepends=True)[:-1])
    assert (("\r\n" in placed) == ("\r\n" in text) and "\n" not in placed.replace("\r\n", "")) or "\r\n" not in text


def test_a_link_stays_a_link(folder: Path) -> None:
    Path("real.toml").write_text(AGES, "utf-8")
    os.symlink("real.toml", "s.toml")
    Path("d.csv").write_text("âge;note\n20;a\n30;b\n", "utf-8")
    call("schema", "check", "s.toml", "d.csv")

    assert Path("s.toml").is_symlink() and "[file]" in Path("real.toml").read_text("utf-8")
