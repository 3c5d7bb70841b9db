"""A Python file that pyarrow reads ahead on its threads, and an end that leaves none of them running.

If a thread of pyarrow asks for the interpreter while it shuts down, the whole process ends ("terminate called without
an active exception", exit code 134). A thread asks in order to read, and to drop a block that Python made. So a reader
that is abandoned half-way tells its threads that the file is over, and waits until they have dropped the file and all
of its blocks. Files of other formats are read by pyarrow alone, without Python.
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


class LentFile:
    """What pyarrow's threads hold and call. A thread that holds neither it nor its blocks needs no interpreter.

    Neither has a finaliser, and weak references to them have no callback: a thread that drops one runs no Python code.
    """

    closed = False

    def __init__(self, file: Any) -> None:
        self.file, self.over = file, False
        self.lent: list[weakref.ref[Any]] = [weakref.ref(self)]

    def read(self, size: int = -1) -> Any:
        file, over, lent = self.file, self.over, self.lent
        del self  # an exception keeps this frame alive, and the frame would keep this object
        block = memoryview(b"" if over else file.read(size))  # bytes have no weak references, a memoryview has
        lent[:] = [*(ref for ref in lent if ref() is not None), weakref.ref(block)]
        return block

    def skip(self, row: Any) -> str:
        """Skip a row with too many or too few fields: it is not known which field is which."""
        return "skip"

    def close(self) -> None:
        """The file is closed when no thread can be reading it any more."""


class AheadReader:
    """The batches of a file that pyarrow reads ahead. After `close` no thread is left that may call Python."""

    def __init__(self, file: Any, opened: Callable[[LentFile], Any]) -> None:
        """opened(lent): pyarrow's reader of the file."""
        self._file, self._process = file, os.getpid()
        lent = LentFile(file)
        self._lent = lent.lent
        self._reader: Any = None
        _unclosed.add(self)
        try:
            self._reader = opened(lent)
        except BaseException as error:
            del lent
            traceback.clear_frames(error.__traceback__)  # an exception keeps frames, which would keep the lent file
            self.close()
            raise

    @property
    def lent(self) -> bool:
        """Whether a thread holds the file, or a block of it."""
        return any(ref() is not None for ref in list(self._lent))

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
        for thing in [ref() for ref in self._lent]:
            if isinstance(thing, LentFile):
                thing.over = True
        thing = None  # the loop variable would keep the last block alive
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
