"""The parties slot: pairwise masks that cancel, with shares by which survivors remove the masks of who vanished.

    y_u = x_u + PRG(b_u) + sum_{v > u} PRG(s_uv) - sum_{v < u} PRG(s_uv)   in the integers modulo 2**64.

Bonawitz et al., "Practical secure aggregation for privacy-preserving machine learning", CCS 2017; above some thirty
parties on a sparse graph: Bell et al., "Secure single-server aggregation with (poly)logarithmic overhead", CCS 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from murmure.core.errors import InvalidParameter, Phrase, Plural, shorten
from murmure.core.types import Sharing
from murmure.secure.graph import MIN_PARTIES, SECURITY_AGAINST_TRIES, graph_parameters, max_dropouts, quorum

Trust = Literal["curious", "lying"]
MAX_COMPLETE = 30  # parties; up to here a sparse graph saves nothing
MAX_PARTIES = 1 << 14  # reading a stranger's study searches for a graph, which must not take long


@dataclass(frozen=True)
class PairwiseMasks(Sharing):
    """A sum over parties of which nobody sees a part.

    dropouts: how many may vanish; with fewer survivors nothing is released, and every party sees to it. None: a fifth,
    or as many as may. colluders: how many parties may pool what they know with the coordinator. coordinator: what it
    says about who takes part is never believed; before anything is revealed, `quorum` parties have signed the same
    lists. "curious": the totals that it reports are believed; "lying": they are not, so no later question may depend on
    them. rows: the most rows one party may hold; public. graph: who shares masks with whom, everybody with everybody,
    or each with some in a ring; "auto" takes the ring above 30 parties where that saves something.

    >>> import murmure as mu
    >>> hospitals = [[61, 70, 54], [48, 80], [77, 66, 59], [63]]
    >>> plan = mu.Plan(mu.Mean(mu.Integers(0, 120)), parties=mu.PairwiseMasks(4, dropouts=1))
    >>> release = mu.run(plan, hospitals)
    >>> print(release.estimate)
             value       low      high
    mean   64.2222   64.2222   64.2222
    <BLANKLINE>
    9 people; known exactly, for these people (fixed population)
    >>> print(release.guarantees["coordinator"])
    no differential privacy: the sum is exact
      protects: nothing of one person
      public: the whole numbers 0 to 120
      hidden: every row and every party's sums, from a coordinator, even one that shows different lists
        to different parties, together with up to 1 of the 4 parties: they learn the sum over the 2 or
        more others, and no more
      provided: X25519, HKDF-SHA256, AES-256, ChaCha20-Poly1305 and Ed25519 hold; at most 1 party
        colludes with the coordinator; where a question follows from totals before it, the coordinator
        reported them truly
    """

    parties: int
    dropouts: int | None = None
    colluders: int = 1
    coordinator: Trust = "curious"
    rows: int = 1 << 32
    graph: Literal["auto", "complete", "sparse"] = "auto"

    def __post_init__(self) -> None:
        for name, low, high in (("parties", MIN_PARTIES, MAX_PARTIES), ("colluders", 0, None), ("rows", 1, 1 << 48)):
            self._check_whole(name, low, high)
        if self.coordinator not in ("curious", "lying"):
            raise InvalidParameter(
                'PairwiseMasks.coordinator must be "curious" or "lying", got {got}.', got=shorten(self.coordinator)
            )
        if self.graph not in ("auto", "complete", "sparse"):
            raise InvalidParameter(
                'PairwiseMasks.graph must be "auto", "complete" or "sparse", got {got}.', got=shorten(self.graph)
            )
        if self.dropouts is None:
            object.__setattr__(self, "dropouts", self._default_dropouts())
        self._check_whole("dropouts", 0, None)
        if self.minimum < MIN_PARTIES:
            raise InvalidParameter(
                "PairwiseMasks: {parties} parties, of which {dropouts} may drop out, leave {minimum}; a sum of fewer "
                "than {min_parties} is never released.",
                hint="fewer dropouts, or more parties",
                parties=self.parties,
                dropouts=self.dropouts,
                minimum=self.minimum,
                min_parties=MIN_PARTIES,
            )
        if self.honest < 2:
            raise InvalidParameter(
                "PairwiseMasks: of {parties} parties, {dropouts} may drop out and {colluders} may collude, which "
                "leaves {honest} honest; below 2 the sum is one party's own.",
                hint="fewer dropouts or colluders, or more parties",
                parties=self.parties,
                dropouts=self.dropouts,
                colluders=self.colluders,
                honest=self.honest,
            )
        _ = self.quorum, self.threshold  # raises now if there are none

    def _check_whole(self, name: str, low: int, high: int | None) -> None:
        value = getattr(self, name)
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or value < low or (high is not None and value > high):
            up_to = "" if high is None else Phrase(" and at most {high:_}", high=high)
            raise InvalidParameter(
                "PairwiseMasks.{name} must be a whole number, at least {low}{up_to}, got {got}.",
                name=name,
                low=low,
                up_to=up_to,
                got=shorten(value),
            )
        object.__setattr__(self, name, int(value))

    def _default_dropouts(self) -> int:
        """A fifth, if that many may vanish: noise is scaled to those who are left, so more would cost everybody."""
        return max(0, min(max_dropouts(self.parties, self.colluders), -(-self.parties // 5)))

    @property
    def minimum(self) -> int:
        """The fewest parties of a sum that is released."""
        assert self.dropouts is not None
        return self.parties - self.dropouts

    @property
    def honest(self) -> int:
        """How many parties of a released sum, at least, neither vanished nor collude."""
        return self.minimum - self.colluders

    @property
    def complete(self) -> bool:
        """Whether everybody shares masks with everybody."""
        return self._graph is None

    @cached_property
    def _graph(self) -> tuple[int, int] | None:
        if self.graph == "complete" or (self.graph == "auto" and self.parties <= MAX_COMPLETE):
            return None
        try:
            dropouts = self.parties - self.minimum
            degree, threshold = graph_parameters(self.parties, self.colluders, dropouts, True, SECURITY_AGAINST_TRIES)
        except InvalidParameter:
            if self.graph == "sparse":
                raise
            return None
        return None if degree >= self.parties - 1 else (degree, threshold)

    @cached_property
    def quorum(self) -> int:
        """How many of all parties sign the same lists before anybody reveals a share."""
        return quorum(self.parties, self.colluders, self.parties - self.minimum)

    @property
    def threshold(self) -> int:
        """How many shares rebuild a secret; fewer say nothing about it."""
        return self.quorum if self._graph is None else self._graph[1]

    @property
    def degree(self) -> int:
        """With how many others a party shares masks, when everybody joins."""
        return self.parties - 1 if self._graph is None else self._graph[0]

    @property
    def assumption(self) -> Phrase:
        """What must hold for the claims of `in_words`."""
        return Phrase(
            "X25519, HKDF-SHA256, AES-256, ChaCha20-Poly1305 and Ed25519 hold; at most {colluders} with the "
            "coordinator{ring}{totals}",
            colluders=Plural("{n} party colludes", "{n} parties collude", n=self.colluders),
            ring=""
            if self.complete
            else Phrase(
                ", who they are does not depend on the order of the ring of masks, and none of them tries more than "
                "2**64 orders; but for a chance of 2**-40"
            ),
            totals=Phrase("; where a question follows from totals before it, the coordinator reported them truly")
            if self.coordinator == "curious"
            else "",
        )

    def in_words(self) -> Phrase:
        """What is hidden, and from whom."""
        return Phrase(
            "every row and every party's sums, from a coordinator, even one that shows different lists to different "
            "parties, together with up to {colluders} of the {parties} parties: they learn the sum over the {honest} "
            "or more others, and no more",
            colluders=self.colluders,
            parties=self.parties,
            honest=self.honest,
        )


EXAMPLES = (
    PairwiseMasks(3),
    PairwiseMasks(5),
    PairwiseMasks(5, dropouts=1, coordinator="lying"),
    PairwiseMasks(10, dropouts=2, colluders=4),
    PairwiseMasks(100, dropouts=5, colluders=5),
    PairwiseMasks(120, dropouts=2, colluders=2, coordinator="lying"),
)
