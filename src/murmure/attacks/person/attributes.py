"""Attribute inference on RS+FD and RS+RFD: which attribute of a record is the real one?

One attribute is real and fakes are independent of it, so given the record y

    P[j is real | y]  is proportional to  s_j real_j(y_j) / fake_j(y_j),      real_j(y) = sum_x f_j(x) P_j[y | x].

The exact rule guesses the attribute with the largest. With the true shares f nobody guesses better; with estimated ones
it is a plug-in rule, which poor estimates can bring below guessing. What the attacker knows decides where f comes from.
The models of knowledge of Arcolezi et al. (PVLDB 2023), step by step:

    none      1. the plan is public: attributes, their cardinalities, the randomiser of each, epsilon
              2. shares of every attribute are estimated from the reports themselves
              3. synthetic profiles are drawn from these shares and replayed through the same law, which remembers the
                 real attribute
              4. trees learn from them (the exact rule needs no step 3: it reads the law)
              5. everybody's record is guessed
    partial   the real attribute of some people is known: shares are estimated from their reports, trees learn from
              them, and the others are guessed
    hybrid    both: shares from both, trees learn from synthetic profiles and known people, and the others are guessed
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from murmure.attacks.base.attack_result import AttackResult
from murmure.attacks.base.codes_of_people import codes_of_people
from murmure.attacks.base.repetitions import check_count, with_bar
from murmure.attacks.person.attribute_rules.attribute_words import (
    guarantees_of,
    guarantees_table,
    inferred_table,
    notes_of,
    steps_of,
    threat_of,
)
from murmure.attacks.person.attribute_rules.experiment import (
    ESTIMATES,
    RULES,
    AttributeExperiment,
    AttributeGuesses,
)
from murmure.attacks.person.attribute_rules.trees import new_trees
from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.random import Random, random_or_secure
from murmure.core.schema import Schema
from murmure.local.rsfd import RSFD, RSRFD, FakeData

Knowledge = Literal["none", "partial", "hybrid"]


def attribute_inference(
    mechanism: FakeData | Sequence[FakeData],
    people: Any,
    knowledge: Knowledge = "none",
    attackers: Sequence[str] | None = None,
    synthetic: int = 1,
    known: float = 0.1,
    repetitions: int = 20,
    rng: Random | None = None,
) -> AttackResult:
    """How often the real attribute of a record of RS+FD or RS+RFD is guessed.

    >>> import murmure as mu
    >>> schema = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "region": mu.Categories(4)})
    >>> people = {"smoker": ["no", "no", "no", "yes"] * 500, "region": [0, 0, 1, 3] * 500}
    >>> mechanism = mu.RSFD(schema, epsilon=2.0)
    >>> result = mu.attacks.attribute_inference(mechanism, people, repetitions=5, rng=mu.Random.seeded(1))
    >>> for row in result.rows:
    ...     print(row.attacker, round(row.value, 2), "instead of", row.baseline)
    exact rule 0.62 instead of 0.5
    exact, shares known 0.62 instead of 0.5

    mechanism: RSFD or RSRFD, or several (one for each epsilon). people: a table whose rows report; the attacker never
    sees it. attackers: "exact", "ceiling" (the exact rule with the true shares: computed where the reports can be
    listed), "trees" (gradient-boosted, as in the literature) or "xgboost" (the same by the library of the literature,
    faster on bits); for RSRFD each of these with "-uniform", which ignores the public prior. synthetic: profiles for
    each person that trees learn from. known: the share of people whose real attribute is known (partial, hybrid).
    """
    mechanisms = _check_mechanisms(mechanism)
    if knowledge not in ESTIMATES:
        raise InvalidParameter(
            'attribute_inference.knowledge must be "none", "partial" or "hybrid", got {got}.', got=shorten(knowledge)
        )
    rules = _check_attackers(attackers, mechanisms)
    check_count("synthetic", synthetic)
    check_count("repetitions", repetitions)
    rng = random_or_secure(rng, "attribute_inference")
    x = codes_of_people(mechanisms[0].domain, people)
    told = 0 if knowledge == "none" else _count_known(known, len(x[0]))
    experiments = [AttributeExperiment(m, x, knowledge, rules, synthetic, told) for m in mechanisms]
    measured: list[list[AttributeGuesses]] = [[] for _ in experiments]
    steps = [(number, i) for number in range(len(experiments)) for i in range(repetitions)]
    for number, i in with_bar(steps, Phrase("guessing the real attribute")):
        measured[number].append(experiments[number].run(rng.child(number, i)))
    rows = [row for e, found in zip(experiments, measured, strict=True) for row in e.rows(found)]
    guarantees = guarantees_of(mechanisms)
    inferred = () if len(experiments) > 1 else (inferred_table(experiments[0], measured[0]),)
    return AttackResult(
        "attributes",
        Phrase("Attribute inference: which attribute of a record is the real one?"),
        threat_of(knowledge, told),
        Phrase("share of people whose real attribute is guessed"),
        tuple(rows),
        axis=Phrase("epsilon"),
        notes=notes_of(mechanisms, rules),
        blocks=(guarantees_table(guarantees), steps_of(knowledge, rules, synthetic), *inferred),
        details={
            "knowledge": knowledge,
            "people": len(x[0]),
            "known": told,
            "synthetic": synthetic,
            "guarantees": list(guarantees),
        },
    )


def _check_mechanisms(given: Any) -> list[FakeData]:
    mechanisms = list(given) if isinstance(given, list | tuple) else [given]
    for mechanism in mechanisms:
        if not isinstance(mechanism, FakeData):
            raise InvalidParameter(
                "attribute_inference attacks RSFD and RSRFD, which hide one attribute among fakes; got {got}.",
                hint="other mechanisms say which attribute they report, or report all of them: see reidentification",
                got=shorten(mechanism),
            )
    if not mechanisms or any(m.domain != mechanisms[0].domain for m in mechanisms):
        raise InvalidParameter(
            "attribute_inference needs one mechanism or several of the same schema, got {got}.", got=shorten(given)
        )
    if len(mechanisms[0].columns) < 2:
        raise InvalidParameter("one attribute alone is always the real one: there is nothing to guess.")
    return mechanisms


def _check_attackers(given: Any, mechanisms: Sequence[FakeData]) -> list[str]:
    priors = all(isinstance(m, RSRFD) for m in mechanisms)
    if given is None:
        return ["exact", "ceiling", *(["exact-uniform"] if priors else [])]
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if name not in RULES:
            raise InvalidParameter(
                "attribute_inference.attackers must be among {rule_names}, got {got}.",
                rule_names=", ".join(RULES),
                got=shorten(name),
            )
        if RULES[name].uniform and not priors:
            raise InvalidParameter(
                'attribute_inference: "{name}" takes the priors of RSRFD for uniform; those of RSFD are.',
                hint="leave it out, or attack RSRFD",
                name=name,
            )
        library = RULES[name].trees
        if library is not None:
            new_trees(library, 0, 2)  # refuses now what would fail after the first collection
    if not names:
        raise InvalidParameter("attribute_inference needs at least one attacker.", hint='attackers=["exact"]')
    return list(dict.fromkeys(names))


def _count_known(share: Any, n: int) -> int:
    valid = isinstance(share, int | float) and not isinstance(share, bool) and 0 < share < 1
    people = round(share * n) if valid else 0
    if not valid or not 0 < people < n:
        raise InvalidParameter(
            "attribute_inference.known must be a share of the {n:,} people that leaves somebody known and somebody to "
            "guess, got {got}.",
            hint="known=0.1 is a tenth of them",
            n=n,
            got=shorten(share),
        )
    return people


def _example(mechanism: FakeData | list[FakeData], **settings: Any) -> AttackResult:
    people = {"a": [0, 0, 0, 1] * 50, "b": [0, 0, 1, 3] * 50, "c": [0, 1, 2, 2] * 50}
    return attribute_inference(mechanism, people, rng=Random.seeded(18), repetitions=3, **settings)


_SCHEMA = Schema({"a": Categories(2), "b": Categories(4), "c": Categories(3)})
_PRIORS = ((0.7, 0.3), (0.4, 0.3, 0.1, 0.2), (0.2, 0.3, 0.5))
EXAMPLES = (
    lambda: _example(RSFD(_SCHEMA, 1.0)),
    lambda: _example([RSFD(_SCHEMA, e, oracle="OUE-z", calibrate="paper") for e in (1.0, 4.0)]),
    lambda: _example(RSFD(_SCHEMA, 2.0, oracle="SUE-r", weights=(2.0, 1.0, 1.0)), knowledge="partial", known=0.3),
    lambda: _example(RSRFD(_SCHEMA, 2.0, _PRIORS), knowledge="hybrid"),
)
