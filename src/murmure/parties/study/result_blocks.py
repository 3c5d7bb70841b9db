"""What came out of a study, to be shown: the figures of each question, and the result of each model."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from murmure.catalogue import persisted_name
from murmure.core.estimates.estimate_blocks import figure_name
from murmure.parties.study.costs import study_cost_in_words
from murmure.parties.study.earlier_protocol import NOTE
from murmure.parties.study.question_words import describe_plainly
from murmure.show.cells import TOO_NOISY
from murmure.show.document import (
    Block,
    IntervalRow,
    Intervals,
    Paragraph,
    Section,
    Table,
    paragraphs,
    sentences,
)
from murmure.show.phrase import Phrase, Plural, Quoted, Several

if TYPE_CHECKING:
    from murmure.parties.study.document import Study
    from murmure.parties.study.replay import ModelOutcome
    from murmure.parties.study.round_figures import RoundFigures

MAX_FIGURES = 200  # drawn; all of them are in the JSON


def result_section(
    study: Study,
    rounds: Sequence[tuple[int, Sequence[int], RoundFigures]],
    outcomes: Sequence[ModelOutcome],
    absent: Phrase | None = None,
    earlier: bool = False,
) -> Section:
    """rounds: the number of each, places of the parties in it, and its figures. absent: why the others are not in it.

    earlier: the study ran under an earlier protocol.
    """
    out: list[Block] = []
    for number, cohort, figures in rounds:
        blocks = _round(study, number, cohort, figures, absent)
        out += [Section(Phrase("Round {number}", number=number), blocks)] if study.rounds > 1 else blocks
    out += [_model(outcome) for outcome in outcomes]
    cost = study_cost_in_words(study)
    out += paragraphs(
        (cost and Phrase("All questions of this study together: {cost}.", cost=cost), NOTE if earlier else None), "note"
    )
    return Section(Phrase("Results"), tuple(out))


def _round(
    study: Study, number: int, cohort: Sequence[int], figures: RoundFigures, absent: Phrase | None
) -> tuple[Block, ...]:
    others = absent and Phrase("Of the others, {absent}.", absent=absent)
    return (
        Paragraph(Phrase("Added up: {what}.", what=describe_plainly(study.plans[number - 1].statistic))),
        *paragraphs((figures.problem,), "warning"),
        *_figures(figures),
        *paragraphs((sentences(_over(study, cohort, figures), others), *figures.notes(), figures.promise()), "note"),
    )


def _over(study: Study, cohort: Sequence[int], figures: RoundFigures) -> Phrase:
    """Over how many rows of whom."""
    fields = {"names": Several([study.roster[place].name for place in cohort]), "rows": figures.people}
    if figures.people is None:
        return Plural("From {n} party: {names}.", "From {n} parties: {names}.", n=len(cohort), **fields)
    if figures.exact:
        return Plural(
            "From {rows:,} rows of {n} party: {names}.",
            "From {rows:,} rows of {n} parties: {names}.",
            n=len(cohort),
            **fields,
        )
    return Plural(
        "From about {rows:,} rows of {n} party: {names}.",
        "From about {rows:,} rows of {n} parties: {names}.",
        n=len(cohort),
        **fields,
    )


def _figures(figures: RoundFigures) -> tuple[Block, ...]:
    if figures.exact or figures.problem:
        head = ("", Phrase("exact sum") if figures.exact else Phrase("noisy sum"))
        return (Table("", head, tuple((row.label, _cell(row.said)) for row in figures.rows)),)
    shown = figures.rows[:MAX_FIGURES]
    rows = tuple(
        IntervalRow(figure_name(row.label), _float(row.said), low=_float(row.low, None), high=_float(row.high, None))
        for row in shown
    )
    more = len(figures.rows) - len(shown)
    rest = Phrase("{more:,} more figures are in the JSON.", more=more) if more else None
    return (Intervals("", rows, figures.unit), *paragraphs((rest,), "note"))


def _cell(text: str) -> Any:
    """A figure with all its digits; a fraction stays as it is."""
    try:
        return Phrase("{value:,}", value=Decimal(text))
    except InvalidOperation:
        return TOO_NOISY if text == TOO_NOISY else text


def _float(text: str | None, default: float | None = float("nan")) -> Any:
    try:
        return float(text or "")
    except ValueError:
        return default


def _model(outcome: ModelOutcome) -> Section:
    """A model's result, or why there is none. Its description is quoted: the asker chose names in it."""
    title = Phrase("{kind}, {model}", kind=type(outcome.model).__name__, model=Quoted(outcome.model.in_words()))
    if not outcome.over:
        return Section(title, paragraphs((Phrase("Not finished yet."),), "note"))
    took = Plural("It took {n} round.", "It took {n} rounds.", n=len(outcome.rounds))
    if outcome.result is not None:
        return Section(title, (*paragraphs((took,), "note"), *outcome.result.document().blocks))
    assert outcome.error is not None
    reason = Phrase("No result ({kind}): {reason}", kind=persisted_name(outcome.error), reason=outcome.error.message)
    hint = outcome.error.hint and Phrase("Hint: {advice}", advice=outcome.error.hint)
    return Section(title, (*paragraphs((took,), "note"), *paragraphs((reason, hint), "warning")))
