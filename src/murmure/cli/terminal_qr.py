"""A QR code in a terminal: two rows of modules in a line, black on white whatever the terminal's own colours are."""

from __future__ import annotations

import os
import shutil
from itertools import groupby, zip_longest

from murmure.core.errors import MissingExtra, Phrase

BORDER = 4  # modules: the quiet zone of the standard
# Numbers 16 and 231 of the 256 colours are black and white in every palette; the first sixteen follow the theme.
INK, PAPER = 16, 231
UPPER_HALF = "\u2580"


def qr_lines(link: str) -> list[str]:
    """Each line sets its colours and takes them back."""
    try:
        import segno
    except ImportError:
        raise MissingExtra(Phrase("a QR code"), Phrase("segno"), "collector") from None
    rows = [list(row) for row in segno.make(link, micro=False, error="m").matrix_iter(border=BORDER)]
    blank = [0] * len(rows[0])
    return [_line(list(zip(*pair, strict=True))) for pair in zip_longest(rows[::2], rows[1::2], fillvalue=blank)]


def _line(modules: list[tuple[int, int]]) -> str:
    """The upper module is the ink of a half block, the lower one its paper; colours are set where they change."""
    line = ""
    for (up, down), run in groupby(modules):
        colours = f"38;5;{INK if up else PAPER};48;5;{INK if down else PAPER}"
        line += f"\x1b[{colours}m{UPPER_HALF * len(list(run))}"
    return line + "\x1b[0m"


def fits_terminal(link: str) -> bool:
    """Whether this terminal knows colours and is wide enough; a code that is wrapped cannot be read."""
    import segno

    width = segno.make(link, micro=False, error="m").symbol_size(border=BORDER)[0]
    return os.environ.get("TERM") != "dumb" and int(width) <= shutil.get_terminal_size().columns
