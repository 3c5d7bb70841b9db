"""The floating-point attack: it works on floats, whoever computes them, and fails on whole numbers."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import murmure as mu
from murmure.attacks import floating_point
from murmure.attacks.curator.float_noise.inverse_cdf import (
    STEP,
    InverseCDF,
    draw_numpy,
    draw_textbook,
    numpy_noise,
    textbook_noise,
)
from murmure.attacks.curator.float_noise.snapping import Snapping
from murmure.attacks.curator.float_noise.whole_numbers import WholeNumbers
from murmure.cli import main

SAMPLERS = {"textbook": InverseCDF(draw_textbook, textbook_noise), "numpy": InverseCDF(draw_numpy, numpy_noise)}


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("scale", [0.1, 1.0, 1 / 0.3, 10.0])
def test_the_true_answer_is_always_possible(name: str, scale: float) -> None:
    """The window around the distribution function misses nothing: every output is found from where it came."""
    x = np.repeat([0.0, 1.0], 1000)
    y = SAMPLERS[name].draw(x, scale, mu.Random.seeded(3))

    assert SAMPLERS[name].is_possible(y[:1000], 0.0, scale).all()
    assert SAMPLERS[name].is_possible(y[1000:], 1.0, scale).all()


def test_what_is_called_impossible_is_impossible() -> None:
    """A window of 600 steps, placed in exact arithmetic, finds no uniform that the narrow one misses."""
    u = np.arange(1, 1 << 10) / (1 << 10)
    fine = SAMPLERS["numpy"]
    y = 1.0 + numpy_noise(u, 1.0)
    wide = np.array([bool((0.0 + numpy_noise(_near(v), 1.0) == v).any()) for v in y])

    assert (fine.is_possible(y, 0.0, 1.0) == wide).all() and 0 < wide.mean() < 1


def _near(y: float) -> Any:
    """All uniform floats of 53 bits within 300 steps of the distribution function, in exact arithmetic."""
    tail = Fraction(math.exp(-abs(y))) / 2
    middle = round((tail if y < 0 else 1 - tail) * (1 << 53))
    steps = np.arange(max(1, middle - 300), min((1 << 53) - 1, middle + 300) + 1)
    return steps * STEP


def test_numpy_draws_by_the_arithmetic_of_its_source() -> None:
    """Its uniforms, put through our copy of its formula, give its noise to the last bit."""
    uniforms, noise = (np.random.default_rng(5) for _ in range(2))

    assert (numpy_noise(uniforms.random(2000), 0.7) == noise.laplace(0.0, 0.7, 2000)).all()


@pytest.mark.parametrize("scale", [0.3, 1.0, 10.0])
def test_snapped_noise_is_laplace_noise_on_a_grid(scale: float) -> None:
    """Every value from both answers; the mean of |noise| is about b (4 standard errors: fails once in 15,000)."""
    y = Snapping().draw(np.zeros(20_000), scale, mu.Random.seeded(5))
    grid = 2.0 ** math.ceil(math.log2(scale))
    z = np.arange(0, 60) * grid
    beyond = [0.5 * math.exp(-(v - grid / 2) / scale) for v in z[1:]]  # P[y >= v]

    assert (np.rint(y / grid) * grid == y).all()
    assert Snapping().is_possible(y, 0.0, scale).all() and Snapping().is_possible(y, 1.0, scale).all()
    assert abs((y >= z[1]).mean() - beyond[0]) < 4 * math.sqrt(beyond[0] / 20_000)


def test_floats_are_certain_and_whole_numbers_never() -> None:
    found = floating_point(1.0, rng=mu.Random.seeded(1))
    shares = {str(row.attacker): row.value for row in found.rows}

    assert shares["textbook float Laplace"] > 0.7 and shares["NumPy Generator.laplace"] > 0.7
    assert [shares[name] for name in ("DiscreteLaplace", "Geometric", "Staircase")] == [0.0, 0.0, 0.0]
    assert shares["snapped float Laplace"] == 0.0


def test_guesses_exceed_the_bound_on_floats_only() -> None:
    """On floats by far. The others stay below the upper end of their 95% interval, at this seed."""
    for guess in floating_point(1.0, rng=mu.Random.seeded(2)).details["guesses"]:
        assert guess["bound"] == pytest.approx(math.e / (1 + math.e))
        if guess["sampler"] in ("textbook float Laplace", "NumPy Generator.laplace"):
            assert guess["low"] > guess["bound"] + 0.1
        else:
            assert guess["low"] <= guess["bound"]


def test_each_cell_is_a_count_at_the_whole_epsilon() -> None:
    """The law that the attack reads is that of a count alone: a histogram costs what one count costs."""
    noise = mu.DiscreteLaplace(epsilon=1.0)
    _, law = WholeNumbers(noise).counts(np.array([0, 1, 0]), mu.Random.seeded(1))
    (alone,) = mu.Plan(mu.Count(mu.Integers(0, 9)), curator=noise).bound.laws

    assert law.prob(3) == alone.prob(3) and law.prob(3) > 0  # type: ignore[attr-defined]


def test_holes_close_where_floats_are_coarse() -> None:
    """About 1000, floats are 2**-43 apart: many uniforms give the same sum, and hardly anything is certain."""
    near, far = (floating_point(1.0, "numpy", n, 500, mu.Random.seeded(1)).rows[0].value for n in (0, 1000))

    assert near > 0.7 and far < 0.02


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon": -1.0}, "positive finite"),
        ({"samplers": ["gauss"]}, "no sampler"),
        ({"count": -1}, "whole number from 0 to 1,000"),
        ({"draws": 1}, "draws must be"),
    ],
)
def test_bad_input(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(mu.MurmureError, match=message):
        floating_point(**settings)


def test_command(tmp_path: Path) -> None:
    page, plot = tmp_path / "p.html", tmp_path / "p.svg"
    words = ["attack", "floating-point", "--samplers", "numpy,Staircase", "--draws", "50", "--seed", "1"]
    ran = CliRunner().invoke(main, [*words, "--epsilon", "0.5,1", "--json", "--html", str(page), "--plot", str(plot)])

    assert ran.exit_code == 0, ran.output
    assert [row["at"] for row in json.loads(ran.output)["rows"]] == [0.5, 0.5, 1.0, 1.0]
    assert "<svg" in page.read_text() and plot.stat().st_size
    assert "no sampler" in CliRunner().invoke(main, ["attack", "floating-point", "--samplers", "x"]).output
