"""The data sets of the lectures: their files, their columns, and the digest by which their rows are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class DataSource:
    """One data set. files: name -> SHA-256 of the plain bytes; a file may also be there as name.gz."""

    name: str
    files: Mapping[str, str]
    columns: tuple[str, ...]
    digest: str  # SHA-256 of its rows (rows.py), wherever they come from
    numbers: frozenset[str] = frozenset()  # columns of numbers; the others are labels
    header: bool = False  # whether the first line of each file names the columns
    in_order: bool = False  # whether the order of its rows counts; otherwise they get one of ours
    open_ml: int | None = None  # number of the data set at OpenML, which fixes its version
    names_there: Mapping[str, str] = field(default_factory=dict)  # OpenML's name of a column -> ours
    labels_there: Mapping[str, str] = field(default_factory=dict)  # OpenML's label -> ours
    origin: str = ""  # where a file that cannot be fetched is found


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


PIMA_COLUMNS = _names(
    "Pregnancies Glucose BloodPressure SkinThickness Insulin BMI DiabetesPedigreeFunction Age Outcome"
)

# "diabetes", version 1. The lecture splits its rows by their order.
PIMA = DataSource(
    "pima",
    {"diabetes.csv": "b78029447fae2743b3218bb2b76ef0d04afe8d7e55ce2faf4d1ec82d8f8ae8ac"},
    PIMA_COLUMNS,
    "f13233e93c8feb469d27f9a201fd6e2e781c8ebb3de483454783377491ebc684",
    numbers=frozenset(PIMA_COLUMNS),
    header=True,
    in_order=True,
    open_ml=37,
    names_there=dict(zip(_names("preg plas pres skin insu mass pedi age class"), PIMA_COLUMNS, strict=True)),
    labels_there={"tested_negative": "0", "tested_positive": "1"},
)

# "adult", version 2: both parts in one, rows with a missing value left out.
ADULT = DataSource(
    "adult",
    {
        "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        "adult.test": "72567b94f5c1a6f8501377dd80f93892c3848ff071cf91ba47e00b0785a28074",
    },
    _names(
        "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain "
        "capital-loss hours-per-week native-country salary"
    ),
    "31c64aa0c4ab86b16e29628ee0edb8a3b118ba2c00aeae0b1ee1aad974414ac7",
    numbers=frozenset(_names("age fnlwgt education-num capital-gain capital-loss hours-per-week")),
    open_ml=1590,
    names_there={"class": "salary"},
)

NURSERY = DataSource(
    "nursery",
    {"nursery.data": "8e0389c3dd37590248a921c2726d869ee96b817761a35eb8416afa24f31f931d"},
    _names("parents has_nurs form children housing finance social health class"),
    "9f5455e93c8e6b2fe9edb414515794e51d9e5a0d1ab425bb40a620e4d6022b70",
    open_ml=26,
)

ACS_COLUMNS = _names("AGEP SCHL MAR SEX DIS ESP MIG CIT MIL ANC NATIVITY RELP DEAR DEYE DREM RAC1P GCL ESR")

ACS_EMPLOYMENT = DataSource(
    "acs-employment",
    {"db_ACSEmployement.csv": "8566786ff5f154527af01edc3c78e90ac17238c6a327ce31707fd50222bf20c7"},
    ACS_COLUMNS,
    "6bc6d5d4659fa0b0f45218e26d806bf4a01bc1c74a626f9017c0f17b06a1a6cb",
    numbers=frozenset(ACS_COLUMNS),
    header=True,
    in_order=True,
    origin="github.com/hharcolezi/risks-ldp, datasets/",
)

SOURCES = {source.name: source for source in (PIMA, ADULT, NURSERY, ACS_EMPLOYMENT)}

# The columns of Adult in Arcolezi et al., PVLDB 16(5), 2023 (d = 10), and in Arcolezi et al., CIKM 2021 (d = 9).
ADULT_PVLDB = _names("age workclass education marital-status occupation relationship race sex native-country salary")
ADULT_CIKM = ADULT_PVLDB[1:]
