"""Small tables for the EXAMPLES of several models: a schema and some rows each."""

from __future__ import annotations

from typing import Any

from murmure.core.domain import Categories, Integers, Interval
from murmure.core.schema import Schema

CLINIC = Schema(
    {
        "age": Integers(18, 99),
        "stay": Integers(0, 60),
        "dose": Interval(0.5, 2.5, cells=8),
        "ward": Categories(["A", "B", "C"]),
    }
)
CLINIC_ROWS: dict[str, list[Any]] = {
    "age": [18 + (i * i * 7 + 3 * i) % 80 for i in range(45)],
    "stay": [(5 * i + i * i // 3) % 47 for i in range(45)],
    "dose": [0.5 + (i * 3) % 17 / 8 for i in range(45)],
    "ward": ["ABC"[(i + i // 4) % 3] for i in range(45)],
}
STUDY = Schema(
    {
        "smoker": Categories(["no", "yes"]),
        "ward": Categories(["A", "B", "C"]),
        "ill": Categories(["no", "yes"]),
        "children": Integers(0, 4),
    }
)
STUDY_ROWS: dict[str, list[Any]] = {
    "smoker": [("no", "yes")[(i * i + i // 4) % 3 == 1] for i in range(60)],
    "ward": ["ABC"[(i + i // 7) % 3] for i in range(60)],
    "ill": [("no", "yes")[(i * 5 + i * i) % 7 < 3] for i in range(60)],
    "children": [(i * i) % 4 for i in range(60)],
}
TRIAL = Schema(
    {
        "months": Integers(0, 36),
        "died": Categories(["no", "yes"]),
        "arm": Categories(["old", "new"]),
        "event": Integers(0, 1),
    }
)
TRIAL_ROWS: dict[str, list[Any]] = {
    "months": [1 + (i * i * 3 + 5 * i) % 31 + 4 * (i % 2) for i in range(56)],
    "died": [("no", "yes")[(i * 7 + i * i) % 5 < 3] for i in range(56)],
    "arm": [("old", "new")[i % 2] for i in range(56)],
    "event": [int((i * 7 + i * i) % 5 < 3) for i in range(56)],
}
FIRM = Schema(
    {"pay": Integers(1000, 9000), "sex": Categories(["F", "M"]), "site": Categories(["north", "south", "west"])}
)
FIRM_ROWS: dict[str, list[Any]] = {
    "pay": [1500 + (i * i * 37 + 11 * i) % 4000 + 300 * (i % 2) for i in range(50)],
    "sex": ["FM"[i % 2] for i in range(50)],
    "site": [("north", "south", "west")[(i + i // 3) % 3] for i in range(50)],
}
PEOPLE = Schema({"age": Integers(18, 77), "dose": Interval(0.5, 2.5, cells=10)})
PEOPLE_ROWS: dict[str, list[Any]] = {
    "age": [18 + (i * i * 7 + 3 * i) % 60 for i in range(50)],
    "dose": [0.5 + (i * 3) % 17 / 8 for i in range(50)],
}
