"""Generic checks of mechanisms of records: the checks of mechanisms.py, with a record in place of a value."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.certify.certificate import certify
from murmure.certify.checks.assertions import (
    ENUMERABLE,
    FAILURE,
    PEOPLE,
    chi_squared,
    deep_words,
    exact_total,
    exact_totals,
    listed_outcomes,
    main_words,
    report_key,
    require,
)
from murmure.certify.record_divergence import enumerate_record_loss, record_loss
from murmure.core.errors import Phrase
from murmure.core.random import GivenWords, Random
from murmure.core.types import Affine, Unit
from murmure.laws.hidden_draw import Hidden
from murmure.laws.law import Law
from murmure.laws.records import Records, Row

SAMPLED = 3  # records whose law is checked against samples


def check_record(mechanism: Any, seed: int = 1) -> None:
    """A law that sums to one, samples and words that follow it, exact tallies and moments, both certificates."""
    outcomes = listed_outcomes(mechanism.channel)
    if outcomes is not None:
        check_record_law(mechanism, outcomes)
        check_record_moments(mechanism, outcomes)
        check_record_samples(mechanism, outcomes, seed)
    else:
        check_record_tallies(mechanism, seed)
    if isinstance(mechanism.channel, Hidden):
        check_record_words(mechanism, seed)
    check_record_certificate(mechanism, outcomes)


def some_records(mechanism: Any) -> list[tuple[int, ...]]:
    sizes = mechanism.channel.inputs
    if math.prod(sizes) <= 12:
        return list(itertools.product(*map(range, sizes)))
    return [tuple(0 for _ in sizes), tuple(k - 1 for k in sizes), tuple(k // 2 for k in sizes)]


def spread_records(mechanism: Any) -> list[tuple[int, ...]]:
    """The first, the last and a middle one: every column takes several values."""
    listed = some_records(mechanism)
    return [listed[0], listed[-1], listed[len(listed) // 2]]


def as_records(mechanism: Any, rows: list[Row]) -> Records:
    """Reports that are listed one by one, as a batch."""
    parts, shown = [], []
    for i in range(len(mechanism.parts)):
        present = [(r, row[i]) for r, row in enumerate(rows) if row[i] is not None]
        shown.append(np.array([r for r, _ in present], np.int64))
        parts.append(np.array([y for _, y in present]) if present else _no_reports(mechanism.channel, i))
    everybody = all(len(s) == len(rows) for s in shown) and not mechanism.shows_some_columns
    return Records(len(rows), tuple(parts), None if everybody else tuple(shown))


def _no_reports(channel: Any, i: int) -> Any:
    """An empty array in the shape of this column's reports."""
    return Law(channel.parts[i], np.zeros(1, np.int64)).sample(Random.seeded(0))[:0]


def check_record_law(mechanism: Any, outcomes: list[Row]) -> None:
    """The law sums to one exactly, and log_prob reads the same integers as prob."""
    channel = mechanism.channel
    batch = as_records(mechanism, outcomes)
    for x in some_records(mechanism):
        probs = [channel.prob(x, y) for y in outcomes]
        total = exact_total(probs)
        require(
            total == 1, mechanism, Phrase("the law of record {x} sums to {total}, not to 1", x=x, total=float(total))
        )
        logs = channel.log_prob([np.full(len(outcomes), v) for v in x], batch)
        exact = np.array([math.log(p) if p else -math.inf for p in probs])
        require(
            bool(np.allclose(logs, exact, rtol=1e-11, atol=1e-11)),
            mechanism,
            Phrase("log_prob differs from prob at {x}", x=x),
        )


def check_record_moments(mechanism: Any, outcomes: list[Row]) -> None:
    """Per column: the expected tally is the affine map exactly, and moments are those that error bars are made of."""
    channel = mechanism.channel
    tallies = [mechanism.tally(as_records(mechanism, [y])) for y in outcomes]
    pieces = [list(mechanism.pieces(t)) for t in tallies]
    for i, part in enumerate(mechanism.parts):
        affine = part.affine()
        if not isinstance(affine, Affine):
            require(bool(affine.reason), mechanism, Phrase("no affine map, and no reason given"))
            continue
        for x in some_records(mechanism):
            law = [channel.prob(x, y) for y in outcomes]
            (shown,) = exact_totals(law, [[1 if piece[i][0] is None else piece[i][0]] for piece in pieces])
            mean = exact_totals(law, [piece[i][1] for piece in pieces])
            _check_mean(mechanism, affine, i, x[i], mean, shown)
            _check_cells(mechanism, part, i, x[i], law, pieces, shown)


def _check_mean(mechanism: Any, affine: Affine, i: int, code: int, mean: list[Fraction], shown: Fraction) -> None:
    """Given that the column is shown, its expected tally is that of its map."""
    if affine.of == "code":
        read = sum((r * m for r, m in zip(affine.readout, mean, strict=True)), Fraction(0)) / shown
        require(
            read == code,
            mechanism,
            Phrase("column {i}: the readout of code {code} has expectation {read}", i=i, code=code, read=float(read)),
        )
        return
    for v, m in enumerate(mean):
        wanted = affine.offset[v % len(affine.offset)] + (affine.slope[v % len(affine.slope)] if v == code else 0)
        require(
            m == wanted * shown,
            mechanism,
            Phrase(
                "column {i}: E[tally of {v} | {code}] is {number}, the map says {wanted}",
                i=i,
                v=v,
                code=code,
                number=float(m / shown),
                wanted=float(wanted),
            ),
        )


def _check_cells(mechanism: Any, part: Any, i: int, code: int, law: Any, pieces: Any, shown: Fraction) -> None:
    if part.affine().of != "cells":
        return  # the check of the attribute's own mechanism covers it
    k = part.domain.size
    f = np.eye(k)[code]
    p = np.array([float(w) for w in law])
    tallies = np.array([piece[i][1] for piece in pieces], float)
    if mechanism.shows_some_columns:  # conditional on being shown
        here = np.array([piece[i][0] for piece in pieces], bool)
        p, tallies = p[here] / float(shown), tallies[here]
    centred = tallies - p @ tallies
    exact = (centred.T * p) @ centred
    slope = np.array([float(s) for s in part.affine().slope]) * np.ones(k)
    stated = part.cross(f).copy()
    np.fill_diagonal(stated, part.variance(f, 1) * slope**2)
    require(
        bool(np.allclose(stated, exact, rtol=1e-9, atol=1e-12)),
        mechanism,
        Phrase(
            "column {i}: the covariance of cells at code {code} is {exact}, the mechanism says {stated}",
            i=i,
            code=code,
            exact=exact.tolist(),
            stated=stated.tolist(),
        ),
    )


def check_record_samples(mechanism: Any, outcomes: list[Row], seed: int) -> None:
    """Samples follow the law, by chi-squared over whole reports."""
    keys = {tuple(None if v is None else report_key(v) for v in y): j for j, y in enumerate(outcomes)}
    records = spread_records(mechanism)
    for number, x in enumerate(records):
        reports = mechanism.law([np.full(PEOPLE, v) for v in x]).sample(Random.seeded(seed * 1000 + number))
        columns = []
        for i, part in enumerate(reports.parts):
            column = np.empty(PEOPLE, object)
            rows = np.arange(PEOPLE) if reports.rows is None else reports.rows[i]
            column[rows] = _objects([report_key(v) for v in part])
            columns.append(column)
        try:
            observed = np.bincount([keys[y] for y in zip(*columns, strict=True)], minlength=len(outcomes))
        except KeyError as stray:
            require(False, mechanism, Phrase("sampled a report that the law does not list: {stray}", stray=stray))
        chance = chi_squared(observed, PEOPLE * np.array([float(mechanism.channel.prob(x, y)) for y in outcomes]))
        require(
            chance > FAILURE / len(records),
            mechanism,
            Phrase("samples of record {x} do not follow the law (p = {chance:.1e})", x=x, chance=chance),
        )


def _objects(items: list[Any]) -> Any:
    """An array of these objects; np.array would make a matrix of tuples."""
    out = np.empty(len(items), object)
    out[:] = items
    return out


def check_record_tallies(mechanism: Any, seed: int) -> None:
    """Where reports cannot be listed: every cell of every column lies near its expectation (Bonferroni)."""
    from scipy.special import ndtr

    for number, x in enumerate(spread_records(mechanism)):
        reports = mechanism.law([np.full(PEOPLE, v) for v in x]).sample(Random.seeded(seed * 1000 + number))
        scores = []
        for part, code, (shown, tally) in zip(
            mechanism.parts, x, mechanism.pieces(mechanism.tally(reports)), strict=True
        ):
            affine, n = part.affine(), PEOPLE if shown is None else shown
            if isinstance(affine, Affine) and affine.of == "cells":
                k = part.domain.size
                p = np.array([float(o) for o in affine.offset]) * np.ones(k)
                p[code] += float(affine.slope[0])
                scores.append((tally - n * p) / np.sqrt(n * p * (1 - p)))
        z = np.concatenate(scores)
        chance = 2 * float(ndtr(-np.abs(z).max())) * len(z)
        require(
            chance > FAILURE / SAMPLED,
            mechanism,
            Phrase("tallies of record {x} do not follow the law (p = {chance:.1e})", x=x, chance=chance),
        )


def check_record_words(mechanism: Any, seed: int) -> None:
    """A record is a function of its range of words: drawn one by one the reports are the same."""
    channel, rng = mechanism.channel, Random.seeded(seed)
    x = [np.arange(40) % k for k in channel.inputs]
    ranges = [rng.reserve(40, *widths) for widths in channel.ranges]
    together = channel.draw(x, ranges)
    mains = [main_words(words) for words in ranges]
    for i in (0, 7, 39):
        single = [GivenWords(main[i], deep_words(words, i)) for main, words in zip(mains, ranges, strict=True)]
        alone = channel.draw([column[i : i + 1] for column in x], single)
        equal = all(report_key(a[0]) == report_key(b[i]) for a, b in zip(alone, together, strict=True))
        require(equal, mechanism, Phrase("record {i} depends on more than its own random words", i=i))


def check_record_certificate(mechanism: Any, outcomes: list[Row] | None) -> None:
    """Both certificates: at most what was asked for, attained by their witness, equal to full enumeration."""
    units: tuple[Unit, Unit] = ("record", "attribute")
    both = []
    for unit in units:
        certificate = certify(mechanism, unit)
        both.append(certificate.epsilon)
        if certificate.asked is not None:
            require(
                certificate.asked - 1e-6 <= certificate.epsilon <= certificate.asked,
                mechanism,
                Phrase(
                    "{unit}: the certified epsilon is {epsilon!r}, but {asked!r} was asked for",
                    unit=unit,
                    epsilon=certificate.epsilon,
                    asked=certificate.asked,
                ),
            )
        loss = record_loss(mechanism.channel, unit)
        x, other, y = loss.witness
        likely, unlikely = mechanism.channel.prob(x, y), mechanism.channel.prob(other, y)
        require(
            unlikely > 0 and likely / unlikely == loss.ratio,
            mechanism,
            Phrase("{unit}: the witness {witness} does not attain the loss", unit=unit, witness=loss.witness),
        )
        require(
            sum(a != b for a, b in zip(x, other, strict=True)) <= (1 if unit == "attribute" else len(x)),
            mechanism,
            Phrase("{unit}: the two records of the witness differ in more than one unit", unit=unit),
        )
        if outcomes is not None and math.prod(mechanism.channel.inputs) * len(outcomes) <= 4 * ENUMERABLE:
            require(
                enumerate_record_loss(mechanism.channel, unit).ratio == loss.ratio,
                mechanism,
                Phrase("{unit}: the loss by rule differs from full enumeration", unit=unit),
            )
    require(
        both[1] <= both[0],
        mechanism,
        Phrase("one attribute costs {both}, more than the whole record, {both_2}", both=both[1], both_2=both[0]),
    )
