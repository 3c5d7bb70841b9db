"""The sums of FamilyRows from compiled kernels: block after block of rows, the same whole numbers as row by row."""

from __future__ import annotations

import importlib
import math
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from murmure.econometrics.algebra.rounding import Floats
from murmure.laws.kernel_loader import SMALL, available
from murmure.statistics.expressions.fixed_point import join_parts, sums_of, whole_of

if TYPE_CHECKING:
    from murmure.econometrics.rows.glm_rows import FamilyRows

NONE = -1  # no such line
MANY = 1 << 23  # figures of rows: in a few rounds NumPy takes as long for them as loading the kernels


def kernels_of_rows(n: int, figures: int = 1) -> ModuleType | None:
    """The compiled kernels, when they are installed and n rows of so many figures are worth loading them."""
    worth = n >= SMALL or n * figures >= MANY
    return importlib.import_module("murmure.econometrics.rows.glm_kernels") if worth and available() else None


class GlmSums:
    """One question about any number of rows."""

    def __init__(self, rows: FamilyRows, kernels: ModuleType, at: tuple[float, ...], settings: tuple[str, ...]) -> None:
        self.rows, self.kernels, self.at, self.settings = rows, kernels, at, settings
        self.mode, offset, *exponents = settings
        self.offset = offset == "offset"
        self.scales = np.array([2.0 ** -int(k) for k in exponents])
        self.p = len(exponents) - 1

    def of(self, x: Floats) -> NDArray[Any]:
        """x: a line for each input."""
        kernels, family = self.kernels, self.rows.family
        width = len(self.rows.labels(("",) * len(x), self.settings))
        parts, rest = np.zeros((4, width), np.int64), np.zeros(width, object)
        self.z = np.zeros((self.p, kernels.BLOCK))
        more = len(family.null_names) if self.mode == "start" else self._figures + family.counts_outside
        self.block = np.zeros((kernels.FIGURES + 2 + 3 * family.extra + more + 1, kernels.BLOCK))
        self.room = np.empty(2 * kernels.PIECE)
        add = self._add_start if self.mode == "start" else self._add_at(self.at)
        with np.errstate(all="ignore"):
            for start in range(0, x.shape[1], kernels.BLOCK):
                if not add(x, start, min(kernels.BLOCK, x.shape[1] - start), parts):
                    # A value that the kernels do not take: too large, or not a number.
                    some = tuple(x[:, start : start + kernels.BLOCK])
                    rest += whole_of(sums_of(self.rows.values(some, self.at, self.settings)))
        return join_parts(list(parts.astype(object))) + rest

    @property
    def _figures(self) -> int:
        return (3 if self.rows.family.measures else 1) + len(self.rows.family.other)

    def _load(self, x: Floats, start: int, at: Floats, cap: float) -> bool:
        first = 1 + self.offset
        return bool(self.kernels.load(x, first, start, self.scales, at, cap, self.offset, self.z, self.block))

    def _add_start(self, x: Floats, start: int, rows: int, parts: NDArray[np.int64]) -> bool:
        """At b = 0, so that the function gets the offset where others get eta."""
        if not self._load(x, start, np.zeros(self.p), math.inf):
            return False
        kernels, family = self.kernels, self.rows.family
        kernels.kernel_of(family.first)(self.block.reshape(-1), (0.0,))
        first = kernels.FIGURES
        tail = np.arange(first + 2, first + 2 + len(family.null_names))
        return self._sum(self.z, rows, (first, NONE, first + 1, first + 1, NONE, NONE), tail, parts, x, start)

    def _add_at(self, at: tuple[float, ...]) -> Any:
        kernels, family = self.kernels, self.rows.family
        point, constants = family.points(at[self.p] if family.extra else 0.0)
        fill, b = kernels.kernel_of(point), np.array(at[: self.p])
        u, w = kernels.FIGURES, kernels.FIGURES + 1
        first, cross, second = (w + 1, w + 2, w + 3) if family.extra else (NONE, NONE, NONE)
        llf = w + 1 + 3 * family.extra
        others = llf + (3 if family.measures else 1)
        outside = llf + self._figures
        tail = np.array([*range(llf, others), kernels.AT_CAP, *range(others, outside)])
        lines = (u, first, w, w, cross, second)
        lines, tail = (lines, tail) if self.mode == "step" else ((u, first, NONE, NONE, NONE, NONE), tail[:0])
        flat = self.block.reshape(-1)

        def add(x: Floats, start: int, rows: int, parts: NDArray[np.int64]) -> bool:
            if not self._load(x, start, b, family.cap):
                return False
            fill(flat, constants)
            if family.counts_outside:
                np.maximum(self.block[kernels.AT_CAP], self.block[outside], out=self.block[kernels.AT_CAP])
            if self.mode != "squares":
                return self._sum(self.z, rows, lines, tail, parts, x, start)
            score = self.z * self.block[u]
            if family.extra:
                score = np.concatenate([score, self.block[first][None]])
            self.block[w] = 1.0
            self.block[-1] = np.max(score[:, :rows] ** 2)  # no product is larger
            return self._sum(score, rows, (NONE, NONE, w, len(self.block) - 1, NONE, NONE), tail, parts, x, start)

        return add

    def _sum(
        self,
        z: Floats,
        rows: int,
        lines: tuple[int, ...],
        tail: NDArray[np.intp],
        parts: NDArray[np.int64],
        x: Floats,
        start: int,
    ) -> bool:
        ahead = start + self.kernels.BLOCK
        return bool(self.kernels.add(z, self.block, rows, *lines, tail, parts, self.room, x, ahead))
