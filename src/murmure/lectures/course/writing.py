"""Measure items and write them: for each SVG, PNG, CSV and JSON, and one page for each lecture."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from murmure import __version__
from murmure.core.errors import MissingExtra, MurmureError, Phrase
from murmure.core.files import all_or_nothing, cannot_write
from murmure.core.plotting import pyplot
from murmure.lectures.course.found import code_of, item_of, lectures
from murmure.lectures.course.interrupts import stop_silently
from murmure.lectures.course.item import Exercise
from murmure.lectures.course.item_result import ItemResult
from murmure.lectures.course.work import Size, Work
from murmure.lectures.data_sets.tables import find_table
from murmure.show.data import plain
from murmure.show.document import Block, Document, Fold, Paragraph, Section, Shown

KEPT = ".cells"  # the folder of finished cells, beside what is written
FOLDER = Path(__file__).parents[1]
SHARED_CODE = sorted((*FOLDER.glob("experiments/*.py"), *FOLDER.glob("record_attacks/*.py")))  # what cells depend on


@dataclass(frozen=True)
class Settings:
    """How a run is made; the same settings give the same figures."""

    size: Size = "quick"
    seed: int = 0
    jobs: int = 1  # processes
    invent: bool = False
    fresh: bool = False  # forget finished cells


@dataclass(frozen=True)
class LeftOut:
    """An item that could not be measured, and why."""

    name: str
    why: MurmureError


def measure(name: str, settings: Settings | None = None, keep: Path | None = None, pool: Any = None) -> ItemResult:
    """One item, measured. keep: a folder for finished cells."""
    settings = settings or Settings()
    code = "\n".join([__version__, code_of(name), *(file.read_text("utf-8") for file in SHARED_CODE)])
    digest = hashlib.sha256(code.encode()).hexdigest()[:16]
    item = item_of(name)
    invented = tuple(data for data in item.needs if settings.invent and find_table(data, invent=True).invented)
    work = Work(name, settings.size, settings.seed, keep, digest, settings.invent, invented, item.needs, pool)
    return ItemResult(name, item.measure(work), invented)


@contextmanager
def processes(jobs: int) -> Iterator[ProcessPoolExecutor | None]:
    """A pool of processes that start anew: threads of a kernel do not survive a fork."""
    if jobs < 2:
        yield None
        return
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), stop_silently)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def write_items(names: Sequence[str], out: Path, settings: Settings) -> Iterator[ItemResult | LeftOut]:
    """Measure and write one item after the other, then the page of each lecture that has items among them."""
    keep = out / KEPT
    try:
        keep.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(keep, error) from None
    if settings.fresh:
        for name in names:
            (keep / f"{name.replace('/', '-')}.jsonl").unlink(missing_ok=True)
    results: dict[str, ItemResult | LeftOut] = {}
    with processes(settings.jobs) as pool:
        for name in names:
            try:
                result = measure(name, settings, keep, pool)
                write_files(result, out / name.partition("/")[0], settings)
                results[name] = result
            except MurmureError as error:
                results[name] = LeftOut(name, error)
            yield results[name]
    for lecture in dict.fromkeys(name.partition("/")[0] for name in names):
        some = [result for name, result in results.items() if name.startswith(f"{lecture}/")]
        page = LecturePage(lecture, tuple(some))
        (out / lecture).mkdir(exist_ok=True)  # all of its items may have been left out
        with all_or_nothing(out / lecture / "index.html") as part:
            part.write_text(page.to_page(lang="fr"), encoding="utf-8")


def write_files(result: ItemResult, folder: Path, settings: Settings) -> None:
    """Numbers and pictures of an item; without a plotting library, numbers alone."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "csv": csv_text(result),
        "json": json.dumps(as_json(result, settings), indent=1, ensure_ascii=False) + "\n",
    }
    for kind, text in texts.items():
        with all_or_nothing(folder / f"{result.file_stem}.{kind}") as part:
            part.write_text(text, encoding="utf-8")
    try:
        pyplot()
    except MissingExtra:
        return
    for (number, lang), files in result.pictures.items():
        for kind, content in files.items():
            with all_or_nothing(folder / result.picture_file(number, lang, kind)) as part:
                part.write_bytes(content)


def csv_text(result: ItemResult) -> str:
    columns = {name: [plain(value) for value in values] for name, values in result.measured.data.items()}
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return file.getvalue()


def as_json(result: ItemResult, settings: Settings) -> dict[str, Any]:
    item, measured = result.item, result.measured
    texts = {"claimed": item.claimed, "printed": item.printed, "measured": measured.found, "why": measured.why}
    return {
        "item": result.name,
        "title": str(item.title),
        "where": str(item.where),
        **{name: None if text is None else str(text) for name, text in texts.items()},
        "mistakes": list(item.verdicts),
        "run": {
            "size": settings.size,
            "seed": settings.seed,
            "invented": list(result.invented),  # data sets for which made-up rows stand in
            "murmure": __version__,
        },
        "data": plain(measured.data),
    }


@dataclass(frozen=True)
class LecturePage(Shown):
    """A lecture with its items, one below the other."""

    lecture: str
    results: tuple[ItemResult | LeftOut, ...]
    lab: str | None = None
    folder: str = ""

    def document(self) -> Document:
        lecture = lectures()[self.lecture]
        sections = [Section(self._title(result), self._blocks(result)) for result in self.results]
        title = Phrase("Lecture {number}: {title}", number=self.lecture, title=lecture.title)
        return Document(title, (Paragraph(lecture.about), *sections, *exercises(lecture.exercises)), kind="Lecture")

    def _title(self, result: ItemResult | LeftOut) -> str:
        return item_of(result.name).title

    def _blocks(self, result: ItemResult | LeftOut) -> tuple[Block, ...]:
        if isinstance(result, LeftOut):
            return (Paragraph(Phrase("Left out: {why}", why=result.why.message), "warning"),)
        return result.blocks(self.lab, self.folder)


def exercises(some: tuple[Exercise, ...]) -> tuple[Block, ...]:
    """Questions, each with a hint and an answer that are folded away."""
    blocks: list[Block] = []
    for exercise in some:
        blocks += [
            Paragraph(exercise.question),
            Fold(Phrase("Hint"), (Paragraph(exercise.hint),)),
            Fold(Phrase("Answer"), (Paragraph(exercise.answer),)),
        ]
    return (Section(Phrase("Exercises"), tuple(blocks)),) if blocks else ()
