"""Mechanisms and certificates in words that a respondent can check."""

from __future__ import annotations

import math
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from murmure.core.errors import shorten
from murmure.core.schema import Schema
from murmure.run.report.number_format import describe_domain

if TYPE_CHECKING:
    from murmure.core.types import Certificate

REVEALING_EPSILON = 6  # above this epsilon the odds protect nobody in practice


def max_certainty(epsilon: float, delta: float = 0.0) -> str:
    """How certain an observer can become, from even odds: at most e^eps / (1 + e^eps), rounded up, out of 100.

    With delta: how often the best guess between the two is right, (e^eps + delta) / (1 + e^eps) at most.
    """
    # Rounded up to a tenth. The small term keeps an exact tenth, such as 75, from becoming 75.1 by float error.
    percent = 100 * (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    return f"{math.ceil(10 * percent - 1e-6) / 10:g}"


def promise(certificate: Certificate) -> str:
    """The certificate in one sentence."""
    if math.isinf(certificate.epsilon):
        return "Whoever sees this sees the answer itself: nothing is protected."
    if certificate.epsilon > REVEALING_EPSILON:
        return "At this epsilon a report can all but give the answer away."
    provided = f", provided {certificate.assumption}" if certificate.assumption else ""
    return (
        "Whatever is sent, someone who thought two answers equally likely cannot become surer than "
        f"{max_certainty(certificate.epsilon)} in 100 which of them is true{provided}."
    )


def promise_in_french(certificate: Certificate) -> str:
    """The same sentence for French readers; the assumption is shown separately."""
    if math.isinf(certificate.epsilon):
        return "Qui voit ceci voit la réponse même : rien n’est protégé."
    if certificate.epsilon > REVEALING_EPSILON:
        return "À cet epsilon, une réponse peut presque livrer la vérité."
    return (
        "Quoi qu’on envoie, celui qui tenait deux réponses pour également probables ne peut devenir sûr de l’une à "
        f"plus de {max_certainty(certificate.epsilon).replace('.', ',')} chances sur 100."
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


def mechanism_title(mechanism: Any) -> str:
    """GRR, epsilon = 1, on Categories(4)"""
    settings = {f.name: getattr(mechanism, f.name) for f in fields(mechanism) if f.name != "domain"}
    shown = [f"{name} = {_format_setting(value)}" for name, value in settings.items() if value is not None]
    domain = describe_domain(_without_public_columns(mechanism.domain))
    return ", ".join([type(mechanism).__name__, *shown, f"on {domain}"])


def _without_public_columns(domain: Any) -> Any:
    """A schema without its public columns, which no mechanism touches; any other domain unchanged."""
    if not isinstance(domain, Schema) or not domain.open:
        return domain
    return Schema({name: domain.column_specs[name] for name in domain.private})


def _format_setting(value: Any) -> str:
    if isinstance(value, Fraction):
        return str(value) if value.denominator < 10**6 else f"{float(value):.6g}"
    return f"{value:.10g}" if isinstance(value, float) else shorten(value)


def protects(plan: Any) -> str:
    """What the guarantee of a sanitised table is about: a row, or a person of several."""
    epsilon = plan.guarantees()["reader"].epsilon
    if plan.unit == "row":
        return f"one row: whoever stands in several rows pays epsilon = {epsilon:.6g} for each of them"
    rows = plan.rows_per_person
    row = "row" if rows == 1 else "rows"
    return f"one person ({plan.unit}) of at most {rows} {row}: epsilon = {epsilon:.6g} for all of them together"
