"""A whole secure sum, coordinator and parties in one process: who vanishes has shared its keys and sends no vector.

Every call of the coordinator counts for the server; a party's calls count for that party, and the slowest one is the
client. Every sum is compared with the true one, entry by entry. The coordinator is handed the messages of a stage in
batches, as its queue does with what came in while it wrote the last ones to the disk (parties/coordinator/broker.py).
"""

import time

import numpy as np

from murmure.core.random import fresh_key
from murmure.parties.coordinator.broker import BATCH_SIZE
from murmure.secure.coordinator import Coordinator
from murmure.secure.identity import Identity
from murmure.secure.party import Party
from murmure.secure.ring import RingEncoder
from murmure.secure.session import Session

BOUND = 1 << 40  # public: no entry of a party is larger


class Clock:
    """Seconds of each, by name: by the clock for the server, which may use two threads, and of the processor for a
    party, since by the clock the slowest of a thousand is the one that other work interrupted."""

    def __init__(self):
        self.spent = {}

    def __call__(self, who, call, *arguments):
        timer = time.perf_counter if who == "server" else time.process_time
        start = timer()
        out = call(*arguments)
        self.spent[who] = self.spent.get(who, 0.0) + timer() - start
        return out


def take(coordinator, messages):
    for examined in coordinator.examine(messages):
        coordinator.take(examined)


def whole_sum(parties, entries, dropped, sharing):
    """(server, slowest client), in seconds."""
    mine = Identity.fresh()
    identities = [Identity.fresh() for _ in range(parties)]
    session = Session(
        study=bytes(32),
        round=1,
        query=bytes(32),
        roster=tuple(identity.card(f"party {i}") for i, identity in enumerate(identities)),
        coordinator=mine.card("coordinator"),
        sharing=sharing,
        encoder=RingEncoder(entries, BOUND, parties),
        members=tuple(range(parties)),
    )
    vectors = np.random.default_rng(7).integers(-BOUND, BOUND, (parties, entries), endpoint=True)
    vanish = set(range(0, parties, parties // dropped)[:dropped])  # all over the roster
    stays = [i for i in range(parties) if i not in vanish]
    clock, heard = Clock(), dict.fromkeys(range(parties), 0)

    coordinator = clock("server", Coordinator, session, mine)
    machines = [clock(i, Party, session, identities[i], i, fresh_key()) for i in range(parties)]
    answers = [clock(i, machine.keys) for i, machine in enumerate(machines)]
    while True:
        for at in range(0, len(answers), BATCH_SIZE):
            clock("server", take, coordinator, answers[at : at + BATCH_SIZE])
        answers = []
        clock("server", coordinator.close)
        for i in range(parties) if coordinator.stage in ("shares", "opened") else stays:
            inbox = clock("server", coordinator.inbox, i)
            for message in inbox[heard[i] :]:
                answer = clock(i, machines[i].receive, message)
                if machines[i].stage == "vector":
                    answer = clock(i, machines[i].mask, vectors[i])
                elif machines[i].stage == "reveal":
                    answer = clock(i, machines[i].reveal)
                if answer is not None:
                    answers.append(answer)
            heard[i] = len(inbox)
        if coordinator.stage == "done":
            break
    assert coordinator.cohort == tuple(stays)
    true = vectors[stays].sum(axis=0).tolist()
    assert coordinator.result == true, "the sum is wrong"
    assert all(machines[i].result == true for i in stays), "a party holds another sum"
    return clock.spent.pop("server"), max(clock.spent.values())
