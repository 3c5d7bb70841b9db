"""matplotlib, which is an extra: imported when something is drawn, with a hint where it is missing."""

from __future__ import annotations

from typing import Any

from murmure.core.errors import MissingExtra, Phrase


def pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra(Phrase("plotting"), "matplotlib", "plots") from None
    return plt
