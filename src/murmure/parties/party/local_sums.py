"""A party's own sums: read strictly, before anything is sent.

A value outside its bound stops here, with the number of its row, and only its holder hears of it. That is so with noise
too: what a party says to others is its masked vector, whether or not it had to mend its rows first.
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
    """One question's sums over the own rows. Its noise is drawn when the vector is masked, and kept nowhere else."""

    plan: Plan
    rows: int
    exact: list[int] = field(repr=False)  # the number of rows and their sums: by these the same rows are known again
    values: list[int] = field(repr=False)  # what is to be summed, but for the noise

    @property
    def noisy(self) -> bool:
        return self.plan.curator is not None

    def drawn(self, key: bytes) -> list[int]:
        """With this party's share of the noise, which follows from a key of the round as its masks do.

        So a party whose file was put back to an earlier hour makes the same vector again, and no second one that would
        show the difference of two noises.
        """
        if not self.noisy:
            return self.values
        from murmure.central.base.gate import Gate
        from murmure.run.masked_sum import with_noise_share

        secret = Random.seeded(int.from_bytes(key, "little"))  # 256 bits that nobody else knows
        return with_noise_share(self.plan, self.values, Gate(secret))


class AllLocalSums(list[LocalSums]):
    """Of every question that is known beforehand; and the rows, for those that follow from the sums of all.

    The rows stay where they are, or in memory: they are read again for every later round. If a file has changed in the
    meantime, the difference of two rounds would tell about the rows that changed: it is noticed, and nothing is sent.
    """

    def __init__(self, known: Sequence[LocalSums], rows: Any, stamp: Any = None) -> None:
        super().__init__(known)
        self._rows, self._stamp = rows, stamp

    def later(self, plan: Plan) -> LocalSums:
        """Of a question that nobody knew when the study was joined."""
        found = _own_in_words(plan, self._rows)
        if any(one.rows != found.rows for one in self) or not self._unchanged():
            raise OtherRows(
                "the rows have changed since the study began: the difference of two rounds would tell about those that "
                "changed.",
                hint="nothing more was sent; keep a copy of the rows for as long as a study takes",
            )
        return found

    def _unchanged(self) -> bool:
        """By the stamp of the file; where that is another, or there is none, by the sums that are known."""
        if not isinstance(self._rows, str | os.PathLike):
            return True  # in memory, or held open
        now = _stamp_of(self._rows)
        if now is None or now != self._stamp:
            self._stamp = now
            return all(_own_in_words(one.plan, self._rows).exact == one.exact for one in self)
        return True


def _stamp_of(rows: Any) -> tuple[int, int, int] | None:
    """Of a file: another one, or one that was written to, has another. None: no file."""
    try:
        held = os.stat(rows)
    except (OSError, TypeError, ValueError):
        return None
    return (held.st_ino, held.st_size, held.st_mtime_ns) if stat.S_ISREG(held.st_mode) else None


def sums_for_plan(own: Sequence[LocalSums], plan: Plan) -> LocalSums:
    """Of this question, known or not."""
    for one in own:
        if one.plan is plan or one.plan.digest == plan.digest:
            return one
    if not isinstance(own, AllLocalSums):
        raise StoreFailed(
            "the rows of this party are needed for the next round.", hint="murmure party join with --rows"
        )
    return own.later(plan)


def compute_local_sums(study: Study, rows: Any) -> AllLocalSums:
    """Of every question that is known beforehand, checked against every bound that the parties agreed on.

    Columns that only a later round reads are read now too: a value that does not fit must stop this party before
    anything is sent, since all would see that it stopped later.
    """
    stamp = _stamp_of(rows)
    out = AllLocalSums([_own_in_words(question.plan, rows) for question in study.questions], rows, stamp)
    for plan in _of_later_columns(study):
        _own_in_words(plan, rows)
    return out


def _of_later_columns(study: Study) -> Iterator[Plan]:
    """For each column that a model reads in a later round alone, a question that reads it, and that nobody asks."""
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


def _own_in_words(plan: Plan, rows: Any) -> LocalSums:
    try:
        return _own(plan, rows)
    except MurmureError as error:
        raise explain_row_error(error, rows) from None


def _own(plan: Plan, rows: Any) -> LocalSums:
    from murmure.run.masked_sum import party_sum

    clear = replace(plan, person=None, curator=None)
    found = party_sum(clear, rows)
    exact = [int(v) for v in found.values]
    clear.encoder.encode(exact)  # refuses a sum beyond its bound now
    if plan.curator is not None:
        values = exact[1:]  # where noise hides how many rows there are, they are not sent either
    elif plan.person is not None:
        values = [int(v) for v in party_sum(plan, rows).values]
    else:
        values = exact
    return LocalSums(plan, found.rows, exact, values)
