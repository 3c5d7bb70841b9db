"""All parties in one process: a rehearsal, in which nothing is hidden from the person who runs it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from murmure.core.types import Certificate, Observer

RUNNER = "whoever ran it"
REHEARSAL_NOTICE = (
    "REHEARSAL IN ONE PROCESS: whoever ran this held every row, and nothing was hidden from them. What is said about "
    "parties below holds once each of them runs on its own (murmure study)."
)
REHEARSAL_NOTICE_FR = (
    "RÉPÉTITION DANS UN SEUL PROCESSUS : qui a fait ce calcul avait chaque ligne, et rien ne lui était caché. Ce qui "
    "est dit ci-dessous des participants vaut dès que chacun calcule chez soi (murmure study)."
)
METHOD = "all tables were in one process"


def rehearsed(guarantees: Mapping[Observer, Certificate]) -> dict[Observer, Certificate]:
    """With the one who ran it first: they held every row."""
    public = next(iter(guarantees.values())).public[:1]
    return {RUNNER: Certificate(math.inf, 0.0, "replace", "record", public, METHOD), **guarantees}
