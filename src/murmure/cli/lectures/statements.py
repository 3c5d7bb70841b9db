"""`murmure lectures statements`: what in the lectures needs a remark, and what holds."""

from __future__ import annotations

import click

from murmure.cli.commands import MurmureCommand
from murmure.cli.options import json_option
from murmure.cli.terminal import print_document, print_json


@click.command("statements", cls=MurmureCommand, short_help="Which statements hold, and which do not.")
@json_option
def list_statements(as_json: bool) -> None:
    """The statements of the lectures that are worth a remark: slips, conditions left out, and what does not hold."""
    from murmure.lectures.course.companion import Statements, shown_in
    from murmure.lectures.verdicts import VERDICTS

    if not as_json:
        print_document(Statements().document())
        return
    print_json(
        [
            {
                "number": number,
                "lecture": verdict.lecture,
                "statement": str(verdict.statement),
                "judgement": verdict.judgement,
                "right": str(verdict.right),
                "item": shown_in(number),
            }
            for number, verdict in VERDICTS.items()
        ]
    )
