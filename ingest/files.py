"""Files of a folder, in a stable order, without following links, and their bytes, never more than allowed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from ingest.extract.registry import too_large
from search_config.errors import InvalidRequest, UnreadableDocument


def find_files(paths: Sequence[Path]) -> Iterator[Path | UnreadableDocument]:
    """All files at and below the paths, each once, folders in the order of names.

    Hidden files and folders are left out, and so are symbolic links inside folders, which may lead out of them or in
    circles; a path that is named itself is taken whatever it is. A folder that cannot be listed comes as its error.

    Raises:
        InvalidRequest: paths that do not exist, all at once, before anything is read.
    """
    missing = [str(path) for path in paths if not os.path.lexists(path)]
    if missing:
        raise InvalidRequest(
            f"{len(missing)} path(s) do not exist.", where=", ".join(missing), remedy="Correct the command's PATH."
        )
    return _walk(paths)


def _walk(paths: Sequence[Path]) -> Iterator[Path | UnreadableDocument]:
    seen: set[Path] = set()
    for path in paths:
        for found in _below(path) if path.is_dir() else [path]:
            if isinstance(found, Path):
                absolute = found.absolute()
                if absolute in seen:
                    continue
                seen.add(absolute)
            yield found


def _below(folder: Path) -> Iterator[Path | UnreadableDocument]:
    errors: list[OSError] = []
    for place, folders, names in os.walk(folder, onerror=errors.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if not name.startswith(".") and not path.is_symlink():
                yield path
        yield from (unreadable(Path(str(error.filename)), error) for error in errors)
        errors.clear()
    yield from (unreadable(Path(str(error.filename)), error) for error in errors)


def read_file(path: Path, max_bytes: int) -> bytes:
    """A file's bytes.

    Raises:
        DocumentTooLarge: more than `max_bytes`; no more than that was read.
        UnreadableDocument: no permission, vanished, not a regular file.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableDocument(
                "This is not a regular file.", where=printable(str(path)), remedy="Name files or folders."
            )
        if status.st_size > max_bytes:
            raise too_large(status.st_size, max_bytes, printable(str(path)))
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(data) > max_bytes:  # it grew after it was measured
        raise too_large(len(data), max_bytes, printable(str(path)))
    return data


def unreadable(path: Path, error: OSError) -> UnreadableDocument:
    """The error for a file or folder that the system does not let us read."""
    return UnreadableDocument(
        f"It cannot be read: {error.strerror or error}.",
        where=printable(str(path)),
        remedy="Check that it is there and may be read.",
    )


def printable(name: str) -> str:
    """A file name as valid text: bytes of it that are not UTF-8 become U+FFFD."""
    return os.fsencode(name).decode("utf-8", errors="replace")
