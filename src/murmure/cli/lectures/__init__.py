"""`murmure lectures`: the lectures redrawn, from the public functions of Murmure."""

from __future__ import annotations

import click

from murmure.cli.commands import MurmureGroup
from murmure.cli.lectures.list_items import list_items
from murmure.cli.lectures.run_items import run_items
from murmure.cli.lectures.sheet import sheet
from murmure.cli.lectures.statements import list_statements


@click.group(cls=MurmureGroup, short_help="The lectures redrawn: every figure, table and claim.")
def lectures() -> None:
    """Draw the figures of the five lectures again, and check what they claim.

    \b
    What there is:                  murmure lectures list
    One figure:                     murmure lectures run 000/warner-tree
    Everything, in a few minutes:   murmure lectures run all --quick
    What holds, and what does not:  murmure lectures statements
    The exercise sheet, to print:   murmure lectures sheet --solutions
    """


lectures.add_command(list_items)
lectures.add_command(run_items)
lectures.add_command(list_statements)
lectures.add_command(sheet)
