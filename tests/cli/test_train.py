"""`murmure train` and `murmure predict`: models as JSON, paid for, all or nothing; and what no row can change."""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import murmure as mu
from murmure.cli import main
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.schema import Schema
from murmure.learn import KMeans, LinearRegression, LogisticRegression, NaiveBayes
from murmure.learn.model_file import learner_from_dict, learner_from_json, learner_to_dict
from murmure.ledger.ledger import Ledger

SCHEMA = Schema(
    {
        "age": Integers(18, 99),
        "weight": Interval(30.0, 150.0, cells=480),
        "smoker": Categories(["no", "yes"]),
        "sick": Categories(["no", "yes"]),
        "pressure": Integers(80, 200),
    }
)
N = 4000
MODELS: dict[str, list[str]] = {
    "naive-bayes": ["--target", "sick", "--features", "age,weight,smoker"],
    "linear": ["--target", "pressure", "--features", "age,weight"],
    "logistic": ["--target", "sick", "--features", "age,weight"],
    "kmeans": ["--clusters", "3", "--features", "age,weight"],
}


def people(n: int = N) -> pa.Table:
    r = np.random.default_rng(11)
    age, weight = r.integers(18, 100, n), r.normal(75, 15, n).clip(30, 150)
    sick = r.uniform(size=n) < 1 / (1 + np.exp(-(age - 60) / 8))
    return pa.table(
        {
            "id": np.arange(n) // 2,
            "age": age,
            "weight": weight,
            "smoker": np.where(r.uniform(size=n) < np.where(sick, 0.6, 0.2), "yes", "no"),
            "sick": np.where(sick, "yes", "no"),
            "pressure": (90 + 0.6 * age + r.normal(0, 8, n)).round().clip(80, 200).astype(int),
        }
    )


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MURMURE_LEDGER", raising=False)
    pq.write_table(people(), "people.parquet")
    Path("schema.toml").write_text(SCHEMA.to_toml())
    return tmp_path


def call(model: str, *args: Any, data: str = "people.parquet", out: str = "model.json") -> Result:
    words = ["train", model, data, *args, "--schema", "schema.toml", "-o", out]
    return CliRunner().invoke(main, list(map(str, words)))


def trained(model: str, *args: Any, **how: Any) -> dict[str, Any]:
    result = call(model, *MODELS[model], *args, "--json", **how)
    assert result.exit_code == 0, (result.output, result.exception)
    return dict(json.loads(result.stdout))


def refused(result: Result, *words: str) -> None:
    """One message, exit code 2, no model and no charge."""
    assert result.exit_code == 2, (result.output, result.exception)
    assert isinstance(result.exception, SystemExit)
    for word in words:
        assert word in result.output, result.output
    assert not Path("model.json").exists()
    if Path("murmure-ledger.db").exists():
        assert not [e for e in Ledger("murmure-ledger.db").history() if e.kind == "charge"]


def parts() -> list[str]:
    return [name for name in os.listdir() if ".part" in name]


# -- models ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_a_model_is_paid_and_written(model: str) -> None:
    """Once: the second time the ledger gives the same model, at no cost."""
    said = trained(model, "--epsilon", 2, "--budget", 3)
    written = json.loads(Path("model.json").read_text())
    again = trained(model, "--epsilon", 2, out="again.json")

    assert written["learner"] in ("NaiveBayes", "LinearRegression", "LogisticRegression", "KMeans")
    assert written["guarantees"]["reader"]["epsilon"] <= 2
    assert written["spent"]["epsilon"] <= 2
    assert written["plans"] and written["seeded"] is False
    assert written["ledger"] == {"path": "murmure-ledger.db", "dataset": "people.parquet", "charge": 2}
    assert said["ledger"]["charge"] == again["ledger"]["charge"]
    assert again["learned"] == said["learned"] == written["learned"]
    assert [e.kind for e in Ledger("murmure-ledger.db").history()] == ["budget", "charge"]
    assert parts() == []


@pytest.mark.parametrize("model", MODELS)
def test_the_summary_says_what_it_costs(model: str) -> None:
    result = call(model, *MODELS[model], "--epsilon", 2, "--budget", 3)

    assert result.exit_code == 0, (result.output, result.exception)
    assert "paid by charge 2" in result.stdout
    assert "epsilon" in result.stdout and "Left: epsilon 1" in result.stdout


@pytest.mark.parametrize("model", MODELS)
def test_what_is_written_predicts_as_the_learner_does(model: str) -> None:
    """Seeded: the library's own fit, written and read again, gives the same predictions."""
    trained(model, "--epsilon", 8, "--no-ledger", "--seed", 5)
    read: Any = learner_from_json(Path("model.json").read_text())
    kind = {"naive-bayes": NaiveBayes, "linear": LinearRegression, "logistic": LogisticRegression, "kmeans": KMeans}
    table = people(200)
    names = MODELS[model][-1].split(",")
    target = MODELS[model][1] if model != "kmeans" else None
    schema = Schema({n: SCHEMA.column_specs[n] for n in [*names, *([target] if target else [])]})
    given = {"n_clusters": 3} if target is None else {"target": target}
    own = kind[model](schema=schema, privacy=mu.Central(8.0), rng=mu.Random.seeded(5), **given).fit("people.parquet")
    rows = {name: table.column(name).to_numpy(zero_copy_only=False) for name in names}

    assert (read.predict(rows) == own.predict(rows)).all()
    assert learner_to_dict(learner_from_dict(learner_to_dict(own)))["learned"] == learner_to_dict(own)["learned"]


def test_predictions_are_written_in_order() -> None:
    trained("naive-bayes", "--epsilon", 8, "--no-ledger", "--seed", 5)
    pq.write_table(people(300), "others.parquet")
    ran = CliRunner().invoke(main, ["predict", "model.json", "others.parquet", "-o", "out.csv", "--proba"])
    assert ran.exit_code == 0, (ran.output, ran.exception)
    with Path("out.csv").open() as file:
        rows = list(csv.DictReader(file))

    assert list(rows[0]) == ["sick", "P(no)", "P(yes)"]
    right = np.mean([row["sick"] == truth for row, truth in zip(rows, people(300)["sick"].to_pylist(), strict=True)])
    assert right > 0.75
    refusal = CliRunner().invoke(main, ["predict", "model.json", "others.parquet", "-o", "out.csv"])
    assert refusal.exit_code == 2 and "--force" in refusal.output


def test_a_test_file_is_scored_and_warned_about() -> None:
    """Accuracy on rows that the model has not seen; the figure is about them, and nothing protects it."""
    people(300).drop_columns(["id"]).to_pandas().to_csv("others.csv", index=False)
    with Path("others.csv").open("a") as file:
        file.write("abc,nan,perhaps,no,100\n,,,,\n")
    given = ["--epsilon", 8, "--no-ledger", "--seed", 5, "--test", "others.csv"]
    result = call("naive-bayes", *MODELS["naive-bayes"], *given)

    assert result.exit_code == 0, (result.output, result.exception)
    assert "accuracy" in result.stdout and "on 300 rows of others.csv, 2 left out" in result.stdout.replace("\xa0", " ")
    assert trained("naive-bayes", *given, "--force")["score"]["value"] > 0.75
    assert "nothing protects them" in result.stderr
    assert "score" not in json.loads(Path("model.json").read_text())


def test_in_the_clear_and_locally() -> None:
    """Both say aloud what they are, and charge nothing."""
    clear = call("linear", *MODELS["linear"], "--clear", out="clear.json")
    local = call("naive-bayes", *MODELS["naive-bayes"], "--local", "--epsilon", 4, out="local.json")

    assert clear.exit_code == local.exit_code == 0, (clear.output, local.output, local.exception)
    assert "WARNING: --clear protects nobody" in clear.stderr
    assert "WARNING: --local randomises every row" in local.stderr
    assert json.loads(Path("clear.json").read_text())["guarantees"]["reader"]["epsilon"] == "inf"
    assert json.loads(Path("local.json").read_text())["guarantees"]["reader"]["epsilon"] <= 4
    assert not Path("murmure-ledger.db").exists()
    slope = json.loads(Path("clear.json").read_text())["learned"]["coef_"]["array"][0]
    assert slope == pytest.approx(0.6, abs=0.05)


def test_labels_of_rows_are_never_written() -> None:
    """k-means in the clear knows the cluster of every row; the file does not."""
    said = trained("kmeans", "--clear")

    assert "labels_" not in said["learned"]
    assert len(Path("model.json").read_text()) < 20_000


def test_delta_and_settings() -> None:
    said = trained("linear", "--epsilon", 2, "--delta", 1e-6, "--budget", 3, "--set", "method=gaussian")

    assert said["privacy"]["delta"] == 1e-6
    assert said["parameters"]["method"] == "gaussian"
    assert said["guarantees"]["reader"]["epsilon"] <= 2


# -- what no row can change --------------------------------------------------------------------------------------------

HEADER = "age,weight,smoker,sick,pressure\n"
NASTY = {
    "words for numbers": "old,heavy,no,yes,high\n",
    "nothing": ",,,,\n",
    "nan and infinities": "nan,-inf,yes,no,inf\n",
    "far outside": "1e300,-1e300,no,yes,-5\n",
    "unknown classes": "20,70,perhaps,perhaps,100\n",
    "one class": "20,70,no,no,100\n" * 20,
    "constant columns": "20,70,no,no,100\n20,70,yes,yes,100\n" * 20,
    "no rows": "",
}


@pytest.mark.parametrize("model", MODELS)
def test_no_row_decides_whether_there_is_a_model(model: str) -> None:
    """Exit code 0, the same attributes of the same shapes and the same words on standard error."""
    seen = set()
    for number, (what, rows) in enumerate(NASTY.items()):
        Path(f"{number}.csv").write_text(HEADER + rows)
        out = f"{number}.json"
        result = call(model, *MODELS[model], "--epsilon", 1, "--no-ledger", data=f"{number}.csv", out=out)
        assert result.exit_code == 0, (what, result.output, result.exception)
        held = json.loads(Path(out).read_text())
        shapes = tuple(sorted(held["learned"]))
        # how much a logistic regression asks follows from its first noisy answer, the class counts
        seen.add((result.stderr, shapes, len(held["plans"]) if model != "logistic" else len(held["plans"]) > 1))

    assert len(seen) == 1


# -- mistakes, before any charge ---------------------------------------------------------------------------------------

MISTAKES: dict[str, tuple[list[str], str, str]] = {
    "no model": ([], "a model (naive-bayes", "murmure train naive-bayes"),
    "unknown model": (["forest", "people.parquet"], "there is no model 'forest'", "the models are"),
    "no target": (["linear", "people.parquet"], "needs --target", ""),
    "no clusters": (["kmeans", "people.parquet"], "needs --clusters", ""),
    "target of kmeans": (["kmeans", "people.parquet", "--clusters", "2", "--target", "sick"], "no --target", ""),
    "unknown target": (["linear", "people.parquet", "--target", "presure"], "no column 'presure'", "did you mean"),
    "target twice": (
        ["linear", "people.parquet", "--target", "age", "--features", "age,weight"],
        "names the target",
        "",
    ),
    "classes that are numbers": (
        ["naive-bayes", "people.parquet", "--target", "age"],
        "must be Categories",
        "name the classes in the schema",
    ),
    "labels to add up": (["kmeans", "people.parquet", "--clusters", "2"], "numbers only", ""),
    "local and clear": (["linear", "people.parquet", "--target", "age", "--local", "--clear"], "exclude", ""),
    "epsilon in the clear": (["linear", "people.parquet", "--target", "age", "--clear"], "has no epsilon", ""),
    "budget at the person": (
        ["naive-bayes", "people.parquet", "--target", "sick", "--local", "--budget", "1"],
        "--budget is for noise at the curator",
        "",
    ),
    "mechanism of nobody": (
        ["linear", "people.parquet", "--target", "age", "--mechanism", "GRR"],
        "--mechanism is for --local",
        "",
    ),
    "unknown setting": (
        ["linear", "people.parquet", "--target", "age", "--set", "rigde=1"],
        "no setting 'rigde'",
        "did you mean ridge?",
    ),
    "half a setting": (["linear", "people.parquet", "--target", "age", "--set", "ridge"], "not NAME=VALUE", ""),
    "no such file": (["linear", "nobody.csv", "--target", "age"], "there is no file 'nobody.csv'", ""),
    "no budget": (["linear", "people.parquet", "--target", "age"], "no budget is set", "--budget 3"),
    "too little": (
        ["linear", "people.parquet", "--target", "age", "--budget", "0.5"],
        "does not cover",
        "",
    ),
    "a test of those who pay": (
        ["linear", "people.parquet", "--target", "age", "--budget", "3", "--test", "./people.parquet"],
        "rows that the model learns from",
        "keep some rows apart",
    ),
    "no such test file": (
        ["linear", "people.parquet", "--target", "age", "--budget", "3", "--test", "nobody.csv"],
        "nobody.csv",
        "",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    args, message, hint = MISTAKES[name]
    given = [] if name == "no model" else ["--schema", "schema.toml", "--epsilon", "1", "-o", "model.json"]
    result = CliRunner().invoke(main, ["train", *args, *given])

    refused(result, message, hint)
    assert parts() == []


def test_a_place_that_cannot_be_written_is_found_before_the_charge() -> None:
    """No folder, a folder, another suffix, a file that is no model, a model without --force."""
    for out in ("nowhere/model.json", "model.txt"):
        refused(call("linear", *MODELS["linear"], "--epsilon", 1, "--budget", 3, out=out))
    Path("folder.json").mkdir()
    refused(call("linear", *MODELS["linear"], "--epsilon", 1, "--budget", 3, out="folder.json"), "is a folder")
    Path("notes.json").write_text('{"mine": 1}')
    refused(call("linear", *MODELS["linear"], "--epsilon", 1, "--budget", 3, out="notes.json"), "--force")
    refused(
        call("linear", *MODELS["linear"], "--epsilon", 1, "--budget", 3, "--force", out="notes.json"), "is not a model"
    )

    assert Path("notes.json").read_text() == '{"mine": 1}'


def test_a_model_that_is_paid_and_not_written_is_there_at_no_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full after the charge: nothing is left behind, and the next run gives the paid model."""
    import errno

    from murmure.learn import model_file

    def full(learner: Any) -> Any:
        raise OSError(errno.ENOSPC, "no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(model_file, "learner_to_dict", full)
        result = call("linear", *MODELS["linear"], "--epsilon", 1, "--budget", 1)

    assert result.exit_code == 2 and "cannot write" in result.output
    assert not Path("model.json").exists() and parts() == []
    assert [e.kind for e in Ledger("murmure-ledger.db").history()] == ["budget", "charge"]
    assert trained("linear", "--epsilon", 1)["ledger"]["charge"] == 2
    assert len(Ledger("murmure-ledger.db").history()) == 2


def test_a_model_is_written_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of it is on the disk when the disk is full: the model that was there before stands."""
    import errno

    trained("linear", "--epsilon", 1, "--budget", 3)
    before = Path("model.json").read_text()

    def half(self: Path, text: str, **how: Any) -> int:
        self.write_bytes(text[: len(text) // 2].encode())
        raise OSError(errno.ENOSPC, "no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", half)
        result = call("linear", *MODELS["linear"], "--epsilon", 2, "--force")

    assert result.exit_code == 2 and "free some space" in result.output
    assert Path("model.json").read_text() == before
    assert parts() == []


def test_files_that_are_no_models() -> None:
    """Truncated, of another version, of an unknown learner, with an attribute that no learner learns."""
    trained("kmeans", "--epsilon", 8, "--no-ledger", "--seed", 5)
    text = Path("model.json").read_text()
    held = json.loads(text)
    for bad in (
        text[: len(text) // 2],
        "[]",
        json.dumps({**held, "murmure-model": 99}),
        json.dumps({**held, "learner": "os"}),
        json.dumps({**held, "learned": {"__class__": 1}}),
        json.dumps({name: value for name, value in held.items() if name != "schema"}),
    ):
        with pytest.raises(mu.MurmureError):
            learner_from_json(bad)
    Path("model.json").write_text("nonsense")
    ran = CliRunner().invoke(main, ["predict", "model.json", "people.parquet", "-o", "out.csv"])
    assert ran.exit_code == 2 and "is not JSON" in ran.output


# -- what is said ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("extra", [(), ("--local",)])
def test_a_copy_of_the_training_rows_is_no_test(extra: tuple[str, ...]) -> None:
    """Nor is a folder that holds one. In the clear there is no noise to undo."""
    copied = Path("test")
    copied.mkdir()
    pq.write_table(people(9), copied / "a.parquet")
    (copied / "b.parquet").write_bytes(Path("people.parquet").read_bytes())
    given = [*MODELS["linear"], "--epsilon", 4, *extra]
    for test in ("test/b.parquet", "test"):
        refused(call("linear", *given, "--test", test), "holds the rows that the model learns from")

    ran = call("linear", *MODELS["linear"], "--clear", "--test", "test/b.parquet")
    assert ran.exit_code == 0 and "Rows that are in both files are not detected" in " ".join(ran.stderr.split())


def test_coefficients_have_names_and_classes() -> None:
    shown = call("logistic", *MODELS["logistic"], "--epsilon", 4, "--no-ledger", "--seed", 5).stdout

    assert "log-odds" in shown and "yes against no" in shown and "coefficient" not in shown
    for name in ("intercept", "age", "weight"):
        assert any(line.split()[:1] == [name] and len(line.split()) == 2 for line in shown.splitlines()), shown
    assert any(line.split() == ["classes", "no,", "yes"] for line in shown.splitlines())


def test_why_there_are_no_standard_errors() -> None:
    given = [*MODELS["linear"], "--no-ledger", "--seed", 5, "--epsilon"]
    repaired = " ".join(call("linear", *given, 0.01).stdout.split())
    local = " ".join(call("linear", *MODELS["linear"], "--local", "--epsilon", 4, out="l.json").stdout.split())
    fine = call("linear", *given, 8, out="other.json").stdout

    assert "std err none: the noisy sums were repaired before they were solved" in repaired
    assert "std err none: rows were randomised one by one" in local
    assert "std err none" not in " ".join(fine.split()) and "std err" in fine


@pytest.mark.parametrize("model", MODELS)
def test_whom_a_model_protects(model: str) -> None:
    given = [*MODELS[model], "--epsilon", 2, "--no-ledger", "--seed", 5]
    row = " ".join(call(model, *given).stdout.split())
    person = trained(model, *given[-5:], "--unit", "id", "--rows-per-person", 2, out="p.json")

    assert "protects one row: each row of a person adds epsilon = 2" in row
    assert person["protects"] == "one person (id) of at most 2 rows: epsilon = 2 for all of them together"
    assert trained(model, "--clear", out="c.json")["protects"] == "nobody"


def test_clusters_are_about_so_large() -> None:
    shown = call("kmeans", *MODELS["kmeans"], "--epsilon", 8, "--no-ledger", "--seed", 5).stdout

    assert re.search(r"cluster 0 +age [\d.]+, weight [\d.]+ \(about \d,\d{3} rows\)", shown), shown
    assert not [line for line in shown.splitlines() if line != line.rstrip()]


def test_hints_are_about_the_model_that_was_asked_for() -> None:
    refused(call("kmeans", "--epsilon", 1), "needs --clusters", "murmure train kmeans people.csv")
    refused(call("linear", "--epsilon", 1), "needs --target", "murmure train linear people.csv")
    refused(
        call("linear", *MODELS["linear"], "--epsilon", 1, "--delta", 2), "--delta must lie strictly between 0 and 1"
    )


def test_other_names_for_the_same_bytes_are_warned_about() -> None:
    call("kmeans", *MODELS["kmeans"], "--epsilon", 1, "--budget", 3)
    ran = call("kmeans", *MODELS["kmeans"], "--epsilon", 1, "--budget", 3, "--dataset", "new", out="b.json")

    assert ran.exit_code == 0 and "these very bytes were charged to 'people.parquet' before" in ran.stderr


def test_predictions_are_counted_in_groups() -> None:
    trained("linear", "--clear")
    ran = CliRunner().invoke(main, ["predict", "model.json", "people.parquet", "-o", "out.csv"])

    assert "4,000 predictions" in ran.stdout.replace("\xa0", " ")
