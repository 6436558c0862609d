"""Files that are broken, hostile or not what they say: each ends in its own error, quickly, and never in silence."""

from __future__ import annotations

import io
import random
import struct
import time
import zipfile
from collections.abc import Callable

import pytest

from ingest.extract.options import ExtractOptions
from ingest.extract.registry import extract
from search_config.errors import (
    BinaryDocument,
    DocumentError,
    EncryptedDocument,
    ExpansionTooLarge,
    ExtractionFailed,
    UnsupportedFormat,
)
from tests.unit.office_files import mail, open_document, part_of, presentation, repacked, word_contract, workbook

LIMIT = 50_000_000
MAKERS: dict[str, Callable[[], bytes]] = {
    "docx": word_contract,
    "pptx": presentation,
    "xlsx": lambda: workbook(lambda book: book.active.append(["שם", "סכום", 5])),
    "odt": open_document,
}


def read(data: bytes, name: str = "file", **limits: int) -> str:
    return extract(data, name=name, max_bytes=LIMIT, options=ExtractOptions(**limits)).text


def ended_well(data: bytes, name: str) -> bool:
    """Whether a file gave text, or an error of ours that says where and what to do; other errors are raised."""
    try:
        return bool(read(data, name))
    except DocumentError as error:
        return bool(error.where and error.remedy)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_cut_off(kind: str, share: float) -> None:
    data = MAKERS[kind]()
    with pytest.raises(ExtractionFailed, match="cut off or damaged") as raised:
        read(data[: int(len(data) * share)], f"a.{kind}")
    assert raised.value.where == f"a.{kind}"
    assert raised.value.remedy


def test_a_relationship_without_its_type() -> None:
    """The parser answers with an error of a tree of its own."""
    links = part_of(presentation(), "_rels/.rels").replace(b" Type=", b" Tipe=", 1)
    with pytest.raises(ExtractionFailed, match="damaged"):
        read(repacked(presentation(), {"_rels/.rels": links}), "file.pptx")


@pytest.mark.parametrize("kind", MAKERS)
def test_a_damaged_part_is_named(kind: str) -> None:
    data = bytearray(MAKERS[kind]())
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entry = max(archive.infolist(), key=lambda one: one.compress_size)
        start = entry.header_offset + 30 + len(entry.filename) + entry.compress_size // 2
    data[start] ^= 0xFF
    with pytest.raises(ExtractionFailed, match=entry.filename.replace("[", r"\[")):
        read(bytes(data))


@pytest.mark.parametrize("kind", MAKERS)
def test_behind_a_password(kind: str) -> None:
    """Zip's own encryption: the flag stands in the directory, the rest does not matter."""
    data = bytearray(MAKERS[kind]())
    at = data.rindex(b"PK\x01\x02")
    data[at + 8] |= 1
    with pytest.raises(EncryptedDocument, match="password"):
        read(bytes(data))


def test_an_encrypted_open_document() -> None:
    manifest = b'<manifest xmlns:m="x"><m:file-entry><m:encryption-data/></m:file-entry></manifest>'
    with pytest.raises(EncryptedDocument):
        read(repacked(open_document(), {"META-INF/manifest.xml": manifest}))


def test_a_bomb_is_refused_by_its_directory_before_it_is_unpacked() -> None:
    bomb = repacked(word_contract(), {"word/media/a.bin": bytes(300_000_000)})
    assert len(bomb) < 500_000
    started = time.perf_counter()
    with pytest.raises(ExpansionTooLarge, match="times its size"):
        read(bomb)
    assert time.perf_counter() - started < 1
    with pytest.raises(ExpansionTooLarge, match="more than 1,000,000 bytes"):
        read(repacked(word_contract(), {"a.bin": bytes(2_000_000)}), expanded_max_bytes=1_000_000)


def test_a_directory_that_lies_about_sizes() -> None:
    bomb = bytearray(repacked(word_contract(), {"word/media/a.bin": bytes(100_000_000)}))
    at = bomb.index(b"PK\x01\x02")
    while bomb[at + 46 : at + 46 + len(b"word/media/a.bin")] != b"word/media/a.bin":
        at = bomb.index(b"PK\x01\x02", at + 4)
    bomb[at + 24 : at + 28] = struct.pack("<I", 1_000)
    with pytest.raises(ExtractionFailed, match=r"a\.bin"):
        read(bytes(bomb))


def test_too_many_parts() -> None:
    many = repacked(word_contract(), {f"word/media/{i}.xml": b"" for i in range(50)})
    with pytest.raises(ExpansionTooLarge, match="parts; 20 are allowed"):
        read(many, archive_entries_max=20)


def test_entities_do_not_grow() -> None:
    """A billion laughs: entities of entities, in the XML of each format."""
    levels = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(9))
    head = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "ha">{levels}]>'
    for kind, part in (("docx", "word/document.xml"), ("odt", "content.xml"), ("xlsx", "xl/worksheets/sheet1.xml")):
        data = MAKERS[kind]()
        source = part_of(data, part).decode()
        body = source[source.index("?>") + 2 :] if source.startswith("<?xml") else source
        for old in ("הצדדים", "קורא רשום", "שם"):
            body = body.replace(old, "&l9;")
        started = time.perf_counter()
        try:
            text = read(repacked(data, {part: (head + body).encode()}))
        except DocumentError:
            text = ""
        assert len(text) < 10_000
        assert time.perf_counter() - started < 5


def test_files_that_are_not_what_they_say() -> None:
    assert "שם: 5" not in read("רק טקסט, לא גיליון".encode(), "a.xlsx")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as target:
        target.writestr("../../etc/cron.d/x", "* * * * * root true")
    with pytest.raises(BinaryDocument, match="ZIP archive"):
        read(archive.getvalue(), "a.docx")
    with pytest.raises(UnsupportedFormat, match="OpenDocument spreadsheet"):
        read(repacked(open_document(), {"mimetype": b"application/vnd.oasis.opendocument.spreadsheet"}))
    assert read(word_contract(), "a.pdf") == read(word_contract(), "a.docx")


def test_paths_in_an_archive_are_only_names() -> None:
    data = repacked(word_contract(), {"../../../tmp/mafteach-was-here": b"x", "/etc/passwd": b"x"})
    assert read(data) == read(word_contract())


def test_ten_thousand_nested_tags() -> None:
    page = "<html><body>" + "<div>" * 10_000 + "הפנימי ביותר" + "</div>" * 10_000 + "אחרי"
    assert read(page.encode()) == "הפנימי ביותר\n\nאחרי"


@pytest.mark.parametrize("kind", ["docx", "odt"])
def test_deep_nesting_in_a_document(kind: str) -> None:
    data = MAKERS[kind]()
    part, opened, closed = {
        "docx": ("word/document.xml", "<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"),
        "odt": ("content.xml", "<text:section>", "</text:section>"),
    }[kind]
    source = part_of(data, part).decode()
    at = source.index("<w:body>") + 8 if kind == "docx" else source.index(">", source.index("<office:text")) + 1
    deep = source[:at] + opened * 3_000 + closed * 3_000 + source[at:]
    assert ended_well(repacked(data, {part: deep.encode()}), f"a.{kind}")


def test_a_mail_of_nothing_but_boundaries() -> None:
    parts = "".join(f'Content-Type: multipart/mixed; boundary="b{i}"\r\n\r\n--b{i}\r\n' for i in range(300))
    data = b"From: a@b.c\r\nMessage-ID: <1@x>\r\n" + parts.encode()
    assert ended_well(data, "a.eml")


@pytest.mark.parametrize("kind", [*MAKERS, "eml"])
def test_flipped_bytes_end_in_a_document_or_in_an_error_of_ours(kind: str) -> None:
    data = mail(attachments=[("a.docx", word_contract())]).as_bytes() if kind == "eml" else MAKERS[kind]()
    random_ = random.Random(6)
    for _ in range(25):
        changed = bytearray(data)
        for _ in range(random_.randint(1, 8)):
            changed[random_.randrange(len(changed))] = random_.randrange(256)
        assert ended_well(bytes(changed), f"a.{kind}")
