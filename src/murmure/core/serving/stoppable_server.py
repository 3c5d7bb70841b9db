"""uvicorn's server, which another thread may stop, with a time limit for handshakes. Needs the extra `service`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import uvicorn

SHUTDOWN_SECONDS = 5  # for answers that are being sent when the server stops
HANDSHAKE_SECONDS = 10.0  # of TLS


class StoppableServer(uvicorn.Server):
    """Stops once `stopping` is set; `before_shutdown` is called first."""

    def __init__(
        self, config: uvicorn.Config, stopping: threading.Event, before_shutdown: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(config)
        self._stopping, self._before_shutdown = stopping, before_shutdown

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self._stopping.is_set()

    async def startup(self, sockets: Any = None) -> None:
        loop: Any = asyncio.get_running_loop()
        if self.config.ssl is not None:  # uvicorn has no settings for them, and asyncio waits a minute
            loop.create_server = partial(
                loop.create_server, ssl_handshake_timeout=HANDSHAKE_SECONDS, ssl_shutdown_timeout=SHUTDOWN_SECONDS
            )
        await super().startup(sockets)

    async def shutdown(self, sockets: Any = None) -> None:
        self._before_shutdown()
        await super().shutdown(sockets)
