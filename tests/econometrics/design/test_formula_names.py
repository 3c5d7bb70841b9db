"""A column can be asked for whatever its name looks like; a formula that could mean it by mistake is refused."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import murmure as mu
from murmure import econometrics as ec
from murmure.cli import main
from murmure.core.errors import InvalidParameter
from murmure.econometrics.design.formula import columns_named, read_formula

N = 60
READ_OTHERWISE = [
    *("0", "1", "-1", "2", "1.5", ".", "50%", "(Intercept)", "C(x)", "I(x)", "np.log(x)", "{x}", "Q('x')"),
    *("a b", "a+b", "a + b", "a - b", "a:b", "a*b", "a/b", "(a + b)", "x**2", "a b c", "it's", "0 + x", "x - 1"),
]
PLAIN = ["in", "class", "None", "True", "lambda", "a.b", "log", "np", "été", "_1", "x1", "1e3"]
SIGNS = ["+", "~", ":", "a ~ b", "y ~ x"]  # alone never a term: only quotes reach them


def table(name: str) -> dict[str, list[int]]:
    rng = np.random.default_rng(5)
    rows = {other: rng.integers(1, 30, N).tolist() for other in ("y", "x", "a", "b")}
    return rows | {name: rng.integers(1, 30, N).tolist()}


def wanted(name: str) -> Any:
    rows = table(name)
    return np.linalg.lstsq(np.column_stack([np.ones(N), rows["x"], rows[name]]), np.array(rows["y"]), rcond=None)[0]


@pytest.mark.parametrize("name", [*READ_OTHERWISE, *PLAIN, *SIGNS])
def test_quotes_reach_every_column(name: str) -> None:
    rows = table(name)
    quoted = [f"`{name}`"] + ([f"Q({name!r})"] if not set(name) & set("'\"") else [])
    for said in quoted:
        fit = ec.ols(f"y ~ x + {said}", rows)
        np.testing.assert_allclose(fit.params, wanted(name), rtol=1e-8)
        assert fit.names[-1] in (name, said)
        schema = mu.Schema({column: mu.Integers(0, 40) for column in rows})
        again = ec.ols(f"y ~ x + {said}", [{c: v[i::3] for c, v in rows.items()} for i in range(3)], schema=schema)
        np.testing.assert_allclose(again.params, wanted(name), rtol=1e-8)
    outcome = ec.ols(f"`{name}` ~ x", rows)
    assert outcome.names == ("Intercept", "x")
    assert columns_named(f"y ~ `{name}`:x + `{name}`").columns == ("y", name, "x")
    twice = read_formula(f"y ~ `{name}` + `{name}` + `{name}`:a", schema)
    assert twice.names == ("Intercept", name, f"{name}:a")


@pytest.mark.parametrize("name", READ_OTHERWISE)
def test_a_formula_that_could_mean_the_column_is_refused(name: str) -> None:
    rows = table(name)
    schema = mu.Schema({column: mu.Integers(0, 40) for column in rows})
    for before in ("", "b + "):
        with pytest.raises(InvalidParameter) as caught:
            ec.ols(f"y ~ {before}{name}", rows)
        assert repr(name) in str(caught.value) and f"`{name}`" in (caught.value.hint or "")
        with pytest.raises(InvalidParameter, match="is a column of the table"):
            read_formula(f"y ~ {before}{name}", schema)


@pytest.mark.parametrize("name", [*PLAIN, *SIGNS, "1", "a b", "x**2"])
def test_other_formulas_are_read_as_ever(name: str) -> None:
    """A column of an odd name does not stand in the way of formulas that say nothing like it."""
    rows = table(name)
    fit = ec.ols("y ~ log(a) + a:x", rows)
    without = ec.ols("y ~ log(a) + a:x", {other: rows[other] for other in "yax"})
    np.testing.assert_array_equal(fit.params, without.params)
    if name in PLAIN:
        np.testing.assert_allclose(ec.ols(f"y ~ x + {name}", rows).params, wanted(name), rtol=1e-8)


def test_numbers_inside_of_calls_are_numbers() -> None:
    rows = table("2")
    assert ec.ols("y ~ I(x ** 2) + `2`", rows).names == ("Intercept", "I(x ** 2)", "2")
    assert ec.ols("y ~ x + `x` + `1`:`0`", table("1") | table("0")).names == ("Intercept", "x", "1:0")


def test_a_call_and_a_column_named_like_it() -> None:
    rows = table("C(x)") | {"x": ["pq"[i % 2] for i in range(N)]}
    fit = ec.ols("y ~ `C(x)` + C(`x`)", rows)
    assert fit.names == ("Intercept", "C(x)", "C(x)[T.q]")


def test_a_column_named_as_the_constant_is() -> None:
    rows = table("Intercept")
    with pytest.raises(InvalidParameter, match="name 'Intercept'"):
        ec.ols("y ~ Intercept", rows)
    assert ec.ols("y ~ 0 + Intercept", rows).names == ("Intercept",)


def test_the_time_the_event_and_the_groups() -> None:
    """Arguments that name columns take them by name, whatever it looks like."""
    rows = {"1": [1 + i % 17 for i in range(N)], "-1": [i % 2 for i in range(N)], "a+b": [i * i % 11 for i in range(N)]}
    plain = dict(zip(("t", "e", "x"), rows.values(), strict=True))
    fit = ec.cox("`a+b`", rows, time="1", event="-1")
    np.testing.assert_array_equal(fit.params, ec.cox("x", plain, time="t", event="e").params)
    assert ec.kaplan_meier("1", rows, event="-1").median == ec.kaplan_meier("t", plain, event="e").median


@pytest.mark.parametrize("name", ["1", "-1", "a b", "C(x)"])
def test_on_the_command_line(name: str, tmp_path: Path) -> None:
    rows = table(name)
    file = tmp_path / "t.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(rows)
        writer.writerows(zip(*rows.values(), strict=True))
    refused = CliRunner().invoke(main, ["ols", f"y ~ {name}", str(file)])
    assert refused.exit_code != 0 and f"`{name}`" in refused.output
    taken = CliRunner().invoke(main, ["ols", f"y ~ `{name}`", str(file), "--json"])
    assert taken.exit_code == 0 and f'"{name}"' in taken.output
