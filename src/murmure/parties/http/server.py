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

from murmure.core.errors import InvalidParameter, MissingExtra, shorten
from murmure.parties.coordinator.folders import StudyFolder
from murmure.parties.coordinator.release_log import ReleaseLog
from murmure.parties.coordinator.runner import DEFAULT_PATIENCE, DEFAULT_WAIT_TO_JOIN, CoordinatorRunner
from murmure.parties.coordinator.status_view import StatusView
from murmure.parties.coordinator.store import CoordinatorStore

GRACE = 5  # seconds for answers that are under way when the server stops
HANDSHAKE = 10.0  # seconds for the greeting of TLS


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
    """parties: what they are told. page: with its token; whoever has it may look. stop: for another thread."""

    parties: str
    page: str
    stop: Callable[[], None] = lambda: None


def serve(
    folder: StudyFolder, how: ServerSettings, started: Callable[[ServerUrls], None] = lambda where: None
) -> StatusView:
    """Until the study is over (or for ever, once=False): how it stands then."""
    try:
        import uvicorn

        from murmure.parties.http.routes import make_app
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "h11"):
            raise
        raise MissingExtra("a coordinator", "starlette and uvicorn", "service") from None
    from murmure.parties.coordinator.broker import MessageBroker
    from murmure.parties.http.connections import TimedProtocol, raise_file_limit

    study, home = folder.study, folder.home
    if study.coordinator.key != home.identity.public:
        raise InvalidParameter(
            f"the study in {str(folder.path)!r} names another coordinator than {home.card.name!r}.",
            hint="serve it from the folder in which it was made",
        )
    study.check_ratio()
    _check_certificate(how)
    raise_file_limit()
    with folder.locked(), closing(CoordinatorStore(folder.log, study.digest)) as store, _bound(how) as listening:
        runner = CoordinatorRunner(
            study,
            home.identity,
            store,
            ReleaseLog(home.release_log),
            how.wait,
            how.patience,
            say=logging.getLogger("murmure.coordinator").info,
        )

        async def run() -> MessageBroker:
            desk = MessageBroker(runner, over, how.patience)
            config: Any = uvicorn.Config(
                make_app(desk, folder.signed, folder.token, how.secure),
                http=TimedProtocol,
                ws="none",
                lifespan="on",
                log_config=None,
                log_level="critical",  # uvicorn's own lines name addresses, which hold the token
                access_log=False,
                server_header=False,
                timeout_keep_alive=20,
                timeout_graceful_shutdown=GRACE,
                ssl_certfile=how.certificate,
                ssl_keyfile=how.key,
            )
            server = _server(config, desk, leaving)
            await server.serve(sockets=[listening])
            return desk

        leaving = threading.Event()

        def over(desk: MessageBroker) -> None:
            if how.once or desk.failed is not None:
                leaving.set()

        started(addresses(how, listening.getsockname()[1], folder.token, leaving.set))
        desk = asyncio.run(run())
        if desk.failed is not None:
            raise desk.failed
        return StatusView.of(runner)


def addresses(how: ServerSettings, port: int, token: str, stop: Callable[[], None]) -> ServerUrls:
    host = f"[{how.host}]" if ":" in how.host else how.host
    base = f"{'https' if how.secure else 'http'}://{host}:{port}"
    return ServerUrls(base, f"{base}/?token={token}", stop)


def _check_certificate(how: ServerSettings) -> None:
    """Refused now, and not at the first connection."""
    if how.certificate is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(how.certificate, how.key, lambda: "")
    except (ssl.SSLError, OSError) as error:
        why = getattr(error, "reason", None) or error.strerror or "it cannot be read"
        raise InvalidParameter(
            f"the certificate {str(how.certificate)!r} with its key cannot be used: {str(why).lower()}.",
            hint="both are PEM, belong together, and the key has no password",
        ) from None


def _bound(how: ServerSettings) -> socket.socket:
    # Said to be TCP, since asyncio sends small answers at once (TCP_NODELAY) only where it is said: 40 ms each.
    listening = socket.socket(
        socket.AF_INET6 if ":" in how.host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )
    try:
        if os.name == "posix":  # started again at once, it finds its port free
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((how.host, how.port))
        listening.listen(1024)
        return listening
    except (OSError, OverflowError) as error:
        listening.close()
        raise InvalidParameter(
            f"cannot listen at {shorten(how.host)} port {how.port}: {getattr(error, 'strerror', None) or error}.",
            hint="--port 0 takes any free port; --host names an address of this machine",
        ) from None


def _server(config: Any, desk: Any, leaving: threading.Event) -> Any:
    import uvicorn

    class Server(uvicorn.Server):
        """Stops when it is told to, and first lets go of everybody who waits."""

        async def on_tick(self, counter: int) -> bool:
            return await super().on_tick(counter) or leaving.is_set()

        async def startup(self, sockets: Any = None) -> None:
            loop = asyncio.get_running_loop()
            if config.ssl is not None:  # uvicorn has no setting for it, and asyncio waits a minute
                loop.create_server = partial(loop.create_server, ssl_handshake_timeout=HANDSHAKE)  # type: ignore
            await super().startup(sockets)

        async def shutdown(self, sockets: Any = None) -> None:
            desk.close()
            await super().shutdown(sockets)

    return Server(config)


def log_to_stderr() -> None:
    """One line for each event: when, and what; no payload, no token."""
    log = logging.getLogger("murmure.coordinator")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s  %(message)s", "%H:%M:%S"))
    log.handlers, log.propagate = [handler], False
    log.setLevel(logging.INFO)
