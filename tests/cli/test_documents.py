"""`mafteach documents`, `keys`, `status`, `setup`, `doctor`: JSON shapes, and text for people."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from search_config.client import Engine
from search_config.install import uninstall
from search_config.names import Names
from search_config.settings import Settings
from tests.cli.conftest import PARKING, Cli, Completed, run
from tests.cli.inside import inside
from tests.cli.test_search import error_of

ROW = ["id", "name", "tenant", "state", "reason", "attempts", "chunks_generated", "chunks_indexed", "stamps"]


@pytest.fixture
def cli(installed: dict[str, str], tmp_path: Path) -> Cli:
    """As the real command, which the other files of tests start."""

    def call(*arguments: str, **settings: str) -> Completed:
        return inside(*arguments, cwd=tmp_path, env={**installed, **settings})

    return call


def test_a_listing(cli: Cli) -> None:
    (row,) = json.loads(cli("documents", "list", "--tenant", "demo", "--json").stdout)
    assert list(row) == ROW
    assert row["name"] == "parking.md"
    assert row["state"] == "ready"
    lines = cli("documents", "list", "--tenant", "demo").stdout.splitlines()
    assert [line.split("\t")[1] for line in lines] == ["name", "parking.md"]
    assert json.loads(cli("documents", "list", "--tenant", "demo", "--state", "failed", "--json").stdout) == []
    error = error_of(cli("documents", "list", "--tenant", "demo", "--state", "lost", "--json"), 2, "invalid_request")
    assert "quarantined" in str(error["remedy"])
    error_of(cli("documents", "list", "--tenant", "nobody", "--json"), 2, "unknown_tenant")


def test_one_document_and_its_text(cli: Cli) -> None:
    (row,) = json.loads(cli("documents", "list", "--tenant", "demo", "--json").stdout)
    shown = json.loads(cli("documents", "show", row["id"], "--tenant", "demo", "--json").stdout)
    assert shown["title"] == "נוהל אישורי חניה"
    text = cli("documents", "show", row["id"], "--tenant", "demo", "--text").stdout
    assert "תושב רשאי לקבל אישור חניה אחד לכל רכב" in text
    both = json.loads(cli("documents", "show", row["id"], "--tenant", "demo", "--text", "--json").stdout)
    assert both["text"] == text.removesuffix("\n")
    hit = json.loads(cli("search", "תושב", "--tenant", "demo", "--json").stdout)["hits"][0]
    assert both["text"][hit["locator"]["from"] : hit["locator"]["to"]] == hit["content"]
    error_of(cli("documents", "show", "nothing", "--tenant", "demo", "--json"), 1, "not_found")


def test_a_document_is_deleted(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "gone.md").write_text(PARKING, encoding="utf-8")
    assert cli("ingest", "gone.md", "--tenant", "deleting").returncode == 0
    (row,) = json.loads(cli("documents", "list", "--tenant", "deleting", "--json").stdout)
    assert json.loads(cli("documents", "summary", "--tenant", "deleting", "--json").stdout)["by_state"] == {"ready": 1}
    assert json.loads(cli("documents", "delete", row["id"], "--tenant", "deleting", "--json").stdout) == {
        "deleted": row["id"]
    }
    error_of(cli("documents", "delete", row["id"], "--tenant", "demo", "--json"), 1, "not_found")


def test_keys(cli: Cli) -> None:
    done = cli("keys", "create", "--tenant", "demo", "--label", "אינטראנט", "--json")
    created = json.loads(done.stdout)
    assert {"key", "id", "tenant"} <= set(created)
    assert created["key"].startswith(f"mk_{created['id']}_")
    listed = cli("keys", "list", "--tenant", "demo", "--json").stdout
    assert created["key"] not in listed
    assert [(row["id"], row["label"], row["revoked_at"]) for row in json.loads(listed)] == [
        (created["id"], "אינטראנט", None)
    ]
    error_of(cli("keys", "revoke", created["id"], "--tenant", "other", "--json"), 1, "not_found")
    revoked = json.loads(cli("keys", "revoke", created["id"], "--tenant", "demo", "--json").stdout)
    assert revoked["revoked_at"] is not None
    error_of(cli("keys", "list", "--tenant", "nobody", "--json"), 2, "unknown_tenant")


def test_status(cli: Cli, settings: Settings) -> None:
    done = cli("status", "--json")
    assert done.returncode == 0, done.stderr
    status = json.loads(done.stdout)
    assert status["engine"]["running"] is True
    assert status["model"]["identity"] == status["index"]["model"]
    assert status["chunking"]["target_characters"] == 1200
    assert 0 < status["chunking"]["window_tokens"] < status["model"]["window"]
    assert status["documents"]["demo"]["ready"] == 1
    assert "demo\tready\t1" in cli("status").stdout
    assert json.loads(cli("status", "--json", MAFTEACH_INDEX_PREFIX="nothing").stdout)["index"] is None
    error_of(cli("status", "--json", MAFTEACH_OPENSEARCH_URL="http://127.0.0.1:9"), 3, "engine_unreachable")


# A model of the same dimension as the index's; its endpoint is never asked.
OTHER_MODEL = {
    "MAFTEACH_EMBEDDER": "openai",
    "MAFTEACH_EMBEDDER_URL": "http://127.0.0.1:9/v1",
    "MAFTEACH_EMBEDDER_MODEL": "other",
    "MAFTEACH_EMBEDDER_DIM": "384",
    "MAFTEACH_EMBEDDER_WINDOW": "512",
}


@pytest.mark.parametrize("command", ["search חניה", "ingest .", "documents list", "setup", "keys create", "serve"])
def test_an_index_of_another_model_is_refused_by_every_command(cli: Cli, command: str) -> None:
    tenant = () if command in ("setup", "serve") else ("--tenant", "demo")
    port = ("--port", "0") if command == "serve" else ()
    error = error_of(cli(*command.split(), *tenant, *port, "--json", **OTHER_MODEL), 1, "index_mismatch")
    assert "other@endpoint/384" in str(error["what"])
    assert "MAFTEACH_EMBEDDER" in str(error["remedy"])
    assert "mafteach migrate" in str(error["remedy"])


def test_status_shows_a_mismatch_beside_what_is_configured(cli: Cli) -> None:
    done = cli("status", "--json", **OTHER_MODEL)
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["mismatch"]["code"] == "index_mismatch"
    assert found["model"]["identity"] == "other@endpoint/384"
    assert "REFUSED" in cli("status", **OTHER_MODEL).stdout


def test_a_first_key_sets_up_what_is_missing(cli: Cli, engine: Engine) -> None:
    prefix = f"t{uuid.uuid4().hex[:10]}"
    slip = cli("keys", "create", "--tenant", "A b", "--json", MAFTEACH_INDEX_PREFIX=prefix)
    error_of(slip, 2, "invalid_tenant")
    assert not engine.exists(f"/{prefix}-keys")
    try:
        done = cli("keys", "create", "--tenant", "demo", "--json", MAFTEACH_INDEX_PREFIX=prefix)
        assert done.returncode == 0, done.stderr
        assert "setting it up" in done.stderr
        assert json.loads(done.stdout)["key"]
        assert json.loads(cli("status", "--json", MAFTEACH_INDEX_PREFIX=prefix).stdout)["index"]
    finally:
        uninstall(engine, Names(prefix=prefix))


def test_setup_can_be_repeated(cli: Cli) -> None:
    first, second = cli("setup", "--json"), cli("setup", "--json")
    assert first.returncode == second.returncode == 0, second.stderr
    assert json.loads(first.stdout) == json.loads(second.stdout)
    assert json.loads(first.stdout)["index"].endswith("-chunks-v000001")


def test_doctor(cli: Cli) -> None:
    done = cli("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert {"python", "settings", "engine", "index", "model"} <= set(checks)
    assert (done.returncode == 0) == all(check["holds"] is not False for check in checks.values())
    sick = cli("doctor", "--json", MAFTEACH_INDEX_PREFIX="nothing")
    failed = [check for check in json.loads(sick.stdout)["checks"] if check["holds"] is False]
    assert "index" in {check["name"] for check in failed}
    assert all(check["remedy"] for check in failed)
    assert sick.returncode == 1
    wrong = cli("doctor", "--json", MAFTEACH_PORT="0")
    assert wrong.returncode == 1
    assert "MAFTEACH_PORT" in wrong.stdout


def test_failed_documents_are_listed_by_reason_and_retried(cli: Cli, installed: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "again"
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "late.md").write_bytes(b"")
    (folder / "good.md").write_text(PARKING, encoding="utf-8")
    assert cli("ingest", "again", "--tenant", "again").returncode == 1
    listed = json.loads(cli("documents", "list", "--tenant", "again", "--reason", "empty_document", "--json").stdout)
    assert [row["name"] for row in listed] == ["late.md"]
    below = json.loads(cli("documents", "list", "--tenant", "again", "--folder", "again/below", "--json").stdout)
    assert below == listed
    still = cli("documents", "retry", "--all-failed", "--tenant", "again", "--json")
    assert (still.returncode, json.loads(still.stdout)[0]["state"]) == (1, "failed")
    (folder / "below" / "late.md").write_text(f"{PARKING}\nמאוחר", encoding="utf-8")
    queued = cli("documents", "retry", listed[0]["id"], "--no-wait", "--tenant", "again", "--json")
    assert (queued.returncode, json.loads(queued.stdout)[0]["state"]) == (0, "queued")
    worked = run("worker", "--once", cwd=tmp_path, env=installed)
    assert worked.returncode == 0, worked.stderr
    assert worked.stdout.startswith(f"ready\t{listed[0]['id']}")
    summary = json.loads(cli("documents", "summary", "--tenant", "again", "--json").stdout)
    assert summary["by_state"] == {"ready": 2}
    assert summary["chunks_generated"] == summary["chunks_indexed"] > 0
    assert [Path(one["folder"]).name for one in summary["folders"]] == ["again", "below"]
    error_of(cli("documents", "retry", listed[0]["id"], "--tenant", "again", "--json"), 1, "state_conflict")
    error_of(cli("documents", "release", listed[0]["id"], "--tenant", "again", "--json"), 1, "state_conflict")
    error_of(cli("documents", "retry", "--tenant", "again", "--json"), 2, "invalid_request")


def test_corrections_are_validated_before_anything_waits_for_them(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "fields.json").write_text('{"signed": "31.2.2024", "colour": "red"}', encoding="utf-8")
    done = cli("documents", "release", "0" * 24, "--tenant", "demo", "--fields", "fields.json", "--json")
    error = error_of(done, 2, "invalid_request")
    assert "signed" in str(error["what"])
    assert "colour" in str(error["what"])
