"""The parts of all pages: one file, no script, nothing from outside, two languages, light or dark as the reader likes.

Pictures are SVG with positions in per cent, so that text keeps its size on a telephone.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from murmure.core.show import level_percent
from murmure.run.report.french_terms import FRENCH, TERMS

NARROW, WIDE = "\u202f", "\u00a0"  # the two spaces at which no line breaks
GENERATOR = '<meta name="generator" content="Murmure">'  # marks a page as written by Murmure

STYLE = """
:root{color-scheme:light dark;--paper:#fbfaf7;--card:#fff;--ink:#22262b;--soft:#59616c;--line:#d9d6ce;--accent:#245a9f;
--bar:#a9c4e8;--truth:#b0451c;--warn:#fff3d6;--warn-ink:#6b4a00}
@media (prefers-color-scheme:dark){:root{--paper:#15181c;--card:#1c2026;--ink:#e7e6e2;--soft:#a5adb8;--line:#343a43;
--accent:#8fb8f0;--bar:#3a5888;--truth:#f0a078;--warn:#3a2f14;--warn-ink:#f3d48a}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:50rem;margin:0 auto;padding:1.5rem 1.25rem 4rem}
h1{font-size:1.9rem;line-height:1.2;margin:.2rem 0 .4rem;font-weight:650}
h2{font-size:1.2rem;margin:2.8rem 0 .6rem;padding-top:1.4rem;border-top:1px solid var(--line);font-weight:650}
h3{font-size:1rem;margin:1.6rem 0 .5rem;font-weight:650}
p{margin:.5rem 0 .8rem;max-width:43rem}
.motto{color:var(--soft);margin-top:0}
.note{color:var(--soft);font-size:.9rem}
.warn{background:var(--warn);color:var(--warn-ink);padding:.6rem .9rem;border-radius:.4rem;font-weight:600}
.facts{display:flex;flex-wrap:wrap;gap:.4rem 2.2rem;margin:1.2rem 0 0;padding:0;list-style:none}
.facts b{display:block;font-size:1.15rem;font-weight:650}
.facts span,.soft{color:var(--soft);font-size:.9rem}
.flow{display:grid;grid-template-columns:1fr auto 1.6fr auto 1fr;gap:.6rem;align-items:stretch;margin:1rem 0}
.flow>div{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.7rem .9rem}
.flow>i{align-self:center;color:var(--soft);font-style:normal}
.flow b{display:block;font-size:1.25rem;font-weight:650}
.flow .sent{border-color:var(--accent)}.flow .sent b{color:var(--accent)}
.hundreds{display:grid;grid-template-columns:1fr 1fr;gap:1.5rem;margin:1.2rem 0}
.hundreds figure{margin:0;display:flex;gap:1rem;align-items:center}
.hundreds svg{flex:none}
figcaption{font-size:.95rem}
svg{display:block;overflow:visible}
.on{fill:var(--accent)}.off{fill:none;stroke:var(--soft);stroke-width:1}
table{border-collapse:collapse;width:100%;margin:.4rem 0 .4rem;font-variant-numeric:tabular-nums}
th{font-weight:500;color:var(--soft);font-size:.9rem;text-align:right;
padding:.25rem .9rem .25rem 0;vertical-align:bottom}
td{padding:.28rem .9rem .28rem 0;text-align:right;border-top:1px solid var(--line);white-space:nowrap}
th:first-child,td:first-child{text-align:left}
th[scope=row]{font-weight:inherit;color:inherit;font-size:inherit;padding:.28rem .9rem .28rem 0;vertical-align:top;
border-top:1px solid var(--line)}
td.pic,th.pic{width:42%;padding-right:0}
.crowd td small{display:block;opacity:.75}.crowd tbody td,.crowd tbody th{vertical-align:top}
.crowd{table-layout:fixed}.crowd .name{width:17%;overflow-wrap:anywhere}.crowd .num{width:12%}.crowd .span{width:22%}
.crowd td.pic,.crowd th.pic{width:auto}.crowd.long .name{width:28%}.crowd .true-value{width:10%}
details{margin:.4rem 0}summary{cursor:pointer;color:var(--accent);font-size:.95rem}
a{color:var(--accent)}code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.held td,.held th{white-space:normal;text-align:left;vertical-align:top}
.held th:first-child{width:24%;overflow-wrap:anywhere}
.sums th{white-space:normal}.held .num{text-align:right;white-space:nowrap}.held b{white-space:nowrap}
td.text,th.text{text-align:left;white-space:normal}
tr.best td{font-weight:650}tr.best .fill{fill:var(--accent)}
.fill,.arrow{fill:var(--bar)}.grid{stroke:var(--line);stroke-width:1}.mean{stroke:var(--accent);stroke-width:3}
.true{fill:none;stroke:var(--truth);stroke-width:2}
.tick{fill:var(--soft);font-size:.8rem}
.key{display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;
color:var(--soft);font-size:.9rem;margin:.3rem 0 1rem;align-items:center}
.key span{display:flex;gap:.5rem;align-items:center}
.boxes{display:flex;flex-wrap:wrap;gap:.3rem 1rem;margin:.3rem 0}
pre{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.8rem 1rem;overflow-x:auto;
font:.88rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
footer{color:var(--soft);font-size:.85rem;margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line)}
.switch{position:absolute;opacity:0}
nav{max-width:50rem;margin:0 auto;padding:1.2rem 1.25rem 0;display:flex;justify-content:flex-end;gap:.3rem}
nav label{padding:.2rem .8rem;border-radius:1rem;color:var(--soft);cursor:pointer;font-size:.9rem}
#en:checked~nav label[for=en],#fr:checked~nav label[for=fr]{background:var(--card);color:var(--ink);
box-shadow:inset 0 0 0 1px var(--line)}
#en:focus-visible~nav label[for=en],#fr:focus-visible~nav label[for=fr]{outline:2px solid var(--accent)}
#en:checked~main>section[lang=fr],#fr:checked~main>section[lang=en]{display:none}
@media (max-width:40rem){.flow{grid-template-columns:1fr}.flow>i{transform:rotate(90deg);justify-self:center}
.hundreds{grid-template-columns:1fr}thead{display:none}.sums thead{display:table-header-group}
.sums td,.sums th{padding-right:.5rem;white-space:normal}.sums tr>:last-child{padding-right:0}
.crowd thead{display:table-header-group}.crowd thead th{display:none}.crowd thead tr{padding:0;border:0}
.crowd thead th.pic{display:block;grid-column:1/-1;width:auto;padding:0}td.pic svg{clip-path:inset(0 -6px)}
td[data-unit]::after{content:" " attr(data-unit)}td[data-name]::before{content:attr(data-name) " "}
.crowd tr,.rank tr{display:grid;grid-template-columns:1fr auto auto;border-top:1px solid var(--line);padding:.35rem 0}
.crowd td,.rank td,.crowd th,.rank th{border:0;padding:.1rem 0 .1rem 1rem}
.crowd th[scope=row],.rank td:first-child{padding-left:0}.crowd .name,.crowd.long .name{width:auto}
.held tr{display:block;border-top:1px solid var(--line);padding:.4rem 0}
.held td,.held th[scope=row]{display:block;width:auto;border:0;padding:.1rem 0}.held .num{text-align:left}
.toc th[scope=row],.toc td{display:inline}.toc td::before{content:" · ";color:var(--soft)}
.crowd .wide,.rank .wide{display:none}.crowd td.pic,.rank td.pic{grid-column:1/-1;width:auto;padding:.2rem 0 0}
.certified tr{display:block;border-top:1px solid var(--line);padding:.4rem 0}
.certified td{display:block;border:0;text-align:left;white-space:normal;padding:.1rem 0}}
@media print{nav,.switch{display:none}tr,figure{break-inside:avoid}h2,h3,h4{break-after:avoid}
details::details-content{content-visibility:visible;block-size:auto}}
"""


class Language:
    """One language: w("yes", "oui") picks its text, and the methods write numbers and labels its way."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self.french = lang == "fr"

    def __call__(self, english: str, french: str) -> str:
        return french if self.french else english

    def label(self, text: str) -> str:
        return FRENCH.get(text, text) if self.french else text

    def term(self, text: str) -> str:
        """A sentence of another package, as HTML. Without a French translation it stays English, and is marked so."""
        if not self.french:
            return html.escape(text)
        french = _in_french(text)
        if french is None:
            return f'<span lang="en">{html.escape(text)}</span>'
        return html.escape(french).replace(" :", f"{WIDE}:").replace(" ;", f"{WIDE};")

    def quote(self, text: str) -> str:
        """A label, translated where it has a translation, as HTML in quotation marks."""
        return self.in_quotes(html.escape(self.label(text)))

    def in_quotes(self, text: Any) -> str:
        return f"«{NARROW}{text}{NARROW}»" if self.french else f"\u201c{text}\u201d"

    def number(self, value: float, digits: int) -> str:
        text = f"{value:,.{digits}f}".replace(",", NARROW).replace("-", "\u2212")
        return text.replace(".", ",") if self.french else text

    def percent(self, share: float, digits: int = 1) -> str:
        return f"{self.number(100 * share, digits)}{NARROW}%"

    def small(self, value: float) -> str:
        """A delta: 0, 0.01, 10⁻⁶, 2.5 · 10⁻⁷."""
        digits, _, power = f"{value:.3g}".partition("e")
        if not power:
            return self.plain(value)
        raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        times = "" if digits == "1" else f"{digits.replace('.', self('.', ','))}{NARROW}·{NARROW}"
        return f"{times}10{raised}"

    def plain(self, value: float | Decimal) -> str:
        text = f"{value:.6g}"
        return text.replace(".", ",") if self.french else text


def _in_french(text: str) -> str | None:
    for english, french in TERMS.items():
        match = re.fullmatch(english, text)
        if match:
            parts = [_in_french(part) or part for part in match.groups()]
            return re.sub(r"\\(\d)", lambda m: parts[int(m[1]) - 1], french)  # noqa: B023
    return None


def document(title: str, parts: Mapping[str, str]) -> str:
    """Both languages, one after the other; a radio button shows one."""
    # Radio buttons and CSS switch the language, since the page has no script; the policy forbids one.
    sections = "".join(f'<section lang="{lang}">{text}</section>' for lang, text in parts.items())
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{GENERATOR}\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        '<input class="switch" type="radio" name="lang" id="en" checked aria-label="English">\n'
        '<input class="switch" type="radio" name="lang" id="fr" aria-label="Français">\n'
        '<nav><label for="en" lang="en">English</label><label for="fr" lang="fr">Français</label></nav>\n'
        f"<main>{sections}</main>\n</body>\n</html>\n"
    )


def is_murmure_page(start: bytes) -> bool:
    """Whether a file that starts so was written by Murmure, and may be replaced."""
    return start.startswith(b"<!doctype html>") and GENERATOR.encode() in start


def facts(items: Iterable[tuple[str, str]]) -> str:
    """The main facts, large, with their names below."""
    return f'<ul class="facts">{"".join(f"<li><b>{value}</b><span>{name}</span></li>" for value, name in items)}</ul>'


# -- figures ----------------------------------------------------------------------------------------------------------


LETTER_WIDTH, GAP = 7.5, 4.0  # pixels of a label
# Pixels: the narrowest table that has its picture in a column, and the narrowest screen.
TABLE_WIDTH, PHONE_WIDTH = 600, 280


@dataclass(frozen=True)
class Scale:
    """The width of a picture: from low to high, with ticks in between."""

    low: float
    high: float
    ticks: tuple[float, ...]
    percent: bool = True

    @classmethod
    def of_shares(cls, low: float, high: float) -> Scale:
        """From zero, or a little below where an estimate is, to a round number."""
        width = max(high, 0.001)
        power = 10.0 ** math.floor(math.log10(width))
        # At most five steps of a round size: more labels would touch on a telephone.
        step = next(s * power for s in (0.2, 0.5, 1.0, 2.0, 5.0) if width / (s * power) <= 5)
        step = 0.25 if 0.8 < width <= 1 else step  # "100 %" needs room
        count = math.ceil(width / step - 1e-9)
        if count * step > 1 >= high:
            count = round(1 / step)
        return cls(min(low, 0.0), max(count * step, high), tuple(i * step for i in range(count + 1)))

    @classmethod
    def of_range(cls, low: float, high: float) -> Scale:
        """For a number between its bounds, which are the ticks."""
        return cls(low, high, (low, high), percent=False)

    @classmethod
    def of_counts(cls, low: float, high: float) -> Scale:
        """From zero, or below where a noisy count is, to a round number of people."""
        step = 10.0 ** math.floor(math.log10(max(high, 1.0)))
        step *= next(s for s in (0.2, 0.5, 1.0, 2.0, 5.0) if high / (s * step) <= 5)
        step = max(step, 1.0)
        count = max(1, math.ceil(high / step - 1e-9))
        return cls(min(low, 0.0), count * step, tuple(i * step for i in range(count + 1)), percent=False)

    def at(self, value: float) -> float:
        """In per cent of the picture; a value outside is put at the edge."""
        return 100 * min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def axis(self, w: Language, width: float = PHONE_WIDTH) -> str:
        """Labels; those at an end stay inside the picture, the last one has the unit, and none touches another."""
        step = self.ticks[1] - self.ticks[0]
        digits = max(0, -math.floor(math.log10(step * (100 if self.percent else 0.1)) + 1e-9))
        labels, letter, gap = [], 100 * LETTER_WIDTH / width, 100 * GAP / width
        for tick in self.ticks:
            at, last = self.at(tick), tick == self.ticks[-1]
            text = w.number(100 * tick, digits) if self.percent else _tick_label(tick, w)
            anchor = "end" if last and at > 90 else "middle" if self.percent or len(self.ticks) > 2 else "start"
            text += f"{NARROW}%" if last and self.percent else ""
            left = at - letter * len(text) * {"end": 1.0, "middle": 0.5, "start": 0.0}[anchor]
            shown = f'<text class="tick" x="{at:.2f}%" y="11" text-anchor="{anchor}">{text}</text>'
            labels.append((left, left + letter * len(text), shown))
        end = labels[-1][0] - gap  # the last one stays, for its unit
        kept, free = [], -math.inf
        for left, right, shown in labels[:-1]:
            if left >= free and right <= end:
                kept.append(shown)
                free = right + gap
        return "".join([*kept, labels[-1][2]])

    def grid(self) -> str:
        return "".join(
            f'<line class="grid" x1="{self.at(t):.2f}%" x2="{self.at(t):.2f}%" y1="-13" y2="27"/>' for t in self.ticks
        )


def _tick_label(value: float, w: Language) -> str:
    return w.number(value, 0) if value == round(value) and abs(value) < 1e12 else w.plain(value)


def interval_marks(
    low: float, high: float, mean: float | None, truth: float | None, beyond: tuple[bool, bool] = (False, False)
) -> str:
    """A bar, a mark and perhaps an open circle; all in per cent of the picture's width.

    mean=None: there is no figure, and no mark. beyond: whether the bar continues to the left, or right, of the picture.
    """
    arrows = "".join(
        f'<svg x="{at}%" width="1" height="14"><path class="arrow" d="{path}"/></svg>'
        for there, at, path in zip(beyond, (0, 100), ("M0 1L-6 7L0 13Z", "M0 1L6 7L0 13Z"), strict=True)
        if there
    )
    circle = "" if truth is None else f'<circle class="true" cx="{truth:.2f}%" cy="7" r="4"/>'
    mark = "" if mean is None else f'<line class="mean" x1="{mean:.2f}%" x2="{mean:.2f}%" y1="0" y2="14"/>'
    return (
        f'<rect class="fill" x="{low:.2f}%" y="3" width="{max(high - low, 0.3):.2f}%" height="8" rx="2"/>'
        f"{mark}{circle}{arrows}"
    )


def legend(w: Language, level: float, truth: str | None, each: float | None = None) -> str:
    """What the marks of the pictures mean; `truth` says why the truth is known, where it is.

    each: the level of one interval, where all are to cover together.
    """
    sure = f"{w.plain(100 * level)}{NARROW}%"
    known = together = ""
    if each is not None:
        percent = level_percent(each).replace(".", w(".", ","))
        together = w(
            f"; all of them hold at once (each at {percent}{NARROW}%)",
            f"{WIDE}; tous valent à la fois (chacun à {percent}{NARROW}%)",
        )
    if truth is not None:
        circle = '<svg width="14" height="14" aria-hidden="true"><circle class="true" cx="7" cy="7" r="4"/></svg>'
        known = f"<span>{circle}{truth}</span>"
    bar = f'<svg width="34" height="14" aria-hidden="true">{interval_marks(10, 90, 50, None)}</svg>'
    meaning = w(f"estimate and {sure} interval", f"estimation et intervalle à {sure}")
    return f'<div class="key"><span>{bar}{meaning}{together}</span>{known}</div>'


def figure_table(
    rows: Iterable[Mapping[str, Any]],
    w: Language,
    scale: Scale,
    level: float = 0.95,
    digits: int = 1,
    name: str = "",
    kind: str = "crowd",
    labelled: str = "",
) -> str:
    """A table with a picture in every row. Rows have label (as HTML), mean, and perhaps low, high, truth and count.

    A mean that is not a number is one that the noise swamped.
    """
    rows = list(rows)
    bars, has_truth = "low" in rows[0], any("truth" in row for row in rows)

    def formatted(value: float, unit: bool = True) -> str:
        number = w.number(100 * value if scale.percent else value, digits)
        return number + (f"{NARROW}%" if unit and scale.percent else "")

    sure = f"{w.plain(100 * level)}{NARROW}%"
    # What STYLE leaves for the picture.
    room = min(TABLE_WIDTH * (0.49 - 0.11 * ("long" in kind) - 0.1 * has_truth), PHONE_WIDTH)
    head = f'<th scope="col" class="name">{name}</th>'
    head += f'<th scope="col" class="true-value">{w("truth", "vérité")}</th>' if has_truth else ""
    head += f'<th scope="col" class="num">{w("estimate", "estimation")}</th>'
    head += f'<th scope="col" class="span">{w(f"{sure} interval", f"intervalle à {sure}")}</th>' if bars else ""
    head += (
        f'<th scope="col" class="pic"><svg width="100%" height="14" aria-hidden="true">{scale.axis(w, room)}</svg></th>'
    )
    body = []
    for row in rows:
        cells = f'<th scope="row" class="name">{row["label"]}</th>'
        cells += f'<td class="wide">{formatted(row["truth"]) if "truth" in row else ""}</td>' if has_truth else ""
        known = math.isfinite(row["mean"])
        people = f"<small>{w.number(row['count'], 0)}</small>" if "count" in row else ""
        figure = formatted(row["mean"]) if known else w("too noisy", "trop bruité")
        cells += f"<td><b>{figure}</b>{people}</td>"
        ends = (row["mean"], row["mean"])
        if bars:
            ends = (row["low"], row["high"])
            cells += f"<td>{formatted(ends[0], False)} {w('to', 'à')} {formatted(ends[1])}</td>"
        true_at = scale.at(row["truth"]) if "truth" in row else None
        outside = (ends[0] < scale.low, ends[1] > scale.high)
        at = scale.at(row["mean"]) if known else None
        marks = interval_marks(scale.at(ends[0]), scale.at(ends[1]), at, true_at, outside)
        picture = f'<svg width="100%" height="14" aria-hidden="true">{scale.grid()}{marks}</svg>'
        body.append(f'<tr>{cells}<td class="pic">{picture}</td></tr>')
    named = f' aria-labelledby="{labelled}"' if labelled else ""
    return f'<table class="{kind}"{named}><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'
