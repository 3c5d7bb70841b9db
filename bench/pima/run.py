"""Accuracy on the Pima table, Murmure beside diffprivlib, into docs/explanation-accuracy-on-pima.md.

Every learner sees the same rows in the same folds with the same public bounds. diffprivlib is given its rows both as
they are and on [0, 1], by public constants; at each epsilon the better of the two stands in the table.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from environments import PLACE, ROOT, python_of, versions  # noqa: E402

DATA = ROOT.parent / "shared" / "data" / "diabetes.csv"
PAGE = ROOT / "docs" / "explanation-accuracy-on-pima.md"
BEGIN, END = "<!-- script/accuracy writes from here -->", "<!-- to here -->"
MODELS = {"bayes": "Naive Bayes", "regression": "Linear regression, at least 0.5"}
HEAD = [
    "epsilon",
    "diffprivlib",
    "what it spends at least",
    "Murmure, add/remove",
    "Murmure, replace",
    "ahead by (two standard errors)",
    "met",
]


def work(python, script, *arguments):
    print(f"accuracy: {script}", file=sys.stderr, flush=True)
    command = [python, "-W", "ignore", HERE / script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"accuracy: {script} failed:\n{done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def error(runs):
    """The standard error of their mean."""
    return statistics.stdev(runs) / math.sqrt(len(runs))


def figure(record):
    return f"{statistics.mean(record['runs']):.3f} ± {error(record['runs']):.3f}"


def spends(audit):
    if audit["model"] == "bayes":
        return f"{audit['spent']:.2f}; add/remove: no finite epsilon (prints n in {audit['counted']:.0%} of fits)"
    exact = f"{audit['exact']:.1%} of fits" if audit["exact"] else "none of 1,000 fits, but it can"
    return f"no finite epsilon (a sum without noise: {exact}); otherwise {audit['usual']:.2f}"


def rows(model, records, audits):
    """One line for every epsilon, and whether Murmure is not below by more than two standard errors."""
    held = {(r["lib"], r["epsilon"]): r for r in records if r["model"] == model}
    for epsilon in sorted({e for _, e in held if e is not None}):
        peers = [r for (lib, e), r in held.items() if e == epsilon and lib.startswith("diffprivlib")]
        peer = max(peers, key=lambda r: statistics.mean(r["runs"]))
        ours, replaced = held["murmure, add/remove", epsilon], held["murmure, replace", epsilon]
        apart = [a - b for a, b in zip(ours["runs"], peer["runs"], strict=True)]  # the same folds
        ahead, twice = statistics.mean(apart), 2 * error(apart)
        (audit,) = (a for a in audits if (a["model"], a["lib"], a["epsilon"]) == (model, peer["lib"], epsilon))
        cells = [f"{epsilon:g}", figure(peer), spends(audit), figure(ours), figure(replaced)]
        yield [*cells, f"{ahead:+.3f} ({twice:.3f})", "yes" if ahead >= -twice else "**no**"]


def render(records, audits, head):
    held = {(r["model"], r["lib"]): r for r in records if r["epsilon"] is None}
    parts = [head]
    for model, title in MODELS.items():
        clear = (
            f"{figure(held[model, 'scikit-learn'])} (scikit-learn), {figure(held[model, 'murmure, clear'])} (Murmure)"
        )
        lines = [HEAD, ["---"] * len(HEAD), *rows(model, records, audits)]
        table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
        majority = statistics.mean(held["majority", ""]["runs"])
        parts.append(f"### {title}\n\nIn the clear: {clear}. Always the larger class: {majority:.3f}.\n\n{table}")
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(prog="script/accuracy pima", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50, help="shuffles of the rows; with fewer, the page is left alone")
    options = parser.parse_args()
    if not DATA.exists():
        print("accuracy: skipped: needs the Pima table, which is not distributed here: ../shared/data/diabetes.csv")
        return
    python = python_of("diffprivlib")
    records = work(python, "peer_diffprivlib.py", str(options.runs)) + work(
        sys.executable, "ours.py", str(options.runs)
    )
    audits = work(python, "audit_diffprivlib.py")
    (PLACE / "pima.json").write_text(json.dumps({"accuracy": records, "audits": audits}, indent=1))
    software = versions(python, ["diffprivlib", "scikit-learn"]) + versions(sys.executable, ["murmure", "numpy"])
    head = f"{options.runs} runs of 5 folds; {', '.join(software)}. Mean accuracy ± its standard error over runs.\n"
    text = render(records, audits, head)
    print(text)
    if options.runs == parser.get_default("runs"):
        before, _, rest = PAGE.read_text().partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")
    sys.exit(1 if "**no**" in text else 0)


if __name__ == "__main__":
    main()
