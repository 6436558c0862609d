"""The scale bench in small: an index that grows, filters against exact search, variants that the engine refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evaluation.benchmark import scale, scale_index, scale_measure
from evaluation.benchmark.corpus import Corpus
from evaluation.benchmark.corpus_base import Base
from evaluation.benchmark.corpus_text import examples_folder, recombined, sentences
from evaluation.benchmark.scale_index import Variant
from evaluation.benchmark.scale_report import ScaleFile
from evaluation.benchmark.scale_variants import QUICK_VARIANTS
from models.base import Embedder
from query.profile import load_profile
from search_config.client import Engine
from search_config.errors import EngineRejected
from search_config.settings import Settings
from tests.conftest import MakeIndex

REAL = 300
QUESTIONS = 5
# A part of a page: enough for every tenant of 1%.
SIZE = 400


@pytest.fixture(scope="module")
def corpus(embedder: Embedder) -> Corpus:
    """Of vectors without a model behind them."""
    dice = np.random.default_rng(5)
    raw = dice.normal(size=(REAL, embedder.description.dim)) + 0.8
    vectors = (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)
    source = sentences(examples_folder())
    return Corpus(Base(tuple(recombined(source, dice) for _ in range(REAL)), vectors, ()), spread=0.6)


def test_an_index_grows_and_keeps_its_recall(
    engine: Engine, make_index: MakeIndex, corpus: Corpus, embedder: Embedder
) -> None:
    info, _ = make_index()
    plain = Variant("sizes")
    told: list[int] = []
    scale_index.grow(engine, info.index, corpus, info, 0, SIZE, plain, written=lambda done, _: told.append(done))
    scale_index.settle(engine, info.index, merged=False)
    assert told == [SIZE]
    assert scale_index.count(engine, info.index) == SIZE
    questions = scale_measure.embedded(corpus, embedder, QUESTIONS)
    recall = scale_measure.recalls(engine, info.index, questions, plain)
    assert recall["tenant 50%"] is not None
    assert recall["tenant 50%"] >= 0.99
    assert recall["tenant 1%"] == 1.0
    ask = scale_measure.legs_asker(engine, info.index, load_profile(), plain)
    for latency in scale_measure.timed([ask, ask], questions):
        assert 0 < latency.p50 <= latency.p95
    disk = scale_measure.disk(engine, info.index)
    # Four bytes a dimension, once.
    assert disk.vectors == pytest.approx(SIZE * embedder.description.dim * 4, rel=0.05)
    assert disk.total > disk.vectors
    # What an interrupted run writes again is there once.
    with scale_index.building(engine, info.index):
        scale_index.grow(engine, info.index, corpus, info, 0, SIZE, plain)
    assert scale_index.count(engine, info.index) == SIZE


def test_rows_of_a_routed_variant_are_found_on_their_tenants_shard(
    engine: Engine, make_index: MakeIndex, corpus: Corpus, embedder: Embedder
) -> None:
    info, _ = make_index()
    routed = Variant("routed", index={"number_of_shards": 4}, routed=True)
    index = scale_index.create(engine, info, routed)
    assert scale_index.create(engine, info, routed) == index
    scale_index.grow(engine, index, corpus, info, 0, SIZE, routed)
    scale_index.settle(engine, index, merged=True)
    assert scale_measure.segments(engine, index) <= 4
    recall = scale_measure.recalls(engine, index, scale_measure.embedded(corpus, embedder, QUESTIONS), routed)
    assert recall["tenant 50%"] == 1.0


def test_what_the_engine_can_not_do_is_an_error_of_ours(engine: Engine, make_index: MakeIndex) -> None:
    info, _ = make_index()
    encoder = {"name": "sq", "parameters": {"bits": 3}}
    method = {"name": "hnsw", "engine": "lucene", "parameters": {"encoder": encoder}}
    with pytest.raises(EngineRejected):
        scale_index.create(engine, info, Variant("impossible", vector={"method": method}))


def test_a_whole_run_measures_every_size_and_variant_and_leaves_nothing(
    engine: Engine, settings: Settings, corpus: Corpus, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(scale, "load_base", lambda *_, **__: corpus.base)
    monkeypatch.setattr(scale, "QUICK_VARIANT_CHUNKS", SIZE // 2)
    monkeypatch.setattr(scale, "QUICK_QUESTIONS", QUESTIONS)
    own = settings.model_copy(update={"opensearch_url": engine.url})
    done = scale.run(own, quick=True, sizes=(SIZE // 2, SIZE), out=tmp_path)
    assert [row[0] for row in done.rows] == [str(SIZE // 2), str(SIZE)]
    ratio, *recalls = done.checks
    assert ratio.value is not None
    assert {check.name for check in recalls} == {
        f"recall@20 of filtered k-NN, {name}" for name in scale_measure.filter_sets(1)
    }
    model = ScaleFile.model_validate_json((tmp_path / "scale-model.json").read_bytes())
    assert model.command.startswith(f"mafteach bench scale --quick --seed 1 --sizes {SIZE // 2},{SIZE}")
    assert [point.beside is None for point in model.points] == [True, False]
    assert {variant.name for variant in model.variants} == {variant.name for variant in QUICK_VARIANTS}
    assert not [name for name in engine.request("GET", "/_alias") if name.startswith(("bench-scale", "bench-smallest"))]
