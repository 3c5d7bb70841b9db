"""OpenDP's randomised responses and noise, in whichever version the environment has."""

import opendp.prelude as dp
from lines import serve

dp.enable_features("contrib")


def bits():
    """Eight bits of which at most one is set, f = 0.5: its map says 2 ln 3. Reports are its bytes."""
    mechanism = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=0.5)
    return lambda value: mechanism(bytes([value]))


def categories():
    return dp.m.make_randomized_response(categories=["a", "b", "c", "d"], prob=0.475366886)  # e / (e + 3), rounded down


def count():
    return dp.m.make_laplace(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), scale=1.0)


def number():
    return dp.m.make_laplace(dp.atom_domain(T="f64", nan=False), dp.absolute_distance(T="f64"), scale=1.0)


serve({"bitvec": bits, "categories": categories, "laplace-integer": count, "laplace-float": number})
