"""Which version of each document a reader is shown: the one that the document's row names, whole, and no other.

While a document is replaced, chunks of two versions stand side by side in the index, and the searches of one request do
not see it at the same moment. So the rows of a leg are compared, after the search, with the registry: its row for a
document changes in one write, after the last new chunk can be seen and before the first old one goes. Rows of a version
that the registry does not name are left out; where that leaves a gap (they took the places of others, or a version that
has just been replaced was found) the legs are asked again without them.

It costs one search of the registry, sent while the reranker's features are read, and a second search of the legs where
a document changes at that moment. A document without a row in the registry is shown as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from query.build import Body
from query.candidate import Found
from query.filters import Clause
from search_config import fields

# Searches of one request: a document that changes so often while it is asked for is left out of the last one's answer
# as far as it does not fit.
ATTEMPTS: Final = 4


class Version(NamedTuple):
    """One version of a document."""

    number: int
    content_hash: str


@dataclass(frozen=True, slots=True)
class Published:
    """What the registry says of some documents.

    Attributes:
        versions: the version that is shown; None: the document is not shown at all (new and not ready, or deleted).
    """

    versions: dict[str, Version | None] = field(default_factory=dict)

    def shows(self, passage: Found) -> bool:
        """Whether a passage is of the version that is shown."""
        known = self.versions
        # A version is a pair, and equals one.
        return passage.document_id not in known or known[passage.document_id] == (passage.version, passage.content_hash)

    def hides(self, passages: Iterable[Found]) -> bool:
        """Whether any passage is not of the version that is shown."""
        return not all(map(self.shows, passages))

    def replaced(self, passage: Found) -> bool:
        """Whether a hidden passage is of an older version than the one that is shown now."""
        shown = self.versions.get(passage.document_id)
        return shown is not None and not self.shows(passage) and passage.version <= shown.number

    def without_hidden(self, hidden: Iterable[Found]) -> Clause:
        """A filter that leaves out, of the documents of hidden passages, every version but the one that is shown."""
        clauses = []
        for document in sorted({passage.document_id for passage in hidden}):
            shown = self.versions[document]
            others: Clause = {"filter": [{"term": {fields.DOCUMENT_ID: document}}]}
            if shown is not None:
                same = [{"term": {fields.VERSION: shown.number}}, {"term": {fields.CONTENT_HASH: shown.content_hash}}]
                others["must_not"] = [{"bool": {"filter": same}}]
            clauses.append({"bool": others})
        return {"bool": {"must_not": clauses}}


def published_search(registry: str, tenant_clause: Clause, documents: Collection[str]) -> tuple[Body, Body]:
    """Header and body that ask the registry for documents, by its columns: rows hold whole texts. Where there is no
    registry, it knows no document."""
    header = {"index": registry, "ignore_unavailable": True, "allow_partial_search_results": False}
    body = {
        "size": max(1, len(documents)),
        "track_total_hits": False,
        "query": {"bool": {"filter": [tenant_clause, {"terms": {fields.DOCUMENT_ID: sorted(documents)}}]}},
        # Not even the id, which lies beside the whole text.
        "stored_fields": "_none_",
        "docvalue_fields": [fields.DOCUMENT_ID, fields.VERSION, fields.CONTENT_HASH],
    }
    return header, body


def published_in(answer: Mapping[str, Any]) -> Published:
    """What an answer to `published_search` says."""
    versions: dict[str, Version | None] = {}
    for row in answer["hits"]["hits"]:
        found = row["fields"]
        hashes = found.get(fields.CONTENT_HASH)
        versions[found[fields.DOCUMENT_ID][0]] = Version(found[fields.VERSION][0], hashes[0]) if hashes else None
    return Published(versions)
