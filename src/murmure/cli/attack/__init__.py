"""`murmure attack`: what an attacker really learns. Every file of this folder is one attack, found and not listed."""

from __future__ import annotations

import importlib
import pkgutil

import click

from murmure.cli.commands import MurmureGroup


class AttackGroup(MurmureGroup):
    """Attacks by the name of their file; each is imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(info.name.replace("_", "-") for info in pkgutil.iter_modules(__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"{__name__}.{cmd_name.replace('-', '_')}")
        return module.command  # type: ignore[no-any-return]


@click.group(cls=AttackGroup, short_help="How much an attacker really learns.")
def attack() -> None:
    """Attack a mechanism, a table or a sum: how often does the attacker succeed, and how often without the reports?

    Every attack says who attacks, what they see and know, and what guessing alone would give.
    """
