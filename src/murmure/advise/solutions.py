"""Ways to sanitise a record, by name; and which one is taken by default.

That choice depends on public facts only: the schema, epsilon, and how many people take part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from murmure.advise.record_advice import candidate_solutions, least_variance
from murmure.catalogue import entries, load
from murmure.core.catalogue_entries import RecordEntry, SolutionForm
from murmure.core.schema import Schema


@dataclass(frozen=True)
class Solution:
    """A mechanism of records, and the form that gives it this name."""

    make: Any
    form: SolutionForm

    @property
    def takes(self) -> tuple[str, ...]:
        """The settings that it takes beside those that its name fixes."""
        return self.form.takes

    def __call__(self, schema: Schema, epsilon: float, **settings: Any) -> Any:
        return self.make(schema, epsilon, **self.form.fixed, **settings)


SOLUTIONS: dict[str, Solution] = {
    form.name: Solution(load(name), form) for name, entry in entries(RecordEntry).items() for form in entry.solutions
}


def auto_solution(schema: Schema, epsilon: float, people: int) -> tuple[str, Any]:
    """The default solution, with its name: see `least_variance`."""
    chosen = least_variance(schema, epsilon, people)
    return next(name for name, candidate in candidate_solutions(schema, epsilon).items() if candidate == chosen), chosen
