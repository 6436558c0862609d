"""Write `search_config/dashboards/objects.ndjson`: saved objects of OpenSearch Dashboards, made from the code.

`python -m scripts.write_dashboards` writes the file, `--check` only says whether it is stale (exit status 1). A test
runs what every object asks, as it stands in the file, against real indices.

Queries are in Lucene's language: what it means is decided by the engine, and not by a version of Dashboards.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from search_config import fields
from search_config.dashboards import DATA_VIEW, OBJECTS_FILE
from search_config.templates import DEFAULT_PREFIX

Json = dict[str, Any]

FILE = Path(__file__).resolve().parent.parent / "search_config" / "dashboards" / OBJECTS_FILE

# Versions of the objects' forms that every OpenSearch Dashboards knows; newer ones convert by themselves.
FORMS = {DATA_VIEW: "7.6.0", "search": "7.9.3", "visualization": "7.10.0", "dashboard": "7.9.3"}
DOCUMENTS, CHUNKS, QUERIES = (f"{DEFAULT_PREFIX}-{name}" for name in ("documents", "chunks", "queries"))
# Rows of a table or slices of a bar: more are too many to read.
TOP = 20
# The most of a terms aggregation that is split again.
SPLIT = 10
WIDTH, HEIGHT = 24, 14
ASKED = f'{fields.PATH}:("POST /search" OR "GET /search" OR "POST /answer" OR "POST /search/export")'
# Stages of the normal path, in their order; `request` is the whole.
STAGES = ("route", "embed", "engine", "fuse", "rerank", "refusal", "total", "request")
INDEX_REFERENCE = "kibanaSavedObjectMeta.searchSourceJSON.index"


def data_view(index: str, time: str, hidden: tuple[str, ...] = ()) -> Json:
    """A data view. Without a list of fields: Dashboards reads the mapping when it is first opened."""
    attributes: Json = {"title": index, "timeFieldName": time}
    if hidden:
        attributes["sourceFilters"] = json.dumps([{"value": name} for name in hidden])
    return saved(DATA_VIEW, index, attributes, [])


def search(name: str, title: str, index: str, query: str, columns: list[str], sort: str) -> Json:
    """A saved search."""
    attributes = {
        "title": title,
        "description": "",
        "columns": columns,
        "sort": [[sort, "desc"]],
        "version": 1,
        **source(query),
    }
    return saved("search", f"{DEFAULT_PREFIX}-search-{name}", attributes, [of(index)])


def visual(name: str, title: str, index: str, query: str, kind: str, aggregations: list[Json], about: str) -> Json:
    """A visualisation; `kind` is Dashboards' name of it."""
    numbered = [{"id": str(number), "enabled": True, **one} for number, one in enumerate(aggregations, start=1)]
    state = {"title": title, "type": kind, "aggs": numbered, "params": look(kind, numbered)}
    attributes = {
        "title": title,
        "description": about,
        "visState": json.dumps(state),
        "uiStateJSON": "{}",
        "version": 1,
        **source(query),
    }
    return saved("visualization", f"{DEFAULT_PREFIX}-visual-{name}", attributes, [of(index)])


def dashboard(name: str, title: str, panels: list[Json]) -> Json:
    """A dashboard of two columns."""
    placed, references = [], []
    for number, panel in enumerate(panels):
        reference = f"panel_{number}"
        grid = {"x": WIDTH * (number % 2), "y": HEIGHT * (number // 2), "w": WIDTH, "h": HEIGHT, "i": str(number)}
        placed.append(
            {
                "version": "3.0.0",
                "gridData": grid,
                "panelIndex": str(number),
                "embeddableConfig": {},
                "panelRefName": reference,
            }
        )
        references.append({"name": reference, "type": panel["type"], "id": panel["id"]})
    attributes = {
        "title": title,
        "description": "",
        "panelsJSON": json.dumps(placed),
        "optionsJSON": json.dumps({"useMargins": True, "hidePanelTitles": False}),
        "timeRestore": True,
        "timeFrom": "now-7d",
        "timeTo": "now",
        "version": 1,
        "kibanaSavedObjectMeta": {"searchSourceJSON": json.dumps({"query": lucene(""), "filter": []})},
    }
    return saved("dashboard", f"{DEFAULT_PREFIX}-dashboard-{name}", attributes, references)


def saved(kind: str, id_: str, attributes: Json, references: list[Json]) -> Json:
    """A saved object."""
    return {
        "type": kind,
        "id": id_,
        "attributes": attributes,
        "references": references,
        "migrationVersion": {kind: FORMS[kind]},
    }


def of(index: str) -> Json:
    """The reference to a data view."""
    return {"name": INDEX_REFERENCE, "type": DATA_VIEW, "id": index}


def source(query: str) -> Json:
    """What is asked of the data view."""
    found = {"query": lucene(query), "filter": [], "indexRefName": INDEX_REFERENCE}
    return {"kibanaSavedObjectMeta": {"searchSourceJSON": json.dumps(found)}}


def lucene(query: str) -> Json:
    """A query in Lucene's language."""
    return {"query": query, "language": "lucene"}


def count() -> Json:
    """How many."""
    return {"type": "count", "schema": "metric", "params": {}}


def terms(
    field: str, schema: str, label: str, size: int = TOP, missing: str | None = None, *, by_name: bool = False
) -> Json:
    """By value: the most frequent first, or by name where the first number is no count."""
    own = {"missingBucket": missing is not None, "missingBucketLabel": missing or "Missing"}
    order = {"orderBy": "_key", "order": "asc"} if by_name else {"orderBy": "1", "order": "desc"}
    params = {"field": field, **order, "size": size, "otherBucket": False, **own}
    return {"type": "terms", "schema": schema, "params": {**params, "customLabel": label}}


def by_time(field: str, label: str) -> Json:
    """By time, in steps that fit the period that is looked at."""
    params = {"field": field, "interval": "auto", "min_doc_count": 1, "extended_bounds": {}, "customLabel": label}
    return {"type": "date_histogram", "schema": "segment", "params": params}


def percentiles(field: str, label: str) -> Json:
    """Median and the slow ones."""
    return {
        "type": "percentiles",
        "schema": "metric",
        "params": {"field": field, "percents": [50, 95], "customLabel": label},
    }


def look(kind: str, aggregations: list[Json]) -> Json:
    """How it is drawn."""
    if kind == "table":
        return {"perPage": TOP, "showPartialRows": False, "showMetricsAtAllLevels": False, "showTotal": False}
    series = [
        {
            "show": True,
            "type": "line" if kind == "line" else "histogram",
            "mode": "normal" if kind == "line" else "stacked",
            "data": {"label": one["params"].get("customLabel", "Count"), "id": one["id"]},
            "valueAxis": "ValueAxis-1",
            "drawLinesBetweenPoints": True,
            "showCircles": True,
        }
        for one in aggregations
        if one["schema"] == "metric"
    ]
    axis = {
        "show": True,
        "style": {},
        "scale": {"type": "linear"},
        "labels": {"show": True, "truncate": 100},
        "title": {},
    }
    return {
        "type": kind,
        "grid": {"categoryLines": False},
        "categoryAxes": [{"id": "CategoryAxis-1", "type": "category", "position": "bottom", **axis}],
        "valueAxes": [{"id": "ValueAxis-1", "name": "LeftAxis-1", "type": "value", "position": "left", **axis}],
        "seriesParams": series,
        "addTooltip": True,
        "addLegend": True,
        "legendPosition": "right",
        "times": [],
        "addTimeMarker": False,
    }


def all_objects() -> list[Json]:
    """Every object, behind those that it refers to."""
    views = [
        data_view(DOCUMENTS, fields.UPDATED_AT, hidden=(fields.TEXT,)),
        data_view(CHUNKS, fields.INDEXED_AT, hidden=(fields.EMBEDDING,)),
        data_view(QUERIES, fields.AT),
    ]
    document_columns = [fields.TENANT, fields.NAME, fields.STATE, fields.REASON_CODE, fields.REASON, fields.ATTEMPTS]
    query_columns = [
        fields.TENANT,
        fields.PATH,
        fields.QUERY,
        fields.ROUTE,
        fields.REFUSED,
        fields.HITS,
        "took_ms.request",
    ]
    searches = [
        search(
            "failed",
            "Documents that failed or are quarantined",
            DOCUMENTS,
            f"{fields.STATE}:(failed OR quarantined)",
            document_columns,
            fields.UPDATED_AT,
        ),
        search("empty", "Queries without a result", QUERIES, f"{fields.NO_RESULT}:true", query_columns, fields.AT),
        search("refused", "Refused queries", QUERIES, f"{fields.REFUSED}:true", query_columns, fields.AT),
        search(
            "errors",
            "Requests that ended in an error",
            QUERIES,
            f"{fields.STATUS}:>=400",
            [fields.TENANT, fields.PATH, fields.STATUS, fields.CODE],
            fields.AT,
        ),
        search(
            "passages",
            "Passages",
            CHUNKS,
            "",
            [fields.TENANT, fields.TITLE, fields.SECTION, fields.CONTENT],
            fields.INDEXED_AT,
        ),
    ]
    visuals = [
        visual(
            "states",
            "Documents by state and reason",
            DOCUMENTS,
            "",
            "histogram",
            [
                count(),
                terms(fields.STATE, "segment", "State"),
                terms(fields.REASON_CODE, "group", "Reason", SPLIT, "no reason"),
            ],
            "Every document in its present state; those that changed in the period that is looked at.",
        ),
        visual(
            "rate",
            "Ingest rate: documents that became ready",
            DOCUMENTS,
            f"{fields.STATE}:ready",
            "histogram",
            [count(), by_time(fields.FINISHED_AT, "Finished")],
            "When documents became ready, in their present version.",
        ),
        visual(
            "routes",
            "Searches by route and refusal",
            QUERIES,
            f"{ASKED} AND {fields.STATUS}:200",
            "histogram",
            [
                count(),
                terms(fields.ROUTE, "segment", "Route", SPLIT, "none"),
                terms(fields.REFUSED, "group", "Refused", SPLIT),
            ],
            "Who answered, and how often the answer was a refusal.",
        ),
        visual(
            "latency",
            "Latency by stage (ms, median and 95%)",
            QUERIES,
            f"{ASKED} AND {fields.STATUS}:200",
            "table",
            [
                *(percentiles(f"{fields.TOOK_MS}.{stage}", stage) for stage in STAGES),
                terms(fields.PATH, "bucket", "Request", SPLIT, by_name=True),
            ],
            "Milliseconds of each stage, for each kind of request.",
        ),
        visual(
            "slow",
            "Latency over time (ms, median and 95%)",
            QUERIES,
            f"{ASKED} AND {fields.STATUS}:200",
            "line",
            [percentiles(f"{fields.TOOK_MS}.request", "request"), by_time(fields.AT, "Asked")],
            "Milliseconds until the answer was there.",
        ),
        visual(
            "empty",
            "Zero-result queries",
            QUERIES,
            f"{fields.NO_RESULT}:true",
            "table",
            [count(), terms(fields.QUERY, "bucket", "Query", TOP, "(the words are not kept)")],
            "What found nothing; the words stand here only where MAFTEACH_QUERY_LOG_TEXT keeps them.",
        ),
        visual(
            "refusals",
            "Refusals by reason",
            QUERIES,
            f"{fields.REFUSED}:true",
            "histogram",
            [count(), by_time(fields.AT, "Asked"), terms(fields.REASON, "group", "Reason", SPLIT, "no reason")],
            "",
        ),
        visual(
            "tenants",
            "Requests by tenant",
            QUERIES,
            "",
            "histogram",
            [count(), by_time(fields.AT, "Asked"), terms(fields.TENANT, "group", "Tenant", SPLIT)],
            "",
        ),
    ]
    return [*views, *searches, *visuals, dashboard("overview", "Mafteach", [*visuals, searches[0], searches[3]])]


def text() -> str:
    """The file's text."""
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in all_objects())


def is_stale() -> bool:
    """Whether the file is not as the code says."""
    return not FILE.is_file() or FILE.read_text(encoding="utf-8") != text()


def main() -> None:
    """Write the file where it is stale, or with `--check` only say so."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when the file is stale")
    check = parser.parse_args().check
    stale = is_stale()
    if stale:
        print(f"stale: {FILE.name}" if check else f"written: {FILE.name}")
    if stale and not check:
        FILE.write_text(text(), encoding="utf-8")
    sys.exit(1 if check and stale else 0)


if __name__ == "__main__":
    main()
