"""Mechanisms and certificates in words that a respondent can check."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from murmure.cli.shared import described
from murmure.core.errors import shorten

if TYPE_CHECKING:
    from rich.table import Table

    from murmure.core.types import Certificate


def surest(epsilon: float) -> str:
    """The most that anybody can be persuaded, from even odds: e^eps / (1 + e^eps), rounded up, out of 100."""
    most = 100 / (1 + math.exp(-epsilon))
    return f"{math.ceil(10 * most - 1e-6) / 10:g}"


def promise(certificate: Certificate) -> str:
    """The certificate in one sentence."""
    if math.isinf(certificate.epsilon):
        return "Whoever sees this sees the answer itself: nothing is protected."
    if certificate.epsilon > 6:
        return "At this epsilon a report can all but give the answer away."
    provided = f", provided {certificate.assumption}" if certificate.assumption else ""
    return (
        "Whatever is sent, someone who thought two answers equally likely cannot become surer than "
        f"{surest(certificate.epsilon)} in 100 which of them is true{provided}."
    )


def certificate_table(certificate: Certificate, reports: int | None = None) -> Table:
    """The parts of a certificate, aligned."""
    from rich.table import Table
    from rich.text import Text

    asked = "" if certificate.asked is None else f"  (asked for {certificate.asked:.10g})"
    if certificate.asked is not None and reports is not None and reports > 1:
        asked = f"  ({reports} reports of at most {certificate.asked:.10g} each)"
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    table.add_row("epsilon", Text(f"{certificate.epsilon:.10g}", style="bold").append(asked, style="not bold"))
    table.add_row("delta", f"{certificate.delta:g}")
    table.add_row("relation", f"{certificate.relation} one person")
    table.add_row("unit", "the whole record" if certificate.unit == "record" else "one attribute of the record")
    for i, item in enumerate(certificate.public):
        table.add_row("public" if i == 0 else "", item)
    table.add_row("method", certificate.method)
    if certificate.said is not None:
        table.add_row("witness", certificate.said[0])
        table.add_row("", certificate.said[1])
    if certificate.assumption:
        table.add_row("provided", certificate.assumption)
    return table


def certificate_json(certificate: Certificate) -> dict[str, Any]:
    """The certificate's parts, its witness, and what it promises."""
    witness = None
    if certificate.witness is not None:
        a, b, y = certificate.witness
        witness = {"input": a, "other": b, "report": _plain(y), "words": " ".join(certificate.said or ())}
    return certificate.to_dict() | {
        "witness": witness,
        "asked": certificate.asked,
        "promise": promise(certificate),
    }


def _plain(report: Any) -> Any:
    """A report as JSON; 64-bit words as text, since most readers of JSON lose digits beyond 2**53."""
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
    held: Mapping[str, Any] = {f.name: getattr(mechanism, f.name) for f in fields(mechanism) if f.name != "domain"}
    shown = [f"{name} = {_short(value)}" for name, value in held.items() if value is not None]
    return ", ".join([type(mechanism).__name__, *shown]) + f", on {described(mechanism.domain)}"


def _short(value: Any) -> str:
    if isinstance(value, Fraction):
        return str(value) if value.denominator < 10**6 else f"{float(value):.6g}"
    return f"{value:.10g}" if isinstance(value, float) else shorten(value)
