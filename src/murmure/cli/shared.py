"""What commands share: how people are heard (options), and how they are answered (tables, JSON, errors)."""

from __future__ import annotations

import csv
import difflib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import click

from murmure.catalogue import persisted_name
from murmure.cli.option_words import in_options
from murmure.core.errors import CannotWrite, MurmureError, shorten
from murmure.core.files import all_or_nothing as all_or_nothing
from murmure.core.files import cannot_write as cannot_write
from murmure.show.number_format import NO_BREAK_SPACE as NO_BREAK_SPACE
from murmure.show.number_format import bits as bits
from murmure.show.number_format import describe_domain as describe_domain
from murmure.show.number_format import format_number as format_number
from murmure.show.number_format import group_digits as group_digits

if TYPE_CHECKING:
    from rich.console import Console

    from murmure.core.domain import Domain

F = TypeVar("F", bound=Callable[..., Any])
MOST_NUMBERS = 1000
EXIT_USAGE = 2  # the exit code of every mistake that is the caller's
ASIDE = "\ue000"  # a letter that stands for the space at which no line breaks
DOMAIN_OPTIONS = ("--categories", "--labels", "--integers", "--interval")


# -- errors: one message and a way out, on stderr or, with --json, as JSON on stdout ----------------------------------


class UsageError(click.UsageError):
    """An option that cannot be meant, with a way out."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def explain(error: MurmureError | click.ClickException) -> dict[str, str | None]:
    """What kind, what is wrong, and a way out."""
    hint = getattr(error, "hint", None)
    ctx = getattr(error, "ctx", None)
    if isinstance(error, MurmureError):
        message = str(error).removesuffix(f"\n  Hint: {hint}")
        if ctx is not None and not isinstance(error, CannotWrite):  # whose message names a file, not a parameter
            message, hint = in_options(message, ctx.params), hint and in_options(hint, ctx.params)
        return {"type": persisted_name(error), "message": message, "hint": hint}
    message = " ".join(error.format_message().split())  # click lists choices a line each
    if isinstance(error, click.NoSuchOption):
        message = f"there is no option {error.option_name}."
        near = difflib.get_close_matches(error.option_name, error.possibilities or (), 1, 0.7)
        hint = f"did you mean {near[0]}?" if near else None
    if hint is None and ctx is not None:
        hint = f"{ctx.command_path} --help shows the options"
    kind = "UsageError" if isinstance(error, UsageError) else persisted_name(error)
    return {"type": kind, "message": message if message.endswith((".", "?")) else message + ".", "hint": hint}


def complain(error: MurmureError | click.ClickException, as_json: bool) -> int:
    said = explain(error)
    if as_json:
        print_json({"error": said})
    else:
        click.echo(f"Error: {said['message']}" + (f"\n  Hint: {said['hint']}" if said["hint"] else ""), err=True)
    return EXIT_USAGE


def cannot_print(error: OSError) -> int:
    """The disk is full, or whoever read has gone: which is no error, and nothing to talk about."""
    with suppress(OSError, ValueError, AttributeError):  # what is left in the buffer would fail again at the end
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    if isinstance(error, BrokenPipeError):
        return 1
    click.echo(f"Error: cannot write the output: {error.strerror or error}.", err=True)
    return EXIT_USAGE


def tidy_when_stopped() -> None:
    """SIGTERM and SIGHUP end the command as Ctrl-C does: nothing half-written stays behind."""

    def stop(number: int, frame: object) -> None:
        raise click.Abort

    with suppress(ValueError, AttributeError):  # not the main thread; not on this system
        for name in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(name) == signal.SIG_DFL:
                signal.signal(name, stop)


class MurmureCommand(click.Command):
    """A mistake becomes one message and exit code 2; a bug is a bug and keeps its traceback."""

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
        given = list(sys.argv[1:] if args is None else args)
        if not standalone_mode:
            return super().main(given, prog_name, complete_var, False, **extra)
        tidy_when_stopped()
        try:
            try:
                code = super().main(given, prog_name, complete_var, False, **extra)
            except (MurmureError, click.ClickException) as error:
                code = complain(error, "--json" in given)
            except click.Abort:
                click.echo("Stopped.", err=True)
                code = 130
            if sys.stdout is not None:
                sys.stdout.flush()
        except OSError as error:
            if error.filename is not None:  # not the output, but a file: a bug
                raise
            code = cannot_print(error)
        sys.exit(code if isinstance(code, int) else 0)


class MurmureGroup(MurmureCommand, click.Group):
    """A group that proposes the nearest command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            names = self.list_commands(ctx)
            raise UsageError(
                f"there is no command {shorten(args[0])}.",
                did_you_mean(args[0], names) or f"the commands are {', '.join(names)}",
            )
        return super().resolve_command(ctx, args)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """ "did you mean GRR?", where something comes near."""
    by_lower = {k.lower(): k for k in known}
    low = name.lower()
    close = [k for k in by_lower if len(low) > 2 and (low in k or k in low)]
    close = close or difflib.get_close_matches(low, by_lower, 3, 0.6)
    return f"did you mean {' or '.join(by_lower[k] for k in close[:3])}?" if close else None


# -- answers ----------------------------------------------------------------------------------------------------------


def print_json(value: Any) -> None:
    """JSON and nothing else; plain ASCII, no NaN."""
    click.echo(json.dumps(value, indent=2, allow_nan=False))


def console() -> Console:
    """Colours only on a terminal, NO_COLOR respected (by rich); what people typed is never read as markup.

    rich breaks lines at any space, no-break ones too: so these stand aside, as a letter, until lines are broken.
    """
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    class Unbroken(Console):
        shown_as = NO_BREAK_SPACE

        def render_str(self, text: str, **how: Any) -> Text:
            return super().render_str(text.replace(NO_BREAK_SPACE, ASIDE), **how)

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            if isinstance(renderable, Text) and NO_BREAK_SPACE in renderable.plain:
                renderable = renderable.copy()
                renderable.plain = renderable.plain.replace(NO_BREAK_SPACE, ASIDE)
            for text, style, control in super().render(renderable, options):
                yield Segment(text.replace(ASIDE, self.shown_as), style, control)

    out = Unbroken(markup=False, emoji=False, highlight=False)
    if not out.encoding.lower().startswith("utf"):
        out.shown_as = " "
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="replace")
    return out


# -- options ----------------------------------------------------------------------------------------------------------


def _number(text: str) -> float:
    return float(text.strip().replace("_", ""))


def _steps(text: str) -> list[float]:
    """0.5:5:0.5 -> 0.5, 1.0, ..., 5.0, counted in decimals so that no step is lost to rounding."""
    first, last, step = (Decimal(part.strip()) for part in text.split(":"))
    if not (first.is_finite() and last.is_finite() and step.is_finite()) or step <= 0 or last < first:
        raise ValueError
    count = int((last - first) / step) + 1
    if count > MOST_NUMBERS:
        raise ValueError
    return [float(first + i * step) for i in range(count)]


class NumberList(click.ParamType):
    """1, or 0.5,1,2, or 0.5:5:0.5."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[float]:
        if not isinstance(value, str):
            return list(value)
        try:
            return _steps(value) if ":" in value else [_number(part) for part in value.split(",")]
        except (ValueError, InvalidOperation):
            self.fail(
                f"{shorten(value)} is neither a number (1), a list (0.5,1,2) nor a range FROM:TO:STEP (0.5:5:0.5) of "
                f"at most {MOST_NUMBERS} steps.",
                param,
                ctx,
            )


class OneOf(click.ParamType):
    """A name of a list, or the nearest; some have a second name."""

    def __init__(self, what: str, names: Sequence[str], also: Mapping[str, str] | None = None) -> None:
        self.name, self.names, self.also = what, tuple(names), dict(also or {})

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        name = self.also.get(value.lower(), value.lower())
        if name not in self.names:
            known = did_you_mean(value, self.names) or f"the {self.name}s are {', '.join(self.names)}"
            raise UsageError(f"there is no {self.name} {shorten(value)}.", known)
        return str(name)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in self.names if name.startswith(incomplete.lower())]


def rows_of_one_person(unit: str, rows: int | None, grows: str) -> int:
    """--unit and --rows-per-person, which belong together; grows: what grows with the rows."""
    if unit == "row":
        if rows is not None:
            raise UsageError("--rows-per-person is for --unit COLUMN: a row is one row.", "--unit patient, for example")
        return 1
    if rows is None:
        raise UsageError(
            f"--unit {unit} needs --rows-per-person: {grows} with the rows that one person has.",
            f"--unit {unit} --rows-per-person 3, for example; no more rows of one person are taken",
        )
    if rows < 1:
        raise UsageError(f"--rows-per-person must be at least 1, got {rows}.")
    return rows


class Whole(click.ParamType):
    """A whole number of people, as people write it: 100000, 100_000 or 1e5."""

    name = "people"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            exact = Decimal(str(value).replace("_", ""))
            if exact.is_finite() and exact == exact.to_integral_value() and 1 <= exact <= 10**15:
                return int(exact)
        except InvalidOperation:
            pass
        self.fail(f"{shorten(value)} is not a whole number from 1 to 1e15 (such as 100000 or 1e5).", param, ctx)


class Probability(click.ParamType):
    """0.25 or 1/4, taken at its exact value."""

    name = "probability"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        try:
            exact = Fraction(value)
            if 0 < exact < 1:
                return exact
        except (ValueError, ZeroDivisionError, TypeError, OverflowError):
            pass
        self.fail(f"{shorten(value)} is not a probability between 0 and 1, such as 0.25 or 1/4.", param, ctx)


class Bounds(click.ParamType):
    """LOW:HIGH."""

    name = "low:high"

    def __init__(self, kind: type[int] | type[float]) -> None:
        self.kind = kind

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int] | tuple[float, float]:
        try:
            low, high = (self.kind(part.strip()) for part in value.split(":"))
        except (ValueError, AttributeError):
            what = "whole numbers" if self.kind is int else "numbers"
            self.fail(f"{shorten(value)} is not a pair of {what} LOW:HIGH, such as 0:10.", param, ctx)
        return low, high


def require_options(who: str, missing: Sequence[str], one_of: Sequence[str], example: str) -> None:
    """Everything that is missing, named at once; `one_of` may be empty, and alone is for `domain_of` to say."""
    wanted = [*missing, *([f"one of {', '.join(one_of)}"] if one_of else [])]
    if missing:
        raise UsageError(f"{who} needs {', '.join(wanted[:-1])}{' and ' if wanted[:-1] else ''}{wanted[-1]}.", example)


def json_option(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")(command)


def domain_options(command: F) -> F:
    """The four ways to say what one person may answer. All of it is public, none of it is read off data."""
    for option in reversed(
        (
            click.option("--categories", type=int, metavar="K", help="One of K answers, numbered from 0."),
            click.option("--labels", metavar="A,B,...", help="One of these answers, such as no,yes."),
            click.option("--integers", type=Bounds(int), metavar="LOW:HIGH", help="A whole number between two bounds."),
            click.option("--interval", type=Bounds(float), metavar="LOW:HIGH", help="A real number between bounds."),
            click.option("--cells", type=int, metavar="N", help="Cells of the interval's grid.  [default: 1024]"),
        )
    ):
        command = option(command)
    return command


def domain_of(
    categories: int | None,
    labels: str | None,
    integers: tuple[int, int] | None,
    interval: tuple[float, float] | None,
    cells: int | None,
    default: str | None = None,
) -> Domain:
    """Exactly one of the four; `default` is for mechanisms that leave no choice."""
    given = [
        name
        for name, value in zip(DOMAIN_OPTIONS, (categories, labels, integers, interval), strict=True)
        if value is not None
    ]
    if cells is not None and interval is None:
        raise UsageError("--cells is the grid of an --interval, and there is none.", "add --interval LOW:HIGH")
    if not given and default is not None:
        labels = default
    elif len(given) != 1:
        what = "nothing says what one person may answer" if not given else f"{' and '.join(given)} exclude one another"
        raise UsageError(f"{what}.", "give one of --categories 4, --labels no,yes, --integers 0:10, --interval 0:1")
    from murmure.core.domain import Categories, Integers, Interval

    if labels is not None:
        return Categories(split_labels(labels))
    if categories is not None:
        return Categories(categories)
    if integers is not None:
        return Integers(*integers)
    assert interval is not None
    return Interval(*interval) if cells is None else Interval(*interval, cells=cells)


def split_labels(text: str) -> list[str]:
    """no,yes; a label that holds a comma stands in quotes, as in a CSV file."""
    labels = [label.strip() for label in next(csv.reader([text], skipinitialspace=True), [])]
    if not labels or not all(labels):
        raise UsageError(f"--labels holds an empty answer, got {shorten(text)}.", "write --labels no,yes")
    return labels
