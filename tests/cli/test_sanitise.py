"""`murmure sanitize`: what a steward asks for, what it costs, and what happens when something is wrong."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from murmure.advise.solutions import SOLUTIONS, auto_solution
from murmure.cli import main
from murmure.core.column import Column
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.schema import Schema
from murmure.engines.sources.tables import open_table
from murmure.ledger.entries import Entry
from murmure.ledger.journal import OpenJournal
from murmure.ledger.ledger import DEFAULT_FILE as NAME
from murmure.ledger.ledger import Ledger
from murmure.local.smp import SMP
from murmure.local.spl import SPL

commands = importlib.import_module("murmure.cli.sanitise")  # murmure.cli.sanitise itself is the command
SCHEMA = Schema({"smoker": Categories(["no", "yes"]), "region": Categories(["A", "B", "C"]), "kids": Integers(0, 4)})
PRIORS = {"smoker": {"no": 0.7, "yes": 0.3}, "region": [0.5, 0.25, 0.25], "kids": [0.2] * 5}


def people(n: int = 300) -> pa.Table:
    r = np.random.default_rng(3)
    return pa.table(
        {
            "id": np.arange(n) // 2,
            "smoker": r.choice(["no", "yes"], n, p=[0.7, 0.3]),
            "region": r.choice(["A", "B", "C"], n),
            "kids": r.integers(0, 5, n),
        }
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with people.parquet, schema.toml and priors.json."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(people(), "people.parquet")
    Path("schema.toml").write_text(SCHEMA.to_toml())
    Path("priors.json").write_text(json.dumps(PRIORS))
    return tmp_path


def call(*args: Any, epsilon: Any = 1, out: str = "out.parquet", schema: str = "schema.toml") -> Result:
    given = ["--epsilon", epsilon] if epsilon is not None else []
    words = ["sanitize", *args, "--schema", schema, *given, "-o", out]
    return CliRunner().invoke(main, list(map(str, words)))


def answer(*args: Any, **how: Any) -> dict[str, Any]:
    result = call(*args, "--json", **how)
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))


def charges(place: Path) -> list[Entry]:
    """What the ledger holds; it is as it was written."""
    ledger = Ledger(place)
    ledger.verify()
    return [entry for entry in ledger.history() if entry.kind == "charge"]


def files(folder: Path) -> set[str]:
    return {p.name for p in folder.iterdir()} - {"people.parquet", "schema.toml", "priors.json"}


def refused(result: Result, *words: str) -> None:
    """One message, exit code 2, no traceback."""
    assert result.exit_code == 2, (result.output, result.exception)
    for word in words:
        assert word in result.output, result.output


# ---- what it does


@pytest.mark.parametrize("name", SOLUTIONS)
def test_every_solution(folder: Path, name: str) -> None:
    """It costs no more than was asked for the row; the plan is in the file; the ledger says what is paid."""
    said = answer("people.parquet", "--solution", name, *(["--priors", "priors.json"] if "rsrfd" in name else []))
    record = said["guarantees"]["reader"]

    assert record["epsilon"] <= 1 == record["asked"]
    assert said["guarantees"]["either, about one attribute"]["epsilon"] <= record["epsilon"]
    assert record["witness"]["words"]
    assert (said["rows_in"], said["rows_out"], said["dropped"]) == (300, 300, 0)
    table = open_table("out.parquet")
    assert json.loads(table.metadata["murmure:plan"])["person"]["type"] == said["mechanism"]
    assert table.metadata["murmure:seeded"] == "no" and table.rows == 300
    (charge,) = charges(folder / NAME)
    assert (charge.plan, charge.dataset, charge.seeded) == (said["plan"], "people.parquet", False)
    assert charge.epsilon == record["epsilon"] == said["ledger"]["total"] == said["ledger"]["spent"]["epsilon"]
    assert (charge.relation, charge.unit) == ("replace", "row")
    assert charge.about is not None and "out.parquet" in charge.about


def test_the_names_are_those_of_the_library() -> None:
    assert tuple(commands.SOLUTION_NAMES) == ("auto", *SOLUTIONS)


def test_words(folder: Path) -> None:
    """Both certificates with their witnesses, the unit, the plan, the ledger."""
    result = call("people.parquet", "--solution", "rsfd-grr")
    text = " ".join(result.stdout.split())

    assert result.exit_code == 0 and result.stderr == ""
    assert "300 read, 300 written" in text
    assert "A whole row epsilon = 1 (asked for 1), delta = 0" in text and "One attribute epsilon = 0." in text
    assert text.count("witness, the report that tells most: the report") == 2
    assert "protects one row: each row of a person adds epsilon = 1" in text
    assert "'people.parquet': paid by charge 1. These people have now paid epsilon = 1 in 1 release" in text


def test_sanitising_again_is_paid_again(folder: Path) -> None:
    """Under another name too; it is not refused."""
    call("people.parquet")
    os.link("people.parquet", "other.parquet")
    result = call("other.parquet", out="again.csv")
    third = answer("people.parquet", out="third.arrow", epsilon=0.5)

    assert "These people have now paid epsilon = 2 in 2 releases" in " ".join(result.stdout.split())
    assert third["ledger"]["spent"]["charges"] == 3 and third["ledger"]["total"] == 2.5
    assert {charge.dataset for charge in charges(folder / NAME)} == {"people.parquet"}
    assert files(folder) >= {"out.parquet", "again.csv", "again.csv-metadata.json", "third.arrow"}


def test_a_ledger_elsewhere(folder: Path) -> None:
    (folder / "books").mkdir()
    answer("people.parquet", "--ledger", "books/all.db")

    assert len(charges(folder / "books" / "all.db")) == 1
    assert NAME not in files(folder)
    refused(call("people.parquet", "--ledger", "x.parquet", out="x.parquet"), "cannot be the ledger too")


def test_epsilon_per_column_says_the_total(folder: Path) -> None:
    """The lecture's way: loudly, on standard error, also with --json."""
    result = call("people.parquet", "--epsilon-per-column", 1, "--json", epsilon=None)
    said = json.loads(result.stdout)

    assert "WARNING: 3 columns at epsilon 1 each: a whole row costs epsilon = 3 IN TOTAL." in result.stderr
    assert said["mechanism"] == "Plain" and said["ledger"]["total"] == pytest.approx(3)
    refused(call("people.parquet", "--epsilon-per-column", 1), "--epsilon and --epsilon-per-column exclude")
    refused(call("people.parquet", "--epsilon-per-column", 1, "--solution", "smp", epsilon=None), "plain and spl")
    refused(
        call("people.parquet", "--epsilon-per-column", 1, "--weights", "kids=2", epsilon=None), "every column the same"
    )


def test_calibrate_paper_states_no_epsilon(folder: Path) -> None:
    result = call("people.parquet", "--solution", "rsfd-grr", "--calibrate", "paper", "--json")
    said = json.loads(result.stdout)
    record = said["guarantees"]["reader"]

    assert record["asked"] is None and record["epsilon"] == pytest.approx(np.log(3 * (np.e - 1) + 1))
    assert "states no epsilon, and 1 is none: the certifier finds epsilon = 1.81724 for a whole row" in result.stderr
    assert said["ledger"]["total"] == record["epsilon"]


def test_calibrate_attribute(folder: Path) -> None:
    said = answer("people.parquet", "--solution", "rsfd-oue-r", "--calibrate", "attribute")

    assert said["guarantees"]["either, about one attribute"]["epsilon"] == pytest.approx(1)
    assert said["guarantees"]["reader"]["epsilon"] > 1


def test_settings(folder: Path) -> None:
    spl = answer("people.parquet", "--solution", "spl", "--weights", "kids=2", "--oracle", "smoker=GRR,region=OUE")
    two = answer("people.parquet", "--solution", "smp", "--sample", 2, "--oracle", "OUE", out="two.parquet")

    assert spl["columns"] == {"smoker": "GRR", "region": "OUE", "kids": "GRR"}
    assert spl["guarantees"]["either, about one attribute"]["epsilon"] == pytest.approx(0.5)
    assert set(two["columns"].values()) == {"OUE"}
    shown = sum(c.is_valid().to_numpy(zero_copy_only=False).astype(int) for c in pq.read_table("two.parquet").columns)
    assert (shown == 2).all()


@pytest.mark.parametrize("name", ["priors.toml", "release.json"])
def test_priors(folder: Path, name: str) -> None:
    """Public shares, or what an earlier run of `murmure estimate --json` said, which was paid for on its own."""
    if name == "priors.toml":
        Path(name).write_text("smoker = [0.7, 0.3]\nregion = [0.5, 0.25, 0.25]\nkids = [0.2, 0.2, 0.2, 0.2, 0.2]\n")
    else:
        answer("people.parquet", out="first.parquet", epsilon=8)
        Path(name).write_text(CliRunner().invoke(main, ["estimate", "first.parquet", "--json"]).stdout)
    said = answer("people.parquet", "--solution", "rsrfd-grr", "--priors", name)
    person = json.loads(open_table("out.parquet").metadata["murmure:plan"])["person"]

    assert [len(shares) for shares in person["priors"]] == [2, 3, 5]
    if name == "release.json":
        assert person["paid"] == json.loads(Path(name).read_text())["plan"]
        assert "paid for on its own" in said["guarantees"]["reader"]["assumption"]


BAD_PRIORS = {
    "[1]": "no shares by column",
    "{": "is not JSON",
    '{"smoker": [0.7, 0.3]}': "must name the columns",
    '{"smoker": {"no": 1.0}, "region": [1], "kids": [1]}': "labels are not those of the schema",
    '{"smoker": [0.7, 0.7], "region": [0.5, 0.25, 0.25], "kids": [0.2, 0.2, 0.2, 0.2, 0.2]}': "2 shares that sum to 1",
    '{"smoker": 3, "region": [1], "kids": [1]}': "is not a list of shares",
    '{"plan": "x", "figures": [{"column": "smoker", "label": "no", "share": 1}]}': "no shares of column 'region'",
    '{"plan": "x", "figures": [3]}': "is not a release",
}


@pytest.mark.parametrize("text", BAD_PRIORS)
def test_bad_priors(folder: Path, text: str) -> None:
    Path("bad.json").write_text(text)
    refused(call("people.parquet", "--solution", "rsrfd-grr", "--priors", "bad.json"), BAD_PRIORS[text])
    assert files(folder) == {"bad.json"}


def test_auto_takes_the_least_variance() -> None:
    """Sampling for many columns at small epsilon, splitting for few at a large one (how: tests of advise_records)."""
    few = Schema({"a": Categories(3), "x": Interval(0.0, 1e6, cells=64)})

    assert auto_solution(SCHEMA, 0.5, 1000) == ("SMP, 1 of 3", SMP(SCHEMA, 0.5))
    assert auto_solution(few, 20.0, 1000) == ("SPL", SPL(few, 20.0))


def test_auto_says_what_it_chose(folder: Path) -> None:
    assert "auto chose SMP, 1 of 3: SMP" in call("people.parquet").stdout
    import pyarrow.csv

    pyarrow.csv.write_csv(people(), "people.csv")
    text = " ".join(call("people.csv", out="b.csv").stdout.split())
    assert "auto chose SMP, 1 of 3 (for 10,000 people; --people N says how many)" in text
    assert "--people N" not in call("people.csv", "--people", "1e6", out="c.csv").stdout


@pytest.mark.parametrize("suffix", [".csv", ".arrow", ".parquet"])
def test_seeded_runs(folder: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rows whatever the number of threads; marked in the file, loud, and charged."""
    monkeypatch.setattr(
        "murmure.engines.sources.tables.open_table.__defaults__", (None, None, 64, False)
    )  # several batches
    tables = []
    for threads in (1, 2, 3):
        monkeypatch.setattr("murmure.engines.memory.threads", lambda n=threads: n)
        out = f"out{threads}{suffix}"
        result = call("people.parquet", "--seed", 7, "--solution", "rsfd-oue-z", out=out)
        assert "NOT FOR REAL PEOPLE" in result.stderr and result.exit_code == 0
        assert open_table(out).metadata["murmure:seeded"] == "yes"
        tables.append(pa.Table.from_batches(open_table(out).batches()))
    other = call("people.parquet", "--seed", 8, "--solution", "rsfd-oue-z", out=f"other{suffix}")

    assert tables[0].equals(tables[1]) and tables[1].equals(tables[2])
    assert not tables[0].equals(pa.Table.from_batches(open_table(f"other{suffix}").batches()))
    assert "= 4 in 4 releases" in other.stdout and charges(folder / NAME)[0].seeded


# ---- who is protected


def test_people_of_several_rows(folder: Path) -> None:
    """N rows cost N times; the column that tells people apart is read and not written."""
    said = answer("people.parquet", "--unit", "id", "--rows-per-person", 2)
    (charge,) = charges(folder / NAME)

    assert said["protects"] == "one person (id) of at most 2 rows: epsilon = 2 for all of them together"
    assert (charge.epsilon, charge.unit) == (2.0, "id")
    assert pq.read_schema("out.parquet").names == ["smoker", "region", "kids"]


def test_more_rows_than_declared(folder: Path) -> None:
    one = ("--unit", "id", "--rows-per-person", 1)
    refused(call("people.parquet", *one), "column 'id': row 1 is row 2 of one person", "--invalid drop")
    assert files(folder) == set()
    said = answer("people.parquet", *one, "--invalid", "drop")
    assert (said["rows_out"], said["dropped"]) == (150, 150)


def test_units_that_cannot_be(folder: Path) -> None:
    refused(call("people.parquet", "--unit", "id"), "--unit id needs --rows-per-person")
    refused(call("people.parquet", "--rows-per-person", 3), "--rows-per-person needs --unit COLUMN")
    refused(call("people.parquet", "--unit", "id", "--rows-per-person", 0), "at least 1")
    refused(call("people.parquet", "--unit", "kids", "--rows-per-person", 9), "that is not randomised, got 'kids'")
    refused(call("people.parquet", "--unit", "idd", "--rows-per-person", 9), "no column 'idd'", "did you mean 'id'?")


# ---- mistakes

MISTAKES = {
    "solution": (("--solution", "smq"), "there is no solution 'smq'", "did you mean smp?"),
    "setting": (("--solution", "spl", "--sample", "2"), "--solution spl takes no --sample", "smp"),
    "setting of auto": (("--oracle", "GRR"), "--solution auto takes no --oracle", "smp"),
    "people": (("--solution", "spl", "--people", "9"), "--people is for --solution auto", ""),
    "weights": (("--solution", "spl", "--weights", "kids"), "'kids' is not COLUMN=VALUE", "age=2"),
    "weight": (("--solution", "spl", "--weights", "kids=much"), "wanted a number", ""),
    "weight 0": (("--solution", "spl", "--weights", "kids=0"), "--weights must be 3 positive numbers", "kids"),
    "weights of nobody": (("--solution", "spl", "--weights", "kid=1"), "--weights names columns", "kid"),
    "sample": (("--solution", "smp", "--sample", "9"), "--sample must be a whole number from 1 to 3", ""),
    "oracle": (("--solution", "spl", "--oracle", "GRRR"), "--oracle must be one of", "adaptive"),
    "numeric": (("--solution", "spl", "--numeric", "x"), "--numeric must be one of", "Hybrid"),
    "priors": (("--solution", "rsrfd-grr"), "needs --priors", "public shares"),
    "no priors": (("--solution", "rsrfd-grr", "--priors", "no.json"), "cannot read 'no.json'", ""),
    "calibrate": (("--calibrate", "papers"), "papers", "--help"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes(folder: Path, what: str) -> None:
    args, *words = MISTAKES[what]
    refused(call("people.parquet", *args), *words)
    assert files(folder) == set()


@pytest.mark.parametrize("epsilon", [0, -1, "nan", "inf"])
def test_no_epsilon(folder: Path, epsilon: Any) -> None:
    refused(call("people.parquet", epsilon=epsilon), "--epsilon must be a positive finite number")


def test_what_is_missing_is_named_at_once() -> None:
    result = CliRunner().invoke(main, ["sanitize"])
    refused(result, "murmure sanitise needs a table IN, --schema, --epsilon and -o OUT.", "people.csv")


def test_schemas(folder: Path) -> None:
    """Unreadable, not TOML, or a draft: then with the way out."""
    refused(call("people.parquet", schema="no.toml"), "cannot read 'no.toml'", "murmure schema init")
    Path("bad.toml").write_text("[columns.smoker")
    refused(call("people.parquet", schema="bad.toml"), "bad.toml is not TOML")
    CliRunner().invoke(main, ["schema", "init", "people.parquet", "-o", "draft.toml"])
    refused(call("people.parquet", schema="draft.toml"), "read off the data", "remove from_data = true")
    assert files(folder) == {"bad.toml", "draft.toml"}


def test_outputs(folder: Path) -> None:
    """The input is never the output; a file that is there stays, unless --force."""
    before = Path("people.parquet").read_bytes()
    for force in ([], ["--force"]):
        refused(call("people.parquet", *force, out="people.parquet"), "is one of the tables being read")
    refused(call("people.parquet", out="out.txt"), "wanted a name ending in")
    refused(call("people.parquet", out="no/out.csv"), "there is no folder")
    assert files(folder) == set()
    first = answer("people.parquet")
    there = Path("out.parquet").read_bytes()
    refused(call("people.parquet"), "'out.parquet' already exists", "--force")
    assert Path("out.parquet").read_bytes() == there
    assert len(charges(folder / NAME)) == first["ledger"]["charge"] == 1
    assert answer("people.parquet", "--force")["ledger"]["total"] == 2
    refused(call("out.parquet", out="twice.parquet"), "out.parquet is already sanitised")
    assert Path("people.parquet").read_bytes() == before


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_invalid_rows(folder: Path, suffix: str) -> None:
    """Refused with row and column, or dropped and counted: in the answer."""
    rows: dict[str, list[Any]] = {
        "smoker": ["no", "yes", "maybe", "no", None],
        "region": ["A", "B", "C", "A", "A"],
        "kids": [0, 1, 2, 7, 4],
    }
    source = f"bad{suffix}"
    if suffix == ".csv":
        lines = [",".join("" if v is None else str(v) for v in row) for row in zip(*rows.values(), strict=True)]
        Path(source).write_text("\n".join([",".join(rows), *lines]) + "\n")
    else:
        pq.write_table(pa.table(rows), source)
    refused(call(source), "column 'smoker': row ")
    assert files(folder) == {source}
    said = answer(source, "--invalid", "drop")

    assert (said["rows_in"], said["rows_out"], said["dropped"]) == (5, 2, 3)
    assert "dropped" not in json.dumps(charges(folder / NAME)[0].to_dict())  # an exact count is the holder's
    assert "dropped   3 outside the schema" in call(source, "--invalid", "drop", "--force").stdout


def test_tables_that_cannot_be_read(folder: Path) -> None:
    """Empty, truncated, other columns, other types, mixed encodings, no rows: nothing is written or charged."""
    whole = Path("people.parquet").read_bytes()
    Path("cut.parquet").write_bytes(whole[: len(whole) * 2 // 3])
    Path("empty.csv").write_bytes(b"")
    Path("header.csv").write_text("smoker,region,kids\n")
    Path("columns.csv").write_text("smoker,regions,kids\nno,A,1\n")
    Path("types.csv").write_text("smoker,region,kids\nno,A,1\nno,A,one\n")
    Path("mixed.csv").write_bytes("smoker,region,kids\nno,A,1\nné,A,1\n".encode() + "né,A,1\n".encode("latin-1"))
    Path("ragged.csv").write_text("smoker,region,kids\nno,A,1\nno,A\n")
    before = files(folder)
    refused(call("cut.parquet"), "truncated, damaged")
    refused(call("empty.csv"), "'empty.csv' is empty")
    refused(call("header.csv"), "no rows")
    refused(call("columns.csv"), "no column 'region'", "did you mean 'regions'?")
    refused(call("types.csv"), "row 1, column 'kids' holds 'one'")
    refused(call("mixed.csv"), "is not UTF-8 text", "murmure schema init")
    refused(call("ragged.csv"), "row 1 has 2 fields")
    refused(call("nothing.csv"), "there is no file 'nothing.csv'")
    refused(call("people.parquet", "people.parquet"), "is listed twice")
    assert files(folder) == before


def test_errors_as_json(folder: Path) -> None:
    result = call("nothing.csv", "--json")

    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["message"].startswith("there is no file")


def test_a_ledger_that_is_no_ledger(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Damaged, or not to be written: refused before anything is randomised."""
    library = importlib.import_module("murmure.run.tables.sanitiser")
    monkeypatch.setattr(library, "sanitise", lambda *_, **__: pytest.fail("randomised"))
    (folder / NAME).write_text("once upon a time\n" * 100)
    refused(call("people.parquet"), "is not a ledger, or it is damaged")
    (folder / NAME).unlink()
    (folder / NAME).mkdir()
    refused(call("people.parquet"), "it is not a file")


def test_a_ledger_in_no_folder(folder: Path) -> None:
    refused(call("people.parquet", "--ledger", "no/x.db"), "there is no folder")
    assert files(folder) == set()


def test_a_charge_that_fails_releases_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(OpenJournal, "append", full)
    refused(call("people.parquet"), "no space left on device", "nothing may be released")
    assert "out.parquet" not in files(folder) and not any(name.endswith(".part") for name in files(folder))


def test_public_columns_are_said(folder: Path) -> None:
    held = Schema({"smoker": SCHEMA["smoker"], "region": Column(Categories(["A", "B", "C"]), public=True)})
    Path("open.toml").write_text(held.to_toml())
    result = call("people.parquet", schema="open.toml")

    assert "public    region: carried as they are, protected by nothing" in result.stdout
    assert pq.read_table("out.parquet")["region"].to_pylist() == people()["region"].to_pylist()


# ---- real processes


def command(*args: Any) -> list[str]:
    return [sys.executable, "-m", "murmure", "sanitize", *map(str, args), "--schema", "schema.toml", "--epsilon", "1"]


def large(n: int = 3_000_000) -> bytes:
    """Enough people that a run can be caught in the act."""
    pq.write_table(people(1000).take(np.arange(n) % 1000), "large.parquet")
    return hashlib.sha256(Path("large.parquet").read_bytes()).digest()


def test_kill_9_during_a_run(folder: Path) -> None:
    """No file that looks finished, the input untouched, and the ledger in order; the next run works."""
    before = large()
    running = subprocess.Popen(command("large.parquet", "-o", "out.parquet"), stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not any(n.endswith(".part") for n in files(folder)) and time.monotonic() < deadline:
        time.sleep(0.005)
    running.send_signal(signal.SIGKILL)

    assert running.wait() == -9
    assert "out.parquet" not in files(folder)
    assert hashlib.sha256(Path("large.parquet").read_bytes()).digest() == before
    assert charges(folder / NAME) == []
    assert answer("people.parquet")["ledger"]["charge"] == 1


KILLED = """
import os, signal, sys
from murmure.ledger import journal
from murmure.cli import main
from murmure.engines.sources import table_writer
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
place = sys.argv.pop(1)
if place == "before": journal.OpenJournal.append = die
if place == "between": table_writer.TableWriter._commit = die
if place == "metadata":
    commit = table_writer.HiddenFile.commit
    table_writer.HiddenFile.commit = lambda self: commit(self) if self.path.suffix == ".json" else die()
if place == "after": table_writer.TableWriter._drop = die
main()
"""


@pytest.mark.parametrize(
    ("place", "charged", "released"),
    [("before", 0, False), ("between", 1, False), ("metadata", 1, False), ("after", 1, True)],
)
def test_kill_9_around_the_charge(folder: Path, place: str, charged: int, released: bool) -> None:
    """Never a release without a charge."""
    words = ["sanitize", "people.parquet", "--schema", "schema.toml", "--epsilon", "1", "-o", "out.csv"]
    done = subprocess.run([sys.executable, "-c", KILLED, place, *words], capture_output=True, timeout=60)

    assert done.returncode == -9
    assert len(charges(folder / NAME)) == charged
    assert Path("out.csv").exists() == released


def test_two_at_once(folder: Path) -> None:
    """Of the same people into two files: both are charged, and one of them saw both charges."""
    running = [
        subprocess.Popen(command("people.parquet", "-o", f"out{i}.parquet", "--json"), stdout=subprocess.PIPE)
        for i in range(2)
    ]
    said = [json.loads(process.communicate(timeout=60)[0]) for process in running]

    assert sorted(one["ledger"]["total"] for one in said) == [1, 2]
    assert [charge.number for charge in charges(folder / NAME)] == [1, 2]


def test_a_disk_that_fills(folder: Path) -> None:
    """One message; nothing of the output is left, whole or in part."""
    before = large(100_000)
    done = subprocess.run(
        command("large.parquet", "-o", "out.parquet"),
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, 9_000)),
    )

    assert done.returncode == 2
    assert "cannot write 'out.parquet': file too large" in done.stderr and "Traceback" not in done.stderr
    assert not {n for n in files(folder) if "out.parquet" in n}
    assert hashlib.sha256(Path("large.parquet").read_bytes()).digest() == before
    assert bool(charges(folder / NAME)) == ("although nothing was released" in done.stderr)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
def test_a_run_that_is_asked_to_stop_leaves_nothing(folder: Path, how: signal.Signals) -> None:
    """As Ctrl-C: no hidden file, no charge."""
    large(3_000_000)
    running = subprocess.Popen(
        command("large.parquet", "-o", "out.csv"),
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(how, signal.SIG_DFL),  # under nohup it would be ignored, and rightly so
    )
    # Once rows are written: a signal in the instant in which the hidden file is made would leave it behind, empty.
    while not any(path.stat().st_size for path in folder.glob(".*.part")):
        assert running.poll() is None
        time.sleep(0.01)
    running.send_signal(how)
    said = running.communicate(timeout=60)[1]

    assert running.returncode == 130 and "Stopped." in said
    assert not [name for name in files(folder) if "out.csv" in name]
    assert charges(folder / NAME) == []


def test_what_a_killed_run_left_is_mentioned(folder: Path) -> None:
    """Only its owner may read it, and the next run says that it is there."""
    (folder / ".out.csv.abc123.part").write_text("rows")
    result = call("people.parquet", out="out.csv")

    assert result.exit_code == 0 and "'.out.csv.abc123.part'" in result.stderr.replace(str(folder) + "/", "")
