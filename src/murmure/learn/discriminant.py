"""From noisy class counts, class sums and products to weights: linear discriminants, as far as the noise lets one see.

    score_c(x) = log p_c + (x - m)' S^-1 (m_c - m) - (m_c - m)' S^-1 (m_c - m) / 2,   the largest wins

(Fisher, Ann. Eugenics 7, 1936; Rao, J. R. Stat. Soc. B 10, 1948.) m_c are means of classes, m that of all, S how
columns vary within a class. For two classes the direction is that of least squares. Everything here is a function of
noisy sums, so it costs nothing. Three things keep noise out:

    means     their differences are shrunk by what noise alone would measure (James and Stein, 1961); where noise
              explains all of it, the shares of the classes are what is left: everybody gets the largest class
    S         is pulled to one variance for all columns as far as the noise says (as Ledoit and Wolf, J. Multivar.
              Anal. 88, 2004, do with sampling error); without noisy products it is a public guess, (1/3)^2
    between   S = total - between: a small difference of noisy numbers where classes are far apart. Between is taken for
              at most 9/10 of the total in any direction
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import Phrase
from murmure.statistics.learning.class_sums import ClassCountsEstimate, ClassSumsEstimate
from murmure.statistics.learning.gram import GramEstimate

Floats = NDArray[np.float64]

TYPICAL = 1 / 9  # variance in half ranges: a class reaches from bound to bound within three deviations of its mean
MAX_BETWEEN_SHARE = 0.9  # of the total, at most
UNEVEN = 0.05  # of the people: by how much class sums may miscount because rows far out are weighed down
TOO_FEW = Phrase("shares of the classes alone: for more there is too much noise for so few people")
NO_DIFFERENCE = Phrase("shares of the classes alone: their means differ by no more than the noise")
MIN_VARIANCE = 1e-3  # the least variance, in half ranges


@dataclass(frozen=True)
class ClassMeans:
    """What class counts and sums say; half ranges about the middle of the bounds."""

    shares: Floats  # of the classes, positive
    people: float
    means: Floats  # (classes, columns)
    centre: Floats  # the mean of all
    signal_share: float  # how much of the differences is not noise, from 0 to 1
    noise: Floats  # of the means of each class: the variance


def combined_counts(first: ClassCountsEstimate, second: ClassCountsEstimate) -> ClassCountsEstimate:
    """Two noisy counts of the same people, the noisier one less."""
    both = first.noise + second.noise
    if both == 0:  # an epsilon so large that no noise is drawn
        return first
    mean = (second.noise * first.mean + first.noise * second.mean) / both
    return ClassCountsEstimate(first.labels, mean, first.noise * second.noise / both)


def shares_of(counted: ClassCountsEstimate) -> tuple[Floats, float]:
    """Shares of the classes and the number of people: a class counts one at least, and half a deviation of noise."""
    counts = np.maximum(counted.mean, max(1.0, math.sqrt(counted.noise) / 2))
    return counts / counts.sum(), float(counts.sum())


def means_of(counted: ClassCountsEstimate, summed: ClassSumsEstimate) -> ClassMeans:
    sums, v = summed.sums, summed.noise
    classes, d = len(sums), sums.shape[1] - 1
    doubt = v + (UNEVEN * max(counted.mean.sum(), 0.0)) ** 2
    shares, people = shares_of(combined_counts(counted, ClassCountsEstimate(counted.labels, sums[:, 0], doubt)))
    # A noisy count may be tiny or negative: dividing by it would make means out of noise.
    floor = max(1.0, math.sqrt(v) / 2)
    rows = np.maximum(sums[:, 0], floor)
    means = np.clip(sums[:, 1:] / rows[:, None], -1.0, 1.0)
    every = sums.sum(axis=0)
    centre = np.clip(every[1:] / max(every[0], floor, math.sqrt(classes * v)), -1.0, 1.0)
    apart = sums[:, 1:] - sums[:, :1] * centre  # 0 but for noise where classes do not differ
    noise = v * (classes - 1) * (d + float(centre @ centre))
    size = float((apart * apart).sum())
    return ClassMeans(shares, people, means, centre, max(0.0, 1 - noise / size) if size else 0.0, v / rows**2)


def covariance(spread: GramEstimate, people: float, off: Floats) -> tuple[Floats, float]:
    """The total covariance, and how much of what differs from one variance is kept; off: the mean, from the centre."""
    d = len(off)
    noise = spread.noise / people**2
    total = spread.sums / people - np.outer(off, off)
    noise_of_level = float(np.trace(noise)) / d**2
    level = TYPICAL + TYPICAL**2 / (TYPICAL**2 + noise_of_level) * (max(float(np.trace(total)) / d, 0.0) - TYPICAL)
    level = max(level, MIN_VARIANCE)
    rest = total - level * np.eye(d)
    size = float((rest * rest).sum())
    kept = max(0.0, 1 - float(noise.sum()) / size) if size else 0.0
    values, vectors = np.linalg.eigh(level * np.eye(d) + kept * rest)
    least = max(kept * math.sqrt(float(noise.max()) * d), MIN_VARIANCE)
    return np.asarray((vectors * np.maximum(values, least)) @ vectors.T), kept


def scores(classes: ClassMeans, total: Floats | None) -> Floats:
    """(classes, 1 + columns): the weights of (1, x - centre); with products, `total` is the covariance of all rows."""
    apart, share = classes.means - classes.centre, classes.shares
    if total is None:
        slopes = classes.signal_share * apart / TYPICAL
    else:
        # S^-1 M' = T^-1 M' P^(1/2) (1 - K)^-1 P^(-1/2),  K = P^(1/2) M T^-1 M' P^(1/2)   (Woodbury)
        root = np.sqrt(share)
        solved = classes.signal_share * np.linalg.solve(total, apart.T) * root
        K = (root[:, None] * apart) @ solved
        between_values, vectors = np.linalg.eigh((K + K.T) / 2)
        within = 1 - np.clip(between_values, 0.0, MAX_BETWEEN_SHARE)
        slopes = (((solved @ vectors) / within) @ vectors.T / root).T
    return np.column_stack([np.log(share) - (slopes * apart).sum(axis=1) / 2, slopes])
