"""What an attack on hidden attributes says about itself: who attacks, in which steps, and what epsilon guarantees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from murmure.attacks.base.threat_model import ThreatModel
from murmure.attacks.person.attribute_rules.experiment import (
    RULES,
    AttributeExperiment,
    AttributeGuesses,
    protocol,
)
from murmure.certify.certificate import certify
from murmure.core.errors import Phrase, Plural
from murmure.local.rsfd import RSRFD, FakeData
from murmure.show.document import Items, Number, Table


def threat_of(knowledge: str, known: int) -> ThreatModel:
    plan = Phrase("the plan: attributes, their answers, the randomiser of each, epsilon, public priors")
    told = Plural(
        "{plan}; and the real attribute of {n:,} person",
        "{plan}; and the real attribute of {n:,} people",
        n=known,
        plan=plan,
    )
    everybody = Phrase("which attribute is real, in everybody's record")
    others = Phrase("which attribute is real, in everybody else's record")
    return ThreatModel(
        Phrase("every record as it was sent, without its real attribute being marked"),
        plan if knowledge == "none" else told,
        everybody if knowledge == "none" else others,
    )


def steps_of(knowledge: str, rules: Sequence[str], synthetic: int) -> Items:
    """What the attacker does, in order."""
    trees = any(RULES[name].trees is not None for name in rules)
    steps = [Phrase("Cardinalities and randomisers are read from the plan, which is public.")]
    if knowledge == "none":
        steps.append(
            Phrase("Shares of every attribute are estimated from the records, cut at 0 and scaled to sum to 1.")
        )
    elif knowledge == "partial":
        steps.append(Phrase("Shares of every attribute are estimated from the real reports of known people."))
    else:
        steps.append(
            Phrase("Shares are estimated from the records and from known people, weighted by their variances.")
        )
    steps.append(Phrase("The exact rule compares, attribute by attribute, how likely a report is if real and if fake."))
    if trees and knowledge != "partial":
        steps.append(
            Plural(
                "{n} synthetic profile for each person is drawn from the shares and replayed through the law, which "
                "remembers the real attribute.",
                "{n} synthetic profiles for each person are drawn from the shares and replayed through the law, which "
                "remembers the real attribute.",
                n=synthetic,
            )
        )
    if trees:
        steps.append(
            Phrase("Trees learn from these profiles which attribute is real.")
            if knowledge == "none"
            else Phrase("Trees learn which attribute is real, from known people too.")
        )
    return Items(tuple(steps))


def guarantees_of(mechanisms: Sequence[FakeData]) -> tuple[dict[str, Any], ...]:
    """What epsilon was asked for, and what is certified."""
    return tuple(
        {
            "protocol": protocol(m),
            "epsilon": m.epsilon,
            "calibrate": m.calibrate,
            "certified_record": certify(m, "record").epsilon,
            "certified_attribute": certify(m, "attribute").epsilon,
        }
        for m in mechanisms
    )


def guarantees_table(guarantees: Sequence[dict[str, Any]]) -> Table:
    head = (
        Phrase("protocol"),
        Phrase("epsilon asked for"),
        Phrase("certified for a whole record"),
        Phrase("certified for one attribute"),
    )
    rows = tuple(
        (g["protocol"], *(Number(g[key], "plain") for key in ("epsilon", "certified_record", "certified_attribute")))
        for g in guarantees
    )
    return Table(Phrase("What is guaranteed"), head, rows)


def inferred_table(experiment: AttributeExperiment, measured: Sequence[AttributeGuesses]) -> Table:
    """What the attacker read or estimated of every attribute."""
    distance = np.mean([one.distance for one in measured], axis=0)
    mechanism = experiment.mechanism
    rows = tuple(
        (name, Number(domain.size), randomiser, Number(float(far), "share", 1))
        for name, domain, randomiser, far in zip(
            mechanism.columns, mechanism.domains, mechanism.names, distance, strict=True
        )
    )
    head = (
        Phrase("attribute"),
        Phrase("answers"),
        Phrase("randomiser"),
        Phrase("estimated shares, distance from the true ones"),
    )
    return Table(Phrase("What the attacker infers"), head, rows)


def notes_of(mechanisms: Sequence[FakeData], rules: Sequence[str]) -> tuple[str, ...]:
    notes = []
    if any(m.calibrate == "paper" for m in mechanisms):
        notes.append(
            Phrase(
                "Calibrated as in the papers, epsilon is their figure and not a guarantee: what is certified "
                "for a whole record is larger, and is shown beside it."
            )
        )
    if any(isinstance(m, RSRFD) for m in mechanisms) and any(RULES[name].uniform for name in rules):
        notes.append(
            Phrase(
                "The published attack on RS+RFD takes fakes for uniform, although their prior is public; the exact "
                "rule uses the prior."
            )
        )
    return tuple(notes)
