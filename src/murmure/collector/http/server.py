"""One process that serves one folder of surveys: the socket, TLS, uvicorn, and how it stops.

It stops on SIGTERM, SIGINT and SIGHUP: nobody new is let in, requests that are under way are answered (for at most five
seconds), everything acknowledged is folded, and the files are closed. A second Ctrl-C leaves at once; nothing that was
acknowledged is lost even then, since it was on the disk before it was acknowledged.

Nothing about a request is logged anywhere: no address, no path, no time.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from murmure.core.errors import MissingExtra, Phrase
from murmure.core.serving.listening import base_url, check_certificate, listening_socket, reachable_address

if TYPE_CHECKING:
    import socket

    from murmure.collector.service.collector import Collector

EVERYWHERE = {"0.0.0.0", "::"}  # all addresses of this machine
LEFT_AT_ONCE = 130  # the exit code of a second Ctrl-C, as of other programs
EXTRAS = ("starlette", "uvicorn", "httptools", "uvloop", "msgspec", "argon2", "segno")
Nothing = Callable[[], None]


@dataclass(frozen=True)
class ServeSettings:
    """How a folder is served.

    public_url: where respondents find it, if that is not this socket: links, QR codes and cookies follow from it.
    trust_proxy: requests come from a reverse proxy, whose X-Forwarded-For is used for limits of rates, in memory only.
    metrics_token: who may read /metrics; without one nobody may.
    """

    host: str = "127.0.0.1"
    port: int = 0
    certificate: Path | None = None
    key: Path | None = None
    public_url: str | None = None
    trust_proxy: bool = False
    metrics_token: str | None = field(default=None, repr=False)

    @property
    def tls(self) -> bool:
        return self.certificate is not None


@dataclass(frozen=True)
class ServiceUrls:
    """base: what links begin with. setup: the page that makes the first account, while there is none."""

    base: str
    port: int
    setup: str | None = field(default=None, repr=False)
    stop: Nothing = lambda: None


def serve(
    folder: Path,
    settings: ServeSettings,
    on_start: Callable[[ServiceUrls], None] = lambda urls: None,
    on_stop: Nothing = lambda: None,
) -> None:
    """Serve until a signal, or until another thread calls `stop`. Returns when everything is closed."""
    check_certificate(settings.certificate, settings.key)
    stopping = threading.Event()
    with listening_socket(settings.host, settings.port) as listening, stopping_on_signals(stopping):
        collector = open_collector(folder)  # people who connect meanwhile wait in the socket's queue

        async def run() -> None:
            try:
                await _serve(collector, settings, listening, stopping, on_start, on_stop)
            finally:  # while the loop still takes what the writer reports
                collector.close()

        run_to_end(run())


@contextmanager
def serving(collector: Collector, settings: ServeSettings) -> Iterator[ServiceUrls]:
    """The same in a thread, for as long as the block lasts. The collector stays open afterwards."""
    check_certificate(settings.certificate, settings.key)
    started, stopping = threading.Event(), threading.Event()
    urls: list[ServiceUrls] = []
    failures: list[BaseException] = []

    def on_start(where: ServiceUrls) -> None:
        urls.append(where)
        started.set()

    def run(listening: socket.socket) -> None:
        try:
            run_to_end(_serve(collector, settings, listening, stopping, on_start, lambda: None))
        except BaseException as error:
            failures.append(error)
        finally:
            started.set()

    with listening_socket(settings.host, settings.port) as listening:
        thread = threading.Thread(target=run, args=(listening,), name="collector", daemon=True)
        thread.start()
        try:
            started.wait()
            if failures:
                raise failures[0]
            yield urls[0]
        finally:
            stopping.set()
            thread.join()


async def _serve(
    collector: Collector,
    settings: ServeSettings,
    listening: socket.socket,
    stopping: threading.Event,
    on_start: Callable[[ServiceUrls], None],
    on_stop: Nothing,
) -> None:
    try:
        from murmure.collector.http.app import WebSettings, make_app
    except ImportError as error:
        raise _missing_extra(error) from None
    port = listening.getsockname()[1]
    base = settings.public_url or base_url(_name_of(settings.host), port, settings.tls)
    web = WebSettings(
        public_url=base,
        secure=base.startswith("https:"),
        trust_proxy=settings.trust_proxy,
        metrics_token=settings.metrics_token,
    )

    def started() -> None:
        token = collector.analysts.setup_token()
        on_start(ServiceUrls(base, port, token and f"{base}/first?setup={token}", stopping.set))

    await serve_app(make_app(collector, web), settings, listening, stopping, started, on_stop)


async def serve_app(
    app: Any,
    settings: ServeSettings,
    listening: socket.socket,
    stopping: threading.Event,
    on_start: Nothing = lambda: None,
    on_stop: Nothing = lambda: None,
) -> None:
    """Any ASGI app, on one socket, until `stopping` is set."""
    try:
        import uvicorn

        from murmure.collector.http.connections import RespondentConnection
        from murmure.core.serving.stoppable_server import SHUTDOWN_SECONDS, StoppableServer
    except ImportError as error:
        raise _missing_extra(error) from None

    class Server(StoppableServer):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield  # `stopping_on_signals` has them, until the files are closed

        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            on_start()

    RespondentConnection.configure(behind_proxy=settings.trust_proxy)
    config: Any = uvicorn.Config(
        app,
        http=RespondentConnection,
        ws="none",
        lifespan="auto",
        log_config=None,
        log_level="critical",  # uvicorn's own lines name addresses and paths
        access_log=False,
        server_header=False,
        proxy_headers=False,  # the app reads them, for limits of rates only
        timeout_keep_alive=int(RespondentConnection.silent_seconds),
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.key,
    )
    # What goes wrong on a connection would be logged with its address.
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    await Server(config, stopping, on_stop).serve(sockets=[listening])
    for connection in list(RespondentConnection.opened):  # a loop with open TLS connections is not closed in time
        connection.transport.abort()


def run_to_end(main: Coroutine[Any, Any, None]) -> None:
    """On uvloop, where there is one: a request then costs a third of what it costs otherwise."""
    new_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    with suppress(ImportError):  # not on Windows
        from uvloop import new_event_loop as new_loop
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(main)


@contextmanager
def stopping_on_signals(stopping: threading.Event) -> Iterator[None]:
    """The first signal stops in order; a second Ctrl-C leaves at once."""

    def stop(number: int, frame: object) -> None:
        if stopping.is_set() and number == signal.SIGINT:
            os._exit(LEFT_AT_ONCE)
        stopping.set()

    known = signal.Signals.__members__  # Windows has no SIGHUP
    signals = [known[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if name in known]
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # One that is ignored stays so: nohup, and jobs in the background.
    earlier = {number: signal.getsignal(number) for number in signals}
    for number in signals:
        if earlier[number] is not signal.SIG_IGN:
            signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def open_collector(folder: Path) -> Collector:
    try:
        from murmure.collector.service.collector import Collector
    except ImportError as error:
        raise _missing_extra(error) from None
    return Collector(folder)


def _missing_extra(error: ImportError) -> ImportError:
    """An import error inside our own modules must not be hidden."""
    if (error.name or "").partition(".")[0] not in EXTRAS:
        return error
    return MissingExtra(Phrase("a collector"), Phrase("starlette, uvicorn, httptools and others"), "collector")


def _name_of(host: str) -> str:
    """What links say: an address that others can reach, where the socket listens at all of them."""
    return (reachable_address() or "127.0.0.1") if host in EVERYWHERE else host
