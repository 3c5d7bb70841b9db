"""Regressions on randomised answers: right on average, errors that hold the randomisation, the same anywhere."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.core.errors import InvalidParameter, PlanRefused
from murmure.econometrics.algebra.positive_definite import first_not_positive
from murmure.econometrics.errors import Collinear, FitFailed
from murmure.econometrics.fit import ask
from murmure.econometrics.model import model_from_dict, model_to_dict
from murmure.econometrics.models.ols import ols
from murmure.econometrics.models.randomised_ols import EXAMPLES, RandomisedOLS, randomised_ols
from murmure.econometrics.rows.corrected_products import CorrectedProducts
from murmure.econometrics.rows.reported_columns import ReportedColumn
from murmure.local.base.report_columns import ReportColumnCodec
from murmure.statistics.exact.function_sums import FunctionSums
from murmure.statistics.expressions.terms import grid_of

LABELS = mu.Categories(["never", "once", "daily"])
YES = mu.Categories(["no", "yes"])
SCHEMA = mu.Schema(
    {"pain": mu.Decimals(-40, 60, places=6), "age": mu.Integers(0, 9), "smoker": YES, "income": mu.Integers(0, 7)}
)


def written(name: str, mechanism: Any, values: Any, rng: mu.Random) -> Any:
    """Reports, as a sanitised table holds them."""
    reports = mechanism.report(values, rng)
    return ReportColumnCodec(name, mechanism).write(reports, len(reports), None)


def people(seed: int, n: int) -> dict[str, Any]:
    """pain = 2 + age + 4 smoker + 1.5 income + noise; smokers earn less, and are older."""
    g = np.random.default_rng(seed)
    age = g.integers(0, 10, n)
    smoker = g.random(n) < 0.2 + 0.05 * age
    income = np.clip(g.integers(0, 8, n) - 2 * smoker, 0, 7)
    pain = 2 + age + 4 * smoker + 1.5 * income + g.normal(0, 1, n)
    return {"pain": np.round(pain, 6), "age": age, "smoker": np.where(smoker, "yes", "no"), "income": income}


TRUTH = np.array([2.0, 1.0, 4.0, 1.5])


# -- readings ----------------------------------------------------------------------------------------------------------

MECHANISMS = [
    mu.GRR(LABELS, 0.7),
    mu.Warner(YES, truth=0.6, yes_coin=0.3),
    mu.UnrelatedQuestion(YES, truth=0.7, innocuous=0.25),
    mu.GRR(mu.Integers(3, 9), 0.5),
    mu.GRR(mu.Interval(0.0, 3.0, cells=6), 2.0),
    mu.Piecewise(mu.Interval(-2.0, 10.0, cells=8), 1.0),
    mu.SquareWave(mu.Integers(0, 5), 2.0),
    mu.Hybrid(mu.Integers(-3, 5), 2.0),
    mu.Hybrid(mu.Integers(-3, 5), 0.5),
    mu.Duchi(mu.Integers(-3, 5), 2.0),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_readings_are_unbiased(mechanism: Any) -> None:
    """By enumeration of the law: sum over reports of P[report | x] r(report) is f(x), at every x."""
    held, k = ReportedColumn("x", mechanism), mechanism.domain.size
    if held.is_number:
        first, step = grid_of(mechanism.domain)
        functions: list[Any] = [(1, [first + step * c for c in range(k)])]
        if held.has_unbiased(2):
            functions.append((2, [(first + step * c) ** 2 for c in range(k)]))
    else:
        table = tuple(Fraction(c * c + 1, 3) for c in range(k))
        functions = [(table, list(table))]
    for function, wanted in functions:
        reading = held.unbiased_values(function)
        for x in range(k):
            found = sum(mechanism.channel.prob(x, y) * Fraction(r) for y, r in enumerate(reading.tolist()))

            assert abs(found - wanted[x]) < Fraction(1, 10**9) * (1 + abs(wanted[x]))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_cells_of_a_table_are_the_reports_again(mechanism: Any) -> None:
    """What `sanitise` writes for every report is read back as this report, through the domain of the table."""
    held = ReportedColumn("x", mechanism)
    count = len(held.unbiased_values(1 if held.is_number else (Fraction(1),) * mechanism.domain.size))
    reports = np.arange(count)
    column = ReportColumnCodec("x", mechanism).write(reports.astype(np.uint32), count, None)
    schema = mu.Schema({"x": held.cells})
    [codes] = schema.encode({"x": column})
    x: tuple[Any, ...]
    if isinstance(mechanism.domain, mu.Categories):
        x = tuple((codes == c).astype(float) for c in range(1, mechanism.domain.size))
    elif held.is_number:
        x = (held.cells.floats(codes),)
    else:
        first, step = grid_of(mechanism.domain)
        x = (float(first) + float(step) * codes,)

    assert len(x) == len(held.inputs)
    assert held.reports(x).tolist() == reports.tolist()


def test_products_are_unbiased_within_and_between_columns() -> None:
    """By enumeration of both laws: every product that is added up is that of the true row, on average."""
    mechanisms = {"smoker": mu.GRR(LABELS, 1.0), "income": mu.Piecewise(mu.Integers(0, 3), 1.5)}
    columns = tuple(ReportedColumn(name, m) for name, m in mechanisms.items())
    terms = (
        "1",
        "smoker == 'once'",
        "smoker == 'daily'",
        "age",
        "income",
        "(smoker == 'daily') * age - 3",
        "(smoker == 'once') * income",
        "not (smoker == 'never' and age > 2)",
        "(income - 1) / 2",
    )
    asked = CorrectedProducts(columns, terms, "pain")
    age, pain = 5.0, 7.25
    reports = list(itertools.product(range(3), range(columns[1].mechanism.outputs)))
    other = {"age": age, "pain": pain, "age > 2": 1.0}
    shown = columns[1].cell_values
    x = [np.array([float(s == c) for s, _ in reports]) for c in (1, 2)]
    x.append(np.array([shown[i] for _, i in reports]))
    x += [np.full(len(reports), other[text]) for text in asked.inputs[3:]]
    rows = asked.rows(tuple(x))
    for smoker, income in itertools.product(range(3), range(4)):
        weights = [float(columns[0].mechanism.channel.prob(smoker, s) * columns[1].mechanism.channel.prob(income, i))
                   for s, i in reports]  # fmt: skip
        once, daily = float(smoker == 1), float(smoker == 2)
        true = [1, once, daily, age, income, daily * age - 3, once * income, 1 - (smoker == 0), (income - 1) / 2, pain]
        for (a, b), row in zip(asked.pairs, rows, strict=True):
            assert np.dot(weights, row) == pytest.approx(true[a] * true[b], abs=1e-9)
    assert CorrectedProducts.from_text(asked.to_text()) == asked


# -- estimates ---------------------------------------------------------------------------------------------------------


def test_estimates_are_right_on_average_and_intervals_cover() -> None:
    """120 samples of 2 500 people. Of each of four coefficients: the mean lies within 4.5 of its standard errors of the
    truth (another seed fails once in 15 000), 95 % intervals cover 88 % or more (once in 250), and the errors that are
    said are the spread that is seen, within a quarter (once in 300).
    """
    smoker, income = mu.GRR(YES, 2.0), mu.Piecewise(SCHEMA["income"], 4.0)
    found, errors, naive = [], [], []
    for i in range(120):
        rows = people(1000 + i, 2500)
        rng = mu.Random.seeded(9000 + i)
        table = {
            **rows,
            "smoker": written("smoker", smoker, rows["smoker"], rng),
            "income": written("income", income, rows["income"], rng),
        }
        held = {"smoker": smoker, "income": income}
        made = randomised_ols("pain ~ age + smoker + income", table, schema=SCHEMA, randomised=held)
        found.append(made.params)
        errors.append(made.bse)
        if i < 20:
            z = np.column_stack(
                [np.ones(2500), rows["age"], np.asarray(table["smoker"]) == "yes", np.asarray(table["income"])]
            )
            naive.append(np.linalg.lstsq(z.astype(float), rows["pain"], rcond=None)[0])
    beta, bse = np.array(found), np.array(errors)
    spread = beta.std(axis=0, ddof=1)

    assert made.names == ("Intercept", "age", "smoker[T.yes]", "income")
    assert (np.abs(beta.mean(axis=0) - TRUTH) < 4.5 * spread / np.sqrt(120)).all()
    assert (np.mean(np.abs(beta - TRUTH) < 1.96 * bse, axis=0) >= 0.88).all()
    assert (np.abs(np.median(bse, axis=0) / spread - 1) < 0.25).all()
    # the lesson: reports taken for the truth pull their own coefficients towards 0, and age takes what smoking loses
    leaning = np.mean(naive, axis=0)
    assert leaning[2] < 0.8 * 4.0 and leaning[3] < 0.9 * 1.5 and leaning[1] > 1.02
    assert made.rsquared is not None and 0.8 < made.rsquared < 1.0
    assert made.scale is not None and 0.3 < float(made.scale) < 3.0  # 1, from sums that vary by the randomisation


def test_with_a_large_epsilon_it_is_least_squares_with_hc0() -> None:
    """Reports are then the truth: coefficients, errors, R-squared as statsmodels has them."""
    import statsmodels.api as sm

    rows = people(7, 400)
    smoker, income = mu.GRR(YES, 40.0), mu.Piecewise(SCHEMA["income"], 60.0)
    rng = mu.Random.seeded(1)
    table = {
        **rows,
        "smoker": written("smoker", smoker, rows["smoker"], rng),
        "income": written("income", income, rows["income"], rng),
    }
    held = {"smoker": smoker, "income": income}
    made = randomised_ols("pain ~ age * smoker + income", table, schema=SCHEMA, randomised=held)
    yes = (rows["smoker"] == "yes").astype(float)
    names = {
        "Intercept": np.ones(400),
        "age": rows["age"],
        "smoker[T.yes]": yes,
        "income": rows["income"],
        "age:smoker[T.yes]": rows["age"] * yes,
    }
    wanted = sm.OLS(rows["pain"], np.column_stack([names[name] for name in made.names])).fit(cov_type="HC0")

    assert made.params == pytest.approx(wanted.params, rel=1e-7)
    assert made.bse == pytest.approx(wanted.bse, rel=1e-7)
    assert made.pvalues == pytest.approx(wanted.pvalues, rel=1e-5, abs=1e-12)
    assert made.rsquared == pytest.approx(wanted.rsquared, rel=1e-7)
    plain = ols("pain ~ age * smoker + income", rows, schema=SCHEMA)
    assert made.params == pytest.approx(plain.params, rel=1e-7)


def test_between_parties_it_is_the_same_to_the_last_bit() -> None:
    """A sanitised table, cut in three: in the clear, table by table, on threads and by masked sums."""
    rows = people(3, 300)
    private = mu.Schema({name: SCHEMA[name] for name in ("smoker", "income")})
    mechanism = mu.SPL(private, 5.0, oracle=("GRR", "Hybrid"))
    sanitised = mu.sanitise({n: rows[n] for n in private}, mechanism, rng=mu.Random.seeded(2))
    table = {**rows, **{name: sanitised.column(name).to_pylist() for name in private}}
    held = dict(zip(private.private, mechanism.parts, strict=True))

    def cut(a: int, b: int) -> dict[str, Any]:
        return {name: values[a:b] for name, values in table.items()}

    def figures(**how: Any) -> Any:
        data = how.pop("data", table)
        made = randomised_ols("pain ~ age + smoker:income", data, schema=SCHEMA, randomised=held, **how)
        return made.coefficients, made.covariance, made.rss

    alone = figures()
    parts = [cut(0, 40), cut(40, 170), cut(170, 300)]
    assert figures(data=parts) == alone
    assert figures(engine=mu.Memory(threads=2)) == alone
    assert figures(data=parts, privacy=mu.Secure(rows_are_public=True)) == alone
    said = randomised_ols("pain ~ age", parts, schema=SCHEMA, randomised={"age": mu.GRR(SCHEMA["age"], 9.0)},
                          privacy=mu.Secure(rows_are_public=True))  # fmt: skip
    assert said.how is not None and said.how.parties == 3


def test_an_outcome_may_be_randomised_by_one_bit() -> None:
    """Duchi tells no squares: coefficients and errors need none, R-squared does, and is not known."""
    rows = people(5, 4000)
    duchi, warner = mu.Duchi(SCHEMA["income"], 3.0), mu.Warner(YES, epsilon=2.0)
    rng = mu.Random.seeded(3)
    table = {**rows, "income": written("income", duchi, rows["income"], rng)}
    made = randomised_ols("income ~ smoker", table, schema=SCHEMA, randomised={"income": duchi})
    wanted = ols("income ~ smoker", rows, schema=SCHEMA)

    assert (np.abs(made.params - wanted.params) < 5 * made.bse).all()  # another seed fails once in some 100 000
    assert (made.bse > 1.5 * wanted.bse).all()
    assert made.rsquared is made.scale is made.fvalue is None
    assert any("tell no squares" in note for note in made.notes)
    # a label as the outcome is its own square
    table = {**rows, "smoker": written("smoker", warner, rows["smoker"], rng)}
    share = randomised_ols("smoker ~ age", table, schema=SCHEMA, randomised={"smoker": warner})
    assert (np.abs(share.params - [0.2, 0.05]) < 5 * share.bse).all() and share.rsquared is not None
    assert any("'yes'" in note for note in share.notes)


def test_a_label_of_numbers_may_enter_by_any_function() -> None:
    """Through GRR every function of the column has readings: powers, comparisons, both at once."""
    rows = people(11, 6000)
    age = mu.GRR(SCHEMA["age"], 4.0)
    table = {**rows, "age": written("age", age, rows["age"], mu.Random.seeded(4))}
    formula = "pain ~ age + I(age ** 3) + I(age > 6)"
    made = randomised_ols(formula, table, schema=SCHEMA, randomised={"age": age})
    wanted = ols(formula, rows, schema=SCHEMA)

    assert (np.abs(made.params - wanted.params) < 5 * made.bse).all()  # another seed fails once in some 100 000
    assert made.names == wanted.names


def test_what_every_person_paid_is_said() -> None:
    rows = people(2, 500)
    smoker, income = mu.UnrelatedQuestion(YES, truth=0.8, innocuous=0.25), mu.Piecewise(SCHEMA["income"], 4.0)
    rng = mu.Random.seeded(8)
    table = {
        **rows,
        "smoker": written("smoker", smoker, rows["smoker"], rng),
        "income": written("income", income, rows["income"], rng),
    }
    held = {"smoker": smoker, "income": income}
    made = randomised_ols("pain ~ smoker + income", table, schema=SCHEMA, randomised=held)
    together = mu.certify(smoker).epsilon + mu.certify(income).epsilon
    said = " ".join(made.summary().split())

    assert made.cov_type == "randomised" and not made.use_t
    assert made.extras["Epsilon of a person"] == pytest.approx(together)
    assert "income came through Piecewise: epsilon = 4 for every person" in said
    assert "the innocuous answer is independent" in said and "together these columns cost" in said
    assert "sample and the randomisation together" in said and "no report protects: pain" in said
    assert made.predict({"smoker": ["yes"], "income": [3]})[0] == pytest.approx(
        made["Intercept"] + made["smoker[T.yes]"] + 3 * made["income"]
    )


# -- data, and refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.model.design.formula)
def test_the_question_travels_as_json(example: Any) -> None:
    model = example.model
    again = model_from_dict(json.loads(json.dumps(model_to_dict(model))))
    plan = mu.Plan(next(model.steps()), parties=mu.PairwiseMasks(3))

    assert again == model and next(again.steps()) == next(model.steps())
    assert mu.Plan.from_json(plan.to_json()).digest == plan.digest
    words = plan.statistic.words()
    assert "GRR" in words or "Piecewise" in words


def test_questions_that_do_not_fit_together_are_refused() -> None:
    """A stranger's question is read with care: powers and products are bounded, inputs are those that it says."""
    held: Any = next(EXAMPLES[0].model.steps())
    for change in (
        {"inputs": held.inputs[1:]},
        {"at": ("1", "2")},
        {"settings": ("other", held.settings[1])},
        {"settings": ("scatter", held.settings[1])},
    ):
        given = {"inputs": held.inputs, "at": held.at, "settings": held.settings, **change}
        with pytest.raises(InvalidParameter):
            FunctionSums(held.domain, "randomised", **given)
    text = mu.Plan(held).to_json()
    for old, new in (("GRR", "open"), ('\\"terms\\"', '\\"other\\"'), ("smoker == 'once'", "age ** 1000000")):
        assert old in text
        with pytest.raises((PlanRefused, InvalidParameter)):
            mu.Plan.from_json(text.replace(old, new))
    many = " + ".join(f"(smoker == 'once') * a{i}" for i in range(20))
    columns = (ReportedColumn("smoker", mu.GRR(LABELS, 1.0)),)
    with pytest.raises(InvalidParameter, match="parts once it is multiplied out"):
        _ = CorrectedProducts(columns, (f"({many}) ** 4",), "pain").products
    for wrong in ("(smoker == 'once') * age / age", "((smoker == 'once') * age) ** age"):
        with pytest.raises(InvalidParameter):
            _ = CorrectedProducts(columns, (wrong,), "pain").products


REFUSED: dict[str, Any] = {
    "a square of one bit": ("pain ~ income", {"income": mu.Duchi(SCHEMA["income"], 1.0)}, "give no squares"),
    "Hybrid with little": ("pain ~ income", {"income": mu.Hybrid(SCHEMA["income"], 0.5)}, "give no squares"),
    "a power": ("pain ~ I(income ** 2)", {"income": mu.Piecewise(SCHEMA["income"], 1.0)}, r"needs income \*\* 4"),
    "a third power": ("I(income ** 3) ~ age", {"income": mu.Piecewise(SCHEMA["income"], 1.0)}, r"income \*\* 3"),
    "a logarithm": ("pain ~ log(income + 1)", {"income": mu.Piecewise(SCHEMA["income"], 1.0)}, "no other function"),
    "a comparison": ("pain ~ I(income > 3)", {"income": mu.Piecewise(SCHEMA["income"], 1.0)}, "no other function"),
    "two columns in one": ("pain ~ I(income > age)", {"income": mu.GRR(SCHEMA["income"], 1.0)}, "cannot be separated"),
    "bits": ("pain ~ smoker", {"smoker": mu.OUE(YES, 1.0)}, "cannot be used in a regression"),
    "a biased mechanism": (
        "pain ~ income",
        {"income": mu.BoundedLaplace(SCHEMA["income"], 1.0)},
        "cannot be used in a regression",
    ),
    "no mechanism": ("pain ~ smoker", {"smoker": "GRR"}, "cannot be used in a regression"),
    "another domain": ("pain ~ smoker", {"smoker": mu.GRR(LABELS, 1.0)}, "in the schema"),
    "a column that is not read": ("pain ~ age", {"smoker": mu.GRR(YES, 1.0)}, "reads none"),
    "nothing": ("pain ~ age", {}, "must name columns"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_reports_do_not_tell_is_refused(name: str) -> None:
    """Before a row is read, with the reason and a way out."""
    formula, held, why = REFUSED[name]
    with pytest.raises(InvalidParameter, match=why):
        randomised_ols(formula, None, schema=SCHEMA, randomised=held)


def test_true_answers_where_reports_belong_are_refused() -> None:
    """A number that no report can be says that the table is another; labels look alike, and cannot say it."""
    rows = people(1, 50)
    with pytest.raises(InvalidParameter, match="not a report of Piecewise"):
        randomised_ols("pain ~ income", rows, schema=SCHEMA, randomised={"income": mu.Piecewise(SCHEMA["income"], 1.0)})


def test_noise_on_top_is_refused() -> None:
    with pytest.raises(PlanRefused, match="protected at the person"):
        ask(EXAMPLES[0].model, EXAMPLES[0].rows, privacy=mu.Central(1.0))


def test_sums_that_chance_has_spoilt_are_no_fit() -> None:
    """Too few people for so little epsilon: the corrected matrix is not positive, and is not inverted all the same."""
    smoker = mu.GRR(YES, 0.05)
    table = {"pain": [1.0, 2.0, 3.0, 4.0] * 3, "smoker": ["yes", "yes", "yes", "no"] * 3}
    with pytest.raises(FitFailed, match="exceeds the variation of the columns"):
        randomised_ols("pain ~ smoker", table, schema=SCHEMA, randomised={"smoker": smoker})
    held = {**people(4, 60), "smoker": ["yes", "no", "no"] * 20}
    with pytest.raises(Collinear):
        randomised_ols("pain ~ smoker + age + I(2 * age)", held, schema=SCHEMA, randomised={"smoker": mu.GRR(YES, 9.0)})
    with pytest.raises(Collinear, match="to the precision of floats"):  # tenths are no floats: nothing is exactly 0
        odd = mu.Schema({**SCHEMA.column_specs, "dose": mu.Decimals(0, 1, places=1)})
        doses = {**held, "dose": [(i * 7 % 11) / 10 for i in range(60)]}
        smoker = mu.GRR(YES, 9.0)
        randomised_ols("pain ~ dose + I(0.3 * dose + 0.7) + smoker", doses, schema=odd, randomised={"smoker": smoker})


def test_positive_definite_by_leading_minors() -> None:
    """As the eigenvalues say, for matrices of small whole numbers."""
    g = np.random.default_rng(6)
    seen = set()
    for _ in range(200):
        half = g.integers(-3, 4, (3, 3))
        m = half @ half.T - int(g.integers(0, 4)) * np.eye(3, dtype=int)
        leading = [round(np.linalg.det(m[:k, :k])) for k in (1, 2, 3)]
        wanted = next((k for k, minor in enumerate(leading) if minor <= 0), None)
        seen.add(wanted)
        assert first_not_positive([[Fraction(int(v), 7) for v in row] for row in m]) == wanted
    assert seen == {None, 0, 1, 2}


def test_a_schema_is_read_off_the_true_columns_in_the_clear() -> None:
    """Those of reports come from their mechanisms; under any privacy all of it is public, and has to be said."""
    rows = people(9, 200)
    smoker = mu.GRR(YES, 3.0)
    table = {**rows, "smoker": written("smoker", smoker, rows["smoker"], mu.Random.seeded(5)).to_pylist()}
    found = randomised_ols("pain ~ age + smoker", table, randomised={"smoker": smoker})
    given = randomised_ols("pain ~ age + smoker", table, schema=SCHEMA, randomised={"smoker": smoker})

    assert found.coefficients == given.coefficients
    with pytest.raises(InvalidParameter, match="schema is missing"):
        randomised_ols(
            "pain ~ age + smoker", [table] * 3, randomised={"smoker": smoker}, privacy=mu.Secure(rows_are_public=True)
        )
    with pytest.raises(InvalidParameter, match="a mechanism for each"):
        RandomisedOLS(EXAMPLES[0].model.design, (), ())
