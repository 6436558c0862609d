"""How a service reads documents: text in a process of its own, then the fields, then what they refer to."""

from __future__ import annotations

from ingest.documents import RawDocument
from ingest.extraction import Extraction, doubts_of
from ingest.fields.resolve import Superseding
from ingest.fields.step import with_fields
from ingest.isolation import ExtractionWorker
from ingest.metadata import typed
from models.base import LanguageModel
from search_config.client import Engine
from search_config.document_fields import DocumentFields, FieldStatus
from search_config.install import IndexInfo
from search_config.records import IngestRequest, document_id
from search_config.settings import Settings


class DocumentReader:
    """An `ingest.extraction.Extract` that costs one document at most, whatever a parser does. Close it after use."""

    def __init__(
        self, engine: Engine, info: IndexInfo, settings: Settings, *, model: LanguageModel | None = None
    ) -> None:
        """Prepare; the process starts with the first document.

        Args:
            engine: where references are looked up.
            info: the index, for its names.
            settings: limits of time, memory and size.
            model: reads the fields instead of the rules.
        """
        self._process = ExtractionWorker.of(settings)
        self._superseding = Superseding(engine, info.names, settings)
        self._model = model

    def __call__(self, raw: RawDocument, request: IngestRequest) -> Extraction:
        """Read one document.

        Raises:
            DocumentError: (a subclass) the bytes are no usable document; InvalidRequest: corrections that do not hold.
            ModelError, EngineError
        """
        document = self._process.extract(raw.data, name=raw.name, media_type=raw.media_type)
        own_id = document_id(raw.tenant, raw.source)
        read = with_fields(
            Extraction(document, typed(document.metadata), issues=doubts_of(document)),
            request.corrections,
            model=self._model,
            lookup=self._superseding.lookup(raw.tenant, own_id=own_id),
        )
        return _filterable(read)

    def close(self) -> None:
        """End the process."""
        self._process.close()


def _filterable(read: Extraction) -> Extraction:
    """What the file itself does not say is filtered by what was read from its text."""
    fields, known = read.extracted, read.metadata
    if fields is None:
        return read
    signed = fields.signed.value
    metadata = known.model_copy(
        update={
            "type": known.type or (None if fields.type.value is None else fields.type.value.value),
            "date": known.date or (None if signed is None else signed.isoformat()),
            "reference": known.reference or _first_reference(fields),
        }
    )
    return Extraction(read.document, metadata, read.extracted, read.filter_fields, read.issues)


def _first_reference(fields: DocumentFields) -> str | None:
    return next((one.value for one in fields.references if one.status is FieldStatus.VALUE), None)
