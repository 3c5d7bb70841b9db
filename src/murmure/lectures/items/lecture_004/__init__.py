"""Lecture 004: econometrics with privacy preservation."""

from murmure.core.errors import Phrase
from murmure.lectures.course.item import Lecture

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
)
