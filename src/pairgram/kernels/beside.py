"""Kernels compiled by a second process while this one compiles others.

Numba compiles one function at a time, in any number of threads. The second process calls the
kernels on a few values; what it compiles is kept in files, where this one finds it. Whatever goes
wrong there, they are compiled here when they are called.
"""

import atexit
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pairgram.kernels import code_files, notice

_UNDER_WAY: dict[str, "subprocess.Popen[bytes]"] = {}


def start(names: Sequence[str], module: str) -> bool:
    """Have a process run `module`, which calls the kernels of these names; say whether one does.

    None is started where some code of every kernel is kept, or where it could not be handed over.
    """
    missing = any(not code_files.any_kept(name) for name in names)
    if not missing or any(name in _UNDER_WAY for name in names) or not _can():
        return False
    home = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    try:
        # -P: nothing is imported from the folder that the user happens to be in.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", module],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return False
    _UNDER_WAY.update(dict.fromkeys(names, process))
    return True


def wait(name: str) -> bool:
    """Wait for the process that compiles a kernel; return False where there is none."""
    process = _UNDER_WAY.get(name)
    if process is None:
        return False
    if process.poll() is None:
        notice.compiling()
        process.wait()
    del _UNDER_WAY[name]
    return True


def _can() -> bool:
    """Whether this is an interpreter that can be started again, and what it keeps is found here."""
    return bool(sys.executable) and not hasattr(sys, "frozen") and code_files.keeps()


@atexit.register
def _end() -> None:
    """Leave no process behind."""
    for process in set(_UNDER_WAY.values()):
        process.terminate()
        process.wait()
