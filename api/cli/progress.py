"""A progress bar on standard error: what is done, of how much, at which rate; silent where no one looks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[int, int, str], None]


@contextmanager
def progress_bar() -> Iterator[Report]:
    """Gives `report(done, total, what)`; each `what` has a bar of its own."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as bars:
        tasks: dict[str, TaskID] = {}

        def report(done: int, total: int, what: str) -> None:
            task = tasks.get(what)
            if task is None:
                task = tasks[what] = bars.add_task(what, total=total)
            bars.update(task, completed=done, total=total)

        yield report
