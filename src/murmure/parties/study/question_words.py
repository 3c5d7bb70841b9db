"""What a question adds up, in plain words of two languages: every sum, and what one row adds to it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from murmure.catalogue import persisted_name
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
        absent = getattr(domain, "absent", None)
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
    values = dict(columns=_columns(statistic, say), width=say.number(statistic.width), parts=_parts(statistic, say))
    return say(*DESCRIPTIONS[kind]).format(**values)


def is_describable(statistic: Any) -> bool:
    """Whether these words say everything: the person who approves must see every number that the asker chose."""
    if type(statistic).__name__ in ("GroupBy", "Where"):
        return not isinstance(statistic.statistic, Sums) and is_describable(statistic.statistic)
    return isinstance(statistic, Sums) or persisted_name(statistic) in DESCRIPTIONS


DESCRIPTIONS: dict[str, tuple[str, str]] = {
    "Histogram": (
        "how many rows hold each of the {width} values of {columns}",
        "combien de lignes portent chacune des {width} valeurs de {columns}",
    ),
    "Mean": (
        "the mean of {columns}: how many rows there are, the sum of their values and the sum of their squares",
        "la moyenne de {columns} : le nombre de lignes, la somme des valeurs et la somme de leurs carrés",
    ),
    "Variance": (
        "the spread (variance) of {columns}: how many rows there are, the sum of their values and of their squares",
        "la dispersion (variance) de {columns} : le nombre de lignes, la somme des valeurs et celle de leurs carrés",
    ),
    "Sum": ("the sum of {columns}, and how many rows there are", "la somme de {columns}, et le nombre de lignes"),
    "Count": ("how many rows there are (of {columns})", "combien il y a de lignes (de {columns})"),
    "Rows": ("how many rows there are (of {columns})", "combien il y a de lignes (de {columns})"),
    "Quantile": (
        "the values of {columns} below which these parts of the rows lie: {parts} (quantiles), read off {width} counts "
        "of rows",
        "les valeurs de {columns} sous lesquelles se trouvent ces parts des lignes : {parts} (quantiles), lues sur "
        "{width} comptages de lignes",
    ),
    "Pair": (
        "how many rows hold each of the {width} combinations of values of {columns}",
        "combien de lignes portent chacune des {width} combinaisons de valeurs de {columns}",
    ),
    "Marginals": (
        "how many rows hold each value, column by column, of {columns}",
        "combien de lignes portent chaque valeur, colonne par colonne, de {columns}",
    ),
    "Mode": (
        "the commonest value of {columns}, from how many rows hold each of its {width} values",
        "la valeur la plus fréquente de {columns}, d’après le nombre de lignes qui portent chacune de ses {width} "
        "valeurs",
    ),
}


def _columns(statistic: Any, say: StudyLanguage) -> str:
    """The columns of a question; a pair may be about two columns of a wider table."""
    domain = statistic.domain
    if type(statistic).__name__ == "Pair":
        names = [statistic.first, statistic.second]
    elif isinstance(domain, Schema):
        names = list(domain.private)
    else:
        names = [domain.column]
    return say.listed([say.quote(name) for name in names])


def _parts(statistic: Any, say: StudyLanguage) -> str:
    q = getattr(statistic, "q", ())
    return say.listed([say.number(Fraction(repr(part))) for part in (q if isinstance(q, tuple) else (q,))])


def _condition(statistic: Any, say: StudyLanguage) -> str:
    name = say.quote(names_in(statistic.column))
    if statistic.is_in is not None:
        return say("{} is {}", "{} vaut {}").format(name, ", ".join(say.quote(str(label)) for label in statistic.is_in))
    low, high = (say.number(Fraction(repr(end))) for end in statistic.between)
    return say("{} lies between {} and {}", "{} est entre {} et {}").format(name, low, high)
