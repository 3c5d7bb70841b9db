"""The same app on granian, for comparison: started as `murmure serve` is, as far as the bench needs it.

granian serves from a child process, whose number is in the line that it prints. What `murmure serve` adds to its server
(limits of time and of connections, an orderly stop) is missing here: this is no way to serve surveys.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

FOLDER, PORT = "MURMURE_BENCH_FOLDER", "MURMURE_BENCH_PORT"


def make() -> Any:
    from murmure.collector.http.app import make_app
    from murmure.collector.service.collector import Collector

    app = make_app(Collector(Path(os.environ[FOLDER])))
    print(json.dumps({"url": f"http://127.0.0.1:{os.environ[PORT]}", "pid": os.getpid()}), flush=True)
    return app


def main() -> None:
    from granian import Granian
    from granian.constants import Interfaces, Loops

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ |= {FOLDER: sys.argv[sys.argv.index("--folder") + 1], PORT: str(port)}
    Granian(
        f"{Path(__file__).stem}:make",
        address="127.0.0.1",
        port=port,
        interface=Interfaces.ASGINL,
        loop=Loops.uvloop,
        factory=True,
        log_enabled=False,
        working_dir=Path(__file__).parent,
    ).serve()


if __name__ == "__main__":
    main()
