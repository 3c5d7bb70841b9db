"""Every module of local/, statistics/ and engines/ lists EXAMPLES, and every example keeps its promises.

A new file is tested the moment it exists: nothing here names a mechanism.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np
import pytest

import murmure.engines
import murmure.local
import murmure.statistics
from murmure.catalogue import MECHANISMS, RECORDS, STATISTICS
from murmure.certify import check_engine, check_mechanism, check_statistic
from murmure.core.random import Random

HELPERS = {
    "murmure.local.shared",
    "murmure.local.record",
    "murmure.local.oracles",
    "murmure.local.hidden",
    "murmure.local.pairs",
    "murmure.local.weighted",
    "murmure.local.columns",
    "murmure.engines.rowgroups",
    "murmure.engines.task",
    "murmure.engines.table",
    "murmure.engines.parsing",
    "murmure.engines.people",
    "murmure.engines.tables",
    "murmure.engines.files",
    "murmure.engines.csv_files",
    "murmure.engines.frame_tables",
    "murmure.engines.writing",
    "murmure.engines.java",
    "murmure.engines.frames",
    "murmure.engines.progress",
}  # what the others share: no thing of its own


def modules(package: Any) -> list[str]:
    found = [info.name for info in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
    return [name for name in found if name not in HELPERS]


def examples(package: Any) -> list[Any]:
    out = []
    for name in modules(package):
        for i, example in enumerate(getattr(importlib.import_module(name), "EXAMPLES", ())):
            out.append(pytest.param(example, id=f"{name.removeprefix('murmure.')}[{i}]"))
    return out


@pytest.mark.parametrize(
    "name", [*modules(murmure.local), *modules(murmure.statistics), *modules(murmure.engines)], ids=str
)
def test_every_module_lists_examples(name: str) -> None:
    """A file of the three packages ends with a tuple EXAMPLES that is not empty."""
    listed = getattr(importlib.import_module(name), "EXAMPLES", None)

    assert isinstance(listed, tuple) and listed, f"{name} has no EXAMPLES: nothing would test it"


def test_every_public_mechanism_and_statistic_is_an_example() -> None:
    """Each name of the catalogue is the type of at least one example, so the checks reach all of them."""
    seen = {
        type(param.values[0]).__name__ for package in (murmure.local, murmure.statistics) for param in examples(package)
    }

    assert set(MECHANISMS) | set(RECORDS) | set(STATISTICS) == seen


@pytest.mark.parametrize("mechanism", examples(murmure.local))
def test_mechanism(mechanism: Any) -> None:
    """The law sums to one, samples follow it, the affine map is exact, the certificate holds (chance 1e-6 a case)."""
    check_mechanism(mechanism)


@pytest.mark.parametrize("statistic", examples(murmure.statistics))
def test_statistic(statistic: Any) -> None:
    """tally is the sum of lift, order-free and mergeable, and the clear answer is the true one."""
    check_statistic(statistic)


@pytest.mark.parametrize("engine", examples(murmure.engines))
def test_engine(engine: Any) -> None:
    """The same integers however the rows are cut, and nobody is not added up."""
    rows = (Random.seeded(3).words(1000) % np.uint64(1000)).astype(np.int64)

    check_engine(engine, lambda: [rows[:1], rows[1:400], rows[400:], rows[:250]])
