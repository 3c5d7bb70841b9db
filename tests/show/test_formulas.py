"""Formulas in plain letters become MathML: what touches belongs together, and brackets that only group vanish."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from murmure.show.formulas import mathml
from murmure.show.html import html_language
from murmure.show.phrase import Formula, Phrase


def body(formula: str) -> str:
    return mathml(formula).removeprefix("<math>").removesuffix("</math>")


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("N", "<mi>N</mi>"),
        ("3N/4", "<mfrac><mrow><mn>3</mn><mi>N</mi></mrow><mn>4</mn></mfrac>"),
        ("(N - f)/4", "<mfrac><mrow><mi>N</mi><mo>\u2212</mo><mi>f</mi></mrow><mn>4</mn></mfrac>"),
        ("a / b", "<mrow><mi>a</mi><mo>/</mo><mi>b</mi></mrow>"),
        ("e^eps", "<msup><mi>e</mi><mi>\u03b5</mi></msup>"),
        ("x_1", "<msub><mi>x</mi><mn>1</mn></msub>"),
        ("sqrt(N)", "<msqrt><mi>N</mi></msqrt>"),
        ("fhat", '<mover accent="true"><mi>f</mi><mo>^</mo></mover>'),
        ("N(1)", "<mrow><mi>N</mi><mrow><mo>(</mo><mn>1</mn><mo>)</mo></mrow></mrow>"),
        ("a <= b", "<mrow><mi>a</mi><mo>\u2264</mo><mi>b</mi></mrow>"),
    ],
)
def test_a_formula(formula: str, expected: str) -> None:
    assert expected == body(formula)


def test_what_is_not_markup_is_escaped() -> None:
    """A quoted text keeps its letters, and is well-formed."""
    root = ElementTree.fromstring(mathml('a < "x<b>&"'))

    assert [part.text for part in root.iter()][1:] == [None, "a", "<", "x<b>&"][0:4]


def test_pages_typeset_and_text_does_not() -> None:
    phrase = Phrase("the estimate {fhat}", fhat=Formula("2o - N/2"))

    assert str(phrase) == "the estimate 2o - N/2"
    assert html_language("en").say(phrase).startswith("the estimate <math>")
