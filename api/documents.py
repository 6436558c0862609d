"""What both doors ask of the registry, with the errors for what is not there."""

from __future__ import annotations

from ingest.registry import Registry
from search_config.errors import NotFound
from search_config.records import DocumentRecord


def find_document(registry: Registry, tenant: str, document_id: str) -> DocumentRecord:
    """A tenant's document.

    Raises:
        NotFound: there is none with this id, or it is another tenant's: the two are not told apart.
    """
    record = registry.get(tenant, document_id)
    if record is None:
        raise _missing(document_id)
    return record


def delete_document(registry: Registry, tenant: str, document_id: str) -> None:
    """Delete a tenant's document and its chunks.

    Raises:
        NotFound: as `find_document`.
    """
    find_document(registry, tenant, document_id)
    registry.delete(tenant, document_id)


def text_of(record: DocumentRecord) -> str:
    """The canonical text.

    Raises:
        NotFound: the document has none, because extracting it failed or has not come that far.
    """
    if record.text is None:
        raise NotFound(
            "This document has no text.", where=record.document_id, remedy=f"Its state is {record.state}: see `reason`."
        )
    return record.text


def _missing(document_id: str) -> NotFound:
    return NotFound("There is no such document.", where=repr(document_id[:80]), remedy="See the list of documents.")
