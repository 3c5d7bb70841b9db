"""Reports and witnesses in the words of the question, for the reader of a certificate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from murmure.core.errors import Phrase, shorten
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
from murmure.show.phrase import apart, commas

MAX_NAMED = 5


def answer_in_words(domain: Any, code: int) -> str:
    """A label in quotation marks, a number without."""
    label = domain.label(code)
    # Not numbers(): all numbers of a domain may be gigabytes.
    values = 0 if domain.ordered else domain.values
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
        listed = commas(_first_few([str(domain.label(v)) for v in values]))
        if isinstance(mechanism, SubsetSelection):
            return Phrase("the set {{{listed}}}", listed=listed)
        return Phrase("'yes to {listed}, no to the rest'", listed=listed) if values else Phrase("'no to every answer'")
    if isinstance(mechanism, LocalHashing):
        return Phrase("bin {bin} of {bins}, under a public hash", bin=int(report[-1]), bins=mechanism.g)
    if isinstance(mechanism, NumericOracle):
        low, step, _ = domain.scale()
        value = low + step * float(mechanism.readout[int(report)])
        return Phrase("{report} (which counts as {value:.4g})", report=int(report), value=value)
    if isinstance(mechanism, YesNo | BiasedNumeric | GRR):
        return answer_in_words(domain, int(report))
    shown = shorten(report.tolist() if hasattr(report, "tolist") else report, 40)
    return Phrase("index {index}", index=shown) if isinstance(mechanism, HadamardResponse) else shown


def witness_in_words(
    mechanism: Any, x: int, other: int, report: Any, epsilon: float, one_report: bool
) -> tuple[str, str]:
    """The report that tells most, and what it tells."""
    a, b = answer_in_words(mechanism.domain, x), answer_in_words(mechanism.domain, other)
    text = Phrase("the report {report}", report=report_in_words(mechanism, report))
    return text, _tells(a, b, epsilon, one_report)


def record_witness_in_words(
    mechanism: Any, x: Any, other: Any, y: Any, epsilon: float, one_report: bool
) -> tuple[str, str]:
    """The record that tells most: what it reports where something is reported, and which columns tell what."""
    reports, differ = [], []
    for i, name in enumerate(mechanism.columns):
        part = mechanism.parts[i]
        part = part.real if isinstance(part, HiddenOracle) else part
        if y[i] is not None:
            reports.append(Phrase("{name}: {report}", name=name, report=report_in_words(part, y[i])))
        if x[i] != other[i]:
            a, b = (answer_in_words(part.domain, code) for code in (x[i], other[i]))
            differ.append((Phrase("{name} {answer}", name=name, answer=a), b))
    a, b = (commas(_first_few([pair[side] for pair in differ])) for side in (0, 1))
    text = Phrase("the report ({reports})", reports=apart(_first_few(reports)))
    return text, _tells(a, b, epsilon, one_report)


def _tells(a: str, b: str, epsilon: float, one_report: bool) -> str:
    """What the report tells. The ratio is stated for a single report only, and while it is a number people can read."""
    if not one_report or epsilon > 50:
        return Phrase("tells {a} from {b} best", a=a, b=b)
    return Phrase("is {times:.4g} times likelier from {a} than from {b}", times=math.exp(epsilon), a=a, b=b)


def _first_few(items: Sequence[str]) -> Sequence[str]:
    return items if len(items) <= MAX_NAMED else [*items[:MAX_NAMED], Phrase("... ({n} in all)", n=len(items))]
