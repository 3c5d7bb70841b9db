"""Gradient-boosted trees that learn which attribute is real: the attack of the literature, its settings pinned.

The papers call XGBoost with "default parameters" and do not record its version. Depth 3, rate 0.1 and 100 rounds are
its defaults before version 1.0, which the published figures match. No classifier beats the exact rule that knows the
same shares, except by chance.

scikit-learn's trees are set to the same steps. A leaf of XGBoost is worth rate G / (2 H + 1), since it takes twice the
second derivative H of the softmax and adds 1; a leaf of scikit-learn rate G / (H + l2). So half the rate and l2 = 1/2
are the same. XGBoost wants 2 H >= 1 in a leaf: with d attributes guessed alike, d**2 / (2 (d - 1)) people.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from murmure.attacks.person.attribute_rules.estimated_shares import Shares
from murmure.core.errors import MissingExtra, Phrase
from murmure.core.random import Random
from murmure.core.types import Array, Floats
from murmure.laws.bits import unpack
from murmure.laws.cut import Cut
from murmure.laws.hidden_draw import FakeCode, Hidden
from murmure.laws.records import Records

Library = Literal["scikit-learn", "xgboost"]
DEPTH, RATE, ROUNDS = 3, 0.1, 100
FEW_CELLS = 1_000_000


def new_trees(library: Library, seed: int, attributes: int, bins: int = 255) -> Any:
    """bins: as many as a feature has values, which changes no tree of scikit-learn and saves time on bits."""
    if library == "xgboost":
        try:
            from xgboost import XGBClassifier  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            raise MissingExtra(Phrase("gradient-boosted trees"), "xgboost", "xgboost") from None
        return XGBClassifier(max_depth=DEPTH, learning_rate=RATE, n_estimators=ROUNDS, random_state=seed)
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise MissingExtra(Phrase("gradient-boosted trees"), "scikit-learn", "attacks") from None
    return HistGradientBoostingClassifier(
        max_depth=DEPTH,
        learning_rate=RATE / 2,
        max_iter=ROUNDS,
        l2_regularization=0.5,
        min_samples_leaf=-(-attributes * attributes // (2 * max(1, attributes - 1))),
        early_stopping=False,  # it would hold out people that the papers train on
        max_bins=min(max(bins, 2), 255),
        random_state=seed,
    )


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


def scores_by_trees(
    law: Hidden,
    training: list[tuple[Records, Array]],
    records: Records,
    rng: Random,
    library: Library = "scikit-learn",
) -> Floats:
    """The log chance of every attribute, for every record, of trees that learnt from the training records."""
    x = np.concatenate([features(law, part) for part, _ in training])
    tag = np.concatenate([np.asarray(part, np.int64) for _, part in training])
    scores = np.full((records.n, len(law.parts)), -np.inf)
    classes, tag = np.unique(tag, return_inverse=True)  # XGBoost wants them without gaps
    if len(classes) == 1:  # nothing to learn: the only attribute that occurs
        scores[:, classes] = 0.0
        return scores
    trees = new_trees(library, int(rng.words(1)[0] >> np.uint64(33)), len(law.parts), int(x.max()) + 1)
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped, unused-ignore]  # scikit-learn needs it

    # On few rows threads wait for one another longer than they work. A class that never occurs is never guessed.
    with threadpool_limits(1 if x.size < FEW_CELLS else None, "openmp"), np.errstate(divide="ignore"):
        trees.fit(x, tag)
        scores[:, classes] = np.log(trees.predict_proba(features(law, records)))
    return scores
