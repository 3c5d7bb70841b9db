"""The models of a study: what parties approve of each before it is asked.

A model asks round after round (econometrics/model.py), and only its first question is known in advance. So parties
agree on limits: which columns are read, in at most how many rounds, for at most how many sums.
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

EXTRA_FIGURES = 4  # beside scores and their products: a likelihood, a deviance


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
        """The most that it may take."""
        return 1 if self.model is None else int(self.model.rounds)

    @property
    def takes_noise(self) -> bool:
        """Whether it can be asked with noise at all: hints only suggest noise where it can."""
        return self.model is None or self.model.noise_refusal is None

    @cached_property
    def domain(self) -> Any:
        """The columns that are read in any round, and what each may hold."""
        return self.plan.statistic.domain if self.model is None else self.model.domain

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns that are read."""
        read = self.plan.step.columns or () if self.model is None else self.domain.private
        return tuple(read) if self.plan.unit == "row" else (*read, self.plan.unit)

    @property
    def max_sums(self) -> int:
        """The most sums of all rounds together, as the model declares. A model that does not declare it asks in each
        later round for at most as many as in the first; with a design of p columns, for p + 1 scores, their products,
        and EXTRA_FIGURES.
        """
        declared, first = getattr(self.model, "max_sums", None), self.plan.statistic.width
        if declared is not None or self.rounds == 1:
            return first if declared is None else int(declared)
        p = len(getattr(getattr(self.model, "design", None), "terms", ()))
        return first + (self.rounds - 1) * max(first, (p + 1) * (p + 4) // 2 + EXTRA_FIGURES if p else 0)

    @cached_property
    def sums(self) -> int:
        """As how many sums all rounds count together, at most (statistics/conditions/disclosure.py).

        A model that starts with products goes on with real functions of a row (residuals, scores); one that starts with
        counts goes on with counts.
        """
        first = self.plan.statistic
        counts = disclosure_counts(first)
        later_are_real = self.model is not None and (of_reals(first) or isinstance(first, CrossProducts))
        count_later = real_sum(self.domain) if later_are_real else 1
        return sum(counts) + (self.max_sums - len(counts)) * max(count_later, *counts)

    @cached_property
    def conditions(self) -> Conditions:
        """All conditions that its sums are restricted to, in any round (statistics/conditions/conditions.py)."""
        if self.model is None:
            return conditions_of(self.plan.statistic)
        return conditions_of(self.plan.statistic, texts_of(self.model), getattr(self.model, "finest_cells", None))

    @property
    def max_numbers(self) -> int:
        """The most numbers that leave a party in all rounds: sums, and with exact sums the number of rows each time."""
        return self.max_sums + self.rounds * (self.plan.encoder.entries - self.plan.statistic.width)

    def plan_of(self, statistic: Any, privacy: Secure, noise: Any) -> Plan:
        """A later question of the model, under the terms of the first."""
        return _plan_of(statistic, privacy, noise, self.plan.parties)


def exact_questions(study: Study) -> list[StudyQuestion]:
    """The questions whose totals no noise hides."""
    return [question for question, hides in zip(study.questions, study.hides_rows, strict=True) if not hides]


def by_party(model: Any) -> Any:
    """The statistic of party_products.py that a model asks about each organisation separately, if it does."""
    if model is None:
        return None
    from murmure.econometrics.fit import party_statistic

    return party_statistic(model)


def model_question(number: int, model: Any, privacy: Secure, masks: PairwiseMasks) -> StudyQuestion:
    """A model, with the question that it asks first."""
    from murmure.econometrics.fit import check_sharing

    check_sharing(model, masks)
    first = first_statistic(model)
    if first is None:
        raise InvalidParameter(
            "Study: question {number}, {kind}, asks nothing.", number=number, kind=type(model).__name__
        )
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
    """Secure sums between these parties, with each party's share of this noise if there is any."""
    from murmure.plan.privacy import Secure

    terms = {name: getattr(masks, name) for name in ("parties", "dropouts", "colluders", "coordinator", "rows")}
    return Secure(**terms) if noise is None else Secure(**terms, **vars(noise))


def texts_of(model: Any) -> list[str]:
    """All texts in a model: names, expressions, settings."""
    from murmure.econometrics.model import model_to_dict

    def leaves(value: Any) -> list[str]:
        if isinstance(value, Mapping):
            return [text for key, item in value.items() for text in (str(key), *leaves(item))]
        if isinstance(value, list | tuple):
            return [text for part in value for text in leaves(part)]
        return [value] if isinstance(value, str) else []

    return leaves(model_to_dict(model))


def designs_of(model: Any) -> dict[str, Any]:
    """The fields of a model that are designs: expressions, each with a name that the asker chose."""
    from murmure.econometrics.design.design_matrix import Design

    values = {f.name: getattr(model, f.name) for f in fields(model)}
    return {name: value for name, value in values.items() if isinstance(value, Design)}


def written_in(model: Any) -> tuple[str, ...]:
    """The expressions of its designs."""
    return tuple(text for design in designs_of(model).values() for text in (*design.terms, design.outcome) if text)


def settings_of(model: Any) -> dict[str, Any]:
    """The fields of a model except its designs and its columns, which are described separately."""
    described = {"domain", *designs_of(model)}
    values = {f.name: getattr(model, f.name) for f in fields(model) if f.name not in described}
    return {name: value for name, value in values.items() if value not in (None, ()) and not isinstance(value, Schema)}
