"""The floating-point attack: the last bits of a noisy number tell which true answer it came from.

Two counts that one person tells apart, and a noisy one. If it can have come from one of them only, the attacker is
certain, and there is no finite epsilon. Laplace noise that is computed in floats has holes, at other places for every
true answer. Noise that is drawn on the whole numbers gives every whole number a chance from every true answer.

Mironov, CCS 2012.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from murmure.attacks.base.attack_result import AttackResult
from murmure.attacks.base.repetitions import check_count, with_bar
from murmure.attacks.base.success import LEVEL, Success, counted
from murmure.attacks.base.threat_model import ThreatModel
from murmure.attacks.curator.float_noise.inverse_cdf import (
    InverseCDF,
    draw_numpy,
    draw_textbook,
    numpy_noise,
    textbook_noise,
)
from murmure.attacks.curator.float_noise.snapping import Snapping
from murmure.attacks.curator.float_noise.whole_numbers import WholeNumbers
from murmure.central.discrete_laplace import DiscreteLaplace
from murmure.central.geometric import Geometric
from murmure.central.staircase import Staircase
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.estimates.intervals import clopper_pearson
from murmure.core.fixed import positive_epsilon
from murmure.core.random import Random, random_or_secure
from murmure.core.types import Floats, Mask, Noise
from murmure.show.document import Number, Table

FLOATS: Mapping[str, tuple[str, InverseCDF | Snapping]] = {
    "textbook": (Phrase("textbook float Laplace"), InverseCDF(draw_textbook, textbook_noise)),
    "numpy": ("NumPy Generator.laplace", InverseCDF(draw_numpy, numpy_noise)),
    "snapping": (Phrase("snapped float Laplace"), Snapping()),
}
WHOLE = tuple(noise.__name__ for noise in (DiscreteLaplace, Geometric, Staircase))
SAMPLERS = (*FLOATS, *WHOLE)
MAX_COUNT = 1000  # beyond it, floats are so far apart that the holes between sums close


def floating_point(
    epsilon: float | Sequence[float] = 1.0,
    samplers: Sequence[str] = SAMPLERS,
    count: int = 0,
    draws: int = 4000,
    rng: Random | None = None,
) -> AttackResult:
    """How often one noisy count shows for certain which of two true counts it came from.

    samplers: "textbook" (the inverse distribution function at a uniform float), "numpy" (NumPy's generator),
    "snapping" (Mironov's repair), and noise of this package, which `run` adds to counts: "DiscreteLaplace",
    "Geometric", "Staircase". count: the smaller one of the two true counts; the other has one person more.

    >>> import murmure as mu
    >>> from murmure.attacks import floating_point
    >>> found = floating_point(1.0, ["textbook", "DiscreteLaplace"], rng=mu.Random.seeded(7))
    >>> for row in found.rows:
    ...     print(f"{row.attacker}: certain in {row.value:.1%} of {found.details['draws']}")
    textbook float Laplace: certain in 80.6% of 4000
    DiscreteLaplace: certain in 0.0% of 4000
    """
    check_count("draws", draws, 2)
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MAX_COUNT:
        raise InvalidParameter(
            "count must be a whole number from 0 to {most:,}, got {got}.", most=MAX_COUNT, got=shorten(count)
        )
    names = [samplers] if isinstance(samplers, str) else list(samplers)
    for name in names:
        if name not in SAMPLERS:
            raise InvalidParameter(
                "there is no sampler {name}.", hint="there are {names}", name=shorten(name), names=", ".join(SAMPLERS)
            )
    at = [positive_epsilon("floating_point", e) for e in np.atleast_1d(np.asarray(epsilon, object)).tolist()]
    rng = random_or_secure(rng, "floating_point")
    rows: list[Success] = []
    guesses: list[dict[str, Any]] = []
    steps = [(e, name) for e in at for name in names]
    for number, (e, name) in enumerate(with_bar(steps, Phrase("drawing noise"))):
        y, right, possible = _attack(name, e, count, draws, rng.child(number))
        certain = possible[0] != possible[1]
        label = FLOATS[name][0] if name in FLOATS else name
        rows.append(counted(label, int(certain.sum()), draws, 0.0, at=e))
        # Certain where only one is possible; else the nearer one, which is the likelier one; a tie is half a hit.
        nearer = np.sign(np.abs(y - count) - np.abs(y - count - 1))
        guess = np.where(certain, np.where(possible[1], 1.0, -1.0), nearer)
        hits = np.where(guess == 0, 0.5, guess == np.where(right == 1, 1.0, -1.0))
        low, high = (float(end) for end in clopper_pearson([float(hits.sum())], draws, LEVEL)[0])
        guesses.append(
            {
                "sampler": label,
                "epsilon": e,
                "guessed": float(hits.mean()),
                "low": low,
                "high": high,
                "bound": math.exp(e) / (1 + math.exp(e)),
            }
        )
    return AttackResult(
        "floating-point",
        Phrase("The last bits of noise"),
        ThreatModel(
            Phrase("one noisy count, to its last bit"),
            Phrase("that the true count is {count} or {more}, and how the noise is drawn", count=count, more=count + 1),
            Phrase("which of the two it is, without doubt"),
        ),
        Phrase("share of noisy counts that show the true one for certain"),
        tuple(rows),
        axis=Phrase("epsilon"),
        blocks=(_table(guesses),),
        notes=(
            Phrase("With any finite epsilon nobody is ever certain: the share is 0."),
            Phrase(
                "Noise on the whole numbers leaves every whole number a chance from both counts: its integers say so."
            ),
        ),
        details={
            "draws": draws,
            "count": count,
            "guesses": [{**guess, "sampler": str(guess["sampler"])} for guess in guesses],
        },
        baseline=Phrase("with a finite epsilon"),
    )


def _attack(name: str, epsilon: float, count: int, draws: int, rng: Random) -> tuple[Floats, Any, list[Mask]]:
    """Noisy counts, which of the two counts each is from, and which can have given it."""
    right = np.arange(draws) % 2
    x = (count + right).astype(np.float64)
    if name in FLOATS:
        sampler, scale = FLOATS[name][1], 1 / epsilon
        y = sampler.draw(x, scale, rng)
        return y, right, [sampler.is_possible(y, float(count + i), scale) for i in (0, 1)]
    whole = WholeNumbers(_noise(name, epsilon, count))
    y, law = whole.counts(x.astype(np.int64), rng)
    return y, right, [whole.is_possible(y, float(count + i), law) for i in (0, 1)]


def _noise(name: str, epsilon: float, count: int) -> Noise:
    if name == "Geometric":
        return Geometric(epsilon, 0, 2 * count + 100)
    return {"DiscreteLaplace": DiscreteLaplace, "Staircase": Staircase}[name](epsilon)


def _table(guesses: Sequence[Mapping[str, Any]]) -> Table:
    head = (
        Phrase("sampler"),
        Phrase("epsilon"),
        Phrase("right guesses"),
        Phrase("low"),
        Phrase("high"),
        Phrase("most that this epsilon allows"),
    )
    return Table(
        Phrase("Which of the two: the certain one, else the likelier one"),
        head,
        tuple(
            (
                g["sampler"],
                Number(g["epsilon"], "plain"),
                *(Number(g[name], "share", 2) for name in ("guessed", "low", "high")),
                Number(g["bound"], "share", 2),
            )
            for g in guesses
        ),
    )


EXAMPLES = (
    lambda: floating_point(draws=200, rng=Random.seeded(1)),
    lambda: floating_point((0.5, 1.0), ("textbook", "Staircase"), draws=100, rng=Random.seeded(1)),
)
