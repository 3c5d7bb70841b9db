"""One ledger: sanitise, query, train, Python and old files charge the same account of the same data.

Children are forks, killed for real at every statement of a charge.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from tests.ledger.test_crashes import Stopping, child, dies, ended

import murmure as mu
from murmure.cli import main
from murmure.core.blocks import Cost
from murmure.core.errors import BudgetExhausted, LedgerFailed, MurmureError
from murmure.ledger.entries import Entry, answers_checksum
from murmure.ledger.journal import STEP
from murmure.ledger.ledger import DEFAULT_FILE, Ledger
from murmure.ledger.old_charges import OLD_NAME

FIXTURES = Path(__file__).parents[1] / "fixtures" / "v0_5_0" / "ledger"
SCHEMA = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "age": mu.Integers(0, 99)})
COUNT = mu.Plan(mu.Count(SCHEMA["age"]), curator=mu.DiscreteLaplace(epsilon=0.25), relation="replace")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MURMURE_LEDGER", raising=False)
    rng = np.random.default_rng(1)
    lines = [f"{'yes' if rng.random() < 0.3 else 'no'},{rng.integers(0, 100)}" for _ in range(200)]
    Path("people.csv").write_text("smoker,age\n" + "\n".join(lines) + "\n")
    Path("schema.toml").write_text(SCHEMA.to_toml())
    return tmp_path


SANITISE = ("sanitize", "people.csv", "--schema", "schema.toml", "--solution", "spl", "--epsilon", "2")
QUERY = ("query", "count", "people.csv", "--schema", "schema.toml", "--epsilon", "0.5")
TRAIN = ("train", "naive-bayes", "people.csv", "--schema", "schema.toml", "--target", "smoker", "--epsilon", "0.5")


def call(*words: Any) -> Result:
    return CliRunner().invoke(main, list(map(str, words)))


def answer(*words: Any) -> dict[str, Any]:
    result = call(*words, "--json")
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))


def test_epsilon_left_is_one_number(folder: Path) -> None:
    """Sanitised twice at 2, asked once at 0.5: 4.5 is spent, whichever command says so; a model and Python go on."""
    answer(*SANITISE, "-o", "one.parquet")
    answer(*SANITISE, "-o", "two.parquet")
    refused = call(*QUERY, "--budget", "3")
    asked = answer(*QUERY, "--budget", "6")
    shown = answer("ledger", "show")["datasets"]["people.csv"]

    assert refused.exit_code == 2 and "has paid more than the new budget: epsilon 4 " in refused.output
    assert asked["ledger"]["spent"]["epsilon"] == pytest.approx(4.5, abs=1e-9) == shown["spent"]["epsilon"]
    assert (shown["unit"], shown["relation"], shown["spent"]["charges"]) == ("row", "replace", 3)
    trained = answer(*TRAIN, "-o", "model.json")
    assert trained["ledger"]["dataset"] == "people.csv"
    assert Ledger(DEFAULT_FILE).spent("people.csv").epsilon == pytest.approx(5.0, abs=1e-9)
    release = mu.run(COUNT, "people.csv", ledger=Ledger(DEFAULT_FILE))
    assert release.charge.left.epsilon == pytest.approx(0.75, abs=1e-9)
    last = call(*SANITISE, "-o", "three.parquet")
    assert last.exit_code == 2 and "does not cover" in last.output and not Path("three.parquet").exists()
    assert Ledger(DEFAULT_FILE).verify() == 6


def test_a_copy_is_the_same_account(folder: Path) -> None:
    """By its bytes, for every command; --dataset makes another, and warns."""
    answer(*SANITISE, "-o", "one.parquet")
    shutil.copy("people.csv", "copy.csv")
    words = [word if word != "people.csv" else "copy.csv" for word in QUERY]
    result = call(*words, "--budget", 5, "--json")

    assert json.loads(result.stdout)["ledger"]["dataset"] == "people.csv"
    assert "these very bytes were charged to 'people.csv' before" in result.stderr
    assert Ledger(DEFAULT_FILE).datasets() == ["people.csv"]
    other = call(*words, "--dataset", "others", "--budget", 5)
    assert other.exit_code == 0 and "more than one budget" in other.stderr


def test_sanitising_after_a_budget_of_presence(folder: Path) -> None:
    """A table shows its number of rows: an account that protects presence refuses it, and names the command."""
    answer(*QUERY, "--budget", "6")
    refused = call(*SANITISE, "-o", "one.parquet")

    assert (
        refused.exit_code == 2 and "murmure ledger budget people.csv --epsilon E --relation replace" in refused.output
    )
    assert not Path("one.parquet").exists()
    assert call("ledger", "budget", "people.csv", "--epsilon", 6, "--relation", "replace").exit_code == 0
    said = answer(*SANITISE, "-o", "one.parquet")
    assert said["ledger"]["spent"]["epsilon"] == pytest.approx(3.0, abs=1e-9)


def test_learners_and_models_charge_the_same_account(folder: Path) -> None:
    from murmure import econometrics
    from murmure.learn import LinearRegression

    ledger = Ledger(folder / "l.db")
    ledger.set_budget("people", 3.0, relation="replace")
    account = ledger.account("people")
    mu.sanitise("people.csv", mu.SPL(SCHEMA, epsilon=1.0), folder / "out.csv", ledger=account)
    privacy = mu.Central(epsilon=0.5, relation="replace")
    fit = LinearRegression(SCHEMA, target="age", privacy=privacy, ledger=account).fit("people.csv")
    result = econometrics.describe("people.csv", columns=["age"], schema=SCHEMA, privacy=privacy, ledger=account)

    assert fit.charge_.number == 3 and result.how.charge.number == 4
    assert ledger.spent("people").epsilon <= 2.0 == pytest.approx(result.how.charge.spent.epsilon, abs=1e-6)
    assert ledger.verify() == 4


# ---- kills, over every command


def work_of(words: tuple[str, ...]) -> Callable[[int], None]:
    def work(pipe: int) -> None:
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()):
            with contextlib.suppress(SystemExit):
                main(list(words))
            os.write(pipe, shown.getvalue().replace("\n", " ").encode() + b"\n")

    return work


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(("words", "out"), [(SANITISE, "out.csv"), (QUERY, None), (TRAIN, "model.json")], ids=str)
def test_killed_at_every_statement(
    folder: Path, words: tuple[str, ...], out: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every statement of the charge, before its commit, after it: nothing is shown or written that is not paid."""
    Ledger(DEFAULT_FILE).set_budget("people.csv", 1000.0, relation="replace")
    given = (*words, *(("-o", out, "--force") if out else ()), *(("--fresh",) if words is not SANITISE else ()))
    kills = 0
    for k in range(60):
        before = Ledger(DEFAULT_FILE).spent("people.csv").charges
        if out:
            Path(out).unlink(missing_ok=True)

        def work(pipe: int, k: int = k) -> None:
            from murmure.ledger import ledger as module

            opened = module.open_store
            module.open_store = lambda where: Stopping(opened(where), k, dies)  # type: ignore[assignment, return-value]
            work_of(given)(pipe)

        code, shown = ended(*child(work))
        ledger = Ledger(DEFAULT_FILE)
        ledger.verify()
        paid = ledger.spent("people.csv").charges - before
        assert paid in (0, 1)
        assert paid or not (shown and "paid" in shown[0]), "shown, and not paid"
        assert paid or not (out and Path(out).exists()), "written, and not paid"
        if code == 0:
            assert paid == 1
            break
        assert code == -signal.SIGKILL
        kills += 1
    else:
        raise AssertionError("the child never survived: the steps were not counted")

    assert kills >= 18  # three commands: 54 kills or more


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_eight_processes_of_all_kinds_cannot_overspend(folder: Path) -> None:
    """Two of each: tables, questions, models, Python. What exists at the end is paid for, and the budget holds."""
    Ledger(DEFAULT_FILE).set_budget("people.csv", 9.0, relation="replace")
    go = time.time() + 0.5

    def of(kind: int, number: int) -> Callable[[int], None]:
        def work(pipe: int) -> None:
            time.sleep(max(0.0, go - time.time()))
            for i in range(3):
                if kind == 3:
                    with contextlib.suppress(BudgetExhausted):
                        account = Ledger(DEFAULT_FILE).account("people.csv", fresh=True)
                        release = mu.run(COUNT, "people.csv", ledger=account)
                        os.write(pipe, f"paid {release.charge.number}\n".encode())
                    continue
                words = (SANITISE, QUERY, TRAIN)[kind]
                out = (("-o", f"{kind}-{number}-{i}.csv"), ("--fresh",), ("-o", f"{kind}-{number}-{i}.json", "--fresh"))
                work_of((*words, *out[kind]))(pipe)

        return work

    ends = [ended(*one) for one in [child(of(i % 4, i)) for i in range(8)]]
    ledger = Ledger(DEFAULT_FILE)
    shown = [line for _, lines in ends for line in lines if "paid" in line]
    written = [p for p in folder.iterdir() if p.name[1] == "-" and not p.name.endswith("metadata.json")]

    assert [code for code, _ in ends] == [0] * 8
    assert ledger.verify() == len(shown) + 1 and ledger.spent("people.csv").charges == len(shown)
    assert 7.0 <= ledger.spent("people.csv").epsilon <= 9.0
    about = [entry.about or "" for entry in ledger.history()]
    assert len(written) == sum(text.startswith(("sanitised", "NaiveBayes")) for text in about)


def test_a_full_disk_releases_nothing(folder: Path) -> None:
    """No room for the charge: no answer, no table, no model; the ledger is as it was."""
    resource = pytest.importorskip("resource", reason="needs limits on the size of files")
    Ledger(DEFAULT_FILE).set_budget("people.csv", 100.0, relation="replace")
    before = Path(DEFAULT_FILE).read_bytes()
    size = len(before) - 1
    for words in ((*SANITISE, "-o", "out.csv"), QUERY, (*TRAIN, "-o", "model.json")):
        ran = subprocess.run(
            [sys.executable, "-m", "murmure", *words],
            capture_output=True,
            text=True,
            timeout=60,
            preexec_fn=lambda: (
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
            ),
        )
        assert ran.returncode == 2 and "nothing may be released" in ran.stderr, ran.stderr
    assert ran.stdout == "" and not Path("out.csv").exists() and not Path("model.json").exists()
    assert Ledger(DEFAULT_FILE).verify() == 1 and Path(DEFAULT_FILE).read_bytes() == before


# ---- ten thousand entries


def fill(ledger: Ledger, entries: int, dataset: str = "people") -> None:
    with ledger._journal.writing() as journal:
        state = journal.state(dataset)
        for i in range(entries):
            entry = Entry(0, "", "charge", "x", dataset, "add/remove", 0.125, rho=0.01, plan=f"{i}", seeded=False)
            _, state = journal.append(state, Entry(**{**vars(entry), "unit": "row", "answers": answers_checksum([])}))


class Counting:
    """A store that counts the rows it returned while it was written."""

    def __init__(self, store: Any) -> None:
        self.store, self.rows, self.statements = store, 0, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    @contextlib.contextmanager
    def writing(self) -> Any:
        with self.store.writing() as run:

            def counted(sql: str, *values: Any) -> Any:
                out = run(sql, *values)
                self.statements += 1
                self.rows += len(out)
                return out

            yield counted


def test_a_charge_costs_the_same_after_many(tmp_path: Path) -> None:
    """Statements and rows that it reads, after 200 entries and after 3000; other accounts do not count either."""
    ledger = Ledger(tmp_path / "l.db")
    ledger.set_budget("people", 1e6)
    counts = []
    for more in (200, 2800):
        fill(ledger, more, "people" if more == 200 else "others")
        counting = Counting(ledger._store)
        ledger._store = counting  # type: ignore[assignment]
        charge = ledger.account("people", fingerprint="f").pay(
            plan="p", about="", cost=Cost(0.1, 0.1), relation="add/remove", answers=[], once=more == 200
        )
        ledger._store = counting.store
        counts.append((counting.statements, counting.rows))

    assert charge.number == 3004 or charge.number == 3003
    assert abs(counts[0][0] - counts[1][0]) <= 1 and max(c[1] for c in counts) <= STEP + 12


def test_what_was_changed_is_found_in_steps(tmp_path: Path) -> None:
    """An entry of long ago: the charges that come by it refuse, after at most entries / STEP charges."""
    import sqlite3

    ledger = Ledger(tmp_path / "l.db")
    ledger.set_budget("people", 1e6)
    fill(ledger, 5 * STEP)
    with sqlite3.connect(tmp_path / "l.db") as connection:
        connection.execute("UPDATE murmure_entries SET epsilon = '0.0' WHERE number = 100")
    connection.close()
    account = ledger.account("people")
    with pytest.raises(LedgerFailed, match="entry 100"):
        for _ in range(6):
            account.pay(plan="p", about="", cost=Cost(0.1, 0.1), relation="add/remove", answers=[])

    with pytest.raises(LedgerFailed, match="entry 100"):
        ledger.verify()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE murmure_accounts SET state = replace(state, '\"charges\":2', '\"charges\":1')",
        "DELETE FROM murmure_accounts",
        "UPDATE murmure_accounts SET entry = 2",
        "DELETE FROM murmure_entries WHERE number = 3",
    ],
)
def test_sums_that_do_not_fit_their_entries_are_found_at_once(tmp_path: Path, sql: str) -> None:
    import sqlite3

    ledger = Ledger(tmp_path / "l.db")
    ledger.set_budget("people", 1.0)
    for _ in range(2):
        ledger.account("people").pay(plan="p", about="", cost=Cost(0.25, 0.1), relation="add/remove", answers=[])
    with sqlite3.connect(tmp_path / "l.db") as connection:
        connection.execute(sql)
    connection.close()
    for act in (lambda: ledger.spent("people"), lambda: ledger.set_budget("people", 9.0), ledger.verify):
        with pytest.raises(LedgerFailed, match="damaged"):
            act()


# ---- a file system that cannot be written


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs users")
def test_paid_answers_are_read_where_nothing_can_be_written(folder: Path) -> None:
    """The same question is answered again from the ledger, and its history is shown; a new one is refused."""
    answer(*QUERY, "--budget", "3")
    paid = answer(*QUERY)
    place = folder / "read-only"
    place.mkdir()
    for name in ("people.csv", "schema.toml", DEFAULT_FILE, f".{DEFAULT_FILE}.key"):
        shutil.copy(name, place / name)
        (place / name).chmod(0o400)
    place.chmod(0o500)

    def obey_modes() -> None:
        """Root may write everywhere: after this, not even root."""
        if os.geteuid() == 0:
            import ctypes

            libc = ctypes.CDLL(None, use_errno=True)
            for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
                if libc.prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
                    os._exit(77)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "murmure", *words],
            capture_output=True,
            text=True,
            cwd=place,
            timeout=120,
            preexec_fn=obey_modes,
        )

    try:
        if run("--version").returncode == 77:
            pytest.skip("root cannot give up its rights here")
        again = run(*QUERY, "--json")
        assert again.returncode == 0, again.stderr
        assert json.loads(again.stdout)["ledger"]["again"]
        assert json.loads(again.stdout)["figures"] == paid["figures"]
        assert run("ledger", "history").returncode == 0
        new = run(*QUERY, "--where", "smoker=yes")
        assert new.returncode == 2 and "cannot be written to" in new.stderr
    finally:
        place.chmod(0o700)


# ---- what version 0.5 wrote


def meaning() -> dict[str, Any]:
    return dict(json.loads((FIXTURES / "meaning.json").read_text()))


def first_version(place: str) -> None:
    """The ledger of 0.5, in this database."""
    if not place.startswith("postgresql"):
        shutil.copy(FIXTURES / DEFAULT_FILE, place)
        return
    import sqlite3

    import psycopg

    with sqlite3.connect(FIXTURES / DEFAULT_FILE) as old, psycopg.connect(place) as new:
        for name, sql in old.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall():
            new.execute(sql.encode())
            for row in old.execute(f"SELECT * FROM {name}"):
                marks = ", ".join(["%s"] * len(row))
                new.execute(f"INSERT INTO {name} VALUES ({marks})".encode(), row)
        for (sql,) in old.execute("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"):
            new.execute(sql.encode())
    old.close()


COUNTED = {  # what 0.5 added up as if it were equal is counted by what it may have protected: people cost two steps
    "people.csv": "row",
}


def test_a_ledger_of_version_1_means_the_same(place: str) -> None:
    """Read as it is; upgraded by the first write, with every entry and answer as it was."""
    first_version(place)
    known = meaning()["database"]
    ledger = Ledger(place)
    assert ledger.verify() == len(known["entries"])
    for _ in range(2):
        assert ledger.datasets() == sorted(known["datasets"])
        for name, figures in known["datasets"].items():
            state = ledger.state(name)
            assert state.budget is not None and state.budget.to_dict() == figures["budget"]
            assert state.spent().charges == figures["spent"]["charges"]
            if name not in COUNTED:
                spent = {key: "inf" if v == float("inf") else v for key, v in vars(state.spent()).items()}
                assert spent == figures["spent"] and vars(state.left()) == figures["left"]
        for entry, frozen in zip(ledger.history(), known["entries"], strict=False):
            found = {key: value for key, value in entry.to_dict().items() if key in frozen}
            assert found == frozen
        for number, answers in known["answers"].items():
            assert list(ledger.answer(int(number))) == answers
        ledger.set_budget("newcomers", 1.0)
        known["datasets"].pop("newcomers", None)
        known = {**known, "datasets": {**known["datasets"]}}
        if "newcomers" in ledger.datasets():
            known["datasets"]["newcomers"] = {
                "budget": {"epsilon": 1.0, "delta": 0.0, "relation": "add/remove"},
                "spent": {"charges": 0, "delta": 0.0, "epsilon": 0.0, "pure": 0.0, "rho": 0.0},
                "left": {"epsilon": 1.0, "rho": 0.0},
            }
    assert ledger.verify() == len(known["entries"]) + len(known["datasets"]) - 1 + 2


def test_units_that_version_1_added_up_as_equal(tmp_path: Path) -> None:
    """people.csv of the fixture has charges for rows, for people and for fits that do not say: all count as rows now,
    and what may have been for people costs twice.
    """
    first_version(str(tmp_path / "l.db"))
    ledger = Ledger(tmp_path / "l.db")
    entries = [e for e in ledger.history("people.csv") if e.kind == "charge"]
    rows = [e for e in entries if e.certificate and "tells people apart" not in str(e.certificate.get("assumption"))]
    expected = sum(e.epsilon for e in rows) + 2 * sum(e.epsilon for e in entries if e not in rows)
    state = ledger.state("people.csv")

    assert 0 < len(rows) < len(entries)
    assert state.currency is not None and state.currency.unit == "row"
    assert state.spent().epsilon == pytest.approx(expected, rel=1e-12)
    assert state.spent().epsilon > meaning()["database"]["datasets"]["people.csv"]["spent"]["epsilon"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_while_it_is_upgraded(place: str) -> None:
    """At every statement: version 1 as it was, or version 2 whole; then the charge works."""
    first_version(place)
    for k in range(0, 90, 3):

        def work(pipe: int, k: int = k) -> None:
            ledger = Ledger(place)
            ledger._store = Stopping(ledger._store, k, dies)  # type: ignore[assignment]
            ledger.set_budget("newcomers", 1.0)

        code, _ = ended(*child(work))
        ledger = Ledger(place)
        assert ledger.verify() in (len(meaning()["database"]["entries"]), len(meaning()["database"]["entries"]) + 6)
        if code == 0:
            break
    assert ledger.budget("newcomers") is not None and ledger.budget("people.csv") is not None


def test_old_charges_are_taken_over_once(folder: Path) -> None:
    """Refused until then, with the command; afterwards they are paid, and a second import adds nothing."""
    for name in (OLD_NAME, "people.csv", "copy.csv", "other.csv", "schema.toml"):
        shutil.copy(FIXTURES / name, folder / name)
    lines = [json.loads(line) for line in Path(OLD_NAME).read_text().splitlines()]
    for words in ((*SANITISE, "-o", "out.parquet"), (*QUERY, "--budget", "9")):
        refused = call(*words)
        assert refused.exit_code == 2 and f"murmure ledger import {folder / OLD_NAME}" in refused.output
    with pytest.raises(LedgerFailed, match="murmure ledger import"):
        mu.sanitise("people.csv", mu.SPL(SCHEMA, epsilon=1.0), ledger=Ledger(folder / DEFAULT_FILE))
    assert not Path(DEFAULT_FILE).exists() or Ledger(DEFAULT_FILE).history() == []
    first, second = answer("ledger", "import", OLD_NAME), answer("ledger", "import", OLD_NAME)
    ledger = Ledger(DEFAULT_FILE)

    assert first["imported"] >= len(lines) and second["imported"] == 0
    for name, epsilon in spent_by_name(lines).items():
        assert ledger.spent(name).epsilon == pytest.approx(epsilon), name
    assert ledger.verify() == first["imported"]
    more = call(*SANITISE, "-o", "out.parquet", "--json")
    assert more.exit_code == 0, more.output
    refused = call(*QUERY, "--budget", 0.5)
    assert refused.exit_code == 2 and "has paid more than the new budget" in refused.output


def spent_by_name(lines: list[dict[str, Any]]) -> dict[str, float]:
    """By the first name under which a path or a fingerprint came; rows and people apart."""
    names: dict[str, str] = {}
    units: dict[str, str] = {}
    out: dict[str, float] = {}
    for line in lines:
        paid = set()
        for file in line["people"]:
            known = [names[mark] for mark in (file["path"], file["fingerprint"]) if mark in names]
            name = known[0] if known else file["name"]
            for mark in (file["path"], file["fingerprint"]):
                names.setdefault(mark, name)
            paid.add(name)
        for name in paid:
            account = f"{name} by {line['unit']}" if units.setdefault(name, line["unit"]) != line["unit"] else name
            out[account] = out.get(account, 0.0) + float(line["epsilon"]["person"])
    return out


def test_old_charges_that_are_damaged(folder: Path) -> None:
    text = (FIXTURES / OLD_NAME).read_text()
    ledger = Ledger(folder / "l.db")
    for bad in ("once upon a time\n", text.replace("2", "3", 1), "\n".join(text.splitlines()[1:]) + "\n"):
        Path(OLD_NAME).write_text(bad)
        result = call("ledger", "import", OLD_NAME, "--ledger", "l.db")
        assert result.exit_code == 2 and "is damaged: line 1" in result.output, result.output
    Path(OLD_NAME).write_text(text + text.splitlines()[-1][:40])  # a crash cut the last line short
    assert answer("ledger", "import", OLD_NAME, "--ledger", "l.db")["imported"] >= len(text.splitlines())
    assert ledger.verify() > 0
    named = call(*SANITISE, "-o", "x.csv", "--ledger", OLD_NAME)
    assert named.exit_code == 2 and "murmure ledger import" in named.output


def test_a_name_for_old_charges(folder: Path) -> None:
    shutil.copy(FIXTURES / OLD_NAME, folder / OLD_NAME)
    said = answer("ledger", "import", OLD_NAME, "--dataset", "everybody")
    lines = [json.loads(line) for line in Path(OLD_NAME).read_text().splitlines()]

    assert said["imported"] == len(lines)
    assert Ledger(DEFAULT_FILE).datasets() == ["everybody", "everybody by patient"]
    assert Ledger(DEFAULT_FILE).spent("everybody").epsilon == pytest.approx(
        sum(float(line["epsilon"]["person"]) for line in lines if line["unit"] == "row")
    )
    with pytest.raises(MurmureError):
        Ledger(DEFAULT_FILE).set_budget("everybody", 0.1)


# ---- what a hostile reader of this ledger found


def test_an_account_looks_at_the_file_again(folder: Path) -> None:
    """The file changed, or is another one of the same name: it is neither answered nor charged as the old one."""
    ledger = Ledger(folder / "l.db")
    ledger.set_budget("p", 9.0, relation="replace")
    account = ledger.account_of("people.csv", dataset="p")
    first = mu.run(COUNT, "people.csv", ledger=account)
    assert mu.run(COUNT, "people.csv", ledger=account).charge.earlier
    Path("people.csv").write_text("smoker,age\nno,5\n")
    changed = mu.run(COUNT, "people.csv", ledger=account)

    assert not changed.charge.earlier and changed.charge.number == first.charge.number + 1


@pytest.mark.parametrize("table", [False, True])
def test_a_file_that_changes_while_it_is_read(folder: Path, table: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is released: the answer would be kept under bytes that it is not about."""
    ledger = Ledger(folder / "l.db")
    ledger.set_budget("people.csv", 9.0, relation="replace")
    encode = type(SCHEMA["age"]).parse

    def meanwhile(self: Any, *args: Any) -> Any:
        with Path("people.csv").open("a") as file:
            file.write("no,5\n")
        return encode(self, *args)

    if table:
        monkeypatch.setattr(type(SCHEMA["age"]), "parse", meanwhile)
    else:
        count = mu.Count.tally
        monkeypatch.setattr(mu.Count, "tally", lambda self, x: (meanwhile(SCHEMA["age"], [1]), count(self, x))[1])
    with pytest.raises(MurmureError, match="changed while it was read"):
        if table:
            mu.sanitise("people.csv", mu.SPL(SCHEMA, epsilon=1.0), folder / "out.csv", ledger=ledger)
        else:
            mu.run(COUNT, "people.csv", ledger=ledger)

    assert ledger.spent("people.csv").charges == 0 and not (folder / "out.csv").exists()


def test_parts_of_people_are_no_parts_of_rows(tmp_path: Path) -> None:
    """A later visit in the north takes its person out of the south: both parts pay for one row."""
    ledger = Ledger(tmp_path / "l.db")
    ledger.set_budget("p", 2.0)
    account = ledger.account("p")
    account.pay(plan="a", about="", cost=Cost(2.0, 2.0), relation="add/remove", part=("site", "north"))
    with pytest.raises(BudgetExhausted):
        account.pay(plan="b", about="", cost=Cost(1.0, 0.5), relation="add/remove", part=("site", "south"), unit="id")
    ledger.set_budget("q", 9.0, unit="id")
    for site in ("north", "south"):
        ledger.account("q", part=("site", site)).pay(
            plan=site, about="", cost=Cost(1.0, 0.5), relation="add/remove", unit="id"
        )
    assert ledger.spent("q").epsilon == 1.0
    ledger.set_budget("q", 9.0, unit="row")
    ledger.account("q", part=("site", "east")).pay(plan="e", about="", cost=Cost(1.0, 0.5), relation="add/remove")

    assert ledger.spent("q").epsilon == 3.0 and ledger.verify() == 7


def test_two_copies_of_old_charges_that_went_on_apart(folder: Path) -> None:
    """What they share is taken over once; what each has alone is not forgotten."""
    from murmure.ledger.old_charges import _checksum, import_old_charges

    text = (FIXTURES / OLD_NAME).read_text()
    last = json.loads(text.splitlines()[-1])
    ledger, names = Ledger(folder / "l.db"), []
    for epsilon in (0.5, 7.0):
        line = {**last, "number": last["number"] + 1, "epsilon": {**last["epsilon"], "person": epsilon}}
        line["check"] = _checksum(last["check"], line)
        names.append(folder / f"{epsilon}" / OLD_NAME)
        names[-1].parent.mkdir()
        names[-1].write_text(text + json.dumps(line) + "\n")
    first, second = (import_old_charges(ledger, path, "all") for path in names)

    assert len(first) == len(text.splitlines()) + 1 and [c.cost.epsilon for c in second] == [7.0]
    assert import_old_charges(ledger, names[0], "all") == []
    ledger.refuse_unimported(*(path.parent for path in names))


def test_people_between_parties_in_version_1() -> None:
    from murmure.ledger.upgrade import _unit_of

    about = "column patient tells people apart, nobody has more than 2 rows, and all rows of a person are at one party"
    entry = Entry(1, "", "charge", "x", "p", "add/remove", 1.0, 0.5, certificate={"assumption": about})

    assert _unit_of(entry) == "patient"


def test_people_are_not_counted_in_two_tables(folder: Path) -> None:
    from murmure import econometrics

    privacy = mu.Central(epsilon=1.0)
    os.link("people.csv", "again.csv")
    with pytest.raises(MurmureError, match="listed twice"):
        econometrics.describe(["people.csv", "again.csv"], columns=["age"], schema=SCHEMA, privacy=privacy)
    with pytest.raises(MurmureError, match="their number is not bounded"):
        econometrics.describe(
            [{"age": [3], "id": ["a"]}, {"age": [4], "id": ["a"]}],
            columns=["age"],
            schema=SCHEMA,
            privacy=mu.Central(epsilon=1.0, unit="id", rows_per_person=1),
        )


def test_several_tables_are_recognised_by_none_of_them(folder: Path) -> None:
    """Another second table is another question; a table in a list keeps its own account."""
    for name, age in (("b.csv", 20), ("c.csv", 90)):
        Path(name).write_text("smoker,age\n" + f"no,{age}\n" * 200)
    words = ("describe", "people.csv", "--columns", "age", "--schema", "schema.toml", "--epsilon", "5")
    first = answer(*words[:2], "b.csv", *words[2:], "--dataset", "all", "--budget", "20")
    second = answer(*words[:2], "c.csv", *words[2:], "--dataset", "all")

    assert not second["ledger"]["again"] and first["ledger"]["charge"] != second["ledger"]["charge"]
    refused = call(*SANITISE[:2], "b.csv", *SANITISE[2:], "--dataset", "all", "-o", "out.csv")
    assert refused.exit_code == 2 and "names one account, but each of several tables has its own" in refused.output
    Path("x").mkdir()
    Path("x/b.csv").write_text("smoker,age\nno,3\n")
    refused = call("sanitize", "b.csv", "x/b.csv", *SANITISE[2:], "-o", "out.csv")
    assert refused.exit_code == 2 and "one account" in refused.output
    both = answer(*SANITISE[:2], "b.csv", *SANITISE[2:], "-o", "out.csv")
    assert both["ledger"]["dataset"] == "b.csv"
    assert Ledger(DEFAULT_FILE).spent("people.csv").epsilon == Ledger(DEFAULT_FILE).spent("b.csv").epsilon == 2.0


def test_the_files_of_a_pattern_pay_each_from_its_account(folder: Path) -> None:
    """As the help has it, without a name; the account is that of a question about one of the files."""
    for i in range(2):
        Path(f"visits-{i}.csv").write_text("smoker,age\n" + f"no,{20 + i}\n" * 50)
    said = answer("sanitize", "visits-*.csv", *SANITISE[2:], "-o", "out.csv")
    ledger = Ledger(DEFAULT_FILE)

    assert said["rows_out"] == 100 and ledger.datasets() == ["visits-0.csv", "visits-1.csv"]
    assert [ledger.spent(name).epsilon for name in ledger.datasets()] == [2.0, 2.0]
    assert ledger.account_of("visits-1.csv").other_datasets() == []
    named = answer("sanitize", "visits-*.csv", *SANITISE[2:], "-o", "named.csv", "--dataset", "visits")
    assert named["ledger"]["dataset"] == "visits"


def test_of_several_accounts_a_budget_wins(folder: Path) -> None:
    ledger = Ledger(folder / "l.db")
    ledger.set_budget("patients", 1.0, relation="replace")
    for name in ("alpha", "patients"):
        mu.sanitise("people.csv", mu.SPL(SCHEMA, epsilon=1.0), ledger=ledger.account(name))
    shutil.copy("people.csv", "copy.csv")
    with pytest.raises(BudgetExhausted, match="'patients'"):
        mu.sanitise("copy.csv", mu.SPL(SCHEMA, epsilon=1.0), ledger=ledger)


def test_tables_of_a_part_and_of_nobody_are_refused(folder: Path) -> None:
    ledger = Ledger(folder / "l.db")
    with pytest.raises(MurmureError, match="a part of the people"):
        mu.sanitise("people.csv", mu.SPL(SCHEMA, epsilon=1.0), ledger=ledger.account("p", part=("site", "north")))
    with pytest.raises(MurmureError, match="empty list"):
        mu.sanitise("people.csv", mu.SPL(SCHEMA, epsilon=1.0), folder / "out.csv", ledger=[])
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize(
    "where",
    [
        "postgresql://user:p@s3cret@host/db",
        "postgresql://user:pa/s3cret@host:5432/db",
        "host=h dbname=d password = s3cret",
        Path("postgresql://u:s3cret@h/db"),
    ],
    ids=str,
)
def test_no_part_of_a_password_is_repeated(where: Any, folder: Path) -> None:
    pytest.importorskip("psycopg", reason="PostgreSQL needs the extra postgres")
    with pytest.raises(MurmureError) as caught:
        Ledger(where)

    assert "s3cret" not in str(caught.value) and not [p for p in folder.rglob("*") if "s3cret" in p.name]


def test_a_study_is_charged_to_the_account_of_its_rows_only(tmp_path: Path) -> None:
    """A party with two data sets: what the one paid is not charged to the other; what no ledger has, is."""
    from murmure.parties.party.ledger_account import StudyAccount
    from murmure.parties.study.costs import ProtectedUnit, StudyCharge

    ledger, rows = Ledger(tmp_path / "l.db"), ProtectedUnit("add/remove", "row", 1)
    studies = [StudyCharge(name * 32, name, 1, ("age",), Cost(1.0, 0.5), rows) for name in ("aa", "bb", "cc")]
    north, south = (StudyAccount(ledger.account(name)) for name in ("north", "south"))
    north.pay(studies[0])
    south.pay(studies[1], studies[:1])
    north.pay(studies[2], studies[:2])
    north.pay(studies[2], studies[:2])

    assert (ledger.spent("north").epsilon, ledger.spent("south").epsilon) == (2.0, 1.0)
    late = Ledger(tmp_path / "late.db")
    StudyAccount(late.account("north")).pay(studies[2], studies[:2])
    assert late.spent("north").epsilon == 3.0
    # An account of exchanges counts what was paid for presence, at two steps; one of people counts no rows.
    other = Ledger(tmp_path / "other.db")
    other.set_budget("north", 9.0, relation="replace")
    other.set_budget("people", 9.0, unit="patient")
    people = StudyCharge("dd" * 32, "dd", 1, ("age",), Cost(1.0, 0.5), ProtectedUnit("add/remove", "patient", 2))
    StudyAccount(other.account("north")).pay(studies[1], studies[:1])
    StudyAccount(other.account("people")).pay(people, studies)
    assert (other.spent("north").epsilon, other.spent("people").epsilon) == (4.0, 1.0)
