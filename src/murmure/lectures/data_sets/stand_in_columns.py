"""What invented rows look like: for each column its values and about how frequent they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.core.types import Floats


@dataclass(frozen=True)
class NumberLaw:
    """Normal, cut to [low, high] and rounded; a share of zeros that mean "missing"."""

    low: float
    high: float
    mean: float
    deviation: float
    decimals: int = 0
    zeros: float = 0.0


@dataclass(frozen=True)
class LabelLaw:
    """Values with the shares of the first ones; the others have equal parts of the rest. Every value occurs."""

    values: Sequence[Any]
    first: Sequence[float] = ()

    @property
    def shares(self) -> Floats:
        others = len(self.values) - len(self.first)
        rest = (1 - sum(self.first)) / others if others else 0.0
        return np.array([*self.first, *[rest] * others])


Invented = Mapping[str, NumberLaw | LabelLaw]


def words(text: str, *first: float) -> LabelLaw:
    return LabelLaw(text.split(), first)


def whole(values: Sequence[int], mean: float, deviation: float) -> LabelLaw:
    """Whole numbers with the shares of a bell."""
    heights = np.exp(-(((np.array(values) - mean) / deviation) ** 2) / 2) + 0.02
    return LabelLaw(values, tuple(heights / heights.sum()))


def coded(values: str, *first: float) -> LabelLaw:
    """Codes of a questionnaire, the most frequent first; -99999 is a question that was not asked."""
    return LabelLaw([int(value) for value in values.split()], first)


def spread(count: int, *first: float) -> LabelLaw:
    return LabelLaw(list(range(1, count + 1)), first)


IRIS: Invented = {
    "sepal_length": NumberLaw(4.3, 7.9, 5.8, 0.8, 1),
    "sepal_width": NumberLaw(2.0, 4.4, 3.1, 0.4, 1),
    "petal_length": NumberLaw(1.0, 6.9, 3.8, 1.7, 1),
    "petal_width": NumberLaw(0.1, 2.5, 1.2, 0.7, 1),
    "species": words("setosa versicolor virginica"),
}
PIMA: Invented = {
    "Pregnancies": NumberLaw(0, 17, 3.8, 3.4),
    "Glucose": NumberLaw(44, 199, 121, 30, zeros=0.007),
    "BloodPressure": NumberLaw(24, 122, 72, 12, zeros=0.05),
    "SkinThickness": NumberLaw(7, 99, 29, 10, zeros=0.3),
    "Insulin": NumberLaw(14, 846, 155, 110, zeros=0.5),
    "BMI": NumberLaw(18.2, 67.1, 32.4, 6.9, 1, zeros=0.014),
    "DiabetesPedigreeFunction": NumberLaw(0.078, 2.42, 0.47, 0.33, 3),
    "Age": NumberLaw(21, 81, 33, 12),
    "Outcome": LabelLaw([0, 1], (0.65,)),
}
ADULT: Invented = {
    "age": whole(range(17, 91), 38, 14),
    "workclass": words(
        "Private Self-emp-not-inc Local-gov State-gov Self-emp-inc Federal-gov Without-pay", 0.74, 0.08, 0.07
    ),
    "fnlwgt": NumberLaw(12_285, 1_490_400, 190_000, 100_000),
    "education": words(
        "HS-grad Some-college Bachelors Masters Assoc-voc 11th Assoc-acdm 10th 7th-8th Prof-school 9th 12th "
        "Doctorate 5th-6th 1st-4th Preschool",
        0.33, 0.22, 0.17,
    ),
    "education-num": whole(range(1, 17), 10, 2.5),
    "marital-status": words(
        "Married-civ-spouse Never-married Divorced Separated Widowed Married-spouse-absent Married-AF-spouse",
        0.47, 0.32, 0.14,
    ),
    "occupation": words(
        "Craft-repair Prof-specialty Exec-managerial Adm-clerical Sales Other-service Machine-op-inspct "
        "Transport-moving Handlers-cleaners Farming-fishing Tech-support Protective-serv Priv-house-serv Armed-Forces",
        0.13, 0.13, 0.13, 0.12, 0.12, 0.11,
    ),
    "relationship": words("Husband Not-in-family Own-child Unmarried Wife Other-relative", 0.41, 0.26, 0.15, 0.11),
    "race": words("White Black Asian-Pac-Islander Amer-Indian-Eskimo Other", 0.86, 0.09, 0.03),
    "sex": words("Male Female", 0.68),
    "capital-gain": NumberLaw(0, 99_999, 1_000, 3_000, zeros=0.9),
    "capital-loss": NumberLaw(0, 4_356, 100, 500, zeros=0.95),
    "hours-per-week": NumberLaw(1, 99, 41, 12),
    "native-country": LabelLaw(["United-States", "Mexico", *(f"Country-{i}" for i in range(3, 42))], (0.91, 0.02)),
    "salary": words("<=50K >50K", 0.75),
}  # fmt: skip
NURSERY: Invented = {
    "parents": words("usual pretentious great_pret"),
    "has_nurs": words("proper less_proper improper critical very_crit"),
    "form": words("complete completed incomplete foster"),
    "children": words("1 2 3 more"),
    "housing": words("convenient less_conv critical"),
    "finance": words("convenient inconv"),
    "social": words("nonprob slightly_prob problematic"),
    "health": words("recommended priority not_recom"),
    "class": words("not_recom priority spec_prior very_recom recommend", 0.333, 0.329, 0.312, 0.025),
}
ACS_EMPLOYMENT: Invented = {
    "AGEP": whole([*range(91), 94], 45, 25),
    "SCHL": spread(25, 0.2, 0.16, 0.14, 0.07, 0.06, 0.06),
    "MAR": spread(5, 0.47, 0.36, 0.1, 0.06),
    "SEX": spread(2, 0.51),
    "DIS": spread(2, 0.16),
    "ESP": coded("-99999 1 2 7 5 8 3 6 4", 0.81, 0.09, 0.04, 0.03),
    "MIG": coded("1 3 -99999 2", 0.87, 0.12),
    "CIT": spread(5, 0.97),
    "MIL": coded("4 -99999 2 3 1", 0.7, 0.19, 0.09),
    "ANC": spread(4, 0.45, 0.35, 0.03),
    "NATIVITY": spread(2, 0.98),
    "RELP": spread(18, 0.42, 0.22, 0.2),
    "DEAR": spread(2, 0.06),
    "DEYE": spread(2, 0.03),
    "DREM": coded("2 1 -99999", 0.9, 0.06),
    "RAC1P": spread(9, 0.89, 0.07),
    "GCL": coded("2 -99999 1", 0.66, 0.32),
    "ESR": coded("1 6 -99999 3 2 4", 0.46, 0.33, 0.18),
}
COLUMNS = {
    "iris": IRIS,
    "pima": PIMA,
    "adult": ADULT,
    "nursery": NURSERY,
    "acs-employment": ACS_EMPLOYMENT,
}
