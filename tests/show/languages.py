"""Finds sentences of the wrong language in what people read: lines with two or more of its common small words."""

from __future__ import annotations

import re

SMALL_WORDS = {
    "en": "the of and with which that this these are is was were from have has been each every whose their would "
    "cannot must not more than only they them one two all how what who when where into its it be by for at",
    "fr": "le la les des du une un est sont avec pour dans qui que ne pas sur chaque aux au cette ces ce il elle ils "
    "leur leurs ont été être plus par ou où dont vous votre vos et en de",
}
ENGLISH, FRENCH = (set(words.split()) for words in SMALL_WORDS.values())
BOTH = ENGLISH & FRENCH
CODE = re.compile(
    r"""`[^`]*` | \bmurmure\ [^\n]* | --?[a-z][\w-]* | [\w./-]+\.(?:py|csv|toml|json|parquet|html|svg|png|db|npz)\b
    | \b\w+\([^)]*\) | \b\w+=\S+ | «[^»]*» | “[^”]*” | '[^']*' | "[^"]*" | \b[A-Z_]{2,}\b | https?://\S+""",
    re.VERBOSE,
)


def lines_in(language: set[str], other: set[str], text: str) -> list[str]:
    """Lines in which this language has two small words or more, and more than the other one."""
    found = []
    for line in text.splitlines():
        words = re.findall(r"[a-zà-ÿœ]+", CODE.sub(" ", line).replace("’", " ").lower())
        ours = [w for w in words if w in language - BOTH]
        if len(set(ours)) >= 2 and len(ours) > len([w for w in words if w in other - BOTH]):
            found.append(line.strip())
    return found


def english_lines(text: str) -> list[str]:
    return lines_in(ENGLISH, FRENCH, text)


def french_lines(text: str) -> list[str]:
    return lines_in(FRENCH, ENGLISH, text)


def text_of_page(page: str, lang: str) -> str:
    """The text of one language of a page, a line for each element."""
    article = re.search(rf'<article lang="{lang}">(.*?)</article>', page, re.DOTALL)
    body = article[1] if article else re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    body = re.sub(r"<(code|pre)\b.*?</\1>", " ", body, flags=re.DOTALL)
    labels = re.findall(r'(?:aria-label|data-name)="([^"]*)"', body)
    return "\n".join([*(t.strip() for t in re.split(r"</?(?!b\b|/b\b)[^>]+>", body) if t.strip()), *labels])


def test_english_and_french_are_told_apart() -> None:
    assert english_lines("The rows of this table are missing.") and not french_lines(
        "The rows of this table are missing."
    )
    assert french_lines("Les lignes de la table manquent.") and not english_lines("Les lignes de la table manquent.")
    assert english_lines("GRR: closed form, of which the rest is\nLe reste est là") == [
        "GRR: closed form, of which the rest is"
    ]
    assert not english_lines("murmure ols 'the and of with' --from x  # « the of and »")
