"""Generic checks of mechanisms: list one in EXAMPLES of its file, and these run on it. They reject mutants.

Statistical parts are seeded and fail by chance with the stated probability FAILURE per mechanism, in the worst case.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.certify.certificate import certify
from murmure.certify.checks.assertions import (
    ENUMERABLE,
    FAILURE,
    PEOPLE,
    CheckFailed,
    chi_squared,
    deep_words,
    exact_total,
    exact_totals,
    listed_outcomes,
    main_words,
    report_key,
    require,
)
from murmure.certify.checks.records import check_record
from murmure.certify.divergence import enumerate_loss, max_loss
from murmure.core.errors import Phrase
from murmure.core.random import GivenWords, Random
from murmure.core.schema import Schema
from murmure.core.types import Affine, Array
from murmure.laws.law import Channel


def _some_inputs(channel: Channel) -> list[int]:
    k = channel.inputs
    return list(range(k)) if k <= 6 else [0, 1, k // 2, k - 1]


def check_mechanism(mechanism: Any, seed: int = 1) -> None:
    """A mechanism's promises: a law, samples that follow it, its moments, a certificate, a fixed range of words.

    >>> import murmure as mu
    >>> mu.check_mechanism(mu.GRR(mu.Categories(4), epsilon=1.0))  # silent when all is well
    """
    if isinstance(mechanism.domain, Schema):
        return check_record(mechanism, seed)
    channel = mechanism.channel
    outcomes = listed_outcomes(channel)
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
        total = exact_total(probs)
        require(total == 1, mechanism, Phrase("the law of input {x} sums to {sum}, not to 1", x=x, sum=float(total)))
        require(min(probs) >= 0, mechanism, Phrase("the law of input {x} has a negative probability", x=x))
        logs = channel.log_prob(np.full(len(outcomes), x), np.array(outcomes))
        exact = np.array([math.log(p) if p else -math.inf for p in probs])
        require(
            bool(np.allclose(logs, exact, rtol=1e-12, atol=1e-12)),
            mechanism,
            Phrase("log_prob differs from prob at {x}", x=x),
        )


def check_affine(mechanism: Any, outcomes: list[Any]) -> None:
    """The expected tally, computed from the law, is exactly the affine map."""
    affine = mechanism.affine()
    if not isinstance(affine, Affine):
        require(bool(affine.reason), mechanism, Phrase("no affine map, and no reason given"))
        return
    channel = mechanism.channel
    tallies = [mechanism.tally(np.array([y])) for y in outcomes]
    for x in _some_inputs(channel):
        probs = [channel.prob(x, y) for y in outcomes]
        width = len(tallies[0])
        expected = exact_totals(probs, tallies)
        if affine.of == "cells":
            for v in range(width):
                offset, slope = affine.offset[v % len(affine.offset)], affine.slope[v % len(affine.slope)]
                wanted = offset + (slope if v == x else 0)
                require(
                    expected[v] == wanted,
                    mechanism,
                    Phrase(
                        "E[tally of {v} | {x}] is {expected}, the affine map says {wanted}",
                        v=v,
                        x=x,
                        expected=float(expected[v]),
                        wanted=float(wanted),
                    ),
                )
        else:
            read = sum((r * e for r, e in zip(affine.readout, expected, strict=True)), Fraction(0))
            require(
                read == x, mechanism, Phrase("the readout of code {x} has expectation {read}", x=x, read=float(read))
            )


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
                Phrase(
                    "the variance at code {x} is {at_code}, the polynomial says {number}",
                    x=x,
                    at_code=at_code,
                    number=v0 + v1 * x + v2 * x * x,
                ),
            )
        return
    k = channel.inputs
    f = np.arange(1, k + 1) / (k * (k + 1) / 2)  # any shares will do: variances are straight lines in them
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
        Phrase(
            "the covariance of cells {worst} is {exact}, the mechanism says {stated}",
            worst=worst,
            exact=exact[worst],
            stated=stated[worst],
        ),
    )


def check_samples(mechanism: Any, outcomes: list[Any] | None, seed: int) -> None:
    """Samples follow the law: chi-squared over reports, or every cell of the tally where reports cannot be listed."""
    channel = mechanism.channel
    inputs = _some_inputs(channel)
    for i, x in enumerate(inputs):
        reports = mechanism.law(np.full(PEOPLE, x)).sample(Random.seeded(seed * 1000 + i))
        listed = channel.outcomes()
        if isinstance(listed, range):
            require(int(reports.max()) < len(listed), mechanism, Phrase("sampled a report that the law does not list"))
            observed = np.bincount(reports, minlength=len(listed))
            chance = chi_squared(
                observed, PEOPLE * np.exp(channel.log_prob(np.full(len(listed), x), np.arange(len(listed))))
            )
        elif outcomes is not None:
            keys = {report_key(y): j for j, y in enumerate(outcomes)}
            try:
                observed = np.bincount([keys[report_key(y)] for y in reports], minlength=len(outcomes))
            except KeyError as stray:
                raise CheckFailed(
                    "{mechanism!r}: sampled a report that the law does not list: {stray}",
                    mechanism=mechanism,
                    stray=stray,
                ) from None
            chance = chi_squared(observed, PEOPLE * np.array([float(channel.prob(x, y)) for y in outcomes]))
        else:
            chance = _worst_cell(mechanism, reports, x)
        require(
            chance > FAILURE / len(inputs),
            mechanism,
            Phrase("samples of input {x} do not follow the law (p = {chance:.1e})", x=x, chance=chance),
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
    """A report is a function of its range of words: drawn one by one the reports are the same."""
    channel = mechanism.channel
    x = np.arange(40) % channel.inputs
    words = Random.seeded(seed).reserve(40, channel.words, channel.deep)
    main, together = main_words(words), channel.draw(x, words)
    for i in (0, 7, 39):
        alone = channel.draw(x[i : i + 1], GivenWords(main[i], deep_words(words, i)))
        require(
            report_key(alone[0]) == report_key(together[i]),
            mechanism,
            Phrase("report {i} depends on more than its own random words", i=i),
        )


def check_certificate(mechanism: Any, outcomes: list[Any] | None) -> None:
    """Never above what was asked for, close to it where it should be exact, and equal to full enumeration."""
    certificate = certify(mechanism)
    if certificate.asked is not None:
        require(
            certificate.epsilon <= certificate.asked,
            mechanism,
            Phrase(
                "the certified epsilon, {epsilon!r}, is above the {asked!r} that was asked for",
                epsilon=certificate.epsilon,
                asked=certificate.asked,
            ),
        )
        if certificate.asked <= 10:
            require(
                certificate.epsilon >= certificate.asked - 1e-6,
                mechanism,
                Phrase(
                    "the certified epsilon, {epsilon!r}, wastes more than 1e-6 of the {asked!r} that was asked for",
                    epsilon=certificate.epsilon,
                    asked=certificate.asked,
                ),
            )
    loss = max_loss(mechanism.channel)
    x, other, y = loss.witness
    likely, unlikely = mechanism.channel.prob(x, y), mechanism.channel.prob(other, y)
    ratio = likely / unlikely if unlikely else None
    require(
        ratio == loss.ratio, mechanism, Phrase("the witness {witness} does not attain the loss", witness=loss.witness)
    )
    # Enumeration compares all inputs for each report: only where that takes about a second.
    if outcomes is not None and mechanism.channel.inputs * len(outcomes) <= 4 * ENUMERABLE:
        require(
            enumerate_loss(mechanism.channel).ratio == loss.ratio,
            mechanism,
            Phrase("the loss by classes differs from full enumeration"),
        )
