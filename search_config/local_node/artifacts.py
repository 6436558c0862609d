"""The node's packages: a committed table of exact files, fetched, verified, kept.

Every file that the node consists of is pinned in `pins.json` with its coordinate, size and SHA-256 (made by
`scripts/pin_artifacts.py`). Nothing is resolved when the software runs. A download goes to a folder of its own, is
compared with the pin, and only then renamed into the cache: a file under its final name is complete.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import requests
from jgo.maven import MavenContext, PythonResolver
from pydantic import BaseModel, ConfigDict
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential_jitter

from search_config.errors import ArtifactCorrupt, ArtifactUnavailable

PINS_PATH = Path(__file__).with_name("pins.json")
# Four at once keep a home line full; more would only queue at the server.
DOWNLOAD_THREADS = 4
# A broken line is usually back within seconds: 5 tries wait about 1 + 2 + 4 + 8 s, then the user is told.
DOWNLOAD_ATTEMPTS = 5
LONGEST_WAIT_S = 10.0
# Seconds without a byte after which a connection counts as dead.
CONNECTION_TIMEOUT_S = 30
# A file that arrives damaged is fetched once more; a second mismatch is no accident of the line.
CHECKSUM_ATTEMPTS = 2
HASH_BLOCK = 1 << 20

Progress = Callable[[str], None]


class Pin(BaseModel):
    """One file: its coordinate, what it must be, and the folders of the home that it goes to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    group: str
    artifact: str
    version: str
    classifier: str
    packaging: str
    size: int
    sha256: str
    places: tuple[str, ...]

    @property
    def filename(self) -> str:
        """`artifact-version[-classifier].packaging`, as the repository calls it."""
        suffix = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{suffix}.{self.packaging}"

    @property
    def coordinate(self) -> str:
        """`group:artifact:version:packaging`, for people."""
        return f"{self.group}:{self.artifact}:{self.version}:{self.packaging}"


class PinTable(BaseModel):
    """The whole table. `digest` changes when anything in it does."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    engine: str
    artifacts: tuple[Pin, ...]

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the table's canonical JSON."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(pin.size for pin in self.artifacts)


@cache
def load_pins() -> PinTable:
    """The table that this version of the software was tested with."""
    return PinTable.model_validate(json.loads(PINS_PATH.read_text(encoding="utf-8")))


def sha256_of(path: Path) -> str:
    """SHA-256 (hex) of a file, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(HASH_BLOCK):
            digest.update(block)
    return digest.hexdigest()


class _Meter:
    """Counts files and bytes over all download threads, and says so once a file."""

    def __init__(self, pins: Sequence[Pin], progress: Progress | None) -> None:
        self._lock = threading.Lock()
        self._progress = progress
        self._files = len(pins)
        self._total = sum(pin.size for pin in pins)
        self._done_files = 0
        self._done_bytes = 0

    def finished(self, pin: Pin) -> None:
        with self._lock:
            self._done_files += 1
            self._done_bytes += pin.size
            if self._progress is not None:
                self._progress(
                    f"Downloading the search engine: {self._done_files} of {self._files} files, "
                    f"{self._done_bytes / 1e6:.1f} of {self._total / 1e6:.1f} MB ({pin.filename})"
                )


class ArtifactStore:
    """A folder of verified packages.

    Args:
        folder: where they are kept; made when needed.
        remotes: repositories by name, instead of the public default that jgo knows.
    """

    def __init__(self, folder: Path, remotes: dict[str, str] | None = None) -> None:
        self.folder = folder
        self._remotes = remotes

    def path(self, pin: Pin) -> Path:
        """Where the file lies once it is there. The hash in the name keeps two versions of one name apart."""
        return self.folder / f"{pin.sha256[:12]}-{pin.filename}"

    def has(self, pin: Pin) -> bool:
        """Whether the file is there with its right size (its content is compared when a home is laid out)."""
        path = self.path(pin)
        return path.is_file() and path.stat().st_size == pin.size

    def fetch_all(self, pins: Sequence[Pin], progress: Progress | None = None) -> None:
        """Download what is missing or of the wrong size; verified files only.

        Raises:
            ArtifactUnavailable: a file could not be had after all retries.
            ArtifactCorrupt: a file twice did not match its checksum.
        """
        missing = [pin for pin in pins if not self.has(pin)]
        if not missing:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        meter = _Meter(missing, progress)
        # The largest first, so that no thread ends on it alone.
        missing.sort(key=lambda pin: pin.size, reverse=True)
        with ThreadPoolExecutor(DOWNLOAD_THREADS, thread_name_prefix="artifact") as pool:
            futures = [pool.submit(self._fetch, pin, meter) for pin in missing]
            try:
                for future in futures:
                    future.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def verified(self, pin: Pin) -> Path:
        """The file's path after comparing its content with the pin; a damaged one is fetched anew.

        Raises:
            ArtifactUnavailable, ArtifactCorrupt: as `fetch_all`.
        """
        path = self.path(pin)
        if not self.has(pin) or sha256_of(path) != pin.sha256:
            path.unlink(missing_ok=True)
            self.fetch_all([pin])
        return path

    def _fetch(self, pin: Pin, meter: _Meter) -> None:
        """Download one file to a folder of its own, compare, and rename it into place."""
        for _ in range(CHECKSUM_ATTEMPTS):
            with _staging(self.folder) as staging:
                arrived = self._download(pin, staging)
                found = sha256_of(arrived)
                if found == pin.sha256:
                    arrived.replace(self.path(pin))
                    meter.finished(pin)
                    return
        raise ArtifactCorrupt(
            f"{pin.filename} arrived {CHECKSUM_ATTEMPTS} times with a checksum that does not hold: "
            f"SHA-256 {found}, expected {pin.sha256}.",
            where=pin.coordinate,
            remedy="Something between this machine and the package repository changes files (a proxy, a mirror); "
            "the damaged file was deleted.",
        )

    def _download(self, pin: Pin, staging: Path) -> Path:
        """One file through jgo, retried while the line or the repository fails."""

        def give_up(state: RetryCallState) -> Path:
            cause = state.outcome.exception() if state.outcome is not None else None
            raise ArtifactUnavailable(
                f"{pin.filename} could not be downloaded in {state.attempt_number} attempts: {_reason(cause)}.",
                where=pin.coordinate,
                remedy="Check the network and its proxy settings and start again; what has arrived is kept.",
            ) from cause

        retrying = Retrying(
            # jgo raises RuntimeError for every status other than 200; OSError is a disk or line error.
            retry=retry_if_exception_type((requests.RequestException, RuntimeError, ConnectionError)),
            wait=wait_exponential_jitter(max=LONGEST_WAIT_S),
            stop=stop_after_attempt(DOWNLOAD_ATTEMPTS),
            retry_error_callback=give_up,
        )
        return retrying(self._download_once, pin, staging)

    def _download_once(self, pin: Pin, staging: Path) -> Path:
        context = MavenContext(
            # A new folder for each attempt: jgo takes any file under its name for a complete one.
            repo_cache=Path(tempfile.mkdtemp(dir=staging)),
            remote_repos=self._remotes,
            local_repos=[],
            resolver=PythonResolver(),
            timeout=CONNECTION_TIMEOUT_S,
        )
        component = context.project(pin.group, pin.artifact).at_version(pin.version)
        return Path(component.artifact(classifier=pin.classifier, packaging=pin.packaging).resolve())


@contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """A temporary folder on the same file system, so that the rename out of it is atomic."""
    path = Path(tempfile.mkdtemp(prefix=".download-", dir=folder))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _reason(cause: BaseException | None) -> str:
    """The innermost message that says something; jgo's and requests' errors are chains."""
    while cause is not None and cause.__context__ is not None:
        cause = cause.__context__
    return f"{type(cause).__name__}: {cause}" if cause is not None else "no reason given"
