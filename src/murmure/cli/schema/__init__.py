"""`murmure schema`: what each column may contain, drafted from data, shown, and checked against data.

A draft is read from the data, so it reveals something about the people in them: the largest income is one person's.
Every drafted column is marked `from_data = true`, and only these commands accept a schema with the mark. They are also
the only ones that look how a file is written (detection/); what they find is written into the schema's [file].
"""

from __future__ import annotations

import click

from murmure.cli.commands import MurmureGroup
from murmure.cli.schema.check import check
from murmure.cli.schema.init import init
from murmure.cli.schema.show import show


@click.group(cls=MurmureGroup, short_help="Say what each column of a table may contain.")
def schema() -> None:
    """Say what each column of a table may contain: public bounds and labels, in a TOML file.

    \b
    murmure schema init people.xlsx --guide     questions that lead to a schema
    murmure schema init people.csv              a draft to correct by hand
    murmure schema show schema.toml
    murmure schema check schema.toml people.csv

    Each of them takes --json.
    """


for command in (init, show, check):
    schema.add_command(command)
