"""The person's own browser, where there is one with a window."""

from __future__ import annotations

import subprocess
import sys


def has_window_browser() -> bool:
    """A browser that opens its own window; one that runs in the terminal would take the terminal over."""
    import webbrowser

    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    return type(browser) is not webbrowser.GenericBrowser


def open_in_browser(address: str) -> None:
    """In a separate process: the command does not wait for the browser."""
    subprocess.Popen(
        [sys.executable, "-m", "webbrowser", address],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
