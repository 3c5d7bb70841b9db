"""`script/mutate`: do the tests notice when an operator of the code is replaced by another?

A sample of mutants is drawn by seed, each in one comparison or operator, and tried on the tests that run its line.
What is known is kept in .cache/mutants, so a campaign can be stopped and started again. tests/mutants/ says how.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import sys
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from tests.mutants.campaign import Campaign
from tests.mutants.equivalents import Equivalents, StaleEntry
from tests.mutants.mutants import Mutant, places, sample, source_files
from tests.mutants.operators import KINDS, USUAL
from tests.mutants.report import Line, Report
from tests.mutants.selection import in_order

from murmure.engines.base.progress import with_progress

HERE = Path(__file__).resolve()
WIDTH = 120  # of the report in a file


def parser() -> argparse.ArgumentParser:
    known = argparse.ArgumentParser(
        prog="script/mutate", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add = known.add_argument
    add(
        "packages",
        nargs="*",
        metavar="PACKAGE",
        help="folders or files of src/murmure: core, laws/noise, ledger/sums.py (all)",
    )
    add(
        "--sample", type=at_least_one, metavar="N", help="how many mutants, each place of the code equally likely (all)"
    )
    add("--seed", type=int, default=1, metavar="S", help="which sample (1)")
    add("--kinds", type=kinds, default=USUAL, metavar="A,B", help=f"of {', '.join(KINDS)} (all but the last)")
    add("--least", type=percent, metavar="PERCENT", help="exit with 1 if fewer of the mutants were found")
    add("--json", type=output, metavar="FILE", help="the report as JSON; - writes it instead of the table")
    add(
        "--tests",
        nargs="+",
        default=["tests"],
        metavar="PATH",
        help="only these files or folders of tests are asked (tests)",
    )
    add("--no-slow", action="store_true", help="leave out tests marked slow")
    add(
        "--covering-only",
        action="store_true",
        help="do not try survivors on tests that run only other lines of the file",
    )
    add(
        "--seconds",
        type=float,
        default=math.inf,
        metavar="S",
        help="a mutant is tried on the fastest tests that run its line, for so many seconds (all of them)",
    )
    add(
        "--old-map",
        action="store_true",
        help="after small changes of the sources: use the map of before them, moved along",
    )
    add("--map", action="store_true", help="make the map, and judge nothing")
    add("--list", action="store_true", help="list the sample, and judge nothing")
    add("--known", action="store_true", help="report what is known of the sample, and judge nothing")
    add("--workers", type=at_least_one, default=2, metavar="N", help="checkouts that work at once (2)")
    add("--cache", type=Path, metavar="FOLDER", help="where the map and the results are kept (.cache/mutants)")
    add("--root", type=Path, default=HERE.parents[2], help=argparse.SUPPRESS)
    return known


def kinds(text: str) -> tuple[str, ...]:
    chosen = tuple(text.split(","))
    if wrong := set(chosen) - set(KINDS):
        raise argparse.ArgumentTypeError(f"{sorted(wrong)[0]!r} is none of {', '.join(KINDS)}")
    return chosen


def at_least_one(text: str) -> int:
    if not (text.isdecimal() and int(text) >= 1):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 1 or more")
    return int(text)


def percent(text: str) -> float:
    try:
        if 0 <= float(text) <= 100:
            return float(text)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 100")


def output(text: str) -> Path:
    """Refused now, and not when the campaign has ended."""
    if not Path(text).parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {str(Path(text).parent)!r}")
    return Path(text)


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return run(options)
    except KeyboardInterrupt:
        print("\nscript/mutate: stopped; the same command goes on", file=sys.stderr)
        return 130
    except (StaleEntry, RuntimeError, FileNotFoundError) as error:
        print(f"script/mutate: {error}", file=sys.stderr)
        return 2


def run(options: argparse.Namespace) -> int:
    campaign = Campaign(
        options.root,
        options.tests,
        with_slow=not options.no_slow,
        covering_only=options.covering_only,
        most=options.seconds,
        old_map=options.old_map,
        workers=options.workers,
        cache=options.cache,
    )
    equivalents = Equivalents.of_file(campaign.root / "tests" / "mutants" / "equivalents.toml")
    equivalents.check(campaign.root)
    files = source_files(campaign.root, campaign.package, options.packages)
    mutants = sample((place for file in files for place in places(file, options.kinds)), options.sample, options.seed)
    if options.list:
        for mutant in mutants:
            print(f"{mutant.path}:{mutant.line} {mutant.scope}\n  - {mutant.was}\n  + {mutant.becomes}")
        return 0
    with campaign:
        parts = campaign.missing_parts()
        if not options.known:
            counted(campaign.make_map(parts), len(parts), "coverage of {what}")
        if options.map:
            return 0
        return judged(campaign, mutants, equivalents, options)


def judged(campaign: Campaign, mutants: list[Mutant], equivalents: Equivalents, options: argparse.Namespace) -> int:
    todo = campaign.unknown([mutant for mutant in mutants if not equivalents.entry(mutant)])
    if not options.known:
        results = (f"{r.verdict}: {r.path}:{r.line} ({r.seconds:.0f} s)" for r in campaign.judge(todo))
        counted(results, len(todo), "{what}")
    report = report_of(campaign, mutants, equivalents, options.seed)
    if options.json:
        text = json.dumps(report.document(), indent=1)
        print(text) if str(options.json) == "-" else options.json.write_text(text + "\n")
    if str(options.json) != "-":
        report.show(Console() if sys.stdout.isatty() else Console(width=WIDTH))
    rate = report.rate
    return int(options.least is not None and (rate is None or 100 * rate < options.least))


def report_of(campaign: Campaign, mutants: list[Mutant], equivalents: Equivalents, seed: int) -> Report:
    known = campaign.selection
    lines = []
    for mutant in mutants:
        result = campaign.results.of(mutant, campaign.suite, set(campaign.files))
        entry = equivalents.entry(mutant)
        left = result is not None and result.verdict in ("survived", "uncovered") and entry is None
        covering = known.covering(mutant) if left else {}
        lines.append(Line(mutant, result, entry, {test: covering[test] for test in in_order(covering)}))
    unfit = campaign.map.unfit | campaign.unsteady
    return Report(lines, seed, {"tests": list(campaign.tests), "slow": campaign.with_slow, "unfit": unfit})


def counted(lines: Iterable[str], total: int, what: str) -> None:
    """The project's bar on a terminal; elsewhere a line each."""
    if sys.stderr.isatty():
        for _ in with_progress(
            ([line] for line in lines), total, "mutants" if what == "{what}" else "coverage of tests"
        ):
            pass
        return
    for number, line in enumerate(lines, 1):
        print(f"{number}/{total} {what.format(what=line)}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
