"""Readers of laws: how far two of them can be told apart, what that certifies, and generic checks."""

from murmure.certify.certificate import certify
from murmure.certify.checks import CheckFailed, check_coverage, check_engine, check_mechanism, check_statistic

__all__ = ["CheckFailed", "certify", "check_coverage", "check_engine", "check_mechanism", "check_statistic"]
