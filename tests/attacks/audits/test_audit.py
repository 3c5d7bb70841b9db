"""The audit from samples: it finds what is known to be wrong, and leaves alone what is right."""

from __future__ import annotations

import json
import math
import os
import re
import time
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from tests.attacks.audits.randomisers import generalised, staircase_by_rejection, subset_with_truth_first, unary
from tests.listing import listed

import murmure as mu
from murmure.attacks.audits.audit import _Run, look_sizes
from murmure.attacks.audits.audit_result import AuditResult
from murmure.attacks.audits.events import SCORE_BINS, _boosted
from murmure.attacks.audits.features import FeatureBins, features_of
from murmure.attacks.audits.sent_reports import sent_array
from murmure.attacks.audits.subjects import _table_pairs, value_pairs


def _audit(randomiser: Any, *args: Any, seed: int = 7, **options: Any) -> AuditResult:
    return mu.audit(randomiser, *args, rng=mu.Random.seeded(seed), **options)


# -- what is wrong is found


def test_subset_selection_that_writes_the_truth_first() -> None:
    """Log-ratio 4.57 at epsilon = 1: found with fewer than 10,000 samples."""
    result = _audit(subset_with_truth_first(100, 1.0, 1), 1.0, [(3, 7)], samples=5_000)
    assert result.verdict == "violates" and 2 * result.samples < 10_000
    assert result.bound is not None and 1 < result.bound < 4.7
    assert "element 0" in str(result.event)


def test_a_last_bit_that_is_never_randomised() -> None:
    result = _audit(unary(8, 1.0, 1, last_bit_is_true=True), 1.0, [(0, 7)], batched=True, samples=20_000)
    assert result.verdict == "violates" and "element 7" in str(result.event)
    assert _audit(unary(8, 1.0, 1), 1.0, [(0, 7)], batched=True, samples=20_000).verdict == "consistent"


def test_staircase_by_rejection_costs_more_than_it_claims() -> None:
    """The exact loss is 1.332, between the edge and a value whose top lies inside."""
    result = _audit(staircase_by_rejection(1.0, 1), 1.0, [(0.0, 0.6)], batched=True, samples=50_000)
    assert result.verdict == "violates"
    assert result.bound is not None and 1 < result.bound < 1.332


def test_published_random_sampling_with_fake_data_protects_the_record_by_less() -> None:
    """Two columns of two values at the papers' epsilon = 1: 1.495 for the record."""
    pair = mu.Schema({"a": mu.Categories(2), "b": mu.Categories(2)})
    result = _audit(mu.RSFD(pair, 1.0, calibrate="paper"), 1.0, samples=20_000)
    assert result.verdict == "violates"
    assert result.certificate is not None and result.bound is not None
    assert 1 < result.bound <= result.certificate.epsilon


def test_a_delta_that_is_larger_than_claimed() -> None:
    """One report in fifty is the truth with a flag: delta = 0.02, whatever epsilon is."""
    rng = np.random.default_rng(3)

    def report(value: int, n: int) -> Any:
        flagged, truth = rng.random(n) < 0.02, rng.random(n) < 0.7
        return np.stack([flagged, np.where(flagged | truth, value, 1 - value)], axis=1)

    result = _audit(report, 1.0, [(0, 1)], delta=0.001, batched=True, samples=40_000)
    assert result.verdict == "violates" and result.delta_bound is not None
    assert 0.001 < result.delta_bound < 0.02
    result = _audit(report, 1.0, [(0, 1)], delta=0.03, batched=True, samples=40_000)
    assert result.verdict == "consistent" and result.delta_bound is not None and result.delta_bound < 0.03


def test_a_float_that_betrays_its_value_by_its_last_bits() -> None:
    """Laplace noise in floats: the values that are possible about 0 and about 1 differ (Mironov, CCS 2012)."""
    rng = np.random.default_rng(3)
    result = _audit(lambda value, n: value + rng.laplace(size=n), 1.0, [(0.0, 1.0)], batched=True, samples=40_000)
    assert result.verdict == "violates"


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 4])
def test_two_per_cent_too_much_is_found_with_power_95_per_cent(k: int) -> None:
    """e^eps 2 % too large; 5e5 held-out samples of each input. 40 seeded runs: fewer than 35 found would have
    probability 0.014 at a power of 0.95."""
    found = 0
    for seed in range(40):
        randomiser = generalised(k, 1.02 * math.e, seed)
        result = _audit(randomiser, 1.0, [(0, 1)], batched=True, samples=1_000_000, seed=seed)
        found += result.verdict == "violates"
    assert found >= 35


# -- what is right is left alone


def test_false_alarms_are_as_rare_as_stated() -> None:
    """Exactly at its claim, 150 seeded audits: more than 29 alarms have probability 2e-4 where alpha = 0.1 holds."""
    mechanism = mu.GRR(mu.Categories(3), epsilon=1.0)
    alarms = sum(_audit(mechanism, samples=2_000, alpha=0.1, seed=s).verdict == "violates" for s in range(150))
    assert stats.binom.sf(29, 150, 0.1) < 3e-4
    assert alarms <= 29


@pytest.mark.slow
def test_no_mechanism_of_ours_is_accused() -> None:
    """Every example of the catalogue; alpha = 0.01 over all of them together."""
    examples = listed("murmure.local")
    for name, mechanism in examples:
        if not mu.certify(mechanism).epsilon < 30:
            continue
        result = _audit(mechanism, samples=10_000, alpha=0.01 / len(examples))
        assert result.verdict != "violates", name
        if result.bound is not None and result.certificate is not None:
            assert result.bound <= result.certificate.epsilon, name


def test_ours_by_kind() -> None:
    """Packed bits, hashes, records with hidden parts, kept bits; audit <= certificate <= claim."""
    schema = mu.Schema({"a": mu.Categories(2), "b": mu.Categories(3)})
    for mechanism in (
        mu.OUE(mu.Categories(5), 1.0),
        mu.OLH(mu.Categories(3), 1.0),
        mu.SMP(schema, 1.0),
        mu.RSFD(schema, 1.0, oracle="OUE-z"),
        mu.RAPPOR(mu.Categories(3), 4.0, 1.0).for_ever,
        mu.Plan(mu.Histogram(mu.Categories(3)), person=mu.GRR(mu.Categories(3), 1.0)),
    ):
        result = _audit(mechanism, samples=2_000, alpha=1e-3)
        assert result.verdict == "consistent", mechanism
        assert result.bound is not None and result.certificate is not None
        assert result.bound <= result.certificate.epsilon <= result.claim + 1e-9


def test_a_client_that_remembers_is_audited_from_fresh_keys() -> None:
    client = mu.RAPPOR(mu.Categories(2), 4.0, 1.0).client(os.urandom(32), "question")
    result = mu.audit(client, samples=400, alpha=1e-6)
    assert result.verdict in ("consistent", "no statement") and "client of its own" in str(result)


def test_noise_of_a_curator_on_tables_that_differ_in_one_person() -> None:
    plan = mu.Plan(mu.Mean(mu.Integers(0, 120)), curator=mu.DiscreteLaplace(epsilon=1.0))
    result = _audit(plan, samples=300, alpha=1e-4)
    assert result.verdict == "consistent" and result.bound is not None and result.bound <= 1
    assert _audit(plan, 0.01, samples=1_000).verdict == "violates"


@pytest.mark.parametrize("epsilon", [None, 0.3])
def test_a_delta_that_the_certificate_states_is_part_of_the_claim(epsilon: float | None) -> None:
    """Gaussian noise has no epsilon without a delta: at delta = 0 it is accused, and its claim is another one."""
    plan = mu.Plan(mu.Histogram(mu.Categories(["a", "b"])), curator=mu.DiscreteGaussian(epsilon=0.3, delta=0.1))
    result = _audit(plan, epsilon, samples=4_000, alpha=1e-3)
    assert result.verdict != "violates" and result.certificate is not None
    assert result.delta == result.certificate.delta > 0
    if epsilon is None:
        assert _audit(plan, delta=0.0, samples=20_000).verdict == "violates"


def test_others_claim_no_delta_unless_they_say_so() -> None:
    assert _audit(lambda value, n: np.zeros(n), 1.0, [(0, 1)], batched=True, samples=400).delta == 0


@pytest.mark.slow
def test_a_learner_is_fitted_again_for_each_sample() -> None:
    schema = mu.Schema({"x": mu.Interval(0.0, 1.0, cells=64), "y": mu.Categories(["a", "b"])})
    from murmure.learn import NaiveBayes

    learner = NaiveBayes(target="y", schema=schema, privacy=mu.Central(epsilon=1.0))
    result = _audit(learner, 1.0, samples=200, alpha=1e-4)
    assert result.verdict in ("consistent", "no statement") and not result.problems


def test_a_sanitised_file_is_audited_by_the_law_in_it(tmp_path: Any) -> None:
    mechanism = mu.SPL(mu.Schema({"a": mu.Categories(["no", "yes"])}), 1.0)
    table = pa.table({"a": ["no", "yes"] * 50})
    mu.sanitise(table, mechanism, tmp_path / "out.parquet", rng=mu.Random.seeded(1))
    result = _audit(tmp_path / "out.parquet", samples=2_000, alpha=1e-4)
    assert result.verdict == "consistent" and "the rows themselves prove nothing" in str(result).replace("\n  ", " ")


# -- how it is done


def test_looks_are_doublings_that_end_with_half_of_the_samples() -> None:
    assert look_sizes(1_000_000)[-1] == 500_000
    assert look_sizes(8_000) == [500, 1_000, 2_000, 4_000]
    assert look_sizes(199) == []
    sizes = look_sizes(100_000)
    assert all(2 * one in (other, other - 1) for one, other in pairwise(sizes))


def test_alpha_is_divided_over_looks_pairs_and_directions() -> None:
    result = _audit(mu.GRR(mu.Categories(3), epsilon=1.0), samples=20_000, alpha=0.05)
    for look in result.looks:
        assert look.level == pytest.approx(0.05 / (look.number * (look.number + 1)))
        assert sum(row.level for row in look.rows) == pytest.approx(look.level)
        assert len(look.rows) == 3 * 2
        ahead, back = look.rows[::2], look.rows[1::2]
        assert [row.pair for row in back] == [row.pair[::-1] for row in ahead]
    assert sum(look.level for look in result.looks) < 0.05


@pytest.mark.parametrize("coins", [1, 2, 63, 64, 65, 127, 128, 129, 250, 1000])
def test_every_coin_counts_one_and_is_a_bit_of_its_own(coins: int) -> None:
    """If every bit drawn says heads, so does every coin; if one bit in 64 does, no more coins than bits; if none, none.

    The bound of a look (coin_bound) holds for fair coins: one that always fell the same way would make it too large.
    """
    words = -(-coins // 64)

    def heads(bits: int) -> int:
        drawn: list[int] = []

        def draw(n: int) -> Any:
            drawn.append(n)
            return np.full(n, bits, np.uint64)

        found = _Run._heads(SimpleNamespace(rng=SimpleNamespace(words=draw)), coins)  # type: ignore[arg-type]
        assert drawn == [words]
        return found

    assert heads(2**64 - 1) == coins
    assert heads(0) == 0
    by_bit = [heads(1 << bit) for bit in range(64)]
    assert sum(by_bit) == coins and set(by_bit) <= {words - 1, words}


def test_a_look_divides_its_reports_by_fair_coins() -> None:
    """250 coins a look, 40 seeded audits: heads lie beyond 4.4 standard deviations with probability 1e-5."""
    rows = [_audit(mu.GRR(mu.Categories(2), 1.0), samples=250, seed=s).looks[0].rows[0].hits for s in range(40)]

    assert {hits.m + hits.n for hits in rows} == {250}
    assert abs(sum(hits.m - 125 for hits in rows)) < 4.4 * math.sqrt(40 * 250) / 2


def test_too_few_samples_give_no_number() -> None:
    for samples, epsilon in ((50, 1.0), (199, 1.0), (400, 12.0)):
        result = _audit(mu.GRR(mu.Categories(2), epsilon=1.0), epsilon, samples=samples)
        assert result.verdict == "no statement" and result.exit_status == 3
        assert result.bound is None and result.would_have_seen is None and result.floor is None and result.reasons
        assert "Too few samples" in str(result)


def test_a_seeded_audit_is_the_same_again_and_is_shown_everywhere(tmp_path: Any) -> None:
    results = [_audit(mu.GRR(mu.Categories(3), epsilon=1.0), samples=2_000) for _ in range(2)]
    assert results[0].to_json() == results[1].to_json()
    fields = json.loads(results[0].to_json())
    assert fields["verdict"] == "consistent" and fields["exit_status"] == 0
    assert "concern" in str(results[0]) or "It says nothing about other events" in str(results[0]).replace("\n  ", " ")
    for language in ("en", "fr"):
        assert "<svg" in results[0].to_page(lang=language)  # type: ignore[arg-type]
    results[0].plot(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").stat().st_size


def test_how_often_the_event_occurred_is_told_in_counts_and_in_per_cent() -> None:
    """Both shares are the quotients of the counts beside them."""
    text = " ".join(str(_audit(mu.GRR(mu.Categories(3), epsilon=1.0), samples=2_000)).split())
    found = re.search(r"([\d,]+) of ([\d,]+) reports \(([\d.]+)%\) against ([\d,]+) of ([\d,]+) \(([\d.]+)%\)", text)
    assert found is not None
    a, m, p, b, n, q = (float(number.replace(",", "")) for number in found.groups())

    assert m + n == 2000 and 0 < b < a
    assert p == pytest.approx(100 * a / m, abs=5e-5) and q == pytest.approx(100 * b / n, abs=5e-5)


@pytest.mark.parametrize(("k", "pairs"), [(2, 1), (3, 3), (4, 6), (5, 5), (30, 5)])
def test_up_to_four_values_are_audited_in_all_pairs_and_more_in_five(k: int, pairs: int) -> None:
    """Of many values the first with the last, the first with the second, and three pairs at random."""
    found = value_pairs(mu.Integers(0, k - 1), mu.Random.seeded(1))

    assert len(found) == len(set(found)) == pairs
    assert {(0, k - 1), (0, 1)} <= set(found) and all(0 <= one < other < k for one, other in found)


@pytest.mark.parametrize("domain", [mu.Integers(0, 10), mu.Interval(0, 1, cells=20), mu.Categories(["a", "b", "c"])])
def test_tables_of_a_replaced_row_can_be_read_and_differ_in_it_alone(domain: Any) -> None:
    """No missing, infinite or unreadable cell: answers about those are errors, and show nothing of the noise."""
    pairs = _table_pairs(domain, "replace")

    assert len(pairs) == 2
    for one, other in pairs:
        a, b = domain.encode(one), domain.encode(other)
        assert len(a) == len(b) > 1 and (a != b).sum() == 1


@pytest.mark.parametrize("k", [2, SCORE_BINS - 1, SCORE_BINS])
def test_a_score_of_few_values_keeps_them_apart(k: int) -> None:
    """Each of up to 64 reports with likelihood ratios of their own is a range of the score."""
    about_x, about_other = np.repeat(np.arange(k), 100 + np.arange(k)), np.repeat(np.arange(k), 200)
    sent, source = sent_array(np.concatenate([about_x, about_other])), np.arange(len(about_x) + 200 * k) < len(about_x)
    (feature,) = (f for f in features_of(sent) if f.look == "value")
    score = _boosted([FeatureBins.of(feature, feature.of(sent))], sent, source)

    assert score is not None and score.count == k
    assert score.of_reports(sent).tolist() == [*about_x, *about_other]  # in the order of their ratios


@pytest.mark.slow
def test_a_million_reports_of_grr_take_less_than_two_seconds() -> None:
    mechanism = mu.GRR(mu.Categories(4), epsilon=1.0)
    mu.audit(mechanism, samples=100_000)  # kernels are loaded
    tries = []
    for seed in range(3):
        began = time.process_time()
        _audit(mechanism, samples=1_000_000, seed=seed)
        tries.append(time.process_time() - began)
    assert min(tries) < 2
