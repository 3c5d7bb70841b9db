"""A study between machines that share nothing but a switch: each process in a network namespace of its own, over TLS.

Needs Linux, `ip`, and the right to make namespaces (root, as in a container); elsewhere it is skipped and says so.
"""

from __future__ import annotations

import datetime
import ipaddress
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PARTIES = 5
MURMURE = [sys.executable, "-m", "murmure"]
ADDRESS = "10.213.77.{}"
STUDY = """\
name = "Stay"
purpose = "Across a switch."
dropouts = 1
rows = 1000

[[queries]]
sums = ["age", "age * stay"]

[columns.age]
type = "integers"
low = 0
high = 120

[columns.stay]
type = "integers"
low = 0
high = 60
"""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True, timeout=20)


class Switch:
    """A namespace with a bridge, and one namespace for each machine, plugged into it."""

    def __init__(self, machines: int) -> None:
        self.mark = f"mu{os.getpid()}"
        self.made: list[str] = []
        self.middle = self._space("switch")
        ip("-n", self.middle, "link", "add", "bridge", "type", "bridge")
        ip("-n", self.middle, "link", "set", "bridge", "up")
        self.machines = [self._plugged(i) for i in range(machines)]

    def _space(self, name: str) -> str:
        ip("netns", "add", f"{self.mark}-{name}")
        self.made.append(f"{self.mark}-{name}")
        return self.made[-1]

    def _plugged(self, i: int) -> str:
        space = self._space(str(i))
        ip("-n", self.middle, "link", "add", f"port{i}", "type", "veth", "peer", "name", "line", "netns", space)
        ip("-n", self.middle, "link", "set", f"port{i}", "master", "bridge", "up")
        ip("-n", space, "addr", "add", f"{ADDRESS.format(i + 1)}/24", "dev", "line")
        for link in ("line", "lo"):
            ip("-n", space, "link", "set", link, "up")
        return space

    def plug(self, i: int, state: str) -> None:
        """The cable of one machine: up or down."""
        ip("-n", self.middle, "link", "set", f"port{i}", state)

    def run(self, i: int, *words: str) -> subprocess.Popen[str]:
        command = ["ip", "netns", "exec", self.machines[i], *MURMURE, *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def close(self) -> None:
        for space in self.made:
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)


@pytest.fixture
def switch() -> Iterator[Switch]:
    if shutil.which("ip") is None:
        pytest.skip("there is no command ip")
    probe = f"mu{os.getpid()}-probe"
    try:
        ip("netns", "add", probe)
        ip("netns", "exec", probe, "true")
        ip("-n", probe, "link", "add", "bridge", "type", "bridge")
    except (subprocess.SubprocessError, OSError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[:1]
        pytest.skip(f"no network namespace can be made here: {said[0] if said else 'no reason is given'}")
    finally:
        subprocess.run(["ip", "netns", "del", probe], capture_output=True, check=False)
    made = Switch(PARTIES + 1)
    yield made
    made.close()


def certificate(folder: Path, address: str) -> tuple[Path, Path]:
    """Signed by itself, for this address, for an hour."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "coordinator")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        .sign(key, hashes.SHA256())
    )
    pem, secret = folder / "certificate.pem", folder / "key.pem"
    pem.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return pem, secret


def murmure(*words: str) -> Any:
    done = subprocess.run([*MURMURE, *words, "--json"], capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def rows(i: int) -> list[tuple[int, int]]:
    return [((7 * i + 3 * k) % 121, (5 * i + k) % 61) for k in range(20)]


def wait_for(process: subprocess.Popen[str], words: str) -> None:
    """Until this stands in what it says."""
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return
    raise AssertionError(f"it ended before it said {words!r}")


@pytest.mark.slow
def test_parties_on_machines_of_their_own_get_the_exact_sum_though_a_cable_is_cut(
    switch: Switch, tmp_path: Path
) -> None:
    """Six machines, TLS. A party whose cable is out for two seconds is in the sum; another is unplugged for good."""
    murmure("study", "init", str(tmp_path / "office"), "--name", "Office")
    homes = [tmp_path / f"party-{i}" for i in range(PARTIES)]
    for i, home in enumerate(homes):
        murmure("party", "init", str(home), "--name", f"Party {i}")
        lines = "".join(f"{age},{stay}\n" for age, stay in rows(i))
        (home / "rows.csv").write_text(f"age,stay\n{lines}")
    (tmp_path / "study.toml").write_text(STUDY)
    cards = [str(home / "card.json") for home in homes]
    made = murmure("study", "new", str(tmp_path / "office"), str(tmp_path / "study.toml"), *cards)

    pem, key = certificate(tmp_path, ADDRESS.format(PARTIES + 1))
    where = ("--host", ADDRESS.format(PARTIES + 1), "--port", "8460", "--patience", "8")
    tls = ("--certificate", str(pem), "--key", str(key))
    running = [switch.run(PARTIES, "study", "run", made["folder"], *where, *tls, "--json")]
    try:
        assert running[0].stdout is not None
        url = json.loads(running[0].stdout.readline())["url"]
        assert url.startswith("https://10.")
        approve = ("--approve", made["digest"], "--ca", str(pem), "--minimum-parties", "4", "--verbose", "--json")
        for i, home in enumerate(homes):
            running.append(
                switch.run(i, "party", "join", url, "--home", str(home), "--rows", str(home / "rows.csv"), *approve)
            )
        coordinator, cut, unplugged = running[0], running[1], running[2]
        wait_for(unplugged, "keys sent")
        switch.plug(1, "down")  # for good: it never hears who else has joined, or never answers
        wait_for(cut, "keys sent")
        switch.plug(0, "down")
        time.sleep(2)
        switch.plug(0, "up")
        stays = [0, 2, 3, 4]
        told = {i: running[1 + i].communicate(timeout=90) for i in stays}
        for i, (out, errors) in told.items():
            assert running[1 + i].returncode == 0, (i, errors[-500:])
            (result,) = json.loads(out)["results"]
            assert result["cohort"] == [f"Party {j}" for j in stays]
            every = [row for j in stays for row in rows(j)]
            true = [len(every), sum(age for age, _ in every), sum(age * stay for age, stay in every)]
            assert [int(v) for v in result["sums"]] == true
        assert coordinator.wait(60) == 0
    finally:
        for process in running:
            if process.poll() is None:
                process.kill()
            process.communicate()
