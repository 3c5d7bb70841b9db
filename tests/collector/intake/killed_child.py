"""A process that takes reports and tells each acknowledgement, until somebody kills it.

    python -m tests.collector.intake.killed_child FOLDER FIRST_NUMBER SEED [late]

Each line that it prints is the number of a report that was acknowledged. late: a mutant, which writes a commit to the
log when the next one comes.
"""

from __future__ import annotations

import os
import random
import sys
import threading
from pathlib import Path

from tests.collector.intake.intakes import Answer, arrival, tally

from murmure.collector.intake import report_log
from murmure.collector.intake.arrival import Outcome
from murmure.collector.intake.intake import Intake

SEGMENT_BYTES = 30_000  # some tens of commits: segments begin and are deleted all the time


def main(folder: str, first: str, seed: str, mutant: str = "") -> None:
    if mutant == "late":
        _write_late()
    intake = Intake(Path(folder), tally, segment_bytes=1 << 30 if mutant else SEGMENT_BYTES)
    for thread in range(3):
        start = int(first) + 1_000_000 * thread
        threading.Thread(target=_send, args=(intake, start, random.Random(f"{seed} {thread}"))).start()


def _send(intake: Intake, number: int, generator: random.Random) -> None:
    while True:
        size = generator.choice((1, 1, 2, 5, 30, 100))
        numbers = list(range(number, number + size))
        if number % 1_000_000 > 500:  # some are sent a second time
            numbers += generator.sample(range(number - 400, number), 3)
        number += size
        answer = Answer()

        def done(outcomes: list[Outcome] | Exception, numbers: list[int] = numbers, answer: Answer = answer) -> None:
            if isinstance(outcomes, list):
                assert Outcome.SPENT not in outcomes
                os.write(1, b"".join(b"%d\n" % k for k in numbers))
            answer(outcomes)

        intake.submit([arrival(k) for k in numbers], done)
        answer.get()


def _write_late() -> None:
    real, waiting = report_log.write_all, [b""]

    def late(handle: int, data: bytes) -> None:
        real(handle, waiting.pop() or b"")
        waiting.append(data)

    report_log.write_all = late  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(*sys.argv[1:])
