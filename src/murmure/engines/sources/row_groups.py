"""Parquet row groups: what each worker reads for itself, so that no row passes through anything else on its way."""

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
from murmure.engines.sources.column_batches import ROWS
from murmure.engines.sources.table_reader import TableReader, cast_batch
from murmure.engines.sources.tables import open_table

BUFFER = 1 << 22  # bytes of a column that are read ahead
ENDINGS = (".parquet", ".pq")
SIMPLE = ("int8", "int16", "int32", "int64", "float", "double", "bool", "string")  # the same to Spark and to Arrow
SPARK = "org.apache.spark.sql.execution.datasources"


class LocatedTask(NamedTuple):
    """What a worker hands to a step, the rows before it, and of what: so that an error can name the row."""

    task: Any
    before: int = 0
    what: str = ""


@dataclass(frozen=True)
class RowGroup:
    """One row group: of which file, which number, and how many rows of the file stand before it."""

    file: int
    path: str
    number: int
    before: int
    rows: int
    what: str  # the file's name, where there are several


@dataclass(frozen=True)
class RowGroups:
    """All row groups of a table, and the types that they are read with."""

    groups: tuple[RowGroup, ...]
    schema: Any

    @property
    def rows(self) -> int:
        return sum(group.rows for group in self.groups)

    def shares(self, most: int) -> list[list[RowGroup]]:
        """The groups in order, cut into at most `most` shares of about as many rows."""
        whole, done = self.rows, 0
        out: list[list[RowGroup]] = []
        for group in self.groups:
            if done * most >= whole * len(out):
                out.append([])
            out[-1].append(group)
            done += group.rows
        return out


def row_groups(table: TableReader) -> RowGroups | None:
    """The row groups behind a table; None if it is not made of Parquet files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not table.paths or not all(path.name.lower().endswith(ENDINGS) for path in table.paths):
        return None
    found = []
    for i, path in enumerate(table.paths):
        about, before = pq.read_metadata(path), 0
        for number in range(about.num_row_groups):
            rows = about.row_group(number).num_rows
            if rows:
                what = path.name if len(table.paths) > 1 else ""
                found.append(RowGroup(i, str(path.resolve()), number, before, rows, what))
            before += rows
    with _opened(str(table.paths[0]), _texts(table.schema)) as file:
        first = file.schema_arrow
    # texts as the file codes them; numbers as all files agreed on
    schema = pa.schema(
        [first.field(f.name) if pa.types.is_dictionary(first.field(f.name).type) else f for f in table.schema]
    )
    return RowGroups(tuple(found), schema)


def read_groups(groups: list[RowGroup], schema: Any, rng: Random, lenient: bool = False) -> Iterator[LocatedTask]:
    """Batch after batch, by one thread: the others have work of their own. Lenient: as open_table says it."""
    import pyarrow as pa

    for group in groups:
        try:
            with _opened(group.path, _texts(schema)) as file:
                before = group.before
                batches = file.iter_batches(ROWS, [group.number], schema.names, use_threads=False)
                for i, batch in enumerate(batches):
                    fitted = cast_batch(batch.select(schema.names), schema, lenient)
                    yield LocatedTask(Task(fitted, rng.child(group.file, group.number, i)), before, group.what)
                    before += batch.num_rows
        except FileNotFoundError:
            raise InvalidParameter(
                f"a worker finds no file {group.path!r}.",
                hint="put the files where every worker can read them, or pass a DataFrame that Spark reads",
            ) from None
        except (OSError, pa.ArrowException) as error:
            if getattr(error, "errno", None):  # the system's word: it may pass on another try
                raise
            raise InvalidParameter(
                f"cannot read {group.path!r} as a Parquet file: {shorten(str(error), 160)}",
                hint="it is cut short, damaged, or of another format than its name says",
            ) from error


def _texts(schema: Any) -> list[str]:
    """Texts are read as codes of a dictionary: Parquet holds them so, and each word is looked at once."""
    import pyarrow as pa

    kinds = {f.name: f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in schema}
    return [name for name, kind in kinds.items() if pa.types.is_string(kind) or pa.types.is_large_string(kind)]


def _opened(path: str, texts: list[str]) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetFile(
        path, read_dictionary=texts, buffer_size=BUFFER, pre_buffer=False, page_checksum_verification=True
    )


# -- a Spark DataFrame that is nothing but Parquet files ------------------------------------------


def scanned(frame: Any) -> TableReader | None:
    """The files behind a DataFrame that is a plain scan of local Parquet files, of columns as they stand there.

    Spark would turn every cell into a row's, then into Arrow's, then send it: ten times the work of the whole sum.
    Whatever is not plainly such a scan (a filter, a partition column, a type that was asked for) is left to Spark.
    """
    from pyspark.sql.pandas.types import from_arrow_type

    try:
        plan = frame._jdf.queryExecution().optimizedPlan()
        if _name(plan) == "Project":
            chosen = plan.projectList()
            if any(_name(chosen.apply(i)) != "AttributeReference" for i in range(chosen.size())):
                return None
            plan = plan.child()
        if _name(plan) != "LogicalRelation" or plan.relation().getClass().getName() != f"{SPARK}.HadoopFsRelation":
            return None
        relation = plan.relation()
        plain = relation.fileFormat().getClass().getName() == f"{SPARK}.parquet.ParquetFileFormat"
        said = relation.options().removed("path").removed("paths")
        if not plain or not relation.partitionSchema().isEmpty() or not said.isEmpty():
            return None
        paths = [_local(uri) for uri in relation.location().inputFiles()]
        if not paths or None in paths:
            return None
        table = open_table(sorted(map(str, paths)), frame.columns)
        for f in table.schema:
            kind = f.type.value_type if hasattr(f.type, "value_type") else f.type
            if str(kind) not in SIMPLE or from_arrow_type(kind) != frame.schema[f.name].dataType:
                return None
    except Exception:  # Spark's inner names are nobody's promise: without them it is only slower
        return None
    return table


def _name(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _local(uri: str) -> Path | None:
    path = Path(unquote(uri.removeprefix("file:").replace("///", "/", 1)))
    return path if uri.startswith("file:") and os.path.isfile(path) else None
