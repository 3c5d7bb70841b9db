"""A question in words: its kind and columns, its groups, and which rows count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from murmure.catalogue import entries
from murmure.core.catalogue_entries import StatisticEntry
from murmure.core.domain import Categories
from murmure.core.types import Nested
from murmure.show.phrase import Phrase, Plural, Quoted, Several
from murmure.statistics.base.statistic import column_names
from murmure.statistics.count import Count
from murmure.statistics.group_by import GroupBy

THE_QUESTION = Phrase("the question")


@dataclass(frozen=True)
class QuestionWords:
    """What was asked, in parts: those of the plan, or those that the release says."""

    kind: str
    columns: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    where: tuple[Phrase, ...] = ()
    of_labels: bool = False  # a count of rows with one of the labels

    @classmethod
    def of(cls, statistic: Any) -> QuestionWords:
        by: list[str] = []
        where: list[Phrase] = []
        while isinstance(statistic, Nested):
            if isinstance(statistic, GroupBy):
                by += column_names(statistic.by)
            else:
                where.append(_condition(statistic))
            statistic = statistic.statistic
        kind, of_labels = type(statistic).__name__, isinstance(statistic.domain, Categories)
        return cls(kind, statistic.asked_columns, tuple(by), tuple(where), type(statistic) is Count and of_labels)

    @classmethod
    def of_release(cls, about: str) -> QuestionWords:
        """From the sentence of a release (Plan.describe), which holds its parts."""
        by: list[str] = []
        where: list[Phrase] = []
        while isinstance(about, Phrase) and ("question" in about.fields or "asked" in about.fields):
            fields = about.fields
            if "keys" in fields:
                by.append(fields["keys"])
            elif "value" in fields:
                where.append(Phrase("{column} is {values}", column=fields["column"], values=fields["value"]))
            elif "low" in fields:
                where.append(_between(fields["column"], fields["low"], fields["high"]))
            about = fields.get("asked") or fields["question"]
        fields = about.fields if isinstance(about, Phrase) else {}
        columns = tuple(fields["columns"].items) if "columns" in fields else ()
        return cls(fields.get("kind", str(about)), columns, tuple(by), tuple(where))

    @property
    def entry(self) -> StatisticEntry:
        """What the statistic says about itself; without words, its name is shown."""
        return entries(StatisticEntry).get(self.kind, StatisticEntry())

    @property
    def ungrouped(self) -> bool:
        """Whether figures are named after what they are ("mean"), and not after groups."""
        return not self.by and self.kind != "GroupBy"

    @property
    def title(self) -> str:
        """A heading."""
        if self.kind == "Marginals":
            text: str = Plural("{n} column", "{n} columns", n=len(self.columns))
        elif self.columns or not self.entry.bare:
            text = self._sentence_of(self.entry.title)
        else:
            text = self._sentence_of(self.entry.bare)
        if self.by:
            text = Phrase("{question} by {keys}", question=text, keys=Several(self.by))
        for condition in self.where:
            text = Phrase("{question}, where {condition}", question=text, condition=condition)
        return text

    @property
    def sentence(self) -> Phrase:
        """What is asked."""
        text = self._sentence_of(self.entry.sentence)
        if self.of_labels:
            named = Several(self.columns) if self.columns else THE_QUESTION
            text = Phrase("How many hold one of the labels of {column}", column=named)
        if self.by:
            text = Phrase("{question}, for every value of {keys}", question=text, keys=Several(self.by))
        for condition in self.where:
            text = Phrase("{question}, of rows where {condition}", question=text, condition=condition)
        return Phrase("{question}.", question=text)

    def _sentence_of(self, template: str | None) -> str:
        if template is None:
            return self.kind
        fields = {"column": Several(self.columns) if self.columns else THE_QUESTION}
        return Phrase(template, **fields)


def _condition(where: Any) -> Phrase:
    """Which rows count."""
    name = next(iter(column_names(where.column)), Phrase("it"))
    if where.between is not None:
        return _between(name, *(end if isinstance(end, str) else float(end) for end in where.between))
    values = Several([Quoted(value) for value in where.is_in], Phrase(" or "))
    return Phrase("{column} is {values}", column=name, values=values)


def _between(column: str, low: Any, high: Any) -> Phrase:
    low, high = (float(end) if isinstance(end, int | float) else end for end in (low, high))
    if isinstance(low, float) and isinstance(high, float):
        return Phrase("{column} is from {low:.6g} to {high:.6g}", column=column, low=low, high=high)
    return Phrase("{column} is from {low} to {high}", column=column, low=low, high=high)
