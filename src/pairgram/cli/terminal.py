"""Where a verb speaks: results to stdout, everything else to stderr."""

import json
import logging
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pairgram.cli.options import OutputFlags

if TYPE_CHECKING:
    from rich.console import Console

ROOT = logging.getLogger("pairgram")
WIDE = 200
"""Columns of a table that goes to a file or pipe."""


class Notices(logging.Handler):
    """Logging as single lines on stderr; the same line comes once."""

    def __init__(self, console: "Console") -> None:
        super().__init__()
        self.console = console
        self.seen: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record as one line."""
        kind = "note" if record.levelno < logging.WARNING else record.levelname.lower()
        line = f"{kind}: {' '.join(record.getMessage().split())}"
        if line not in self.seen:
            self.seen.add(line)
            self.console.print(line, soft_wrap=True)


class Terminal:
    """The screen of one run of a verb.

    Parameters
    ----------
    flags
        What the user asked for: JSON, quiet, verbose.
    """

    def __init__(self, flags: OutputFlags) -> None:
        self.flags = flags
        self.stderr = _plain_console(stderr=True)
        self.stdout = _plain_console(width=None if sys.stdout.isatty() else WIDE)
        reset_notices()
        ROOT.addHandler(Notices(self.stderr))
        ROOT.setLevel(self._level())

    def _level(self) -> int:
        if self.flags.verbose:
            return logging.INFO
        return logging.ERROR if self.flags.quiet else logging.WARNING

    @property
    def shows_progress(self) -> bool:
        """Whether a progress bar belongs on stderr."""
        return self.stderr.is_terminal and not self.flags.quiet

    @property
    def wants_json(self) -> bool:
        """Whether stdout is to hold JSON alone."""
        return self.flags.as_json

    def note(self, text: str) -> None:
        """Say something on stderr."""
        if not self.flags.quiet:
            self.stderr.print(text, soft_wrap=True)

    def json(self, data: Any, lines: bool = False) -> None:
        """Print JSON on stdout; with `lines` on one line, for output of many values."""
        indent = None if lines else 2
        sys.stdout.write(json.dumps(data, indent=indent, allow_nan=False, default=_plain) + "\n")

    def summary(self, text: str) -> None:
        """Print a closing line on stdout, unless JSON or quiet is asked for."""
        if not self.flags.quiet:
            self.line(text)

    def line(self, text: str = "") -> None:
        """Print a line on stdout, unless JSON is asked for."""
        if not self.wants_json:
            self.stdout.print(text, soft_wrap=True)

    def table(
        self, columns: Sequence[str], rows: Iterable[Sequence[str]], title: str | None = None
    ) -> None:
        """Print a table on stdout; columns named with a leading '>' are flushed right."""
        from rich import box
        from rich.table import Table

        if self.wants_json:
            return
        shown = Table(
            box=box.SIMPLE_HEAD,
            title=title,
            title_justify="left",
            show_edge=False,
            show_header=any(column.strip(">") for column in columns),
        )
        for column in columns:
            right = column.startswith(">")
            shown.add_column(column.removeprefix(">"), justify="right" if right else "left")
        for row in rows:
            shown.add_row(*row)
        self.stdout.print(shown)
        self.stdout.print()


def _plain_console(stderr: bool = False, width: int | None = None) -> "Console":
    """Make a console to which brackets and colons in ids and texts mean nothing."""
    from rich.console import Console

    return Console(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)


def reset_notices() -> None:
    """Leave logging as it was before a verb ran."""
    for handler in [h for h in ROOT.handlers if isinstance(h, Notices)]:
        ROOT.removeHandler(handler)
    ROOT.setLevel(logging.NOTSET)


def cut(text: str, width: int) -> str:
    """Text on one line of at most `width` characters.

    >>> cut("a long text", 6)
    'a lon…'
    """
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def _plain(value: object) -> Any:
    tolist = getattr(value, "tolist", None)
    return tolist() if callable(tolist) else str(value)
