"""Where bytes of documents lie: uploads in the spool, files in their place; and folders out of sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.spool import Spool, path_of
from search_config.errors import SourceGone, UnreadableDocument
from search_config.records import folder_of
from search_config.settings import Settings

ID = "0123456789abcdef01234567"


def spool(folder: Path) -> Spool:
    return Spool(Settings(_env_file=None, spool_dir=folder))


def test_an_upload_is_kept_under_its_document_and_content(tmp_path: Path) -> None:
    kept = spool(tmp_path)
    first, second = kept.keep(ID, b"one"), kept.keep(ID, b"two")
    assert first != second
    assert kept.keep(ID, b"one") == first
    assert (kept.read(first, name="x"), kept.read(second, name="x")) == (b"one", b"two")
    other = kept.keep(f"{ID[:-1]}8", b"one")
    kept.drop(ID, but=second)
    assert kept.read(second, name="x") == b"two"
    with pytest.raises(SourceGone, match="not in the spool"):
        kept.read(first, name="x")
    kept.drop(ID)
    assert kept.read(other, name="x") == b"one"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [other.rpartition("/")[2]]


def test_what_was_never_kept_and_what_is_gone_say_so(tmp_path: Path) -> None:
    kept = spool(tmp_path)
    with pytest.raises(SourceGone, match="not kept"):
        kept.read(None, name="x")
    with pytest.raises(SourceGone, match="not kept"):
        kept.read("an-id-of-the-sender", name="x")
    with pytest.raises(SourceGone, match="file is not there"):
        kept.read((tmp_path / "gone.txt").as_uri(), name="x")
    with pytest.raises(UnreadableDocument, match="not a regular file"):
        kept.read(tmp_path.as_uri(), name="x")


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UnreadableDocument, match="MAFTEACH_SPOOL_DIR"):
        spool(tmp_path / "file").keep(ID, b"x")


def test_paths_of_sources(tmp_path: Path) -> None:
    odd = tmp_path / "חוזה 50% #1.txt"
    assert path_of(odd.as_uri()) == odd
    assert path_of("https://x.example/a.txt") is None
    assert path_of("uploads/a.txt") is None


@pytest.mark.parametrize(
    ("source", "folder"),
    [
        ("file:///a/b/c.txt", "/a/b"),
        ("file:///c.txt", "/"),
        ("file:///%D7%90/c%20d.txt", "/א"),
        ("uploads/2024/x.pdf", "uploads/2024"),
        ("x.pdf", ""),
        ("", ""),
    ],
)
def test_folders_of_sources(source: str, folder: str) -> None:
    assert folder_of(source) == folder
