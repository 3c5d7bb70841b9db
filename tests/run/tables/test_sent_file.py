"""Reports in JSON: written and read piece by piece, each checked against the law; damaged files are refused."""

from __future__ import annotations

import itertools
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.run.tables.question_plans import PLANS, reports
from tests.run.tables.test_question_tables import figures

import murmure as mu
from murmure.core.errors import EmptySource, InvalidParameter, MurmureError, PlanMismatch, PlanRefused
from murmure.plan.reports import Reports
from murmure.plan.sent_reports import sent
from murmure.run.tables import sent_file
from murmure.run.tables.sent_file import SentFile, is_sent_file, sent_pieces

DOMAIN = mu.Categories(["never", "once", "often"])
PLAN = mu.Plan(mu.Histogram(DOMAIN), person=mu.GRR(DOMAIN, epsilon=1.0))


def written(plan: Any, blocks: Any, path: Path) -> Path:
    path.write_text("".join(sent_pieces(plan, blocks)), encoding="utf-8")
    return path


def secure(made: Reports) -> Reports:
    return Reports(made.data, made.plan, seeded=False)


@pytest.mark.parametrize("name", PLANS)
def test_a_file_gives_the_figures_of_its_reports(name: str, tmp_path: Path) -> None:
    plan = PLANS[name]
    made = reports(plan)

    released = mu.estimate(written(plan, [made], tmp_path / "reports.json"))

    assert figures(released) == figures(plan.estimate(made))
    assert released.randomised_outside


@pytest.mark.parametrize("name", PLANS)
def test_the_file_is_the_reports_as_they_were_sent(name: str, tmp_path: Path) -> None:
    plan = PLANS[name]
    made = secure(reports(plan, 40))

    document = json.loads(written(plan, [made], tmp_path / "reports.json").read_text(encoding="utf-8"))

    assert document == {
        "murmure_reports": 1,
        "plan": json.loads(plan.to_json()),
        "reports": [one["report"] for one in sent(plan, made)],
    }


def test_blocks_of_any_size_are_one_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = reports(PLAN, 100)
    ends = [0, 0, 1, 70, 70, 100]
    blocks = [Reports(made.data[a:b], made.plan, seeded=True) for a, b in itertools.pairwise(ends)]
    monkeypatch.setattr(sent_file, "BLOCK", 7)

    file = SentFile(written(PLAN, blocks, tmp_path / "r.json"))
    back = list(file.blocks())

    assert [len(block) for block in back] == [7] * 14 + [2]
    assert np.concatenate([block.data for block in back]).tolist() == made.data.tolist()
    assert file.seeded


def test_a_seed_is_not_forgotten(tmp_path: Path) -> None:
    """One seeded block is enough; secure reports write the three keys of the format and no other."""
    made = reports(PLAN, 50)
    mixed = written(PLAN, [secure(made), made], tmp_path / "mixed.json")
    clean = written(PLAN, [secure(made)], tmp_path / "clean.json")

    assert mu.estimate(mixed).seeded and not mu.estimate(clean).seeded
    assert list(json.loads(clean.read_text())) == ["murmure_reports", "plan", "reports"]


def test_a_file_that_another_program_wrote_in_its_manner_is_read(tmp_path: Path) -> None:
    path = written(PLAN, [reports(PLAN, 50)], tmp_path / "r.json")
    document = json.loads(path.read_text())
    wanted = figures(mu.estimate(path))

    for text in (json.dumps(document, indent=4, sort_keys=True), "\ufeff" + json.dumps(document)):
        path.write_text(text, encoding="utf-8")
        assert figures(mu.estimate(path)) == wanted


def test_other_plans_are_refused(tmp_path: Path) -> None:
    other = mu.Plan(mu.Histogram(DOMAIN), person=mu.GRR(DOMAIN, epsilon=2.0))
    path = written(PLAN, [reports(PLAN, 50)], tmp_path / "r.json")

    with pytest.raises(PlanMismatch, match="answers plan"):
        mu.estimate(path, other)
    with pytest.raises(PlanMismatch, match="answer plan"):
        "".join(sent_pieces(other, [reports(PLAN, 50)]))
    assert mu.estimate(path, PLAN).estimate.n == 50


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "kind", "words"),
    [
        ('"murmure_reports":1', '"murmure_reports":2', InvalidParameter, "version 2"),
        ('"murmure_reports":1', '"murmure_reports":true', InvalidParameter, "version True"),
        ('"murmure_reports"', '"murmure"', InvalidParameter, "wanted the key 'murmure_reports', got 'murmure'"),
        ('"plan":', '"plans":', InvalidParameter, "wanted the key 'plan'"),
        ('"reports":', '"report":', InvalidParameter, "wanted the key 'reports'"),
        ('"epsilon":1.0', '"epsilon":2.0', PlanRefused, "refused"),
        ('"GRR"', '"OUE"', MurmureError, "refused"),
        ("[\n", "[\n3,", InvalidParameter, "report 0: this is not a report of the plan"),
        ("[\n", "[\n1.0,", InvalidParameter, "not a report"),
        ("[\n", "[\ntrue,", InvalidParameter, "not a report"),
        ("[\n", "[\nNaN,", InvalidParameter, "not a report"),
        ("[\n", "[\nnull,", InvalidParameter, "not a report"),
        ("[\n", "[\n{},", InvalidParameter, "not a report"),
        ("[\n", "[\n,", InvalidParameter, "not a file of reports"),
        ("]}\n", "]", InvalidParameter, "got the end of the file"),
        ("]}\n", "]} more", InvalidParameter, "wanted the end"),
        ("]}\n", '],"seeded":1}', InvalidParameter, "true or false"),
        ("]}\n", '],"other":1}', InvalidParameter, "wanted the key 'seeded'"),
    ],
)
def test_a_file_that_was_changed_is_refused(old: str, new: str, kind: Any, words: str, tmp_path: Path) -> None:
    path = written(PLAN, [secure(reports(PLAN, 50))], tmp_path / "r.json")
    assert mu.estimate(path).estimate.n == 50  # nothing else is wrong with it
    change(path, old, new)

    with pytest.raises(kind, match=words):
        mu.estimate(path)


def test_wherever_a_file_is_cut_it_is_refused(tmp_path: Path) -> None:
    """A cut between two reports too: fewer reports would be other figures, and nobody would notice."""
    path = written(PLAN, [reports(PLAN, 50)], tmp_path / "r.json")
    text = path.read_text(encoding="utf-8").rstrip()

    for end in [*range(0, len(text), 37), *range(len(text) - 60, len(text))]:
        path.write_text(text[:end], encoding="utf-8")
        with pytest.raises(MurmureError):
            mu.estimate(path)


def test_the_report_that_is_wrong_is_named(tmp_path: Path) -> None:
    """In every block, not only in the first."""
    made = secure(reports(PLAN, 20_000))
    path = written(PLAN, [made], tmp_path / "r.json")
    lines = path.read_text().splitlines()
    lines[3 + 12_345] = "7,"
    path.write_text("\n".join(lines))

    with pytest.raises(InvalidParameter, match=r"report 12,345: .* wanted a whole number from 0 to 2, got 7"):
        mu.estimate(path)


def test_files_that_are_something_else(tmp_path: Path) -> None:
    for name, data, words in (
        ("plan.json", PLAN.to_json().encode(), "not a file of reports"),
        ("list.json", b"[1,2]", "wanted {, got"),
        ("empty.json", b"", "got the end of the file"),
        ("binary.json", b"\xff\xfe\x00", "not text in UTF-8"),
        ("deep.json", b'{"murmure_reports":' + b"[" * 100_000, "not a file of reports"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InvalidParameter, match=words):
            mu.estimate(tmp_path / name)
    with pytest.raises(InvalidParameter, match="no such file"):
        mu.estimate(tmp_path / "missing.json")


def test_no_reports_are_nobody(tmp_path: Path) -> None:
    with pytest.raises(EmptySource, match="has no reports"):
        mu.estimate(written(PLAN, [], tmp_path / "r.json"))


def test_a_plan_without_reports_is_refused(tmp_path: Path) -> None:
    path = written(PLAN, [reports(PLAN, 5)], tmp_path / "r.json")
    document = json.loads(path.read_text())
    clear = mu.Plan(mu.Histogram(DOMAIN))
    path.write_text(json.dumps(document | {"plan": json.loads(clear.to_json())}))

    with pytest.raises(InvalidParameter, match="without a mechanism at the person"):
        mu.estimate(path)


def test_one_file_at_a_time_and_no_engine(tmp_path: Path) -> None:
    path = written(PLAN, [reports(PLAN, 5)], tmp_path / "r.json")

    assert is_sent_file(str(path).upper()) and is_sent_file([path]) and not is_sent_file("r.csv-metadata.json.csv")
    assert mu.estimate([str(path)]).estimate.n == 5
    with pytest.raises(InvalidParameter, match="one file, got 2"):
        mu.estimate([path, path])
    with pytest.raises(InvalidParameter, match="no engine"):
        mu.estimate(path, engine=mu.Memory())


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Writing and reading 200,000 reports takes less than ten bytes for each; as a list they would take 30 and more."""
    n = 200_000
    block = secure(reports(PLAN, n // 20))
    path = tmp_path / "r.json"
    tracemalloc.start()
    with path.open("w", encoding="utf-8") as file:
        for piece in sent_pieces(PLAN, (block for _ in range(20))):
            file.write(piece)
    total = mu.estimate(path).estimate.n
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert total == n
    assert peak < 10 * n + (1 << 20)
