"""One file is enough: five plug-ins in a folder of their own are found wherever plug-ins of their kind are used.

The files of tests/plug_ins are copied beside no other file of the package; a path to the copy is added to the packages,
in processes of their own. Nothing else names them.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.listing import PLUG_IN_FOLDERS, plug_ins

from murmure import catalogue
from murmure.core.catalogue_entries import CatalogueEntry, MechanismEntry
from murmure.core.plug_in_files import entries_in, plug_ins_in

TESTS = Path(__file__).parent

ADD = """
import importlib, json, sys
from pathlib import Path
for folder in ("local", "central", "statistics", "engines", "econometrics.models"):
    importlib.import_module(f"murmure.{folder}").__path__.append(str(Path(sys.argv[1]) / folder.replace(".", "/")))
import murmure as mu
"""
ROWS = 1200
TABLE = "age,stay,ward\n" + "".join(f"{20 + i % 60},{i % 30},{'ABC'[i % 3]}\n" for i in range(ROWS))
SCHEMA = """
[columns.age]
type = "integers"
low = 18
high = 99
[columns.stay]
type = "integers"
low = 0
high = 60
[columns.ward]
type = "categories"
values = ["A", "B", "C"]
"""
STUDY = f"""
name = "Stay"
purpose = "To try plug-ins."
minimum_parties = 3
rows = 1000
least_rows = 1000
{SCHEMA}
[[queries]]
statistic = "CappedSum"
column = "stay"
cap = 10
[[models]]
model = "gap"
column = "age"
minus = "stay"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The plug-ins, a table, its schema and a study."""
    shutil.copytree(TESTS / "plug_ins", tmp_path / "plug_ins", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in (("t.csv", TABLE), ("schema.toml", SCHEMA), ("study.toml", STUDY)):
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def python(folder: Path, code: str) -> str:
    """What code prints where the plug-ins are."""
    ran = subprocess.run(
        [sys.executable, "-c", ADD + code, str(folder / "plug_ins")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, sys.path), str(TESTS.parent)])},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def typed(folder: Path, *words: str) -> str:
    """What a command prints there."""
    return python(folder, f"from murmure.cli import main\nmain({list(words)!r}, standalone_mode=False)")


def test_names_are_public(folder: Path) -> None:
    """And `import murmure` alone reads none of the files."""
    names = json.loads(python(folder, "print(json.dumps([mu.__all__, sorted(mu.catalogue.MODELS)]))"))
    loaded = python(folder, "print([name for name in sys.modules if name.endswith(('shortlist', 'plug_in_files'))])")

    assert {"Shortlist", "Quiet", "CappedSum", "OneByOne"} <= set(names[0]) and "Gap" in names[1]
    assert loaded == "[]\n"


def test_generic_checks_find_them(folder: Path) -> None:
    """The listing of tests finds all five files, and the checks of their kinds pass."""
    code = """
import numpy as np
from tests.listing import PLUG_IN_FOLDERS, listed
from murmure.certify.checks.noise import check_noise
from murmure.certify.checks.sensitivity import check_protected
from murmure.econometrics.fit import ask
examples = {name.partition("[")[0]: example for name, example in listed(*PLUG_IN_FOLDERS)}
mu.check_mechanism(examples["local.shortlist"])
check_noise(examples["central.quiet"])
mu.check_statistic(examples["statistics.capped_sum"])
check_protected(examples["statistics.capped_sum"])
mu.check_engine(examples["engines.one_by_one"], lambda: [np.arange(10), np.arange(5)])
example = examples["econometrics.models.gap"]
print(ask(example.model, example.rows).gap == float(np.mean(example.rows["age"]) - np.mean(example.rows["stay"])))
"""

    assert python(folder, code) == "True\n"


def test_a_mechanism_reaches_advice_records_learners_and_vectors(folder: Path) -> None:
    code = """
from tests.vectors.make import law_vectors
from murmure.learn import NaiveBayes
advice = mu.advise(mu.Categories(16), epsilon=1.0, people=1000)
advice.plot("advice.svg")
schema = mu.Schema({"region": mu.Categories(16), "smoker": mu.Categories(["no", "yes"])})
split, sampled = (make(schema, 1.0, oracle="Shortlist").parts[0] for make in (mu.SPL, mu.SMP))
rows = {"region": list(range(16)) * 40, "smoker": ["no", "yes"] * 320}
privacy = mu.Local(8.0, mechanism="Shortlist")
fit = NaiveBayes(schema, target="smoker", privacy=privacy, rng=mu.Random.seeded(1)).fit(rows)
print(json.dumps({
    "advised": [row["mechanism"] for row in advice.rows],
    "parts": [type(split).__name__, type(sampled).__name__],
    "adaptive": mu.ADP(schema, 1.0).names,
    "vectors": [vector["name"] for vector in law_vectors()],
    "learned": type(fit).__name__,
}))
"""
    found = json.loads(python(folder, code))

    assert "Shortlist" in found["advised"] and (folder / "advice.svg").exists()
    assert found["parts"] == ["Shortlist", "Shortlist"]
    assert found["adaptive"][0] == "Shortlist"  # of 16 values it has the least variance
    assert "Shortlist" in found["vectors"]
    assert found["learned"] == "NaiveBayes"


def test_a_mechanism_reaches_the_command_line(folder: Path) -> None:
    """certify lists it, takes its own option, and certifies its plan."""
    listed = json.loads(typed(folder, "certify", "--list", "--json"))
    words = ("certify", "shortlist", "--categories", "9", "--epsilon", "1", "--longest", "2", "--json")

    assert "[--longest]" in next(row["options"] for row in listed if row["mechanism"] == "Shortlist")
    assert "Shortlist: the most values of a set." in typed(folder, "certify", "--help")
    assert 0.99 < json.loads(typed(folder, *words))["epsilon"] <= 1


def test_a_statistic_and_a_noise_reach_query(folder: Path) -> None:
    """In its help, and in an answer with that noise; certify reads the plan."""
    shown = " ".join(typed(folder, "query", "--help").split())
    words = ("--column", "stay", "--cap", "10", "--schema", "schema.toml", "--epsilon", "4", "--noise", "quiet")
    answer = json.loads(typed(folder, "query", "capped-sum", "t.csv", *words, "--no-ledger", "--seed", "1", "--json"))
    plan = "mu.Plan(mu.CappedSum(mu.Integers(0, 60), cap=10), curator=mu.Quiet(2.0))"
    python(folder, f"Path('plan.json').write_text({plan}.to_json())")
    certificate = json.loads(typed(folder, "certify", "--plan", "plan.json", "--json"))["guarantees"]["reader"]

    assert "staircase|quiet" in shown and "--cap N" in shown
    exact = sum(min(i % 30, 10) for i in range(ROWS))
    assert abs(answer["figures"][0]["value"] - exact) < 200
    assert 3.99 < answer["guarantees"]["reader"]["epsilon"] <= 4
    assert 1.99 < certificate["epsilon"] <= 2


def test_a_statistic_and_a_model_reach_studies(folder: Path) -> None:
    """From study.toml, described in both languages, written, read back, and run between parties in one process."""
    code = """
from murmure.econometrics import ask
from murmure.parties.study.document import Study
from murmure.secure.identity import Identity
cards = [Identity.fresh().card(f"Hospital {i}") for i in range(4)]
study = Study.from_toml(Path("study.toml"), tuple(cards[1:]), cards[0])
assert Study.from_json(study.to_json()) == study
import csv
rows = list(csv.DictReader(open("t.csv")))
parts = [{name: [row[name] if name == "ward" else int(row[name]) for row in rows[i::3]] for name in rows[0]}
         for i in range(3)]
release = mu.run(study.plans[0], parts)
fit = ask(study.models[0], parts, privacy=mu.Secure(rows_are_public=True))
words = ["\\n".join(study.in_words(language)) for language in ("en", "fr")]
print(json.dumps([*words, float(release.estimate.mean[0]), fit.gap]))
"""
    english, french, total, gap = json.loads(python(folder, code))

    assert "the sum of “stay”, each at most 10." in english
    assert "the sum of «\u202fstay\u202f», each at most 10." in french  # of a plug-in there is no catalogue
    assert "Gap, “the mean of age minus stay”." in english
    assert total == sum(min(i % 30, 10) for i in range(ROWS))
    assert gap == pytest.approx(sum(20 + i % 60 - i % 30 for i in range(ROWS)) / ROWS)


def test_a_model_reaches_the_command_line(folder: Path) -> None:
    """In the list of commands, with a help of its own, and in a run; studies list its keys."""
    answer = json.loads(typed(folder, "gap", "age", "t.csv", "--minus", "stay", "--json"))
    keys = typed(folder, "study", "models", "gap")

    assert "The mean difference of two columns." in typed(folder, "--help")
    assert "--minus C" in typed(folder, "gap", "--help")
    assert answer["tables"][0]["rows"][0][1] == pytest.approx(sum(20 + i % 60 - i % 30 for i in range(ROWS)) / ROWS)
    assert "minus" in keys and 'model = "gap"' in keys


def test_an_engine_reaches_run(folder: Path) -> None:
    code = """
plan = mu.Plan(mu.Sum(mu.Integers(0, 60)))
print(mu.run(plan, [1, 2, 60], engine=mu.OneByOne()).estimate.mean[0])
"""

    assert python(folder, code) == "63.0\n"


def test_all_reach_the_reference(folder: Path) -> None:
    """Pages with executed examples and certificates, in the index under their kinds; the model in its page."""
    code = f"""
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
loader = SourceFileLoader("reference", {str(TESTS.parent / "script" / "reference")!r})
reference = module_from_spec(spec_from_loader("reference", loader))
loader.exec_module(reference)
kinds = reference.kinds()
names = ("Shortlist", "Quiet", "CappedSum", "OneByOne")
of = {{name: next(kind for kind, listed in kinds.items() if name in listed) for name in names}}
pages = {{name: reference.page(name, kind) for name, kind in of.items()}}
print(json.dumps([of, pages, reference.index(kinds), reference.econometric_page(), reference.cli()]))
"""
    kinds, pages, index, econometrics, commands = json.loads(python(folder, code))

    assert kinds == {
        "Shortlist": "Mechanisms for shares",
        "Quiet": "Noise at the curator",
        "CappedSum": "Statistics",
        "OneByOne": "Plans and runs",
    }
    assert "mu.Shortlist(domain, epsilon=1.0)" in pages["Shortlist"] and "## Certified epsilon" in pages["Shortlist"]
    assert "## Certified cost" in pages["Quiet"]
    assert "13.0" in pages["CappedSum"]
    assert all(f"[`{name}`](ref-{name}.md)" in index for name in kinds)
    assert "## gap\n" in econometrics and '[[models]]\nmodel = "gap"' in econometrics
    assert "### murmure gap\n" in commands


# -- entries -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", PLUG_IN_FOLDERS)
def test_entries_are_read_as_they_are(folder: str) -> None:
    """What is read off the text of a file is what the classes hold, and every file has a plug-in."""
    read = {(module, name): entry for module, name, entry in plug_ins_in(folder)}
    held: dict[tuple[str, str], Any] = {}
    for module in plug_ins(folder):
        classes = [thing for thing in vars(sys.modules.get(module) or __import__(module, fromlist=["x"])).values()]
        for thing in classes:
            if isinstance(thing, type) and thing.__module__ == module and "entry" in vars(thing):
                held[module, thing.__name__] = vars(thing)["entry"]

    assert read == held
    assert {module for module, _ in read} == set(plug_ins(folder))


def test_an_entry_that_is_not_literal_is_not_guessed() -> None:
    """It is read by importing the file; a class without an entry is not a plug-in."""
    text = "\nclass A(B):\n    x: int\n\n    entry = NoiseEntry(order=1)\n\n\nclass C:\n    pass\n"

    assert {name: entry.order for name, entry in entries_in(text).items()} == {"A": 1}
    with pytest.raises(ValueError):
        entries_in(text.replace("order=1", "order=WHERE"))
    with pytest.raises(ValueError):
        entries_in(text.replace("order=1)", "order=1"))


def test_sourceless_files_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only compiled files are installed, entries are read off the classes."""
    import py_compile

    import murmure.engines

    source = tmp_path / "one_by_one.py"
    shutil.copy(TESTS / "plug_ins" / "engines" / "one_by_one.py", source)
    py_compile.compile(str(source), cfile=str(tmp_path / "one_by_one.pyc"))
    source.unlink()
    monkeypatch.setattr(murmure.engines, "__path__", [str(tmp_path)])
    try:
        ((module, name, entry),) = plug_ins_in.__wrapped__("murmure.engines")
    finally:
        sys.modules.pop("murmure.engines.one_by_one", None)

    assert (module, name) == ("murmure.engines.one_by_one", "OneByOne") and isinstance(entry, CatalogueEntry)


def test_an_archive_is_read_too(tmp_path: Path) -> None:
    """The package in a zip file on the path, as clusters ship it: the same names, and still nothing is imported."""
    package = Path(catalogue.__file__).parent
    archive = shutil.make_archive(str(tmp_path / "shipped"), "zip", package.parent, package.name)
    code = """
import sys, murmure
print(murmure.__file__.startswith(sys.argv[1]), len(murmure.catalogue.PUBLIC), "numpy" in sys.modules)
"""
    ran = subprocess.run(
        [sys.executable, "-c", code, archive],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": archive},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert ran.stdout == f"True {len(catalogue.PUBLIC)} False\n", ran.stderr


def test_two_plug_ins_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from murmure.core.errors import InvalidParameter

    monkeypatch.setattr("murmure.core.plug_in_files.plug_ins_in", lambda _: [("a", "X", MechanismEntry())] * 2)

    with pytest.raises(InvalidParameter, match="two plug-ins have the same name, X"):
        catalogue.entries(MechanismEntry)


def test_no_list_repeats_the_names_of_plug_ins() -> None:
    """A constant with three names of mechanisms, noises, statistics or models would be a second list of them."""
    tables = (catalogue.MECHANISMS, catalogue.RECORDS, catalogue.NOISES, catalogue.STATISTICS, catalogue.MODELS)
    found = []
    for path in sorted(Path(catalogue.__file__).parent.rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            texts = _texts_of(getattr(node, "value", None))
            if any(len(texts & set(table)) > 2 for table in tables):
                found.append(f"{path.name}:{node.lineno}")

    assert found == []
    assert _texts_of(ast.parse("A = (*B, 'GRR', 'OUE')").body[0].value) == {"GRR", "OUE"}  # type: ignore[attr-defined]


def _texts_of(node: Any) -> set[str]:
    """The texts in a tuple, list or set, or the keys of a dictionary."""
    values = getattr(node, "keys", None) if isinstance(node, ast.Dict) else getattr(node, "elts", None)
    return {v.value for v in values or () if isinstance(v, ast.Constant) and isinstance(v.value, str)}
