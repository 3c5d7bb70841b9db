"""Quotes say where the fields of a CSV end: what a CSV writer writes is read, anything else is an error of the file."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from murmure.core.errors import InvalidParameter
from murmure.engines.sources import csv_files
from murmure.engines.sources.tables import open_table

STRAY = [
    'u,v\n1,a\n5"9,"tall\n2,b\n3,c\n',  # one row would swallow all that follow
    'u,v\n1,a"b\n2,c"d\n',
    'u,v\n1, "a"\n',
    'u,v\n"1"x",a\n2,b"\n',
]


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("text", STRAY)
def test_a_quote_inside_a_bare_field_is_an_error_of_the_file(tmp_path: Path, text: str, lenient: bool) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(InvalidParameter, match="a quote inside an unquoted field"):
        list(open_table(path, lenient=lenient).batches())


@pytest.mark.parametrize("block", [1, 2, 7, 1 << 20])
def test_what_a_csv_writer_writes_is_read(tmp_path: Path, block: int) -> None:
    """Quotes, commas and line breaks inside fields, in every style of quoting, however the bytes come. (Seeded.)"""
    draw = np.random.default_rng(block)
    letters = list('a",\n\r ')
    for style in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        for end in ("\n", "\r\n"):
            text = io.StringIO(newline="")
            writer = csv.writer(text, quoting=style, lineterminator=end)
            for _ in range(200):
                writer.writerow(["".join(draw.choice(letters, draw.integers(0, 5))) for _ in range(3)])
            path = tmp_path / "rows.csv"
            path.write_bytes(b"\xef\xbb\xbf" * (end == "\n") + text.getvalue().encode())
            with csv_files.CsvBytes(path) as raw:
                while raw.read(max(block, 4)):
                    pass
