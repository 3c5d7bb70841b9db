"""The index of tokens is a dict, in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from murmure.collector.intake import token_index
from murmure.collector.intake.token_index import TokenIndex, report_digest, report_digests

# Few values for each half: equal first halves, crowded homes, homes at the end of the table, and zeros are all common.
HALVES = st.sampled_from([0, 1, 2, 3, 4, 5, 2**13 - 2, 2**13 - 1, 2**13, 2**13 + 1, 2**63, 2**64 - 2, 2**64 - 1])
TOKENS = st.builds(lambda a, b: a.to_bytes(8, "little") + b.to_bytes(8, "little"), HALVES, HALVES)
BATCHES = st.lists(st.lists(TOKENS, unique=True, max_size=40), max_size=12)


def digest(token: bytes) -> int:
    return report_digest(1, 1, token)


def digests(tokens: list[bytes]) -> np.ndarray:
    return report_digests((1, 1, token) for token in tokens)


def add(index: TokenIndex, tokens: list[bytes], one_by_one: bool) -> None:
    index.reserve(len(tokens))
    if one_by_one:
        for token in tokens:
            index.insert_one(token, digest(token))
    else:
        index.insert(index.find(b"".join(tokens)), np.arange(len(tokens)), digests(tokens))
    index.settle(len(tokens))


@given(BATCHES, st.lists(TOKENS, max_size=60), st.booleans())
@settings(max_examples=150, deadline=None)
def test_the_index_is_a_dict(batches: list[list[bytes]], questions: list[bytes], one_by_one: bool) -> None:
    """Both ways to insert and both ways to look up, on tokens that crowd the same places."""
    index, model = TokenIndex(), {}
    for batch in batches:
        found = index.find(b"".join(batch)).digests.tolist()
        assert found == [model.get(token, 0) for token in batch]
        new = [token for token in batch if token not in model]
        add(index, new, one_by_one)
        model.update((token, digest(token)) for token in new)

    assert len(index) == len(model)
    wanted = [model.get(token, 0) for token in questions]
    assert index.find(b"".join(questions)).digests.tolist() == wanted
    assert [index.find_one(token) for token in questions] == wanted
    assert [index.knows(token) for token in questions] == [digest != 0 for digest in wanted]


@pytest.mark.parametrize("expected", [0, 2867, 2868, 5734, 5735, 100_000])
def test_an_index_for_so_many_tokens_starts_with_the_smallest_table_that_holds_them(expected: int) -> None:
    """At most seven places of ten are taken: 2867 of 4096, 5734 of 8192."""
    index = TokenIndex(expected)
    places = next(1 << bits for bits in range(12, 40) if 10 * expected <= 7 << bits)
    index.reserve(expected)

    assert index._table.capacity == places


@pytest.mark.parametrize("step", [1, 16, 8192])
@pytest.mark.parametrize("shift", [0, 1, 40])
def test_the_index_grows_while_it_is_used(monkeypatch: pytest.MonkeyPatch, step: int, shift: int) -> None:
    """From 4096 places to 131,072, with the old table beside the new one; random tokens, and some with near homes."""
    monkeypatch.setattr(token_index, "STEP", step)
    generator = np.random.default_rng(1)
    halves = generator.integers(0, 2**64, (60_000, 2), np.uint64)
    halves[:, 0] = halves[:, 0] >> np.uint64(shift)
    data = halves.tobytes()
    tokens = list(dict.fromkeys(data[k : k + 16] for k in range(0, len(data), 16)))
    index, place, both_tables, next_tables = TokenIndex(), 0, 0, 0
    for size in generator.integers(1, 900, 1000).tolist():
        batch, place = tokens[place : place + size], place + size
        add(index, batch, one_by_one=size < 40)
        known = tokens[max(0, place - 5000) : place]
        asked = known[::37] + tokens[place : place + 30]
        wanted = [digest(token) for token in known[::37]] + [0] * len(tokens[place : place + 30])
        assert index.find(b"".join(asked)).digests.tolist() == wanted
        assert [index.find_one(token) for token in asked] == wanted
        assert [index.knows(token) for token in asked] == [digest != 0 for digest in wanted]
        both_tables += index._old is not None
        next_tables += index._next is not None
        if place >= len(tokens):
            break

    assert len(index) == len(tokens)
    assert both_tables > 2 and next_tables > 2
    assert (index.find(b"".join(tokens)).digests == digests(tokens)).all()
    assert index._table.capacity == 131_072


def test_of_a_lookup_only_the_rows_that_were_named_are_inserted() -> None:
    index = TokenIndex()
    tokens = [bytes([k]) * 16 for k in range(1, 100)]
    lookup = index.find(b"".join(tokens))
    index.insert(lookup, np.arange(0, 99, 3), digests(tokens[::3]))

    assert [index.find_one(token) != 0 for token in tokens] == [k % 3 == 0 for k in range(99)]


def test_digests_are_even_and_not_zero() -> None:
    """The lowest bit belongs to the table; 0 means unknown; both ways to compute them agree."""
    rows = [(s, w, b"%d" % k) for s in range(3) for w in range(3) for k in range(100)]
    many = report_digests(rows).tolist()

    assert many == [report_digest(*row) for row in rows]
    assert len(set(many)) == 900
    assert all(value % 2 == 0 and 0 < value < 2**64 for value in many)


def test_memory_of_a_report() -> None:
    """At most 24 bytes / 0.35 a report, right after the table has grown."""
    index = TokenIndex(1_000_000)

    assert 24 * index._table.capacity / 1_000_000 < 24 / 0.35
