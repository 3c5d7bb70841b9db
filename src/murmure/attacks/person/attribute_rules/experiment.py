"""One experiment: people report, the attacker estimates and guesses, and the guesses are counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from murmure.attacks.base.success import Success, exact, repeated_share
from murmure.attacks.person.attribute_rules.collection import Collection
from murmure.attacks.person.attribute_rules.estimated_shares import (
    Shares,
    shares_from_both,
    shares_from_known,
    shares_from_reports,
)
from murmure.attacks.person.attribute_rules.exact_success import exact_success
from murmure.attacks.person.attribute_rules.guesses import share_guessed
from murmure.attacks.person.attribute_rules.trees import Library, scores_by_trees, synthetic_profiles
from murmure.attacks.person.attribute_rules.uniform_fakes import with_uniform_fakes
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.core.types import Floats
from murmure.laws.hidden_draw import Hidden
from murmure.laws.records import Columns
from murmure.local.rsfd import RSRFD, FakeData

ESTIMATES: dict[str, Callable[[Collection], Shares]] = {
    "none": shares_from_reports,
    "partial": shares_from_known,
    "hybrid": shares_from_both,
}


@dataclass(frozen=True)
class AttributeRule:
    """How the guess is made."""

    title: Phrase
    trees: Library | None = None  # whose trees learn
    uniform: bool = False  # takes fakes for uniform, as the published attack on RS+RFD does
    true_shares: bool = False


RULES: dict[str, AttributeRule] = {
    "exact": AttributeRule(Phrase("exact rule")),
    "ceiling": AttributeRule(Phrase("exact, shares known"), true_shares=True),
    "trees": AttributeRule(Phrase("trees"), trees="scikit-learn"),
    "xgboost": AttributeRule(Phrase("XGBoost"), trees="xgboost"),
    "exact-uniform": AttributeRule(Phrase("exact, fakes uniform"), uniform=True),
    "trees-uniform": AttributeRule(Phrase("trees, fakes uniform"), trees="scikit-learn", uniform=True),
    "xgboost-uniform": AttributeRule(Phrase("XGBoost, fakes uniform"), trees="xgboost", uniform=True),
}


def protocol(mechanism: FakeData) -> str:
    """As the literature names it: RS+FD[OUE-z]."""
    kind = "RS+RFD" if isinstance(mechanism, RSRFD) else "RS+FD"
    names = set(mechanism.names)
    return f"{kind}[{names.pop()}]" if len(names) == 1 else f"{kind}[{'/'.join(sorted(names))}]"


@dataclass(frozen=True)
class AttributeGuesses:
    """What one repetition gave."""

    success: Mapping[str, float]  # by rule: the share that was guessed
    distance: Floats  # by attribute: half the sum of |estimated - true share|


@dataclass(frozen=True)
class AttributeExperiment:
    """A mechanism, the people who report with it, what the attacker knows, and the rules that guess."""

    mechanism: FakeData
    x: Columns
    knowledge: str
    rules: Sequence[str]
    synthetic: int  # profiles for each person that trees learn from
    known: int  # people whose real attribute is known

    @property
    def law(self) -> Hidden:
        return self.mechanism.channel

    @cached_property
    def true_shares(self) -> Shares:
        return [np.bincount(c, minlength=k) / len(c) for c, k in zip(self.x, self.law.inputs, strict=True)]

    @cached_property
    def computed(self) -> float | None:
        """The ceiling without drawing anything, where reports can be listed."""
        return exact_success(self.law, self.true_shares) if "ceiling" in self.rules else None

    def run(self, rng: Random) -> AttributeGuesses:
        collection = Collection.draw(self.mechanism, self.x, self.known, rng)
        shares = ESTIMATES[self.knowledge](collection)
        distance = np.array([np.abs(f - g).sum() / 2 for f, g in zip(shares, self.true_shares, strict=True)])
        wanted = [name for name in self.rules if not (RULES[name].true_shares and self.computed is not None)]
        return AttributeGuesses({name: self._guess(RULES[name], collection, shares, rng) for name in wanted}, distance)

    def _guess(self, rule: AttributeRule, collection: Collection, shares: Shares, rng: Random) -> float:
        law = with_uniform_fakes(self.law) if rule.uniform else self.law
        records, tag = collection.of(collection.guessed)
        if rule.trees is None:
            return share_guessed(law.real_log_odds(records, self.true_shares if rule.true_shares else shares), tag)
        training = [collection.of(collection.known)] if self.known else []
        if self.knowledge != "partial":
            training.append(synthetic_profiles(law, shares, self.synthetic * len(self.x[0]), rng))
        return share_guessed(scores_by_trees(law, training, records, rng, rule.trees), tag)

    def rows(self, measured: Sequence[AttributeGuesses]) -> list[Success]:
        """A row for each rule."""
        baseline, at, out = float(self.law.chances.shares().max()), self.mechanism.epsilon, []
        for name in self.rules:
            title = RULES[name].title
            setting = {"protocol": protocol(self.mechanism)}
            if RULES[name].true_shares and self.computed is not None:
                out.append(exact(title, self.computed, baseline, at, **setting))
                continue
            out.append(repeated_share(title, [one.success[name] for one in measured], baseline, at, **setting))
        return out
