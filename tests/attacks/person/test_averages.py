"""Averaging: exact figures against sums over every sequence of reports, and the budget against a real ledger."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import murmure as mu
from murmure.attacks import averaging
from murmure.attacks.base.repeated_guess import exact_success, largest, memoised_success, most_often
from murmure.attacks.person.averages import _simulate, affordable, mean_is_right
from murmure.cli import main
from murmure.core.blocks import Cost
from murmure.laws.bits import pack

THREE, FOUR = mu.Categories(3), mu.Categories(4)


def by_hand(prob: Callable[[int, Any], Fraction], inputs: int, outcomes: Iterable[Any], times: int) -> float:
    """1/k sum over sequences of the largest likelihood."""
    total = Fraction(0)
    for sequence in itertools.product(list(outcomes), repeat=times):
        total += max(math.prod((prob(x, y) for y in sequence), start=Fraction(1)) for x in range(inputs))
    return float(total / inputs)


@pytest.mark.parametrize(
    ("mechanism", "times"),
    [
        (mu.GRR(THREE, 1.0), 4),
        (mu.GRR(mu.Categories(2), 0.3), 5),
        (mu.GRR(mu.Categories(5), 3.0), 3),
        (mu.SUE(THREE, 1.0), 2),
        (mu.OUE(THREE, 1.0), 2),
        (mu.OUE(mu.Categories(2), 2.0), 3),
        (mu.RAPPOR(THREE, 2.0, 1.0), 2),
        (mu.Warner(mu.Categories(["no", "yes"]), 1.0), 5),
        (mu.SubsetSelection(FOUR, 1.0), 2),
        (mu.HadamardResponse(THREE, 1.0), 3),
    ],
    ids=lambda v: type(v).__name__ if not isinstance(v, int) else str(v),
)
def test_the_best_guess_is_a_sum_over_sequences(mechanism: Any, times: int) -> None:
    channel = mechanism.channel
    for t in range(1, times + 1):
        got = exact_success(channel, t)

        assert got == pytest.approx(by_hand(channel.prob, channel.inputs, channel.outcomes(), t), rel=1e-10)
        general = exact_success.dispatch(object)(channel, t)
        assert general is None or general == pytest.approx(got, rel=1e-10)


def test_the_commonest_of_many_draws() -> None:
    """By counting sequences; and at epsilon 20, where the difference of two powers would lose every digit."""
    for k, t in ((2, 5), (3, 4), (6, 3)):
        counts = np.zeros(t + 1)
        for sequence in itertools.product(range(k), repeat=t):
            counts[max(map(sequence.count, range(k)))] += 1
        assert most_often(t, k) == pytest.approx(counts / k**t, rel=1e-12, abs=1e-15)
    assert most_often(150, 40).sum() == pytest.approx(1)
    assert exact_success(mu.GRR(mu.Categories(40), 20.0).channel, 60) == pytest.approx(1, abs=1e-9)


def test_the_largest_count() -> None:
    """Against the sum over all counts of k people, ties at random."""
    own, other = np.array([0.1, 0.4, 0.5]), np.array([0.5, 0.5, 0.0])
    total = 0.0
    for counts in itertools.product(range(3), repeat=3):
        chance = own[counts[0]] * other[counts[1]] * other[counts[2]]
        if counts[0] == max(counts):
            total += chance / counts.count(max(counts))
    assert largest(own, other, 3) == pytest.approx(total)


def test_kept_bits_bound_what_all_reports_tell() -> None:
    """By hand over kept bits and reports; the limit is the guess from the kept bits, and fresh bits pass it."""
    channel = mu.RAPPOR(mu.Categories(2), 2.0, 1.0).channel
    bits = [pack(np.array([b]))[0] for b in itertools.product((0, 1), repeat=2)]

    def instant(kept: Any, y: Any) -> Fraction:
        out = Fraction(1)
        for v in range(2):
            one = Fraction(channel.yes_one if int(kept[0]) >> v & 1 else channel.yes_zero, 2**64)
            out *= one if int(y[0]) >> v & 1 else 1 - one
        return out

    for t in (1, 2, 3):
        wanted = Fraction(0)
        for ys in itertools.product(bits, repeat=t):
            wanted += max(
                sum(
                    channel.permanent.prob(x, b) * math.prod((instant(b, y) for y in ys), start=Fraction(1))
                    for b in bits
                )
                for x in range(2)
            )
        assert memoised_success(channel, t) == pytest.approx(float(wanted / 2), rel=1e-10)
    limit = exact_success(channel.permanent, 1)
    assert memoised_success(channel, 1) == pytest.approx(exact_success(channel, 1))
    assert memoised_success(channel, 3000) == pytest.approx(limit, abs=1e-6) and memoised_success(channel, 50) <= limit
    assert exact_success(channel, 50) > limit + 0.1


@pytest.mark.parametrize("mechanism", [mu.GRR(FOUR, 1.0), mu.OUE(FOUR, 1.0), mu.SubsetSelection(FOUR, 0.5)])
def test_measured_is_computed(mechanism: Any) -> None:
    """Seeded; without a seed |z| > 4.9 has a chance of 1e-6 for each."""
    hits = _simulate(mechanism.channel, [1, 4], 4000, mu.Random.seeded(7))
    for t, count in hits.items():
        wanted = exact_success(mechanism.channel, t)
        assert wanted is not None and abs(count / 4000 - wanted) < 4.9 * math.sqrt(wanted * (1 - wanted) / 4000)


def test_a_large_law_is_measured() -> None:
    result = averaging(mu.OLH(mu.Categories(50), 1.0), [1, 5], trials=300, rng=mu.Random.seeded(1))
    fresh = [row for row in result.rows if row.attacker == "fresh reports"]

    assert all(row.low is not None and row.repetitions == 1 for row in result.rows)
    assert fresh[1].value > fresh[0].value and "300 people" in result.summary()
    again = [row.value for row in result.rows if row.attacker == "the first report again"]
    assert again == [fresh[0].value] * 2


# -- at the curator


@pytest.mark.parametrize("noise", [mu.DiscreteLaplace(0.5), mu.DiscreteGaussian(rho=0.3), mu.Staircase(0.7)])
def test_the_mean_is_right_as_often_as_the_law_says(noise: Any) -> None:
    """Against plain convolution of the probabilities."""
    law = mu.Plan(mu.Count(FOUR), curator=noise).bound.laws[0]
    z = np.arange(-400, 401)
    one = np.exp(law.log_prob(z))
    total = one
    for t in range(1, 6):
        reach = (len(total) - 1) // 2
        at = np.arange(-reach, reach + 1)
        wanted = total[2 * np.abs(at) < t].sum() + total[2 * np.abs(at) == t].sum() / 2
        assert mean_is_right(law, t) == pytest.approx(wanted, abs=1e-9)
        total = np.convolve(total, one)
    assert mean_is_right(law, 3000) > 0.99


def test_the_ledger_allows_as_many_questions_as_it_says(tmp_path: Path) -> None:
    """Real questions until the ledger refuses one."""
    ledger = mu.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("people", epsilon=1.0)
    plan = mu.Plan(mu.Count(mu.Categories(["no", "yes"])), curator=mu.DiscreteLaplace(0.3))
    most = affordable(plan.bound.cost, 1.0)
    result = averaging(plan, [1, 10], people=50, budget=1.0)
    answered = 0
    for i in range(10):  # another list each time: the same question on the same data is not answered twice
        try:
            mu.run(plan, ["no", "yes"] * (5 + i), ledger=ledger.account("people"))
        except mu.MurmureError:
            break
        answered += 1

    assert answered == most == 3 == result.details["questions"]
    assert result.rows[0].baseline == 1 / 51 and "3 questions" in result.summary()
    assert affordable(Cost(0.1, 0.005), 1.0) == 9 + (Fraction(0.1) * 10 <= 1)
    assert affordable(Cost(2.0, 2.0), 1.0) == 0 and affordable(Cost(math.inf, 0.01), 1.0, 1e-6) > 0


def test_several_blocks_and_the_page() -> None:
    plan = mu.Plan(mu.Mean(mu.Integers(0, 10)), curator=mu.DiscreteLaplace(1.0))
    result = averaging(plan, [1, 10, 100], budget=5.0)

    assert {row.setting["block"] for row in result.rows} == {block.name for block in plan.bound.blocks}
    assert "<svg" in result.to_page()


@pytest.mark.parametrize(
    ("attacked", "settings", "message"),
    [
        (mu.GRR(FOUR, 1.0), {"times": [0]}, "times must be a whole number from 1"),
        (mu.GRR(FOUR, 1.0), {"times": []}, "times is empty"),
        (mu.GRR(FOUR, 1.0), {"budget": 1.0}, "budget is for noise at a curator"),
        ("GRR", {}, "attacks a mechanism of one value, or a plan with noise"),
        (mu.SMP(mu.Schema({"a": FOUR, "b": THREE}), 1.0), {}, "attacks a mechanism of one value"),
        (mu.Plan(mu.Count(FOUR), curator=mu.DiscreteLaplace(1.0)), {"budget": -1.0}, "budget must be"),
        (mu.Plan(mu.Count(FOUR), curator=mu.DiscreteLaplace(1.0)), {"people": 0}, "people must be"),
        (mu.Plan(mu.Mode(FOUR), curator=mu.Exponential(1.0)), {}, "needs noise that is added to a sum"),
        (mu.SubsetSelection(mu.Categories(30), 1.0), {"trials": 0}, "trials must be"),
    ],
)
def test_what_is_refused(attacked: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(mu.MurmureError, match=message):
        averaging(attacked, **settings)


def test_the_command(tmp_path: Path) -> None:
    def run(line: str) -> Any:
        return CliRunner().invoke(main, ["attack", "average", *line.split()])

    shown = json.loads(run("GRR --categories 4 --epsilon 1 --times 1,10 --json").output)
    assert [round(row["value"], 4) for row in shown["rows"]] == [0.4754, 0.773, 0.4754, 0.4754]
    shown = json.loads(run("DiscreteLaplace --epsilon 0.1 --budget 1 --times 1 --json").output)
    assert shown["questions"] == affordable(mu.Plan(mu.Count(FOUR), curator=mu.DiscreteLaplace(0.1)).bound.cost, 1.0)
    plan = tmp_path / "plan.json"
    plan.write_text(mu.Plan(mu.Histogram(FOUR), person=mu.GRR(FOUR, epsilon=1.0)).to_json())
    ran = run(f"--plan {plan} --times 1,2 --html {tmp_path}/a.html --plot {tmp_path}/a.svg")
    assert ran.exit_code == 0 and "<svg" in (tmp_path / "a.html").read_text("utf-8") and (tmp_path / "a.svg").stat()
    for line, message in (
        ("", "nothing to attack"),
        (f"GRR --plan {plan}", "exclude one another"),
        (f"--plan {plan} --epsilon 1", "--plan takes no mechanism's options"),
        ("Geometric --epsilon 1", "has further settings"),
        ("DiscreteLaplace", "needs --epsilon"),
        ("DiscreteLaplace --epsilon 1 --categories 4", "takes no answers"),
        ("GRR --categories 4 --epsilon 1 --times 1.5", "times must be a whole number"),
        ("Foo --epsilon 1", "there is no mechanism"),
    ):
        ran = run(line)
        assert ran.exit_code != 0 and message in ran.output + ran.stderr, line
