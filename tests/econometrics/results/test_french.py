"""French results are French: names of facts, heads, notes, and how a result was obtained."""

from __future__ import annotations

import re

import murmure as mu
from murmure import econometrics
from murmure.show.document import Number
from murmure.show.language import Language

SCHEMA = mu.Schema({"y": mu.Integers(0, 99), "x": mu.Integers(0, 9), "ill": mu.Categories(["no", "yes"])})
PARTS = [
    {
        "y": [(7 * i * i + 11 * k) % 90 for i in range(20)],
        "x": [(i * k + i) % 10 for i in range(20)],
        "ill": [("no", "yes")[i * i % 5 % 2] for i in range(20)],
    }
    for k in range(1, 7)
]


def digits(text: str) -> list[str]:
    """All digits of a text, whatever marks stand between them."""
    return re.findall(r"\d+", re.sub(r"(?<=\d)[.,\u202f](?=\d)", "", text))


def test_a_regression_in_french() -> None:
    """No English word is left around the figures, and the figures are the same."""
    fit = econometrics.ols(
        "y ~ x", PARTS, schema=SCHEMA, privacy=mu.Secure(dropouts=0, rows_are_public=True), errors="cluster"
    )
    english, french = fit.summary("en"), fit.summary("fr")

    assert "err. type" in french and "Obtenu par sommes masquées entre 6 participants" in french
    assert "Les sommes sont exactes" in french and "à une rotation" in french
    for word in ("std err", "Rows", "Obtained", "collude", "differential privacy", "rotation among"):
        assert word in english and word not in french, word
    tables = [
        [cell for row in table.rows for cell in row if isinstance(cell, float | Number)] for table in fit.tables()
    ]
    assert all(tables)
    body = [[line for line in text.splitlines() if line.startswith(("x ", "Intercept"))] for text in (english, french)]
    assert [digits(line) for line in body[0]] == [digits(line) for line in body[1]] and len(body[0]) == 2


def test_noise_and_survival_in_french() -> None:
    rows = {name: [value for part in PARTS for value in part[name]] for name in SCHEMA}
    noisy = econometrics.describe(rows, ["y"], schema=SCHEMA, privacy=mu.Central(epsilon=50.0), rng=mu.Random.seeded(3))
    curve = econometrics.kaplan_meier("x", rows, event="ill", schema=SCHEMA)

    assert "Confidentialité différentielle pour une ligne" in noisy.summary("fr") and "moyenne" in noisy.summary("fr")
    assert "à risque" in curve.summary("fr") and "a vu chaque ligne" in curve.summary("fr")


def test_names_of_people_stay() -> None:
    """A column of somebody's is not translated, whatever it is called; sentences take its name along."""
    rows = {"mean": [1, 2, 4, 8], "Rows": [3, 1, 4, 1]}
    shown = econometrics.covariance(rows, ["mean", "Rows"]).summary("fr")

    assert "moyenne de mean" in shown and "moyenne de Rows" in shown
    assert Language("fr").say("Rows") == "Rows"
