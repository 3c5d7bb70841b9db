"""The folder of a service: files that do not belong together, copies of yesterday, other processes, what is deleted."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.collector.documents import CHEATED, document, opened, sent_report
from tests.collector.service.collectors import store

from murmure.collector.intake.errors import FolderLocked
from murmure.collector.intake.report_store import ReportStore
from murmure.collector.service.collector import EXPORT_PREFIX, Collector
from murmure.collector.service.database import DATABASE_FILE
from murmure.collector.service.errors import CollectorFailed
from murmure.collector.service.keys import KEY_FILE


def test_a_database_with_another_key_is_refused(tmp_path: Path) -> None:
    """Under another key no token would be known: everybody could report twice."""
    for name in ("one", "other"):
        with Collector(tmp_path / name):
            pass
    shutil.copy(tmp_path / "other" / KEY_FILE, tmp_path / "one" / KEY_FILE)

    with pytest.raises(CollectorFailed, match="key"):
        Collector(tmp_path / "one")


@pytest.mark.parametrize("folded", [True, False])
def test_an_older_copy_of_the_surveys_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folded: bool) -> None:
    """A survey was opened after the copy: its number would be given again, and its reports counted for another survey.
    The whole folder of one moment is served."""
    folder, copy, present = tmp_path / "surveys", tmp_path / "copy", tmp_path / "present.db"
    with Collector(folder) as collector:
        marie = collector.analysts.create("marie", "a long password")
        draft = collector.surveys.create(marie.number, document(CHEATED))
    shutil.copytree(folder, copy)
    with Collector(folder) as collector:
        if not folded:
            monkeypatch.setattr(ReportStore, "fold", no_space)
        record = collector.open(draft)
        store(collector, record, sent_report(collector, record, "yes"))
    monkeypatch.undo()
    shutil.copy(folder / DATABASE_FILE, present)
    shutil.copy(copy / DATABASE_FILE, folder / DATABASE_FILE)

    if folded:
        with pytest.raises(CollectorFailed, match="not open in the database"):
            Collector(folder)
    else:
        with Collector(folder) as collector:
            assert "not open in the database" in str(collector.intake.folding_error)
    shutil.copy(present, folder / DATABASE_FILE)
    with Collector(folder) as collector:
        assert collector.results(collector.public(record.id)).n == 1
    with Collector(copy) as collector:
        assert collector.surveys.find(draft.id) == draft


def no_space(*_: Any) -> None:
    raise sqlite3.OperationalError("database or disk is full")


def test_another_process_that_looks_at_the_folder_deletes_nothing(tmp_path: Path) -> None:
    """An export that is being made belongs to the process that serves; after a kill it is cleaned away."""
    unfinished = tmp_path / f"{EXPORT_PREFIX}one"
    with Collector(tmp_path):
        unfinished.mkdir()
        with pytest.raises(FolderLocked):
            Collector(tmp_path)
        assert unfinished.exists()
    with Collector(tmp_path):
        assert not unfinished.exists()


def test_the_permissions_of_a_folder_that_exists_are_left_alone(tmp_path: Path) -> None:
    """It may be somebody's home. Each file is for its owner alone, and so is a folder that is made."""
    tmp_path.chmod(0o755)
    with Collector(tmp_path) as collector:
        record = opened(collector, document(CHEATED))
        store(collector, record, sent_report(collector, record, "yes"))
        modes = {path.name: path.stat().st_mode & 0o77 for path in tmp_path.iterdir()}
    with Collector(tmp_path / "new"):
        pass

    assert tmp_path.stat().st_mode & 0o777 == 0o755
    assert {name: mode for name, mode in modes.items() if mode} == {} and len(modes) >= 4
    assert (tmp_path / "new").stat().st_mode & 0o77 == 0


def test_what_was_deleted_is_overwritten(tmp_path: Path) -> None:
    """A copy of the file shows no session, password or draft of yesterday in pages that are free."""
    with Collector(tmp_path) as collector:
        marie = collector.analysts.create("marie", "a long password")
        collector.surveys.remove(collector.surveys.create(marie.number, document(CHEATED, title="Meant for nobody")))
        with collector.analysts._database.reading() as run:
            ((hashed,),) = run('SELECT "password" FROM "analysts"')
        collector.analysts.change_password("marie", "another password")
        written = (tmp_path / DATABASE_FILE).read_bytes()

    assert hashed.encode() not in written and b"Meant for nobody" not in written
    assert b"marie" in written  # the search finds what is there
