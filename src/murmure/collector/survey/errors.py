"""What is wrong with a survey, and where: pages show it beside the field."""

from __future__ import annotations

from typing import Any

from murmure.core.errors import InvalidParameter, Phrase, shorten


class SurveyRefused(InvalidParameter):
    """A survey that cannot be asked like this. `where` names the field: questions[1].options."""

    def __init__(self, where: str, wanted: str, got: Any = None, hint: str | None = None) -> None:
        shown = Phrase("nothing") if got is None else shorten(got)
        super().__init__(
            "survey: {where} must be {wanted}, got {got}.", hint=hint, where=where, wanted=wanted, got=shown
        )
        self.where, self.wanted = where, wanted
