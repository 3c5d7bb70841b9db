"""How this copy of Murmure was installed, and so what to type to add one of its extras, or to have its command.

`pip install "murmure[tables]"` looks for murmure on a package index, where it need not be. The packages of an extra are
on one, and installing them has the same effect: an extra is nothing but their names.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

NAME = "murmure"


def install_command(*extras: str) -> str:
    """What a person types to get these extras into the environment that is running.

    In a clone with its own .venv that is script/setup; pipx and uv have commands of their own; else it is pip's.
    """
    setup = _setup_script()
    if setup is not None:
        return " ".join([setup, *extras])
    packages = [f'"{package}"' for package in requirements(*extras)]
    if (Path(sys.prefix) / "pipx_metadata.json").exists():
        return " ".join(["pipx", "inject", Path(sys.prefix).name, *packages])
    # uv makes environments without pip, for tools and others
    if (Path(sys.prefix) / "uv-receipt.toml").exists() or find_spec("pip") is None:
        return " ".join(["uv", "pip", "install", "--python", _quoted(sys.executable), *packages])
    return " ".join([_python(), "-m", "pip", "install", *packages])


def activation_command() -> str | None:
    """What puts the command `murmure` on the PATH of a terminal; None: it is there, or nothing is known to."""
    script = Path(sys.prefix) / "bin" / "activate"
    if shutil.which(NAME) is not None or not script.is_file():
        return None
    here = Path.cwd()
    return " ".join(["source", _quoted(str(script.relative_to(here) if script.is_relative_to(here) else script))])


def requirements(*extras: str) -> list[str]:
    """The packages of these extras, as the metadata of the installed murmure lists them: pyarrow>=18."""
    try:
        lines = metadata.requires(NAME) or []
    except metadata.PackageNotFoundError:  # run from its sources, without being installed
        return [f"{NAME}[{','.join(extras)}]"]
    found = []
    for extra in extras:
        in_extra = re.compile(rf"""extra\s*==\s*["']{re.escape(extra)}["']""")
        pairs = [line.split(";", 1) for line in lines if ";" in line]
        found += [package.strip() for package, marker in pairs if in_extra.search(marker)]
    return list(dict.fromkeys(found))


def _setup_script() -> str | None:
    """script/setup of the clone whose .venv is running, as it is typed from here; None: this is no such clone."""
    clone = _editable_folder()
    if clone is None or not (clone / "script" / "setup").is_file() or Path(sys.prefix).resolve() != clone / ".venv":
        return None
    return "script/setup" if Path.cwd().resolve() == clone else _quoted(str(clone / "script" / "setup"))


def _editable_folder() -> Path | None:
    """The folder of the sources, where they are used in place (PEP 610)."""
    try:
        text = metadata.distribution(NAME).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None
    origin = json.loads(text) if text else {}
    if not origin.get("dir_info", {}).get("editable"):
        return None
    return Path(url2pathname(urlsplit(origin["url"]).path)).resolve()


def _python() -> str:
    """`python` if that is the one that is running, else its path."""
    found = shutil.which("python")
    running = Path(sys.executable)
    return "python" if found is not None and Path(found).parent == running.parent else _quoted(str(running))


def _quoted(path: str) -> str:
    return f'"{path}"' if re.search(r"[^\w./\\:+-]", path) else path
