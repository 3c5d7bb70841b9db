"""How results look: a table in a terminal, a table with bars in a notebook, a plot."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from murmure.core.errors import InvalidParameter, MissingExtra, Phrase
from murmure.core.estimates.intervals import level_of_each
from murmure.core.notices import RANDOMISED_HERE, RANDOMISED_OUTSIDE, REHEARSAL_NOTICE
from murmure.show.short_labels import cut_labels

if TYPE_CHECKING:
    from murmure.core.estimates.column_estimates import Estimates
    from murmure.core.estimates.estimate import Estimate
    from murmure.core.types import Certificate, Release

MAX_ROWS = 20
MAX_NAMES = 6  # columns named in a note
MAX_LABEL = 40  # letters of a label in a table of several columns
STYLE = """<style>
.murmure{font:14px/1.45 system-ui,sans-serif;max-width:48em}
.murmure table{border-collapse:collapse;margin:.4em 0;color:inherit;font:inherit;white-space:nowrap}
.murmure td,.murmure th{padding:.2em .8em;text-align:right;border:0;background:none;font-variant-numeric:tabular-nums}
.murmure th{font-weight:600;border-bottom:1px solid #8886}
.murmure .name{text-align:left}
.murmure .best td{font-weight:600}
.murmure .bar{width:12em;font-weight:400}
.murmure .track{position:relative;height:.8em;background:#8882;border-radius:2px}
.murmure .track i{position:absolute;top:0;height:100%;background:#2a78d655;border-radius:2px}
.murmure .track b{position:absolute;top:-1px;width:2px;height:calc(100% + 2px);background:#2a78d6}
.murmure .note{opacity:.75;margin:.2em 0}
.murmure .warn{background:#b3261e;color:#fff;font-weight:600;padding:.1em .6em;display:inline-block}
</style>"""


def _rows(estimate: Estimate) -> tuple[list[dict[str, Any]], int, str]:
    """The first rows, how many were left out, and the name of the method."""
    rows, method = estimate.rows_and_method()
    if not estimate.noisy:  # of reports, a count is the share times the people: the same figure again
        rows = [{k: v for k, v in row.items() if k != "count" or estimate.unit == "count"} for row in rows]
    return rows[:MAX_ROWS], max(0, len(rows) - MAX_ROWS), method


def _figure(value: float, unit: str = "share", whole: bool = False) -> str:
    """Counts and whole numbers without decimals, others with four or with six digits in all; thousands are grouped."""
    if math.isnan(value):
        return "too noisy"
    if not abs(value) < 1e15:
        return f"{value:.6g}"
    digits = 4
    if whole or unit == "count":
        digits = 0
    elif abs(value) >= 1e4:
        digits = max(0, 5 - math.floor(math.log10(abs(value))))
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace(",", " ")  # + 0.0: no "-0"


def _whole(rows: list[dict[str, Any]], unit: str) -> bool:
    """Whether all figures of a table are whole numbers of something, as quantiles of ages are."""
    figures = [row[name] for row in rows for name in (unit, "low", "high") if name in row]
    return unit == "value" and all(math.isfinite(v) and v == round(v) for v in figures if not math.isnan(v))


def people_text(n: int, noisy: bool) -> str:
    """How many people; with noise on their number, about how many."""
    return f"{'about ' if noisy else ''}{_thousands(n)} {'person' if n == 1 else 'people'}"


def _note(estimate: Estimate, left_out: int, method: str) -> str:
    people = people_text(estimate.n, estimate.noisy)
    population = _population(estimate.target)
    bars = f"95 % intervals by {method}, {population}" if method else f"no error bar: {estimate.reason}"
    if method == "known exactly":
        bars = f"known exactly, {population}"
    more = f"; {left_out} more rows not shown" if left_out else ""
    return f"{people}; {bars}{more}"


def estimate_text(estimate: Estimate) -> str:
    if no_figure(estimate):
        return "\n".join([f"no figure: {estimate.reason}", *noisy_counts(estimate), *left_out_lines(estimate)])
    rows, left_out, method = _rows(estimate)
    width = max([len(r["label"]) for r in rows] + [5])
    lines = _lines("", estimate.unit, [r["label"] for r in rows], rows, width)
    return "\n".join([*lines, _note(estimate, left_out, method), *left_out_lines(estimate)])


def noisy_counts(estimate: Estimate) -> list[str]:
    """Where the number of people is lost in the noise there are no shares, but there are noisy counts."""
    if estimate.unit != "share" or estimate.estimator is None:
        return []
    counts = [f"{label} {_figure(n, 'count')}" for label, n in zip(estimate.labels, estimate.counts, strict=True)]
    more = f", ... {len(counts) - MAX_ROWS} more" if len(counts) > MAX_ROWS else ""
    return [f"noisy counts: {', '.join(counts[:MAX_ROWS])}{more}"]


def left_out_lines(estimate: Estimate, level: float = 0.95) -> list[str]:
    """The noisy number of rows that have no part in the figures, with its interval."""
    if estimate.left_out is None:
        return []
    rows = estimate.left_out.to_rows(level, estimate.target)
    labels = [f"{row['label']} " if len(rows) > 1 else "" for row in rows]
    ends = [f"{_figure(math.floor(row['low']), 'count')} to {_figure(math.ceil(row['high']), 'count')}" for row in rows]
    counts = [_figure(row["count"], "count") for row in rows]
    texts = [f"{label}about {count} ({end})" for label, count, end in zip(labels, counts, ends, strict=True)]
    more = f"; ... {len(texts) - MAX_ROWS} more" if len(texts) > MAX_ROWS else ""
    return [f"rows left out (their number is missing or not in the schema): {'; '.join(texts[:MAX_ROWS])}{more}"]


def _lines(title: str, unit: str, labels: list[str], rows: list[dict[str, Any]], width: int) -> list[str]:
    """A header, and a line for every figure; large numbers widen all columns."""
    names = [unit, *(name for name in ("low", "high", "count") if name in rows[0] and name != unit)]
    whole = _whole(rows, unit)
    cells = [[_figure(row[name], "count" if name == "count" else unit, whole) for name in names] for row in rows]
    wide = max([8, *(len(cell) for line in cells for cell in line)])
    table = zip([title, *labels], [names, *cells], strict=True)
    return [f"{label:{width}}" + "".join(f"  {cell:>{wide}}" for cell in line) for label, line in table]


def estimate_html(estimate: Estimate) -> str:
    if no_figure(estimate):
        lines = [f"No figure: {estimate.reason or ''}.", *noisy_counts(estimate), *left_out_lines(estimate)]
        return _note_html("<br>".join(html.escape(line) for line in lines))
    rows, left_out, method = _rows(estimate)
    notes = [_note(estimate, left_out, method), *left_out_lines(estimate)]
    shown = "".join(f"<p class='note'>{html.escape(note)}</p>" for note in notes)
    return f"{STYLE}<div class='murmure'>{_table_html(estimate, rows)}{shown}</div>"


def _table_html(estimate: Estimate, rows: list[dict[str, Any]]) -> str:
    bars = bool(rows) and "low" in rows[0]
    figures = [v for r in rows for v in (r[estimate.unit], r.get("low"), r.get("high")) if v is not None]
    numbers = [v for v in figures if not math.isnan(v)]
    low = float(min(numbers) if estimate.unit == "value" else min([0.0, *numbers]))
    high = float(max([*numbers, low + 1e-12 * max(1.0, abs(low))]))  # never equal to low, however large
    if estimate.unit == "value" and bars:
        low, high = padded(window((r["low"], r["high"]) for r in rows)) or (low, high)

    def place(value: float) -> float:
        return round(100 * min(max((value - low) / (high - low), 0.0), 1.0), 2)

    def text(value: float) -> str:
        return _figure(value, estimate.unit, whole)

    whole = _whole(rows, estimate.unit)
    drawn = len(rows) > 1  # one figure alone has nothing to be compared with
    ends = " to ".join(f"{end:.3g}" if abs(end) < 1e3 else _figure(end, whole=True) for end in (low, high))
    scale = f"<th class='bar'>{ends}</th>" if drawn else ""
    counts = bool(rows) and estimate.unit != "count" and "count" in rows[0]
    head = f"<tr><th class='name'></th><th>{estimate.unit}</th>{'<th>95 % interval</th>' if bars else ''}"
    head += f"{'<th>count</th>' if counts else ''}{scale}</tr>"
    body = []
    for r in rows:
        mean = r[estimate.unit]
        cells = f"<td class='name'>{html.escape(r['label'])}</td><td>{text(mean)}</td>"
        span = ""
        if bars:
            cells += f"<td>{text(r['low'])} to {text(r['high'])}</td>"
            left, right = place(r["low"]), place(r["high"])
            span = f"<i style='left:{left}%;width:{right - left:.2f}%'></i>"
        cells += f"<td>{_figure(r['count'], 'count')}</td>" if counts else ""
        if drawn:
            mark = "" if math.isnan(mean) else f"<b style='left:{place(mean)}%'></b>"
            cells += f"<td class='bar'><div class='track'>{span}{mark}</div></td>"
        body.append(f"<tr>{cells}</tr>")
    return f"<table>{head}{''.join(body)}</table>"


FAR_WIDER = 8.0  # times the width of a narrow interval: one that says nothing must not crush those that do


def window(ends: Iterable[tuple[float, float]]) -> tuple[float, float] | None:
    """What a picture of these intervals should show; None: all of it. Bars that are far wider than others are cut."""
    bars = np.array(list(ends), float).reshape(-1, 2)
    widths = bars[:, 1] - bars[:, 0]
    narrow = bars[widths <= FAR_WIDER * np.quantile(widths, 0.25, method="lower")] if len(bars) else bars
    if not 0 < len(narrow) < len(bars):
        return None
    low, high = float(narrow[:, 0].min()), float(narrow[:, 1].max())
    return (low, high) if high > low and 3 * (high - low) < bars[:, 1].max() - bars[:, 0].min() else None


def padded(shown: tuple[float, float] | None) -> tuple[float, float] | None:
    """Half of the width added on both sides."""
    return None if shown is None else (1.5 * shown[0] - 0.5 * shown[1], 1.5 * shown[1] - 0.5 * shown[0])


def _population(target: str) -> str:
    if target == "superpopulation":
        return "for the population they were drawn from (superpopulation)"
    return "for these people (fixed population)"


def _thousands(n: int) -> str:
    return f"{n:,}".replace(",", " ")


def _sections(estimates: Estimates) -> tuple[dict[str, Estimate], dict[str, Estimate], dict[str, list[str]]]:
    """Columns shown value by value; the means of numeric columns; and why the others have no figure."""
    shares: dict[str, Estimate] = {}
    without: dict[str, list[str]] = {}
    for name, estimate in estimates.items():
        if no_figure(estimate):
            without.setdefault(estimate.reason or "nothing can be read", []).append(name)
        elif estimate.unit != "value" or len(estimate.mean) > 1:
            shares[name] = estimate
    means = {name: e for name, e in estimates.means.items() if not no_figure(e) and len(e.mean) == 1}
    return shares, means, without


def no_figure(estimate: Estimate) -> bool:
    return bool(np.isnan(estimate.mean).all())


def reports_per_column(estimates: Estimates) -> tuple[int, int] | None:
    """The fewest and the most people who reported a column, where not everybody reports every one."""
    from murmure.core.estimates.estimate import SampledEstimator

    estimators = [e.estimator for e in estimates.values()]
    reports = [estimator.shown for estimator in estimators if isinstance(estimator, SampledEstimator)]
    return (min(reports), max(reports)) if reports else None


def _estimates_notes(estimates: Estimates, methods: dict[str, list[str]], without: dict[str, list[str]]) -> list[str]:
    """Notes that hold for all columns."""
    people = people_text(estimates.n, estimates.noisy)
    reports = reports_per_column(estimates)
    if reports is not None:
        fewest, most = map(_thousands, reports)
        people += f", of whom {fewest if fewest == most else f'{fewest} to {most}'} reported each column"
    only = next(iter(methods), None) if len(methods) == 1 else None
    bars = "95 % intervals" if only is None else f"95 % intervals by {only}"
    notes = [people]
    if methods:
        notes[0] += f"; {only if only == 'known exactly' else bars}, {_population(estimates.target)}"
    if len(methods) > 1:
        how = "; ".join(f"{method} ({_join_names(names)})" for method, names in methods.items())
        notes.append(f"intervals by {how}")
    notes += [f"no figure of {_join_names(names)}: {reason}" for reason, names in without.items()]
    if estimates.remark:
        notes.append(f"provided {estimates.remark}")
    return notes


def _join_names(names: list[str]) -> str:
    shown, more = ", ".join(names[:MAX_NAMES]), len(names) - MAX_NAMES
    return shown if more <= 0 else Phrase("{names} and {more} more", names=shown, more=more)


def estimates_text(estimates: Estimates) -> str:
    """One table per column, all aligned, then the means, then what holds for all of them."""
    shares, means, without = _sections(estimates)
    methods: dict[str, list[str]] = {}
    tables: list[tuple[str, str, list[dict[str, Any]], int]] = []
    for name, estimate in shares.items():
        rows, left_out, method = _rows(estimate)
        tables.append((name, estimate.unit, rows, left_out))
        if method:
            methods.setdefault(method, []).append(name)
    rows = []
    for name, estimate in means.items():
        figures, method = estimate.rows_and_method()
        rows.append({**figures[0], "label": name})
        if method:
            methods.setdefault(method, []).append(name if name not in shares else f"mean of {name}")
    if rows:
        tables.append(("mean", "value", rows, 0))
    names = [text for title, _, rows, _ in tables for text in (title, *(f"  {row['label']}" for row in rows))]
    width = min(max(map(len, names), default=0), MAX_LABEL)
    titles = cut_labels([title for title, *_ in tables], width)
    parts = [_column_text(title, *table[1:], width) for title, table in zip(titles, tables, strict=True)]
    notes = [*_estimates_notes(estimates, methods, without), *_left_out_notes(estimates)]
    wrapped = [textwrap.fill(note, 100, subsequent_indent="  ", break_on_hyphens=False) for note in notes]
    return "\n\n".join([*parts, "\n".join(wrapped)])


def _left_out_notes(estimates: Estimates) -> list[str]:
    return [f"{name}: {line}" for name, estimate in estimates.items() for line in left_out_lines(estimate)]


def _column_text(title: str, unit: str, rows: list[dict[str, Any]], left_out: int, width: int) -> str:
    labels = [f"  {label}" for label in cut_labels([row["label"] for row in rows], width - 2)]
    lines = _lines(title, unit, labels, rows, max([width, len(title), *map(len, labels)]))
    if left_out:
        lines.append(f"  {left_out} more rows not shown")
    return "\n".join(lines)


def estimates_html(estimates: Estimates) -> str:
    shares, means, without = _sections(estimates)
    parts, methods = [STYLE], dict[str, list[str]]()
    for name, estimate in [*shares.items(), *means.items()]:
        title = name if shares.get(name) is estimate else f"mean of {name}"
        rows, left_out, method = _rows(estimate)
        if method:
            methods.setdefault(method, []).append(title if name in shares else name)
        more = f"<p class='note'>{left_out} more rows not shown</p>" if left_out else ""
        parts.append(
            f"<div class='murmure'><p><b>{html.escape(title)}</b></p>{_table_html(estimate, rows)}{more}</div>"
        )
    notes = [*_estimates_notes(estimates, methods, without), *_left_out_notes(estimates)]
    return "".join([*parts, *(_note_html(html.escape(note[0].upper() + note[1:]) + ".") for note in notes)])


def _note_html(text: str) -> str:
    return f"{STYLE}<div class='murmure'><p class='note'>{text}</p></div>"


def certificate_html(c: Certificate, observer: str | None = None, public: bool = True) -> str:
    """A certificate with its five parts and its witness, as a paragraph."""
    who = f"<b>{html.escape(observer)}</b>: " if observer else ""
    if math.isinf(c.epsilon):
        hidden = f". Hidden: {html.escape(c.hides)}" if c.hides else ""
        return _note_html(f"{who}no differential privacy: {html.escape(c.method)}{hidden}")
    parts = [
        f"{who}epsilon = {c.epsilon:.6g}, delta = {c.delta:g} for the {c.unit} of one person ({c.relation}); "
        f"{html.escape(c.method)}.",
    ]
    if c.shortfall:
        parts.append(f"Asked: {html.escape(c.shortfall)}.")
    if public:
        parts.append(f"Public: {html.escape('; '.join(c.public))}.")
    if c.witness_text is not None:
        parts.append(f"Witness: {html.escape(' '.join(c.witness_text))}.")
    if c.hides:
        parts.append(f"Hidden: {html.escape(c.hides)}.")
    if c.assumption:
        parts.append(f"Provided {html.escape(c.assumption)}.")
    return _note_html(" ".join(parts))


def release_html(release: Release) -> str:
    warn = ""
    if release.seeded:
        warn = "<div class='murmure'><p class='warn'>Seeded randomness: an experiment, not for real people.</p></div>"
    if release.rehearsal:
        warn = f"<div class='murmure'><p class='warn'>{html.escape(REHEARSAL_NOTICE)}</p></div>{warn}"
    if release.randomised_outside:
        warn += f"<div class='murmure'><p class='warn'>{html.escape(RANDOMISED_OUTSIDE)}</p></div>"
    if release.randomised_here:
        warn += _note_html(html.escape(RANDOMISED_HERE))
    shared = release.shared_public()
    certificates = "".join(certificate_html(c, observer, shared is None) for observer, c in release.observers())
    if shared is not None:
        certificates += _note_html(f"Public to all: {html.escape('; '.join(shared))}.")
    about = _note_html(f"{html.escape(release.about)}, plan {release.plan[:12]}")
    return f"{STYLE}{warn}{release.estimate._repr_html_()}{certificates}{about}"


# -- plots ------------------------------------------------------------------------------------------------------------

MAX_DRAWN = 30  # figures of a panel; of more, the largest are drawn
MAX_AXIS_LABEL = 28  # letters of a label beside a panel


def pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra(Phrase("plotting"), "matplotlib", "plots") from None
    return plt


def drawing(target: Any, size: tuple[float, float]) -> tuple[Any, Any]:
    """The axis to draw on; and the figure that is to be saved, where `target` is a file."""
    plt, to_file = pyplot(), isinstance(target, str) or hasattr(target, "__fspath__")
    if target is not None and not to_file:
        return target, None
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    return ax, figure if to_file else None


def save_figure(figure: Any, target: Any) -> None:
    try:
        figure.savefig(target, dpi=150)
    finally:
        pyplot().close(figure)


def plot_estimate(estimate: Estimate, ax: Any = None, level: float = 0.95, truth: Any = None) -> Any:
    """Points with interval bars, a row per figure, to an axis or a file; true values as circles when simulating."""
    truth, target = true_values(estimate, truth), ax
    ax, figure = drawing(target, (6.4, 0.34 * min(len(estimate.mean), MAX_DRAWN) + 1.3))
    _draw(ax, estimate, level, truth)
    ax.figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", frameon=False, ncols=3)
    if figure is not None:
        save_figure(figure, target)
    return ax


def simultaneous_level(level: float, estimates: Iterable[Estimate]) -> float:
    """The level of one interval when the intervals of all figures hold at once."""
    return level_of_each(level, sum(len(e.mean) for e in estimates if e.estimator is not None))


def level_percent(level: float) -> str:
    """A level in per cent, with enough digits to differ from 100: 99.8, 99.9996."""
    return f"{100 * level:.{max(1, math.ceil(-math.log10(100 * (1 - level))))}f}".removesuffix(".0")


def plot_estimates(
    estimates: Estimates, target: Any = None, level: float = 0.95, truth: Any = None, simultaneous: bool = False
) -> Any:
    """One panel per column, in two stacks; a column without figures says why. To a figure, or to a file.

    simultaneous: all intervals hold at once, with the probability `level`.
    """
    plt = pyplot()
    each = simultaneous_level(level, estimates.values()) if simultaneous else level
    legend = f"{100 * level:g} % interval" + (
        f", all at once (each at {level_percent(each)} %)" if simultaneous else ""
    )
    truths = truths_of(estimates, truth)
    stacks: list[list[str]] = [[], []] if len(estimates) > 1 else [[]]
    heights = [0.0] * len(stacks)
    for name, estimate in estimates.items():  # in order, on the shorter stack
        shorter = heights.index(min(heights))
        stacks[shorter].append(name)
        heights[shorter] += _height(estimate)
    figure = plt.figure(figsize=(5.8 * len(stacks), max(heights) + 0.5), layout="constrained")
    handles: dict[str, Any] = {}
    titles = dict(zip(estimates, cut_labels(list(estimates), 50), strict=True))
    for part, names, height in zip(np.ravel(figure.subfigures(1, len(stacks))), stacks, heights, strict=True):
        ratios = [_height(estimates[name]) for name in names]
        left = max(heights) - height
        axes = part.subplots(len(names) + (left > 0), 1, squeeze=False, height_ratios=ratios + [left] * (left > 0))
        for ax, name in zip(axes[:, 0], names, strict=False):
            estimate, grid = estimates[name], estimates.numbers.get(name)
            ax.set_title(titles[name], loc="left", fontsize=10, fontweight="bold", parse_math=False)
            bounds = None if grid is None else (float(grid[0][0] - grid[1]), float(grid[0][-1] + grid[1]))
            _draw(ax, estimate, each, truths.get(name), bounds, legend)
            handles |= dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
        for ax in axes[len(names) :, 0]:
            ax.set_axis_off()
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", frameon=False, ncols=3)
    if target is not None:
        save_figure(figure, target)
    return figure


def _height(estimate: Estimate) -> float:
    rows = 1 if no_figure(estimate) else min(len(estimate.mean), MAX_DRAWN)
    return 0.28 * rows + 0.85


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
            "truth names columns that were not estimated: {unknown}.", unknown=_join_names(list(map(repr, unknown)))
        )
    return {
        name: true_values(estimates[name], values, Phrase("truth of column {name!r}", name=name))
        for name, values in truth.items()
        if not no_figure(estimates[name])
    }


def _cut_axis(ax: Any, y: Any, low: Any, high: Any) -> None:
    """Intervals much wider than the others are cut where the axis ends, and an arrow says that they go on."""
    shown = padded(window(zip(low, high, strict=True)))
    if shown is None:
        return
    left, right = shown
    ax.set_xlim(left, right)
    ax.tick_params(axis="y", pad=10)  # room for the arrows
    style: dict[str, Any] = {"ls": "none", "color": "#9db9e0", "ms": 7, "zorder": 3, "clip_on": False}
    for at, cut, mark in ((left, low < left, "<"), (right, high > right, ">")):
        ax.plot(np.full(int(cut.sum()), at), y[cut], marker=mark, label="_", **style)


def _draw(
    ax: Any,
    estimate: Estimate,
    level: float,
    truth: Any,
    bounds: tuple[float, float] | None = None,
    legend: str | None = None,
) -> None:
    if no_figure(estimate):
        ax.set_axis_off()
        why = textwrap.fill(f"no figure: {estimate.reason}", 64)
        ax.text(0, 1, why, va="top", transform=ax.transAxes, fontsize=9, color="#59616c", parse_math=False)
        return
    k = len(estimate.mean)
    order = np.arange(k)
    if k > MAX_DRAWN:
        order = np.argsort(-estimate.mean, kind="stable")[:MAX_DRAWN]
    y = np.arange(len(order))[::-1]
    if estimate.estimator is not None:
        low, high = estimate.interval(level, estimate.target)[order].T
        ax.hlines(y, low, high, color="#9db9e0", lw=5, label=legend or f"{100 * level:g} % interval", zorder=2)
    ax.plot(estimate.mean[order], y, "|", ms=11, mew=2, color="#1f4e96", label="estimate", zorder=3)
    if truth is not None:
        ax.plot(truth[order], y, "o", ms=5, mfc="none", color="#b3261e", label="truth (simulation)", zorder=4)
    ax.set_yticks(y, cut_labels([str(estimate.labels[i]) for i in order.tolist()], MAX_AXIS_LABEL), fontsize=9)
    for label in ax.get_yticklabels():
        label.set_parse_math(False)  # a label with two $ is not a formula
    ax.set_ylim(-0.7, len(order) - 0.3)
    what = {"share": "share of people", "count": "people"}.get(estimate.unit, "value")
    ax.set_xlabel(what if k == len(order) else f"{what}; the largest {len(order)} of {k}")
    if estimate.unit == "value" and bounds is not None:
        ax.set_xlim(*bounds)
    elif estimate.unit == "share" or (estimate.unit == "count" and len(order) > 1):
        left, right = ax.get_xlim()
        ax.set_xlim(min(left, -0.02 * right), right)  # shares start at zero; an unbiased estimate may fall below
        ax.axvline(0, color="#59616c", lw=0.8, zorder=1)
    elif estimate.estimator is not None:
        _cut_axis(ax, y, low, high)
    ax.grid(axis="x", alpha=0.25)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
