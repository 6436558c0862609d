"""`mafteach ingest`: folders, bad files, repetition."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, PARKING, TIMEOUT_S, Cli, Completed
from tests.cli.inside import inside
from tests.cli.test_search import error_of


@pytest.fixture
def told(installed: dict[str, str], tmp_path: Path) -> Cli:
    """As `cli`, in this process."""

    def call(*arguments: str, **settings: str) -> Completed:
        return inside(*arguments, cwd=tmp_path, env={**installed, **settings})

    return call


def test_bad_files_are_listed_and_the_rest_goes_on(told: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "good.md").write_text(PARKING, encoding="utf-8")
    (folder / "legacy.txt").write_bytes("נוהל ישן על ארנונה ומים לתושבי העיר, בקידוד של פעם.".encode("windows-1255"))
    (folder / "empty.txt").write_bytes(b"")
    (folder / "binary.txt").write_bytes(bytes(range(256)) * 40)
    (folder / "garbage.txt").write_bytes(b"\xfe\x81\x8d\x9d" * 50)
    with (folder / "huge.txt").open("wb") as huge:
        huge.truncate(50_000_000)
    (folder / ".hidden.md").write_text(PARKING, encoding="utf-8")

    done = told("ingest", "mixed", "--tenant", "mixed", "--json")
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert report["ready"] == 2
    failed = {outcome["name"]: outcome for outcome in report["failed"]}
    assert set(failed) == {"empty.txt", "binary.txt", "garbage.txt", "huge.txt"}
    assert failed["empty.txt"]["code"] == "empty_document"
    assert failed["huge.txt"]["code"] == "document_too_large"
    assert all(outcome["reason"] for outcome in failed.values())

    listed = json.loads(told("documents", "list", "--tenant", "mixed", "--state", "failed", "--json").stdout)
    assert {row["name"]: row["reason"] for row in listed}.keys() == failed.keys()
    hits = json.loads(told("search", "ארנונה לתושבי העיר", "--tenant", "mixed", "--json").stdout)["hits"]
    assert hits[0]["title"]
    assert "ארנונה" in hits[0]["content"]

    people = told("ingest", "mixed", "--tenant", "mixed")
    assert people.returncode == 1
    assert "2 unchanged, 4 failed" in people.stdout
    assert "empty.txt" in people.stdout


def test_the_same_file_twice_changes_nothing(told: Cli, tmp_path: Path) -> None:
    (tmp_path / "twice.md").write_text(PARKING, encoding="utf-8")
    first = json.loads(told("ingest", "twice.md", "--tenant", "twice", "--json").stdout)
    second = json.loads(told("ingest", "twice.md", "--tenant", "twice", "--json").stdout)
    assert (first["ready"], first["unchanged"]) == (1, 0)
    assert (second["ready"], second["unchanged"], second["chunks"]) == (0, 1, 0)


def test_a_file_that_may_not_be_read(told: Cli, tmp_path: Path) -> None:
    # Page zero of a process's memory is an error to everybody, to root too, who may read any file.
    (tmp_path / "closed.md").symlink_to("/proc/self/mem")
    (tmp_path / "open.md").write_text(PARKING, encoding="utf-8")
    done = told("ingest", "closed.md", "open.md", "--tenant", "closed", "--json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert [(one["name"], one["code"]) for one in report["failed"]] == [("closed.md", "unreadable_document")]
    assert report["failed"][0]["reason"]
    assert report["ready"] == 1


def test_a_bar_shows_counts_and_rate_on_a_terminal(installed: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text(PARKING, encoding="utf-8")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, "ingest", "one.md", "--tenant", "bar"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        cwd=tmp_path,
        env={**installed, "COLUMNS": "120", "TERM": "xterm"},
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # what Linux says of a terminal that was left
        while part := os.read(ours, 65_536):
            shown += part
    os.close(ours)
    output, _ = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0
    bar = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", shown.decode())
    assert "0/1 documents" in bar, bar
    assert re.search(r"1/1 documents, \d passages, [\d.]+/s", bar), bar
    # The bar is for who looks; the result is for who reads.
    assert output.decode().startswith("1 documents: 1 ingested")
    assert b"\x1b" not in output


def test_a_file_name_that_is_no_text_is_ingested_all_the_same(told: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "names"
    folder.mkdir()
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.md")).write_text(PARKING, encoding="utf-8")
    done = told("ingest", "names", "--tenant", "names", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(told("documents", "list", "--tenant", "names", "--json").stdout)
    assert row["name"] == "\ufffd.md"


def test_slips_are_told_before_anything_is_done(told: Cli) -> None:
    error = error_of(told("ingest", "nowhere", "missing.md", "--tenant", "demo", "--json"), 2, "invalid_request")
    assert "nowhere" in str(error["where"])
    assert "missing.md" in str(error["where"])
    error_of(told("ingest", ".", "--tenant", "A b", "--json"), 2, "invalid_tenant")
    error_of(told("ingest", "--tenant", "demo", "--json"), 2, "invalid_request")
    gone = told("ingest", ".", "--tenant", "demo", "--json", MAFTEACH_OPENSEARCH_URL="http://127.0.0.1:9")
    error_of(gone, 3, "engine_unreachable")


def test_several_processes_do_each_file_once_and_the_same(cli: Cli, told: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}.md").write_text(f"{PARKING}\nגיליון {number}", encoding="utf-8")
    (folder / "empty.md").write_bytes(b"")
    done = cli("ingest", "many", "--tenant", "shared", "--workers", "3", "--json")
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert (report["ready"], [one["code"] for one in report["failed"]]) == (20, ["empty_document"])
    assert len(report["processes"]) == 3
    assert sum(report["processes"].values()) == 21
    again = json.loads(told("ingest", "many", "--tenant", "shared", "--json").stdout)
    assert (again["unchanged"], again["ready"], again["chunks"]) == (20, 0, 0)


def test_a_worker_that_is_told_to_stop_ends_in_order(told: Cli, installed: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "empty.md").write_bytes(b"")
    assert told("ingest", "empty.md", "--tenant", "stopping").returncode == 1
    assert told("documents", "retry", "--all-failed", "--no-wait", "--tenant", "stopping").returncode == 0
    process = subprocess.Popen(
        [COMMAND, "worker"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=installed
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"failed\t")
    process.terminate()
    _, said = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0, said.decode()
