"""The harness finds what it looks for: pages with one fault each, and a page without any."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.pages import languages
from tests.pages.browser import PICTURES, OpenPage
from tests.pages.every_page import LIVE
from tests.pages.inspection import Inspection

Open = Callable[..., OpenPage]


def page(body: str, head: str = "") -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Test</title>{head}'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"></head><body>{body}</body></html>'
    )


SOUND = page("<main><h1>Sums</h1><p>Nothing is wrong here.</p></main>")
POLICY = "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">"


def test_a_sound_page_has_no_findings(open_page: Open) -> None:
    opened = open_page(SOUND)

    assert opened.complaints() == []
    assert opened.serious() == []
    assert opened.overflow() == 0
    assert opened.repeated_ids() == []
    assert opened.text() == "Sums\n\nNothing is wrong here."


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ('<main><h1>Sums</h1><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="></main>', "image-alt"),
        ('<main><h1>Sums</h1><p style="color:#bbb;background:#fff">Pale.</p></main>', "color-contrast"),
        ('<main><h1>Sums</h1><a href="?"></a></main>', "link-name"),
    ],
)
def test_axe_sees_what_some_readers_cannot(open_page: Open, body: str, rule: str) -> None:
    found = open_page(page(body)).serious()

    assert [text.split(":")[0] for text in found] == [f"axe {rule}"]


def test_axe_can_be_asked_for_some_rules(open_page: Open) -> None:
    opened = open_page(
        page('<main><h1>Sums</h1><p style="color:#bbb;background:#fff">Pale.</p><a href="?"></a></main>')
    )

    assert [text.split(":")[0] for text in opened.serious(("link-name",))] == ["axe link-name"]


def test_dark_colours_are_looked_at_too(open_page: Open) -> None:
    """One load; text that is legible in light colours only is found when the colours change."""
    style = "<style>@media (prefers-color-scheme:dark){body{background:#111;color:#222}}</style>"
    opened = open_page(page("<main><h1>Sums</h1><p>Legible by day.</p></main>", style))
    assert opened.serious() == []

    opened.show("desktop", "dark")
    assert {text.split(":")[0] for text in opened.serious()} == {"axe color-contrast"}


def test_text_on_another_background_is_another_style(open_page: Open) -> None:
    """Axe is not asked for contrast again where it has seen all styles, so a new background must make a new one."""
    opened = open_page(page("<main><h1>Sums</h1><p>One.</p><p>Two.</p><div><p>Three.</p></div></main>"))
    before = opened.text_styles()
    assert len(before) == 2

    opened.evaluate("document.querySelector('div').style.background = 'black'")
    assert len(opened.text_styles() - before) == 1


def test_a_script_that_throws_is_found(open_page: Open) -> None:
    opened = open_page(page("<main><h1>Sums</h1><script>undefinedName.go()</script></main>"))

    assert opened.complaints() == ["script: undefinedName is not defined"]


def test_console_errors_are_found(open_page: Open) -> None:
    opened = open_page(page("<script>console.log('fine'); console.error('not fine')</script>"))

    assert opened.complaints() == ["console: not fine"]


def test_a_request_to_another_host_is_found_and_never_sent(open_page: Open) -> None:
    """The name is not even looked up: a test run asks nothing of the network."""
    found = open_page(page('<img alt="" src="http://elsewhere.example/x.png">')).complaints()

    assert "request: http://elsewhere.example/x.png" in found
    assert "failed: http://elsewhere.example/x.png" in found
    assert any("ERR_NAME_NOT_RESOLVED" in text for text in found)


def test_a_request_to_another_file_is_found(open_page: Open, tmp_path: Path) -> None:
    """A page in a file stands alone."""
    (tmp_path / "more.css").write_text("p{color:black}")
    found = open_page(page("<p>Styled.</p>", '<link rel="stylesheet" href="more.css">')).complaints()

    assert found == [f"request: {(tmp_path / 'more.css').as_uri()}"]


def test_a_violation_of_the_policy_is_found(open_page: Open) -> None:
    """What the page's own policy forbids does not run, and is found."""
    found = open_page(page("<script>document.title = 'changed'</script>", POLICY)).complaints()

    assert "policy: script-src-elem inline" in found


def test_a_wide_page_is_found_on_a_telephone_only(open_page: Open) -> None:
    opened = open_page(page('<div style="width:600px">Wide.</div>'))
    assert opened.overflow() == 0

    opened.show("telephone", "light")
    assert opened.overflow() > 200


def test_an_id_that_occurs_twice_is_found(open_page: Open) -> None:
    assert open_page(page('<p id="a">1</p><p id="b">2</p><p id="a">3</p>')).repeated_ids() == ["a"]


def test_a_page_is_not_blamed_for_the_one_before(open_page: Open) -> None:
    """All pages are opened in one tab."""
    noisy = "<script>setInterval(() => { fetch('http://elsewhere.example/'); console.error('still here') }, 1)</script>"
    assert open_page(page(noisy)).do(lambda tab: tab.wait_for_timeout(100)) is None

    opened = open_page(SOUND)
    opened.do(lambda tab: tab.wait_for_timeout(200))
    assert opened.complaints() == []


def test_a_page_that_reloads_itself_can_be_looked_at(open_page: Open) -> None:
    """It is loaded once: what was found does not vanish."""
    opened = open_page(page("<p>Again and again.</p>", '<meta http-equiv="refresh" content="1">'))
    opened.evaluate("window.still = 'here'")
    opened.do(lambda page: page.wait_for_timeout(1500))

    assert opened.evaluate("window.still") == "here"
    assert opened.complaints() == []
    assert [text.split(":")[0] for text in opened.serious(("meta-refresh",))] == ["axe meta-refresh"]


def test_other_tests_of_the_process_keep_asyncio(open_page: Open) -> None:
    """Playwright marks its event loop as running in the thread that it is used from; that is not this one."""
    open_page(SOUND)

    assert asyncio.run(asyncio.sleep(0, "ran")) == "ran"


def test_pictures_are_saved_when_somebody_wants_them(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the whole page, not only of what fits into the window."""
    opened = open_page(page('<div style="height:3000px">Long.</div>'))
    monkeypatch.delenv(PICTURES, raising=False)
    opened.save_picture("long")
    assert list(tmp_path.glob("**/*.png")) == []

    monkeypatch.setenv(PICTURES, str(tmp_path / "pictures"))
    opened.save_picture("long")
    header = (tmp_path / "pictures/long.png").read_bytes()[:24]
    assert header[1:4] == b"PNG" and int.from_bytes(header[20:24], "big") > 3000


# -- an inspection -----------------------------------------------------------------------------------------------------

SWITCH = """<input type="radio" name="language" id="in-en" checked><label for="in-en" lang="en">English</label>
<input type="radio" name="language" id="in-fr"><label for="in-fr" lang="fr">Français</label>"""
SWITCHED = "<style>#in-en:checked~main[lang=fr],#in-fr:checked~main[lang=en]{display:none}</style>"
BOTH = '<main lang="en"><h1>A sum over rows</h1></main><main lang="fr"><h1>Une somme de lignes</h1></main>'


def test_a_language_is_chosen_by_its_name(open_page: Open) -> None:
    opened = open_page(page(SWITCH + BOTH, SWITCHED))
    shown = []
    for language in ("fr", "en", "fr"):
        languages.choose(opened, language)
        shown.append((languages.visible(opened), "Une somme" in opened.text()))

    assert shown == [("fr", True), ("en", False), ("fr", True)]


def test_a_page_without_french_is_found(open_page: Open) -> None:
    inspection = Inspection("mutant")
    inspection.look(open_page(SOUND), "fr")

    assert inspection.faults == ["the page is in 'en', not in 'fr'"]


def test_each_fault_is_told_once_with_its_circumstances(open_page: Open) -> None:
    """Contrast in the dark, the width of a telephone, a request: each by the first look that can find it."""
    style = "<style>@media (prefers-color-scheme:dark){body{background:#111;color:#222}}</style>"
    body = '<main><h1>Sums</h1><div style="width:500px" id="a">Wide.</div><p id="a">Twice.</p></main>'
    inspection = Inspection("mutant")
    opened = open_page(page(body, style + '<link rel="stylesheet" href="more.css">'))
    inspection.look(opened, "en")
    first = list(inspection.faults)
    inspection.look(opened, "en")

    assert inspection.faults == first
    assert {fault.split(" (")[0] for fault in first if "axe" in fault} == {
        f"en, desktop, dark: axe color-contrast: {element}" for element in ("h1", "div", "p")
    }
    assert [fault for fault in first if "wider" in fault] == [
        f"en, telephone, light: wider than the telephone by {opened.overflow()} pixels"
    ]
    assert sum(fault.startswith("request: file://") for fault in first) == 1
    assert "the id 'a' occurs twice" in first
    with pytest.raises(AssertionError, match="wider than the telephone"):
        inspection.verdict()


def test_a_server_that_refuses_is_found(open_page: Open, tmp_path: Path) -> None:
    """Without its token the live page is not there."""
    with LIVE["live, gathering"](tmp_path) as address:
        refused = address.partition("?")[0]
        found = open_page(refused).complaints()

    assert f"failed: 403 {refused}" in found
