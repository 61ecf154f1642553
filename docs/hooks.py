"""The pages of results/ are part of the site, though they lie beside docs/."""

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent
KINDS = {".md", ".svg"}


def on_files(files: Any, config: Any) -> Any:
    """Add what results/ has to show."""
    for path in sorted((ROOT / "results").rglob("*")):
        if path.suffix in KINDS:
            name = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links between the two folders hold in the repository; make them hold in the site."""
    if page.file.src_uri.startswith("results/"):
        return markdown.replace("/docs/", "/")
    deep = "../" * page.file.src_uri.count("/")
    return markdown.replace(f"]({deep}../results/", f"]({deep}results/")
