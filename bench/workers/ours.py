"""The mechanisms that are compared, built through Murmure's public surface only."""

import os
from contextlib import contextmanager

from clock import emit

import murmure as mu

LIB = "murmure fast" if os.environ["MURMURE_FAST"] == "1" else "murmure base"

CATEGORICAL = {
    "grr": "GRR",
    "sue": "SUE",
    "oue": "OUE",
    "olh": "OLH",
    "subset": "SubsetSelection",
    "hadamard": "HadamardResponse",
}
BOUNDED = {"laplace": "BoundedLaplace", "staircase": "BoundedStaircase"}


def categorical(name, k, epsilon=1.0):
    return getattr(mu, CATEGORICAL[name])(mu.Categories(k), epsilon=epsilon)


def bounded(name, epsilon=1.0):
    return getattr(mu, BOUNDED[name])(mu.Interval(0.0, 1.0, cells=1024), epsilon=epsilon)


def sanitise(mechanism, table, rng):
    """Column by column, since in a real table each column has bounds of its own."""
    return [mechanism.report(column, rng) for column in table.T]


@contextmanager
def telling(task):
    """A failure becomes a line of its own, so that one broken mechanism does not hide the others."""
    try:
        yield
    except Exception as error:
        emit(task, LIB, error=f"{type(error).__name__}: {error}")
