"""The demo's page: the survey, in French and English."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

from murmure import __version__
from murmure.certify.witness_words import set_bits
from murmure.run.report.certificate_words import max_certainty
from murmure.run.report.html_parts import NARROW, WIDE, Language, Scale, document, facts, figure_table, legend

if TYPE_CHECKING:
    from murmure.lectures.demo.survey import DemoQuestion, DemoSurvey


def page(survey: DemoSurvey) -> str:
    parts = {lang: _section(survey, Language(lang)) for lang in ("en", "fr")}
    return document(f"Murmure: {survey.people} students", parts)


def _section(survey: DemoSurvey, w: Language) -> str:
    parts = (_head, _student, _crowd, _guarantees, _ranking, _your_turn, _footer)
    return "\n".join(part(survey, w) for part in parts)


def _head(survey: DemoSurvey, w: Language) -> str:
    people = w.number(survey.people, 0)
    if survey.seed is None:
        mark = ""
        randomness = w("secure, from the operating system", "sûr, tiré du système")
    else:
        mark = f"""<p class="warn">{
            w(
                f"Seeded experiment (seed {survey.seed}): anyone can replay these reports. Never for real people.",
                f"Expérience à graine (graine {survey.seed}) : chacun peut rejouer ces réponses. "
                "Jamais avec de vraies personnes.",
            )
        }</p>"""
        randomness = w(f"seeded ({survey.seed})", f"à graine ({survey.seed})")
    shown = facts(
        (
            (people, w("simulated students", "étudiants simulés")),
            (_epsilon_text(survey, w), w("epsilon of each question", "epsilon de chaque question")),
            (randomness, w("randomness", "hasard")),
        )
    )
    intro = w(
        f"{people} simulated students were asked whether they cheat at exams. No true answer left a student’s hands. "
        "Here is what was sent, what it says about the crowd, and what it cannot say about anyone.",
        f"On a demandé à {people} étudiants simulés s’ils trichent aux examens. Aucune vraie réponse n’a quitté son "
        "auteur. Voici ce qui a été envoyé, ce que la foule en dit, et ce que cela ne peut dire de personne.",
    )
    return f"""<h1>Murmure</h1>
<p class="motto">{w("Each person whispers; the crowd speaks.", f"Chacun murmure{WIDE}; la foule parle.")}</p>
{mark}<p>{intro}</p>
{shown}"""


def _epsilon_text(survey: DemoSurvey, w: Language) -> str:
    return f"ln{WIDE}3 = {w.number(survey.epsilon, 4)}" if survey.fair_coins else w.plain(survey.epsilon)


def _student(survey: DemoSurvey, w: Language) -> str:
    sent = w.label(("no", "yes")[int(survey.coins.sent)])
    yes, yes_too = survey.yes_of_100()
    true, other = survey.support_of_100(survey.grr)
    tick, stray = survey.support_of_100(survey.oue)
    if survey.fair_coins:
        rule = w(
            "Toss a coin where nobody sees it. Heads: tell the truth. Tails: toss again, and say yes for heads, "
            "no for tails.",
            f"Lancez une pièce à l’abri des regards. Pile{WIDE}: dites la vérité. Face{WIDE}: relancez, et dites oui "
            "pour pile, non pour face.",
        )
    else:
        rule = w(
            f"Draw a lot where nobody sees it. {survey.truth_of_100()} times out of 100 it says: tell the truth. "
            "Otherwise a fair coin answers.",
            f"Tirez au sort à l’abri des regards. {survey.truth_of_100()} fois sur 100{WIDE}: dites la vérité. "
            "Sinon, une pièce équilibrée répond.",
        )
    yes_label = w.quote("yes")
    hundreds = _hundred(
        yes,
        w(
            f"Out of 100 people like you who <b>have</b> cheated, <b>{yes}</b> send {yes_label}.",
            f"Sur 100 personnes comme vous qui <b>ont</b> triché, <b>{yes}</b> envoient {yes_label}.",
        ),
    ) + _hundred(
        yes_too,
        w(
            f"Out of 100 people like you who have <b>not</b>, <b>{yes_too}</b> send {yes_label} too.",
            f"Sur 100 personnes comme vous qui n’ont <b>pas</b> triché, <b>{yes_too}</b> envoient aussi {yes_label}.",
        ),
    )
    boxes = "".join(
        f"<span>{_box(ticked)}{html.escape(w.label(label))}</span>"
        for ticked, label in zip(survey.ticked_boxes(), survey.oue.release.estimate.labels, strict=True)
    )
    grr_sent = w.quote(survey.grr.release.estimate.labels[int(survey.grr.sent)])
    return f"""<h2>{w("1. What one student sends", "1. Ce qu’envoie un étudiant")}</h2>
<h3>{w("Have you ever cheated at an exam?", f"Avez-vous déjà triché à un examen{NARROW}?")}</h3>
<div class="flow"><div><span class="soft">{w("true answer", "vraie réponse")}</span><b>• • •</b>
<span class="soft">{w("stays with the student", "reste chez l’étudiant")}</span></div><i aria-hidden="true">→</i>
<div><span class="soft">{w("in the student’s hand", "dans la main de l’étudiant")}</span><br>{rule}</div>
<i aria-hidden="true">→</i><div class="sent"><span class="soft">{w("sent", "envoyé")}</span><b>{sent}</b>
<span class="soft">{w("all that anyone sees", "tout ce que l’on voit")}</span></div></div>
<div class="hundreds">{hundreds}</div>
<p>{
        w(
            f"So a {yes_label} is no confession: whatever is sent, someone who thought both answers equally likely "
            f"cannot become surer than {max_certainty(survey.coins.certificate.epsilon)} in 100.",
            f"Un {yes_label} n’est donc pas un aveu{WIDE}: quoi qu’on envoie, celui qui tenait les deux réponses pour "
            f"également probables ne peut devenir sûr de l’une à plus de "
            f"{max_certainty(survey.coins.certificate.epsilon).replace('.', ',')} chances sur 100.",
        )
    }</p>
<h3>{w("How often have you cheated?", f"Combien de fois avez-vous triché{NARROW}?")}</h3>
<p>{
        w(
            f"Five answers. Through <b>GRR</b> this student sent {grr_sent}: out of 100 people like you, {true} send "
            f"the truth and {other} each of the four others.",
            f"Cinq réponses. Par <b>GRR</b>, cet étudiant a envoyé {grr_sent}{WIDE}: sur 100 personnes comme vous, "
            f"{true} envoient la vérité et {other} chacune des quatre autres.",
        )
    }</p>
<p>{
        w(
            f"Through <b>OUE</b> the same student would send five boxes: out of 100 people like you, {tick} tick "
            f"their own box and {stray} any given other one.",
            f"Par <b>OUE</b>, le même étudiant enverrait cinq cases{WIDE}: sur 100 personnes comme vous, {tick} "
            f"cochent leur propre case et {stray} n’importe quelle autre.",
        )
    }</p>
<div class="boxes">{boxes}</div>"""


def _crowd(survey: DemoSurvey, w: Language) -> str:
    covered, total = survey.coverage()
    end, method = survey.axis_end(), w.label(survey.grr.release.estimate.interval_and_method()[1])
    below = ""
    if any(row["share"] < 0 for question in survey.questions for row in question.rows()):
        below = w(
            " An unbiased estimate errs to both sides, so a small one may fall below zero.",
            f" Une estimation sans biais se trompe des deux côtés{WIDE}: une petite peut donc passer sous zéro.",
        )
    known = w("truth, known only because the class is simulated", "vérité, connue parce que la classe est simulée")
    return f"""<h2>{w("2. What the crowd says", "2. Ce que dit la foule")}</h2>
<p>{
        w(
            "Each report may lie, but lies come at a known rate, so the shares of the crowd can be computed back.",
            f"Chaque réponse peut mentir, mais à un taux connu{WIDE}: on retrouve donc les parts de la foule.",
        )
    }</p>
{legend(w, 0.95, known)}
<h3>{w("Have you ever cheated? Two coins", f"Avez-vous déjà triché{NARROW}? Deux pièces")}</h3>
{_shares(survey.coins, w, end)}
<h3>{w("How often? GRR", f"Combien de fois{NARROW}? GRR")}</h3>
{_shares(survey.grr, w, end)}
<h3>{w("How often? OUE", f"Combien de fois{NARROW}? OUE")}</h3>
{_shares(survey.oue, w, end)}
<p class="note">{
        w(
            f"The truth lies inside {covered} of {total} intervals; each may miss one time in twenty. They speak of "
            f"these students, by {method}.{below}",
            f"La vérité est dans {covered} des {total} intervalles{WIDE}; chacun peut se tromper une fois sur vingt. "
            f"Ils parlent de ces étudiants-ci, par {method}.{below}",
        )
    }</p>"""


def _guarantees(survey: DemoSurvey, w: Language) -> str:
    rows = []
    for question in survey.questions:
        c = question.certificate
        assert c.witness is not None
        a, b, y = c.witness
        odds = w.number(math.exp(c.epsilon), 2)
        tells = w(
            f"{_report(question, y, w)} is {odds} times likelier from {w.quote(a)} than from {w.quote(b)}",
            f"{_report(question, y, w)} vient {odds} fois plus souvent de {w.quote(a)} que de {w.quote(b)}",
        )
        rows.append(
            f'<tr><td><b>{question.name}</b></td><td data-name="epsilon">{w.number(c.epsilon, 6)}</td>'
            f'<td class="text">{w.label(c.method)}</td><td class="text">{tells}</td></tr>'
        )
    both = survey.coins.certificate.epsilon + survey.grr.certificate.epsilon
    head = (
        "".join(f"<th>{name}</th>" for name in (w("mechanism", "mécanisme"), "epsilon"))
        + f'<th class="text">{w("how it was found", "comment")}</th><th class="text">{w("witness", "témoin")}</th>'
    )
    return f"""<h2>{w("3. What is guaranteed", "3. Ce qui est garanti")}</h2>
<p>{
        w(
            "Computed from the very integers that the random words are compared with, and rounded up. The witness is "
            "the report that tells most.",
            "Calculé sur les entiers mêmes auxquels les mots aléatoires sont comparés, puis arrondi vers le haut. Le "
            "témoin est la réponse qui en dit le plus.",
        )
    }</p>
<table class="certified"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>
<p>{
        w(
            "It protects the whole record of one person, replaced by any other; delta is 0. A student who answers "
            f"both questions spends the sum, {w.plain(both)}. GRR and OUE are two ways to ask the second "
            "question: a real study chooses one.",
            f"Cela protège toute la fiche d’une personne, remplacée par n’importe quelle autre{WIDE}; delta vaut 0. "
            f"Qui répond aux deux questions dépense la somme, {w.plain(both)}. GRR et OUE sont deux manières de "
            f"poser la seconde{WIDE}: une vraie étude en choisit une.",
        )
    }</p>"""


def _ranking(survey: DemoSurvey, w: Language) -> str:
    advice = survey.advice
    errors = [100 * math.sqrt(row["mean_variance"]) for row in advice.rows]
    top = max(errors)
    rows = []
    for row, error in zip(advice.rows, errors, strict=True):
        kind = "best" if row["best"] else "other"
        width = f"{100 * error / top:.2f}%"
        bar = f'<rect class="fill" y="2" width="{width}" height="10" rx="2"/>'
        bar = f'<svg width="100%" height="14" aria-hidden="true">{bar}</svg>'
        rows.append(
            f'<tr class="{kind}"><td>{row["mechanism"]}</td><td data-unit="points">{w.number(error, 2)}</td>'
            f'<td data-unit="bits">{w.number(row["report_bits"], 1)}</td><td class="pic">{bar}</td></tr>'
        )
    best = advice.best
    head = (
        f"<th>{w('mechanism', 'mécanisme')}</th><th>{w('error, points', 'erreur, points')}</th>"
        f'<th>{w("bits a report", "bits par réponse")}</th><th class="pic"></th>'
    )
    lowest = w.number(100 * math.sqrt(best["mean_variance"]), 2)
    cost = w.number(best["report_bits"], 1)
    return f"""<h2>{w("4. Which mechanism to choose", "4. Quel mécanisme choisir")}</h2>
<p>{
        w(
            f"For five answers and {w.number(survey.people, 0)} people, <b>{best['mechanism']}</b> is best: a standard "
            f"error of about {lowest} percentage points on average over the answers, for reports of {cost} bits. Known "
            "exactly, before anyone is asked anything.",
            f"Pour cinq réponses et {w.number(survey.people, 0)} personnes, <b>{best['mechanism']}</b> est le "
            f"meilleur{WIDE}: une erreur type d’environ {lowest} points de pourcentage en moyenne sur les réponses, "
            f"et chaque envoi prend {cost} bits. On le sait exactement, avant de demander quoi que ce soit à "
            "quiconque.",
        )
    }</p>
<table class="rank"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>"""


def _your_turn(survey: DemoSurvey, w: Language) -> str:
    code = (
        "import murmure as mu\n\n"
        'question = mu.Categories(["no", "yes"])\n'
        f"plan = mu.Plan(mu.Histogram(question), person=mu.Warner(question"
        f"{'' if survey.fair_coins else f', epsilon={survey.epsilon!r}'}))\n"
        'print(mu.run(plan, ["no", "yes", "no", "no"] * 500))\n'
    )
    shell = (
        f"murmure advise --categories 5 --epsilon {survey.epsilon:.6g} --people {survey.people}\n"
        f"murmure certify GRR --categories 5 --epsilon {survey.epsilon:.6g}\n"
    )
    return f"""<h2>{w("5. Your turn", "5. À vous")}</h2>
<pre>{html.escape(code)}</pre>
<pre>{html.escape(shell)}</pre>"""


def _footer(survey: DemoSurvey, w: Language) -> str:
    plans = ", ".join(f"{q.name} {q.plan.digest[:12]}" for q in survey.questions)
    return f"""<footer>{
        w(
            f"Murmure {__version__}. Plans: {plans}. This page is one file, without script, and asks nothing of the "
            "network.",
            f"Murmure {__version__}. Plans{WIDE}: {plans}. Cette page est un seul fichier, sans script, et ne demande "
            "rien au réseau.",
        )
    }</footer>"""


# -- pictures ---------------------------------------------------------------------------------------------------------


def _hundred(yes: int, caption: str) -> str:
    """A hundred people in ten rows; the filled ones send yes."""
    dots = "".join(
        f'<circle class="{"on" if i < yes else "off"}" cx="{6 + 12 * (i % 10)}" cy="{6 + 12 * (i // 10)}" r="4"/>'
        for i in range(100)
    )
    return (
        f'<figure><svg width="120" height="120" role="img" aria-label="{yes} / 100">{dots}</svg>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _box(ticked: bool) -> str:
    mark = '<path class="mean" fill="none" d="M3.5 8.5 7 12 13 4"/>' if ticked else ""
    frame = '<rect class="off" x="1" y="1" width="14" height="14" rx="2"/>'
    name = "x" if ticked else "-"
    return (
        f'<svg width="16" height="16" role="img" aria-label="{name}" style="display:inline;vertical-align:-2px;'
        f'margin-right:.4rem">{frame}{mark}</svg>'
    )


def _shares(question: DemoQuestion, w: Language, end: float) -> str:
    rows = [{**row, "label": html.escape(w.label(row["label"])), "mean": row["share"]} for row in question.rows()]
    return figure_table(rows, w, Scale.of_shares(0.0, end), name=w("answer", "réponse"))


def _report(question: DemoQuestion, report: Any, w: Language) -> str:
    """A report of the demo's three mechanisms, in this language."""
    labels = list(question.release.estimate.labels)
    if question.name != "OUE":
        return w.quote(labels[int(report)])
    ticked = ", ".join(w.quote(labels[v]) for v in set_bits(report, len(labels)))
    return w(f"{ticked} alone ticked", f"{ticked} seule cochée")
