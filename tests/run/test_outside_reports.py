"""`run(plan, reports=...)`: answers that people randomised themselves are read, and never randomised again."""

from __future__ import annotations

import html
import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.listing import listed
from tests.run.report.pages import report_html

import murmure as mu
import murmure.local
from murmure.core.notices import FAIR_DRAWS, RANDOMISED_OUTSIDE
from murmure.core.types import Total
from murmure.local.subset import SubsetSelection
from murmure.local.unary import PackedOracle
from murmure.run.outside_reports import count_reports, release_reports
from murmure.run.report_forms import form_of

QUESTION = mu.Categories(["no", "yes"])
COINS = mu.Plan(mu.Histogram(QUESTION), person=mu.Warner(QUESTION))
ANSWERS = ["no"] * 300 + ["yes"] * 200
SCHEMA = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "kids": mu.Integers(0, 4)})


def plan_of(mechanism: Any) -> mu.Plan | None:
    """A plan that this mechanism can answer: shares, or a mean; None where there is none."""
    for statistic in (mu.Histogram, mu.Mean):
        try:
            return mu.Plan(statistic(mechanism.domain), person=mechanism)
        except mu.MurmureError:
            continue
    return None


MECHANISMS = [example for _, example in listed("murmure.local")]
PLANS = [plan for mechanism in MECHANISMS if (plan := plan_of(mechanism)) is not None]
COUNTABLE = [plan for plan in PLANS if form_of(plan.person).countable]


def named(plan: mu.Plan) -> str:
    return f"{type(plan.person).__name__}-{plan.statistic.domain!r}-{plan.digest[:6]}"


def made(plan: mu.Plan, n: int = 300, seed: int = 5) -> mu.Reports:
    """Reports of people who hold the values in turn."""
    domain: Any = plan.statistic.domain
    numbers = domain.numbers()
    values = domain.values if isinstance(domain, mu.Categories) and not isinstance(domain.values, int) else numbers
    return plan.report(list(itertools.islice(itertools.cycle(values), n)), mu.Random.seeded(seed))


def written(plan: mu.Plan, reports: mu.Reports) -> Any:
    """What people would have written down, by another way than the code that reads it."""
    person, data, domain = plan.person, reports.data, plan.statistic.domain
    if isinstance(person, PackedOracle):
        bits = np.unpackbits(data.view(np.uint8), axis=1, bitorder="little")[:, : domain.size]
        if not isinstance(person, SubsetSelection):
            return bits
        return [[domain.label(code) for code in np.flatnonzero(row)] for row in bits]
    if isinstance(plan.statistic, mu.Mean):
        low, step, _ = domain.scale()
        return [low + step * float(person.readout[int(code)]) for code in data]
    if data.ndim == 1 and len(person.channel.outcomes()) == domain.size:
        return [domain.label(code) if isinstance(domain, mu.Categories) else domain.numbers()[code] for code in data]
    return data


@pytest.mark.parametrize("plan", PLANS, ids=named)
def test_written_reports_give_the_figures_of_the_same_reports(plan: mu.Plan) -> None:
    """For every mechanism of the package: the integers are the same, and so is every figure made of them."""
    reports = made(plan)
    release = mu.run(plan, reports=written(plan, reports))
    settled = plan.settle(Total(len(reports), plan.tallier.tally(reports.data)))

    assert release.estimate.n == len(reports)
    assert release.estimate.mean.tolist() == settled.estimate.mean.tolist()
    assert release.estimate.interval(0.9).tolist() == settled.estimate.interval(0.9).tolist()
    assert release.plan == settled.plan == plan.digest
    assert release.randomised_outside and not settled.randomised_outside


@pytest.mark.parametrize("plan", COUNTABLE, ids=named)
def test_counts_are_the_tally_of_the_reports(plan: mu.Plan) -> None:
    """Labels or numbers that are counted add up to the integers that the mechanism's own tally has."""
    reports = made(plan)
    labels, times = np.unique(np.array(written(plan, reports)), return_counts=True)
    counts = dict(zip(labels.tolist(), times.tolist(), strict=True))
    total = count_reports(plan, counts)

    assert total.n == len(reports)
    assert total.sum.tolist() == plan.tally(reports).sum.tolist()
    assert mu.run(plan, reports=counts).estimate.mean.tolist() == plan.estimate(reports).estimate.mean.tolist()


@pytest.mark.parametrize("plan", [plan for plan in PLANS if not form_of(plan.person).countable], ids=named)
def test_counts_are_refused_where_they_do_not_say_what_was_reported(plan: mu.Plan) -> None:
    with pytest.raises(mu.MurmureError, match="counts do not say"):
        mu.run(plan, reports={plan.statistic.domain.label(0): 3, plan.statistic.domain.label(1): 4})


DESIGNS = {  # two coins of any kind, and the probability of a yes from each: the textbook's two numbers
    "two fair coins": (mu.Warner(QUESTION), Fraction(3, 4), Fraction(1, 4)),
    "other coins": (mu.Warner(QUESTION, truth=Fraction(1, 2), yes_coin=Fraction(1, 4)), Fraction(5, 8), Fraction(1, 8)),
    "a die": (mu.Warner(QUESTION, truth=Fraction(2, 3), yes_coin=Fraction(1, 2)), Fraction(5, 6), Fraction(1, 6)),
    "Warner's spinner": (mu.Warner(QUESTION, truth=Fraction(2, 5)), Fraction(7, 10), Fraction(3, 10)),
    "a birthday": (mu.UnrelatedQuestion(QUESTION, Fraction(7, 10), Fraction(1, 4)), Fraction(31, 40), Fraction(3, 40)),
    "epsilon ln 3": (mu.Warner(QUESTION, epsilon=float(np.log(3))), Fraction(3, 4), Fraction(1, 4)),
    "GRR at ln 3": (mu.GRR(QUESTION, epsilon=float(np.log(3))), Fraction(3, 4), Fraction(1, 4)),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_shares_are_those_of_the_textbook(design: str) -> None:
    """(r - c) / (a - c), whoever tossed the coins; the lecture's 200 yes of 500 are 30 %."""
    mechanism, a, c = DESIGNS[design]
    plan = mu.Plan(mu.Histogram(QUESTION), person=mechanism)
    for n, yes in [
        (500, 200),
        *itertools.product((1, 7, 500, 10**6), (0, 1)),
        (37, 12),
        (500, 500),
        (3 * 10**9, 10**9),
    ]:
        share = (Fraction(yes, n) - c) / (a - c)
        got = mu.run(plan, reports={"no": n - yes, "yes": yes}).estimate.mean

        assert abs(got[1] - float(share)) < 1e-9 * max(1, abs(share))
        assert abs(got[0] - float(1 - share)) < 1e-9 * max(1, abs(share))
    if (a, c) == (Fraction(3, 4), Fraction(1, 4)):
        assert abs(mu.run(plan, reports=ANSWERS).estimate.mean[1] - 0.3) < 1e-9


# -- whatever holds them -----------------------------------------------------------------------------------------------


def holders(folder: Path) -> dict[str, Any]:
    table = pa.table({"answer": ANSWERS})
    pa.csv.write_csv(table, folder / "answers.csv")
    pq.write_table(table, folder / "answers.parquet")
    return {
        "list": ANSWERS,
        "tuple": tuple(ANSWERS),
        "NumPy": np.array(ANSWERS),
        "NumPy objects": np.array(ANSWERS, object),
        "one column of NumPy": np.array(ANSWERS)[:, None],
        "pandas": pd.Series(ANSWERS, name="anything"),
        "pandas categories": pd.Series(ANSWERS, dtype="category"),
        "Polars": pl.Series(ANSWERS),
        "Arrow": pa.array(ANSWERS),
        "Arrow in pieces": pa.chunked_array([ANSWERS[:100], ANSWERS[100:]]),
        "a frame of pandas": pd.DataFrame({"answer": ANSWERS}),
        "a frame of Polars": pl.DataFrame({"answer": ANSWERS}),
        "a lazy frame": pl.LazyFrame({"answer": ANSWERS}),
        "an Arrow table": table,
        "a mapping": {"answer": ANSWERS},
        "CSV": str(folder / "answers.csv"),
        "Parquet": folder / "answers.parquet",
        "counts": {"no": 300, "yes": 200},
        "counts of NumPy": {"yes": np.int64(200), "no": np.float64(300)},
    }


def test_whatever_holds_the_answers_they_are_the_same(tmp_path: Path) -> None:
    for name, held in holders(tmp_path).items():
        release = mu.run(COINS, reports=held)

        assert release.estimate.n == 500, name
        assert release.estimate.mean.tolist() == [0.7, 0.30000000000000004], name


def test_the_plans_own_column_is_taken() -> None:
    """Of a table with several columns, the one that the domain names."""
    smoker: Any = SCHEMA["smoker"]
    plan = mu.Plan(mu.Histogram(smoker), person=mu.Warner(smoker))
    table = {"other": [1, 2, 3, 4], "smoker": ["yes", "yes", "no", "yes"]}
    for frame in (table, pd.DataFrame(table), pl.DataFrame(table), pa.table(table)):
        assert mu.run(plan, reports=frame).estimate.mean.tolist() == [0.0, 1.0]
    with pytest.raises(mu.MurmureError, match="no column 'smoker'"):
        mu.run(plan, reports={"other": [1, 2]})


def test_a_table_of_answers_and_counts_is_not_a_row_for_each_person(tmp_path: Path) -> None:
    """Whatever the labels are: numbers that were counted could pass for answers."""
    kids: Any = SCHEMA["kids"]
    plan = mu.Plan(mu.Histogram(kids), person=mu.GRR(kids, 1.0))
    answers = [0, 0, 1, 1, 2, 3, 3]
    table = pd.Series(answers, name="kids").value_counts()
    table.reset_index().to_csv(tmp_path / "counts.csv", index=False)
    counted = pl.Series("kids", answers).value_counts()
    for bad in (table, table.reset_index(), counted, counted.to_arrow(), counted.to_dict(), tmp_path / "counts.csv"):
        with pytest.raises(mu.MurmureError, match="counts"):
            mu.run(plan, reports=bad)

    assert mu.run(plan, reports=dict(table)).estimate.n == 7


def test_rows_of_bits_may_be_in_any_column() -> None:
    domain = mu.Categories(["a", "b"])
    plan = mu.Plan(mu.Histogram(domain), person=mu.OUE(domain, 1.0))
    rows = [[0, 1], [1, 1], [0, 0]]
    wanted = mu.run(plan, reports=np.array(rows)).estimate.mean.tolist()
    for held in (rows, {"x": rows}, pd.Series(rows), pd.DataFrame({"x": rows}), pl.Series(rows), pa.array(rows)):
        assert mu.run(plan, reports=held).estimate.mean.tolist() == wanted
    assert mu.run(plan, reports=pa.table({"x": rows})).estimate.mean.tolist() == wanted


def test_labels_are_read_by_their_meaning() -> None:
    """1, "1", 1.0 and true are one label, as in any other column."""
    bits = mu.Categories([0, 1])
    plan = mu.Plan(mu.Histogram(bits), person=mu.Warner(bits))
    for answers in (
        [0, 1, 1],
        ["0", "1", "01"],
        [False, True, True],
        [0.0, 1.0, 1.0],
        {"0": 1, 1: 2},
        {False: 1.0, 1.0: 2},
    ):
        assert mu.run(plan, reports=answers).estimate.mean.tolist() == pytest.approx([1 / 6, 5 / 6])


def test_bits_may_stand_in_a_table_with_a_column_for_each_value(tmp_path: Path) -> None:
    """Boxes that people ticked: for unary encodings and for sets of values."""
    domain = mu.Categories(["a", "b", "c"])
    for mechanism in (mu.OUE(domain, 1.0), mu.SUE(domain, 2.0), mu.SubsetSelection(domain, 0.2, w=1)):
        plan = mu.Plan(mu.Histogram(domain), person=mechanism)
        reports = made(plan, 40)
        bits = np.unpackbits(reports.data.view(np.uint8), axis=1, bitorder="little")[:, :3]
        columns = {name: bits[:, i].tolist() for i, name in reversed(list(enumerate("abc")))}
        pa.csv.write_csv(pa.table(columns), tmp_path / "ticks.csv")
        wanted = plan.estimate(reports).estimate.mean.tolist()
        for held in (
            columns,
            pd.DataFrame(columns),
            pl.DataFrame(columns),
            tmp_path / "ticks.csv",
            bits,
        ):
            assert mu.run(plan, reports=held).estimate.mean.tolist() == wanted
        with pytest.raises(mu.MurmureError, match="holds 2"):
            mu.run(plan, reports=columns | {"b": [2, *columns["b"][1:]]})


def test_records_are_tables_of_reports(tmp_path: Path) -> None:
    """Without a plan in its metadata a table was randomised by its people; with one it says itself who drew it."""
    rows = {"smoker": ["no", "yes"] * 200, "kids": [0, 1, 2, 3] * 100}
    for mechanism in (mu.SPL(SCHEMA, 2.0), mu.SMP(SCHEMA, 2.0), mu.RSFD(SCHEMA, 2.0)):
        table = mu.sanitise(rows, mechanism, rng=mu.Random.seeded(3))
        plan = mu.Plan(mu.Marginals(SCHEMA), person=mechanism)
        bare, known = (mu.run(plan, reports=t) for t in (table.replace_schema_metadata(None), table))
        same = mu.estimate(table)

        for name in SCHEMA:
            assert bare.estimate[name].mean.tolist() == same.estimate[name].mean.tolist()
        assert bare.randomised_outside and not bare.seeded
        assert known.seeded and not known.randomised_outside
        for bad in (["no", "yes"], {"no": 3, "yes": 4}):
            with pytest.raises(mu.MurmureError, match="records"):
                mu.run(plan, reports=bad)
        with pytest.raises(mu.MurmureError, match="answers plan"):
            mu.run(mu.Plan(mu.Marginals(SCHEMA), person=mu.SPL(SCHEMA, 1.0)), reports=table)


# -- what is refused ---------------------------------------------------------------------------------------------------

BAD = {
    "nobody": ([], "nothing to add up"),
    "no counts": ({}, "no counts"),
    "counts of nobody": ({"no": 0, "yes": 0}, "nobody"),
    "a negative count": ({"no": -1, "yes": 3}, "whole number, at least 0, got -1"),
    "a fraction": ({"no": 1.5, "yes": 3}, "whole number, at least 0, got 1.5"),
    "a count that is not one": ({"no": float("nan"), "yes": 3}, "whole number"),
    "a boundless count": ({"no": float("inf"), "yes": 3}, "whole number"),
    "a count that is true": ({"no": True, "yes": 3}, "whole number"),
    "a count that is text": ({"no": "3", "yes": 3}, "whole number"),
    "a missing count": ({"no": None, "yes": 3}, "whole number"),
    "a float that holds no whole number": ({"no": 1e300, "yes": 3}, "whole number"),
    "a label of another question": ({"no": 3, "maybe": 4}, "no answer 'maybe'"),
    "a label in another case": ({"no": 3, "Yes": 4}, "no answer 'Yes'"),
    "a missing label": ({"no": 3, None: 4}, "no answer None"),
    "too many people": ({"no": 2**63, "yes": 1}, "can exceed"),
    "a count beside a column": ({"no": 3, "yes": [1, 2]}, "names no column"),
    "an unknown answer": (["no", "yes", "maybe"], "row 2 holds 'maybe'"),
    "a missing answer": (["no", None, "yes"], "row 1 has no value"),
    "an empty answer": (["no", "", "yes"], "row 1 has no value"),
    "a series of counts": (pd.Series(ANSWERS).value_counts(), "series of counts"),
    "a table of counts": (pl.Series("x", ANSWERS).value_counts(), "names no column"),
    "two columns": (pd.DataFrame({"a": ["no"], "b": ["yes"]}), "names no column"),
    "two columns of NumPy": (np.array([["no", "yes"]]), "one dimension"),
    "a number": (3, "cannot read"),
    "an array of nothing": (np.array("no"), "sequence"),
    "no file": ("no-such-file.csv", "no-such-file"),
    "another kind of file": ("answers.txt", "answers.txt"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_reports_is_refused(name: str) -> None:
    bad, words = BAD[name]
    with pytest.raises(mu.MurmureError) as error:
        mu.run(COINS, reports=bad)

    assert words in str(error.value)


def test_one_answer_under_two_spellings_is_not_counted_twice() -> None:
    bits = mu.Categories([0, 1])
    with pytest.raises(mu.MurmureError, match="counted twice"):
        mu.run(mu.Plan(mu.Histogram(bits), person=mu.Warner(bits)), reports={"1": 3, 1: 4, 0: 2})


@pytest.mark.parametrize("plan", PLANS, ids=named)
def test_every_mechanism_refuses_what_it_cannot_report(plan: mu.Plan) -> None:
    """One report that is missing, or outside; whatever the form of the others."""
    good = written(plan, made(plan, 5))
    for bad in (None, "what?", float("nan")):
        rows = [*(row.tolist() if isinstance(row, np.ndarray) else row for row in list(good)[:3]), bad]
        with pytest.raises(mu.MurmureError):
            mu.run(plan, reports=rows)


LETTERS = mu.Categories(["a", "b", "c", "d", "e"])
BITS = mu.Plan(mu.Histogram(LETTERS), person=mu.OUE(LETTERS, 1.0))
PAIRS = mu.Plan(mu.Histogram(LETTERS), person=mu.SubsetSelection(LETTERS, 0.4))


@pytest.mark.parametrize(
    ("plan", "rows", "words"),
    [
        (PAIRS, [["a", "b"], ["b", "c"], ["d", "x"]], "row 2 (value 2 of 2) holds 'x'"),
        (PAIRS, [["a", "b"], ["x", "c"], ["d", "e"]], "row 1 (value 1 of 2) holds 'x'"),
        (PAIRS, [["a", "b"], ["b", None]], "row 1 (value 2 of 2) has no value"),
        (PAIRS, [["a", "b"], ["b", "b"]], "row 1 names a value twice; wanted 2 different values"),
        (PAIRS, [["a", "b"], ["a", "b", "c"]], "row 1 holds ['a', 'b', 'c']; wanted 2 different values"),
        (BITS, [[0, 1, 0, 0, 1], [0, 0, 0, 7, 0]], "row 1 (value 4 of 5) holds 7"),
        (BITS, np.array([[0, 1, 0, 0, 1], [0, 0, 0, 1, 0], [-1, 0, 0, 1, 0]]), "row 2 (value 1 of 5) holds -1"),
        (BITS, [[0, 1, 0, 0, 1], [0, 0, 1]], "row 1 holds [0, 0, 1]; wanted 5 bits"),
    ],
)
def test_a_report_of_several_values_is_refused_by_its_row_and_by_its_value(
    plan: mu.Plan, rows: Any, words: str
) -> None:
    """Rows count from 0, as everywhere; the values of one row from 1."""
    with pytest.raises(mu.MurmureError) as error:
        mu.run(plan, reports=rows)

    assert words in str(error.value)


def test_the_row_is_named_among_all_rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """However the rows are cut: the collector has the reports, so the message may say which."""
    monkeypatch.setattr("murmure.engines.sources.column_batches.ROWS", 10)
    answers = ["yes"] * 27 + [None] + ["no"] * 9
    for held in (answers, pd.Series(answers), pa.array(answers)):
        with pytest.raises(mu.MurmureError, match="reports: row 27 has no value"):
            mu.run(COINS, reports=held)


def test_a_file_without_a_header_is_refused(tmp_path: Path) -> None:
    """Its first answer would be taken for the name of the column, and be lost."""
    path = tmp_path / "answers.csv"
    path.write_text("yes\nno\nno\n")
    with pytest.raises(mu.MurmureError, match="no header"):
        mu.run(COINS, reports=path)
    path.write_text("answer\nyes\nno\nno\n")

    assert mu.run(COINS, reports=path).estimate.n == 3


def test_one_of_frame_and_reports_and_nothing_else() -> None:
    for extra, words in (
        ({"frame": ANSWERS}, "both"),
        ({"ledger": object()}, "ledger"),
        ({"rng": mu.Random.seeded(1)}, "nothing is drawn"),
        ({"gate": object()}, "gate"),
    ):
        with pytest.raises(mu.MurmureError, match=words):
            mu.run(COINS, reports=ANSWERS, **extra)
    with pytest.raises(mu.MurmureError, match="neither"):
        mu.run(COINS)
    for reports in (made(COINS), {"no": 3, "yes": 4}):
        with pytest.raises(mu.MurmureError, match="no engine"):
            mu.run(COINS, reports=reports, engine=mu.Memory())

    assert mu.run(COINS, reports=ANSWERS, engine=mu.Memory(threads=1)).estimate.n == 500


def test_a_plan_without_a_place_at_the_person_has_no_reports() -> None:
    for slots in ({}, {"curator": mu.DiscreteLaplace(1.0)}, {"parties": mu.PairwiseMasks(3)}):
        with pytest.raises(mu.MurmureError, match="randomised at the person"):
            mu.run(mu.Plan(mu.Histogram(QUESTION), **slots), reports=ANSWERS)
    with pytest.raises(mu.MurmureError, match="with parties, each party"):
        mu.run(
            mu.Plan(mu.Histogram(QUESTION), person=mu.Warner(QUESTION), parties=mu.PairwiseMasks(3)), reports=ANSWERS
        )
    smoker: Any = SCHEMA["smoker"]
    with pytest.raises(mu.MurmureError, match="do not say who sent them"):
        unit = mu.Plan(mu.Histogram(smoker), person=mu.Warner(smoker), unit="id", rows_per_person=2)
        mu.run(unit, reports={"id": [1, 2], "smoker": ["no", "yes"]})


@pytest.mark.parametrize("n", [2_000, 2_001, 10**6, 10**9, 10**15, 2**62])
def test_huge_counts_keep_their_figures(n: int) -> None:
    yes = 2 * n // 5
    estimate = mu.run(COINS, reports={"no": n - yes, "yes": yes}).estimate
    low, high = estimate.interval(0.95)[1]

    assert estimate.n == n
    assert low <= 2 * yes / n - 0.5 <= high


# -- reports of the software itself ------------------------------------------------------------------------------------


@pytest.mark.parametrize("plan", PLANS[:6], ids=named)
def test_reports_keep_what_they_say_of_themselves(plan: mu.Plan, tmp_path: Path) -> None:
    """Made by this software, so not outside; a seed stays a seed. Another plan's are refused."""
    reports = made(plan)
    reports.save(tmp_path / "reports.npz")
    for held in (reports, tmp_path / "reports.npz", str(tmp_path / "reports.npz")):
        release = mu.run(plan, reports=held)

        assert release.seeded and not release.randomised_outside
        assert release.estimate.mean.tolist() == plan.estimate(reports).estimate.mean.tolist()
    with pytest.raises(mu.MurmureError, match="not this plan"):
        mu.run(plan, reports=mu.Reports(reports.data, "0" * 64, seeded=False))


# -- the trap: randomised answers as a frame ---------------------------------------------------------------------------


def test_what_is_randomised_already_is_not_taken_for_true_answers(tmp_path: Path) -> None:
    """Reports, counts and sanitised tables can be told from true answers by their looks, and are refused."""
    rows = {"smoker": ["no", "yes"] * 20, "kids": [0, 1] * 20}
    smoker: Any = SCHEMA["smoker"]
    one = mu.Plan(mu.Histogram(smoker), person=mu.Warner(smoker))
    table = mu.sanitise(rows, mu.SPL(SCHEMA, 1.0))
    for name in ("t.csv", "t.parquet", "t.arrow"):
        mu.sanitise(rows, mu.SPL(SCHEMA, 1.0), tmp_path / name)
    for plan in (one, mu.Plan(mu.Marginals(SCHEMA), person=mu.SPL(SCHEMA, 1.0))):
        for frame in (table, *(tmp_path / name for name in ("t.csv", "t.parquet", "t.arrow"))):
            with pytest.raises(mu.MurmureError, match="already randomised"):
                mu.run(plan, frame)
        with pytest.raises(mu.MurmureError, match="already randomised"):
            mu.run(plan, plan.report(rows if plan.of_records else rows["smoker"]))

        assert mu.run(plan, rows).estimate.n == 40
    for counts in ({"no": 300, "yes": 200}, {"no": np.int64(1), "yes": 2.0}):
        with pytest.raises(mu.MurmureError, match="reports=counts"):
            mu.run(COINS, counts)
    with pytest.raises(mu.MurmureError, match="states which plan"):
        mu.run(one, reports=table)


# -- what the release says ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plan", PLANS[::3], ids=named)
def test_a_release_says_where_its_randomness_came_from(plan: mu.Plan) -> None:
    """In its text, its JSON, its notebook and its page, in both languages; nobody is promised secure randomness."""
    release = mu.run(plan, reports=written(plan, made(plan)))
    page = report_html(release, plan=plan)
    english, french = page.split('<article lang="fr">')
    ordinary = report_html(mu.run(plan, reports=made(plan)), plan=plan)

    assert not release.seeded and release.randomised_outside
    assert RANDOMISED_OUTSIDE in " ".join(repr(release).split()) and RANDOMISED_OUTSIDE in release._repr_html_()
    assert json.loads(release.to_json())["randomised_outside"] is True
    assert json.loads(release.to_json())["seeded"] is False
    assert all(FAIR_DRAWS in c.assumption for c in release.guarantees.values())
    assert FAIR_DRAWS in " ".join(repr(release).split()) and FAIR_DRAWS in html.unescape(english)
    assert "outside the software" in english and "hors du logiciel" in french
    assert "chacun a suivi le tirage que prescrit le plan" in french
    for words in ("<b>secure</b>", "<b>sûr</b>", "random words", "mots aléatoires", "SEEDED"):
        assert words not in page
    assert "outside the software" not in ordinary and "hors du logiciel" not in ordinary


def test_an_ordinary_release_is_written_as_it_always_was() -> None:
    """The new key is there for reports from outside, and for nothing else."""
    for release in (
        mu.run(COINS, ANSWERS),
        mu.run(mu.Plan(mu.Histogram(QUESTION)), ANSWERS),
        COINS.estimate(made(COINS)),
    ):
        assert "randomised_outside" not in json.loads(release.to_json())
        assert not release.randomised_outside


def test_a_run_on_true_answers_says_that_it_randomised_them() -> None:
    """So that nobody who passed randomised answers as a frame can miss it."""
    for held, here in ((mu.run(COINS, ANSWERS), True), (mu.run(COINS, reports=ANSWERS), False)):
        assert ("randomised here, from true answers" in repr(held)) is here
        assert ("randomised here, from true answers" in held._repr_html_()) is here
    assert "randomised here" not in repr(mu.run(mu.Plan(mu.Histogram(QUESTION)), ANSWERS))
    assert "randomised here" not in repr(COINS.estimate(made(COINS)))


def test_an_assumption_of_the_mechanism_stays() -> None:
    """The unrelated question has one of its own: both are named, in both languages."""
    plan = mu.Plan(mu.Histogram(QUESTION), person=mu.UnrelatedQuestion(QUESTION, 0.7, 0.25))
    release = release_reports(plan, ANSWERS)
    french = report_html(release, plan=plan).split('<article lang="fr">')[1]

    assert release.guarantees["reader"].assumption == f"{mu.certify(plan.person).assumption}; {FAIR_DRAWS}"
    assert "la réponse anodine est indépendante" in french and "équitable" in french


def test_the_schema_moves_rows_and_not_reports() -> None:
    """A report outside the domain is refused, also where the schema would clamp or drop a row, or name a constant."""
    for domain in (
        mu.Integers(0, 3, outside="clamp"),
        mu.Integers(0, 3, outside="drop"),
        mu.Integers(0, 3, absent=1),
        mu.Categories(["a", "b"], outside="drop"),
    ):
        plan = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, 1.0))
        good = ["a", "b"] if isinstance(domain, mu.Categories) else [0, 3]
        for bad in (7, None):
            with pytest.raises(mu.MurmureError, match=r"row 2|missing"):
                mu.run(plan, reports=[*good, bad])

        assert mu.run(plan, reports=good).estimate.n == 2
