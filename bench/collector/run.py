"""The collector as it is served: reports a second, what results cost, memory, and the answering page on a telephone.

Load generator and service share this machine's processors and its loopback. Every report is on the disk (fdatasync)
before it is acknowledged, every token is checked, and folding goes on meanwhile. Each part has a folder and a process
of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from dashboard import Looks
from environments import PLACE, versions
from load import Measured, load
from machine import Machine, cpu, say, trend
from rows import render
from service import COMMAND, GRANIAN, Service, serving
from surveys import BATCH, batches, open_surveys, singles

from murmure.collector.pages.static_files import release

RATE, BATCH_RATE = 2000, 50_000  # reports a second: single ones, and in batches
LINES, BATCH_LINES = 64, 8  # connections
STORED = 1_000_000  # reports before anybody looks at the dashboard
LOOKED_AT = 1000  # single reports a second meanwhile
TOKEN_BYTES = 52  # of memory that a stored report takes for good: its token, which must not send another one
RAW, TEXT = PLACE / "collector.json", Path(__file__).with_name("results.md")
PARTS: dict[str, Callable[[Bench], None]] = {}


class Bench:
    """One run: its options, and what it has measured."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.seconds = 5.0 if options.quick else 20.0
        self.stored = STORED // 10 if options.quick else STORED
        self.soak_minutes: float = options.minutes
        self.command, self.server = COMMAND, ""
        self.records: list[dict[str, Any]] = []

    def note(self, task: str, machine: Machine, **values: Any) -> None:
        record = {"task": task + self.server, "load": machine.load, "others": machine.others, **values}
        self.records.append(record)
        say(json.dumps(record))

    def measure(
        self, task: str, service: Service, pool: Any, lines: int, seconds: float, rate: float | None = None, **more: Any
    ) -> Measured:
        """One load, and the wait until the tallies have caught up with it."""
        counted = service.counted()
        with Machine() as machine:
            cpu_before = service.cpu_seconds
            out = load(service.host, service.port, pool, lines, seconds, rate, **more)
            lag = service.seconds_until_counted(counted + out.reports)
            seconds_of_cpu = service.cpu_seconds - cpu_before
        self.note(
            task,
            machine,
            per_second=out.per_second,
            p50=out.milliseconds(0.5),
            p99=out.milliseconds(0.99),
            slowest=out.milliseconds(1),
            refused=sum(out.refused.values()) + out.lost,
            cpu=1e6 * seconds_of_cpu / max(1, out.reports),
            lag=lag,
            seconds=out.seconds,
            reports=out.reports,
        )
        return out

    @contextmanager
    def served(self, task: str, folder: Path, surveys: dict[str, Any]) -> Iterator[Service]:
        """Served, and warmed up with a few reports; the peak of memory is noted."""
        with serving(folder, self.command) as service, Machine() as machine:
            held = service.counted()  # a service that has stopped has counted all that it stored
            warm = load(service.host, service.port, singles(folder, surveys["open link"], 500), 8, 5)
            service.seconds_until_counted(held + warm.reports)  # else these would seem to be those of the first load
            yield service
            peak, counted = service.peak, service.counted()
        self.note(f"memory.{task}", machine, megabytes=peak, reports=counted)


@contextmanager
def new_folder() -> Iterator[tuple[Path, dict[str, Any]]]:
    """A folder with open surveys."""
    with tempfile.TemporaryDirectory(prefix="murmure-bench-") as place:
        folder = Path(place) / "surveys"
        yield folder, open_surveys(folder)


def part(function: Callable[[Bench], None]) -> Callable[[Bench], None]:
    PARTS[function.__name__] = function
    return function


@part
def single(bench: Bench) -> None:
    """Single reports, by one-time links and by an open link."""
    with new_folder() as (folder, surveys), bench.served("single", folder, surveys) as service:
        for task in ("one-time links", "open link"):
            record = surveys[task]
            at_most = singles(folder, record, int(12_000 * bench.seconds / 2))
            bench.measure(f"single.most.{task}", service, at_most, LINES, bench.seconds / 2)
            bench.measure(
                f"single.rate.{task}",
                service,
                singles(folder, record, int(RATE * bench.seconds)),
                LINES,
                bench.seconds,
                RATE,
            )


@part
def batch(bench: Bench) -> None:
    """Batches of 1,000 on an open link."""
    with new_folder() as (folder, surveys), bench.served("batch", folder, surveys) as service:
        record = surveys["open link"]
        pool = batches(folder, record, int(BATCH_RATE * bench.seconds))
        bench.measure("batch.rate", service, pool, BATCH_LINES, bench.seconds, BATCH_RATE / BATCH)
        pool = batches(folder, record, int(120_000 * bench.seconds / 4))
        bench.measure("batch.most", service, pool, BATCH_LINES // 2, bench.seconds / 4)


@part
def stored(bench: Bench) -> None:
    """A million reports to ten questions: the dashboard while reports come in, and a restart."""
    with new_folder() as (folder, surveys):
        record = surveys["ten questions"]
        with bench.served("stored", folder, surveys) as service:
            pool = batches(folder, record, bench.stored)
            bench.measure("ten.batch", service, pool, BATCH_LINES // 2, 600)
            _dashboard(bench, service, record, "ten.dashboard")
        with Machine() as machine, serving(folder, bench.command) as service:
            peak, processor = service.peak, service.cpu_seconds
        bench.note("ten.start", machine, seconds=service.started, megabytes=peak, processor=processor)
        with bench.served("restart", folder, surveys) as service:
            _dashboard(bench, service, record, "ten.dashboard after a restart")


def _dashboard(bench: Bench, service: Service, record: Any, task: str) -> None:
    looks = Looks()

    async def look(over: asyncio.Event) -> None:
        await looks.take(service.host, service.port, record.id, over)

    pool = singles(service.folder, record, int(LOOKED_AT * bench.seconds))
    with Machine() as machine:
        bench.measure(f"{task}, reports", service, pool, LINES, bench.seconds, LOOKED_AT, beside=look)
    for kind in ("changed", "unchanged", "whole"):
        times = sorted(getattr(looks, kind))
        if not times:
            raise RuntimeError(f"nobody saw the dashboard {kind}")
        p50, p95 = (times[int(share * len(times))] for share in (0.5, 0.95))
        bench.note(f"{task}, {kind}", machine, p50=p50, p95=p95, slowest=times[-1], looks=len(times))


@part
def page(bench: Bench) -> None:
    """The answering page on a telephone."""
    from telephone import SLOW, SLOWEST, TRIES, telephones

    with new_folder() as (folder, surveys), bench.served("page", folder, surveys) as service, telephones() as ask:
        plain = f"{service.url}/s/{surveys['open link'].id}"
        with Machine() as machine:
            size, files = ask("weight", plain)
        bench.note("page.weight", machine, bytes=size, files=files)
        for profile, task in ((SLOW, "page.slow"), (SLOWEST, "page.slowest")):
            with Machine() as machine:
                times = sorted(ask("ready", plain, profile) for _ in range(TRIES))
            bench.note(task, machine, p50=times[len(times) // 2], slowest=times[-1], profile=profile.name)
        many = surveys["1,000 options"]
        address = f"{service.url}/s/{many.id}", f"/v/{release()}", many.id
        for task, slower in (("page.draw", SLOWEST), ("page.draw, not slowed down", None)):
            with Machine() as machine:
                visits = [ask("draws", *address, slower) for _ in range(TRIES)]
            times = sorted(time for visit in visits for time in visit)
            first = sorted(visit[0] for visit in visits)[TRIES // 2]
            bench.note(task, machine, first=first, p50=times[len(times) // 2], slowest=times[-1], times=len(times))


def granian(bench: Bench) -> None:
    """The same app on the other server, for comparison."""
    bench.command, bench.server = GRANIAN, ", granian"
    for comparable in (single, batch):
        comparable(bench)
    bench.command, bench.server = COMMAND, ""


def soak(bench: Bench) -> None:
    """Half of the load for minutes: memory must stay as it is."""
    with new_folder() as (folder, surveys), bench.served("soak", folder, surveys) as service:
        record = surveys["one-time links"]
        memory: list[tuple[float, float]] = []  # minutes, megabytes
        rate = RATE / 2

        async def watch(over: asyncio.Event) -> None:
            begun = asyncio.get_running_loop().time()
            while not over.is_set():
                memory.append(((asyncio.get_running_loop().time() - begun) / 60, service.memory))
                await asyncio.sleep(5)

        pool = singles(folder, record, int(rate * 60 * bench.soak_minutes))
        with Machine() as machine:
            bench.measure("soak.rate", service, pool, LINES, 60 * bench.soak_minutes, rate, beside=watch)
        settled = [(at, megabytes) for at, megabytes in memory if at >= memory[-1][0] / 10]  # caches are full by then
        bench.note(
            "soak.memory",
            machine,
            slope=(slope := trend(settled)),
            unexplained=slope - 60 * rate * TOKEN_BYTES / 1e6,
            start=settled[0][1],
            end=settled[-1][1],
            minutes=memory[-1][0],
            curve=[round(megabytes, 1) for _, megabytes in memory[::12]],
        )


def head() -> str:
    ours = versions(sys.executable, ["murmure", "uvicorn", "httptools", "uvloop", "msgspec", "numpy"])
    return f"""\
# The collector, measured as it is served

Written by `script/bench collector`; do not edit.

- {datetime.now(UTC):%d %B %Y}
- {cpu()}, {len(os.sched_getaffinity(0))} cores used
- Python {platform.python_version()}, {", ".join(ours)}

"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="script/bench collector", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a quarter of the time, a tenth of the stored reports")
    parser.add_argument("--only", metavar="PART,PART", help=f"of {', '.join(PARTS)}; the rest stays as it was measured")
    parser.add_argument("--soak", action="store_true", help="half of the load for ten minutes too")
    parser.add_argument("--minutes", type=float, default=10, help="of --soak")
    parser.add_argument("--granian", action="store_true", help="the same app on granian too (pip install granian)")
    options = parser.parse_args()
    chosen = [name for name in (options.only or ",".join(PARTS)).split(",") if name]
    if unknown := set(chosen) - set(PARTS) - {"none"}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    parts = [(name, PARTS[name]) for name in chosen if name != "none"]
    parts += [("granian", granian)] * options.granian + [("soak", soak)] * options.soak
    held: dict[str, Any] = json.loads(RAW.read_text()) if RAW.is_file() else {}
    failed = []
    for name, measure in parts:
        say(f"{name}: {(measure.__doc__ or '').strip()}")
        bench = Bench(options)
        try:
            measure(bench)
        except Exception as error:  # the other parts are measured all the same
            say(f"{name} failed: {type(error).__name__}: {error}")
            failed.append(name)
        else:
            held[name] = bench.records
            PLACE.mkdir(exist_ok=True)
            RAW.write_text(json.dumps(held, indent=1))
    text, missed = render([record for records in held.values() for record in records])
    TEXT.write_text(head() + text)
    print(text)
    for name in failed:
        say(f"{name} failed")
    sys.exit(1 if failed or missed else 0)


if __name__ == "__main__":
    main()
