"""A law at given inputs, and what any function makes of its reports."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter
from murmure.core.random import Random
from murmure.laws.hashed import Hashed
from murmure.laws.law import Law
from murmure.laws.mapped import Mapped
from murmure.laws.window import WindowChannel
from murmure.local.duchi import Duchi
from murmure.local.grr import GRR
from murmure.local.hadamard import HadamardResponse
from murmure.local.hashing import OLH
from murmure.local.hybrid import Hybrid
from murmure.local.rappor import RAPPOR
from murmure.local.subset import SubsetSelection
from murmure.local.unary import OUE

MECHANISMS = [
    GRR(Categories(5), 1.0),
    OUE(Categories(3), 1.0),
    OUE(Categories(130), 1.0),
    SubsetSelection(Categories(5), 1.0),
    SubsetSelection(Categories(200), 1.0),
    HadamardResponse(Categories(5), 1.0),
    OLH(Categories(5), 1.0),
    OLH(Categories(1000), 2.0),
    RAPPOR(Categories(70), 4.0, 1.0),
    Duchi(Integers(0, 10), 1.0),
    Hybrid(Integers(0, 10), 1.0),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_log_prob_is_the_logarithm_of_the_law(mechanism: Any) -> None:
    """One report per person; one report held against everybody; many reports of one person: all read prob."""
    k = mechanism.domain.size
    x = np.arange(6) % k
    law = mechanism.law(x)
    y = law.sample(Random.seeded(1))
    prob = mechanism.channel.prob

    def close(actual: Any, exact: list[Any]) -> bool:
        return bool(np.allclose(actual, [math.log(p) for p in exact], rtol=1e-12, atol=1e-12))

    assert close(law.log_prob(y), [prob(int(a), b) for a, b in zip(x, y, strict=True)])
    assert close(law.log_prob(y[3]), [prob(int(a), y[3]) for a in x])
    assert close(mechanism.law([1]).log_prob(y), [prob(1, b) for b in y])
    assert close(mechanism.law([1]).log_prob(y[3]), [prob(1, y[3])])


def test_a_law_takes_codes() -> None:
    """Labels, halves and codes that do not exist are refused by name, with a way out."""
    mechanism = GRR(Categories(["no", "yes"]), 1.0)
    for wrong in (["yes"], [0.5], [2], [-1]):
        with pytest.raises(InvalidParameter, match=r"GRR.law takes codes from 0 to 1, got .*\n  Hint: domain.encode"):
            mechanism.law(wrong)


@pytest.mark.parametrize(
    "function", [lambda y: y - 2, lambda y: y * 100, lambda y: (y, -y), lambda y: "even" if y % 2 == 0 else "odd"]
)
def test_a_mapped_sample_is_one_that_its_law_lists(function: Any) -> None:
    """Drawing and then mapping stays inside the mapped law: reports are mapped as the numbers that they are."""
    mapped = Mapped(GRR(Categories(4), 0.1).channel, function)
    drawn = Law(mapped, np.arange(400) % 4).sample(Random.seeded(1))

    assert set(drawn) == set(mapped.outcomes())
    assert drawn.tolist() == [
        function(int(y)) for y in Law(mapped.channel, np.arange(400) % 4).sample(Random.seeded(1))
    ]


def test_too_many_reports_cannot_be_mapped() -> None:
    """Where reports cannot be listed a map cannot be certified, and says so."""
    mapped = Mapped(OUE(Categories(100), 1.0).channel, lambda y: 0)

    with pytest.raises(InvalidParameter, match="BitsChannel has too many reports to list"):
        mapped.outcomes()


@pytest.mark.parametrize(("k", "g"), [(2, 2), (3, 2), (4, 4), (5, 2), (8, 4), (9, 8), (1000, 64)])
def test_hashes_are_listed_once_each_or_not_at_all(k: int, g: int) -> None:
    """Of up to 2**12 hashes every report, which are as many as its bits say; of more none, since nobody could wait."""
    channel = Hashed(k, WindowChannel.calibrated(1.0, g, g))
    hashes = 2 ** channel.report_bits() / g
    found = channel.outcomes()

    assert (found is None) == (hashes > 2**12)
    if found is not None:
        reports = [tuple(report) for report in found]
        assert len(set(reports)) == len(reports) == hashes * g
