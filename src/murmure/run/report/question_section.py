"""The head of a report, and its first section: what was asked, and how."""

from __future__ import annotations

import html
import math
from typing import Any

from murmure.catalogue import entries
from murmure.core.catalogue_entries import RecordEntry, StatisticEntry
from murmure.core.estimates.estimate import Estimate, SampledEstimator
from murmure.core.schema import Schema
from murmure.core.show import no_figure
from murmure.run.report.html_parts import WIDE, Language, facts
from murmure.run.report.report_content import ReportContent

MIN_CONTENTS = 4  # columns from which there is a table of contents

OUTSIDE_SENTENCE = (
    "people randomised their answers themselves, outside the software: with coins, cards or a program of their own.",
    "chacun a rendu sa réponse aléatoire lui-même, hors du logiciel : avec des pièces, des cartes ou son propre "
    "programme.",
)
ANY_MECHANISM = (
    "every answer is randomised before it leaves the person.",
    "chaque réponse est rendue aléatoire avant de partir.",
)


def epsilon_text(value: float, w: Language) -> str:
    return w.plain(value) if math.isfinite(value) else w("none", "aucun")


def report_head(content: ReportContent, w: Language) -> str:
    release, warnings = content.release, []
    if release.seeded:
        warnings.append(
            w(
                "Seeded experiment: anyone can replay these reports. Never for real people.",
                f"Expérience à graine{WIDE}: chacun peut rejouer ces réponses. Jamais avec de vraies personnes.",
            )
        )
    if release.randomised_outside:
        warnings.append(
            w(
                "Randomised outside the software: nothing was drawn here, and nothing here can check how people drew.",
                f"Rendu aléatoire hors du logiciel{WIDE}: rien n’a été tiré ici, et rien ici ne peut vérifier comment "
                "chacun a tiré.",
            )
        )
    names = {
        "record": w("epsilon for a whole record", "epsilon pour toute une fiche")
        if content.of_records
        else w("epsilon of an answer", "epsilon d’une réponse"),
        "attribute": w("epsilon for one attribute", "epsilon pour un attribut"),
    }
    items = [(w.number(content.rows, 0), w("rows", "lignes") if content.of_records else w("answers", "réponses"))]
    items += [(epsilon_text(c.epsilon, w), names[c.unit]) for c in content.certificates]
    items.append((content.protects(w), w("protected unit", "unité protégée")))
    randomness = w("seeded", "à graine") if release.seeded else w("secure", "sûr")
    if release.randomised_outside:
        randomness = w("outside the software", "hors du logiciel")
    if content.mechanism:
        items.append((randomness, w("randomness", "hasard")))
    motto = w("Each person whispers; the crowd speaks.", f"Chacun murmure{WIDE}; la foule parle.")
    return head_html(content, motto, warnings, items, w)


def head_html(content: ReportContent, motto: str, warnings: list[str], items: Any, w: Language) -> str:
    """The title of a report, what to beware of, and what matters most; items: values with their names."""
    if content.simulated:
        warnings.append(
            w(
                "Simulation: the true values are shown because these people are invented or known.",
                f"Simulation{WIDE}: les vraies valeurs sont montrées, car ces personnes sont inventées ou connues.",
            )
        )
    warn = "".join(f'<p class="warn">{text}</p>' for text in warnings)
    return f"""<h1>{html.escape(content.title(w))}</h1>
<p class="motto">{motto}</p>
{warn}{facts(items)}"""


def question_section(content: ReportContent, w: Language) -> str:
    statistic = entries(StatisticEntry).get(content.statistic, StatisticEntry())
    question = w(*(statistic.bare_sentence or (html.escape(content.statistic),) * 2))
    how = w(
        "Nothing was randomised: these are exact figures of real answers.",
        f"Rien n’a été rendu aléatoire{WIDE}: ce sont les chiffres exacts de vraies réponses.",
    )
    if content.mechanism:
        other = OUTSIDE_SENTENCE if content.release.randomised_outside else ANY_MECHANISM
        sentence = w(*(entries(RecordEntry).get(content.mechanism, RecordEntry()).sentence or other))
        sentence = sentence.replace(" ;", f"{WIDE};").replace(" :", f"{WIDE}:")
        name = f"<b>{html.escape(content.mechanism)}</b>"
        how = w(f"By {name}: {sentence}", f"Par {name}{WIDE}: {sentence}")
    if content.weights is not None:
        column = f"<b>{html.escape(content.weights)}</b>"
        how += w(
            f" Figures are weighted: each person counts as the public column {column} says.",
            f" Les chiffres sont pondérés{WIDE}: chacun compte selon la colonne publique {column}.",
        )
    return f"""<h2>{w("1. What was asked, and how", "1. Ce qui a été demandé, et comment")}</h2>
<p>{question} {how}</p>{_outside_rules(content, w)}{contents_table(content, w)}"""


def _outside_rules(content: ReportContent, w: Language) -> str:
    """What was done with values outside the schema. How many there were stays with the holder of the data."""
    domain = None if content.plan is None else content.plan.statistic.domain
    domains = [] if domain is None else list(domain.values()) if isinstance(domain, Schema) else [domain]
    clamped, dropped = (_columns_with_policy(domains, policy) for policy in ("clamp", "drop"))
    parts = []
    if clamped is not None:
        columns = _in_parentheses(clamped)
        parts.append(
            w(
                f"A number beyond its bounds{columns} was moved to the nearest bound before it was randomised.",
                f"Un nombre hors bornes{columns} a été ramené à la borne la plus proche avant le tirage.",
            )
        )
    every = content.receipt is not None and content.receipt.invalid == "drop"
    if every or dropped is not None:
        in_columns = "" if every or dropped is None else _in_parentheses(dropped)
        beyond = ("", "")
        if content.rows_per_person is not None and every:
            beyond = (", or more than one person may have", ", ou en surnombre pour une personne")
        parts.append(
            w(
                f"Rows outside the schema{in_columns}{beyond[0]} were left out. The figures say nothing about them.",
                f"Les lignes hors du schéma{in_columns}{beyond[1]} ont été écartées. Les chiffres n’en disent rien.",
            )
        )
    return f"<p>{' '.join(parts)}</p>" if parts else ""


def _columns_with_policy(domains: list[Any], policy: str) -> list[str] | None:
    """The columns with this policy: None if there are none, empty if all have it and need no names."""
    columns = [domain.column for domain in domains if domain.outside == policy]
    if not columns:
        return None
    return [] if len(columns) == len(domains) else [name for name in columns if name]


def _in_parentheses(names: list[str]) -> str:
    return f" ({', '.join(html.escape(name) for name in names)})" if names else ""


def contents_table(content: ReportContent, w: Language) -> str:
    """Where each of many columns is, what is shown of it, and how it was randomised."""
    if len(content.columns) < MIN_CONTENTS:
        return ""
    rows = []
    protocols = any(content.protocol(column.name) for column in content.columns)
    has_shown = any(isinstance(column.estimate.estimator, SampledEstimator) for column in content.columns)
    for column in content.columns:
        estimator = column.estimate.estimator
        shown = estimator.shown if isinstance(estimator, SampledEstimator) else None
        cells = f'<th scope="row"><a href="#{w.lang}-{column.number}">{html.escape(column.name)}</a></th>'
        cells += f"<td>{figure_kind(column.estimate, w)}</td>"
        cells += f"<td>{html.escape(content.protocol(column.name))}</td>" if protocols else ""
        cells += f'<td class="num">{"" if shown is None else w.number(shown, 0)}</td>' if has_shown else ""
        rows.append(f"<tr>{cells}</tr>")
    head = f'<th scope="col">{w("column", "colonne")}</th><th scope="col">{w("shown", "montré")}</th>'
    head += f'<th scope="col">{w("protocol", "protocole")}</th>' if protocols else ""
    head += f'<th scope="col" class="num">{w("reported by", "envoyée par")}</th>' if has_shown else ""
    return f'<table class="held toc"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def figure_kind(estimate: Estimate, w: Language) -> str:
    if no_figure(estimate):
        return w("no figure", "aucun chiffre")
    k = w.number(len(estimate.mean), 0)
    if estimate.unit != "share":
        alone = list(estimate.labels) == ["mean"]
        return w("mean", "moyenne") if alone else w(f"{k} figures", f"{k} chiffres")
    return w(f"shares of {k} answers", f"parts de {k} réponses")
