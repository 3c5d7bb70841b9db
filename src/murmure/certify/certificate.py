"""`certify`: how much reports can tell about one person, computed from the law that runs."""

from __future__ import annotations

import math
from typing import Any

from murmure.certify.divergence import Loss, max_loss
from murmure.certify.witness_words import record_witness_in_words, witness_in_words
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import times_up
from murmure.core.schema import Schema
from murmure.core.types import Certifiable, Certificate, Chooser, Noise, Promises, Sharing, Unit
from murmure.local.rappor import ForEver

ITS_INTEGERS, WHO_TAKES_PART = Phrase("the mechanism and its integers"), Phrase("who takes part")


def certify(mechanism: Any, relation: Unit = "record", reports: int | None = None) -> Certificate:
    """The exact epsilon of a mechanism, rounded up, with the two inputs and the report that attain it.

    `relation`: "record" (any two people) or "attribute" (people who differ in one column); for a mechanism of one
    attribute they are equal. `reports`: how many fresh reports one person sends (default 1). For reports of a client
    that keeps its first draw, pass `mechanism.for_ever` (RAPPOR): by default any number of them.

    >>> import murmure as mu
    >>> print(mu.certify(mu.OUE(mu.Categories(128), epsilon=1.0)).epsilon)
    1.0
    >>> print(mu.certify(mu.GRR(mu.Categories(4), epsilon=1.0), reports=3).method)
    closed form over classes of reports; 3 fresh reports add up (sequential composition)
    >>> kept = mu.RAPPOR(mu.Categories(4), epsilon=4.0, epsilon_once=1.0)
    >>> print(mu.certify(kept, reports=1).epsilon, mu.certify(kept).epsilon)
    1.0 1.0
    """
    if relation not in ("record", "attribute"):
        raise InvalidParameter('certify: relation must be "record" or "attribute", got {got}.', got=shorten(relation))
    if reports is not None and (isinstance(reports, bool) or not isinstance(reports, int) or reports < 1):
        raise InvalidParameter("certify: reports must be a whole number, at least 1, got {got}.", got=shorten(reports))
    if isinstance(mechanism, Sharing):
        return _certify_sharing(mechanism)
    if not isinstance(mechanism, Certifiable):
        hint = Phrase(
            "certify(GRR(Categories(4), epsilon=1.0)); a class of your own inherits murmure.core.types.Certifiable"
        )
        if isinstance(mechanism, Noise | Chooser):
            hint = Phrase("the cost of noise depends on its statistic: Plan(Count(domain), curator=noise).guarantees()")
        if isinstance(mechanism, Promises):
            hint = Phrase("plan.guarantees() holds the certificates of a plan")
        raise InvalidParameter(
            "certify takes a mechanism, got {got}.", hint=hint, got=shorten(type(mechanism).__name__)
        )
    if isinstance(mechanism.domain, Schema):
        return _certify_record(mechanism, relation, reports)
    once = loss = max_loss(mechanism.channel)
    if isinstance(mechanism, ForEver):
        loss, epsilon, method = _kept(once, max_loss(mechanism.permanent), reports, mechanism.values)
    else:
        epsilon, method = _composed(once, reports)
    x, other, y = loss.witness
    label = mechanism.domain.label
    # The ratio of the witness is that of one report; several, or kept bits, have another one.
    one_report = loss is once and (reports or 1) == 1
    return Certificate(
        epsilon=epsilon,
        delta=0.0,
        relation="replace",
        unit=relation,
        public=(mechanism.domain.public(), ITS_INTEGERS, WHO_TAKES_PART),
        method=method,
        witness=(label(x), label(other), y),
        witness_text=witness_in_words(mechanism, x, other, y, epsilon, one_report),
        assumption=mechanism.assumption,
        asked=mechanism.asked,
    )


def _certify_sharing(sharing: Any) -> Certificate:
    """Masks hide parts of a sum, and nothing of the sum itself."""
    return Certificate(
        epsilon=math.inf,
        delta=0.0,
        relation="replace",
        unit="record",
        public=(WHO_TAKES_PART, Phrase("what is asked, its bounds, and the most rows of a party")),
        method=Phrase("the sum is exact"),
        assumption=sharing.assumption,
        hides=sharing.in_words(),
    )


def _certify_record(mechanism: Any, unit: Unit, reports: int | None) -> Certificate:
    from murmure.certify.record_divergence import record_loss

    loss = record_loss(mechanism.channel, unit)
    epsilon, method = _composed(loss, reports)
    x, other, y = loss.witness

    def labels(codes: Any) -> tuple[str, ...]:
        return tuple(mechanism.domain[name].label(c) for name, c in zip(mechanism.columns, codes, strict=True))

    return Certificate(
        epsilon=epsilon,
        delta=0.0,
        relation="replace",
        unit=unit,
        public=(mechanism.domain.public(), ITS_INTEGERS, WHO_TAKES_PART),
        method=method,
        witness=(labels(x), labels(other), y),
        witness_text=record_witness_in_words(mechanism, x, other, y, epsilon, (reports or 1) == 1),
        assumption=mechanism.assumption,
        asked=mechanism.requested_epsilon(unit),
    )


def _composed(loss: Loss, reports: int | None) -> tuple[float, str]:
    """The epsilon of this number of fresh reports, and how it was obtained."""
    method = loss.method
    if reports is not None and reports > 1:
        method = Phrase(
            "{method}; {reports} fresh reports add up (sequential composition)", method=method, reports=reports
        )
    return times_up(loss.epsilon, reports or 1), method


def _kept(once: Loss, for_ever: Loss, reports: int | None, values: int) -> tuple[Loss, float, str]:
    """Of draws that are kept, one for each distinct value: any number of reports tells no more than the kept bits."""
    whole = times_up(for_ever.epsilon, values)
    if reports is not None and times_up(once.epsilon, reports) < whole:
        sent = Phrase("{method}; {reports} report(s)", method=once.method, reports=reports)
        return once, times_up(once.epsilon, reports), sent
    about = Phrase("one value")
    if values != 1:
        about = Phrase("{values} distinct values, which add up", values=values)
    return for_ever, whole, Phrase("{method}; any number of reports about {about}", method=for_ever.method, about=about)
