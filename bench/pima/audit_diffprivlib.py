"""What diffprivlib's models really spend, at least: their own code, run on neighbours with every answer frozen.

Both runs of `fit` hear the same answers. Each answer is chosen among a few that the mechanism can give so that the
first data set explains it better than the second, by the law that the mechanism documents. The sum of the log ratios
is a lower bound of what the answers spend on these two data sets, whatever the model does with them afterwards.

Neighbours differ in one row (replace one); the bound is the largest of a few pairs at the corners of the public box.
"""

import json
import math

import numpy as np
from diffprivlib import mechanisms
from diffprivlib.models import GaussianNB, LinearRegression
from folds import EPSILONS, HIGH, LOW, filled, folds, table

PAIRS = (("high", "high"), ("low", "low"), ("low", "high"), ("high", "low"), ("middle", "high"), ("high", "middle"))


LEAST = -100.0  # log of the least probability of class counts that are looked at: below, floats lose it


class Asked(Exception):
    """An answer is wanted that nobody has chosen yet."""

    def __init__(self, question):
        self.question = question


class Frozen:
    """Stands in the place of every mechanism: gives the chosen answers one after the other."""

    def __init__(self):
        self.answers = []

    def ask(self, question):
        if self.next == len(self.answers):
            raise Asked(question)
        self.next += 1
        return self.answers[self.next - 1]

    def question(self, fit):
        self.next = 0
        try:
            fit()
        except Asked as asked:
            return asked.question
        return None


# ---- laws: (name, value, scale, lower, upper) to the log of a density, or of the mass at an end


def log_laplace(z, scale):
    return -abs(z) / scale - math.log(2 * scale)


def log_upper_tail(z, scale):
    """log P[noise >= z]."""
    return -z / scale - math.log(2) if z >= 0 else math.log1p(-math.exp(z / scale) / 2)


def log_law(kind, answer, value, scale, lower, upper):
    if scale == 0:
        return 0.0 if answer == value else -math.inf
    if kind == "truncated" and answer == upper:
        return log_upper_tail(upper - value, scale)
    if kind == "truncated" and answer == lower:
        return log_upper_tail(value - lower, scale)
    if kind == "bounded":
        value = min(max(value, lower), upper)
        inside = 1 - (math.exp((lower - value) / scale) + math.exp((value - upper) / scale)) / 2
        return log_laplace(answer - value, scale) - math.log(inside)
    if kind == "folded":  # at zero
        return float(np.logaddexp(log_laplace(answer - value, scale), log_laplace(-answer - value, scale)))
    return log_laplace(answer - value, scale)


def candidates(first, second, usual):
    """`usual`: a truncated mechanism says what it says most often, and not an end of its range."""
    kind, _, scale, lower, upper = first
    a, b = first[1], second[1]
    if kind == "counts":
        likely = np.minimum(log_counts(first), log_counts(second)) > LEAST
        return np.flatnonzero(likely).tolist()
    if kind == "truncated":
        return [a] if usual else [lower, upper]
    if kind == "bounded":
        return [lower, upper]
    far = max(abs(a), abs(b)) + scale
    return [a] if scale == 0 else [far] if kind == "folded" else [far, -far]


def ratio(answer, first, second):
    """log P[answer | first] - log P[answer | second]; both runs must ask in the same way."""
    assert first[0] == second[0] and np.allclose(first[2:], second[2:], rtol=1e-12, atol=0), (first, second)
    if first[0] == "counts":
        return log_counts(first)[answer] - log_counts(second)[answer]
    return log_law(first[0], answer, *first[1:]) - log_law(second[0], answer, *second[1:])


def log_counts(question):
    """Naive Bayes' two class counts after they are pushed until they sum to n: the exact law of the first one."""
    _, (one, two), scale, _, n = question
    key = one, two, scale
    if key not in log_counts.held:
        mass = np.multiply.outer(truncated_geometric(one, scale, n), truncated_geometric(two, scale, n))
        final = pushed(n)[0]
        held = np.bincount(final.ravel(), mass.ravel(), n + 1)
        with np.errstate(divide="ignore"):
            log_counts.held[key] = np.log(held)
    return log_counts.held[key]


log_counts.held = {}


def truncated_geometric(value, scale, n):
    """P[k] for k = 1..n: (1 - r) / (1 + r) r^|k - value| with r = e^(-1/scale), the rest in the ends."""
    r = math.exp(-1 / scale)
    p = (1 - r) / (1 + r) * r ** np.abs(np.arange(1, n + 1) - value)
    p[0] = r ** (value - 1) / (1 + r)
    p[-1] = r ** (n - value) / (1 + r)
    return p


def pushed(n):
    """diffprivlib's loop for two classes, on all pairs of noisy counts at once."""
    if n not in pushed.held:
        counts = np.stack(np.meshgrid(np.arange(1, n + 1), np.arange(1, n + 1), indexing="ij"))
        swapped = counts[0] > counts[1]
        i = np.where(counts.sum(0) > n, 0, 1)
        while (counts.sum(0) != n).any():
            sign = np.sign(n - counts.sum(0))
            which = np.where(swapped, 1 - i, i)
            for k in (0, 1):
                counts[k] = np.where(which == k, np.clip(counts[k] + sign, 1, n), counts[k])
            i = (i - sign) % 2
        pushed.held[n] = counts
    return pushed.held[n]


pushed.held = {}


# ---- their code, with its mechanisms replaced


def install(frozen):
    def asks(kind):
        def randomise(self, value):
            scale = self._find_scale() if kind == "bounded" else self.sensitivity / self.epsilon
            lower, upper = getattr(self, "lower", -math.inf), getattr(self, "upper", math.inf)
            return frozen.ask((kind, float(value), float(scale), float(lower), float(upper)))

        return randomise

    mechanisms.Laplace.randomise = asks("laplace")
    mechanisms.LaplaceTruncated.randomise = asks("truncated")
    mechanisms.LaplaceFolded.randomise = asks("folded")
    mechanisms.LaplaceBoundedDomain.randomise = asks("bounded")

    def noisy_class_counts(self, y, random_state):
        ones = [int((y == label).sum()) for label in np.unique(y)]
        first = frozen.ask(("counts", tuple(ones), 3 / self.epsilon, 0, len(y)))
        return np.array([first, len(y) - first])

    GaussianNB._noisy_class_counts = noisy_class_counts


def spent(frozen, fit, first, second, usual=False):
    """The greedy sum of log ratios over all questions of one fit."""
    frozen.answers, total = [], 0.0
    while True:
        one, two = frozen.question(lambda: fit(*first)), frozen.question(lambda: fit(*second))
        assert (one is None) == (two is None)
        if one is None or math.isinf(total):
            return total
        ratios = {answer: ratio(answer, one, two) for answer in candidates(one, two, usual)}
        best = max(ratios, key=ratios.get)
        total += ratios[best]
        frozen.answers.append(best)


def largest(values):
    found = 0.0
    for value in values:
        found = max(found, value)
        if math.isinf(found):
            break
    return found


def neighbours(x, y, low, high):
    """One row at a corner, or in the middle, of the public box; its outcome changes as well."""
    corner = {"low": low, "high": high, "middle": (low + high) / 2}
    at = int(np.flatnonzero(y == 0)[0])
    for before, after in PAIRS:
        out = []
        for row, label in ((corner[before], 0), (corner[after], 1)):
            xs, ys = x.copy(), y.copy()
            xs[at], ys[at] = row, label
            out.append((xs, ys))
        yield out
        yield out[::-1]


def bayes(epsilon, low, high):
    return lambda x, y: GaussianNB(epsilon=epsilon, bounds=(low, high)).fit(x, y)


def regression(epsilon, low, high):
    return lambda x, y: LinearRegression(epsilon=epsilon, bounds_X=(low, high), bounds_y=(0.0, 1.0)).fit(x, y)


def exact_squares(x, y, low, high, epsilon, fits=1000):
    """The share of fits, with their own noise, whose sum of squares of some column comes out without any."""
    found = 0
    for seed in range(fits):
        model = LinearRegression(epsilon=epsilon, bounds_X=(low, high), bounds_y=(0.0, 1.0), random_state=seed)
        held = np.diag(model.fit(x, y)._obj_coefs[2])
        found += bool(np.isclose(held, ((x - low) ** 2).sum(0), rtol=1e-12, atol=0).any())
    return found / fits


def number_of_rows(x, y, low, high, epsilon, fits=100):
    """The share of fits, with their own noise, whose class counts sum to the true number of rows."""
    models = (GaussianNB(epsilon=epsilon, bounds=(low, high), random_state=seed) for seed in range(fits))
    return sum(model.fit(x, y).class_count_.sum() == len(y) for model in models) / fits


x, y = table()
x = np.clip(filled(x), LOW, HIGH)
learn, _ = next(folds(len(y), 0))
x, y = x[learn], y[learn]
none, all_ = np.zeros(len(LOW)), np.ones(len(LOW))
ways = {"diffprivlib": (x, LOW, HIGH), "diffprivlib, unit": ((x - LOW) / (HIGH - LOW), none, all_)}
exact = {(lib, e): exact_squares(rows, y, low, high, e) for lib, (rows, low, high) in ways.items() for e in EPSILONS}
counted = {(lib, e): number_of_rows(rows, y, low, high, e) for lib, (rows, low, high) in ways.items() for e in EPSILONS}
frozen = Frozen()
install(frozen)
for lib, (rows, low, high) in ways.items():
    for epsilon in EPSILONS:
        for model, build in {"bayes": bayes, "regression": regression}.items():
            fit = build(epsilon, low, high)
            pairs = list(neighbours(rows, y, low, high))
            record = {"model": model, "lib": lib, "epsilon": epsilon}
            record["spent"] = largest(spent(frozen, fit, *pair) for pair in pairs)
            if model == "bayes":
                record["counted"] = counted[lib, epsilon]
            else:
                record["exact"] = exact[lib, epsilon]
                record["usual"] = largest(spent(frozen, fit, *pair, usual=True) for pair in pairs)
            print(json.dumps(record), flush=True)
