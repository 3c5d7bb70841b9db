"""How often the best guess of a record, or of one of its attributes, is right. Attributes are independent beforehand.

Joint     attributes are guessed one by one: the chances multiply
Sampled   an attribute that the report does not show is guessed from the shares alone
Hidden    P[y | x] = prod_i F_i[y_i] * sum_j s_j l_j(y_j, x_j),   l = real / fake likelihood.
          Even shares: every attribute is guessed by its largest l, and fakes average out to
              one attribute   s_t S_t + (1 - s_t) / k_t            (S: the chance from a report that is real)
              the record      sum_j s_j S_j / (product of the other k_i)
          Other shares: every report and every record, where they can be listed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from murmure.attacks.person.guesses.value_guess import is_even, value_success
from murmure.core.types import Array, Floats
from murmure.laws.hidden_draw import Hidden, HiddenPart
from murmure.laws.records import Draw, Joint, RecordChannel, Sampled, every_outcome

MAX_PAIRS = 1 << 24  # of a report and a record, that are looked at one by one
MAX_SETS = 1 << 18  # of attributes that a draw can show

Shares = Sequence[Floats]  # of every attribute


@singledispatch
def record_success(channel: RecordChannel, f: Shares, target: int | None) -> float | None:
    """The chance that the best guess of the record (target None) or of attribute `target` is right."""
    return None


def _parts_success(channel: Joint | Sampled | Hidden, f: Shares) -> list[float] | None:
    laws = [part.real for part in channel.parts] if isinstance(channel, Hidden) else channel.parts
    found = [value_success(law, shares) for law, shares in zip(laws, f, strict=True)]
    return None if None in found else found  # type: ignore[return-value]


@record_success.register
def _(channel: Joint, f: Shares, target: int | None) -> float | None:
    if target is not None:
        return value_success(channel.parts[target], f[target])
    parts = _parts_success(channel, f)
    return None if parts is None else math.prod(parts)


@record_success.register
def _(channel: Sampled, f: Shares, target: int | None) -> float | None:
    modes = [float(shares.max()) for shares in f]
    if target is not None:
        part = value_success(channel.parts[target], f[target])
        shown = shown_chance(channel.draw, target)
        return None if part is None or shown is None else shown * part + (1 - shown) * modes[target]
    parts = _parts_success(channel, f)
    if parts is None or not _few_sets(channel.draw):
        return None
    total = []
    for shown_set in channel.draw.outcomes():
        factors = (parts[i] if i in shown_set else mode for i, mode in enumerate(modes))
        total.append(float(channel.draw.prob(shown_set)) * math.prod(factors))
    return math.fsum(total)


def _few_sets(draw: Draw) -> bool:
    return draw.in_turn or math.comb(draw.columns, draw.take) <= MAX_SETS


def shown_chance(draw: Draw, attribute: int) -> float | None:
    """The chance that a report shows this attribute."""
    if not _few_sets(draw):
        return None
    return math.fsum(float(draw.prob(shown)) for shown in draw.outcomes() if attribute in shown)


@record_success.register
def _(channel: Hidden, f: Shares, target: int | None) -> float | None:
    chances = channel.chances.shares()
    if all(is_even(shares) for i, shares in enumerate(f) if target in (None, i)):
        sizes = channel.inputs
        if target is not None:
            part = value_success(channel.parts[target].real, f[target])
            s = float(chances[target])
            return None if part is None else s * part + (1 - s) / sizes[target]
        parts = _parts_success(channel, f)
        if parts is None:
            return None
        records = math.prod(sizes)
        return math.fsum(s * part * k / records for s, part, k in zip(chances, parts, sizes, strict=True))
    return _listed_success(channel, f, target)


def _listed_success(channel: Hidden, f: Shares, target: int | None) -> float | None:
    if every_outcome(channel.parts) is None:
        return None
    reports = [np.array(list(part.outcomes() or ())) for part in channel.parts]
    sizes = [len(y) for y in reports]
    places, codes = (np.indices(shape).reshape(len(shape), -1) for shape in (sizes, channel.inputs))
    if places.shape[1] * codes.shape[1] > MAX_PAIRS:
        return None
    tables = [
        hidden_table(part, y, s) for part, y, s in zip(channel.parts, reports, channel.chances.shares(), strict=True)
    ]
    fakes = np.prod(
        [np.exp(part.fake_log_prob(y))[i] for part, y, i in zip(channel.parts, reports, places, strict=True)], 0
    )
    before = np.prod([shares[x] for shares, x in zip(f, codes, strict=True)], axis=0)
    joint = sum(table[x][:, i] for table, i, x in zip(tables, places, codes, strict=True)) * before[:, None]
    if target is not None:
        joint = np.array([joint[codes[target] == v].sum(axis=0) for v in range(channel.inputs[target])])
    return math.fsum(fakes * joint.max(axis=0))


def hidden_table(part: HiddenPart, y: Array, s: float) -> Floats:
    """s times real over fake likelihood of every code (rows) and report (columns)."""
    fake = part.fake_log_prob(y)
    real = likelihood_table(part.real, y)
    return np.asarray(s * np.exp(real - fake))


def likelihood_table(channel: object, y: Array) -> Floats:
    """ln P[y | x] of every code x (rows) and report (columns)."""
    out = np.empty((channel.inputs, len(y)))  # type: ignore[attr-defined]
    for x in range(len(out)):
        out[x] = channel.log_prob(np.full(len(y), x), y)  # type: ignore[attr-defined]
    return out
