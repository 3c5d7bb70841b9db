"""`murmure completion`: the script that lets a shell finish words."""

from __future__ import annotations

import click

from murmure.cli.commands import MurmureCommand
from murmure.cli.options import json_option
from murmure.cli.terminal import print_json

INSTALL = {
    "bash": "murmure completion bash > ~/.local/share/bash-completion/completions/murmure",
    "zsh": "murmure completion zsh > ~/.zfunc/_murmure   (with fpath+=~/.zfunc before compinit in ~/.zshrc)",
    "fish": "murmure completion fish > ~/.config/fish/completions/murmure.fish",
}


@click.command(cls=MurmureCommand, short_help="Print the script that lets a shell complete murmure.")
@click.argument("shell", type=click.Choice(list(INSTALL)), metavar="SHELL")
@json_option
@click.pass_context
def completion(ctx: click.Context, shell: str, as_json: bool) -> None:
    """Print the script that lets SHELL complete murmure's commands, options and mechanisms.

    \b
    bash   murmure completion bash > ~/.local/share/bash-completion/completions/murmure
    zsh    murmure completion zsh > ~/.zfunc/_murmure
    fish   murmure completion fish > ~/.config/fish/completions/murmure.fish

    A new shell then completes murmure. (zsh: with fpath+=~/.zfunc before compinit in ~/.zshrc.)
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(ctx.find_root().command, {}, "murmure", "_MURMURE_COMPLETE").source().strip()
    if as_json:
        print_json({"shell": shell, "script": script, "install": INSTALL[shell]})
    else:
        # The hint comes last: zsh reads "#compdef" on the first line only.
        click.echo(f"{script}\n\n# To install: {INSTALL[shell]}\n# then open a new shell.")
