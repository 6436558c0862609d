"""PDF: glyphs by their boxes, lines and columns by the eye's rules, reading order by the bidi algorithm."""

from ingest.extract.pdf.extractor import extract_pdf

__all__ = ["extract_pdf"]
