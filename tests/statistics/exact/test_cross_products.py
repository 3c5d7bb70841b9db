"""Sums of products are exact whatever their size, each is summed once, and noise gets factors on a few bits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.certify.checks.assertions import CheckFailed
from murmure.certify.checks.sensitivity import check_protected, some_rows
from murmure.certify.checks.statistics import check_statistic
from murmure.core.blocks import NoisySum
from murmure.core.domain import Decimals
from murmure.core.errors import InvalidParameter
from murmure.core.random import Random
from murmure.plan.codec import part_from_dict, part_to_dict
from murmure.plan.plan import Plan
from murmure.statistics.exact.cross_products import CrossProducts
from murmure.statistics.expressions import exact_summation
from murmure.statistics.expressions.terms import Terms, nearest

SCHEMA = mu.Schema(
    {
        "age": mu.Integers(0, 120),
        "pay": Decimals("-1000000.5", "9000000.25", 9),
        "dose": mu.Interval(0.5, 2.5, cells=50),
        "ward": mu.Categories(["A", "B", "C"]),
        "unused": mu.Integers(0, 9),
    }
)


def some_codes(asked: Any, n: int = 300, seed: int = 1) -> tuple[Any, ...]:
    sizes = [asked.domain[name].size for name in asked.domain.private]
    words = Random.seeded(seed).words(n * len(sizes)).reshape(len(sizes), n)
    return tuple((line % np.uint64(size)).astype(np.int64) for line, size in zip(words, sizes, strict=True))


def values_of(schema: Any, x: tuple[Any, ...]) -> list[dict[str, Any]]:
    """The rows, as Fractions and labels."""
    first = {"age": Fraction(0), "pay": Fraction("-1000000.5"), "dose": Fraction(1, 2) + Fraction(1, 50)}
    step = {"age": Fraction(1), "pay": Fraction(1, 10**9), "dose": Fraction(2, 50)}
    out = []
    for codes in zip(*(column.tolist() for column in x), strict=True):
        row: dict[str, Any] = {}
        for name, code in zip(schema.private, codes, strict=True):
            row[name] = "ABC"[code] if name == "ward" else first[name] + step[name] * code
        out.append(row)
    return out


FACTORS: dict[str, Any] = {
    "1": lambda r: Fraction(1),
    "age": lambda r: r["age"],
    "pay": lambda r: r["pay"],
    "dose": lambda r: r["dose"],
    "(ward == 'B')": lambda r: Fraction(r["ward"] == "B"),
    "(ward == 'C')": lambda r: Fraction(r["ward"] == "C"),
    "(ward == 'B') * pay": lambda r: Fraction(r["ward"] == "B") * r["pay"],
    "pay ** 10": lambda r: r["pay"] ** 10,
    "-age / 3": lambda r: -r["age"] / 3,
    "age > 50": lambda r: Fraction(r["age"] > 50),
}


@pytest.mark.parametrize("weight", [None, "dose", "age"])
def test_all_products_are_those_of_fractions(weight: str | None) -> None:
    """On rows of 53 bits, tenth powers, labels and cells, with and without weights, to the last digit."""
    asked = CrossProducts(SCHEMA, tuple(FACTORS), weight)
    x = some_codes(asked)
    rows = values_of(asked.domain, x)
    found = asked.interpret_exact(asked.tally(x), 300)

    for a, f in FACTORS.items():
        for b, g in FACTORS.items():
            weights = [Fraction(1) if weight is None else row[weight] for row in rows]
            wanted = sum((w * f(row) * g(row) for w, row in zip(weights, rows, strict=True)), Fraction(0))
            assert found.at(a, b) == wanted, (a, b)
    assert found.n == 300 and found.noise is None and asked.wide
    assert found.bits == max(abs(int(v)).bit_length() for v in asked.tally(x)) > 1000
    assert found.grid == ("dose",)


def test_a_plan_runs_it_and_its_json_comes_back() -> None:
    """As any statistic: through `run`, and written as data."""
    asked = CrossProducts(SCHEMA, ("1", "age", "(ward == 'B')"), "age + 1")
    found: Any = mu.run(Plan(asked), {"age": [1, 2, 3], "ward": ["A", "B", "B"]}).estimate

    assert found.matrix == ((9, 20, 7), (20, 50, 18), (7, 18, 7))
    assert part_from_dict(part_to_dict(asked), {"CrossProducts": ""}) == asked
    assert "unused" not in asked.domain.private


def test_equal_products_are_summed_once_and_those_that_never_meet_not_at_all() -> None:
    """An indicator squared is itself, x (c x) is (c x)^2, and two labels of one column give 0 without a sum."""
    asked = CrossProducts(SCHEMA, ("1", "age", "(ward == 'B')", "(ward == 'C')", "(ward == 'B') * age"))
    number = dict(zip(asked.factors, range(5), strict=True))

    def figure(a: str, b: str) -> int:
        return asked.figure[number[a]][number[b]]

    assert figure("(ward == 'B')", "(ward == 'B')") == figure("1", "(ward == 'B')")
    assert figure("(ward == 'B') * age", "(ward == 'B') * age") == figure("age", "(ward == 'B') * age")
    assert figure("(ward == 'B')", "age") == figure("1", "(ward == 'B') * age")
    assert figure("(ward == 'B')", "(ward == 'C')") == figure("(ward == 'C')", "(ward == 'B') * age") == -1
    # 1, age, B, C, B age, age^2, C age, B age^2: eight of fifteen
    assert asked.width == 8 == len(set(asked.labels))
    assert asked.interpret_exact(asked.tally(some_codes(asked)), 300).at("(ward == 'B')", "(ward == 'C')") == 0


def test_a_row_with_an_unknown_label_adds_to_nothing_that_reads_it() -> None:
    """Under a curator: products without that column count the row."""
    asked = CrossProducts(SCHEMA, ("1", "age", "(ward != 'B')"))
    x = asked.encode_lenient({"age": [10, 20], "ward": ["A", "Z"]})
    found = asked.interpret_exact(asked.tally(x), 2)

    assert found.matrix == ((2, 30, 1), (30, 500, 10), (1, 10, 1))
    assert (asked.lift(x).sum(axis=0) == asked.tally(x)).all()


@pytest.mark.parametrize("bits", [1, 3, 14, 30])
def test_coarse_factors_are_the_nearest_multiples(bits: int) -> None:
    """Each is within half a step of its bound / 2**bits, conditions and small numbers are exact, bounds hold."""
    asked = CrossProducts(SCHEMA, ("1", "pay", "age", "(ward == 'B') * pay", "pay ** 3"), bits=bits)
    x = some_codes(asked)
    rows = values_of(asked.domain, x)
    lifted = asked.lift(x)

    for k, factor in enumerate(asked.factors):
        column, term = lifted[:, asked.figure[0][k]], asked.figures[asked.figure[0][k]]
        exact = [{**FACTORS, "pay ** 3": lambda r: r["pay"] ** 3}[factor](row) for row in rows]
        most = {"1": 1, "pay": Fraction("9000000.25"), "age": 120}.get(factor, Fraction("9000000.25"))
        step = Fraction(most ** (3 if factor == "pay ** 3" else 1), 1 << bits)
        if factor == "1" or (factor == "age" and bits > 6):
            assert [int(v) * term.unit for v in column] == exact
        else:
            assert term.unit == step
            assert all(abs(int(v) * term.unit - w) <= step / 2 for v, w in zip(column, exact, strict=True))
    assert asked.largest <= 1 << 2 * bits
    # c pay is c times the rounded pay, so it squares to what it gives with pay
    assert asked.figure[1][3] == asked.figure[3][3]


def test_rounding_in_words_is_that_of_whole_numbers() -> None:
    """Around halves and at the ends, for bounds from small to 2**60 and beyond: numpy and Python agree."""
    for most in (3, 1000, 2**31 - 1, 2**53 + 1, 2**60 - 1, 2**61 + 5):
        for steps in (2, 2**14, 2**30):
            words = Random.seeded(most % 97).words(200) % np.uint64(2 * most + 1)
            v = np.array([int(w) - most for w in words] + [most, -most, 0, 1, -1], np.int64)
            halves = [(2 * k + 1) * most // (2 * steps) + d for k in range(9) for d in (-1, 0, 1)]
            near = np.array([min(half, most) for half in halves], np.int64)
            for column in (v, near, -near):
                assert nearest(column, steps, most).tolist() == [nearest(int(w), steps, most) for w in column]
    assert [nearest(v, 2, 4) for v in (-4, -3, -1, 1, 3, 4)] == [-2, -1, 0, 1, 2, 2]  # halves go up


def test_a_weight_is_rounded_too() -> None:
    """Two factors and a weight stay within 2**(2 bits)."""
    for bits in (2, 5, 14):
        asked = CrossProducts(SCHEMA, ("1", "pay", "dose"), "age * dose", bits)
        assert asked.largest <= 1 << 2 * bits
        check_statistic(asked)


def test_noise_is_read_in_every_entry() -> None:
    """Entries that are one sum have one noise, in squared units; an entry that is no sum has none."""
    asked = CrossProducts(SCHEMA, ("1", "dose", "(ward == 'B')", "(ward == 'C')"), bits=6)
    bound = mu.DiscreteLaplace(1.0).bind(asked.blocks, "add/remove", 1)
    total = asked.tally(some_codes(asked))
    found = asked.interpret(NoisySum(asked.blocks, total, tuple(bound.laws)))

    assert found.noise is not None and found.n is None and found.noisy
    assert found.noise[2][3] == 0 and found.noise[2][2] == found.noise[0][2] > 0
    k = asked.figure[0][1]
    assert found.noise[0][1] == pytest.approx(bound.laws[k].variance * float(asked.units[k]) ** 2)
    assert found.matrix == asked.interpret_exact(total, 300).matrix


def test_it_runs_under_a_curator_once_it_is_coarse() -> None:
    """Exact products of 53 bits take no noise; on 14 bits they do."""
    rows = {"pay": [1.5, -2.25], "age": [3, 4]}
    with pytest.raises(mu.MurmureError, match="at most 15 digits"):  # which a curator's readers do not tell apart
        Plan(CrossProducts(SCHEMA, ("1", "pay", "age")).coarse(14), curator=mu.DiscreteLaplace(1.0))
    short = mu.Schema({"pay": Decimals("-1000000.5", "9000000.25", 7), "age": mu.Integers(0, 120)})
    asked = CrossProducts(short, ("1", "pay", "age"))

    with pytest.raises(mu.MurmureError, match="2\\*\\*63"):
        Plan(asked, curator=mu.DiscreteLaplace(1.0))
    found: Any = mu.run(Plan(asked.coarse(14), curator=mu.DiscreteLaplace(1.0)), rows).estimate
    assert found.noisy


WARDS = ("1", "age", "(ward == 'B')", "(ward == 'C')", "(ward == 'B') * age", "(ward == 'C') * age", "count")
CENTRED: list[tuple[tuple[str, ...], str | None]] = [
    (WARDS, None),
    (WARDS, "count"),
    (WARDS[2:4], None),
    (("count", "1", "age ** 2", "(ward == 'B')", "age", "age * count", "age > 50", "(ward == 'B') * (age > 50)"), None),
    (("1", "(ward != 'B')", "(ward != 'B') * age", "age + 3 * (ward == 'C')", "-age / 3", "2 * age", "7"), "count + 1"),
    (("(ward == 'A')", "(ward == 'B') * age", "(ward == 'A') * age", "age * count"), None),
    (("age ** 3", "age", "1", "ward == 'B'", "(sex == 1) * (ward == 'B')", "sex == 1", "(sex == 1) * age"), None),
]


@pytest.mark.parametrize(("factors", "weight"), CENTRED)
def test_factors_less_their_middles_give_the_same_matrix(factors: tuple[str, ...], weight: str | None) -> None:
    """Small whole numbers and conditions, and rows whose label is not listed: to the last digit, and bounds hold."""
    schema = mu.Schema(
        {
            "age": mu.Integers(18, 77),
            "count": mu.Integers(0, 5),
            "ward": mu.Categories(["A", "B", "C"]),
            "sex": mu.Categories(2),
        }
    )
    exact = CrossProducts(schema, factors, weight)
    asked = CrossProducts(schema, factors, weight).coarse(30)
    x = some_rows(exact.domain, 1)

    assert (
        asked.interpret_exact(asked.tally(x), len(x[0])).matrix
        == exact.interpret_exact(exact.tally(x), len(x[0])).matrix
    )
    assert asked.width == exact.width
    for bits in (3, 14):
        assert asked.coarse(bits).largest <= 1 << 2 * bits
        check_statistic(asked.coarse(bits))
        check_protected(asked.coarse(bits), tight=False)


def test_bounds_are_those_of_half_ranges() -> None:
    """[18, 77] less 47.5 is within 29.5; a square is taken less half of its bound too; conditions are -1/2 or 1/2."""
    schema = mu.Schema({"age": mu.Integers(18, 77), "ward": mu.Categories(["A", "B"]), "stay": mu.Integers(-5, 5)})
    asked = CrossProducts(schema, ("1", "age", "(ward == 'B')", "stay", "stay ** 2")).coarse(14)
    bounds = dict(zip(asked.labels, asked.bounds, strict=True))

    assert bounds["(age - 95/2)"] == (Fraction(-59, 2), Fraction(59, 2))
    assert bounds["(age - 95/2) * (age - 95/2) - 3481/8"] == (-(Fraction(59, 2) ** 2) / 2, Fraction(59, 2) ** 2 / 2)
    assert bounds["(age - 95/2) * ((ward == 'B') - 1/2)"] == (Fraction(-59, 4), Fraction(59, 4))
    assert bounds["stay"] == (Fraction(-5), Fraction(5))
    assert bounds["(stay ** 2 - 25/2)"] == (Fraction(-25, 2), Fraction(25, 2))
    assert asked.figure[3][3] == asked.figure[0][4]  # stay * stay is the sum of stay ** 2
    assert asked.in_words().endswith("stay, stay ** 2, each less a public middle")


def test_labels_that_never_meet_share_a_block() -> None:
    """Their sums cost together what one costs; exchanging a row for one with another label moves two of them."""
    asked = CrossProducts(SCHEMA, ("1", "(ward == 'A')", "(ward == 'B')", "(ward == 'C')", "age")).coarse(14)
    wide = {block.name: block for block in asked.blocks if block.width > 1}

    assert [block.width for block in wide.values()] == [3, 3]
    for block in wide.values():
        assert block.replace_l1 == 2 * block.l1 and (block.replace_l2 or 0) >= 2 * block.l2

    class OneMoves(CrossProducts):
        @property
        def blocks(self) -> Any:  # type: ignore[override]
            return tuple(replace(b, replace_l1=b.l1, replace_l2=b.l2) if b.width > 1 else b for b in super().blocks)

    class AllMeet(CrossProducts):
        @property
        def blocks(self) -> Any:  # type: ignore[override]
            first, second = super().blocks[:2]
            held = replace(first, width=first.width + second.width, l1=second.l1, l2=second.l2, replace_l1=None)
            return (replace(held, replace_l2=None), *super().blocks[2:])

    for mutant in (OneMoves, AllMeet):
        wrong = mutant(SCHEMA, asked.factors, None, 14, True)
        with pytest.raises(CheckFailed):
            check_protected(wrong, tight=False)


def test_entries_share_the_noises_of_the_figures_they_are_made_of() -> None:
    """2000 seeded draws of the noise: the covariance of all entries is that of their slopes, within 15 % of its size.

    A variance over so many Laplace draws is off by 5 %, so these are three deviations of ten: one set of seeds in 30.
    """
    asked = CrossProducts(SCHEMA, ("1", "age", "(ward == 'B')", "age ** 2")).coarse(10)
    bound = mu.DiscreteLaplace(1.0, sampler="exact").bind(asked.blocks, "add/remove", 1)
    total, rng = asked.tally(some_codes(asked)), Random.seeded(3)
    laws = [law for block, law in zip(asked.blocks, bound.laws, strict=True) for _ in range(block.width)]
    draws = [law.draw_noise(2000, rng) for law in laws]
    exact = asked.interpret_exact(total, 300)
    found = [asked.interpret(NoisySum(asked.blocks, total + row, tuple(bound.laws))) for row in np.stack(draws, axis=1)]
    upper = [(a, b) for a in range(4) for b in range(a, 4)]
    seen = np.array([[float(one.matrix[a][b] - exact.matrix[a][b]) for a, b in upper] for one in found])

    J = np.zeros((len(upper), asked.width))
    for row, (a, b) in zip(J, upper, strict=True):
        for k, c in found[0].slopes(a, b).items():
            row[k] = c
    wanted = J * found[0].variance() @ J.T
    size = np.sqrt(np.outer(np.diag(wanted), np.diag(wanted)))

    assert np.abs((seen.T @ seen / len(seen) - wanted) / size).max() < 0.15
    assert found[0].noise is not None
    assert np.diag(wanted) == pytest.approx([found[0].noise[a][b] for a, b in upper])
    assert np.abs(wanted / size - np.eye(len(upper))).max() > 0.5  # they do share


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: CrossProducts(SCHEMA, ("1", "age"), centred=True), "needs bits"),
        (lambda: CrossProducts(SCHEMA, ()), "must be a tuple of expressions"),
        (lambda: CrossProducts(SCHEMA, ("age", "age ")), "twice"),
        (lambda: CrossProducts(SCHEMA, ("0 * age",)), "is 0 in every row"),
        (lambda: CrossProducts(SCHEMA, ("age",), "pay"), "must not be negative"),
        (lambda: CrossProducts(SCHEMA, ("age",), bits=31), "from 1 to 30"),
        (lambda: CrossProducts(SCHEMA, ("age",), bits=True), "from 1 to 30"),
        (lambda: CrossProducts({}, ("age",)), "must be a Schema"),  # type: ignore[arg-type]
        (lambda: CrossProducts(SCHEMA, ("aeg",)), "aeg"),
    ],
)
def test_what_makes_no_sense_is_refused(make: Any, said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        make()


@pytest.mark.parametrize("rows", [1, 255, 256, 257, exact_summation.ROWS, exact_summation.ROWS + 1])
def test_the_largest_digits_of_both_signs_add_up(rows: int) -> None:
    """All rows at the bound, where digits are largest, in as many rows as are added at a time and around."""
    schema = mu.Schema({"a": Decimals(-(10**18) + 1, 10**18 - 1, 0), "b": mu.Integers(-(2**20), 2**20)})
    asked = CrossProducts(schema, ("1", "a", "b", "a * b"))
    for end in (0, -1):
        x = tuple(np.full(rows, schema[name].size - 1 if end else 0, np.int64) for name in "ab")
        a, b = (10**18 - 1, 2**20) if end else (1 - 10**18, -(2**20))
        found = asked.interpret_exact(asked.tally(x), rows)
        for left, v in zip(asked.factors, (1, a, b, a * b), strict=True):
            for right, w in zip(asked.factors, (1, a, b, a * b), strict=True):
                assert found.at(left, right) == rows * v * w


def test_products_are_one_term_however_they_are_written() -> None:
    terms = Terms(SCHEMA)
    c, d = terms.label("ward", 0), terms.label("ward", 1)
    x, y = terms.column("age"), terms.column("dose")
    cx = terms.multiply(c, x)

    assert terms.product([cx, cx]) == terms.product([c, x, x]) == terms.product([terms.power(x, 2), c])
    assert terms.product([cx, y]) == terms.product([y, x, c])
    assert terms.product([cx, terms.multiply(d, y)]) == terms.constant(Fraction(0))
    assert terms.power(c, 5) == c and terms.multiply(c, c) == c


def test_the_checks_reject_mutants() -> None:
    """A wrong pair, a bound that is too small, a digit that is lost: each is found."""

    class WrongPair(CrossProducts):
        def tally(self, x: Any) -> Any:
            out = super().tally(x)
            out[[1, 2]] = out[[2, 1]]
            return out

    class TooSmall(CrossProducts):
        @property
        def blocks(self) -> Any:  # type: ignore[override]
            return tuple(
                replace(b, l1=b.l1 - 1, l2=(b.l1 - 1) ** 2, replace_l1=None, replace_l2=None) if b.l1 > 1 else b
                for b in super().blocks
            )

    for mutant in (WrongPair, TooSmall):
        asked = mutant(SCHEMA, ("1", "age", "dose"))
        with pytest.raises(CheckFailed):
            check_statistic(asked)
            check_protected(asked, tight=False)
