"""The Markdown tables: the best of every measurement, ratios to the fastest peer, and what was met."""

from goals import BETWEEN, BUDGETS, COLUMN, COX, FITS, NOISE, RECORDS, REGRESSED, SECURE, SPARK, STREAMED, WIRE

RATIO_HEAD = [
    "task",
    "fastest peer, ns (measured on)",
    "Murmure base, ns",
    "ratio",
    "Murmure fast, ns",
    "ratio",
    "wanted base / fast",
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
    "met",
]
STREAMED_HEAD = [
    "rows and mechanism",
    "Arrow copies, s",
    "sanitise, s",
    "estimate, s",
    "rows/s",
    "times the copy (wanted)",
    "growth a row (wanted)",
    "peak, MB (wanted)",
    "met",
]
MASKED_HEAD = [
    "sum",
    "Flower, server",
    "Flower, client",
    "Murmure, server (wanted)",
    "Murmure, client (wanted)",
    "ratio, server (wanted)",
    "met",
]
WIRE_HEAD = [
    "study",
    "all joined to result (wanted)",
    "bytes posted by a party",
    "times what is needed (wanted)",
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
    "met",
]
BETWEEN_HEAD = ["rows and regression", "in the clear, s", "by masked sums, s", "added, s (wanted)", "met"]
ADDED_HEAD = ["rows and work", "in memory, s", "on Spark, s", "added", "wanted", "met"]
BUDGET_HEAD = ["cost", "Murmure base", "Murmure fast", "wanted", "met"]
OURS = ("murmure base", "murmure fast")


def best_of(records):
    """(task, lib) to the fastest record; of memory, the greediest round counts."""
    best = {}
    for record in records:
        if "error" in record:
            continue
        key = record["task"], record["lib"]
        old = best.get(key, record)
        best[key] = dict(min(old, record, key=lambda r: r["seconds"]))
        if "megabytes" in record:
            best[key]["megabytes"] = max(old["megabytes"], record["megabytes"])
    return best


def number(x):
    """Three significant figures, thousands separated."""
    return f"{float(f'{x:.3g}'):,.0f}" if x >= 100 else f"{x:.3g}"


def quantity(x, unit):
    return f"{number(x * 1000)} ms" if unit == "s" and x < 1 else f"{number(x)} {unit}"


def verdict(answers):
    """`yes` or `no` for each, `-` where nothing is wanted, `?` where nothing was measured."""
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


def fit_row(row, best):
    """The ratio is scikit-learn's time over Murmure's; diffprivlib stands beside."""
    clear, noisy = (best.get((row.task, lib)) for lib in ("scikit-learn", "diffprivlib"))
    cells, ratios = [number(r["seconds"] * 1e3) if r else "?" for r in (clear, noisy)], []
    for lib in OURS:
        mine = best.get((row.task, lib))
        ratios.append(clear["seconds"] / mine["seconds"] if clear and mine else None)
        cells += [number(mine["seconds"] * 1e3) if mine else "?", number(ratios[-1]) if ratios[-1] else "?"]
    return [row.label, *cells, number(row.wanted), verdict([met(ratios[1], row.wanted)])]


def budget_row(row, best):
    cells, answers = [], []
    for lib in OURS:
        mine = best.get((row.task, lib))
        value = mine and (mine["megabytes"] if row.unit == "MB" else mine["seconds"])
        cells.append(quantity(value, row.unit) if mine else "-")
        if row.most is None:
            answers.append(None)
        else:
            answers.append(value <= row.most if mine else "?")
    wanted = "-" if row.most is None else f"at most {quantity(row.most, row.unit)}"
    return [row.label, *cells, wanted, verdict(answers)]


def streamed_rows(row, best):
    """One line for every size that was measured and either way, the smallest file first."""
    sizes = sorted({r["n"] for (task, _), r in best.items() if task.startswith("copy.")})
    for lib in OURS:
        first = None  # ns a row, of the smallest file
        for n in sizes:
            copy = best[f"copy.{n}", "arrow"]
            parts = [best.get((f"{act}.{row.task}.{n}", lib)) for act in ("sanitise", "estimate")]
            label = f"{n:,}, {row.label}, {lib.split()[-1]}"
            if not all(parts):
                yield [label, number(copy["seconds"]), *["?"] * 7]
                continue
            ours = sum(part["seconds"] for part in parts)
            first = first or ours / n
            peak = max(part["megabytes"] for part in parts)
            values = ours / copy["seconds"], ours / n / first, peak
            wanted = (
                None if n == sizes[0] else row.times,
                row.growth,
                row.megabytes,
            )  # of the smallest, start-up is half
            yield [
                label,
                *(number(part["seconds"]) for part in (copy, *parts)),
                number(n / ours),
                *(number(v) + ("" if w is None else f" ({number(w)})") for v, w in zip(values, wanted, strict=True)),
                verdict([None if w is None else v <= w for v, w in zip(values, wanted, strict=True)]),
            ]


def difference(one, other):
    """The largest, relative, of any coefficient or standard error."""
    pairs = [(a, b) for field in ("params", "bse") for a, b in zip(one[field], other[field], strict=True)]
    return max(abs(a - b) / abs(b) for a, b in pairs)


def regressed_rows(row, best):
    """One line for every size that was measured, the smallest table first."""
    start = f"{row.task}.{row.way}."
    sizes = sorted(r["n"] for (task, _), r in best.items() if task.startswith(start))
    first = None
    for n in sizes:
        ours, peer = best[f"{start}{n}", "murmure"], best.get((f"{row.task}.{n}", "statsmodels"))
        label = f"{n:,}, {row.label}"
        if not peer:
            yield [label, "?", "?", number(ours["seconds"]), *["?"] * 5]
            continue
        first = first or ours["megabytes"]
        ratio, apart = peer["seconds"] / ours["seconds"], difference(ours, peer)
        growth = ours["megabytes"] / first
        large = n > sizes[0] or len(sizes) == 1
        wanted = row.ratio if large else None  # of the smallest, start-up is half
        at_most = ((apart, row.difference), (ours["megabytes"], row.megabytes), (growth, row.growth))
        yield [
            label,
            f"{peer['how']} {number(peer['seconds'])}",
            number(peer["peak"]),
            number(ours["seconds"]),
            number(ratio) + ("" if wanted is None else f" ({number(wanted)})"),
            *(f"{number(value)} ({number(most)})" for value, most in at_most),
            verdict([met(ratio, wanted), *(value <= most for value, most in at_most)]),
        ]


def between_rows(best):
    for n in sorted(r["n"] for (task, _), r in best.items() if task.startswith("ols.secure.")):
        clear, masked = (best[f"ols.{way}.{n}", "murmure"]["seconds"] for way in ("apart", "secure"))
        yield [
            f"{n:,}, {BETWEEN.label}",
            number(clear),
            number(masked),
            f"{masked - clear:.2f} ({number(BETWEEN.most)})",
            verdict([masked - clear <= BETWEEN.most]),
        ]


def added_rows(best):
    lib = OURS[1]
    for row in SPARK:
        memory, spark = best.get(("spark.memory", lib)), best.get((f"spark.{row.way}", lib))
        if not (memory and spark):
            continue  # needs Spark; some ways are only measured with --large
        added = spark["seconds"] / memory["seconds"] - 1
        yield [
            f"{spark['n']:,}, {row.label}",
            number(memory["seconds"]),
            number(spark["seconds"]),
            f"{added:.0%}",
            "-" if row.most is None else f"at most {row.most:.0%}",
            verdict([None if row.most is None else added <= row.most]),
        ]


def masked_row(row, records):
    """Server and client each at their best; Flower stands beside the one sum that it was given."""

    def best(task, field):
        return min((r[field] for r in records if r["task"] == task and field in r), default=None)

    server, client = best(row.task, "server"), best(row.task, "client")
    theirs = best("secure.flower", "server"), best("secure.flower", "client")
    if row.ratio is None:
        theirs = None, None
    ratio = theirs[0] / server if theirs[0] and server else None
    cells = ["-" if t is None else quantity(t, "s") for t in theirs]
    for value, most in ((server, row.server), (client, row.client)):
        wanted = "" if most is None else f" ({quantity(most, 's')})"
        cells.append(("?" if value is None else quantity(value, "s")) + wanted)
    wanted = "" if row.ratio is None else f" ({number(row.ratio)})"
    cells.append(("-" if ratio is None else number(ratio)) + wanted)
    answers = [
        None if most is None else "?" if value is None else value <= most
        for value, most in ((server, row.server), (client, row.client))
    ]
    return [row.label, *cells, verdict([*answers, met(ratio, row.ratio)])]


def wire_row(row, records):
    """The fastest round; of bytes, the greediest."""
    runs = [r for r in records if r["task"] == row.task and "error" not in r]
    if not runs:
        return [row.label, *["?"] * 4]
    seconds, posted = min(r["seconds"] for r in runs), max(r["bytes"] for r in runs)
    times = max(r["bytes"] / r["needed"] for r in runs)
    return [
        row.label,
        f"{quantity(seconds, 's')} ({quantity(row.seconds, 's')})",
        number(posted),
        f"{number(times)} ({number(row.times)})",
        verdict([seconds <= row.seconds, times <= row.times]),
    ]


def markdown(title, note, head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return f"## {title}\n\n{note}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


ONE_COLUMN = """\
k = 128, eps = 1, n = 100,000 unless said otherwise."""
MANY_COLUMNS = """\
Nine columns with the sizes of Adult (7, 16, 7, 14, 6, 5, 2, 41, 2; the codes are made up), eps = 1, n = 45,222. A time
is that of a whole record. The peer is timed on fewer people: its cost is linear, within a few per cent."""
WHOLE_NUMBERS = """\
Noise for each of 1,000,000 whole numbers, whose L1 sensitivity is the scale, at eps = 1. Peer and exact sampler draw
from the law itself; the tables round it, and their certificate counts by how much."""
LEARNERS = """\
A whole `fit` of NumPy arrays of eight columns. scikit-learn protects nobody; Murmure and diffprivlib
learn at eps = 1. Wall time for Murmure; for the others, which use threads, wall or CPU time, whichever is less. Every
one has its own defaults: scikit-learn's k-means goes on until it settles, diffprivlib's takes at most seven steps,
Murmure's at most eight, the first for the mean."""
LARGE = """\
A Parquet file of eight columns (four of text, three of whole numbers, one real) is read, randomised and written in
batches, then the shares of every column are estimated from the written file. The copy is Arrow's own, batch by batch
with the same settings, on the same cores. Wall time of the calls in a fresh process, warmed up on a small table; memory
is the peak of the process."""
CLUSTER = """\
The large table again, randomised and added up by `mu.run` in memory and on Spark (fast), all on one core. CPU seconds
of every process taken together, the JVM's too, once Spark has started."""
MASKED = """\
One sum over parties of which three in ten vanish once their keys are shared; Murmure's is compared entry by entry with
the true one, and exact. Server: everything the coordinator does. Client: everything the slowest party does. Both sides
in one process, without a network. Wall time for Murmure, whose coordinator may use two threads; for Flower, whose
SecAgg+ starts threads too, wall or CPU time, whichever is less. Flower's sums are of floats, clipped and rounded, its
masks have 28 to 32 bits of secret, and its messages are not signed."""
WIRED = """\
`murmure study run` and thirty times `murmure party join`, each a process of its own, on this machine's loopback. Needed
are 8 bytes for every word of the vector and 200 for every neighbour."""
REGRESSIONS = """\
Doubles of 17 digits in ten Parquet files, read batch by batch and added up exactly, in wall time with the reading;
statsmodels has all rows in memory as one array, and is given the faster of its ways (for least squares pinv and qr, for
others Newton and IRLS, where both end at the same figures), in wall or CPU time, whichever is less. Each in a fresh
process, warmed up on a small table.
Murmure's numbers are on a grid: of 12 decimals where bounds are stated, of 17 digits where they are read off the table.
Differences are relative, the largest of any coefficient or standard error; memory is the peak of the process."""
PARTIES = """\
The same ten files as the tables of ten parties, all in one process, in turns: added up in the clear, and by
`mu.Secure()`. The coefficients are the same fractions."""
SURVIVAL = """\
The German trial of breast cancer that lifelines distributes (GBSG2): 686 rows, six columns, as many times as the rows
have (574 days). Both sides have the rows in memory, lifelines as a frame, Murmure as an Arrow table; Murmure's figures
agree with lifelines' to a millionth, or there is no row. lifelines has Efron's ties only, statsmodels both; Murmure's
default is Breslow's. A time is that of a whole fit with its standard errors, divided by the rows; the last line is one
fit of a process with everything before it, whole, in CPU time on both sides."""
COSTS = """\
What Murmure costs by itself: there is nothing to compare it with."""


def render(records):
    best = best_of(records)
    streamed = [line for row in STREAMED for line in streamed_rows(row, best)]
    regressed = [line for row in REGRESSED for line in regressed_rows(row, best)]
    parts = [
        markdown("One column", ONE_COLUMN, RATIO_HEAD, [ratio_row(row, best) for row in COLUMN]),
        markdown("Records", MANY_COLUMNS, RATIO_HEAD, [ratio_row(row, best) for row in RECORDS]),
        markdown("Noise on whole numbers", WHOLE_NUMBERS, RATIO_HEAD, [ratio_row(row, best) for row in NOISE]),
        markdown("Learners", LEARNERS, FIT_HEAD, [fit_row(row, best) for row in FITS]),
        markdown("Secure sums", MASKED, MASKED_HEAD, [masked_row(row, records) for row in SECURE]),
        markdown("Secure sums over HTTP", WIRED, WIRE_HEAD, [wire_row(row, records) for row in WIRE]),
        markdown("Regressions", REGRESSIONS, REGRESSED_HEAD, regressed),
        markdown("Cox regression", SURVIVAL, RATIO_HEAD, [ratio_row(row, best) for row in COX]),
        markdown("Regressions between parties", PARTIES, BETWEEN_HEAD, list(between_rows(best))),
        markdown("Large tables", LARGE, STREAMED_HEAD, streamed),
        markdown("Spark", CLUSTER, ADDED_HEAD, list(added_rows(best))),
        markdown("Costs", COSTS, BUDGET_HEAD, [budget_row(row, best) for row in BUDGETS]),
    ]
    return "\n".join(parts)
