"""Every snippet of the documentation runs; one that would take minutes is at least understood."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

import pairgram as pg
from cli_files import run
from pairgram.cli.main import app
from pairgram.serve.served import Holder
from serving import running

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LANGUAGES = {"sh", "python", "text"}
# Verbs and graphs that take minutes, or do not end: their flags are checked.
LONG = ("serve", "demo", "bench", "dataset:", "demo/", "fused", "--engine")
GROUPS = {
    "fruit": ["apple", "pear", "cherry", "plum", "12345"],
    "vessel": ["boat", "ship", "raft", "ferry", "canoe", "old-id", "another-id"],
}


def blocks(page):
    """Language and content of every fenced block."""
    found = re.findall(r"^```([^\n]*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return [(info.split()[0] if info else "", body) for info, body in found]


def commands(body):
    """Commands of a shell block, without comments."""
    return [line for line in (re.sub(r"\s+#.*", "", line) for line in body.splitlines()) if line]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What a user would have: two files, new texts, and a model."""
    edges = [(a, b) for group in GROUPS.values() for a in group for b in group if a < b]
    lines = [f"{a}\t{b}\n" for a, b in edges]
    (tmp_path / "edges.tsv").write_text("".join(lines))
    texts = [f"{n}\ta {kind} called {n}\n" for kind, group in GROUPS.items() for n in group]
    (tmp_path / "nodes.tsv").write_text("".join(texts))
    (tmp_path / "new.tsv").write_text("fig\ta soft fruit\nkayak\ta narrow vessel\n")
    monkeypatch.chdir(tmp_path)
    run("fit", "edges.tsv", "--texts", "nodes.tsv", "--model", "tge", "--preset", "best",
        "--epochs", "2", "--dim", "8", "-o", "model")  # fmt: skip
    return tmp_path


def understood(arguments):
    """Parse a command line without running it; what is not known raises."""
    group = typer.main.get_command(app)
    context = group.make_context("pairgram", list(arguments), resilient_parsing=True)
    while hasattr(group, "resolve_command"):
        name, command, arguments = group.resolve_command(context, list(arguments))
        if hasattr(command, "resolve_command"):
            context = command.make_context(name, list(arguments), context, resilient_parsing=True)
        else:
            command.make_context(name, list(arguments), context)
        group = command


def shell(line, port):
    """Run or check one command; an unknown kind of command is a failure."""
    words = shlex.split(re.sub(r"^[A-Z_]+=\S+ ", "", line))
    if words[0] == "pairgram":
        if any(part in word for word in words for part in LONG):
            understood(words[1:])
        else:
            run(*words[1:])
    elif words[0] == "curl":
        asked = [word.replace("localhost:8000", f"localhost:{port}") for word in words]
        out = subprocess.run(
            [*asked, "-w", "%{http_code}"], capture_output=True, text=True, check=True
        )
        assert out.stdout.endswith("200"), out.stdout
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    elif words[:2] == ["pip", "install"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        named = re.findall(r"[a-z]+", words[2])
        assert set(named) <= set(extras["optional-dependencies"])
    elif words[0] == "python":
        assert (ROOT / words[1]).is_file()
    else:
        assert line == "source .venv/bin/activate"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_snippet_works(page, folder, monkeypatch):
    found = blocks(page)
    assert {language for language, _ in found} <= LANGUAGES
    lines = [line for language, body in found if language == "sh" for line in commands(body)]
    if any(line.startswith("curl") for line in lines) and shutil.which("curl") is None:
        pytest.skip("no curl here")
    names = {"pg": pg}
    monkeypatch.setenv("COLUMNS", "200")
    with running(Holder(folder / "model"), token="secret") as server:
        for language, body in found:
            if language == "python":
                exec(compile(body, str(page), "exec"), names)
            for line in commands(body) if language == "sh" else ():
                shell(line, server.port)
            # A server of the page may have taken the right to write.
            server.server.holder.close()


def test_every_page_has_a_place_and_every_picture_is_there():
    nav = (ROOT / "mkdocs.yml").read_text()
    for page in PAGES[1:]:
        assert page.name in nav
        for picture in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text()):
            assert (page.parent / picture).is_file(), picture


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    command = ["mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "PATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not re.search(
        r'(src|href)="https?://(?!github|squidfunk)', (tmp_path / "index.html").read_text()
    )
