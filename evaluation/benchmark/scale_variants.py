"""The ways to set an index up that a scale run compares.

Every vector field names Lucene's engine: without it the engine of the mapping is faiss, whose native library a node
assembled from packages lacks; the first vector would end it.
"""

from __future__ import annotations

from typing import Any, Final

from evaluation.benchmark.scale_index import Variant

PLAIN: Final = "float32"
QUANTISED: Final = "7-bit"
FOUR_SHARDS: Final = "4-shards"
ROUTED: Final = f"{FOUR_SHARDS}-routed"
NO_CODES: Final = "no-codes"


def _hnsw(m: int = 16, ef_construction: int = 128, **encoder: Any) -> dict[str, Any]:
    parameters: dict[str, Any] = {"m": m, "ef_construction": ef_construction}
    if encoder:
        parameters["encoder"] = encoder
    return {"method": {"name": "hnsw", "engine": "lucene", "parameters": parameters}}


VARIANTS: Final = (
    Variant(PLAIN),
    Variant(FOUR_SHARDS, index={"number_of_shards": 4}),
    Variant(ROUTED, index={"number_of_shards": 4}, routed=True),
    Variant("merged", merged=True),
    Variant(NO_CODES, codes=False),
    Variant(QUANTISED, vector=_hnsw(name="sq", parameters={"bits": 7})),
    Variant("1-bit", vector=_hnsw(name="sq", parameters={"bits": 1})),
    Variant("on-disk-4x", vector={**_hnsw(), "mode": "on_disk", "compression_level": "4x"}),
    Variant("m-32", vector=_hnsw(32, 256)),
    Variant("2-shards", index={"number_of_shards": 2}),
    Variant("refresh-30s", index={"refresh_interval": "30s"}),
    Variant("refresh-off", index={"refresh_interval": "-1"}),
    Variant("one-merge-thread", index={"merge.scheduler.max_thread_count": 1}),
    Variant("best-compression", index={"codec": "best_compression"}),
)
_QUICK_NAMES: Final = (PLAIN, NO_CODES, QUANTISED, FOUR_SHARDS, ROUTED)
QUICK_VARIANTS: Final = tuple(variant for variant in VARIANTS if variant.name in _QUICK_NAMES)
