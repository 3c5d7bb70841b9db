"""`murmure estimate`: a sanitised table and nothing else, read with error bars."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from murmure.cli import main
from murmure.core.column import Column
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.local.rsfd import RSFD
from murmure.local.smp import SMP
from murmure.local.spl import SPL, Plain
from murmure.run.tables.estimator import estimate
from murmure.run.tables.sanitiser import sanitise

SCHEMA = Schema(
    {
        "smoker": Categories(["no", "yes"]),
        "region": Categories(["A", "B", "C"]),
        "kids": Integers(0, 4),
        "income": Interval(0.0, 100.0, cells=50),
        "w": Column(Interval(0.0, 4.0), public=True),
    }
)
N = 4000


def people() -> pa.Table:
    r = np.random.default_rng(5)
    smoker = r.choice(["no", "yes"], N, p=[0.7, 0.3])
    return pa.table(
        {
            "smoker": smoker,
            "region": r.choice(["A", "B", "C"], N, p=[0.5, 0.4, 0.1]),
            "kids": r.integers(0, 5, N),
            "income": r.uniform(0, 100, N),
            "w": np.where(smoker == "yes", 3.0, 1.0),
        }
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same people, sanitised in several ways."""
    folder = tmp_path_factory.mktemp("sanitised")
    pq.write_table(people(), folder / "people.parquet")
    mechanisms = {
        "smp.parquet": SMP(SCHEMA, 4.0),
        "smp.csv": SMP(SCHEMA, 4.0),
        "spl.parquet": SPL(SCHEMA, 8.0),
        "spl.arrow": SPL(SCHEMA, 8.0, oracle="OUE"),
        "plain.parquet": Plain(SCHEMA, 4.0),
    }
    for i, (name, mechanism) in enumerate(mechanisms.items()):
        sanitise(folder / "people.parquet", mechanism, folder / name, rng=Random.seeded(i))
    return folder


def call(*args: Any) -> Result:
    return CliRunner().invoke(main, ["estimate", *map(str, args)])


def answer(*args: Any) -> dict[str, Any]:
    result = call(*args, "--json")
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))


def refused(result: Result, *words: str) -> None:
    assert result.exit_code == 2, (result.output, result.exception)
    for word in words:
        assert word in result.output, result.output


# ---- figures


@pytest.mark.parametrize("name", ["smp.parquet", "smp.csv", "spl.arrow"])
def test_every_column(made: Path, name: str) -> None:
    """The figures of the library, means of numbers besides, intervals and what they cost."""
    said = answer(made / name)
    held = estimate(made / name)
    shares = [f for f in said["figures"] if f.get("share") is not None]
    means = {f["column"]: f for f in said["figures"] if "value" in f}

    expected = [float(v) for name in ("smoker", "region", "kids") for v in held.estimate[name].mean]
    assert [f["share"] for f in shares] == expected
    assert all(f["low"] <= f["share"] <= f["high"] or f["share"] < 0 for f in shares)
    assert set(means) == {"kids", "income"}
    assert means["kids"]["value"] == pytest.approx(held.estimate.means["kids"].mean[0])
    assert said["people"] == N and said["plan"] == held.plan and said["seeded"]
    assert said["guarantees"]["reader"]["epsilon"] <= said["guarantees"]["reader"]["asked"]
    assert said["protects"].startswith("one row")


def test_words(made: Path) -> None:
    text = call(made / "smp.parquet").stdout

    assert "SEEDED RANDOMNESS: an experiment, not for real people" in text
    assert "95% intervals by " in text and "for these people (fixed population)" in " ".join(text.split())
    assert all(title in text.splitlines() for title in ("smoker", "kids", "mean of kids", "mean of income"))
    assert "A whole row\nepsilon = 4 (asked for 4)" in text and "One attribute\nepsilon = 4" in text
    assert "It protects one row" in text


def test_columns_without_figures_say_why(made: Path) -> None:
    """Bounded reports lean to the middle: no mean, no NaN in JSON."""
    text = call(made / "plain.parquet").stdout
    said = answer(made / "plain.parquet")

    assert "no figure: reports near a bound can only err inward" in " ".join(text.split())
    odd = [f for f in said["figures"] if f["column"] == "income"]
    assert [f["share"] for f in odd] == [None] and "err inward" in odd[0]["reason"]


def test_target_level_and_all_at_once(made: Path) -> None:
    def widths(*args: Any) -> list[float]:
        return [f["high"] - f["low"] for f in answer(made / "spl.parquet", *args)["figures"]]

    plain, high, wide, together = (
        widths(*args) for args in ((), ("--level", 0.99), ("--target", "superpopulation"), ("--simultaneous",))
    )
    assert all(a < b for a, b in zip(plain, high, strict=True))
    assert sum(plain) < sum(wide)
    assert all(a < b for a, b in zip(plain, together, strict=True))
    said = answer(made / "spl.parquet", "--simultaneous", "--columns", "smoker,region")
    assert said["level"] == 0.95 and said["level_each"] == pytest.approx(1 - 0.05 / 5)
    text = call(made / "spl.parquet", "--simultaneous", "--target", "superpopulation", "--columns", "smoker").stdout
    words = "for the population they were drawn from (superpopulation); all that are shown hold at once (each at 97.5%)"
    assert words in " ".join(text.split()) and "95% intervals by" in text


def test_consistent_shares_are_apart(made: Path) -> None:
    said = answer(made / "smp.parquet", "--consistent", "--columns", "region")
    text = " ".join(call(made / "smp.parquet", "--consistent", "--columns", "region").stdout.split())

    assert sum(f["share"] for f in said["consistent"]) == pytest.approx(1)
    assert all(f["share"] >= 0 and "low" not in f for f in said["consistent"])
    assert "They are biased, and have no error bars." in text


def test_pairs(made: Path) -> None:
    said = answer(made / "spl.parquet", "--pair", "smoker,region", "--truth", made / "people.parquet")
    table = people()
    true = np.mean((np.array(table["smoker"]) == "no") & (np.array(table["region"]) == "A"))

    assert said["figures"] == [] and len(said["pairs"]) == 6
    assert said["pairs"][0] | {"columns": ["smoker", "region"], "label": "no, A"} == said["pairs"][0]
    assert said["pairs"][0]["truth"] == pytest.approx(true)
    both = answer(made / "spl.parquet", "--pair", "smoker,region", "--columns", "kids")
    assert {f["column"] for f in both["figures"]} == {"kids"} and len(both["pairs"]) == 6
    refused(call(made / "smp.parquet", "--pair", "smoker,region"), "carry no information about pairs", "sample=2")
    refused(call(made / "spl.parquet", "--pair", "smoker"), "--pair takes two columns")
    refused(call(made / "spl.parquet", "--pair", "smoker,age"), "'age' is not a private column")


def test_truth(made: Path) -> None:
    """A column of its own, labelled; it is what stands in the original, within the intervals where it should be."""
    text = call(made / "spl.parquet", "--truth", made / "people.parquet").stdout
    said = answer(made / "spl.parquet", "--truth", made / "people.parquet")
    table = people()

    heads = [line.split() for line in text.splitlines() if line.split()[-1:] == ["truth"]]
    assert len(heads) == 5 and text.count("truth (simulation)") == 1  # a column of each table, and a note
    by = {(f["column"], f["label"]): f for f in said["figures"]}
    assert by["smoker", "yes"]["truth"] == np.mean(np.array(table["smoker"]) == "yes")
    assert by["kids", "mean"]["truth"] == pytest.approx(np.mean(table["kids"]))
    assert by["income", "mean"]["truth"] == pytest.approx(np.mean(table["income"]), abs=1.0)  # on its grid
    inside = [f["low"] <= f["truth"] <= f["high"] for f in said["figures"]]
    assert sum(inside) >= len(inside) - 2  # seed 2: 12 intervals of 95 %, P[3 or more miss] < 0.02
    assert said["truth"] == {"rows": N, "left_out": 0}


def test_survey_weights(made: Path) -> None:
    """Smokers count three times."""
    said = answer(made / "spl.parquet", "--weights", "w", "--truth", made / "people.parquet", "--columns", "smoker")
    yes = said["figures"][1]
    share = np.mean(np.array(people()["smoker"]) == "yes")

    assert yes["truth"] == pytest.approx(3 * share / (1 + 2 * share))
    assert abs(yes["share"] - yes["truth"]) < 4 * yes["sd"]
    refused(call(made / "spl.parquet", "--weights", "kids"), "--weights must be a public column")


def test_pictures_and_pages(made: Path, tmp_path: Path) -> None:
    svg, png, page, pair = (tmp_path / name for name in ("a.svg", "a.png", "a.html", "pair.html"))
    truth = ("--truth", made / "people.parquet")
    assert answer(made / "spl.parquet", "--plot", svg, "--html", page, *truth)["html"] == str(page)
    call(made / "spl.parquet", "--plot", png, "--html", pair, "--pair", "kids,region", *truth)

    assert "<svg" in svg.read_text() and png.read_bytes().startswith(b"\x89PNG")
    assert "region" in page.read_text() and "kids" in pair.read_text()
    refused(call(made / "spl.parquet", "--plot", tmp_path / "a.txt"), "--plot draws to")
    refused(call(made / "spl.parquet", "--html", tmp_path / "no" / "a.html"), "cannot write")
    refused(call(made / "spl.parquet", "--html", pair, "--pair", "kids,region", "--columns", "kids"), "one pair")


def test_a_page_of_all_at_once_says_the_level_that_was_asked_for(made: Path, tmp_path: Path) -> None:
    """And the picture's legend; page, picture and figures use the same level for each."""
    page, svg = tmp_path / "a.html", tmp_path / "a.svg"
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        said = answer(made / "spl.parquet", "--simultaneous", "--html", page, "--plot", svg)
    first = said["figures"][0]

    assert said["level"] == 0.95 and said["level_each"] == pytest.approx(1 - 0.05 / 12)
    assert "95% interval; all of them hold at once (each at 99.6%)" in page.read_text()
    assert "99.58" not in page.read_text()
    assert f"{100 * first['low']:.1f} to {100 * first['high']:.1f}%" in page.read_text()
    assert "95% interval, all at once" in svg.read_text()


def test_weights_and_the_plan_are_named_everywhere(made: Path, tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    said = answer(made / "spl.parquet", "--weights", "w", "--html", page)
    text = " ".join(call(made / "spl.parquet", "--weights", "w").stdout.split())

    assert said["weights"] == "w" and answer(made / "spl.parquet")["weights"] is None
    assert "95% intervals by " in text and ", weighted by column 'w', for these people" in text
    assert "the public column <b>w</b> says" in page.read_text()
    for args in (("--weights", "w"), ("--pair", "smoker,region"), ()):
        plan = answer(made / "spl.parquet", *args, "--html", page)["plan"]
        assert plan == said["plan"] and page.read_text().count(plan) == 2  # in two languages
        assert plan[:12] in call(made / "spl.parquet", *args).stdout


def test_a_page_of_a_pair_is_about_rows(made: Path, tmp_path: Path) -> None:
    page = tmp_path / "pair.html"
    call(made / "spl.parquet", "--pair", "smoker,region", "--html", page)
    said = page.read_text()

    assert "the whole record" in said and "one attribute of it" in said and "4,000 rows" in said
    assert "Each further row of a person adds as much again" in said and "smoker \u201cyes\u201d" in said


def test_nothing_else_is_written_over(made: Path, tmp_path: Path) -> None:
    """Neither an input nor what else is there; the error names the file, whatever options are called."""
    source, photo, html = made / "spl.parquet", tmp_path / "photo.png", tmp_path / "notes.html"
    photo.write_text("a,b\n")
    html.write_text("<p>mine</p>")
    linked = tmp_path / "linked.html"
    linked.symlink_to(source)
    before = source.read_bytes()

    refused(call(source, "--html", source), "one of the tables being read")
    refused(call(source, "--html", linked), "one of the tables being read")
    refused(call(source, "--html", made / "a.html", "--truth", tmp_path / "no.csv"), "there is no file")
    refused(call(made / "smp.csv", "--html", made / "smp.csv-metadata.json"), "end in .html or .htm")
    refused(call(source, "--html", html), "notes.html' exists and is not a page that Murmure wrote")
    refused(call(source, "--plot", photo), "photo.png' exists and is not a PNG picture")
    refused(call(source, "--html", tmp_path / "nodir" / "x.html"), "nodir/x.html'", "create the folder first")
    assert source.read_bytes() == before and html.read_text() == "<p>mine</p>" and photo.read_text() == "a,b\n"
    assert call(source, "--html", tmp_path / "new.html").exit_code == 0
    assert call(source, "--html", tmp_path / "new.html").exit_code == 0  # a page of ours


def test_a_full_disk_gets_a_way_out(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    refused(
        call(made / "spl.parquet", "--html", tmp_path / "x.html"), "x.html': no space left on device", "free some space"
    )


def test_many_values_on_a_terminal(tmp_path: Path) -> None:
    """The first and the last, and how many more there are; JSON holds all."""
    schema = Schema({"town": Categories(90)})
    sanitise({"town": np.arange(900) % 90}, SPL(schema, 3.0), tmp_path / "t.parquet")

    assert "... 50 more rows ..." in call(tmp_path / "t.parquet").stdout
    assert len(answer(tmp_path / "t.parquet")["figures"]) == 90


def test_several_files(made: Path, tmp_path: Path) -> None:
    """Parts of one run are read together; of two runs with different plans they are refused."""
    table = pq.read_table(made / "spl.parquet")
    for i in range(2):
        pq.write_table(table.slice(i * 2000, 2000), tmp_path / f"part{i}.parquet")

    whole = answer(made / "spl.parquet")
    assert answer(tmp_path / "part0.parquet", tmp_path / "part1.parquet") == whole
    assert answer(tmp_path / "part*.parquet") == whole
    refused(call(made / "spl.parquet", made / "smp.parquet"), "were not written by the same run")


# ---- files that were changed


def rewritten(path: Path, out: Path, change: Any) -> Path:
    """The same table with other metadata."""
    table = pq.read_table(path)
    held = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    pq.write_table(table.replace_schema_metadata(change(held)), out)
    return out


def test_metadata_that_was_tampered_with(made: Path, tmp_path: Path) -> None:
    source, out = made / "spl.parquet", tmp_path / "t.parquet"

    def plan(old: str, new: str) -> Any:
        def change(held: dict[str, str]) -> dict[str, str]:
            assert old in held["murmure:plan"]
            return {**held, "murmure:plan": held["murmure:plan"].replace(old, new, 1)}

        return change

    refused(call(rewritten(source, out, plan('"epsilon": 8.0', '"epsilon": 1.0'))), "its integers are not those")
    refused(call(rewritten(source, out, plan('"murmure": 1', '"murmure": 9'))), "plan version 9")
    refused(call(rewritten(source, out, plan("{", ""))), "this is not a plan")
    refused(call(rewritten(source, out, plan('"type": "SPL"', '"type": "LPS"'))), "unknown part 'LPS'")
    refused(call(rewritten(source, out, lambda _: {})), "carries no plan")
    refused(call(made / "people.parquet"), "carries no plan")
    raw = (made / "smp.csv").read_text()
    (tmp_path / "smp.csv").write_text(raw)
    refused(call(tmp_path / "smp.csv"), "carries no plan")
    beside = (made / "smp.csv-metadata.json").read_text()
    (tmp_path / "smp.csv-metadata.json").write_text(beside)
    assert answer(tmp_path / "smp.csv")["people"] == N
    (tmp_path / "smp.csv").write_text(raw + '"no",,,\n')
    refused(call(tmp_path / "smp.csv"), "describes another")


def test_cells_that_were_tampered_with(made: Path, tmp_path: Path) -> None:
    """Another label, an empty cell, one report too many or too few: refused with row and column."""
    out = tmp_path / "t.parquet"

    def with_cell(name: str, column: str, value: Any) -> Path:
        table = pq.read_table(made / name)
        i = table.schema.names.index(column)
        kind = table.schema.field(i).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        cells = table[column].to_pylist()
        cells[7] = value
        pq.write_table(table.set_column(i, column, pa.array(cells, kind)), out)
        return out

    refused(call(with_cell("spl.parquet", "smoker", "maybe")), "column 'smoker': row 7 holds 'maybe'", "was changed")
    refused(call(with_cell("spl.parquet", "income", 50.123)), "column 'income': row 7 holds 50.123")
    refused(call(with_cell("spl.parquet", "kids", None)), "column 'kids': row 7 is missing")
    shown = next(n for n in SCHEMA.private if pq.read_table(made / "smp.parquet")[n][7].is_valid)
    hidden = "smoker" if shown != "smoker" else "region"
    refused(call(with_cell("smp.parquet", shown, None)), "row 7 shows 0 columns; wanted 1")
    refused(call(with_cell("smp.parquet", hidden, "no" if hidden == "smoker" else "A")), "row 7 shows 2 columns")
    whole = (made / "spl.parquet").read_bytes()
    out.write_bytes(whole[: len(whole) // 2])
    refused(call(out), "truncated, damaged")
    pq.write_table(pq.read_table(made / "spl.parquet").drop_columns(["kids"]), out)
    refused(call(out), "no column 'kids'")
    pq.write_table(pq.read_table(made / "spl.parquet").slice(0, 0), out)
    refused(call(out), "no rows")


def test_mistakes(made: Path) -> None:
    refused(CliRunner().invoke(main, ["estimate"]), "murmure estimate needs a sanitised table OUT.")
    refused(call(made / "no.parquet"), "there is no file")
    refused(call(made / "spl.parquet", "--columns", "smokers"), "there is no estimate of 'smokers'")
    refused(call(made / "spl.parquet", "--columns", "w"), "there is no estimate of 'w'")
    refused(call(made / "spl.parquet", "--level", 95), "--level must lie strictly between 0 and 1, got 95")
    refused(call(made / "spl.parquet", "--truth", "no.csv"), "there is no file 'no.csv'")


def test_fake_data(tmp_path: Path) -> None:
    """Bits of a record that hides which attribute is real; the witness is JSON too."""
    schema = Schema({"smoker": Categories(["no", "yes"]), "region": Categories(3)})
    sanitise(
        {"smoker": ["no", "yes"] * 500, "region": np.arange(1000) % 3},
        RSFD(schema, 2.0, oracle="OUE-z"),
        tmp_path / "f.csv",
    )
    said = answer(tmp_path / "f.csv")

    assert not said["seeded"] and len(said["figures"]) == 5
    assert said["guarantees"]["reader"]["witness"]["report"]
