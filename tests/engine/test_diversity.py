"""MMR and grouping on a real node: with vectors whose geometry is known, and with the real model on two contracts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from models.base import Embedder
from query.diversity import DEFAULT_LAMBDA
from query.profile import load_profile
from query.request import Mode, SearchRequest, SearchResult
from query.search import SearchContext, rank, search
from search_config.client import Engine
from search_config.records import DocumentState
from tests.conftest import MakeIndex
from tests.engine.conftest import MakeContext
from tests.engine.rows import PROFILE, Row

# Four versions of one clause in two documents, and what else is said of the subject.
CLAUSE: Final = "הקבלן יתקן פיצוץ בקו השקיה בתוך שעות"
ROWS: Final = [
    Row("c-1", f"{CLAUSE} שש", document_id="d-old"),
    Row("c-2", f"{CLAUSE} ארבע", document_id="d-old"),
    Row("c-3", f"{CLAUSE} שמונה", document_id="d-new"),
    Row("c-4", f"{CLAUSE} תשע", document_id="d-new"),
    Row("c-5", "פיצוץ בקו ביוב יתקן תאגיד מים", document_id="d-water"),
    Row("c-6", "תלמידים נוסעים באוטובוס לבית ספר", document_id="d-school"),
]
QUERY: Final = "הקבלן יתקן פיצוץ בקו"


@pytest.fixture(scope="module")
def clauses(make_context: MakeContext) -> SearchContext:
    return make_context(ROWS)


def ask(context: SearchContext, *, mode: Mode = "auto", group: bool = False, lam: float | None = None) -> SearchResult:
    return search(SearchRequest(tenant="a", query=QUERY, mode=mode, group=group, mmr_lambda=lam), context)


def ids(result: SearchResult) -> list[str]:
    return [hit.chunk_id for hit in result.hits]


def queries_so_far(context: SearchContext) -> int:
    """Searches that the index's shards have run."""
    stats = context.engine.request("GET", f"/{context.info.index}/_stats/search")
    return int(stats["_all"]["total"]["search"]["query_total"])


# --- diversity


def test_versions_of_a_clause_leave_room(clauses: SearchContext) -> None:
    plain, diverse = ask(clauses, lam=1.0), ask(clauses, lam=0.5)
    assert set(ids(plain)[:4]) == {"c-1", "c-2", "c-3", "c-4"}
    assert ids(diverse)[0] == ids(plain)[0]
    assert ids(diverse)[1] == "c-5"
    assert sorted(ids(diverse)) == sorted(ids(plain))
    assert diverse.total == plain.total


def test_scores_tell_how_a_passage_ranked_before(clauses: SearchContext) -> None:
    plain, diverse = ask(clauses, lam=1.0), ask(clauses, lam=0.5)
    assert {hit.chunk_id: hit.scores for hit in diverse.hits} == {hit.chunk_id: hit.scores for hit in plain.hits}
    assert [hit.rank for hit in diverse.hits] == list(range(1, len(diverse.hits) + 1))


def test_the_profile_decides_where_the_request_says_nothing(clauses: SearchContext) -> None:
    own = replace(clauses, profile=PROFILE.model_copy(update={"mmr_lambda": 0.5}))
    assert ids(ask(own)) == ids(ask(clauses, lam=0.5))
    assert ids(ask(own, lam=1.0)) == ids(ask(clauses, lam=1.0))


def test_off_it_costs_no_request_and_no_time(clauses: SearchContext) -> None:
    def cost(lam: float) -> int:
        before = queries_so_far(clauses)
        assert ("diversify" in ask(clauses, lam=lam).took_ms) == (lam < 1)
        return queries_so_far(clauses) - before

    assert cost(0.5) == cost(1.0) + 1


@pytest.mark.parametrize("mode", ["lexical", "dense"])
def test_the_order_of_one_leg_is_shown_as_it_is(clauses: SearchContext, mode: Mode) -> None:
    assert ids(ask(clauses, mode=mode, lam=0.1)) == ids(ask(clauses, mode=mode, lam=1.0))


def test_the_holders_of_an_identifier_stay_first(make_context: MakeContext) -> None:
    rows = [Row(f"c-{number}", f"תקלה E-4031 בתחנה {number}") for number in range(3)]
    context = make_context([*rows, Row("c-9", "תקלה E-4032 בשער")])
    request = SearchRequest(tenant="a", query="מהי תקלה E-4031", mmr_lambda=0.1)
    assert {hit.chunk_id for hit in search(request, context).hits[:3]} == {"c-0", "c-1", "c-2"}


def test_stages_keep_the_order_before_and_after(clauses: SearchContext) -> None:
    staged = rank(SearchRequest(tenant="a", query=QUERY, mmr_lambda=0.5), clauses)
    assert [hit.chunk_id for hit in staged.fused] == ids(ask(clauses, lam=1.0))
    assert [hit.chunk_id for hit in staged.diversified] == ids(ask(clauses, lam=0.5))


# --- one row a document


def test_one_row_a_document(clauses: SearchContext) -> None:
    plain, grouped = ask(clauses), ask(clauses, group=True)
    first: dict[str, str] = {}
    for hit in plain.hits:
        first.setdefault(hit.document_id, hit.chunk_id)
    assert ids(grouped) == list(first.values())
    assert grouped.total == len(first) == 4
    assert [hit.rank for hit in grouped.hits] == [1, 2, 3, 4]
    assert all(hit.highlights for hit in grouped.hits[:2])


def test_a_page_is_filled_with_rows_and_not_with_passages(clauses: SearchContext) -> None:
    request = SearchRequest(tenant="a", query=QUERY, size=2, group=True)
    result = search(request, clauses)
    assert ids(result) == ids(ask(clauses, group=True))[:2]
    assert result.total == 4


def test_grouping_follows_the_diversified_order(clauses: SearchContext) -> None:
    assert ids(ask(clauses, group=True, lam=0.5))[:2] == ids(ask(clauses, lam=0.5))[:2]


# --- the real model


@pytest.fixture
def contracts(make_index: MakeIndex, engine: Engine, embedder: Embedder, examples: Path) -> SearchContext:
    """The services that two versions of one contract name."""
    info, settings = make_index()
    batch = []
    for year in ("2022", "2024"):
        path = examples / "documents" / "contracts" / f"gardening-{year}.md"
        services = path.read_text(encoding="utf-8").partition("## 3. ")[2].partition("## 4. ")[0]
        text = f"# חוזה גינון {year}\n\n## 3. {services}"
        batch.append(RawDocument(tenant="demo", source=path.name, name=path.name, data=text.encode()))
    outcomes = Ingestor(engine, info, embedder, settings).ingest(batch)
    assert [outcome.state for outcome in outcomes] == [DocumentState.READY] * 2
    engine.request("POST", f"/{info.index}/_refresh")
    # Of the fused order: which passages a blend puts first is not this test's affair.
    profile = load_profile().model_copy(update={"blend": None, "blends": {}})
    return SearchContext(engine, info, embedder, profile, settings)


@pytest.mark.parametrize("query", ["אילו שירותים נותן הקבלן", "טיפול בעצים, מדשאות והשקיה"])
def test_two_versions_of_a_contract_do_not_fill_the_page(contracts: SearchContext, query: str) -> None:
    def sections(lam: float) -> list[str]:
        request = SearchRequest(tenant="demo", query=query, size=4, mmr_lambda=lam)
        return [hit.section for hit in search(request, contracts).hits]

    plain, diverse = sections(1.0), sections(DEFAULT_LAMBDA)
    assert plain[0] == plain[1] == diverse[0]
    assert diverse[1] != diverse[0]
    # The other version gives its place to another section.
    assert len(set(diverse[:3])) > len(set(plain[:3]))
