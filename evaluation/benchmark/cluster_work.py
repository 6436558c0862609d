"""Work on a cluster while it is disturbed: ingests and searches that go on with the next node where one fails."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from evaluation.index import TENANT
from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from models.base import Embedder
from query.profile import load_profile
from query.request import SearchRequest
from query.search import SearchContext, search
from search_config.client import Engine
from search_config.errors import MafteachError
from search_config.install import IndexInfo
from search_config.records import DocumentState
from search_config.settings import Settings

# Documents of one call: what a fault may leave in doubt.
BATCH: Final = 4
# After a failure, so that a cluster without a manager is not asked a thousand times a second.
REST_S: Final = 0.2
_TEXT: Final = "# הודעה {number}\n\nהמחסן הצפוני מוסר שהמשלוח מספר {number} נפרק במלואו ונרשם ביומן."
_QUESTION: Final = "מה נפרק במחסן הצפוני?"


@dataclass(slots=True)
class Tally:
    """What became of the calls of one phase; failures by the code of their error, `unclear` for those without."""

    ingested: int = 0
    searched: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    unclear: int = 0
    longest_gap_s: float = 0.0


class Work:
    """One thread that ingests and one that searches, over all nodes of a cluster.

    Attributes:
        acknowledged: of every document whose ingest said `ready`, its id and the chunks that it said.
    """

    def __init__(self, urls: Sequence[str], info: IndexInfo, embedder: Embedder, settings: Settings) -> None:
        self._engines = [Engine(url, timeout_s=settings.request_timeout_s) for url in urls]
        profile = load_profile()
        self._ingestors = [Ingestor(engine, info, embedder, settings) for engine in self._engines]
        self._contexts = [SearchContext(engine, info, embedder, profile, settings) for engine in self._engines]
        self.acknowledged: dict[str, int] = {}
        self._sent = 0
        self._ends = threading.Event()
        self.tally = Tally()

    @contextmanager
    def under_load(self) -> Iterator[Tally]:
        """Ingest and search as long as the context lasts; what came of it is counted in the tally given."""
        self.tally = tally = Tally()
        self._ends.clear()
        with ThreadPoolExecutor(2, thread_name_prefix="work") as pool:
            working = [
                pool.submit(self._until_end, name, call, tally)
                for name, call in (("ingest", self._ingest), ("search", self._search))
            ]
            try:
                yield tally
            finally:
                self._ends.set()
            for one in working:
                # An error that is not of ours is a fault of the project: it ends the run.
                one.result()

    def close(self) -> None:
        """Close all connections."""
        for ingestor in self._ingestors:
            ingestor.close()
        for engine in self._engines:
            engine.close()

    def _until_end(self, name: str, call: Callable[[int, Tally], None], tally: Tally) -> None:
        node, since = 0, time.monotonic()
        while not self._ends.is_set():
            try:
                call(node % len(self._engines), tally)
            except MafteachError as error:
                # Said what is wrong: whoever asked can go to another node, or come again.
                tally.failed[f"{name}: {error.code}"] += 1
                node += 1
                self._ends.wait(REST_S)
                continue
            now = time.monotonic()
            tally.longest_gap_s, since = max(tally.longest_gap_s, now - since), now

    def _ingest(self, node: int, tally: Tally) -> None:
        first, self._sent = self._sent, self._sent + BATCH
        batch = [
            RawDocument(
                tenant=TENANT, source=f"{number}", name=f"{number}.md", data=_TEXT.format(number=number).encode()
            )
            for number in range(first, first + BATCH)
        ]
        for outcome in self._ingestors[node].ingest(batch):
            if outcome.state is DocumentState.READY:
                self.acknowledged[outcome.document_id] = outcome.chunks_indexed
                tally.ingested += 1
            elif outcome.code is None:
                tally.unclear += 1
            else:
                tally.failed[f"ingest: {outcome.code}"] += 1

    def _search(self, node: int, tally: Tally) -> None:
        search(SearchRequest(tenant=TENANT, query=_QUESTION), self._contexts[node])
        tally.searched += 1
