"""`murmure query`: what a curator asks for, what it costs, and what no row can change.

Noise comes from the operating system wherever a ledger pays, so figures are compared within bounds that fail once in
e^-30 runs (a count at epsilon 1 is off by more than 30 so seldom), and seeded where nothing is paid.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from murmure.cli import main
from murmure.core.column import Column
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.schema import Schema
from murmure.ledger.ledger import Ledger

SCHEMA = Schema(
    {
        "age": Integers(18, 99),
        "income": Interval(0.0, 100.0, cells=200),
        "smoker": Categories(["no", "yes"]),
        "region": Categories(["A", "B", "C"]),
    }
)
N = 2000
QUESTIONS: dict[str, list[str]] = {
    "count": ["count"],
    "count where": ["count", "--where", "smoker=yes", "--where", "age=20:40"],
    "sum": ["sum", "--column", "income"],
    "mean": ["mean", "--column", "age"],
    "mean by": ["mean", "--column", "income", "--by", "region"],
    "variance": ["variance", "--column", "age"],
    "histogram": ["histogram", "--column", "region"],
    "count by two": ["count", "--by", "region,smoker"],
    "histogram by": ["histogram", "--column", "smoker", "--by", "region"],
    "table": ["table", "--column", "smoker,region"],
    "quantile": ["quantile", "--column", "age", "--at", "0.25,0.5,0.75"],
    "mode": ["mode", "--column", "region"],
}


def people(n: int = N) -> pa.Table:
    r = np.random.default_rng(5)
    return pa.table(
        {
            "id": np.arange(n) // 2,
            "age": r.integers(18, 100, n),
            "income": r.uniform(0, 100, n),
            "smoker": r.choice(["no", "yes"], n, p=[0.7, 0.3]),
            "region": r.choice(["A", "B", "C"], n, p=[0.6, 0.2, 0.2]),
        }
    )


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with people.parquet and schema.toml, and no ledger of anybody else's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MURMURE_LEDGER", raising=False)
    pq.write_table(people(), "people.parquet")
    Path("schema.toml").write_text(SCHEMA.to_toml())
    return tmp_path


def call(question: str, *args: Any, data: str = "people.parquet", epsilon: Any = 1) -> Result:
    words = ["query", question, data, *args, "--schema", "schema.toml", "--epsilon", epsilon]
    return CliRunner().invoke(main, list(map(str, words)))


def answer(*args: Any, **how: Any) -> dict[str, Any]:
    result = call(*args, "--json", **how)
    assert result.exit_code == 0, (result.output, result.exception)
    return dict(json.loads(result.stdout))


def refused(result: Result, *words: str) -> None:
    """One message, exit code 2, no traceback; and nothing charged."""
    assert result.exit_code == 2, (result.output, result.exception)
    for word in words:
        assert word in result.output, result.output
    if Path("murmure-ledger.db").exists():
        assert not [e for e in Ledger("murmure-ledger.db").history() if e.kind == "charge"]


# -- answers and what they cost ----------------------------------------------------------------------------------------


def test_the_first_question_needs_a_budget() -> None:
    """And the refusal names both ways to set one."""
    refused(
        call("count"), "no budget is set for 'people.parquet'", "--budget 3", "murmure ledger budget people.parquet"
    )

    assert not Path("murmure-ledger.db").exists()


def test_an_answer_is_paid_and_says_what_is_left() -> None:
    held = answer("count", "--budget", 3)
    (figure,) = held["figures"]

    assert abs(figure["count"] - N) < 30
    assert figure["low"] <= figure["count"] <= figure["high"]
    assert held["guarantees"]["reader"]["epsilon"] == pytest.approx(1, abs=1e-6)
    assert held["guarantees"]["reader"]["epsilon"] <= 1
    assert held["ledger"]["left"]["epsilon"] == pytest.approx(2, abs=1e-6)
    assert held["ledger"]["again"] is False
    assert [e.kind for e in Ledger("murmure-ledger.db").history()] == ["budget", "charge"]


def test_the_same_question_again_is_the_same_answer_and_free() -> None:
    first = answer("mean", "--column", "age", "--budget", 3)
    again = answer("mean", "--column", "age")

    assert again["figures"] == first["figures"]
    assert again["ledger"]["again"] is True
    assert again["ledger"]["charge"] == first["ledger"]["charge"]
    assert again["ledger"]["left"] == first["ledger"]["left"]
    assert "the same answer again, at no cost" in call("mean", "--column", "age").output


def test_other_data_under_the_same_name_pay_again() -> None:
    """A file that changed is other data: the stored answer is not theirs, and the name's budget pays."""
    first = answer("count", "--budget", 3)
    pq.write_table(people(N // 2), "people.parquet")
    second = answer("count")

    assert second["ledger"]["again"] is False
    assert abs(second["figures"][0]["count"] - N // 2) < 30
    assert second["ledger"]["left"]["epsilon"] < first["ledger"]["left"]["epsilon"]


def test_fresh_answers_end_with_the_budget() -> None:
    """Averaging needs fresh answers, and these are paid: three at epsilon 1 are all that a budget of 3 allows."""
    answer("count", "--budget", 3)
    for _ in range(2):
        assert answer("count", "--fresh")["ledger"]["again"] is False
    result = call("count", "--fresh")

    assert result.exit_code == 2
    assert "does not cover" in result.output
    assert len([e for e in Ledger("murmure-ledger.db").history() if e.kind == "charge"]) == 3
    assert answer("count")["ledger"]["again"] is True  # what is paid can always be shown


def test_ledgers_datasets_and_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MURMURE_LEDGER", "other.db")
    held = answer("count", "--budget", 1, "--dataset", "staff", "--who", "ada")
    (budget, charge) = Ledger("other.db").history()

    assert held["ledger"]["dataset"] == budget.dataset == charge.dataset == "staff"
    assert charge.who == "ada"
    assert not Path("murmure-ledger.db").exists()
    answer("count", "--budget", 1, "--ledger", "third.db")
    assert Ledger("third.db").datasets() == ["people.parquet"]


def test_a_budget_is_not_changed_in_passing() -> None:
    answer("count", "--budget", 3)
    answer("mode", "--column", "region", "--budget", 3)  # the same: no change
    result = call("sum", "--column", "age", "--budget", 30)

    assert result.exit_code == 2
    assert "has a budget of 3 already" in result.output
    assert "murmure ledger budget people.parquet --epsilon 30" in result.output


def test_a_budget_counts_one_relation() -> None:
    """What is spent under add/remove and under replace does not add up."""
    answer("count", "--budget", 3)
    result = call("count", "--relation", "replace")

    assert result.exit_code == 2
    assert "counts rows (add/remove), but this release protects rows (replace)" in result.output
    assert len(Ledger("murmure-ledger.db").history()) == 2


def test_a_folder_and_a_pattern_are_one_table() -> None:
    """Recognised by all their bytes: asked again, they are answered from the ledger."""
    Path("visits").mkdir()
    for i in range(2):
        pq.write_table(people(100), f"visits/{i}.parquet")
    first = answer("count", "--budget", 3, data="visits")
    again = answer("count", data="visits")
    pattern = answer("count", "--dataset", "visits", data="visits/*.parquet")

    assert abs(first["figures"][0]["count"] - 200) < 30
    assert again["figures"] == first["figures"] == pattern["figures"]
    assert again["ledger"]["again"] and pattern["ledger"]["again"]


def test_without_a_ledger_it_says_so_loudly() -> None:
    result = call("count", "--no-ledger")

    assert result.exit_code == 0
    assert "WARNING: --no-ledger: nothing is charged" in result.stderr
    assert "Nothing was charged (--no-ledger)." in result.stdout
    assert not Path("murmure-ledger.db").exists()
    assert answer("count", "--no-ledger")["ledger"] is None


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_is_answered(name: str) -> None:
    """Seeded: the same figures twice, near the truth, each between its bounds."""
    question, *args = QUESTIONS[name]
    held = answer(question, *args, "--no-ledger", "--seed", 7)
    same = answer(question, *args, "--no-ledger", "--seed", 7)
    text = call(question, *args, "--no-ledger", "--seed", 7)

    assert held["seeded"] and held["figures"] == same["figures"]
    assert "NOT FOR REAL PEOPLE" in text.stderr and "SEEDED RANDOMNESS" in text.stdout
    assert text.exit_code == 0
    for row in held["figures"]:
        value = next(v for key, v in row.items() if key in ("count", "share", "value", "index"))
        assert row.get("low", value) <= value <= row.get("high", value)


def test_figures_are_near_the_truth() -> None:
    """At epsilon 8, seeded, n = 2000: within a few noise scales."""
    t = people().to_pandas()

    def seeded(*args: str) -> list[dict[str, Any]]:
        return list(answer(*args, "--no-ledger", "--seed", 3, epsilon=8)["figures"])

    means = seeded("mean", "--column", "income", "--by", "region")
    assert [m["label"] for m in means] == ["A", "B", "C"]
    assert [m["value"] for m in means] == pytest.approx(t.groupby("region").income.mean().tolist(), abs=0.5)
    (some,) = seeded("count", "--where", "smoker=yes", "--where", "age=20:40")
    assert some["count"] == pytest.approx(((t.smoker == "yes") & t.age.between(20, 40)).sum(), abs=5)
    quarters = seeded("quantile", "--column", "age", "--at", "0.25,0.5,0.75")
    assert [q["value"] for q in quarters] == pytest.approx(t.age.quantile([0.25, 0.5, 0.75]).tolist(), abs=2)
    (mode,) = seeded("mode", "--column", "region")
    assert mode["label"] == "A"
    cells = {c["label"]: c["share"] for c in seeded("table", "--column", "smoker,region")}
    assert cells["yes, A"] == pytest.approx(((t.smoker == "yes") & (t.region == "A")).mean(), abs=0.01)


def test_gaussian_noise_and_delta() -> None:
    held = answer("histogram", "--column", "region", "--noise", "gaussian", "--delta", 1e-6, "--budget", 3)

    assert held["guarantees"]["reader"]["delta"] == 1e-6
    assert held["guarantees"]["reader"]["epsilon"] <= 1
    assert held["ledger"]["budget"] == {"epsilon": 3.0, "delta": 1e-6, "relation": "add/remove"}
    assert held["ledger"]["left"]["rho"] > 0


def test_a_budget_of_pure_epsilon_takes_no_delta() -> None:
    answer("count", "--budget", 3)
    result = call("count", "--noise", "gaussian", "--delta", 1e-6)

    assert result.exit_code == 2
    assert "is in pure epsilon" in result.output and "--delta 1e-06" in result.output


def test_rows_per_person_and_replacement() -> None:
    """The noise of two rows a person is twice as wide; beyond them no row is read."""
    narrow = answer("count", "--no-ledger", "--seed", 1)["figures"][0]
    wide = answer("count", "--no-ledger", "--seed", 1, "--unit", "id", "--rows-per-person", 2)
    one = answer("count", "--no-ledger", "--seed", 1, "--unit", "id", "--rows-per-person", 1, epsilon=8)
    replaced = answer("histogram", "--column", "region", "--no-ledger", "--relation", "replace")

    assert wide["figures"][0]["sd"] == pytest.approx(2 * narrow["sd"], rel=0.05)
    assert "one person (id) of at most 2 rows" in wide["protects"]
    assert one["figures"][0]["count"] == pytest.approx(N / 2, abs=5)
    assert replaced["guarantees"]["reader"]["relation"] == "replace"


# -- what no row can change --------------------------------------------------------------------------------------------

HEADER = "age,income,smoker,region\n"
NASTY = {
    "words for numbers": "old,rich,no,A\n",
    "nothing": ",,,\n",
    "nan and infinities": "nan,-inf,yes,B\ninf,nan,no,C\n",
    "far outside": "1e300,-1e300,no,A\n999999999999999999999,5,yes,B\n",
    "unknown labels": "20,5,perhaps,Z\n",
    "a fraction for a whole number": "20.5,5,no,A\n",
    "quotes and letters": '20,5,"n""o","é"\n',
    "no rows": "",
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_row_decides_whether_there_is_an_answer(name: str) -> None:
    """Exit code 0, the same rows of figures and the same words on standard error, whatever the cells hold."""
    question, *args = QUESTIONS[name]
    seen = set()
    for number, (what, rows) in enumerate({"plain": "30,5,no,A\n", **NASTY}.items()):
        Path(f"{number}.csv").write_text(HEADER + rows)
        result = call(question, *args, "--no-ledger", "--json", data=f"{number}.csv")
        assert result.exit_code == 0, (what, result.output, result.exception)
        held = json.loads(result.stdout)
        labels = () if name == "mode" else tuple(row["label"] for row in held["figures"])
        seen.add((result.stderr, labels, held["plan"]))

    assert len(seen) == 1


def test_bad_bytes_and_ragged_rows_are_no_error() -> None:
    """Bytes that are no text, a row with too many cells, a row with too few."""
    Path("odd.csv").write_bytes(HEADER.encode() + b"30,5,\xff\xfe,A\n" + b"30,5,no,A\n" * 50)
    assert call("histogram", "--column", "smoker", "--no-ledger", data="odd.csv").exit_code == 0
    Path("odd.csv").write_text(HEADER + "30,5,no,A\n" * 50 + "30,5,no,A,A,A\n30\n")
    assert call("histogram", "--column", "smoker", "--no-ledger", data="odd.csv").exit_code == 0


def test_one_row_moves_a_sum_by_one_row() -> None:
    """The stand-in is inside the protected sum: seeded, one unreadable row more changes a count by exactly one."""
    few = HEADER + "30,5,no,A\n" * 40
    Path("few.csv").write_text(few)
    Path("more.csv").write_text(few + "what,is,this,row\n")
    counts = [
        answer("count", "--no-ledger", "--seed", 2, data=f"{name}.csv")["figures"][0]["count"]
        for name in ("few", "more")
    ]

    assert counts[1] - counts[0] == 1


def test_a_missing_number_counts_as_the_schema_says() -> None:
    """missing_value = 30: forty empty cells are forty people of 30 (epsilon 8: off by 5 once in e^-40)."""
    declared = Schema({"age": Column(Integers(18, 99), missing="constant", missing_value=30)})
    Path("schema.toml").write_text(declared.to_toml())
    Path("some.csv").write_text("age\n" + '""\n' * 40 + "50\n" * 10)
    (figure,) = answer("count", "--where", "age=30", "--no-ledger", data="some.csv", epsilon=8)["figures"]

    assert abs(figure["count"] - 40) < 5


def test_a_count_of_rows_and_a_count_of_labels() -> None:
    """Without a column every row counts; with one, those that hold one of its labels."""
    Path("schema.toml").write_text(Schema({"region": Categories(["A", "B"])}).to_toml())
    (every,) = answer("count", "--no-ledger", epsilon=8)["figures"]
    (figure,) = answer("count", "--column", "region", "--no-ledger", epsilon=8)["figures"]
    known = people().to_pandas().region.isin(["A", "B"]).sum()

    assert abs(figure["count"] - known) < 5 and abs(every["count"] - len(people())) < 5


# -- mistakes, before any charge ---------------------------------------------------------------------------------------

MISTAKES: dict[str, tuple[list[str], str, str]] = {
    "no question": ([], "a question (count, sum", "murmure query mean"),
    "unknown question": (["meen", "people.parquet"], "there is no question 'meen'", "did you mean mean?"),
    "no data": (["count"], "a table DATA", "murmure query mean"),
    "no such file": (["count", "nobody.csv"], "there is no file 'nobody.csv'", "check the path"),
    "no column": (["mean", "people.parquet"], "a mean takes one --column", "--column age"),
    "two columns": (["mean", "people.parquet", "--column", "age,income"], "one --column, got 2", "--column age"),
    "half a table": (["table", "people.parquet", "--column", "age"], "two columns", "--column smoker,region"),
    "unknown column": (["mean", "people.parquet", "--column", "agge"], "no column 'agge'", "did you mean age?"),
    "a mean of labels": (["mean", "people.parquet", "--column", "smoker"], "holds labels", "murmure query histogram"),
    "unknown key": (["count", "people.parquet", "--by", "town"], "no column 'town'", ""),
    "unknown value": (["count", "people.parquet", "--where", "smoker=ye"], "no value 'ye'", "did you mean yes?"),
    "half a condition": (["count", "people.parquet", "--where", "smoker"], "is not COLUMN=VALUE", "smoker=yes"),
    "a range of words": (["count", "people.parquet", "--where", "income=a:b"], "is not COLUMN=LOW:HIGH", ""),
    "an empty range": (["count", "people.parquet", "--where", "income=9:3"], "holds no value", ""),
    "delta alone": (["count", "people.parquet", "--delta", "1e-6"], "--delta is for --noise gaussian", ""),
    "gaussian alone": (["count", "people.parquet", "--noise", "gaussian"], "needs --delta", "--delta 1e-6"),
    "a noisy mode": (["mode", "people.parquet", "--column", "region", "--noise", "laplace"], "takes no --noise", ""),
    "a mode by": (["mode", "people.parquet", "--column", "region", "--by", "smoker"], "takes no --by", ""),
    "unit without rows": (["count", "people.parquet", "--unit", "id"], "needs --rows-per-person", "--unit id"),
    "no such unit": (
        ["count", "people.parquet", "--unit", "idd", "--rows-per-person", "2"],
        "'idd'",
        "",
    ),
    "a seed and a ledger": (["count", "people.parquet", "--seed", "1"], "--seed is for experiments", "--no-ledger"),
    "two tables": (["count", "people.parquet", "other.parquet"], "one table DATA at a time", "a pattern in quotes"),
    "a pattern without a name": (["count", "peop*.parquet", "--budget", "1"], "which budget pays?", "--dataset"),
    "two minds": (["count", "people.parquet", "--no-ledger", "--budget", "1"], "--budget is for a ledger", ""),
    "a budget of nothing": (["count", "people.parquet", "--budget", "0"], "--budget must be a positive", ""),
    "a key twice": (["count", "people.parquet", "--by", "region,region"], "'region' twice", ""),
    "a number that is none": (["count", "people.parquet", "--where", "age=7"], "no value '7'", "from the schema"),
    "not a quantile": (["quantile", "people.parquet", "--column", "age", "--at", "x"], "--at must be numbers", ""),
    "level": (["count", "people.parquet", "--level", "1"], "--level must lie strictly", ""),
    "an extreme": (["quantile", "people.parquet", "--column", "age", "--at", "1"], "between 0 and 1", ""),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    args, message, hint = MISTAKES[name]
    given = [] if name == "no question" else ["--schema", "schema.toml", "--epsilon", "1"]
    result = CliRunner().invoke(main, ["query", *args, *given])

    refused(result, message, hint)
    assert isinstance(result.exception, SystemExit)
    as_json = CliRunner().invoke(main, ["query", *args, *given, "--json"])
    assert json.loads(as_json.stdout)["error"]["message"]


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf"])
def test_epsilon_must_be_positive(epsilon: str) -> None:
    refused(call("count", "--budget", 3, epsilon=epsilon), "--epsilon must be a positive finite number")

    assert not Path("murmure-ledger.db").exists()


def test_drafted_schemas_and_broken_files_are_refused() -> None:
    """Bounds read off the data, a file that is no table, a schema that is none."""
    Path("schema.toml").write_text(SCHEMA.to_toml() + "from_data = true\n")
    refused(call("count"), "read off the data")
    Path("schema.toml").write_text("nonsense")
    refused(call("count"))
    Path("schema.toml").write_text(SCHEMA.to_toml())
    Path("broken.parquet").write_bytes(b"PAR1 and nothing else")
    refused(call("count", "--budget", 1, data="broken.parquet"), "broken.parquet")


def test_a_column_that_the_file_lacks_is_refused_before_the_budget_is_set() -> None:
    pq.write_table(people().drop_columns(["income"]), "less.parquet")
    refused(call("mean", "--column", "income", "--budget", 1, data="less.parquet"), "income")

    assert not Path("murmure-ledger.db").exists()


def test_a_ledger_that_is_none_is_refused() -> None:
    Path("ledger.db").write_text("this is no database, and it is longer than a header of one " * 20)
    result = call("count", "--ledger", "ledger.db", "--budget", 1)

    assert result.exit_code == 2
    assert "ledger.db" in result.output


# -- what is said beside the figures -----------------------------------------------------------------------------------


def test_the_same_bytes_under_another_name_are_the_same_account() -> None:
    """A copy pays from the budget of the original, and says so; --dataset gives it one of its own, with a warning."""
    first = answer("count", "--budget", 3)
    Path("copy.parquet").write_bytes(Path("people.parquet").read_bytes())
    words = call("count", data="copy.parquet")
    copied = json.loads(call("count", "--json", data="copy.parquet").stdout)

    assert "WARNING: these very bytes were charged to 'people.parquet' before" in words.stderr
    assert any("these very bytes" in line for line in copied["warnings"])
    assert copied["ledger"]["again"] and copied["figures"] == first["figures"]
    assert answer("count", "--dataset", "people.parquet", data="copy.parquet")["ledger"]["again"] is True
    apart = call("count", "--dataset", "others", "--budget", 3, data="copy.parquet")
    assert "more than one budget" in apart.stderr
    assert "others" in call("count").stderr  # and the other way round


def test_a_lost_key_is_said_before_it_is_made_again() -> None:
    answer("count", "--budget", 3)
    Path(".murmure-ledger.db.key").unlink()

    assert "is missing: files that it charged are not recognised" in call("count").stderr


@pytest.mark.parametrize("name", QUESTIONS)
def test_fixed_notes(name: str) -> None:
    """The same words whatever the rows hold; that a figure may lie outside its interval, where rules cut intervals."""
    Path("none.csv").write_text("id,age,income,smoker,region\n")
    given = ["--no-ledger", "--seed", 1]
    held = [json.loads(call(*QUESTIONS[name], *given, "--json", data=d).stdout) for d in ("people.parquet", "none.csv")]
    shown = " ".join(call(*QUESTIONS[name], *given).stdout.split())

    assert held[0]["notes"] == held[1]["notes"]
    assert "out of range counts as the nearest bound" in shown and all(note in shown for note in held[0]["notes"])
    cut = name.split()[0] in ("count", "histogram", "table")
    assert ("may lie outside its interval" in shown) == cut == (len(held[0]["notes"]) == 2)


def test_a_mode_is_a_value() -> None:
    shown = call("mode", "--column", "region", "--no-ledger", "--seed", 1, epsilon=20).stdout

    assert "the commonest value: A\n" in shown and "there is no interval" in shown and "index" not in shown


def test_no_blanks_at_the_ends_of_lines() -> None:
    for name in QUESTIONS:
        shown = call(*QUESTIONS[name], "--no-ledger", "--seed", 1).stdout
        assert shown and not [line for line in shown.splitlines() if line != line.rstrip()], shown


@pytest.mark.parametrize("delta", ["0", "1", "-1", "nan"])
def test_delta_is_an_option(delta: str) -> None:
    refused(
        call("count", "--noise", "gaussian", "--delta", delta, "--budget", 3), "--delta must lie strictly between 0"
    )


def test_figures_are_short() -> None:
    """Six digits, in what is refused too."""
    call("mode", "--column", "region", "--budget", 50, epsilon=20)
    said = call("mode", "--column", "region", epsilon=49.99999999999909).stderr

    assert "asked for epsilon 50, left epsilon 30" in said


def test_gaussian_noise_leaves_something() -> None:
    shown = call("count", "--noise", "gaussian", "--delta", 1e-6, "--budget", 1, epsilon=0.3).stdout
    shown = " ".join(shown.split())

    assert "Left: a question of pure epsilon at most 0.20888" in shown and "Left: epsilon 0" not in shown
