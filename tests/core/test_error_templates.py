"""Every error sentence is a template with fields, so that it can be said in another language."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pkgutil

import pytest
from tests.core.error_sentences import Checker, package

import murmure
from murmure.cli.commands import UsageError
from murmure.core.errors import (
    InvalidParameter,
    MissingColumn,
    MissingExtra,
    MurmureError,
    OutsideDomain,
    Phrase,
    Plural,
    suggestion,
)
from murmure.econometrics.errors import Collinear

FRENCH = {
    "{message}\n  Hint: {hint}": "{message}\n  Conseil : {hint}",
    "{owner}: row {row} {rest}": "{owner} : la ligne {row} {rest}",
    "column {name!r}": "colonne {name!r}",
    "holds {value}.": "contient {value}.",
    "drop row {row}": "supprimez la ligne {row}",
}
ERROR_MODULES = """
class MurmureError(Exception): ...
class InvalidParameter(MurmureError): ...
"""


def test_every_sentence_is_a_template() -> None:
    """A literal template, a field for each placeholder and no other, and words inside fields as phrases."""
    checker, problems = package()

    assert problems == []
    assert len(checker.templates) > 1_500  # it has not lost sight of them


@pytest.mark.parametrize(
    "line",
    [
        'raise InvalidParameter(f"got {x}.")',
        'raise InvalidParameter("got " + x)',
        'raise InvalidParameter("got %s." % x)',
        'raise InvalidParameter("got {}.".format(x))',
        'raise InvalidParameter("got {x}.", hint=f"not {x}", x=x)',
        'raise InvalidParameter("got {x}.", hint="not " + x, x=x)',
        'raise InvalidParameter("got {x}.", hint="one" if x else f"not {x}", x=x)',
        'raise InvalidParameter("got {x}.")',
        'raise InvalidParameter("got {x}.", x=x, y=1)',
        'raise InvalidParameter("got {x.", x=x)',
        'raise InvalidParameter("got {x}: {why}.", x=x, why=f"it is {x}")',
        'raise InvalidParameter("got {x}: {why}.", x=x, why="too large" if x else "")',
        'raise InvalidParameter("{x}", x="it is {}".format(x))',
        'raise InvalidParameter(Phrase(f"got {x}."))',
        'message = f"got {x}."; raise InvalidParameter(message)',
        'message = "got"; message += str(x); raise InvalidParameter(message)',
        'why = f"it is {x}"; raise InvalidParameter("got {x}: {why}.", x=x, why=why)',
        'kind = InvalidParameter if x else MurmureError; raise kind(f"got {x}.")',
        'kind = look_up(x); raise kind(f"got {x}.")',
        'raise helper(f"got {x}.")',
        'raise helper("got" + x)',
        "raise helper(*TEXT)",
        "raise InvalidParameter(built(x))",
        'raise InvalidParameter("{why}", why=built(x))',
        "raise InvalidParameter(TEXT[x])",
        'raise InvalidParameter("{x}", x=x, hint=BAD_HINT)',
        'MurmureError.__init__(x, f"got {x}.")',
        'raise UsageError(f"got {x}.")',
        'raise UsageError("got {x}.", f"not {x}", x=x)',
    ],
)
def test_mutants_are_found(line: str) -> None:
    """Each way to build a sentence that a translator would never see."""
    assert Checker({"a.py": _module(line)}).problems() != []


@pytest.mark.parametrize(
    "line",
    [
        'raise InvalidParameter("got {{}}.")',
        'raise InvalidParameter("got {x!r:>5}.", hint="not {x}", x=x)',
        'raise InvalidParameter("got {x}.", hint="one" if x else None, x=x)',
        'raise InvalidParameter("got {x}.", x=Phrase("row {row}", row=x))',
        'why = Phrase("it is {x}", x=x); raise InvalidParameter("got {why}.", why=why)',
        'raise helper("got {{}}.")',
        'raise helper(Phrase("got {x}.", x=x))',
        'raise InvalidParameter("run {command}", command=f"murmure ledger budget {x}")',
        'raise InvalidParameter("{file}", file=f"{x}.csv")',
        "raise InvalidParameter(x.message, hint=x.hint)",
        'raise ValueError(f"got {x}.")',
    ],
)
def test_templates_pass(line: str) -> None:
    assert Checker({"a.py": _module(line)}).problems() == []


def _module(line: str) -> str:
    return f"""{ERROR_MODULES}
class UsageError(Exception): ...
BAD_HINT = "one {{brace"
TEXT = {{"a": "b"}}
def built(x) -> str: return f"it is {{x}}"
def helper(message: str): return InvalidParameter(message)
def f(x):
    {line}
"""


def test_an_error_keeps_its_template_and_fields() -> None:
    error = InvalidParameter("{owner}.k must be {low} or more, got {got!r}.", hint="k={low}", owner="A", low=2, got="x")

    assert str(error) == "A.k must be 2 or more, got 'x'.\n  Hint: k=2"
    assert error.args == (str(error),)
    assert repr(error) == f"InvalidParameter({str(error)!r})"
    assert (error.message, error.hint) == ("A.k must be 2 or more, got 'x'.", "k=2")
    assert (error.template, error.hint_template) == ("{owner}.k must be {low} or more, got {got!r}.", "k={low}")
    assert error.fields == {"owner": "A", "low": 2, "got": "x"}


def test_an_error_without_a_hint_has_none() -> None:
    error = InvalidParameter("no.")

    assert (str(error), error.hint, error.hint_template, error.fields) == ("no.", None, None, {})


def test_a_literal_brace_is_always_doubled() -> None:
    assert str(InvalidParameter("a {{b}}.", hint="{{}}")) == "a {b}.\n  Hint: {}"
    assert str(InvalidParameter("a {{b}} {c}.", c=1)) == "a {b} 1."


def test_values_are_never_templates() -> None:
    """What a user wrote is shown as written, also inside a phrase and after a second error took it over."""
    inner = InvalidParameter("got {got}.", hint="not {got}", got="{0} {owner} {")
    outer = InvalidParameter("{file}: {message}", hint=inner.hint, file="{f}", message=inner.message)

    assert str(outer) == "{f}: got {0} {owner} {.\n  Hint: not {0} {owner} {"


def test_another_language_reaches_every_phrase() -> None:
    error = OutsideDomain.at(
        Phrase("column {name!r}", name="age"), 3, Phrase("holds {value}.", value="'x'"), Phrase("drop row {row}", row=3)
    )

    assert str(error) == "column 'age': row 3 holds 'x'.\n  Hint: drop row 3"
    assert (
        error.render(FRENCH.__getitem__) == "colonne 'age' : la ligne 3 contient 'x'.\n  Conseil : supprimez la ligne 3"
    )
    assert error.later(10).render(FRENCH.__getitem__).startswith("colonne 'age' : la ligne 13 contient")
    assert error.render(str) == str(error)


def test_an_error_becomes_part_of_another_sentence() -> None:
    error = Collinear("column {name!r} is constant.", hint="drop it", columns=["a"], name="a")
    at_party = error.within("party {number}: {message}", number=2)

    assert str(at_party) == "party 2: column 'a' is constant.\n  Hint: drop it"
    assert (type(at_party), at_party.columns, str(error)) == (
        Collinear,
        ("a",),
        "column 'a' is constant.\n  Hint: drop it",
    )
    assert at_party.render(lambda t: t.replace("party", "partie")).startswith("partie 2: column")


def test_an_error_as_a_value_is_its_text() -> None:
    inner = InvalidParameter("inner {x}.", x=1)

    outer = InvalidParameter("outer: {error}", error=inner)
    assert outer.render(lambda template: template.replace("ner", "ner (fr)")) == "outer: inner (fr) 1."


def test_what_was_shown_does_not_change_and_can_be_pickled() -> None:
    """An error keeps what its values looked like: they may change, be large, or be impossible to pickle."""
    names = ["a"]
    error = InvalidParameter("{names}, {function!r:.9}.", names=names, function=lambda: None)
    names.append("b")

    assert str(error).startswith("['a'], <function")
    assert pickle.loads(pickle.dumps(error)).render(str) == str(error)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_of_every_class_cross_processes(again) -> None:
    for kind in _error_classes():
        if kind.__init__ not in (MurmureError.__init__, Collinear.__init__):
            continue
        error = kind("{who}: {{}} {what}", hint="{who}", who="{x}", what=Phrase("row {number}", number=1))
        error.add_note("a note")
        other = again(error)

        assert type(other) is kind
        assert str(other) == str(error) == "{x}: {} row 1\n  Hint: {x}"
        assert other.__dict__ == error.__dict__
        assert other.render(lambda t: t.replace("row", "ligne")) == "{x}: {} ligne 1\n  Hint: {x}"


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_with_its_own_arguments_crosses_processes(again) -> None:
    error = MissingExtra(Phrase("plotting"), "matplotlib", "plots")

    assert str(again(error)) == str(error)
    assert again(error).render(lambda t: t.replace("plotting", "tracer")).startswith("tracer needs matplotlib")


def test_a_missing_column_prints_no_repr() -> None:
    assert str(MissingColumn("no column {name!r}.", name="a")) == "no column 'a'."


def test_usage_errors_are_templates_too() -> None:
    error = UsageError("--{name} must be {low}.", "--{name} 3", name="k", low=2)

    assert (error.message, error.hint) == ("--k must be 2.", "--k 3")
    assert error.message.render(lambda t: t.replace("must be", "doit être")) == "--k doit être 2."


def test_phrases_are_text() -> None:
    phrase = Phrase("row {row}", row=1)

    assert phrase == "row 1"
    assert {phrase: 1}["row 1"] == 1
    assert f"{phrase:>7}" == "  row 1"
    assert Phrase(phrase) is phrase
    assert copy.deepcopy(phrase).fields == {"row": 1}
    rows = Plural("{n} row", "{n} rows", n=2)

    assert (rows, rows.template) == ("2 rows", "{n} rows")
    assert suggestion("agee", ["age"]) == "did you mean 'age'?"


def _error_classes() -> list[type[MurmureError]]:
    for module in pkgutil.walk_packages(murmure.__path__, "murmure."):
        if module.name.rsplit(".", 1)[-1] in ("errors", "refusals"):
            importlib.import_module(module.name)
    out, todo = [], [MurmureError]
    while todo:
        out.append(todo.pop())
        todo += [kind for kind in out[-1].__subclasses__() if kind.__module__.startswith("murmure")]
    assert len(out) > 40
    return [kind for kind in out if not inspect.isabstract(kind)]
