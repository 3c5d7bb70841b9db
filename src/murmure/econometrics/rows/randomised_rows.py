"""What one row of a randomised table adds to the sums of a regression (statistics/exact/function_sums.py adds it up).

products   unbiased values of t_a t_b, t_a y, and y y if reports give it                (corrected_products.py)
scatter    psi_a psi_b,   psi = c_i - A_i beta,   the row's part of the estimating equations, at a public beta
"""

from __future__ import annotations

import numpy as np

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.rows.corrected_products import CorrectedProducts
from murmure.statistics.expressions.row_functions import RowFunction


class RandomisedRows(RowFunction):
    """settings: which of the two, and the columns, mechanisms and terms as JSON (CorrectedProducts.to_text)."""

    def labels(self, inputs: tuple[str, ...], settings: tuple[str, ...]) -> tuple[str, ...]:
        which, products = settings[0], CorrectedProducts.from_text(settings[1])
        if which == "products":
            names = [f"({text})" for text in (*products.terms, products.outcome)]
            if len(set(names)) < len(names):  # equal terms are collinear, which is refused later
                names = [f"{text} {i}" for i, text in enumerate(names)]
            return tuple(f"{names[a]} * {names[b]}" for a, b in products.pairs)
        p = len(products.terms)
        return tuple(f"psi {a} * psi {b}" for a in range(p) for b in range(a, p))

    def check(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> None:
        which, products = settings[0], CorrectedProducts.from_text(settings[1])
        wanted = {"products": 0, "scatter": len(products.terms)}.get(which)
        if len(settings) != 2 or wanted != len(at) or inputs != products.inputs:
            raise InvalidParameter(
                "Evaluated of randomised answers: inputs, parameters and settings do not match ({which}).",
                hint="randomised_ols(...) writes such questions",
                which=shorten(which),
            )

    def values(self, x: tuple[Floats, ...], at: tuple[float, ...], settings: tuple[str, ...]) -> Floats:
        which, products = settings[0], CorrectedProducts.from_text(settings[1])
        readings = products.rows(x)
        if which == "products":
            return np.stack(readings, axis=1)
        p = len(products.terms)
        product = dict(zip(products.pairs, readings, strict=True))
        psi = []
        for a in range(p):
            left = product[a, p]
            for b, beta in enumerate(at):
                left = left - product[min(a, b), max(a, b)] * beta
            psi.append(left)
        return np.stack([psi[a] * psi[b] for a in range(p) for b in range(a, p)], axis=1)

    def in_words(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> str:
        products = CorrectedProducts.from_text(settings[1])
        through = ", ".join(f"{c.name} ({type(c.mechanism).__name__})" for c in products.columns)
        if settings[0] == "products":
            return Phrase(
                "products of {named}, read without bias from the reports of {through}",
                named=", ".join((*products.terms, products.outcome)),
                through=through,
            )
        return Phrase(
            "squares and products of what each row leaves of the equations for {named}, at the coefficients that were "
            "found, from the reports of {through}",
            named=", ".join(products.terms),
            through=through,
        )


RANDOMISED = RandomisedRows()
