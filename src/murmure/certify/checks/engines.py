"""The generic check of engines: the same integers however the rows are cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from murmure.certify.checks.assertions import CheckFailed, require
from murmure.core.errors import MurmureError, Phrase
from murmure.core.types import Array, Engine, Total


def check_engine(engine: Any, batches: Callable[[], list[Array]]) -> None:
    """An engine returns the same integers however the rows are cut, keeps their order, and refuses to add up nobody.

    `run` and `estimate` add up with `total`; `sanitise` writes what `each` brings back.

    >>> import numpy as np
    >>> import murmure as mu
    >>> mu.check_engine(mu.Memory(), lambda: [np.arange(10), np.arange(5)])  # silent when all is well
    """

    def step(batch: Array) -> Total:
        return Total(len(batch), np.array([batch.sum(), (batch * batch).sum()], np.int64))

    require(isinstance(engine, Engine), engine, Phrase("is not an Engine: it lacks total, each or accepts"))
    parts = batches()
    whole = np.concatenate(parts)
    wanted = Total(len(whole), np.array([whole.sum(), (whole * whole).sum()], np.int64))
    for cut in (parts, [whole], parts[::-1], [whole[:1], whole[1:]]):
        got = engine.total(step, iter(cut))
        require(
            got.n == wanted.n and bool((got.sum == wanted.sum).all()),
            engine,
            Phrase("the total depends on the batches"),
        )
        made = list(engine.each(step, iter(cut)))
        require(
            [(part.n, *part.sum.tolist()) for part in made] == [(len(b), b.sum(), (b * b).sum()) for b in cut],
            engine,
            Phrase("the batches do not each come back once, in order"),
        )
    # Nobody must not be taken for a sum of zeros.
    try:
        engine.total(step, iter([]))
    except MurmureError:
        return
    raise CheckFailed("{engine!r}: added up no rows and raised no error", engine=engine)
