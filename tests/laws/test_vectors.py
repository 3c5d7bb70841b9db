"""Vectors: words in, reports out, as any client must return them; and plans that must be refused.

The reports are recomputed here a second time, in plain Python integers, from what the docstrings of the laws say.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.vectors.make import laws

from murmure.core import errors
from murmure.core.random import GivenWords
from murmure.laws.bits import BitsChannel, ChainedBits
from murmure.laws.hadamard import Hadamard
from murmure.laws.hashed import Hashed
from murmure.laws.subset import Subset
from murmure.laws.table import TableChannel
from murmure.laws.tagged import Tagged
from murmure.laws.window import WindowChannel
from murmure.plan.plan import Plan

WORD = 1 << 64
FOLDER = Path(__file__).parent.parent / "vectors"


def vectors(name: str) -> list[Any]:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def named(name: str) -> list[Any]:
    return [pytest.param(vector, id=vector["name"]) for vector in vectors(name)]


# ---- a second implementation, one person at a time


def window(law: dict[str, Any], x: int, word: int) -> int:
    M, L, outside = law["outputs"], law["length"], int(law["outside"])
    start = min(max(law["step"] * x - law["shift"], 0), M - L)
    body = WORD - (M - L) * outside
    if word < body:
        bounds = [sum(divmod(body, L)[0] + (i < body % L) for i in range(j + 1)) for j in range(L)]  # a unit more each
        return start + next(j for j, bound in enumerate(bounds) if word < bound)
    others = [y for y in range(M) if not start <= y < start + L]
    return others[(word - body) // outside]


def coin(threshold: int, main: list[int], deep: list[int], width: int, v: int) -> bool:
    """Value v's number has bit 63 - j in plane j: 16 planes in the main words, 48 in the deep ones."""
    planes = [main[j * width + v // 64] for j in range(16)] + [deep[j * width + v // 64] for j in range(48)]
    number = int("".join(str(plane >> (v % 64) & 1) for plane in planes), 2)
    return number < threshold


def bits(law: dict[str, Any], k: int, x: int, main: list[int], deep: list[int]) -> list[bool]:
    width = -(-k // 64)
    out = [coin(int(law["yes_false"]), main, deep, width, v) for v in range(k)]
    out[x] = main[16 * width] < int(law["yes_true"])
    return out


def chained(law: dict[str, Any], k: int, x: int, main: list[int], deep: list[int]) -> list[bool]:
    width = -(-k // 64)
    kept = bits(law["permanent"], k, x, main, deep)
    after, below = 16 * width + 1, 48 * width
    out = []
    for v in range(k):
        which = 0 if kept[v] else 1  # a coin for kept ones, then a coin for kept zeros
        words = main[after + which * 16 * width :]
        rare = deep[below + which * 48 * width :]
        out.append(coin(int(law["yes_zero" if which else "yes_one"]), words, rare, width, v))
    return out


def subset(law: dict[str, Any], k: int, x: int, main: list[int]) -> list[bool]:
    others = [v for v in range(k) if v != x]
    kept = main[0] < int(law["keep"])
    chosen: list[int] = []
    wanted = law["size"] - kept
    words = main[1 + kept :]
    for word, j in zip(words, range(len(others) - wanted, len(others)), strict=True):  # Floyd
        t = word * (j + 1) >> 64
        chosen.append(j if t in chosen else t)
    members = {others[t] for t in chosen} | ({x} if kept else set())
    return [v in members for v in range(k)]


def hadamard(law: dict[str, Any], x: int, word: int) -> int:
    order = law["order"]
    y, rest = word % order, word // order
    even = bin((x + 1) & y).count("1") % 2 == 0
    if even == (rest < int(law["keep"])):
        return y
    return y ^ ((x + 1) & -(x + 1))


def hashed(law: dict[str, Any], k: int, x: int, main: list[int]) -> list[int]:
    g = law["bins"]["outputs"]
    m = law["seed_bits"]
    count = (k - 1).bit_length() + 1
    seeds = [(main[i // 4] >> (16 * (i % 4))) % (1 << m) for i in range(count)]
    h = seeds[0]
    for i, a in enumerate(seeds[1:]):
        h ^= a if x >> i & 1 else 0
    return [*seeds, window(law["bins"], h * g >> m, main[-1])]


def weights(law: dict[str, Any], k: int, x: int) -> list[int]:
    """A row of a table, from the few integers that a plan carries."""
    if "rows" in law:
        return [int(w) for w in law["rows"][x]]
    if "first" in law:
        one = int(law["first"]) + int(law["step"]) * x
        return [WORD - one, one]
    g, r, shift = [int(v) for v in law["g"]], int(law["r"][x]), law["shift"]
    row = [max(1, (g[abs(y - x)] * r >> 64) << shift) for y in range(k)]
    row[x] += WORD - sum(row)
    return row


def table(law: dict[str, Any], k: int, x: int, word: int) -> int:
    """Heavy columns fill up light ones, each in order; a heavy one that became light is filled by the next."""
    row = weights(law, k, x)
    assert sum(row) == WORD
    bits_ = max(1, (len(row) - 1).bit_length())
    share = 1 << (64 - bits_)
    left = row + [0] * ((1 << bits_) - len(row))
    keep, other = [share] * len(left), list(range(len(left)))
    light = [c for c, w in enumerate(left) if w <= share]
    heavy = [c for c, w in enumerate(left) if w > share]
    for i, h in enumerate(heavy):
        while left[h] > share and light:
            c = light.pop(0)
            keep[c], other[c] = left[c], h
            left[h] -= share - left[c]
        keep[h] = left[h]
        if i + 1 < len(heavy):
            other[h] = heavy[i + 1]
            left[heavy[i + 1]] -= share - left[h]
    column, rest = divmod(word, share)
    return column if rest < keep[column] else other[column]


def tagged(law: dict[str, Any], k: int, x: int, main: list[int]) -> int:
    if main[0] < int(law["coin"]):
        return window(law["first"], x, main[1])
    return law["first"]["outputs"] + table(law["second"], k, x, main[1])


def packed(truth: list[bool]) -> list[str]:
    number = sum(1 << v for v, yes in enumerate(truth) if yes)
    return [f"{number >> (64 * i) & (WORD - 1):016x}" for i in range(-(-len(truth) // 64))]


def recompute(law: dict[str, Any], k: int, x: int, main: list[int], deep: list[int]) -> Any:
    match law["law"]:
        case "window":
            return window(law, x, main[0])
        case "bits":
            return packed(bits(law, k, x, main, deep))
        case "chained bits":
            return packed(chained(law, k, x, main, deep))
        case "subset":
            return packed(subset(law, k, x, main))
        case "hadamard":
            return hadamard(law, x, main[0])
        case "hashed":
            return hashed(law, k, x, main)
        case "table":
            return table(law, k, x, main[0])
        case "tagged":
            return tagged(law, k, x, main)
    raise AssertionError(f"no second implementation of {law['law']}")


# ---- the package's own laws, from the same integers


def channel(law: dict[str, Any], k: int) -> Any:
    match law["law"]:
        case "window":
            return WindowChannel(k, law["outputs"], law["length"], law["step"], law["shift"], int(law["outside"]))
        case "bits":
            return BitsChannel(k, int(law["yes_true"]), int(law["yes_false"]))
        case "chained bits":
            return ChainedBits(channel(law["permanent"], k), int(law["yes_one"]), int(law["yes_zero"]))
        case "subset":
            return Subset(k, law["size"], int(law["keep"]))
        case "hadamard":
            return Hadamard(k, int(law["keep"]))
        case "hashed":
            return Hashed(k, channel(law["bins"], law["bins"]["outputs"]))
        case "table":
            rule = {name: value for name, value in law.items() if name != "law"}
            return TableChannel(np.array([weights(law, k, x) for x in range(k)], np.uint64), rule)
        case "tagged":
            return Tagged(channel(law["first"], k), channel(law["second"], k), int(law["coin"]))
    raise AssertionError(f"no law {law['law']}")


def words_of(rows: list[list[str]] | None) -> Any:
    return None if rows is None else np.array([[int(word, 16) for word in row] for row in rows], np.uint64)


@pytest.mark.parametrize("vector", named("laws.json"))
def test_reports_from_given_words(vector: dict[str, Any]) -> None:
    """The package returns the written reports from the written words, all at once and one by one."""
    law = channel(vector["integers"], vector["inputs"])
    x, main, deep = np.array(vector["x"]), words_of(vector["main"]), words_of(vector["deep"])
    as_text = isinstance(law, BitsChannel | ChainedBits | Subset)

    def written(reports: Any) -> list[Any]:
        return [[f"{int(w):016x}" for w in r] for r in reports] if as_text else reports.tolist()

    assert (main.shape[1], 0 if deep is None else deep.shape[1]) == (law.words, law.deep)
    assert written(law.draw(x, GivenWords(main, deep))) == vector["reports"]
    for i in range(len(x)):
        alone = law.draw(x[i : i + 1], GivenWords(main[i], None if deep is None else deep[i]))
        assert written(alone) == [vector["reports"][i]]


@pytest.mark.parametrize("vector", named("laws.json"))
def test_integers_come_back(vector: dict[str, Any]) -> None:
    """The integers of a rebuilt law are the written ones."""
    assert channel(vector["integers"], vector["inputs"]).integers() == vector["integers"]


@pytest.mark.parametrize("vector", named("laws.json"))
def test_reports_by_a_second_implementation(vector: dict[str, Any]) -> None:
    """Plain integers, one person at a time, give the written reports from the written integers and words."""
    deep = vector["deep"] or [[] for _ in vector["x"]]
    actual = [
        recompute(vector["integers"], vector["inputs"], x, [int(w, 16) for w in main], [int(w, 16) for w in rare])
        for x, main, rare in zip(vector["x"], vector["main"], deep, strict=True)
    ]

    assert actual == vector["reports"]


def test_every_law_has_a_vector() -> None:
    """No law of the package goes without."""
    names = {vector["integers"]["law"] for vector in vectors("laws.json")}

    assert names == {"window", "bits", "chained bits", "subset", "hadamard", "hashed", "table", "tagged"}


def test_every_mechanism_has_a_vector() -> None:
    """Chosen by hand, or its first example: `python tests/vectors/make.py` adds those of new files."""
    assert set(laws()) <= {vector["name"] for vector in vectors("laws.json")}


# ---- plans


@pytest.mark.parametrize("vector", vectors("plans.json"), ids=lambda v: v["digest"][:8])
def test_a_written_plan_keeps_its_digest(vector: dict[str, str]) -> None:
    """A plan that was written once reads back with the same digest, and is written the same way again."""
    plan = Plan.from_json(vector["text"])

    assert plan.digest == vector["digest"]
    assert plan.to_json() == vector["text"]


@pytest.mark.parametrize("vector", named("bad_plans.json"))
def test_a_bad_plan_is_refused(vector: dict[str, str]) -> None:
    """Each is refused with its class of error and a message that names what is wrong; none with a bare TypeError."""
    with pytest.raises(getattr(errors, vector["error"]), match=re.escape(vector["part"])):
        Plan.from_json(vector["text"])
