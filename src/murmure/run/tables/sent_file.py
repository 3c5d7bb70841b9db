"""Reports in a JSON file, each as it was sent (plan/sent_reports.py), with the plan that they answer.

    {"murmure_reports": 1, "plan": the plan, "reports": [0, 2, 1, ...]}

and "seeded": true at the end where a seed made them. The keys are in this order, which is also the alphabet's, so the
plan is known before the first report, and a file of a million reports is written and read piece by piece. Every report
is checked against the law of the plan. That a device drew it by this law nobody can check, so the release says that the
randomness came from outside.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from murmure.core.errors import InvalidParameter, MurmureError, Phrase, PlanMismatch, shorten
from murmure.plan.plan import Plan
from murmure.plan.reports import Reports
from murmure.plan.sent_reports import parse_reports, report_check, sent
from murmure.run.tables.json_scanner import BrokenJson, JsonScanner

VERSION = 1
MARK, PLAN, REPORTS, SEEDED = "murmure_reports", "plan", "reports", "seeded"
BLOCK = 1 << 13  # reports that become arrays at a time
WRITTEN_BY = Phrase("a collector exports such files; a truncated or edited one cannot be read")
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def is_sent_file(source: Any) -> bool:
    """Whether a source is a path of reports in JSON; several of them are refused."""
    if isinstance(source, list | tuple) and any(is_sent_file(one) for one in source):
        if len(source) > 1:
            raise InvalidParameter(
                "reports in JSON are read from one file, got {n} paths.", hint="estimate from each file", n=len(source)
            )
        return True
    return isinstance(source, str | os.PathLike) and os.fspath(source).lower().endswith(".json")


def sent_pieces(plan: Plan[Any], blocks: Iterable[Reports]) -> Iterator[str]:
    """The text of such a file, piece by piece: a report on each line."""
    yield f'{{"{MARK}":{VERSION},\n"{PLAN}":{_encode(json.loads(plan.to_json()))},\n"{REPORTS}":['
    between, seeded = "\n", False
    for block in blocks:
        if block.plan != plan.digest:
            raise PlanMismatch(
                "these reports answer plan {plan}, not this plan {digest}.",
                hint="load the plan that they were made with (Plan.from_json), or collect them again",
                plan=block.plan[:12],
                digest=plan.digest[:12],
            )
        if len(block):
            yield between + ",\n".join(_encode(one["report"]) for one in sent(plan, block))
            between, seeded = ",\n", seeded or block.seeded
    yield f'\n],\n"{SEEDED}":true}}\n' if seeded else "\n]}\n"


class SentFile:
    """A file of reports on the disk. Reading it again gives the same reports."""

    def __init__(self, path: Any) -> None:
        self.path = Path(path[0] if isinstance(path, list | tuple) else path)
        self.seeded = False  # known once all reports are read

    @property
    def name(self) -> str:
        return self.path.name

    @cached_property
    def plan(self) -> Plan[Any]:
        """The plan that the reports answer; no report is read."""
        with self._scanner() as scanner:
            return self._head(scanner)

    def blocks(self) -> Iterator[Reports]:
        """The reports, some thousands at a time. What is wrong at the end of a file is raised at its end."""
        plan = self.plan
        check = report_check(plan)
        with self._scanner() as scanner:
            self._head(scanner, known=True)
            values: list[Any] = []
            for place, value in enumerate(scanner.items()):
                try:
                    check(value)
                except MurmureError as error:
                    raise error.within("{name!r}, report {place:,}: {message}", name=self.name, place=place) from None
                values.append(value)
                if len(values) == BLOCK:
                    yield parse_reports(plan, values)
                    values = []
            self.seeded = self._end(scanner)
            if values:
                yield parse_reports(plan, values)

    def _head(self, scanner: JsonScanner, known: bool = False) -> Plan[Any]:
        """Everything before the reports. known: the plan was read before, and takes long to build."""
        scanner.take("{")
        self._key(scanner, MARK)
        version = scanner.value()
        if version != VERSION or isinstance(version, bool):
            raise InvalidParameter(
                "{name!r} has version {got} of this format; wanted {wanted}.",
                hint="read it with the release of murmure that wrote it, or with a newer one",
                name=self.name,
                got=shorten(version),
                wanted=VERSION,
            )
        scanner.take(",")
        self._key(scanner, PLAN)
        document = scanner.value()
        plan = self.plan if known else Plan.from_json(json.dumps(document))
        if plan.person is None:
            raise InvalidParameter(
                "{name!r} has a plan without a mechanism at the person, which has no reports: {got}.",
                hint=WRITTEN_BY,
                name=self.name,
                got=plan.describe(),
            )
        scanner.take(",")
        self._key(scanner, REPORTS)
        return plan

    def _end(self, scanner: JsonScanner) -> bool:
        seeded = False
        if scanner.follows(","):
            self._key(scanner, SEEDED)
            seeded = scanner.value()
            if not isinstance(seeded, bool):
                raise BrokenJson(Phrase("true or false"), shorten(seeded))
        scanner.take("}")
        scanner.finish()
        return seeded

    def _key(self, scanner: JsonScanner, wanted: str) -> None:
        got = scanner.key()
        if got != wanted:
            raise BrokenJson(Phrase("the key {key!r}", key=wanted), shorten(got))

    @contextmanager
    def _scanner(self) -> Iterator[JsonScanner]:
        """What goes wrong with the file itself is said of the file."""
        try:
            with self.path.open(encoding="utf-8-sig") as file:
                yield JsonScanner(file)
        except BrokenJson as error:
            raise InvalidParameter(
                "{name!r} is not a file of reports: wanted {wanted}, got {got}.",
                hint=WRITTEN_BY,
                name=self.name,
                wanted=error.wanted,
                got=error.got,
            ) from None
        except UnicodeError:
            raise InvalidParameter(
                "{name!r} is not a file of reports: it is not text in UTF-8.", hint=WRITTEN_BY, name=self.name
            ) from None
        except OSError as error:
            raise InvalidParameter(
                "cannot read {name!r}: {strerror}.",
                hint="check that it still exists and that you can read it",
                name=str(self.path),
                strerror=os.strerror(error.errno or 0).lower(),
            ) from None
