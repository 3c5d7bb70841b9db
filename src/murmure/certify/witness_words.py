"""Reports and witnesses in the words of the question, for the reader of a certificate."""

from __future__ import annotations

import math
from typing import Any

from murmure.core.domain import Categories
from murmure.core.errors import shorten
from murmure.laws.bits import unpack
from murmure.local.base.hidden_attribute import HiddenOracle
from murmure.local.base.randomisers import BiasedNumeric, NumericOracle
from murmure.local.grr import GRR
from murmure.local.hadamard import HadamardResponse
from murmure.local.hashing import LocalHashing
from murmure.local.rappor import ForEver
from murmure.local.subset import SubsetSelection
from murmure.local.unary import PackedOracle
from murmure.local.warner import YesNo

MAX_NAMED = 5


def answer_in_words(domain: Any, code: int) -> str:
    """A label in quotation marks, a number without."""
    label = domain.label(code)
    # Not numbers(): all numbers of a domain may be gigabytes.
    values = domain.values if isinstance(domain, Categories) else 0
    numeric = isinstance(values, int) or all(isinstance(v, int | float) for v in values)
    return str(label) if numeric else repr(label)


def set_bits(packed: Any, k: int) -> list[int]:
    """The values whose bit is set."""
    return [int(v) for v in unpack(packed[None], k)[0].nonzero()[0]]


def report_in_words(mechanism: Any, report: Any) -> str:
    """What a report says: 'often', a list of yeses, a set, an index."""
    if isinstance(mechanism, ForEver):
        return report_in_words(mechanism.mechanism, report)
    domain = mechanism.domain
    if isinstance(mechanism, PackedOracle):
        values = set_bits(report, domain.size)
        names = [str(domain.label(v)) for v in values[:MAX_NAMED]]
        listed = ", ".join(names) + (f", ... ({len(values)} in all)" if len(values) > MAX_NAMED else "")
        if isinstance(mechanism, SubsetSelection):
            return f"the set {{{listed}}}"
        return f"'yes to {listed}, no to the rest'" if values else "'no to every answer'"
    if isinstance(mechanism, LocalHashing):
        return f"bin {int(report[-1])} of {mechanism.g}, under a public hash"
    if isinstance(mechanism, NumericOracle):
        low, step, _ = domain.scale()
        return f"{int(report)} (which counts as {low + step * float(mechanism.readout[int(report)]):.4g})"
    if isinstance(mechanism, YesNo | BiasedNumeric | GRR):
        return answer_in_words(domain, int(report))
    shown = shorten(report.tolist() if hasattr(report, "tolist") else report, 40)
    return f"index {shown}" if isinstance(mechanism, HadamardResponse) else shown


def witness_in_words(
    mechanism: Any, x: int, other: int, report: Any, epsilon: float, one_report: bool
) -> tuple[str, str]:
    """The report that tells most, and what it tells."""
    a, b = answer_in_words(mechanism.domain, x), answer_in_words(mechanism.domain, other)
    return f"the report {report_in_words(mechanism, report)}", _tells(a, b, epsilon, one_report)


def record_witness_in_words(
    mechanism: Any, x: Any, other: Any, y: Any, epsilon: float, one_report: bool
) -> tuple[str, str]:
    """The record that tells most: what it reports where something is reported, and which columns tell what."""
    reports, differ = [], []
    for i, name in enumerate(mechanism.columns):
        part = mechanism.parts[i]
        part = part.real if isinstance(part, HiddenOracle) else part
        if y[i] is not None:
            reports.append(f"{name}: {report_in_words(part, y[i])}")
        if x[i] != other[i]:
            a, b = (answer_in_words(part.domain, code) for code in (x[i], other[i]))
            differ.append((f"{name} {a}", b))
    a, b = (", ".join(_first_few([pair[side] for pair in differ])) for side in (0, 1))
    return f"the report ({'; '.join(_first_few(reports))})", _tells(a, b, epsilon, one_report)


def _tells(a: str, b: str, epsilon: float, one_report: bool) -> str:
    """What the report tells. The ratio is stated for a single report only, and while it is a number people can read."""
    if not one_report or epsilon > 50:
        return f"tells {a} from {b} best"
    return f"is {math.exp(epsilon):.4g} times likelier from {a} than from {b}"


def _first_few(items: list[str]) -> list[str]:
    return items if len(items) <= MAX_NAMED else [*items[:MAX_NAMED], f"... ({len(items)} in all)"]
