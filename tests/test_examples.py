"""Every module of local/, statistics/ and engines/ lists EXAMPLES, and every example keeps its promises.

A new file is tested the moment it exists: nothing here names a mechanism.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from tests.listing import PLUG_IN_FOLDERS, STATISTICS, listed, plug_ins

from murmure.catalogue import MECHANISMS, QUESTIONS, RECORDS, persisted_name
from murmure.certify.checks.engines import check_engine
from murmure.certify.checks.mechanisms import check_mechanism
from murmure.certify.checks.sensitivity import check_choice_statistic, check_protected
from murmure.certify.checks.statistics import check_statistic
from murmure.core.random import Random

PROVED = {"ClusterMoves"}  # bounds of one row that may not be attained: offsets are cut to a length
PROVED |= {"CrossProducts"}  # bounds of products are those of their factors, which one row need not attain together


def examples(*folders: str) -> list[Any]:
    return [pytest.param(example, id=name) for name, example in listed(*folders)]


def protectable() -> list[Any]:
    """The statistics that a curator can protect.

    The others are read off randomised records, or added up between parties, or pass the words that noise is drawn in.
    """
    found = [p for p in examples(*STATISTICS) if not getattr(p.values[0], "wide", False)]
    return [p for p in found if any(hasattr(p.values[0], a) for a in ("blocks", "candidates"))]


@pytest.mark.parametrize("name", plug_ins(*PLUG_IN_FOLDERS))
def test_every_module_lists_examples(name: str) -> None:
    """A file of a plug-in folder lists EXAMPLES, without exception: what plug-ins share is in folders below."""
    listed = getattr(importlib.import_module(name), "EXAMPLES", None)

    assert isinstance(listed, tuple) and listed, f"{name} has no EXAMPLES: nothing would test it"


def test_every_public_mechanism_and_statistic_is_an_example() -> None:
    """Each name of the catalogue is the type of at least one example, so the checks reach all of them."""
    listed_names = {persisted_name(param.values[0]) for param in examples("murmure.local", *STATISTICS)}

    assert set(MECHANISMS) | set(RECORDS) | set(QUESTIONS) == listed_names


@pytest.mark.parametrize("mechanism", examples("murmure.local"))
def test_mechanism(mechanism: Any) -> None:
    """The law sums to one, samples follow it, the affine map is exact, the certificate holds (chance 1e-6 a case)."""
    check_mechanism(mechanism)


@pytest.mark.parametrize("statistic", examples(*STATISTICS))
def test_statistic(statistic: Any) -> None:
    """tally is the sum of lift, order-free and mergeable, and the clear answer is the true one."""
    check_statistic(statistic)


@pytest.mark.parametrize("statistic", protectable())
def test_statistic_under_a_curator(statistic: Any) -> None:
    """One row moves every block by at most its bound, and reading takes any integers; scores likewise.

    Bounds are attained by some row, except where rows are cut to a ball or a diamond: those are proved.
    """
    if hasattr(statistic, "blocks"):
        tight = type(statistic).__name__ not in PROVED and getattr(statistic, "bounds_attained", True)
        check_protected(statistic, tight=tight)
    else:
        check_choice_statistic(statistic)


@pytest.mark.parametrize("engine", examples("murmure.engines"))
def test_engine(engine: Any) -> None:
    """The same integers however the rows are cut, and nobody is not added up."""
    rows = (Random.seeded(3).words(1000) % np.uint64(1000)).astype(np.int64)

    check_engine(engine, lambda: [rows[:1], rows[1:400], rows[400:], rows[:250]])
