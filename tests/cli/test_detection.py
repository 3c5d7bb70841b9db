"""How a file is written, found out: what decides, what is only taken as usual and said to be in doubt."""

from __future__ import annotations

import ast
import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import murmure
from murmure.cli.schema.detection.cell_evidence import ColumnEvidence
from murmure.cli.schema.detection.detected import Detected
from murmure.cli.schema.detection.formats import detect_format
from murmure.core.file_format import FileFormat

PACKAGE = Path(murmure.__file__).parent


def detect(tmp_path: Path, text: str | bytes, header: bool | None = None) -> Detected:
    path = tmp_path / "d.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return detect_format(path, header=header)


def column(cells: list[str], separator: str = ";") -> str:
    """A table of two columns, the second of which has these cells."""
    out = io.StringIO()
    rows = [["name", "x"], *([f"n{i % 7}", cell] for i, cell in enumerate(cells))]
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(rows)
    return out.getvalue()


def test_only_the_two_commands_look() -> None:
    """Nothing but cli/schema/ imports the detection: where a release looked, one row could change how all are read."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        if "detection" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if any("schema.detection" in name for name in names):
                found.add(str(path.relative_to(PACKAGE)))

    assert found and all(name.startswith("cli/schema/") for name in found)


# ---- numbers

NUMBERS: dict[str, tuple[str, list[str], dict[str, str], str]] = {
    "decimal commas": (";", ["1,5", "2,25", "300,125"], {"decimal": ","}, ""),
    "decimal points": (";", ["1.5", "2.25"], {}, ""),
    "spaces": (";", ["1 234,56", "12 345 678,9"], {"decimal": ",", "thousands": " "}, ""),
    "no-break spaces": (";", ["1\u00a0234,5", "1\u202f234,5"], {"decimal": ",", "thousands": " "}, ""),
    "German": (";", ["1.234,56", "7,5"], {"decimal": ",", "thousands": "."}, ""),
    "English": (",", ["1,234.56", "7.5"], {"thousands": ","}, ""),
    "millions by points": (";", ["1.234.567", "2.345.678"], {"decimal": ",", "thousands": "."}, ""),
    "millions by commas": (",", ["1,234,567", "2"], {"thousands": ","}, ""),
    "open, with semicolons": (";", ["1,234", "5,678"], {"decimal": ","}, "1,234 in 'x' could be two numbers"),
    "open, with commas": (",", ["1,234", "5,678"], {"thousands": ","}, "1,234 in 'x' could be two numbers"),
    "open, with points": (";", ["1.234", "5.678"], {}, "1.234 in 'x' could be two numbers"),
    "0,123 is no thousand": (";", ["0,123", "0,456"], {"decimal": ","}, ""),
    "apostrophes": (";", ["1'234.50", "12\u2019345.00"], {"thousands": "'"}, ""),
    "units": (";", ["12,5 €", "1,5 €", "3 €"], {"decimal": ",", "units": ("€",)}, ""),  # type: ignore[dict-item]
    "percent": (",", ["12.5%", "3%"], {"units": ("%",)}, ""),  # type: ignore[dict-item]
    "codes": (";", ["007", "0,5"], {}, ""),
    "telephones": (";", ["01 23 45 67 89", "06 12 34 56 78"], {}, ""),
    "versions": (";", ["1.2.3", "1.2.4"], {}, ""),
    "both marks": (";", ["1,5", "2,5", "2.55"], {"decimal": ","}, "decimal points and 'x' decimal commas"),
}


@pytest.mark.parametrize("what", NUMBERS)
def test_numbers(what: str, tmp_path: Path) -> None:
    separator, cells, expected, doubt = NUMBERS[what]
    found = detect(tmp_path, column(cells * 3, separator))
    settings = {key: value for key, value in found.format.to_dict().items() if key != "separator"}

    assert settings == expected
    assert doubt in " ".join(found.doubts) and bool(found.doubts) == bool(doubt)


def test_one_column_decides_for_another(tmp_path: Path) -> None:
    """1,234 is 1.234 where another column says 0,5."""
    found = detect(tmp_path, "a;b\n" + "1,234;0,5\n5,678;1,25\n" * 5)

    assert found.format.decimal == "," and found.format.thousands == "" and not found.doubts


# ---- dates

DATES: dict[str, tuple[str, list[str], str, str]] = {
    "a day above 12": (";", ["31/01/2024", "02/03/2024"], "day/month/year", ""),
    "a month second": (",", ["01/31/2024", "02/03/2024"], "month/day/year", ""),
    "open in a semicolon file": (
        ";",
        ["01/02/2024", "03/04/2024"],
        "day/month/year",
        "no date in 'x' has",
    ),
    "open in a comma file": (",", ["01/02/2024", "03/04/2024"], "month/day/year", "no date in 'x' has"),
    "points are European": (",", ["01.02.2024", "03.04.2024"], "day/month/year", "no date in 'x' has"),
    "ISO": (";", ["2024-01-31", "2024-12-01"], "year-month-day", ""),
    "with times": (";", ["31/01/2024 10:20", "01/02/2024 00:00:01"], "day/month/year", ""),
    "two digits": (";", ["31/01/24", "01/02/99"], "day/month/year", ""),
    "both orders": (";", ["31/01/2024", "01/31/2024"], "day/month/year", "some dates have a day above 12 first"),
    "both ends": (";", ["31/01/2024", "2024-01-31"], "day/month/year", "have the year first"),
}


@pytest.mark.parametrize("what", DATES)
def test_dates(what: str, tmp_path: Path) -> None:
    separator, cells, order, doubt = DATES[what]
    found = detect(tmp_path, column(cells * 3, separator))

    assert found.format.dates == order and found.decides("dates")
    assert doubt in " ".join(found.doubts) and bool(found.doubts) == bool(doubt)


# ---- words


def test_na_is_a_country_among_countries(tmp_path: Path) -> None:
    codes = ["FR", "DE", "IT", "ES", "PT", "BE", "NL", "LU", "AT", "CH", "PL", "CZ", "SE", "FI", "DK", "IE", "NA"]
    found = detect(tmp_path, column(codes * 2))

    assert found.format.missing == () and "may be a code of a country" in found.doubts[0]


def test_yes_and_no_of_several_spellings(tmp_path: Path) -> None:
    found = detect(tmp_path, column(["Oui", "NON", "o", "non"] * 4))

    assert found.format.yes == ("o", "oui") and found.format.no == ("non",)


def test_x_is_no_word_for_yes(tmp_path: Path) -> None:
    assert detect(tmp_path, column(["x", "", "x"] * 4)).format.yes == ()


# ---- headers

HEADERS: dict[str, tuple[str, bool]] = {
    "names": ("age,region\n" + "20,a\n30,b\n" * 9, False),
    "UCI Adult": (
        "39, State-gov, 77516, Bachelors\n" + "50, Private, 83311, HS\n38, State-gov, 2, Bachelors\n" * 9,
        True,
    ),
    "numbers alone": ("1,2\n" + "3,4\n5,6\n" * 9, True),
    "years as names": ("region,2019,2020\n" + "a,3,4\nb,5,6\n" * 9, False),
    "years above numbers alone": ("2019,2020\n" + "30,40\n50,60\n" * 9, False),
    "with a name of each": ("1,Ann,40\n" + "".join(f"{i},N{i},{i}\n" for i in range(30)), True),
    "words alone": ("yes,no\n" + "yes,yes\nno,no\n" * 9, True),
}


@pytest.mark.parametrize("what", HEADERS)
def test_a_header_or_a_row(what: str, tmp_path: Path) -> None:
    """A row that were taken for a header would put a person's values into the schema: that is never guessed."""
    text, is_row = HEADERS[what]
    if not is_row:
        assert not detect(tmp_path, text).format.names
        return
    with pytest.raises(murmure.MurmureError, match="looks like a row"):
        detect(tmp_path, text)
    width = len(text.split("\n")[0].split(","))
    assert detect(tmp_path, text, header=False).format.names == tuple(f"column_{i + 1}" for i in range(width))
    assert detect(tmp_path, text, header=True).format.names == ()


def test_repeated_and_empty_names(tmp_path: Path) -> None:
    found = detect(tmp_path, "a;;a;b\n" + "1;2;3;4\n" * 9)

    assert found.format.numbered and list(found.columns) == ["a", "column_2", "a_2", "b"]
    assert "'column_2', 'a_2'" in " ".join(found.taken)


# ---- encodings


@pytest.mark.parametrize("encoding", ["windows-1252", "mac-roman", "cp850"])
def test_letters_of_one_byte(encoding: str, tmp_path: Path) -> None:
    text = "prénom;région\n" + "Hélène;Île-de-France\nFrançois;Rhône-Alpes\n" * 20
    found = detect(tmp_path, text.encode(encoding))

    assert found.format.encoding == encoding
    assert ("the encoding is a guess" in " ".join(found.doubts)) == (encoding != "windows-1252")


def test_bytes_that_windows_does_not_have(tmp_path: Path) -> None:
    found = detect(tmp_path, b"a;b\n" + b"\xe9\x81;1\n\xe9;2\n" * 20)

    assert found.format.encoding == "latin-1" and found.doubts


# ---- any table that a program writes


CELLS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r\x1a", exclude_categories=["Cs", "Cc"]), max_size=8
)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(CELLS, st.integers(0, 10**6), CELLS), min_size=3, max_size=30),
    separator=st.sampled_from(";\t|,"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_any_table_is_cut_as_it_was_written(
    rows: list[Any], separator: str, encoding: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever the cells hold (separators, quotes, line breaks), every row has its three fields."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, quoting=csv.QUOTE_ALL)
    writer.writerows([("first name", "how many", "a remark"), *rows])
    path = tmp_path_factory.mktemp("any") / "d.csv"
    path.write_bytes(out.getvalue().encode(encoding))
    found = detect_format(path, header=True)

    assert found.format.separator == separator and found.ragged == 0
    assert list(found.columns) == ["first name", "how many", "a remark"]
    assert found.columns["how many"].numbers == found.columns["how many"].cells > 0


@settings(max_examples=200, deadline=None)
@given(
    value=st.decimals(0, 10**9, places=2),
    decimal=st.sampled_from(".,"),
    thousands=st.sampled_from(["", " ", "\u00a0", "'", ".", ","]),
)
def test_any_number_is_read_back(value: Any, decimal: str, thousands: str) -> None:
    """A number with two decimals decides its marks by itself."""
    if thousands == decimal:
        return
    written = f"{value:,.2f}".translate({ord(","): "\0", ord("."): decimal}).replace("\0", thousands)
    seen = ColumnEvidence()
    seen.add([written])

    assert seen.is_number and seen.decimal[decimal] == 1
    marks = {" " if thousands in (" ", "\u00a0") else thousands} if value >= 1000 and thousands else set()
    assert set(seen.thousands) == marks


def test_a_plain_file_needs_no_settings(tmp_path: Path) -> None:
    """So nothing is written into a schema, and nothing is read otherwise than before."""
    found = detect(tmp_path, "age,income,born,ok\n" + "20,1.5,2024-01-31,true\n30,2.25,2024-02-01,false\n" * 5)

    assert found.format == FileFormat()
