"""What a folder to start from holds: files, and the steps that its README.md goes through."""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from murmure.show.language import Language, LanguageCode
from murmure.show.phrase import Code, Marked, Phrase, Several

NAMES_FOLDER = Path(__file__).parent / "names"
README = "README.md"
WIDTH = 100
INVENTED = Phrase(
    "Everybody in this folder is invented: a program made them up, and no figure here is about real people."
)
ORDER = Phrase("Run these commands in this folder, in this order.")


@dataclass(frozen=True)
class Step:
    """One step of the README: what it is for, and lines for a terminal."""

    title: Phrase
    text: Phrase
    commands: str


@dataclass(frozen=True)
class Starter:
    """A folder that works at once."""

    title: Phrase
    about: Phrase
    extras: tuple[str, ...]
    files: Mapping[str, str]  # name -> text
    contents: Mapping[str, Phrase]  # name -> what the file is
    steps: tuple[Step, ...]
    next_steps: tuple[Phrase, ...]  # how to go on from here to data of one's own

    def texts(self, code: LanguageCode) -> dict[str, str]:
        """Every file of the folder, README.md first."""
        return {README: "\n".join(self._readme_lines(code)), **self.files}

    @property
    def commands(self) -> tuple[str, ...]:
        return tuple(step.commands for step in self.steps)

    def _readme_lines(self, code: LanguageCode) -> Iterator[str]:
        language = Language(code, mark=_in_backticks)

        def paragraph(text: Phrase, first: str = "", rest: str = "") -> str:
            return textwrap.fill(
                language.say(text),
                WIDTH,
                initial_indent=first,
                subsequent_indent=rest,
                break_long_words=False,
                break_on_hyphens=False,
            )

        yield f"# {language.say(self.title)}\n"
        yield paragraph(self.about) + "\n"
        yield f"**{paragraph(INVENTED)}**\n"
        yield paragraph(_needs(self.extras))
        yield paragraph(ORDER) + "\n"
        for number, step in enumerate(self.steps, 1):
            yield f"## {number}. {language.say(step.title)}\n"
            yield paragraph(step.text) + "\n"
            yield f"```sh\n{step.commands}\n```\n"
        yield f"## {language.say(Phrase('What is here'))}\n"
        for name, text in self.contents.items():
            yield paragraph(Phrase("{name}: {text}", name=Code(name), text=text), "- ", "  ")
        yield f"\n## {language.say(Phrase('With data of your own'))}\n"
        for text in self.next_steps:
            yield paragraph(text, "- ", "  ")
        yield ""


def _needs(extras: tuple[str, ...]) -> Phrase:
    if not extras:
        return Phrase("The commands need Murmure, and none of its extras.")
    return Phrase(
        "The commands need Murmure with its extras {extras}. If one is missing, the command that needs it says how to "
        "install it.",
        extras=Several([Code(extra) for extra in extras]),
    )


def _in_backticks(value: Marked, inner: str) -> str:
    return f"`{inner}`" if isinstance(value, Code) else f"**{inner}**"


def names(code: LanguageCode) -> SimpleNamespace:
    """File names, columns and labels of a language."""
    return SimpleNamespace(**tomllib.loads((NAMES_FOLDER / f"{code}.toml").read_text(encoding="utf-8")))
