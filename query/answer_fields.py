"""The part of an answer that the documents' fields give: an exact number, and a citation of each document behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from query.answer_result import AnswerSentence, Citation
from query.candidate import Candidate, Passage, hit_of
from query.citations import Verified, citation_of
from query.cited_documents import CitedDocument, cited_documents, passages_at
from query.marks import contained
from query.marks import written as marks_of
from query.metadata_result import MetadataAnswer
from query.metadata_text import sentences
from query.request import SearchRequest, SearchResult
from query.search import SearchContext
from search_config.language import language_of
from search_config.locators import fragment, locator_label
from search_config.records import Locator

NOT_EXACT: Final = "Not exact: the documents' fields do not tell all of it; `search.metadata` has what was left out."
CITED_OF: Final = "{cited} of the {counted} documents behind the number are cited."


@dataclass(frozen=True, slots=True)
class FieldsPart:
    """What the fields say, before its sources have their numbers.

    Attributes:
        said: what was counted, then what keeps it from being exact.
        sources: of the documents that stand behind it, numbered from 1.
        counted: how many documents stand behind it.
    """

    said: tuple[str, ...]
    sources: tuple[Citation, ...]
    counted: int
    exact: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """What the asker should know."""
        whole = len(self.sources) == self.counted
        cited = () if whole else (CITED_OF.format(cited=len(self.sources), counted=self.counted),)
        return cited if self.exact else (NOT_EXACT, *cited)

    def numbered(self, start: int) -> Verified:
        """The part as an answer, its first source `[start]`. It is grounded where the number is exact and each
        document behind it is cited: nothing cites that there is none."""
        citations = tuple(
            one.model_copy(update={"index": number}) for number, one in enumerate(self.sources, start=start)
        )
        numbers = tuple(one.index for one in citations)
        answer, placed = "", list[AnswerSentence]()
        for place, said in enumerate(self.said):
            own = numbers if place == 0 else ()
            text = f"{contained(said)}{marks_of(own)}"
            from_ = len(answer) + bool(answer)
            answer = f"{answer} {text}" if answer else text
            placed.append(AnswerSentence(from_=from_, to=len(answer), text=text, citations=own))
        whole = 0 < len(citations) == self.counted
        return Verified(answer, tuple(placed), citations, grounded=self.exact and whole)


def fields_part(result: SearchResult, request: SearchRequest, context: SearchContext) -> FieldsPart | None:
    """What the fields say to a question; None where nothing is asked of them, or a word of it was not understood.

    Raises:
        EngineRejected, EngineOverloaded, EngineUnreachable
    """
    metadata = result.metadata
    if metadata is None or metadata.not_understood:
        return None
    said = sentences(metadata, result.language)
    return FieldsPart(said, _citations(metadata, request, context), metadata.counted, metadata.exact)


def joined(first: Verified, second: Verified) -> Verified:
    """Both, the second in a line of its own; their sources have different numbers."""
    moved = tuple(shifted(one, behind(first)) for one in second.sentences)
    return Verified(
        answer=f"{first.answer}\n{second.answer}" if second.answer else first.answer,
        sentences=(*first.sentences, *moved),
        citations=tuple(sorted((*first.citations, *second.citations), key=lambda one: one.index)),
        grounded=first.grounded and second.grounded,
    )


def behind(first: Verified) -> int:
    """Where the line after a part begins."""
    return len(first.answer) + 1


def shifted(sentence: AnswerSentence, by: int) -> AnswerSentence:
    """The sentence further down in the answer."""
    return sentence.model_copy(update={"from_": sentence.from_ + by, "to": sentence.to + by})


def _citations(metadata: MetadataAnswer, request: SearchRequest, context: SearchContext) -> tuple[Citation, ...]:
    names = context.info.names
    documents = cited_documents(
        context.engine,
        names.documents,
        request,
        [one.id for one in metadata.documents],
        asked=metadata.field,
        filters=metadata.filters,
    )
    around = passages_at(context.engine, context.info.index, request, documents)
    return tuple(_citation(number, one, around.get(one.id)) for number, one in enumerate(documents, start=1))


def _citation(number: int, document: CitedDocument, passage: Passage | None) -> Citation:
    place = document.place
    if place is not None and passage is not None:
        start = place.from_ - passage.locator.from_
        if passage.content[start : start + len(place.as_read)] == place.as_read:
            hit = hit_of(Candidate(passage), 1, highlights=(), distance=None)
            cited = citation_of(number, hit, (start, start + len(place.as_read)))
            return cited.model_copy(update={"document_name": document.name or cited.document_name})
    quote = document.title if place is None else place.as_read
    at = Locator(from_=0, to=0) if place is None else Locator(from_=place.from_, to=place.to, label=place.label)
    label = at.label or locator_label(at, language_of(quote))
    return Citation(
        index=number,
        document_id=document.id,
        document_name=document.name or document.title,
        version=document.version,
        content_hash=document.content_hash,
        chunk_id="",
        locator=at.model_copy(update={"label": label}),
        locator_label=label,
        fragment=fragment(at, ""),
        url=document.url,
        quote=quote,
    )


def with_names(citations: Sequence[Citation], names: dict[str, str]) -> tuple[Citation, ...]:
    """The citations by the names of their files, where those are known."""
    return tuple(
        one.model_copy(update={"document_name": names.get(one.document_id, one.document_name)}) for one in citations
    )
