"""`run(plan, data)`: the whole way from rows to a release."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from numbers import Number
from typing import Any

from murmure.central.base.gate import Gate
from murmure.core.blocks import Cost
from murmure.core.errors import InvalidParameter, Phrase, PlanRefused, shorten
from murmure.core.notices import rehearsed
from murmure.core.random import Random, random_or_secure
from murmure.core.types import Answer, Release
from murmure.engines.sources.data_file import described
from murmure.plan.disclosure_rules import DisclosureRules, check_minimum_cell
from murmure.plan.plan import Plan
from murmure.plan.reports import Reports
from murmure.run.billing import LedgerRequest
from murmure.run.driver import drive
from murmure.run.engine_choice import engine_for
from murmure.run.outside_reports import release_reports
from murmure.run.tables.table_format import carries_plan
from murmure.statistics.conditions.minimum_cell import MINIMUM_CELL

NO_COST = Cost(0.0, 0.0)  # of exact sums, and of what people randomised before it was added up


def run(
    plan: Plan[Answer],
    frame: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Random | None = None,
    gate: Gate | None = None,
    *,
    reports: Any = None,
    rows_are_public: bool = False,
    minimum_cell: int = MINIMUM_CELL,
) -> Release[Answer]:
    """Randomise, add up and estimate. Secure randomness unless a seeded generator is passed; then the release says so.

    Pass one of frame and reports. frame holds what is true: `run` randomises it where the plan has a mechanism at the
    person. Answers that people randomised themselves, with coins, cards, a spinner or a program, are reports: they are
    not randomised again, and the release says that the randomness came from outside the software.

    frame: a list, an array, a pandas, Polars or Arrow table, a DuckDB relation, or the path of a CSV or Parquet file.
    Between parties: a list of such frames, one for each party, and None for one that vanishes.
    ledger: the account that pays for noise at the curator: `Ledger(path).account("patients")`. Nothing is paid twice:
    the same plan on the same file gives the same answer again.
    reports: the answers as people gave them (a sequence of labels, a column, a frame, a path), or how often each came
    ({"no": 300, "yes": 200}); or Reports, which say themselves how they were drawn.
    rows_are_public, minimum_cell: between parties, exact sums are held to the rules of a study: few for the rows, and
    no condition that fewer than minimum_cell rows may fulfil. rows_are_public=True sets the rules aside.

    >>> import murmure as mu
    >>> domain = mu.Integers(0, 10)
    >>> plan = mu.Plan(mu.Mean(domain), person=mu.Hybrid(domain, epsilon=2.0))
    >>> print(mu.run(plan, [2, 3, 7] * 1000, rng=mu.Random.seeded(7)).estimate)
             value       low      high
    mean    3.9337    3.7510    4.1164
    <BLANKLINE>
    3,000 people; 95% intervals by score (every value under which such reports are not rare, by a normal
      curve), for these people (fixed population)
    """
    if not isinstance(plan, Plan):
        raise InvalidParameter(
            "run takes a Plan, got {got}.",
            hint="run(plan, frame), with plan = Plan(Histogram(domain), person=GRR(...))",
            got=shorten(type(plan).__name__),
        )
    check_minimum_cell("run", minimum_cell)
    if reports is not None:
        _refuse_beside_reports(frame=frame, ledger=ledger, rng=rng, gate=gate)
        began = time.perf_counter()
        release = release_reports(plan, reports, engine)
        object.__setattr__(release, "seconds", time.perf_counter() - began)
        return release
    frame = described(frame, plan.statistic.domain)
    _refuse_as_frame(plan, frame, engine_for(frame, engine))
    if ledger is not None and plan.curator is None:
        raise PlanRefused(
            "Plan refused: a ledger records what a curator releases; with randomisation at the person, each report "
            "has its own cost.",
            hint="leave out ledger=, or give the plan a curator",
        )
    rng = random_or_secure(rng, "run")
    began = time.perf_counter()
    if gate is None or plan.curator is None:
        gate = Gate(rng)
    seeded = gate.rng.is_seeded and (plan.curator is not None or plan.person is not None)
    rules = DisclosureRules(rows_are_public, minimum_cell)
    cost = NO_COST if plan.curator is None else plan.bound.cost
    request = LedgerRequest(plan.digest, plan.describe(), cost, plan.relation, plan.unit)
    driven = drive(lambda: (one for one in (plan,)), frame, engine, request, ledger, gate, rules)
    release = plan.release(driven.estimates[0], seeded)
    object.__setattr__(release, "charge", driven.charge)
    if plan.parties is not None:
        release = replace(release, guarantees=rehearsed(release.guarantees), rehearsal=True)
    if plan.curator is None:  # under a curator, timing would reveal the number of rows
        object.__setattr__(release, "randomised_here", plan.person is not None)
        object.__setattr__(release, "seconds", time.perf_counter() - began)
    return release


BESIDE_REPORTS = {
    "frame": (
        Phrase("both true answers (frame) and randomised ones (reports)"),
        Phrase("run(plan, frame) or run(plan, reports=...)"),
    ),
    "ledger": (
        Phrase("a ledger with reports: at the person each report pays for itself"),
        Phrase("leave out the ledger"),
    ),
    "rng": (
        Phrase("a generator with reports: they are randomised already, and nothing is drawn"),
        Phrase("leave the rng out"),
    ),
    "gate": (Phrase("a gate with reports: no noise is added to them"), Phrase("leave the gate out")),
}


def _refuse_beside_reports(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            what, way_out = BESIDE_REPORTS[name]
            raise InvalidParameter("run got {got}.", hint=way_out, got=what)


def _refuse_as_frame(plan: Plan, frame: Any, engine: Any) -> None:
    """What can be told from true answers by its looks, and would be randomised a second time."""
    if frame is None:
        raise InvalidParameter(
            "run got neither a frame nor reports.", hint="run(plan, frame), or run(plan, reports=answers)"
        )
    if isinstance(frame, Reports):
        raise InvalidParameter(
            "run got Reports as its frame: they are already randomised.", hint="run(plan, reports=reports)"
        )
    if plan.person is None:
        return
    if carries_plan(frame, engine):
        raise InvalidParameter(
            "run got a sanitised table as its frame: its rows are already randomised.",
            hint="estimate(table) reads it",
        )
    if isinstance(frame, Mapping) and frame and all(map(_is_count, frame.values())):
        raise InvalidParameter(
            "run got counts as its frame; a frame has a row for each person.",
            hint="if people randomised these answers themselves: run(plan, reports=counts)",
        )


def _is_count(value: Any) -> bool:
    return isinstance(value, Number) and not isinstance(value, bool)
