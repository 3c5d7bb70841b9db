"""The address of a coordinator. One that cannot be read is not quoted: there may be a password in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from murmure.core.errors import InvalidParameter
from murmure.core.serving.listening import LOOPBACK
from murmure.parties.party.refusals import Untrusted

HOST = re.compile(r"(?!.*[^.]{64})[A-Za-z0-9._:-]{1,253}")  # a name, or an address of either kind
PATH = re.compile(r"[A-Za-z0-9._~/-]*")


@dataclass(frozen=True)
class Address:
    """The address of a coordinator: https, or http to this machine."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def of(cls, url: str, plain: bool = False) -> Address:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            parts, host, port = urlsplit(""), None, None
        odd = parts.query or parts.fragment or "@" in parts.netloc or not PATH.fullmatch(parts.path)
        if parts.scheme not in ("http", "https") or not host or not HOST.fullmatch(host) or odd:
            raise InvalidParameter("the coordinator's address cannot be read.", hint="write https://host:port")
        if parts.scheme == "http" and host not in LOOPBACK and not plain:
            raise Untrusted(
                "http://{host} is not encrypted: anyone on the network could read the study and its result.",
                hint="write https://...; on your own network --plain-http allows it",
                host=host,
            )
        return cls(parts.scheme, host, port or (443 if parts.scheme == "https" else 80), parts.path.rstrip("/"))

    @property
    def url(self) -> str:
        """One spelling, by which a coordinator is recognised."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"
