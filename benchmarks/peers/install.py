"""Make the environments of the peers: .peers/NAME, from the pinned requirements of each.

A peer that does not install is left out with its reason in .peers/NAME.failed, which the report
prints. Run: make bench-peers, or python benchmarks/peers/install.py [NAME ...]
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from pairgram.bench.speed.execute import INSTALLED
from pairgram.bench.speed.spec import CURRENT, REQUIREMENTS, Peer, read_peers

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parent.parent / ".peers"


def interpreter(versions: tuple[str, ...]) -> str | None:
    """Return an interpreter of one of the versions: on the path, or one of pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in versions:
        if f"{sys.version_info.major}.{sys.version_info.minor}" == version:
            return sys.executable
        found = sorted(pyenv.glob(f"{version}.*/bin/python"))
        if found:
            return str(found[-1])
        if (path := shutil.which(f"python{version}")) is not None:
            return path
    return None


def install(peer: Peer) -> str | None:
    """Make the environment of a peer; return why that failed."""
    folder = ENVIRONMENTS / peer.name
    if (folder / INSTALLED).exists():
        return None
    python = interpreter(peer.python)
    if python is None:
        return f"needs Python {' or '.join(peer.python)}, which is not here"
    shutil.rmtree(folder, ignore_errors=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    steps = [
        [python, "-m", "venv", str(folder)],
        [*pip, "-r", str(peer.folder / REQUIREMENTS)],
        *([[*pip, "--no-build-isolation", package] for package in peer.build]),
    ]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            shutil.rmtree(folder, ignore_errors=True)
            return _reason(done)
    (folder / INSTALLED).touch()
    return None


def _reason(done: "subprocess.CompletedProcess[str]") -> str:
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return (lines or done.stderr.splitlines() or ["pip failed"])[0][:300]


def main() -> None:
    ENVIRONMENTS.mkdir(exist_ok=True)
    peers = read_peers(HERE)
    unknown = [name for name in sys.argv[1:] if name not in peers]
    if unknown:
        raise SystemExit(f"no such peer: {', '.join(unknown)}; there are {', '.join(peers)}")
    for name in sys.argv[1:] or peers:
        if peers[name].python == (CURRENT,):
            continue
        reason = install(peers[name])
        note = ENVIRONMENTS / f"{name}.failed"
        note.unlink(missing_ok=True)
        if reason is not None:
            note.write_text(reason + "\n", encoding="utf-8")
        print(f"{name}: {'ready' if reason is None else 'not installed: ' + reason}")


if __name__ == "__main__":
    main()
