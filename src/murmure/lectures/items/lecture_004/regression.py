"""Section 5: a regression from masked sums, its variance by the boxed formula, and what floats make of it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import murmure as mu
from murmure import econometrics
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.lectures import lecture_004 as lecture
from murmure.lectures import lecture_004_sums as sums
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves, Number, Paragraph, Table

TOP = 1_000  # columns hold whole numbers from 0 to TOP, and z = column / TOP is in [0, 1]
PER_PARTY = 60  # rows of a party
OFFSETS = tuple(10.0**k for k in range(9))
BEYOND = 1e9  # here rounding is larger than S^2 itself


def table(rng: Random, n: int, rows: int) -> dict[str, list[int]]:
    """n columns and an outcome, whole numbers from 0 to TOP."""
    words = (rng.words((n + 1) * rows) % np.uint64(TOP + 1)).astype(np.int64).reshape(n + 1, rows)
    columns = {f"z{j + 1}": words[j].tolist() for j in range(n)}
    return {**columns, "y": ((words[:n].sum(axis=0) + words[n]) // (n + 1)).tolist()}


def exact(work: Work, rng: Random, m: int, n: int) -> dict[str, Any]:
    """m parties, n columns and a constant: masked sums against all rows in one place, and the printed protocol."""
    rows = table(rng, n, m * PER_PARTY)
    schema = mu.Schema({name: mu.Integers(0, TOP) for name in rows})
    formula = "y ~ " + " + ".join(f"z{j + 1}" for j in range(n))
    parts = [{name: column[i::m] for name, column in rows.items()} for i in range(m)]
    apart = econometrics.ols(formula, parts, schema=schema, privacy=mu.Secure())
    together = econometrics.ols(formula, rows, schema=schema)
    same = all((getattr(apart, name) == getattr(together, name)).all() for name in ("params", "bse"))
    return {
        "same": bool(same and apart.scale == together.scale),
        "sums": (n + 2) * (n + 3) // 2,  # products of a constant, n columns and the outcome
        "float_error": printed_error(rng, rows, m, np.array(together.params, float)),
    }


def printed_error(rng: Random, rows: dict[str, list[int]], m: int, truth: Any) -> float:
    """The largest relative error of a coefficient where the products travel as printed: floats, scaled to [0, 1]."""
    v = np.stack([np.full(len(rows["y"]), TOP), *map(np.array, rows.values())]) / TOP
    per_party = np.stack([v[:, i::m] @ v[:, i::m].T / (PER_PARTY * 1.001) for i in range(m)])  # below 1
    masks = lecture.masks(rng, m, v.shape[0] ** 2)
    sent = lecture.shares(per_party.reshape(m, -1), masks)
    A = lecture.recovered(sent).reshape(len(v), len(v)) * (PER_PARTY * 1.001)
    beta = np.linalg.solve(A[:-1, :-1], A[:-1, -1])
    beta[0] *= TOP  # the constant was scaled too
    return float(np.max(np.abs(beta - truth) / np.abs(truth)))


def variance_formula(work: Work, rng: Random, offset: float) -> dict[str, float]:
    """S^2 by formula (4) in floats and in fractions, for y around `offset`: (relative error, sign)."""
    words = (rng.words(200) % np.uint64(1_000)).astype(np.int64).reshape(2, 100)
    rows = [(int(z), int(offset) + 3 * int(z) + int(e) % 7) for z, e in words.T]
    A = np.array(sums.products(rows), float)
    b = A[:2, 2]
    floats = (A[2, 2] - b @ np.linalg.solve(A[:2, :2], b)) / (len(rows) - 2)
    return {"floats": float(floats), "exact": float(residual_variance(sums.products(rows)))}


def below_zero(work: Work, rng: Random, offset: float, tables: int) -> int:
    """In how many tables S^2 by formula (4) in floats is negative."""
    return sum(variance_formula(work, rng, offset)["floats"] < 0 for _ in range(tables))


def residual_variance(G: list[list[int]]) -> Fraction:
    """(y'y - c' A^-1 c) / (m - n) in fractions, for a constant and one column."""
    (m, s, t), (_, q, c), (_, _, yy) = G
    determinant = m * q - s * s
    fitted = Fraction(t * t * q - 2 * s * t * c + m * c * c, determinant)
    return (yy - fitted) / (m - 2)


def measure(work: Work) -> Measured:
    grid = work.choose(
        ((3, 1),), ((3, 1), (5, 2), (5, 4), (10, 3), (20, 2)), ((3, 1), (5, 2), (5, 6), (10, 3), (40, 3))
    )
    found = work.cells(exact, [{"m": m, "n": n} for m, n in grid])
    offsets = OFFSETS[:: work.choose(4, 1, 1)]
    variances = work.cells(variance_formula, [{"offset": offset} for offset in offsets])
    relative = [abs(one["floats"] - one["exact"]) / one["exact"] for one in variances]
    tables = work.choose(5, 200, 1_000)
    negative = work.cells(below_zero, [{"offset": BEYOND, "tables": tables}])[0]
    same = sum(one["same"] for one in found)
    return Measured(
        Phrase(
            "Coefficients, standard errors and S^2 between parties equal those of all rows in one place, to the last "
            "bit, in {same} of {all} cases (up to {m} parties, {n} columns). With the printed protocol the "
            "coefficients are off by up to {float_error:.0e}. S^2 by the boxed formula is off by {worst:.0e} in floats "
            "where y is about {offset:.0e}, and exact in fractions.",
            same=same,
            all=len(found),
            m=max(m for m, _ in grid),
            n=max(n for _, n in grid),
            float_error=max(one["float_error"] for one in found),
            worst=relative[-1],
            offset=offsets[-1],
        ),
        {
            "offset": offsets,
            **{name: [one[name] for one in variances] for name in ("floats", "exact")},
            "off": relative,
        },
        (
            Curves(
                Phrase("S^2 by the boxed formula (4), when all y are moved by a constant"),
                (
                    Curve(Phrase("floats"), offsets, tuple(max(r, 1e-17) for r in relative)),
                    Curve(Phrase("one per cent"), (offsets[0], offsets[-1]), (0.01, 0.01)),
                ),
                Phrase("what is added to y"),
                Phrase("relative error of S^2"),
                log=True,
                log_x=True,
            ),
        ),
        Phrase(
            "The formulas are right, with two slips of the pen: y and epsilon have m entries, not n, and products are "
            "needed for k <= l, since k < l leaves out every square. The formula for S^2 subtracts two large numbers, "
            "which floats do not survive. The ring and fractions do."
        ),
        (
            Table(
                Phrase("Regressions between m parties, n columns and a constant"),
                (
                    Phrase("parties m"),
                    Phrase("columns n"),
                    Phrase("sums L"),
                    Phrase("masks, m (m - 1) L"),
                    Phrase("same to the last bit"),
                    Phrase("as printed: relative error"),
                ),
                tuple(
                    (
                        Number(m),
                        Number(n),
                        Number(one["sums"]),
                        Number(sums.mask_numbers(m, one["sums"])),
                        Phrase("yes") if one["same"] else Phrase("no"),
                        f"{one['float_error']:.0e}",
                    )
                    for (m, n), one in zip(grid, found, strict=True)
                ),
            ),
        ),
        (slips(work.rng("slips")), negative_variance(negative, tables, BEYOND)),
    )


def slips(rng: Random) -> Paragraph:
    """Products for k < l alone: the diagonal of Z'Z is missing, and what one solves is another system."""
    rows = table(rng, 2, 50)
    v = np.array(list(rows.values()), float) / TOP
    whole = v @ v.T
    strict = whole - np.diag(np.diag(whole))
    right, wrong = (np.linalg.solve(A[:2, :2], A[:2, 2]) for A in (whole, strict))
    return Paragraph(
        Phrase(
            "With products for k < l alone the squares are missing, and the coefficients of two columns come out as "
            "{a:.2f} and {b:.2f} instead of {c:.2f} and {d:.2f}; y'y, and with it S^2, is not there at all.",
            a=wrong[0],
            b=wrong[1],
            c=right[0],
            d=right[1],
        )
    )


def negative_variance(negative: int, tables: int, offset: float) -> Paragraph:
    return Paragraph(
        Phrase(
            "Where y is about {offset:.0e}, S^2 in floats comes out below zero in {negative} of {tables:,} tables like "
            "this one.",
            offset=offset,
            negative=negative,
            tables=tables,
        )
    )


ITEM = Item(
    Phrase("Linear regression between parties"),
    Phrase("5, a concrete example"),
    measure,
    claimed=Phrase("L = (n + 1)(n + 2) / 2 sums give the least-squares coefficients and S^2"),
    printed=Phrase("y and epsilon with n entries; products for k < l in the last line"),
    verdicts=(28,),
)
