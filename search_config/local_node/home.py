"""Lay out the engine's home: `lib/`, `modules/`, `plugins/` and `agent/`, read-only, shared by all nodes.

A home is built in a temporary folder beside its final name and renamed into place, so a home under its final name is
complete. Its marker holds the digest of the pin table and the size of every file; on reuse the digest and all sizes
are compared (about a millisecond), and a home that differs is built anew from packages whose checksums are compared.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, ValidationError

from search_config.errors import ArtifactCorrupt, NodeError, NotEnoughDisk
from search_config.local_node.artifacts import ArtifactStore, Pin, PinTable, Progress

MARKER = ".mafteach-home.json"
# Raised when the way of laying out changes, so that homes of older versions are not reused.
LAYOUT = 2
# The engine creates these where they are missing, and can't in a home that it may only read.
EMPTY_FOLDERS = ("bin", "extensions")
# Packages and home together are 2.1 times the packages (plugins grow when unpacked); 3 leaves room for the rename.
DISK_FACTOR = 3
READABLE_DIR = 0o755
READABLE_FILE = 0o644


class Module(BaseModel):
    """What a built-in module's descriptor says; the published artifacts carry none."""

    model_config = ConfigDict(frozen=True)

    name: str
    classname: str
    description: str
    extends: str = ""
    policy: str = ""


# Without this grant the engine's agent refuses outgoing connections in silence, and no cluster of several nodes forms.
_SOCKETS = 'grant {\n  permission java.net.SocketPermission "*", "accept,connect,resolve";\n};\n'

MODULES = (
    Module(
        name="analysis-common",
        classname="org.opensearch.analysis.common.CommonAnalysisModulePlugin",
        description="Built-in analyzers, tokenizers and token filters",
        extends="lang-painless",
    ),
    Module(
        name="lang-painless",
        classname="org.opensearch.painless.PainlessModulePlugin",
        description="The Painless scripting language",
    ),
    Module(
        name="mapper-extras",
        classname="org.opensearch.index.mapper.MapperExtrasModulePlugin",
        description="More field types, of which the sparse leg needs rank_features",
    ),
    Module(
        name="transport-netty4",
        classname="org.opensearch.transport.Netty4ModulePlugin",
        description="HTTP and transport over Netty",
        policy=_SOCKETS,
    ),
    Module(
        name="transport-grpc",
        classname="org.opensearch.transport.grpc.GrpcPlugin",
        description="gRPC transport, off by default; the k-NN plugin extends it",
    ),
)


class Marker(BaseModel):
    """What the home was built from, and the size of every file by its path relative to the home."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    digest: str
    files: dict[str, int]


def layout_digest(pins: PinTable) -> str:
    """Digest (hex) of everything a home is made of: the pin table, the descriptors, the layout's version."""
    parts = [str(LAYOUT), pins.digest, *(module.model_dump_json() for module in MODULES)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def home_path(base: Path, pins: PinTable) -> Path:
    """Where the home of that pin table lies below `base`."""
    return base / f"home-{pins.engine}-{layout_digest(pins)[:12]}"


def is_complete(home: Path, pins: PinTable) -> bool:
    """Whether the home is there, of this pin table, with every file in its size."""
    try:
        marker = Marker.model_validate(json.loads((home / MARKER).read_text(encoding="utf-8")))
    except (OSError, ValueError, ValidationError):
        return False
    return marker.digest == layout_digest(pins) and marker.files == _sizes(home)


def ensure_home(base: Path, store: ArtifactStore, pins: PinTable, progress: Progress | None = None) -> Path:
    """The complete home below `base`; builds it, and downloads for it, only when needed.

    Two processes at once build one: the second waits.

    Raises:
        NotEnoughDisk, ArtifactUnavailable, ArtifactCorrupt
        NodeError: a folder can't be written to.
    """
    home = home_path(base, pins)
    if is_complete(home, pins):
        return home
    try:
        return _build_home(home, store, pins, progress)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise NotEnoughDisk(
                "The disk filled up while the search engine was downloaded or unpacked.",
                where=str(base),
                remedy="Free some space, or name a folder on another disk by MAFTEACH_CACHE_DIR.",
            ) from error
        raise NodeError(
            f"The search engine can't be unpacked: {error.strerror or error}.",
            where=str(error.filename or base),
            remedy="Name a folder that you may write to by MAFTEACH_CACHE_DIR.",
        ) from error


def _build_home(home: Path, store: ArtifactStore, pins: PinTable, progress: Progress | None) -> Path:
    base = home.parent
    base.mkdir(parents=True, exist_ok=True)
    store.folder.mkdir(parents=True, exist_ok=True)
    with FileLock(base / ".home.lock"):
        if is_complete(home, pins):
            return home
        check_disk(base, DISK_FACTOR * pins.size, "unpack the search engine", "MAFTEACH_CACHE_DIR")
        store.fetch_all(pins.artifacts, progress)
        if progress is not None:
            progress("Unpacking the search engine")
        _remove_leftovers(base)
        building = Path(tempfile.mkdtemp(prefix=".building-", dir=base))
        try:
            _lay_out(building, store, pins)
            shutil.rmtree(home, ignore_errors=True)
            building.replace(home)
        finally:
            shutil.rmtree(building, ignore_errors=True)
    return home


def check_disk(folder: Path, needed: int, purpose: str, variable: str) -> None:
    """Refuse to begin what can't end.

    Raises:
        NotEnoughDisk: fewer than `needed` bytes are free where `folder` lies.
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise NotEnoughDisk(
            f"{needed / 1e6:.0f} MB of free disk are needed to {purpose}, {free / 1e6:.0f} MB are there.",
            where=str(folder),
            remedy=f"Free some space, or name a folder on another disk by {variable}.",
        )


def _lay_out(home: Path, store: ArtifactStore, pins: PinTable) -> None:
    for pin in pins.artifacts:
        path = store.verified(pin)
        for place in pin.places:
            folder = home / place
            folder.mkdir(parents=True, exist_ok=True)
            if pin.packaging == "zip":
                _unpack(path, folder, pin)
            else:
                shutil.copyfile(path, folder / pin.filename)
    for module in MODULES:
        folder = home / "modules" / module.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "plugin-descriptor.properties").write_text(_descriptor(module, pins.engine), encoding="utf-8")
        if module.policy:
            (folder / "plugin-security.policy").write_text(module.policy, encoding="utf-8")
    for name in EMPTY_FOLDERS:
        (home / name).mkdir()
    marker = Marker(digest=layout_digest(pins), files=_sizes(home))
    (home / MARKER).write_text(marker.model_dump_json(indent=1), encoding="utf-8")
    # The node may run as another user than the one who unpacks; nothing here is secret.
    home.chmod(READABLE_DIR)
    for path in home.rglob("*"):
        path.chmod(READABLE_DIR if path.is_dir() else READABLE_FILE)


def _descriptor(module: Module, engine: str) -> str:
    """The module's `plugin-descriptor.properties`."""
    return "".join(
        f"{key}={value}\n"
        for key, value in (
            ("name", module.name),
            ("description", module.description),
            ("version", engine),
            ("opensearch.version", engine),
            ("java.version", "21"),
            ("classname", module.classname),
            ("extended.plugins", module.extends),
            ("has.native.controller", "false"),
        )
    )


def _unpack(archive: Path, folder: Path, pin: Pin) -> None:
    """Unpack a plugin; its checksum holds already, the paths are checked all the same."""
    with zipfile.ZipFile(archive) as source:
        for name in source.namelist():
            parts = PurePosixPath(name)
            if parts.is_absolute() or ".." in parts.parts:
                raise ArtifactCorrupt(
                    f"{pin.filename} holds a path that leaves its folder: {name}.",
                    where=pin.coordinate,
                    remedy="Report this: the pinned package itself is at fault.",
                )
        source.extractall(folder)


def _sizes(home: Path) -> dict[str, int]:
    """Size in bytes of every file below the home, by its relative POSIX path; the marker itself is left out."""
    return {
        path.relative_to(home).as_posix(): path.stat().st_size
        for path in sorted(home.rglob("*"))
        if path.is_file() and path.name != MARKER
    }


def _remove_leftovers(base: Path) -> None:
    """Delete what a build that was killed left; the caller holds the lock, so nobody is building."""
    for path in base.glob(".building-*"):
        shutil.rmtree(path, ignore_errors=True)
