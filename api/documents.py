"""What both doors tell of a document's text."""

from __future__ import annotations

from search_config.errors import NotFound
from search_config.records import DocumentRecord


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
