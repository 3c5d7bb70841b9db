"""Parquet row groups: each worker reads its own from the file, so that rows pass through neither driver nor JVM."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from murmure.core.errors import InvalidParameter, shorten
from murmure.core.random import Random
from murmure.engines.base.task import Task
from murmure.engines.sources.arrow_cells import is_text
from murmure.engines.sources.column_batches import ROWS
from murmure.engines.sources.row_conditions import RowTerm, mask_of
from murmure.engines.sources.table_reader import TableReader, cast_batch, parquet_file

ENDINGS = (".parquet", ".pq")


class LocatedTask(NamedTuple):
    """A task, with the number of rows before it and of which source: so that an error can name the row."""

    task: Any
    rows_before: int = 0
    source: str = ""
    kept: Any = None  # where a condition keeps some rows: of each row that was read, whether it is one of them

    def row(self, number: int) -> int:
        """Where row `number` of the task is in its source."""
        import numpy as np

        return self.rows_before + (number if self.kept is None else int(np.flatnonzero(self.kept)[number]))


@dataclass(frozen=True)
class Selection:
    """Columns of a table under these names, of the rows that fulfil the condition."""

    names: tuple[str, ...]
    columns: tuple[str, ...]
    condition: RowTerm | None = None

    def of(self, batch: Any) -> tuple[Any, Any]:
        """The part of a batch that is selected; and a mask of its rows, or None where all of them are."""
        mask = None if self.condition is None else mask_of(self.condition, batch)
        chosen = batch.select(list(self.columns)).rename_columns(list(self.names))
        return (chosen, None) if mask is None or mask.true_count == len(mask) else (chosen.filter(mask), mask)


@dataclass(frozen=True)
class RowGroup:
    """One row group: of which file, its number in it, and how many rows of the file come before it."""

    file_index: int
    path: str
    number: int
    rows_before: int
    rows: int
    source: str  # the file's name, where there are several
    footer: tuple[int, ...]  # of the file when it was looked at: another one would have other row groups


@dataclass(frozen=True)
class RowGroups:
    """All row groups of a table, and the types that they are read with."""

    groups: tuple[RowGroup, ...]
    schema: Any
    selection: Selection | None = None

    @property
    def rows(self) -> int:
        return sum(group.rows for group in self.groups)

    def shares(self, max_shares: int) -> list[list[RowGroup]]:
        """The groups in order, divided into at most `max_shares` lists with about equally many rows."""
        whole, done = self.rows, 0
        out: list[list[RowGroup]] = []
        for group in self.groups:
            if done * max_shares >= whole * len(out):
                out.append([])
            out[-1].append(group)
            done += group.rows
        return out


def row_groups(table: TableReader) -> RowGroups | None:
    """The row groups behind a table; None if it is not made of Parquet files, or their cells are rewritten."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if table.rewritten or not table.paths or not all(path.name.lower().endswith(ENDINGS) for path in table.paths):
        return None
    groups = []
    for i, path in enumerate(table.paths):
        metadata, rows_before = pq.read_metadata(path), 0
        for number in range(metadata.num_row_groups):
            rows = metadata.row_group(number).num_rows
            if rows:
                source = path.name if len(table.paths) > 1 else ""
                groups.append(RowGroup(i, str(path.resolve()), number, rows_before, rows, source, _footer(metadata)))
            rows_before += rows
    with parquet_file(table.paths[0], _text_columns(table.schema)) as file:
        first = file.schema_arrow
    # texts in the type of their dictionary in the file; numbers in the type that all files agree on
    schema = pa.schema(
        [first.field(f.name) if pa.types.is_dictionary(first.field(f.name).type) else f for f in table.schema]
    )
    return RowGroups(tuple(groups), schema)


def read_groups(
    groups: list[RowGroup], schema: Any, rng: Random, lenient: bool = False, selection: Selection | None = None
) -> Iterator[LocatedTask]:
    """Batch after batch, by one thread, since Spark runs one task per core. Lenient: as in open_table."""
    import pyarrow as pa

    for group in groups:
        try:
            with parquet_file(group.path, _text_columns(schema)) as file:
                if _footer(file.metadata) != group.footer:
                    raise InvalidParameter(
                        "{path!r} was replaced after the run had begun: rows could be missing, or counted twice.",
                        hint="run again, once nothing writes to the files any more",
                        path=group.path,
                    )
                rows_before = group.rows_before
                batches = file.iter_batches(ROWS, [group.number], schema.names, use_threads=False)
                for i, batch in enumerate(batches):
                    fitted, kept = cast_batch(batch.select(schema.names), schema, lenient), None
                    if selection is not None:
                        fitted, kept = selection.of(fitted)
                    if fitted.num_rows:
                        task = Task(fitted, rng.child(group.file_index, group.number, i))
                        yield LocatedTask(task, rows_before, group.source, kept)
                    rows_before += batch.num_rows
        except FileNotFoundError:
            raise InvalidParameter(
                "a worker finds no file {path!r}.",
                hint="put the files where every worker can read them, or pass a DataFrame that Spark reads",
                path=group.path,
            ) from None
        except (OSError, pa.ArrowException) as error:
            if getattr(error, "errno", None):  # an error of the system: another try may succeed
                raise
            raise InvalidParameter(
                "cannot read {path!r} as a Parquet file: {error}",
                hint="it is truncated, damaged, or not in the format that its name says",
                path=group.path,
                error=shorten(str(error), 160),
            ) from error


def _footer(metadata: Any) -> tuple[int, ...]:
    """What tells a file from another one that took its place: rows, row groups, and the bytes that describe them."""
    return metadata.num_rows, metadata.num_row_groups, metadata.serialized_size


def _text_columns(schema: Any) -> list[str]:
    """Texts are read as codes of a dictionary: Parquet stores them so, and each word is parsed once."""
    return [f.name for f in schema if is_text(f.type)]
