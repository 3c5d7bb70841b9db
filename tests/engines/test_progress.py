"""A bar appears on a terminal when work lasts, and nowhere else."""

from __future__ import annotations

import io

import pytest

from murmure.engines.base import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_printed_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a terminal: the batches pass through untouched and silently, however long it takes."""
    quiet = io.StringIO()
    monkeypatch.setattr("sys.stderr", quiet)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)

    assert list(progress.with_progress([[1, 2], [3]], 3, "work")) == [[1, 2], [3]]
    assert quiet.getvalue() == ""


def test_a_bar_counts_rows_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal, after the patience has run out; the batches are the same."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)

    assert list(progress.with_progress([[1, 2], [3]], 3, "Histogram")) == [[1, 2], [3]]
    assert "Histogram" in terminal.getvalue()


def test_quick_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)

    assert list(progress.with_progress([[1]], 1, "work")) == [[1]]
    assert terminal.getvalue() == ""


def test_rows_are_known_or_not() -> None:
    assert progress.known_row_count([1, 2, 3]) == 3
    assert progress.known_row_count("data.parquet") is None
    assert progress.known_row_count(iter([])) is None
