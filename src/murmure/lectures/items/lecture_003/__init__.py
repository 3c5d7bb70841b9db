"""Lecture 003: the attacks."""

from murmure.core.errors import Phrase
from murmure.lectures.course.item import Lecture

LECTURE = Lecture(
    Phrase("to be written"),
    Phrase("To be written."),
    order=("attribute_inference", "attribute_inference_rsrfd", "reidentification", "utility_and_robustness"),
)
