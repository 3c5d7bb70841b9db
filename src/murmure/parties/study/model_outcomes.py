"""What became of the models of a study, for machines: a result, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from murmure.catalogue import persisted_name
from murmure.econometrics.errors import FitFailed
from murmure.show.phrase import visible

if TYPE_CHECKING:
    from murmure.parties.study.document import Study
    from murmure.parties.study.replay import ModelOutcome


def outcome_to_dict(outcome: ModelOutcome) -> dict[str, Any]:
    error: dict[str, Any] | None = None
    if outcome.error is not None:
        message, hint = outcome.error.message, outcome.error.hint
        error = {"type": persisted_name(outcome.error), "message": message, "hint": hint}
        error["columns"] = list(outcome.error.columns) if isinstance(outcome.error, FitFailed) else []
    return {
        "model": type(outcome.model).__name__,
        "about": str(outcome.model.in_words()),
        "rounds": list(outcome.rounds),
        "result": None if outcome.result is None else outcome.result.to_dict(),
        "error": error,
    }


def round_to_dict(study: Study, round: int, sums: Sequence[Sequence[int]]) -> dict[str, Any]:
    """What a round of a model asked. Its figures are in the model's result."""
    turn = study.turn(round, sums)
    assert turn is not None
    return {
        "model": turn.question - len(study.plans),
        "about": visible(turn.plan.describe()),
        "exact": turn.plan.curator is None,
    }
