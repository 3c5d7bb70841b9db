"""The third section of a report with noise at the curator: what it cost, who sees what, what one person can change."""

from __future__ import annotations

import html
import math

from murmure.show.certificate_words import TELLING, surest
from murmure.show.html_parts import WIDE, Language
from murmure.show.public_facts import public
from murmure.show.question_section import epsilon_text
from murmure.show.report_content import ReportContent

FOLDED = 8  # more sums than these are folded
SUMS = {  # the names of blocks
    "count": ("how many", "effectif"),
    "sum": ("sum", "somme"),
    "square": ("sum of squares", "somme des carrés"),
    "cells": ("counts", "effectifs"),
    "level": ("counts, level", "effectifs, niveau"),
}


def cost(story: ReportContent, w: Language) -> str:
    heads = (w("who", "qui"), "epsilon", w("in plain words", "en clair"))
    head = "".join(f'<th scope="col"{" class=num" if i == 1 else ""}>{name}</th>' for i, name in enumerate(heads))
    return f"""<h2>{w("3. What it cost, and who sees what", "3. Ce que cela a coûté, et qui voit quoi")}</h2>
<table class="held"><thead><tr>{head}</tr></thead><tbody>{_reader(story, w)}{_curator(w)}</tbody></table>
{_price(story, w)}{_ledger(story, w)}{_changes(story, w)}
{public(story, story.reader, w)}"""


def _reader(story: ReportContent, w: Language) -> str:
    c = story.reader
    found = f'<br><span class="soft">{w("Found by", f"Trouvé par{WIDE}")}: {w.term(c.method)}.</span>'
    return (
        f'<tr><th scope="row">{w("whoever reads this", "qui lit ceci")}</th>'
        f'<td class="num" data-name="epsilon ="><b>{epsilon_text(c.epsilon, w)}</b></td>'
        f"<td>{_promise(story, w)}{found}</td></tr>"
    )


def _curator(w: Language) -> str:
    said = w(
        "Sees every row as it is: people trust the curator with them, and nothing here protects them from it.",
        f"Voit chaque ligne telle quelle{WIDE}: on les lui confie, et rien ici ne protège quiconque du curateur.",
    )
    return (
        f'<tr><th scope="row">{w("the curator", "le curateur")}</th><td class="num" data-name="epsilon ="><b>'
        f"{epsilon_text(math.inf, w)}</b>"
        f"</td><td>{said}</td></tr>"
    )


def _promise(story: ReportContent, w: Language) -> str:
    """The certificate in one sentence. With delta > 0 the success of a guess is bounded, and that is what is said."""
    c = story.reader
    if math.isinf(c.epsilon) or c.epsilon > TELLING:
        return w(
            "At this epsilon what is published can all but give a person away.",
            "À cet epsilon, ce qui est publié peut presque trahir une personne.",
        )
    who = w("one row", "une ligne") if story.rows_per_person is None else w("one person", "une personne")
    two = w(f"whether {who} is in the data", f"la présence et l’absence d’{who} dans les données")
    if c.relation == "replace":
        two = w(f"between two things that {who} may hold", f"deux contenus possibles d’{who}")
    most = surest(c.epsilon, c.delta)
    if c.delta:
        return w(
            f"Whoever guesses {two}, from even odds, is right at most {most} times in 100.",
            f"Qui tenait pour également probables {two} ne devine juste qu’au plus {most.replace('.', ',')} fois sur "
            "100.",
        )
    evenly = f"who thought both equally likely cannot become surer than {most} in 100 of either"
    return w(
        f"Asked {two}, someone {evenly}." if c.relation == "add/remove" else f"Asked to tell {two}, someone {evenly}.",
        f"Qui tenait pour également probables {two} ne peut devenir sûr de l’une ou de l’autre à plus de "
        f"{most.replace('.', ',')} chances sur 100."
        if c.relation == "add/remove"
        else f"Qui tenait pour également probables {two} ne peut devenir sûr de l’un ou de l’autre à plus de "
        f"{most.replace('.', ',')} chances sur 100.",
    )


def _price(story: ReportContent, w: Language) -> str:
    c = story.reader
    hidden = w(
        "add/remove: it hides whether somebody is in the data at all",
        f"ajout ou retrait{WIDE}: cela cache si quelqu’un figure dans les données",
    )
    if c.relation == "replace":
        hidden = w(
            "replace: it hides what somebody holds; how many rows there are is public",
            f"remplacement{WIDE}: cela cache ce que quelqu’un y a{WIDE}; le nombre de lignes est public",
        )
    said = w(
        f"It cost <b>epsilon = {epsilon_text(c.epsilon, w)}, delta = {w.small(c.delta)}</b> ({hidden}), for "
        f"{story.protects(w)}.",
        f"Cela a coûté <b>epsilon = {epsilon_text(c.epsilon, w)}, delta = {w.small(c.delta)}</b> ({hidden}), pour "
        f"{story.protects(w)}.",
    )
    if story.rows_per_person is None:
        said += w(" Someone with several rows pays for each of them.", " Qui a plusieurs lignes paie pour chacune.")
    if c.assumption:
        provided = w.term(c.assumption)
        said += w(f" Provided {provided}.", f" À condition que{WIDE}: {provided}.")
    return f"<p>{said}</p>"


def _ledger(story: ReportContent, w: Language) -> str:
    paid = story.paid
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


def _changes(story: ReportContent, w: Language) -> str:
    bound = getattr(story.plan, "bound", None)
    if bound is None:
        return ""
    one = w("one row", "une ligne") if story.rows_per_person is None else w("one person", "une personne")
    title = f"<h3>{w(f'What {one} can change, at most', f'Ce qu’{one} peut changer, au plus')}</h3>"
    if story.chosen is not None:
        moved = w.number(bound.sensitivity * bound.rows, 0)
        return f"""{title}<p>{
            w(
                f"The score of any of the {w.number(bound.candidates, 0)} candidates, by {moved}.",
                f"Le score de chacun des {w.number(bound.candidates, 0)} candidats, de {moved}.",
            )
        }</p>"""
    far = w(f"{one} moves it by", f"{one} la déplace de")
    if bound.norm == "l2":
        far += w(" (Euclidean)", " (euclidien)")
    names = (w("sum", "somme"), w("entries", "entrées"), far, w("noise on each (sd)", "bruit sur chaque (é.-t.)"))
    head = "".join(f'<th scope="col"{" class=num" if i else ""}>{name}</th>' for i, name in enumerate(names))
    rows = [
        f'<tr><th scope="row">{_sum(block.name, w)}</th><td class="num">{w.number(block.width, 0)}</td>'
        f'<td class="num">{_moved(moves, bound.norm, w)}</td>'
        f'<td class="num">{_short(math.sqrt(law.variance), w)}</td></tr>'
        for block, moves, law in zip(bound.blocks, bound.sensitivities(), bound.laws, strict=True)
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


def _sum(name: str, w: Language) -> str:
    column, colon, last = name.rpartition(": ")
    word, _, number = last.partition(" ")
    said = w(*SUMS[word]) if word in SUMS else last
    said = f"{said} {number}" if number and word in SUMS else said
    return html.escape(f"{column}{w('', WIDE)}: {said}" if colon else said)


def _moved(moves: int, norm: str, w: Language) -> str:
    """In L1 a whole number; in L2 the square root of one, rounded up."""
    if norm == "l1" or math.isqrt(moves) ** 2 == moves:
        return w.number(moves if norm == "l1" else math.isqrt(moves), 0)
    return w.number(math.ceil(100 * math.sqrt(moves)) / 100, 2)


def _short(value: float, w: Language) -> str:
    """Three digits, and no exponent where people can do without."""
    if value == 0 or not math.isfinite(value) or abs(value) >= 1e12:
        return w.plain(value)
    return w.number(value, max(0, 2 - math.floor(math.log10(value))))
