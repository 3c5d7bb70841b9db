"""What people see: tables, notes, plots and what a machine reads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.core.estimates.estimate import Estimate
from murmure.show.cells import as_table, cell
from murmure.show.document import IntervalRow, Intervals
from murmure.show.language import Language

ANSWERS = mu.Categories(["never", "once", "often"])
PEOPLE = ["never"] * 700 + ["once"] * 200 + ["often"] * 100


def release(seeded: bool = True) -> mu.Release:
    plan = mu.Plan(mu.Histogram(ANSWERS), person=mu.GRR(ANSWERS, 1.0))
    return mu.run(plan, PEOPLE, rng=mu.Random.seeded(5) if seeded else None)


def words(shown: object) -> str:
    """The text of a result, without its line breaks."""
    return " ".join(str(shown).split())


def test_a_release_as_json_holds_figures_guarantees_and_digest() -> None:
    """to_json is what may be published: every figure with its interval, every observer with the five parts."""
    shown = release()
    fields = json.loads(shown.to_json())

    assert fields["plan"] == shown.plan and fields["seeded"] is True and fields["people"] == 1000
    assert [f["label"] for f in fields["figures"]] == ["never", "once", "often"]
    assert [[f["low"], f["high"]] for f in fields["figures"]] == shown.estimate.interval().tolist()
    assert fields["guarantees"]["reader"] | {"epsilon": 1.0} == fields["guarantees"]["collector"]
    assert set(fields["guarantees"]["reader"]) == {
        *("epsilon", "delta", "relation", "unit", "public", "method", "assumption")
    }
    clear = json.loads(mu.run(mu.Plan(mu.Histogram(ANSWERS)), PEOPLE).to_json())
    assert clear["guarantees"]["reader"]["epsilon"] == "inf"


def test_the_witness_has_words() -> None:
    """Every mechanism's certificate names the report and the two answers in the words of the question."""
    certificate = mu.certify(mu.GRR(ANSWERS, 1.0))
    unary = mu.certify(mu.OUE(ANSWERS, 1.0))
    number = mu.certify(mu.Window(mu.Integers(0, 9), 1.0))

    assert "the report 'often' is 2.718 times likelier from 'often' than from 'never'" in words(certificate)
    assert "'yes to never, no to the rest' is 2.718 times likelier from 'never' than from 'once'" in words(unary)
    assert "likelier from 0 than from 9" in words(number) or "likelier from 9 than from 0" in words(number)
    assert "2.718 times likelier" in certificate._repr_html_()


def test_many_reports_are_not_one_ratio() -> None:
    """The ratio in words belongs to one report; of several the certificate only says which tells most."""
    assert "best" in str(mu.certify(mu.GRR(ANSWERS, 1.0), reports=3))


def test_seeded_comes_first_and_secure_is_not_mentioned() -> None:
    """In a notebook the warning stands above the figures."""
    html = release()._repr_html_()

    assert html.index("SEEDED RANDOMNESS") < html.index("<table")
    assert "SEEDED" not in release(seeded=False)._repr_html_()


def test_labels_are_escaped() -> None:
    """A label is text, never markup."""
    domain = mu.Categories(["<script>alert(1)</script>", "&"])
    html = mu.run(mu.Plan(mu.Histogram(domain)), ["&", "&"])._repr_html_()

    assert "<script>alert" not in html and "&lt;script&gt;" in html and "&amp;" in html
    assert "<script>" not in mu.advise(domain, 1.0, 10)._repr_html_()


def test_an_exact_figure_is_known_exactly() -> None:
    """A sum in the clear has no interval to speak of, and the note says so."""
    note = words(mu.run(mu.Plan(mu.Histogram(ANSWERS)), PEOPLE).estimate)

    assert "known exactly, for these people" in note and "intervals by" not in note


def test_one_person_is_no_people() -> None:
    question = mu.Categories(["no", "yes"])
    release = mu.run(mu.Plan(mu.Histogram(question), person=mu.GRR(question, 1.0)), ["no"])

    assert "\n1 person; 95% intervals" in str(release.estimate)


def test_public_columns_are_not_counted_as_randomised() -> None:
    """A weight is carried as it is: no title and no legend says that a mechanism is on it."""
    from murmure.run.report.certificate_words import mechanism_title

    yes = mu.Categories(["no", "yes"])
    schema = mu.Schema({"a": yes, "weight": mu.Column(mu.Interval(0, 9), public=True), "b": yes})

    assert mechanism_title(mu.SPL(schema, epsilon=1.0)).endswith(", on 2 columns: 'a', 'b'")
    assert "The figures of 2 columns, from 100 people" in str(mu.advise(schema, epsilon=1.0, people=100))


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_an_estimate_is_plotted_to_a_file(suffix: str, tmp_path: Path) -> None:
    """Points, bars and the simulated truth, to a path as well as to an axis; long labels are shortened."""
    path = tmp_path / f"figure.{suffix}"
    domain = mu.Categories(["a" * 90, "b " * 60])
    estimate = mu.run(mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, 1.0)), ["a" * 90] * 50).estimate
    estimate.plot(path, truth=[1.0, 0.0])

    assert path.stat().st_size > 1000


def test_a_plot_refuses_a_truth_of_another_length() -> None:
    with pytest.raises(mu.MurmureError, match=r"plot\.truth must be 3 numbers"):
        release().estimate.plot(truth=[0.5, 0.5])


def test_linear_maps_are_checked() -> None:
    """Means, differences and totals of shares: one row of numbers for each label."""
    estimate = release().estimate
    difference = estimate.linear([1, -1, 0], ["never - once"])

    assert difference.mean == pytest.approx(estimate.mean[0] - estimate.mean[1])
    assert difference.interval_and_method()[1] == "delta"
    assert difference.variance() == pytest.approx(np.array([1, -1, 0]) @ estimate.cov @ np.array([1, -1, 0]))
    with pytest.raises(mu.MurmureError, match=r"a row of 3 numbers for each of 1 labels, got shape \(1, 2\)"):
        estimate.linear([1, -1], ["x"])


def test_reports_are_shown_by_number_and_plan() -> None:
    plan = mu.Plan(mu.Histogram(ANSWERS), person=mu.GRR(ANSWERS, 1.0))

    assert repr(plan.report(PEOPLE)) == f"Reports(1000 reports, plan {plan.digest[:12]}, secure)"
    assert "seeded" in repr(plan.report(PEOPLE, mu.Random.seeded(1)))


def test_randomness_is_secure_by_default() -> None:
    """Plan.report chooses security when nothing is said, and refuses what is no generator."""
    plan = mu.Plan(mu.Histogram(ANSWERS), person=mu.GRR(ANSWERS, 1.0))

    assert not plan.report(PEOPLE).seeded
    with pytest.raises(mu.MurmureError, match=r"Plan\.report: rng must be a murmure\.Random, got 'Generator'"):
        plan.report(PEOPLE, np.random.default_rng(0))


def test_advice_speaks_of_errors() -> None:
    """A standard error in percentage points, on average and in the worst case, with its legend."""
    advice = mu.advise(ANSWERS, 1.0, 5000)
    best = advice.best

    assert f"{100 * best['mean_variance'] ** 0.5:.2f}" in str(advice)
    assert "standard error of a share in percentage points" in words(advice)
    assert "<- best" in str(advice) and "best" in advice._repr_html_()


def test_a_near_miss_of_a_column_is_named() -> None:
    import pandas as pd

    schema = mu.Schema({"age": mu.Integers(0, 99)})
    with pytest.raises(mu.MurmureError, match="did you mean 'Age'"):
        mu.run(mu.Plan(mu.Mean(schema["age"])), pd.DataFrame({"Age": [3], "x": [1]}))


def test_no_rows_appear_in_a_message() -> None:
    """Arguments the wrong way round: the message names the type, not the data."""
    import pandas as pd

    frame = pd.DataFrame({"secret": ["confession"]})
    with pytest.raises(mu.MurmureError) as refusal:
        mu.run(frame, mu.Plan(mu.Histogram(ANSWERS)))

    assert "confession" not in str(refusal.value) and "DataFrame" in str(refusal.value)


def test_the_commonest_slip_with_plans_is_named() -> None:
    with pytest.raises(mu.MurmureError, match="pass the text, not the path"):
        mu.Plan.from_json("plan.json")
    with pytest.raises(mu.MurmureError, match=r"plan.guarantees"):
        mu.certify(mu.Plan(mu.Histogram(ANSWERS)))


def test_saving_where_there_is_no_folder(tmp_path: Path) -> None:
    plan = mu.Plan(mu.Histogram(ANSWERS), person=mu.GRR(ANSWERS, 1.0))
    with pytest.raises(mu.MurmureError, match="there is no folder"):
        plan.report(PEOPLE).save(tmp_path / "absent" / "x.npz")


# -- several columns --------------------------------------------------------------------------------------------------

LONG = "a column whose name goes on and on, $x$ and beyond " * 2
SCHEMA = mu.Schema(
    {
        "smoker": mu.Categories(["no", "yes"]),
        LONG: mu.Categories([f"category {i} <b>" for i in range(45)]),
        "children": mu.Integers(0, 4),
        "age": mu.Integers(18, 99),
    }
)


def of_records(mechanism: object) -> mu.Release:
    g = np.random.default_rng(3)
    rows = {
        "smoker": g.choice(["no", "yes"], 600).tolist(),
        LONG: [f"category {i} <b>" for i in g.integers(0, 45, 600)],
        "children": g.integers(0, 5, 600),
        "age": g.integers(18, 100, 600),
    }
    return mu.run(mu.Plan(mu.Marginals(SCHEMA), person=mechanism), rows, rng=mu.Random.seeded(5))


def test_columns_are_aligned_and_shared_notes_appear_once() -> None:
    """One table under the other; people, methods, remarks and public knowledge once; nothing wider than a page."""
    shown = of_records(mu.SMP(SCHEMA, 3.0, draw="round-robin"))
    text, said = repr(shown), words(shown)

    assert said.count("600 people, of whom 150 reported each column") == 1
    assert said.count("the 2 answers 'no', 'yes' of column 'smoker'") == 1 and "Public to all:" in said
    assert said.count("for these people (fixed population)") == 1
    assert re.search(r"intervals of smoker, .* by Clopper-Pearson mapped \(every value under which", said)
    assert re.search(r"intervals of mean of children, age by Gaffke \(limits for answers", said)
    assert "provided rows stand in random order" in said
    assert "epsilon = 3, delta = 0" in said and "about one attribute" in said
    assert "... 5 more rows ..." in said
    assert max(map(len, text.splitlines())) <= 100
    titles = [block.title for block in shown.estimate.document().of(Intervals)]
    assert titles == ["smoker", LONG, "children", "mean"]


def test_one_attribute_reads_as_it_always_did() -> None:
    """One certificate is printed whole."""
    text = repr(release())

    assert "  public: the 3 answers 'never', 'once', 'often'; the mechanism and its integers; who takes part" in text
    assert "Public to all" not in text


def test_columns_without_figures_say_why() -> None:
    """A plain table's numbers: no nan and no people made up, in text, HTML and pictures."""
    shown = of_records(mu.Plain(SCHEMA, 4.0))
    text, page = repr(shown), " ".join(shown._repr_html_().split())

    assert "nan" not in text.split() and "nan" not in page and "0 people;" not in text.replace("600 people;", "")
    assert "no figure of children, age: reports near a bound can only err inward" in " ".join(text.split())
    assert "no figure of children, age" in page and "category 1 &lt;b&gt;" in page and "<b>," not in page
    assert repr(shown.estimate["age"]).startswith("no figure: reports near a bound")
    assert "no figure" in shown.estimate["age"]._repr_html_()


def test_public_knowledge_appears_once_in_a_notebook() -> None:
    for shown in (of_records(mu.SPL(SCHEMA, 4.0)), release()):
        assert shown._repr_html_().count("the mechanism and its integers") == 1


@pytest.mark.parametrize("suffix", ["png", "svg"])
@pytest.mark.parametrize("mechanism", [mu.SMP(SCHEMA, 3.0), mu.Plain(SCHEMA, 2.0)], ids=["SMP", "Plain"])
def test_columns_are_plotted_to_a_file(suffix: str, mechanism: object, tmp_path: Path) -> None:
    """Panels for every column: many categories, estimates below zero, columns without figures, true values."""
    estimates, path = of_records(mechanism).estimate, tmp_path / f"figure.{suffix}"
    truth = {"smoker": [0.5, 0.5], "age": 58.5}
    estimates.plot(path, truth=truth)

    assert (estimates[LONG].mean < 0).any()
    assert path.stat().st_size > 5000
    if suffix == "svg":
        drawn = path.read_text(encoding="utf-8")
        assert ("the largest 30 of 45" in drawn) and "truth (simulation)" in drawn
        assert ("no figure" in drawn) == (type(mechanism).__name__ == "Plain")


def test_a_plot_of_columns_is_a_figure_and_checks_its_truth() -> None:
    import matplotlib.pyplot as plt

    estimates = of_records(mu.SMP(SCHEMA, 3.0)).estimate
    figure = estimates.plot(level=0.9)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]

    assert labels == ["90% interval", "estimate"]
    age = next(ax for part in figure.subfigs for ax in part.axes if ax.get_title(loc="left") == "age")
    assert age.get_xlim() == (18, 99)
    plt.close(figure)
    with pytest.raises(mu.MurmureError, match=r"truth of column 'smoker' must be 2 numbers"):
        estimates.plot(truth={"smoker": [1.0]})
    with pytest.raises(mu.MurmureError, match="truth names columns that were not estimated: 'x'"):
        estimates.plot(truth={"x": [1.0]})
    with pytest.raises(mu.MurmureError, match="truth must map columns"):
        estimates.plot(truth=[1.0])


def test_the_largest_of_many_are_drawn() -> None:
    """45 figures are too many for a picture: the thirty largest, the largest on top."""
    import matplotlib.pyplot as plt

    estimate = of_records(mu.SMP(SCHEMA, 3.0)).estimate[LONG]
    ax = estimate.plot(truth=np.full(45, 1 / 45))
    marks = next(line for line in ax.get_lines() if line.get_label() == "estimate")

    assert np.asarray(marks.get_xdata()).tolist() == sorted(estimate.mean.tolist(), reverse=True)[:30]
    assert np.asarray(marks.get_ydata())[0] == 29
    plt.close(ax.figure)


# -- noise at the curator ---------------------------------------------------------------------------------------------

AGES = mu.Schema({"age": mu.Integers(0, 100), "region": mu.Categories(["north", "south", "west"])})


def noisy(statistic: object, west: int = 300) -> mu.Release:
    rows = {"age": [48, 52] * 500 + [50] * west, "region": ["north", "south"] * 500 + ["west"] * west}
    return mu.run(mu.Plan(statistic, curator=mu.DiscreteLaplace(epsilon=1.0)), rows, rng=mu.Random.seeded(3))


def test_counts_are_drawn_from_zero_in_people() -> None:
    """Rows from the top, one below the other, in the order of the labels; whole people on the axis."""
    import matplotlib.pyplot as plt

    estimate = noisy(mu.GroupBy(mu.Count(AGES["age"]), AGES["region"])).estimate
    ax = estimate.plot()
    marks = next(line for line in ax.get_lines() if line.get_label() == "estimate")

    assert [label.get_text() for label in ax.get_yticklabels()] == ["north", "south", "west"]
    assert np.asarray(marks.get_ydata()).tolist() == [2, 1, 0] == ax.get_yticks().tolist()
    assert ax.get_xlabel() == "people" and ax.get_xlim()[0] <= 0
    bars = ax.collections[0].get_segments()
    ends = [[float(end[0]) for end in bar] for bar in bars]
    assert ends == [[np.floor(low), np.ceil(high)] for low, high in estimate.interval()]  # whole people
    plt.close(ax.figure)
    alone = noisy(mu.Count(AGES["age"])).estimate.plot()
    assert alone.get_xlim()[0] > 1000  # one count has nothing to be compared with: the axis shows its interval
    plt.close(alone.figure)


def test_an_interval_of_the_whole_range_does_not_crush_a_plot() -> None:
    """Three people in a group: anything from 0 to 100; the axis shows the others, and arrows say that it goes on."""
    import matplotlib.pyplot as plt

    estimate = noisy(mu.GroupBy(mu.Mean(AGES["age"]), AGES["region"]), west=3).estimate
    ax = estimate.plot()
    left, right = ax.get_xlim()
    marks = {line.get_marker() for line in ax.get_lines()}

    assert estimate.interval()[2].tolist() == [0, 100]
    assert 40 < left < 48 and 52 < right < 60 and {"<", ">"} <= marks
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == ["95% interval", "estimate"]
    plt.close(ax.figure)
    whole = noisy(mu.GroupBy(mu.Mean(AGES["age"]), AGES["region"])).estimate.plot()
    assert not {"<", ">"} & {line.get_marker() for line in whole.get_lines()}
    plt.close(whole.figure)
    row = estimate._repr_html_().split("north")[1].split("</tr>")[0]
    assert float(row.split('width="')[2].split("%")[0]) > 5  # on the whole range it would be 1


# -- learners ---------------------------------------------------------------------------------------------------------

MARKUP = "<b>bold</b>"
SICK = mu.Schema(
    {
        "age": mu.Integers(0, 99),
        "smoker": mu.Categories(["never", MARKUP]),
        "sick": mu.Categories(["no", "yes"]),
        "pressure": mu.Integers(80, 180),
    }
)


def some_people() -> dict[str, object]:
    g = np.random.default_rng(8)
    age = g.integers(0, 100, 4000)
    return {
        "age": age,
        "smoker": g.choice(["never", MARKUP], 4000).tolist(),
        "sick": np.where(age + g.normal(0, 10, 4000) > 50, "yes", "no").tolist(),
        "pressure": np.clip(90 + age // 2 + g.integers(-5, 6, 4000), 80, 180),
    }


def fitted(kind: str, privacy: object, seeded: bool = False, **how: object) -> Any:
    from murmure import learn

    rng = mu.Random.seeded(2) if seeded else None
    if kind == "KMeans":
        schema = mu.Schema({name: SICK[name] for name in ("age", "pressure")})
        return learn.KMeans(2, schema, privacy, rng=rng, **how).fit(some_people())
    target = "pressure" if kind == "LinearRegression" else "sick"
    return getattr(learn, kind)(SICK, target, privacy, rng=rng, **how).fit(some_people())


SHOWN = {
    "NaiveBayes": ("age: mean", "age: sd", f"smoker = {MARKUP}", "people", "share", "pulled towards those of all"),
    "LinearRegression": ("intercept", "coef", "std err", f"smoker={MARKUP}", "the matrix stands clear of the noise"),
    "LogisticRegression": ("log-odds", "yes against no", "intercept", f"smoker={MARKUP}"),
    "KMeans": ("cluster 0", "cluster 1", "people", "sizes below zero are shown as 0"),
}


@pytest.mark.parametrize("kind", SHOWN)
def test_a_learner_is_summed_up(kind: str) -> None:
    """Parameters, columns, what was learned, post-processing, cost, every observer; as text and, escaped, as HTML."""
    model = fitted(kind, mu.Central(epsilon=20.0), seeded=True)
    text, page = model.summary(), model._repr_html_()
    words = " ".join(text.split())

    assert text.startswith(f"{kind}(") and "privacy=Central(epsilon=20.0)" in text
    for part in (
        *SHOWN[kind],
        "age (a whole number from 0 to 99)",
        "SEEDED RANDOMNESS",
        "cost: epsilon = 20",
        "curator: no differential privacy; the curator sees every row",
        "reader: epsilon = 20, delta = 0 for the record of one person (add/remove: somebody is in the data or not)",
    ):
        assert part in words, part
    assert MARKUP not in page and ("&lt;b&gt;bold&lt;/b&gt;" in page or kind == "KMeans")
    assert "SEEDED RANDOMNESS" in page and "epsilon = 20" in page and "the curator sees every row" in page
    assert max(map(len, text.splitlines())) <= 100
    assert len(repr(model).splitlines()) == 1 and len(repr(model)) < 300  # print(model) stays short
    assert "4000" not in text and "4000" not in page


def test_coefficients_have_the_standard_errors_that_were_learned() -> None:
    model = fitted("LinearRegression", mu.Central(epsilon=20.0), seeded=True)
    line = next(line for line in model.summary().splitlines() if line.startswith("age ")).split()
    coef, error = model.coef_[0], model.bse_[1]

    assert [float(cell) for cell in line[1:]] == pytest.approx(
        [coef, error, coef - 1.96 * error, coef + 1.96 * error], rel=1e-4
    )
    ridge = fitted("LinearRegression", mu.Central(epsilon=1.0), ridge=4.0)
    assert ridge.bse_ is None and "std err" not in ridge.summary().split("columns")[0]
    assert (
        "none: ridge=4 was asked for, whatever the noise is: the coefficients are biased towards zero"
        in " ".join(ridge.summary().split())
        and "nan" not in ridge.summary()
    )
    origin = fitted("LinearRegression", mu.Clear(), fit_intercept=False)
    assert "intercept" not in origin.summary().split("columns")[0].split("\n", 1)[1]


def test_a_summary_says_whom_a_learner_trusts() -> None:
    """Secure is not called seeded; Local has no curator; in the clear nothing is protected, and nothing is a cost."""
    central, local, clear = (
        " ".join(fitted("NaiveBayes", p).summary().split()) for p in (mu.Central(1.0), mu.Local(4.0), mu.Clear())
    )

    assert "SEEDED" not in central and "their numbers are noisy too" in central
    assert "collector and reader: epsilon = 4" in local and "randomised at the person" in local
    assert "curator" not in local and "cost: epsilon" not in local
    assert "curator and reader: no differential privacy; nothing is randomised" in clear
    assert "cost: epsilon" not in clear and "pulled" not in clear and "noisy" not in clear
    plain = " ".join(fitted("NaiveBayes", mu.Local(4.0, debias=False)).summary().split())
    assert "pulled" not in plain  # rows as they are: nobody takes noise off them


def test_before_fit_there_is_nothing_to_sum_up() -> None:
    from murmure.learn import NaiveBayes

    model = NaiveBayes(SICK, "sick", mu.Central(1.0))
    assert "Not fitted yet" in model._repr_html_() and "<b>bold" not in model._repr_html_()
    with pytest.raises(mu.MurmureError, match="not fitted yet"):
        model.summary()


# -- digits ------------------------------------------------------------------------------------------------------------


def figure(value: float, unit: Any) -> str:
    """As it stands beside one that is not whole."""
    rows = (IntervalRow("a", value), IntervalRow("b", 0.5))
    return cell(as_table(Intervals("", rows, unit)).rows[0][1], Language("en"))


def test_large_sums_and_whole_numbers_are_written_out() -> None:
    """No exponent below 10**15, thousands in groups, no decimals where every figure is whole."""
    for value, text in (
        (11_630_712.4, "11,630,712"),
        (-12345.678, "-12,345.7"),
        (28.5, "28.5000"),
        (2e15, "2.0000e+15"),
    ):
        assert figure(value, "value") == text
    counts = (4999.0, -0.3, 999.0, 1e14)
    assert [figure(v, "count") for v in counts] == ["4,999", "0", "999", "100,000,000,000,000"]
    assert figure(float("nan"), "value") == "too noisy" and figure(1.0, "share") == "1.0000"
    age = mu.Integers(18, 60, column="age")
    table = {"age": [20, 29, 30] * 400}
    for statistic, lines in (
        (mu.Quantile(age, (0.25, 0.5)), ["quantile 0.25        20        20        20", "median               29"]),
        (mu.Sum(mu.Integers(0, 10**5, column="age")), ["sum    31,600    31,600    31,600"]),
    ):
        shown = mu.run(mu.Plan(statistic), table).estimate
        assert all(line in repr(shown) for line in lines), repr(shown)
        assert ".0000" not in shown._repr_html_() and "e+" not in shown._repr_html_()
    halves = Estimate(["a", "b"], np.array([20.0, 28.5]), 9, "value", reason="none")
    assert "20.0000" in repr(halves), "one that is not whole has decimals, and then all of them"


def test_json_says_whether_the_number_of_people_is_noisy() -> None:
    """Under a curator's noise n is about so many; a choice says no number; in the clear it is exact."""
    noisy = mu.run(mu.Plan(mu.Histogram(ANSWERS), curator=mu.DiscreteLaplace(epsilon=1.0)), PEOPLE)
    chosen = mu.run(mu.Plan(mu.Mode(ANSWERS), curator=mu.PermuteAndFlip(epsilon=1.0)), PEOPLE)
    releases = [json.loads(r.to_json()) for r in (noisy, chosen, release())]

    assert [h["people_noisy"] for h in releases] == [True, False, False]
    assert releases[1]["people"] is None


def test_a_choice_has_nothing_to_plot_and_says_so() -> None:
    chosen = mu.run(mu.Plan(mu.Mode(ANSWERS), curator=mu.PermuteAndFlip(epsilon=1.0)), PEOPLE).estimate

    for ask in (chosen.plot, chosen.interval):
        with pytest.raises(mu.MurmureError, match=r"(?s) label.*Histogram\(domain\)"):
            ask()
    assert hasattr(mu, mu.Mode.choose_with)
