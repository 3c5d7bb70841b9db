"""One rule for values that a column does not hold, in the schema, wherever rows are read.

The reference is always the same data, corrected by hand before anything reads them, under a schema that refuses.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import murmure as mu
from murmure import econometrics
from murmure.cli import main
from murmure.core.cells.lenient_encoding import encode_schema_lenient
from murmure.core.errors import InvalidParameter, OutsideDomain, PlanRefused
from murmure.core.schema import Schema
from murmure.learn import LinearRegression

PIMA = Path(__file__).parents[3] / "shared" / "data" / "diabetes.csv"
OURS = Path(__file__).parents[2] / "bench" / "pima" / "schema.toml"
POLICIES = ("refuse", "clamp", "drop")

# Every column: a domain, values that it holds, values that it does not, and the nearest that it does.
NUMBERS: dict[str, tuple[Any, list[Any], list[tuple[Any, Any]]]] = {
    "age": (mu.Integers(18, 99), [18, 40, 99], [(17, 18), (-5, 18), (100, 99), (10**12, 99), (18.4, 18), (98.6, 99)]),
    "income": (mu.Interval(0.0, 10.0, cells=64), [0.0, 5.25, 10.0], [(-0.1, 0.0), (1e300, 10.0), (10.01, 10.0)]),
    "weight": (mu.Decimals("1.5", "9.5", places=1), [1.5, 3.2, 9.5], [(1, 1.5), (10, 9.5), (-3.7, 1.5), (3.24, 3.2)]),
}
LABELS = ["no", "yes"]


@pytest.fixture(autouse=True)
def _ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sanitised here is charged here, and not in the folder that the tests run in."""
    monkeypatch.setenv("MURMURE_LEDGER", str(tmp_path / "ledger.db"))


def columns(outside: str, private: bool = True) -> dict[str, Any]:
    out: dict[str, Any] = {name: mu.Column(domain, outside=outside) for name, (domain, _, _) in NUMBERS.items()}
    return out | {"smoker": mu.Column(mu.Categories(LABELS), outside="refuse" if outside == "clamp" else outside)}


def tables(policy: str, seed: int = 3, n: int = 60) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Rows of which about a third hold something else, and the same rows corrected as the policy says."""
    rng = np.random.default_rng(seed)
    raw: dict[str, list[Any]] = {name: [] for name in (*NUMBERS, "smoker")}
    right: dict[str, list[Any]] = {name: [] for name in raw}
    for _ in range(n):
        row, nearest, good = {}, {}, True
        for name, (_, inside, outside) in NUMBERS.items():
            if rng.random() < 0.12:
                row[name], nearest[name] = outside[rng.integers(len(outside))]
                good = False
            else:
                row[name] = nearest[name] = inside[rng.integers(len(inside))]
        row["smoker"] = nearest["smoker"] = LABELS[rng.integers(2)]
        if policy == "drop" and rng.random() < 0.1:
            row["smoker"], good = "maybe", False
        for name in raw:
            raw[name].append(row[name])
            if good or policy == "clamp":
                right[name].append(nearest[name])
    return raw, right


def holders(rows: dict[str, list[Any]], folder: Path, name: str) -> dict[str, Any]:
    text = {key: [str(value) for value in values] for key, values in rows.items()}
    pd.DataFrame(rows).to_csv(folder / f"{name}.csv", index=False)
    pq.write_table(
        pa.table(pd.DataFrame({k: [float(v) for v in vs] if k in NUMBERS else vs for k, vs in rows.items()})),
        folder / f"{name}.parquet",
    )
    return {
        "lists": rows,
        "text": text,
        "pandas": pd.DataFrame(rows),
        "polars": pl.DataFrame(pd.DataFrame(rows)),
        "csv": str(folder / f"{name}.csv"),
        "parquet": str(folder / f"{name}.parquet"),
    }


@pytest.mark.parametrize("policy", ["clamp", "drop"])
@pytest.mark.parametrize("holder", ["lists", "text", "pandas", "polars", "csv", "parquet"])
def test_every_door_and_holder(policy: str, holder: str, tmp_path: Path) -> None:
    """In the clear, at the person, between parties and in a sanitised table: what corrected rows would have given."""
    schema, strict = Schema(columns(policy)), Schema(columns("refuse"))
    raw, right = tables(policy)
    table = holders(raw, tmp_path, "raw")[holder]

    for ask in (lambda s: mu.Marginals(s), lambda s: mu.Pair(s, "age", "smoker")):
        found, wanted = mu.run(mu.Plan(ask(schema)), table).estimate, mu.run(mu.Plan(ask(strict)), right).estimate
        assert repr(found) == repr(wanted)
    _, inside, outside = NUMBERS["income"]  # a question about one column leaves out its own rows alone
    kept = [dict(outside).get(v, v) for v in raw["income"] if policy == "clamp" or v in inside]
    alone = mu.run(mu.Plan(mu.Mean(schema["income"])), table).estimate
    assert repr(alone) == repr(mu.run(mu.Plan(mu.Mean(strict["income"])), {"income": kept}).estimate)
    person = {s: mu.Plan(mu.Marginals(s), person=mu.SPL(s, 4.0)) for s in (schema, strict)}
    released = [
        mu.run(person[s], rows, rng=mu.Random.seeded(5)).estimate for s, rows in ((schema, table), (strict, right))
    ]
    assert repr(released[0]) == repr(released[1])
    sanitised = [
        mu.sanitise(rows, mu.SPL(s, 4.0), rng=mu.Random.seeded(5)) for s, rows in ((schema, table), (strict, right))
    ]
    assert sanitised[0].to_pydict() == sanitised[1].to_pydict()


@pytest.mark.parametrize("policy", ["clamp", "drop"])
def test_models_and_parties(policy: str) -> None:
    """A regression in the clear and by masked sums, and a learner: as of corrected rows."""
    schema, strict = Schema(columns(policy)), Schema(columns("refuse"))
    raw, right = tables(policy, n=300)
    formula = "weight ~ age + smoker + income"
    wanted = econometrics.ols(formula, right, schema=strict)
    parts = [{name: values[i::3] for name, values in raw.items()} for i in range(3)]

    assert econometrics.ols(formula, raw, schema=schema).params.tolist() == wanted.params.tolist()
    masked = econometrics.ols(formula, parts, schema=schema, privacy=mu.Secure(dropouts=0, rows_are_public=True))
    assert masked.params.tolist() == wanted.params.tolist() and masked.nobs == wanted.nobs
    fits = [
        LinearRegression(s, target="weight", privacy=mu.Clear()).fit(pd.DataFrame(rows))
        for s, rows in ((schema, raw), (strict, right))
    ]
    assert (fits[0].coef_ == fits[1].coef_).all()


def test_refusing_is_the_default_and_names_the_row() -> None:
    for name, (domain, inside, outside) in NUMBERS.items():
        for value, _ in outside:
            with pytest.raises(OutsideDomain, match="row 1"):
                Schema({name: domain}).encode({name: [inside[0], value]})


@pytest.mark.parametrize("policy", POLICIES)
def test_a_curator_never_refuses_by_what_rows_hold(policy: str) -> None:
    """Whatever stands in a row, it has a code; with "drop" the code of nobody, otherwise the nearest value's."""
    schema, odd = Schema(columns(policy)), ["", "nan", "x", None, "1e400", "-inf"]
    for name, (domain, inside, outside) in NUMBERS.items():
        rows = {other: [values[1][0]] * (1 + len(outside) + len(odd)) for other, values in NUMBERS.items()}
        rows["smoker"] = ["maybe"] + ["no"] * (len(outside) + len(odd))
        rows[name] = [inside[1], *(value for value, _ in outside), *odd]
        codes = dict(zip(schema.private, encode_schema_lenient(schema, rows), strict=True))

        moved = domain.encode([near for _, near in outside]).tolist()
        assert codes[name][1 : 1 + len(outside)].tolist() == (
            [domain.size] * len(outside) if policy == "drop" else moved
        )
        assert codes[name][1 + len(outside) :][:4].tolist() == [domain.size] * 4  # missing or unreadable
        assert codes["smoker"][0] == 2


def test_missing_is_another_matter() -> None:
    """The policy is about values; a missing one is refused, or what the schema says, under each of them."""
    for policy in POLICIES:
        bare = Schema({"age": mu.Column(mu.Integers(0, 9), outside=policy)})
        schema = Schema({"age": mu.Column(mu.Integers(0, 9), missing="constant", missing_value=4, outside=policy)})
        with pytest.raises(OutsideDomain, match="missing"):
            bare.encode({"age": [1, None]})

        assert schema.encode({"age": [1, None, float("nan")]})[0].tolist() == [1, 4, 4]
        assert schema["age"].encode([1, None]).tolist() == [1, 4]


def test_what_is_not_a_number_cannot_be_moved() -> None:
    clamp, drop = (mu.Integers(0, 9, outside=policy) for policy in ("clamp", "drop"))
    with pytest.raises(OutsideDomain, match="row 1 holds 'x'"):
        clamp.encode([12, "x"])

    assert drop.encode([12, "x", 3, 2.5]).tolist() == [3]


def test_long_decimals_are_moved_by_all_of_their_digits() -> None:
    domain = mu.Decimals(0, "999999999999.123456", places=6, outside="clamp")

    assert not domain.short
    found = domain.encode(["1000000000000", "-0.000001", "0.0000004", "inf", "999999999999.1234560000001"])
    assert found.tolist() == [domain.size - 1, 0, 0, domain.size - 1, domain.size - 1]
    assert domain.encode(np.array([np.inf, -np.inf, 5.0])).tolist() == [domain.size - 1, 0, 5_000_000]


# -- what is written, and what is shown --------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
def test_the_policy_travels(policy: str) -> None:
    """TOML, JSON, plans and pickles carry it; the default is not written, so older files stay as they were."""
    schema = Schema(columns(policy))
    plan = mu.Plan(mu.Marginals(schema), person=mu.SMP(schema, 1.0))

    assert Schema.from_toml(schema.to_toml()) == schema == Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert mu.Plan.from_json(plan.to_json()).digest == plan.digest
    assert ("outside" in json.dumps(schema.to_dict())) == (policy != "refuse")
    assert len({mu.Plan(mu.Mean(mu.Integers(0, 9, outside=p))).digest for p in POLICIES}) == 3


def test_a_schema_says_it_once_for_all_columns() -> None:
    """Before the first column of schema.toml, or as an argument; a column may differ, and labels cannot be clamped."""
    text = """outside = "clamp"
[columns.age]
type = "integers"
low = 0
high = 9
[columns.weight]
type = "real"
low = 0.0
high = 1.0
outside = "drop"
[columns.height]
type = "integers"
low = 0
high = 9
outside = "refuse"
[columns.smoker]
type = "categories"
values = ["no", "yes"]
"""
    schema = Schema.from_toml(text)

    assert [schema[name].outside for name in schema] == ["clamp", "drop", "refuse", "refuse"]
    assert Schema.from_toml(schema.to_toml()) == schema
    made = Schema({"age": mu.Integers(0, 9), "smoker": mu.Categories(LABELS)}, outside="drop")
    assert [domain.outside for domain in made.values()] == ["drop", "drop"]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: mu.Integers(0, 9, outside="cut"), "outside must be one of"),
        (lambda: mu.Categories(LABELS, outside="clamp"), "labels have no order"),
        (lambda: mu.Column(mu.Categories(LABELS), outside="clamp"), "labels have no order"),
        (lambda: mu.Column(mu.Integers(0, 9), public=True, outside="clamp"), "passed through unchanged"),
        (lambda: Schema({"age": mu.Integers(0, 9)}, outside="ignore"), "outside must be one of"),
        (lambda: Schema.from_toml('outside = 3\n[columns.a]\ntype="boolean"\n'), "outside must be one of"),
        (lambda: mu.Column(mu.Integers(0, 9, outside="clamp"), missing="constant", missing_value=12), "missing_value"),
        (lambda: mu.Integers(0, 9, absent=12, outside="clamp"), "absent must be"),
        (
            lambda: mu.Where(
                mu.Count(mu.Integers(0, 9, "a", outside="clamp")), mu.Integers(0, 9, "a", outside="clamp"), is_in=(12,)
            ),
            "12",
        ),
    ],
)
def test_bad_policies_and_constants(make: Any, says: str) -> None:
    with pytest.raises((InvalidParameter, OutsideDomain), match=says):
        make()


def test_a_certificate_says_that_the_absence_of_dropped_rows_is_visible() -> None:
    for policy in POLICIES:
        schema = Schema({"age": mu.Column(mu.Integers(0, 9), outside=policy), "smoker": mu.Categories(LABELS)})
        assumption = mu.Plan(mu.Marginals(schema), person=mu.SPL(schema, 1.0)).guarantees()["reader"].assumption

        assert ("left out shows" in (assumption or "")) == (policy == "drop")


def test_plans_of_earlier_releases_are_refused() -> None:
    """A curator's plan from before 0.6 meant the middle of the range by a missing number."""
    fields = json.loads(mu.Plan(mu.Mean(mu.Integers(0, 9)), curator=mu.DiscreteLaplace(1.0)).to_json())
    del fields["missing"]

    with pytest.raises(PlanRefused, match="missing numbers are left out"):
        mu.Plan.from_json(json.dumps(fields))


def invoke(*arguments: Any) -> Any:
    return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)


def written(folder: Path, policy: str, seed: int = 4) -> tuple[Path, Path, dict[str, list[Any]], dict[str, list[Any]]]:
    raw, right = tables(policy, seed, 200)
    (folder / "schema.toml").write_text(Schema(columns(policy)).to_toml(), encoding="utf-8")
    pd.DataFrame(raw).to_csv(folder / "people.csv", index=False)
    return folder / "people.csv", folder / "schema.toml", raw, right


def test_exact_counts_go_to_the_holder_and_not_into_the_file(tmp_path: Path) -> None:
    """The terminal of `sanitize` and `schema check` count; the sanitised table carries the policy and no count."""
    data, schema, raw, _ = written(tmp_path, "clamp")
    beyond = {name: sum(v not in inside for v in raw[name]) for name, (_, inside, _) in NUMBERS.items()}
    out = tmp_path / "out.parquet"
    done = invoke("sanitize", data, "--schema", schema, "--epsilon", 2, "-o", out, "--json")
    checked = json.loads(invoke("schema", "check", schema, data, "--json").output)

    assert json.loads(done.output)["clamped"] == beyond
    assert {name: checked["columns"][name]["clamped"] for name in NUMBERS} == beyond and checked["valid"] == 200
    metadata = {key.decode(): value.decode() for key, value in pq.read_schema(out).metadata.items()}
    plan = json.loads(next(value for key, value in metadata.items() if key.endswith("plan")))
    assert plan["person"]["domain"]["columns"]["age"]["outside"] == "clamp"
    assert "clamped" not in json.dumps(metadata)
    shown = invoke("sanitize", data, "--schema", schema, "--epsilon", 2, "-o", tmp_path / "two.parquet").output
    assert "clamped" in shown and f"age {beyond['age']}" in shown


def test_dropped_rows_are_counted(tmp_path: Path) -> None:
    data, schema, _, right = written(tmp_path, "drop")
    done = json.loads(
        invoke("sanitize", data, "--schema", schema, "--epsilon", 2, "-o", tmp_path / "o.csv", "--json").output
    )

    assert done["rows_out"] == len(right["age"]) and done["dropped"] == 200 - len(right["age"])
    checked = json.loads(invoke("schema", "check", schema, data, "--json").output)
    assert checked["valid"] == 200 and all(checked["columns"][name]["dropped"] > 0 for name in checked["columns"])


def test_the_page_carries_the_policy(tmp_path: Path) -> None:
    for policy, english, french in (
        ("clamp", "moved to the bound", "ramené à la borne"),
        ("drop", "out of bounds is left out", "hors bornes est écartée"),
    ):
        (tmp_path / policy).mkdir()
        data, schema, _, _ = written(tmp_path / policy, policy)
        page = tmp_path / policy / "page.html"
        invoke(
            *("query", "mean", data, "--column", "age", "--schema", schema, "--epsilon", 1, "--no-ledger"),
            *("--html", page),
        )

        assert english in page.read_text(encoding="utf-8") and french in page.read_text(encoding="utf-8")


@pytest.mark.skipif(not PIMA.exists(), reason="the Pima table is not part of the repository")
def test_our_schema_works_on_raw_pima(tmp_path: Path) -> None:
    """Zeros for "not measured" lie outside the public bounds, and so do a few high values."""
    out = tmp_path / "out.parquet"
    done = json.loads(invoke("sanitize", PIMA, "--schema", OURS, "--epsilon", 4, "-o", out, "--json").output)

    table = pd.read_csv(PIMA)
    schema = Schema.load(OURS)
    for name, domain in schema.items():
        if hasattr(domain, "low"):
            beyond = int(((table[name] < domain.low) | (table[name] > domain.high)).sum())
            assert done["clamped"].get(name, 0) == beyond
    assert done["rows_out"] == 768 and sum(done["clamped"].values()) > 300


# -- what a hostile review broke ---------------------------------------------------------------------------------------

CURATOR = {"curator": mu.DiscreteLaplace(1.0)}


def sums(plan: mu.Plan, rows: Any) -> np.ndarray:
    """Before noise."""
    from murmure.run.totals import total

    return total(plan, rows, None, mu.Random.seeded(0)).sum


def whole_rows() -> dict[str, Any]:
    from murmure.statistics.learning.class_moments import ClassMoments
    from murmure.statistics.learning.clusters import Clusters
    from murmure.statistics.learning.gram import Gram

    x, y = mu.Integers(0, 10), mu.Integers(0, 10)
    both = Schema({"x": x, "y": y})
    return {
        "sums": mu.Sums(both, ("x", "x * y")),
        "gram": Gram(both, "y", shape="box"),
        "moments": ClassMoments(Schema({"x": x, "c": mu.Categories(["a", "b"])}), "c"),
        "clusters": Clusters(both, centres=((0, 0), (5, 5))),
    }


@pytest.mark.parametrize("name", ["sums", "gram", "moments", "clusters"])
@pytest.mark.parametrize("outer", ["where", "group"])
def test_one_row_that_lacks_a_number_adds_nothing_to_whole_rows(name: str, outer: str) -> None:
    """Of some rows, or by groups: the inner question reads whole rows, so one that lacks a number is left out."""
    inner, region = whole_rows()[name], mu.Categories(["n", "s"], "r")
    ask = mu.Where(inner, region, is_in=("n",)) if outer == "where" else mu.GroupBy(inner, region)
    plan = mu.Plan(ask, **CURATOR)
    rows: dict[str, list[Any]] = {"x": [1, 7], "y": [2, 3], "c": ["a", "b"], "r": ["n", "n"]}
    without = sums(plan, rows)
    for odd in (None, "abc", float("nan")):
        more = {key: [*values, values[0]] for key, values in rows.items()} | {"x": [1, 7, odd]}
        assert (sums(plan, more) == without).all()


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(
    "domain", [mu.Decimals(0, 10, places=1, column="x"), mu.Interval(0.0, 0.1, column="x"), mu.Integers(0, 3, "x")]
)
def test_no_type_decides_who_is_dropped(domain: Any, kind: Any) -> None:
    """One more row of another type moves the count of the others by nothing, for every width of floats."""
    from dataclasses import replace

    plan = mu.Plan(mu.Count(replace(domain, outside="drop")), **CURATOR)
    cells = [kind(0.1)] * 50 + [kind(2)] * 50
    for column in (
        cells,
        np.array(cells),
        pd.Series(np.array(cells)),
        pa.array(np.array(cells)),
        {"x": np.array(cells)},
    ):
        alone = sums(plan, column)
        for odd in (None, "x", "1e400", 10**30):
            mixed = (
                [*cells, odd]
                if not isinstance(column, pd.Series)
                else pd.concat([column, pd.Series([odd], dtype=object)])
            )
            mixed = {"x": mixed} if isinstance(column, dict) else mixed
            assert abs(int(sums(plan, mixed)[0]) - int(alone[0])) <= 1


def test_a_curator_reads_no_numbers_of_more_than_15_digits() -> None:
    for ask in (
        mu.Sums(Schema({"x": mu.Decimals(0, 10**17, places=0)}), ("x > 10000000000000000",)),
        mu.Count(mu.Decimals(0, 10**16, places=0, column="x")),
    ):
        with pytest.raises(PlanRefused, match="at most 15 digits"):
            mu.Plan(ask, **CURATOR)


def test_a_row_that_one_column_drops_is_left_out_of_all() -> None:
    """The same people count in the clear, in a sanitised table and at a curator."""
    schema = Schema({"age": mu.Integers(0, 99), "c": mu.Categories(["a", "b"])}, outside="drop")
    rows = {"age": [10] * 50 + [90] * 50 + [10] * 3 + [400], "c": ["a"] * 50 + ["zz"] * 50 + ["b"] * 4}
    sharp = mu.DiscreteLaplace(1e5)
    for ask in (mu.Marginals(schema), mu.Where(mu.Mean(schema["age"]), schema["c"], is_in=("a", "b"))):
        found, wanted = (mu.run(mu.Plan(ask, **slot), rows).estimate for slot in ({"curator": sharp}, {}))
        found, wanted = (e["age"] if isinstance(ask, mu.Marginals) else e for e in (found, wanted))
        assert abs(found.mean[0] - wanted.mean[0]) < 0.01 and found.n == wanted.n == 53
    totals = mu.Sums(schema, ("age", "c == 'a'"))
    assert sums(mu.Plan(totals, curator=sharp), rows).tolist() == sums(mu.Plan(totals), rows).tolist() == [530, 50]


@pytest.mark.parametrize(
    "make",
    [
        lambda: mu.Integers(0, 9, absent=1, outside="drop"),
        lambda: mu.Categories([1, 2], outside="drop"),
        lambda: mu.Categories(3, outside="drop"),
        lambda: mu.Categories([False, True], outside="drop"),
    ],
)
def test_csv_and_lists_drop_the_same_rows(make: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\nabc\n1\n", encoding="utf-8")
    schema = Schema({"x": make()})
    for ask, slot in ((mu.Histogram(schema["x"]), CURATOR), (mu.Histogram(schema["x"]), {})):
        plan = mu.Plan(ask, **slot)
        assert sums(plan, str(tmp_path / "t.csv")).tolist() == sums(plan, {"x": ["abc", "1"]}).tolist()
        assert sums(plan, {"x": ["abc", "1"]}).sum() == 1


def test_public_columns_that_drop(tmp_path: Path) -> None:
    """Weights beyond their bounds do not count, and a file's public column is carried as numbers."""
    schema = Schema({"x": mu.Categories(["u", "v"]), "w": mu.Column(mu.Interval(0, 10), public=True, outside="drop")})
    rows = {"x": ["u", "v"] * 50, "w": [1.0] * 98 + [1e6, "abc"]}
    plan = mu.Plan(mu.Marginals(schema, weights="w"), person=mu.SPL(schema, 30.0))

    assert mu.run(plan, rows, rng=mu.Random.seeded(1)).estimate.n == 98
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    table = mu.sanitise(str(tmp_path / "t.csv"), mu.SPL(schema, 30.0), rng=mu.Random.seeded(1))
    assert table.num_rows == 98 and str(table.schema.field("w").type) == "double"


def test_other_doors_of_a_column_that_drops() -> None:
    """A prediction and a kept answer are about one person, who is refused; a party without rows is told so."""
    schema = Schema({"y": mu.Integers(0, 9), "ward": mu.Categories(["A", "B", "C"])}, outside="drop")
    fit = econometrics.ols("y ~ ward", {"y": [1, 2, 3, 4, 5, 9], "ward": ["A", "A", "B", "B", "C", "C"]}, schema=schema)
    with pytest.raises(OutsideDomain, match="zzz"):
        fit.predict({"ward": ["zzz"]})
    client = mu.RAPPOR(mu.Categories(["l", "r"], outside="drop"), 4.0, 1.0).client(bytes(32), "vote", values=2)
    with pytest.raises(OutsideDomain, match="zzz"):
        client.kept("zzz")
    plan = mu.Plan(mu.Mean(mu.Integers(0, 5, outside="drop")), parties=mu.PairwiseMasks(3))
    with pytest.raises(mu.MurmureError, match="party 3: no row fits"):
        mu.run(plan, [[1, 2, 3, 99] * 10, [1, 2, 4] * 10, [99] * 10])


def test_a_domain_with_a_constant_comes_back_from_toml() -> None:
    schema = Schema({"x": mu.Integers(0, 9, absent=3), "r": mu.Categories(["a", "b"], absent="b")})

    assert Schema.from_toml(schema.to_toml()) == schema and schema["x"].absent == 3 and schema["r"].absent == "b"
    for ask in (mu.Mean(schema["x"]), mu.Where(mu.Mean(schema["x"]), schema["r"], is_in=("b",))):
        assert mu.run(mu.Plan(ask), {"x": [1, None], "r": ["b", None]}).estimate.mean[0] == 2


def test_infinity_in_long_decimals() -> None:
    domain = mu.Decimals(-(10**17), 10**17, places=0, outside="clamp")

    assert domain.encode(np.array([-np.inf, np.inf])).tolist() == [0, domain.size - 1]
