"""Unbiased sums of products from rows that were randomised column by column.

    E[r_j(report_j) | row] = z_j,   and columns are randomised independently given the row, so for two columns
    E[r_j r_k | row] = z_j z_k;   within a column  E[r2_j | row] = z_j^2,  which the law gives as well:
    a number   r and r2 are the mechanism's readouts of the code and of its square (local/piecewise.py, hybrid.py)
    a label    r_c = (1[report = c] - q) / (p - q); two labels never meet, and an indicator is its own square

Duchi's single bit says nothing of a square: it cannot be used here. The variance of each sum follows from its terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.core.types import Certificate, NumberDomain
from murmure.learn.local_rows import chosen_names
from murmure.local.base.oracle_choice import SQUARE_ORACLES
from murmure.local.spl import SPL
from murmure.plan.plan import Plan
from murmure.plan.privacy import Local
from murmure.run.engine_choice import is_elsewhere
from murmure.statistics.base.grid_design import Axis
from murmure.statistics.learning.gram import Gram, GramEstimate
from murmure.statistics.marginals import Marginals

Floats = NDArray[np.float64]


def unbiased_products(
    ask: Gram, frame: Any, privacy: Local, rng: Random
) -> tuple[GramEstimate, Mapping[str, Certificate]]:
    """An unbiased estimate of what `ask` would find in the true rows; and what each observer learns."""
    from murmure.engines.sources.tables import open_table

    if is_elsewhere(frame):
        raise InvalidParameter(
            "Local: products of randomised columns are added up in memory, not on Spark.",
            hint="Local(epsilon, debias=False) learns from the randomised rows as they are",
        )
    schema = ask.domain
    names = chosen_names(
        schema, privacy.mechanism, {False: "GRR", True: "Piecewise"}, {False: ("GRR",), True: SQUARE_ORACLES}
    )
    mechanism = SPL(schema, privacy.epsilon, oracle=names)
    columns = [
        _Readings.of(schema, name, part, ask) for name, part in zip(schema.private, mechanism.parts, strict=True)
    ]
    order = [schema.private.index(name) for name in (*ask.design.features, ask.target)]
    side = ask.side
    sums, squares, people, branch = np.zeros((side, side)), np.zeros((side, side)), 0, rng.branch()
    for i, batch in enumerate(open_table(frame, schema.private, schema.kinds).batches()):
        records = mechanism.report(batch, branch.child(i), people)
        r = np.concatenate([np.ones((len(records), 1)), *(columns[c].read(records.parts[c]) for c in order)], axis=1)
        sums += r.T @ r
        squares += (r * r).T @ (r * r)
        at = 1
        for c in order:  # within a column the product of readings is not the reading of the product
            inner, second = columns[c].within(r[:, at : at + columns[c].width], records.parts[c])
            span = slice(at, at + columns[c].width)
            sums[span, span] += inner - r[:, span].T @ r[:, span]
            squares[span, span] += second - (r[:, span] ** 2).T @ (r[:, span] ** 2)
            at += columns[c].width
        people += len(records)
    noise = np.maximum(squares - sums**2 / max(people, 1), 0.0)  # n Var: of the reports and of the sample together
    noise[0, 0] = 0.0  # the number of reports is known
    released = GramEstimate((*ask.design.names, ask.target), sums, noise)
    return released, Plan(Marginals(schema), person=mechanism).guarantees()


class _Readings:
    """Numbers, in half ranges of the design, whose expectations are those of a column and of its products."""

    def __init__(self, axis: Axis, value: Floats, square: Floats | None) -> None:
        self.axis, self.value, self.square, self.width = axis, value, square, value.shape[1]

    @classmethod
    def of(cls, schema: Schema, name: str, part: Any, ask: Gram) -> _Readings:
        domain, g = schema[name], ask.design.g
        axis = Axis(domain, g)
        if isinstance(domain, Categories):
            p, q = float(part.supports.p), float(part.supports.q)
            hit = (np.eye(domain.size) - q) / (p - q)
            if not axis.indicators:  # -1 or 1, whose square is 1
                return cls(axis, 2 * hit[:, 1:] - 1, np.ones((2, 1)))
            return cls(axis, hit[:, 1:], None)
        code, square = part.readouts()
        if square is None:
            raise InvalidParameter(
                "Local: {kind} of column {name!r} at epsilon = {epsilon:.3g} gives no squares.",
                hint='mechanism="Piecewise"',
                kind=type(part).__name__,
                name=name,
                epsilon=part.epsilon,
            )
        # z = a code + b, with z in half ranges
        assert isinstance(domain, NumberDomain)
        low, step, _ = domain.scale()
        a, b = step / (axis.unit * g), (low - axis.middle) / (axis.unit * g)
        return cls(axis, (a * code + b)[:, None], (a * a * square + 2 * a * b * code + b * b)[:, None])

    def read(self, reports: Any) -> Floats:
        return self.value[reports]

    def within(self, r: Floats, reports: Any) -> tuple[Floats, Floats]:
        """Sums of the column's own products, and of their squares."""
        if self.square is not None:
            squares = self.square[reports]
            return squares.sum(axis=0).reshape(1, 1), (squares**2).sum(axis=0).reshape(1, 1)
        return np.diag(r.sum(axis=0)), np.diag((r * r).sum(axis=0))
