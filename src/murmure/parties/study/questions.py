"""The models of a study: what parties approve of each before it is asked.

A model asks round after round (econometrics/model.py), and only its first question is known beforehand. What is agreed
is therefore the most: these columns, so many rounds, so many sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from murmure.core.errors import InvalidParameter
from murmure.core.schema import Schema
from murmure.plan.plan import Plan
from murmure.statistics.conditions.conditions import Conditions, conditions_of
from murmure.statistics.conditions.disclosure import disclosure_counts, of_reals, real_sum
from murmure.statistics.exact.cross_products import CrossProducts

if TYPE_CHECKING:
    from murmure.parties.study.document import Study
    from murmure.plan.privacy import Central, Secure
    from murmure.secure.sharing import PairwiseMasks

FEW = 4  # figures beside scores and their products: a likelihood, a deviance


@dataclass(frozen=True)
class StudyQuestion:
    """What a study asks: a plan, which is one round; or a model, whose first plan this is."""

    number: int
    plan: Plan
    model: Any = None

    @property
    def kind(self) -> str:
        return type(self.model or self.plan.statistic).__name__

    @property
    def rounds(self) -> int:
        """At most."""
        return 1 if self.model is None else int(self.model.rounds)

    @property
    def takes_noise(self) -> bool:
        """Whether it can be asked with noise at all: nobody is told to add some where it cannot."""
        return self.model is None or self.model.protects is None

    @cached_property
    def domain(self) -> Any:
        """What is read of a row, in any round, and what it may hold."""
        return self.plan.statistic.domain if self.model is None else self.model.domain

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all that is read of a row."""
        read = self.plan.step.columns or () if self.model is None else self.domain.private
        return tuple(read) if self.plan.unit == "row" else (*read, self.plan.unit)

    @property
    def widths(self) -> int:
        """The sums of all rounds, one by one, at most: as the model says. One that does not say it asks in every round
        for no more than in the first; with a design of p columns, for p + 1 scores, their products, and FEW figures.
        """
        most, first = getattr(self.model, "most_sums", None), self.plan.statistic.width
        if most is not None or self.rounds == 1:
            return first if most is None else int(most)
        p = len(getattr(getattr(self.model, "design", None), "terms", ()))
        return first + (self.rounds - 1) * max(first, (p + 1) * (p + 4) // 2 + FEW if p else 0)

    @cached_property
    def sums(self) -> int:
        """As how many sums all rounds count together, at most (statistics/conditions/disclosure.py).

        After products come real functions of a row (residuals, scores); after counts, other counts.
        """
        first = self.plan.statistic
        each = disclosure_counts(first)
        real = self.model is not None and (of_reals(first) or isinstance(first, CrossProducts))
        later = real_sum(self.domain) if real else 1
        return sum(each) + (self.widths - len(each)) * max(later, *each)

    @cached_property
    def conditions(self) -> Conditions:
        """All conditions that its sums are restricted to, in any round (statistics/conditions/conditions.py)."""
        if self.model is None:
            return conditions_of(self.plan.statistic)
        return conditions_of(self.plan.statistic, texts_of(self.model), getattr(self.model, "finest", None))

    @property
    def numbers(self) -> int:
        """That leave each party, in all rounds, at most: sums, and with exact ones the number of rows each time."""
        return self.widths + self.rounds * (self.plan.encoder.entries - self.plan.statistic.width)

    def plan_of(self, statistic: Any, privacy: Secure, noise: Any) -> Plan:
        """A later question of the model, under the terms of the first."""
        return _plan_of(statistic, privacy, noise, self.plan.parties)


def exact_questions(study: Study) -> list[StudyQuestion]:
    """The questions whose totals no noise hides."""
    return [question for question, hides in zip(study.questions, study.hides_rows, strict=True) if not hides]


def by_party(model: Any) -> Any:
    """What a model asks about each organisation by itself, if it does: a statistic of party_products.py."""
    if model is None:
        return None
    from murmure.econometrics.fit import party_statistic as asked

    return asked(model)


def model_question(number: int, model: Any, privacy: Secure, masks: PairwiseMasks) -> StudyQuestion:
    """A model, with the question that it asks first."""
    from murmure.econometrics.fit import check_sharing

    check_sharing(model, masks)
    first = first_statistic(model)
    if first is None:
        raise InvalidParameter(f"Study: question {number}, {type(model).__name__}, asks nothing.")
    return StudyQuestion(number, _plan_of(first, privacy, privacy.noises([1.0] * int(model.rounds))[0], masks), model)


def first_statistic(model: Any) -> Any:
    """What it asks in its first round, or None."""
    return next(model.steps(), None)


def _plan_of(statistic: Any, privacy: Secure, noise: Any, masks: PairwiseMasks) -> Plan:
    from murmure.econometrics.fit import coarsen_for_noise

    if noise is None:
        return Plan(statistic, parties=masks)
    protects = {name: getattr(privacy, name) for name in ("relation", "unit", "rows_per_person")}
    return Plan(coarsen_for_noise(statistic, noise), parties=masks, curator=noise, **protects)


def secure_privacy(masks: PairwiseMasks, noise: Central | None) -> Secure:
    """Between these parties, with this noise in shares where there is any."""
    from murmure.plan.privacy import Secure

    terms = {name: getattr(masks, name) for name in ("parties", "dropouts", "colluders", "coordinator", "rows")}
    return Secure(**terms) if noise is None else Secure(**terms, **vars(noise))


def texts_of(model: Any) -> list[str]:
    """Whatever is written in a model: names, expressions, settings."""
    from murmure.econometrics.model import model_to_dict

    def leaves(held: Any) -> list[str]:
        if isinstance(held, Mapping):
            return [text for key, value in held.items() for text in (str(key), *leaves(value))]
        if isinstance(held, list | tuple):
            return [text for part in held for text in leaves(part)]
        return [held] if isinstance(held, str) else []

    return leaves(model_to_dict(model))


def designs_of(model: Any) -> dict[str, Any]:
    """The fields of a model that are designs: expressions, each with a name that the asker chose."""
    from murmure.econometrics.design.design_matrix import Design

    held = {f.name: getattr(model, f.name) for f in fields(model)}
    return {name: value for name, value in held.items() if isinstance(value, Design)}


def written_in(model: Any) -> tuple[str, ...]:
    """The expressions of its designs."""
    return tuple(text for one in designs_of(model).values() for text in (*one.terms, one.outcome) if text)


def settings_of(model: Any) -> dict[str, Any]:
    """The fields of a model but for its designs and its columns, which are told by themselves."""
    told = {"domain", *designs_of(model)}
    held = {f.name: getattr(model, f.name) for f in fields(model) if f.name not in told}
    return {name: value for name, value in held.items() if value not in (None, ()) and not isinstance(value, Schema)}
