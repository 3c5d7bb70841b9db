"""One column of a report as it travels in JSON: how it is written, what is refused, and how arrays come back.

    a code                    a whole number
    packed bits, a hash       hexadecimal text: bit v is bit v % 8 of byte v // 8; 16-bit words with the low byte first

What is a report of a law is decided in one place, `cell_check`, which takes one JSON value and no NumPy: a collector
checks thousands a second, one by one. `parse_cells` takes values that passed, and decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import smallest_uint
from murmure.core.types import Array
from murmure.laws.bits import packed_words
from murmure.laws.hashed import Hashed
from murmure.laws.subset import Subset
from murmure.local.base.hidden_attribute import HiddenOracle
from murmure.local.base.report_columns import ReportColumnCodec

Check = Callable[[Any], None]

MADE_BY = Phrase(
    "reports are made by murmure.plan.sent_reports.answer and by clients/js, with the plan that reads them"
)


def not_a_report(wanted: str, got: Any) -> InvalidParameter:
    return InvalidParameter(
        "this is not a report of the plan: wanted {wanted}, got {got}.", hint=MADE_BY, wanted=wanted, got=shorten(got)
    )


def cell_width(part: Any) -> int | None:
    """Bytes of a cell that travels as hexadecimal text; None where it is a code."""
    return ReportColumnCodec("", part).width


def write_cells(part: Any, data: Array) -> list[Any]:
    """Reports of one column as JSON values."""
    width = cell_width(part)
    if width is None:
        return np.asarray(data).tolist()
    little = np.ascontiguousarray(data).astype(data.dtype.newbyteorder("<"), copy=False)
    return [row.tobytes()[:width].hex() for row in little]


def cell_check(part: Any) -> Check:
    """Raises where a JSON value is not a report that the law of this column can draw."""
    channel, width = _channel(part), cell_width(part)
    if width is None:
        return _code_check(len(channel.outcomes()))
    if isinstance(channel, Hashed):
        return _hash_check(channel, width)
    if isinstance(channel, Subset):  # more bits would count for more people
        return _bits_check(channel.inputs, width, channel.size)
    return _bits_check(channel.inputs, width, None)


def parse_cells(part: Any, cells: Sequence[Any]) -> Array:
    """The reports of values that `cell_check` let pass."""
    channel, width = _channel(part), cell_width(part)
    if width is None:
        dtype = smallest_uint(len(channel.outcomes()) - 1)
        if dtype == np.uint8:
            return np.frombuffer(bytearray(cells), np.uint8)  # five times as fast as np.array
        return np.array(cells, dtype)
    raw = np.frombuffer(bytes.fromhex("".join(cells)), np.uint8).reshape(len(cells), width)
    if isinstance(channel, Hashed):
        return np.ascontiguousarray(raw).view("<u2").astype(np.uint16)
    padded = np.zeros((len(raw), 8 * packed_words(channel.inputs)), np.uint8)
    padded[:, :width] = raw
    return padded.view("<u8").astype(np.uint64)


def _channel(part: Any) -> Any:
    return (part.real if isinstance(part, HiddenOracle) else part).channel


def _code_check(count: int) -> Check:
    def check(cell: Any) -> None:
        if type(cell) is not int or not 0 <= cell < count:  # True is not a code
            raise not_a_report(Phrase("a whole number from 0 to {last}", last=count - 1), cell)

    return check


def _hex_match(width: int) -> Callable[[str], object]:
    return re.compile(f"[0-9a-f]{{{2 * width}}}").fullmatch


def _no_text(width: int, cell: Any) -> InvalidParameter:
    return not_a_report(Phrase("{digits} hexadecimal digits", digits=2 * width), cell)


def _hash_check(channel: Hashed, width: int) -> Check:
    matches, g, last = _hex_match(width), channel.g, 8 * (width - 2)
    above = (1 << 16) - (1 << channel.seed_bits)  # bits that no seed has
    unused = sum(above << 16 * i for i in range(channel.value_bits + 1))

    def check(cell: Any) -> None:
        if not isinstance(cell, str) or not matches(cell):
            raise _no_text(width, cell)
        value = int.from_bytes(bytes.fromhex(cell), "little")
        if value & unused or value >> last >= g:
            raise not_a_report(Phrase("a hash to {bins} bins", bins=g), cell)

    return check


def _bits_check(k: int, width: int, size: int | None) -> Check:
    matches = _hex_match(width)

    def check(cell: Any) -> None:
        if not isinstance(cell, str) or not matches(cell):
            raise _no_text(width, cell)
        value = int.from_bytes(bytes.fromhex(cell), "little")
        if value >> k or (size is not None and value.bit_count() != size):
            wanted = Phrase("bits of {k} values", k=k)
            raise not_a_report(wanted if size is None else Phrase("{size} of {k} bits", size=size, k=k), cell)

    return check
