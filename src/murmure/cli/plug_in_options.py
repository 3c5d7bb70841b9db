"""Options that plug-ins bring along: `--w` of one mechanism, `--ties` of one model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

from murmure.catalogue import entries
from murmure.cli.commands import UsageError
from murmure.cli.option_words import option
from murmure.cli.options import F, Probability, option_group, split_columns
from murmure.core.catalogue_entries import MechanismEntry, OptionForm
from murmure.core.errors import shorten

METAVARS = {"names": "A,B,...", "numbers": "X,Y,..."}


def _split_names(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """age,stay -> ("age", "stay"); a name that contains a comma is in quotes, as in a CSV file."""
    if value is None:
        return None
    return tuple(split_columns(value))


def _split_numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """0,0.5,1 -> ("0", "0.5", "1"): decimals stay as they are typed."""
    if value is None:
        return None
    parts = tuple(part.strip() for part in value.split(","))
    for part in parts:
        try:
            float(part)
        except ValueError:
            raise UsageError(
                "{opt}: {part} is not a number.", "{opt} 0,10,20.5", opt=param.opts[0], part=shorten(part)
            ) from None
    return parts


CALLBACKS = {"names": _split_names, "numbers": _split_numbers}


def option_of(form: OptionForm) -> Callable[[F], F]:
    """The option of a form, as click makes it."""
    types: dict[str, Any] = {"number": float, "probability": Probability()}
    if form.kind == "flag":
        return click.option(option(form.name), is_flag=True, default=None, help=form.help)
    if form.choices:
        types[form.kind] = click.Choice(form.choices)
    elif form.kind == "whole":
        types["whole"] = int if form.low is form.high is None else click.IntRange(form.low, form.high)
    return click.option(
        option(form.name),
        type=types.get(form.kind),
        metavar=form.metavar or METAVARS.get(form.kind),
        callback=CALLBACKS.get(form.kind),
        help=form.help,
    )


def mechanism_options(without: Iterable[str] = (), estimating: bool = False) -> Callable[[F], F]:
    """The options of all mechanisms, but for some. estimating: of those alone that something can be estimated from."""
    known = [entry for entry in entries(MechanismEntry).values() if not (estimating and entry.oracle == "column")]
    forms = {form.name: form for entry in known for form in entry.options if form.name not in without}
    return option_group(*map(option_of, sorted(forms.values(), key=lambda form: form.order)))
