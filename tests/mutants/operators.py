"""Which operators of Cosmic Ray make mutants, and where in a file they apply.

Each operator, comparison or keyword is replaced by its nearest relatives only: `<` by `<=` and `>=`, `+` by `-`.
Those are the slips that people make, and the ones that are hard to find; `+` turned into `<<` is found by any test.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any

import parso
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.operators.provider import OperatorProvider

BINARY = {
    "Add": ("Sub",),
    "Sub": ("Add",),
    "Mul": ("Div", "Add"),
    "Div": ("Mul", "FloorDiv"),
    "FloorDiv": ("Div", "Mul"),
    "Mod": ("FloorDiv",),
    "Pow": ("Mul",),
    "RShift": ("LShift",),
    "LShift": ("RShift",),
    "BitOr": ("BitAnd", "BitXor"),
    "BitAnd": ("BitOr", "BitXor"),
    "BitXor": ("BitAnd", "BitOr"),
}
COMPARISONS = {
    "Lt": ("LtE", "GtE"),
    "LtE": ("Lt", "Gt"),
    "Gt": ("GtE", "LtE"),
    "GtE": ("Gt", "Lt"),
    "Eq": ("NotEq",),
    "NotEq": ("Eq",),
    "Is": ("IsNot",),
    "IsNot": ("Is",),
}
AUGMENTED = {
    "+=": "-=",
    "-=": "+=",
    "*=": "//=",
    "//=": "*=",
    "|=": "&=",
    "&=": "|=",
    "^=": "|=",
    "<<=": ">>=",
    ">>=": "<<=",
}
CHAINS = {
    "arith_expr",
    "term",
    "power",
    "expr",
    "xor_expr",
    "and_expr",
    "shift_expr",
}  # where parso puts binary operators
# Statements that hold no behaviour: names for readers, and examples for tests.
NOT_CODE = {"__all__", "EXAMPLES"}


class ReplaceAugmentedAssignment(Operator):
    """`+=` becomes `-=`, and so on; Cosmic Ray has none of these."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        if node.type == "operator" and node.value in AUGMENTED:
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        node.value = AUGMENTED[node.value]
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        return ()


@cache
def operators() -> dict[str, tuple[str, Operator]]:
    """The kind of each operator, and the operator, by name."""
    names = {
        "arithmetic": [
            *(f"ReplaceBinaryOperator_{was}_{new}" for was, several in BINARY.items() for new in several),
            *("ReplaceUnaryOperator_Delete_USub", "ReplaceUnaryOperator_Delete_Invert"),
        ],
        "comparison": [
            f"ReplaceComparisonOperator_{was}_{new}" for was, several in COMPARISONS.items() for new in several
        ],
        "logic": [
            *("ReplaceUnaryOperator_Delete_Not", "ReplaceAndWithOr", "ReplaceOrWithAnd", "AddNot"),
            *("ReplaceBreakWithContinue", "ReplaceContinueWithBreak"),
        ],
        "constant": ["NumberReplacer", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue"],
    }
    provider = OperatorProvider()
    found = {name: (kind, provider[name]()) for kind, listed in names.items() for name in listed}
    return found | {"ReplaceAugmentedAssignment": ("arithmetic", ReplaceAugmentedAssignment())}


KINDS = ("arithmetic", "comparison", "logic", "constant")
USUAL = KINDS[:3]  # a constant is most often a limit, a buffer or `frozen=True`, where no result depends on it
# The kinds of node that an operator may apply to: asking each operator about each node would take minutes.
LEAVES = {"operator", "keyword", "number"}
NODES = {"comparison", "factor", "not_test", "if_stmt", "while_stmt", "assert_stmt", "test", "ternary"}


@dataclass(frozen=True)
class Replacement:
    """One operator at one place of a file: the operator's so-manieth position there, and where it starts and ends."""

    operator: str
    occurrence: int
    start: tuple[int, int]
    end: tuple[int, int]


def replacements(source: str, kinds: tuple[str, ...] = USUAL) -> Iterator[Replacement]:
    """All replacements that are code: no annotation, no docstring, no `__all__`, no types."""
    chosen = [(name, operator, count()) for name, (kind, operator) in operators().items() if kind in kinds]
    left_out = Ranges(source)
    for node in nodes(parso.parse(source)):
        if node.type not in LEAVES and node.type not in NODES:
            continue
        for name, operator, occurrences in chosen:
            for (start, end), occurrence in zip(operator.mutation_positions(node), occurrences, strict=False):
                if applies(name, node) and (start, end) not in left_out:
                    yield Replacement(name, occurrence, start, end)


def nodes(node: Any) -> Iterator[Any]:
    """In the order in which Cosmic Ray counts occurrences."""
    yield node
    for child in getattr(node, "children", ()):
        yield from nodes(child)


def applies(name: str, node: Any) -> bool:
    """Not the star of `def f(a, *, b)`, not half of a type, not an assertion that a type checker asked for."""
    if name.startswith("ReplaceBinaryOperator"):
        if node.parent.type not in CHAINS:
            return False
        return node.value != "|" or all(getattr(child, "value", "") != "None" for child in node.parent.children)
    return node.type != "assert_stmt"


def mutated(source: str, replacement: Replacement) -> str:
    """The file with this one replacement. Raises ValueError where the operator does not apply."""
    text = mutate_code(source, operators()[replacement.operator][1], replacement.occurrence)
    if text is None:
        raise ValueError(f"{replacement} does not apply to this file")
    return text


class Ranges:
    """The stretches of a file that are not code that runs, as Python's own parser sees them."""

    def __init__(self, source: str) -> None:
        self._lines = source.split("\n")
        self._ranges = [self._range(node) for node in not_code(ast.parse(source))]

    def __contains__(self, place: tuple[tuple[int, int], tuple[int, int]]) -> bool:
        start, end = place
        return any(first <= start and end <= last for first, last in self._ranges)

    def _range(self, node: Any) -> tuple[tuple[int, int], tuple[int, int]]:
        return self._position(node.lineno, node.col_offset), self._position(node.end_lineno, node.end_col_offset)

    def _position(self, line: int, column: int) -> tuple[int, int]:
        """Python's parser counts columns in bytes, parso in characters."""
        return line, len(self._lines[line - 1].encode()[:column].decode())


def not_code(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        match node:
            case ast.arg(annotation=ast.AST() as annotation) | ast.AnnAssign(annotation=annotation):
                yield annotation
            case (
                ast.FunctionDef(returns=ast.AST() as annotation) | ast.AsyncFunctionDef(returns=ast.AST() as annotation)
            ):
                yield annotation
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, types]):
                yield types
            case ast.Call(func=ast.Name(id="cast" | "TypeVar" | "NewType")):
                yield node.args[0]
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield node
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) if name in NOT_CODE:
                yield node
            case ast.AnnAssign(target=ast.Name(id=name)) if name in NOT_CODE or "TypeAlias" in ast.unparse(
                node.annotation
            ):
                yield node
