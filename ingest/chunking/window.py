"""Nothing is cut in silence: a chunk that the model's window does not hold is split again, and counted again.

Splitting is even and by count, not word after word: each round counts all texts in one batch, and a text of n tokens
needs about log(n) rounds at the worst, so that time grows with n log n.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from itertools import pairwise
from typing import Final

from ingest.chunking.base import Group, Unit
from ingest.chunking.boundaries import parts_of
from ingest.chunking.words import word_start_near
from ingest.extract.base import BlockKind, ExtractedDocument
from ingest.extract.builder import CELL_SEPARATOR
from search_config.sentences import sentence_starts

# A cut may stand this far from the even place, as a share of a part's length; beyond it parts would be too unequal.
CUT_TOLERANCE: Final = 0.5

Measure = Callable[[list[Group]], list[int]]
"""Tokens of the embedded text of each group, without overlap."""


def fit(document: ExtractedDocument, groups: list[Group], window: int, measure: Measure) -> list[Group]:
    """Split until no group has more than `window` tokens; only single characters can remain above it."""
    fitting: dict[tuple[int, int], Group] = {}
    pending = groups
    while pending:
        counts = measure(pending)
        following: list[Group] = []
        for group, tokens in zip(pending, counts, strict=True):
            split = [group] if tokens <= window else _split(document, group, -(-tokens // window))
            if len(split) == 1:
                fitting[group[0].start, group[-1].end] = split[0]
            else:
                following += split
        pending = following
    return [fitting[span] for span in sorted(fitting)]


def _split(document: ExtractedDocument, group: Group, parts: int) -> list[Group]:
    """Split a group between units; a single unit inside, in about `parts` parts. One group where nothing can be cut."""
    if len(group) == 1:
        return [(part,) for part in _split_unit(document, group[0], parts)]
    starts = [unit.start for unit in group]
    length = group[-1].end - group[0].start
    cuts = {_nearest(starts, group[0].start + length * i / parts) for i in range(1, parts)}
    places = [0, *sorted(cuts - {0}), len(group)]
    if len(places) == 2:
        places.insert(1, len(group) // 2)
    return [group[low:high] for low, high in pairwise(places)]


def _nearest(rising: list[int], ideal: float) -> int:
    """Index of the value nearest to `ideal`; the lower one of two equally near."""
    i = bisect.bisect_left(rising, ideal)
    candidates = [j for j in (i - 1, i) if 0 <= j < len(rising)]
    return min(candidates, key=lambda j: (abs(rising[j] - ideal), j))


def _split_unit(document: ExtractedDocument, unit: Unit, parts: int) -> list[Unit]:
    text, start, end = document.text, unit.body_from, unit.body_to
    if unit.headed and end - start < 2:  # the headings are too long, not the body
        start = unit.start
        unit = Unit(start, unit.end, start, end, cuttable=True, section=unit.section, block=unit.block)
    if end - start < 2:
        return [unit]
    parts = min(parts, end - start)
    step = (end - start) / parts
    preferred = _preferred_cuts(document, unit)
    cuts: set[int] = set()
    for i in range(1, parts):
        cuts.add(_cut_near(text, preferred, start + step * i, step * CUT_TOLERANCE, start, end))
    places = [start, *sorted(cuts), end]
    # Where little is cut into many parts, as what stands below an endless heading, white space is none of them.
    spans = [(low, high) for low, high in pairwise(places) if text[low:high].strip()]
    return parts_of(unit, spans) if spans else [unit]


def _cut_near(text: str, preferred: list[int], ideal: float, tolerance: float, start: int, end: int) -> int:
    low, high = max(start, int(ideal - tolerance)), min(end, int(ideal + tolerance) + 1)
    if preferred:
        nearest = preferred[_nearest(preferred, ideal)]
        if low < nearest < high:
            return nearest
    middle = min(max(int(ideal), start + 1), end - 1)
    word = word_start_near(text, middle, low, high)
    return middle if word is None or not start < word < end else word


def _preferred_cuts(document: ExtractedDocument, unit: Unit) -> list[int]:
    """Line starts of code, cells of a row, sentences of anything else."""
    text, start, end = document.text, unit.body_from, unit.body_to
    kind = document.blocks[unit.block].kind
    if kind is BlockKind.CODE:
        return _after_each(text, "\n", start, end)
    if kind is BlockKind.TABLE_ROW:
        return _after_each(text, CELL_SEPARATOR, start, end)
    return sentence_starts(text, start, end)


def _after_each(text: str, mark: str, start: int, end: int) -> list[int]:
    places: list[int] = []
    found = text.find(mark, start, end)
    while found >= 0:
        places.append(found + len(mark))
        found = text.find(mark, found + len(mark), end)
    return [place for place in places if start < place < end]
