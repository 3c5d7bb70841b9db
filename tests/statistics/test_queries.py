"""What one row adds, what is read off noisy sums, and what is said when there is too little to divide by."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from tests.listing import listed

import murmure as mu
import murmure.statistics
from murmure.core.blocks import NoisySum
from murmure.core.errors import InvalidParameter
from murmure.core.estimates.intervals import normal_quantile
from murmure.core.estimates.noisy_estimators import TOO_FEW, TOO_NOISY, reach
from murmure.plan.codec import part_from_dict, part_to_dict
from murmure.statistics.quantile import _Tree, branching

AGE = mu.Integers(0, 99, "age")
INCOME = mu.Interval(0.0, 1.0, cells=64, column="income")
REGION = mu.Categories(["north", "south", "west"], "region")
SMOKER = mu.Categories(["no", "yes"], "smoker")
SCHEMA = mu.Schema({"age": AGE, "income": INCOME, "region": REGION, "smoker": SMOKER})


class Laplace:
    """The two-sided geometric law with P[z] in proportion to a**|z|."""

    def __init__(self, a: float) -> None:
        self.a = a

    @property
    def variance(self) -> float:
        return 2 * self.a / (1 - self.a) ** 2

    def prob(self, reach: int) -> Any:
        return (1 - self.a) / (1 + self.a) * self.a ** np.abs(np.arange(-reach, reach + 1))

    def quantile(self, tail: float) -> int:
        t = 0
        while 2 * self.a ** (t + 1) / (1 + self.a) > tail:
            t += 1
        return t


NOISE = Laplace(np.exp(-0.5))


def noisy(statistic: Any, total: Any, law: Any = NOISE) -> NoisySum:
    return NoisySum(statistic.blocks, np.asarray(total, np.int64), (law,) * len(statistic.blocks))


def examples() -> list[Any]:
    out = []
    for name, one in listed("murmure.statistics"):
        if type(one).__name__ in mu.catalogue.STATISTICS:
            out.append(pytest.param(one, id=name))
    return out


# ---- what one row adds


def test_numbers_are_centred() -> None:
    """A mean's row adds 1, at most the range, and at most its square: half of what it would from the lower bound."""
    count, total, square = mu.Mean(AGE).blocks

    assert (count.l1, total.l1, square.l1) == (1, 99, 99**2)
    assert (total.replace_l1, square.replace_l1) == (
        2 * 99,
        2 * 99**2 - 2,
    )  # odd numbers only: u = 0 is not on the grid
    assert mu.Mean(AGE).lift(np.array([0, 49, 99])).tolist() == [[1, -99, 99**2], [1, -1, 2 - 99**2], [1, 99, 99**2]]


def test_squares_of_large_numbers_are_kept_to_thirty_bits() -> None:
    """Whatever the range, one row adds less than 2**31, so 2**32 rows fit; the variance is right to 2**-28 of r^2."""
    statistic = mu.Variance(mu.Integers(0, 2**31 - 2))
    x = np.array([0, 5, 2**30, 2**31 - 2], np.int64)

    assert statistic.largest < 2**31
    got = statistic.interpret_exact(statistic.tally(x), 4).mean[0]
    assert got == pytest.approx(x.astype(float).var(), abs=2.0**62 / 2**28)


def test_groups_cost_nothing_under_add_and_remove() -> None:
    """Every block keeps its bound however many groups there are; exchanging a row may move it between two groups."""
    alone, grouped = mu.Mean(AGE).blocks, mu.GroupBy(mu.Mean(AGE), REGION).blocks

    assert [(b.l1, b.l2, b.weight) for b in grouped] == [(b.l1, b.l2, b.weight) for b in alone]
    assert [b.width for b in grouped] == [3, 3, 3]
    assert [b.sensitivity("l1", "replace") for b in grouped] == [2 * b.l1 for b in alone]


def test_a_sum_under_replacement() -> None:
    """Two numbers from 90 to 110 differ by at most 20, but a row that cannot be read is left out, with all its 110."""
    dear = mu.Integers(90, 110, "price")
    alone, some = mu.Sum(dear), mu.Where(mu.Sum(dear), SMOKER, is_in=("yes",))

    assert [b.sensitivity("l1", "replace") for b in alone.blocks] == [1, 110]
    assert [b.sensitivity("l1", "replace") for b in some.blocks] == [1, 110]


def test_means_of_several_columns_share_a_count() -> None:
    """Marginals of two numbers and a label: one count, two sums, two squares, one block of cells."""
    statistic = mu.Marginals(mu.Schema({"age": AGE, "income": INCOME, "region": REGION}))

    assert [b.name for b in statistic.blocks] == [
        "age: sum",
        "age: square",
        "income: sum",
        "income: square",
        "region: cells",
        "count",
    ]
    assert statistic.width == 8


def test_labels_outside_add_nothing() -> None:
    """Rows whose label the domain does not hold are in no cell, no count and no group."""
    batch = {
        "age": [30, 40, 50, 60],
        "income": [0.5] * 4,
        "region": ["north", "east", None, "west"],
        "smoker": ["no", "no", "yes", "perhaps"],
    }
    for statistic, wanted in [
        (mu.Histogram(REGION), [1, 0, 1]),
        (mu.Count(REGION), [2]),
        (mu.Pair(SCHEMA, "region", "smoker"), [1, 0, 0, 0, 0, 0]),
        (mu.GroupBy(mu.Count(AGE), REGION), [1, 0, 1]),
        (mu.GroupBy(mu.Count(AGE), mu.Schema({"region": REGION, "smoker": SMOKER})), [1, 0, 0, 0, 0, 0]),
        (mu.GroupBy(mu.Sum(AGE), REGION), [1, 0, 1, 30, 0, 60]),
        (mu.Where(mu.Count(AGE), REGION, is_in=("north", "south")), [1]),
    ]:
        x = statistic.encode_lenient(
            batch[statistic.domain.column] if isinstance(statistic.domain, mu.Categories) else batch
        )
        assert statistic.tally(x).tolist() == wanted == statistic.lift(x).sum(axis=0).tolist()


def test_a_schema_says_what_stands_for_a_missing_answer() -> None:
    """Keys and conditions that come as a Schema keep its labels of missing answers; a bare domain has none."""
    said = mu.Schema({"smoker": mu.Column(mu.Categories(["no", "yes"]), missing="value")})
    batch = {"age": [1, 2, 3, 4], "smoker": ["no", None, "yes", None]}
    grouped = mu.GroupBy(mu.Count(AGE), said)
    missing = mu.Where(mu.Count(AGE), said, is_in=("missing",))

    assert grouped.tally(grouped.encode_lenient(batch)).tolist() == [1, 1, 2]
    assert missing.tally(missing.encode_lenient(batch)).tolist() == [2]


def test_groups_without_a_common_table() -> None:
    """Grouping a question about a record sorts the rows by key, and gives the sums of every group."""
    g = np.random.default_rng(5)
    statistic = mu.GroupBy(mu.Pair(SCHEMA, "region", "smoker"), SMOKER)
    x = tuple(g.integers(0, size, 500) for size in (100, 64, 4, 3))

    assert (statistic.tally(x) == statistic.lift(x).sum(axis=0)).all()


@pytest.mark.parametrize("statistic", examples())
def test_statistics_travel_as_data(statistic: Any) -> None:
    """Written as JSON values and read back, a statistic is the same, its blocks too."""
    import json

    back = part_from_dict(json.loads(json.dumps(part_to_dict(statistic))), mu.catalogue.STATISTICS)

    assert back == statistic
    assert getattr(back, "blocks", None) == getattr(statistic, "blocks", None)


# ---- what is read


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("weights", [(1, 1), (1, 3), (1, 1, 1, 1), (2, 1, 1, 5, 1, 1, 1, 1)])
@pytest.mark.parametrize("a", [0.3, 0.9])
def test_noises_in_quadrature_reach_far_enough(level: float, weights: tuple[int, ...], a: float) -> None:
    """P[|sum w Z| > root of the sum of (w reach)^2] <= 1 - level, by convolution of the law (no chance)."""
    law, far = Laplace(a), 400
    total = np.ones(1)
    for w in weights:
        spread = np.zeros(2 * w * far + 1)
        spread[::w] = law.prob(far)
        total = np.convolve(total, spread)
    z = np.arange(len(total)) - len(total) // 2
    q = np.sqrt(sum(w * w for w in weights)) * reach(law, level)

    assert total[np.abs(z) > q].sum() <= 1 - level


@pytest.mark.parametrize("a", [0.02, 0.1, 0.2, 0.3, 0.5, 0.7])
def test_multiples_of_noises_reach_far_enough(a: float) -> None:
    """The same for three noises times any constants, by enumeration (40 seeded choices, no chance)."""
    law, far = Laplace(a), 30
    z, p = np.arange(-far, far + 1), Laplace(a).prob(far)
    joint = p[:, None, None] * p[:, None] * p
    for weights in np.random.default_rng(9).uniform(0, 1, (40, 3)):
        off = np.abs(weights[0] * z[:, None, None] + weights[1] * z[:, None] + weights[2] * z)
        for level in (0.8, 0.9, 0.95, 0.99):
            q = np.linalg.norm(weights) * reach(law, level)
            assert joint[off > q].sum() <= 1 - level


def test_a_count_is_inverted_exactly() -> None:
    """truth = count - Z, so the interval is the count plus and minus the noise's quantile, cut at zero."""
    estimate = mu.Count(AGE).interpret(noisy(mu.Count(AGE), [4]))
    far = NOISE.quantile(0.05)

    assert estimate.interval(0.95).tolist() == [[max(0, 4 - far), 4 + far]]
    assert (estimate.n, estimate.unit, estimate.noisy) == (4, "count", True)


@pytest.mark.parametrize(
    "statistic", [mu.Mean(AGE), mu.Variance(AGE), mu.Histogram(REGION), mu.Quantile(AGE)], ids=repr
)
@pytest.mark.parametrize("total", [-50, 0])
def test_too_few_people_to_divide_by(statistic: Any, total: int) -> None:
    """Where noise may be all there is, no figure is made up, and the interval is the whole public range."""
    estimate = statistic.interpret(noisy(statistic, total + statistic.tally(np.array([1, 2]))))
    low, high = {"Mean": (0, 99), "Variance": (0, 49.5**2), "Histogram": (0, 1), "Quantile": (0, 99)}[
        type(statistic).__name__
    ]

    for target in ("fixed", "superpopulation"):
        ends, method = estimate.interval_and_method(0.95, target)
        assert ends.tolist() == pytest.approx(np.tile([low, high], (len(estimate.mean), 1)))
        assert method == TOO_FEW
    assert estimate.n >= 0 and np.isnan(estimate.mean).all() and estimate.reason == TOO_NOISY


def test_people_are_the_noisy_count() -> None:
    """A noisy count of 1,234 with sums of a thousand people is about 1,234 people."""
    mean = mu.Mean(AGE).interpret(noisy(mu.Mean(AGE), [1234, 0, 0]))
    shares = mu.Histogram(REGION).interpret(noisy(mu.Histogram(REGION), [1000, 234, 0]))

    assert mean.n == shares.n == 1234 and mean.noisy and shares.noisy
    assert shares.counts.tolist() == [1000, 234, 0]
    assert "about 1,234 people" in repr(mean)


def test_rounding_widens_an_interval() -> None:
    """Values on a grid of 64 cells moved by up to 1/128: a mean's ends move so far, a standard deviation's too."""
    x = np.array([0, 10, 63, 63])
    mean, spread = mu.Mean(INCOME), mu.Variance(INCOME)
    exact = mean.interpret(NoisySum.exact(mean.blocks, mean.tally(x)))
    wide = spread.interpret(NoisySum.exact(spread.blocks, spread.tally(x)))
    sd = np.sqrt(wide.mean[0])

    assert exact.interval(0.95) == pytest.approx(exact.mean[0] + np.array([[-1, 1]]) / 128)
    assert wide.interval(0.95) == pytest.approx(np.array([[(sd - 1 / 128) ** 2, (sd + 1 / 128) ** 2]]))
    total = mu.Sum(INCOME)
    summed = total.interpret(NoisySum.exact(total.blocks, total.tally(x)))
    assert summed.interval(0.95) == pytest.approx(summed.mean[0] + np.array([[-4, 4]]) / 128)


def test_a_superpopulation_is_wider() -> None:
    """Sampling adds to noise: every interval for those they stand for holds the one for these people."""
    g = np.random.default_rng(6)
    for statistic in (mu.Count(AGE), mu.Sum(AGE), mu.Mean(AGE), mu.Variance(AGE), mu.Quantile(AGE), mu.Histogram(AGE)):
        total = statistic.tally(g.integers(0, 100, 4000))
        estimate = statistic.interpret(noisy(statistic, total))
        fixed, wider = estimate.interval(0.95), estimate.interval(0.95, "superpopulation")
        inside = (wider[:, 0] <= fixed[:, 0] + 1e-9) & (fixed[:, 1] <= wider[:, 1] + 1e-9)
        assert inside.all(), statistic


def test_groups_are_read_one_by_one() -> None:
    """One figure a group makes one table; several make a table for each group, with the noise of the inner question."""
    g = np.random.default_rng(7)
    x = {"age": g.integers(20, 60, 900), "region": g.choice(["north", "south"], 900)}
    statistic = mu.GroupBy(mu.Mean(AGE), REGION)
    estimate = statistic.interpret(noisy(statistic, statistic.tally(statistic.encode_lenient(x))))

    assert list(estimate.labels) == ["north", "south", "west"] and estimate.mean.shape == (3,)
    ends, method = estimate.interval_and_method(0.95)
    assert ends[2].tolist() == [0, 99] and "in 1 of 3" in method
    alone = mu.Mean(AGE)
    north = alone.interpret(noisy(alone, alone.tally(x["age"][x["region"] == "north"])))
    assert ends[0] == pytest.approx(north.interval(0.95)[0])
    both = mu.GroupBy(mu.Quantile(AGE, (0.25, 0.75)), REGION)
    tables = both.interpret(noisy(both, both.tally(both.encode_lenient(x))))
    assert list(tables) == ["north", "south", "west"] and len(tables["north"].mean) == 2
    assert estimate.covariance().shape == (3, 3)


def test_a_mode_is_one_label() -> None:
    """A choice of the longest bar, with no figure beside it."""
    mode = mu.Mode(REGION)
    total = mode.tally(mode.encode_lenient(["north", "west", "west", "east"]))

    assert mode.scores(total).tolist() == [1, 0, 2]
    assert mode.chosen(2).label == "west" == mode.interpret_exact(total, 4).label
    assert "chosen among 3 public candidates" in repr(mode.chosen(2))


# ---- quantiles


def test_the_tree_is_least_squares() -> None:
    """Leaves and variances of the tree are those of weighted least squares with a dense matrix, uneven nodes too."""
    g = np.random.default_rng(8)
    for size, b in [(7, 3), (9, 3), (16, 4), (23, 4), (5, 5), (17, 2)]:
        sizes = [size]
        while sizes[0] > b:
            sizes.insert(0, -(-sizes[0] // b))
        laws = [Laplace(0.3 + 0.1 * i) for i in range(len(sizes))]
        rows = [
            np.arange(size) // b ** (len(sizes) - 1 - level) == node
            for level, nodes in enumerate(sizes)
            for node in range(nodes)
        ]
        A = np.array(rows, float)
        weights = np.concatenate([np.full(k, 1 / law.variance) for k, law in zip(sizes, laws, strict=True)])
        seen = [g.integers(-5, 50, k).astype(float) for k in sizes]
        tree = _Tree(seen, laws, b)
        inverse = np.linalg.inv(A.T * weights @ A)
        prefix = np.tril(np.ones((size, size))) - 0.3

        assert tree.leaves == pytest.approx(inverse @ (A.T * weights) @ np.concatenate(seen))
        assert tree.variances(0.3) == pytest.approx(np.diag(prefix @ inverse @ prefix.T))
        assert tree.total_variance == pytest.approx(inverse.sum())


@pytest.mark.parametrize("size", [2, 3, 10, 11, 64, 100, 1000, 1024, 4097, 65536])
def test_levels_cover_the_grid(size: int) -> None:
    """Each level has a node for every b of the next, the first at most b; few values have one level."""
    b, levels = branching(size), mu.Quantile(mu.Integers(0, size - 1)).levels

    assert levels[-1] == size and levels[0] <= b
    assert all(upper == -(-lower // b) for upper, lower in itertools.pairwise(levels))
    assert len(levels) == 1 or size > 11


@pytest.mark.parametrize("size", [30, 100, 256, 1024, 5000])
def test_the_tree_is_among_the_best(size: int) -> None:
    """Its average variance of F(x) - T/2, exactly, is within 3 % of the best tree with up to 40 children a node."""

    def average(b: int) -> float:
        sizes = [size]
        while sizes[0] > b:
            sizes.insert(0, -(-sizes[0] // b))
        law = Laplace(np.exp(-0.01 / len(sizes)))
        return float(_Tree([np.zeros(k) for k in sizes], [law] * len(sizes), b).variances(0.5).mean())

    assert average(branching(size)) <= 1.03 * min(average(b) for b in range(2, 41))


def test_weights_are_near_the_best() -> None:
    """Of mean and variance, for the public guess that their files state; splits in steps of a fortieth."""
    m, v = 1 / np.sqrt(8), 0.16
    q = 2 * (v + m * m) - 1
    mean = np.array([m * m, 1.0])
    spread = np.array([(2 * m * m - q / 2) ** 2, 4 * m * m, 0.25])
    for statistic, parts in [(mu.Mean(AGE), mean), (mu.Variance(AGE), spread)]:
        given = np.array([b.weight for b in statistic.blocks][: len(parts)])
        steps = np.arange(1, 40) / 40
        splits = [s for s in itertools.product(steps, repeat=len(parts)) if abs(sum(s) - 1) < 1e-9]
        best = min(float(np.sum(parts / np.square(s))) for s in splits)
        assert float(np.sum(parts / np.square(given / given.sum()))) <= 1.01 * best


def test_several_quantiles_cost_as_much_as_one() -> None:
    assert mu.Quantile(AGE).blocks == mu.Quantile(AGE, (0.1, 0.5, 0.9)).blocks


# ---- what is refused


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: mu.Sum(REGION), r"Sum\.domain must be Integers, Interval or Decimals"),
        (lambda: mu.Variance(REGION), "categories have no variance"),
        (lambda: mu.Count("age"), r"Count\.domain must be"),
        (lambda: mu.Mode("age"), r"Mode\.domain must be"),
        (lambda: mu.Quantile(AGE, 1.0), "strictly between 0 and 1"),
        (lambda: mu.Quantile(AGE, ()), "Quantile.q is empty"),
        (lambda: mu.Quantile(mu.Integers(0, 2**21)), "more than 1048576"),
        (lambda: mu.GroupBy(mu.Mode(REGION), REGION), "can be protected by noise"),
        (lambda: mu.GroupBy(mu.Mean(AGE), "region"), "must be a domain or a Schema"),
        (lambda: mu.GroupBy(mu.Mean(mu.Integers(0, 9)), REGION), "names none"),
        (lambda: mu.GroupBy(mu.Mean(AGE), mu.Integers(0, 5, "age")), "in one place and"),
        (lambda: mu.GroupBy(mu.Histogram(mu.Categories(2000, "a")), mu.Categories(2000, "b")), "more than 1,048,576"),
        (lambda: mu.Where(mu.Count(AGE), REGION), "one condition"),
        (lambda: mu.Where(mu.Count(AGE), REGION, is_in=("east",)), r"Where\.is_in: .*'east'"),
        (lambda: mu.Where(mu.Count(AGE), REGION, is_in="north"), "must be a tuple"),
        (lambda: mu.Where(mu.Count(AGE), REGION, between=(1, 2)), "labels are listed"),
        (lambda: mu.Where(mu.Count(AGE), AGE, between=(65, 18)), "holds no value"),
        (lambda: mu.Where(mu.Count(AGE), "age", is_in=(1,)), "must be the domain of a column"),
    ],
)
def test_bad_questions_are_refused(make: Any, said: str) -> None:
    """What, whose, wanted, got, and a way out; before any data are seen."""
    with pytest.raises(InvalidParameter, match=said):
        make()


def test_the_normal_quantile() -> None:
    assert normal_quantile(0.95) == pytest.approx(1.959964, abs=1e-6)
