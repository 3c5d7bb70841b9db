"""Errors by party and levels of parties: of enough honest parties, rounded, and said."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure import econometrics as ec
from murmure.core.errors import PlanRefused
from murmure.econometrics.errors import Collinear
from murmure.statistics.exact import party_products

SCHEMA = mu.Schema({"y": mu.Integers(0, 1), "x": mu.Integers(0, 1), "z": mu.Decimals(0, 1, 3)})


def table(k: int, n: int = 12) -> dict[str, Any]:
    return {
        "y": [(7 * i * i + i // 3 + k) % 2 for i in range(n)],
        "x": [(i * i + i // 2 + 3 * k) % 5 % 2 for i in range(n)],
        "z": [(37 * i * (i + k) + 11 * k) % 1000 / 1000 for i in range(n)],
    }


TABLES = [table(k) for k in range(5)]


def ask(kind: str, tables: list[Any], **privacy: Any) -> Any:
    terms: dict[str, Any] = {"schema": SCHEMA, "privacy": mu.Secure(**privacy, rows_are_public=True)} if privacy else {}
    return (
        ec.fixed_effects("y ~ x + z", tables, **terms)
        if kind == "levels"
        else ec.ols("y ~ x + z", tables, errors="cluster", **terms)
    )


@pytest.mark.parametrize("kind", ["levels", "clusters"])
def test_few_honest_parties_are_refused_before_the_first_round(kind: str) -> None:
    """Of 5 parties 1 may collude, or look at its own part: 4 are left; and no fewer."""
    for tables, terms in ((TABLES[:4], {"dropouts": 0}), (TABLES, {"dropouts": 1}), (TABLES[:4], {"colluders": 0})):
        with pytest.raises(PlanRefused, match="need at least 4 honest parties"):
            ask(kind, tables, **terms)
    said = " ".join(ask(kind, TABLES, dropouts=0).how.lines())
    assert "up to a rotation among them, and not whose is whose" in said
    assert "no row" not in said and "Where these are few rows, or two parties, single ones may follow" in said


def test_levels_keep_nine_digits_of_small_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve rows of zeros and ones at each party, rounded to 2**-32: as close to an exact fit as anybody prints."""
    ours = ask("levels", TABLES)
    monkeypatch.setattr(party_products, "POINT", 200)
    exact = ask("levels", TABLES)

    assert ours.params.tolist() != exact.params.tolist()
    for name in ("params", "bse"):
        np.testing.assert_allclose(getattr(ours, name), getattr(exact, name), rtol=1e-9)


def test_a_column_that_depends_on_others_within_parties_is_named() -> None:
    """Thirds are rounded at each party, so that no sum is exactly 0: less than the rounding counts as nothing."""
    tables = [one | {"w": [round(3 * z + k, 3) for z in one["z"]]} for k, one in enumerate(TABLES)]
    tables = [{name: column[: 7 + k] for name, column in one.items()} for k, one in enumerate(tables)]

    with pytest.raises(Collinear, match="'w' is a combination of others within every party: 'z'"):
        ec.fixed_effects("y ~ x + z + w", tables)


def test_an_outcome_without_error_leaves_nothing() -> None:
    tables = [{"x": [i * i % 7 + k for i in range(7 + k)]} for k in range(5)]
    tables = [one | {"y": [3 * x + 5 * k for x in one["x"]]} for k, one in enumerate(tables)]
    found = ec.fixed_effects("y ~ x", tables)

    assert found.rss == 0 and abs(found.coefficients[0] - 3) < Fraction(1, 10**9)
