"""What is frozen is plain JSON: how figures become JSON, and how two of them are compared."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

LONG = 24  # integers in a list; longer lists are kept as a hash and their first few
FIRST = 6
RELATIVE = 1e-9  # of floats: another BLAS adds in another order
ABSOLUTE = 1e-14  # of floats that are zero but for rounding


def canonical(value: Any) -> str:
    """JSON text in one spelling: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256(value: Any) -> str:
    """SHA-256 over the canonical JSON of a value."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def plain(value: Any) -> Any:
    """The value as JSON. Infinities and NaN are texts; fractions and decimals too; long lists of integers a hash."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        value = float(value)
        return value if math.isfinite(value) else f"float {value}"
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return _shortened([plain(part) for part in value])
    raise TypeError(f"{type(value).__name__} is not a figure")


def _shortened(values: list[Any]) -> Any:
    """A long list as a few figures: a hash of what is exact, and sums of the floats, which a hash could not compare."""
    flat = list(_leaves(values))
    if len(flat) <= LONG or not all(v is None or isinstance(v, int | float | str) for v in flat):
        return values
    exact = [None if type(v) is float else v for v in flat]
    floats = [v for v in flat if type(v) is float]
    out = {"length": [len(values), len(flat)], "sha256": sha256(exact), "first": flat[:FIRST]}
    if floats:  # weights tell figures that changed places
        out["size of floats"] = math.fsum(map(abs, floats))
        out["weighted floats"] = math.fsum(abs(v) * (1 + i % 7) for i, v in enumerate(floats))
        out["sign of floats"] = sha256([v > ABSOLUTE for v in floats])
    return out


def _leaves(value: Any) -> Any:
    if isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    else:
        yield value


def numbers_in(value: Any) -> list[Any]:
    """All numbers of an internal object, in order, without the names of its fields (which may change)."""
    if isinstance(value, bool | np.bool_ | int | float | np.integer | np.floating | Fraction | Decimal):
        return [plain(value)]
    if isinstance(value, np.ndarray):
        return numbers_in(value.tolist())
    if isinstance(value, Mapping):
        return [number for part in value.values() for number in numbers_in(part)]
    if isinstance(value, list | tuple):
        return [number for part in value for number in numbers_in(part)]
    if is_dataclass(value) and not isinstance(value, type):
        return [number for f in fields(value) for number in numbers_in(getattr(value, f.name))]
    return []


# What later issues changed in the JSON of commands on purpose. Everything else must stay as it was frozen.
ON_PURPOSE = {
    "GRR takes the exact truth of a device (issue 20)": r"\[0\]/json\[2\]/options: 1 entries were frozen, found 2",
    "an account states what it counts (issue 16)": r"\[\d+\]/json(/ledger|/datasets/[^/]+|/entries\[\d+\])?"
    r"/(unit|relation): is new, .*",
    "sanitize charges the one ledger (issue 16)": r"\[0\]/json/ledger/(paid: was frozen, and is gone|path: .*|"
    r"(dataset|again|budget|spent|left): is new, .*)",
    "advise and estimate speak of forged reports (issue 18)": r"\[\d+\]/json(/rows\[\d+\]/leverage|/caution|/forged): "
    r"is new, .*",
    "schema init and check say how a file is written, and name rows (issue 20)": r"\[\d+\]/json/(file|taken|doubts|"
    r"wrote_file|other_widths|columns/[^/]+/rows): is new, .*",
    "whether noise leaves standard errors depends on the draw": r"\[0\]/json/learned/(bse_|cov_): .* was frozen, .*",
}


# Where a regression asks next follows from the last bits of its sums, and so do the digests of its later questions.
# They were frozen with the exponentials of NumPy without AVX-512 and of SciPy; since issue 22 exponentials are the same
# on every processor (docs/decisions/0050). tests/econometrics/rows/test_glm_kernels.py states their bits.
ITERATED = ("gamma", "logit", "mle", "negative-binomial", "poisson", "probit")
LATER_QUESTION = r"\[0\]/json/how/plans\[[1-9]\]: '[0-9a-f]{64}' was frozen, found '[0-9a-f]{64}'"


def unexpected(lines: list[str], command: str = "") -> list[str]:
    """The differences that nobody meant."""
    meant = [*ON_PURPOSE.values(), *([LATER_QUESTION] if command in ITERATED else [])]
    return [line for line in lines if not any(re.fullmatch(pattern, line) for pattern in meant)]


def differences(frozen: Any, found: Any, place: str = "") -> list[str]:
    """Where two JSON values differ, one line each: integers exactly, floats to 1e-9, every key."""
    if isinstance(frozen, dict) and isinstance(found, dict):
        out = [f"{place}/{key}: was frozen, and is gone" for key in frozen if key not in found]
        out += [f"{place}/{key}: is new, and was not frozen" for key in found if key not in frozen]
        for key in frozen:
            if key in found:
                out += differences(frozen[key], found[key], f"{place}/{key}")
        return out
    if isinstance(frozen, list) and isinstance(found, list):
        if len(frozen) != len(found):
            return [f"{place}: {len(frozen)} entries were frozen, found {len(found)}"]
        return [text for i, pair in enumerate(zip(frozen, found, strict=True)) for text in _at(pair, f"{place}[{i}]")]
    if type(frozen) is float and type(found) is float:
        same = math.isclose(frozen, found, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    else:
        same = type(frozen) is type(found) and frozen == found
    return [] if same else [f"{place}: {_brief(frozen)} was frozen, found {_brief(found)}"]


def _at(pair: tuple[Any, Any], place: str) -> list[str]:
    return differences(*pair, place)


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
