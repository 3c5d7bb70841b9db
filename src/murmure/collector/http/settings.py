"""How a collector is served, as far as its answers depend on it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class WebSettings:
    """public_url: the address that respondents use, if it is not that of the request. secure: cookies travel over TLS
    only. trust_proxy: the address of a client is what the proxy says it is. metrics_token: opens /metrics."""

    public_url: str | None = None
    secure: bool = False
    trust_proxy: bool = False
    metrics_token: str | None = field(default=None, repr=False)
