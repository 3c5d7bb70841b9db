"""One person's report as it travels from a device to a collector: JSON, the same from Python and from a browser.

    a code                    a whole number
    packed bits, a hash       hexadecimal text: bit v is bit v % 8 of byte v // 8; 16-bit words with the low byte first
    a record                  a list with an entry for each column that is randomised, null where it is not shown

    {"plan": the digest of the plan that it answers, "report": one of these}

Each report has exactly one such text, so two copies of it are equal byte for byte. `clients/js` writes the same ones; a
collector reads them with `received`, which refuses what the plan's law cannot draw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, OutsideDomain, Phrase, PlanMismatch, Plural, shorten
from murmure.core.random import Random
from murmure.laws.records import Records, Sampled
from murmure.local.base.record_mechanism import RecordMechanism
from murmure.plan.plan import Plan
from murmure.plan.public_coins import CoinedRandom, coins_from_hex, has_public_coins
from murmure.plan.report_cells import MADE_BY, cell_check, not_a_report, parse_cells, write_cells
from murmure.plan.reports import Reports


def answer(
    plan: Plan[Any],
    answers: Any,
    rng: Random | None = None,
    number: int = 0,
    coins: Sequence[str] | None = None,
) -> dict[str, Any]:
    """One person's report, ready to be sent; for several questions `answers` maps each column to its answer.

    Every call draws again and costs epsilon again: keep the report, and send it until it is acknowledged. number: the
    public number of the person, for plans that take columns in turn. coins: public words that the collector gave out,
    16 hexadecimal digits each; a plan that declares them (`coins="collector"`) makes no report without them.
    """
    rng = (Random.secure() if rng is None else rng).require_secure("murmure.plan.sent_reports.answer")
    return report_from(plan, answers, rng, number, coins)


def report_from(
    plan: Plan[Any], answers: Any, rng: Random, number: int = 0, coins: Sequence[str] | None = None
) -> dict[str, Any]:
    """The same from any words, for vectors: whoever has a report and its words has the answer."""
    given = _with_coins(plan, rng, coins)
    if not isinstance(plan.person, RecordMechanism):
        data: Any = plan.report([answers], given).data
    elif not isinstance(answers, Mapping):
        raise InvalidParameter(
            "the answers must map each of the columns {names} to an answer, got {got}.",
            hint='answer(plan, {{"smoker": "no", "region": 3}})',
            names=", ".join(plan.person.columns),
            got=type(answers).__name__,
        )
    else:
        data = plan.person.report({name: [value] for name, value in answers.items()}, given, number)
    if len(data) == 0:
        raise OutsideDomain(
            "the answer is not {domain}, and this plan leaves such rows out.",
            hint="nothing was randomised, and there is nothing to send",
            domain=plan.person.domain.describe(),
        )
    if isinstance(given, CoinedRandom):
        given.finish()
    return sent(plan, Reports(data, plan.digest, seeded=False))[0]


def _with_coins(plan: Plan[Any], rng: Random, coins: Sequence[str] | None) -> Random:
    """The generator with the public words that were given out."""
    if coins is None:
        if plan.coins == "collector":
            raise InvalidParameter(
                "this plan takes its public coins from the collector, and none were given.",
                hint="answer(plan, answers, coins=...) with those that the collector gave out",
            )
        return rng
    words = coins_from_hex(coins)
    if has_public_coins(plan):
        return CoinedRandom(plan, words, rng)
    if words:
        raise InvalidParameter(
            "this plan has no public coins, got {got}.",
            hint="answer(plan, answers) draws every word here",
            got=Plural("{n} word", "{n} words", n=len(words)),
        )
    return rng


def sent(plan: Plan[Any], reports: Reports) -> list[dict[str, Any]]:
    """Reports as JSON values, person by person."""
    data = reports.data
    if not isinstance(data, Records):
        return [{"plan": reports.plan, "report": cell} for cell in write_cells(plan.person, data)]
    columns: list[list[Any]] = []
    for i, part in enumerate(plan.person.parts):
        column: list[Any] = [None] * data.n
        places = range(data.n) if data.rows is None else data.rows[i].tolist()
        for place, cell in zip(places, write_cells(part, data.parts[i]), strict=True):
            column[place] = cell
        columns.append(column)
    return [{"plan": reports.plan, "report": list(row)} for row in zip(*columns, strict=True)]


def received(plan: Plan[Any], documents: Sequence[Any]) -> Reports:
    """Reports from JSON values; refuses what another plan asked for, and what this plan's law cannot draw."""
    check = report_check(plan)
    values = [_opened(plan, document) for document in documents]
    for value in values:
        check(value)
    return parse_reports(plan, values)


def report_check(plan: Plan[Any]) -> Callable[[Any], None]:
    """A function that raises where one JSON value (what "report" holds) is not a report of this plan's law.

    Make it once and call it for each report: a question takes less than a microsecond, a record of ten a few.

    >>> import murmure as mu
    >>> from murmure.plan.sent_reports import report_check
    >>> domain = mu.Categories(["no", "yes"])
    >>> check = report_check(mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, epsilon=1.0)))
    >>> check(1)
    >>> try:
    ...     check(2)
    ... except mu.MurmureError as error:
    ...     print(error.message)
    this is not a report of the plan: wanted a whole number from 0 to 1, got 2.
    """
    if not isinstance(plan.person, RecordMechanism):
        return cell_check(plan.person)
    checks = [cell_check(part) for part in plan.person.parts]
    total = len(checks)
    take = plan.person.channel.draw.take if isinstance(plan.person.channel, Sampled) else total

    def check(row: Any) -> None:
        if not isinstance(row, list) or len(row) != total or total - row.count(None) != take:
            raise not_a_report(Phrase("a record with {take} of {total} columns", take=take, total=total), row)
        for check_cell, cell in zip(checks, row, strict=True):
            if cell is not None:
                check_cell(cell)

    return check


def parse_reports(plan: Plan[Any], values: Sequence[Any]) -> Reports:
    """Reports from JSON values that `report_check` let pass, for tallies. Nothing is checked again."""
    if not isinstance(plan.person, RecordMechanism):
        return Reports(parse_cells(plan.person, values), plan.digest, seeded=False)
    parts, n = plan.person.parts, len(values)
    columns: Sequence[Any] = list(zip(*values, strict=True)) if n else [()] * len(parts)
    rows = None
    if plan.person.shows_some_columns:
        rows = tuple(
            np.array([place for place, cell in enumerate(column) if cell is not None], np.int64) for column in columns
        )
        columns = [[cell for cell in column if cell is not None] for column in columns]
    parsed = tuple(parse_cells(part, column) for part, column in zip(parts, columns, strict=True))
    return Reports(Records(n, parsed, rows, law=plan.person.law_digest), plan.digest, seeded=False)


def _opened(plan: Plan[Any], document: Any) -> Any:
    if not isinstance(document, Mapping) or set(document) != {"plan", "report"}:
        raise not_a_report(Phrase("an object with plan and report"), document)
    if document["plan"] != plan.digest:
        raise PlanMismatch(
            "this report answers plan {plan}, not this plan {digest}.",
            hint=MADE_BY,
            plan=shorten(document["plan"]),
            digest=plan.digest[:12],
        )
    return document["report"]
