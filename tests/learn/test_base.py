"""scikit-learn's manners: its own checks, clones, pipelines, searches, pickles; refusals before any row is read."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.core.errors import InvalidParameter, MurmureError
from murmure.learn import KMeans, LinearRegression, LogisticRegression, NaiveBayes

SCHEMA = mu.Schema({"age": mu.Integers(0, 100), "dose": mu.Interval(0.0, 1.0), "ill": mu.Categories(["no", "yes"])})
NUMBERS = mu.Schema({"age": mu.Integers(0, 100), "dose": mu.Interval(0.0, 1.0)})
ROWS = {
    "age": [20, 25, 30, 70, 75, 80] * 100,
    "dose": [0.1, 0.2, 0.15, 0.8, 0.9, 0.85] * 100,
    "ill": ["no", "no", "no", "yes", "yes", "yes"] * 100,
}
CENTRAL = mu.Central(epsilon=5.0)
MAKERS = {
    "NaiveBayes": lambda **more: NaiveBayes(SCHEMA, "ill", **more),
    "LogisticRegression": lambda **more: LogisticRegression(SCHEMA, "ill", **more),
    "LinearRegression": lambda **more: LinearRegression(NUMBERS, "dose", **more),
    "KMeans": lambda **more: KMeans(2, schema=NUMBERS, **more),
}
CLEAR = {"NaiveBayes": NaiveBayes, "LogisticRegression": LogisticRegression, "LinearRegression": LinearRegression}


# What scikit-learn's checks ask and these learners refuse, with the reason. Under Central a schema is required, and the
# checks fit arrays of any shape, so they run in the clear; everything above the sums is the same code.
EXCEPTIONS: dict[str, dict[str, str]] = {}


@pytest.mark.parametrize("kind", [NaiveBayes, LogisticRegression, LinearRegression, KMeans])
def test_scikit_learns_own_checks_pass_in_the_clear(kind: Any) -> None:
    checks = pytest.importorskip("sklearn.utils.estimator_checks", reason="scikit-learn is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about itself: checks that it skips, ways that it will leave
        ran = checks.check_estimator(kind(privacy=mu.Clear()), on_fail=None, on_skip=None)
    failed = {one["check_name"]: one["exception"] for one in ran if one["status"] == "failed"}

    assert len(ran) > 40
    assert set(failed) == set(EXCEPTIONS.get(kind.__name__, {})), failed


@pytest.mark.parametrize("name", MAKERS)
def test_a_learner_is_cloned_pickled_and_shown(name: str) -> None:
    base = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed")
    learner = MAKERS[name](privacy=CENTRAL)
    twin = base.clone(learner)

    assert repr(twin) == repr(learner) and "privacy=Central(epsilon=5.0" in repr(learner)
    fitted = learner.fit(ROWS)
    assert fitted is learner and not hasattr(twin, "schema_")
    again = pickle.loads(pickle.dumps(fitted))
    table = {"age": [22, 78], "dose": [0.1, 0.9]}
    assert np.array_equal(again.predict(table), fitted.predict(table))


@pytest.mark.filterwarnings("ignore::murmure.learn.FoldsWarning")  # tests/learn/test_folds.py
@pytest.mark.filterwarnings("ignore::murmure.core.errors.SchemaWarning")  # arrays, on purpose
@pytest.mark.parametrize("name", CLEAR)
def test_a_learner_stands_in_pipelines_and_searches(name: str) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    X = np.column_stack([ROWS["age"], ROWS["dose"]]) if name != "LinearRegression" else np.array([ROWS["age"]]).T
    y = np.array(ROWS["ill"] if name != "LinearRegression" else ROWS["dose"])
    learner = MAKERS[name](privacy=CENTRAL)
    found = GridSearchCV(learner, {"privacy": [mu.Central(1.0), mu.Central(9.0)]}, cv=2).fit(X, y)

    assert found.best_score_ > 0.5
    assert make_pipeline(FunctionTransformer(), learner).fit(X, y).score(X, y) > 0.5


@pytest.mark.parametrize("name", MAKERS)
def test_nothing_is_guessed_under_central(name: str) -> None:
    """No schema, a draft, a target that is not there, no privacy: refused, before a row is looked at."""

    class Unread:
        """A table that nobody may look into."""

        columns = ("age", "dose", "ill")

        def __getitem__(self, name: str) -> Any:
            raise AssertionError("a row was read")

    learner = MAKERS[name](privacy=CENTRAL)
    drafted = mu.Schema({"age": mu.Column(mu.Integers(0, 9), from_data=True), "ill": mu.Categories(2)})
    wrong = [{"schema": None}, {"schema": drafted}, {"schema": "schema.toml"}, {"privacy": None}, {"privacy": 1.0}]
    if name != "KMeans":
        wrong.append({"target": "weight"})
    for change in wrong:
        with pytest.raises(MurmureError):
            MAKERS[name](privacy=CENTRAL).set_params(**change).fit(Unread())
    with pytest.raises(InvalidParameter, match="Invalid parameter"):
        learner.set_params(epsilon=1.0)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("privacy", [mu.Central(2.0), mu.Central(2.0, delta=1e-6), mu.Central(2.0, relation="replace")])
def test_what_is_spent_is_at_most_what_was_asked(name: str, privacy: mu.Central) -> None:
    """In whatever currency; and the certificate says the relation."""
    learner = MAKERS[name](privacy=privacy).fit(ROWS)
    reader = learner.guarantees_["reader"]

    assert 1.9 < reader.epsilon <= 2.0 and reader.delta == privacy.delta and reader.relation == privacy.relation
    assert learner.spent_.epsilon <= 2.0 if privacy.delta == 0 else learner.spent_.rho <= privacy.rho
    assert "said at" not in reader.method and ("rho" in reader.method) == (privacy.delta > 0)
    assert not learner.seeded_ and "labels_" not in vars(learner) and "inertia_" not in vars(learner)


@pytest.mark.parametrize("name", MAKERS)
def test_asked_before_it_learned_anything(name: str) -> None:
    with pytest.raises(MurmureError, match="not fitted"):
        MAKERS[name](privacy=CENTRAL).predict({"age": [1], "dose": [0.5]})
