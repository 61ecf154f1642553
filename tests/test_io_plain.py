"""The reader of plain edge lists gives what the reader by Arrow gives, or leaves the file to it."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pairgram.io import edges, plain
from pairgram.io.edges import read_edges

cells = st.text(
    st.characters(blacklist_characters='\t\n\r,";#%\x00\x0b\x0c', blacklist_categories=["Cs"]),
    min_size=1,
    max_size=12,
).filter(lambda cell: cell == cell.strip())
lines = st.lists(st.tuples(cells, cells), min_size=1, max_size=30)


def both(path, monkeypatch):
    """What the two readers make of a file; the first is None where it is left to the second."""
    taken = []

    def watched(*given):
        taken.append(plain.read_plain(*given))
        return taken[-1]

    with monkeypatch.context() as patch:
        patch.setattr(edges, "read_plain", watched)
        fast = read_edges(path, header=False)
    with monkeypatch.context() as patch:
        patch.setattr(edges, "read_plain", lambda *given: None)
        slow = read_edges(path, header=False)
    assert fast.names == slow.names
    assert fast.source.tolist() == slow.source.tolist()
    assert fast.target.tolist() == slow.target.tolist()
    assert fast.source.dtype == slow.source.dtype
    return taken[0]


@pytest.mark.quick
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(lines, st.booleans(), st.sampled_from(["\t", ","]))
def test_ids_and_their_order_are_those_of_arrow(tmp_path, monkeypatch, rows, ended, cut):
    path = tmp_path / ("edges.tsv" if cut == "\t" else "edges.csv")
    # Arrow takes a single line without an end for no row at all.
    end = b"\n" if ended or len(rows) == 1 else b""
    path.write_bytes("\n".join(map(cut.join, rows)).encode() + end)
    assert both(path, monkeypatch) is not None


@pytest.mark.quick
def test_many_ids_outgrow_the_first_table(tmp_path, monkeypatch):
    path = tmp_path / "edges.tsv"
    path.write_text("".join(f"{i}\tn{i * 7}\n" for i in range(6000)))
    names = both(path, monkeypatch)[0]
    assert len(names) == 12_000


@pytest.mark.quick
@pytest.mark.parametrize(
    "content",
    [b"a\tb\r\nb\tc\r\n", b"a\tb\n\nb\tc\n", b"a\tb\nb\tc\n\n", b'a,b\n"b",c\n'],
    ids=["carriage returns", "a blank line", "blank at the end", "quotes"],
)
def test_other_files_are_left_to_arrow(tmp_path, monkeypatch, content):
    path = tmp_path / ("edges.csv" if b"," in content else "edges.tsv")
    path.write_bytes(content)
    assert both(path, monkeypatch) is None


@pytest.mark.quick
def test_a_single_line_needs_no_end(tmp_path):
    path = tmp_path / "edges.tsv"
    path.write_text("a\tb")
    assert read_edges(path).names == ["a", "b"]


@pytest.mark.quick
def test_leading_zeros_comments_and_header_are_kept_apart(tmp_path):
    path = tmp_path / "edges.tsv"
    path.write_text("# made by hand\nsource\ttarget\n007\t7\n7\t07\n")
    read = read_edges(path)
    assert read.names == ["007", "7", "07"]
    assert (read.source.tolist(), read.target.tolist()) == ([0, 1], [1, 2])
