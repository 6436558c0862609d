"""A whole evaluation on a small data set: normal ingest, normal queries, real figures; and what a comparison says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

from evaluation.dataset import Dataset, load_dataset
from evaluation.index import built_index
from evaluation.joined import joined
from evaluation.report import Report, compare, read_report
from evaluation.run import evaluate
from evaluation.summary import Evaluation
from evaluation.trec import write_qrels, write_run
from models.base import Embedder
from query.profile import load_profile
from search_config.client import Engine
from search_config.errors import InvalidDataset, InvalidRequest
from search_config.settings import Settings

MAX_BYTES = 1_000_000
TEXTS = {
    "parking": 'תושב רשאי לקבל תו חניה אחד לכל רכב הרשום על שמו.\n\nתוקף התו שנה אחת מיום ההנפקה, ואגרתו 35 ש"ח.',
    "lifts": "בקריאה על אדם שנלכד במעלית יגיע הטכנאי בתוך 25 דקות.\n\nביקור מונע נערך אחת לחודש.",
    "gardens": "הקבלן ישקה את הגן המרכזי שלוש פעמים בשבוע.\n\nגיזום עצים נעשה בחודשי החורף בלבד.",
}
QUESTIONS = (
    ("q1", "כמה עולה תו חניה?", "parking", '35 ש"ח'),
    ("q2", "תוך כמה זמן מגיע טכנאי למעלית?", "lifts", "בתוך 25 דקות"),
    ("q3", "מתי גוזמים את העצים?", "gardens", "בחודשי החורף"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [{"id": name, "title": name, "text": text} for name, text in TEXTS.items()]
    questions: list[dict[str, object]] = [
        {
            "id": number,
            "query": query,
            "language": "he",
            "answerable": True,
            "document_id": name,
            "needles": [{"text": needle, "from": TEXTS[name].index(needle)}],
        }
        for number, query, name, needle in QUESTIONS
    ]
    questions.append({"id": "q4", "query": "מי זכה בגביע?", "answerable": False, "document_id": None, "needles": []})
    (tmp_path / "documents.jsonl").write_text(_lines(lines), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text(_lines(questions), encoding="utf-8")
    return tmp_path


def _lines(rows: Sequence[Mapping[str, object]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@pytest.fixture
def dataset(folder: Path) -> Dataset:
    return load_dataset(folder, max_file_bytes=MAX_BYTES)


@pytest.fixture
def evaluation(dataset: Dataset, engine: Engine, embedder: Embedder, settings: Settings) -> Evaluation:
    return evaluate(
        dataset,
        engine=engine,
        embedder=embedder,
        settings=settings,
        profile=load_profile(),
        progress=lambda done, total, what: None,
    )


def test_a_report_says_what_was_measured(evaluation: Evaluation, engine: Engine, tmp_path: Path) -> None:
    report = evaluation.report
    assert report.queries == 3
    assert report.corpus.documents == 3
    assert report.destroyed_answers == 0
    assert {"lexical", "dense", "fused"} <= report.stages.keys()
    assert report.stages["fused"]["recall@1"].value == 1.0
    assert {question.ranks["fused"] for question in report.questions} == {1}
    assert report.snapshot_date <= date.today()
    assert not [
        name for name in engine.request("GET", "/_cat/indices", params={"format": "json"}) if "eval-" in str(name)
    ]
    report.write(tmp_path / "report.json")
    assert read_report(tmp_path / "report.json") == report


def test_trec_files_tell_the_same(evaluation: Evaluation, tmp_path: Path) -> None:
    write_run(tmp_path / "fused.run", evaluation.runs["fused"])
    write_qrels(tmp_path / "qrels.txt", evaluation.judged)
    right = {tuple(line.split()[::2]) for line in (tmp_path / "qrels.txt").read_text(encoding="utf-8").splitlines()}
    first = [line.split() for line in (tmp_path / "fused.run").read_text(encoding="utf-8").splitlines()]
    assert {(row[0], row[2]) for row in first if row[3] == "1"} == right
    assert all(float(a[4]) > float(b[4]) for a, b in pairwise(first) if a[0] == b[0])


def test_a_significant_loss_is_found_and_noise_is_not(evaluation: Evaluation) -> None:
    good = evaluation.report
    questions = tuple(
        good.questions[0].model_copy(update={"id": f"q{number}", "ranks": {"fused": 1}}) for number in range(20)
    )
    old = good.model_copy(update={"questions": questions, "shipped": "fused"})

    def worse(by: int) -> Report:
        ranks = [{"fused": 9 if number < by else 1} for number in range(20)]
        changed = tuple(
            question.model_copy(update={"ranks": rank}) for question, rank in zip(questions, ranks, strict=True)
        )
        return old.model_copy(update={"questions": changed})

    lost = compare(worse(6), old)
    assert any(test.distinguishable and test.losses > test.wins for test in lost)
    assert not any(test.distinguishable for test in compare(worse(5), old))
    with pytest.raises(InvalidRequest):
        compare(old.model_copy(update={"questions": ()}), old)


def test_joined_documents_keep_every_needle_at_its_place(dataset: Dataset) -> None:
    together = joined(dataset, 100, max_file_bytes=MAX_BYTES)
    assert len(together.documents) == 2
    for question in together.questions:
        for document, needle in question.needle_places():
            assert together.canonical[document][needle.from_ : needle.to] == needle.text
    assert sum(question.retrievable for question in together.questions) == 3


def test_every_passage_of_an_index_is_read_back(
    dataset: Dataset, engine: Engine, embedder: Embedder, settings: Settings
) -> None:
    with built_index(
        dataset, engine=engine, embedder=embedder, settings=settings, progress=lambda done, total, what: None
    ) as index:
        assert len(index.passages) == engine.request("GET", f"/{index.info.index}/_count")["count"]
        assert {passage.document_id for passage in index.passages} == TEXTS.keys()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"needles": [{"text": "35", "from": 0}]}, "is not at 0"),
        ({"document_id": "nowhere"}, "no document"),
        ({"query": ""}, "query"),
    ],
)
def test_a_data_set_that_does_not_hold_is_named(folder: Path, change: dict[str, object], problem: str) -> None:
    path = folder / "queries.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text(_lines([{**rows[0], **change}, *rows[1:]]), encoding="utf-8")
    with pytest.raises(InvalidDataset, match=problem):
        load_dataset(folder, max_file_bytes=MAX_BYTES)


def test_a_folder_without_questions_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InvalidDataset, match=r"queries\.jsonl"):
        load_dataset(tmp_path, max_file_bytes=MAX_BYTES)
