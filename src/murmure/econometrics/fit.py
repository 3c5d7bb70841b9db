"""`ask(model, data)` runs a model: each of its questions becomes a plan, runs where the rows are, and returns sums.

The same call runs in the clear on one table, on an engine, between parties by masked sums, or with noise. A model does
not know which; it only sees the variance of the noise in its answers.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from murmure.central.base.gate import Gate
from murmure.certify.accounting import sequential
from murmure.core.errors import InvalidParameter, Phrase, PlanRefused, shorten
from murmure.core.random import random_or_secure
from murmure.econometrics.errors import FitFailed
from murmure.econometrics.model import NO_ROWS, digest_of
from murmure.econometrics.results.provenance import how_of
from murmure.engines.sources.data_file import described
from murmure.plan.codec import LEFT_OUT
from murmure.plan.plan import Plan
from murmure.plan.privacy import Central, Clear, Local, Secure, check_privacy, noise_in, rules_of
from murmure.run.billing import LedgerRequest
from murmure.run.driver import drive
from murmure.run.totals import SeparateTables
from murmure.statistics.exact.party_products import PartyOuterProducts

# With noise, factors are rounded to this length: far below the noise, and short enough for sums to fit into a word.
COARSE_BITS = 14


def ask(
    model: Any,
    data: Any,
    *,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
    gate: Gate | None = None,
) -> Any:
    """The model's result. data: a table, or a list of tables, one for each party (None for one that vanishes).

    privacy: Clear() (the default; several tables are added up in the clear), Secure(...) between the parties of the
    list, or Central(epsilon).
    """
    if data is NO_ROWS:
        return model
    owner = type(model).__name__
    data = described(data, model.domain)
    privacy, frame, apart, present = resolve_data(owner, privacy, data)
    gate = gate or Gate(random_or_secure(rng, owner))
    noise = noise_in(privacy)
    if noise is not None and model.noise_refusal is not None:
        raise PlanRefused(
            "{owner} cannot be computed with noise: {noise_refusal}.",
            hint="for exact sums between parties, use privacy=mu.Secure(); docs/how-to-econometrics.md lists the "
            "models that support noise",
            owner=owner,
            noise_refusal=model.noise_refusal,
        )
    if isinstance(privacy, Secure):
        check_sharing(model, privacy.sharing)
    description = f"{owner} of {', '.join(shorten(name, 40) for name in model.domain.private[:6])}"
    request = LedgerRequest(_ledger_name(model, privacy), description, sequential([]))
    if noise is not None:
        request = replace(request, cost=noise.cost, relation=noise.relation, unit=noise.unit)
    elif ledger is not None:
        way_out = "privacy=mu.Central(epsilon=1.0)" if model.noise_refusal is None else Phrase("leave out the ledger")
        raise PlanRefused("a ledger records what noise costs, but there is no noise.", hint=way_out)
    noises = privacy.noises([1.0] * model.rounds)

    def plan_of(statistic: Any, number: int) -> Plan:
        if number == len(noises):
            raise FitFailed(
                "{owner} asks for more than its {noise_count} rounds.", owner=owner, noise_count=len(noises)
            )
        return privacy.plan(coarsen_for_noise(statistic, noises[number]), noises[number])  # type: ignore[no-any-return]

    driven = drive(model.steps, frame, engine, request, ledger, gate, rules_of(privacy, model), plan_of)
    how = how_of(privacy, driven.plans, driven.estimates, present, apart, gate.rng.is_seeded, in_process=True)
    return replace(driven.result, how=replace(how, charge=driven.charge))  # type: ignore[type-var]


def check_sharing(model: Any, sharing: Any) -> None:
    """Refuse, before the first round, a model that these parties or this coordinator do not allow.

    Products by party need several honest parties (party_products.py). Every party knows its own part, so at least one
    is counted as a colluder. A lying coordinator could choose the next question, since it follows from the totals that
    the coordinator reports.
    """
    owner, statistic = type(model).__name__, model.party_statistic
    honest = sharing.minimum - max(sharing.colluders, 1)
    if statistic is not None and honest < statistic.min_honest:
        what = (
            Phrase("errors by clusters that are parties")
            if statistic is PartyOuterProducts
            else Phrase("levels of parties")
        )
        raise PlanRefused(
            "{owner}: {what} need at least {min_honest} honest parties, but there may be only {honest}: of "
            "{parties}, {dropouts} may drop out and {colluders} may collude or use what they know themselves.",
            hint="more parties; or fewer that may drop out, mu.Secure(dropouts=0)",
            owner=owner,
            what=what,
            min_honest=statistic.min_honest,
            honest=honest,
            parties=sharing.parties,
            dropouts=sharing.dropouts,
            colluders=max(sharing.colluders, 1),
        )
    # A model of one round asks a question that was fixed before any total was known.
    if sharing.coordinator == "lying" and model.rounds > 1:
        raise PlanRefused(
            "{owner} takes up to {rounds} rounds, each of which depends on earlier totals: a coordinator that lies "
            "about a total could choose what is asked next.",
            hint='coordinator="curious" (in a study.toml coordinator_may_lie = false), if it can be trusted to '
            "report true totals; or a model of one round",
            owner=owner,
            rounds=model.rounds,
        )


def coarsen_for_noise(statistic: Any, noise: Any) -> Any:
    """The statistic that is asked: with noise, on a coarser grid that leaves room for it."""
    return statistic if noise is None else statistic.coarse(COARSE_BITS)


def _ledger_name(model: Any, privacy: Any) -> str:
    """Names all that decides which questions are asked: another epsilon is another plan, and paid for anew."""
    try:
        content = {"model": digest_of(model), "privacy": repr(privacy), "missing": LEFT_OUT}
    except PlanRefused:  # a custom score has no JSON; it takes no noise either, so nothing is charged for it
        return type(model).__name__
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _refuse_people_twice(owner: str, privacy: Any, tables: Sequence[Any]) -> None:
    """With noise a person counts once: a table must not come twice, nor a person's rows in several tables."""
    inodes: set[tuple[int, int]] = set()
    for path in (table for table in tables if isinstance(table, str | os.PathLike) and os.path.exists(table)):
        status = os.stat(path)
        if (status.st_dev, status.st_ino) in inodes:
            raise InvalidParameter(
                "{owner}: {path!r} is listed twice, so its people would be counted twice.",
                owner=owner,
                path=os.fspath(path),
            )
        inodes.add((status.st_dev, status.st_ino))
    if isinstance(privacy, Central) and privacy.unit != "row" and len(tables) > 1:
        raise InvalidParameter(
            "{owner}: the rows of one {unit} may be in several of these tables, so their number is not bounded.",
            hint="put them into one table, or count rows: unit='row'",
            owner=owner,
            unit=privacy.unit,
        )


def resolve_data(owner: str, privacy: Any, data: Any) -> tuple[Any, Any, int | None, int | None]:
    """Privacy and data, checked together; how many tables there are in the clear, and how many parties are present."""
    privacy = Clear() if privacy is None else check_privacy(owner, privacy)
    if isinstance(privacy, Local):
        raise InvalidParameter(
            "{owner} does not randomise rows itself.",
            hint="randomise the columns at the person (mu.sanitise), then econometrics.randomised_ols(...)",
            owner=owner,
        )
    several = isinstance(data, list | tuple)
    if several and noise_in(privacy) is not None:
        _refuse_people_twice(owner, privacy, data)
    if several and not data:
        raise InvalidParameter(
            "{owner}: the list of tables is empty.", hint="give one table for each party", owner=owner
        )
    if isinstance(privacy, Secure):
        if not several:
            raise InvalidParameter(
                "{owner} under Secure() takes a list of tables, one for each party, got {got}.",
                hint="[table_1, table_2, table_3]; over a network: murmure study",
                owner=owner,
                got=type(data).__name__,
            )
        if len(data) < 3:
            raise InvalidParameter(
                "{owner} under Secure() takes three tables or more, got {got}.",
                hint="with two parties, each could subtract its own sum and learn the other's",
                owner=owner,
                got=len(data),
            )
        return privacy.for_parties(len(data)), list(data), None, sum(table is not None for table in data)
    if not several:
        return privacy, data, None, None
    if any(table is None for table in data):
        raise InvalidParameter("{owner}: a table is None; parties can drop out only under Secure().", owner=owner)
    return privacy, SeparateTables(tuple(data)), len(data), len(data)
