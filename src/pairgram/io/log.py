"""An append log: a record is whole on disk before `append` returns, or it is not there.

A record is a header (mark, length, checksum of the content, checksum of the header) and content.
A process that dies while writing leaves a torn record at the end; readers stop before it, and the
next writer cuts it off. A bad record that others follow is no torn one but damage, and is said.
"""

import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path

from pairgram.errors import FileFormatError, PairgramError
from pairgram.io.atomic import sync

MARK = b"pglr"
_HEADER = struct.Struct("<4sIII")
_SIGNED = struct.Struct("<4sII")


def pack(content: bytes) -> bytes:
    """A record with this content."""
    signed = _SIGNED.pack(MARK, len(content), zlib.crc32(content))
    return signed + struct.pack("<I", zlib.crc32(signed)) + content


def read_log(path: Path, begin: int = 0) -> tuple[list[bytes], int]:
    """Contents of the whole records from byte `begin` on, and the byte after the last of them.

    A file that is not there has none. Damage before the end raises `FileFormatError`.
    """
    try:
        with path.open("rb") as stream:
            stream.seek(begin)
            data = stream.read()
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise FileFormatError(path, f"cannot be read: {error.strerror}.") from None
    found, at = [], 0
    while (content := _record(data, at)) is not None:
        found.append(content)
        at += _HEADER.size + len(content)
    if _goes_on(data, at):
        raise FileFormatError(
            path,
            f"is damaged at byte {begin + at}: whole records follow a broken one. Restore the "
            "file from a copy, or remove it to go on without what was added since.",
        )
    return found, begin + at


class LogWriter:
    """Appends records to a log; hold the folder's lock while it is open.

    Parameters
    ----------
    path
        The log; made where it is missing, and cut after its last whole record.

    Attributes
    ----------
    end
        Bytes of whole records.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        _, self.end = read_log(path)
        self._handle = -1
        try:
            fresh = not path.exists()
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            self._cut()
            if fresh:
                sync(path.parent)
        except OSError as error:
            self.close()
            raise self._refusal(error) from error

    def append(self, content: bytes) -> None:
        """Write a record and wait until it is on disk; on failure the log stays as it was."""
        record = pack(content)
        try:
            self._cut()
            done = 0
            while done < len(record):
                done += os.pwrite(self._handle, record[done:], self.end + done)
            os.fsync(self._handle)
        except BaseException as error:
            with suppress(OSError):  # if this fails too, the next writing cuts the rest off
                self._cut()
            if isinstance(error, OSError):
                raise self._refusal(error) from error
            raise
        self.end += len(record)

    def _cut(self) -> None:
        """Cut off what an earlier writing left behind the whole records."""
        if os.fstat(self._handle).st_size != self.end:
            os.ftruncate(self._handle, self.end)

    def _refusal(self, error: OSError) -> PairgramError:
        return PairgramError(
            f"{self._path.parent}: cannot be written: {error.strerror or error}. Nothing of this "
            "change was kept; what was kept before is safe."
        )

    def close(self) -> None:
        """Give the file back."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __del__(self) -> None:
        with suppress(OSError, AttributeError):
            self.close()


def _record(data: bytes, at: int) -> bytes | None:
    """Content of the record at a place, None where there is no whole one."""
    if len(data) - at < _HEADER.size:
        return None
    mark, length, checksum, signature = _HEADER.unpack_from(data, at)
    begin = at + _HEADER.size
    if mark != MARK or signature != zlib.crc32(data[at : at + _SIGNED.size]):
        return None
    content = data[begin : begin + length]
    return content if len(content) == length and zlib.crc32(content) == checksum else None


def _goes_on(data: bytes, at: int) -> bool:
    """Whether a whole record begins anywhere after a broken one."""
    place = data.find(MARK, at + 1)
    while place >= 0:
        if _record(data, place) is not None:
            return True
        place = data.find(MARK, place + 1)
    return False
