"""Files that version 0.5.0 wrote (tests/fixtures/v0_5_0): each is read with the meaning that 0.5.0 gave it, or refused
with what to do. None is misread. Ledgers are in tests/ledger."""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.frozen.compare import differences

import murmure as mu
from murmure.cli import main
from murmure.learn import LinearRegression, NaiveBayes, load_model
from murmure.parties.coordinator.errors import LogFailed
from murmure.parties.coordinator.folders import StudyFolder
from murmure.parties.coordinator.release_log import ReleaseLog
from murmure.parties.coordinator.store import CoordinatorStore
from murmure.parties.party.folder import PartyFolder
from murmure.parties.party.policy import Policy
from murmure.parties.study.costs import ProtectedUnit
from murmure.parties.study.document import Study
from murmure.secure.errors import CohortRefused

NOBODY = 65534
FOLDER = Path(__file__).parent / "fixtures" / "v0_5_0"


def load(path: str) -> dict[str, Any]:
    return json.loads((FOLDER / path).read_text("utf-8"))  # type: ignore[no-any-return]


PLANS, REPORTS = load("plans/plans.json"), load("plans/meaning.json")
TABLES, MODELS = load("tables/meaning.json"), load("models/meaning.json")
STUDIES, DOCUMENTS = load("studies/meaning.json"), load("studies/documents.json")


def certificates(guarantees: Any) -> dict[str, Any]:
    """Their figures, as meaning.json has them: what is not finite as text."""
    fields = ("epsilon", "delta", "relation", "unit")
    found = {who: {name: getattr(one, name) for name in fields} for who, one in guarantees.items()}
    return {who: {k: str(v) if v == math.inf else v for k, v in one.items()} for who, one in found.items()}


def plain(values: Any) -> list[Any]:
    return [value if math.isfinite(value) else str(value) for value in values.tolist()]


def command(*words: object) -> Any:
    """What a command of today says with --json."""
    done = CliRunner().invoke(main, [*map(str, words), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


# -- plans and reports -------------------------------------------------------------------------------------------------


def refusal_of(document: dict[str, Any]) -> str | None:
    """Part of the hint with which a plan of 0.5.0 is refused; None: it is read."""
    sharing = document["parties"]
    if sharing is not None and sharing["dropouts"] > 1:
        return "at most 1 dropout with 1 colluder"  # no quorum could sign the same lists
    if document["statistic"]["type"] == "Gradient":
        return "written by another release of murmure"  # its rows are placed about a centre now
    if document["curator"] is not None and sharing is None:
        return "before 0.6 a missing number counted as the middle of its range"
    return None


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_read_as_it_was_or_refused_with_what_to_do(name: str) -> None:
    """The digest and every certificate are those that 0.5.0 gave; a curator's plan means something else by now."""
    plan = PLANS[name]
    way_out = refusal_of(json.loads(plan["text"]))
    if way_out is not None:
        with pytest.raises(mu.MurmureError) as refused:
            mu.Plan.from_json(plan["text"])

        assert refused.value.hint is not None and way_out in refused.value.hint
        return
    read = mu.Plan.from_json(plan["text"])

    assert read.digest == plan["digest"] and read.to_json() == plan["text"]
    assert certificates(read.guarantees()) == plan["guarantees"]


def test_plans_of_every_kind_are_among_the_fixtures() -> None:
    """Each refusal above has a plan, and so has what is read: at the person, in the clear, between parties."""
    documents = [json.loads(plan["text"]) for plan in PLANS.values()]

    assert len({refusal_of(document) for document in documents}) == 4
    slots = {tuple(document[name] is not None for name in ("person", "parties", "curator")) for document in documents}
    assert slots == {(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1)}


@pytest.mark.parametrize("file", REPORTS)
def test_reports_are_added_up_and_read_as_before(file: str) -> None:
    """The same sum of the same reports, and the same estimates; their last bits are the processor's (BLAS)."""
    meaning = REPORTS[file]
    plan, reports = mu.Plan.from_json(PLANS[meaning["plan"]]["text"]), mu.Reports.load(FOLDER / "plans" / file)
    total = plan.tally(reports)
    estimate = plan.settle(total, reports.seeded).estimate
    means = (
        {column: plain(one.mean) for column, one in estimate.items()}
        if isinstance(estimate, mu.Estimates)
        else plain(estimate.mean)
    )

    assert (len(reports), reports.seeded, total.n) == (meaning["reports"], meaning["seeded"], meaning["n"])
    assert total.sum.tolist() == meaning["sum"]
    assert not differences(meaning["means"], means)


# -- sanitised tables --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_a_sanitised_table_says_what_it_said(name: str) -> None:
    """Figures, number of people, unit, promises, plan and whether it was seeded."""
    said, now = TABLES[name]["estimate"], command("estimate", FOLDER / "tables" / name)
    kept = ("plan", "people", "unit", "rows_per_person", "seeded")

    assert [now[field] for field in kept] == [said[field] for field in kept]
    assert [
        (figure["column"], figure["label"], figure.get("share", figure.get("value"))) for figure in now["figures"]
    ] == [(figure["column"], figure["label"], figure.get("share", figure.get("value"))) for figure in said["figures"]]
    for who, certificate in said["guarantees"].items():
        for field in ("epsilon", "delta", "relation", "unit", "assumption"):
            assert now["guarantees"][who][field] == certificate[field]


# -- models ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_a_model_predicts_and_promises_what_it_did(name: str) -> None:
    """Classes, numbers and chances of rows that it never saw, and the certificates in the file."""
    learner: Any = load_model(FOLDER / "models" / name)
    with (FOLDER / "models" / "others.csv").open() as file:
        rows = list(csv.DictReader(file))
    frame = {column: [int(row[column]) if column == "age" else row[column] for row in rows] for column in rows[0]}
    said = MODELS[name]["predicted"]
    column = next(column for column in said[0] if not column.startswith("P("))

    assert [str(one) for one in learner.predict(frame).tolist()] == [row[column] for row in said]
    if len(said[0]) > 1:
        chances = [[float(row[f"P({label})"]) for label in learner.classes_] for row in said]
        np.testing.assert_allclose(learner.predict_proba(frame), chances, rtol=1e-12)
    written = json.loads((FOLDER / "models" / name).read_text())["guarantees"]
    for who, certificate in certificates(learner.guarantees_).items():
        assert certificate == {field: written[who][field] for field in certificate}


# -- studies -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def studies(tmp_path: Path) -> Path:
    """A copy that belongs to its owner alone, as on the disk of whoever has it."""
    place = tmp_path / "studies"
    shutil.copytree(FOLDER / "studies", place)
    for path in place.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return place


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_signed_study_is_read_with_its_digest(name: str) -> None:
    """The digest is what parties approved, and covers all that is asked."""
    said = DOCUMENTS[name]
    study = Study.open(said["signed"].encode())

    assert study.digest.hex() == said["digest"] and study.rounds == said["rounds"]


@pytest.mark.parametrize("name", STUDIES["studies"])
def test_a_coordinator_s_study_is_shown_as_it_stood(studies: Path, name: str) -> None:
    """Digest, state, parties, released sums and figures; a result of before 0.6 says that less was hidden then."""
    said, folder = STUDIES["studies"][name], studies / "office" / f"stay-{name}"
    status, shown = command("study", "status", folder), command("study", "show", folder)

    assert shown["digest"] == status["digest"] == said["show"]["digest"]
    for field in ("state", "round", "rounds", "stage", "minimum", "ended"):
        assert status[field] == said["status"][field]
    assert [(party["name"], party["state"]) for party in status["parties"]] == [
        (party["name"], party["state"]) for party in said["status"]["parties"]
    ]
    if said["result"] is None:
        return
    now = command("study", "result", folder)
    check_results(now, said["result"], "parties")


def check_results(now: dict[str, Any], said: dict[str, Any], cohort: str) -> None:
    """The same sums, figures and epsilons; what was hidden from the coordinator, as it was then."""
    assert "before murmure 0.6" in now["note"]
    for new, old in zip(now["results"], said["results"], strict=True):
        assert (new["sums"], new[cohort], new["exact"]) == (old["sums"], old[cohort], old["exact"])
        assert new.get("figures") == old.get("figures") and new.get("people") == old.get("people")
        for who, certificate in old.get("guarantees", {}).items():
            for field in ("epsilon", "delta", "relation", "unit"):
                assert new["guarantees"][who][field] == certificate[field]
            if "hides" in certificate:
                assert "a coordinator that showed every party the same lists" in new["guarantees"][who]["hides"]
                assert "followed the protocol" in new["guarantees"][who]["assumption"]
    for new, old in zip(now.get("models", []), said.get("models", []), strict=True):
        assert new["result"]["coefficients"] == old["result"]["coefficients"] and new["rounds"] == old["rounds"]


@pytest.mark.parametrize("name", ["exact", "blurred"])
def test_a_page_that_would_promise_too_much_is_not_written(studies: Path, tmp_path: Path, name: str) -> None:
    """Pages speak of the protocol of today."""
    words = ["study", "result", str(studies / "office" / f"stay-{name}"), "--html", str(tmp_path / "page.html")]
    done = CliRunner().invoke(main, words)

    assert done.exit_code != 0 and "leave --html out" in done.output and not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("name", ["exact", "blurred", "declined", "middle"])
def test_a_study_that_began_under_another_protocol_does_not_go_on(studies: Path, name: str) -> None:
    """Keys and masks of protocol 1 are worth nothing in protocol 3: the log is left as it is."""
    folder = StudyFolder(studies / "office" / f"stay-{name}")
    before = folder.log.read_bytes()
    with pytest.raises(LogFailed, match=r"began under a protocol older than murmure 0\.6") as refused:
        CoordinatorStore(folder.log, folder.study.digest)

    assert "murmure study result" in str(refused.value.hint) and folder.log.read_bytes() == before


def test_a_study_that_never_ran_is_served_by_this_release(studies: Path) -> None:
    folder = StudyFolder(studies / "office" / "stay-next")
    store = CoordinatorStore(folder.log, folder.study.digest)

    assert list(store.events()) == []
    store.close()


def test_the_coordinator_remembers_whose_sums_it_released(studies: Path) -> None:
    """The cohorts of 0.5.0 hold: the sum over all of them is asked again, the one over fewer would isolate a party."""
    study = StudyFolder(studies / "office" / "stay-exact").study
    log = ReleaseLog(studies / "office" / "released.db")
    log.check(study, 1, (0, 1, 2))
    other = StudyFolder(studies / "office" / "stay-declined").study
    log.check(other, 1, (0, 1, 2))
    with pytest.raises(CohortRefused):
        log.check(other, 1, (0, 1))


@pytest.mark.parametrize("home", STUDIES["parties"])
def test_a_party_remembers_what_it_did_and_paid(studies: Path, home: str) -> None:
    """Card, studies, decisions, cohorts that it let go, and what noise has cost: also of a study in the middle."""
    said, folder = STUDIES["parties"][home], studies / home

    for word in ("card", "status", "history"):
        now = command("party", word, "--home", folder)
        assert {**now, "folder": None} == {**said[word], "folder": None}
    for name in ("exact", "blurred") if home == "north" else ():
        now = command("party", "result", STUDIES["studies"][name]["show"]["digest"], "--home", folder)
        check_results(now, said[f"result of {name}"], "cohort")


def test_a_party_charges_what_it_paid_under_0_5_against_its_budget(studies: Path) -> None:
    """Two noisy studies of epsilon 1 were paid, one of which never ended: another one does not fit into 2."""
    store = PartyFolder(studies / "north").store
    charges = store.charges()

    assert [charge.name for charge in charges] == ["Stay blurred", "Stay middle"]
    assert {charge.protects for charge in charges} == {ProtectedUnit("add/remove", "row", 1)}
    next_study = Study.open(DOCUMENTS["noise"]["signed"].encode())
    Policy(minimum_parties=3, budget=3.0).check_budget(next_study, charges)
    with pytest.raises(mu.MurmureError, match="budget"):
        Policy(minimum_parties=3, budget=1.5).check_budget(next_study, charges)


def test_folders_are_read_where_nothing_can_be_written(studies: Path) -> None:
    """By somebody who may not write there, as on a read-only file system: no lock, journal or file is needed."""

    def look(place: Path) -> Any:
        result = command("study", "result", place / "office" / "stay-exact")
        return result, command("party", "history", "--home", place / "north")

    expected = look(studies)  # also imports all that is needed, which another user may not be allowed to
    place = Path(tempfile.mkdtemp())
    try:
        shutil.copytree(FOLDER / "studies", place, dirs_exist_ok=True)
        for path in (place, *place.rglob("*")):
            path.chmod(0o500 if path.is_dir() else 0o400)
            if os.geteuid() == 0:
                os.chown(path, NOBODY, NOBODY)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                if os.geteuid() == 0:
                    os.setuid(NOBODY)
                status = 0 if look(place) == expected else 2
            finally:
                os._exit(status)

        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        for path in (place, *place.rglob("*")):
            path.chmod(0o700)
        shutil.rmtree(place)


# -- what learners and models paid -------------------------------------------------------------------------------------


def test_a_fit_that_was_paid_under_0_5_is_another_one_now() -> None:
    """Its questions read missing numbers otherwise. Under the old name the old answers would be found, and refused."""
    entries = load("ledger/meaning.json")["database"]["entries"]
    names = {entry["about"]: entry["plan"] for entry in entries if entry["kind"] == "charge"}
    schema = mu.Schema.load(FOLDER / "ledger" / "schema.toml")
    bayes = NaiveBayes(schema, target="smoker", privacy=mu.Central(epsilon=1.0))
    linear = LinearRegression(schema, target="age", privacy=mu.Central(epsilon=1.0, delta=1e-6))

    for learner in (bayes, linear):
        old = names[f"{type(learner).__name__} of 2 columns"]
        assert learner._digest(schema, learner.privacy) != old
