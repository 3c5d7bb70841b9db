"""The audit's own audit: does it find known defects, and is it silent about sound randomisers? Ours and peers'.

Four parts, each a table of docs/explanation-audits-measured.md (--page writes it):
    bads    known defects again and again: the share that is found
    sound   twins of the bads without the defect, and every example of our mechanisms: none may be called a violation
    level   sound twins whose promise is tight, again and again at alpha = 0.05: how often they are wrongly accused
    peers   released randomisers, each as a process in its own environment
Parts bads, sound and level are seeded: they give the same figures again. Peers draw from the system.
Finished runs are kept in .bench/audits and not run again: stop when you like. --fresh forgets them.
"""

import argparse
import json
import math
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

import page  # noqa: E402
from environments import PLACE, python_of, versions  # noqa: E402
from live_worker import LiveWorker  # noqa: E402
from peers import PEERS  # noqa: E402
from subjects import LEARNER, known, ours, plans  # noqa: E402

import murmure as mu  # noqa: E402

PARTS = ("bads", "sound", "level", "peers")
KEPT = PLACE / "audits"
SEED = 18
FAMILY = 0.01  # of false alarms, over all sound runs together
USUAL = 0.05  # alpha where one randomiser is audited
TIGHT = ("Warner", "GRR", "unary", "RS+FD", "memoised", "count")  # twins that spend all that they promise
TWIN_SAMPLES = 100_000  # reports of each value, where a twin is audited for false alarms
LEVEL_RUNS, LEVEL_SAMPLES = 50, 2_000


def repetitions(subject):
    """The two that are 2 % off are the hard ones."""
    return 60 if "2 %" in subject.name else 20


def sound_runs():
    """How many sound runs there are: the family over which false alarms are counted."""
    twins = sum(subject.sound for subject in known())
    return twins + len(list(ours())) + len(list(plans())) + sum(peer.sound for peer in PEERS)


def jobs(part, family):
    """(name, function without arguments) for every run of a part."""
    if part == "bads":
        for subject in known():
            for r in range(0 if subject.sound else repetitions(subject)):
                for alpha in (USUAL, family) if subject.held_out > LEARNER else (USUAL,):
                    yield f"{subject.name} | {alpha:.2g} | {r}", lambda s=subject, r=r, a=alpha: seeded(s, [SEED, r], a)
    elif part == "sound":
        for subject in known():
            if subject.sound:
                samples = min(TWIN_SAMPLES, 2 * subject.held_out)
                yield subject.name, lambda s=subject, n=samples: seeded(s, [SEED, 0], family, n)
        for subject in [*ours(), *plans()]:
            yield subject.name, lambda s=subject: seeded(s, [SEED, 0], family)
    elif part == "level":
        for subject in known():
            if subject.sound and subject.name.startswith(TIGHT):
                for r in range(LEVEL_RUNS):
                    yield (
                        f"{subject.name} | {r}",
                        lambda s=subject, r=r: seeded(s, [SEED, 1, r], USUAL, LEVEL_SAMPLES),
                    )
    else:
        for peer in PEERS:
            yield f"{peer.environment} | {peer.call}", lambda p=peer: one_peer(p, family)


def seeded(subject, seed, alpha, samples=None):
    rng = mu.Random.seeded(seed[-1])
    result = mu.audit(
        subject.randomiser(seed),
        subject.epsilon,
        subject.pairs,
        delta=subject.delta,
        samples=samples or 2 * subject.held_out,
        alpha=alpha,
        rng=rng,
        batched=not subject.ours,
        time_limit=600,
        name="a randomiser",
    )
    return {"subject": subject.name, "real": finite(subject.real), "alpha": alpha, **short(result)}


def one_peer(peer, alpha):
    python = python_of(peer.environment)
    with LiveWorker(peer.words(python)) as worker:
        result = mu.audit(
            worker,
            peer.epsilon,
            list(peer.pairs),
            samples=peer.samples,
            alpha=alpha,
            batched=True,
            time_limit=600,
            name="a randomiser",
        )
    version = versions(python, [peer.package])[0]
    return {"peer": version, "call": peer.call, "known": peer.known, "alpha": alpha, **short(result)}


def finite(value):
    return None if value is None or math.isinf(value) else value


def short(result):
    """What the tables need of a result, as JSON."""
    return {
        "verdict": result.verdict,
        "claim": result.claim,
        "delta": result.delta,
        "bound": result.bound,
        "would_have_seen": result.would_have_seen,
        "event": None if result.event is None else str(result.event),
        "samples": result.samples,
        "held_out": result.held_out,
        "reasons": [str(reason) for reason in result.reasons],
        "problems": [str(problem) for problem in result.problems],
    }


def kept(part):
    file = KEPT / f"{part}.jsonl"
    return {r["run"]: r for r in map(json.loads, file.read_text().splitlines())} if file.exists() else {}


def in_order(part, family):
    """The finished runs, in the order of the list; runs that the list has no more are left out."""
    have = kept(part)
    return [have[name] for name, _ in jobs(part, family) if name in have]


def bar(done, whole, began, what):
    full = round(30 * done / max(whole, 1))
    left = (time.monotonic() - began) / max(done, 1) * (whole - done)
    text = f"\r{'#' * full}{'.' * (30 - full)} {done}/{whole} {what[:44]:<44} {left / 60:5.1f} min left "
    print(text, end="", file=sys.stderr, flush=True)


def work(part, family):
    """Run what is missing; a finished run is written at once."""
    have = kept(part)
    lacking = [(name, job) for name, job in jobs(part, family) if name not in have]
    began = time.monotonic()
    for done, (name, job) in enumerate(lacking):
        bar(done, len(lacking), began, f"{part}: {name}")
        start = time.monotonic()
        record = {"run": name, **job(), "seconds": round(time.monotonic() - start, 2)}
        with (KEPT / f"{part}.jsonl").open("a") as file:
            file.write(json.dumps(record) + "\n")
    if lacking:
        print(file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(prog="script/audits", description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default=",".join(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--fresh", action="store_true", help="forget the finished runs of these parts first")
    parser.add_argument("--finished", action="store_true", help="run nothing: only show what is there")
    parser.add_argument("--page", action="store_true", help="write the tables into the page")
    parser.add_argument("--json", metavar="FILE", help="write all runs to FILE")
    options = parser.parse_args()
    parts = options.parts.split(",")
    if set(parts) - set(PARTS):
        parser.error(f"--parts: {sorted(set(parts) - set(PARTS))[0]} is none of {', '.join(PARTS)}")
    KEPT.mkdir(parents=True, exist_ok=True)
    family = FAMILY / sound_runs()
    for part in parts:
        if options.fresh:
            (KEPT / f"{part}.jsonl").unlink(missing_ok=True)
        if not options.finished:
            work(part, family)
    found = {part: in_order(part, family) for part in PARTS}
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1))
    head = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "family": family, "runs": sound_runs(), "learner": LEARNER}
    text, failures = page.render(found, head)
    print(text)
    if options.page:
        page.write(text)
    for failure in failures:
        print(f"audits: {failure}", file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
