"""A column of labels as codes: each label by its meaning, and each distinct cell looked up once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.cells.meaning import BLANKS, CLOSE, MAX_15_DIGITS, meaning, numbers_in_text, rounded_all
from murmure.core.cells.parsed_columns import (
    Codes,
    DictionaryPiece,
    ObjectPiece,
    Piece,
    TextPiece,
    TypedPiece,
    domain_name,
    from_arrow,
    pieces,
)
from murmure.core.errors import OutsideDomain

GUESSED_TRUTH = {"yes", "no", "y", "n", "t", "f", "on", "off"}  # texts that DuckDB and others take for booleans
GUESSED_NUMBER = re.compile(  # texts that DuckDB, Arrow and Spark take for numbers, besides the usual ones
    r"[+-]?(?:0[xXbBoO][0-9a-fA-F_.]+(?:[pP][+-]?[0-9]+)?|[0-9][0-9_]*\.?[0-9_]*(?:[eE][+-]?[0-9]+)?)[dDfFlL]?"
)


class Labels:
    """The meanings of public labels, numbered. A missing cell has the code `size`, any other cell `size + 1`."""

    def __init__(self, meanings: Sequence[float | str]) -> None:
        self.size = len(meanings)
        self.table = {meant: code for code, meant in enumerate(meanings)}
        self.kind = np.min_scalar_type(self.size + 1)
        words = [meant for meant in meanings if isinstance(meant, str)]
        self.like_booleans = [word for word in words if word.strip(BLANKS).lower() in GUESSED_TRUTH]
        self.like_numbers = [word for word in words if GUESSED_NUMBER.fullmatch(word.strip(BLANKS))]
        known = sorted((meant, code) for meant, code in self.table.items() if not isinstance(meant, str))
        self.numbers = np.array([number for number, _ in known], np.float64)
        whole = all(number.is_integer() and abs(number) < MAX_15_DIGITS for number in self.numbers.tolist())
        self.integers = self.numbers.astype(np.int64) if whole else None
        self.number_codes = np.array([code for _, code in known], self.kind)

    def code(self, cell: Any) -> int:
        meant = meaning(cell)
        return self.size if meant is None else self.table.get(meant, self.size + 1)  # type: ignore[arg-type]

    def codes(self, domain: Any, values: Any) -> Codes:
        """The codes of a column, as `one_column` returns it."""
        parts = [self._codes_of(domain, piece) for piece in pieces(domain, values)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _codes_of(self, domain: Any, piece: Piece) -> Codes:
        match piece:
            case TypedPiece(array, missing, kind, guessed):
                if guessed:
                    self._refuse_guess(domain, kind)
                out = self._codes_of_numbers(array)
            case TextPiece(chunk):
                distinct = chunk.cast("large_binary").dictionary_encode()  # text may hold bytes that are not UTF-8
                indices = from_arrow(distinct.indices)
                inner, missing = (
                    np.append(self._codes_of_texts(distinct.dictionary), self.kind.type(0)),
                    indices.missing,
                )
                out = inner[indices.array]
            case ObjectPiece(items, missing):
                out = self._codes_of_objects(items)
            case DictionaryPiece(indices, missing, cells):
                inner = np.append(self.codes(domain, cells), self.kind.type(self.size))
                out = inner[np.where((indices < 0) | (indices >= len(inner) - 1), len(inner) - 1, indices)]
        if missing is not None:
            out[missing] = self.size
        return out

    def _refuse_guess(self, domain: Any, kind: str) -> None:
        """Some readers turn "yes" and "t" into booleans, "0x10" and "2D" into numbers, unless a row has another text.

        Where that may have happened the column is refused by its type. The holder of the data gets this error before
        anything is charged.
        """
        doubtful = self.like_booleans if kind == "booleans" else self.like_numbers
        if doubtful:
            raise OutsideDomain(
                "{domain}: got {got}, and the label {doubtful!r} is text that some readers turn into {got}; wanted "
                "{domain_2}.",
                hint="load the column as text, so that every cell stays as it is in the file",
                domain=domain_name(domain),
                got=kind,
                doubtful=doubtful[0],
                domain_2=domain.describe(),
            )

    def _codes_of_texts(self, texts: Any) -> Codes:
        """Of distinct texts, as bytes in Arrow."""
        import pyarrow as pa
        import pyarrow.compute as pc

        known = [meant for meant in self.table if isinstance(meant, str)]
        values = pa.array([meant.encode("utf-8", "surrogatepass") for meant in known], pa.large_binary())
        codes = np.array([*(self.table[meant] for meant in known), self.size + 1], self.kind)
        out = codes[pc.index_in(texts, value_set=values).fill_null(len(known)).to_numpy(zero_copy_only=False)]
        found, missing = numbers_in_text(texts)
        is_number = found.is_valid().to_numpy(zero_copy_only=False)
        if is_number.any():
            out[is_number] = self._codes_of_numbers(found.drop_null().to_numpy(zero_copy_only=False))
        out[missing.to_numpy(zero_copy_only=False)] = self.size
        return out

    def _codes_of_objects(self, items: Sequence[Any]) -> Codes:
        kinds = set(map(type, items))
        if len(kinds) == 1 and kinds <= PLAIN:
            codes = {cell: self.code(cell) for cell in set(items)}
            return np.fromiter(map(codes.__getitem__, items), self.kind, len(items))
        known: dict[tuple[type, Any], int] = {}  # by type too: 1 and True are one key, and need not be one label

        def code(cell: Any) -> int:
            if type(cell) not in PLAIN:
                return self.code(cell)
            key = type(cell), cell
            if key not in known:
                known[key] = self.code(cell)
            return known[key]

        return np.fromiter(map(code, items), self.kind, len(items))

    def _codes_of_numbers(self, array: NDArray[Any]) -> Codes:
        outside = self.kind.type(self.size + 1)
        if not len(self.numbers):
            return np.full(len(array), outside, self.kind)
        if self.integers is not None and array.dtype.kind in "iu" and array.dtype != np.uint64:  # without floats
            at = np.minimum(np.searchsorted(self.integers, array), len(self.integers) - 1)
            found = self.integers[at] == array
            return self.number_codes[at] if found.all() else np.where(found, self.number_codes[at], outside)
        x = array.astype(np.float64, copy=False)
        at = np.minimum(np.searchsorted(self.numbers, x), len(self.numbers) - 1)
        found = self.numbers[at] == x
        if found.all():
            return self.number_codes[at]
        out = np.where(found, self.number_codes[at], outside)
        # Rounding to 15 digits is slow, so only numbers next to a label are rounded: no other can become equal to one.
        rest = np.flatnonzero(~found)
        with np.errstate(invalid="ignore"):
            near = [
                np.abs(self.numbers[np.maximum(at[rest] - i, 0)] - x[rest]) <= CLOSE * np.abs(x[rest]) for i in (0, 1)
            ]
        rest = rest[near[0] | near[1]]
        if len(rest):  # next to a label: off by one unit in the last place, perhaps
            y = rounded_all(x[rest])
            at = np.minimum(np.searchsorted(self.numbers, y), len(self.numbers) - 1)
            out[rest] = np.where(self.numbers[at] == y, self.number_codes[at], outside)
        return out


PLAIN = {str, bytes, int, float, bool}  # types whose equal values have equal hashes and one meaning
