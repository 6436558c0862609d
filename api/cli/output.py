"""Printing: JSON for machines, tables for people, plain lines where no one looks, everything else on standard error."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from rich.console import RenderableType

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
TenantOption = Annotated[
    str, typer.Option("--tenant", "-t", metavar="TENANT", help="The tenant whose documents these are.")
]

# Control characters move the cursor or change colours, and a document may hold any; they are shown as a blank.
CONTROLS: Final = dict.fromkeys((*range(0x00, 0x20), *range(0x7F, 0xA0)), " ")

# Columns of a report that is not on a terminal: the widest table, the stages with seven figures, has about 150.
REPORT_WIDTH: Final = 180

Say = Callable[[str], None]


def prepare_streams() -> None:
    """Make both streams take any text: what their encoding lacks is written as an escape, never as a crash."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(line: str) -> None:
    """One line for the person who waits, on standard error."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def print_line(line: str = "") -> None:
    """One line of the result."""
    sys.stdout.write(f"{line}\n")


def print_text(text: str) -> None:
    """A document's text: to the letter into a file or a pipe; on a terminal without what would steer it."""
    kept = {code: blank for code, blank in CONTROLS.items() if chr(code) not in "\n\t"}
    print_line(text.translate(kept) if sys.stdout.isatty() else text)


def print_json(value: Any) -> None:
    """The result as JSON: Hebrew as it is where the stream is UTF-8, as escapes elsewhere."""
    sys.stdout.write(f"{_json(value, ensure_ascii=not _is_utf8())}\n")


def write_json(path: Path, value: Any) -> None:
    """The result as a JSON file.

    Raises:
        InvalidRequest: the file can't be written.
    """
    try:
        path.write_text(f"{_json(value, ensure_ascii=False)}\n", encoding="utf-8")
    except OSError as error:
        raise InvalidRequest(
            f"The result can't be written: {error.strerror}.",
            where=str(path),
            remedy="Name a file that can be written.",
        ) from error


def write_bytes(path: Path, data: bytes) -> None:
    """The result as a file.

    Raises:
        InvalidRequest: the file can't be written.
    """
    try:
        path.write_bytes(data)
    except OSError as error:
        raise InvalidRequest(
            f"The result can't be written: {error.strerror}.",
            where=str(path),
            remedy="Name a file that can be written.",
        ) from error


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table on a terminal; elsewhere a line for each row, with tabs between, so that `cut` and `sort` can use it."""
    cleaned = [[clean("" if cell is None else str(cell)) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in (columns, *cleaned):
            print_line("\t".join(row))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in cleaned:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def print_report(report: RenderableType) -> None:
    """A long report of tables; in a file or a pipe as wide as it needs, not as a terminal would be."""
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else REPORT_WIDTH).print(report)


def print_pairs(pairs: Iterable[tuple[str, object]]) -> None:
    """Names and values, one pair a line."""
    listed = [(name, clean(str(value))) for name, value in pairs]
    width = max((len(name) for name, _ in listed), default=0)
    for name, value in listed:
        print_line(f"{name:<{width}}  {value}")


def clean(text: str) -> str:
    """Text on one line, without control characters."""
    return text.translate(CONTROLS)


def _json(value: Any, *, ensure_ascii: bool) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=2)


def _is_utf8() -> bool:
    return codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"
