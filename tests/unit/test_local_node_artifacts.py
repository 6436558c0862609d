"""Downloads against a real HTTP server on loopback that can break off, lie and fail; and homes laid out from them."""

from __future__ import annotations

import functools
import gc
import hashlib
import http.server
import io
import shutil
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from search_config.errors import ArtifactCorrupt, ArtifactUnavailable, NodeError, NotEnoughDisk
from search_config.local_node import artifacts
from search_config.local_node.artifacts import DOWNLOAD_ATTEMPTS, ArtifactStore, Pin, PinTable, load_pins
from search_config.local_node.home import MARKER, MODULES, check_disk, ensure_home, home_path, is_complete

CONTENT = b"the engine's classes" * 1000


class Repository:
    """A Maven repository: `files` by path; `cut` paths break off, a missing one is a 404; every request is kept."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut: set[str] = set()
        self.requests: list[str] = []
        self.url = ""

    def add(self, name: str, content: bytes, place: str, packaging: str = "jar") -> Pin:
        pin = Pin(
            group="org.example",
            artifact=name,
            version="1.0",
            classifier="",
            packaging=packaging,
            size=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
            places=(place,),
        )
        self.files[self.path(pin)] = content
        return pin

    @staticmethod
    def path(pin: Pin) -> str:
        return f"/org/example/{pin.artifact}/1.0/{pin.filename}"

    def asked(self, pin: Pin) -> int:
        return self.requests.count(self.path(pin))


class Handler(http.server.BaseHTTPRequestHandler):
    def __init__(self, repository: Repository, *args: object) -> None:
        self.repository = repository
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self.repository.requests.append(self.path)
        content = self.repository.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.path in self.repository.cut:
            self.repository.cut.discard(self.path)
            content = content[: len(content) // 2]
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    monkeypatch.setattr(artifacts, "LONGEST_WAIT_S", 0.0)
    repository = Repository()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, repository)) as server:
        repository.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield repository
        server.shutdown()
        thread.join()


@pytest.fixture
def store(repository: Repository, tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts", {"test": repository.url})


def test_a_file_is_fetched_once_and_reported(repository: Repository, store: ArtifactStore) -> None:
    pins = [repository.add("a", CONTENT, "lib"), repository.add("b", b"x", "lib")]
    lines: list[str] = []
    store.fetch_all(pins, lines.append)
    store.fetch_all(pins, lines.append)
    assert [store.path(pin).read_bytes() for pin in pins] == [CONTENT, b"x"]
    assert [repository.asked(pin) for pin in pins] == [1, 1]
    assert len(lines) == 2
    assert "2 of 2 files" in lines[-1]
    assert sorted(path.name for path in store.folder.iterdir()) == sorted(store.path(pin).name for pin in pins)


def test_a_download_that_breaks_off_is_repeated(repository: Repository, store: ArtifactStore) -> None:
    pin = repository.add("a", CONTENT, "lib")
    repository.cut.add(repository.path(pin))
    store.fetch_all([pin])
    assert store.path(pin).read_bytes() == CONTENT
    assert repository.asked(pin) == 2


def test_half_a_file_under_the_final_name_is_repaired(repository: Repository, store: ArtifactStore) -> None:
    pin = repository.add("a", CONTENT, "lib")
    store.folder.mkdir()
    store.path(pin).write_bytes(CONTENT[:100])
    store.fetch_all([pin])
    assert store.path(pin).read_bytes() == CONTENT


def test_a_damaged_file_of_the_right_size_is_repaired(repository: Repository, store: ArtifactStore) -> None:
    pin = repository.add("a", CONTENT, "lib")
    store.folder.mkdir()
    store.path(pin).write_bytes(b"?" * len(CONTENT))
    assert store.verified(pin).read_bytes() == CONTENT


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")  # jgo leaves the answers of failures open
def test_a_missing_package_names_itself_and_its_cause(repository: Repository, store: ArtifactStore) -> None:
    pin = repository.add("a", CONTENT, "lib")
    repository.files.clear()
    with pytest.raises(ArtifactUnavailable, match=r"a-1\.0\.jar.*not found") as caught:
        store.fetch_all([pin])
    assert caught.value.where == "org.example:a:1.0:jar"
    assert repository.asked(pin) == DOWNLOAD_ATTEMPTS
    assert not list(store.folder.iterdir())
    del caught
    gc.collect()  # closes those answers here, where the warning is expected


def test_an_unreachable_repository_is_named_as_the_cause(
    monkeypatch: pytest.MonkeyPatch, repository: Repository, tmp_path: Path
) -> None:
    pin = repository.add("a", CONTENT, "lib")
    closed = ArtifactStore(tmp_path / "artifacts", {"test": "http://127.0.0.1:1"})
    with pytest.raises(ArtifactUnavailable, match="refused"):
        closed.fetch_all([pin])


def test_a_wrong_checksum_is_fetched_once_more_then_refused(repository: Repository, store: ArtifactStore) -> None:
    pin = repository.add("a", CONTENT, "lib")
    repository.files[repository.path(pin)] = b"!" * len(CONTENT)
    with pytest.raises(ArtifactCorrupt, match=pin.sha256):
        store.fetch_all([pin])
    assert repository.asked(pin) == 2
    assert not list(store.folder.iterdir())


def table(repository: Repository) -> PinTable:
    """A small engine: one jar in every folder, one plugin."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("plugin-descriptor.properties", "name=p")
        out.writestr("p.jar", CONTENT)
    pins = [repository.add("server", CONTENT, "lib"), repository.add("p", archive.getvalue(), "plugins/p", "zip")]
    pins += [repository.add(module.name, b"m", f"modules/{module.name}") for module in MODULES]
    return PinTable(engine="9.9.9", artifacts=tuple(pins))


def test_a_home_is_laid_out_and_reused(repository: Repository, store: ArtifactStore, tmp_path: Path) -> None:
    pins = table(repository)
    home = ensure_home(tmp_path / "engine", store, pins)
    asked = len(repository.requests)
    assert (home / "lib" / "server-1.0.jar").read_bytes() == CONTENT
    assert (home / "plugins" / "p" / "p.jar").read_bytes() == CONTENT
    assert "SocketPermission" in (home / "modules/transport-netty4/plugin-security.policy").read_text()
    assert "opensearch.version=9.9.9" in (home / "modules/lang-painless/plugin-descriptor.properties").read_text()
    made = (home / MARKER).stat().st_mtime_ns
    assert ensure_home(tmp_path / "engine", store, pins) == home
    assert (home / MARKER).stat().st_mtime_ns == made
    assert len(repository.requests) == asked


@pytest.mark.parametrize("damage", ["truncated", "missing", "marker"])
def test_a_damaged_home_is_rebuilt(repository: Repository, store: ArtifactStore, tmp_path: Path, damage: str) -> None:
    pins = table(repository)
    home = ensure_home(tmp_path / "engine", store, pins)
    jar = home / "lib" / "server-1.0.jar"
    if damage == "truncated":
        jar.write_bytes(CONTENT[:10])
    elif damage == "missing":
        jar.unlink()
    else:
        (home / MARKER).write_text("{")
    assert not is_complete(home, pins)
    ensure_home(tmp_path / "engine", store, pins)
    assert is_complete(home, pins)
    assert jar.read_bytes() == CONTENT


def test_a_cache_that_is_no_folder_is_named(repository: Repository, store: ArtifactStore, tmp_path: Path) -> None:
    (tmp_path / "engine").write_text("a file")
    with pytest.raises(NodeError, match="can't be unpacked") as caught:
        ensure_home(tmp_path / "engine", store, table(repository))
    assert caught.value.where == str(tmp_path / "engine")


def test_what_a_killed_build_left_is_removed(repository: Repository, store: ArtifactStore, tmp_path: Path) -> None:
    leftover = tmp_path / "engine" / ".building-dead"
    leftover.mkdir(parents=True)
    ensure_home(tmp_path / "engine", store, table(repository))
    assert not leftover.exists()


def test_another_table_is_another_home(repository: Repository, tmp_path: Path) -> None:
    pins = table(repository)
    other = PinTable(engine=pins.engine, artifacts=pins.artifacts[:-1])
    assert home_path(tmp_path, pins) != home_path(tmp_path, other)


def test_a_plugin_that_leaves_its_folder_is_refused(
    repository: Repository, store: ArtifactStore, tmp_path: Path
) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("../evil.jar", b"x")
    pins = PinTable(engine="9", artifacts=(repository.add("p", archive.getvalue(), "plugins/p", "zip"),))
    with pytest.raises(ArtifactCorrupt, match=r"\.\./evil\.jar"):
        ensure_home(tmp_path / "engine", store, pins)
    assert not list((tmp_path / "engine").rglob("evil.jar"))


def test_a_full_disk_is_said_before_anything_begins(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    with pytest.raises(NotEnoughDisk, match="MB of free disk") as caught:
        check_disk(tmp_path, free * 2, "run", "MAFTEACH_DATA_DIR")
    assert "MAFTEACH_DATA_DIR" in str(caught.value)


def test_the_committed_table_is_whole() -> None:
    pins = load_pins()
    assert all(len(pin.sha256) == 64 and pin.size > 0 and pin.places for pin in pins.artifacts)
    places = {place for pin in pins.artifacts for place in pin.places}
    assert {"lib", "agent", "plugins/opensearch-knn", "plugins/opensearch-neural-search"} <= places
    assert {f"modules/{module.name}" for module in MODULES} <= places
    in_lib = {pin.artifact for pin in pins.artifacts if "lib" in pin.places}
    in_modules = {pin.artifact for pin in pins.artifacts if any(place.startswith("modules/") for place in pin.places)}
    assert not in_lib & in_modules
