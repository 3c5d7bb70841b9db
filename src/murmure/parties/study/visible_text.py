"""Text that somebody else wrote, as it is shown: nothing in it moves the cursor, turns the line around or hides."""

from __future__ import annotations

SPACES = "\u00a0\u202f"  # of French, which Python does not call printable


def visible(text: str) -> str:
    """Control characters, marks of direction and the like as their escapes: \\x1b, \\u202e."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in SPACES else letter.encode("unicode_escape", "replace").decode()
        for letter in text
    )
