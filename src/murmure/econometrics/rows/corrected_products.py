"""The sums of a regression, from rows in which some columns are randomised reports: every product is unbiased.

    t_a t_b = sum over monomials of   coefficient * (true columns) * f_1(x_1) f_2(x_2) ...      x_j: randomised columns

Within a column the product of functions is one function, with unbiased values of its own: an indicator is its own
square, and the square of a number has separate values. Between columns the product of unbiased values is unbiased,
because the columns of a person are randomised independently: E[r_1 r_2 | row] = f_1(x_1) f_2(x_2).

(Corrected scores: Nakamura, Biometrika 77(1), 1990, 127-137; there for errors of measurement.)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from murmure.catalogue import MECHANISMS
from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.rows.monomials import Polynomial, multiply, split
from murmure.econometrics.rows.reported_columns import Function, ReportedColumn
from murmure.plan.codec import part_from_dict, part_to_dict


@dataclass(frozen=True)
class CorrectedProducts:
    """Which products are added up, of which reports. These data are sent with the question."""

    columns: tuple[ReportedColumn, ...]
    terms: tuple[str, ...]
    outcome: str

    @cached_property
    def factors(self) -> tuple[Polynomial, ...]:
        """Every term and, last, the outcome, as sums of monomials."""
        return tuple(split(text, self.columns) for text in (*self.terms, self.outcome))

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs of terms, and of terms with the outcome; last its square, if reports give an unbiased one."""
        p = len(self.terms)
        pairs = [(a, b) for a in range(p + 1) for b in range(a, p + 1)][:-1]
        return (*pairs, (p, p)) if self.has_square else tuple(pairs)

    @cached_property
    def has_square(self) -> bool:
        product = multiply(self.factors[-1], self.factors[-1])
        return all(self.columns[i].has_unbiased(f) for m in product for i, f in m.reported if isinstance(f, int))

    @cached_property
    def products(self) -> tuple[Polynomial, ...]:
        """Each of the pairs as a sum of monomials. Refuses functions without unbiased values."""
        out = tuple(multiply(self.factors[a], self.factors[b]) for a, b in self.pairs)
        for product in out:
            for monomial in product:
                for i, function in monomial.reported:
                    if isinstance(function, int) and not self.columns[i].has_unbiased(function):
                        raise self.columns[i].refusal(function)
        return out

    @cached_property
    def _true(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for product in self.products for m in product for text in m.true))

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The expressions to evaluate in a row: its reports, then its true columns."""
        return (*(text for column in self.columns for text in column.inputs), *self._true)

    def rows(self, x: tuple[Floats, ...]) -> list[Floats]:
        """Unbiased values of every product in every row. They do not depend on how rows are cut into batches."""
        reports, at = [], 0
        for column in self.columns:
            reports.append(column.reports(x[at : at + len(column.inputs)]))
            at += len(column.inputs)
        true = dict(zip(self._true, x[at:], strict=True))
        unbiased: dict[tuple[int, Function], Floats] = {}
        out, n = [], len(x[0]) if x else 0
        for product in self.products:
            total = np.zeros(n)
            for monomial, coefficient in product.items():
                value = np.full(n, float(coefficient))
                for text in monomial.true:
                    value = value * true[text]
                for i, function in monomial.reported:
                    if (i, function) not in unbiased:
                        unbiased[i, function] = self.columns[i].unbiased_values(function)[reports[i]]
                    value = value * unbiased[i, function]
                total = total + value
            out.append(total)
        return out

    # -- as data

    def to_text(self) -> str:
        columns = [[column.name, part_to_dict(column.mechanism)] for column in self.columns]
        data = {"columns": columns, "terms": list(self.terms), "outcome": self.outcome}
        return json.dumps(data, sort_keys=True, ensure_ascii=False)

    @staticmethod
    def from_text(text: str) -> CorrectedProducts:
        return _parse(text)


@lru_cache(maxsize=32)
def _parse(text: str) -> CorrectedProducts:
    raw = json.loads(text)
    columns = tuple(ReportedColumn(name, part_from_dict(part, MECHANISMS)) for name, part in raw["columns"])
    return CorrectedProducts(columns, tuple(raw["terms"]), raw["outcome"])
