"""What the steps hand on: glyphs, words, rows, rules. Lengths are PDF points; y grows downward from the page's top."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(slots=True)
class Glyph:
    """One drawn character with the marks on it, upright: text that is turned on its page is turned back.

    Attributes:
        text: the base character and its marks, or a ligature's letters.
        x0, x1: left and right end of its advance.
        y: baseline.
        size: font size as drawn.
        bold: drawn in a bold face.
        font: tells the fonts of a page apart.
        drawn_by: number of the drawing operation; glyphs of one operation were one string.
        order: place in the page's own list.
        confidence: of recognition, None for text that was never a picture.
        leftward: drawn as a string that runs leftward whatever its letters, as recognised Hebrew is.
        box: left, bottom, right, top in the file's own coordinates.
    """

    text: str
    x0: float
    x1: float
    y: float
    size: float
    bold: bool = False
    font: int = 0
    drawn_by: int = 0
    order: int = 0
    confidence: float | None = None
    leftward: bool = False
    box: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


@dataclass(slots=True)
class Word:
    """Glyphs of one row, left to right, without white space between.

    Attributes:
        blank_by: drew the blank on its left, if any.
        apart: whether the gap on its left is no blank; None where nothing tells.
    """

    glyphs: list[Glyph]
    blank_by: int = -1
    apart: bool | None = None

    @property
    def x0(self) -> float:
        return self.glyphs[0].x0

    @property
    def x1(self) -> float:
        return max(glyph.x1 for glyph in self.glyphs[-2:])

    @property
    def y(self) -> float:
        return self.glyphs[0].y

    @property
    def size(self) -> float:
        return max(glyph.size for glyph in self.glyphs)

    @property
    def text(self) -> str:
        """As it is seen, left to right."""
        return "".join(glyph.text for glyph in self.glyphs)


@dataclass(slots=True)
class Stretch:
    """Words beside each other, left to right."""

    words: list[Word]

    @property
    def x0(self) -> float:
        return self.words[0].x0

    @property
    def x1(self) -> float:
        return max(word.x1 for word in self.words)

    @property
    def y(self) -> float:
        return self.words[0].y


@dataclass(slots=True)
class Row(Stretch):
    """Words on one baseline."""

    @property
    def size(self) -> float:
        """The size of most of its glyphs."""
        sizes: dict[float, int] = {}
        for word in self.words:
            for glyph in word.glyphs:
                sizes[glyph.size] = sizes.get(glyph.size, 0) + 1
        return max(sizes, key=lambda size: (sizes[size], size))

    @property
    def bold(self) -> bool:
        """Whether nearly all of it is bold."""
        glyphs = [glyph for word in self.words for glyph in word.glyphs]
        return sum(glyph.bold for glyph in glyphs) > 0.9 * len(glyphs)

    @property
    def text(self) -> str:
        """As it is seen, left to right."""
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class Rule:
    """A drawn line: horizontal where y0 == y1, else vertical."""

    x0: float
    y0: float
    x1: float
    y1: float


class Frame:
    """Upright coordinates of a page, or of text that runs at an angle on it: x to the right, y down, from its corner.

    Args:
        angle: degrees by which the text is turned against the clock in the file's own coordinates.
        box: left, bottom, right, top of the page in those.
    """

    __slots__ = ("_cos", "_left", "_sin", "_top", "angle", "box", "height", "width")

    def __init__(self, angle: int, box: tuple[float, float, float, float]) -> None:
        self.angle, self.box = angle, box
        self._cos, self._sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        left, bottom, right, top = box
        corners = [self._turned(x, y) for x in (left, right) for y in (bottom, top)]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        self._left, self._top = min(xs), max(ys)
        # A damaged page may have no extent; a point keeps shares of it defined.
        self.width, self.height = max(1.0, max(xs) - min(xs)), max(1.0, max(ys) - min(ys))

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the file's coordinates stands."""
        turned_x, turned_y = self._turned(x, y)
        return turned_x - self._left, self._top - turned_y

    def _turned(self, x: float, y: float) -> tuple[float, float]:
        if not self.angle:
            return x, y
        return x * self._cos + y * self._sin, y * self._cos - x * self._sin


@dataclass(slots=True)
class Layer:
    """The text of a page that runs in one direction; nearly every page has one."""

    frame: Frame
    glyphs: list[Glyph]


@dataclass(slots=True)
class RawPage:
    """A page as it was read.

    Attributes:
        number: from 1.
        layers: the one with most glyphs first.
        rules: drawn lines, in the frame of the first layer.
        unmapped: characters that the file gives no letters for.
        pictures: share of the page that pictures cover.
        drawn: whether anything is drawn on it.
    """

    number: int
    layers: list[Layer] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    unmapped: int = 0
    pictures: float = 0.0
    drawn: bool = False

    @property
    def characters(self) -> int:
        """Characters that have letters, white space not counted."""
        return sum(not glyph.text.isspace() for layer in self.layers for glyph in layer.glyphs)
