"""The page says on what, when, beside which load and with which byte code each part was measured."""

from __future__ import annotations

import os
import py_compile
from pathlib import Path
from typing import Any

import conditions

CPUINFO = """\
processor\t: 0
model name\t: AMD EPYC
cpu family\t: 25
model\t\t: 1
flags\t\t: fpu avx2 {more}vaes

processor\t: 1
model name\t: Another
"""


def about(**changed: Any) -> dict[str, Any]:
    given = {
        "date": "1 May 2026, 10:00 UTC",
        "processor": "AMD EPYC (family 25, model 1, AVX2)",
        "cores": 2,
        "python": "3.11.7",
        "ours": ["murmure 1", "numpy 2"],
        "peers": ["opendp 1"],
        "byte code": "written",
        "rounds": 3,
        "loads": [0.2, 1.5, 0.7],
    }
    return given | changed


def test_processors_of_one_name_are_told_apart() -> None:
    old, new = (conditions.processor(CPUINFO.format(more=more)) for more in ("", "avx512f "))

    assert old == "AMD EPYC (family 25, model 1, AVX2)"
    assert new == "AMD EPYC (family 25, model 1, AVX-512)"


def test_an_unknown_processor_has_some_name() -> None:
    assert conditions.processor("") and "family" not in conditions.processor("")


def test_a_section_says_when_on_what_and_beside_which_load() -> None:
    assert conditions.line(about()) == (
        "Measured on 1 May 2026, 10:00 UTC, 3 rounds, load 0.2 to 1.5, 2 cores of AMD EPYC (family 25, model 1, AVX2)."
    )
    assert "one round, load 2.0, one core of" in conditions.line(about(rounds=1, loads=[2.0], cores=1))


def test_parts_of_one_machine_need_no_warning() -> None:
    assert conditions.differing({"columns": about(), "wire": about(date="2 May 2026, 10:00 UTC", loads=[9.0])}) == []


def test_parts_of_two_machines_are_told_apart() -> None:
    abouts = {"columns": about(), "wire": about(processor="Xeon"), "cox": about()}
    (warning,) = conditions.differing(abouts)

    assert "differs: processor.**" in warning and "versions" not in warning
    assert conditions.shared(abouts, "processor") == [
        "AMD EPYC (family 25, model 1, AVX2) (columns, cox)",
        "Xeon (wire)",
    ]


def test_every_condition_that_moves_figures_is_compared() -> None:
    for field, other in {
        "processor": "Xeon",
        "cores": 1,
        "python": "3.12.1",
        "ours": ["murmure 2", "numpy 2"],
        "byte code": "not written",
    }.items():
        assert conditions.differing({"columns": about(), "wire": about(**{field: other})}), field


def test_byte_code_is_read_off_the_caches(tmp_path: Path) -> None:
    """Warm: each module has byte code of this Python, made from the source as it stands."""
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("x = 1\n")
    other.write_text("y = 2\n")
    sources = [one, other]

    assert conditions.byte_code(sources, False) == (
        "written; caches cold: 0 of 2 modules of Murmure compiled at the start"
    )
    py_compile.compile(str(one))
    assert "written; caches partly warm: 1 of 2 modules" in conditions.byte_code(sources, False)
    py_compile.compile(str(other))
    assert "caches warm: 2 of 2 modules" in conditions.byte_code(sources, False)
    assert conditions.byte_code(sources, True).startswith("not written (PYTHONDONTWRITEBYTECODE is set); caches warm")


def test_byte_code_of_an_older_source_or_python_does_not_count(tmp_path: Path) -> None:
    source = tmp_path / "one.py"
    source.write_text("x = 1\n")
    cache = Path(py_compile.compile(str(source)))  # type: ignore[arg-type]
    whole, stamp = cache.read_bytes(), source.stat().st_mtime

    assert conditions.is_cached(source)
    source.write_text("x = 10\n")  # another size
    os.utime(source, (stamp, stamp))
    assert not conditions.is_cached(source)
    source.write_text("x = 2\n")  # the same size, later
    os.utime(source, (stamp + 5, stamp + 5))
    assert not conditions.is_cached(source)
    os.utime(source, (stamp, stamp))
    assert conditions.is_cached(source)
    cache.write_bytes(b"\0\0\0\0" + whole[4:])  # of another Python
    assert not conditions.is_cached(source)
    cache.write_bytes(whole[:9])
    assert not conditions.is_cached(source)


def test_the_package_that_is_measured_is_the_one_that_is_looked_at() -> None:
    import murmure

    assert Path(murmure.__file__) in conditions.modules()
