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
from murmure.parties.study.round_figures import RoundFigures, exact_text
from murmure.parties.study.visible_text import visible
from murmure.run.report.html_parts import NARROW, WIDE, Language, facts

if TYPE_CHECKING:
    from murmure.core.types import Certificate
    from murmure.parties.coordinator.status_view import StatusView
    from murmure.parties.study.replay import ModelOutcome

MAX_FIGURES = 200  # on the page; all of them are in status.json
MAX_SHOWN_ROUNDS = 5  # whose progress is shown: the last ones


def section(view: StatusView, w: Language) -> str:
    parts = [_head(view, w)]
    parts += [_results(view, w)] if view.results else []
    return "\n".join(
        [*parts, _progress(view, w), _roster(view, w), _guarantees(view, w), _sentences(view, w), _foot(view, w)]
    )


def _head(view: StatusView, w: Language) -> str:
    study, progress = view.study, view.progress
    state = progress.state
    sharing = study.sharing
    joined = progress.closed[0][2] if progress.closed else len(progress.answered)
    figures = [(f"{joined} {w('of', 'sur')} {len(study.roster)}", w("parties joined", "participants inscrits"))]
    figures.append((str(sharing.minimum), w("needed at least", "nécessaires au moins")))
    if study.rounds > 1:
        of_words = w("of at most", "sur au plus") if study.rounds_vary else w("of", "sur")
        figures.append((f"{progress.round} {of_words} {study.rounds}", w("round", "tour")))
    noisy = any(question.plan.curator is not None for question in study.questions)
    figures.append((w("noisy", "bruités") if noisy else w("exact", "exacts"), w("figures", "chiffres")))
    why = ""
    if progress.ended is not None and progress.ended.kind:
        text = w(*REASONS.get(progress.ended.kind, OTHER_REASON))
        why = f'<p class="warn">{text}<br><small lang="en">{html.escape(visible(progress.ended.words))}</small></p>'
    return (
        f"<h1>{html.escape(study.name)}</h1>\n"
        f'<p class="motto">{html.escape(study.purpose)}</p>\n'
        f'<p class="state {state}">{w(*STATES[state])}</p>{why}{facts(figures)}'
    )


def _progress(view: StatusView, w: Language) -> str:
    progress, study = view.progress, view.study
    stages = list(STAGES)
    rounds = sorted({progress.round, *(r for r, *_ in progress.closed)})[-MAX_SHOWN_ROUNDS:]
    out = [
        f"<h2>{w('How far it is', 'Où l’on en est')}</h2>",
        f'<p class="note">{w("The parties, step by step:", f"Les participants, étape par étape{WIDE}:")}</p>',
    ]
    for round in rounds:
        if study.rounds > 1:
            out.append(f"<h3>{w('Round', 'Tour')} {round}</h3>")
        closed = {stage: (came, expected) for r, stage, came, expected in progress.closed if r == round}
        lines = (_stage(number, stage, round, closed, progress, w) for number, stage in enumerate(stages, 1))
        out.append(f'<ol class="stages">{"".join(lines)}</ol>')
    return "\n".join(out)


def _stage(
    number: int, stage: str, round: int, closed: dict[str, tuple[int, int]], progress: Progress, w: Language
) -> str:
    kind, count = "later", None
    if stage in closed:
        kind, count = "over", closed[stage]
    elif progress.ended is None and round == progress.round and stage == progress.stage:
        kind, count = "now", (len(progress.answered), len(progress.answered) + len(progress.awaited))
    share = 0.0 if count is None or not count[1] else 100 * count[0] / count[1]
    bar = (
        '<svg width="100%" height="8" aria-hidden="true"><rect width="100%" height="8" rx="4"/>'
        f'<rect class="came" width="{share:.1f}%" height="8" rx="4"/></svg>'
    )
    answered = "" if count is None else f"{count[0]} {w('of', 'sur')} {count[1]}"
    name = f"{number}. {w(*STAGES[stage])}"
    shown = f"<b>{name}</b>" if kind == "now" else name
    return f'<li class="{kind}"><span>{shown}</span>{bar}<span class="num">{answered}</span></li>'


def _roster(view: StatusView, w: Language) -> str:
    progress, stages, rows = view.progress, list(STAGES), []
    for place, card in enumerate(view.study.roster):
        state = progress.party_state(place)
        departure = progress.departures.get(place)
        kind = "out" if state in DEPARTURE_WORDS else "in" if state in ("answered", "done") else "soft"
        when = ""
        if departure is not None and state == departure.how and departure.stage in stages:
            step = w(f"at step {stages.index(departure.stage) + 1}", f"à l’étape {stages.index(departure.stage) + 1}")
            tour = w(f", round {departure.round}", f", tour {departure.round}") if view.study.rounds > 1 else ""
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


def _sentences(view: StatusView, w: Language) -> str:
    lines: list[str] = []
    for sentence in view.study.in_words("fr" if w.french else "en"):
        text = _spaced(html.escape(visible(sentence.strip().removeprefix("- "))), w)
        if sentence.strip().startswith("- ") and lines:  # a detail of the sentence before it
            lines[-1] = (
                lines[-1].removesuffix("</ul>") + ("" if "<ul>" in lines[-1] else "<ul>") + f"<li>{text}</li></ul>"
            )
        else:
            lines.append(text)
    title = w("What each party reads before it agrees", "Ce que chaque participant lit avant d’accepter")
    return f"<h2>{title}</h2>\n<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"


def _guarantees(view: StatusView, w: Language) -> str:
    """Who can learn what, at most: the certificates of the plans in short sentences."""
    sharing = view.study.sharing
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
        (w("each party", "chaque participant"), w("The total, and who is in it.", "Le total, et qui y figure.")),
        *_readers(view, w),
    ]
    heads = (w("who", "qui"), w("learns at most", "apprend au plus"))
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(f'<tr><th scope="row">{who}</th><td>{what}</td></tr>' for who, what in rows)
    return (
        f"<h2>{w('Who learns what', 'Qui apprend quoi')}</h2>\n"
        f'<table class="held"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    )


def _readers(view: StatusView, w: Language) -> list[tuple[str, str]]:
    """What readers of the figures learn; one row where every round promises the same."""
    who = w("whoever reads the figures", "qui lit les chiffres")
    promises = [_promise(question.plan.guarantees()["reader"], w) for question in view.study.questions]
    cost = study_cost_in_words(view.study)
    together = w("all noisy rounds together", "tous les tours bruités ensemble")
    rest = (
        []
        if cost is None
        else [
            (
                f"{who}, {together}",
                f"{cost if not w.french else cost.replace('.', ',').replace(' at delta', ' à delta')}.",
            )
        ]
    )
    if len(set(promises)) == 1:
        return [(who if not rest else f"{who}, {w('each round', 'chaque tour')}", promises[0]), *rest]
    part = "question" if view.study.models else w("round", "tour")
    return [*((f"{who}, {part} {number}", text) for number, text in enumerate(promises, 1)), *rest]


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


def _results(view: StatusView, w: Language) -> str:
    out = [f"<h2>{w('What came out', 'Ce qui en est sorti')}</h2>"]
    for result, figures in view.figures():
        names = ", ".join(html.escape(view.study.roster[place].name) for place in result.cohort)
        summary = w(f"Over {len(result.cohort)} parties", f"Sur {len(result.cohort)} participants")
        if figures.people is not None:
            rows = w.number(figures.people, 0)
            about = "" if figures.exact else w("about ", "environ ")
            summary = w(
                f"{about}{rows} rows of {len(result.cohort)} parties",
                f"{about}{rows} lignes de {len(result.cohort)} participants",
            )
            summary = summary[:1].upper() + summary[1:]
        if view.study.rounds > 1:
            out.append(f"<h3>{w('Round', 'Tour')} {result.round}</h3>")
        say = StudyLanguage("en" if w("en", "fr") == "en" else "fr")
        question, _ = describe_statistic(view.study.plans[result.round - 1].statistic, say)
        question = question.rstrip(" :.\u00a0\u202f")
        out.append(f"<p>{html.escape(visible(question[:1].upper() + question[1:]))}.</p>")
        out.append(f'<p class="note">{summary}{w("", WIDE)}: {names}.</p>')
        out.append(_table(figures, w))
        for name, step in figures.grids.items():
            rounded = w(
                f"{name} was rounded to steps of {exact_text(step)} before it was added up.",
                f"{name} a été arrondi par pas de {exact_text(step).replace('.', ',')} avant d’être additionné.",
            )
            out.append(f'<p class="note">{html.escape(rounded)}</p>')
    return "\n".join([*out, *(_model(outcome, w) for outcome in view.outcomes())])


def _model(outcome: ModelOutcome, w: Language) -> str:
    """A model's summary, or that it is not finished. Remarks and reasons are in English."""
    title_text = html.escape(visible(w(*outcome.model.in_words())))
    title = f"<h3>{title_text[:1].upper()}{title_text[1:]}</h3>"
    if not outcome.over:
        return f'{title}<p class="note">{w("Not finished yet.", "Pas encore terminé.")}</p>'
    rounds = len(outcome.rounds)
    took = w(f"It took {rounds} round{'s' * (rounds != 1)}.", f"Il a fallu {rounds} tour{'s' * (rounds > 1)}.")
    if outcome.result is None:
        return f'{title}<p class="note">{took}</p><div lang="en">{outcome_html(outcome)}</div>'
    return f'{title}<p class="note">{took}</p>{outcome_html(outcome, "fr" if w.french else "en")}'


def _table(figures: RoundFigures, w: Language) -> str:
    heads = ["", w("exact", "exact") if figures.exact else w("noisy", "bruité")]
    heads[1:1] = [] if figures.exact else [w("95 % interval", "intervalle à 95 %").replace(" %", f"{NARROW}%")]
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    rows = []
    for row in figures.rows[:MAX_FIGURES]:
        interval = "" if figures.exact else f"<td>{_interval(row.low, row.high, w)}</td>"
        rows.append(f'<tr><th scope="row">{html.escape(row.label)}</th>{interval}<td>{_number(row.said, w)}</td></tr>')
    hidden = len(figures.rows) - MAX_FIGURES
    more = w(f"{hidden} more in status.json.", f"{hidden} de plus dans status.json.")
    rest = f'<p class="note">{more}</p>' if hidden > 0 else ""
    table = f'<table class="exact sums"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return f"{table}{rest}"


def _interval(low: str | None, high: str | None, w: Language) -> str:
    return "" if low is None or high is None else f"{_number(low, w)} {w('to', 'à')} {_number(high, w)}"


def _number(text: str, w: Language) -> str:
    """A number as Python writes it, turned into the style of the language; digits in threes."""
    whole, point, rest = text.partition(".")
    digits = whole.lstrip("-")
    if digits.isdecimal() and len(digits) > 4:
        digits = f"{int(digits):,}".replace(",", NARROW)
    sign = "\u2212" if whole.startswith("-") else ""
    return html.escape(f"{sign}{digits}{(w('.', ',') + rest) if point else ''}")


def _spaced(text: str, w: Language) -> str:
    """French spaces before a colon or a semicolon must not break a line."""
    return text.replace(" :", f"{WIDE}:").replace(" ;", f"{WIDE};").replace(" %", f"{NARROW}%") if w.french else text


def _foot(view: StatusView, w: Language) -> str:
    digest = view.study.digest.hex()
    groups = " ".join(digest[i : i + 8] for i in range(0, 64, 8))
    compare = w(
        "Every party compares this with what it approved.", "Chaque participant le compare à ce qu’il a approuvé."
    )
    alone = w("Without script.", "Sans script.")
    study = w("Study", "Étude")
    return f"<footer>Murmure {__version__}. {study}{w('', WIDE)}: <code>{groups}</code>. {compare} {alone}</footer>"
