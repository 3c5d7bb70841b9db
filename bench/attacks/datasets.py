"""The tables of the literature as codes: each column by the rank of its sorted distinct values. See ../shared/data."""

import csv
import gzip
from functools import cache
from pathlib import Path

import numpy as np

import murmure as mu

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
FILES = {"Adult": "adult.data.gz", "ACSEmployment": "db_ACSEmployement.csv", "Nursery": "nursery.data.gz"}
ADULT = {  # the columns of the attacks of PVLDB 2023
    "age": 0,
    "workclass": 1,
    "education": 3,
    "marital-status": 5,
    "occupation": 6,
    "relationship": 7,
    "race": 8,
    "sex": 9,
    "native-country": 13,
    "salary": 14,
}
NURSERY = ("parents", "has_nurs", "form", "children", "housing", "finance", "social", "health", "class")


def available(name):
    return (SHARED / FILES[name]).exists()


def rows_of(name):
    opener = gzip.open if name.endswith(".gz") else open
    with opener(SHARED / name, "rt") as file:
        return [row for row in csv.reader(file, skipinitialspace=True) if row]


def acs_employment():
    head, *rows = rows_of("db_ACSEmployement.csv")
    return {name: [float(row[i]) for row in rows] for i, name in enumerate(head)}


def adult():
    rows = [row for name in ("adult.data.gz", "adult.test.gz") for row in rows_of(name) if len(row) == 15]
    rows = [row for row in rows if "?" not in row]
    columns = {name: [row[i].rstrip(".") for row in rows] for name, i in ADULT.items()}
    return columns | {"age": [int(v) for v in columns["age"]]}


def nursery():
    rows = rows_of("nursery.data.gz")
    return {name: [row[i] for row in rows] for i, name in enumerate(NURSERY)}


@cache
def table(name):
    """A schema, and the codes of every column."""
    read = {"ACSEmployment": acs_employment, "Adult": adult, "Nursery": nursery}[name]
    codes = {column: np.unique(values, return_inverse=True)[1] for column, values in read().items()}
    return mu.Schema({column: mu.Categories(int(c.max()) + 1) for column, c in codes.items()}), codes
