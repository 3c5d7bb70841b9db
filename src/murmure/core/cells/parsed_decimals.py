"""A column of numbers as exact decimals, from whole numbers, floats, Decimal objects or Arrow's decimals.

Everything becomes whole numbers v with s decimals (value = v / 10**s), and from there to codes.

A *short* domain counts fewer than 10**15 steps. Its numbers have at most 15 digits, and a cell is its float, rounded
to 15 digits, as everywhere (core/cells/meaning.py): `c / 10**places` is rounded once (both are floats exactly), and two
decimals of 15 digits never share a float. Where rounding="nearest" moves a number, c = rint(x * 10**places), a product
that is rounded once; next to the middle of two steps x is rounded to 15 digits first, and of two steps the even one is
taken.

A *long* domain is for exact sums only (check_few_values). Texts, whole numbers and decimals are read by all of their
digits, floats as they print.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.cells.meaning import CLOSE, MAX_15_DIGITS, meaning, rounded_all
from murmure.core.cells.parsed_columns import (
    PARSE_HINT,
    WIDEN_HINT,
    ObjectPiece,
    ParsedColumn,
    TextPiece,
    add_outside,
    any_of,
    cell_at,
    chunks,
    is_arrow,
    joined,
    one_column,
    outside_bounds,
    parse_numbers,
    pieces,
)
from murmure.core.types import Floats, Ints, Mask

BLOCK = 1 << 14  # values that stay in the cache from one pass to the next
UNIQUE = MAX_15_DIGITS  # two decimals of at most 15 digits never share a float
UNIQUE_NARROW = 10**6  # nor two of at most 6 digits a float of 32 bits
MAX_INT64 = (1 << 63) - 1
MAX_STEPS = 1 << 62  # steps that a float may count: int64 holds its neighbours too
SPLIT = 134217729.0  # 2**27 + 1
MAX_EXACT_TEN = 1e22  # powers of ten up to here are floats
# Of numbers of steps from 0, 1, 10, ... on half a unit of the 15th digit; NaN where no middle has 15 digits.
DECADES = 10.0 ** np.arange(15)
HALF_DIGITS = np.array([0.5 * 10.0 ** (m - 14) for m in range(-1, 14)] + [np.nan])
NO_OVERSHOOT = 1 << 50  # up to here rounding does not lead beyond a bound
INSIDE, OUTSIDE, LONGER = 0, 1, 2  # the status of one number; LONGER: it has more decimals than the domain


def places_hint(domain: Any) -> str:
    more = f"a larger places than {domain.places}, or " if domain.places < 18 else ""
    return f'round the column yourself, or say so: Decimals(...) with {more}rounding="nearest"'


# -- one number --------------------------------------------------------------------------------------------------------


def scaled_text(text: str) -> tuple[int, int]:
    """v and s of a number in decimal notation: value = v / 10**s."""
    digits, _, exponent = text.partition("e")
    whole, _, fraction = digits.partition(".")
    return int(whole + fraction), len(fraction) - int(exponent or 0)


def scaled(value: Any) -> tuple[int, int] | None:
    """v and s of a number of Python or NumPy, a float as it prints; None: not a finite number of those types."""
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, int | np.integer):
        return (int(value), 0) if not isinstance(value, np.timedelta64) else None
    if isinstance(value, float | np.floating):
        text = repr(float(value)) if isinstance(value, float) else str(value)
        return scaled_text(text.lower()) if np.isfinite(value) else None
    if isinstance(value, Decimal) and value.is_finite():
        sign, digits, exponent = value.as_tuple()
        v = int(Decimal((0, digits, 0)))  # not through text, where Python stops at 4300 digits
        return -v if sign else v, -int(exponent)
    return None


def plain_text(v: int, s: int) -> str:
    """v / 10**s, without an exponent and without zeros at its end."""
    if s <= 0:
        return str(v * 10**-s)
    whole, fraction = divmod(abs(v), 10**s)
    tail = f"{fraction:0{s}d}".rstrip("0")
    return ("-" if v < 0 else "") + str(whole) + (f".{tail}" if tail else "")


def decimal_text(value: Any) -> str | None:
    """A public constant, a number or the text of one, in one spelling; None: it is neither."""
    if isinstance(value, str):
        try:
            value = Decimal(value)
        except ArithmeticError:
            return None
    parts = scaled(value)
    if parts is None or parts[0].bit_length() > 4000 or abs(parts[1]) > 4000:
        return None
    return plain_text(*parts) if parts[0] else "0"


def _printable_cell(values: Any, row: int) -> Any:
    """The content of a row for a message; a Decimal as the number that people write."""
    value = cell_at(values, row)
    text = decimal_text(value) if isinstance(value, Decimal) else None
    if text is None:
        return value
    return int(text) if "." not in text else float(text) if len(text) <= 16 else Decimal(text)


def code_of(domain: Any, v: int, s: int, nearest: bool) -> tuple[int, int]:
    """The code of v / 10**s, and its status; nearest: the nearest value, of two the one with an even digit."""
    first, size, places = domain.first, domain.size, domain.places
    last = first + size - 1
    # |value| < 10**below, so that no power of ten is computed that is longer than v
    below = v.bit_length() * 30103 // 100000 + 1 - s
    if v and below > 60:
        return (size - 1 if v > 0 else 0), OUTSIDE
    if v and below < -places - 1:
        c, rest = 0, 1 if v > 0 else -1
    elif s <= places:
        c, rest = v * 10 ** (places - s), 0
    else:
        over = 10 ** (s - places)
        c, rest = divmod(v, over)
        if rest and (2 * rest > over or (2 * rest == over and c % 2)):
            c, rest = c + 1, rest - over
    out = c < first or c > last or (c == first and rest < 0) or (c == last and rest > 0)
    status = OUTSIDE if out else LONGER if rest and not nearest else INSIDE
    return min(max(c, first), last) - first, status


# -- a column ----------------------------------------------------------------------------------------------------------


def parse_decimals(domain: Any, values: Any) -> ParsedColumn:
    values = one_column(values)
    if is_arrow(values) and str(getattr(values.type, "value_type", values.type)).startswith("decimal"):
        parts = [_parse_arrow(domain, chunk) for chunk in chunks(values)]
        exact = [part for part in parts if part is not None]
        if len(exact) == len(parts):
            return _concatenate(exact, values)
    if not domain.short and any(isinstance(piece, ObjectPiece | TextPiece) for piece in pieces(domain, values)):
        to_list = getattr(values, "to_pylist", None) or getattr(values, "tolist", None)
        return _parse_objects(domain, list(values if to_list is None else to_list()))
    parsed = parse_numbers(domain, values).parse(values)
    parsed.cell = functools.partial(_printable_cell, values)
    if parsed.codes.dtype.kind == "f":
        return _parse_floats(domain, parsed)
    return _place(domain, parsed, _int64(parsed.codes), 0)


def _int64(array: NDArray[Any]) -> Ints:
    """Whole numbers; those too large for int64 are beyond any bound, and so is its largest number."""
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(MAX_INT64))
    return array.astype(np.int64, copy=False)


def _concatenate(parts: list[ParsedColumn], values: Any) -> ParsedColumn:
    lengths = [len(part.codes) for part in parts]
    hints = dict.fromkeys(hint for part in parts for _, hint in part.outside)
    outside = []
    for hint in hints:
        masks = [next((mask for mask, h in part.outside if h == hint), None) for part in parts]
        mask = joined(masks, lengths)
        assert mask is not None
        outside.append((mask, hint))
    codes = parts[0].codes if len(parts) == 1 else np.concatenate([part.codes for part in parts])
    return ParsedColumn(
        codes, joined([part.missing for part in parts], lengths), outside, functools.partial(_printable_cell, values)
    )


def _place(domain: Any, parsed: ParsedColumn, v: Ints, s: int) -> ParsedColumn:
    parsed.codes, bad = _codes(domain, v, s)
    if bad is not None:
        add_outside(parsed, bad, WIDEN_HINT)
    return parsed


def _codes(domain: Any, v: Ints, s: int) -> tuple[Ints, Mask | None]:
    """Codes of v / 10**s, s at most `places`, and which lie outside, at the nearest bound.

    All in int64, and no intermediate number passes 2**63.
    """
    times = 10 ** (domain.places - s)
    low = max(-(-domain.first // times), -MAX_INT64 - 1)
    high = min((domain.first + domain.size - 1) // times, MAX_INT64)
    if low > high:  # no such number, or none that int64 holds, lies between the bounds
        return np.where(v < low, 0, domain.size - 1), np.ones(len(v), bool)
    bad = None
    if len(v) and not (v.min() >= low and v.max() <= high):
        below, bad = v < low, (v < low) | (v > high)
        v = np.where(bad, low, v)
    codes = v - low
    if times > 1:
        codes *= times
        codes += low * times - domain.first
    if bad is not None:  # at the nearest bound
        codes[bad] = np.where(below[bad], 0, domain.size - 1)
    return codes, bad


def _parse_objects(domain: Any, items: Sequence[Any]) -> ParsedColumn:
    """The cells of a long domain, one by one, by all of their digits."""
    nearest = domain.rounding == "nearest"
    codes, missing = np.zeros(len(items), np.int64), np.zeros(len(items), bool)
    bad = {hint: np.zeros(len(items), bool) for hint in (PARSE_HINT, WIDEN_HINT, places_hint(domain))}
    masks = tuple(bad.values())  # unreadable, OUTSIDE, LONGER
    for i, item in enumerate(items):
        meant = meaning(item)
        if meant is None:
            missing[i] = True
        elif not isinstance(meant, float):
            masks[0][i] = True
        elif not np.isfinite(float(Decimal(item)) if isinstance(item, Decimal) else meant):
            masks[1][i] = True
            codes[i] = domain.size - 1 if meant > 0 else 0
        elif nearest and isinstance(item, float | np.floating):
            found, beyond = _rounded(domain, np.atleast_1d(item))  # as in an array of floats
            codes[i], masks[1][i] = found[0], beyond is not None
        else:
            codes[i], status = code_of(domain, *_scaled_cell(item, meant), nearest)
            if status != INSIDE:
                masks[status][i] = True
    parsed = ParsedColumn(codes, any_of(missing), [], functools.partial(_printable_cell, items))
    for hint, mask in bad.items():
        add_outside(parsed, mask, hint)
    return parsed


def _scaled_cell(item: Any, meant: float) -> tuple[int, int]:
    """v and s of a cell that means a number."""
    if isinstance(item, str | bytes):
        text = item.decode() if isinstance(item, bytes) else item
        try:
            item = Decimal(text.strip())
        except ArithmeticError:  # true and false
            item = meant
    found = scaled(item)
    return found if found is not None else scaled_text(repr(meant))  # booleans, fractions


# -- Arrow's decimals --------------------------------------------------------------------------------------------------


def _parse_arrow(domain: Any, chunk: Any) -> ParsedColumn | None:
    """A chunk of Arrow's decimals, exactly; None: some number has too many decimals or digits to be read at once."""
    import pyarrow as pa

    if pa.types.is_dictionary(chunk.type):
        chunk = chunk.dictionary_decode()
    exact = chunk
    if pa.types.is_decimal128(chunk.type) and domain.places < chunk.type.scale:
        try:
            exact = chunk.cast(pa.decimal128(38, domain.places))
        except pa.ArrowInvalid:  # some number has more decimals
            exact = None
    if exact is None or not pa.types.is_decimal128(exact.type) or exact.type.scale < 0 or not len(exact):
        return None if domain.short else _parse_objects(domain, chunk.to_pylist())
    missing = exact.is_null().to_numpy(zero_copy_only=False) if exact.null_count else None
    words = np.frombuffer(exact.buffers()[1], "<i8").reshape(-1, 2)[exact.offset : exact.offset + len(exact)]
    low, sign = words[:, 0], words[:, 1]
    if missing is not None:
        low, sign = np.where(missing, 0, low), np.where(missing, 0, sign)
    if (low >> 63 != sign).any():  # some number needs more than 64 bits
        return None if domain.short else _parse_objects(domain, chunk.to_pylist())
    parsed = ParsedColumn(low, missing, [], functools.partial(_printable_cell, chunk))
    return _place(domain, parsed, low.astype(np.int64, copy=False), exact.type.scale)


# -- floats ------------------------------------------------------------------------------------------------------------


@np.errstate(over="ignore", invalid="ignore")  # numbers too large for a float are outside, and so is infinity
def _parse_floats(domain: Any, parsed: ParsedColumn) -> ParsedColumn:
    array = parsed.codes
    if len(array) and not np.isfinite(array.min() + array.max()):  # NaN passes through both
        add_outside(parsed, np.isinf(array), WIDEN_HINT)
        array = np.where(np.isfinite(array), array, array.dtype.type(0))
    if domain.rounding == "nearest":
        parsed.codes, beyond = _rounded(domain, array)
        if beyond is not None:
            add_outside(parsed, beyond, WIDEN_HINT)
        return parsed
    x = _doubles(domain.places, array)
    v, longer, slow = np.empty(len(x), np.int64), np.zeros(len(x), bool), np.zeros(len(x), bool)
    for a in range(0, len(x), BLOCK):
        block = slice(a, a + BLOCK)
        v[block] = _steps(domain.places, x[block], longer[block], slow[block])
    if domain.short and longer.any():  # perhaps by one unit in the last place
        again = np.flatnonzero(longer)
        found, still = np.zeros(len(again), bool), np.zeros(len(again), bool)
        v[again] = _steps(domain.places, rounded_all(x[again]), found, still)
        longer[again], slow[again] = found, still
    codes, bad = _codes(domain, v, domain.places)
    bad = np.zeros(len(x), bool) if bad is None else bad
    if slow.any():
        each = np.array([_of_float(domain, value) for value in x[slow].tolist()], np.int64)
        codes[slow], bad[slow], longer[slow] = each[:, 0], each[:, 1] == OUTSIDE, each[:, 1] == LONGER
    parsed.codes = codes
    add_outside(parsed, bad, WIDEN_HINT)
    add_outside(parsed, longer, places_hint(domain))
    return parsed


def _rounded(domain: Any, array: NDArray[Any]) -> tuple[Ints, Mask | None]:
    """The code of the nearest step of every float, and which of them lie outside (None: none do)."""
    kind = (
        array.dtype.type if array.dtype == np.float32 else np.float64
    )  # in 32 bits, since the nearest such float to 0.1 is above 0.1
    low, high = kind(float(domain.low)), kind(float(domain.high))
    below = above = None
    if len(array) and not (array.min() >= low and array.max() <= high):
        below, above = outside_bounds(array, low, high) if domain.short else (array < low, array > high)
        array = np.clip(array, low, high)
    first, last = domain.first, domain.first + domain.size - 1
    if not -MAX_STEPS <= first <= last <= MAX_STEPS:  # too many steps for a float
        found = (_of_float(domain, value, True)[0] for value in _doubles(domain.places, array).tolist())
        codes = np.fromiter(found, np.int64, len(array))
    else:
        codes = _steps_of_floats(array, float(10**domain.places), first, last, domain.short)
    if below is None or above is None:
        return codes, None
    codes[below], codes[above] = 0, domain.size - 1
    return codes, any_of(below | above)


def codes_within(domain: Any, array: Floats) -> Ints:
    """The code of the nearest step of every float, all of which lie within the bounds."""
    first, last = domain.first, domain.first + domain.size - 1
    return _steps_of_floats(array, float(10**domain.places), first, last, domain.short)


def has_overshoot(first: int, last: int) -> bool:
    """Whether a float within the bounds may be rounded to a step beyond them."""
    return max(-first, last) >= NO_OVERSHOOT


def _steps_of_floats(array: NDArray[Any], ten: float, first: int, last: int, short: bool) -> Ints:
    codes, room = np.empty(len(array), np.int64), np.empty(min(BLOCK, len(array)))
    close = has_overshoot(first, last) or array.dtype == np.float32
    for a in range(0, len(array), BLOCK):
        x, out = array[a : a + BLOCK], codes[a : a + BLOCK]
        y = np.multiply(x, ten, out=room[: len(x)], dtype=np.float64)
        steps = np.rint(y)
        if short and len(middle := np.flatnonzero(np.abs(y - steps) >= 0.5 - CLOSE * np.abs(y))):
            steps[middle] = _by_digits(x[middle].astype(np.float64), y[middle], ten)
        out[:] = steps
        if close:
            np.clip(out, first, last, out=out)
        out -= first
    return codes


def _by_digits(x: Floats, y: Floats, ten: float) -> Floats:
    """The nearest steps of numbers that lie near the middle of two; in the middle, the even one.

        x ten = y + lost (Dekker's product, exactly),   far = x ten - middle

    x is read to 15 digits, so it is the middle if it lies within half a unit of its 15th digit. Where that is too close
    to tell, or the middle has more digits, the number is rounded as text. Dekker, Numerische Mathematik 18, 1971.
    """
    below = np.floor(y)
    (x1, x2), (ten1, ten2) = _halves(x), _halves(ten)
    lost = ((x1 * ten1 - y) + x1 * ten2 + x2 * ten1) + x2 * ten2
    far = (y - below - 0.5) + lost
    digit = HALF_DIGITS[np.searchsorted(DECADES, np.abs(y), side="right")]
    found = np.where(np.abs(far) < digit, np.rint(below + 0.5), below + (far > 0))
    slow = np.flatnonzero(~(np.abs(np.abs(far) - digit) > 1e-3 * digit) | (ten > MAX_EXACT_TEN))
    if len(slow):
        found[slow] = steps_by_text(x[slow], y[slow], ten)
    return found


def steps_by_text(x: Floats, y: Floats, ten: float) -> Floats:
    twice = 2 * np.floor(y) + 1  # the middle, in half steps
    middle = rounded_all(twice / (2 * ten))
    x = rounded_all(x)
    found = np.where(x == middle, np.rint(twice / 2), np.floor(y) + (x > middle))
    # From 10**14 steps on a middle has 16 digits: a number of 15 is one of the two steps.
    return np.where(np.abs(y) >= DECADES[-1], np.rint(x * ten), found)


def _halves(x: Any) -> tuple[Any, Any]:
    """Two floats of 26 bits whose sum it is."""
    c = SPLIT * x
    high = c - (c - x)
    return high, x - high


def _steps(places: int, x: Floats, longer: Mask, slow: Mask) -> Floats:
    """The nearest number of steps of each float; marks those with more decimals (`longer`), and those with more than
    15 digits, to be read as they print (`slow`)."""
    ten = float(10**places)
    c = np.rint(x * ten)
    if (c / ten == x).all():
        if len(c) and max(-c.min(), c.max()) < UNIQUE:
            return c
    else:
        np.not_equal(c / ten, x, out=longer)
    slow |= np.abs(c) >= UNIQUE
    c[slow] = 0
    return c


def _of_float(domain: Any, value: float, nearest: bool = False) -> tuple[int, int]:
    return code_of(domain, *scaled_text(repr(value)), nearest)


def _doubles(places: int, array: NDArray[Any]) -> Floats:
    """Floats of 64 bits; one of 32 bits by the decimal that it prints as, since its 0.1 is not the 0.1 of 64 bits."""
    if array.dtype != np.float32:
        return array.astype(np.float64, copy=False)
    ten = float(10**places)
    c = np.rint(array.astype(np.float64) * ten)
    out = c / ten
    good = (out.astype(np.float32) == array) & (np.abs(c) < UNIQUE_NARROW)
    if not good.all():
        out[~good] = [float(str(value)) for value in array[~good]]
    return out


# -- lenient encoding --------------------------------------------------------------------------------------------------


def nearest_decimal_codes(domain: Any, array: NDArray[Any]) -> Ints:
    """A code for every number, none of them NaN: beyond the bounds the bound, with more decimals the nearest value."""
    if array.dtype.kind == "f":
        return _rounded(domain, array)[0]
    return _codes(domain, _int64(array), 0)[0]
