"""The instruction card of a poll: what to do, the probability tree, what an answer gives away, and a tally sheet.

Its probabilities are those of the device's faces (the tree) and of the plan's law (the odds). A card promises what the
certificate says and no more: an answer moves the odds, by at most the factor that is printed.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from murmure.advise.document import figure, people_in_words
from murmure.advise.poll.devices import DeviceDraw, FaceRule
from murmure.core.errors import Phrase
from murmure.core.estimates.estimate_blocks import population
from murmure.run.report.certificate_words import promise
from murmure.show.document import (
    Block,
    Branch,
    Document,
    Facts,
    Items,
    Listing,
    Number,
    Paragraph,
    Section,
    Shown,
    Table,
    TallySheet,
    Tree,
    sentences,
)
from murmure.show.phrase import Code, Quoted, Several, Strong

if TYPE_CHECKING:
    from murmure.advise.poll.design import DeviceChoice, PollDesign

PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))  # what somebody may have thought before
MAX_BRANCHES = 6  # of a draw that names answers; more of them are one branch of the tree
MAX_DENOMINATOR = 99  # fractions with a larger one are written in per cent
BOXES, FEW_ANSWERS = (75, 25), 4  # of each answer on a sheet, for few answers and for more


@dataclass(frozen=True)
class PollCard(Shown):
    """A card to print: a page for the person who answers, and a page for whoever asks."""

    design: PollDesign
    choice: DeviceChoice
    plan_file: str = "plan.json"  # where the plan was written, for the command that counts

    @property
    def labels(self) -> list[str]:
        return self.design.domain.labels()

    @property
    def draws(self) -> tuple[DeviceDraw, ...]:
        return self.choice.device.draws(len(self.labels))

    def document(self) -> Document:
        blocks = (*self._for_the_person(), *self._for_the_interviewer())
        return Document(self.design.question, blocks, kind="PollCard")

    # -- the page of the person ----------------------------------------------------------------------------------------

    def _for_the_person(self) -> Iterator[Block]:
        device = self.choice.device
        yield Paragraph(
            Phrase(
                "You answer with {device}. Whether you say what is true or what chance tells you, only you know.",
                device=device.title,
            ),
            "motto",
        )
        yield Facts(
            (
                (Phrase("the answers"), Phrase("{answers}", answers=Several(map(Quoted, self.labels), Phrase(" or ")))),
                (Phrase("you need"), device.needs(len(self.labels))),
            )
        )
        yield Section(
            Phrase("What to do"),
            (
                Paragraph(Phrase("Let nobody see what comes up. Then say one of the answers, and nothing more.")),
                Items((*self.steps(), *([device.after] if device.after else [])), numbered=True),
            ),
        )
        yield Section(Phrase("How likely each path is"), (self.tree(),))
        yield Section(Phrase("What your answer tells about you"), tuple(self._conclusions()))

    def steps(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """What to do, and what each face asks for."""
        for number, draw in enumerate(self.draws, 1):
            rules = draw.rules
            if draw.answers_in_words is not None:
                rules = tuple(rule for rule in rules if not isinstance(rule.then, int))
            lines = [self._instruction(rule, number) for rule in rules]
            yield draw.do, (*lines, *([draw.answers_in_words] if draw.answers_in_words else []))

    def _instruction(self, rule: FaceRule, number: int) -> Phrase:
        if rule.then == "truth":
            return Phrase("{event}: answer the question truthfully.", event=Strong(rule.event))
        if rule.then == "next":
            return Phrase("{event}: go on to step {number}.", event=Strong(rule.event), number=number + 1)
        label = Quoted(self.labels[rule.then])
        return Phrase("{event}: say {answer}, whatever is true.", event=Strong(rule.event), answer=label)

    def tree(self) -> Tree:
        """Every path, with its probability."""
        return Tree("", self.draws[0].do, self._branches(0, Fraction(1)))

    def _branches(self, at: int, so_far: Fraction) -> tuple[Branch, ...]:
        draw, out = self.draws[at], []
        named = [rule for rule in draw.rules if isinstance(rule.then, int)]
        for rule in draw.rules:
            chance = draw.chance(rule)
            if rule.then == "next":
                inner = self._branches(at + 1, so_far * chance)
                out.append(Branch(in_words(chance), rule.event, inner))
            elif rule.then == "truth":
                event = Phrase("{event}: the truth", event=rule.event)
                out.append(Branch(in_words(chance), event, leaf=in_words(so_far * chance)))
            elif len(named) <= MAX_BRANCHES:
                event = Phrase("{event}: {answer}", event=rule.event, answer=Quoted(self.labels[rule.then]))
                out.append(Branch(in_words(chance), event, leaf=in_words(so_far * chance)))
        if len(named) > MAX_BRANCHES:
            each = draw.chance(named[0])
            event = Phrase("One of the {n} answers, each with {chance}", n=len(named), chance=in_words(each))
            whole = sum((draw.chance(rule) for rule in named), Fraction(0))
            out.append(Branch(in_words(whole), event, leaf=in_words(so_far * whole)))
        return tuple(out)

    def _conclusions(self) -> Iterator[Block]:
        rows = []
        for report, label in enumerate(self.labels):
            p, q = self.odds(report)
            beliefs = [sure_at_most(prior * p / (prior * p + (1 - prior) * q)) for prior in PRIORS]
            rows.append((label, factor(p / q), *(Number(float(belief), "share") for belief in beliefs)))
        before = [Phrase("from {prior:.0%}", prior=float(prior)) for prior in PRIORS]
        alike = len({row[1:] for row in rows}) == 1 and len(rows) > 2
        if alike:  # one line says it for all answers
            rows = [(Phrase("any answer"), *rows[0][1:])]
        title = Phrase("How sure somebody becomes who hears you")
        yield Table(title, (Phrase("you say"), Phrase("likelier if true"), *before), tuple(rows))
        yield Paragraph(
            Phrase(
                "Somebody who was {prior:.0%} sure that an answer is true of you, and hears you say it, becomes "
                "{after:.1%} sure at most. One answer proves nothing, but it moves the odds.",
                prior=float(PRIORS[1]),
                after=max(float(row[-2].value) for row in rows),
            ),
            "note",
        )
        yield Paragraph(promise(self.choice.certificate))

    def odds(self, report: int) -> tuple[Fraction, Fraction]:
        """How likely this report is from somebody who holds it, and from somebody who does not: at most, at least."""
        channel = self.choice.mechanism.channel
        others = [channel.prob(x, report) for x in range(len(self.labels)) if x != report]
        return channel.prob(report, report), min(others)

    # -- the page of the interviewer -----------------------------------------------------------------------------------

    def _for_the_interviewer(self) -> Iterator[Block]:
        design, choice = self.design, self.choice
        advice: tuple[tuple[str, tuple[str, ...]], ...] = (
            (
                _bold(Phrase("On paper")),
                (
                    Phrase("Hand over the first page and the device. Turn away until the person has an answer."),
                    Phrase("Tick what is said, and nothing else: no name, no number, no order."),
                ),
            ),
            (
                _bold(Phrase("By telephone")),
                (
                    Phrase(
                        "Ask the person to fetch what is needed: {needs}.", needs=choice.device.needs(len(self.labels))
                    ),
                    Phrase("Read the question, then the steps, one by one. Wait after each of them."),
                    Phrase("Never ask what the device showed, and do not comment on the answer."),
                ),
            ),
            (
                _bold(Phrase("What you may say")),
                (
                    Phrase(
                        "“Your answer alone does not show whether it is true. It changes the odds, as the card says.”"
                    ),
                    Phrase("“We count all answers together, and know how many of them are due to chance.”"),
                ),
            ),
            (
                _bold(Phrase("What you must not promise")),
                (
                    Phrase("That nobody can ever conclude anything: the odds move with every answer."),
                    Phrase("That it stays so when people are asked again: each further answer adds epsilon."),
                    Phrase("Any protection for somebody whose device was seen by others."),
                ),
            ),
        )
        if choice.certificate.assumption:
            assumption = Phrase("Any protection unless {assumption}.", assumption=choice.certificate.assumption)
            advice = (*advice[:-1], (advice[-1][0], (*advice[-1][1], assumption)))
        remark = [Paragraph(choice.device.remark, "note")] if choice.device.remark else []
        yield Section(Phrase("For the interviewer"), (Items(advice), *remark), new_page=True)
        boxes = min(design.people, BOXES[0] if len(self.labels) <= FEW_ANSWERS else BOXES[1])
        full = Phrase("When a row is full, take another copy of this page.") if boxes < design.people else None
        shown = self.labels if len(self.labels) <= FEW_ANSWERS else self.labels[:2]  # two show how to go on
        counts = ",".join([f"{label}=..." for label in shown] + ["..."] * (len(shown) < len(self.labels)))
        yield Section(
            Phrase("Tally sheet"),
            (
                TallySheet(tuple(self.labels), boxes),
                *([Paragraph(full, "note")] if full else []),
                Facts(
                    (
                        (Phrase("people"), Number(design.people)),
                        (Phrase("epsilon"), Number(choice.certificate.epsilon, "fixed", 3)),
                        (Phrase("margin, in points"), figure(choice.margin)),
                        (Phrase("device"), choice.device.name),
                    )
                ),
                Paragraph(sentences(self._about_margin(), self._about_plan()), "note"),
                Listing(f"murmure poll tally --plan {shlex.quote(self.plan_file)} --counts {shlex.quote(counts)}"),
            ),
        )

    def _about_margin(self) -> Phrase:
        return Phrase(
            "The margin is half the width of the {level:.6g}% interval at the share where it is widest, with {people}, "
            "{population}.",
            level=100 * self.design.level,
            people=people_in_words(self.design.people),
            population=population(self.design.target),
        )

    def _about_plan(self) -> Phrase:
        return Phrase(
            "The tally is only right for this device and these answers, which the plan records: {plan}.",
            plan=Code(self.choice.plan.digest),
        )


def sure_at_most(belief: Fraction) -> Fraction:
    """Rounded up to a tenth of a per cent: a card must not promise more than is true."""
    return Fraction(math.ceil(1000 * belief - Fraction(1, 10**6)), 1000)


def _bold(text: str) -> Phrase:
    return Phrase("{text}", text=Strong(text))


def in_words(chance: Fraction) -> str:
    """1/4; a fraction that nobody reads at a glance in per cent."""
    if chance.denominator <= MAX_DENOMINATOR:
        return str(chance)
    return Phrase("{chance:.1%}", chance=float(chance))


def factor(ratio: Fraction) -> Any:
    """How many times likelier, to a tenth."""
    return Phrase("{ratio:.3g} times", ratio=float(ratio))
