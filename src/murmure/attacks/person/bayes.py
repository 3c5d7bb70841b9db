"""The Bayes guess: the likeliest answer, given the report and what is known beforehand. No guess is right more often.

    success = sum over reports y of the largest  prior(x) P[y | x]          without the report: the largest prior(x)

One function for every mechanism of the person slot, because every one of them is a law.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from murmure.attacks.base.attack_result import AttackResult
from murmure.attacks.base.repetitions import check_count, repeat, with_bar
from murmure.attacks.base.success import Success, exact, repeated_share
from murmure.attacks.base.threat_model import ThreatModel
from murmure.attacks.person.guesses.hash_guess import HASHES
from murmure.attacks.person.guesses.targets import GuessTarget
from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.random import Random, random_or_secure
from murmure.core.schema import Schema
from murmure.laws.hashed import Hashed
from murmure.local.grr import GRR
from murmure.local.rsfd import RSFD
from murmure.local.unary import OUE

REPETITIONS = 20  # where the law cannot be added up, or every hash listed


def bayes_guess(
    mechanism: Any,
    prior: Any = None,
    *,
    attribute: str | None = None,
    people: int = 2_000,
    repetitions: int | None = None,
    rng: Random | None = None,
) -> AttackResult:
    """How often the best guess from one report is right. mechanism: one, or several to compare.

    prior: the shares that the attacker expects, in the order of the answers or by label; of a record, by column. None:
    all answers are equally likely. attribute: the column of a record that is guessed; None: the whole record.
    The figure is computed from the law, where need be as a mean over hashes. repetitions: how often it is measured
    beside it, on that many people; what cannot be computed is measured in any case.

    >>> import murmure as mu
    >>> from murmure import attacks
    >>> grr = mu.GRR(mu.Categories(["never", "once", "often"]), epsilon=1.0)
    >>> row = attacks.bayes_guess(grr).rows[0]
    >>> print(f"{row.value:.4f}, {row.baseline:.4f} without the report")
    0.5761, 0.3333 without the report
    >>> row = attacks.bayes_guess(grr, prior={"never": 0.7, "once": 0.2, "often": 0.1}).rows[0]
    >>> print(f"{row.value:.4f}, {row.baseline:.4f} without the report")
    0.7000, 0.7000 without the report
    """
    mechanisms = list(mechanism) if isinstance(mechanism, Sequence) else [mechanism]
    if not mechanisms:
        raise InvalidParameter("bayes_guess needs at least one mechanism, got {got}.", got=shorten(mechanism))
    check_count("people", people)
    if repetitions is not None:
        check_count("repetitions", repetitions, least=0)
    rng = random_or_secure(rng, "bayes_guess").branch()
    targets = [GuessTarget.of(each, prior, attribute) for each in mechanisms]
    places = [_epsilon(target) for target in targets]
    on_axis = None not in places
    rows: list[Success] = []
    measured_only, hashed = [], []
    for i, (target, label) in enumerate(with_bar(list(zip(targets, _labels(targets, places), strict=True)), ATTACKING)):
        at, setting = places[i] if on_axis else None, {"mechanism": label}
        value, times = target.success(), repetitions or 0
        if value is not None:
            rows.append(exact(COMPUTED, value, target.baseline, at, **setting))
        elif isinstance(target.channel, Hashed):
            means = repeat(lambda r, t=target: t.hash_mean(r), REPETITIONS, rng.child(i, 0))  # type: ignore[misc]
            rows.append(repeated_share(COMPUTED, means, target.baseline, at, **setting))
            hashed.append(label)
        else:
            measured_only.append(label)
            times = times or REPETITIONS
        if times:
            values = repeat(lambda r, t=target: t.drawn(people, r), times, rng.child(i, 1))  # type: ignore[misc]
            rows.append(repeated_share(MEASURED, values, target.baseline, at, **setting))
    return AttackResult(
        "bayes",
        Phrase("Bayes guess from one report"),
        ThreatModel(
            Phrase("one report of each person, as it is sent"),
            _known(prior, targets[0]),
            targets[0].wanted,
        ),
        Phrase("share of people who are guessed right"),
        tuple(rows),
        Phrase("epsilon") if on_axis else None,
        notes=_notes(hashed, measured_only, people),
        details={"people": people, "prior": "even" if prior is None else "given"},
    )


COMPUTED, MEASURED = Phrase("computed"), Phrase("measured")
ATTACKING = Phrase("guessing")


def _epsilon(target: GuessTarget) -> float | None:
    asked = target.mechanism.asked
    return float(asked) if asked is not None and math.isfinite(asked) else None


def _labels(targets: list[GuessTarget], places: list[float | None]) -> list[str]:
    """Short names; where two mechanisms would share one point, all that they are made of."""
    twice = Counter((target.name, at) for target, at in zip(targets, places, strict=True))
    pairs = zip(targets, places, strict=True)
    return [t.name if twice[t.name, at] == 1 else shorten(t.mechanism, 120) for t, at in pairs]


def _known(prior: Any, target: GuessTarget) -> str:
    if prior is None:
        return Phrase("the law of the mechanism; every answer is equally likely beforehand")
    if target.is_record:
        return Phrase("the law of the mechanism; the shares of the answers of each column, which are independent")
    return Phrase("the law of the mechanism; the shares of the answers")


def _notes(hashed: list[str], measured_only: list[str], people: int) -> tuple[str, ...]:
    notes = [
        Phrase(
            "No guess from one report is right more often: this is the most that an attacker with this knowledge can "
            "do."
        )
    ]
    if hashed:
        notes.append(
            Phrase(
                "{names}: too many hashes to list, so the figure is a mean over at most {hashes:,} of them in each of "
                "{repetitions} repetitions.",
                names=", ".join(dict.fromkeys(hashed)),
                hashes=HASHES,
                repetitions=REPETITIONS,
            )
        )
    if measured_only:
        notes.append(
            Phrase(
                "{names}: too many reports to add up, so the figure is measured, on {people:,} people in each "
                "repetition.",
                names=", ".join(dict.fromkeys(measured_only)),
                people=people,
            )
        )
    return tuple(notes)


_PAIR = Schema({"smoker": Categories(["no", "yes"]), "region": Categories(4)})

EXAMPLES = (
    lambda: bayes_guess(
        [GRR(Categories(4), e) for e in (0.5, 1.0, 2.0)], repetitions=5, people=200, rng=Random.seeded(1)
    ),
    lambda: bayes_guess([GRR(Categories(6), 1.0), OUE(Categories(6), 1.0)], [0.5, 0.1, 0.1, 0.1, 0.1, 0.1]),
    lambda: bayes_guess(RSFD(_PAIR, 1.0), attribute="region", repetitions=3, people=100, rng=Random.seeded(2)),
)
