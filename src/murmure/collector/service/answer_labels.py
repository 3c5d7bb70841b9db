"""Answers and questions as people read them, in the place of what is counted: “Oui” and not “yes”, the question and not
the name of its column, “0 hours” and not the middle of the first cell of a grid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from murmure.collector.survey.question import NO_YES_LABELS, Question
from murmure.show.phrase import Phrase, Quoted, Several


def labels_of(question: Question) -> Mapping[str, str]:
    """From the values that are counted to what people read."""
    if question.kind == "yes-no":
        return NO_YES_LABELS
    return {option.value: option.label.phrase for option in question.options}


def with_labels(text: Any, questions: Sequence[Question]) -> Any:
    """A sentence about answers, with the questions in the place of their columns. With labels, too, where it is about
    one question alone: two may have the same values."""
    names = set(_columns(text)) or {question.name for question in questions}
    asked = [question for question in questions if question.name in names]
    return _relabelled(text, _by_name(questions), asked[0] if len(asked) == 1 else None)


def with_questions(text: Any, questions: Iterable[Question]) -> Any:
    """A sentence about columns, with the questions in their place."""
    return _relabelled(text, _by_name(questions), None)


def _by_name(questions: Iterable[Question]) -> Mapping[str, Question]:
    return {question.name: question for question in questions}


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


def _relabelled(text: Any, questions: Mapping[str, Question], asked: Question | None) -> Any:
    """asked: the question that quoted answers belong to."""
    if isinstance(text, Quoted):
        return text if asked is None else _answer(text, asked)
    if isinstance(text, Several):
        return Several([_relabelled(item, questions, asked) for item in text.items], text.last, text.between)
    if not isinstance(text, Phrase):
        return text
    make, (kind, template, fields, state) = text.__reduce__()
    fields = {
        field: Quoted(questions[value].text.phrase)
        if field == "name" and isinstance(value, str) and value in questions
        else _relabelled(value, questions, asked)
        for field, value in fields.items()
    }
    return make(kind, template, fields, state | {"fields": fields})


def _answer(quoted: Quoted, question: Question) -> Any:
    if question.kind != "number":
        return Quoted(labels_of(question).get(str(quoted.value), quoted.value))
    try:
        value = float(quoted.value)
    except ValueError:  # "below" and "above" of a number are words
        return quoted
    steps = round((min(max(value, question.low), question.high) - question.low) / question.step)
    answer = question.low + steps * question.step
    if question.unit:
        return Phrase("{answer:,.6g} {unit}", answer=answer, unit=question.unit.phrase)
    return Phrase("{answer:,.6g}", answer=answer)
