import csv
import gzip
import io
import logging
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from pairgram.errors import FileFormatError
from pairgram.graph import TextGraph
from pairgram.io.edges import read_edges

CELLS = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\x85"),
    min_size=1,
    max_size=6,
)
PLAIN = st.text(st.sampled_from("ab01é\"',-."), min_size=1, max_size=4)


def write(folder, name, content):
    path = folder / name
    data = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def named_edges(columns):
    pairs = zip(columns.source, columns.target, strict=True)
    return [(columns.names[a], columns.names[b]) for a, b in pairs]


def order_of_first_appearance(rows):
    return list(dict.fromkeys(cell for row in rows for cell in row))


@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8))
def test_tsv_keeps_every_id(tmp_path_factory, rows):
    text = "".join(f"{a}\t{b}\n" for a, b in rows)
    path = write(tmp_path_factory.mktemp("tsv"), "edges.tsv", "source\ttarget\n" + text)
    columns = read_edges(path, header=True)
    assert named_edges(columns) == rows
    assert columns.names == order_of_first_appearance(rows)


@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8))
def test_csv_with_quotes_keeps_every_id(tmp_path_factory, rows):
    stream = io.StringIO()
    csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([("source", "target"), *rows])
    path = write(tmp_path_factory.mktemp("csv"), "edges.csv", stream.getvalue())
    assert named_edges(read_edges(path, header=True)) == rows


@given(
    rows=st.lists(st.tuples(PLAIN, PLAIN), min_size=1, max_size=8),
    blank=st.sampled_from([" ", "  ", " \t", "\t "]),
)
def test_white_space_in_any_amount(tmp_path_factory, rows, blank):
    text = "".join(f"{blank}{a}{blank}{b}{blank}\n" for a, b in rows)
    path = write(tmp_path_factory.mktemp("blank"), "edges.txt", text)
    assert named_edges(read_edges(path, header=False, delimiter=" ")) == rows


@pytest.mark.quick
@pytest.mark.parametrize("name", ["e.tsv", "e.tsv.gz", "e.csv", "e.csv.gz", "e.txt", "e.edges.gz"])
def test_formats_agree(tmp_path, name):
    cut = {"tsv": "\t", "csv": ",", "txt": "  ", "edges": "\t"}[name.split(".")[1]]
    lines = [f"007{cut}7\n", f"é{cut}007\n", f"7{cut}é\n"]
    columns = read_edges(write(tmp_path, name, "".join(lines)))
    assert named_edges(columns) == [("007", "7"), ("é", "007"), ("7", "é")]
    assert columns.names == ["007", "7", "é"]


def test_parquet_strings_integers_and_dictionaries(tmp_path):
    table = pa.table(
        {
            "weight": [1.5, 2.5],
            "source": pa.array(["a", "b"]).dictionary_encode(),
            "target": pa.array([7, 8], pa.int32()),
        }
    )
    parquet.write_table(table, tmp_path / "e.parquet")
    columns = read_edges(tmp_path / "e.parquet", weight="weight")
    assert named_edges(columns) == [("a", "7"), ("b", "8")]
    assert columns.weight.tolist() == [1.5, 2.5]


@pytest.mark.quick
def test_snap_comments_are_skipped_and_lines_still_count(tmp_path):
    text = "# Nodes: 3\n# FromNodeId\tToNodeId\n% more\n\n1\t2\n2\t3\n3\n"
    path = write(tmp_path, "graph.txt", text)
    with pytest.raises(FileFormatError, match=r"line 7: expected 2 columns, found 1"):
        read_edges(path)
    path.write_text(text.removesuffix("3\n"))
    assert named_edges(read_edges(path)) == [("1", "2"), ("2", "3")]


def test_byte_order_mark_and_windows_line_ends(tmp_path):
    path = write(tmp_path, "e.csv", b"\xef\xbb\xbfsource,target\r\na,b\r\n\r\nb,c\r\n")
    assert named_edges(read_edges(path)) == [("a", "b"), ("b", "c")]
    path = write(tmp_path, "e.tsv", b"\xef\xbb\xbfa\tb\r\nb\tc")
    assert named_edges(read_edges(path)) == [("a", "b"), ("b", "c")]
    path = write(tmp_path, "e.txt", b"a  b\r\nb  c\r\n")
    assert named_edges(read_edges(path)) == [("a", "b"), ("b", "c")]


@pytest.mark.parametrize(
    ("first", "has_header"),
    [("source\ttarget", True), ("x\ty", True), ("1\t2", False)],
)
def test_header_is_guessed(tmp_path, first, has_header):
    path = write(tmp_path, "e.tsv", f"{first}\n3\t4\n4\t5\n")
    assert len(read_edges(path).source) == (2 if has_header else 3)
    assert len(read_edges(path, header=False).source) == 3
    assert len(read_edges(path, header=True).source) == 2


def test_strings_without_known_header_are_rows(tmp_path):
    assert len(read_edges(write(tmp_path, "e.tsv", "ann\tbob\nbob\teve\n")).source) == 2


def test_columns_by_name_and_number(tmp_path):
    path = write(tmp_path, "e.csv", "when,u,v,kind,w\n2001-02-03,a,b,likes,2\n,b,c,knows,0.5\n")
    columns = read_edges(path, "u", "v", weight="w", relation="kind", date="when")
    assert named_edges(columns) == [("a", "b"), ("b", "c")]
    assert columns.weight.tolist() == [2.0, 0.5]
    assert columns.relation[0].tolist() == [0, 1]
    assert columns.relation[1] == ("likes", "knows")
    assert columns.date.dtype == np.dtype("datetime64[s]")
    assert np.isnat(columns.date[1])
    by_number = read_edges(path, 1, "2", weight=4, header=True)
    assert named_edges(by_number) == named_edges(columns)


def test_numbers_as_dates(tmp_path):
    path = write(tmp_path, "e.tsv", "a\tb\t2001.5\nb\tc\t\n")
    date = read_edges(path, date=2).date
    assert date[0] == 2001.5
    assert np.isnan(date[1])


def test_dates_with_a_zone(tmp_path):
    path = write(tmp_path, "e.tsv", "a\tb\t2001-01-01T01:00:00Z\nb\tc\t2001-01-01T01:00:00+01:00\n")
    assert read_edges(path, date=2).date.astype(str).tolist() == [
        "2001-01-01T01:00:00",
        "2001-01-01T00:00:00",
    ]


def test_third_column_is_not_taken_for_weights_but_mentioned(tmp_path, caplog):
    path = write(tmp_path, "e.tsv", "a\tb\t3\nb\tc\t4\n")
    with caplog.at_level(logging.WARNING):
        assert read_edges(path).weight is None
    assert "column 2 is not read; pass weight=2 if it holds weights" in caplog.text
    assert read_edges(path, weight=2).weight.tolist() == [3.0, 4.0]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("name", "content", "arguments", "message"),
    [
        ("e.tsv", "", {}, "is empty"),
        ("e.tsv", "# only a comment\n\n", {}, "holds no rows"),
        ("e.tsv", "source\ttarget\n", {}, "holds no rows after its header"),
        ("e.tsv", "a\nb\n", {}, "has one column"),
        ("e.csv", "a b\nb c\n", {}, "has one column"),
        ("e.tsv", "a\tb\na\tb\tc\n", {}, "line 2: expected 2 columns, found 3"),
        ("e.tsv.gz", "a\tb\na\tb\tc\n", {}, "line 2: expected 2 columns, found 3"),
        ("e.csv", 'a,b\n"x\ny",b\nc\n', {}, "line 4: expected 2 columns, found 1"),
        ("e.csv", "source,target,w\na,b\n", {}, "line 2: expected 3 columns, found 2"),
        ("e.txt", "a  b\n\na b c\n", {}, "line 3: expected 2 columns, found 3"),
        ("e.tsv", "a\tb\n\nb\t\n", {}, "line 3: the id in column 1 is empty"),
        ("e.tsv", b"a\tb\nb\t\xff\n", {}, r"line 2: is not UTF-8 \(byte 0xff\)"),
        ("e.tsv", "a\tb\t1\na\tc\tx\n", {"weight": 2}, "line 2: .* a number, got 'x'"),
        ("e.tsv", "a\tb\t1\na\tc\tnan\n", {"weight": 2}, "line 2: .* above 0, got 'nan'"),
        ("e.tsv", "a\tb\t1\n\na\tc\t-2\n", {"weight": 2}, "line 3: .* above 0, got '-2'"),
        ("e.tsv", "a\tb\t1\na\tc\t\n", {"weight": 2}, "line 2: .* number, got ''"),
        ("e.tsv", "a\tb\t2001-01-01\na\tc\tsoon\n", {"date": 2}, "line 2: a date must be"),
        ("e.tsv", "a\tb\n", {"weight": 5}, "has no column 5, its columns are 0 to 1"),
        ("e.csv", "source,target\na,b\n", {"weight": "w"}, "has no column 'w'; .* source, target"),
        ("e.tsv", "a\tb\n", {"source": 1}, "'source' and 'target' are both column 1"),
        ("e.tsv", "a\tb\n", {"delimiter": "::"}, "must be one character"),
        ("e.parquet", "no parquet", {}, "cannot be read as parquet"),
    ],
)
def test_faulty_files_name_file_and_line(tmp_path, name, content, arguments, message):
    path = write(tmp_path, name, content)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_edges(path, **arguments)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_faulty_files_are_closed_when_the_error_leaves(tmp_path, monkeypatch):
    opened, plain_open = [], Path.open

    def recorded(path, *arguments, **options):
        opened.append(plain_open(path, *arguments, **options))
        return opened[-1]

    monkeypatch.setattr(Path, "open", recorded)
    for content in (b"a\tb\nc\t\xff\nd\te\n", b"a\tb\nc\nd\te\n", b"a\tb\nc\t\nd\te\n"):
        with pytest.raises(FileFormatError, match=r"e\.tsv, line 2"):
            read_edges(write(tmp_path, "e.tsv", content))
    assert opened
    assert all(stream.closed for stream in opened)


def test_missing_files_folders_and_cut_archives(tmp_path):
    with pytest.raises(FileFormatError, match="no such file"):
        read_edges(tmp_path / "none.tsv")
    with pytest.raises(FileFormatError, match="is a folder"):
        read_edges(tmp_path)
    whole = gzip.compress(b"".join(b"%d\t%d\n" % (i, i * 7919 % 1000) for i in range(5000)))
    with pytest.raises(FileFormatError, match="cannot be read to its end"):
        read_edges(write(tmp_path, "cut.tsv", whole[: len(whole) // 2]))
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 255
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_edges(write(tmp_path, "flipped.tsv", bytes(flipped)))


def test_parquet_faults_name_the_row(tmp_path):
    path = tmp_path / "e.parquet"
    parquet.write_table(pa.table({"source": ["a", None], "target": ["b", "c"]}), path)
    with pytest.raises(FileFormatError, match="row 2: the id in column 'source' is missing"):
        read_edges(path)
    parquet.write_table(pa.table({"source": [1.5], "target": ["b"]}), path)
    with pytest.raises(FileFormatError, match="must hold ids"):
        read_edges(path)


def test_from_files_joins_edges_and_texts(tmp_path):
    edges = write(tmp_path, "e.tsv", "b\ta\na\tb\nb\tb\n")
    texts = write(tmp_path, "n.tsv", "z\talone\na\tfirst\n")
    graph = TextGraph.from_files(edges, texts)
    assert graph.names.tolist() == ["b", "a", "z"]
    assert graph.texts == ("", "first", "alone")
    assert (graph.n_edges, graph.counts.reciprocal, graph.counts.self_loops) == (1, 1, 1)
    assert TextGraph.from_files(edges, directed=True).n_edges == 2
    blanks = write(tmp_path, "e.txt", "b   a\n")
    assert TextGraph.from_files(blanks, texts, delimiter=" ").texts == ("", "first", "alone")


def test_blanks_around_tabs_are_no_part_of_ids(tmp_path):
    path = write(tmp_path, "graph.txt", "a \t b\nb \t c\n")
    assert read_edges(path).names == ["a", "b", "c"]


@pytest.mark.slow
def test_two_million_edges_in_seconds(tmp_path):
    from time import perf_counter

    ends = np.random.default_rng(0).integers(0, 500_000, (2_000_000, 2))
    path = tmp_path / "e.tsv"
    path.write_text("".join(f"n{a}\tn{b}\n" for a, b in ends.tolist()))
    start = perf_counter()
    graph = TextGraph.from_files(path)
    assert perf_counter() - start < 15
    assert graph.counts.lines == 2_000_000
