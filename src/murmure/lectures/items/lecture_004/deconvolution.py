"""Fan (1991): the density of a variable from values with noise, and how slowly it comes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.deconvolution import AddedNoise, NoiseName, TwoHumps, best
from murmure.show.document import Curve, Curves, Number, Paragraph, Table
from murmure.show.figures import Panels

EPSILON, CELLS = 4.0, 64
DEVIATION = math.sqrt(2) / EPSILON  # Laplace noise of scale 1/epsilon on [0, 1]: epsilon-private for each person
TRUTH = TwoHumps()
GRID = np.linspace(-0.1, 1.1, 121)
THEORY = tuple(10.0**k for k in range(2, 13))
NOISES: tuple[NoiseName, ...] = ("Laplace", "Gaussian")


def noisy(work: Work, rng: Random, noise: NoiseName, n: int, run: int) -> dict[str, Any]:
    """One data set: the integrated squared error, and for the first run the density."""
    law = AddedNoise(noise, DEVIATION)
    estimator = best(law, TRUTH, n)
    transform = estimator.transform(TRUTH.draw(rng, n) + law.draw(rng, n))
    curve = estimator.density(transform, GRID).tolist() if run == 0 else []
    return {"error": estimator.squared_error(transform, TRUTH), "curve": curve}


def square_wave(work: Work, rng: Random, n: int, run: int) -> float:
    """The same for SquareWave's reports and EM at the same epsilon: on 64 cells, against the mean density of each."""
    wave = mu.SquareWave(mu.Interval(0, 1, cells=CELLS), EPSILON)
    people = np.clip(TRUTH.draw(rng, n), 0, 1)
    found = mu.em(wave, wave.tally(wave.report(people, rng)), smooth=True).mean * CELLS
    middles = (np.arange(CELLS) + 0.5) / CELLS
    return float(((found - TRUTH.density(middles)) ** 2).sum() / CELLS)


def expected(noise: NoiseName, n: float) -> float:
    return best(AddedNoise(noise, DEVIATION), TRUTH, n).expected_error(TRUTH, n)


def measure(work: Work) -> Measured:
    sizes = work.choose((100, 1_000), (100, 1_000, 10_000, 100_000), (100, 1_000, 10_000, 100_000, 10**6))
    runs = work.choose(1, 10, 40)
    keys = [{"noise": noise, "n": n, "run": run} for noise in NOISES for n in sizes for run in range(runs)]
    found = dict(zip(((k["noise"], k["n"], k["run"]) for k in keys), work.cells(noisy, keys), strict=True))
    waves = work.cells(square_wave, [{"n": n, "run": run} for n in sizes for run in range(runs)])
    means = {noise: [np.mean([found[noise, n, r]["error"] for r in range(runs)]) for n in sizes] for noise in NOISES}
    wave_means = [float(np.mean(waves[i * runs : (i + 1) * runs])) for i in range(len(sizes))]
    steps = THEORY[work.choose(slice(4, None, 3), slice(None), slice(None))]
    theory = {noise: [expected(noise, n) for n in steps] for noise in NOISES}
    shown = sizes[:: max(1, len(sizes) // 3)][-3:]
    panels = [densities(noise, {n: found[noise, n, 0]["curve"] for n in shown}) for noise in NOISES]
    million, billion = ({noise: theory[noise][steps.index(n)] for noise in NOISES} for n in (1e6, 1e12))
    slope = math.log10(theory["Laplace"][-1] / theory["Laplace"][steps.index(1e9)]) / 3
    deviation = float(np.std([found["Laplace", sizes[-1], r]["error"] for r in range(runs)]))
    return Measured(
        Phrase(
            "With {n:,} values the integrated squared error is {laplace:.3f} with Laplace noise (mean of {runs}, "
            "standard deviation {deviation:.3f}; expected {law:.3f}) and {gaussian:.3f} with Gaussian noise of the "
            "same variance. With Laplace noise its expectation falls as n to the power {slope:.2f} from n = 10^9 to "
            "10^12. With Gaussian noise a million values leave {million:.3f}, and a million millions {billion:.3f}. "
            "SquareWave with EM, at the same epsilon as the Laplace noise, has {wave:.3f} at {n:,}.",
            n=sizes[-1],
            laplace=float(means["Laplace"][-1]),
            gaussian=float(means["Gaussian"][-1]),
            runs=runs,
            deviation=deviation,
            law=expected("Laplace", sizes[-1]),
            slope=slope,
            million=million["Gaussian"],
            billion=billion["Gaussian"],
            wave=wave_means[-1],
        ),
        {
            "n": sizes,
            "laplace": means["Laplace"],
            "laplace_expected": [expected("Laplace", n) for n in sizes],
            "gaussian": means["Gaussian"],
            "gaussian_expected": [expected("Gaussian", n) for n in sizes],
            "square_wave_em": wave_means,
        },
        (
            Panels(Phrase("Two humps found through noise of standard deviation {s:.3f}", s=DEVIATION), tuple(panels)),
            speed_picture(sizes, means, wave_means, steps, theory),
        ),
        Phrase(
            "The slow method is Gaussian noise: it takes exponentially more from each frequency, and only powers of "
            "log n come back. Laplace noise takes a power of the frequency, and the error falls as a power of n. The "
            "expected error is an integral over the noise, the kernel and the density that is sought: it can be "
            "computed for any density that one has in mind, and not from the noisy values alone."
        ),
        (
            Table(
                Phrase("Integrated squared error, expected with the best bandwidth"),
                (Phrase("n"), Phrase("Laplace noise"), Phrase("Gaussian noise")),
                tuple(
                    (Number(n), Number(a, "fixed", 6), Number(b, "fixed", 4))
                    for n, a, b in zip(steps, theory["Laplace"], theory["Gaussian"], strict=True)
                ),
                folded=True,
            ),
            Paragraph(
                Phrase(
                    "The bandwidth is the best there is for this density, which in practice is not known: real errors "
                    "are larger. Laplace noise of this deviation on values in [0, 1] has epsilon {epsilon:g} for each "
                    "person. Gaussian noise has no epsilon without a delta.",
                    epsilon=EPSILON,
                ),
                "note",
            ),
        ),
    )


def densities(noise: NoiseName, curves: dict[int, list[float]]) -> Curves:
    names = {"Laplace": Phrase("Laplace noise"), "Gaussian": Phrase("Gaussian noise")}
    grid = tuple(GRID.tolist())
    found = tuple(Curve(Phrase("n = {n:,}", n=n), grid, tuple(curve)) for n, curve in curves.items())
    truth = Curve(Phrase("truth"), grid, tuple(TRUTH.density(GRID).tolist()))
    return Curves(names[noise], (truth, *found), Phrase("x"), Phrase("density"))


def speed_picture(sizes: Any, means: Any, wave_means: list[float], steps: Any, theory: Any) -> Curves:
    sizes = tuple(map(float, sizes))
    return Curves(
        Phrase("Integrated squared error against n (Laplace noise, SquareWave: epsilon {epsilon:g})", epsilon=EPSILON),
        (
            Curve(Phrase("Laplace noise, expected"), steps, tuple(theory["Laplace"])),
            Curve(Phrase("Laplace noise, measured"), sizes, tuple(map(float, means["Laplace"]))),
            Curve(Phrase("Gaussian noise, expected"), steps, tuple(theory["Gaussian"])),
            Curve(Phrase("Gaussian noise, measured"), sizes, tuple(map(float, means["Gaussian"]))),
            Curve(Phrase("SquareWave and EM, measured"), sizes, tuple(wave_means)),
        ),
        Phrase("n"),
        Phrase("integrated squared error"),
        log=True,
        log_x=True,
    )


ITEM = Item(
    Phrase("A density through noise (Fan, 1991)"),
    Phrase("1, fourth approach"),
    measure,
    claimed=Phrase("simple, but its errors cannot be quantified and its speed of convergence is rather slow"),
)
