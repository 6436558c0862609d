"""Answers over the router: exact ones by fields with their documents as sources, both layers, comparisons, streams."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from typing import Any

import pytest

from ingest.compose import make_ingestor
from ingest.documents import RawDocument
from ingest.registry import Registry
from models.base import Embedder
from models.language_model import OpenAICompatibleLanguageModel
from query import wording
from query.answer_events import Done, SentenceChecked, SourcesFound
from query.answer_request import AnswerRequest
from query.answer_result import AnswerResult
from query.answering import answer, answer_from, events_from, found, stream
from query.profile import load_profile
from query.request import SearchRequest, SearchResult
from query.routing import Router
from query.search import SearchContext
from query.wording import told
from search_config.client import Engine
from search_config.install import install, uninstall
from search_config.settings import Settings
from tests.contracts.model_server import KEY, serving

TENANT = "t"
GARDEN = """חוזה שירותי גינון

נערך ונחתם ביום 12.3.2023 בין עיריית גבעת הדר (להלן: "המזמין") לבין אלון גינון בע"מ (להלן: "הספק").

סך התמורה לפי החוזה הוא 12,500 ש"ח. הספק יגזום את העצים בכל רבעון, ועל איחור בגיזום ישלם קנס של 300 ש"ח ליום.
"""
LIFTS = """חוזה תחזוקת מעליות

נערך ונחתם ביום 5.9.2023 בין עיריית גבעת הדר (להלן: "המזמין") לבין מעלות בע"מ (להלן: "הספק").

סך התמורה לפי החוזה הוא 7,000 ש"ח. על איחור בהגעה לתקלה במעלית ישלם הספק קנס של 900 ש"ח לשעה.
"""
SECRET = """חוזה ייעוץ חסוי

נערך ונחתם ביום 7.7.2023 בין עיריית גבעת הדר (להלן: "המזמין") לבין יעלים בע"מ (להלן: "הספק").

סך התמורה לפי החוזה הוא 1,000 ש"ח.
"""
FILES = (("garden.txt", GARDEN, ()), ("lifts.txt", LIFTS, ()), ("secret.txt", SECRET, ("legal",)))
COUNT = "כמה חוזים נחתמו ב-2023?"
PENALTY = "מה הקנס על איחור בגיזום?"
COMPARISON = "האם חוזה שירותי גינון סותר את חוזה תחזוקת מעליות בעניין הקנס?"


@pytest.fixture(scope="module")
def context(engine: Engine, settings: Settings, embedder: Embedder) -> Iterator[SearchContext]:
    own = settings.model_copy(update={"index_prefix": f"t{uuid.uuid4().hex[:10]}"})
    info = install(engine, own, embedder.description)
    ingestor = make_ingestor(engine, info, embedder, own)
    raws = [
        RawDocument(tenant=TENANT, source=name, name=name, data=text.encode(), groups=groups)
        for name, text, groups in FILES
    ]
    assert {outcome.state for outcome in ingestor.ingest(raws)} == {"ready"}
    ingestor.close()
    for index in (info.index, info.names.documents):
        engine.request("POST", f"/{index}/_refresh")
    yield SearchContext(engine, info, embedder, load_profile().checked_for(info), own, router=Router(()))
    uninstall(engine, info.names)


def asked(question: str, **fields: Any) -> AnswerRequest:
    fields = {"groups": (), "as_of": date(2024, 1, 1), **fields}
    return AnswerRequest(search=SearchRequest(tenant=TENANT, query=question, **fields))


def holds(result: AnswerResult, context: SearchContext) -> None:
    """Every citation is what stands at its place, under its file's name, and every mark has its citation."""
    registry = Registry(context.engine, context.info, context.settings)
    assert [one.index for one in result.citations] == list(range(1, len(result.citations) + 1))
    for one in result.citations:
        record = registry.require(TENANT, one.document_id)
        assert one.document_name == record.name
        assert record.text is not None
        assert record.text[one.locator.from_ : one.locator.to] == one.quote != ""
        assert one.locator_label
        assert one.fragment
    marked = {number for sentence in result.sentences for number in sentence.citations}
    assert marked <= {one.index for one in result.citations}
    for sentence in result.sentences:
        assert result.answer[sentence.from_ : sentence.to] == sentence.text


def names(result: AnswerResult) -> set[str]:
    return {one.document_name for one in result.citations}


def test_a_number_cites_each_document_behind_it(context: SearchContext) -> None:
    result = answer(asked(COUNT), context, model=None)
    assert (result.method, result.search.route, result.refused) == ("metadata", "metadata", False)
    assert result.search.metadata is not None
    assert result.search.metadata.value == 2
    assert result.grounded is result.search.metadata.exact is True
    assert result.answer.startswith("2 מסמכים")
    assert result.answer.endswith("[1] [2]")
    assert names(result) == {"garden.txt", "lifts.txt"}
    assert {"12.3.2023", "5.9.2023"} <= {part for one in result.citations for part in one.quote.split()}
    holds(result, context)


def test_groups_decide_what_is_counted_and_cited(context: SearchContext) -> None:
    result = answer(asked(COUNT, groups=("legal",)), context, model=None)
    assert names(result) == {"garden.txt", "lifts.txt", "secret.txt"}
    holds(result, context)


def test_none_is_an_answer_that_nothing_cites(context: SearchContext) -> None:
    result = answer(asked("כמה חוזים נחתמו ב-2019?"), context, model=None)
    assert (result.method, result.refused, result.grounded, result.citations) == ("metadata", False, False, ())
    assert result.answer == "אין מסמכים כאלה."


def both_layers(context: SearchContext, **of_fields: Any) -> SearchResult:
    """Passages about a penalty, beside a count."""
    counted = found(asked(COUNT), context)
    assert counted.metadata is not None
    metadata = counted.metadata.model_copy(update=of_fields)
    passages = found(asked(PENALTY, route="semantic"), context)
    return passages.model_copy(update={"route": "both", "metadata": metadata, "refused": False})


def test_both_gives_the_exact_part_first(context: SearchContext) -> None:
    result = answer_from(both_layers(context), asked(PENALTY), context, model=None)
    assert (result.method, result.grounded) == ("extractive", True)
    first, *rest = result.sentences
    assert first.citations == (1, 2)
    assert first.text.startswith("2 מסמכים")
    assert rest
    assert any("קנס" in one.text for one in rest)
    holds(result, context)
    inexact = answer_from(both_layers(context, exact=False), asked(PENALTY), context, model=None)
    assert not inexact.grounded
    assert "לכן אין זו תשובה מדויקת." in inexact.answer


def test_the_exact_part_stands_where_passages_are_refused(context: SearchContext) -> None:
    refused = both_layers(context).model_copy(update={"refused": True, "reason": "too far"})
    result = answer_from(refused, asked(PENALTY), context, model=None)
    assert (result.method, result.refused, result.explanation) == ("metadata", False, "too far")
    assert told(wording.FIELDS_ALONE, "he") in result.notes
    holds(result, context)


def test_a_comparison_cites_every_side(context: SearchContext) -> None:
    result = answer(asked(COMPARISON), context, model=None)
    assert len(result.search.sides) == 2
    for side in result.search.sides:
        assert {one.document_id for one in result.citations} & set(side.document_ids), side
    assert result.grounded
    holds(result, context)


def test_a_side_that_the_model_leaves_out_is_added(context: SearchContext) -> None:
    with serving(lambda _: "על איחור משלמים קנס [1].") as server:
        model = OpenAICompatibleLanguageModel(server.url, "m", KEY, window=8192, timeout_s=20, attempts=1)
        result = answer(asked(COMPARISON), context, model=model)
        model.close()
    assert result.method == "model"
    for side in result.search.sides:
        assert {one.document_id for one in result.citations} & set(side.document_ids), side
    assert any("נוסף משפט" in note for note in result.notes)


def test_what_fields_do_not_understand_is_not_told_above_passages(context: SearchContext) -> None:
    result = answer(asked("כמה קנס משלם הספק על איחור בגיזום?"), context, model=None)
    assert result.search.metadata is None
    assert result.method == "extractive"
    assert "לא הובן" not in result.answer


@pytest.mark.parametrize("question", [COUNT, COMPARISON])
def test_a_stream_ends_with_the_same_answer(context: SearchContext, question: str) -> None:
    with closing(stream(asked(question), context, model=None)) as events:
        seen = list(events)
    assert isinstance(seen[0], SourcesFound)
    last = seen[-1]
    assert isinstance(last, Done)
    assert seen[0].sources == last.result.citations
    assert tuple(one.sentence for one in seen if isinstance(one, SentenceChecked)) == last.result.sentences
    whole = answer(asked(question), context, model=None)
    assert whole.answer == last.result.answer


def test_a_model_writes_behind_the_exact_part(context: SearchContext) -> None:
    with serving(lambda _: 'על איחור בגיזום משלמים קנס של 300 ש"ח ליום [1]. ועוד קנס [1].') as server:
        model = OpenAICompatibleLanguageModel(server.url, "m", KEY, window=8192, timeout_s=20, attempts=1)
        searched = both_layers(context)
        with closing(events_from(searched, asked(PENALTY), context, model=model, streaming=True)) as events:
            seen = list(events)
        model.close()
    last = seen[-1]
    assert isinstance(last, Done)
    result = last.result
    assert result.method == "model"
    assert tuple(one.sentence for one in seen if isinstance(one, SentenceChecked)) == result.sentences
    first, *rest = result.sentences
    assert first.text.startswith("2 מסמכים")
    assert rest[0].citations == (1,)
    assert set(first.citations).isdisjoint({1})
