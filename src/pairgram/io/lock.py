"""One writer a folder: a lock that the system takes back when its holder dies."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from pairgram.errors import PairgramError

LOCK = ".lock"


class FolderLock:
    """The right to write into a folder, held until `release` or the end of the process.

    Parameters
    ----------
    folder
        An existing folder; a second holder raises `PairgramError`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._process = folder, os.getpid()
        self._handle = self._take()
        try:
            with suppress(OSError):  # the number is for the message of a second writer alone
                os.ftruncate(self._handle, 0)
                os.pwrite(self._handle, str(self._process).encode(), 0)
        except BaseException:
            self.release()
            raise

    def _take(self) -> int:
        path = self._folder / LOCK
        while True:
            try:
                handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            except OSError as error:
                raise PairgramError(
                    f"{self._folder}: cannot be written: {error.strerror or error}."
                ) from error
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                holder = os.pread(handle, 32, 0).decode("ascii", "replace") or "unknown"
                os.close(handle)
                raise PairgramError(
                    f"{self._folder}: is being written by another process or model (process "
                    f"{holder}); close that one first."
                ) from None
            if self._is_current(path, handle):
                return handle
            os.close(handle)  # the folder was replaced between opening and locking

    @staticmethod
    def _is_current(path: Path, handle: int) -> bool:
        try:
            return os.stat(path).st_ino == os.fstat(handle).st_ino
        except FileNotFoundError:
            return False

    @property
    def is_mine(self) -> bool:
        """Whether this process took the lock; a forked child must not use its parent's."""
        return self._handle >= 0 and os.getpid() == self._process

    def release(self) -> None:
        """Let others write."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __del__(self) -> None:
        with suppress(OSError, AttributeError):
            self.release()
