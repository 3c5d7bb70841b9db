"""Files that are no ledger, or no longer one: refused, and nothing is charged on top of what is lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from murmure.core.blocks import Cost
from murmure.core.errors import LedgerFailed, MurmureError
from murmure.ledger.account import Account
from murmure.ledger.ledger import Ledger


def pay(account: Account, epsilon: float = 0.01) -> int:
    return account.pay(
        plan="plan",
        about="a count",
        cost=Cost(epsilon, epsilon),
        answers=[{"question": "q" * 64, "answer": list(range(50))}],
        seeded=False,
        certificate={"relation": "add/remove", "public": ["the bounds"] * 5},
    ).number


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("full") / "ledger.db"
    ledger = Ledger(path)
    ledger.set_budget("patients", 1.0)
    for _ in range(60):
        pay(ledger.account("patients"))
    return path


def test_random_bytes_in_the_middle(full: Path, tmp_path: Path) -> None:
    """90 seeded places: it is refused, or the bytes were nobody's and every entry is as it was."""
    rng = np.random.default_rng(3)
    true = [e.to_dict() for e in Ledger(full).history()]
    data = full.read_bytes()
    refused = 0
    for i in range(90):
        path = tmp_path / f"{i}.db"
        start = int(rng.integers(0, len(data) - 40))
        length = int(rng.integers(1, 40))
        path.write_bytes(data[:start] + rng.bytes(length) + data[start + length :])
        try:
            ledger = Ledger(path)
            number = pay(ledger.account("patients"))
            assert number == 62 and [e.to_dict() for e in ledger.history()][:-1] == true
        except LedgerFailed:
            refused += 1
        path.unlink()

    assert refused > 15  # the rest are old answers, indexes and empty room; `verify` reads those too


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_file_cut_short(full: Path, tmp_path: Path, share: float) -> None:
    path = tmp_path / "ledger.db"
    data = full.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(LedgerFailed, match=r"damaged|cut short|not a ledger"):
        Ledger(path)
    with pytest.raises(LedgerFailed):
        Ledger(path).set_budget("patients", 100.0)


def test_a_file_cut_short_while_in_use(full: Path, tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    shutil.copy(full, path)
    ledger = Ledger(path)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(LedgerFailed):
        pay(ledger.account("patients"))
    os.truncate(path, 0)
    with pytest.raises(MurmureError):
        pay(ledger.account("patients"))
    with pytest.raises(LedgerFailed):
        ledger.set_budget("patients", 5.0)


def test_a_file_that_has_gone(tmp_path: Path) -> None:
    """Opening makes no file: an empty one would be a budget that nobody has spent."""
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.set_budget("patients", 1.0)
    (tmp_path / "ledger.db").unlink()
    with pytest.raises(MurmureError, match="nothing is released"):
        pay(ledger.account("patients"))
    for using in (ledger._store.reading, ledger._store.writing):
        with pytest.raises(LedgerFailed, match="cannot be opened"), using():
            pass

    assert list(tmp_path.iterdir()) == []


def test_other_things_than_ledgers(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE people (name TEXT)")
    connection.close()
    before = other.read_bytes()
    text = tmp_path / "text.db"
    text.write_text("a text that is long enough to be more than one page " * 100)
    with pytest.raises(LedgerFailed, match="another program"):
        Ledger(other)
    with pytest.raises(LedgerFailed, match="not a ledger"):
        Ledger(text)
    with pytest.raises(LedgerFailed, match="not a file"):
        Ledger(tmp_path)
    with pytest.raises(LedgerFailed, match="no folder"):
        Ledger(tmp_path / "none" / "ledger.db").set_budget("patients", 1.0)
    with pytest.raises(MurmureError):
        Ledger("a\0b")

    assert other.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other.db", "text.db"]


def test_a_ledger_that_may_not_be_written(full: Path) -> None:
    """It can be read; a charge and a budget are refused."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    folder = Path(tempfile.mkdtemp(prefix="mu-held-"))  # where others than its owner may pass
    shutil.copy(full, folder / "ledger.db")
    (folder / "ledger.db").chmod(0o444)
    folder.chmod(0o555)
    here, there = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            ledger = Ledger(folder / "ledger.db")
            said = [str(ledger.spent("patients").charges)]
            for act in (lambda: pay(ledger.account("patients")), lambda: ledger.set_budget("patients", 9.0)):
                try:
                    act()
                    said.append("written")
                except LedgerFailed as error:
                    said.append(str(error))
            os.write(there, "\n".join(said).encode())
        except BaseException as error:
            os.write(there, repr(error).encode())
        os._exit(0)
    os.close(there)
    with os.fdopen(here, "rb") as file:
        said = file.read().decode()
    os.waitpid(pid, 0)
    folder.chmod(0o755)
    entries = Ledger(folder / "ledger.db").verify()
    shutil.rmtree(folder)

    assert said.startswith("60\n"), said
    assert said.count("it cannot be written to. Nothing was charged, and nothing may be released.") == 2, said
    assert entries == 61


def test_a_lock_that_is_never_released(full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process sits on the file: refused after a while, not waited for for ever."""
    path = tmp_path / "ledger.db"
    shutil.copy(full, path)
    for module in ("ledger.sqlite", "core.sqlite_files"):
        monkeypatch.setattr(f"murmure.{module}.PATIENCE", 0.1)
    held = sqlite3.connect(path, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(LedgerFailed, match="other processes have held it"):
            pay(Ledger(path).account("patients"))
    finally:
        held.close()
    assert pay(Ledger(path).account("patients")) == 62


def test_a_full_disk(full: Path, tmp_path: Path) -> None:
    """No room for the charge: refused, and the file is as it was."""
    resource = pytest.importorskip("resource", reason="needs limits on the size of files")
    path = tmp_path / "ledger.db"
    shutil.copy(full, path)
    before = Ledger(path).verify()
    code = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({path.stat().st_size},) * 2)\n"
        "from murmure.core.blocks import Cost\n"
        "from murmure.core.errors import LedgerFailed\n"
        "from murmure.ledger.ledger import Ledger\n"
        "account = Ledger(sys.argv[1]).account('patients')\n"
        "try:\n"
        "    for _ in range(9):\n"
        "        account.pay(plan='p', about='', cost=Cost(0.001, 0.001), seeded=False,\n"
        "            answers=[{'question': 'q', 'answer': [10**9] * 2000}], certificate={'relation': 'add/remove'})\n"
        "        print('paid')\n"
        "except LedgerFailed as error:\n"
        "    print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    paid = ran.stdout.count("paid\n")

    assert "nothing may be released" in ran.stdout, ran.stdout + ran.stderr
    assert Ledger(path).verify() == before + paid
    assert resource is not None
