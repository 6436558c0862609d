"""A run kept in a folder: everything as JSON, its tables as text, a plot, and how to repeat it."""

from __future__ import annotations

import math
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from evaluation.benchmark.report import BenchReport
from evaluation.report import Machine
from search_config.errors import InvalidRequest

PACKAGES: Final = ("mafteach", "numpy", "onnxruntime", "opensearch-py")
# More columns of figures than this make a plot that nobody reads; the table has all.
_PLOTS_MAX: Final = 4
_INCHES_ROW, _INCHES_WIDE, _INCHES_LEAST = 0.32, 4.6, 2.4
_INCHES_CURVE: Final = 3.2
_DOTS_PER_INCH: Final = 110
# Fewer are drawn as bars.
_CURVE_POINTS: Final = 3
_HOLDS: Final = {True: "yes", False: "NO", None: "-"}


class Kept(BaseModel):
    """The JSON of a kept run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: str
    seed: int
    machine: Machine
    versions: dict[str, str]
    load: float
    report: BenchReport


def keep(report: BenchReport, folder: Path, *, command: str, seed: int, engine: str, load: float) -> list[Path]:
    """Write `NAME.json`, `NAME.txt` and, where there are figures to draw, `NAME.png`.

    Args:
        command: that repeats the run.
        engine: its version.
        load: processes that wanted a core, on average, in the minute before the end.

    Returns:
        What was written.

    Raises:
        InvalidRequest: the folder can't be written.
    """
    kept = Kept(
        command=command,
        seed=seed,
        machine=Machine.here(),
        versions={"opensearch": engine, **{name: version(name) for name in PACKAGES}},
        load=round(load, 1),
        report=report,
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = [folder / f"{report.name}.json", folder / f"{report.name}.txt"]
        written[0].write_text(f"{kept.model_dump_json(indent=2)}\n", encoding="utf-8")
        written[1].write_text(_text(kept), encoding="utf-8")
    except OSError as error:
        raise InvalidRequest(
            f"The run can't be kept: {error.strerror}.", where=str(folder), remedy="Name a folder that can be written."
        ) from error
    return written + _plot(report, folder / f"{report.name}.png")


def _text(kept: Kept) -> str:
    report, machine = kept.report, kept.machine
    checks = tuple(
        (
            one.name,
            "-" if one.value is None else f"{one.value:g}",
            one.target,
            _HOLDS[one.holds],
        )
        for one in report.checks
    )
    tables = [
        _aligned(("check", "value", "target", "holds"), checks),
        *([_aligned(report.columns, report.rows)] if report.rows else []),
        *(f"{table.title}\n{_aligned(table.columns, table.rows)}" for table in report.more),
    ]
    head = (
        f"{kept.command}  (seed {kept.seed})  {report.size}".rstrip(),
        f"{machine.system}, {machine.cores} cores, {machine.memory_gib} GiB, Python {machine.python}, load {kept.load}",
        ", ".join(f"{name} {number}" for name, number in kept.versions.items()),
    )
    return "\n".join((*head, "", *tables))


def _aligned(columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> str:
    widths = [max(len(row[place]) for row in (columns, *rows)) for place in range(len(columns))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (columns, *rows))
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _plot(report: BenchReport, path: Path) -> list[Path]:
    """Each column of figures: over the first one where that counts up (sizes, rates, minutes), else as bars by the
    words of their row."""
    cells = list(zip(*report.rows, strict=True))
    rising = bool(cells) and _rises(cells[0])
    columns = list(zip(report.columns, cells, strict=True))[int(rising) :]
    figures = [(name, column) for name, column in columns if _numbers(column)][:_PLOTS_MAX]
    if not figures:
        return []
    # matplotlib costs half a second to import: only who draws pays it. Agg needs no display.
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    words = [column for column in cells if not _numbers(column)]
    labels = [" · ".join(parts) for parts in zip(*words, strict=True)] or [str(row) for row in range(len(report.rows))]
    wide = _INCHES_WIDE * (1 + len(figures)) / 1.5
    high = _INCHES_CURVE if rising else max(_INCHES_LEAST, _INCHES_ROW * len(labels) + 1)
    drawn: Any
    drawn, axes = pyplot.subplots(
        1,
        len(figures),
        figsize=(wide, high),
        dpi=_DOTS_PER_INCH,
        sharey=not rising,
        squeeze=False,
        layout="constrained",
    )
    for one, (name, column) in zip(axes[0], figures, strict=True):
        values = [_number(cell) for cell in column]
        if rising:
            one.plot([_number(cell) for cell in cells[0]], values, marker=".")
            one.set_ylim(bottom=0)
            one.set_xlabel(report.columns[0], fontsize="small")
        else:
            bars = one.barh(labels, [0.0 if math.isnan(value) else value for value in values])
            one.bar_label(bars, labels=list(column), fontsize="x-small", padding=2)
        one.set_title(name, fontsize="small")
        one.tick_params(labelsize="small")
    if not rising:
        axes[0][0].invert_yaxis()
    drawn.savefig(path)
    pyplot.close(drawn)
    return [path]


def _number(cell: str) -> float:
    """A figure, and nan of anything else; shares are written with their sign."""
    try:
        return float(cell.removesuffix("%"))
    except ValueError:
        return math.nan


def _numbers(column: tuple[str, ...]) -> bool:
    """Whether what its rows have is figures, at least by half."""
    said = [cell for cell in column if cell]
    return 2 * sum(not math.isnan(_number(cell)) for cell in said) >= max(1, len(said))


def _rises(column: tuple[str, ...]) -> bool:
    """Whether it is an axis: at least three figures, each above the one before."""
    values = [_number(cell) for cell in column]
    return len(values) >= _CURVE_POINTS and all(one < other for one, other in pairwise(values))
