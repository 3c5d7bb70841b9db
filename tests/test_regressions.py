"""Every bug leaves a case behind. What reviews found in 0.1.0 before it was released, one test each."""

from __future__ import annotations

import json
import os
import pickle

import numpy as np
import pytest

import murmure as mu
from murmure.core.errors import InvalidParameter, OutsideDomain, PlanRefused, UnsafeRandomness
from murmure.core.random import Random
from murmure.laws.bits import Coins
from murmure.laws.window import WindowChannel
from murmure.local.hybrid import EPSILON_STAR

YES_NO = mu.Categories(["no", "yes"])


def test_one_key_serves_two_questions_without_giving_either_away():
    """Kept bits depend on the question and on the labels: equal codes do not make equal bits."""
    m = mu.RAPPOR(mu.Categories(["left", "right", "none"]), 4.0, 1.0)
    other = mu.RAPPOR(mu.Categories(["well", "ill", "unknown"]), 4.0, 1.0)
    keys = [bytes([i]) * 32 for i in range(60)]
    by_question = [(m.client(k, "vote").kept("right") != m.client(k, "party").kept("right")).any() for k in keys]
    by_label = [(m.client(k, "q").kept("right") != other.client(k, "q").kept("ill")).any() for k in keys]

    assert any(by_question) and any(by_label)  # all 60 equal by chance: below 1e-9 at epsilon 4
    assert all((m.client(k, "vote").kept("right") == m.client(k, "vote").kept("right")).all() for k in keys)


def test_every_byte_of_a_key_counts():
    """Two long keys that differ in their last byte are two keys."""
    m = mu.RAPPOR(mu.Categories(64), 1.0, 0.5)

    assert (m.client(bytes(65), "q").kept(3) != m.client(bytes(64) + b"x", "q").kept(3)).any()


def test_a_plan_through_rappor_promises_fresh_reports_only():
    """plan.report keeps nothing, so the plan's certificate is that of one report."""
    plan = mu.Plan(mu.Histogram(mu.Categories(3)), person=mu.RAPPOR(mu.Categories(3), 4.0, 1.0))

    assert plan.guarantees()["collector"].epsilon <= 1.0
    assert "any number" not in plan.guarantees()["collector"].method


def test_open_words_are_noted_in_one_step():
    """Two threads note at once: rows and bits must not be able to change places with another thread's."""
    coins = Coins(1, 1)
    coins.note(np.array([[0, 0]]), np.array([1], np.uint64))

    assert [len(pair) for pair in coins.open] == [2]


def test_a_clamped_window_draws_what_it_states():
    """step 1, shift 0 and a window longer than one report: the reference stops at the end like everybody else."""
    w = WindowChannel.calibrated(1.0, 8, 8, 3, 1, 0)
    reports = w.draw(np.full(2000, 7), Random.seeded(1).reserve(2000, 1))

    assert reports.max() <= 7
    assert np.bincount(reports, minlength=8)[5:].min() > 300  # e / (3 e + 5) of 2000 is 413


def test_a_mapped_draw_takes_the_same_numbers_as_its_law():
    """function(y) gets a whole number of Python's, so that y - 5 does not wrap."""
    mapped = mu.Mapped(mu.GRR(mu.Categories(10), 1.0).channel, lambda y: y - 5)
    reports = mapped.draw(np.arange(10), Random.seeded(1).reserve(10, mapped.words))

    assert set(reports) <= set(mapped.outcomes())


def test_squares_that_would_wrap_lose_their_last_bits():
    """2**21 people times 2**44 pass 2**63: squares are kept to 30 bits, and no negative square is released."""
    top, n = 2**22 - 1, 2**21
    estimate = mu.run(mu.Plan(mu.Mean(mu.Integers(0, top))), np.full(n, top)).estimate

    assert estimate.mean.tolist() == [top]
    assert 0 <= estimate.variance("superpopulation")[0] * n <= top**2 / 2**29


def test_coins_that_round_to_one_another_are_refused():
    with pytest.raises(InvalidParameter, match="differ by less than 2"):
        mu.certify(mu.Warner(YES_NO, truth=1e-25))


def test_an_interval_too_narrow_for_floats_is_refused():
    with pytest.raises(InvalidParameter, match="too narrow"):
        mu.Interval(0, 1e-306)


def test_masked_values_are_missing():
    with pytest.raises(OutsideDomain, match="row 1 has no value"):
        mu.Integers(0, 9).encode(np.ma.masked_array([1, 2, 3], mask=[0, 1, 0]))


def test_whole_objects_stay_whole():
    """2**53 + 1 in an object column is not rounded to 2**53; what no machine word holds is outside, not an accident."""
    domain = mu.Decimals(2**53, 2**53 + 10, places=0)

    assert domain.encode(np.array([2**53 + 1], object)).tolist() == [1]
    with pytest.raises(OutsideDomain):
        domain.encode([10**400])


def test_false_is_not_zero():
    """Labels that Python calls equal are different labels."""
    assert mu.Categories([0, 1]) != mu.Categories([False, True])
    assert mu.Categories([0, 1]) == mu.Categories([0, 1])
    with pytest.raises(PlanRefused, match="same domain"):
        mu.Plan(mu.Histogram(mu.Categories([0, 1])), person=mu.GRR(mu.Categories([False, True]), 1.0))


@pytest.mark.parametrize("label", [b"x", (1, 2), [1], {1}, object()])
def test_labels_travel_in_json_or_are_refused(label):
    with pytest.raises(InvalidParameter, match="text, numbers or booleans"):
        mu.Categories(["a", label])


def test_numpy_labels_become_plain_ones():
    domain = mu.Categories(list(np.array([3, 5])))

    assert mu.Plan.from_json(mu.Plan(mu.Histogram(domain)).to_json()).statistic.domain == domain


@pytest.mark.parametrize("version", [True, 1.0, "1", None, 2])
def test_only_the_number_one_is_version_one(version):
    held = json.loads(mu.Plan(mu.Histogram(YES_NO)).to_json()) | {"murmure": version}
    with pytest.raises(PlanRefused, match="plan version"):
        mu.Plan.from_json(json.dumps(held))


def test_who_takes_plans_from_others_may_set_a_limit():
    text = mu.Plan(mu.Histogram(YES_NO), person=mu.GRR(YES_NO, 3.0)).to_json()

    assert mu.Plan.from_json(text, at_most=3.0).digest
    with pytest.raises(PlanRefused, match="costs epsilon = 3, above the 1"):
        mu.Plan.from_json(text, at_most=1.0)
    with pytest.raises(PlanRefused, match="costs epsilon = inf"):
        mu.Plan.from_json(mu.Plan(mu.Histogram(YES_NO)).to_json(), at_most=100.0)


def test_reserved_words_do_not_travel():
    """They hold the key: no pickle, and no use in a forked child."""
    words = Random.secure().reserve(4, 1)
    with pytest.raises(TypeError, match="do not travel"):
        pickle.dumps(words)
    child = os.fork()
    if child == 0:
        try:
            words.each(lambda a, b, block: None)
        except UnsafeRandomness:
            os._exit(0)
        os._exit(1)

    assert os.waitpid(child, 0)[1] == 0


def test_two_samples_can_be_shown():
    """Their error is that of a superpopulation, and the note says so."""
    estimate = mu.TwoSamples(yes=(120, 90), n=(300, 300), truth=(0.7, 0.3)).estimate()

    assert "superpopulation" in repr(estimate) and "superpopulation" in estimate._repr_html_()


def test_a_wide_piecewise_is_quick():
    """200,001 values once took 18 s to estimate: readouts were fractions, one by one."""
    domain = mu.Integers(0, 200_000)
    release = mu.run(mu.Plan(mu.Mean(domain), person=mu.Piecewise(domain, 1.0)), [5, 100_000] * 100)

    assert release.seconds < 2


def test_integers_are_the_same_on_every_machine():
    """Tables and coins come from 80 digits, not from the C library: these are the numbers everywhere."""
    laplace = mu.BoundedLaplace(mu.Integers(0, 10), 0.5).channel.integers()
    hybrid = mu.Hybrid(mu.Integers(0, 10), 1.0).channel.integers()

    assert laplace["g"][:3] == ["9223372036854775808", "8773542874573434515", "8345652139412911668"]
    assert hybrid["coin"] == "7258228221132386316"  # floor((1 - e^(-1/2)) 2**64)


def test_epsilon_star_is_its_closed_form():
    """ln[(-5 + 2 (6353 - 405 sqrt 241)^(1/3) + 2 (6353 + 405 sqrt 241)^(1/3)) / 27], to the last bit."""
    from decimal import Decimal, localcontext

    with localcontext() as context:
        context.prec = 60
        root = 405 * Decimal(241).sqrt()
        third = Decimal(1) / 3
        exact = ((-5 + 2 * (6353 - root) ** third + 2 * (6353 + root) ** third) / 27).ln()

    assert float(exact) == EPSILON_STAR


# -- records and tables (0.2.0)


def test_a_mean_is_read_from_the_middle_of_its_values() -> None:
    """Shares of unary bits do not sum to one: years of birth had a hundred times the error that they need have."""
    born = mu.Integers(1950, 2000)
    years = 1950 + np.arange(4000) % 51
    schema = mu.Schema({"born": born, "sick": mu.Categories(2)})
    alone = mu.run(mu.Plan(mu.Mean(born), person=mu.OUE(born, 1.0)), years, rng=mu.Random.seeded(1)).estimate
    rows = {"born": years, "sick": np.arange(4000) % 2}
    record = mu.run(mu.Plan(mu.Marginals(schema), person=mu.SPL(schema, 2.0)), rows, rng=mu.Random.seeded(1)).estimate

    for mean in (alone, record.means["born"]):
        assert np.sqrt(mean.variance()[0]) < 10  # of 51 years; 300 and more before
        assert abs(mean.mean[0] - years.mean()) < 5 * np.sqrt(mean.variance()[0])


def test_a_column_without_a_figure_is_no_nan_in_json() -> None:
    schema = mu.Schema({"age": mu.Integers(0, 9), "sick": mu.Categories(2)})
    plan = mu.Plan(mu.Marginals(schema), person=mu.Plain(schema, 2.0))
    release = mu.run(plan, {"age": [1, 2, 3], "sick": [0, 1, 1]}, rng=mu.Random.seeded(1))

    figures = json.loads(release.to_json(), parse_constant=pytest.fail)["figures"]
    assert figures[0] == {"column": "age", "no_figure": release.estimate["age"].reason}


def test_a_full_disk_does_not_stop_a_kernel() -> None:
    """Numba raised when it could not keep what it had compiled; sanitising then blamed the output."""
    from murmure.laws.kernel_loader import _ignore_disk_errors

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    def wrong(*_: object) -> None:
        raise ValueError("not the disk's fault")

    assert _ignore_disk_errors(full)(1, 2) is None
    with pytest.raises(ValueError):
        _ignore_disk_errors(wrong)(1, 2)
