"""The site has a page for every decision, and those that lie beside docs/."""

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent
BESIDE = ("results", "examples")
KINDS = {".md", ".svg"}


def on_config(config: Any) -> Any:
    """List all decisions, as many as there are."""
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    for entry in config.nav:
        if entry.get("Decisions") == "decisions":
            entry["Decisions"] = [f"decisions/{page.name}" for page in pages]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add what the folders beside docs/ have to show."""
    for folder in BESIDE:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in KINDS:
                name = path.relative_to(ROOT).as_posix()
                files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links between the folders hold in the repository; make them hold in the site."""
    if page.file.src_uri.startswith(BESIDE):
        return markdown.replace("/docs/", "/")
    deep = "../" * page.file.src_uri.count("/")
    for folder in BESIDE:
        markdown = markdown.replace(f"]({deep}../{folder}/", f"]({deep}{folder}/")
    return markdown
