"""Small files and a runner for the tests of the command line."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from pairgram.cli.main import app

FAST = ("--dim", "8", "--epochs", "2")


def run(*arguments: object, code: int = 0) -> Any:
    """Run the command line; check its exit code and that no traceback shows."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def run_json(*arguments: object) -> Any:
    """Run with --json; everything on stdout must be one JSON value."""
    return json.loads(run(*arguments, "--json").stdout)


def fail(*arguments: object, code: int) -> str:
    """Run to a failure; return its one line."""
    result = run(*arguments, code=code)
    lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, result.stderr
    assert result.stdout == ""
    return str(lines[0])


def write_cliques(folder: Path) -> tuple[Path, Path]:
    """Two cliques of six nodes and a bridge, with texts; one node is alone."""
    names = [[f"{side}{i}" for i in range(6)] for side in "ab"]
    lines = [f"{u}\t{v}" for clique in names for u in clique for v in clique if u < v]
    edges, texts = folder / "edges.tsv", folder / "nodes.tsv"
    edges.write_text("\n".join([*lines, "a0\tb0"]) + "\n")
    every = [*names[0], *names[1], "alone"]
    texts.write_text("".join(f"{name}\tthe text of {name}\n" for name in every))
    return edges, texts
