"""Labels that are cut stay different, keep their ends, and are no longer than they need be."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from murmure.show.short_labels import cut, cut_labels

PARTS = st.text("ab[.]T ", max_size=12)
LABELS = st.lists(
    st.builds(lambda a, m, b, c, d: a + m * b + c + m * d, PARTS, st.integers(0, 9), PARTS, PARTS, PARTS),
    min_size=1,
    max_size=12,
    unique=True,
)


@settings(max_examples=150, deadline=None)
@given(LABELS, st.integers(4, 40))
@example([f"{'income of the household ' * 3}[T.{end}]" for end in ("low", "high")], 36)
@example([f"{'x' * 60}{middle}{'y' * 60}" for middle in "abc"], 30)
@example([f"{a}{'x' * 90}{b}" for a in "pq" for b in "rs"], 20)
@example(["a...b" + "c" * 30, "a" + "c" * 60 + "b", "a" * 40], 9)
def test_different_labels_look_different(labels: list[str], width: int) -> None:
    short = cut_labels(labels, width)

    assert len(set(short)) == len(labels)
    for label, text in zip(labels, short, strict=True):
        assert len(text) <= max(len(label), width)
        if len(label) <= width:
            assert text == label


@settings(max_examples=60, deadline=None)
@given(st.text("abc_", min_size=40, max_size=90), st.lists(st.text("xyz", min_size=1, max_size=12), unique=True))
def test_the_distinguishing_end_stays(column: str, levels: list[str]) -> None:
    """Names of coefficients share their beginning, and their ends say which label each is about."""
    names = [f"{column}[T.{level}]" for level in levels]

    for name, text in zip(names, cut_labels(names, 36), strict=True):
        assert text.endswith(name[-15:]) and text.startswith(name[:5]) and len(text) == 36


def test_equal_labels_stay_equal() -> None:
    assert cut_labels(["a" * 50, "b", "a" * 50], 10) == [cut("a" * 50, 10), "b", cut("a" * 50, 10)]
    assert cut("abcdefghij", 4) == "abcd" and cut("abc", 3) == "abc"
