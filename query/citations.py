"""Attaches citations to what was written, and checks every sentence of it. Pure: no model, no engine.

A draft is text with marks `[n]`, wherever it came from. Nothing in it is believed: marks are read and written anew,
quotes, links, names and numbers are looked up in the cited sources, and each citation's quote is cut out of the
passage itself, by offsets.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from query.answer_result import AnswerSentence, Citation
from query.claims import checked, folded, message, plain_links, quote_spans, quotes
from query.marks import Mark, contained, without_marks, written
from query.request import Hit
from query.sentences import Span, answer_sentences, passage_sentences
from search_config.language import language_of
from search_config.locators import fragment, locator_label

# Letters in a row that are compared to find the sentence of a passage that an answer's sentence rests on: Hebrew words
# change at both ends, so whole words would miss what the middle of a word shows.
GRAM: Final = 4
# Share of its grams that a sentence must share with a sentence of the passage to be cited by it; below, the passage
# stands as a whole: an English answer from a Hebrew source shares none.
SHARED: Final = 0.15
# What only a table's cells have both of: no sheet, and cells.
CSV: Final = "text/csv"
_WORDS: Final = re.compile(r"\w+")
_CONTROLS: Final = dict.fromkeys(code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t")
_SPACES: Final = re.compile(r"[^\S\n]{2,}")


@dataclass(frozen=True, slots=True)
class Verified:
    """A draft after the check; the fields are those of `AnswerResult`."""

    answer: str
    sentences: tuple[AnswerSentence, ...]
    citations: tuple[Citation, ...]
    grounded: bool


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """One sentence of a draft.

    Attributes:
        text: without marks.
        gap: the white space before it: a line break, or a blank.
        numbers: of the sources it cites, each once, ascending.
        invalid: what its marks name beside them.
    """

    text: str
    gap: str
    numbers: tuple[int, ...]
    invalid: tuple[str, ...]


def draft_sentences(draft: str, sources: int) -> tuple[DraftSentence, ...]:
    """The sentences of a draft with their marks.

    A mark belongs to the sentence that ends before it or that it stands in: "…אתמול. [1] מחר…" cites the first one. A
    mark before everything else in a line belongs to what follows.
    """
    text, marks = without_marks(plain_links(draft.translate(_CONTROLS)), sources)
    spans = [span for span in answer_sentences(text, quote_spans(text)) if _WORDS.search(text, *span)]
    owned: dict[int, list[Mark]] = {}
    starts = [start for start, _ in spans]
    for mark in marks:
        owned.setdefault(_owner(text, mark.at, starts), []).append(mark)
    found = []
    end = 0
    for place, (start, stop) in enumerate(spans):
        mine = owned.get(place, [])
        found.append(
            DraftSentence(
                text=_SPACES.sub(" ", text[start:stop]),
                gap="\n" if "\n" in text[end:start] else " ",
                numbers=tuple(sorted({number for mark in mine for number in mark.numbers})),
                invalid=tuple(name for mark in mine for name in mark.invalid),
            )
        )
        end = stop
    return tuple(found)


def _owner(text: str, at: int, starts: Sequence[int]) -> int:
    """The place of the sentence that a mark belongs to."""
    line = text.rfind("\n", 0, at) + 1
    line_end = text.find("\n", at)
    leads = not text[line:at].strip() and text[at : None if line_end < 0 else line_end].strip()
    place = bisect_left(starts, at) if leads else bisect_right(starts, len(text[:at].rstrip()) - 1) - 1
    return min(max(place, 0), len(starts) - 1)


def verified(drafted: Sequence[DraftSentence], hits: Sequence[Hit], *, question: str, language: str) -> Verified:
    """Check sentences, write their marks, attach citations.

    Args:
        drafted: of a draft, those that are to be shown.
        hits: the sources; number n is `hits[n - 1]`.
        question: whose names and numbers an answer may repeat.
        language: of the messages.
    """
    sentences: list[AnswerSentence] = []
    spans: dict[int, list[Span]] = {}
    answer = ""
    for one in drafted:
        sentence, text = checked_sentence(one, hits, question=question, language=language, answer=answer)
        answer += text
        sentences.append(sentence)
        for number in sentence.citations:
            spans.setdefault(number, []).append(support(one.text, hits[number - 1].content))
    return Verified(
        answer=answer,
        sentences=tuple(sentences),
        citations=citations_of(spans, hits),
        grounded=bool(sentences) and all(_holds(one, source) for one, source in zip(sentences, drafted, strict=True)),
    )


def checked_sentence(
    drafted: DraftSentence, hits: Sequence[Hit], *, question: str, language: str, answer: str
) -> tuple[AnswerSentence, str]:
    """One sentence of the answer, and the text (with the gap before it) to append to the answer so far."""
    sources = [_all_of(hits[number - 1]) for number in drafted.numbers]
    result = checked(drafted.text, sources, also=question, language=language)
    problems = [message("mark", language, name) for name in drafted.invalid]
    if not drafted.numbers:
        problems.append(message("no mark", language))
    gap = drafted.gap if answer else ""
    text = f"{contained(result.text)}{written(drafted.numbers)}"
    start = len(answer) + len(gap)
    sentence = AnswerSentence(
        from_=start,
        to=start + len(text),
        text=text,
        citations=drafted.numbers,
        problems=(*problems, *result.problems),
    )
    return sentence, f"{gap}{text}"


def citations_of(spans: Mapping[int, Sequence[Span]], hits: Sequence[Hit]) -> tuple[Citation, ...]:
    """One citation a source, by number; its quote reaches over all of its spans.

    Args:
        spans: in the passages' contents, by the number of the source.
        hits: the sources.
    """
    return tuple(
        citation_of(number, hits[number - 1], (min(a for a, _ in spans[number]), max(b for _, b in spans[number])))
        for number in sorted(spans)
    )


def citation_of(number: int, hit: Hit, span: Span) -> Citation:
    """The citation of `hit.content[span[0]:span[1]]`, offsets in the canonical text carried over, never searched."""
    start, end = span
    place = hit.locator.model_copy(update={"from_": hit.locator.from_ + start, "to": hit.locator.from_ + end})
    in_text_alone = not (place.page or place.slide or place.sheet or place.cells or place.start_s is not None)
    label = locator_label(place, language_of(hit.content)) if in_text_alone or not place.label else place.label
    return Citation(
        index=number,
        document_id=hit.document_id,
        document_name=hit.title,
        version=hit.version,
        content_hash=hit.content_hash,
        chunk_id=hit.chunk_id,
        locator=place.model_copy(update={"label": label}),
        locator_label=label,
        fragment=fragment(place, CSV if place.cells and place.sheet is None else ""),
        url=hit.url,
        quote=hit.content[start:end],
        cosine_distance=hit.cosine_distance,
    )


def support(sentence: str, content: str) -> Span:
    """The part of a passage that a sentence rests on: the passage's sentence most like it, and those it quotes from;
    the whole passage where none is like it."""
    spans = passage_sentences(content)
    wanted = _grams(sentence)
    if not spans or not wanted:
        return 0, len(content)
    shares = [len(wanted & _grams(content[start:end])) / len(wanted) for start, end in spans]
    best = max(range(len(spans)), key=lambda place: (shares[place], -place))
    chosen = {best} if shares[best] >= SHARED else set()
    for quote in map(folded, quotes(sentence)):
        chosen |= {place for place, (start, end) in enumerate(spans) if quote in folded(content[start:end])}
    if not chosen:
        return 0, len(content)
    return spans[min(chosen)][0], spans[max(chosen)][1]


def _grams(text: str) -> set[str]:
    words = _WORDS.findall(folded(text))
    return {word[at : at + GRAM] for word in words for at in range(max(1, len(word) - GRAM + 1))}


def _all_of(hit: Hit) -> str:
    return "\n".join(part for part in (hit.content, hit.title, hit.section, hit.url or "") if part)


def _holds(sentence: AnswerSentence, drafted: DraftSentence) -> bool:
    """A valid citation, and nothing wrong but marks that were taken out."""
    return bool(sentence.citations) and len(sentence.problems) == len(drafted.invalid)
