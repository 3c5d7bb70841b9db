"""The keys of a [[models]] table: the keywords of the public function of that name, read off its signature.

There is no second list. A keyword that a function gains is a key of study.toml from then on, unless it is named below,
or in the entry of the model, with the reason why a study cannot take it.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin

from murmure import econometrics
from murmure.catalogue import model_functions
from murmure.core.catalogue_entries import ModelFunction
from murmure.core.errors import shorten
from murmure.show.phrase import Phrase, Several

STUDY_KEYS = ("model", "noise")  # keys of the study itself
EXCLUDED = {
    "data": Phrase("every party brings its own rows"),
    "schema": Phrase("the study has one: schema = ..., or [columns.NAME]"),
    "privacy": Phrase("the terms of the study say it: minimum_parties, colluders, noise"),
    "engine": Phrase("every party adds up its own rows, where they are"),
    "ledger": Phrase("every party keeps its own"),
    "rng": Phrase("every party draws its own randomness"),
}
DEFAULT_MEANING = {  # what None, or an empty tuple, means
    "columns": Phrase("all columns of numbers"),
    "grid": Phrase("the values of the column"),
    "edges": Phrase("the values of the column"),
    "groups": Phrase("all labels"),
    "centres": Phrase("a first guess from public bounds"),
    "start": Phrase("a first guess, made of sums"),
}
OLD_NAMES = {"cuts": ("grid", "edges")}  # what version 0.5 called a key

EXAMPLES = {  # how a person writes a value
    "formula": '"stay ~ age + ward"',
    "instruments": '"distance + age"',
    "columns": '["age", "stay"]',
    "grid": "[10, 20, 30], or grid = 20",
    "edges": "[0, 10, 20, 30], or edges = 20",
    "weights": '"size"',
    "randomised": '{ smoker = { mechanism = "GRR", epsilon = 1.0 } }',
    "event": '"died"',
    "time": '"days"',
    "family": '"weibull"',
}


@dataclass(frozen=True)
class ModelKey:
    """One keyword: what it may hold, and what it is where it is left out."""

    name: str
    type: Any
    required: bool
    default: Any = None

    @property
    def words(self) -> Phrase:
        return words_of(self.type)

    @property
    def example(self) -> str:
        literal = get_origin(_parts(self.type)[0]) is Literal
        return f"{self.name} = {_example(self.type) if literal else EXAMPLES.get(self.name) or _example(self.type)}"

    def accepts(self, value: Any) -> bool:
        return _accepts(self.type, value)


@cache
def keys_of(name: str) -> Mapping[str, ModelKey]:
    """The keys of the function of this name, in the order of its signature."""
    function, required_keys = getattr(econometrics, name), _form(name).required
    excluded = {**EXCLUDED, **excluded_of(name)}
    out = {}
    # eval_str: annotations are text, and their types decide what a value of the file may be.
    for key, parameter in inspect.signature(function, eval_str=True).parameters.items():
        if key not in excluded:
            required = parameter.default is inspect.Parameter.empty or key in required_keys
            out[key] = ModelKey(key, parameter.annotation, required, None if required else parameter.default)
    return types.MappingProxyType(out)


def exclusion_reason(name: str, key: str) -> str | None:
    """Why a keyword of the function is not a key of a study; None if it is a key, or not a keyword at all."""
    if key not in inspect.signature(getattr(econometrics, name)).parameters:
        return None
    return excluded_of(name).get(key) or EXCLUDED.get(key)


def excluded_of(name: str) -> dict[str, str]:
    """The keywords that this function alone cannot take in a study, and why."""
    return {key: why for keys, why in _form(name).excluded for key in keys}


def _form(name: str) -> ModelFunction:
    return model_functions()[name]


# -- what a value may be -----------------------------------------------------------------------------------------------


def _parts(type_: Any) -> list[Any]:
    """The types of a union; None means that the key may be left out."""
    if get_origin(type_) in (typing.Union, types.UnionType):
        return [part for part in get_args(type_) if part is not types.NoneType]
    return [type_]


def _accepts(type_: Any, value: Any) -> bool:
    parts = _parts(type_)
    if len(parts) > 1:
        return any(_accepts(part, value) for part in parts)
    (kind,) = parts
    origin = get_origin(kind) or kind
    if kind is Any:
        return isinstance(value, str | bool | int | float) or (
            isinstance(value, list) and all(_accepts(Any, item) for item in value)
        )
    if origin is Literal:
        return any(value == item and type(value) is type(item) for item in get_args(kind))
    if origin is Mapping:
        return isinstance(value, dict)
    if origin is Sequence:
        return isinstance(value, list) and all(_accepts((get_args(kind) or (Any,))[0], item) for item in value)
    if kind in (int, float):
        return isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
    return isinstance(value, kind)


WORDS = {
    str: Phrase("text"),
    bool: Phrase("true or false"),
    int: Phrase("a whole number"),
    float: Phrase("a number"),
    Any: Phrase("a number, text or a list"),
}
LISTS = {
    str: Phrase("a list of texts"),
    int: Phrase("a list of whole numbers"),
    float: Phrase("a list of numbers"),
    Any: Phrase("a list"),
}


def words_of(type_: Any) -> Phrase:
    """What a key of this type may hold, for people."""
    kinds = dict.fromkeys(_type_in_words(part) for part in _parts(type_))
    return Phrase("{kinds}", kinds=Several(kinds, Phrase(" or "), Phrase(" or ")))


def _type_in_words(type_: Any) -> Phrase:
    origin = get_origin(type_) or type_
    if origin is Literal:
        choices = [f'"{value}"' if isinstance(value, str) else str(value) for value in get_args(type_)]
        if len(choices) == 1:
            return Phrase("{choice}", choice=choices[0])
        return Phrase("one of {choices}", choices=", ".join(choices))
    if origin is Mapping:
        return Phrase("a table")
    if origin is Sequence:
        return LISTS.get((get_args(type_) or (Any,))[0], Phrase("a list of lists"))
    return WORDS[type_]


def _example(type_: Any) -> str:
    part = _parts(type_)[0]
    origin = get_origin(part) or part
    if origin is Literal:
        return f'"{get_args(part)[0]}"'
    if origin is Sequence:
        return '["a", "b"]' if get_args(part) == (str,) else "[1, 2]"
    return {str: '"age"', bool: "true", int: "10", float: "0.5"}.get(part, "1")


def key_table(name: str) -> list[tuple[str, str, str]]:
    """For people: each key, what it may hold, and its default."""
    defaults = _form(name).defaults
    return [(key.name, key.words, defaults.get(key.name) or _default_in_words(key)) for key in keys_of(name).values()]


def _default_in_words(key: ModelKey) -> str:
    if key.required:
        return Phrase("required")
    return (
        DEFAULT_MEANING.get(key.name, Phrase("none"))
        if key.default is None or key.default == ()
        else _toml(key.default)
    )


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else shorten(value)
