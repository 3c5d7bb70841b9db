"""No error tells anybody to add noise to a model that cannot be asked with noise.

Every model of the catalogue, and every refusal that has noise among its ways out: sums that are too many, conditions
that few rows fulfil, a party that wants noise or has a budget, cohorts that differ by too few, a ledger.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import murmure as mu
from murmure import catalogue
from murmure.econometrics.fit import ask
from murmure.parties.coordinator.release_log import ReleaseLog
from murmure.parties.party.policy import Policy
from murmure.parties.study.cohort_guard import check_cohort
from murmure.parties.study.document import Study
from murmure.plan.disclosure_rules import DisclosureRules
from murmure.secure.identity import Identity

IDENTITIES = [Identity.from_bytes(bytes([i + 1]) * 32) for i in range(9)]
CARDS = tuple(one.card(f"Party {i}") for i, one in enumerate(IDENTITIES[1:]))
# what takes noise, as an instruction; a sentence that says why there is none is not one
OFFERED = re.compile(r"or noise|with noise|more noise|\[noise\]|Central\(")


def examples() -> Iterator[Any]:
    """One of every model, with and without errors that noise does not suit; all of them in the long run."""
    known = set()
    for module in dict.fromkeys(catalogue.MODELS.values()):
        for number, example in enumerate(importlib.import_module(module).EXAMPLES):
            kind = type(example.model).__name__, example.model.noise_refusal is None
            marks = [pytest.mark.slow] if kind in known else []
            known.add(kind)
            yield pytest.param(example, id=f"{kind[0]}-{number}", marks=marks)


def study_of(model: Any, **terms: Any) -> Study:
    masks = mu.PairwiseMasks(8, dropouts=1, rows=10**6)
    held = {"least_rows": 10, "ratio": Fraction(1, 3)} | terms
    return Study("S", "To see.", IDENTITIES[0].card("Office"), CARDS, (), models=(model,), parties=masks, **held)


def refusals(model: Any, example: Any, folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What may be refused about this model, each as somebody would come to it."""
    rich = study_of(model, ratio=Fraction(1), least_rows=100_000)
    keys = [card.key.hex() for card in CARDS]
    yield "ratio", study_of(model, ratio=Fraction(1, 10**9)).check_ratio
    yield "condition", lambda: study_of(model, least_rows=1).check_conditions(10**6)
    yield "own condition", lambda: Policy(minimum_cell=10**8).check_conditions(rich)
    yield "wants noise", lambda: Policy(require_noise=True, minimum_cell=1).check(rich)
    yield "budget", lambda: Policy(budget=1.0).check_budget(rich, [])
    yield "sums before", lambda: Policy().check_sums(rich, 10**9, ["Earlier"])
    yield "cohort", lambda: check_cohort(rich, frozenset(keys), [(frozenset(keys[1:]), 1)])

    def office() -> None:
        released = ReleaseLog(folder / "released.db")
        released.check(rich, 1, range(8), record=True)
        released.check(study_of(model, ratio=Fraction(1), least_rows=100_001), 1, range(7), record=True)

    yield "office", office
    plan = rich.questions[0].plan
    yield "in one process, ratio", lambda: DisclosureRules(model=model).check(plan, [1, 1, 1])
    yield "in one process, condition", lambda: DisclosureRules(minimum_cell=10**8, model=model).check(plan, [10**7] * 3)

    nothing: Any = object()
    yield "ledger", lambda: ask(model, example.rows, ledger=nothing)


@pytest.mark.parametrize("example", list(examples()))
def test_noise_is_offered_where_it_can_be_had_and_nowhere_else(example: Any, tmp_path: Path) -> None:
    model = example.model
    offered, refused = set(), set()
    for name, work in refusals(model, example, tmp_path):
        try:
            work()
        except mu.MurmureError as error:
            refused.add(name)
            if OFFERED.search((error.hint or "").replace("cannot be asked with noise", "")):
                offered.add(name)

    assert {"ratio", "wants noise", "budget", "cohort", "office"} <= refused, refused
    if model.noise_refusal is None:
        assert {"ratio", "wants noise", "budget"} <= offered
    else:
        assert not offered, f"{type(model).__name__} is told to take noise"
