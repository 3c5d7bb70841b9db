"""A Spark DataFrame that is nothing but rows and columns of Parquet files, so that workers read them themselves.

Spark would turn cells into rows, rows into Arrow, and send that: ten times the work of the whole sum. Its optimised
plan says what the DataFrame is. Columns may be chosen and renamed, and rows filtered by conditions that Arrow answers
as Spark does (spark_conditions.py). Anything else is left to Spark.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from murmure.engines.sources.arrow_cells import plain_type
from murmure.engines.sources.row_conditions import mask_of
from murmure.engines.sources.row_groups import RowGroups, Selection, row_groups
from murmure.engines.sources.spark_conditions import (
    LeftToSpark,
    SparkConditions,
    all_of,
    class_of,
    elements,
    name_of_type,
)
from murmure.engines.sources.tables import open_table

SHARED = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean", "string")  # the same to Spark and Arrow
SOURCES_PACKAGE = "org.apache.spark.sql.execution.datasources"
REBASE_MODE = "spark.sql.parquet.datetimeRebaseModeInRead"
WRITER, OLD_DATES = b"org.apache.spark.version", b"org.apache.spark.legacyDateTime"


def scanned_groups(frame: Any) -> RowGroups | None:
    """The row groups behind a DataFrame, and what is kept of them; None where this is left to Spark."""
    try:
        return _scanned(frame)
    except Exception:  # these are Spark's internals, and may change: then the slower way is taken
        return None


def _scanned(frame: Any) -> RowGroups:
    import pyarrow as pa

    plan = frame._jdf.queryExecution().optimizedPlan()
    chosen = None
    if class_of(plan) == "Project":
        chosen, plan = elements(plan.projectList()), plan.child()
    filters = []
    while class_of(plan) == "Filter":
        filters.append(plan.condition())
        plan = plan.child()
    paths = _paths(plan)
    conditions = SparkConditions({item.exprId().id(): item.name() for item in elements(plan.output())})
    chosen = elements(plan.output()) if chosen is None else chosen
    names = tuple(item.name() for item in chosen)
    columns = tuple(conditions.column(item.child() if class_of(item) == "Alias" else item) for item in chosen)
    condition = all_of([conditions.term(found) for found in filters])
    if list(names) != frame.columns or len(set(columns)) < len(columns):
        raise LeftToSpark
    groups = row_groups(open_table(paths, list(dict.fromkeys((*columns, *conditions.tested)))))
    if groups is None:
        raise LeftToSpark
    kinds = {field.name: name_of_type(plain_type(field.type)) for field in groups.schema}
    wanted = {column: frame.schema[name].dataType.simpleString() for name, column in zip(names, columns, strict=True)}
    if any(kind not in SHARED for kind in wanted.values()) or not (conditions.tested | wanted).items() <= kinds.items():
        raise LeftToSpark
    _check_tested(frame, paths, conditions)
    if condition is not None:
        nobody = [pa.array([], field.type) for field in groups.schema]
        mask_of(condition, pa.RecordBatch.from_arrays(nobody, schema=groups.schema))  # Arrow has all that it takes
    return RowGroups(groups.groups, groups.schema, Selection(names, columns, condition))


def _paths(plan: Any) -> list[str]:
    """The local Parquet files of a scan that has neither partition columns nor options."""
    if class_of(plan) != "LogicalRelation":
        raise LeftToSpark
    relation = plan.relation()
    if relation.getClass().getName() != f"{SOURCES_PACKAGE}.HadoopFsRelation":
        raise LeftToSpark
    plain = relation.fileFormat().getClass().getName() == f"{SOURCES_PACKAGE}.parquet.ParquetFileFormat"
    options = relation.options().removed("path").removed("paths")
    uris = list(relation.location().inputFiles())
    paths = [str(Path(unquote(uri.removeprefix("file:").replace("///", "/", 1)))) for uri in uris]
    local = all(uri.startswith("file:") for uri in uris) and all(map(os.path.isfile, paths))
    if not plain or not relation.partitionSchema().isEmpty() or not options.isEmpty() or not paths or not local:
        raise LeftToSpark
    return sorted(paths)


def _check_tested(frame: Any, paths: list[str], conditions: SparkConditions) -> None:
    """Whether files hold what the condition is about as it was written, and Spark would read all that may fulfil it.

    Columns have one type in all files: a number made to fit could fulfil another condition. Spark moves days before
    1582 in files of its first versions, or in all where it is told to.
    """
    import pyarrow.parquet as pq

    tested = conditions.tested
    days = "date" in tested.values()
    if days and frame.sparkSession.conf.get(REBASE_MODE) != "CORRECTED":
        raise LeftToSpark
    for path in paths if tested else ():
        metadata = pq.read_metadata(path)
        schema = metadata.schema.to_arrow_schema()
        if any(name_of_type(plain_type(schema.field(name).type)) != kind for name, kind in tested.items()):
            raise LeftToSpark
        notes = metadata.metadata or {}
        if days and (OLD_DATES in notes or int(notes.get(WRITER, b"3").split(b".")[0]) < 3):
            raise LeftToSpark
        if conditions.largest and not str(metadata.created_by).startswith("parquet-mr"):
            _check_skipped(metadata, conditions.largest)


def _check_skipped(metadata: Any, largest: Mapping[str, float]) -> None:
    """Spark skips what it takes from the stated least and largest number to be numbers that fulfil no condition.

    Other writers than its own leave NaN out of these two, so that it would be skipped though it is larger than any
    number. Where that may happen, Spark says itself which rows it has.
    """
    for i in range(metadata.num_row_groups):
        for j in range(metadata.num_columns):
            column = metadata.row_group(i).column(j)
            constant = largest.get(column.path_in_schema)
            if constant is None:
                continue
            stated = column.statistics
            bounded = stated is not None and stated.has_min_max
            if column.has_column_index or (bounded and not max(stated.min, constant) < stated.max):
                raise LeftToSpark
