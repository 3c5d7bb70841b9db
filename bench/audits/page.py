"""The tables of docs/explanation-audits-measured.md, and what in them fails its goal."""

from environments import ROOT

from murmure.core.estimates.intervals import clopper_pearson

PAGE = ROOT / "docs" / "explanation-audits-measured.md"
BEGIN, END = "<!-- script/audits writes from here -->", "<!-- to here -->"
POWER = 0.95
WITHOUT_GOAL = ("k-means",)  # learners: their power is stated, and has no goal
USUAL = 0.05


def write(text):
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{rest.partition(END)[2]}")


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(str(cell).replace('|', '/') for cell in line)} |\n" for line in lines)


def number(value, digits=3):
    return "" if value is None else f"{value:.{digits}f}"


def render(found, head):
    """The text, and a sentence for every goal that is missed."""
    failures, parts = [], [f"`script/audits`, {head['date']}.\n"]
    for title, function in (
        ("Known defects", bads),
        ("Sound randomisers", sound),
        ("The level", level),
        ("Peers", peers),
    ):
        records = found[function.__name__]
        text = function(records, head, failures) if records else "Not run.\n"
        parts.append(f"### {title}\n\n{text}")
    return "\n".join(parts), failures


def bads(records, head, failures):
    by_subject = {}
    for record in records:
        by_subject.setdefault(record["subject"], []).append(record)
    rows = []
    for subject, runs in by_subject.items():
        cells = []
        for usual in (True, False):
            these = [run for run in runs if (run["alpha"] == USUAL) == usual]
            if not these:
                cells.append("not run")
                continue
            hits = sum(run["verdict"] == "violates" for run in these)
            low = clopper_pearson([hits], len(these), 0.95)[0][0]
            cells.append(f"{hits} of {len(these)} (at least {low:.2f})")
            if usual and not subject.startswith(WITHOUT_GOAL) and hits / len(these) < POWER:
                failures.append(f"{subject} is found {hits} times of {len(these)}, less than {POWER:.0%}")
        real = "no finite epsilon" if runs[0]["real"] is None else number(runs[0]["real"])
        hit = [run for run in runs if run["verdict"] == "violates"] or runs
        bound = max(run["bound"] or 0.0 for run in hit)
        most = max(run["held_out"] for run in runs)
        rows.append([subject, number(runs[0]["claim"], 1), real, *cells, number(bound), f"{most:,}"])
    columns = ["randomiser", "promise", "real cost", f"found at alpha {USUAL:g}", f"found at {head['family']:.1e}"]
    text = table([*columns, "largest bound", "held out, at most"], rows)
    return f"{text}\n`at least`: the lower end of a 95 % interval for the chance of being found.\n"


def sound(records, head, failures):
    words = ("consistent", "no statement", "violates")
    counts = {word: [r for r in records if r["verdict"] == word] for word in words}
    for record in counts["violates"]:
        failures.append(f"{record['subject']} is sound and was called a violation")
    sorts = (("local/", "our local mechanisms"), ("plan/", "our plans with noise at a curator"))
    rows = []
    for start, what in (*sorts, ("", "twins of the known bads, without the defect")):
        these = [r for r in records if r["subject"].startswith(start) and (start or "/" not in r["subject"][:6])]
        rows.append([what, len(these), *(sum(r["verdict"] == word for r in these) for word in words)])
    rows.append(["all", len(records), *(len(counts[word]) for word in words)])
    text = table(["sound randomisers", "runs", *words], rows)
    silent = ", ".join(f"`{r['subject']}`" for r in counts["no statement"]) or "none"
    return (
        f"{text}\nalpha = 0.01 / {head['runs']} runs (those of sound peers included) = {head['family']:.1e} each, so "
        f"one false alarm or more among all of them has a chance of at most 1 %. No statement: {silent}.\n"
    )


def level(records, head, failures):
    by_subject = {}
    for record in records:
        by_subject.setdefault(record["subject"], []).append(record["verdict"] == "violates")
    everything = [hit for hits in by_subject.values() for hit in hits]
    by_subject["all"] = everything
    rows = []
    for subject, hits in by_subject.items():
        low, high = clopper_pearson([sum(hits)], len(hits), 0.95)[0]
        rows.append([subject, len(hits), sum(hits), f"{low:.3f} to {high:.3f}"])
        if low > USUAL:
            failures.append(f"{subject} is accused more often than alpha allows: {sum(hits)} of {len(hits)}")
    return table(
        ["sound, and spends all it promises", "runs at alpha 0.05", "called a violation", "95 % interval"], rows
    )


def peers(records, head, failures):
    rows = []
    for r in records:
        found = "violates" if r["verdict"] == "violates" else r["verdict"]
        if bool(r["known"]) != (found == "violates"):
            failures.append(f"{r['peer']} {r['call']}: known {r['known'] or 'nothing'!r}, found {found!r}")
        seen = "" if r["would_have_seen"] is None or found == "violates" else f" (eps ≥ {r['would_have_seen']:.2f})"
        rows.append(
            [
                r["peer"],
                r["call"],
                number(r["claim"]),
                number(r["bound"]),
                f"**{found}**" if found == "violates" else f"{found}{seen}",
                r["event"] or "; ".join(r["reasons"]),
                r["known"] or "nothing",
                f"{r['samples']:,}",
                f"{r['seconds']:.0f}",
            ]
        )
    head_row = ["release", "call", "promise", "eps at least", "verdict (would have seen)", "event", "known before"]
    return table([*head_row, "reports of each value", "seconds"], rows)
