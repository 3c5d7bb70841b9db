"""Sanitised tables: whatever carries them, the same reports come back; and nothing but reports and public columns is in
them."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.engines.memory import Memory
from murmure.engines.sources.tables import open_table
from murmure.laws import kernel_loader
from murmure.ledger.currency import Currency
from murmure.run.tables.estimator import TableTallyStep, _tasks
from murmure.run.tables.table_format import TableFormat

pa = pytest.importorskip("pyarrow")

SCHEMA = mu.Schema(
    {
        "smoker": mu.Categories(["no", "yes, a lot"]),
        "region": mu.Categories(5),
        "sick": mu.Categories([False, True]),
        "age": mu.Integers(0, 9),
        "weight": mu.Column(mu.Interval(0.0, 5.0), public=True),
        "town": mu.Column(mu.Categories(["north", "south"]), public=True),
    }
)
NUMBERS = mu.Schema(
    {"income": mu.Interval(0.0, 1.0, cells=16), "age": mu.Integers(-40, 100), "sex": mu.Categories(["f", "m"])}
)
PEOPLE = 300


def words(seed: int, n: int = PEOPLE) -> Any:
    return mu.Random.seeded(seed).words(n).astype(np.int64) & 0xFFFF


def people(n: int = PEOPLE) -> Any:
    return pa.table(
        {
            "name": [f"person {i}" for i in range(n)],  # in no schema: not read
            "smoker": [["no", "yes, a lot"][v % 2] for v in words(1, n)],
            "region": words(2, n) % 5,
            "sick": words(3, n) % 2 == 1,
            "age": words(4, n) % 10,
            "weight": (words(5, n) % 100) / 20,
            "town": [["north", "south"][v % 2] for v in words(6, n)],
            "income": (words(7, n) % 97) / 96,
            "sex": [["f", "m"][v % 2] for v in words(8, n)],
        }
    )


SOLUTIONS: dict[str, Any] = {
    "SPL": mu.SPL(SCHEMA, 4.0),
    "SPL GRR": mu.SPL(SCHEMA, 4.0, oracle="GRR"),
    "SPL OUE": mu.SPL(SCHEMA, 4.0, oracle="OUE"),
    "SPL OLH": mu.SPL(SCHEMA, 4.0, oracle="OLH"),
    "SPL subsets": mu.SPL(SCHEMA, 4.0, oracle="SubsetSelection"),
    "SPL Hadamard": mu.SPL(SCHEMA, 4.0, oracle="HadamardResponse"),
    "SPL numbers": mu.SPL(NUMBERS, 4.0),
    "SPL Piecewise": mu.SPL(NUMBERS, 4.0, numeric="Piecewise"),
    "SPL Duchi": mu.SPL(NUMBERS, 4.0, numeric="Duchi"),
    "SPL SquareWave": mu.SPL(NUMBERS, 4.0, numeric="SquareWave"),
    "Plain": mu.Plain(NUMBERS, 4.0),
    "Plain Window": mu.Plain(NUMBERS, 4.0, numeric="Window"),
    "SMP": mu.SMP(SCHEMA, 1.0),
    "SMP OUE": mu.SMP(SCHEMA, 1.0, oracle="OUE"),
    "SMP two": mu.SMP(SCHEMA, 2.0, sample=2, oracle="GRR"),
    "SMP turns": mu.SMP(SCHEMA, 1.0, draw="round-robin"),
    "SMP numbers": mu.SMP(NUMBERS, 1.0),
    "RSFD": mu.RSFD(SCHEMA, 1.0),
    "RSFD OUE-z": mu.RSFD(SCHEMA, 1.0, oracle="OUE-z"),
    "RSFD SUE-r": mu.RSFD(SCHEMA, 1.0, oracle="SUE-r"),
    "RSRFD": mu.RSRFD(SCHEMA, 1.0, [np.arange(1, k + 1) / (k * (k + 1) / 2) for k in (2, 5, 2, 10)]),
    "ADP smp": mu.ADP(SCHEMA, 1.0),
    "ADP spl": mu.ADP(SCHEMA, 1.0, "spl"),
    "ADP rsfd": mu.ADP(SCHEMA, 1.0, "rsfd"),
}


def plan_for(mechanism: Any) -> mu.Plan:
    return mu.Plan(mu.Marginals(mechanism.domain), person=mechanism)


def integers(source: Any, plan: mu.Plan) -> list[int]:
    """The sums behind the figures."""
    step = TableTallyStep(plan)
    return Memory().total(step, _tasks(open_table(source, step.columns, TableFormat(plan).kinds))).sum.tolist()


def expected(mechanism: Any, seed: int = 3) -> list[int]:
    records = mechanism.randomise(mechanism.domain.encode(people()), mu.Random.seeded(seed).branch().child(0))
    return mechanism.tally(records).tolist()


# ---- there and back


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
@pytest.mark.parametrize("name", SOLUTIONS)
def test_files_give_the_reports_back(name: str, ending: str, tmp_path: Path) -> None:
    """The very integers, and a release of the plan that the file carries, certified as it was."""
    mechanism, path = SOLUTIONS[name], tmp_path / f"out.{ending}"
    receipt = mu.sanitise(people(), mechanism, path, rng=mu.Random.seeded(3))
    release = mu.estimate(path)

    assert (receipt.rows, receipt.dropped, receipt.seeded) == (PEOPLE, 0, True)
    assert integers(path, receipt.plan) == expected(mechanism)
    assert release.plan == plan_for(mechanism).digest
    assert release.seeded
    assert release.guarantees["collector"].epsilon == mu.certify(mechanism).epsilon
    assert release.guarantees["either, about one attribute"].epsilon == mu.certify(mechanism, "attribute").epsilon
    assert set(open_table(path).names) == set(mechanism.domain)  # no name, no income


def as_pandas(table: Any) -> Any:
    pytest.importorskip("pandas")
    return table.to_pandas()


def as_polars(table: Any) -> Any:
    return pytest.importorskip("polars").from_arrow(table)


def as_lazy(table: Any) -> Any:
    return as_polars(table).lazy()


def as_relation(table: Any) -> Any:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    return connection.from_arrow(table)


FRAMES: dict[str, Callable[[Any], Any]] = {
    "arrow": lambda table: table,
    "batches": lambda table: pa.RecordBatchReader.from_batches(table.schema, table.to_batches(70)),
    "pandas": as_pandas,
    "polars": as_polars,
    "polars, lazy": as_lazy,
    "duckdb": as_relation,
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("name", SOLUTIONS)
def test_frames_give_the_reports_back(name: str, frame: str) -> None:
    """From a sanitised table in memory to any frame and back: the very integers, packed bits too."""
    mechanism = SOLUTIONS[name]
    table = mu.sanitise(people(), mechanism, rng=mu.Random.seeded(3))

    assert integers(FRAMES[frame](table), plan_for(mechanism)) == expected(mechanism)


@pytest.mark.parametrize("frame", FRAMES)
def test_any_frame_is_sanitised_alike(frame: str) -> None:
    """The same rows and the same seed give the same reports, whatever holds the rows."""
    for name in ("SPL", "SMP", "RSFD OUE-z"):
        mechanism = SOLUTIONS[name]
        table = mu.sanitise(FRAMES[frame](people()), mechanism, rng=mu.Random.seeded(3))
        assert integers(table, plan_for(mechanism)) == expected(mechanism)


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
def test_any_file_is_sanitised_alike(ending: str, tmp_path: Path) -> None:
    from pyarrow import csv, feather, parquet

    path = tmp_path / f"raw.{ending}"
    {"parquet": parquet.write_table, "csv": csv.write_csv, "arrow": feather.write_feather}[ending](people(), path)
    mechanism = SOLUTIONS["SPL"]
    table = mu.sanitise(path, mechanism, rng=mu.Random.seeded(3))
    assert integers(table, plan_for(mechanism)) == expected(mechanism)


@pytest.mark.parametrize("name", ["SPL", "SMP", "RSFD"])
def test_public_columns_are_carried(name: str, tmp_path: Path) -> None:
    """As they are, in order; columns outside the schema are not."""
    from pyarrow import parquet

    path = tmp_path / "out.parquet"
    mu.sanitise(people(), SOLUTIONS[name], path, rng=mu.Random.seeded(3))
    table = parquet.read_table(path)

    assert table.column_names == [*SCHEMA.private, *SCHEMA.open]
    assert table["weight"].to_pylist() == people()["weight"].to_pylist()
    assert table["town"].to_pylist() == people()["town"].to_pylist()
    assert "public and not randomised" in str(mu.certify(SOLUTIONS[name]))


# ---- nothing else is in them


def shown_alike(mechanism: Any, seed: int) -> Any:
    """The same people, but for what nobody saw of them: cells that the draw did not show."""
    records = mechanism.randomise(mechanism.domain.encode(people()), mu.Random.seeded(seed).branch().child(0))
    other = people()
    for i, name in enumerate(mechanism.domain.private):
        column = np.array(other[name].to_pylist(), object)
        hidden_rows = np.setdiff1d(np.arange(PEOPLE), records.rows[i])
        values = [mechanism.domain[name].values] if hasattr(mechanism.domain[name], "values") else [10]
        held = values[0]
        column[hidden_rows] = (held[-1] if not isinstance(held, int) else held - 1) if held is not None else 0
        place = other.column_names.index(name)
        other = other.set_column(place, name, pa.array(column.tolist(), other[name].type))
    return other


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
@pytest.mark.parametrize("name", ["SMP", "SMP OUE", "SMP two"])
def test_what_is_not_shown_leaves_no_trace(name: str, ending: str, tmp_path: Path) -> None:
    """Other answers in the cells that were not drawn, and the same words: the file is the same, byte for byte.

    So nothing raw is in statistics of row groups, dictionaries, cells under a null, sizes or metadata.
    """
    mechanism, files = SOLUTIONS[name], []
    other = shown_alike(mechanism, 3)
    assert not other.equals(people())
    for i, table in enumerate((people(), other)):
        path = tmp_path / f"{i}.{ending}"
        mu.sanitise(table, mechanism, path, rng=mu.Random.seeded(3))
        files.append(path.read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize("oracle", ["GRR", "OUE-r"])
def test_a_fake_leaves_no_trace_of_the_truth(oracle: str, tmp_path: Path) -> None:
    """Other answers wherever the attribute is a fake, and the same words: the same file."""
    mechanism = mu.RSFD(SCHEMA, 1.0, oracle=oracle)
    channel, rng = mechanism.channel, mu.Random.seeded(3).branch().child(0)
    tag = channel._tag(PEOPLE, rng.reserve(PEOPLE, *channel.ranges[0]))
    other = people()
    for i, (name, value) in enumerate({"smoker": "no", "region": 4, "sick": True, "age": 0}.items()):
        column = np.array(other[name].to_pylist(), object)
        column[tag != i] = value
        other = other.set_column(other.column_names.index(name), name, pa.array(column.tolist(), other[name].type))
    assert not other.equals(people())
    files = []
    for i, table in enumerate((people(), other)):
        mu.sanitise(table, mechanism, tmp_path / f"{i}.arrow", rng=mu.Random.seeded(3))
        files.append((tmp_path / f"{i}.arrow").read_bytes())
    assert files[0] == files[1]


def test_nothing_lies_under_a_missing_cell() -> None:
    """Where a person does not show a column the bytes beneath are the same for everybody."""
    for name in ("SMP", "SMP OUE", "SMP numbers"):
        table = mu.sanitise(people(), SOLUTIONS[name])
        for column in SOLUTIONS[name].domain.private:
            held = table[column].combine_chunks()
            held = held.chunk(0) if isinstance(held, pa.ChunkedArray) else held
            missing = held.is_null().to_numpy(zero_copy_only=False)
            codes = held.indices if pa.types.is_dictionary(held.type) else held
            raw = np.frombuffer(codes.buffers()[1], np.uint8).reshape(-1)
            width = codes.type.bit_width // 8
            if width:
                assert len({bytes(row) for row in raw[: len(held) * width].reshape(-1, width)[missing]}) == 1
            assert 0 < missing.sum() < len(missing)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_a_public_dictionary_brings_no_strangers(ending: str, tmp_path: Path) -> None:
    """A public column may come with words that none of its rows holds (categories of a filtered frame): not written."""
    town = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int32()), pa.array(["north", "south", "Jane Doe"]))
    schema = mu.Schema(
        {"sex": mu.Categories(["f", "m"]), "town": mu.Column(mu.Categories(["north", "south"]), public=True)}
    )
    path = tmp_path / f"out.{ending}"
    mu.sanitise(pa.table({"sex": ["f", "m", "f"], "town": town}), mu.SPL(schema, 1.0), path)
    assert b"Jane Doe" not in path.read_bytes()


def test_the_public_columns_of_dropped_rows_are_not_written(tmp_path: Path) -> None:
    """A row that is dropped for its private value takes its public words along."""
    raw, path = tmp_path / "raw.csv", tmp_path / "out.parquet"
    raw.write_text("sex,town\nf,north\n?,Jane Doe\nm,south\n")
    schema = mu.Schema(
        {"sex": mu.Categories(["f", "m"]), "town": mu.Column(mu.Categories(["north", "south"]), public=True)}
    )
    receipt = mu.sanitise(raw, mu.SPL(schema, 1.0), path, invalid="drop")
    assert (receipt.rows, receipt.dropped) == (2, 1)
    assert b"Jane Doe" not in path.read_bytes()


# ---- tampering

SMALL = mu.Schema({"a": mu.Categories(["x", "y"]), "b": mu.Categories(9)})


def refused(table: Any, mechanism: Any, match: str) -> None:
    with pytest.raises(mu.MurmureError, match=match):
        mu.estimate(table, plan_for(mechanism))


def test_tampered_cells_are_refused() -> None:
    """With the column and the row that it is in."""
    grr, oue, smp = (mu.SPL(SMALL, 1.0, oracle=o) for o in ("GRR", "OUE", "GRR"))
    smp = mu.SMP(SMALL, 1.0, oracle="GRR")
    refused({"a": ["x", "y", "z"], "b": [0, 1, 2]}, grr, r"'a': row 2 holds 'z'")
    refused({"a": ["x", "y", "x"], "b": [0, 9, 2]}, grr, r"'b': row 1 holds 9")
    refused({"a": ["x", "y", "x"], "b": [0, -1, 2]}, grr, r"'b': row 1 holds -1")
    refused({"a": ["x", "y", "x"], "b": [0.0, 1.5, 2.0]}, grr, r"'b'")
    refused({"a": ["x", None, "x"], "b": [0, 1, 2]}, grr, r"'a': row 1 is missing")
    refused({"a": ["x"]}, grr, "b")
    refused({"a": ["01", "02"], "b": ["0100", "0"]}, oue, r"'b' holds hexadecimal text of another length")
    refused({"a": ["01", "zz"], "b": ["0100", "0000"]}, oue, r"'a' holds text that is not hexadecimal")
    refused({"a": ["01", "04"], "b": ["0100", "0000"]}, oue, r"bit")  # beyond the second value
    refused({"a": pa.array([b"\x01", b"\x02"], pa.binary(1)), "b": pa.array([b"\x01"] * 2, pa.binary(1))}, oue, r"'b'")
    refused({"a": ["x", None], "b": [1, 2]}, smp, r"row 0 shows 2 columns; wanted 1")
    refused({"a": ["x", None], "b": [None, None]}, smp, r"row 1 shows 0 columns|row 1")


def test_hexadecimal_text_with_spaces_is_refused_in_words() -> None:
    """As long as it should be, and fewer bytes: Python's fromhex skips spaces."""
    for cells in (["01  ", "0200"], ["01  ", "  02"], ["0 1 ", "0200"]):
        refused({"a": ["01", "01"], "b": cells}, mu.SPL(SMALL, 1.0, oracle="OUE"), r"'b' holds text that is not hex")


def test_the_row_of_a_tampered_cell_counts_those_that_show_nothing() -> None:
    refused(
        {"a": ["x", None, None, "z"], "b": [None, 1, 2, None]},
        mu.SMP(SMALL, 1.0, oracle="GRR"),
        r"'a': row 3 holds 'z'",
    )


def test_a_table_of_another_plan_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    mu.sanitise(people(), SOLUTIONS["SPL"], path)
    with pytest.raises(mu.MurmureError, match="answers plan"):
        mu.estimate(path, plan_for(SOLUTIONS["SMP"]))
    with pytest.raises(mu.MurmureError, match="carries no plan"):
        mu.estimate(people())


# ---- what does not fit


def test_missing_policies() -> None:
    """Refused, a value of its own, or a public constant; rows with what is refused can be dropped."""
    raw = {"a": ["x", None, "y", "x"], "b": [0, 1, None, 2]}
    column = functools.partial(mu.Column, mu.Categories(["x", "y"]))
    nine = mu.Categories(9)
    with pytest.raises(mu.MurmureError, match="row 1"):
        mu.sanitise(raw, mu.SPL(mu.Schema({"a": column()}), 1.0))
    labelled = mu.SPL(
        mu.Schema({"a": column(missing="value"), "b": mu.Column(nine, "constant", 5)}), 400.0, oracle="GRR"
    )
    table = mu.sanitise(raw, labelled)
    assert table["a"].to_pylist() == ["x", "missing", "y", "x"]  # at this epsilon nobody lies
    assert table["b"].to_pylist() == [0, 1, 5, 2]
    strict = mu.SPL(mu.Schema({"a": column(), "b": nine}), 400.0, oracle="GRR")
    table = mu.sanitise(raw, strict, invalid="drop")
    assert table["a"].to_pylist() == ["x", "x"]
    assert table["b"].to_pylist() == [0, 2]


@pytest.mark.parametrize("values", [3, [1, 2, 5], [False, True], ["f", "m"]], ids=str)
@pytest.mark.parametrize("make", [mu.SPL, mu.SMP, mu.RSFD])
def test_a_missing_answer_beside_numbers_and_booleans(make: Any, values: Any, tmp_path: Path) -> None:
    """Categories of any type with a label more for those who did not say: written and read again."""
    schema = mu.Schema({"a": mu.Column(mu.Categories(values), missing="value"), "b": mu.Categories(2)})
    known = list(range(values)) if isinstance(values, int) else values
    raw = {"a": [*known, None] * 5, "b": ([0, 1] * 10)[: 5 * (len(known) + 1)]}
    mechanism = make(schema, 1.0)
    for ending in ("parquet", "csv"):
        mu.sanitise(raw, mechanism, tmp_path / f"out.{ending}", rng=mu.Random.seeded(1))
        records = mechanism.randomise(schema.encode(raw), mu.Random.seeded(1).branch().child(0))
        assert integers(tmp_path / f"out.{ending}", plan_for(mechanism)) == mechanism.tally(records).tolist()


def test_dropped_rows_are_counted(tmp_path: Path) -> None:
    raw = {"a": ["x", "?", "y", "x"], "b": [0, 1, 99, 2]}
    receipt = mu.sanitise(raw, mu.SPL(SMALL, 1.0), tmp_path / "out.csv", invalid="drop")
    assert (receipt.rows, receipt.dropped) == (2, 2)
    assert mu.estimate(tmp_path / "out.csv").estimate.n == 2
    with pytest.raises(mu.MurmureError, match=r"row 1|row 2"):
        mu.sanitise(raw, mu.SPL(SMALL, 1.0))
    with pytest.raises(mu.MurmureError, match="none of 1 rows"):
        mu.sanitise({"a": ["?"], "b": [0]}, mu.SPL(SMALL, 1.0, oracle="GRR"), invalid="drop")
    with pytest.raises(mu.MurmureError, match="no rows"):
        mu.sanitise({"a": [], "b": []}, mu.SPL(SMALL, 1.0))


@pytest.mark.parametrize("unit", [{}, {"unit": "id"}], ids=["rows", "people"])
def test_a_text_among_the_numbers_of_a_csv_costs_its_row_alone(unit: Any, tmp_path: Path) -> None:
    """A reader that took the column for numbers would refuse the file. Where nothing is dropped, the row is named."""
    path = tmp_path / "raw.csv"
    path.write_text("id,a,b\n1,x,0\n2,y,unknown\n3,x,7.5\n4,y,3\n")
    mechanism = mu.SPL(SMALL, 400.0, oracle="GRR")  # nobody lies
    table = mu.sanitise(path, mechanism, invalid="drop", **unit)

    assert (table["a"].to_pylist(), table["b"].to_pylist()) == (["x", "y"], [0, 3])
    with pytest.raises(mu.MurmureError, match="unknown"):
        mu.sanitise(path, mechanism, **unit)


def test_a_charge_that_fails_leaves_no_table(tmp_path: Path) -> None:
    """A budget that does not cover the table: nothing is written, and nothing is charged."""
    ledger = mu.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("people", 0.5, relation="replace")
    before = sorted(tmp_path.iterdir())
    for out in (tmp_path / "out.csv", None):
        with pytest.raises(mu.MurmureError, match="does not cover this"):
            mu.sanitise(people(), SOLUTIONS["SPL"], out, ledger=ledger.account("people"))

    assert sorted(tmp_path.iterdir()) == before and ledger.spent("people").charges == 0


@pytest.mark.parametrize("out", ["out.parquet", None])
def test_a_table_is_charged_before_it_is_there(tmp_path: Path, out: str | None) -> None:
    """To a path, or in memory: epsilon of a whole row, under replace; with no budget it is only added up."""
    ledger = mu.Ledger(tmp_path / "ledger.db")
    account = ledger.account("people")
    for paid in (1, 2):
        path = None if out is None else tmp_path / f"{paid}.parquet"
        done = mu.sanitise(people(), SOLUTIONS["SPL"], path, ledger=account)
        assert out is None or done.charge.number == paid
        assert ledger.spent("people").charges == paid
    state = ledger.state("people")

    assert state.budget is None and state.currency == Currency("replace", "row")
    assert state.spent().epsilon == 2 * mu.certify(SOLUTIONS["SPL"]).epsilon


# ---- batches


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """100 rows a batch."""
    small = functools.partial(open_table, rows=100)
    for name in ("murmure.run.tables.sanitiser", "murmure.engines.sources.tables"):  # run looks it up when it runs
        monkeypatch.setattr(importlib.import_module(name), "open_table", small)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("name", ["SPL", "SMP", "SMP turns", "RSFD OUE-z"])
def test_seeded_runs_do_not_depend_on_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread, two, or three: the same table and the same figures."""
    tables, sums = [], []
    for count in (1, 2, 3):
        monkeypatch.setattr("murmure.engines.memory.threads", lambda count=count: count)
        monkeypatch.setattr(kernel_loader, "cores", lambda count=count: count)
        tables.append(mu.sanitise(people(), SOLUTIONS[name], rng=mu.Random.seeded(3)))
        release = mu.run(plan_for(SOLUTIONS[name]), people(), engine=Memory(count), rng=mu.Random.seeded(3))
        sums.append([row[key] for row in release.estimate.to_rows() for key in row if key in ("share", "value")])
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])
    assert sums[0] == sums[1] == sums[2]


@pytest.mark.usefixtures("small_batches")
def test_batches_have_words_of_their_own() -> None:
    """The same 100 rows three times: three different batches of reports."""
    rows = people(100)
    table = mu.sanitise(pa.concat_tables([rows] * 3), mu.SPL(SCHEMA, 1.0), rng=mu.Random.seeded(3))
    held = table["region"].to_pylist()
    assert held[:100] != held[100:200]
    assert held[:100] != held[200:]
    assert held[100:200] != held[200:]


def test_a_seeded_generator_goes_on() -> None:
    """Two runs with one generator are two experiments, not the same one twice: in one batch, and in several."""
    for rows in (people(), people(1000)):
        rng = mu.Random.seeded(3)
        one, two = (mu.sanitise(rows, mu.SPL(SCHEMA, 1.0), rng=rng) for _ in range(2))
        assert not one.equals(two)


@pytest.mark.usefixtures("small_batches")
def test_a_seeded_generator_goes_on_in_every_batch() -> None:
    """The same for run: the second batch of a second run has words of its own."""
    schema = mu.Schema({"a": mu.Categories(2)})
    plan = mu.Plan(mu.Marginals(schema), person=mu.SPL(schema, 1.0))
    seen: list[list[int]] = []

    class Keeps(Memory):
        def total(self, step: Any, source: Any) -> Any:
            for i, task in enumerate(source):
                if i == 1:
                    seen.append(task.rng.words(4).tolist())
                    task = type(task)(task.batch, task.rng, task.first)
                out = step(task)
            return out

    rng = mu.Random.seeded(3)
    for _ in range(2):
        mu.run(plan, {"a": [0, 1] * 100}, engine=Keeps(), rng=rng)
    assert seen[0] != seen[1]


@pytest.mark.usefixtures("small_batches")
def test_rows_are_numbered_from_the_start_of_the_source() -> None:
    """Beyond the first batch too: in sanitise, run and estimate."""
    raw = {"a": ["x"] * 250, "b": [0] * 250}
    bad = {"a": [*raw["a"][:217], "?", *raw["a"][218:]], "b": raw["b"]}
    for attempt in (
        lambda: mu.sanitise(bad, mu.SPL(SMALL, 1.0)),
        lambda: mu.run(plan_for(mu.SPL(SMALL, 1.0)), bad),
        lambda: mu.estimate(bad, plan_for(mu.SPL(SMALL, 1.0, oracle="GRR"))),
    ):
        with pytest.raises(mu.MurmureError, match="row 217"):
            attempt()


@pytest.mark.usefixtures("small_batches")
def test_turns_go_on_over_batches() -> None:
    """Row i shows column i mod d, whatever the batches."""
    schema = mu.Schema({name: mu.Categories(2) for name in "abc"})
    table = mu.sanitise({name: [0] * 250 for name in "abc"}, mu.SMP(schema, 1.0, oracle="GRR", draw="round-robin"))
    for place, name in enumerate("abc"):
        shown = np.flatnonzero(table[name].is_valid().to_numpy())
        assert (shown % 3 == place).all()


# ---- people with several rows


def several(ids: Any, n: int) -> Any:
    return pa.table({"a": ["x", "y"] * (n // 2), "b": [0] * n, "id": ids})


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("name", SOLUTIONS)
def test_a_batch_that_is_dropped_whole(name: str) -> None:
    """100 rows that do not fit, then 200 that do: the empty batch is no stumbling block, for no kind of report."""
    schema, rows = SOLUTIONS[name].domain, people()
    column = "smoker" if "smoker" in schema else "sex"
    words = ["?"] * 100 + rows[column].to_pylist()[100:]
    rows = rows.set_column(rows.column_names.index(column), column, pa.array(words))
    table = mu.sanitise(rows, SOLUTIONS[name], invalid="drop")
    assert table.num_rows == 200
    assert mu.estimate(table).estimate.n == 200


@pytest.mark.usefixtures("small_batches")
def test_rows_of_one_person_are_counted_over_batches() -> None:
    """At most two rows each: refused with the row, or dropped and counted; the column is not written."""
    ids = [i % 150 for i in range(300)]
    fine = mu.sanitise(several(ids, 300), mu.SPL(SMALL, 1.0), unit="id", rows_per_person=2)
    assert (fine.num_rows, fine.column_names) == (300, ["a", "b"])
    assert mu.estimate(fine).guarantees["collector"].epsilon == 2.0
    ids[260] = 5  # whose rows are 5 and 155
    with pytest.raises(mu.MurmureError, match="row 260 is row 3 of one person"):
        mu.sanitise(several(ids, 300), mu.SPL(SMALL, 1.0), unit="id", rows_per_person=2)
    dropped = mu.sanitise(several(ids, 300), mu.SPL(SMALL, 1.0), unit="id", rows_per_person=2, invalid="drop")
    assert dropped.num_rows == 299
    alone = mu.sanitise(
        several([7] * 300, 300), mu.SPL(SMALL, 1.0, oracle="GRR"), unit="id", rows_per_person=2, invalid="drop"
    )
    assert alone.num_rows == 2  # two batches are left empty


def test_run_counts_the_rows_of_a_person_too() -> None:
    """A plan that promises two rows a person is not run on ten, whatever runs it: the certificate would be wrong."""
    plan = mu.Plan(mu.Marginals(SMALL), person=mu.SPL(SMALL, 1.0), unit="id", rows_per_person=2)
    with pytest.raises(mu.MurmureError, match="id"):
        mu.run(plan, several([1] * 10, 10))


def test_a_plan_about_people_says_so() -> None:
    """The unit and the bound stand in the certificate: a number about rows is no number about people."""
    plan = mu.Plan(mu.Marginals(SMALL), person=mu.SPL(SMALL, 1.0), unit="id", rows_per_person=3)
    said = str(plan.guarantees()["collector"])
    assert "id" in said.split()
    assert "3" in said


@pytest.mark.parametrize("unit", [None, 5, "", ["id"], "a"], ids=repr)
def test_a_unit_is_the_name_of_a_column_that_is_not_randomised(unit: Any) -> None:
    with pytest.raises(mu.MurmureError, match="unit"):
        mu.Plan(mu.Marginals(SMALL), person=mu.SPL(SMALL, 1.0), unit=unit, rows_per_person=2)


@pytest.mark.parametrize(
    "words",
    [pa.array(["p", "p"]), pa.array([None, "p"])],
    ids=["the same person under two codes", "nobody among the codes"],
)
def test_dictionaries_of_people_are_not_trusted(words: Any) -> None:
    """A dictionary may name a person twice, or hold a missing name: rows are counted by person, or refused."""
    ids = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), words)
    with pytest.raises(mu.MurmureError, match="id"):
        mu.sanitise(several(ids, 2), mu.SPL(SMALL, 1.0), unit="id", rows_per_person=1)


def test_a_public_column_may_tell_people_apart() -> None:
    """The unit stands in the schema as a public column: counted and carried, or refused in words about the unit."""
    schema = mu.Schema({"a": mu.Categories(["x", "y"]), "id": mu.Column(mu.Integers(0, 99), public=True)})
    raw = {"a": ["x", "y"], "id": [1, 2]}
    try:
        table = mu.sanitise(raw, mu.SPL(schema, 1.0), unit="id", rows_per_person=1)
    except mu.MurmureError as refusal:
        assert "unit" in str(refusal)
    else:
        assert table["id"].to_pylist() == [1, 2]


ALONE = mu.Schema({"a": mu.Categories(["x", "y"])})


def test_a_name_that_is_no_number_is_nobodys() -> None:
    """NaN among the names of people is not equal to itself, and would never be counted twice."""
    rows = pa.table({"a": ["x", "y"] * 2, "id": pa.array([np.nan] * 4)})
    with pytest.raises(mu.MurmureError, match="'id'"):
        mu.sanitise(rows, mu.SPL(ALONE, 1.0), unit="id", rows_per_person=1)


def test_names_are_compared_as_they_are_written_out(tmp_path: Path) -> None:
    """A public unit of whole numbers: 1 and 01 of a CSV are one person."""
    schema = mu.Schema({"a": mu.Categories(["x", "y"]), "id": mu.Column(mu.Integers(0, 99), public=True)})
    path = tmp_path / "raw.csv"
    path.write_text("a,id\nx,1\ny,01\nx,2\n")
    table = mu.sanitise(path, mu.SPL(schema, 1.0), unit="id", rows_per_person=1, invalid="drop")
    assert table["id"].to_pylist() == [1, 2]


def test_rows_are_counted_where_they_are_randomised() -> None:
    """A query may give other rows at every look (a sample, a sequence, a file that grows): so there is one look."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("people", pa.table({"a": ["x", "y"] * 50}))
        connection.execute("create sequence looks start 1")
        query = "select a, case when nextval('looks') <= 100 then row_number() over () else 7 end as id from people"
        table = mu.sanitise(connection.sql(query), mu.SPL(ALONE, 1.0), unit="id", rows_per_person=1)

        assert table.num_rows == 100
        assert connection.execute("select nextval('looks')").fetchone() == (101,)  # there was one look


def test_nothing_lies_under_a_missing_public_cell(tmp_path: Path) -> None:
    """Arrow keeps what a mask covers: a public cell that was blanked out before is blank in the file too."""
    column = mu.Column(mu.Categories([1, 77777, 3]), missing="value", public=True)
    schema = mu.Schema({"a": mu.Categories(["x", "y"]), "area": column})
    area = pa.array(np.array([1, 77777, 3]), mask=np.array([False, True, False]))
    raw, path = pa.table({"a": ["x", "y", "x"], "area": area}), tmp_path / "out.arrow"
    mu.sanitise(raw, mu.SPL(schema, 1.0), path)
    for table in (pa.ipc.open_file(path).read_all(), mu.sanitise(raw, mu.SPL(schema, 1.0))):
        assert table["area"].to_pylist() == [1, None, 3]
        assert 77777 not in np.frombuffer(table["area"].chunk(0).buffers()[1], np.int64)
