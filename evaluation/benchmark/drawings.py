"""PDF files that take long to read and hold little text: pages of squared paper with a caption, as plans are drawn on.

Written by hand, with nothing but the format's own parts (ISO 32000-1, 7.5), so that a benchmark needs no other library.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evaluation.benchmark.samples import pdf_file

WIDTH, HEIGHT = 595, 842
# The grid's corner, and its extent to the right and upwards, in points; the caption stands above it.
_LEFT, _BOTTOM, _ACROSS, _UP = 50, 50, 480, 640
_CAPTION: Final = "BT /F1 10 Tf 50 {y} Td ({text}) Tj ET"
_TOP, _LINE = 800, 14
_FONT: Final = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def drawing(pages: Sequence[Sequence[str]], squares: int) -> bytes:
    """A PDF file.

    Args:
        pages: the lines of each one's caption; ASCII without brackets and backslashes.
        squares: of the grid on every page, in each direction.
    """
    content = [_page(lines, squares) for lines in pages]
    # Objects: 1 the catalogue, 2 the list of pages, 3 the font; then each page and what is on it.
    kids = b" ".join(b"%d 0 R" % (4 + 2 * place) for place in range(len(content)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(content)),
        _FONT,
    ]
    for place, stream in enumerate(content):
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Resources << /Font << /F1 3 0 R >> >> "
            b"/Contents %d 0 R >>" % (WIDTH, HEIGHT, 5 + 2 * place),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        ]
    return pdf_file(objects)


def _page(lines: Sequence[str], squares: int) -> bytes:
    right, top = _LEFT + _ACROSS, _BOTTOM + _UP
    rules = []
    for step in range(squares + 1):
        x, y = _LEFT + step * _ACROSS / squares, _BOTTOM + step * _UP / squares
        rules.append(f"{x:.2f} {_BOTTOM} m {x:.2f} {top} l S {_LEFT} {y:.2f} m {right} {y:.2f} l S")
    words = [_CAPTION.format(y=_TOP - place * _LINE, text=line) for place, line in enumerate(lines)]
    return "\n".join(rules + words).encode("ascii")
