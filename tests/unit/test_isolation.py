"""The process that reads documents: same results, same errors, and what a crash, a hang or a hungry parser costs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import psutil
import pytest

from ingest import isolation
from ingest.extract.options import ExtractOptions, options_of
from ingest.extract.registry import extract
from ingest.extraction_process import Failure
from ingest.isolation import ExtractionWorker
from search_config.errors import (
    BinaryDocument,
    DocumentError,
    DoubtfulDocument,
    EmptyDocument,
    ExtractionCrashed,
    ExtractionFailed,
    ExtractionOutOfMemory,
    ExtractionTimeout,
)
from search_config.settings import Settings
from tests.unit.office_files import mail, open_document, presentation, word_contract

TEXT = 'נייר אחד, בסך 12,500 ש"ח.'.encode()


@pytest.fixture(scope="module")
def worker() -> Iterator[ExtractionWorker]:
    with ExtractionWorker() as made:
        yield made


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.txt", TEXT),
        ("a.docx", word_contract()),
        ("a.pptx", presentation()),
        ("a.odt", open_document()),
        ("a.eml", mail(attachments=[("a.docx", word_contract())]).as_bytes()),
    ],
)
def test_the_same_document_as_without_it(worker: ExtractionWorker, name: str, data: bytes) -> None:
    assert worker.extract(data, name=name) == extract(data, name=name, max_bytes=len(data))


def test_errors_are_the_same_and_cost_no_process(worker: ExtractionWorker) -> None:
    worker.extract(TEXT, name="a.txt")
    pid = worker.pid
    for data, kind in (
        (b"\x89PNG\r\n\x1a\n", BinaryDocument),
        (b" ", EmptyDocument),
        (word_contract()[:900], ExtractionFailed),
    ):
        with pytest.raises(kind) as raised:
            worker.extract(data, name="דוח.txt")
        with pytest.raises(kind) as plain:
            extract(data, name="דוח.txt", max_bytes=1_000)
        assert raised.value.as_dict() == plain.value.as_dict()
    assert worker.pid == pid


def test_doubts_travel_with_their_issues() -> None:
    failure = Failure(code="doubtful_document", what="x", issues=(("visual_order", "page 2"),))
    error = isolation._error(failure)
    assert isinstance(error, DoubtfulDocument)
    assert error.issues == (("visual_order", "page 2"),)


def test_every_document_error_is_known_by_its_code() -> None:
    for code, kind in isolation._kinds().items():
        assert isinstance(isolation._error(Failure(code=code, what="x")), kind)


def test_limits_of_one_document(worker: ExtractionWorker) -> None:
    with pytest.raises(DocumentError, match="5 are allowed"):
        worker.extract(TEXT, name="a.txt", options=ExtractOptions(max_file_bytes=5))


def test_a_crash_costs_one_document_and_a_bystander_nothing(worker: ExtractionWorker) -> None:
    worker.extract(TEXT, name="a.txt")
    pid = worker.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert worker.extract(TEXT, name="b.txt").text == TEXT.decode()
    assert worker.pid != pid


# A stand-in for a parser's trouble: a media type whose extractor is a function of the standard library.
TROUBLE = "import signal, ingest.extract.registry as r; r.LIMITED['x/{kind}'] = ('tests.unit.trouble', '{kind}'); "


@pytest.fixture
def troubled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that also read formats which crash, hang and eat memory (`tests/unit/trouble.py`)."""
    prefix = "".join(TROUBLE.format(kind=kind) for kind in ("hang", "crash", "stray", "eat", "chatter", "environment"))
    paths, run = isolation._START.split("; from ingest", 1)
    monkeypatch.setattr(isolation, "_START", f"{paths}; {prefix}from ingest{run}")


def test_a_hang_ends_at_the_limit(troubled: None) -> None:
    with ExtractionWorker(timeout_s=1.0) as own:
        own.extract(TEXT, name="a.txt")
        pid = own.pid
        assert pid is not None
        started = time.monotonic()
        with pytest.raises(ExtractionTimeout, match="more than 1 seconds") as raised:
            own.extract(TEXT, name="b.txt", media_type="x/hang")
        assert time.monotonic() - started < 10
        assert raised.value.where == "b.txt"
        assert gone(pid)
        assert own.extract(TEXT, name="c.txt").text == TEXT.decode()


@pytest.mark.parametrize(("kind", "says"), [("crash", "SIGSEGV"), ("stray", "RuntimeError: never seen")])
def test_a_crash_is_named(troubled: None, kind: str, says: str) -> None:
    with ExtractionWorker() as own:
        own.extract(TEXT, name="a.txt")
        with pytest.raises(ExtractionCrashed, match=says):
            own.extract(TEXT, name="b.txt", media_type=f"x/{kind}")
        assert own.extract(TEXT, name="c.txt").text == TEXT.decode()


def test_a_parser_that_eats_memory_is_stopped(troubled: None) -> None:
    with ExtractionWorker(memory_mb=400) as own:
        own.extract(TEXT, name="a.txt")
        with pytest.raises(ExtractionOutOfMemory, match="more than 400 MiB"):
            own.extract(TEXT, name="b.txt", media_type="x/eat")
        assert own.extract(TEXT, name="c.txt").text == TEXT.decode()


def test_what_a_library_prints_is_no_answer(troubled: None) -> None:
    with ExtractionWorker() as own:
        assert own.extract(TEXT, name="a.txt", media_type="x/chatter").text == TEXT.decode()


def test_the_process_is_renewed_and_ends_with_its_worker() -> None:
    with ExtractionWorker(documents_per_process=3) as own:
        pids = []
        for _ in range(7):
            own.extract(TEXT, name="a.txt")
            pids.append(own.pid)
        assert len(set(pids)) == 3
        last = pids[-1]
    assert own.pid is None
    assert all(pid is not None and gone(pid) for pid in (pids[0], last))


def test_threads_take_turns(worker: ExtractionWorker) -> None:
    found: dict[int, str] = {}

    def read(number: int) -> None:
        found[number] = worker.extract(f"text {number}".encode(), name="a.txt").text

    threads = [threading.Thread(target=read, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: f"text {number}" for number in range(20)}


def test_parsers_and_what_they_start_see_no_secrets(troubled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAFTEACH_LLM_API_KEY", "secret")
    with ExtractionWorker() as own:
        seen = own.extract(TEXT, name="a.txt", media_type="x/environment").text.split()
    assert "PATH" in seen
    assert not any(name.startswith("MAFTEACH_") for name in seen)


def test_the_process_needs_no_model_and_no_engine() -> None:
    code = "import sys, ingest.extraction_process, ingest.extract.registry; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "onnxruntime", "opensearchpy", "fastapi", "docx", "openpyxl", "pptx"} & set(run.stdout.split())


def test_names_that_are_no_text(worker: ExtractionWorker) -> None:
    assert worker.extract(b"x", name="a\udcff.txt").text == "x"


def test_defaults_are_those_of_the_settings() -> None:
    settings = Settings(_env_file=None)
    assert options_of(settings) == ExtractOptions()
    own = ExtractionWorker.of(settings)
    assert own._limits.timeout_s == settings.extract_timeout_s
    assert own._limits.memory_mb == settings.extract_memory_mb
    assert own.pid is None
