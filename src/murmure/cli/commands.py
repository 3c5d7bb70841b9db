"""Commands and groups whose errors are one message and a hint: on stderr or, with --json, as JSON on stdout."""

from __future__ import annotations

import difflib
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import click

from murmure.catalogue import persisted_name
from murmure.cli.option_words import in_options
from murmure.cli.terminal import print_json
from murmure.core.errors import CannotWrite, MurmureError, Phrase, shorten

EXIT_USAGE = 2  # the exit code of every error that the caller can correct


class UsageError(click.UsageError):
    """An option that cannot be right, with a hint: a template and its fields, as in a MurmureError."""

    def __init__(self, template: str, /, hint: str | None = None, **fields: Any) -> None:
        super().__init__(Phrase(template, **fields))
        self.hint = None if hint is None else Phrase(hint, **fields)


def error_fields(error: MurmureError | click.ClickException) -> dict[str, str | None]:
    """The type of an error, what is wrong, and a hint: the keys of --json."""
    hint = getattr(error, "hint", None)
    ctx = getattr(error, "ctx", None)
    if isinstance(error, MurmureError):
        message: str = error.message
        # CannotWrite names a file, which may look like a parameter
        if ctx is not None and not isinstance(error, CannotWrite):
            message, hint = in_options(message, ctx.params), hint and in_options(hint, ctx.params)
        return {"type": persisted_name(error), "message": message, "hint": hint}
    message = " ".join(error.format_message().split())  # click lists choices a line each
    if isinstance(error, click.NoSuchOption):
        message = f"there is no option {error.option_name}."
        similar = difflib.get_close_matches(error.option_name, error.possibilities or (), 1, 0.7)
        hint = f"did you mean {similar[0]}?" if similar else None
    if hint is None and ctx is not None:
        hint = f"{ctx.command_path} --help shows the options"
    kind = "UsageError" if isinstance(error, UsageError) else persisted_name(error)
    return {"type": kind, "message": message if message.endswith((".", "?")) else message + ".", "hint": hint}


def print_error(error: MurmureError | click.ClickException, as_json: bool) -> int:
    fields = error_fields(error)
    if as_json:
        print_json({"error": fields})
    else:
        click.echo(f"Error: {fields['message']}" + (f"\n  Hint: {fields['hint']}" if fields["hint"] else ""), err=True)
    return EXIT_USAGE


def end_broken_output(error: OSError) -> int:
    """The disk is full, or the reader of a pipe has gone. The second is ordinary, and is not reported."""
    # What is left in the buffer would fail again when Python exits: send it nowhere.
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    if isinstance(error, BrokenPipeError):
        return 1
    click.echo(f"Error: cannot write the output: {error.strerror or error}.", err=True)
    return EXIT_USAGE


def abort_on_signals() -> None:
    """SIGTERM and SIGHUP end the command as Ctrl-C does, so that no half-written file stays behind."""

    def stop(number: int, frame: object) -> None:
        raise click.Abort

    with suppress(ValueError, AttributeError):  # not the main thread; not on this system
        for name in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(name) == signal.SIG_DFL:
                signal.signal(name, stop)


class MurmureCommand(click.Command):
    """An error of the caller becomes one message and exit code 2; a bug keeps its traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except MurmureError as error:
            if not hasattr(error, "ctx"):
                error.ctx = ctx  # type: ignore[attr-defined]  # as click does for its own errors
            raise

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        # click alone would print errors in its own format: it runs with standalone mode off, and errors come here.
        given = list(sys.argv[1:] if args is None else args)
        if not standalone_mode:
            return super().main(given, prog_name, complete_var, False, **extra)
        abort_on_signals()
        try:
            try:
                code = super().main(given, prog_name, complete_var, False, **extra)
            except (MurmureError, click.ClickException) as error:
                code = print_error(error, "--json" in given)
            except click.Abort:
                click.echo("Stopped.", err=True)
                code = 130
            # Flush here: a full disk or a closed pipe is then reported like any other error of the output.
            if sys.stdout is not None:
                sys.stdout.flush()
        except OSError as error:
            if error.filename is not None:  # not the output, but a file: a bug
                raise
            code = end_broken_output(error)
        sys.exit(code if isinstance(code, int) else 0)


class MurmureGroup(MurmureCommand, click.Group):
    """A group that suggests the nearest command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            names = self.list_commands(ctx)
            raise UsageError(
                "there is no command {arg}.",
                did_you_mean(args[0], names) or Phrase("the commands are {names}", names=", ".join(names)),
                arg=shorten(args[0]),
            )
        return super().resolve_command(ctx, args)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """ "did you mean GRR?", where a known name is similar."""
    # A part of a name comes before similar spelling: "response" finds HadamardResponse.
    by_lower = {k.lower(): k for k in known}
    lower = name.lower()
    close = [k for k in by_lower if len(lower) > 2 and (lower in k or k in lower)]
    close = close or difflib.get_close_matches(lower, by_lower, 3, 0.6)
    return Phrase("did you mean {close}?", close=" or ".join(by_lower[k] for k in close[:3])) if close else None
