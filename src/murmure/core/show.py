"""How results look: a table in a terminal, a table with bars in a notebook, a plot."""

from __future__ import annotations

import html
import math
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from murmure.core.errors import InvalidParameter, MissingExtra

if TYPE_CHECKING:
    from murmure.core.estimate import Estimate
    from murmure.core.types import Certificate, Release

MOST_ROWS = 20
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
    return rows[:MOST_ROWS], max(0, len(rows) - MOST_ROWS), method


def _figure(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 1e4 else f"{value:.6g}"


def _note(estimate: Estimate, left_out: int, method: str) -> str:
    people = f"{estimate.n:,} people".replace(",", " ")
    whom = "for these people (fixed population)"
    if estimate.target == "superpopulation":
        whom = "for the population they were drawn from (superpopulation)"
    bars = f"95 % intervals by {method}, {whom}" if method else f"no error bar: {estimate.reason}"
    if method == "known exactly":
        bars = f"known exactly, {whom}"
    more = f"; {left_out} more rows not shown" if left_out else ""
    return f"{people}; {bars}{more}"


def estimate_text(estimate: Estimate) -> str:
    rows, left_out, method = _rows(estimate)
    width = max([len(r["label"]) for r in rows] + [5])
    lines = [f"{'':{width}}  {estimate.unit:>8}" + ("       low      high" if method and "low" in rows[0] else "")]
    for r in rows:
        line = f"{r['label']:{width}}  {_figure(r[estimate.unit]):>8}"
        if "low" in r:
            line += f"  {_figure(r['low']):>8}  {_figure(r['high']):>8}"
        lines.append(line)
    return "\n".join([*lines, _note(estimate, left_out, method)])


def estimate_html(estimate: Estimate) -> str:
    rows, left_out, method = _rows(estimate)
    bars = bool(rows) and "low" in rows[0]
    numbers = [v for r in rows for v in (r[estimate.unit], r.get("low"), r.get("high")) if v is not None]
    low = min([0.0, *numbers]) if estimate.unit == "share" else min(numbers)
    high = max([*numbers, low + 1e-12])

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    drawn = len(rows) > 1  # one figure alone has nothing to be compared with
    scale = f"<th class='bar'>{low:.3g} to {high:.3g}</th>" if drawn else ""
    head = f"<tr><th class='name'></th><th>{estimate.unit}</th>{'<th>95 % interval</th>' if bars else ''}{scale}</tr>"
    body = []
    for r in rows:
        mean = r[estimate.unit]
        cells = f"<td class='name'>{html.escape(r['label'])}</td><td>{_figure(mean)}</td>"
        span = ""
        if bars:
            cells += f"<td>{_figure(r['low'])} to {_figure(r['high'])}</td>"
            left, right = place(r["low"]), place(r["high"])
            span = f"<i style='left:{left}%;width:{right - left:.2f}%'></i>"
        if drawn:
            cells += f"<td class='bar'><div class='track'>{span}<b style='left:{place(mean)}%'></b></div></td>"
        body.append(f"<tr>{cells}</tr>")
    note = html.escape(_note(estimate, left_out, method))
    return f"{STYLE}<div class='murmure'><table>{head}{''.join(body)}</table><p class='note'>{note}</p></div>"


def _note_html(text: str) -> str:
    return f"{STYLE}<div class='murmure'><p class='note'>{text}</p></div>"


def certificate_html(c: Certificate, observer: str | None = None) -> str:
    """A certificate with its five parts and its witness, as a paragraph."""
    who = f"<b>{html.escape(observer)}</b>: " if observer else ""
    if math.isinf(c.epsilon):
        return _note_html(f"{who}no differential privacy: {html.escape(c.method)}")
    parts = [
        f"{who}epsilon = {c.epsilon:.6g}, delta = {c.delta:g} for the {c.unit} of one person ({c.relation}); "
        f"{html.escape(c.method)}.",
        f"Public: {html.escape('; '.join(c.public))}.",
    ]
    if c.said is not None:
        parts.append(f"Witness: {html.escape(' '.join(c.said))}.")
    if c.assumption:
        parts.append(f"Provided {html.escape(c.assumption)}.")
    return _note_html(" ".join(parts))


def release_html(release: Release) -> str:
    warn = ""
    if release.seeded:
        warn = "<div class='murmure'><p class='warn'>Seeded randomness: an experiment, not for real people.</p></div>"
    who = "".join(certificate_html(c, o) for o, c in release.observers())
    about = _note_html(f"{html.escape(release.about)}, plan {release.plan[:12]}")
    return f"{STYLE}{warn}{estimate_html(release.estimate)}{who}{about}"


def plot_estimate(estimate: Estimate, ax: Any = None, level: float = 0.95, truth: Any = None) -> Any:
    """Points with interval bars, a row per figure, to an axis or a file; true values as circles when simulating."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra("plotting", "matplotlib", "plots") from None
    k = len(estimate.mean)
    if truth is not None and np.shape(truth) != (k,):
        raise InvalidParameter(f"plot.truth must be {k} numbers, one for each figure, got shape {np.shape(truth)}.")
    to_file = isinstance(ax, str) or hasattr(ax, "__fspath__")
    target, figure = ax, None
    if ax is None or to_file:
        figure, ax = plt.subplots(figsize=(6.4, 0.34 * k + 1.3), layout="constrained")
    y = np.arange(k)[::-1]
    if estimate.reading is not None:
        low, high = estimate.interval(level, estimate.target).T
        ax.hlines(y, low, high, color="#9db9e0", lw=5, label=f"{100 * level:g} % interval")
    ax.plot(estimate.mean, y, "|", ms=11, mew=2, color="#1f4e96", label="estimate")
    if truth is not None:
        ax.plot(np.asarray(truth, float), y, "o", ms=5, mfc="none", color="#b3261e", label="truth (simulation)")
    ax.set_yticks(y, [textwrap.shorten(label, 40, placeholder=" ...") for label in estimate.labels])
    ax.set_ylim(-0.7, k - 0.3)
    ax.set_xlabel("share of people" if estimate.unit == "share" else "value")
    ax.grid(axis="x", alpha=0.25)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", frameon=False, ncols=3)
    if to_file and figure is not None:
        figure.savefig(target, dpi=150)
        plt.close(figure)
    return ax
