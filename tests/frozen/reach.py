"""Every name inside the package that the frozen set needs, and where it is today: imports, and nothing else.

The only file of tests/frozen that a refactoring may edit.
"""

from murmure.core.blocks import Block as NoiseBlock
from murmure.econometrics.asking import ask as fit_model
from murmure.econometrics.model import digest_of as digest_of_model
from murmure.econometrics.model import model_from_dict, model_to_dict
from murmure.engines.spark import session as spark_session
from murmure.parts import part_from_dict, part_to_dict
from murmure.run import total as total_of_plan
from murmure.secure.identity import Identity
from murmure.study.model_examples import COLUMNS as STUDY_COLUMNS
from murmure.study.model_examples import EXAMPLES as STUDY_MODELS

__all__ = [
    "STUDY_COLUMNS",
    "STUDY_MODELS",
    "Identity",
    "NoiseBlock",
    "digest_of_model",
    "fit_model",
    "model_from_dict",
    "model_to_dict",
    "part_from_dict",
    "part_to_dict",
    "spark_session",
    "total_of_plan",
]
