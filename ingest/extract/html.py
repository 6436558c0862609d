"""HTML: headings, paragraphs, lists, tables row by row. What a reader does not see is dropped.

The tree is walked step by step, never by recursion, so that depth costs nothing. libxml2 stops at 2,048 nested
elements and would lose the rest in silence: such a page is flattened first, and the report says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from lxml import etree

from ingest.extract.base import ExtractedDocument
from ingest.extract.builder import TextBuilder, one_line
from ingest.extract.canonical import canonicalise
from ingest.extract.decode import decode, report_of
from ingest.extract.detect import HTML
from ingest.extract.html_walk import HtmlWalk
from ingest.extract.visual import to_logical
from search_config.errors import ExtractionFailed

# HTML requires the charset within the first 1,024 bytes.
CHARSET_WITHIN_BYTES: Final = 1_024
# <meta name> to the name of our metadata.
META_NAMES: Final = {
    "date": "date",
    "dcterms.date": "date",
    "keywords": "tags",
    "type": "type",
    "dcterms.type": "type",
    "reference": "reference",
    "dcterms.identifier": "reference",
}

_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]+)", re.I)
_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)\b[^<>]*>")
# Flattening keeps the tags that decide what is read and what is a heading; other blocks become paragraphs, which do not
# nest, and inline tags go.
_KEPT_FLAT: Final = frozenset(
    [
        "html",
        "head",
        "body",
        "title",
        "script",
        "style",
        "template",
        "noscript",
        "nav",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "meta",
    ]
)
_INLINE_FLAT: Final = frozenset(
    [
        "a",
        "abbr",
        "b",
        "bdi",
        "bdo",
        "cite",
        "code",
        "em",
        "font",
        "i",
        "mark",
        "q",
        "s",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "u",
    ]
)


def extract_html(data: bytes, *, name: str) -> ExtractedDocument:
    """Extract an HTML page.

    Raises:
        BinaryDocument, UndecodableDocument
        ExtractionFailed: nested too deeply even when flattened.
    """
    decoded = decode(data, name=name, declared=declared_charset(data))
    notes = list(report_of(decoded))
    root, flattened = _tree(decoded.text, name)
    if flattened:
        notes.append("Elements are nested too deeply; the page was read flat.")
    builder = TextBuilder()
    walk = HtmlWalk(builder, visual=decoded.visual)
    if root is not None:
        walk.read(root)
    text, blocks = builder.build()
    title = (to_logical(_title(root)) if decoded.visual else _title(root)) or walk.first_heading or PurePath(name).stem
    return ExtractedDocument(
        text=text, title=title, blocks=blocks, media_type=HTML, metadata=_metadata(root), report=tuple(notes)
    )


def add_fragment(builder: TextBuilder, source: str, *, name: str) -> None:
    """Add the readable text of a piece of HTML, such as stands inside Markdown.

    Raises:
        ExtractionFailed: nested too deeply.
    """
    root, _ = _tree(source, name)
    if root is not None:
        HtmlWalk(builder).read(root)


def declared_charset(data: bytes) -> str | None:
    """The charset that a page's own `<meta>` names, in lower case; None where it names none."""
    found = _CHARSET.search(data[:CHARSET_WITHIN_BYTES])
    if found is None:
        return None
    return found[1].decode("ascii").lower()


def _tree(source: str, name: str) -> tuple[etree._Element | None, bool]:
    """The tree (None where there is nothing), and whether the source had to be flattened."""
    root, complete = _parse(source)
    if complete:
        return root, False
    root, complete = _parse(_TAG.sub(_flat, source))
    if not complete:
        raise ExtractionFailed(
            "Its elements are nested too deeply.", where=name, remedy="Save the page as text, or mend its mark-up."
        )
    return root, True


def _parse(source: str) -> tuple[etree._Element | None, bool]:
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, recover=True, remove_comments=True, remove_pis=True)
    # Lone surrogates cannot come out of decoding; NULs were refused there.
    try:
        root = etree.fromstring(source.encode(), parser)
    except etree.XMLSyntaxError:  # nothing in it but comments or blanks
        return None, True
    too_deep = any(entry.level == etree.ErrorLevels.FATAL for entry in parser.error_log)
    return root, not too_deep


def _flat(tag: re.Match[str]) -> str:
    element = tag[2].lower()
    if element in _KEPT_FLAT:
        return tag[0]
    return "" if element in _INLINE_FLAT else "<p>"


def _title(root: etree._Element | None) -> str:
    found = None if root is None else next(root.iter("title"), None)
    return "" if found is None else one_line(canonicalise(found.text or ""))


def _metadata(root: etree._Element | None) -> dict[str, str]:
    return {} if root is None else dict(_meta_values(root))


def _meta_values(root: etree._Element) -> Iterator[tuple[str, str]]:
    language = root.get("lang")
    if language:
        yield "language", language
    for meta in root.iter("meta"):
        name = META_NAMES.get((meta.get("name") or "").lower())
        content = meta.get("content")
        if name and content:
            yield name, content
