import numpy as np
import pytest

from pairgram.errors import FileFormatError, PairgramError
from pairgram.training.checkpoint import Checkpoint
from pairgram.training.progress import Progress


def progress(shared=False, turn=3):
    center = np.random.default_rng(0).normal(size=(5, 32)).astype(np.float32)
    context = center if shared else center + 1
    seconds = {"sample": 0.5, "train": 2.0}
    return Progress(center, context, turn, 100, 250, 1.75, seconds)


@pytest.mark.quick
@pytest.mark.parametrize("shared", [False, True])
def test_a_written_state_is_read_back(tmp_path, shared):
    keeper = Checkpoint(tmp_path / "state", {"dim": 8, "rate": 0.1, "directed": False})
    assert keeper.read() is None
    old = progress(shared)
    keeper.write(old)
    new = keeper.read()
    np.testing.assert_array_equal(new.center, old.center)
    np.testing.assert_array_equal(new.context, old.context)
    assert (new.context is new.center) == shared
    assert not new.center.flags.writeable  # mapped: who trains it in place copies it
    new.own_tables()
    assert new.center.flags.writeable
    assert (new.context is new.center) == shared
    np.testing.assert_array_equal(new.context, old.context)
    for name in ("turn", "pairs", "updates", "loss", "seconds"):
        assert getattr(new, name) == getattr(old, name)


@pytest.mark.quick
def test_numbers_of_numpy_name_the_same_training(tmp_path):
    path = tmp_path / "state"
    Checkpoint(path, {"dim": np.int64(8), "rate": np.float32(0.5)}).write(progress())
    assert Checkpoint(path, {"dim": 8, "rate": 0.5}).read().turn == 3


@pytest.mark.quick
def test_another_training_is_left_alone(tmp_path):
    path = tmp_path / "state"
    Checkpoint(path, {"dim": 8}).write(progress())
    before = path.read_bytes()
    with pytest.raises(PairgramError, match="training with other parameters or data"):
        Checkpoint(path, {"dim": 16}).read()
    assert path.read_bytes() == before


@pytest.mark.quick
def test_visits_write_when_it_is_time(tmp_path):
    never = Checkpoint(tmp_path / "never", {}, every=3600)
    never.visit(progress())
    assert not never.place.path.exists()
    always = Checkpoint(tmp_path / "always", {}, every=0)
    always.visit(progress(turn=1))
    always.visit(progress(turn=2))
    assert always.read().turn == 2


@pytest.mark.quick
def test_a_disk_without_room_ends_no_training(tmp_path, monkeypatch, caplog):
    from pairgram.io import places

    def full(file, arrays):
        raise OSError(28, "No space left on device")

    keeper, states = Checkpoint(tmp_path / "state", {}, every=0), [progress(turn=1)]
    keeper.visit(states[0])
    monkeypatch.setattr(places, "write_tensors", full)
    keeper.visit(progress(turn=2))
    assert keeper.read().turn == 1
    assert caplog.text.count("is not kept: No space left on device.") == 1

    def stop(progress, turns):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):  # not what the disk says
        keeper.after_turn(stop)(progress(turn=3), 9)
    with pytest.raises(PairgramError, match="No space left"):
        keeper.write(progress(turn=4))
    with pytest.raises(PairgramError, match="it is a folder"):
        Checkpoint(tmp_path, {}, every=0).visit(progress())


@pytest.mark.quick
@pytest.mark.parametrize("content", [b"", b"no tensors", b"\x10" + bytes(7) + b"{}"])
def test_a_damaged_file_is_named(tmp_path, content):
    path = tmp_path / "state"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="state"):
        Checkpoint(path, {}).read()


@pytest.mark.quick
def test_tensors_of_something_else_are_no_checkpoint(tmp_path):
    from pairgram.io.tensors import write_tensors

    path = tmp_path / "state"
    write_tensors(path, {"center": np.zeros((2, 2), np.float32)})
    with pytest.raises(PairgramError, match="state"):
        Checkpoint(path, {}).read()
