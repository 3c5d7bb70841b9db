"""To be written."""

from murmure.core.errors import Phrase
from murmure.lectures.course.item import Lecture

LECTURE = Lecture(Phrase("to be written"), Phrase("To be written."), order=())
