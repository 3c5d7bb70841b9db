"""One virtual environment per peer, because their pins contradict one another, and ours."""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / ".bench"  # ignored by git
PEERS = ("pure-ldp", "multi-freq-ldpy", "diffprivlib", "opendp", "scikit-learn", "flower", "statsmodels", "lifelines")
PACKAGES = {"flower": "flwr"}  # where the package has another name


def python_of(peer):
    """The interpreter of the peer's environment, built first when its requirements have changed."""
    home = PLACE / peer
    python = home / "bin" / "python"
    requirements = ROOT / "bench" / "peers" / f"{peer}.txt"
    stamp = home / "installed.txt"  # written last: an interrupted build does not look finished
    wanted = f"{sys.version}\n{requirements.read_text()}"
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"bench: installing {peer} in .bench/{peer}", file=sys.stderr, flush=True)
        shutil.rmtree(home, ignore_errors=True)
        venv.create(home, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", requirements], check=True)
        stamp.write_text(wanted)
    return python


def versions(python, names):
    """Installed versions, read in that environment."""
    code = "import sys; from importlib.metadata import version; [print(n, version(n)) for n in sys.argv[1:]]"
    done = subprocess.run([python, "-c", code, *names], capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:-1]
