"""What a party remembers that matters for a new study, in plain sentences: shown before somebody approves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from murmure.core.errors import MurmureError
from murmure.parties.party.spending import charges_on_columns
from murmure.parties.study.cohort_guard import sum_names
from murmure.parties.study.costs import StudyCharge, charges_of, cost_in_words, total_cost
from murmure.parties.study.question_words import quoted
from murmure.parties.study.questions import exact_questions
from murmure.secure.identity import Card
from murmure.show.phrase import Phrase, Quoted, Several
from murmure.statistics.conditions.refusals import describe_problem

if TYPE_CHECKING:
    from murmure.parties.party.store import PartyStore
    from murmure.parties.study.document import Study
    from murmure.statistics.conditions.conditions import Conditions


def earlier_disclosures(store: PartyStore, study: Study) -> list[Phrase]:
    return [
        *_costs(store, study),
        *_repeated_sums(store, study),
        *_conditions(store, study),
        *_new_keys(store, study),
    ]


def earlier_conditions(store: PartyStore, study: Study) -> tuple[list[Conditions], list[str]]:
    """The conditions of exact sums in the studies that this party approved before; and the names of studies that this
    release of the software cannot read any more.
    """
    known: list[Conditions] = []
    unread: list[str] = []
    for joined in store.studies():
        if joined.digest == study.digest:
            continue
        try:
            known += [conditions for _, conditions in type(study).open(joined.signed).conditions]
        except MurmureError:
            unread.append(joined.name)
    return known, unread


def _conditions(store: PartyStore, study: Study) -> list[Phrase]:
    """Conditions that differ so little from those of an earlier study that the difference would reveal few rows."""
    earlier, unread = earlier_conditions(store, study)
    out = []
    problem = study.rare_condition(before=earlier) if study.rare_condition() is None else None
    if problem is not None:
        out.append(
            Phrase("WARNING, question {number}: {problem}.", number=problem.question, problem=describe_problem(problem))
        )
    if unread:
        out.append(
            Phrase(
                "Made for another release of this software: {studies}. Conditions there are not compared with those "
                "here.",
                studies=quoted(unread),
            )
        )
    return out


def _costs(store: PartyStore, study: Study) -> list[Phrase]:
    """What earlier noisy studies have cost, and the total with this one."""
    earlier = [charge for charge in store.charges() if charge.study != study.digest.hex()]
    new = charges_of(study)
    columns = {name for question in study.questions for name in question.columns}
    on_these_columns = charges_on_columns(earlier, columns)
    out = []
    for protects in dict.fromkeys(charge.protects for charge in on_these_columns):
        alike = [charge for charge in on_these_columns if charge.protects == protects]
        read = columns & {name for charge in alike for name in charge.columns}
        out.append(
            Phrase(
                "Noisy totals of {names} have already cost your rows {cost}, in {studies}.",
                names=quoted(sorted(read)),
                cost=cost_in_words(total_cost(alike)),
                studies=_study_names(alike),
            )
        )
        if new and new[0].protects == protects:
            total = cost_in_words(total_cost([*alike, *new]))
            out.append(Phrase("With this study it will be {cost}.", cost=total))
        elif new:
            out.append(
                Phrase(
                    "They do not protect the same as this study ({before}, and here {now}): these costs do not add up.",
                    before=protects.in_words(),
                    now=new[0].protects.in_words(),
                )
            )
    return [*out, *_costs_elsewhere(earlier, on_these_columns, new)]


def _costs_elsewhere(
    earlier: list[StudyCharge], on_these_columns: list[StudyCharge], new: list[StudyCharge]
) -> list[Phrase]:
    """What noisy studies of other columns have cost: a row is protected with all that it holds."""
    elsewhere = [charge for charge in earlier if charge not in on_these_columns]
    if not elsewhere:
        return []
    out = [
        Phrase(
            "Noisy totals of other columns were released as well ({studies}). Noise protects a row with all that it "
            "holds: their cost comes on top, and a budget counts it.",
            studies=_study_names(elsewhere),
        )
    ]
    if new and all(charge.protects == new[0].protects for charge in earlier):
        total = cost_in_words(total_cost([*earlier, *new]))
        out.append(Phrase("All noisy studies together, with this one: {cost}.", cost=total))
    return out


def _repeated_sums(store: PartyStore, study: Study) -> list[Phrase]:
    """The same exact sum over the same parties passes the guard, but a difference reveals rows that changed."""
    sums = {name for question in exact_questions(study) for name in sum_names(question)}
    studies = store.studies_with_sums(sums, study.digest)
    if not studies:
        return []
    return [
        Phrase(
            "You have released an exact total of this study before, in {studies}. If your rows have changed since, the "
            "difference of the two totals tells about the rows that changed, and at worst about one.",
            studies=quoted(studies),
        )
    ]


def _new_keys(store: PartyStore, study: Study) -> list[Phrase]:
    return [
        Phrase(
            "{name} has another key than in the studies that you joined before: it was {before}, and is {now} here. "
            "Someone may be impersonating it. Call them before you approve.",
            name=Quoted(card.name),
            before=Card("x", key).fingerprint,
            now=card.fingerprint,
        )
        for card, key in store.changed_keys(study.roster)
    ]


def _study_names(charges: list[StudyCharge]) -> Several:
    return quoted(dict.fromkeys(charge.name for charge in charges))
