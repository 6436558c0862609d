"""Places in an original file: the fragment of a URL that opens them, and the words that a person reads. Pure.

Fragments, by what the locator holds:

    page            #page=7                            RFC 8118 (PDF)
    slide           #slide=3
    sheet, cells    #sheet=<name>&range=B4:C9          the name percent-encoded
    cells of a CSV  #cell=4,1-9,3                      RFC 7111 (first row, column - last row, column)
    seconds         #t=65,80.5                         Media Fragments URI 1.0
    nothing else    #char=120,340                      RFC 5147, into the canonical text

A place in a mail's attachment has `attachment=<name>&` in front.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from search_config.language import TextLanguage
from search_config.records import Locator

CSV_MEDIA_TYPES: Final = frozenset({"text/csv", "text/tab-separated-values"})
SECONDS_PER_MINUTE: Final = 60
SECONDS_PER_HOUR: Final = 3_600
LETTERS: Final = 26

_CELLS: Final = re.compile(r"([A-Z]+)([0-9]+)(?::([A-Z]+)([0-9]+))?")

Box = tuple[int, int, int, int]
"""First column, first row, last column, last row; all count from 1, and all are inclusive."""


def fragment(locator: Locator, media_type: str) -> str:
    """The URL fragment that opens the place, with its `#`.

    Args:
        locator: the place.
        media_type: of the original.
    """
    return (
        "#"
        + (f"attachment={quote(locator.attachment, safe='')}&" if locator.attachment else "")
        + _place(locator, media_type)
    )


def _place(locator: Locator, media_type: str) -> str:
    if locator.page is not None:
        return f"page={locator.page}"
    if locator.slide is not None:
        return f"slide={locator.slide}"
    if locator.sheet is not None:
        cells = f"&range={locator.cells}" if locator.cells else ""
        return f"sheet={quote(locator.sheet, safe='')}{cells}"
    if locator.cells and (box := cells_box(locator.cells)) is not None and media_type in CSV_MEDIA_TYPES:
        return f"cell={box[1]},{box[0]}-{box[3]},{box[2]}"
    if locator.start_s is not None:
        end = "" if locator.end_s is None else f",{_number(locator.end_s)}"
        return f"t={_number(locator.start_s)}{end}"
    return f"char={locator.from_},{locator.to}"


def locator_label(locator: Locator, language: TextLanguage) -> str:
    """The place in words: Hebrew for a Hebrew document, English for any other."""
    if locator.attachment and not _has_place(locator):
        return locator.attachment  # characters are those of the mail, which nobody counts in an attachment
    place = _label(locator, hebrew=language == "he")
    return f"{locator.attachment}, {place}" if locator.attachment else place


def _has_place(locator: Locator) -> bool:
    """Whether the original has a place of its own for it, beside its characters."""
    return (locator.page, locator.slide, locator.sheet, locator.cells, locator.start_s) != (None,) * 5


def passage_label(places: Sequence[Locator], merged: Locator, language: TextLanguage) -> str:
    """The label of a passage: one place, the pages from the first to the last, or the first place and the last one.

    Args:
        places: of its parts, in reading order, at least one.
        merged: what `spanning` made of them.
        language: the document's.
    """
    first, last = places[0], places[-1]
    if not same_container(first, last):
        end = spanning([place for place in places if same_container(place, last)], merged.from_, merged.to)
        return f"{locator_label(merged, language)} – {locator_label(end, language)}"
    if first.page is not None and last.page is not None and last.page > first.page:
        pages = f"{'עמודים' if language == 'he' else 'pages'} {first.page}–{last.page}"
        return f"{merged.attachment}, {pages}" if merged.attachment else pages
    return locator_label(merged, language)


def _label(locator: Locator, *, hebrew: bool) -> str:
    if locator.page is not None:
        return f"{'עמוד' if hebrew else 'page'} {locator.page}"
    if locator.slide is not None:
        return f"{'שקופית' if hebrew else 'slide'} {locator.slide}"
    if locator.sheet is not None:
        name = f"{'גיליון' if hebrew else 'sheet'} {locator.sheet}"
        return f"{name}, {locator.cells}" if locator.cells else name
    if locator.cells and (box := cells_box(locator.cells)) is not None:
        return _rows(box[1], box[3], hebrew=hebrew)
    if locator.start_s is not None:
        return clock(locator.start_s)
    return f"{'תווים' if hebrew else 'characters'} {locator.from_}–{locator.to}"


def _rows(first: int, last: int, *, hebrew: bool) -> str:
    if first == last:
        return f"{'שורה' if hebrew else 'row'} {first}"
    return f"{'שורות' if hebrew else 'rows'} {first}–{last}"


def clock(seconds: float) -> str:
    """`00:01:05` for 65.4 seconds: whole seconds, never rounded up past the words."""
    whole = int(seconds)
    minutes, second = divmod(whole, SECONDS_PER_MINUTE)
    hour, minute = divmod(minutes, SECONDS_PER_HOUR // SECONDS_PER_MINUTE)
    return f"{hour:02d}:{minute:02d}:{second:02d}"


def _number(seconds: float) -> str:
    return f"{seconds:.3f}".rstrip("0").rstrip(".")


def cells_box(cells: str) -> Box | None:
    """The box of `B4` or `B4:C9`; None where this is no such range."""
    found = _CELLS.fullmatch(cells)
    if found is None:
        return None
    first, last = _column(found[1]), _column(found[3] or found[1])
    return first, int(found[2]), last, int(found[4] or found[2])


def box_cells(box: Box) -> str:
    """`B4:C9` for a box, `B4` for a box of one cell."""
    first, last = f"{column_letters(box[0])}{box[1]}", f"{column_letters(box[2])}{box[3]}"
    return first if first == last else f"{first}:{last}"


def column_letters(column: int) -> str:
    """`A` for 1, `Z` for 26, `AA` for 27."""
    letters = ""
    while column > 0:
        column, letter = divmod(column - 1, LETTERS)
        letters = chr(ord("A") + letter) + letters
    return letters


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * LETTERS + ord(letter) - ord("A") + 1
    return number


def same_container(one: Locator, other: Locator) -> bool:
    """Whether two places may share a passage: one page, one slide, one sheet, one attachment.

    A paragraph that runs on to the next page is cut there: a link to a page has to open at every word that is quoted.
    """
    mine = (one.page, one.slide, one.sheet, one.attachment)
    return mine == (other.page, other.slide, other.sheet, other.attachment)


def spanning(places: Sequence[Locator], start: int, end: int) -> Locator:
    """The locator of a passage, `text[start:end]`, out of the places of its parts, in reading order; no label yet.

    The passage opens where it begins: page, slide, sheet and attachment are the first part's. Cells are the smallest
    range around all cells of that sheet, seconds run from the first part's start to the last one's end.

    Args:
        places: at least one.
        start: first character of the passage.
        end: behind its last one.
    """
    first = places[0]
    near = [place for place in places if same_container(place, first)]
    boxes = [box for place in near if place.cells and (box := cells_box(place.cells)) is not None]
    cells = first.cells
    if boxes:
        lefts, tops, rights, bottoms = zip(*boxes, strict=True)
        cells = box_cells((min(lefts), min(tops), max(rights), max(bottoms)))
    starts = [place.start_s for place in near if place.start_s is not None]
    ends = [place.end_s for place in near if place.end_s is not None]
    return first.model_copy(
        update={
            "from_": start,
            "to": end,
            "label": "",
            "cells": cells,
            "start_s": min(starts, default=None),
            "end_s": max(ends, default=None),
        }
    )
