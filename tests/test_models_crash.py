"""Killed at any moment, a folder opens with everything that was acknowledged."""

import errno
import os
import random
import resource
import signal
import threading
import time
from typing import ClassVar

import pytest

import pairgram as pg
from pairgram.errors import PairgramError
from worlds import SIZE, build, world

EACH = 3  # nodes of one add
COMPACT = 5  # adds between two foldings


@pytest.fixture
def folder(tmp_path):
    build("text_matching").fit(world()).save(tmp_path / "m")
    return tmp_path / "m"


def added_by(model):
    """Numbers of the adds whose nodes are all there; one that is there in part fails the test."""
    names = {s.node for s in model.suggest("red", k=10_000, prefix="n")}
    whole = {int(name[1:].split(".")[0]) for name in names}
    assert names == {f"n{i}.{j}" for i in whole for j in range(EACH)}
    return whole


def add_until_killed(folder, first, pipe):
    """What the child does: add, acknowledge, and fold now and then."""
    model = pg.load(folder)
    for number in range(first, first + 10_000):
        model.add({f"n{number}.{j}": "red apple" for j in range(EACH)})
        os.write(pipe, number.to_bytes(4, "little"))
        if number % COMPACT == 0:
            model.compact()


def kill_one(folder, first, acknowledged, delay):
    """Fork a writer, kill it so long after so many adds, and give those that it acknowledged."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            add_until_killed(folder, first, writing)
        finally:
            os._exit(1)
    os.close(writing)
    said = b"".join(os.read(reading, 4) for _ in range(acknowledged))
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while part := os.read(reading, 1 << 16):
        said += part
    os.close(reading)
    return {int.from_bytes(said[i : i + 4], "little") for i in range(0, len(said), 4)}


def kill(folder, times):
    draw, acknowledged, first, kept = random.Random(0), set(), 0, 0
    for round_ in range(times):
        said = kill_one(folder, first, draw.randrange(4), draw.uniform(0.0, 0.01))
        acknowledged |= said
        model = pg.load(folder)
        there = added_by(model)
        assert acknowledged <= there
        assert len(there - acknowledged) <= round_ + 1  # one at most was under way at each kill
        assert model.size_ == 2 * SIZE + EACH * len(there)
        first = max(there, default=-1) + 1
        kept += len(said)
    return kept


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_some_kills(folder):
    assert kill(folder, 40) > 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_thousand_kills(folder):
    assert kill(folder, 1000) > 0


class Death(BaseException):
    """The process ends here, as far as the disk can tell."""


class Dying:
    """Lets the n-th call that touches the disk fail: an error of the disk, or the end."""

    NAMES: ClassVar = {
        "pairgram.io.log.os": ("pwrite", "fsync", "ftruncate", "open"),
        "pairgram.io.lock.os": ("pwrite", "ftruncate", "open"),
        "pairgram.io.atomic.os": ("open", "fsync", "replace"),
        "pairgram.io.folder": ("write_tensors", "_write_nodes", "_write_edges", "write_json"),
    }

    def __init__(self, patch, fails_at, error):
        self.calls, self.fails_at, self.error, self.dead = 0, fails_at, error, False
        seen = {}
        for module, names in self.NAMES.items():
            for name in names:
                target = f"{module}.{name}"
                owner = __import__(module.split(".os")[0], fromlist=["x"])
                holder = owner.os if module.endswith(".os") else owner
                real = seen.setdefault((id(holder), name), getattr(holder, name))
                patch.setattr(target, self.wrap(name, real))

    def wrap(self, name, real):
        def call(*arguments, **given):
            if self.dead:
                raise Death
            self.calls += 1
            if self.calls != self.fails_at:
                return real(*arguments, **given)
            if name == "pwrite":  # half of it comes through
                handle, data, place = arguments
                real(handle, data[: len(data) // 2], place)
            if isinstance(self.error, Death):
                self.dead = True
            raise self.error

        return call


def one_history(folder, patch, fails_at, error):
    """Add and fold, on a disk that fails once; give what was acknowledged and the calls made."""
    model, said, lines = pg.load(folder), set(), []
    disk = Dying(patch, fails_at, error)
    try:
        for number in range(3):
            try:
                model.add({f"n{number}.{j}": "red apple" for j in range(EACH)})
                said.add(number)
                if number == 1:
                    model.compact()
            except PairgramError as failure:
                lines.append(str(failure))
    except Death:
        pass
    assert all("No space left on device" in line and "\n" not in line for line in lines)
    return model, said, disk.calls


@pytest.mark.parametrize("dies", [True, False])
def test_a_failure_at_every_write(tmp_path, monkeypatch, dies):
    whole = build("text_matching").fit(world())
    fails_at, calls = 0, 1
    while fails_at <= calls:
        fails_at += 1
        folder = tmp_path / str(fails_at)
        whole.save(folder)
        whole._home_ = None
        error = Death() if dies else OSError(errno.ENOSPC, "No space left on device")
        with monkeypatch.context() as patch:
            model, said, calls = one_history(folder, patch, fails_at, error)
        there = added_by(pg.load(folder))
        assert said <= there
        if not dies:  # what failed was said, and the model goes on as the disk does
            assert added_by(model) == there == said
            model.add({"later": "red"})
            assert pg.load(folder).node_text("later") == "red"
        model.close()
        again = pg.load(folder)
        again.add({"last": "blue"})
        assert added_by(pg.load(folder)) == there
        again.close()
    assert fails_at > 15


def test_a_disk_that_is_really_full(folder):
    """The kernel refuses to let files grow; what was acknowledged stays, the error is one line."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            model = pg.load(folder)
            model.add({f"n0.{j}": "red" for j in range(EACH)})
            size = (folder / "changes.log").stat().st_size
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, size + 40))
            try:
                model.add({f"n1.{j}": "red" for j in range(EACH)})
            except PairgramError as error:
                fits = "File too large. Nothing of this change was kept" in str(error)
                code = 0 if fits and (folder / "changes.log").stat().st_size == size else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert added_by(pg.load(folder)) == {0}


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_readers_in_other_processes_while_one_writes(folder):
    """Every opening finds what was acknowledged before it began, also while the log is folded."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            add_until_killed(folder, 1, writing)
        finally:
            os._exit(1)
    os.close(writing)
    follower, said = pg.load(folder), set()
    while len(said) < 4 * COMPACT:
        number = os.read(reading, 4)
        assert number, "the process that adds has ended by itself"
        said.add(int.from_bytes(number, "little"))
        assert said <= added_by(pg.load(folder))
        follower.refresh()
        assert said <= added_by(follower)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reading)


def test_readers_in_threads_while_one_writes(folder):
    model, stop, errors = pg.load(folder), threading.Event(), []

    def read():
        seen = 0
        try:
            while not stop.is_set():
                there = len(added_by(model))
                assert there >= seen
                seen = there
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(20):
        model.add({f"n{number}.{j}": "red apple" for j in range(EACH)})
        if number % COMPACT == 0:
            model.compact()
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors
    assert added_by(model) == set(range(20))
