"""Small synthetic data for any question, made from the JSON of its domain: nothing here knows a class."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from typing import Any


def frame_of(domain: dict[str, Any], rows: int) -> Any:
    """Rows that this domain or schema holds: a list, or a dictionary of columns where they have names."""
    if domain["type"] == "Schema":
        return {name: _column(domain["columns"][name], rows, j) for j, name in enumerate(domain["order"])}
    values = _column(domain, rows, 0)
    return values if domain.get("column") is None else {domain["column"]: values}


def cut(frame: Any, parts: int) -> list[Any]:
    """The same rows in parts of about one size, one for each party."""
    n = len(next(iter(frame.values()))) if isinstance(frame, dict) else len(frame)
    ends = [n * k // parts for k in range(parts + 1)]
    return [_between(frame, ends[k], ends[k + 1]) for k in range(parts)]


def _between(frame: Any, a: int, b: int) -> Any:
    return {name: column[a:b] for name, column in frame.items()} if isinstance(frame, dict) else frame[a:b]


def _column(domain: dict[str, Any], rows: int, j: int) -> list[Any]:
    return [_value(domain, int.from_bytes(hashlib.sha256(f"{j}, {i}".encode()).digest()[:7])) for i in range(rows)]


def _value(domain: dict[str, Any], at: int) -> Any:
    """The value of this domain at a number that may be far above how many there are."""
    kind = domain.get("domain", domain)["type"] if "type" not in domain else domain["type"]
    if kind == "Categories":
        values = domain["values"]
        return at % values if isinstance(values, int) else values[at % len(values)]
    if kind == "Integers":
        return domain["low"] + at % (domain["high"] - domain["low"] + 1)
    if kind == "Interval":
        return domain["low"] + (domain["high"] - domain["low"]) * ((at % 97 + 0.37) / 97)
    if kind == "Decimals":
        low, grain = Decimal(domain["low"]), Decimal(1).scaleb(-domain["places"])
        return str(low + grain * (at % (int((Decimal(domain["high"]) - low) / grain) + 1)))
    raise TypeError(f"no rows are known for {kind}")
