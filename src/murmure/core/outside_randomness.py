"""Answers that people randomised themselves: what a release and its certificates say about draws nobody here made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from murmure.core.types import Certificate, Observer

RANDOMISED_OUTSIDE = (
    "RANDOMISED OUTSIDE THE SOFTWARE: people randomised these answers themselves. Nothing was drawn here, and nothing "
    "here can check how they did it."
)
HERE = "randomised here, from true answers (people's own coins: run(plan, reports=answers))"
ASSUMPTION = "each person followed the plan's randomisation with fair coins, cards or another fair draw"


def with_assumption(guarantees: Mapping[Observer, Certificate]) -> dict[Observer, Certificate]:
    """The same certificates, with the assumption on which they now rest. One that observers share stays shared."""
    known: dict[int, Certificate] = {}
    for certificate in guarantees.values():
        if id(certificate) not in known:
            texts = (certificate.assumption, ASSUMPTION)
            known[id(certificate)] = replace(certificate, assumption="; ".join(text for text in texts if text))
    return {observer: known[id(certificate)] for observer, certificate in guarantees.items()}
