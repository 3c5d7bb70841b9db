"""What is refused leaves nothing behind: no file, no charge, no answer, no random word that is gone."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from tests.frozen.figures import NOISY, REFUSED, questions_of, tried
from tests.frozen.rows import frame_of
from tests.listing import STATISTICS, listed

import murmure as mu
from murmure.central.base.gate import Gate
from murmure.core.errors import BudgetExhausted, OutsideDomain

ROWS = 40
BAD = object()  # no domain holds it
MECHANISMS = [pytest.param(example, id=name) for name, example in listed("murmure.local")]


def at_curator() -> list[Any]:
    plans = [
        (name, tried(lambda q=q: mu.Plan(q, curator=mu.DiscreteLaplace(NOISY)))) for name, q in listed(*STATISTICS)
    ]
    return [pytest.param(plan, id=name) for name, plan in plans if plan is not REFUSED]


def contents(folder: Path) -> dict[str, str]:
    """Every file of a folder, and a digest of what is in it."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("plan", at_curator())
def test_a_budget_that_does_not_suffice_is_not_touched(plan: mu.Plan, tmp_path: Path) -> None:
    """No byte of the ledger changes and no answer passes the gate; with a budget the question is charged once."""
    frame = frame_of(plan.statistic.domain.to_dict(), ROWS)
    ledger, gate, cost = mu.Ledger(tmp_path / "ledger.db"), Gate(), plan.bound.cost.epsilon
    ledger.set_budget("people", epsilon=cost * 0.99)
    before = contents(tmp_path)

    with pytest.raises(BudgetExhausted):
        mu.run(plan, frame, ledger=ledger.account("people"), gate=gate)
    assert contents(tmp_path) == before and gate.answers == []
    ledger.set_budget("people", epsilon=cost * 1.01)
    mu.run(plan, frame, ledger=ledger.account("people"), gate=gate)
    assert ledger.spent("people").charges == len(gate.answers) == 1
    assert ledger.spent("people").epsilon == pytest.approx(cost, rel=1e-12)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("place", [0, ROWS - 1])
def test_a_value_outside_its_domain_uses_no_random_word(mechanism: Any, place: int) -> None:
    """The error names its row, and the next report is drawn from the words that this one did not take."""
    frame = frame_of(mechanism.domain.to_dict(), ROWS)
    spoilt = with_bad(frame, place)
    for plan in questions_of(mechanism).values():
        rng = mu.Random.seeded(9)
        column, bad = (frame, spoilt) if plan.of_records else (column_of(frame), column_of(spoilt))

        with pytest.raises(OutsideDomain, match=f"row {place}"):
            plan.report(bad, rng)
        wanted = plan.report(column, mu.Random.seeded(9))
        assert plan.tally(plan.report(column, rng)).sum.tolist() == plan.tally(wanted).sum.tolist()


def with_bad(frame: Any, place: int) -> Any:
    if isinstance(frame, dict):
        first = next(iter(frame))
        return frame | {first: with_bad(frame[first], place)}
    return [*frame[:place], BAD, *frame[place + 1 :]]


def column_of(frame: Any) -> Any:
    return next(iter(frame.values())) if isinstance(frame, dict) else frame
