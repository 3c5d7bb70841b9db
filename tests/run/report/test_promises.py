"""What a certificate promises in plain words: as much as it proves, and no more."""

from __future__ import annotations

import math

import murmure as mu
from murmure.run.report.certificate_words import max_certainty, promise

QUESTION = mu.Categories(["no", "yes"])


def test_of_an_answer() -> None:
    assert "cannot become surer than 73.2 in 100" in promise(mu.certify(mu.GRR(QUESTION, epsilon=1.0)))


def test_of_a_curator_it_is_about_the_data() -> None:
    """Nothing is sent there: what is hidden is whether somebody is in the data."""
    plan = mu.Plan(mu.Histogram(QUESTION), curator=mu.DiscreteLaplace(1.0))
    told = promise(plan.guarantees()["reader"])

    assert told.startswith("Asked whether one record is in the data") and "sent" not in told


def test_with_delta_only_a_guess_is_bounded() -> None:
    """Certainty given a result has no bound below 1 when delta > 0; the success of the best guess has."""
    plan = mu.Plan(mu.Histogram(QUESTION), curator=mu.DiscreteGaussian(epsilon=1.0, delta=0.01))
    certificate = plan.guarantees()["reader"]
    told = promise(certificate)

    assert "surer" not in told and f"right at most {max_certainty(certificate.epsilon, certificate.delta):g}" in told
    best = 100 * (math.exp(certificate.epsilon) + certificate.delta) / (1 + math.exp(certificate.epsilon))
    assert best <= max_certainty(certificate.epsilon, certificate.delta) < best + 0.11
