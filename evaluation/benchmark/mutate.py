"""`mafteach bench mutate`: damaged files of every format through the process that reads documents.

Bytes are flipped, files are cut off, parts are moved, zeroed and repeated; in packed formats the same is done to the
XML inside, which is packed again so that its checksum holds. Each file must end in a document or in a named error, in
time, and the process that asked must live. One seed gives the same files again.
"""

from __future__ import annotations

import io
import random
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from evaluation.benchmark.report import BenchReport, Check
from evaluation.benchmark.samples import SAMPLES
from ingest.isolation import ExtractionWorker
from search_config.errors import DocumentError, ExtractionCrashed, ExtractionTimeout
from search_config.settings import Settings

FILES: Final = 2_000
QUICK_FILES: Final = 100
# Small files are read in milliseconds; one that takes so long hangs.
TIMEOUT_S: Final = 20.0
# Between the limit and the error stands the killing of the process.
GRACE_S: Final = 5.0
FLIPS_MAX: Final = 16
HEAD_BYTES: Final = 512
MOVED_BYTES_MAX: Final = 256
# Half of the damage to packed formats is done inside, where no checksum finds it.
INSIDE_SHARE: Final = 0.5
MILLISECONDS: Final = 1_000

Mutation = Callable[[bytearray, random.Random], bytearray]


@dataclass(slots=True)
class Tally:
    """What became of one format's files."""

    files: int = 0
    documents: int = 0
    seconds: float = 0.0
    longest_s: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)


def run(settings: Settings, *, quick: bool, seed: int = 1, files: int | None = None) -> BenchReport:
    """Damage files, read them, and count what became of them.

    Args:
        settings: limits of the process that reads; its time is capped, since the files are small.
        quick: a twentieth of the files.
        seed: repeats the same run.
        files: how many; `FILES` or `QUICK_FILES` where None.
    """
    count = files if files is not None else QUICK_FILES if quick else FILES
    timeout_s = min(settings.extract_timeout_s, TIMEOUT_S)
    originals = {kind: make() for kind, make in SAMPLES.items()}
    tallies = {kind: Tally() for kind in originals}
    limited = settings.model_copy(update={"extract_timeout_s": timeout_s})
    with ExtractionWorker.of(limited) as worker:
        for original in originals.values():  # the imports of each format are not measured
            worker.extract(original, name="original")
        for number in range(count):
            kind, damaged = mutated(originals, seed, number)
            _read(worker, tallies[kind], damaged, f"{seed}-{number}.{kind}")
    return _report(tallies, count, timeout_s)


def mutated(originals: dict[str, bytes], seed: int, number: int) -> tuple[str, bytes]:
    """The format and the bytes of one damaged file; equal for equal arguments."""
    chosen = random.Random(f"{seed}/{number}")  # noqa: S311  repeatable damage, no secret
    kind = list(originals)[number % len(originals)]
    original = originals[kind]
    if zipfile.is_zipfile(io.BytesIO(original)) and chosen.random() < INSIDE_SHARE:
        return kind, _inside(original, chosen)
    return kind, bytes(chosen.choice(MUTATIONS)(bytearray(original), chosen))


def _read(worker: ExtractionWorker, tally: Tally, data: bytes, name: str) -> None:
    started = time.perf_counter()
    try:
        worker.extract(data, name=name)
        tally.documents += 1
    except DocumentError as error:
        tally.errors[error.code] += 1
    took = time.perf_counter() - started
    tally.files += 1
    tally.seconds += took
    tally.longest_s = max(tally.longest_s, took)


def _report(tallies: dict[str, Tally], count: int, timeout_s: float) -> BenchReport:
    ended = sum(tally.documents + tally.errors.total() for tally in tallies.values())
    longest = max(tally.longest_s for tally in tallies.values())
    crashed = sum(tally.errors[ExtractionCrashed.code] for tally in tallies.values())
    hung = sum(tally.errors[ExtractionTimeout.code] for tally in tallies.values())
    limit = timeout_s + GRACE_S
    checks = (
        Check(
            name="files that ended in a document or a named error",
            value=ended,
            target=f"= {count}",
            holds=ended == count,
        ),
        Check(name="longest, s", value=round(longest, 2), target=f"<= {limit:g}", holds=longest <= limit),
        Check(name="parsers that crashed, each at the cost of its file", value=crashed, target="", holds=None),
        Check(name="files stopped at the time limit", value=hung, target="", holds=None),
    )
    rows = tuple(
        (
            kind,
            str(tally.files),
            str(tally.documents),
            ", ".join(f"{code} {number}" for code, number in sorted(tally.errors.items())) or "-",
            f"{tally.longest_s * MILLISECONDS:.0f}",
            f"{tally.files / tally.seconds:.0f}" if tally.seconds else "-",
        )
        for kind, tally in tallies.items()
    )
    columns = ("format", "files", "documents", "errors", "longest, ms", "files a second")
    return BenchReport(name="mutate", size=f"{count} files", checks=checks, columns=columns, rows=rows)


def _inside(archive: bytes, chosen: random.Random) -> bytes:
    """Damage one part of a packed file, and pack it again."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as copy:
        entries = source.infolist()
        damaged = chosen.choice([entry.filename for entry in entries if entry.file_size])
        for entry in entries:
            part = source.read(entry)
            if entry.filename == damaged:
                part = bytes(chosen.choice(MUTATIONS)(bytearray(part), chosen))
            copy.writestr(entry, part)
    return target.getvalue()


def _flip(data: bytearray, chosen: random.Random) -> bytearray:
    for _ in range(chosen.randint(1, FLIPS_MAX)):
        data[chosen.randrange(len(data))] = chosen.randrange(256)
    return data


def _flip_head(data: bytearray, chosen: random.Random) -> bytearray:
    data[chosen.randrange(min(HEAD_BYTES, len(data)))] ^= 1 << chosen.randrange(8)
    return data


def _cut(data: bytearray, chosen: random.Random) -> bytearray:
    return data[: chosen.randrange(len(data))]


def _move(data: bytearray, chosen: random.Random) -> bytearray:
    length = chosen.randint(1, min(MOVED_BYTES_MAX, len(data)))
    source, place = chosen.randrange(len(data)), chosen.randrange(len(data))
    piece = data[source : source + length]
    return data[:place] + piece + data[place:]


def _erase(data: bytearray, chosen: random.Random) -> bytearray:
    place = chosen.randrange(len(data))
    length = min(chosen.randint(1, MOVED_BYTES_MAX), len(data) - place)
    data[place : place + length] = bytes(length)
    return data


def _repeat(data: bytearray, chosen: random.Random) -> bytearray:
    place = chosen.randrange(len(data))
    piece = data[place : place + chosen.randint(1, MOVED_BYTES_MAX)]
    return data[:place] + piece * chosen.randint(2, FLIPS_MAX) + data[place:]


MUTATIONS: Final[tuple[Mutation, ...]] = (_flip, _flip_head, _cut, _move, _erase, _repeat)
