"""check_protected and check_choice reject statistics whose bounds, sums or readings are wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.certify.checks.assertions import CheckFailed
from murmure.certify.checks.sensitivity import _Laplace, check_choice_statistic, check_exchange, check_protected
from murmure.core.blocks import Block

AGE = mu.Integers(0, 9, "age")
REGION = mu.Categories(["north", "south", "west"], "region")


@dataclass(frozen=True)
class Mutant:
    """A good statistic with one thing changed."""

    good: Any
    changed: Any  # name -> what takes its place, given the good statistic

    def __getattr__(self, name: str) -> Any:
        changed = object.__getattribute__(self, "changed")
        return changed[name](self.good) if name in changed else getattr(object.__getattribute__(self, "good"), name)


def block(index: int, **new: Any) -> Any:
    def blocks(good: Any) -> Any:
        held = list(good.blocks)
        held[index] = replace(held[index], **new)
        return tuple(held)

    return {"blocks": blocks}


def strict_tally(good: Any) -> Any:
    def tally(x: Any) -> Any:
        if (x >= good.domain.size).any():
            raise ValueError("a label outside")
        return good.tally(x)

    return tally


def dropping_tally(good: Any) -> Any:
    return lambda x: good.tally(np.where(x == good.domain.size, 0, x))  # a label outside becomes the first one


def dividing_interpret(good: Any) -> Any:
    def interpret(noisy: Any) -> Any:
        _ = noisy["cells"] / noisy["cells"].sum()
        return good.interpret(noisy)

    return interpret


def failing_interpret(good: Any) -> Any:
    def interpret(noisy: Any) -> Any:
        if noisy.sum[0] < 0:
            raise ValueError("a negative count")
        return good.interpret(noisy)

    return interpret


class Remembers:
    """Reads the true number of rows that it added up: not a function of the noisy sums."""

    def __init__(self, good: Any) -> None:
        self.good, self.n = good, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.good, name)

    def tally(self, x: Any) -> Any:
        self.n += len(x)
        return self.good.tally(x)

    def interpret(self, noisy: Any) -> Any:
        return replace(self.good.interpret(noisy), n=self.n)


def nan_interpret(good: Any) -> Any:
    return lambda noisy: replace(good.interpret(noisy), mean=np.array([np.nan] * good.width))


def negative_people(good: Any) -> Any:
    return lambda noisy: replace(good.interpret(noisy), n=int(noisy.sum.sum()))


MEAN, CELLS = mu.Mean(AGE), mu.Histogram(REGION)
MUTANTS = {
    "a bound that is too small": (Mutant(MEAN, block(1, l1=8, l2=64)), "more than l1 = 8"),
    "squares without their own bound": (Mutant(MEAN, block(2, l1=9, l2=81)), "more than l1 = 9"),
    "a bound that wastes": (Mutant(MEAN, block(1, l1=10, l2=100)), "wasteful"),
    "l2 that is too small": (Mutant(mu.Marginals(mu.Schema({"a": AGE})), block(0, width=10, l1=2, l2=1)), "wasteful"),
    "exchanging counted as removing": (Mutant(CELLS, block(0, replace_l1=1)), "replacing a row moves"),
    "exchanging in L2": (Mutant(CELLS, block(0, replace_l2=1)), "replacing a row moves"),
    "groups that a row cannot change": (
        Mutant(mu.GroupBy(mu.Count(AGE), REGION), block(0, replace_l1=1)),
        "replacing a row moves",
    ),
    "a row that matches may be exchanged for one that does not": (
        Mutant(mu.Where(mu.Sum(mu.Integers(90, 99, "a")), REGION, is_in=("north",)), block(1, replace_l1=9)),
        "replacing a row can remove",
    ),
    "a block left out": (Mutant(MEAN, {"blocks": lambda good: good.blocks[:2]}), "do not add up"),
    "largest too small": (Mutant(MEAN, {"largest": lambda good: 9}), "more than largest"),
    "refuses labels outside": (Mutant(CELLS, {"tally": strict_tally}), "a label outside"),
    "counts labels outside": (Mutant(CELLS, {"tally": dropping_tally}), "when some rows count nobody"),
    "divides by a noisy total": (Mutant(CELLS, {"interpret": dividing_interpret}), "fails"),
    "fails at a negative count": (Mutant(CELLS, {"interpret": failing_interpret}), "a negative count"),
    "reads the true n": (Remembers(CELLS), "more than the noisy sums"),
    "releases nan": (Mutant(CELLS, {"interpret": nan_interpret}), "not a number"),
    "people below zero": (Mutant(CELLS, {"interpret": negative_people}), "people"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_rejected(name: str) -> None:
    """Each defect is found, and named."""
    mutant, said = MUTANTS[name]

    with pytest.raises((CheckFailed, ValueError), match=said):
        check_protected(mutant)


SCHEMA = mu.Schema({"age": AGE, "region": REGION, "share": mu.Interval(-0.3, 1.0, cells=7)})
WIDE = mu.Integers(-5, 2**31 - 7, "wide")
GOOD = {
    "mean": MEAN,
    "cells": CELLS,
    "sum of a group": mu.GroupBy(mu.Sum(AGE), REGION),
    "sum off its grid": mu.Sum(SCHEMA["share"]),
    "mean of two values": mu.Mean(mu.Integers(0, 1)),
    "mean of many": mu.Mean(WIDE),
    "variance of many": mu.Variance(WIDE),
    "sum of many": mu.Sum(WIDE),
    "squares just cut": mu.Mean(mu.Integers(0, 2**15)),
    "groups of some": mu.GroupBy(mu.Where(mu.Mean(AGE), AGE, between=(0, 4)), REGION),
    "some of groups": mu.Where(mu.GroupBy(mu.Sum(SCHEMA["share"]), REGION), AGE, is_in=(1, 2)),
    "groups of columns": mu.GroupBy(mu.Marginals(SCHEMA), REGION),
    "groups of pairs": mu.GroupBy(mu.Pair(SCHEMA, "region", "age"), REGION),
    "groups of quantiles": mu.GroupBy(mu.Quantile(AGE), REGION),
    "many quantiles": mu.Quantile(mu.Interval(0.0, 1.0, cells=1200), (0.1, 0.9)),
}


@pytest.mark.parametrize("name", GOOD)
def test_good_statistics_pass(name: str) -> None:
    """Nested ones, ranges of two values and of 2**31, and grids that zero is not on."""
    tight = name != "some of groups"  # its largest rows are where the condition is not
    check_protected(GOOD[name], tight=tight)


def test_a_choice_with_a_wrong_sensitivity_is_rejected() -> None:
    """Scores that one person moves by two, said to move by one."""
    check_choice_statistic(mu.Mode(REGION))
    twice = Mutant(mu.Mode(REGION), {"scores": lambda good: lambda total: 2 * total})

    with pytest.raises(CheckFailed, match="moves a score by 2"):
        check_choice_statistic(twice)


@pytest.mark.parametrize("b", [3.0, 50.0])
def test_the_noise_that_stands_in_for_all_others_has_the_variance_of_its_law(b: float) -> None:
    """Sums over whole numbers of a density that changes little between two of them."""
    law, z = _Laplace(b), np.arange(-2000.0, 2001.0)
    chances = np.exp(law.log_prob(z))

    assert chances.sum() == pytest.approx(1, rel=0.01)
    assert (chances @ z**2) / chances.sum() == pytest.approx(law.variance, rel=0.01)
    assert chances[np.abs(z) > law.quantile(0.01)].sum() <= 0.01


@pytest.mark.parametrize("place", [0, 39, -10, -1])
def test_the_first_and_the_last_rows_are_exchanged_with_others(place: int) -> None:
    """Some of 100,000 rows are sampled. A single row at either end that moves too far is found."""
    x = np.full(100_000, 2)
    x[place] = 9
    column = SimpleNamespace(width=1, blocks=(Block("sums", 1, 5, 25, replace_l1=5, replace_l2=25),))
    column.lift = lambda codes: codes[:, None].astype(np.int64)

    with pytest.raises(CheckFailed, match="replacing a row moves block 'sums' by 7, more than 5"):
        check_exchange(column, x, 1)
    check_exchange(column, np.minimum(x, 7), 1)
