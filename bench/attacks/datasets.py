"""The tables of the literature as codes: each column by the rank of its sorted distinct values. Set MURMURE_DATA.

Beside a checkout that has ../shared/data they are taken from there.
"""

import os
from functools import cache
from pathlib import Path

from murmure.core.errors import MurmureError
from murmure.lectures.data_sets.sources import ADULT_PVLDB
from murmure.lectures.data_sets.tables import find_table

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
FILES = {"Adult": "adult", "ACSEmployment": "acs-employment", "Nursery": "nursery"}  # how the lectures call them
COLUMNS = {"Adult": ADULT_PVLDB}  # those of the attacks of PVLDB 2023; otherwise all

if SHARED.is_dir():
    os.environ.setdefault("MURMURE_DATA", str(SHARED))


@cache
def found(name):
    return find_table(FILES[name])


def available(name):
    try:
        return bool(len(found(name)))
    except MurmureError:  # neither here nor to be fetched
        return False


@cache
def table(name):
    """A schema, and the codes of every column."""
    return found(name).schema(COLUMNS.get(name)), found(name).codes(COLUMNS.get(name))
