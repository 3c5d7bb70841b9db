"""Faults of today's pages that await repair. A page that has none any more must leave this list: its test says so.

By page: a part of each fault's text. Everything else that is found on the page fails its test.
"""

from __future__ import annotations

from tests.cli.test_econometrics import CALLS

NO_FRENCH = "the page is in 'en', not in 'fr'"
WIDE = "wider than the telephone"
SCROLLS = "axe scrollable-region-focusable"  # a box that scrolls sideways, and that the keyboard cannot reach
RELOADS = "axe meta-refresh"  # a page that reloads itself loses the place of whoever reads it with a screen reader

KNOWN = {
    "demo": (SCROLLS,),
    "study result of a model": (SCROLLS,),
    "live, gathering": (RELOADS,),
    "live, running": (RELOADS,),
    **dict.fromkeys(("ols with noise", "ols rehearsed", *CALLS), (NO_FRENCH, WIDE)),
}


def of(page: str) -> tuple[str, ...]:
    return KNOWN.get(page, ())
