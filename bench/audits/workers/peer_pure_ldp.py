"""pure-ldp's clients, called as its README does: values are counted from 1. Reports are sent as they are returned."""

from lines import serve
from pure_ldp.core import generate_hash
from pure_ldp.frequency_oracles.direct_encoding import DEClient
from pure_ldp.frequency_oracles.local_hashing import LHClient
from pure_ldp.frequency_oracles.rappor import RAPPORClient
from pure_ldp.frequency_oracles.unary_encoding import UEClient


def rappor():
    """One cohort with one public hash function, f = 0.5: its convert_f_to_eps says 2 ln 3."""
    return RAPPORClient(0.5, 16, [[generate_hash(16, 1)]], num_of_cohorts=1).privatise


serve(
    {
        "DE": lambda: DEClient(1.0, 4).privatise,
        "SUE": lambda: UEClient(1.0, 4).privatise,
        "OUE": lambda: UEClient(1.0, 4, use_oue=True).privatise,
        "OLH": lambda: LHClient(1.0, 4, use_olh=True).privatise,
        "RAPPOR": rappor,
    }
)
