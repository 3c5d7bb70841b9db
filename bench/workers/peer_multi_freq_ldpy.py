"""multi-freq-ldpy, called as its notebooks do: one client call a person, one aggregator call for the list."""

from clock import EPSILON, K, categories, measure_peer
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

N = 20_000  # its cost is linear; short calls let the best one escape the noise
N_DECODE = 2_000  # fewer: local hashing hashes every value again for every report

people = categories(N).tolist()


def compare(task, client, aggregate, options=(), decoded=N):
    def ask():
        return [client(x, K, EPSILON, *options) for x in people]

    how = client.__name__.removesuffix("_Client")
    measure_peer(f"{task}.client", "multi-freq-ldpy", N, ask, how=how)
    reports = ask()[:decoded]
    measure_peer(f"{task}.server", "multi-freq-ldpy", decoded, lambda: aggregate(reports), how=how)


compare("grr", GRR_Client, lambda reports: GRR_Aggregator_MI(reports, K, EPSILON))
compare("sue", UE_Client, lambda reports: UE_Aggregator_MI(reports, EPSILON, False), [False])
compare("oue", UE_Client, lambda reports: UE_Aggregator_MI(reports, EPSILON, True), [True])
compare("olh", LH_Client, lambda reports: LH_Aggregator_MI(reports, K, EPSILON), decoded=N_DECODE)
compare("subset", SS_Client, lambda reports: SS_Aggregator_MI(reports, K, EPSILON))
