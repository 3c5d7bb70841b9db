# Written by script/stubs from the names of the package. Change the package, then run it again.

from murmure.econometrics.design.formula import read_formula as read_formula
from murmure.econometrics.errors import FitFailed as FitFailed
from murmure.econometrics.fit import ask as ask
from murmure.econometrics.models.anova import anova as anova
from murmure.econometrics.models.bisection import quantile as quantile
from murmure.econometrics.models.contingency import contingency as contingency
from murmure.econometrics.models.covariance import correlation as correlation
from murmure.econometrics.models.covariance import covariance as covariance
from murmure.econometrics.models.cox import cox as cox
from murmure.econometrics.models.describe import describe as describe
from murmure.econometrics.models.did import did as did
from murmure.econometrics.models.ecdf import ecdf as ecdf
from murmure.econometrics.models.fixed_effects import fixed_effects as fixed_effects
from murmure.econometrics.models.glm import gamma as gamma
from murmure.econometrics.models.glm import logit as logit
from murmure.econometrics.models.glm import negative_binomial as negative_binomial
from murmure.econometrics.models.glm import poisson as poisson
from murmure.econometrics.models.glm import probit as probit
from murmure.econometrics.models.histogram import histogram as histogram
from murmure.econometrics.models.iv import iv as iv
from murmure.econometrics.models.kaplan_meier import kaplan_meier as kaplan_meier
from murmure.econometrics.models.kmeans import kmeans as kmeans
from murmure.econometrics.models.log_rank import logrank as logrank
from murmure.econometrics.models.mantel_haenszel import mantel_haenszel as mantel_haenszel
from murmure.econometrics.models.mle import mle as mle
from murmure.econometrics.models.ols import ols as ols
from murmure.econometrics.models.ols import wls as wls
from murmure.econometrics.models.pca import pca as pca
from murmure.econometrics.models.quantiles import quantiles as quantiles
from murmure.econometrics.models.randomised_ols import randomised_ols as randomised_ols
from murmure.econometrics.models.ridge import ridge as ridge
from murmure.econometrics.models.roc import roc as roc
from murmure.econometrics.models.t_test import ttest as ttest
from murmure.econometrics.results.provenance import How as How
from murmure.econometrics.results.regression import Regression as Regression

FUNCTIONS: dict[str, str]
OTHERS: dict[str, str]
__all__ = [
    "FitFailed",
    "How",
    "Regression",
    "anova",
    "ask",
    "contingency",
    "correlation",
    "covariance",
    "cox",
    "describe",
    "did",
    "ecdf",
    "fixed_effects",
    "gamma",
    "histogram",
    "iv",
    "kaplan_meier",
    "kmeans",
    "logit",
    "logrank",
    "mantel_haenszel",
    "mle",
    "negative_binomial",
    "ols",
    "pca",
    "poisson",
    "probit",
    "quantile",
    "quantiles",
    "randomised_ols",
    "read_formula",
    "ridge",
    "roc",
    "ttest",
    "wls",
]
