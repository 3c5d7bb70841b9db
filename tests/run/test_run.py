"""From rows to a release: every kind of frame, what is refused, what is marked, and what it costs in memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import murmure as mu
from murmure.core.errors import (
    EmptySource,
    InvalidParameter,
    MissingColumn,
    NoUnbiasedEstimate,
    OutsideDomain,
    PlanRefused,
)
from murmure.engines.sources.column_batches import ROWS

ANSWERS = ["often", "never", "often", "once", "never", "often", "often"]
COUNTS = [2, 1, 4]
DRINKS = mu.Categories(["never", "once", "often"], column="drinks")
CLEAR = mu.Plan(mu.Histogram(DRINKS))
TABLE = pa.table({"id": list(range(7)), "drinks": ANSWERS, "age": [20.5, 30, 40, 50, 60, 70, 80]})


def in_file(suffix: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / f"table{suffix}"
        if suffix == ".csv":
            pyarrow.csv.write_csv(TABLE, path)
        elif suffix == ".parquet":
            pyarrow.parquet.write_table(TABLE, path, row_group_size=2)
        else:
            pyarrow.feather.write_feather(TABLE, path)
        return path

    return write


FRAMES: dict[str, Callable[[Path], Any]] = {
    "list": lambda _: list(ANSWERS),
    "tuple": lambda _: tuple(ANSWERS),
    "numpy": lambda _: np.array(ANSWERS),
    "numpy objects": lambda _: np.array(ANSWERS, object),
    "pandas": lambda _: TABLE.to_pandas(),
    "pandas, filtered": lambda _: pd.concat([TABLE.to_pandas(), TABLE.to_pandas()]).iloc[7:],
    "pandas, float index": lambda _: TABLE.to_pandas().set_index("age"),
    "pandas, negative index": lambda _: TABLE.to_pandas().set_index(pd.Index(range(-9, -2))),
    "pandas Series": lambda _: TABLE.to_pandas()["drinks"],
    "pandas categorical": lambda _: TABLE.to_pandas().astype({"drinks": "category"}),
    "polars": lambda _: pl.from_arrow(TABLE),
    "polars Series": lambda _: pl.from_arrow(TABLE)["drinks"],
    "polars, lazy": lambda _: pl.from_arrow(TABLE).lazy().filter(pl.col("id") >= 0),
    "pyarrow table": lambda _: TABLE,
    "pyarrow chunks": lambda _: TABLE["drinks"],
    "pyarrow array": lambda _: TABLE["drinks"].combine_chunks(),
    "pyarrow record batch": lambda _: TABLE.to_batches()[0],
    "duckdb": lambda _: duckdb.sql("select * from TABLE_"),
    "CSV": in_file(".csv"),
    "Parquet": in_file(".parquet"),
    "Feather": in_file(".feather"),
    "Arrow file": in_file(".arrow"),
    "path as text": lambda folder: str(in_file(".csv")(folder)),
}
TABLE_ = TABLE  # DuckDB finds it by this name


# ---- every kind of frame


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_gives_the_same_counts(kind: str, tmp_path: Path) -> None:
    """The clear counts of one column, whoever holds the rows."""
    release = mu.run(CLEAR, FRAMES[kind](tmp_path))

    assert release.estimate.counts.round(9).tolist() == COUNTS
    assert release.estimate.n == 7


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_gives_the_same_release(kind: str, tmp_path: Path) -> None:
    """The same seed and the same rows make the same randomised release."""
    plan = mu.Plan(mu.Histogram(DRINKS), person=mu.OUE(DRINKS, 1.0))
    expected = mu.run(plan, ANSWERS, rng=mu.Random.seeded(3)).estimate.mean

    assert mu.run(plan, FRAMES[kind](tmp_path), rng=mu.Random.seeded(3)).estimate.mean.tolist() == expected.tolist()


def test_a_frame_of_one_column_needs_no_name() -> None:
    """A bare domain takes a one-column frame, whatever the column is called; of several it does not guess."""
    bare = mu.Plan(mu.Histogram(mu.Categories(["never", "once", "often"])))
    several = r"names no column and the frame has 3: \['id', 'drinks', 'age'\].*\n  Hint: .*schema"

    assert mu.run(bare, TABLE.select(["drinks"])).estimate.counts.round(9).tolist() == COUNTS
    with pytest.raises(MissingColumn, match=several):
        mu.run(bare, TABLE)


def large_sources() -> dict[str, Callable[[Any, Path], Any]]:
    def parquet(x: Any, folder: Path) -> Path:
        pyarrow.parquet.write_table(pa.table({"x": x}), folder / "x.parquet")
        return folder / "x.parquet"

    return {
        "numpy": lambda x, _: x,
        "list": lambda x, _: x.tolist(),
        "pandas, float index": lambda x, _: pd.DataFrame({"x": x}, index=np.arange(len(x)) * 0.5 - 1000),
        "pandas, dates": lambda x, _: pd.DataFrame({"x": x}, index=pd.date_range("2020", periods=len(x), freq="s")),
        "polars": lambda x, _: pl.DataFrame({"x": x}),
        "pyarrow": lambda x, _: pa.table({"x": x}),
        "Parquet": parquet,
    }


@pytest.mark.parametrize("kind", large_sources())
def test_nobody_is_lost_between_batches(kind: str, tmp_path: Path) -> None:
    """More people than a batch holds: everybody is counted once, in the clear and through a mechanism."""
    n = 2 * ROWS + 17
    x = np.arange(n) % 5
    domain = mu.Integers(0, 4, column="x")
    source = large_sources()[kind](x, tmp_path)
    release = mu.run(mu.Plan(mu.Histogram(domain)), source)
    through = mu.run(mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, 1.0)), source, rng=mu.Random.seeded(1))

    assert release.estimate.counts.round(6).tolist() == np.bincount(x).tolist()
    assert through.estimate.n == n
    assert through.estimate.mean.sum() == pytest.approx(1.0, abs=1e-12)  # GRR: one report each


@pytest.mark.parametrize("step", [0.5, 1.0, 100_000.0])
def test_rows_are_cut_by_position(step: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until pandas 3, series[a:b] on an index of floats cuts by label, not by position: nobody may be lost to that."""
    plain = pd.Series.__getitem__

    def as_pandas_2(series: Any, key: Any) -> Any:
        by_label = isinstance(key, slice) and series.index.dtype.kind == "f"
        return series.loc[key] if by_label else plain(series, key)

    monkeypatch.setattr(pd.Series, "__getitem__", as_pandas_2)
    frame = pd.DataFrame({"x": np.arange(20) % 5}, index=np.arange(20) * step - 3)
    plan = mu.Plan(mu.Histogram(mu.Integers(0, 4, column="x")))

    for source in (frame, frame["x"]):
        assert mu.run(plan, source).estimate.counts.round(9).tolist() == [4] * 5


def test_the_row_of_an_error_is_the_row_of_the_source() -> None:
    """A bad value in the second batch is named by its row in the whole column."""
    x = np.zeros(ROWS + 10, np.int64)
    x[ROWS + 3] = 9
    plan = mu.Plan(mu.Histogram(mu.Integers(0, 4, column="x")))

    with pytest.raises(OutsideDomain, match=rf"column 'x': row {ROWS + 3} holds 9"):
        mu.run(plan, x)


# ---- what is refused


@pytest.mark.parametrize(
    "empty",
    [
        [],
        (),
        np.array([]),
        np.array([], np.int64),
        pd.DataFrame({"drinks": []}),
        pd.Series([], dtype=object),
        pl.DataFrame({"drinks": []}, schema={"drinks": pl.String}),
        pl.LazyFrame({"drinks": []}, schema={"drinks": pl.String}),
        TABLE.slice(0, 0),
        TABLE.slice(0, 0)["drinks"],
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize(
    "plan", [CLEAR, mu.Plan(mu.Histogram(DRINKS), person=mu.GRR(DRINKS, 1.0))], ids=["clear", "GRR"]
)
def test_an_empty_source_is_refused(plan: mu.Plan, empty: Any) -> None:
    """Nobody to add up: an error with a way out, not a division by zero."""
    with pytest.raises(EmptySource, match=r"the source has no rows: .*\n  Hint: "):
        mu.run(plan, empty)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather"])
def test_an_empty_file_is_refused(suffix: str, tmp_path: Path) -> None:
    """A header without rows is an empty source, and so is a file without a byte."""
    path = tmp_path / f"empty{suffix}"
    none = TABLE.slice(0, 0)
    if suffix == ".csv":
        path.write_text("id,drinks,age\n")
    else:
        (pyarrow.parquet.write_table if suffix == ".parquet" else pyarrow.feather.write_feather)(none, path)
    with pytest.raises(EmptySource):
        mu.run(CLEAR, path)

    path.write_bytes(b"")
    with pytest.raises(EmptySource, match=rf"'empty\{suffix}' is empty"):
        mu.run(CLEAR, path)


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
def test_a_truncated_file_is_refused(suffix: str, tmp_path: Path) -> None:
    """Half a file is not half the people: it is refused by name."""
    path = in_file(suffix)(tmp_path)
    whole = path.read_bytes()
    for cut in (len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:cut])
        with pytest.raises(InvalidParameter, match=r"cannot read 'table"):
            mu.run(CLEAR, path)


@pytest.mark.parametrize(
    "kind", ["pandas", "polars", "polars, lazy", "pyarrow table", "duckdb", "CSV", "Parquet", "Feather"]
)
def test_an_absent_column_is_named(kind: str, tmp_path: Path) -> None:
    """The column that was asked for and those that there are; also a KeyError, for who catches that."""
    plan = mu.Plan(mu.Histogram(mu.Categories(["never", "once"], column="smokes")))

    with pytest.raises(MissingColumn, match=r"has no column 'smokes'; it has \['id', 'drinks', 'age'\]") as missing:
        mu.run(plan, FRAMES[kind](tmp_path))
    assert isinstance(missing.value, KeyError)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ((answer for answer in ANSWERS), "cannot read rows from 'generator'"),
        (3, "cannot read rows from 'int'"),
        (None, "neither a frame nor reports"),
        (set(ANSWERS), "cannot read rows from 'set'"),
        ("nowhere.csv", "there is no file 'nowhere.csv'"),
        ("table.docx", r"cannot read 'table\.docx': wanted a file ending in \.parquet, \.csv"),
        ("often", "cannot read 'often'"),
    ],
    ids=["generator", "int", "None", "set", "no file", "another kind", "text"],
)
def test_what_holds_no_rows_is_refused(source: Any, words: str) -> None:
    """Generators, numbers and paths to nothing are refused with what can be read."""
    with pytest.raises(InvalidParameter, match=words):
        mu.run(CLEAR, source)


def test_a_number_in_an_array_of_no_dimension_is_refused() -> None:
    """np.array(1) holds no rows: a MurmureError, not an accident."""
    with pytest.raises(mu.MurmureError):
        mu.run(mu.Plan(mu.Histogram(mu.Categories(2))), np.array(1))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow table", "duckdb", "Parquet", "CSV"])
def test_missing_answers_are_refused_in_every_frame(kind: str, tmp_path: Path) -> None:
    """A null in the column stops the run and names the row; nobody is dropped in silence."""
    holes = TABLE.set_column(1, "drinks", pa.array([None if i == 4 else a for i, a in enumerate(ANSWERS)]))
    source: Any = {
        "pandas": holes.to_pandas,
        "polars": lambda: pl.from_arrow(holes),
        "pyarrow table": lambda: holes,
        "duckdb": lambda: duckdb.from_arrow(holes),
        "Parquet": lambda: pyarrow.parquet.write_table(holes, tmp_path / "t.parquet") or tmp_path / "t.parquet",
        "CSV": lambda: pyarrow.csv.write_csv(holes, tmp_path / "t.csv") or tmp_path / "t.csv",
    }[kind]()

    with pytest.raises(OutsideDomain, match=r"column 'drinks': row 4 (has no value|holds '')"):
        mu.run(CLEAR, source)


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"plan": 3}, InvalidParameter, "run takes a Plan, got 'int'"),
        ({"rng": 7}, InvalidParameter, r"run: rng must be a murmure\.Random, got 'int'"),
        ({"rng": np.random.default_rng(1)}, InvalidParameter, r"run: rng must be a murmure\.Random, got 'Generator'"),
        ({"ledger": object()}, PlanRefused, "a ledger records what a curator releases"),
    ],
)
def test_bad_arguments_are_refused(changed: dict[str, Any], error: type[Exception], words: str) -> None:
    """What run cannot honour it refuses: a plan that is none, randomness of another library, a ledger."""
    with pytest.raises(error, match=words):
        mu.run(**{"plan": CLEAR, "frame": ANSWERS} | changed)


# ---- marks


def test_a_seeded_run_is_marked() -> None:
    """Seeded randomness stands in the repr and in the page; secure randomness is the default and is not marked."""
    plan = mu.Plan(mu.Histogram(DRINKS), person=mu.GRR(DRINKS, 1.0))
    seeded, secure = mu.run(plan, ANSWERS, rng=mu.Random.seeded(7)), mu.run(plan, ANSWERS)

    assert seeded.seeded and not secure.seeded
    assert "SEEDED RANDOMNESS" in repr(seeded) and "SEEDED" not in repr(secure)
    assert "SEEDED RANDOMNESS" in seeded._repr_html_() and "SEEDED" not in secure._repr_html_()
    assert not mu.run(plan, ANSWERS, rng=mu.Random.secure()).seeded


def test_a_clear_run_uses_no_randomness_to_mark() -> None:
    """Nothing is randomised in the clear, so a seed changes and marks nothing."""
    assert not mu.run(CLEAR, ANSWERS, rng=mu.Random.seeded(7)).seeded


def test_seeds_repeat_and_secure_runs_do_not() -> None:
    """The same seed repeats a release; two secure runs of 5,000 people differ (chance of a false alarm below 1e-4)."""
    domain = mu.Integers(0, 9)
    plan, x = mu.Plan(mu.Histogram(domain), person=mu.OUE(domain, 1.0)), np.arange(5000) % 10

    def means(rng: Any) -> list[float]:
        return mu.run(plan, x, rng=rng).estimate.mean.tolist()

    assert means(mu.Random.seeded(1)) == means(mu.Random.seeded(1)) != means(mu.Random.seeded(2))
    assert means(None) != means(None)


def test_a_release_shows_what_it_promises() -> None:
    """epsilon, delta, unit, relation and what is public stand in the text and in the page, for both observers."""
    release = mu.run(mu.Plan(mu.Histogram(DRINKS), person=mu.GRR(DRINKS, 1.0)), ANSWERS)
    for shown in (repr(release), release._repr_html_()):
        for part in ("collector and reader", "epsilon", "delta", "record", "replace", "drinks", "fixed population"):
            assert part in shown
    assert release.plan[:12] in repr(release) and release.seconds >= 0


def test_labels_are_escaped_in_pages() -> None:
    """A label is text, never markup."""
    domain = mu.Categories(["<script>alert(1)</script>", "a & b"], column="<b>")
    page = mu.run(mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, 1.0)), ["a & b"])._repr_html_()

    assert "<script>" not in page and "&lt;script&gt;" in page and "a &amp; b" in page and "'<b>'" not in page


# ---- estimates


def test_the_clear_answer_is_the_truth() -> None:
    """Shares and means without noise are exact, with intervals of no width for these very people."""
    shares = mu.run(CLEAR, ANSWERS).estimate
    age = mu.Integers(0, 100, column="age")
    mean = mu.run(mu.Plan(mu.Mean(age)), pd.DataFrame({"age": [10, 20, 60]})).estimate

    assert shares.mean == pytest.approx([2 / 7, 1 / 7, 4 / 7])
    assert (shares.interval(0.95)[:, 1] - shares.interval(0.95)[:, 0]).tolist() == [0, 0, 0]
    assert mean.mean.tolist() == [30.0]
    assert mean.interval(0.95) == pytest.approx(np.array([[30.0, 30.0]]))
    assert mean.variance("superpopulation")[0] == pytest.approx(np.var([10, 20, 60]) / 3)


def test_large_squares_do_not_wrap() -> None:
    """Half at 0 and half at 2**22 - 1, two million people: the variance of the sample is right, or the plan refused."""
    top, n = (1 << 22) - 1, 1 << 21
    x = np.zeros(n, np.int64)
    x[::2] = top
    try:
        variance = mu.run(mu.Plan(mu.Mean(mu.Integers(0, top))), x).estimate.variance("superpopulation")[0]
    except PlanRefused as refused:
        assert "2**63" in str(refused)
    else:
        assert variance == pytest.approx(top**2 / 4 / n)


def test_a_mean_through_a_histogram() -> None:
    """GRR on integers answers a mean too: by the delta method for 20,000 people."""
    age = mu.Integers(18, 30)
    x = np.arange(20_000) % 13 + 18
    estimate = mu.run(mu.Plan(mu.Mean(age), person=mu.GRR(age, 2.0)), x, rng=mu.Random.seeded(3)).estimate
    bounds, method = estimate.interval_and_method(0.9999)

    assert method == "delta" and estimate.labels == ["mean"]
    assert bounds[0, 0] <= x.mean() <= bounds[0, 1]


def test_intervals_are_asked_for_properly() -> None:
    """Level and target are checked; only shares have counts; a biased output has no bar and says why."""
    estimate = mu.run(mu.Plan(mu.Histogram(DRINKS), person=mu.GRR(DRINKS, 1.0)), ANSWERS).estimate
    for level in (0, 1, 95, -0.5, "0.95", True, None, float("nan")):
        with pytest.raises(InvalidParameter, match="interval level must lie strictly between 0 and 1"):
            estimate.interval(level)
    for target in ("sample", None, "Fixed"):
        with pytest.raises(InvalidParameter, match='interval target must be "fixed" or "superpopulation"'):
            estimate.interval(0.95, target=target)
    with pytest.raises(NoUnbiasedEstimate, match=r"carries no error bar: .*biased"):
        mu.project_simplex(estimate).interval()
    with pytest.raises(InvalidParameter, match="only shares have counts"):
        _ = mu.run(mu.Plan(mu.Mean(mu.Integers(0, 9))), [1, 2]).estimate.counts


def test_simultaneous_intervals_are_wider() -> None:
    """All cells at once at 95 % are Bonferroni's, and say so."""
    estimate = mu.run(
        mu.Plan(mu.Histogram(DRINKS), person=mu.GRR(DRINKS, 1.0)), ANSWERS * 100, rng=mu.Random.seeded(1)
    ).estimate
    one, (many, method) = estimate.interval(0.95), estimate.interval_and_method(0.95, simultaneous=True)

    assert (many[:, 0] <= one[:, 0]).all() and (many[:, 1] >= one[:, 1]).all() and (many != one).any()
    assert "simultaneous" in method
    assert np.array_equal(many, estimate.interval(1 - 0.05 / 3))


# ---- cost


def run_python(code: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **env}, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_is_light_and_quick() -> None:
    """`import murmure` loads none of the heavy packages and takes under 0.3 seconds of processor time."""
    code = (
        "import time, sys, json; start = time.process_time(); import murmure; took = time.process_time() - start; "
        "heavy = ['numba', 'scipy', 'pyarrow', 'pandas', 'polars', 'matplotlib', 'narwhals', 'duckdb']; "
        "print(json.dumps([took, [name for name in heavy if name in sys.modules]]))"
    )
    took, loaded = json.loads(run_python(code))

    assert loaded == []
    assert took < 0.3


def test_a_small_plan_loads_no_kernel() -> None:
    """Building, certifying and reporting for a few people needs neither Numba nor pandas."""
    code = (
        "import sys, murmure as mu; d = mu.Categories(4); m = mu.OUE(d, 1.0); mu.certify(m); "
        "mu.Plan(mu.Histogram(d), person=m).report([0, 1, 2], mu.Random.seeded(1)); "
        "print([name for name in ('numba', 'pandas', 'matplotlib', 'pyarrow') if name in sys.modules])"
    )

    assert run_python(code).strip() == "[]"


@pytest.mark.parametrize(("kind", "k"), [("GRR", 128), ("OUE", 1024)], ids=["GRR", "OUE: 128 MB of reports"])
def test_reports_are_not_kept(kind: str, k: int) -> None:
    """A million people: beyond the input the run holds less than 100 MB, one batch of reports at a time."""
    x = (mu.Random.seeded(1).words(1_000_000) % np.uint64(k)).astype(np.int64)
    domain = mu.Categories(k)
    plan = mu.Plan(mu.Histogram(domain), person=getattr(mu, kind)(domain, 1.0))
    mu.run(plan, x[:10_000], rng=mu.Random.seeded(1))  # what is loaded once is not counted
    tracemalloc.start()
    try:
        release = mu.run(plan, x, rng=mu.Random.seeded(1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert release.estimate.n == 1_000_000
    assert peak < 100e6
    assert peak > 1e5  # the measure sees the batch at all
