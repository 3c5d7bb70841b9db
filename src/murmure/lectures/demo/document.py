"""The demo as a document: what one student sends, what the crowd says, what is guaranteed, what to choose."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from murmure import __version__
from murmure.certify.witness_words import set_bits
from murmure.core.errors import Phrase
from murmure.lectures.demo.survey import LABELS
from murmure.show.document import (
    Block,
    Document,
    Facts,
    Flow,
    Hundred,
    IntervalRow,
    Intervals,
    Listing,
    Number,
    Paragraph,
    Section,
    Table,
    Ticks,
    paragraphs,
    sentences,
)
from murmure.show.phrase import Quoted, Several, Strong

if TYPE_CHECKING:
    from murmure.lectures.demo.survey import DemoQuestion, DemoSurvey

YES = Quoted(LABELS["yes"])
TRUTH = Phrase("truth, known only because the class is simulated")


def demo_document(survey: DemoSurvey) -> Document:
    intro = Phrase(
        "{people:,} simulated students were asked whether they cheat at exams. No true answer left a student’s hands. "
        "Here is what was sent, what it says about the crowd, and what it cannot say about anyone.",
        people=survey.people,
    )
    blocks: tuple[Block, ...] = (
        Paragraph(Phrase("Each person whispers; the crowd speaks."), "motto"),
        *_seed_warning(survey),
        Paragraph(intro),
        _facts(survey),
        Section(Phrase("1. What one student sends"), (*_yes_or_no(survey), *_how_often(survey))),
        _crowd(survey),
        _guarantees(survey),
        _ranking(survey),
        _your_turn(survey),
    )
    plans = Several([f"{q.name} {q.plan.digest[:12]}" for q in survey.questions], Phrase(", "))
    footer = Phrase("Murmure {version}. Plans: {plans}.", version=__version__, plans=plans)
    return Document("Murmure", blocks, kind="Demo", footer=footer)


def _seed_warning(survey: DemoSurvey) -> tuple[Paragraph, ...]:
    if survey.seed is None:
        return ()
    words = Phrase(
        "SEEDED EXPERIMENT (seed {seed}): anyone can replay these reports; never for real people.", seed=survey.seed
    )
    return (Paragraph(words, "warning"),)


def _facts(survey: DemoSurvey) -> Facts:
    epsilon: Any = Number(survey.epsilon, "plain")
    if survey.fair_coins:
        epsilon = Phrase("ln 3 = {epsilon:.4f}", epsilon=survey.epsilon)
    randomness = Phrase("secure, from the operating system")
    if survey.seed is not None:
        randomness = Phrase("seeded ({seed})", seed=survey.seed)
    return Facts(
        (
            (Phrase("simulated students"), survey.people),
            (Phrase("epsilon of each question"), epsilon),
            (Phrase("randomness"), randomness),
        )
    )


# -- one student -------------------------------------------------------------------------------------------------------


def _yes_or_no(survey: DemoSurvey) -> tuple[Any, ...]:
    from murmure.run.report.certificate_words import promise

    rule = Phrase("A coin: heads, the truth; tails, toss again, and say yes for heads, no for tails.")
    if not survey.fair_coins:
        rule = Phrase("{truth} times out of 100 the truth; otherwise a fair coin answers.", truth=survey.truth_of_100())
    yes, yes_too = survey.yes_of_100()
    sent = LABELS[("no", "yes")[int(survey.coins.sent)]]
    steps = (
        (Phrase("true answer"), "•••", Phrase("stays with the student")),
        (Phrase("in the student’s hand"), rule, ""),
        (Phrase("sent"), sent, Phrase("all that anyone sees")),
    )
    return (
        Section(
            Phrase("Have you ever cheated at an exam?"),
            (
                Flow(steps),
                Hundred(
                    yes,
                    Phrase(
                        "Out of 100 people like you who {have} cheated, {n} send {yes}.",
                        have=Strong(Phrase("have")),
                        n=Strong(yes),
                        yes=YES,
                    ),
                ),
                Hundred(
                    yes_too,
                    Phrase(
                        "Out of 100 people like you who have {not_} cheated, {n} send {yes} too.",
                        not_=Strong(Phrase("not")),
                        n=Strong(yes_too),
                        yes=YES,
                    ),
                ),
                Paragraph(
                    sentences(Phrase("So a {yes} is not a confession.", yes=YES), promise(survey.coins.certificate))
                ),
            ),
        ),
    )


def _how_often(survey: DemoSurvey) -> tuple[Section, ...]:
    true, other = survey.support_of_100(survey.grr)
    tick, stray = survey.support_of_100(survey.oue)
    labels = list(survey.grr.release.estimate.labels)
    by_grr = Phrase(
        "Five answers. Through {grr} this student sent {sent}: out of 100 people like you, {true} send the truth and "
        "{other} each of the four others.",
        grr=Strong("GRR"),
        sent=Quoted(LABELS[labels[int(survey.grr.sent)]]),
        true=true,
        other=other,
    )
    by_oue = Phrase(
        "Through {oue} the same student would send five boxes: out of 100 people like you, {tick} tick their own box "
        "and {stray} any given other one.",
        oue=Strong("OUE"),
        tick=tick,
        stray=stray,
    )
    boxes = Ticks(tuple((LABELS[label], on) for label, on in zip(labels, survey.ticked_boxes(), strict=True)))
    return (Section(Phrase("How often have you cheated?"), (*paragraphs([by_grr, by_oue]), boxes)),)


# -- the crowd ---------------------------------------------------------------------------------------------------------


def _crowd(survey: DemoSurvey) -> Section:
    from murmure.core.estimates.method_words import explained

    covered, total = survey.coverage()
    rows = [row for question in survey.questions for row in question.rows()]
    method = survey.grr.release.estimate.interval_and_method()[1]
    notes = [
        Phrase(
            "The truth lies inside {covered} of {total} intervals; each may miss one time in twenty. They speak of "
            "the students who answered, by {method}.",
            covered=covered,
            total=total,
            method=explained(method),
        )
    ]
    if any(row["share"] < 0 for row in rows):
        notes.append(Phrase("An unbiased estimate errs to both sides, so a small one may fall below zero."))
    back = Phrase(
        "Each report may lie, but lies come at a known rate, so the shares of the crowd can be computed back."
    )
    return Section(
        Phrase("2. What the crowd says"),
        (
            Paragraph(back),
            _shares(Phrase("Have you ever cheated? Two coins"), survey.coins),
            _shares(Phrase("How often? GRR"), survey.grr),
            _shares(Phrase("How often? OUE"), survey.oue),
            *paragraphs(notes, "note"),
        ),
    )


def _shares(title: Phrase, question: DemoQuestion) -> Intervals:
    rows = [
        IntervalRow(LABELS[row["label"]], row["share"], row["low"], row["high"], row["truth"])
        for row in question.rows()
    ]
    return Intervals(title, tuple(rows), label=Phrase("answer"), truth=TRUTH)


# -- guarantees and choice ---------------------------------------------------------------------------------------------


def _guarantees(survey: DemoSurvey) -> Section:
    from murmure.core.certificate_blocks import method_explained
    from murmure.ledger.figures import rounded_up

    head = (Phrase("mechanism"), Phrase("epsilon"), Phrase("how it was found"), Phrase("witness"))
    rows = []
    for question in survey.questions:
        certificate = question.certificate
        assert certificate.witness is not None
        a, b, report = certificate.witness
        tells = Phrase(
            "{report} is {odds:.2f} times likelier from {a} than from {b}",
            report=_report_in_words(question, report),
            odds=math.exp(certificate.epsilon),
            a=Quoted(LABELS[a]),
            b=Quoted(LABELS[b]),
        )
        epsilon = Phrase("{epsilon}", epsilon=rounded_up(certificate.epsilon))
        rows.append((question.name, epsilon, method_explained(certificate.method), tells))
    both = survey.coins.certificate.epsilon + survey.grr.certificate.epsilon
    found = Phrase(
        "Computed from the very integers that the random words are compared with, and rounded up. The witness is the "
        "report that tells most."
    )
    cost = Phrase(
        "It protects the whole record of one person, replaced by any other; delta is 0. A student who answers both "
        "questions spends the sum, epsilon = {both:.4g}. GRR and OUE are two ways to ask the second question: a real "
        "study chooses one.",
        both=both,
    )
    table = Table("", head, tuple(rows), words=True)
    return Section(Phrase("3. What is guaranteed"), (Paragraph(found), table, Paragraph(cost)))


def _report_in_words(question: DemoQuestion, report: Any) -> Any:
    """A report of the demo's three mechanisms."""
    labels = list(question.release.estimate.labels)
    if question.name != "OUE":
        return Quoted(LABELS[labels[int(report)]])
    ticked = [Quoted(LABELS[labels[v]]) for v in set_bits(report, len(labels))]
    return Phrase("{ticked} alone ticked", ticked=Several(ticked))


def _ranking(survey: DemoSurvey) -> Section:
    from murmure.advise.document import advice_document

    best = survey.advice.best
    words = Phrase(
        "For five answers and {people:,} people, {best} is best: a standard error of about {error:.2f} percentage "
        "points on average over the answers, for reports of {bits:.1f} bits. Known exactly, before anyone is asked "
        "anything.",
        people=survey.people,
        best=Strong(best["mechanism"]),
        error=100 * math.sqrt(best["mean_variance"]),
        bits=best["report_bits"],
    )
    blocks = advice_document(survey.advice).blocks[:-1]  # its sentence is said above
    return Section(Phrase("4. Which mechanism to choose"), (Paragraph(words), *blocks))


def _your_turn(survey: DemoSurvey) -> Section:
    epsilon = "" if survey.fair_coins else f", epsilon={survey.epsilon!r}"
    code = (
        "import murmure as mu\n\n"
        'question = mu.Categories(["no", "yes"])\n'
        f"plan = mu.Plan(mu.Histogram(question), person=mu.Warner(question{epsilon}))\n"
        'print(mu.run(plan, ["no", "yes", "no", "no"] * 500))\n'
    )
    shell = (
        f"murmure advise --categories 5 --epsilon {survey.epsilon:.6g} --people {survey.people}\n"
        f"murmure certify GRR --categories 5 --epsilon {survey.epsilon:.6g}\n"
    )
    folders = "murmure new poll\nmurmure new table\n"
    about = Phrase("A folder of your own to start from, with invented people and a README of three or four commands:")
    return Section(Phrase("5. Your turn"), (Listing(code), Listing(shell), Paragraph(about), Listing(folders)))
