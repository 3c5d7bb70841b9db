"""Two exact answers give a newcomer's salary away; two noisy ones do not."""

from __future__ import annotations

import itertools

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.lecture_003_central import FEBRUARY, JANUARY, NOISY_FEBRUARY, NOISY_JANUARY, difference
from murmure.show.figures import Bars

EPSILON = 1.0  # of each month
SALARIES = mu.Integers(0, 300_000)  # public bounds
EDGES = 1e6 * np.arange(-2.25, 2.5, 0.5)


def measure(work: Work) -> Measured:
    runs = work.choose(200, 20_000, 100_000)
    noise = mu.DiscreteLaplace(EPSILON).bind(mu.Mean(SALARIES).blocks)
    sums = noise.laws[[block.name for block in noise.blocks].index("sum")]
    rng = work.rng("months")
    # The total that a reader computes is people x mean, so what the noise does to the sum is all that matters.
    guesses = difference(JANUARY, FEBRUARY) + sums.draw_noise(runs, rng) - sums.draw_noise(runs, rng)
    truth = difference(JANUARY, FEBRUARY)
    miss = float(np.median(np.abs(guesses - truth)))
    possible = float(np.mean((guesses >= SALARIES.low) & (guesses <= SALARIES.high)))
    cuts = np.concatenate([[-np.inf], EDGES, [np.inf]])
    shares = np.histogram(guesses, cuts)[0] / runs
    middles = [Phrase("{middle:.1f}", middle=(low + high) / 2e6) for low, high in itertools.pairwise(EDGES)]
    ends = [Phrase("< {edge:.2f}", edge=EDGES[0] / 1e6), Phrase("> {edge:.2f}", edge=EDGES[-1] / 1e6)]
    labels = [ends[0], *middles, ends[1]]
    bars = Bars(
        Phrase("Mallory's salary as noisy totals give it"),
        tuple(labels),
        (("", tuple(shares.tolist())),),
        Phrase("later total minus earlier total, in millions"),
        Phrase("share of {runs:,} pairs of months", runs=runs),
        marked=int(np.searchsorted(EDGES, truth)),
    )
    return Measured(
        Phrase(
            "The exact answers give {truth:,}. The lecture's noisy ones give {noisy:,}. With discrete Laplace noise at "
            "epsilon {epsilon:g} a month and public bounds of 0 and {high:,}, half of {runs:,} pairs of months miss "
            "the salary by more than {miss:,.0f}, and {possible:.0%} give a number that could be a salary at all.",
            truth=truth,
            noisy=difference(NOISY_JANUARY, NOISY_FEBRUARY),
            epsilon=EPSILON,
            high=SALARIES.high,
            runs=runs,
            miss=miss,
            possible=possible,
        ),
        {"guess, in millions": [str(label) for label in labels], "share": shares.tolist()},
        (bars,),
    )


ITEM = Item(
    Phrase("Mallory joins the company"),
    Phrase("queries on neighbouring databases"),
    measure,
    claimed=Phrase("the exact answers give away Mallory's salary, the noisy ones do not"),
    printed=Phrase("(100, 55,000) then (101, 56,000): 156,000; noisy: (102, 55,551) then (97, 55,975)"),
)
