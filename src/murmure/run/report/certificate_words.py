"""Mechanisms and certificates in words that a respondent can check."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from murmure.core.certificate_blocks import (
    PROVIDED,
    PUBLIC,
    RELATIONS,
    WITNESS,
    cost,
    method_explained,
    witness_phrase,
)
from murmure.core.certificate_blocks import certificate_document as certificate_document
from murmure.core.domain import Categories, Interval
from murmure.core.errors import shorten
from murmure.core.schema import Schema
from murmure.show.document import Block, Table, sentences
from murmure.show.phrase import Phrase, Plural, Strong, apart, commas

if TYPE_CHECKING:
    from murmure.core.types import Certificate

REVEALING_EPSILON = 6  # above this epsilon the odds protect nobody in practice


def max_certainty(epsilon: float, delta: float = 0.0) -> float:
    """How certain an observer can become, from even odds: at most e^eps / (1 + e^eps), rounded up, out of 100.

    With delta: how often the best guess between the two is right, (e^eps + delta) / (1 + e^eps) at most.
    """
    # Rounded up to a tenth. The small term keeps an exact tenth, such as 75, from becoming 75.1 by float error.
    percent = 100 * (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    return math.ceil(10 * percent - 1e-6) / 10


def promise_of_data(c: Certificate, who: str) -> Phrase:
    """What a curator's release promises, in one sentence. With delta > 0 only the success of a guess is bounded."""
    if math.isinf(c.epsilon) or c.epsilon > REVEALING_EPSILON:
        return Phrase("At this epsilon what is published can all but give a person away.")
    fields = {"who": who, "certainty": max_certainty(c.epsilon, c.delta)}
    if c.relation == "replace" and c.delta:
        return Phrase(
            "Whoever guesses between two things that {who} may hold, from even odds, is right at most {certainty:g} "
            "times in 100.",
            **fields,
        )
    if c.delta:
        return Phrase(
            "Whoever guesses whether {who} is in the data, from even odds, is right at most {certainty:g} times in "
            "100.",
            **fields,
        )
    if c.relation == "replace":
        return Phrase(
            "Asked to tell between two things that {who} may hold, someone who thought both equally likely cannot "
            "become surer than {certainty:g} in 100 of either.",
            **fields,
        )
    return Phrase(
        "Asked whether {who} is in the data, someone who thought both equally likely cannot become surer than "
        "{certainty:g} in 100 of either.",
        **fields,
    )


def promise(certificate: Certificate, provided: bool = True) -> Phrase:
    """The certificate in one sentence; provided: with what it rests on."""
    if math.isinf(certificate.epsilon):
        return Phrase("Whoever sees this sees the answer itself: nothing is protected.")
    if certificate.epsilon > REVEALING_EPSILON:
        return Phrase("At this epsilon a report can all but give the answer away.")
    if certificate.delta or certificate.relation == "add/remove":
        told = promise_of_data(certificate, Phrase("one record"))
        if not (provided and certificate.assumption):
            return told
        return sentences(told, Phrase("This holds provided {assumption}.", assumption=certificate.assumption))
    certainty = max_certainty(certificate.epsilon)
    if provided and certificate.assumption:
        return Phrase(
            "Whatever is sent, someone who thought two answers equally likely cannot become surer than {certainty:g} "
            "in 100 which of them is true, provided {assumption}.",
            certainty=certainty,
            assumption=certificate.assumption,
        )
    return Phrase(
        "Whatever is sent, someone who thought two answers equally likely cannot become surer than {certainty:g} in "
        "100 which of them is true.",
        certainty=certainty,
    )


def both_certificates(plan: Any, guarantees: Mapping[str, Certificate]) -> tuple[Block, ...]:
    """What a whole row and what one attribute of it can lose; what the two share is said once."""
    rows = int(plan.rows_per_person)
    whole = Phrase("a whole row") if rows == 1 else Phrase("all {rows} rows", rows=rows)
    record, attribute = guarantees["reader"], guarantees["either, about one attribute"]
    lines: list[tuple[str, str]] = []
    for name, c in ((whole, record), (Phrase("one attribute"), attribute)):
        lines.append((name, Phrase("{cost}; {method}", cost=Strong(_cost(c, rows)), method=method_explained(c.method))))
        witness = witness_phrase(c)
        if witness:
            lines.append((WITNESS, witness))
    lines += [(Phrase("relation"), RELATIONS[record.relation]), (PUBLIC, apart(record.public))]
    if record.assumption:
        lines.append((PROVIDED, record.assumption))
    return (Table("", ("", ""), tuple(lines), words=True),)


def _cost(c: Certificate, rows: int) -> Phrase:
    if rows == 1 or c.asked is None:
        return cost(c, asked=True)
    return Phrase(
        "epsilon = {epsilon:.10g} (asked for {asked:.10g} a row), delta = {delta:g}",
        epsilon=c.epsilon,
        asked=c.asked,
        delta=c.delta,
    )


def certificate_json(certificate: Certificate) -> dict[str, Any]:
    """The certificate's parts, its witness, and what it promises."""
    witness = None
    if certificate.witness is not None:
        a, b, y = certificate.witness
        words = " ".join(certificate.witness_text or ())
        witness = {"input": a, "other": b, "report": _report_to_json(y), "words": words}
    return certificate.to_dict() | {"witness": witness, "asked": certificate.asked, "promise": promise(certificate)}


def _report_to_json(report: Any) -> Any:
    """A report as JSON; 64-bit words as text, since most parsers of JSON lose digits beyond 2**53."""
    if isinstance(report, tuple | list):  # of a record: one report a column
        return [_report_to_json(part) for part in report]
    if hasattr(report, "tolist"):
        values = report.tolist()
        wide = getattr(report, "dtype", None) == "uint64"
        return [str(v) if wide else v for v in values] if isinstance(values, list) else values
    return report


def mechanism_json(mechanism: Any) -> dict[str, Any]:
    out: dict[str, Any] = {"type": type(mechanism).__name__, "domain": mechanism.domain.to_dict()}
    for f in fields(mechanism):
        if f.name != "domain":
            value = getattr(mechanism, f.name)
            out[f.name] = str(value) if isinstance(value, Fraction) else value
    return out


def mechanism_title(mechanism: Any) -> Phrase:
    """GRR, epsilon = 1, on 4 answers"""
    settings = {f.name: getattr(mechanism, f.name) for f in fields(mechanism) if f.name != "domain"}
    shown = [f"{name} = {_format_setting(value)}" for name, value in settings.items() if value is not None]
    parts = commas([type(mechanism).__name__, *shown])
    return Phrase(
        "{mechanism}, on {domain}", mechanism=parts, domain=answers_of(_without_public_columns(mechanism.domain))
    )


def answers_of(domain: Any) -> Phrase:
    """What may be answered, as a heading."""
    if isinstance(domain, Interval):
        return Phrase(
            "a number from {low:g} to {high:g} in {cells:,} cells", low=domain.low, high=domain.high, cells=domain.cells
        )
    if isinstance(domain, Categories) and not domain.ordered:
        if isinstance(domain.values, int):
            return Phrase("{size:,} answers", size=domain.size)
        return Phrase("{size:,} answers ({answers})", size=domain.size, answers=commas(map(str, domain.values)))
    described: Phrase = domain.describe()
    return described


def _without_public_columns(domain: Any) -> Any:
    """A schema without its public columns, which no mechanism touches; any other domain unchanged."""
    if not isinstance(domain, Schema) or not domain.open:
        return domain
    return Schema({name: domain.column_specs[name] for name in domain.private})


def _format_setting(value: Any) -> str:
    if isinstance(value, Fraction):
        return str(value) if value.denominator < 10**6 else f"{float(value):.6g}"
    return f"{value:.10g}" if isinstance(value, float) else shorten(value)


def protects(plan: Any) -> Phrase:
    """What the guarantee of a sanitised table is about: a row, or a person of several."""
    epsilon = plan.guarantees()["reader"].epsilon
    if plan.unit == "row":
        return Phrase("one row: each row of a person adds epsilon = {epsilon:.6g}", epsilon=epsilon)
    return Plural(
        "one person ({unit}) of at most {n} row: epsilon = {epsilon:.6g} for all of them together",
        "one person ({unit}) of at most {n} rows: epsilon = {epsilon:.6g} for all of them together",
        n=int(plan.rows_per_person),
        unit=plan.unit,
        epsilon=epsilon,
    )
