"""`mafteach tune` on a small data set: a profile that is accepted, figures that are cross-validated, wrong options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from query.profile import load_profile
from tests.cli.conftest import Cli

PLACES = ("חניה", "גינה", "מעלית", "ספרייה", "בריכה", "תקציב", "ארנונה", "רישוי", "תברואה", "תאורה")
# Fewer than 200 questions, more than 40 of each kind.
COPIES = 5


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "questions"
    root.mkdir()
    documents, queries = [], []
    for copy in range(COPIES):
        for place in PLACES:
            name = f"{place}-{copy}"
            text = f"נוהל {place} מספר {copy}. האגרה עבור {place} בשנת 201{copy} היא {copy}00 שקלים."
            needle = f"{copy}00 שקלים"
            documents.append({"id": name, "title": f"{place} {copy}", "text": text})
            queries.append(
                {
                    "id": name,
                    "query": f"מהי האגרה עבור {place} בשנת 201{copy}?",
                    "answerable": True,
                    "document_id": name,
                    "needles": [{"text": needle, "from": text.index(needle)}],
                }
            )
            stranger = f"מי כתב את הספר {copy} על {place[::-1]} ועטלפים בירחון?"
            queries.append({"id": f"far-{name}", "query": stranger, "answerable": False, "document_id": None})
    for name, rows in (("documents.jsonl", documents), ("queries.jsonl", queries)):
        (root / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return root


@pytest.mark.slow
def test_a_profile_is_learnt_and_measured_on_held_out_folds(cli: Cli, folder: Path, tmp_path: Path) -> None:
    out, plots = tmp_path / "own.json", tmp_path / "plots"
    done = cli("tune", str(folder), "--out", str(out), "--max-lost", "0.1", "--plots", str(plots))
    assert done.returncode == 0, done.stderr
    assert "Cross-validated" in done.stdout
    # A blend is kept, and its features are ablated, only where it beats the fusion on held-out folds.
    assert "without cosine" in done.stdout or "keep the fused order" in done.stderr
    assert "out of domain answered" in done.stdout
    assert "50 labelled questions" in done.stderr
    assert {path.name for path in plots.iterdir()} == {"refusal.png", "refusal-curve.png"}
    profile = load_profile(out)
    assert profile.label == "own/1"
    assert profile.refusal is not None
    assert profile.refusal.chosen_by == "--max-lost 0.1"
    assert profile.trained_on is not None
    assert len(profile.trained_on.documents) == len(PLACES) * COPIES
    assert len(profile.folds) == 5

    report = tmp_path / "report.json"
    renamed = folder.rename(tmp_path / "another-name")
    done = cli("evaluate", str(renamed), "--profile", str(out), "--json", str(report))
    assert done.returncode == 0, done.stderr
    assert "cross-validated" in done.stdout
    found = json.loads(report.read_text(encoding="utf-8"))
    assert found["held_out_questions"] == 2 * len(PLACES) * COPIES
    assert found["refusal"]["threshold"] == profile.refusal.threshold
    assert found["refusal"]["answerable_refused"]["value"] <= 0.3
    assert found["refusal"]["out_of_domain_answered"]["value"] <= 0.3


@pytest.mark.parametrize(
    "options",
    [
        ("--max-lost", "1.5"),
        ("--max-bluffs", "-0.1"),
        ("--cost-ratio", "0"),
        ("--cost-ratio", "nan"),
        ("--max-lost", "0.1", "--max-bluffs", "0.1"),
    ],
)
def test_wrong_points_are_refused_before_anything_is_done(
    cli: Cli, folder: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    out = tmp_path / "p.json"
    done = cli("tune", str(folder), "--out", str(out), *options)
    assert done.returncode == 2
    assert options[0] in done.stderr
    assert not out.exists()


def test_a_profile_of_another_model_is_refused_by_name(cli: Cli, tmp_path: Path) -> None:
    foreign = tmp_path / "p.json"
    foreign.write_text(json.dumps(load_profile().model_dump(mode="json") | {"model": "other@1/8"}), encoding="utf-8")
    done = cli("search", "אישור חניה", "--tenant", "demo", MAFTEACH_PROFILE=str(foreign))
    assert done.returncode == 2
    assert "other@1/8" in done.stderr
