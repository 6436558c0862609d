"""Bodies for the engine: BM25, k-NN, exact k-NN, single scores, details. The filter is an argument of each. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from query.filters import Clause
from query.highlighting import CLOSE, OPEN
from query.profile import Profile
from search_config import fields

Body = dict[str, Any]

# What a candidate is made of; the vector stays in the engine.
SOURCE_FIELDS: Final = (
    fields.CHUNK_ID,
    fields.DOCUMENT_ID,
    fields.VERSION,
    fields.CONTENT_HASH,
    fields.ORDINAL,
    fields.TITLE,
    fields.SECTION,
    fields.CONTENT,
    fields.LANGUAGE,
    fields.URL,
    fields.LOCATOR,
    fields.CONFIDENCE,
)
# What tells a hit from others, and its version: read by columns, which takes the engine half the time of the rows.
KEY_FIELDS: Final = (fields.CHUNK_ID, fields.DOCUMENT_ID, fields.VERSION, fields.CONTENT_HASH)
# Where identifiers are looked up.
EXACT_FIELDS: Final = tuple(fields.sub(text, fields.EXACT) for text in (fields.CONTENT, fields.TITLE, fields.SECTION))
# Rows beyond the candidates that are asked for, so that a group of equal scores at the cut is seen whole and cut by
# chunk id. Sorting in the engine by (score, chunk id) would do the same at four times the cost: it forbids skipping
# weak matches.
TIE_MARGIN: Final = 20
# Identifiers of one query that are looked up; nobody asks for more by hand.
MAX_IDENTIFIERS: Final = 16
# The engine refuses a query of more than 1,024 clauses (indices.query.bool.max_clause_count). Identifiers take up to
# six each, a sparse query has 96 terms, filters and chunk ids a few more; the words of the query share this many.
MAX_CLAUSES: Final = 900
# 64 bits of a hash: enough to spread queries over the copies of a shard.
PREFERENCE_HEX_DIGITS: Final = 16
# The k-NN plugin's script gives (1 + cosine) / 2 in this space, as its index does.
SPACE: Final = "cosinesimil"
# Kana and ideographs, which the analyzers' tokenizer takes one by one.
_IDEOGRAPHS: Final = "\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
# Words as that tokenizer will count them: runs of word characters, ideographs singly.
_TOKEN: Final = re.compile(f"[{_IDEOGRAPHS}]|[^\\W{_IDEOGRAPHS}]+")


def cosine_of(score: float) -> float:
    """The cosine behind the engine's score of a `cosinesimil` field: the score is `(1 + cos) / 2`, in Lucene and
    faiss."""
    return 2.0 * score - 1.0


def header(index: str, *, tenant: str, query: str, global_statistics: bool = False) -> Body:
    """The header of one search in an `_msearch`.

    The preference is fixed by tenant and query, so that a repeated query asks the same copies and gets the same
    answer. A shard that fails makes its search fail: part of a ranking is no ranking.

    Args:
        global_statistics: count words over all shards, so that BM25 does not depend on how rows are spread.
    """
    preference = hashlib.sha256(f"{tenant}\0{query}".encode()).hexdigest()[:PREFERENCE_HEX_DIGITS]
    line: Body = {"index": index, "preference": preference, "allow_partial_search_results": False}
    return {**line, "search_type": "dfs_query_then_fetch"} if global_statistics else line


def lexical_text(text: str, profile: Profile) -> tuple[str, bool]:
    """What of a query the lexical leg can read within the engine's limit of clauses, and whether that is all of it.

    A query that is too long gives its first different words. (Text without blanks gives its beginning.)
    """
    return bounded_text(text, len(profile.boosts()))


def bounded_text(text: str, searched: int) -> tuple[str, bool]:
    """As `lexical_text`, for a number of searched fields."""
    budget = MAX_CLAUSES // max(1, searched)
    if len(_TOKEN.findall(text)) <= budget:
        return text, True
    kept: dict[str, str] = {}
    used = 0
    for word in text.split():
        if word.casefold() in kept:
            continue
        used += len(_TOKEN.findall(word))
        if used > budget:
            break
        kept[word.casefold()] = word
    return " ".join(kept.values()) or text[:budget], False


def lexical_query(
    text: str,
    filters: Sequence[Clause],
    profile: Profile,
    identifiers: Sequence[str] = (),
    equivalents: Sequence[str] = (),
    equivalent_boost: float = 1.0,
) -> Clause:
    """BM25 over all searched fields, summed with the profile's boosts; any word may match.

    The text is matched, never parsed. Identifiers count again, as a whole, so that E-4031 found exactly outweighs its
    parts. Equivalents of words of the query (a glossary's) are found as phrases."""
    words = [{"match": {field: {"query": text, "boost": boost}}} for field, boost in profile.boosts().items()]
    exact = _phrases(identifiers, profile.identifier_boost) if profile.identifier_boost else []
    exact += [
        {"match_phrase": {field: {"query": equivalent, "boost": boost * equivalent_boost}}}
        for equivalent in equivalents
        for field, boost in profile.boosts().items()
    ]
    return {
        "bool": {
            "filter": list(filters),
            "should": [*words, *exact],
            "minimum_should_match": 1,
        }
    }


def with_filters(query: Clause, more: Sequence[Clause]) -> Clause:
    """A `lexical_query` with further filters; its scores stay what they were."""
    inner = query["bool"]
    return {"bool": {**inner, "filter": [*inner["filter"], *more]}}


def holds_any(identifiers: Sequence[str]) -> Clause:
    """A filter: the passage, its title or its section holds one of the identifiers as a whole."""
    return {"bool": {"should": _phrases(identifiers), "minimum_should_match": 1}}


def lexical_body(query: Clause, *, candidates: int, sorted_by_id: bool = False, texts: bool = True) -> Body:
    """The lexical leg: the best `candidates` and a margin for ties; sorted in the engine only on demand.

    Args:
        texts: whether rows are read whole, or their keys alone; of each leg.
    """
    body = _leg(query, candidates + TIE_MARGIN, texts=texts)
    if sorted_by_id:
        body |= {"size": candidates, "sort": [{"_score": "desc"}, {fields.CHUNK_ID: "asc"}], "track_scores": True}
    return body


def dense_body(vector: Sequence[float], filters: Sequence[Clause], *, candidates: int, texts: bool = True) -> Body:
    """The dense leg: approximate neighbours among the rows that pass the filter, which stands inside the k-NN
    clause."""
    wanted = candidates + TIE_MARGIN
    clause = {"vector": list(vector), "k": wanted, "filter": {"bool": {"filter": list(filters)}}}
    return _leg({"knn": {fields.EMBEDDING: clause}}, wanted, texts=texts)


def sparse_query(terms: Mapping[str, float], filters: Sequence[Clause]) -> Clause:
    """Passages by the sum, over the terms that they share with the query, of both weights' product."""
    should = [
        {"rank_feature": {"field": fields.sub(fields.SPARSE, term), "linear": {}, "boost": weight}}
        for term, weight in terms.items()
    ]
    return {"bool": {"filter": list(filters), "should": should, "minimum_should_match": 1}}


def sparse_body(terms: Mapping[str, float], filters: Sequence[Clause], *, candidates: int, texts: bool = True) -> Body:
    """The sparse leg: the best `candidates` and a margin for ties."""
    return _leg(sparse_query(terms, filters), candidates + TIE_MARGIN, texts=texts)


def exact_knn_body(vector: Sequence[float], filters: Sequence[Clause], *, candidates: int) -> Body:
    """Exact neighbours, by comparing with every row that passes the filter: for measuring, and for small sets."""
    return _leg(_cosine(vector, filters), candidates)


def vectors_body(ids: Sequence[str], filters: Sequence[Clause]) -> Body:
    """The stored vector of each named chunk.

    From `_source`: the engine refuses doc values of a vector field, and `fields` reads the same bytes."""
    return _leg({"bool": {"filter": [*filters, _ids(ids)]}}, len(ids)) | {"_source": [fields.EMBEDDING]}


def features_body(
    ids: Sequence[str],
    filters: Sequence[Clause],
    named: Mapping[str, Clause],
    vector: Sequence[float] | None,
    *,
    with_codes: bool,
    with_texts: bool = False,
) -> Body:
    """What reranking reads of each named chunk: the scores of clauses by their names, the cosine (as the engine's
    score, under the name `cosine`), the token code, the chunk itself."""
    only = [*filters, _ids(ids)]
    should = [{"bool": {"must": [clause], "_name": name}} for name, clause in named.items()]
    if vector is not None:
        cosine = _cosine(vector, only)["script_score"]
        should.append({"script_score": {**cosine, "_name": "cosine"}})
    body = _scores_of({"bool": {"filter": only, "should": should}}, len(ids))
    if with_codes:
        body["docvalue_fields"] = [fields.CHUNK_ID, fields.TOKEN_CODES]
    if with_texts:
        del body["stored_fields"]
        body["_source"] = list(SOURCE_FIELDS)
    return body


def texts_body(ids: Sequence[str], filters: Sequence[Clause]) -> Body:
    """The named chunks themselves."""
    return _leg({"bool": {"filter": [*filters, _ids(ids)]}}, len(ids))


def details_body(
    ids: Sequence[str], filters: Sequence[Clause], query: Clause, vector: Sequence[float] | None, profile: Profile
) -> Body:
    """For the hits of a page: their texts, the matched words marked in the whole passage, once for each searched
    analysis of it, and the cosine where a vector is given."""
    named = [*filters, _ids(ids)]
    matched = {"bool": {"filter": named}} if vector is None else _cosine(vector, named)
    analyses = [field for field in profile.boosts() if field.split(".")[0] == fields.CONTENT]
    return _leg(matched, len(ids)) | {
        "highlight": {
            "type": "unified",
            "number_of_fragments": 0,
            "pre_tags": [OPEN],
            "post_tags": [CLOSE],
            "fields": {field: {} for field in analyses},
            "highlight_query": query,
        },
    }


def chunk_of(row: Mapping[str, Any]) -> str:
    """The chunk of a row that was asked for its scores alone."""
    chunk: str = row["fields"][fields.CHUNK_ID][0]
    return chunk


def _scores_of(query: Clause, size: int) -> Body:
    """Rows of which `chunk_of` and the score are read."""
    return _columns(query, size, [fields.CHUNK_ID])


def _leg(query: Clause, size: int, *, texts: bool = True) -> Body:
    if not texts:
        return _columns(query, size, KEY_FIELDS)
    return {"query": query, "size": size, "track_total_hits": False, "_source": list(SOURCE_FIELDS)}


def _columns(query: Clause, size: int, columns: Sequence[str]) -> Body:
    """Rows by columns alone. The id of a row lies beside its whole text and its vector, which the engine unpacks to
    give it; that takes longer than finding and scoring it."""
    return {
        "query": query,
        "size": size,
        "track_total_hits": False,
        "stored_fields": "_none_",
        "docvalue_fields": list(columns),
    }


def _phrases(identifiers: Sequence[str], boost: float = 1.0) -> list[Clause]:
    return [
        {"match_phrase": {field: {"query": identifier, "boost": boost}}}
        for identifier in identifiers[:MAX_IDENTIFIERS]
        for field in EXACT_FIELDS
    ]


def _ids(ids: Sequence[str]) -> Clause:
    return {"terms": {fields.CHUNK_ID: list(ids)}}


def _cosine(vector: Sequence[float], filters: Sequence[Clause]) -> Clause:
    parameters = {"field": fields.EMBEDDING, "query_value": list(vector), "space_type": SPACE}
    script = {"source": "knn_score", "lang": "knn", "params": parameters}
    return {"script_score": {"query": {"bool": {"filter": list(filters)}}, "script": script}}
