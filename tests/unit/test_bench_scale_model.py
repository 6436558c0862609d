"""The model of size: it finds what made the figures, and its advice follows its assumptions."""

from __future__ import annotations

import pytest

from evaluation.benchmark.scale_measure import Bytes, Quantiles
from evaluation.benchmark.scale_model import GB, Assumptions, Beside, Point, advise, fit, legs_ms, residuals


def _point(chunks: int, ms: float, per_chunk: int = 10_000) -> Point:
    return Point(
        chunks=chunks,
        chunks_per_s=1000.0,
        legs=Quantiles(p50=ms, p95=2 * ms),
        search=Quantiles(p50=3 * ms, p95=6 * ms),
        recall={},
        disk=Bytes(total=per_chunk * chunks, vectors=1536 * chunks, graph=100 * chunks, doc_values=0, source=0),
        segments=1,
        heap=1,
        memory=None,
    )


def test_it_finds_the_line_that_made_the_figures() -> None:
    points = [_point(size, 5 + size * 1e-4) for size in (10_000, 100_000, 200_000)]
    model = fit(points, shard_ms=0.5, vector_share=1.0)
    assert model.latency_ms == pytest.approx(5)
    assert model.latency_ms_per_chunk == pytest.approx(1e-4)
    assert model.disk_per_chunk == pytest.approx(10_000)
    assert model.worst_error == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("milliseconds", [(10.0, 8.0, 6.0), (0.1, 10.0, 40.0)])
def test_no_coefficient_is_below_nought(milliseconds: tuple[float, ...]) -> None:
    points = [_point(size, ms) for size, ms in zip((10_000, 100_000, 200_000), milliseconds, strict=True)]
    model = fit(points, shard_ms=0.0, vector_share=1.0)
    assert model.latency_ms >= 0
    assert model.latency_ms_per_chunk >= 0
    assert model.worst_error > 0


def test_advice_follows_the_assumptions() -> None:
    model = fit([_point(100_000, 10.0)], shard_ms=0.5, vector_share=0.25)
    assumed = Assumptions()
    small, large = advise(model, 100_000, assumed), advise(model, 10**9, assumed)
    assert (small.shards, small.nodes) == (1, 2)
    assert large.shards >= 10**9 * 10_000 / (assumed.shard_gb * GB)
    assert large.shards >= 10**9 / assumed.shard_chunks
    assert large.disk_gb == pytest.approx(2 * 10**9 * 10_000 / GB)
    assert large.cache_gb == pytest.approx(2 * (1536 + 100))
    assert large.packed_cache_gb == pytest.approx(2 * (1536 / 4 + 100))
    assert large.nodes * assumed.node_cache_gb >= large.cache_gb
    assert large.nodes > large.packed_nodes
    assert large.all_shards_ms > large.routed_ms


def test_residuals_are_of_the_measured_figure() -> None:
    points = [_point(100_000, 10.0), _point(200_000, 10.0, per_chunk=20_000)]
    model = fit(points, shard_ms=0.0, vector_share=1.0)
    first, second = residuals(model, points)
    # (1 x 1 + 2 x 4) / (1 + 4) of 10,000 bytes a chunk, by least squares through the origin.
    assert model.disk_per_chunk == pytest.approx(18_000)
    assert first.disk_error == pytest.approx(0.8)
    assert second.disk_error == pytest.approx(-0.1)
    assert (first.legs_error, second.legs_error) == pytest.approx((0, 0), abs=1e-9)
    assert model.worst_error == pytest.approx(0.8)


def test_a_machine_that_was_slow_at_one_size_is_not_the_index() -> None:
    first, second = _point(10_000, 8.0), _point(100_000, 20.0)
    # Beside the second size, the first one took twice its time.
    slowed = second.model_copy(update={"beside": Beside(legs=Quantiles(p50=16.0, p95=20.0))})
    assert legs_ms([first, slowed]) == [8.0, 10.0]
