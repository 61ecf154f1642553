import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pyarrow import parquet

from pairgram.errors import FileFormatError, InputError, PairgramError
from pairgram.io.vector_files import read_vectors, write_vectors

SUFFIXES = [".parquet", ".npz", ".txt", ".w2v", ".bin"]
NAMES = st.lists(
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=5),
    min_size=1,
    max_size=6,
    unique=True,
)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(
    names=NAMES,
    dim=st.integers(1, 4),
    data=st.data(),
    which=st.sampled_from(["center", "context"]),
)
def test_round_trip_is_exact(tmp_path_factory, suffix, names, dim, data, which):
    finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
    matrix = data.draw(arrays.arrays(np.float32, (len(names), dim), elements=finite))
    path = tmp_path_factory.mktemp("vectors") / f"v{suffix}"
    write_vectors(path, names, matrix, which)
    found, back, says = read_vectors(path)
    assert found == names
    assert back.dtype == np.float32
    np.testing.assert_array_equal(back, matrix)
    assert says == which


@pytest.mark.quick
@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
def test_ids_with_blanks_go_where_they_can(tmp_path, suffix):
    names = ["a b", "", "c\td"]
    write_vectors(tmp_path / f"v{suffix}", names, np.ones((3, 2), np.float32), "center")
    assert read_vectors(tmp_path / f"v{suffix}")[0] == names


@pytest.mark.parametrize("suffix", [".txt", ".bin"])
@pytest.mark.parametrize("name", ["a b", "", "a\n", "\u3000x"])
def test_word2vec_refuses_ids_with_blanks(tmp_path, suffix, name):
    with pytest.raises(InputError, match=r"write \.parquet or \.npz instead"):
        write_vectors(tmp_path / f"v{suffix}", [name], np.ones((1, 2), np.float32), "center")
    assert list(tmp_path.iterdir()) == []


def test_parquet_is_plain_for_other_tools(tmp_path):
    write_vectors(tmp_path / "v.parquet", ["a"], np.ones((1, 2), np.float32), "context")
    table = parquet.read_table(tmp_path / "v.parquet")
    assert str(table.schema.field("vector").type) == "fixed_size_list<element: float>[2]"
    assert b'"matrix": "context"' in table.schema.metadata[b"pairgram"]


def test_word2vec_files_of_other_tools(tmp_path):
    (tmp_path / "v.txt").write_text("2 2\nking 0.5 -1 \nqueen 1e-3 2 \n")
    names, matrix, which = read_vectors(tmp_path / "v.txt")
    assert names == ["king", "queen"]
    np.testing.assert_array_equal(matrix, np.array([[0.5, -1], [1e-3, 2]], np.float32))
    assert which is None
    rows = np.array([[1, 2], [3, 4]], "<f4")
    (tmp_path / "v.bin").write_bytes(
        b"2 2\nking " + rows[0].tobytes() + b"queen " + rows[1].tobytes()
    )
    names, matrix, _ = read_vectors(tmp_path / "v.bin")
    assert names == ["king", "queen"]
    np.testing.assert_array_equal(matrix, rows)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.txt", b"no header\n", "must start with the number"),
        ("v.txt", b"3 2\na 1 2\n", "announces 3 vectors, found 1"),
        ("v.txt", b"1 2\na 1 x\n", "is no word2vec text file"),
        ("v.txt", b"1 2\na 1\n", "is no word2vec text file"),
        ("v.bin", b"900000000000 100\n", "too short for 900000000000 vectors"),
        ("v.bin", b"2 1\na \0\0\0\0b \0\0", "is truncated"),
        ("v.npz", b"PK\x03\x04 broken", "is no npz of vectors"),
        ("v.npz", b"plain", "is no npz of vectors"),
        ("v.parquet", b"PAR1", "cannot be read as parquet"),
        ("v.bin", b"", "is empty"),
    ],
)
def test_damaged_files_give_one_line(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_vectors(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_pickled_npz_is_refused(tmp_path):
    names = np.array(["a", None], dtype=object)
    np.savez(tmp_path / "v.npz", names=names, vectors=np.ones((2, 2)), matrix="center")
    with pytest.raises(FileFormatError, match="is no npz of vectors"):
        read_vectors(tmp_path / "v.npz")


def test_unknown_format_and_shape(tmp_path):
    ones = np.ones((1, 2), np.float32)
    with pytest.raises(InputError, match="suffix must be one of"):
        write_vectors(tmp_path / "v.xyz", ["a"], ones, "center")
    with pytest.raises(InputError, match="must be one of 'parquet'"):
        write_vectors(tmp_path / "v.npz", ["a"], ones, "center", format="hdf")
    with pytest.raises(InputError, match=r"shape \(2, dim\), got \(1, 2\)"):
        write_vectors(tmp_path / "v.npz", ["a", "b"], ones, "center")
    write_vectors(tmp_path / "v.xyz", ["a"], ones, "center", format="npz")
    assert read_vectors(tmp_path / "v.xyz", format="npz")[0] == ["a"]


def test_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "v.txt"
    write_vectors(path, ["a"], np.ones((1, 2), np.float32), "center")
    before = path.read_bytes()
    with pytest.raises(InputError):
        write_vectors(path, ["a b"], np.ones((1, 2), np.float32), "center")
    assert path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["v.txt", "v.txt.json"]


def test_unwritable_place_gives_one_line(tmp_path):
    with pytest.raises(PairgramError, match="cannot be written: No such file or directory"):
        write_vectors(tmp_path / "no" / "v.npz", ["a"], np.ones((1, 2), np.float32), "center")
    with pytest.raises(PairgramError, match="it is a folder"):
        write_vectors(tmp_path, ["a"], np.ones((1, 2), np.float32), "center", format="npz")


@pytest.mark.parametrize(("suffix", "binary"), [(".txt", False), (".bin", True)])
def test_gensim_reads_ours_and_we_read_gensims(tmp_path, suffix, binary):
    gensim = pytest.importorskip("gensim.models")
    matrix = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    write_vectors(tmp_path / f"ours{suffix}", list("abcde"), matrix, "center")
    keyed = gensim.KeyedVectors.load_word2vec_format(tmp_path / f"ours{suffix}", binary=binary)
    assert keyed.index_to_key == list("abcde")
    np.testing.assert_array_equal(keyed.vectors, matrix)
    keyed.save_word2vec_format(tmp_path / f"theirs{suffix}", binary=binary)
    names, back, which = read_vectors(tmp_path / f"theirs{suffix}")
    assert names == list("abcde")
    np.testing.assert_array_equal(back, matrix)
    assert which is None
