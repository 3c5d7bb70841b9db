"""Lecture 000: local differential privacy."""

from murmure.core.errors import Phrase
from murmure.lectures.course.item import Exercise, Lecture

LECTURE = Lecture(
    Phrase("local differential privacy"),
    Phrase(
        "Each person randomises an answer before it leaves them. The lecture defines what that protects, and builds "
        "randomisers for yes or no, for categories and for numbers. It ends by learning from a table that was "
        "randomised row by row."
    ),
    order=(
        "trust",
        "warner_tree",
        "warner_estimator",
        "grr_law",
        "bounded_laplace",
        "sanitise_and_learn",
        "global_epsilon",
        "label_ceiling",
        "staircase_density",
        "two_gammas",
        "redrawn_staircase",
        "utility_of_naive_bayes",
    ),
    exercises=(
        Exercise(
            Phrase("Two fair coins give ln 3. Which coins give ln 5?"),
            Phrase("With truth t, a yes is reported with probability t + (1 - t)/2 by yes, and (1 - t)/2 by no."),
            Phrase("(1 + t) / (1 - t) = 5, so t = 2/3: the first coin says truth two times in three."),
        ),
        Exercise(
            Phrase("A model scores 0.63 on test labels that were sanitised with epsilon 1. How good is it?"),
            Phrase(
                "A label is kept with probability p = e/(1 + e). Write the expected score as a function of the truth."
            ),
            Phrase(
                "s = a p + (1 - a)(1 - p), so a = (s - (1 - p)) / (2p - 1). With p = 0.731 and s = 0.63, a = 0.78: the "
                "noise on the labels hid the rest."
            ),
        ),
        Exercise(
            Phrase("A table of nine columns may cost epsilon 1 in all. With what probability is a yes or no kept?"),
            Phrase("Each column gets 1/9."),
            Phrase("e^(1/9) / (1 + e^(1/9)) = 0.528: hardly better than a coin."),
        ),
        Exercise(
            Phrase("Moving a noisy report to the nearest bound is free; drawing again is not. Why?"),
            Phrase("Which of the two is a function of the report alone?"),
            Phrase(
                "The nearest bound is a function of the report: post-processing. Drawing again uses the secret once "
                "more: the report's law is divided by the probability of landing inside, which differs between people."
            ),
        ),
        Exercise(
            Phrase("For which epsilon does the redrawn staircase with the library's gamma cost 1?"),
            Phrase(
                "It costs epsilon + ln[(2g + b(1 - 2g)) / (g + b(1 - g))], where b = e^-epsilon, "
                "g = 1/(1 + e^(epsilon/2))."
            ),
            Phrase("About 0.733, found by bisection. BoundedStaircase does this for the law that really runs."),
        ),
    ),
)
