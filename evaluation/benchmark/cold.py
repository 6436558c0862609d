"""`mafteach bench cold`: what a person waits for one `mafteach search` in a new shell, with the node running."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from evaluation.benchmark.corpus_text import examples_folder
from evaluation.benchmark.report import BenchReport, Check
from evaluation.benchmark.temporary import temporary_index
from evaluation.index import TENANT
from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from models.factory import load_embedder
from search_config.client import Engine
from search_config.errors import EngineError
from search_config.settings import ENV_PREFIX, Settings

NAME: Final = "mafteach search from a cold shell, s"
TARGET_S: Final = 1.5
_ROUNDS, _QUICK_ROUNDS = 11, 5
_DOCUMENTS: Final = 10
_QUERY: Final = "כמה זמן יש לספק לתקן תקלה?"
_TIMEOUT_S: Final = 120.0


def run(settings: Settings, engine: Engine, *, quick: bool) -> BenchReport:
    """Ingest some of the examples, then start the command again and again; the files that it reads are in the system's
    cache by then, as they are for a person's second search.

    Raises:
        EngineError: the command failed, which is said in its own words.
        InvalidDataset, ModelError
    """
    embedder = load_embedder(settings)
    paths = sorted((examples_folder() / "documents").rglob("*.md"))[:_DOCUMENTS]
    with temporary_index(engine, settings, embedder.description) as (info, own):
        Ingestor(engine, info, embedder, own).ingest(
            [RawDocument(tenant=TENANT, source=path.name, name=path.name, data=path.read_bytes()) for path in paths]
        )
        took = [_search(engine.url, own) for _ in range(1 + (_QUICK_ROUNDS if quick else _ROUNDS))][1:]
    value = statistics.median(took)
    return BenchReport(
        name="cold",
        size=f"{len(took)} searches over {len(paths)} documents",
        checks=(Check(name=NAME, value=round(value, 2), target=f"<= {TARGET_S:g}", holds=value <= TARGET_S),),
        columns=("command", "runs", "median s", "slowest s"),
        rows=(("mafteach search", str(len(took)), f"{value:.2f}", f"{max(took):.2f}"),),
    )


def _search(url: str, settings: Settings) -> float:
    """Seconds of one command."""
    command = Path(sys.executable).with_name("mafteach")
    environment = {
        **os.environ,
        f"{ENV_PREFIX}OPENSEARCH_URL": url,
        f"{ENV_PREFIX}INDEX_PREFIX": settings.index_prefix,
        "PYTHONIOENCODING": "utf-8",
    }
    start = time.perf_counter()
    done = subprocess.run(  # noqa: S603  our own command, without a shell
        [command, "search", _QUERY, "--tenant", TENANT],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=_TIMEOUT_S,
        check=False,
    )
    took = time.perf_counter() - start
    if done.returncode:
        raise EngineError(f"The command failed: {done.stderr.strip()[:300]}", where="mafteach search")
    return took
