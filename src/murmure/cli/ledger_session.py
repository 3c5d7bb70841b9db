"""Who pays for a release on the command line: the ledger, its budget, and what is printed about them."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import UsageError
from murmure.cli.language import echo
from murmure.cli.options import option_group
from murmure.core.errors import BudgetExhausted, Phrase
from murmure.show.phrase import Several

if TYPE_CHECKING:
    from murmure.core.random import Random
    from murmure.core.types import Relation
    from murmure.ledger.account import Account, Charge
    from murmure.ledger.ledger import Ledger

NO_LEDGER_WARNING = Phrase(
    "WARNING: --no-ledger: nothing is charged, and nobody adds up what has been released about these people. "
    "Asking again, or averaging answers, undoes the noise."
)
SEED_WARNING = Phrase(
    "WARNING: --seed is for experiments: anyone who knows the seed can remove the noise. NOT FOR REAL PEOPLE."
)


# The options of every command whose releases are charged.
account_options = option_group(
    click.option("--ledger", metavar="FILE|URL", help="[default: $MURMURE_LEDGER, or murmure-ledger.db here]"),
    click.option("--dataset", metavar="NAME", help="Whose budget pays.  [default: the name of the data file]"),
    click.option("--who", metavar="NAME", help="Who asks, for the ledger.  [default: you]"),
    click.option(
        "--budget", type=float, metavar="E", help="The first time: the budget of these people, over all releases."
    ),
)
ledger_options = option_group(
    account_options,
    click.option("--fresh", is_flag=True, help="Draw new noise and pay again, even if the ledger has an answer."),
    click.option(
        "--no-ledger",
        is_flag=True,
        help="Charge nothing; nothing then stops a second run, which weakens the protection.",
    ),
    click.option("--seed", type=int, metavar="N", help="With --no-ledger: repeatable. NOT FOR REAL PEOPLE."),
)


@dataclass
class LedgerSession:
    """The account that pays for a run, and what is printed about it afterwards. Without an account nothing is charged.

    Opened before the plan is made, since the account says what is counted; the budget is set when all else is checked.
    """

    account: Account | None = None
    rng: Random | None = None
    warnings: list[str] = field(default_factory=list)
    charge: Charge | None = None
    budget: float | None = None  # as given on the command line
    ledger_option: str = ""  # to repeat in hints

    @classmethod
    def open(
        cls,
        source: Any,
        ledger: str | None = None,
        dataset: str | None = None,
        who: str | None = None,
        budget: float | None = None,
        fresh: bool = False,
        no_ledger: bool = False,
        seed: int | None = None,
    ) -> LedgerSession:
        """Find the account, by its name or by the bytes of the data; nothing is written."""
        if no_ledger:
            given = {"--ledger": ledger, "--dataset": dataset, "--who": who, "--budget": budget}
            for name, value in {**given, "--fresh": fresh or None}.items():
                if value is not None:
                    raise UsageError(
                        "{name} is for a ledger, and --no-ledger asks for none.", "leave one of them out", name=name
                    )
            return cls.without_ledger([NO_LEDGER_WARNING], seed)
        if seed is not None:
            raise UsageError(
                "--seed is for experiments, which no ledger charges.", "add --no-ledger; never for real people"
            )
        check_budget_option(budget)
        session = cls(budget=budget)
        session.account = open_account(source, ledger, dataset, who, session.warnings, fresh)
        book = session.account.ledger
        book.refuse_unimported(Path.cwd())
        if ledger is not None:  # not as typed: a URL may contain a password
            session.ledger_option = f" --ledger {shlex.quote(book.name)}"
        return session

    @classmethod
    def without_ledger(cls, warnings: list[str], seed: int | None) -> LedgerSession:
        from murmure.core.random import Random

        session = cls(rng=None if seed is None else Random.seeded(seed))
        for warning in [*warnings, *([SEED_WARNING] if seed is not None else [])]:
            warn(session.warnings, warning)
        return session

    def relation(self, wanted: Relation | None) -> Relation:
        """What the plan should hide: as typed, else what the account counts, else whether somebody is there."""
        counted = None if self.account is None else self.account.ledger.state(self.account.dataset).currency
        return wanted or (counted.relation if counted else "add/remove")

    def ensure_budget(self, delta: float | None, relation: Relation, unit: str) -> None:
        """Set the first budget. Later runs may repeat it, and not change it."""
        if self.account is None:
            return
        book, name = self.account.ledger, self.account.dataset
        existing, budget = book.budget(name), self.budget
        command = Phrase(
            "murmure ledger budget {name}{ledger_option}", name=shlex.quote(name), ledger_option=self.ledger_option
        )
        if existing is None and budget is None:
            raise BudgetExhausted(
                "no budget is set for {name!r} in the ledger {book_name!r}: nothing is released.",
                hint="set what these people may pay in all: --budget 3 now, or {command} --epsilon 3",
                name=name,
                book_name=book.name,
                command=command,
            )
        if existing is None and budget is not None:
            counted = book.state(name).currency
            kept = (counted.relation, counted.unit) if counted else (relation, unit)
            book.set_budget(name, budget, delta or 0.0, self.account.who, kept[0], first=True, unit=kept[1])
        elif existing is not None and delta and not existing.delta:
            raise UsageError(
                "the budget of {name!r} is in pure epsilon, so --delta {delta:g} is refused.",
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

    def summary(self) -> Phrase:
        if self.charge is None:
            return Phrase("Nothing was charged (--no-ledger).")
        return self.charge.words(Phrase(" (--fresh draws a new one)"))

    def to_dict(self) -> dict[str, Any] | None:
        return None if self.charge is None else self.charge.to_dict()


def open_account(
    source: Any,
    ledger: str | None,
    dataset: str | None,
    who: str | None,
    warnings: list[str],
    fresh: bool = False,
) -> Account:
    """The account of the people in this file: by its name, or by the bytes of the data."""
    from murmure.ledger.ledger import Ledger, default_place

    name = _dataset_name(source) if dataset is None else dataset
    book = Ledger(default_place() if ledger is None else ledger)
    warn_lost_key(book, warnings)
    # Several tables have no bytes of their own. A file that is not there: the command says so in its own words.
    if source is None or not (os.path.exists(source) or is_pattern(source)):
        return book.account(name, who, fresh=fresh)
    account = book.account_of(source, dataset, who, fresh)
    if account.dataset != name:
        warn(
            warnings,
            Phrase(
                "WARNING: these very bytes were charged to {dataset!r} before: the same people, so that account pays. "
                "--dataset names another.",
                dataset=account.dataset,
            ),
        )
    elif others := account.other_datasets():
        warn(
            warnings,
            Phrase(
                "WARNING: these very bytes were charged to {named} before: the same people have more than one budget, "
                "and pay from each. Give the same people one --dataset.",
                named=Several([repr(other) for other in others]),
            ),
        )
    return account


def check_budget_option(budget: float | None) -> None:
    if budget is not None and not 0 < budget < math.inf:
        raise UsageError(
            "--budget must be a positive finite number, got {got:g}.", "--budget 3, for example", got=budget
        )


def single_source(sources: Sequence[str]) -> str:
    """A ledger recognises one table by all its bytes, under one name."""
    if len(sources) > 1:
        raise UsageError(
            "one table DATA at a time, got {got}.",
            "name their folder, or a pattern in quotes: 'visits-*.csv'",
            got=len(sources),
        )
    return sources[0]


def is_pattern(source: Any) -> bool:
    return any(sign in os.fspath(source) for sign in "*?[")


def _dataset_name(source: str) -> str:
    name = Path(source).name
    if not name or is_pattern(name):
        raise UsageError(
            "the pattern {source} is not a name: which budget pays?", "--dataset visits, for example", source=source
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
        echo(warning)


def warn_lost_key(book: Ledger, warnings: list[str]) -> None:
    if (place := book.lost_key()) is not None:
        warn(
            warnings,
            Phrase(
                "WARNING: the key {place} of the ledger {ledger} is missing: files that it charged are not recognised, "
                "and their questions are paid again. Bring the key back from a backup.",
                place=place,
                ledger=book.name,
            ),
        )


def check_delta(delta: float | None) -> None:
    if delta is not None and not 0 < delta < 1:
        raise UsageError(
            "--delta must lie strictly between 0 and 1, got {got:g}.",
            "--delta 1e-6, for example: well below 1 / (number of people)",
            got=delta,
        )


def json_number(value: float) -> float | str:
    """For JSON."""
    return value if math.isfinite(value) else "inf"
