"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from murmure.core.files import all_or_nothing, folder_or_nothing


@pytest.fixture(params=[0o022, 0o027, 0o077])
def mask(request: pytest.FixtureRequest) -> Iterator[int]:
    """What the user's umask keeps from others."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_results_get_the_permissions_that_the_user_gives(tmp_path: Path, mask: int) -> None:
    """Temporary files are private; what takes their name may be read by whom the umask admits, and by nobody else."""
    with all_or_nothing(tmp_path / "file") as part:
        assert part.stat().st_mode & 0o777 == 0o600
        part.write_text("whole")
    with folder_or_nothing(tmp_path / "folder") as part:
        assert part.stat().st_mode & 0o777 == 0o700
        (part / "file").write_text("whole")

    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666 & ~mask
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o777 & ~mask


def test_after_an_error_nothing_is_left(tmp_path: Path) -> None:
    for write in (all_or_nothing, folder_or_nothing):
        with pytest.raises(RuntimeError), write(tmp_path / "out"):
            raise RuntimeError

    assert list(tmp_path.iterdir()) == []
