"""A folder kept in step: real files, a real index, and the system's own notifications."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingest.mounts import Seen
from ingest.pipeline import Ingestor
from ingest.watch import FolderWatch, WatchEvent
from search_config.client import Engine
from search_config.errors import InvalidRequest
from search_config.install import IndexInfo
from search_config.settings import Settings
from tests.engine.rows import WordEmbedder
from tests.engine.workers import PATIENCE_S, WORDS, Start, chunks


class Counting(WordEmbedder):
    embedded = 0

    def embed_passages(self, texts):  # type: ignore[no-untyped-def]
        Counting.embedded += len(texts)
        return super().embed_passages(texts)


class Followed:
    """A folder, and who follows it."""

    def __init__(self, root: Path, ingestor: Ingestor, settings: Settings) -> None:
        self.root, self.ingestor, self.settings = root, ingestor, settings
        self.events: list[WatchEvent] = []

    def watch(self, root: Path | None = None) -> FolderWatch:
        return FolderWatch(
            self.ingestor,
            self.settings,
            root or self.root,
            tenant="a",
            on_event=self.events.append,
            look_s=0.2,
        )

    def names(self) -> dict[str, str]:
        """Documents by their path below the folder, with their ids."""
        self.ingestor.registry.refresh()
        base = f"{self.root.as_uri()}/"
        return {one.source.removeprefix(base): one.document_id for one in self.ingestor.registry.iterate("a")}

    def told(self, kind: str) -> int:
        return sum(event.kind == kind for event in self.events)


@pytest.fixture
def followed(start: Start, work_settings: Settings, tmp_path: Path) -> Followed:
    root = tmp_path / "שיתוף"
    root.mkdir()
    settings = work_settings.model_copy(update={"data_dir": tmp_path / "data"})
    return Followed(root, start(Counting(WORDS)), settings)


def put(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"תוכן של {name}", encoding="utf-8")


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.05)


@pytest.fixture
def running(followed: Followed) -> Iterator[Followed]:
    stop = threading.Event()
    put(followed.root, "first.txt", "second.txt", "third.txt", "תת/fourth.txt")
    thread = threading.Thread(target=followed.watch().run, args=(stop,))
    thread.start()
    until(lambda: len(followed.names()) == 4)
    yield followed
    stop.set()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_what_comes_changes_moves_and_goes(running: Followed, engine: Engine, work_index: IndexInfo) -> None:
    root = running.root
    put(root, "new.txt", ".hidden.txt", "עוד/deep/new.txt")
    until(lambda: {"new.txt", "%D7%A2%D7%95%D7%93/deep/new.txt"} <= running.names().keys())
    assert ".hidden.txt" not in running.names()

    (root / "new.txt").write_text("תוכן אחר לגמרי", encoding="utf-8")
    until(lambda: "תוכן אחר לגמרי" in chunks(engine, work_index))

    (root / "second.txt").rename(root / "renamed.txt")
    until(lambda: "renamed.txt" in running.names() and "second.txt" not in running.names())
    assert chunks(engine, work_index).count("תוכן של second.txt") == 1

    (root / "third.txt").unlink()
    until(lambda: "third.txt" not in running.names())
    assert "תוכן של third.txt" not in chunks(engine, work_index)

    shutil.rmtree(root / "עוד")
    until(lambda: len(running.names()) == 4)
    (root / "תת").rename(root / "אחר")
    until(lambda: "%D7%90%D7%97%D7%A8/fourth.txt" in running.names() and len(running.names()) == 4)
    assert sorted(chunks(engine, work_index)) == sorted(
        ["תוכן אחר לגמרי", "תוכן של first.txt", "תוכן של second.txt", "תוכן של תת/fourth.txt"]
    )


def test_a_share_that_goes_away_takes_no_document_with_it(running: Followed) -> None:
    root, before = running.root, running.names()
    root.rename(root.with_name("elsewhere"))
    until(lambda: running.told("paused") == 1)
    root.mkdir()  # what is left of a share that is not mounted: its empty place
    until(lambda: running.told("paused") == 2)
    assert running.names() == before
    root.rmdir()
    root.with_name("elsewhere").rename(root)
    until(lambda: running.told("resumed") >= 1)
    (root / "first.txt").unlink()
    # Told after it is done: the row may be gone a moment before.
    until(lambda: running.told("deleted") == 1)
    assert "first.txt" not in running.names()


def test_after_a_restart_only_what_changed_is_ingested(followed: Followed) -> None:
    put(followed.root, *(f"{i}.txt" for i in range(5)))
    assert followed.watch().synchronise()
    before, embedded = followed.names(), Counting.embedded
    assert followed.watch().synchronise()
    assert Counting.embedded == embedded
    # While nobody watched: one changed, one came, one moved, one went.
    (followed.root / "0.txt").write_text("אחר", encoding="utf-8")
    put(followed.root, "came.txt")
    (followed.root / "1.txt").rename(followed.root / "moved.txt")
    (followed.root / "2.txt").unlink()
    assert followed.watch().synchronise()
    assert Counting.embedded == embedded + 3
    after = followed.names()
    assert after.keys() == {"0.txt", "3.txt", "4.txt", "came.txt", "moved.txt"}
    assert after["0.txt"] == before["0.txt"]


def test_an_emptied_or_missing_folder_deletes_nothing(followed: Followed) -> None:
    put(followed.root, *(f"{i}.txt" for i in range(5)))
    followed.watch().synchronise()
    before = followed.names()
    for path in followed.root.iterdir():
        path.rename(followed.root.with_name(path.name))
    assert followed.watch().synchronise() is False
    # Kept, so that its inode is not given to the next one.
    followed.root.rename(followed.root.with_name("kept"))
    assert followed.watch().synchronise() is False
    assert followed.names() == before
    assert [event.kind for event in followed.events if event.kind != "ready"] == ["paused", "paused"]
    # Another folder in its place, with a file of its own: most of what was known is not there.
    followed.root.mkdir()
    put(followed.root, "other.txt")
    assert followed.watch().synchronise() is False
    assert followed.names() == before


def test_the_last_file_of_a_small_folder_may_go(followed: Followed) -> None:
    put(followed.root, "only.txt")
    followed.watch().synchronise()
    (followed.root / "only.txt").unlink()
    assert followed.watch().synchronise()
    assert followed.names() == {}


def test_a_file_system_inside_the_folder_that_is_not_mounted_keeps_its_documents(followed: Followed) -> None:
    put(followed.root, "mounted/1.txt", "mounted/2.txt", "own.txt", "other.txt")
    watch = followed.watch()
    watch.synchronise()
    # As if `mounted` had been a place where a share was mounted: no test can mount one without being root.
    memory = watch._memory
    memory.seen = Seen(root=memory.seen.root, identity=memory.seen.identity, mounts=(str(followed.root / "mounted"),))
    before = followed.names()
    for path in (followed.root / "mounted").iterdir():
        path.unlink()
    (followed.root / "own.txt").unlink()
    watch.synchronise()
    watch.synchronise()
    assert followed.names().keys() == before.keys() - {"own.txt"}
    assert followed.told("paused") == 1


def test_a_file_cannot_be_watched(followed: Followed) -> None:
    put(followed.root, "one.txt")
    with pytest.raises(InvalidRequest):
        followed.watch(followed.root / "one.txt")
