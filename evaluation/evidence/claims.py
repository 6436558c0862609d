"""Splitting an answer into claims: verbatim spans, cut inside sentences too. Pure.

A claim is what can be right while its neighbour is wrong. So a sentence is cut before a connective of conjunction,
exception, date, cause or step, and between two quantities; an item of a list and a row of a table are claims of their
own. A cut that would leave fewer than two words on a side is not made. All that is not white space or a mark of a list
or table belongs to exactly one claim: count in equals count out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from evaluation.evidence.connectives import AFTER_COMMA, AND, BETWEEN, CONNECTIVE, DATE_COMMA, QUANTITY, RELATIVE, Cut
from search_config.sentences import sentence_starts

# Words that a part needs to say something of its own; a mark [1] is no word.
LEAST_WORDS: Final = 2
MARK: Final = re.compile(r"\[\d+\]")
_WORD: Final = re.compile(r"\w[\w\"'״׳.:/,-]*")
_LIST_MARK: Final = re.compile(r"\s*(?:[-•*‣◦–—]|\(?(?:\d{1,3}|[א-ת]|[a-z])[.)])\s+")
_HEADING: Final = re.compile(r"\s*#{1,6}\s+")
_TABLE_ROW: Final = re.compile(r"\s*\|.*\|\s*$")
_TABLE_RULE: Final = re.compile(r"\s*\|?(?:\s*:?-{2,}:?\s*\|)+(?:\s*:?-{2,}:?\s*)?\|?\s*$")
# Brackets and quotation marks inside which nothing is cut. Gershayim stand inside words, so a quotation mark opens only
# after a blank or bracket and closes only before one.
_PROTECTED: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|(?<![^\s(])[\"“”„][^\"“”]*[\"“”](?!\w)")


@dataclass(frozen=True, slots=True)
class Span:
    """`answer[start:end]`, why it begins where it does, and whether rules take it for material."""

    start: int
    end: int
    cut: Cut
    material: bool = True
    why_immaterial: str | None = None


def split_answer(answer: str) -> tuple[Span, ...]:
    """The claims of an answer, in order; none of a blank one."""
    spans: list[Span] = []
    lines = list(_lines(answer))
    for place, (start, end) in enumerate(lines):
        line = answer[start:end]
        following = answer[slice(*lines[place + 1])] if place + 1 < len(lines) else ""
        if _TABLE_RULE.match(line):
            continue
        if _TABLE_ROW.match(line):
            header = bool(_TABLE_RULE.match(following))
            spans += _whole(answer, start, end, "row", "a table's header" if header else None)
        elif heading := _HEADING.match(line):
            spans += _whole(answer, start + heading.end(), end, "sentence", "a heading")
        else:
            item = _LIST_MARK.match(line)
            begin = start + (item.end() if item else 0)
            spans += _sentences(answer, begin, end, "item" if item else "sentence")
    return tuple(spans)


def separators_only(text: str) -> bool:
    """Whether a text between two claims holds nothing that could be claimed: blanks and marks of lists and tables."""
    return all(
        not _WORD.search(line)
        or _TABLE_RULE.fullmatch(line) is not None
        or re.fullmatch(r"[\s|]*(?:#{1,6}|\(?(?:\d{1,3}|[א-ת]|[a-z])[.)])\s*", line) is not None
        for line in MARK.sub("", text).split("\n")
    )


def words(text: str) -> int:
    """Words of a text, marks of citations left out."""
    return len(_WORD.findall(MARK.sub(" ", text)))


def _lines(answer: str) -> Iterator[tuple[int, int]]:
    at = 0
    for line in answer.splitlines(keepends=True):
        if line.strip():
            yield at, at + len(line.rstrip())
        at += len(line)


def _whole(answer: str, start: int, end: int, cut: Cut, immaterial: str | None) -> list[Span]:
    inner = answer[start:end].strip("| \t")
    if not words(inner):
        return []
    begin = answer.index(inner, start)
    return [Span(begin, begin + len(inner), cut, immaterial is None, immaterial)]


def _sentences(answer: str, start: int, end: int, first: Cut) -> list[Span]:
    bounds = [start, *sentence_starts(answer, start, end), end]
    bounds = _marks_kept(answer, bounds)
    spans: list[Span] = []
    for place, (begin, stop) in enumerate(pairwise(bounds)):
        spans += _clauses(answer, begin, stop, first if place == 0 else "sentence")
    return spans


def _marks_kept(answer: str, bounds: list[int]) -> list[int]:
    """A mark that stands behind the full stop belongs to the sentence before it."""
    kept = [bounds[0]]
    for bound in bounds[1:-1]:
        moved = bound
        while (mark := MARK.match(answer, moved)) is not None:
            moved = mark.end() + len(answer[mark.end() :]) - len(answer[mark.end() :].lstrip(" \t,.;"))
        if kept[-1] < moved < bounds[-1]:
            kept.append(moved)
    return [*kept, bounds[-1]]


def _clauses(answer: str, start: int, end: int, first: Cut) -> list[Span]:
    cuts = [(start, first), *_cuts(answer, start, end)]
    stops = [at for at, _ in cuts[1:]] + [end]
    spans: list[Span] = []
    for (begin, kind), stop in zip(cuts, stops, strict=True):
        text = answer[begin:stop]
        if not text.strip():
            continue
        left, right = len(text) - len(text.lstrip()), len(text.rstrip())
        lead_in = len(cuts) == 1 and text.rstrip().endswith(":")
        if words(text) or not spans:
            if not words(text):
                continue
            why = "a lead-in to what follows" if lead_in else None
            spans.append(Span(begin + left, begin + right, kind, why is None, why))
        else:  # a stray mark: it belongs to the claim before it
            before = spans.pop()
            spans.append(Span(before.start, begin + right, before.cut, before.material, before.why_immaterial))
    return spans


def _cuts(answer: str, start: int, end: int) -> list[tuple[int, Cut]]:
    protected = [match.span() for match in _PROTECTED.finditer(answer, start, end)]
    found: dict[int, Cut] = {}
    for match in CONNECTIVE.finditer(answer, start, end):
        kind = _kind(match)
        if kind != "date" or not RELATIVE.search(answer, start, match.start()):
            found.setdefault(match.start(), kind)
    for match in AFTER_COMMA.finditer(answer, start, end):
        found.setdefault(match.start(), "conjunction")
    kept: list[tuple[int, Cut]] = []
    for at in sorted(found):
        if not _inside(at, protected):
            kept = _added(answer, start, end, kept, at, found[at])
    for match in AND.finditer(answer, start, end):
        if not _inside(match.start(), protected) and _between_quantities(answer, start, end, kept, match.start()):
            kept = sorted(_added(answer, start, end, kept, match.start(), "quantity"))
    return kept


def _kind(match: re.Match[str]) -> Cut:
    name: Cut = match.lastgroup  # type: ignore[assignment]  # the pattern's groups are named for the kinds
    return name


def _inside(at: int, protected: list[tuple[int, int]]) -> bool:
    return any(begin < at < stop for begin, stop in protected)


def _neighbours(start: int, end: int, kept: list[tuple[int, Cut]], at: int) -> tuple[int, int]:
    return max([start, *(cut for cut, _ in kept if cut <= at)]), min([end, *(cut for cut, _ in kept if cut > at)])


def _added(answer: str, start: int, end: int, kept: list[tuple[int, Cut]], at: int, kind: Cut) -> list[tuple[int, Cut]]:
    left, right = _neighbours(start, end, kept, at)
    if words(answer[left:at]) < LEAST_WORDS or words(answer[at:right]) < LEAST_WORDS:
        return kept
    return [*kept, (at, kind)]


def _between_quantities(answer: str, start: int, end: int, kept: list[tuple[int, Cut]], at: int) -> bool:
    left, right = _neighbours(start, end, kept, at)
    before, after = answer[left:at], answer[at:right]
    if BETWEEN.search(before) or DATE_COMMA.search(before):
        return False
    return bool(QUANTITY.search(MARK.sub("", before))) and bool(QUANTITY.search(MARK.sub("", after)))
