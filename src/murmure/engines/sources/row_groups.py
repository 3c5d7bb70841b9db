"""Parquet row groups: each worker reads its own from the file, so that rows pass through neither driver nor JVM."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from murmure.core.errors import InvalidParameter, shorten
from murmure.core.random import Random
from murmure.engines.base.task import Task
from murmure.engines.sources.arrow_cells import is_text
from murmure.engines.sources.column_batches import ROWS
from murmure.engines.sources.table_reader import TableReader, cast_batch, parquet_file
from murmure.engines.sources.tables import open_table

ENDINGS = (".parquet", ".pq")
SHARED_TYPES = (
    "int8",
    "int16",
    "int32",
    "int64",
    "float",
    "double",
    "bool",
    "string",
)  # the same to Spark and to Arrow
SPARK_SOURCES_PACKAGE = "org.apache.spark.sql.execution.datasources"


class LocatedTask(NamedTuple):
    """A task, with the number of rows before it and of which source: so that an error can name the row."""

    task: Any
    rows_before: int = 0
    source: str = ""


@dataclass(frozen=True)
class RowGroup:
    """One row group: of which file, its number in it, and how many rows of the file come before it."""

    file_index: int
    path: str
    number: int
    rows_before: int
    rows: int
    source: str  # the file's name, where there are several


@dataclass(frozen=True)
class RowGroups:
    """All row groups of a table, and the types that they are read with."""

    groups: tuple[RowGroup, ...]
    schema: Any

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
                groups.append(RowGroup(i, str(path.resolve()), number, rows_before, rows, source))
            rows_before += rows
    with parquet_file(table.paths[0], _text_columns(table.schema)) as file:
        first = file.schema_arrow
    # texts in the type of their dictionary in the file; numbers in the type that all files agree on
    schema = pa.schema(
        [first.field(f.name) if pa.types.is_dictionary(first.field(f.name).type) else f for f in table.schema]
    )
    return RowGroups(tuple(groups), schema)


def read_groups(groups: list[RowGroup], schema: Any, rng: Random, lenient: bool = False) -> Iterator[LocatedTask]:
    """Batch after batch, by one thread, since Spark runs one task per core. Lenient: as in open_table."""
    import pyarrow as pa

    for group in groups:
        try:
            with parquet_file(group.path, _text_columns(schema)) as file:
                rows_before = group.rows_before
                batches = file.iter_batches(ROWS, [group.number], schema.names, use_threads=False)
                for i, batch in enumerate(batches):
                    fitted = cast_batch(batch.select(schema.names), schema, lenient)
                    yield LocatedTask(
                        Task(fitted, rng.child(group.file_index, group.number, i)), rows_before, group.source
                    )
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


def _text_columns(schema: Any) -> list[str]:
    """Texts are read as codes of a dictionary: Parquet stores them so, and each word is parsed once."""
    return [f.name for f in schema if is_text(f.type)]


# -- a Spark DataFrame that is nothing but Parquet files ------------------------------------------


def scanned_files(frame: Any) -> TableReader | None:
    """The files behind a DataFrame that is a plain scan of local Parquet files, with columns as they are in the files.

    Spark would turn cells into rows, rows into Arrow, and send that: ten times the work of the whole sum. Anything that
    is not plainly such a scan (a filter, a partition column, a cast) is left to Spark; the answer is then None.
    """
    from pyspark.sql.pandas.types import from_arrow_type

    try:
        plan = frame._jdf.queryExecution().optimizedPlan()
        if _node_name(plan) == "Project":
            chosen = plan.projectList()
            if any(_node_name(chosen.apply(i)) != "AttributeReference" for i in range(chosen.size())):
                return None
            plan = plan.child()
        if (
            _node_name(plan) != "LogicalRelation"
            or plan.relation().getClass().getName() != f"{SPARK_SOURCES_PACKAGE}.HadoopFsRelation"
        ):
            return None
        relation = plan.relation()
        plain = relation.fileFormat().getClass().getName() == f"{SPARK_SOURCES_PACKAGE}.parquet.ParquetFileFormat"
        options = relation.options().removed("path").removed("paths")
        if not plain or not relation.partitionSchema().isEmpty() or not options.isEmpty():
            return None
        paths = [_local_path(uri) for uri in relation.location().inputFiles()]
        if not paths or None in paths:
            return None
        table = open_table(sorted(map(str, paths)), frame.columns)
        for f in table.schema:
            kind = f.type.value_type if hasattr(f.type, "value_type") else f.type
            if str(kind) not in SHARED_TYPES or from_arrow_type(kind) != frame.schema[f.name].dataType:
                return None
    except Exception:  # these are Spark's internals, and may change: then the slower way is taken
        return None
    return table


def _node_name(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _local_path(uri: str) -> Path | None:
    path = Path(unquote(uri.removeprefix("file:").replace("///", "/", 1)))
    return path if uri.startswith("file:") and os.path.isfile(path) else None
