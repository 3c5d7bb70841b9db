"""Advice for a wanted margin: the smallest epsilon of each mechanism that gives it, the smallest first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from murmure.advise.document import (
    BITS,
    LEVERAGE,
    caution,
    domain_in_words,
    figure,
    people_in_words,
    written,
)
from murmure.advise.margin import MAX_EPSILON, limit_of, smallest_epsilon
from murmure.advise.ranking import RankBy, Ranking
from murmure.core.domain import Domain
from murmure.core.errors import Phrase, Plural
from murmure.core.estimates.estimate_blocks import population
from murmure.core.estimates.margins import margin_of
from murmure.core.schema import Schema
from murmure.engines.base.progress import with_progress
from murmure.show.document import Document, Items, Number, Table, paragraphs, sentences

Question = Literal["histogram", "mean", "records"]


def rows_at_margin(
    makers: Mapping[str, Callable[[float], Any]],
    label: str,
    variance: Callable[[Any], float | None],
    make_row: Callable[[Any], dict[str, Any]],
    margin: float,
    question: Question,
    may_win: Callable[[str], bool] = lambda name: True,
) -> list[dict[str, Any]]:
    """A row for each mechanism at its smallest epsilon, the best first; those that no epsilon makes so precise, last.

    variance: the one that must fit, None where there is no figure. make_row: all that is known of a mechanism. may_win:
    whether it may be the best.
    """
    unit = 1.0 if question == "mean" else 100.0
    limit = limit_of(margin / unit)
    rows = []
    for [(name, make)] in with_progress([[maker] for maker in makers.items()], len(makers), Phrase("solving epsilon")):
        epsilon = smallest_epsilon(variance, make, limit)
        mechanism = make(MAX_EPSILON if epsilon is None else epsilon)
        figure = variance(mechanism)
        reached = None if figure is None else unit * margin_of(figure)
        rows.append({**make_row(mechanism), label: name, "epsilon": epsilon, "margin": reached, "best": False})

    # Of two mechanisms with one epsilon, the shorter report is better.
    rows.sort(key=lambda row: (row["epsilon"] is None, row["epsilon"] or row["margin"] or 0.0, row["report_bits"]))
    for row in rows:
        if row["epsilon"] is not None and may_win(row[label]):
            row["best"] = True
            break
    return rows


@dataclass(frozen=True)
class MarginAdvice(Ranking):
    """Mechanisms, or solutions for records, by the smallest epsilon that gives the margin; `best` is None if none does.

    The epsilon of a row is None where none up to MAX_EPSILON gives the margin; its other figures are those at that one.
    """

    domain: Domain | Schema
    people: int
    statistic: Question
    rank_by: RankBy
    margin: float  # wanted: percentage points of shares, per cent of the whole of records, the unit of a mean
    rows: list[dict[str, Any]] = field(repr=False)
    known: bool = False  # whether shares were given

    @property
    def label(self) -> str:
        return "solution" if self.statistic == "records" else "mechanism"

    @property
    def best(self) -> Any:
        return next((row for row in self.rows if row["best"]), None)

    def document(self) -> Document:
        """The mechanisms with their epsilons, what the columns mean, and which one to take."""
        details = any(row.get("detail") for row in self.rows)
        head = (
            Phrase("solution") if self.statistic == "records" else Phrase("mechanism"),
            Phrase("epsilon"),
            Phrase("margin"),
            Phrase("bits"),
            Phrase("leverage"),
            *([Phrase("settings")] if details else []),
        )
        cells = tuple(
            (
                row[self.label],
                None if row["epsilon"] is None else Number(row["epsilon"], "plain"),
                figure(row["margin"]),
                Number(float(f"{row['report_bits']:.4g}"), "plain"),
                figure(row["leverage"]),
                *([row["detail"]] if details else []),
            )
            for row in self.rows
        )
        best = None if self.best is None else self.rows.index(self.best)
        legend = (
            Phrase(
                "epsilon: the smallest that gives the margin; none up to {most:g} does where it is missing",
                most=MAX_EPSILON,
            ),
            Phrase("margin: {unit}, at that epsilon or else at {most:g}", unit=self._unit(), most=MAX_EPSILON),
            BITS,
            LEVERAGE,
        )
        people = people_in_words(self.people)
        title = Phrase("A margin of {margin}, from {people}", margin=self._margin(self.margin), people=people)
        texts = paragraphs([self.sentence(), self.caution()])
        return Document(title, (Table("", head, cells, best=best), Items(legend), *texts), kind="MarginAdvice")

    def _unit(self) -> Phrase:
        return {
            "histogram": Phrase("half the width of the 95% interval of a share, in percentage points"),
            "mean": Phrase("half the width of the 95% interval of the mean, in the unit of the column"),
            "records": Phrase(
                "half the width of the 95% interval of a figure, in per cent of the whole: of all people, or of a "
                "number's width"
            ),
        }[self.statistic]

    def _margin(self, value: float) -> Phrase:
        if self.statistic == "mean":
            return Phrase("{margin}", margin=written(value))
        if self.statistic == "records":
            return Phrase("{margin}% of the whole", margin=written(value))
        return Phrase("{margin} percentage points", margin=written(value))

    def _whose(self) -> Phrase:
        if self.rank_by == "var-star":
            return Phrase("the share of a rare answer")
        if self.statistic == "records":
            worst = Phrase("the figures of the worst column, on average")
            return worst if self.rank_by == "worst" else Phrase("all figures, on average")
        if self.statistic == "mean":
            worst = Phrase("the mean, whatever people hold")
            return worst if self.rank_by == "worst" else Phrase("the mean, on average over the values")
        if self.known:
            return Phrase("the shares that were given")
        return Phrase("every share") if self.rank_by == "worst" else Phrase("shares, on average over the answers")

    def _about(self) -> Phrase:
        """Of what, in the words of the domain."""
        if isinstance(self.domain, Schema):
            return Plural("{n} column", "{n} columns", n=len(self.domain.private))
        return Phrase("{domain}", domain=domain_in_words(self.domain))

    def sentence(self) -> Phrase:
        """Which epsilon to take or, if none gives the margin, how near one comes."""
        fields = {"people": people_in_words(self.people), "about": self._about(), "whose": self._whose()}
        whom = Phrase(
            "The margin is {population}; the error of drawing them from a larger population is not included.",
            population=population("fixed"),
        )
        best = self.best
        if best is not None:
            return sentences(
                Phrase(
                    "Of {about}, from {people}: {choice} at epsilon {epsilon:.6g} gives a margin of {margin} for "
                    "{whose}.",
                    choice=best[self.label],
                    epsilon=best["epsilon"],
                    margin=self._margin(best["margin"]),
                    **fields,
                ),
                whom,
            )
        nearest = min((row for row in self.rows if row["margin"] is not None), key=lambda row: row["margin"])
        return sentences(
            Phrase(
                "Of {about}, from {people}: no epsilon up to {most:g} gives a margin of {margin} for {whose}. At "
                "{most:g}, where reports hide next to nothing, {choice} comes nearest, with {nearest}.",
                margin=self._margin(self.margin),
                most=MAX_EPSILON,
                choice=nearest[self.label],
                nearest=self._margin(nearest["margin"]),
                **fields,
            ),
            Phrase("More people help: twice the precision takes four times as many."),
            whom,
        )

    def caution(self) -> Phrase | None:
        """What forged reports could do, where one of them counts for many people."""
        return None if self.best is None else caution(self.rows, self.label)

    def plot(self, target: Any = None) -> Any:
        """The smallest epsilon of each; to an axis, or to an .svg or .png file."""
        from murmure.core.plotting import pyplot
        from murmure.show.figures import Bars
        from murmure.show.plot import draw

        rows = [row for row in self.rows if row["epsilon"] is not None]
        bars = Bars(
            self.document().title,
            tuple(row[self.label] for row in rows),
            ((Phrase("epsilon"), tuple(row["epsilon"] for row in rows)),),
            "",
            Phrase("smallest epsilon that gives the margin"),
            marked=next((i for i, row in enumerate(rows) if row["best"]), None),
        )
        return draw(pyplot(), bars, target)
