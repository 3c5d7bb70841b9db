"""What is wrong with a party's rows, for the person who has them: rows counted from 1, and what to do in a study.

The core counts rows from 0 and speaks of domains; a person who looks into a file counts from 1, and sees a header.
"""

from __future__ import annotations

import os
import re
from typing import Any

from murmure.core.errors import InvalidParameter, MissingColumn, MurmureError, OutsideDomain, Phrase

ROW_NUMBER = re.compile(r"(?<=: )row (\d+)(?=[ ,:])")


def explain_row_error(error: MurmureError, rows: Any) -> MurmureError:
    """The same error, worded for the holder of these rows."""
    of_csv = isinstance(rows, os.PathLike) and os.fspath(rows).lower().endswith((".csv", ".csv.gz"))
    if isinstance(error, OutsideDomain):
        return _outside(error, of_csv)
    if isinstance(error, MissingColumn):
        suggested = error.hint is not None and error.hint.startswith("did you mean")
        return MissingColumn(
            "{message}",
            hint="{suggestion}the study reads this column: rename it in your table, or agree with the coordinator on a "
            "study with other columns; nothing was sent",
            message=re.sub(r"^the mapping\b", "the table that --query or --rows gives", error.message),
            suggestion=Phrase("{suggestion} ", suggestion=error.hint) if suggested else "",
        )
    if of_csv and isinstance(error, InvalidParameter) and (match := ROW_NUMBER.search(error.message)):
        hint = (error.hint or "").replace("; rows count from 0, after the header", "")
        return InvalidParameter(
            "{message}",
            hint="{hint_before}correct the row; nothing was sent",
            message=ROW_NUMBER.sub(row_in_words(int(match[1]), of_csv), error.message, count=1),
            hint_before=hint + "; " if hint else "",
        )
    return error


def row_in_words(row: int, of_csv: bool) -> str:
    """Row 16 of the core is the 17th: line 18 of a CSV file, whose first line is its header."""
    line = Phrase("; line {row} of the CSV with its header", row=row + 2) if of_csv else ""
    return Phrase("row {row} (the first is row 1{line})", row=row + 1, line=line)


def _outside(error: OutsideDomain, of_csv: bool) -> OutsideDomain:
    missing = error.row is not None and error.row[2].startswith("is missing")
    if missing:
        hint = Phrase(
            "give it a value or leave the row out, or agree with the coordinator on a study with a rule for missing "
            "values; nothing was sent"
        )
    else:
        hint = Phrase("correct the row, or agree with the coordinator on a study with wider bounds; nothing was sent")
    if error.row is None:
        return OutsideDomain(error.message, hint=hint)
    column, row, rest = error.row
    explained = OutsideDomain(
        "{column}: {row_in_words} {rest}", hint=hint, column=column, row_in_words=row_in_words(row, of_csv), rest=rest
    )
    explained.row = error.row
    return explained
