"""The items, found and not listed: lectures/items/lecture_000/warner_tree.py is "000/warner-tree"."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from types import ModuleType

from murmure.core.errors import InvalidParameter
from murmure.lectures import items
from murmure.lectures.course.item import Item, Lecture

PREFIX = "lecture_"


@cache
def lectures() -> dict[str, Lecture]:
    """The lectures by number."""
    return {number: _package(number).LECTURE for number in sorted(_numbers())}


@cache
def item_names(lecture: str) -> tuple[str, ...]:
    """The items of a lecture, in its order."""
    files = {info.name for info in pkgutil.iter_modules(_package(lecture).__path__) if not info.ispkg}
    order = lectures()[lecture].order
    if set(order) != files:
        raise RuntimeError(f"the order of lecture {lecture} and its files differ: {sorted(set(order) ^ files)}")
    return tuple(f"{lecture}/{name.replace('_', '-')}" for name in order)


def all_names() -> tuple[str, ...]:
    return tuple(name for lecture in lectures() for name in item_names(lecture))


def named(name: str) -> tuple[str, ...]:
    """The items that a name means: "all", a lecture ("000"), or an item ("000/warner-tree", "warner-tree")."""
    if name == "all":
        return all_names()
    if name in lectures():
        return item_names(name)
    found = tuple(item for item in all_names() if name in (item, item.partition("/")[2]))
    if not found:
        raise InvalidParameter(
            "there is no lecture and no item called {name!r}.", hint="murmure lectures list shows them all", name=name
        )
    return found


def item_of(name: str) -> Item:
    return module_of(name).ITEM  # type: ignore[no-any-return]


def code_of(name: str) -> str:
    """The file of an item: the code of its figure."""
    return inspect.getsource(module_of(name))


def module_of(name: str) -> ModuleType:
    lecture, _, item = name.partition("/")
    return importlib.import_module(f"{items.__name__}.{PREFIX}{lecture}.{item.replace('-', '_')}")


def _package(lecture: str) -> ModuleType:
    return importlib.import_module(f"{items.__name__}.{PREFIX}{lecture}")


def _numbers() -> list[str]:
    names = (info.name for info in pkgutil.iter_modules(items.__path__) if info.ispkg)
    return [name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)]
