"""Re-identification on Adult over five surveys, with the settings of Arcolezi et al., PVLDB 16(5), 2023.

A cell is one repetition of one setting at ten epsilons. Repetition r has the surveys of the published code's seed r.
Settings come in the order of their importance, so that a run that is stopped has something of each.
"""

import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))
sys.path.insert(0, str(HERE.parent))

from datasets import available, table  # noqa: E402
from environments import ROOT  # noqa: E402

import murmure as mu  # noqa: E402
from murmure.attacks import reidentification  # noqa: E402
from murmure.lectures.record_attacks.survey_runs import SURVEYS, published_surveys  # noqa: E402

TITLE = "Re-identification over five surveys"
PAGE = ROOT / "docs" / "explanation-reidentification-measured.md"
SEED = 2023
EPSILONS = [float(e) for e in range(1, 11)]
TOP = (1, 5, 10)
ORACLES = ("GRR", "SUE", "OUE", "OLH", "SubsetSelection")
FAKES = ("GRR", "SUE-z", "OUE-z", "SUE-r", "OUE-r")
EQUAL, EXACT = "equal attributes", "exact posterior"
# Targets that are compared with everybody by the exact posterior of RS+FD, whose cost is their number times all people.
FAKE_TARGETS = 500


def setting(solution, oracle, metric="uniform", knowledge="full", score=EQUAL):
    return {"solution": solution, "oracle": oracle, "metric": metric, "knowledge": knowledge, "score": score}


# Top-k: RID-ACC in per cent after five surveys at epsilon 1 to 10, Arcolezi et al., PVLDB 16(5), 2023, Figure 2
PUBLISHED = {
    1: {
        "GRR": [0.03, 0.28, 1.35, 3.73, 6.64, 8.78, 9.96, 10.42, 10.54, 10.65],
        "SUE": [0.01, 0.04, 0.15, 0.42, 1.01, 2.03, 3.47, 5.12, 6.67, 7.99],
        "OUE": [0.01, 0.06, 0.25, 0.59, 0.89, 1.05, 1.13, 1.14, 1.15, 1.16],
        "OLH": [0.01, 0.07, 0.25, 0.58, 0.87, 1.04, 1.11, 1.12, 1.16, 1.14],
    },
    10: {
        "GRR": [0.23, 1.53, 5.91, 13.81, 22.24, 28.03, 30.88, 32.25, 32.57, 32.79],
        "SUE": [0.08, 0.29, 0.89, 2.27, 4.70, 8.45, 12.99, 17.95, 22.37, 25.83],
        "OUE": [0.10, 0.46, 1.38, 2.78, 3.94, 4.51, 4.77, 4.84, 4.91, 4.92],
        "OLH": [0.10, 0.46, 1.40, 2.79, 3.87, 4.50, 4.77, 4.84, 4.88, 4.90],
    },
}
MAIN = [setting("smp", o) for o in ORACLES]
FAKE = [setting("rsfd", o) for o in FAKES]
CEILING = [setting("smp", o, score=EXACT) for o in ORACLES[1:]]  # of GRR both scores are the same
FAKE_CEILING = [setting("rsfd", o, score=EXACT) for o in FAKES[:3]]
AGAIN = [setting("smp", o, metric="non-uniform") for o in ORACLES]
PARTIAL = [setting("smp", o, knowledge="partial") for o in ORACLES]
STAGES = (  # settings, and which repetitions of them come at this point
    (MAIN, range(20)),
    (FAKE, range(5)),
    (AGAIN, range(5)),
    (PARTIAL, range(5)),
    (CEILING, range(5)),
    (FAKE_CEILING, range(3)),
    (FAKE, range(20)),
    (AGAIN, range(20)),
    (PARTIAL, range(20)),
)


def cells():
    if not available("Adult"):
        return
    listed = set()
    for settings, repetitions in STAGES:
        for r in repetitions:
            for one in settings:
                if (*one.values(), r) not in listed:
                    listed.add((*one.values(), r))
                    yield {**one, "repetition": r}


def measure(cell):
    """figures[e][s][k]: share found at EPSILONS[e] after s + 1 surveys among the best TOP[k]."""
    schema, people = table("Adult")
    targets = FAKE_TARGETS if (cell["solution"], cell["score"]) == ("rsfd", EXACT) else None
    began = time.process_time()
    r = cell["repetition"]
    surveys = published_surveys(r, list(people))
    result = reidentification(
        people, schema, EPSILONS, solution=cell["solution"], oracle=cell["oracle"], metric=cell["metric"],
        knowledge=cell["knowledge"], scores=[cell["score"]], surveys=surveys, top=TOP, targets=targets,
        repetitions=1, rng=mu.Random.seeded(SEED).child(r),
    )  # fmt: skip
    at = {(row.setting["epsilon"], row.at, row.setting["top"]): row.value for row in result.rows}
    found = [[[at[e, s, k] for k in TOP] for s in range(1, SURVEYS + 1)] for e in EPSILONS]
    return {"found": found, "cpu_seconds": time.process_time() - began}


def by_setting(found):
    """Setting -> (repetitions, epsilons, surveys, top)."""
    groups = {}
    for cell, figures in found:
        key = tuple(cell[name] for name in ("solution", "oracle", "metric", "knowledge", "score"))
        groups.setdefault(key, []).append(figures["found"])
    return {key: np.array(values) for key, values in groups.items()}


def interval(values):
    """Mean and half width over repetitions, Student's, in per cent."""
    from scipy import stats

    n = len(values)
    half = (
        stats.t.ppf(0.975, n - 1) * values.std(axis=0, ddof=1) / n**0.5 if n > 1 else np.full(values.shape[1:], np.nan)
    )
    return 100 * values.mean(axis=0), 100 * half


def name_of(key):
    solution, oracle, *_ = key
    return f"{'SMP' if solution == 'smp' else 'RS+FD'}[{'SS' if oracle == 'SubsetSelection' else oracle}]"


def text_table(rows, head):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] + ["---:"] * (len(head) - 1)) + " |"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def tables(data, metric, knowledge, score, solution):
    """RID-ACC after five surveys, one table for each k."""
    keys = [key for key in data if key[0] == solution and key[2:] == (metric, knowledge, score)]
    if not keys:
        return ""
    keys.sort(key=lambda key: (*ORACLES, *FAKES).index(key[1]))
    out = ""
    for k, top in enumerate(TOP):
        rows = []
        for key in keys:
            mean, half = interval(data[key])
            rows.append(
                [
                    name_of(key),
                    *(
                        f"{m:.2f}" + ("" if np.isnan(h) else f" ± {h:.2f}")
                        for m, h in zip(mean[:, -1, k], half[:, -1, k], strict=True)
                    ),
                ]
            )
        out += f"\nTop-{top}:\n\n" + text_table(rows, ["", *(f"ε = {e:g}" for e in EPSILONS)])
    return out


def beside_published(data):
    """After five surveys: what was published, what is found here, and the largest difference."""
    out, largest = "", 0.0
    for top, curves in PUBLISHED.items():
        rows = []
        for oracle, wanted in curves.items():
            key = ("smp", oracle, "uniform", "full", EQUAL)
            if key in data:
                mean, _ = interval(data[key])
                here = mean[:, -1, TOP.index(top)]
                # OLH has at most 16,384 bins here, fewer than the best number at epsilon 10
                same = slice(0, 9) if oracle == "OLH" else slice(None)
                largest = max(largest, np.abs(here - wanted)[same].max())
                rows.append([f"{name_of(key)} published", *(f"{v:.2f}" for v in wanted)])
                rows.append([f"{name_of(key)} here", *(f"{v:.2f}" for v in here)])
        out += f"\nTop-{top}:\n\n" + text_table(rows, ["", *(f"ε = {e:g}" for e in EPSILONS)])
    return (
        "### Beside the published curves\n\nThe published figures are read off the vector graphics of Figure 2 of the "
        f"paper (its full version), after five surveys. The largest difference is {largest:.2f} points. OLH at epsilon "
        "10 is left out of it: the best number of bins is 22,027, and OLH has at most 16,384 here.\n"
        f"{out}"
    )


def draw(data, n, file):
    """Columns: top-1, 5, 10; rows: protocols; lines: after 2 to 5 surveys."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "murmure"
    import matplotlib.pyplot as plt

    keys = [("smp", o, "uniform", "full", EQUAL) for o in ORACLES if ("smp", o, "uniform", "full", EQUAL) in data]
    figure, axes = plt.subplots(
        len(keys), len(TOP), figsize=(10, 2.4 * len(keys)), sharex=True, sharey="row", squeeze=False
    )
    for row, key in zip(axes, keys, strict=True):
        mean, half = interval(data[key])
        for k, (axis, top) in enumerate(zip(row, TOP, strict=True)):
            for s in range(1, SURVEYS):
                (line,) = axis.plot(EPSILONS, mean[:, s, k], marker="o", markersize=3, label=f"{s + 1} surveys")
                axis.fill_between(EPSILONS, *(mean[:, s, k] + sign * half[:, s, k] for sign in (-1, 1)),
                                  color=line.get_color(), alpha=0.2)  # fmt: skip
            axis.axhline(100 * top / n, color="black", linewidth=0.8, label="guessing")
            axis.set_title(f"{name_of(key)}, top-{top}", fontsize=9)
        row[0].set_ylabel("RID-ACC (%)")
    axes[0][0].legend(fontsize=7)
    for axis in axes[-1]:
        axis.set_xlabel("epsilon")
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


WORDS = (
    ("Reports of one column (SMP), nobody twice, all columns known", ("uniform", "full", EQUAL, "smp")),
    ("The same, matched by the exact posterior", ("uniform", "full", EXACT, "smp")),
    ("A column may come again and is then repeated (non-uniform)", ("non-uniform", "full", EQUAL, "smp")),
    ("The attacker knows some of the columns (partial)", ("uniform", "partial", EQUAL, "smp")),
    ("Both", ("non-uniform", "partial", EQUAL, "smp")),
    ("Fake data (RS+FD): the real column is predicted first", ("uniform", "full", EQUAL, "rsfd")),
    ("RS+FD matched by the exact posterior", ("uniform", "full", EXACT, "rsfd")),
)


def render(found, figures):
    data = by_setting(found)
    n = len(next(iter(table("Adult")[1].values())))
    figures.mkdir(exist_ok=True)
    draw(data, n, figures / "reidentification-adult.svg")
    guessing = ", ".join(f"{100 * k / n:.4f}% (top-{k})" for k in TOP)
    out = [
        f"![RID-ACC on Adult](figures/reidentification-adult.svg)\n\nGuessing finds {guessing} of {n:,} people. All "
        "figures below are per cent after five surveys, mean and 95% interval over repetitions.\n"
    ]
    for i, (title, key) in enumerate(WORDS):
        if i == 1:
            out.append(beside_published(data))
        shown = tables(data, *key)
        if shown:
            count = sorted({len(v) for k, v in data.items() if (*k[2:], k[0]) == key})
            what = f"{count[0]}" if len(count) == 1 else f"{count[0]} to {count[-1]}"
            what += " repetition" if count[-1] == 1 else " repetitions"
            extra = f", {FAKE_TARGETS} people drawn at random as targets" if key[2:] == (EXACT, "rsfd") else ""
            out.append(f"### {title}\n\n{what}{extra}.\n{shown}")
    return "\n".join(out)
