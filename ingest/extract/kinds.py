"""Media types that are read, by their names and by the file endings that go with them."""

from __future__ import annotations

from typing import Final

PLAIN: Final = "text/plain"
MARKDOWN: Final = "text/markdown"
HTML: Final = "text/html"
CSV: Final = "text/csv"
TSV: Final = "text/tab-separated-values"
PDF: Final = "application/pdf"
DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ODT: Final = "application/vnd.oasis.opendocument.text"
EML: Final = "message/rfc822"
SRT: Final = "application/x-subrip"
VTT: Final = "text/vtt"

BY_SUFFIX: Final = {
    "": PLAIN,
    ".txt": PLAIN,
    ".text": PLAIN,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".csv": CSV,
    ".tsv": TSV,
    ".tab": TSV,
    ".pdf": PDF,
    ".docx": DOCX,
    ".docm": DOCX,
    ".dotx": DOCX,
    ".pptx": PPTX,
    ".pptm": PPTX,
    ".ppsx": PPTX,
    ".xlsx": XLSX,
    ".xlsm": XLSX,
    ".odt": ODT,
    ".eml": EML,
    ".srt": SRT,
    ".vtt": VTT,
}
# Kinds that are text without a mark of their own: where content does not tell, the name decides between them.
TEXT_KINDS: Final = frozenset({PLAIN, MARKDOWN, HTML, CSV, TSV})
SUPPORTED: Final = ".pdf, .docx, .pptx, .xlsx, .odt, .csv, .html, .md, .txt, .eml, .srt and .vtt"
