"""Certificates, each built and read once in a fresh process, so that no cache helps."""

from clock import measure, once
from ours import CATEGORICAL, LIB, bounded, categorical, telling

import murmure as mu

K = 100_000


def certify(task, build):
    with telling(task):
        measure(task, LIB, 1, lambda: mu.certify(build()).epsilon, clock=once)


for name in CATEGORICAL:
    certify(f"certify.{name}", lambda name=name: categorical(name, K))
certify("certify.laplace", lambda: bounded("laplace"))
