"""The example in the docstring of a public name runs and prints what it says; script/reference shows it on its page."""

from __future__ import annotations

import doctest
import inspect

import pytest

import murmure as mu
from murmure import learn
from murmure.catalogue import MECHANISMS, PUBLIC, RECORDS

# Examples of mechanisms are made by rule from EXAMPLES, in script/reference.
NAMES = [*sorted(set(PUBLIC) - set(MECHANISMS) - set(RECORDS)), *learn.LEARNERS, "search_cost"]


@pytest.mark.parametrize("name", NAMES)
def test_the_example_in_a_docstring_runs(name: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    thing = getattr(mu if name in PUBLIC else learn, name)
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(thing) or "", {}, name, None, 0)
    printed: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test, out=printed.append)

    assert test.examples, f"the docstring of {name} has no example"
    assert runner.failures == 0, "".join(printed)
