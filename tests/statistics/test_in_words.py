"""What was asked, in the words of a ledger and a release: few things by name, more of them by their number."""

from __future__ import annotations

from typing import Any

import pytest
from tests.listing import STATISTICS, listed

import murmure as mu
from murmure.show.language import Language
from murmure.statistics.exact.cells import Cells
from murmure.statistics.exact.cross_products import CrossProducts

S = mu.Schema(
    {
        "age": mu.Integers(0, 99),
        "stay": mu.Integers(-2, 30),
        "dose": mu.Decimals(0, "2.5", places=1),
        "ward": mu.Categories(["A", "B", "C"]),
    }
)
AGE, WARD = S["age"], S["ward"]
NAMES = ("age", "stay", "dose", "ward")
FIVE = ("1", "age", "stay", "dose", "age*stay")


def of(*names: str) -> mu.Schema:
    return mu.Schema({name: S[name] for name in names})


def sums(*texts: str) -> Any:
    return mu.Sums(S, texts)


def products(*factors: str, **more: Any) -> Any:
    return CrossProducts(S, factors, **more)


def cells(*names: str) -> Any:
    return Cells(of(*names), (None,) * len(names))


WORDS = [
    (mu.Mean(AGE), "Mean of age", "Mean de age"),
    (mu.Marginals(of("age", "stay")), "Marginals of age and stay", ""),
    (mu.Marginals(of("age", "stay", "ward")), "Marginals of 3 columns", ""),
    (mu.GroupBy(mu.Mean(AGE), WARD), "Mean of age by ward", ""),
    (mu.GroupBy(mu.Count(AGE), of("ward", "stay")), "Count of age by ward, stay", ""),
    (mu.Where(mu.Mean(AGE), WARD, is_in=("A",)), "Mean of age where ward is 'A'", ""),
    (mu.Where(mu.Mean(AGE), WARD, is_in=("A", "C")), "Mean of age where ward is ['A', 'C']", ""),
    (mu.Where(mu.Count(WARD), AGE, between=(18, 65)), "Count of ward where age lies between 18 and 65", ""),
    (sums("age"), "Sum of age", "Somme de age"),
    (sums("age", "age * stay"), "Sums of age, age * stay", "Sommes de age, age * stay"),
    (sums("1", "stay", "dose / 3"), "Sums of 1, stay, dose / 3", ""),
    (sums("1", "age", "age ** 2", "age > 7"), "4 sums of age", "4 sommes de age"),
    (sums("1", "age", "stay", "age * stay"), "4 sums of age, stay", ""),
    (sums("1", "age", "stay", "dose", "age * stay"), "5 sums of age, stay, dose", ""),
    (sums("age", "stay", "dose", "ward == 'A'"), "4 sums of 4 columns", "4 sommes de 4 colonnes"),
    (products("1", "age", "stay"), "6 sums of products of two of 1, age, stay", ""),
    (products(*FIVE), "14 sums of products of two of 1, age, stay, dose, age*stay", ""),
    (products(*FIVE, "age**2"), "18 sums of products of two of 6 expressions of age, stay, dose", ""),
    (products("age", "stay", weight="dose"), "3 sums of products of two of age, stay, weighted by dose", ""),
    (cells("ward"), "Counts of rows in 3 cells of ward", ""),
    (cells("ward", "age"), "Counts of rows in 300 cells of ward and age", ""),
    (cells(*NAMES), "Counts of rows in 257400 cells of 4 columns", ""),
]


def _in(language: str, text: Any) -> str:
    return Language(language).say(text).replace("\N{NARROW NO-BREAK SPACE}", " ")  # type: ignore[arg-type]


@pytest.mark.parametrize(("asked", "english", "french"), WORDS, ids=[english for _, english, _ in WORDS])
def test_what_was_asked_is_said(asked: Any, english: str, french: str) -> None:
    assert str(asked.in_words()) == english
    assert not french or _in("fr", asked.in_words()) == french


@pytest.mark.parametrize("name, asked", listed(*STATISTICS))
def test_every_question_has_words_of_one_line(name: str, asked: Any) -> None:
    """In both languages; and where it says how many sums there are, or cells, there are as many."""
    for language in ("en", "fr"):
        text = _in(language, asked.in_words())
        assert 0 < len(text) < 200 and "\n" not in text and "{" not in text and "Plural(" not in text
    head = str(asked.in_words()).split(" sums of ")[0]
    if head.isdigit():
        assert int(head) == asked.width
