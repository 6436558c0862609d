"""Write `search_config/templates/`: plain JSON that a person can PUT from Dashboards' Dev Tools, made from the code.

`python -m scripts.write_templates` writes the files, `--check` only says which of them are stale (exit status 1).
Run it after a change of the analyzers, of their lists or of a mapping, and commit what it wrote.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from search_config import fields, hebrew

Json = dict[str, Any]

TEMPLATES = Path(__file__).resolve().parent.parent / "search_config" / "templates"

# Templates of one prefix stand above the engine's own and below what an operator may lay over them.
PRIORITY = 200
# Lucene's limit for one term is 32,766 bytes; a code point takes four at most.
LONGEST_KEYWORD = 8191
# The customary constants (Robertson and Zaragoza 2009, and Lucene): term saturation and length normalisation.
BM25 = {"type": "BM25", "k1": 1.2, "b": 0.75}
# Dimension of the embedded model; `install` puts in that of the configured one.
DIM = 384
# Lucene's defaults for the graph, and a beam twice the customary 64 when building: recall costs only indexing time.
HNSW = {"m": 16, "ef_construction": 128}
# The constant of Cormack, Clarke and Buettcher (SIGIR 2009), and weights (BM25, k-NN) by class of query.
RRF_CONSTANT = 60
ENGINE_WEIGHTS = {
    "hebrew": ("Hebrew", (0.7, 0.3)),
    "english": ("English", (0.3, 0.7)),
    "identifier": ("identifier", (0.9, 0.1)),
}
# The engine's normalisations that suit both legs; l2 does nothing for a cosine.
NORMALISATIONS = ("min_max", "z_score")

KEYWORD: Json = {"type": "keyword"}
# Kept in the source and shown, never searched.
SHOWN: Json = {"type": "keyword", "index": False, "doc_values": False}
WHOLE: Json = {"type": "keyword", "ignore_above": LONGEST_KEYWORD}
INTEGER: Json = {"type": "integer"}
DATE: Json = {"type": "date"}
DAY: Json = {"type": "date", "format": "strict_date"}


def searched_text(*, marked: bool = False) -> Json:
    """Mapping of a text that is searched: words without their prefixes, and sub-fields for the other readings.

    Args:
        marked: hits show their words marked in it. The index then keeps where each word stands (1% of an index's size);
            else the passages of every page would be analysed again, which takes more than twice as long.
    """
    kept = {"index_options": "offsets"} if marked else {}
    analyzers = {
        fields.EXACT: (hebrew.EXACT_ANALYZER, "bm25_exact"),
        fields.INFLECTED: (hebrew.INFLECTED_ANALYZER, "bm25"),
        fields.ENGLISH: (hebrew.ENGLISH_ANALYZER, "bm25"),
    }
    return {
        "type": "text",
        "analyzer": hebrew.PREFIX_ANALYZER,
        "search_analyzer": hebrew.query_analyzer(hebrew.PREFIX_ANALYZER),
        "similarity": "bm25",
        **kept,
        "fields": {
            name: {
                "type": "text",
                "analyzer": analyzer,
                "search_analyzer": hebrew.query_analyzer(analyzer),
                "similarity": similarity,
                **kept,
            }
            for name, (analyzer, similarity) in analyzers.items()
        },
    }


def analysis() -> Json:
    """Component template: analyzers and similarities."""
    return {
        "template": {
            "settings": {
                "index": {"analysis": hebrew.analysis(), "similarity": {"bm25": dict(BM25), "bm25_exact": dict(BM25)}}
            }
        },
        "_meta": {
            "description": "Hebrew-aware analyzers from built-in filters, and BM25's constants by field; "
            "the word lists in it are CC BY-SA 4.0, see NOTICE",
            "analyzer": hebrew.ANALYZER_VERSION,
        },
    }


def sparse() -> Json:
    """Component template: the field of the sparse leg."""
    return {
        "template": {"mappings": {"properties": {fields.SPARSE: {"type": "rank_features"}}}},
        "_meta": {"description": "Weighted terms of chunks; the engine's module mapper-extras has the field's type"},
    }


def filter_fields() -> Json:
    """Mapping of the fields that are read from a document, flat."""
    properties = {
        "parties": KEYWORD,
        "party_kinds": KEYWORD,
        "signed_on": DAY,
        "effective_on": DAY,
        "expires_on": DAY,
        "amount_minor": {"type": "long"},
        "currency": KEYWORD,
        "references": KEYWORD,
        "refers_to": KEYWORD,
        "supersedes": KEYWORD,
        "superseded_by": KEYWORD,
        "not_found": KEYWORD,
        "stated_none": KEYWORD,
    }
    return {"dynamic": "strict", "properties": properties}


def chunks() -> Json:
    """Index template of the chunks."""
    locator = {
        "from": INTEGER,
        "to": INTEGER,
        "label": SHOWN,
        "page": INTEGER,
        "slide": INTEGER,
        "sheet": KEYWORD,
        "cells": SHOWN,
        "start_s": {"type": "float"},
        "end_s": {"type": "float"},
        "attachment": SHOWN,
    }
    embedding = {
        "type": "knn_vector",
        "dimension": DIM,
        "space_type": "cosinesimil",
        "method": {"name": "hnsw", "engine": "lucene", "parameters": dict(HNSW)},
    }
    properties = {
        fields.TENANT: KEYWORD,
        fields.DOCUMENT_ID: KEYWORD,
        fields.CHUNK_ID: KEYWORD,
        fields.ORDINAL: INTEGER,
        fields.VERSION: INTEGER,
        fields.CONTENT_HASH: KEYWORD,
        fields.TITLE: searched_text(),
        fields.SECTION: searched_text(),
        fields.CONTENT: searched_text(marked=True),
        fields.LANGUAGE: KEYWORD,
        fields.MEDIA_TYPE: KEYWORD,
        fields.URL: SHOWN,
        fields.LOCATOR: {"dynamic": "strict", "properties": locator},
        fields.OVERLAP_FROM: {"type": "integer", "index": False},
        fields.EMBEDDING: embedding,
        # Read as a doc value by the reranker alone.
        fields.TOKEN_CODES: {"type": "binary", "doc_values": True, "store": False},
        fields.MODEL: KEYWORD,
        fields.PIPELINE: KEYWORD,
        fields.INDEXED_AT: DATE,
        fields.TYPE: KEYWORD,
        fields.TAGS: KEYWORD,
        fields.DATE: DAY,
        fields.REFERENCE: KEYWORD,
        fields.GROUPS: KEYWORD,
        fields.FILTER_FIELDS: filter_fields(),
        fields.CONFIDENCE: {"type": "half_float"},
    }
    return _index_template(
        "mafteach-chunks-v*",
        properties,
        "Versioned indices of chunks; no field appears that is not named here",
        settings={"knn": True},
        composed_of=["mafteach-analysis"],
        # Terms are excluded with and without the component that maps them.
        not_in_source=(fields.TOKEN_CODES, fields.SPARSE),
    )


def documents() -> Json:
    """Index template of the registry of documents."""
    stamps = dict.fromkeys(("model", "analyzer", "extractor", "pipeline"), KEYWORD)
    properties = {
        fields.DOCUMENT_ID: KEYWORD,
        fields.TENANT: KEYWORD,
        fields.NAME: WHOLE,
        fields.SOURCE: WHOLE,
        fields.STATE: KEYWORD,
        fields.REASON: {"type": "text", "norms": False, "fields": {"whole": WHOLE}},
        fields.REASON_CODE: KEYWORD,
        fields.ISSUES: SHOWN,
        fields.ISSUE_CODES: KEYWORD,
        fields.FOLDER: WHOLE,
        fields.LEASE: {"dynamic": "strict", "properties": {"owner": KEYWORD, "taken_at": DATE}},
        fields.REQUEST: {"type": "object", "enabled": False},
        fields.ATTEMPTS: INTEGER,
        fields.CHUNKS_GENERATED: INTEGER,
        fields.CHUNKS_INDEXED: INTEGER,
        fields.STAMPS: {"dynamic": "strict", "properties": stamps},
        fields.VERSION: INTEGER,
        fields.CONTENT_HASH: KEYWORD,
        fields.TITLE: WHOLE,
        fields.LANGUAGE: KEYWORD,
        fields.MEDIA_TYPE: KEYWORD,
        fields.URL: SHOWN,
        fields.TYPE: KEYWORD,
        fields.TAGS: KEYWORD,
        fields.DATE: DAY,
        fields.REFERENCE: KEYWORD,
        fields.GROUPS: KEYWORD,
        fields.METADATA: {"type": "object", "enabled": False},
        fields.EXTRACTED: {"type": "object", "enabled": False},
        fields.FILTER_FIELDS: filter_fields(),
        fields.TEXT: {"type": "text", "index": False, "norms": False},
        fields.LAYOUT: {"type": "text", "index": False, "norms": False},
        fields.CREATED_AT: DATE,
        fields.UPDATED_AT: DATE,
        fields.QUEUED_AT: DATE,
        fields.STARTED_AT: DATE,
        fields.FINISHED_AT: DATE,
    }
    return _index_template(
        "mafteach-documents", properties, "One row a document: state, counts, stamps, canonical text"
    )


def workers() -> Json:
    """Index template of the workers."""
    properties = {
        fields.WORKER_ID: KEYWORD,
        fields.MACHINE: SHOWN,
        fields.PID: INTEGER,
        fields.PROCESS_START: SHOWN,
        fields.LEASE_S: {"type": "float"},
        fields.BEAT: {"type": "long"},
        fields.STARTED_AT: DATE,
    }
    return _index_template(
        "mafteach-workers", properties, "Processes that ingest: a row each, which changes as they live"
    )


def migrations() -> Json:
    """Index template of the row of the latest migration."""
    properties = {
        fields.STATE: KEYWORD,
        fields.SOURCE_INDEX: KEYWORD,
        fields.TARGET_INDEX: KEYWORD,
        fields.MODEL: {"type": "object", "enabled": False},
        "analyzer": KEYWORD,
        fields.PIPELINE: KEYWORD,
        fields.LEASE: {"dynamic": "strict", "properties": {"owner": KEYWORD, "taken_at": DATE}},
        "documents": INTEGER,
        "migrated": INTEGER,
        fields.CHUNKS: INTEGER,
        "sample": {"type": "object", "enabled": False},
        fields.REASON: SHOWN,
        fields.STARTED_AT: DATE,
        fields.UPDATED_AT: DATE,
        fields.FINISHED_AT: DATE,
    }
    return _index_template("mafteach-migrations", properties, "The latest change of model or chunking: how far it is")


def keys() -> Json:
    """Index template of the API keys."""
    properties = {
        fields.KEY_ID: KEYWORD,
        fields.KEY_HASH: SHOWN,
        fields.TENANT: KEYWORD,
        fields.LABEL: SHOWN,
        fields.GROUPS: SHOWN,
        fields.PERMISSIONS: SHOWN,
        fields.CREATED_AT: DATE,
        fields.REVOKED_AT: DATE,
    }
    return _index_template("mafteach-keys", properties, "API keys: only hashes")


def glossary() -> Json:
    """Index template of the glossaries."""
    properties = {
        fields.TENANT: KEYWORD,
        fields.TERM: KEYWORD,
        fields.KIND: KEYWORD,
        fields.EQUIVALENTS: SHOWN,
    }
    return _index_template("mafteach-glossary", properties, "Glossaries: words of a tenant, and what they stand for")


def queries() -> Json:
    """Index template of the query log."""
    properties = {
        fields.AT: DATE,
        fields.REQUEST_ID: KEYWORD,
        fields.TENANT: KEYWORD,
        fields.CALLER: KEYWORD,
        fields.PATH: KEYWORD,
        fields.STATUS: {"type": "short"},
        fields.CODE: KEYWORD,
        # Whole, so that Dashboards can count the questions that found nothing.
        fields.QUERY: WHOLE,
        fields.LANGUAGE: KEYWORD,
        fields.MODE: KEYWORD,
        fields.ROUTE: KEYWORD,
        fields.FILTERS: {"type": "object", "enabled": False},
        fields.FILTER_NAMES: KEYWORD,
        fields.REFUSED: {"type": "boolean"},
        fields.REASON: KEYWORD,
        fields.HITS: INTEGER,
        fields.TOTAL: INTEGER,
        fields.NO_RESULT: {"type": "boolean"},
        fields.DEGRADED: KEYWORD,
        fields.PROFILE: KEYWORD,
        # Milliseconds by stage; the code alone names stages, so that their number is bounded.
        fields.TOOK_MS: {"type": "object", "dynamic": "true"},
    }
    template = _index_template(
        "mafteach-queries", properties, "The query log: who asked what, when, and what came of it"
    )
    # A stream, so that a policy can begin new indices and delete old ones.
    return {**template, "data_stream": {"timestamp_field": {"name": fields.AT}}}


def evidence() -> Json:
    """Index template of evidence records: a data stream, to which nothing can be written twice."""
    properties = {
        fields.AT: DATE,
        fields.TENANT: KEYWORD,
        fields.KIND: KEYWORD,
        fields.CASE_ID: KEYWORD,
        fields.CLAIM_ID: KEYWORD,
        fields.AUTHOR: KEYWORD,
        fields.SEQUENCE: INTEGER,
        fields.HASH: KEYWORD,
        fields.RECORD: {"type": "object", "enabled": False},
    }
    template = _index_template(
        "mafteach-evidence", properties, "Evidence records, written once: cases, claims, decisions, notes"
    )
    return {**template, "data_stream": {"timestamp_field": {"name": fields.AT}}}


def feedback() -> Json:
    """Index template of feedback: a data stream too; who takes a mark back adds a row that says so."""
    properties = {
        fields.AT: DATE,
        fields.TENANT: KEYWORD,
        fields.FEEDBACK_ID: KEYWORD,
        fields.CALLER: KEYWORD,
        fields.KIND: KEYWORD,
        fields.VERDICT: KEYWORD,
        fields.QUERY: WHOLE,
        fields.DOCUMENT_ID: KEYWORD,
        fields.WITHDRAWS: KEYWORD,
        fields.RECORD: {"type": "object", "enabled": False},
    }
    template = _index_template(
        "mafteach-feedback", properties, "What people marked right, wrong or picked, and what they took back"
    )
    return {**template, "data_stream": {"timestamp_field": {"name": fields.AT}}}


def search_pipelines() -> dict[str, Json]:
    """Search pipelines: what the engine itself can do of our fusion, for each class of queries."""
    files: dict[str, Json] = {}
    for name, (queries, weights) in ENGINE_WEIGHTS.items():
        parameters = {"weights": list(weights)}
        rrf = {"technique": "rrf", "rank_constant": RRF_CONSTANT, "parameters": parameters}
        files[f"search_pipeline/rrf-{name}.json"] = {
            "description": f"Weighted RRF of BM25 and k-NN inside the engine, for {queries} queries",
            "phase_results_processors": [{"score-ranker-processor": {"combination": rrf}}],
        }
        for technique in NORMALISATIONS:
            mean = {"technique": "arithmetic_mean", "parameters": parameters}
            files[f"search_pipeline/{technique.replace('_', '-')}-{name}.json"] = {
                "description": f"Weighted mean of {technique} scores of BM25 and k-NN, for {queries} queries",
                "phase_results_processors": [
                    {"normalization-processor": {"normalization": {"technique": technique}, "combination": mean}}
                ],
            }
    return files


def all_files() -> dict[str, Json]:
    """Content of every template file by its path below `templates/`."""
    return {
        "component/analysis.json": analysis(),
        "component/sparse.json": sparse(),
        "index/chunks.json": chunks(),
        "index/documents.json": documents(),
        "index/keys.json": keys(),
        "index/workers.json": workers(),
        "index/migrations.json": migrations(),
        "index/queries.json": queries(),
        "index/evidence.json": evidence(),
        "index/feedback.json": feedback(),
        "index/glossary.json": glossary(),
        **search_pipelines(),
    }


def stale_files() -> dict[str, str]:
    """Text of those files that are not as the code says, by path."""
    wanted = {path: json.dumps(body, ensure_ascii=False, indent=2) + "\n" for path, body in all_files().items()}
    return {path: text for path, text in wanted.items() if not _is_written(TEMPLATES / path, text)}


def _is_written(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def _index_template(
    pattern: str,
    properties: Json,
    description: str,
    *,
    settings: Json | None = None,
    composed_of: list[str] | None = None,
    not_in_source: tuple[str, ...] = (),
) -> Json:
    components = {"composed_of": composed_of} if composed_of else {}
    source = {"_source": {"excludes": list(not_in_source)}} if not_in_source else {}
    return {
        "index_patterns": [pattern],
        **components,
        "priority": PRIORITY,
        "template": {
            "settings": {"index": {**(settings or {}), "number_of_shards": 1, "number_of_replicas": 0}},
            "mappings": {"dynamic": "strict", **source, "properties": properties},
        },
        "_meta": {"description": description},
    }


def main() -> None:
    """Write what is stale, or with `--check` only name it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when a file is stale")
    check = parser.parse_args().check
    stale = stale_files()
    for path, text in stale.items():
        print(f"stale: {path}" if check else f"written: {path}")
        if not check:
            (TEMPLATES / path).write_text(text, encoding="utf-8")
    sys.exit(1 if check and stale else 0)


if __name__ == "__main__":
    main()
