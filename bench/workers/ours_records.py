"""Murmure's mechanisms of records, nine columns a person: whole public calls, from columns of codes to estimates."""

from clock import EPSILON, PEOPLE, SIZES, measure, records
from ours import LIB, telling

import murmure as mu

columns = {f"column {i}": codes.copy() for i, codes in enumerate(records(PEOPLE).T)}
schema = mu.Schema({name: mu.Categories(k) for name, k in zip(columns, SIZES, strict=True)})
rng = mu.Random.secure()

MECHANISMS = {
    # the peer's inner epsilon, for the same work
    "rsfd.grr": lambda: mu.RSFD(schema, EPSILON, oracle="GRR", calibrate="paper"),
    "rsfd.oue-z": lambda: mu.RSFD(schema, EPSILON, oracle="OUE-z", calibrate="paper"),
    "smp.grr": lambda: mu.SMP(schema, EPSILON, oracle="GRR"),
    "smp.adp": lambda: mu.ADP(schema, EPSILON, solution="smp"),
    "spl.grr": lambda: mu.SPL(schema, EPSILON, oracle="GRR"),
    "spl.oue": lambda: mu.SPL(schema, EPSILON, oracle="OUE"),
    "spl.adp": lambda: mu.ADP(schema, EPSILON, solution="spl"),
}


def compare(task, m):
    measure(f"{task}.client", LIB, PEOPLE, lambda: m.report(columns, rng))
    reports = m.report(columns, rng)

    def serve():
        return [estimate.mean for estimate in m.estimate(m.tally(reports), PEOPLE).values()]

    measure(f"{task}.server", LIB, PEOPLE, serve)


for task, build in MECHANISMS.items():
    with telling(task):
        compare(task, build())
