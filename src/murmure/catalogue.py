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
    "Rows": "murmure.statistics.rows",
    "Sum": "murmure.statistics.sum",
    "Sums": "murmure.statistics.sums",
    "Variance": "murmure.statistics.variance",
    "Quantile": "murmure.statistics.quantile",
    "GroupBy": "murmure.statistics.group_by",
    "Where": "murmure.statistics.where",
    "Mode": "murmure.statistics.mode",
}
SUMS = {  # what learners ask; they travel in plans, and nobody else needs their names
    "ClassMoments": "murmure.statistics.learning.class_moments",
    "ClassPairs": "murmure.statistics.learning.class_pairs",
    "ClassCounts": "murmure.statistics.learning.class_sums",
    "ClassSums": "murmure.statistics.learning.class_sums",
    "Scatter": "murmure.statistics.learning.scatter",
    "Clusters": "murmure.statistics.learning.clusters",
    "ClusterMoves": "murmure.statistics.learning.cluster_moves",
    "Gram": "murmure.statistics.learning.gram",
    "Taylor": "murmure.statistics.learning.taylor",
    "Gradient": "murmure.statistics.learning.gradient",
    "CrossProducts": "murmure.statistics.exact.cross_products",
    "Cells": "murmure.statistics.exact.cells",
    "Evaluated": "murmure.statistics.exact.function_sums",
    "Placed": "murmure.statistics.exact.function_sums_by_place",
    "Within": "murmure.statistics.exact.party_products",
    "Scattered": "murmure.statistics.exact.party_products",
}
QUESTIONS = {**STATISTICS, **SUMS}
OTHERS = {
    "Categories": "murmure.core.domain",
    "Integers": "murmure.core.domain",
    "Interval": "murmure.core.domain",
    "Decimals": "murmure.core.decimals",
    "Column": "murmure.core.column",
    "Schema": "murmure.core.schema",
    "Random": "murmure.core.random",
    "Estimate": "murmure.core.estimates.estimate",
    "Estimates": "murmure.core.estimates.column_estimates",
    "Certificate": "murmure.core.types",
    "Release": "murmure.core.types",
    "MurmureError": "murmure.core.errors",
    "TwoSamples": "murmure.local.unrelated",
    "certify": "murmure.certify.certificate",
    "check_mechanism": "murmure.certify.checks.mechanisms",
    "check_statistic": "murmure.certify.checks.statistics",
    "check_engine": "murmure.certify.checks.engines",
    "check_coverage": "murmure.certify.checks.intervals",
    "clip_renormalise": "murmure.run.postprocessing",
    "project_simplex": "murmure.run.postprocessing",
    "em": "murmure.run.postprocessing",
    "Mapped": "murmure.laws.mapped",
    "Memory": "murmure.engines.memory",
    "Spark": "murmure.engines.spark",
    "Ledger": "murmure.ledger.ledger",
    "replay_audit": "murmure.attacks.replay_audit",
    "neighbours": "murmure.attacks.neighbours",
    "Clear": "murmure.plan.privacy",
    "Central": "murmure.plan.privacy",
    "Local": "murmure.plan.privacy",
    "Secure": "murmure.plan.privacy",
    "Plan": "murmure.plan.plan",
    "Reports": "murmure.plan.reports",
    "run": "murmure.run.run",
    "Study": "murmure.parties.study.document",
    "sanitise": "murmure.run.tables.sanitiser",
    "estimate": "murmure.run.tables.estimator",
    "write_report": "murmure.show.report",
    "advise": "murmure.advise.advice",
}
PUBLIC = {**OTHERS, **MECHANISMS, **RECORDS, **NOISES, **SHARINGS, **STATISTICS}


MODELS = {  # econometrics: generators of questions, which travel in studies
    "Describe": "murmure.econometrics.models.describe",
    "Covariance": "murmure.econometrics.models.covariance",
    "Correlation": "murmure.econometrics.models.covariance",
    "OLS": "murmure.econometrics.models.ols",
    "Ridge": "murmure.econometrics.models.ridge",
    "IV": "murmure.econometrics.models.iv",
    "DiD": "murmure.econometrics.models.did",
    "FixedEffects": "murmure.econometrics.models.fixed_effects",
    "RandomisedOLS": "murmure.econometrics.models.randomised_ols",
    "TTest": "murmure.econometrics.models.t_test",
    "Anova": "murmure.econometrics.models.anova",
    "Contingency": "murmure.econometrics.models.contingency",
    "MantelHaenszel": "murmure.econometrics.models.mantel_haenszel",
    "ECDF": "murmure.econometrics.models.ecdf",
    "Quantiles": "murmure.econometrics.models.quantiles",
    "Bins": "murmure.econometrics.models.histogram",
    "KaplanMeier": "murmure.econometrics.models.kaplan_meier",
    "LogRank": "murmure.econometrics.models.log_rank",
    "PCA": "murmure.econometrics.models.pca",
    "ROC": "murmure.econometrics.models.roc",
    "Logit": "murmure.econometrics.models.glm",
    "Probit": "murmure.econometrics.models.glm",
    "Poisson": "murmure.econometrics.models.glm",
    "Gamma": "murmure.econometrics.models.glm",
    "NegativeBinomial": "murmure.econometrics.models.glm",
    "Cox": "murmure.econometrics.models.cox",
    "Bisection": "murmure.econometrics.models.bisection",
    "Lloyd": "murmure.econometrics.models.kmeans",
    "FamilyMLE": "murmure.econometrics.models.mle",
    "Multinomial": "murmure.econometrics.models.multinomial",
}


# Classes whose Python name changed after plans, studies or results were written with another: what JSON calls them.
PERSISTED = {
    "FunctionSums": "Evaluated",
    "FunctionSumsByPlace": "Placed",
    "WithinPartyProducts": "Within",
    "PartyOuterProducts": "Scattered",
    "CustomSums": "OwnSums",
    "TooFewObservations": "TooFewRows",
    "LinkedRegression": "Fitted",
    "MultinomialFit": "Labelled",
    "HistogramResult": "Binned",
    "ECDFResult": "Distributed",
    "QuantilesResult": "Quantiled",
    "QuantileBrackets": "Bracketed",
    "CovarianceResult": "Covaried",
    "CorrelationResult": "Correlated",
    "PCAResult": "Components",
    "DescribeResult": "Described",
    "KMeansResult": "Clustered",
    "MantelHaenszelResult": "Stratified",
    "ContingencyResult": "Tabulated",
    "ROCResult": "Told",
    "LogRankResult": "Ranked",
    "TTestResult": "TTested",
    "AnovaResult": "Analysed",
}
CLASSES = {persisted: name for name, persisted in PERSISTED.items()}


def persisted_name(thing: Any) -> str:
    """What JSON calls the class of a thing: its name, or the name that it had when it was first written."""
    name = type(thing).__name__
    return PERSISTED.get(name, name)


def load(name: str) -> Any:
    """The class or function that plans, studies and users know by this name."""
    return getattr(importlib.import_module((PUBLIC | SUMS | MODELS)[name]), CLASSES.get(name, name))
