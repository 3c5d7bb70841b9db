"""Compiled sums of regressions are those of `values`, to the last bit: every family, every question, wild rows too."""

from __future__ import annotations

import hashlib
import inspect
import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from murmure.econometrics.algebra import elementary
from murmure.econometrics.rows import family_points, glm_sums
from murmure.econometrics.rows.family_rows import BETA, EXPONENTIAL, WEIBULL
from murmure.econometrics.rows.glm_rows import GAMMA, INVERSE, LOGIT, NB2, POISSON, PROBIT, FamilyRows
from murmure.econometrics.rows.glm_sums import GlmSums
from murmure.statistics.expressions.fixed_point import ROWS, sums_of, whole_numbers, whole_of

ROWS_OF = {r.family.name: r for r in (LOGIT, PROBIT, POISSON, GAMMA, INVERSE, NB2, EXPONENTIAL, WEIBULL, BETA)}
CASES = [(name, theta) for name, r in ROWS_OF.items() for theta in ((0.4, -5.0) if r.family.extra else (0.0,))]
MODES = ("start", "step", "score", "squares")
SCALES = ("1", "0", "-1", "3")  # exponents of two: of the outcome, and of three columns


@pytest.fixture(scope="module")
def kernels() -> ModuleType:
    pytest.importorskip("numba", reason="compiled kernels need it")
    from murmure.econometrics.rows import glm_kernels

    return glm_kernels


def rows_for(name: str, n: int, far: float = 0.7, seed: int = 5) -> Any:
    """Outcome (doubled: its scale halves it), offset, a constant, a column within a half, another within eight."""
    rng = np.random.default_rng(seed)
    if name in ("logit", "probit"):
        y = rng.integers(0, 2, n)
    elif name in ("poisson", "nb2"):
        y = rng.poisson(2.0, n) * rng.integers(1, 4, n)
    else:
        y = rng.uniform(0.01, 0.99, n)
    x = [2.0 * y, rng.normal(0, far, n), np.ones(n), rng.uniform(-0.5, 0.5, n), rng.uniform(-8, 8, n)]
    return np.array(x)


def at_of(rows: FamilyRows, theta: float, size: float = 1.0) -> tuple[float, ...]:
    b = (
        (3.0 * size, 0.2 * size, -0.3 * size)
        if rows.family.name == "inverse"
        else (0.3 * size, -0.8 * size, 0.5 * size)
    )
    return (*b, theta) if rows.family.extra else b


def asked(mode: str, offset: bool) -> tuple[str, ...]:
    return (mode, "offset" * offset, *SCALES)


def by_values(rows: FamilyRows, x: Any, at: Any, settings: Any) -> Any:
    with np.errstate(all="ignore"):
        parts = [rows.values(tuple(x[:, a : a + ROWS]), at, settings) for a in range(0, x.shape[1], ROWS)]
    return sum(whole_of(sums_of(part)) for part in parts)


def both(kernels: ModuleType, rows: FamilyRows, x: Any, at: Any, mode: str, offset: bool = True) -> tuple[Any, Any]:
    at = () if mode == "start" else at
    x = x if offset else np.delete(x, 1, axis=0)
    settings = asked(mode, offset)
    return GlmSums(rows, kernels, at, settings).of(x).tolist(), by_values(rows, x, at, settings).tolist()


@pytest.mark.parametrize(("name", "theta"), CASES, ids=str)
@pytest.mark.parametrize("offset", [True, False], ids=["offset", "no offset"])
def test_kernels_add_the_same_whole_numbers(
    kernels: ModuleType, name: str, theta: float, offset: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every mode, with a last block that is not full. No block of these rows is left to NumPy."""
    monkeypatch.setattr(glm_sums, "sums_of", lambda values: pytest.fail("the kernels refused a block"))
    rows = ROWS_OF[name]
    x = rows_for(name, 3 * kernels.BLOCK + 77)
    for mode in MODES:
        compiled, defined = both(kernels, rows, x, at_of(rows, theta), mode, offset)

        assert compiled == defined, mode


@pytest.mark.parametrize(("name", "theta"), CASES, ids=str)
def test_wide_and_wild_values_too(kernels: ModuleType, name: str, theta: float) -> None:
    """Parameters that lead to values of any size, to the cap, to infinity and to what is not a number."""
    rows = ROWS_OF[name]
    x = rows_for(name, 2 * kernels.BLOCK, far=3.0)
    for size in (20.0, 300.0, 1e200):
        for mode in ("step", "score", "squares"):
            compiled, defined = both(kernels, rows, x, at_of(rows, theta, size), mode)

            assert compiled == defined, (size, mode)


def test_values_of_every_size_are_rounded_as_the_grid_says(kernels: ModuleType) -> None:
    """From subnormal numbers to 2**61, of both signs, in a block of narrow values and in one of wide ones."""
    rng = np.random.default_rng(9)
    for top in (10, 61):
        sizes = 2.0 ** rng.uniform(-80, top, kernels.BLOCK)
        v = np.where(rng.random(kernels.BLOCK) < 0.5, sizes, -sizes)
        v[:9] = [5e-324, -5e-324, 2.0**-63, 3 * 2.0**-63, 2.0**top, -(2.0**top), 0.0, -0.0, 1 - 2.0**-53]
        block = np.zeros((kernels.FIGURES + 1, kernels.BLOCK))
        block[-1], parts, room = v, np.zeros((4, 1), np.int64), np.empty(2 * kernels.PIECE)
        none, tail, x = (-1,) * 6, np.array([kernels.FIGURES]), np.zeros((1, 0))
        assert kernels.add(np.zeros((1, kernels.BLOCK)), block, kernels.BLOCK, *none, tail, parts, room, x, 0)

        assert whole_of(parts)[0] == whole_numbers(v[:, None]).sum()
        block[-1, 5] = math.nextafter(2.0**61, math.inf)
        assert not kernels.add(np.zeros((1, kernels.BLOCK)), block, kernels.BLOCK, *none, tail, parts, room, x, 0)
        block[-1, 5] = math.nan
        assert not kernels.add(np.zeros((1, kernels.BLOCK)), block, kernels.BLOCK, *none, tail, parts, room, x, 0)


@pytest.mark.parametrize("name", ["logit", "nb2", "beta"])
def test_sums_depend_neither_on_the_order_of_rows_nor_on_batches(kernels: ModuleType, name: str) -> None:
    rows, settings = ROWS_OF[name], asked("step", True)
    at, x = at_of(rows, 0.4), rows_for(name, 5 * kernels.BLOCK)
    mixed = x[:, np.random.default_rng(1).permutation(x.shape[1])]
    whole = GlmSums(rows, kernels, at, settings).of(x)
    cut = sum(GlmSums(rows, kernels, at, settings).of(part) for part in np.array_split(mixed, 7, axis=1))

    assert whole.tolist() == cut.tolist()


def test_kernels_compute_the_floats_of_numpy(kernels: ModuleType) -> None:
    """Every elementary function, at numbers of all sizes and at the ends of floats."""
    from numba import njit

    rng = np.random.default_rng(2)
    edges = [0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1.0, -1.0, 2.0**53, 1e308, -1e308, math.inf, -math.inf, math.nan]
    sizes = np.exp(rng.uniform(-700, 700, 4000)) * rng.choice([-1, 1], 4000)
    x = np.concatenate([edges, sizes, rng.normal(0, 30, 4000), rng.uniform(0, 30, 4000)])
    names = [name for name, f in vars(elementary).items() if inspect.isfunction(f) and name[0] != "_"]
    names = [name for name in names if name not in ("choose", "bits_of", "float_of", "two_product")]
    assert {"exp", "log", "log1p", "log_gamma", "polygammas", "mills_ratio", "normal_density"} <= set(names)
    for name in names:
        function = getattr(elementary, name)
        compiled = njit(lambda x, function=function: [function(v) for v in x], error_model="numpy")
        with np.errstate(all="ignore"):
            found, defined = np.array(compiled(x)), np.array(function(x))

        np.testing.assert_array_equal(found, defined.T if defined.ndim == 2 else defined, err_msg=name)


# SHA-256 of what each family adds, at fixed rows: written on a processor with AVX-512, the same without it.
FROZEN = {
    "logit 0.0": "aca243b508591676",
    "probit 0.0": "c2ac5304fd38cb81",
    "poisson 0.0": "67ad704055a65bba",
    "gamma 0.0": "aae50d7c16acad86",
    "inverse 0.0": "aea33bd924db23fc",
    "nb2 0.4": "dd4bdcb4d20e5d7c",
    "nb2 -5.0": "1ccfe956a52b7900",
    "exponential 0.0": "bc0f7953e6eeda24",
    "weibull 0.4": "90138c7679598cea",
    "weibull -5.0": "9232a90dc6b0f57f",
    "beta 0.4": "11d915cf71d77fd5",
    "beta -5.0": "5c8ed40f30a9d3a4",
}


@pytest.mark.parametrize("way", ["NumPy", "compiled"])
def test_every_processor_adds_these_bits(way: str, request: pytest.FixtureRequest) -> None:
    found = {}
    for name, theta in CASES:
        rows, n = ROWS_OF[name], 600
        step = np.arange(n)
        y = step % 2 if name in ("logit", "probit") else step % 7 if name in ("poisson", "nb2") else (step + 1) / 640
        x = np.array([2.0 * y, (step % 13 - 6) / 8, np.ones(n), (step % 11 - 5) / 16, (step % 17 - 8.0)])
        digest = hashlib.sha256()
        for mode in MODES:
            at, settings = () if mode == "start" else at_of(rows, theta), asked(mode, True)
            if way == "NumPy":
                sums = by_values(rows, x, at, settings)
            else:
                sums = GlmSums(rows, request.getfixturevalue("kernels"), at, settings).of(x)
            digest.update(repr([int(v) for v in sums]).encode())
        found[f"{name} {theta}"] = digest.hexdigest()[:16]

    assert found == FROZEN


def test_few_rows_and_fast_turned_off_take_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    assert glm_sums.kernels_of_rows(glm_sums.SMALL - 1) is None
    assert glm_sums.kernels_of_rows(1000, glm_sums.MANY // 1000) is None
    monkeypatch.setattr(glm_sums, "available", lambda: False)
    assert glm_sums.kernels_of_rows(10**9) is None
    x = rows_for("logit", 10)
    assert LOGIT.sums(x, at_of(LOGIT, 0.0), asked("step", True)) is None


def test_few_rows_of_many_columns_take_kernels_too(kernels: ModuleType) -> None:
    """The work decides, and not the rows: 130 columns have 8,515 products a row."""
    rng, n, p = np.random.default_rng(3), 1000, 130
    x = np.concatenate([rng.integers(0, 2, (1, n)).astype(float), rng.uniform(-1, 1, (p, n))])
    at, settings = tuple(rng.normal(0, 0.1, p)), ("step", "", *["0"] * (p + 1))
    found = LOGIT.sums(x, at, settings)

    assert found is not None and found.tolist() == by_values(LOGIT, x, at, settings).tolist()
    assert LOGIT.sums(x[:3], at[:2], settings[:5]) is None


def test_every_family_has_its_functions_in_one_file() -> None:
    """What kernels_of compiles is what `values` calls: there is no second copy of a family's formulas."""
    for rows in ROWS_OF.values():
        point, constants = rows.family.points(0.4)
        assert inspect.getmodule(point) is family_points and all(type(v) is float for v in constants)
