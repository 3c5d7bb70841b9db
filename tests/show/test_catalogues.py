"""Message catalogues are complete and right: every sentence of the sources, with the same placeholders."""

from __future__ import annotations

import ast
import gettext
import shutil
from pathlib import Path

import pytest
from tests.core.error_sentences import SOURCES
from tests.show.catalogues import paths, problems, read, typography, update
from tests.show.sentences import sentences


def test_there_is_a_french_catalogue() -> None:
    assert [path.parts[-3] for path in paths()] == ["fr"]


def test_every_sentence_is_found() -> None:
    """Of each kind one: errors, hints, help of commands and options, plural forms, entries of plug-ins, templates."""
    found = sentences()

    assert len(found) > 2_500
    assert "{message}\n  Hint: {hint}" in found
    assert "This page is one file, without script, and asks nothing of the network." in found
    assert "Randomise my answer" in found  # a template beside the pages that use it
    assert "survey: {where} must be {wanted}, got {got}." in found  # a class of errors has its own sentence
    assert "bad-request" not in found  # a code is for programs, and the same in every language
    assert "discrete Gaussian noise" in found
    assert any(isinstance(key, tuple) for key in found)
    assert any(str(key).startswith("Statistics about people") for key in found)


def test_a_hint_with_a_name_is_a_sentence_too() -> None:
    """NAME_HINT = "..." would be shown in English whatever the language: it must be a Phrase, which is found."""
    plain = []
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [ast.unparse(target).lower() for target in node.targets] if isinstance(node, ast.Assign) else []
            if any(name.endswith("hint") for name in names) and isinstance(node.value, ast.Constant):
                plain += [f"{path.name}:{node.lineno}"] if isinstance(node.value.value, str) else []

    assert plain == []
    assert {"add that label to the domain, or correct those rows"} <= set(sentences())


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.parts[-3])
def test_catalogues_are_complete(path: Path) -> None:
    assert problems(path) == []


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.parts[-3])
def test_catalogues_are_compiled(path: Path) -> None:
    """What the program reads is what the .po file says; script/messages compile makes it so."""
    with path.with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    texts = {m.id: m.string for m in read(path) if m.id and isinstance(m.id, str)}

    assert {key: compiled.gettext(key) for key in texts} == texts


def test_what_is_wrong_is_found(tmp_path: Path) -> None:
    """Mutants: a sentence too few, one too many, a lost placeholder, an ordinary space before a colon."""
    copy = tmp_path / "fr" / "LC_MESSAGES" / "murmure.po"
    copy.parent.mkdir(parents=True)
    shutil.copy(paths()[0], copy)
    text = copy.read_text()
    key = 'msgid "advise.rank_by: a mean has no Var*."'
    start = text.index(key)
    end = text.index("\n\n", start)
    entry = text[start:end]
    broken = {
        "no translation": text.replace(entry, f'{key}\nmsgstr ""'),
        "no sentence of": text + '\nmsgid "Never said."\nmsgstr "Jamais."\n',
        "other placeholders": text.replace(entry, f'{key}\nmsgstr "{{x}}"'),
        "ordinary spaces": text.replace(entry, f'{key}\nmsgstr "a : b"'),
    }
    for what, mutant in broken.items():
        copy.write_text(mutant)

        assert any(what in problem for problem in problems(copy)), what


def test_an_update_changes_nothing_that_is_in_step(tmp_path: Path) -> None:
    copy = tmp_path / "fr" / "LC_MESSAGES" / "murmure.po"
    copy.parent.mkdir(parents=True)
    shutil.copy(paths()[0], copy)

    assert update(copy) == []
    assert copy.read_text() == paths()[0].read_text()


def test_french_spaces() -> None:
    assert typography("Attention : a ; b ? « c » x == 3, a != b") == (
        "Attention\u00a0: a\u202f; b\u202f? «\u202fc\u202f» x == 3, a != b"
    )
