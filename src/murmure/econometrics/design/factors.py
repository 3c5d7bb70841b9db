"""A factor of a formula as an expression: np.log(x) is log(x), I(x ** 2) is x ** 2, C(ward) is its labels.

Nothing is evaluated as Python. The text becomes a tree, each call in it is looked up by name, and the result is parsed
by statistics/expressions/parser.py, which derives the bounds of each expression from the schema.
"""

from __future__ import annotations

import ast
import difflib
import keyword
import re
from collections.abc import Iterator
from typing import Any

from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, MurmureError, Phrase, shorten
from murmure.core.schema import Schema
from murmure.econometrics.design.coding import Factor
from murmure.econometrics.design.constant_columns import refuse_constant
from murmure.statistics.expressions.parser import read_expression
from murmure.statistics.expressions.terms import Terms
from murmure.statistics.expressions.text import parsed

MAX_LEVELS = 64  # of a column of whole numbers in C()
FORMULA_FUNCTIONS = {name: name for name in ("min", "max", "abs", "log", "exp", "sqrt")}
FORMULA_FUNCTIONS |= {f"np.{name}": name for name in ("abs", "log", "exp", "sqrt")}
FORMULA_FUNCTIONS |= {"np.minimum": "min", "np.maximum": "max"}
PIECEWISE_HINT = Phrase("I(max(x - 40, 0)) bends at 40, a public number of yours")
PUBLIC_SPREAD = Phrase("needs the mean and the spread of the data"), Phrase("use public numbers: I((x - 40) / 10)")
UNKNOWN = Phrase("is not known")
REFUSED = {  # functions of formulaic, patsy and R, why they are refused here, and what to write instead
    "center": (Phrase("needs the mean of the data"), Phrase("subtract a public number: I(x - 40)")),
    "scale": PUBLIC_SPREAD,
    "standardize": PUBLIC_SPREAD,
    "poly": (Phrase("needs the data to make its columns orthogonal"), Phrase("write the powers: x + I(x ** 2)")),
    "hashed": (Phrase("mixes labels up"), Phrase("list the labels in the schema")),
    "lag": (
        Phrase("needs rows in an order, and rows here have none"),
        Phrase("make the earlier value a column of the data"),
    ),
    **dict.fromkeys(("bs", "cs", "cr", "cc", "te"), (Phrase("puts its knots where the data are"), PIECEWISE_HINT)),
    **dict.fromkeys(("log10", "log2", "np.log10", "np.log2"), (UNKNOWN, Phrase("log(x) is another unit of it"))),
    **dict.fromkeys(("log1p", "np.log1p"), (UNKNOWN, Phrase("log(x + 1)"))),
    "np.power": (UNKNOWN, Phrase("I(x ** 2)")),
    "np.square": (UNKNOWN, Phrase("I(x ** 2)")),
    "np.where": (UNKNOWN, Phrase("a comparison is 1 or 0: I(x > 40)")),
}
TREATMENT = ("Treatment", "contr.treatment")
BASES = ("reference", "base")


def quoted(name: str) -> str:
    """The name of a column in an expression: in back quotes, if it is not an identifier."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and not keyword.iskeyword(name):
        return name
    if "`" in name:
        raise InvalidParameter("column {name!r}: a name with a backquote cannot be used in a formula.", name=name)
    return f"`{name}`"


def literal(label: Any) -> str:
    """A label in an expression. Characters that could be taken for a quote are written as escapes."""
    if not isinstance(label, str):
        return repr(label)
    if "'" in label and label.isprintable() and not set(label) & set('"\\`#'):
        return f'"{label}"'
    return "'" + "".join(c if c.isprintable() and c not in "'\\`#" else _escaped(c) for c in label) + "'"


def _escaped(c: str) -> str:
    return f"\\U{ord(c):08x}" if ord(c) > 0xFFFF else f"\\u{ord(c):04x}"


def levels_of(schema: Schema, name: str) -> tuple[tuple[str, str], ...]:
    """The labels of a column in the order of its schema, each with the condition that a row has it."""
    domain: Any = schema[name]
    if isinstance(domain, Categories):
        values: Any = range(domain.values) if isinstance(domain.values, int) else domain.values
    elif isinstance(domain, Integers) and domain.size <= MAX_LEVELS:
        values = range(domain.low, domain.high + 1)
    else:
        raise InvalidParameter(
            "C({name}) needs labels, but the column holds {domain}.",
            hint="make it Categories in the schema; whole numbers are labels too where there are {max_levels} or fewer",
            name=name,
            domain=domain.describe(),
            max_levels=MAX_LEVELS,
        )
    return tuple((str(value), f"{quoted(name)} == {literal(value)}") for value in values)


class FactorReader:
    """Parses the factors of a formula, with the columns of a schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema, self.terms = schema, Terms(schema)

    def column(self, name: str) -> Factor:
        """The factor of a column, by its name."""
        if name not in self.schema:
            raise InvalidParameter(
                "there is no column {name!r}; the schema has {schema}.",
                hint=suggestion(name, list(self.schema)) or "use the column names of the schema",
                name=name,
                schema=shorten(list(self.schema), 120),
            )
        if isinstance(self.schema[name], Categories):
            levels = self._levels(name)
            return Factor(name, levels=levels)
        return Factor(name, self.number(quoted(name)))

    def parse_call(self, text: str) -> Factor:
        """The factor that a call, or an expression in braces, describes."""
        tree, _, names = parsed(text)
        if called(tree) == "C":
            return self._labels(text, tree, names)
        inner = tree
        while called(inner) == "I":
            inner = _only_argument(inner, names)
        name = column_named(inner, names)
        if name is not None:
            return Factor(text, **{k: v for k, v in vars(self.column(name)).items() if k != "name"})
        return Factor(text, self.number(source_text(_Translator(names).visit(inner), names)))

    def number(self, expression: str) -> str:
        """The expression itself, after checking that it can be added up and differs between rows."""
        term = self.terms[read_expression(expression, self.terms)]
        if term.is_constant:
            raise InvalidParameter(
                "{expression} is {number:g} for every row that the schema allows.",
                hint="leave it out, or correct the bounds in the schema",
                expression=expression,
                number=float(term.unit * term.low),
            )
        return expression

    def _levels(self, name: str) -> tuple[tuple[str, str], ...]:
        """The labels of a column, after checking that rows hold more than one of them."""
        refuse_constant(
            self.schema,
            name,
            Phrase("only one label"),
            Phrase("leave it out of the formula, or name the labels in a schema"),
        )
        levels = levels_of(self.schema, name)
        self.number(levels[-1][1])
        return levels

    def _labels(self, text: str, tree: Any, names: dict[str, str]) -> Factor:
        name = column_named(tree.args[0], names) if tree.args else None
        if name is None or len(tree.args) > 2:
            raise InvalidParameter(
                "{text}: C takes a column and, optionally, its base label.",
                hint='C(ward), C(ward, Treatment("B"))',
                text=text,
            )
        contrasts = [*tree.args[1:], *(argument.value for argument in tree.keywords if argument.arg == "contr")]
        if len(contrasts) > 1 or any(argument.arg != "contr" for argument in tree.keywords):
            raise InvalidParameter(
                "{text}: C takes a column and, optionally, its base label.",
                hint="labels and their order come from the schema",
                text=text,
            )
        levels = self._levels(name)
        return Factor(text, levels=levels, base=self._base(text, contrasts[0], levels) if contrasts else 0)

    def _base(self, text: str, contrast: ast.expr, levels: tuple[tuple[str, str], ...]) -> int:
        if dotted(contrast) in TREATMENT:
            return 0
        given: list[ast.expr] = []
        if isinstance(contrast, ast.Call) and dotted(contrast.func) in TREATMENT:
            given = [*contrast.args, *(argument.value for argument in contrast.keywords if argument.arg in BASES)]
        if len(given) != 1 or len(given) != len(contrast.args) + len(contrast.keywords):  # type: ignore[attr-defined]
            raise InvalidParameter(
                "{text}: labels can only be compared with one of them, the base.",
                hint='C(ward), or C(ward, Treatment("B")) for the base B',
                text=text,
            )
        try:
            base = str(ast.literal_eval(given[0]))
        except ValueError:
            base = ast.unparse(given[0])
        labels = [label for label, _ in levels]
        if base not in labels:
            raise InvalidParameter(
                "{text}: {base!r} is not one of the labels {labels}.",
                hint=suggestion(base, labels),
                text=text,
                base=base,
                labels=shorten(labels, 90),
            )
        return labels.index(base)


def suggestion(word: str, known: list[str]) -> str | None:
    """ "did you mean 'Age'?", if a known name is similar."""
    by_lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), by_lower, 1)
    return Phrase("did you mean {by_lower!r}?", by_lower=by_lower[close[0]]) if close else None


def dotted(node: Any) -> str:
    """The name, such as np.log, of a node that is a name; "" for any other node."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""


def called(node: Any) -> str:
    return dotted(node.func) if isinstance(node, ast.Call) else ""


def column_named(node: Any, names: dict[str, str]) -> str | None:
    """The column that a node names: plainly, in back quotes, or by patsy's Q("length of stay"); else None."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if called(node) == "Q" and len(node.args) == 1 and not node.keywords:
        argument = node.args[0]
        return argument.value if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else None
    return None


def columns_in(node: ast.AST, names: dict[str, str]) -> Iterator[str]:
    """Every name of a column in an expression, whether or not there is such a column."""
    name = column_named(node, names)
    if name is not None:
        yield name
        return
    parts: list[Any] = [] if dotted(node) else list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Call):
        parts = [*node.args[: 1 if called(node) == "C" else None], *(argument.value for argument in node.keywords)]
    for part in parts:
        yield from columns_in(part, names)


def source_text(node: ast.AST, names: dict[str, str]) -> str:
    """The text of a tree, with quoted names put back."""
    text = ast.unparse(node)
    for word, name in names.items():
        text = re.sub(rf"\b{word}\b", lambda _, name=name: quoted(name), text)  # type: ignore[misc]
    return text


def _only_argument(node: Any, names: dict[str, str]) -> ast.expr:
    if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
        raise InvalidParameter(
            "{node}: {called} takes one expression.", node=source_text(node, names), called=called(node)
        )
    return node.args[0]


class _Translator(ast.NodeTransformer):
    """Translates calls to the names of our expressions, and & | ~ of conditions to and, or, not."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = called(node)
        if name == "I":
            return self.visit(_only_argument(node, self.names))  # type: ignore[no-any-return]
        if name == "Q" and column_named(node, self.names) is not None:
            placeholder = f"{min(self.names, default='quoted')}_{len(self.names)}"
            self.names[placeholder] = str(column_named(node, self.names))
            return ast.Name(placeholder, ast.Load())
        if name in FORMULA_FUNCTIONS:
            arguments = [self.visit(part) for part in node.args]
            return ast.Call(ast.Name(FORMULA_FUNCTIONS[name], ast.Load()), arguments, node.keywords)
        function = shorten(source_text(node, self.names).split("(")[0], 40).strip("'\"")
        known = REFUSED.get(name) or REFUSED.get(name.removeprefix("np."))
        why, way_out = known or (Phrase("is no function of formulas"), None)
        suggested = suggestion(name.removeprefix("np."), ["log", "exp", "sqrt", "min", "max", "abs"])
        raise InvalidParameter(
            "{function}(...) {why}.",
            hint=way_out
            or suggested
            or "a formula takes C, I, log, exp, sqrt, min, max and abs; compute any other column in the data",
            function=function,
            why=why,
        )

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if isinstance(node.op, ast.BitAnd | ast.BitOr):
            op = ast.And() if isinstance(node.op, ast.BitAnd) else ast.Or()
            return ast.BoolOp(op, [self.visit(node.left), self.visit(node.right)])
        if isinstance(node.op, ast.Div) and any(columns_in(node.right, self.names)):
            raise InvalidParameter(
                "{node} divides by a column; it can only divide by a number.",
                hint="compute the ratio as a column of the data",
                node=source_text(node, self.names),
            )
        return self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.Invert):
            return ast.UnaryOp(ast.Not(), self.visit(node.operand))
        return self.generic_visit(node)


def formula_error(text: str, error: MurmureError) -> InvalidParameter:
    """The same error, as one about the formula."""
    message = error.message
    if message.template == "expression {text}: {what}":
        # What is wrong, without the expression: the formula is named instead.
        message = message.fields["what"]
    return InvalidParameter("formula {text}: {message}", hint=error.hint, text=shorten(text, 100), message=message)
