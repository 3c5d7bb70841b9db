"""multi-freq-ldpy, called as its notebooks do: one client call a person, one aggregator call for the list.

Argument: columns, or records.
"""

import sys

from clock import EPSILON, MANY, SIZES, K, categories, measure_peer, records
from multi_freq_ldpy.mdim_freq_est import RSpFD_solution, SMP_solution, SPL_solution
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

N = 20_000  # its cost is linear; short calls let the best one escape the noise
N_DECODE = 2_000  # fewer: local hashing hashes every value again for every report
N_MANY = 250  # fewer still: of more values
N_RECORDS = 5_000  # of 45,222: nine columns a person, and a loop over people and columns

rows = records(N_RECORDS).tolist()


def compare(task, client, aggregate, options=(), decoded=N, k=K):
    people = categories(N, k).tolist()

    def ask():
        return [client(x, k, EPSILON, *options) for x in people]

    how = client.__name__.removesuffix("_Client")
    measure_peer(f"{task}.client", "multi-freq-ldpy", N, ask, how=how)
    reports = ask()[:decoded]
    measure_peer(f"{task}.server", "multi-freq-ldpy", decoded, lambda: aggregate(reports), how=how)


def compare_columns():
    compare("grr", GRR_Client, lambda reports: GRR_Aggregator_MI(reports, K, EPSILON))
    compare("sue", UE_Client, lambda reports: UE_Aggregator_MI(reports, EPSILON, False), [False])
    compare("oue", UE_Client, lambda reports: UE_Aggregator_MI(reports, EPSILON, True), [True])
    compare("olh", LH_Client, lambda reports: LH_Aggregator_MI(reports, K, EPSILON), decoded=N_DECODE)
    compare("subset", SS_Client, lambda reports: SS_Aggregator_MI(reports, K, EPSILON))
    compare("olh.1024", LH_Client, lambda reports: LH_Aggregator_MI(reports, MANY, EPSILON), decoded=N_MANY, k=MANY)


def compare_records(task, module, solution, sizes_again=True):
    """A whole record a call; aggregators that read the number of categories off the reports are not given it."""
    client = getattr(module, f"{solution}_Client")
    aggregate = getattr(module, f"{solution}_Aggregator_MI")
    sizes, d = list(SIZES), len(SIZES)
    given = (sizes, d, EPSILON) if sizes_again else (d, EPSILON)

    def ask():
        return [client(row, sizes, d, EPSILON) for row in rows]

    how = solution.replace("RSpFD", "RS+FD")
    measure_peer(f"{task}.client", "multi-freq-ldpy", N_RECORDS, ask, how=how)
    reports = ask()
    measure_peer(f"{task}.server", "multi-freq-ldpy", N_RECORDS, lambda: aggregate(reports, *given), how=how)


def compare_all_records():
    compare_records("rsfd.grr", RSpFD_solution, "RSpFD_GRR")
    compare_records("rsfd.oue-z", RSpFD_solution, "RSpFD_UE_zero")
    compare_records("smp.grr", SMP_solution, "SMP_GRR")
    compare_records("smp.adp", SMP_solution, "SMP_ADP")
    compare_records("spl.grr", SPL_solution, "SPL_GRR")
    compare_records("spl.oue", SPL_solution, "SPL_UE", sizes_again=False)
    compare_records("spl.adp", SPL_solution, "SPL_ADP")


{"columns": compare_columns, "records": compare_all_records}[sys.argv[1]]()
