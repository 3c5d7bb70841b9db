"""Files of every dialect: the same people give the same codes, and no row changes how another is read."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import sqlite3
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.core.cells.lenient_encoding import encode_schema_lenient
from murmure.core.errors import EmptySource, InvalidParameter, MurmureError
from murmure.core.file_format import FileFormat
from murmure.engines.sources import csv_files, databases, recoded_bytes
from murmure.engines.sources.data_file import DataFile, described
from murmure.engines.sources.file_header import header_names
from murmure.engines.sources.object_rows import text_of_cell
from murmure.engines.sources.row_groups import row_groups
from murmure.engines.sources.spelling import Spelling, rewrite
from murmure.engines.sources.tables import open_table
from murmure.ledger.fingerprint import files_of, fingerprint

COLUMNS: dict[str, Any] = {
    "Âge": mu.Integers(18, 99),
    "Revenu": mu.Decimals(0, 100_000, places=2),
    "Fumeur": mu.Column(mu.Categories(["non", "oui"]), missing="value", missing_value="sans réponse"),
    "Région": mu.Categories(["Bretagne", "Île-de-France", "Provence; Alpes, Côte"]),
    "Malade": mu.Categories([False, True]),
}
N = 200


def people() -> list[dict[str, Any]]:
    rng = np.random.default_rng(20)
    smoker, regions = ["oui", "non", None], COLUMNS["Région"].values
    return [
        {
            "Âge": int(rng.integers(18, 100)),
            "Revenu": round(float(rng.uniform(0, 99_999)), 2),
            "Fumeur": smoker[rng.integers(3)],
            "Région": regions[rng.integers(3)],
            "Malade": bool(rng.integers(2)),
        }
        for _ in range(N)
    ]


def number(value: float, file: FileFormat) -> str:
    whole, _, cents = f"{value:.2f}".partition(".")
    return f"{int(whole):,}".replace(",", file.thousands) + file.decimal + cents


def cell(name: str, value: Any, file: FileFormat) -> str:
    if value is None:
        return file.missing[0] if file.missing else ""
    if name == "Revenu":
        return number(value, file)
    if name == "Malade":
        return (file.yes if value else file.no)[-1] if file.yes else str(value)
    return f"  {value} " if file.trim else str(value)


def write_csv(path: Path, file: FileFormat, rows: list[dict[str, Any]], newline: str = "\r\n") -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=file.separator, lineterminator=newline)
    for line in range(file.skip):
        text.write(f"exported by somebody, line {line}\n")
    if not file.names:
        writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([cell(name, value, file) for name, value in row.items()])
    path.write_bytes(text.getvalue().encode(file.encoding))


FORMATS = {
    "default": FileFormat(),
    "French Excel": FileFormat(
        ";", "windows-1252", ",", " ", missing=("N/A",), yes=("oui", "vrai"), no=("non", "faux")
    ),
    "narrow spaces": FileFormat(";", decimal=",", thousands=" "),
    "German": FileFormat(";", "latin-1", ",", ".", missing=("k.A.",), yes=("ja", "oui"), no=("nein", "non")),
    "Swiss": FileFormat(";", thousands="'"),
    "tabs in UTF-16": FileFormat("\t", "utf-16", ",", missing=("NR",)),
    "UTF-16, no mark": FileFormat("\t", "utf-16-le"),
    "bars": FileFormat("|", thousands=",", missing=("?",)),
    "blanks around": FileFormat(",", trim=True, missing=("?",)),
    "Macintosh": FileFormat(";", "mac-roman", ","),
    "lines above": FileFormat(";", skip=3, decimal=","),
    "no header": FileFormat(";", names=tuple(COLUMNS), decimal=","),
    "with a mark of order": FileFormat(";", "utf-8-sig"),
}


def codes(source: Any, schema: mu.Schema, lenient: bool = False) -> list[list[int]]:
    kinds = schema.lenient_kinds if lenient else schema.kinds
    table = open_table(described(source, schema), list(schema), kinds, lenient=lenient, rows=64)
    encode: Callable[[Any], Any] = (lambda b: encode_schema_lenient(schema, b)) if lenient else schema.encode
    parts = [encode(batch) for batch in table.batches()]
    return [np.concatenate(column).tolist() for column in zip(*parts, strict=True)]


def wanted() -> list[list[int]]:
    rows = people()
    return [column.tolist() for column in mu.Schema(COLUMNS).encode({n: [r[n] for r in rows] for n in COLUMNS})]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("lenient", [False, True], ids=["strict", "lenient"])
def test_a_csv_of_any_dialect_holds_the_same_people(name: str, lenient: bool, tmp_path: Path) -> None:
    file = FORMATS[name]
    write_csv(tmp_path / "people.csv", file, people())

    assert codes(tmp_path / "people.csv", mu.Schema(COLUMNS, file=file), lenient) == wanted()


def write_sheet(path: Path, rows: list[dict[str, Any]], above: int = 0) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    for _ in range(above):
        sheet.append(["a title"])
    sheet.append(list(COLUMNS))
    for row in rows:
        sheet.append(list(row.values()))
    book.save(path)


def write_database(path: Path, rows: list[dict[str, Any]]) -> None:
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    connection: Any
    if path.suffix == ".duckdb":
        import duckdb

        connection = duckdb.connect(str(path))
        types = ("INTEGER", "DECIMAL(12, 2)", "VARCHAR", "VARCHAR", "BOOLEAN")
    else:
        connection, types = sqlite3.connect(path), ("INTEGER", "REAL", "TEXT", "TEXT", "INTEGER")
    columns = ", ".join(f'"{name}" {kind}' for name, kind in zip(COLUMNS, types, strict=True))
    connection.execute(f"CREATE TABLE people ({columns})")
    places = ", ".join("?" * len(COLUMNS))
    connection.executemany(f"INSERT INTO people ({names}) VALUES ({places})", [tuple(r.values()) for r in rows])
    connection.commit()
    connection.close()


@pytest.mark.parametrize("name", ["people.xlsx", "people.sqlite", "people.db", "people.duckdb", "above.xlsx"])
@pytest.mark.parametrize("lenient", [False, True], ids=["strict", "lenient"])
def test_workbooks_and_databases_hold_the_same_people(name: str, lenient: bool, tmp_path: Path) -> None:
    """With and without a format for what people type; an empty row is nobody."""
    rows = people()
    above = 2 if name == "above.xlsx" else 0
    if name.endswith(".xlsx"):
        write_sheet(tmp_path / name, [*rows[:50], dict.fromkeys(COLUMNS), *rows[50:]], above)
    else:
        write_database(tmp_path / name, rows)
    for file in (FileFormat(skip=above), FileFormat(decimal=",", yes=("oui",), no=("non",), skip=above)):
        assert codes(tmp_path / name, mu.Schema(COLUMNS, file=file), lenient) == wanted()


def test_cells_that_somebody_typed_into_a_sheet(tmp_path: Path) -> None:
    """Text follows the format of the file; numbers and dates of the sheet are what they are."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["x"])
    for value in (1.5, "1,5", "1 000,25", "1.5", None, "N/A", 7, True, "abc"):
        book.active.append([value, "somebody"])
    book.save(tmp_path / "typed.xlsx")
    file = FileFormat(decimal=",", thousands=" ", missing=("N/A",))
    schema = mu.Schema({"x": mu.Column(mu.Decimals(0, 9999, places=2), outside="drop")}, file=file)
    table = open_table(described(tmp_path / "typed.xlsx", schema), ["x"], {"x": "text"})

    read = [value for batch in table.batches() for value in batch.column(0).to_pylist()]
    assert read == ["1.5", "1.5", "1000.25", "1.5 (?)", None, None, "7", "true", "abc"]


ODD = {
    "a number of other files": {"Revenu": "1234.5678.9"},
    "a text": {"Revenu": "beaucoup", "Âge": "vieux"},
    "nothing": {name: "" for name in COLUMNS},
    "a date": {"Âge": "05/03/2024"},
    "true": {"Âge": "true", "Revenu": "false"},
    "a long text": {"Région": "x" * 100_000},
    "control characters": {"Région": "\x01\x02\x1a"},
    "digits": {"Région": "1,5", "Fumeur": "1"},
}


@pytest.mark.parametrize("name", ["French Excel", "German", "tabs in UTF-16", "blanks around", "default"])
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("place", [0, 100, N])
def test_no_row_changes_how_another_is_read(name: str, odd: str, place: int, tmp_path: Path) -> None:
    """Decisions 0024 and 0040: neighbours of a file differ in one row of codes, wherever the odd row is."""
    file, rows = FORMATS[name], people()
    schema, path = mu.Schema(COLUMNS, file=file), tmp_path / "people.csv"
    strange: Any = {column: ODD[odd].get(column, rows[0][column]) for column in COLUMNS}
    text = io.StringIO()
    writer = csv.writer(text, delimiter=file.separator)
    writer.writerow(COLUMNS)
    lines = [[cell(column, value, file) for column, value in row.items()] for row in rows]
    lines.insert(place, [str(strange[c]) if c in ODD[odd] else cell(c, strange[c], file) for c in COLUMNS])
    writer.writerows(lines)
    path.write_bytes(text.getvalue().encode(file.encoding, "replace"))

    found = codes(path, schema, lenient=True)
    assert [[*column[:place], *column[place + 1 :]] for column in found] == wanted()


SPELLED = [
    ("number", "1 234,50 €", "1234.50"),
    ("number", "1\u202f234", "1234"),
    ("number", "-3,5", "-3.5"),
    ("number", "\u22123,5", "-3.5"),
    ("number", "12 %", "12"),
    ("number", "1e3", "1e3"),
    ("number", ",5", ".5"),
    ("number", " 7 ", "7"),
    ("number", "1.5", "1.5 (?)"),
    ("number", "1 23", "1 23"),
    ("number", "12 34 567", "12 34 567"),
    ("number", "inf", "inf"),
    ("number", "N/A", None),
    ("number", None, None),
    ("date", "5/3/2024", "2024-03-05"),
    ("date", "05-03-2024 10:20", "2024-03-05"),
    ("date", "31.12.99", "1999-12-31"),
    ("date", "1/1/29", "2029-01-01"),
    ("date", "1/1/30", "1930-01-01"),
    ("date", "11/2024", "2024-11"),
    ("date", "2024-03-05", "2024-03-05"),
    ("date", "45000", "45000"),
    ("truth", "OUI", "true"),
    ("truth", "n", "false"),
    ("truth", "peut-être", "peut-être"),
    ("label", " Paris ", "Paris"),
    ("label", "1,5", "1,5"),
]


@pytest.mark.parametrize(("kind", "text", "meant"), SPELLED)
def test_a_cell_is_rewritten_by_public_rules(kind: Any, text: str | None, meant: str | None) -> None:
    """Alone, among others, and in a dictionary: always the same."""
    import pyarrow as pa

    file = FileFormat(
        ";", decimal=",", thousands=" ", units=("€", "%"), dates="day/month/year", missing=("N/A",),
        yes=("oui", "o"), no=("non", "n"), trim=True,
    )  # fmt: skip
    alone = rewrite(pa.array([text], pa.string()), Spelling(kind), file)
    crowd = pa.array([text, "x", None, "1,0", text], pa.string())

    assert alone.to_pylist() == [meant]
    for column in (crowd, crowd.dictionary_encode()):
        assert [rewrite(column, Spelling(kind), file).to_pylist()[i] for i in (0, 4)] == [meant, meant]


def test_months_first() -> None:
    import pyarrow as pa

    file = FileFormat(dates="month/day/year")

    assert rewrite(pa.array(["3/5/2024"]), Spelling("date"), file).to_pylist() == ["2024-03-05"]


def test_a_word_that_is_an_answer_is_not_missing(tmp_path: Path) -> None:
    schema = mu.Schema({"answer": mu.Categories(["yes", "NR"])}, file=FileFormat(missing=("NR", "NA")))
    (tmp_path / "a.csv").write_text("answer\nNR\nyes\nNA\n")
    table = open_table(described(tmp_path / "a.csv", schema), ["answer"], schema.kinds)

    assert [v for batch in table.batches() for v in batch.column(0).to_pylist()] == ["NR", "yes", None]


def test_labels_in_the_words_of_the_file(tmp_path: Path) -> None:
    """Every word for yes is the label that is one of them."""
    file = FileFormat(yes=("oui", "o", "vrai"), no=("non", "n", "faux"))
    schema = mu.Schema({"answer": mu.Categories(["non", "oui"])}, file=file)
    (tmp_path / "a.csv").write_text("answer\nOui\nO\nvrai\nFAUX\nnon\n")

    assert codes(tmp_path / "a.csv", schema) == [[1, 1, 1, 0, 0]]


def test_repeated_names_get_a_number() -> None:
    numbered = FileFormat(numbered=True)

    assert header_names(["a", "b", "a", "", "a_2", "a"], numbered) == ["a", "b", "a_3", "column_4", "a_2", "a_4"]
    assert header_names([" a ", "b"], FileFormat(trim=True)) == ["a", "b"]


def test_columns_of_a_repeated_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,a,\n1,2,3\n")
    with pytest.raises(InvalidParameter, match="two columns called 'a'"):
        open_table(tmp_path / "t.csv")

    table = open_table(DataFile(tmp_path / "t.csv", FileFormat(numbered=True)))
    assert {n: batch.column(n).to_pylist() for batch in table.batches() for n in table.names} == {
        "a": ["1"],
        "a_2": ["2"],
        "column_3": ["3"],
    }


def test_tabs_by_the_ending(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a\tb\n1\t2\n")

    assert open_table(tmp_path / "t.tsv").names == ("a", "b")


def test_quoted_line_breaks(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes('a;b\r\n"one\r\ntwo";2\r\n"x;y";3\r\n'.encode("windows-1252"))
    table = open_table(DataFile(tmp_path / "t.csv", FileFormat(";", "windows-1252")))

    assert [row for batch in table.batches() for row in batch.to_pylist()] == [
        {"a": "one\r\ntwo", "b": "2"},
        {"a": "x;y", "b": "3"},
    ]


# -- where it is used


def french(tmp_path: Path) -> tuple[Path, mu.Schema]:
    path = tmp_path / "people.csv"
    write_csv(path, FORMATS["French Excel"], people())
    return path, mu.Schema(COLUMNS, file=FORMATS["French Excel"])


def test_what_takes_a_path_reads_as_the_schema_says(tmp_path: Path) -> None:
    path, schema = french(tmp_path)
    truth = np.array([row["Revenu"] for row in people()])

    marginals = mu.run(mu.Plan(mu.Marginals(schema)), path).estimate
    mean = mu.run(mu.Plan(mu.Mean(schema["Revenu"])), mu.DataFile(path, schema)).estimate.mean[0]
    by_format = mu.run(mu.Plan(mu.Mean(schema["Revenu"])), mu.DataFile(path, schema.file)).estimate.mean[0]
    from murmure import econometrics
    from murmure.learn import LinearRegression

    by_ols = econometrics.ols("Revenu ~ 1", path, schema=schema).params[0]
    two = schema.with_columns({name: COLUMNS[name] for name in ("Âge", "Revenu")})
    model = LinearRegression(two, "Revenu", privacy=mu.Clear())
    few = schema.with_columns({name: about for name, about in schema.column_specs.items() if name != "Revenu"})
    table = mu.sanitise(path, mu.Plain(few, epsilon=4.0), rng=mu.Random.seeded(1))

    assert round(float(marginals["Malade"].mean[1]) * N) == sum(row["Malade"] for row in people())
    assert abs(mean - truth.mean()) < 1e-9 and mean == by_format and abs(by_ols - truth.mean()) < 1e-9
    assert model.fit(path).predict(str(path)).shape == (N,)
    assert table.num_rows == N


def test_read_in_another_way_it_is_another_question_to_the_same_account(tmp_path: Path) -> None:
    """Another [file] must not replay the answer of the first, and pays from the same budget."""
    path, schema = french(tmp_path)
    ledger = mu.Ledger(tmp_path / "ledger.db")
    account = ledger.account("people")
    ledger.set_budget("people", 2.0)
    plan = mu.Plan(mu.Mean(schema["Revenu"]), curator=mu.DiscreteLaplace(epsilon=0.5))
    other = schema.with_file(FileFormat(";", "windows-1252"))

    first = mu.run(plan, mu.DataFile(path, schema), ledger=account)
    again = mu.run(plan, mu.DataFile(path, schema), ledger=account)
    differently = mu.run(plan, mu.DataFile(path, other), ledger=account)

    assert again.charge.number == first.charge.number
    assert differently.charge.number != first.charge.number and abs(differently.charge.spent.epsilon - 1.0) < 1e-9


def test_workers_do_not_read_the_cells_of_a_file_that_is_rewritten(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": ["1,5"]}), tmp_path / "t.parquet")
    schema = mu.Schema({"x": mu.Interval(0, 2, cells=4)}, file=FileFormat(decimal=","))

    assert row_groups(open_table(tmp_path / "t.parquet")) is not None
    assert row_groups(open_table(described(tmp_path / "t.parquet", schema))) is None
    assert codes(tmp_path / "t.parquet", schema) == [[3]]


# -- bad input


def workbook(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_which_sheet(tmp_path: Path) -> None:
    path = workbook(tmp_path / "two.xlsx", {"Notes": [["x"]], "Feuil1": [["a"], [1]]})
    with pytest.raises(InvalidParameter, match=r"has 2 sheets: \['Notes', 'Feuil1'\](.|\n)*sheet = \"Notes\""):
        open_table(path)
    with pytest.raises(InvalidParameter, match=r"has no sheet 'Feuil2'(.|\n)*did you mean 'Feuil1'"):
        open_table(DataFile(path, FileFormat(sheet="Feuil2")))

    assert open_table(DataFile(path, FileFormat(sheet="Feuil1"))).names == ("a",)


def test_an_empty_sheet(tmp_path: Path) -> None:
    with pytest.raises(EmptySource, match="has no header"):
        open_table(workbook(tmp_path / "e.xlsx", {"Feuil1": []}))


def test_a_password(tmp_path: Path) -> None:
    protected = Path(__file__).parent.parent / "fixtures" / "password.xlsx"
    with pytest.raises(InvalidParameter, match="is protected by a password"):
        open_table(protected)


def test_a_damaged_workbook(tmp_path: Path) -> None:
    path = workbook(tmp_path / "d.xlsx", {"Feuil1": [["a"], [1]]})
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InvalidParameter, match=r"cannot read 'd\.xlsx' as a workbook"):
        open_table(path)


def test_merged_cells_and_formulas_are_a_matter_of_their_cell(tmp_path: Path) -> None:
    """A formula that nobody calculated has no value; of merged cells the first has one."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["a", "b"], [1, "=1+1"], [2, 3], [None, 4]):
        sheet.append(row)
    sheet.merge_cells("A3:A4")
    book.save(tmp_path / "m.xlsx")
    table = open_table(tmp_path / "m.xlsx")

    assert [batch.to_pydict() for batch in table.batches()] == [{"a": ["1", "2", None], "b": [None, "3", "4"]}]


def test_which_table(tmp_path: Path) -> None:
    path = tmp_path / "two.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE one (a)")
        connection.execute("CREATE TABLE two (b)")
    with pytest.raises(InvalidParameter, match=r"has 2 tables: \['one', 'two'\]"):
        open_table(path)

    assert open_table(DataFile(path, FileFormat(sheet="two"))).names == ("b",)


def test_what_is_no_database(tmp_path: Path) -> None:
    for name in ("t.sqlite", "t.duckdb"):
        (tmp_path / name).write_text("a,b\n1,2\n" * 1000)
        with pytest.raises(InvalidParameter, match=f"'{name}' cannot be read"):
            open_table(tmp_path / name)


def test_a_folder_is_not_its_ledger(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "murmure-ledger.db").write_bytes(b"SQLite format 3\0")

    assert open_table(tmp_path).names == ("x",)


def test_another_encoding_than_declared(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("ville\nParis\nNîmes\n".encode("windows-1252"))
    table = open_table(DataFile(path, FileFormat(encoding="shift-jis")), lenient=True)
    assert sum(batch.num_rows for batch in table.batches()) == 2  # a curator reads every row

    path.write_bytes("ville\nParis\n\x81\n".encode("latin-1"))
    with pytest.raises(InvalidParameter, match="is not windows-1252: line 3 holds other bytes"):
        list(open_table(DataFile(path, FileFormat(encoding="windows-1252"))).batches())


def test_a_dialect_that_changes_half_way(tmp_path: Path) -> None:
    """Strictly, the row is named; leniently, it is left out, and the others are read as before."""
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1;2\n3;4\n5,6\n7;8\n")
    file = FileFormat(";")
    with pytest.raises(InvalidParameter, match="row 2 has 1 fields, the header has 2"):
        list(open_table(DataFile(path, file)).batches())

    rows = [r for batch in open_table(DataFile(path, file), lenient=True).batches() for r in batch.to_pylist()]
    assert [row["a"] for row in rows] == ["1", "3", "7"]


def test_nul_bytes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a;b\n1;2\n\0;4\n")
    with pytest.raises(InvalidParameter, match="line 3 holds a NUL byte"):
        list(open_table(DataFile(tmp_path / "t.csv", FileFormat(";"))).batches())


def test_a_file_that_grows_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "BLOCK", 1 << 14)  # otherwise all of it is read ahead
    path = tmp_path / "t.csv"
    path.write_bytes(("a;b\n" + "1;2\n" * 400_000).encode("utf-16"))
    table = open_table(DataFile(path, FileFormat(";", "utf-16")), rows=1000)
    with pytest.raises(InvalidParameter, match="changed while it was being read"):
        for _ in table.batches():
            with path.open("ab") as file:
                file.write("3;4\n".encode("utf-16-le"))


def test_a_line_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "BLOCK", 1 << 12)
    (tmp_path / "t.csv").write_text("a;b\n1;" + "x" * 20_000 + "\n2;3\n")
    with pytest.raises(InvalidParameter, match="a row is longer than"):
        list(open_table(DataFile(tmp_path / "t.csv", FileFormat(";"))).batches())


def test_names_of_a_file_without_a_header(tmp_path: Path) -> None:
    (tmp_path / "t.data").write_text("39, State-gov\n50, Private\n")
    file = FileFormat(names=("age", "work"), trim=True)
    table = open_table(DataFile(tmp_path / "t.data", file))
    assert [row for b in table.batches() for row in b.to_pylist()] == [
        {"age": "39", "work": "State-gov"},
        {"age": "50", "work": "Private"},
    ]

    with pytest.raises(InvalidParameter, match=r"names 1 columns, the first line of 't\.data' has 2"):
        open_table(DataFile(tmp_path / "t.data", FileFormat(names=("age",))))


BAD_FORMATS = {
    "separator": ({"separator": "x"}, "separator must be one of"),
    "decimal": ({"decimal": ";"}, "decimal must be one of"),
    "both marks": ({"decimal": ",", "thousands": ","}, "could mean two numbers"),
    "encoding": ({"encoding": "rot13"}, "encoding of text"),
    "number": ({"encoding": 8}, "encoding of text"),
    "words": ({"missing": "N/A"}, "list of words"),
    "twice": ({"missing": ["a", "a"]}, "holds a word twice"),
    "yes and no": ({"yes": ["oui"], "no": ["OUI"]}, "both hold 'oui'"),
    "yes is 1": ({"yes": ["1"]}, "must hold words"),
    "unit": ({"units": ["2"]}, "marks behind a number"),
    "skip": ({"skip": -1}, "whole number of lines"),
    "sheet": ({"sheet": ""}, "must be a name"),
    "trim": ({"trim": 1}, "true or false"),
    "key": ({"seperator": ";"}, "did you mean 'separator'"),
    "dates": ({"dates": "day-month"}, "dates must be one of"),
}


@pytest.mark.parametrize("name", BAD_FORMATS)
def test_a_bad_format_is_refused_in_words(name: str) -> None:
    settings, words = BAD_FORMATS[name]
    with pytest.raises(MurmureError, match=words):
        FileFormat.from_dict(settings)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_survives_a_schema_file(name: str) -> None:
    schema = mu.Schema(COLUMNS, file=FORMATS[name])

    assert mu.Schema.from_toml(schema.to_toml()).file == FORMATS[name]
    assert mu.Schema.from_toml(schema.to_toml()) == schema == mu.Schema(COLUMNS)  # a plan does not know of files


def test_data_files() -> None:
    schema = mu.Schema(COLUMNS, file=FORMATS["French Excel"])

    assert os.fspath(DataFile("x.csv", schema)) == str(DataFile("x.csv", schema)) == "x.csv"
    assert described("x.csv", mu.Schema(COLUMNS)) == "x.csv"
    assert described(["x.csv", None], schema) == [DataFile("x.csv", schema), None]
    assert described([1, 2], schema) == [1, 2]
    for bad in (3, None, ["x.csv"]):
        with pytest.raises(InvalidParameter, match="must be a path"):
            DataFile(bad, schema)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="must be a Schema or a FileFormat"):
        DataFile("x.csv", {})  # type: ignore[arg-type]


# -- no row is read for another ----------------------------------------------------------------------------------------


def people_counted(path: Path) -> float:
    plan = mu.Plan(
        mu.Histogram(mu.Categories(["a", "b", "c"], column="job")),
        curator=mu.DiscreteLaplace(100.0),
        unit="id",
        rows_per_person=1,
    )
    return mu.run(plan, path, rng=mu.Random.seeded(1)).estimate.n  # noise is 0 but for e^-100


@pytest.mark.parametrize(
    "ids",
    [(b"\x81", b"\x82", b"\xff\x01"), ("x", b"\x81x", b"\x82x"), (1, 2, 3.5)],
    ids=["bytes", "bytes and text", "numbers"],
)
def test_people_of_a_database_are_not_mixed_up(ids: tuple[Any, ...], tmp_path: Path) -> None:
    """Two people of one name would share one bound on their rows: adding one would hide a row of the other."""
    path = tmp_path / "people.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (id, job)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", list(zip(ids, "abc", strict=True)))
    assert people_counted(path) == 3


def test_names_in_text_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "people.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (id, job)")
        for byte in ("81", "82", "83"):
            connection.execute(f"INSERT INTO t VALUES (CAST(x'{byte}' AS TEXT), 'a')")
    assert people_counted(path) == 3


def test_a_number_that_a_sheet_cannot_hold_names_nobody(tmp_path: Path) -> None:
    rows = [["id", "job"], [2**53 + 2, "a"], [2**53 + 3, "b"], [7, "c"]]
    assert people_counted(workbook(tmp_path / "ids.xlsx", {"Feuil1": rows})) == 1


AGE_JOB = {"age": mu.Integers(0, 99), "job": mu.Categories(["a", "b"])}
NO_HEADER = mu.Schema(AGE_JOB, file=FileFormat(names=("age", "job")))


def lenient_codes(path: Path, schema: mu.Schema) -> list[tuple[int, ...]]:
    table = open_table(described(path, schema), list(schema), schema.lenient_kinds, lenient=True)
    return [row for b in table.batches() for row in zip(*map(list, encode_schema_lenient(schema, b)), strict=True)]


@pytest.mark.parametrize("first", ["1,a,z", "1", "", "1;a", "PAR1,a", "1\0,a", "1," + "a" * 200_000])
def test_the_first_line_of_a_file_without_a_header_is_a_row_like_any_other(first: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{first}\n2,b\n3,a\n")
    assert lenient_codes(path, NO_HEADER)[-2:] == [(2, 1), (3, 0)]


@pytest.mark.parametrize("odd", [[1, "a", None, "a note", "another"], [], [None, None, "x"]])
def test_a_row_that_is_wider_or_empty_changes_no_other_of_a_sheet(odd: list[Any], tmp_path: Path) -> None:
    headed = workbook(tmp_path / "h.xlsx", {"S": [["age", "job"], odd, [2, "b"], [3, "a"]]})
    assert lenient_codes(headed, mu.Schema(AGE_JOB))[-2:] == [(2, 1), (3, 0)]
    bare = workbook(tmp_path / "b.xlsx", {"S": [odd, [2, "b"], [3, "a"]]})
    assert lenient_codes(bare, NO_HEADER)[-2:] == [(2, 1), (3, 0)]


def test_a_sheet_that_is_narrower_than_its_names(tmp_path: Path) -> None:
    assert lenient_codes(workbook(tmp_path / "n.xlsx", {"S": [[2], [3]]}), NO_HEADER) == [(2, 2), (3, 2)]


def test_a_duration_that_nobody_can_hold_is_a_matter_of_its_row(tmp_path: Path) -> None:
    import openpyxl

    path = workbook(tmp_path / "d.xlsx", {"S": [["age", "job"], [1, "a"], [1e12, "b"], [3, "a"]]})
    book = openpyxl.load_workbook(path)
    book["S"]["A3"].number_format = "[h]:mm:ss"
    book.save(path)
    assert lenient_codes(path, mu.Schema(AGE_JOB)) == [(1, 0), (3, 0)]


def text_encodings() -> list[str]:
    """Those that FileFormat takes, of all that Python has; UTF-16 and UTF-32 count bytes from the file's start."""
    import encodings.aliases

    found = set()
    for name in {*encodings.aliases.aliases.values(), "idna", "punycode", "unicode_escape", "raw_unicode_escape"}:
        with contextlib.suppress(InvalidParameter):
            found.add(FileFormat(encoding=name).encoding)
    return sorted(name for name in found if not name.startswith(("utf-16", "utf-32")))


def test_no_bytes_of_a_row_change_how_the_next_is_decoded() -> None:
    rng = np.random.default_rng(20)
    tried = text_encodings()
    assert len(tried) > 50
    for name in tried:
        for _ in range(300):
            junk = rng.integers(0, 256, rng.integers(1, 6), dtype=np.uint8).tobytes()
            read = (junk + "\n5,a\n".encode(name)).decode(name, recoded_bytes.SUBSTITUTE)
            assert read.endswith("\n5,a\n"), (name, junk)


@pytest.mark.parametrize("name", ["utf-7", "iso-2022-jp", "hz", "unicode_escape", "idna"])
def test_an_encoding_in_which_rows_depend_on_one_another_is_refused(name: str) -> None:
    with pytest.raises(InvalidParameter, match="depends on the rows before"):
        FileFormat(encoding=name)


VIEW = "CREATE VIEW seen AS SELECT age - (SELECT min(age) FROM t) AS age, job FROM t"


@pytest.mark.parametrize("ending", ["sqlite", "duckdb"])
def test_a_view_is_not_read_where_no_row_may_change_another(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"people.{ending}"
    if ending == "sqlite":
        connection: Any = sqlite3.connect(path)
    else:
        connection = pytest.importorskip("duckdb").connect(str(path))
    for statement in ("CREATE TABLE t (age INTEGER, job VARCHAR)", "INSERT INTO t VALUES (3, 'a'), (5, 'b')", VIEW):
        connection.execute(statement)
    if ending == "sqlite":
        connection.commit()
    connection.close()
    schema = mu.Schema(AGE_JOB, file=FileFormat(sheet="seen"))
    with pytest.raises(InvalidParameter, match="is a view"):
        lenient_codes(path, schema)
    assert lenient_codes(path, schema.with_file(FileFormat(sheet="t"))) == [(3, 0), (5, 1)]

    strict = open_table(described(path, schema), list(schema), schema.kinds)
    assert sum(batch.num_rows for batch in strict.batches()) == 2


def test_what_a_database_says_about_a_cell_stays_where_the_rows_are(tmp_path: Path) -> None:
    """A column that the database computes may fail at one row, and its message quotes that row."""
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (said VARCHAR, age INTEGER AS (TRY_CAST(said AS INTEGER)), job VARCHAR)")
        connection.execute("INSERT INTO t (said, job) VALUES ('3', 'a')")
    assert lenient_codes(path, mu.Schema(AGE_JOB)) == [(3, 0)]
    error = databases._unreadable(path, duckdb.ConversionException("could not convert 'Alice' to INT32"), private=True)
    assert "Alice" not in str(error)


def test_an_answer_is_never_rewritten_as_another(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("said\noui\no\nOui\nO\nnon\n")
    schema = mu.Schema(
        {"said": mu.Categories(["oui", "o", "Oui", "non"])}, file=FileFormat(yes=("oui", "o"), no=("non",))
    )
    assert [row for (row,) in lenient_codes(path, schema)] == [0, 1, 2, 0, 3]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, None),
        ("", None),
        (" a ", " a "),
        (True, "true"),
        (False, "false"),
        (3, "3"),
        (3.0, "3"),
        (-0.5, "-0.5"),
        (1e15, "1000000000000000.0"),
        (date(2024, 2, 29), "2024-02-29"),
        (datetime(2024, 2, 29), "2024-02-29"),
        (datetime(2024, 2, 29, 13, 5), "2024-02-29T13:05:00"),
        (datetime(2024, 2, 29, 0, 0, 0, 1), "2024-02-29T00:00:00.000001"),
        (time(13, 5), "13:05:00"),
        (timedelta(days=1, seconds=1), "86401.0"),
        (b"abc", "abc"),
        (Decimal("1.50"), "1.50"),
    ],
)
def test_a_cell_of_a_sheet_or_database_is_the_text_that_means_it(cell: Any, text: str | None) -> None:
    """A date that a file keeps as a midnight is a date; no other hour is lost."""
    assert text_of_cell(cell) == text


def test_rows_that_wait_beside_a_database_are_part_of_it(tmp_path: Path) -> None:
    """SQLite writes new rows into a file of its own first: an answer that was paid for is not that of these rows."""
    path = tmp_path / "people.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t (job)")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = fingerprint(files_of(path), b"key")
    connection.execute("INSERT INTO t VALUES ('a')")
    connection.commit()
    after = fingerprint(files_of(path), b"key")
    connection.close()
    assert before != after
