"""The sum on Spark: each partition is randomised and added up by its worker, and one small row comes back from it.

Rows come back through `collect`, which takes each partition once however often Spark had to try it, so a task that was
repeated is never counted twice. Each batch has a separate generator, made by the worker that has the batch.
"""

from __future__ import annotations

import gc
import os
import pickle
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from murmure.core.catalogue_entries import EngineEntry
from murmure.core.errors import (
    EmptySource,
    InvalidParameter,
    MissingExtra,
    MurmureError,
    OutsideDomain,
    Phrase,
    shorten,
)
from murmure.core.random import Random, random_or_secure
from murmure.core.types import FrameEngine, Total
from murmure.engines.base.java import java_home
from murmure.engines.base.task import BatchStep, Task, rows_in
from murmure.engines.sources.arrow_cells import inexact_names, plain_type
from murmure.engines.sources.column_batches import ROWS, pick_column
from murmure.engines.sources.row_groups import LocatedTask, RowGroup, RowGroups, read_groups, row_groups
from murmure.engines.sources.spark_scans import scanned_groups
from murmure.engines.sources.table_reader import TableReader, rebatched
from murmure.engines.sources.table_writer import METADATA_MARK
from murmure.engines.sources.tables import open_table
from murmure.laws.kernel_loader import one_thread_here

WAVE = 1 << 26  # bytes of rows that the driver holds at a time, where the rows come from the driver
# Several tasks per core, so that the slowest does not keep the others waiting and a lost one costs little; but fewer if
# they would have less than MIN_TASK_ROWS rows, since starting a task costs 0.1 s.
TASKS_PER_CORE = 4
MIN_TASK_ROWS = 1 << 23
ANSWER_SCHEMA = "part long, n long, sum binary, error binary"
EACH_NAMES = ["made", "error"]
EACH_SCHEMA = "made binary, error binary"
WIDE, NARROW = b"W", b"N"  # how a partition's sums are written
ERROR_COLUMN = "murmure_error"
RETRIABLE = (OSError, MemoryError)  # another try, or another machine, may succeed

SparkStep = Callable[[Task], Total]


class SparkFailed(MurmureError, RuntimeError):
    """Spark gave up; nothing was added."""


@dataclass(frozen=True)
class Spark(FrameEngine):
    """Adds on Spark; without a session, on the active one, or on one of its own over the cores of this machine.

    Sources: a Spark DataFrame; Parquet files that every worker can read (path, pattern, folder), whose row groups the
    workers read themselves; or tasks, which are sent to the workers.

    >>> import murmure as mu
    >>> print(mu.Spark())  # a session is started when it is needed
    Spark(session=None)
    """

    session: Any = None

    entry = EngineEntry(order=20)

    def total(self, step: SparkStep, source: Any, rng: Random | None = None) -> Total:
        """The sum of step(task) over all batches. `step.columns` are all that is read; None: all of them are.

        `step.lenient`: no row may decide whether there is an error, so types are fitted without refusing any number.
        Where workers read the rows, each batch gets a generator derived from `rng`; tasks that are sent bring theirs.
        """
        rng = random_or_secure(rng, "Spark.total")
        parts = list(self._parts(step, source, rng, _columns_of(step)))
        if not parts:
            raise EmptySource(
                "the source has no rows: there is nothing to add up.",
                hint="check the path, the filter or the join",
            )
        out = parts[0]
        for part in parts[1:]:
            out = out + part
        return out

    def each(self, work: Callable[[Any], Any], source: Iterable[Any]) -> Iterator[Any]:
        """work(task) for every task, in order: tasks are sent to the workers, and what they make of them comes back."""
        spark = self._started()
        for wave in _waves(source):
            with _spark_errors():
                frame = spark.createDataFrame(wave, "before long, task binary", verifySchema=False)
                rows = frame.mapInArrow(_over_each(work), EACH_SCHEMA).collect()
            _raise_first(pickle.loads(row["error"]) for row in rows if row["error"] is not None)
            yield from (_unpack(bytes(row["made"])) for row in rows)

    def map(
        self,
        function: Callable[[Task], Any],
        frame: Any,
        schema: Any,
        rng: Random | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> Any:
        """The DataFrame of function(task) -> RecordBatch over all rows, of this Arrow schema; it carries the metadata.

        It is computed now and kept on the executors, not when it is used: a report that is drawn again at every use
        would tell more about a person each time. If an executor dies its part is lost, and the next use fails.
        """
        if not _is_frame(frame):
            raise InvalidParameter("Spark.map takes a Spark DataFrame, got {got}.", got=type(frame).__name__)
        rng = random_or_secure(rng, "Spark.map")
        plain = _spark_schema(schema)
        with _spark_errors():
            from pyspark.sql.pandas.types import from_arrow_schema
            from pyspark.sql.types import BinaryType

            frame = _select(frame, _columns_of(function))
            work = _mapper(function, rng, plain, frame.columns)
            mapped = _numbered_columns(frame).mapInArrow(work, from_arrow_schema(plain).add(ERROR_COLUMN, BinaryType()))
            mapped = mapped.localCheckpoint()
            errors = mapped.where(mapped[ERROR_COLUMN].isNotNull()).select(ERROR_COLUMN).collect()
        _raise_first(pickle.loads(row[0]) for row in errors)
        mapped = mapped.drop(ERROR_COLUMN)
        # Of a column, it stays with it in Spark and in Parquet.
        return mapped.withMetadata(plain.names[0], {METADATA_MARK: "1", **metadata}) if metadata else mapped

    def metadata(self, frame: Any) -> dict[str, str]:
        """What `map` wrote to a column of a DataFrame."""
        ours = (f.metadata for f in frame.schema.fields if METADATA_MARK in (f.metadata or {}))
        return {key: value for key, value in next(ours, {}).items() if key != METADATA_MARK}

    def bounded(self, source: Any, columns: Sequence[str], unit: str, rows: int) -> Any:
        """The DataFrame of these columns with at most `rows` rows of each person, whom column `unit` names.

        Which rows are kept depends on the content of that person's rows alone, not on their order and not on anybody
        else's rows. Rows that name nobody are left out.
        """
        with _spark_errors():
            from pyspark.sql import Window
            from pyspark.sql import functions as F

            frame = source if _is_frame(source) else self._started().read.parquet(os.fspath(source))
            frame = _select(frame, [*columns, *(() if unit in columns else (unit,))])
            plain = _numbered_columns(frame)
            who = plain.columns[frame.columns.index(unit)]
            if dict(plain.dtypes)[who] in ("float", "double"):
                raise inexact_names(
                    dict(plain.dtypes)[who], Phrase("read it from the source as text or as whole numbers"), unit
                )
            named = F.col(who).isNotNull()
            # By a hash of the content, so that the kept rows are not the smallest ones; the content breaks ties.
            order = Window.partitionBy(who).orderBy(F.xxhash64(*plain.columns), *plain.columns)
            kept = plain.where(named).withColumn("number", F.row_number().over(order)).where(F.col("number") <= rows)
            return kept.drop("number").toDF(*frame.columns)

    def accepts(self, source: Any) -> bool:
        """Whether the workers read this themselves: a DataFrame or Parquet files. Anything else is sent as tasks."""
        if _is_frame(source):
            return True
        if isinstance(source, str | os.PathLike):
            return "://" in str(source) or row_groups(open_table(source)) is not None
        return False

    @staticmethod
    def arrow_types(frame: Any, columns: Iterable[str] | None = None) -> dict[str, Any]:
        """What these columns of a DataFrame, or all, are in the batches that a function of `map` gets."""
        from pyspark.sql.pandas.types import to_arrow_type

        kinds = {f.name: f.dataType for f in frame.schema}
        wanted = {
            name: pick_column(list(kinds), name, Phrase("the frame"))
            for name in (kinds if columns is None else columns)
        }
        return {name: to_arrow_type(kinds[column]) for name, column in wanted.items()}

    def _parts(self, step: SparkStep, source: Any, rng: Random, columns: Sequence[str] | None) -> Iterator[Total]:
        spark = source.sparkSession if _is_frame(source) else self._started()
        # An address with "://" is of a file system that Spark knows, and that Arrow perhaps does not.
        if isinstance(source, str) and "://" in source:
            source = spark.read.parquet(source)
        if _is_frame(source):
            frame = _select(source, columns)
            groups = scanned_groups(frame)
            if groups is None:
                yield from _collect(_numbered_columns(frame), _over_frame(step, rng, frame.columns))
            else:
                yield from _collect_groups(spark, groups, step, rng)
            return
        if isinstance(source, str | os.PathLike):
            source = open_table(source, columns)
        if isinstance(source, TableReader):
            groups = row_groups(source)
            if groups is not None:
                yield from _collect_groups(spark, groups, step, rng)
                return
            source = (Task(batch, rng.child(i)) for i, batch in enumerate(source.batches()))
        if not isinstance(source, Iterable):
            raise InvalidParameter(
                "Spark cannot read rows from {kind}.",
                hint="pass a Spark DataFrame, the path of Parquet files, or tasks",
                kind=type(source).__name__,
            )
        for wave in _waves(source):
            with _spark_errors():
                frame = spark.createDataFrame(wave, "before long, task binary", verifySchema=False)
            yield from _collect(frame, _over_sent(step))

    def _started(self) -> Any:
        if self.session is not None:
            return self.session
        _require_pyspark()
        from pyspark.sql import SparkSession

        return SparkSession.getActiveSession() or session()


def session(master: str = "local[*,4]", settings: Mapping[str, Any] | None = None) -> Any:
    """A Spark session that fits Murmure; `local[*,4]`: all cores of this machine, four tries for each task.

    Workers run the same Python as the caller; a local session listens on no outside address. `settings` override.
    """
    _require_pyspark()
    from pyspark.sql import SparkSession

    here = master.startswith("local") or "//127." in master or "//localhost" in master
    chosen: dict[str, Any] = {
        "spark.app.name": "murmure",
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(ROWS),
    }
    if here:
        chosen |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    builder = SparkSession.builder.master(master)
    for name, value in (chosen | dict(settings or {})).items():
        builder = builder.config(name, value)
    around = {"JAVA_HOME": java_home(), "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON") or sys.executable}
    if here:
        around["SPARK_LOCAL_IP"] = "127.0.0.1"
    with _environment(around), _spark_errors():
        return builder.getOrCreate()


# -- on the driver --------------------------------------------------------------------------------


def _require_pyspark() -> None:
    for package in ("pyspark", "pyarrow", "pandas"):  # mapInArrow refuses to run without pandas
        try:
            __import__(package)
        except ImportError:
            raise MissingExtra(Phrase("the Spark engine"), package, "spark") from None


def _is_frame(source: Any) -> bool:
    library = sys.modules.get("pyspark.sql")  # not imported: nobody can have a DataFrame
    return library is not None and isinstance(source, library.DataFrame)


def _select(frame: Any, columns: Sequence[str] | None) -> Any:
    if columns is None:
        return frame
    wanted = [pick_column(frame.columns, name, Phrase("the frame")) for name in columns]
    return frame.select(*(f"`{name}`" for name in wanted))  # quoted: a point would mean a field of a struct


def _numbered_columns(frame: Any) -> Any:
    """mapInArrow fails on names with a point in them, such as R writes; the workers put the names back."""
    return frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))


def _cores(spark: Any) -> int:
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # a session over the network (Spark Connect) does not say
        return 16


@contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    """Set these for a while: the JVM and the context read them when they start, and never again."""
    saved = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in saved.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@contextmanager
def _spark_errors() -> Iterator[None]:
    """Spark's errors as one of ours, and without its warning about pandas 3, which is not used here."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*pandas.*", FutureWarning)
        try:
            yield
        except (PySparkException, Py4JError, ConnectionError) as error:
            raise _explain_failure(str(error)) from error


def _explain_failure(message: str) -> SparkFailed:
    if "Python worker exited unexpectedly" in message or "ExecutorLostFailure" in message:
        return SparkFailed(
            "Spark gave up: workers kept failing; nothing was added up.",
            hint="they were killed or out of memory: give them more (spark.executor.memory, "
            "spark.executor.pyspark.memory), or use smaller partitions",
        )
    errors = re.findall(r"^(?:\w+\.)*(\w*(?:Error|Exception|Interrupt): .*)$", message, re.MULTILINE)
    missing, lines = "No module named" in message, errors or message.splitlines()
    return SparkFailed(
        "Spark gave up: {error}",
        hint="install murmure and its extra spark in the Python that the workers run (PYSPARK_PYTHON)"
        if missing
        else None,
        error=shorten(lines[-1 if errors else 0], 300) if lines else Phrase("no reason given"),
    )


def _collect(frame: Any, on_partition: Callable[[Iterator[Any]], Iterator[Any]]) -> list[Total]:
    with _spark_errors():
        rows = frame.mapInArrow(on_partition, ANSWER_SCHEMA).collect()
    rows.sort(key=lambda row: row["part"])
    _raise_first(pickle.loads(row["error"]) for row in rows if row["error"] is not None)
    return [Total(row["n"], _unpack_sums(bytes(row["sum"]))) for row in rows]


def _collect_groups(spark: Any, groups: RowGroups, step: SparkStep, rng: Random) -> list[Total]:
    """Each worker reads its share of the row groups."""
    cores = _cores(spark)
    shares = groups.shares(max(cores, min(TASKS_PER_CORE * cores, groups.rows // MIN_TASK_ROWS)))
    frame = spark.range(0, len(shares), 1, max(1, len(shares)))
    return _collect(frame, _over_groups(step, rng, shares, groups))


def _pack_sums(sums: Any) -> bytes:
    """Sums as bytes for the driver: words of 64 bits, or hexadecimal digits of Python's unbounded integers."""
    if sums.dtype == object:
        return WIDE + " ".join(f"{int(v):x}" for v in sums.tolist()).encode()
    return NARROW + np.ascontiguousarray(sums, "<i8").tobytes()


def _unpack_sums(raw: bytes) -> Any:
    kind, rest = raw[:1], raw[1:]
    if kind == WIDE:
        return np.array([int(digits, 16) for digits in rest.split()], object)
    return np.frombuffer(rest, "<i8").astype(np.int64)


def _raise_first(errors: Iterable[tuple[int, type[MurmureError] | None, Any, str]]) -> None:
    """Raise the error of the first partition that has one, as it was raised there."""
    by_partition = sorted(errors, key=lambda error: error[0])
    if not by_partition:
        return
    _, kind, state, trace = by_partition[0]
    if kind is None:
        failed = SparkFailed("a worker failed: {state}", state=state)
        failed.add_note(trace)
        raise failed
    error = kind.__new__(kind)
    error.args, error.__dict__ = state
    raise error


# -- tasks that the driver sends ------------------------------------------------------------------


def _waves(tasks: Iterable[Any]) -> Iterator[list[tuple[int, bytes]]]:
    """Every task as bytes, with the number of rows before it, as many at a time as the driver should hold."""
    wave: list[tuple[int, bytes]] = []
    size, rows_before = 0, 0
    for task in tasks:
        rows = len(task) if isinstance(task, Task) else rows_in(task)
        if not rows:
            continue
        known = isinstance(task, Task) and task.first is not None  # then the step counts rows from there
        wave.append((0 if known else rows_before, _pack(task)))
        size, rows_before = size + len(wave[-1][1]), rows_before + rows
        if size >= WAVE:
            yield wave
            wave, size = [], 0
    if wave:
        yield wave


def _pack(thing: Any) -> bytes:
    """Arrow's IPC format for Arrow: a pickled slice would include everything it was cut from."""
    import pyarrow as pa

    if isinstance(thing, Task):
        return b"T" + pickle.dumps((_pack(thing.batch), thing.rng, thing.first))
    if isinstance(thing, pa.Array):
        return b"C" + _pack(pa.RecordBatch.from_arrays([thing], [""]))
    if not isinstance(thing, pa.RecordBatch):
        return b"P" + pickle.dumps(thing, pickle.HIGHEST_PROTOCOL)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, thing.schema) as stream:
        stream.write_batch(thing)
    return b"A" + sink.getvalue().to_pybytes()


def _unpack(packed: bytes) -> Any:
    import pyarrow as pa

    kind, rest = packed[:1], packed[1:]
    if kind == b"T":
        batch, rng, first = pickle.loads(rest)  # unpickling gives a secure generator a fresh key
        return Task(_unpack(batch), rng, first)
    if kind == b"C":
        return _unpack(rest).column(0)
    if kind == b"P":
        return pickle.loads(rest)
    with pa.ipc.open_stream(rest) as stream:
        return stream.read_next_batch()


# -- on the workers -------------------------------------------------------------------------------

OnPartition = Callable[[Iterator[Any]], Iterator[Any]]


@lru_cache(4)
def _load_step(pickled: bytes) -> Any:
    """The step, loaded once for all partitions of this worker: it may have tables to build."""
    step = pickle.loads(pickled)
    gc.freeze()  # pyspark collects garbage after every task, and would scan every library each time
    return step


def _pickle_step(step: Any) -> bytes:
    from pyspark import cloudpickle

    packed: bytes = cloudpickle.dumps(step)  # type: ignore[no-untyped-call]
    return packed


def _on_partition(step: Any, run: Callable[[Any, Iterator[Any]], Iterator[Any]]) -> OnPartition:
    """run(step, batches) for the batches of a partition, the step pickled once for all of them."""
    pickled = _pickle_step(step)

    def on_partition(batches: Iterator[Any]) -> Iterator[Any]:
        yield from run(_load_step(pickled), batches)

    return on_partition


def _columns_of(step: Any) -> Sequence[str] | None:
    return step.columns if isinstance(step, BatchStep) else None


def _over_frame(step: SparkStep, rng: Random, names: list[str]) -> OnPartition:
    return _on_partition(step, lambda loaded, batches: _add(loaded, _numbered_tasks(batches, rng, names)))


def _over_groups(step: SparkStep, rng: Random, shares: list[list[RowGroup]], groups: RowGroups) -> OnPartition:
    schema, selection = groups.schema, groups.selection

    def run(loaded: Any, batches: Iterator[Any]) -> Iterator[Any]:
        mine = [group for batch in batches for share in batch.column(0).to_pylist() for group in shares[share]]
        lenient = isinstance(loaded, BatchStep) and loaded.lenient
        return _add(loaded, read_groups(mine, schema, rng, lenient, selection))

    return _on_partition(step, run)


def _over_sent(step: SparkStep) -> OnPartition:
    return _on_partition(step, lambda loaded, batches: _add(loaded, _received_tasks(batches)))


def _over_each(work: Callable[[Any], Any]) -> OnPartition:
    return _on_partition(work, lambda loaded, batches: _each(loaded, _received_tasks(batches)))


def _mapper(function: Callable[[Task], Any], rng: Random, plain: Any, names: list[str]) -> OnPartition:
    return _on_partition(function, lambda loaded, batches: _map(loaded, plain, _numbered_tasks(batches, rng, names)))


def _received_tasks(batches: Iterator[Any]) -> Iterator[LocatedTask]:
    for batch in batches:
        for rows_before, task in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            yield LocatedTask(_unpack(task.as_py()), rows_before)


def _partition_id() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None, "only Spark's workers call this"
    return context.partitionId()


def _numbered_tasks(batches: Iterator[Any], rng: Random, names: list[str]) -> Iterator[LocatedTask]:
    part, rows_before = _partition_id(), 0
    # In batches of ROWS rows, however they came: a seeded run must not depend on Spark's settings.
    for i, batch in enumerate(rebatched(batches, ROWS)):
        yield LocatedTask(Task(batch.rename_columns(names), rng.child(part, i)), rows_before, f"partition {part}")
        rows_before += batch.num_rows


def _pack_error(error: Exception, piece: LocatedTask | None) -> bytes:
    """An error for the driver, ours whole, others as text. Rows count from the start of their file or partition."""
    if not isinstance(error, MurmureError):
        trace = "".join(traceback.format_exception(error))
        return pickle.dumps((_partition_id(), None, f"{type(error).__name__}: {error}", trace))
    if isinstance(error, OutsideDomain) and error.row is not None and piece is not None:
        column, row, rest = error.row
        where = f"{piece.source}, {column}" if piece.source else column
        error = OutsideDomain.at(where, piece.row(row), rest, error.hint)
    return pickle.dumps((_partition_id(), type(error), (error.args, error.__dict__), ""))


def _add(step: SparkStep, pieces: Iterator[LocatedTask]) -> Iterator[Any]:
    """One row: the total of this partition, or its error. (Spark would repeat a task that raises four times.)"""
    import pyarrow as pa

    out: Total | None = None
    piece = error = None
    one_thread_here()
    try:
        for piece in pieces:
            part = step(piece.task)
            out = part if out is None else out + part
    except RETRIABLE:
        raise
    except Exception as raised:
        error = _pack_error(raised, piece)
    if out is None and error is None:
        return
    n, added = (0, b"") if out is None else (out.n, _pack_sums(out.sum))
    yield pa.RecordBatch.from_arrays(
        [pa.array([_partition_id()], pa.int64()), pa.array([n], pa.int64())]
        + [pa.array([cell], pa.binary()) for cell in (added, error)],
        ["part", "n", "sum", "error"],
    )


def _each(work: Callable[[Any], Any], pieces: Iterator[LocatedTask]) -> Iterator[Any]:
    """One row for each task: what was made of it; or, as the last one, the error."""
    import pyarrow as pa

    piece = None
    one_thread_here()
    try:
        for piece in pieces:
            made = _pack(work(piece.task))
            yield pa.RecordBatch.from_arrays([pa.array([made], pa.binary()), pa.nulls(1, pa.binary())], EACH_NAMES)
    except RETRIABLE:
        raise
    except Exception as raised:
        error = pa.array([_pack_error(raised, piece)], pa.binary())
        yield pa.RecordBatch.from_arrays([pa.nulls(1, pa.binary()), error], EACH_NAMES)


def _map(function: Callable[[Task], Any], plain: Any, pieces: Iterator[LocatedTask]) -> Iterator[Any]:
    import pyarrow as pa

    schema = plain.append(pa.field(ERROR_COLUMN, pa.binary()))
    piece = None
    one_thread_here()
    try:
        for piece in pieces:
            out = function(piece.task)
            columns = [out.column(f.name).cast(f.type) for f in plain]
            yield pa.RecordBatch.from_arrays([*columns, pa.nulls(out.num_rows, pa.binary())], schema=schema)
    except RETRIABLE:
        raise
    except Exception as raised:
        error = pa.array([_pack_error(raised, piece)], pa.binary())
        yield pa.RecordBatch.from_arrays([*(pa.nulls(1, f.type) for f in plain), error], schema=schema)


def _spark_schema(schema: Any) -> Any:
    """The schema in types that Spark has: no dictionaries, no unsigned numbers, no fixed sizes; all may be null."""
    import pyarrow as pa

    wider = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}
    fields = []
    for f in schema:
        kind = plain_type(f.type)
        kind = pa.binary() if pa.types.is_fixed_size_binary(kind) else wider.get(kind, kind)
        fields.append(pa.field(f.name, kind))
    return pa.schema(fields)


EXAMPLES = (Spark(),)
