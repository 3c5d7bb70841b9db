"""What became of the models of a study, for people and for machines: a result, or why there is none."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from murmure.catalogue import persisted_name
from murmure.core.show import STYLE
from murmure.parties.study.visible_text import visible

if TYPE_CHECKING:
    from murmure.parties.study.document import Study
    from murmure.parties.study.replay import ModelOutcome


def outcome_lines(outcome: ModelOutcome) -> list[str]:
    """The summary; or the reason why there is none, with its hint."""
    if outcome.result is not None:
        return [visible(line) for line in str(outcome.result.summary()).split("\n")]
    if outcome.error is not None:
        reason = [
            f"{type(outcome.model).__name__}: no result ({persisted_name(outcome.error)}).",
            *str(outcome.error).split("\n"),
        ]
        return [visible(line) for line in reason]
    return [f"{type(outcome.model).__name__}: not finished."]


def outcome_html(outcome: ModelOutcome, language: Literal["en", "fr"] = "en") -> str:
    """The same for a page, which has its own style. Names are escaped where tables are made."""
    if outcome.result is not None:
        return str(outcome.result.to_html(language)).replace(STYLE, "", 1)
    return f'<p class="warn">{"<br>".join(html.escape(line.strip()) for line in outcome_lines(outcome))}</p>'


def outcome_to_dict(outcome: ModelOutcome) -> dict[str, Any]:
    error: dict[str, Any] | None = None
    if outcome.error is not None:
        message, hint = outcome.error.message, outcome.error.hint
        error = {"type": persisted_name(outcome.error), "message": message, "hint": hint}
        error["columns"] = list(getattr(outcome.error, "columns", ()))
    return {
        "model": type(outcome.model).__name__,
        "about": outcome.model.in_words()[0],
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
