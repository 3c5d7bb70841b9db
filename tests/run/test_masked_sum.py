"""Plans whose parties slot is filled: the same figures as if the rows had been pooled, and nobody sees a part."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import murmure as mu
from murmure.catalogue import load
from murmure.central.base.gate import Gate
from murmure.core.errors import EmptySource, InvalidParameter, OutsideDomain, PlanRefused
from murmure.core.random import Random
from murmure.core.types import Total
from murmure.run.masked_sum import party_sum
from murmure.secure.errors import OutOfBound, TooFewParties

SCHEMA = mu.Schema(
    {"age": mu.Integers(18, 99), "smoker": mu.Categories(["no", "yes"]), "stay": mu.Interval(0.0, 10.0, cells=100)}
)


def table(i: int) -> dict[str, list[Any]]:
    n = 5 + 3 * i
    return {
        "age": [18 + (7 * k + 5 * i) % 80 for k in range(n)],
        "smoker": ["yes" if (k + i) % 3 == 0 else "no" for k in range(n)],
        "stay": [((k * 13 + i) % 100) / 10 for k in range(n)],
    }


TABLES = [table(i) for i in range(5)]


def pooled(tables: list[Any]) -> dict[str, list[Any]]:
    return {name: [v for t in tables if t is not None for v in t[name]] for name in SCHEMA.private}


QUESTIONS = [
    mu.Histogram(SCHEMA["smoker"]),
    mu.Mean(SCHEMA["age"]),
    mu.Variance(SCHEMA["stay"]),
    mu.Count(SCHEMA["smoker"]),
    mu.Sum(SCHEMA["age"]),
    mu.Quantile(SCHEMA["age"], 0.5),
    mu.Pair(SCHEMA, "age", "smoker"),
    mu.GroupBy(mu.Mean(SCHEMA["age"]), SCHEMA["smoker"]),
    mu.Marginals(SCHEMA),
    load("Gram")(SCHEMA, "stay"),
]


@pytest.mark.parametrize("statistic", QUESTIONS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("gone", [(), (2,)], ids=["all", "one vanished"])
def test_the_figures_are_those_of_the_pooled_rows(statistic: Any, gone: tuple[int, ...]) -> None:
    """To the last bit, over the survivors."""
    frames = [None if i in gone else t for i, t in enumerate(TABLES)]
    plan = mu.Plan(statistic, parties=mu.PairwiseMasks(5))
    between = mu.run(plan, frames, rows_are_public=True).estimate
    alone = mu.run(mu.Plan(statistic), pooled(frames)).estimate

    def figures(e: Any) -> list[Any]:
        return e.to_rows(0.95) if hasattr(e, "to_rows") else e.mean.tolist()

    assert figures(between) == figures(alone)


def test_a_plan_between_parties_travels_as_json() -> None:
    plan = mu.Plan(mu.Mean(SCHEMA["age"]), parties=mu.PairwiseMasks(7, dropouts=2, coordinator="lying", rows=1000))
    again = mu.Plan.from_json(plan.to_json())

    assert again == plan and again.digest == plan.digest
    assert again.parties.threshold == plan.parties.threshold == 5
    assert plan.digest != mu.Plan(mu.Mean(SCHEMA["age"]), parties=mu.PairwiseMasks(7, dropouts=2)).digest


def test_guarantees_say_who_sees_what() -> None:
    """An exact sum has no differential privacy, for anybody; what is hidden is hidden from a stated coalition."""
    plan = mu.Plan(mu.Mean(SCHEMA["age"]), parties=mu.PairwiseMasks(7, dropouts=1, colluders=2))
    held = plan.guarantees()

    assert set(held) == {"coordinator", "2 colluding parties", "reader"}
    assert all(math.isinf(c.epsilon) for c in held.values())
    said = " ".join(str(held["coordinator"]).split())
    assert "up to 2 of the 7 parties" in said and "4 or more others" in said
    assert "no differential privacy" in str(held["reader"]) and held["reader"].hides is None
    assert "the coordinator reported them truly" in (held["coordinator"].assumption or "")
    assert "different lists to different parties" in (held["coordinator"].hides or "")
    lying = mu.PairwiseMasks(7, dropouts=1, colluders=2, coordinator="lying")
    assert "reported" not in (mu.certify(lying).assumption or "")


def test_answers_randomised_at_the_person_stay_so_between_parties() -> None:
    domain = mu.Categories(["a", "b", "c"])
    plan = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, epsilon=2.0), parties=mu.PairwiseMasks(3))
    release = mu.run(plan, [["a"] * 400, ["b"] * 300, ["c"] * 300], rng=Random.seeded(5))

    assert release.seeded
    assert next(iter(release.guarantees)) == "whoever ran it"  # in one process, they held every row
    assert all(c.epsilon <= 2.0 for c in list(release.guarantees.values())[1:])
    assert np.allclose(release.estimate.mean, [0.4, 0.3, 0.3], atol=0.1)


def test_a_value_outside_its_bound_stops_at_its_party_with_the_row() -> None:
    """Nothing is clipped, with noise or without; nothing was sent."""
    bad = {"age": [20, 30, 140], "smoker": ["no"] * 3, "stay": [1.0] * 3}
    for curator in (None, mu.DiscreteLaplace(epsilon=1.0)):
        plan = mu.Plan(mu.Sum(SCHEMA["age"]), parties=mu.PairwiseMasks(5), curator=curator)
        with pytest.raises(OutsideDomain, match=r"party 4: .*row 2"):
            mu.run(plan, [*TABLES[:3], bad, TABLES[4]])


def test_what_parties_bring_is_checked() -> None:
    plan = mu.Plan(mu.Sum(SCHEMA["age"]), parties=mu.PairwiseMasks(5, rows=10))
    with pytest.raises(OutOfBound, match="party 3: there are 11 rows"):
        mu.run(plan, TABLES)
    with pytest.raises(InvalidParameter, match="5 parties, got 4"):
        mu.run(plan, TABLES[:4])
    with pytest.raises(EmptySource, match="party 1"):
        mu.run(plan, [{name: [] for name in TABLES[0]}, *TABLES[1:]])
    with pytest.raises(TooFewParties):
        mu.run(mu.Plan(mu.Sum(SCHEMA["age"]), parties=mu.PairwiseMasks(5)), [None, None, None, *TABLES[3:]])


@pytest.mark.parametrize(
    "frames",
    [
        TABLES[0],
        dict(enumerate(TABLES)),
        pd.DataFrame({str(i): [1, 2] for i in range(5)}),
        np.zeros((5, 3)),
        set(range(5)),
        "party",
        b"party",
        (table for table in TABLES),
        5,
    ],
    ids=lambda frames: type(frames).__name__,
)
def test_what_is_no_list_of_frames_is_refused_though_it_has_as_many_parts(frames: Any) -> None:
    """One table of five columns, say, is not five parties: nobody's rows are read, and no generator is used up."""
    drawn = Random.seeded(1)
    with pytest.raises(InvalidParameter, match="a list of frames, one for each party"):
        mu.run(mu.Plan(mu.Sum(SCHEMA["age"]), parties=mu.PairwiseMasks(5)), frames, rng=drawn)

    assert drawn.words(4).tolist() == Random.seeded(1).words(4).tolist()
    assert not isinstance(frames, Iterator) or next(frames) is TABLES[0]


def test_a_tuple_of_frames_is_a_list_of_frames() -> None:
    plan = mu.Plan(mu.Sum(SCHEMA["age"]), parties=mu.PairwiseMasks(5))
    listed, held = (mu.run(plan, frames, rows_are_public=True).estimate for frames in (TABLES, tuple(TABLES)))

    assert listed.mean.tolist() == held.mean.tolist()


def test_what_cannot_stand_between_parties_is_refused() -> None:
    with pytest.raises(PlanRefused, match="nobody sees them"):
        mu.Plan(mu.Mode(SCHEMA["smoker"]), curator=mu.Exponential(epsilon=1.0), parties=mu.PairwiseMasks(5))
    with pytest.raises(InvalidParameter, match="how parties share"):
        mu.Plan(mu.Sum(SCHEMA["age"]), parties="anything")
    with pytest.raises(InvalidParameter, match="cannot be drawn in shares"):
        mu.Plan(mu.Sum(SCHEMA["age"]), curator=mu.Staircase(epsilon=1.0), parties=mu.PairwiseMasks(5))


@pytest.mark.parametrize(
    "noise",
    [
        mu.DiscreteLaplace(epsilon=1.0),
        mu.DiscreteGaussian(epsilon=1.0, delta=1e-6),
        mu.Skellam(epsilon=1.0, delta=1e-6),
    ],
    ids=lambda noise: type(noise).__name__,
)
def test_noise_thrown_in_shares_answers_about_right(noise: Any) -> None:
    """Counts of 400 within ten deviations (fails once in 10**20), certified for readers and colluders alike."""
    plan = mu.Plan(mu.Histogram(SCHEMA["smoker"]), parties=mu.PairwiseMasks(5, dropouts=1), curator=noise)
    release = mu.run(plan, [{"smoker": ["no"] * 60 + ["yes"] * 40}] * 4 + [None], rng=Random.seeded(3))
    deviation = max(law.variance for law in plan.bound.laws) ** 0.5

    assert release.seeded
    assert all(c.epsilon <= 1.0 for c in list(release.guarantees.values())[1:])
    assert release.guarantees["whoever ran it"].epsilon == float("inf")
    assert np.all(np.abs(np.array(release.estimate.counts) - [240, 160]) < 10 * deviation)
    assert "at least 3 parties are honest" in str(release.guarantees["reader"])
    assert (plan.bound.honest, plan.bound.parties) == (plan.parties.honest, 5) == (3, 5)  # what the shares are made for
    assert mu.Plan.from_json(plan.to_json()).digest == plan.digest


def test_the_ring_has_room_for_the_largest_sum() -> None:
    """All parties with all their rows at the bound, in the widest column there is."""
    wide = mu.Integers(0, 2**31 - 1, column="x")
    plan = mu.Plan(mu.Sum(wide), parties=mu.PairwiseMasks(3, rows=3))
    done = mu.run(plan, [[2**31 - 1] * 3] * 3, rows_are_public=True).estimate

    assert done.mean[0] == 9 * (2**31 - 1)
    assert plan.encoder.bound >= 3 * plan.statistic.largest


def test_noise_between_parties_has_room_for_the_rows_that_were_agreed() -> None:
    """Not for 2**32 of them, as at a curator who may not look: the parties said how many there are at most."""
    cost = mu.Schema({"cost": mu.Integers(0, 10**5)})
    squares, noise = mu.Sums(cost, ("cost ** 2",)), mu.DiscreteLaplace(epsilon=1.0)
    with pytest.raises(PlanRefused, match="rows could exceed"):
        mu.Plan(squares, parties=mu.PairwiseMasks(5), curator=noise)
    few = mu.Plan(squares, parties=mu.PairwiseMasks(5, rows=10_000), curator=noise)
    release = mu.run(few, [{"cost": [10**5] * 50}] * 5, rng=Random.seeded(2))
    deviation = few.bound.laws[0].variance ** 0.5
    assert abs(release.estimate.mean[0] - 250 * 10**10) < 20 * deviation < 10**12


def test_own_sums_are_what_the_engine_adds() -> None:
    plan = mu.Plan(mu.Histogram(SCHEMA["smoker"]), parties=mu.PairwiseMasks(5))
    own = party_sum(plan, TABLES[0])

    assert own.rows == 5 and own.values == [5, 3, 2]
    assert plan.decode_total([5, 3, 2]).sum.tolist() == [3, 2] and isinstance(plan.decode_total([5, 3, 2]), Total)
    assert "3" not in repr(own)


def test_the_audit_says_that_it_cannot_look_between_parties() -> None:
    """Fails closed: nobody holds the true sum; the same plan without parties can be audited."""
    plan = mu.Plan(mu.Histogram(SCHEMA["smoker"]), parties=mu.PairwiseMasks(3), curator=mu.DiscreteLaplace(epsilon=1.0))
    rows = [["no"], ["yes"], ["no", "yes"]]
    with pytest.raises(mu.MurmureError, match="masked sum"):
        mu.replay_audit(lambda held, gate: mu.run(plan, held, gate=gate), rows, [*rows[:2], ["no"]])


def test_the_audit_notices_a_masked_question_that_only_the_second_run_asks() -> None:
    """One person decides whether it is asked; it goes round the two doors that the audit replays."""
    pooled = mu.Plan(mu.Count(SCHEMA["smoker"]), curator=mu.DiscreteLaplace(epsilon=1.0))
    masked = mu.Plan(mu.Count(SCHEMA["smoker"]), parties=mu.PairwiseMasks(4), curator=mu.DiscreteLaplace(epsilon=5.0))

    def ask(rows: Any, gate: Gate) -> Any:
        together = [value for table in rows for value in table]
        mean = mu.run(pooled, together, gate=gate).estimate.mean
        if len(together) > 60:
            mu.run(masked, rows, gate=gate)
        return mean

    rows = [["no"] * 15] * 4
    with pytest.raises(mu.MurmureError, match="masked sum"):
        mu.replay_audit(ask, rows, [*rows[:3], ["no"] * 16], claim=1.0)


@pytest.mark.parametrize("noise", [mu.DiscreteLaplace(epsilon=0.5), mu.Skellam(epsilon=0.5, delta=1e-6)], ids=str)
def test_the_noise_of_a_masked_sum_is_that_of_the_survivors_shares(noise: Any) -> None:
    """4,000 cells of nobody: mean and variance of what comes out within 6 standard errors (fails once in 10**8)."""
    domain = mu.Categories(4000)
    plan = mu.Plan(mu.Histogram(domain), parties=mu.PairwiseMasks(5, dropouts=1), curator=noise)
    gate = Gate(Random.seeded(11))
    mu.run(plan, [[0]] * 4 + [None], gate=gate)
    drawn = np.array(gate.answers[-1].answer[1:], float)
    variance = plan.bound.for_survivors(4).laws[0].variance
    spread = (drawn**2).std() / len(drawn) ** 0.5

    assert abs(drawn.mean()) < 6 * (variance / len(drawn)) ** 0.5
    assert abs((drawn**2).mean() - variance) < 6 * spread < variance / 3


def test_error_bars_are_those_of_the_shares_that_came() -> None:
    """Of five parties one vanishes, and its share of the noise with it: the bars are narrower, as the noise is."""
    domain = mu.Categories(["no", "yes"], column="smoker")
    plan = mu.Plan(mu.Count(domain), parties=mu.PairwiseMasks(5, dropouts=1), curator=mu.DiscreteLaplace(0.5))
    rows = [{"smoker": ["no", "yes", "no"] * 50} for _ in range(5)]
    wide = {
        present: mu.run(plan, [*rows[:present], *[None] * (5 - present)], rng=mu.Random.seeded(1)).estimate.variance()[
            0
        ]
        for present in (4, 5)
    }

    assert wide[4] == plan.bound.for_survivors(4).laws[0].variance < wide[5] == plan.bound.laws[0].variance
