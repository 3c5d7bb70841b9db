"""multi-freq-ldpy's clients, called as its notebooks do. Reports are sent as they are returned."""

from lines import serve
from multi_freq_ldpy.long_freq_est.L_GRR import L_GRR_Client
from multi_freq_ldpy.mdim_freq_est.RSpFD_solution import RSpFD_GRR_Client
from multi_freq_ldpy.mdim_freq_est.SMP_solution import SMP_GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

SIZES = [3, 3, 3]

serve(
    {
        "GRR": lambda: lambda value: GRR_Client(value, 4, 1.0),
        "SUE": lambda: lambda value: UE_Client(value, 4, 1.0, False),
        "OUE": lambda: lambda value: UE_Client(value, 4, 1.0, True),
        "SS": lambda: lambda value: SS_Client(value, 16, 1.0),
        "RSpFD_GRR": lambda: lambda record: RSpFD_GRR_Client(record, SIZES, 3, 1.0),
        "L_GRR": lambda: lambda value: [L_GRR_Client(value, 2, 1.0, 0.5) for _ in range(8)],  # one person, eight calls
        "SMP_GRR": lambda: lambda record: SMP_GRR_Client(record, SIZES, 3, 1.0),
    }
)
