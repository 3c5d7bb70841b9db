"""What a ledger shows: budgets, what was paid and what is left, and its entries."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from murmure.core.errors import Phrase, Plural
from murmure.ledger.figures import remaining_in_words, rounded_up
from murmure.show.document import Block, Document, Facts, Fold, Paragraph, Section, Table

if TYPE_CHECKING:
    from murmure.ledger.entries import Entry
    from murmure.ledger.ledger import Ledger
    from murmure.ledger.sums import AccountState


def ledger_document(book: Ledger) -> Document:
    """Every data set with its budget; the entries are folded away."""
    title, names = Phrase("Ledger {name}", name=book.name), book.datasets()
    if not names:
        empty = Phrase("The ledger is empty: no budget is set, so no noisy answer is released.")
        how = Phrase("murmure ledger budget NAME --epsilon 1 sets one.")
        return Document(title, (Paragraph(empty), Paragraph(how)), kind="Ledger")
    sections: list[Block] = [Section(name, (account_facts(book.state(name)),)) for name in names]
    entries = Fold(Phrase("Every entry"), (history_table(book.history()),))
    return Document(title, (*sections, entries), kind="Ledger")


def account_document(book: Ledger, dataset: str) -> Document:
    """One data set: its budget, what was paid, what is left, and its entries."""
    entries = Fold(Phrase("Every entry"), (history_table(book.history(dataset)),))
    return Document(dataset, (account_facts(book.state(dataset)), entries), kind="Account")


def account_facts(state: AccountState) -> Facts:
    budget, spent = state.budget, state.spent()
    charges = Plural("{n} charge", "{n} charges", n=spent.charges)
    epsilon = rounded_up(spent.epsilon)
    paid = Phrase("epsilon {epsilon} in {charges}", epsilon=epsilon, charges=charges)
    counts = (Phrase("counted unit"), state.currency.words) if state.currency else ("", None)
    if budget is None:
        none = Phrase("none: nothing limits what these people pay")
        return Facts(((Phrase("budget"), none), counts, (Phrase("spent"), paid)))
    if budget.delta > 0:
        pure = Phrase("no pure epsilon, after Gaussian noise")
        if spent.pure < math.inf:
            pure = Phrase("pure epsilon {pure}", pure=rounded_up(spent.pure))
        paid = Phrase(
            "epsilon {epsilon} at delta {delta:g} in {charges}: {pure}; rho {rho}",
            epsilon=epsilon,
            delta=budget.delta,
            charges=charges,
            pure=pure,
            rho=rounded_up(spent.rho),
        )
    items = [
        (Phrase("budget"), budget_in_words(budget.epsilon, budget.delta, budget.relation)),
        (Phrase("spent"), paid),
        (Phrase("left"), remaining_in_words(budget, state.left())),
    ]
    return Facts((*items, counts) if budget.unit != "row" else tuple(items))


def budget_in_words(epsilon: float, delta: float, relation: str) -> Phrase:
    return Phrase(
        "epsilon {epsilon}, delta {delta:g} ({relation})", epsilon=rounded_up(epsilon), delta=delta, relation=relation
    )


def history_table(entries: Iterable[Entry]) -> Table:
    """Every charge and every budget, in the order of writing."""
    head = (Phrase("entry"), Phrase("date"), Phrase("who"), Phrase("data set"), Phrase("what"))
    rows = []
    for entry in entries:
        part = "" if entry.partition is None else f" ({entry.partition} = {entry.part})"
        rows.append((entry.number, entry.at, entry.who, entry.dataset + part, entry_in_words(entry)))
    return Table("", head, tuple(rows), words=True)


def entry_in_words(entry: Entry) -> Phrase:
    if entry.kind == "budget":
        words = budget_in_words(entry.epsilon, entry.delta or 0.0, entry.relation)
        return Phrase("budget: {budget}", budget=words)
    paid = Phrase("rho {rho}", rho=rounded_up(entry.rho or 0.0))
    if entry.epsilon < math.inf:
        paid = Phrase("epsilon {epsilon}, rho {rho}", epsilon=rounded_up(entry.epsilon), rho=paid.fields["rho"])
    return Phrase(
        "{paid}: {about}{plan}{mark}",
        paid=paid,
        about=entry.about or Phrase("a release"),
        plan=Phrase(" (plan {plan})", plan=entry.plan[:12]) if entry.plan else "",
        mark=Phrase("; SEEDED, protects nobody") if entry.seeded else "",
    )
