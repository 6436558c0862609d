"""A question becomes an answer of cited sentences, or an honest no: search, refuse, write, check."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import Final

from models.base import LanguageModel
from query.answer_events import AnswerEvent, Done, Drafted, SentenceChecked, SourcesFound
from query.answer_request import AnswerRequest
from query.answer_result import NOT_CHECKED, AnswerResult, AnswerSentence, Citation
from query.citations import DraftSentence, Verified, checked_sentence, citation_of
from query.drafting import Written, ended, written
from query.extractive import Extract, extract
from query.marks import contained
from query.marks import written as marks_of
from query.prompt import Prompt, prompt_for
from query.request import Hit, SearchResult
from query.search import SearchContext, search
from search_config.errors import ModelError
from search_config.language import has_hebrew

log = logging.getLogger(__name__)

MS_PER_S: Final = 1000.0
NO_ANSWER_TEXT: Final = {
    "he": "NO ANSWER\nבמסמכים אין תשובה לשאלה הזאת.",
    "en": "NO ANSWER\nThe documents do not answer this question.",
}
EXTRACTIVE: Final = "Extractive: the passages' own sentences, chosen by their words and vectors; no model wrote any."
CUT: Final = "The model stopped before its end: at its limit of {} tokens, or broken off."
MODEL_FAILED: Final = "The language model did not answer ({}); these sentences were chosen without it."
WINDOW_TOO_SMALL: Final = "No passage fits into the language model's window; these sentences were chosen without it."
ABSTAINED: Final = "The language model found no answer in the {} passages that it was shown."
NO_PASSAGES: Final = "The search found no passage."


def answer(request: AnswerRequest, context: SearchContext, *, model: LanguageModel | None) -> AnswerResult:
    """Answer a question.

    Args:
        request: the question, and whose documents may answer it.
        context: of the search.
        model: writes the answer; None gives an extractive one, and so does a model that fails (`explanation` says so).

    Raises:
        as `query.search.search`: nothing of a failed search is answered.
    """
    return answer_from(found(request, context), request, context, model=model)


def found(request: AnswerRequest, context: SearchContext) -> SearchResult:
    """The search behind an answer: as many passages as the answer may be written from.

    Raises:
        as `query.search.search`.
    """
    return search(request.search.model_copy(update={"size": request.context, "group": False}), context)


def answer_from(
    result: SearchResult, request: AnswerRequest, context: SearchContext, *, model: LanguageModel | None
) -> AnswerResult:
    """The answer from passages that were found, by `found` or by another route."""
    *_, last = events_from(result, request, context, model=model, streaming=False)
    if not isinstance(last, Done):
        raise TypeError(f"an answer ends with Done, not with {type(last).__name__}")
    return last.result


def stream(
    request: AnswerRequest, context: SearchContext, *, model: LanguageModel | None
) -> Generator[AnswerEvent, None, None]:
    """The same while it is written: sources, pieces of the draft, checked sentences, at last the whole answer.

    Closing the generator stops the model.

    Raises:
        as `answer`, before the first event.
    """
    return events_from(found(request, context), request, context, model=model, streaming=True)


def events_from(
    result: SearchResult,
    request: AnswerRequest,
    context: SearchContext,
    *,
    model: LanguageModel | None,
    streaming: bool,
) -> Generator[AnswerEvent, None, None]:
    """The events of an answer from passages that were found; without `streaming` the last one matters alone."""
    hits = result.hits[: request.context]
    if result.refused or not hits:
        if streaming:
            yield SourcesFound(_sources(hits))
        yield Done(_refusal(result, request))
        return
    writer = _Writer(result, hits, request, context)
    if model is None:
        yield from _extracted(writer, None, streaming=streaming)
        return
    prompt = writer.prompt(model)
    if prompt.sources == 0:
        yield from _extracted(writer, WINDOW_TOO_SMALL, streaming=streaming)
        return
    try:
        if streaming:
            yield SourcesFound(_sources(hits))
            yield from writer.streamed(model, prompt)
        else:
            yield Done(writer.completed(model, prompt))
    except ModelError as error:
        # Where it is and what it said is for the log alone.
        log.exception("the language model failed: %s", error.code)
        yield from _extracted(writer, MODEL_FAILED.format(error.code), streaming=streaming)


def _extracted(writer: _Writer, explanation: str | None, *, streaming: bool) -> Iterator[AnswerEvent]:
    final = writer.extracted(explanation)
    if streaming:
        yield SourcesFound(final.citations)
        yield from map(SentenceChecked, final.sentences)
    yield Done(final)


class _Writer:
    """Writes one answer from given passages."""

    def __init__(
        self, result: SearchResult, hits: Sequence[Hit], request: AnswerRequest, context: SearchContext
    ) -> None:
        self._result, self._hits, self._context = result, hits, context
        self._question = request.question
        self._language = _language(request.question)
        self._took: dict[str, float] = {}

    def prompt(self, model: LanguageModel) -> Prompt:
        """What the model is sent."""
        settings = self._context.settings
        return prompt_for(
            self._question,
            self._hits,
            language=self._language,
            budget=model.description.window - settings.llm_max_tokens,
            count=model.count_tokens,
            order=settings.llm_order,
        )

    def completed(self, model: LanguageModel, prompt: Prompt) -> AnswerResult:
        """The model's answer at once.

        Raises:
            ModelError
        """
        start = time.perf_counter()
        reply = model.complete(prompt.messages, max_tokens=self._context.settings.llm_max_tokens)
        self._took["model"] = (time.perf_counter() - start) * MS_PER_S
        return self._checked(reply.text, model, prompt, whole=reply.whole)

    def streamed(self, model: LanguageModel, prompt: Prompt) -> Iterator[AnswerEvent]:
        """The model's answer as it is written.

        Raises:
            ModelError: also after some events; whoever shows them goes by the last one.
        """
        start = time.perf_counter()
        shown = self._hits[: prompt.sources]
        draft, answer, emitted = "", "", 0
        with closing(model.stream(prompt.messages, max_tokens=self._context.settings.llm_max_tokens)) as pieces:
            for piece in pieces:
                draft += piece
                yield Drafted(piece)
                sentences = ended(draft, prompt.sources)
                for one in sentences[emitted:]:
                    sentence, text = self._sentence(one, shown, answer)
                    answer += text
                    yield SentenceChecked(sentence)
                emitted = max(emitted, len(sentences))
            whole = pieces.whole
        self._took["model"] = (time.perf_counter() - start) * MS_PER_S
        final = self._checked(draft, model, prompt, whole=whole)
        yield from map(SentenceChecked, final.sentences[emitted:])
        yield Done(final)

    def _sentence(self, one: DraftSentence, shown: Sequence[Hit], answer: str) -> tuple[AnswerSentence, str]:
        return checked_sentence(one, shown, question=self._question, language=self._language, answer=answer)

    def _checked(self, draft: str, model: LanguageModel, prompt: Prompt, *, whole: bool) -> AnswerResult:
        start = time.perf_counter()
        shown = self._hits[: prompt.sources]
        text = written(draft, shown, question=self._question, language=self._language)
        self._took["check"] = (time.perf_counter() - start) * MS_PER_S
        notes = list(_degraded(self._result))
        if prompt.cut or prompt.dropped:
            notes.append(
                f"The model's window of {model.description.window} tokens: {prompt.cut} passage(s) were shortened, "
                f"{prompt.dropped} left out."
            )
        if not whole:
            notes.append(CUT.format(self._context.settings.llm_max_tokens))
        if text.abstained:
            return self._abstained(text, model, prompt, notes)
        return self._result_of(
            text.verified,
            method="model",
            model=model.description.name,
            answered_parts=text.answered,
            not_in_sources=text.missing,
            notes=tuple(notes),
        )

    def _abstained(self, text: Written, model: LanguageModel, prompt: Prompt, notes: list[str]) -> AnswerResult:
        return AnswerResult(
            question=self._question,
            answer=NO_ANSWER_TEXT[self._language],
            label=NOT_CHECKED[self._language],
            method="model",
            model=model.description.name,
            refused=True,
            reason="model",
            explanation=ABSTAINED.format(prompt.sources),
            grounded=False,
            not_in_sources=text.missing,
            notes=tuple(notes),
            took_ms=self._took,
            search=self._result,
        )

    def extracted(self, explanation: str | None) -> AnswerResult:
        """The best sentences of the passages."""
        start = time.perf_counter()
        context = self._context
        best = extract(
            self._question,
            self._hits,
            engine=context.engine,
            index=context.info.index,
            embedder=context.embedder,
            sentences=context.settings.answer_sentences,
        )
        self._took["select"] = (time.perf_counter() - start) * MS_PER_S
        return self._result_of(
            self._quoted(best),
            method="extractive",
            explanation=explanation,
            answered_parts=best.answered,
            not_in_sources=best.missing,
            notes=(*_degraded(self._result), EXTRACTIVE),
        )

    def _quoted(self, best: Extract) -> Verified:
        """Sentences as they stand in their passages, each its own numbered source; each is its own proof, so nothing
        of it is looked up again."""
        sentences: list[AnswerSentence] = []
        citations: list[Citation] = []
        answer = ""
        for number, choice in enumerate(best.chosen, start=1):
            citation = citation_of(number, self._hits[choice.number - 1], choice.span)
            line = contained(" ".join(citation.quote.split()))
            text = f"{line}{marks_of((number,))}"
            start = len(answer) + bool(answer)
            answer = f"{answer}\n{text}" if answer else text
            sentences.append(AnswerSentence(from_=start, to=len(answer), text=text, citations=(number,)))
            citations.append(citation)
        return Verified(answer, tuple(sentences), tuple(citations), grounded=bool(sentences))

    def _result_of(self, text: Verified, **values: object) -> AnswerResult:
        return AnswerResult.model_validate(
            {
                "question": self._question,
                "answer": text.answer,
                "label": NOT_CHECKED[self._language],
                "grounded": text.grounded,
                "sentences": text.sentences,
                "citations": text.citations,
                "took_ms": self._took,
                "search": self._result,
                **values,
            }
        )


def _refusal(result: SearchResult, request: AnswerRequest) -> AnswerResult:
    """Before any model is asked; the nearest passages stand in the search."""
    language = _language(request.question)
    return AnswerResult(
        question=request.question,
        answer=NO_ANSWER_TEXT[language],
        label=NOT_CHECKED[language],
        method="none",
        refused=True,
        reason="nothing_relevant" if result.hits else "no_passages",
        explanation=result.reason if result.hits else NO_PASSAGES,
        grounded=False,
        not_in_sources=(request.question,),
        notes=_degraded(result),
        search=result,
    )


def _degraded(result: SearchResult) -> tuple[str, ...]:
    failed = (leg.leg for leg in result.degraded)
    return tuple(f"The {leg} leg of the search failed: the answer rests on the other one." for leg in failed)


def _sources(hits: Sequence[Hit]) -> tuple[Citation, ...]:
    """The passages, whole."""
    return tuple(citation_of(number, hit, (0, len(hit.content))) for number, hit in enumerate(hits, start=1))


def _language(question: str) -> str:
    """Of messages and of the prompt."""
    return "he" if has_hebrew(question) else "en"
