"""For tests of others: a randomiser that reveals more than it claims fails the test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from murmure.attacks.audits.audit import audit
from murmure.attacks.audits.audit_result import AuditResult

if TYPE_CHECKING:
    from murmure.core.random import Random


def assert_private(
    randomiser: Any,
    epsilon: float | None = None,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    *,
    delta: float | None = None,
    samples: int | None = None,
    alpha: float = 0.01,
    rng: Random | None = None,
    batched: bool = False,
    fresh: bool = False,
    time_limit: float = 10.0,
    allow_no_statement: bool = False,
) -> AuditResult:
    """Audit a randomiser as `murmure.audit` does; raise AssertionError, with the audit's text, where it fails.

    It fails where the audit says "violates", and where it makes no statement, unless that is allowed. A correct
    randomiser fails with probability at most alpha; pass a seeded rng, and seed the randomiser, for the same samples in
    every run.

    >>> import random
    >>> from murmure.testing import assert_private
    >>> import murmure as mu
    >>> dice = random.Random(7)
    >>> def answer(yes):
    ...     return yes if dice.random() < 0.5 else dice.random() < 0.5
    >>> result = assert_private(answer, epsilon=1.1, pairs=[(False, True)], samples=4000, rng=mu.Random.seeded(7))
    >>> print(result.verdict)
    consistent
    >>> try:
    ...     assert_private(answer, epsilon=0.5, pairs=[(False, True)], samples=4000, rng=mu.Random.seeded(7))
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[0])
    Audit of answer: violates
    """
    result = audit(
        randomiser,
        epsilon,
        pairs,
        delta=delta,
        samples=samples,
        alpha=alpha,
        rng=rng,
        batched=batched,
        fresh=fresh,
        time_limit=time_limit,
    )
    if result.verdict == "violates" or (result.verdict == "no statement" and not allow_no_statement):
        raise AssertionError(str(result.summary("en")))
    return result
