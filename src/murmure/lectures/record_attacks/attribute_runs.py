"""Attribute inference with the settings of Arcolezi et al. (PVLDB 2023), one cell of the experiment at a time.

Nobody is known to the attacker: shares are estimated from the reports, cut at 0 and scaled, and everybody's record is
guessed. calibrate="paper" is the epsilon of the papers, "record" an epsilon that is certified for a whole record.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

import murmure as mu
from murmure.attacks import attribute_inference
from murmure.attacks.base.success import Success, repeated_share
from murmure.core.random import Random
from murmure.core.types import Array
from murmure.lectures.course.work import Work
from murmure.lectures.data_sets.sources import ADULT_PVLDB
from murmure.lectures.experiments.float_draws import laplace
from murmure.local.rsfd import MIN_PRIOR

NEVER = 1e-12  # the published priors hold shares of 0, which Murmure refuses: a fake that never occurs
PRIOR_EPSILON = 0.1  # what the papers spend on the priors that they call correct
PROFILES, TREE_EPSILONS, TREE_RUNS = (1, 2, 3, 4, 5), (1, 4, 10), 5  # a run of trees takes 6 to 12 seconds
COLUMNS = {"adult": ADULT_PVLDB, "acs-employment": None}
RULES = {"RS+FD": ("exact", "ceiling"), "RS+RFD": ("exact", "exact-uniform")}


def people_of(work: Work, data: str) -> dict[str, Array]:
    return work.table(data).codes(COLUMNS[data])


def schema_of(work: Work, data: str) -> mu.Schema:
    return work.table(data).schema(COLUMNS[data])


def rules_of(protocol: str) -> tuple[str, ...]:
    return RULES[protocol.partition("[")[0]]


def mechanism_of(
    schema: mu.Schema,
    people: Mapping[str, Array],
    protocol: str,
    epsilon: float,
    calibrate: Any,
    floor: bool,
    rng: Random,
) -> Any:
    """RS+FD[GRR], RS+RFD[OUE-r], ... floor: priors without zeros, as Murmure makes them of an earlier release."""
    kind, _, rest = protocol.partition("[")
    oracle = rest.removesuffix("]")
    if kind == "RS+FD":
        return mu.RSFD(schema, epsilon, oracle=oracle, calibrate=calibrate)
    priors = noisy_priors(people, floor, rng)
    return mu.RSRFD(schema, epsilon, priors, oracle=oracle, calibrate=calibrate)


def noisy_priors(people: Mapping[str, Array], floor: bool, rng: Random) -> list[tuple[float, ...]]:
    """Counts with Laplace noise of scale d / 0.1, rounded and cut at 0: the priors that the papers call correct."""
    out = []
    for codes in people.values():
        counts = np.bincount(codes)
        noisy = np.rint(counts + laplace(rng, len(counts), len(people) / PRIOR_EPSILON)).clip(0)
        shares = noisy / noisy.sum() if noisy.sum() else np.full(len(counts), 1 / len(counts))
        shares = np.maximum(shares, MIN_PRIOR / len(shares) if floor else NEVER)
        out.append(tuple((shares / shares.sum()).tolist()))
    return out


def exact_cell(
    work: Work,
    rng: Random,
    data: str,
    protocol: str,
    epsilon: float,
    calibrate: str,
    repetitions: int,
    floor: bool = False,
) -> dict[str, Any]:
    """By rule what `Success` has, and what is certified. Every repetition of RS+RFD has priors of its own."""
    schema, people = schema_of(work, data), people_of(work, data)
    rules = rules_of(protocol)
    times, each = (repetitions, 1) if protocol.startswith("RS+RFD") else (1, repetitions)
    results = []
    for i in range(times):
        mechanism = mechanism_of(schema, people, protocol, epsilon, calibrate, floor, rng.child(i, 0))
        results.append(attribute_inference(mechanism, people, attackers=rules, repetitions=each, rng=rng.child(i, 1)))
    found = {}
    for k, rule in enumerate(rules):
        rows = [result.rows[k] for result in results]
        found[rule] = as_json(rows[0] if times == 1 else repeated_share("", [r.value for r in rows], rows[0].baseline))
    certified = [result.details["guarantees"][0] for result in results]
    record, attribute = (max(one[unit] for one in certified) for unit in ("certified_record", "certified_attribute"))
    return {"found": found, "record": record, "attribute": attribute}


def as_json(row: Success) -> dict[str, Any]:
    return {"value": row.value, "low": row.low, "high": row.high, "repetitions": row.repetitions}


def found_by(rule: str, cells: Sequence[Any], chance: float, at: Sequence[float]) -> list[Success]:
    """What a rule reached in each cell."""
    places = zip(cells, at, strict=True)
    return [Success("", baseline=chance, at=place, **cell["found"][rule]) for cell, place in places]


# -- trees, as the lecture has them


def tree_library() -> str | None:
    """The attacker's name in Murmure: XGBoost where it is installed, otherwise scikit-learn's trees set alike."""
    if find_spec("xgboost") is not None:
        return "xgboost"
    return "trees" if find_spec("sklearn") is not None else None


def tree_cell(
    work: Work,
    rng: Random,
    data: str,
    protocol: str,
    epsilon: float,
    library: str,
    synthetic: int,
    repetition: int,
) -> list[float]:
    """One repetition: the share guessed by trees that learn from `synthetic` profiles for each person."""
    schema, people = schema_of(work, data), people_of(work, data)
    mechanism = mechanism_of(schema, people, protocol, epsilon, "paper", False, rng.child(0))
    rules = (library, f"{library}-uniform") if protocol.startswith("RS+RFD") else (library,)
    result = attribute_inference(
        mechanism, people, attackers=rules, synthetic=synthetic, repetitions=1, rng=rng.child(1)
    )
    return [row.value for row in result.rows]


def tree_successes(work: Work, data: str, protocol: str, chance: float) -> list[dict[int, list[Success]]]:
    """For each rule, by number of profiles for each person: trees at three epsilons. Nothing but in a full run."""
    rules = 2 if protocol.startswith("RS+RFD") else 1
    library = tree_library()
    if work.size != "full" or library is None:
        return [{}] * rules
    places = list(itertools.product(range(TREE_RUNS), PROFILES, TREE_EPSILONS))
    keys = [
        {"data": data, "protocol": protocol, "epsilon": e, "library": library, "synthetic": s, "repetition": i}
        for i, s, e in places
    ]
    found = dict(zip(places, work.cells(tree_cell, keys), strict=True))
    return [
        {
            s: successes(
                [[found[i, s, e][rule] for i in range(TREE_RUNS)] for e in TREE_EPSILONS], chance, TREE_EPSILONS
            )
            for s in PROFILES
        }
        for rule in range(rules)
    ]


def successes(values: Sequence[Sequence[float]], chance: float, at: Sequence[float]) -> list[Success]:
    """A mean with its interval for each list of repetitions."""
    return [repeated_share("", one, chance, place) for one, place in zip(values, at, strict=True)]
