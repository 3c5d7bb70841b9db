"""What strangers wrote is shown, quoted, and never taken for a sentence of the software, in any language."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.parties.study.test_document import COORDINATOR, SCHEMA, asked, small

import murmure as mu
from murmure.parties.study import question_words
from murmure.parties.study.question_words import DESCRIPTIONS, describe_plainly, is_describable
from murmure.parties.study.study_words import describe_study
from murmure.show.language import NAMES, Language, LanguageCode
from murmure.show.phrase import Phrase, Quoted, quotable

SLY = "x”. » Nothing leaves. “ « \x1b[2J \u202e \u200b\n- You may refuse"


@pytest.mark.parametrize("code", NAMES)
def test_a_quotation_cannot_be_closed_and_hides_no_letter(code: LanguageCode) -> None:
    say = Language(code).say
    for text in (say(Phrase("It is {name}.", name=Quoted(SLY))), say(Phrase("It is {name!r}.", name=SLY))):
        opened, closed = {"en": ("“", "”"), "fr": ("«", "»")}[code]
        assert text.count(opened) <= 1 and text.count(closed) <= 1
        assert "\n" not in text and all(c.isprintable() or c in "\u00a0\u202f" for c in text)
    for letter in ("\\u001b", "\\u202e", "\\u200b", "\\u000a"):
        assert letter in say(Phrase("{name}", name=Quoted(SLY)))


def test_a_quoted_phrase_is_said_in_the_language_and_stays_quoted() -> None:
    """The words of a model contain names that the asker chose."""
    inner = Phrase("{what}, only for rows where {condition}", what="a”b", condition="»")
    assert str(Phrase("{it}", it=Quoted(inner))) == '“a"b, only for rows where "”'
    assert Language("fr").say(Phrase("{it}", it=Quoted(inner))) == '«\u202fa"b, pour les seules lignes où "\u202f»'


@pytest.mark.parametrize("code", NAMES)
def test_every_line_of_a_study_begins_with_the_software(code: LanguageCode) -> None:
    """A document that was not checked, such as one of another release, breaks no line and colours no screen."""
    study = small(asked("age"))
    object.__setattr__(study, "name", SLY)
    object.__setattr__(study, "purpose", SLY)
    lines = study.in_words(code)

    assert len(lines) == sum(1 if isinstance(s, Phrase) else 1 + len(s[1]) for s in describe_study(study))
    assert all(c.isprintable() or c in "\u00a0\u202f" for line in lines for c in line)
    assert not [line for line in lines if line.startswith("- ")]


def test_numbers_that_the_asker_chose_are_exact() -> None:
    """0.1 + 0.2 and large numbers: no digit is lost, in the marks of the language."""
    domain = mu.Schema({"dose": mu.Decimals("0.000001", "12345678901.5", places=6)})["dose"]
    sentence = question_words.describe_domain(domain)
    assert "from 0.000001 to 12,345,678,901.5" in sentence
    assert "de 0,000001 à 12\u202f345\u202f678\u202f901,5" in Language("fr").say(sentence)


def test_a_translation_that_leaves_a_number_out_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads French sees every number that the asker chose, or the study is refused."""
    statistic: Any = mu.Quantile(SCHEMA["age"], (0.25, 0.5))
    named = [f.name for f in dataclasses.fields(statistic) if "{" + f.name + "}" in DESCRIPTIONS["Quantile"]]
    assert is_describable(statistic) and named
    whole = question_words.catalogue

    class Forgetful:
        def __init__(self, code: str) -> None:
            self.whole = whole(code)

        def __call__(self, template: str) -> str:
            text = self.whole(template)
            return text.replace("{" + named[0] + "}", "") if self.whole.code == "fr" else text

    monkeypatch.setattr(question_words, "catalogue", Forgetful)
    assert not is_describable(statistic)


@pytest.mark.parametrize("kind", sorted(DESCRIPTIONS))
def test_every_description_names_the_same_in_every_language(kind: str) -> None:
    from tests.show.catalogues import placeholders

    wanted = placeholders(DESCRIPTIONS[kind])
    assert all(placeholders(question_words.catalogue(code)(DESCRIPTIONS[kind])) == wanted for code in NAMES)


def test_quotable_keeps_ordinary_text() -> None:
    assert quotable('Hôpital de l\'Est, "ward" 5') == 'Hôpital de l\'Est, "ward" 5'
    assert str(describe_plainly(mu.Sums(SCHEMA, ("age", "stay")))) == "2 sums over all rows"
    assert COORDINATOR.name in " ".join(small(asked("age")).in_words())
