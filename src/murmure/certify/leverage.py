"""How far one forged report moves a figure, compared with a person who answers honestly.

An estimate is a mean over reports of what each is worth:

    a share     z_v(y) = (S_v(y) - q_v) / (p_v - q_v),     S_v(y) = 1 where the report y supports the value v;
    a mean      z(y)   = the readout of y, in widths of the public range.

A person who holds v and answers honestly adds 1 to n times the share of v on average, and nothing to the others. A
forger is not bound by the law: one report adds anything between `down`, the smallest z, and `up`, the largest. For one
cell these are -q/(p-q) and (1-q)/(p-q). So m forged reports count for up to m times `up` people, and `up` is what this
file computes, from the integers of the law.

Cheu, Smith, Ullman (Manipulation attacks in local differential privacy), J. Privacy and Confidentiality 11(1), 2021;
Cao, Jia, Gong (Data poisoning attacks to local differential privacy protocols), USENIX Security 2021.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, Phrase, Plural, shorten
from murmure.core.types import Affine, Array, Floats, Mechanism, NoAffine
from murmure.local.base.attribute_pairs import PairOracle
from murmure.local.base.hidden_attribute import HiddenOracle
from murmure.local.base.record_mechanism import RecordMechanism
from murmure.local.grr import GRR
from murmure.local.hadamard import HadamardResponse
from murmure.local.hashing import LocalHashing
from murmure.local.subset import SubsetSelection
from murmure.local.unary import PackedOracle
from murmure.local.unrelated import TwoSamples
from murmure.local.warner import YesNo
from murmure.statistics.histogram import Histogram
from murmure.statistics.marginals import Marginals
from murmure.statistics.mean import Mean
from murmure.statistics.pair import Pair

MAX_LISTED_REPORTS = 1 << 12  # of a mechanism that is not known here: its reports are tried one by one


@dataclass(frozen=True, eq=False)
class Leverage:
    """What one forged report adds to each figure; an honest person who holds the value adds 1.

    >>> import murmure as mu
    >>> from murmure.certify.leverage import leverage
    >>> for mechanism in (mu.GRR(mu.Categories(128), 1.0), mu.OUE(mu.Categories(128), 1.0)):
    ...     print(leverage(mechanism))
    one forged report counts for up to 74.9 people, on 1 figure at once
    one forged report counts for up to 3.16 people, on 128 figures at once
    """

    labels: tuple[str, ...]  # of the figures
    up: Floats  # the most that one report adds to each figure
    down: Floats  # the least: how far it pushes the figure down
    at_once: int  # how many figures one report can raise to `up` at the same time
    exact: bool = True  # some report attains it; False: no report exceeds it
    reason: str | None = None  # why there is no figure to move

    @property
    def largest(self) -> float:
        """The most that one report moves any figure, up or down."""
        return float(max(self.up.max(), -self.down.min())) if len(self.up) else float("nan")

    @property
    def bias(self) -> float:
        """The largest bias from one forged report, in people: `up` where honest people add 0, `down` where they add 1.

        Of m forged reports among n, no figure is moved by more than m bias / n. It is `largest`, except where a report
        that does not support a value says more than one that does.

        >>> import murmure as mu
        >>> from murmure.certify.leverage import leverage
        >>> one = leverage(mu.HadamardResponse(mu.Categories(4), 1.0))
        >>> print(f"counts for {one.largest:.2f} people, moves a figure by up to {one.bias:.2f}")
        counts for 2.16 people, moves a figure by up to 3.16
        """
        return float(max(self.up.max(), 1 - self.down.min())) if len(self.up) else float("nan")

    def most(self, forged: int, people: int) -> Floats:
        """(down, up) of every figure, in rows: how far `forged` of `people` reports can move it, as a share."""
        return np.stack([self.down, self.up], axis=1) * forged / people

    def __str__(self) -> str:
        if self.reason is not None:
            return str(Phrase("no figure to move: {reason}", reason=self.reason))
        figures = Plural("{n:,} figure", "{n:,} figures", n=self.at_once)
        return str(
            Phrase(
                "one forged report counts for up to {people:.3g} people, on {figures} at once",
                people=self.largest,
                figures=figures,
            )
        )


def leverage(mechanism: Any) -> Leverage:
    """The leverage of one forged report to a mechanism of one attribute (or of one column of a record)."""
    if isinstance(mechanism, TwoSamples):
        return _two_samples(mechanism)
    if isinstance(mechanism, PairOracle):
        return _pair(mechanism)
    affine = _affine(mechanism)
    if isinstance(affine, NoAffine):
        return Leverage((), np.empty(0), np.empty(0), 0, reason=affine.reason)
    if affine.of == "code":
        readout = mechanism.readouts()[0] / (mechanism.domain.size - 1)
        return Leverage(("mean",), np.array([readout.max()]), np.array([readout.min()]), 1)
    k = mechanism.domain.size
    q, slope = _cells(affine, k)
    together, exact = most_supported(mechanism, np.ones(k))
    # Some report supports any given cell, and some does not: both ends are attained, cell by cell.
    return Leverage(tuple(mechanism.domain.labels()), (1 - q) / slope, -q / slope, round(together), exact)


def mean_leverage(mechanism: Any) -> Leverage:
    """Of the mean of a number: of its readouts, or of the shares of its values, taken from the middle of the range."""
    affine = _affine(mechanism)
    if isinstance(affine, NoAffine) or affine.of == "code":
        return leverage(mechanism)
    values = mechanism.domain.numbers()
    w = values / (values[-1] - values[0])
    middle = (w[0] + w[-1]) / 2
    q, slope = _cells(affine, len(w))
    each = (w - middle) / slope  # what supporting each value adds
    rest = middle - w[0] - float(each @ q)
    (high, exact), (low, also) = most_supported(mechanism, each), most_supported(mechanism, -each)
    return Leverage(("mean",), np.array([rest + high]), np.array([rest - low]), 1, exact and also)


def leverages(mechanism: Any, statistic: Any = None, means: Collection[str] = ()) -> dict[str, Leverage]:
    """The leverage of every figure of a plan, by column; a question about one attribute has the column "".

    statistic: what the plan asks. Without one: shares where the reports give shares, else a mean. means: columns of a
    record whose figure is the mean, also where their reports give shares. (Of people with public weights: the leverage
    of one with the average weight.)

    >>> import murmure as mu
    >>> from murmure.certify.leverage import leverages
    >>> schema = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "region": mu.Categories(7)})
    >>> for name, column in leverages(mu.SMP(schema, epsilon=1.0)).items():  # half of the people report each column
    ...     print(name, round(column.largest, 2))
    smoker 3.16
    region 8.98
    """
    if mechanism is None:
        raise InvalidParameter(
            "leverage is about reports that people randomise, and this plan has no mechanism at the person.",
            hint="in the clear and at a curator, a false row counts as one row",
        )
    if isinstance(statistic, Pair):
        return {"": _pair(statistic.tallier(mechanism), _shown_together(mechanism, statistic.places))}
    if isinstance(mechanism, RecordMechanism):
        if statistic is not None and not isinstance(statistic, Marginals):
            raise _unknown(statistic)
        chances = _chances(mechanism)
        return {
            name: _scaled(mean_leverage(part) if name in means else leverage(part), 1 / chance)
            for name, part, chance in zip(mechanism.columns, mechanism.parts, chances, strict=True)
        }
    if isinstance(statistic, Mean):
        return {"": mean_leverage(mechanism)}
    if statistic is not None and not isinstance(statistic, Histogram):
        raise _unknown(statistic)
    return {"": leverage(mechanism)}


def _unknown(statistic: Any) -> InvalidParameter:
    return InvalidParameter(
        "leverage is known of Histogram, Mean, Marginals and Pair, got {got}.", got=shorten(type(statistic).__name__)
    )


def _affine(mechanism: Any) -> Affine | NoAffine:
    affine = mechanism.affine() if isinstance(mechanism, Mechanism | HiddenOracle) else None
    if not isinstance(affine, Affine | NoAffine):
        raise InvalidParameter(
            "leverage takes a mechanism of one attribute, got {got}.",
            hint="leverages(mechanism) reads a record column by column",
            got=shorten(type(mechanism).__name__),
        )
    return affine


def _cells(affine: Affine, k: int) -> tuple[Floats, Floats]:
    """q and p - q of every cell."""
    q = np.array([float(o) for o in affine.offset]) * np.ones(k)
    return q, np.array([float(s) for s in affine.slope]) * np.ones(k)


def _scaled(one: Leverage, factor: float) -> Leverage:
    """Where only some people show a column, each of their reports counts for more."""
    return Leverage(one.labels, one.up * factor, one.down * factor, one.at_once, one.exact, one.reason)


def _chances(mechanism: Any) -> tuple[float, ...]:
    """How likely a person is to show each column. Its reports are divided by how many show it."""
    if not mechanism.shows_some_columns:
        return (1.0,) * len(mechanism.parts)
    draw = mechanism.channel.draw
    if draw.cut is not None:
        return tuple(float(share) for share in draw.cut.shares())
    return (draw.take / draw.columns,) * draw.columns


def _shown_together(mechanism: Any, places: tuple[int, int]) -> float:
    """How likely a person is to show both columns."""
    if not mechanism.shows_some_columns:
        return 1.0
    draw = mechanism.channel.draw
    if draw.in_turn:
        return sum(set(places) <= set(shown) for shown in draw.turns()) / draw.columns
    return draw.take * (draw.take - 1) / (draw.columns * (draw.columns - 1))  # type: ignore[no-any-return]


def _pair(oracle: PairOracle, chance: float = 1.0) -> Leverage:
    """Z_uv is a product of one factor per column, each between -q/(p-q) and (1-q)/(p-q)."""
    a, b = leverage(oracle.first), leverage(oracle.second)
    ends = np.stack([np.multiply.outer(x, y).reshape(-1) for x in (a.up, a.down) for y in (b.up, b.down)])
    labels = tuple(f"{u}, {v}" for u in a.labels for v in b.labels)
    return Leverage(labels, ends.max(axis=0) / chance, ends.min(axis=0) / chance, a.at_once * b.at_once)


def _two_samples(samples: TwoSamples) -> Leverage:
    """A forged yes in group g adds c_g / n_g to a share, and 1 / n is what one of all n people is worth."""
    each = samples._coefficients() * sum(samples.n) / np.array(samples.n)
    return Leverage(("sensitive", "innocuous"), np.maximum(each, 0.0).max(axis=1), np.minimum(each, 0.0).min(axis=1), 1)


# -- what one report can support ---------------------------------------------------------------------------------------


@singledispatch
def most_supported(mechanism: Any, w: Floats) -> tuple[float, bool]:
    """The largest sum of w_v over the values that one report supports, and whether some report attains it."""
    outcomes = mechanism.channel.outcomes()
    if outcomes is not None and mechanism.channel.report_bits() <= np.log2(MAX_LISTED_REPORTS):
        return max(float(w @ mechanism.tally(_column(y))) for y in outcomes), True
    return float(np.maximum(w, 0.0).sum()), False


def _column(report: Any) -> Array:
    """One report, as a column of reports."""
    return np.asarray(report)[None]


@most_supported.register(GRR)
@most_supported.register(YesNo)
def _one_value(mechanism: Any, w: Floats) -> tuple[float, bool]:
    return float(w.max()), True


@most_supported.register(PackedOracle)
def _any_bits(mechanism: Any, w: Floats) -> tuple[float, bool]:
    return float(np.maximum(w, 0.0).sum()), True


@most_supported.register(SubsetSelection)
def _a_set(mechanism: SubsetSelection, w: Floats) -> tuple[float, bool]:
    return float(np.sort(w)[-mechanism.size :].sum()), True


@most_supported.register(HadamardResponse)
def _a_half(mechanism: HadamardResponse, w: Floats) -> tuple[float, bool]:
    """Report y supports v where row v+1 is +1 at y: (sum w + transform of w at y) / 2. Report 0 supports everything."""
    at = np.zeros(mechanism.channel.order)
    at[1 : len(w) + 1] = w
    h = 1
    while h < len(at):
        pairs = at.reshape(-1, 2, h)
        at = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        h *= 2
    return float((w.sum() + at.max()) / 2), True


@most_supported.register(LocalHashing)
def _any_hash(mechanism: LocalHashing, w: Floats) -> tuple[float, bool]:
    """The forger picks the hash too. One that sends every value to the same bin supports all of them, or none.

    So the sum over positive w is attained where all w are positive, or one alone is; otherwise it is a bound.
    """
    positive = w > 0
    return float(w[positive].sum()), bool(positive.all() or positive.sum() <= 1)


@most_supported.register(HiddenOracle)
def _real_or_fake(mechanism: HiddenOracle, w: Floats) -> tuple[float, bool]:
    return most_supported(mechanism.real, w)
