"""Where a service listens: a socket, a certificate that is checked before anyone connects, and enough open files."""

from __future__ import annotations

import os
import socket
import ssl
from contextlib import suppress
from pathlib import Path

from murmure.core.errors import InvalidParameter, shorten

LOOPBACK = {"localhost", "127.0.0.1", "::1"}  # this machine: nobody can listen on the way
DEFAULT_MAX_FILES = 1024  # that a process may open, where the system does not say
UNLIMITED_FILES = 65_536  # asked for, where the system sets no limit


def check_certificate(certificate: Path | None, key: Path | None) -> None:
    """Refuse a bad certificate now, and not at the first connection."""
    if certificate is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, lambda: "")
    except (ssl.SSLError, OSError) as error:
        why = getattr(error, "reason", None) or error.strerror or "it cannot be read"
        raise InvalidParameter(
            "the certificate {certificate!r} with its key cannot be used: {why}.",
            hint="both must be PEM files that belong together, and the key must not have a password",
            certificate=str(certificate),
            why=str(why).lower(),
        ) from None


def listening_socket(host: str, port: int) -> socket.socket:
    # IPPROTO_TCP is explicit: only then does asyncio set TCP_NODELAY, without which each small answer takes 40 ms.
    listening = socket.socket(
        socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )
    try:
        if os.name == "posix":  # a server that restarts at once finds its port free
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(1024)
        return listening
    except (OSError, OverflowError, UnicodeError) as error:
        listening.close()
        raise InvalidParameter(
            "cannot listen at {host} port {port}: {strerror}.",
            hint="--port 0 takes any free port; --host names an address of this machine",
            host=shorten(host),
            port=port,
            strerror=getattr(error, "strerror", None) or error,
        ) from None


def base_url(host: str, port: int, secure: bool) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"{'https' if secure else 'http'}://{name}:{port}"


def reachable_address() -> str | None:
    """The address by which others on the same network reach this machine; None: it is on no network.

    Connecting a socket of datagrams sends nothing: the system only chooses the address that it would send from.
    """
    for family, somewhere in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):  # of documentation
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as datagrams:
            datagrams.connect((somewhere, 9))
            address = str(datagrams.getsockname()[0])
            if address not in LOOPBACK and not address.startswith(("127.", "0.", "fe80:")):
                return address
    return None


def raise_file_limit() -> int:
    """Raise the limit of open files as far as the system allows; returns it."""
    with suppress(ImportError, ValueError, OSError):
        _raise_limit()
    with suppress(ImportError, ValueError, OSError):  # not on Windows; and the limit may not be raised
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return soft if soft != resource.RLIM_INFINITY else UNLIMITED_FILES
    return DEFAULT_MAX_FILES


def _raise_limit() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = hard if hard != resource.RLIM_INFINITY else UNLIMITED_FILES
    if soft != resource.RLIM_INFINITY and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
