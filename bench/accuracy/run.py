"""Learners beside diffprivlib's on five tables that nobody tuned on, into docs/explanation-accuracy.md.

Every cell: the same splits, the same public bounds, paired by seed. Finished cells are kept in .bench/accuracy and not
run again: stop when you like. --fresh forgets Murmure's, --page writes the page.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

from environments import PLACE, ROOT, python_of, versions  # noqa: E402
from spends import spends  # noqa: E402
from tables import NAMES, available  # noqa: E402

PAGE = ROOT / "docs" / "explanation-accuracy.md"
BEGIN, END = "<!-- script/accuracy writes from here -->", "<!-- to here -->"
MODELS = {"logistic": "Logistic regression", "bayes": "Naive Bayes", "kmeans": "k-means"}
EPSILONS = (0.1, 0.5, 1.0, 3.0, 10.0)
FEW = 5  # seeds without noise, for comparison alone
KEPT = PLACE / "accuracy"
HEAD = ["table", "epsilon", "diffprivlib", "what it spends", "Murmure", "ahead by (three standard errors)", "met"]


def listed(kind, allowed):
    def read(text):
        values = [kind(v) for v in text.split(",")]
        wrong = [v for v in values if allowed and v not in allowed]
        if wrong:
            raise argparse.ArgumentTypeError(f"{wrong[0]} is none of {', '.join(map(str, allowed))}")
        return values

    return read


def kept(table, model, side):
    return KEPT / f"{table}-{model}-{side}.jsonl"


def records(table, model, side):
    file = kept(table, model, side)
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def bar(done, whole, began, what):
    full = round(30 * done / max(whole, 1))
    left = (time.monotonic() - began) / max(done, 1) * (whole - done)
    print(
        f"\r{'#' * full}{'.' * (30 - full)} {done}/{whole} {what:<28} {left / 60:5.1f} min left ",
        end="",
        file=sys.stderr,
    )


def work(jobs, pythons):
    """Run what is missing, one process at a time."""
    began, done, whole = time.monotonic(), 0, sum(len(seeds) for *_, seeds in jobs)
    for table, model, side, epsilon, seeds in jobs:
        data = KEPT / f"{table}.npz"
        if not data.exists():
            subprocess.run([pythons["peer"], HERE / "tables.py", table, data], check=True)
        command = [
            pythons[side],
            "-W",
            "ignore",
            HERE / f"{side}.py",
            data,
            model,
            str(epsilon),
            ",".join(map(str, seeds)),
        ]
        bar(done, whole, began, f"{table} {model} {side} {epsilon:g}")
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode:
            sys.exit(f"\naccuracy: {table} {model} {side} failed:\n{ran.stderr[-2000:]}")
        with kept(table, model, side).open("a") as file:  # a whole cell or nothing
            file.write(ran.stdout)
        done += len(seeds)
    if whole:
        print(file=sys.stderr)


def missing(tables, models, epsilons, seeds):
    for table in tables:
        for model in models:
            for side, all_epsilons in (("peer", epsilons), ("ours", [0.0, *epsilons])):
                have = {(r["epsilon"], r["seed"]) for r in records(table, model, side)}
                for epsilon in all_epsilons:
                    wanted = seeds if epsilon else min(seeds, FEW)
                    lacking = [s for s in range(wanted) if (epsilon, s) not in have]
                    if lacking:
                        yield table, model, side, epsilon, lacking


def error(values):
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def figure(values):
    return f"{statistics.mean(values):.3f} ± {error(values):.3f}"


def scores(held, epsilon, side, seeds):
    found = {r["seed"]: r["score"] for r in held if (r["epsilon"], r["side"]) == (epsilon, side)}
    return [found[s] for s in range(seeds)]


def cells(tables, model, epsilons, seeds):
    """Lines of the table, and how far ahead Murmure is in every cell."""
    import numpy as np

    lines, ahead = [], []
    for table in tables:
        peer, ours = records(table, model, "peer"), records(table, model, "ours")
        data = np.load(KEPT / f"{table}.npz")
        note, known = table, any(r["epsilon"] == 0 for r in ours)
        if known:
            note += f"<br>clear {statistics.mean(scores(ours, 0.0, 'clear', min(seeds, FEW))):.3f}"
        if known and model != "kmeans":
            note += f", largest class {statistics.mean(scores(ours, 0.0, 'largest class', min(seeds, FEW))):.3f}"
        for epsilon in epsilons:
            have = [{r["seed"] for r in side if r["epsilon"] == epsilon} for side in (peer, ours)]
            if not all(set(range(seeds)) <= found for found in have):
                lines.append([note, f"{epsilon:g}", *["not run"] * 5])
                note = ""
                continue
            ways = {way: scores(peer, epsilon, way, seeds) for way in ("-1 to 1", "0 to 1")}
            way = max(ways, key=lambda w: statistics.mean(ways[w]))
            mine = scores(ours, epsilon, "murmure", seeds)
            apart = [a - b for a, b in zip(mine, ways[way], strict=True)]
            mean, three = statistics.mean(apart), 3 * error(apart)
            ahead.append(mean)
            met = "yes" if mean >= -three else "**no**" if epsilon >= 0.5 else "no (below 0.5)"
            spent = spends(model, way, data["x"].shape[1], int(data["y"].max()) + 1, epsilon)
            lines.append(
                [note, f"{epsilon:g}", figure(ways[way]), spent, figure(mine), f"{mean:+.3f} ({three:.3f})", met]
            )
            note = ""
    return lines, ahead


def render(tables, models, epsilons, seeds, head):
    parts, everything = [head], []
    for model in models:
        lines, ahead = cells(tables, model, epsilons, seeds)
        if not ahead:
            continue
        everything += ahead
        body = "".join(f"| {' | '.join(line)} |\n" for line in [HEAD, ["---"] * len(HEAD), *lines])
        parts.append(
            f"### {MODELS[model]}\n\nAhead, mean over the {len(ahead)} cells: {statistics.mean(ahead):+.3f}.\n\n{body}"
        )
    parts.append(f"Ahead, mean over all {len(everything)} cells: {statistics.mean(everything):+.3f}.\n")
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(prog="script/accuracy", description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=listed(str, NAMES), default=list(NAMES), metavar="A,B", help=", ".join(NAMES))
    parser.add_argument(
        "--models", type=listed(str, MODELS), default=list(MODELS), metavar="A,B", help=", ".join(MODELS)
    )
    parser.add_argument("--epsilons", type=listed(float, ()), default=list(EPSILONS), metavar="E,E")
    parser.add_argument("--seeds", type=int, default=50, help="splits and noises of every cell")
    parser.add_argument("--side", choices=("peer", "ours"), help="run one side only, and print nothing")
    parser.add_argument("--fresh", action="store_true", help="forget Murmure's finished cells first")
    parser.add_argument("--finished", action="store_true", help="run nothing: only show the cells that are there")
    parser.add_argument("--page", action="store_true", help="write the tables into docs/explanation-accuracy.md")
    options = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    tables = [name for name in options.tables if available(name) or (KEPT / f"{name}.npz").exists()]
    for name in set(options.tables) - set(tables):
        print(f"accuracy: {name} is left out: it needs ../shared/data, which is not distributed here", file=sys.stderr)
    if options.fresh:
        for table in tables:
            for model in options.models:
                kept(table, model, "ours").unlink(missing_ok=True)
    pythons = {"peer": python_of("diffprivlib"), "ours": sys.executable}
    jobs = list(missing(tables, options.models, options.epsilons, options.seeds)) if not options.finished else []
    work([job for job in jobs if options.side in (None, job[2])], pythons)
    if options.side:
        return
    software = versions(pythons["peer"], ["diffprivlib", "scikit-learn"]) + versions(sys.executable, ["numpy"])
    import numpy as np

    sizes = ", ".join(f"{t} {' x '.join(map(str, np.load(KEPT / f'{t}.npz')['x'].shape))}" for t in tables)
    command = " ".join(["script/accuracy", *(a for a in sys.argv[1:] if a not in ("--page", "--fresh", "--finished"))])
    head = (
        f"`{command}`, {datetime.now(UTC):%Y-%m-%d}. {options.seeds} seeds: as many splits into four fifths to learn "
        f"from and one to test on. Rows and columns: {sizes}. {', '.join(software)}. Mean score ± its standard error "
        "over seeds.\n"
    )
    text = render(tables, options.models, options.epsilons, options.seeds, head)
    print(text)
    if options.page:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{rest.partition(END)[2]}")
    sys.exit(1 if "**no**" in text else 0)


if __name__ == "__main__":
    main()
