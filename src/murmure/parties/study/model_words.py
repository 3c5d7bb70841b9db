"""A model in plain words: what it asks first, of which columns, and how much in all its rounds."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

from murmure.core.types import Described
from murmure.parties.study.question_words import describe_statistic, is_describable, quoted
from murmure.parties.study.questions import StudyQuestion, designs_of, settings_of
from murmure.show.phrase import Exact, Phrase, Plural, Quoted, Several
from murmure.statistics.exact.cells import Cells
from murmure.statistics.exact.cross_products import CrossProducts
from murmure.statistics.exact.party_products import WithinPartyProducts


def describe_model(question: StudyQuestion) -> tuple[Phrase, tuple[Phrase, ...]]:
    """The model in one sentence, in quotation marks, since it contains names that a stranger chose; then its columns,
    its settings, and how much is asked in all.
    """
    model = question.model
    lines = [line for design in designs_of(model).values() for line in _design_lines(design)]
    limit = model.limit_in_words()  # how far it can go between parties, where that depends on what it asks
    lines += [*_setting_lines(model), *([] if limit is None else [limit]), *_first_round(question)]
    sentence = Phrase("{kind}, {model}.", kind=question.kind, model=Quoted(with_plain_names(model).in_words()))
    return sentence, (*lines, _size(question))


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


def _design_lines(design: Any) -> list[Phrase]:
    """Every expression, with the name that results give it where that differs."""
    terms = Several([_term(*pair) for pair in zip(design.terms, design.names, strict=True)], between=Phrase(", "))
    out = [Phrase("its equations are made of these columns: {terms}", terms=terms)]
    if design.outcome:
        out.append(Phrase("what they explain is {outcome}", outcome=_term(design.outcome, design.outcome_name)))
    if design.formula:
        out.append(Phrase("the asker writes this as {formula}", formula=Quoted(design.formula)))
    return out


def _term(term: str, name: str) -> Any:
    if name == term or (term, name) == ("1", "Intercept"):
        return Quoted(term)
    return Phrase("{term} (in the result it is called {name})", term=Quoted(term), name=Quoted(name))


def _setting_lines(model: Any) -> list[Phrase]:
    """All other choices of the asker, by their names in the study."""
    settings = [Phrase("{name} = {value}", name=name, value=_value(v)) for name, v in settings_of(model).items()]
    return [Phrase("its settings are {settings}", settings=Several(settings, between=Phrase(", ")))] if settings else []


def _value(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | Fraction):
        return Exact(value)
    if isinstance(value, tuple):
        return Phrase("({items})", items=Several([_value(item) for item in value], between=Phrase(", ")))
    return Quoted(str(value))


def _first_round(question: StudyQuestion) -> list[Phrase]:
    """The sums of the first round."""
    statistic: Any = question.plan.statistic
    if is_describable(statistic):
        sentence, sums = describe_statistic(statistic)
        return [Phrase("first, {what}", what=sentence), *sums]
    if isinstance(statistic, Cells):
        return [
            Phrase(
                "first, how many rows lie in each of {cells} cells of {names}",
                cells=Exact(statistic.width),
                names=quoted(statistic.domain.private),
            )
        ]
    if isinstance(statistic, CrossProducts | WithinPartyProducts):
        return _product_lines(statistic)
    if isinstance(statistic, Described):
        first = Phrase("first, {what}", what=Quoted(statistic.words()))
        later = question.model.later_rounds()
        return [first] if later is None else [first, later]
    return []


def _product_lines(statistic: Any) -> list[Phrase]:
    factors = quoted(statistic.factors, Phrase(", "))
    products = Phrase("first, the sums of all products of two of these: {factors}", factors=factors)
    if isinstance(statistic, WithinPartyProducts):
        products = Phrase(
            "first, the sums of all products of two of these: {factors}, each less its mean at the organisation",
            factors=factors,
        )
    if statistic.weight is None:
        return [products]
    return [products, Phrase("each product is multiplied by {weight}", weight=Quoted(statistic.weight))]


def _size(question: StudyQuestion) -> Phrase:
    if question.rounds == 1:
        return Plural(
            "it takes one round, and counts as 1 sum", "it takes one round, and counts as {n:,} sums", n=question.sums
        )
    return Phrase(
        "it takes at most {rounds:,} rounds, which count as at most {sums:,} sums in all; what is asked in a round "
        "(such as the coefficients that it tries) follows from the totals of the rounds before it, by rules that your "
        "own software applies too; an asker who reports false totals would choose what is asked next, and the study "
        "trusts it not to",
        rounds=question.rounds,
        sums=question.sums,
    )
