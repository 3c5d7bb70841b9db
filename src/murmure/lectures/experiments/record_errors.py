"""The mean squared error of all shares of a table, run after run, in the settings of Arcolezi et al., CIKM 2021.

    MSE_avg = mean over attributes of the mean over values of (f - fhat)^2,

of the raw, unbiased estimates and of what is left when negative ones become 0 and the rest is scaled to sum to one, as
published. For sampling, the shuffled people are cut into d groups of equal size: rows in random order, attributes in
turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import murmure as mu
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.core.types import Array, Floats
from murmure.lectures.data_sets.sources import ADULT_CIKM
from murmure.lectures.data_sets.tables import find_table

COLUMNS = {"adult": ADULT_CIKM, "nursery": None}
FAKES = ("GRR", "SUE-z", "SUE-r", "OUE-z", "OUE-r")
SOLUTIONS = ("SPL[ADP]", "SMP[ADP]", *(f"RS+FD[{oracle}]" for oracle in FAKES), "RS+FD[ADP]")


@dataclass(frozen=True)
class CodedPeople:
    """A table as codes: one array for each attribute, and what they may be."""

    schema: Schema
    codes: tuple[Array, ...]

    @property
    def people(self) -> int:
        return len(self.codes[0])

    @property
    def shares(self) -> list[Floats]:
        sizes = [self.schema[name].size for name in self.schema.private]
        return [np.bincount(code, minlength=k) / self.people for code, k in zip(self.codes, sizes, strict=True)]


@cache
def coded_people(name: str, invented: bool, rows: int | None = None) -> CodedPeople:
    """rows: only so many, where it is enough to see that an experiment runs."""
    table = find_table(name, invented)
    names = COLUMNS[name]
    codes = table.codes(names)
    return CodedPeople(table.schema(names), tuple(code[:rows] for code in codes.values()))


def published_way(solution: str, schema: Schema, epsilon: float, calibrate: str = "paper") -> Any:
    """A solution as published. ADP chooses by Var*; fake data run at the amplified epsilon ("paper")."""
    if solution == "SPL[ADP]":
        return mu.ADP(schema, epsilon, "spl", by="varstar").resolved
    if solution == "SMP[ADP]":
        names = mu.ADP(schema, epsilon, "smp", by="varstar").names
        return mu.SMP(schema, epsilon, oracle=names, draw="round-robin")
    if solution == "RS+FD[ADP]":
        return mu.ADP(schema, epsilon, "rsfd", by="varstar", calibrate=calibrate).resolved  # type: ignore[arg-type]
    oracle = solution.removeprefix("RS+FD[").removesuffix("]")
    return mu.RSFD(schema, epsilon, oracle, calibrate)  # type: ignore[arg-type]


def squared_errors(way: Any, table: CodedPeople, rng: Random) -> tuple[float, float]:
    """Of one run: raw, and clipped at 0 and renormalised."""
    codes = list(table.codes)
    if isinstance(way, mu.SMP):
        order = np.argsort(rng.words(table.people), kind="stable")
        codes = [code[order] for code in codes]
    estimates = way.estimate(way.tally(way.randomise(codes, rng)), table.people)
    raw, clipped = [], []
    for name, truth in zip(way.columns, table.shares, strict=True):
        raw.append(np.mean((estimates[name].mean - truth) ** 2))
        clipped.append(np.mean((mu.clip_renormalise(estimates[name]).mean - truth) ** 2))
    return float(np.mean(raw)), float(np.mean(clipped))


def expected_error(way: Any, table: CodedPeople) -> float:
    """What the raw error is on average: the exact variances, averaged in the same way."""
    return float(np.mean([np.mean(variance) for variance in way.variance(table.shares, table.people)]))
