"""A person who visits the answering page of a small collector, for tests in Chromium."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.collector.pages.small_collector import SmallCollector, running
from tests.pages.browser import OpenPage

Open = Callable[..., OpenPage]
TOKEN = "00112233445566778899aabbccddeeff"

# Words are recorded where they are drawn; `fill` replaces them, so that a coin falls as a test wants it to.
RECORD_WORDS = """fill => {
    window.drawn = [];
    const real = crypto.getRandomValues.bind(crypto);
    crypto.getRandomValues = array => {
        real(array);
        if (array instanceof Uint32Array) {
            if (fill !== null) array.fill(fill);
            window.drawn.push(...array);
        }
        return array;
    };
}"""
EVERYTHING_KEPT = """async () => JSON.stringify([
    Object.entries(localStorage), Object.entries(sessionStorage), document.cookie,
    await indexedDB.databases(), await caches.keys(), location.href, history.state,
])"""
NO_STORAGE = """if (location.search.includes("nostorage")) for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, name, {get() { throw new DOMException("denied", "SecurityError") }});"""
FAST_CLOCK = """() => {
    const [wait, now, start] = [setInterval, performance.now.bind(performance), performance.now()];
    window.setInterval = (work, ms) => wait(work, ms / 50);
    performance.now = () => start + 50 * (now() - start);
}"""
LIES, KEEPS = 0xFFFFFFFF, 0  # words above every threshold, and below


@pytest.fixture(scope="module")
def served() -> Iterator[SmallCollector]:
    with running() as collector:
        yield collector


@pytest.fixture
def collector(served: SmallCollector) -> SmallCollector:
    """Nothing has arrived yet; what browsers keep is deleted by `visit`."""
    served.bodies.clear()
    served.used.clear()
    served.unknown.clear()
    served.stored.clear()
    served.faults.clear()
    served.states.clear()
    served.waves.clear()
    served.plan_text.clear()
    served.plan_digest.clear()
    served.coin_tokens.clear()
    return served


class Visit:
    """One person on the page."""

    def __init__(self, opened: OpenPage) -> None:
        self.opened = opened
        self.wait("html[data-ready]")

    def do(self, work: Callable[[Any], Any]) -> Any:
        return self.opened.do(work)

    def wait(self, selector: str, state: str = "attached") -> None:
        self.do(lambda page: page.wait_for_selector(selector, state=state, timeout=8000))

    def choose(self, *places: int) -> None:
        """The option at this place, for each question in turn."""
        for number, place in enumerate(places, 1):
            self.do(lambda page, n=number, i=place: page.locator(f"#q{n} input").nth(i).check())

    def click(self, selector: str) -> None:
        self.do(lambda page: page.click(selector))

    def randomise(self) -> None:
        self.click("#randomise")
        self.wait("#review", "visible")

    def send(self) -> None:
        self.click("#send")
        self.wait("#receipt", "visible")

    def reload(self) -> None:
        self.do(lambda page: page.reload())
        self.wait("html[data-ready]")

    def go(self, address: str) -> None:
        self.do(lambda page: page.goto("about:blank"))
        self.do(lambda page: page.goto(address))
        self.wait("html[data-ready]")

    def text(self, selector: str) -> str:
        return str(self.do(lambda page: page.locator(selector).inner_text()))

    def visible(self, selector: str) -> bool:
        return bool(self.do(lambda page: page.locator(selector).is_visible()))

    def kept(self) -> str:
        return str(self.opened.evaluate(EVERYTHING_KEPT))

    def body(self) -> dict[str, Any]:
        return dict(json.loads(self.do(lambda page: page.locator("#report-text").text_content())))


@pytest.fixture
def visit(open_page: Open, collector: SmallCollector) -> Callable[..., Visit]:
    def start(name: str, *, size: str = "telephone", scheme: str = "light", **link: Any) -> Visit:
        open_page(f"{collector.address}/client/plan.js").evaluate("localStorage.clear(); sessionStorage.clear()")
        return Visit(open_page(collector.link(name, **link), size=size, scheme=scheme))

    return start


Start = Callable[..., Visit]
