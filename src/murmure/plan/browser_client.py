"""The client for browsers: where its modules are, and their digests, by which anybody can check what a page loaded.

A wheel has the modules beside the package (`murmure/clients/js`); a checkout has them in `clients/js`.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import murmure

PLACES = ("clients/js", "../../clients/js")  # in a wheel, and in a checkout


def client_folder() -> Path:
    """The folder of the modules; `murmure.js` is the one to import."""
    package = Path(murmure.__file__).parent
    return next(folder for folder in (package.joinpath(place).resolve() for place in PLACES) if folder.is_dir())


def client_modules() -> dict[str, bytes]:
    """Every module that a page may load, by name."""
    return {path.name: path.read_bytes() for path in sorted(client_folder().glob("*.js"))}


def module_digests() -> list[tuple[str, str, str]]:
    """For each module its name, its SHA-256, and what an `integrity` attribute holds."""
    return [
        (name, hashlib.sha256(text).hexdigest(), f"sha384-{base64.b64encode(hashlib.sha384(text).digest()).decode()}")
        for name, text in client_modules().items()
    ]


def client_digest() -> str:
    """One digest for all modules: the SHA-256 of the lines of `sha256sum *.js`."""
    lines = "".join(f"{digest}  {name}\n" for name, digest, _ in module_digests())
    return hashlib.sha256(lines.encode()).hexdigest()
