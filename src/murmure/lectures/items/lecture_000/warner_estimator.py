"""Warner's estimator: unbiased or not, its variance, its ratio, and whether f is a number or a share."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves, Number, Paragraph, Table

PEOPLE, CHEATERS = 100, 30
COINS = ((Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 2), Fraction(1, 4)), (Fraction(2, 3), Fraction(1, 2)))


def law_of_yes(warner: mu.Warner, people: int, cheaters: int) -> NDArray[np.float64]:
    """The probability of each number of reported yes: person by person, without approximation."""
    law = np.ones(1)
    a, c = map(float, warner.yes)
    for chance in [a] * cheaters + [c] * (people - cheaters):
        law = np.convolve(law, [1 - chance, chance])
    return law


def measure(work: Work) -> Measured:
    domain = mu.Categories(["no", "yes"])
    warner = mu.Warner(domain)
    counts = np.arange(PEOPLE + 1)
    law = law_of_yes(warner, PEOPLE, CHEATERS)
    estimates = [float(warner.estimate(np.array([PEOPLE - o, o]), PEOPLE).mean[1]) for o in counts]
    mean = float(law @ estimates)
    deviation = float(law @ (np.array(estimates) - mean) ** 2) ** 0.5
    certificate = mu.certify(warner)
    f = CHEATERS / PEOPLE
    drawn = [(estimate, float(p)) for estimate, p in zip(estimates, law, strict=True) if p > 1e-6]
    likely, probable = zip(*drawn, strict=True)
    figure = Curves(
        Phrase(
            "Estimate of the share of yes: {people} people, of whom {cheaters} mean yes",
            people=PEOPLE,
            cheaters=CHEATERS,
        ),
        (
            Curve(Phrase("probability of each estimate"), likely, probable),
            Curve(Phrase("true share"), (f, f), (0.0, float(law.max()))),
        ),
        Phrase("estimate 2 r - 1/2"),
        Phrase("probability"),
    )
    unbiased = abs(mean - f) < 1e-9
    found = (
        Phrase(
            "The estimator is unbiased: its expectation is {mean:.4f}, exactly the true share, with a standard "
            "deviation of {deviation:.4f}. The ratio is at most {ratio:.4g}, so the coins cost {epsilon:.4f}.",
            mean=mean,
            deviation=deviation,
            ratio=float(np.exp(certificate.epsilon)),
            epsilon=certificate.epsilon,
        )
        if unbiased
        else Phrase(
            "The expectation of the estimator is {mean:.4f} and the true share is {f:.4f}: it is biased.",
            mean=mean,
            f=f,
        )
    )
    return Measured(
        found,
        {"reported_yes": counts.tolist(), "estimate": estimates, "probability": law.tolist()},
        (figure,),
        why=Phrase(
            "The slide calls f a number of people (f < N), and writes r = 1/4 + f/2, which holds for a share f. Both "
            "readings work, each with its own formula: share 2r - 1/2, number 2o - N/2, where o people said yes. And f "
            "may be equal to N."
        ),
        blocks=(other_coins(domain),),
        broken=(mixed(domain),),
    )


def other_coins(domain: mu.Categories) -> Table:
    """The slide's last question: what about other coins?"""
    rows = []
    for truth, yes in COINS:
        warner = mu.Warner(domain, truth=truth, yes_coin=yes)
        f = CHEATERS / PEOPLE
        variance = float(warner.variance(np.array([1 - f, f]), PEOPLE)[1])
        epsilon = mu.certify(warner).epsilon
        best = float(mu.Warner(domain, epsilon=epsilon).variance(np.array([1 - f, f]), PEOPLE)[1])
        name = Phrase("truth {truth}, then yes {yes}", truth=str(truth), yes=str(yes))
        rows.append(
            (
                name,
                Number(epsilon, "fixed", 4),
                Number(variance**0.5, "fixed", 4),
                Number(best**0.5, "fixed", 4),
            )
        )
    head = (
        Phrase("coins"),
        Phrase("certified epsilon"),
        Phrase("standard deviation"),
        Phrase("best at this epsilon"),
    )
    return Table(Phrase("Other coins, for {people} people", people=PEOPLE), head, tuple(rows))


def mixed(domain: mu.Categories) -> Table | Paragraph:
    """A number put where a share belongs, and the other way round."""
    warner = mu.Warner(domain)
    a, c = map(float, warner.yes)
    yes_reports = c * PEOPLE + (a - c) * CHEATERS  # the expected number
    share = float(warner.estimate(np.array([PEOPLE - round(yes_reports), round(yes_reports)]), PEOPLE).mean[1])
    rows = (
        (Phrase("share f, share r"), "2 r - 1/2", Number(share, "fixed", 2), Phrase("right: a share")),
        (Phrase("number f, number o"), "2 o - N/2", Number(share * PEOPLE, "fixed", 0), Phrase("right: a number")),
        (
            Phrase("number f in the formula of shares"),
            "r = 1/4 + f/2",
            Number(c + (a - c) * CHEATERS, "fixed", 2),
            Phrase("a frequency above 1"),
        ),
        (
            Phrase("number o in the formula of shares"),
            "2 o - 1/2",
            Number(2 * round(yes_reports) - 0.5, "fixed", 1),
            Phrase("neither the number nor the share"),
        ),
    )
    head = (Phrase("reading"), Phrase("formula"), Phrase("result"), Phrase("what it is"))
    return Table(
        Phrase(
            "{people} people, {cheaters} mean yes, {reports:.0f} say yes",
            people=PEOPLE,
            cheaters=CHEATERS,
            reports=yes_reports,
        ),
        head,
        rows,
    )


ITEM = Item(
    Phrase("Warner's estimator"),
    Phrase("Estimating the percentage of cheaters, and the open questions"),
    measure,
    claimed=Phrase(
        "r is about 1/4 + f/2, so 2r - 1/2 estimates the original number of yes; the ratio is at most 3: ln(3)-LDP. "
        "Unbiased, one hopes; the variance and other coins are left as questions."
    ),
    lab="tree?truth=0.5&yes=0.5",
    verdicts=(1,),
)
