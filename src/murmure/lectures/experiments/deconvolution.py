"""The density of X from n values of Y = X + noise, where the law of the noise is known: Fan, Annals of Statistics 1991.

    f_h(x) = 1/(2 pi)  integral of  exp(-itx)  phi_K(th)  phi_n(t) / phi_noise(t)  dt,   phi_n(t) = mean of exp(itY)

The transform of the kernel, phi_K(u) = (1 - u^2)^3 on [-1, 1], ends the integral at 1/h. The mean of the
integrated squared error is known exactly, by Plancherel, where the density is:

    MISE(h) = 1/(2 pi)  integral of  |phi_f|^2 (1 - phi_K)^2  +  phi_K^2 (1 / phi_noise^2 - |phi_f|^2) / n  dt.

Fan's speeds, for a density with k derivatives: powers of n where 1 / phi_noise grows like a power of t (Laplace noise:
n^(-2k / (2k + 5))), powers of log n where it grows exponentially (Gaussian noise: (log n)^(-k)).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from murmure.core.random import Random
from murmure.core.types import Floats
from murmure.lectures.experiments.float_draws import gaussian, laplace, open_uniforms

NoiseName = Literal["Laplace", "Gaussian"]
STEPS = 256  # of the integrals over [0, 1/h]
BLOCK = 1 << 14  # values at a time


@dataclass(frozen=True)
class TwoHumps:
    """What there is to find: a mixture of two normals, nearly all of it between 0 and 1."""

    weight: float = 0.6  # of the first
    centres: tuple[float, float] = (0.35, 0.7)
    deviation: float = 0.08

    def density(self, x: Floats) -> Floats:
        humps = [np.exp(-(((x - c) / self.deviation) ** 2) / 2) for c in self.centres]
        mixed = self.weight * humps[0] + (1 - self.weight) * humps[1]
        return np.asarray(mixed / (self.deviation * np.sqrt(2 * np.pi)))

    def transform(self, t: Floats) -> NDArray[np.complex128]:
        mixed = self.weight * np.exp(1j * t * self.centres[0]) + (1 - self.weight) * np.exp(1j * t * self.centres[1])
        return np.asarray(mixed * np.exp(-((self.deviation * t) ** 2) / 2))

    def draw(self, rng: Random, n: int) -> Floats:
        first = open_uniforms(rng, n) < self.weight
        return np.where(first, *self.centres) + gaussian(rng, n, self.deviation)


@dataclass(frozen=True)
class AddedNoise:
    """Noise of mean 0 and this standard deviation, added to each value."""

    name: NoiseName
    deviation: float

    def draw(self, rng: Random, n: int) -> Floats:
        if self.name == "Laplace":
            return laplace(rng, n, self.deviation / np.sqrt(2))
        return gaussian(rng, n, self.deviation)

    def inverse_transform(self, t: Floats) -> Floats:
        """1 / phi_noise(t): how much each frequency, and what is random in it, is enlarged."""
        variance = self.deviation**2
        with np.errstate(over="ignore"):  # such a bandwidth is hopeless, and `best` does not take it
            return np.asarray(1 + variance * t * t / 2 if self.name == "Laplace" else np.exp(variance * t * t / 2))


def kernel(u: Floats) -> Floats:
    """phi_K: 1 at 0, flat there to the first order, 0 from 1 on."""
    return np.where(np.abs(u) < 1, (1 - u * u) ** 3, 0.0)


@dataclass(frozen=True)
class Deconvolution:
    """The estimator for one law of noise and one bandwidth."""

    noise: AddedNoise
    bandwidth: float

    @cached_property
    def frequencies(self) -> Floats:
        """Midpoints of [0, 1/h]."""
        return np.asarray((np.arange(STEPS) + 0.5) / (STEPS * self.bandwidth), np.float64)

    @property
    def step(self) -> float:
        return 1 / (STEPS * self.bandwidth)

    @cached_property
    def weights(self) -> Floats:
        return kernel(self.frequencies * self.bandwidth) * self.noise.inverse_transform(self.frequencies)

    def transform(self, y: Floats) -> NDArray[np.complex128]:
        """phi_n(t) of the noisy values, divided by that of the noise, with the kernel."""
        total = np.zeros(STEPS, complex)
        for start in range(0, len(y), BLOCK):
            one_step = np.exp(1j * self.step * y[start : start + BLOCK])
            wave = np.exp(0.5j * self.step * y[start : start + BLOCK])
            for k in range(STEPS):  # exp(i (k + 1/2) step y), by multiplication
                total[k] += wave.sum()
                wave *= one_step
        return np.asarray(self.weights * total / len(y))

    def density(self, transform: NDArray[np.complex128], x: Floats) -> Floats:
        """f_h(x); twice the real part, since the negative frequencies are conjugates."""
        waves = np.exp(-1j * np.outer(x, self.frequencies))
        return np.asarray((waves @ transform).real * self.step / np.pi)

    def squared_error(self, transform: NDArray[np.complex128], truth: TwoHumps) -> float:
        """Integral of (f_h - f)^2 over the line, by Plancherel: exact in what lies beyond 1/h too."""
        inside = np.abs(transform - truth.transform(self.frequencies)) ** 2
        return float(inside.sum() * self.step / np.pi) + _beyond(truth, 1 / self.bandwidth)

    def expected_error(self, truth: TwoHumps, n: float) -> float:
        """MISE(h)."""
        power = np.abs(truth.transform(self.frequencies)) ** 2
        k = kernel(self.frequencies * self.bandwidth)
        bias = float((power * (1 - k) ** 2).sum() * self.step / np.pi) + _beyond(truth, 1 / self.bandwidth)
        with np.errstate(over="ignore", invalid="ignore"):
            return bias + float((self.weights**2 - k * k * power).sum() * self.step / np.pi) / n


def _beyond(truth: TwoHumps, edge: float) -> float:
    """1/pi integral of |phi_f|^2 from the edge on."""
    reach = max(12 / truth.deviation, edge)
    t = edge + (np.arange(STEPS * 4) + 0.5) * (reach - edge) / (STEPS * 4)
    return float((np.abs(truth.transform(t)) ** 2).mean() * (reach - edge) / np.pi)


@cache
def best(noise: AddedNoise, truth: TwoHumps, n: float, tries: int = 30) -> Deconvolution:
    """With the bandwidth that has the least expected error for n values: the best that anybody could choose."""
    low, high = 0.001, 1.0
    for _ in range(2):  # a coarse search, then a fine one around its best
        bandwidths = np.geomspace(low, high, tries)
        choices = [Deconvolution(noise, float(h)) for h in bandwidths]
        at = int(np.nanargmin([choice.expected_error(truth, n) for choice in choices]))
        low, high = bandwidths[max(at - 1, 0)], bandwidths[min(at + 1, tries - 1)]
    return choices[at]
