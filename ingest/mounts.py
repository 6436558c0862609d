"""What a watched folder looked like when it was there: so that one whose share is not mounted is not taken for empty.

Where a share is mounted the path has another directory behind it than where it is not. Kept in a file of ours, not in
the folder, which may be read-only and is not ours.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from search_config.errors import InvalidSettings
from search_config.settings import Settings

FOLDER = "watch"


class Seen(BaseModel):
    """A folder as it was last seen.

    Attributes:
        identity: device and inode of the directory behind its path.
        mounts: file systems that it lies on, or that are mounted in it, by the places where they are mounted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: str
    identity: tuple[int, int] | None = None
    mounts: tuple[str, ...] = ()


class Memory:
    """The memory of one folder and tenant."""

    def __init__(self, settings: Settings, root: Path, tenant: str) -> None:
        name = hashlib.sha256(f"{tenant}\0{root}".encode(errors="surrogateescape")).hexdigest()[:24]
        self._file = settings.data_dir / FOLDER / f"{name}.json"
        self._root = root
        self.seen = self._read()

    def _read(self) -> Seen:
        try:
            return Seen.model_validate_json(self._file.read_bytes())
        except (OSError, ValidationError):
            return Seen(root=os.fsencode(self._root).decode(errors="replace"))

    def keep(self, folders: Iterable[Path], documents: Iterable[Path]) -> None:
        """Remember the folder as it is now.

        Args:
            folders: in it, that hold files.
            documents: files that were ingested; where they were mounted stays remembered.

        Raises:
            InvalidSettings: the data folder cannot be written.
        """
        mounts = {str(place) for folder in {self._root, *folders} if (place := mount_of(folder)) != Path("/")}
        needed = list(documents)
        mounts |= {place for place in self.seen.mounts if any(path.is_relative_to(place) for path in needed)}
        now = self.seen.model_copy(update={"identity": identity_of(self._root), "mounts": tuple(sorted(mounts))})
        if now == self.seen:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            new = self._file.with_suffix(".new")
            new.write_text(now.model_dump_json(), encoding="utf-8")
            new.replace(self._file)
        except OSError as error:
            raise InvalidSettings(
                f"What a watched folder looked like cannot be kept: {error.strerror or error}.",
                where=str(self._file),
                remedy="Set MAFTEACH_DATA_DIR to a folder that can be written.",
            ) from error
        self.seen = now

    def unmounted(self, path: Path) -> Path | None:
        """The place of the file system that a path was on, where nothing is mounted there now; None where it is."""
        for place in sorted(self.seen.mounts, key=len, reverse=True):
            if path.is_relative_to(place):
                return None if os.path.ismount(place) else Path(place)
        return None


def identity_of(folder: Path) -> tuple[int, int] | None:
    """Device and inode of a directory; None where there is none."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def mount_of(folder: Path) -> Path:
    """Where the file system of a folder is mounted."""
    for place in (folder, *folder.parents):
        if os.path.ismount(place):
            return place
    return Path(folder.anchor)


def gone(path: Path) -> bool:
    """Whether a file is certainly not there; one that the system cannot tell of is not."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
