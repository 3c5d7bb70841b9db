"""`script/faults collector`: one service under load over HTTP, killed many times, and what became of its reports."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.collector.http.killed_service import kill_often


def main() -> None:
    parser = argparse.ArgumentParser(prog="script/faults collector", description=__doc__.splitlines()[0])
    parser.add_argument("kills", type=int, nargs="?", default=50)
    parser.add_argument("--seed", type=int, default=0, help="of the moments; what the respondents send is random")
    options = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="murmure-faults-") as place:
        service, problems = kill_often(Path(place) / "surveys", options.kills, options.seed)
    ledger = service.ledger
    print(f"{ledger.kills} kills from seed {options.seed} in {time.monotonic() - begun:.0f} s:")
    print(f"{len(ledger.acknowledged):8,} reports were acknowledged")
    print(f"{ledger.resent:8,} requests were not answered, and were sent again after the next start")
    print(f"{len(problems):8,} problems: reports lost, stored twice or counted wrongly, and wrong answers")
    for problem in problems[:20]:
        print(f"  {problem}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
