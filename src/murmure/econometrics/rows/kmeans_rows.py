"""What a row adds to the sums of k-means: one to the size of the nearest cluster, and its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, Phrase
from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.rows.glm_rows import stack_sums
from murmure.statistics.expressions.row_functions import RowFunction, name_list

MAX_CLUSTERS = 1000


@dataclass(frozen=True)
class KMeansRows(RowFunction):
    """The row function. inputs: the columns. settings: the number of centres, and the exponent of two that divides each
    column. at: the centres one after the other, in divided columns, then a factor for each column.
    """

    def _settings(self, inputs: Sequence[Any], settings: Sequence[str]) -> tuple[int, list[int]]:
        try:
            k, *scales = (int(v) for v in settings)
        except ValueError:
            k, scales = 0, []
        if not 1 <= k <= MAX_CLUSTERS or len(scales) != len(inputs) or any(abs(v) > 1000 for v in scales):
            raise InvalidParameter(
                "clusters take 1 to {max_clusters} centres, and a scale for each column.", max_clusters=MAX_CLUSTERS
            )
        return k, scales

    def check(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> None:
        k, scales = self._settings(inputs, settings)
        d = len(scales)
        if len(at) != k * d + d:
            raise InvalidParameter(
                "{k} centres of {d} columns are {number} numbers and {d} factors, got {got}.",
                k=k,
                d=d,
                number=k * d,
                got=len(at),
            )

    def labels(self, inputs: tuple[str, ...], settings: tuple[str, ...]) -> tuple[str, ...]:
        k, _ = self._settings(inputs, settings)
        return (*(f"cluster {i + 1}: {name}" for i in range(k) for name in ("rows", *inputs)), "squares")

    def values(self, x: tuple[Floats, ...], at: tuple[float, ...], settings: tuple[str, ...]) -> Floats:
        k, scales = self._settings(x, settings)
        d, n = len(x), len(x[0])
        z = [column * 2.0**-s for column, s in zip(x, scales, strict=True)]
        factor = at[k * d :]
        best, near = np.full(n, np.inf), np.zeros(n, np.intp)
        for i in range(k):
            far = np.zeros(n)
            for j in range(d):
                far += ((z[j] - at[i * d + j]) * factor[j]) ** 2
            closer = far < best
            near[closer], best[closer] = i, far[closer]
        out = []
        for i in range(k):
            is_member = (near == i).astype(float)
            out += [is_member, *(is_member * column for column in z)]
        return stack_sums([*out, best])

    def in_words(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> str:
        k, _ = self._settings(inputs, settings)
        return Phrase(
            "how many rows lie nearest to each of {k} given centres, and the sums of {columns} there",
            k=k,
            columns=name_list(inputs),
        )


KMEANS_ROWS = KMeansRows()
