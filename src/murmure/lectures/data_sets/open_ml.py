"""A data set fetched from OpenML by scikit-learn, in the form that its files have."""

from __future__ import annotations

import socket
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any

from murmure.core.errors import MissingExtra, Phrase
from murmure.lectures.data_sets.data_files import not_found
from murmure.lectures.data_sets.rows import Row, canonical, digest_of
from murmure.lectures.data_sets.sources import DataSource

PATIENCE = 60.0  # seconds without a byte


def download(number: int) -> Mapping[str, Sequence[Any]]:
    """The columns of data set `number`, as OpenML has them. scikit-learn checks OpenML's own checksum."""
    try:
        import pandas  # noqa: F401  # what scikit-learn reads labels with
        from sklearn.datasets import fetch_openml
    except ImportError:
        raise MissingExtra(Phrase("fetching data sets"), "scikit-learn", "attacks") from None
    with _patience(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = fetch_openml(data_id=number, as_frame=True, cache=False, n_retries=1).frame
    # str() of each cell: what is missing becomes "nan" or "None" with every version of pandas
    return {str(name): [str(cell) for cell in frame[name].tolist()] for name in frame.columns}


@contextmanager
def _patience() -> Iterator[None]:
    """A time limit for the sockets of libraries that set none."""
    usual = socket.getdefaulttimeout()
    socket.setdefaulttimeout(PATIENCE)
    try:
        yield
    finally:
        socket.setdefaulttimeout(usual)


def fetched_rows(source: DataSource) -> list[Row]:
    """The rows of a data set from OpenML, if they are those of its files."""
    if source.open_ml is None:
        raise not_found(source)
    try:
        there = download(source.open_ml)
    except MissingExtra as error:
        raise not_found(source, error.message) from None
    except (
        OSError,
        HTTPException,
        ValueError,
        RuntimeError,
    ) as error:  # no network, an answer that is none of OpenML's
        why = str(getattr(error, "reason", "") or error) or type(error).__name__
        raise not_found(source, why.rstrip(".")) from None
    ours = {source.names_there.get(name, name): cells for name, cells in there.items()}
    try:
        cells = [[source.labels_there.get(cell, cell) for cell in ours[name]] for name in source.columns]
        rows = canonical(source, zip(*cells, strict=True))
    except (KeyError, ValueError):
        rows = []
    got = digest_of(rows)
    if got != source.digest:
        why = Phrase(
            "OpenML's data set {number} has other rows; their SHA-256 must be {wanted}, got {got}",
            number=source.open_ml,
            wanted=source.digest,
            got=got,
        )
        raise not_found(source, why)
    return rows
