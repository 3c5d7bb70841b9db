"""What a party remembers that matters for a new study, in plain sentences: shown before somebody approves it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from murmure.core.errors import MurmureError
from murmure.parties.party.spending import charges_on_columns
from murmure.parties.study.cohort_guard import sum_names
from murmure.parties.study.costs import ProtectedUnit, StudyCharge, charges_of, epsilon_and_delta, round_up, total_cost
from murmure.parties.study.question_words import LanguageCode, StudyLanguage
from murmure.parties.study.questions import exact_questions
from murmure.secure.identity import Card
from murmure.statistics.conditions.refusals import describe_problem

if TYPE_CHECKING:
    from murmure.core.blocks import Cost
    from murmure.parties.party.store import PartyStore
    from murmure.parties.study.document import Study
    from murmure.statistics.conditions.conditions import Conditions


def earlier_disclosures(store: PartyStore, study: Study, language: LanguageCode = "en") -> list[str]:
    say = StudyLanguage(language)
    return [
        *_costs(store, study, say),
        *_repeated_sums(store, study, say),
        *_conditions(store, study, say),
        *_new_keys(store, study, say),
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


def _conditions(store: PartyStore, study: Study, say: StudyLanguage) -> list[str]:
    """Conditions that differ so little from those of an earlier study that the difference would reveal few rows."""
    earlier, unread = earlier_conditions(store, study)
    out = []
    problem = study.rare_condition(before=earlier) if study.rare_condition() is None else None
    if problem is not None:
        out.append(
            say("WARNING, question {}: {}.", "ATTENTION, question {} : {}.").format(
                problem.question, describe_problem(problem, say, say.quote)
            )
        )
    if unread:
        out.append(
            say(
                "{} was made for another release of this software: its conditions are not compared with those here.",
                "{} a été faite pour une autre version de ce logiciel : ses conditions ne sont pas comparées à celles "
                "d’ici.",
            ).format(say.listed([say.quote(name) for name in unread]))
        )
    return out


def _costs(store: PartyStore, study: Study, say: StudyLanguage) -> list[str]:
    """What earlier noisy studies have cost, and the total with this one."""
    earlier = [charge for charge in store.charges() if charge.study != study.digest.hex()]
    if not earlier:
        return []
    new = charges_of(study)
    columns = {name for question in study.questions for name in question.columns}
    on_these_columns = charges_on_columns(earlier, columns)
    out = []
    for protects in dict.fromkeys(charge.protects for charge in on_these_columns):
        alike = [charge for charge in on_these_columns if charge.protects == protects]
        out.append(
            say(
                "Noisy totals of {} have cost your rows {} before, in {}.",
                "Des totaux bruités de {} ont déjà coûté {} à vos lignes, dans {}.",
            ).format(
                say.listed(
                    [say.quote(name) for name in sorted(columns & {c for charge in alike for c in charge.columns})]
                ),
                _cost_in_words(total_cost(alike), say),
                _study_names(alike, say),
            )
        )
        if new and new[0].protects == protects:
            out.append(
                say("With this study it will be {}.", "Avec cette étude, ce sera {}.").format(
                    _cost_in_words(total_cost([*alike, *new]), say)
                )
            )
        elif new:
            out.append(
                say(
                    "They protect otherwise than this study ({}, and here {}): these costs do not add up.",
                    "Ils protègent autrement que cette étude ({}, et ici {}) : ces coûts ne s’additionnent pas.",
                ).format(_protects(protects, say), _protects(new[0].protects, say))
            )
    elsewhere = [charge for charge in earlier if charge not in on_these_columns]
    if elsewhere:
        out.append(
            say(
                "Noisy totals of other columns were let go as well ({}). What noise protects is a row with all that it "
                "holds: their cost comes on top, and a budget counts it.",
                "Des totaux bruités d’autres colonnes sont aussi partis ({}). Le bruit protège une ligne avec tout ce "
                "qu’elle contient : leur coût s’y ajoute, et un budget le compte.",
            ).format(_study_names(elsewhere, say))
        )
        if new and all(charge.protects == new[0].protects for charge in earlier):
            out.append(
                say(
                    "All noisy studies together, with this one: {}.", "Toutes les études bruitées, avec celle-ci : {}."
                ).format(_cost_in_words(total_cost([*earlier, *new]), say))
            )
    return out


def _repeated_sums(store: PartyStore, study: Study, say: StudyLanguage) -> list[str]:
    """The same exact sum over the same parties passes the guard, but a difference reveals rows that changed."""
    sums = {name for question in exact_questions(study) for name in sum_names(question)}
    studies = store.studies_with_sums(sums, study.digest)
    if not studies:
        return []
    return [
        say(
            "You have let an exact total of this study go before, in {}. If your rows have changed since, the "
            "difference of the two totals tells about the rows that changed, and at worst about one.",
            "Vous avez déjà laissé partir un total exact de cette étude, dans {}. Si vos lignes ont changé depuis, la "
            "différence des deux totaux renseigne sur les lignes changées, au pire sur une seule.",
        ).format(say.listed([say.quote(name) for name in studies]))
    ]


def _new_keys(store: PartyStore, study: Study, say: StudyLanguage) -> list[str]:
    return [
        say(
            "{} has another key than in the studies that you joined before: it was {}, and is {} here. Somebody may be "
            "standing in for it: telephone before you say yes.",
            "{} n’a pas la même clé que dans les études précédentes : c’était {}, et ici {}. Quelqu’un se fait "
            "peut-être passer pour elle : téléphonez avant d’accepter.",
        ).format(say.quote(card.name), Card("x", key).fingerprint, card.fingerprint)
        for card, key in store.changed_keys(study.roster)
    ]


def _protects(protected: ProtectedUnit, say: StudyLanguage) -> str:
    unit = say.quote(protected.unit)
    who = say("one row", "une ligne")
    if protected.unit != "row":
        who = say("all rows of one {}, up to {}", "toutes les lignes de même {}, jusqu’à {}").format(
            unit, protected.rows
        )
    how = say("there or not", "présente ou non") if protected.relation == "add/remove" else say("changed", "changée")
    return f"{who}, {how}"


def _cost_in_words(cost: Cost, say: StudyLanguage) -> str:
    epsilon, delta = epsilon_and_delta(cost)
    if math.isinf(epsilon):
        return say("more than any epsilon", "plus que tout epsilon")
    number = say.number(round_up(epsilon))
    at = say(" at delta = {}", " à delta = {}").format(f"{delta:g}".replace(".", say(".", ","))) if delta else ""
    return f"epsilon = {number}{at}"


def _study_names(charges: list[StudyCharge], say: StudyLanguage) -> str:
    return say.listed([say.quote(name) for name in dict.fromkeys(charge.name for charge in charges)])
