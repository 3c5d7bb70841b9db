"""How well every person fits every report: sums over attributes of one number for each code and report.

    Joint, Sampled   ln P_i[y_i | x_i] of the attributes that are shown;  the sum is ln P[y | x] + what all people share
    Hidden           s_i real_i(y_i | x_i) / fake_i(y_i);                 the sum is P[y | x] over what all people share

People with the same codes fit equally well, so each record is scored once, and counts as often as people have it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.attacks.person.guesses.record_guess import hidden_table, likelihood_table
from murmure.core.types import Array, Floats, Ints
from murmure.laws.hidden_draw import Hidden
from murmure.laws.records import RecordChannel, Records

BLOCK = 1 << 20  # scores at a time: with fewer or more the cache is used less well


@dataclass(frozen=True)
class KnownRecords:
    """People who differ in the attributes that count: codes[i] of attribute i, and how many people have them."""

    codes: tuple[Ints, ...]  # the last ones are those of what is public
    place: Ints  # for every person, which of them it is
    people: Ints  # how many people are at each

    @classmethod
    def of(cls, columns: Sequence[Array], sizes: Sequence[int]) -> KnownRecords:
        if math.prod(sizes) < 1 << 62:
            number = np.ravel_multi_index([np.asarray(c, np.int64) for c in columns], tuple(sizes))
            distinct, place, people = np.unique(number, return_inverse=True, return_counts=True)
            return cls(np.unravel_index(distinct, tuple(sizes)), place.reshape(-1), people)
        rows, place, people = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True, return_counts=True)
        return cls(tuple(rows.T), place.reshape(-1), people)


@dataclass(frozen=True)
class LinkGroup:
    """Reports that show the same attributes, and the people they are compared with.

    bundles: small attributes are looked up together; with each, its code of every candidate.
    """

    rows: Ints
    candidates: KnownRecords
    bundles: tuple[tuple[tuple[int, ...], Ints], ...]


def _bundles(
    shown: Sequence[int], sizes: Sequence[int], candidates: KnownRecords
) -> Iterator[tuple[tuple[int, ...], Ints]]:
    room = max(1, len(candidates.people) // 8)  # a table is made for every report: it must stay small beside the scores
    attributes: tuple[int, ...] = ()
    codes, size = np.zeros(len(candidates.people), np.int64), 1
    for i, k, column in zip(shown, sizes, candidates.codes, strict=False):
        if attributes and size * k > room:
            yield attributes, codes
            attributes, codes, size = (), np.zeros(len(candidates.people), np.int64), 1
        attributes, codes, size = (*attributes, i), codes * k + column, size * k
    yield attributes, codes


@dataclass(frozen=True)
class LinkBlock:
    """Scores of some reports: scores[c, r] is that of candidate c for report rows[r]."""

    rows: Ints
    candidates: KnownRecords
    scores: Floats
    logarithms: bool  # whether scores are logarithms of likelihoods

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class LinkScores:
    """The scores of reports and people. public: codes of what both tables show openly; all 0 if they show nothing."""

    channel: RecordChannel
    reports: Records
    people: tuple[Array, ...]  # codes of every attribute
    report_public: Ints
    people_public: Ints
    wanted: Ints  # the reports that are looked at

    def groups(self) -> Iterator[tuple[Ints, tuple[int, ...]]]:
        """Reports that show the same attributes."""
        d = len(self.people)
        if self.reports.rows is None:
            yield self.wanted, tuple(range(d))
            return
        shows = np.zeros((self.reports.n, d), bool)
        for i, rows in enumerate(self.reports.rows):
            shows[rows, i] = True
        sets, which = np.unique(shows[self.wanted], axis=0, return_inverse=True)
        for number, shown in enumerate(sets):
            yield self.wanted[which.reshape(-1) == number], tuple(int(i) for i in np.flatnonzero(shown))

    def plan(self) -> list[LinkGroup]:
        """The same with the people who can be told apart."""
        publics = int(max(self.people_public.max(initial=0), self.report_public.max(initial=0))) + 1
        out = []
        for rows, shown in self.groups():
            sizes = [self.channel.inputs[i] for i in shown]
            columns = [self.people[i] for i in shown]
            candidates = KnownRecords.of([*columns, self.people_public], [*sizes, publics])
            out.append(LinkGroup(rows, candidates, tuple(_bundles(shown, sizes, candidates))))
        return out

    def blocks(self, plan: list[LinkGroup]) -> Iterator[LinkBlock]:
        for group in plan:
            step = max(1, BLOCK // len(group.candidates.people))
            for a in range(0, len(group.rows), step):
                yield self._block(group.rows[a : a + step], group)

    def _block(self, rows: Ints, group: LinkGroup) -> LinkBlock:
        hidden, candidates = isinstance(self.channel, Hidden), group.candidates
        scores = np.zeros((len(candidates.people), len(rows)))
        for attributes, codes in group.bundles:
            table = np.zeros((1, len(rows)))
            for i in attributes:
                part = self._table(i, rows, hidden)
                table = (table[:, None, :] + part[None, :, :]).reshape(-1, len(rows))
            scores += np.take(table, codes, axis=0)
        if self.people_public.any() or self.report_public.any():  # what is public must agree
            scores[candidates.codes[-1][:, None] != self.report_public[rows][None, :]] = -math.inf
        return LinkBlock(rows, candidates, scores, not hidden)

    def _table(self, i: int, rows: Ints, hidden: bool) -> Floats:
        """One number for each code of attribute i (rows) and report (columns)."""
        part: Any = self.channel.parts[i]  # type: ignore[attr-defined]
        at = rows if self.reports.rows is None else np.searchsorted(self.reports.rows[i], rows)
        y = self.reports.parts[i][at]
        if hidden:
            return hidden_table(part, y, float(self.channel.chances.prob(i)))  # type: ignore[attr-defined]
        return likelihood_table(part, y)
