"""The same by drawing: people from the shares, their reports from the law, and the best guess from each report.

A person counts as 1 over the number of guesses that are equally good, if the truth is among them: what breaking ties at
random gives on average, without its randomness.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from murmure.attacks.person.guesses.record_guess import Shares, hidden_table, likelihood_table
from murmure.attacks.person.guesses.value_guess import is_even
from murmure.core.errors import InvalidParameter
from murmure.core.random import Random
from murmure.core.types import Array, Floats, Ints
from murmure.laws.cut import Cut
from murmure.laws.hidden_draw import Hidden
from murmure.laws.law import Channel, Law
from murmure.laws.records import RecordChannel, Records, Sampled

TIE = 1e-9  # relative difference of likelihoods that counts as none
BLOCK = 1 << 22  # likelihoods at a time
MAX_RECORDS = 1 << 16  # of which one is guessed as a whole


def draw_values(f: Floats, n: int, rng: Random) -> Ints:
    """Codes of n people from these shares."""
    return np.asarray(Cut.of([float(share) for share in f]).pick(rng.words(n)))


def hits(log_posterior: Floats, x: Array) -> Floats:
    """The chance that the best code (of the rows) is x, person by person (columns)."""
    best = log_posterior.max(axis=0)
    among = log_posterior >= best - TIE
    return np.asarray(among[x.astype(np.int64), np.arange(len(x))] / among.sum(axis=0))


def value_hits(channel: Channel, f: Floats, x: Array, y: Array) -> Floats:
    """Whether the best guess from report y is x, person by person."""
    with np.errstate(divide="ignore"):
        before = np.log(f)[:, None]
    out, step = np.empty(len(x)), max(1, BLOCK // channel.inputs)
    for a in range(0, len(x), step):
        out[a : a + step] = hits(before + likelihood_table(channel, y[a : a + step]), x[a : a + step])
    return out


def drawn_value_hits(channel: Channel, f: Floats, n: int, rng: Random) -> Floats:
    """n people from the shares f, and whether the best guess of each is right."""
    x = draw_values(f, n, rng)
    return value_hits(channel, f, x, Law(channel, x).sample(rng))


def drawn_record_hits(channel: RecordChannel, f: Shares, target: int | None, n: int, rng: Random) -> Floats:
    """The same for records, or for one attribute of them."""
    x = [draw_values(shares, n, rng) for shares in f]
    y = channel.sample(x, rng)
    if isinstance(channel, Hidden):
        return _hidden_hits(channel, f, target, x, y)
    wanted = range(len(f)) if target is None else [target]
    return np.prod([_shown_hits(channel, i, f[i], x[i], y) for i in wanted], axis=0)


def _shown_hits(channel: Any, i: int, f: Floats, x: Array, y: Records) -> Floats:
    """One attribute of a report that shows it, or does not."""
    if not isinstance(channel, Sampled) or y.rows is None:
        return value_hits(channel.parts[i], f, x, y.parts[i])
    likeliest = f >= f.max() * (1 - TIE)
    out = np.asarray(likeliest[x.astype(np.int64)] / likeliest.sum())
    rows = y.rows[i]
    out[rows] = value_hits(channel.parts[i], f, x[rows], y.parts[i])
    return out


def _hidden_hits(channel: Hidden, f: Shares, target: int | None, x: Sequence[Array], y: Records) -> Floats:
    chances = channel.chances.shares()
    out, step = np.empty(y.n), max(1, BLOCK // sum(channel.inputs))
    listed = None if target is not None or all(map(is_even, f)) else _listed_records(channel, f)
    if listed is not None:
        step = max(1, BLOCK // listed.shape[1])
    for a in range(0, y.n, step):
        here = slice(a, a + step)
        tables = [hidden_table(p, yi[here], s) for p, yi, s in zip(channel.parts, y.parts, chances, strict=True)]
        codes = [xi[here] for xi in x]
        with np.errstate(divide="ignore"):
            if target is not None:
                others = sum(
                    shares @ table for i, (shares, table) in enumerate(zip(f, tables, strict=True)) if i != target
                )
                posterior = np.log(f[target])[:, None] + np.log(tables[target] + others)
                out[here] = hits(posterior, codes[target])
            elif listed is None:  # even shares: every attribute alone
                pairs = zip(tables, codes, strict=True)
                out[here] = np.prod([hits(np.log(table), xi) for table, xi in pairs], axis=0)
            else:
                before = np.sum([np.log(shares)[v] for shares, v in zip(f, listed, strict=True)], axis=0)
                whole = sum(table[v] for table, v in zip(tables, listed, strict=True))
                number = np.ravel_multi_index(tuple(c.astype(np.int64) for c in codes), channel.inputs)
                out[here] = hits(before[:, None] + np.log(whole), number)
    return out


def _listed_records(channel: Hidden, f: Shares) -> Ints:
    if math.prod(channel.inputs) > MAX_RECORDS:
        raise InvalidParameter(
            "the best guess of a whole record of {records:,} possible ones is not known for a hidden draw when values "
            "are not equally likely.",
            hint="guess one column: attribute=..., or give no prior",
            records=math.prod(channel.inputs),
        )
    return np.indices(channel.inputs).reshape(len(f), -1)
