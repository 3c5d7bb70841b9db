"""A campaign: the map, then every mutant of the sample, by two workers; results are kept as soon as they are known."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import queue
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from tests.mutants.checkout import Checkout, tree_digest
from tests.mutants.coverage_map import CoverageMap, test_files
from tests.mutants.mutants import Mutant, digest_of, source_files
from tests.mutants.processes import Job as ProcessJob
from tests.mutants.processes import Outcome, Processes, Stopped
from tests.mutants.selection import Selection

FOUND = ("found", "timeout")
SLACK, TIMES = (
    60.0,
    10.0,
)  # a test may take so many seconds, and so many times what it took, before it counts as hanging


@dataclass(frozen=True)
class Result:
    """verdict: found, timeout, survived, uncovered; test: what found it; suite: which tests and sources were asked."""

    digest: str
    verdict: str
    path: str
    line: int
    scope: str
    operator: str
    was: str
    becomes: str
    test: str = ""
    why: str = ""
    tests: int = 0
    seconds: float = 0.0
    suite: str = ""


class Results:
    """Lines of JSON, one per mutant that was judged; the last one counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, Result] = {}
        self._lock = threading.Lock()
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            with contextlib.suppress(json.JSONDecodeError, TypeError):  # cut short by a crash
                result = Result(**json.loads(line))
                self.known[result.digest] = result

    def add(self, result: Result) -> None:
        with self._lock:
            self.known[result.digest] = result
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(result)) + "\n")

    def of(self, mutant: Mutant, suite: str, tests: set[str]) -> Result | None:
        """What is known of the mutant. A test that found it is taken at its word while it exists; what none found is
        true of
        the tests that were asked, and tried anew when there are others."""
        result = self.known.get(mutant.digest)
        if result is None or (result.verdict not in FOUND and result.suite != suite):
            return None
        return None if result.test.partition("::")[0] not in tests | {""} else result


@dataclass
class Campaign:
    root: Path
    tests: Sequence[str] = ("tests",)
    with_slow: bool = True
    covering_only: bool = False
    most: float = math.inf  # seconds of tests that run a mutant's line; what none of these finds has survived
    old_map: bool = False
    workers: int = 2
    cache: Path | None = None
    processes: Processes = field(default_factory=Processes)

    def __post_init__(self) -> None:
        self.root = self.root.resolve()
        self.cache = self.cache or self.root / ".cache" / "mutants"
        (self.package,) = [path.parent for path in sorted((self.root / "src").glob("*/__init__.py"))]
        self.source = self.package.relative_to(self.root).as_posix()
        # The tests of this tool would start campaigns inside of campaigns.
        self.files = [file for file in test_files(self.root, self.tests) if not file.startswith("tests/mutants/")]
        self.map = CoverageMap(self.root, self.source, self.cache / "map")
        self.results = Results(self.cache / "results.jsonl")
        how = f"{self.with_slow} {self.covering_only} {self.most} {' '.join(self.files)}"
        self.suite = digest_of(tree_digest(self.root, self.source, "tests"), how)[:16]
        self.unsteady: dict[str, str] = {}  # tests that failed with a mutant, but not because of it
        self._checkouts: list[Checkout] = []

    @cached_property
    def selection(self) -> Selection:
        return Selection(self.map, source_files(self.root, self.package))

    def __enter__(self) -> Self:
        assert self.cache is not None
        self.cache.mkdir(parents=True, exist_ok=True)
        self._lock = (self.cache / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise RuntimeError(f"Another campaign is running in {self.root}: wait until it has ended.") from None
        return self

    def __exit__(self, *_: object) -> None:
        """No process, no checkout; what was found out stays."""
        for checkout in self._checkouts:
            checkout.remove()
        assert self.cache is not None
        for left in self.cache.glob("worker-*"):
            shutil.rmtree(left, ignore_errors=True)
        self._lock.close()

    def missing_parts(self) -> list[tuple[str, bool]]:
        """Files of tests that the map does not know yet: first all quick tests, then the slow ones."""
        found = [(file, False) for file in self.map.missing(self.files, slow=False, old=self.old_map)]
        if self.with_slow:
            marked = [file for file in self.files if "slow" in (self.root / file).read_text(encoding="utf-8")]
            found += [(file, True) for file in self.map.missing(marked, slow=True, old=self.old_map)]
        return found

    def make_map(self, parts: list[tuple[str, bool]]) -> Iterator[str]:
        for (file, _), _ in self._share(parts, lambda part, checkout: self.map.make(*part, checkout, self.processes)):
            yield file

    def unknown(self, mutants: Sequence[Mutant]) -> list[Mutant]:
        files = set(self.files)
        return [mutant for mutant in mutants if self.results.of(mutant, self.suite, files) is None]

    def judge(self, mutants: Sequence[Mutant]) -> Iterator[Result]:
        """Each mutant's result, in the order in which they are known. First of all, tests must pass without any
        mutant."""
        self._control = threading.Lock()
        self._controlled = False
        for _, result in self._share(mutants, self._judge):
            self.results.add(result)
            yield result

    def _judge(self, mutant: Mutant, checkout: Checkout) -> Result:
        began, tried = time.monotonic(), 0
        make = self._maker(mutant)
        covered = bool(self.selection.covering(mutant))
        for tests in self.selection.stages(mutant, self.covering_only, self.most):
            tests = [test for test in tests if test not in self.unsteady]
            if tests:
                with self._control:
                    if not self._controlled:
                        self._run_control(tests, checkout)
            while tests:
                outcome = self._run(tests, checkout, mutant)
                tried += len(tests)
                if outcome.code in (0, 5):
                    break
                if self._confirmed(outcome, tests, checkout, mutant):
                    verdict = "timeout" if outcome.code is None else "found"
                    why = "" if outcome.code is None else outcome.why.get(outcome.failed) or outcome.output[-500:]
                    return make(verdict, test=outcome.failed, why=why, tests=tried, seconds=time.monotonic() - began)
                self.unsteady[outcome.failed] = "failed with a mutant, and then not alone"
                tests = tests[tests.index(outcome.failed) + 1 :]
        return make("survived" if covered else "uncovered", tests=tried, seconds=time.monotonic() - began)

    def _run(self, tests: list[str], checkout: Checkout, mutant: Mutant | None, patience: float = 0.0) -> Outcome:
        with checkout.with_mutant(mutant) as kernels:
            return self.processes.run(checkout, self._job(tests, patience), kernels)

    def _confirmed(self, outcome: Outcome, tests: list[str], checkout: Checkout, mutant: Mutant) -> bool:
        """The test that failed passes alone without the mutant, at this moment, and fails again with it. Else a full
        disk or a busy machine would find mutants."""
        failed = outcome.failed
        alone = [failed] if failed in tests else [test for test in tests if test.startswith(failed)][:1] or tests[:1]
        control = self._run(alone, checkout, None)
        if control.code != 0:
            self._run_control(tests[: tests.index(alone[0]) + 1], checkout)  # as it ran, it passes: or all is broken
        else:
            hung = outcome.code is None and outcome.waited > TIMES * control.seconds
            if hung or self._run(alone, checkout, mutant, TIMES * control.seconds).code not in (0, 5):
                return True
        if failed not in tests:
            raise RuntimeError(f"With a mutant, pytest ended early, and then it did not:\n{outcome.output}")
        return False

    def _run_control(self, tests: list[str], checkout: Checkout) -> None:
        """Without a mutant the first tests must pass in the very same way: else every mutant would seem to be found."""
        outcome = self._run(tests, checkout, None)
        if outcome.code != 0:
            raise RuntimeError(f"Without any mutant, {outcome.failed} fails in the checkout:\n{outcome.output}")
        self._controlled = True

    def _job(self, tests: list[str], patience: float = 0.0) -> ProcessJob:
        """patience: so many seconds at least, for each test and until the first one."""
        seconds = self.map.tests(lambda part: set(part.durations))
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        limit = lambda test: max(patience, SLACK + TIMES * seconds.get(test, 0.0))  # noqa: E731
        return ProcessJob(files, tests, limit=limit, patience=patience)

    def _maker(self, mutant: Mutant) -> Callable[..., Result]:
        def make(verdict: str, seconds: float, **known: Any) -> Result:
            return Result(
                mutant.digest, verdict, mutant.path, mutant.line, mutant.scope, mutant.replacement.operator,
                mutant.was, mutant.becomes, seconds=round(seconds, 2), suite=self.suite, **known,
            )  # fmt: skip

        return make

    def _share(self, tasks: Sequence[Any], work: Callable[[Any, Checkout], Any]) -> Iterator[tuple[Any, Any]]:
        """Tasks and what came of them, as it comes. Ends all processes when the caller stops or one fails."""
        waiting, done = queue.SimpleQueue[Any](), queue.SimpleQueue[Any]()
        for task in tasks:
            waiting.put(task)

        def worker(checkout: Checkout) -> None:
            with contextlib.suppress(Stopped, queue.Empty):
                while not self.processes.stop.is_set():
                    task = waiting.get_nowait()
                    try:
                        done.put((task, work(task, checkout), None))
                    except Stopped:
                        raise
                    except BaseException as error:
                        done.put((task, None, error))
                        return

        checkouts = self._checkouts_for(min(self.workers, len(tasks)))
        threads = [threading.Thread(target=worker, args=(checkout,)) for checkout in checkouts]
        try:
            for thread in threads:
                thread.start()
            for _ in tasks:
                task, result, error = done.get()
                if error is not None:
                    raise error
                yield task, result
        except BaseException:
            self.processes.stop.set()
            raise
        finally:
            for thread in threads:
                thread.join()

    def _checkouts_for(self, count: int) -> list[Checkout]:
        assert self.cache is not None
        while len(self._checkouts) < count:
            number = len(self._checkouts) + 1
            self._checkouts.append(
                Checkout(self.root, self.cache / f"worker-{number}", self.cache / f"kernels-{number}")
            )
        return self._checkouts[:count]
