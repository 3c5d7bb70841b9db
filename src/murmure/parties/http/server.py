"""One process that serves one study: the socket, TLS, uvicorn, and when to stop."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from murmure.core.errors import InvalidParameter, MissingExtra, Phrase
from murmure.core.serving.listening import base_url, check_certificate, listening_socket
from murmure.parties.coordinator.folders import StudyFolder
from murmure.parties.coordinator.release_log import ReleaseLog
from murmure.parties.coordinator.runner import DEFAULT_PATIENCE, DEFAULT_WAIT_TO_JOIN, CoordinatorRunner
from murmure.parties.coordinator.status_view import StatusView
from murmure.parties.coordinator.store import CoordinatorStore


@dataclass(frozen=True)
class ServerSettings:
    """How a study is served. once: stop when it is over and everybody has fetched how it ended."""

    host: str = "127.0.0.1"
    port: int = 0
    wait: float = DEFAULT_WAIT_TO_JOIN
    patience: float = DEFAULT_PATIENCE
    certificate: Path | None = None
    key: Path | None = None
    once: bool = True

    @property
    def secure(self) -> bool:
        return self.certificate is not None


@dataclass(frozen=True)
class ServerUrls:
    """parties: the address to give them. page: with its token, which opens it. stop: for another thread to call."""

    parties: str
    page: str
    stop: Callable[[], None] = lambda: None


def serve(
    folder: StudyFolder, settings: ServerSettings, on_start: Callable[[ServerUrls], None] = lambda urls: None
) -> StatusView:
    """Serve until the study is over (or for ever, once=False); returns its status then."""
    try:
        import uvicorn

        from murmure.parties.http.routes import make_app
    except ImportError as error:
        # Only a missing extra: an import error inside our own modules must not be hidden.
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "h11"):
            raise
        raise MissingExtra(Phrase("a coordinator"), Phrase("starlette and uvicorn"), "service") from None
    from murmure.core.serving.stoppable_server import SHUTDOWN_SECONDS, StoppableServer
    from murmure.parties.coordinator.broker import MessageBroker
    from murmure.parties.http.connections import TimedProtocol

    study, home = folder.study, folder.home
    if study.coordinator.key != home.identity.public:
        raise InvalidParameter(
            "the study in {path!r} names a coordinator other than {name!r}.",
            hint="serve it from the folder where it was created",
            path=str(folder.path),
            name=home.card.name,
        )
    study.check_ratio()
    check_certificate(settings.certificate, settings.key)
    TimedProtocol.share_files()
    with (
        folder.locked(),
        closing(CoordinatorStore(folder.log, study.digest)) as store,
        listening_socket(settings.host, settings.port) as listening,
    ):
        runner = CoordinatorRunner(
            study,
            home.identity,
            store,
            ReleaseLog(home.release_log),
            settings.wait,
            settings.patience,
            say=logging.getLogger("murmure.coordinator").info,
        )

        async def run() -> MessageBroker:
            broker = MessageBroker(runner, over, settings.patience)
            config: Any = uvicorn.Config(
                make_app(broker, folder.signed, folder.token, settings.secure),
                http=TimedProtocol,
                ws="none",
                lifespan="on",
                log_config=None,
                log_level="critical",  # uvicorn's own lines name addresses, which hold the token
                access_log=False,
                server_header=False,
                timeout_keep_alive=20,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
                ssl_certfile=settings.certificate,
                ssl_keyfile=settings.key,
            )
            server = StoppableServer(config, stopping, broker.close)
            await server.serve(sockets=[listening])
            return broker

        stopping = threading.Event()

        def over(broker: MessageBroker) -> None:
            if settings.once or broker.failed is not None:
                stopping.set()

        on_start(addresses(settings, listening.getsockname()[1], folder.token, stopping.set))
        broker = asyncio.run(run())
        if broker.failed is not None:
            raise broker.failed
        return StatusView.of(runner)


def addresses(settings: ServerSettings, port: int, token: str, stop: Callable[[], None]) -> ServerUrls:
    base = base_url(settings.host, port, settings.secure)
    return ServerUrls(base, f"{base}/?token={token}", stop)


def log_to_stderr() -> None:
    """Log one line for each event: when, and what; no payload, no token."""
    log = logging.getLogger("murmure.coordinator")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s  %(message)s", "%H:%M:%S"))
    log.handlers, log.propagate = [handler], False
    log.setLevel(logging.INFO)
