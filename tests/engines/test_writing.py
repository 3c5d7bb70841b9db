"""A table is written whole, or not at all; nothing that was there is touched by accident."""

from __future__ import annotations

import gc
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from murmure.core.errors import CannotWrite, InvalidParameter
from murmure.engines.sources import batch_encoders
from murmure.engines.sources.table_writer import write_table
from murmure.engines.sources.tables import open_table

SUFFIXES = [".parquet", ".csv", ".arrow"]
TABLE = pa.table({"x": [1, 2, None], "w": pa.array(["a", None, ""]).dictionary_encode()})


def noise(n: int = 200_000) -> pa.Table:
    return pa.table({"x": np.random.default_rng(1).integers(0, 1 << 62, n)})


def names(folder: Path) -> set[str]:
    return {p.name for p in folder.iterdir()}


def expected(suffix: str, stem: str = "t") -> set[str]:
    return {f"{stem}{suffix}"} | ({f"{stem}.csv-metadata.json"} if suffix == ".csv" else set())


# ---- what is written


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_comes_back(suffix: str, tmp_path: Path) -> None:
    """Many batches, dictionaries that change between them, metadata; nothing else is in the folder."""
    path = tmp_path / f"t{suffix}"
    words = [["b", "a", None], ["a", "c"], [""], ["b", "d"]]
    batches = [pa.record_batch({"w": pa.array(w).dictionary_encode()}) for w in words]
    with write_table(path, batches[0].schema, {"plan": "é"}) as out:
        for batch in batches:
            out.write(batch)
        assert not path.exists()
    table = open_table(path, kinds={"w": "text"})

    assert [v for b in table.batches() for v in b.column(0).to_pylist()] == [v for w in words for v in w]
    assert pa.types.is_dictionary(table.schema.field("w").type)
    assert table.metadata == {"plan": "é"}
    assert out.rows == 8
    assert names(tmp_path) == expected(suffix)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_rows_are_a_table_too(suffix: str, tmp_path: Path) -> None:
    """Columns and no rows."""
    path = tmp_path / f"t{suffix}"
    with write_table(path, TABLE.schema, {}):
        pass

    assert open_table(path).names == ("x", "w")
    assert list(open_table(path).batches()) == []


def test_other_programs_read_it(tmp_path: Path) -> None:
    """Polars reads all three; CSV on the Web finds its metadata by name."""
    for suffix in SUFFIXES:
        with write_table(tmp_path / f"t{suffix}", TABLE.schema, {"k": "v"}) as out:
            out.write(TABLE)
    read = [pl.read_parquet(tmp_path / "t.parquet"), pl.read_ipc(tmp_path / "t.arrow")]
    read.append(pl.read_csv(tmp_path / "t.csv"))
    about = json.loads((tmp_path / "t.csv-metadata.json").read_text())

    assert all(frame["x"].to_list() == [1, 2, None] for frame in read)
    assert about["@context"] == "http://www.w3.org/ns/csvw" and about["url"] == "t.csv"
    assert [c["name"] for c in about["tableSchema"]["columns"]] == ["x", "w"]


def test_row_groups_of_a_million(tmp_path: Path) -> None:
    """Batches are gathered; wide rows are not, for memory's sake; words stay coded."""
    path = tmp_path / "t.parquet"
    word = pa.DictionaryArray.from_arrays(pa.array(np.arange(250_000) % 7, pa.int32()), pa.array(list("abcdefg")))
    batch = pa.record_batch({"w": word})
    with write_table(path, batch.schema, {}) as out:
        for _ in range(5):
            out.write(batch)
    file = pa.parquet.ParquetFile(path).metadata
    column = file.row_group(0).column(0)

    assert [file.row_group(i).num_rows for i in range(file.num_row_groups)] == [1 << 20, 1_250_000 - (1 << 20)]
    assert column.compression == "SNAPPY" and "RLE_DICTIONARY" in column.encodings

    wide = pa.record_batch({"r": pa.array([b"x" * 1000], pa.binary(1000)).take(pa.array([0] * 100_000))})
    with write_table(tmp_path / "w.parquet", wide.schema, {}) as out:
        for _ in range(4):
            out.write(wide)
    assert pa.parquet.ParquetFile(tmp_path / "w.parquet").metadata.num_row_groups == 2


def test_reports_in_binary_are_hexadecimal_in_csv(tmp_path: Path) -> None:
    """Lower-case hexadecimal text, also of a slice and with missing ones; other binaries have no text."""
    path = tmp_path / "t.csv"
    column = pa.array([b"\x00\xff", b"\xab\x01", None, b"zz"], pa.binary(2))
    for some in (column, column.slice(1), column.slice(0, 2)):
        with write_table(path, pa.schema({"r": column.type}), {}, overwrite=True) as out:
            out.write(pa.record_batch({"r": some}))
        (batch,) = open_table(path).batches()
        assert batch.column(0).to_pylist() == [None if v is None else v.hex() for v in some.to_pylist()]
    for kind in (pa.binary(), pa.list_(pa.int8())):
        with (
            pytest.raises(InvalidParameter, match=r"column 'r' holds .*for which CSV has no text"),
            write_table(path, pa.schema({"r": kind}), {}, overwrite=True),
        ):
            pass
    assert names(tmp_path) == {"t.csv"}


# ---- what is refused


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_there_stays(suffix: str, tmp_path: Path) -> None:
    """An existing table is refused, replaced when asked for, kept when the run fails."""
    path = tmp_path / f"t{suffix}"
    with write_table(path, TABLE.schema, {"k": "old"}) as out:
        out.write(TABLE)
    with pytest.raises(CannotWrite, match=r"already exists.\n  Hint: .*overwrite"):
        write_table(path, TABLE.schema, {})
    before = path.read_bytes()
    with pytest.raises(KeyError), write_table(path, TABLE.schema, {"k": "new"}, overwrite=True) as out:
        out.write(TABLE)
        raise KeyError
    assert path.read_bytes() == before
    assert open_table(path).metadata == {"k": "old"}

    path.chmod(0o600)
    with write_table(path, TABLE.schema, {}, overwrite=True) as out:
        out.write(TABLE.slice(0, 1))
    assert sum(b.num_rows for b in open_table(path).batches()) == 1
    assert open_table(path).metadata == {}  # those of the old table went with it
    assert stat.S_IMODE(path.stat().st_mode) == 0o600  # what was private stays private
    assert names(tmp_path) == {path.name}


def test_metadata_of_another_csv_are_refused(tmp_path: Path) -> None:
    """A crash between the two renames, or an edited table: what stands beside it no longer describes it."""
    path = tmp_path / "t.csv"
    with write_table(path, TABLE.schema, {"k": "v"}) as out:
        out.write(TABLE)
    with path.open("a") as file:
        file.write("4,\n")

    with pytest.raises(InvalidParameter, match=r"'t.csv-metadata.json' describes another 't.csv'"):
        open_table(path)


def test_a_source_is_never_the_target(tmp_path: Path) -> None:
    """Under any name: a link, a hard link, a detour; even when overwriting was asked for."""
    source = tmp_path / "t.parquet"
    pa.parquet.write_table(TABLE, source)
    (tmp_path / "soft.parquet").symlink_to(source)
    os.link(source, tmp_path / "hard.parquet")
    (tmp_path / "in").mkdir()
    for name in ("t.parquet", "soft.parquet", "hard.parquet", "in/../t.parquet"):
        with pytest.raises(CannotWrite, match="is one of the tables being read"):
            write_table(tmp_path / name, TABLE.schema, {}, overwrite=True, sources=open_table(source).paths)
    assert pa.parquet.read_table(source).equals(TABLE)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """The table that it points to is replaced."""
    (tmp_path / "far").mkdir()
    (tmp_path / "t.parquet").symlink_to("far/real.parquet")
    with write_table(tmp_path / "t.parquet", TABLE.schema, {}) as out:
        out.write(TABLE)

    assert (tmp_path / "t.parquet").is_symlink() and names(tmp_path / "far") == {"real.parquet"}


def test_targets_that_cannot_be(tmp_path: Path) -> None:
    """No folder, a folder, another kind, a device, a name that is too long."""
    (tmp_path / "d.csv").mkdir()
    (tmp_path / "null.csv").symlink_to(os.devnull)
    for name, error, words in (
        ("no/t.csv", CannotWrite, "there is no folder"),
        ("d.csv", CannotWrite, "is not a file"),
        ("null.csv", CannotWrite, "is not a file"),
        ("t.xlsx", InvalidParameter, "wanted a name ending in .parquet"),
        ("t.csv.gz", InvalidParameter, "wanted a name ending in .parquet"),
        ("n" * 300 + ".csv", CannotWrite, "file name too long"),
    ):
        with pytest.raises(error, match=words):
            write_table(tmp_path / name, TABLE.schema, {}, overwrite=True)
    with write_table(tmp_path / ("n" * 245 + ".parquet"), TABLE.schema, {}) as out:  # hidden names are longer
        out.write(TABLE)


def test_batches_must_fit(tmp_path: Path) -> None:
    """Another type is refused by name, and so is a batch outside the block."""
    with (
        pytest.raises(
            InvalidParameter, match=r"does not fit the table 't.csv': wanted .*'x': 'int64'.* got .*'string'"
        ),
        write_table(tmp_path / "t.csv", TABLE.schema, {}) as out,
    ):
        out.write(pa.table({"x": ["a"]}))
    with pytest.raises(InvalidParameter, match="is not open"):
        out.write(TABLE)
    assert names(tmp_path) == set()


def test_somebody_else_wrote_it_meanwhile(tmp_path: Path) -> None:
    """Nobody's table is replaced unless that was asked for, not even one that came during the run."""
    path = tmp_path / "t.csv"
    with (
        pytest.raises(CannotWrite, match=r"(?s)file exists.*another process"),
        write_table(path, TABLE.schema, {"k": "v"}) as out,
    ):
        out.write(TABLE)
        path.write_text("theirs")

    assert path.read_text() == "theirs"
    assert names(tmp_path) == {"t.csv"}


# ---- failures


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError])
def test_a_failing_caller_leaves_nothing(suffix: str, error: type[BaseException], tmp_path: Path) -> None:
    """The caller's own error comes out, no file and no thread remain."""
    with pytest.raises(error) as raised, write_table(tmp_path / f"t{suffix}", noise().schema, {"k": "v"}) as out:
        for _ in range(5):
            out.write(noise())
        raise error("mine")
    gc.collect()

    assert not isinstance(raised.value, CannotWrite)
    assert names(tmp_path) == set()
    assert not [t for t in threading.enumerate() if t.name.startswith("writes t")]


def test_a_failing_thread_is_heard_and_does_not_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error while a batch is encoded reaches the caller, however many batches are still handed over."""

    def broken(self: Any, batch: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(batch_encoders.ParquetEncoder, "write", broken)
    with (
        pytest.raises(CannotWrite, match="no space left"),
        write_table(tmp_path / "t.parquet", TABLE.schema, {}) as out,
    ):
        for _ in range(1000):
            out.write(TABLE)
    with (
        pytest.raises(CannotWrite, match="no space left"),
        write_table(tmp_path / "t.parquet", TABLE.schema, {}) as out,
    ):
        out.write(TABLE)  # heard at the end
    assert names(tmp_path) == set()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except OSError as error:
        pytest.skip(f"no disk can be mounted here: {error}")
    if done.returncode:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("rows", [200_000, 125_000])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk(suffix: str, rows: int, small_disk: Path) -> None:
    """No room, in the middle or in the last bytes: said in words, and the disk is as empty as before."""
    with (
        pytest.raises(
            CannotWrite, match=r"cannot write '.*': no space left on device.\n  Hint: no partial file was left behind"
        ),
        write_table(small_disk / f"t{suffix}", noise().schema, {"k": "v" * 60_000}) as out,
    ):
        for a in range(0, rows, 10_000):
            out.write(noise(rows).slice(a, 10_000))
    gc.collect()
    free = os.statvfs(small_disk)

    assert names(small_disk) == set()
    assert free.f_bfree == free.f_blocks


LIMITED = """
import resource, sys, pyarrow as pa, numpy as np
from pathlib import Path
from murmure.core.errors import CannotWrite
from murmure.engines.sources.table_writer import write_table
table = pa.table({"x": np.random.default_rng(1).integers(0, 1 << 62, 200_000)})
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))
try:
    with write_table(sys.argv[1], table.schema, {}) as out:
        for _ in range(5):
            out.write(table)
except CannotWrite as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_limit_on_files(suffix: str, tmp_path: Path) -> None:
    """RLIMIT_FSIZE stops a file as a full disk does."""
    command = [sys.executable, "-c", LIMITED, tmp_path / f"t{suffix}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert "file too large.\n  Hint: no partial file was left behind" in done.stdout, done.stderr
    assert done.stderr == ""
    assert names(tmp_path) == set()


READ_ONLY = """
import os, sys, pyarrow as pa
from murmure.core.errors import CannotWrite
from murmure.engines.sources.table_writer import write_table
import pyarrow.parquet, pyarrow.csv
os.chdir(sys.argv[1])
os.getuid() or os.setuid(65534)
for name in ("t.csv", "shut/t.csv"):
    try:
        with write_table(name, pa.schema({"x": pa.int8()}), {"k": "v"}):
            pass
    except CannotWrite as error:
        print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    """Permission denied, of the folder and of one that cannot even be entered; tried as nobody when run as root."""
    (tmp_path / "shut").mkdir(0)
    tmp_path.chmod(0o555)
    done = subprocess.run([sys.executable, "-c", READ_ONLY, tmp_path], capture_output=True, text=True, timeout=60)
    tmp_path.chmod(0o700)
    (tmp_path / "shut").chmod(0o700)

    assert done.stdout.count("permission denied.\n  Hint: choose a folder") == 2, (done.stdout, done.stderr)


KILLED = """
import sys, time, pyarrow as pa, numpy as np
from murmure.engines.sources.table_writer import write_table
table = pa.table({"x": np.random.default_rng(1).integers(0, 1 << 62, 200_000)})
with write_table(sys.argv[1], table.schema, {"k": "v"}) as out:
    while True:
        out.write(table)
        print("x", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_kill_leaves_only_a_part(suffix: str, tmp_path: Path) -> None:
    """kill -9 in the middle leaves a hidden .part, which no folder takes for a table and which hinders no later run."""
    path = tmp_path / f"t{suffix}"
    running = subprocess.Popen([sys.executable, "-c", KILLED, path], stdout=subprocess.PIPE)
    assert running.stdout is not None
    for _ in range(8):
        running.stdout.readline()
    running.send_signal(signal.SIGKILL)
    running.wait()
    running.stdout.close()

    left = names(tmp_path)
    assert left and all(name.startswith(".t") and name.endswith(".part") for name in left)
    with pytest.raises(InvalidParameter, match="holds no file"):
        open_table(tmp_path)
    with write_table(path, TABLE.schema, {"k": "v"}) as out:
        out.write(TABLE)
    assert sum(b.num_rows for b in open_table(tmp_path).batches()) == 3


def test_ctrl_c_stops_and_cleans(tmp_path: Path) -> None:
    """SIGINT in the middle of a run ends it soon and leaves nothing."""
    running = subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path / "t.parquet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert running.stdout is not None
    for _ in range(8):
        running.stdout.readline()
    began = time.monotonic()
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=30)

    assert b"KeyboardInterrupt" in said and b"CannotWrite" not in said
    assert time.monotonic() - began < 10
    assert names(tmp_path) == set()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_reader_and_a_writer_at_once(suffix: str, tmp_path: Path) -> None:
    """Read and written in one stream, in order, everybody once."""
    pa.parquet.write_table(noise(500_000), tmp_path / "in.parquet")
    table = open_table(tmp_path / "in.parquet", rows=50_000)
    with write_table(tmp_path / f"t{suffix}", table.schema, {}, sources=table.paths) as out:
        for batch in table.batches():
            out.write(batch)
    back = open_table(tmp_path / f"t{suffix}", kinds={"x": "integer"})

    assert pa.Table.from_batches(back.batches()).equals(noise(500_000))
