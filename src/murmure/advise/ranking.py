"""What all kinds of advice have in common."""

from __future__ import annotations

from typing import Any, Literal

from murmure.core.errors import InvalidParameter, shorten
from murmure.core.fixed import is_finite_number
from murmure.show.document import Shown

RankBy = Literal["mean", "worst", "var-star"]
MAX_MARGIN = 50.0  # percentage points: an interval of twice this width is the whole of 0 to 100 per cent


class Ranking(Shown):
    """What both kinds of advice have in common: rows, of which one per epsilon is the best."""

    people: int
    rows: list[dict[str, Any]]

    @property
    def best(self) -> dict[str, Any]:
        return next(row for row in self.rows if row["best"])


def check_people(people: Any, owner: str = "advise") -> None:
    if not is_finite_number(people) or people < 1 or people != int(people):
        raise InvalidParameter(
            "{owner}.people must be a whole number, at least 1, got {got}.", owner=owner, got=shorten(people)
        )
