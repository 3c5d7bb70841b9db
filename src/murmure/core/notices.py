"""What a release must say about how it was made: who drew the noise, and whether all parties ran in one process."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from murmure.core.errors import Phrase
from murmure.core.types import Certificate, Observer

RANDOMISED_OUTSIDE = (
    "RANDOMISED OUTSIDE THE SOFTWARE: people randomised these answers themselves. Nothing was drawn here, and nothing "
    "here can check how they did it."
)
RANDOMISED_HERE = "randomised here, from true answers (people's own coins: run(plan, reports=answers))"
FAIR_DRAWS = "each person followed the plan's randomisation with fair coins, cards or another fair draw"
RUNNER = "whoever ran it"
REHEARSAL_NOTICE = Phrase(
    "REHEARSAL IN ONE PROCESS: whoever ran this held every row, and nothing was hidden from them. What is said about "
    "parties below holds once each of them runs on its own (murmure study)."
)
ONE_PROCESS = "all tables were in one process"


def with_assumption(guarantees: Mapping[Observer, Certificate]) -> dict[Observer, Certificate]:
    """Certificates of answers that people randomised themselves. One that observers share stays shared."""
    known: dict[int, Certificate] = {}
    for certificate in guarantees.values():
        if id(certificate) not in known:
            texts = (certificate.assumption, FAIR_DRAWS)
            known[id(certificate)] = replace(certificate, assumption="; ".join(text for text in texts if text))
    return {observer: known[id(certificate)] for observer, certificate in guarantees.items()}


def rehearsed(guarantees: Mapping[Observer, Certificate]) -> dict[Observer, Certificate]:
    """Certificates of a rehearsal: first that of the person who ran it, who held every row."""
    public = next(iter(guarantees.values())).public[:1]
    return {RUNNER: Certificate(math.inf, 0.0, "replace", "record", public, ONE_PROCESS), **guarantees}
