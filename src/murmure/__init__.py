"""Murmure: statistics on people without seeing the people.

>>> import murmure as mu
>>> question = mu.Categories(["no", "yes"])
>>> plan = mu.Plan(mu.Histogram(question), person=mu.GRR(question, epsilon=1.0))
>>> release = mu.run(plan, ["no", "yes", "no", "no"] * 500, rng=mu.Random.seeded(7))
>>> release.estimate.interval(0.95).shape
(2, 2)
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from murmure import catalogue

__version__ = "0.6.0"
__all__ = ["__version__", *sorted(catalogue.PUBLIC)]


def __getattr__(name: str) -> Any:
    if name not in catalogue.PUBLIC:
        raise AttributeError(f"module 'murmure' has no attribute {name!r}")
    value = catalogue.load(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


class _Package(ModuleType):
    """`mu.certify`, `mu.run` and `mu.advise` are functions; modules of the same name do not take their place."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in catalogue.PUBLIC and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
