"""`murmure ledger`: budgets, charges, and the answers that were paid for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import MurmureCommand, MurmureGroup, UsageError
from murmure.cli.ledger_session import json_number, warn_lost_key
from murmure.cli.options import json_option
from murmure.cli.terminal import print_document, print_json, print_line
from murmure.core.errors import Phrase, Plural
from murmure.show.document import Document, Table

if TYPE_CHECKING:
    from murmure.ledger.ledger import Ledger

MAX_SHOWN = 20  # integers of an answer on the screen


@click.group(cls=MurmureGroup, short_help="Budgets, charges, and the answers that were paid for.")
def ledger() -> None:
    """Budgets, charges, and the answers that were paid for.

    \b
    murmure ledger budget patients --epsilon 3    set the budget of these people
    murmure ledger show                           what they have paid, and what is left
    murmure ledger history patients               every charge
    murmure ledger answer 2                       what charge 2 paid for
    murmure ledger import murmure-ledger.jsonl    take over the charges of murmure 0.5

    Without a budget only sanitised tables and studies are released, and they are charged too. The ledger is a file of
    SQLite, or a database postgresql://user@host/database; --ledger or MURMURE_LEDGER names it. Each command takes
    --json.
    """


ledger_option = click.option(
    "--ledger", "where", metavar="WHERE", help="The ledger.  [default: MURMURE_LEDGER, or murmure-ledger.db]"
)


def open_ledger(where: str | None, new: bool = False) -> Ledger:
    """new: it need not exist yet. Otherwise a missing ledger is an error, since its name may be mistyped."""
    from murmure.ledger.ledger import Ledger, default_place

    book = Ledger(where or default_place())
    if not new and not book.exists():
        raise UsageError(
            "there is no ledger at {name!r}; setting a budget creates one.",
            "--ledger or MURMURE_LEDGER names another; murmure ledger budget NAME --epsilon 1 makes this one",
            name=book.name,
        )
    return book


# -- show --------------------------------------------------------------------------------------------------------------


@ledger.command(cls=MurmureCommand, short_help="What was paid, and what is left.")
@ledger_option
@json_option
def show(where: str | None, as_json: bool) -> None:
    """What each data set has paid, and what is left of its budget. Every entry and answer is checked."""
    book = open_ledger(where)
    warnings: list[str] = []
    warn_lost_key(book, warnings)
    entries = book.verify()
    summaries = {name: dataset_summary(book, name) for name in book.datasets()}
    if as_json:
        fields = {"ledger": book.name, "entries": entries, "sound": True}
        print_json({**fields, "datasets": summaries, "warnings": warnings})
        return
    print_document(book.document())
    if summaries:
        print_line(Plural("{n} entry, as written.", "{n} entries, as written.", n=entries))


def dataset_summary(book: Ledger, name: str) -> dict[str, Any]:
    """Budget, spent and left of one data set, for JSON."""
    from murmure.ledger.figures import largest_gaussian, largest_pure

    state = book.state(name)
    budget, spent, left = state.budget, state.spent(), state.left()
    return {
        "unit": state.currency and state.currency.unit,
        "relation": state.currency and state.currency.relation,
        "budget": budget and budget.to_dict(),
        "spent": {key: json_number(value) for key, value in vars(spent).items()},
        "left": {
            **vars(left),
            "largest_pure": largest_pure(left),
            "largest_gaussian": largest_gaussian(budget, left) if budget else 0.0,
        },
    }


# -- budget ------------------------------------------------------------------------------------------------------------


@ledger.command(cls=MurmureCommand, short_help="Set or show the budget of a data set.")
@click.argument("dataset")
@click.option("--epsilon", type=float, help="The most that all charges may add up to.")
@click.option(
    "--delta",
    type=float,
    help="Above 0, charges are also added up as zCDP, which suits Gaussian noise.  [default: as it is, or 0]",
)
@click.option(
    "--relation",
    type=click.Choice(["add/remove", "replace"]),
    help="What is hidden: whether somebody is in the data (add/remove), or only their values (replace).  [default: "
    "as it is, or add/remove]",
)
@click.option("--unit", metavar="COLUMN", help="What counts: row, or people by COLUMN.  [default: as it is, or row]")
@click.option("--who", help="Who sets it.  [default: your login name]")
@ledger_option
@json_option
def budget(
    dataset: str,
    epsilon: float | None,
    delta: float | None,
    relation: Any,
    unit: str | None,
    who: str | None,
    where: str | None,
    as_json: bool,
) -> None:
    """Set the budget of the people of DATASET; without --epsilon, show it.

    It can be raised later, or lowered to what is spent; each time stays in the history. Decide before you look at
    answers: what is promised is the largest budget that was ever set. A change to --relation replace or to --unit row
    counts earlier charges again, at twice their cost; the reverse is refused.
    """
    options = {"--delta": delta, "--relation": relation, "--unit": unit, "--who": who}
    given = [name for name, value in options.items() if value is not None]
    if epsilon is None and given:
        raise UsageError("{given} has no effect without --epsilon.", "add --epsilon to set a budget", given=given[0])
    book = open_ledger(where, new=epsilon is not None)
    if epsilon is not None:
        old = book.budget(dataset)  # what is not given stays unchanged
        delta = delta if delta is not None else old.delta if old else 0.0
        book.set_budget(dataset, epsilon, delta, who, relation, unit=unit)
    summary = dataset_summary(book, dataset)
    if as_json:
        print_json({"ledger": book.name, "dataset": dataset, **summary})
        return
    if summary["budget"] is None and not summary["spent"]["charges"]:
        print_line(Phrase("No budget is set for {dataset}: no noisy answer is released.", dataset=dataset))
        print_line(Phrase("Set one with --epsilon."))
        return
    print_document(book.account(dataset).document())


# -- history -----------------------------------------------------------------------------------------------------------


@ledger.command(cls=MurmureCommand, short_help="Every charge and every budget.")
@click.argument("dataset", required=False)
@ledger_option
@json_option
def history(dataset: str | None, where: str | None, as_json: bool) -> None:
    """Every charge and every budget, of DATASET or of all, in the order of writing."""
    from murmure.ledger.document import history_table

    entries = open_ledger(where).history(dataset)
    if as_json:
        print_json({"entries": [entry.to_dict() for entry in entries]})
        return
    if not entries:
        print_line(Phrase("Nothing was charged, and no budget was set."))
        return
    print_document(Document("", (history_table(entries),)))


# -- answer ------------------------------------------------------------------------------------------------------------


@ledger.command(cls=MurmureCommand, short_help="The noisy integers that a charge paid for.")
@click.argument("number", type=int)
@ledger_option
@json_option
def answer(number: int, where: str | None, as_json: bool) -> None:
    """The noisy integers that charge NUMBER paid for. Showing them again costs nothing."""
    answers = open_ledger(where).answer(number)
    if as_json:
        print_json({"number": answers.number, "at": answers.at, "seeded": answers.seeded, "answers": list(answers)})
        return
    rows = []
    for entry in answers:
        whole, more = entry["answer"], len(entry["answer"]) - MAX_SHOWN
        shown: str = ", ".join(map(str, whole[:MAX_SHOWN]))
        if more > 0:
            shown = Phrase("{shown} and {more:,} more (--json shows all)", shown=shown, more=more)
        rows.append((entry["question"][:12], shown))
    head = (Phrase("question"), Phrase("noisy integers"))
    print_document(Document("", (Table("", head, tuple(rows), words=True),)))


# -- import ------------------------------------------------------------------------------------------------------------


@ledger.command("import", cls=MurmureCommand, short_help="Take over the charges of murmure 0.5.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dataset", metavar="NAME", help="Whose charges they are.  [default: the names of the sanitised files]")
@ledger_option
@json_option
def import_charges(file: Path, dataset: str | None, where: str | None, as_json: bool) -> None:
    """Take over the charges in FILE, which `murmure sanitise` of version 0.5 wrote beside its tables
    (murmure-ledger.jsonl). What the ledger already has is skipped. FILE is not changed.
    """
    from murmure.ledger.old_charges import import_old_charges

    book = open_ledger(where, new=True)
    charges = import_old_charges(book, file, dataset)
    if as_json:
        print_json({"ledger": book.name, "imported": len(charges), "charges": [c.to_dict() for c in charges]})
        return
    print_line(
        Phrase(
            "{ledger}: {charges} taken over.",
            ledger=book.name,
            charges=Plural("{n} charge", "{n} charges", n=len(charges)),
        )
    )
    for charge in {charge.dataset: charge for charge in charges}.values():
        print_line(Phrase("{dataset}: {balance}", dataset=charge.dataset, balance=charge.balance()))
