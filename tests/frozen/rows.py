"""Small synthetic data for any question, made from the JSON of its domain: nothing here knows a class."""

from __future__ import annotations

import hashlib
from datetime import date
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
    if kind == "Dates":
        return _date(domain["unit"], domain["first"], domain["last"], at)
    raise TypeError(f"no rows are known for {kind}")


def _date(unit: str, first: str, last: str, at: int) -> str:
    """A day, a week, a month or a year, as ISO 8601 writes it."""
    if unit == "day":
        low, high = (date.fromisoformat(end).toordinal() for end in (first, last))
        return date.fromordinal(low + at % (high - low + 1)).isoformat()
    if unit == "week":
        low, high = (date.fromisocalendar(int(end[:4]), int(end[6:]), 1).toordinal() for end in (first, last))
        year, week, _ = date.fromordinal(low + at % ((high - low) // 7 + 1) * 7).isocalendar()
        return f"{year:04}-W{week:02}"
    if unit == "month":
        low, high = (12 * int(end[:4]) + int(end[5:]) - 1 for end in (first, last))
        year, month = divmod(low + at % (high - low + 1), 12)
        return f"{year:04}-{month + 1:02}"
    return f"{int(first) + at % (int(last) - int(first) + 1):04}"
