"""What estimates show: figures with their intervals, and notes on how to read them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from murmure.core.errors import InvalidParameter
from murmure.core.estimates.intervals import level_of_each
from murmure.core.estimates.method_words import KNOWN_EXACTLY, explained
from murmure.core.types import Target
from murmure.show.document import Block, IntervalRow, Intervals, Paragraph
from murmure.show.phrase import Phrase, Plural, commas

if TYPE_CHECKING:
    from murmure.core.estimates.column_estimates import Estimates
    from murmure.core.estimates.estimate import Estimate

MAX_LISTED = 20  # groups of which a sentence says something each
MAX_NAMES = 6  # columns named in a note
FIXED = Phrase("for these people (fixed population)")
SUPERPOPULATION = Phrase("for the population they were drawn from (superpopulation)")
SIMULATED = Phrase("truth (simulation)")
OUTSIDE_ITS_INTERVAL = Phrase(
    "An unbiased estimate can fall outside what is possible; its interval keeps to what is possible, so here an "
    "estimate lies outside its interval."
)
NOTHING = Phrase("nothing can be read")
FIGURES = {  # figures that are named after what they are
    "mean": Phrase("mean"),
    "count": Phrase("count"),
    "sum": Phrase("sum"),
    "variance": Phrase("variance"),
    "median": Phrase("median"),
}


def figure_name(label: str) -> str:
    """The name of a figure in the reader's language, where the software named it; else the label as it is."""
    if label.startswith("quantile "):
        try:
            return Phrase("quantile {q:g}", q=float(label.removeprefix("quantile ")))
        except ValueError:
            return label
    return FIGURES.get(label, label)


def _named_by_software(estimate: Estimate) -> bool:
    """Whether no label can be a group or a value of somebody's table."""
    return estimate.unit != "share" and all(isinstance(figure_name(str(label)), Phrase) for label in estimate.labels)


def no_figure(estimate: Estimate) -> bool:
    return bool(np.isnan(estimate.mean).all())


def figures_of(
    estimate: Estimate,
    title: str = "",
    level: float = 0.95,
    target: Target | None = None,
    truth: Any = None,
    each: float | None = None,
    bounds: tuple[float, float] | None = None,
    label: str = "",
    counts: bool | None = None,
    named: bool | None = None,
) -> Intervals:
    """The figures of an estimate that has some.

    each: the level of one interval, where all of several estimates hold at once. counts: of shares, how many people
    too (None: of noisy ones; of reports it is the share times the people again). named: figures are named after what
    they are, in the reader's language (None: if all labels are such names).
    """
    named = _named_by_software(estimate) if named is None else named
    rows, _ = estimate.numbers_and_method(each or level, target)
    with_counts = estimate.unit == "share" and (estimate.noisy if counts is None else counts)
    whole = estimate.unit == "count"  # of people: the ends are whole, rounded outward
    figures = []
    for i, row in enumerate(rows):
        low, high = row.get("low"), row.get("high")
        if whole and low is not None and high is not None and math.isfinite(low) and math.isfinite(high):
            low, high = float(math.floor(low)), float(math.ceil(high))
        name = figure_name(str(row["label"])) if named else str(row["label"])
        known = None if truth is None else float(truth[i])
        figures.append(IntervalRow(name, row[estimate.unit], low, high, known, row["count"] if with_counts else None))
    why = None if truth is None else SIMULATED
    names = None if estimate.names is None else tuple(estimate.names)
    return Intervals(title, tuple(figures), estimate.unit, level, each, label, bounds, truth=why, names=names)


def people(n: int, noisy: bool) -> Phrase:
    """How many people; with noise on their number, about how many."""
    if noisy:
        return Plural("about {n:,} person", "about {n:,} people", n=n)
    return Plural("{n:,} person", "{n:,} people", n=n)


def population(target: str) -> Phrase:
    return SUPERPOPULATION if target == "superpopulation" else FIXED


def estimate_blocks(estimate: Estimate, level: float = 0.95) -> tuple[Block, ...]:
    """The figures, then how many people there are and how the intervals were computed."""
    more = [*left_out_notes(estimate, level)]
    if no_figure(estimate):
        return tuple(_notes([no_figure_note(estimate), *noisy_counts(estimate), *more]))
    figures = figures_of(estimate, level=level)
    who, method = people(estimate.n, estimate.noisy), estimate.rows_and_method(level)[1]
    if not method:
        note = Phrase("{people}; no error bar: {reason}", people=who, reason=estimate.reason)
    else:
        how = _bars(method, level, estimate.target)
        note = Phrase("{people}; {how}", people=who, how=how)
    return (figures, *_notes([note, *outside_note([figures]), *more]))


def no_figure_note(estimate: Estimate) -> Phrase:
    return Phrase("no figure: {reason}", reason=estimate.reason or NOTHING)


def _bars(method: str, level: float, target: str) -> Phrase:
    whom = population(target)
    if method == KNOWN_EXACTLY:
        return Phrase("known exactly, {population}", population=whom)
    return Phrase(
        "{level:.6g}% intervals by {method}, {population}",
        level=100 * level,
        method=explained(method),
        population=whom,
    )


def _notes(texts: Iterable[str]) -> list[Paragraph]:
    return [Paragraph(text, "note") for text in texts]


def outside_note(figures: Iterable[Intervals]) -> list[Phrase]:
    """One sentence where an estimate lies outside its own interval."""
    rows = [row for block in figures for row in block.rows if row.low is not None and row.high is not None]
    # Whole ends of counts were rounded outward, so what is outside them is outside for more than its digits.
    outside = any(row.estimate < row.low - 1e-9 or row.estimate > row.high + 1e-9 for row in rows)  # type: ignore[operator]
    return [OUTSIDE_ITS_INTERVAL] if outside else []


def noisy_counts(estimate: Estimate) -> list[Phrase]:
    """Where the number of people is lost in the noise there are no shares, but there are noisy counts."""
    if estimate.unit != "share" or estimate.estimator is None:
        return []
    both = list(zip(estimate.labels, estimate.counts, strict=True))
    shown = [Phrase("{label} {count:,.0f}", label=str(label), count=float(n) + 0.0) for label, n in both[:MAX_LISTED]]
    if len(both) > MAX_LISTED:
        shown.append(Phrase("... {more:,} more", more=len(both) - MAX_LISTED))
    return [Phrase("Noisy counts: {counts}", counts=commas(shown))]


def left_out_notes(
    estimate: Estimate, level: float = 0.95, target: Target | None = None, column: str = ""
) -> list[Phrase]:
    """The noisy number of rows that have no part in the figures, with its interval."""
    if estimate.left_out is None:
        return []
    rows = estimate.left_out.to_rows(level, target or estimate.target)
    texts: list[Phrase] = []
    for row in rows[:MAX_LISTED]:
        about = Phrase(
            "about {count:,.0f} ({low:,.0f} to {high:,.0f})",
            count=round(row["count"]) + 0.0,
            low=math.floor(row["low"]),
            high=math.ceil(row["high"]),
        )
        texts.append(about if len(rows) == 1 else Phrase("{label} {about}", label=str(row["label"]), about=about))
    if len(rows) > MAX_LISTED:
        texts.append(Phrase("... {more:,} more", more=len(rows) - MAX_LISTED))
    told = Phrase("Rows left out (their number is missing or not in the schema): {rows}", rows=commas(texts))
    if estimate.names is not None:
        told = Phrase("Rows left out (their date is missing or not in the schema): {rows}", rows=commas(texts))
    elif column:
        told = Phrase(
            "Rows left out of {column} (their number is missing or not in the schema): {rows}",
            column=column,
            rows=commas(texts),
        )
    outside = any(not math.floor(r["low"]) <= round(r["count"]) <= math.ceil(r["high"]) for r in rows[:MAX_LISTED])
    if outside:
        told = Phrase(
            "{told} (a noisy number can fall outside what is possible, and its interval keeps to what is possible)",
            told=told,
        )
    return [told]


# -- several columns ---------------------------------------------------------------------------------------------------


def estimates_blocks(estimates: Estimates, level: float = 0.95) -> tuple[Block, ...]:
    """Figures column by column, then the means, then what holds for all of them."""
    shares, means, without = _parts(estimates)
    methods: dict[str, list[str]] = {}
    figures = [figures_of(estimate, name, level) for name, estimate in shares.items()]
    rows = [(name, figures_of(estimate, level=level).rows[0]) for name, estimate in means.items()]
    if rows:
        named = tuple(IntervalRow(name, row.estimate, row.low, row.high) for name, row in rows)
        figures.append(Intervals(Phrase("mean"), named, "value", level))
    for name, estimate in [*shares.items(), *means.items()]:
        method = estimate.rows_and_method(level)[1]
        mean = name in shares and estimate is not shares[name]
        if method:
            methods.setdefault(method, []).append(Phrase("mean of {name}", name=name) if mean else name)
    notes = [_people_note(estimates, methods, level)]
    if len(methods) > 1:
        notes += [
            Phrase("intervals of {names} by {method}", names=some_names(names), method=explained(method))
            for method, names in methods.items()
        ]
    notes += [
        Phrase("no figure of {names}: {reason}", names=some_names(names), reason=reason)
        for reason, names in without.items()
    ]
    if estimates.remark:
        notes.append(Phrase("provided {remark}", remark=estimates.remark))
    notes += outside_note(figures)
    for name, estimate in estimates.items():
        notes += left_out_notes(estimate, level, column=name)
    return (*figures, *_notes(notes))


def _parts(estimates: Estimates) -> tuple[dict[str, Estimate], dict[str, Estimate], dict[str, list[str]]]:
    """Columns shown value by value; the means of numeric columns; and why the others have no figure."""
    shares: dict[str, Estimate] = {}
    without: dict[str, list[str]] = {}
    for name, estimate in estimates.items():
        if no_figure(estimate):
            without.setdefault(estimate.reason or NOTHING, []).append(name)
        elif estimate.unit != "value" or len(estimate.mean) > 1:
            shares[name] = estimate
    means = {name: e for name, e in estimates.means.items() if not no_figure(e) and len(e.mean) == 1}
    return shares, means, without


def _people_note(estimates: Estimates, methods: dict[str, list[str]], level: float) -> Phrase:
    who = people(estimates.n, estimates.noisy)
    reports = reports_per_column(estimates)
    if reports is not None:
        fewest, most = reports
        each = Phrase("{n:,}", n=most) if fewest == most else Phrase("{fewest:,} to {most:,}", fewest=fewest, most=most)
        who = Phrase("{people}, of whom {reports} reported each column", people=who, reports=each)
    if not methods:
        return who
    if len(methods) == 1:
        return Phrase("{people}; {how}", people=who, how=_bars(next(iter(methods)), level, estimates.target))
    whom = population(estimates.target)
    return Phrase("{people}; {level:.6g}% intervals, {population}", people=who, level=100 * level, population=whom)


def reports_per_column(estimates: Estimates) -> tuple[int, int] | None:
    """The fewest and the most people who reported a column, where not everybody reports every one."""
    from murmure.core.estimates.estimate import SampledEstimator
    from murmure.core.estimates.forged_reports import as_unforged

    estimators = [as_unforged(e.estimator) for e in estimates.values()]
    reports = [estimator.shown for estimator in estimators if isinstance(estimator, SampledEstimator)]
    return (min(reports), max(reports)) if reports else None


def some_names(names: list[str]) -> Phrase:
    more = len(names) - MAX_NAMES
    shown = commas(names[:MAX_NAMES])
    return shown if more <= 0 else Phrase("{names} and {more} more", names=shown, more=more)


# -- what a simulation knows, and levels -------------------------------------------------------------------------------


def simultaneous_level(level: float, estimates: Iterable[Estimate]) -> float:
    """The level of one interval when the intervals of all figures hold at once."""
    return level_of_each(level, sum(len(e.mean) for e in estimates if e.estimator is not None))


def true_values(estimate: Estimate, truth: Any, owner: str = "plot.truth") -> Any:
    """The true figures, one for each estimated one; None stays None."""
    if truth is None:
        return None
    k, values = len(estimate.mean), np.atleast_1d(np.asarray(truth, float))
    if values.shape != (k,) or not np.isfinite(values).all():
        raise InvalidParameter(
            "{owner} must be {k} numbers, one for each figure, got shape {shape}.",
            owner=owner,
            k=k,
            shape=np.shape(truth),
        )
    return values


def truths_of(estimates: Estimates, truth: Any) -> dict[str, Any]:
    """Checked, by column; columns without figures have nothing to compare."""
    if truth is None:
        return {}
    if not hasattr(truth, "items"):
        raise InvalidParameter(
            "truth must map columns to shares or means, got {got}.",
            hint='truth={{"smoker": [0.8, 0.2], "age": 47.3}}',
            got=type(truth).__name__,
        )
    unknown = [name for name in truth if name not in estimates]
    if unknown:
        raise InvalidParameter(
            "truth names columns that were not estimated: {unknown}.", unknown=some_names(list(map(repr, unknown)))
        )
    return {
        name: true_values(estimates[name], values, Phrase("truth of column {name!r}", name=name))
        for name, values in truth.items()
        if not no_figure(estimates[name])
    }


# -- plots -------------------------------------------------------------------------------------------------------------


def panel_of(
    estimate: Estimate,
    title: str = "",
    level: float = 0.95,
    truth: Any = None,
    each: float | None = None,
    bounds: tuple[float, float] | None = None,
) -> Intervals | Paragraph:
    """An estimate in a picture: its figures, or why it has none."""
    if no_figure(estimate):
        why = no_figure_note(estimate)
        return Paragraph(Phrase("{title}: {why}", title=title, why=why) if title else why, "note")
    inside = bounds if estimate.unit == "value" else None
    return figures_of(estimate, title, level, estimate.target, truth, each, inside, counts=False)


def plot_estimates(
    estimates: Estimates,
    target: Any = None,
    level: float = 0.95,
    truth: Any = None,
    simultaneous: bool = False,
    title: str = "",
) -> Any:
    """One panel per column, in two stacks; a column without figures says why. To a figure, or to a file.

    simultaneous: all intervals hold at once, with the probability `level`.
    """
    from murmure.core.plotting import pyplot
    from murmure.show.plot import draw_all

    plt = pyplot()
    each = simultaneous_level(level, estimates.values()) if simultaneous else None
    truths = truths_of(estimates, truth)
    panels = [
        panel_of(estimate, name, level, truths.get(name), each, estimates.bounds(name))
        for name, estimate in estimates.items()
    ]
    return draw_all(plt, panels, target, title=title)
