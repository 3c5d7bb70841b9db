"""What a class reads about its room, on the projector and in the terminal: every sentence, once.

Each must be true of what room.py and room_attack.py compute, for every kind of question.
"""

from __future__ import annotations

from collections.abc import Iterator

from murmure.collector.service.results import LEVEL
from murmure.collector.service.room import Room, RoomFigure
from murmure.collector.service.room_attack import RepeatedGuess, RoomAttack
from murmure.collector.service.short_numbers import bound, short
from murmure.core.errors import Phrase, Plural
from murmure.show.document import Block, Document, Facts, IntervalRow, Intervals, Section, Table, paragraphs, sentences

SMALL = 2.0  # right guesses of 100: below, a whole number says too little


class RoomWords:
    """The sentences about one room."""

    def __init__(self, room: Room) -> None:
        self.room, self.attack = room, RoomAttack(room)

    # -- the estimate

    def value(self, value: float) -> Phrase:
        if self.room.question.by_mean:
            return short(value, 3)
        return Phrase("{share:.0%}", share=value)

    def span(self, figure: RoomFigure) -> Phrase:
        return Phrase("{low} to {high}", low=self.value(figure.low), high=self.value(figure.high))

    @property
    def subject(self) -> Phrase:
        """The beginning of the sentence that the large figure ends."""
        if self.room.headline is None:
            return Phrase("The shares lie")
        if self.room.question.by_mean:
            return Phrase("The mean lies")
        return Phrase("The share of “{answer}” lies", answer=self.room.headline.label)

    @property
    def headline(self) -> Phrase | None:
        figure = self.room.headline
        if figure is None:
            return None
        if figure.unlikely:
            return Phrase("near {value}, if at all", value=self.value(figure.low))
        return Phrase("between {low} and {high}", low=self.value(figure.low), high=self.value(figure.high))

    @property
    def best(self) -> Phrase | None:
        figure = self.room.headline
        return None if figure is None else Phrase("best estimate: {value}", value=self.value(figure.estimate))

    @property
    def not_pictured(self) -> Phrase | None:
        hidden = len(self.room.figures) - len(self.room.pictured)
        if self.room.headline is not None or not hidden:
            return None
        return Plural(
            "{n:,} more answer is on the page of the survey.",
            "{n:,} more answers are on the page of the survey.",
            n=hidden,
        )

    @property
    def why(self) -> Phrase:
        """The title of `reasons`."""
        return Phrase("Why so wide?")

    def reasons(self) -> list[Phrase]:
        """Why the interval is so wide, and what it means: two paragraphs."""
        return [sentences(*self._hint()), sentences(*self._openness())]

    def _hint(self) -> Iterator[Phrase]:
        if self.room.hundred is None:
            yield Phrase("Each report is only a hint: a number somewhere around the true one, or far from it.")
            return
        p, q = self.room.hundred
        yield Phrase("Each report is only a hint.")
        yield Phrase(
            "Of 100 people who hold an answer, about {p:g} send a report that fits it; of 100 who do not hold it, "
            "about {q:g} do so too.",
            p=_rounded(p),
            q=_rounded(q),
        )
        if self.room.shown_by_some:
            yield Phrase("This applies to each question that a report covers.")

    def _openness(self) -> Iterator[Phrase]:
        room = self.room
        yield Plural(
            "With {n:,} answer the coins alone leave this much open.",
            "With {n:,} answers the coins alone leave this much open.",
            n=room.n,
        )
        yield Phrase("Four times as many answers make such an interval about half as wide.")
        if room.holds_exactly:
            yield Phrase(
                "At least 95 times in 100 it holds the truth about those who answered, if all follow the coin."
            )
        else:
            yield Phrase("About 95 times in 100 it holds the truth about those who answered, if all follow the coin.")
        if any(figure.unlikely for figure in room.pictured):
            yield Phrase(
                "Even what fits best would rarely give these reports: chance can do that, and so can people who do not "
                "follow the coin."
            )
        elif room.headline is not None and room.headline.cut:
            yield Phrase(
                "The reports alone give {raw}, by chance: it is shown as {shown}.",
                raw=self.value(room.headline.raw),
                shown=self.value(room.headline.estimate),
            )

    # -- the attack

    @property
    def attack_title(self) -> Phrase:
        return Phrase("The room attacks its own reports")

    def rate(self, of_100: float) -> Phrase:
        if 0 < of_100 < SMALL:
            return Phrase("{n:.2g} in 100", n=of_100)
        if of_100 >= 99.5:  # of a report that proves nothing, it is never all of them
            return Phrase("more than 99 in 100")
        return Phrase("{n:.0f} in 100", n=of_100)

    def guessing(self) -> list[Phrase]:
        """About the best guess from one report, and about any guess: paragraphs."""
        attack = self.attack
        out: list[Phrase] = []
        if attack.guess is not None:
            out.append(
                Phrase(
                    "How often the best guess about a person is right, if the shares are about as estimated. Somebody "
                    "who knows these shares, the law and one report, and nothing else about the person, cannot do "
                    "better."
                )
            )
            if self.room.results.record.survey.of_records:
                out.append(Phrase("Here answers to different questions are assumed to be unrelated."))
            if not attack.gains:
                out.append(
                    Phrase(
                        "Here reports do not help: “{answer}” stays the best guess, whatever somebody reports.",
                        answer=attack.likeliest,
                    )
                )
        if self.room.results.record.survey.memoised:
            out.append(
                Phrase(
                    "Whatever somebody knew before, all reports of a device change the odds between two answers by a "
                    "factor of {odds:.4g} at most, while its answer stays the same.",
                    odds=attack.odds,
                )
            )
        else:
            out.append(
                Phrase(
                    "Whatever somebody knew before, a report changes the odds between two answers by a factor of "
                    "{odds:.4g} at most.",
                    odds=attack.odds,
                )
            )
        return out

    @property
    def with_report(self) -> Phrase:
        return Phrase("right with the report")

    @property
    def without_report(self) -> Phrase:
        return Phrase("right without it")

    @property
    def repeated_title(self) -> Phrase:
        if self.room.results.record.survey.of_records:
            return Phrase("If everybody had sent several reports about this question")
        return Phrase("If everybody had answered several times")

    def times(self, row: RepeatedGuess) -> Phrase:
        return Phrase("once") if row.times == 1 else Phrase("{n} times", n=row.times)

    def averaging(self) -> Phrase:
        out = [
            Phrase(
                "Guesses that are right when all answers were equally likely before ({chance:.0f} in 100 without "
                "reports). New draws average the coin away: that is why a device draws once.",
                chance=self.attack.chance,
            )
        ]
        kept = self.attack.repeated[-1].kept
        if kept is not None:
            out.append(
                Phrase(
                    "In this survey a device keeps its first draw and answers later waves from it: {times} such "
                    "reports give {right}.",
                    times=self.attack.repeated[-1].times,
                    right=self.rate(kept),
                )
            )
        return sentences(*out)

    @property
    def forged_title(self) -> Phrase:
        return Plural("If {n} of you forges the report", "If {n} of you forge their reports", n=self.attack.forgers)

    def forging(self) -> Phrase:
        """How far forged reports move the figure: compared with honest ones, on average over the coins."""
        attack, by_mean = self.attack, self.room.question.by_mean
        assert attack.counts_for is not None and attack.forged is not None
        out = [
            Phrase(
                "A forger sends what suits, whatever the coin says. That counts for up to {people} people who "
                "change their answers.",
                people=bound(attack.counts_for, 3),
            )
        ]
        if by_mean:
            out.append(
                Plural(
                    "{n} of {all} moves the mean by up to {moved} on average.",
                    "{n} of {all} move the mean by up to {moved} on average.",
                    n=attack.forgers,
                    all=self.room.n,
                    moved=bound(attack.forged),
                )
            )
        else:
            out.append(
                Plural(
                    "{n} of {all} moves a share by up to {moved} points on average.",
                    "{n} of {all} move a share by up to {moved} points on average.",
                    n=attack.forgers,
                    all=self.room.n,
                    moved=bound(100 * attack.forged),
                )
            )
        return sentences(*out, Phrase("Nobody can prove that a coin was tossed."))


def _rounded(of_100: float) -> float:
    return float(f"{of_100:.2g}") if of_100 < SMALL else round(of_100)


# -- the same for a terminal ----------------------------------------------------------------------------------------


def room_document(room: Room) -> Document:
    """What a lesson ends with: the estimate, and what an attack on these reports finds."""
    words, survey = RoomWords(room), room.results.record.survey
    facts = Facts(((Phrase("answers"), room.n), (Phrase("answers expected"), survey.people)))
    question = room.question.text.phrase
    return Document(question, (facts, _estimate(words), _attack(words)), "Room")


def _estimate(words: RoomWords) -> Section:
    room = words.room
    rows = tuple(IntervalRow(one.label, one.estimate, one.low, one.high) for one in room.figures)
    if room.question.by_mean:
        figures = Intervals("", rows, unit="value", level=LEVEL, bounds=room.range)
    else:
        figures = Intervals("", rows, unit="share", level=LEVEL, label=Phrase("answer"))
    return Section(Phrase("What the room says"), (figures, *paragraphs(words.reasons())))


def _attack(words: RoomWords) -> Section:
    attack = words.attack
    blocks: list[Block] = []
    if attack.guess is not None:
        right = [words.rate(one) for one in attack.guess]
        blocks.append(Facts(((words.with_report, right[0]), (words.without_report, right[1]))))
    blocks += paragraphs(words.guessing())
    if attack.guesses:
        head = (Phrase("report"), Phrase("how many"), Phrase("best guess"), Phrase("guess is right"))
        listed = tuple((one.report, one.count, one.guess, words.rate(one.right)) for one in attack.guesses)
        blocks.append(Table("", head, listed))
    if attack.repeated:
        steps = tuple((words.times(one), words.rate(one.fresh)) for one in attack.repeated)
        facts: list[Block] = [Facts(steps), *paragraphs([words.averaging()])]
        blocks.append(Section(words.repeated_title, tuple(facts)))
    if attack.counts_for is not None:
        blocks.append(Section(words.forged_title, tuple(paragraphs([words.forging()]))))
    return Section(words.attack_title, tuple(blocks))
