"""Noise that several parties draw together: each adds a share before masking, and nobody knows the whole.

Some parties may drop out, and some may collude and subtract their shares again. So the shares are scaled to `honest`,
the number of parties that are honest and stay: their sum alone is the noise that was asked for, and its cost is
computed for exactly this number. Further shares are independent noise added to a release that is already protected:
they cost nothing and make the error bars wider.

    DiscreteLaplace    Polya shares add up to the law at the curator with sampler="exact", and cost what it costs.
    Skellam            Skellam shares of means that add up.
    DiscreteGaussian   discrete Gaussians of variance sigma**2, whose sum S is near the discrete Gaussian W of their
                       added variances: logarithms differ by `gap` at most (laws/noise/shares.py). S, W, W moved, S
                       moved are three steps, the outer ones of pure epsilon gap for each of m entries that move.
                       Steps of a**2/2 and b**2/2 are one of (a+b)**2 / 2 (Bun, Steinke, TCC 2016, Lemma 5.1 with
                       k = 1 + a/b), so   rho = (sqrt(D2 / (honest sigma**2)) + 2 gap sqrt(m))**2 / 2,   the second
                       bound of Kairouz, Liu, Steinke, ICML 2021, Theorem 1 (their sigma is that of one share, and
                       their tau is 2 gap).
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from murmure.central.base.bound_noise import BoundNoise
from murmure.central.base.budget_split import check_binding, moved_entries, split_by_weight
from murmure.central.discrete_gaussian import DiscreteGaussian
from murmure.central.discrete_laplace import DiscreteLaplace
from murmure.central.skellam import Skellam
from murmure.core.blocks import Block, Cost, NoiseLaw
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import exactly, float_up
from murmure.core.types import Relation
from murmure.laws.noise.gaussian import DiscreteGaussianLaw
from murmure.laws.noise.laplace import DiscreteLaplaceLaw
from murmure.laws.noise.polya import PolyaLaw
from murmure.laws.noise.shares import MIN_SHARE_SIGMA2, ShareLaw, gap, sum_of
from murmure.laws.noise.skellam import SkellamLaw

ROUNDING = decimal.Decimal("1e-70")  # above the relative error of a few operations with 80 digits


@dataclass(frozen=True)
class BoundShares(BoundNoise):
    """`laws` are those of the sum of all parties' shares, for error bars; costs are those of `honest` shares."""

    shares: tuple[ShareLaw, ...] = ()  # of one party, for each block
    honest: int = 1
    parties: int = 1

    def for_survivors(self, survivors: int) -> BoundShares:
        """The same, with the error bars of a sum over this number of parties."""
        if not self.honest <= survivors <= self.parties:
            raise InvalidParameter(
                "noise shared by {parties} parties, {honest} of them honest, cannot come from {survivors} parties.",
                parties=self.parties,
                honest=self.honest,
                survivors=survivors,
            )
        return replace(self, laws=_sums(self.shares, survivors))

    def integers(self) -> list[dict[str, object]]:
        """What the JSON of a plan holds: the law of one share, and for how many parties it was made."""
        parties = {"honest": self.honest, "parties": self.parties}
        return [
            {"block": block.name, "moves": str(moves), **share.integers(), **parties}
            for block, share, moves in zip(self.blocks, self.shares, self.sensitivities(), strict=True)
        ]


def bind_shares(
    noise: object,
    blocks: Sequence[Block],
    relation: Relation,
    rows: int,
    honest: int,
    parties: int,
) -> BoundShares:
    """One party's share of this noise, made for `honest` parties that stay and do not collude, out of `parties`."""
    for what, value in (("honest", honest), ("parties", parties)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidParameter(
                "bind_shares: {what} must be a positive whole number, got {got}.", what=what, got=shorten(value)
            )
    if honest > parties:
        raise InvalidParameter(
            "bind_shares: {honest} honest parties out of {parties} is impossible.", honest=honest, parties=parties
        )
    blocks = check_binding(noise, blocks, relation, rows)
    if isinstance(noise, DiscreteLaplace):
        return _laplace(noise, blocks, relation, rows, honest, parties)
    if isinstance(noise, Skellam):
        return _skellam(noise, blocks, relation, rows, honest, parties)
    if isinstance(noise, DiscreteGaussian):
        return _gaussian(noise, blocks, relation, rows, honest, parties)
    raise InvalidParameter(
        "{kind} cannot be drawn in shares by several parties.",
        hint="DiscreteLaplace (a pure epsilon), DiscreteGaussian or Skellam (with a delta)",
        kind=type(noise).__name__,
    )


def _sums(shares: Sequence[ShareLaw], count: int) -> tuple[NoiseLaw, ...]:
    return tuple(sum_of(share, count) for share in shares)


def _laplace(
    noise: DiscreteLaplace, blocks: tuple[Block, ...], relation: Relation, rows: int, honest: int, parties: int
) -> BoundShares:
    # Polya shares add up to the exact law, not to its tables: so the cost is that of the exact sampler.
    alone = replace(noise, sampler="exact").bind(blocks, relation, rows)
    each = Fraction(1, honest)
    laws = tuple(PolyaLaw(law.s, law.t, each) for law in alone.laws if isinstance(law, DiscreteLaplaceLaw))
    method = Phrase("discrete Laplace in {honest} Polya shares: closed form", honest=honest)
    return BoundShares(
        noise, blocks, _sums(laws, parties), "l1", relation, rows, alone.cost, alone.epsilon, 0.0, method,
        laws, honest, parties,
    )  # fmt: skip


def _skellam(
    noise: Skellam, blocks: tuple[Block, ...], relation: Relation, rows: int, honest: int, parties: int
) -> BoundShares:
    means = noise.means(blocks, relation, rows, honest)
    cost, epsilon = noise.spent([honest * mean for mean in means], blocks, relation, rows)
    laws = tuple(map(SkellamLaw, means))
    method = Phrase("Skellam in {honest} shares: curvature of the law of their sum", honest=honest)
    return BoundShares(
        noise, blocks, _sums(laws, parties), "l2", relation, rows, cost, epsilon, noise.delta or 0.0, method,
        laws, honest, parties,
    )  # fmt: skip


def _gaussian(
    noise: DiscreteGaussian, blocks: tuple[Block, ...], relation: Relation, rows: int, honest: int, parties: int
) -> BoundShares:
    laws, rho = [], Fraction(0)
    for block, share in zip(blocks, split_by_weight(noise.budget, blocks), strict=True):
        squares, moved = block.sensitivity("l2", relation, rows), moved_entries(block, relation, rows)
        law = least_gaussian(share, honest, squares, moved)
        laws.append(law)
        rho += gaussian_rho(law.sigma2, honest, squares, moved)
    cost = Cost(math.inf, float_up(rho))
    epsilon = noise.epsilon_for(cost.rho)
    method = Phrase(
        "discrete Gaussian in {honest} shares: Kairouz, Liu, Steinke 2021, the gap of their sum counted", honest=honest
    )
    return BoundShares(
        noise, blocks, _sums(laws, parties), "l2", relation, rows, cost, epsilon, noise.delta or 0.0, method,
        tuple(laws), honest, parties,
    )  # fmt: skip


@exactly
def gaussian_rho(sigma2: Fraction, honest: int, squares: int, moved: int) -> Fraction:
    """What the sum of `honest` discrete Gaussians of this variance costs, rounded up."""
    ratio = Fraction(squares) / (honest * sigma2)
    if honest == 1:
        return ratio / 2
    a = (decimal.Decimal(ratio.numerator) / ratio.denominator).sqrt()
    step = a + 2 * gap(sigma2, honest) * decimal.Decimal(moved).sqrt()
    return Fraction(step * step / 2 * (1 + ROUNDING))


def least_gaussian(max_rho: Fraction, honest: int, squares: int, moved: int) -> DiscreteGaussianLaw:
    """A share for which the sum of `honest` costs at most `max_rho`, and hardly less where the gap counts."""

    def try_at(sigma2: Fraction) -> tuple[DiscreteGaussianLaw, bool]:
        law = DiscreteGaussianLaw.at_least(sigma2)
        return law, gaussian_rho(law.sigma2, honest, squares, moved) <= max_rho

    low = max(MIN_SHARE_SIGMA2, Fraction(squares) / (2 * max_rho * honest))
    law, enough = try_at(low * (1 + Fraction(1, 1 << 28)))  # room for a gap that hardly counts
    if enough:
        exact, enough = try_at(low)
        return exact if enough else law
    high = 2 * low
    while not (trial := try_at(high))[1]:
        low, high = high, 2 * high
    law = trial[0]
    for _ in range(20):
        middle = (low + high) / 2
        trial = try_at(middle)
        low, high, law = (low, middle, trial[0]) if trial[1] else (middle, high, law)
    return law
