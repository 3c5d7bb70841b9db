"""What a row reached in each of its rounds, and by how much the worst of them met what is wanted.

A machine is noisy, so the best of many rounds flatters. A goal counts as met when it was met in every round.
"""

from dataclasses import dataclass

OURS = ("murmure base", "murmure fast")


def of_rounds(records):
    """(task, lib) to {round: its fastest record}; of memory, the greediest record of the round counts."""
    found = {}
    for record in records:
        if "error" in record:
            continue
        rounds = found.setdefault((record["task"], record["lib"]), {})
        i = record.get("round", 0)
        old = rounds.get(i, record)
        rounds[i] = dict(min(old, record, key=lambda r: r["seconds"]))
        if "megabytes" in record:
            rounds[i]["megabytes"] = max(old["megabytes"], record["megabytes"])
    return found


def best_of(records):
    """(task, lib) to the fastest record of all rounds; of memory, the greediest round counts."""
    return {key: found[0] for key, found in of_rounds([{**r, "round": 0} for r in records]).items()}


def fastest_peer(rounds, task):
    """{round: the fastest record of any peer in that round}."""
    peers = [found for (name, lib), found in rounds.items() if name == task and lib not in OURS]
    return {
        i: min((found[i] for found in peers if i in found), key=lambda r: r["per_item_ns"])
        for i in sorted({i for found in peers for i in found})
    }


def ratios(peer, ours, field="seconds"):
    """The peer's time over ours, round by round; None in a round that lacks a side, which is a round not met."""
    both = sorted({*peer, *ours})
    return [peer[i][field] / ours[i][field] if i in peer and i in ours else None for i in both]


@dataclass(frozen=True)
class Judged:
    """A value a round (None: not measured), and what is wanted of it: at least, or at most; None where nothing is."""

    values: tuple[float | None, ...]
    wanted: float | None = None
    at_least: bool = True

    @property
    def known(self):
        return sorted((v for v in self.values if v is not None), reverse=self.at_least)

    @property
    def best(self):
        return self.known[0] if self.known else None

    @property
    def worst(self):
        return self.known[-1] if self.known else None

    @property
    def margin(self):
        """How many times better than wanted the worst round was: below one is a miss."""
        if self.wanted is None or self.worst is None:
            return None
        if self.at_least:
            return self.worst / self.wanted
        return self.wanted / self.worst if self.worst > 0 else float("inf")

    @property
    def met(self):
        """In how many rounds; None where nothing is wanted."""
        if self.wanted is None:
            return None
        return sum(v >= self.wanted if self.at_least else v <= self.wanted for v in self.known)

    @property
    def always(self):
        return None if self.wanted is None else bool(self.values) and self.met == len(self.values)


def at_least(values, wanted):
    return Judged(tuple(values), wanted)


def at_most(values, wanted):
    return Judged(tuple(values), wanted, at_least=False)
