"""Bytes to text: byte order marks, UTF-8, UTF-16, and the Hebrew code pages by evidence. Garbage is refused. Pure."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final

from ingest.extract.visual import order_of
from search_config.errors import BinaryDocument, DocumentError, UndecodableDocument

# Longest first: the mark of UTF-32-LE begins with that of UTF-16-LE.
BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# windows-1255 holds all that ISO-8859-8 does but for a few marks, so it is tried first.
HEBREW_CODE_PAGES: Final = ("windows-1255", "iso-8859-8")
VISUAL_NAMES: Final = frozenset({"iso-8859-8", "iso_8859-8", "iso8859-8", "visual"})
# Real Hebrew stands in words: this share of its letters has a Hebrew neighbour. Latin text in another code page
# (e.g. "café") turns into single Hebrew letters inside Latin words.
HEBREW_IN_WORDS_MIN: Final = 0.8
# Of the characters above ASCII, this share must be Hebrew letters, points or the punctuation of Hebrew texts.
HEBREW_SHARE_MIN: Final = 0.9
# Text has no control characters; a file of which more than this share is control characters is something else.
CONTROL_SHARE_MAX: Final = 0.01
# UTF-16 of Hebrew or Latin text holds a NUL for every space, digit and Latin letter, always on the same side.
UTF16_NUL_SHARE_MIN: Final = 0.02
# Of the letters in text taken for UTF-16 without a mark, this share must be Hebrew or Latin.
UTF16_KNOWN_LETTERS_MIN: Final = 0.9
# Punctuation that windows-1252 and windows-1255 have at the same place: an English text with these needs no Hebrew.
SHARED_PUNCTUATION: Final = "‚„…‘’“”•–—™\u00a0£§©«®°±·»"

_HEBREW_LETTER: Final = re.compile("[א-ת]")
_HEBREW_IN_WORD: Final = re.compile("(?:[א-ת][\u05b0-\u05c2\"'״׳־]*){2,}")
_HEBREW_TEXT: Final = re.compile(f"[א-ת\u05b0-\u05c3\u05be\u05f0-\u05f4₪\u200e\u200f{SHARED_PUNCTUATION}]")
_LATIN_OR_HEBREW: Final = re.compile("[A-Za-zא-ת]")
_LETTER: Final = re.compile(r"[^\W\d_]")
_ABOVE_ASCII: Final = re.compile("[^\x00-\x7f]")
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, and the encoding that it was read with.

    `visual` says that the text's Hebrew stands in visual order still: `visual.to_logical` turns its lines, once they
    are free of mark-up.
    """

    text: str
    encoding: str
    visual: bool = False


def decode(data: bytes, *, name: str, declared: str | None = None) -> Decoded:
    """Decode a file's bytes.

    Args:
        data: all bytes.
        name: the file's name, for errors.
        declared: an encoding that the document itself names; believed only where the bytes fit it.

    Raises:
        BinaryDocument: NUL bytes or control characters throughout.
        UndecodableDocument: no encoding fits.
    """
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _checked(_strict(data[len(mark) :], encoding, name), encoding, name)
    if b"\0" in data:
        return _without_mark(data, name)
    try:
        return _checked(data.decode("utf-8"), "utf-8", name)
    except UnicodeDecodeError as error:
        broken_at = error.start
    for encoding in _candidates(declared):
        text = _fitting(data, encoding)
        if text is not None and (_is_hebrew(text) or encoding == _plain(declared)):
            return _checked(text, encoding, name, visual=_is_visual(text, declared))
    text = _fitting(data, "windows-1252")
    if text is not None and set(_ABOVE_ASCII.findall(text)) <= set(SHARED_PUNCTUATION):
        return _checked(text, "windows-1252", name)
    raise UndecodableDocument(
        f"This is not text in UTF-8 (byte {broken_at} is broken), UTF-16, windows-1255 or ISO-8859-8.",
        where=name,
        remedy="Save it as UTF-8.",
    )


def report_of(decoded: Decoded) -> tuple[str, ...]:
    """What a person should know of the decoding; nothing for UTF-8."""
    order = ", in visual order" if decoded.visual else ""
    return () if decoded.encoding == "utf-8" and not order else (f"Decoded as {decoded.encoding}{order}.",)


def _plain(declared: str | None) -> str | None:
    """The codec of a declared encoding: the suffix that names the order of ISO-8859-8 (RFC 1556) is no part of it."""
    return None if declared is None else declared.lower().removesuffix("-i").removesuffix("-e")


def _is_visual(text: str, declared: str | None) -> bool:
    """Whether the Hebrew of a code page is in visual order: by its final letters; where none tells, as declared.

    ISO-8859-8 by itself means visual order, `-i` and `-e` say that it is not (RFC 1556); windows-1255 is logical.
    """
    order = order_of(text)
    return order if order is not None else (declared or "").lower() in VISUAL_NAMES


def _candidates(declared: str | None) -> list[str]:
    codec = _plain(declared)
    known = [] if codec is None or not _is_text_codec(codec) else [codec]
    return known + [page for page in HEBREW_CODE_PAGES if page not in known]


def _is_text_codec(encoding: str) -> bool:
    """Whether Python decodes bytes to text with it; codecs such as `hex` and `rot13` do other things."""
    try:
        return isinstance(b"a".decode(encoding), str)
    except (LookupError, UnicodeError):
        return False


def _fitting(data: bytes, encoding: str) -> str | None:
    try:
        text = data.decode(encoding)
    except UnicodeError:
        return None
    return None if _control_share(text) > CONTROL_SHARE_MAX else text


def _strict(data: bytes, encoding: str, name: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UndecodableDocument(
            f"Its byte order mark says {encoding}, but byte {error.start} does not fit.",
            where=name,
            remedy="Save it as UTF-8.",
        ) from error


def _without_mark(data: bytes, name: str) -> Decoded:
    """UTF-16 without a byte order mark, where NULs stand on one side only and known letters come out."""
    sides = {"utf-16-be": data[0::2].count(0), "utf-16-le": data[1::2].count(0)}
    for encoding, nuls in sides.items():
        if nuls != data.count(0) or nuls < UTF16_NUL_SHARE_MIN * len(data) / 2 or len(data) % 2:
            continue
        text = _fitting(data, encoding)
        letters = len(_LETTER.findall(text)) if text else 0
        if text and len(_LATIN_OR_HEBREW.findall(text)) >= max(1, UTF16_KNOWN_LETTERS_MIN * letters):
            return _checked(text, encoding, name)
    raise _binary("It holds NUL bytes", name)


def _is_hebrew(text: str) -> bool:
    letters = len(_HEBREW_LETTER.findall(text))
    above_ascii = len(_ABOVE_ASCII.findall(text))
    if not letters or len(_HEBREW_TEXT.findall(text)) < HEBREW_SHARE_MIN * above_ascii:
        return False
    in_words = sum(len(_HEBREW_LETTER.findall(word)) for word in _HEBREW_IN_WORD.findall(text))
    return in_words >= HEBREW_IN_WORDS_MIN * letters


def _control_share(text: str) -> float:
    return len(_CONTROL.findall(text)) / max(1, len(text))


def _checked(text: str, encoding: str, name: str, *, visual: bool = False) -> Decoded:
    if "\0" in text:
        raise _binary("It holds NUL characters", name)
    if _control_share(text) > CONTROL_SHARE_MAX:
        raise _binary("It is full of control characters", name)
    return Decoded(text, encoding, visual)


def _binary(why: str, name: str) -> DocumentError:
    return BinaryDocument(f"{why}: this is not a text file.", where=name, remedy="Convert it to text first.")
