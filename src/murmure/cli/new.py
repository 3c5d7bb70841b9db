"""`murmure new`: a small working folder to start from, for each kind of user."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.options import OneOf, json_option
from murmure.cli.outputs import keep_file_names
from murmure.cli.terminal import print_activation, print_json, print_line
from murmure.core.errors import CannotWrite, Phrase
from murmure.core.files import cannot_write, folder_or_nothing, refuse_missing_parent
from murmure.show.language import current_language

if TYPE_CHECKING:
    from murmure.cli.starters.starter import Starter

KINDS = ("poll", "table", "query", "study", "model")
EXAMPLE = Phrase("murmure new table, for example; the kinds are {kinds}", kinds=", ".join(KINDS))
MODULES = {"tables": "pyarrow", "service": "starlette", "formulas": "formulaic"}  # by which an extra is recognised


@click.command(cls=MurmureCommand, short_help="Write a small working folder to start from.")
@click.argument(
    "kind", type=OneOf(Phrase("there is no kind"), Phrase("the kinds are"), KINDS), metavar="KIND", required=False
)
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@json_option
def new(kind: str | None, folder: Path | None, as_json: bool) -> None:
    """Write a small working folder of this KIND to FOLDER (without one: named after the kind), with invented people and
    a README.md: its three or four commands, run in order, end with a result. --lang chooses the language of the folder.

    \b
    murmure new poll     a sensitive question, asked with two coins
    murmure new table    a table that leaves, randomised row by row
    murmure new query    questions to a table, within a budget
    murmure new study    one regression over rows that three hospitals do not show
    murmure new model    a model that learns with noise

    FOLDER must be new or empty. It is written completely or not at all.
    """
    if kind is None:
        raise UsageError("murmure new needs a KIND.", EXAMPLE)
    from murmure.cli.starters.starter import names

    code = current_language()
    folder = Path(kind) if folder is None else folder
    with keep_file_names():
        check_place(kind, folder)
        starter: Starter = getattr(import_module(f"murmure.cli.starters.{kind}"), kind)(names(code))
        texts = starter.texts(code)
        with folder_or_nothing(folder) as part:
            for name, text in texts.items():
                (part / name).write_text(text, encoding="utf-8", newline="\n")
    missing = [extra for extra in starter.extras if find_spec(MODULES[extra]) is None]
    if as_json:
        print_json(
            {
                "kind": kind,
                "folder": str(folder),
                "language": code,
                "files": list(texts),
                "extras": list(starter.extras),
                "missing_extras": missing,
                "commands": list(starter.commands),
            }
        )
        return
    print_summary(folder, starter, missing)


def check_place(kind: str, folder: Path) -> None:
    """Before anything is written: a new or empty folder, inside one that exists."""
    problem = None
    try:
        refuse_missing_parent(folder)
        if folder.exists() and not folder.is_dir():
            problem = Phrase("{folder!r} exists, and is not a folder.", folder=str(folder))
        elif folder.exists() and any(folder.iterdir()):
            problem = Phrase("the folder {folder!r} is not empty; nothing in it was changed.", folder=str(folder))
    except OSError as error:
        raise cannot_write(folder, error) from None
    if problem is not None:
        raise CannotWrite(problem, hint="name another one: murmure new {kind} FOLDER", kind=kind)


def print_summary(folder: Path, starter: Starter, missing: list[str]) -> None:
    from murmure.core.installation import install_command

    print_line(Phrase("Written: {path}", path=str(folder)))
    for name in (*starter.contents, "README.md"):
        print_line(f"  {name}")
    if missing:
        print_line(
            Phrase("Its commands need what is not installed yet. Type: {command}", command=install_command(*missing))
        )
    print_activation()
    if folder.resolve() != Path.cwd():
        print_line(Phrase("Now type: cd {folder}", folder=str(folder)))
    print_line(Phrase("Then type the commands of README.md, in order. They are:"))
    for commands in starter.commands:
        for line in commands.splitlines():
            print_line(f"  {line}")
