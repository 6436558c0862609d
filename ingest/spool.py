"""Bytes of documents: uploads, kept in a shared folder as long as their document is there, and files where they lie."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from ingest.files import read_file
from search_config.errors import SourceGone, UnreadableDocument
from search_config.records import FILE_URI, content_hash
from search_config.settings import Settings

# What the payload of a row begins with where its bytes are in the spool.
SPOOLED: Final = "spool:"
FOLDER: Final = "spool"
# Only the account that serves and works may read what was uploaded.
FOLDER_MODE: Final = 0o700
# Names begin with these hexadecimal digits of the document's id as a folder, so that none grows too large.
FAN_OUT: Final = 2


class Spool:
    """The folder of MAFTEACH_SPOOL_DIR. One file a document and content: equal uploads of two documents are two files,
    so that deleting one leaves the other. An upload stays after its document is ready, as its original."""

    def __init__(self, settings: Settings) -> None:
        self._root = settings.spool_dir or settings.data_dir / FOLDER
        self._max_bytes = settings.max_file_bytes

    def keep(self, document_id: str, data: bytes) -> str:
        """Keep a document's bytes; gives the payload that names them. On disk when this returns.

        Raises:
            UnreadableDocument: the folder cannot be written.
        """
        name = f"{document_id[:FAN_OUT]}/{document_id}-{content_hash(data)}"
        path = self._root / name
        try:
            path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(data)
                    stream.flush()
                    os.fsync(stream.fileno())
                Path(temporary).replace(path)
            finally:
                Path(temporary).unlink(missing_ok=True)
        except OSError as error:
            raise UnreadableDocument(
                f"The upload cannot be kept: {error.strerror or error}.",
                where=str(self._root),
                remedy="Make room there, or set MAFTEACH_SPOOL_DIR to a folder that can be written.",
            ) from error
        return f"{SPOOLED}{name}"

    def read(self, payload: str | None, *, name: str) -> bytes:
        """The bytes that a payload names.

        Raises:
            SourceGone: they are not there any more, or were never kept.
            DocumentTooLarge, UnreadableDocument
        """
        path = self._path(payload)
        if path is None:
            raise SourceGone(
                "Its bytes were not kept.", where=name, remedy="Send it again from where it came: mafteach ingest PATH."
            )
        try:
            return read_file(path, self._max_bytes)
        except UnreadableDocument as error:
            if path.exists():
                raise
            upload = payload is not None and payload.startswith(SPOOLED)
            raise SourceGone(
                "The upload is not in the spool any more." if upload else "The file is not there any more.",
                where=str(path),
                remedy="Upload it again; all machines must see the same MAFTEACH_SPOOL_DIR."
                if upload
                else "Ingest it from where it is now, or delete the document.",
            ) from error

    def drop(self, document_id: str, *, but: str | None = None) -> None:
        """Forget every upload of a document, `but` one payload. A file of a user is never touched."""
        for path in (self._root / document_id[:FAN_OUT]).glob(f"{document_id}-*"):
            if f"{SPOOLED}{path.relative_to(self._root).as_posix()}" != but:
                path.unlink(missing_ok=True)

    def _path(self, payload: str | None) -> Path | None:
        if payload is None:
            return None
        if payload.startswith(SPOOLED):
            return self._root / payload.removeprefix(SPOOLED)
        return path_of(payload)


def path_of(source: str) -> Path | None:
    """The path of a file URI; None for another source."""
    if not source.startswith(f"{FILE_URI}/"):
        return None
    return Path(unquote(source.removeprefix(FILE_URI), errors="surrogateescape"))
