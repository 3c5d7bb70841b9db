"""Averaging: ask the same thing again and again until the noise averages out.

at the person    t reports about one value: likelihoods multiply. The defence is to memoise: the first report is sent
                 again, or is the last that a client draws from the value (RAPPOR)
at the curator   t answers to one question: their mean, rounded, is the exact sum once its noise is below one half.
                 The defence is the ledger, which refuses further questions when the budget is spent
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.attacks.base.attack_result import AttackResult
from murmure.attacks.base.draws import uniforms
from murmure.attacks.base.guesses import pick_one
from murmure.attacks.base.repeated_guess import exact_success, memoised_success
from murmure.attacks.base.repetitions import check_count, with_bar
from murmure.attacks.base.success import Success, counted, exact
from murmure.attacks.base.threat_model import ThreatModel
from murmure.attacks.person.guesses.targets import channel_of_one_value
from murmure.central.discrete_laplace import DiscreteLaplace
from murmure.certify.accounting import covers
from murmure.core.blocks import Cost
from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, Phrase, Plural, shorten
from murmure.core.fixed import float_up, positive_epsilon
from murmure.core.random import Random, random_or_secure
from murmure.core.types import PostProcessed
from murmure.laws.bits import ChainedBits
from murmure.laws.law import Law
from murmure.local.grr import GRR
from murmure.local.rappor import RAPPOR
from murmure.local.subset import SubsetSelection
from murmure.plan.plan import Plan
from murmure.show.document import Facts, Number
from murmure.statistics.count import Count

TIMES = (1, 2, 5, 10, 20, 50, 100)
MAX_QUESTIONS = 10**6
MAX_TIMES = 10_000  # reports or answers that are added up


def averaging(
    attacked: Any,
    times: Sequence[int] = TIMES,
    *,
    people: int = 1000,
    budget: float | None = None,
    delta: float = 0.0,
    trials: int = 4000,
    rng: Random | None = None,
) -> AttackResult:
    """How soon do repeated reports, or repeated noisy answers, give the truth away?

    attacked: a mechanism at the person, or a plan; times: how many reports or answers the attacker has.
    people: how many people a plan with a curator counts, for the guess without the answers. budget, delta: what the
    ledger allows in all; the result says how many questions that are. trials: where the law is too large to compute the
    success, it is measured on so many people.

    >>> import murmure as mu
    >>> from murmure.attacks import averaging
    >>> result = averaging(mu.GRR(mu.Categories(4), epsilon=1.0), [1, 10, 100])
    >>> for row in result.rows:
    ...     print(row.attacker, row.at, round(row.value, 4), row.baseline)
    fresh reports 1.0 0.4754 0.25
    fresh reports 10.0 0.773 0.25
    fresh reports 100.0 0.9999 0.25
    the first report again 1.0 0.4754 0.25
    the first report again 10.0 0.4754 0.25
    the first report again 100.0 0.4754 0.25
    """
    steps = sorted({check_count("times", t) for t in times})
    if not steps:
        raise InvalidParameter("averaging: times is empty.", hint="times=[1, 10, 100]")
    if steps[-1] > MAX_TIMES:
        raise InvalidParameter(
            "averaging: times must be at most {most:,}, got {got:,}.",
            hint="times=[1, 10, 100]",
            most=MAX_TIMES,
            got=steps[-1],
        )
    if isinstance(attacked, Plan):
        if attacked.curator is not None:
            return _central(attacked, steps, check_count("people", people), budget, delta)
        attacked = attacked.person
    channel = channel_of_one_value(attacked)
    if channel is None:
        raise InvalidParameter(
            "averaging attacks a mechanism of one value, or a plan with noise, got {got}.",
            hint="averaging(GRR(Categories(4), epsilon=1.0)); of records, attack the mechanism of one column",
            got=shorten(attacked),
        )
    if budget is not None:
        raise InvalidParameter(
            "averaging: budget is for noise at a curator.", hint="at the person, memoise: reports are not counted"
        )
    rng = random_or_secure(rng, "averaging")
    return _local(attacked, channel, steps, check_count("trials", trials), rng)


# -- at the person


def _local(mechanism: Any, channel: Any, times: Sequence[int], trials: int, rng: Random) -> AttackResult:
    fresh, again = Phrase("fresh reports"), Phrase("the first report again")
    chance = 1 / channel.inputs
    computed = {t: exact_success(channel, t) for t in dict.fromkeys([1, *times])}
    missing = [t for t, value in computed.items() if value is None]
    drawn = _simulate(channel, missing, trials, rng) if missing else {}

    def row(attacker: str, used: int, at: int) -> Success:
        value = computed[used]
        if value is not None:
            return exact(attacker, value, chance, float(at))
        return counted(attacker, drawn[used], trials, chance, float(at))

    rows = [row(fresh, t, t) for t in times]
    notes = []
    if isinstance(channel, ChainedBits):
        kept = Phrase("kept bits, fresh noise")
        rows += [exact(kept, memoised_success(channel, t), chance, float(t)) for t in times]
        limit = exact_success(channel.permanent, 1)
        assert limit is not None
        notes.append(
            Phrase(
                "However many reports a client sends that keeps its bits, the guess is right in at most {limit:.2%} of "
                "all cases: that is what the kept bits themselves tell.",
                limit=limit,
            )
        )
    else:
        rows += [row(again, 1, t) for t in times]
    if missing:
        notes.append(Phrase("The law has too many reports to list: measured on {trials:,} people each.", trials=trials))
    return AttackResult(
        name="average",
        title=Phrase("Averaging over reports of one person: {mechanism}", mechanism=type(mechanism).__name__),
        threat=ThreatModel(
            Phrase("several reports about one value of one person"),
            Phrase("the law of the reports, and that the value does not change"),
            Phrase("the value, all {values:,} being equally likely beforehand", values=channel.inputs),
        ),
        measure=Phrase("share of people whose value is guessed"),
        rows=tuple(rows),
        axis=Phrase("reports"),
        notes=tuple(notes),
        details={"mechanism": type(mechanism).__name__, "values": channel.inputs},
    )


def _simulate(channel: Any, times: Sequence[int], trials: int, rng: Random) -> dict[int, int]:
    """Hits of the best guess after so many reports."""
    k = channel.inputs
    x = np.minimum((uniforms(rng, trials) * k).astype(np.int64), k - 1)
    every, hits = np.tile(np.arange(k), trials), {}
    logs = np.zeros((trials, k))
    for t in with_bar(range(1, max(times) + 1), Phrase("adding reports")):
        reports = Law(channel, x).sample(rng)
        logs += channel.log_prob(every, np.repeat(reports, k, axis=0)).reshape(trials, k)
        if t in times:
            best = logs.max(axis=1, keepdims=True)
            likeliest = logs >= best - 1e-9 * np.maximum(1.0, np.abs(best))
            hits[t] = int((pick_one(likeliest, rng) == x).sum())
    return hits


# -- at the curator


def _central(plan: Plan, times: Sequence[int], people: int, budget: float | None, delta: float) -> AttackResult:
    if plan.chooses or isinstance(plan.bound.noise, PostProcessed):
        raise InvalidParameter(
            "averaging needs noise that is added to a sum, and {noise} gives something else.",
            hint="DiscreteLaplace, DiscreteGaussian, Staircase or Skellam",
            noise=type(plan.curator).__name__,
        )
    bound: Any = plan.bound
    mean = Phrase("mean of the answers, rounded")
    rows = []
    for block, law in zip(bound.blocks, bound.laws, strict=True):
        setting = {"block": block.name} if len(bound.blocks) > 1 else {}
        chance = 1 / (people * block.l1 + 1)
        rows += [exact(mean, mean_is_right(law, t), chance, float(t), **setting) for t in times]
    blocks: tuple[Any, ...] = ()
    details: dict[str, Any] = {"plan": plan.digest, "people": people, "epsilon": bound.epsilon}
    if budget is not None:
        most = affordable(bound.cost, positive_epsilon("averaging", budget, "budget"), delta)
        details |= {"budget": budget, "delta": delta, "questions": most}
        facts: list[tuple[str, Any]] = [
            (Phrase("the ledger allows"), Plural("{n:,} question", "{n:,} questions", n=most))
        ]
        for block, law in zip(bound.blocks, bound.laws, strict=True):
            right = mean_is_right(law, most) if most else 0.0
            facts.append((_right_by_then(block.name, len(bound.blocks)), Number(right, "share", 2)))
            details.setdefault("right_within_budget", {})[block.name] = right
        blocks = (Facts(tuple(facts)),)
    return AttackResult(
        name="average",
        title=Phrase("Averaging over answers of a curator: {plan}", plan=plan.describe()),
        threat=ThreatModel(
            Phrase("the answers to one question that is asked again and again"),
            Phrase("the law of the noise, and that the data do not change"),
            Phrase(
                "the exact sum, all sums that {people:,} people can have being equally likely beforehand", people=people
            ),
        ),
        measure=Phrase("chance that the sum is exactly right"),
        rows=tuple(rows),
        axis=Phrase("answers"),
        notes=(
            Phrase(
                "A ledger does not answer twice: the same question on the same data gives the paid answer again, and "
                "other questions are refused once the budget is spent."
            ),
        ),
        blocks=blocks,
        details=details,
        baseline=Phrase("without the answers"),
    )


def _right_by_then(block: str, of: int) -> str:
    """One block needs no name."""
    return Phrase("exactly right by then") if of == 1 else Phrase("exactly right by then, {block}", block=block)


def mean_is_right(law: Any, times: int) -> float:
    """P[|sum of t draws of the noise| < t/2], and half of P[= t/2], from its law: the t-th power of its transform."""
    spread = math.sqrt(law.variance)
    reach = max(64, law.quantile(1e-17))
    size = 1 << math.ceil(math.log2(2 * reach + 2 + 20 * spread * math.sqrt(times) + times))
    z = np.arange(size)
    z = np.where(z < size // 2, z, z - size)
    near = np.abs(z) <= reach
    mass = np.zeros(size)
    mass[near] = np.exp(law.log_prob(z[near]))
    total = np.fft.irfft(np.fft.rfft(mass / mass.sum()) ** times, size)
    inside, edge = 2 * np.abs(z) < times, 2 * np.abs(z) == times
    return float(np.clip(total[inside].sum() + total[edge].sum() / 2, 0.0, 1.0))


def affordable(cost: Cost, epsilon: float, delta: float = 0.0) -> int:
    """How many charges of this cost a budget covers, added up exactly as the ledger does."""

    def fits(count: int) -> bool:
        total = [
            value if math.isinf(value) else float_up(Fraction(value) * count) for value in (cost.epsilon, cost.rho)
        ]
        return covers(epsilon, delta, Cost(*total))

    low, high = 0, 1
    while fits(high) and high < MAX_QUESTIONS:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


EXAMPLES = (
    lambda: averaging(GRR(Categories(4), 1.0), [1, 2, 10]),
    lambda: averaging(SubsetSelection(Categories(40), 1.0), [1, 3], trials=200, rng=Random.seeded(18)),
    lambda: averaging(RAPPOR(Categories(5), 2.0, 1.0), [1, 10, 100]),
    lambda: averaging(Plan(Count(Categories(2)), curator=DiscreteLaplace(0.1)), [1, 10, 1000], budget=1.0),
)
