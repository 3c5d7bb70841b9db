"""The language of a command: --lang, else that of the environment.

click finds its own words ("Usage:", "Missing option") by gettext, in the default domain and in the language of the
environment: both are ours while a command runs, and as they were afterwards.
"""

from __future__ import annotations

import gettext
import inspect
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from murmure.show.language import (
    LOCALE,
    NAMES,
    WIDE,
    LanguageCode,
    language,
    locale_language,
    speaking,
)
from murmure.show.phrase import Phrase

DOMAIN = "murmure"
HELP_OPTIONS = {"-h", "--help"}
lang_option = click.Option(
    ["--lang"],
    type=click.Choice(list(NAMES)),
    expose_value=False,
    is_eager=True,
    help="The language of help, messages and results.  [default: that of your system]",
)


@contextmanager
def spoken_language(args: Sequence[str]) -> Iterator[None]:
    """The language of a command with these arguments, wherever --lang stands among them. JSON keeps to English."""
    code = _chosen_language(args) or locale_language()
    english = "--json" in args and not HELP_OPTIONS & set(args)
    with speaking(code), _language_of_click("en" if english else code):
        yield


def _chosen_language(args: Sequence[str]) -> LanguageCode | None:
    """A value that is not a language is refused later, when click reads the option."""
    chosen = None
    for i, arg in enumerate(args):
        if arg == "--":
            break
        name, equals, value = arg.partition("=")
        if name == "--lang":
            value = value if equals else "".join(args[i + 1 : i + 2])
            chosen = next((code for code in NAMES if code == value), chosen)
    return chosen


@contextmanager
def _language_of_click(code: LanguageCode) -> Iterator[None]:
    domain, variable = gettext.textdomain(), os.environ.get("LANGUAGE")
    gettext.bindtextdomain(DOMAIN, str(LOCALE))
    gettext.textdomain(DOMAIN)
    os.environ["LANGUAGE"] = code
    try:
        yield
    finally:
        gettext.textdomain(domain)
        if variable is None:
            os.environ.pop("LANGUAGE", None)
        else:
            os.environ["LANGUAGE"] = variable


def help_text(text: str | None) -> str:
    """A help text in the language. It is looked up as it is written: only a Phrase has placeholders."""
    if not text:
        return ""
    if isinstance(text, Phrase):
        return language().say(text)
    return language().catalogue(inspect.cleandoc(text).strip())


class PhraseOption(click.Option):
    """An option whose help has values in it: click would keep its text alone."""

    def __init__(self, *args: Any, help: Phrase, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.help = help


def section_title(title: Phrase) -> str:
    """Of a part of the help; click puts a colon after it."""
    spoken = language()
    return spoken.say(title) + (WIDE if spoken.french else "")


def echo(text: Any, err: bool = True) -> None:
    """A sentence, on standard error unless told otherwise, in the language."""
    click.echo(language().say(text), err=err)
