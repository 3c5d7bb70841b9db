"""The tutorial about surveys says what the pages say: its labels, its figures, and its crowd, in both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.core.error_sentences import SOURCES
from tests.docs.test_pages import DOCS, blocks, prose

from murmure.collector.http.server import ServeSettings, serving
from murmure.collector.service.builder_advice import builder_advice
from murmure.collector.service.collector import Collector
from murmure.show.language import Language
from murmure.show.phrase import Phrase

PHRASE = re.compile(r'[Pp]hrase\("([^"]+)"')
NAME = "tutorial-collect-answers.md"
ENGLISH, FRENCH = DOCS / NAME, DOCS / "fr" / NAME
DOCUMENT = {
    "murmure_survey": 1,
    "title": {"en": "Honesty in exams"},
    "questions": [{"name": "cheated", "kind": "yes-no", "text": {"en": "Have you cheated at least once?"}}],
    "people": 500,
    "epsilon": 1.05,
}


def labels(page: Path) -> list[str]:
    """What the page sets in bold: buttons, fields and headings, as they are on the screen."""
    return re.findall(r"\*\*([^*]+)\*\*", prose(page))


def test_labels_are_on_the_pages() -> None:
    files = [path for path in (SOURCES / "collector" / "pages").rglob("*") if path.suffix in (".html", ".py")]
    known = {text for path in files for text in PHRASE.findall(path.read_text(encoding="utf-8"))}

    assert labels(ENGLISH) and [label for label in labels(ENGLISH) if label not in known] == []


def test_labels_of_the_french_page_are_those_of_the_french_screens() -> None:
    say = Language("fr").say

    assert [say(Phrase(label)) for label in labels(ENGLISH)] == labels(FRENCH)


@pytest.mark.parametrize(("page", "comma"), [(ENGLISH, "."), (FRENCH, ",")], ids=["en", "fr"])
def test_figures_are_those_of_the_builder(page: Path, comma: str) -> None:
    """A margin of 8 points from 500 people, by a yes-or-no question."""
    advice = builder_advice(DOCUMENT, None, 8, "en")
    hundred = advice["questions"]["cheated"]["hundred"]
    text = prose(page)

    for figure in (f"{advice['epsilon']:.2f}", f"{advice['odds']:.2f}"):
        assert figure.replace(".", comma) in text
    for whole in (f"{advice['belief']:.0%}".rstrip("%"), f"{hundred[0]:.0f}", f"{hundred[1]:.0f}"):
        assert re.search(rf"\b{whole}\b", text)
    shrunk = advice["margin"] * (500 / 200) ** 0.5
    assert re.search(rf"\b{shrunk:.0f}\s+points", text)


@pytest.mark.parametrize(("page", "lang"), [(ENGLISH, "en"), (FRENCH, "fr")], ids=["en", "fr"])
def test_the_picture_is_small_and_told_in_words(page: Path, lang: str) -> None:
    """By script/pictures. Its text has the words of the screen."""
    (alt, target), *more = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", prose(page))
    say = Language(lang).say

    assert not more and (page.parent / target).stat().st_size < 60_000
    assert all(say(Phrase(words)) in alt for words in ("You answered", "This is sent", "Send this report"))


@pytest.mark.parametrize("page", [ENGLISH, FRENCH], ids=["en", "fr"])
def test_the_crowd_answers(page: Path, tmp_path: Path) -> None:
    """Its lines are run against a real service, with its link in the place of the one on the page."""
    (code,) = [block.body for block in blocks(page) if "SurveyClient" in block.body]
    with Collector(tmp_path) as collector, serving(collector, ServeSettings()) as urls:
        owner = collector.analysts.add("anna", "a long password of hers").number
        survey = collector.open(collector.surveys.create(owner, DOCUMENT))
        link = f"{urls.base}/s/{survey.id}#p={survey.plan.digest[:16]}"
        yours, count = re.subn(r'^link = ".*"$', f'link = "{link}"', code, flags=re.M)

        assert count == 1
        exec(compile(yours, str(page), "exec", dont_inherit=True), {})
        collector.intake.flush()

        assert collector.results(survey).n == 200
