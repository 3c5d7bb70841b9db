"""What one-round models refuse: by name, with a way out, and before or after the sums as it must be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import murmure as mu
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, MissingColumn
from murmure.core.schema import Schema
from murmure.econometrics.errors import EmptyCategory, FitFailed, NoVariation, TooFewObservations
from murmure.econometrics.models.anova import anova
from murmure.econometrics.models.contingency import contingency
from murmure.econometrics.models.covariance import correlation
from murmure.econometrics.models.describe import describe
from murmure.econometrics.models.ecdf import ecdf
from murmure.econometrics.models.histogram import histogram
from murmure.econometrics.models.kaplan_meier import kaplan_meier
from murmure.econometrics.models.log_rank import logrank
from murmure.econometrics.models.mantel_haenszel import mantel_haenszel
from murmure.econometrics.models.pca import pca
from murmure.econometrics.models.quantiles import quantiles
from murmure.econometrics.models.roc import roc
from murmure.econometrics.models.t_test import ttest

SCHEMA = Schema(
    {
        "y": Integers(0, 9),
        "wide": Integers(0, 10**6),
        "when": Integers(-3, 9),
        "g": Categories(["a", "b", "c"]),
        "two": Categories(["no", "yes"]),
        "three": Categories(["no", "yes", "unknown"]),
        "dose": Interval(0.0, 1.0, cells=8),
    }
)
DATA = {
    "y": [1, 4, 2, 8, 5, 7],
    "wide": [1, 4, 2, 8, 5, 7],
    "when": [1, 4, 2, 8, 5, 7],
    "g": list("aababa"),
    "two": ["no", "yes", "yes", "no", "yes", "no"],
    "three": ["no", "yes", "yes", "no", "yes", "no"],
    "dose": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
}
K: dict[str, Any] = {"schema": SCHEMA}


def same(**columns: Any) -> dict[str, Any]:
    return DATA | {name: [value] * 6 for name, value in columns.items()}


@pytest.mark.parametrize(
    ("ask", "kind", "words"),
    [
        (lambda: anova("y", DATA, by="g", **K), EmptyCategory, "'c' of column 'g' is empty"),
        (lambda: kaplan_meier("y", DATA, event="two", by="g", **K), EmptyCategory, "'c' of column 'g' is empty"),
        (lambda: logrank("y", DATA, event="two", by="g", **K), EmptyCategory, "'c' of column 'g' is empty"),
        (
            lambda: ttest("y", DATA | {"g": list("aaaaab")}, by="g", groups=("a", "b"), **K),
            TooFewObservations,
            "'b' of column 'g' has only one row",
        ),
        (lambda: ttest("y", same(y=3), by="g", groups=("a", "b"), **K), NoVariation, "column 'y' is the same"),
        (lambda: ttest("y", same(y=3), **K), NoVariation, "column 'y' is the same"),
        (lambda: anova("y", same(y=3), by="two", **K), NoVariation, "column 'y' is the same"),
        (lambda: correlation(same(y=3), ["y", "wide"], **K), NoVariation, "column 'y' is the same"),
        (lambda: pca(same(y=3), ["y", "wide"], scaled=True, **K), NoVariation, "column 'y' is the same"),
        (lambda: contingency("g", "two", same(two="no"), **K), NoVariation, "column 'two' is 'no' for everybody"),
        (lambda: mantel_haenszel("two", "three", DATA, strata="g", **K), InvalidParameter, "must hold two values"),
        (lambda: roc("y", same(two="no"), outcome="two", **K), NoVariation, "nobody has two = yes"),
        (lambda: logrank("y", same(two="no"), event="two", by="g", **K), FitFailed, "group 'c'"),
        (
            lambda: logrank("y", same(two="no"), event="two", by="g", groups=("a", "b"), **K),
            NoVariation,
            "nobody had two",
        ),
        (
            lambda: anova("y", {"y": [1, 2], "g": ["a", "b"]}, by="g", groups=("a", "b"), **K),
            TooFewObservations,
            "every group has one row",
        ),
    ],
)
def test_sums_that_hold_no_answer(ask: Callable[[], Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        ask()
    assert "Hint:" in str(caught.value)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: kaplan_meier("y", DATA, event="three", **K), "'three' must hold two values"),
        (lambda: kaplan_meier("y", DATA, event="wide", **K), "'wide' must hold two values"),
        (lambda: kaplan_meier("when", DATA, event="two", **K), "'when' can be negative"),
        (lambda: kaplan_meier("g", DATA, event="two", **K), "holds labels, not numbers"),
        (lambda: kaplan_meier("y", DATA, event="y", **K), "must hold two values"),
        (lambda: ecdf("y", DATA, grid=[3, 2], **K), "must increase"),
        (lambda: ecdf("y", DATA, grid=[3, 3], **K), "must increase"),
        (lambda: ecdf("y", DATA, grid=[3, 12], **K), "must lie within column 'y'"),
        (lambda: ecdf("y", DATA, grid=[], **K), "grid is empty"),
        (lambda: ecdf("y", DATA, grid=["x"], **K), "must hold numbers"),
        (lambda: ecdf("y", DATA, grid=[float("nan")], **K), "must hold numbers"),
        (lambda: ecdf("y", DATA, grid=[9], **K), "does not divide the rows"),
        (lambda: ecdf("y", DATA, grid="3", **K), "must be a list"),
        (lambda: ecdf("wide", DATA, **K), "grid is missing"),
        (lambda: ecdf("g", DATA, **K), "holds labels"),
        (lambda: quantiles("wide", DATA, **K), "grid is missing"),
        (lambda: quantiles("y", DATA, (0.0, 0.5), **K), "between 0 and 1"),
        (lambda: histogram("y", DATA, edges=[5], **K), "two edges"),
        (lambda: histogram("y", DATA, edges=[-1, 5], **K), "must lie within"),
        (lambda: roc("wide", DATA, outcome="two", **K), "grid is missing"),
        (lambda: ttest("y", DATA, by="dose", **K), "does not hold categories"),
        (lambda: ttest("y", DATA, by="wide", **K), "does not hold categories"),
        (lambda: ttest("y", DATA, by="g", **K), "compares two groups; column 'g' has 3"),
        (lambda: ttest("y", DATA, by="g", groups=("a", "z"), **K), "no label 'z'"),
        (lambda: ttest("g", DATA, by="two", **K), "holds labels, not numbers"),
        (lambda: ttest("y", DATA, mu="many", **K), "must hold numbers"),
        (lambda: ttest("y", DATA, alternative="more", **K), "alternative must be one of"),
        (lambda: anova("y", DATA, by="y", **K), "named twice"),
        (lambda: contingency("g", "g", DATA, **K), "named twice"),
        (lambda: contingency("g", "dose", DATA, **K), "does not hold categories"),
        (lambda: contingency("g", "wide", DATA, **K), "at most 4096 cells"),
        (lambda: describe(DATA, ["g"], **K), "holds labels"),
        (lambda: describe(DATA, "y", **K), "must be a list of names"),
        (lambda: describe(DATA, [], **K), "columns is empty"),
        (lambda: describe(DATA, ["y"], moments=3, **K), "moments must be 2 or 4"),
        (lambda: correlation(DATA, ["y"], **K), "two columns or more"),
        (lambda: describe(DATA, ["y"]).conf_int(alpha=2), "alpha must lie between"),
    ],
)
def test_questions_that_cannot_be_asked(ask: Callable[[], Any], words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        ask()


def test_a_column_that_there_is_none_of_is_named() -> None:
    with pytest.raises(MissingColumn, match="'yy'"):
        ttest("yy", DATA, by="two", **K)


@pytest.mark.parametrize("name", ["an odd name", "día", "1st", "log", "C"])
def test_names_and_labels_may_be_anything(name: str) -> None:
    label = 'it\'s "so" `odd`\\'
    schema = Schema({name: Integers(-5, 5), "g g": Categories([label, "b\nc"])})
    data = {name: [-1, 2, 3, 4], "g g": [label, "b\nc", label, "b\nc"]}
    assert anova(name, data, by="g g", schema=schema).groups[0].mean == 1
    assert describe(data, [name], schema=schema).mean[name] == 2
    assert ecdf(name, data, schema=schema)(2) == 0.5
    assert contingency("g g", name, data, schema=schema).n == 4


@pytest.mark.parametrize("labels", [[0, 1], [False, True], [-1.5, 2.25], 2])
def test_labels_that_are_no_text(labels: Any) -> None:
    held = [0, 1] if labels == 2 else labels
    schema = Schema({"y": Integers(0, 9), "g": Categories(labels)})
    data = {"y": [1, 3, 4, 8], "g": [held[0], held[0], held[1], held[1]]}
    assert ttest("y", data, by="g", schema=schema).difference == -4
    assert kaplan_meier("y", data, event="g", schema=schema).curves[0].survival.tolist() == [0.5, 0.0]


def test_nobody_with_an_event_survives_for_ever() -> None:
    out = kaplan_meier("y", same(two="no"), event="two", **K)
    assert (out.curves[0].times, out.median["everybody"]) == ((), None)
    assert out.summary()
    assert out.to_html()


def test_a_draft_of_a_schema_is_not_needed_in_the_clear() -> None:
    """On one's own table bounds may be read off the data; between parties they may not."""
    assert ttest("y", DATA, by="two").statistic == ttest("y", DATA, by="two", **K).statistic
    with pytest.raises(InvalidParameter, match="schema is missing"):
        ttest("y", [DATA] * 5, by="two", privacy=mu.Secure(rows_are_public=True))
