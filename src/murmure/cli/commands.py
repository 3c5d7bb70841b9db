"""Commands and groups whose errors are one message and a hint: on stderr or, with --json, as JSON on stdout."""

from __future__ import annotations

import atexit
import copy
import difflib
import gc
import os
import re
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

from murmure.catalogue import persisted_name
from murmure.cli.language import echo, help_text, lang_option, section_title, spoken_language
from murmure.cli.option_words import in_option_sentences, in_options
from murmure.cli.terminal import print_json
from murmure.core.errors import CannotWrite, MurmureError, Phrase, shorten
from murmure.show.language import LanguageCode, language
from murmure.show.phrase import Several

EXIT_USAGE = 2  # the exit code of every error that the caller can correct
EXIT_CLOSED_PIPE = 141  # 128 + SIGPIPE, as of other programs: 0 and 1 would be read as a verdict of `murmure audit`


class UsageError(click.UsageError):
    """An option that cannot be right, with a hint: a template and its fields, as in a MurmureError."""

    def __init__(self, template: str, /, hint: str | None = None, **fields: Any) -> None:
        super().__init__(Phrase(template, **fields))
        self.hint = None if hint is None else Phrase(hint, **fields)


def error_fields(error: MurmureError | click.ClickException, lang: LanguageCode | None = None) -> dict[str, str | None]:
    """The type of an error, what is wrong, and a hint, in a language: the keys of --json."""
    say, ctx = language(lang).say, getattr(error, "ctx", None)
    message, hint = _message(error), getattr(error, "hint", None)
    if isinstance(error, MurmureError):
        # CannotWrite names a file, which may look like a parameter
        if ctx is None or isinstance(error, CannotWrite):
            return {"type": persisted_name(error), "message": say(message), "hint": hint and say(hint)}
        arguments = [param.name for param in ctx.command.params if isinstance(param, click.Argument) and param.name]
        texts = [
            text and in_options(say(in_option_sentences(text, ctx.params)), ctx.params, arguments)
            for text in (message, hint)
        ]
        return {"type": persisted_name(error), "message": texts[0], "hint": texts[1]}
    if isinstance(error, click.NoSuchOption):
        similar = difflib.get_close_matches(error.option_name, error.possibilities or (), 1, 0.7)
        hint = Phrase("did you mean {close}?", close=similar[0]) if similar else None
    if hint is None and ctx is not None:
        hint = Phrase("{command} --help shows the options", command=ctx.command_path)
    kind = "UsageError" if isinstance(error, UsageError) else persisted_name(error)
    text = say(message)
    return {"type": kind, "message": text if text.endswith((".", "?")) else text + ".", "hint": hint and say(hint)}


def _message(error: MurmureError | click.ClickException) -> str:
    """What is wrong: a phrase, or a sentence of click's, which is in the language already."""
    if isinstance(error, click.NoSuchOption):
        return Phrase("there is no option {option}.", option=error.option_name)
    if isinstance(error.message, Phrase):
        if isinstance(error, click.BadParameter) and error.param is not None:
            where = error.param.get_error_hint(error.ctx)
            return Phrase("Invalid value for {param_hint}: {message}", param_hint=where, message=error.message)
        return error.message
    assert isinstance(error, click.ClickException)
    return re.sub(r"[ \t\n]+", " ", error.format_message())  # click lists choices a line each


def print_error(error: MurmureError | click.ClickException, as_json: bool) -> int:
    if as_json:
        print_json({"error": error_fields(error, "en")})
        return EXIT_USAGE
    fields = error_fields(error)
    echo(Phrase("Error: {message}", message=fields["message"]))
    if fields["hint"]:
        echo(Phrase("  Hint: {hint}", hint=fields["hint"]))
    return EXIT_USAGE


class ClosedPipe(Exception):
    """The reader of the output has gone. It is not an OSError: click would end with 1, which is a verdict of audits."""


@contextmanager
def closed_pipe_apart() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise ClosedPipe from error
    except SystemExit as left:  # rich leaves like this
        if isinstance(left.__context__, BrokenPipeError):
            raise ClosedPipe from left
        raise


def discard_output() -> None:
    """What is left in the buffer would fail again when Python exits: send it nowhere."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def end_broken_output(error: OSError) -> int:
    """The disk is full, or the reader of a pipe has gone. The second is ordinary, and is not reported."""
    discard_output()
    if isinstance(error, BrokenPipeError):
        return EXIT_CLOSED_PIPE
    reason = Phrase("cannot write the output: {reason}.", reason=error.strerror or str(error))
    echo(Phrase("Error: {message}", message=reason))
    return EXIT_USAGE


def abort_on_signals() -> None:
    """SIGTERM and SIGHUP end the command as Ctrl-C does, so that no half-written file stays behind."""

    def stop(number: int, frame: object) -> None:
        raise click.Abort

    with suppress(ValueError, AttributeError):  # not the main thread; not on this system
        for name in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(name) == signal.SIG_DFL:
                signal.signal(name, stop)


def skip_last_collection() -> None:
    """Python looks for cycles once more when it ends, though the system takes back all memory anyway: with what a
    party imports, that takes longer than all that it does after it has joined a study."""
    atexit.unregister(gc.freeze)  # once, however many commands run in this process
    atexit.register(gc.freeze)


class MurmureCommand(click.Command):
    """An error of the caller becomes one message and exit code 2; a bug keeps its traceback."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with closed_pipe_apart():  # --help prints here
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with closed_pipe_apart():
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
        with spoken_language(given):
            if not standalone_mode:
                return super().main(given, prog_name, complete_var, False, **extra)
            self._run(given, prog_name, complete_var, **extra)

    def _run(self, given: list[str], prog_name: str | None, complete_var: str | None, **extra: Any) -> NoReturn:
        abort_on_signals()
        skip_last_collection()
        try:
            try:
                code = super().main(given, prog_name, complete_var, False, **extra)
            except (MurmureError, click.ClickException) as error:
                code = print_error(error, "--json" in given)
            except click.Abort:
                echo(Phrase("Stopped."))
                code = 130
            # Flush here: a full disk or a closed pipe is then reported like any other error of the output.
            if sys.stdout is not None:
                sys.stdout.flush()
        except OSError as error:
            if error.filename is not None:  # not the output, but a file: a bug
                raise
            code = end_broken_output(error)
        except ClosedPipe:
            discard_output()
            code = EXIT_CLOSED_PIPE
        sys.exit(code if isinstance(code, int) else 0)

    # -- help, in the language

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """With --lang, before --help."""
        params = super().get_params(ctx)
        if any("--lang" in param.opts for param in params):
            return params
        place = len(params) - (self.get_help_option(ctx) is not None)
        return [*params[:place], lang_option, *params[place:]]

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        option = super().get_help_option(ctx)
        if option is not None:  # click keeps the option, in the language in which it was made
            option.help = Phrase("Show this message and exit.")
        return option

    def get_short_help_str(self, limit: int = 45) -> str:
        return help_text(self.short_help) or super().get_short_help_str(limit)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(help_text(self.help))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = []
        for param in self.get_params(ctx):
            if isinstance(param, click.Option):
                shown = copy.copy(param)
                shown.help = help_text(param.help)
                records.append(shown.get_help_record(ctx))
        with formatter.section(section_title(Phrase("Options"))):
            formatter.write_dl([record for record in records if record is not None])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(help_text(self.epilog))


class MurmureGroup(MurmureCommand, click.Group):
    """A group that suggests the nearest command, and without any shows its help."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)  # click would raise it as the text of an error
            ctx.exit(EXIT_USAGE)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        MurmureCommand.format_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        lines = [(name, command.get_short_help_str(100)) for name, command in commands.items() if command is not None]
        with formatter.section(section_title(Phrase("Commands"))):
            formatter.write_dl(lines)

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
    return Phrase("did you mean {close}?", close=either(by_lower[k] for k in close[:3])) if close else None


def either(items: Iterable[Any]) -> Several:
    """A list of which one holds: "a, b or c"."""
    return Several(items, Phrase(" or "))
