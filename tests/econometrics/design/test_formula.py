"""Formulas: the same columns and names as formulaic makes of the same data, and nothing evaluated as Python."""

from __future__ import annotations

import json
import re
import sys

import formulaic
import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from murmure.core.column import Column
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, MissingColumn, MissingExtra, OutsideDomain
from murmure.core.schema import Schema
from murmure.econometrics.design import formula as formula_module
from murmure.econometrics.design.design_matrix import Design
from murmure.econometrics.design.factors import literal
from murmure.econometrics.design.formula import columns_named, read_formula

N = 90
AT = np.arange(N)
FRAME = pd.DataFrame(
    {
        "y": (AT * 7 % 13).astype(float),
        "x": 1.0 + AT * 5 % 11,
        "z": 1 + AT * 3 % 7,
        "a": pd.Categorical(np.array(list("abc"))[AT * 5 % 7 % 3]),
        "b": pd.Categorical(np.array(list("uv"))[AT * 3 % 5 % 2]),
        "c": pd.Categorical(np.array(list("pqrs"))[AT * 11 % 13 % 4]),
        "length of stay": AT % 9,
    }
)
SCHEMA = Schema(
    {
        "y": Integers(0, 20),
        "x": Integers(1, 20),
        "z": Integers(1, 7),
        "a": Categories(list("abc")),
        "b": Categories(["u", "v"]),
        "c": Categories(list("pqrs")),
        "length of stay": Integers(0, 8),
    }
)
SAME = [
    "y ~ 1",
    "y ~ a + b",
    "y ~ x + a",
    "y ~ a*b",
    "y ~ a:b",
    "y ~ 0 + a",
    "y ~ x:a",
    "y ~ 0 + a:b",
    "y ~ a*x - 1",
    "y ~ a*b*c",
    "y ~ a*b*x",
    "y ~ a:b:c",
    "y ~ 0 + a:b:c",
    "y ~ a:b + c:x",
    "y ~ b:a + a",
    "y ~ c:b:a + b + x:c",
    "y ~ x:a + a:b + x",
    "y ~ a:x + b:x + a:b:x - 1",
    "y ~ (a + b + c)**2",
    "y ~ (a + x)^2 - a",
    "y ~ a/b",
    "y ~ b %in% a",
    "y ~ x:z:b",
    "y ~ I(x**2) + {x>4} + I(x > 2)",
    "y ~ C(a)*x",
    "y ~ C(z)*x",
    "y ~ C(a, Treatment('b'))*b",
    "y ~ C(a, Treatment(reference='c')):x",
    "y ~ 0 + C(a, contr.treatment('c'))",
    "y ~ C(a, contr.treatment(base='b'))",
    "y ~ C(`length of stay`) + b:x",
    "y ~ `length of stay`:a + I(`length of stay`**2)",
    "y ~ I((x > 2) & (x < 8)) + I((x > 2) | (z < 2))",
    "y ~ I(a == 'b') + {c} + I(b)",
    "y ~ abs(x - 5) + I(2.5*x - z/4)",
]


@pytest.mark.parametrize("formula", SAME)
def test_columns_are_formulaics(formula: str) -> None:
    wanted = formulaic.model_matrix(formula, FRAME).rhs
    design = read_formula(formula, SCHEMA)
    assert design.names == tuple(wanted.columns)
    np.testing.assert_array_equal(design.matrix(FRAME), wanted.to_numpy(float))
    np.testing.assert_array_equal(design.outcomes(FRAME), FRAME["y"])
    assert design.has_intercept == ("Intercept" in design.names)
    again = Design.from_dict(json.loads(json.dumps(design.to_dict())))
    assert again == design and hash(again) == hash(design)


@pytest.mark.parametrize("formula", ["y ~ a*b", "y ~ C(a)*x", "y ~ a + x + I(x**2)", "y ~ 0 + a", "y ~ a*b + x"])
def test_names_are_those_of_statsmodels(formula: str) -> None:
    assert set(read_formula(formula, SCHEMA).names) == set(smf.ols(formula, FRAME).exog_names)


@pytest.mark.parametrize("call", ["log", "np.log", "exp", "np.exp", "sqrt", "np.sqrt"])
def test_functions(call: str) -> None:
    design = read_formula(f"{call}(y + 1) ~ {call}(x):a + I({call}(x) * 2)", SCHEMA)
    assert design.outcome == f"{call.removeprefix('np.')}(y + 1)" and design.outcome_name == f"{call}(y + 1)"
    wanted = getattr(np, call.removeprefix("np."))(FRAME["x"])
    names = {name: j for j, name in enumerate(design.names)}
    got = design.matrix(FRAME)
    np.testing.assert_allclose(got[:, names[f"{call}(x):a[b]"]], wanted * (FRAME["a"] == "b"), rtol=1e-15)
    np.testing.assert_allclose(got[:, names[f"I({call}(x) * 2)"]], 2 * wanted, rtol=1e-15)


def test_only_the_columns_that_are_read() -> None:
    design = read_formula("y ~ log(`length of stay` + 1) + C(z):Q('x')", SCHEMA)
    assert design.columns == ("y", "x", "z", "length of stay")
    assert design.terms[:2] == ("1", "log(`length of stay` + 1)")
    assert "(z == 2) * x" in design.terms and "C(z)[2]:Q('x')" in design.names


@pytest.mark.parametrize("formula", ["y ~ 1:x", "y ~ x:1", "y ~ 1:x:a", "y ~ 0 + 1:x:1"])
def test_a_factor_of_one_changes_nothing(formula: str) -> None:
    """Wherever it stands; it is not the constant, which comes of its own."""
    plain = formula.replace("1:", "").replace(":1", "")

    assert read_formula(formula, SCHEMA).names == read_formula(plain, SCHEMA).names
    assert read_formula(formula, SCHEMA).terms == read_formula(plain, SCHEMA).terms


def test_two_labels_as_outcome() -> None:
    design = read_formula("b ~ x", SCHEMA)
    assert design.outcome == "b == 'v'" and design.outcome_name == "b[v]"
    assert design.remarks == ("b counts as 1 where it is 'v' and as 0 where it is 'u'",)
    np.testing.assert_array_equal(design.outcomes(FRAME), FRAME["b"] == "v")
    assert read_formula("C(b, Treatment('v')) ~ x", SCHEMA).outcome == "b == 'u'"
    assert read_formula("{a == 'c'} ~ x", SCHEMA).outcome == "a == 'c'"
    assert read_formula("y ~ x", SCHEMA).remarks == ()


def test_no_outcome() -> None:
    for text in ("x + a", "~ x + a"):
        design = read_formula(text, SCHEMA, outcome=False)
        assert (design.outcome, design.outcome_name) == ("", "")
        assert design.names == ("Intercept", "x", "a[T.b]", "a[T.c]")
    with pytest.raises(InvalidParameter, match="has no outcome"):
        design.outcomes(FRAME)
    with pytest.raises(InvalidParameter, match="must not have one here"):
        read_formula("y ~ x", SCHEMA, outcome=False)


def test_names_before_there_is_a_schema() -> None:
    found = columns_named("y ~ C(a)*x + C(z) + I(z**2) + np.log(`length of stay`) + C(b, Treatment('u')) + Q('q q')")
    assert found.columns == ("y", "a", "x", "z", "length of stay", "b", "q q")
    assert found.labels == ("a", "b")
    assert columns_named("x + {a == 'b'}").columns == ("x", "a")


@pytest.mark.parametrize(
    ("formula", "what", "way_out"),
    [
        ("y ~ center(x)", "mean", "I(x - 40)"),
        ("y ~ scale(x)", "spread", "I((x - 40) / 10)"),
        ("y ~ standardize(x)", "spread", "I((x - 40) / 10)"),
        ("y ~ poly(x, 2)", "orthogonal", "I(x ** 2)"),
        *[(f"y ~ {name}(x, df=4)", "knots", "max(x - 40, 0)") for name in ("bs", "cs", "cr", "cc", "te")],
        ("y ~ hashed(a)", "labels", "schema"),
        ("y ~ lag(x)", "order", "column of the data"),
        ("y ~ lgo(x)", "no function", "did you mean 'log'?"),
        ("y ~ np.linalg(x)", "no function", "log, exp"),
        ("y ~ C(a, Sum)", "base", 'Treatment("B")'),
        ("y ~ C(a, contr.helmert)", "base", 'Treatment("B")'),
        ("y ~ C(a, Treatment('d'))", "not one of the labels", None),
        ("y ~ C(a, levels=['a', 'b'])", "takes a column", "schema"),
        ("y ~ C(x + 1)", "takes a column", "C(ward)"),
        ("y ~ C(w)", "needs labels", "Categories"),
        ("a ~ x", "has 3 labels", "{a == 'a'}"),
        ("y + x ~ z", "2 outcomes", "one formula for each"),
        ("y:x ~ z", "product", None),
        ("y ~ x | z", "not supported", "instruments="),
        ("y ~ .", "dot", "name the columns"),
        ("y ~ 0", "empty", "y ~ 1"),
        ("y ~ 2:x", "scale", "I(2 * x)"),
        ("y ~ I(x / z)", "divides by a column", "ratio"),
        ("y ~ X", "no column 'X'", "did you mean 'x'?"),
        ("y ~ `no such`", "no column 'no such'", None),
        ("y ~ I(x > 100)", "is 0 for every row", "bounds"),
        ("y ~ log(x - 1)", "log", None),
        ("y ~ log(a)", "labels", None),
        ("y ~ open", "public", "public"),
        ("y ~ x +", "cannot be read", "such as"),
        ("y ~ x\n+ z", "line break", None),
        ("x", "no outcome", "y ~"),
        ("", "expected a formula", "y ~"),
        ("y ~ " + "x + " * 300 + "x", "characters", None),
        ("y ~ a*b*c*C(z)*C(`length of stay`)", "200 columns", "interactions"),
        ("y ~ (x + z + a + b + c)**12", "20000 terms", "lower powers"),
        ("y ~ " + "*".join(f"x{i}" for i in range(40)), "20000 terms", "fewer"),
        ("y ~ (x + z)**2.5", "whole number", "I(x ** 2)"),
        ("y ~ I(" + "-" * 900 + "x)", "nested", None),
    ],
)
def test_refused_with_a_way_out(formula: str, what: str, way_out: str | None) -> None:
    schema = Schema({**SCHEMA.column_specs, "w": Interval(0, 1), "open": Column(Integers(0, 3), public=True)})
    with pytest.raises(InvalidParameter) as caught:
        read_formula(formula, schema)
    said = str(caught.value)
    assert said.startswith("formula ") and what in said
    assert way_out is None or way_out in (caught.value.hint or "")


@pytest.mark.parametrize(
    "factor",
    [
        '{__import__("os").system("touch /tmp/murmure_was_here")}',
        "I(open('/etc/passwd').read())",
        "I([q for q in (1, 2)])",
        "I((lambda: 1)())",
        "x.__class__",
        "x[0]",
        "I(f'{x}')",
        "I((q := 1))",
        "C(a, eval('1'))",
        "C(a, Treatment(print('ran')))",
        "np.load('x')",
    ],
)
def test_nothing_is_run(factor: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import builtins
    import os

    formulaic.parser.DefaultFormulaParser().get_terms("y ~ x")  # imported before the traps are set

    def trap(*_: object, **__: object) -> None:
        raise AssertionError("something was run")

    for name in ("eval", "exec"):
        monkeypatch.setattr(builtins, name, trap)
    monkeypatch.setattr(os, "system", trap)
    with pytest.raises(InvalidParameter):
        read_formula(f"y ~ {factor}", SCHEMA)
    with pytest.raises(InvalidParameter):
        read_formula(f"{factor} ~ x", SCHEMA)
    assert capsys.readouterr().out == ""


def test_labels_of_any_kind() -> None:
    odd = ["it's", 'say "x"', "back`quote", "a\\b", "# no", "é\n", "\U0001f600"]
    schema = Schema({"k": Categories(odd), "f": Categories([False, True]), "n": Categories([0.5, -1, 3])})
    design = read_formula("0 + k", schema, outcome=False)
    np.testing.assert_array_equal(design.matrix({"k": odd}), np.eye(len(odd)))
    assert design.names[0] == "k[it's]" and literal("B") == "'B'"
    wide = Schema({"the name": Categories(["O'Brien", "b"]), "other name": Categories(["x", "y"])})
    design = read_formula("0 + `the name`:`other name`", wide, outcome=False)
    np.testing.assert_array_equal(design.matrix({"the name": ["O'Brien"], "other name": ["y"]}), [[0, 0, 1, 0]])
    rows = {"f": [True, False], "n": [3, -1]}
    design = read_formula("f + n", schema, outcome=False)
    assert design.names == ("Intercept", "f[T.True]", "n[T.-1]", "n[T.3]")
    np.testing.assert_array_equal(design.matrix(rows), [[1, 1, 0, 1], [1, 0, 1, 0]])


def test_rows_of_a_prediction() -> None:
    design = read_formula("y ~ x + a", SCHEMA)
    wanted = [[1, 1000.5, 0, 1], [1, 2, 1, 0]]  # beyond the bounds, and between whole numbers
    rows = [{"x": 1000.5, "a": "c"}, {"x": 2, "a": "b"}]
    for held in (rows, pd.DataFrame(rows), {"x": [1000.5, 2], "a": ["c", "b"]}):
        np.testing.assert_array_equal(design.matrix(held), wanted)
    np.testing.assert_array_equal(design.matrix({"x": 2, "a": "b"}), wanted[1:])
    np.testing.assert_array_equal(read_formula("y ~ 1", SCHEMA).matrix(rows), [[1], [1]])
    with pytest.raises(OutsideDomain, match="'d'"):
        design.matrix({"x": [1], "a": ["d"]})
    with pytest.raises(OutsideDomain, match="missing"):
        design.matrix({"x": [1, None], "a": ["a", "a"]})
    with pytest.raises(MissingColumn, match="'a'"):
        design.matrix([{"x": 1}])
    with pytest.raises(InvalidParameter, match="lengths"):
        design.matrix({"x": [1, 2], "a": ["a"]})


def test_missing_answers_as_the_schema_says() -> None:
    schema = Schema(
        {
            "x": Column(Integers(0, 9), missing="constant", missing_value=4),
            "a": Column(Categories(["p", "q"]), missing="value"),
        }
    )
    design = read_formula("x + a", schema, outcome=False)
    assert design.names == ("Intercept", "x", "a[T.q]", "a[T.missing]")
    np.testing.assert_array_equal(design.matrix({"x": [None, 2], "a": [None, "q"]}), [[1, 4, 0, 1], [1, 2, 1, 0]])


@pytest.mark.parametrize(
    "change",
    [
        {"type": "Designs"},
        {"terms": ["1"]},
        {"terms": ["1", "x", "__import__('os')"]},
        {"terms": ["1", "x", "q"]},
        {"names": ["Intercept", "x", "x"]},
        {"names": ["Intercept", "x", 3]},
        {"outcome": ""},
        {"outcome": "lambda: 1"},
        {"outcome_name": 3},
        {"formula": "x" * 1001},
        {"more": 1},
        {"names": ["n"] * 201, "terms": ["1"] * 201},
        {"domain": {}},
    ],
)
def test_json_that_is_no_design(change: dict[str, object]) -> None:
    held = read_formula("y ~ x + z", SCHEMA).to_dict()
    assert Design.from_dict(held).to_dict() == held
    with pytest.raises(InvalidParameter):
        Design.from_dict(held | change)


def test_without_formulaic(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Schema({name: Integers(0, 9) for name in "xyz"})
    wanted = read_formula("y ~ x + z", schema)
    monkeypatch.setitem(sys.modules, "formulaic.errors", None)
    for text in ("y ~ x:z", "y ~ x - 1", "y ~ `x`"):
        with pytest.raises(MissingExtra, match="the extra formulas"):
            read_formula(text, schema)
    with pytest.raises(MissingExtra, match="the extra formulas"):  # whether a name is odd is for its parser to say
        columns_named("y ~ x", known=["x", "y", "x : y"])
    assert read_formula("y ~ x + z", schema) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "x",
        " y~x ",
        "y ~ x + z",
        "x + z + a",
        "z+x +\ta",
        "y ~ x + x + z",
        "y ~ y",
        "in + x",
        "class ~ lambda + None + _ + x_1 + x1",
        "âge ~ élan + ﬁn",
        "Intercept + x",
    ],
)
def test_a_sum_of_names_has_the_columns_that_the_parser_finds(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(formula_module, "require_formulaic", None)  # not called: no parser is needed
        plain = formula_module._sides(text, None)
    monkeypatch.setattr(formula_module, "PLAIN", re.compile("(?!)"))

    assert plain == formula_module._sides(text, None)


@pytest.mark.parametrize(
    "text", ["y ~", "~ x", "x +", "+ x", "x z", "x ++ z", "1 + x", "2x", "y ~ x ~ z", "x.y", "x | z"]
)
def test_anything_else_is_parsed(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "formulaic.errors", None)
    with pytest.raises(MissingExtra):
        columns_named(text)


def test_columns_with_names_of_python_words() -> None:
    """class, is, lambda are usual names of columns: they are read as such, quoted or not."""
    schema = Schema({"class": Integers(0, 9), "is": Categories(["a", "b"]), "y": Integers(0, 9)})

    design = read_formula("y ~ class + `is`", schema)

    assert design.terms == ("1", "`class`", "`is` == 'b'")
    assert design.matrix({"class": [3], "is": ["b"]}).tolist() == [[1.0, 3.0, 1.0]]
