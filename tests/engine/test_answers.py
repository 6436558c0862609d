"""Extractive answers over a real index, and the measure of answers on a small corpus of known questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluation.answers import AnswersReport, evaluate_answers
from evaluation.answers_tables import answers_tables
from evaluation.dataset import load_dataset
from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from models.base import Embedder
from query.answer_request import AnswerRequest
from query.answer_result import AnswerResult
from query.answering import answer
from query.profile import load_profile
from query.request import SearchRequest
from query.search import SearchContext
from search_config.client import Engine
from search_config.settings import Settings
from tests.conftest import MakeIndex

TENANT = "t"
CONTRACT = """חוזה שירותי גינון

החוזה נחתם ביום 12 במרץ 2023 בין עיריית גבעת הדר לבין חברת אלון בע"מ, ח.פ. 51-234567-8. הספק יגזום את העצים בכל רבעון.

התמורה היא 12,500 ש"ח לחודש בתוספת מע"מ [3]. התשלום נעשה בתוך 45 ימים מקבלת החשבונית.

איחור בתשלום נובע לרוב מכך שהחשבונית חסרה פרטים, ולכן יש לצרף אליה אישור מנהל.
"""
POOL = """נוהל הפעלת הבריכה

הבריכה פתוחה מיום ראשון עד יום שישי. מנהלת הבריכה היא נעמה ברק. בשבת הבריכה סגורה.
"""


@pytest.fixture
def context(make_index: MakeIndex, engine: Engine, embedder: Embedder) -> SearchContext:
    info, own = make_index()
    ingestor = Ingestor(engine, info, embedder, own)
    for name, text in (("contract.txt", CONTRACT), ("pool.txt", POOL)):
        (outcome,) = ingestor.ingest([RawDocument(tenant=TENANT, source=name, name=name, data=text.encode())])
        assert outcome.state == "ready"
    engine.request("POST", f"/{info.index}/_refresh")
    return SearchContext(engine, info, embedder, load_profile().checked_for(info), own)


def asked(context: SearchContext, question: str) -> AnswerResult:
    return answer(AnswerRequest(search=SearchRequest(tenant=TENANT, query=question)), context, model=None)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (
            "מתי נחתם החוזה עם חברת אלון?",
            'החוזה נחתם ביום 12 במרץ 2023 בין עיריית גבעת הדר לבין חברת אלון בע"מ, ח.פ. 51-234567-8.',
        ),
        ("תוך כמה ימים משלמים את החשבונית?", "התשלום נעשה בתוך 45 ימים מקבלת החשבונית."),
        ("מי מנהלת את הבריכה?", "מנהלת הבריכה היא נעמה ברק."),
        ("מדוע יש איחור בתשלום?", "איחור בתשלום נובע לרוב מכך שהחשבונית חסרה פרטים, ולכן יש לצרף אליה אישור מנהל."),
    ],
)  # fmt: skip
def test_the_right_sentence_stands_first(context: SearchContext, question: str, sentence: str) -> None:
    result = asked(context, question)
    assert result.sentences[0].text == f"{sentence} [{result.sentences[0].citations[0]}]"
    assert result.grounded
    hits = {hit.chunk_id: hit for hit in result.search.hits}
    for one, citation in zip(result.sentences, result.citations, strict=True):
        assert one.citations == (citation.index,)
        assert " ".join(citation.quote.split()) == one.text.rpartition(" [")[0]
        hit = hits[citation.chunk_id]
        start = citation.locator.from_ - hit.locator.from_
        assert hit.content[start : start + len(citation.quote)] == citation.quote


def test_brackets_of_a_document_are_no_marks(context: SearchContext) -> None:
    result = asked(context, "מה התמורה לחודש?")
    assert "12,500" in result.answer
    assert "(3)" in result.answer
    assert any("[3]" in citation.quote for citation in result.citations)


def test_each_part_of_a_question_has_its_sentence_or_is_named(context: SearchContext) -> None:
    both = asked(context, "מתי נחתם החוזה עם חברת אלון ומי מנהלת הבריכה?")
    assert [one.text.split(" [")[0][:20] for one in both.sentences] == ["החוזה נחתם ביום 12 ב", "מנהלת הבריכה היא נעמ"]
    assert both.not_in_sources == ()
    one = asked(context, "מי מנהלת הבריכה ומתי שופצה הספרייה העירונית?")
    assert one.answered_parts == ("מי מנהלת הבריכה",)
    assert one.not_in_sources == ("ומתי שופצה הספרייה העירונית",)
    assert "נעמה ברק" in one.answer


def question(number: str, query: str, document: str, text: str, needle: str) -> dict[str, object]:
    """A line of queries.jsonl."""
    needles = [{"text": needle, "from": text.index(needle)}]
    return {"id": number, "query": query, "answerable": True, "document_id": document, "needles": needles}


@pytest.fixture
def report(tmp_path: Path, engine: Engine, embedder: Embedder, settings: Settings) -> AnswersReport:
    documents = [{"id": "contract", "text": CONTRACT}, {"id": "pool", "text": POOL}]
    queries = [
        question("1", "מי מנהלת את הבריכה?", "pool", POOL, "נעמה ברק"),
        question("2", "מי מנהלת את הבריכה?", "contract", CONTRACT, "12,500"),
        {"id": "3", "query": "מי מנהל את החוזה?", "answerable": False, "document_id": "contract"},
        {"id": "4", "query": "מה מזג האוויר בירח?", "answerable": False},
    ]
    for name, lines in (("documents.jsonl", documents), ("queries.jsonl", queries)):
        (tmp_path / name).write_text(
            "\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8"
        )
    return evaluate_answers(
        load_dataset(tmp_path, max_file_bytes=10_000),
        engine=engine,
        embedder=embedder,
        settings=settings,
        # What is refused is the shipped profile's affair.
        profile=load_profile().model_copy(update={"refusal": None}),
        model=None,
        progress=lambda *_: None,
    )


def test_answers_are_judged_by_the_place_of_the_needle(report: AnswersReport) -> None:
    assert [(row.group, row.verdict, row.first) for row in report.rows[:3]] == [
        ("answerable", "right", 1),
        ("answerable", "wrong", None),
        ("look-alike", "answered", None),
    ]
    assert report.rows[3].group == "out of domain"
    answerable = report.groups["answerable"]
    assert answerable.right is not None
    assert answerable.right.value == answerable.by_sentences[1].value == 0.5
    assert report.groups["look-alike"].refused.value == 0.0
    (route,) = report.routes.values()
    assert (route.questions, route.right, route.wrong, route.refused) == (4, 1, 3, 0)
    assert route.score == (1 - 3) / 4
    assert answers_tables(report)
