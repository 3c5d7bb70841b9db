"""Formulas of the site are MathML, French has its spaces, and a formula that cannot be converted stops the build."""

from __future__ import annotations

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

pytest.importorskip("latex2mathml", reason="the extra docs is not installed")

SCRIPT = Path(__file__).resolve().parents[2] / "script" / "typeset"
loader = SourceFileLoader("typeset", str(SCRIPT))
spec = importlib.util.spec_from_loader("typeset", loader)
assert spec is not None
script = importlib.util.module_from_spec(spec)
loader.exec_module(script)


def test_marked_formulas_become_mathml():
    inline = r'<span class="arithmatex">\(a &lt; e^\varepsilon\)</span>'
    block = r'<div class="arithmatex">\[\frac{1}{k}\]</div>'
    new, count = script.typeset(f"<p>At {inline}:</p>{block}")

    assert count == 2
    assert "<msup><mi>e</mi><mi>&#x003B5;</mi></msup>" in new and 'display="inline"' in new
    assert "<mfrac>" in new and 'display="block"' in new
    assert "\\" not in new and "arithmatex" in new


def test_bars_enclose_and_functions_keep_their_distance():
    assert 'form="prefix"' in script.mathml("|z|", "inline") and 'form="postfix"' in script.mathml("|z|", "inline")
    assert script.THIN in script.mathml(r"2 \ln a", "inline")
    assert script.THIN not in script.mathml(r"\log_2 (k)", "inline")


def test_a_formula_that_is_not_understood_is_refused():
    with pytest.raises(ValueError, match="nosuchcommand"):
        script.mathml(r"a + \nosuchcommand{b}", "inline")


def test_a_site_with_such_a_formula_fails(tmp_path, capsys):
    page = tmp_path / "page.html"
    page.write_text(r'<span class="arithmatex">\(\nosuchcommand\)</span>', encoding="utf-8")

    assert script.main(str(tmp_path)) == 1
    assert "page.html" in capsys.readouterr().err


def test_french_gets_no_break_spaces_outside_code():
    page = "<p>a : b</p><article class=x><p>Quoi ? « Oui » : 2 000, 95 % <code>a : b</code></p></article>"
    expected = (
        '<p>a : b</p><article lang="fr" class=x><p>Quoi\u202f? «\u00a0Oui\u00a0»\u00a0: 2\u202f000, 95\u00a0% '
        "<code>a : b</code></p></article>"
    )

    assert script.french(page) == expected


def test_the_search_index_has_letters_for_formulas_and_code_as_it_is():
    text = r"<p>at \(a < e^\varepsilon\):</p><pre><code>sed 's/\(x\)/y/'</code></pre>"
    expected = "<p>at a&lt;e\u03b5:</p>" + text[text.index("<pre>") :]

    assert script.searchable(text) == expected
