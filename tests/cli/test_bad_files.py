"""Files that nobody meant to be tables, or not so: one clear sentence each, and nothing half-written."""

from __future__ import annotations

import os
import struct
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.written_ways import write_parts

from murmure.cli import main
from murmure.cli.schema.detection import encodings
from murmure.core.schema import Schema


def call(*args: Any) -> Any:
    return CliRunner().invoke(main, ["schema", *map(str, args)])


ROWS = "".join(f"{i};{i / 7:.2f}\n".replace(".", ",") for i in range(300))
REFUSED: dict[str, tuple[str, bytes, str]] = {
    "empty": ("d.csv", b"", "'d.csv' is empty"),
    "blank lines only": ("d.csv", b"\n\n\n", "'d.csv' holds no line of text"),
    "NULs": ("d.csv", b"a;b\n1;2\n3;\0\n" * 20, "is not text: line 3 holds a NUL byte"),
    "binary": ("d.csv", bytes(range(1, 32)) * 100, "are control characters"),
    "a picture": ("d.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "is not text"),
    "a workbook by another name": ("d.csv", b"PK\x03\x04" + b"x" * 100, "is a spreadsheet or a zip archive, not a CSV"),
    "cut gzip": ("d.csv.gz", b"\x1f\x8b\x08\x00" + b"\0" * 9, "not a whole gzip file"),
    "only a header": ("d.csv", b"age;income\n", "no column of"),
    "one line of values": ("d.csv", b"12;13\n", "no column of"),
    "no header": (
        "d.csv",
        b"39, State-gov, 77516\n50, Private, 83311\n38, State-gov, 215646\n" * 9,
        "looks like a row",
    ),
    "blanks before quotes": (
        "d.csv",
        b"a, b\n" + b'1, "x, y"\n2, "z"\n' * 30,
        "blanks between a separator and a quote",
    ),
    "marks before numbers": (
        "d.csv",
        b"a;b\n" + b"".join(b"$%d;x\n" % i for i in range(2000)),
        "'a': its numbers have '$' before them",
    ),
    "a changed separator": (
        "d.csv",
        ("age;income\n" + ROWS + ROWS.replace(",", ".").replace(";", "\t")).encode(),
        "changes half-way: fields are separated by semicolons at its start and by tabs in line 302",
    ),
    "an open quote": ("d.csv", b'a;b\n1;"' + b"x;y\n" * 3000, "quote"),
    "not a workbook": ("d.xlsx", b"PK\x03\x04nothing", "cannot read 'd.xlsx' as a workbook"),
    "not a database": ("d.sqlite", b"SQLite format 3\0" + b"x" * 100, "'d.sqlite' cannot be read"),
    "an empty workbook": ("d.xlsx", b"", "'d.xlsx' is empty"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_with_one_sentence(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 2, and no file."""
    monkeypatch.chdir(tmp_path)
    name, content, words = REFUSED[what]
    Path(name).write_bytes(content)
    result = call("init", name)

    assert result.exit_code == 2, result.output
    assert words in result.stderr.replace("\u00a0", " "), result.stderr
    assert os.listdir() == [name]


def test_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up at the limit: the rest of two gigabytes is never read."""
    monkeypatch.chdir(tmp_path)
    with open("d.csv", "wb") as file:
        file.write(b"age;income\n1;2\n")
        file.write(b"x" * (3 * encodings.BLOCK))
        file.truncate(2 << 30)  # sparse: the rest would be NULs
    monkeypatch.setattr(encodings, "MAX_LINE_BYTES", encodings.BLOCK)
    read = []
    blocks = encodings.blocks
    monkeypatch.setattr(encodings, "blocks", lambda path: (read.append(1) or block for block in blocks(path)))
    result = call("init", "d.csv")

    assert result.exit_code == 2 and "line 3 is longer than 1,048,576 bytes" in result.stderr.replace("\u00a0", " ")
    assert len(read) <= 3 and os.listdir() == ["d.csv"]


def test_a_file_that_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever writes it is not done."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("age;income\n" + ROWS * 2)
    real = encodings.ByteCounts._add

    def add(self: Any, block: bytes) -> None:
        real(self, block)
        with open("d.csv", "a") as file:
            file.write("9;9\n")

    monkeypatch.setattr(encodings.ByteCounts, "_add", add)
    result = call("init", "d.csv")

    assert result.exit_code == 2 and "changed while it was being read" in result.stderr
    assert os.listdir() == ["d.csv"]


def test_a_file_that_another_thread_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A draft, or a sentence; never a draft of half a file, and nothing left behind."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("age;income\n" + ROWS * 30)
    done = threading.Event()

    def grow() -> None:
        while not done.is_set():
            with open("d.csv", "a") as file:
                file.write(ROWS)
            time.sleep(0.001)

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        result = call("init", "d.csv")
    finally:
        done.set()
        writer.join()

    assert result.exit_code in (0, 2)
    if result.exit_code == 2:
        assert "changed while it was being read" in result.stderr and os.listdir() == ["d.csv"]


# ---- workbooks

HEADER = '<row><c t="str"><v>age</v></c><c t="str"><v>smoker</v></c></row>'
PAIRS = "".join(
    f'<row><c><v>{20 + i % 50}</v></c><c t="str"><v>{("oui", "non")[i % 2]}</v></c></row>' for i in range(100)
)


def test_the_first_sheet_that_is_not_empty(tmp_path: Path) -> None:
    """And which one it is, and what the others are."""
    data = write_parts(tmp_path / "d.xlsx", {"Notes": "", "Données": HEADER + PAIRS, "Other": HEADER})
    result = call("init", data, "-o", tmp_path / "s.toml")

    assert result.exit_code == 0, result.output
    assert "sheet: 'Données', the first that is not empty; the others are ['Notes', 'Other']" in result.stderr
    assert Schema.load(tmp_path / "s.toml").file.sheet == "Données"
    other = call("init", data, "-o", tmp_path / "o.toml", "--sheet", "Données")
    assert other.exit_code == 0 and "sheet: 'Données', asked for" in other.stderr
    wrong = call("init", data, "-o", tmp_path / "w.toml", "--sheet", "Donnees")
    assert wrong.exit_code == 2 and "has no sheet 'Donnees'" in wrong.stderr


def test_merged_cells_and_formulas_are_counted(tmp_path: Path) -> None:
    formulas = (
        '<row><c><f>A2+1</f><v>41</v></c><c t="str"><f>B2</f><v>oui</v></c></row>'
        '<row><c><f>A3+1</f></c><c t="str"><v>non</v></c></row>'
    )
    merged = '<mergeCells count="1"><mergeCell ref="A5:A6"/></mergeCells>'
    data = write_parts(tmp_path / "d.xlsx", {"S": HEADER + PAIRS + formulas}, merged)
    result = call("init", data, "-o", tmp_path / "s.toml")

    assert result.exit_code == 0, result.output
    assert "3 cells are formulas: the results that the workbook stores are read" in result.stderr
    assert "1 formula has no stored result, and counts as missing" in result.stderr
    assert "1 range of merged cells (line 5)" in result.stderr


def compound_file(*streams: str) -> bytes:
    """An OLE2 file: a header, a table of sectors, and a directory with the names of these streams, which are empty."""
    free, end, table = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<5H", 62, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<9I", 0, 1, 1, 0, 4096, end, 0, end, 0) + struct.pack("<109I", 0, *[free] * 108)

    def entry(name: str, kind: int, child: int, right: int) -> bytes:
        text = name.encode("utf-16-le") + b"\0\0"
        links = struct.pack("<HBBIII", len(text), kind, 1, free, right, child)
        return text.ljust(64, b"\0") + links + bytes(36) + struct.pack("<IQ", end, 0)

    entries = [entry("Root Entry", 5, 1, free)]
    entries += [entry(name, 2, free, i + 2 if i + 1 < len(streams) else free) for i, name in enumerate(streams)]
    return header + struct.pack("<128I", table, end, *[free] * 126) + b"".join(entries).ljust(512, b"\0")


def test_a_password(tmp_path: Path) -> None:
    """A workbook with a password is a compound file with an encrypted package in it."""
    data = tmp_path / "d.xlsx"
    data.write_bytes(compound_file("EncryptionInfo", "EncryptedPackage"))
    result = call("init", data, "-o", tmp_path / "s.toml")

    assert result.exit_code == 2 and "is protected by a password" in result.stderr
    assert os.listdir(tmp_path) == ["d.xlsx"]


# ---- what is read, with a word about it


def test_rows_with_another_number_of_fields(tmp_path: Path) -> None:
    """Their lines, with the line breaks inside of quotes counted; check counts them as rows that are not valid."""
    text = 'age;note\n20;"two\nlines"\n21;a\n22;b;c\n23;a\n24\n' + "25;a\n26;b\n" * 30
    data, out = tmp_path / "d.csv", tmp_path / "s.toml"
    data.write_text(text)
    out.write_text('[file]\nseparator = ";"\n[columns.age]\ntype = "integers"\nlow = 0\nhigh = 25\n')
    result = call("check", out, data)

    assert result.exit_code == 2
    assert "2 rows of 65 do not have 2 fields as the header has (lines 5, 7 ...)" in result.stderr
    assert "age: 30 rows do not match" in result.stdout and "line 9: '26'" in result.stdout
    assert "2 rows have another number of fields" in result.stdout and "33 of 65 rows are valid" in result.stdout


def test_two_files_in_different_encodings(tmp_path: Path) -> None:
    data = tmp_path / "d.csv"
    data.write_bytes(("é;b\n" + "é;1\n" * 50).encode() + "é;2\n".encode("cp1252"))
    result = call("init", data, "-o", tmp_path / "s.toml")

    assert result.exit_code == 2 and "from line 52 on" in result.stderr
    assert os.listdir(tmp_path) == ["d.csv"]


def test_nothing_can_be_told_from_ascii(tmp_path: Path) -> None:
    """Two files of plain letters and one with accents go together."""
    (tmp_path / "a.csv").write_bytes(b"x;y\n" + b"a;1\nb;2\n" * 30)
    (tmp_path / "b.csv").write_bytes(b"x;y\n" + "é;1\nb;2\n".encode("cp1252") * 30)
    result = call("init", tmp_path, "-o", tmp_path / "s.toml")

    assert result.exit_code == 0, result.output
    assert Schema.load(tmp_path / "s.toml").file.encoding == "windows-1252"


def test_files_that_are_not_written_alike(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"x;y\n" + b"a;1\nb;2\n" * 30)
    (tmp_path / "b.csv").write_bytes(b"x,y\n" + b"a,1\nb,2\n" * 30)
    result = call("init", tmp_path, "-o", tmp_path / "s.toml")

    assert result.exit_code == 2
    assert "the files are not written alike: separator is ';' in one and ',' in another" in result.stderr
