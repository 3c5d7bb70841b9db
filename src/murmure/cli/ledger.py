"""`murmure ledger`: budgets, charges, and the answers that were paid for."""

from __future__ import annotations

import math
from decimal import ROUND_DOWN, Context, Decimal
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.shared import Clear, ClearGroup, F, Misuse, console, json_option, print_json

if TYPE_CHECKING:
    from murmure.ledger import Entry, Ledger

MOST_SHOWN = 20  # integers of an answer on the screen


@click.group(cls=ClearGroup, short_help="Budgets, charges, and the answers that were paid for.")
def ledger() -> None:
    """Budgets, charges, and the answers that were paid for.

    \b
    murmure ledger budget patients --epsilon 3    set what these people may pay in all
    murmure ledger show                           what they have paid, and what is left
    murmure ledger history patients               every charge
    murmure ledger answer 2                       what charge 2 paid for

    Without a budget nothing is released. The ledger is a file of SQLite, or a database
    postgresql://user@host/database; --ledger or MURMURE_LEDGER names it. Each command takes --json.
    """


def ledger_option(command: F) -> F:
    return click.option(
        "--ledger", "where", metavar="WHERE", help="The ledger.  [default: MURMURE_LEDGER, or murmure-ledger.db]"
    )(command)


def opened(where: str | None) -> Ledger:
    from murmure.ledger import Ledger, default_place

    return Ledger(where or default_place())


# -- show --------------------------------------------------------------------------------------------------------------


@ledger.command(cls=Clear, short_help="What was paid, and what is left.")
@ledger_option
@json_option
def show(where: str | None, as_json: bool) -> None:
    """What each data set has paid, and what is left of its budget. Every entry and answer is checked on the way."""
    held = opened(where)
    entries = held.verify()
    about = {name: standing(held, name) for name in held.datasets()}
    if as_json:
        print_json({"ledger": held.name, "entries": entries, "sound": True, "datasets": about})
        return
    out = console()
    if not about:
        out.print(f"The ledger {held.name} is empty: no budget is set, so nothing is released.")
        out.print("murmure ledger budget NAME --epsilon 1 sets one.")
        return
    for name, one in about.items():
        out.print(name, style="bold")
        for line in _lines(one):
            out.print(f"  {line}")
    out.print()
    out.print(f"{held.name}: {entries} {'entry' if entries == 1 else 'entries'}, as written.")


def standing(held: Ledger, name: str) -> dict[str, Any]:
    """Budget, spent and left of one data set, for JSON."""
    budget, spent, left = held.budget(name), held.spent(name), held.left(name)
    return {
        "budget": None if budget is None else dict(vars(budget)),
        "spent": {key: _plain(value) for key, value in vars(spent).items()},
        "left": dict(vars(left)),
    }


def _lines(one: dict[str, Any]) -> list[str]:
    budget, spent, left = one["budget"], one["spent"], one["left"]
    many = "1 charge" if spent["charges"] == 1 else f"{spent['charges']} charges"
    lines = [
        f"budget   epsilon {_short(budget['epsilon'])}, delta {_short(budget['delta'])} ({budget['relation']})",
        f"spent    epsilon {_short(spent['epsilon'])} in {many}",
        f"left     epsilon {_down(left['epsilon'])}",
    ]
    if budget["delta"] > 0:
        lines[1] += f"; pure epsilon {_short(spent['pure'])}, rho {_short(spent['rho'])}"
        lines[2] += f", or rho {_down(left['rho'])}"
    return lines


# -- budget ------------------------------------------------------------------------------------------------------------


@ledger.command(cls=Clear, short_help="Set or show what people may pay in all.")
@click.argument("dataset")
@click.option("--epsilon", type=float, help="The most that all charges may add up to.")
@click.option("--delta", type=float, help="Above 0, charges are also counted by zCDP.  [default: as it is, or 0]")
@click.option(
    "--relation",
    type=click.Choice(["add/remove", "replace"]),
    help="Which two data sets must look alike.  [default: as it is, or add/remove]",
)
@click.option("--who", help="Who sets it.  [default: the name you are logged in by]")
@ledger_option
@json_option
def budget(
    dataset: str,
    epsilon: float | None,
    delta: float | None,
    relation: Any,
    who: str | None,
    where: str | None,
    as_json: bool,
) -> None:
    """Set what the people of DATASET may pay in all; without --epsilon, show it.

    It can be raised later, or lowered to what is spent; each time stays in the history. Decide before you look at
    answers: what is promised is the largest budget that was ever set.
    """
    held = opened(where)
    if epsilon is not None:
        old = held.budget(dataset)  # what is not said stays as it is
        delta = delta if delta is not None else old.delta if old else 0.0
        held.set_budget(dataset, epsilon, delta, who, relation or (old.relation if old else "add/remove"))
    elif given := [name for name, v in (("--delta", delta), ("--relation", relation), ("--who", who)) if v is not None]:
        raise Misuse(f"{given[0]} says nothing without --epsilon.", "add --epsilon to set a budget")
    one = standing(held, dataset)
    if as_json:
        print_json({"ledger": held.name, "dataset": dataset, **one})
        return
    out = console()
    if one["budget"] is None:
        out.print(f"No budget is set for {dataset}: nothing is released.")
        out.print("Set one with --epsilon.")
        return
    for line in _lines(one):
        out.print(line)


# -- history -----------------------------------------------------------------------------------------------------------


@ledger.command(cls=Clear, short_help="Every charge and every budget.")
@click.argument("dataset", required=False)
@ledger_option
@json_option
def history(dataset: str | None, where: str | None, as_json: bool) -> None:
    """Every charge and every budget, of DATASET or of all, in the order of writing."""
    entries = opened(where).history(dataset)
    if as_json:
        print_json({"entries": [entry.to_dict() for entry in entries]})
        return
    out = console()
    if not entries:
        out.print("Nothing was charged, and no budget was set.")
    for entry in entries:
        part = "" if entry.partition is None else f" ({entry.partition} = {entry.part})"
        out.print(f"{entry.number:>4}  {entry.at}  {entry.who}  {entry.dataset}{part}", style="bold", soft_wrap=True)
        out.print(f"      {_said(entry)}", soft_wrap=True)


def _said(entry: Entry) -> str:
    if entry.kind == "budget":
        return f"budget: epsilon {_short(entry.epsilon)}, delta {_short(entry.delta or 0.0)} ({entry.relation})"
    mark = "; SEEDED, protects nobody" if entry.seeded else ""
    plan = f" (plan {entry.plan[:12]})" if entry.plan else ""
    return f"epsilon {_short(entry.epsilon)}, rho {_short(entry.rho or 0.0)}: {entry.about or 'a release'}{plan}{mark}"


# -- answer ------------------------------------------------------------------------------------------------------------


@ledger.command(cls=Clear, short_help="The noisy integers that a charge paid for.")
@click.argument("number", type=int)
@ledger_option
@json_option
def answer(number: int, where: str | None, as_json: bool) -> None:
    """The noisy integers that charge NUMBER paid for. To show them again costs nothing."""
    found = opened(where).answer(number)
    if as_json:
        print_json({"number": found.number, "at": found.at, "seeded": found.seeded, "answers": list(found)})
        return
    out = console()
    for one in found:
        shown = ", ".join(map(str, one["answer"][:MOST_SHOWN]))
        more = len(one["answer"]) - MOST_SHOWN
        out.print(f"{one['question'][:12]}  {shown}" + (f" and {more} more (--json shows all)" if more > 0 else ""))


def _plain(value: Any) -> Any:
    return "inf" if value == math.inf else value


def _short(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.10g}"


def _down(value: float) -> str:
    """What is left, to ten digits, and never more than there is."""
    near = f"{value:.10g}"
    return near if float(near) <= value else f"{float(Decimal(value).normalize(Context(10, ROUND_DOWN))):.10g}"
