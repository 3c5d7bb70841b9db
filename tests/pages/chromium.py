"""Where the machine's Chromium is. `python tests/pages/chromium.py`, a stage of script/test, installs one if it may.

Playwright would download a browser of its own; a browser from the distribution is updated with the machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

VARIABLE = "MURMURE_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome")


class NotInstalled(Exception):
    """There is no Chromium; the message says how to get one."""


def find() -> str:
    """The path of Chromium: the one that MURMURE_CHROMIUM names, and no other; without it the first of NAMES."""
    chosen = os.environ.get(VARIABLE)
    for name in (chosen,) if chosen else NAMES:
        if path := shutil.which(name):
            return path
    if chosen:
        raise NotInstalled(f"{VARIABLE}={chosen} is not a program: name a Chromium there, or unset {VARIABLE}.")
    raise NotInstalled(f"no Chromium: install one (Debian: apt-get install chromium) or set {VARIABLE} to its path.")


def is_required() -> bool:
    """In continuous integration a missing browser is a failure: a skipped test would look like a passed one."""
    return os.environ.get("CI") == "true"


def install() -> str:
    """find(), after Debian's package was installed; raises NotInstalled with apt-get's last words where it failed."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # A fresh container has no lists of packages. Whether the update failed, the installation will tell.
    subprocess.run(["apt-get", "update", "-qq"], env=environment, capture_output=True)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise NotInstalled(
            f"no Chromium, and apt-get could not install it ({last}): set {VARIABLE} to the path of one."
        )
    return find()


def find_or_install() -> str:
    try:
        return find()
    except NotInstalled:
        if os.environ.get(VARIABLE) or os.geteuid() != 0 or shutil.which("apt-get") is None:
            raise
    print("installing Debian's package chromium", flush=True)
    return install()


def find_or_skip() -> str:
    """For tests: without a browser they are skipped, or fail where it is required."""
    import pytest  # not for script/test, which only looks

    try:
        return find()
    except NotInstalled as error:
        (pytest.fail if is_required() else pytest.skip)(str(error))


def main() -> int:
    try:
        print(find_or_install())
    except NotInstalled as error:
        print(error if is_required() else f"the tests of pages will be skipped: {error}", file=sys.stderr)
        return int(is_required())
    return 0


if __name__ == "__main__":
    sys.exit(main())
