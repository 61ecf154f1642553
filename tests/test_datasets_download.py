"""`pairgram data get` against a server on this machine."""

import gzip
import hashlib
import io
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_files import fail, run
from pairgram import datasets
from pairgram.datasets import base, upstream
from pairgram.datasets.download import download
from pairgram.errors import FileFormatError, InputError

EDGES = b"# from to\n2 1\n0\t1\n1 2\n"
MADE = b"0\t1\n1\t2\n"


class Server:
    """Files by path; what was asked for, and how much of a file is sent before the line breaks."""

    def __init__(self):
        self.files, self.asked, self.breaks_at, self.ranges = {}, [], None, True
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked.append((self.path, self.headers.get("Range")))
                if self.path not in server.files:
                    return self.send_error(404)
                content, begin = server.files[self.path], 0
                if server.ranges and self.headers.get("Range"):
                    begin = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
                    if begin >= len(content):
                        return self.send_error(416)
                self.send_response(206 if begin else 200)
                self.send_header("Content-Length", str(len(content) - begin))
                self.end_headers()
                self.wfile.write(content[begin : server.breaks_at])
                return None

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def server():
    made = Server()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def toy(server, tmp_path, monkeypatch):
    server.files["/toy.txt"] = EDGES
    monkeypatch.delenv("PAIRGRAM_DATA", raising=False)
    monkeypatch.setenv("PAIRGRAM_CACHE", str(tmp_path))
    entry = base.Dataset(
        "toy", "two edges", "none", "nobody", "https://example.org/toy", nodes=3, edges=2,
        edge_file=base.DataFile("edges.tsv.gz", "0" * 64, hashlib.sha256(MADE).hexdigest()),
        upstream=upstream.Upstream((f"{server.address}/toy.txt",), upstream.friendships),
    )  # fmt: skip
    monkeypatch.setitem(datasets.REGISTRY, "toy", entry)
    return tmp_path / "toy"


@pytest.mark.quick
def test_get_downloads_once_and_checks(toy, server):
    result = run("data", "get", "toy")
    assert f"fetching {server.address}/toy.txt" in result.stderr
    assert "reads well" in result.stdout
    assert [path.name for path in toy.iterdir()] == ["edges.tsv"]
    assert (toy / "edges.tsv").read_bytes() == MADE
    assert "fetching" not in run("data", "get", "toy").stderr
    assert server.asked == [("/toy.txt", None)]
    (toy / "edges.tsv").write_bytes(b"0\t1\n0\t2\n")
    assert "expected sha256" in fail("data", "get", "toy", code=1)


@pytest.mark.quick
@pytest.mark.parametrize("ranges", [True, False])
def test_a_broken_download_goes_on(toy, server, ranges):
    server.breaks_at, server.ranges = 7, ranges
    with pytest.raises(InputError, match=r"cannot be fetched: .* By hand: from https://example"):
        download(datasets.info("toy"))
    assert [path.name for path in toy.iterdir()] == ["upstream-toy.txt.part"]
    server.breaks_at = None
    download(datasets.info("toy"))
    assert server.asked[1] == ("/toy.txt", "bytes=7-")
    assert (toy / "edges.tsv").read_bytes() == MADE


@pytest.mark.quick
def test_a_part_of_another_file_is_dropped(toy, server):
    toy.mkdir()
    (toy / "upstream-toy.txt.part").write_bytes(b"x" * 100)
    download(datasets.info("toy"))
    assert (toy / "edges.tsv").read_bytes() == MADE


@pytest.mark.quick
def test_other_content_is_refused_and_leaves_nothing(toy, server):
    server.files["/toy.txt"] = b"0 1\n0 2\n"
    with pytest.raises(FileFormatError, match=r"is not what is known under 'toy': expected sha256"):
        download(datasets.info("toy"))
    assert list(toy.iterdir()) == []
    server.files["/toy.txt"] = b"0 1\n0 2 3\n"
    with pytest.raises(FileFormatError, match="expected two numbers a line"):
        download(datasets.info("toy"))
    server.files.clear()
    with pytest.raises(InputError, match=r"cannot be fetched: Not Found. By hand:") as error:
        download(datasets.info("toy"))
    assert "\n" not in str(error.value)


@pytest.mark.quick
def test_no_server_is_one_line(toy, server):
    server.server.shutdown()
    server.server.server_close()
    assert "cannot be fetched" in fail("data", "get", "toy", code=1)


@pytest.mark.quick
def test_local_data_wins_over_the_network(toy, server, tmp_path, monkeypatch):
    local = tmp_path / "local"
    (local / "toy").mkdir(parents=True)
    monkeypatch.setenv("PAIRGRAM_DATA", str(local))
    assert "nothing is written there" in fail("data", "get", "toy", code=1)
    (local / "toy" / "edges.tsv").write_bytes(MADE)
    assert str(local) in run("data", "get", "toy").stdout
    assert server.asked == []


@pytest.mark.quick
@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=12))
def test_the_largest_component(pairs):
    found = upstream.largest_component(np.array(pairs)).tolist()
    components = list(nx.connected_components(nx.Graph(pairs)))
    assert set(found) in components
    assert len(found) == max(map(len, components))
    assert found == sorted(found)


@pytest.mark.quick
def test_texts_of_linked_nodes_by_line_number(tmp_path):
    lines = {
        "graph.txt": "3\t1\n1\t1\n",
        "data.txt": "a\n b  c\nd\ne \n",
        "group.txt": "0\n1\n\n2\n",
    }
    for name, content in lines.items():
        (tmp_path / name).write_text(content)
    made = upstream.cane_texts({name: tmp_path / name for name in lines})
    assert made == {
        "edges.tsv": b"1\t1\n3\t1\n", "nodes.tsv": b"1\tb c\n3\te\n", "labels.tsv": b"1\t1\n3\t2\n",
    }  # fmt: skip


@pytest.mark.quick
def test_abstracts_of_the_largest_component(tmp_path):
    edges, abstracts = tmp_path / "cit-HepTh.txt.gz", tmp_path / "cit-HepTh-abstracts.tar.gz"
    edges.write_bytes(gzip.compress(b"# FromNodeId\tToNodeId\r\n1001\t2\r\n2\t3\r\n8\t9\r\n"))
    head = "-----\n\\\\\nPaper: hep-th/0001001\nTitle: T\n\\\\\n"
    with tarfile.open(abstracts, "w:gz") as archive:
        for name, text in {"0001001": "  One\n two.", "2": "Three", "8": "Eight"}.items():
            content = (head + text + "\n\\\\\n").encode()
            member = tarfile.TarInfo(f"2000/{name}.abs")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    made = upstream.cited_abstracts({path.name: path for path in (edges, abstracts)})
    assert made["edges.tsv"] == b"2\t3\n1001\t2\n"
    assert made["nodes.tsv"] == b"2\tThree\n3\t\n1001\tOne two.\n"


@pytest.mark.parametrize("name", ["facebook", "zhihu", "astroph", "cora"])
def test_files_are_made_as_they_are_known(name, tmp_path, monkeypatch):
    """The published form put together from the files that are read, and back."""
    entry = datasets.info(name)
    if not entry.is_here():
        pytest.skip(f"needs {name} in PAIRGRAM_DATA")
    edges = upstream.read_edges(entry.locate(entry.edge_file))
    mixed = np.random.default_rng(0).permutation(edges)
    if name == "astroph":
        mixed = np.concatenate((mixed, mixed[:, ::-1]))
    path = tmp_path / "graph.txt"
    path.write_text("# comment\n" + "".join(f"{u} {v}\n" for u, v in mixed.tolist()))
    raw = {"graph.txt": path}
    for kind, file in (("data", entry.text_file), ("group", entry.label_file)):
        if file is not None:
            rows = dict(row.split("\t") for row in entry.locate(file).read_text().splitlines())
            raw[f"{kind}.txt"] = tmp_path / f"{kind}.txt"
            lines = "\n".join(rows.get(str(i), "") for i in range(edges.max() + 2))
            raw[f"{kind}.txt"].write_text(lines)
    made = entry.upstream.make(raw)
    for file in (*entry.files, entry.label_file):
        if file is not None:
            assert base.content_sum(made[file.plain_name]) == file.plain_sha256
