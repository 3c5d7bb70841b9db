"""Leverage against brute force: every possible report is put in, and the estimate is seen to move."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.listing import listed

import murmure as mu
from murmure.certify.leverage import leverage, leverages, mean_leverage
from murmure.core.errors import InvalidParameter
from murmure.core.types import NoAffine
from murmure.local.base.record_mechanism import RecordMechanism

# Anchors: one forged report on one target's count, an honest person = 1 (three or four digits as printed there).
TABLE = {
    0.5: (2.54, 24.1, 197, 1578, 4.52, 5.08, 5.62),
    1.0: (1.58, 9.7, 74.9, 596, 2.54, 3.16, 3.33),
    2.0: (1.16, 3.35, 20.9, 161, 1.58, 2.31, 2.25),
    4.0: (1.02, 1.28, 3.4, 20, 1.16, 2.04, 2.04),
}
MAX_REPORTS = 5000
EXAMPLES = [e for e in listed("murmure.local") if not isinstance(e[1], RecordMechanism | mu.TwoSamples)]
RECORDS = [e for e in listed("murmure.local") if isinstance(e[1], RecordMechanism)]


def case(example: tuple[str, Any]) -> Any:
    return pytest.param(example[1], id=example[0])


@pytest.mark.parametrize("epsilon", TABLE)
def test_the_published_table(epsilon: float) -> None:
    found = [
        leverage(mechanism).up.max()
        for mechanism in (
            mu.Warner(mu.Categories(2), epsilon=epsilon),
            *(mu.GRR(mu.Categories(k), epsilon) for k in (16, 128, 1024)),
            *(kind(mu.Categories(64), epsilon) for kind in (mu.SUE, mu.OUE, mu.OLH)),
        )
    ]

    assert np.allclose(found, TABLE[epsilon], rtol=0.012)


def every_report(mechanism: Any) -> np.ndarray[Any, Any] | None:
    """All possible reports, stacked; None where they are too many."""
    outcomes = mechanism.channel.outcomes()
    if outcomes is None or mechanism.channel.report_bits() > np.log2(MAX_REPORTS):
        return None
    example = mechanism.report([], mu.Random.seeded(0))
    return np.stack([np.asarray(y) for y in outcomes]).astype(example.dtype)


def worth(estimate: Any, base: np.ndarray[Any, Any], forged: np.ndarray[Any, Any], mechanism: Any) -> Any:
    """What one more report adds to (number of reports) x estimate: linear, so the others do not matter."""
    n = len(base)
    before = n * np.atleast_1d(estimate(mechanism.tally(base), n))
    return np.array(
        [
            (n + 1) * np.atleast_1d(estimate(mechanism.tally(np.append(base, y[None], 0)), n + 1)) - before
            for y in forged
        ]
    )


@pytest.mark.parametrize("mechanism", [case(e) for e in EXAMPLES])
def test_every_possible_report(mechanism: Any) -> None:
    """Exact: some report attains both ends of every figure, and none goes further."""
    found = leverage(mechanism)
    if isinstance(mechanism.affine(), NoAffine):
        assert found.reason and len(found.up) == 0
        return
    domain = mechanism.domain
    base = mechanism.report([domain.label(0), domain.label(domain.size - 1)] * 10, mu.Random.seeded(3))
    forged = every_report(mechanism)
    listed_all = forged is not None
    if forged is None:  # honest reports are possible reports too: none goes further
        forged = mechanism.report([domain.label(0)] * 200, mu.Random.seeded(4))
    moved = worth(lambda tally, n: mechanism.estimate(tally, n).mean, base, forged, mechanism)
    if mechanism.affine().of == "code":
        low, step, _ = domain.scale()
        moved = (moved - low) / (step * (domain.size - 1))
    assert (moved <= found.up + 1e-6).all() and (moved >= found.down - 1e-6).all()
    if listed_all:
        assert np.allclose(moved.max(axis=0), found.up, atol=1e-6)
        assert np.allclose(moved.min(axis=0), found.down, atol=1e-6)
        at_once = np.isclose(moved, found.up, atol=1e-6).sum(axis=1).max()
        assert at_once == found.at_once if found.exact else at_once <= found.at_once


@pytest.mark.parametrize(
    "mechanism",
    [
        mu.GRR(mu.Integers(3, 9), 1.0),
        mu.OUE(mu.Integers(3, 9), 1.0),
        mu.SubsetSelection(mu.Integers(3, 9), 0.5),
        mu.HadamardResponse(mu.Integers(3, 9), 1.0),
        mu.BLH(mu.Integers(0, 7), 1.0),
        mu.BLH(mu.Integers(0, 4), 1.0),
        mu.Warner(mu.Integers(0, 1)),
    ],
)
def test_a_mean_of_shares(mechanism: Any) -> None:
    found, domain = mean_leverage(mechanism), mechanism.domain
    low, high = domain.numbers()[[0, -1]]
    base = mechanism.report([low, high] * 10, mu.Random.seeded(3))
    forged = every_report(mechanism)
    assert forged is not None
    plan = mu.Plan(mu.Mean(domain), person=mechanism)

    def mean(tally: Any, n: int) -> Any:
        return (plan.statistic.finish(mechanism.estimate(tally, n)).mean - low) / (high - low)

    moved = worth(mean, base, forged, mechanism)
    if found.exact:
        assert np.isclose(moved.max(), found.up[0]) and np.isclose(moved.min(), found.down[0])
    else:
        assert moved.max() <= found.up[0] + 1e-9 and moved.min() >= found.down[0] - 1e-9


@pytest.mark.parametrize("mechanism", [case(e) for e in RECORDS])
def test_a_record_is_read_column_by_column(mechanism: Any) -> None:
    """The part's leverage, over the share of people who show the column: 20 people, counted one by one."""
    found = leverages(mechanism)
    shown = mechanism.shows_some_columns
    for (name, one), part in zip(found.items(), mechanism.parts, strict=True):
        if one.reason is not None:
            continue
        draw = mechanism.channel.draw if shown else None
        chance = sum(draw.prob(s) for s in draw.outcomes() if mechanism.columns.index(name) in s) if draw else 1
        affine = part.affine()
        if affine.of == "cells":
            up = [(1 - q) / affine.slope[0] / chance for q in affine.offset]
            assert np.allclose(one.up, np.array(up, float), rtol=1e-9)


def test_rsfd_is_scaled_by_the_chance_of_being_real() -> None:
    """One column of two is real: its slope is half of (p - q), and a forged record counts about twice as much."""
    schema = mu.Schema({"a": mu.Categories(4), "b": mu.Categories(4)})
    hidden = mu.RSFD(schema, 1.0)
    records = hidden.report({"a": [0] * 40, "b": [1] * 40}, mu.Random.seeded(5))
    found = leverages(hidden)["a"]
    moved = []
    for y in range(4):
        parts = [records.parts[0].copy(), records.parts[1]]
        parts[0][0] = y
        moved.append(40 * hidden.estimate(hidden.tally(_with_part(records, parts)), 40)["a"].mean)

    assert np.allclose(np.ptp(np.array(moved), axis=0), found.up - found.down)


def _with_part(records: Any, parts: list[Any]) -> Any:
    return replace(records, parts=parts)


def test_pairs() -> None:
    """Both factors of a pair are forged at once: every pair of reports is tried."""
    schema = mu.Schema({"a": mu.Categories(2), "b": mu.Categories(3)})
    mechanism, pair = mu.SPL(schema, 2.0, oracle="GRR"), mu.Pair(schema, "a", "b")
    found = leverages(mechanism, pair)[""]
    records = mechanism.report({"a": [0, 1] * 10, "b": [0, 2] * 10}, mu.Random.seeded(5))
    oracle, moved = pair.tallier(mechanism), []
    rest = _with_part(records, [part[1:] for part in records.parts])
    fixed = 19 * oracle.estimate(oracle.tally(rest), 19).mean
    for a in range(2):
        for b in range(3):
            parts = [part.copy() for part in records.parts]
            parts[0][0], parts[1][0] = a, b
            moved.append(20 * oracle.estimate(oracle.tally(_with_part(records, parts)), 20).mean - fixed)

    assert np.allclose(np.max(moved, axis=0), found.up) and np.allclose(np.min(moved, axis=0), found.down)
    three = mu.Schema({name: mu.Categories(2) for name in "abc"})
    some = mu.SMP(three, 2.0, oracle="GRR", sample=2)
    all_of_them = leverages(mu.SPL(three, 2.0, oracle="GRR"), mu.Pair(three, "a", "b"))[""]
    assert leverages(some, mu.Pair(three, "a", "b"))[""].largest > all_of_them.largest / 3


def test_two_samples() -> None:
    """One answer of a group changed from no to yes."""
    one, two = (mu.TwoSamples((yes, 90), (300, 200), (0.7, 0.3)).estimate().mean for yes in (120, 121))
    found = leverage(mu.TwoSamples((120, 90), (300, 200), (0.7, 0.3)))

    assert np.isclose((two - one)[0] * 500, found.up[0])


def test_how_far_m_reports_move_a_figure() -> None:
    mechanism = mu.GRR(mu.Categories(128), 1.0)
    down, up = leverage(mechanism).most(100, 10_000)[0]

    assert up == pytest.approx(0.749, abs=1e-3) and down == pytest.approx(-0.00582, abs=1e-5)


def test_plans() -> None:
    domain = mu.Integers(0, 9)
    mechanism = mu.OUE(domain, 1.0)
    assert leverages(mechanism, mu.Histogram(domain))[""].at_once == 10
    assert leverages(mechanism, mu.Mean(domain))[""].labels == ("mean",)
    assert mu.Plan(mu.Mean(domain), person=mechanism).leverage()[""].largest == mean_leverage(mechanism).largest
    assert str(leverage(mechanism)) == "one forged report counts for up to 3.16 people, on 10 figures at once"
    assert str(leverage(mu.BoundedLaplace(domain, 1.0))).startswith("no figure to move: reports near a bound")
    with pytest.raises(InvalidParameter, match="no mechanism at the person"):
        leverages(None, mu.Histogram(domain))
    with pytest.raises(InvalidParameter, match="known of Histogram, Mean, Marginals and Pair, got 'Count'"):
        leverages(mechanism, mu.Count(domain))
    with pytest.raises(InvalidParameter, match=r"(?s)one attribute.*leverages\(mechanism\)"):
        leverage(mu.SPL(mu.Schema({"a": mu.Categories(2)}), 1.0))
    with pytest.raises(InvalidParameter, match="one attribute"):
        leverage(mu.Mapped(mechanism.channel, str))
