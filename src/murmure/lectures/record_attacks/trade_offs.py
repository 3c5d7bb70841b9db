"""Utility and robustness of a solution: the exact variance of its figures, and how often two attacks succeed."""

from __future__ import annotations

from typing import Any

import numpy as np

import murmure as mu
from murmure.attacks import attribute_inference
from murmure.core.random import Random
from murmure.lectures.course.work import Work
from murmure.lectures.record_attacks.attribute_runs import mechanism_of, people_of, schema_of

HIDE_NOTHING = ("SPL", "SMP", "SMP[GRR]")  # all reports are real, or it is said which one is


def trade_off_cell(
    work: Work, rng: Random, data: str, solution: str, epsilon: float, calibrate: str, repetitions: int
) -> dict[str, Any]:
    """Mean variance over all figures, certified epsilon of a record, and the real attribute guessed, run by run."""
    schema, people = schema_of(work, data), people_of(work, data)
    n = len(next(iter(people.values())))
    shares = [np.bincount(codes) / n for codes in people.values()]
    guessed, variances = [], []
    for i in range(repetitions):
        mechanism = _mechanism(schema, people, solution, epsilon, calibrate, rng.child(i, 0))
        variances.append(float(np.mean(np.concatenate([np.ravel(v) for v in mechanism.variance(shares, n)]))))
        if solution in HIDE_NOTHING:
            guessed.append(1.0)
            continue
        result = attribute_inference(mechanism, people, attackers=["exact"], repetitions=1, rng=rng.child(i, 1))
        guessed.append(result.rows[0].value)
    return {
        "variance": float(np.mean(variances)),
        "guessed": guessed,
        "certified": mu.certify(mechanism, "record").epsilon,
    }


def _mechanism(schema: mu.Schema, people: Any, solution: str, epsilon: float, calibrate: str, rng: Random) -> Any:
    """SPL and SMP take the best randomiser for each column; priors of RS+RFD have no zeros."""
    if solution == "SPL":
        return mu.SPL(schema, epsilon)
    if solution == "SMP":
        return mu.SMP(schema, epsilon)
    if solution == "SMP[GRR]":
        return mu.SMP(schema, epsilon, oracle="GRR")
    return mechanism_of(schema, people, solution, epsilon, calibrate, True, rng)
