"""RS+FD over surveys: every column of a survey is reported, one of them is real, and nobody says which.

The attacker first predicts the real column, by the rule that no other beats:
    P[column j is real | y]  proportional to  s_j R_j(y_j) / F_j(y_j),     R_j(y) = sum_v f_j(v) P_j[y | v],
with the shares f_j estimated from the reports of the same survey, and takes its report for the person's. A column that
was predicted before keeps its first entry.

The likelihood of the whole report given a candidate's record needs no prediction:
    P[y | x]  proportional to  sum_j s_j P_j[y_j | x_j] / F_j(y_j).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.attacks.base.guesses import likeliest, pick_one
from murmure.attacks.person.survey_rules.matching import Profiles, chances
from murmure.attacks.person.survey_rules.surveys import NOTHING, Surveys
from murmure.core.estimates.estimate import on_simplex
from murmure.core.random import Random
from murmure.core.types import Array, Floats, Ints, Mask
from murmure.laws.hidden_draw import HiddenPart

BLOCK = 16  # targets compared with everybody at a time


@dataclass(frozen=True, eq=False)
class ColumnLikelihoods:
    """s P[y | v] / F(y) for the reports y of one column: `high` for likely values, `low` for the others."""

    likely: Mask  # (n, values)
    high: Floats
    low: Floats

    def of(self, people: Ints) -> Floats:
        """(people, values)."""
        return np.where(self.likely[people], self.high[people, None], self.low[people, None])


@dataclass(frozen=True, eq=False)
class FakeSurvey:
    """The reports of one survey, as likelihoods of each of its columns."""

    columns: Ints
    parts: tuple[ColumnLikelihoods, ...]


def fake_profiles(
    mechanisms: Sequence[Any], surveys: Surveys, codes: Ints, rng: Random
) -> tuple[Profiles, list[FakeSurvey]]:
    """The predicted entries, and the likelihoods; mechanisms: RS+FD over the columns of each survey."""
    n, d = codes.shape
    column, value = np.full((n, len(surveys)), NOTHING), np.zeros((n, len(surveys)), np.int64)
    taken, people, likelihoods = np.zeros((n, d), bool), np.arange(n), []
    for s, (mechanism, asked) in enumerate(zip(mechanisms, surveys.columns, strict=True)):
        channel = mechanism.channel
        records = channel.sample([codes[:, j] for j in asked], rng)
        estimates = mechanism.estimate(mechanism.tally(records), n)
        shares = [on_simplex(np.asarray(estimates[name].mean, float)) for name in mechanism.columns]
        parts = tuple(
            column_likelihoods(part, y, channel.chances.prob(i))
            for i, (part, y) in enumerate(zip(channel.parts, records.parts, strict=True))
        )
        real = channel.real_log_odds(records, shares).argmax(axis=1)
        new = ~taken[people, asked[real]]
        column[new, s] = asked[real][new]
        for i, part in enumerate(parts):
            rows = np.flatnonzero(new & (real == i))
            value[rows, s] = pick_one(part.likely[rows], rng)
        taken[people, asked[real]] = True
        likelihoods.append(FakeSurvey(asked, parts))
    return Profiles(column, value, None, np.ones((n, len(surveys)))), likelihoods


def column_likelihoods(part: HiddenPart, reports: Array, chance: Fraction) -> ColumnLikelihoods:
    """Read from the law. (Given a report, the real law has two levels.)"""
    likely = likeliest(part.real, reports)
    over = math.log(chance) - part.fake_log_prob(reports)
    high, low = (np.exp(part.real.log_prob(v, reports) + over) for v in (likely.argmax(axis=1), likely.argmin(axis=1)))
    return ColumnLikelihoods(likely, high, low)


def found_by_likelihood(
    likelihoods: Sequence[FakeSurvey], codes: Ints, known: Ints, targets: Ints, top: Sequence[int]
) -> Floats:
    """(surveys, top): the chance that a target is among the k likeliest people.

    A column that the attacker does not know counts with its mean over all values: as likely as any.
    """
    out = np.zeros((len(likelihoods), len(top)))
    for a in range(0, len(targets), BLOCK):
        block = targets[a : a + BLOCK]
        score = np.ones((len(block), len(codes)))
        for s, survey in enumerate(likelihoods):
            total = np.zeros_like(score)
            for j, part in zip(survey.columns, survey.parts, strict=True):
                one = part.of(block)
                total += one[:, codes[:, j]] if j in known else one.mean(axis=1, keepdims=True)
            score *= total
            score /= score.max(axis=1, keepdims=True)  # so that no product of many surveys underflows
            mine = score[np.arange(len(block)), block][:, None]
            better, equal = score > mine * (1 + 1e-9), np.abs(score - mine) <= 1e-9 * mine
            out[s] += chances(better.sum(axis=1), equal.sum(axis=1), top).sum(axis=0)
    return out / len(targets)
