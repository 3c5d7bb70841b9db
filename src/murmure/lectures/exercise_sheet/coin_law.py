"""What the two coins of the sheet do, in exact fractions read off the law of `mu.Warner`.

With a = Pr[yes | means yes], c = Pr[yes | means no], N people and f who mean yes:
    E[o] = c N + (a - c) f,   fhat = (o - c N) / (a - c),   and for a = 3/4, c = 1/4:  N/4 + f/2,  2o - N/2.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np

import murmure as mu
from murmure.lectures.exercise_sheet.student_code import COINS, estimation_nbre_oui_initiaux

ANSWERS = (True, False)


@cache
def probability(meant: bool, reported: bool) -> Fraction:
    """Pr[M(meant) = reported]."""
    return Fraction(COINS.channel.prob(int(meant), int(reported)))


def largest_ratio() -> Fraction:
    """Over all two answers that people may mean and all that they may give."""
    return max(probability(x, r) / probability(y, r) for x, y, r in itertools.product(ANSWERS, repeat=3))


def certified_epsilon() -> float:
    return mu.certify(COINS).epsilon


def expected_yes(N: int, f: int) -> Fraction:
    return f * probability(True, True) + (N - f) * probability(False, True)


def exact_estimate(o: int, N: int) -> Fraction:
    """fhat, the f of which o would be the expected number of yes."""
    none, one = expected_yes(N, 0), expected_yes(N, 1) if N else Fraction(0)
    return (o - none) / (one - none)


def share_deviation(N: int) -> float:
    """The standard deviation of fhat / N by `mu.Warner`, whatever the people mean."""
    return math.sqrt(float(COINS.variance(np.array([1.0, 0.0]), N)[1]))


def law_of_yes(N: int, f: int) -> list[Fraction]:
    """Pr[o = 0], ..., Pr[o = N], with f of the N people meaning yes: one person after the other."""
    law = [Fraction(1)]
    for person in range(N):
        yes = probability(person < f, True)
        zero = [Fraction(0)]
        law = [yes * before + (1 - yes) * here for before, here in zip(zero + law, law + zero, strict=True)]
    return law


def law_of_yes_in_a_sample(N: int, p: Fraction) -> list[Fraction]:
    """The same for N people drawn from very many, of whom a share p means yes: o is binomial."""
    r = p * probability(True, True) + (1 - p) * probability(False, True)
    return [math.comb(N, o) * r**o * (1 - r) ** (N - o) for o in range(N + 1)]


def moments(law: list[Fraction]) -> tuple[Fraction, Fraction]:
    """Expectation and variance of fhat when o has this law."""
    N = len(law) - 1
    mean = sum((chance * exact_estimate(o, N) for o, chance in enumerate(law)), Fraction(0))
    square = sum((chance * exact_estimate(o, N) ** 2 for o, chance in enumerate(law)), Fraction(0))
    return mean, square - mean**2


def enumerated_bias(N: int, f: int) -> Fraction:
    """E[fhat] - f over all 2**N series of answers, estimated by the function of the sheet: exact, as halves are."""
    people = [person < f for person in range(N)]
    mean = Fraction(0)
    for answers in itertools.product(ANSWERS, repeat=N):
        chance = math.prod((probability(x, r) for x, r in zip(people, answers, strict=True)), start=Fraction(1))
        mean += chance * Fraction(estimation_nbre_oui_initiaux(answers))
    return mean - f
