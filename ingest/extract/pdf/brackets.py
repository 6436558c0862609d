"""The drawn shape of brackets. A file may store a bracket as it is seen or as it is meant, and libraries mirror some.

So the ink is looked at: a shape that opens to the right, such as `(`, `[`, `{`, `<`, has its middle to the left of its
ends. Where there is no ink (the invisible text of a recognised page), brackets are put in order by their pairs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw
from numpy.typing import NDArray

from ingest.extract.pdf.bidi import MIRRORED, is_rtl
from ingest.extract.pdf.model import Glyph, Layer

OPEN_SHAPES: Final = frozenset("([{<«‹")
BRACKETS: Final = frozenset("()[]{}<>«»‹›")
# 144 dots an inch: a bracket of ten-point text is about 20 dots high and 6 wide.
SCALE: Final = 2.0
# A page of so many dots is a poster; its brackets are left as they are.
DOTS_MAX: Final = 30_000_000
# Share of the height at either end, and in the middle, that is compared; the least difference, in shares of the width.
ENDS_SHARE: Final = 0.2
MIDDLE_SHARE: Final = 0.3
DIFFERENCE_MIN: Final = 0.05
# Contrast below which there is nothing to be seen, of 255.
INK_MIN: Final = 40
QUARTER_TURN: Final = 90


def see_brackets(page: pdfium.PdfPage, layer: Layer) -> bool:
    """Give every bracket the character of its drawn shape, where the page has right-to-left letters.

    Returns:
        Whether all brackets were seen; False where some have no ink.
    """
    brackets = [glyph for glyph in layer.glyphs if glyph.text in BRACKETS]
    if not brackets or not any(is_rtl(glyph.text[0]) for glyph in layer.glyphs):
        return True
    width, height = page.get_size()
    if layer.frame.angle % QUARTER_TURN or width * height * SCALE**2 > DOTS_MAX:
        return False
    image = page.render(scale=SCALE, grayscale=True).to_numpy()
    image = image.reshape(image.shape[:2])
    turns = round((layer.frame.angle - page.get_rotation()) / QUARTER_TURN)
    seen = True
    for glyph in brackets:
        opens = _opens_right(np.rot90(_crop(page, image, glyph), -turns))
        if opens is None:
            seen = False
        elif opens != (glyph.text in OPEN_SHAPES):
            glyph.text = MIRRORED[glyph.text]
    return seen


def _crop(page: pdfium.PdfPage, image: NDArray[Any], glyph: Glyph) -> NDArray[Any]:
    height, width = image.shape
    left, bottom, right, top = glyph.box
    ends = []
    for x, y in ((left, bottom), (right, top)):
        device_x, device_y = raw.c_int(), raw.c_int()
        raw.FPDF_PageToDevice(page, 0, 0, width, height, 0, x, y, device_x, device_y)
        ends.append((device_x.value, device_y.value))
    (x0, y0), (x1, y1) = ends
    return image[max(0, min(y0, y1)) : max(y0, y1) + 1, max(0, min(x0, x1)) : max(x0, x1) + 1]


def _opens_right(crop: NDArray[Any]) -> bool | None:
    """Whether the shape opens to the right; None where it cannot be seen."""
    if crop.size == 0 or min(crop.shape) < 2 or int(crop.max()) - int(crop.min()) < INK_MIN:
        return None
    values = crop.astype(np.float64)
    ink = np.abs(values - np.median(np.concatenate([values[0], values[-1], values[:, 0], values[:, -1]])))
    rows = np.flatnonzero(ink.max(axis=1) > INK_MIN / 2)
    if len(rows) < 5:
        return None
    ink = ink[rows[0] : rows[-1] + 1]
    height, width = ink.shape
    ends = max(1, round(height * ENDS_SHARE))
    middle = max(1, round(height * MIDDLE_SHARE / 2))
    outer = _centre(np.concatenate([ink[:ends], ink[-ends:]]))
    inner = _centre(ink[height // 2 - middle : height // 2 + middle + 1])
    if abs(outer - inner) < DIFFERENCE_MIN * width:
        return None
    return bool(inner < outer)


def _centre(ink: NDArray[Any]) -> float:
    weights = ink.sum(axis=0)
    total = float(weights.sum())
    return float((weights * np.arange(len(weights))).sum()) / total if total else 0.0


def paired(text: str) -> str:
    """Round and square brackets of unknown shape, turned so that they pair: the first opens, the next one closes."""
    out = list(text)
    for pair in ("()", "[]", "{}"):
        places = [i for i, char in enumerate(text) if char in pair]
        if len(places) % 2 == 0 and not _balanced([text[i] for i in places], pair):
            for turn, i in enumerate(places):
                out[i] = pair[turn % 2]
    return "".join(out)


def _balanced(brackets: Iterable[str], pair: str) -> bool:
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket == pair[0] else -1
        if depth < 0:
            return False
    return depth == 0
