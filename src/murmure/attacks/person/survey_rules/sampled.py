"""SMP over surveys: a person says which column they report, so a report is about one column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from murmure.attacks.base.guesses import likeliest, pick_one
from murmure.attacks.person.survey_rules.matching import Profiles
from murmure.core.random import Random
from murmure.core.types import Array, Floats, Ints, Mask
from murmure.laws.law import Law


def sampled_profiles(channels: Sequence[Any], codes: Ints, column: Ints, rng: Random) -> tuple[Profiles, Profiles]:
    """What the reports of these columns say: one guess each, and all likely values with what they weigh."""
    n, surveys = column.shape
    value = np.zeros((n, surveys), np.int64)
    sets = np.zeros((n, surveys, max(channel.inputs for channel in channels)), bool)
    weight = np.zeros((n, surveys))
    for s in range(surveys):
        for j in np.unique(column[:, s][column[:, s] >= 0]):
            rows, channel = np.flatnonzero(column[:, s] == j), channels[j]
            reports = Law(channel, codes[rows, j]).sample(rng)
            likely = likeliest(channel, reports)
            value[rows, s] = pick_one(likely, rng)
            sets[rows, s, : channel.inputs] = likely
            weight[rows, s] = advantage(channel, reports, likely)
    guessed = Profiles(column, value, None, np.ones((n, surveys)))
    if (sets.sum(axis=2) <= 1).all():  # one value each, as with GRR
        return guessed, Profiles(column, sets.argmax(axis=2), None, weight)
    return guessed, Profiles(column, None, sets, weight)


def advantage(channel: Any, reports: Array, likely: Mask) -> Floats:
    """By how much the likely values are likelier than the others, in logarithms. (The law has two levels.)"""
    inside, outside = likely.argmax(axis=1), likely.argmin(axis=1)
    gap = channel.log_prob(inside, reports) - channel.log_prob(outside, reports)
    return np.asarray(np.where(likely.all(axis=1), 0.0, gap))


def only_known(profiles: Profiles, known: Ints) -> Profiles:
    """The entries about columns that the attacker knows of the candidates."""
    column = np.where(np.isin(profiles.column, known), profiles.column, -1)
    return Profiles(column, profiles.value, profiles.sets, np.where(column >= 0, profiles.weight, 0.0))
