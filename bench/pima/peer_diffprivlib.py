"""diffprivlib's models on the folds, and scikit-learn's clear ones; runs in the peer's own environment."""

import json
import sys

import numpy as np
from diffprivlib.models import GaussianNB, LinearRegression
from folds import EPSILONS, HIGH, LOW, RUNS, accuracies, filled, table
from sklearn.linear_model import LinearRegression as ClearRegression
from sklearn.naive_bayes import GaussianNB as ClearBayes

runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
x, y = table()
x = np.clip(filled(x), LOW, HIGH)
unit = (x - LOW) / (HIGH - LOW)  # public constants: costs nothing


def emit(model, lib, epsilon, fit, x=x):
    print(json.dumps({"model": model, "lib": lib, "epsilon": epsilon, "runs": accuracies(fit, x, y, runs)}), flush=True)


def above_half(model):
    return lambda x: (model.predict(x) >= 0.5).astype(int)


def bayes(epsilon, low, high):
    def fit(x, y, seed):
        return GaussianNB(epsilon=epsilon, bounds=(low, high), random_state=seed).fit(x, y).predict

    return fit


def regression(epsilon, low, high):
    def fit(x, y, seed):
        model = LinearRegression(epsilon=epsilon, bounds_X=(low, high), bounds_y=(0.0, 1.0), random_state=seed)
        return above_half(model.fit(x, y))

    return fit


emit("majority", "", None, lambda x, y, seed: lambda x: np.full(len(x), round(y.mean())))
emit("bayes", "scikit-learn", None, lambda x, y, seed: ClearBayes().fit(x, y).predict)
emit("regression", "scikit-learn", None, lambda x, y, seed: above_half(ClearRegression().fit(x, y)))
for epsilon in EPSILONS:
    emit("bayes", "diffprivlib", epsilon, bayes(epsilon, LOW, HIGH))
    emit("bayes", "diffprivlib, unit", epsilon, bayes(epsilon, 0.0, 1.0), unit)
    emit("regression", "diffprivlib", epsilon, regression(epsilon, LOW, HIGH))
    emit("regression", "diffprivlib, unit", epsilon, regression(epsilon, 0.0, 1.0), unit)
