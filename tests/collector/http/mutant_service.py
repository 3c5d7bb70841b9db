"""`murmure` with a defect that tests of kills must find: python -m tests.collector.http.mutant_service DEFECT serve ...

late        a commit is written to the log when the next one comes
forgetful   tokens that were stored before the start are not known
"""

from __future__ import annotations

import sys

from murmure.cli import main
from murmure.collector.intake import report_log
from murmure.collector.intake.intake import Intake
from murmure.collector.intake.token_index import TokenIndex


def _late() -> None:
    real, waiting = report_log.write_all, [b""]

    def late(handle: int, data: bytes) -> None:
        real(handle, waiting.pop() or b"")
        waiting.append(data)

    report_log.write_all = late  # type: ignore[attr-defined]
    report_log.SEGMENT_BYTES = 1 << 40


def _forgetful() -> None:
    Intake._rebuild_index = lambda self, folder, end: (TokenIndex(), 0)  # type: ignore[assignment,method-assign]


if __name__ == "__main__":
    {"late": _late, "forgetful": _forgetful}[sys.argv.pop(1)]()
    main()
