"""Released randomisers, each in its own environment: what is called, what it promises, and what is known of it.

The audit gets the command, the promise and the pairs. What is known stands in the table beside what was found.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORKERS = Path(__file__).resolve().parent / "workers"
PACKAGES = {"opendp-0.14": "opendp", "pure-ldp-1.1": "pure-ldp"}  # where the environment has another name
TWO_LN_3 = 2 * math.log(3)

TRUE_BIT = "true bits are never turned off"
FLOATS = "floating-point noise (IBM#94)"


@dataclass(frozen=True)
class Peer:
    environment: str
    worker: str
    name: str  # as the worker knows it
    call: str  # as people read it
    pairs: Any
    known: str  # a defect in words; empty: none is known, and the audit should stay silent
    epsilon: float = 1.0
    samples: int = 30_000  # reports about each value, half of them held out

    @property
    def sound(self):
        return not self.known

    @property
    def package(self):
        return PACKAGES.get(self.environment, self.environment)

    def words(self, python):
        return [str(python), "-W", "ignore", str(WORKERS / f"{self.worker}.py"), self.name]


def _multi(name, call, known="", pairs=((0, 1),), **more):
    return Peer("multi-freq-ldpy", "peer_multi_freq_ldpy", name, call, pairs, known, **more)


def _pure(name, call, known="", old=False, **more):
    pairs = ((1, 2),)
    return Peer("pure-ldp-1.1" if old else "pure-ldp", "peer_pure_ldp", name, call, pairs, known, **more)


def _opendp(name, call, pairs, known="", old=False, **more):
    return Peer("opendp-0.14" if old else "opendp", "peer_opendp", name, call, pairs, known, **more)


def _ibm(name, call, known="", pairs=((0, 1),), **more):
    return Peer("diffprivlib", "peer_diffprivlib", name, call, pairs, known, **more)


RECORDS = (((0, 0, 0), (1, 1, 1)), ((0, 0, 0), (0, 0, 1)))
MANY_MISSING = [None] * 90
BAYES = [[100.5, i % 2] for i in range(20)]
SQUARES = [[1.0, 1.0], *[[0.0, 0.0]] * 9]
ZEROS = [[0.0]] * 20
FEW = 4_000  # fits of a learner for each table

PEERS = (
    _multi("GRR", "GRR_Client, k = 4"),
    _multi("SUE", "UE_Client, k = 4, optimal=False"),
    _multi("OUE", "UE_Client, k = 4, optimal=True"),
    _multi("SMP_GRR", "SMP_GRR_Client, three attributes of 3", pairs=RECORDS),
    _multi("SS", "SS_Client, k = 16", "the true answer is written first", pairs=((0, 1), (7, 12))),
    _multi(
        "RSpFD_GRR", "RSpFD_GRR_Client, three attributes of 3", "costs more than epsilon for a record", pairs=RECORDS
    ),
    _multi("L_GRR", "L_GRR_Client, eps_perm = 1, eight calls for one person", "the permanent answer is drawn afresh"),
    _pure("DE", "DEClient, d = 4"),
    _pure("SUE", "UEClient, d = 4"),
    _pure("OUE", "UEClient, d = 4, use_oue=True"),
    _pure("OLH", "LHClient, d = 4, use_olh=True"),
    _pure("RAPPOR", "RAPPORClient, f = 0.5, one hash", TRUE_BIT, epsilon=TWO_LN_3),
    _pure("SUE", "UEClient, d = 4", "the true bit gets a second chance to be set (#11)", old=True),
    _opendp("bitvec", "make_randomized_response_bitvec, f = 0.5, 8 bits", ((1, 2), (1, 128)), epsilon=TWO_LN_3),
    _opendp("categories", "make_randomized_response, 4 categories", (("a", "b"),)),
    _opendp("laplace-integer", "make_laplace on i64, scale 1", ((0, 1),)),
    _opendp("laplace-float", "make_laplace on f64, scale 1", ((0.0, 1.0),)),
    _opendp(
        "bitvec",
        "make_randomized_response_bitvec, f = 0.5, 8 bits",
        ((1, 2), (1, 128)),
        "the last bit is sent as it is (#2708)",
        old=True,
        epsilon=TWO_LN_3,
    ),
    _ibm("Geometric", "Geometric"),
    _ibm("GeometricTruncated", "GeometricTruncated, 0 to 3"),
    _ibm("GeometricFolded", "GeometricFolded, 0 to 3"),
    _ibm("Laplace", "Laplace", FLOATS),
    _ibm("LaplaceTruncated", "LaplaceTruncated, 0 to 1", FLOATS),
    _ibm("LaplaceFolded", "LaplaceFolded, 0 to 1", FLOATS),
    _ibm("LaplaceBoundedDomain", "LaplaceBoundedDomain, 0 to 1", FLOATS),
    _ibm("Staircase", "Staircase", FLOATS),
    _ibm(
        "nanmean",
        "tools.nanmean, 10 values among 90 missing",
        "missing values count in the sensitivity",
        pairs=(([0.0] * 10 + MANY_MISSING, [1.0] + [0.0] * 9 + MANY_MISSING),),
        samples=FEW,
    ),
    _ibm(
        "GaussianNB",
        "GaussianNB, bounds 100 to 101, a label changed",
        "a label moves two classes",
        pairs=((BAYES, [[100.5, 1], *BAYES[1:]]),),
        samples=FEW,
    ),
    _ibm(
        "LinearRegression",
        "LinearRegression, bounds 0 to 1, no intercept, a row changed",
        "sums of squares get no noise (IBM#105)",
        pairs=((SQUARES, [SQUARES[0], [1.0, 0.0], *SQUARES[2:]]),),
        samples=FEW,
    ),
    _ibm(
        "KMeans",
        "KMeans, 2 clusters, bounds 0 to 1, a row changed",
        "an empty cluster is skipped",
        pairs=((ZEROS, [[1.0], *ZEROS[1:]]),),
        samples=FEW,
    ),
)
