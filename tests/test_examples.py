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
from murmure.catalogue import MECHANISMS, QUESTIONS, RECORDS
from murmure.certify import check_engine, check_mechanism, check_statistic
from murmure.certify.sensitivity_checks import check_choice, check_protected
from murmure.core.random import Random

HELPERS = {
    "murmure.local.shared",
    "murmure.local.record",
    "murmure.local.oracles",
    "murmure.local.hidden",
    "murmure.local.pairs",
    "murmure.local.weighted",
    "murmure.local.columns",
    "murmure.statistics.shared",
    "murmure.statistics.design",
    "murmure.statistics.left_out",
    *(f"murmure.statistics.{name}" for name in ("terms", "expression_text", "expressions", "exact_sums", "summed")),
    *(f"murmure.statistics.{name}" for name in ("carried", "conditions", "regions", "weights", "minimum_cell")),
    *(f"murmure.statistics.condition_{name}" for name in ("counts", "words")),
    *(
        f"murmure.statistics.{name}"
        for name in (
            "pairs",
            "real_functions",
            "crossed",
            "counted",
            "row_functions",
            "factors",
            "fixed_point",
            "centred",
        )
    ),
    "murmure.statistics.centred",
    "murmure.engines.rowgroups",
    "murmure.engines.task",
    "murmure.engines.table",
    "murmure.engines.parsing",
    "murmure.engines.people",
    "murmure.engines.tables",
    "murmure.engines.files",
    "murmure.engines.arrow_threads",
    "murmure.engines.csv_files",
    "murmure.engines.frame_tables",
    "murmure.engines.writing",
    "murmure.engines.java",
    "murmure.engines.frames",
    "murmure.engines.progress",
}  # what the others share: no thing of its own

PROVED = {"Gram", "Taylor", "Gradient"}  # bounds of one row that rounding to the grid keeps rows from attaining
PROVED |= {"ClusterMoves", "Scatter"}  # likewise: offsets and rows are cut to a length
PROVED |= {"CrossProducts"}  # bounds of products are those of their factors, which one row need not attain together


def modules(package: Any) -> list[str]:
    found = [info.name for info in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
    return [name for name in found if name not in HELPERS]


def examples(package: Any) -> list[Any]:
    out = []
    for name in modules(package):
        for i, example in enumerate(getattr(importlib.import_module(name), "EXAMPLES", ())):
            out.append(pytest.param(example, id=f"{name.removeprefix('murmure.')}[{i}]"))
    return out


def protectable() -> list[Any]:
    """The statistics that a curator can protect.

    The others are read off randomised records, or added up between parties, or pass the words that noise is drawn in.
    """
    found = [p for p in examples(murmure.statistics) if not getattr(p.values[0], "wide", False)]
    return [p for p in found if any(hasattr(p.values[0], a) for a in ("blocks", "candidates"))]


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

    assert set(MECHANISMS) | set(RECORDS) | set(QUESTIONS) == seen


@pytest.mark.parametrize("mechanism", examples(murmure.local))
def test_mechanism(mechanism: Any) -> None:
    """The law sums to one, samples follow it, the affine map is exact, the certificate holds (chance 1e-6 a case)."""
    check_mechanism(mechanism)


@pytest.mark.parametrize("statistic", examples(murmure.statistics))
def test_statistic(statistic: Any) -> None:
    """tally is the sum of lift, order-free and mergeable, and the clear answer is the true one."""
    check_statistic(statistic)


@pytest.mark.parametrize("statistic", protectable())
def test_statistic_under_a_curator(statistic: Any) -> None:
    """One row moves every block by at most its bound, and reading takes any integers; scores likewise.

    Bounds are attained by some row, except where rows are cut to a ball or a diamond: those are proved.
    """
    if hasattr(statistic, "blocks"):
        tight = type(statistic).__name__ not in PROVED and getattr(statistic, "tight", True)
        check_protected(statistic, tight=tight)
    else:
        check_choice(statistic)


@pytest.mark.parametrize("engine", examples(murmure.engines))
def test_engine(engine: Any) -> None:
    """The same integers however the rows are cut, and nobody is not added up."""
    rows = (Random.seeded(3).words(1000) % np.uint64(1000)).astype(np.int64)

    check_engine(engine, lambda: [rows[:1], rows[1:400], rows[400:], rows[:250]])
