"""Readers of laws: the largest loss, the certificate, generic checks. (Imported when asked for: checks take time.)"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from murmure.certify.certificate import certify as certify
    from murmure.certify.check_parts import CheckFailed as CheckFailed
    from murmure.certify.checks import check_coverage as check_coverage
    from murmure.certify.checks import check_engine as check_engine
    from murmure.certify.checks import check_mechanism as check_mechanism
    from murmure.certify.checks import check_statistic as check_statistic

__all__ = ["CheckFailed", "certify", "check_coverage", "check_engine", "check_mechanism", "check_statistic"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'murmure.certify' has no attribute {name!r}")
    module = "certificate" if name == "certify" else "checks"
    return getattr(importlib.import_module(f"murmure.certify.{module}"), name)
