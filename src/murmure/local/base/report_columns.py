"""Reports as cells of a sanitised table, and back: labels and numbers where a report is one, bits otherwise.

    codes of the domain (GRR, bounded numbers)      the label or the number itself
    numbers with a readout (Duchi, Piecewise ...)   the number whose expectation is the value
    anything else with one-word reports             the index
    packed bits and the like                        fixed-size binary

A column that a person does not show is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, OutsideDomain, Phrase, shorten
from murmure.core.types import Array
from murmure.laws.bits import packed_words
from murmure.laws.hashed import Hashed
from murmure.local.base.hidden_attribute import HiddenOracle
from murmure.local.base.randomisers import NumericOracle, NumericRandomiser


@dataclass(frozen=True)
class ReportColumnCodec:
    """Writes and reads the reports of one column. Needs pyarrow."""

    name: str
    part: Any  # the mechanism of this column

    @property
    def _real(self) -> Any:
        return self.part.real if isinstance(self.part, HiddenOracle) else self.part

    @cached_property
    def width(self) -> int | None:
        """Bytes of a binary cell; None where a report is one code."""
        channel = self._real.channel
        if channel.report_ndim == 0:
            return None
        if isinstance(channel, Hashed):  # a few 16-bit words
            return 2 * (channel.value_bits + 2)
        return -(-self._real.domain.size // 8)

    @cached_property
    def values(self) -> Any:
        """What every code stands for, as an Arrow array; None for binary cells."""
        import pyarrow as pa

        if self.width is not None:
            return None
        real, domain = self._real, self._real.domain
        count = real.outputs if isinstance(real, NumericRandomiser) else len(real.channel.outcomes())
        if isinstance(real, NumericOracle):
            low, step, _ = domain.scale()
            return pa.array(low + step * np.array(real.readout, float))
        if count != domain.size:  # an index that is not a value of the domain
            return pa.array(np.arange(count))
        if isinstance(domain, Categories):
            return pa.array(_labels(domain))
        numbers = domain.numbers()
        return pa.array(numbers.astype(np.int64) if isinstance(domain, Integers) else numbers)

    @property
    def type(self) -> Any:
        """The Arrow type of the column."""
        import pyarrow as pa

        if self.width is not None:
            return pa.binary(self.width)
        kind = self.values.type
        return pa.dictionary(pa.int32(), kind) if pa.types.is_string(kind) else kind

    def write(self, reports: Array, n: int, rows: Array | None) -> Any:
        """The column of n people, of whom `rows` show it."""
        import pyarrow as pa

        if self.width is not None:
            return self._binary(reports, n, rows)
        if pa.types.is_dictionary(self.type):
            indices = self._placed(reports.astype(np.int32), n, rows, pa.int32())
            return pa.DictionaryArray.from_arrays(indices, self.values, safe=False)  # codes were drawn, not read
        cells = self._table[reports]
        if rows is None:
            return pa.array(cells, self.type)
        if cells.dtype == bool:  # Arrow packs booleans into bits, so their bytes cannot be used as they are
            spread = np.zeros(n, bool)
            spread[rows] = cells
            return pa.array(spread, self.type, mask=~_shown_mask(n, rows))
        return self._placed(cells, n, rows, self.type)

    @cached_property
    def _table(self) -> Any:
        return self.values.to_numpy(zero_copy_only=False)

    def _binary(self, reports: Array, n: int, rows: Array | None) -> Any:
        assert self.width is not None
        reports = np.ascontiguousarray(reports)
        bytes_each = reports.shape[1] * reports.itemsize
        raw = reports.view(np.uint8).reshape(len(reports), bytes_each)[:, : self.width]
        return self._placed(raw, n, rows, self.type)

    @staticmethod
    def _placed(cells: Array, n: int, rows: Array | None, kind: Any) -> Any:
        """An Arrow array of n cells: these where they are shown, null elsewhere."""
        import pyarrow as pa

        if rows is None:
            return pa.Array.from_buffers(kind, n, [None, pa.py_buffer(np.ascontiguousarray(cells))], 0)
        spread = np.zeros((n, *cells.shape[1:]), cells.dtype)
        spread[rows] = cells
        valid = np.packbits(_shown_mask(n, rows), bitorder="little")
        return pa.Array.from_buffers(kind, n, [pa.py_buffer(valid), pa.py_buffer(spread)], n - len(rows))

    def read(self, column: Any) -> tuple[Array, Array | None]:
        """Reports, and who shows the column (None: everybody)."""
        shown = None
        if column.null_count:
            shown = np.flatnonzero(_valid_mask(column))
            column = column.drop_null()
        try:
            return (self._bits(column) if self.width is not None else self._codes(column)), shown
        except OutsideDomain as error:
            if shown is None or error.row is None:
                raise
            row = error.row[1]  # among those who show the column
            raise error.later(int(shown[row]) - row) from None

    def _bits(self, column: Any) -> Array:
        import pyarrow as pa

        assert self.width is not None
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):  # from CSV
            column = self._from_hex(column)
        elif pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):  # from another kind of frame
            try:
                column = column.cast(pa.binary()).cast(pa.binary(self.width))
            except pa.ArrowInvalid:
                raise self._not_a_report(Phrase("binary cells of another length")) from None
        if column.type != pa.binary(self.width):
            raise self._not_a_report(Phrase("cells of type {type}", type=column.type))
        raw: Array = np.frombuffer(column.buffers()[1], np.uint8)
        raw = raw[column.offset * self.width : (column.offset + len(column)) * self.width].reshape(-1, self.width)
        if isinstance(self._real.channel, Hashed):
            return np.ascontiguousarray(raw).view(np.uint16)
        # Cells have whole bytes; packed reports have whole words of 64 bits.
        padded = np.zeros((len(raw), 8 * packed_words(self._real.domain.size)), np.uint8)
        padded[:, : self.width] = raw
        return padded.view(np.uint64)

    def _from_hex(self, column: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        assert self.width is not None
        if len(column) and not pc.all(pc.equal(pc.binary_length(column), 2 * self.width)).as_py():
            raise self._not_a_report(Phrase("hexadecimal text of another length"))
        if len(column) and not pc.all(pc.match_substring_regex(column, "^[0-9a-f]*$")).as_py():
            raise self._not_a_report(Phrase("text that is not hexadecimal"))
        raw = bytes.fromhex("".join(column.to_pylist()))
        return pa.Array.from_buffers(pa.binary(self.width), len(column), [None, pa.py_buffer(raw)])

    def _codes(self, column: Any) -> Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_dictionary(column.type):
            table = pc.fill_null(pc.index_in(column.dictionary, self.values), -1).to_numpy(zero_copy_only=False)
            codes = table[column.indices.to_numpy(zero_copy_only=False)]
        else:
            if column.type != self.values.type:
                try:
                    column = column.cast(self.values.type)
                except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                    raise self._not_a_report(Phrase("cells of type {type}", type=column.type)) from None
            codes = self._codes_on_grid(column)
            if codes is None:
                codes = pc.fill_null(pc.index_in(column, self.values), -1).to_numpy(zero_copy_only=False)
        if len(codes) and codes.min() < 0:
            row = int(np.argmax(codes < 0))
            raise OutsideDomain.at(
                Phrase("column {name!r}", name=self.name),
                row,
                Phrase(
                    "holds {column}, which is not a report of {kind}.",
                    column=shorten(column[row].as_py()),
                    kind=type(self._real).__name__,
                ),
                Phrase("the file was changed after it was sanitised, or is read with another plan"),
            )
        return np.asarray(codes)

    def _codes_on_grid(self, column: Any) -> Array | None:
        """Codes of numbers on an even grid, by arithmetic instead of a look-up; None where some cell is not on it."""
        if self._grid is None:
            return None
        table, first, step = self._grid
        cells = column.to_numpy(zero_copy_only=False)
        if table.dtype == bool:
            return cells.view(np.uint8)
        with np.errstate(invalid="ignore"):
            codes = (cells - first) if table.dtype.kind == "i" else np.rint((cells - first) * step).astype(np.int64)
        if len(codes) and not (codes.min() >= 0 and codes.max() < len(table)):
            return None
        return codes if table.dtype.kind == "i" or (table[codes] == cells).all() else None

    @cached_property
    def _grid(self) -> tuple[Any, Any, float] | None:
        """The values, the first one, and how many values make a difference of 1; None where steps are not equal."""
        import pyarrow as pa

        kind = self.values.type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            return None
        table = self.values.to_numpy(zero_copy_only=False)
        if table.dtype == bool:
            return (table, 0, 1.0) if table.tolist() == [False, True] else None
        steps = np.diff(table)
        if table.dtype.kind == "i":
            return (table, table[0], 1.0) if (steps == 1).all() else None
        return (table, table[0], 1 / float(steps.mean())) if np.allclose(steps, steps.mean()) else None

    def _not_a_report(self, got: str) -> InvalidParameter:
        return InvalidParameter(
            "column {name!r} holds {got}; wanted reports of {kind}.",
            hint="the file was changed after it was sanitised, or is read with another plan",
            name=self.name,
            got=got,
            kind=type(self._real).__name__,
        )


def _labels(domain: Categories) -> list[Any]:
    """Labels of one type as they are, of several types as text, and as codes where two texts would be equal."""
    values = list(range(domain.size)) if isinstance(domain.values, int) else list(domain.values)
    if len({type(v) for v in values}) == 1:
        return values
    texts = domain.labels()
    return texts if len(set(texts)) == len(texts) else list(range(domain.size))


def _valid_mask(column: Any) -> Any:
    """Which cells are not missing, from Arrow's validity bits."""
    bits = column.buffers()[0]
    if bits is None:  # a column of nothing but missing cells
        return column.is_valid().to_numpy(zero_copy_only=False)
    unpacked = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
    return unpacked[column.offset : column.offset + len(column)].view(bool)


def _shown_mask(n: int, rows: Array) -> Any:
    mask = np.zeros(n, bool)
    mask[rows] = True
    return mask
