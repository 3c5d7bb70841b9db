"""The exercises of the sheet in the lecturer's order, with room to write, answers to check, and solutions.

What was added to the lecturer's sheet is marked. All figures are computed from the law (coin_law.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from murmure.lectures.exercise_sheet import solutions
from murmure.lectures.exercise_sheet.answers import AnswerField, formula_field, number_field
from murmure.lectures.exercise_sheet.coin_law import (
    ANSWERS,
    certified_epsilon,
    exact_estimate,
    expected_yes,
    largest_ratio,
    law_of_yes,
    law_of_yes_in_a_sample,
    moments,
    probability,
)
from murmure.show.document import Block
from murmure.show.phrase import Code, Formula, Phrase

PEOPLE = (4, 7, 12)  # values of N at which formulas are compared
CLASS, CLASS_YES = solutions.CLASS, solutions.CLASS_YES


@dataclass(frozen=True)
class SheetQuestion:
    """lines: room to write, on paper. solution: made only where it is printed."""

    text: str
    lines: int
    solution: Callable[[], tuple[Block, ...]]
    fields: tuple[AnswerField, ...] = ()
    added: bool = False  # not on the lecturer's sheet


@dataclass(frozen=True)
class SheetExercise:
    number: str
    title: str
    questions: tuple[SheetQuestion, ...]
    added: bool = False


def exercises() -> tuple[SheetExercise, ...]:
    return (
        SheetExercise("2.1", Phrase("Code that randomises an answer"), (_code(),)),
        SheetExercise(
            "2.2",
            Phrase("Probability tree and estimate of the answers"),
            (_tree(), _expectation(), _estimator(), _unbiased()),
        ),
        SheetExercise("2.3", Phrase("Code of the estimator"), (_estimator_code(),)),
        SheetExercise(
            "2.4", Phrase("The value of epsilon"), (_probabilities(), _ratio(), _epsilon(), _variance(), _sample())
        ),
        SheetExercise("2.5", Phrase("Simulation"), (_simulation(), _size()), added=True),
    )


def _code() -> SheetQuestion:
    return SheetQuestion(
        Phrase(
            "Write the code (three lines at most) of the function {name}, which takes an original answer, a boolean, "
            "and returns an answer of the same type by the algorithm above.",
            name=Code("reponse_randomisee(rep_o)"),
        ),
        6,
        solutions.code,
    )


def _tree() -> SheetQuestion:
    forced = Phrase("probability that the coins answer NO")
    return SheetQuestion(
        Phrase("Draw the probability tree of this mechanism."),
        11,
        solutions.tree,
        (
            number_field("tree-no", forced, probability(True, False)),
            number_field("tree-yes", Phrase("probability that the coins answer YES"), probability(False, True)),
            number_field(
                "tree-truth",
                Phrase("probability of the truth"),
                1 - probability(True, False) - probability(False, True),
            ),
        ),
    )


def _expectation() -> SheetQuestion:
    return SheetQuestion(
        Phrase(
            "{N} people took part in the survey, and {f} is the number of those who would have liked to answer YES. "
            "What number {o} of people should in the end answer YES, after the algorithm above?",
            N=Formula("N"),
            f=Formula("f"),
            o=Formula("o"),
        ),
        4,
        solutions.expectation,
        (
            formula_field(
                "expected", Phrase("{formula}, in f and N", formula=Formula("E[o]")), expected_yes, N=PEOPLE, f=(0, 3)
            ),
        ),
    )


def _estimator() -> SheetQuestion:
    return SheetQuestion(
        Phrase(
            "Deduce an estimate {fhat} of the number of people who would have liked to answer YES.",
            fhat=Formula("fhat"),
        ),
        3,
        solutions.estimator,
        (
            formula_field(
                "estimator",
                Phrase("{formula}, in o and N", formula=Formula("fhat")),
                exact_estimate,
                o=(0, 3),
                N=PEOPLE,
            ),
        ),
    )


def _unbiased() -> SheetQuestion:
    return SheetQuestion(
        Phrase("Show that {fhat} is unbiased.", fhat=Formula("fhat")),
        4,
        solutions.unbiased,
        (
            formula_field(
                "mean",
                Phrase("{formula}, in f and N", formula=Formula("E[fhat]")),
                lambda N, f: moments(law_of_yes(N, f))[0],
                N=PEOPLE,
                f=(0, 3),
            ),
        ),
        added=True,
    )


def _estimator_code() -> SheetQuestion:
    answers, yes = 8, 5
    return SheetQuestion(
        Phrase(
            "Write the code (three lines at most) of the function {name}, which takes the series of randomised answers "
            "and returns an estimate of the number of YES that there were at first.",
            name=Code("estimation_nbre_oui_initiaux(reps)"),
        ),
        6,
        solutions.estimator_code,
        (
            number_field(
                "eight",
                Phrase("what it returns for {n} answers with {yes} YES", n=answers, yes=yes),
                exact_estimate(yes, answers),
            ),
        ),
    )


def _probabilities() -> SheetQuestion:
    return SheetQuestion(
        Phrase(
            "For {x} and {r}, find the four probabilities {law}.",
            x=Formula("x in {True, False}"),
            r=Formula("r in {True, False}"),
            law=Formula("Pr[M(x) = r]"),
        ),
        5,
        solutions.probabilities,
        tuple(
            number_field(
                f"law-{x}-{r}".lower(),
                Phrase("probability {formula}", formula=Formula(f"Pr[M({x}) = {r}]")),
                probability(x, r),
            )
            for x in ANSWERS
            for r in ANSWERS
        ),
    )


def _ratio() -> SheetQuestion:
    bounded = f"forall x_1, x_2 in X, forall r in M(X), Pr[M(x_1) = r]/Pr[M(x_2) = r] <= {largest_ratio()}"
    return SheetQuestion(
        Phrase("Show that {formula}", formula=Formula(bounded, display=True)),
        4,
        solutions.ratio,
        (number_field("ratio", Phrase("the largest of these ratios"), largest_ratio()),),
    )


def _epsilon() -> SheetQuestion:
    return SheetQuestion(
        Phrase("Deduce that {formula}.", formula=Formula(f"eps = ln({largest_ratio()})")),
        3,
        solutions.epsilon,
        (
            number_field(
                "epsilon",
                Phrase("{eps} as a number, to two decimals", eps=Formula("eps")),
                certified_epsilon(),
                tolerance=0.005,
            ),
        ),
    )


def _variance() -> SheetQuestion:
    return SheetQuestion(
        Phrase("Find a formula for the variance of {fhat}. Discuss it.", fhat=Formula("fhat")),
        8,
        solutions.variance,
        (
            formula_field(
                "variance",
                Phrase("{formula}, the N people being fixed", formula=Formula("Var(fhat)")),
                lambda N, f: moments(law_of_yes(N, f))[1],
                N=PEOPLE,
                f=(0, 3),
            ),
        ),
    )


def _sample() -> SheetQuestion:
    return SheetQuestion(
        Phrase(
            "The {N} people are now drawn at random from a large population, of whom a share {p} would answer YES. "
            "What does the variance of {fhat} become?",
            N=Formula("N"),
            p=Formula("p"),
            fhat=Formula("fhat"),
        ),
        5,
        solutions.sample,
        (
            formula_field(
                "sample",
                Phrase("{formula}, in N and p", formula=Formula("Var(fhat)")),
                lambda N, p: moments(law_of_yes_in_a_sample(N, p))[1],
                N=PEOPLE,
                p=solutions.SHARES,
            ),
        ),
        added=True,
    )


def _simulation() -> SheetQuestion:
    deviation = float(moments(law_of_yes(CLASS, CLASS_YES))[1]) ** 0.5
    return SheetQuestion(
        Phrase(
            "In a class of {people} people, {yes} find the course boring. With your two functions, have the class "
            "answer many times and draw the distribution of {fhat}. Compare its standard deviation with that of the "
            "formula.",
            people=CLASS,
            yes=CLASS_YES,
            fhat=Formula("fhat"),
        ),
        6,
        solutions.simulation,
        (
            number_field(
                "deviation",
                Phrase("standard deviation of {fhat} by the formula, to two decimals", fhat=Formula("fhat")),
                deviation,
                tolerance=0.005 / deviation,
            ),
        ),
        added=True,
    )


def _size() -> SheetQuestion:
    return SheetQuestion(
        Phrase(
            "How many people must answer for the standard deviation of {share} to be {points:.0%}?",
            share=Formula("fhat / N"),
            points=float(solutions.POINTS),
        ),
        3,
        solutions.size,
        (number_field("size", Phrase("number of people {N}", N=Formula("N")), solutions.people_needed()),),
        added=True,
    )
