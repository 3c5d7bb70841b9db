"""Attacks on public tables with the settings of the literature, into docs/explanation-attacks-measured.md.

Every file of sections/ is a section of the page: TITLE, cells() (what is measured, each a dict), measure(cell) (figures
that JSON can hold) and render(found, figures) (Markdown from [(cell, figures)]); PAGE where it has a page of its own.
Finished cells are kept in .bench/attacks and not run again: stop when you like.
"""

import argparse
import importlib
import json
import pkgutil
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

from environments import PLACE, ROOT, versions  # noqa: E402

KEPT = PLACE / "attacks"
PAGE = ROOT / "docs" / "explanation-attacks-measured.md"
FIGURES = ROOT / "docs" / "figures"
SECTIONS = sorted(info.name for info in pkgutil.iter_modules([str(HERE / "sections")]))


def listed(text):
    names = text.split(",")
    wrong = [name for name in names if name not in SECTIONS]
    if wrong:
        raise argparse.ArgumentTypeError(f"{wrong[0]} is none of {', '.join(SECTIONS)}")
    return names


def key(cell):
    return json.dumps(cell, sort_keys=True)


def kept(section):
    file = KEPT / f"{section}.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return {key(record["cell"]): (record["cell"], record["figures"]) for record in map(json.loads, lines)}


def bar(done, whole, began, what):
    full = round(30 * done / max(whole, 1))
    left = (time.monotonic() - began) / max(done, 1) * (whole - done)
    print(
        f"\r{'#' * full}{'.' * (30 - full)} {done}/{whole} {what:<70} {left / 60:6.1f} min left ",
        end="",
        file=sys.stderr,
    )


def work(name, section, only, minutes):
    """Run what is missing; a cell is kept when it is whole."""
    have = kept(name)
    wanted = [cell for cell in section.cells() if key(cell) not in have and all(part in key(cell) for part in only)]
    began = time.monotonic()
    for done, cell in enumerate(wanted):
        if minutes is not None and time.monotonic() - began > 60 * minutes:
            break
        bar(done, len(wanted), began, " ".join(map(str, cell.values())))
        figures = section.measure(cell)
        with (KEPT / f"{name}.jsonl").open("a") as file:
            file.write(json.dumps({"cell": cell, "figures": figures}) + "\n")
    if wanted:
        print(file=sys.stderr)


def marks(name):
    return f"<!-- script/attacks writes {name} from here -->", f"<!-- {name} to here -->"


def write(name, section):
    """The section between its marks; a section that the page does not have yet comes last."""
    begin, end = marks(name)
    software = ", ".join(versions(sys.executable, ["murmure", "numpy"]))
    text = f"`script/attacks --sections {name}`, {datetime.now(UTC):%Y-%m-%d}; {software}.\n\n"
    text += section.render(list(kept(name).values()), FIGURES)
    place = getattr(section, "PAGE", PAGE)
    page = place.read_text()
    if begin not in page:
        page += f"\n## {section.TITLE}\n\n{begin}\n{end}\n"
    before, _, rest = page.partition(begin)
    place.write_text(f"{before}{begin}\n\n{text}\n{end}{rest.partition(end)[2]}")


def main():
    parser = argparse.ArgumentParser(prog="script/attacks", description=__doc__.splitlines()[0])
    parser.add_argument("--sections", type=listed, default=SECTIONS, metavar="A,B", help=", ".join(SECTIONS))
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="cells whose key holds this text")
    parser.add_argument("--minutes", type=float, help="stop after so many minutes for each section")
    parser.add_argument("--finished", action="store_true", help="run nothing: only write the cells that are there")
    parser.add_argument("--page", action="store_true", help="write the tables and figures into docs/")
    options = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    for name in options.sections:
        section = importlib.import_module(f"sections.{name}")
        if not any(True for _ in section.cells()):
            print(f"attacks: {name} is left out: its tables are not on this machine: set MURMURE_DATA", file=sys.stderr)
            continue
        if not options.finished:
            work(name, section, options.only, options.minutes)
        if options.page:
            write(name, section)


if __name__ == "__main__":
    main()
