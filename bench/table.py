"""The Markdown table: the best of every measurement, ratios to the fastest peer, and what was met."""

from goals import BUDGETS, RATIOS

COLUMNS = [
    "task",
    "fastest peer, ns (measured on)",
    "Murmure base, ns",
    "ratio",
    "Murmure fast, ns",
    "ratio",
    "wanted base / fast",
    "met",
]
OURS = ("murmure base", "murmure fast")


def best_of(records):
    """(task, lib) to the fastest record; of memory, the greediest."""
    best = {}
    for record in records:
        key = record["task"], record["lib"]
        if "error" in record:
            continue
        if "megabytes" in record:
            better = key not in best or record["megabytes"] > best[key]["megabytes"]
        else:
            better = key not in best or record["seconds"] < best[key]["seconds"]
        if better:
            best[key] = record
    return best


def number(x):
    """Three significant figures, thousands separated."""
    return f"{float(f'{x:.3g}'):,.0f}" if x >= 100 else f"{x:.3g}"


def quantity(x, unit):
    return f"{number(x * 1000)} ms" if unit == "s" and x < 1 else f"{number(x)} {unit}"


def verdict(answers):
    """`yes` or `no` for base and fast, `-` where nothing is wanted, `?` where nothing was measured."""
    return " / ".join({None: "-", True: "yes", False: "**no**"}.get(a, "?") for a in answers)


def met(ratio, wanted):
    if wanted is None:
        return None
    return "?" if ratio is None else ratio >= wanted


def ratio_row(row, best):
    peers = [r for (task, lib), r in best.items() if task == row.task and lib not in OURS]
    peer = min(peers, key=lambda r: r["per_item_ns"], default=None)
    cells = ["not measured"]
    if peer:
        cells = [f"{peer['lib']} ({peer['how']}) {number(peer['per_item_ns'])} ({peer['n']:,})"]
    answers = []
    for lib, wanted in zip(OURS, (row.base, row.fast), strict=True):
        mine = best.get((row.task, lib))
        ratio = peer["per_item_ns"] / mine["per_item_ns"] if peer and mine else None
        cells += [number(mine["per_item_ns"]) if mine else "?", number(ratio) if ratio else "?"]
        answers.append(met(ratio, wanted))
    wanted = " / ".join("-" if w is None else number(w) for w in (row.base, row.fast))
    return [row.label, *cells, wanted, verdict(answers)]


def budget_row(row, best):
    cells, answers = ["-"], []
    for lib in OURS:
        mine = best.get((row.task, lib))
        value = mine and (mine["megabytes"] if row.unit == "MB" else mine["seconds"])
        cells += [quantity(value, row.unit) if mine else "-", "-"]
        if row.most is None:
            answers.append(None)
        else:
            answers.append(value <= row.most if mine else "?")
    wanted = "-" if row.most is None else f"at most {quantity(row.most, row.unit)}"
    return [row.label, *cells, wanted, verdict(answers)]


def render(records):
    best = best_of(records)
    rows = [COLUMNS, ["---"] * len(COLUMNS)]
    rows += [ratio_row(row, best) for row in RATIOS] + [budget_row(row, best) for row in BUDGETS]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
