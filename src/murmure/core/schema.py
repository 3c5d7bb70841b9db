"""Named columns, what each may hold, and what stands for a missing answer: public constants, never read off the data.

    [columns.age]               # schema.toml
    type = "integers"
    low = 18
    high = 99

    [columns.smoker]
    type = "categories"
    values = ["no", "yes"]
    missing = "value"           # one answer more, "missing", for those who did not say

A schema turns a batch of rows into codes, one array a column. What becomes of a value that a column does not hold is
said here too, once for every place where rows are read: outside = "refuse", "clamp" or "drop", for all columns (before
the first of them) or for one. The default refuses; a curator, who may not refuse by what rows hold, then clamps numbers
and leaves out unknown labels.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from murmure.core.cells.meaning import MAX_15_DIGITS, Mask, meaning_of_text
from murmure.core.cells.parsed_columns import Codes, ParsedColumn
from murmure.core.domain import (
    Categories,
    Decimals,
    Domain,
    Integers,
    Interval,
    absent_as,
    domain_from_dict,
    with_column,
    with_outside,
)
from murmure.core.domain_policies import Outside, check_outside, holds
from murmure.core.errors import InvalidParameter, MissingColumn, MurmureError, OutsideDomain, shorten

Missing = Literal["refuse", "value", "constant"]
LABEL = "missing"  # of a missing answer, unless the column names another
MOST_NUMBERED = 1 << 20  # Categories(k) with a label more must write its labels down
POLICY_WORDS = {
    "refuse": "",
    "clamp": ", numbers beyond at the nearest bound",
    "drop": ", rows with another value left out",
}
DRAFT = "replace them by public ones (a code book, the questionnaire, the law), then remove from_data = true"


@dataclass(frozen=True)
class Column:
    """A domain and what is said about it: what stands for a missing answer, a note, whether it is public.

    missing="refuse" takes no missing value; "value" gives it a label of its own (`missing_value`, or "missing");
    "constant" puts the public constant `missing_value` in its place. Where missing values cannot be refused, at a
    curator, those that the schema says nothing about are left out. outside: what becomes of any other value that the
    domain does not hold: "refuse" the row, "clamp" a number to the nearest value, "drop" the row; None: as the schema
    says for all columns. A public column is carried as it is and never randomised. `from_data` marks what
    `murmure schema init` read off the data: not to be used as it is.
    """

    domain: Domain
    missing: Missing = "refuse"
    missing_value: Any = None
    note: str = ""
    public: bool = False
    from_data: bool = False
    outside: Outside | None = None  # what becomes of other values; None: as the schema says

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Categories | Integers | Interval | Decimals):
            raise InvalidParameter(
                f"Column.domain must be Categories, Integers, Interval or Decimals, got {shorten(self.domain)}."
            )
        if self.missing not in get_args(Missing):
            raise InvalidParameter(
                f"Column.missing must be one of {', '.join(map(repr, get_args(Missing)))}, got {shorten(self.missing)}."
            )
        if not isinstance(self.note, str):
            raise InvalidParameter(f"Column.note must be text, got {shorten(self.note)}.")
        for name in ("public", "from_data"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidParameter(f"Column.{name} must be true or false, got {shorten(getattr(self, name))}.")
        said = self.outside or (None if self.domain.outside == "refuse" else self.domain.outside)
        if said is not None:
            check_outside("Column", said, isinstance(self.domain, Categories))
            if said == "clamp" and self.public:
                raise InvalidParameter(
                    'Column.outside = "clamp" cannot be public too: a public column is carried as it is.',
                    hint="change the values in the data yourself",
                )
        object.__setattr__(self, "outside", said)
        if self.domain.absent is not None and self.missing == "refuse" and not self.public:  # the domain's own constant
            object.__setattr__(self, "missing", "constant")
            object.__setattr__(self, "missing_value", self.domain.absent)
        object.__setattr__(self, "domain", with_outside(absent_as(self.domain, None), said or "refuse"))
        object.__setattr__(self, "missing_value", self._stand_in())

    def _stand_in(self) -> Any:
        """The missing value, checked."""
        value = self.missing_value.item() if isinstance(self.missing_value, np.generic) else self.missing_value
        if self.missing == "refuse":
            if value is not None:
                raise InvalidParameter(
                    f"Column.missing_value is {shorten(value)}, but missing values are refused.",
                    hint='say missing = "value" or missing = "constant" too',
                )
            return None
        return self._label(value) if self.missing == "value" else self._constant(value)

    def _label(self, value: Any) -> str:
        if not isinstance(self.domain, Categories):
            raise InvalidParameter(
                f'Column.missing = "value" is for categories: {self.domain.describe()} has no label for missing.',
                hint='say missing = "constant" with a public missing_value, or cut the number into categories',
            )
        if value is None:
            value = LABEL
        if not isinstance(value, str) or not value:
            raise InvalidParameter(f"Column.missing_value must be a label, as text, got {shorten(value)}.")
        meant, known = meaning_of_text(value), self.domain._labels
        if meant is None:
            raise InvalidParameter(
                f"Column.missing_value {value!r} is no label: it stands for nothing in every column."
            )
        if _is_code(meant, self.domain.size) if known is None else meant in known.table:
            raise InvalidParameter(
                f"Column.missing_value {value!r} is a label already, of {self.domain.describe()}.",
                hint='name another, such as missing_value = "no answer"',
            )
        if isinstance(self.domain.values, int) and self.domain.size > MOST_NUMBERED:
            raise InvalidParameter(f'Column.missing = "value" takes at most {MOST_NUMBERED} categories.')
        return value

    def _constant(self, value: Any) -> Any:
        if self.public:
            raise InvalidParameter(
                'Column.missing = "constant" cannot be public too: a public column is carried as it is.',
                hint="put the constant into the data yourself, and leave missing out",
            )
        if value is None:
            raise InvalidParameter(
                'Column.missing = "constant" needs a missing_value.', hint="a public constant that the column holds"
            )
        if isinstance(self.domain, Decimals):
            value = self.domain.constant("Column.missing_value", value)
        if not _holds(self.domain, value):
            raise InvalidParameter(
                f"Column.missing_value must be {self.domain.describe()}, got {shorten(value)}.",
                hint="the constant is public, and one of the values that the column holds",
            )
        kind = {Integers: int, Interval: float}.get(type(self.domain))
        return value if kind is None else kind(value)

    def _identity(self) -> tuple[Any, ...]:
        """1 and True are equal to Python, but not the same answer."""
        said = (self.missing, type(self.missing_value), self.missing_value, self.note, self.public, self.from_data)
        return self.domain, *said  # which carries what becomes of values that it does not hold

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, Column) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    @property
    def coded(self) -> Domain:
        """The domain that codes are made in: with a label of its own for missing answers where there is one."""
        if self.missing == "refuse":
            return self.domain
        if self.missing == "constant":
            return absent_as(self.domain, self.missing_value)
        assert isinstance(self.domain, Categories)
        values = self.domain.values
        labels = [*(range(values) if isinstance(values, int) else values), self.missing_value]
        return Categories(labels, absent=self.missing_value, outside=self.domain.outside)

    def to_dict(self) -> dict[str, Any]:
        """What is said, and nothing that goes without saying."""
        said = {name: value for name, value in self.domain.to_dict().items() if name != "column"}
        for name, default in UNSAID.items():
            if getattr(self, name) != default and name != "outside":  # it is in the domain
                said[name] = getattr(self, name)
        if isinstance(self.missing_value, Decimal):
            said["missing_value"] = str(self.missing_value)
        return said


UNSAID: dict[str, Any] = {
    "missing": "refuse",
    "missing_value": None,
    "note": "",
    "public": False,
    "from_data": False,
    "outside": None,
}


@dataclass(frozen=True)
class Inspected:
    """What becomes of the rows of one column at the person: which are refused, moved or left out, and why the first is.

    A curator refuses none of them (core/cells/lenient_encoding.py).
    """

    refused: Mask
    missing: Mask
    moved: Mask
    dropped: Mask
    first: OutsideDomain | None


class Schema(Mapping[str, Domain]):
    """Named columns and what each may hold. `schema["age"]` is a domain that knows its column."""

    columns: Mapping[str, Domain]  # the domains that codes are made in
    about: Mapping[str, Column]

    def __init__(self, columns: Mapping[str, Domain | Column], outside: Outside = "refuse") -> None:
        if not isinstance(columns, Mapping) or not columns:
            raise InvalidParameter(
                f"Schema takes a mapping from column names to domains, got {shorten(columns)}.",
                hint='Schema({"smoker": Categories(["no", "yes"])})',
            )
        check_outside("Schema", outside, labels=False)
        about = {}
        for name, said in columns.items():
            if not isinstance(name, str) or not name:
                raise InvalidParameter(f"Schema: a column's name must be text and not empty, got {shorten(name)}.")
            if not isinstance(said, Column | Categories | Integers | Interval | Decimals):
                raise InvalidParameter(
                    f"Schema column {name!r} must be Categories, Integers, Interval or Decimals, got {shorten(said)}.",
                    hint='or a Column around one of these: Column(Categories(["no", "yes"]), missing="value")',
                )
            about[name] = _with_default(said if isinstance(said, Column) else Column(said), outside)
        vars(self)["about"] = {name: _renamed(column) for name, column in about.items()}
        vars(self)["columns"] = {name: with_column(column.coded, name) for name, column in about.items()}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a schema does not change: make another Schema to set {name!r}")

    # -- what it holds

    @property
    def private(self) -> tuple[str, ...]:
        """The columns that get randomised, in order."""
        return tuple(name for name, column in self.about.items() if not column.public)

    @property
    def open(self) -> tuple[str, ...]:
        """The public columns, in order: carried as they are."""
        return tuple(name for name, column in self.about.items() if column.public)

    @property
    def drafted(self) -> tuple[str, ...]:
        """The columns whose bounds or labels were read off the data: they say something about people."""
        return tuple(name for name, column in self.about.items() if column.from_data)

    def refuse_drafted(self) -> None:
        """Whatever uses a schema calls this first."""
        if self.drafted:
            raise InvalidParameter(
                f"the bounds or labels of {_listed(self.drafted)} were read off the data (from_data = true).",
                hint=DRAFT,
            )

    def __getitem__(self, name: str) -> Domain:
        if name not in self.columns:
            raise MissingColumn(
                f"the schema has no column {name!r}; it has {shorten(list(self.columns), 120)}.",
                hint=_near(name, self.columns),
            )
        if self.about[name].from_data:
            raise InvalidParameter(
                f"the bounds or labels of column {name!r} were read off the data (from_data = true).", hint=DRAFT
            )
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __eq__(self, other: object) -> bool:
        """The same columns in the same order: codes come in it."""
        return list(self.about.items()) == list(other.about.items()) if isinstance(other, Schema) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.about.items()))

    @property
    def kinds(self) -> dict[str, str]:
        """How the text of a CSV file is read, column by column: as text, integer, real, decimal or boolean."""
        return {name: kind_of(column.domain) for name, column in self.about.items()}

    @property
    def carried_kinds(self) -> dict[str, str]:
        """As what the public columns are carried, once rows that they do not hold are left out."""
        return {name: kind_of(with_outside(self.about[name].domain, "refuse")) for name in self.open}

    @property
    def lenient_kinds(self) -> dict[str, str]:
        """The same where every row is read, whatever it holds: an unknown label must not become a missing one."""
        return {name: lenient_kind_of(column.domain) for name, column in self.about.items()}

    @property
    def drops(self) -> bool:
        """Whether a row can be left out because of what it holds."""
        return any(domain.outside == "drop" for domain in self.columns.values())

    # -- codes

    def encode(self, batch: Any) -> tuple[Codes, ...]:
        """The codes of the private columns, in order, of the rows that are kept. One value may refuse the batch."""
        return self.encode_kept(batch)[0]

    def encode_kept(self, batch: Any, public: bool = False) -> tuple[tuple[Codes, ...], Mask]:
        """The same, and which rows are kept: all but those that a column with outside="drop" does not hold.

        public: the public columns are looked at too.
        """
        return self._encode(batch, public, strict=True)

    def encode_valid(self, batch: Any, public: bool = False) -> tuple[tuple[Codes, ...], Mask]:
        """The codes of the rows whose every private column is valid (or every column), and which rows these are."""
        return self._encode(batch, public, strict=False)

    def _encode(self, batch: Any, public: bool, strict: bool) -> tuple[tuple[Codes, ...], Mask]:
        self.refuse_drafted()
        names = (*self.private, *self.open) if public else self.private
        reads = [self._read(name, values, strict) for name, values in select_columns(batch, names).items()]
        rows = check_equal_lengths({name: len(codes) for name, (codes, _) in zip(names, reads, strict=True)})
        bad = [mask for _, mask in reads if mask is not None]
        coded = [codes for codes, _ in reads[: len(self.private)]]
        if not bad:
            return tuple(coded), np.ones(rows, bool)
        kept = ~np.logical_or.reduce(bad)
        return tuple(codes[kept] for codes in coded), kept

    def moved(self, batch: Any, kept: Mask) -> dict[str, int]:
        """Of every private column that moves numbers to its nearest bound, how many of the kept rows: exact counts."""
        names = tuple(name for name in self.private if self[name].outside == "clamp")
        out = {}
        for name, values in select_columns(batch, names).items():
            mask = self._as_read(name, values)[1].moved
            out[name] = 0 if mask is None else int((mask & kept).sum())
        return out

    def carry(self, batch: Any) -> dict[str, Any]:
        """The public columns as they are, once their values have been looked at; what is missing stays missing."""
        self.refuse_drafted()
        taken = select_columns(batch, self.open)
        check_equal_lengths({name: len(self._read(name, values, strict=True)[0]) for name, values in taken.items()})
        return taken

    def inspect(self, batch: Any) -> dict[str, Inspected]:
        """Of every column, public ones too, what becomes of its rows.

        For the holder of the data only, since it says what rows hold. A draft is inspected too.
        """
        taken = select_columns(batch, tuple(self.columns))
        found = {name: self._inspect(name, values) for name, values in taken.items()}
        check_equal_lengths({name: len(one.refused) for name, one in found.items()})
        return found

    def _inspect(self, name: str, values: Any) -> Inspected:
        try:
            domain, read = self._as_read(name, values)
        except OutsideDomain as refusal:  # of a column of another type no row is valid
            none = np.zeros(len(values), bool)
            return Inspected(~none, none, none, none, refusal)
        none = np.zeros(len(read.codes), bool)
        missing, beyond, moved = (none if mask is None else mask for mask in (read.missing, read.beyond, read.moved))
        dropped = beyond if domain.outside == "drop" else none
        refused = (beyond & ~dropped) | (missing if self.about[name].missing == "refuse" else none)
        first = None
        if refused.any():
            try:
                self._read(name, values, strict=True)
            except OutsideDomain as refusal:
                first = refusal
        return Inspected(refused, missing, moved, dropped, first)

    def _read(self, name: str, values: Any, strict: bool = False) -> tuple[Codes, Mask | None]:
        """Codes of one column, missing ones replaced as it says, and the rows that have none; strict: refuses these,
        but for those that are to be left out."""
        about, coded = self.about[name], self.columns[name]
        domain, read = self._as_read(name, values)
        if strict:
            if about.missing == "refuse":
                read.refuse_missing(domain)
            if domain.outside != "drop":
                read.refuse_outside(domain)
        codes, bad = read.codes, read.beyond
        if read.missing is not None:
            if about.missing == "refuse":
                bad = read.missing if bad is None else bad | read.missing
            else:
                code = (
                    coded.size - 1 if about.missing == "value" else int(about.domain.encode([about.missing_value])[0])
                )
                wide = codes.dtype == np.int64  # which holds every code; with uint64 it would become float
                codes = codes.astype(codes.dtype if wide else np.promote_types(codes.dtype, np.min_scalar_type(code)))
                codes[read.missing] = code
        return codes, bad

    def _as_read(self, name: str, values: Any) -> tuple[Domain, ParsedColumn]:
        about, coded = self.about[name], self.columns[name]
        # the label of missing answers may stand in the data already: it is an answer like any other
        domain = with_column(about.domain, name) if isinstance(getattr(about.domain, "values", None), int) else coded
        return domain, domain.parse(values)

    # -- in words

    def public(self) -> str:
        """What anyone may know: the columns, what each may hold, and what becomes of other values."""
        return "; ".join(
            domain.public()
            + POLICY_WORDS[domain.outside]
            + (", public and not randomised" if self.about[name].public else "")
            for name, domain in self.columns.items()
        )

    def describe(self) -> str:
        return f"{len(self)} column{'s' * (len(self) != 1)}: {_listed(tuple(self))}"

    def __repr__(self) -> str:
        shown = [f"{name!r}: {_bare(domain)!r}" for name, domain in self.columns.items()]
        more = f", ... {len(shown)} columns" if len(shown) > 4 else ""
        return f"Schema({{{', '.join(shown[:4])}{more}}})"

    # -- JSON

    def to_dict(self) -> dict[str, Any]:
        """For JSON. The order stands apart: JSON written with sorted keys would lose it."""
        columns = {name: column.to_dict() for name, column in self.about.items()}
        return {"type": "Schema", "columns": columns, "order": list(columns)}

    @classmethod
    def from_dict(cls, held: Any) -> Schema:
        if not isinstance(held, Mapping) or held.get("type") != "Schema" or held.keys() - {"type", "columns", "order"}:
            raise InvalidParameter(f"this is not the JSON of a schema: {shorten(held, 120)}.")
        columns = held.get("columns")
        if not isinstance(columns, Mapping):
            raise InvalidParameter(f"a schema's columns must be a JSON object, got {shorten(columns)}.")
        order = held.get("order", list(columns))
        if (
            not isinstance(order, list)
            or len(order) != len(columns)
            or not all(isinstance(name, str) and name in columns for name in order)
            or len(set(order)) != len(order)
        ):
            raise InvalidParameter(f"a schema's order must name its columns, each once, got {shorten(order)}.")
        return cls({name: _column_from_dict(name, columns[name]) for name in order})

    # -- TOML

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        """From schema.toml."""
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror.lower() if isinstance(error, OSError) and error.strerror else "it is not UTF-8 text"
            raise InvalidParameter(
                f"cannot read {str(path)!r}: {why}.", hint="murmure schema init DATA drafts a schema"
            ) from None
        return cls.from_toml(text, Path(path).name)

    @classmethod
    def from_toml(cls, text: str, file: str = "the schema") -> Schema:
        """From the text of schema.toml; `file` is its name in messages."""
        try:
            held = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise InvalidParameter(f"{file} is not TOML: {error}.", hint="each column is [columns.NAME]") from None
        except RecursionError:
            raise InvalidParameter(f"{file} is not a schema: it is nested too deeply.") from None
        for key in held.keys() - {"columns", "outside"}:
            raise InvalidParameter(f"{file}: there is no key {key!r}.", hint="each column is [columns.NAME]")
        columns, outside = held.get("columns"), held.get("outside", "refuse")
        if not isinstance(columns, dict) or not columns:
            raise InvalidParameter(f"{file} holds no column.", hint="each column is [columns.NAME]")
        made = {name: column_from_toml(file, name, said) for name, said in columns.items()}
        try:
            return cls(made, outside)
        except MurmureError as error:
            raise _of_column(file, error) from None

    def to_toml(self) -> str:
        """The text of schema.toml: from_toml reads it back to an equal schema."""
        return "\n".join(_column_to_toml(name, column) for name, column in self.about.items())


def _is_code(meant: float | str, size: int) -> bool:
    return isinstance(meant, float) and meant.is_integer() and 0 <= meant < size


def _holds(domain: Domain, value: object) -> bool:
    kinds = (str, int, float) if isinstance(domain, Categories) else (int, float, Decimal)
    right = isinstance(value, kinds) and (isinstance(domain, Categories) or not isinstance(value, bool))
    return right and holds(domain, value)


def kind_of(domain: Domain) -> str:
    """Where values are moved or left out, text: a cell that is no such value must not end the reading of a file."""
    if domain.outside != "refuse":
        return "text"
    if not isinstance(domain, Categories):
        return "real" if isinstance(domain, Interval) else "decimal" if isinstance(domain, Decimals) else "integer"
    types = {int} if isinstance(domain.values, int) else {type(value) for value in domain.values}
    if types <= {int, float}:
        long = not isinstance(domain.values, int) and any(abs(value) >= MAX_15_DIGITS for value in domain.values)  # type: ignore[arg-type]
        return "integer" if types == {int} and not long else "real"
    return "boolean" if types == {bool} else "text"


def lenient_kind_of(domain: Domain) -> str:
    """Read as a number, what is none becomes nothing; where such rows are dropped, that is not the same."""
    return "text" if isinstance(domain, Categories) or domain.outside == "drop" else "real"


def _bare(domain: Domain) -> Domain:
    return with_column(domain, None)


def _renamed(column: Column) -> Column:
    """What is said about a column does not depend on the name that its domain had."""
    if column.domain.column is None:
        return column
    return Column(_bare(column.domain), *(getattr(column, name) for name in UNSAID))


def _with_default(column: Column, outside: Outside) -> Column:
    """What the schema says of all columns, where the column says nothing of its own and can do it."""
    labels = isinstance(column.domain, Categories)
    if column.outside is not None or outside == "refuse" or (outside == "clamp" and (labels or column.public)):
        return column
    return replace(column, outside=outside)


def _listed(names: Iterable[str]) -> str:
    names = tuple(names)
    return ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


# -- the columns of a batch --------------------------------------------------------------------------------------------


def _near(name: str, known: Iterable[str]) -> str | None:
    """ "did you mean 'Age'?", where something comes near."""
    by_lower = {str(k).strip().lower(): k for k in known}
    near = difflib.get_close_matches(name.strip().lower(), by_lower, 1)
    return f"did you mean {by_lower[near[0]]!r}?" if near else None


def select_columns(batch: Any, wanted: tuple[str, ...]) -> dict[str, Any]:
    """The wanted columns of a batch, whatever holds it; the others are left alone."""
    take = getattr(batch, "__getitem__", None)
    if isinstance(batch, Mapping):
        names = list(batch)
    elif type(batch).__module__.partition(".")[0] == "pyarrow" and hasattr(batch, "num_columns"):
        names, take = list(batch.schema.names), batch.column
    elif hasattr(batch, "columns") and take is not None:  # a frame of pandas or Polars
        names = list(batch.columns)
    else:
        raise InvalidParameter(
            f"a batch of rows must be a mapping from column names to values, got {type(batch).__name__}.",
            hint='{"age": [30, 41], "smoker": ["no", "yes"]}, an Arrow batch or a frame',
        )
    for name in wanted:
        if names.count(name) == 0:
            raise MissingColumn(
                f"the data have no column {name!r}; they have {shorten(names, 120)}.",
                hint=_near(name, names) or "the names in the schema are those of the data",
            )
        if names.count(name) > 1:
            raise InvalidParameter(f"the data have {names.count(name)} columns {name!r}.", hint="rename all but one")
    assert take is not None
    return {name: take(name) for name in wanted}


def check_equal_lengths(rows: Mapping[str, int]) -> int:
    """The number of rows, which all columns share."""
    if len(set(rows.values())) > 1:
        raise InvalidParameter(
            f"the columns have different lengths: {shorten(dict(rows), 120)}.",
            hint="a row is one person in every column",
        )
    return next(iter(rows.values()), 0)


# -- reading and writing a column --------------------------------------------------------------------------------------

KEYS: dict[str, tuple[str, ...]] = {
    "categories": ("values",),
    "integers": ("low", "high"),
    "real": ("low", "high", "cells"),
    "decimals": ("low", "high", "places", "rounding"),
    "boolean": (),
}
MAKE: dict[str, Callable[..., Domain]] = {
    "categories": Categories,
    "integers": Integers,
    "real": Interval,
    "decimals": Decimals,
    "boolean": lambda: Categories([False, True]),
}
OPTIONAL = {"cells", "rounding", *UNSAID}


def _column_from_dict(name: str, said: Any) -> Column:
    try:
        rest = dict(said)
        about = {key: rest.pop(key) for key in UNSAID if key in rest}
        return Column(domain_from_dict(rest), **about)
    except MurmureError as error:
        raise _of_column(f"column {name!r}", error) from None
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameter(f"column {name!r}: this is not the JSON of a column: {shorten(said, 120)}.") from None


def _of_column(where: str, error: MurmureError) -> InvalidParameter:
    """What a constructor says about its argument, said about the key of a file."""
    message = str(error).removesuffix(f"\n  Hint: {error.hint}")
    message = re.sub(r"\bCategories\.k\b", "values", message)
    message = re.sub(r"\b(?:Integers|Interval|Decimals|Column|Schema)\.(\w+)", r"\1", message)
    message = re.sub(r"\bCategories (labels|takes|needs)", r"values: \1", message)
    message = re.sub(r"\b(?:Integers|Interval|Decimals) needs low < high", "low must be below high", message)
    message = re.sub(r"\b(?:Integers|Interval|Decimals) (holds|is)", r"a column \1", message)
    return InvalidParameter(f"{where}: {message}", hint=error.hint)


def column_from_toml(file: str, name: str, said: Any) -> Column:
    where = f"{file}, column {name!r}"
    if not name:
        raise InvalidParameter(f"{file}: a column has an empty name.", hint="write [columns.NAME]")
    if not isinstance(said, dict):
        raise InvalidParameter(f"{where}: wanted a table, got {shorten(said)}.", hint=f"write [columns.{_key(name)}]")
    kind = said.get("type")
    if not isinstance(kind, str) or kind not in KEYS:
        got = "it is left out" if "type" not in said else f"got {shorten(kind)}"
        near = _near(kind, KEYS) if isinstance(kind, str) else None
        raise InvalidParameter(f"{where}: type must be one of {', '.join(KEYS)}; {got}.", hint=near)
    for key in said.keys() - {"type", *KEYS[kind], *UNSAID}:
        known = key in {k for keys in KEYS.values() for k in keys}
        raise InvalidParameter(
            f"{where}: {f'a column of type {kind} takes no' if known else 'there is no key'} {key!r}.",
            hint=_near(key, [*KEYS[kind], *UNSAID]) or f"it takes {', '.join([*KEYS[kind], *UNSAID])}",
        )
    for key in KEYS[kind]:
        if key not in said and key not in OPTIONAL:
            raise InvalidParameter(
                f"{where}: {key} is left out.", hint="bounds and labels are public, and stand in the schema"
            )
    settings = [said[key] for key in KEYS[kind] if key in said]
    try:
        return Column(MAKE[kind](*settings), **{key: said[key] for key in UNSAID if key in said})
    except MurmureError as error:
        raise _of_column(where, error) from None


def _column_to_toml(name: str, column: Column) -> str:
    domain, lines = column.domain, [f"[columns.{_key(name)}]"]
    kind = {Integers: "integers", Interval: "real", Decimals: "decimals"}.get(type(domain), "categories")
    if domain == Categories([False, True]):
        kind = "boolean"
    lines.append(f'type = "{kind}"')
    if column.from_data:
        what = {"categories": "public labels", "boolean": "what is public"}.get(kind, "public bounds")
        lines.append(f"# READ OFF THE DATA: replace by {what}, then remove from_data")
    lines += [f"{key} = {_value(getattr(domain, key))}" for key in KEYS[kind]]
    lines += [f"{key} = {_value(getattr(column, key))}" for key in UNSAID if getattr(column, key) != UNSAID[key]]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):  # TOML's numbers are floats, which hold fifteen digits of any decimal
        return str(value) if len(value.as_tuple().digits) <= 15 or value % 1 == 0 else f'"{value}"'
    if isinstance(value, str):
        # JSON escapes as TOML does, but for DEL and for what lies beyond U+FFFF, which may stand as it is
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, tuple | list):
        written = [_value(v) for v in value]
        line = f"[{', '.join(written)}]"
        return line if len(line) <= 100 else "[\n" + "".join(f"    {v},\n" for v in written) + "]"
    return str(value)
