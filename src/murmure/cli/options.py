"""Options that several commands take, and the types of their values."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from murmure.cli.commands import UsageError, did_you_mean
from murmure.core.errors import Phrase, shorten
from murmure.show.phrase import Several

if TYPE_CHECKING:
    from murmure.core.domain import Domain
    from murmure.core.file_format import FileFormat

F = TypeVar("F", bound=Callable[..., Any])
MAX_NUMBERS = 1000
DOMAIN_OPTIONS = ("--categories", "--labels", "--integers", "--interval")


# -- the types of values -----------------------------------------------------------------------------------------------


def _parse_steps(text: str) -> list[float]:
    """0.5:5:0.5 -> 0.5, 1.0, ..., 5.0, counted in decimals so that no step is lost to rounding."""
    first, last, step = (Decimal(part.strip()) for part in text.split(":"))
    if not (first.is_finite() and last.is_finite() and step.is_finite()) or step <= 0 or last < first:
        raise ValueError
    count = int((last - first) / step) + 1
    if count > MAX_NUMBERS:
        raise ValueError
    return [float(first + i * step) for i in range(count)]


class NumberList(click.ParamType):
    """1, or 0.5,1,2, or 0.5:5:0.5."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[float]:
        if not isinstance(value, str):
            return list(value)
        try:
            if ":" in value:
                return _parse_steps(value)
            return [float(part.strip().replace("_", "")) for part in value.split(",")]
        except (ValueError, InvalidOperation):
            problem = Phrase(
                "{value} is neither a number (1), a list (0.5,1,2) nor a range FROM:TO:STEP (0.5:5:0.5) of at most "
                "{most} steps.",
                value=shorten(value),
                most=MAX_NUMBERS,
            )
            self.fail(problem, param, ctx)


class OneOf(click.ParamType):
    """A name of a list, in any case; `aliases` are further spellings.

    missing, listing: how an error starts, before the unknown name and before all names.
    """

    name = "name"

    def __init__(
        self, missing: Phrase, listing: Phrase, names: Sequence[str], aliases: Mapping[str, str] | None = None
    ) -> None:
        self.missing, self.listing, self.names, self.aliases = missing, listing, tuple(names), aliases or {}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        name = self.aliases.get(value.lower(), value.lower())
        if name not in self.names:
            hint = did_you_mean(value, self.names) or Phrase(
                "{listing} {names}", listing=self.listing, names=", ".join(self.names)
            )
            raise UsageError("{missing} {value}.", hint, missing=self.missing, value=shorten(value))
        return str(name)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in self.names if name.startswith(incomplete.lower())]


class WholeNumber(click.ParamType):
    """A whole number of people, as people write it: 100000, 100_000 or 1e5."""

    name = "people"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            exact = Decimal(str(value).replace("_", ""))
            if exact.is_finite() and exact == exact.to_integral_value() and 1 <= exact <= 10**15:
                return int(exact)
        except InvalidOperation:
            pass
        problem = Phrase("{value} is not a whole number from 1 to 1e15 (such as 100000 or 1e5).", value=shorten(value))
        self.fail(problem, param, ctx)


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
        problem = Phrase("{value} is not a probability between 0 and 1, such as 0.25 or 1/4.", value=shorten(value))
        self.fail(problem, param, ctx)


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
            got = shorten(value)
            whole = Phrase("{value} is not a pair of whole numbers LOW:HIGH, such as 0:10.", value=got)
            problem = Phrase("{value} is not a pair of numbers LOW:HIGH, such as 0:10.", value=got)
            self.fail(whole if self.kind is int else problem, param, ctx)
        return low, high


def split_labels(text: str) -> list[str]:
    """no,yes; a label that contains a comma is in quotes, as in a CSV file."""
    labels = [label.strip() for label in next(csv.reader([text], skipinitialspace=True), [])]
    if not labels or not all(labels):
        raise UsageError("--labels holds an empty answer, got {got}.", "write --labels no,yes", got=shorten(text))
    return labels


def split_columns(text: str) -> list[str]:
    try:
        return split_labels(text)
    except UsageError:
        raise UsageError(
            "--columns holds an empty name, got {got!r}.", "write --columns age,income", got=text
        ) from None


# -- options that belong together --------------------------------------------------------------------------------------


def option_group(*options: Callable[[F], F]) -> Callable[[F], F]:
    """One decorator for several options; --help lists them in this order."""

    def decorate(command: F) -> F:
        for option in reversed(options):  # the decorator nearest to the function comes last in --help
            command = option(command)
        return command

    return decorate


# What people say about a page of their own.
page_options = option_group(
    click.option("--title", metavar="TEXT", help="With --html: the title of the page."),
    click.option("--question", metavar="TEXT", help="With --html: the question that it answers."),
    click.option("--author", metavar="TEXT", help="With --html: who wrote it."),
)


def page_heading(title: str | None, question: str | None, author: str | None) -> dict[str, str | None]:
    """What people say about a page of their own, as the writers of pages take it."""
    return {"title": title, "question": question, "author": author}


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")

# What one person may answer, in one of four ways. All of it is public: nothing is read off data.
domain_options = option_group(
    click.option("--categories", type=int, metavar="K", help="One of K answers, numbered from 0."),
    click.option("--labels", metavar="A,B,...", help="One of these answers, such as no,yes."),
    click.option("--integers", type=Bounds(int), metavar="LOW:HIGH", help="A whole number between two bounds."),
    click.option("--interval", type=Bounds(float), metavar="LOW:HIGH", help="A real number between bounds."),
    click.option("--cells", type=int, metavar="N", help="Cells of the interval's grid.  [default: 1024]"),
)
unit_options = option_group(
    click.option("--unit", default="row", show_default=True, metavar="row|COLUMN", help="Who is protected."),
    click.option("--rows-per-person", type=int, metavar="N", help="With --unit COLUMN: the most rows of one person."),
)
relation_option = click.option(
    "--relation",
    type=click.Choice(["add/remove", "replace"]),
    help="What is hidden: whether somebody is in DATA (add/remove), or only their values (replace).  [default: as the "
    "budget counts, or add/remove]",
)
interval_options = option_group(
    click.option(
        "--level", type=float, default=0.95, show_default=True, metavar="P", help="Confidence level of the intervals."
    ),
    click.option(
        "--target",
        type=click.Choice(["fixed", "superpopulation"]),
        default="fixed",
        show_default=True,
        help="What intervals are about: these people, or the population they were drawn from.",
    ),
)

file_format_option = click.option(
    "--file-format",
    type=click.Path(path_type=Path),
    metavar="SCHEMA",
    help="A schema whose [file] says how the file of rows is written: separator, decimal comma, sheet ...",
)


def load_file_format(schema_file: Path | None) -> FileFormat:
    from murmure.core.file_format import PLAIN_FILE
    from murmure.core.schema import Schema

    return PLAIN_FILE if schema_file is None else Schema.load(schema_file).file


def require_options(who: str, needed: Mapping[str, Any], example: str, one_of: Sequence[str] = ()) -> None:
    """Name everything that is missing in one error. `build_domain` reports a domain (`one_of`) alone."""
    missing = [name for name, value in needed.items() if not value and value != 0]
    wanted = [*missing, *([Phrase("one of {options}", options=", ".join(one_of))] if one_of else [])]
    # 0 is a value, which the library refuses with a better message; an empty tuple or text is not
    if missing:
        raise UsageError("{who} needs {wanted}.", "{example}", example=example, who=who, wanted=Several(wanted))


def check_level(level: float) -> None:
    if not 0 < level < 1:
        raise UsageError("--level must lie strictly between 0 and 1, got {got:g}.", "--level 0.95 is usual", got=level)


def rows_of_one_person(unit: str, rows: int | None, grows: str) -> int:
    """--unit and --rows-per-person, which belong together; grows: what grows with the rows."""
    if unit == "row":
        if rows is not None:
            raise UsageError(
                "--rows-per-person needs --unit COLUMN: with --unit row, each row counts alone.",
                "--unit patient, for example",
            )
        return 1
    if rows is None:
        raise UsageError(
            "--unit {unit} needs --rows-per-person: {grows} with the number of rows per person.",
            "--unit {unit} --rows-per-person 3, for example; further rows of a person are left out",
            unit=unit,
            grows=grows,
        )
    if rows < 1:
        raise UsageError("--rows-per-person must be at least 1, got {got}.", got=rows)
    return rows


def build_domain(
    categories: int | None,
    labels: str | None,
    integers: tuple[int, int] | None,
    interval: tuple[float, float] | None,
    cells: int | None,
    default: str | None = None,
) -> Domain:
    """Exactly one of the four; `default` is for mechanisms that leave no choice."""
    values = (categories, labels, integers, interval)
    given = [name for name, value in zip(DOMAIN_OPTIONS, values, strict=True) if value is not None]
    if cells is not None and interval is None:
        raise UsageError("--cells is the grid of an --interval, which is not given.", "add --interval LOW:HIGH")
    if not given and default is not None:
        labels = default
    elif len(given) != 1:
        what = (
            Phrase("nothing says what one person may answer")
            if not given
            else Phrase("{given} exclude one another", given=Several(given))
        )
        raise UsageError(
            "{what}.", "give one of --categories 4, --labels no,yes, --integers 0:10, --interval 0:1", what=what
        )
    from murmure.core.domain import Categories, Integers, Interval

    if labels is not None:
        return Categories(split_labels(labels))
    if categories is not None:
        return Categories(categories)
    if integers is not None:
        return Integers(*integers)
    assert interval is not None
    return Interval(*interval) if cells is None else Interval(*interval, cells=cells)
