"""Classes that answer with coins, drawn at random: how much the estimate varies from one class to the next."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

import murmure as mu
from murmure.lectures.exercise_sheet.coin_law import exact_estimate
from murmure.lectures.exercise_sheet.student_code import COINS

WORD = 2**64


def estimates_of_classes(meant: NDArray[np.bool_], rng: mu.Random) -> NDArray[np.float64]:
    """fhat of each class; meant: a row for each class, True where somebody means yes."""
    classes, people = meant.shape
    reports = COINS.report(meant.ravel(), rng).reshape(classes, people)
    by_yes = np.array([float(exact_estimate(o, people)) for o in range(people + 1)])
    return by_yes[reports.sum(axis=1)]


def same_class(classes: int, people: int, yes: int) -> NDArray[np.bool_]:
    """The same people every time: only the coins differ."""
    return np.tile(np.arange(people) < yes, (classes, 1))


def drawn_classes(classes: int, people: int, p: Fraction, rng: mu.Random) -> NDArray[np.bool_]:
    """Other people every time, drawn from very many of whom a share p means yes."""
    if p == 1:
        return np.ones((classes, people), bool)
    return (rng.words(classes * people) < np.uint64(round(p * WORD))).reshape(classes, people)
