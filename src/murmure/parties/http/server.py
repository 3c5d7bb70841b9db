"""One process that serves one study: the socket, TLS, uvicorn, and when to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import ssl
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from murmure.core.errors import InvalidParameter, MissingExtra, Phrase, shorten
from murmure.parties.coordinator.folders import StudyFolder
from murmure.parties.coordinator.release_log import ReleaseLog
from murmure.parties.coordinator.runner import DEFAULT_PATIENCE, DEFAULT_WAIT_TO_JOIN, CoordinatorRunner
from murmure.parties.coordinator.status_view import StatusView
from murmure.parties.coordinator.store import CoordinatorStore

SHUTDOWN_SECONDS = 5  # for answers that are being sent when the server stops
HANDSHAKE_SECONDS = 10.0  # of TLS


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
    from murmure.parties.coordinator.broker import MessageBroker
    from murmure.parties.http.connections import TimedProtocol, raise_file_limit

    study, home = folder.study, folder.home
    if study.coordinator.key != home.identity.public:
        raise InvalidParameter(
            "the study in {path!r} names a coordinator other than {name!r}.",
            hint="serve it from the folder where it was created",
            path=str(folder.path),
            name=home.card.name,
        )
    study.check_ratio()
    _check_certificate(settings)
    raise_file_limit()
    with (
        folder.locked(),
        closing(CoordinatorStore(folder.log, study.digest)) as store,
        _listening_socket(settings) as listening,
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
            server = _make_server(config, broker, stopping)
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
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    base = f"{'https' if settings.secure else 'http'}://{host}:{port}"
    return ServerUrls(base, f"{base}/?token={token}", stop)


def _check_certificate(settings: ServerSettings) -> None:
    """Refuse a bad certificate now, and not at the first connection."""
    if settings.certificate is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.certificate, settings.key, lambda: "")
    except (ssl.SSLError, OSError) as error:
        why = getattr(error, "reason", None) or error.strerror or "it cannot be read"
        raise InvalidParameter(
            "the certificate {certificate!r} with its key cannot be used: {why}.",
            hint="both must be PEM files that belong together, and the key must not have a password",
            certificate=str(settings.certificate),
            why=str(why).lower(),
        ) from None


def _listening_socket(settings: ServerSettings) -> socket.socket:
    # IPPROTO_TCP is explicit: only then does asyncio set TCP_NODELAY, without which each small answer takes 40 ms.
    listening = socket.socket(
        socket.AF_INET6 if ":" in settings.host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )
    try:
        if os.name == "posix":  # a server that restarts at once finds its port free
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((settings.host, settings.port))
        listening.listen(1024)
        return listening
    except (OSError, OverflowError) as error:
        listening.close()
        raise InvalidParameter(
            "cannot listen at {host} port {port}: {strerror}.",
            hint="--port 0 takes any free port; --host names an address of this machine",
            host=shorten(settings.host),
            port=settings.port,
            strerror=getattr(error, "strerror", None) or error,
        ) from None


def _make_server(config: Any, broker: Any, stopping: threading.Event) -> Any:
    import uvicorn

    class Server(uvicorn.Server):
        """Stops when it is told to, and first ends all polls."""

        async def on_tick(self, counter: int) -> bool:
            return await super().on_tick(counter) or stopping.is_set()

        async def startup(self, sockets: Any = None) -> None:
            loop = asyncio.get_running_loop()
            if config.ssl is not None:  # uvicorn has no setting for it, and asyncio waits a minute
                loop.create_server = partial(loop.create_server, ssl_handshake_timeout=HANDSHAKE_SECONDS)  # type: ignore
            await super().startup(sockets)

        async def shutdown(self, sockets: Any = None) -> None:
            broker.close()
            await super().shutdown(sockets)

    return Server(config)


def log_to_stderr() -> None:
    """Log one line for each event: when, and what; no payload, no token."""
    log = logging.getLogger("murmure.coordinator")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s  %(message)s", "%H:%M:%S"))
    log.handlers, log.propagate = [handler], False
    log.setLevel(logging.INFO)
