"""Choosing the event: of all that can be looked at in reports, what tells x from x' best.

    half of the samples   rank the bins of every feature by how much likelier x makes them; add tables of pairs of
                          features, and a score over all of them (boosting: a table of one feature at a time)
    the other half        how many of the first bins to take, of which feature

Only samples decide: no law, no claim, no name. What is chosen here is bounded on samples that are drawn later.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from murmure.attacks.audits.bounds import Hits
from murmure.attacks.audits.features import SHOWN, FeatureBins, ReportFeature, features_of, screened
from murmure.attacks.audits.sent_reports import WHOLE, SentReports, joined, written_out
from murmure.attacks.audits.weighed_numbers import WeighedNumbers, weighed_numbers
from murmure.core.errors import Phrase
from murmure.core.types import Array, Floats, Ints

CAUTION = 2.0  # standard errors that are taken off a log ratio before it is compared with others
MAX_ELEMENTS = 128  # elements of a report that are looked at closely; a quick look at all chooses them
SCREENED = 48  # features that are kept of many
PAIRED = 8  # features whose pairs are looked at
ROUNDS = 24
BOOSTED = 32  # features that may be chosen after the first round
RATE = 0.5
PRIOR = 4.0  # added to what a table of the score is divided by: rare bins say little
SCORE_BINS = 64
MAX_ROWS = 20_000  # of each input: more do not make a better event, only a slower choice
MAX_ROWS_ALONE = 500_000  # of reports that are one number of few values


@dataclass(frozen=True, eq=False)
class PairBins:
    """Two features at once."""

    first: FeatureBins
    second: FeatureBins

    @property
    def count(self) -> int:
        return self.first.count * self.second.count

    def of_reports(self, sent: SentReports) -> Ints:
        return self.first.of_reports(sent) * self.second.count + self.second.of_reports(sent)

    def describe(self, chosen: Ints, texts: Any) -> str:
        if len(chosen) == 1:
            cell = int(chosen[0])
            one = self.first.describe(np.array([cell // self.second.count]), texts)
            other = self.second.describe(np.array([cell % self.second.count]), texts)
            return Phrase("{one}, and {other}", one=one, other=other)
        return Phrase(
            "{cells} of {all} combinations of {one} with {other}",
            cells=len(chosen),
            all=self.count,
            one=self.first.feature.words(),
            other=self.second.feature.words(),
        )


@dataclass(frozen=True, eq=False)
class ScoreBins:
    """A sum over features of a table each, which a classifier learned; its value is sorted into ranges."""

    tables: tuple[tuple[FeatureBins | PairBins, Floats], ...]
    edges: Floats

    @property
    def count(self) -> int:
        return len(self.edges) + 1

    def score(self, sent: SentReports) -> Floats:
        out = np.zeros(sent.n)
        for bins, table in self.tables:
            out += table[bins.of_reports(sent)]
        return out

    def of_reports(self, sent: SentReports) -> Ints:
        return np.searchsorted(self.edges, self.score(sent), side="right")

    def describe(self, chosen: Ints, texts: Any) -> str:
        bins = self.tables[0][0]
        first = bins.first.feature if isinstance(bins, PairBins) else bins.feature
        return Phrase(
            "a classifier's score over {n} features of the report, {first} before all, is in {chosen} of {all} ranges",
            n=len(self.tables),
            first=first.words(),
            chosen=len(chosen),
            all=self.count,
        )


AnyBins = FeatureBins | PairBins | ScoreBins | WeighedNumbers


@dataclass(frozen=True, eq=False)
class ReportEvent:
    """Reports in certain bins: the first `size` of a ranking, from what speaks most for x."""

    bins: AnyBins
    ranking: Ints  # bins, best first
    size: int
    worth: float  # a cautious guess at the log ratio, from the samples that chose it
    texts: Any

    def curve(self, about_x: SentReports, about_other: SentReports) -> tuple[Ints, Ints]:
        """How many reports lie in the first 1, 2, ... bins of the ranking."""
        return tuple(np.cumsum(_counts(self.bins, sent)[self.ranking]) for sent in (about_x, about_other))  # type: ignore[return-value]

    def hits(self, about_x: SentReports, about_other: SentReports) -> Hits:
        a, b = (int(hit.sum()) for hit in (self.occurs(about_x), self.occurs(about_other)))
        return Hits(a, about_x.n, b, about_other.n)

    def occurs(self, sent: SentReports) -> Array:
        chosen = np.zeros(self.bins.count, bool)
        chosen[self.ranking[: self.size]] = True
        return chosen[self.bins.of_reports(sent)]

    def words(self) -> str:
        return self.bins.describe(self.ranking[: self.size], self.texts)


def choose_events(
    about_x: SentReports, about_other: SentReports, delta: float = 0.0
) -> tuple[ReportEvent, ReportEvent]:
    """The event that speaks most for x against x', and the one that speaks most for x' against x."""
    alone = _one_number(about_x, about_other)
    most = rows_to_choose(about_x, about_other)
    samples = tuple(sent.part(max(0, sent.n - most), sent.n) for sent in (about_x, about_other))
    rank, size = (tuple(sent.part(*_half(sent.n, part)) for sent in samples) for part in (0, 1))
    together = joined(rank)
    source = np.concatenate([np.ones(rank[0].n, bool), np.zeros(rank[1].n, bool)])
    candidates: list[AnyBins] = list(_looked_at(together, source))
    if not candidates:  # all reports are equal
        candidates = [FeatureBins.of(ReportFeature("value", ("whole",)), together.whole)]
    if not alone and len(candidates) > 1:
        candidates += _with_score(candidates, together, source)  # type: ignore[arg-type]
    best: list[ReportEvent | None] = [None, None]
    for bins in candidates:
        ranks, sizes = (tuple(_counts(bins, sent) for sent in half) for half in (rank, size))
        for way, (one, other) in enumerate(((0, 1), (1, 0))):
            event = _best_prefix(bins, (ranks[one], ranks[other]), (sizes[one], sizes[other]), together.texts, delta)
            incumbent = best[way]
            if incumbent is None or event.worth > incumbent.worth:
                best[way] = event
    return tuple(_with_examples(event, together) for event in best if event is not None)  # type: ignore[return-value]


def _with_examples(event: ReportEvent, sent: SentReports) -> ReportEvent:
    """Whole reports are digests; for people, the first ones are written out."""
    bins = event.bins
    if not isinstance(bins, FeatureBins) or bins.feature.key != WHOLE or bins.values is None:
        return event
    digests = [int(bins.values[i]) for i in event.ranking[: min(event.size, SHOWN)] if i < len(bins.values)]
    found = {digest: np.flatnonzero(sent.whole == digest) for digest in digests}
    written = {digest: written_out(sent, int(rows[0])) for digest, rows in found.items() if len(rows)}
    return replace(event, texts={**event.texts, **written})


def rows_to_choose(about_x: SentReports, about_other: SentReports) -> int:
    """How many reports of each value are looked at to choose an event."""
    return MAX_ROWS_ALONE if _one_number(about_x, about_other) else MAX_ROWS


def _half(n: int, part: int) -> tuple[int, int]:
    return (0, n // 2) if part == 0 else (n // 2, n)


def _one_number(*sents: SentReports) -> bool:
    """Reports that are one number with few values: a table of them has every event in it."""
    return all(
        len(sent.columns) == 1 and not sent.columns.keys() ^ sents[0].columns.keys() and _few(sent) for sent in sents
    )


def _few(sent: SentReports) -> bool:
    column = next(iter(sent.columns.values()))
    return column.dtype.kind in "iub" and len(np.unique(column[:4096])) <= 64


def _looked_at(sent: SentReports, source: Array) -> list[FeatureBins]:
    """The features that tell most, at most SCREENED of them, and pairs of the first few."""
    found: list[tuple[float, int, FeatureBins]] = []
    for feature in features_of(screened(sent, source, MAX_ELEMENTS)):
        column = feature.of(sent)
        bins = FeatureBins.of(feature, column)
        if bins.count > 1:
            found.append((_difference(bins.place(column), source, bins.count), len(found), bins))
    found.sort(key=lambda one: (-one[0], one[1]))
    return [bins for _, _, bins in found[:SCREENED]]


def _difference(place: Ints, source: Array, count: int) -> float:
    """How far two tables of counts lie apart: chi squared for each degree of freedom."""
    a, b = (np.bincount(place[part], minlength=count) for part in (source, ~source))
    both = np.maximum(a + b, 1)
    expected = both * (source.sum() / len(source))
    return float((((a - expected) ** 2) / np.maximum(expected, 0.5)).sum() / max(1, np.count_nonzero(a + b) - 1))


def _with_score(candidates: Sequence[FeatureBins], sent: SentReports, source: Array) -> list[AnyBins]:
    """Pairs of the features that tell most, and two scores over all of them."""
    pairs = [
        PairBins(one, other)
        for one, other in combinations([bins for bins in candidates if bins.count <= RANGES_IN_PAIRS][:PAIRED], 2)
    ]
    out: list[AnyBins] = list(pairs)
    few = [bins for bins in candidates if bins.count <= 2 * SCORE_BINS * 8]
    scores = (_boosted([*few, *pairs], sent, source), weighed_numbers(sent, source))
    return [*out, *(score for score in scores if score is not None)]


RANGES_IN_PAIRS = 65


def _boosted(features: Sequence[FeatureBins | PairBins], sent: SentReports, source: Array) -> ScoreBins | None:
    """Gradient boosting of the logistic loss; each round adds a table over the bins of one feature."""
    if not features:
        return None
    places = [bins.of_reports(sent) for bins in features]
    target = source.astype(np.float64)
    score = np.zeros(len(target))
    tables: dict[int, Floats] = {}
    chosen_from = range(len(features))
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-score))
        slope, bend = target - chance, chance * (1 - chance)
        gains: dict[int, tuple[float, Floats]] = {}
        for i in chosen_from:
            up = np.bincount(places[i], slope, minlength=features[i].count)
            down = np.bincount(places[i], bend, minlength=features[i].count) + PRIOR
            gains[i] = float((up * up / down).sum()) / math.sqrt(features[i].count), RATE * up / down
        ordered = sorted(gains, key=lambda i: -gains[i][0])
        chosen_from, best = ordered[:BOOSTED], ordered[0]  # type: ignore[assignment]
        gain, added = gains[best]
        if gain <= 0:
            break
        tables[best] = tables.get(best, np.zeros(features[best].count)) + added
        score += added[places[best]]
    if not tables:
        return None
    values = np.unique(score)
    if len(values) > SCORE_BINS:  # finer at both ends, where events are rare and tell most
        parts = np.concatenate([np.geomspace(1e-4, 0.5, SCORE_BINS // 2), 1 - np.geomspace(1e-4, 0.5, SCORE_BINS // 2)])
        edges = np.unique(np.quantile(score, np.sort(parts)))
    else:
        edges = (values[1:] + values[:-1]) / 2
    return ScoreBins(tuple((features[i], table) for i, table in tables.items()), edges)


def _counts(bins: AnyBins, sent: SentReports) -> Ints:
    return np.bincount(bins.of_reports(sent), minlength=bins.count)


def _best_prefix(
    bins: AnyBins, rank: tuple[Ints, Ints], size: tuple[Ints, Ints], texts: Any, delta: float
) -> ReportEvent:
    """FeatureBins ranked by one half of the samples; the other half says how many of the first ones to take."""
    ranking = np.argsort(-_cautious(*rank, rank[0].sum(), rank[1].sum(), 0.0), kind="stable")
    a, b = (np.cumsum(counts[ranking]) for counts in size)
    worth = _cautious(a, b, a[-1], b[-1], delta)
    best = int(np.argmax(worth[:-1])) if len(worth) > 1 else 0  # all bins together tell nothing
    return ReportEvent(bins, ranking, best + 1, float(worth[best]), texts)


def _cautious(a: Ints, b: Ints, m: Any, n: Any, delta: float) -> Floats:
    """ln((p - delta) / q) for a of m and b of n hits, less CAUTION standard errors."""
    m, n = max(1, int(m)), max(1, int(n))
    if delta == 0:
        a, b = a + 0.5, b + 0.5  # type: ignore[assignment]
        return np.log(a / b / (m / n)) - CAUTION * np.sqrt(1 / a + 1 / b)  # type: ignore[no-any-return]
    p, q = a / m, (b + 0.5) / n
    low = p - CAUTION * np.sqrt((p * (1 - p) + 0.25 / m) / m) - delta
    worth = np.log(np.maximum(low, 1e-12) / (q + CAUTION * np.sqrt(q / n)))
    return np.where(q > 0.5, worth - 100, worth)  # nearly all reports: where delta is allowed, these show nothing
