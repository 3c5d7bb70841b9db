"""How a reader comes to a page in English or in French. What the pages offer may change; this is the one place."""

from __future__ import annotations

from typing import Any

from tests.pages.browser import OpenPage

NAMES = {"en": "English", "fr": "Français"}
# Of all letters that are visible, how many are marked as which language; the most frequent one.
VISIBLE_LANGUAGE = """() => {
    const letters = {};
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const parent = texts.currentNode.parentElement;
        if (!parent.checkVisibility()) continue;
        const language = parent.closest("[lang]")?.lang ?? "";
        letters[language] = (letters[language] ?? 0) + texts.currentNode.data.trim().length;
    }
    return Object.keys(letters).reduce((a, b) => letters[a] >= letters[b] ? a : b);
}"""


def choose(opened: OpenPage, language: str) -> None:
    """By the control that has the language's name, if the page has one."""

    def click(page: Any) -> None:
        control = page.get_by_text(NAMES[language], exact=True)
        if control.count():
            control.first.click()

    opened.do(click)


def visible(opened: OpenPage) -> str:
    """The language that the page says it is in, by what a reader sees."""
    return opened.evaluate(VISIBLE_LANGUAGE)
