"""Lecture 001: the exercise sheet on randomised response."""

from murmure.core.errors import Phrase
from murmure.lectures.course.item import Exercise, Lecture

LECTURE = Lecture(
    Phrase("exercises on randomised response"),
    Phrase(
        "A class is asked who finds the course boring, and everybody answers with the help of two coins. The sheet "
        "asks for the tree, the probabilities, the estimate, epsilon and the variance. Print it with the command "
        "murmure lectures sheet, with or without solutions."
    ),
    order=("coin_tree", "four_probabilities", "expected_yes", "unbiased", "two_variances", "many_classes"),
    exercises=(
        Exercise(
            Phrase("In a class of 40 people, 13 answer YES. What is the estimate, and what do you tell the lecturer?"),
            Phrase("The estimate is 2o - N/2, and its standard deviation is the root of 3N/4."),
            Phrase(
                "2 x 13 - 20 = 6 people, with a standard deviation of 5.5. Nobody being bored would be nothing "
                "unusual: 6 is little more than one standard deviation away from 0."
            ),
        ),
        Exercise(
            Phrase("In a class of 40 people, 8 answer YES. The estimate is negative. What went wrong?"),
            Phrase("How many YES do you expect when nobody means it, and how much does that number vary?"),
            Phrase(
                "Nothing: 10 YES are expected when nobody means it, with a standard deviation of 2.7. The estimate -4 "
                "is unbiased because it may be negative. A report may show 0; an average over classes must not."
            ),
        ),
        Exercise(
            Phrase("A die replaces the second coin, and says YES for a six only. What is epsilon? Why is it larger?"),
            Phrase("Find the probabilities of YES, then of NO, and look at both ratios."),
            Phrase(
                "YES: 7/12 against 1/12, a ratio of 7. NO: 11/12 against 5/12, a ratio of 2.2. So epsilon is ln 7, "
                "about 1.95: a YES that the die seldom says is nearly a confession."
            ),
        ),
        Exercise(
            Phrase("The same 40 people are asked again every week, with new coins. What does each of them spend?"),
            Phrase("Answers with independent coins: the ratios multiply."),
            Phrase(
                "After k weeks the ratio is up to 3 to the power k, so epsilon is k ln 3: after ten weeks about 11, "
                "which protects nobody. Tossing once and repeating the same answer keeps ln 3."
            ),
        ),
    ),
)
