"""Forged reports: the simulated gain is the exact one, the published ones, and never above the bound."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.local.test_spread import oracles

import murmure as mu
from murmure.attacks import detect_forgeries, poisoning, recover_shares
from murmure.attacks.person.forgery.detection import _pairs, _supports_in_all, bernstein, usual_ones
from murmure.attacks.person.forgery.forged_reports import differences, forger_of, ones_law
from murmure.cli import main
from murmure.core.errors import InvalidParameter, NoUnbiasedEstimate
from murmure.laws.bits import pack, unpack
from murmure.local.unary import PackedOracle

K = mu.Categories(16)
ORACLES = (mu.GRR, mu.SUE, mu.OUE, mu.OLH, mu.BLH, mu.SubsetSelection, mu.HadamardResponse)
TEN = mu.Integers(0, 9)


def attacked(mechanism: Any, **settings: Any) -> Any:
    return poisoning(mechanism, rng=mu.Random.seeded(5), **settings)


# -- gains -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("r", [1, 3])
def test_the_gains_of_cao_jia_gong(epsilon: float, r: int) -> None:
    """Their table 2, as they write it (beta = m/n; OLH with g = e^eps + 1 bins, so a power of two is chosen there)."""
    E, k, fT = math.exp(epsilon), 16, 0.0
    targets = np.arange(k - r, k)
    grr, oue = forger_of(mu.GRR(K, epsilon), targets), forger_of(mu.OUE(K, epsilon), targets)

    assert grr.worth("maximal gain") - fT == pytest.approx(1 - fT + (k - r) / (E - 1))
    assert grr.worth("random reports") == pytest.approx(r / k)
    assert oue.worth("maximal gain") - fT == pytest.approx(2 * r - fT + 2 * r / (E - 1))
    assert oue.worth("random reports") == pytest.approx(r)
    olh = forger_of(mu.OLH(K, math.log(3)), targets)  # g = 4, at every size: exactly even bins
    assert olh.worth("maximal gain") == pytest.approx(2 * r + 2 * r / 2)
    assert olh.worth("random reports") == pytest.approx(0.0, abs=1e-12)
    for forger in (grr, oue, olh):
        assert forger.worth("random items") == 1.0


@pytest.mark.parametrize("kind", ORACLES)
def test_simulation_meets_the_exact_gain(kind: Any) -> None:
    """Within 4.5 standard errors over 12 repetitions (a false alarm in 1e4), and the bound is the maximal gain."""
    result = attacked(kind(K, 1.0), people=3000, forged=300, targets=[3, 5, 6], repetitions=12)
    expected = {row["attack"]: row for row in result.details["bounds"]}
    forger = forger_of(kind(K, 1.0), np.array([3, 5, 6]))
    for row, attack in zip(result.rows, forger.attacks, strict=True):
        error = (row.high - row.low) / 2 / 2.2  # Student's 97.5% at 11 degrees of freedom is 2.2
        assert abs(row.value - expected[attack]["expected_gain"]) < 4.5 * error
        assert expected[attack]["expected_gain"] <= expected[attack]["bound"] + 1e-12
        assert row.baseline == pytest.approx(0.1 * (1 - result.details["true_share"]))
    assert expected["maximal gain"]["expected_gain"] == pytest.approx(expected["maximal gain"]["bound"])


@pytest.mark.parametrize("kind", [mu.Duchi, mu.Piecewise, mu.Hybrid, mu.SquareWave])
def test_a_mean(kind: Any) -> None:
    result = attacked(kind(TEN, 1.0), people=3000, forged=300, repetitions=12)
    for row, exact in zip(result.rows, result.details["bounds"], strict=False):
        error = (row.high - row.low) / 2 / 2.2
        assert abs(row.value - exact["expected_gain"]) < 4.5 * error
    assert result.unit == "value"


@pytest.mark.parametrize("kind", ORACLES)
@pytest.mark.parametrize("targets", [[15], [1, 2, 4, 7], [0, 5, 9, 10, 11, 12, 13]])
def test_forged_reports_are_reports(kind: Any, targets: list[int]) -> None:
    """The tally takes them, and the share of targets that they support is the one that was computed."""
    mechanism, codes = kind(K, 1.0), np.array(targets)
    forger, q = forger_of(mechanism, codes), float(mechanism.supports.q)
    slope = float(mechanism.supports.p) - q
    for attack in forger.attacks:
        reports = forger.reports(attack, 4000, mu.Random.seeded(2))
        example = mechanism.report([0], mu.Random.seeded(0))
        found = mechanism.tally(reports.astype(example.dtype))[codes].sum() / 4000
        expected = forger.worth(attack) * slope + q * len(codes)
        assert abs(found - expected) < 5 * len(codes) * math.sqrt(0.25 / 4000)


def test_a_stealthy_bit_report_has_the_ones_of_an_honest_one() -> None:
    """The law of ones, against all 2^5 reports; and that stealthy forgeries follow it."""
    mechanism = mu.OUE(mu.Categories(5), 1.0)
    law = np.zeros(6)
    for bits in itertools.product((0, 1), repeat=5):
        packed = sum(bit << i for i, bit in enumerate(bits))
        law[sum(bits)] += float(mechanism.channel.prob(2, np.array([packed], np.uint64)))

    assert np.allclose(law, ones_law(mechanism))
    forger = forger_of(mechanism, np.array([1, 3]))
    ones = np.bitwise_count(forger.reports("stealthy", 20_000, mu.Random.seeded(3))).sum(axis=1)
    assert np.abs(np.bincount(ones, minlength=6) / 20_000 - law).max() < 0.02


def test_differences_of_targets() -> None:
    """Every hash that joins the basis joins all targets; each pivot is in one vector only."""
    targets = np.array([5, 6, 12, 15, 9])
    basis = differences(targets)
    vectors = [1 << p | sum(1 << i for i in others) for p, others in basis]
    spanned = {0}
    for vector in vectors:
        spanned |= {s ^ vector for s in spanned}

    assert {int(t) ^ 5 for t in targets} <= spanned
    assert all(not v >> p & 1 for p, o in basis for v in vectors if v != 1 << p | sum(1 << i for i in o))
    assert differences(np.array([7])) == []


# -- noticing ----------------------------------------------------------------------------------------------------------


def test_how_many_ones_are_usual() -> None:
    """Anchors: OUE at eps 1, k = 128 has 34.7 +- 5.0 ones, above 67 in less than 1e-9; at k = 16 nothing is refused."""
    law = ones_law(mu.OUE(mu.Categories(128), 1.0))
    mean = float(law @ np.arange(129))

    assert mean == pytest.approx(34.7, abs=0.05)
    assert math.sqrt(law @ (np.arange(129) - mean) ** 2) == pytest.approx(5.0, abs=0.05)
    assert usual_ones(mu.OUE(mu.Categories(128), 1.0))[1] == 67
    assert usual_ones(mu.OUE(K, 1.0)) == (0, 16)


MECHANISMS = (
    *(kind(K, 1.0) for kind in ORACLES),
    mu.GRR(mu.Categories(3), 0.5),
    mu.OUE(mu.Categories(100), 2.0),
    mu.OLH(mu.Categories(40), 2.0),
    mu.RAPPOR(mu.Categories(6), 2.0, 1.0),
    mu.Warner(mu.Categories(2)),
    mu.Piecewise(TEN, 1.0),
    mu.Duchi(TEN, 1.0),
    mu.SquareWave(TEN, 1.0),
)
SKEWED = [0] * 350 + [1] * 50


def test_honest_reports_raise_few_alarms() -> None:
    """At level 5%, 15 mechanisms times 12 surveys of 400 people, even and uneven, raise at most 5% alarms.

    180 checks: more than 20 alarms would have a chance below 1e-3 at exactly 5%, and the tests are conservative.
    """
    alarms = p_values = small = 0
    for mechanism in MECHANISMS:
        domain = mechanism.domain
        for seed in range(12):
            codes = np.array(SKEWED if seed % 2 else np.arange(400) % domain.size)
            reports = mechanism.law(codes).sample(mu.Random.seeded(seed))
            check = detect_forgeries(mechanism, reports, level=0.05)
            alarms += check.noticed
            p_values += len(check.tests)
            small += sum(test.p_value <= 0.1 for test in check.tests)
            assert not check.refused.any()

    assert alarms <= 9
    assert small <= 0.1 * p_values


@pytest.mark.parametrize(
    ("mechanism", "attack"),
    [
        (mu.OUE(mu.Categories(128), 1.0), "maximal gain"),
        (mu.OUE(mu.Categories(128), 1.0), "stealthy"),
        (mu.OUE(K, 1.0), "random reports"),
        (mu.SUE(K, 1.0), "maximal gain"),
        (mu.OLH(K, 1.0), "maximal gain"),
        (mu.OLH(K, 1.0), "stealthy"),
        (mu.BLH(K, 1.0), "maximal gain"),
        (mu.SubsetSelection(K, 1.0), "maximal gain"),
        (mu.Piecewise(mu.Integers(0, 50), 1.0), "maximal gain"),
    ],
)
def test_forgeries_that_are_noticed(mechanism: Any, attack: str) -> None:
    """300 of 4,000 reports for four targets (of 128 answers: for eight): all surveys are noticed at level 1%."""
    targets = 4 if mechanism.domain == K else 8
    result = attacked(mechanism, people=4000, forged=300, targets=targets, attacks=[attack], repetitions=3)
    noticed = {row["attack"]: row["noticed"] for row in result.details["bounds"]}

    assert noticed[attack] == 1.0 and noticed["nobody"] == 0.0


def test_grr_forgeries_are_not_noticed() -> None:
    """One code is as good as another: this is what the leverage of 9.7 is about."""
    result = attacked(mu.GRR(K, 1.0), people=4000, forged=40, repetitions=5)

    assert {row["noticed"] for row in result.details["bounds"]} == {0.0}
    assert result.rows[0].value > 5 * result.rows[0].baseline


def test_refused_reports_and_records() -> None:
    """Column by column; the people whose report is refused are named by their row."""
    schema = mu.Schema({"a": mu.Categories(64), "b": mu.Categories(3)})
    people = {"a": [1, 2] * 500, "b": [0, 1] * 500}
    for mechanism in (mu.SPL(schema, 4.0, oracle="OUE"), mu.SMP(schema, 2.0, oracle="OUE")):
        records = mechanism.report(people, mu.Random.seeded(1))
        assert not detect_forgeries(mechanism, records).noticed
        records.parts[0][:30] = 2**64 - 1
        check = detect_forgeries(mu.Plan(mu.Marginals(schema), person=mechanism), records)
        rows = np.arange(30) if records.rows is None else records.rows[0][:30]
        assert check.noticed and np.flatnonzero(check.refused).tolist() == sorted(rows.tolist())
        assert {test.column for test in check.tests if test.p_value < 1e-6} == {"a"}
        assert "column" in check.summary() and check.to_dict()["refused"] == 30


def test_what_a_check_says() -> None:
    oue = mu.OUE(mu.Categories(64), 1.0)
    plan = mu.Plan(mu.Histogram(oue.domain), person=oue)
    reports = plan.report([5] * 1000, mu.Random.seeded(7))
    quiet = detect_forgeries(plan, reports)
    assert not quiet.noticed and "does not prove them honest" in quiet.summary()
    reports.data[:40] = 2**64 - 1
    loud = detect_forgeries(plan, reports)
    assert "a report with 64 ones" in loud.summary() and "forged, or were not drawn by this law" in loud.summary("en")
    assert "<table" in loud.to_page()


@pytest.mark.parametrize("mechanism", [mu.SubsetSelection(mu.Categories(5), 1.0), mu.OUE(mu.Categories(4), 1.0)])
def test_pairs_of_honest_values(mechanism: Any) -> None:
    """The mean of (S_u - q)(S_v - q), over all reports: what the test of pairs rests on."""
    k, s = mechanism.domain.size, mechanism.supports
    means = np.zeros((k, k, k))  # of the value x, and of u and v
    for packed in range(2**k):
        bits = np.array([packed >> i & 1 for i in range(k)], float)
        if isinstance(mechanism, mu.SubsetSelection) and bits.sum() != mechanism.size:
            continue
        centred = bits - float(s.q)
        for x in range(k):
            chance = float(mechanism.channel.prob(x, np.array([packed], np.uint64)))
            means[x] += chance * np.outer(centred, centred)
    for x, u, v in itertools.permutations(range(k), 3):
        assert means[x, u, v] == pytest.approx(float(s.cov_false), abs=1e-12)
        assert means[u, u, v] == pytest.approx(float(s.cov_true), abs=1e-12)


@pytest.mark.parametrize("mechanism", [mu.SubsetSelection(mu.Categories(5), 1.0, w=2), mu.OUE(mu.Categories(4), 1.0)])
@pytest.mark.parametrize("twins", [0, 100, 160])
def test_pairs_are_judged_by_the_spread_of_their_products(mechanism: Any, twins: int) -> None:
    """Bernstein's bound, whose means, variance and largest product come from all reports and all people here."""
    k, n, q = mechanism.domain.size, 400, float(mechanism.supports.q)
    every = np.array([[y >> i & 1 for i in range(k)] for y in range(2**k)])
    if isinstance(mechanism, mu.SubsetSelection):
        every = every[every.sum(axis=1) == mechanism.size]
    laws = [[float(mechanism.channel.prob(x, report)) for report in pack(every)] for x in range(k)]
    product = (every[:, 0] - q) * (every[:, 1] - q)
    means, seconds = np.array(laws) @ product, np.array(laws) @ product**2
    usual = mechanism.law(np.arange(n) % k).sample(mu.Random.seeded(3))
    pair = every[(every[:, :2] == 1).all(axis=1)][:1]
    reports = np.concatenate([usual[twins:], np.repeat(pack(pair), twins, axis=0)])
    bits = unpack(reports, k) - q
    sums = bits.T @ bits
    excess = np.maximum(np.maximum(sums - n * means.max(), n * means.min() - sums), 0)
    largest = max((1 - q) ** 2, q * q, q * (1 - q)) + np.abs(means).max()
    chances = np.exp(-(excess**2) / (2 * (n * seconds.max() + largest * excess / 3)))
    np.fill_diagonal(chances, 1.0)

    test = _pairs(mechanism, reports, mechanism.tally(reports))
    assert test.p_value == pytest.approx(min(1.0, k * (k - 1) * chances.min()), rel=1e-6, abs=0)


@pytest.mark.parametrize("oracle", [p for p in oracles() if getattr(p.values[0], "supported", 1) is None])
@pytest.mark.parametrize("apart", [0, 25, -25, 120])
def test_the_values_that_reports_support_are_judged_by_the_spread_of_their_number(oracle: Any, apart: int) -> None:
    """Bernstein's bound, at the largest variance that a person's answer can give: the covariances of all values."""
    n, k, supports, slope = 400, oracle.domain.size, oracle.supports, float(oracle.affine().slope[0])
    mean = float(supports.p + (k - 1) * supports.q)
    variances = []
    for f in np.eye(k):
        cov = oracle.cross(f).copy()
        np.fill_diagonal(cov, oracle.variance(f, 1) * slope**2)
        variances.append(cov.sum())
    largest = 1.0 if isinstance(oracle, PackedOracle) else max(mean, k - mean)
    tally = np.zeros(k, np.int64)
    tally[0] = round(n * mean) + apart
    excess = abs(tally[0] - n * mean)
    expected = 2 * math.exp(-(excess**2) / (2 * (n * max(variances) + largest * excess / 3)))

    assert _supports_in_all(oracle, n, tally).p_value == pytest.approx(min(1.0, expected), rel=1e-9)


def test_bernstein_bounds_the_binomial_tail() -> None:
    from scipy.stats import binom

    for n, p, t in ((100, 0.3, 20), (1000, 0.01, 15), (50, 0.5, 12)):
        assert binom.sf(math.ceil(n * p + t) - 1, n, p) <= bernstein(t, n * p * (1 - p), 1.0) < 1


# -- recovery and intervals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ORACLES)
@pytest.mark.parametrize("known", [True, False])
def test_recovery_is_nearer_to_the_truth_and_biased(kind: Any, known: bool) -> None:
    """Mean squared error over 5 surveys is at most half of that of the poisoned estimate; there is no interval."""
    mechanism, truth = kind(K, 2.0), np.zeros(16)
    truth[:4] = 0.25
    forger = forger_of(mechanism, np.array([15]))
    before = after = 0.0
    for seed in range(5):
        honest = mechanism.law(np.arange(9000) % 4).sample(mu.Random.seeded(seed))
        forged = forger.reports("maximal gain", 1000, mu.Random.seeded(100 + seed)).astype(honest.dtype)
        reports = np.concatenate([honest, forged])
        estimate = mechanism.estimate(mechanism.tally(reports), 10_000)
        recovered = recover_shares(estimate, mechanism, 1000, [15] if known else None)
        before += float(((estimate.mean - truth) ** 2).sum())
        after += float(((recovered.mean - truth) ** 2).sum())
        assert recovered.mean.min() >= 0 and recovered.mean.sum() == pytest.approx(1)
        with pytest.raises(NoUnbiasedEstimate, match="guessed and taken away, so it is biased"):
            recovered.interval()

    assert after <= 0.5 * before if known else after <= before


def test_the_true_share_is_inside_the_widened_interval() -> None:
    """The maximal attack moves the plain interval away from the truth, and not the one that allows for it."""
    mechanism = mu.OUE(K, 1.0)
    forger = forger_of(mechanism, np.array([15]))
    for seed in range(3):
        honest = mechanism.law(np.arange(1900) % 16).sample(mu.Random.seeded(seed))
        reports = np.concatenate([honest, forger.reports("maximal gain", 100, mu.Random.seeded(seed))])
        estimate = mechanism.estimate(mechanism.tally(reports), 2000)
        low, high = estimate.interval(forged=100, target="superpopulation")[15]
        assert low <= 1 / 16 <= high and estimate.interval(target="superpopulation")[15, 0] > 1 / 16


# -- bad input, and the command ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"forged": 100, "people": 100}, "cannot all be forged"),
        ({"forged": 0}, "forged must be a whole number from 1"),
        ({"targets": 16}, "1 to 15, got 16"),
        ({"targets": []}, "1 to 15"),
        ({"targets": list(range(16))}, "names every value"),
        ({"shares": [1.0]}, "must be 16 numbers"),
        ({"attacks": ["loud"]}, "must be of 'maximal gain', 'stealthy'"),
        ({"level": 2.0}, "strictly between 0 and 1"),
        ({"repetitions": 0}, "repetitions must be a whole number from 1"),
        ({"rng": 7}, "must be a murmure.Random"),
    ],
)
def test_bad_input(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        poisoning(mu.GRR(K, 1.0), **{"people": 200, "forged": 10, "repetitions": 1} | settings)


def test_bad_mechanisms_and_reports() -> None:
    with pytest.raises(InvalidParameter, match="of one kind"):
        poisoning([mu.GRR(TEN, 1.0), mu.Duchi(TEN, 1.0)])
    with pytest.raises(InvalidParameter, match="same domain"):
        poisoning([mu.GRR(TEN, 1.0), mu.GRR(K, 1.0)])
    with pytest.raises(InvalidParameter, match="cannot forge reports of 'BoundedLaplace'"):
        poisoning(mu.BoundedLaplace(TEN, 1.0))
    with pytest.raises(InvalidParameter, match="takes a mechanism at the person"):
        detect_forgeries("GRR", [1])
    with pytest.raises(InvalidParameter, match="no reports to test"):
        detect_forgeries(mu.GRR(K, 1.0), np.empty(0, np.int64))
    assert detect_forgeries(mu.GRR(K, 1.0), np.array([3])).reports == 1
    with pytest.raises(InvalidParameter, match="outside 0"):
        detect_forgeries(mu.GRR(K, 1.0), np.array([99]))
    with pytest.raises(InvalidParameter, match="are Records"):
        detect_forgeries(mu.SPL(mu.Schema({"a": K}), 1.0), [1])
    estimate = mu.GRR(K, 1.0).estimate(np.full(16, 2), 32)
    with pytest.raises(InvalidParameter, match="32 of 32 reports cannot all be forged"):
        recover_shares(estimate, mu.GRR(K, 1.0), 32)
    with pytest.raises(InvalidParameter, match="targets is empty"):
        recover_shares(estimate, mu.GRR(K, 1.0), 3, [])
    with pytest.raises(InvalidParameter, match="shares of one question"):
        recover_shares(mu.Duchi(TEN, 1.0).estimate(np.array([3, 4]), 7), mu.Duchi(TEN, 1.0), 2)


def run(*words: Any) -> Any:
    return CliRunner().invoke(main, ["attack", "poison", *map(str, words)])


SMALL = ("--epsilon", 1, "--people", 200, "--repetitions", 2, "--seed", 1)


def test_the_command(tmp_path: Path) -> None:
    page, picture = tmp_path / "a.html", tmp_path / "a.svg"
    printed = run("--categories", 4, "--mechanism", "grr,oue", "--html", page, "--plot", picture, *SMALL)
    assert printed.exit_code == 0, printed.output
    assert "10 reports of 200 are forged" in printed.stdout and "maximal gain, stealthy (OUE)" in printed.stdout
    assert "by answering honestly" in page.read_text("utf-8") and picture.stat().st_size
    found = json.loads(run("--labels", "a,b,c", "--targets", "b,c", "--json", *SMALL).stdout)
    assert found["attack"] == "poison" and found["targets"] == [1, 2]
    assert {row["mechanism"] for row in found["rows"]} == {"GRR", "OUE", "OLH"}
    assert run("--interval", "0:9", "--cells", 9, "--mechanism", "Duchi", *SMALL).exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "needs --epsilon"),
        (("--epsilon", 1), "one of --categories"),
        (("--categories", 4, "--mechanism", "GRX", *SMALL), "there is no mechanism"),
        (("--categories", 4, "--mechanism", "RAPPOR", *SMALL), "needs --epsilon-once"),
        (("--categories", 4, "--targets", "x", *SMALL), "'x'"),
        (("--categories", 4, "--title", "T", *SMALL), "--title is for a page"),
        (("--categories", 4, "--plot", "a.txt", *SMALL), "a.txt"),
    ],
)
def test_the_command_says_what_is_wrong(words: tuple[Any, ...], message: str) -> None:
    ran = run(*words)

    assert ran.exit_code != 0 and message in ran.output and "Traceback" not in ran.output


def test_estimate_allows_for_forged_reports(tmp_path: Path) -> None:
    at = ("estimate", "--mechanism", "two-coins", "--counts", "no=300,yes=200")
    page = tmp_path / "page.html"
    plain, wide = (
        json.loads(CliRunner().invoke(main, [*at, "--json", *more]).stdout)
        for more in ((), ("--forged", "10", "--html", str(page)))
    )
    assert plain["forged"] == 0 and wide["forged"] == 10
    for one, other in zip(plain["figures"], wide["figures"], strict=True):
        assert other["low"] < one["low"] and other["high"] > one["high"] and other["share"] == one["share"]
    assert "widened for up to 10 forged reports" in page.read_text("utf-8")
    text = CliRunner().invoke(main, [*at, "--forged", "1"]).stdout
    assert "up to 1 forged report" in " ".join(text.split())
    refused = CliRunner().invoke(main, [*at, "--forged", "-1"])
    assert refused.exit_code != 0 and "at least 0" in refused.output
