"""Folds are of contents: other folders, ids and orders change nothing, and no question is measured by what saw it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.dataset import Dataset, load_dataset
from evaluation.folds import content_hash, folds_of, held_out_profile, learnt_from
from evaluation.tuning import FOLDS
from query.profile import Profile, load_profile

TEXTS = [f"מסמך מספר {number} עוסק בנושא {number * 7}." for number in range(12)]


def _dataset(folder: Path, *, prefix: str, answerable: bool = True) -> Dataset:
    folder.mkdir()
    documents = [{"id": f"{prefix}{number}", "text": text} for number, text in enumerate(TEXTS)]
    queries: list[dict[str, Any]] = []
    for number in range(len(TEXTS)):
        query = {"id": f"{prefix}q{number}", "query": f"מה בנושא {number}?", "answerable": answerable}
        needles = [{"text": "מסמך", "from": 0}]
        queries.append(query | ({"document_id": f"{prefix}{number}", "needles": needles} if answerable else {}))
    for name, rows in (("documents.jsonl", documents), ("queries.jsonl", queries)):
        (folder / name).write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return load_dataset(folder, max_file_bytes=10_000)


def _profile(data: Dataset) -> Profile:
    folds = folds_of([data])
    learnt = load_profile().model_dump() | {
        "folds": [{"bm25": {"content": 1.0 + fold}} for fold in range(FOLDS)],
        "trained_on": {
            "name": "x",
            "content_hash": "y",
            "date": "2026-01-01",
            "questions": 1,
            "passages": 1,
            "documents": folds.documents,
            "queries": folds.queries,
        },
    }
    return Profile.model_validate(learnt)


def test_the_fold_is_of_the_content(tmp_path: Path) -> None:
    one, other = _dataset(tmp_path / "one", prefix="a"), _dataset(tmp_path / "other", prefix="zz-")
    profile = _profile(one)
    for question, renamed in zip(one.questions, other.questions, strict=True):
        fold = learnt_from(profile).of(question, one)
        assert fold is not None
        assert learnt_from(profile).of(renamed, other) == fold
        assert held_out_profile(profile, renamed, other).bm25 == {"content": 1.0 + fold}


def test_unknown_content_gets_the_whole_profile(tmp_path: Path) -> None:
    data = _dataset(tmp_path / "one", prefix="a")
    profile = _profile(data)
    changed = data.model_copy(update={"canonical": {name: text + "!" for name, text in data.canonical.items()}})
    assert held_out_profile(profile, changed.questions[0], changed) is profile


def test_a_query_without_a_document_follows_its_twin_that_has_one(tmp_path: Path) -> None:
    answerable = _dataset(tmp_path / "one", prefix="a")
    others = _dataset(tmp_path / "other", prefix="b", answerable=False)
    folds = folds_of([others, answerable])
    for twin, question in zip(answerable.questions, others.questions, strict=True):
        assert folds.of(question, others) == folds.of(twin, answerable)
    assert set(folds.queries) == {content_hash(question.query) for question in others.questions}


def test_a_profile_without_folds_knows_nobody(tmp_path: Path) -> None:
    data = _dataset(tmp_path / "one", prefix="a")
    profile = load_profile().model_copy(update={"folds": (), "trained_on": None})
    assert held_out_profile(profile, data.questions[0], data) is profile


def test_there_is_no_such_fold(tmp_path: Path) -> None:
    profile = _profile(_dataset(tmp_path / "one", prefix="a"))
    with pytest.raises(IndexError):
        profile.of_fold(FOLDS)
    assert profile.of_fold(0).folds == ()
