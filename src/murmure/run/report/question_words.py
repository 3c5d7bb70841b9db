"""A question that a curator answers, in words: its kind and columns, its groups, and which rows count."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from murmure.catalogue import entries
from murmure.core.catalogue_entries import StatisticEntry
from murmure.core.domain import Categories
from murmure.core.types import Nested
from murmure.run.report.html_parts import Language
from murmure.statistics.base.statistic import column_names
from murmure.statistics.count import Count
from murmure.statistics.group_by import GroupBy


@dataclass(frozen=True)
class QuestionWords:
    """What was asked, in parts. Without the plan they are parsed from the sentence of the release."""

    kind: str
    columns: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    where: tuple[Any, ...] = ()  # the statistics that select rows; without a plan, their text
    of_labels: bool = False  # a count of rows with one of the labels

    @classmethod
    def of(cls, statistic: Any) -> QuestionWords:
        by: list[str] = []
        where: list[Any] = []
        while isinstance(statistic, Nested):
            if isinstance(statistic, GroupBy):
                by += column_names(statistic.by)
            else:
                where.append(statistic)
            statistic = statistic.statistic
        kind, of_labels = type(statistic).__name__, isinstance(statistic.domain, Categories)
        return cls(kind, statistic.asked_columns, tuple(by), tuple(where), type(statistic) is Count and of_labels)

    @classmethod
    def from_words(cls, kind: str, text: str) -> QuestionWords:
        """From the text of a release (`in_words` of statistic.py): "age by region where sex is 'f'"."""
        columns, *rest = re.split(r"(?:^| )(by|where) ", text)
        parts = list(zip(rest[::2], rest[1::2], strict=True))
        by, where = (tuple(part for word, part in parts if word == key) for key in ("by", "where"))
        return cls(kind, (columns,) if columns else (), by, where)

    @property
    def _entry(self) -> StatisticEntry:
        """What the statistic says about itself; without words, its name is shown."""
        return entries(StatisticEntry).get(self.kind, StatisticEntry())

    @property
    def ungrouped(self) -> bool:
        """Whether figures are named after what they are ("mean"), and not after groups."""
        return not self.by and self.kind != "GroupBy"

    def title(self, w: Language) -> str:
        """A heading, as text."""
        text = w(*(self._entry.title or (self.kind, self.kind)))
        if self.kind == "Marginals":
            count = len(self.columns)
            text = w(f"{count} column{'s' * (count != 1)}", f"{count} colonne{'s' * (count != 1)}")
        elif "{}" in text:
            named = w(" and ", " et ").join(self.columns)
            text = text.format(named) if named else w(*(self._entry.bare or (self.kind, self.kind)))
        text += w(" by ", " par ") + w(" and ", " et ").join(self.by) if self.by else ""
        for condition in self.where:
            text += w(", where ", ", où ") + _condition_text(condition, w)
        return text

    def sentence(self, w: Language) -> str:
        """What is asked, as text."""
        text = w(*(self._entry.sentence or (self.kind, self.kind)))
        if "{}" in text:
            text = text.format(w(" and ", " et ").join(self.columns) or w("the question", "la question"))
        if self.of_labels:
            named = " ".join(self.columns) or w("the question", "la question")
            text = w(f"How many hold one of the labels of {named}", f"Combien ont une des étiquettes de {named}")
        if self.by:
            keys = w(" and ", " et ").join(self.by)
            text += w(f", for every value of {keys}", f", pour chaque valeur de {keys}")
        for condition in self.where:
            text += w(", of rows where ", ", pour les lignes où ") + _condition_text(condition, w)
        return text + "."


def _condition_text(where: Any, w: Language) -> str:
    if isinstance(where, str):
        text: str = where
        if w.french:
            text = re.sub(
                r" lies between ([\d.e+-]+) and ([\d.e+-]+)$",
                lambda match: " va de {} à {}".format(*(w.plain(float(end)) for end in match.groups())),
                text,
            )
            text = re.sub(r" is (['\"\[\d-].*)$", r" vaut \1", text)
        return text
    name = (column_names(where.column) or (w("it", "elle"),))[0]
    if where.between is not None:
        low, high = (w.plain(float(end)) for end in where.between)
        return w(f"{name} is from {low} to {high}", f"{name} va de {low} à {high}")
    values = [w.in_quotes(value) for value in where.is_in]
    return name + w(" is ", " vaut ") + w(" or ", " ou ").join(values)
