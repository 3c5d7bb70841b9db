"""A release as one HTML page that stands alone: figures with their intervals, and what they cost the people in them.

No script, nothing from outside, French and English, light or dark, on paper too (see pages/page.py).
"""

from __future__ import annotations

import html
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from murmure import __version__
from murmure.advise_records import protocols
from murmure.core.errors import CannotWrite, InvalidParameter, PlanMismatch, shorten
from murmure.core.estimate import Estimate, Target, check_level, check_target
from murmure.core.estimates import Estimates
from murmure.core.files import all_or_nothing, refuse_to_replace
from murmure.core.show import each_at, no_figure, true_values, truths_of
from murmure.core.types import Certificate, Release
from murmure.pages.page import NARROW, WIDE, Scale, Words, document, facts, figures, is_page, key
from murmure.pages.words import promise, promise_in_french
from murmure.postprocess import project_simplex

SUFFIXES = (".html", ".htm")
FOLDED = 20  # a column with more figures shows the largest, and folds the rest
UNFOLDED = 12
SHORT = 14  # letters of a label that fit a narrow column
MOST_NAMED = 5  # columns of a witness
CONTENTS = 4  # columns from which there is a table of contents

ASKED = {
    "Marginals": (
        "The share of every answer, and the mean of every number, column by column.",
        "La part de chaque réponse et la moyenne de chaque nombre, colonne par colonne.",
    ),
    "Pair": ("The share of every pair of answers.", "La part de chaque couple de réponses."),
    "Histogram": ("The share of every answer.", "La part de chaque réponse."),
    "Mean": ("The mean.", "La moyenne."),
}
HOW = {
    "SPL": (
        "every column is randomised with its share of the budget, and all of them are reported.",
        "chaque colonne est rendue aléatoire avec sa part du budget, et toutes sont envoyées.",
    ),
    "Plain": (
        "every column is randomised with its share of the budget; numbers stay numbers within their bounds.",
        "chaque colonne est rendue aléatoire avec sa part du budget ; les nombres restent des nombres, dans leurs "
        "bornes.",
    ),
    "SMP": (
        "some columns of a person are drawn by lot, randomised and reported; the others stay with the person.",
        "quelques colonnes de la personne sont tirées au sort, rendues aléatoires et envoyées ; les autres restent "
        "chez elle.",
    ),
    "RSFD": (
        "one column of a person is randomised, the others are invented, and nobody is told which.",
        "une colonne de la personne est rendue aléatoire, les autres sont inventées, et nul ne sait laquelle.",
    ),
    "RSRFD": (
        "one column of a person is randomised, the others are invented after public shares, and nobody is told which.",
        "une colonne de la personne est rendue aléatoire, les autres sont inventées d’après des parts publiques, et "
        "nul ne sait laquelle.",
    ),
    "ADP": (
        "for each column the protocol with the smaller exact variance.",
        "pour chaque colonne, le protocole dont la variance exacte est la plus petite.",
    ),
}
ANY = (
    "every answer is randomised before it leaves the person.",
    "chaque réponse est rendue aléatoire avant de partir.",
)


def write_report(
    release: Release,
    path: str | os.PathLike[str],
    truth: Any = None,
    level: float = 0.95,
    target: Target = "fixed",
    receipt: Any = None,
    plan: Any = None,
    simultaneous: bool = False,
    weights: str | None = None,
) -> Path:
    """The finished page at `path`, or nothing. See `report_html`.

    The name ends in .html or .htm. An earlier page of ours is replaced; any other file is refused.
    """
    path = Path(path)
    check_place(path)
    text = report_html(release, truth, level, target, receipt, plan, simultaneous, weights)
    with all_or_nothing(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


def check_place(path: Path) -> None:
    """Refuse a name that no page has, and a file that is something else."""
    if path.suffix.lower() not in SUFFIXES:
        raise CannotWrite(
            f"a page is a file whose name ends in {' or '.join(SUFFIXES)}, got {path.name!r}.",
            hint="name the file report.html",
        )
    refuse_to_replace(path, is_page, "a page that Murmure wrote")


def report_html(
    release: Release,
    truth: Any = None,
    level: float = 0.95,
    target: Target = "fixed",
    receipt: Any = None,
    plan: Any = None,
    simultaneous: bool = False,
    weights: str | None = None,
) -> str:
    """The page of a release of one question, or of many columns.

    truth: the true shares or means (by column, where there are several), when people are simulated; the page says so.
    target: whom the intervals speak of. receipt: what `sanitise` returned: rows dropped, and the plan; plan: the plan
    alone, where there is no receipt. With either, the page names each column's protocol and what one person is.
    simultaneous: all intervals of the page hold at once, with the probability `level`. weights: the column that says
    how much each person counts, where the plan does not name it.
    """
    if not isinstance(release, Release):
        raise InvalidParameter(
            f"a report is made of a Release, got {shorten(type(release).__name__)}.",
            hint="run(plan, frame) and estimate(table) return one",
        )
    check_level(level)
    check_target(target)
    story = _Story(release, truth, float(level), target, receipt, plan, simultaneous, weights)
    return document(f"Murmure: {story.title(Words('en'))}", {lang: _page(story, Words(lang)) for lang in ("en", "fr")})


@dataclass(frozen=True)
class _Column:
    """One heading of the page."""

    name: str
    estimate: Estimate
    truth: Any
    number: int
    bounds: tuple[float, float] | None = None
    mean: Estimate | None = None  # read off the shares


class _Story:
    """What is told, before it is told in a language."""

    def __init__(
        self,
        release: Release,
        truth: Any,
        level: float,
        target: Target,
        receipt: Any,
        plan: Any,
        simultaneous: bool,
        weights: str | None,
    ) -> None:
        self.release, self.level, self.target, self.receipt = release, level, target, receipt
        self.simultaneous = simultaneous
        self.simulated = truth is not None
        self.plan = getattr(receipt, "plan", None) if plan is None else plan
        self._refuse_another()
        self.weights = weights or getattr(getattr(self.plan, "statistic", None), "weights", None)
        kind, _, rest = release.about.partition(" ")
        asked, _, by = rest.rpartition("through ")
        self.statistic, self.mechanism = kind, by if asked or by else ""
        if rest.endswith("in the clear"):
            asked, self.mechanism = rest.removesuffix("in the clear"), ""
        self.asked = asked.strip().removeprefix("of ").strip()
        self.columns = list(self._columns(truth))

    def _refuse_another(self) -> None:
        """A receipt or plan that belongs to other figures."""
        release, plan = self.release, self.plan
        if plan is not None and plan.digest != release.plan:  # the plan of a pair differs in its question alone
            costs = [[(c.epsilon, c.public) for c in held.values()] for held in (plan.guarantees(), release.guarantees)]
            if costs[0] != costs[1]:
                raise PlanMismatch(
                    f"this release answers plan {release.plan[:12]}, the receipt plan {plan.digest[:12]}.",
                    hint="pass the receipt of the table that was estimated",
                )
        rows = getattr(self.receipt, "rows", None)
        if rows is not None and rows != release.estimate.n:
            raise PlanMismatch(
                f"this release is about {release.estimate.n} rows, the receipt about {rows}.",
                hint="pass the receipt of the table that was estimated",
            )

    def _columns(self, truth: Any) -> Iterator[_Column]:
        held = self.release.estimate
        if not isinstance(held, Estimates):
            if hasattr(truth, "items"):
                raise InvalidParameter(f"truth must be {len(held.mean)} numbers, one for each figure, got a mapping.")
            yield _Column(self.asked, held, true_values(held, truth, "truth"), 0)
            return
        truths, means = truths_of(held, truth), held.means
        for i, (name, estimate) in enumerate(held.items()):
            values = held.numbers.get(name)
            bounds = None if values is None else (float(values[0][0] - values[1]), float(values[0][-1] + values[1]))
            mean = means.by_column.get(name) if estimate.unit == "share" else None
            yield _Column(name, estimate, truths.get(name), i, bounds, mean)

    # -- facts ----------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        return int(self.release.estimate.n)

    @property
    def many(self) -> bool:
        return isinstance(self.release.estimate, Estimates)

    @property
    def of_records(self) -> bool:
        """Whether people answered several columns, of which perhaps only a pair is shown."""
        return self.many or self.statistic == "Pair"

    @cached_property
    def each(self) -> float:
        """The level of one interval: the asked one, or higher where all hold at once."""
        if not self.simultaneous:
            return self.level
        shown = [e for c in self.columns for e in (c.estimate, c.mean) if e is not None]
        return each_at(self.level, shown)

    @property
    def digest(self) -> str:
        """The plan that people answered: the table's, where it was asked another question afterwards."""
        return str(self.release.plan if self.plan is None else self.plan.digest)

    def whom(self, estimate: Estimate) -> Target:
        return estimate.target if estimate.target != "fixed" else self.target

    @cached_property
    def certificates(self) -> list[Certificate]:
        """Of the whole record, then of one attribute where that is another question."""
        return [certificate for _, certificate in self.release.observers()]

    @property
    def rows_per_person(self) -> int | None:
        """How many rows one person may have; None: the guarantee is about one row."""
        if self.plan is not None:
            return None if self.plan.unit == "row" else int(self.plan.rows_per_person)
        found = re.search(r"; (\d+) fresh reports add up", self.certificates[0].method)
        return int(found[1]) if found else None

    def protocol(self, name: str) -> str:
        """GRR, OUE ...: what randomised this column, where the plan is known."""
        person = getattr(self.plan, "person", None)
        if person is None or not self.many:
            return ""
        return protocols(person)[list(person.columns).index(name)]

    @cached_property
    def long(self) -> bool:
        """Whether labels need room; the same for all columns, so that pictures stand under one another."""
        return any(len(str(label)) > SHORT for column in self.columns for label in column.estimate.labels)

    # -- in words -------------------------------------------------------------------------------------------------

    def title(self, w: Words) -> str:
        rows = w.number(self.rows, 0)
        if not self.many:
            what = f"{self.named(self.asked, w)}, " if self.asked else ""
            if self.of_records:
                return what + w(f"{rows} rows", f"{rows} lignes")
            return what + w(f"{rows} answers", f"{rows} réponses")
        columns = len(self.columns)
        return w(
            f"{columns} column{'s' * (columns != 1)}, {rows} rows",
            f"{columns} colonne{'s' * (columns != 1)}, {rows} lignes",
        )

    def named(self, column: str, w: Words) -> str:
        """A column as it is written, or a pair of them."""
        if self.statistic == "Pair" and column.count(" and ") == 1:
            return column.replace(" and ", w(" and ", " et "))
        return column

    def protects(self, w: Words) -> str:
        if not self.of_records:
            return w("one answer", "une réponse")
        rows = self.rows_per_person
        if rows is None:
            return w("one row", "une ligne")
        most = w.number(rows, 0)
        return w(
            f"one person with at most {most} row{'s' * (rows != 1)}",
            f"une personne ayant au plus {most} ligne{'s' * (rows != 1)}",
        )


def _page(story: _Story, w: Words) -> str:
    parts = [_head(story, w), _asked(story, w), _figures(story, w), _guarantees(story, w)]
    return "\n".join([*parts, _consistent(story, w), _foot(story, w)])


def _epsilon(value: float, w: Words) -> str:
    return w.plain(value) if math.isfinite(value) else w("none", "aucun")


def _head(story: _Story, w: Words) -> str:
    release, warnings = story.release, []
    if release.seeded:
        warnings.append(
            w(
                "Seeded experiment: anyone can replay these reports. Never for real people.",
                f"Expérience à graine{WIDE}: chacun peut rejouer ces réponses. Jamais avec de vraies personnes.",
            )
        )
    if story.simulated:
        warnings.append(
            w(
                "Simulation: the true values are shown because these people are invented or known.",
                f"Simulation{WIDE}: les vraies valeurs sont montrées, car ces personnes sont inventées ou connues.",
            )
        )
    warn = "".join(f'<p class="warn">{text}</p>' for text in warnings)
    names = {
        "record": w("epsilon for a whole record", "epsilon pour toute une fiche")
        if story.of_records
        else w("epsilon of an answer", "epsilon d’une réponse"),
        "attribute": w("epsilon for one attribute", "epsilon pour un attribut"),
    }
    held = [(w.number(story.rows, 0), w("rows", "lignes") if story.of_records else w("answers", "réponses"))]
    dropped = getattr(story.receipt, "dropped", None)
    if dropped is not None:
        held.append((w.number(dropped, 0), w("rows dropped", "lignes écartées")))
    held += [(_epsilon(c.epsilon, w), names[c.unit]) for c in story.certificates]
    held.append((story.protects(w), w("protected unit", "unité protégée")))
    randomness = w("seeded", "à graine") if release.seeded else w("secure", "sûr")
    if story.mechanism:
        held.append((randomness, w("randomness", "hasard")))
    return f"""<h1>{html.escape(story.title(w))}</h1>
<p class="motto">{w("Each person whispers; the crowd speaks.", f"Chacun murmure{WIDE}; la foule parle.")}</p>
{warn}{facts(held)}"""


def _asked(story: _Story, w: Words) -> str:
    asked = w(*ASKED.get(story.statistic, (html.escape(story.statistic), html.escape(story.statistic))))
    how = w(
        "Nothing was randomised: these are exact figures of real answers.",
        f"Rien n’a été rendu aléatoire{WIDE}: ce sont les chiffres exacts de vraies réponses.",
    )
    if story.mechanism:
        said = w(*HOW.get(story.mechanism, ANY)).replace(" ;", f"{WIDE};")
        name = f"<b>{html.escape(story.mechanism)}</b>"
        how = w(f"By {name}: {said}", f"Par {name}{WIDE}: {said}")
    if story.weights is not None:
        column = f"<b>{html.escape(story.weights)}</b>"
        how += w(
            f" Figures are weighted: each person counts as the public column {column} says.",
            f" Les chiffres sont pondérés{WIDE}: chacun compte selon la colonne publique {column}.",
        )
    dropped = getattr(story.receipt, "dropped", 0) or 0
    left = ""
    if dropped:
        count = w.number(dropped, 0)
        beyond = ("", "")
        if story.rows_per_person is not None:
            beyond = (", or more than one person may have", ", ou en surnombre pour une personne")
        left = w(
            f"{count} rows were left out: outside the schema{beyond[0]}. The figures say nothing about them.",
            f"{count} lignes ont été écartées{WIDE}: hors du schéma{beyond[1]}. Les chiffres n’en disent rien.",
        )
        left = f"<p>{left}</p>"
    contents = _contents(story, w) if len(story.columns) >= CONTENTS else ""
    return f"""<h2>{w("1. What was asked, and how", "1. Ce qui a été demandé, et comment")}</h2>
<p>{asked} {how}</p>{left}{contents}"""


def _contents(story: _Story, w: Words) -> str:
    """Every column: where it is, what is shown of it, and how it was randomised."""
    rows = []
    protocols = any(story.protocol(column.name) for column in story.columns)
    some = any(hasattr(column.estimate.reading, "shown") for column in story.columns)
    for column in story.columns:
        shown = getattr(column.estimate.reading, "shown", None)
        cells = f'<th scope="row"><a href="#{w.lang}-{column.number}">{html.escape(column.name)}</a></th>'
        cells += f"<td>{_kind(column.estimate, w)}</td>"
        cells += f"<td>{html.escape(story.protocol(column.name))}</td>" if protocols else ""
        cells += f'<td class="num">{"" if shown is None else w.number(shown, 0)}</td>' if some else ""
        rows.append(f"<tr>{cells}</tr>")
    head = f'<th scope="col">{w("column", "colonne")}</th><th scope="col">{w("shown", "montré")}</th>'
    head += f'<th scope="col">{w("protocol", "protocole")}</th>' if protocols else ""
    head += f'<th scope="col" class="num">{w("reported by", "envoyée par")}</th>' if some else ""
    return f'<table class="held toc"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _kind(estimate: Estimate, w: Words) -> str:
    if no_figure(estimate):
        return w("no figure", "aucun chiffre")
    if estimate.unit == "value":
        return w("mean", "moyenne")
    k = w.number(len(estimate.mean), 0)
    return w(f"shares of {k} answers", f"parts de {k} réponses")


# -- what the crowd says ----------------------------------------------------------------------------------------------


def _figures(story: _Story, w: Words) -> str:
    known = w("truth (simulation)", "vérité (simulation)") if story.simulated else None
    parts = [_column(story, column, w) for column in story.columns]
    return f"""<h2>{w("2. What the crowd says", "2. Ce que dit la foule")}</h2>
{key(w, story.level, known, story.each if story.simultaneous else None)}
{"".join(parts)}
{_notes(story, w)}"""


def _column(story: _Story, column: _Column, w: Words) -> str:
    name = html.escape(story.named(column.name, w)) or _kind(column.estimate, w)
    title = f'<h3 id="{w.lang}-{column.number}">{name}</h3>'
    if no_figure(column.estimate):
        why = w.term(column.estimate.reason or "")
        return f'{title}<p class="note">{w("No figure", f"Aucun chiffre{WIDE}")}: {why}.</p>'
    rows, _ = column.estimate.rows_and_method(story.each, story.whom(column.estimate))
    shown: list[dict[str, Any]] = []
    for i, row in enumerate(rows):
        label = w("mean", "moyenne") if column.estimate.unit == "value" else row["label"]
        held = {"label": html.escape(label), "mean": row[column.estimate.unit]}
        held |= {end: row[end] for end in ("low", "high") if end in row}
        shown.append(held | ({} if column.truth is None else {"truth": float(column.truth[i])}))
    if len(shown) > FOLDED:
        shown.sort(key=lambda row: -row["mean"])
    scale, digits = _scale(shown, column), _digits(shown, column.estimate.unit == "share")
    options: dict[str, Any] = {"level": story.level, "digits": digits, "kind": "crowd long" if story.long else "crowd"}
    options["labelled"] = f"{w.lang}-{column.number}"
    what = w("answer", "réponse") if column.estimate.unit == "share" else ""
    if len(shown) <= FOLDED:
        return title + figures(shown, w, scale, name=what, **options) + _mean(story, column, w)
    rest = len(shown) - UNFOLDED
    largest = w("answer, largest first", "réponse, par ordre décroissant")
    folded = w(f"{rest} smaller shares", f"{rest} parts plus petites")
    return (
        f"{title}{figures(shown[:UNFOLDED], w, scale, name=largest, **options)}<details><summary>{folded}</summary>"
        f"{figures(shown[UNFOLDED:], w, scale, name=what, **options)}</details>{_mean(story, column, w)}"
    )


def _scale(rows: list[dict[str, Any]], column: _Column) -> Scale:
    values = [row[key] for row in rows for key in ("mean", "low", "high", "truth") if key in row]
    low, high = min(values), max(values)
    if column.estimate.unit == "share":
        return Scale.of_shares(low, high)
    if column.bounds is not None:
        return Scale.between(min(low, column.bounds[0]), max(high, column.bounds[1]))
    pad = 0.5 * (high - low) or abs(high) or 1.0
    digits = 1 - math.floor(math.log10(pad))
    return Scale.between(round(low - pad, digits), round(high + pad, digits))


def _digits(rows: list[dict[str, Any]], shares: bool) -> int:
    """Enough digits to tell the ends of an interval apart, and not more."""
    widths = [row["high"] - row["low"] for row in rows if row.get("high", 0.0) > row.get("low", 0.0)]
    if not widths:
        return 1 if shares else 2
    width = float(np.median(widths)) * (100 if shares else 1)
    return min(max(1 - math.floor(math.log10(width)), 1 if shares else 0), 6)


def _mean(story: _Story, column: _Column, w: Words) -> str:
    """The mean that the shares of a number give."""
    if column.mean is None:
        return ""
    ((row), *_), method = column.mean.rows_and_method(story.each, story.whom(column.estimate))
    digits = _digits([row], False)
    said = [w.number(row[end], digits) for end in ("value", "low", "high")]
    by = w.term(method)
    return f"""<p class="note">{
        w(
            f"Mean <b>{said[0]}</b>, {said[1]} to {said[2]}, by the {by} method.",
            f"Moyenne <b>{said[0]}</b>, de {said[1]} à {said[2]}, par {by}.",
        )
    }</p>"""


def _notes(story: _Story, w: Words) -> str:
    """Whom the intervals speak of and how they were found; how often they hold the truth."""
    methods: dict[str, None] = {}
    inside = asked = 0
    below = False
    for column in story.columns:
        if no_figure(column.estimate) or column.estimate.reading is None:
            continue
        ends, method = column.estimate.interval_and_method(story.each, story.whom(column.estimate))
        methods[w.term(method.removesuffix(", weighted") if story.weights else method)] = None
        below = below or (column.estimate.unit == "share" and bool((column.estimate.mean < 0).any()))
        if column.truth is not None:
            inside += int(((ends[:, 0] <= column.truth) & (column.truth <= ends[:, 1])).sum())
            asked += len(ends)
    notes = []
    if methods:
        how = w(f"by {', '.join(methods)}", f"par {', '.join(methods)}")
        if story.weights is not None:
            by = html.escape(story.weights)
            how += w(f"; weighted by {by}", f"{WIDE}; pondéré par {by}")
        if all(story.whom(c.estimate) == "fixed" for c in story.columns):
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
    if asked:
        sure = f"{w.plain(100 * story.level)}{NARROW}%"
        should = w(f"{sure} of them should hold it", f"{sure} devraient la contenir")
        if story.simultaneous:
            should = w(f"{sure} of the time all should hold it", f"{sure} du temps, tous devraient la contenir")
        notes.append(
            w(
                f"The truth lies inside {inside} of {asked} intervals; {should}.",
                f"La vérité est dans {inside} des {asked} intervalles{WIDE}; {should}.",
            )
        )
    if below:
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


# -- what is guaranteed -----------------------------------------------------------------------------------------------


def _guarantees(story: _Story, w: Words) -> str:
    rows = [_certificate(story, certificate, w) for certificate in story.certificates]
    first = story.certificates[0]
    heads = (
        w("what may differ", "ce qui peut différer"),
        "epsilon",
        w("in plain words", "en clair"),
    )
    head = "".join(f'<th scope="col"{" class=num" if i == 1 else ""}>{name}</th>' for i, name in enumerate(heads))
    several = ""
    if story.of_records and story.rows_per_person is None:
        several = w(
            "The unit is one row: someone with several rows pays for each of them.",
            f"L’unité est une ligne{WIDE}: qui en a plusieurs paie pour chacune.",
        )
    elif story.of_records:
        several = w(
            f"The unit is {story.protects(w)}; the figures add up all those rows.",
            f"L’unité est {story.protects(w)}{WIDE}; les chiffres comptent toutes ces lignes.",
        )
    provided = ""
    if first.assumption:
        said = w.term(first.assumption)
        provided = f"<p>{w(f'Provided {said}.', f'À condition que{WIDE}: {said}.')}</p>"
    return f"""<h2>{w("3. What is guaranteed", "3. Ce qui est garanti")}</h2>
<table class="held"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>
<p>{several} {
        w(
            "Epsilon is computed from the integers that the random words are compared with, and rounded up; delta is "
            "0. It holds against whoever collects and whoever reads.",
            f"Epsilon est calculé sur les entiers auxquels les mots aléatoires sont comparés, puis arrondi vers le haut"
            f"{WIDE}; delta vaut 0. Cela vaut face à qui collecte comme à qui lit.",
        )
        if math.isfinite(first.epsilon)
        else ""
    }</p>{provided}
{_public(story, first, w)}"""


def _certificate(story: _Story, c: Certificate, w: Words) -> str:
    if not story.of_records:
        what = w("the answer", "la réponse")
    elif (story.rows_per_person or 1) > 1:
        what = w("all rows of one person", "toutes les lignes d’une personne")
        if c.unit == "attribute":
            what = w("one attribute in each of them", "un attribut dans chacune")
    elif c.unit == "record":
        what = w("the whole record", "toute la fiche")
    else:
        what = w("one attribute of it", "un seul attribut")
    said = w(promise(c).split(", provided")[0].removesuffix(".") + ".", promise_in_french(c).replace(" :", f"{WIDE}:"))
    found = f'<br><span class="soft">{w("Found by", f"Trouvé par{WIDE}")}: {w.term(c.method)}.</span>'
    return (
        f'<tr><th scope="row">{what}</th><td class="num"><b>{_epsilon(c.epsilon, w)}</b></td>'
        f"<td>{said} {_witness(story, c, w)}{found}</td></tr>"
    )


def _witness(story: _Story, c: Certificate, w: Words) -> str:
    """Which two people the most telling report tells apart, and how well."""
    if c.witness is None or not math.isfinite(c.epsilon):
        return ""
    a, b, _ = c.witness
    shown = story.release.estimate if story.many else ()
    names = list(getattr(getattr(story.plan, "person", None), "columns", None) or shown)
    if story.of_records and len(a) != len(names):  # figures of some columns, and no plan that names the others
        one, two = _said(c)
    elif story.of_records:
        differ = [
            (f"{html.escape(n)} {_quoted(x, w)}", _quoted(y, w)) for n, x, y in zip(names, a, b, strict=True) if x != y
        ]
        more = len(differ) - MOST_NAMED
        rest = w(f" and {more} more columns", f" et {more} autres colonnes") if more > 0 else ""
        one, two = (", ".join(side[:MOST_NAMED]) + rest for side in zip(*differ, strict=True)) if differ else ("", "")
    else:
        one, two = _quoted(a, w), _quoted(b, w)
    if not one:
        return ""
    if "fresh reports" in c.method or c.epsilon > 50:
        return w(
            f"The most telling report tells {one} from {two}.", f"La réponse la plus parlante distingue {one} de {two}."
        )
    odds = w.number(math.exp(c.epsilon), 2 if c.epsilon < 7 else 0)
    return w(
        f"The most telling report is {odds} times likelier from {one} than from {two}.",
        f"La réponse la plus parlante vient {odds} fois plus souvent de {one} que de {two}.",
    )


def _said(c: Certificate) -> tuple[str, str]:
    """The two people out of the certificate's own words, which name every column."""
    words = "" if c.said is None else c.said[1]
    found = re.fullmatch(r"is \S+ times likelier from (.*) than from (.*)|tells (.*) from (.*) best", words, re.DOTALL)
    if found is None:
        return "", ""
    one, two = (html.escape(text) for text in found.groups() if text is not None)
    return one, two


def _quoted(label: Any, w: Words) -> str:
    text = html.escape(str(label))
    return f"«{NARROW}{text}{NARROW}»" if w.french else f"\u201c{text}\u201d"


def _public(story: _Story, c: Certificate, w: Words) -> str:
    """What was taken for public knowledge; column by column where the plan is known."""
    items = [w.term(item) for item in c.public]
    schema = getattr(getattr(story.plan, "statistic", None), "domain", None)
    if story.of_records and schema is not None:
        items = [_domain(name, schema, w) for name in schema.columns] + items[1:]
    listed = "".join(f"<li>{item}</li>" for item in items)
    said = w("What was taken for public", "Ce qui a été tenu pour public")
    return f"<details><summary>{said}</summary><ul>{listed}</ul></details>"


def _domain(name: str, schema: Any, w: Words) -> str:
    domain, shown = schema.columns[name], html.escape(name)
    if hasattr(domain, "cells"):
        low, high, cells = w.plain(domain.low), w.plain(domain.high), w.number(domain.cells, 0)
        said = w(f"numbers from {low} to {high} in {cells} cells", f"nombres de {low} à {high} en {cells} cases")
    elif hasattr(domain, "low"):
        low, high = w.number(domain.low, 0), w.number(domain.high, 0)
        said = w(f"whole numbers from {low} to {high}", f"nombres entiers de {low} à {high}")
    else:
        said = w(f"{w.number(domain.size, 0)} possible answers", f"{w.number(domain.size, 0)} réponses possibles")
    if schema.about[name].public:
        said += w("; public, not randomised", f"{WIDE}; publique, telle quelle")
    return f"<b>{shown}</b>{w('', WIDE)}: {said}"


# -- consistent shares, and what identifies the page ------------------------------------------------------------------


def _consistent(story: _Story, w: Words) -> str:
    """The nearest shares that are not negative and sum to one: no error bar belongs to them."""
    rows = []
    for column in story.columns:
        estimate = column.estimate
        if no_figure(estimate) or estimate.unit != "share" or len(estimate.mean) < 2 or not story.mechanism:
            continue
        shares = project_simplex(estimate)
        listed = ", ".join(
            f"{html.escape(label)}{WIDE}<b>{w.percent(float(share))}</b>"
            for label, share in zip(shares.labels, shares.mean, strict=True)
        )
        name = html.escape(story.named(column.name, w)) or w("answers", "réponses")
        rows.append(f'<tr><th scope="row">{name}</th><td>{listed}</td></tr>')
    if not rows:
        return ""
    head = f'<th scope="col">{w("column", "colonne")}</th><th scope="col">{w("shares", "parts")}</th>'
    return f"""<h2>{w("4. Shares that add up", "4. Des parts qui font un tout")}</h2>
<p>{
        w(
            "The nearest shares that are not negative and sum to one, for whoever needs them so. They are biased, and "
            "no error bar belongs to them: quote the figures above.",
            f"Les parts les plus proches qui ne sont pas négatives et dont la somme est un, pour qui en a besoin. "
            f"Elles sont biaisées et sans barre d’erreur{WIDE}: citez les chiffres ci-dessus.",
        )
    }</p>
<details><summary>{w("Show them", "Les montrer")}</summary>
<table class="held"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></details>"""


def _foot(story: _Story, w: Words) -> str:
    plan = f"<code>{html.escape(story.digest)}</code>"
    alone = w(
        "This page is one file, without script, and asks nothing of the network.",
        "Cette page est un seul fichier, sans script, et ne demande rien au réseau.",
    )
    return f"<footer>Murmure {__version__}. Plan{w('', WIDE)}: {plan}. {alone}</footer>"
