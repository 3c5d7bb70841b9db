"""What a plug-in says about itself: the class attribute `entry`, from which all lists of plug-ins are made.

    @dataclass(frozen=True)
    class GRR(FrequencyOracle):
        domain: Domain
        epsilon: float

        entry = MechanismEntry(order=30, oracle="shares", adaptive=True, lists_values=True)

Entries are data: literals, tuples, dictionaries and the forms below. So the catalogue can read them off the text of a
file without importing it, and `murmure --help` stays quick (catalogue.py). An entry belongs to the class in whose body
it is: a subclass is a plug-in of its own only with an entry of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

LAST = 1000  # a plug-in that does not ask for a place comes after those that do
Words = str  # an English template, the key of its translations (show/locale)


@dataclass(frozen=True, kw_only=True)
class CatalogueEntry:
    """What the entries of all kinds have: a place in lists. Equal places are in the order of their names."""

    order: int = LAST


@dataclass(frozen=True)
class OptionForm:
    """An option of the command line that belongs to one plug-in. "[required]" in its help makes it required."""

    name: str  # the parameter: epsilon_once is --epsilon-once
    help: str
    kind: Literal["text", "names", "numbers", "number", "probability", "whole", "flag"] = "text"
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    low: int | None = None  # bounds of a whole number
    high: int | None = None
    order: int = LAST  # among the options of mechanisms


@dataclass(frozen=True, kw_only=True)
class MechanismEntry(CatalogueEntry):
    """A mechanism of one value.

    oracle: what its reports about a column of a record estimate: its shares, its mean, or nothing without bias (the
    reports are a column). Such a mechanism takes any domain and an epsilon; `advise` ranks the first two kinds.
    """

    oracle: Literal["shares", "mean", "column"] | None = None
    adaptive: bool = False  # whether ADP, and "adaptive" in SPL and SMP, choose among it
    lists_values: bool = False  # whether a report lists the values that it supports
    tells_squares: bool = False  # whether reports about a number estimate its square too
    line: tuple[str, str] | None = None  # colour and dash of its line in the figure of `advise`
    options: tuple[OptionForm, ...] = ()  # beside --epsilon


@dataclass(frozen=True)
class SolutionForm:
    """A mechanism of records under a name of the command line: the settings that the name fixes, and those it takes."""

    name: str
    takes: tuple[str, ...]
    fixed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RecordEntry(CatalogueEntry):
    """A mechanism of records. sentence: what it does, in reports."""

    color: str | None = None  # of its lines in the figure of `advise`
    sentence: Words | None = None
    solutions: tuple[SolutionForm, ...] = ()


@dataclass(frozen=True, kw_only=True)
class NoiseEntry(CatalogueEntry):
    """A noise, or a choice, at the curator. title: what reports call it."""

    title: Words | None = None
    word: str | None = None  # of `murmure query --noise`
    needs_delta: bool = False
    in_shares: bool = False  # whether parties can draw it in shares, so that a study can ask for it


@dataclass(frozen=True)
class QueryForm:
    """How `murmure query` asks for a statistic."""

    word: str  # the question
    columns: int = 1  # 0: of rows; 2 and more: the statistic takes a schema, and their names
    numbers: bool = False  # whether it is of numbers only
    dates: bool = False  # or of dates
    counts: bool = False  # whether it counts rows: intervals are cut to what is possible, and no number is rounded
    levels: str | None = None  # the parameter that --at gives
    chosen: str | None = None  # the choice that releases it instead of noise: one label, for all rows
    options: tuple[OptionForm, ...] = ()  # its other parameters


@dataclass(frozen=True, kw_only=True)
class StatisticEntry(CatalogueEntry):
    """A statistic that people ask for.

    study: what is added up, as a study tells those who approve it. {columns} and {width} are its columns and how many
    sums there are, and the name of each other parameter its value: a study must show every choice of the asker.
    title, sentence: how a report names it; {column} is the column. bare, bare_sentence: where no column has a name.
    """

    query: QueryForm | None = None
    study: Words | None = None
    title: Words | None = None
    sentence: Words | None = None
    bare: Words | None = None
    bare_sentence: Words | None = None


@dataclass(frozen=True, kw_only=True)
class SumEntry(CatalogueEntry):
    """A statistic that learners and models ask for: it travels in plans, and nobody else needs its name."""


@dataclass(frozen=True, kw_only=True)
class EngineEntry(CatalogueEntry):
    """An engine."""


@dataclass(frozen=True)
class CommandForm:
    """A model on the command line: a line about it, its arguments, its options (shared ones by name), an example."""

    about: str
    arguments: tuple[str, ...]
    options: tuple[str | OptionForm, ...]
    example: str


@dataclass(frozen=True)
class ModelFunction:
    """A public function of a model, in the same file: what people call, type, and write in a study.

    The keys of a study are the keywords of the function; only what differs from its signature is said here.
    """

    name: str
    command: CommandForm | None = None
    study: tuple[str, ...] = ()  # examples of its [[models]], without the line that names the model
    excluded: tuple[tuple[tuple[str, ...], str], ...] = ()  # keywords that a study cannot take, and why
    required: tuple[str, ...] = ()  # keywords that a study must give
    defaults: Mapping[str, str] = field(default_factory=dict)  # where the signature says None


@dataclass(frozen=True, kw_only=True)
class ModelEntry(CatalogueEntry):
    """A model of econometrics."""

    functions: tuple[ModelFunction, ...] = ()


FORMS = {
    form.__name__: form
    for form in (
        MechanismEntry,
        RecordEntry,
        NoiseEntry,
        StatisticEntry,
        SumEntry,
        EngineEntry,
        ModelEntry,
        OptionForm,
        SolutionForm,
        QueryForm,
        CommandForm,
        ModelFunction,
    )
}
