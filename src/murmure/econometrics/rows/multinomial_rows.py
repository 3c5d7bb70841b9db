"""What one row adds to the score and the information of a multinomial regression.

    P[y = j] = e^(z'b_j) / sum_k e^(z'b_k),    b_0 = 0: the others are compared with the first label
    score of b_j: (1[y = j] - P_j) z           information of b_j, b_k: P_j (1[j = k] - P_k) z z'

McFadden, in Zarembka (ed.), Frontiers in Econometrics, 1974, eqs. (12), (17), (18); R's multinom and statsmodels'
MNLogit. It is concave everywhere.

inputs: an indicator for each of the J labels, then the columns. One indicator follows from the others, but with all J
the checks of conditions (statistics/conditions/conditions.py) see every label that sums are about.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from murmure.core.errors import InvalidParameter, shorten
from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.rows.glm_rows import (
    MIN_MOVE,
    linear_predictor,
    round_in_words,
    stack_sums,
    times_columns,
    weighted_products,
)
from murmure.statistics.expressions.row_functions import RowFunction

MODES = ("start", "step", "squares", "score", "separation")
CAP = 700.0  # |eta| is cut at it


class MultinomialRows(RowFunction):
    """The row function. settings: what is added up, the number of labels, and the exponents of two that divide the
    columns.
    """

    def _settings(self, inputs: Sequence[object], settings: Sequence[str]) -> tuple[str, int, list[int]]:
        try:
            mode, labels, *exponents = settings
            label_count, scales = int(labels), [int(k) for k in exponents]
        except ValueError:
            mode, label_count, scales = "", 0, []
        if mode not in MODES or label_count < 2 or not scales or label_count + len(scales) != len(inputs):
            raise InvalidParameter(
                "multinomial: inputs and settings must match, got {input_count} and {settings}.",
                input_count=len(inputs),
                settings=shorten(settings),
            )
        if any(abs(k) > 1000 for k in scales):
            raise InvalidParameter("the sums of multinomial: columns must be scaled by 2**-1000 to 2**1000.")
        return mode, label_count, scales

    def check(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> None:
        mode, label_count, scales = self._settings(inputs, settings)
        wanted = 0 if mode == "start" else (label_count - 1) * len(scales)
        if len(at) != wanted:
            raise InvalidParameter(
                "the sums of multinomial are taken at {wanted} parameters, got {got}.", wanted=wanted, got=len(at)
            )

    def labels(self, inputs: tuple[str, ...], settings: tuple[str, ...]) -> tuple[str, ...]:
        mode, label_count, scales = self._settings(inputs, settings)
        k = len(scales) if mode == "start" else (label_count - 1) * len(scales)
        score = tuple(f"score {j + 1}" for j in range(k))
        square = tuple(f"{i + 1}, {j + 1}" for i in range(k) for j in range(i, k))
        return {
            "start": (*square, *(f"label {j + 1}" for j in range(label_count))),
            "step": (*score, *square, "log-likelihood", "at the cap"),
            "squares": square,
            "score": score,
            "separation": ("against", "along"),
        }[mode]

    def values(self, x: tuple[Floats, ...], at: tuple[float, ...], settings: tuple[str, ...]) -> Floats:
        mode, label_count, scales = self._settings(x, settings)
        y, p = x[:label_count], len(scales)
        z = [column * 2.0**-k for column, k in zip(x[label_count:], scales, strict=True)]
        if mode == "start":
            return stack_sums([*weighted_products(z, 1.0), *y])
        eta = np.stack(
            [np.zeros_like(z[0]), *(linear_predictor(z, at[p * j : p * (j + 1)]) for j in range(label_count - 1))]
        )
        if mode == "separation":
            return stack_sums(self._separated(y, eta))
        kept = np.clip(eta, -CAP, CAP)
        largest = kept.max(axis=0)
        odds = np.exp(kept - largest)
        total = odds[0]
        for odd in odds[1:]:  # one by one: np.sum may add in another order for another number of rows
            total = total + odd
        share = odds / total
        score = [column for j in range(1, label_count) for column in times_columns(z, y[j] - share[j])]
        if mode == "score":
            return stack_sums(score)
        if mode == "squares":
            return stack_sums(weighted_products(score, 1.0))
        chosen = kept[0] * y[0]
        for j in range(1, label_count):
            chosen = chosen + kept[j] * y[j]
        information = []
        for j in range(1, label_count):
            for a in range(p):
                for k in range(j, label_count):
                    w = share[j] * ((j == k) - share[k])
                    information += [w * z[a] * z[b] for b in range(a if j == k else 0, p)]
        outside = (kept != eta).any(axis=0).astype(float)
        k = len(score)
        figures = [chosen - largest - np.log(total), outside]
        return stack_sums([*score, *information, *figures], counted=k + k * (k + 1) // 2 + 1)

    @staticmethod
    def _separated(y: Sequence[Floats], moved: Floats) -> list[Floats]:
        """Indicators of rows whose likelihood falls without bound in this direction, and of rows for which it rises."""
        chosen = sum(indicator * step for indicator, step in zip(y, moved, strict=True))
        ahead = chosen - moved
        against = (ahead < -MIN_MOVE).any(axis=0)
        return [against.astype(float), (~against & (ahead > MIN_MOVE).any(axis=0)).astype(float)]

    def in_words(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> str:
        mode, label_count, _ = self._settings(inputs, settings)
        return round_in_words(mode, "multinomial", ", ".join(inputs[:label_count]), ", ".join(inputs[label_count:]))


MULTINOMIAL = MultinomialRows()
