"""What to type for an extra, in every way in which Murmure may be installed."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from murmure.core import installation
from murmure.core.errors import MissingExtra
from murmure.core.installation import activation_command, install_command, requirements

ROOT = Path(__file__).parents[2]
REQUIRES = metadata.requires("murmure")

TABLES = '"pyarrow>=18" "python-calamine>=0.4"'  # the packages of the extra


class FakeDistribution:
    """Installed metadata that says where the package came from (PEP 610)."""

    def __init__(self, origin: dict[str, object] | None) -> None:
        self.origin, self.requires = origin, REQUIRES

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.origin is None else json.dumps(self.origin)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment of its own, into which a wheel was installed; its python is first on the PATH."""
    prefix = tmp_path / "an environment"
    (prefix / "bin").mkdir(parents=True)
    python = prefix / "bin" / "python"
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setenv("PATH", str(python.parent))
    monkeypatch.setattr(metadata, "distribution", lambda name: FakeDistribution({"url": "file:///m.whl"}))
    monkeypatch.setattr(installation, "find_spec", lambda name: name)
    monkeypatch.chdir(tmp_path)
    return prefix


def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str = ".venv") -> Path:
    folder = tmp_path / "clone"
    (folder / "script").mkdir(parents=True)
    (folder / "script" / "setup").write_text("#!/bin/sh\n")
    origin = {"url": folder.as_uri(), "dir_info": {"editable": True}}
    monkeypatch.setattr(metadata, "distribution", lambda name: FakeDistribution(origin))
    monkeypatch.setattr(sys, "prefix", str(folder / prefix))
    return folder


@pytest.mark.parametrize("extra", ["fast", "tables", "plots", "spark", "java", "postgres", "duckdb", "service"])
def test_an_extra_is_its_packages(extra: str) -> None:
    """The installed metadata lists what pyproject.toml lists."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert sorted(requirements(extra)) == sorted(project["optional-dependencies"][extra])


def test_several_extras_name_a_package_once() -> None:
    assert requirements("tables", "spark").count("pyarrow>=18") == 1


def test_from_a_wheel(environment: Path) -> None:
    """No index has murmure; those of its extras are on one. `python` is the one that runs."""
    assert install_command("tables") == 'python -m pip install "pyarrow>=18" "python-calamine>=0.4"'
    assert install_command("postgres") == 'python -m pip install "psycopg[binary]>=3.2"'


def test_another_python_is_named_by_its_path(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    assert install_command("tables") == f'"{environment}/bin/python" -m pip install {TABLES}'


def test_with_pipx(environment: Path) -> None:
    (environment / "pipx_metadata.json").write_text("{}")

    assert install_command("tables", "plots") == f'pipx inject an environment {TABLES} "matplotlib>=3.9"'.replace(
        "an environment", environment.name
    )


def test_with_uv_tool(environment: Path) -> None:
    (environment / "uv-receipt.toml").write_text("")

    assert install_command("tables") == f'uv pip install --python "{environment}/bin/python" {TABLES}'


def test_without_pip(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "find_spec", lambda name: None)

    assert install_command("tables").startswith("uv pip install --python ")


def test_in_a_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """script/setup, by its path from elsewhere."""
    folder = clone(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    assert install_command("tables", "plots") == f"{folder}/script/setup tables plots"
    monkeypatch.chdir(folder)
    assert install_command("tables") == "script/setup tables"


def test_in_another_environment_of_a_clone(environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """script/setup would fill the clone's .venv, which is not the one that runs."""
    clone(tmp_path, monkeypatch, "elsewhere")

    assert install_command("tables") == 'python -m pip install "pyarrow>=18" "python-calamine>=0.4"'


def test_without_being_installed(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    monkeypatch.setattr(metadata, "requires", missing)

    assert install_command("tables") == 'python -m pip install "murmure[tables]"'


def test_the_error_says_it(environment: Path) -> None:
    error = MissingExtra("reading tables", "pyarrow", "tables")

    assert str(error) == (
        "reading tables needs pyarrow, which is not installed.\n"
        '  Hint: install it (the extra tables) with: python -m pip install "pyarrow>=18" "python-calamine>=0.4"'
    )


def test_every_extra_that_an_error_names_exists() -> None:
    """A hint for an extra that pyproject.toml lacks would install nothing."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")]
    named = {name for text in sources for name in re.findall(r'MissingExtra\((?:[^()]|\([^()]*\))*, "(\w+)"\)', text)}

    assert named >= {"tables", "plots", "postgres"} and named <= set(extras)


def test_a_command_that_is_not_on_the_path(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Started by its path, as README.md allows: what is to be typed next would not be found."""
    (environment / "bin" / "activate").write_text("")

    assert activation_command() == f'source "{environment.name}/bin/activate"'
    (environment / "elsewhere").mkdir()
    monkeypatch.chdir(environment / "elsewhere")
    assert activation_command() == f'source "{environment}/bin/activate"'

    murmure = environment / "bin" / "murmure"
    murmure.write_text("#!/bin/sh\n")
    murmure.chmod(0o755)
    assert activation_command() is None


def test_without_a_script_to_activate_nothing_is_advised(environment: Path) -> None:
    assert activation_command() is None
