"""Compiled kernels on disk: several processes may keep them at once, and what does not fit is compiled again."""

import os
import pickle
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from murmure.core.files import locked
from murmure.laws import kernel_loader
from murmure.laws.kernel_loader import LOCK, KernelCache, cached_kernel

numba = pytest.importorskip("numba", reason="needs numba")
caching = pytest.importorskip("numba.core.caching", reason="needs numba")
kernels = pytest.importorskip("murmure.laws.kernels", reason="needs numba")

# A small kernel called with types of the process's own. Between reading and writing an index numba takes 0.2 s, as on a
# slow disk, so that processes meet there.
KERNEL = """
import os, sys, time
import numpy as np
from numba import njit
from numba.core.caching import IndexDataCacheFile
from murmure.laws.kernel_loader import cached_kernel

how, types = sys.argv[1], sys.argv[2:]
write = IndexDataCacheFile._save_index
def slowly(self, overloads):
    time.sleep(0.2)
    write(self, overloads)
IndexDataCacheFile._save_index = slowly

@(cached_kernel if how == "kept" else lambda kernel: kernel)
@njit(cache=True)
def more(x):
    return x + x.dtype.type(1)

while os.path.exists("wait"):  # all at once
    time.sleep(0.001)
for name in types:
    x = np.arange(3).astype(name)
    assert (more(x) == [1, 2, 3]).all(), name
print(sum(more.stats.cache_misses.values()))
"""
TYPES = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kernel.py").write_text(KERNEL)
    return tmp_path


def start(folder: Path, how: str, *types: str) -> subprocess.Popen[str]:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "kernel.py", how, *types]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def misses(process: subprocess.Popen[str]) -> int:
    """How many signatures it had to compile."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err[-2000:]
    return int(out)


def together(folder: Path, how: str) -> list[subprocess.Popen[str]]:
    """Four processes that start compiling at the same moment."""
    (folder / "wait").touch()
    running = [start(folder, how, *TYPES[i : i + 2]) for i in range(0, 8, 2)]
    time.sleep(2)
    (folder / "wait").unlink()
    return running


def index_of(folder: Path) -> tuple[Path, dict]:
    (index,) = (folder / "cache").rglob("*.nbi")
    with index.open("rb") as file:
        pickle.load(file)
        return index, pickle.load(file)[1]


def test_processes_that_save_at_once_lose_nothing(folder: Path) -> None:
    """Every signature is in the index, none with the code of another: a later process compiles nothing."""
    assert [misses(process) for process in together(folder, "kept")] == [2, 2, 2, 2]
    index, overloads = index_of(folder)

    assert len(overloads) == len(set(overloads.values())) == len(TYPES)
    assert all(pickle.loads(index.with_name(name).read_bytes())[0] == key for key, name in overloads.items())
    assert misses(start(folder, "kept", *TYPES)) == 0


@pytest.mark.slow
def test_numba_alone_does_lose_them(folder: Path) -> None:
    """The control: without a lock the same processes overwrite one another's entries, or even break."""
    running = together(folder, "alone")
    errors = [process.communicate(timeout=120)[1] for process in running]

    assert any(errors) or len(index_of(folder)[1]) < len(TYPES)


# ---- one file, without compiling


@pytest.fixture
def numba_file(tmp_path: Path) -> caching.IndexDataCacheFile:
    return caching.IndexDataCacheFile(str(tmp_path), "kernels.window-23", "stamp")


@pytest.fixture
def file(numba_file: caching.IndexDataCacheFile, tmp_path: Path) -> KernelCache:
    return KernelCache(numba_file, tmp_path / LOCK)


def test_code_of_another_signature_is_not_used(
    file: KernelCache, numba_file: caching.IndexDataCacheFile, tmp_path: Path
) -> None:
    """What the race left behind heals: the index names for int32 the code of uint8."""
    file.save("int32", "code of int32")
    file.save("uint8", "code of uint8")
    shutil.copy(tmp_path / "kernels.window-23.2.nbc", tmp_path / "kernels.window-23.1.nbc")
    assert numba_file.load("int32") == ("uint8", "code of uint8")

    assert file.load("int32") is None
    file.save("int32", "code of int32, again")
    assert file.load("int32") == "code of int32, again"
    assert file.load("uint8") == "code of uint8"


@pytest.mark.parametrize("data", ["code", ("code", "signature"), tuple(range(9))])
def test_what_numba_kept_alone_is_not_used(
    file: KernelCache, numba_file: caching.IndexDataCacheFile, data: object
) -> None:
    """It does not say to which signature it belongs; the next save writes over it."""
    numba_file.save("int32", data)
    assert file.load("int32") is None
    file.save("int32", "code")

    assert file.load("int32") == "code"


@pytest.mark.parametrize("name", ["kernels.window-23.nbi", "kernels.window-23.1.nbc"])
@pytest.mark.parametrize("left", [0, 10])
def test_files_that_a_crash_cut_short(file: KernelCache, tmp_path: Path, name: str, left: int) -> None:
    file.save("int32", "code")
    cut = tmp_path / name
    cut.write_bytes(cut.read_bytes()[:left])
    assert file.load("int32") is None
    file.save("int32", "code")

    assert file.load("int32") == "code"


def test_where_no_lock_can_be_had(file: KernelCache, tmp_path: Path) -> None:
    """A folder in the lock's place: kernels are kept all the same."""
    (tmp_path / LOCK).mkdir()
    file.save("int32", "code")

    assert file.load("int32") == "code"


def test_a_lock_that_is_never_let_go(file: KernelCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is waited for, but not for ever."""
    monkeypatch.setattr(kernel_loader, "PATIENCE", 0.05)
    with locked(tmp_path / LOCK):
        with pytest.raises(TimeoutError, match=r"held it for 0\.05 s"), locked(tmp_path / LOCK, patience=0.05):
            pass
        file.save("int32", "code")

    assert file.load("int32") == "code"


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    """Nothing can be kept: the kernel runs all the same, and the error stays here."""

    @numba.njit(cache=True)
    def kernel(x):
        return x + 1

    cached_kernel(kernel)
    nowhere = tmp_path / "gone"
    kernel._cache._cache_file = KernelCache(caching.IndexDataCacheFile(str(nowhere), "kernel", "stamp"), nowhere / LOCK)

    assert kernel(1) == 2
    assert not nowhere.exists()


def test_every_kernel_is_kept_so() -> None:
    """Also where a test, or anybody, imports the kernels by themselves."""
    made = [value for value in vars(kernels).values() if hasattr(value, "_cache")]

    assert len(made) >= 20
    assert all(isinstance(kernel._cache._cache_file, KernelCache) for kernel in made)


# ---- the lock


def test_a_lock_passes_from_one_to_the_next(tmp_path: Path) -> None:
    """Threads that open it by themselves exclude one another; readers do not."""
    path, inside, most = tmp_path / "lock", [], []

    def work() -> None:
        with locked(path):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.005)
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 8

    with (
        locked(path, alone=False, patience=0),
        locked(path, alone=False, patience=0),
        pytest.raises(TimeoutError),
        locked(path, patience=0),
    ):
        pass
