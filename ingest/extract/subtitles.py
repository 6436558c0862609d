"""SRT and WebVTT: cues joined to passages of a few sentences, each with its seconds."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from ingest.extract.base import BlockKind, ExtractedDocument
from ingest.extract.builder import Place, TextBuilder, one_line
from ingest.extract.canonical import canonicalise
from ingest.extract.decode import decode, report_of
from ingest.extract.foreign import parsing
from ingest.extract.kinds import SRT, VTT
from ingest.extract.options import ExtractOptions
from ingest.extract.visual import to_logical

# A passage ends at a sentence's end beyond this length, so that its seconds open near the words.
PASSAGE_CHARS: Final = 200
# Speech without sentence ends (as recognisers write it) is parted all the same.
PASSAGE_CHARS_MAX: Final = 400
# A pause this long, in seconds, parts what is said.
PAUSE_S: Final = 3.0

_TAG: Final = re.compile(r"<[^<>]{0,200}>|\{\\[^{}]{0,100}\}")
_SPEAKER: Final = re.compile(r"<v(?:\.[^\s>]*)?\s+([^<>]{1,100})>")
_SENTENCE_END: Final = re.compile(r"[.!?…][\"'”’)\]]*$")


@dataclass(frozen=True, slots=True)
class Cue:
    """One cue: when it is shown, in seconds, and what it says, without mark-up."""

    start_s: float
    end_s: float
    text: str


def extract_srt(data: bytes, *, name: str, options: ExtractOptions) -> ExtractedDocument:  # noqa: ARG001
    """Extract SubRip subtitles.

    Raises:
        BinaryDocument, UndecodableDocument, ExtractionFailed
    """
    import srt

    decoded = decode(data, name=name)
    source = canonicalise(decoded.text)
    with parsing("SRT", name):
        found = [
            Cue(one.start.total_seconds(), one.end.total_seconds(), _in_order(one.content, visual=decoded.visual))
            for one in srt.parse(source, ignore_errors=True)
        ]
    return _document(found, name, SRT, report_of(decoded))


def extract_vtt(data: bytes, *, name: str, options: ExtractOptions) -> ExtractedDocument:  # noqa: ARG001
    """Extract WebVTT captions.

    Raises:
        BinaryDocument, UndecodableDocument, ExtractionFailed
    """
    import webvtt
    from webvtt.errors import MalformedCaptionError, MalformedFileError

    decoded = decode(data, name=name)
    source = canonicalise(decoded.text)
    with parsing("WebVTT", name, MalformedCaptionError, MalformedFileError):
        captions = webvtt.from_buffer(io.StringIO(source))
        found = [Cue(one.start_in_seconds, one.end_in_seconds, one.raw_text) for one in captions.captions]
    return _document(found, name, VTT, report_of(decoded))


def _in_order(text: str, *, visual: bool) -> str:
    return to_logical(text) if visual else text


def _document(cues: Sequence[Cue], name: str, media_type: str, report: tuple[str, ...]) -> ExtractedDocument:
    builder = TextBuilder()
    for passage in _passages([_readable(cue) for cue in cues]):
        # Cues that end before they begin are typing errors; the passage then opens where it begins.
        end = max(passage[0].start_s, *(cue.end_s for cue in passage))
        builder.add(
            BlockKind.PARAGRAPH,
            " ".join(cue.text for cue in passage),
            place=Place(start_s=passage[0].start_s, end_s=end),
        )
    text, blocks = builder.build()
    return ExtractedDocument(text=text, title=PurePath(name).stem, blocks=blocks, media_type=media_type, report=report)


def _readable(cue: Cue) -> Cue:
    speaker = _SPEAKER.search(cue.text)
    said = one_line(html.unescape(_TAG.sub("", cue.text)))
    named = f"{one_line(html.unescape(speaker[1]))}: {said}" if speaker and said else said
    return Cue(cue.start_s, cue.end_s, named)


def _passages(cues: Sequence[Cue]) -> Iterator[list[Cue]]:
    """Cues that belong together: up to a sentence's end, a pause, or the longest passage."""
    passage: list[Cue] = []
    length = 0
    for cue in cues:
        if not cue.text:
            continue
        if passage and (cue.start_s - passage[-1].end_s > PAUSE_S or length + len(cue.text) > PASSAGE_CHARS_MAX):
            yield passage
            passage, length = [], 0
        passage.append(cue)
        length += len(cue.text) + 1
        if length > PASSAGE_CHARS and _SENTENCE_END.search(cue.text):
            yield passage
            passage, length = [], 0
    if passage:
        yield passage
