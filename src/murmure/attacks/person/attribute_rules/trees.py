"""Gradient-boosted trees that learn which attribute is real: the attack of the literature, its settings pinned.

The papers call XGBoost with "default parameters" and do not record its version. Depth 3, rate 0.1 and 100 rounds are
its defaults before version 1.0, which the published figures match. No classifier beats the exact rule that knows the
same shares, except by chance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from murmure.attacks.person.attribute_rules.estimated_shares import Shares
from murmure.core.errors import MissingExtra, Phrase
from murmure.core.random import Random
from murmure.core.types import Array, Floats
from murmure.laws.bits import unpack
from murmure.laws.cut import Cut
from murmure.laws.hidden_draw import FakeCode, Hidden
from murmure.laws.records import Records

# l2_regularization is XGBoost's lambda; early stopping would hold out people that the papers train on.
SETTINGS: dict[str, Any] = {
    "max_depth": 3,
    "learning_rate": 0.1,
    "max_iter": 100,
    "l2_regularization": 1.0,
    "early_stopping": False,
}
FEW_CELLS = 1_000_000


def new_trees(seed: int, bins: int = 255) -> Any:
    """bins: as many as a feature has values, which changes no tree and saves time on bits."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise MissingExtra(Phrase("gradient-boosted trees"), "scikit-learn", "attacks") from None
    return HistGradientBoostingClassifier(**SETTINGS, max_bins=min(max(bins, 2), 255), random_state=seed)


def synthetic_profiles(law: Hidden, shares: Shares, people: int, rng: Random) -> tuple[Records, Array]:
    """Profiles drawn from the shares and replayed through the law, which remembers the real attribute."""
    profiles = [Cut.of([float(s) for s in f]).pick(rng.words(people)) for f in shares]
    tag, records = law.sample_with_tag(profiles, rng)
    return records, tag


def features(law: Hidden, records: Records) -> Array:
    """What trees see of a record: codes as numbers, bits as zeros and ones, side by side."""
    return np.column_stack(
        [
            reports if isinstance(part, FakeCode) else unpack(reports, part.real.inputs)
            for part, reports in zip(law.parts, records.parts, strict=True)
        ]
    )


def scores_by_trees(law: Hidden, training: list[tuple[Records, Array]], records: Records, rng: Random) -> Floats:
    """The log chance of every attribute, for every record, of trees that learnt from the training records."""
    x = np.concatenate([features(law, part) for part, _ in training])
    tag = np.concatenate([np.asarray(part, np.int64) for _, part in training])
    scores = np.full((records.n, len(law.parts)), -np.inf)
    classes = np.unique(tag)
    if len(classes) == 1:  # nothing to learn: the only attribute that occurs
        scores[:, classes] = 0.0
        return scores
    trees = new_trees(int(rng.words(1)[0] >> np.uint64(33)), int(x.max()) + 1)
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped, unused-ignore]  # scikit-learn needs it

    # On few rows threads wait for one another longer than they work. A class that never occurs is never guessed.
    with threadpool_limits(1 if x.size < FEW_CELLS else None, "openmp"), np.errstate(divide="ignore"):
        trees.fit(x, tag)
        scores[:, classes] = np.log(trees.predict_proba(features(law, records)))
    return scores
