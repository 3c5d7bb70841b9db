"""A column of labels as codes: each label by its meaning, and each different cell looked up once."""

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
    from_arrow,
    pieces,
    whose,
)
from murmure.core.errors import OutsideDomain

GUESSED_TRUTH = {"yes", "no", "y", "n", "t", "f", "on", "off"}  # what DuckDB and others take for booleans
GUESSED_NUMBER = re.compile(  # what DuckDB, Arrow and Spark take for numbers besides
    r"[+-]?(?:0[xXbBoO][0-9a-fA-F_.]+(?:[pP][+-]?[0-9]+)?|[0-9][0-9_]*\.?[0-9_]*(?:[eE][+-]?[0-9]+)?)[dDfFlL]?"
)


class Labels:
    """The meanings of public labels, numbered. A missing cell has the code `size`, any other cell `size + 1`."""

    def __init__(self, meanings: Sequence[float | str]) -> None:
        self.size = len(meanings)
        self.table = {meant: code for code, meant in enumerate(meanings)}
        self.kind = np.min_scalar_type(self.size + 1)
        words = [meant for meant in meanings if isinstance(meant, str)]
        self.truths = [word for word in words if word.strip(BLANKS).lower() in GUESSED_TRUTH]
        self.spelled = [word for word in words if GUESSED_NUMBER.fullmatch(word.strip(BLANKS))]
        known = sorted((meant, code) for meant, code in self.table.items() if not isinstance(meant, str))
        self.numbers = np.array([number for number, _ in known], np.float64)
        short = all(number.is_integer() and abs(number) < MAX_15_DIGITS for number in self.numbers.tolist())
        self.whole = self.numbers.astype(np.int64) if short else None
        self.numbered = np.array([code for _, code in known], self.kind)

    def code(self, cell: Any) -> int:
        meant = meaning(cell)
        return self.size if meant is None else self.table.get(meant, self.size + 1)  # type: ignore[arg-type]

    def codes(self, domain: Any, values: Any) -> Codes:
        """values: what `one_column` gave."""
        parts = [self._codes_of(domain, piece) for piece in pieces(domain, values)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _codes_of(self, domain: Any, piece: Piece) -> Codes:
        match piece:
            case TypedPiece(array, missing, kind, guessed):
                if guessed:
                    self._refuse_guess(domain, kind)
                out = self._numbers(array)
            case TextPiece(chunk):
                coded = chunk.cast("large_binary").dictionary_encode()  # text may hold bytes that are no letters
                indices = from_arrow(coded.indices)
                out, missing = (
                    np.append(self._texts(coded.dictionary), self.kind.type(0))[indices.array],
                    indices.missing,
                )
            case ObjectPiece(items, missing):
                out = self._objects(items)
            case DictionaryPiece(indices, missing, cells):
                inner = np.append(self.codes(domain, cells), self.kind.type(self.size))
                out = inner[np.where((indices < 0) | (indices >= len(inner) - 1), len(inner) - 1, indices)]
        if missing is not None:
            out[missing] = self.size
        return out

    def _refuse_guess(self, domain: Any, kind: str) -> None:
        """Some readers make booleans of "yes" and "t", and numbers of "0x10" and "2D", unless one row is another word.

        Where that may have happened the column is refused by its type. That is told to the holder of the data, before
        anything is charged.
        """
        guessed = self.truths if kind == "booleans" else self.spelled
        if guessed:
            raise OutsideDomain(
                f"{whose(domain)}: got {kind}, and the label {guessed[0]!r} is a text that some readers turn into "
                f"{kind}; wanted {domain.describe()}.",
                hint="load the column as text: then every cell is what the file says",
            )

    def _texts(self, texts: Any) -> Codes:
        """Arrow's bytes, each different one once."""
        import pyarrow as pa
        import pyarrow.compute as pc

        known = [meant for meant in self.table if isinstance(meant, str)]
        values = pa.array([meant.encode("utf-8", "surrogatepass") for meant in known], pa.large_binary())
        codes = np.array([*(self.table[meant] for meant in known), self.size + 1], self.kind)
        out = codes[pc.index_in(texts, value_set=values).fill_null(len(known)).to_numpy(zero_copy_only=False)]
        found, missing = numbers_in_text(texts)
        is_number = found.is_valid().to_numpy(zero_copy_only=False)
        if is_number.any():
            out[is_number] = self._numbers(found.drop_null().to_numpy(zero_copy_only=False))
        out[missing.to_numpy(zero_copy_only=False)] = self.size
        return out

    def _objects(self, items: Sequence[Any]) -> Codes:
        found: dict[tuple[type, Any], int] = {}

        def code(cell: Any) -> int:
            if type(cell) not in PLAIN:
                return self.code(cell)
            key = type(cell), cell
            if key not in found:
                found[key] = self.code(cell)
            return found[key]

        kinds = set(map(type, items))
        if len(kinds) == 1 and kinds <= PLAIN:
            known = {cell: self.code(cell) for cell in set(items)}
            return np.fromiter(map(known.__getitem__, items), self.kind, len(items))
        return np.fromiter(map(code, items), self.kind, len(items))

    def _numbers(self, array: NDArray[Any]) -> Codes:
        outside = self.kind.type(self.size + 1)
        if not len(self.numbers):
            return np.full(len(array), outside, self.kind)
        if self.whole is not None and array.dtype.kind in "iu" and array.dtype != np.uint64:  # as they are
            at = np.minimum(np.searchsorted(self.whole, array), len(self.whole) - 1)
            found = self.whole[at] == array
            return self.numbered[at] if found.all() else np.where(found, self.numbered[at], outside)
        x = array.astype(np.float64, copy=False)
        at = np.minimum(np.searchsorted(self.numbers, x), len(self.numbers) - 1)
        found = self.numbers[at] == x
        if found.all():
            return self.numbered[at]
        out = np.where(found, self.numbered[at], outside)
        rest = np.flatnonzero(~found)
        with np.errstate(invalid="ignore"):
            near = [
                np.abs(self.numbers[np.maximum(at[rest] - i, 0)] - x[rest]) <= CLOSE * np.abs(x[rest]) for i in (0, 1)
            ]
        rest = rest[near[0] | near[1]]
        if len(rest):  # next to a label: off by one unit in the last place, perhaps
            y = rounded_all(x[rest])
            at = np.minimum(np.searchsorted(self.numbers, y), len(self.numbers) - 1)
            out[rest] = np.where(self.numbers[at] == y, self.numbered[at], outside)
        return out


PLAIN = {str, bytes, int, float, bool}  # these compare and hash as one expects
