"""CSV, TSV, SRT and WebVTT."""

from __future__ import annotations

import pytest

from ingest.chunking import ChunkingSpec, chunk_document
from ingest.extract.base import ExtractedDocument
from ingest.extract.options import ExtractOptions
from ingest.extract.registry import extract
from search_config.errors import ExpansionTooLarge
from search_config.locators import fragment
from tests.unit.counters import NO_LIMIT
from tests.unit.office_files import SRT, VTT

LIMIT = 50_000_000


def read(data: bytes, name: str, **limits: int) -> ExtractedDocument:
    return extract(data, name=name, max_bytes=LIMIT, options=ExtractOptions(**limits))


def lines(document: ExtractedDocument) -> list[str]:
    return [document.text[block.locator.from_ : block.locator.to] for block in document.blocks]


ROWS = 'שם{0}סכום{0}תאריך\r\nדנה{0}"1,200"{0}15/2/24\r\nיוסי{0}300{0}1/3/24\r\n'
READ = ["שם: דנה | סכום: 1,200 | תאריך: 15/2/24", "שם: יוסי | סכום: 300 | תאריך: 1/3/24"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "windows-1255", "utf-16", "utf-16-le"])
def test_every_separator_in_every_encoding(separator: str, encoding: str) -> None:
    document = read(ROWS.format(separator).encode(encoding), "טבלה.csv")
    assert lines(document) == READ
    assert [block.locator.cells for block in document.blocks] == ["A2:C2", "A3:C3"]
    assert document.media_type == ("text/tab-separated-values" if separator == "\t" else "text/csv")


def test_excels_own_line_names_the_separator() -> None:
    document = read(b"sep=;\r\na,b;c;d\r\n1,5;2;3\r\n", "t.csv")
    assert lines(document) == ["a,b: 1,5 | c: 2 | d: 3"]
    assert fragment(document.blocks[0].locator, document.media_type) == "#cell=3,1-3,3"


def test_cells_with_line_ends_and_a_quotation_mark_that_is_never_closed() -> None:
    assert lines(read('שם,הערה,סך\nדנה,"שורה\nועוד",5\n'.encode(), "t.csv")) == ["שם: דנה | הערה: שורה ועוד | סך: 5"]
    assert "אחרון" in read('שם,הערה,סך\nדנה,"פתוח,5\nאחרון,ב,6\n'.encode(), "t.csv").text


def test_one_column_is_a_list() -> None:
    assert lines(read("חיפה\nעכו\nלוד\n".encode(), "t.csv")) == ["חיפה", "עכו", "לוד"]


def test_too_many_cells() -> None:
    with pytest.raises(ExpansionTooLarge, match="1,000 cells"):
        read(b"a,b\n" * 600, "t.csv", sheet_cells_max=1_000)


def test_subtitles_are_joined_to_passages_with_their_seconds() -> None:
    document = read(SRT.encode(), "film.txt")
    assert lines(document) == ["שלום לכולם. היום נדבר על התקציב.", "סוף הדברים."]
    assert [(block.locator.start_s, block.locator.end_s) for block in document.blocks] == [(1.0, 9.25), (65.0, 69.0)]
    chunk = chunk_document(document, ChunkingSpec(strategy="E", target=500, window=10_000), NO_LIMIT)[0]
    assert chunk.locator.label == "00:00:01"
    assert fragment(chunk.locator, document.media_type) == "#t=1,69"


def test_captions_name_their_speaker() -> None:
    document = read(VTT.encode(), "film.vtt")
    assert lines(document) == ["Dana: Hello & welcome.", "The budget comes first."]
    assert document.blocks[1].locator.start_s == 12.0


def test_speech_without_sentence_ends_is_parted() -> None:
    cues = "".join(
        f"{i + 1}\n00:00:{i:02d},000 --> 00:00:{i:02d},900\nמילים שנאמרו ברצף בלי סוף\n\n" for i in range(50)
    )
    document = read(cues.encode(), "film.srt")
    assert len(document.blocks) > 2
    assert max(map(len, lines(document))) <= 400
