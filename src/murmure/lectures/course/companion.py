"""The companion pages of the documentation: a page for each lecture and the list of statements, as Markdown."""

from __future__ import annotations

import datetime
from collections.abc import Mapping

from murmure import __version__
from murmure.core.errors import Phrase
from murmure.lectures.course.found import all_names, item_names, item_of, lectures
from murmure.lectures.course.item_result import ItemResult
from murmure.lectures.course.work import Size
from murmure.lectures.course.writing import exercises
from murmure.lectures.verdicts import JUDGEMENTS, VERDICTS
from murmure.show.document import Block, Document, Paragraph, Shown, Table
from murmure.show.language import Language, LanguageCode
from murmure.show.markdown import markdown
from murmure.show.phrase import Code

LAB: dict[LanguageCode, str] = {"fr": "lab/index.html", "en": "lab/index.html?lang=en"}


def companion(lecture: str, results: Mapping[str, ItemResult], lang: LanguageCode, size: Size, top: str = "") -> str:
    """The page of a lecture. top: the way from the page to docs/, where pictures and numbers are in lectures/."""
    language, about = Language(lang), lectures()[lecture]
    title = Phrase("Lecture {number}: {title}", number=lecture, title=about.title)
    command = f"murmure lectures run {lecture}{' --quick' if size == 'quick' else ''}"
    measured = Phrase(
        "Measured on {date} by {command}, seed 0, murmure {version}.",
        date=datetime.date.today().isoformat(),
        command=Code(command),
        version=__version__,
    )
    parts = [f"# {language.say(title)}", _text((Paragraph(about.about), Paragraph(measured)), lang)]
    folder = f"{top}lectures/{lecture}/"
    for name in item_names(lecture):
        result = results[name]
        parts += [
            f"## {language.say(result.item.title)}",
            _text(result.shown(folder), lang),
            f"<!-- code of {name} -->",  # script/typeset puts it there when the site is built
            _text((result.links(("csv",), f"{top}{LAB[lang]}", folder),), lang),
        ]
    parts.append(_text(exercises(about.exercises), lang))
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


class Statements(Shown):
    """Every statement of the lectures that is worth a remark, and what holds."""

    title = Phrase("The lectures, statement by statement")
    about = Phrase(
        "Murmure grew out of five lectures. Going through every statement of theirs found {n} that are worth a remark: "
        "slips of the pen, statements that need a condition, and some that do not hold. Each is shown at work by an "
        "item of the lectures. They taught us nearly everything that Murmure does.",
        n=len(VERDICTS),
    )

    def document(self) -> Document:
        return Document(self.title, (Paragraph(self.about), *(self.table(lecture) for lecture in lectures())))

    def table(self, lecture: str) -> Table:
        head = (Phrase("the lecture says"), Phrase("judgement"), Phrase("what holds"), Phrase("shown in"))
        rows = tuple(
            (verdict.statement, JUDGEMENTS[verdict.judgement], verdict.right, shown_in(number))
            for number, verdict in VERDICTS.items()
            if verdict.lecture == lecture
        )
        return Table(Phrase("Lecture {number}", number=lecture), head, rows, words=True)


def statements_page(lang: LanguageCode) -> str:
    """The statements as Markdown, with a link to the item that shows each."""
    language, statements = Language(lang), Statements()
    parts = [f"# {language.say(statements.title)}", _text((Paragraph(statements.about),), lang)]
    for lecture in lectures():
        table = statements.table(lecture)
        if table.rows:
            text = _text((table,), lang)
            for name in item_names(lecture):
                text = text.replace(f"| {name} |", f"| [{language.say(item_of(name).title)}](lecture-{lecture}.md) |")
            parts.append(text)
    return "\n\n".join(part.strip() for part in parts) + "\n"


def shown_in(number: int) -> str:
    """The first item that shows this statement at work."""
    return next((name for name in all_names() if number in item_of(name).verdicts), "")


def _text(blocks: tuple[Block, ...], lang: LanguageCode) -> str:
    return markdown(Document("", blocks), lang)
