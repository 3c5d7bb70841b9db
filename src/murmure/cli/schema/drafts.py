"""What a column holds, as far as its cells tell: the draft of its domain, or why there is none."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from murmure.cli.schema.detection.detected import Detected
from murmure.core.errors import Phrase
from murmure.engines.sources.data_file import DataFile
from murmure.engines.sources.spelling import Spelling

if TYPE_CHECKING:
    from murmure.cli.schema.detection.cell_evidence import ColumnEvidence
    from murmure.core.column import Column
    from murmure.core.domain import Domain

MAX_LABELS = 1000  # different values of a column that are kept while reading
# Whole numbers with at most FEW values, each occurring MIN_REPEATS times on average, are drafted as categories.
FEW = 10
MIN_REPEATS = 20
# Text looks like an identifier if more than this share of its values, and more than this number, differ.
IDENTIFIER_SHARE = 0.9
MIN_IDENTIFIERS = 4
# What people write where there is no value.
MISSING_WORDS = ["NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", ".", "-", ""]
BOOLEAN_WORDS = {"true", "false", "True", "False", "TRUE", "FALSE"}  # what a CSV may call a boolean
# Dates are drafted by the day, by the month or by the year, such that some hundreds of periods are enough.
MAX_DAYS = 370
MAX_MONTHS_IN_DAYS = 20 * 366
ISO_DATE = re.compile(r"(\d{4}-\d{2})(-\d{2})?(?:[T ].*)?")
MAX_EXAMPLES = 3
LABEL = Spelling()


@dataclass(frozen=True)
class DraftFile(DataFile):
    """A file whose columns are read as what they look like, since no schema says yet what they are."""

    by_column: Mapping[str, Spelling] = field(default_factory=dict)

    @property
    def spellings(self) -> dict[str, Spelling]:
        return dict(self.by_column)


def draft_spelling(column: ColumnEvidence) -> Spelling:
    """As what the cells of a column are read: numbers and dates where nearly all look like it, labels otherwise."""
    if column.is_date:
        return Spelling("date")
    # Few values with a word among them ("2A" of the departments 1 to 95) are labels; many are numbers with a mistake.
    few = len(column.different) <= MAX_LABELS
    if column.is_number and not column.codes and not (column.others and few):
        return Spelling("number")
    pair = column.yes_no
    if pair is None:
        return LABEL
    yes, no = (max((w for w in column.words if w.casefold() in words), key=_as_label) for words in pair)
    return Spelling("label", (no, yes), yes, no)


def _as_label(word: str) -> tuple[int, bool, str]:
    """The longest word makes the best label, in small letters if the file has them."""
    return len(word), word.islower(), word


def draft_columns(
    data: str, wanted: Sequence[str] | None, detected: Detected
) -> tuple[dict[str, Draft], int, tuple[Path, ...]]:
    """A draft of each column, in one pass over the table."""
    from murmure.engines.base.progress import with_progress
    from murmure.engines.sources.file_tables import format_of
    from murmure.engines.sources.tables import open_table

    by_column = {name: draft_spelling(column) for name, column in detected.columns.items()}
    table = open_table(DraftFile(data, detected.format, by_column), columns=wanted)
    text = any(format_of(path) in ("csv", "workbook", "sqlite") for path in table.paths)
    drafts = {name: Draft(in_text=text, spelling=by_column.get(name, LABEL)) for name in table.names}
    for name in drafts.keys() & detected.columns.keys():
        drafts[name].mark_before = detected.columns[name].mark_before
    rows = 0
    for batch in with_progress(table.batches(), table.rows, Phrase("reading {table}", table=table.source_name)):
        rows += batch.num_rows
        for i, draft in enumerate(drafts.values()):
            draft.add(batch.column(i))
    return drafts, rows, table.paths


@dataclass
class Draft:
    """What is known of one column so far; at most MAX_LABELS of its values are kept."""

    in_text: bool  # numbers, dates and booleans come as text
    spelling: Spelling = LABEL  # as what the text is read
    mark_before: str | None = None  # of numbers: $12
    rows: int = 0
    missing: int = 0
    kind: str | None = None  # "text", "integer", "real", "boolean", "date", or why there is none
    fractions: bool = False
    differing: int = 0  # different values, summed over batches: an upper bound
    values: set[Any] | None = field(default_factory=set)  # None: too many
    blanks: set[str] = field(default_factory=set)  # text that is there, and looks like a missing value
    low: float = math.inf
    high: float = -math.inf
    first_day: datetime.date | None = None
    last_day: datetime.date | None = None
    by_month: bool = False  # some dates have no day
    unreadable: int = 0  # different texts that are not what the column otherwise holds
    examples: list[str] = field(default_factory=list)  # of these

    def add(self, column: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        t = pa.types
        if t.is_dictionary(column.type):
            column = column.dictionary_decode()
        if t.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), None, column)
        self.rows += len(column)
        self.missing += column.null_count
        if column.null_count == len(column):
            return
        text = t.is_string(column.type) or t.is_large_string(column.type) or str(column.type) == "string_view"
        of_dates = t.is_date(column.type) or t.is_timestamp(column.type)
        known = t.is_boolean(column.type) or t.is_integer(column.type) or t.is_floating(column.type)
        if not (text or known or of_dates):
            self.kind = str(column.type)
            return
        different = column.unique().drop_null()
        if text:
            is_missing_word = pc.is_in(different, pa.array(MISSING_WORDS, different.type))
            self.blanks.update(different.filter(is_missing_word).to_pylist())
            self._add_text(different)
        elif of_dates:
            self.kind = "date"
            self._add_days(different.cast(pa.timestamp("us")).cast(pa.date32(), safe=False).unique().to_pylist())
        elif t.is_boolean(column.type):
            self.kind = "boolean"
        else:
            self.kind = "integer" if t.is_integer(column.type) else "real"
            self._add_range(different)
        self.differing += len(different)
        if self.values is not None:
            # One value too many is enough to know that there are too many.
            self.values.update(different.slice(0, MAX_LABELS + 1).to_pylist())
            if len(self.values) > MAX_LABELS:
                self.values = None

    def _add_range(self, different: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_floating(different.type):
            different = different.cast(pa.float64())
            self.fractions |= not pc.all(pc.equal(pc.floor(different), different)).as_py()
            different = different.filter(pc.is_finite(different))
        ends = pc.min_max(different).as_py()
        if ends["min"] is not None:
            self.low, self.high = min(self.low, ends["min"]), max(self.high, ends["max"])

    def _add_days(self, days: Sequence[datetime.date]) -> None:
        ends = [*days, *filter(None, (self.first_day, self.last_day))]
        if ends:
            self.first_day, self.last_day = min(ends), max(ends)

    # -- text, which may be anything

    def _add_text(self, different: Any) -> None:
        if self.in_text and self.spelling.kind == "date":
            self._add_dates_in_text(different)
        elif self.in_text and self.spelling.kind == "number":
            self._add_numbers_in_text(different)
        else:
            self._add_labels(different)

    def _add_dates_in_text(self, different: Any) -> None:
        self.kind = "date"
        days, strange = [], []
        for text in different.to_pylist():
            found = ISO_DATE.fullmatch(text)
            try:
                days.append(datetime.date.fromisoformat(f"{found[1]}{found[2] or '-01'}" if found else text))
                self.by_month |= found is not None and found[2] is None
            except ValueError:
                strange.append(text)
        self._add_days(days)
        self._add_unreadable(strange)

    def _add_numbers_in_text(self, different: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        from murmure.core.cells.meaning import numbers_in_text

        numbers, nothing = numbers_in_text(different)
        strange = pc.and_(pc.is_null(numbers), pc.invert(nothing))
        self._add_unreadable(different.filter(strange).to_pylist())
        written = different.filter(pc.is_valid(numbers))
        if self.kind is None and len(written):
            self.kind = "integer"
        if self.kind == "integer":
            try:
                self._add_range(written.cast(pa.int64()))
                return
            except pa.ArrowInvalid:
                self.kind = "real"
        self._add_range(numbers.drop_null())

    def _add_unreadable(self, texts: Sequence[str]) -> None:
        self.unreadable += len(texts)
        self.examples += texts[: MAX_EXAMPLES - len(self.examples)]

    def _add_labels(self, different: Any) -> None:
        """Text of a CSV may be numbers or booleans: the first type that fits all of it."""
        import pyarrow as pa
        import pyarrow.compute as pc

        # Types only widen: a later batch cannot make a column narrower again.
        if not self.in_text:
            self.kind = "text"
        if self.kind in (None, "boolean"):
            all_words = pc.all(pc.is_in(different, pa.array(sorted(BOOLEAN_WORDS), different.type))).as_py()
            if all_words:
                self.kind = "boolean"
                return
            self.kind = "integer" if self.kind is None else "text"
        for kind, arrow in (("integer", pa.int64()), ("real", pa.float64())):
            if self.kind == kind:
                # 007 and 0x1f are names written in digits: as numbers they would lose their zeros.
                if pc.any(pc.match_substring_regex(different, r"^[+-]?0[0-9xX]")).as_py():
                    self.kind = "text"
                    return
                try:
                    self._add_range(different.cast(arrow))
                    return
                except pa.ArrowInvalid:
                    self.kind = "real" if kind == "integer" else "text"

    # -- what to make of it

    @property
    def looks_numbered(self) -> bool:
        """Whole numbers that all differ, as those of people in a register do."""
        count = self.rows - self.missing
        return self.kind == "integer" and self.values is None and self.differing == count

    def _few(self, count: int) -> bool:
        """Few values that repeat, or that are close together."""
        values = len(self.values or range(FEW + 1))
        return values <= FEW and (count >= MIN_REPEATS * values or self.high - self.low < 2 * FEW)

    def column(self) -> Column | str:
        """What to write, or why the column is left out."""
        from murmure.core.column import MISSING_LABEL, Column
        from murmure.core.domain import Categories, Dates
        from murmure.core.errors import MurmureError

        count = self.rows - self.missing
        if count == 0:
            return Phrase("it holds nothing")
        if self.kind == "boolean":
            gaps = self.missing > 0
            return Column(Categories([False, True]), missing="value" if gaps else "refuse", from_data=gaps)
        if self.kind not in ("text", "integer", "real", "date"):
            return Phrase(
                "values of type {kind} are neither labels nor numbers; write dates as text or as numbers",
                kind=self.kind,
            )
        if self.values is not None and len(self.values) == 1:
            return Phrase("it holds one value only")
        try:
            domain = self._domain(count)
        except (MurmureError, ValueError, OverflowError) as error:
            why = str(error).splitlines()[0].rstrip(".")
            return Phrase("no domain can be drafted ({why})", why=why)
        if isinstance(domain, str):
            return domain
        if not isinstance(domain, Categories) or isinstance(domain, Dates) or not self.missing:
            return Column(domain, from_data=True)
        labels = domain.labels()
        label = MISSING_LABEL
        while label in labels:
            label = f"no {label}"
        return Column(domain, missing="value", missing_value=label, from_data=True)

    def _domain(self, count: int) -> Domain | str:
        from murmure.core.domain import Categories, Integers, Interval

        # pandas stores whole numbers with gaps as floats: a float column with gaps and no fraction was whole.
        whole = self.kind == "integer" or (self.missing > 0 and not self.fractions and not self.in_text)
        if self.kind == "date":
            return self._dates()
        if self.kind == "text":
            if self.mark_before is not None:
                return Phrase(
                    "its numbers have {mark!r} before them, and are read only with a mark behind them or none",
                    mark=self.mark_before,
                )
            differing = self.differing if self.values is None else len(self.values)
            if differing > max(MIN_IDENTIFIERS, IDENTIFIER_SHARE * count):
                return Phrase("almost all of its values differ, as those of an identifier do")
            if self.values is None:
                return Phrase(
                    "it holds more than {most} different texts; list its public labels by hand", most=MAX_LABELS
                )
            pair = (self.spelling.no, self.spelling.yes)  # in this order, as false and true
            return Categories(pair if self.values == {*pair} else sorted(self.values))
        if whole and self._few(count):
            return Categories(sorted({int(value) for value in self.values or ()}))
        return Integers(int(self.low), int(self.high)) if whole else Interval(self.low, self.high)

    def _dates(self) -> Domain | str:
        from murmure.core.domain import Dates

        if self.first_day is None or self.last_day is None:
            return Phrase("none of its values is a date")
        span = (self.last_day - self.first_day).days
        if not span:
            return Phrase("it holds one value only")
        if span > MAX_MONTHS_IN_DAYS:
            return Dates(self.first_day, self.last_day, "year")
        return Dates(self.first_day, self.last_day, "month" if self.by_month or span > MAX_DAYS else "day")
