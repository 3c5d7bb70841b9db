"""The distance of every row to what bounds it from below, both measured on one machine.

A core does one thing at a time, and memory another: of the two sums of needs times rates the larger one is the floor.
"""

from goals import BUDGETS, COLUMN, COX, FITS, NOISE, RECORDS, REGRESSED, SECURE
from rounds import OURS, best_of

CORE = {  # need: what the rate is of, and how an amount of it reads
    "keystream": ("a byte of keystream, AES-256 in counter mode (OpenSSL)", "{} B of keystream"),
    "product": ("a product of doubles, added up (BLAS)", "{} products"),
    "exponential": ("an exponential of a double (NumPy)", "{} exponentials"),
    "double": ("a double read from Parquet (Arrow)", "{} doubles decoded"),
    "signature": ("an Ed25519 signature checked (OpenSSL)", "{} signatures"),
    "agreement": ("an X25519 key agreed (OpenSSL)", "{} keys agreed"),
    "python": ("a Python process that does nothing", "Python started"),
    "numpy": ("a Python process that imports NumPy", "NumPy imported"),
}
MEMORY = {
    "cache": ("a byte read from the second-level cache", "{} B read or written"),
    "memory": ("a byte read from memory", "{} B read from memory"),
}
RATES = CORE | MEMORY


def rates(records):
    """{need: nanoseconds for one}, the best of all rounds."""
    best = best_of([r for r in records if r["task"].startswith("rate.")])
    return {task.removeprefix("rate."): record["per_item_ns"] for (task, _), record in best.items()}


def needs(records):
    return {r["task"].removeprefix("need."): r["needs"] for r in records if "needs" in r}


def floor_of(amounts, cost):
    """(nanoseconds, the needs that make them): the dearer of what a core does and what memory brings."""
    sides = [{need: amount for need, amount in amounts.items() if need in side} for side in (CORE, MEMORY)]
    return max((sum(amount * cost[need] for need, amount in side.items()), side) for side in sides if side)


def in_words(side, show):
    return ", ".join(RATES[need][1].format(show(amount)) for need, amount in side.items())


def rows(best):
    """(label, task of the need, our fastest record or None), in the order of the page."""
    fast = OURS[1]
    for title, listed in (("", COLUMN), ("", RECORDS), ("", NOISE), ("", FITS), ("Cox regression, ", COX)):
        for row in listed:
            yield title + row.label, row.task, best.get((row.task, fast))
    for row in REGRESSED:
        start = f"{row.task}.{row.way}"
        found = [r for (task, _), r in best.items() if task.startswith(f"{start}.")]
        record = max(found, key=lambda r: r["n"], default=None)
        yield row.label + (f", {record['n']:,} rows" if record else ""), start, record
    for row in SECURE:
        yield f"secure sum, {row.label}, server", row.task, best.get((row.task, "murmure"))
    for row in BUDGETS:
        yield row.label, row.task, best.get((row.task, fast))


def distances(records):
    """(label, in words what bounds it, nanoseconds of the floor, ours or None) of every row that has a floor."""
    cost, amounts, best = rates(records), needs(records), best_of([r for r in records if "seconds" in r])
    for label, task, record in rows(best):
        if task in amounts and set(amounts[task]) <= set(cost):
            floor, side = floor_of(amounts[task], cost)
            yield label, side, floor, record and record["seconds"] / record["n"] * 1e9
