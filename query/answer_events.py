"""What happens while an answer is written, one event after the other."""

from __future__ import annotations

from dataclasses import dataclass

from query.answer_result import AnswerResult, AnswerSentence, Citation


@dataclass(frozen=True, slots=True)
class SourcesFound:
    """The numbered sources, before anything is written: passages, or the sentences of an extractive answer. A second
    one, after a model failed, takes the place of the first."""

    sources: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Drafted:
    """A piece of what the model writes, unchecked: links, marks and quotes in it may be false."""

    text: str


@dataclass(frozen=True, slots=True)
class SentenceChecked:
    """A sentence that has ended, checked; its places are those in the answer so far."""

    sentence: AnswerSentence


@dataclass(frozen=True, slots=True)
class Done:
    """The whole answer; it alone is final."""

    result: AnswerResult


AnswerEvent = SourcesFound | Drafted | SentenceChecked | Done
