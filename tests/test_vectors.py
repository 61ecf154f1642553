import numpy as np
import pytest

from pairgram.errors import InputError
from pairgram.vectors import Vectors

CENTER = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.quick
def test_shape_and_names():
    vectors = Vectors(CENTER, CENTER + 1, ["a", "b"])
    assert vectors.dim == 3
    assert len(vectors) == 2
    assert vectors.names.dtype == object
    assert vectors.names.tolist() == ["a", "b"]
    assert vectors.matrix("context")[0, 0] == 1


@pytest.mark.parametrize(
    ("center", "context", "names", "message"),
    [
        (CENTER.astype(np.float64), None, ["a", "b"], "float32 array, got float64"),
        ([[1.0]], None, ["a"], "float32 array, got list"),
        (CENTER, None, ["a"], r"shape \(1, dim\), got \(2, 3\)"),
        (CENTER.ravel(), None, list("abcdef"), r"got \(6,\)"),
        (CENTER, CENTER[:, :2], ["a", "b"], r"shape of 'center' \(2, 3\), got \(2, 2\)"),
    ],
)
def test_wrong_arrays_raise(center, context, names, message):
    with pytest.raises(InputError, match=message):
        Vectors(center, context, names)


def test_save_and_load(tmp_path):
    vectors = Vectors(CENTER, None, ["a", "b"])
    vectors.save(tmp_path / "v.npz")
    back = Vectors.load(tmp_path / "v.npz")
    np.testing.assert_array_equal(back.center, CENTER)
    assert back.context is None
    assert back.names.tolist() == ["a", "b"]
    with pytest.raises(InputError, match="no context vectors"):
        vectors.save(tmp_path / "c.npz", which="context")
    assert not (tmp_path / "c.npz").exists()
    with pytest.raises(InputError, match="got 'centre'"):
        vectors.matrix("centre")


def test_load_refuses_context_vectors(tmp_path):
    Vectors(CENTER, CENTER, ["a", "b"]).save(tmp_path / "c.parquet", which="context")
    with pytest.raises(InputError, match="holds context vectors"):
        Vectors.load(tmp_path / "c.parquet")
