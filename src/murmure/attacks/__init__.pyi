# Written by script/stubs from the names of the package. Change the package, then run it again.

from murmure.attacks.base.attack_result import AttackResult as AttackResult
from murmure.attacks.base.success import Success as Success
from murmure.attacks.base.threat_model import ThreatModel as ThreatModel
from murmure.attacks.curator.floats import floating_point as floating_point
from murmure.attacks.curator.membership import membership_inference as membership_inference
from murmure.attacks.parties.differences import differencing as differencing
from murmure.attacks.parties.last_records import reconstruction as reconstruction
from murmure.attacks.person.attributes import attribute_inference as attribute_inference
from murmure.attacks.person.averages import averaging as averaging
from murmure.attacks.person.bayes import bayes_guess as bayes_guess
from murmure.attacks.person.deniability import plausible_deniability as plausible_deniability
from murmure.attacks.person.forgeries import poisoning as poisoning
from murmure.attacks.person.forgery.detection import detect_forgeries as detect_forgeries
from murmure.attacks.person.forgery.recovery import recover_shares as recover_shares
from murmure.attacks.person.identities import reidentification as reidentification
from murmure.attacks.person.linking import linkage as linkage

ATTACKS: dict[str, str]
PUBLIC: dict[str, str]
__all__ = [
    "AttackResult",
    "Success",
    "ThreatModel",
    "attribute_inference",
    "averaging",
    "bayes_guess",
    "detect_forgeries",
    "differencing",
    "floating_point",
    "linkage",
    "membership_inference",
    "plausible_deniability",
    "poisoning",
    "reconstruction",
    "recover_shares",
    "reidentification",
]
