"""A text in the languages of the respondents: what the author wrote, in English, in French, or in both."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from murmure.collector.survey.errors import SurveyRefused
from murmure.core.errors import Phrase, shorten
from murmure.show.language import NAMES, LanguageCode, french_spaces


@dataclass(frozen=True)
class Texts:
    """One text by language. `in_language` falls back to the language that there is."""

    en: str = ""
    fr: str = ""

    def in_language(self, code: LanguageCode) -> str:
        texts = {"en": self.en, "fr": french_spaces(self.fr)}
        return texts[code] or texts["en"] or texts["fr"]

    def __bool__(self) -> bool:
        return bool(self.en or self.fr)

    @property
    def phrase(self) -> Phrase:
        """For documents, which are shown in either language."""
        return AuthorText(self)

    def to_dict(self) -> dict[str, str]:
        return {code: text for code in NAMES if (text := getattr(self, code))}


NO_TEXT = Texts()


class AuthorText(Phrase):
    """What the author of a survey wrote, as a phrase: it has its translation with it, and needs no catalogue."""

    texts: Texts

    def __new__(cls, texts: Texts) -> Self:
        text = str.__new__(cls, texts.in_language("en"))
        text.template, text.fields, text.texts = _escaped(texts.in_language("en")), {}, texts
        return text

    def translated(self, translate: Callable[[str], str]) -> str:
        code: LanguageCode = "fr" if getattr(translate, "code", "en") == "fr" else "en"
        return _escaped(self.texts.in_language(code))

    def __reduce__(self) -> tuple[Any, ...]:
        return AuthorText, (self.texts,)


def _escaped(text: str) -> str:
    """A template is one of `str.format`: a brace is written twice."""
    return text.replace("{", "{{").replace("}", "}}")


def read_texts(value: Any, where: str, max_letters: int, required: bool = True) -> Texts:
    """From {"en": "...", "fr": "..."}; a plain text counts for both languages."""
    if isinstance(value, str):
        value = dict.fromkeys(NAMES, value)
    if value is None:
        value = {}
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise SurveyRefused(where, Phrase('texts by language, {{"en": "...", "fr": "..."}}'), value)
    if unknown := set(value) - set(NAMES):
        raise SurveyRefused(where, Phrase("texts in {known}", known=", ".join(NAMES)), sorted(unknown))
    texts = Texts(**{code: text.strip() for code, text in value.items()})
    for text in (texts.en, texts.fr):
        if len(text) > max_letters:
            raise SurveyRefused(where, Phrase("at most {n:,} characters", n=max_letters), shorten(text, 40))
        if any(unicodedata.category(letter) in ("Cc", "Cs", "Co", "Cn") and letter != "\n" for letter in text):
            raise SurveyRefused(where, Phrase("characters that can be shown"), shorten(text, 40))
    if required and not texts:
        raise SurveyRefused(where, Phrase("a text in at least one language"), None)
    return texts
