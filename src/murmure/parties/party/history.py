"""What a party remembers that bears on a new study, in plain sentences: shown before somebody says yes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from murmure.core.errors import MurmureError
from murmure.parties.party.spending import charges_on_columns
from murmure.parties.study.cohort_guard import sum_names
from murmure.parties.study.costs import (
    ProtectedUnit,
    StudyCharge,
    charges_of,
    epsilon_and_delta,
    round_up,
    total_cost,
)
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
        *_paid(store, study, say),
        *_asked_again(store, study, say),
        *_conditions(store, study, say),
        *_new_keys(store, study, say),
    ]


def earlier_conditions(store: PartyStore, study: Study) -> tuple[list[Conditions], list[str]]:
    """The conditions of exact sums in the studies that this party approved before; and the names of those that this
    release of the software cannot read any more.
    """
    found: list[Conditions] = []
    unread: list[str] = []
    for one in store.studies():
        if one.digest == study.digest:
            continue
        try:
            found += [asked for _, asked in type(study).open(one.signed).conditions]
        except MurmureError:
            unread.append(one.name)
    return found, unread


def _conditions(store: PartyStore, study: Study, say: StudyLanguage) -> list[str]:
    """Conditions that differ little from those of an earlier study, whose difference would tell about few rows."""
    before, unread = earlier_conditions(store, study)
    out = []
    problem = study.rare_condition(before=before) if study.rare_condition() is None else None
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


def _paid(store: PartyStore, study: Study, say: StudyLanguage) -> list[str]:
    """Noisy studies before this one: what they have cost, and what it comes to with this one."""
    before = [one for one in store.charges() if one.study != study.digest.hex()]
    if not before:
        return []
    own = charges_of(study)
    read = {name for question in study.questions for name in question.columns}
    same = charges_on_columns(before, read)
    out = []
    for protects in dict.fromkeys(one.protects for one in same):
        alike = [one for one in same if one.protects == protects]
        out.append(
            say(
                "Noisy totals of {} have cost your rows {} before, in {}.",
                "Des totaux bruités de {} ont déjà coûté {} à vos lignes, dans {}.",
            ).format(
                say.listed([say.quote(name) for name in sorted(read & {c for one in alike for c in one.columns})]),
                _said(total_cost(alike), say),
                _named(alike, say),
            )
        )
        if own and own[0].protects == protects:
            out.append(
                say("With this study it will be {}.", "Avec cette étude, ce sera {}.").format(
                    _said(total_cost([*alike, *own]), say)
                )
            )
        elif own:
            out.append(
                say(
                    "They protect otherwise than this study ({}, and here {}): these costs do not add up.",
                    "Ils protègent autrement que cette étude ({}, et ici {}) : ces coûts ne s’additionnent pas.",
                ).format(_protects(protects, say), _protects(own[0].protects, say))
            )
    other = [one for one in before if one not in same]
    if other:
        out.append(
            say(
                "Noisy totals of other columns were let go as well ({}). What noise protects is a row with all that it "
                "holds: their cost comes on top, and a budget counts it.",
                "Des totaux bruités d’autres colonnes sont aussi partis ({}). Le bruit protège une ligne avec tout ce "
                "qu’elle contient : leur coût s’y ajoute, et un budget le compte.",
            ).format(_named(other, say))
        )
        if own and all(one.protects == own[0].protects for one in before):
            out.append(
                say(
                    "All noisy studies together, with this one: {}.", "Toutes les études bruitées, avec celle-ci : {}."
                ).format(_said(total_cost([*before, *own]), say))
            )
    return out


def _asked_again(store: PartyStore, study: Study, say: StudyLanguage) -> list[str]:
    """The same exact sum over the same parties passes the guard; rows that changed meanwhile are its difference."""
    wanted = {name for question in exact_questions(study) for name in sum_names(question)}
    found = store.asked_before(wanted, study.digest)
    if not found:
        return []
    return [
        say(
            "You have let an exact total of this study go before, in {}. If your rows have changed since, the "
            "difference of the two totals tells about the rows that changed, and at worst about one.",
            "Vous avez déjà laissé partir un total exact de cette étude, dans {}. Si vos lignes ont changé depuis, la "
            "différence des deux totaux renseigne sur les lignes changées, au pire sur une seule.",
        ).format(say.listed([say.quote(name) for name in found]))
    ]


def _new_keys(store: PartyStore, study: Study, say: StudyLanguage) -> list[str]:
    return [
        say(
            "{} has another key than in the studies that you joined before: it was {}, and is {} here. Somebody may be "
            "standing in for it: telephone before you say yes.",
            "{} n’a pas la même clé que dans les études précédentes : c’était {}, et ici {}. Quelqu’un se fait "
            "peut-être passer pour elle : téléphonez avant d’accepter.",
        ).format(say.quote(card.name), Card("x", key).fingerprint, card.fingerprint)
        for card, key in store.other_keys(study.roster)
    ]


def _protects(one: ProtectedUnit, say: StudyLanguage) -> str:
    unit = say.quote(one.unit)
    who = say("one row", "une ligne")
    if one.unit != "row":
        who = say("all rows of one {}, up to {}", "toutes les lignes de même {}, jusqu’à {}").format(unit, one.rows)
    how = say("there or not", "présente ou non") if one.relation == "add/remove" else say("changed", "changée")
    return f"{who}, {how}"


def _said(cost: Cost, say: StudyLanguage) -> str:
    epsilon, delta = epsilon_and_delta(cost)
    if math.isinf(epsilon):
        return say("more than any epsilon", "plus que tout epsilon")
    number = say.number(round_up(epsilon))
    at = say(" at delta = {}", " à delta = {}").format(f"{delta:g}".replace(".", say(".", ","))) if delta else ""
    return f"epsilon = {number}{at}"


def _named(charges: list[StudyCharge], say: StudyLanguage) -> str:
    return say.listed([say.quote(name) for name in dict.fromkeys(one.name for one in charges)])
