"""A multiple of any term is that multiple: scaling changes units, and must not change what whole numbers mean."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import murmure as mu

SCHEMA = mu.Schema(
    {
        "x": mu.Integers(1, 40),
        "d": mu.Decimals("0.5", "9.75", 2),
        "i": mu.Interval(0.5, 4.5, cells=8),
        "w": mu.Categories(["a", "b"]),
    }
)
N = 50
ROWS: dict[str, list[Any]] = {
    "x": [1 + (i * 7) % 40 for i in range(N)],
    "d": [0.5 + (i * 13 % 37) / 4 for i in range(N)],
    "i": [0.75 + (i % 8) / 2 for i in range(N)],
    "w": ["ab"[i % 3 % 2] for i in range(N)],
}
TERMS = {
    "x": lambda r: r["x"],
    "d": lambda r: r["d"],
    "i": lambda r: r["i"],
    "(w == 'b')": lambda r: float(r["w"] == "b"),
    "(x * d)": lambda r: r["x"] * r["d"],
    "(x - d)": lambda r: r["x"] - r["d"],
    "x ** 3": lambda r: r["x"] ** 3,
    "abs(x - 20)": lambda r: abs(r["x"] - 20),
    "min(x, 2 * d)": lambda r: min(r["x"], 2 * r["d"]),
    "log(x)": lambda r: math.log(r["x"]),
    "log(x + d)": lambda r: math.log(r["x"] + r["d"]),
    "sqrt(d)": lambda r: math.sqrt(r["d"]),
    "exp(d)": lambda r: math.exp(r["d"]),
    "exp(0 - x)": lambda r: math.exp(-r["x"]),
    "(x < 9)": lambda r: float(r["x"] < 9),
}
MULTIPLES = {"2 * {}": 2, "{} * 0.1": 0.1, "{} / 3": 1 / 3, "-{}": -1, "-1.5 * {}": -1.5, "0.5 * (2 * {})": 1}


@pytest.mark.parametrize("text", TERMS)
def test_multiples_and_sums_of_multiples(text: str) -> None:
    """c f, x - c f, c f g and (c f) ** 2, for every kind of term, added up over rows and against floats."""
    rows = [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]
    f = TERMS[text]
    wanted: dict[str, float] = {}
    for form, c in MULTIPLES.items():
        one = form.format(text)
        wanted[one] = sum(c * f(r) for r in rows)
        wanted[f"x + d - ({one})"] = sum(r["x"] + r["d"] - c * f(r) for r in rows)
        wanted[f"d * ({one})"] = sum(r["d"] * c * f(r) for r in rows)
        wanted[f"({one}) ** 2"] = sum((c * f(r)) ** 2 for r in rows)

    found = mu.run(mu.Plan(mu.Sums(SCHEMA, tuple(wanted))), ROWS).estimate

    for said, sum_ in zip(found.labels, found.mean, strict=True):
        assert np.isclose(sum_, wanted[said], rtol=1e-12, atol=1e-12), said
