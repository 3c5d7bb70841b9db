"""Poisoning: what do m forged reports add to the shares of their targets, and does anybody notice?

n reports, m of them forged for r targets T whose share among the n - m honest people is f_T:

    gain = E[sum of the estimated shares of T] - f_T = (m/n) (E[z_T] - f_T),      z_T what one forged report adds;
    at most (m/n) (up r' - f_T),   up and r' of certify/leverage: r' targets can be raised at once.

The same m people answering honestly for a target gain (m/n) (1 - f_T): that is the baseline. Cao, Jia, Gong, USENIX
Security 2021, whose n + m is n here.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from murmure.attacks.base.attack_result import AttackResult
from murmure.attacks.base.repetitions import check_count, repeat
from murmure.attacks.base.success import Success, repeated
from murmure.attacks.base.threat_model import ThreatModel
from murmure.attacks.person.forgery.detection import detect_forgeries
from murmure.attacks.person.forgery.forged_reports import (
    ATTACK_NAMES,
    MAXIMAL,
    RANDOM_ITEMS,
    RANDOM_REPORTS,
    STEALTHY,
    Forger,
    forger_of,
    is_share,
)
from murmure.certify.leverage import leverage, most_supported
from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, OutsideDomain, Phrase, Plural, shorten
from murmure.core.random import Random, random_or_secure
from murmure.core.types import Floats, Ints
from murmure.local.duchi import Duchi
from murmure.local.grr import GRR
from murmure.local.hashing import OLH
from murmure.local.unary import OUE
from murmure.show.document import Number, Table

NOBODY = "nobody"


def poisoning(
    mechanisms: Any,
    people: int = 10_000,
    forged: int = 500,
    targets: int | Sequence[Any] = 1,
    shares: Sequence[float] | None = None,
    attacks: Sequence[str] | None = None,
    level: float = 0.01,
    repetitions: int = 20,
    rng: Random | None = None,
) -> AttackResult:
    """Forge some of the reports and see how far the targets' shares, or a mean, rise; and how often it is noticed.

    mechanisms: one, or several of the same question. forged: how many of the `people` reports. targets: values, or how
    many of the last ones. shares: of the honest people's values (None: even). attacks: of "maximal gain", "stealthy",
    "random reports" and "random items" (None: all that the mechanism has). level: of the tests that look for forgeries.

    >>> import murmure as mu
    >>> from murmure.attacks import poisoning
    >>> grr = mu.GRR(mu.Categories(64), epsilon=1.0)
    >>> result = poisoning(grr, people=2000, forged=20, repetitions=5, rng=mu.Random.seeded(7))
    >>> row = result.rows[0]
    >>> print(f"{row.attacker}: 1% of the reports add {row.value:.2f}, honest people {row.baseline:.4f}")
    maximal gain: 1% of the reports add 0.40, honest people 0.0098
    """
    several = list(mechanisms) if isinstance(mechanisms, Sequence) else [mechanisms]
    n, m = check_count("people", people, 2), check_count("forged", forged, 1)
    check_count("repetitions", repetitions)
    rng = random_or_secure(rng, "poisoning")
    if m >= n:
        raise InvalidParameter("poisoning: {m:,} of {n:,} reports cannot all be forged.", m=m, n=n)
    if not several or len({is_share(mechanism) for mechanism in several}) != 1:
        raise InvalidParameter(
            "poisoning takes mechanisms of one kind, of shares or of a mean, got {got}.",
            got=shorten([type(mechanism).__name__ for mechanism in several], 120),
        )
    domain = several[0].domain
    if any(mechanism.domain != domain for mechanism in several):
        raise InvalidParameter("poisoning compares mechanisms of the same domain.")
    of_shares = is_share(several[0])
    codes = _targets(domain, targets) if of_shares else np.array([domain.size - 1])
    honest = _people(domain.size, n - m, shares)
    truth = _truth(honest, codes, domain.size, of_shares)
    rows: list[Success] = []
    table: list[dict[str, Any]] = []
    epsilons = [mechanism.asked for mechanism in several]
    curves = len({type(mechanism) for mechanism in several}) < len(several)
    for number, mechanism in enumerate(several):
        forger = forger_of(mechanism, codes)
        wanted = _attacks(forger, attacks)
        experiment = _Experiment(forger, honest, m, wanted, truth, of_shares, level)
        runs = repeat(experiment, repetitions, rng.child(number), Phrase("forging reports"))
        at = epsilons[number] if curves else None
        name = type(mechanism).__name__
        base = (1 - truth) * m / n
        bound = (_bound(mechanism, codes, of_shares) - truth) * m / n
        for attack in (*wanted, NOBODY):
            gains, noticed = zip(*(run[attack] for run in runs), strict=True)
            if attack != NOBODY:
                rows.append(repeated(ATTACK_NAMES[attack], gains, base, at, mechanism=name))
            expected = None if attack == NOBODY else round((forger.worth(attack) - truth) * m / n, 12) + 0.0
            table.append(
                {
                    "mechanism": name,
                    "epsilon": epsilons[number],
                    "attack": attack,
                    "expected_gain": expected,
                    "bound": None if attack == NOBODY else bound,
                    "noticed": float(np.mean(noticed)),
                }
            )
    what = Plural("{n:,} report of {people:,} is forged", "{n:,} reports of {people:,} are forged", n=m, people=n)
    measure = (
        Phrase("gain of the targets' shares, in percentage points")
        if of_shares
        else Phrase("gain of the mean, in widths of its range")
    )
    notes = (
        Phrase(
            "The bound is the most that forged reports can add, whatever they are: their number times the leverage of "
            "the law."
        ),
        Phrase(
            "Noticed: share of repetitions in which tests at level {level:g} raise the alarm; when nobody forges, that "
            "is a false alarm.",
            level=level,
        ),
    )
    return AttackResult(
        "poison",
        what,
        ThreatModel(
            Phrase("what anybody sees: the survey and its plan"),
            Phrase("the mechanism and its law; no honest person's report"),
            Phrase("to raise the estimated shares of its targets with forged reports")
            if of_shares
            else Phrase("to raise the estimated mean with forged reports"),
        ),
        measure,
        tuple(rows),
        Phrase("epsilon") if curves else None,
        "points" if of_shares else "value",
        notes,
        (_table(table, of_shares),),
        {
            "people": n,
            "forged": m,
            "targets": codes.tolist(),
            "true_share": truth,
            "test_level": level,
            "bounds": table,
        },
        Phrase("by answering honestly"),
    )


def _bound(mechanism: Any, codes: Ints, of_shares: bool) -> float:
    """The most that one report adds to the sum of the targets' shares, or to the mean."""
    one = leverage(mechanism)
    if not of_shares:
        return float(one.up[0])
    affine = mechanism.affine()
    k = mechanism.domain.size
    slope = np.array([float(s) for s in affine.slope]) * np.ones(k)
    w = np.zeros(k)
    w[codes] = 1 / slope[codes]
    return most_supported(mechanism, w)[0] + float(one.down[codes].sum())


class _Experiment:
    """One survey, with each of the attacks and with none."""

    def __init__(
        self,
        forger: Forger,
        honest: Ints,
        m: int,
        attacks: tuple[str, ...],
        truth: float,
        of_shares: bool,
        level: float,
    ) -> None:
        self.forger, self.honest, self.m, self.attacks = forger, honest, m, attacks
        self.truth, self.of_shares, self.level = truth, of_shares, level

    def __call__(self, rng: Random) -> dict[str, tuple[float, bool]]:
        mechanism = self.forger.mechanism
        honest = mechanism.law(self.honest).sample(rng.child(0))
        out = {}
        for number, attack in enumerate((*self.attacks, NOBODY)):
            draw = rng.child(1 + number)
            if attack == NOBODY:  # the same number of reports, all honest: people like the others
                more = mechanism.law(self.honest[np.linspace(0, len(self.honest) - 1, self.m).astype(int)]).sample(draw)
            else:
                more = self.forger.reports(attack, self.m, draw)
            reports = np.concatenate([honest, more.astype(honest.dtype)])
            estimate = mechanism.estimate(mechanism.tally(reports), len(reports))
            check = detect_forgeries(mechanism, reports, self.level)
            out[attack] = self._figure(estimate.mean) - self.truth, check.noticed
        return out

    def _figure(self, mean: Floats) -> float:
        if self.of_shares:
            return float(mean[self.forger.targets].sum())
        low, step, _ = self.forger.mechanism.domain.scale()
        return float(mean[0] - low) / (step * (self.forger.k - 1))


def _targets(domain: Any, targets: Any) -> Ints:
    k = domain.size
    if isinstance(targets, int) and not isinstance(targets, bool):
        if not 1 <= targets < k:
            raise InvalidParameter(
                "poisoning.targets must be values, or how many: 1 to {most:,}, got {got}.", most=k - 1, got=targets
            )
        return np.arange(k - targets, k)
    codes = None
    if not isinstance(targets, str) and isinstance(targets, Sequence) and len(targets):
        with suppress(OutsideDomain):
            codes = np.unique(domain.encode(list(targets))).astype(np.int64)
    if codes is None:
        raise InvalidParameter(
            "poisoning.targets must be values, or how many: 1 to {most:,}, got {got}.", most=k - 1, got=shorten(targets)
        )
    if len(codes) == k:
        raise InvalidParameter("poisoning.targets names every value: their shares cannot all rise.")
    return codes


def _people(k: int, n: int, shares: Any) -> Ints:
    """The codes of n honest people whose shares are as near to those wanted as whole people allow."""
    f = np.full(k, 1 / k) if shares is None else np.asarray(shares, float)
    if f.shape != (k,) or not np.isfinite(f).all() or (f < 0).any() or abs(float(f.sum()) - 1) > 1e-9:
        raise InvalidParameter(
            "poisoning.shares must be {k} numbers that sum to 1, got {got}.", k=k, got=shorten(shares, 60)
        )
    ends = np.rint(np.cumsum(f) * n).astype(np.int64)
    return np.repeat(np.arange(k), np.diff(ends, prepend=0))


def _truth(honest: Ints, codes: Ints, k: int, of_shares: bool) -> float:
    return float(np.isin(honest, codes).mean()) if of_shares else float(honest.mean() / (k - 1))


def _attacks(forger: Forger, wanted: Sequence[str] | None) -> tuple[str, ...]:
    if wanted is None:
        return forger.attacks
    unknown = [name for name in wanted if name not in ATTACK_NAMES]
    if unknown or not wanted:
        raise InvalidParameter(
            "poisoning.attacks must be of {names}, got {got}.",
            names=", ".join(repr(name) for name in ATTACK_NAMES),
            got=shorten(list(wanted)),
        )
    chosen = tuple(name for name in forger.attacks if name in wanted)
    if not chosen:  # only bits and hashes have an attack of their own that hides
        return (MAXIMAL,) if STEALTHY in wanted else tuple(wanted)
    return chosen


def _table(rows: list[dict[str, Any]], of_shares: bool) -> Table:
    def shown(value: float | None) -> Any:
        if value is None:
            return None
        return Number(100 * value, "fixed", 2) if of_shares else Number(float(f"{value:.4g}"), "plain")

    head = (
        Phrase("mechanism"),
        "epsilon",
        Phrase("attacker"),
        Phrase("expected gain (points)") if of_shares else Phrase("expected gain"),
        Phrase("bound (points)") if of_shares else Phrase("bound"),
        Phrase("noticed"),
    )
    cells = tuple(
        (
            row["mechanism"],
            None if row["epsilon"] is None else Number(row["epsilon"], "plain"),
            ATTACK_NAMES.get(row["attack"], Phrase("nobody forges")),
            shown(row["expected_gain"]),
            shown(row["bound"]),
            Number(row["noticed"], "share", 0),
        )
        for row in rows
    )
    return Table(Phrase("What the law says, and how often the tests notice"), head, cells)


def _example(*mechanisms: Any, **settings: Any) -> AttackResult:
    return poisoning(list(mechanisms), people=300, forged=15, repetitions=3, rng=Random.seeded(7), **settings)


EXAMPLES = (
    lambda: _example(GRR(Categories(8), 1.0), OUE(Categories(8), 1.0), OLH(Categories(8), 1.0), targets=2),
    lambda: _example(*(GRR(Categories(4), epsilon) for epsilon in (0.5, 1.0, 2.0)), attacks=(MAXIMAL, RANDOM_ITEMS)),
    lambda: _example(Duchi(Integers(0, 10), 1.0), attacks=(MAXIMAL, RANDOM_REPORTS)),
)
