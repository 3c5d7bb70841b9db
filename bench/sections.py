"""The lines of every table: the best of each measurement, what each round reached, and what was met."""

from exponents import fitted
from floors import RATES, distances, in_words, rates
from goals import BETWEEN, BUDGETS, FITS, GROWTH, REGRESSED, SECURE, SPARK, STREAMED, WIRE
from rounds import OURS, Judged, at_least, at_most, best_of, fastest_peer, of_rounds, ratios

RATIO_HEAD = [
    "task",
    "fastest peer, ns (measured on)",
    "Murmure base, ns",
    "ratio",
    "Murmure fast, ns",
    "ratio",
    "wanted base / fast",
    "margin",
    "met",
]
FIT_HEAD = [
    "fit",
    "scikit-learn, clear, ms",
    "diffprivlib, ms",
    "Murmure base, ms",
    "ratio",
    "Murmure fast, ms",
    "ratio",
    "wanted fast",
    "margin",
    "met",
]
STREAMED_HEAD = [
    "rows and mechanism",
    "Arrow copies, s",
    "sanitise, s",
    "then estimate, s",
    "rows/s",
    "times the copy (wanted)",
    "growth a row (wanted)",
    "peak, MB (wanted)",
    "margin",
    "met",
]
MASKED_HEAD = [
    "sum",
    "Flower, server",
    "Flower, client",
    "Murmure, server (wanted)",
    "Murmure, client (wanted)",
    "ratio, server (wanted)",
    "margin",
    "met",
]
WIRE_HEAD = [
    "study",
    "all joined to result (wanted)",
    "bytes posted by a party",
    "times what is needed (wanted)",
    "margin",
    "met",
]
REGRESSED_HEAD = [
    "rows and regression",
    "statsmodels, s",
    "peak, MB",
    "Murmure, s",
    "ratio (wanted)",
    "largest difference (wanted)",
    "peak, MB (wanted)",
    "growth of it (wanted)",
    "margin",
    "met",
]
BETWEEN_HEAD = ["rows and regression", "in the clear, s", "by masked sums, s", "added, s (wanted)", "margin", "met"]
ADDED_HEAD = ["rows and work", "in memory, s", "on Spark, s", "added", "wanted", "margin", "met"]
BUDGET_HEAD = ["cost", "Murmure base", "Murmure fast", "wanted", "margin", "met"]
GROWTH_HEAD = ["cost", "grows with", "of the fewest", "of the most", "exponent", "fitted from", "reckoned"]
RATE_HEAD = ["what", "ns"]
FLOOR_HEAD = ["row", "needs at least", "floor, ns", "Murmure fast, ns", "times the floor"]
MODES = "base", "fast"
SIDES = "server", "client", "ratio"


def number(x):
    """Three significant figures, thousands separated."""
    return f"{float(f'{x:.3g}'):,.0f}" if x >= 100 else f"{x:.3g}"


def quantity(x, unit):
    return f"{number(x * 1000)} ms" if unit == "s" and x < 1 else f"{number(x)} {unit}"


def span(judged, show=number):
    """From the worst round to the best; one figure where they read the same."""
    if judged.worst is None:
        return "?"
    ends = show(judged.worst), show(judged.best)
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def wanting(judged, show=number):
    return span(judged, show) + ("" if judged.wanted is None else f" ({show(judged.wanted)})")


def margins(*judged):
    """How many times better than wanted each was in its worst round; bold below one."""

    def show(one):
        if one.wanted is None:
            return "-"
        if one.margin is None:
            return "?"
        text = "over 100" if one.margin > 100 else f"{one.margin:.2f}"
        return text if one.margin >= 1 else f"**{text}**"

    return " / ".join(map(show, judged))


def verdict(*judged):
    """In how many of its rounds each was met; bold unless in all."""

    def show(one):
        if one.wanted is None:
            return "-"
        if not one.values:
            return "?"
        text = f"{one.met} of {len(one.values)}"
        return text if one.always else f"**{text}**"

    return " / ".join(map(show, judged))


class Section:
    """The lines of one table, and the goals in them for the summary."""

    def __init__(self, head):
        self.head, self.lines, self.goals = head, [], []

    def add(self, cells, goals, names=("",)):
        """`names` tell the goals of a row apart in the summary; the last one stands for all that follow."""
        self.lines.append([*cells, margins(*goals), verdict(*goals)])
        for i, goal in enumerate(goals):
            if goal.wanted is not None:
                name = names[min(i, len(names) - 1)]
                self.goals.append((cells[0] + (f" ({name})" if name else ""), goal))


def ratio_section(rows, records):
    rounds, best, section = of_rounds(records), best_of(records), Section(RATIO_HEAD)
    for row in rows:
        peers = fastest_peer(rounds, row.task)
        peer = min(peers.values(), key=lambda r: r["per_item_ns"], default=None)
        cells, goals = ["not measured"], []
        if peer:
            cells = [f"{peer['lib']} ({peer['how']}) {number(peer['per_item_ns'])} ({peer['n']:,})"]
        for lib, wanted in zip(OURS, (row.base, row.fast), strict=True):
            mine = best.get((row.task, lib))
            goal = at_least(ratios(peers, rounds.get((row.task, lib), {}), "per_item_ns"), wanted)
            cells += [number(mine["per_item_ns"]) if mine else "?", span(goal)]
            goals.append(goal)
        wanted = " / ".join("-" if w is None else number(w) for w in (row.base, row.fast))
        section.add([row.label, *cells, wanted], goals, MODES)
    return section


def fit_section(records):
    """The ratio is scikit-learn's time over Murmure's; diffprivlib stands beside."""
    rounds, best, section = of_rounds(records), best_of(records), Section(FIT_HEAD)
    for row in FITS:
        clear, noisy = (best.get((row.task, lib)) for lib in ("scikit-learn", "diffprivlib"))
        cells, goals = [number(r["seconds"] * 1e3) if r else "?" for r in (clear, noisy)], []
        for lib in OURS:
            mine = best.get((row.task, lib))
            goal = at_least(
                ratios(rounds.get((row.task, "scikit-learn"), {}), rounds.get((row.task, lib), {})),
                row.wanted if lib == OURS[1] else None,
            )
            cells += [number(mine["seconds"] * 1e3) if mine else "?", span(goal)]
            goals.append(goal)
        section.add([row.label, *cells, number(row.wanted)], goals[1:], MODES[1:])
    return section


def budget_section(records):
    rounds, best, section = of_rounds(records), best_of(records), Section(BUDGET_HEAD)
    for row in BUDGETS:
        cells, goals, field = [], [], "megabytes" if row.unit == "MB" else "seconds"
        for lib in OURS:
            mine = best.get((row.task, lib))
            cells.append(quantity(mine[field], row.unit) if mine else "-")
            goals.append(at_most([r[field] for r in rounds.get((row.task, lib), {}).values()], row.most))
        wanted = "-" if row.most is None else f"at most {quantity(row.most, row.unit)}"
        section.add([row.label, *cells, wanted], goals, MODES)
    return section


def streamed_section(records):
    """One line for every size that was measured and either way, the smallest file first."""
    rounds, best, section = of_rounds(records), best_of(records), Section(STREAMED_HEAD)
    sizes = sorted({r["n"] for (task, _), r in best.items() if task.startswith("copy.")})
    for row in STREAMED:
        for lib in OURS:
            first = None  # ns a row, of the smallest file
            for n in sizes:
                copies = rounds[f"copy.{n}", "arrow"]
                acts = [f"{act}.{row.task}.{n}" for act in row.acts]
                label = f"{n:,}, {row.label}, {lib.split()[-1]}"
                parts = [rounds.get((task, lib), {}) for task in acts]
                if not all(parts):
                    section.add([label, number(best[f"copy.{n}", "arrow"]["seconds"]), *["?"] * 6], [at_most([], 1)])
                    continue
                every = sorted({*copies, *(i for part in parts for i in part)})
                whole = {i: sum(part[i]["seconds"] for part in parts) for i in every if all(i in p for p in parts)}
                times = [whole[i] / copies[i]["seconds"] if i in whole and i in copies else None for i in every]
                ours = min(whole.values(), default=float("nan"))
                first = first or ours / n
                peak = max(r["megabytes"] for part in parts for r in part.values())
                goals = [
                    at_most(times, None if n == sizes[0] else row.times),  # of the smallest, start-up is half
                    at_most([ours / n / first], row.growth),
                    at_most([peak], row.megabytes),
                ]
                section.add(
                    [
                        label,
                        *(number(best[key]["seconds"]) for key in ((f"copy.{n}", "arrow"), *((a, lib) for a in acts))),
                        *["-"] * (2 - len(acts)),
                        number(n / ours),
                        *map(wanting, goals),
                    ],
                    goals,
                    ("time", "growth", "memory"),
                )
    return section


def masked_section(records):
    """Server and client each at their best; Flower stands beside the one sum that it was given."""
    rounds, section = of_rounds(records), Section(MASKED_HEAD)
    flower = rounds.get(("secure.flower", "flower"), {})
    for row in SECURE:
        mine, theirs = rounds.get((row.task, "murmure"), {}), {} if row.ratio is None else flower
        seen = [min((r[side] for r in theirs.values()), default=None) for side in ("server", "client")]
        server, client = (
            at_most([r[side] for r in mine.values()], most)
            for side, most in (("server", row.server), ("client", row.client))
        )
        ratio = at_least(ratios(theirs, mine, "server") if row.ratio else [], row.ratio)
        cells = ["-" if t is None else quantity(t, "s") for t in seen]
        cells += [wanting(one, lambda x: quantity(x, "s")) for one in (server, client)]
        section.add([row.label, *cells, "-" if row.ratio is None else wanting(ratio)], [server, client, ratio], SIDES)
    return section


def wire_section(records):
    rounds, section = of_rounds(records), Section(WIRE_HEAD)
    for row in WIRE:
        runs = rounds.get((row.task, "murmure"), {}).values()
        seconds = at_most([r["seconds"] for r in runs], row.seconds)
        times = at_most([r["bytes"] / r["needed"] for r in runs], row.times)
        posted = number(max(r["bytes"] for r in runs)) if runs else "?"
        section.add(
            [row.label, wanting(seconds, lambda x: quantity(x, "s")), posted, wanting(times)],
            [seconds, times],
            ("time", "bytes"),
        )
    return section


def difference(one, other):
    """The largest, relative, of any coefficient or standard error."""
    pairs = [(a, b) for field in ("params", "bse") for a, b in zip(one[field], other[field], strict=True)]
    return max(abs(a - b) / abs(b) for a, b in pairs)


def regressed_section(records):
    """One line for every size that was measured, the smallest table first."""
    rounds, best, section = of_rounds(records), best_of(records), Section(REGRESSED_HEAD)
    for row in REGRESSED:
        start = f"{row.task}.{row.way}."
        sizes = sorted(r["n"] for (task, _), r in best.items() if task.startswith(start))
        first = None
        for n in sizes:
            ours, peer = best[f"{start}{n}", "murmure"], best.get((f"{row.task}.{n}", "statsmodels"))
            label = f"{n:,}, {row.label}"
            if not peer:
                section.add([label, "?", "?", number(ours["seconds"]), *["?"] * 4], [at_least([], row.ratio)])
                continue
            first = first or ours["megabytes"]
            large = n > sizes[0] or len(sizes) == 1
            ratio = at_least(
                ratios(rounds[f"{row.task}.{n}", "statsmodels"], rounds[f"{start}{n}", "murmure"]),
                row.ratio if large else None,  # of the smallest, start-up is half
            )
            others = (
                at_most([difference(r, peer) for r in rounds[f"{start}{n}", "murmure"].values()], row.difference),
                at_most([ours["megabytes"]], row.megabytes),
                at_most([ours["megabytes"] / first], row.growth),
            )
            section.add(
                [
                    label,
                    f"{peer['how']} {number(peer['seconds'])}",
                    number(peer["peak"]),
                    number(ours["seconds"]),
                    wanting(ratio),
                    *map(wanting, others),
                ],
                [ratio, *others],
                ("ratio", "difference", "memory", "its growth"),
            )
    return section


def between_section(records):
    rounds, best, section = of_rounds(records), best_of(records), Section(BETWEEN_HEAD)
    for n in sorted(r["n"] for (task, _), r in best.items() if task.startswith("ols.secure.")):
        clear, masked = (rounds.get((f"ols.{way}.{n}", "murmure"), {}) for way in ("apart", "secure"))
        both = sorted({*clear, *masked})
        added = at_most(
            [masked[i]["seconds"] - clear[i]["seconds"] if i in clear and i in masked else None for i in both],
            BETWEEN.most,
        )
        seconds = [min((r["seconds"] for r in way.values()), default=None) for way in (clear, masked)]
        cells = ["?" if s is None else number(s) for s in seconds]
        section.add([f"{n:,}, {BETWEEN.label}", *cells, wanting(added, lambda x: f"{x:.2f}")], [added])
    return section


def added_section(records):
    rounds, section, lib = of_rounds(records), Section(ADDED_HEAD), OURS[1]
    memory = rounds.get(("spark.memory", lib), {})
    for row in SPARK:
        spark = rounds.get((f"spark.{row.way}", lib), {})
        if not (memory and spark):
            continue  # needs Spark; some ways are only measured with --large
        times = Judged(tuple(ratios(spark, memory)), None if row.most is None else 1 + row.most, at_least=False)
        section.add(
            [
                f"{next(iter(spark.values()))['n']:,}, {row.label}",
                *(number(min(r["seconds"] for r in way.values())) for way in (memory, spark)),
                span(times, lambda x: f"{x - 1:.0%}"),
                "-" if row.most is None else f"at most {row.most:.0%}",
            ],
            [times],
        )
    return section


def growth_section(records):
    """The fastest time at every size, and the exponent of the largest ones."""
    section, times = Section(GROWTH_HEAD), {}
    for record in records:
        if "size" in record:
            sizes = times.setdefault(record["task"], {})
            sizes[record["size"]] = min(record["seconds"], sizes.get(record["size"], record["seconds"]))
    for row in GROWTH:
        sizes, letter = times.get(f"growth.{row.task}", {}), row.task.partition(".")[0]
        fit = fitted(sizes)
        if fit is None:
            section.lines.append([row.label, letter, *["?"] * 4, row.reckoned])
            continue
        ends = (f"{size:,}: {quantity(sizes[size], 's')}" for size in (min(sizes), max(sizes)))
        error = "" if fit.error is None else f" ± {fit.error:.2f}"
        section.lines.append(
            [row.label, letter, *ends, f"{fit.value:.2f}{error}", f"{fit.low:,} ({fit.points} sizes)", row.reckoned]
        )
    return section


def rate_section(records):
    section, cost = Section(RATE_HEAD), rates(records)
    section.lines = [[what, number(cost[need]) if need in cost else "?"] for need, (what, _) in RATES.items()]
    return section


def floor_section(records):
    """`records` of all parts that were measured on the machine whose floors these are."""
    section = Section(FLOOR_HEAD)
    for label, side, floor, ours in distances(records):
        cells = ["?", "?"] if ours is None else [number(ours), number(ours / floor)]
        section.lines.append([label, in_words(side, number), number(floor), *cells])
    return section
