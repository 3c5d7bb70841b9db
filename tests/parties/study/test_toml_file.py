"""A study.toml as people write it: nothing is asked twice, and what is left out is guessed or named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from murmure.core.errors import InvalidParameter, MurmureError
from murmure.parties.study.document import Study
from murmure.secure.identity import Identity

OFFICE = Identity.from_bytes(bytes([9]) * 32).card("Office")
CARDS = tuple(Identity.from_bytes(bytes([i + 1]) * 32).card(f"Hospital {i}") for i in range(5))
TEXT = """
name = "Stay"
purpose = "To plan beds."
minimum_parties = 4
least_rows = 30

[columns.age]
type = "integers"
low = 18
high = 99

[columns.ward]
type = "categories"
values = ["icu", "other"]

[[queries]]
"""


def study_of(folder: Path, query: str, text: str = TEXT, cards: int = 5, **terms: Any) -> Study:
    (folder / "s.toml").write_text(text + query)
    return Study.from_toml(folder / "s.toml", CARDS[:cards], OFFICE, **terms)


def test_what_is_0_or_1_is_its_own_square(tmp_path: Path) -> None:
    study = study_of(tmp_path, """products = ["1", "age", "ward == 'icu'"]""")
    assert study.plans[0].statistic.expressions == (
        "1",
        "age",
        "ward == 'icu'",
        "age ** 2",
        "age * (ward == 'icu')",
    )


def test_without_the_one_the_condition_is_still_asked(tmp_path: Path) -> None:
    study = study_of(tmp_path, """products = ["age", "ward == 'icu'"]""")
    assert study.plans[0].statistic.expressions == ("age ** 2", "age * (ward == 'icu')", "ward == 'icu'")


def test_one_number_that_comes_about_in_two_ways_is_asked_once(tmp_path: Path) -> None:
    """x squared is a product of x and x, and of 1 and x ** 2."""
    study = study_of(tmp_path, 'products = ["1", "age", "age ** 2"]')
    assert study.plans[0].statistic.expressions == ("1", "age", "age ** 2", "age * (age ** 2)", "(age ** 2) ** 2")


def test_noise_of_epsilon_alone_is_laplace(tmp_path: Path) -> None:
    plan = study_of(tmp_path, 'sums = ["age"]\n[noise]\nepsilon = 1.0\n').plans[0]
    assert type(plan.curator).__name__ == "DiscreteLaplace" and plan.curator.epsilon == 1.0
    own = study_of(tmp_path, 'sums = ["age"]\nnoise = { epsilon = 0.5 }\n').plans[0]
    assert own.curator.epsilon == 0.5


def test_too_many_sums_name_the_key_that_helps(tmp_path: Path) -> None:
    """And with it the study is accepted; with one row less it is not."""
    query = "sums = [" + ", ".join(f'"age == {a}"' for a in range(20, 60)) + "]"
    with pytest.raises(MurmureError) as caught:
        study_of(tmp_path, query, TEXT.replace("least_rows = 30", "least_rows = 20"), minimum_cell=1)
    assert "least_rows = 30" in caught.value.hint
    study_of(tmp_path, query, TEXT, minimum_cell=1)
    with pytest.raises(MurmureError):
        study_of(tmp_path, query, TEXT.replace("least_rows = 30", "least_rows = 29"), minimum_cell=1)


def test_the_file_is_named_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter) as caught:
        study_of(tmp_path, 'sums = ["age"]', "ratio = 3000\n" + TEXT)
    assert str(caught.value).count("s.toml") == 1


def test_two_parties_are_no_study(tmp_path: Path) -> None:
    """Lowering the minimum is no way out, and is not proposed."""
    with pytest.raises(InvalidParameter) as caught:
        study_of(tmp_path, 'sums = ["age"]', cards=2)
    assert "lower" not in caught.value.hint and "subtract" in caught.value.hint


def test_a_median_is_a_quantile(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter) as caught:
        study_of(tmp_path, 'statistic = "Median"\ncolumn = "age"')
    assert "Quantile" in caught.value.hint
