"""A weighed sum finds what is spread over many numbers, and asks for some numbers first."""

from __future__ import annotations

import numpy as np
import pytest

import murmure as mu
from murmure.attacks.audits.events import ReportEvent, _with_examples
from murmure.attacks.audits.features import FeatureBins, ReportFeature
from murmure.attacks.audits.sent_reports import ABSENT, WHOLE, SentReports, sent_array
from murmure.attacks.audits.weighed_numbers import weighed_numbers


def spread(rng, columns=20, scale=4.0):
    """Each column costs 1 / scale; the numbers are on a grid, so that their last digits tell nothing."""

    def randomise(value, n):
        return np.round((rng.laplace(0, scale, (n, columns)) + value) * 64) / 64

    return randomise


def test_many_small_shifts_are_found_together():
    """Twenty columns of 0.25 each: 5 in all. One column alone never shows more than 0.25.

    They shift up and down in turns: the plain sum shows nothing.
    """
    f = spread(np.random.default_rng(1))

    def randomise(value, n):
        return f(value, n) * np.where(np.arange(20) % 2, 1, -1)

    result = mu.audit(randomise, 1.0, [(0, 1)], samples=20_000, rng=mu.Random.seeded(1), batched=True)

    assert result.verdict == "violates"
    assert 1.0 < result.bound < 5.0
    assert "weighed sum of the report's 20 numbers" in str(result.event)


def test_the_weights_are_those_of_the_columns_that_shift():
    f = spread(np.random.default_rng(2), 6, 1.0)
    one, other = f(1.0, 4_000), f(0.0, 4_000)
    one[:, 3:] -= 1.0  # the last three do not shift
    found = weighed_numbers(sent_array(np.concatenate([one, other])), np.arange(8_000) < 4_000)

    assert found is not None
    assert found.weights[:3].min() > 4 * np.abs(found.weights[3:]).max()


@pytest.mark.parametrize("columns", [1, 2])
def test_few_numbers_are_left_to_tables(columns):
    f = spread(np.random.default_rng(3), columns)

    assert weighed_numbers(sent_array(np.concatenate([f(1, 500), f(0, 500)])), np.arange(1_000) < 500) is None


def test_missing_and_endless_numbers_do_no_harm():
    rng = np.random.default_rng(4)
    columns = {("position", i): rng.normal(size=1_000) for i in range(3)}
    columns["position", 0][::7] = np.nan
    columns["position", 1][::5] = np.inf
    columns["position", 3] = np.where(np.arange(1_000) % 2, rng.integers(0, 1_000, 1_000), ABSENT)
    sent = SentReports(1_000, columns)
    found = weighed_numbers(sent, np.arange(1_000) < 500)

    assert found is not None
    assert np.isfinite(found.score(sent)).all()


def test_a_whole_report_is_written_out():
    """Digests mean nothing to people."""
    sent = sent_array(np.array([[1, 0, 1]] * 3 + [[0, 1, 1]] * 5))
    bins = FeatureBins.of(ReportFeature("value", WHOLE), sent.whole)
    place = int(bins.of_reports(sent)[0])
    event = ReportEvent(bins, np.array([place, 1 - place]), 1, 0.0, sent.texts)

    assert "certain" in str(event.words())
    assert str(_with_examples(event, sent).words()) == "the whole report is '[1, 0, 1]'"
