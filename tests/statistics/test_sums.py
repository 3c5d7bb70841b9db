"""Sums of expressions are exact, whatever their size, and under noise one row moves them by what is said."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.certify.checks.assertions import CheckFailed
from murmure.certify.checks.sensitivity import check_protected
from murmure.core.blocks import NoisySum
from murmure.core.errors import InvalidParameter, NoUnbiasedEstimate, OutsideDomain, PlanRefused
from murmure.core.random import Random
from murmure.plan.codec import part_from_dict, part_to_dict
from murmure.statistics.expressions import digit_products, exact_summation

SCHEMA = mu.Schema(
    {
        "age": mu.Integers(0, 120),
        "stay": mu.Integers(-2, 90),
        "dose": mu.Interval(0.0, 2.5, cells=50),
        "smoker": mu.Categories(["no", "yes"]),
        "unused": mu.Integers(0, 9),
    }
)


def people(n: int = 500, seed: int = 1) -> dict[str, Any]:
    words = Random.seeded(seed).words(4 * n).reshape(4, n)
    return {
        "age": (words[0] % np.uint64(121)).astype(np.int64),
        "stay": (words[1] % np.uint64(93)).astype(np.int64) - 2,
        "dose": (words[2] % np.uint64(50)).astype(np.int64) / 20 + 0.025,
        "smoker": np.where(words[3] % np.uint64(2) == 0, "no", "yes"),
    }


def test_sums_in_the_clear_are_exact_fractions() -> None:
    """`run` gives the sums as Python's integers and fractions do, and says how many rows there were."""
    rows = people()
    found = mu.run(mu.Plan(mu.Sums(SCHEMA, ("age", "age * stay", "dose", "(smoker == 'yes') * stay"))), rows).estimate

    ages, stays = ([int(v) for v in rows[name]] for name in ("age", "stay"))
    doses = [Fraction(round(v * 40), 40) for v in rows["dose"]]
    assert found["age"] == sum(ages)
    assert found["age * stay"] == sum(a * s for a, s in zip(ages, stays, strict=True))
    assert found["dose"] == sum(doses)
    assert found["(smoker == 'yes') * stay"] == sum(
        s for s, smokes in zip(stays, rows["smoker"], strict=True) if smokes == "yes"
    )
    assert found.n == 500 and not found.noisy
    assert found.mean.tolist() == [float(v) for v in found.sums]


def test_columns_that_no_expression_reads_are_not_read() -> None:
    """The table needs no column `unused`, and none is named among what was public."""
    asked = mu.Sums(SCHEMA, ("age",))

    assert asked.domain.private == ("age",)
    assert mu.run(mu.Plan(asked), {"age": [1, 2]}).estimate["age"] == 3
    assert mu.Sums(SCHEMA, ("1",)).domain.private == ("age",)  # some column says how many rows there are


def test_a_value_outside_is_an_error_that_names_its_row() -> None:
    """In the clear nothing is clipped: the row is named, counted from the start of the table."""
    with pytest.raises(OutsideDomain, match="row 1 holds"):
        mu.run(mu.Plan(mu.Sums(SCHEMA, ("age",))), {"age": [1, 121]})


WIDE = mu.Schema({"g": mu.Integers(10**12, 10**12 + 10**6), "h": mu.Integers(-(2**40), -(2**40) + 9)})


def test_sums_beyond_a_machine_word_are_exact() -> None:
    """A tally that could pass 2**63 is one of Python's integers, and the release is exact to the last digit."""
    asked = mu.Sums(WIDE, ("g", "g * h", "g ** 2", "g ** 4", "h ** 3 - g"))
    rows = {"g": [10**12 + 17 * i for i in range(1000)], "h": [-(2**40) + i % 10 for i in range(1000)]}
    found = mu.run(mu.Plan(asked), rows).estimate
    g, h = rows["g"], rows["h"]

    assert asked.wide and asked.tally(asked.encode(rows)).dtype == object
    assert found["g"] == sum(g)
    assert found["g * h"] == sum(a * b for a, b in zip(g, h, strict=True))
    assert found["g ** 2"] == sum(a * a for a in g)
    assert found["g ** 4"] == sum(a**4 for a in g)
    assert found["h ** 3 - g"] == sum(b**3 - a for a, b in zip(g, h, strict=True))


def test_wide_sums_take_no_noise_of_a_curator() -> None:
    """Noise is drawn in int64: a plan whose sums may pass it is refused beforehand."""
    with pytest.raises(PlanRefused, match="2\\*\\*63"):
        mu.Plan(mu.Sums(WIDE, ("g * h",)), curator=mu.DiscreteLaplace(1.0))


@pytest.mark.parametrize("high", [2**19, 2**21, 2**22 - 1, 2**22, 2**22 + 1, 2**30, 2**31 - 2])
def test_products_are_exact_around_the_size_of_a_digit(high: int) -> None:
    """The largest values of both signs, in as many rows as are added at a time and one more."""
    schema = mu.Schema({"a": mu.Integers(high - 9, high), "b": mu.Integers(-high, 9 - high)})
    asked = mu.Sums(schema, ("a * a", "a * b", "b * b", "b"))
    n = exact_summation.ROWS + 1
    rows = {"a": np.full(n, high), "b": np.full(n, -high)}

    found = mu.run(mu.Plan(asked), rows).estimate.sums

    assert found == (n * high**2, -n * high**2, n * high**2, -n * high)


def test_sums_over_many_blocks_are_flushed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products that int64 could not add up over all blocks are handed to Python's integers in time."""
    flushed: list[int] = []

    class Noted(digit_products.DigitProducts):
        def _flush(self) -> None:
            flushed.append(self.rows)
            super()._flush()

    monkeypatch.setattr(exact_summation, "digit_products", lambda bounds, rows, block: Noted(bounds, block))
    monkeypatch.setattr(digit_products, "FLUSH", 16)
    monkeypatch.setattr(exact_summation, "ROWS", 8)
    asked = mu.Sums(SCHEMA, ("age * age", "age * stay", "stay"))
    x = asked.encode(people())

    assert asked.tally(x).tolist() == asked.lift(x).sum(axis=0).tolist()
    assert sum(flushed) == 500 and max(flushed) == 16


def test_few_products_of_many_factors_are_multiplied_one_by_one() -> None:
    """A product of each of 200 pairs of different columns needs no matrix of 400 x 400; the sums are the same."""
    schema = mu.Schema({f"x{i}": mu.Integers(0, 9) for i in range(400)})
    asked = mu.Sums(schema, tuple(f"x{2 * i} * x{2 * i + 1}" for i in range(200)))
    x = tuple((Random.seeded(i).words(50) % np.uint64(10)).astype(np.int64) for i in range(400))

    assert not asked._summation.factors
    assert asked.tally(x).tolist() == [int((x[2 * i] * x[2 * i + 1]).sum()) for i in range(200)]


def test_a_row_with_an_unknown_label_adds_nothing_to_what_reads_it() -> None:
    """Under a curator: its own terms are zero, also those that a negation would make one; others count as ever."""
    asked = mu.Sums(SCHEMA, ("age", "smoker == 'yes'", "smoker != 'yes'", "(smoker == 'no') * age * age"))
    x = asked.encode_lenient({"age": [10, 20, 30], "smoker": ["yes", "pipe", "no"], "stay": [0, 0, 0]})

    assert asked.lift(x).tolist() == [[10, 1, 0, 0], [20, 0, 0, 0], [30, 0, 1, 900]]
    assert asked.tally(x).tolist() == [60, 1, 1, 900]


def test_numbers_outside_count_as_the_nearest_bound_under_a_curator() -> None:
    """As everywhere under noise; a row without a number is left out."""
    asked = mu.Sums(SCHEMA, ("age", "age ** 2"))

    assert asked.tally(asked.encode_lenient({"age": [-5, 500, 60, None]})).tolist() == [180, 120**2 + 60**2]


def test_noise_is_that_of_the_blocks() -> None:
    """A noisy release has intervals of its laws, and they cover the exact sums (four misses in 10**6 by chance)."""
    rows, asked = people(), mu.Sums(SCHEMA, ("age", "dose"))
    exact = mu.run(mu.Plan(asked), rows).estimate
    noisy = mu.run(mu.Plan(asked, curator=mu.DiscreteLaplace(2.0)), rows, rng=Random.seeded(7)).estimate

    ends = noisy.interval(1 - 2e-6)
    assert noisy.noisy and noisy.n is None
    assert noisy.sums != exact.sums
    assert all(low <= v <= high for v, (low, high) in zip(exact.mean, ends, strict=True))
    # epsilon = 1 for each: scale 120 for ages; for doses, whose unit is 1/40 and largest value 99 units, scale 99/40
    assert noisy.variance()[0] == pytest.approx(2 * 120**2, rel=1e-3)
    assert noisy.variance()[1] == pytest.approx(2 * (99 / 40) ** 2, rel=1e-3)


def test_exchanged_rows_move_a_sum_by_its_range() -> None:
    """Under "replace" a sum moves by high - low, or by a whole row where that is more (the other may be nobody)."""
    stay, inner = mu.Sums(SCHEMA, ("stay", "stay + 100")).blocks

    assert (stay.l1, stay.replace_l1) == (90, 92)
    assert (inner.l1, inner.replace_l1) == (190, 190)


class TooSmall(mu.Sums):
    """A mutant whose blocks say less than a row adds."""

    @property
    def blocks(self) -> Any:  # type: ignore[override]
        return mu.Sums(self.domain, tuple(text.replace("119", "118") for text in self.expressions)).blocks


def test_the_check_of_bounds_sees_a_row_too_many() -> None:
    """check_protected rejects bounds that are one too small."""
    check_protected(mu.Sums(SCHEMA, ("max(age, 119)",)))
    with pytest.raises(CheckFailed):
        check_protected(TooSmall(SCHEMA, ("min(age, 119)",)))


def test_231_products_of_21_columns_take_well_under_a_second() -> None:
    """10**5 rows; the sums themselves take some 15 ms on one core, and a second leaves room for a busy machine."""
    names = [f"x{i}" for i in range(21)]
    schema = mu.Schema({name: mu.Integers(0, 1000) for name in names})
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i:]]
    asked = mu.Sums(schema, tuple(f"{a} * {b}" for a, b in pairs))
    x = tuple((Random.seeded(i).words(100_000) % np.uint64(1001)).astype(np.int16) for i in range(21))
    began = time.perf_counter()
    total = asked.tally(x)
    took = time.perf_counter() - began

    assert asked.width == 231 and took < 1
    for k in (0, 20, 100, 230):
        a, b = (x[names.index(name)].astype(np.int64) for name in pairs[k])
        assert total[k] == int((a * b).sum())


def test_sums_travel_in_plans() -> None:
    """As JSON and back: the same expressions, the same columns, the same digest."""
    asked = mu.Sums(SCHEMA, ("age", "`stay` * dose"))
    plan = mu.Plan(asked)

    assert part_from_dict(part_to_dict(asked), {"Sums": "murmure.statistics.sums"}) == asked
    assert mu.Plan.from_json(plan.to_json()).digest == plan.digest


def test_what_is_read_can_be_shown() -> None:
    """A table in a terminal and in a notebook, rows for JSON with the exact fraction, and no bar for others."""
    found = mu.run(mu.Plan(mu.Sums(SCHEMA, ("age", "dose / 3", "dose"))), {"age": [40, 41], "dose": [0.5, 1.0]})
    first, third, dose = found.estimate.to_rows()

    assert (first["exact"], first["value"], first["low"], first["high"]) == ("81", 81.0, 81.0, 81.0)
    assert third["exact"] == "31/60" and dose["exact"] == "31/20"
    assert "2 rows; known exactly; numbers of dose count as the middles of their cells" in repr(found)
    assert ">81</td>" in found.estimate._repr_html_()
    assert '"exact": "31/60"' in found.to_json()
    with pytest.raises(NoUnbiasedEstimate, match="only the rows that were added up"):
        found.estimate.interval(0.95, "superpopulation")


def test_sums_that_were_cut_after_noise_have_no_bars() -> None:
    """What a plan does where its noise was cut: the sums stay, and why there are no bars is said."""
    from murmure.core.estimates.column_estimates import without_bars

    asked = mu.Sums(SCHEMA, ("age",))
    found = without_bars(asked.interpret(NoisySum.exact(asked.blocks, np.array([3]))), "they were cut")

    assert found["age"] == 3 and found.estimator is None
    assert "no error bar: they were cut" in repr(found)


@pytest.mark.parametrize(
    ("domain", "expressions", "part"),
    [
        (mu.Integers(0, 9), ("age",), "Sums.domain must be a Schema"),
        (SCHEMA, "age", "must be a tuple of expressions"),
        (SCHEMA, (), "must be a tuple of expressions"),
        (SCHEMA, (1,), "wanted text"),
        (SCHEMA, ("age", " age "), "twice"),
        (SCHEMA, ("age - age",), "is 0 in every row"),
        (SCHEMA, ("age > 200",), "is 0 in every row"),
        (SCHEMA, ("aeg",), "did you mean age?"),
    ],
)
def test_wrong_sums_are_refused(domain: Any, expressions: Any, part: str) -> None:
    """What is wrong, and where."""
    with pytest.raises(InvalidParameter, match=part.replace("?", "\\?")):
        mu.Sums(domain, expressions)


# -- between parties


def parts_of(rows: dict[str, Any], parties: int) -> list[dict[str, Any]]:
    return [{name: values[i::parties] for name, values in rows.items()} for i in range(parties)]


def test_sums_between_parties_are_those_of_all_rows_together() -> None:
    """Three parties, masks and all: the same fractions as in the clear, and how many rows there were."""
    rows, asked = people(), mu.Sums(SCHEMA, ("age", "age * stay", "dose", "smoker == 'yes'"))
    alone = mu.run(mu.Plan(asked), rows).estimate
    found = mu.run(mu.Plan(asked, parties=mu.PairwiseMasks(3, rows=10_000)), parts_of(rows, 3)).estimate

    assert found.sums == alone.sums and found.n == 500


def test_sums_beyond_a_machine_word_pass_between_parties() -> None:
    """They take several words of the ring for each sum, and are exact to the last digit; one party may vanish."""
    asked = mu.Sums(WIDE, ("g * h", "g ** 4"))
    plan = mu.Plan(asked, parties=mu.PairwiseMasks(4, dropouts=1, rows=1000))
    rows = {"g": [10**12 + 17 * i for i in range(100)], "h": [-(2**40) + i % 10 for i in range(100)]}
    frames: list[Any] = parts_of(rows, 4)
    frames[2] = None
    kept = [i for i in range(100) if i % 4 != 2]
    found = mu.run(plan, frames).estimate

    assert plan.encoder.limbs > 1
    assert found["g * h"] == sum(rows["g"][i] * rows["h"][i] for i in kept)
    assert found["g ** 4"] == sum(rows["g"][i] ** 4 for i in kept)
    assert found.n == 75


def test_noise_between_parties_is_read_with_its_bars() -> None:
    """Every party adds a share: the release is noisy, does not say how many rows there are, and covers the truth."""
    rows, asked = people(), mu.Sums(SCHEMA, ("age", "stay"))
    exact = mu.run(mu.Plan(asked), rows).estimate
    plan = mu.Plan(asked, parties=mu.PairwiseMasks(3, rows=10_000), curator=mu.DiscreteLaplace(2.0))
    found = mu.run(plan, parts_of(rows, 3), rng=Random.seeded(3)).estimate

    assert found.noisy and found.n is None and found.sums != exact.sums
    ends = found.interval(1 - 2e-6)
    assert all(low <= v <= high for v, (low, high) in zip(exact.mean, ends, strict=True))
