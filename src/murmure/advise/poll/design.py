"""`design_poll`: which real devices fit a question, what each certifies, and how precise so many people make it.

Epsilon is read off the law of the device's mechanism by `certify`. The margin is half the width of the interval, from
the exact variance of that law, at the share for which it is largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from murmure.advise.document import figure, people_in_words, written
from murmure.advise.poll.devices import DEVICES, MAX_ANSWERS, Device, device_named
from murmure.advise.ranking import MAX_MARGIN, check_people
from murmure.certify.certificate import certify
from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.estimates.estimate import check_level, check_target
from murmure.core.estimates.estimate_blocks import population
from murmure.core.estimates.margins import LEVEL, check_margin, margin_of, people_for, worst_variance
from murmure.core.fixed import positive_epsilon
from murmure.core.notices import with_assumption
from murmure.core.types import Certificate, Target
from murmure.plan.plan import Plan
from murmure.run.report.certificate_words import max_certainty
from murmure.show.document import Document, Items, Number, Shown, Table, paragraphs
from murmure.show.phrase import Quoted

if TYPE_CHECKING:
    from murmure.advise.poll.card import PollCard


@dataclass(frozen=True)
class DeviceChoice:
    """One device for the answers of a poll."""

    device: Device
    plan: Plan
    certificate: Certificate
    margin: float  # in percentage points, with the people of the poll
    people_needed: int | None  # for the margin that is wanted
    meets: bool

    @property
    def mechanism(self) -> Any:
        return self.plan.person


@dataclass(frozen=True)
class PollDesign(Shown):
    """The devices for a question, with what each protects and how precise it is; `best` meets what was wanted."""

    question: str
    domain: Categories
    people: int
    margin: float | None  # wanted, in percentage points
    epsilon: float | None  # wanted at most
    level: float
    target: Target
    choices: tuple[DeviceChoice, ...]

    @property
    def best(self) -> DeviceChoice | None:
        """Of those that meet what was wanted: the smallest epsilon for a margin, or the smallest margin."""
        fitting = [choice for choice in self.choices if choice.meets]
        by_margin = self.margin is None

        def order(choice: DeviceChoice) -> tuple[float, float]:
            epsilon, margin = choice.certificate.epsilon, choice.margin
            return (margin, epsilon) if by_margin else (epsilon, margin)

        return min(fitting, key=order) if fitting else None

    def choice(self, name: str) -> DeviceChoice:
        """The device of this name, whether it meets what was wanted or not."""
        device = device_named(name, self.domain.size)
        return next(choice for choice in self.choices if choice.device is device)

    def card(self, choice: DeviceChoice, plan_file: Path | None = None) -> PollCard:
        """The instruction card of a device. plan_file: where its plan was written."""
        from murmure.advise.poll.card import PollCard

        return PollCard(self, choice, "plan.json" if plan_file is None else plan_file.name)

    def document(self) -> Document:
        """The devices side by side, and which one to take."""
        head = (
            Phrase("device"),
            Phrase("epsilon"),
            Phrase("sure at most"),
            Phrase("margin"),
            *([Phrase("people")] if self.margin is not None else []),
            Phrase("meets"),
        )
        rows = tuple(self._row(choice) for choice in self.choices)
        best = self.best
        table = Table("", head, rows, best=None if best is None else self.choices.index(best))
        legend = [
            Phrase("epsilon: certified, read off the law of the device"),
            Phrase("sure at most: how sure someone who thought two answers equally likely can become of one of them"),
            Phrase(
                "margin: half the width of the {level:.6g}% interval in percentage points, at the share where it is "
                "widest, {population}",
                level=100 * self.level,
                population=population(self.target),
            ),
        ]
        if self.margin is not None:
            legend.append(
                Phrase("people: how many give the margin of {margin:g} percentage points", margin=self.margin)
            )
        remarks = [choice.device.remark for choice in self.choices if choice.device.remark]
        things = [
            Phrase("{device}: {needs}", device=choice.device.name, needs=choice.device.needs(self.domain.size))
            for choice in self.choices
        ]
        title = Phrase(
            "{question}, asked of {people}", question=Quoted(self.question), people=people_in_words(self.people)
        )
        notes = paragraphs([self.sentence(), None if best is None else self.expected(best), *remarks])
        return Document(title, (table, Items(tuple(legend)), Items(tuple(things)), *notes), kind="PollDesign")

    def _row(self, choice: DeviceChoice) -> tuple[Any, ...]:
        certificate = choice.certificate
        return (
            choice.device.name,
            Number(certificate.epsilon, "fixed", 3),
            Phrase("{certainty:g} in 100", certainty=max_certainty(certificate.epsilon)),
            figure(choice.margin),
            *([Number(choice.people_needed)] if self.margin is not None else []),
            Phrase("yes") if choice.meets else Phrase("no"),
        )

    def wanted(self) -> Phrase:
        """What was asked for, in words."""
        margin = Phrase("a margin of {margin:g} percentage points", margin=self.margin) if self.margin else None
        epsilon = Phrase("an epsilon of at most {epsilon:.6g}", epsilon=self.epsilon) if self.epsilon else None
        if margin and epsilon:
            return Phrase("{margin} and {epsilon}", margin=margin, epsilon=epsilon)
        return margin or epsilon or Phrase("nothing in particular")

    def sentence(self) -> Phrase:
        """Which device to take or, if none will do, what would help."""
        best = self.best
        if best is not None:
            return Phrase(
                "Take {device}: with {people} its margin is {margin} percentage points, and its certified epsilon "
                "{epsilon:.4g}.",
                device=best.device.name,
                people=people_in_words(self.people),
                margin=written(best.margin),
                epsilon=best.certificate.epsilon,
            )
        within = [c for c in self.choices if self.epsilon is None or c.certificate.epsilon <= self.epsilon]
        if not within:
            least = min(self.choices, key=lambda c: c.certificate.epsilon)
            return Phrase(
                "No device gives {wanted}: the most cautious one, {device}, has epsilon {epsilon:.4g}.",
                wanted=self.wanted(),
                device=least.device.name,
                epsilon=least.certificate.epsilon,
            )
        nearest = min(within, key=lambda c: c.margin)
        assert nearest.people_needed is not None  # there is a margin, or all of `within` would meet what was wanted
        return Phrase(
            "No device gives {wanted} with {people}. {device} comes nearest, with a margin of {margin} percentage "
            "points; it needs {needed:,} people.",
            wanted=self.wanted(),
            people=people_in_words(self.people),
            device=nearest.device.name,
            margin=written(nearest.margin),
            needed=nearest.people_needed,
        )

    def chosen(self, choice: DeviceChoice) -> Phrase:
        """The figures of a device that was asked for by name."""
        return Phrase(
            "You chose {device}: with {people} its margin is {margin} percentage points, and its certified epsilon "
            "{epsilon:.4g}.",
            device=choice.device.name,
            people=people_in_words(self.people),
            margin=written(choice.margin),
            epsilon=choice.certificate.epsilon,
        )

    def expected(self, choice: DeviceChoice) -> Phrase:
        """The interval that a tally would print, by the estimator itself: of few people it is wider than the margin."""
        k, n = self.domain.size, self.people
        counts = np.full(k, n // k)
        counts[: n % k] += 1
        estimate = choice.mechanism.estimate(counts, n)
        low, high = estimate.interval(self.level, target=self.target)[-1]
        return Phrase(
            "If each answer came equally often, the tally would show the last one at {share:.1%}, with an interval "
            "from {low:.1%} to {high:.1%}.",
            share=float(estimate.mean[-1]),
            low=float(low),
            high=float(high),
        )


def design_poll(
    question: str,
    answers: Sequence[str] = ("no", "yes"),
    people: int = 0,
    margin: float | None = None,
    epsilon: float | None = None,
    level: float = LEVEL,
    target: Target = "fixed",
) -> PollDesign:
    """The devices for a question to so many people, for a wanted margin (percentage points), epsilon, or both.

    target "fixed": the margin is about these people; "superpopulation": about the population that they were drawn from,
    with the error of sampling.

    >>> design = design_poll("Have you ever cheated in an exam?", ("no", "yes"), 500, margin=10)
    >>> print(design.best.device.name, round(design.best.certificate.epsilon, 4), round(design.best.margin, 1))
    two-coins 1.0986 7.6
    """
    if not isinstance(question, str) or not question.strip():
        raise InvalidParameter("the poll has no question.", hint='--question "Have you ever cheated in an exam?"')
    if margin is None and epsilon is None:
        raise InvalidParameter(
            "nothing says what the poll should reach: give a margin, an epsilon, or both.",
            hint="margin=5: 5 percentage points to either side; epsilon=1.1: two coins have it",
        )
    domain = poll_answers(answers)
    check_people(people, "poll")
    check_level(level)
    check_target(target)
    wanted = None if margin is None else check_margin("poll", margin, MAX_MARGIN)
    most = None if epsilon is None else positive_epsilon("poll", epsilon)
    choices = []
    for device in DEVICES:
        if domain.size in device.answers:
            choices.append(_choice(device, domain, int(people), wanted, most, level, target))
    return PollDesign(question.strip(), domain, int(people), wanted, most, level, target, tuple(choices))


def poll_answers(answers: Sequence[str]) -> Categories:
    """The answers of a poll: two at least, and not too many for a card."""
    labels = list(answers)
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise InvalidParameter(
            "poll.answers must be at least two different ones, got {got}.",
            hint='answers=["no", "yes"]: the yes comes last',
            got=shorten(labels),
        )
    if len(labels) > MAX_ANSWERS:
        raise InvalidParameter(
            "a poll by hand takes at most {most} answers, got {got}.",
            hint="group answers, or randomise on a computer: murmure advise --categories {got}",
            most=MAX_ANSWERS,
            got=len(labels),
        )
    return Categories(labels)


def _choice(
    device: Device,
    domain: Categories,
    people: int,
    wanted: float | None,
    most: float | None,
    level: float,
    target: Target,
) -> DeviceChoice:
    plan = device_plan(device, domain)
    mechanism = plan.person
    certificate = with_assumption({"reader": certify(mechanism)})["reader"]  # nothing here can check their draws
    variance = worst_variance(mechanism.variance, domain.size, target)  # type: ignore[union-attr]
    margin = 100 * margin_of(variance / people, level)
    needed = None if wanted is None else people_for(wanted / 100, variance, level)
    meets = (wanted is None or margin <= wanted) and (most is None or certificate.epsilon <= most)
    return DeviceChoice(device, plan, certificate, margin, needed, meets)


def device_plan(device: Device, domain: Categories) -> Plan:
    """The plan of a question that people answer with a device."""
    from murmure.statistics.histogram import Histogram

    return Plan(Histogram(domain), person=device.on(domain))


def choice_json(choice: DeviceChoice) -> dict[str, Any]:
    """A device for machines."""
    from murmure.run.report.certificate_words import mechanism_json

    return {
        "device": choice.device.name,
        "mechanism": mechanism_json(choice.mechanism),
        "epsilon": choice.certificate.epsilon,
        "margin": choice.margin,
        "people_needed": choice.people_needed,
        "meets": choice.meets,
        "plan": choice.plan.digest,
    }


EXAMPLES = (
    lambda: design_poll("Have you ever cheated in an exam?", ("no", "yes"), 500, margin=10),
    lambda: design_poll("How often?", ("never", "once", "often"), 25, epsilon=2.0, target="superpopulation"),
)
