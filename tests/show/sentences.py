"""Finds every sentence that people may read, in sources and templates: the keys of the message catalogues.

A sentence is a literal in one of these places:
- the template of a `Phrase`, a `Plural` or an error, and the hint of an error;
- `help`, `short_help` and `epilog` of a command or an option, and the docstring of a command;
- the words of a plug-in's entry (core/catalogue_entries.py);
- phrase("...") in a template of a page;
- what a class of errors passes on to its base, super().__init__("...");
- the first sentence of a mechanism's docstring, which `murmure certify --list` shows.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache

from tests.core.error_sentences import SOURCES, package

from murmure.catalogue import MECHANISMS, load
from murmure.cli.certify import one_sentence

Key = str | tuple[str, str]  # a sentence, or its singular and plural
HELP = {"help", "short_help", "epilog"}
ENTRY_WORDS: Mapping[str, tuple[set[str], int | None]] = {  # fields, and the positional argument that is words
    "OptionForm": ({"help"}, 1),
    "CommandForm": ({"about"}, 0),
    "StatisticEntry": ({"study", "title", "sentence", "bare", "bare_sentence"}, None),
    "RecordEntry": ({"sentence"}, None),
    "NoiseEntry": ({"title"}, None),
}
COMMANDS = {"command", "group"}


@cache
def sentences() -> dict[Key, list[str]]:
    """Every sentence, and where it is."""
    checker, _ = package()  # it collects templates while it looks for sentences that are not
    found: dict[Key, list[str]] = {}
    for where, template in sorted(checker.templates):
        found.setdefault(template, []).append(where)
    for path, tree in checker.trees.items():
        for key, line in _in_tree(tree, errors=path.endswith("core/errors.py")):
            found.setdefault(key, []).append(f"{path}:{line}")
    for template in sorted(SOURCES.glob("**/templates/*.html")):
        for key in re.findall(r"""phrase\((["'])(.*?)\1""", template.read_text()):
            found.setdefault(key[1], []).append(template.relative_to(SOURCES.parent).as_posix())
    for name, module in MECHANISMS.items():
        found.setdefault(one_sentence(load(name)), []).append(module.replace(".", "/") + ".py")
    plurals = {one for key in found if isinstance(key, tuple) for one in key}
    return {key: found[key] for key in found if key not in plurals and _has_words(key)}


def _has_words(key: Key) -> bool:
    """Not code alone, such as "{owner}: {rest}" or "--epsilon 1"."""
    text = key if isinstance(key, str) else key[0]
    return re.search(r"[A-Za-z]{2}|Hint", re.sub(r"\{.*?\}", "", text)) is not None


def _in_tree(tree: ast.AST, errors: bool) -> Iterator[tuple[Key, int]]:
    """errors: the file of errors, whose own sentences the checker of sentences leaves out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(_called(d) in COMMANDS for d in node.decorator_list):
            text = ast.get_docstring(node)
            if text:
                yield help_text(text), node.lineno
        if not isinstance(node, ast.Call):
            continue
        name = _called(node)
        if name == "Plural" and len(node.args) > 1:
            one, many = (a.value for a in node.args[:2] if isinstance(a, ast.Constant))
            yield (str(one), str(many)), node.lineno
        words, place = ENTRY_WORDS.get(name, (HELP, None))
        if name == "Phrase" or _passed_on(node) or (errors and name in ("cls", "__init__")):
            words, place = {"hint"}, 0
        values = [k.value for k in node.keywords if k.arg in words]
        values += node.args[place : place + 1] if place is not None else []
        for value in values:
            for part in ast.walk(value) if isinstance(value, ast.IfExp | ast.BoolOp) else [value]:
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value, node.lineno


def _passed_on(call: ast.Call) -> bool:
    """Whether it is super().__init__(...)."""
    above = call.func.value if isinstance(call.func, ast.Attribute) else None
    return _called(call) == "__init__" and isinstance(above, ast.Call) and _called(above) == "super"


def help_text(docstring: str) -> str:
    """The docstring of a command as the catalogue has it."""
    return inspect.cleandoc(docstring).strip()


def _called(node: ast.expr) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
