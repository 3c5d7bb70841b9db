"""The browser of this process, and pages opened in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.pages import chromium
from tests.pages.browser import Browser, OpenPage


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One for each process of pytest-xdist, started when the first test asks for it."""
    browser = Browser(chromium.find_or_skip())
    yield browser
    browser.close()


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., OpenPage]]:
    """open_page(source, size=..., scheme=...): source is HTML text, the path of a file, or an address (http://...).

    One page is open at a time.
    """

    def open_source(source: str | Path, **how: Any) -> OpenPage:
        if isinstance(source, str) and not source.startswith("http://"):
            path = tmp_path / "page.html"
            path.write_text(source, encoding="utf-8")
            source = path
        return browser.open(source.as_uri() if isinstance(source, Path) else source, **how)

    yield open_source
    browser.leave()
