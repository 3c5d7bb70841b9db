"""Every kind of block is rendered by every renderer, and texts of strangers come out inert."""

from __future__ import annotations

import html.parser
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from tests.show.every_block import HOSTILE, document, test_every_kind_is_in_it

from murmure.core.errors import Phrase
from murmure.show.data import to_dict, to_frame
from murmure.show.document import Curves, Document, Heading, Intervals, Paragraph, Table
from murmure.show.html import content_security_policy, is_murmure_page, live_page, page, snippet, style_sheet
from murmure.show.latex import latex
from murmure.show.markdown import markdown
from murmure.show.plot import draw, draw_all
from murmure.show.summary import Summary
from murmure.show.terminal import print_document
from murmure.show.text import text

__all__ = ["test_every_kind_is_in_it"]
OURS = ("?lang=", "#", "data:image/svg+xml;base64,", "numbers.csv")
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
KNOWN_COMMANDS = set(
    [
        "begin",
        "end",
        "hline",
        "item",
        "textbackslash",
        "textasciicircum",
        "textasciitilde",
        "textless",
        "textgreater",
        "textbar",
    ]
)


class Tags(html.parser.HTMLParser):
    """The tags and attributes of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def check_page(text: str, letters: str) -> None:
    """No tag or attribute that is not ours, no script, no inline style, nothing from outside."""
    tags = Tags(text)

    assert not {"script", "iframe", "object", "link", "form"} & set(tags.tags)
    assert not [a for a in tags.attributes if a[1].startswith("on") or a[1] == "style"]
    assert not [a for a in tags.attributes if a[1] in ("src", "href") and not (a[2] or "").startswith(OURS)]
    assert not CONTROLS.search(text)
    assert letters in re.sub(r"\s+", " ", tags.text)


@pytest.mark.parametrize("lang", ["en", "fr"])
@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_inert(hostile: str, lang: str) -> None:
    shown, heading = document(hostile), Heading(hostile, hostile, hostile)
    letters = re.findall(r"[a-z]{3,}", hostile) or ["a"]

    for whole in (page(shown, heading, lang), live_page(shown, lang, True, 3)):  # type: ignore[arg-type]
        check_page(whole, letters[0])
    check_page(snippet(shown, lang), letters[0])  # type: ignore[arg-type]
    assert not CONTROLS.search(text(shown, lang))  # type: ignore[arg-type]
    commands = re.findall(r"\\([A-Za-z]+)", latex(shown, lang))  # type: ignore[arg-type]
    assert set(commands) <= KNOWN_COMMANDS
    assert not CONTROLS.search(markdown(shown, lang)) and "<script" not in markdown(shown, lang)  # type: ignore[arg-type]
    assert hostile in str(to_dict(shown)["tables"][0]["rows"][0][0])  # data keep what people wrote
    for panel in shown.of(Intervals, Curves):
        draw(plt, panel, plt.figure().add_subplot(), lang).figure.canvas.draw()  # type: ignore[arg-type]
    plt.close("all")


def test_the_check_finds_what_is_not_inert() -> None:
    """Mutants: each of these would be found."""
    for bad in (
        "<img src='x.png'> aaa",
        "<script>x</script> aaa",
        "<p style='x'> aaa",
        "<b onclick=x> aaa",
        "<a href='//x'> aaa",
        "\x1b aaa",
    ):
        with pytest.raises(AssertionError):
            check_page(bad, "aaa")


def test_a_page_allows_its_own_style_and_nothing_else() -> None:
    whole = page(document())

    assert is_murmure_page(whole.encode()[:600])
    assert content_security_policy(images=True).replace("'", "&#39;") in whole
    without = page(Document("a", (Paragraph("b"),)))
    assert content_security_policy().replace("'", "&#39;") in without and "img-src" not in without
    assert "unsafe" not in content_security_policy() and "script" not in content_security_policy()
    assert f"<style>{style_sheet()}</style>" in whole
    assert "frame-ancestors 'none'" in content_security_policy(framed=True)


def test_a_page_has_both_languages_and_shows_one() -> None:
    whole = page(document(), None, "fr")

    assert '<html lang="fr">' in whole
    assert re.findall(r'<article lang="(..)">', whole) == ["en", "fr"]
    assert re.search(r'id="fr" checked', whole) and not re.search(r'id="en" checked', whole)
    assert "1,600" in whole and "1\u202f600" in whole


def test_what_people_say_about_their_page() -> None:
    whole = page(document(), Heading("My title", "Why?", "Jeanne"))

    assert "<title>My title</title>" in whole
    assert whole.count("<h1>My title</h1>") == whole.count("Why?") == whole.count("Jeanne") == 2


def test_text_is_aligned() -> None:
    table = Table(Phrase("Counts"), ("", Phrase("count")), (("short", 3), ("a much longer name", 12345)))

    assert text(Document("", (table,))).split("\n") == [
        "Counts",
        "                       count",
        "----------------------------",
        "short                      3",
        "a much longer name    12,345",
    ]


def test_names_that_are_cut_stay_distinct() -> None:
    rows = tuple((f"income_of_the_household_in_euros_of_last_year[{x}]", 1) for x in ("low", "high"))
    lines = text(Document("", (Table("", ("", "n"), rows),))).split("\n")

    assert len({line.split("  ")[0] for line in lines[2:]}) == 2
    assert all(f"[{x}]" in line for x, line in zip(("low", "high"), lines[2:], strict=True))


def test_a_summary_ends_a_notebook_cell_well() -> None:
    """Its repr is the text itself, without quotes and \\n; a notebook shows tables."""
    summary = Summary(document())

    assert repr(summary) == str(summary) and "\\n" not in repr(summary)
    assert "<table" in summary._repr_html_()


def test_long_tables_show_their_ends() -> None:
    shown = Document("", (Table("", ("", "n"), tuple((f"row {i}", i) for i in range(100))),))

    assert "... 60 more rows ..." in text(shown)
    assert len(to_frame(shown)) == 100


def test_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    print_document(document("\x1b[31m"), Console(width=200, force_terminal=False))

    assert "\x1b" not in capsys.readouterr().out


def test_figures_to_a_file(tmp_path: Path) -> None:
    plt.close("all")
    panels = [*document().of(Intervals, Curves), Paragraph(Phrase("no figure"))]
    draw_all(plt, panels, tmp_path / "all.svg", "fr")

    assert (tmp_path / "all.svg").read_text().startswith("<?xml")
    assert plt.get_fignums() == []
