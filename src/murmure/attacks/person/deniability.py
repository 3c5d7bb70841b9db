"""Plausible deniability over several collections: can people still say "that was the coin, not me"?

A person answers one attribute in each survey through a frequency oracle. The attacker guesses each answer from its
report (GRR: the reported value; unary encoding: one of the bits that are set; hashing: one of the values in the
reported bin; subset selection: one of the set), and holds a profile. Each of these guesses is the Bayes guess when all
values are equally likely, so its chance a_j is read off the law, and the chance of a profile follows from the a_j
(guesses/profiles.py). After Arcolezi, Gambs, Couchot and Palamidessi, PVLDB 16(5), 2023, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from murmure.attacks.base.attack_result import AttackResult
from murmure.attacks.base.repetitions import check_count, repeat, with_bar
from murmure.attacks.base.success import Success, exact, repeated_share
from murmure.attacks.base.threat_model import ThreatModel
from murmure.attacks.person.guesses.drawn_guess import drawn_value_hits
from murmure.attacks.person.guesses.hash_guess import HASHES, mean_hash_success
from murmure.attacks.person.guesses.profiles import METRICS, Metric, drawn_profiles, profile_success
from murmure.attacks.person.guesses.value_guess import value_success
from murmure.catalogue import load
from murmure.core.domain import Categories, Domain
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.random import Random, random_or_secure
from murmure.core.schema import Schema
from murmure.laws.hashed import Hashed
from murmure.local.base.oracle_choice import SHARE_ORACLES
from murmure.local.base.randomisers import FrequencyOracle

Oracle = str | Callable[[Domain, float], Any]

REPETITIONS = 20
METRIC_NAMES = {"uniform": Phrase("uniform"), "non-uniform": Phrase("non-uniform"), "memoised": Phrase("memoised")}


def plausible_deniability(
    domain: Schema,
    epsilon: float | Sequence[float],
    oracle: Oracle | Sequence[Oracle] = SHARE_ORACLES,
    *,
    surveys: int | None = None,
    metric: Metric | Sequence[Metric] = "uniform",
    people: int = 2_000,
    repetitions: int = 0,
    rng: Random | None = None,
) -> AttackResult:
    """The chance that a whole profile is guessed right, after 1, 2, ... surveys about one attribute each.

    oracle: names of frequency oracles, or functions that make one from a domain and an epsilon. surveys: how many (of
    several epsilons: the number that is looked at); None: as many as there are columns. metric: "uniform" (never the
    same attribute twice), "non-uniform" (attributes may repeat, and only profiles of that many different attributes
    count), "memoised" (they may repeat, and the report is then the same). repetitions: how often the same is measured
    on drawn people.

    >>> import murmure as mu
    >>> from murmure import attacks
    >>> adult = mu.Schema({"age": mu.Categories(74), "job": mu.Categories(7), "school": mu.Categories(16)})
    >>> for row in attacks.plausible_deniability(adult, epsilon=4.0, oracle="GRR").rows:
    ...     print(f"{row.at:.0f} surveys: {row.value:.4f}, {row.baseline:.5f} without the reports")
    1 surveys: 0.7045, 0.07296 without the reports
    2 surveys: 0.4760, 0.00390 without the reports
    3 surveys: 0.3024, 0.00012 without the reports
    """
    schema, epsilons = _checked(domain, epsilon)
    oracles = [oracle] if isinstance(oracle, str) or callable(oracle) else list(oracle)
    metrics = [metric] if isinstance(metric, str) else list(metric)
    for each in metrics:
        if each not in METRICS:
            raise InvalidParameter(
                'metric must be "uniform", "non-uniform" or "memoised", got {got}.', got=shorten(each)
            )
    if not oracles or not metrics:
        raise InvalidParameter("plausible_deniability needs at least one oracle and one metric.")
    d = len(schema.private)
    last = d if surveys is None else check_count("surveys", surveys)
    if last > d and "uniform" in metrics:
        raise InvalidParameter(
            "{surveys} surveys cannot each ask another one of {column_names} columns.",
            hint='metric="memoised" lets attributes repeat',
            surveys=last,
            column_names=d,
        )
    check_count("people", people)
    check_count("repetitions", repetitions, least=0)
    rng = random_or_secure(rng, "plausible_deniability").branch()
    many = len(epsilons) > 1
    sizes = [last] if many else list(range(1, last + 1))
    rows: list[Success] = []
    averaged = False
    wanted = [(s, each) for each in metrics for s in sizes]
    steps = [(kind, e) for kind in oracles for e in epsilons]
    for number, (kind, e) in enumerate(with_bar(steps, Phrase("guessing profiles"))):
        chances = _Chances(kind, schema, e, rng.child(number, 0))
        averaged |= chances.averaged
        drawn = chances.repeated_draws(wanted, people, repetitions, rng.child(number, 1))
        for place, (s, each) in enumerate(wanted):
            at = e if many else float(s)
            setting = {"metric": METRIC_NAMES[each]} if len(metrics) > 1 else {}
            rows.append(chances.row(s, each, at, setting))
            if drawn:
                measured = Phrase("{oracle}, measured", oracle=chances.name)
                values = [values[place] for values in drawn]
                rows.append(repeated_share(measured, values, rows[-1].baseline, at, **setting))
    notes = _meaning(metrics)
    if averaged:
        notes.append(
            Phrase(
                "How many bins of a hash hold some value has a closed form only when the number of bins is a power of "
                "two; for the others the figure is a mean over at most {hashes:,} hashes in each of {repetitions} "
                "repetitions.",
                hashes=HASHES,
                repetitions=REPETITIONS,
            )
        )
    return AttackResult(
        "deniability",
        Phrase("Plausible deniability over several surveys"),
        ThreatModel(
            Phrase("in every survey one randomised answer of each person, and whose it is"),
            Phrase("the law of the oracle and which attribute was asked; all values are equally likely beforehand"),
            Phrase("all answers that a person gave"),
        ),
        Phrase("share of people whose profile is right in all answers"),
        tuple(rows),
        Phrase("epsilon") if many else Phrase("surveys"),
        notes=tuple(notes),
        details={"surveys": last, "metrics": metrics, "columns": {n: schema[n].size for n in schema.private}},
    )


class _Chances:
    """The chance a_j of every attribute through one oracle."""

    def __init__(self, kind: Oracle, schema: Schema, epsilon: float, rng: Random) -> None:
        self.parts = [_oracle(kind, schema[name], epsilon) for name in schema.private]
        self.even = [np.full(part.domain.size, 1 / part.domain.size) for part in self.parts]
        self.name = type(self.parts[0]).__name__
        self.exact = [value_success(part.channel, f) for part, f in zip(self.parts, self.even, strict=True)]
        self.averaged = None in self.exact
        self.samples = repeat(self._average, REPETITIONS, rng) if self.averaged else []

    def _average(self, rng: Random) -> list[float]:
        """The same with a mean over hashes where no closed form is known."""
        out = []
        for part, f, known in zip(self.parts, self.even, self.exact, strict=True):
            if known is None:
                assert isinstance(part.channel, Hashed)
                known = mean_hash_success(part.channel, f, rng)
            out.append(known)
        return out

    def row(self, s: int, metric: Metric, at: float, setting: dict[str, Any]) -> Success:
        baseline = profile_success([float(f[0]) for f in self.even], s, metric)
        if self.averaged:
            values = [profile_success(chances, s, metric) for chances in self.samples]
            return repeated_share(self.name, values, baseline, at, **setting)
        return exact(self.name, profile_success(self.exact, s, metric), baseline, at, **setting)  # type: ignore[arg-type]

    def repeated_draws(
        self, wanted: Sequence[tuple[int, Metric]], people: int, repetitions: int, rng: Random
    ) -> list[list[float]]:
        return repeat(lambda r: self._drawn(wanted, people, r), repetitions, rng) if repetitions else []

    def _drawn(self, wanted: Sequence[tuple[int, Metric]], people: int, rng: Random) -> list[float]:
        """The share of right profiles among drawn people, after each number of surveys and by each metric."""
        hits = np.array(
            [drawn_value_hits(p.channel, f, people, rng) for p, f in zip(self.parts, self.even, strict=True)]
        )
        return [float(drawn_profiles(hits, s, metric, rng).mean()) for s, metric in wanted]


def _oracle(kind: Oracle, domain: Domain, epsilon: float) -> FrequencyOracle:
    if isinstance(kind, str) and kind not in SHARE_ORACLES:
        raise InvalidParameter(
            "there is no frequency oracle {got} that takes an epsilon alone.",
            hint="oracles: {names}; or a function: lambda domain, epsilon: RAPPOR(domain, 2 * epsilon, epsilon)",
            got=shorten(kind),
            names=", ".join(SHARE_ORACLES),
        )
    made = (load(kind) if isinstance(kind, str) else kind)(domain, epsilon)
    if not isinstance(made, FrequencyOracle):
        raise InvalidParameter("an oracle must make a frequency oracle, got {got}.", got=shorten(made))
    return made


def _checked(domain: Any, epsilon: Any) -> tuple[Schema, list[float]]:
    if not isinstance(domain, Schema) or not domain.private:
        raise InvalidParameter(
            "plausible_deniability needs a Schema with private columns, got {got}.",
            hint='Schema({{"age": Categories(74), "job": Categories(7)}})',
            got=shorten(domain),
        )
    epsilons = list(epsilon) if isinstance(epsilon, Sequence) else [epsilon]
    if not epsilons:
        raise InvalidParameter("plausible_deniability needs at least one epsilon.")
    return domain, epsilons


def _meaning(metrics: Sequence[Metric]) -> list[str]:
    words = {
        "uniform": Phrase("uniform: no survey asks an attribute that an earlier one asked."),
        "non-uniform": Phrase(
            "non-uniform: surveys may ask the same attribute, and a profile counts only if all of them asked different "
            "ones."
        ),
        "memoised": Phrase(
            "memoised: surveys may ask the same attribute, which the person then answers with the same report."
        ),
    }
    return [words[metric] for metric in metrics]


_ADULT = Schema({"age": Categories(74), "job": Categories(7), "school": Categories(16)})

EXAMPLES = (
    lambda: plausible_deniability(_ADULT, 2.0, ("GRR", "SUE", "SubsetSelection"), metric=METRICS),
    lambda: plausible_deniability(
        _ADULT, [1.0, 2.0], "GRR", surveys=2, people=500, repetitions=3, rng=Random.seeded(3)
    ),
)
