"""A link as a QR code: SVG without colours of its own, so that it is dark on light in any theme."""

from __future__ import annotations

from typing import Any

from murmure.core.errors import MissingExtra, Phrase

BORDER = 2  # modules around it; its white card adds the rest of the quiet zone


def qr_svg(link: str) -> Any:
    """An <svg> to put into a page; what it says is in the link beside it, so it is hidden from screen readers."""
    from markupsafe import Markup

    try:
        import segno
    except ImportError:
        raise MissingExtra(Phrase("a QR code"), Phrase("segno"), "collector") from None
    code = segno.make(link, micro=False, error="m")
    size = code.symbol_size(border=BORDER)[0]
    path = "".join(
        f"M{x} {y}h1v1h-1z"
        for y, row in enumerate(code.matrix_iter(border=BORDER))
        for x, dark in enumerate(row)
        if dark
    )
    shape = f'<rect width="{size}" height="{size}" fill="#fff"/><path d="{path}" fill="#111"/>'
    return Markup(
        f'<svg class="qr" viewBox="0 0 {size} {size}" shape-rendering="crispEdges" aria-hidden="true">{shape}</svg>'
    )
