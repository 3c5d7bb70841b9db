"""Pictures and pages that a command writes: their formats, and which files they may replace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from murmure.cli.commands import UsageError
from murmure.core.errors import CannotWrite, Phrase
from murmure.core.files import refuse_to_replace

PICTURE_FORMATS = {".svg": (b"<?xml", b"<svg"), ".png": (b"\x89PNG",), ".pdf": (b"%PDF",)}  # and how such files start
REPORT_FILES = (".npz", ".json")  # what Reports.save writes, and what a collector exports


def check_picture_format(plot: Path | None, example: str) -> None:
    if plot is not None and plot.suffix.lower() not in PICTURE_FORMATS:
        raise UsageError(
            "--plot draws to {picture_formats}, got {got!r}.",
            "name the file {example}",
            picture_formats=", ".join(PICTURE_FORMATS),
            got=plot.name,
            example=example,
        )


def refuse_existing(output: Path, force: bool) -> None:
    if output.exists() and not force:
        raise UsageError(
            "{output!r} already exists.", "add --force to overwrite it, or name another with -o", output=str(output)
        )


def draw_off_screen() -> None:
    """Pictures go to files: a machine without a display draws them too."""
    with suppress(ImportError):
        import matplotlib

        matplotlib.use("Agg")


@contextmanager
def keep_file_names() -> Iterator[None]:
    """Errors that name a file stay unchanged: "x.html" in a message is not the parameter `html`, called --html here."""
    try:
        yield
    except CannotWrite as error:
        error.ctx = None  # type: ignore[attr-defined]
        raise


def check_outputs(plot: Path | None, html: Path | None, source: Any, truth: str | None) -> None:
    """Before anything is read: an output may replace an earlier picture or page, and nothing else."""
    from murmure.engines.sources.file_tables import source_paths
    from murmure.run.report.report import check_page_path

    # Reports in an .npz or in JSON are not a table.
    targets = [path for path in (plot, html) if path is not None]
    tables = [table for table in (source, truth) if table is not None and targets]
    saved = [Path(table) for table in tables if str(table).lower().endswith(REPORT_FILES)]
    tables = [table for table in tables if not str(table).lower().endswith(REPORT_FILES)]
    read = [*saved, *(path for table in tables for path in source_paths(table))]
    for path in targets:
        if any(path.exists() and path.samefile(source_path) for source_path in read if source_path.exists()):
            raise CannotWrite(
                "{path!r} is one of the tables being read: it would be overwritten.",
                hint="choose another name",
                path=str(path),
            )
    if plot is not None:
        kind = plot.suffix.lower()
        refuse_to_replace(
            plot,
            lambda start: start.startswith(PICTURE_FORMATS[kind]),
            Phrase("a {kind} picture", kind=kind[1:].upper()),
        )
    if html is not None:
        check_page_path(html)
