"""A party's own sums: read strictly, before anything is sent.

A value outside its bound stops here, with the number of its row, and only its holder learns of it. That is so with
noise too: others get the masked vector, and cannot see whether rows had to be corrected first.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from murmure.core.errors import MurmureError
from murmure.core.random import Random
from murmure.parties.party.refusals import OtherRows, StoreFailed
from murmure.parties.party.row_errors import explain_row_error

if TYPE_CHECKING:
    from murmure.parties.study.document import Study
    from murmure.plan.plan import Plan


@dataclass(frozen=True)
class LocalSums:
    """One question's sums over this party's rows. Its noise is drawn when the vector is masked, and never stored."""

    plan: Plan
    rows: int
    exact: list[int] = field(repr=False)  # the number of rows and their sums: the same rows are recognised by these
    values: list[int] = field(repr=False)  # what is to be summed, without the noise

    @property
    def noisy(self) -> bool:
        return self.plan.curator is not None

    def with_noise(self, key: bytes) -> list[int]:
        """With this party's share of the noise, which follows from a key of the round as its masks do.

        So a party whose file was restored from an older copy makes the same vector again, and not a second one that
        would reveal the difference of two noises.
        """
        if not self.noisy:
            return self.values
        from murmure.central.base.gate import Gate
        from murmure.run.masked_sum import with_noise_share

        secret = Random.seeded(int.from_bytes(key, "little"))  # 256 bits that nobody else knows
        return with_noise_share(self.plan, self.values, Gate(secret))


class AllLocalSums(list[LocalSums]):
    """The sums of every question that is known in advance; and the rows, for questions that follow from released sums.

    The rows stay where they are, or in memory: they are read again for every later round. If a file has changed in the
    meantime, the difference of two rounds would reveal the rows that changed: this is detected, and nothing is sent.
    """

    def __init__(self, known: Sequence[LocalSums], rows: Any, stamp: Any = None) -> None:
        super().__init__(known)
        self._rows, self._stamp = rows, stamp

    def for_later_round(self, plan: Plan) -> LocalSums:
        """The sums of a question that nobody knew when the study was joined."""
        local_sum = _sums_in_words(plan, self._rows)
        if any(known.rows != local_sum.rows for known in self) or not self._unchanged():
            raise OtherRows(
                "the rows have changed since the study began: the difference between two rounds would reveal the "
                "rows that changed.",
                hint="nothing more was sent; keep a copy of the rows for the whole study",
            )
        return local_sum

    def _unchanged(self) -> bool:
        """By the stamp of the file; if that differs, or there is none, by the sums that are known."""
        if not isinstance(self._rows, str | os.PathLike):
            return True  # in memory, or held open
        now = _stamp_of(self._rows)
        if now is None or now != self._stamp:
            self._stamp = now
            return all(_sums_in_words(known.plan, self._rows).exact == known.exact for known in self)
        return True


def _stamp_of(rows: Any) -> tuple[int, int, int] | None:
    """What identifies a file and its last change. None: not a file."""
    try:
        status = os.stat(rows)
    except (OSError, TypeError, ValueError):
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def sums_for_plan(known: Sequence[LocalSums], plan: Plan) -> LocalSums:
    """The sums of this question, computed now if they are not known."""
    for local_sum in known:
        if local_sum.plan is plan or local_sum.plan.digest == plan.digest:
            return local_sum
    if not isinstance(known, AllLocalSums):
        raise StoreFailed(
            "the rows of this party are needed for the next round.", hint="murmure party join with --rows"
        )
    return known.for_later_round(plan)


def compute_local_sums(study: Study, rows: Any) -> AllLocalSums:
    """The sums of every question that is known in advance, checked against every bound that the parties agreed on.

    Columns that only a later round reads are read now too: a value that does not fit must stop this party before
    anything is sent, since everybody would see it stop later.
    """
    # Taken before the rows are read: a change while they are read is noticed later.
    stamp = _stamp_of(rows)
    out = AllLocalSums([_sums_in_words(question.plan, rows) for question in study.questions], rows, stamp)
    for plan in _plans_of_later_columns(study):
        _sums_in_words(plan, rows)
    return out


def _plans_of_later_columns(study: Study) -> Iterator[Plan]:
    """For each column that a model only reads in later rounds, a plan that reads it; nobody asks it."""
    from murmure.plan.plan import Plan
    from murmure.statistics.count import Count

    models = [question for question in study.questions if question.model is not None]
    read: set[tuple[str, Any]] = set()
    for question in models:
        first: Any = question.plan.statistic.domain
        read |= {(name, first[name]) for name in first.private}
    for question in models:
        for name in question.domain.private:
            if (name, question.domain[name]) not in read:
                read.add((name, question.domain[name]))
                yield Plan(Count(question.domain[name]), parties=study.sharing)


def _sums_in_words(plan: Plan, rows: Any) -> LocalSums:
    try:
        return _sums(plan, rows)
    except MurmureError as error:
        raise explain_row_error(error, rows) from None


def _sums(plan: Plan, rows: Any) -> LocalSums:
    from murmure.run.masked_sum import party_sum

    exact_plan = replace(plan, person=None, curator=None)
    total = party_sum(exact_plan, rows)
    exact = [int(v) for v in total.values]
    exact_plan.encoder.encode(exact)  # refuses a sum beyond its bound now
    if plan.curator is not None:
        values = exact[1:]  # noise hides the number of rows too, so that is not sent
    elif plan.person is not None:
        values = [int(v) for v in party_sum(plan, rows).values]
    else:
        values = exact
    return LocalSums(plan, total.rows, exact, values)
