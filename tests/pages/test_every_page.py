"""Every page, on a desktop and on a telephone, light and dark, in English and in French: nothing is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from tests.pages import languages
from tests.pages.browser import OpenPage
from tests.pages.every_page import FILES, LIVE
from tests.pages.inspection import Inspection

from murmure.cli import main

Open = Callable[..., OpenPage]


@pytest.mark.parametrize("name", FILES)
def test_a_page_in_a_file(name: str, open_page: Open, tmp_path: Path) -> None:
    opened, inspection = open_page(FILES[name](tmp_path)), Inspection(name)
    for language in languages.NAMES:
        languages.choose(opened, language)
        inspection.look(opened, language)

    inspection.verdict()


@pytest.mark.parametrize("name", LIVE)
def test_a_live_page(name: str, open_page: Open, tmp_path: Path) -> None:
    """With the headers of the real server; its policy lets the one style sheet through."""
    inspection = Inspection(name)
    with LIVE[name](tmp_path) as address:
        for language in languages.NAMES:
            inspection.look(open_page(f"{address}&lang={language}"), language)

    inspection.verdict()


def commands_with_pages(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands_with_pages(command, (*words, name))
        elif any("--html" in option.opts for option in command.params):
            yield " ".join((*words, name))


def test_every_command_that_writes_a_page_is_looked_at() -> None:
    """A new model or command brings its page along."""
    missing = [words for words in commands_with_pages(main) if not any(name.startswith(words) for name in FILES)]

    assert missing == []
    assert {"estimate", "query", "study result", "ols"} <= set(commands_with_pages(main))
