"""Named columns, what each may hold, and what replaces a missing answer: public constants, never read off the data.

    [columns.age]               # schema.toml
    type = "integers"
    low = 18
    high = 99

    [columns.smoker]
    type = "categories"
    values = ["no", "yes"]
    missing = "value"           # one answer more, "missing", for those who did not say

A schema turns a batch of rows into codes, one array a column. It also says, once for every place where rows are read,
what becomes of a value that a column does not hold: outside = "refuse", "clamp" or "drop", for all columns (before the
first of them) or for one. The default refuses; a curator, who may not refuse by what rows hold, then clamps numbers
and leaves out unknown labels. [file] says how the holder's file is written (file_format.py); it is no part of a plan.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from murmure.core.batches import (
    ColumnInspection,
    check_equal_lengths,
    encode_column,
    inspect_column,
    select_columns,
)
from murmure.core.cells.gridded_floats import GriddedFloats, gridded_floats
from murmure.core.cells.parsed_columns import Codes
from murmure.core.column import DEFAULTS, Column, kind_of, lenient_kind_of
from murmure.core.domain import Categories, Dates, Decimals, Domain, Integers, Interval, with_column, with_outside
from murmure.core.domain_policies import Outside, check_outside
from murmure.core.errors import InvalidParameter, MissingColumn, MurmureError, Phrase, Plural, shorten, suggestion
from murmure.core.file_format import PLAIN_FILE, FileFormat
from murmure.core.schema_format import column_to_toml, columns_from_dict, error_in_file, file_to_toml, schema_from_toml
from murmure.core.types import Mask
from murmure.show.phrase import apart

DRAFT_HINT = Phrase(
    "replace them by public ones (a code book, the questionnaire, the law), then remove from_data = true"
)


class Schema(Mapping[str, Domain]):
    """Named columns and what each may hold. `schema["age"]` is a domain that knows its column.

    >>> import murmure as mu
    >>> schema = mu.Schema({"age": mu.Integers(18, 99), "smoker": mu.Categories(["no", "yes"])})
    >>> print(schema["smoker"])
    Categories(['no', 'yes'], column='smoker')
    >>> print([codes.tolist() for codes in schema.encode({"age": [18, 40], "smoker": ["no", "yes"]})])
    [[0, 22], [0, 1]]
    >>> print(schema.to_toml())
    [columns.age]
    type = "integers"
    low = 18
    high = 99
    <BLANKLINE>
    [columns.smoker]
    type = "categories"
    values = ["no", "yes"]
    <BLANKLINE>
    >>> try:
    ...     schema["income"]
    ... except mu.MurmureError as error:
    ...     print(error)
    the schema has no column 'income'; it has ['age', 'smoker'].
    """

    columns: Mapping[str, Domain]  # the domains in which values are coded
    column_specs: Mapping[str, Column]
    file: FileFormat  # how the holder's file is written; two schemas that differ only in this are equal

    def __init__(
        self, columns: Mapping[str, Domain | Column], outside: Outside = "refuse", file: FileFormat = PLAIN_FILE
    ) -> None:
        if not isinstance(columns, Mapping) or not columns:
            raise InvalidParameter(
                "Schema takes a mapping from column names to domains, got {got}.",
                hint='Schema({{"smoker": Categories(["no", "yes"])}})',
                got=shorten(columns),
            )
        check_outside("Schema", outside, labels=False)
        if not isinstance(file, FileFormat):
            raise InvalidParameter(
                "Schema.file must be a FileFormat, got {got}.", hint='mu.FileFormat(separator=";")', got=shorten(file)
            )
        specs = {}
        for name, spec in columns.items():
            if not isinstance(name, str) or not name:
                raise InvalidParameter(
                    "Schema: a column's name must be text and not empty, got {got}.", got=shorten(name)
                )
            if not isinstance(spec, Column | Categories | Integers | Interval | Decimals):
                raise InvalidParameter(
                    "Schema column {name!r} must be Categories, Integers, Interval, Decimals or Dates, got {got}.",
                    hint='or a Column around one of these: Column(Categories(["no", "yes"]), missing="value")',
                    name=name,
                    got=shorten(spec),
                )
            specs[name] = _with_default(spec if isinstance(spec, Column) else Column(spec), outside)
        # Through vars, since __setattr__ refuses: plans are hashed with their schema, which must not change.
        vars(self)["column_specs"] = {name: _without_name(spec) for name, spec in specs.items()}
        vars(self)["columns"] = {name: with_column(spec.coded, name) for name, spec in specs.items()}
        vars(self)["file"] = file

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a schema does not change: make another Schema to set {name!r}")

    def with_columns(self, columns: Mapping[str, Domain | Column]) -> Schema:
        """Other columns of the same file."""
        return Schema(columns, file=self.file)

    def with_file(self, file: FileFormat) -> Schema:
        """The same columns of a file that is written in another way."""
        return Schema(self.column_specs, file=file)

    # -- what it holds

    @property
    def private(self) -> tuple[str, ...]:
        """The columns that get randomised, in order."""
        return tuple(name for name, spec in self.column_specs.items() if not spec.public)

    @property
    def open(self) -> tuple[str, ...]:
        """The public columns, in order: copied unchanged."""
        return tuple(name for name, spec in self.column_specs.items() if spec.public)

    @property
    def drafted(self) -> tuple[str, ...]:
        """The columns whose bounds or labels were read off the data: they reveal something about people."""
        return tuple(name for name, spec in self.column_specs.items() if spec.from_data)

    def refuse_drafted(self) -> None:
        """Raise if a column was read off the data. Everything that uses a schema calls this first."""
        if self.drafted:
            raise InvalidParameter(
                "the bounds or labels of {drafted} were read off the data (from_data = true).",
                hint=DRAFT_HINT,
                drafted=_join_names(self.drafted),
            )

    def __getitem__(self, name: str) -> Any:  # the Domain of the column: of which kind, no type checker can know
        if name not in self:
            raise MissingColumn(
                "the schema has no column {name!r}; it has {column_names}.",
                hint=suggestion(name, self.columns) if isinstance(name, str) else None,
                name=name,
                column_names=shorten(list(self.columns), 120),
            )
        if self.column_specs[name].from_data:
            raise InvalidParameter(
                "the bounds or labels of column {name!r} were read off the data (from_data = true).",
                hint=DRAFT_HINT,
                name=name,
            )
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __eq__(self, other: object) -> bool:
        """The same columns in the same order: codes come in that order."""
        if not isinstance(other, Schema):
            return NotImplemented
        return list(self.column_specs.items()) == list(other.column_specs.items())

    def __hash__(self) -> int:
        return hash(tuple(self.column_specs.items()))

    @property
    def kinds(self) -> dict[str, str]:
        """How the text of a CSV file is read, column by column: as text, integer, real, decimal or boolean."""
        return {name: kind_of(spec.domain) for name, spec in self.column_specs.items()}

    @property
    def carried_kinds(self) -> dict[str, str]:
        """How the public columns are copied, once the rows that they do not hold are left out."""
        return {name: kind_of(with_outside(self.column_specs[name].domain, "refuse")) for name in self.open}

    @property
    def lenient_kinds(self) -> dict[str, str]:
        """`kinds` where every row is read: an unknown label must not become a missing one."""
        return {name: lenient_kind_of(spec.domain) for name, spec in self.column_specs.items()}

    @property
    def drops(self) -> bool:
        """Whether a row can be left out because of what it holds."""
        return any(domain.outside == "drop" for domain in self.columns.values())

    # -- codes

    def encode(self, batch: Any) -> tuple[Codes, ...]:
        """The codes of the private columns, in order, of the rows that are kept. One value may refuse the batch."""
        return self.encode_kept(batch)[0]

    def encode_in_blocks(self, batch: Any) -> tuple[Codes | GriddedFloats, ...]:
        """The same for those who read codes once, a block at a time: floats may stay what they are until then."""
        if self.drops:
            return self.encode(batch)
        self.refuse_drafted()
        out: list[Codes | GriddedFloats] = []
        for name, values in select_columns(batch, self.private).items():
            domain = self.columns[name]
            rounds = isinstance(domain, Decimals) and domain.rounding == "nearest"
            gridded = gridded_floats(domain, values) if rounds else None
            out.append(self._encode_column(name, values, strict=True)[0] if gridded is None else gridded)
        check_equal_lengths({name: len(codes) for name, codes in zip(self.private, out, strict=True)})
        return tuple(out)

    def encode_kept(self, batch: Any, public: bool = False) -> tuple[tuple[Codes, ...], Mask]:
        """The codes, and which rows are kept: all but those that a column with outside="drop" does not hold.

        public: the public columns are checked too.
        """
        return self._encode(batch, public, strict=True)

    def encode_valid(self, batch: Any, public: bool = False) -> tuple[tuple[Codes, ...], Mask]:
        """The codes of the rows whose every private column is valid (or every column), and which rows these are."""
        return self._encode(batch, public, strict=False)

    def _encode(self, batch: Any, public: bool, strict: bool) -> tuple[tuple[Codes, ...], Mask]:
        self.refuse_drafted()
        # Public columns come last, so that the codes of private ones are the first of `encoded`.
        names = (*self.private, *self.open) if public else self.private
        encoded = [self._encode_column(name, values, strict) for name, values in select_columns(batch, names).items()]
        rows = check_equal_lengths({name: len(codes) for name, (codes, _) in zip(names, encoded, strict=True)})
        bad = [mask for _, mask in encoded if mask is not None]
        private = [codes for codes, _ in encoded[: len(self.private)]]
        if not bad:
            return tuple(private), np.ones(rows, bool)
        kept = ~np.logical_or.reduce(bad)
        return tuple(codes[kept] for codes in private), kept

    def _encode_column(self, name: str, values: Any, strict: bool) -> tuple[Codes, Mask | None]:
        return encode_column(self.column_specs[name], self.columns[name], values, strict)

    def count_clamped(self, batch: Any, kept: Mask) -> dict[str, int]:
        """How many of the kept rows each private column moves to its nearest bound: exact counts."""
        names = tuple(name for name in self.private if self[name].outside == "clamp")
        found = self.inspect(batch, names)
        return {name: int((inspection.clamped & kept).sum()) for name, inspection in found.items()}

    def carry(self, batch: Any) -> dict[str, Any]:
        """The public columns, checked and unchanged; what is missing stays missing."""
        self.refuse_drafted()
        taken = select_columns(batch, self.open)
        lengths = {name: len(self._encode_column(name, values, strict=True)[0]) for name, values in taken.items()}
        check_equal_lengths(lengths)
        return taken

    def inspect(self, batch: Any, names: tuple[str, ...] | None = None) -> dict[str, ColumnInspection]:
        """What becomes of the rows of every column, public ones too, or of those named.

        For the holder of the data only, since it reveals what rows hold. A draft is inspected too.
        """
        taken = select_columns(batch, tuple(self.columns) if names is None else names)
        found = {
            name: inspect_column(self.column_specs[name], self.columns[name], values) for name, values in taken.items()
        }
        check_equal_lengths({name: len(inspection.refused) for name, inspection in found.items()})
        return found

    # -- in words

    def public(self) -> str:
        """What anyone may know: the columns, what each may hold, and what becomes of other values."""
        facts = []
        for name, domain in self.columns.items():
            fact = domain.public()
            if domain.outside == "clamp" and isinstance(domain, Dates):
                fact = Phrase("{values}, dates beyond at the nearest end", values=fact)
            elif domain.outside == "clamp":
                fact = Phrase("{values}, numbers beyond at the nearest bound", values=fact)
            elif domain.outside == "drop":
                fact = Phrase("{values}, rows with another value left out", values=fact)
            if self.column_specs[name].public:
                fact = Phrase("{values}, public and not randomised", values=fact)
            facts.append(fact)
        return apart(facts)

    def describe(self) -> str:
        return Plural("{n} column: {names}", "{n} columns: {names}", n=len(self), names=_join_names(tuple(self)))

    def __repr__(self) -> str:
        shown = [f"{name!r}: {with_column(domain, None)!r}" for name, domain in self.columns.items()]
        more = f", ... {len(shown)} columns" if len(shown) > 4 else ""
        return f"Schema({{{', '.join(shown[:4])}{more}}})"

    # -- JSON and TOML

    def to_dict(self) -> dict[str, Any]:
        """For JSON. The order is a separate key: JSON written with sorted keys would lose it."""
        columns = {name: spec.to_dict() for name, spec in self.column_specs.items()}
        return {"type": "Schema", "columns": columns, "order": list(columns)}

    @classmethod
    def from_dict(cls, fields: Any) -> Schema:
        return cls(columns_from_dict(fields))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        """From schema.toml."""
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            why = (
                error.strerror.lower()
                if isinstance(error, OSError) and error.strerror
                else Phrase("it is not UTF-8 text")
            )
            raise InvalidParameter(
                "cannot read {path!r}: {why}.", hint="murmure schema init DATA drafts a schema", path=str(path), why=why
            ) from None
        return cls.from_toml(text, Path(path).name)

    @classmethod
    def from_toml(cls, text: str, file: str = "the schema") -> Schema:
        """From the text of schema.toml; `file` is its name in messages."""
        columns, outside, written = schema_from_toml(text, file)
        try:
            return cls(columns, outside, written)
        except MurmureError as error:
            raise error_in_file(file, error) from None

    def to_toml(self) -> str:
        """The text of schema.toml: from_toml reads it back to an equal schema."""
        parts = [file_to_toml(self.file)] if self.file != PLAIN_FILE else []
        return "\n".join(parts + [column_to_toml(name, spec) for name, spec in self.column_specs.items()])


def _without_name(column: Column) -> Column:
    """The settings of a column do not depend on the name that its domain had."""
    if column.domain.column is None:
        return column
    return Column(with_column(column.domain, None), *(getattr(column, name) for name in DEFAULTS))


def _with_default(column: Column, outside: Outside) -> Column:
    """The rule of the schema for all columns, where the column has none and this one is possible."""
    labels = not column.domain.ordered
    if column.outside is not None or outside == "refuse" or (outside == "clamp" and (labels or column.public)):
        return column
    return replace(column, outside=outside)


def _join_names(names: tuple[str, ...]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return shown if len(names) <= 8 else Phrase("{names} and {more} more", names=shown, more=len(names) - 8)
