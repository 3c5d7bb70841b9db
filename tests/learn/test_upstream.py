"""What is public about the way to a learner is said before a row is read and before anything is charged."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import murmure as mu
from murmure.core.errors import OutsideDomain
from murmure.learn import KMeans, LinearRegression, LogisticRegression, NaiveBayes, SchemaWarning

pytest.importorskip("sklearn", reason="scikit-learn is not installed")
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

NAMES = ("age", "dose")
BOUNDS = {"age": mu.Interval(0.0, 100.0), "dose": mu.Interval(0.0, 100.0)}
CLASSES = mu.Schema({**BOUNDS, "ill": mu.Categories([0, 1])})
AMOUNTS = mu.Schema({**BOUNDS, "ill": mu.Integers(0, 1)})
LEARNERS: dict[str, Any] = {
    "NaiveBayes": lambda privacy, **more: NaiveBayes(CLASSES, "ill", privacy, **more),
    "LogisticRegression": lambda privacy, **more: LogisticRegression(CLASSES, "ill", privacy, **more),
    "LinearRegression": lambda privacy, **more: LinearRegression(AMOUNTS, "ill", privacy, **more),
    "KMeans": lambda privacy, **more: KMeans(2, schema=mu.Schema(BOUNDS), privacy=privacy, **more),
}
PRIVACIES = {"Clear": mu.Clear(), "Central": mu.Central(5.0), "Local": mu.Local(5.0)}


def people(seed: int, n: int = 60) -> tuple[Any, Any]:
    """Ages and doses within the bounds, also after a scaler: Local refuses rows beyond them."""
    g = np.random.default_rng(seed)
    ill = np.arange(n) % 2
    return 30 + 40 * ill[:, None] + g.integers(-9, 9, (n, 2)), ill


def scaled(kind: Any) -> Any:
    return ColumnTransformer([("scale", kind(), list(NAMES))], verbose_feature_names_out=False)


STEPS: dict[str, Any] = {
    "StandardScaler": StandardScaler,
    "MinMaxScaler": MinMaxScaler,
    "ColumnTransformer": lambda: scaled(MinMaxScaler),
}


def said(learner: Any, X: Any, y: Any) -> list[str]:
    """The warnings of a fit, whatever came of it: Local refuses rows that the schema does not hold."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            learner.fit(X, y)
        except mu.MurmureError as error:
            assert isinstance(error, OutsideDomain), error
    return [str(one.message) for one in heard if isinstance(one.message, SchemaWarning)]


@pytest.mark.parametrize("privacy", PRIVACIES)
@pytest.mark.parametrize("kind", LEARNERS)
def test_columns_without_names_are_said_to_be_taken_in_order(kind: str, privacy: str) -> None:
    X, y = people(0)
    learner = LEARNERS[kind](PRIVACIES[privacy])
    for rows in (X, X.tolist(), X.astype(float)):
        (words,) = said(learner, rows, y)
        assert words.startswith(f"{kind}: X has no column names") and "['age', 'dose']" in words
        assert ("budget is spent" in words) == (privacy != "Clear") and "pipeline" not in words
    named = pd.DataFrame(X, columns=list(NAMES))
    for rows in (named, {name: X[:, j] for j, name in enumerate(NAMES)}):
        assert said(learner, rows, y) == []


@pytest.mark.parametrize("privacy", PRIVACIES)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("kind", LEARNERS)
def test_a_step_before_the_learner_is_named(kind: str, step: str, privacy: str) -> None:
    """With the names of the columns too, which a scaler can keep; and outside pipelines nothing is said of steps."""
    X, y = people(0)
    frame = pd.DataFrame(X, columns=list(NAMES))
    for output in ("default", "pandas"):
        pipeline = make_pipeline(STEPS[step]().set_output(transform=output), LEARNERS[kind](PRIVACIES[privacy]))
        (words,) = said(pipeline, frame, y)
        assert f"({step.lower()}: {step})" in words and "must describe what they deliver" in words
        assert "outside the guarantee" in words and ("no column names" in words) == (output == "default")


@pytest.mark.parametrize("kind", LEARNERS)
def test_steps_that_do_nothing_are_not_named_and_outer_pipelines_are(kind: str) -> None:
    from sklearn.model_selection import GridSearchCV

    X, y = people(0)
    frame = pd.DataFrame(X, columns=list(NAMES))
    learner = LEARNERS[kind](mu.Central(5.0))
    inner = Pipeline([("none", "passthrough"), ("learn", learner)])
    assert said(inner, frame, y) == []
    outer = Pipeline([("scale", StandardScaler().set_output(transform="pandas")), ("inner", inner)])
    (words,) = said(outer, frame, y)
    assert "(scale: StandardScaler)" in words
    search = GridSearchCV(outer, {"inner__learn__privacy": [mu.Central(5.0)]}, cv=2, scoring=lambda *_: 0.0)
    assert set(said(search, frame, y)) == {words}


@pytest.mark.parametrize("kind", LEARNERS)
def test_the_words_are_the_same_whatever_the_data_hold(kind: str) -> None:
    """Values, types, missing ones, and how many rows there are: nothing of it is in them."""
    X, y = people(0)
    flips = [X, X * 10**6, X - 10**6, X[:20], np.where(X > 50, np.nan, X), X.astype(object), X.astype(str)]
    learner, step = LEARNERS[kind](mu.Central(5.0)), StandardScaler()

    assert len({tuple(said(learner, rows, y[: len(rows)])) for rows in flips}) == 1
    assert len({tuple(said(make_pipeline(step, learner), rows, y[: len(rows)])) for rows in flips[:5]}) == 1


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("inside", [False, True])
def test_a_warning_made_an_error_stops_before_the_charge(kind: str, inside: bool, tmp_path: Path) -> None:
    """The ledger holds what it held, and the learner what it had learned."""
    X, y = people(0)
    ledger = mu.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("people", epsilon=9.0)
    before = ledger.history()
    learner = LEARNERS[kind](mu.Central(5.0), ledger=ledger.account("people"))
    fits = make_pipeline(StandardScaler(), learner) if inside else learner
    with warnings.catch_warnings(), pytest.raises(SchemaWarning):
        warnings.simplefilter("error")
        fits.fit(X, y)

    assert not hasattr(learner, "schema_")
    assert ledger.history() == before and ledger.left("people").epsilon == 9.0
    assert len(said(fits, X, y)) == 1 and ledger.left("people").epsilon < 9.0  # the warning alone stops nothing
    assert not any("column names" in str(entry) or "Scaler" in str(entry) for entry in ledger.history())


def test_the_warning_points_at_the_call_and_the_release_does_not_hold_it() -> None:
    X, y = people(0)
    for kind in LEARNERS:
        learner = LEARNERS[kind](mu.Central(5.0))
        with pytest.warns(SchemaWarning) as heard:
            learner.fit(X, y)
        assert [one.filename for one in heard] == [__file__]
        assert "column names" not in learner.summary() + str(learner.guarantees_)
