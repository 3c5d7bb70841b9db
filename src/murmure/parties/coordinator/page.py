"""The coordinator's page: who takes part, how far it is, what is asked, what came out, and who learns what.

It is made on the server, without script; while the study runs, the browser reloads it every few seconds if its reader
asks for that. The same document is written to a file by `murmure study result --html`, and parts of it are printed by
the other commands.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from murmure import __version__
from murmure.parties.coordinator.progress import absent_in_words
from murmure.parties.study.costs import ProtectedUnit, study_cost_in_words
from murmure.parties.study.result_blocks import result_section
from murmure.parties.study.study_words import describe_study
from murmure.show import html
from murmure.show.document import (
    Block,
    Document,
    Facts,
    Heading,
    Items,
    Paragraph,
    Progress,
    Section,
    Table,
    paragraphs,
    sentences,
)
from murmure.show.language import LanguageCode
from murmure.show.phrase import Code, Phrase, Plural, Quoted

if TYPE_CHECKING:
    from murmure.parties.coordinator.status_view import StatusView
    from murmure.plan.plan import Plan

REFRESH_SECONDS = 3
MAX_SHOWN_ROUNDS = 5  # whose progress is shown: the last ones
CONTENT_SECURITY_POLICY = html.content_security_policy(framed=True)

STAGES = {  # what the parties do in it
    "keys": Phrase("join"),
    "shares": Phrase("share their secrets"),
    "opened": Phrase("open each other’s shares"),
    "vectors": Phrase("send masked sums"),
    "agree": Phrase("sign the same lists"),
    "reveal": Phrase("unmask the total"),
}
STATES = {
    "gathering": Phrase("waiting for the parties"),
    "running": Phrase("running"),
    "done": Phrase("done"),
    "failed": Phrase("ended without a result"),
}
PARTY_STATES = {
    "answered": Phrase("answered"),
    "awaited": Phrase("awaited"),
    "declined": Phrase("declined"),
    "vanished": Phrase("stopped answering"),
    "unusable": Phrase("left out: unusable messages"),
    "left out": Phrase("not in the sum"),
    "done": Phrase("in the sum"),
}
REASONS = {
    "TooFewParties": Phrase("Too few parties were left: nothing was added up, and nobody learnt anything."),
    "CohortRefused": Phrase(
        "The difference to an earlier release would have told about too few parties: nothing was unmasked."
    ),
    "ImpossibleTotal": Phrase("Honest parties cannot have such a total: it is not shown."),
    "SharesDoNotFit": Phrase("The shares that came back belong to no secret: someone sent wrong ones."),
}
OTHER_REASON = Phrase("The coordinator ended it.")


def live_page(view: StatusView, lang: LanguageCode, follow: bool = False) -> str:
    """The page in one language, with a link to the other. follow: it reloads itself while the study runs."""
    return html.live_page(
        study_document(view), lang, view.running, REFRESH_SECONDS if follow and view.running else None
    )


def page_file(view: StatusView, heading: Heading | None = None, lang: LanguageCode | None = None) -> str:
    """The page as one file with both languages."""
    return html.page(study_document(view), heading, lang)


def study_document(view: StatusView) -> Document:
    """All that can be said of a study."""
    study = view.study
    digest = study.digest.hex()
    footer = Phrase(
        "Murmure {version}. Study {digest}: every party compares these digits with what it approved.",
        version=__version__,
        digest=Code(" ".join(digest[i : i + 8] for i in range(0, 64, 8))),
    )
    blocks = (
        Paragraph(study.purpose, "motto"),
        *_state(view),
        *((_results(view),) if view.results else ()),
        Section(Phrase("Progress"), _progress(view)),
        Section(Phrase("Who takes part"), (_roster(view),)),
        _guarantees(view),
        Section(Phrase("What each party reads before it agrees"), (Items(tuple(describe_study(study))),)),
    )
    return Document(study.name, blocks, "Study", footer)


def status_document(view: StatusView) -> Document:
    """How a study stands."""
    return Document(view.study.name, (*_state(view), _roster(view)), "Study")


def result_document(view: StatusView) -> Document:
    """What came out, and who learns what."""
    blocks = (_results(view), _guarantees(view)) if view.results else ()
    return Document(view.study.name, blocks, "Study")


def _results(view: StatusView) -> Section:
    rounds = [(result.round, result.cohort, figures) for result, figures in view.figures()]
    absent = absent_in_words(view.progress.absent)
    return result_section(view.study, rounds, view.outcomes(), absent, view.earlier)


def _state(view: StatusView) -> tuple[Block, ...]:
    study, progress = view.study, view.progress
    joined = progress.closed[0][2] if progress.closed else len(progress.answered)
    facts: list[tuple[str, Any]] = [
        (Phrase("state"), STATES[progress.state]),
        (Phrase("parties joined"), Phrase("{done} of {every}", done=joined, every=len(study.roster))),
        (Phrase("needed at least"), study.sharing.minimum),
    ]
    if study.rounds > 1:
        rounds = Phrase("{done} of {every}", done=progress.round, every=study.rounds)
        if study.rounds_vary:
            rounds = Phrase("{done} of at most {every}", done=progress.round, every=study.rounds)
        facts.append((Phrase("round"), rounds))
    noisy = any(question.plan.curator is not None for question in study.questions)
    facts.append((Phrase("figures"), Phrase("noisy") if noisy else Phrase("exact")))
    why: tuple[str, ...] = ()
    if progress.ended is not None and progress.ended.kind:
        kind, words = progress.ended.kind, Quoted(progress.ended.words)
        why = (REASONS[kind],) if kind in REASONS else (OTHER_REASON, Phrase("The software says: {words}", words=words))
    return (Facts(tuple(facts)), *paragraphs(why, "warning"))


def _progress(view: StatusView) -> tuple[Block, ...]:
    progress, study = view.progress, view.study
    rounds = sorted({progress.round, *(number for number, *_ in progress.closed)})[-MAX_SHOWN_ROUNDS:]
    out: list[Block] = [Paragraph(Phrase("What the parties do, step by step:"), "note")]
    for number in rounds:
        closed = {stage: counts for r, stage, *counts in progress.closed if r == number}
        steps = Progress(tuple(_step(place, stage, number, closed, view) for place, stage in enumerate(STAGES, 1)))
        out += [Section(Phrase("Round {number}", number=number), (steps,))] if study.rounds > 1 else [steps]
    return tuple(out)


def _step(place: int, stage: str, round: int, closed: dict[str, list[int]], view: StatusView) -> Any:
    progress, text = view.progress, Phrase("{place}. {doing}", place=place, doing=STAGES[stage])
    if stage in closed:
        return (text, *closed[stage], "over")
    if progress.ended is None and (round, stage) == (progress.round, progress.stage):
        return (text, len(progress.answered), len(progress.answered) + len(progress.awaited), "now")
    return (text, 0, 0, "later")


def _roster(view: StatusView) -> Table:
    rows = [
        (card.name, Phrase("{key}", key=Code(card.fingerprint)), _party_state(view, place))
        for place, card in enumerate(view.study.roster)
    ]
    return Table("", (Phrase("party"), Phrase("key"), Phrase("now")), tuple(rows), words=True)


def _party_state(view: StatusView, place: int) -> Phrase:
    name, departure, stages = view.progress.party_state(place), view.progress.departures.get(place), list(STAGES)
    state = PARTY_STATES[name]
    if departure is None or name != departure.how or departure.stage not in stages:
        return state
    step = stages.index(departure.stage) + 1
    if view.study.rounds == 1:
        return Phrase("{state} (at step {step})", state=state, step=step)
    return Phrase("{state} (at step {step} of round {round})", state=state, step=step, round=departure.round)


def _guarantees(view: StatusView) -> Section:
    """Who can learn what, at most: the certificates of the plans in short sentences."""
    sharing = view.study.sharing
    who = Phrase("the coordinator")
    if sharing.colluders:
        who = Plural(
            "the coordinator with {n} of the parties",
            "the coordinator with up to {n} of the parties",
            n=sharing.colluders,
        )
    sums = Phrase(
        "The sum over the others in it, at least {honest:,}, and no more, even if the coordinator shows different "
        "lists to different parties. The parties believe the coordinator about what the total is.",
        honest=sharing.honest,
    )
    if sharing.coordinator == "lying":
        sums = Phrase(
            "The sum over the others in it, at least {honest:,}, and no more, even if the coordinator shows different "
            "lists to different parties. The coordinator says what the total is; no further question depends on it.",
            honest=sharing.honest,
        )
    if view.earlier:  # what that protocol did not guard against
        sums = Phrase(
            "The sum over the others in it, at least {honest:,}, and no more, if the coordinator showed every party "
            "the same lists. The parties believe the coordinator about what the total is.",
            honest=sharing.honest,
        )
    sums = sentences(sums, Phrase("This holds provided {assumption}.", assumption=sharing.assumption))
    rows = [(who, sums), (Phrase("each party"), Phrase("The total, and who is in it.")), *_readers(view)]
    table = Table("", (Phrase("who"), Phrase("learns at most")), tuple(rows), words=True)
    return Section(Phrase("Who learns what"), (table,))


def _readers(view: StatusView) -> list[tuple[Phrase, Phrase]]:
    """What readers of the figures learn; one row where every round promises the same."""
    promises = [_promise(question.plan) for question in view.study.questions]
    cost = study_cost_in_words(view.study)
    if len(set(promises)) > 1:
        rows = [(Phrase("any reader, question {number}", number=i), text) for i, text in enumerate(promises, 1)]
    else:
        each = Phrase("any reader") if cost is None else Phrase("any reader, each round")
        rows = [(each, promises[0])]
    together = Phrase("any reader, all noisy rounds together")
    return rows if cost is None else [*rows, (together, Phrase("{cost}.", cost=cost))]


def _promise(plan: Plan) -> Phrase:
    certificate = plan.guarantees()["reader"]
    if math.isinf(certificate.epsilon):
        return Phrase("The exact total: no differential privacy protects single rows in it.")
    fields = {"epsilon": certificate.epsilon, "protects": ProtectedUnit.of(plan).in_words()}
    promise = Phrase("The total with noise in it: epsilon = {epsilon:.6g} (protects {protects}).", **fields)
    if certificate.delta:
        promise = Phrase(
            "The total with noise in it: epsilon = {epsilon:.6g}, delta = {delta:.3g} (protects {protects}).",
            delta=certificate.delta,
            **fields,
        )
    if not certificate.assumption:
        return promise
    return Phrase("{promise} Provided: {assumption}.", promise=promise, assumption=certificate.assumption)
