"""What a person at a party reads: which row is wrong and what to do, what the figures are, who would be told apart."""

from __future__ import annotations

import http.server
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from murmure.cli.party import _history_lines
from murmure.cli.party_options import print_study
from murmure.core.errors import InvalidParameter, MissingColumn, OutsideDomain
from murmure.parties.http.address import Address
from murmure.parties.http.client import Client
from murmure.parties.party.local_sums import compute_local_sums
from murmure.parties.party.refusals import Untrusted
from murmure.parties.study.cohort_guard import check_cohort
from murmure.parties.study.costs import study_cost_in_words
from murmure.parties.study.document import Study
from murmure.parties.study.round_figures import figures_of
from murmure.secure.errors import CohortRefused
from murmure.secure.identity import Card, Identity

OFFICE = Identity.from_bytes(bytes([9]) * 32).card("Office")
CARDS = tuple(Identity.from_bytes(bytes([i + 1]) * 32).card(f"Hospital {i}") for i in range(5))
TEXT = """
name = "Stay"
purpose = "To plan beds."
minimum_parties = 4
least_rows = 30

[columns.age]
type = "integers"
low = 18
high = 99

[columns.cost]
type = "real"
low = 0
high = 100

[columns.ward]
type = "categories"
values = ["icu", "other"]

[[queries]]
sums = ["age", "cost", "ward == 'icu'"]
"""


def study_of(folder: Path, text: str = TEXT, cards: tuple[Card, ...] = CARDS) -> Study:
    (folder / "study.toml").write_text(text)
    return Study.from_toml(folder / "study.toml", cards, OFFICE)


def rows_of(folder: Path, wrong: str, header: str = "age,cost,ward") -> Path:
    """The 17th row is the wrong one: row 16 of the core, line 18 of the file."""
    good = ["20,1.5,icu"] * 40
    (folder / "rows.csv").write_text("\n".join([header, *good[:16], wrong, *good]) + "\n")
    return folder / "rows.csv"


@pytest.mark.parametrize(
    ("wrong", "kind", "said", "hint"),
    [
        ("250,1,icu", OutsideDomain, "holds 250", "correct the row, or agree with the coordinator"),
        ("20,1,ICU", OutsideDomain, "holds 'ICU'", "correct the row, or agree with the coordinator"),
        (",1,icu", OutsideDomain, "has no value", "give it a value or leave the row out"),
        ("20,1,", OutsideDomain, "has no value", "give it a value or leave the row out"),
        ("abc,1,icu", InvalidParameter, "'age' holds 'abc'", "correct the row"),
    ],
)
def test_a_wrong_row_is_counted_as_people_count(tmp_path: Path, wrong: str, kind: Any, said: str, hint: str) -> None:
    """From 1, and in a CSV also by its line; the advice is one that a party can follow."""
    with pytest.raises(kind) as caught:
        compute_local_sums(study_of(tmp_path), rows_of(tmp_path, wrong))
    message = str(caught.value)
    assert "row 17 (the first is row 1; line 18 of the CSV with its header)" in message and said in message
    assert hint in caught.value.hint and caught.value.hint.endswith("nothing was sent")
    assert "Column(" not in message and "randomised" not in message and "from 0" not in message


def test_rows_that_are_no_file_have_no_line(tmp_path: Path) -> None:
    columns = {"age": [20, 250], "cost": [1.0, 1.0], "ward": ["icu", "icu"]}
    with pytest.raises(OutsideDomain, match=r"row 2 \(the first is row 1\) holds 250"):
        compute_local_sums(study_of(tmp_path), columns)


def test_a_missing_column_is_named_in_the_words_of_a_study(tmp_path: Path) -> None:
    with pytest.raises(MissingColumn) as caught:
        compute_local_sums(study_of(tmp_path), {"age": [20], "ward": ["icu"]})
    assert "'cost'" in str(caught.value) and "the study reads this column" in caught.value.hint
    assert "domain" not in str(caught.value) and "mapping" not in str(caught.value)


def test_rounded_numbers_are_said_beside_exact_sums(tmp_path: Path) -> None:
    """100 in 1,024 cells: the sum is exact for numbers that were rounded."""
    plan = study_of(tmp_path).plans[0]
    figures = figures_of(plan, [3, 60, 3 * 1024, 1])
    assert figures.exact and figures.grids == {"cost": Fraction(100, 1024)}
    (note,) = figures.notes()
    assert note.startswith("“cost” was rounded to steps of 0.09765625")
    assert figures.promise() == "The totals are exact: no differential privacy hides what one row adds."
    assert figures.to_dict()["grids"] == {"cost": "0.09765625"}


def test_noisy_figures_say_what_their_ranges_are(tmp_path: Path) -> None:
    text = TEXT.replace('"cost", ', "") + "\n[[queries]]\nsums = ['age ** 2']\n[noise]\nepsilon = 1.0\n"
    study = study_of(tmp_path, text)
    figures = figures_of(study.plans[0], [4000, 90])
    assert [("95%" in line, "hides how many rows" in line) for line in figures.notes()] == [
        (True, False),
        (False, True),
    ]
    assert figures.promise().startswith("Differential privacy: epsilon = 0.5 (")
    assert study_cost_in_words(study) == "epsilon = 1"


def test_the_guard_names_a_party_of_an_earlier_roster(tmp_path: Path) -> None:
    """It is not in this study, but this party knows it from one that it joined."""
    keys = [card.key.hex() for card in CARDS]
    now = study_of(tmp_path, cards=CARDS[:4])
    before = [(frozenset(keys), 1)]
    with pytest.raises(CohortRefused, match=CARDS[4].fingerprint):
        check_cohort(now, frozenset(keys[:4]), before)
    with pytest.raises(CohortRefused, match=r"\(Hospital 4\)"):
        check_cohort(now, frozenset(keys[:4]), before, lambda: {keys[4]: "Hospital 4"})


def test_who_is_not_asked_is_told_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = study_of(tmp_path)
    for key, told in ((CARDS[0].key, False), (OFFICE.key, True), (None, False)):
        print_study(study, key)
        assert ("You are not among those who are asked" in capsys.readouterr().out) is told


def test_https_where_http_is_spoken() -> None:
    """Said at once and in words; trying again would not help."""
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    server.RequestHandlerClass.log_message = lambda *of: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        address = Address.of(f"https://127.0.0.1:{server.server_port}")
        with (
            Client(address, patience=60.0) as client,
            pytest.raises(Untrusted, match="does not answer with TLS") as caught,
        ):
            client.study()
        assert f"http://127.0.0.1:{server.server_port}" in caught.value.hint
    finally:
        server.shutdown()
        server.server_close()


def test_history_is_in_the_order_of_time() -> None:
    """A sum was let go after its study was approved and before it was finished, also within one second."""

    def decided(at: str, decision: str, study: str) -> dict[str, str]:
        return {"at": at, "decision": decision, "study": study * 64, "name": study, "why": "test"}

    def let_go(at: str, study: str) -> dict[str, Any]:
        held = {"round": 1, "columns": ["age"], "exact": True, "certain": True, "members": ["x"] * 3}
        return {"at": at, "study": study * 64, "name": study, **held}

    decisions = [decided("1", "approved", "a"), decided("1", "finished", "a"), decided("3", "approved", "b")]
    lines = list(_history_lines(decisions, [let_go("1", "a"), let_go("4", "b")]))
    assert [line.split()[1] for line in lines] == ["approved", "released", "finished", "approved", "released"]
