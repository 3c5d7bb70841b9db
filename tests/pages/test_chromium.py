"""A missing browser is installed, skipped or a failure: which one depends on who runs the tests, and where."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pages import chromium

BROWSER = "#!/bin/sh\n"
# installs itself a browser into the folder that it was started from
APT_GET = """#!/bin/sh
echo "$@" >>"$0.log"
case $1 in install) printf '#!/bin/sh\\n' >"${0%/*}/chromium"; /bin/chmod 755 "${0%/*}/chromium" ;; esac
"""
BROKEN_APT_GET = "#!/bin/sh\necho 'E: Unable to locate package chromium' >&2\nexit 100\n"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the whole PATH of an ordinary user at home."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    for name in (chromium.VARIABLE, "CI"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def put(folder: Path, name: str, text: str = BROWSER) -> Path:
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)
    return folder / name


@pytest.mark.parametrize("name", chromium.NAMES)
def test_each_name_is_found(programs: Path, name: str) -> None:
    path = put(programs, name)

    assert str(path) == chromium.find()


def test_the_variable_wins_and_is_never_replaced(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who names a browser that is not there learns it, and tests no other."""
    put(programs, "chromium")
    monkeypatch.setenv(chromium.VARIABLE, str(put(programs, "mine")))
    assert str(programs / "mine") == chromium.find()

    monkeypatch.setenv(chromium.VARIABLE, str(programs / "nothing"))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    put(programs, "apt-get", APT_GET)
    with pytest.raises(chromium.NotInstalled, match="nothing is not a program"):
        chromium.find_or_install()


def test_a_user_is_told_how_to_get_one(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence, and the other tests go on."""
    put(programs, "apt-get", APT_GET)

    assert chromium.main() == 0
    told = capsys.readouterr().err
    assert "will be skipped" in told and "apt-get install chromium" in told and told.count("\n") == 1
    assert not (programs / "apt-get.log").exists()
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium"):
        chromium.find_or_skip()


def test_in_continuous_integration_it_is_a_failure(
    programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", "true")

    assert chromium.main() == 1
    assert "skipped" not in capsys.readouterr().err
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium"):
        chromium.find_or_skip()


def test_root_gets_it_from_the_distribution(
    programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    put(programs, "apt-get", APT_GET)

    assert chromium.main() == 0
    assert capsys.readouterr().out.splitlines()[-1] == str(programs / "chromium")
    asked = (programs / "apt-get.log").read_text().splitlines()
    assert asked[0].startswith("update") and asked[1].endswith("chromium")


def test_the_last_words_of_a_failed_installation_are_kept(
    programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    put(programs, "apt-get", BROKEN_APT_GET)

    assert chromium.main() == 0
    assert "Unable to locate package chromium" in capsys.readouterr().err
