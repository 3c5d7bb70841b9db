"""The sums of naive Bayes: for every class a count, two moments of every number, a table of every category.

    g(x) = [class of x = c] (1;  A t, t**2 - M  of every number;  [x_j = v] of every category),     t = 2 code - top.

A row touches one class only, so a bound for one class holds for all of them (parallel composition). The two moments of
a number share a block, and with it a noise scale. In u = t / top, from -1 to 1, with noise of scale b1 on sum u and b2
on sum u**2,

    one row costs   max_u |u| / b1 + |u**2 - m| / b2  =  1 / (2 b1) + 1 / (2 b2) + b2 / (8 b1**2)
    at the best     m = (1 + x - x**2 / 4) / 2,       x = b2 / b1:

rows with a large u have a small u**2 - m, and the other way round. Apart, at m = 1/2, they cost 1 / b1 + 1 / (2 b2):
a third more for the same noise. split="equal" keeps them apart, each at one share of the budget.

Shares of the budget (split="best"). Noise of variance v on a figure moves the log-odds of a row by v times its squared
slope. Summed over the rows of a Gaussian class with standard deviation s this is 1/s**2 for a mean, 1/(2 s**4) for a
variance, k**2 for a table of k even categories, and for the count 1 (the prior) plus (m - s**2)**2 / (2 s**4) for every
number, because squares are counted from m. With K = all of it at noise 1 / e, sum K / e**2 is least at e ~ K**(1/3).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.catalogue_entries import SumEntry
from murmure.core.domain import Categories, Dates, Decimals, Domain, Integers, Interval
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.core.types import Array, Ints, NumberDomain
from murmure.laws.kernel_loader import native
from murmure.laws.tallies import histogram
from murmure.statistics.base.code_lines import lines_for_kernels
from murmure.statistics.base.statistic import MAX_JOINT_CELLS, ProtectableStatistic

Floats = NDArray[np.float64]
Split = Literal["best", "equal"]

MAX_MOMENT_VALUES = 1 << 20  # of a number: bounds are found by looking at each of them
MAX_SQUARE_BITS = 30  # of a square: finer ones lose their last bits, so that sums of 2**32 rows stay below 2**63
ROWS = 1 << 16  # that are added at a time
FEW_CELLS = 1 << 16  # of a table of class and value
NOISE_RATIO = 0.7  # x = b2 / b1: near the least log-odds error, with a little more for the means
TYPICAL = 1 / 3  # s: a class reaches from one public bound to the other within three standard deviations of its mean
OFFSET = (1 + NOISE_RATIO - NOISE_RATIO**2 / 4) / 2  # m


@dataclass(frozen=True)
class ClassMoments(ProtectableStatistic):
    """Counts, moments and tables of every class of `target`; every other private column is an attribute.

    shares: the blocks' shares of the budget, in their order, instead of those of the split.
    """

    domain: Schema
    target: str
    split: Split = "best"
    shares: tuple[float, ...] | None = None

    entry = SumEntry(order=10)

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Schema):
            raise InvalidParameter("ClassMoments.domain must be a Schema, got {got}.", got=shorten(self.domain))
        if self.target not in self.domain.private:
            raise InvalidParameter(
                "ClassMoments.target must be a private column, got {got}; the schema has {private}.",
                got=shorten(self.target),
                private=shorten(list(self.domain.private), 120),
            )
        if not isinstance(self.domain[self.target], Categories):
            raise InvalidParameter(
                "ClassMoments.target {target!r} must be Categories, got {got!r}.",
                hint="name the classes in the schema: they are public, never read off the data",
                target=self.target,
                got=self.domain[self.target],
            )
        if not self.attributes:
            raise InvalidParameter(
                "ClassMoments: the schema has no attribute besides the target {target!r}.", target=self.target
            )
        for name in self.numbers:
            if self.domain[name].size > MAX_MOMENT_VALUES:
                raise InvalidParameter(
                    "ClassMoments: {name!r} has {size} values, more than {max_moment_values}.",
                    hint="put it on a coarser grid: Interval(low, high, cells=1024)",
                    name=name,
                    size=self.domain[name].size,
                    max_moment_values=MAX_MOMENT_VALUES,
                )
        for name in self.categories:
            a, b = self.classes, self.domain[name].size
            if a * b > MAX_JOINT_CELLS:
                raise InvalidParameter(
                    "a pair of columns must have at most {most:,} combinations, got {a:,} times {b:,} = {cells:,}.",
                    hint="give the columns fewer values (fewer cells)",
                    most=MAX_JOINT_CELLS,
                    a=a,
                    b=b,
                    cells=a * b,
                )
        if self.split not in ("best", "equal"):
            raise InvalidParameter('ClassMoments.split must be "best" or "equal", got {got}.', got=shorten(self.split))
        if self.shares is not None:
            object.__setattr__(self, "shares", tuple(float(w) for w in self.shares))
            if len(self.shares) != len(self._shapes):
                raise InvalidParameter(
                    "ClassMoments.shares must be {shape_count}, one for each block, got {got}.",
                    hint="blocks in order: {shapes}",
                    shape_count=len(self._shapes),
                    got=len(self.shares),
                    shapes=", ".join(name for name, *_ in self._shapes),
                )

    # -- what is asked

    @property
    def classes(self) -> int:
        return self.domain[self.target].size

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        return tuple(name for name in self.domain.private if name != self.target)

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        return tuple(name for name in self.attributes if isinstance(self.domain[name], Integers | Interval | Decimals))

    @cached_property
    def categories(self) -> tuple[str, ...]:
        return tuple(name for name in self.attributes if isinstance(self.domain[name], Categories))

    @cached_property
    def moments(self) -> dict[str, MomentCoding]:
        return {name: MomentCoding(self.domain[name].size - 1, self.split == "best") for name in self.numbers}

    @property
    def counts_apart(self) -> bool:
        """Whether classes are counted on their own. Tables of few categories count them as well, for nothing."""
        free = sum(1 / self.domain[name].size for name in self.categories)
        return self.split == "equal" or bool(self.numbers) or free < 1

    @cached_property
    def _shapes(self) -> list[tuple[str, int, int, int, float]]:
        """Name, width, l1, l2 and weight of every block."""
        C, best = self.classes, self.split == "best"
        out: list[tuple[str, int, int, int, float]] = []
        if self.counts_apart:
            out.append(("count", C, 1, 1, count_error(len(self.numbers)) ** (1 / 3) if best else 1.0))
        for name in self.attributes:
            if name in self.moments:
                moments = self.moments[name]
                if best:
                    out.append((f"{name}: moments", 2 * C, *moments.reach(0, 1), NUMBER_ERROR ** (1 / 3)))
                else:
                    out.append((f"{name}: sum", C, *moments.reach(0), 1.0))
                    out.append((f"{name}: squares", C, *moments.reach(1), 1.0))
            else:
                k = self.domain[name].size
                out.append((f"{name}: values", C * k, 1, 1, k ** (2 / 3) if best else 1.0))
        return out

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        weights = self.shares or tuple(shape[-1] for shape in self._shapes)
        shapes = zip(self._shapes, weights, strict=True)
        return tuple(Block(name, width, l1, l2, weight) for (name, width, l1, l2, _), weight in shapes)

    @property
    def width(self) -> int:
        return sum(width for _, width, *_ in self._shapes)

    @cached_property
    def largest(self) -> int:
        return max([1, *(int(np.abs(m.table()).max()) for m in self.moments.values())])

    # -- the sum

    def _codes(self, x: tuple[Array, ...]) -> dict[str, Array]:
        return dict(zip(self.domain.private, x, strict=True))

    def lift(self, x: tuple[Array, ...]) -> Ints:
        codes, C = self._codes(x), self.classes
        in_class = (codes[self.target][:, None] == np.arange(C)).astype(np.int64)  # no class: a row of zeros
        out = [in_class] if self.counts_apart else []
        for name in self.attributes:
            if name in self.moments:
                out += [in_class * m[:, None] for m in self.moments[name].of(codes[name])]
            else:
                has_value = (codes[name][:, None] == np.arange(self.domain[name].size)).astype(np.int64)
                out.append((in_class[:, :, None] * has_value[:, None, :]).reshape(len(in_class), -1))
        return np.concatenate(out, axis=1)

    def tally(self, x: tuple[Array, ...]) -> Ints:
        codes, C = self._codes(x), self.classes
        class_codes = codes[self.target]
        found = self._sums_of_numbers(codes)
        out = [histogram(class_codes, C + 1)[:C]] if self.counts_apart else []
        for name in self.attributes:
            size = self.domain[name].size + (name not in self.moments)  # one more place: a value that is not listed
            if name not in self.moments:
                out.append(_table(class_codes, codes[name], C, size)[:, :-1].reshape(-1))
            elif found is not None:
                out += list(found[name])
            elif (C + 1) * size <= FEW_CELLS:
                out += list(self.moments[name].table() @ _table(class_codes, codes[name], C, size).T)
            else:
                out += list(self.moments[name].by_class(class_codes, codes[name], C))
        return np.concatenate(out)

    def _sums_of_numbers(self, codes: dict[str, Array]) -> dict[str, tuple[Ints, Ints]] | None:
        """The two sums of every number for every class from compiled kernels; None: NumPy adds."""
        values = max((self.domain[name].size for name in self.numbers), default=0)
        taken = lines_for_kernels([codes[name] for name in self.numbers], values)
        if taken is None or any(moments.shift for moments in self.moments.values()):
            return None
        kernels, lines = taken
        counts = np.zeros(self.classes + 1, np.int64)
        sums, squares = np.zeros((2, self.classes + 1, len(lines)), np.int64)
        kernels.class_sums(native(np.asarray(codes[self.target])), lines, counts, sums, squares)
        parts = zip(self.moments.items(), sums.T[:, :-1], squares.T[:, :-1], strict=True)
        return {name: moments.of_sums(counts[:-1], s, q) for (name, moments), s, q in parts}

    # -- what is made of it

    def interpret(self, noisy: NoisySum) -> ClassSummary:
        counts, count_noise = self._counts(noisy)
        # Never divided by nothing: a class counts at least one person, and at least the noise on its count.
        people = np.maximum(counts, max(1.0, count_noise**0.5))[:, None]
        means, squares, mean_noise, square_noise = (np.empty((self.classes, len(self.numbers))) for _ in range(4))
        for j, name in enumerate(self.numbers):
            sums, offset = self.moments[name].interpret(noisy, name)
            (s, s_noise), (q, q_noise) = sums
            means[:, j], mean_noise[:, j] = s / people[:, 0], s_noise / people[:, 0] ** 2
            squares[:, j], square_noise[:, j] = q / people[:, 0] + offset, q_noise / people[:, 0] ** 2
        tables = tuple(noisy[f"{name}: values"].reshape(self.classes, -1).astype(float) for name in self.categories)
        return ClassSummary(
            counts=people[:, 0],
            means=np.clip(means, -1.0, 1.0),
            squares=np.clip(squares, 0.0, 1.0) if len(self.numbers) else squares,
            mean_noise=mean_noise,
            square_noise=square_noise,
            tables=tables,
            table_noise=tuple(noisy.variance(f"{name}: values") for name in self.categories),
            grid=tuple(_grid(self.domain[name]) for name in self.numbers),
            labels=self.labels(),
        )

    def _counts(self, noisy: NoisySum) -> tuple[Floats, float]:
        """Every block that counts the classes, the noisier ones less; and the variance of the noise that is left."""
        counts = []
        if self.counts_apart:
            counts.append((noisy["count"].astype(float), noisy.variance("count")))
        for name in self.categories:
            table = noisy[f"{name}: values"].reshape(self.classes, -1)
            counts.append((table.sum(axis=1).astype(float), noisy.variance(f"{name}: values") * table.shape[1]))
        # One exact count is enough; otherwise counts are averaged by their precision.
        exact = next((count for count, noise in counts if noise == 0), None)
        if exact is not None:
            return exact, 0.0
        precision = sum(1 / noise for _, noise in counts)
        return np.asarray(sum(count / noise for count, noise in counts) / precision), 1 / precision

    def labels(self) -> list[str]:
        """Of all figures: counts, means, mean squares, tables."""
        classes = self.domain[self.target].labels()
        out = [f"{c}: people" for c in classes]
        out += [f"{c}: {what} of {name}" for what in ("mean", "variance") for c in classes for name in self.numbers]
        for name in self.categories:
            out += [f"{c}: {name} = {v}" for c in classes for v in self.domain[name].labels()]
        return out

    def why_unanswerable(self, affine: Any) -> str | None:
        return Phrase("it asks for exact or noisy sums; for randomised rows use ClassPairs")

    def reference(self, x: tuple[Array, ...]) -> Floats:
        codes = self._codes(x)
        members = [codes[self.target] == c for c in range(self.classes)]
        out: list[Any] = [max(1, int(rows.sum())) for rows in members]
        values = [self.domain[name].numbers()[codes[name]] for name in self.numbers]  # type: ignore[index]
        out += [v[rows].mean() for rows in members for v in values]
        floors = [_grid(self.domain[name])[2] for name in self.numbers]
        out += [max(v[rows].var(), floor) for rows in members for v, floor in zip(values, floors, strict=True)]
        for name in self.categories:
            out += [np.sum(codes[name][rows] == v) for rows in members for v in range(self.domain[name].size)]
        return np.array(out, float)


def count_error(numbers: int) -> float:
    """K of the count: the prior, and the offset of the squares of every number."""
    return 1 + numbers * (OFFSET - TYPICAL**2) ** 2 / (2 * TYPICAL**4)


def _number_error() -> float:
    """K of a number at its cheapest scales: b2 = h, b1 = h / x cost 1 together (see the top of this file)."""
    x = NOISE_RATIO
    h = x / 2 + 1 / 2 + x * x / 8
    return h * h * (1 / (x * x * TYPICAL**2) + 1 / (2 * TYPICAL**4))


NUMBER_ERROR = _number_error()


@dataclass(frozen=True)
class MomentCoding:
    """The two integers that a code adds: (A t, t**2 - M) together, or (t, 2 t**2 - M) apart.

    Of fine grids the squares are counted in units of 2**shift, rounded down.
    """

    top: int
    together: bool

    @property
    def factors(self) -> tuple[int, int, int]:
        """A, B and M of (A t, B t**2 / unit - M)."""
        if not self.together:
            return 1, 2, self.top**2 >> self.shift
        unit = 1 << self.shift
        return max(1, round(NOISE_RATIO * self.top / unit)), 1, round(OFFSET * self.top**2 / unit)

    @property
    def shift(self) -> int:
        return max(0, 2 * self.top.bit_length() - MAX_SQUARE_BITS)

    def of(self, codes: Array) -> tuple[Ints, Ints]:
        A, B, M = self.factors
        t = 2 * codes.astype(np.int64) - self.top
        return A * t, (B * t * t >> self.shift) - M

    def table(self) -> Ints:
        """Of every code: two rows."""
        return np.stack(self.of(np.arange(self.top + 1)))

    def reach(self, *rows: int) -> tuple[int, int]:
        """l1 and l2 of what one row adds to these of the two sums, over every code: exact, after all rounding."""
        return _reach(self, rows)

    def by_class(self, class_codes: Array, codes: Array, classes: int) -> tuple[Ints, Ints]:
        """Sums of both for every class; floats add integers below 2**53 exactly."""
        A, B, M = self.factors
        out = np.zeros((3, classes), np.int64)
        for a in range(0, len(class_codes), ROWS):
            c = class_codes[a : a + ROWS]
            t = 2.0 * codes[a : a + ROWS] - self.top
            square = np.floor(t * t * (B / 2.0**self.shift))
            sums = [np.bincount(c, weights=w, minlength=classes + 1)[:classes] for w in (t, square)]
            out += np.stack([*sums, np.bincount(c, minlength=classes + 1)[:classes]]).astype(np.int64)
        return A * out[0], out[1] - M * out[2]

    def of_sums(self, counts: Ints, sums: Ints, squares: Ints) -> tuple[Ints, Ints]:
        """The same from the numbers of rows, and sums of codes and of their squares, where no square is shifted."""
        A, B, M = self.factors
        t, t2 = 2 * sums - self.top * counts, 4 * squares - 4 * self.top * sums + self.top**2 * counts
        return A * t, B * t2 - M * counts

    def interpret(self, noisy: NoisySum, name: str) -> tuple[list[tuple[Floats, float]], float]:
        """sum u and sum (u**2 - offset) of every class with the variance of their noise; and the offset."""
        A, B, M = self.factors
        if self.together:
            s, q = noisy[f"{name}: moments"].reshape(2, -1)
            v = w = noisy.variance(f"{name}: moments")
        else:
            s, q = noisy[f"{name}: sum"], noisy[f"{name}: squares"]
            v, w = noisy.variance(f"{name}: sum"), noisy.variance(f"{name}: squares")
        one, two = float(A * self.top), B * self.top**2 / 2.0**self.shift
        return [(s / one, v / one**2), (q / two, w / two**2)], M / two


@lru_cache(maxsize=256)
def _reach(moments: MomentCoding, rows: tuple[int, ...]) -> tuple[int, int]:
    sizes = np.abs(moments.table()[list(rows)])
    # Squares may pass 2**63. Floats, right to 1e-15, find candidates for the largest; Python's integers square them.
    approximate = (sizes.astype(float) ** 2).sum(axis=0)
    candidates = sizes[:, approximate >= approximate.max() * (1 - 1e-9)].T.tolist()
    return max(1, int(sizes.sum(axis=0).max())), max(1, *(sum(v * v for v in row) for row in candidates))


def _table(class_codes: Array, codes: Array, classes: int, size: int) -> Ints:
    """How often each class has each value. Rows without a listed class are left out."""
    narrow = np.int32 if (classes + 1) * size < 1 << 31 else np.int64
    place = np.multiply(class_codes, size, dtype=narrow)
    np.add(place, codes, out=place, casting="unsafe")
    return histogram(place, (classes + 1) * size).reshape(classes + 1, size)[:classes]


def _grid(domain: Domain) -> tuple[float, float, float]:
    """The middle of a number's range, half its width, and the smallest variance that its grid resolves."""
    assert isinstance(domain, NumberDomain)
    low, step, _ = domain.scale()
    half = step * (domain.size - 1) / 2
    return low + half, half, step * step / 12


@dataclass(frozen=True, eq=False)
class ClassSummary:
    """What the sums say about every class. Means and mean squares are in u, from -1 to 1 over a number's range."""

    counts: Floats  # (classes,), at least 1
    means: Floats  # (classes, numbers)
    squares: Floats
    mean_noise: Floats  # variances of the noise on them; nought where nothing was added
    square_noise: Floats
    tables: tuple[Floats, ...]  # (classes, values): counts, negative ones too
    table_noise: tuple[float, ...]
    grid: tuple[tuple[float, float, float], ...]
    labels: list[str] = field(repr=False)

    @property
    def _least(self) -> Floats:
        """The least variance in u: what a cell of the grid has within it."""
        return np.array([floor / half**2 for _, half, floor in self.grid])

    @cached_property
    def _variances(self) -> Floats:
        return np.clip(self.squares - self.means**2, self._least, 1.0)

    @property
    def theta(self) -> Floats:
        """Means in the units of the data."""
        return np.array([m for m, _, _ in self.grid]) + np.array([h for _, h, _ in self.grid]) * self.means

    @property
    def var(self) -> Floats:
        """Variances in the units of the data."""
        return np.array([h for _, h, _ in self.grid]) ** 2 * self._variances

    def probabilities(self, alpha: float) -> tuple[Floats, ...]:
        """Of every category in every class, `alpha` people more in each."""
        smoothed = [np.maximum(table, 0.0) + alpha for table in self.tables]
        return tuple(table / table.sum(axis=1, keepdims=True) for table in smoothed)

    @property
    def mean(self) -> Floats:
        """All figures in one row, as `labels` names them."""
        parts = [self.counts, self.theta.reshape(-1), self.var.reshape(-1), *(t.reshape(-1) for t in self.tables)]
        return np.concatenate(parts)

    def variance(self, target: str = "fixed") -> Floats:
        """No error bars: clipped figures are biased. Of exact sums: nought."""
        noisy = self.mean_noise.any() or self.square_noise.any() or any(self.table_noise)
        return np.full(len(self.labels), np.nan if noisy else 0.0)

    def shrunk(self) -> ClassSummary:
        """Noise pulls towards what is known in public; where nothing was added, nothing moves.

        Posterior means of normal figures with the noise's own variances, under wide public priors: a class mean lies
        within G standard deviations of the mean of all classes; its variance within H times the common variance of it;
        the common variance near TYPICAL**2, give or take TAU; and a category's share within G times its share in all
        classes. What stays uncertain about a mean widens its class (the posterior predictive variance).
        """
        n = self.counts[:, None]
        share = n / n.sum()
        centre = np.clip((share * self.means).sum(axis=0), -1.0, 1.0)
        spread = (share * self.squares).sum(axis=0) - centre**2
        spread_noise = (share**2 * (self.square_noise + 4 * centre**2 * self.mean_noise)).sum(axis=0)
        common = TYPICAL**2 + TAU**2 / (TAU**2 + spread_noise) * (spread - TYPICAL**2)
        common = np.clip(common, self._least, 1.0)
        trust = _trust(G**2 * common, self.mean_noise)
        means = centre + trust * (self.means - centre)
        noise = self.square_noise + 4 * means**2 * self.mean_noise
        variances = common + _trust((H * common) ** 2, noise) * (self.squares - means**2 - common)
        variances = np.clip(np.maximum(variances, np.sqrt(noise)), self._least, 1.0) + trust * self.mean_noise
        tables = tuple(self._shrunk_table(t, v) for t, v in zip(self.tables, self.table_noise, strict=True))
        return replace(self, means=means, squares=variances + means**2, tables=tables)

    def _shrunk_table(self, table: Floats, noise: float) -> Floats:
        if noise == 0:
            return table
        whole = np.maximum(table.sum(axis=0), noise**0.5)
        expected = self.counts[:, None] * (whole / whole.sum())
        return expected + _trust((G * expected) ** 2, np.full_like(table, noise)) * (table - expected)


def summary_of_tables(ask: ClassMoments, tables: dict[str, Floats], noise: dict[str, Floats]) -> ClassSummary:
    """The same from counts of class and value, unbiased and noisy; numbers are cut into bins of equal width.

    noise: the variance of every count. The people of a bin are taken to be spread evenly over its width.
    """
    names, C = ask.attributes, ask.classes
    every = np.stack([tables[name].sum(axis=1) for name in names])
    doubt = np.stack([noise[name].sum(axis=1) for name in names]).mean(axis=1, keepdims=True)
    known = np.ones_like(doubt) if (doubt == 0).any() else 1 / doubt
    counts = (every * known).sum(axis=0) / known.sum()
    people = np.maximum(counts, max(1.0, float(known.sum()) ** -0.5 if (doubt > 0).all() else 1.0))
    means, squares, mean_noise, square_noise = (np.empty((C, len(ask.numbers))) for _ in range(4))
    for j, name in enumerate(ask.numbers):
        k, top = tables[name].shape[1], ask.domain[name].size - 1
        wide = (top + 1) / top  # the outer edges of the range, in u
        u = wide * ((2 * np.arange(k) + 1) / k - 1)
        within = (wide * 2 / k) ** 2 / 12 if k <= top else 0.0
        means[:, j], mean_noise[:, j] = tables[name] @ u / people, noise[name] @ u**2 / people**2
        squares[:, j] = tables[name] @ u**2 / people + within
        square_noise[:, j] = noise[name] @ u**4 / people**2
    return ClassSummary(
        counts=people,
        means=np.clip(means, -1.0, 1.0),
        squares=np.clip(squares, 0.0, 1.0),
        mean_noise=mean_noise,
        square_noise=square_noise,
        tables=tuple(tables[name] for name in ask.categories),
        table_noise=tuple(float(noise[name].mean()) for name in ask.categories),
        grid=tuple(_grid(ask.domain[name]) for name in ask.numbers),
        labels=ask.labels(),
    )


G, H, TAU = 0.5, 0.5, 0.1  # how far classes differ: public constants, first guesses


def _trust(prior: Floats, noise: Floats) -> Floats:
    """The weight of a noisy figure against its prior: 1 without noise."""
    return np.asarray(prior / (prior + noise))


_MIXED = Schema(
    {
        "sick": Categories(["no", "yes"]),
        "age": Integers(0, 9),
        "smoker": Categories(["never", "once", "daily"]),
        "bmi": Interval(15.0, 45.0, cells=30),
    }
)

EXAMPLES = (
    ClassMoments(_MIXED, "sick"),
    ClassMoments(_MIXED, "smoker", split="equal"),
    ClassMoments(Schema({"y": Categories(3), "a": Categories(2), "b": Categories(2)}), "y"),
    ClassMoments(Schema({"y": Categories([False, True]), "x": Interval(0.0, 1.0)}), "y", shares=(1.0, 3.0)),
    ClassMoments(
        Schema({"y": Categories(2), "admitted": Dates("2024-01", "2024-03", "month"), "x": Integers(0, 9)}), "y"
    ),
)
