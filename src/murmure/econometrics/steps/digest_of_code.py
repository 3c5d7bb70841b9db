"""A digest of a custom function: of its compiled code, and of the values that it uses.

File names and line numbers do not count. Numbers, texts, arrays and other functions that it uses (in its closure, its
defaults, or the globals that it names) do; of any other object only the type does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import CodeType
from typing import Any

import numpy as np

DEPTH = 8


def digest_of_code(*functions: Any) -> str:
    """`own ` and 64 hexadecimal digits."""
    digest = hashlib.sha256(b"murmure own function\n")
    for function in functions:
        digest.update(repr(_plain(function, DEPTH)).encode())
    return f"own {digest.hexdigest()}"


def _plain(value: Any, depth: int) -> Any:
    """The value as texts and lists, without memory addresses."""
    name = type(value).__name__
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return f"{name} {value!r}"
    if depth < 1:
        return name
    if isinstance(value, np.ndarray | np.generic):
        whole = np.ascontiguousarray(value)
        return [name, str(whole.dtype), whole.shape, "" if whole.dtype.hasobject else whole.tobytes().hex()]
    if isinstance(value, tuple | list):
        return [name, *(_plain(item, depth - 1) for item in value)]
    if isinstance(value, set | frozenset):
        return [name, *sorted(repr(_plain(item, depth - 1)) for item in value)]
    if isinstance(value, Mapping):
        return [name, *([_plain(key, depth - 1), _plain(item, depth - 1)] for key, item in value.items())]
    if isinstance(value, CodeType):
        return [value.co_code.hex(), value.co_names, value.co_varnames, _plain(value.co_consts, depth - 1)]
    code = getattr(value, "__code__", None)
    return [name, _function(value, code, depth - 1)] if isinstance(code, CodeType) else name


def _function(function: Any, code: CodeType, depth: int) -> list[Any]:
    cells = [_plain(_content(cell), depth) for cell in getattr(function, "__closure__", None) or ()]
    around = getattr(function, "__globals__", {})
    globals_used = {name: _plain(around[name], depth) for name in _names(code) if name in around}
    defaults = (getattr(function, "__defaults__", None), getattr(function, "__kwdefaults__", None))
    return [_plain(code, depth), cells, sorted(globals_used.items()), _plain(defaults, depth)]


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the cell is still empty
        return None


def _names(code: CodeType) -> set[str]:
    """Names of globals that the code may look up, including those of inner functions."""
    inner = (_names(inner_code) for inner_code in code.co_consts if isinstance(inner_code, CodeType))
    return {*code.co_names}.union(*inner)
