"""The second section of a report: every figure with its interval and a picture of both."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from murmure.core.show import no_figure, window
from murmure.run.report.curator_sections import curated_notes
from murmure.run.report.html_parts import NARROW, WIDE, Language, Scale, figure_table, legend
from murmure.run.report.question_section import figure_kind
from murmure.run.report.report_content import ReportColumn, ReportContent

MAX_UNFOLDED = 20  # a column with more figures shows the largest, and folds the rest
SHOWN_WHEN_FOLDED = 12
MAX_ORDERED = 128  # figures of one column of numbers keep their order, and up to this many are unfolded


FRENCH_FIGURES = {  # figures that are named after what they are
    "mean": "moyenne",
    "count": "effectif",
    "sum": "somme",
    "variance": "variance",
    "median": "médiane",
}


def figures_section(content: ReportContent, w: Language) -> str:
    title = f"<h2>{w('2. What the crowd says', '2. Ce que dit la foule')}</h2>"
    if content.chosen is not None:
        return f"{title}\n{_chosen(content, w)}"
    truth_note = w("truth (simulation)", "vérité (simulation)") if content.simulated else None
    bars = any(c.estimate.estimator is not None and not no_figure(c.estimate) for c in content.columns)
    marks = legend(w, content.level, truth_note, content.each_level if content.simultaneous else None) if bars else ""
    parts = [_column(content, column, w) for column in content.columns]
    return f"""{title}
{marks}
{"".join(parts)}
{_notes(content, w)}"""


def _chosen(content: ReportContent, w: Language) -> str:
    """One label, drawn among public candidates."""
    choice = content.chosen
    count, why = w.number(choice.candidates, 0), w.term(choice.reason)
    return (
        f'<ul class="facts"><li><b>{html.escape(choice.label)}</b><span>'
        f"{w(f'chosen among {count} public candidates', f'élu parmi {count} candidats publics')}</span></li></ul>"
        f'<p class="note">{w("No error bar", f"Sans barre d’erreur{WIDE}")}: {why}.</p>'
    )


def _column(content: ReportContent, column: ReportColumn, w: Language) -> str:
    name = html.escape(content.column_title(column.name, w)) or figure_kind(column.estimate, w)
    title = f'<h3 id="{w.lang}-{column.number}">{name}</h3>'
    if no_figure(column.estimate):
        why = w.term(column.estimate.reason or "")
        none = f'{title}<p class="note">{w("No figure", f"Aucun chiffre{WIDE}")}: {why}.</p>'
        return none + _counts_note(column, w) + _left_out_note(content, column, w)
    unit, shown = column.estimate.unit, _figure_rows(content, column, w)
    # Numbers keep their order, which shows the shape; other labels are sorted when they are many.
    ordered = _ascending(column.estimate.labels)
    if len(shown) > MAX_UNFOLDED and not ordered:
        shown.sort(key=lambda row: -row["mean"])
    scale = _scale(shown, column, content.value_bounds)
    options: dict[str, Any] = {
        "level": content.level,
        "digits": 0 if unit == "count" else _digits(shown, unit == "share"),
        "kind": "crowd long" if content.long_labels else "crowd",
        "labelled": f"{w.lang}-{column.number}",
    }
    after = _mean_note(content, column, w) + _arrow_note(shown, scale, w) + _left_out_note(content, column, w)
    what = w("answer", "réponse") if unit == "share" else w("group", "groupe") if _by_group(content) else ""
    if len(shown) <= (MAX_ORDERED if ordered and not content.many_columns else MAX_UNFOLDED):
        return title + figure_table(shown, w, scale, name=what, **options) + after
    rest = len(shown) - SHOWN_WHEN_FOLDED
    largest = f"{what}, " if what else ""
    largest += w("largest first", "par ordre décroissant")
    folded = w(f"{rest} smaller shares", f"{rest} parts plus petites")
    if ordered:
        largest, folded = what, w(f"{rest} more, in order", f"{rest} autres, dans l’ordre")
    elif unit != "share":
        folded = w(f"{rest} smaller figures", f"{rest} chiffres plus petits")
    top = figure_table(shown[:SHOWN_WHEN_FOLDED], w, scale, name=largest, **options)
    more = figure_table(shown[SHOWN_WHEN_FOLDED:], w, scale, name=what, **options)
    return f"{title}{top}<details><summary>{folded}</summary>{more}</details>{after}"


def _counts_note(column: ReportColumn, w: Language) -> str:
    """Where the noise exceeds the number of people, there are noisy counts but no shares."""
    if column.estimate.unit != "share" or len(column.estimate.labels) > MAX_UNFOLDED:
        return ""
    both = zip(column.estimate.labels, column.estimate.counts, strict=True)
    counts = ", ".join(f"{html.escape(str(label))} {w.number(float(count), 0)}" for label, count in both)
    return f'<p class="note">{w("Noisy counts", f"Effectifs bruités{WIDE}")}: {counts}.</p>'


def _left_out_note(content: ReportContent, column: ReportColumn, w: Language) -> str:
    """How many rows are not part of the figure: a noisy number too."""
    left_out = column.estimate.left_out
    if left_out is None:
        return ""
    rows, _ = left_out.rows_and_method(content.each_level, content.target_of(left_out))
    texts = []
    for row in rows[:MAX_UNFOLDED]:
        ends = w(" to ", " à ").join(w.number(end, 0) for end in (math.floor(row["low"]), math.ceil(row["high"])))
        about = f"{w('about', 'environ')} {w.number(row['count'], 0)} ({ends})"
        texts.append(about if len(rows) == 1 else f"{html.escape(str(row['label']))}{w('', WIDE)}: {about}")
    more = "" if len(rows) <= MAX_UNFOLDED else " ..."
    what = w(
        "Rows left out, because their number is missing or not in the schema",
        "Lignes écartées, car leur nombre manque ou n’est pas dans le schéma",
    )
    return f'<p class="note">{what}{w("", WIDE)}: {"; ".join(texts)}{more}.</p>'


def _ascending(labels: Sequence[Any]) -> bool:
    """Whether labels are ascending numbers, such as ages: sorted by share they would hide the shape."""
    try:
        values = [float(label) for label in labels]
    except ValueError:
        return False
    return all(one < two for one, two in pairwise(values))


def _by_group(content: ReportContent) -> bool:
    return content.curated and not content.many_columns and not content.question.ungrouped


def _figure_rows(content: ReportContent, column: ReportColumn, w: Language) -> list[dict[str, Any]]:
    """Every figure with its label in HTML; the ends of counts are whole people, rounded outward."""
    unit = column.estimate.unit
    translated = unit != "share" and not _by_group(content)
    rows, _ = column.estimate.rows_and_method(content.each_level, content.target_of(column.estimate))
    shown: list[dict[str, Any]] = []
    for i, row in enumerate(rows):
        label = w(row["label"], _french_figure(row["label"])) if translated else row["label"]
        figure = {"label": html.escape(label), "mean": row[unit]}
        figure |= {end: row[end] for end in ("low", "high", *(["count"] if unit == "share" else [])) if end in row}
        if unit == "count" and "low" in figure:
            figure |= {"low": float(math.floor(figure["low"])), "high": float(math.ceil(figure["high"]))}
        shown.append(figure | ({} if column.truth is None else {"truth": float(column.truth[i])}))
    return shown


def _french_figure(label: str) -> str:
    return FRENCH_FIGURES.get(label, label.replace(".", ",") if label.startswith("quantile ") else label)


def _scale(rows: list[dict[str, Any]], column: ReportColumn, limits: tuple[float, float] | None) -> Scale:
    """What the pictures of a column show; limits: the public ones of its values, beyond which nothing lies."""
    values = [
        row[key] for row in rows for key in ("mean", "low", "high", "truth") if math.isfinite(row.get(key, math.nan))
    ]
    low, high = min(values), max(values)
    if column.estimate.unit == "share":
        return Scale.of_shares(low, high)
    if column.estimate.unit == "count" and len(rows) > 1:
        return Scale.of_counts(low, high)
    if column.bounds is not None:
        return Scale.of_range(min(low, column.bounds[0]), max(high, column.bounds[1]))
    # One interval that is much wider than the others would make them invisible: the window leaves it out.
    low, high = window([(row.get("low", row["mean"]), row.get("high", row["mean"])) for row in rows]) or (low, high)
    # Half a width on either side, or what a single value suggests, rounded to two digits.
    pad = 0.5 * (high - low) or abs(high) or 1.0
    digits = 1 - math.floor(math.log10(pad))
    left, right = round(low - pad, digits), round(high + pad, digits)
    if limits is not None and limits[0] <= low and high <= limits[1]:
        left, right = max(left, limits[0]), min(right, limits[1])
    return Scale.of_range(left, right)


def _arrow_note(rows: list[dict[str, Any]], scale: Scale, w: Language) -> str:
    """A note where an interval is much wider than the others and leaves the picture."""
    if not any(row.get("low", scale.low) < scale.low or row.get("high", scale.high) > scale.high for row in rows):
        return ""
    return f"""<p class="note">{
        w(
            "A bar that ends in an arrow goes on beyond the picture; its numbers are complete.",
            f"Une barre qui finit en flèche continue hors de l’image{WIDE}; ses nombres sont complets.",
        )
    }</p>"""


def _digits(rows: list[dict[str, Any]], shares: bool) -> int:
    """Just enough digits to distinguish the ends of an interval."""
    values = [row[end] for row in rows for end in ("mean", "low", "high") if end in row]
    if not shares and all(value == round(value) for value in values if math.isfinite(value)):
        return 0  # quantiles of whole numbers
    widths = [row["high"] - row["low"] for row in rows if row.get("high", 0.0) > row.get("low", 0.0)]
    if not widths:
        return 1 if shares else 2
    # The median, since a few wide intervals must not cost the others their digits.
    width = float(np.median(widths)) * (100 if shares else 1)
    return min(max(1 - math.floor(math.log10(width)), 1 if shares else 0), 6)


def _mean_note(content: ReportContent, column: ReportColumn, w: Language) -> str:
    """The mean that the shares of a number give."""
    if column.mean is None:
        return ""
    ((row), *_), method = column.mean.rows_and_method(content.each_level, content.target_of(column.estimate))
    digits = _digits([row], False)
    texts = [w.number(row[end], digits) for end in ("value", "low", "high")]
    by = w.term(method)
    if method == "known exactly":
        return f"""<p class="note">{
            w(f"Mean <b>{texts[0]}</b>, known exactly.", f"Moyenne <b>{texts[0]}</b>, exactement connue.")
        }</p>"""
    return f"""<p class="note">{
        w(
            f"Mean <b>{texts[0]}</b>, {texts[1]} to {texts[2]} (interval by {by}).",
            f"Moyenne <b>{texts[0]}</b>, de {texts[1]} à {texts[2]} (intervalle par {by}).",
        )
    }</p>"""


def _notes(content: ReportContent, w: Language) -> str:
    """Which population the intervals are about, how they were computed, and how often they cover the truth."""
    methods: dict[str, None] = {}
    inside = intervals = 0
    below = False
    for column in content.columns:
        if no_figure(column.estimate) or column.estimate.estimator is None:
            continue
        ends, method = column.estimate.interval_and_method(content.each_level, content.target_of(column.estimate))
        methods[w.term(method.removesuffix(", weighted") if content.weights else method)] = None
        below = below or (column.estimate.unit != "value" and bool((column.estimate.mean < 0).any()))
        if column.truth is not None:
            inside += int(((ends[:, 0] <= column.truth) & (column.truth <= ends[:, 1])).sum())
            intervals += len(ends)
    if content.curated:
        notes = curated_notes(content, methods, below, w)
        remarked = [c.estimate for c in content.columns if c.estimate.reason and not no_figure(c.estimate)]
        for estimate in remarked:
            why = w.term(estimate.reason or "")
            without = w(f"No error bar: {why}.", f"Sans barre d’erreur{WIDE}: {why}.")
            noisy = w(f"Too noisy: {why}.", f"Trop bruité{WIDE}: {why}.")
            notes.append(without if estimate.estimator is None else noisy)
        notes = list(dict.fromkeys(notes))  # columns often share a note
        methods = {}
    else:
        notes = []
    if methods:
        how = w(f"by {', '.join(methods)}", f"par {', '.join(methods)}")
        if content.weights is not None:
            by = html.escape(content.weights)
            how += w(f"; weighted by {by}", f"{WIDE}; pondéré par {by}")
        if all(content.target_of(c.estimate) == "fixed" for c in content.columns):
            notes.append(
                w(
                    f"Intervals speak of these people, a fixed population ({how}): only the mechanism is random.",
                    f"Les intervalles parlent de ces personnes-ci, population fixe ({how}){WIDE}: seul le mécanisme "
                    "est aléatoire.",
                )
            )
        else:
            notes.append(
                w(
                    f"Intervals speak of the larger population that these people stand for, a superpopulation ({how}): "
                    "sampling adds its own error.",
                    f"Les intervalles parlent de la population plus vaste que ces personnes représentent, la "
                    f"superpopulation ({how}){WIDE}: l’échantillonnage ajoute son erreur.",
                )
            )
    if intervals:
        sure = f"{w.plain(100 * content.level)}{NARROW}%"
        should = w(f"{sure} of them should hold it", f"{sure} devraient la contenir")
        if content.simultaneous:
            should = w(f"{sure} of the time all should hold it", f"{sure} du temps, tous devraient la contenir")
        notes.append(
            w(
                f"The truth lies inside {inside} of {intervals} intervals; {should}.",
                f"La vérité est dans {inside} des {intervals} intervalles{WIDE}; {should}.",
            )
        )
    if below and not content.curated:
        notes.append(
            w(
                "An unbiased estimate errs to both sides, so one may fall below zero, far below when few people or "
                "little budget stand behind it; its interval is cut to what is possible.",
                f"Une estimation sans biais se trompe des deux côtés{WIDE}: elle peut donc passer sous zéro, et de "
                f"loin quand peu de personnes ou un petit budget la portent{WIDE}; son intervalle est coupé à ce qui "
                "est possible.",
            )
        )
    return f'<p class="note">{" ".join(notes)}</p>' if notes else ""
