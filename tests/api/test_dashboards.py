"""Saved objects of Dashboards: what each asks, run against real indices, and an import that is not taken at its word.

OpenSearch Dashboards itself was never run here: it needs containers or Node.js. What stands for it is a small server
that has the two endpoints that the import uses, and lies where a test wants it to.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from ingest.documents import RawDocument
from ingest.pipeline import Ingestor
from scripts import write_dashboards
from search_config.connection import EngineAccess
from search_config.dashboards import DATA_VIEW, saved_objects
from search_config.dashboards.client import Dashboards
from search_config.errors import DashboardsRejected, DashboardsUnreachable
from search_config.local_node import free_port
from search_config.names import Names
from tests.api.conftest import OURS, Service
from tests.dashboards import standing

NAMES = Names(prefix="mafteach")
OBJECTS = {one["id"]: one for one in saved_objects(NAMES)}
# Of a machine that does much else.
LOG_S = 60.0
STRANGE = "איזה פילוסוף יווני לימד את אלכסנדר מוקדון בפלא"
Json = dict[str, Any]


def test_the_file_is_as_the_code_says() -> None:
    assert not write_dashboards.is_stale()


def test_everything_refers_to_what_stands_before_it() -> None:
    seen = set()
    for one in OBJECTS.values():
        for reference in one["references"]:
            assert (reference["type"], reference["id"]) in seen, one["id"]
        seen.add((one["type"], one["id"]))
    assert len(seen) == len(OBJECTS)


def test_another_prefix_has_its_own_objects() -> None:
    own = saved_objects(Names(prefix="town"))
    assert not {one["id"] for one in own} & set(OBJECTS)
    text = json.dumps(own)
    assert "mafteach-" not in text
    assert {one["attributes"]["title"] for one in own if one["type"] == DATA_VIEW} == {
        "town-documents", "town-chunks", "town-queries",
    }  # fmt: skip
    assert all(one["attributes"]["title"].endswith("(town)") for one in own if one["type"] != DATA_VIEW)


# What the objects ask.


@pytest.fixture(scope="module")
def told(service: Service) -> dict[str, Any]:
    """Some life: documents in several states, and requests of every kind. Gives what the requests were answered."""
    here = service.services
    ingestor = Ingestor(here.engine, here.info, here.context.embedder, here.settings)
    ingestor.ingest([RawDocument(tenant=OURS, source="test:empty.md", name="empty.md", data=b"   ")])
    settings = here.settings.model_copy(update={"query_log_text": True})
    with TestClient(create_app(replace(here, settings=settings))) as client:
        post = partial(client.post, headers=service.ours)
        answers = {
            "found": post("/search", json={"query": "כמה אישורים מקבל תושב לרכב", "route": "semantic"}),
            "strange": post("/search", json={"query": STRANGE, "route": "semantic"}),
            "empty": post("/search", json={"query": "אישור", "route": "semantic", "filters": {"type": ["contract"]}}),
            "answer": post("/answer", json={"question": "כמה אישורים מקבל תושב לרכב"}),
            "wrong": post("/search", json={"query": "?"}),
        }
    # The log is written beside the requests, as fast as the machine lets it.
    deadline, log = time.monotonic() + LOG_S, here.info.names.queries
    while here.engine.search(log, {"track_total_hits": True})["hits"]["total"]["value"] < len(answers):
        assert time.monotonic() < deadline, "the query log was not written"
        here.engine.request("POST", f"/{log}/_refresh")
    here.engine.request("POST", f"/{here.info.names.documents}/_refresh")
    return {name: answer.json() for name, answer in answers.items()}


def asked(one: Json) -> Json:
    """The search that Dashboards sends for an object: its query, and the aggregations of its visualisation."""
    query = json.loads(one["attributes"]["kibanaSavedObjectMeta"]["searchSourceJSON"])["query"]
    assert query["language"] == "lucene"
    words = (
        {"query_string": {"query": query["query"], "analyze_wildcard": True}} if query["query"] else {"match_all": {}}
    )
    body: Json = {"query": words, "track_total_hits": True}
    if one["type"] == "search":
        return {**body, "sort": [{field: order} for field, order in one["attributes"]["sort"]]}
    state = json.loads(one["attributes"]["visState"])
    metrics, buckets = {}, []
    for part in state["aggs"]:
        made = aggregation(part, state["aggs"])
        if part["schema"] == "metric":
            metrics.update({} if made is None else {part["id"]: made})
        else:
            buckets.append((part["id"], made))
    inner: Json = metrics
    for id_, made in reversed(buckets):
        inner = {id_: {**made, "aggs": inner} if inner else made}
    return {**body, "size": 0, "aggs": inner}


def aggregation(part: Json, parts: list[Json]) -> Json | None:
    """The engine's words for one aggregation; None for a count, which every bucket has."""
    given = part["params"]
    match part["type"]:
        case "count":
            return None
        case "percentiles":
            return {"percentiles": {"field": given["field"], "percents": given["percents"]}}
        case "date_histogram":
            return {"date_histogram": {"field": given["field"], "fixed_interval": "1h", "min_doc_count": 1}}
        case "terms":
            order = given["orderBy"]
            assert order == "_key" or next(one for one in parts if one["id"] == order)["type"] == "count"
            by = {"_key" if order == "_key" else "_count": given["order"]}
            missing = {"missing": given["missingBucketLabel"]} if given["missingBucket"] else {}
            return {"terms": {"field": given["field"], "size": given["size"], "order": by, **missing}}
    raise AssertionError(part["type"])


def run(service: Service, id_: str) -> Json:
    one = OBJECTS[id_]
    (view,) = (reference["id"] for reference in one["references"])
    index = view.replace("mafteach", service.services.info.names.prefix, 1)
    answer: Json = service.services.engine.search(index, asked(one))
    assert answer["_shards"]["failed"] == 0
    return answer


def buckets(answer: Json, id_: str) -> dict[str, Json]:
    found = answer["aggregations"][id_]["buckets"]
    return {str(bucket.get("key_as_string", bucket["key"])): bucket for bucket in found}


def inner(bucket: Json, id_: str) -> dict[str, int]:
    return {str(one.get("key_as_string", one["key"])): one["doc_count"] for one in bucket[id_]["buckets"]}


def rows(service: Service, id_: str) -> list[Json]:
    return [hit["_source"] for hit in run(service, id_)["hits"]["hits"]]


def test_every_field_that_is_named_is_there(service: Service, told: dict[str, Any]) -> None:
    known: dict[str, set[str]] = {}
    for one in OBJECTS.values():
        if one["type"] not in ("search", "visualization"):
            continue
        view = one["references"][0]["id"].replace("mafteach", service.services.info.names.prefix, 1)
        if view not in known:
            caps = service.services.engine.request("GET", f"/{view}/_field_caps", params={"fields": "*"})
            known[view] = set(caps["fields"])
        state = json.loads(one["attributes"].get("visState", '{"aggs": []}'))
        named = [part["params"]["field"] for part in state["aggs"] if "field" in part["params"]]
        named += one["attributes"].get("columns", [])
        assert set(named) <= known[view], one["id"]


def test_documents_by_state_and_reason(service: Service, told: dict[str, Any]) -> None:
    states = buckets(run(service, "mafteach-visual-states"), "2")
    assert {state: bucket["doc_count"] for state, bucket in states.items()} == {"ready": 2, "failed": 1}
    assert inner(states["ready"], "3") == {"no reason": 2}
    assert inner(states["failed"], "3") == {"empty_document": 1}
    (failed,) = rows(service, "mafteach-search-failed")
    assert failed["name"] == "empty.md"


def test_the_ingest_rate_counts_what_became_ready(service: Service, told: dict[str, Any]) -> None:
    answer = run(service, "mafteach-visual-rate")
    assert sum(bucket["doc_count"] for bucket in buckets(answer, "2").values()) == 2


def test_searches_by_route_and_refusal(service: Service, told: dict[str, Any]) -> None:
    found: dict[tuple[str, bool], int] = {}
    for name in ("found", "strange", "empty"):
        one = (told[name]["route"], told[name]["refused"])
        found[one] = found.get(one, 0) + 1
    one = (told["answer"]["search"]["route"], told["answer"]["refused"])
    found[one] = found.get(one, 0) + 1
    routes = buckets(run(service, "mafteach-visual-routes"), "2")
    shown = {
        (route, refused == "true"): number
        for route, bucket in routes.items()
        for refused, number in inner(bucket, "3").items()
    }
    assert shown == found
    assert any(refused for _, refused in found), "the strange query is refused"
    assert {row["query"] for row in rows(service, "mafteach-search-refused")} >= {STRANGE}
    reasons = [inner(bucket, "3") for bucket in buckets(run(service, "mafteach-visual-refusals"), "2").values()]
    assert sum(number for one in reasons for number in one.values()) == sum(
        number for (_, refused), number in found.items() if refused
    )


def test_latency_by_stage(service: Service, told: dict[str, Any]) -> None:
    one = OBJECTS["mafteach-visual-latency"]
    stages = {
        part["id"]: part["params"]["customLabel"]
        for part in json.loads(one["attributes"]["visState"])["aggs"]
        if part["type"] == "percentiles"
    }
    by_path = buckets(run(service, "mafteach-visual-latency"), str(len(stages) + 1))
    assert set(by_path) == {"POST /search", "POST /answer"}
    medians = {stage: by_path["POST /search"][id_]["values"]["50.0"] for id_, stage in stages.items()}
    assert {stage for stage, value in medians.items() if value is None} <= {"refusal", "route"}
    assert 0 < medians["engine"] <= medians["request"]
    assert set(told["found"]["took_ms"]) - {"spelling", "metadata", "diversify"} <= set(medians)
    over_time = buckets(run(service, "mafteach-visual-slow"), "2")
    assert all(bucket["1"]["values"]["95.0"] > 0 for bucket in over_time.values())


def test_zero_result_queries(service: Service, told: dict[str, Any]) -> None:
    assert told["empty"]["hits"] == []
    shown = buckets(run(service, "mafteach-visual-empty"), "2")
    assert {query: bucket["doc_count"] for query, bucket in shown.items()} == {"אישור": 1}
    (row,) = rows(service, "mafteach-search-empty")
    assert row["no_result"] is True


def test_errors_tenants_and_passages(service: Service, told: dict[str, Any]) -> None:
    (row,) = rows(service, "mafteach-search-errors")
    assert (row["status"], row["code"]) == (422, told["wrong"]["code"])
    tenants = [inner(bucket, "3") for bucket in buckets(run(service, "mafteach-visual-tenants"), "2").values()]
    assert sum(one[OURS] for one in tenants) == len(told)
    assert {row["tenant"] for row in rows(service, "mafteach-search-passages")} == {"ours", "theirs"}


# The import.


def client(url: str) -> Dashboards:
    return Dashboards(url, access=EngineAccess(basic=("admin", "סוד")))


def test_an_import_can_be_repeated() -> None:
    with standing() as (stand, url):
        for _ in range(2):
            done = client(url).import_objects(saved_objects(NAMES))
            assert done.objects == len(OBJECTS)
            assert done.by_type["dashboard"] == 1
            assert len(stand.kept) == len(OBJECTS)
        for headers in stand.headers:
            assert headers["osd-xsrf"]
            assert headers["securitytenant"] == "global"
            assert headers["authorization"].startswith("Basic ")


def test_success_is_not_taken_at_its_word() -> None:
    with standing() as (stand, url):
        stand.forgets = {"mafteach-visual-states"}
        with pytest.raises(DashboardsRejected, match="visualization mafteach-visual-states is missing"):
            client(url).import_objects(saved_objects(NAMES))


def test_an_object_of_somebody_else_is_seen() -> None:
    with standing() as (stand, url):
        client(url).import_objects(saved_objects(NAMES))
        stand.forgets = {"mafteach-dashboard-overview"}
        stand.kept["dashboard", "mafteach-dashboard-overview"]["references"] = []
        with pytest.raises(DashboardsRejected, match="has lost references"):
            client(url).import_objects(saved_objects(NAMES))


def test_missing_references_are_named() -> None:
    with standing() as (_, url):
        dashboard = [one for one in saved_objects(NAMES) if one["type"] == "dashboard"]
        with pytest.raises(DashboardsRejected, match="mafteach-dashboard-overview: missing_references"):
            client(url).import_objects(dashboard)


@pytest.mark.parametrize(
    ("status", "raw", "error", "words"),
    [
        (401, b"", DashboardsRejected, "does not let this user in"),
        (503, b"", DashboardsUnreachable, "not ready"),
        (200, b"<html>", DashboardsRejected, "something else"),
        (200, b"[]", DashboardsRejected, "did not import"),
        (400, b'{"message": "Invalid file extension"}', DashboardsRejected, "Invalid file extension"),
        (302, b"{}", DashboardsRejected, "302"),
    ],
)
def test_other_answers_have_clear_errors(status: int, raw: bytes, error: type[Exception], words: str) -> None:
    with standing() as (stand, url):
        stand.status, stand.raw = status, raw
        with pytest.raises(error, match=words):
            client(url).import_objects(saved_objects(NAMES))


def test_nobody_there() -> None:
    with pytest.raises(DashboardsUnreachable, match="does not answer") as caught:
        client(f"http://127.0.0.1:{free_port()}").import_objects(saved_objects(NAMES))
    assert "MAFTEACH_DASHBOARDS_URL" in str(caught.value)


# Dev Tools.

PAGE = Path(__file__).parents[2] / "docs" / "dashboards.md"
SNIPPETS = re.findall(r"^```\n((?:GET|POST) .*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_page_has_a_snippet_for_each_rule() -> None:
    named = {re.search(r"search_pipeline=mafteach-(\S+)", snippet) for snippet in SNIPPETS}
    rules = {match.group(1) for match in named if match}
    assert {"rrf-hebrew", "rrf-english", "rrf-identifier", "min-max-hebrew", "z-score-hebrew"} <= rules


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: snippet.splitlines()[0])
def test_a_snippet_runs_as_it_stands(service: Service, snippet: str) -> None:
    """Only the prefix, the tenant and the vector are put in."""
    here = service.services
    line, _, text = snippet.partition("\n")
    method, path = line.split(" ", 1)
    text = text.replace('"demo"', f'"{OURS}"')
    query = re.search(r'"query": "([^"]+)"', text)
    if query is not None:
        (vector,) = here.context.embedder.embed_queries([query.group(1)])
        text = text.replace("VECTOR", json.dumps([float(value) for value in vector]))
    body = json.loads(text) if text.strip() else None
    answer = here.engine.request(method, "/" + path.replace("mafteach-", f"{here.info.names.prefix}-"), body=body)
    if "_search?" in path:
        assert answer["hits"]["hits"], snippet
        assert {hit["_source"]["tenant"] for hit in answer["hits"]["hits"]} == {OURS}
        assert answer["hits"]["hits"][0]["_score"] > 0
