"""Answers as people read them, in the place of the values that are counted: “Oui” and not “yes”."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from murmure.collector.survey.question import NO_YES_LABELS, Question
from murmure.show.phrase import Phrase, Quoted, Several


def labels_of(question: Question) -> Mapping[str, str]:
    """From the values that are counted to what people read."""
    if question.kind == "yes-no":
        return NO_YES_LABELS
    return {option.value: option.label.phrase for option in question.options}


def with_labels(text: Any, questions: Sequence[Question]) -> Any:
    """A sentence about answers to one question, with their labels. Two questions may have the same values: a sentence
    about several stays as it is."""
    names = set(_columns(text)) or {question.name for question in questions}
    asked = [question for question in questions if question.name in names]
    return _relabelled(text, labels_of(asked[0])) if len(asked) == 1 else text


def _columns(text: Any) -> Iterator[str]:
    """The columns that a sentence names beside an answer."""
    if isinstance(text, Several):
        for item in text.items:
            yield from _columns(item)
    elif isinstance(text, Phrase):
        if text.fields.keys() == {"name", "answer"}:
            yield str(text.fields["name"])
        for value in text.fields.values():
            yield from _columns(value)


def _relabelled(text: Any, labels: Mapping[str, str]) -> Any:
    if isinstance(text, Quoted):
        return Quoted(labels.get(str(text.value), text.value))
    if isinstance(text, Several):
        return Several([_relabelled(item, labels) for item in text.items], text.last, text.between)
    if not isinstance(text, Phrase):
        return text
    make, (kind, template, fields, state) = text.__reduce__()
    fields = {name: _relabelled(value, labels) for name, value in fields.items()}
    return make(kind, template, fields, state | {"fields": fields})
