"""A release as a page: what it says, in two languages, and that nothing in it is markup but ours."""

from __future__ import annotations

import errno
import html
import itertools
import math
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.run.report.pages import flat, read, report_html, untranslated

import murmure as mu
from murmure.local import adp, rsfd, smp, spl
from murmure.run.report.guarantee_section import _witness
from murmure.run.report.report import write_report
from murmure.run.tables.sanitiser import Receipt
from murmure.show.chart import Scale, scale_of
from murmure.show.document import IntervalRow, Intervals
from murmure.show.language import Language

EVIL = "<script>alert('x')</script> & \"quoted\""
SCHEMA = mu.Schema(
    {
        "smoker": mu.Column(mu.Categories(["no", "yes"]), missing="value"),
        EVIL: mu.Categories([EVIL, "b"]),
        "children": mu.Integers(0, 4),
        "age": mu.Integers(18, 99),
        "weight": mu.Column(mu.Interval(0.0, 1.0), public=True),
    }
)


def people(n: int = 400) -> dict[str, Any]:
    g = np.random.default_rng(4)
    return {
        "smoker": g.choice(["no", "yes", "missing"], n).tolist(),
        EVIL: g.choice([EVIL, "b"], n).tolist(),
        "children": g.integers(0, 5, n),
        "age": g.integers(18, 100, n),
    }


def made(mechanism: Any = None, seeded: bool = True, **unit: Any) -> tuple[mu.Plan, mu.Release]:
    plan = mu.Plan(mu.Marginals(SCHEMA), person=mechanism or mu.SMP(SCHEMA, 3.0), **unit)
    rows = people()
    if "unit" in unit:  # everybody has two rows
        rows = {**rows, unit["unit"]: np.arange(len(next(iter(rows.values())))) // 2}
    return plan, mu.run(plan, rows, rng=mu.Random.seeded(2) if seeded else None)


def test_the_page_stands_alone_and_says_everything() -> None:
    """Both certificates with their epsilon, the unit, rows, what was dropped, the digest; no script."""
    plan, release = made(mu.SPL(SCHEMA, 2.0))
    page = report_html(release, receipt=Receipt(400, 13, plan, True, invalid="drop"))
    reading = read(page)
    said = flat(reading.text["en"])

    assert page.endswith("</html>\n") and "default-src 'none'" in html.unescape(page)
    assert not reading.tags & {"script", "img", "link", "iframe", "object"} and "http" not in page.split("</style>")[1]
    for part in (
        "4 columns, 400 rows",
        "Seeded experiment",
        "Rows outside the schema were left out. The figures say nothing about them.",
        "epsilon for a whole record 2",
        "epsilon for one attribute 0.5",
        "protected unit one row",
        "By SPL : every column is randomised with its share of the budget",
        "cannot become surer than 88.1 in 100",
        "a fixed population",
        "the whole numbers 0 to 4 of column 'children'",
        "the numbers 0 to 1 in 1024 cells of column 'weight', public and not randomised",
        "They are biased, and no error bar belongs to them",
        release.plan,
        f"Murmure {mu.__version__}",
    ):
        assert part in said, part
    assert "Simulation" not in said and "13" not in said.split("Plan")[0]  # how many were dropped is not published


def test_french_is_said_too() -> None:
    """The same facts with French numbers; labels and names of columns stay what people wrote."""
    plan, release = made()
    said = flat(read(report_html(release, plan=plan)).text["fr"])

    for part in ("4 colonnes, 400 lignes", "Expérience à graine", "unité protégée une ligne", "population fixe"):
        assert part in said, part
    assert re.search(r"\d,\d %", said) and re.search("fois plus probable", said)
    assert "no " in said and "yes" in said and "oui" not in said.split("Ce que dit la foule")[1].split("garanti")[0]


def test_what_people_wrote_is_never_markup() -> None:
    """A label and the name of a column hold a script: shown, not obeyed; quotes leave no attribute either."""
    plan, release = made()
    page = report_html(release, plan=plan, truth={"age": 50.0})
    reading = read(page)

    assert "<script" not in page and "&lt;script&gt;" in page
    assert EVIL in reading.text["en"] and EVIL in reading.text["fr"]
    assert "script" not in reading.tags
    assert "<script" not in release._repr_html_()


def test_the_truth_is_marked_as_a_simulation() -> None:
    """Circles beside the estimates, a warning, and how many intervals hold it; without truth none of it."""
    _, release = made()
    truth = {"smoker": [1 / 3] * 3, "age": 58.5}
    page = report_html(release, truth)
    said = flat(read(page).text["en"])

    assert "Simulation: the true values are shown" in said and "truth (simulation)" in said
    assert page.count('class="true"') == 2 * (1 + 4)  # in two languages: the key, three shares, a mean
    assert re.search(r"The truth lies inside \d of 4 intervals; 95% of them should hold it", said)
    assert 'class="true"' not in report_html(release)
    with pytest.raises(mu.MurmureError, match="truth of column 'smoker' must be 3 numbers"):
        report_html(release, {"smoker": [0.5, 0.5]})
    with pytest.raises(mu.MurmureError, match="truth names columns that were not estimated: 'absent'"):
        report_html(release, {"absent": [0.5, 0.5]})
    with pytest.raises(mu.MurmureError, match="truth must map columns"):
        report_html(release, [0.5])


def test_columns_without_figures_say_why() -> None:
    """A plain table's numbers are biased: no figure, no nan, and the reason in both languages."""
    plan, release = made(mu.Plain(SCHEMA, 2.0))
    page = report_html(release, plan=plan)
    reading = read(page)

    assert "nan" not in flat(reading.text["en"]).split()
    assert flat(reading.text["en"]).count("no figure: reports near a bound can only err inward") == 2
    assert flat(reading.text["fr"]).count("aucun chiffre : près d’une borne") == 2
    assert "BoundedLaplace" in page


@pytest.mark.parametrize(
    ("epsilon", "told"),
    [
        (0.25, "is 1.28 times likelier from “yes” than from “no”."),
        (6.5, "is 665.14 times likelier from “yes” than from “no”."),
        (7.0, "is 1,097 times likelier from “yes” than from “no”."),
        (50.0, f"is {math.exp(50):,.0f} times likelier from “yes” than from “no”."),
        (50.01, "tells “yes” from “no”."),
        (750.0, "tells “yes” from “no”."),  # e**epsilon is too large for a float
    ],
)
def test_odds_of_the_most_telling_report(epsilon: float, told: str) -> None:
    """e**epsilon, as a number while people can read one; of many fresh reports together there is no single one."""
    certificate = replace(mu.certify(mu.GRR(mu.Categories(["no", "yes"]), 1.0)), epsilon=epsilon)
    content: Any = SimpleNamespace(of_records=False)
    several = replace(certificate, method="any number of fresh reports")

    assert str(_witness(content, certificate)) == f"The most telling report {told}"
    assert str(_witness(content, several)) == "The most telling report tells “yes” from “no”."
    assert _witness(content, replace(certificate, epsilon=math.inf)) is None


def test_numbers_have_means() -> None:
    """The mean of a number that is shown value by value stands below; of others it is the figure, on its bounds."""
    _, release = made()
    said = flat(read(report_html(release)).text["en"])
    mean = release.estimate.means["children"]

    assert f"Mean {mean.mean[0]:.2f}, " in said and f"(interval by {mean.interval_and_method()[1]} (" in said
    assert "18 99" in said  # the ends of the picture of age


def test_a_person_of_several_rows() -> None:
    """The unit comes from the plan, or, without one, from the certificate."""
    plan, release = made(mu.SPL(SCHEMA, 1.0), unit="patient", rows_per_person=3)

    for page in (report_html(release, plan=plan), report_html(release)):
        said = flat(read(page).text["en"])
        assert "protected unit one person with at most 3 rows" in said and "all rows of one person 3" in said
    assert "3 réponses neuves s’additionnent" in flat(read(report_html(release)).text["fr"])


def test_many_categories_are_folded_largest_first() -> None:
    """45 answers: twelve in sight, the others in a fold; the scale is the same for both."""
    labels = [f"category {i} " + "x" * i for i in range(45)]
    schema = mu.Schema({f"c{i}": mu.Categories(labels if i == 1 else 2) for i in range(30)})
    g = np.random.default_rng(1)
    rows = {f"c{i}": g.choice(labels, 500).tolist() if i == 1 else g.integers(0, 2, 500) for i in range(30)}
    release = mu.run(mu.Plan(mu.Marginals(schema), person=mu.SMP(schema, 5.0)), rows, rng=mu.Random.seeded(1))
    page = report_html(release)
    column = page.split("<caption>c1</caption>")[1].split("<caption>c2</caption>")[0]
    seen, folded = column.split("<details>")

    assert "33 smaller shares" in folded
    assert (seen.count("<tr>"), folded.split("</details>")[0].count("<tr>")) == (13, 34)
    shares = [float(text) for text in re.findall(r'<td class="num"><b>(\S+?)%', column.replace("\u2212", "-"))]
    assert len(shares) == 45 and shares == sorted(shares, reverse=True)
    assert len(page) < 600_000


def test_one_question_makes_a_page_too() -> None:
    """A histogram, a mean, a pair, and what nobody randomised."""
    domain = mu.Categories(["never", "once", "often"], column="cheated")
    plan = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, 1.0))
    release = mu.run(plan, ["never"] * 50 + ["once"] * 50)
    said = flat(read(report_html(release, truth=[0.5, 0.5, 0.0], level=0.9)).text["en"])

    assert "cheated, 100 answers" in said and "estimate and 90% interval" in said and "epsilon of an answer 1" in said
    assert "2.72 times likelier from “often” than from “never”" in said
    assert "Seeded" not in said
    clear = flat(read(report_html(mu.run(mu.Plan(mu.Histogram(domain)), ["never"]))).text["en"])
    assert "Nothing was randomised" in clear and "nothing is protected" in clear and "add up" not in clear
    number = mu.Interval(0.0, 10.0)
    mean = mu.run(mu.Plan(mu.Mean(number), person=mu.Piecewise(number, 1.0)), [1.0, 2.0] * 50)
    assert "The mean. By Piecewise" in flat(read(report_html(mean)).text["en"])
    schema = mu.Schema({"a": mu.Categories(2), "b": mu.Categories(3)})
    pair = mu.Plan(mu.Pair(schema, "a", "b"), person=mu.SPL(schema, 2.0))
    both = mu.run(pair, {"a": [0, 1] * 50, "b": [0, 1] * 50})
    table = mu.Plan(mu.Marginals(schema), person=mu.SPL(schema, 2.0))
    page = report_html(both, receipt=Receipt(100, 0, table, False))
    assert "a and b" in page and "The share of every pair of answers." in page


CLAMPED = mu.Column(mu.Integers(0, 9), outside="clamp")
DROPPED = mu.Column(mu.Integers(0, 9), outside="drop")
OTHER_LABELS_DROPPED = mu.Column(mu.Categories(["a", "b"]), outside="drop")
MOVED = "was moved to the nearest bound before it was randomised."
LEFT_OUT = "were left out. The figures say nothing about them."


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"age": mu.Integers(0, 9), "job": mu.Categories(["a", "b"])}, None),
        ({"age": CLAMPED, "job": mu.Categories(["a", "b"])}, f"A number beyond its bounds (age) {MOVED}"),
        ({"age": CLAMPED, "rooms": CLAMPED}, f"A number beyond its bounds {MOVED}"),
        ({"age": mu.Integers(0, 9), "job": OTHER_LABELS_DROPPED}, f"Rows outside the schema (job) {LEFT_OUT}"),
        ({"age": DROPPED, "job": OTHER_LABELS_DROPPED}, f"Rows outside the schema {LEFT_OUT}"),
        (
            {
                "born": mu.Column(mu.Dates("2020-01", "2020-12", "month"), outside="clamp"),
                "age": CLAMPED,
                "job": OTHER_LABELS_DROPPED,
            },
            f"A number or date beyond its bounds (born and age) {MOVED} Rows outside the schema (job) {LEFT_OUT}",
        ),
    ],
)
def test_what_became_of_values_outside_is_told_with_its_columns_unless_it_is_all_of_them(
    columns: dict[str, Any], told: str | None
) -> None:
    schema = mu.Schema(columns)
    answers = {"age": [1, 2], "rooms": [1, 2], "job": ["a", "b"], "born": ["2020-01", "2020-05"]}
    plan = mu.Plan(mu.Marginals(schema), person=mu.SPL(schema, 4.0))
    release = mu.run(plan, {name: answers[name] * 50 for name in columns}, rng=mu.Random.seeded(1))
    text = flat(read(report_html(release, plan=plan)).text["en"])

    found = re.search(f"(?:A number (?:or date )?beyond|Rows outside).*(?:{MOVED}|{LEFT_OUT})", text)
    assert (found and found[0]) == told


def test_the_target_is_said() -> None:
    _, release = made()

    assert "a superpopulation" in flat(read(report_html(release, target="superpopulation")).text["en"])
    with pytest.raises(mu.MurmureError, match="target must be"):
        report_html(release, target="sample")  # type: ignore[arg-type]
    with pytest.raises(mu.MurmureError, match="level must lie"):
        report_html(release, level=95)
    with pytest.raises(mu.MurmureError, match="a report needs a Release, got 'Estimates'"):
        report_html(release.estimate)  # type: ignore[arg-type]


def test_a_receipt_of_other_rows_is_refused() -> None:
    """Another plan, or another number of rows: the page would tell two stories."""
    plan, release = made()
    with pytest.raises(mu.MurmureError, match="this release answers plan"):
        report_html(release, plan=made(mu.SMP(SCHEMA, 1.0))[0])
    with pytest.raises(mu.MurmureError, match="about 400 rows, the receipt about 399"):
        report_html(release, receipt=Receipt(399, 0, plan, True))


def test_all_at_once_keeps_the_level_that_was_asked_for() -> None:
    """95 % for all of them; what each needs for that stands beside, and the intervals are those of that level."""
    _, release = made()
    truth = {"smoker": [1 / 3] * 3}
    pages = {both: read(report_html(release, truth, simultaneous=both)) for both in (True, False)}
    said, alone = (flat(pages[both].text["en"]) for both in (True, False))
    count = 3 + 2 + 5 + 1 + 1  # shares, the mean of children, the mean of age
    each = 1 - 0.05 / count
    low, high = release.estimate["smoker"].interval(each)[0]

    assert f"95% interval; all of them hold at once (each at {100 * each:.1f}%)" in said
    assert "intervalle à 95 % ; tous valent à la fois (chacun à 99,6 %)" in flat(pages[True].text["fr"])
    assert said.count("95% interval") > 4 and said.count("99.") == 1 and "hold at once" not in alone
    assert "95% of the time all should hold it" in said and "95% of them should hold it" in alone
    assert f"{100 * low:.1f} to {100 * high:.1f}%" in said and f"{100 * low:.1f} to {100 * high:.1f}%" not in alone


def test_weights_are_named() -> None:
    """By the plan, or, where the plan is the table's, by whoever asks."""
    rows = {**people(), "weight": np.full(400, 0.5)}
    plan = mu.Plan(mu.Marginals(SCHEMA, "weight"), person=mu.SPL(SCHEMA, 4.0))
    release = mu.run(plan, rows, rng=mu.Random.seeded(1))
    table = mu.Plan(mu.Marginals(SCHEMA), person=mu.SPL(SCHEMA, 4.0))
    named = "each person counts as the public column weight says"

    for page in (report_html(release, plan=plan), report_html(release, plan=table, weights="weight")):
        reading = read(page)
        assert named in flat(reading.text["en"]) and "; weighted by weight" in flat(reading.text["en"])
        assert "chaque personne compte selon la colonne publique weight" in flat(reading.text["fr"])
    assert named not in report_html(made()[1])
    assert "la méthode du score, pondérée" in report_html(release)


def test_the_plan_is_the_one_that_people_answered() -> None:
    """A table is asked about a pair afterwards: the page names the table's plan, not that of the question."""
    table = mu.Plan(mu.Marginals(SCHEMA), person=mu.SPL(SCHEMA, 4.0))
    pair = mu.Plan(mu.Pair(SCHEMA, "smoker", "children"), person=mu.SPL(SCHEMA, 4.0))
    release = mu.run(pair, people(), rng=mu.Random.seeded(1))

    assert table.digest != pair.digest
    assert table.digest in report_html(release, plan=table) and pair.digest not in report_html(release, plan=table)
    assert pair.digest in report_html(release)


def test_a_pair_is_about_rows() -> None:
    """Two guarantees of a row, with their columns named; with the plan or without it, never a tuple."""
    plan = mu.Plan(mu.Pair(SCHEMA, "smoker", "children"), person=mu.SPL(SCHEMA, 4.0))
    release = mu.run(plan, people(), rng=mu.Random.seeded(1))

    for page in (report_html(release, plan=plan), report_html(release)):
        reading = read(page)
        said, french = flat(reading.text["en"]), flat(reading.text["fr"])
        assert "smoker and children, 400 rows" in said and "smoker et children, 400 lignes" in french
        assert "400 answers" not in said and "protected unit one row" in said
        assert "the whole record 4" in said and "one attribute of it 1" in said and "the answer 4" not in said
        assert "Each further row of a person adds as much again" in said
        assert (
            re.search(r"times likelier from smoker .\w+., .* than from", said) and "54,60 fois plus probable" in french
        )
        assert "\u201c(" not in said and "« (" not in french
    several = mu.Plan(plan.statistic, person=plan.person, unit="patient", rows_per_person=2)
    rows = {**people(), "patient": np.arange(400) // 2}
    said = flat(read(report_html(mu.run(several, rows, rng=mu.Random.seeded(1)), plan=several)).text["en"])
    assert "The unit is one person with at most 2 rows" in said and "all rows of one person 8" in said


def test_nothing_else_is_written_over(tmp_path: Path) -> None:
    """A page of ours may be replaced, and an empty file; a table under that name, or another name, is refused."""
    _, release = made()
    page, other, empty = (tmp_path / name for name in ("report.html", "other.htm", "empty.html"))
    other.write_text("<!doctype html>\n<title>not ours</title>")
    empty.touch()

    assert write_report(release, page) == write_report(release, page) == page
    write_report(release, empty)
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(mu.MurmureError, match=r"other.htm' exists and is not a page that Murmure wrote"):
        write_report(release, other)
    with pytest.raises(mu.MurmureError, match=r"end in .html or .htm, got 'people.csv'"):
        write_report(release, tmp_path / "people.csv")
    with pytest.raises(mu.MurmureError, match="it is not a file"):
        write_report(release, tmp_path / "folder.html")
    assert "not ours" in other.read_text() and not (tmp_path / "people.csv").exists()


def test_a_full_disk_says_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(
        mu.MurmureError, match=r"cannot write '.*report.html': no space left on device(.|\n)*free some space"
    ):
        write_report(made()[1], tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_it_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    _, release = made()
    path = write_report(release, tmp_path / "report.html")

    assert path.read_text(encoding="utf-8").endswith("</html>\n")
    with pytest.raises(mu.MurmureError, match="truth names"):
        write_report(release, tmp_path / "other.html", truth={"absent": 1})
    with pytest.raises(mu.MurmureError, match="cannot write"):
        write_report(release, tmp_path / "absent" / "report.html")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("mechanism", [*spl.EXAMPLES, *smp.EXAMPLES, *rsfd.EXAMPLES, *adp.EXAMPLES], ids=repr)
def test_every_solution_has_french_words(mechanism: Any) -> None:
    """How certificates were found, what they assume and why figures are missing: nothing of ours stays English."""
    for certificate in mu.Plan(mu.Marginals(mechanism.domain), person=mechanism).guarantees().values():
        for text in (certificate.method, *certificate.public, certificate.assumption or certificate.method):
            assert untranslated(text) == [], text


def test_every_interval_has_a_french_name() -> None:
    """The methods of shares, means, counts and sums: through mechanisms, in the clear, and under a curator."""
    ages, answers = mu.Integers(0, 9), mu.Categories(50)
    held = [0, 9] * 30
    asked = [
        (mu.Plan(mu.Histogram(answers), person=mu.GRR(answers, 9.0)), [0, 1] * 5000),
        *[(mu.Plan(mu.Mean(ages), person=m(ages, 2.0)), held) for m in (mu.Duchi, mu.Hybrid, mu.GRR, mu.OUE)],
        (mu.Plan(mu.Mean(ages), person=mu.Hybrid(ages, 2.0)), held * 5),
        *[
            (mu.Plan(s(ages), **more), held * 10)
            for s in (mu.Mean, mu.Variance, mu.Sum, mu.Count, mu.Histogram)
            for more in ({}, {"curator": mu.DiscreteLaplace(1.0)})
        ],
    ]
    methods = set()
    for plan, column in asked:
        estimate = mu.run(plan, column, rng=mu.Random.seeded(1)).estimate
        for target in ("fixed", "superpopulation"):
            for simultaneous in (False, True):
                methods.add(estimate.interval_and_method(target=target, simultaneous=simultaneous)[1])

    assert len(methods) > 15
    assert [method for method in methods if untranslated(method)] == []


def of_shares(low: float, high: float) -> Scale:
    return scale_of(Intervals("", (IntervalRow("a", low), IntervalRow("b", high)), "share"))


@pytest.mark.parametrize("high", [0.0004, 0.003, 0.0101, 0.07, 0.33, 0.5, 0.734, 0.81, 0.999, 1.0, 1.3])
def test_scales_of_shares_start_at_zero_and_end_round(high: float) -> None:
    """Few ticks, never beyond 100 % unless an estimate is; what lies outside stands at the edge."""
    scale = of_shares(-0.01, high)

    assert scale.ticks[0] == 0 and 2 <= len(scale.ticks) <= 6
    assert high <= scale.high <= (1.0 if high <= 1 else 1.5) + 1e-12 and scale.low == -0.01
    assert scale.at(5.0) == 100 and scale.at(-5.0) == 0 and 0 < scale.at(0.0) < 100
    assert all("e-" not in tick.text for tick in scale.labels(Language("en")))
    assert math.isclose(scale.ticks[-1], scale.high, rel_tol=0.35)


@pytest.mark.parametrize("low", [0.0, -0.02, -0.3, -0.9, -4.0])
@pytest.mark.parametrize("high", [0.0101, 0.07, 0.5, 0.734, 0.999, 1.0, 1.3])
@pytest.mark.parametrize("width", [168, 280])
def test_labels_of_an_axis_never_touch(low: float, high: float, width: float) -> None:
    """The last one stays, with its unit; others leave where there is no room."""
    found = [(tick.at, tick.anchor, tick.text) for tick in of_shares(low, high).labels(Language("en"), width)]
    ends = []
    for at, anchor, text in found:
        wide = 100 * 7 * len(text) / width
        left = float(at) - wide * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        ends.append((left, left + wide))

    assert found[-1][2].endswith("%")
    assert all(a[1] < b[0] for a, b in itertools.pairwise(ends))
    if low == 0 and width == 280:
        assert len(found) >= 3


def test_estimates_below_zero_are_explained() -> None:
    """Few people and little budget: far below zero, and the page says that this may be."""
    said = flat(read(report_html(made(mu.SPL(SCHEMA, 0.4))[1])).text["en"])

    assert "its interval keeps to what is possible, so here an estimate lies outside its interval" in said
