"""What is wrong with a party's rows, for the person who has them: rows counted from 1, and what to do in a study.

The core counts rows from 0 and speaks of domains; a person who looks into a file counts from 1, and sees a header.
"""

from __future__ import annotations

import os
import re
from typing import Any

from murmure.core.errors import InvalidParameter, MissingColumn, MurmureError, OutsideDomain, Phrase
from murmure.parties.study.visible_text import message_without_hint

AGREE_HINT = "or agree with the coordinator on a study with {}; nothing was sent"
ROW_NUMBER = re.compile(r"(?<=: )row (\d+)(?=[ ,:])")


def explain_row_error(error: MurmureError, rows: Any) -> MurmureError:
    """The same error, worded for the holder of these rows."""
    of_csv = isinstance(rows, os.PathLike) and os.fspath(rows).lower().endswith((".csv", ".csv.gz"))
    if isinstance(error, OutsideDomain):
        return _outside(error, of_csv)
    if isinstance(error, MissingColumn):
        message = re.sub(r"^the mapping\b", "the table that --query or --rows gives", message_without_hint(error))
        suggestion = f"{error.hint} " if error.hint and error.hint.startswith("did you mean") else ""
        way_out = Phrase(
            "the study reads this column: rename it in your table, {agree_hint}",
            agree_hint=AGREE_HINT.format("other columns"),
        )
        return MissingColumn(message, hint="{suggestion}{way_out}", suggestion=suggestion, way_out=way_out)
    if of_csv and isinstance(error, InvalidParameter) and (match := ROW_NUMBER.search(message_without_hint(error))):
        message = ROW_NUMBER.sub(row_in_words(int(match[1]), of_csv), message_without_hint(error), count=1)
        hint = (error.hint or "").replace("; rows count from 0, after the header", "")
        return InvalidParameter(
            message, hint="{detail}correct the row; nothing was sent", detail=hint + "; " if hint else ""
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
            "give it a value or leave the row out, {agree_hint}",
            agree_hint=AGREE_HINT.format("a rule for missing values"),
        )
    else:
        hint = Phrase("correct the row, {agree_hint}", agree_hint=AGREE_HINT.format("wider bounds"))
    if error.row is None:
        return OutsideDomain(message_without_hint(error), hint=hint)
    column, row, rest = error.row
    explained = OutsideDomain(
        "{column}: {row_in_words} {rest}", hint=hint, column=column, row_in_words=row_in_words(row, of_csv), rest=rest
    )
    explained.row = error.row
    return explained
