"""Documents read in a process of its own, so that a parser's crash, hang or hunger costs one document.

Every format goes that way, plain text too: a round trip costs about a millisecond, and one rule needs no proof that
some format is safe. The process is started at the first document, and anew after a crash, a timeout, and a number of
documents, so that what a parser leaks cannot grow.
"""

from __future__ import annotations

import importlib.util
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from types import TracebackType
from typing import IO, Final, Self

from pydantic import ValidationError

from ingest.extract.base import ExtractedDocument
from ingest.extract.options import ExtractOptions, options_of
from ingest.extraction_process import LENGTH, OUT_OF_MEMORY, Answer, Failure, Limits, Request, write_message
from search_config.errors import (
    DocumentError,
    DoubtfulDocument,
    ExtractionCrashed,
    ExtractionOutOfMemory,
    ExtractionTimeout,
    InvalidSettings,
)
from search_config.settings import Settings

# Starting anew takes half a second: after so many documents that is a few milliseconds each.
DOCUMENTS_PER_PROCESS: Final = 200
# Importing the parsers on a busy machine.
START_TIMEOUT_S: Final = 60.0
READ_BYTES: Final = 1_048_576
# An answer holds text and places; one that is larger than any document's could be is no answer.
ANSWER_BYTES_MAX: Final = 2_000_000_000
# The end of what a dying process wrote, to tell a person why.
LAST_WORDS_BYTES: Final = 2_000
LAST_WORDS_CHARS: Final = 200
# A process that was told to end and does not is killed after this.
END_TIMEOUT_S: Final = 2.0

_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from ingest.extraction_process import main; main()"
)


class ExtractionWorker:
    """Reads documents, one at a time, in a process of its own. Threads take turns; use one worker each for speed.

    Use it as a context manager, or call `close`.
    """

    def __init__(
        self,
        *,
        timeout_s: float = 180.0,
        memory_mb: int = 2048,
        options: ExtractOptions | None = None,
        documents_per_process: int = DOCUMENTS_PER_PROCESS,
    ) -> None:
        """Prepare; the process starts with the first document.

        Args:
            timeout_s: seconds that one document may take.
            memory_mb: MiB that the process may allocate; 0 sets no limit.
            options: limits on what a document may hold.
            documents_per_process: after so many the process is started anew.

        Raises:
            InvalidSettings: the platform has no limits (it is no POSIX system).
        """
        if importlib.util.find_spec("resource") is None:
            raise InvalidSettings(
                "This platform cannot limit the time and memory of a process.",
                where=sys.platform,
                remedy="Run the service on Linux or macOS.",
            )
        self._limits = Limits(timeout_s=timeout_s, memory_mb=memory_mb)
        self._options = options or ExtractOptions()
        self._documents_per_process = documents_per_process
        self._process: subprocess.Popen[bytes] | None = None
        self._last_words: IO[bytes] | None = None
        self._served = 0
        self._served_at_death = 0
        self._lock = threading.Lock()

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """A worker with the limits of the settings."""
        return cls(
            timeout_s=settings.extract_timeout_s, memory_mb=settings.extract_memory_mb, options=options_of(settings)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The process's id; None where none runs."""
        return None if self._process is None else self._process.pid

    def extract(
        self, data: bytes, *, name: str, media_type: str | None = None, options: ExtractOptions | None = None
    ) -> ExtractedDocument:
        """Read one document.

        Args:
            data: all bytes of the file.
            name: the file's name.
            media_type: given by a sender who knows it; else told from the content.
            options: other limits than the worker's own, for this document.

        Raises:
            DocumentError: whatever `ingest.extract.registry.extract` raises.
            ExtractionTimeout, ExtractionOutOfMemory, ExtractionCrashed: the document cost its process; the next one
                gets a new one.
        """
        # A file's name may hold bytes that are no text; they cannot travel as JSON.
        name = name.encode("utf-8", "replace").decode()
        request = Request(name=name, media_type=media_type, options=options or self._options)
        with self._lock:
            answer = self._answer(request, data)
        if answer.failure is not None:
            raise _error(answer.failure)
        if answer.document is None:
            raise _crashed(name, "it gave no document")
        return answer.document

    def close(self) -> None:
        """End the process; a later `extract` starts a new one."""
        with self._lock:
            self._end()

    def _answer(self, request: Request, data: bytes) -> Answer:
        if self._served >= self._documents_per_process:
            self._end()
        try:
            return self._one(request, data)
        except ExtractionCrashed:
            if self._served_at_death <= 1:
                raise
            # It died with documents before this one behind it: what they left, or the system, may be to blame.
            return self._one(request, data)

    def _one(self, request: Request, data: bytes) -> Answer:
        process = self._running()
        self._served += 1
        try:
            return self._asked(process, request, data)
        except BaseException:
            # Whatever stopped us (an interrupt too), an answer may still be on its way: it is nobody's.
            self._served_at_death = self._served
            self._kill()
            raise

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._kill()  # what is left of one that died between documents
        self._last_words = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the process
        self._process = subprocess.Popen(  # noqa: S603  our own interpreter and module
            [sys.executable, "-c", _START, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._last_words,
            start_new_session=True,  # so that it can be killed with all that it started
        )
        self._served = 0
        self._send(self._process, self._limits.model_dump_json().encode())
        return self._process

    def _asked(self, process: subprocess.Popen[bytes], request: Request, data: bytes) -> Answer:
        # The first document of a process waits for its imports as well.
        start = START_TIMEOUT_S if self._served == 1 else 0.0
        deadline = time.monotonic() + start + self._limits.timeout_s
        watch = threading.Timer(start + self._limits.timeout_s, _kill_group, [process.pid])
        watch.daemon = True
        watch.start()  # while the document is sent, which blocks where the process does not read
        try:
            self._send(process, request.model_dump_json().encode(), data)
            raw = self._received(process, deadline)
        finally:
            watch.cancel()
        if raw is None:
            raise self._death(process, request.name, timed_out=time.monotonic() >= deadline)
        try:
            return Answer.model_validate_json(raw)
        except ValidationError as error:
            raise _crashed(request.name, "its answer was no document") from error

    def _send(self, process: subprocess.Popen[bytes], head: bytes, body: bytes = b"") -> None:
        try:
            if process.stdin is not None:
                write_message(process.stdin, head, body)
        except OSError:
            return  # it died: the end of its answers says so, and how

    def _received(self, process: subprocess.Popen[bytes], deadline: float) -> bytes | None:
        """The answer's head; None where the process ended or the time did."""
        if process.stdout is None:
            return None
        received = bytearray()
        wanted = LENGTH.size
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while len(received) < wanted:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    return None
                block = os.read(process.stdout.fileno(), min(READ_BYTES, wanted - len(received)))
                if not block:
                    return None
                received += block
                if len(received) == LENGTH.size:
                    # The head, and the length of an empty body behind it.
                    head = LENGTH.unpack(received)[0]
                    if head > ANSWER_BYTES_MAX:
                        return None
                    wanted = 2 * LENGTH.size + head
        return bytes(received[LENGTH.size : -LENGTH.size])

    def _death(self, process: subprocess.Popen[bytes], name: str, *, timed_out: bool) -> DocumentError:
        if timed_out:
            _kill_group(process.pid)
            return ExtractionTimeout(
                f"Reading it took more than {self._limits.timeout_s:g} seconds.",
                where=name,
                remedy="Split or simplify it, or raise MAFTEACH_EXTRACT_TIMEOUT_S.",
            )
        try:
            status = process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            _kill_group(process.pid)
            status = process.wait()
        if status == OUT_OF_MEMORY:
            return ExtractionOutOfMemory(
                f"Reading it took more than {self._limits.memory_mb:,} MiB of memory.",
                where=name,
                remedy="Split it, or raise MAFTEACH_EXTRACT_MEMORY_MB.",
            )
        how = f"signal {signal.Signals(-status).name}" if status < 0 else self._said() or f"exit status {status}"
        return _crashed(name, how)

    def _said(self) -> str:
        """The last line that the process wrote before it died."""
        if self._last_words is None:
            return ""
        size = self._last_words.seek(0, os.SEEK_END)
        self._last_words.seek(max(0, size - LAST_WORDS_BYTES))
        lines = self._last_words.read().decode("utf-8", "replace").split("\n")
        return next((line.strip()[:LAST_WORDS_CHARS] for line in reversed(lines) if line.strip()), "")

    def _end(self) -> None:
        """Let the process end by itself: its input ends."""
        process = self._process
        if process is not None and process.stdin is not None and process.poll() is None:
            try:
                process.stdin.close()
                process.wait(END_TIMEOUT_S)
            except (OSError, subprocess.TimeoutExpired):
                _kill_group(process.pid)
        self._kill()

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            _kill_group(process.pid)
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    try:
                        stream.close()
                    except OSError:  # what was not sent yet cannot be sent any more
                        continue
        if self._last_words is not None:
            self._last_words.close()
            self._last_words = None


def _kill_group(pid: int) -> None:
    """Kill the process with those that it started; it leads a group of its own, and may be gone already."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _crashed(name: str, how: str) -> ExtractionCrashed:
    return ExtractionCrashed(
        f"The program that reads it crashed ({how}).",
        where=name,
        remedy="Open it in its own program, save it anew, and ingest that.",
    )


def _error(failure: Failure) -> DocumentError:
    """The error that the process raised."""
    kind = _kinds().get(failure.code, DocumentError)
    if issubclass(kind, DoubtfulDocument):
        return kind(failure.what, issues=failure.issues, where=failure.where, remedy=failure.remedy)
    return kind(failure.what, where=failure.where, remedy=failure.remedy)


def _kinds() -> dict[str, type[DocumentError]]:
    found: dict[str, type[DocumentError]] = {DocumentError.code: DocumentError}
    waiting: list[type[DocumentError]] = [DocumentError]
    while waiting:
        kind = waiting.pop()
        found[kind.code] = kind
        waiting += kind.__subclasses__()
    return found
