"""The sections of the coordinator's page: HTML of our own, everything from outside escaped."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

from murmure import __version__
from murmure.parties.coordinator.page_words import OTHER_REASON, PARTY_STATES, REASONS, STAGES, STATES
from murmure.parties.coordinator.progress import DEPARTURE_WORDS, Progress
from murmure.parties.study.costs import study_cost_in_words
from murmure.parties.study.model_outcomes import outcome_html
from murmure.parties.study.question_words import StudyLanguage, describe_statistic
from murmure.parties.study.round_figures import RoundFigures
from murmure.parties.study.round_figures import exact_text as exactly
from murmure.parties.study.visible_text import visible
from murmure.show.html_parts import NARROW, WIDE, Language, facts

if TYPE_CHECKING:
    from murmure.core.types import Certificate
    from murmure.parties.coordinator.status_view import StatusView
    from murmure.parties.study.replay import ModelOutcome

MAX_FIGURES = 200  # on the page; all of them are in status.json
MAX_SHOWN_ROUNDS = 5  # whose progress is shown: the last ones


def section(seen: StatusView, w: Language) -> str:
    parts = [_head(seen, w)]
    parts += [_results(seen, w)] if seen.results else []
    return "\n".join(
        [*parts, _progress(seen, w), _roster(seen, w), _guarantees(seen, w), _asked(seen, w), _foot(seen, w)]
    )


def _head(seen: StatusView, w: Language) -> str:
    study, standing = seen.study, seen.standing
    state = standing.state
    sharing = study.sharing
    joined = standing.closed[0][2] if standing.closed else len(standing.answered)
    held = [(f"{joined} {w('of', 'sur')} {len(study.roster)}", w("parties joined", "participants inscrits"))]
    held.append((str(sharing.minimum), w("needed at least", "nécessaires au moins")))
    if study.rounds > 1:
        most = w("of at most", "sur au plus") if study.rounds_vary else w("of", "sur")
        held.append((f"{standing.round} {most} {study.rounds}", w("round", "tour")))
    noisy = any(question.plan.curator is not None for question in study.questions)
    held.append((w("noisy", "bruités") if noisy else w("exact", "exacts"), w("figures", "chiffres")))
    why = ""
    if standing.ended is not None and standing.ended.kind:
        text = w(*REASONS.get(standing.ended.kind, OTHER_REASON))
        why = f'<p class="warn">{text}<br><small lang="en">{html.escape(visible(standing.ended.words))}</small></p>'
    return (
        f"<h1>{html.escape(study.name)}</h1>\n"
        f'<p class="motto">{html.escape(study.purpose)}</p>\n'
        f'<p class="state {state}">{w(*STATES[state])}</p>{why}{facts(held)}'
    )


def _progress(seen: StatusView, w: Language) -> str:
    standing, study = seen.standing, seen.study
    stages = list(STAGES)
    rounds = sorted({standing.round, *(r for r, *_ in standing.closed)})[-MAX_SHOWN_ROUNDS:]
    out = [
        f"<h2>{w('How far it is', 'Où l’on en est')}</h2>",
        f'<p class="note">{w("The parties, step by step:", f"Les participants, étape par étape{WIDE}:")}</p>',
    ]
    for round in rounds:
        if study.rounds > 1:
            out.append(f"<h3>{w('Round', 'Tour')} {round}</h3>")
        closed = {stage: (came, of) for r, stage, came, of in standing.closed if r == round}
        lines = (_stage(number, stage, round, closed, standing, w) for number, stage in enumerate(stages, 1))
        out.append(f'<ol class="stages">{"".join(lines)}</ol>')
    return "\n".join(out)


def _stage(
    number: int, stage: str, round: int, closed: dict[str, tuple[int, int]], standing: Progress, w: Language
) -> str:
    kind, count = "later", None
    if stage in closed:
        kind, count = "over", closed[stage]
    elif standing.ended is None and round == standing.round and stage == standing.stage:
        kind, count = "now", (len(standing.answered), len(standing.answered) + len(standing.awaited))
    share = 0.0 if count is None or not count[1] else 100 * count[0] / count[1]
    bar = (
        '<svg width="100%" height="8" aria-hidden="true"><rect width="100%" height="8" rx="4"/>'
        f'<rect class="came" width="{share:.1f}%" height="8" rx="4"/></svg>'
    )
    said = "" if count is None else f"{count[0]} {w('of', 'sur')} {count[1]}"
    name = f"{number}. {w(*STAGES[stage])}"
    shown = f"<b>{name}</b>" if kind == "now" else name
    return f'<li class="{kind}"><span>{shown}</span>{bar}<span class="num">{said}</span></li>'


def _roster(seen: StatusView, w: Language) -> str:
    standing, stages, rows = seen.standing, list(STAGES), []
    for place, card in enumerate(seen.study.roster):
        state = standing.of(place)
        left = standing.left.get(place)
        kind = "out" if state in DEPARTURE_WORDS else "in" if state in ("answered", "done") else "soft"
        when = ""
        if left is not None and state == left.how and left.stage in stages:
            step = w(f"at step {stages.index(left.stage) + 1}", f"à l’étape {stages.index(left.stage) + 1}")
            tour = w(f", round {left.round}", f", tour {left.round}") if seen.study.rounds > 1 else ""
            when = f' <span class="soft">({step}{tour})</span>'
        rows.append(
            f'<tr><th scope="row">{html.escape(card.name)}</th><td><code>{card.fingerprint}</code></td>'
            f'<td><span class="{kind}">{w(*PARTY_STATES[state])}</span>{when}</td></tr>'
        )
    heads = (w("party", "participant"), w("key", "clé"), w("now", "état"))
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return (
        f"<h2>{w('Who takes part', 'Qui participe')}</h2>\n"
        f'<table class="roster"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )


def _asked(seen: StatusView, w: Language) -> str:
    lines: list[str] = []
    for said in seen.study.in_words("fr" if w.french else "en"):
        text = _spaced(html.escape(visible(said.strip().removeprefix("- "))), w)
        if said.strip().startswith("- ") and lines:  # what belongs to the line before it
            lines[-1] = (
                lines[-1].removesuffix("</ul>") + ("" if "<ul>" in lines[-1] else "<ul>") + f"<li>{text}</li></ul>"
            )
        else:
            lines.append(text)
    title = w("What each party reads before it agrees", "Ce que chaque participant lit avant d’accepter")
    return f"<h2>{title}</h2>\n<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"


def _guarantees(seen: StatusView, w: Language) -> str:
    """Who can learn what, at most; the certificates of the plans in short sentences."""
    sharing = seen.study.sharing
    c, honest = sharing.colluders, sharing.honest
    together = w("the coordinator", "le coordinateur")
    if c:
        together += w(f" with up to {c} of the parties", f" avec au plus {c} des participants")
    lies = w(
        "even if the coordinator shows different lists to different parties",
        "même si le coordinateur montre des listes différentes aux uns et aux autres",
    )
    totals = (
        w(
            "What the total comes to, the parties believe the coordinator.",
            "Sur ce que vaut le total, les participants croient le coordinateur.",
        )
        if sharing.coordinator == "curious"
        else w(
            "What the total comes to, the coordinator says; nothing further is asked by it.",
            "C’est le coordinateur qui dit ce que vaut le total ; aucune autre question n’en dépend.".replace(
                " ;", f"{WIDE};"
            ),
        )
    )
    rows = [
        (
            together,
            w(
                f"The sum over the others in it, at least {honest}, and no more; {lies}. {totals}",
                f"La somme sur les autres, au moins {honest}, et rien de plus{WIDE}; {lies}. {totals}",
            ),
        ),
        (
            w("each party", "chaque participant"),
            w("The total, and who is in it.", "Le total, et qui y figure."),
        ),
        *_readers(seen, w),
    ]
    heads = (w("who", "qui"), w("learns at most", "apprend au plus"))
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(f'<tr><th scope="row">{who}</th><td>{what}</td></tr>' for who, what in rows)
    return (
        f"<h2>{w('Who learns what', 'Qui apprend quoi')}</h2>\n"
        f'<table class="held"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    )


def _readers(seen: StatusView, w: Language) -> list[tuple[str, str]]:
    """Whoever reads the figures; once, where every round promises the same."""
    who = w("whoever reads the figures", "qui lit les chiffres")
    said = [_promise(question.plan.guarantees()["reader"], w) for question in seen.study.questions]
    cost = study_cost_in_words(seen.study)
    both = w("all noisy rounds together", "tous les tours bruités ensemble")
    rest = (
        []
        if cost is None
        else [
            (f"{who}, {both}", f"{cost if not w.french else cost.replace('.', ',').replace(' at delta', ' à delta')}.")
        ]
    )
    if len(set(said)) == 1:
        return [(who if not rest else f"{who}, {w('each round', 'chaque tour')}", said[0]), *rest]
    one = "question" if seen.study.models else w("round", "tour")
    return [*((f"{who}, {one} {number}", text) for number, text in enumerate(said, 1)), *rest]


def _promise(c: Certificate, w: Language) -> str:
    if math.isinf(c.epsilon):
        return w(
            "The exact total: no differential privacy protects single rows in it.",
            f"Le total exact{WIDE}: aucune confidentialité différentielle n’y protège les lignes une à une.",
        )
    delta = f", delta = {w.small(c.delta)}" if c.delta else ""
    provided = (
        ""
        if not c.assumption
        else w(f" Provided {w.term(c.assumption)}.", f" Pourvu que{WIDE}: {w.term(c.assumption)}.")
    )
    return w(
        f"The total with noise in it: epsilon = {w.plain(c.epsilon)}{delta} for one row ({c.relation}).{provided}",
        f"Le total bruité{WIDE}: epsilon = {w.plain(c.epsilon)}{delta} pour une ligne "
        f"({w.term(c.relation)}).{provided}",
    )


def _results(seen: StatusView, w: Language) -> str:
    out = [f"<h2>{w('What came out', 'Ce qui en est sorti')}</h2>"]
    for one, figures in seen.figures():
        names = ", ".join(html.escape(seen.study.roster[place].name) for place in one.cohort)
        over = w(f"Over {len(one.cohort)} parties", f"Sur {len(one.cohort)} participants")
        if figures.people is not None:
            rows = w.number(figures.people, 0)
            near = "" if figures.exact else w("about ", "environ ")
            over = w(
                f"{near}{rows} rows of {len(one.cohort)} parties",
                f"{near}{rows} lignes de {len(one.cohort)} participants",
            )
            over = over[:1].upper() + over[1:]
        if seen.study.rounds > 1:
            out.append(f"<h3>{w('Round', 'Tour')} {one.round}</h3>")
        say = StudyLanguage("en" if w("en", "fr") == "en" else "fr")
        asked, _ = describe_statistic(seen.study.plans[one.round - 1].statistic, say)
        asked = asked.rstrip(" :.\u00a0\u202f")
        out.append(f"<p>{html.escape(visible(asked[:1].upper() + asked[1:]))}.</p>")
        out.append(f'<p class="note">{over}{w("", WIDE)}: {names}.</p>')
        out.append(_table(figures, w))
        for name, step in figures.grids.items():
            rounded = w(
                f"{name} was rounded to steps of {exactly(step)} before it was added up.",
                f"{name} a été arrondi par pas de {exactly(step).replace('.', ',')} avant d’être additionné.",
            )
            out.append(f'<p class="note">{html.escape(rounded)}</p>')
    return "\n".join([*out, *(_model(fit, w) for fit in seen.fits())])


def _model(fit: ModelOutcome, w: Language) -> str:
    """A model's own summary; while it is being asked, that it is. Remarks and reasons are in English."""
    said = html.escape(visible(w(*fit.model.in_words())))
    title = f"<h3>{said[:1].upper()}{said[1:]}</h3>"
    if not fit.over:
        return f'{title}<p class="note">{w("Not finished yet.", "Pas encore terminé.")}</p>'
    rounds = len(fit.rounds)
    took = w(f"It took {rounds} round{'s' * (rounds != 1)}.", f"Il a fallu {rounds} tour{'s' * (rounds > 1)}.")
    if fit.result is None:
        return f'{title}<p class="note">{took}</p><div lang="en">{outcome_html(fit)}</div>'
    return f'{title}<p class="note">{took}</p>{outcome_html(fit, "fr" if w.french else "en")}'


def _table(figures: RoundFigures, w: Language) -> str:
    heads = ["", w("exact", "exact") if figures.exact else w("noisy", "bruité")]
    heads[1:1] = [] if figures.exact else [w("95 % interval", "intervalle à 95 %").replace(" %", f"{NARROW}%")]
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    rows = []
    for row in figures.rows[:MAX_FIGURES]:
        between = "" if figures.exact else f"<td>{_between(row.low, row.high, w)}</td>"
        rows.append(f'<tr><th scope="row">{html.escape(row.label)}</th>{between}<td>{_number(row.said, w)}</td></tr>')
    hidden = len(figures.rows) - MAX_FIGURES
    more = w(f"{hidden} more in status.json.", f"{hidden} de plus dans status.json.")
    rest = f'<p class="note">{more}</p>' if hidden > 0 else ""
    table = f'<table class="exact sums"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return f"{table}{rest}"


def _between(low: str | None, high: str | None, w: Language) -> str:
    return "" if low is None or high is None else f"{_number(low, w)} {w('to', 'à')} {_number(high, w)}"


def _number(text: str, w: Language) -> str:
    """A number as Python writes it, in the manner of the language; digits in threes."""
    whole, point, rest = text.partition(".")
    digits = whole.lstrip("-")
    if digits.isdecimal() and len(digits) > 4:
        digits = f"{int(digits):,}".replace(",", NARROW)
    sign = "\u2212" if whole.startswith("-") else ""
    return html.escape(f"{sign}{digits}{(w('.', ',') + rest) if point else ''}")


def _spaced(text: str, w: Language) -> str:
    """French spaces before a colon and a semicolon do not break a line."""
    return text.replace(" :", f"{WIDE}:").replace(" ;", f"{WIDE};").replace(" %", f"{NARROW}%") if w.french else text


def _foot(seen: StatusView, w: Language) -> str:
    digest = seen.study.digest.hex()
    groups = " ".join(digest[i : i + 8] for i in range(0, 64, 8))
    asked = w(
        "Every party compares this with what it approved.", "Chaque participant le compare à ce qu’il a approuvé."
    )
    alone = w("Without script.", "Sans script.")
    study = w("Study", "Étude")
    return f"<footer>Murmure {__version__}. {study}{w('', WIDE)}: <code>{groups}</code>. {asked} {alone}</footer>"
