"""The data sets of the lectures: found, checked, fetched, or invented and said to be. No real one is needed here."""

from __future__ import annotations

import gzip
import hashlib
import urllib.error
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from murmure.core.errors import CannotWrite, InvalidParameter, Phrase
from murmure.lectures.course import writing
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.item_result import ItemResult
from murmure.lectures.course.work import Work
from murmure.lectures.data_sets import open_ml, tables
from murmure.lectures.data_sets.data_files import DataNotFound, OtherVersion
from murmure.lectures.data_sets.folders import cache_folder
from murmure.lectures.data_sets.preparation import NEVER_ZERO, without_zeros
from murmure.lectures.data_sets.rows import canonical, digest_of
from murmure.lectures.data_sets.sources import ADULT, NURSERY, PIMA, SOURCES, DataSource
from murmure.lectures.data_sets.stand_in_columns import COLUMNS
from murmure.lectures.data_sets.tables import DataTable, find_table
from murmure.lectures.items.lecture_003 import attribute_inference

PIMA_TEXT = (
    "Pregnancies,Glucose,BloodPressure,SkinThickness,Insulin,BMI,DiabetesPedigreeFunction,Age,Outcome\n"
    "6,148,72,35,0,33.6,0.627,50,1\n"
    "1,85,66,29,0,26.60,0.351,31,0\n"
)
PIMA_ROWS = [line.split(",") for line in PIMA_TEXT.splitlines()[1:]]
ADULT_TRAIN = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, "
    "United-States, <=50K\n"
    "50, ?, 83311, Bachelors, 13, Divorced, ?, Husband, White, Male, 0, 0, 13, United-States, <=50K\n\n"
)
ADULT_TEST = (
    "|1x3 Cross validator\n"
    "25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, Male, 0, 0, 40, United-States, "
    ">50K.\n\n"
)


def adult_rows(*texts: str) -> list[list[str]]:
    lines = [line for text in texts for line in text.splitlines() if line and not line.startswith("|")]
    return [line.removesuffix(".").split(", ") for line in lines]


def small(source: DataSource, rows: list[list[str]], *contents: str) -> DataSource:
    """The source as if these rows were all of it."""
    marks = [hashlib.sha256(content.encode()).hexdigest() for content in contents]
    files = dict(zip(source.files, marks, strict=False)) or source.files
    return replace(source, files=files, digest=digest_of(canonical(source, rows)))


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Folders for files and for the cache, small versions of two data sets, and no network."""
    data, cache = tmp_path / "data", tmp_path / "cache"
    data.mkdir()
    monkeypatch.setenv("MURMURE_DATA", str(data))
    monkeypatch.setenv("MURMURE_CACHE", str(cache))
    pima = small(PIMA, PIMA_ROWS, PIMA_TEXT)
    adult = small(ADULT, adult_rows(ADULT_TRAIN, ADULT_TEST), ADULT_TRAIN, ADULT_TEST)
    monkeypatch.setattr(tables, "SOURCES", {**SOURCES, "pima": pima, "adult": adult})

    def no_network(number: int) -> Any:
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr(open_ml, "download", no_network)
    return data, cache


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_a_file_is_read_plain_or_compressed(folders: tuple[Path, Path], pack: Callable[[bytes], bytes]) -> None:
    name = "diabetes.csv" if pack is bytes else "diabetes.csv.gz"
    (folders[0] / name).write_bytes(pack(PIMA_TEXT.encode()))

    table = find_table("pima")

    assert table.columns["BMI"].tolist() == [33.6, 26.6]
    assert table.columns["Outcome"].tolist() == [1, 0] and table.columns["Outcome"].dtype == np.int64
    assert not table.invented


def test_adult_is_both_parts_without_rows_that_miss_a_value(folders: tuple[Path, Path]) -> None:
    """The comment of UCI's adult.test, the full stop of its labels and empty lines do not count."""
    (folders[0] / "adult.data").write_text(ADULT_TRAIN)
    (folders[0] / "adult.test.gz").write_bytes(gzip.compress(ADULT_TEST.encode()))

    table = find_table("adult")

    assert sorted(zip(table.columns["age"].tolist(), table.columns["salary"].tolist(), strict=True)) == [
        (25, ">50K"),
        (39, "<=50K"),
    ]


def test_codes_are_ranks_of_sorted_values() -> None:
    table = DataTable("x", {"age": np.array([30, 20, 94]), "sex": np.array(["M", "F", "M"])})

    assert {name: codes.tolist() for name, codes in table.codes().items()} == {"age": [1, 0, 2], "sex": [1, 0, 1]}
    assert [table.schema()[name].size for name in ("age", "sex")] == [3, 2]


@pytest.mark.parametrize(
    "text",
    [PIMA_TEXT.replace("148", "149"), "<html>not found</html>", PIMA_TEXT[:-20], "", PIMA_TEXT + "1,2\n"],
    ids=["a cell", "a web page", "cut off", "empty", "a short row"],
)
def test_another_version_is_refused(folders: tuple[Path, Path], text: str) -> None:
    """What, whose, wanted, got, and a way out; and neither cache nor stand-in hides it."""
    (folders[0] / "diabetes.csv").write_text(text)

    with pytest.raises(OtherVersion) as refused:
        find_table("pima", invent=True)
    message = str(refused.value)
    assert str(folders[0] / "diabetes.csv") in message
    assert hashlib.sha256(PIMA_TEXT.encode()).hexdigest() in message
    assert hashlib.sha256(text.encode()).hexdigest() in message
    assert "Hint:" in message


def test_a_damaged_archive_is_refused(folders: tuple[Path, Path]) -> None:
    (folders[0] / "diabetes.csv.gz").write_bytes(gzip.compress(PIMA_TEXT.encode())[:-12])

    with pytest.raises(OtherVersion, match=r"diabetes\.csv\.gz cannot be read"):
        find_table("pima")


def test_the_same_rows_in_other_bytes_are_accepted(folders: tuple[Path, Path]) -> None:
    """Windows line ends, a byte order mark, a number written with more digits."""
    text = "\ufeff" + PIMA_TEXT.replace("\n", "\r\n").replace("33.6", "33.600")
    (folders[0] / "diabetes.csv").write_bytes(text.encode())

    assert find_table("pima").columns["BMI"].tolist() == [33.6, 26.6]


def test_without_data_and_network_a_sentence_says_so(folders: tuple[Path, Path]) -> None:
    with pytest.raises(DataNotFound, match="could not be fetched from OpenML: no route to host") as missing:
        find_table("pima")
    assert "MURMURE_DATA" in str(missing.value) and "diabetes.csv" in str(missing.value)
    with pytest.raises(DataNotFound, match="'acs-employment' is not on this machine") as asked:
        find_table("acs-employment")
    assert "db_ACSEmployement.csv" in str(asked.value)


def test_a_folder_that_does_not_exist_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MURMURE_DATA", str(tmp_path / "nowhere"))

    with pytest.raises(DataNotFound, match="nowhere, which is not a folder"):
        find_table("nursery")


def test_an_unknown_data_set_gets_a_suggestion() -> None:
    with pytest.raises(InvalidParameter, match="did you mean 'adult'"):
        find_table("adlt")


# -- OpenML


PIMA_THERE = {
    "preg": ["6.0", "1.0"], "plas": ["148.0", "85.0"], "pres": ["72", "66"], "skin": ["35", "29"], "insu": ["0", "0"],
    "mass": ["33.6", "26.6"], "pedi": ["0.627", "0.351"], "age": ["50", "31"],
    "class": ["tested_positive", "tested_negative"],
}  # fmt: skip


def test_what_openml_has_becomes_the_rows_of_the_file(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fetched once: the second time it is in the cache, which is checked by the same digest."""
    asked: list[int] = []
    monkeypatch.setattr(open_ml, "download", lambda number: asked.append(number) or PIMA_THERE)

    fetched, again = find_table("pima"), find_table("pima")

    assert asked == [37]
    for name, column in fetched.columns.items():
        np.testing.assert_array_equal(column, again.columns[name])
    assert fetched.columns["Outcome"].tolist() == [1, 0]
    assert [file.name for file in folders[1].iterdir()] == ["pima.csv"]


def test_a_frame_of_scikit_learn_becomes_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers, labels and missing labels, as fetch_openml gives them; asked for by number, and kept nowhere else."""
    pandas, datasets = pytest.importorskip("pandas"), pytest.importorskip("sklearn.datasets")
    labels = pandas.Categorical(["Private", None], categories=["Private", "State-gov"])
    asked: dict[str, Any] = {}

    class Fetched:
        frame = pandas.DataFrame({"age": [39, 50], "pedi": [0.627, 0.351], "workclass": labels})

    monkeypatch.setattr(datasets, "fetch_openml", lambda **options: asked.update(options) or Fetched)

    columns = open_ml.download(1590)

    assert columns == {"age": ["39", "50"], "pedi": ["0.627", "0.351"], "workclass": ["Private", "nan"]}
    assert asked["data_id"] == 1590 and asked["cache"] is False


def test_rows_of_adult_may_come_in_another_order(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies differ in it, and OpenML marks what is missing in another way: the table is the same."""
    (folders[0] / "adult.data").write_text(ADULT_TRAIN)
    (folders[0] / "adult.test").write_text(ADULT_TEST)
    from_files = find_table("adult")
    names = [{"salary": "class"}.get(name, name) for name in ADULT.columns]
    rows = [[cell.replace("?", "nan") for cell in row] for row in adult_rows(ADULT_TEST, ADULT_TRAIN)]
    there = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    monkeypatch.setattr(open_ml, "download", lambda number: there)
    monkeypatch.delenv("MURMURE_DATA")

    fetched = find_table("adult")

    for name, column in from_files.columns.items():
        np.testing.assert_array_equal(column, fetched.columns[name])


@pytest.mark.parametrize(
    "there",
    [
        PIMA_THERE | {"age": ["50", "32"]},
        {"x": ["1"]},
        PIMA_THERE | {"mass": ["33.6"]},
        PIMA_THERE | {"age": ["a", "b"]},
    ],
    ids=["a cell", "other columns", "a short column", "words"],
)
def test_other_rows_of_openml_are_refused_and_not_kept(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, there: dict[str, list[str]]
) -> None:
    monkeypatch.setattr(open_ml, "download", lambda number: there)

    with pytest.raises(DataNotFound, match="OpenML's data set 37 has other rows"):
        find_table("pima")
    assert not folders[1].exists()


def test_a_half_written_cache_never_counts(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is fetched again and replaced; a write that fails leaves nothing."""
    monkeypatch.setattr(open_ml, "download", lambda number: PIMA_THERE)
    find_table("pima")
    kept = folders[1] / "pima.csv"
    whole = kept.read_bytes()
    tables._READ.clear()
    kept.write_bytes(whole[:-9])

    find_table("pima")

    assert kept.read_bytes() == whole
    tables._READ.clear()
    kept.unlink()
    folders[1].rmdir()
    folders[1].write_text("a file where the folder should be")
    with pytest.raises(CannotWrite):
        find_table("pima")


def test_the_cache_is_where_the_system_keeps_such_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MURMURE_CACHE", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "murmure"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which XDG's standard says to ignore
    assert cache_folder() == Path.home() / ".cache" / "murmure"
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache_folder() == Path.home() / "Library" / "Caches" / "murmure"
    monkeypatch.setenv("MURMURE_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"


# -- invented rows


@pytest.mark.parametrize("name", COLUMNS)
def test_invented_rows_have_the_columns_and_the_label_counts_of_the_real_ones(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """They come only when asked for, are marked, and are the same each time."""
    monkeypatch.setattr(tables, "iris_columns", lambda: None)
    table, again = find_table(name, invent=True), find_table(name, invent=True)
    sizes = {
        "adult": {"age": 74, "native-country": 41, "education": 16, "salary": 2},
        "acs-employment": {"AGEP": 92, "SCHL": 25, "RELP": 18, "ESR": 6},
        "nursery": {"parents": 3, "has_nurs": 5, "class": 5},
        "pima": {"Outcome": 2},
        "iris": {"species": 3},
    }

    assert table.invented
    if name in SOURCES:
        assert tuple(table.columns) == SOURCES[name].columns
    assert {column: len(set(table.columns[column].tolist())) for column in sizes[name]} == sizes[name]
    for column in table.columns:
        np.testing.assert_array_equal(table.columns[column], again.columns[column])


def test_zeros_of_pima_become_medians() -> None:
    table = DataTable("pima", {name: np.array([0, 2, 10, 3]) for name in (*NEVER_ZERO, "Pregnancies")})

    assert without_zeros(table).columns["BMI"].tolist() == [3, 2, 10, 3]
    assert without_zeros(table).columns["Pregnancies"].tolist() == [0, 2, 10, 3]


def test_a_page_and_json_say_that_rows_are_invented() -> None:
    measured = Measured(Phrase("nothing"), {"x": [1]})
    result = ItemResult("003/attribute-inference", measured, ("acs-employment",))

    assert "Invented rows stand in for acs-employment" in str(result)
    assert "Invented rows stand in for acs-employment" in str(result.blocks(None)[0])
    assert writing.as_json(result, writing.Settings())["run"]["invented"] == ["acs-employment"]
    assert "Invented" not in str(replace(result, invented=()))


def test_an_item_knows_which_of_its_data_are_invented(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And may read no data set that it does not name, so that nothing goes unsaid."""
    (folders[0] / "diabetes.csv").write_text(PIMA_TEXT)
    seen: list[Work] = []
    item = Item(
        Phrase("t"),
        Phrase("w"),
        lambda work: seen.append(work) or Measured(Phrase("f"), {"x": [1]}),  # type: ignore[func-returns-value]
        needs=("pima", "nursery"),
    )
    monkeypatch.setattr(attribute_inference, "ITEM", item)

    result = writing.measure("003/attribute-inference", writing.Settings(invent=True))

    assert result.invented == ("nursery",)
    assert len(seen[0].table("pima")) == 2
    with pytest.raises(RuntimeError, match="not in its needs"):
        seen[0].table("adult")


@pytest.mark.parametrize("source", [PIMA, ADULT, NURSERY, SOURCES["acs-employment"]], ids=lambda source: source.name)
def test_the_real_files_are_those_that_are_meant(source: DataSource) -> None:
    """Where MURMURE_DATA has them."""
    import os

    if not os.environ.get("MURMURE_DATA"):
        pytest.skip("MURMURE_DATA is not set")
    rows = {"pima": 768, "adult": 45_222, "nursery": 12_960, "acs-employment": 10_336}

    assert len(find_table(source.name)) == rows[source.name]
