"""A report of figures with noise at the curator: its head, what was asked, and what its intervals count."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

from murmure.catalogue import entries
from murmure.core.catalogue_entries import NoiseEntry, StatisticEntry
from murmure.core.domain import Categories, Decimals, Interval
from murmure.core.schema import Schema
from murmure.run.report.html_parts import WIDE, Language
from murmure.run.report.question_section import contents_table, epsilon_text, head_html
from murmure.run.report.report_content import ReportContent


def curated_head(content: ReportContent, w: Language) -> str:
    release, warnings = content.release, []
    if release.seeded:
        undone = w("takes the noise off again", "retire le bruit")
        if content.chosen is not None:
            undone = w("replays the draw", "rejoue le tirage")
        warnings.append(
            w(
                f"Seeded experiment: whoever knows the seed {undone}. Never for real people.",
                f"Expérience à graine{WIDE}: qui connaît la graine {undone}. Jamais avec de vraies personnes.",
            )
        )
    return head_html(content, _motto(content, w), warnings, _facts(content, w), w)


def _motto(content: ReportContent, w: Language) -> str:
    if content.chosen is not None:
        return w("One of several public candidates leaves the curator.", "Un candidat public sort de chez le curateur.")
    return w("Only noisy sums leave the curator.", "Seules des sommes bruitées sortent de chez le curateur.")


def _facts(content: ReportContent, w: Language) -> list[tuple[str, str]]:
    c, items = content.reader, []
    if content.release.estimate.n is not None:
        rows = (content.rows_per_person or 1) > 1
        about = w("about ", "environ ") if content.release.estimate.noisy else ""
        what = w("rows (noisy)", "lignes (bruité)") if rows else w("people (noisy)", "personnes (bruité)")
        items.append((f"{about}{w.number(content.rows, 0)}", what))
    items.append((epsilon_text(c.epsilon, w), w("epsilon of this release", "epsilon de la publication")))
    if c.delta:
        items.append((w.small(c.delta), "delta"))
    items.append((content.protects(w), w("protected unit", "unité protégée")))
    if content.paid is not None:
        left = f"{w.plain(max(content.paid.left, 0.0))} {w('of', 'sur')} {w.plain(content.paid.budget)}"
        items.append((left, w("epsilon left in the ledger", "epsilon restant au registre")))
    items.append((w("seeded", "à graine") if content.release.seeded else w("secure", "sûr"), w("randomness", "hasard")))
    return items


def curated_question(content: ReportContent, w: Language) -> str:
    name = f"<b>{html.escape(content.mechanism)}</b>"
    if content.chosen is not None:
        how = w(
            f"A curator sees every row and draws one candidate, by {name}: those with more people are likelier.",
            f"Un curateur voit chaque ligne et tire un candidat, par {name}{WIDE}: plus un candidat a de personnes, "
            "plus il est probable.",
        )
    else:
        noise = entries(NoiseEntry).get(content.mechanism, NoiseEntry()).title or ("noise", "du bruit")
        how = w(
            f"A curator sees every row and adds them up exactly; {noise[0]} ({name}) is added to the sums, and only "
            "noisy sums leave.",
            f"Un curateur voit chaque ligne et en fait la somme exacte{WIDE}; {noise[1]} ({name}) est ajouté aux "
            "sommes, et seules des sommes bruitées sortent.",
        )
        if content.mechanism == "Geometric":
            how += w(" They are then cut to a public range.", " Elles sont ensuite coupées à un intervalle public.")
    return f"""<h2>{w("1. What was asked, and how", "1. Ce qui a été demandé, et comment")}</h2>
<p>{html.escape(content.question.sentence(w))} {how}</p>
<p class="note">{_row_rules(content, w)}</p>{contents_table(content, w)}"""


def _row_rules(content: ReportContent, w: Language) -> str:
    """How cells outside the schema are counted. They never raise an error, because an error would reveal them."""
    domains = [] if content.plan is None else [domain for _, domain in _domains(content.plan.statistic.domain)]
    labels = [isinstance(domain, Categories) for domain in domains]
    numbers = [domain for domain in domains if not isinstance(domain, Categories)]
    parts = []
    if content.question.kind == "Rows" and len(domains) == 1:
        numbers, labels = [], [False]
        parts.append(w("all of them are counted", "toutes sont comptées"))
    elif not domains or any(domain.outside != "drop" for domain in numbers):
        parts.append(w("a number out of bounds is moved to the bound", "un nombre hors bornes est ramené à la borne"))
    if any(domain.outside == "drop" for domain in numbers):
        names = [repr(domain.column) for domain in numbers if domain.outside == "drop" and domain.column]
        columns, colonnes = (
            (f" of {', '.join(names)}", f" de {', '.join(names)}") if len(names) < len(numbers) else ("", "")
        )
        parts.append(
            w(
                f"a row with a number{columns} out of bounds is left out",
                f"une ligne dont un nombre{colonnes} est hors bornes est écartée",
            )
        )
    if not domains or any(domain.absent is None for domain in numbers):
        parts.append(
            w(
                "a row whose number is missing or unreadable is left out, unless the schema names a value for it",
                "une ligne dont le nombre manque ou est illisible est écartée, sauf si le schéma lui donne une valeur",
            )
        )
    elif numbers:
        parts.append(
            w(
                "a missing or unreadable number counts as the schema says",
                "un nombre manquant ou illisible compte comme le schéma le dit",
            )
        )
    if any(labels) or not labels:
        parts.append(
            w(
                "a label that is not in the schema counts nowhere",
                "une étiquette hors du schéma ne compte nulle part",
            )
        )
    rules = f"{w('', WIDE)}; ".join(parts)
    return w(
        f"Every row is read, whatever it holds: {rules}.",
        f"Chaque ligne est lue, quoi qu’elle contienne{WIDE}: {rules}.",
    )


# -- how intervals are to be read -------------------------------------------------------------------------------------


def curated_notes(content: ReportContent, methods: Iterable[str], below: bool, w: Language) -> list[str]:
    """Which errors the intervals count (noise, sampling, grid), and of whom they speak."""
    how, notes = ", ".join(methods), []
    if how:
        grid = _grid_rounding(content, w)
        if all(content.target_of(column.estimate) == "fixed" for column in content.columns):
            notes.append(
                w(
                    f"Intervals count the noise{grid}. They speak of these people, a fixed population: no error of "
                    f"sampling is in them (by {how}).",
                    f"Les intervalles comptent le bruit{grid}. Ils parlent de ces personnes-ci, population fixe{WIDE}: "
                    f"aucune erreur d’échantillonnage n’y entre (par {how}).",
                )
            )
        else:
            notes.append(
                w(
                    f"Intervals count the noise{grid} and the error of sampling: they speak of the larger population "
                    f"that these people stand for, a superpopulation (by {how}).",
                    f"Les intervalles comptent le bruit{grid} et l’erreur d’échantillonnage{WIDE}: ils parlent de la "
                    f"population plus vaste que ces personnes représentent, la superpopulation (par {how}).",
                )
            )
    if below:
        notes.append(
            w(
                "Noise errs to both sides, so a small figure may fall below zero; its interval is cut to what is "
                "possible.",
                f"Le bruit se trompe des deux côtés{WIDE}: un petit chiffre peut passer sous zéro{WIDE}; son "
                "intervalle est coupé à ce qui est possible.",
            )
        )
    return notes


def _grid_rounding(content: ReportContent, w: Language) -> str:
    """How far numbers are moved to their grid, at most; empty where no number is on a grid."""
    form = entries(StatisticEntry).get(content.question.kind, StatisticEntry()).query
    if form is not None and (form.counts or form.chosen):
        return ""
    if content.plan is None:
        return w(" and, of numbers on a grid, the rounding to it", " et, pour des nombres sur une grille, leur arrondi")
    roundings: dict[str, float] = {}
    for name, domain in _domains(content.plan.statistic.domain):
        is_rounded = isinstance(domain, Interval) or (isinstance(domain, Decimals) and domain.rounding == "nearest")
        if is_rounded and (not name or name in content.question.columns):
            roundings[name] = float(domain.scale()[2])
    if not roundings:
        return ""
    distances = ", ".join(w.plain(value) for value in dict.fromkeys(roundings.values()))
    return w(f" and the rounding to the grid (at most {distances})", f" et l’arrondi à la grille (au plus {distances})")


def _domains(domain: Any) -> list[tuple[str, Any]]:
    if isinstance(domain, Schema):
        return [(name, domain[name]) for name in domain.private]
    return [(domain.column or "", domain)]
