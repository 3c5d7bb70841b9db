"""Text that somebody else wrote, as it is shown: nothing in it moves the cursor, reverses the line or is hidden."""

from __future__ import annotations

FRENCH_SPACES = "\u00a0\u202f"  # French writes them in numbers and quotation marks; Python calls them unprintable


def is_visible(letter: str) -> bool:
    return letter.isprintable() or letter in FRENCH_SPACES


def visible(text: str) -> str:
    """Control characters, direction marks and the like as their escapes: \\x1b, \\u202e."""
    return "".join(
        letter if is_visible(letter) else letter.encode("unicode_escape", "replace").decode() for letter in text
    )
