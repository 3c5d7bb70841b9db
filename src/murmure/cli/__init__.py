"""The command line: one file per command. Nothing here is heavy; each command imports what it needs when it runs."""

from __future__ import annotations

import click

from murmure import __version__
from murmure.cli.advise import advise
from murmure.cli.attack import attack
from murmure.cli.audit import audit
from murmure.cli.certify import certify
from murmure.cli.class_room import class_room
from murmure.cli.commands import MurmureGroup
from murmure.cli.completion import completion
from murmure.cli.demo import demo
from murmure.cli.econometrics import command_forms, model_command
from murmure.cli.estimate import estimate
from murmure.cli.language import help_text, section_title
from murmure.cli.lectures import lectures
from murmure.cli.ledger import ledger
from murmure.cli.new import new
from murmure.cli.party import party
from murmure.cli.poll import poll
from murmure.cli.predict import predict
from murmure.cli.query import query
from murmure.cli.sanitise import sanitise
from murmure.cli.schema import schema
from murmure.cli.serve import serve
from murmure.cli.study import study
from murmure.cli.train import train
from murmure.show.phrase import Phrase

SECTIONS = (Phrase("Commands"), Phrase("Figures from sums (econometrics)"))
ALIASES = {"sanitize": "sanitise"}  # a second spelling, accepted everywhere and not listed


class MainGroup(MurmureGroup):
    """The commands in two lists, since one would be too long to read."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*self.commands, *command_forms()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = ALIASES.get(cmd_name, cmd_name)
        return super().get_command(ctx, name) or model_command(name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        lines = {name: self.commands[name].get_short_help_str(100) for name in sorted(self.commands)}
        forms = sorted(command_forms().items())
        models = {name: help_text(form.command.about) for name, form in forms if form.command}
        width = max(map(len, (*lines, *models)))
        for title, section in zip(SECTIONS, (lines, models), strict=True):
            with formatter.section(section_title(title)):
                formatter.write_dl([(name.ljust(width), about) for name, about in section.items()])


@click.group(
    cls=MainGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(
    __version__, message="%(prog)s %(version)s", prog_name="murmure", help="Show the version and exit."
)
@click.pass_context
def main(ctx: click.Context) -> None:
    """Statistics about people without anyone having to see the people.

    \b
    A first look; a folder to start from:   murmure demo; murmure new table
    A lesson: a room answers by telephone:  murmure class
    Which mechanism, for how many people?   murmure advise --labels no,yes --epsilon 1 --people 1000
    A poll by coins, dice or cards:         murmure poll design --question "..." --people 500 --margin 8
    What does it really protect?            murmure certify GRR --categories 4 --epsilon 1
    A table, randomised row by row:         murmure sanitise people.csv --schema s.toml --epsilon 1 -o out.parquet
    What does the crowd say?                murmure estimate out.parquet
    One question, a noisy answer:           murmure query mean people.csv --column age --schema s.toml --epsilon 1
    A model, and what it cost:              murmure train linear d.csv --target y --schema s.toml --epsilon 1 -o m.json
    A regression, exact:                    murmure ols "stay ~ age + ward" visits.parquet
    A sum over rows that nobody shows:      murmure study --help; murmure party --help

    Every command takes --json and then prints JSON and nothing else.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


# Models of econometrics bring their commands along; these have a file each.
OTHERS = (
    advise,
    attack,
    audit,
    certify,
    class_room,
    completion,
    demo,
    estimate,
    lectures,
    ledger,
    new,
    party,
    poll,
    predict,
    query,
    sanitise,
    schema,
    serve,
    study,
    train,
)
for command in OTHERS:
    main.add_command(command)

__all__ = ["main"]
