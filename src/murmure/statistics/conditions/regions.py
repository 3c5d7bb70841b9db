"""Parts of a public domain: which rows a condition picks out, judged without looking at rows.

    Box    a set of values for each of some columns, all others free: (age >= 40) and (ward == "A")
    Cloud  any set of combinations of few columns, listed one by one: age + stay > 70

The share of a part is how many combinations of public values it holds, of all there are. Columns are taken as
independent and their values as equally likely: nobody knows better before rows are read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.domain import Categories, Domain
from murmure.statistics.expressions.terms import grid_of

Mask = NDArray[np.bool_]
MAX_POINTS = 1 << 20  # combinations that are listed one by one
MAX_PAIRED_POINTS = 1 << 24  # combinations of two clouds' columns


@dataclass(frozen=True, eq=False)
class Box:
    """For each of some columns, the codes that are in; columns that are not named are free."""

    masks: Mapping[str, Mask]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.masks)

    @cached_property
    def share(self) -> Fraction:
        return math.prod((_share(mask) for mask in self.masks.values()), start=Fraction(1))

    @cached_property
    def key(self) -> Any:
        """Equal for equal parts."""
        if not self.share:
            return None
        return tuple((name, len(mask), np.packbits(mask).tobytes()) for name, mask in sorted(self.masks.items()))

    def holds(self, codes: Mapping[str, Any]) -> Any:
        """Of some rows, by the codes of their columns, which are in; the code beyond the last is nobody."""
        out: Any = True
        for name, mask in self.masks.items():
            out = out & np.append(mask, False)[codes[name]]
        return out


@dataclass(frozen=True, eq=False)
class Cloud:
    """Combinations of the columns, one axis each."""

    columns: tuple[str, ...]
    mask: Mask

    @cached_property
    def share(self) -> Fraction:
        return _share(self.mask)

    @cached_property
    def key(self) -> Any:
        return (self.columns, self.mask.shape, np.packbits(self.mask).tobytes())

    def holds(self, codes: Mapping[str, Any]) -> Any:
        padded = np.pad(self.mask, [(0, 1)] * self.mask.ndim)
        return padded[tuple(codes[name] for name in self.columns)]


Region = Box | Cloud


def _share(mask: Mask) -> Fraction:
    return Fraction(int(np.count_nonzero(mask)), mask.size)


def make_box(masks: Mapping[str, Mask]) -> Box:
    """Without the columns of which every value is in."""
    return Box({name: mask for name, mask in masks.items() if not mask.all()})


def make_region(columns: Sequence[str], mask: Mask) -> Region:
    """A set of combinations, as a box where it is one; columns that do not matter are dropped."""
    axes = range(mask.ndim)
    sides = [np.asarray(mask.any(axis=tuple(j for j in axes if j != i)), bool) for i in axes]
    boxed = np.ones((1,) * mask.ndim, bool)
    for i, side in enumerate(sides):
        boxed = boxed & side.reshape([-1 if j == i else 1 for j in range(mask.ndim)])
    if mask.ndim == 1 or bool((boxed == mask).all()):
        return make_box(dict(zip(columns, sides, strict=True)))
    order = np.argsort(np.array(columns))
    mask, names = mask.transpose(order), [columns[i] for i in order]
    for i in reversed(range(mask.ndim)):  # the same whatever this column holds
        first = mask.take([0], axis=i)
        if bool((mask == first).all()):
            mask, names = first.squeeze(axis=i), [*names[:i], *names[i + 1 :]]
    return Cloud(tuple(names), mask)


def intersection(a: Region, b: Region) -> Region | None:
    """What is in both; None: too many combinations to list."""
    if isinstance(a, Box) and isinstance(b, Box):
        out = dict(a.masks)
        for name, mask in b.masks.items():
            out[name] = out[name] & mask if name in out else mask
        return make_box(out)
    names = tuple(sorted({*a.columns, *b.columns}))
    sizes = {**_sizes(a), **_sizes(b)}
    if math.prod(sizes[name] for name in names) > MAX_POINTS:
        return None
    shape = tuple(sizes[name] for name in names)
    return make_region(names, np.broadcast_to(_spread(a, names) & _spread(b, names), shape))


def intersection_share(a: Region, b: Region) -> Fraction | None:
    """The share of what is in both; None: it cannot be worked out."""
    if not set(a.columns) & set(b.columns):
        return a.share * b.share
    if isinstance(a, Box) and isinstance(b, Box):
        return intersection(a, b).share  # type: ignore[union-attr]
    names = tuple(sorted({*a.columns, *b.columns}))
    sizes = {**_sizes(a), **_sizes(b)}
    if math.prod(sizes[name] for name in names) > MAX_PAIRED_POINTS:
        return None
    both = np.broadcast_to(_spread(a, names) & _spread(b, names), tuple(sizes[name] for name in names))
    return _share(both)


def _sizes(part: Region) -> dict[str, int]:
    if isinstance(part, Box):
        return {name: len(mask) for name, mask in part.masks.items()}
    return dict(zip(part.columns, part.mask.shape, strict=True))


def _spread(part: Region, names: Sequence[str]) -> Mask:
    """Over these columns, in this order; of length 1 where a column does not matter."""
    if isinstance(part, Cloud):
        order = [part.columns.index(name) for name in names if name in part.columns]
        sizes = [part.mask.shape[part.columns.index(name)] if name in part.columns else 1 for name in names]
        return part.mask.transpose(order).reshape(sizes)
    out = np.ones((1,) * len(names), bool)
    for i, name in enumerate(names):
        if name in part.masks:
            out = out & part.masks[name].reshape([-1 if j == i else 1 for j in range(len(names))])
    return out


def translate_region(part: Region, old: Mapping[str, Domain], new: Mapping[str, Domain]) -> Region:
    """The same part where columns have other public values: by value, and by label."""
    changed = [name for name in part.columns if name in new and new[name] != old[name]]
    if not changed:
        return part
    if isinstance(part, Box):
        masks = dict(part.masks)
        for name in changed:
            masks[name] = np.append(masks[name], False)[_places(old[name], new[name])]
        return make_box(masks)
    mask = part.mask
    for axis, name in enumerate(part.columns):
        if name in changed:
            padded = np.pad(mask, [(0, int(i == axis)) for i in range(mask.ndim)])
            mask = padded.take(_places(old[name], new[name]), axis=axis)
    return make_region(part.columns, mask)


def _places(old: Domain, new: Domain) -> NDArray[np.intp]:
    """Where each value of the new domain stands in the old one; beyond its last where it does not."""
    at = {value: i for i, value in enumerate(_values(old))}
    return np.array([at.get(value, len(at)) for value in _values(new)], np.intp)


def _values(domain: Any) -> list[Any]:
    if isinstance(domain, Categories):
        return list(domain.labels())
    first, step = grid_of(domain)
    return [first + step * code for code in range(domain.size)]
