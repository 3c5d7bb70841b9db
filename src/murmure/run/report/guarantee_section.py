"""The third section of a report, where people randomised their answers: what is guaranteed."""

from __future__ import annotations

import html
import math
import re

from murmure.core.types import Certificate
from murmure.local.base.record_mechanism import RecordMechanism
from murmure.run.report.certificate_words import promise, promise_in_french
from murmure.run.report.html_parts import WIDE, Language
from murmure.run.report.public_facts import public_facts
from murmure.run.report.question_section import epsilon_text
from murmure.run.report.report_content import ReportContent

MAX_NAMED = 5  # columns of a witness


def guarantee_section(content: ReportContent, w: Language) -> str:
    rows = [_certificate_row(content, certificate, w) for certificate in content.certificates]
    first = content.certificates[0]
    heads = (
        w("what may differ", "ce qui peut différer"),
        "epsilon",
        w("in plain words", "en clair"),
    )
    head = "".join(f'<th scope="col"{" class=num" if i == 1 else ""}>{name}</th>' for i, name in enumerate(heads))
    several = ""
    if content.of_records and content.rows_per_person is None:
        several = w(
            "The unit is one row: someone with several rows pays for each of them.",
            f"L’unité est une ligne{WIDE}: qui en a plusieurs paie pour chacune.",
        )
    elif content.of_records:
        several = w(
            f"The unit is {content.protects(w)}; the figures add up all those rows.",
            f"L’unité est {content.protects(w)}{WIDE}; les chiffres comptent toutes ces lignes.",
        )
    provided = ""
    if first.assumption:
        assumption = w.term(first.assumption)
        provided = f"<p>{w(f'Provided {assumption}.', f'À condition que{WIDE}: {assumption}.')}</p>"
    return f"""<h2>{w("3. What is guaranteed", "3. Ce qui est garanti")}</h2>
<table class="held"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>
<p>{several} {_how_computed(content, w) if math.isfinite(first.epsilon) else ""}</p>{provided}
{public_facts(content, first, w)}"""


def _how_computed(content: ReportContent, w: Language) -> str:
    if content.release.randomised_outside:  # no words were compared with anything
        return w(
            "Epsilon is computed from the probabilities that the plan prescribes, and rounded up; delta is 0. It holds "
            "against whoever collects and whoever reads.",
            f"Epsilon est calculé sur les probabilités que le plan prescrit, puis arrondi vers le haut{WIDE}; delta "
            "vaut 0. Cela vaut face à qui collecte comme à qui lit.",
        )
    return w(
        "Epsilon is computed from the integers that the random words are compared with, and rounded up; delta is "
        "0. It holds against whoever collects and whoever reads.",
        f"Epsilon est calculé sur les entiers auxquels les mots aléatoires sont comparés, puis arrondi vers le haut"
        f"{WIDE}; delta vaut 0. Cela vaut face à qui collecte comme à qui lit.",
    )


def _certificate_row(content: ReportContent, c: Certificate, w: Language) -> str:
    if not content.of_records:
        what = w("the answer", "la réponse")
    elif (content.rows_per_person or 1) > 1:
        what = w("all rows of one person", "toutes les lignes d’une personne")
        if c.unit == "attribute":
            what = w("one attribute in each of them", "un attribut dans chacune")
    elif c.unit == "record":
        what = w("the whole record", "toute la fiche")
    else:
        what = w("one attribute of it", "un seul attribut")
    text = w(promise(c).split(", provided")[0].removesuffix(".") + ".", promise_in_french(c).replace(" :", f"{WIDE}:"))
    method = f'<br><span class="soft">{w("Found by", f"Trouvé par{WIDE}")}: {w.term(c.method)}.</span>'
    return (
        f'<tr><th scope="row">{what}</th><td class="num" data-name="epsilon ="><b>{epsilon_text(c.epsilon, w)}</b></td>'
        f"<td>{text} {_witness_sentence(content, c, w)}{method}</td></tr>"
    )


def _witness_sentence(content: ReportContent, c: Certificate, w: Language) -> str:
    """Which two people the most revealing report distinguishes, and how well."""
    if c.witness is None or not math.isfinite(c.epsilon):
        return ""
    a, b, _ = c.witness
    shown = content.release.estimate if content.many_columns else ()
    person = None if content.plan is None else content.plan.person
    names = list(person.columns if isinstance(person, RecordMechanism) else shown)
    if content.of_records and len(a) != len(names):  # figures of some columns, and no plan that names the others
        first, second = _witness_people(c)
    elif content.of_records:
        differ = [
            (html.escape(f"{n} {w.in_quotes(x)}"), html.escape(w.in_quotes(y)))
            for n, x, y in zip(names, a, b, strict=True)
            if x != y
        ]
        more = len(differ) - MAX_NAMED
        rest = w(f" and {more} more columns", f" et {more} autres colonnes") if more > 0 else ""
        first, second = (
            (", ".join(side[:MAX_NAMED]) + rest for side in zip(*differ, strict=True)) if differ else ("", "")
        )
    else:
        first, second = html.escape(w.in_quotes(a)), html.escape(w.in_quotes(b))
    if not first:
        return ""
    if "fresh reports" in c.method or c.epsilon > 50:
        return w(
            f"The most telling report tells {first} from {second}.",
            f"La réponse la plus parlante distingue {first} de {second}.",
        )
    odds = w.number(math.exp(c.epsilon), 2 if c.epsilon < 7 else 0)
    return w(
        f"The most telling report is {odds} times likelier from {first} than from {second}.",
        f"La réponse la plus parlante vient {odds} fois plus souvent de {first} que de {second}.",
    )


def _witness_people(c: Certificate) -> tuple[str, str]:
    """The two people, parsed from the certificate's sentence, which names every column."""
    words = "" if c.witness_text is None else c.witness_text[1]
    match = re.fullmatch(r"is \S+ times likelier from (.*) than from (.*)|tells (.*) from (.*) best", words, re.DOTALL)
    if match is None:
        return "", ""
    first, second = (html.escape(text) for text in match.groups() if text is not None)
    return first, second
