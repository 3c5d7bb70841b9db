"""French pages have French tables: names of facts, heads, and how a result was obtained."""

from __future__ import annotations

import re

import murmure as mu
from murmure import econometrics
from murmure.econometrics.results.french import FRENCH, in_french

SCHEMA = mu.Schema({"y": mu.Integers(0, 99), "x": mu.Integers(0, 9), "ill": mu.Categories(["no", "yes"])})
PARTS = [
    {
        "y": [(7 * i * i + 11 * k) % 90 for i in range(20)],
        "x": [(i * k + i) % 10 for i in range(20)],
        "ill": [("no", "yes")[i * i % 5 % 2] for i in range(20)],
    }
    for k in range(1, 7)
]


def test_a_regression_in_french() -> None:
    """No English word is left around the figures, and the figures are the same."""
    fit = econometrics.ols(
        "y ~ x", PARTS, schema=SCHEMA, privacy=mu.Secure(dropouts=0, rows_are_public=True), errors="cluster"
    )
    english, french = fit.to_html(), fit.to_html("fr")

    assert "erreur type" in french and "Obtenu par sommes masquées entre 6 participants" in french
    assert "Les sommes sont exactes" in french and "à une rotation" in french
    for word in ("std err", "Rows", "Obtained", "collude", "differential privacy", "rotation among"):
        assert word in english and word not in french, word
    numbers = r"<td>[-\\d.,  ]+</td>"
    assert re.findall(numbers, english) == re.findall(numbers, french)


def test_noise_and_survival_in_french() -> None:
    rows = {name: [value for part in PARTS for value in part[name]] for name in SCHEMA}
    noisy = econometrics.describe(rows, ["y"], schema=SCHEMA, privacy=mu.Central(epsilon=50.0), rng=mu.Random.seeded(3))
    curve = econometrics.kaplan_meier("x", rows, event="ill", schema=SCHEMA)

    assert "Confidentialité différentielle d’une ligne" in noisy.to_html("fr") and "moyenne" in noisy.to_html("fr")
    assert "à risque" in curve.to_html("fr") and "Qui a fait ce calcul a vu chaque ligne" in curve.to_html("fr")


def test_words_that_have_no_french_stay() -> None:
    """A column of somebody's is not translated, whatever it is called; patterns take its name along."""
    assert in_french("ward[T.B]") == "ward[T.B]" and in_french("mean of stay") == "moyenne de stay"
    assert all(french and "  " not in french for french in FRENCH.values())
