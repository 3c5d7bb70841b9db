"""The lab in a real browser: its numbers there, its panels, addresses, languages, and what it says of nonsense."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.lectures.test_lab import LAB, same
from tests.pages import chromium
from tests.pages.browser import Browser, OpenPage, Scheme
from tests.vectors.make_lab import FILE

import murmure as mu
from murmure.lectures.course.found import all_names, item_of

PANELS = {
    "tree": "tree?truth=0.5&yes=0.25",
    "grr": "grr?epsilon=1&k=9",
    "laws": "laws?law=staircase&epsilon=1&x=0.3&form=redrawn",
    "varstar": "varstar?epsilon=1&k=128&n=100000",
    "records": "records?epsilon=1&d=3",
}
RUN_VECTORS = """async vectors => {
    const results = [];
    for (const {module, function: called, arguments: given} of vectors) {
        const functions = await import(new URL(`${module}.js`, document.baseURI));
        results.push(functions[called](...given));
    }
    return results;
}"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of the lab, served as the documentation site serves it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(LAB.parent)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/lab/index.html"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    browser = Browser(chromium.find_or_skip())
    yield browser
    browser.close()


def wait_until(page: OpenPage, condition: str) -> None:
    """Asked again and again: the page's policy forbids Playwright's own way, which evaluates a text inside the page."""
    for _ in range(200):
        if page.evaluate(condition):
            return
        page.do(lambda tab: tab.wait_for_timeout(25))
    raise AssertionError(f"never: {condition}")


def settled(page: OpenPage) -> OpenPage:
    """Once the modules are loaded, the panel is drawn and the address is written."""
    wait_until(page, "document.querySelector('.panels [aria-current]')?.getAttribute('href') === location.hash")
    return page


def go(page: OpenPage, address: str) -> None:
    """As somebody who follows a link of a figure."""
    page.evaluate("hash => { location.hash = hash; }", address)
    page.do(lambda tab: tab.wait_for_timeout(20))
    settled(page)


def test_its_numbers_in_the_browser_equal_pythons(browser: Browser, site: str) -> None:
    vectors = json.loads(FILE.read_text(encoding="utf-8"))
    page = settled(browser.open(site))

    results = page.evaluate(RUN_VECTORS, vectors)

    wrong = [one["name"] for one, result in zip(vectors, results, strict=True) if not same(result, one["returns"])]
    assert wrong == []
    assert page.complaints() == []


def sentences(text: str) -> set[str]:
    """What somebody had to write in their language: not code, and no number alone."""
    return {
        line
        for line in text.splitlines()
        if len(line) > 25 and not line.lstrip().startswith(("mu.", "schema =", "answers ="))
    }


@pytest.mark.parametrize("panel", PANELS)
def test_a_panel_is_legible_everywhere(browser: Browser, site: str, panel: str) -> None:
    """Both languages, on a desktop and on 360 pixels, light and dark: nothing sticks out, nothing is hard to read."""
    page = settled(browser.open(f"{site}#{PANELS[panel]}"))
    texts = {}
    for lang in ("fr", "en"):
        if lang == "en":
            page.do(lambda tab: tab.click("#to-en"))
            settled(page)
        assert page.evaluate("document.documentElement.lang") == lang
        assert f"lang={lang}" in page.evaluate("location.hash")
        texts[lang] = page.text()
        pictures: tuple[tuple[int, Scheme, str], ...] = ((1280, "light", "fr"), (360, "dark", "en"))
        for width, scheme, judged in pictures:
            page.do(lambda tab, width=width: tab.set_viewport_size({"width": width, "height": 800}))
            page.do(lambda tab, scheme=scheme: tab.emulate_media(color_scheme=scheme))
            page.do(lambda tab: tab.wait_for_timeout(60))  # the drawing follows the width
            drawn = page.evaluate("document.querySelector('figure svg').getBoundingClientRect().right - innerWidth")
            assert page.overflow() == 0 and drawn <= 0
            assert lang != judged or page.serious() == []  # what axe looks at does not depend on the language
            page.save_picture(f"lab-{panel}-{lang}-{width}-{scheme}")
    assert sentences(texts["fr"]) & sentences(texts["en"]) == set()
    assert page.complaints() == []
    assert page.repeated_ids() == []


def test_what_an_address_shows(browser: Browser, site: str) -> None:
    """Each address of the lectures' figures arrives, with the number that the lecture is about."""
    page = settled(browser.open(site))
    for address, words in {
        "tree?truth=0.5&yes=0.5": "ε = ln\u00a03 ≈ 1,09861",
        "grr?epsilon=1&k=9": "0,2536",
        "laws?law=laplace&epsilon=1&x=0.3": "exactement ε = 1,",
        "laws?law=laplace&epsilon=1&x=0&form=printed": "68,4\u00a0% des réponses sortent",
        "laws?law=staircase&epsilon=1&x=0.3&form=redrawn": "la loi coûte 1,3318",
        "laws?law=staircase&epsilon=1&x=0.3&form=redrawn&gamma=variance": "la loi coûte 1,34874",
        "laws?law=staircase&epsilon=1&x=0.3&form=printed": "masse totale de 2,001",
        "varstar?epsilon=1&k=128&n=100000": "SubsetSelection (w = 34)",
        "varstar?epsilon=5&k=128&n=100000": "GRR",
        "records?epsilon=1&d=3&k=5&budget=paper": "coûte alors 1,817",
        "tree?truth=1/2&yes=0": "∞",
    }.items():
        go(page, address)

        assert words in page.evaluate("document.querySelector('.summary').textContent"), address
        assert page.evaluate("document.querySelector('.notice').hidden"), address
    assert page.complaints() == []


def test_every_figure_that_links_here_is_understood(browser: Browser, site: str) -> None:
    """The addresses of the lectures' items: nothing in them is replaced or ignored."""
    addresses = sorted({item_of(name).lab or "" for name in all_names()} - {""})
    page = settled(browser.open(site))

    for address in addresses:
        go(page, address)
        assert page.evaluate("document.querySelector('.notice').textContent") == "", address
        assert page.evaluate("location.hash").startswith(f"#{address.partition('?')[0]}?"), address
    assert len(addresses) >= 2


def test_nonsense_is_replaced_and_said(browser: Browser, site: str) -> None:
    page = settled(browser.open(f"{site}#grr?epsilon=-3&k=abc&lang=en&size=<b>7"))

    notice = page.evaluate("document.querySelector('.notice').textContent")

    assert "Budget, ε: from 0.01 to 10; instead of “-3”, the page uses 0.01." in notice
    assert "“abc” is not a number; the page uses 9." in notice
    assert "There is no parameter “size” here" in notice
    assert page.evaluate("location.hash") == "#grr?epsilon=0.01&k=9&x=6&f=0.3&n=1000&lang=en"
    go(page, "laws?law=laplace&form=redrawn&lang=en")
    assert "“redrawn” is not a choice; the page uses “right”" in page.evaluate(
        "document.querySelector('.notice').textContent"
    )
    go(page, "nowhere?lang=fr")
    assert "Il n’y a pas de panneau «\u00a0nowhere\u00a0»" in page.evaluate(
        "document.querySelector('.notice').textContent"
    )
    assert page.complaints() == []


def test_sliders_and_fields_move_with_the_keyboard(browser: Browser, site: str) -> None:
    page = settled(browser.open(f"{site}#grr?epsilon=1&k=9&x=9"))

    page.do(lambda tab: tab.focus("#field-k"))
    page.do(lambda tab: tab.keyboard.press("Shift+Tab"))  # the slider stands before its field
    for _ in range(3):
        page.do(lambda tab: tab.keyboard.press("ArrowLeft"))
    page.do(lambda tab: tab.fill("#field-epsilon", "ln 3"))
    page.do(lambda tab: tab.keyboard.press("Enter"))
    wait_until(page, "location.hash.includes('k=6')")

    assert page.evaluate("document.querySelector('#field-k').value") == "6"
    assert page.evaluate("document.querySelector('#field-x').value") == "6"  # a value of six is one of them
    assert "epsilon=1.09861228867" in page.evaluate("location.hash")
    assert page.evaluate("document.querySelectorAll('figure rect').length") == 6
    page.do(lambda tab: tab.fill("#field-epsilon", "many"))
    page.do(lambda tab: tab.keyboard.press("Tab"))
    assert "« many » n’est pas un nombre" in page.evaluate("document.querySelector('.notice').innerText").replace(
        "\u00a0", " "
    )


def test_the_python_beside_it_gives_its_number(browser: Browser, site: str) -> None:
    """The call that a panel prints is one that runs, and means the same law."""
    page = settled(browser.open(f"{site}#tree?truth=0.2&yes=0.9&lang=en"))

    def call(address: str) -> Any:
        go(page, address)
        *before, last = page.evaluate("document.querySelector('pre').textContent").splitlines()
        names: dict[str, Any] = {"mu": mu}
        exec("\n".join(before), names)
        return eval(last, names)

    warner = call("tree?truth=0.2&yes=0.9&lang=en")
    assert f"ε = {mu.certify(warner).epsilon:.6g}." in page.evaluate("document.querySelector('.summary').textContent")
    assert float(call("grr?epsilon=1&k=9").channel.prob(0, 0)) == pytest.approx(0.2536, abs=5e-5)
    assert call("laws?law=staircase&epsilon=2&gamma=variance").gamma == "variance"
    assert call("laws?law=laplace&epsilon=2").epsilon == 2.0
    assert call("varstar?epsilon=1&k=128&n=100000").best["mechanism"] == "SubsetSelection"
    assert call("records?epsilon=1&d=3&budget=paper").inner == pytest.approx(1.8172397)


def test_opened_from_disk_it_says_what_to_do(browser: Browser) -> None:
    """Browsers import no modules from files: the page says so, in both languages, instead of staying empty."""
    page = browser.open(Path(LAB / "index.html").as_uri())

    wait_until(page, "getComputedStyle(document.getElementById('waiting')).visibility === 'visible'")

    assert "lancez python -m http.server" in page.text() and "run python -m http.server" in page.text()
