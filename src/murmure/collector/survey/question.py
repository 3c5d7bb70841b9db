"""A question: what is asked, and which answers it allows. The answers are public; they are the plan's domain.

yes-no    two answers, "no" and "yes"
choice    one of several options, in no order
scale     one of several options, in order
number    a number between two bounds, whole or with one, two or three decimals; its figure is the mean
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

from murmure.collector.survey.errors import SurveyRefused
from murmure.collector.survey.texts import NO_TEXT, Texts, read_texts
from murmure.core.categories import Categories
from murmure.core.domain import Domain, Interval
from murmure.core.errors import MurmureError, Phrase
from murmure.core.fixed import is_finite_number

Kind = Literal["yes-no", "choice", "scale", "number"]
KINDS: tuple[Kind, ...] = get_args(Kind)
NO_YES = ("no", "yes")
NO_YES_LABELS = {"no": Phrase("No"), "yes": Phrase("Yes")}
NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
VALUE = re.compile(r"[^\x00-\x1f\x7f]{1,60}")
STEPS = (1, 0.1, 0.01, 0.001)
MAX_QUESTION_LETTERS, MAX_OPTION_LETTERS, MAX_UNIT_LETTERS = 1000, 200, 40
MAX_OPTIONS = 1000
NUMBER_CELLS = 4096
MAX_STEPS = 10_000_000  # between the bounds of a number
FIELDS = {
    "yes-no": {"name", "kind", "text"},
    "choice": {"name", "kind", "text", "options"},
    "scale": {"name", "kind", "text", "options"},
    "number": {"name", "kind", "text", "low", "high", "step", "unit"},
}


@dataclass(frozen=True)
class Option:
    """One answer: `value` is what is counted, and appears in exports; `label` is what people read."""

    value: str
    label: Texts


@dataclass(frozen=True)
class Question:
    name: str
    kind: Kind
    text: Texts
    options: tuple[Option, ...] = ()
    low: float = 0
    high: float = 0
    step: float = 1
    unit: Texts = NO_TEXT

    @property
    def domain(self) -> Domain:
        if self.kind == "yes-no":
            return Categories(NO_YES, column=self.name)
        if self.kind != "number":
            return Categories([option.value for option in self.options], column=self.name)
        # A fine grid, whatever the step: the mechanisms of a mean want one, and half a cell is far below their noise.
        return Interval(self.low, self.high, cells=NUMBER_CELLS, column=self.name)

    @property
    def by_mean(self) -> bool:
        """Whether its figure is a mean, and not the share of each answer."""
        return self.kind == "number"

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"name": self.name, "kind": self.kind, "text": self.text.to_dict()}
        if self.options:
            out["options"] = [{"value": option.value, "label": option.label.to_dict()} for option in self.options]
        if self.kind == "number":
            out |= {"low": self.low, "high": self.high, "step": self.step, "unit": self.unit.to_dict()}
        return out


def read_question(value: Any, where: str) -> Question:
    """From its JSON; refuses what is unknown, missing or cannot be asked."""
    if not isinstance(value, dict):
        raise SurveyRefused(where, Phrase("an object with name, kind and text"), value)
    kind = value.get("kind")
    if kind not in KINDS:
        raise SurveyRefused(f"{where}.kind", Phrase("one of {kinds}", kinds=", ".join(KINDS)), kind)
    if unknown := set(value) - FIELDS[kind]:
        raise SurveyRefused(where, Phrase("an object with only the fields of its kind"), sorted(map(str, unknown)))
    name = value.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        wanted = Phrase("a short name of lower-case letters, digits and _ that starts with a letter")
        raise SurveyRefused(f"{where}.name", wanted, name)
    text = read_texts(value.get("text"), f"{where}.text", MAX_QUESTION_LETTERS)
    if kind == "yes-no":
        return Question(name, kind, text)
    if kind == "number":
        return _number(name, text, value, where)
    return Question(name, kind, text, _options(value.get("options"), f"{where}.options"))


def _options(value: Any, where: str) -> tuple[Option, ...]:
    if not isinstance(value, list) or not 2 <= len(value) <= MAX_OPTIONS:
        got = len(value) if isinstance(value, list) else value
        raise SurveyRefused(where, Phrase("a list of 2 to {n:,} options", n=MAX_OPTIONS), got)
    options = []
    for i, one in enumerate(value):
        if isinstance(one, str):
            one = {"value": one}
        if not isinstance(one, dict) or not set(one) <= {"value", "label"}:
            raise SurveyRefused(f"{where}[{i}]", Phrase("an object with value and label"), one)
        answer = one.get("value")
        if not isinstance(answer, str) or not VALUE.fullmatch(answer) or answer != answer.strip():
            raise SurveyRefused(f"{where}[{i}].value", Phrase("a text of 1 to 60 characters"), answer)
        label = read_texts(one.get("label"), f"{where}[{i}].label", MAX_OPTION_LETTERS, required=False)
        options.append(Option(answer, label or Texts(answer, answer)))
    try:
        Categories([option.value for option in options])  # "1" and "01" are one answer, and "nan" is none
    except MurmureError as error:
        values = [option.value for option in options]
        raise SurveyRefused(where, Phrase("a list of different answers"), values, error.message) from None
    return tuple(options)


def _number(name: str, text: Texts, value: dict[str, Any], where: str) -> Question:
    low: Any = value.get("low")
    high: Any = value.get("high")
    step = value.get("step", 1)
    if step not in STEPS or isinstance(step, bool):
        raise SurveyRefused(f"{where}.step", Phrase("one of {steps}", steps=", ".join(map(str, STEPS))), step)
    for field, bound in (("low", low), ("high", high)):
        if not is_finite_number(bound) or abs(bound) > 1e12:
            raise SurveyRefused(f"{where}.{field}", Phrase("a number"), bound)
        if abs(bound / step - round(bound / step)) > 1e-6:
            raise SurveyRefused(f"{where}.{field}", Phrase("a multiple of the step {step}", step=step), bound)
    if not low < high or (high - low) / step > MAX_STEPS:
        wanted = Phrase("greater than the lowest number, and at most {n:,} steps away from it", n=MAX_STEPS)
        raise SurveyRefused(f"{where}.high", wanted, high)
    unit = read_texts(value.get("unit"), f"{where}.unit", MAX_UNIT_LETTERS, required=False)
    if step == 1:
        low, high = int(low), int(high)
    return Question(name, "number", text, (), low, high, step, unit)
