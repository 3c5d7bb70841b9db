"""A file in Python that pyarrow reads ahead on threads of its own, and an end that leaves none of them running.

A thread of pyarrow's that asks for the interpreter while it shuts down ends the whole process ("terminate called
without an active exception", exit code 134). It asks to read, and to drop a block that Python made. So a reader that is
left in the middle tells its threads that the file is over, and waits until they have dropped it and all of its blocks.
Files of other formats are read by pyarrow alone, without Python.
"""

from __future__ import annotations

import atexit
import os
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Self

PATIENCE = 30.0  # seconds: how long a thread may take to finish one read of a slow disk
PAUSE = 0.0005  # seconds between two looks


class Lent:
    """What pyarrow's threads hold and call. Without it and its blocks none of them asks for the interpreter.

    Neither has a finaliser, and weak references to them have no callback: a thread that drops one runs no Python then.
    """

    closed = False

    def __init__(self, file: Any) -> None:
        self.file, self.over = file, False
        self.lent: list[weakref.ref[Any]] = [weakref.ref(self)]

    def read(self, size: int = -1) -> Any:
        file, over, lent = self.file, self.over, self.lent
        del self  # an error keeps this frame, and the frame would keep this object
        block = memoryview(b"" if over else file.read(size))  # bytes cannot be asked whether they are still there
        lent[:] = [*(one for one in lent if one() is not None), weakref.ref(block)]
        return block

    def skip(self, row: Any) -> str:
        """A row with too many or too few fields: nobody knows which field is which."""
        return "skip"

    def close(self) -> None:
        """The file is closed when no thread can be reading it any more."""


class AheadReader:
    """The batches of a file that pyarrow reads ahead. Closed, it leaves no thread behind that may call Python."""

    def __init__(self, file: Any, opened: Callable[[Lent], Any]) -> None:
        """opened(lent): pyarrow's reader of the file."""
        self._file, self._process = file, os.getpid()
        lent = Lent(file)
        self._lent = lent.lent
        self._reader: Any = None
        _unclosed.add(self)
        try:
            self._reader = opened(lent)
        except BaseException as error:
            del lent
            traceback.clear_frames(error.__traceback__)  # an error keeps frames, and they would keep what was lent
            self.close()
            raise

    @property
    def lent(self) -> bool:
        """Whether a thread holds the file, or a block of it."""
        return any(one() is not None for one in list(self._lent))

    def __iter__(self) -> Iterator[Any]:
        while self._reader is not None:
            try:
                batch = self._reader.read_next_batch()
            except StopIteration:
                return
            yield batch
            del batch

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Tell the threads that the file is over, and wait until they have dropped it."""
        for one in [one() for one in self._lent]:
            if isinstance(one, Lent):
                one.over = True
        one = None
        self._reader = None
        if self._process == os.getpid():  # a forked process has no such threads
            until = time.monotonic() + PATIENCE
            while self.lent and time.monotonic() < until:
                time.sleep(PAUSE)
        self._file.close()
        _unclosed.discard(self)


_unclosed: weakref.WeakSet[AheadReader] = weakref.WeakSet()


@atexit.register
def close_all() -> None:
    """Before the interpreter shuts down: readers that an error, a frame or a generator still holds."""
    for reader in list(_unclosed):
        reader.close()
