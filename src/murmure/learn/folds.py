"""What searches and cross-validations cost: every fit spends its own epsilon, and a row is in most of the folds.

With k folds a row is in the training part of k - 1 of them; each candidate of a search asks the same rows again, and
the best one is fitted once more to all rows. The costs of these fits add up (certify/accounting.py). Two things are not
covered by any of them: scores of held-out rows are exact, and so is the choice of the candidate that wins by them.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import FrameType
from typing import Any

import numpy as np

from murmure.certify.accounting import epsilon_at, sequential
from murmure.core.blocks import Cost
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import float_up
from murmure.learn.upstream import stack_level
from murmure.plan.privacy import Central, Local, Secure, noise_in
from murmure.show.language import language

UNPROTECTED = Phrase(
    "Scores of held-out rows, and the candidate that wins by them, are exact: no noise protects them, so they are for "
    "whoever may see the rows."
)


class FoldsWarning(UserWarning):
    """A learner is fitted in folds, and every fit spends its own epsilon: shown once a search, before its first fit."""


@dataclass(frozen=True)
class SearchCost:
    """What a search or a cross-validation costs one row, at most."""

    fits: int  # in all
    fits_of_a_row: int  # of these, the fits that one row is in, at most
    spent: Cost  # by one row, over these fits
    delta: float  # the learner's own

    @property
    def epsilon(self) -> float:
        """Over all fits, at delta."""
        return epsilon_at(self.spent, self.delta)

    @property
    def in_words(self) -> str:
        return Phrase(
            "{fits} fits; a row is in at most {most} of them, which cost epsilon = {epsilon:.6g}, delta = {delta:g} "
            "together",
            fits=self.fits,
            most=self.fits_of_a_row,
            epsilon=self.epsilon,
            delta=self.delta,
        )

    def __str__(self) -> str:
        return language().say(Phrase("{words}. {rest}", words=self.in_words, rest=UNPROTECTED))


def search_cost(estimator: Any, X: Any, y: Any = None, *, cv: Any = None, groups: Any = None) -> SearchCost:
    """What `search.fit(X, y)` costs the rows of X; of a learner, what `cross_val_score(learner, X, y, cv=cv)` does.

    estimator: GridSearchCV or another search of scikit-learn, with a learner in it; or a learner, or a pipeline with
    one. cv, groups: as in cross_val_score; a search has its own cv. Nothing is fitted.
    It holds where the fold of a row does not depend on other rows. Where folds are shuffled or stratified, or rows are
    numbered and their number is private, one row more moves others from fold to fold.

    >>> import murmure as mu
    >>> from murmure.learn import NaiveBayes, search_cost
    >>> from sklearn.model_selection import GridSearchCV, KFold
    >>> schema = mu.Schema({"age": mu.Integers(0, 100), "smoker": mu.Categories(["no", "yes"])})
    >>> learner = NaiveBayes(schema, target="smoker", privacy=mu.Central(epsilon=1.0))
    >>> search = GridSearchCV(learner, {"privacy__epsilon": [0.5, 1.0]}, cv=KFold(5))
    >>> cost = search_cost(search, [[age] for age in range(20, 80)])
    >>> print(cost.fits, cost.fits_of_a_row, cost.epsilon)
    11 9 7.0
    """
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import check_cv

    searches = all(hasattr(estimator, name) for name in ("estimator", "cv", "refit"))  # a search, of whatever kind
    inner = estimator.estimator if searches else estimator
    candidates = _candidates(estimator) if searches else [{}]
    costs = [_cost_of_fit(clone(inner).set_params(**params)) for params in candidates]
    if searches and cv is not None:
        raise InvalidParameter(
            "search_cost: {kind} has its own cv; a second cv would repeat the search in each fold.",
            hint="search_cost(search, X, y) is the cost of one fit of the search",
            kind=type(estimator).__name__,
        )
    cv = estimator.cv if searches else cv
    if isinstance(cv, Iterator):
        raise InvalidParameter("search_cost: these folds can be read only once.", hint="cv=list(folds)")
    splits = list(check_cv(cv, y, classifier=is_classifier(inner)).split(X, y, groups))
    tested = np.sort(np.concatenate([test for _, test in splits]))
    once = np.array_equal(tested, np.arange(len(tested)))  # each row is held out once; else perhaps never
    in_folds = len(splits) - 1 if once else len(splits)
    refit = bool(searches and estimator.refit)
    # Which candidate is fitted to all rows is not known beforehand: the dearest is counted.
    last = [Cost(max(c.epsilon for c, _ in costs), max(c.rho for c, _ in costs))] if refit else []
    if refit and hasattr(estimator, "best_params_"):
        last = [_cost_of_fit(clone(inner).set_params(**estimator.best_params_))[0]]
    return SearchCost(
        len(costs) * len(splits) + refit,
        len(costs) * in_folds + refit,
        sequential([*(cost for cost, _ in costs for _ in range(in_folds)), *last]),
        max(delta for _, delta in costs),
    )


def _candidates(search: Any) -> Sequence[Any]:
    """The parameters that a search tries: those that it tried, or those of its grid."""
    from sklearn.model_selection import GridSearchCV, ParameterGrid

    if hasattr(search, "cv_results_"):
        return list(search.cv_results_["params"])
    if isinstance(search, GridSearchCV):
        return list(ParameterGrid(search.param_grid))
    raise InvalidParameter(
        "search_cost: which candidates {kind} tries is known only once it is fitted.",
        hint="GridSearchCV lists them beforehand; or fit it to made-up rows first",
        kind=type(search).__name__,
    )


def _cost_of_fit(estimator: Any) -> tuple[Cost, float]:
    """What one fit of a learner, or of the learners in a pipeline, costs; and their largest delta."""
    privacies = [learner.privacy for learner in _learners(estimator)]
    if not privacies:
        raise InvalidParameter(
            "search_cost: there is no learner of murmure.learn in {estimator}.",
            hint="search_cost(GridSearchCV(NaiveBayes(...), ...), X, y)",
            estimator=shorten(estimator),
        )
    deltas = [privacy.delta if isinstance(privacy, Central | Secure) else 0.0 for privacy in privacies]
    return sequential(map(cost_of, privacies)), max(deltas)


def _learners(estimator: Any) -> list[Any]:
    from sklearn.pipeline import Pipeline

    if _is_learner(estimator):
        return [estimator]
    if isinstance(estimator, Pipeline):
        return [learner for _, step in estimator.steps for learner in _learners(step)]
    if hasattr(estimator, "get_params") and any(map(_is_learner, estimator.get_params(deep=True).values())):
        raise InvalidParameter(
            "search_cost: how often {kind} fits the learner in it is not known.",
            hint="it counts the fits of a learner, or of a pipeline with one",
            kind=type(estimator).__name__,
        )
    return []


def _is_learner(part: Any) -> bool:
    from murmure.learn.base import Learner

    return isinstance(part, Learner)


def cost_of(privacy: Any) -> Cost:
    """What one fit costs a row that it learns from; without noise there is no bound."""
    if isinstance(privacy, Local):
        return Cost(privacy.epsilon, float_up(Fraction(privacy.epsilon) ** 2 / 2))
    noise = noise_in(privacy)
    return Cost(float("inf"), float("inf")) if noise is None else noise.cost


# -- the warning -------------------------------------------------------------------------------------------------------

_warned: weakref.WeakSet[Any] = weakref.WeakSet()  # of every search: the object that runs its fits


def warn_of_folds(learner: Any) -> None:
    """A FoldsWarning where scikit-learn fits this learner in folds; once for each search.

    `fit` is called there as anywhere else, so only the call stack shows it. If this finds nothing, a warning is
    missing; nothing else depends on it.
    """
    if "sklearn.model_selection" not in sys.modules:
        return
    fold: dict[str, Any] | None = None  # the local variables of the fit of one fold
    caller: FrameType | None = None  # a search, cross_validate ...: what runs all of them
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("sklearn.model_selection."):
            fold = frame.f_locals if frame.f_code.co_name == "_fit_and_score" else fold
            caller = frame if "parallel" in frame.f_locals else caller
        frame = frame.f_back
    runner = caller.f_locals["parallel"] if caller is not None else None
    progress = [(fold or {}).get(name) or (0,) for name in ("split_progress", "candidate_progress")]
    if runner in _warned or (runner is None and (fold is None or any(number for number, *_ in progress))):
        return  # told already; no folds; or in a process of its own, and not the first fold of its search
    message = Phrase(
        "{learner} is fitted in folds: {cost}. {unprotected}\n  Hint: {hint}",
        learner=type(learner).__name__,
        cost=_cost_in_words(caller),
        unprotected=UNPROTECTED,
        hint=Phrase("a ledger stops at its budget; better, search on public or made-up rows, then fit once to these"),
    )
    warnings.warn(language().say(message), FoldsWarning, stacklevel=stack_level("sklearn.", "joblib."))
    if runner is not None:
        _warned.add(runner)  # not where the warning is an error: then it stops every fold


def _cost_in_words(caller: FrameType | None) -> str:
    if caller is not None and caller.f_code.co_name in ("fit", "cross_validate", "cross_val_predict"):
        names = caller.f_locals
        estimator, cv = names.get("self", names.get("estimator")), names.get("cv")
        with contextlib.suppress(KeyError, ValueError, TypeError, AttributeError):  # one search in another, rare folds
            return search_cost(estimator, names["X"], names["y"], cv=cv, groups=names.get("groups")).in_words
    return Phrase("every fit spends its own epsilon, and of k folds a row is in k - 1, for every candidate")
