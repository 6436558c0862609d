"""The process that reads documents: one after the other comes on its standard input, answers go to its output.

A message is a head of JSON and a body of bytes, each behind its length (eight bytes, big end first). Answers are JSON
as well, never pickles: a parser that a hostile file took over must not run code in the process that asked.

It imports what extraction needs and nothing else, takes its limits from the first message, and is killed by the
kernel, also inside a parser's own code, when a document takes too long.
"""

from __future__ import annotations

import gc
import importlib
import itertools
import os
import signal
import struct
import sys
from typing import IO, Final

from pydantic import BaseModel, ConfigDict

from ingest.extract.base import ExtractedDocument
from ingest.extract.options import ExtractOptions
from search_config.errors import DocumentError, DoubtfulDocument

LENGTH: Final = struct.Struct(">Q")
BYTES_PER_MB: Final = 1_048_576
# The asking side gives up first; this is for the case that it is gone. Seconds.
ALARM_GRACE_S: Final = 5.0
# Exit status of a process that ran out of memory, which the asking side takes for that.
OUT_OF_MEMORY: Final = 77
# Variables that libraries read at their import: one thread each, since documents are read in turns.
ONE_THREAD: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_THREAD_LIMIT")
# Parsers leave circles behind, whose trees are large; collecting takes some 30 ms, too long for every document.
COLLECT_EVERY: Final = 25
SECRETS_PREFIX: Final = "MAFTEACH_"


class Limits(BaseModel):
    """What the process may take; its first message."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    timeout_s: float
    memory_mb: int


class Request(BaseModel):
    """One document to read; the body holds its bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    media_type: str | None = None
    options: ExtractOptions


class Failure(BaseModel):
    """An error of ours, as it travels."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str
    what: str
    where: str | None = None
    remedy: str | None = None
    issues: tuple[tuple[str, str], ...] = ()


class Answer(BaseModel):
    """A document, or why there is none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    document: ExtractedDocument | None = None
    failure: Failure | None = None


def write_message(stream: IO[bytes], head: bytes, body: bytes = b"") -> None:
    """Write one message whole.

    Raises:
        OSError: nobody reads any more.
    """
    stream.write(LENGTH.pack(len(head)) + head + LENGTH.pack(len(body)))
    stream.write(body)
    stream.flush()


def read_message(stream: IO[bytes]) -> tuple[bytes, bytes] | None:
    """The next message's head and body; None where the stream has ended."""
    head = _read_part(stream)
    body = None if head is None else _read_part(stream)
    return None if head is None or body is None else (head, body)


def _read_part(stream: IO[bytes]) -> bytes | None:
    length = stream.read(LENGTH.size)
    if len(length) < LENGTH.size:
        return None
    wanted = LENGTH.unpack(length)[0]
    part = stream.read(wanted)
    return part if len(part) == wanted else None


def _limit_memory(memory_mb: int) -> None:
    """Cap what this process may allocate beyond files that it maps; 0 leaves it open."""
    if memory_mb:
        import resource  # not on every platform; the asking side checks

        # On Linux RLIMIT_DATA counts private memory, also what the allocator maps, and not the libraries' code.
        kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
        resource.setrlimit(kind, (memory_mb * BYTES_PER_MB, memory_mb * BYTES_PER_MB))


def _answered(request: Request, data: bytes) -> Answer:
    from ingest.extract.registry import extract

    try:
        document = extract(
            data,
            name=request.name,
            max_bytes=request.options.max_file_bytes,
            media_type=request.media_type,
            options=request.options,
        )
    except DocumentError as error:
        issues = error.issues if isinstance(error, DoubtfulDocument) else ()
        failure = Failure(code=error.code, what=error.what, where=error.where, remedy=error.remedy, issues=issues)
        return Answer(failure=failure)
    return Answer(document=document)


def serve(source: IO[bytes], target: IO[bytes]) -> None:
    """Answer requests until there are no more. Whatever is no error of ours ends the process with its traceback."""
    first = read_message(source)
    if first is None:
        return
    limits = Limits.model_validate_json(first[0])
    _limit_memory(limits.memory_mb)
    importlib.import_module("ingest.extract.registry")  # before the clock of the first document runs
    for number in itertools.count(1):
        message = read_message(source)
        if message is None:
            return
        signal.setitimer(signal.ITIMER_REAL, limits.timeout_s + ALARM_GRACE_S)
        request = Request.model_validate_json(message[0])
        answer = _answered(request, message[1])
        del message
        write_message(target, answer.model_dump_json(by_alias=True).encode())
        signal.setitimer(signal.ITIMER_REAL, 0)
        if number % COLLECT_EVERY == 0:
            gc.collect()


def main() -> None:
    """Serve on the standard streams. What a library prints goes where errors go, never between answers."""
    for name in ONE_THREAD:
        os.environ[name] = "1"
    for name in [name for name in os.environ if name.startswith(SECRETS_PREFIX)]:
        del os.environ[name]
    # A person's interrupt is for the asking side, which closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        serve(sys.stdin.buffer, target)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)


if __name__ == "__main__":
    main()
