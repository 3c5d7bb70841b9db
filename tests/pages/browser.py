"""One Chromium, and the pages that tests open in it: what they complain about, and what axe says of them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, Request, Route, sync_playwright

Size = Literal["desktop", "telephone"]
Scheme = Literal["light", "dark"]
SIZES: dict[Size, tuple[int, int]] = {"desktop": (1280, 900), "telephone": (390, 844)}
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
PICTURES = "MURMURE_PICTURES"
FLAGS = (
    "--no-sandbox",  # root cannot have one; the pages are our own
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # a page that asks another host is seen, not served
)
# The policy's own event says which directive was violated; it is kept where the page cannot miss it.
RECORD_VIOLATIONS = """
window.policyViolations = [];
document.addEventListener("securitypolicyviolation",
    event => window.policyViolations.push(`${event.effectiveDirective} ${event.blockedURI}`));
"""
# preload would fetch style sheets again, and its requests would look like the page's.
RUN_AXE = """async ([only, without]) => {
    const options = {resultTypes: ["violations"], preload: false, rules: {}};
    if (only.length) options.runOnly = only;
    for (const rule of without) options.rules[rule] = {enabled: false};
    const results = await axe.run(document, options);
    return results.violations.flatMap(violation => violation.nodes.map(node => [
        violation.id, node.impact || violation.impact, node.target.join(" "), node.html,
        [...node.any, ...node.all, ...node.none].map(check => check.message).join("; "),
    ]));
}"""
COLOUR_RULES = ("color-contrast", "link-in-text-block")
# What the contrast of a text follows from: its own style, and the backgrounds below it.
TEXT_STYLES = """() => {
    const backgrounds = element => {
        if (!element) return [];
        const {backgroundColor, backgroundImage, opacity} = getComputedStyle(element);
        const own = [backgroundColor, backgroundImage, opacity].join();
        return [...(own === "rgba(0, 0, 0, 0),none,1" ? [] : [own]), ...backgrounds(element.parentElement)];
    };
    const style = element => {
        const {color, fill, fontSize, fontWeight, textDecorationLine} = getComputedStyle(element);
        const own = [element.localName, color, fill, fontSize, fontWeight, textDecorationLine];
        return [...own, ...backgrounds(element)].join(" ");
    };
    const hasText = element => [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    const elements = [...document.body.querySelectorAll("*")];
    return elements.filter(element => hasText(element) && element.checkVisibility()).map(style);
}"""
REPEATED_IDS = """() => {
    const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
    return [...new Set(ids.filter((id, place) => ids.indexOf(id) !== place))];
}"""


class Browser:
    """Chromium without a window, with one tab, driven from a thread of its own.

    Playwright leaves its event loop marked as running in the thread that uses it, and asyncio.run would refuse to start
    there: in the other tests of this process. One tab for all pages, one after the other, keeps its process, which has
    compiled axe already: a new one for each page would take a third more time.
    """

    def __init__(self, path: str) -> None:
        self._thread = ThreadPoolExecutor(1, "browser")
        self._playwright: Any = None
        self._open: OpenPage | None = None
        try:
            self._tab: Page = self.do(self._start, path)
        except BaseException:
            self.close()
            raise

    def _start(self, path: str) -> Page:
        self._playwright = sync_playwright().start()
        tab = self._playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS).new_page()
        tab.add_init_script(RECORD_VIOLATIONS)
        return tab

    def do(self, work: Callable[..., Any], *args: Any) -> Any:
        """work(*args) in the browser's thread, where everything of Playwright must be called."""
        return self._thread.submit(work, *args).result()

    def open(self, address: str, size: Size = "desktop", scheme: Scheme = "light") -> OpenPage:
        """The page at this address, in place of the one before."""
        self.leave()
        self._open = OpenPage(self, self._tab, address)
        self._open.show(size, scheme)
        self._open.load()
        return self._open

    def leave(self) -> None:
        """Whatever the open page still does is not told of the next one, which finds no cookie of it either."""
        if self._open is not None:
            self._open.leave()
            self._open = None

    def close(self) -> None:
        if self._playwright is not None:
            self.do(self._playwright.stop)
        self._thread.shutdown()


class OpenPage:
    """A page that is loaded once. `show` changes size and colours, and nothing is loaded again."""

    def __init__(self, browser: Browser, tab: Page, address: str) -> None:
        self._browser, self._tab, self._address = browser, tab, address
        self._complaints: list[str] = []
        self._loads = 0
        self._listeners: dict[Any, Callable[[Any], None]] = {
            "console": lambda message: self._complain("console", message.text, message.type == "error"),
            "pageerror": lambda error: self._complain("script", str(error)),
            "request": lambda asked: self._complain("request", asked.url, not self._may_ask(asked)),
            "requestfailed": lambda asked: self._complain("failed", asked.url, not self._is_reload(asked)),
        }

    def load(self) -> None:
        self.do(self._load)

    def _load(self, tab: Page) -> None:
        for event, listener in self._listeners.items():
            tab.on(event, listener)
        tab.route(lambda url: url == self._address, self._load_once)
        answer = tab.goto(self._address)
        if answer is not None and answer.status >= 400:
            self._complain("failed", f"{answer.status} {answer.url}")

    def leave(self) -> None:
        self.do(self._leave)

    def _leave(self, tab: Page) -> None:
        for event, listener in self._listeners.items():
            tab.remove_listener(event, listener)
        tab.unroute_all()
        tab.goto("about:blank")
        tab.context.clear_cookies()

    def _complain(self, kind: str, text: str, wrong: bool = True) -> None:
        if wrong:
            self._complaints.append(f"{kind}: {text}")

    def _is_reload(self, asked: Request) -> bool:
        return asked.is_navigation_request() and asked.url == self._address

    def _may_ask(self, asked: Request) -> bool:
        """For itself; a page that is served may ask its own server too."""
        page, other = urlsplit(self._address), urlsplit(asked.url)
        served = page.scheme in ("http", "https") and page[:2] == other[:2]
        return served or self._is_reload(asked) or other.scheme in ("data", "blob")

    def _load_once(self, route: Route) -> None:
        """A page that reloads itself would vanish while it is looked at: its later loads are answered "no content"."""
        self._loads += route.request.is_navigation_request()
        if self._loads > 1 and route.request.is_navigation_request():
            route.fulfill(status=204)
        else:
            route.continue_()

    def do(self, work: Callable[[Page], Any]) -> Any:
        """Whatever else Playwright can do with the page."""
        return self._browser.do(work, self._tab)

    def evaluate(self, script: str, argument: Any = None) -> Any:
        return self.do(lambda page: page.evaluate(script, argument))

    def show(self, size: Size, scheme: Scheme) -> None:
        width, height = SIZES[size]
        self.do(lambda page: page.set_viewport_size({"width": width, "height": height}))
        self.do(lambda page: page.emulate_media(color_scheme=scheme))

    def complaints(self) -> list[str]:
        """Console errors, errors of scripts, requests to elsewhere or that failed, violations of the page's policy."""
        return [*self._complaints, *(f"policy: {text}" for text in self.evaluate("window.policyViolations"))]

    def serious(self, only: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> list[str]:
        """What axe calls serious or critical, by all its rules or by some: rule, element, and why."""
        if not self.evaluate("'axe' in window"):
            self.evaluate(AXE_SCRIPT)
        return [
            " ".join(f"axe {rule}: {target} ({why}) {html[:200]}".split())
            for rule, impact, target, html, why in self.evaluate(RUN_AXE, [only, without])
            if impact in ("serious", "critical")
        ]

    def text_styles(self) -> set[str]:
        """Colours, sizes and backgrounds of the visible texts: axe need not look at the same ones twice."""
        return set(self.evaluate(TEXT_STYLES))

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        return self.evaluate("Math.max(0, document.scrollingElement.scrollWidth - window.innerWidth)")

    def repeated_ids(self) -> list[str]:
        return self.evaluate(REPEATED_IDS)

    def text(self) -> str:
        """What a reader sees."""
        return self.evaluate("document.body.innerText")

    def save_picture(self, name: str) -> None:
        """The whole page as NAME.png in the folder $MURMURE_PICTURES; without the variable nothing happens."""
        if folder := os.environ.get(PICTURES):
            path = Path(folder) / f"{re.sub(r'[^a-z0-9]+', '-', name.lower())}.png"
            self.do(lambda page: page.screenshot(path=path, full_page=True))
