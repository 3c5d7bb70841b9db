"""Every kind of result, made from labels, names and titles that somebody chose to do harm, in every renderer."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest
from tests.parties.hands import Hands
from tests.show.every_block import HOSTILE
from tests.show.test_renderers import CONTROLS, KNOWN_COMMANDS, check_page

import murmure as mu
from murmure import econometrics
from murmure.attacks.audits.replay_audit import Audit
from murmure.attacks.person.forgery.detection import detect_forgeries
from murmure.core.blocks import Cost
from murmure.core.errors import MurmureError
from murmure.learn import KMeans, LinearRegression, NaiveBayes
from murmure.parties.coordinator.page import study_document
from murmure.parties.coordinator.progress import Ending, StudyProgress
from murmure.parties.coordinator.status_view import StatusView
from murmure.show.data import to_dict, to_frame
from murmure.show.document import Curves, Document, Heading, Intervals, Shown
from murmure.show.html import live_page, page, snippet
from murmure.show.latex import latex
from murmure.show.plot import draw
from murmure.show.text import text


def _labels(bad: str) -> list[str]:
    return [bad, f"{bad} 2"]


def _schema(bad: str) -> mu.Schema:
    return mu.Schema({"who": mu.Categories(_labels(bad)), "x": mu.Integers(0, 6), "y": mu.Integers(0, 4)})


def _people(bad: str) -> dict[str, Any]:
    return {
        "who": [_labels(bad)[i % 2] for i in range(60)],
        "x": [i % 7 for i in range(60)],
        "y": [i % 5 for i in range(60)],
    }


def _release(bad: str) -> mu.Release:
    domain = mu.Categories(_labels(bad))
    plan = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, epsilon=1.0))
    return mu.run(plan, _people(bad)["who"], rng=mu.Random.seeded(1))


def _estimates(bad: str) -> Any:
    schema = _schema(bad)
    plan = mu.Plan(mu.Marginals(schema), person=mu.SPL(schema, epsilon=3.0))
    return mu.run(plan, _people(bad), rng=mu.Random.seeded(1)).estimate


def _kmeans(bad: str) -> Any:
    schema = mu.Schema({bad: mu.Integers(0, 6), "y": mu.Integers(0, 4)})
    people = {bad: _people(bad)["x"], "y": _people(bad)["y"]}
    return KMeans(n_clusters=2, schema=schema, privacy=mu.Clear()).fit(people)


def _receipt(bad: str, folder: Path) -> Any:
    return mu.sanitise(_people(bad), mu.SPL(_schema(bad), epsilon=3.0), folder / "out.csv", rng=mu.Random.seeded(1))


def _audit(bad: str) -> Any:
    return Audit(1, Cost(1, Fraction(0)), 0.5, None, bad, (bad,))


def _ledger(bad: str, folder: Path) -> Any:
    ledger = mu.Ledger(folder / "ledger.db")
    ledger.set_budget(bad, epsilon=3.0, who=bad)
    return ledger


def _study(bad: str, folder: Path) -> Document:
    """Names of studies that cannot be seen are refused before anybody could look at them."""
    try:
        study = Hands(folder, name=bad).study
    except MurmureError:
        study = Hands(folder / "plain").study
    return study_document(StatusView(study, StudyProgress(ended=Ending("MurmureError", bad))))


def _forgery_check(bad: str) -> Any:
    mechanism = mu.OUE(mu.Categories(_labels(bad)), epsilon=1.0)
    return detect_forgeries(mechanism, mechanism.report([_labels(bad)[0]] * 9, mu.Random.seeded(1)))


RESULTS: dict[str, Callable[[str, Path], Any]] = {
    "release": lambda bad, _: _release(bad),
    "estimate": lambda bad, _: _release(bad).estimate,
    "estimates": lambda bad, _: _estimates(bad),
    "sanitised table": _receipt,
    "audit": lambda bad, _: _audit(bad),
    "ledger": _ledger,
    "account": lambda bad, folder: _ledger(bad, folder).account(bad),
    "study": _study,
    "certificate": lambda bad, _: mu.certify(mu.GRR(mu.Categories(_labels(bad)), epsilon=1.0)),
    "advice": lambda bad, _: mu.advise(mu.Categories(_labels(bad)), epsilon=1.0, people=100),
    "forgery check": lambda bad, _: _forgery_check(bad),
    "forged": lambda bad, _: _release(bad).estimate.with_forged(3),
    "naive Bayes": lambda bad, _: NaiveBayes(_schema(bad), target="who", privacy=mu.Clear()).fit(_people(bad)),
    "linear regression": lambda bad, _: LinearRegression(_schema(bad), target="y", privacy=mu.Clear()).fit(
        _people(bad)
    ),
    "k-means": lambda bad, _: _kmeans(bad),
    "ols": lambda bad, _: econometrics.ols("y ~ x + C(who)", _people(bad), schema=_schema(bad)),
    "contingency": lambda bad, _: econometrics.contingency("who", "y", _people(bad), schema=_schema(bad)),
}


def blocks_of(result: Any) -> Document:
    return result if isinstance(result, Document) else result.document()


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_results_are_inert(name: str, hostile: str, tmp_path: Path) -> None:
    if name in ("ledger", "account") and not hostile.isprintable():  # a name that cannot be seen is no name there
        with pytest.raises(MurmureError):
            RESULTS[name](hostile, tmp_path)
        return
    shown = blocks_of(RESULTS[name](hostile, tmp_path))
    heading = Heading(hostile, hostile, hostile)

    for lang in ("en", "fr"):
        for whole in (page(shown, heading, lang), live_page(shown, lang), snippet(shown, lang)):  # type: ignore[arg-type]
            check_page(whole, "")
        assert not CONTROLS.search(text(shown, lang))  # type: ignore[arg-type]
        assert set(re.findall(r"\\([A-Za-z]+)", latex(shown, lang))) <= KNOWN_COMMANDS  # type: ignore[arg-type]
    to_dict(shown), to_frame(shown)
    for panel in shown.of(Intervals, Curves):
        draw(plt, panel, plt.figure().add_subplot()).figure.canvas.draw()
    plt.close("all")


def test_every_kind_of_result_is_tried() -> None:
    """A class that people look at is in the list, itself or by a subclass."""
    tried = {
        type(RESULTS[name]("a", Path()))
        for name in RESULTS
        if name not in ("sanitised table", "ledger", "account", "study")
    }
    known = {cls for kind in tried for cls in kind.__mro__}

    assert {"Release", "Estimate", "Estimates", "Certificate", "Audit", "ModelResult"} <= {c.__name__ for c in known}
    assert all(issubclass(kind, Shown) for kind in tried)
