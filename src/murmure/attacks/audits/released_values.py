"""A result as a list of plain values with their places, so that two results are compared to the last bit."""

from __future__ import annotations

import sys
import types
from collections import deque
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from murmure.attacks.audits.audit_gates import AuditFailed
from murmure.core.random import Random
from murmure.learn.base import Learner

NOT_RELEASED = {
    "engine",
    "ledger",
    "rng",
    "charge_",
}  # where a learner ran, and with which generator, is not part of its result

SIMPLE = {type(None), bool, int, str, bytes}  # most of what there is: they contain nothing, and have no attributes
PLAIN = (type(None), str, bytes, int, complex, Fraction, np.generic, range)


def released_values(value: Any, path: str, above: tuple[int, ...]) -> Iterator[tuple[str, Any]]:
    """A result as a list of plain things, to the last bit, each with its place."""
    if type(value) in SIMPLE:
        yield path, (type(value).__name__, repr(value))
        return
    # A value that contains itself has been listed on the way here.
    if id(value) in above:
        return
    above = (*above, id(value))
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield path, (str(value.dtype), value.shape, value.tobytes())
    elif isinstance(value, (float, np.floating)):
        yield path, (type(value).__name__, float(value).hex())
    elif isinstance(value, PLAIN):
        yield path, (type(value).__name__, repr(value))
    elif isinstance(value, Random | types.ModuleType):
        return
    elif isinstance(value, dict | types.MappingProxyType):
        yield path, (type(value).__name__, len(value))
        for i, (key, item) in enumerate(value.items()):
            yield from released_values(key, f"{path}.keys[{i}]", above)
            yield from released_values(item, f"{path}[{key!r}]", above)
    elif isinstance(value, set | frozenset):
        yield path, sorted(map(repr, value))
    elif isinstance(value, tuple | list) and set(map(type, value)) <= {int, str}:
        yield path, (type(value).__name__, tuple(value))
    elif isinstance(value, tuple | list | deque | np.ndarray):
        yield path, (type(value).__name__, len(value))
        for i, item in enumerate(value):
            yield from released_values(item, f"{path}[{i}]", above)
    else:
        yield path, type(value).__qualname__
        for name, item in _contents(value, path):
            yield from released_values(item, f"{path}.{name}", above)
        return
    if getattr(value, "__dict__", None):  # of a list with attributes, for example
        for name, item in attributes(value):
            yield from released_values(item, f"{path}.{name}", above)


def _contents(value: Any, path: str) -> list[tuple[str, Any]]:
    """What a thing is made of: its attributes, what a function carries along, or what pickle would write.

    What cannot be looked into fails the audit: anything could be in it.
    """
    if isinstance(value, types.FunctionType):
        carried = [cell.cell_contents for cell in value.__closure__ or ()]
        return [("name", value.__qualname__), ("carries", [carried, value.__defaults__, value.__kwdefaults__])]
    if isinstance(value, types.MethodType):
        return [("self", value.__self__), ("name", value.__qualname__)]
    if isinstance(value, partial):
        return [("function", value.func), ("arguments", [value.args, value.keywords])]
    if isinstance(value, type):
        known = getattr(sys.modules.get(value.__module__), value.__qualname__, None) is value
        # a class made while the run went on may carry data in its attributes
        added = [] if known else [("holds", dict(_class_attributes(value)))]
        return [("name", value.__qualname__), *added]
    if isinstance(value, types.BuiltinFunctionType):
        return [("name", value.__qualname__)]
    parts = attributes(value)
    if parts or type(value).__module__.startswith("murmure."):
        return parts
    try:
        return [("state", list(value.__reduce_ex__(4)[1:]))]
    except Exception:
        raise AuditFailed(
            "{path} is of type {kind}, which the audit cannot inspect.",
            hint="release plain values: numbers, text, arrays, lists, dictionaries, data classes",
            path=path,
            kind=type(value).__name__,
        ) from None


def _class_attributes(cls: type) -> Iterator[tuple[str, Any]]:
    """The attributes of a class that was made during the run, without those that every class has."""
    return ((name, value) for name, value in sorted(vars(cls).items()) if not name.startswith("__"))


def attributes(value: Any) -> list[tuple[str, Any]]:
    """All attributes of an object, also in slots: a model that is saved contains them."""
    if is_dataclass(value) and type(value).__module__.startswith("murmure."):
        return [(f.name, getattr(value, f.name)) for f in fields(value)]  # and not what it remembers of them
    declared = [vars(kind).get("__slots__", ()) for kind in type(value).__mro__]
    slots = {n for names in declared for n in ((names,) if isinstance(names, str) else names) if not n.startswith("__")}
    names = sorted({*getattr(value, "__dict__", {}), *(name for name in slots if hasattr(value, name))})
    skipped = NOT_RELEASED if isinstance(value, Learner) else ()
    return [(name, getattr(value, name)) for name in names if name not in skipped]
