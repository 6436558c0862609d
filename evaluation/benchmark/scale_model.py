"""A model of size: fitted to what was measured, and what it says of larger installations under named assumptions.

Bytes, by kind of file, grow with the chunks: `bytes = slope * chunks`, least squares through the origin. The
median of both legs on one shard is `a + b * chunks`, least squares with `a` and `b` not below 0: what a search reads
of a tenant grows with the tenant, and a tenant's share stays. A cluster is cut into shards of bounded size, so that no
shard's latency is beyond the measured range by much; what a further shard of one search costs is measured too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from evaluation.benchmark.scale_measure import Bytes, Quantiles

GB: Final = 1e9
# Sizes that the advice is given for.
ADVISED: Final = (100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000)


class Beside(BaseModel):
    """What was measured in turns with something else, so that noise is the same for both."""

    model_config = ConfigDict(frozen=True)

    legs: Quantiles
    search: Quantiles | None = None


class Point(BaseModel):
    """What was measured at one size. `beside` is of an index of the smallest size, asked in turns with this one, and
    None at that size. `memory` is the node's resident set, None where the node is not this machine's."""

    model_config = ConfigDict(frozen=True)

    chunks: int
    chunks_per_s: float
    legs: Quantiles
    search: Quantiles
    beside: Beside | None = None
    recall: dict[str, float | None]
    disk: Bytes
    segments: int
    heap: int
    memory: int | None


class VariantPoint(BaseModel):
    """What was measured of one way to set an index up, in turns with the default (`beside`); `refused` says why the
    engine can't."""

    model_config = ConfigDict(frozen=True)

    name: str
    refused: str | None = None
    chunks: int = 0
    chunks_per_s: float = 0.0
    legs: Quantiles | None = None
    beside: Beside | None = None
    recall: dict[str, float | None] = Field(default_factory=dict)
    disk: Bytes | None = None
    segments: int = 0


class Assumptions(BaseModel):
    """What the advice takes for granted; none of it was measured."""

    model_config = ConfigDict(frozen=True)

    replicas: int = Field(1, description="Copies of every shard beside the primary.")
    shard_gb: float = Field(30.0, description="Largest shard: what a node can copy to another within minutes.")
    shard_chunks: int = Field(500_000, description="Most chunks of a shard: two and a half times the largest measured.")
    node_memory_gb: float = Field(64.0, description="Memory of a node, half of it heap.")
    node_cache_gb: float = Field(30.0, description="Of it, for files that searches read at random: vectors and graph.")
    node_disk_gb: float = Field(2_000.0, description="Disk of a node.")
    disk_filled: float = Field(0.7, description="Share of a disk that may be filled: merges write a second copy.")


class Model(BaseModel):
    """Fitted coefficients."""

    model_config = ConfigDict(frozen=True)

    disk_per_chunk: float
    vectors_per_chunk: float
    graph_per_chunk: float
    latency_ms: float = Field(description="a: median of both legs at no chunks.")
    latency_ms_per_chunk: float = Field(description="b")
    shard_ms: float = Field(description="What a further shard adds to a search that asks all.")
    vector_share: float = Field(1.0, description="Bytes of a quantised vector, of those in float32.")
    worst_error: float = Field(description="Largest relative error of disk and latency at the measured points.")

    def latency(self, chunks: float) -> float:
        """Median of both legs on one shard, in ms."""
        return self.latency_ms + self.latency_ms_per_chunk * chunks


class Residual(BaseModel):
    """The model beside what was measured at one size; errors are of the measured figure."""

    model_config = ConfigDict(frozen=True)

    chunks: int
    disk: int
    disk_model: float
    disk_error: float
    legs_ms: float
    legs_model_ms: float
    legs_error: float


class Advice(BaseModel):
    """For one size, by the model."""

    model_config = ConfigDict(frozen=True)

    chunks: int
    shards: int
    disk_gb: float = Field(description="With replicas.")
    cache_gb: float = Field(description="Memory for vectors in float32 and the graph, with replicas.")
    packed_cache_gb: float = Field(description="The same with quantised vectors.")
    nodes: int = Field(description="With vectors in float32.")
    packed_nodes: int = Field(description="With quantised vectors.")
    routed_ms: float = Field(description="Both legs where a search asks its tenant's shard alone.")
    all_shards_ms: float


def fit(points: Sequence[Point], *, shard_ms: float, vector_share: float) -> Model:
    """Fit the coefficients.

    Args:
        points: at least one.
        shard_ms: measured by the variants.
        vector_share: of a vector's bytes, what searches read of it where it is quantised.
    """
    sizes = np.array([point.chunks for point in points], dtype=np.float64)
    legs = legs_ms(points)

    def slope(values: Sequence[float]) -> float:
        return float(sizes @ np.array(values) / (sizes @ sizes))

    base, growth = _line(sizes, np.array(legs))
    disk = slope([point.disk.total for point in points])
    model = Model(
        disk_per_chunk=disk,
        vectors_per_chunk=slope([point.disk.vectors for point in points]),
        graph_per_chunk=slope([point.disk.graph for point in points]),
        latency_ms=base,
        latency_ms_per_chunk=growth,
        shard_ms=shard_ms,
        vector_share=vector_share,
        worst_error=0.0,
    )
    errors = [abs(error) for one in residuals(model, points) for error in (one.disk_error, one.legs_error)]
    return model.model_copy(update={"worst_error": max(errors)})


def legs_ms(points: Sequence[Point]) -> list[float]:
    """Median of both legs at each size, as on a machine that is as fast at all of them: what the smallest index took
    beside a size says how fast it was then, and the fastest of those moments counts for all."""
    then = [point.beside.legs.p50 if point.beside else None for point in points]
    then[0] = points[0].legs.p50
    fastest = min(one for one in then if one is not None)
    return [point.legs.p50 * fastest / (one or fastest) for point, one in zip(points, then, strict=True)]


def residuals(model: Model, points: Sequence[Point]) -> tuple[Residual, ...]:
    """The model at each measured size."""
    return tuple(
        Residual(
            chunks=point.chunks,
            disk=point.disk.total,
            disk_model=model.disk_per_chunk * point.chunks,
            disk_error=model.disk_per_chunk * point.chunks / point.disk.total - 1,
            legs_ms=legs,
            legs_model_ms=model.latency(point.chunks),
            legs_error=model.latency(point.chunks) / legs - 1,
        )
        for point, legs in zip(points, legs_ms(points), strict=True)
    )


def _line(sizes: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Least squares of `a + b x` with neither below 0."""
    if len(sizes) == 1:
        return float(values[0]), 0.0
    growth, base = (float(one) for one in np.polyfit(sizes, values, 1))
    if growth < 0:
        return float(values.mean()), 0.0
    if base < 0:
        return 0.0, float(sizes @ values / (sizes @ sizes))
    return base, growth


def advise(model: Model, chunks: int, assumed: Assumptions) -> Advice:
    """What an installation of that many chunks needs."""
    stored = model.disk_per_chunk * chunks
    shards = max(1, math.ceil(stored / (assumed.shard_gb * GB)), math.ceil(chunks / assumed.shard_chunks))
    copies = 1 + assumed.replicas
    disk = stored * copies / GB

    def cache_gb(vector_share: float) -> float:
        return (model.vectors_per_chunk * vector_share + model.graph_per_chunk) * chunks * copies / GB

    def nodes(cache: float) -> int:
        by_disk = math.ceil(disk / (assumed.node_disk_gb * assumed.disk_filled))
        return max(copies, by_disk, math.ceil(cache / assumed.node_cache_gb))

    cache, packed = cache_gb(1.0), cache_gb(model.vector_share)
    routed = model.latency(chunks / shards)
    return Advice(
        chunks=chunks,
        shards=shards,
        disk_gb=round(disk, 1),
        cache_gb=round(cache, 1),
        packed_cache_gb=round(packed, 1),
        nodes=nodes(cache),
        packed_nodes=nodes(packed),
        routed_ms=round(routed, 1),
        all_shards_ms=round(routed + model.shard_ms * (shards - 1), 1),
    )
