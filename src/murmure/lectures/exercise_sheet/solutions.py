"""The solutions of the sheet, as blocks of a page. Figures are computed when a solution is made."""

from __future__ import annotations

import inspect
import itertools
import math
from fractions import Fraction

import murmure as mu
from murmure.core.errors import MissingExtra
from murmure.lectures.course.item_result import LANGUAGES, picture_files
from murmure.lectures.exercise_sheet import student_code
from murmure.lectures.exercise_sheet.class_draws import estimates_of_classes, same_class
from murmure.lectures.exercise_sheet.coin_law import (
    ANSWERS,
    certified_epsilon,
    enumerated_bias,
    exact_estimate,
    largest_ratio,
    law_of_yes,
    law_of_yes_in_a_sample,
    moments,
    probability,
    share_deviation,
)
from murmure.lectures.exercise_sheet.drawings import coin_tree, estimates_figure
from murmure.show.document import Block, Image, Listing, Number, Paragraph, Table
from murmure.show.figures import Figure
from murmure.show.phrase import Code, Formula, Phrase

CLASS, CLASS_YES, CLASSES = 30, 12, 20_000
ENUMERATED = 6  # people
POINTS = Fraction(1, 20)
SHARES = (Fraction(0), Fraction(1, 4), Fraction(1, 2))

# What the solutions print, as a student would type it: tests type them into the page, which compares with the law.
EXPECTED, ESTIMATOR, VARIANCE, SAMPLE = "N/4 + f/2", "2o - N/2", "3N/4", "N(3/4 + p(1 - p))"

BY_HAND = """\
def reponse_randomisee(rep_o):
    t1, t2 = secrets.choice("PF"), secrets.choice("PF")
    return t2 == "F" if t1 == "P" else rep_o
"""
ESTIMATOR_BY_HAND = """\
def estimation_nbre_oui_initiaux(reps):
    o, N = sum(reps), len(reps)
    return 2 * o - N / 2
"""


def code() -> tuple[Block, ...]:
    return (
        Paragraph(Phrase("By hand, with {module}:", module=Code("import secrets"))),
        Listing(BY_HAND),
        Paragraph(
            Phrase(
                "With Murmure, whose randomness comes from the operating system ({path}):",
                path=Code("from murmure.lectures.exercise_sheet import reponse_randomisee"),
            )
        ),
        Listing(_source(student_code.reponse_randomisee)),
    )


def tree() -> tuple[Block, ...]:
    return (
        _drawn(coin_tree()),
        Paragraph(
            Phrase(
                "The coins answer in place of the person with probability {coins}, and the truth is told with "
                "probability {truth}. Add the leaves that end in YES: {sum}.",
                coins=_fraction(probability(True, False) + probability(False, True)),
                truth=_fraction(1 - probability(True, False) - probability(False, True)),
                sum=Formula("1/4 + f/(2N)"),
            )
        ),
    )


def expectation() -> tuple[Block, ...]:
    return (
        Paragraph(
            Phrase(
                "Each of the {f} people who mean YES says so with probability {a}, each of the {others} others with "
                "probability {c}:",
                f=Formula("f"),
                others=Formula("N - f"),
                a=_fraction(probability(True, True)),
                c=_fraction(probability(False, True)),
            )
        ),
        _display(f"E[o] = 3f/4 + (N - f)/4 = {EXPECTED}"),
    )


def estimator() -> tuple[Block, ...]:
    N, o = 100, 40
    return (
        Paragraph(
            Phrase(
                "Put the observed {o} in place of its expectation and solve for {f}:", o=Formula("o"), f=Formula("f")
            )
        ),
        _display(f"fhat = {ESTIMATOR}"),
        Paragraph(
            Phrase(
                "For example, {o} YES among {n} people give {fhat}.",
                o=o,
                n=N,
                fhat=Formula(f"fhat = 2 * {o} - {N}/2 = {exact_estimate(o, N)}"),
            )
        ),
    )


def unbiased() -> tuple[Block, ...]:
    cases = [(N, f) for N in range(1, ENUMERATED + 1) for f in range(N + 1)]
    right = [enumerated_bias(N, f) == 0 for N, f in cases]
    checked = Phrase(
        "Checked by enumeration, in exact fractions: for {N} from 1 to {most} and every {f}, the mean of {name} over "
        "all {series} series of answers is {f} in {right} cases out of {cases}.",
        N=Formula("N"),
        f=Formula("f"),
        most=ENUMERATED,
        name=Code("estimation_nbre_oui_initiaux"),
        series=Formula("2^N"),
        right=sum(right),
        cases=len(cases),
    )
    return (
        Paragraph(Phrase("The expectation is linear:")),
        _display(f"E[fhat] = 2 E[o] - N/2 = 2 ({EXPECTED}) - N/2 = f"),
        Paragraph(checked),
    )


def estimator_code() -> tuple[Block, ...]:
    return (
        Paragraph(Phrase("By hand:")),
        Listing(ESTIMATOR_BY_HAND),
        Paragraph(
            Phrase(
                "With Murmure, which reads the two probabilities off the law, so that the same lines serve for other "
                "coins:"
            )
        ),
        Listing(_source(student_code.estimation_nbre_oui_initiaux)),
    )


def probabilities() -> tuple[Block, ...]:
    head = ("", *(f"r = {r}" for r in ANSWERS))
    rows = tuple(
        (Phrase("{formula}", formula=Formula(f"x = {x}")), *(str(probability(x, r)) for r in ANSWERS)) for x in ANSWERS
    )
    return (
        Table("", head, rows),
        Paragraph(
            Phrase(
                "The answer is true if the first coin says so ({half}), or if the second coin happens to agree "
                "({quarter}): {sum}.",
                half=_fraction(1 - probability(True, False) - probability(False, True)),
                quarter=_fraction(probability(False, True)),
                sum=_fraction(probability(True, True)),
            )
        ),
    )


def ratio() -> tuple[Block, ...]:
    one = largest_ratio()
    return (
        Paragraph(
            Phrase(
                "If {same}, the ratio is 1. Otherwise it is {up} or {down}. Its largest value is therefore {bound}.",
                same=Formula("x_1 = x_2"),
                up=Formula(f"({probability(True, True)}) / ({probability(False, True)}) = {one}"),
                down=Formula(f"({probability(False, True)}) / ({probability(True, True)}) = 1/{one}"),
                bound=Formula(str(one)),
            )
        ),
    )


def epsilon() -> tuple[Block, ...]:
    return (
        Paragraph(
            Phrase(
                "The definition asks for {definition}. Since the ratio reaches {bound}, the smallest budget that does "
                "is {eps}; any larger one does too.",
                definition=Formula("Pr[M(x_1) = r] <= e^eps Pr[M(x_2) = r]"),
                bound=Formula(str(largest_ratio())),
                eps=Formula(f"eps = ln({largest_ratio()})"),
            )
        ),
        Paragraph(
            Phrase(
                "Certified: {call} compares every report and every two answers, and returns {eps:.6f}.",
                call=Code("mu.certify(mu.Warner(mu.Categories([False, True])))"),
                eps=certified_epsilon(),
            )
        ),
    )


def variance() -> tuple[Block, ...]:
    sizes = (30, 100, 1000, 10_000)
    rows = tuple(
        (Number(N), Number(N * share_deviation(N), "fixed", 1), Number(share_deviation(N), "share", 1)) for N in sizes
    )
    return (
        Paragraph(
            Phrase(
                "The {N} people and what they mean are fixed; only the coins are random. An answer is YES with "
                "probability {a} or {c}, so its variance is {one} in both cases. The coins of different people are "
                "independent, so variances add:",
                N=Formula("N"),
                a=_fraction(probability(True, True)),
                c=_fraction(probability(False, True)),
                one=Formula("3/4 * 1/4 = 3/16"),
            )
        ),
        _display("Var(o) = 3N/16"),
        _display(f"Var(fhat) = 2^2 Var(o) = {VARIANCE}"),
        Paragraph(
            Phrase(
                "It does not depend on {f}: the class that is never bored is estimated no better than the others. The "
                "standard deviation of the count grows with {root}, that of the share {share} falls:",
                f=Formula("f"),
                root=Formula("sqrt(N)"),
                share=Formula("fhat / N"),
            )
        ),
        Table(
            "",
            (
                Phrase("N"),
                Phrase("standard deviation of the count"),
                Phrase("standard deviation of the share"),
            ),
            rows,
        ),
        Paragraph(
            Phrase(
                "{fhat} can be negative or exceed {N}. Such a value is not a mistake: cutting it off would make the "
                "estimate biased.",
                fhat=Formula("fhat"),
                N=Formula("N"),
            )
        ),
    )


def sample() -> tuple[Block, ...]:
    cases = list(itertools.product((4, 7, 12), SHARES))
    right = [
        moments(law_of_yes_in_a_sample(N, p))[1] == N * (Fraction(3, 4) + p * (1 - p)) for N, p in cases
    ]  # the formula that is printed below
    p = Fraction(1, 2)
    price = moments(law_of_yes_in_a_sample(1, p))[1] / (p * (1 - p))
    return (
        Paragraph(
            Phrase(
                "A person drawn at random says YES with probability {r}, and {o} is binomial:",
                o=Formula("o"),
                r=Formula("r = 1/4 + p/2"),
            )
        ),
        _display(f"Var(fhat) = 4N r(1 - r) = {SAMPLE}"),
        Paragraph(
            Phrase(
                "Enumerated, the variance is exactly this in {right} cases out of {cases}. The first term is the noise "
                "of the coins. The second one is the chance of the draw, which is there with honest answers too. Which "
                "variance is right depends on the question: {fixed} about these people, the larger one about the "
                "population that they come from.",
                right=sum(right),
                cases=len(cases),
                fixed=Formula(VARIANCE),
            )
        ),
        Paragraph(
            Phrase(
                "The price of privacy: a survey with honest answers has variance {honest}. With the coins it takes at "
                "least {price} times as many people for the same precision, and more when {p} is near 0 or 1.",
                p=Formula("p"),
                honest=Formula("N p(1 - p)"),
                price=int(price) if price.denominator == 1 else float(price),
            )
        ),
    )


def simulation() -> tuple[Block, ...]:
    estimates = estimates_of_classes(same_class(CLASSES, CLASS, CLASS_YES), mu.Random.seeded(1))
    mean, variance = moments(law_of_yes(CLASS, CLASS_YES))
    return (
        _drawn(estimates_figure(estimates, CLASS, CLASS_YES)),
        Paragraph(
            Phrase(
                "{classes:,} classes: mean {mean:.2f} (exact {exact:.0f}), standard deviation {sd:.3f} (exact "
                "{exact_sd:.3f}, the root of {formula}).",
                classes=CLASSES,
                mean=float(estimates.mean()),
                exact=float(mean),
                sd=float(estimates.std(ddof=1)),
                exact_sd=math.sqrt(variance),
                formula=Formula(f"3 * {CLASS} / 4"),
            )
        ),
    )


def size() -> tuple[Block, ...]:
    N = people_needed()
    return (
        _display(f"sqrt(3/(4N)) = {POINTS}"),
        Paragraph(
            Phrase(
                "The root is {points:.0%} for {n} people. To halve it takes four times as many.",
                n=Formula(f"N = {N}"),
                points=float(POINTS),
            )
        ),
    )


def people_needed() -> int:
    """N for which the standard deviation of fhat / N is POINTS, from the variance of one person."""
    one = moments(law_of_yes(1, 0))[1]
    return math.ceil(one / POINTS**2)


def _fraction(value: Fraction) -> Formula:
    return Formula(str(value))


def _display(formula: str) -> Paragraph:
    return Paragraph(Phrase("{formula}", formula=Formula(formula, display=True)))


def _source(function: object) -> str:
    """The code of a function without its docstring and types, as it would stand on the sheet."""
    lines = inspect.getsource(function).splitlines()  # type: ignore[arg-type]
    body = [line for line in lines[lines.index('    """', 1) + 1 :] if line.strip()]
    return "\n".join(["COINS = mu.Warner(mu.Categories([False, True]))", lines[0], *body])


def _drawn(figure: Figure) -> Block:
    """A figure inside the page; a sentence where nothing can draw it."""
    try:
        drawn = tuple((lang, picture_files(figure, lang, ("svg",))["svg"].decode()) for lang in LANGUAGES)
    except MissingExtra as error:
        return Paragraph(Phrase("The pictures are left out: {why}", why=error.message), "note")
    return Image(figure.title, (), drawn)
