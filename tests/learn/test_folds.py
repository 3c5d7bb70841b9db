"""scikit-learn's searches: parameters of privacy by name, what folds cost, and that they say so."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.core.errors import BudgetExhausted, InvalidParameter
from murmure.learn import FoldsWarning, KMeans, LinearRegression, LogisticRegression, NaiveBayes, search_cost

pytest.importorskip("sklearn", reason="scikit-learn is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

from sklearn.base import clone  # noqa: E402
from sklearn.ensemble import BaggingClassifier  # noqa: E402
from sklearn.experimental import enable_halving_search_cv  # noqa: E402, F401
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    ShuffleSplit,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)
from sklearn.pipeline import Pipeline  # noqa: E402

SCHEMA = mu.Schema({"age": mu.Integers(0, 100), "ill": mu.Categories(["no", "yes"])})
NUMBERS = mu.Schema({"age": mu.Integers(0, 100), "dose": mu.Interval(0.0, 1.0)})
X = pd.DataFrame({"age": [20, 25, 30, 70, 75, 80] * 20})
Y = np.array(["no", "no", "no", "yes", "yes", "yes"] * 20)
GRID = {"privacy__epsilon": [0.5, 1.0, 2.0]}
LEARNERS = [
    NaiveBayes(SCHEMA, "ill", mu.Central(epsilon=1.0)),
    LogisticRegression(SCHEMA, "ill", mu.Central(epsilon=1.0, delta=1e-6)),
    LinearRegression(NUMBERS, "dose", mu.Central(epsilon=1.0)),
    KMeans(2, NUMBERS, mu.Local(epsilon=1.0)),
]


def learner(**more: Any) -> NaiveBayes:
    return NaiveBayes(SCHEMA, "ill", mu.Central(epsilon=1.0), **more)


# -- parameters of privacy ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("one", LEARNERS, ids=lambda one: type(one).__name__)
def test_a_field_of_privacy_is_a_parameter_of_the_learner(one: Any) -> None:
    """`privacy__epsilon` is read and set as any other. Privacy itself is frozen: the learner gets a new one."""
    twin, before = clone(one), one.privacy

    assert one.get_params()["privacy__epsilon"] == 1.0 and "privacy__epsilon" not in one.get_params(deep=False)
    assert twin.set_params(privacy__epsilon=2.0) is twin and twin.privacy == type(before)(
        **{**before.__dict__, "epsilon": 2.0}
    )
    assert before.epsilon == 1.0 and one.privacy is before


def test_a_new_privacy_comes_before_its_fields() -> None:
    """In whatever order they are given; and fields that belong together are changed together."""
    changed = learner().set_params(privacy__epsilon=3.0, privacy=mu.Local(epsilon=1.0))
    secure = learner().set_params(privacy=mu.Secure(), privacy__delta=1e-6, privacy__epsilon=1.0)

    assert changed.privacy == mu.Local(epsilon=3.0)
    assert secure.privacy == mu.Secure(epsilon=1.0, delta=1e-6)  # delta alone is refused


@pytest.mark.parametrize(
    "wrong",
    [
        {"privacy__epsilon": -1.0},
        {"privacy__epsillon": 1.0},
        {"privacy__debias": True},
        {"schema__age": 1},
        {"privacy__epsilon": 1.0, "privacy": mu.Clear()},
        {"privacy__epsilon": 1.0, "privacy": None},
    ],
    ids=str,
)
def test_a_wrong_parameter_changes_nothing(wrong: dict[str, Any]) -> None:
    one = learner(alpha=2.0)
    with pytest.raises(InvalidParameter):
        one.set_params(alpha=3.0, **wrong)

    assert one.alpha == 2.0 and one.privacy == mu.Central(epsilon=1.0)


@pytest.mark.filterwarnings("ignore::murmure.learn.FoldsWarning")
def test_a_search_over_epsilon_finds_the_learner_inside_a_pipeline() -> None:
    search = GridSearchCV(Pipeline([("learn", learner())]), {"learn__privacy__epsilon": [0.5, 2.0]}, cv=3).fit(X, Y)

    assert search.best_estimator_["learn"].privacy.epsilon == search.best_params_["learn__privacy__epsilon"]
    assert 0.0 < search.best_estimator_["learn"].spent_.epsilon <= search.best_params_["learn__privacy__epsilon"]


# -- what folds cost ---------------------------------------------------------------------------------------------------


def test_costs_of_the_fits_that_a_row_is_in_add_up() -> None:
    """Three candidates, five folds: a row is in four folds of each, and in the last fit, counted at the dearest."""
    cost = search_cost(GridSearchCV(learner(), GRID, cv=KFold(5)), X, Y)

    assert (cost.fits, cost.fits_of_a_row) == (3 * 5 + 1, 3 * 4 + 1)
    assert cost.epsilon == 4 * (0.5 + 1.0 + 2.0) + 2.0 and cost.delta == 0.0
    assert "16 fits; a row is in at most 13 of them, which cost epsilon = 16, delta = 0" in str(cost)
    assert search_cost(GridSearchCV(learner(), GRID, cv=5, refit=False), X, Y).epsilon == 4 * 3.5


def test_rows_that_may_never_be_held_out_are_counted_in_every_fold() -> None:
    groups = np.arange(len(X)) // 12

    assert search_cost(learner(), X, Y, cv=4).fits_of_a_row == 3
    assert search_cost(learner(), X, Y, cv=ShuffleSplit(4)).fits_of_a_row == 4
    assert search_cost(learner(), X, Y, cv=GroupKFold(4), groups=groups).fits_of_a_row == 3


def test_with_a_delta_the_costs_add_up_in_rho() -> None:
    """Which is less than sixteen times epsilon."""
    one = LogisticRegression(SCHEMA, "ill", mu.Central(epsilon=1.0, delta=1e-6))
    cost = search_cost(GridSearchCV(one, {"max_iter": [1, 2, 3]}, cv=5), X, Y)

    assert cost.spent.rho == pytest.approx(13 * one.privacy.rho, rel=1e-12) and math.isinf(cost.spent.epsilon)
    assert 1.0 < cost.epsilon < 5.0 and cost.delta == 1e-6
    assert math.isinf(search_cost(learner().set_params(privacy=mu.Clear()), X, Y).epsilon)
    assert search_cost(learner().set_params(privacy=mu.Local(epsilon=2.0)), X, Y, cv=3).epsilon == 4.0


@pytest.mark.filterwarnings("ignore::murmure.learn.FoldsWarning")
def test_after_the_search_its_own_candidates_are_counted() -> None:
    """Those that a random or a halving search tried, and the one that was fitted to all rows."""
    random = RandomizedSearchCV(learner(), GRID, n_iter=2, cv=3, random_state=1)
    halving = HalvingGridSearchCV(learner(), GRID, cv=2, random_state=1)
    for search in (random, halving):
        with pytest.raises(InvalidParameter, match="known only once it is fitted"):
            search_cost(search, X, Y)
        search.fit(X, Y)
        tried = [params["privacy__epsilon"] for params in search.cv_results_["params"]]
        cost = search_cost(search, X, Y)
        assert cost.fits == len(tried) * search.n_splits_ + 1
        assert cost.epsilon == (search.n_splits_ - 1) * sum(tried) + search.best_params_["privacy__epsilon"]


@pytest.mark.parametrize(
    ("estimator", "more"),
    [
        (GridSearchCV(BaggingClassifier(learner()), {"n_estimators": [2]}), {}),
        (GridSearchCV(GridSearchCV(learner(), GRID), {"cv": [2, 3]}), {}),
        (GridSearchCV(learner(), GRID), {"cv": 3}),
        (BaggingClassifier(), {}),
        (learner(), {"cv": iter(KFold(3).split(X))}),
    ],
    ids=["bagging", "a search in a search", "two kinds of folds", "no learner", "folds that are read once"],
)
def test_what_cannot_be_counted_is_refused(estimator: Any, more: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match="search_cost"):
        search_cost(estimator, X, Y, **more)


@pytest.mark.filterwarnings("ignore::murmure.learn.FoldsWarning")
def test_an_account_adds_up_what_folds_spend(tmp_path: Path) -> None:
    """As if every fold held all of its rows: the fits of an account are those of one group of people."""
    ledger = mu.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("people", 100.0)
    search = GridSearchCV(learner(ledger=ledger.account("people")), {"privacy__epsilon": [0.5, 1.0]}, cv=KFold(3))
    search.fit(X, Y)
    spent = ledger.spent("people").epsilon

    assert spent == pytest.approx(3 * 1.5 + search.best_params_["privacy__epsilon"], rel=1e-9)
    assert spent >= search_cost(search, X, Y).epsilon


@pytest.mark.filterwarnings("ignore::murmure.learn.FoldsWarning")
def test_a_search_stops_at_the_budget(tmp_path: Path) -> None:
    ledger = mu.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("people", 2.5)
    with pytest.raises(BudgetExhausted):
        cross_val_score(learner(ledger=ledger.account("people")), X, Y, cv=3, error_score="raise")

    assert ledger.spent("people").epsilon <= 2.5


# -- and that they say so ----------------------------------------------------------------------------------------------


def folds_warnings(act: Any) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return [one for one in caught if one.category is FoldsWarning]


def test_a_search_says_once_what_it_costs() -> None:
    """Before the first fit, with the figure, at the line of the caller; and again when it is run again."""
    search = GridSearchCV(learner(), GRID, cv=KFold(5))
    [told] = folds_warnings(lambda: search.fit(X, Y))

    assert "16 fits; a row is in at most 13 of them, which cost epsilon = 16" in str(told.message)
    assert "no noise protects them" in str(told.message) and told.filename == __file__
    assert len(folds_warnings(lambda: search.fit(X, Y))) == 1


@pytest.mark.parametrize(
    ("act", "figure"),
    [
        (lambda: cross_val_score(learner(), X, Y, cv=3), "which cost epsilon = 2,"),
        (lambda: cross_val_predict(learner(), X, Y, cv=3), "which cost epsilon = 2,"),
        (lambda: cross_val_score(Pipeline([("learn", learner())]), X, Y, cv=3), "which cost epsilon = 2,"),
        (lambda: learning_curve(learner(), X, Y, cv=3, train_sizes=[0.5, 1.0]), "every fit spends its own epsilon"),
        (lambda: cross_val_score(GridSearchCV(learner(), GRID, cv=2), X, Y, cv=2), "every fit spends its own epsilon"),
        (lambda: HalvingGridSearchCV(learner(), GRID, cv=2).fit(X, Y), "every fit spends its own epsilon"),
    ],
    ids=["score", "predict", "pipeline", "curve", "nested", "halving"],
)
def test_every_way_to_fit_in_folds_says_it_once(act: Any, figure: str) -> None:
    [told] = folds_warnings(act)

    assert figure in str(told.message)


def test_a_single_fit_and_rows_in_the_clear_say_nothing() -> None:
    assert folds_warnings(lambda: learner().fit(X, Y)) == []
    assert folds_warnings(lambda: cross_val_score(learner().set_params(privacy=mu.Clear()), X, Y)) == []


def test_as_an_error_it_stops_before_anything_is_charged(tmp_path: Path) -> None:
    ledger = mu.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("people", 100.0)
    one = learner(ledger=ledger.account("people"))
    with pytest.raises(FoldsWarning):  # pytest turns warnings into errors
        cross_val_score(one, X, Y, cv=3, error_score="raise")
    with pytest.raises(ValueError, match="All the 9 fits failed"):  # scikit-learn goes on to the next fold
        GridSearchCV(one, GRID, cv=3).fit(X, Y)

    assert ledger.spent("people").epsilon == 0.0
