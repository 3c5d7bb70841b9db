"""The page of results: one section a table, each with the day, load and processor of its own run."""

from conditions import FACTS, differing, line, load, shared
from goals import COLUMN, COX, NOISE, RECORDS
from sections import (
    added_section,
    between_section,
    budget_section,
    fit_section,
    floor_section,
    growth_section,
    margins,
    masked_section,
    rate_section,
    ratio_section,
    regressed_section,
    streamed_section,
    verdict,
    wire_section,
)

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
batches. In one run the shares of every column come from sums that are made while the file is written; otherwise they
are estimated from the written file. The copy is Arrow's own, batch by batch on the same cores, and states the smallest
and the largest value of each column, as Arrow does; Murmure does not state those of reports. Wall time of the calls in
a fresh process, warmed up on a small table; memory is the peak of the process."""
CLUSTER = """\
The large table again, randomised and added up by `mu.run` in memory and on Spark (fast), all on one core. CPU seconds
of every process taken together, the JVM's too, once Spark has started."""
MASKED = """\
One sum over parties of which three in ten vanish once their keys are shared; Murmure's is compared entry by entry with
the true one, and exact. Server: everything the coordinator does. Client: everything the slowest party does. Both sides
in one process, without a network. Wall time for Murmure's coordinator, which may use two threads; CPU time for its
parties, since by the clock the slowest of a thousand is the one that other work interrupted; for Flower, whose SecAgg+
starts threads too, wall or CPU time, whichever is less. Flower's sums are of floats, clipped and rounded, its masks
have 28 to 32 bits of secret, and its messages are not signed."""
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
GROWING = """\
Time is about the size to the power of the exponent: the slope of one logarithm over the other, by least squares on the
sizes of the last two decades, with its standard error. The fast column, once, however many rounds. n: people or rows,
at k = 128; k: values, at 100,000 people where a report is a few words and 1,000 where it is k bits; d: columns of four
values, 20,000 people; m: parties, with 1,000 entries, of which the fifth that may vanish does. A cost with a fixed part
has an exponent below the reckoned one; reports that leave the cache have one above it."""
RATED = """\
The fastest code that is installed, not Murmure's: nanoseconds for one, on as many threads as Murmure may use (two, or
one with `--one-core`), the best of all rounds."""
BOUNDED = """\
What a row cannot do without, times what that costs above. A core does one thing at a time while memory brings the next:
the dearer of the two is the floor, and the needs of that one are named. Words and bytes of reports are counted from
Murmure. A floor knows nothing of Python, of checking, of thresholds and of rounding, so nobody reaches it; what stands
between is in `docs/explanation-speed.md`. Only parts that were measured on the same processor are compared."""
HEAD = """\
# Murmure and its peers, measured side by side

Written by `script/bench`; do not edit. Parts are measured by themselves (`script/bench --only PART`), and every section
says when, on what and beside which load its own was. `bench/results.json` holds every round.

{facts}

Times are ns per person (or per number of the table), the best of all interleaved rounds: wall time for Murmure, CPU
time for the peers, so that other work on the machine cannot count against them.
A ratio is the peer's time in a round over Murmure's in that round; shown are the worst round and the best.
Client: every person's value is randomised. Server: every report is aggregated and the shares are estimated.
Murmure's figures are whole public calls, secure randomness and validation included; base is NumPy alone, fast
adds Numba, whose compile time has rows of its own, and up to two threads (`--one-core` keeps to one core).
No peer has secure randomness for categories, and none uses threads but scikit-learn, Flower, statsmodels and lifelines.
Where two peers, or two ways of one peer, do a task, the faster one stands here.
"""
SHORT = """\
A goal is met when every round met it. The margin is how many times better than wanted the worst round was: below one
is a miss."""
CLOSEST = 5  # goals in the summary, besides those that were missed

# part, title, note, and what makes the lines of the part's records
SECTIONS = [
    ("columns", "One column", ONE_COLUMN, lambda records: ratio_section(COLUMN, records)),
    ("records", "Records", MANY_COLUMNS, lambda records: ratio_section(RECORDS, records)),
    ("noise", "Noise on whole numbers", WHOLE_NUMBERS, lambda records: ratio_section(NOISE, records)),
    ("fits", "Learners", LEARNERS, fit_section),
    ("secure", "Secure sums", MASKED, masked_section),
    ("wire", "Secure sums over HTTP", WIRED, wire_section),
    ("econometrics", "Regressions", REGRESSIONS, regressed_section),
    ("econometrics", "Regressions between parties", PARTIES, between_section),
    ("cox", "Cox regression", SURVIVAL, lambda records: ratio_section(COX, records)),
    ("large", "Large tables", LARGE, streamed_section),
    ("spark", "Spark", CLUSTER, added_section),
    ("costs", "Costs", COSTS, budget_section),
    ("growth", "Growth", GROWING, growth_section),
    ("floors", "What this machine can do", RATED, rate_section),
    ("floors", "Floors", BOUNDED, floor_section),
]


def table(head, rows):
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *rows))


def failures(records):
    """Names only: messages may hold paths of this machine."""
    return sorted({f"{r['lib']} {r['task']}" for r in records if "error" in r})


def summary(goals):
    """How many goals were met in every round, which were not, and which came closest to that."""
    missed = [(label, goal) for label, goal in goals if not goal.always]
    close = sorted((g for g in goals if g[1].always), key=lambda g: g[1].margin)[:CLOSEST]
    rows = [[label, margins(goal), verdict(goal)] for label, goal in [*missed, *close]]
    count = f"{len(goals) - len(missed)} of {len(goals)} goals were met in every round."
    which = "Those that were not, and the closest of the others:" if missed else "The closest:"
    return f"## In short\n\n{SHORT}\n{count} {which}\n\n" + table(["row", "margin", "met in rounds"], rows)


def alike(parts, about):
    """The records of all parts that were measured on as many cores of the same processor."""
    same = [p for p in parts.values() if all(p["about"][field] == about[field] for field in ("processor", "cores"))]
    return [record for part in same for record in part["records"]]


def facts(parts):
    """Machine, versions and byte code of all parts; where they differ, which parts had what."""
    abouts = {name: part["about"] for name, part in parts.items()}
    lines = [f"{what}: {'; '.join(shared(abouts, field))}" for field, what in FACTS.items()]
    peers = sorted({line for about in abouts.values() for line in about["peers"]})
    lines += [f"load: {load(abouts)}", f"peers: {', '.join(peers)}"]
    return "".join(f"- {line}\n" for line in lines).rstrip()


def page(parts):
    return HEAD.format(facts=facts(parts)) + "\n" + render(parts)


def render(parts):
    """`parts` as `stored_parts` has them."""
    texts, goals = [], []
    for part, title, note, lines in SECTIONS:
        if part not in parts:
            texts.append(f"## {title}\n\n{note}\n\nNot measured yet: `script/bench --only {part}`.\n")
            continue
        records, about = parts[part]["records"], parts[part]["about"]
        section = lines(alike(parts, about) if lines is floor_section else records)
        goals += [(f"{title}: {label}", goal) for label, goal in section.goals]
        failed = failures(records)
        text = f"## {title}\n\n{note}\n\n{line(about)}\n\n{table(section.head, section.lines)}"
        texts.append(text + (f"\nFailed: {', '.join(failed)}.\n" if failed else ""))
    warnings = differing({part: held["about"] for part, held in parts.items()})
    return "\n".join([*(f"{warning}\n" for warning in warnings), summary(goals), *texts])
