"""Generic checks: list a thing in EXAMPLES and these come to it. Each rejects its mutants (tests/certify).

Statistical parts are seeded and fail by chance with the stated probability FAILURE per mechanism, in the worst case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.certify.certificate import certify
from murmure.certify.checks.parts import FAILURE, PEOPLE, chi_squared, report_key, require
from murmure.certify.checks.parts import CheckFailed as CheckFailed
from murmure.certify.checks.records import check_record
from murmure.certify.divergence import enumerate_loss, max_loss
from murmure.core.errors import MurmureError
from murmure.core.estimates.column_estimates import Estimates
from murmure.core.random import GivenWords, Random
from murmure.core.schema import Schema
from murmure.core.types import Affine, Array, Total
from murmure.laws.law import Channel

ENUMERABLE = 5_000


def _some_inputs(channel: Channel) -> list[int]:
    k = channel.inputs
    return list(range(k)) if k <= 6 else [0, 1, k // 2, k - 1]


def _outcomes(channel: Channel) -> list[Any] | None:
    listed = channel.outcomes()
    if listed is None:
        return None
    out = []
    for y in listed:
        out.append(y)
        if len(out) > ENUMERABLE:
            return None
    return out


def check_mechanism(mechanism: Any, seed: int = 1) -> None:
    """A mechanism's promises: a law, samples that follow it, its moments, a certificate, words of its own."""
    if isinstance(mechanism.domain, Schema):
        return check_record(mechanism, seed)
    channel = mechanism.channel
    outcomes = _outcomes(channel)
    if outcomes is not None:
        check_law(mechanism, outcomes)
        check_affine(mechanism, outcomes)
        check_moments(mechanism, outcomes)
    check_samples(mechanism, outcomes, seed)
    check_words(mechanism, seed)
    check_certificate(mechanism, outcomes)


def check_law(mechanism: Any, outcomes: list[Any]) -> None:
    """The law sums to one exactly, and log_prob reads the same integers as prob."""
    channel = mechanism.channel
    for x in _some_inputs(channel):
        probs = [channel.prob(x, y) for y in outcomes]
        require(
            sum(probs, Fraction(0)) == 1,
            mechanism,
            f"the law of input {x} sums to {float(sum(probs))}, not to 1",
        )
        require(min(probs) >= 0, mechanism, f"the law of input {x} has a negative probability")
        logs = channel.log_prob(np.full(len(outcomes), x), np.array(outcomes))
        exact = np.array([math.log(p) if p else -math.inf for p in probs])
        require(
            bool(np.allclose(logs, exact, rtol=1e-12, atol=1e-12)),
            mechanism,
            f"log_prob differs from prob at {x}",
        )


def check_affine(mechanism: Any, outcomes: list[Any]) -> None:
    """The expected tally, computed from the law, is exactly the affine map."""
    affine = mechanism.affine()
    if not isinstance(affine, Affine):
        require(bool(affine.reason), mechanism, "no affine map, and no reason why")
        return
    channel = mechanism.channel
    tallies = [mechanism.tally(np.array([y])) for y in outcomes]
    for x in _some_inputs(channel):
        probs = [channel.prob(x, y) for y in outcomes]
        width = len(tallies[0])
        expected = [
            sum((p * int(t[v]) for p, t in zip(probs, tallies, strict=True)), Fraction(0)) for v in range(width)
        ]
        if affine.of == "cells":
            for v in range(width):
                offset, slope = affine.offset[v % len(affine.offset)], affine.slope[v % len(affine.slope)]
                wanted = offset + (slope if v == x else 0)
                require(
                    expected[v] == wanted,
                    mechanism,
                    f"E[tally of {v} | {x}] is {float(expected[v])}, the affine map says {float(wanted)}",
                )
        else:
            read = sum((r * e for r, e in zip(affine.readout, expected, strict=True)), Fraction(0))
            require(read == x, mechanism, f"the readout of code {x} has expectation {float(read)}")


def check_moments(mechanism: Any, outcomes: list[Any]) -> None:
    """Variances and covariances, computed from the law, are those that error bars are made of."""
    affine, channel = mechanism.affine(), mechanism.channel
    if not isinstance(affine, Affine) or channel.inputs > 64:
        return
    tallies = np.array([mechanism.tally(np.array([y])) for y in outcomes], float)
    if affine.of == "code":
        readout, (v0, v1, v2) = np.array(list(affine.readout), float), mechanism.variance_polynomial
        for x in _some_inputs(channel):
            p = np.array([float(channel.prob(x, y)) for y in outcomes])
            at_code = float(p @ (tallies @ readout - x) ** 2)
            require(
                math.isclose(at_code, v0 + v1 * x + v2 * x * x, rel_tol=1e-9, abs_tol=1e-9),
                mechanism,
                f"the variance at code {x} is {at_code}, the polynomial says {v0 + v1 * x + v2 * x * x}",
            )
        return
    k = channel.inputs
    f = np.arange(1, k + 1) / (k * (k + 1) / 2)  # any shares do: variances are straight lines in them
    exact = np.zeros((k, k))
    for x in range(k):
        p = np.array([float(channel.prob(x, y)) for y in outcomes])
        centred = tallies - p @ tallies
        exact += f[x] * (centred.T * p) @ centred
    slope = np.array([float(s) for s in affine.slope]) * np.ones(k)
    stated = mechanism.cross(f).copy()
    np.fill_diagonal(stated, mechanism.variance(f, 1) * slope**2)
    worst = tuple(int(i) for i in np.unravel_index(np.abs(stated - exact).argmax(), (k, k)))
    require(
        bool(np.allclose(stated, exact, rtol=1e-9, atol=1e-12)),
        mechanism,
        f"the covariance of cells {worst} is {exact[worst]}, the mechanism says {stated[worst]}",
    )


def check_samples(mechanism: Any, outcomes: list[Any] | None, seed: int) -> None:
    """Samples follow the law: chi-squared over reports, or every cell of the tally where reports cannot be listed."""
    channel = mechanism.channel
    inputs = _some_inputs(channel)
    for i, x in enumerate(inputs):
        reports = mechanism.law(np.full(PEOPLE, x)).sample(Random.seeded(seed * 1000 + i))
        listed = channel.outcomes()
        if isinstance(listed, range):
            require(int(reports.max()) < len(listed), mechanism, "sampled a report that the law does not list")
            seen = np.bincount(reports, minlength=len(listed))
            chance = chi_squared(
                seen, PEOPLE * np.exp(channel.log_prob(np.full(len(listed), x), np.arange(len(listed))))
            )
        elif outcomes is not None:
            keys = {report_key(y): j for j, y in enumerate(outcomes)}
            try:
                seen = np.bincount([keys[report_key(y)] for y in reports], minlength=len(outcomes))
            except KeyError as stray:
                raise CheckFailed(f"{mechanism!r}: sampled a report that the law does not list: {stray}") from None
            chance = chi_squared(seen, PEOPLE * np.array([float(channel.prob(x, y)) for y in outcomes]))
        else:
            chance = _worst_cell(mechanism, reports, x)
        require(
            chance > FAILURE / len(inputs), mechanism, f"samples of input {x} do not follow the law (p = {chance:.1e})"
        )


def _worst_cell(mechanism: Any, reports: Array, x: int) -> float:
    """The chance that some cell of the tally is as far from its expectation as the worst one (Bonferroni)."""
    from scipy.special import ndtr

    affine = mechanism.affine()
    slope = float(affine.slope[0])
    p = np.array([float(affine.offset[0]) + slope * (v == x) for v in range(mechanism.channel.inputs)])
    z = (mechanism.tally(reports) - PEOPLE * p) / np.sqrt(PEOPLE * p * (1 - p))
    return min(1.0, 2 * float(ndtr(-np.abs(z).max())) * len(z))


def check_words(mechanism: Any, seed: int) -> None:
    """A report is a function of its own words: taken one by one they give the same reports."""
    channel = mechanism.channel
    x = np.arange(40) % channel.inputs
    words = Random.seeded(seed).reserve(40, channel.words, channel.deep)
    main = np.empty((40, channel.words), np.uint64)

    def fill(a: int, b: int, block: Array) -> None:
        main[a:b] = block

    words.each(fill)
    together = channel.draw(x, words)
    deep_index = np.arange(channel.deep)
    for i in (0, 7, 39):
        deep = words.deep(np.full(channel.deep, i), deep_index)[None] if channel.deep else None
        alone = channel.draw(x[i : i + 1], GivenWords(main[i], deep))
        require(
            report_key(alone[0]) == report_key(together[i]), mechanism, f"report {i} depends on more than its own words"
        )


def check_certificate(mechanism: Any, outcomes: list[Any] | None) -> None:
    """Never above what was asked for, close to it where it should be exact, and equal to full enumeration."""
    certificate = certify(mechanism)
    if certificate.asked is not None:
        require(
            certificate.epsilon <= certificate.asked,
            mechanism,
            f"certified {certificate.epsilon!r}, above the {certificate.asked!r} that was asked for",
        )
        if certificate.asked <= 10:
            require(
                certificate.epsilon >= certificate.asked - 1e-6,
                mechanism,
                f"certified {certificate.epsilon!r}: more than 1e-6 of {certificate.asked!r} is wasted",
            )
    loss = max_loss(mechanism.channel)
    x, other, y = loss.witness
    likely, unlikely = mechanism.channel.prob(x, y), mechanism.channel.prob(other, y)
    ratio = likely / unlikely if unlikely else None
    require(ratio == loss.ratio, mechanism, f"the witness {loss.witness} does not attain the loss")
    if outcomes is not None and mechanism.channel.inputs * len(outcomes) <= 4 * ENUMERABLE:
        require(
            enumerate_loss(mechanism.channel).ratio == loss.ratio,
            mechanism,
            "the loss by classes differs from full enumeration",
        )


def _some_codes(domain: Any, words: Any) -> Any:
    """Codes of people: one array, or one per private column."""
    if not isinstance(domain, Schema):
        return (words % domain.size).astype(np.int64)
    out = []
    for i, name in enumerate(domain.private):
        size, some = domain[name].size, words >> 3 * i
        if size >= 1 << 32:  # words of 32 bits would reach its first values only
            some = some.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        out.append((some % size).astype(np.int64))
    return tuple(out)


def _people(x: Any, which: slice) -> Any:
    return tuple(column[which] for column in x) if isinstance(x, tuple) else x[which]


def check_statistic(statistic: Any, seed: int = 1) -> None:
    """A statistic adds what it lifts, is order-free and mergeable, and in the clear gives back the truth."""
    n = 1000
    x = _some_codes(statistic.domain, np.frombuffer(Random.seeded(seed).words(n).tobytes(), np.uint32)[:n])
    lifted = statistic.lift(x)
    wide = getattr(statistic, "wide", False)  # sums that may pass 2**63 are Python's integers
    raw = getattr(statistic, "raw_width", statistic.width)  # of what a party adds up, before it makes its part of it
    require(
        lifted.shape == (n, raw) and lifted.dtype == (object if wide else np.int64),
        statistic,
        f"lift is not (n, width) {'of whole numbers' if wide else 'int64'}",
    )
    whole = lifted.dtype != object or all(type(v) is int for v in lifted.flat)
    require(whole, statistic, "lift holds more than whole numbers")
    total = statistic.tally(x)
    require(bool((total == lifted.sum(axis=0)).all()), statistic, "tally is not the sum of lift")
    require(
        bool((statistic.tally(_people(x, slice(300))) + statistic.tally(_people(x, slice(300, n))) == total).all()),
        statistic,
        "tallies do not merge",
    )
    require(
        bool((statistic.tally(_people(x, slice(None, None, -1))) == total).all()),
        statistic,
        "the order of people matters",
    )
    if hasattr(statistic, "party_contribution"):
        total = statistic.party_contribution(Total(n, total)).sum
        require(total.shape == (statistic.width,), statistic, "what a party makes of its sums is not (width,)")
    held = statistic.interpret_exact(total, n)
    estimates = list(held.values()) if isinstance(held, Estimates) else [held]
    for estimate in estimates:
        require(len(estimate.labels) == len(estimate.mean), statistic, "labels and figures differ in number")
        require(bool((np.abs(estimate.variance("fixed")) < 1e-12).all()), statistic, "an exact sum has a variance")
    got, wanted = np.concatenate([estimate.mean for estimate in estimates]), statistic.reference(x)
    require(bool(np.allclose(got, wanted, rtol=1e-12)), statistic, f"in the clear {got}, not {wanted}")


def check_engine(engine: Any, batches: Callable[[], list[Array]]) -> None:
    """An engine returns the same integers however the rows are cut, and refuses to add up nobody."""

    def step(batch: Array) -> Total:
        return Total(len(batch), np.array([batch.sum(), (batch * batch).sum()], np.int64))

    parts = batches()
    whole = np.concatenate(parts)
    wanted = Total(len(whole), np.array([whole.sum(), (whole * whole).sum()], np.int64))
    for cut in (parts, [whole], parts[::-1], [whole[:1], whole[1:]]):
        got = engine.total(step, iter(cut))
        require(
            got.n == wanted.n and bool((got.sum == wanted.sum).all()),
            engine,
            "the total depends on the batches",
        )
    try:
        engine.total(step, iter([]))
    except MurmureError:
        return
    raise CheckFailed(f"{engine!r}: added up nobody without a word")


def check_coverage(
    interval: Callable[..., Any],
    n: int,
    p: float,
    q: float,
    shares: Sequence[float],
    level: float = 0.95,
    at_least: float = 0.93,
) -> None:
    """interval(o, n, p, q, level) -> rows (low, high) must cover every fixed share often enough (enumerated)."""
    from scipy.special import gammaln, xlogy

    def binomial(m: int, chance: float) -> Any:
        j = np.arange(m + 1)
        logs = gammaln(m + 1) - gammaln(j + 1) - gammaln(m - j + 1) + xlogy(j, chance) + xlogy(m - j, 1 - chance)
        return np.exp(logs)

    ends = np.asarray(interval(np.arange(n + 1), n, p, q, level))
    for share in shares:
        f = round(share * n)
        law = np.convolve(binomial(f, p), binomial(n - f, q))  # of the number of supports
        covered = float(law[(ends[:, 0] <= f / n + 1e-12) & (f / n - 1e-12 <= ends[:, 1])].sum())
        require(
            covered >= at_least,
            getattr(interval, "__name__", interval),
            f"covers the share {share:g} in {covered:.3f} of cases, wanted {at_least:g}",
        )
