"""Filters, facets, pages, versions, reasons, glossary, other spellings, comparisons: on a real index of several tenants
and groups."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from query import wording
from query.glossary import FRESH_S, Glossaries, GlossaryEntry, GlossaryStore
from query.request import Filters, SearchRequest, SearchResult, Weights
from query.routing import Router, RoutingExample
from query.search import SearchContext, search
from query.wording import told
from search_config.errors import InvalidRequest
from tests.engine.conftest import MakeContext
from tests.engine.metadata_rows import Line, stored, write
from tests.engine.rows import Row

AS_OF = date(2025, 2, 15)
OLD, NEW, OTHER, SECRET = "d-old", "d-new", "d-other", "d-secret"


def line(id_: str, name: str, **fields: Any) -> Line:
    base: Line = {
        "id": id_, "name": name, "type": "contract", "state": "ready", "language": "he", "parties": [], "signed": None,
        "effective": None, "expires": None, "amount": None, "currency": None, "references": [], "tags": [],
        "date": None, "not_found": [], "stated_none": [], "superseded_by": None,
    }  # fmt: skip
    return base | fields


VENDOR = [{"kind": "vendor", "name": "אקמה בע״מ"}]
LINES = [
    line(
        OLD,
        "הסכם חניה ישן",
        signed="2020-01-05",
        effective="2020-02-01",
        superseded_by=NEW,
        parties=VENDOR,
        tags=["חניה"],
    ),
    line(
        NEW,
        "הסכם חניה חדש",
        signed="2023-01-05",
        effective="2023-02-01",
        parties=VENDOR,
        amount="50.00",
        currency="ILS",
    ),
    line(OTHER, "נוהל גינון", type="procedure", signed="2024-05-01", tags=["חניה", "גינון"]),
    line(SECRET, "הסכם סודי", signed="2024-06-01", groups=["legal"], tags=["סוד"]),
]
TEXTS = {
    OLD: ["קנס איחור בהסכם הוא מאה", "הארכת תוקף האישור"],
    NEW: ["קנס איחור בהסכם הוא מאתיים", "הארכת תוקף האישור בשנה"],
    OTHER: ["השקיה בגינה בשעות הערב", "ועדת הכספים אישרה תקציב"],
    SECRET: ["קנס סודי של בוררות"],
}


def chunk(line_: Line, number: int, text: str, tenant: str) -> Row:
    row = stored(line_, tenant)
    extra = {name: row[name] for name in ("type", "tags", "groups", "filter_fields") if row.get(name)}
    return Row(f"{tenant}-{row['document_id']}-{number}", text, tenant, row["document_id"], line_["name"], extra=extra)


@pytest.fixture(scope="module")
def context(make_context: MakeContext) -> SearchContext:
    """Tenant a's documents, and tenant b's with words that a does not have."""
    rows = [chunk(line_, number, text, "a") for line_ in LINES for number, text in enumerate(TEXTS[line_["id"]])]
    foreign = line("b-1", "חוזה של אחר", parties=[{"kind": "vendor", "name": "זרים בע״מ"}])
    rows += [chunk(foreign, number, text, "b") for number, text in enumerate(["אבטיחים כחולים", "קנס איחור זר"])]
    made = make_context(rows)
    names = made.info.names
    write(made.engine, names.documents, [*(stored(one, "a") for one in LINES), stored(foreign, "b")])
    store = GlossaryStore(made.engine, names)
    return replace(made, router=Router(()), glossaries=Glossaries(store))


def ask(context: SearchContext, query: str, **fields: Any) -> SearchResult:
    fields.setdefault("route", "semantic")
    return search(SearchRequest.model_validate({"tenant": "a", "query": query, "as_of": AS_OF, **fields}), context)


def documents(result: SearchResult) -> list[str]:
    return [hit.document_id for hit in result.hits]


# --- filters and groups


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"type": ["procedure"]}, {OTHER}),
        ({"vendor": ["אקמה בע״מ"]}, {OLD, NEW}),
        ({"client": ["אקמה בע״מ"]}, set()),
        ({"tags": ["חניה"]}, {OLD, OTHER}),
        ({"signed_from": "2023-01-01"}, {NEW, OTHER, SECRET}),
        ({"dated_to": "2022-12-31"}, {OLD}),
        ({"amount_min": "49.99", "currency": ["ILS"]}, {NEW}),
        ({"amount_min": "50.01", "currency": ["ILS"]}, set()),
        ({"groups": ["legal"]}, {SECRET}),
        ({"in_force_on": "2022-06-01"}, {OLD}),
        ({"in_force_on": "2023-06-01"}, {NEW}),
        ({"excluded_document_id": [OLD, SECRET]}, {NEW, OTHER}),
    ],
)
def test_each_filter_narrows_both_legs(context: SearchContext, filters: Line, found: set[str]) -> None:
    for mode in ("hybrid", "lexical", "dense"):
        assert set(documents(ask(context, "קנס איחור השקיה", filters=filters, mode=mode))) <= found
    assert set(documents(ask(context, "קנס", filters=filters, mode="dense"))) == found


@pytest.mark.parametrize(("groups", "sees"), [(None, True), (("legal", "hr"), True), (("hr",), False), ((), False)])
def test_groups_hold_in_passages_facets_and_counts(
    context: SearchContext, groups: tuple[str, ...] | None, sees: bool
) -> None:
    found = ask(context, "קנס סודי", groups=groups, facets=["tags", "type"], mode="dense")
    assert (SECRET in documents(found)) is sees
    tags = {value.value for facet in found.facets for value in facet.values}
    assert ("סוד" in tags) is sees
    counted = ask(context, "כמה חוזים יש?", groups=groups, route="metadata")
    assert counted.metadata is not None
    assert counted.metadata.value == (3 if sees else 2)
    narrowed = ask(context, "קנס סודי", groups=groups, filters={"groups": ["legal"]}, mode="dense")
    assert documents(narrowed) == ([SECRET] if sees else [])


def test_facets_count_documents_exactly(context: SearchContext) -> None:
    found = ask(context, "קנס איחור", facets=["year", "tags", "vendor"], filters={"type": ["contract"]})
    counts = {facet.field: {value.value: value.documents for value in facet.values} for facet in found.facets}
    assert counts["year"] == {"2020": 1, "2023": 1, "2024": 1}
    assert counts["tags"] == {"חניה": 1, "סוד": 1}
    assert counts["vendor"] == {"אקמה בע״מ": 2}
    assert not ask(context, "קנס איחור").facets
    in_force = ask(context, "קנס", facets=["year"], filters={"in_force_on": "2023-06-01"})
    assert {value.value for value in in_force.facets[0].values} == {"2023"}


# --- pages, versions, reasons


def test_pages_are_one_ranking_cut_in_pieces(context: SearchContext) -> None:
    whole = ask(context, "קנס איחור הארכת תוקף", size=100)
    pieces = [ask(context, "קנס איחור הארכת תוקף", size=2, **{"from": start}) for start in range(0, whole.total + 2, 2)]
    assert [hit.chunk_id for piece in pieces for hit in piece.hits] == [hit.chunk_id for hit in whole.hits]
    assert {piece.total for piece in pieces} == {whole.total} == {len(whole.hits)}
    assert [hit.rank for piece in pieces for hit in piece.hits] == list(range(1, whole.total + 1))


def test_a_replaced_document_is_marked_and_stands_behind(context: SearchContext) -> None:
    found = ask(context, "קנס איחור בהסכם הוא מאה", size=100)
    order = documents(found)
    assert max(place for place, id_ in enumerate(order) if id_ == NEW) < order.index(OLD)
    assert {hit.document_id for hit in found.hits if hit.superseded} == {OLD}
    mark = next(hit.superseded for hit in found.hits if hit.document_id == OLD)
    assert mark is not None
    assert (mark.document_id, mark.title) == (NEW, "הסכם חניה חדש")


def test_reasons_name_every_stage(context: SearchContext) -> None:
    found = ask(context, "קנס איחור", explain=True, size=100)
    for hit in found.hits:
        stages = [step.stage for step in hit.explanation]
        assert stages[0] in {"question", "lexical"}
        assert stages[-1] == "place"
        assert {"lexical", "dense", "fused", "place"} <= set(stages)
        assert ("versions" in stages) is (hit.superseded is not None)
        assert hit.explanation[-1].text == f"מקום {hit.rank} בתשובה."
    assert "קנס" in next(step.text for step in found.hits[0].explanation if step.stage == "lexical")
    assert not ask(context, "קנס איחור").hits[0].explanation
    english = ask(context, "late fee", explain=True, mode="dense").hits[0].explanation
    assert english[-1].text == "Place 1 of the answer."


def test_weights_of_a_request_are_used(context: SearchContext) -> None:
    found = ask(context, "קנס איחור", weights=Weights(bm25=1, knn=0))
    assert found.weights == {"bm25": 1.0, "knn": 0.0}
    assert all(hit.scores.knn is None for hit in found.hits)
    with pytest.raises(ValueError, match="above 0"):
        Weights(bm25=0, knn=0)


def test_whole_hebrew_words_are_marked(context: SearchContext) -> None:
    found = ask(context, "הסכם", mode="lexical", filters={"document_id": [NEW]})
    assert any("<em>בהסכם</em>" in text for hit in found.hits for text in hit.highlights)


# --- glossary


def test_a_glossary_widens_queries_of_its_tenant_alone(context: SearchContext) -> None:
    store = GlossaryStore(context.engine, context.info.names)
    fresh = replace(context, glossaries=Glossaries(store))
    before = ask(fresh, "ו״כ", mode="lexical")
    assert not before.hits
    assert not before.glossary
    store.put("a", [GlossaryEntry(term="ועדת הכספים", kind="acronym", equivalents=("ו״כ",))])
    store.put("b", [GlossaryEntry(term="ו״כ", equivalents=("השקיה",))])
    fresh = replace(context, glossaries=Glossaries(store))
    after = ask(fresh, 'מה אישרה הו"כ', mode="lexical", explain=True)
    assert documents(after)[0] == OTHER
    assert [(entry.term, entry.equivalents) for entry in after.glossary] == [("ו״כ", ("ועדת הכספים",))]
    assert any("ועדת הכספים" in step.text for step in after.hits[0].explanation if step.stage == "question")
    assert any("<em>ועדת</em> <em>הכספים</em>" in text for text in after.hits[0].highlights)
    assert [entry.term for entry in store.entries("a")] == ["ועדת הכספים"]
    assert store.delete("a", "ועדת הכספים")
    assert not store.delete("a", "ועדת הכספים")
    assert store.put("b", [], replace=True).deleted == 1


def test_a_change_is_seen_within_the_stated_time(context: SearchContext) -> None:
    store, now = GlossaryStore(context.engine, context.info.names), [0.0]
    kept = Glossaries(store, clock=lambda: now[0])
    assert kept.of("c").expansions("תקציב") == ()
    store.put("c", [GlossaryEntry(term="תקציב", equivalents=("מסגרת כספית",))])
    now[0] = FRESH_S + 0.1
    assert kept.of("c").expansions("התקציב")[0].equivalents == ("מסגרת כספית",)
    store.put("c", [], replace=True)
    kept.forget("c")
    assert kept.of("c").expansions("התקציב") == ()


# --- other spellings


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("ebx thjur", "קנס איחור"),
        ("איחוק", "איחור"),
        ("השקייה בגינה", None),
        ("אבטיחיט כחולים", None),
        ("tcyhjho", None),
        ("קנס איחור", None),
    ],
)
def test_another_spelling_is_of_the_askers_own_words(context: SearchContext, slip: str, meant: str | None) -> None:
    offered = ask(context, slip, mode="lexical").did_you_mean
    if meant is not None:
        assert offered == meant
    assert offered is None or "אבטיחים" not in offered


def test_the_other_tenant_is_offered_its_own_word(context: SearchContext) -> None:
    assert ask(context, "tcyhjho", tenant="b", mode="lexical").did_you_mean == "אבטיחים"


# --- layers


def test_the_route_is_reported_and_filters_are_derived_and_removable(context: SearchContext) -> None:
    counted = ask(context, "כמה חוזים נחתמו ב-2023?", route="auto")
    assert (counted.route, counted.hits, counted.metadata is not None) == ("metadata", (), True)
    assert counted.routed is not None
    assert counted.routed.by == "rules"
    assert counted.metadata is not None
    assert counted.metadata.value == 1
    assert counted.derived.given() == {"type": ["contract"], "signed_from": "2023-01-01", "signed_to": "2023-12-31"}
    wider = ask(context, "כמה חוזים נחתמו ב-2023?", route="auto", without=["signed_from", "signed_to"])
    assert wider.metadata is not None
    assert wider.metadata.value == 3
    assert ask(context, "כמה חוזים נחתמו ב-2023?", route="auto", derived=False).derived == Filters()


def test_both_filters_first_then_searches(context: SearchContext) -> None:
    found = ask(context, "מה כתוב על קנס בהסכמים שנחתמו ב-2023?", route="auto")
    assert found.route == "both"
    assert set(documents(found)) == {NEW}
    nothing = ask(context, "מה כתוב על קנס בהסכמים שנחתמו ב-1999?", route="auto")
    assert nothing.hits
    assert nothing.derived == Filters()
    assert told(wording.NOT_NARROWED, "he") in nothing.notes


def test_the_last_contract_is_resolved_before_its_passages_are_searched(context: SearchContext) -> None:
    found = ask(context, "מה כתוב על קנס בהסכם האחרון עם אקמה?", route="auto")
    assert found.route == "both"
    assert set(documents(found)) == {NEW}


def test_a_comparison_gives_hits_of_each_side(context: SearchContext) -> None:
    found = ask(context, "האם הסכם חניה ישן סותר את נוהל הגינון?", route="auto", size=4)
    assert [side.document_ids for side in found.sides] == [(OLD,), (OTHER,)]
    assert set(documents(found)) == {OLD, OTHER}
    assert [hit.rank for hit in found.hits] == list(range(1, len(found.hits) + 1))


def test_what_fields_do_not_know_is_asked_of_passages_too(context: SearchContext) -> None:
    found = ask(context, "כמה חוזים יש עם פלונית אלמונית?", route="auto")
    assert found.route == "both"
    assert found.hits
    assert found.metadata is None
    found = ask(context, "כמה חוזים יש עם פלונית אלמונית?", route="auto", explain=True)
    assert found.metadata is not None
    assert not found.metadata.exact
    assert found.metadata.value is None
    assert set(found.metadata.not_understood) == {"פלונית", "אלמונית"}


def test_a_labelled_example_decides_its_own_question(context: SearchContext) -> None:
    router = Router([RoutingExample(question="כמה חוזים נחתמו ב-2023?", route="semantic")])
    found = ask(replace(context, router=router), "כמה חוזים נחתמו ב-2023?", route="auto")
    assert found.route == "semantic"
    assert found.routed is not None
    assert found.routed.by == "example"


def test_an_amount_without_a_currency_is_refused(context: SearchContext) -> None:
    with pytest.raises(InvalidRequest, match="currency"):
        ask(context, "קנס", filters={"amount_min": "5"})


def test_no_layer_gives_another_tenants_rows(context: SearchContext) -> None:
    queries = ["קנס איחור", "כמה חוזים יש?", "אילו ספקים מופיעים בחוזים?", "מה כתוב על קנס בהסכם של זרים?"]
    seen: Counter[str] = Counter()
    for query in queries:
        for route in ("auto", "semantic", "metadata", "both"):
            found = ask(context, query, route=route, facets=["vendor", "tags"], explain=True)
            seen.update(documents(found))
            text = found.model_dump_json()
            assert "b-1" not in text
            assert "זרים בע" not in text
    assert seen
