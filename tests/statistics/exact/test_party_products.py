"""What parties make of their own sums: products less their means, and squares of their scores."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.catalogue import persisted_name
from murmure.certify.checks.assertions import CheckFailed
from murmure.certify.checks.statistics import check_statistic
from murmure.core.errors import InvalidParameter, OutsideDomain, PlanRefused
from murmure.core.random import Random
from murmure.core.types import Total
from murmure.plan.codec import part_from_dict, part_to_dict
from murmure.plan.plan import Plan
from murmure.statistics.exact.function_sums import FunctionSums
from murmure.statistics.exact.party_products import PartyOuterProducts, WithinPartyProducts
from murmure.statistics.expressions.row_functions import Residuals

SCHEMA = mu.Schema({"y": mu.Integers(-50, 50), "x": mu.Integers(10**9, 10**9 + 7), "ward": mu.Categories(["A", "B"])})
FACTORS: dict[str, Any] = {
    "y": lambda y, x, w: Fraction(y - 50),
    "x / 3": lambda y, x, w: Fraction(x + 10**9, 3),
    "(ward == 'B')": lambda y, x, w: Fraction(w == 1),
    "(ward == 'A') * y": lambda y, x, w: Fraction(w == 0) * (y - 50),
}


def parties(count: int = 4) -> list[tuple[Any, ...]]:
    out = []
    for k in range(count):
        n = 7 + 31 * k
        words = Random.seeded(10 + k).words(3 * n).reshape(3, n)
        out.append(tuple((line % np.uint64(s)).astype(np.int64) for line, s in zip(words, (101, 8, 2), strict=True)))
    return out


def of_all(asked: Any, tables: list[tuple[Any, ...]]) -> Total:
    totals = [asked.party_contribution(Total(len(x[0]), asked.tally(x))) for x in tables]
    out = totals[0]
    for total in totals[1:]:
        out = out + total
    return out


def test_products_within_parties_are_those_of_fractions() -> None:
    """To 2**-32 of the unit for each party, where means have long denominators and numbers are far from 0."""
    asked = WithinPartyProducts(SCHEMA, tuple(FACTORS))
    total = of_all(asked, parties())
    found = asked.interpret_exact(total.sum, total.n)

    for a, f in FACTORS.items():
        for b, g in FACTORS.items():
            exact = Fraction(0)
            for x in parties():
                rows = list(zip(*(column.tolist() for column in x), strict=True))
                left, right = [f(*row) for row in rows], [g(*row) for row in rows]
                means = sum(left) / len(rows), sum(right) / len(rows)
                exact += sum((v - means[0]) * (w - means[1]) for v, w in zip(left, right, strict=True))
            assert abs(found.at(a, b) - exact) <= Fraction(len(parties()), 2**33)
    assert all((9 * 2**32 * v).denominator == 1 for line in found.matrix for v in line)  # no finer than that
    assert found.n == total.n == sum(len(x[0]) for x in parties())
    for x in parties():  # what the encoder leaves room for
        part = asked.party_contribution(Total(len(x[0]), asked.tally(x)))
        assert max(abs(v) for v in part.sum) <= len(x[0]) * asked.largest


@pytest.mark.parametrize("combination", [(1, 0, 0, 0), (0, 1, 0, 0), (1, -2, Fraction(1, 3), 5)])
def test_rounding_moves_a_square_by_half_a_step_of_every_product_at_most(combination: Any) -> None:
    """b'Wb is a sum over pairs of factors; each party rounds every product of two to the nearest step."""
    asked, b = WithinPartyProducts(SCHEMA, tuple(FACTORS)), [Fraction(v) for v in combination]
    pairs = list(itertools.combinations_with_replacement(range(4), 2))
    steps = dict(zip(pairs, asked.units[:-1], strict=True))
    most = sum(abs(b[i] * b[j]) * steps[min(i, j), max(i, j)] / 2 for i in range(4) for j in range(4))

    assert asked.rounding(b, 1) == most and asked.rounding(b, 7) == 7 * most


def test_labels_that_never_meet_still_vary_together_within_a_party() -> None:
    """Their product is 0 in every row, and that of their deviations is not."""
    asked = WithinPartyProducts(SCHEMA, ("(ward == 'A')", "(ward == 'B')"))
    x = (np.array([0, 0, 1, 1, 1]),)
    found = asked.interpret_exact(asked.party_contribution(Total(5, asked.tally(x))).sum, 5)

    assert abs(found.at("(ward == 'A')", "(ward == 'B')") + Fraction(6, 5)) <= Fraction(1, 2**33)


def test_a_party_without_rows_adds_nothing() -> None:
    asked = WithinPartyProducts(SCHEMA, ("y",))
    part = asked.party_contribution(Total(0, np.zeros(asked.raw_width, object)))

    assert part.n == 0 and part.sum.tolist() == [0, 0]  # nor does it count as a party


def scattered(rows: int = 1000) -> PartyOuterProducts:
    return PartyOuterProducts(FunctionSums(SCHEMA, "residuals", ("y", "1", "y > 3"), ("1/3", "0.7"), ("scores",)), rows)


@pytest.mark.parametrize("point", [62, 124, 10])
def test_products_of_scores_are_rounded_at_the_party(point: int) -> None:
    """The sum over parties of u u', u whole numbers of 2**-62: no finer than is said, since exactness tells more."""
    asked = replace(scattered(), point=point)
    found = asked.interpret_exact(of_all(asked, [x[:1] for x in parties()]).sum, 500)
    u = [[int(v) for v in asked.of.tally(x[:1])] for x in parties()]

    for i in range(2):
        for j in range(2):
            rounded = sum(math.floor(Fraction(v[i] * v[j], 2 ** (124 - point)) + Fraction(1, 2)) for v in u)
            assert found.matrix[i][j] == Fraction(rounded, 2**point)
    assert asked.largest * asked.rows == (asked.rows * 2**62) ** 2 << point
    assert found.parties == len(parties())
    assert asked.raw_width == 3 and asked.width == 5  # the last count parties, and rows that were cut


def test_a_row_that_is_cut_fails_for_all_alike() -> None:
    """The party that holds it sends a vector as any other; the sum over all says how many there are."""
    asked = PartyOuterProducts(FunctionSums(SCHEMA, "residuals", ("y", "1", "y > 3"), ("0", "1e30"), ("scores",)), 1000)
    quiet, loud = (asked.party_contribution(Total(2, asked.tally((np.array(y) + 50,)))) for y in ([1, 2], [1, 5]))

    assert quiet.sum[-1] == 0 and loud.sum[-1] == 1
    assert asked.interpret_exact(quiet.sum, 2).parties == 1
    with pytest.raises(OutsideDomain, match=r"^residuals: 1 row adds more than 2\*\*62"):
        asked.interpret_exact((quiet + loud).sum, 4)


@pytest.mark.parametrize("asked", [WithinPartyProducts(SCHEMA, ("y", "x")), scattered()], ids=["Within", "Scattered"])
def test_few_honest_parties_are_refused(asked: Any) -> None:
    """Of two the parts could be solved for, of three all but an angle."""
    for parties, colluders, fine in ((3, 1, False), (4, 1, False), (5, 1, True), (6, 3, False), (7, 3, True)):
        masks = mu.PairwiseMasks(parties, dropouts=0, colluders=colluders, rows=1000)
        if fine:
            assert Plan(asked, parties=masks).statistic.reveals
            continue
        with pytest.raises(PlanRefused, match="at least 4 are needed"):
            Plan(asked, parties=masks)


def test_a_party_with_more_rows_than_agreed_is_refused() -> None:
    asked = scattered(rows=5)

    with pytest.raises(InvalidParameter, match="has 7 rows"):
        asked.party_contribution(Total(7, asked.tally(parties()[0][:1])))


@pytest.mark.parametrize("asked", [WithinPartyProducts(SCHEMA, ("y", "x")), scattered()], ids=["Within", "Scattered"])
def test_they_travel_and_take_no_noise(asked: Any) -> None:
    """JSON gives the same question back, and a curator refuses it."""
    assert part_from_dict(part_to_dict(asked), {persisted_name(asked): ""}) == asked
    assert asked.wide and not hasattr(asked, "blocks")
    with pytest.raises(PlanRefused, match="cannot protect"):
        Plan(asked, curator=mu.DiscreteLaplace(1.0))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: WithinPartyProducts(SCHEMA, ("y", "1")), "the same in every row"),
        (lambda: WithinPartyProducts(SCHEMA, ("y",), "x"), "must be None"),  # type: ignore[arg-type]
        (lambda: WithinPartyProducts(SCHEMA, ()), "tuple of expressions"),
        (lambda: scattered(0), "from 1 to"),
        (lambda: replace(scattered(), point=125), "from 0 to 124"),
        (lambda: replace(scattered(), point=True), "from 0 to 124"),
        (lambda: PartyOuterProducts(mu.Count(SCHEMA["y"]), 5), "must be an Evaluated"),  # type: ignore[arg-type]
    ],
)
def test_what_makes_no_sense_is_refused(make: Any, said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        make()


def test_the_checks_reject_mutants() -> None:
    """Means of nobody in particular, sums of too many figures, and floats among whole numbers: each is found."""

    class NoMeans(WithinPartyProducts):
        def party_contribution(self, total: Total) -> Total:
            return super().party_contribution(Total(total.n + 1, total.sum))

    class AllFigures(WithinPartyProducts):
        def party_contribution(self, total: Total) -> Total:
            return total

    class Floating(WithinPartyProducts):
        def lift(self, x: Any) -> Any:
            return super().lift(x) * 1.0

    check_statistic(WithinPartyProducts(SCHEMA, ("y", "x")))
    for mutant, said in (
        (NoMeans, "without noise it gives"),
        (AllFigures, "shape \\(width,\\)"),
        (Floating, "whole numbers"),
    ):
        with pytest.raises(CheckFailed, match=said):
            check_statistic(mutant(SCHEMA, ("y", "x")))


def test_a_function_that_looks_at_other_rows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row's value must be its own: cut otherwise, the sum would be another."""
    asked = FunctionSums(SCHEMA, "residuals", ("y", "1", "x"), ("1", "0"), ("scores",))
    check_statistic(asked)
    own = Residuals.values
    monkeypatch.setattr(Residuals, "values", lambda self, x, at, s: own(self, x, at, s) + x[0].mean())

    with pytest.raises(CheckFailed, match="tallies of two batches"):
        check_statistic(asked)
