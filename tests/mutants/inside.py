"""What runs inside a checkout: pytest on chosen tests, which says on a file where it is. Started as a script, with a
job.

A job is JSON: `files` to collect, `tests` to run in this order (all if null), `slow` (which tests, by their mark),
`status`, the file with one line per test that starts, `out`, the file for what was found, and for a map `coverage`, a
configuration file.

Nothing of the project is imported here but what its tests import.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

TEST = "MURMURE_MUTANTS_TEST"  # the test that started a process: the context of what the process runs


START = "COVERAGE_PROCESS_START"
MAPPING = Path(".mapping").absolute()  # the same variables, for Pythons that inherit no environment (checkout.py)


class Inside:
    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.durations: dict[str, float] = defaultdict(float)
        self.outcomes: dict[str, str] = {}
        self.why: dict[str, str] = {}
        self.coverage: Any = None
        self.status = open(job["status"], "a", buffering=1, encoding="utf-8")  # noqa: SIM115 - open while pytest runs

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        if self.job["tests"] is not None:
            order = {nodeid: place for place, nodeid in enumerate(self.job["tests"])}
            kept = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])
        else:
            kept = [item for item in items if bool(item.get_closest_marker("slow")) == self.job["slow"]]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        print(f"+{nodeid}", file=self.status)
        self._context(nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        print(f"-{nodeid}", file=self.status)
        self._context("")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Any:
        """What several tests share counts for every test of the file, not only for the one that came first."""
        if fixturedef.scope == "function" or not self.coverage:
            return (yield)
        test = os.environ.get(TEST, "")
        self._context("")
        try:
            return (yield)
        finally:
            self._context(test)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.durations[report.nodeid] += report.duration
        if report.outcome != "passed":
            self.outcomes[report.nodeid] = report.outcome
            if report.outcome == "failed":
                crash = getattr(report.longrepr, "reprcrash", None)
                self.why[report.nodeid] = str(crash.message if crash else report.longrepr)[:500]
        else:
            self.outcomes.setdefault(report.nodeid, "passed")

    def pytest_collectreport(self, report: Any) -> None:
        if report.outcome == "failed":
            self.why[report.nodeid] = "not collected: " + str(report.longrepr)[-500:]

    def _context(self, test: str) -> None:
        if self.coverage:
            os.environ[TEST] = test
            MAPPING.write_text(f"{START}={self.job['coverage']}\n{TEST}={test}\n")
            self.coverage.switch_context(test)

    def run(self) -> int:
        arguments = [
            *self.job["files"],
            "-q",
            "-m",
            "",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            f"--basetemp={self.job['temp']}",
        ]
        if self.job["coverage"] is None:
            code = pytest.main([*arguments, "-x"], plugins=[self])
            lines = None
        else:
            import coverage

            self.coverage = coverage.Coverage(config_file=self.job["coverage"])
            self.coverage.start()
            os.environ[START] = self.job["coverage"]
            try:
                code = pytest.main(arguments, plugins=[self])
            finally:
                del os.environ[START]
                MAPPING.unlink(missing_ok=True)
                self.coverage.stop()
            self.coverage.save()
            lines = lines_by_test(self.job["coverage"])
        found = {
            "code": int(code),
            "durations": self.durations,
            "outcomes": self.outcomes,
            "why": self.why,
            "lines": lines,
        }
        Path(self.job["out"]).write_text(json.dumps(found))
        return 0


def lines_by_test(config: str) -> dict[str, dict[str, list[str]]]:
    """For every file, each line's tests; the test is empty for what ran outside of tests."""
    import coverage

    together = coverage.Coverage(config_file=config)
    together.combine()
    data = together.get_data()
    return {
        os.path.relpath(path): {
            str(line): sorted(tests) for line, tests in data.contexts_by_lineno(path).items() if line > 0
        }
        for path in data.measured_files()
    }


if __name__ == "__main__":
    sys.path[0] = os.getcwd()  # as `python -m pytest` has it
    sys.exit(Inside(json.loads(Path(sys.argv[1]).read_text())).run())
