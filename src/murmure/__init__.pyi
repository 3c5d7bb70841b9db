# Written by script/stubs from the names of the package. Change the package, then run it again.

from murmure.advise.advice import advise as advise
from murmure.attacks.audits.audit import audit as audit
from murmure.attacks.audits.neighbours import neighbours as neighbours
from murmure.attacks.audits.replay_audit import replay_audit as replay_audit
from murmure.central.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
from murmure.central.discrete_laplace import DiscreteLaplace as DiscreteLaplace
from murmure.central.exponential import Exponential as Exponential
from murmure.central.geometric import Geometric as Geometric
from murmure.central.permute_and_flip import PermuteAndFlip as PermuteAndFlip
from murmure.central.skellam import Skellam as Skellam
from murmure.central.staircase import Staircase as Staircase
from murmure.certify.certificate import certify as certify
from murmure.certify.checks.engines import check_engine as check_engine
from murmure.certify.checks.intervals import check_coverage as check_coverage
from murmure.certify.checks.mechanisms import check_mechanism as check_mechanism
from murmure.certify.checks.statistics import check_statistic as check_statistic
from murmure.core.categories import Categories as Categories
from murmure.core.column import Column as Column
from murmure.core.dates import Dates as Dates
from murmure.core.decimals import Decimals as Decimals
from murmure.core.domain import Integers as Integers
from murmure.core.domain import Interval as Interval
from murmure.core.errors import MurmureError as MurmureError
from murmure.core.estimates.column_estimates import Estimates as Estimates
from murmure.core.estimates.estimate import Estimate as Estimate
from murmure.core.file_format import FileFormat as FileFormat
from murmure.core.random import Random as Random
from murmure.core.schema import Schema as Schema
from murmure.core.types import Certificate as Certificate
from murmure.core.types import Release as Release
from murmure.engines.memory import Memory as Memory
from murmure.engines.sources.data_file import DataFile as DataFile
from murmure.engines.spark import Spark as Spark
from murmure.laws.mapped import Mapped as Mapped
from murmure.ledger.ledger import Ledger as Ledger
from murmure.local.adp import ADP as ADP
from murmure.local.bounded_laplace import BoundedLaplace as BoundedLaplace
from murmure.local.duchi import Duchi as Duchi
from murmure.local.grr import GRR as GRR
from murmure.local.hadamard import HadamardResponse as HadamardResponse
from murmure.local.hashing import BLH as BLH
from murmure.local.hashing import OLH as OLH
from murmure.local.hybrid import Hybrid as Hybrid
from murmure.local.piecewise import Piecewise as Piecewise
from murmure.local.rappor import RAPPOR as RAPPOR
from murmure.local.rsfd import RSFD as RSFD
from murmure.local.rsfd import RSRFD as RSRFD
from murmure.local.smp import SMP as SMP
from murmure.local.spl import SPL as SPL
from murmure.local.spl import Plain as Plain
from murmure.local.square_wave import SquareWave as SquareWave
from murmure.local.staircase import BoundedStaircase as BoundedStaircase
from murmure.local.subset import SubsetSelection as SubsetSelection
from murmure.local.unary import OUE as OUE
from murmure.local.unary import SUE as SUE
from murmure.local.unrelated import TwoSamples as TwoSamples
from murmure.local.unrelated import UnrelatedQuestion as UnrelatedQuestion
from murmure.local.warner import Warner as Warner
from murmure.local.window import Window as Window
from murmure.parties.study.document import Study as Study
from murmure.plan.plan import Plan as Plan
from murmure.plan.privacy import Central as Central
from murmure.plan.privacy import Clear as Clear
from murmure.plan.privacy import Local as Local
from murmure.plan.privacy import Secure as Secure
from murmure.plan.reports import Reports as Reports
from murmure.run.postprocessing import clip_renormalise as clip_renormalise
from murmure.run.postprocessing import em as em
from murmure.run.postprocessing import project_simplex as project_simplex
from murmure.run.report.report import write_report as write_report
from murmure.run.run import run as run
from murmure.run.tables.estimator import estimate as estimate
from murmure.run.tables.sanitiser import sanitise as sanitise
from murmure.secure.sharing import PairwiseMasks as PairwiseMasks
from murmure.show.language import set_language as set_language
from murmure.statistics.count import Count as Count
from murmure.statistics.group_by import GroupBy as GroupBy
from murmure.statistics.histogram import Histogram as Histogram
from murmure.statistics.marginals import Marginals as Marginals
from murmure.statistics.mean import Mean as Mean
from murmure.statistics.mode import Mode as Mode
from murmure.statistics.pair import Pair as Pair
from murmure.statistics.quantile import Quantile as Quantile
from murmure.statistics.rows import Rows as Rows
from murmure.statistics.sum import Sum as Sum
from murmure.statistics.sums import Sums as Sums
from murmure.statistics.variance import Variance as Variance
from murmure.statistics.where import Where as Where

__version__: str
__all__ = [
    "ADP",
    "BLH",
    "BoundedLaplace",
    "BoundedStaircase",
    "Categories",
    "Central",
    "Certificate",
    "Clear",
    "Column",
    "Count",
    "DataFile",
    "Dates",
    "Decimals",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Duchi",
    "Estimate",
    "Estimates",
    "Exponential",
    "FileFormat",
    "GRR",
    "Geometric",
    "GroupBy",
    "HadamardResponse",
    "Histogram",
    "Hybrid",
    "Integers",
    "Interval",
    "Ledger",
    "Local",
    "Mapped",
    "Marginals",
    "Mean",
    "Memory",
    "Mode",
    "MurmureError",
    "OLH",
    "OUE",
    "Pair",
    "PairwiseMasks",
    "PermuteAndFlip",
    "Piecewise",
    "Plain",
    "Plan",
    "Quantile",
    "RAPPOR",
    "RSFD",
    "RSRFD",
    "Random",
    "Release",
    "Reports",
    "Rows",
    "SMP",
    "SPL",
    "SUE",
    "Schema",
    "Secure",
    "Skellam",
    "Spark",
    "SquareWave",
    "Staircase",
    "Study",
    "SubsetSelection",
    "Sum",
    "Sums",
    "TwoSamples",
    "UnrelatedQuestion",
    "Variance",
    "Warner",
    "Where",
    "Window",
    "__version__",
    "advise",
    "audit",
    "certify",
    "check_coverage",
    "check_engine",
    "check_mechanism",
    "check_statistic",
    "clip_renormalise",
    "em",
    "estimate",
    "neighbours",
    "project_simplex",
    "replay_audit",
    "run",
    "sanitise",
    "set_language",
    "write_report",
]
