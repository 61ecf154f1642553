"""Rows before training, and the memory that workers keep rows in."""

from pathlib import Path

import numpy as np
import pytest

from pairgram.training.fetched import FetchedTables, Rows
from pairgram.training.partition import partition
from pairgram.training.room import Room
from pairgram.training.settings import Settings
from pairgram.training.start import begun, draw_centres


@pytest.mark.quick
@pytest.mark.parametrize("dim", [1, 7, 32])
def test_any_run_of_rows_is_drawn_as_all_are(dim, monkeypatch):
    monkeypatch.setattr("pairgram.training.start.ROWS", 13)
    parts, settings = partition(np.ones(100), 4, seed=1), Settings(dim=dim, seed=5)
    random = np.random.Generator(np.random.Philox(7))
    expected = (random.random((100, dim), np.float32) - np.float32(0.5)) / dim
    whole = begun(parts, settings)
    np.testing.assert_array_equal(whole.center[parts.number, :dim], expected)
    assert not whole.center[:, dim:].any()
    assert not whole.context.any()
    for low, high in ((0, 100), (25, 50), (99, 100)):
        rows = np.zeros((high - low, whole.center.shape[1]), np.float32)
        draw_centres(parts, settings, low, rows)
        np.testing.assert_array_equal(rows, whole.center[low:high])


@pytest.mark.quick
def test_given_rows_are_taken_as_they_are():
    parts, given = partition(np.ones(10), 2, seed=1), np.arange(30, dtype=np.float32).reshape(10, 3)
    state = begun(parts, Settings(dim=3, shared_table=True), given)
    np.testing.assert_array_equal(state.center[parts.number, :3], given)
    assert state.context is state.center


@pytest.mark.quick
def test_a_room_lets_rows_go_and_keeps_the_others():
    room = Room(5000, 32)
    assert not room.table.any()
    assert room.table.ctypes.data % 64 == 0
    room.table[:] = 1
    room.let_go(1001, 4001)
    assert (room.table[:1001] == 1).all()
    assert (room.table[4001:] == 1).all()
    assert Room(0, 32).table.shape == (0, 32)


@pytest.mark.quick
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_rows_let_go_leave_the_memory_of_the_process():
    def held():
        return 4096 * int(Path("/proc/self/statm").read_text().split()[1])

    room = Room(1 << 18, 64)  # 64 MB
    before = held()
    room.table[:] = 1
    assert held() - before > 60e6
    room.let_go(0, 1 << 18)
    assert held() - before < 10e6


@pytest.mark.quick
def test_tables_are_replaced_whole_or_not_at_all():
    first, second = (np.full((4, 2), k, np.float32) for k in (1, 2))

    def breaks():
        yield Rows(0, second[:2], second[:2])
        raise KeyError

    with FetchedTables((4, 2)) as fetched:
        center, context = fetched.write([Rows(2, first[2:], first[:2]), Rows(0, first[:2], first)])
        with pytest.raises(KeyError):
            fetched.write(breaks())
        np.testing.assert_array_equal(center, first)
        assert fetched.write([Rows(0, second, None)])[0][0, 0] == 2
        np.testing.assert_array_equal(context, first)  # mapped still
        assert not center.flags.writeable
