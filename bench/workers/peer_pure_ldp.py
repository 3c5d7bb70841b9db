"""pure-ldp as its README calls it: `privatise` each person, `aggregate` each report, `estimate_all`."""

from clock import EPSILON, MANY, K, categories, measure_peer
from pure_ldp.frequency_oracles import (
    DEClient,
    DEServer,
    HadamardMechClient,
    HadamardMechServer,
    HadamardResponseClient,
    HadamardResponseServer,
    LHClient,
    LHServer,
    UEClient,
    UEServer,
)

N = 20_000  # its cost is linear; short calls let the best one escape the noise
N_DECODE = 2_000  # fewer: local hashing hashes every value again for every report
N_MANY = 250  # fewer still: of more values


def compare(task, how, client, new_server, decoded=N, k=K):
    people = (categories(N, k) + 1).tolist()  # pure-ldp counts values from 1

    def ask():
        return [client.privatise(x) for x in people]

    def serve():
        server = new_server()
        for report in reports:
            server.aggregate(report)
        return server.estimate_all(range(1, k + 1), suppress_warnings=True)

    measure_peer(f"{task}.client", "pure-ldp", N, ask, how=how)
    reports = ask()[:decoded]
    if how.startswith("HadamardMech"):
        reports = [list(report) for report in reports]  # some are iterators, good for one reading only
    measure_peer(f"{task}.server", "pure-ldp", decoded, serve, how=how)


oue, olh = {"use_oue": True}, {"use_olh": True}
compare("grr", "DE", DEClient(EPSILON, K), lambda: DEServer(EPSILON, K))
compare("sue", "UE", UEClient(EPSILON, K), lambda: UEServer(EPSILON, K))
compare("oue", "UE", UEClient(EPSILON, K, **oue), lambda: UEServer(EPSILON, K, **oue))
compare("olh", "LH", LHClient(EPSILON, K, **olh), lambda: LHServer(EPSILON, K, **olh), N_DECODE)
many = LHClient(EPSILON, MANY, **olh)
compare("olh.1024", "LH", many, lambda: LHServer(EPSILON, MANY, **olh), N_MANY, MANY)
# Two of its protocols do what Murmure's Hadamard response does; the faster one counts.
hadamard = HadamardResponseClient(EPSILON, K, None)
compare("hadamard", "HadamardResponse", hadamard, lambda: HadamardResponseServer(EPSILON, K))
one_bit = HadamardMechClient(EPSILON, K, t=1)
compare("hadamard", "HadamardMech, t = 1", one_bit, lambda: HadamardMechServer(EPSILON, K, t=1))
