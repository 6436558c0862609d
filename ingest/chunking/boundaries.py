"""Strategies C to F: paragraphs and sections. Small neighbours of one section are joined up to the target. Pure."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from ingest.chunking.base import Group, Unit
from ingest.chunking.words import skip_space, trim_end, word_cut
from ingest.extract.base import Block, BlockKind, ExtractedDocument
from search_config.locators import same_container
from search_config.sentences import sentence_starts

# Only running text is cut for the target's sake; a code block or a table row that is cut says nothing.
CUT_AT_TARGET = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM})


def boundary_groups(document: ExtractedDocument, target: int) -> list[Group]:
    """Cut at paragraphs and sections; a paragraph longer than `target` at sentences, a longer sentence at words."""
    text = document.text
    parts: list[Unit] = []
    for unit in _units(document):
        oversized = unit.body_to - unit.body_from > target
        parts += _cut(text, unit, target) if unit.cuttable and oversized else [unit]
    return _joined(document, parts, target)


def _units(document: ExtractedDocument) -> list[Unit]:
    """One unit a block; headings go with the block below them, and those at the very end with the last one."""
    units: list[Unit] = []
    heading: Block | None = None
    heading_from, heading_at = 0, 0
    for i, block in enumerate(document.blocks):
        if block.kind is BlockKind.HEADING:
            if heading is None:
                heading_from, heading_at = block.locator.from_, i
            heading = block
            continue
        start, end = block.locator.from_, block.locator.to
        first = start if heading is None else heading_from
        section = _section(block, document.title)
        cuttable = block.kind in CUT_AT_TARGET
        units.append(Unit(first, end, start, end, cuttable=cuttable, section=section, block=i))
        heading = None
    if heading is None:
        return units
    end = heading.locator.to
    if units:
        units[-1] = replace(units[-1], end=end)
        return units
    section = _section(heading, document.title)
    return [Unit(heading_from, end, heading_from, end, cuttable=True, section=section, block=heading_at)]


def _section(block: Block, title: str) -> tuple[str, ...]:
    return block.section[1:] if block.section[:1] == (title,) else block.section


def _cut(text: str, unit: Unit, target: int) -> list[Unit]:
    """Parts of at most `target` characters: as many sentences as fit, and words where one sentence does not fit."""
    bounds = [unit.body_from, *sentence_starts(text, unit.body_from, unit.body_to), unit.body_to]
    spans: list[tuple[int, int]] = []
    start = bounds[0]
    for sentence_from, following in pairwise(bounds):
        sentence_to = trim_end(text, sentence_from, following)  # white space behind a sentence counts for nothing
        if start < sentence_from and sentence_to - start > target:
            spans.append((start, trim_end(text, start, sentence_from)))
            start = sentence_from
        while sentence_to - start > target:
            cut = word_cut(text, start, sentence_to, target)
            spans.append((start, cut))
            start = skip_space(text, cut, sentence_to)
    if start < unit.body_to:
        spans.append((start, unit.body_to))
    return parts_of(unit, spans)


def parts_of(unit: Unit, spans: list[tuple[int, int]]) -> list[Unit]:
    """The unit as several, one for each span of its body; headings before it stay with the first part."""
    parts = [replace(unit, start=start, end=end, body_from=start, body_to=end) for start, end in spans]
    parts[0] = replace(parts[0], start=unit.start)
    parts[-1] = replace(parts[-1], end=unit.end)
    return parts


def _joined(document: ExtractedDocument, parts: list[Unit], target: int) -> list[Group]:
    places = [block.locator for block in document.blocks]
    groups: list[list[Unit]] = []
    for part in parts:
        open_group = groups[-1] if groups else None
        if (
            open_group is not None
            and not part.headed
            and part.section == open_group[0].section
            and same_container(places[part.block], places[open_group[0].block])
            and part.body_to - open_group[0].body_from <= target
        ):
            open_group.append(part)
        else:
            groups.append([part])
    return [tuple(group) for group in groups]
