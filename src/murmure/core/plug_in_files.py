"""The plug-ins of a folder: classes with an `entry`, read off the text of the files without importing them."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from functools import cache
from pathlib import Path
from typing import Any

from murmure.core.catalogue_entries import FORMS, CatalogueEntry

MARK = "\n    entry = "


@cache
def plug_ins_in(folder: str) -> tuple[tuple[str, str, CatalogueEntry], ...]:
    """The module, the class name and the entry of every plug-in that lies directly in the folders of a package."""
    out = []
    for info in pkgutil.iter_modules(importlib.import_module(folder).__path__):
        if not info.ispkg:
            module = f"{folder}.{info.name}"
            try:
                text = (Path(info.module_finder.path) / f"{info.name}.py").read_text(encoding="utf-8")  # type: ignore[union-attr]
                found = entries_in(text)
            except (OSError, AttributeError, SyntaxError, ValueError, TypeError):
                found = _imported(module)  # there is no text, or an entry is not literal: ask Python
            out += [(module, class_name, entry) for class_name, entry in found.items()]
    return tuple(out)


def entries_in(text: str) -> dict[str, CatalogueEntry]:
    """The entries of a file by class. ValueError: one of them is more than literals and forms."""
    out, at = {}, text.find(MARK)
    while at >= 0:
        class_line = text[text.rindex("\nclass ", 0, at) + len("\nclass ") : at].partition("\n")[0]
        out[class_line.partition("(")[0].partition(":")[0].strip()] = _value(_expression(text[at + len(MARK) :]))
        at = text.find(MARK, at + 1)
    return out


def _expression(text: str) -> ast.expr:
    """The expression that the text begins with, which may be on several lines."""
    end = 0
    while end < len(text):
        line_end = text.find("\n", end)
        end = len(text) if line_end < 0 else line_end + 1
        if text[:end].rstrip().endswith(")"):
            try:
                return ast.parse(text[:end], mode="eval").body
            except SyntaxError:  # a bracket of a later line is missing
                continue
    raise ValueError("the entry has no end")


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FORMS:
        named = {keyword.arg: _value(keyword.value) for keyword in node.keywords if keyword.arg is not None}
        return FORMS[node.func.id](*map(_value, node.args), **named)
    if isinstance(node, ast.Tuple):
        return tuple(map(_value, node.elts))
    return ast.literal_eval(node)


def _imported(module: str) -> dict[str, CatalogueEntry]:
    """The same from the imported module."""
    classes = inspect.getmembers(importlib.import_module(module), inspect.isclass)
    in_module = {name: vars(found).get("entry") for name, found in classes if found.__module__ == module}
    return {name: entry for name, entry in in_module.items() if isinstance(entry, CatalogueEntry)}
