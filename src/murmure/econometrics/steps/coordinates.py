"""Coordinates in which floats keep their digits: a column that others nearly explain is replaced by what they leave.

    v = T z,    T lower triangular with ones on its diagonal, short decimals elsewhere;    v 2^-k is about one

Rows are floats, and products of columns that nearly depend on one another lose their digits: seconds since 1970 within
an hour are constant to six digits, and their squares to twelve. The sums of a first round show what others leave of
each column (Gram and Schmidt). If that is little, the next question asks for the difference itself, "time -
1763001500", which is exact before it becomes a float (statistics/expressions/terms.py). The model stays the same, and b
follows exactly:

    b = T' D c,    Cov(b) = T' D Cov(c) D T,    D = diag(2^-k)

This holds for any T, so T is rounded to the digits that matter. Everything is decided in fractions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.econometrics.algebra.matrices import Matrix, Vector, identity, matmul, solve, times, transpose
from murmure.econometrics.algebra.rounding import root, rounded, to_floats
from murmure.econometrics.design.columns import decimal_text
from murmure.econometrics.design.scales import bounds_of, exponent, is_label
from murmure.econometrics.errors import Collinear, EmptyCategory, FitFailed
from murmure.statistics.expressions.parser import NUMBER

# Shares of the squares of a column. Others leave less than SMALL_REST: the difference is asked for.
SMALL_REST = Fraction(1, 1 << 16)
ROUNDING = Fraction(1, 1 << 50)  # less is the rounding of rows
# 2^-44 of the column itself: decimals from floats are rounded at 2^-52.
DEPENDENT = Fraction(1, 1 << 88)
SMALL_SQUARE = Fraction(1, 1 << 26)  # of smaller mean squares the grid of sums, 2^-62, keeps too few bits
FINE_STEP = Fraction(1, 1 << 12)  # a column with finer steps may have such small numbers
MAX_SHIFT_BITS = 28  # a column is scaled up by at most this in one round
MIN_DIGITS = 9  # correct digits of standard errors; with fewer the result has a remark
PLAIN_TERM = re.compile(r"[^\W\d]\w*|`[^`]*`")


@dataclass(frozen=True)
class Coordinates:
    """Columns by name and term, the combination that is asked for (a row of T), and the powers of two that divide them.

    A constant without a coefficient, which is only subtracted from others, has the name "".
    """

    domain: Schema
    names: tuple[str, ...]
    terms: tuple[str, ...]
    T: Matrix
    scales: tuple[int, ...]
    squares: Vector | None = None  # of the columns themselves, from the first answer

    @classmethod
    def of(cls, domain: Schema, names: Sequence[str], terms: Sequence[str]) -> Coordinates:
        """The columns as they are, within -1 and 1 by their public bounds."""
        scales = tuple(exponent(domain, term) for term in terms)
        return cls(domain, tuple(names), tuple(terms), identity(len(terms)), scales)

    @cached_property
    def expressions(self) -> tuple[str, ...]:
        """The expressions that are asked for."""
        texts = [self._expression(row, j) for j, row in enumerate(self.T)]
        assert all(text is not None for text in texts)
        return tuple(text for text in texts if text is not None)

    def _expression(self, row: Vector, j: int) -> str | None:
        """Row j of T as an expression; None if a factor has no exact decimal."""
        out = self.terms[j]
        others = [(k, v) for k, v in enumerate(row) if v and k != j]
        if others:
            out = _bracketed(out)
        for k, v in others:
            number = _number_text(abs(v))
            if number is None:
                return None
            out += f" {'-+'[v > 0]} " + (number if self.terms[k] == "1" else f"{number} * {_bracketed(self.terms[k])}")
        return out

    def _readable(self, row: Vector, j: int) -> bool:
        text = self._expression(row, j)
        try:
            return text is not None and bool(bounds_of(self.domain, text))
        except InvalidParameter:  # too long, or of too many digits
            return False

    @property
    def _order(self) -> list[int]:
        """The constant first: others are taken minus their means, and it stays as it is."""
        return sorted(range(len(self.terms)), key=lambda j: self.terms[j] != "1")

    # -- improving

    def improved(self, gram: Matrix, n: int) -> Coordinates | None:
        """Better coordinates, from the sums of products in these; None if floats can tell these columns apart.

        Columns that depend on one another are refused by name, and so is one that is 0 everywhere.
        """
        p = len(self.terms)
        raw = [gram[j][j] * Fraction(4) ** k for j, k in enumerate(self.scales)]
        apart = tuple(any(v for k, v in enumerate(row) if k != j) for j, row in enumerate(self.T))
        squares = tuple(self.squares[j] if self.squares and apart[j] else raw[j] for j in range(p))
        # Gram-Schmidt, rounded to 192 bits: exact fractions would grow with every column.
        m = [list(row) for row in gram]
        combos: list[dict[int, Fraction]] = [{j: Fraction(1)} for j in range(p)]
        T, scales, kept = list(self.T), list(self.scales), list[int]()
        for j in self._order:
            square = gram[j][j]
            if square <= SMALL_SQUARE * n and self._may_hide(j):
                scales[j] -= min(MAX_SHIFT_BITS, -_half_log(square / n)) if square else MAX_SHIFT_BITS
                continue
            if not square and not apart[j]:
                self._refuse_empty(j)
            if not square or raw[j] <= DEPENDENT * squares[j]:
                self._refuse_dependent(j, dict(enumerate(self.T[j])), squares)
            for k in kept:
                factor = rounded(m[j][k] / m[k][k], 192)
                if factor:
                    m[j] = [rounded(a - factor * b, 192) for a, b in zip(m[j], m[k], strict=True)]
                    for i, v in combos[k].items():
                        combos[j][i] = combos[j].get(i, Fraction(0)) - factor * v
            left = m[j][j] / square
            if left > ROUNDING:
                kept.append(j)
            if left >= SMALL_REST:
                continue
            # The full combination may have too many digits for a question; then only the mean is subtracted.
            for combo in (combos[j], self._less_mean(gram, j)):
                rest = max(_square(combo, gram) / square, ROUNDING) * raw[j]
                better = self._rounded(self._combined(combo, j), j, rest, squares)
                if better is not None:
                    break
            if better is not None and better != self.T[j]:
                T[j], scales[j] = better, _half_log(rest / n)
            elif left <= ROUNDING:
                self._refuse_dependent(j, dict(enumerate(self._combined(combos[j], j))), squares)
        if (tuple(T), tuple(scales)) == (self.T, self.scales):
            return None
        return replace(self, T=tuple(T), scales=tuple(scales), squares=squares)

    def _may_hide(self, j: int) -> bool:
        """Whether numbers of this column may be too small for the grid of sums."""
        return bounds_of(self.domain, self.expressions[j])[2] < FINE_STEP * Fraction(2) ** self.scales[j]

    def _combined(self, combo: Mapping[int, Fraction], j: int) -> Vector:
        """What is left of column j, as a combination of the columns themselves."""
        out = [Fraction(0)] * len(self.terms)
        for i, v in combo.items():
            by = v * Fraction(2) ** (self.scales[j] - self.scales[i])
            out = [a + by * b for a, b in zip(out, self.T[i], strict=True)]
        return tuple(out)

    def _rounded(self, exact: Vector, j: int, rest: Fraction, squares: Vector) -> Vector | None:
        """The row in decimals so short that rounding adds 2^-8 to what is left; None if too long for a question."""
        fine = rest / (1 << 16) / len(exact) ** 2
        row = tuple(v if k == j or not v else _to_decimal(v, fine / squares[k]) for k, v in enumerate(exact))
        return row if self._readable(row, j) else None

    def _less_mean(self, gram: Matrix, j: int) -> dict[int, Fraction]:
        one = next((k for k, term in enumerate(self.terms) if term == "1"), j)
        return {j: Fraction(1)} if one == j else {j: Fraction(1), one: -rounded(gram[j][one] / gram[one][one], 192)}

    # -- back to the units of the columns

    def from_units(self, b: Sequence[Fraction]) -> Vector:
        """c with b = T' D c, rounded: coefficients in these coordinates."""
        c = [row[0] for row in solve(transpose(self.T), [[v] for v in b])]
        return tuple(rounded(v * Fraction(2) ** k) for v, k in zip(c, self.scales, strict=True))

    def to_units(self, c: Vector, covariance: Matrix, units: Sequence[Fraction] = ()) -> tuple[Vector, Matrix]:
        """b and its covariance, from those in these coordinates. units: factors of further parameters."""
        D = [*(Fraction(2) ** -k for k in self.scales), *units]
        b = tuple(v * d for v, d in zip(c, D, strict=True))
        cov: Matrix = tuple(
            tuple(v * d * e for v, e in zip(row, D, strict=True)) for row, d in zip(covariance, D, strict=True)
        )
        p, more = len(self.terms), len(units)
        if identity(p) == self.T:
            return b, cov
        T = (*((*row, *(Fraction(0),) * more) for row in self.T), *identity(p + more)[p:])
        return times(transpose(T), b), matmul(matmul(transpose(T), cov), T)

    def largest_moves(self, step: Sequence[Fraction]) -> list[str]:
        """The columns that a step moves most, relative to their ranges; without the constant."""
        moves = {}
        for name, text, d, k in zip(self.names, self.expressions, step, self.scales, strict=False):
            low, high, _ = bounds_of(self.domain, text)
            if high > low:
                moves[name] = abs(d) * min((high - low) / Fraction(2) ** k, Fraction(4))
        largest = max(moves.values(), default=Fraction(0))
        return [name for name, move in moves.items() if 8 * move >= largest]

    # -- refusals

    def _refuse_empty(self, j: int) -> None:
        kind, why = (
            (EmptyCategory, Phrase("no party has a row with this label"))
            if is_label(self, self.terms[j])
            else (Collinear, Phrase("it is 0 everywhere"))
        )
        hint = Phrase("leave it out of the formula, or join labels")
        raise kind("column {name!r}: {why}.", hint=hint, columns=[self.names[j]], name=self.names[j], why=why)

    def _refuse_dependent(self, j: int, combo: Mapping[int, Fraction], squares: Vector) -> None:
        # Name only columns whose share is more than rounding.
        small = Fraction(1, 1 << 30)
        shares = [k for k, v in combo.items() if k != j and v * v * squares[k] > small * squares[j]]
        others = [k for k in shares if self.names[k]]
        listed = ", ".join(repr(self.names[k]) for k in others) or "0"
        raise Collinear(
            "column {name!r} is a combination of others: {listed}.",
            hint="leave one of them out of the formula; floats cannot tell apart what differs by less than 2^-44",
            columns=[self.names[j], *(self.names[k] for k in others)],
            name=self.names[j],
            listed=shorten(listed, 300),
        )


def lost_digits(information: Matrix) -> str | None:
    """A remark, if rounding of rows, 2^-53 times cond(Z)^2, leaves standard errors fewer than nine digits."""
    lengths = [root(max(row[j], 0)) or 1.0 for j, row in enumerate(information)]
    ends = np.linalg.eigvalsh(to_floats(information) / np.outer(lengths, lengths))
    digits = int(max(-np.log10(2.0**-53 * ends[-1] / max(ends[0], 1e-300)), 0.0))
    if digits >= MIN_DIGITS:
        return None
    return Phrase(
        "some columns are nearly a combination of others: about {digits} digits of the standard errors hold, since "
        "rows are rounded to floats",
        digits=digits,
    )


def _square(combo: Mapping[int, Fraction], gram: Matrix) -> Fraction:
    """The sum of squares of a combination."""
    return sum((a * b * gram[i][k] for i, a in combo.items() for k, b in combo.items()), Fraction(0))


def _bracketed(term: str) -> str:
    return term if PLAIN_TERM.fullmatch(term) else f"({term})"


def _number_text(v: Fraction) -> str | None:
    """A positive decimal in the grammar of expressions, or None."""
    text = decimal_text(v)
    if text is None or NUMBER.fullmatch(text):
        return text
    whole, _, places = text.partition(".")
    digits = (whole + places).lstrip("0")
    short = digits.rstrip("0")
    text = f"{short}e{len(digits) - len(short) - len(places)}"
    return text if NUMBER.fullmatch(text) else None


def _check_possible(square: Fraction) -> None:
    """Refuse impossible totals. They come from a coordinator, and must not cause an endless search."""
    if square <= 0:
        raise FitFailed("no rows can have these totals: a sum of squares is not positive.")


def _to_decimal(v: Fraction, square: Fraction) -> Fraction:
    """v rounded to a multiple of the largest power of ten whose square is at most `square`."""
    _check_possible(square)
    e = (square.numerator.bit_length() - square.denominator.bit_length()) * 3 // 20 + 2  # 10^(2 e) > square
    while Fraction(100) ** e > square:
        e -= 1
    return round(v / Fraction(10) ** e) * Fraction(10) ** e


def _half_log(v: Fraction) -> int:
    """The smallest k with v <= 4^k."""
    _check_possible(v)
    k = (v.numerator.bit_length() - v.denominator.bit_length() - 1) // 2
    while Fraction(4) ** k < v:
        k += 1
    return k
