"""What a question adds up, in plain sentences: every sum, and what one row adds to it.

Whatever the asker wrote (names, labels, formulas) is quoted, and whatever number it chose is written exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from fractions import Fraction
from string import Formatter
from typing import Any

from murmure.catalogue import entries, persisted_name
from murmure.core.catalogue_entries import StatisticEntry
from murmure.core.domain import Categories, Dates, Decimals, Domain, Integers, Interval
from murmure.core.schema import Schema
from murmure.show.language import NAMES, catalogue
from murmure.show.phrase import Exact, Phrase, Plural, Quoted, Several
from murmure.statistics.base.statistic import names_in
from murmure.statistics.conditions.disclosure import disclosure_counts
from murmure.statistics.sums import Sums

# Statistics that a study can describe, in the words of each (core/catalogue_entries.py).
DESCRIPTIONS = {name: entry.study for name, entry in entries(StatisticEntry).items() if entry.study is not None}


def quoted(texts: Iterable[Any], last: Phrase | None = None) -> Several:
    """What others wrote, each in its own quotation marks."""
    return Several([Quoted(str(text)) for text in texts], last)


def describe_domain(domain: Domain) -> Phrase:
    """What a column may hold, and what a missing value counts as, if it counts."""
    values = _values_of(domain)
    if domain.absent is None:
        return values
    return Phrase("{values}; a missing value counts as {absent}", values=values, absent=Quoted(str(domain.absent)))


def _values_of(domain: Domain) -> Phrase:
    if isinstance(domain, Integers):
        return Phrase("whole numbers from {low} to {high}", low=Exact(domain.low), high=Exact(domain.high))
    if isinstance(domain, Interval):
        low, high = (Fraction(repr(end)) for end in (domain.low, domain.high))
        return Phrase(
            "numbers from {low} to {high}, rounded in {cells} steps of {step}",
            low=Exact(low),
            high=Exact(high),
            cells=Exact(domain.cells),
            step=Exact((high - low) / domain.cells),
        )
    if isinstance(domain, Decimals):
        ends = {"low": Exact(domain.low_exact), "high": Exact(domain.high_exact)}
        if domain.rounding == "refuse":
            return Plural(
                "numbers from {low} to {high}, with at most {n} decimal",
                "numbers from {low} to {high}, with at most {n} decimals",
                n=domain.places,
                **ends,
            )
        return Plural(
            "numbers from {low} to {high}, rounded to at most {n} decimal",
            "numbers from {low} to {high}, rounded to at most {n} decimals",
            n=domain.places,
            **ends,
        )
    assert isinstance(domain, Categories)
    if isinstance(domain, Dates):
        return _dates(domain)
    if isinstance(domain.values, int):
        return Phrase(
            "one of the {count} labels from 0 to {last}", count=Exact(domain.values), last=Exact(domain.values - 1)
        )
    return Phrase("one of {labels}", labels=quoted(domain.labels(), Phrase(" or ")))


def _dates(domain: Dates) -> Phrase:
    ends = {"first": domain.first, "last": domain.last}
    return {
        "day": Phrase("dates from {first} to {last}", **ends),
        "week": Phrase("weeks from {first} to {last}", **ends),
        "month": Phrase("months from {first} to {last}", **ends),
        "year": Phrase("years from {first} to {last}", **ends),
    }[domain.unit]


def describe_statistic(statistic: Any) -> tuple[Phrase, tuple[Phrase, ...]]:
    """What is asked in one sentence, and its sums one by one where that adds something."""
    if isinstance(statistic, Sums):
        return Plural("the sum over all rows:", "{n} sums over all rows:", n=statistic.width), _sums(statistic)
    return Phrase("{what}.", what=describe_plainly(statistic)), ()


def _sums(statistic: Sums) -> tuple[Phrase, ...]:
    columns = zip(statistic.expressions, statistic.figures, statistic.bounds, disclosure_counts(statistic), strict=True)
    return tuple(_sum(expression, term, *bounds, counts) for expression, term, bounds, counts in columns)


def _sum(expression: str, term: Any, low: Fraction, high: Fraction, counts: int) -> Phrase:
    if expression == "1":
        return Phrase("the number of rows")
    if term.is_condition:
        return Phrase("the number of rows that fulfil {condition}", condition=Quoted(expression))
    ends: dict[str, Any] = {"formula": Quoted(expression), "low": Exact(low), "high": Exact(high)}
    if counts == 1:
        return Phrase("the sum of {formula}; one row adds from {low} to {high}", **ends)
    # A sum of more digits than its columns have can carry more than one number.
    return Phrase(
        "the sum of {formula}; one row adds from {low} to {high}; it takes {digits} digits, more than its columns "
        "have, and counts as {counts} sums",
        digits=len(str(term.high - term.low)),
        counts=Exact(counts),
        **ends,
    )


def describe_plainly(statistic: Any) -> Phrase:
    """What is asked, without a full stop."""
    kind = persisted_name(statistic)
    if kind == "Sums":
        return Plural("the sum over all rows", "{n} sums over all rows", n=statistic.width)
    if kind == "GroupBy":
        return Phrase(
            "{what}, separately for each value of {by} ({groups} groups)",
            what=describe_plainly(statistic.statistic),
            by=Quoted(names_in(statistic.by)),
            groups=Exact(statistic.groups),
        )
    if kind == "Where":
        what = describe_plainly(statistic.statistic)
        return Phrase("{what}, only for rows where {condition}", what=what, condition=_condition(statistic))
    values = {name: _value(value) for name, value in parameters_of(statistic).items()}
    values |= {"columns": _columns(statistic), "width": Exact(statistic.width)}
    return Phrase(DESCRIPTIONS[kind], **values)


def is_describable(statistic: Any) -> bool:
    """Whether these words say everything: the person who approves must see every number that the asker chose."""
    if type(statistic).__name__ in ("GroupBy", "Where"):
        return not isinstance(statistic.statistic, Sums) and is_describable(statistic.statistic)
    if isinstance(statistic, Sums):
        return True
    words = DESCRIPTIONS.get(persisted_name(statistic))
    # In every language: a translation that leaves a number out would hide it from those who read it.
    return words is not None and all(_is_told(statistic, catalogue(code)(words)) for code in NAMES)


def _is_told(statistic: Any, words: str) -> bool:
    """Whether words name every parameter that the asker chose; whether rows left out are counted, the plan decides."""
    named = {name for _, name, _, _ in Formatter().parse(words)} | {"left_out"}
    defaults = {f.name: f.default for f in fields(statistic)}
    return all(name in named or value == defaults[name] for name, value in parameters_of(statistic).items())


def _columns(statistic: Any) -> Several:
    domain = statistic.domain
    return quoted(domain.private if isinstance(domain, Schema) else [domain.column])


def parameters_of(statistic: Any) -> dict[str, Any]:
    """What the asker chose beside the columns."""
    return {f.name: getattr(statistic, f.name) for f in fields(statistic) if f.init and f.name != "domain"}


def _value(value: Any) -> Any:
    if isinstance(value, tuple):
        return Several([_value(part) for part in value])
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Exact(Fraction(repr(value)))
    return Quoted(str(value))


def _condition(statistic: Any) -> Phrase:
    column = Quoted(names_in(statistic.column))
    if statistic.is_in is not None:
        return Phrase("{column} is {values}", column=column, values=quoted(statistic.is_in, Phrase(" or ")))
    low, high = (Exact(Fraction(repr(end))) for end in statistic.between)
    return Phrase("{column} lies between {low} and {high}", column=column, low=low, high=high)
