"""A question becomes an answer of cited sentences, or an honest no: search, refuse, write, check."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import Final

from models.base import LanguageModel
from query import wording
from query.answer_events import AnswerEvent, Done, Drafted, SentenceChecked, SourcesFound
from query.answer_fields import FieldsPart, behind, fields_part, joined, shifted, with_names
from query.answer_request import AnswerRequest
from query.answer_result import NOT_CHECKED, AnswerResult, AnswerSentence, Citation
from query.answer_sides import extract_each, numbers_of, silent, uncited
from query.citations import DraftSentence, Verified, checked_sentence, citation_of
from query.cited_documents import document_names
from query.comparison import side_by_side
from query.drafting import Written, ended, written
from query.extractive import Extract, extract
from query.marks import contained
from query.marks import written as marks_of
from query.parts import question_parts
from query.prompt import Prompt, prompt_for
from query.request import Hit, SearchResult
from query.search import SearchContext, search
from query.sentences import Span
from query.wording import told, tongue
from search_config.errors import ModelError

log = logging.getLogger(__name__)

MS_PER_S: Final = 1000.0
NO_ANSWER_TEXT: Final = {
    "he": "NO ANSWER\nבמסמכים אין תשובה לשאלה הזאת.",
    "en": "NO ANSWER\nThe documents do not answer this question.",
}


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

    Of a question that asks several things the whole may be refused though one of them is answered: then each is
    searched by itself, and the passages of those that are answered stand in turn.

    Raises:
        as `query.search.search`.
    """
    asked = request.search.model_copy(update={"size": request.context, "group": False})
    whole = search(asked, context)
    parts = question_parts(request.question)
    if not whole.refused or len(parts) == 1:
        return whole
    each = [search(asked.model_copy(update={"query": part, "route": "semantic"}), context) for part in parts]
    answered = [(one.query, one) for one in each if not one.refused and one.hits]
    if not answered:
        return whole
    hits, _ = side_by_side(answered, request.context)
    apart = told(wording.PARTS_APART, tongue(request.question))
    return whole.model_copy(update={"refused": False, "reason": None, "hits": hits, "notes": (*whole.notes, apart)})


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
    writer = _Writer(result, hits, request, context)
    if result.refused or not hits:
        if writer.fields is not None:
            yield from _told(writer.counted(), streaming=streaming)
            return
        if streaming:
            yield SourcesFound(writer.sources())
        yield Done(_refusal(result, request))
        return
    if model is None:
        yield from _extracted(writer, None, streaming=streaming)
        return
    prompt = writer.prompt(model)
    if prompt.sources == 0:
        yield from _extracted(writer, writer.say(wording.WINDOW_TOO_SMALL), streaming=streaming)
        return
    try:
        if streaming:
            yield SourcesFound(writer.sources())
            yield from writer.streamed(model, prompt)
        else:
            yield Done(writer.completed(model, prompt))
    except ModelError as error:
        # Where it is and what it said is for the log alone.
        log.exception("the language model failed: %s", error.code)
        yield from _extracted(writer, writer.say(wording.MODEL_FAILED, code=error.code), streaming=streaming)


def _extracted(writer: _Writer, explanation: str | None, *, streaming: bool) -> Iterator[AnswerEvent]:
    yield from _told(writer.extracted(explanation), streaming=streaming)


def _told(final: AnswerResult, *, streaming: bool) -> Iterator[AnswerEvent]:
    """The events of an answer that is written at once."""
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
        self._language = tongue(request.question)
        start = time.perf_counter()
        self.fields: FieldsPart | None = fields_part(result, request.search, context)
        ids = {hit.document_id for hit in hits}
        self._names = document_names(context.engine, context.info.names.documents, request.search, ids)
        self._took: dict[str, float] = {"cite": (time.perf_counter() - start) * MS_PER_S}

    def say(self, code: str, /, **values: object) -> str:
        """A text of `query.wording` in the language of the question."""
        return told(code, self._language, **values)

    def sources(self) -> tuple[Citation, ...]:
        """The passages, whole, and behind them the documents that were counted."""
        passages = [citation_of(number, hit, (0, len(hit.content))) for number, hit in enumerate(self._hits, start=1)]
        counted = self._behind_passages()
        return (*with_names(passages, self._names), *(() if counted is None else counted.citations))

    def _behind_passages(self) -> Verified | None:
        """What the fields say, its sources numbered behind the passages, whose numbers a model was given."""
        return None if self.fields is None else self.fields.numbered(len(self._hits) + 1)

    def counted(self) -> AnswerResult:
        """What the fields say, where no passage answers."""
        if self.fields is None:
            raise TypeError("nothing was asked of the fields")
        notes = (*_degraded(self._result), *self.fields.notes)
        return self._fields_alone(self.fields.numbered(1), self._result.reason if self._result.refused else None, notes)

    def _fields_alone(self, counted: Verified, explanation: str | None, notes: Sequence[str]) -> AnswerResult:
        rest = () if self._result.route == "metadata" else (self.say(wording.FIELDS_ALONE),)
        said = (*notes, *rest, self.say(wording.FROM_FIELDS))
        return self._result_of(counted, method="metadata", explanation=explanation, notes=said)

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
        counted = self._behind_passages()
        yield from map(SentenceChecked, () if counted is None else counted.sentences)
        draft, answer, emitted = "", "", 0
        with closing(model.stream(prompt.messages, max_tokens=self._context.settings.llm_max_tokens)) as pieces:
            for piece in pieces:
                draft += piece
                yield Drafted(piece)
                sentences = ended(draft, prompt.sources)
                for one in sentences[emitted:]:
                    sentence, text = self._sentence(one, shown, answer)
                    answer += text
                    yield SentenceChecked(sentence if counted is None else shifted(sentence, behind(counted)))
                emitted = max(emitted, len(sentences))
            whole = pieces.whole
        self._took["model"] = (time.perf_counter() - start) * MS_PER_S
        final = self._checked(draft, model, prompt, whole=whole)
        known = emitted + (0 if counted is None else len(counted.sentences))
        yield from map(SentenceChecked, final.sentences[known:])
        yield Done(final)

    def _sentence(self, one: DraftSentence, shown: Sequence[Hit], answer: str) -> tuple[AnswerSentence, str]:
        return checked_sentence(one, shown, question=self._question, language=self._language, answer=answer)

    def _checked(self, draft: str, model: LanguageModel, prompt: Prompt, *, whole: bool) -> AnswerResult:
        start = time.perf_counter()
        shown = self._hits[: prompt.sources]
        text = written(draft, shown, question=self._question, language=self._language)
        self._took["check"] = (time.perf_counter() - start) * MS_PER_S
        notes = [*_degraded(self._result), *self._fields_notes()]
        if prompt.cut or prompt.dropped:
            window = model.description.window
            notes.append(self.say(wording.WINDOW, window=window, cut=prompt.cut, dropped=prompt.dropped))
        if not whole:
            notes.append(self.say(wording.CUT, limit=self._context.settings.llm_max_tokens))
        counted = self._behind_passages()
        if text.abstained and counted is not None:
            return self._fields_alone(counted, self.say(wording.ABSTAINED, count=prompt.sources), notes)
        if text.abstained:
            return self._abstained(text, model, prompt, notes)
        every_side = self._with_sides(text.verified, notes)
        return self._result_of(
            every_side if counted is None else joined(counted, every_side),
            method="model",
            model=model.description.name,
            answered_parts=text.answered,
            not_in_sources=text.missing,
            notes=tuple(notes),
        )

    def _with_sides(self, text: Verified, notes: list[str]) -> Verified:
        """A comparison with a sentence of each side that the model left out."""
        for side in uncited(self._result.sides, self._hits, text):
            numbers = numbers_of(side, self._hits)
            best = self._extract([self._hits[number - 1] for number in numbers], 1)
            for choice in best.chosen[:1]:
                number = numbers[choice.number - 1]
                text = joined(text, self._one_quote(number, number, choice.span))
                notes.append(self.say(wording.SIDE_ADDED, name=side.name))
        notes += silent(self._result.sides, self._hits, self._language)
        return text

    def _abstained(self, text: Written, model: LanguageModel, prompt: Prompt, notes: list[str]) -> AnswerResult:
        return AnswerResult(
            question=self._question,
            answer=NO_ANSWER_TEXT[self._language],
            label=NOT_CHECKED[self._language],
            method="model",
            model=model.description.name,
            refused=True,
            reason="model",
            explanation=self.say(wording.ABSTAINED, count=prompt.sources),
            grounded=False,
            not_in_sources=text.missing,
            notes=tuple(notes),
            took_ms=self._took,
            search=self._result,
        )

    def extracted(self, explanation: str | None) -> AnswerResult:
        """What the fields say, then the best sentences of the passages; of each side, where documents are compared."""
        start = time.perf_counter()
        sides, most = self._result.sides, self._context.settings.answer_sentences
        best = extract_each(self._extract, self._hits, sides, most) if sides else self._extract(self._hits, most)
        self._took["select"] = (time.perf_counter() - start) * MS_PER_S
        counted = None if self.fields is None else self.fields.numbered(1)
        quoted = self._quoted(best, 1 if counted is None else len(counted.citations) + 1)
        return self._result_of(
            quoted if counted is None else joined(counted, quoted),
            method="extractive",
            explanation=explanation,
            answered_parts=best.answered,
            not_in_sources=best.missing,
            notes=(
                *_degraded(self._result),
                *self._fields_notes(),
                *silent(sides, self._hits, self._language),
                self.say(wording.EXTRACTIVE),
            ),
        )

    def _fields_notes(self) -> tuple[str, ...]:
        return () if self.fields is None else self.fields.notes

    def _extract(self, hits: Sequence[Hit], sentences: int) -> Extract:
        context = self._context
        return extract(
            self._question,
            hits,
            engine=context.engine,
            index=context.info.index,
            embedder=context.embedder,
            sentences=sentences,
        )

    def _quoted(self, best: Extract, first: int) -> Verified:
        """Sentences as they stand in their passages, each its own numbered source; each is its own proof, so nothing
        of it is looked up again."""
        text = Verified("", (), (), grounded=False)
        for number, choice in enumerate(best.chosen, start=first):
            one = self._one_quote(number, choice.number, choice.span)
            text = joined(text, one) if text.answer else one
        return text

    def _one_quote(self, number: int, hit: int, span: Span) -> Verified:
        citation = citation_of(number, self._hits[hit - 1], span)
        text = f"{contained(' '.join(citation.quote.split()))}{marks_of((number,))}"
        sentence = AnswerSentence(from_=0, to=len(text), text=text, citations=(number,))
        return Verified(text, (sentence,), (citation,), grounded=True)

    def _result_of(self, text: Verified, **values: object) -> AnswerResult:
        return AnswerResult.model_validate(
            {
                "question": self._question,
                "answer": text.answer,
                "label": NOT_CHECKED[self._language],
                "grounded": text.grounded,
                "sentences": text.sentences,
                "citations": with_names(text.citations, self._names),
                "took_ms": self._took,
                "search": self._result,
                **values,
            }
        )


def _refusal(result: SearchResult, request: AnswerRequest) -> AnswerResult:
    """Before any model is asked; the nearest passages stand in the search."""
    language = tongue(request.question)
    return AnswerResult(
        question=request.question,
        answer=NO_ANSWER_TEXT[language],
        label=NOT_CHECKED[language],
        method="none",
        refused=True,
        reason="nothing_relevant" if result.hits else "no_passages",
        explanation=result.reason if result.hits else told(wording.NO_PASSAGES, language),
        grounded=False,
        not_in_sources=(request.question,),
        notes=_degraded(result),
        search=result,
    )


def _degraded(result: SearchResult) -> tuple[str, ...]:
    language = tongue(result.query)
    return tuple(told(wording.LEG_FAILED, language, leg=one.leg) for one in result.degraded)
