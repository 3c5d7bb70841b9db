"""What became of the models of a study, for people and for machines: a result, or why the sums give none."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from murmure.catalogue import persisted_name
from murmure.core.show import STYLE
from murmure.parties.study.visible_text import message_without_hint, visible

if TYPE_CHECKING:
    from murmure.parties.study.document import Study
    from murmure.parties.study.replay import ModelOutcome


def outcome_lines(fit: ModelOutcome) -> list[str]:
    """The summary; or the reason, with its way out."""
    if fit.result is not None:
        return [visible(line) for line in str(fit.result.summary()).split("\n")]
    if fit.error is not None:
        said = [f"{type(fit.model).__name__}: no result ({persisted_name(fit.error)}).", *str(fit.error).split("\n")]
        return [visible(line) for line in said]
    return [f"{type(fit.model).__name__}: not finished."]


def outcome_html(fit: ModelOutcome, language: Literal["en", "fr"] = "en") -> str:
    """The same for a page, which has a style of its own. Names are escaped where tables are made."""
    if fit.result is not None:
        return str(fit.result.to_html(language)).replace(STYLE, "", 1)
    return f'<p class="warn">{"<br>".join(html.escape(line.strip()) for line in outcome_lines(fit))}</p>'


def outcome_to_dict(fit: ModelOutcome) -> dict[str, Any]:
    error: dict[str, Any] | None = None
    if fit.error is not None:
        message = message_without_hint(fit.error)
        error = {"type": persisted_name(fit.error), "message": message, "hint": fit.error.hint}
        error["columns"] = list(getattr(fit.error, "columns", ()))
    return {
        "model": type(fit.model).__name__,
        "about": fit.model.in_words()[0],
        "rounds": list(fit.rounds),
        "result": None if fit.result is None else fit.result.to_dict(),
        "error": error,
    }


def round_to_dict(study: Study, round: int, sums: Sequence[Sequence[int]]) -> dict[str, Any]:
    """What a round of a model asked; its figures are in the model's result, and its sums beside this."""
    turn = study.turn(round, sums)
    assert turn is not None
    return {
        "model": turn.question - len(study.plans),
        "about": visible(turn.plan.describe()),
        "exact": turn.plan.curator is None,
    }
