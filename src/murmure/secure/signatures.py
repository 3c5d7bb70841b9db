"""Many signatures at once, made or checked on two threads: OpenSSL works without Python's lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from murmure.secure.identity import Card

T = TypeVar("T")
R = TypeVar("R")
MIN_SHARED = 4  # for fewer, starting a thread takes longer


class Claim(NamedTuple):
    """That the owner of this card signed these bytes."""

    card: Card
    text: bytes
    signature: bytes

    def holds(self) -> bool:
        return self.card.has_signed(self.text, self.signature)


def which_hold(claims: Sequence[Claim]) -> list[bool]:
    """Of each claim, whether it holds."""
    return on_two_threads(Claim.holds, claims)


def on_two_threads(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """`work` of each item, in their order."""
    if len(items) < MIN_SHARED:
        return [work(item) for item in items]
    half, second, errors = len(items) // 2, list[R](), list[BaseException]()

    def work_on_second_half() -> None:
        try:
            second.extend([work(item) for item in items[half:]])
        except BaseException as error:  # raised below, in the thread that asked
            errors.append(error)

    helper = threading.Thread(target=work_on_second_half)
    helper.start()
    try:
        first = [work(item) for item in items[:half]]
    finally:
        helper.join()
    if errors:
        raise errors[0]
    return first + second
