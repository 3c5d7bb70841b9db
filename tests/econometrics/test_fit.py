"""A model with noise pays for its questions: once for the same, and anew for others."""

from __future__ import annotations

from pathlib import Path

import murmure as mu
from murmure import econometrics


def test_a_model_is_paid_for_once_and_anew_with_another_epsilon(tmp_path: Path) -> None:
    """The name of a fit in the ledger covers its privacy: answers of another epsilon are answers to other questions."""
    (tmp_path / "rows.csv").write_text("x,y\n" + "".join(f"{i % 10},{i % 7}\n" for i in range(300)))
    schema = mu.Schema({"x": mu.Integers(0, 9), "y": mu.Integers(0, 6)})
    ledger = mu.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("rows", epsilon=3.0)

    def fit(epsilon: float) -> list[float]:
        account = ledger.account("rows", who="ann")
        found = econometrics.ols(
            "y ~ x", tmp_path / "rows.csv", schema=schema, privacy=mu.Central(epsilon), ledger=account
        )
        return list(found.params)

    first, again, other, later = fit(1.0), fit(1.0), fit(0.5), fit(1.0)

    assert first == again == later != other
    assert ledger.spent("rows").charges == 2
