"""Which parties were in each exact sum that a coordinator released: one file for all of its studies.

Q(everybody) - Q(everybody but one) is that one's own sum, and it happens by accident: a party is away, and the study is
asked again. So no exact sum is unmasked whose cohort, together with those of earlier releases of the same sum, would
isolate too few parties (study/cohort_guard.py). The number of rows comes with every exact question, and is a sum that
all of them have in common: so all cohorts are compared, however the questions are written. Sums whose noise hides a row
are not compared: their noise protects, and each party counts what it costs in all (party/spending.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from murmure.core.errors import Phrase
from murmure.parties.coordinator.store import META, Tables, check_version, coordinator_file, now
from murmure.parties.study.cohort_guard import ROW_COUNT, check_cohort, sum_names
from murmure.secure.errors import CohortRefused

if TYPE_CHECKING:
    from murmure.parties.study.document import Study

VERSION = "1"
RELEASED = "murmure_released"
TABLES: Tables = {
    META: {
        "key": ("TEXT PRIMARY KEY", "what is said about this file"),
        "value": ("TEXT NOT NULL", "version: that of these tables"),
    },
    RELEASED: {
        "question": ("TEXT NOT NULL", "SHA-256 of the sum that was asked for, without who takes part"),
        "study": ("TEXT NOT NULL", "the digest of the study"),
        "round": ("INTEGER NOT NULL", "which of its questions"),
        "at": ("TEXT NOT NULL", "when, in UTC; written before the sum was unmasked"),
        "cohort": ("TEXT NOT NULL", "the public keys of the parties in it, in order, as JSON"),
        "colluders": ("INTEGER NOT NULL", "so many parties at most that the study guards against"),
    },
}


class ReleaseLog:
    """A connection for every transaction: several studies of one coordinator may run at once."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._file = coordinator_file(self.path, TABLES)
        if not self._file.exists():
            self._file.make_whole({"version": VERSION})
        self._file.check_intact()
        self._file.check_pages()
        with self._file.reading() as run:
            check_version(self.path, self._file.facts(run), VERSION)

    def check(
        self,
        study: Study,
        round: int,
        cohort: Iterable[int],
        record: bool = False,
        released: Sequence[Sequence[int]] = (),
    ) -> None:
        """Refuse a cohort that differs from earlier ones by too few parties. record: it is about to be unmasked.

        released: the sums of the rounds before, from which this round's question follows. Check and record are one
        transaction, so that of two studies at once, one sees the other.
        """
        turn = study.turn(round, released)
        if turn is None or study.hides_rows[turn.question - 1]:
            return
        keys = sorted(study.roster[place].key.hex() for place in cohort)
        this_round = (study.digest.hex(), round)
        with self._file.writing() as run:
            for question in (ROW_COUNT, *sum_names(study.questions[turn.question - 1])):
                rows = run(
                    f'SELECT "study", "round", "cohort", "colluders" FROM "{RELEASED}" WHERE "question" = ?', question
                )
                others = [
                    (frozenset(json.loads(c)), int(colluders)) for s, r, c, colluders in rows if (s, r) != this_round
                ]
                try:
                    check_cohort(study, frozenset(keys), others)
                except CohortRefused as error:
                    raise CohortRefused(
                        "the sum of round {round} stays masked: {error}",
                        hint="wait for the same parties as before{detail}",
                        round=round,
                        error=str(error).splitlines()[0],
                        detail=Phrase(", or ask with noise") if study.questions[turn.question - 1].takes_noise else "",
                    ) from None
                if record and this_round not in {(s, r) for s, r, *_ in rows}:
                    values = (question, *this_round, now(), json.dumps(keys), study.sharing.colluders)
                    run(f'INSERT INTO "{RELEASED}" VALUES (?, ?, ?, ?, ?, ?)', *values)
