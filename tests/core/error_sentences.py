"""Reads the sources for error sentences that are not a template with fields: what a translator could not reach."""

from __future__ import annotations

import ast
import re
import string
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import murmure

SOURCES = Path(murmure.__file__).parent
ROOTS = {"MurmureError", "UsageError"}
CODE = re.compile(r"\s*(murmure |--|\w+ = )")  # a command or a line of TOML, the same in every language
NOT_FIELDS = {"hint", "columns"}
HELD = {
    "hint",
    "message",
    "about",
    "title",
    "sentence",
    "bare",
    "bare_sentence",
    "study",
}  # phrases, and words of entries
Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef


class Checker:
    """Finds every sentence in these files that another language could not be rendered from."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.trees = {path: ast.parse(text) for path, text in sources.items()}
        self.nodes = {path: list(ast.walk(tree)) for path, tree in self.trees.items()}
        self.errors = _family(node for nodes in self.nodes.values() for node in nodes)
        self.first = _first_arguments(node for nodes in self.nodes.values() for node in nodes)
        self.functions: dict[str, list[tuple[str, ast.FunctionDef]]] = defaultdict(list)
        self.constants: dict[str, list[tuple[str, ast.expr]]] = defaultdict(list)
        self.calls: dict[str, list[tuple[str, Scope, ast.Call]]] = defaultdict(list)
        self.templates: set[tuple[str, str]] = set()
        self.done: set[tuple[object, ...]] = set()
        self.imports = {
            path: {a.name: n.module or "-" for n in nodes if isinstance(n, ast.ImportFrom) for a in n.names}
            for path, nodes in self.nodes.items()
        }
        for path, tree in self.trees.items():
            for node in tree.body:
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    self.constants[node.targets[0].id].append((path, node.value))
            for scope in _scopes(self.nodes[path]):
                if isinstance(scope, ast.FunctionDef):
                    self.functions[scope.name].append((path, scope))
                for node in _own(scope):
                    if isinstance(node, ast.Call):
                        self.calls[_name(node.func)].append((path, scope, node))

    def problems(self) -> list[str]:
        return sorted(set(self.run()))

    def run(self) -> Iterator[str]:
        for path in self.trees:
            if path.endswith("core/errors.py"):  # says what a template is
                continue
            for scope in _scopes(self.nodes[path]):
                kinds = _kinds(scope, self.errors)
                for node in _own(scope):
                    if isinstance(node, ast.Call):
                        yield from self.call(path, scope, node, kinds)

    def call(self, path: str, scope: Scope, call: ast.Call, kinds: set[str]) -> Iterator[str]:
        name = _name(call.func)
        first = 0
        if name == "__init__" and isinstance(call.func, ast.Attribute) and _name(call.func.value) in self.errors:
            name, first = "MurmureError", 1
        if name in self.errors and self.first.get(name, 0) is None:
            for value in (*call.args, *(keyword.value for keyword in call.keywords)):
                yield from self.part(path, scope, value)
        elif name == "Phrase" or name in self.errors or (isinstance(call.func, ast.Name) and name in kinds):
            yield from self.sentence_call(path, scope, call, first + (self.first.get(name) or 0))

    def sentence_call(self, path: str, scope: Scope, call: ast.Call, first: int) -> Iterator[str]:
        where = f"{path}:{call.lineno}"
        if len(call.args) <= first or isinstance(call.args[first], ast.Starred):
            yield f"{where}: its sentence is not the first argument"
            return
        if any(k.arg is None for k in call.keywords):
            return  # it passes on what it was given
        own = NOT_FIELDS if _name(call.func) != "Phrase" else set()
        fields = {k.arg: k.value for k in call.keywords if k.arg not in own}
        parts = [*call.args[first : first + 2], *(k.value for k in call.keywords if k.arg == "hint" and own)]
        for part in parts:
            yield from self.sentence(path, scope, part, set(fields))
        for value in fields.values():
            yield from self.part(path, scope, value)
        literal = [c for part in parts for c in _branches(part) if isinstance(c, ast.Constant)]
        used = {n for c in literal if isinstance(c.value, str) for n in _placeholders(c.value) or ()}
        if unused := set(fields) - used:
            yield f"{where}: no placeholder for {', '.join(sorted(unused))}"

    def sentence(self, path: str, scope: Scope, node: ast.expr, fields: set[str]) -> Iterator[str]:
        """A message or hint: a literal template, a Phrase, or something that holds one."""
        where = f"{path}:{node.lineno}"
        for part in _branches(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                names = _placeholders(part.value)
                self.templates.add((where, part.value))
                if names is None:
                    yield f"{where}: not a template: {part.value!r}"
                elif missing := names - fields:
                    yield f"{where}: no field for {', '.join(sorted(missing))}"
            elif isinstance(part, ast.Constant):
                pass
            elif isinstance(part, ast.Name):
                yield from self.named(path, scope, part, sentence=True)
            elif isinstance(part, ast.Call):
                yield from self.returned(path, part, sentence=True)
            elif isinstance(part, ast.Starred) and isinstance(part.value, ast.Call):
                pass  # a function that returns a reason and a hint
            elif not (isinstance(part, ast.Attribute) and part.attr in HELD):
                yield f"{where}: a sentence is built by {ast.unparse(part)}"

    def part(self, path: str, scope: Scope, node: ast.expr, follow: bool = True) -> Iterator[str]:
        """A value in a sentence: words in it must be a Phrase."""
        where = f"{path}:{node.lineno}"
        for part in _branches(node):
            if _is_built(part) and _has_words(part):
                yield f"{where}: words outside a Phrase: {ast.unparse(part)}"
            elif isinstance(part, ast.Name):
                yield from self.named(path, scope, part, False, follow)
            elif isinstance(part, ast.Call) and follow:
                yield from self.returned(path, part, sentence=False)

    def named(self, path: str, scope: Scope, node: ast.Name, sentence: bool, follow: bool = True) -> Iterator[str]:
        """What a variable, a parameter or a constant holds."""
        key = (path, scope, node.id, sentence)
        if key in self.done:
            return
        self.done.add(key)
        values = list(_assigned(scope, node.id))
        for value in values:
            yield from self.value(path, scope, value, sentence, follow)
        if isinstance(scope, ast.FunctionDef) and node.id in (names := _parameters(scope)):
            if follow:
                yield from self.given(path, scope, names.index(node.id), node.id, sentence)
        elif not values:
            for other, value in self.constants.get(node.id, ()):
                yield from self.value(other, self.trees[other], value, sentence)

    def value(self, path: str, scope: Scope, node: ast.expr, sentence: bool, follow: bool = False) -> Iterator[str]:
        if sentence:
            yield from self.sentence(path, scope, node, set())
        else:
            yield from self.part(path, scope, node, follow)

    def may_call(self, path: str, call: ast.Call, home: str, function: ast.FunctionDef) -> bool:
        """Whether this call is of that function, as far as names and imports tell."""
        if _is_method(function) or isinstance(call.func, ast.Attribute):
            if _is_method(function) != isinstance(call.func, ast.Attribute) or function.name == "__init__":
                return False
            here = any(other == path for other, _ in self.functions[function.name])
            return path == home or not (here and _name(call.func.value) == "self")
        return path == home or home.removesuffix(".py").replace("/", ".").endswith(
            self.imports[path].get(function.name, "-")
        )

    def given(self, home: str, function: ast.FunctionDef, place: int, name: str, sentence: bool) -> Iterator[str]:
        """What callers pass for a parameter."""
        for path, scope, call in self.calls.get(function.name, ()):
            position = place - _is_method(function)
            if position < 0 or not self.may_call(path, call, home, function):
                continue
            values = [k.value for k in call.keywords if k.arg == name] + call.args[position : position + 1]
            values += [a for a in call.args[:position] if isinstance(a, ast.Starred)]
            for value in values:
                yield from self.value(path, scope, value, sentence)

    def returned(self, path: str, call: ast.Call, sentence: bool) -> Iterator[str]:
        """What a function returns that makes a sentence or a part of one."""
        name = _name(call.func)
        if name == "Phrase" or name in self.errors:
            return  # looked at where it is called
        known = [(other, f) for other, f in self.functions.get(name, ()) if self.may_call(path, call, other, f)]
        if sentence and not known:
            yield f"{path}:{call.lineno}: a sentence is built by {ast.unparse(call)}"
        if not sentence and _is_format(call) and _has_words(call.func.value):
            yield f"{path}:{call.lineno}: words outside a Phrase: {ast.unparse(call)}"
        for other, function in known:
            key = (other, function, sentence)
            if key in self.done or other.endswith("core/errors.py"):
                continue
            self.done.add(key)
            for node in _own(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    if sentence:
                        yield from self.sentence(other, function, node.value, set())
                    elif function.returns is not None and "str" in ast.unparse(function.returns):
                        yield from self.part(other, function, node.value, follow=False)


@cache
def package() -> tuple[Checker, list[str]]:
    """The checker of the whole package, and what it found: reading all sources takes seconds, so once a process."""
    checker = Checker(
        {path.relative_to(SOURCES.parent).as_posix(): path.read_text() for path in sorted(SOURCES.rglob("*.py"))}
    )
    return checker, checker.problems()


def _family(nodes: Iterable[ast.AST]) -> set[str]:
    bases: dict[str, set[str]] = defaultdict(set)
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            bases[node.name] |= {_name(base) for base in node.bases}
    found = set(ROOTS)
    while new := {name for name, above in bases.items() if above & found} - found:
        found |= new
    return found


def _first_arguments(nodes: Iterable[ast.AST]) -> dict[str, int | None]:
    """Which argument of a constructor of its own is the sentence; None: it puts parts into its own sentence."""
    out: dict[str, int | None] = {}
    for node in nodes:
        for function in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(function, ast.FunctionDef) and function.name == "__init__":
                names = _parameters(function)
                found = next((name for name in ("template", "message") if name in names), None)
                out[node.name] = None if found is None else names.index(found) - 1
    return out


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _scopes(nodes: Iterable[ast.AST]) -> Iterator[Scope]:
    return (node for node in nodes if isinstance(node, Scope))


@cache
def _own(scope: ast.AST) -> list[ast.AST]:
    """The nodes of a scope, without those of the functions in it."""
    out, todo = [], [scope]
    while todo:
        children = [
            child
            for child in ast.iter_child_nodes(todo.pop())
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        out += children
        todo += children
    return out


def _kinds(scope: Scope, errors: set[str]) -> set[str]:
    """Variables that hold a class of errors, or whose call is raised."""
    nodes = list(_own(scope))
    raised = {_name(n.exc.func) for n in nodes if isinstance(n, ast.Raise) and isinstance(n.exc, ast.Call)}
    out = set()
    for node in nodes:
        if isinstance(node, ast.Assign):
            names = {n.id for n in ast.walk(node.targets[0]) if isinstance(n, ast.Name)}
            out |= names if any(_name(b) in errors for b in _branches(node.value)) else names & raised
    return out


def _branches(node: ast.expr) -> Iterator[ast.expr]:
    """The values that an expression may have: of `a if b else c`, a and c."""
    if isinstance(node, ast.IfExp):
        yield from _branches(node.body)
        yield from _branches(node.orelse)
    elif isinstance(node, ast.BoolOp):
        last = node.values if isinstance(node.op, ast.Or) else node.values[-1:]
        for value in last:
            yield from _branches(value)
    elif isinstance(node, ast.Tuple):
        for value in node.elts:
            yield from _branches(value)
    elif isinstance(node, ast.Call) and _name(node.func) == "say":  # English or French
        yield from node.args
    elif isinstance(node, ast.NamedExpr):
        yield from _branches(node.value)
    else:
        yield node


def _assigned(scope: Scope, name: str) -> Iterator[ast.expr]:
    for node in _own(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _unpacked(target, node.value, name)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr | ast.AugAssign) and node.value is not None:
            yield from _unpacked(node.target, node.value, name)


def _unpacked(target: ast.expr, value: ast.expr, name: str) -> Iterator[ast.expr]:
    if isinstance(target, ast.Name) and target.id == name:
        yield value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.IfExp):
        yield from _unpacked(target, value.body, name)
        yield from _unpacked(target, value.orelse, name)
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for t, v in zip(target.elts, value.elts, strict=True):
            yield from _unpacked(t, v, name)


def _parameters(function: ast.FunctionDef) -> list[str]:
    arguments = function.args
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _is_method(function: ast.FunctionDef) -> bool:
    return _parameters(function)[:1] in (["self"], ["cls"])


def _placeholders(template: str) -> set[str] | None:
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError:
        return None
    return {name for _, name, _, _ in parts if name is not None}


def _is_built(node: ast.expr) -> bool:
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return text or isinstance(node, ast.JoinedStr | ast.BinOp)


def _is_format(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr == "format"


def _has_words(node: ast.expr) -> bool:
    """Whether there is English in it: a word of two letters or more, and a space."""
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add | ast.Mod):
        return False
    texts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return any(re.search(r"[A-Za-z]{2}", text) and " " in text and not CODE.match(text) for text in texts)
