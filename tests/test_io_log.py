"""The append log: whole records or none, whatever happens while writing."""

import errno
import os
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairgram.errors import FileFormatError, InputError, PairgramError
from pairgram.io.changes import Change
from pairgram.io.lock import FolderLock
from pairgram.io.log import LogWriter, pack, read_log

pytestmark = pytest.mark.quick

contents = st.lists(st.binary(max_size=40), max_size=6)


@given(contents)
def test_what_is_appended_is_read(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("log") / "changes.log"
    writer = LogWriter(path)
    for record in records:
        writer.append(record)
    assert read_log(path) == (records, writer.end)
    assert path.stat().st_size == writer.end


@given(contents.filter(bool), st.data())
def test_a_file_cut_anywhere_keeps_the_whole_records(tmp_path_factory, records, data):
    path = tmp_path_factory.mktemp("log") / "changes.log"
    whole = b"".join(map(pack, records))
    length = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:length])
    ends = np.cumsum([len(pack(record)) for record in records])
    kept = int(np.searchsorted(ends, length, side="right"))
    assert read_log(path)[0] == records[:kept]
    writer = LogWriter(path)
    writer.append(b"next")
    assert read_log(path)[0] == [*records[:kept], b"next"]


@given(contents.filter(lambda some: len(some) > 1), st.data())
def test_damage_before_the_end_is_said(tmp_path_factory, records, data):
    path = tmp_path_factory.mktemp("log") / "changes.log"
    whole = bytearray(b"".join(map(pack, records)))
    spot = data.draw(st.integers(0, len(whole) - len(pack(records[-1])) - 1))
    whole[spot] ^= 0xFF
    path.write_bytes(whole)
    with pytest.raises(FileFormatError, match="is damaged at byte"):
        read_log(path)


def test_a_reader_goes_on_from_where_it_was(tmp_path):
    path = tmp_path / "changes.log"
    assert read_log(path) == ([], 0)
    writer = LogWriter(path)
    writer.append(b"one")
    first, end = read_log(path)
    writer.append(b"two")
    assert first == [b"one"]
    assert read_log(path, end) == ([b"two"], writer.end)


class Disk:
    """A disk on which the n-th call fails, having written half of what was asked for."""

    def __init__(self, patch, fails_at, error):
        self.calls, self.fails_at, self.error = 0, fails_at, error
        for name in ("pwrite", "fsync", "ftruncate"):
            patch.setattr(f"pairgram.io.log.os.{name}", self.wrap(name, getattr(os, name)))

    def wrap(self, name, real):
        def call(handle, *arguments):
            self.calls += 1
            if self.calls == self.fails_at:
                if name == "pwrite":
                    real(handle, arguments[0][: len(arguments[0]) // 2], arguments[1])
                raise self.error
            return real(handle, *arguments)

        return call


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]
)
@pytest.mark.parametrize("fails_at", [1, 2, 3, 4])
def test_a_failed_append_leaves_the_log_as_it_was(tmp_path, monkeypatch, error, fails_at):
    path = tmp_path / "changes.log"
    writer = LogWriter(path)
    writer.append(b"before")
    with monkeypatch.context() as patch:
        Disk(patch, fails_at, error)
        kept = fails_at > 2  # an append that goes well is one writing and one wait
        with (
            nullcontext() if kept else pytest.raises((PairgramError, KeyboardInterrupt)) as failure
        ):
            writer.append(b"lost" * 100)
    if not kept and isinstance(error, OSError):
        said = "No space left on device. Nothing of this change was kept"
        assert said in str(failure.value)
    writer.append(b"after")
    assert read_log(path)[0] == [b"before", *([b"lost" * 100] if kept else []), b"after"]


def test_a_log_that_could_not_be_cut_is_cut_by_the_next_writing(tmp_path, monkeypatch):
    path = tmp_path / "changes.log"
    writer = LogWriter(path)
    full = OSError(errno.ENOSPC, "No space left on device")

    def fail(*_):
        raise full

    with monkeypatch.context() as patch:
        patch.setattr("pairgram.io.log.os.fsync", fail)
        patch.setattr("pairgram.io.log.os.ftruncate", fail)
        with pytest.raises(PairgramError, match="No space left"):
            writer.append(b"x" * 50)
    assert path.stat().st_size > 0
    writer.append(b"y")
    assert read_log(path)[0] == [b"y"]


def test_one_holder_of_a_lock(tmp_path):
    first = FolderLock(tmp_path)
    with pytest.raises(PairgramError, match=f"being written by another process .*{os.getpid()}"):
        FolderLock(tmp_path)
    first.release()
    FolderLock(tmp_path).release()


texts = st.text(max_size=8)


@given(st.lists(st.tuples(texts, texts, texts), max_size=4), st.booleans(), st.integers(0, 3))
def test_changes_survive_as_bytes(rows, has_context, dim):
    ids, said, labels = (tuple(column) for column in zip(*rows, strict=True)) if rows else ((),) * 3
    center = np.arange(len(rows) * dim, dtype=np.float32).reshape(len(rows), dim)
    change = Change("add", ids, said, labels, center, center + 1 if has_context else None)
    back = Change.from_bytes(change.to_bytes())
    assert (back.kind, back.ids, back.texts, back.labels) == ("add", ids, said, labels)
    np.testing.assert_array_equal(back.center, center)
    assert (back.context is not None) == has_context


@given(st.binary(max_size=60))
def test_other_bytes_are_no_change(data):
    with pytest.raises(InputError):
        Change.from_bytes(data)
