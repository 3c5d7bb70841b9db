"""Lecture 004: econometrics with privacy preservation."""

from murmure.core.errors import Phrase
from murmure.lectures.course.item import Exercise, Lecture

LECTURE = Lecture(
    Phrase("sums between parties"),
    Phrase(
        "Several organisations hold rows that may not leave them, and want statistics of all rows together. Each adds "
        "random masks that cancel in the total. The lecture compares this with four older approaches, defines what is "
        "hidden, and computes a regression."
    ),
    order=(
        "four_approaches",
        "noise_needed",
        "measurable_errors",
        "deconvolution",
        "equidistribution",
        "printed_protocol",
        "dropouts",
        "precision_and_cost",
        "blocks",
        "flexibility",
        "collusion",
        "regression",
        "rows_as_parties",
        "vertical",
    ),
    exercises=(
        Exercise(
            Phrase("All m parties of the printed protocol hold 1. What does the centre recover, and what repairs it?"),
            Phrase("Take the sum modulo m."),
            Phrase(
                "0, as if all held 0. A modulus above every possible sum repairs it: Murmure takes 2**64, and refuses "
                "before anything is sent where parties times bound could exceed it."
            ),
        ),
        Exercise(
            Phrase(
                "Each person adds Laplace noise to a value between 0 and 1, with epsilon 1/2. How many people are "
                "needed for a mean that is within 0.02 of the truth in 95% of the surveys?"
            ),
            Phrase("The noise of one person has the standard deviation sqrt(2) / epsilon."),
            Phrase("(1.96 x 2.828 / 0.02)^2, which is 76,832."),
        ),
        Exercise(
            Phrase(
                "60 parties form 12 blocks and want 10 sums. How many mask numbers are sent in one block, and in all? "
                "How many must collude to know one member's numbers?"
            ),
            Phrase("In a block of M parties, each sends L numbers to each of the M - 1 others."),
            Phrase("200 in a block of five, 2,400 in all, not far from m^2 L / J = 3,000; four, with the centre."),
        ),
        Exercise(
            Phrase("Of two people it is known that their ages sum to 92 and the squares to 4,304. How old are they?"),
            Phrase("(a - b)^2 is twice the sum of squares less the square of the sum."),
            Phrase("(a - b)^2 = 8,608 - 8,464 = 144, so they are 40 and 52: sums over two hide nobody."),
        ),
    ),
)
