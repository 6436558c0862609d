"""A scale run as checks and tables, as JSON, and as a plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from evaluation.benchmark.corpus import BINS, BLOCK, Corpus, Histograms, histograms
from evaluation.benchmark.report import BenchReport, Check, Table
from evaluation.benchmark.scale_model import (
    ADVISED,
    GB,
    Advice,
    Assumptions,
    Model,
    Point,
    Residual,
    VariantPoint,
    advise,
    fit,
    legs_ms,
    residuals,
)
from evaluation.benchmark.scale_variants import FOUR_SHARDS, PLAIN, QUANTISED
from evaluation.report import Machine

TARGET_RATIO: Final = 3.0
TARGET_RECALL: Final = 0.99
MIB: Final = 2**20
# Additional shards of the variant that the cost of a shard is read from.
_MORE_SHARDS: Final = 3


@dataclass(frozen=True, slots=True)
class ScaleRun:
    """All that a run measured."""

    corpus: Corpus
    points: tuple[Point, ...]
    variants: tuple[VariantPoint, ...]
    quick: bool


class ScaleFile(BaseModel):
    """The JSON of a run."""

    model_config = ConfigDict(frozen=True)

    command: str
    seed: int
    real_passages: int
    spread: float
    machine: Machine
    versions: dict[str, str]
    distance_bins: tuple[float, ...]
    distances: dict[str, tuple[float, ...]]
    points: tuple[Point, ...]
    variants: tuple[VariantPoint, ...]
    model: Model
    residuals: tuple[Residual, ...]
    assumptions: Assumptions
    advice: tuple[Advice, ...]


def model_of(run: ScaleRun) -> Model:
    """The fitted model."""
    by_name = {one.name: one for one in run.variants}
    shard_ms, share = 0.0, 1.0
    plain, four, packed = (by_name.get(name) for name in (PLAIN, FOUR_SHARDS, QUANTISED))
    if plain and four and plain.legs and four.legs and four.beside:
        # In turns with the default, and as fast as that was by itself.
        ratio = four.legs.p50 / four.beside.legs.p50
        shard_ms = max(0.0, plain.legs.p50 * (ratio - 1) / _MORE_SHARDS)
    if plain and packed and plain.disk and packed.disk and plain.disk.vectors:
        # Both are on disk then, the float32 vectors too; searches read the packed ones.
        share = max(0.0, packed.disk.vectors / plain.disk.vectors - 1.0)
    return fit(run.points, shard_ms=shard_ms, vector_share=share or 1.0)


def advice_of(model: Model, assumed: Assumptions) -> tuple[Advice, ...]:
    """For every advised size."""
    return tuple(advise(model, chunks, assumed) for chunks in ADVISED)


def report(run: ScaleRun) -> BenchReport:
    """Checks, the table of sizes, and those of variants, distances and advice."""
    first, last = run.points[0], run.points[-1]
    small = last.beside.search if last.beside and last.beside.search else first.search
    ratio = round(last.search.p50 / small.p50, 2)
    several = len(run.points) > 1
    checks = [
        Check(
            name=f"search p50 at {last.chunks} chunks over {first.chunks}, 1% tenant",
            value=ratio if several else None,
            target=f"<= {TARGET_RATIO:g}",
            holds=ratio <= TARGET_RATIO if several else None,
        )
    ]
    for name in last.recall:
        # The worst size counts; a filter that nothing passes has no figure.
        found = [point.recall[name] for point in run.points]
        known = [value for value in found if value is not None]
        worst = min(known) if known else None
        checks.append(
            Check(
                name=f"recall@20 of filtered k-NN, {name}",
                value=worst,
                target=f">= {TARGET_RECALL:g}",
                holds=None if worst is None else worst >= TARGET_RECALL,
            )
        )
    model, assumed = model_of(run), Assumptions()
    return BenchReport(
        name="scale",
        size=f"{', '.join(str(point.chunks) for point in run.points)} chunks of {len(run.corpus.base)} real passages",
        checks=tuple(checks),
        columns=(
            "chunks",
            "chunks/s",
            "segments",
            "legs p50/p95 ms",
            "search p50/p95 ms",
            "over the smallest, in turns",
            "recall@20, worst",
            "disk MiB",
            "bytes a chunk",
            "heap MiB",
            "memory MiB",
        ),
        rows=tuple(_row(point) for point in run.points),
        more=(
            _recalls(run.points),
            _variants(run.variants),
            _distances(histograms(run.corpus)),
            _residuals(model, run.points),
            _assumed(assumed),
            _advised(model, assumed),
        ),
    )


def _row(point: Point) -> tuple[str, ...]:
    beside = None if point.beside is None else point.beside.search
    known = [value for value in point.recall.values() if value is not None]
    return (
        str(point.chunks),
        f"{point.chunks_per_s:.0f}",
        str(point.segments),
        f"{point.legs.p50:.1f} / {point.legs.p95:.1f}",
        f"{point.search.p50:.1f} / {point.search.p95:.1f}",
        "-" if beside is None else f"{point.search.p50 / beside.p50:.2f}",
        f"{min(known):.4f}" if known else "-",
        f"{point.disk.total / MIB:.0f}",
        f"{point.disk.total / point.chunks:.0f}",
        f"{point.heap / MIB:.0f}",
        "-" if point.memory is None else f"{point.memory / MIB:.0f}",
    )


def _recalls(points: Sequence[Point]) -> Table:
    rows = tuple(
        (name, *("-" if (value := point.recall[name]) is None else f"{value:.4f}" for point in points))
        for name in points[-1].recall
    )
    columns = ("filter", *(f"{point.chunks} chunks" for point in points))
    return Table(title="recall@20 of the k-NN leg against exact search, same filter", columns=columns, rows=rows)


def _residuals(model: Model, points: Sequence[Point]) -> Table:
    rows = tuple(
        (
            str(one.chunks),
            f"{one.disk / MIB:.0f}",
            f"{one.disk_model / MIB:.0f}",
            f"{one.disk_error:+.1%}",
            f"{one.legs_ms:.1f}",
            f"{one.legs_model_ms:.1f}",
            f"{one.legs_error:+.1%}",
        )
        for one in residuals(model, points)
    )
    columns = ("chunks", "disk MiB", "by the model", "error", "legs p50 ms", "by the model", "error")
    said = (
        f"{model.disk_per_chunk:.0f} bytes a chunk; legs {model.latency_ms:.2f} ms + "
        f"{model.latency_ms_per_chunk * BLOCK:.3f} ms for each {BLOCK} chunks of a shard; "
        f"{model.shard_ms:.2f} ms for a further shard"
    )
    return Table(title=f"The model at the measured points: {said}", columns=columns, rows=rows)


def _assumed(assumed: Assumptions) -> Table:
    rows = tuple(
        (name, f"{getattr(assumed, name):g}", str(field.description))
        for name, field in type(assumed).model_fields.items()
    )
    return Table(title="What the advice assumes", columns=("name", "value", "what"), rows=rows)


def _variants(variants: Sequence[VariantPoint]) -> Table:
    columns = (
        "variant",
        "chunks/s",
        "legs p50/p95 ms",
        "over the default, in turns",
        "recall@20, worst",
        "bytes a chunk",
        "vectors",
        "graph",
        "doc values",
        "source",
        "text",
    )
    rows = []
    for one in variants:
        if one.legs is None or one.disk is None:
            rows.append((one.name, one.refused or "-", *[""] * (len(columns) - 2)))
            continue
        known = [value for value in one.recall.values() if value is not None]
        kinds = (one.disk.total, one.disk.vectors, one.disk.graph, one.disk.doc_values, one.disk.source, one.disk.text)
        rows.append(
            (
                one.name,
                f"{one.chunks_per_s:.0f}",
                f"{one.legs.p50:.1f} / {one.legs.p95:.1f}",
                "-" if one.beside is None else f"{one.legs.p50 / one.beside.legs.p50:.2f}",
                f"{min(known):.4f}" if known else "-",
                *(f"{kind / one.chunks:.0f}" for kind in kinds),
            )
        )
    size = next((one.chunks for one in variants if one.chunks), 0)
    return Table(title=f"Ways to set an index up, {size} chunks", columns=columns, rows=tuple(rows))


def _distances(found: Histograms) -> Table:
    rows = tuple(
        (f"{edge:.3f}", f"{real:.3f}", f"{once:.3f}", f"{twice:.3f}")
        for edge, real, once, twice in zip(BINS, found.real, found.generated, found.doubled, strict=True)
        if real or once or twice
    )
    columns = ("cosine distance from", "real", "generated, as many", "generated, twice as many")
    return Table(title="Distance to the nearest neighbour, shares", columns=columns, rows=rows)


def _advised(model: Model, assumed: Assumptions) -> Table:
    rows = tuple(
        (
            f"{one.chunks:,}",
            str(one.shards),
            f"{one.disk_gb:,}",
            f"{one.cache_gb:,}",
            str(one.nodes),
            f"{one.packed_cache_gb:,}",
            str(one.packed_nodes),
            f"{one.routed_ms:g}",
            f"{one.all_shards_ms:g}",
        )
        for one in advice_of(model, assumed)
    )
    columns = (
        "chunks",
        "shards",
        "disk GB",
        "vectors and graph in memory GB",
        "nodes",
        "the same, 7-bit vectors",
        "nodes",
        "legs, routed, ms",
        "all shards, ms",
    )
    return Table(title="By the model, not measured", columns=columns, rows=rows)


def write_outputs(run: ScaleRun, folder: Path) -> None:
    """`scale-model.json` (all figures, the model and its assumptions) and `scale-curves.png`."""
    folder.mkdir(parents=True, exist_ok=True)
    found, model, assumed = histograms(run.corpus), model_of(run), Assumptions()
    file = ScaleFile(
        command=_command(run),
        seed=run.corpus.seed,
        real_passages=len(run.corpus.base),
        spread=round(run.corpus.spread, 4),
        machine=Machine.here(),
        versions={package: version(package) for package in ("numpy", "onnxruntime", "opensearch-py")},
        distance_bins=BINS,
        distances={"real": found.real, "generated": found.generated, "doubled": found.doubled},
        points=run.points,
        variants=run.variants,
        model=model,
        residuals=residuals(model, run.points),
        assumptions=assumed,
        advice=advice_of(model, assumed),
    )
    (folder / "scale-model.json").write_text(file.model_dump_json(indent=1), encoding="utf-8")
    _plot(run, found, model, folder / "scale-curves.png")


def _command(run: ScaleRun) -> str:
    sizes = ",".join(str(point.chunks) for point in run.points)
    quick = " --quick" if run.quick else ""
    return f"mafteach bench scale{quick} --seed {run.corpus.seed} --sizes {sizes} --out FOLDER"


def _plot(run: ScaleRun, found: Histograms, model: Model, path: Path) -> None:
    # matplotlib costs half a second to import: only who draws pays it. Agg needs no display.
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=(11, 8), dpi=120, layout="constrained")
    sizes = [point.chunks for point in run.points]
    _lines(
        axes[0][0],
        sizes,
        {
            "whole search, p50": [point.search.p50 for point in run.points],
            "whole search, p95": [point.search.p95 for point in run.points],
            "both legs, p50": legs_ms(run.points),
            "both legs, model": [model.latency(size) for size in sizes],
        },
        "ms, tenant of 1%",
    )
    recall = {name: [point.recall[name] for point in run.points] for name in run.points[-1].recall}
    _lines(axes[0][1], sizes, recall, "recall@20 of filtered k-NN")
    axes[0][1].axhline(TARGET_RECALL, color="black", linestyle="--")
    _lines(
        axes[1][0],
        sizes,
        {
            "disk": [point.disk.total / GB for point in run.points],
            "vectors and graph": [(point.disk.vectors + point.disk.graph) / GB for point in run.points],
            "heap after collection": [point.heap / GB for point in run.points],
        },
        "GB",
    )
    for label, shares in (("real", found.real), ("generated", found.generated), ("twice as many", found.doubled)):
        axes[1][1].step(BINS, shares, where="post", label=label)
    axes[1][1].set_xlabel("cosine distance to the nearest neighbour")
    axes[1][1].legend()
    figure.savefig(path)
    pyplot.close(figure)


def _lines(axes: Any, sizes: Sequence[int], lines: Mapping[str, Sequence[float | None]], title: str) -> None:
    for label, values in lines.items():
        axes.plot(sizes, values, marker="o", label=label)
    if sizes[-1] > BLOCK:
        axes.set_xscale("log")
    axes.set_xlabel("chunks")
    axes.set_title(title)
    axes.legend(fontsize=8)
