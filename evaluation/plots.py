"""Plots of a report as PNG files; Hebrew labels read from right to left."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from bidi import get_display

from evaluation.metrics import MRR, NDCG
from evaluation.refusal_report import RefusalReport
from evaluation.report import Report
from query.profile_parts import CurvePoint

DOTS_PER_INCH: Final = 130
SIZE_INCHES: Final = (9.0, 4.5)
LABEL_CHARS: Final = 48
BINS: Final = 40


def label(text: str) -> str:
    """Text for matplotlib, which lays letters left to right: the visual order of a line."""
    shortened = text if len(text) <= LABEL_CHARS else f"{text[: LABEL_CHARS - 1]}…"
    return str(get_display(shortened))


def write_plots(report: Report, folder: Path) -> list[Path]:
    """Recall by stage, latency by stage, and the refusal. Gives the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [_stages(report, folder / "stages.png"), _latency(report, folder / "latency.png")]
    return written + (write_refusal_plots(report.refusal, folder) if report.refusal else [])


def write_refusal_plots(found: RefusalReport, folder: Path) -> list[Path]:
    """The probabilities of both kinds of questions, and the curve. Gives the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    return [_distributions(found, folder / "refusal.png"), _curve(found.curve, folder / "refusal-curve.png")]


def _figure() -> tuple[Any, Any]:
    # matplotlib costs half a second to import: only who draws pays it. Agg needs no display.
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    return pyplot.subplots(figsize=SIZE_INCHES, dpi=DOTS_PER_INCH, layout="constrained")


def _stages(report: Report, path: Path) -> Path:
    figure, axes = _figure()
    metrics = [name for name in next(iter(report.stages.values())) if name.startswith("recall@")] + [MRR, NDCG]
    width = 0.8 / len(report.stages)
    for number, (stage, figures) in enumerate(report.stages.items()):
        places = [index + number * width for index in range(len(metrics))]
        values = [figures[name].value for name in metrics]
        errors = [
            [figures[name].value - figures[name].low for name in metrics],
            [figures[name].high - figures[name].value for name in metrics],
        ]
        axes.bar(places, values, width, yerr=errors, capsize=2, label=stage)
    axes.set_xticks([index + 0.4 - width / 2 for index in range(len(metrics))], metrics)
    lowest = min(figures[name].low for figures in report.stages.values() for name in metrics)
    axes.set_ylim(max(0.0, lowest - 0.05), 1.0)
    axes.set_title(label(f"{report.dataset}: {report.queries} questions, 95% intervals"))
    axes.legend(loc="lower right")
    return _save(figure, path)


def _latency(report: Report, path: Path) -> Path:
    figure, axes = _figure()
    axes.barh(list(report.ms_per_query), list(report.ms_per_query.values()))
    axes.set_xlabel("median ms a query")
    axes.set_title(label(f"{report.dataset}: {report.machine.cores} cores"))
    return _save(figure, path)


def _distributions(found: RefusalReport, path: Path) -> Path:
    figure, axes = _figure()
    bins = [place / BINS for place in range(BINS + 1)]
    for name, values in (("answerable", found.answerable), ("out of domain", found.out_of_domain)):
        axes.hist(values, bins=bins, alpha=0.6, label=f"{name} ({len(values)})")
    axes.axvline(found.threshold, color="black", linestyle="--", label=f"threshold {found.threshold:.3f}")
    axes.set_yscale("log")
    axes.set_xlabel("probability that the top passages answer")
    axes.set_ylabel("questions")
    axes.legend(loc="upper center")
    return _save(figure, path)


def _curve(points: Sequence[CurvePoint], path: Path) -> Path:
    figure, axes = _figure()
    lost = [point.answerable_refused.value for point in points]
    answered = [point.out_of_domain_answered for point in points]
    axes.plot(lost, [share.value for share in answered], marker="o")
    axes.fill_between(lost, [share.low for share in answered], [share.high for share in answered], alpha=0.2)
    axes.set_xlabel("share of answerable questions refused")
    axes.set_ylabel("share of out-of-domain questions answered (95%)")
    axes.set_ylim(bottom=0.0)
    return _save(figure, path)


def _save(figure: Any, path: Path) -> Path:
    from matplotlib import pyplot

    figure.savefig(path)
    pyplot.close(figure)
    return path
