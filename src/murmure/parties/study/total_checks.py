"""Totals that no rows can have: a model that gets one ends at once, for everybody in the same way, and says so.

Totals come from the coordinator, and a party may have added anything. Models assume sums of rows: variances that are
not below 0, counts that are not above the number of rows. A total is only compared with public facts (bounds of
columns, how many rows the study allows), and never with a party's own part of it: a refusal would reveal its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from murmure.core.errors import Phrase
from murmure.econometrics.errors import FitFailed
from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate
from murmure.statistics.exact.cells import Cells
from murmure.statistics.exact.cross_products import CrossProducts
from murmure.statistics.sums import Sums

HINT = Phrase("someone reported false numbers: run the study again with parties that you trust")


def check_totals(statistic: Any, sums: Sequence[int], rows: tuple[int, int]) -> None:
    """sums: the number of rows, then the figures. rows: the fewest and the most that all parties have."""
    n, *figures = sums
    if not rows[0] <= n <= rows[1]:
        raise _impossible(
            Phrase("{n:_} rows in all, where the study allows {row:_} to {rows:_}", n=n, row=rows[0], rows=rows[1])
        )
    if isinstance(statistic, Sums | CrossProducts):
        for k, (term, v) in enumerate(zip(statistic.figures, figures, strict=True), 1):
            # 0 is always possible: a label that is not listed adds nothing.
            if not min(0, n * term.low) <= v <= max(0, n * term.high):
                raise _impossible(Phrase("sum {k} is outside the bounds of {n:_} rows", k=k, n=n))
    elif isinstance(statistic, Cells) and not (min(figures) >= 0 and sum(figures) <= n):
        raise _impossible(Phrase("counts of rows are below 0, or more than there are rows"))


def check_matrix(statistic: Any, answer: Any) -> None:
    """Sums of squares are not below 0; and (sum of a b)^2 <= (sum of a^2) (sum of b^2), by Cauchy."""
    if not isinstance(answer, CrossProductsEstimate):
        return
    matrix = answer.matrix
    side = range(len(matrix))
    if any(matrix[i][i] < 0 for i in side):
        raise _impossible(Phrase("a sum of squares is below 0"))
    # Other products are rounded at each party, and may break the inequality by a little.
    exact = isinstance(statistic, CrossProducts)
    if exact and any(matrix[i][j] ** 2 > matrix[i][i] * matrix[j][j] for i in side for j in range(i)):
        raise _impossible(Phrase("a sum of products is larger than the sums of squares allow"))


def _impossible(what: str) -> FitFailed:
    return FitFailed("no rows can have these totals: {what}.", hint=HINT, what=what)
