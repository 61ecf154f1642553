"""Safetensors files as the library itself reads and writes them."""

import tracemalloc

import numpy as np
import pytest

from pairgram.io.tensors import map_tensors, read_tensors, tensor_bytes, write_tensors

ARRAYS = {
    "b": np.arange(6, dtype=np.float32).reshape(2, 3).T,
    "a": np.array([True, False, True]),
    "z": np.arange(3),
    "empty": np.empty((0, 4), np.float16),
    "one": np.full((), 3.0),
    "bytes": np.frombuffer(b"abc", np.uint8),
    "turned": np.arange(3, dtype=">i4"),
    "ids": np.arange(3, dtype=np.uint32),
}


@pytest.mark.quick
def test_files_are_those_of_the_library(tmp_path):
    from safetensors.numpy import load_file, save

    file = tmp_path / "tensors"
    write_tensors(file, ARRAYS)
    assert file.read_bytes() == tensor_bytes(ARRAYS)
    for read in (load_file(file), map_tensors(file), read_tensors("here", tensor_bytes(ARRAYS))):
        assert set(read) == set(ARRAYS)
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(read[name], array, strict=name != "turned")
    native = {name: np.ascontiguousarray(ARRAYS[name]) for name in ("a", "b", "z")}
    assert tensor_bytes(native) == save(native)


@pytest.mark.quick
def test_writing_copies_no_array(tmp_path):
    table = np.ones((1000, 1000), np.float32)
    tracemalloc.start()
    write_tensors(tmp_path / "tensors", {"table": table})
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < table.nbytes / 4
