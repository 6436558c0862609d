"""Loading of sentence-transformers models of all kinds: a folder, without any network, or a hub's name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from search_config.errors import MissingExtra, ModelUnavailable

Kind = Literal["SentenceTransformer", "CrossEncoder", "SparseEncoder"]

# Files that decide on what a model gives. Hashing them takes about a second a gigabyte, less than loading them.
_MODEL_FILES: Final = frozenset({".safetensors", ".bin", ".json", ".txt", ".model", ".vocab"})
_HASH_CHUNK: Final = 1 << 20  # bytes read at a time
_REVISION_DIGITS: Final = 16  # 64 bits of a SHA-256


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model and where it comes from.

    Attributes:
        model: an object of the library's class.
        name: the hub's name, or the folder's own.
        folder: None for a hub's model.
        asked: the revision that was asked for.
    """

    model: Any
    name: str
    folder: Path | None
    asked: str | None

    def revision(self) -> str:
        """The hub's commit, or a hash of the folder's files, which are read."""
        if self.folder is not None:
            return _hash_of(self.folder)
        commit = getattr(getattr(self.model, "config", None), "_commit_hash", None)
        return commit or self.asked or "unknown"


def load_model(
    kind: Kind, name_or_folder: str, revision: str | None, threads: int, *, what: str, setting: str
) -> Loaded:
    """Load a model for use.

    Args:
        kind: the library's class.
        name_or_folder: a folder, which is read without any network, or a hub's name.
        revision: branch, tag or commit at the hub.
        threads: of the computation on the processor.
        what: the model in an error's words: `The cross-encoder`.
        setting: the variable that names it.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        ModelUnavailable: no such model, or one that can't be loaded.
    """
    try:
        import sentence_transformers
        import torch
        from safetensors import SafetensorError
        from transformers.utils import logging as transformers_logging
    except ImportError as error:
        raise MissingExtra(
            f"{what} needs an optional package.",
            where=str(error.name),
            remedy="pip install 'mafteach[sentence-transformers]'",
        ) from error
    torch.set_num_threads(threads)
    # A bar over the loaded tensors is no business of a command's output.
    hide_progress: Callable[[], None] = transformers_logging.disable_progress_bar
    hide_progress()
    folder = Path(name_or_folder).expanduser()
    is_folder = folder.is_dir()
    if not is_folder and _looks_like_path(name_or_folder):
        raise ModelUnavailable("There is no such folder.", where=str(folder), remedy=f"Check {setting}.")
    try:
        model = getattr(sentence_transformers, kind)(
            str(folder) if is_folder else name_or_folder,
            revision=None if is_folder else revision,
            local_files_only=is_folder,
        )
    except (OSError, ValueError, KeyError, RuntimeError, AttributeError, SafetensorError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise ModelUnavailable(
            f"{what} can't be loaded: {reason}",
            where=name_or_folder,
            remedy=f"Check {setting}, the revision, and for a hub's model the network.",
        ) from error
    model.eval()
    return Loaded(
        model, folder.resolve().name if is_folder else name_or_folder, folder if is_folder else None, revision
    )


def _looks_like_path(name: str) -> bool:
    """A hub's name is `name` or `owner/name`; anything else with a separator is meant as a folder."""
    return name.startswith((".", "/", "~")) or "\\" in name or name.count("/") > 1


def _hash_of(folder: Path) -> str:
    """SHA-256 over names and contents of a model's files; readmes and hidden files are no part of it."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.suffix not in _MODEL_FILES or any(part.startswith(".") for part in inside.parts):
            continue
        digest.update(f"{inside.as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while chunk := file.read(_HASH_CHUNK):
                digest.update(chunk)
    return digest.hexdigest()[:_REVISION_DIGITS]
