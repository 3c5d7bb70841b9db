"""The answering page on a slow telephone: Chromium with a slow network, a slow processor and an empty cache."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.pages.browser import Browser
from tests.pages.chromium import find_or_install

TRIES = 5
WEIGHT = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .map(({encodedBodySize}) => encodedBodySize)"""
DRAW = """async ([release, survey]) => {
    const { Plan } = await import(`${release}/client/plan.js`);
    const plan = new Plan(await (await fetch(`/api/surveys/${survey}/plan`)).text());
    return Array.from({ length: 50 }, (_, i) => {
        const start = performance.now();
        plan.report(`t${i}`);
        return performance.now() - start;
    });
}"""


class Profile(NamedTuple):
    """Kilobits a second both ways, milliseconds that each request waits, how many times slower the processor is."""

    name: str
    kilobits: int
    latency: int
    slower: int


SLOW = Profile("1.6 Mbit/s, 150 ms a request, processor 4 times slower", 1600, 150, 4)
SLOWEST = Profile("400 kbit/s, 400 ms a request, processor 6 times slower", 400, 400, 6)


class Telephone:
    def __init__(self, page: Any) -> None:
        self._page, self._session = page, page.context.new_cdp_session(page)
        self._session.send("Network.enable")

    def throttle(self, profile: Profile) -> None:
        speed = profile.kilobits * 1000 / 8
        network = {"latency": profile.latency, "downloadThroughput": speed, "uploadThroughput": speed}
        self._session.send("Network.emulateNetworkConditions", {"offline": False, **network})
        self._session.send("Emulation.setCPUThrottlingRate", {"rate": profile.slower})

    def ready(self, address: str, profile: Profile) -> float:
        """Milliseconds until the first visit can be answered."""
        self._page.goto("about:blank")
        self._session.send("Network.clearBrowserCache")
        self.throttle(profile)
        self._open(address)
        return float(self._page.evaluate("performance.getEntriesByName('ready')[0].startTime"))

    def weight(self, address: str) -> tuple[int, int]:
        """Bytes of all bodies as they were sent, and how many there are."""
        self._page.goto("about:blank")
        self._session.send("Network.clearBrowserCache")
        self._open(address)
        sizes = self._page.evaluate(WEIGHT)
        return sum(sizes), len(sizes)

    def draws(self, address: str, release: str, survey: str, profile: Profile | None) -> list[float]:
        """Milliseconds of fifty draws, the first before anything is compiled."""
        self._open(address)
        if profile is not None:
            self.throttle(profile)
        return list(self._page.evaluate(DRAW, [release, survey]))

    def _open(self, address: str) -> None:
        self._page.goto(address)
        self._page.wait_for_selector("html[data-ready]", timeout=60_000)
        if not self._page.locator("#randomise").is_enabled():
            raise RuntimeError("the page is ready, and cannot be answered")


@contextmanager
def telephones() -> Iterator[Callable[..., Any]]:
    """A function that asks a new telephone: ask("weight", address)."""
    browser = Browser(find_or_install())

    def work(tab: Any, method: str, arguments: tuple[Any, ...]) -> Any:
        page = tab.context.browser.new_page(viewport={"width": 390, "height": 844})
        try:
            return getattr(Telephone(page), method)(*arguments)
        finally:
            page.close()

    try:
        yield lambda method, *arguments: browser.do(work, browser._tab, method, arguments)
    finally:
        browser.close()
