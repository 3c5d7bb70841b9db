"""Each language writes sentences, numbers, quotation marks, lists and dates its own way."""

from __future__ import annotations

import datetime
import pickle
from fractions import Fraction

import pytest

from murmure.show.language import Language, catalogue, current_language, locale_language, set_language
from murmure.show.phrase import Code, Phrase, Plural, Quoted, Several, Strong

EN, FR = Language("en"), Language("fr")


@pytest.mark.parametrize(
    ("value", "spec", "english", "french"),
    [
        (2000, ",", "2,000", "2\u202f000"),
        (0.5, ".2f", "0.50", "0,50"),
        (-1234.5, ",.1f", "-1,234.5", "-1\u202f234,5"),
        (0.123, ".1%", "12.3%", "12,3\u202f%"),
        (Fraction(1, 4), ".3f", "0.250", "0,250"),
        (1e-9, ".3g", "1e-09", "1e-09"),
    ],
)
def test_numbers_in_sentences(value: float, spec: str, english: str, french: str) -> None:
    phrase = Phrase("{x:" + spec + "}", x=float(value) if isinstance(value, Fraction) else value)

    assert (EN.say(phrase), FR.say(phrase)) == (english, french)


def test_whole_numbers_have_all_their_digits() -> None:
    """Sums and bounds may be larger than 2**53, beyond which a float would write another number."""
    for whole in (2**53 + 1, 3**70, -(10**30) - 1):
        assert EN.number(whole) == f"{whole:,}"
        assert int(FR.number(whole).replace("\u202f", "")) == whole
    assert (EN.number(7), EN.number(7, 2), FR.number(1234, 1)) == ("7", "7.00", "1\u202f234,0")


def test_numbers_with_digits() -> None:
    assert (EN.percent(0.05), FR.percent(0.05)) == ("5.0%", "5,0\u202f%")
    assert (EN.small(1e-6), FR.small(2.5e-7)) == ("10⁻⁶", "2,5\u202f·\u202f10⁻⁷")
    assert (EN.exact(Fraction(1, 8)), FR.exact(Fraction(-12345, 10))) == ("0.125", "-1\u202f234,5")


def test_a_label_is_never_translated() -> None:
    """`no` is an answer that people gave, and a word of the catalogue only inside a Phrase."""
    assert FR.say("no") == "no"
    assert FR.say(Phrase("{label} is missing", label="no")).count("no") >= 1


def test_phrases_inside_phrases_are_said_too() -> None:
    known = next(m for m in ("did you mean {name!r}?",) if catalogue("fr").has(m))
    inner = Phrase(known, name="age")

    assert FR.say(Phrase("{message}\n  Hint: {hint}", message="x", hint=inner)).startswith("x\n  Conseil")
    assert "«\u202fage\u202f»" in FR.say(inner)


def test_quotes_lists_and_dates() -> None:
    phrase = Phrase("{names}", names=Several(["a", Quoted("b”c"), Strong("d")]))

    assert EN.say(phrase) == 'a, “b"c” and d'
    assert FR.say(phrase) == 'a, «\u202fb"c\u202f» et d'
    assert str(phrase) == EN.say(phrase)
    assert (EN.date(datetime.date(2026, 3, 1)), FR.date(datetime.date(2026, 3, 1))) == ("1 March 2026", "1er mars 2026")


def test_marks_belong_to_the_renderer() -> None:
    """As text a marked value is the value; a renderer may put it between tags, and escapes what is inside."""
    phrase = Phrase("{x}: {y}", x=Strong("<a>"), y=Code("b"))
    loud = Language("en", lambda text: text.replace("<", "&lt;"), lambda value, inner: f"<i>{inner}</i>")

    assert EN.say(phrase) == "<a>: b"
    assert loud.say(phrase) == "<i>&lt;a></i>: <i>b</i>"


def test_zero_is_singular_in_french() -> None:
    rows = [Plural("{n} row", "{n} rows", n=n) for n in (0, 1, 2)]

    assert [str(r) for r in rows] == ["0 rows", "1 row", "2 rows"]
    assert [catalogue("fr").sentences.plural(n) for n in (0, 1, 2)] == [0, 0, 1]  # type: ignore[attr-defined]


def test_phrases_survive_pickle() -> None:
    phrase = Plural("{n} row of {name}", "{n} rows of {name}", n=2, name=Phrase("row {row}", row=1))
    again = pickle.loads(pickle.dumps(phrase))

    assert again == phrase and again.one == phrase.one and again.fields["name"].template == "row {row}"


def test_the_locale_decides() -> None:
    assert locale_language({"LANG": "fr_FR.UTF-8"}) == "fr"
    assert locale_language({"LANG": "fr_FR.UTF-8", "LC_ALL": "en_US.UTF-8"}) == "en"
    assert locale_language({"LANGUAGE": "de:fr", "LANG": "de_DE"}) == "fr"
    assert locale_language({"LANG": "C"}) == "en" == locale_language({})


def test_a_language_is_set() -> None:
    try:
        set_language("fr")

        assert current_language() == "fr"
    finally:
        set_language(None)
    assert current_language() == "en"
    with pytest.raises(ValueError, match="one of en, fr"):
        set_language("de")  # type: ignore[arg-type]
