"""Which solution for records? Splitting, sampling and fake data by exact variance, before any data is collected.

All of them cost the same epsilon for the whole record. What is compared is the variance of every figure, averaged over
all figures of all columns: shares unchanged, means in units of the width of their columns (squared), so that both are
parts of a whole. Shares are assumed to be even unless they are known: averaged over values the noise of a mechanism
does not depend on them, and the error of having drawn only some people, f(1-f), is largest there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from murmure.advise.advice import epsilon_list
from murmure.advise.document import RANK_KEYS, caution, record_advice_document, record_curves, records_sentence
from murmure.advise.margin import MAX_EPSILON
from murmure.advise.margin_advice import MarginAdvice, rows_at_margin
from murmure.advise.ranking import MAX_MARGIN, Ranking, check_people
from murmure.certify.certificate import certify
from murmure.certify.leverage import leverages
from murmure.core.domain import check_few_values
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.estimates.column_estimates import Estimates, by_mean
from murmure.core.estimates.estimate import CellEstimator, Estimate
from murmure.core.estimates.margins import check_margin
from murmure.core.fixed import positive_epsilon
from murmure.core.schema import Schema
from murmure.core.types import NoAffine, NumberDomain
from murmure.local.base.randomisers import NumericOracle
from murmure.local.base.record_mechanism import protocol_names
from murmure.local.bounded_laplace import MAX_GRID_CELLS
from murmure.local.rsfd import FAKES, RSFD
from murmure.local.smp import SMP
from murmure.local.spl import SPL, Plain
from murmure.show.document import Document

Floats = NDArray[np.float64]
RankBy = Literal["mean", "worst"]
RECORD_RANKS = ("mean", "worst")
# The epsilon of an attribute below which a smaller sample is better: sinh e = 2 e has e = 2.18.
MIN_ATTRIBUTE_EPSILON = 2.0


def sample_sizes(d: int, epsilon: float) -> range:
    """How many of d attributes are worth drawing: at epsilon / m each, from one on, and fewer than all."""
    return range(1, min(d - 1, math.ceil(epsilon / MIN_ATTRIBUTE_EPSILON) + 1) + 1)


def candidate_solutions(schema: Schema, epsilon: float) -> dict[str, Any]:
    """What `auto` chooses from: splitting, and sampling m of d attributes."""
    return {name: make(epsilon) for name, make in candidate_makers(schema, epsilon).items()}


def candidate_makers(schema: Schema, epsilon: float) -> dict[str, Callable[[float], Any]]:
    """The same, made at any epsilon; epsilon: up to which sampling is worth while."""
    d = len(schema.private)
    # Sampling all d attributes is splitting, which is listed apart.
    sampled = {f"SMP, {m} of {d}": partial(SMP, schema, sample=m) for m in sample_sizes(d, epsilon)}
    return {**sampled, "SPL": partial(SPL, schema)}


def special_solutions(schema: Schema, epsilon: float) -> dict[str, Any]:
    """Solutions with a special use: fakes hide which attribute is real, plain tables look like tables."""
    return {name: make(epsilon) for name, make in special_makers(schema).items()}


def special_makers(schema: Schema) -> dict[str, Callable[[float], Any]]:
    fakes = {f"RS+FD[{name}]": partial(RSFD, schema, oracle=name) for name in FAKES}
    # Bounded Laplace is a table of all pairs of values; where there are too many, the window does without.
    domains = [schema[name] for name in schema.private]
    wide = any(isinstance(domain, NumberDomain) and domain.size > MAX_GRID_CELLS for domain in domains)
    return {**fakes, "Plain": partial(Plain, schema, numeric="Window") if wide else partial(Plain, schema)}


def least_variance(schema: Schema, epsilon: float, people: int, shares: Mapping[str, Any] | None = None) -> Any:
    """The mechanism with the least exact variance, averaged over all figures: what `--solution auto` takes."""
    _check_request(schema, people)
    known = _known_shares(schema, shares)
    candidates = list(candidate_solutions(schema, positive_epsilon("choose", epsilon)).values())
    return min(candidates, key=lambda m: (mean_variance(m, people, known), m.report_bits))


def figure_variances(mechanism: Any, people: int, shares: Sequence[Floats]) -> dict[str, Floats | None]:
    """Exact variances of every figure by column, means in units of the width; None: biased, so there is no figure."""
    out: dict[str, Floats | None] = {}
    rows = zip(mechanism.columns, mechanism.parts, shares, _variances(mechanism, people, shares), strict=True)
    for name, part, f, variance in rows:
        numbers = part.domain.numbers() if by_mean(part.domain) or _estimates_mean(part) else None
        if variance is None or numbers is None:
            out[name] = variance
        elif _estimates_mean(part):
            out[name] = variance / float(numbers[-1] - numbers[0]) ** 2
        else:  # shares of very many values: the figure is their mean, computed from them
            high, low = part._cells
            estimator = CellEstimator((low + (high - low) * f) * people, people, high, low, part.cross)
            estimate = Estimate(part.domain.labels(), f, people, "share", estimator)
            mean = Estimates({name: estimate}, people, {name: (numbers, 0.0)}).means[name]
            out[name] = mean.variance("fixed") / float(numbers[-1] - numbers[0]) ** 2
    return out


def _variances(mechanism: Any, people: int, shares: Sequence[Floats]) -> list[Floats | None]:
    if not any(isinstance(part.affine(), NoAffine) for part in mechanism.parts):
        return [np.asarray(v, float) for v in mechanism.variance(shares, people)]
    return [  # a plain table: each person reports every column
        None if isinstance(part.affine(), NoAffine) else np.asarray(part.variance(f, people), float)
        for part, f in zip(mechanism.parts, shares, strict=True)
    ]


def _estimates_mean(part: Any) -> bool:
    return isinstance(part, NumericOracle)


def mean_variance(mechanism: Any, people: int, shares: Sequence[Floats]) -> float:
    """Averaged over all figures of all columns; infinite where one of them is biased."""
    variances = list(figure_variances(mechanism, people, shares).values())
    return math.inf if any(v is None for v in variances) else float(np.concatenate(variances).mean())  # type: ignore[arg-type]


# -- the ranking ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RecordAdvice(Ranking):
    """Solutions ranked by exact variance, the best first; one block of rows per epsilon."""

    schema: Schema
    people: int
    rank_by: RankBy
    rows: list[dict[str, Any]] = field(repr=False)

    def document(self) -> Document:
        return record_advice_document(self)

    def sentence(self) -> Phrase:
        """What the ranking means, in one sentence."""
        return records_sentence(self)

    def caution(self) -> Phrase | None:
        """What forged reports could do, where one of them counts for many people."""
        return caution(self.rows, "solution")

    def plot(self, target: Any = None) -> Any:
        """Standard error against epsilon, one line per solution; to an axis, or to an .svg or .png file."""
        from murmure.core.plotting import pyplot
        from murmure.show.plot import draw

        return draw(pyplot(), record_curves(self), target)


def advise_records(
    schema: Schema,
    epsilon: float | Sequence[float],
    people: int,
    shares: Mapping[str, Any] | None = None,
    rank_by: RankBy = "mean",
) -> RecordAdvice:
    """Rank the solutions for this schema. shares: by column, those that are known (of the values, also of a number)."""
    _check_request(schema, people)
    _check_rank(rank_by)
    epsilons = epsilon_list(epsilon)
    for name in schema.private:
        check_few_values("advise", schema[name])
    known = _known_shares(schema, shares)
    rows: list[dict[str, Any]] = []

    # A biased figure has no variance (None): its solution comes last.
    def order(row: dict[str, Any]) -> tuple[float, float]:
        variance = row[RANK_KEYS[rank_by]]
        return (math.inf if variance is None else variance), row["report_bits"]

    for e in epsilons:
        candidates, others = (
            [_advice_row(name, m, int(people), known) for name, m in solutions(schema, e).items()]
            for solutions in (candidate_solutions, special_solutions)
        )
        block = sorted([*candidates, *others], key=order)
        best = min(candidates, key=order)
        best["best"] = True
        rows += sorted(block, key=lambda row: not row["best"])  # the chosen one goes before its equals
    return RecordAdvice(schema, int(people), rank_by, rows)


def advise_records_by_margin(
    schema: Schema, margin: float, people: Any, shares: Mapping[str, Any] | None, rank_by: Any
) -> MarginAdvice:
    """The solutions by the smallest epsilon of the whole record that gives their figures this margin."""
    _check_request(schema, people)
    _check_rank(rank_by)
    wanted = check_margin("advise", margin, MAX_MARGIN)
    for name in schema.private:
        check_few_values("advise", schema[name])
    known, n, key = _known_shares(schema, shares), int(people), RANK_KEYS[rank_by]
    candidates = candidate_makers(schema, MAX_EPSILON)

    rows = rows_at_margin(
        {**candidates, **special_makers(schema)},
        "solution",
        lambda m: summary_variances(figure_variances(m, n, known))[key],
        lambda m: _advice_row("", m, n, known),
        wanted,
        "records",
        lambda name: name in candidates,
    )
    return MarginAdvice(schema, n, "records", rank_by, wanted, rows)


def _check_rank(rank_by: Any) -> None:
    if rank_by not in RECORD_RANKS:
        raise InvalidParameter(
            "advise.rank_by must be one of {record_ranks} for records, got {got}.",
            hint="Var* is for a single attribute",
            record_ranks=", ".join(RECORD_RANKS),
            got=shorten(rank_by),
        )


def _check_request(schema: Schema, people: Any) -> None:
    check_people(people)
    schema.refuse_drafted()
    if not schema.private:
        raise InvalidParameter("advise.schema has public columns only: there is nothing to randomise.")


def _known_shares(schema: Schema, given: Mapping[str, Any] | None) -> list[Floats]:
    """Even shares, but for the columns whose shares are known."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidParameter(
            "advise.shares must be given by column, got {got}.",
            hint='shares={{"smoker": [0.8, 0.2]}}',
            got=shorten(given),
        )
    unknown = set(given or ()) - set(schema.private)
    if unknown:
        raise InvalidParameter(
            "advise.shares names columns that are not randomised: {unknown}.", unknown=sorted(map(str, unknown))
        )
    out = []
    for name in schema.private:
        size = schema[name].size
        f = np.full(size, 1 / size) if given is None or name not in given else np.asarray(given[name], float)
        if f.shape != (size,) or not (f >= 0).all() or not math.isclose(float(f.sum()), 1.0, abs_tol=1e-9):
            raise InvalidParameter(
                "advise.shares of column {name!r} must be {size} numbers that sum to 1.", name=name, size=size
            )
        out.append(f)
    return out


def _advice_row(solution: str, mechanism: Any, people: int, shares: Sequence[Floats]) -> dict[str, Any]:
    by_column = figure_variances(mechanism, people, shares)
    means = {name: None if v is None else float(v.mean()) for name, v in by_column.items()}
    biased = [name for name, v in means.items() if v is None]
    pairs = list(itertools.combinations(range(len(mechanism.columns)), 2))
    named = zip(mechanism.columns, protocol_names(mechanism), strict=True)
    return {
        "solution": solution,
        "mechanism": type(mechanism).__name__,
        "epsilon": mechanism.epsilon,
        **summary_variances(by_column),
        "epsilon_record": certify(mechanism, "record").epsilon,
        "epsilon_attribute": certify(mechanism, "attribute").epsilon,
        "pairs": sum(mechanism.why_no_pair(i, j) is None for i, j in pairs),
        "pairs_in_all": len(pairs),
        "report_bits": float(mechanism.report_bits),
        "leverage": _largest_leverage(mechanism),
        "columns": {name: {"protocol": protocol, "variance": means[name]} for name, protocol in named},
        "note": "" if not biased else Phrase("biased, no figure: {names}", names=_first_names(biased)),
        "best": False,
    }


def summary_variances(by_column: Mapping[str, Floats | None]) -> dict[str, float | None]:
    """Averaged over all figures, and over those of the worst column; None where a figure is biased."""
    figures = [v for v in by_column.values() if v is not None]
    if len(figures) < len(by_column):
        return {"mean_variance": None, "worst_variance": None}
    worst = max(float(v.mean()) for v in figures)
    return {"mean_variance": float(np.concatenate(figures).mean()), "worst_variance": worst}


def _largest_leverage(mechanism: Any) -> float | None:
    """Of the figures that are compared above; None where there is none."""
    means = [name for name, part in zip(mechanism.columns, mechanism.parts, strict=True) if by_mean(part.domain)]
    each = [one.largest for one in leverages(mechanism, means=means).values() if one.reason is None]
    return max(each, default=None)


def _first_names(names: list[str], count: int = 3) -> str:
    shown, more = ", ".join(names[:count]), len(names) - count
    return Phrase("{names} and {more} more", names=shown, more=more) if more > 0 else shown
