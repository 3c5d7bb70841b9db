"""The same 200 people, written in every way that files come in."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import random
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from murmure.core.column import Column
from murmure.core.dates import Dates
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.file_format import FileFormat
from murmure.core.schema import Schema

NAMES = ("âge", "région", "revenu", "fumeur", "né le", "remarque")
REGIONS = ("Bretagne", "Île-de-France", "Réunion", "Côte d'Azur")
REMARKS = ("rien", "a, b", 'dit "oui"', "deux\nlignes", "x;y|z")


@dataclass(frozen=True)
class Person:
    age: int | None
    region: str
    income: float | None
    smoker: bool
    born: datetime.date
    remark: str


def _people() -> list[Person]:
    draw = random.Random(20)
    out = []
    for i in range(200):
        born = datetime.date(1940, 1, 1) + datetime.timedelta(days=draw.randrange(22_000))
        income = None if i % 23 == 0 else round(draw.uniform(0.5, 99_999), 2)
        age = None if i % 19 == 0 else draw.randrange(18, 99)
        out.append(Person(age, draw.choice(REGIONS), income, draw.random() < 0.3, born, draw.choice(REMARKS)))
    return out


PEOPLE = _people()


TRUTH = Categories([False, True])


def schema_for(file: FileFormat, smoker: Categories = TRUTH) -> Schema:
    """Public bounds, whatever the file looks like."""
    return Schema(
        {
            "âge": Column(Integers(0, 120), missing="constant", missing_value=0),
            "région": Categories(list(REGIONS)),
            "revenu": Column(Interval(0.0, 100_000.0, cells=10_000), missing="constant", missing_value=0.0),
            "fumeur": smoker,
            "né le": Dates("1930-01-01", "2020-12-31"),
            "remarque": Categories(list(REMARKS)),
        },
        file=file,
    )


CODES = [
    codes.tolist()
    for codes in schema_for(FileFormat()).encode(
        {
            "âge": [p.age for p in PEOPLE],
            "région": [p.region for p in PEOPLE],
            "revenu": [p.income for p in PEOPLE],
            "fumeur": [p.smoker for p in PEOPLE],
            "né le": [p.born.isoformat() for p in PEOPLE],
            "remarque": [p.remark for p in PEOPLE],
        }
    )
]


@dataclass(frozen=True)
class Way:
    """How somebody writes a table of people; all of it except the format of the file."""

    separator: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    thousands: str = ""
    unit: str = ""
    dates: str = "%Y-%m-%d"
    missing: str = ""
    yes: str = "true"
    no: str = "false"
    blank: str = ""  # before every value
    above: Sequence[str] = ()
    header: bool = True
    quoting: int = csv.QUOTE_MINIMAL
    line_end: str = "\r\n"
    ending: str = ".csv"

    def number(self, value: float) -> str:
        text = f"{value:,.2f}".translate({ord(","): "\0", ord("."): self.decimal}).replace("\0", self.thousands)
        return text + self.unit

    def cells(self, person: Person) -> list[str]:
        cells = [
            self.missing if person.age is None else str(person.age),
            person.region,
            self.missing if person.income is None else self.number(person.income),
            self.yes if person.smoker else self.no,
            person.born.strftime(self.dates),
            person.remark,
        ]
        return [self.blank + cell if i else cell for i, cell in enumerate(cells)]

    def text(self) -> str:
        out = io.StringIO(newline="")
        for line in self.above:
            out.write(line + self.line_end)
        writer = csv.writer(out, delimiter=self.separator, quoting=self.quoting, lineterminator=self.line_end)  # type: ignore[arg-type]
        if self.header:
            writer.writerow(NAMES)
        writer.writerows(self.cells(person) for person in PEOPLE)
        return out.getvalue()

    def write(self, path: Path) -> Path:
        data = self.text().encode(self.encoding)
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        return path


def _days(order: str, mark: str) -> str:
    return mark.join(f"%{letter}" for letter in order)


FRENCH = Way(";", "windows-1252", ",", "\u00a0", "", _days("dmY", "/"), "N/A", "oui", "non")
WAYS: dict[str, Way] = {
    "plain": Way(),
    "French Excel": FRENCH,
    "French, narrow spaces, UTF-8": Way(";", "utf-8", ",", "\u202f", " €", _days("dmY", "/"), "NR", "Oui", "Non"),
    "UTF-8 with a mark": Way(";", "utf-8-sig", ",", " ", "", _days("dmY", "/"), "n.d.", "o", "n"),
    "UTF-16 with tabs": Way("\t", "utf-16", ",", "", "", _days("dmY", "/"), "", "VRAI", "FAUX"),
    "UTF-16 without a mark": Way(";", "utf-16-le", ",", "", "", _days("dmY", "/"), "-", "vrai", "faux"),
    "big-endian UTF-16": Way(";", "utf-16-be", ",", "", "", _days("dmY", "/"), "?", "oui", "non"),
    "German": Way(";", "windows-1252", ",", ".", " €", _days("dmY", "."), "k.A.", "ja", "nein"),
    "Swiss": Way(";", "utf-8", ".", "\u2019", "", _days("dmY", "."), "NA", "oui", "non"),
    "American": Way(",", "utf-8", ".", ",", "", _days("mdY", "/"), "NULL", "Yes", "No"),
    "American, all in quotes": Way(
        ",", "utf-8", ".", ",", "", _days("mdY", "/"), "#N/A", "Y", "N", quoting=csv.QUOTE_ALL
    ),
    "bars": Way("|", "utf-8", ".", "", "%", _days("Ymd", "/"), ".", "yes", "no"),
    "dashes in dates": Way(";", "windows-1252", ",", "", "", _days("dmY", "-"), "ND", "oui", "non"),
    "Macintosh": Way(";", "mac-roman", ",", " ", "", _days("dmY", "/"), "NR", "oui", "non"),
    "DOS": Way(";", "cp850", ",", "", "", _days("dmY", "/"), "NR", "oui", "non"),
    "blanks after commas": Way(",", "utf-8", missing="?", yes="yes", no="no", blank=" ", quoting=csv.QUOTE_MINIMAL),
    "lines above": Way(
        ";", "windows-1252", ",", "", "", _days("dmY", "/"), "", "oui", "non", above=("Enquête 2024", "", "exporté;le")
    ),
    "Excel's sep line": Way(";", "utf-8", ",", "", "", _days("dmY", "/"), "", "oui", "non", above=("sep=;",)),
    "Unix lines": Way(";", "utf-8", ",", " ", "", _days("dmY", "/"), "N/A", "oui", "non", line_end="\n"),
    "gzipped": Way(
        ";", "windows-1252", ",", " ", "", _days("dmY", "/"), "N/A", "oui", "non", line_end="\n", ending=".csv.gz"
    ),
    "tabs by name": Way("\t", "utf-8", ".", "", "", missing="NA", yes="yes", no="no", ending=".tsv"),
}


def write_workbook(path: Path, rows: Sequence[Sequence[Any]]) -> Path:
    """An .xlsx of one sheet, by hand: numbers, dates, booleans and texts as Excel keeps them."""
    from xml.sax.saxutils import escape

    def cell(value: Any) -> str:
        if value is None:
            return "<c/>"
        if isinstance(value, bool):
            return f'<c t="b"><v>{int(value)}</v></c>'
        if isinstance(value, datetime.date):
            return f'<c s="1"><v>{(value - datetime.date(1899, 12, 30)).days}</v></c>'
        if isinstance(value, int | float):
            return f"<c><v>{value}</v></c>"
        return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'

    body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    return write_parts(path, {"Feuille 1": body})


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
START = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def write_parts(path: Path, sheets: dict[str, str], after: str = "") -> Path:
    """An .xlsx whose sheets have these rows as XML; `after`: what follows the rows of each, as merged cells."""
    import zipfile
    from xml.sax.saxutils import quoteattr

    numbered = list(enumerate(sheets.items(), 1))
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{i}.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
        for i, _ in numbered
    )
    listed = "".join(f'<sheet name={quoteattr(name)} sheetId="{i}" r:id="rId{i}"/>' for i, (name, _) in numbered)
    links = "".join(
        f'<Relationship Id="rId{i}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{i}.xml"/>' for i, _ in numbered
    )
    styles = (
        f'<styleSheet xmlns="{MAIN}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills>'
        '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2">'
        '<xf numFmtId="0"/>'
        '<xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>'
    )
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/xl/workbook.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
        '<Override PartName="/xl/styles.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/>'
        f"{types}</Types>",
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="rId1" Type="{OFFICE}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}">{links}<Relationship Id="rId999" '
        f'Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": styles,
    }
    for i, (_, rows) in numbered:
        sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData>{after}</worksheet>'
        parts[f"xl/worksheets/sheet{i}.xml"] = sheet
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, START + text)
    return path


def typed_rows() -> list[list[Any]]:
    """The people as a spreadsheet or a database keeps them."""
    return [[p.age, p.region, p.income, p.smoker, p.born, p.remark] for p in PEOPLE]


def _workbook(path: Path) -> Path:
    return write_workbook(path, [list(NAMES), *typed_rows()])


def _typed_as_text(path: Path) -> Path:
    """A workbook into which everything was typed as text, the French way, below a title."""
    return write_workbook(path, [["Enquête"], [], list(NAMES), *(FRENCH.cells(person) for person in PEOPLE)])


def _sqlite(path: Path) -> Path:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE people (" + ", ".join(f'"{name}"' for name in NAMES) + ")")
    rows = [[v.isoformat() if isinstance(v, datetime.date) else v for v in row] for row in typed_rows()]
    rows = [[("oui" if v else "non") if isinstance(v, bool) else v for v in row] for row in rows]
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    return path


def _duckdb(path: Path) -> Path:
    import duckdb

    kinds = ("INTEGER", "VARCHAR", "DOUBLE", "BOOLEAN", "DATE", "VARCHAR")
    with duckdb.connect(str(path)) as connection:
        columns = ", ".join(f'"{name}" {kind}' for name, kind in zip(NAMES, kinds, strict=True))
        connection.execute(f"CREATE TABLE people ({columns})")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", typed_rows())
    return path


WRITERS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    **{name: (f"people{way.ending}", way.write) for name, way in WAYS.items()},
    "workbook": ("people.xlsx", _workbook),
    "workbook of texts": ("people.xlsx", _typed_as_text),
    "SQLite": ("people.sqlite", _sqlite),
    "DuckDB": ("people.duckdb", _duckdb),
}


def same_codes(codes: Sequence[Any]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(codes, CODES, strict=True))
