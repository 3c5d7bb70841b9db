"""What is wrong with a party's rows, for the person who has them: rows counted from 1, and what to do in a study.

The core counts rows from 0 and speaks of domains; a person who looks into a file counts from 1, and sees a header.
"""

from __future__ import annotations

import os
from typing import Any

from murmure.core.errors import InvalidParameter, MissingColumn, MurmureError, OutsideDomain, Phrase
from murmure.engines.sources.frame_tables import MAPPING
from murmure.show.phrase import find_field, replaced

ROW_OF_FILE = "row_of_file"  # the field of an error about a CSV that counts its rows


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
            message=_named_table(error.message),
            suggestion=Phrase("{suggestion} ", suggestion=error.hint) if suggested else "",
        )
    row = find_field(error.message, ROW_OF_FILE)
    if of_csv and isinstance(error, InvalidParameter) and row is not None:
        before = error.hint and error.hint.fields.get("way_out", error.hint)
        correct = Phrase("correct the row; nothing was sent")
        return InvalidParameter(
            "{message}",
            hint=Phrase("{before}; {correct}", before=before, correct=correct) if before else correct,
            message=replaced(error.message, **{ROW_OF_FILE: number_in_words(int(row), of_csv)}),
        )
    return error


def _named_table(message: Phrase) -> Phrase:
    """A mapping of the core is a table that a party gave."""
    given = Phrase("the table that --query or --rows gives")
    return replaced(message, what=given) if message.fields.get("what") == MAPPING else message


def number_in_words(row: int, of_csv: bool) -> Phrase:
    """Row 16 of the core is the 17th: line 18 of a CSV file, whose first line is its header."""
    if of_csv:
        return Phrase("{row} (the first is row 1; line {line} of the CSV with its header)", row=row + 1, line=row + 2)
    return Phrase("{row} (the first is row 1)", row=row + 1)


def _outside(error: OutsideDomain, of_csv: bool) -> OutsideDomain:
    missing = error.row is not None and find_field(error.row[2], "missing_sum") is not None
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
        "{owner}: row {row} {rest}", hint=hint, owner=column, row=number_in_words(row, of_csv), rest=rest
    )
    explained.row = error.row
    return explained
