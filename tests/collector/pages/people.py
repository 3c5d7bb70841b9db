"""People with browsers of their own, each with its cookies, storage and language, and what tests let them do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page, Request
from tests.pages.browser import RECORD_VIOLATIONS, SIZES, Browser, OpenPage, Scheme, Size

WAIT = 30_000  # ms


class Person(OpenPage):
    """Somebody who goes from page to page of one service. All that goes wrong on the way is kept in `faults`."""

    def __init__(self, browser: Browser, tab: Page, base: str, language: str) -> None:
        super().__init__(browser, tab, base)
        self.base, self.language, self.faults = base, language, []
        self._listeners["requestfailed"] = self._failed
        browser.do(lambda: [tab.on(event, listener) for event, listener in self._listeners.items()])

    def _failed(self, asked: Request) -> None:
        """A request that a step to another page, or a download, cut off did not fail."""
        if asked.failure != "net::ERR_ABORTED":
            self._complain("failed", asked.url)

    def look(self) -> None:
        """As a reader and as a screen reader: nothing serious from axe, no sideways scroll, no id twice, no error."""
        self.faults += self.serious()
        self.faults += [f"wider than the window by {self.overflow()} pixels"] if self.overflow() else []
        self.faults += [f"the id {name!r} occurs twice" for name in self.repeated_ids()]
        self.faults += self.complaints()
        self._complaints.clear()

    def go(self, address: str) -> None:
        """An address, or a path of the service. The language is that of the person's browser."""
        address = address if address.startswith("http") else self.base + address
        self.do(lambda page: page.goto("about:blank"))  # a link that differs in its fragment alone is loaded too
        self.do(lambda page: page.goto(address))

    def click(self, selector: str) -> None:
        self.do(lambda page: page.click(selector, timeout=WAIT))

    def fill(self, **fields: str) -> None:
        """By the ids of the fields."""
        for name, text in fields.items():
            self.do(lambda page, n=name, t=text: page.fill(f"#{n}", t, timeout=WAIT))

    def write(self, selector: str, text: str) -> None:
        self.do(lambda page: page.fill(selector, text, timeout=WAIT))

    def wait(self, selector: str, state: str = "visible") -> None:
        self.do(lambda page: page.wait_for_selector(selector, state=state, timeout=WAIT))

    def wait_until(self, script: str, argument: Any = None) -> None:
        self.do(lambda page: page.wait_for_function(script, arg=argument, timeout=WAIT))

    def wait_for_page(self, pattern: str) -> None:
        self.do(lambda page: page.wait_for_url(pattern, timeout=WAIT))

    def read(self, selector: str) -> str:
        return str(self.do(lambda page: page.locator(selector).inner_text(timeout=WAIT)))

    def sees(self, selector: str) -> bool:
        return bool(self.do(lambda page: page.locator(selector).is_visible()))

    def address(self) -> str:
        return str(self.do(lambda page: page.url))

    def value(self, selector: str) -> str:
        return str(self.do(lambda page: page.input_value(selector, timeout=WAIT)))

    def data(self, name: str) -> Any:
        """What the page's script was given."""
        return json.loads(self.do(lambda page: page.locator("#page-data").text_content()))[name]

    def download(self, selector: str) -> tuple[str, bytes]:
        """The name and the bytes of the file behind a link or a button."""

        def take(page: Page) -> tuple[str, bytes]:
            with page.expect_download(timeout=WAIT) as waiting:
                page.click(selector, timeout=WAIT)
            return waiting.value.suggested_filename, waiting.value.path().read_bytes()

        name, content = self.do(take)
        return name, content

    # -- analysts

    def confirm(self, action: str) -> None:
        """What cannot be undone is asked twice; the page is loaded again afterwards."""
        self.click(f"[data-ask={action}]")
        self.wait(f"#ask-{action}[open]")
        self.look()
        self.do(lambda page: _and_wait(page, lambda: page.click(f"[data-confirm={action}]")))

    def open_survey(self) -> str:
        """From the builder: a last look, and the id of the survey that is open."""
        self.click("#open")
        self.wait("#ask-open[open]")
        self.look()
        self.click("#open-now")
        self.wait("#results")
        return self.address().rpartition("/")[2].partition("?")[0]

    def write_question(self, english: str, french: str, place: int = 1) -> None:
        card = f"#questions > li:nth-child({place}) [data-field=text]"
        self.write(f"{card} [data-lang=en]", english)
        self.write(f"{card} [data-lang=fr]", french)

    def write_title(self, english: str, french: str) -> None:
        self.write("[data-field=title] [data-lang=en]", english)
        self.write("[data-field=title] [data-lang=fr]", french)

    # -- respondents

    def answer(self, place: int) -> dict[str, Any]:
        """Choose, randomise, send; the receipt."""
        self.wait("html[data-ready]", "attached")
        self.do(lambda page: page.locator("#q1 input").nth(place).check())
        self.click("#randomise")
        self.wait("#review")
        self.click("#send")
        self.wait("#receipt")
        return dict(json.loads(self.read("#receipt-text")))


def _and_wait(page: Page, act: Callable[[], None]) -> None:
    with page.expect_event("load", timeout=WAIT):
        act()


@contextmanager
def person(
    browser: Browser,
    base: str,
    language: str = "en",
    size: Size = "desktop",
    scheme: Scheme = "light",
    cookies: Mapping[str, str] | None = None,
) -> Iterator[Person]:
    """A browser of one person, as large, dark and French as they have it."""
    width, height = SIZES[size]

    def start() -> Page:
        context = browser._tab.context.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            locale=language,
            has_touch=size != "desktop",
        )
        context.add_init_script(RECORD_VIOLATIONS)
        context.add_cookies([{"name": name, "value": value, "url": base} for name, value in (cookies or {}).items()])
        return context.new_page()

    tab = browser.do(start)
    try:
        yield Person(browser, tab, base, language)
    finally:
        browser.do(tab.context.close)
