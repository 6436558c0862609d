"""Files of one run shared out by Ray Data, on this machine or on a cluster: the same steps, states and chunks.

The data set is the list of files. Each of its actors holds a model and an `Ingestor` as a process of `ingest.processes`
does, and takes files from reading to the index; what another one has begun, or left by dying, is told by the leases in
the documents' rows. Every node must see the files under the same paths, and reach the engine by the same URL.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from ingest.documents import DocumentOutcome, RawDocument
from ingest.files import read_file
from search_config.errors import DocumentError, InvalidRequest, MafteachError, MissingExtra, WorkerFailed
from search_config.settings import Settings

# Files of one call of an actor; see `ingest.processes`.
HAND_DOCUMENTS: Final = 8
# How often Ray starts an actor again that has died; its files are given to it, or to another one, once more.
RESTARTS: Final = 3
LOCAL: Final = "local"

Describe = Callable[[Path, bytes], RawDocument]
OnOutcomes = Callable[[Sequence[DocumentOutcome]], None]
OnEmbedded = Callable[[int], None]


class RayPool:
    """Actors that ingest files; takes the place of `ingest.processes.Pool`."""

    def __init__(self, settings: Settings, url: str, describe: Describe, *, address: str, workers: int) -> None:
        """Connect to Ray, or start it on this machine.

        Args:
            settings: of every actor; the threads of the embedded model are the CPUs that each one asks for.
            url: where the engine answers, seen from every node.
            describe: makes a document of a path and its bytes.
            address: of a cluster (`auto`, `ray://HOST:PORT`, `HOST:PORT`), or `local`.
            workers: how many actors.

        Raises:
            MissingExtra, InvalidRequest
        """
        # Ray would tell its makers of every run.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
            import ray.data
        except ImportError as error:
            raise MissingExtra("Ray is not installed.", where="--ray", remedy="pip install 'mafteach[ray]'") from error
        self._ray = ray
        self._settings = settings
        self._url = url
        self._describe = describe
        self._workers = workers
        try:
            if address == LOCAL:
                # As many CPUs as the actors ask for, whatever the machine has.
                cpus = workers * settings.embedder_threads + 1
                ray.init(num_cpus=cpus, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
            else:
                ray.init(address=address, log_to_driver=False, ignore_reinit_error=True)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise InvalidRequest(
                f"Ray does not answer: {error}",
                where=address,
                remedy="Start a cluster (ray start --head), or leave the address out to run on this machine.",
            ) from error

    def run(self, files: Sequence[Path], on_outcomes: OnOutcomes, on_embedded: OnEmbedded) -> None:
        """Ingest files; each is one actor's.

        Raises:
            WorkerFailed: an actor cannot go on, with its reason.
        """
        if not files:
            return
        # Paths that are no valid text are carried through as Python does.
        rows = [{"path": os.fsencode(file.absolute())} for file in files]
        made = self._ray.data.from_items(rows, override_num_blocks=max(1, -(-len(rows) // HAND_DOCUMENTS))).map_batches(
            _Actor,
            fn_constructor_args=(self._settings, self._url, self._describe),
            batch_size=HAND_DOCUMENTS,
            batch_format="numpy",
            concurrency=min(self._workers, -(-len(rows) // HAND_DOCUMENTS)),
            num_cpus=self._settings.embedder_threads,
            max_restarts=RESTARTS,
            max_task_retries=RESTARTS,
        )
        try:
            for row in made.iter_rows():
                said = json.loads(row["said"])
                if "outcome" not in said:
                    raise WorkerFailed(said["what"], where=said["where"], remedy=said["remedy"])
                outcome = DocumentOutcome.model_validate(said["outcome"])
                on_outcomes([outcome])
                on_embedded(0 if outcome.unchanged else outcome.chunks_indexed)
        except self._ray.exceptions.RayError as error:
            raise WorkerFailed(
                f"Ray's actors end before they are done: {error}",
                where="--ray",
                remedy="Run it without --ray to see why; too little memory is the most likely reason.",
            ) from error
        finally:
            self._ray.shutdown()


class _Actor:
    """One process of Ray's: files in, outcomes out."""

    def __init__(self, settings: Settings, url: str, describe: Describe) -> None:
        from ingest.compose import opened_ingestor

        self._describe = describe
        self._failure: MafteachError | None = None
        self._opened = opened_ingestor(settings, url)
        try:
            self._ingestor = self._opened.__enter__()
        except MafteachError as error:
            # Told with the first batch: an error while it starts would be tried again for minutes.
            self._failure = error

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        try:
            if self._failure is not None:
                raise self._failure
            return {"said": [json.dumps({"outcome": one.model_dump(mode="json")}) for one in self._ingested(batch)]}
        except MafteachError as error:
            return {"said": [json.dumps(error.as_dict())]}

    def _ingested(self, batch: dict[str, Any]) -> list[DocumentOutcome]:
        outcomes: list[DocumentOutcome] = []
        documents: list[RawDocument] = []
        for name in batch["path"]:
            file = Path(os.fsdecode(bytes(name)))
            try:
                documents.append(self._describe(file, read_file(file, self._ingestor.max_bytes)))
            except DocumentError as error:
                outcomes.append(self._ingestor.refuse(self._describe(file, b""), error))
        return [*outcomes, *self._ingestor.ingest(documents)]
