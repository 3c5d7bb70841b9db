"""The likeliest row behind a noisy difference: public shares of values, and the law of the noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from murmure.attacks.parties.sums_of_rows.member_values import others_in_noise
from murmure.core.blocks import NoiseLaw
from murmure.core.types import Floats, Ints

TAIL = 1e-9
MAX_POINTS = 1 << 14  # of each law; a wider one is read at every k-th whole number, and is as good as flat between


class DifferenceLaw:
    """The law of the difference of two independent draws, in logarithms; read off the law of one."""

    def __init__(self, law: NoiseLaw) -> None:
        reach = law.quantile(TAIL) + 1
        self.stride = -(-reach // MAX_POINTS)
        z = np.arange(-(reach // self.stride) - 1, reach // self.stride + 2) * self.stride
        one = np.exp(law.log_prob(z))
        both = np.maximum(np.convolve(one, one[::-1]), 1e-300) if len(one) < 4096 else _by_fourier(one)
        self._log = np.log(both)

    def log_prob(self, z: Any) -> Floats:
        """Of whole numbers, up to a constant; beyond the law's reach, the lowest, and lower the further away."""
        z = np.abs(np.asarray(z, np.float64)) / self.stride
        middle = len(self._log) // 2
        inside = np.interp(z, np.arange(middle + 1), self._log[middle:])
        return np.asarray(inside - np.maximum(z - middle, 0.0))


def _by_fourier(one: Floats) -> Floats:
    size = 2 * len(one) - 1
    both = np.fft.irfft(np.abs(np.fft.rfft(one, size)) ** 2, size)
    return np.asarray(np.maximum(np.fft.fftshift(both), both.max() * 1e-15))


def likeliest(
    difference: Ints, values: Ints, laws: Sequence[DifferenceLaw], noise: Sequence[float], people: int = 1
) -> Ints:
    """The row with the highest posterior; shares of rows are public. noise: the variance of each difference's noise.

    Where several people look alike, the others of them add to the difference. With the noise that is as good as normal.
    """
    rows, counts = np.unique(values, axis=0, return_counts=True)
    score = np.log(counts / counts.sum())
    mean, variance = others_in_noise(people, values)
    for k, law in enumerate(laws):
        away = difference[k] - rows[:, k] - mean[k]
        score += law.log_prob(away) if people == 1 else -(away**2) / (2 * (variance[k] + noise[k]))
    return np.asarray(rows[np.argmax(score)])
