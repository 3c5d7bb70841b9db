"""What a question adds up, in plain words of two languages: every sum, and what one row adds to it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from string import Formatter
from typing import Any, Literal

from murmure.catalogue import entries, persisted_name
from murmure.core.catalogue_entries import StatisticEntry
from murmure.core.domain import Categories, Decimals, Domain, Integers, Interval
from murmure.core.schema import Schema
from murmure.statistics.base.statistic import names_in
from murmure.statistics.conditions.disclosure import disclosure_counts
from murmure.statistics.sums import Sums

LanguageCode = Literal["en", "fr"]
QUOTATION_MARKS = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u301d\u301e\u301f\uff02"  # and what looks like them
ROUND_FROM = 10**21  # larger numbers are shown with six digits


@dataclass(frozen=True)
class StudyLanguage:
    """How one language writes numbers and joins words."""

    language: LanguageCode

    def __call__(self, english: str, french: str) -> str:
        return english if self.language == "en" else french

    def number(self, value: Fraction | float | int) -> str:
        """Exact where it is a decimal of up to 18 places; otherwise six digits."""
        exact = Fraction(value)
        places = next((k for k in range(19) if 10**k % exact.denominator == 0), None)
        if places is None or abs(exact) >= ROUND_FROM:
            text = f"{Decimal(exact.numerator) / exact.denominator:.6g}"
        else:
            whole, rest = divmod(abs(exact.numerator) * 10**places // exact.denominator, 10**places)
            text = f"{'-' * (exact < 0)}{whole:,}" + (f".{rest:0{places}}" if places else "")
        return text if self.language == "en" else text.replace(",", "\u202f").replace(".", ",")

    def quote(self, text: str) -> str:
        """What others wrote, in quotation marks that the text cannot close."""
        text = "".join('"' if c in QUOTATION_MARKS else c for c in text)
        return f"“{text}”" if self.language == "en" else f"«\u00a0{text}\u00a0»"

    def listed(self, items: list[str]) -> str:
        if len(items) < 2:
            return "".join(items)
        return f"{', '.join(items[:-1])} {self('and', 'et')} {items[-1]}"

    def domain(self, domain: Domain) -> str:
        """What a column may hold, and what a missing value counts as, if it counts."""
        absent = domain.absent
        counts = self("; nothing counts as {}", " ; rien compte comme {}").format(self.quote(str(absent)))
        return self._holds(domain) + ("" if absent is None else counts)

    def _holds(self, domain: Domain) -> str:
        if isinstance(domain, Integers):
            ends = self.number(domain.low), self.number(domain.high)
            return self("whole numbers from {} to {}", "nombres entiers de {} à {}").format(*ends)
        if isinstance(domain, Interval):
            low, high = (Fraction(repr(end)) for end in (domain.low, domain.high))
            numbers = self("numbers from {} to {}", "nombres de {} à {}").format(self.number(low), self.number(high))
            cells = self("rounded in {} steps of {}", "arrondis en {} pas de {}")
            return f"{numbers}, {cells.format(self.number(domain.cells), self.number((high - low) / domain.cells))}"
        if isinstance(domain, Decimals):
            return self._decimals(domain)
        assert isinstance(domain, Categories)
        if isinstance(domain.values, int):
            counted = self("one of the {} labels from 0 to {}", "une des {} étiquettes de 0 à {}")
            return counted.format(self.number(domain.values), self.number(domain.values - 1))
        return self("one of: {}", "une étiquette parmi : {}").format(", ".join(map(self.quote, domain.labels())))

    def _decimals(self, domain: Decimals) -> str:
        ends = self.number(domain.low_exact), self.number(domain.high_exact)
        numbers = self("numbers from {} to {}", "nombres de {} à {}").format(*ends)
        plural = "s" * (domain.places > 1)
        decimals = self(f"at most {domain.places} decimal{plural}", f"au plus {domain.places} décimale{plural}")
        if domain.rounding == "refuse":
            return f"{numbers}, {self('with', 'avec')} {decimals}"
        return f"{numbers}, {self('rounded to', 'arrondis à')} {decimals}"


def describe_statistic(statistic: Any, say: StudyLanguage) -> tuple[str, list[str]]:
    """What is asked in one sentence, and its sums one by one where that adds something."""
    if isinstance(statistic, Sums):
        total = (
            say("the sum", "la somme") if statistic.width == 1 else say("{} sums", "{} sommes").format(statistic.width)
        )
        return say("{} over all rows:", "{} sur toutes les lignes :").format(total), _sums(statistic, say)
    return _describe(statistic, say) + ".", []


def _sums(statistic: Sums, say: StudyLanguage) -> list[str]:
    out = []
    columns = zip(statistic.expressions, statistic.figures, statistic.bounds, disclosure_counts(statistic), strict=True)
    for expression, term, (low, high), counts in columns:
        if expression == "1":
            out.append(say("the number of rows", "le nombre de lignes"))
        elif term.is_condition:
            fulfil = say("the number of rows that fulfil {}", "le nombre de lignes qui remplissent {}")
            out.append(fulfil.format(say.quote(expression)))
        else:
            adds = say("the sum of {}; one row adds from {} to {}", "la somme de {} ; une ligne ajoute de {} à {}")
            text = adds.format(say.quote(expression), say.number(low), say.number(high))
            out.append(text + _long(len(str(term.high - term.low)), counts, say))
    return out


def _long(digits: int, counts: int, say: StudyLanguage) -> str:
    """A sum of more digits than its columns have can carry more than one number."""
    if counts == 1:
        return ""
    return say(
        "; it takes {} digits, more than its columns have, and counts as {} sums",
        " ; elle prend {} chiffres, plus que n’en ont ses colonnes, et compte pour {} sommes",
    ).format(digits, say.number(counts))


def _describe(statistic: Any, say: StudyLanguage) -> str:
    kind = persisted_name(statistic)
    if kind == "GroupBy":
        groups = say(
            "{}, separately for each value of {} ({} groups)", "{}, séparément pour chaque valeur de {} ({} groupes)"
        )
        return groups.format(
            _describe(statistic.statistic, say), say.quote(names_in(statistic.by)), say.number(statistic.groups)
        )
    if kind == "Where":
        return say("{}, of those rows only where {}", "{}, des seules lignes où {}").format(
            _describe(statistic.statistic, say), _condition(statistic, say)
        )
    values = {name: _value(value, say) for name, value in parameters_of(statistic).items()}
    values |= {"columns": _columns(statistic, say), "width": say.number(statistic.width)}
    return say(*DESCRIPTIONS[kind]).format(**values)


def is_describable(statistic: Any) -> bool:
    """Whether these words say everything: the person who approves must see every number that the asker chose."""
    if type(statistic).__name__ in ("GroupBy", "Where"):
        return not isinstance(statistic.statistic, Sums) and is_describable(statistic.statistic)
    if isinstance(statistic, Sums):
        return True
    words = DESCRIPTIONS.get(persisted_name(statistic))
    return words is not None and all(_is_told(statistic, text) for text in words)


def _is_told(statistic: Any, words: str) -> bool:
    """Whether words name every parameter that the asker chose; whether rows left out are counted, the plan decides."""
    named = {name for _, name, _, _ in Formatter().parse(words)} | {"left_out"}
    defaults = {f.name: f.default for f in fields(statistic)}
    return all(name in named or value == defaults[name] for name, value in parameters_of(statistic).items())


# Statistics that a study can describe, in the words of each (core/catalogue_entries.py).
DESCRIPTIONS = {name: entry.study for name, entry in entries(StatisticEntry).items() if entry.study is not None}


def _columns(statistic: Any, say: StudyLanguage) -> str:
    domain = statistic.domain
    names = domain.private if isinstance(domain, Schema) else [domain.column]
    return say.listed([say.quote(name) for name in names])


def parameters_of(statistic: Any) -> dict[str, Any]:
    """What the asker chose beside the columns."""
    return {f.name: getattr(statistic, f.name) for f in fields(statistic) if f.init and f.name != "domain"}


def _value(value: Any, say: StudyLanguage) -> str:
    if isinstance(value, tuple):
        return say.listed([_value(part, say) for part in value])
    if isinstance(value, int | float) and not isinstance(value, bool):
        return say.number(Fraction(repr(value)))
    return say.quote(str(value))


def _condition(statistic: Any, say: StudyLanguage) -> str:
    name = say.quote(names_in(statistic.column))
    if statistic.is_in is not None:
        return say("{} is {}", "{} vaut {}").format(name, ", ".join(say.quote(str(label)) for label in statistic.is_in))
    low, high = (say.number(Fraction(repr(end))) for end in statistic.between)
    return say("{} lies between {} and {}", "{} est entre {} et {}").format(name, low, high)
