"""diffprivlib, value by value: its bounded Laplace, and redraw-until-inside as in the lecture."""

from clock import COLUMNS, ROWS, measure_peer, table
from diffprivlib.mechanisms import Laplace, LaplaceBoundedDomain, Staircase

values = table().ravel().tolist()


def redraw(mechanism):
    def randomise(value):
        while True:
            noisy = mechanism.randomise(value)
            if 0.0 <= noisy <= 1.0:
                return noisy

    return randomise


def compare(task, how, randomise):
    measure_peer(task, "diffprivlib", ROWS * COLUMNS, lambda: [randomise(x) for x in values], how=how)


for epsilon in (1.0, 0.1):
    bounded = LaplaceBoundedDomain(epsilon=epsilon, sensitivity=1.0, lower=0.0, upper=1.0)
    compare(f"laplace.{epsilon}", "LaplaceBoundedDomain", bounded.randomise)
    # The same law as the line above when the sensitivity is the whole range, and faster.
    compare(f"laplace.{epsilon}", "Laplace, redrawn", redraw(Laplace(epsilon=epsilon, sensitivity=1.0)))
    compare(f"staircase.{epsilon}", "Staircase, redrawn", redraw(Staircase(epsilon=epsilon, sensitivity=1.0)))
