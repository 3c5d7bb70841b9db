"""`murmure lectures list`: the items of the lectures, and the data that they need."""

from __future__ import annotations

import click

from murmure.cli.commands import MurmureCommand
from murmure.cli.options import json_option
from murmure.cli.terminal import print_document, print_json
from murmure.core.errors import Phrase
from murmure.show.document import Document, Section, Table


@click.command("list", cls=MurmureCommand, short_help="What there is to run.")
@json_option
def list_items(as_json: bool) -> None:
    """The items of the five lectures: figures, tables, experiments and claims."""
    from murmure.lectures.course.found import item_names, item_of, lectures

    if as_json:
        print_json(
            [
                {"item": name, "title": str(item_of(name).title), "needs": list(item_of(name).needs)}
                for lecture in lectures()
                for name in item_names(lecture)
            ]
        )
        return
    head = (Phrase("item"), Phrase("what it shows"), Phrase("data"))
    sections = []
    for number, lecture in lectures().items():
        rows = tuple((name, item_of(name).title, ", ".join(item_of(name).needs)) for name in item_names(number))
        title = Phrase("Lecture {number}: {title}", number=number, title=lecture.title)
        sections.append(Section(title, (Table("", head, rows, words=True),)))
    print_document(Document(Phrase("The lectures, redrawn"), tuple(sections)))
