"""Compare groups: t-tests of one or two means, and analysis of variance of several; one round of three sums a group."""

from __future__ import annotations

from typing import Any

from murmure.core.domain import Categories, Integers
from murmure.core.schema import Schema
from murmure.econometrics.group_means import Group
from murmure.econometrics.model import Example
from murmure.econometrics.t_tests import TTest, TTested, ttest
from murmure.econometrics.variance_analysis import Analysed, Anova, anova

__all__ = ["EXAMPLES", "Analysed", "Anova", "Group", "TTest", "TTested", "anova", "ttest"]

_FIRM = Schema(
    {"pay": Integers(1000, 9000), "sex": Categories(["F", "M"]), "site": Categories(["north", "south", "west"])}
)
_ROWS: dict[str, list[Any]] = {
    "pay": [1500 + (i * i * 37 + 11 * i) % 4000 + 300 * (i % 2) for i in range(50)],
    "sex": ["FM"[i % 2] for i in range(50)],
    "site": [("north", "south", "west")[(i + i // 3) % 3] for i in range(50)],
}
EXAMPLES = (
    Example(TTest(_FIRM, "pay", "sex"), _ROWS),
    Example(TTest(_FIRM, "pay", "sex", pooled=True, alternative="greater"), _ROWS),
    Example(TTest(_FIRM, "pay", "site", ("west", "north")), _ROWS),
    Example(TTest(_FIRM, "pay", mu="3200.5"), _ROWS),
    Example(Anova(_FIRM, "pay", "site"), _ROWS),
)
