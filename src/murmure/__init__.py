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


def __getattr__(name: str) -> Any:
    """A public name, loaded when it is first used; `__all__` too, since the catalogue reads files to make it."""
    try:
        value = ["__version__", *sorted(catalogue.PUBLIC)] if name == "__all__" else catalogue.load_public(name)
    except KeyError:
        raise AttributeError(f"module 'murmure' has no attribute {name!r}") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __getattr__("__all__")  # type: ignore[no-any-return]


class _Package(ModuleType):
    """`mu.certify`, `mu.run` and `mu.advise` are functions; modules of the same name do not take their place."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in catalogue.OTHERS and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
