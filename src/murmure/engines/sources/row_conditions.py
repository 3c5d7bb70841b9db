"""A condition on the rows of a batch, worked out by Arrow as SQL does: an answer is true, false or unknown (null).

Conditions are plain data, because the driver sends them to the workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

BY_WORD = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}  # of a null they make a null


class RowTerm(Protocol):
    """Something that has a value in every row."""

    def of(self, batch: Any) -> Any:
        """Its values as an Arrow array, or as a scalar where all rows have the same."""
        ...


@dataclass(frozen=True)
class ColumnCells:
    """The cells of a column."""

    name: str

    def of(self, batch: Any) -> Any:
        return batch.column(self.name)


@dataclass(frozen=True)
class Constant:
    value: Any
    kind: Any  # an Arrow type

    def of(self, batch: Any) -> Any:
        import pyarrow as pa

        return pa.scalar(self.value, self.kind)


@dataclass(frozen=True)
class Call:
    """A function of pyarrow.compute that needs no options."""

    function: str
    terms: tuple[RowTerm, ...]

    def of(self, batch: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        values = [term.of(batch) for term in self.terms]
        if self.function in BY_WORD and isinstance(values[0], pa.DictionaryArray) and isinstance(values[1], pa.Scalar):
            return by_word(values[0], lambda words: pc.call_function(self.function, [words, values[1]]))
        return pc.call_function(self.function, values)


@dataclass(frozen=True)
class Matches:
    """starts_with, ends_with or match_substring: bytes are compared, in Spark too."""

    function: str
    term: RowTerm
    pattern: str

    def of(self, batch: Any) -> Any:
        import pyarrow.compute as pc

        options = pc.MatchSubstringOptions(self.pattern)
        return by_word(self.term.of(batch), lambda words: pc.call_function(self.function, [words], options))


@dataclass(frozen=True)
class Membership:
    """Whether it is one of these values, none of which is null; unknown for a null."""

    term: RowTerm
    values: tuple[Any, ...]
    kind: Any  # an Arrow type

    def of(self, batch: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        def look_up(cells: Any) -> Any:
            found = pc.is_in(cells, value_set=pa.array(self.values, self.kind))
            return pc.if_else(pc.is_valid(cells), found, pa.scalar(None, pa.bool_()))

        return by_word(self.term.of(batch), look_up)


@dataclass(frozen=True)
class Widened:
    """The same numbers in a type that holds each of them exactly."""

    term: RowTerm
    kind: Any  # an Arrow type

    def of(self, batch: Any) -> Any:
        import pyarrow.compute as pc

        return pc.cast(self.term.of(batch), self.kind)


def by_word(cells: Any, answer: Any) -> Any:
    """The answer about each cell; of a dictionary array each word is asked once. Of a null it is null."""
    import pyarrow as pa

    return answer(cells.dictionary).take(cells.indices) if isinstance(cells, pa.DictionaryArray) else answer(cells)


def mask_of(condition: RowTerm, batch: Any) -> Any:
    """True for the rows that are kept: those where the condition is true, not false and not unknown."""
    import pyarrow as pa
    import pyarrow.compute as pc

    answer = condition.of(batch)
    if isinstance(answer, pa.Scalar):
        return pa.array([bool(answer.as_py())] * batch.num_rows, pa.bool_())
    return pc.fill_null(answer, False) if answer.null_count else answer
