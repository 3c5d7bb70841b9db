"""Who pays for a release on the command line: the ledger, its budget, and what is printed about them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import UsageError
from murmure.cli.options import option_group
from murmure.core.errors import BudgetExhausted

if TYPE_CHECKING:
    from murmure.core.random import Random
    from murmure.core.types import Relation
    from murmure.ledger.ledger import Account, Ledger

NO_LEDGER_WARNING = (
    "WARNING: --no-ledger: nothing is charged, and nobody adds up what has been released about these people. "
    "Asking again, or averaging answers, undoes the noise."
)
SEED_WARNING = (
    "WARNING: --seed is for experiments: whoever knows the seed takes the noise off again. NOT FOR REAL PEOPLE."
)


# The options of every command whose releases are charged.
ledger_options = option_group(
    click.option("--ledger", metavar="FILE|URL", help="[default: $MURMURE_LEDGER, or murmure-ledger.db here]"),
    click.option("--dataset", metavar="NAME", help="Whose budget pays.  [default: the name of the data file]"),
    click.option("--who", metavar="NAME", help="Who asks, for the ledger.  [default: you]"),
    click.option("--budget", type=float, metavar="E", help="The first time: what these people may pay in all."),
    click.option("--fresh", is_flag=True, help="Draw and pay again, although there is an answer."),
    click.option("--no-ledger", is_flag=True, help="Charge nothing, which protects nobody from a second run."),
    click.option("--seed", type=int, metavar="N", help="With --no-ledger: repeatable. NOT FOR REAL PEOPLE."),
)


@dataclass
class RememberingAccount:
    """An account that remembers which charge paid: `run` is given it in place of the account itself."""

    account: Account
    fresh: bool
    number: int | None = None  # of the charge that paid, now or earlier
    earlier: str | None = None  # when it was paid, if not now
    warnings: list[str] = field(default_factory=list)

    def of_file(self, frame: Any) -> RememberingAccount:
        self.account = self.account.of_file(frame)
        if others := self.account.other_datasets():
            named = " and ".join(repr(name) for name in others)
            warn(
                self.warnings,
                f"WARNING: these very bytes were charged to {named} before: the same people have more than one "
                "budget, and pay from each. Give the same people one --dataset.",
            )
        return self

    # --fresh: an earlier answer is neither looked up nor reused when two runs pay at the same time.

    def find(self, plan: str, *args: Any, **how: Any) -> Any:
        answer = None if self.fresh else self.account.find(plan, *args, **how)
        if answer is not None:
            self.number, self.earlier = answer.number, answer.at
        return answer

    def check(self, *args: Any, **how: Any) -> None:
        self.account.check(*args, **how)

    def pay(self, once: bool = False, **charge: Any) -> int:
        self.number = self.account.pay(once=once and not self.fresh, **charge)
        return self.number


@dataclass
class LedgerSession:
    """Where a run pays, and what is printed about it afterwards."""

    dataset: str
    ledger: Ledger | None
    account: RememberingAccount | None
    rng: Random | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def replayed(self) -> bool:
        """The answer was paid for earlier."""
        return self.account is not None and self.account.earlier is not None

    def summary(self) -> str:
        if self.ledger is None or self.account is None:
            return "Nothing was charged (--no-ledger)."
        from murmure.ledger.figures import remaining_in_words, rounded_up

        left, budget = self.ledger.left(self.dataset), self.ledger.budget(self.dataset)
        assert budget is not None
        paid = f"paid by charge {self.account.number}"
        if self.replayed:
            paid += f" on {self.account.earlier}: the same answer again, at no cost (--fresh draws a new one)"
        budget_text = (
            f"epsilon {rounded_up(budget.epsilon)}, delta {budget.delta:g}"
            if budget.delta
            else rounded_up(budget.epsilon)
        )
        left_text = f"Left: {remaining_in_words(budget, left)}{', of' if budget.delta else ' of'} {budget_text}."
        return f"Ledger {self.ledger.name}, {self.dataset!r}: {paid}. {left_text}"

    def to_dict(self) -> dict[str, Any] | None:
        if self.ledger is None or self.account is None:
            return None
        from murmure.ledger.figures import largest_gaussian, largest_pure

        left, budget = self.ledger.left(self.dataset), self.ledger.budget(self.dataset)
        spent = self.ledger.spent(self.dataset)
        assert budget is not None
        return {
            "path": self.ledger.name,
            "dataset": self.dataset,
            "charge": self.account.number,
            "again": self.replayed,
            "budget": {"epsilon": budget.epsilon, "delta": budget.delta, "relation": budget.relation},
            "spent": {"epsilon": json_number(spent.epsilon), "rho": json_number(spent.rho), "charges": spent.charges},
            "left": {
                "epsilon": left.epsilon,
                "rho": left.rho,
                "largest_pure": largest_pure(left),
                "largest_gaussian": largest_gaussian(budget, left),
            },
        }


def open_ledger_session(
    source: str,
    ledger: str | None,
    dataset: str | None,
    who: str | None,
    budget: float | None,
    fresh: bool,
    no_ledger: bool,
    seed: int | None,
    delta: float | None = None,
    relation: Relation = "add/remove",
) -> LedgerSession:
    """The account that pays. Called last, after all other checks, because --budget is written here."""
    if no_ledger:
        given = {"--ledger": ledger, "--dataset": dataset, "--who": who, "--budget": budget, "--fresh": fresh or None}
        for name in (name for name, value in given.items() if value is not None):
            raise UsageError(
                "{name} is for a ledger, and --no-ledger asks for none.", "leave one of the two out", name=name
            )
        return _session_without_ledger(source, seed)
    if seed is not None:
        raise UsageError(
            "--seed is for experiments, which no ledger charges.", "add --no-ledger; never for real people"
        )
    from murmure.ledger.ledger import Ledger, default_place

    if budget is not None and not 0 < budget < math.inf:
        raise UsageError(
            "--budget must be a positive finite number, got {got:g}.", "--budget 3, for example", got=budget
        )
    # Without a budget nothing is released, so the first run must set one; a later run may repeat it, not change it.
    name = _dataset_name(source) if dataset is None else dataset
    book = Ledger(default_place() if ledger is None else ledger)
    existing = book.budget(name)
    command = f"murmure ledger budget {shlex.quote(name)}"
    if ledger is not None:
        command += f" --ledger {shlex.quote(book.name)}"  # not as typed: a URL may contain a password
    if existing is None and budget is None:
        raise BudgetExhausted(
            "no budget is set for {name!r} in the ledger {book_name!r}: nothing is released.",
            hint="say what these people may pay in all: --budget 3 now, or {command} --epsilon 3",
            name=name,
            book_name=book.name,
            command=command,
        )
    if existing is None and budget is not None:
        book.set_budget(name, budget, delta or 0.0, who, relation, first=True)
    elif existing is not None and existing.relation != relation:
        raise UsageError(
            "the budget of {name!r} counts {relation}, and --relation {relation_2} does not add up with it.",
            "--relation {relation}, or another --dataset if these are other people",
            name=name,
            relation=existing.relation,
            relation_2=relation,
        )
    elif existing is not None and delta and not existing.delta:
        raise UsageError(
            "the budget of {name!r} is of pure epsilon, and --delta {delta:g} is not.",
            "leave --delta out, or change the budget: {command} --epsilon {epsilon:.10g} --delta {delta:g}",
            name=name,
            delta=delta,
            command=command,
            epsilon=existing.epsilon,
        )
    elif existing is not None and budget is not None and existing.epsilon != budget:
        raise UsageError(
            "{name!r} has a budget of {epsilon:.10g} already, in {book_name}.",
            "leave --budget out, or change it: {command} --epsilon {budget:.10g}",
            name=name,
            epsilon=existing.epsilon,
            book_name=book.name,
            command=command,
            budget=budget,
        )
    account = RememberingAccount(book.account(name, who), fresh)
    warn_lost_key(book, account.warnings)
    return LedgerSession(name, book, account, warnings=account.warnings)


def _session_without_ledger(source: str, seed: int | None) -> LedgerSession:
    from murmure.core.random import Random

    warnings = [NO_LEDGER_WARNING] + ([SEED_WARNING] if seed is not None else [])
    for warning in warnings:
        click.echo(warning, err=True)
    return LedgerSession(source, None, None, None if seed is None else Random.seeded(seed), warnings)


def single_source(sources: Sequence[str]) -> str:
    """A ledger recognises one table by all its bytes, under one name."""
    if len(sources) > 1:
        raise UsageError(
            "one table DATA at a time, got {got}.",
            "name their folder, or a pattern in quotes: 'visits-*.csv'",
            got=len(sources),
        )
    return sources[0]


def _dataset_name(source: str) -> str:
    name = Path(source).name
    if not name or any(sign in name for sign in "*?["):
        raise UsageError(
            "the pattern {source} is no name: whose budget pays?", "--dataset visits, for example", source=source
        )
    return name


def check_columns(source: Any, columns: Sequence[str], kinds: Mapping[str, str]) -> None:
    """Before any charge: the files can be read and have these columns. No row is read."""
    from murmure.engines.sources.tables import open_table

    open_table(source, list(columns), kinds, lenient=True)


def warn(warnings: list[str], warning: str) -> None:
    """On stderr, and for JSON."""
    if warning not in warnings:
        warnings.append(warning)
        click.echo(warning, err=True)


def warn_lost_key(book: Ledger, warnings: list[str]) -> None:
    if (place := book.lost_key()) is not None:
        warn(
            warnings,
            f"WARNING: the key {place} of the ledger {book.name} is missing: files that it charged are not recognised, "
            "and their questions are paid again. Bring the key back from a backup.",
        )


def check_delta(delta: float | None) -> None:
    if delta is not None and not 0 < delta < 1:
        raise UsageError(
            "--delta must lie strictly between 0 and 1, got {got:g}.",
            "--delta 1e-6, for example: well below one over the people",
            got=delta,
        )


def json_number(value: float) -> float | str:
    """For JSON."""
    return value if math.isfinite(value) else "inf"
