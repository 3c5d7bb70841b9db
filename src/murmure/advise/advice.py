"""Which mechanism? Mechanisms ranked by exact variance, before any data is collected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from murmure.advise.document import RANK_KEYS
from murmure.catalogue import load
from murmure.certify.leverage import leverage
from murmure.core.domain import Decimals, Domain, Interval, check_few_values
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import positive_epsilon
from murmure.core.schema import Schema
from murmure.core.types import NumberDomain
from murmure.local.base.oracle_choice import MEAN_ORACLES, SHARE_ORACLES
from murmure.show.document import Document, Shown

if TYPE_CHECKING:
    from murmure.advise.record_advice import RecordAdvice

RankBy = Literal["mean", "worst", "var-star"]


class Ranking(Shown):
    """What both kinds of advice have in common: rows, of which one per epsilon is the best."""

    people: int
    rows: list[dict[str, Any]]

    @property
    def best(self) -> dict[str, Any]:
        return next(row for row in self.rows if row["best"])


@dataclass(frozen=True)
class Advice(Ranking):
    """Mechanisms ranked by exact variance, the best first; one block of rows per epsilon."""

    domain: Domain
    people: int
    statistic: Literal["histogram", "mean"]
    rank_by: RankBy
    rows: list[dict[str, Any]] = field(repr=False)
    share: float | None = None  # the only one that was asked about

    def document(self) -> Document:
        from murmure.advise.document import advice_document

        return advice_document(self)

    def sentence(self) -> Phrase:
        """What the ranking means, in one sentence."""
        from murmure.advise.document import sentence

        return sentence(self)

    def caution(self) -> Phrase | None:
        """What forged reports could do, where one of them counts for many people."""
        from murmure.advise.document import caution

        return caution(self.rows, "mechanism")

    def plot(self, target: Any = None) -> Any:
        """Variance against epsilon, one line per mechanism; to an axis, or to an .svg or .png file."""
        from murmure.advise.document import advice_curves
        from murmure.core.plotting import pyplot
        from murmure.show.plot import draw

        return draw(pyplot(), advice_curves(self), target)


@overload
def advise(
    domain: Domain,
    epsilon: float | Sequence[float],
    people: int,
    shares: float | Sequence[float] | None = None,
    rank_by: RankBy = "mean",
    statistic: Literal["histogram", "mean"] | None = None,
) -> Advice: ...


@overload
def advise(
    domain: Schema,
    epsilon: float | Sequence[float],
    people: int,
    shares: Mapping[str, Sequence[float]] | None = None,
    rank_by: RankBy = "mean",
) -> RecordAdvice: ...


def advise(
    domain: Domain | Schema,
    epsilon: float | Sequence[float],
    people: int,
    shares: Any = None,
    rank_by: RankBy = "mean",
    statistic: Literal["histogram", "mean"] | None = None,
) -> Advice | RecordAdvice:
    """Rank the mechanisms for this domain by exact variance (fixed population of `people`); of a schema, the solutions
    for whole records (see record_advice.py), where shares are given by column.

    shares: nothing known (None), the share of the one value that matters (a number), or the shares of all values.
    The mean over values needs no knowledge: variances are straight lines in the shares, which sum to one. Var* is the
    variance at share 0: right for choosing, wrong as an error bar.

    >>> import murmure as mu
    >>> print(mu.advise(mu.Categories(16), epsilon=1.0, people=10_000))
    The shares of 16 answers, from 10,000 people
    =======================================================================================
    mechanism            error     worst        Var*      bits  leverage  settings
    ---------------------------------------------------------------------------------------
    SubsetSelection       1.78      2.08  0.00031107     10.83      3.18     w = 4  <- best
    OUE                   1.94      2.16  0.00036827        16      3.16
    OLH                   1.94      2.22  0.00036917        12      3.33     g = 4
    SUE                   1.98      1.98  0.00039177        16      2.54
    HadamardResponse      2.15      2.16  0.00046827         5      2.16
    BLH                   2.15      2.16  0.00046827         6      2.16     g = 2
    GRR                   2.48      3.72  0.00056624         4      9.73
    <BLANKLINE>
    - error: standard error of a share in percentage points, averaged over answers
    - worst: the same at the worst share
    - Var*: the variance at share 0, that of a rare answer: right for choosing, wrong as an error bar
    - bits: the size of one report
    - leverage: how many honest people one forged report counts for, at most
    <BLANKLINE>
    With 10,000 people at epsilon 1, SubsetSelection gives every share a standard error of about 1.78
      percentage points on average over the answers (at worst 2.08), and one report costs 10.8 bits.
    >>> schema = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "region": mu.Categories(7)})
    >>> print(mu.advise(schema, epsilon=1.0, people=10_000).best["solution"])
    SMP, 1 of 2
    """
    if isinstance(domain, Schema):
        from murmure.advise.record_advice import advise_records

        if statistic is not None:
            raise InvalidParameter("advise.statistic is for a single domain; for a record, every column is considered.")
        return advise_records(domain, epsilon, people, shares, rank_by)  # type: ignore[arg-type]
    if not isinstance(domain, Domain):
        raise InvalidParameter(
            "advise.domain must be Categories, Integers, Interval, Decimals, Dates or a Schema, got {got}.",
            hint="put labels in Categories([...]), numbers in Integers(low, high) or Interval(low, high)",
            got=shorten(domain),
        )
    check_few_values("advise", domain)
    check_people(people)
    if rank_by not in RANK_KEYS:
        raise InvalidParameter(
            "advise.rank_by must be one of {rank_keys}, got {got}.",
            rank_keys=", ".join(RANK_KEYS),
            got=shorten(rank_by),
        )
    question = statistic or ("mean" if isinstance(domain, Interval | Decimals) else "histogram")
    if question not in ("histogram", "mean") or (question == "mean" and not isinstance(domain, NumberDomain)):
        raise InvalidParameter(
            'advise.statistic must be "histogram" or, for numbers, "mean", got {got}.', got=shorten(statistic)
        )
    if question == "mean" and rank_by == "var-star":
        raise InvalidParameter("advise.rank_by: a mean has no Var*.", hint='use rank_by="mean" or "worst"')
    epsilons = epsilon_list(epsilon)
    known = _check_shares(domain, shares)
    make_row = _cells_row if question == "histogram" else _mean_row
    rows: list[dict[str, Any]] = []
    for e in epsilons:
        names = SHARE_ORACLES if question == "histogram" else MEAN_ORACLES
        block = [make_row(load(name)(domain, e), int(people), known) for name in names]
        # Of two mechanisms with one variance, the shorter report is better.
        block.sort(key=lambda r: (r[RANK_KEYS[rank_by]], r["report_bits"]))
        block[0]["best"] = True
        rows += block
    share = float(shares) if known is not None and np.ndim(known) == 0 else None
    return Advice(domain, int(people), question, rank_by, rows, share)


def check_people(people: Any) -> None:
    if isinstance(people, bool) or not isinstance(people, int | float) or people < 1 or people != int(people):
        raise InvalidParameter("advise.people must be a whole number, at least 1, got {got}.", got=shorten(people))


def epsilon_list(epsilon: Any) -> list[float]:
    epsilons = [epsilon] if np.ndim(epsilon) == 0 else list(epsilon)
    if not epsilons:
        raise InvalidParameter("advise.epsilon: the list is empty.")
    return [positive_epsilon("advise", e) for e in epsilons]


def _check_shares(domain: Domain, shares: Any) -> Any:
    if shares is None:
        return None
    f = np.asarray(shares, float)
    if not np.isfinite(f).all() or (f < 0).any() or (f > 1).any():
        raise InvalidParameter("advise.shares must lie between 0 and 1, got {got}.", got=shorten(shares))
    if f.ndim == 0:
        return f
    if f.shape != (domain.size,) or not math.isclose(float(f.sum()), 1.0, abs_tol=1e-9):
        raise InvalidParameter(
            "advise.shares must be {size} numbers that sum to 1, got {f_size} that sum to {f_sum:.6g}.",
            hint="or one number: the share of the value that matters",
            size=domain.size,
            f_size=f.size,
            f_sum=f.sum(),
        )
    return f


def _advice_row(mechanism: Any, mean: float, worst: float, star: float | None) -> dict[str, Any]:
    return {
        "mechanism": type(mechanism).__name__,
        "epsilon": mechanism.epsilon,
        "mean_variance": mean,
        "worst_variance": worst,
        "var_star": star,
        "report_bits": float(mechanism.report_bits),
        "leverage": leverage(mechanism).largest,
        "detail": mechanism.detail,
        "best": False,
    }


def _cells_row(mechanism: Any, people: int, known: Any) -> dict[str, Any]:
    k = mechanism.domain.size
    if known is None:  # a straight line in f: its mean over cells is its value at 1/k, its largest value at an end
        mean, worst = float(mechanism.variance(1 / k, people)), float(mechanism.variance([0.0, 1.0], people).max())
    else:
        at = mechanism.variance(known, people)
        mean, worst = float(np.mean(at)), float(np.max(at))
    return _advice_row(mechanism, mean, worst, float(mechanism.variance(0.0, people)))


def _mean_row(mechanism: Any, people: int, known: Any) -> dict[str, Any]:
    k = mechanism.domain.size
    v0, v1, v2 = mechanism.variance_polynomial
    c = np.arange(k)
    at = (v0 + v1 * c + v2 * c * c) * mechanism.domain.scale()[1] ** 2 / people
    if known is not None and np.ndim(known) == 0:
        raise InvalidParameter("advise.shares: a mean needs the shares of all values, or none.")
    mean = float(at.mean() if known is None else known @ at)
    return _advice_row(mechanism, mean, float(at.max()) if known is None else mean, None)
