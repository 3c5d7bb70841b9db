"""What a command prints: JSON, or text on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from murmure.run.report.number_format import NO_BREAK_SPACE

if TYPE_CHECKING:
    from rich.console import Console

PLACEHOLDER = "\ue000"  # a private-use letter that replaces no-break spaces while rich breaks lines


def print_json(value: Any) -> None:
    """JSON and nothing else; plain ASCII, no NaN."""
    click.echo(json.dumps(value, indent=2, allow_nan=False))


def console() -> Console:
    """Colours only on a terminal, NO_COLOR respected (by rich); what people typed is never parsed as markup.

    rich breaks lines at every space, including no-break spaces. They are therefore replaced by a letter before lines
    are broken, and put back afterwards.
    """
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    class Unbroken(Console):
        shown_as = NO_BREAK_SPACE

        def render_str(self, text: str, **how: Any) -> Text:
            return super().render_str(text.replace(NO_BREAK_SPACE, PLACEHOLDER), **how)

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            if isinstance(renderable, Text) and NO_BREAK_SPACE in renderable.plain:
                renderable = renderable.copy()
                renderable.plain = renderable.plain.replace(NO_BREAK_SPACE, PLACEHOLDER)
            for text, style, control in super().render(renderable, options):
                yield Segment(text.replace(PLACEHOLDER, self.shown_as), style, control)

    out = Unbroken(markup=False, emoji=False, highlight=False)
    # Other encodings may lack the no-break space and letters of labels: replace them rather than fail.
    if not out.encoding.lower().startswith("utf"):
        out.shown_as = " "
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="replace")
    return out


@contextmanager
def no_trailing_blanks(out: Console) -> Iterator[None]:
    """Text printed inside the block has no blanks at the ends of lines."""
    with out.capture() as captured:
        yield
    out.file.write("\n".join(line.rstrip(" ") for line in captured.get().split("\n")))
