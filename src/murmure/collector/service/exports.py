"""Reports of a survey as files that `murmure estimate` reads: Parquet, CSV, and JSON of the reports as they were sent.

Rows are in a random order, not in that of arrival, and carry no token and no time: an export says what was reported,
and not by whom or when. The plan is in the file. A CSV has no place for it, so its metadata is a second file beside it;
where there is one stream to write to, both are in a zip archive. Of a survey with waves, an export is one wave. Devices
of respondents drew the reports, and nobody can check that they did: a release from an export says so.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal, get_args

from murmure.collector.service.errors import RequestRefused
from murmure.collector.service.shuffled_reports import shuffled
from murmure.core.errors import CannotWrite, InvalidParameter, MissingExtra, Phrase, PlanMismatch, shorten
from murmure.core.files import all_or_nothing, refuse_missing_parent
from murmure.core.random import Random
from murmure.plan.plan import Plan
from murmure.plan.reports import Reports
from murmure.run.tables.sent_file import sent_pieces
from murmure.run.tables.table_format import OUTSIDE_KEY, PLAN_KEY, SEEDED_KEY, TableFormat

ExportFormat = Literal["parquet", "csv", "json"]


def export(
    blocks: Iterable[Reports],
    plan: Plan[Any],
    kind: ExportFormat,
    target: str | Path | IO[bytes],
    overwrite: bool = False,
    rng: Random | None = None,
) -> int:
    """Write the reports to a path, or to an open stream; returns how many there are.

    kind: "parquet", "csv" or "json". A path that exists is refused unless `overwrite`, and is written completely or not
    at all. A stream gets the bytes of one file: of a CSV, a zip archive with the table and its metadata.
    """
    if kind not in get_args(ExportFormat):
        raise InvalidParameter(
            "the format of an export must be one of {kinds}, got {got}.",
            kinds=", ".join(get_args(ExportFormat)),
            got=shorten(kind),
        )
    if kind != "json":
        _require_pyarrow()
    rows = _CountedReports(plan, blocks, Random.secure() if rng is None else rng)
    if isinstance(target, str | Path):
        path = Path(target)
        if kind == "json":
            _write_json(rows, plan, path, overwrite)
        else:
            _write_table(rows, plan, kind, path, overwrite)
    elif kind == "json":
        for piece in sent_pieces(plan, rows):
            target.write(piece.encode())
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"reports.{kind}"
            _write_table(rows, plan, kind, path, overwrite)
            _copy(path, target)
    return rows.count


class _CountedReports:
    """The shuffled reports, checked to answer the plan and counted on their way."""

    def __init__(self, plan: Plan[Any], blocks: Iterable[Reports], rng: Random) -> None:
        self.count, self.seeded = 0, False
        self._plan, given = plan, shuffled(self._checked(blocks), rng)
        first = next(given, None)  # a file is begun only if there is something to write
        if first is None:
            raise RequestRefused("state", "there are no reports to export yet.", hint="wait for the first ones")
        self._blocks = chain([first], given)

    def _checked(self, blocks: Iterable[Reports]) -> Iterator[Reports]:
        for block in blocks:
            if block.plan != self._plan.digest:
                raise PlanMismatch(
                    "these reports answer plan {plan}, not this plan {digest}.",
                    hint="load the plan that they were made with (Plan.from_json), or collect them again",
                    plan=block.plan[:12],
                    digest=self._plan.digest[:12],
                )
            self.count += len(block)
            self.seeded = self.seeded or block.seeded
            yield block

    def __iter__(self) -> Iterator[Reports]:
        """All were read when the first is handed out, so `count` and `seeded` are final."""
        return (replace(block, seeded=self.seeded) for block in self._blocks)


def _write_json(rows: _CountedReports, plan: Plan[Any], path: Path, overwrite: bool) -> None:
    refuse_missing_parent(path)
    if path.exists() and not overwrite:
        raise CannotWrite(
            "{target!r} already exists.", hint="choose another name, or ask to overwrite it", target=str(path)
        )
    with all_or_nothing(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        for piece in sent_pieces(plan, rows):
            file.write(piece)


def _write_table(rows: _CountedReports, plan: Plan[Any], kind: str, path: Path, overwrite: bool) -> None:
    from murmure.engines.sources.table_writer import write_table

    if path.suffix.lower() != f".{kind}":
        raise InvalidParameter(
            "cannot write {name!r}: wanted a name ending in {ending}.", name=path.name, ending=f".{kind}"
        )
    form = TableFormat(plan)
    schema = form.schema({})
    metadata = {PLAN_KEY: plan.to_json(), SEEDED_KEY: "yes" if rows.seeded else "no", OUTSIDE_KEY: "yes"}
    with write_table(path, schema, metadata, overwrite) as out:
        for block in rows:
            out.write(form.table(block.data, {}, out.schema))


def _copy(path: Path, target: IO[bytes]) -> None:
    if path.suffix != ".csv":
        with path.open("rb") as file:
            shutil.copyfileobj(file, target)
        return
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file_path in (path, path.with_name(path.name + "-metadata.json")):
            archive.write(file_path, file_path.name)


def _require_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtra(Phrase("an export as Parquet or CSV"), "pyarrow", "tables") from None
