"""What pages load: their style sheet and modules, and the modules of the browser's client.

Every file has a fixed address, /static/NAME or /client/NAME. Pages ask for it below a prefix that changes with any of
the files, /v/RELEASE/static/NAME: such an answer never changes, so a browser may keep it for good. Modules import one
another by relative paths, and so stay below the prefix of the page.

The client's modules are served byte for byte, so that anybody can compare their digests. Those of pages are served
without their comments, which are a sixth of what a telephone would have to load.
"""

from __future__ import annotations

import gzip
import hashlib
import posixpath
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from murmure.plan.browser_client import client_modules
from murmure.show.html import style_sheet

FOLDER = Path(__file__).parent / "static"
KINDS = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
IMPORT = re.compile(r'^(?:import|export)\b[^;"]*"(\.{1,2}/[^"]+)"', re.MULTILINE)  # at the start of a line: no comment
COMMENT = re.compile(r"^ *(?://.*|/\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)  # whole lines of it
REMARK = re.compile(r"(?<=[;,{})]) +// [^\"'`\n]*$", re.MULTILINE)  # at the end of a line, and in no text
FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One file as it is served. kind: its media type. gzipped: the same bytes, compressed once."""

    content: bytes
    kind: str
    gzipped: bytes

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


@cache
def static_files() -> dict[str, StaticFile]:
    """By path: "static/collector.css", "client/plan.js"."""
    paths = [path for path in sorted(FOLDER.iterdir()) if path.suffix in KINDS]
    files = {f"static/{path.name}": REMARK.sub("", COMMENT.sub("", path.read_text("utf-8"))).encode() for path in paths}
    files |= {f"client/{name}": content for name, content in client_modules().items()}
    files["static/document.css"] = style_sheet().encode()  # results are drawn as in reports
    return {
        path: StaticFile(content, KINDS[posixpath.splitext(path)[1]], gzip.compress(content, 9, mtime=0))
        for path, content in files.items()
    }


@cache
def release() -> str:
    """Changes when any file changes. The digest of the lines of `sha256sum`, for all files in order of their paths."""
    lines = "".join(f"{file.digest}  {path}\n" for path, file in sorted(static_files().items()))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def address(path: str) -> str:
    """Where a page finds a file of this release."""
    return f"/v/{release()}/{path}"


@cache
def imported_modules(*roots: str) -> tuple[str, ...]:
    """These modules and all that they import: a page names them at once, so that no telephone walks the imports."""
    found: dict[str, None] = {}
    waiting = list(roots)
    while waiting:
        path = waiting.pop(0)
        if path in found:
            continue
        found[path] = None
        text = static_files()[path].content.decode()
        folder = posixpath.dirname(path)
        waiting += [posixpath.normpath(posixpath.join(folder, name)) for name in IMPORT.findall(text)]
    return tuple(found)
