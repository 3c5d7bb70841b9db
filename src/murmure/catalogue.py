"""Every public name and the module that holds it: imported when first asked for, so that `import murmure` is quick."""

from __future__ import annotations

import importlib
from typing import Any

MECHANISMS = {
    "Warner": "murmure.local.warner",
    "UnrelatedQuestion": "murmure.local.unrelated",
    "GRR": "murmure.local.grr",
    "SUE": "murmure.local.unary",
    "OUE": "murmure.local.unary",
    "BLH": "murmure.local.hashing",
    "OLH": "murmure.local.hashing",
    "SubsetSelection": "murmure.local.subset",
    "HadamardResponse": "murmure.local.hadamard",
    "RAPPOR": "murmure.local.rappor",
    "BoundedLaplace": "murmure.local.bounded_laplace",
    "BoundedStaircase": "murmure.local.staircase",
    "Window": "murmure.local.window",
    "SquareWave": "murmure.local.square_wave",
    "Duchi": "murmure.local.duchi",
    "Piecewise": "murmure.local.piecewise",
    "Hybrid": "murmure.local.hybrid",
}
RECORDS = {
    "SPL": "murmure.local.spl",
    "Plain": "murmure.local.spl",
    "SMP": "murmure.local.smp",
    "RSFD": "murmure.local.rsfd",
    "RSRFD": "murmure.local.rsfd",
    "ADP": "murmure.local.adp",
}
NOISES = {
    "DiscreteLaplace": "murmure.central.discrete_laplace",
    "DiscreteGaussian": "murmure.central.discrete_gaussian",
    "Staircase": "murmure.central.staircase",
    "Geometric": "murmure.central.geometric",
    "Exponential": "murmure.central.exponential",
    "PermuteAndFlip": "murmure.central.permute_and_flip",
    "Skellam": "murmure.central.skellam",
}
SHARINGS = {"PairwiseMasks": "murmure.secure.sharing"}
STATISTICS = {
    "Histogram": "murmure.statistics.histogram",
    "Mean": "murmure.statistics.mean",
    "Marginals": "murmure.statistics.marginals",
    "Pair": "murmure.statistics.pair",
    "Count": "murmure.statistics.count",
    "Sum": "murmure.statistics.total",
    "Sums": "murmure.statistics.sums",
    "Variance": "murmure.statistics.variance",
    "Quantile": "murmure.statistics.quantile",
    "GroupBy": "murmure.statistics.group_by",
    "Where": "murmure.statistics.where",
    "Mode": "murmure.statistics.mode",
}
SUMS = {  # what learners ask; they travel in plans, and nobody else needs their names
    "ClassMoments": "murmure.statistics.class_moments",
    "ClassPairs": "murmure.statistics.class_pairs",
    "ClassCounts": "murmure.statistics.class_sums",
    "ClassSums": "murmure.statistics.class_sums",
    "Scatter": "murmure.statistics.scatter",
    "Clusters": "murmure.statistics.clusters",
    "Gram": "murmure.statistics.gram",
    "Taylor": "murmure.statistics.taylor",
    "Gradient": "murmure.statistics.gradient",
    "CrossProducts": "murmure.statistics.cross_products",
    "Cells": "murmure.statistics.cells",
    "Evaluated": "murmure.statistics.evaluated",
    "Placed": "murmure.statistics.placed",
    "Within": "murmure.statistics.by_party",
    "Scattered": "murmure.statistics.by_party",
}
QUESTIONS = {**STATISTICS, **SUMS}
OTHERS = {
    "Categories": "murmure.core.domain",
    "Integers": "murmure.core.domain",
    "Interval": "murmure.core.domain",
    "Decimals": "murmure.core.domain",
    "Column": "murmure.core.schema",
    "Schema": "murmure.core.schema",
    "Random": "murmure.core.random",
    "Estimate": "murmure.core.estimate",
    "Estimates": "murmure.core.estimates",
    "Certificate": "murmure.core.types",
    "Release": "murmure.core.types",
    "MurmureError": "murmure.core.errors",
    "TwoSamples": "murmure.local.unrelated",
    "certify": "murmure.certify.certificate",
    "check_mechanism": "murmure.certify.checks",
    "check_statistic": "murmure.certify.checks",
    "check_engine": "murmure.certify.checks",
    "check_coverage": "murmure.certify.checks",
    "clip_renormalise": "murmure.postprocess",
    "project_simplex": "murmure.postprocess",
    "em": "murmure.postprocess",
    "Mapped": "murmure.laws.mapped",
    "Memory": "murmure.engines.memory",
    "Spark": "murmure.engines.spark",
    "Ledger": "murmure.ledger",
    "replay_audit": "murmure.audit",
    "neighbours": "murmure.audit",
    "Clear": "murmure.privacy",
    "Central": "murmure.privacy",
    "Local": "murmure.privacy",
    "Secure": "murmure.privacy",
    "Plan": "murmure.plan",
    "Reports": "murmure.reports",
    "run": "murmure.run",
    "Study": "murmure.study",
    "sanitise": "murmure.sanitise",
    "estimate": "murmure.sanitised",
    "write_report": "murmure.pages.report",
    "advise": "murmure.advise",
}
PUBLIC = {**OTHERS, **MECHANISMS, **RECORDS, **NOISES, **SHARINGS, **STATISTICS}


MODELS = {  # econometrics: generators of questions, which travel in studies
    "Describe": "murmure.econometrics.describe",
    "Covariance": "murmure.econometrics.describe",
    "Correlation": "murmure.econometrics.describe",
    "OLS": "murmure.econometrics.ols",
    "Ridge": "murmure.econometrics.ridge",
    "IV": "murmure.econometrics.iv",
    "DiD": "murmure.econometrics.did",
    "FixedEffects": "murmure.econometrics.fixed_effects",
    "RandomisedOLS": "murmure.econometrics.randomised",
    "TTest": "murmure.econometrics.groups",
    "Anova": "murmure.econometrics.groups",
    "Contingency": "murmure.econometrics.tables",
    "MantelHaenszel": "murmure.econometrics.tables",
    "ECDF": "murmure.econometrics.distribution",
    "Quantiles": "murmure.econometrics.distribution",
    "Bins": "murmure.econometrics.distribution",
    "KaplanMeier": "murmure.econometrics.survival",
    "LogRank": "murmure.econometrics.survival",
    "PCA": "murmure.econometrics.components",
    "ROC": "murmure.econometrics.roc",
    "Logit": "murmure.econometrics.glm",
    "Probit": "murmure.econometrics.glm",
    "Poisson": "murmure.econometrics.glm",
    "Gamma": "murmure.econometrics.glm",
    "NegativeBinomial": "murmure.econometrics.glm",
    "Cox": "murmure.econometrics.cox",
    "Bisection": "murmure.econometrics.bisection",
    "Lloyd": "murmure.econometrics.kmeans",
}


def load(name: str) -> Any:
    return getattr(importlib.import_module((PUBLIC | SUMS | MODELS)[name]), name)
