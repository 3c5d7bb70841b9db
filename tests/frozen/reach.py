"""Every name inside the package that the frozen set needs, and where it is today: imports, and names of attributes.

The only file of tests/frozen that a refactoring may edit.
"""

from operator import attrgetter

from murmure.core.blocks import Block as NoiseBlock
from murmure.econometrics.fit import ask as fit_model
from murmure.econometrics.model import digest_of as digest_of_model
from murmure.econometrics.model import model_from_dict, model_to_dict
from murmure.engines.spark import session as spark_session
from murmure.parties.study.model_examples import COLUMNS as STUDY_COLUMNS
from murmure.parties.study.model_examples import EXAMPLES as STUDY_MODELS
from murmure.plan.codec import part_from_dict, part_to_dict
from murmure.run.totals import total as total_of_plan
from murmure.secure.identity import Identity

law_of_mechanism = attrgetter("channel")
integers_of = attrgetter("integers")  # of a law, or of noise that is bound
bind_noise, bind_choice = attrgetter("bind"), attrgetter("bind_scores")
costs_of_bound = attrgetter("cost.epsilon", "cost.rho", "epsilon", "delta")
most_rounds, reason_against_noise = attrgetter("rounds"), attrgetter("noise_refusal")  # of a model

__all__ = [
    "STUDY_COLUMNS",
    "STUDY_MODELS",
    "Identity",
    "NoiseBlock",
    "bind_choice",
    "bind_noise",
    "costs_of_bound",
    "digest_of_model",
    "fit_model",
    "integers_of",
    "law_of_mechanism",
    "model_from_dict",
    "model_to_dict",
    "most_rounds",
    "part_from_dict",
    "part_to_dict",
    "reason_against_noise",
    "spark_session",
    "total_of_plan",
]
