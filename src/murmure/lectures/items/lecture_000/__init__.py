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
    order=("warner_tree", "grr_law"),
    exercises=(
        Exercise(
            Phrase("Two fair coins give ln 3. Which coins give ln 5?"),
            Phrase("With truth t, a yes is reported with probability t + (1 - t)/2 by yes, and (1 - t)/2 by no."),
            Phrase("(1 + t) / (1 - t) = 5, so t = 2/3: the first coin says truth two times in three."),
        ),
    ),
)
