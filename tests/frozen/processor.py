"""Which functions of NumPy must be switched off, so that logarithms and exponentials are the same on every processor.

With AVX-512 NumPy computes them by other polynomials, whose last bits differ, and sums of such functions with them
(docs/known-flaws.md). `script/test` sets NPY_DISABLE_CPU_FEATURES to what `python -m tests.frozen.processor` prints.
"""

from __future__ import annotations

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__


def wide_features() -> list[str]:
    """The features beyond AVX2 that NumPy has code for, and that are in use on this machine."""
    return [name for name in __cpu_dispatch__ if name.startswith(("X86_V4", "AVX512")) and __cpu_features__.get(name)]


if __name__ == "__main__":
    print(*wide_features())
