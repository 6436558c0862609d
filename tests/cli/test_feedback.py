"""From a mark to a data set: marked over HTTP's own store, exported, measured and learnt from by the real commands."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluation.feedback.marks import MarkBody
from evaluation.feedback.store import FeedbackStore
from search_config.client import Engine
from search_config.install import uninstall
from search_config.names import Names
from search_config.settings import Settings
from tests.cli.conftest import Cli, environment, run

PLACES = ("חניה", "גינה", "מעלית", "ספרייה", "בריכה", "תקציב", "ארנונה", "רישוי", "תברואה", "תאורה")
TENANT = "town"
# Ten documents and their questions, on a machine that does much else.
LONG_S = 400.0
STRANGE = "מי ניצח במשחק הכדורסל אתמול בערב"


def question(place: str) -> str:
    return f"מהי האגרה עבור {place}?"


@pytest.fixture(scope="module")
def marked(settings: Settings, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A tenant with ten documents, of which people marked the passages that answer, and one refusal as right."""
    prefix = f"t{uuid.uuid4().hex[:10]}"
    env = environment(MAFTEACH_OPENSEARCH_URL=str(settings.opensearch_url), MAFTEACH_INDEX_PREFIX=prefix)
    folder = tmp_path_factory.mktemp("town")
    for number, place in enumerate(PLACES):
        text = f"# נוהל {place}\n\nהמחלקה פתוחה בבוקר.\n\n## אגרות\nהאגרה עבור {place} היא {number}00 שקלים בשנה.\n"
        (folder / f"{number}.md").write_text(text, encoding="utf-8")
    done = run("ingest", ".", "--tenant", TENANT, "--json", cwd=folder, env=env, timeout=LONG_S)
    assert done.returncode == 0, done.stderr
    store = FeedbackStore(engine, Names(prefix=prefix))
    for place in PLACES:
        asked = {"query": {"match": {"content": question(place)}}, "size": 1}
        hits = engine.search(f"{prefix}-chunks", asked)["hits"]["hits"]
        row = hits[0]["_source"]
        passage = {name: row[name] for name in ("document_id", "content_hash", "chunk_id", "locator")}
        mark(store, query=question(place), kind="passage", verdict="picked", passages=[passage])
    mark(store, query=STRANGE, kind="answer", verdict="right", refused=True)
    yield env
    uninstall(engine, Names(prefix=prefix))


def mark(store: FeedbackStore, **values: Any) -> None:
    store.add(TENANT, MarkBody.model_validate(values), caller="key")


def test_marks_become_a_data_set_that_is_measured(marked: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "questions"
    done = run("feedback", "export", "--tenant", TENANT, "--out", str(out), "--json", cwd=tmp_path, env=marked)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["documents"], told["answerable"], told["unanswerable"]) == (len(PLACES), len(PLACES), 1)
    rows = [json.loads(line) for line in (out / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    by_query = {row["query"]: row for row in rows}
    assert by_query[STRANGE]["answerable"] is False
    for number, place in enumerate(PLACES):
        assert f"{number}00 שקלים" in by_query[question(place)]["needles"][0]["text"]
    assert all(row["marked_by"] == ["key"] and row["marked_at"] for row in rows)

    report = tmp_path / "report.json"
    done = run("evaluate", str(out), "--json", str(report), cwd=tmp_path, env=marked, timeout=LONG_S)
    assert done.returncode == 0, done.stderr
    assert str(len(PLACES)) in done.stdout

    again = run("feedback", "export", "--tenant", TENANT, "--out", str(out), cwd=tmp_path, env=marked)
    assert again.returncode == 2
    assert "not empty" in again.stderr


@pytest.mark.slow
def test_a_profile_is_learnt_from_the_marks_of_a_tenant(marked: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "own.json"
    done = run("tune", "--tenant", TENANT, "--out", str(out), cwd=tmp_path, env=marked, timeout=LONG_S)
    assert done.returncode == 0, done.stderr
    profile = json.loads(out.read_text(encoding="utf-8"))
    assert profile["trained_on"]["name"] == f"feedback-{TENANT}"
    assert profile["trained_on"]["questions"] == len(PLACES)
    # So few labels are told to be few.
    assert f"Only {len(PLACES)} labelled questions" in done.stderr


def test_marks_are_listed(marked: dict[str, str], tmp_path: Path) -> None:
    done = run("feedback", "list", "--tenant", TENANT, "--json", cwd=tmp_path, env=marked)
    assert done.returncode == 0, done.stderr
    listed = json.loads(done.stdout)
    assert len(listed) == len(PLACES) + 1
    assert listed[0]["refused"] is True


def test_without_marks_there_is_nothing_to_learn_from(cli: Cli, tmp_path: Path) -> None:
    done = cli("feedback", "export", "--tenant", "demo", "--out", str(tmp_path / "q"))
    assert done.returncode == 2
    assert "no labelled questions" in done.stderr
    done = cli("tune", "--tenant", "demo", "--out", str(tmp_path / "p.json"))
    assert done.returncode == 2
    assert "no labelled questions" in done.stderr
    done = cli("tune", "--out", str(tmp_path / "p.json"))
    assert done.returncode == 2
    assert "nothing to learn from" in done.stderr


def test_another_tenants_marks_are_not_exported(marked: dict[str, str], tmp_path: Path) -> None:
    done = run("feedback", "list", "--tenant", "nobody", "--json", cwd=tmp_path, env=marked)
    assert done.returncode == 2
    assert question(PLACES[0]) not in done.stdout + done.stderr
