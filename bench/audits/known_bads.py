"""Randomisers that break their promise, each beside a twin that keeps it. Written by us, with plain NumPy.

Every function takes a NumPy generator and gives a batched randomiser: f(value, n) is n reports as they would be sent.
`wrong=True` is the defect. What each really costs is in subjects.py, and the audit never sees it.
"""

import math

import numpy as np

# ---- local randomisers


def randomised_response(rng, epsilon, k=2, wrong=False):
    """GRR over 0..k-1 (Warner for k = 2); the defect: an e^epsilon that is 2 % too large."""
    odds = math.exp(epsilon) * (1.02 if wrong else 1.0)
    truth = odds / (odds + k - 1)

    def randomise(value, n):
        lie = (value + rng.integers(1, k, n)) % k
        return np.where(rng.random(n) < truth, value, lie)

    return randomise


def unary(rng, epsilon, k=4, wrong=False):
    """Symmetric unary encoding, one bit a value; the defect: the last bit is sent as it is."""
    keep = 1 / (1 + math.exp(-epsilon / 2))

    def randomise(value, n):
        bits = np.zeros((n, k), np.int8)
        bits[:, value] = 1
        flip = rng.random((n, k)) >= keep
        if wrong:
            flip[:, -1] = False
        return bits ^ flip

    return randomise


def subset(rng, epsilon, k=16, wrong=False):
    """Subset selection; the defect: the true answer, when it is in the set, is written first."""
    w = max(1, round(k / (math.exp(epsilon) + 1)))
    with_truth = w * math.exp(epsilon) / (w * math.exp(epsilon) + k - w)

    def randomise(value, n):
        others = rng.random((n, k))
        others[:, value] = 2.0  # never among the first of the others
        order = np.argsort(others, axis=1)[:, :w]
        hit = rng.random(n) < with_truth
        order[hit, 0] = value
        return order if wrong else np.sort(order, axis=1)

    return randomise


def staircase(rng, epsilon, wrong=False):
    """Staircase noise on a number in [0, 1]; the defect: drawn again until inside, instead of moved to the bound.

    Reports are on a grid of 1/64: the last digits of a floating-point number would show the value by themselves.
    """
    b = math.exp(-epsilon)
    gamma = 1 / (1 + math.exp(epsilon / 2))

    def noise(n):
        sign = np.where(rng.random(n) < 0.5, -1.0, 1.0)
        steps = rng.geometric(1 - b, n) - 1
        near = rng.random(n) < gamma / (gamma + (1 - gamma) * b)
        u = rng.random(n)
        return sign * np.where(near, steps + gamma * u, steps + gamma + (1 - gamma) * u)

    def randomise(value, n):
        drawn = value + noise(n)
        if not wrong:
            return np.round(np.clip(drawn, 0.0, 1.0) * 64) / 64
        outside = (drawn < 0) | (drawn > 1)
        while outside.any():
            drawn[outside] = value + noise(int(outside.sum()))
            outside = (drawn < 0) | (drawn > 1)
        return np.round(drawn * 64) / 64

    return randomise


def fake_data(rng, epsilon, sizes=(2, 2), wrong=False):
    """RS+FD with GRR: one attribute, chosen at random, is randomised, the others are made up.

    The defect is the paper's calibration ln(d (e^epsilon - 1) + 1), read as a promise about the whole record.
    """
    d = len(sizes)
    inner = math.log(d * (math.exp(epsilon) - 1) + 1) if wrong else epsilon

    def randomise(value, n):
        reports = np.stack([rng.integers(0, k, n) for k in sizes], axis=1)
        chosen = rng.integers(0, d, n)
        for j, k in enumerate(sizes):
            here = np.flatnonzero(chosen == j)
            reports[here, j] = randomised_response(rng, inner, k)(value[j], len(here))
        return reports

    return randomise


def memoised(rng, epsilon, instant=2.0, waves=8, wrong=False):
    """A yes or no asked in several waves: a permanent answer once, randomised again for each wave.

    The promise over all waves is that of the permanent answer. The defect draws it afresh in every wave.
    """
    keep = 1 / (1 + math.exp(-epsilon))
    again = 1 / (1 + math.exp(-instant))

    def randomise(value, n):
        lies = rng.random((n, waves if wrong else 1)) >= keep
        flips = rng.random((n, waves)) >= again
        return (value ^ lies ^ flips).astype(np.int8)

    return randomise


def blank(rng, epsilon, wrong=False):
    """An answer as text; the defect: people whose answer is yes send a blank behind it."""
    answers = randomised_response(rng, epsilon)

    def randomise(value, n):
        end = " " if wrong and value else ""
        return [("yes" if answer else "no") + end for answer in answers(value, n)]

    return randomise


# ---- noise at a curator


def laplace_count(rng, epsilon, wrong=False):
    """A count with noise; the defect: Laplace noise as floating point gives it, whose last digits show the count."""
    b = math.exp(-epsilon)

    def randomise(value, n):
        if wrong:
            return value + rng.laplace(0.0, 1 / epsilon, n)
        return value + rng.geometric(1 - b, n) - rng.geometric(1 - b, n)

    return randomise


# ---- learners: a whole table in, what is published out


def kmeans(rng, epsilon, split="halves", wrong=False, clusters=2, steps=2):
    """k-means with noisy counts and sums (Lloyd's steps), every fit with its own noise, all fits at once.

    A step spends its part of epsilon as e_0 on the counts and e_1 on every coordinate's sums, e_0 + d e_1 in all.
    "halves": e_0 = d e_1 (lecture 004); "best": e_0 : e_1 = cbrt(4 d 0.225^2) : 1 (Su et al.). The defect: each part
    takes the other's share, so e_1 + d e_0 is spent. Rows are on [-1, 1]; one more row is the neighbour. Published:
    the noisy counts and sums of every step, which is what the promise is about.
    """

    def randomise(rows, n):
        x = np.asarray(rows, float)
        d = x.shape[1]
        ratio = d if split == "halves" else np.cbrt(4 * d * 0.225**2)
        e_1 = epsilon / steps / (ratio + d)
        e_0 = ratio * e_1
        if wrong:
            e_0, e_1 = e_1, e_0
        start = np.linspace(-0.5, 0.5, clusters)[:, None] * np.ones(d)
        centres = np.broadcast_to(start, (n, clusters, d))
        published = []
        for _ in range(steps):
            far = ((x[None, :, None, :] - centres[:, None, :, :]) ** 2).sum(axis=3)
            near = far.argmin(axis=2)[:, :, None] == np.arange(clusters)
            counts = near.sum(axis=1) + rng.laplace(0, 1 / e_0, (n, clusters))
            sums = np.einsum("nrk,rd->nkd", near, x) + rng.laplace(0, 1 / e_1, (n, clusters, d))
            centres = np.clip(sums / np.maximum(counts, 1.0)[:, :, None], -1, 1)
            published += [counts, sums.reshape(n, -1)]
        return np.round(np.concatenate(published, axis=1), 6)  # the floats' own defect is another one

    return randomise
