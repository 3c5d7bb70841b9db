"""Attacks and audits: how much does it really leak?

Attacks by the slot that they attack; each says who attacks, what they see, know and want, and what guessing would give:
person/     what reports reveal: the answer, the sampled attribute, the person; and what forged reports change
curator/    what noisy answers and learners reveal
parties/    what exact sums reveal
audits/     lower bounds on epsilon from samples alone, and the replay audit
"""

from __future__ import annotations

import importlib
from typing import Any

ATTACKS = {
    "bayes_guess": "murmure.attacks.person.bayes",
    "plausible_deniability": "murmure.attacks.person.deniability",
    "attribute_inference": "murmure.attacks.person.attributes",
    "reidentification": "murmure.attacks.person.identities",
    "linkage": "murmure.attacks.person.linking",
    "averaging": "murmure.attacks.person.averages",
    "poisoning": "murmure.attacks.person.forgeries",
    "membership_inference": "murmure.attacks.curator.membership",
    "floating_point": "murmure.attacks.curator.floats",
    "differencing": "murmure.attacks.parties.differences",
    "reconstruction": "murmure.attacks.parties.last_records",
}
PUBLIC = {
    **ATTACKS,
    "detect_forgeries": "murmure.attacks.person.forgery.detection",
    "recover_shares": "murmure.attacks.person.forgery.recovery",
    "AttackResult": "murmure.attacks.base.attack_result",
    "Success": "murmure.attacks.base.success",
    "ThreatModel": "murmure.attacks.base.threat_model",
}
__all__ = sorted(PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module 'murmure.attacks' has no attribute {name!r}")
    return getattr(importlib.import_module(PUBLIC[name]), name)


def __dir__() -> list[str]:
    return __all__
