"""The third section of a report with noise at the curator: what it cost, who sees what, what one person can change."""

from __future__ import annotations

import html
import math

from murmure.run.report.certificate_words import REVEALING_EPSILON, max_certainty
from murmure.run.report.html_parts import WIDE, Language
from murmure.run.report.public_facts import public_facts
from murmure.run.report.question_section import epsilon_text
from murmure.run.report.report_content import ReportContent

FOLDED = 8  # more sums than these are folded
BLOCK_NAMES = {  # the names of blocks
    "count": ("how many", "effectif"),
    "sum": ("sum", "somme"),
    "square": ("sum of squares", "somme des carrés"),
    "cells": ("counts", "effectifs"),
    "level": ("counts, level", "effectifs, niveau"),
}


def cost_section(content: ReportContent, w: Language) -> str:
    heads = (w("who", "qui"), "epsilon", w("in plain words", "en clair"))
    head = "".join(f'<th scope="col"{" class=num" if i == 1 else ""}>{name}</th>' for i, name in enumerate(heads))
    return f"""<h2>{w("3. What it cost, and who sees what", "3. Ce que cela a coûté, et qui voit quoi")}</h2>
<table class="held"><thead><tr>{head}</tr></thead><tbody>{_reader_row(content, w)}{_curator_row(w)}</tbody></table>
{_cost_paragraph(content, w)}{_ledger_paragraph(content, w)}{_sensitivity_table(content, w)}
{public_facts(content, content.reader, w)}"""


def _reader_row(content: ReportContent, w: Language) -> str:
    c = content.reader
    method = f'<br><span class="soft">{w("Found by", f"Trouvé par{WIDE}")}: {w.term(c.method)}.</span>'
    return (
        f'<tr><th scope="row">{w("whoever reads this", "qui lit ceci")}</th>'
        f'<td class="num" data-name="epsilon ="><b>{epsilon_text(c.epsilon, w)}</b></td>'
        f"<td>{_promise(content, w)}{method}</td></tr>"
    )


def _curator_row(w: Language) -> str:
    text = w(
        "Sees every row as it is: people trust the curator with them, and nothing here protects them from it.",
        f"Voit chaque ligne telle quelle{WIDE}: on les lui confie, et rien ici ne protège quiconque du curateur.",
    )
    return (
        f'<tr><th scope="row">{w("the curator", "le curateur")}</th><td class="num" data-name="epsilon ="><b>'
        f"{epsilon_text(math.inf, w)}</b>"
        f"</td><td>{text}</td></tr>"
    )


def _promise(content: ReportContent, w: Language) -> str:
    """The certificate in one sentence. With delta > 0 only the success of a guess is bounded, so it says that."""
    c = content.reader
    if math.isinf(c.epsilon) or c.epsilon > REVEALING_EPSILON:
        return w(
            "At this epsilon what is published can all but give a person away.",
            "À cet epsilon, ce qui est publié peut presque trahir une personne.",
        )
    who = w("one row", "une ligne") if content.rows_per_person is None else w("one person", "une personne")
    cases = w(f"whether {who} is in the data", f"la présence et l’absence d’{who} dans les données")
    if c.relation == "replace":
        cases = w(f"between two things that {who} may hold", f"deux contenus possibles d’{who}")
    certainty = max_certainty(c.epsilon, c.delta).replace(".", w(".", ","))
    if c.delta:
        return w(
            f"Whoever guesses {cases}, from even odds, is right at most {certainty} times in 100.",
            f"Qui tenait pour également probables {cases} ne devine juste qu’au plus {certainty} fois sur 100.",
        )
    asked, either = "Asked", "de l’une ou de l’autre"
    if c.relation == "replace":
        asked, either = "Asked to tell", "de l’un ou de l’autre"
    return w(
        f"{asked} {cases}, someone who thought both equally likely cannot become surer than {certainty} in 100 of "
        "either.",
        f"Qui tenait pour également probables {cases} ne peut devenir sûr {either} à plus de {certainty} chances sur "
        "100.",
    )


def _cost_paragraph(content: ReportContent, w: Language) -> str:
    c = content.reader
    hidden = w(
        "add/remove: it hides whether somebody is in the data at all",
        f"ajout ou retrait{WIDE}: cela cache si quelqu’un figure dans les données",
    )
    if c.relation == "replace":
        hidden = w(
            "replace: it hides what somebody holds; how many rows there are is public",
            f"remplacement{WIDE}: cela cache ce que quelqu’un y a{WIDE}; le nombre de lignes est public",
        )
    text = w(
        f"It cost <b>epsilon = {epsilon_text(c.epsilon, w)}, delta = {w.small(c.delta)}</b> ({hidden}), for "
        f"{content.protects(w)}.",
        f"Cela a coûté <b>epsilon = {epsilon_text(c.epsilon, w)}, delta = {w.small(c.delta)}</b> ({hidden}), pour "
        f"{content.protects(w)}.",
    )
    if content.rows_per_person is None:
        text += w(" Someone with several rows pays for each of them.", " Qui a plusieurs lignes paie pour chacune.")
    if c.assumption:
        provided = w.term(c.assumption)
        text += w(f" Provided {provided}.", f" À condition que{WIDE}: {provided}.")
    return f"<p>{text}</p>"


def _ledger_paragraph(content: ReportContent, w: Language) -> str:
    paid = content.paid
    if paid is None:
        return f"""<p class="note">{
            w(
                "Costs of all that is released about the same people add up. This page knows of no ledger, so it "
                "cannot say what else was released.",
                "Les coûts de tout ce qui est publié sur les mêmes personnes s’additionnent. Cette page ne connaît "
                "pas de registre, et ne peut dire ce qui a été publié d’autre.",
            )
        }</p>"""
    name = f"<b>{html.escape(paid.dataset)}</b>"
    charge = "" if paid.charge is None else w(f", charge {paid.charge}", f", débit n°{WIDE}{paid.charge}")
    budget = w.plain(paid.budget) + (f", delta = {w.small(paid.delta)}" if paid.delta else "")
    left = w.plain(max(paid.left, 0.0))
    return f"""<p>{
        w(
            f"Paid from the budget of {name} in the ledger{charge}: epsilon {left} of {budget} is left for all further "
            "releases about these people.",
            f"Payé sur le budget de {name} au registre{charge}{WIDE}: il reste epsilon {left} sur {budget} pour toute "
            "autre publication sur ces personnes.",
        )
    }</p>"""


# -- what one person can change ---------------------------------------------------------------------------------------


def _sensitivity_table(content: ReportContent, w: Language) -> str:
    bound = None if content.plan is None or content.plan.curator is None else content.plan.bound
    if bound is None:
        return ""
    who = w("one row", "une ligne") if content.rows_per_person is None else w("one person", "une personne")
    title = f"<h3>{w(f'What {who} can change, at most', f'Ce qu’{who} peut changer, au plus')}</h3>"
    if content.chosen is not None:
        change = w.number(bound.sensitivity * bound.rows, 0)
        return f"""{title}<p>{
            w(
                f"The score of any of the {w.number(bound.candidates, 0)} candidates, by {change}.",
                f"Le score de chacun des {w.number(bound.candidates, 0)} candidats, de {change}.",
            )
        }</p>"""
    heading = w(f"{who} moves it by", f"{who} la déplace de")
    if bound.norm == "l2":
        heading += w(" (Euclidean)", " (euclidien)")
    names = (w("sum", "somme"), w("entries", "entrées"), heading, w("noise on each (sd)", "bruit sur chaque (é.-t.)"))
    head = "".join(f'<th scope="col"{" class=num" if i else ""}>{name}</th>' for i, name in enumerate(names))
    rows = [
        f'<tr><th scope="row">{_block_title(block.name, w)}</th><td class="num">{w.number(block.width, 0)}</td>'
        f'<td class="num">{_format_sensitivity(sensitivity, bound.norm, w)}</td>'
        f'<td class="num">{_three_digits(math.sqrt(law.variance), w)}</td></tr>'
        for block, sensitivity, law in zip(bound.blocks, bound.sensitivities(), bound.laws, strict=True)
    ]
    table = f'<table class="sums"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    if len(rows) > FOLDED:
        shown = w(f"Show all {len(rows)} sums", f"Montrer les {len(rows)} sommes")
        table = f"<details><summary>{shown}</summary>{table}</details>"
    note = w(
        "Declared beforehand, in whole numbers on the grid of the schema; the noise is scaled to it.",
        f"Déclaré d’avance, en nombres entiers sur la grille du schéma{WIDE}; le bruit est à cette échelle.",
    )
    return f'{title}{table}<p class="note">{note}</p>'


def _block_title(name: str, w: Language) -> str:
    column, colon, last = name.rpartition(": ")
    word, _, number = last.partition(" ")
    title = w(*BLOCK_NAMES[word]) if word in BLOCK_NAMES else last
    title = f"{title} {number}" if number and word in BLOCK_NAMES else title
    return html.escape(f"{column}{w('', WIDE)}: {title}" if colon else title)


def _format_sensitivity(sensitivity: int, norm: str, w: Language) -> str:
    """In L1 a whole number; in L2 the square root of one, rounded up."""
    if norm == "l1" or math.isqrt(sensitivity) ** 2 == sensitivity:
        return w.number(sensitivity if norm == "l1" else math.isqrt(sensitivity), 0)
    return w.number(math.ceil(100 * math.sqrt(sensitivity)) / 100, 2)


def _three_digits(value: float, w: Language) -> str:
    """Three digits, and no exponent where people can do without."""
    if value == 0 or not math.isfinite(value) or abs(value) >= 1e12:
        return w.plain(value)
    return w.number(value, max(0, 2 - math.floor(math.log10(value))))
