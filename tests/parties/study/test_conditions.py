"""A study is refused for a condition that few rows may fulfil: by its file, by each party's rule, and in its words."""

from __future__ import annotations

import inspect
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import murmure as mu
from murmure.core.errors import RareCondition
from murmure.econometrics.design.formula import read_formula
from murmure.econometrics.models.bisection import Bisection
from murmure.econometrics.models.cox import Cox
from murmure.econometrics.models.ecdf import ECDF
from murmure.econometrics.models.histogram import Bins
from murmure.econometrics.models.kmeans import Lloyd
from murmure.econometrics.models.ols import OLS
from murmure.econometrics.models.quantiles import Quantiles
from murmure.parties.party.condition_warnings import local_condition_counts, local_warnings
from murmure.parties.party.policy import Policy
from murmure.parties.study.document import Study
from murmure.secure.identity import Identity
from murmure.show.language import Language

OFFICE = Identity.from_bytes(bytes([9]) * 32)
CARDS = tuple(Identity.from_bytes(bytes([i + 1]) * 32).card(f"Hospital {i}") for i in range(5))
MASKS = mu.PairwiseMasks(5, dropouts=0, rows=10**6)
SCHEMA = mu.Schema(
    {
        "id": mu.Integers(1, 500),
        "x": mu.Integers(0, 1000),
        "age": mu.Integers(18, 99),
        "ward": mu.Categories(["A", "B", "C", "D", "E"]),
        "died": mu.Categories(["no", "yes"]),
        "days": mu.Integers(0, 365),
    }
)
TEXT = """
name = "Stay"
purpose = "To know."
least_rows = {rows}
minimum_parties = 5

[columns.id]
type = "integers"
low = 1
high = 500

[columns.x]
type = "integers"
low = 0
high = 1000

[columns.age]
type = "integers"
low = 18
high = 99

[columns.ward]
type = "categories"
values = ["A", "B", "C", "D", "E"]

[columns.died]
type = "categories"
values = ["no", "yes"]

[columns.days]
type = "integers"
low = 0
high = 365
"""
RARE = (  # what a file asks, and what is named
    ('[[queries]]\nsums = ["x", "x * (id == 5)"]', "id == 5"),
    ('[[queries]]\nsums = ["x + 10**6 * x * (id == 5)"]', "id == 5"),
    ('[[queries]]\nsums = ["x", "x * (id != 5)"]', "id != 5"),
    ('[[queries]]\nproducts = ["1", "x", "age == 97"]', "age == 97"),
    ('[[queries]]\nsums = ["x * (age <= 40)"]\n[[queries]]\nsums = ["x * (age <= 41)"]', "age <= 4"),
    ('[[queries]]\nstatistic = "Mean"\ncolumn = "x"\nby = ["id"]', "id == 1"),
    ('[[queries]]\nstatistic = "Mean"\ncolumn = "x"\nwhere = { column = "id", is_in = [5] }', "id is 5"),
    ('[[queries]]\nstatistic = "Histogram"\ncolumn = "age"', "age == "),
    ('[[models]]\nmodel = "ols"\nformula = "x ~ age + I(id == 5)"', "id == 5"),
    ('[[models]]\nmodel = "logit"\nformula = "died ~ I(id == 5)"\nrounds = 2', "id == 5"),
    ('[[models]]\nmodel = "wls"\nformula = "x ~ age"\nweights = "1 + (age == 97)"', "age == 97"),
    ('[[models]]\nmodel = "kaplan_meier"\ntime = "days"\nevent = "died"', "days"),
    ('[[models]]\nmodel = "quantile"\ncolumn = "x"', "x"),
    ('[[models]]\nmodel = "ecdf"\ncolumn = "age"', "age"),
)


def from_file(folder: Path, asked: str, rows: int = 100, **terms: Any) -> Study:
    noise, ratio = terms.pop("noise", ""), terms.pop("ratio", 1)
    text = TEXT.format(rows=rows).replace("purpose", f"ratio = {ratio}\npurpose", 1)
    (folder / "s.toml").write_text(f"{text}\n{asked}\n{noise}")
    return Study.from_toml(folder / "s.toml", CARDS, OFFICE.card("Office"), **terms)


def study_of(*asked: Any, rows: int = 100, **terms: Any) -> Study:
    """Made in Python, where nobody has judged it yet."""
    plans = tuple(mu.Plan(one, parties=MASKS) for one in asked if hasattr(one, "tally"))
    models = tuple(one for one in asked if not hasattr(one, "tally"))
    terms |= {"models": models, "parties": MASKS} if models else {}
    return Study("Stay", "To know.", OFFICE.card("Office"), CARDS, plans, rows, **({"ratio": Fraction(1)} | terms))


@pytest.mark.parametrize(("asked", "named"), RARE)
def test_a_file_that_asks_about_few_rows_is_refused_by_name(tmp_path: Path, asked: str, named: str) -> None:
    """For the coordinator when it is made; for a party by its own rule, whatever the coordinator was told."""
    with pytest.raises(mu.MurmureError) as caught:
        from_file(tmp_path, asked)
    if isinstance(caught.value, RareCondition):
        assert named in str(caught.value) and "--minimum-cell 1" in (caught.value.hint or "")
        study = from_file(tmp_path, asked, minimum_cell=1)
    else:  # too many sums for the rows besides: of rows that are public, which a party's rule does not take for granted
        assert "exact sums" in str(caught.value)
        study = from_file(tmp_path, asked, ratio=1000)
    for policy in (Policy(), Policy(minimum_cell=2)):
        with pytest.raises(RareCondition) as refused:
            policy.check_conditions(study)
        assert named in str(refused.value) and "--minimum-cell 1" in (refused.value.hint or "")
    Policy(minimum_cell=1).check_conditions(study)
    Policy(rows_are_public=True).check_conditions(study)
    for language, mark in (("en", "WARNING, question"), ("fr", "ATTENTION, question")):
        (warned,) = [line for line in study.in_words(language) if line.startswith(mark)]  # type: ignore[arg-type]
        assert named in warned
        assert study.in_words(language).index(warned) <= 1  # type: ignore[arg-type]


def test_noise_that_hides_a_row_is_not_judged_and_weak_noise_is(tmp_path: Path) -> None:
    asked = '[[queries]]\nsums = ["x", "x * (id == 5)"]'
    for epsilon, hides in ((1.0, True), (6.0, True), (6.5, False), (1000.0, False)):
        noise = f"[noise]\nepsilon = {epsilon}"
        if hides:
            Policy().check(from_file(tmp_path, asked, noise=noise))
            continue
        with pytest.raises(RareCondition, match="id == 5"):
            from_file(tmp_path, asked, noise=noise)


def test_ordinary_studies_pass_and_say_what_was_judged(tmp_path: Path) -> None:
    """And that this stops accidents, and nobody who looks for a way."""
    asked = '[[queries]]\nsums = ["x", "x * (ward == \'A\')"]\n[[models]]\nmodel = "ols"\nformula = "x ~ age + ward"'
    study = from_file(tmp_path, asked, rows=100)
    Policy().check(study)

    said, dit = "\n".join(study.in_words()), "\n".join(study.in_words("fr"))
    assert "the rarest is" in said and "stops accidents, but not someone who combines totals on purpose" in said
    assert "la plus rare est" in dit and "seul le bruit le fait" in dit
    assert "WARNING" not in said and "ATTENTION" not in dit


@pytest.mark.parametrize(("levels", "rows", "allowed"), [(5, 30, True), (5, 24, False), (3, 15, True), (3, 14, False)])
def test_levels_of_a_factor(levels: int, rows: int, allowed: bool) -> None:
    schema = mu.Schema({"y": mu.Integers(0, 9), "g": mu.Categories([f"g{i}" for i in range(levels)])})
    study = study_of(OLS(read_formula("y ~ g", schema)), rows=rows)

    assert (study.rare_condition() is None) == allowed


def test_models_of_cells_pass_with_cut_points_or_a_coarse_grid() -> None:
    ages = mu.Schema({"age": mu.Integers(0, 99)})
    for fine, coarse in (
        (ECDF(ages, "age"), ECDF(ages, "age", ("24", "49", "74"))),
        (Bins(ages, "age"), Bins(ages, "age", ("0", "50", "99"))),
        (Quantiles(ages, "age", ("1/2",)), None),
        (Bisection(ages, "age"), None),
        (Lloyd(ages, ("age",), 50), Lloyd(ages, ("age",), 4)),
    ):
        assert study_of(fine, rows=120, ratio=Fraction(1000)).rare_condition() is not None
        assert coarse is None or study_of(coarse, rows=120, ratio=Fraction(1000)).rare_condition() is None
        assert study_of(fine, rows=600, ratio=Fraction(1000)).rare_condition() is None


def test_sums_at_each_time_are_about_those_who_leave_then() -> None:
    """Cox adds up covariates at every time of its grid: at a fine one, those of one patient."""
    schema = mu.Schema({"age": mu.Integers(18, 99), "died": mu.Integers(0, 1), "days": mu.Integers(1, 365)})
    design = read_formula("age - 1", schema, outcome=False)
    held = replace(design, domain=schema)
    fine, coarse = Cox(held, "days", "died", rounds=2), Cox(held, "days", "died", ("91", "182", "273", "365"), rounds=2)

    found = study_of(fine, rows=400, ratio=Fraction(1000)).rare_condition()
    assert found is not None and "days" in found.text
    assert study_of(coarse, rows=60, ratio=Fraction(1000)).rare_condition() is None
    assert study_of(coarse, rows=35, ratio=Fraction(1000)).rare_condition() is not None  # of a half of a quarter


# -- at home -----------------------------------------------------------------------------------------------------------


def test_counts_at_home_warn_and_decide_nothing() -> None:
    """The rule takes no rows at all; the counts are those of the rows, in two languages, and name the condition."""
    study = study_of(mu.Sums(SCHEMA, ("x", "x * (ward == 'A')", "(ward == 'B') * (died == 'yes')")), rows=100)
    rows: dict[str, list[Any]] = {"x": [1] * 120, "ward": ["A", *"BCDE" * 29, "B", "C", "D"], "died": ["no"] * 120}
    by_name = {one.text: (k, n) for _, one, k, n in local_condition_counts(study, rows)}

    assert by_name['ward == "A"'] == (1, 120) and by_name['ward == "B"'] == (30, 120)
    assert by_name["(ward == 'B') * (died == 'yes')"] == (0, 120)
    warnings = local_warnings(study, rows)
    assert any('of your 120 rows, those that fulfil “ward == "A"” are 1' in line for line in warnings)
    assert any("parmi vos 120 lignes" in Language("fr").say(line) for line in warnings)
    Policy().check(study)  # allowed, with whatever rows
    assert "rows" not in inspect.signature(Policy.check_conditions).parameters
    full = {"x": [1] * 120, "ward": [*"ABCDE" * 24], "died": ["no", "yes"] * 60}
    assert local_warnings(study, full) == []
    assert local_warnings(study, {"x": [5000]}) == []  # what is wrong with rows is told when they are checked
