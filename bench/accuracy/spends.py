"""What diffprivlib 0.6.6 spends at a nominal epsilon, counted from the mechanisms that its code runs.

bench/pima/audit_diffprivlib.py measures the same by running its code on neighbours; here one row is replaced, and costs
of mechanisms are added up as their own formulas say.
"""

import math


def spends(model, way, columns, classes, epsilon):
    return {"logistic": logistic, "bayes": bayes, "kmeans": kmeans}[model](way, columns, classes, epsilon)


def logistic(way, columns, classes, epsilon):
    """Objective perturbation (Chaudhuri, Monteleoni, Sarwate, 2011): noise epsilon', and 2 log(1 + c / Lambda) for how
    a row bends the loss, with c = R^2 / 4 for rows of norm R. Vector takes c = R / 4: what its proof covers is more
    than epsilon for R > 1. Both terms, for each class apart."""
    parts = 1 if classes == 2 else classes
    own, norm = epsilon / parts, math.sqrt(columns + 1)  # with the constant
    noise, weight = own - 2 * math.log(1 + norm / 4), 1.0
    if noise <= 0:
        noise, weight = own / 2, max(norm / 4 / math.expm1(own / 4), 1.0)
    return f"{parts * (noise + 2 * math.log(1 + norm**2 / 4 / weight)):.2f} by its proof"


def bayes(way, columns, classes, epsilon):
    """A third each for counts, sums and squares. A row that changes its class moves all of them twice; rows on [-1, 1]
    move a sum by 1, where noise is scaled to 2."""
    sums = 2 if way == "0 to 1" else 1
    return f"up to {epsilon / 3 * (2 + sums + 2):.2f}; add/remove: no finite epsilon (prints n)"


def kmeans(way, columns, classes, epsilon):
    """Counts get the share of a coordinate and coordinates that of the counts: the two are swapped. A row that changes
    its cluster moves two counts and two sums of every coordinate; on [-1, 1] by 1, where noise is scaled to 2."""
    share = (4 * columns * 0.225**2) ** (1 / 3)
    moved = 2 if way == "0 to 1" else 1
    spent = epsilon * (2 + moved * columns * share) / (columns + share)
    return f"no finite epsilon (an empty cluster gets no noise); otherwise up to {spent:.2f}"
