"""The plug-ins of a folder: classes with an `entry`, read off the text of the files without importing them."""

from __future__ import annotations

import ast
import importlib.util
import os
import pkgutil
from functools import cache
from typing import Any

from murmure.core.catalogue_entries import FORMS, CatalogueEntry

MARK = "\n    entry = "


@cache
def plug_ins_in(package: str) -> tuple[tuple[str, str, CatalogueEntry], ...]:
    """The module, the class name and the entry of every plug-in that lies directly in the folders of a package."""
    out = []
    for folder in importlib.import_module(package).__path__:
        for name in _modules_in(folder):
            module = f"{package}.{name}"
            try:
                found = entries_in(_source_of(folder, name, module))
            except (SyntaxError, ValueError, TypeError):  # there is no source, or an entry is not literal: ask Python
                found = _imported(module)
            out += [(module, class_name, entry) for class_name, entry in found.items()]
    return tuple(out)


def _modules_in(folder: str) -> list[str]:
    if not os.path.isdir(folder):  # in an archive
        return [info.name for info in pkgutil.iter_modules([folder]) if not info.ispkg]
    files = map(os.path.splitext, os.listdir(folder))
    return sorted({name for name, ending in files if ending in (".py", ".pyc") and name != "__init__"})


def _source_of(folder: str, name: str, module: str) -> str:
    try:
        with open(os.path.join(folder, f"{name}.py"), encoding="utf-8") as file:
            return file.read()
    except OSError:
        spec = importlib.util.find_spec(module)
        source = None if spec is None else spec.loader.get_source(module)  # type: ignore[union-attr]
        if source is None:
            raise ValueError(f"{module} has no source") from None
        return str(source)


def _imported(module: str) -> dict[str, CatalogueEntry]:
    classes = vars(importlib.import_module(module)).values()
    named = {c.__name__: vars(c).get("entry") for c in classes if isinstance(c, type) and c.__module__ == module}
    return {name: entry for name, entry in named.items() if isinstance(entry, CatalogueEntry)}


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
        end = text.find("\n", end) + 1 or len(text)
        if text[:end].endswith((")\n", ")")):
            try:
                return ast.parse(text[:end], mode="eval").body
            except SyntaxError:  # a bracket is closed further down
                continue
    raise ValueError("the entry has no end")


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple):
        return tuple(map(_value, node.elts))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FORMS:
        named = {keyword.arg: _value(keyword.value) for keyword in node.keywords if keyword.arg is not None}
        return FORMS[node.func.id](*map(_value, node.args), **named)
    return ast.literal_eval(node)
