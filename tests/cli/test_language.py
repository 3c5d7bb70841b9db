"""Commands speak the language of --lang, else that of the environment: help, click's words, errors. JSON is English."""

from __future__ import annotations

import ast
import gettext
import inspect
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from murmure.cli import main
from murmure.cli.click_words import CLICK_WORDS
from murmure.show.language import catalogue, current_language
from murmure.show.phrase import Phrase, Plural

FRENCH = catalogue("fr")
ADVISE = ["advise", "--people", "100", "--epsilon", "1"]


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            assert inner is not None
            yield from commands(inner, (*path, name))


ALL = dict(commands(main))


def template(text: str) -> str:
    return text.template if isinstance(text, Phrase) else inspect.cleandoc(text).strip()


def has_words(text: str) -> bool:
    return re.search(r"[A-Za-z]{2}", re.sub(r"\{.*?\}", "", text)) is not None


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_help_text_is_in_the_catalogue(path: tuple[str, ...]) -> None:
    """Of the command, in short and in full, and of each of its options."""
    command = ALL[path]
    texts = [command.help, command.short_help, command.epilog]
    texts += [p.help for p in command.get_params(click.Context(command)) if isinstance(p, click.Option)]

    missing = [template(text) for text in texts if text and has_words(text) and not FRENCH.has(template(text))]
    assert missing == []


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_the_help_is_in_french(path: tuple[str, ...]) -> None:
    """No English help sentence is left, and click's own words are French; the next command is in English again."""
    french = CliRunner().invoke(main, [*path, "--help", "--lang", "fr"], catch_exceptions=False)
    english = CliRunner().invoke(main, [*path, "--help"], catch_exceptions=False)
    words = re.sub(r"[ \n]+", " ", french.stdout)

    assert french.exit_code == english.exit_code == 0
    assert words.startswith("Usage\u00a0: ") and "Affiche cette aide." in words
    assert "[default" not in words and "[required" not in words and "Options:" not in french.stdout
    assert english.stdout.startswith("Usage: ") and "Show this message and exit." in english.stdout
    for param in ALL[path].get_params(click.Context(ALL[path])):
        text = getattr(param, "help", None)
        if text and has_words(template(text)):
            assert " ".join(str(text).split()) not in words
    assert current_language() == "en"


@pytest.mark.parametrize(
    "args",
    [
        ["--lang", "fr", "advise", "--help"],
        ["advise", "--lang", "fr", "--help"],
        ["advise", "--help", "--lang=fr"],
        ["--lang", "fr", "--help"],
        ["ledger", "show", "--help", "--lang", "fr"],
    ],
    ids=" ".join,
)
def test_lang_may_stand_anywhere(args: list[str]) -> None:
    assert "Affiche cette aide." in CliRunner().invoke(main, args).stdout


def test_lang_wins_over_the_environment() -> None:
    environment = {"LANG": "fr_FR.UTF-8"}

    assert "Affiche cette aide." in CliRunner().invoke(main, ["--help"], env=environment).stdout
    assert "Show this message" in CliRunner().invoke(main, ["--help", "--lang", "en"], env=environment).stdout
    assert "Show this message" in CliRunner().invoke(main, ["--help"], env={"LANG": "de_DE.UTF-8"}).stdout
    refused = CliRunner().invoke(main, ["--lang", "de", "advise"])
    assert refused.exit_code == 2 and "'de' is not one of 'en', 'fr'" in refused.stderr


MISTAKES = {
    "of click": (
        ["completion"],
        "Erreur\u00a0: Il manque l’argument 'SHELL'. Choisissez parmi\u00a0: bash, zsh, fish.",
    ),
    "an option": ([*ADVISE, "--colour"], "Erreur\u00a0: il n’y a pas d’option --colour."),
    "a choice": (["completion", "tcsh"], "n’est pas l’un de 'bash', 'zsh', 'fish'."),
    "a type": ([*ADVISE[:-1], "x", "--labels", "a,b"], "'x' n’est ni un nombre (1), ni une liste"),
    "of the library": ([*ADVISE[:-1], "0", "--categories", "4"], "Erreur\u00a0: --epsilon doit être"),
    "reworded": ([*ADVISE, "--labels", "a"], "--labels demande au moins deux réponses"),
    "several": (["advise"], "murmure advise demande --epsilon, --people et l’une des options --categories, --labels"),
    "a value": ([*ADVISE, "--interval", "0:1", "--rank-by", "var-star"], "--rank-by var-star"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_errors_are_in_french(name: str) -> None:
    """By the option and by the environment, with a hint in French; as JSON they stay English."""
    args, message = MISTAKES[name]
    chosen = CliRunner().invoke(main, [*args, "--lang", "fr"])
    spoken = CliRunner().invoke(main, args, env={"LANG": "fr_FR.UTF-8"})
    english = CliRunner().invoke(main, args)
    as_json = CliRunner().invoke(main, [*args, "--lang", "fr", "--json"])
    json_alone = CliRunner().invoke(main, [*args, "--json"])

    assert chosen.exit_code == 2 and chosen.stderr == spoken.stderr
    assert chosen.stderr.startswith("Erreur\u00a0: ") and message in chosen.stderr
    assert "Hint" not in chosen.stderr and ("Conseil\u00a0: " in chosen.stderr) == ("Hint: " in english.stderr)
    assert english.stderr.startswith("Error: ")
    assert as_json.stdout == json_alone.stdout
    assert json.loads(as_json.stdout)["error"]["message"] in english.stderr


def test_a_command_leaves_the_process_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """gettext's domain, the environment and the language of the library."""
    monkeypatch.setenv("LANGUAGE", "de")
    before = gettext.textdomain()
    CliRunner().invoke(main, [*ADVISE, "--labels", "a,b", "--lang", "fr"])

    assert (gettext.textdomain(), os.environ["LANGUAGE"], current_language()) == (before, "de", "en")


def test_results_are_in_french() -> None:
    said = CliRunner().invoke(main, [*ADVISE, "--labels", "oui,non", "--lang", "fr"]).stdout

    assert said.startswith("Proportions : 2 réponses (oui, non), pour 100 personnes")
    assert "9,60" in said and "9.60" not in said


def test_clicks_words_are_those_of_click() -> None:
    """What is listed for the catalogues is what click looks up."""
    looked_up = set()
    for path in Path(click.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("_", "ngettext"):
                looked_up |= {arg.value for arg in node.args if isinstance(arg, ast.Constant)}
    looked_up.add("required")  # a variable in click, as the text of an option's extra

    for phrase in CLICK_WORDS:
        for text in (phrase.one, phrase.many) if isinstance(phrase, Plural) else (phrase.template,):
            assert text in looked_up
