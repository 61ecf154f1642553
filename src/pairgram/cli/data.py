"""`pairgram data`: the datasets that are known by name."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairgram.cli.options import OutputFlags, grouped, help_without_verb
from pairgram.cli.terminal import Terminal, cut
from pairgram.errors import MissingExtraError

if TYPE_CHECKING:
    from pairgram.datasets import Dataset

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a dataset.")]

app = typer.Typer(
    help="Datasets by name: list them, find or download their files.",
    callback=help_without_verb,
    invoke_without_command=True,
)


@app.command("list")
@grouped
def list_datasets(output: OutputFlags) -> None:
    """List the datasets, and which of them are here."""
    terminal = Terminal(output)
    from pairgram import datasets

    known = [datasets.info(name) for name in datasets.names()]
    if terminal.wants_json:
        terminal.json([_entry(dataset) for dataset in known])
    terminal.table(
        ("name", ">nodes", ">edges", "here", "what"),
        [
            (
                dataset.name,
                f"{dataset.nodes:,}",
                f"{dataset.edges:,}" if dataset.edges else "",
                "yes" if _is_here(dataset) else "no",
                cut(dataset.description, 90),
            )
            for dataset in known
        ],
    )


@app.command("path")
@grouped
def show_path(name: Name, output: OutputFlags) -> None:
    """Print the folder that holds a dataset's files, or would hold them."""
    terminal = Terminal(output)
    from pairgram import datasets

    dataset = datasets.info(name)
    if terminal.wants_json:
        terminal.json(_entry(dataset))
    terminal.line(str(dataset.folder()))
    if not _is_here(dataset):
        how = f"get them from {dataset.address}"
        if dataset.upstream is not None:
            how = f"`pairgram data get {name}` downloads them"
        terminal.note(f"note: its files are not there; {how}")


@app.command("get")
@grouped
def get_dataset(name: Name, output: OutputFlags) -> None:
    """Download a dataset that is not here, and check its files; or say where to get them."""
    terminal = Terminal(output)
    from pairgram import datasets

    dataset = datasets.info(name)
    if dataset.upstream is not None and not _is_here(dataset):
        from pairgram.datasets.download import download

        download(dataset, lambda address: terminal.note(f"fetching {address}"))
    graph = dataset.load(verify=bool(dataset.files))
    if terminal.wants_json:
        terminal.json({**_entry(dataset), "read": str(graph)})
    terminal.summary(f"{name} is here and reads well: {graph} in {dataset.folder()}")


def _entry(dataset: "Dataset") -> dict[str, Any]:
    here = _is_here(dataset)
    return {
        "name": dataset.name,
        "description": dataset.description,
        "licence": dataset.licence,
        "citation": dataset.citation,
        "address": dataset.address,
        "nodes": dataset.nodes,
        "edges": dataset.edges or None,
        "texts": dataset.text_file is not None or not dataset.files,
        "here": here,
        "path": str(dataset.folder()) if here or dataset.files else None,
    }


def _is_here(dataset: "Dataset") -> bool:
    try:
        return dataset.is_here()
    except MissingExtraError:
        return False
