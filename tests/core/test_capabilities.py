"""What things can do is said by their classes (core/types.py), and found out in no other way."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import murmure as mu
from murmure.core import types

PACKAGE = Path(mu.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
TEXTS = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in FILES}
CAPABILITIES = [
    cls
    for cls in vars(types).values()
    if isinstance(cls, type) and cls.__module__ == types.__name__ and not is_dataclass(cls) and cls is not types.Engine
]

# Where attributes are probed, and why a class cannot say it: the thing is not ours.
ARRAYS = "arrays and tables of other libraries"
SYSTEM = "what a platform or the standard library has"
LIBRARY = "objects of another library"
ANYTHING = "it looks into any object"
PROBED = {
    ARRAYS: {
        "certify/checks/assertions.py": "item",
        "certify/witness_words.py": "tolist",
        "core/batches.py": "__getitem__ columns num_columns",
        "core/cells/gridded_floats.py": "chunks",
        "core/cells/parsed_dates.py": "categories dt dtype kind tz",
        "core/cells/parsed_columns.py": "array as_py categories chunks codes dtype iloc item kind null_count "
        "num_columns numpy_dtype pyarrow_dtype shape storage to_numpy",
        "core/cells/parsed_decimals.py": "to_pylist tolist value_type",
        "core/estimates/estimate_blocks.py": "items",
        "econometrics/design/inferred_schema.py": "categories dtypes iloc",
        "engines/base/task.py": "num_rows",
        "engines/sources/column_batches.py": "__getitem__ __len__ iloc schema",
        "engines/sources/number_arrays.py": "dtype",
        "engines/sources/frame_tables.py": "array categories codes collect_batches dtype fetch_record_batch fill_value "
        "kind pyarrow_dtype shape sparse storage to_arrow_reader to_arrow_table tolist",
        "engines/sources/tables.py": "collect_schema column_names names schema",
        "laws/number_codes.py": "chunks",
        "learn/base.py": "tolist",
        "learn/learner_summary.py": "shape",
        "learn/training_table.py": "__array__ column_names columns dtype iloc names ndim schema toarray",
        "local/base/record_mechanism.py": "items",
        "run/outside_reports.py": "__len__ index name num_columns shape ?",
        "run/report_forms.py": "__len__ num_columns ?",
        "run/tables/table_format.py": "metadata schema",
        "run/totals.py": "?",
        "run/report/certificate_words.py": "dtype tolist",
        "run/report/report_content.py": "items",
    },
    SYSTEM: {
        "lectures/course/interrupts.py": "pthread_sigmask",
        "cli/lesson_screen.py": "encoding",
        "cli/terminal.py": "reconfigure",
        "collector/client_file.py": "O_NOFOLLOW",
        "collector/client_requests.py": "reason",
        "collector/intake/report_log.py": "fdatasync",
        "core/helper_thread.py": "register_at_fork",
        "core/random.py": "register_at_fork",
        "core/serving/listening.py": "reason strerror",
        "engines/sources/csv_files.py": "fileobj",
        "engines/sources/row_groups.py": "errno",
        "laws/kernel_loader.py": "one sched_getaffinity",
        "ledger/fingerprint.py": "geteuid",
        "parties/http/client.py": "AF_UNIX ?",
        "attacks/audits/sources.py": "reason",
        "show/language.py": "_catalog",
        "show/plot.py": "__fspath__",
        "statistics/expressions/text.py": "msg",
    },
    LIBRARY: {
        "certify/checks/intervals.py": "__name__",
        "cli/commands.py": "ctx hint",
        "econometrics/design/formula.py": "args lhs msg rhs token",
        "econometrics/design/formula_names.py": "value",
        "laws/kernel_loader.py": "_cache _cache_file save_overload",
        "learn/folds.py": "? get_params",
        "lectures/data_sets/open_ml.py": "reason",
        "lectures/experiments/library_replay.py": "lower upper",
        "lectures/items/lecture_002/listings.py": "models",
        "learn/transform_output.py": "_sklearn_output_config",
        "parties/http/routes.py": "sender",
    },
    ANYTHING: {
        "cli/party_join.py": "text",
        "collector/survey/texts.py": "code",
        "show/html.py": "value",
        "show/phrase.py": "plural text",
        "attacks/audits/released_values.py": "__dict__ ?",
        "econometrics/steps/digest_of_code.py": "__closure__ __code__ __defaults__ __globals__ __kwdefaults__",
    },
}
# Where the name of a class decides: it is looked up among the names that JSON knows, or belongs to another library.
NAMED = {
    "catalogue.py",
    "collector/service/builder_advice.py",
    "engines/sources/arrow_cells.py",
    "parties/study/model_checks.py",
    "parties/study/question_words.py",
    "core/codec.py",
    "plan/plan.py",
    "run/outside_reports.py",
}


def probes(tree: ast.AST) -> list[str]:
    """The attributes whose presence is tested: hasattr(x, "a"), getattr(x, "a", default). "?": not a constant."""
    out = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id == "hasattr" or (node.func.id == "getattr" and len(node.args) == 3):
            what = node.args[1]
            out.append(str(what.value) if isinstance(what, ast.Constant) else "?")
    return out


def is_type_name(node: ast.AST) -> bool:
    """type(x).__name__, x.__class__.__qualname__, persisted_name(x)."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "persisted_name"
    if not isinstance(node, ast.Attribute) or node.attr not in ("__name__", "__qualname__"):
        return False
    of = node.value
    called = isinstance(of, ast.Call) and isinstance(of.func, ast.Name) and of.func.id == "type"
    return called or (isinstance(of, ast.Attribute) and of.attr == "__class__")


def assigned(scope: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Names and what they are set to, tuples taken apart."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=False))
                yield from ((name.id, value) for name, value in pairs if isinstance(name, ast.Name))
        elif isinstance(node, ast.NamedExpr):
            yield node.target.id, node.value


def decides_by_name(tree: ast.AST) -> list[int]:
    """Lines that compare the name of a type, or look something up by it."""
    lines = set()
    for scope in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))]:
        known = {name for name, value in assigned(scope) if is_type_name(value)} if scope is not tree else set()

        def named(node: ast.AST, known: set[str] = known) -> bool:
            return is_type_name(node) or (isinstance(node, ast.Name) and node.id in known)

        for node in ast.walk(scope):
            looked: list[ast.AST] = []
            if isinstance(node, ast.Compare):
                looked = [node.left, *node.comparators]
            elif isinstance(node, ast.Match):
                looked = [node.subject]
            elif isinstance(node, ast.Subscript):
                looked = [node.slice]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                looked = [*node.args[:1]] if node.func.attr == "get" else []
                looked += [node.func.value] if node.func.attr in ("startswith", "endswith") else []
            lines |= {node.lineno for part in looked if named(part)}
    return sorted(lines)


def test_nobody_probes_for_names() -> None:
    """Attributes are probed on things of others only. (What `fit` learned ends in "_", and is there or not.)"""
    allowed = {(place, name) for files in PROBED.values() for place, names in files.items() for name in names.split()}

    trees = {place: ast.parse(text) for place, text in TEXTS.items() if "attr(" in text}
    found = {(place, name) for place, tree in trees.items() for name in probes(tree) if not re.search("[^_]_$", name)}

    assert found == allowed  # no more, and none that is listed in vain


def test_no_name_of_a_class_decides() -> None:
    trees = {place: ast.parse(text) for place, text in TEXTS.items() if re.search("__(qual)?name__|persisted_n", text)}

    assert {place for place, tree in trees.items() if decides_by_name(tree)} == NAMED


@pytest.mark.parametrize(
    "mutant",
    [
        'if hasattr(plan.statistic, "blocks"): pass',
        'wide = getattr(statistic, "wide", False)',
        'seams = [law for law in laws if getattr(law, "step", None)]',
    ],
)
def test_a_probe_is_found(mutant: str) -> None:
    assert probes(ast.parse(mutant)) != []


@pytest.mark.parametrize(
    "mutant",
    [
        'if type(part).__name__ in ("Duchi", "Hybrid"): pass',
        'while type(statistic).__qualname__ == "GroupBy": pass',
        'if statistic.__class__.__name__ != "Where": pass',
        'def f(x):\n    kind, domain = persisted_name(x), x.domain\n    if kind == "Pair": pass',
        "def f(x):\n    return MAKERS.get(type(x).__name__)(x)",
        "def f(x):\n    name = type(x).__name__\n    return MAKERS[name](x)",
        'def f(x):\n    match type(x).__name__:\n        case "Sums": pass',
        'def f(x):\n    if (kind := type(x).__name__).startswith("Noisy") or kind == "Exact": pass',
    ],
)
def test_a_decision_by_name_is_found(mutant: str) -> None:
    assert decides_by_name(ast.parse(mutant)) != []


@pytest.mark.parametrize(
    "harmless",
    [
        'def f(x):\n    raise TypeError(f"got {type(x).__name__}")',
        'def f(x):\n    name = type(x).__name__\n    return {"type": name, "of": x.names[0]}',
        "value = getattr(x, field.name)",
        "if type(statistic) is Count: pass",
    ],
)
def test_what_is_only_printed_is_not(harmless: str) -> None:
    assert decides_by_name(ast.parse(harmless)) == [] and probes(ast.parse(harmless)) == []


# -- core/types.py -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def classes() -> list[type]:
    """Every class of the package."""
    out: dict[type, None] = {}
    for module in pkgutil.walk_packages(mu.__path__, "murmure."):
        if not module.name.endswith("__main__"):
            for thing in vars(importlib.import_module(module.name)).values():
                if isinstance(thing, type) and thing.__module__.startswith("murmure."):
                    out[thing] = None
    return list(out)


def declared(cls: type) -> list[str]:
    """The attributes of a capability whose default means no: all but those that it answers itself."""
    inherited = {name for base in cls.__mro__[1:] for name in vars(base)}
    return [name for name in vars(cls) if not name.startswith("_") and name not in inherited]


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda cls: cls.__name__)
def test_somebody_can_do_it(capability: type, classes: list[type]) -> None:
    """Each class of core/types.py is inherited, each of its defaults replaced by somebody, and each says what it is."""
    below = [cls for cls in classes if issubclass(cls, capability) and cls is not capability]
    lines = inspect.getsource(capability).splitlines()

    assert [cls for cls in below if cls.__module__ != types.__name__] and inspect.getdoc(capability)
    for name in declared(capability):
        assert [cls for cls in below if name in vars(cls)], f"nobody sets {name}"
        (line,) = (text for text in lines if text.startswith(f"    {name}:") or text.strip().startswith(f"def {name}("))
        assert "  # " in line or inspect.getdoc(getattr(capability, name)), f"{name} does not say what it is"


def test_all_kinds_of_things_inherit_one(classes: list[type]) -> None:
    """Every name of the catalogue is of the type that its table says."""
    kinds = {
        types.Mechanism: mu.catalogue.MECHANISMS | mu.catalogue.RECORDS,
        types.Noise | types.Chooser: mu.catalogue.NOISES,
        types.Sharing: mu.catalogue.SHARINGS,
        types.Statistic: mu.catalogue.QUESTIONS,
        types.Model: mu.catalogue.MODELS,
    }
    for kind, names in kinds.items():
        assert [name for name in names if not issubclass(mu.catalogue.load(name), kind)] == []


def test_no_field_has_a_capability_for_its_default(classes: list[type]) -> None:
    """A dataclass looks for the default of a field in its bases too, and would find a property there."""
    wrong = [
        f"{cls.__name__}.{field.name}"
        for cls in classes
        if is_dataclass(cls)
        for field in fields(cls)
        if isinstance(field.default, property | FunctionType) and any(field.name in vars(c) for c in CAPABILITIES)
    ]

    assert wrong == []


# -- plug-ins of others ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InheritsNothing:
    """It has every attribute that a histogram, a mechanism and noise have."""

    of: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "of"), name)


DOMAIN = mu.Categories(["no", "yes"])


@pytest.mark.parametrize(
    ("parts", "base"),
    [
        ({"statistic": InheritsNothing(mu.Histogram(DOMAIN))}, "Statistic"),
        ({"statistic": mu.Histogram(DOMAIN), "person": InheritsNothing(mu.GRR(DOMAIN, epsilon=1.0))}, "Mechanism"),
        ({"statistic": mu.Histogram(DOMAIN), "curator": InheritsNothing(mu.DiscreteLaplace(epsilon=1.0))}, "Noise"),
    ],
)
def test_a_plug_in_that_inherits_nothing_is_told_what_to_inherit(parts: dict[str, Any], base: str) -> None:
    with pytest.raises(mu.MurmureError, match=rf"inherits murmure\.core\.types\.{base}"):
        mu.Plan(**parts)


def test_a_mechanism_that_inherits_nothing_is_told_what_to_inherit() -> None:
    with pytest.raises(mu.MurmureError, match=r"inherits murmure\.core\.types\.Certifiable"):
        mu.certify(InheritsNothing(mu.GRR(DOMAIN, epsilon=1.0)))


def test_a_plug_in_says_what_it_can_do_by_its_bases() -> None:
    """Noise protects what is Protectable, and a choice is asked of what is Choosable."""
    from murmure.statistics.base.statistic import CuratorStatistic

    @dataclass(frozen=True)
    class OnlyExact(CuratorStatistic):
        domain: Any
        width = largest = 1

        def interpret_exact(self, total: Any, n: int) -> Any:
            return total

    assert mu.Plan(OnlyExact(DOMAIN)).describe() == "OnlyExact in the clear"
    with pytest.raises(mu.MurmureError, match="DiscreteLaplace cannot protect OnlyExact"):
        mu.Plan(OnlyExact(DOMAIN), curator=mu.DiscreteLaplace(epsilon=1.0))
    with pytest.raises(mu.MurmureError, match=r"curator=PermuteAndFlip\(epsilon=1.0\)"):
        mu.Plan(mu.Mode(DOMAIN), curator=mu.DiscreteLaplace(epsilon=1.0))
