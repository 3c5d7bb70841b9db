"""Every public name and the module that holds it: imported when first asked for, so that `import murmure` is quick.

Plug-ins are found, not listed. A plug-in is a class with an `entry` (core/catalogue_entries.py) in a file of one of
FOLDERS, and its entry says of which kind it is. The text of the file is enough to read it: nothing is imported before
it is used. The tables of names below (MECHANISMS, NOISES ...) are made when they are first asked for. Folders are those
of the packages' `__path__`, so a file may be added to a folder, or a folder to a path.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from murmure.core.catalogue_entries import CatalogueEntry, ModelFunction

    E = TypeVar("E", bound=CatalogueEntry)

FOLDERS = (
    "murmure.local",
    "murmure.central",
    "murmure.engines",
    "murmure.statistics",
    "murmure.statistics.learning",
    "murmure.statistics.exact",
    "murmure.econometrics.models",
)
TABLES = {  # each: the kind of its entries, and the folders that have them
    "MECHANISMS": ("MechanismEntry", FOLDERS[:1]),
    "RECORDS": ("RecordEntry", FOLDERS[:1]),
    "NOISES": ("NoiseEntry", FOLDERS[1:2]),
    "ENGINES": ("EngineEntry", FOLDERS[2:3]),
    "STATISTICS": ("StatisticEntry", FOLDERS[3:4]),
    "SUMS": ("SumEntry", FOLDERS[4:6]),
    "MODELS": ("ModelEntry", FOLDERS[6:]),
}
PUBLIC_KINDS = ("MECHANISMS", "RECORDS", "NOISES", "ENGINES", "STATISTICS")
MECHANISMS: dict[str, str]
RECORDS: dict[str, str]
NOISES: dict[str, str]
ENGINES: dict[str, str]
STATISTICS: dict[str, str]
SUMS: dict[str, str]  # what learners and models ask; they travel in plans, and nobody else needs their names
QUESTIONS: dict[str, str]  # both
MODELS: dict[str, str]  # econometrics: generators of questions, which travel in studies
PUBLIC: dict[str, str]
SHARINGS = {"PairwiseMasks": "murmure.secure.sharing"}
OTHERS = {
    "Categories": "murmure.core.categories",
    "Integers": "murmure.core.domain",
    "Interval": "murmure.core.domain",
    "Decimals": "murmure.core.decimals",
    "Dates": "murmure.core.dates",
    "Column": "murmure.core.column",
    "Schema": "murmure.core.schema",
    "FileFormat": "murmure.core.file_format",
    "DataFile": "murmure.engines.sources.data_file",
    "Random": "murmure.core.random",
    "Estimate": "murmure.core.estimates.estimate",
    "Estimates": "murmure.core.estimates.column_estimates",
    "Certificate": "murmure.core.types",
    "Release": "murmure.core.types",
    "MurmureError": "murmure.core.errors",
    "TwoSamples": "murmure.local.unrelated",
    "certify": "murmure.certify.certificate",
    "check_mechanism": "murmure.certify.checks.mechanisms",
    "check_statistic": "murmure.certify.checks.statistics",
    "check_engine": "murmure.certify.checks.engines",
    "check_coverage": "murmure.certify.checks.intervals",
    "clip_renormalise": "murmure.run.postprocessing",
    "project_simplex": "murmure.run.postprocessing",
    "em": "murmure.run.postprocessing",
    "Mapped": "murmure.laws.mapped",
    "Ledger": "murmure.ledger.ledger",
    "audit": "murmure.attacks.audits.audit",
    "replay_audit": "murmure.attacks.audits.replay_audit",
    "neighbours": "murmure.attacks.audits.neighbours",
    "Clear": "murmure.plan.privacy",
    "Central": "murmure.plan.privacy",
    "Local": "murmure.plan.privacy",
    "Secure": "murmure.plan.privacy",
    "Plan": "murmure.plan.plan",
    "Reports": "murmure.plan.reports",
    "run": "murmure.run.run",
    "Study": "murmure.parties.study.document",
    "sanitise": "murmure.run.tables.sanitiser",
    "estimate": "murmure.run.tables.estimator",
    "write_report": "murmure.run.report.report",
    "advise": "murmure.advise.advice",
    "set_language": "murmure.show.language",
}

# Classes whose Python name changed after plans, studies or results were written with another: what JSON calls them.
PERSISTED = {
    "FunctionSums": "Evaluated",
    "FunctionSumsByPlace": "Placed",
    "WithinPartyProducts": "Within",
    "PartyOuterProducts": "Scattered",
    "CustomSums": "OwnSums",
    "TooFewObservations": "TooFewRows",
    "LinkedRegression": "Fitted",
    "MultinomialFit": "Labelled",
    "HistogramResult": "Binned",
    "ECDFResult": "Distributed",
    "QuantilesResult": "Quantiled",
    "QuantileBrackets": "Bracketed",
    "CovarianceResult": "Covaried",
    "CorrelationResult": "Correlated",
    "PCAResult": "Components",
    "DescribeResult": "Described",
    "KMeansResult": "Clustered",
    "MantelHaenszelResult": "Stratified",
    "ContingencyResult": "Tabulated",
    "ROCResult": "Told",
    "LogRankResult": "Ranked",
    "TTestResult": "TTested",
    "AnovaResult": "Analysed",
}
CLASSES = {persisted: name for name, persisted in PERSISTED.items()}


def __getattr__(name: str) -> Any:
    """A table, made when it is first asked for."""
    if name in TABLES:
        kind, folders = TABLES[name]
        table: Any = {entry_name: module for entry_name, module, _ in _listed(kind, folders)}
    elif name == "QUESTIONS":
        table = {**_table("STATISTICS"), **_table("SUMS")}
    elif name == "PUBLIC":
        table = _joined(OTHERS, SHARINGS, *map(_table, PUBLIC_KINDS))
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, table)


def _table(name: str) -> dict[str, str]:
    return globals().get(name) or __getattr__(name)  # type: ignore[no-any-return]


def _joined(*tables: dict[str, str]) -> dict[str, str]:
    from murmure.core.errors import InvalidParameter

    out: dict[str, str] = {}
    for table in tables:
        for name in table.keys() & out.keys():
            raise InvalidParameter(
                "two public objects have the same name, {name}: in {out} and in {table}.",
                name=name,
                out=out[name],
                table=table[name],
            )
        out |= table
    return out


def _listed(kind: str, folders: tuple[str, ...]) -> list[tuple[str, str, Any]]:
    """The persisted name, the module and the entry of every plug-in of this kind, in order."""
    from murmure.core.errors import InvalidParameter
    from murmure.core.plug_in_files import plug_ins_in

    found: dict[str, tuple[str, Any]] = {}
    for module, class_name, entry in (plug_in for folder in folders for plug_in in plug_ins_in(folder)):
        name = PERSISTED.get(class_name, class_name)
        if type(entry).__name__ != kind:
            continue
        if name in found:
            raise InvalidParameter(
                "two plug-ins have the same name, {name}: in {found} and in {module}.",
                name=name,
                found=found[name][0],
                module=module,
            )
        found[name] = module, entry
    return [(name, *found[name]) for name in sorted(found, key=lambda name: (found[name][1].order, name))]


def entries(kind: type[E]) -> dict[str, E]:
    """The entries of this kind by name, in order: `entries(NoiseEntry)`."""
    folders = next(folders for name, folders in TABLES.values() if name == kind.__name__)
    return {name: entry for name, _, entry in _listed(kind.__name__, folders)}


def model_functions() -> dict[str, ModelFunction]:
    """The public functions of all models, by name."""
    from murmure.core.catalogue_entries import ModelEntry

    return {function.name: function for entry in entries(ModelEntry).values() for function in entry.functions}


def function_modules() -> dict[str, str]:
    """The public functions of all models, and the modules that hold them."""
    kind, folders = TABLES["MODELS"]
    return {function.name: module for _, module, entry in _listed(kind, folders) for function in entry.functions}


def solution_names() -> tuple[str, ...]:
    """The names that mechanisms of records have on the command line."""
    from murmure.core.catalogue_entries import RecordEntry

    return tuple(form.name for entry in entries(RecordEntry).values() for form in entry.solutions)


def persisted_name(thing: Any) -> str:
    """What JSON calls the class of a thing: its name, or the name that it had when it was first written."""
    name = type(thing).__name__
    return PERSISTED.get(name, name)


def load(name: str) -> Any:
    """The class or function that plans, studies and users know by this name."""
    return _load(name, (*PUBLIC_KINDS, "SUMS", "MODELS"))


def load_public(name: str) -> Any:
    """The same for `murmure.NAME`: what only plans and studies name is not found."""
    return _load(name, PUBLIC_KINDS)


def _load(name: str, kinds: tuple[str, ...]) -> Any:
    module = OTHERS.get(name) or SHARINGS.get(name)
    if module is None:  # folder after folder is read until the name is found
        module = next((_table(kind)[name] for kind in kinds if name in _table(kind)), None)
    if module is None:
        raise KeyError(name)
    return getattr(importlib.import_module(module), CLASSES.get(name, name))
