"""A model in plain words of two languages: what it asks first, of which columns, and how much in all its rounds."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from murmure.core.types import Described
from murmure.parties.study.question_words import StudyLanguage, describe_statistic, is_describable
from murmure.parties.study.questions import StudyQuestion, designs_of, settings_of
from murmure.statistics.exact.cells import Cells
from murmure.statistics.exact.cross_products import CrossProducts
from murmure.statistics.exact.party_products import WithinPartyProducts


def describe_model(question: StudyQuestion, say: StudyLanguage) -> tuple[str, list[str]]:
    """The model in one sentence, in quotation marks, since it contains names that a stranger chose; then its columns,
    its settings, and how much is asked in all.
    """
    model = question.model
    out = [line for design in designs_of(model).values() for line in _design_lines(design, say)]
    out += [*_setting_lines(model, say), *_limit_lines(model, say), *_first_round(question, say)]
    return f"{question.kind}, {say.quote(say(*with_plain_names(model).in_words()))}.", [*out, _size(question, say)]


def with_plain_names(model: Any) -> Any:
    """The same model, with its columns called by their expressions: a name that the asker chose may say anything."""
    terms_by_name: dict[str, str] = {}
    fields: dict[str, Any] = {}
    for field, design in designs_of(model).items():
        terms_by_name |= dict(zip(design.names, design.terms, strict=True))
        fields[field] = _copy_with(design, names=design.terms, outcome_name=design.outcome)
    fields |= {
        key: terms_by_name[value]
        for key, value in settings_of(model).items()
        if isinstance(value, str) and value in terms_by_name
    }
    return _copy_with(model, **fields)


def _copy_with(original: Any, **fields: Any) -> Any:
    """A copy for reading: it skips __post_init__, which would check it again."""
    out = copy.copy(original)
    for name, value in fields.items():
        object.__setattr__(out, name, value)
    return out


def _quoted(texts: Iterable[str], say: StudyLanguage) -> str:
    return ", ".join(map(say.quote, texts))


def _design_lines(design: Any, say: StudyLanguage) -> list[str]:
    """Every expression, with the name that results give it where that differs."""
    columns = say("its equations are made of these columns: {}", "ses équations sont faites de ces colonnes : {}")
    outcome = say("what they explain is {}", "ce qu’elles expliquent est {}")
    called = say("{} (in the result it is called {})", "{} (le résultat l’appelle {})")

    def term_in_words(term: str, name: str) -> str:
        plain = name == term or (term, name) == ("1", "Intercept")
        return say.quote(term) if plain else called.format(say.quote(term), say.quote(name))

    out = [columns.format(", ".join(map(term_in_words, design.terms, design.names)))]
    if design.outcome:
        out.append(outcome.format(term_in_words(design.outcome, design.outcome_name)))
    words = say("the asker writes this as {}", "le demandeur l’écrit {}")
    return [*out, words.format(say.quote(design.formula))] if design.formula else out


def _setting_lines(model: Any, say: StudyLanguage) -> list[str]:
    """All other choices of the asker, by their names in the study."""
    settings = settings_of(model)
    if not settings:
        return []
    text = ", ".join(f"{name} = {_value(value, say)}" for name, value in settings.items())
    return [say("its settings are {}", "ses réglages sont {}").format(text)]


def _limit_lines(model: Any, say: StudyLanguage) -> list[str]:
    """How far a model can go between parties, where that depends on what it asks (times, and sums at each)."""
    limit = model.limit_in_words()
    return [] if limit is None else [say(*limit)]


def _value(value: Any, say: StudyLanguage) -> str:
    if isinstance(value, bool):
        return say("yes", "oui") if value else say("no", "non")
    if isinstance(value, int | Fraction):
        return say.number(value)
    if isinstance(value, tuple):
        return "(" + ", ".join(_value(item, say) for item in value) + ")"
    return say.quote(str(value))


def _first_round(question: StudyQuestion, say: StudyLanguage) -> list[str]:
    """The sums of the first round."""
    statistic: Any = question.plan.statistic
    if is_describable(statistic):
        sentence, sums = describe_statistic(statistic, say)
        return [say("first, {}", "d’abord, {}").format(sentence), *sums]
    if isinstance(statistic, Cells):
        cells = say(
            "first, how many rows lie in each of {} cells of {}",
            "d’abord, combien de lignes sont dans chacune de {} cases de {}",
        )
        return [cells.format(say.number(statistic.width), _quoted(statistic.domain.private, say))]
    if isinstance(statistic, CrossProducts | WithinPartyProducts):
        products = say(
            "first, the sums of all products of two of these: {}",
            "d’abord, les sommes de tous les produits de deux parmi : {}",
        ).format(_quoted(statistic.factors, say))
        if isinstance(statistic, WithinPartyProducts):
            products += say(", each less its mean at the organisation", ", chacun moins sa moyenne dans l’organisation")
        if statistic.weight is None:
            return [products]
        weighed = say("each product is multiplied by {}", "chaque produit est multiplié par {}")
        return [products, weighed.format(say.quote(statistic.weight))]
    if isinstance(statistic, Described):
        first = say("first, {}", "d’abord, {}").format(say.quote(say(*statistic.words())))
        later = question.model.later_rounds()
        return [first] if later is None else [first, say(*later)]
    return []


def _size(question: StudyQuestion, say: StudyLanguage) -> str:
    sums = say.number(question.sums)
    if question.rounds == 1:
        text = say("it is asked in one round, and counts as {} sums", "un seul tour, qui compte pour {} sommes")
        return text.format(sums)
    return say(
        "it is asked in at most {} rounds, which count as at most {} sums in all; what is asked in a round (such as "
        "the coefficients that it tries) follows from the totals of the rounds before it, by rules that your own "
        "software applies too; an asker who tells false totals would thereby choose what is asked next, and the study "
        "trusts it not to",
        "au plus {} tours, qui comptent pour au plus {} sommes en tout ; ce qui est demandé à un tour (par exemple les "
        "coefficients essayés) découle des totaux des tours précédents, selon des règles que votre propre logiciel "
        "applique aussi ; un demandeur qui communiquerait de faux totaux choisirait par là ce qui est demandé ensuite, "
        "et l’étude lui fait confiance de ne pas le faire",
    ).format(say.number(question.rounds), sums)
