"""Public coins: declared in the plan, given out by a collector, and checked in what comes back."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.vectors.make_browser import examples, stream

import murmure as mu
from murmure.core.errors import InvalidParameter, MurmureError, OutsideDomain, PlanRefused
from murmure.core.fixed import WORD, log_up
from murmure.core.random import GivenWords, Random
from murmure.core.schema import Schema
from murmure.laws.bits import BitsChannel
from murmure.laws.cut import Cut
from murmure.laws.hashed import Hashed
from murmure.laws.records import Draw, Joint, Sampled
from murmure.plan.public_coins import (
    check_coins,
    coin_words,
    coins_from_hex,
    coins_in_hex,
    drawn_columns,
    has_public_coins,
)
from murmure.plan.sent_reports import answer, received, report_check, report_from

SCHEMA = mu.Schema({"a": mu.Categories(5), "b": mu.Categories(40), "c": mu.Categories(70)})
ANSWERS = {"a": 1, "b": 20, "c": 69}
MIXED = ("OUE", "OLH", "OUE")  # two columns of bits share words, and the hash between them comes last


def plan_of(person: Any, coins: Any = "person") -> mu.Plan[Any]:
    for statistic in (mu.Marginals,) if isinstance(person.domain, Schema) else (mu.Histogram, mu.Mean):
        try:
            return mu.Plan(statistic(person.domain), person=person, coins=coins)
        except MurmureError:
            continue
    raise AssertionError(person)


COINED: dict[str, mu.Plan[Any]] = {
    "OLH": plan_of(mu.OLH(mu.Categories(1000), 2.0), "collector"),
    "BLH": plan_of(mu.BLH(mu.Categories(9), 1.0), "collector"),
    "SMP": plan_of(mu.SMP(SCHEMA, 1.0, oracle="GRR"), "collector"),
    "SMP with weights": plan_of(mu.SMP(SCHEMA, 1.0, oracle="OLH", weights=(5.0, 1.0, 2.0)), "collector"),
    "SMP of two": plan_of(mu.SMP(SCHEMA, 2.0, oracle=("GRR", "OLH", "OLH"), sample=2), "collector"),
    "SMP in turn": plan_of(mu.SMP(SCHEMA, 2.0, oracle="OLH", draw="round-robin"), "collector"),
    "SPL": plan_of(mu.SPL(SCHEMA, 9.0, oracle=MIXED), "collector"),
    "ADP": plan_of(mu.ADP(SCHEMA, 1.0), "collector"),
}


def one_answer(plan: mu.Plan[Any]) -> Any:
    return ANSWERS if plan.of_records else 3


def words_of(plan: mu.Plan[Any], seed: int, number: int = 0) -> list[int]:
    return coin_words(plan, iter(stream(seed, 50)), number)


# -- in the plan -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COINED)
def test_a_declared_plan_travels(name: str) -> None:
    plan = COINED[name]
    again = mu.Plan.from_json(plan.to_json())

    assert json.loads(plan.to_json())["coins"] == "collector"
    assert again == plan and again.digest == plan.digest and again.coins == "collector"
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert repr(plan).endswith(", coins='collector')")


def test_without_a_declaration_nothing_is_written() -> None:
    domain = mu.Categories(1000)
    plain = mu.Plan(mu.Histogram(domain), person=mu.OLH(domain, 2.0))
    spelled = mu.Plan(mu.Histogram(domain), person=mu.OLH(domain, 2.0), coins="person")

    assert plain == spelled and plain.to_json() == spelled.to_json()
    assert "coins" not in plain.to_json() + repr(plain)
    assert plain.digest != COINED["OLH"].digest


REFUSED = {
    "no public coin": mu.GRR(mu.Categories(4), 1.0),
    "hides which column is real": mu.RSFD(SCHEMA, 1.0),
    "a collector that drew it would know": mu.ADP(SCHEMA, 1.0, "rsfd"),
    "which is not a coin": mu.SMP(SCHEMA, 1.0, oracle="GRR", draw="round-robin"),
    "SPL shows no public coin": mu.SPL(SCHEMA, 1.0, oracle="GRR"),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_only_public_coins_can_be_given_out(reason: str) -> None:
    with pytest.raises(PlanRefused, match=reason):
        plan = plan_of(REFUSED[reason])
        mu.Plan(plan.statistic, person=plan.person, coins="collector")


def test_plans_without_a_collector_give_out_no_coins() -> None:
    domain = mu.Categories(40)
    for slots, reason in (
        ({}, "no mechanism at the person"),
        ({"curator": mu.DiscreteLaplace(1.0)}, "no mechanism at the person"),
        ({"person": mu.OLH(domain, 1.0), "parties": mu.PairwiseMasks(5)}, "nobody sees single reports"),
    ):
        with pytest.raises(PlanRefused, match=reason):
            mu.Plan(mu.Histogram(domain), coins="collector", **slots)
    with pytest.raises(InvalidParameter, match='"person" or "collector", got'):
        mu.Plan(mu.Histogram(domain), person=mu.OLH(domain, 1.0), coins="server")  # type: ignore[arg-type]


@pytest.mark.parametrize("coins", ["person", "server", None, True, ["collector"]])
def test_a_plan_has_one_text(coins: Any) -> None:
    """The default is not written, so a text that writes it is not the text of the plan."""
    document = json.loads(COINED["OLH"].to_json()) | {"coins": coins}

    with pytest.raises(PlanRefused, match='coins must be "collector", or left out'):
        mu.Plan.from_json(json.dumps(document))


def test_every_example_says_whether_it_has_public_coins() -> None:
    """Exactly OLH and BLH, and records that draw columns by lot or hash some column."""
    found = {name for name, person in examples() if has_public_coins(mu_plan(person))}

    assert {name.split()[0] for name in found} == {"BLH", "OLH", "SMP", "ADP"}
    assert not any(name.startswith(("RSFD", "RSRFD")) for name in found)


def mu_plan(person: Any) -> Any:
    return type("AnyPlan", (), {"person": person})()  # bounded numbers answer no statistic


# -- words -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COINED)
def test_a_report_shows_the_coins_that_were_given_out(name: str) -> None:
    plan = COINED[name]
    check = report_check(plan)
    for seed in range(40):
        words = words_of(plan, seed, number=seed)
        report = answer(plan, one_answer(plan), coins=coins_in_hex(words), number=seed)

        check(report["report"])
        check_coins(plan, words, report["report"], number=seed)


@pytest.mark.parametrize("name", COINED)
def test_other_coins_are_refused(name: str) -> None:
    """Each word on its own decides something that is checked; and so does how many there are."""
    plan = COINED[name]
    for seed in range(40):
        words = words_of(plan, seed)
        report = answer(plan, one_answer(plan), coins=coins_in_hex(words))["report"]
        for wrong in (words[:-1], [*words, 0], []):
            with pytest.raises(InvalidParameter):
                check_coins(plan, wrong, report)
            with pytest.raises(InvalidParameter):
                answer(plan, one_answer(plan), coins=coins_in_hex(wrong))
        for place, flipped in itertools.product(range(len(words)), (1, 1 << 63, WORD - 1)):
            other = words.copy()
            other[place] ^= flipped
            assert refuses(check_coins, plan, other, report) == (shows(plan, other) != shows(plan, words))


def refuses(work: Any, *arguments: Any) -> bool:
    try:
        work(*arguments)
    except InvalidParameter:
        return True
    return False


def shows(plan: mu.Plan[Any], words: list[int]) -> Any:
    """What a report with these coins shows of them; None: it takes another number of words."""
    try:
        report = answer(plan, one_answer(plan), coins=coins_in_hex(words))["report"]
    except InvalidParameter:
        return None
    hashed = [isinstance(part, Hashed) for part in getattr(plan.person.channel, "parts", [plan.person.channel])]
    cells = report if plan.of_records else [report]
    return [None if cell is None else cell[:-4] if h else "" for h, cell in zip(hashed, cells, strict=True)]


def test_a_column_that_was_not_drawn_is_refused() -> None:
    plan = COINED["SMP"]

    with pytest.raises(InvalidParameter, match="other columns than its public coins say: column 0 must be a report"):
        check_coins(plan, [0], [None, 3, None])
    with pytest.raises(InvalidParameter, match="another hash than its public coins say"):
        check_coins(COINED["BLH"], [0, 0], "0100" * 6)


@pytest.mark.parametrize(
    "draw",
    [Draw(5), Draw(5, 2), Draw(5, 5), Draw(9, 4), Draw(1), Draw(3, 1, Cut.of((5.0, 1.0, 2.0))), Draw(40, 3)],
    ids=str,
)
def test_columns_are_drawn_as_laws_draw_them(draw: Draw) -> None:
    sets, edges = draw.sets, [0, WORD - 1]
    for code in range(0, sets.size, max(1, sets.size // 50)):
        start = sum(sets.count(v) for v in range(code)) if sets.counts else code * sets.step
        edges += [start, max(0, start - 1)]
    for word in [*edges, *stream(3, 50)]:

        class One(Random):
            def reserve(self, n: int, width: int, depth: int = 0) -> Any:
                return GivenWords(np.array([[word]], np.uint64))  # noqa: B023

        rows = draw.rows(1, One(b"", 0), 0)

        assert drawn_columns(draw, word) == [len(row) == 1 for row in rows]


def test_given_words_and_secret_words_make_the_report_of_all_words() -> None:
    """The same words in the order in which a law reads them give the same report, with and without coins."""
    hashed = mu.OLH(mu.Categories(1000), 2.0)
    plain, declared = plan_of(hashed), plan_of(hashed, "collector")
    for seed in range(20):
        words = stream(seed, hashed.channel.words)
        table = np.array([words], np.uint64)

        class Given(Random):
            def reserve(self, n: int, width: int, depth: int = 0) -> Any:
                return GivenWords(table[:, -width:])  # noqa: B023

        whole = report_from(plain, 77, Given(b"", 0))
        coined = report_from(declared, 77, Given(b"", 0), coins=coins_in_hex(words[:-1]))

        assert whole["report"] == coined["report"]


def test_answers_and_coins_that_are_refused() -> None:
    plan, none = COINED["OLH"], plan_of(mu.GRR(mu.Categories(4), 1.0))
    with pytest.raises(InvalidParameter, match="takes its public coins from the collector, and none were given"):
        answer(plan, 3)
    for wrong in ("0" * 16, [0], ["0" * 15], ["G" * 16], ["0" * 16, None], {"0" * 16}):
        with pytest.raises(InvalidParameter, match="16 hexadecimal digits"):
            answer(plan, 3, coins=wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="no public coins, got 1 word"):
        answer(none, 3, coins=["0" * 16])
    assert answer(none, 3, coins=[])["plan"] == none.digest
    undeclared = plan_of(plan.person)
    assert answer(undeclared, 3, coins=coins_in_hex(words_of(plan, 1)))["plan"] == undeclared.digest
    domain = mu.Categories(40, outside="drop")
    with pytest.raises(OutsideDomain):
        leaves_out = mu.Plan(mu.Histogram(domain), person=mu.OLH(domain, 1.0), coins="collector")
        answer(leaves_out, 41, coins=coins_in_hex(words_of(leaves_out, 1)))


def test_coins_travel_as_text() -> None:
    words = [0, 1, WORD - 1, 0x0123456789ABCDEF]

    assert coins_in_hex(words) == ["0" * 16, "0" * 15 + "1", "f" * 16, "0123456789abcdef"]
    assert coins_from_hex(coins_in_hex(words)) == words


def test_estimates_with_given_coins_are_those_of_the_law() -> None:
    """Coins from a keyed stream, 4,000 people: within six standard errors, which fails once in 5e8 seeds; seeded."""
    domain = mu.Categories(8)
    plan = mu.Plan(mu.Histogram(domain), person=mu.OLH(domain, 2.0), coins="collector")
    rng, reports = mu.Random.seeded(11), []
    for person in range(4000):
        coins = coins_in_hex(words_of(plan, person))
        reports.append(report_from(plan, person % 4, rng, coins=coins))

    estimate = plan.estimate(received(plan, reports)).estimate

    error = np.sqrt(plan.person.variance(0.25, 4000))
    assert np.abs(estimate.mean - np.repeat([0.25, 0.0], 4)).max() < 6 * error


# -- certificates hold for every fixed public coin ---------------------------------------------------------------------


def conditional_ratios(channel: Any) -> Iterator[Fraction | float]:
    """The largest ratio of two inputs, for each fixed public coin, by listing every report that has this coin."""
    if isinstance(channel, Hashed):
        for seeds in itertools.product(range(1 << channel.seed_bits), repeat=channel.value_bits + 1):
            given = np.array([seeds], np.uint16)
            bins = [int(channel.bin_of(channel.hash(given, np.array([x], np.int64)))[0]) for x in range(channel.inputs)]
            yield max(
                channel.bins.prob(one, y) / channel.bins.prob(other, y)
                for one, other, y in itertools.product(set(bins), set(bins), range(channel.g))
            )
    elif isinstance(channel, Joint):
        for ratios in itertools.product(*(list(conditional_ratios(part)) for part in channel.parts)):
            yield math.prod(ratios)  # columns are independent given the coins
    elif isinstance(channel, Sampled):
        each = [max(conditional_ratios(part)) for part in channel.parts]
        for shown in channel.draw.outcomes():
            yield math.prod(each[i] for i in shown)
    else:
        if channel.outcomes() is None:  # bits of many values: two inputs differ in two of them
            channel = BitsChannel(4, channel.yes_true, channel.yes_false)
        outcomes = list(channel.outcomes())
        rows = [[channel.prob(x, y) for y in outcomes] for x in range(channel.inputs)]
        yield max(a / b for one in rows for other in rows for a, b in zip(one, other, strict=True) if a)


def small_with_public_coins() -> Iterator[tuple[str, Any]]:
    small = mu.Schema({"a": mu.Categories(2), "b": mu.Categories(3)})
    yield "OLH to 2 bins", mu.OLH(mu.Categories(4), 0.1)
    yield "SPL of hashes", mu.SPL(small, 1.0, oracle="BLH")
    yield "SMP of hashes", mu.SMP(small, 1.0, oracle=("GRR", "BLH"))
    for name, person in examples():
        if has_public_coins(mu_plan(person)):
            yield name, person


def seeds_of(channel: Any) -> float:
    """log2 of how many hashes there are, over all columns."""
    parts = channel.parts if isinstance(channel, Joint | Sampled) else (channel,)
    return sum(part.seed_bits * (part.value_bits + 1) for part in parts if isinstance(part, Hashed))


CONDITIONAL = {name: person for name, person in small_with_public_coins() if seeds_of(person.channel) <= 12}


@pytest.mark.parametrize("name", CONDITIONAL)
def test_a_certificate_holds_for_each_fixed_public_coin(name: str) -> None:
    """And some coin attains it: the certificate is the largest over coins, not their mean."""
    person = CONDITIONAL[name]
    worst = max(conditional_ratios(person.channel))

    certificate = mu.certify(person)

    assert log_up(Fraction(worst)) <= certificate.epsilon
    assert certificate.epsilon == pytest.approx(float(np.log(float(worst))), abs=1e-12)


@pytest.mark.parametrize("name", sorted({n for n, p in small_with_public_coins()} - CONDITIONAL.keys()))
def test_a_certificate_holds_for_hashes_that_cannot_be_listed(name: str) -> None:
    """Given any hash, a report is a randomised bin, so no hash exceeds the law of the bins; a thousand are tried."""
    person = dict(small_with_public_coins())[name]
    channel = person.channel
    parts = channel.parts if isinstance(channel, Sampled) else (channel,)
    rng, losses = np.random.default_rng(5), []
    for part in parts:
        if not isinstance(part, Hashed):
            losses.append(log_up(Fraction(max(conditional_ratios(part)))))
            continue
        seeds = rng.integers(0, 1 << part.seed_bits, (1000, part.value_bits + 1)).astype(np.uint16)
        worst = Fraction(1)
        for one, other in [(0, 1), (1, part.inputs - 1)]:
            a, b = (part.bin_of(part.hash(seeds, np.full(1000, x))) for x in (one, other))
            for i in np.flatnonzero(a != b)[:20]:
                worst = max(worst, part.bins.prob(int(a[i]), int(a[i])) / part.bins.prob(int(b[i]), int(a[i])))
        losses.append(log_up(worst))
    take = channel.draw.take if isinstance(channel, Sampled) else 1

    assert sum(sorted(losses)[-take:]) <= mu.certify(person).epsilon * (1 + 1e-12)


# -- what a forger can still do ----------------------------------------------------------------------------------------


def test_leverage_is_the_same_with_given_coins() -> None:
    """For each hash some report supports any value and some does not: both ends of every figure stay within reach."""
    domain = mu.Categories(5)
    plan = mu.Plan(mu.Histogram(domain), person=mu.BLH(domain, 1.0), coins="collector")
    law = plan.person.channel
    for seeds in itertools.product(range(1 << law.seed_bits), repeat=law.value_bits + 1):
        reports = np.array([[*seeds, y] for y in range(law.g)], np.uint16)
        supports = np.array([law.supports(report[None]) for report in reports])

        assert (supports.max(axis=0) == 1).all() and (supports.min(axis=0) == 0).all()
    for name, declared in COINED.items():
        drawn = plan_of(declared.person).leverage()
        for column, one in declared.leverage().items():
            assert (one.up == drawn[column].up).all() and (one.down == drawn[column].down).all(), name
