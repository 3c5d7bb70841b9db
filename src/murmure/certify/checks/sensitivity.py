"""Generic checks of statistics under a curator: one row adds what the blocks say, and no noisy sum breaks `interpret`.

A bound that is too small is a false privacy claim; one that no row attains wastes the budget. Each check rejects its
mutants (tests/statistics).
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from murmure.certify.checks.assertions import require
from murmure.core.blocks import Block, NoiseLaw, NoisySum
from murmure.core.cells.lenient_encoding import can_be_nobody
from murmure.core.domain import Categories, Domain
from murmure.core.errors import Phrase
from murmure.core.estimates.column_estimates import Estimates
from murmure.core.estimates.estimate import Estimate
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.core.types import Array, Ints

ALL_ROWS = 4096  # combinations of values up to which every row is tried
RANDOM_ROWS = 2000
PAIRED = 160  # rows that are exchanged for one another
MAX_ENTRIES = 1 << 24  # of lifted rows in memory at a time
HUGE = 1 << 61


def check_protected(statistic: Any, seed: int = 1, tight: bool = True) -> None:
    """Bounds of every block hold and are attained; an empty batch adds nothing; `interpret` takes any integers.

    tight=False: for bounds that are proved, but that perhaps no row of the grid attains.
    """
    check_layout(statistic)
    x = some_rows(statistic.domain, seed, statistic.handles_nobody)
    check_bounds(statistic, x, tight)
    check_exchange(statistic, x, seed)
    check_nobody(statistic, x)
    check_interpret(statistic, x, seed)


def check_choice_statistic(statistic: Any, seed: int = 1) -> None:
    """One person moves every score by at most the stated sensitivity, and some person by as much."""
    x = some_rows(statistic.domain, seed, statistic.handles_nobody)
    lifted = np.concatenate([statistic.lift(x), np.zeros((1, statistic.width), np.int64)])[: PAIRED * 4]
    base = np.zeros(statistic.width, np.int64)
    scores = np.array([statistic.scores(base + row) for row in lifted])
    require(
        scores.shape[1] == statistic.candidates,
        statistic,
        Phrase("the number of scores differs from the number of candidates"),
    )
    moved = int(np.abs(scores[:, None] - scores[None]).max()) if len(scores) else 0
    require(
        moved == statistic.score_sensitivity,
        statistic,
        Phrase(
            "one person moves a score by {moved}, but {score_sensitivity} is stated",
            moved=moved,
            score_sensitivity=statistic.score_sensitivity,
        ),
    )


def some_rows(domain: Domain | Schema, seed: int, numbers: bool = False) -> Any:
    """Every row of a small domain, corners and random rows of a large one; labels include the code of nobody.

    numbers: numbers include it too, where one may be left out.
    """
    domains = [domain[name] for name in domain.private] if isinstance(domain, Schema) else [domain]
    nobody = [isinstance(d, Categories) or (numbers and can_be_nobody(d)) for d in domains]
    sizes = [d.size + extra for d, extra in zip(domains, nobody, strict=True)]
    if math.prod(sizes) <= ALL_ROWS:
        columns = np.array(list(itertools.product(*map(range, sizes))), np.int64).T
    else:
        ends = [
            sorted({0, d.size // 2, d.size - 1, max(0, d.size - 2), size - 1})
            for d, size in zip(domains, sizes, strict=True)
        ]
        corners = np.array(list(itertools.islice(itertools.product(*ends), ALL_ROWS)), np.int64).T
        words = Random.seeded(seed).words(RANDOM_ROWS * len(sizes)).reshape(len(sizes), RANDOM_ROWS)
        random = (words % np.array(sizes, np.uint64)[:, None]).astype(np.int64)
        columns = np.concatenate([corners, random], axis=1)
    return tuple(columns) if isinstance(domain, Schema) else columns[0]


def _rows(x: Any, which: Any) -> Any:
    return tuple(part[which] for part in x) if isinstance(x, tuple) else x[which]


def _length(x: Any) -> int:
    return len(x[0]) if isinstance(x, tuple) else len(x)


def _parts(blocks: tuple[Block, ...], vectors: Ints) -> Iterator[tuple[Block, Ints]]:
    at = 0
    for block in blocks:
        yield block, vectors[..., at : at + block.width]
        at += block.width


def check_layout(statistic: Any) -> None:
    blocks = statistic.blocks
    names = [block.name for block in blocks]
    require(isinstance(blocks, tuple) and len(blocks) > 0, statistic, Phrase("has no blocks"))
    require(
        sum(b.width for b in blocks) == statistic.width, statistic, Phrase("the widths of its blocks do not add up")
    )
    require(len(set(names)) == len(names), statistic, Phrase("two blocks have the same name: {names}", names=names))
    require(blocks == statistic.blocks, statistic, Phrase("blocks change from one call to the next"))


def _norms(part: Ints) -> tuple[int, int]:
    """The largest L1 norm and the largest squared L2 norm, exactly."""
    wide = np.abs(part)
    l1 = int(wide.sum(axis=-1).max(initial=0))
    if int(wide.max(initial=0)) ** 2 * part.shape[-1] < 1 << 62:
        return l1, int((wide * wide).sum(axis=-1).max(initial=0))
    return l1, max((sum(int(v) ** 2 for v in row if v) for row in wide), default=0)


def check_bounds(statistic: Any, x: Any, tight: bool) -> None:
    n, step = _length(x), max(1, MAX_ENTRIES // statistic.width)
    norms = {block.name: (0, 0) for block in statistic.blocks}
    largest = 0
    for a in range(0, n, step):
        lifted = statistic.lift(_rows(x, slice(a, a + step)))
        largest = max(largest, int(np.abs(lifted).max(initial=0)))
        for block, part in _parts(statistic.blocks, lifted):
            l1, l2 = _norms(part)
            norms[block.name] = max(norms[block.name][0], l1), max(norms[block.name][1], l2)
    require(
        largest <= statistic.largest,
        statistic,
        Phrase(
            "a row adds {largest}, more than largest = {statistic_largest}",
            largest=largest,
            statistic_largest=statistic.largest,
        ),
    )
    for block in statistic.blocks:
        l1, l2 = norms[block.name]
        for norm, added, stated in (("l1", l1, block.l1), ("l2", l2, block.l2)):
            over = Phrase(
                "a row adds {added} to block {name!r}, more than {norm} = {stated}",
                added=added,
                name=block.name,
                norm=norm,
                stated=stated,
            )
            require(added <= stated, statistic, over)
            require(
                not tight or added == stated,
                statistic,
                Phrase(
                    "no row adds more than {added} to block {name!r}: {norm} = {stated} is wasteful",
                    added=added,
                    name=block.name,
                    norm=norm,
                    stated=stated,
                ),
            )


def check_exchange(statistic: Any, x: Any, seed: int) -> None:
    """Exchanging a row for another moves no block farther than its stated sensitivity under replacement."""
    n = _length(x)
    random = (Random.seeded(seed + 1).words(PAIRED) % np.uint64(n)).astype(np.int64)
    chosen = np.unique(np.concatenate([random, np.arange(min(n, 40)), np.arange(max(0, n - 10), n)]))
    chosen = chosen[:: 1 + len(chosen) ** 2 * statistic.width // (1 << 27)]  # wide ones: fewer pairs
    lifted = statistic.lift(_rows(x, chosen))
    for block, part in _parts(statistic.blocks, lifted):
        for row in part:
            l1, l2 = _norms(part - row)
            for norm, moved in (("l1", l1), ("l2", l2)):
                stated = block.sensitivity(norm, "replace")  # type: ignore[arg-type]
                require(
                    moved <= stated,
                    statistic,
                    Phrase(
                        "replacing a row moves block {name!r} by {moved}, more than {stated} ({norm}, replace)",
                        name=block.name,
                        moved=moved,
                        stated=stated,
                        norm=norm,
                    ),
                )


def check_nobody(statistic: Any, x: Any) -> None:
    """Rows with the code of nobody add up like any row; an empty batch is a sum of zeros."""
    empty = statistic.tally(_rows(x, slice(0, 0)))
    require(
        empty.shape == (statistic.width,) and empty.dtype == np.int64 and not empty.any(),
        statistic,
        Phrase("an empty batch is not a sum of zeros"),
    )
    some = _rows(x, slice(0, max(1, MAX_ENTRIES // statistic.width)))
    require(
        bool((statistic.tally(some) == statistic.lift(some).sum(axis=0)).all()),
        statistic,
        Phrase("tally is not the sum of lift when some rows count nobody"),
    )


class _Laplace:
    """A stand-in law for `interpret`: two-sided geometric tails, P[|Z| > t] about e^(-t/b)."""

    def __init__(self, b: float) -> None:
        self.b = b

    @property
    def variance(self) -> float:
        return 2 * self.b**2

    def log_prob(self, z: Any) -> Any:
        return -np.abs(z) / self.b - math.log(2 * self.b)

    def quantile(self, tail: float) -> int:
        return math.ceil(-self.b * math.log(tail))

    def integers(self) -> dict[str, Any]:
        return {"b": str(self.b)}

    def draw_noise(self, n: int, rng: Random) -> Ints:
        raise AssertionError("reading draws no noise")


def some_sums(statistic: Any, x: Any, seed: int) -> Iterator[NoisySum]:
    """Sums that noise may produce: zero, negative, huge, and near the truth."""
    width, blocks = statistic.width, statistic.blocks
    words = Random.seeded(seed + 2).words(6 * width).reshape(6, width)
    signed = words.astype(np.int64)
    near = statistic.tally(x)
    vectors = [np.zeros(width, np.int64), np.ones(width, np.int64), np.full(width, -7), np.full(width, HUGE)]
    vectors += [np.full(width, -HUGE), signed[0] >> 3, signed[1] >> 34, signed[2] >> 60, near, near + (signed[3] >> 58)]
    vectors += [np.where(signed[4] > 0, HUGE, -HUGE), np.where(signed[5] > 0, 0, near)]
    for b in (None, 0.01, 3.0, 1e6):
        law: NoiseLaw | None = None if b is None else _Laplace(b)
        for vector in vectors:
            yield NoisySum(blocks, vector.astype(np.int64), (law,) * len(blocks))


def check_interpret(statistic: Any, x: Any, seed: int) -> None:
    for noisy in some_sums(statistic, x, seed):
        try:
            # A warning that depends on the data would tell about it, so a warning is an error here.
            with warnings.catch_warnings(), np.errstate(divide="raise", invalid="raise", over="raise"):
                warnings.simplefilter("error")
                first = _answer_as_text(statistic, noisy)
                statistic.tally(_rows(x, slice(0, 3)))  # must leave no trace
                again = _answer_as_text(statistic, noisy)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            require(
                False,
                statistic,
                Phrase(
                    "reading {sum} with {law!r} fails ({reason})", sum=noisy.sum[:6], law=noisy.laws[0], reason=reason
                ),
            )
        require(first == again, statistic, Phrase("reading depends on more than the noisy sums"))


def _answer_as_text(statistic: Any, noisy: NoisySum) -> str:
    """Everything that the answer shows: figures, variances and intervals."""
    answer = statistic.interpret(noisy)
    if isinstance(answer, Estimates):
        every = [*answer.values(), *answer.means.values()]
        return "\n".join(_figures(statistic, estimate) for estimate in every) + str(answer.n)
    return _figures(statistic, answer) if isinstance(answer, Estimate) else repr(answer)


def _figures(statistic: Any, estimate: Estimate) -> str:
    out: list[Array] = []
    require(isinstance(estimate.n, int) and estimate.n >= 0, statistic, Phrase("reports {n!r} people", n=estimate.n))
    require(len(estimate.labels) == len(estimate.mean), statistic, Phrase("labels and figures differ in number"))
    known = bool(np.isfinite(estimate.mean).all())
    require(known or bool(estimate.reason), statistic, Phrase("a figure is not a number, and nothing says why"))
    if estimate.estimator is None:
        return repr((estimate.mean.tolist(), estimate.reason, estimate.n))
    for target in ("fixed", "superpopulation"):
        out.append(estimate.variance(target))  # type: ignore[arg-type]
        require(bool((out[-1] >= 0).all()), statistic, Phrase("a variance is negative"))
        for level in (0.5, 0.95, 0.999):
            ends = estimate.interval(level, target)  # type: ignore[arg-type]
            require(
                bool((ends[:, 0] <= ends[:, 1]).all()),
                statistic,
                Phrase("the ends of an interval are in the wrong order: {ends}", ends=ends[:3]),
            )
            out.append(ends.ravel())
    require(all(bool(np.isfinite(part).all()) for part in out), statistic, Phrase("a figure is not a number"))
    left_out = "" if estimate.left_out is None else _figures(statistic, estimate.left_out)
    return repr([part.tolist() for part in (estimate.mean, *out)]) + str(estimate.n) + left_out
