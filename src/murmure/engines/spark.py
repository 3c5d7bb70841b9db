"""The sum on Spark: each partition is randomised and added where it lies, and one small row comes back from it.

Rows come back through `collect`, which takes each partition once however often Spark had to try it, so a task that was
repeated is never counted twice. A batch is randomised by a generator of its own, made where the batch is.
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

from murmure.core.errors import (
    EmptySource,
    InvalidParameter,
    MissingExtra,
    MurmureError,
    OutsideDomain,
    shorten,
)
from murmure.core.random import Random, random_or_secure
from murmure.core.types import Total
from murmure.engines.base.java import java_home
from murmure.engines.base.task import Task, rows_in
from murmure.engines.sources.arrow_cells import inexact_names
from murmure.engines.sources.column_batches import ROWS, pick_column
from murmure.engines.sources.row_groups import LocatedTask, RowGroup, read_groups, row_groups, scanned
from murmure.engines.sources.table_reader import TableReader
from murmure.engines.sources.tables import open_table
from murmure.laws.kernel_loader import one_thread_here

WAVE = 1 << 26  # bytes of rows that the driver holds at a time, where the rows come from the driver
SHARES = 4  # tasks a core, so that the slowest does not keep the others waiting, and a lost one costs little;
LEAST = 1 << 23  # but fewer of at least so many rows, where there are rows for all cores: a task costs 0.1 s
ANSWER = "part long, n long, sum binary, error binary"
WIDE, NARROW = b"W", b"N"  # how a partition's sums are written
ERROR = "murmure_error"
AGAIN = (OSError, MemoryError)  # what may pass on another try, or on another machine

Step = Callable[[Task], Total]


class SparkFailed(MurmureError, RuntimeError):
    """Spark gave up; nothing was added."""


@dataclass(frozen=True)
class Spark:
    """Adds on Spark; without a session, on the active one, or on one of its own over the cores of this machine.

    Sources: a Spark DataFrame; Parquet files that every worker can read (path, pattern, folder), whose row groups the
    workers read themselves; or tasks, which are sent to the workers.
    """

    session: Any = None

    def total(self, step: Step, source: Any, rng: Random | None = None) -> Total:
        """The sum of step(task) over all batches. `step.columns`, where there is such a thing, are all that is read.

        `step.lenient`: no row may decide whether there is an error, so types are fitted without refusing any number.
        Where workers read the rows, each batch gets a generator derived from `rng`; tasks that are sent bring theirs.
        """
        rng = random_or_secure(rng, "Spark.total")
        parts = list(self._parts(step, source, rng, getattr(step, "columns", None)))
        if not parts:
            raise EmptySource(
                "the source holds no rows: there is nobody to add up.",
                hint="check the path, the filter or the join",
            )
        out = parts[0]
        for part in parts[1:]:
            out = out + part
        return out

    def map(self, function: Callable[[Task], Any], frame: Any, schema: Any, rng: Random | None = None) -> Any:
        """The DataFrame of function(task) -> RecordBatch over all rows, of this Arrow schema.

        It is computed here and kept on the executors, not when it is looked at: a report drawn anew at every look
        would tell more about a person each time. An executor that dies takes its part along; the next look then fails.
        """
        if not _is_frame(frame):
            raise InvalidParameter(f"Spark.map takes a Spark DataFrame, got {type(frame).__name__}.")
        rng = random_or_secure(rng, "Spark.map")
        plain = _plain(schema)
        with _speaking():
            from pyspark.sql.pandas.types import from_arrow_schema
            from pyspark.sql.types import BinaryType

            frame = _narrow(frame, getattr(function, "columns", None))
            work = _mapper(function, rng, plain, frame.columns)
            held = _unnamed(frame).mapInArrow(work, from_arrow_schema(plain).add(ERROR, BinaryType()))
            held = held.localCheckpoint()
            wrong = held.where(held[ERROR].isNotNull()).select(ERROR).collect()
        _raise_first(pickle.loads(row[0]) for row in wrong)
        return held.drop(ERROR)

    def bounded(self, source: Any, columns: Sequence[str], unit: str, rows: int) -> Any:
        """The DataFrame of these columns with at most `rows` rows of each person, whom column `unit` names.

        Which rows are kept is decided by what a person's own rows hold, whatever order they come in: nobody else's rows
        change it. Rows that name nobody are left out.
        """
        with _speaking():
            from pyspark.sql import Window
            from pyspark.sql import functions as F

            frame = source if _is_frame(source) else self._started().read.parquet(os.fspath(source))
            frame = _narrow(frame, [*columns, *(() if unit in columns else (unit,))])
            plain = _unnamed(frame)
            who = plain.columns[frame.columns.index(unit)]
            if dict(plain.dtypes)[who] in ("float", "double"):
                raise inexact_names(
                    dict(plain.dtypes)[who], "read it from the source as text or as whole numbers", unit
                )
            named = F.col(who).isNotNull()
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
    def arrow_types(frame: Any, columns: Iterable[str]) -> dict[str, Any]:
        """What these columns of a DataFrame are in the batches that a function of `map` gets."""
        from pyspark.sql.pandas.types import to_arrow_type

        kinds = {f.name: f.dataType for f in frame.schema}
        return {name: to_arrow_type(kinds[pick_column(list(kinds), name, "the frame")]) for name in columns}

    def _parts(self, step: Step, source: Any, rng: Random, columns: Sequence[str] | None) -> Iterator[Total]:
        spark = source.sparkSession if _is_frame(source) else self._started()
        if isinstance(source, str) and "://" in source:  # a file system that Spark knows, and Arrow perhaps not
            source = spark.read.parquet(source)
        if _is_frame(source):
            frame = _narrow(source, columns)
            source = scanned(frame)
            if source is None:
                yield from _collect(_unnamed(frame), _over_frame(step, rng, frame.columns))
                return
        if isinstance(source, str | os.PathLike):
            source = open_table(source, columns)
        if isinstance(source, TableReader):
            held = row_groups(source)
            if held is not None:
                cores = _cores(spark)
                shares = held.shares(max(cores, min(SHARES * cores, held.rows // LEAST)))
                frame = spark.range(0, len(shares), 1, max(1, len(shares)))
                yield from _collect(frame, _over_groups(step, rng, shares, held.schema))
                return
            source = (Task(batch, rng.child(i)) for i, batch in enumerate(source.batches()))
        if not isinstance(source, Iterable):
            raise InvalidParameter(
                f"Spark cannot read rows from {type(source).__name__}.",
                hint="pass a Spark DataFrame, the path of Parquet files, or tasks",
            )
        for wave in _waves(source):
            with _speaking():
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

    Workers run this very Python; on this machine alone, nothing listens on an outside address. `settings` win.
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
    with _environment(around), _speaking():
        return builder.getOrCreate()


# -- on the driver --------------------------------------------------------------------------------


def _require_pyspark() -> None:
    for package in ("pyspark", "pyarrow", "pandas"):  # mapInArrow refuses to run without pandas
        try:
            __import__(package)
        except ImportError:
            raise MissingExtra("the Spark engine", package, "spark") from None


def _is_frame(source: Any) -> bool:
    return type(source).__module__.startswith("pyspark.") and hasattr(source, "mapInArrow")


def _narrow(frame: Any, columns: Sequence[str] | None) -> Any:
    if columns is None:
        return frame
    wanted = [pick_column(frame.columns, name, "the frame") for name in columns]
    return frame.select(*(f"`{name}`" for name in wanted))  # quoted: a point would mean a part of a struct


def _unnamed(frame: Any) -> Any:
    """mapInArrow stumbles over names with a point in them, such as R writes; the workers put the names back."""
    return frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))


def _cores(spark: Any) -> int:
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # a session over the network (Spark Connect) does not tell
        return 16


@contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    """Read by the JVM and the context when they start, and by nobody later."""
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@contextmanager
def _speaking() -> Iterator[None]:
    """Spark's errors as one of ours, and without its word about pandas 3, of which nothing is used here."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*pandas.*", FutureWarning)
        try:
            yield
        except (PySparkException, Py4JError, ConnectionError) as error:
            raise _failure(str(error)) from error


def _failure(said: str) -> SparkFailed:
    if "Python worker exited unexpectedly" in said or "ExecutorLostFailure" in said:
        return SparkFailed(
            "Spark gave up: workers were lost again and again; nothing was added.",
            hint="they were killed or out of memory: give them more (spark.executor.memory, "
            "spark.executor.pyspark.memory), or use smaller partitions",
        )
    last = re.findall(r"^(?:\w+\.)*(\w*(?:Error|Exception|Interrupt): .*)$", said, re.MULTILINE)
    missing = "No module named" in said
    return SparkFailed(
        f"Spark gave up: {shorten((last or said.splitlines() or ['no reason given'])[-1 if last else 0], 300)}",
        hint="install murmure and its extra spark in the Python that the workers run (PYSPARK_PYTHON)"
        if missing
        else None,
    )


def _collect(frame: Any, on_partition: Callable[[Iterator[Any]], Iterator[Any]]) -> list[Total]:
    with _speaking():
        rows = frame.mapInArrow(on_partition, ANSWER).collect()
    rows.sort(key=lambda row: row["part"])
    _raise_first(pickle.loads(row["error"]) for row in rows if row["error"] is not None)
    return [Total(row["n"], _numbers(bytes(row["sum"]))) for row in rows]


def _bytes(sums: Any) -> bytes:
    """Sums on their way to the driver: words of 64 bits, or the digits of Python's own integers, which have no end."""
    if sums.dtype == object:
        return WIDE + " ".join(f"{int(v):x}" for v in sums.tolist()).encode()
    return NARROW + np.ascontiguousarray(sums, "<i8").tobytes()


def _numbers(held: bytes) -> Any:
    kind, rest = held[:1], held[1:]
    if kind == WIDE:
        return np.array([int(digits, 16) for digits in rest.split()], object)
    return np.frombuffer(rest, "<i8").astype(np.int64)


def _raise_first(errors: Iterable[tuple[int, type[MurmureError] | None, Any, str]]) -> None:
    """The error of the first partition, as it was raised there."""
    listed = sorted(errors, key=lambda held: held[0])
    if not listed:
        return
    _, kind, state, said = listed[0]
    if kind is None:
        failed = SparkFailed(f"a worker failed: {state}")
        failed.add_note(said)
        raise failed
    error = kind.__new__(kind)
    error.args, error.__dict__ = state
    raise error


# -- tasks that the driver sends ------------------------------------------------------------------


def _waves(tasks: Iterable[Any]) -> Iterator[list[tuple[int, bytes]]]:
    """Every task's bytes and the rows before it, as many at a time as the driver should hold."""
    wave: list[tuple[int, bytes]] = []
    size, before = 0, 0
    for task in tasks:
        rows = len(task) if isinstance(task, Task) else rows_in(task)
        if not rows:
            continue
        known = isinstance(task, Task) and task.first is not None  # then the step counts from there
        wave.append((0 if known else before, _pack(task)))
        size, before = size + len(wave[-1][1]), before + rows
        if size >= WAVE:
            yield wave
            wave, size = [], 0
    if wave:
        yield wave


def _pack(held: Any) -> bytes:
    """Arrow's own format for Arrow: a pickled slice would bring everything it was cut from."""
    import pyarrow as pa

    if isinstance(held, Task):
        return b"T" + pickle.dumps((_pack(held.batch), held.rng, held.first))
    if isinstance(held, pa.Array):
        return b"C" + _pack(pa.RecordBatch.from_arrays([held], [""]))
    if not isinstance(held, pa.RecordBatch):
        return b"P" + pickle.dumps(held, pickle.HIGHEST_PROTOCOL)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, held.schema) as stream:
        stream.write_batch(held)
    return b"A" + sink.getvalue().to_pybytes()


def _unpack(held: bytes) -> Any:
    import pyarrow as pa

    kind, rest = held[:1], held[1:]
    if kind == b"T":
        batch, rng, first = pickle.loads(rest)  # a secure generator comes out with a key of its own
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
def _loaded(held: bytes) -> Any:
    """The step, once for all partitions that this worker gets: it may have tables to build."""
    step = pickle.loads(held)
    gc.freeze()  # pyspark collects garbage after every task, and would look at every library each time
    return step


def _sent(step: Any) -> bytes:
    from pyspark import cloudpickle

    packed: bytes = cloudpickle.dumps(step)  # type: ignore[no-untyped-call]
    return packed


def _over_frame(step: Step, rng: Random, names: list[str]) -> OnPartition:
    held = _sent(step)

    def on_partition(batches: Iterator[Any]) -> Iterator[Any]:
        yield from _add(_loaded(held), _numbered(batches, rng, names))

    return on_partition


def _over_groups(step: Step, rng: Random, shares: list[list[RowGroup]], schema: Any) -> OnPartition:
    held = _sent(step)

    def on_partition(batches: Iterator[Any]) -> Iterator[Any]:
        mine = [group for batch in batches for share in batch.column(0).to_pylist() for group in shares[share]]
        loaded = _loaded(held)
        yield from _add(loaded, read_groups(mine, schema, rng, getattr(loaded, "lenient", False)))

    return on_partition


def _over_sent(step: Step) -> OnPartition:
    held = _sent(step)

    def on_partition(batches: Iterator[Any]) -> Iterator[Any]:
        yield from _add(_loaded(held), _received(batches))

    return on_partition


def _mapper(function: Callable[[Task], Any], rng: Random, plain: Any, names: list[str]) -> OnPartition:
    held = _sent(function)

    def on_partition(batches: Iterator[Any]) -> Iterator[Any]:
        yield from _map(_loaded(held), plain, _numbered(batches, rng, names))

    return on_partition


def _received(batches: Iterator[Any]) -> Iterator[LocatedTask]:
    for batch in batches:
        for before, task in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            yield LocatedTask(_unpack(task.as_py()), before)


def _part() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None, "only Spark's workers call this"
    return context.partitionId()


def _numbered(batches: Iterator[Any], rng: Random, names: list[str]) -> Iterator[LocatedTask]:
    part, before = _part(), 0
    for i, batch in enumerate(_recut(batches)):
        yield LocatedTask(Task(batch.rename_columns(names), rng.child(part, i)), before, f"partition {part}")
        before += batch.num_rows


def _recut(batches: Iterator[Any]) -> Iterator[Any]:
    """The same rows in batches of ROWS, however they came: a seeded run must not depend on Spark's settings."""
    import pyarrow as pa

    held: list[Any] = []
    rows = 0
    for batch in batches:
        while rows + batch.num_rows >= ROWS:
            cut = ROWS - rows
            held.append(batch.slice(0, cut))
            yield held[0] if len(held) == 1 else pa.concat_batches(held)
            held, rows, batch = [], 0, batch.slice(cut)
        if batch.num_rows:
            held.append(batch)
            rows += batch.num_rows
    if held:
        yield held[0] if len(held) == 1 else pa.concat_batches(held)


def _packed(error: Exception, piece: LocatedTask | None) -> bytes:
    """For the driver; a row is counted from the start of its file, partition or source. Our errors travel whole."""
    if not isinstance(error, MurmureError):
        said = "".join(traceback.format_exception(error))
        return pickle.dumps((_part(), None, f"{type(error).__name__}: {error}", said))
    if isinstance(error, OutsideDomain) and error.row is not None and piece is not None:
        whose, row, rest = error.row
        where = f"{piece.what}, {whose}" if piece.what else whose
        error = OutsideDomain.at(where, row + piece.before, rest, error.hint)
    return pickle.dumps((_part(), type(error), (error.args, error.__dict__), ""))


def _add(step: Step, pieces: Iterator[LocatedTask]) -> Iterator[Any]:
    """One row: the total of this partition, or what went wrong in it (an exception would be tried four times)."""
    import pyarrow as pa

    out: Total | None = None
    piece = error = None
    one_thread_here()
    try:
        for piece in pieces:
            part = step(piece.task)
            out = part if out is None else out + part
    except AGAIN:
        raise
    except Exception as raised:
        error = _packed(raised, piece)
    if out is None and error is None:
        return
    n, added = (0, b"") if out is None else (out.n, _bytes(out.sum))
    yield pa.RecordBatch.from_arrays(
        [pa.array([_part()], pa.int64()), pa.array([n], pa.int64())]
        + [pa.array([held], pa.binary()) for held in (added, error)],
        ["part", "n", "sum", "error"],
    )


def _map(function: Callable[[Task], Any], plain: Any, pieces: Iterator[LocatedTask]) -> Iterator[Any]:
    import pyarrow as pa

    schema = plain.append(pa.field(ERROR, pa.binary()))
    piece = None
    one_thread_here()
    try:
        for piece in pieces:
            out = function(piece.task)
            columns = [out.column(f.name).cast(f.type) for f in plain]
            yield pa.RecordBatch.from_arrays([*columns, pa.nulls(out.num_rows, pa.binary())], schema=schema)
    except AGAIN:
        raise
    except Exception as raised:
        error = pa.array([_packed(raised, piece)], pa.binary())
        yield pa.RecordBatch.from_arrays([*(pa.nulls(1, f.type) for f in plain), error], schema=schema)


def _plain(schema: Any) -> Any:
    """The schema in types that Spark has: no dictionaries, nothing unsigned, no fixed sizes; all may be null."""
    import pyarrow as pa

    wider = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}
    fields = []
    for f in schema:
        kind = f.type.value_type if pa.types.is_dictionary(f.type) else f.type
        kind = pa.binary() if pa.types.is_fixed_size_binary(kind) else wider.get(kind, kind)
        fields.append(pa.field(f.name, kind))
    return pa.schema(fields)


EXAMPLES = (Spark(),)
