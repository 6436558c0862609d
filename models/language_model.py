"""A chat endpoint that speaks OpenAI's protocol: OpenAI itself, vLLM, Ollama, llama.cpp's server.

Token counts: by the model's `tokenizer.json` where one is given; else a text's count is its length in bytes of UTF-8,
an upper bound for every tokenizer in use (see `models.openai_compatible`): a prompt may then be shorter than it could
be, never longer than the window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import openai
from pydantic import BaseModel
from tenacity import RetryCallState, Retrying, stop_after_attempt, wait_random_exponential

from models.base import Completion, CompletionStream, LanguageModelDescription, Message
from models.text import encodable
from search_config.errors import ModelOverloaded, ModelTimeout, ModelUnavailable

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk

# A message's role and separators, in tokens: 4 in OpenAI's chat format, more in others.
MESSAGE_TOKENS: Final = 8
FIRST_WAIT_S, LONGEST_WAIT_S = 0.25, 10.0
# Longest `Retry-After` that is waited for: whoever asks is waiting too.
LONGEST_RETRY_AFTER_S: Final = 20.0
# What may be gone at the next attempt. A timeout is not: the asker has waited a whole one already.
_TRANSIENT: Final = (openai.RateLimitError, openai.InternalServerError, openai.APIConnectionError)
_OVERLOADED: Final = frozenset({429, 503, 529})


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Reply(BaseModel):
    """What is read of an answer; validated here, since the library lets any body pass."""

    choices: list[_Choice]


class OpenAICompatibleLanguageModel:
    """Implements `models.base.LanguageModel`. Safe for use by several threads."""

    def __init__(
        self,
        url: str,
        model: str,
        api_key: str | None = None,
        *,
        window: int,
        timeout_s: float,
        attempts: int = 3,
        tokenizer: Path | None = None,
    ) -> None:
        """Nothing is sent before the first prompt.

        Args:
            url: base URL, ending in `/v1`.
            model: the endpoint's name for it.
            api_key: left out for endpoints without keys.
            window: tokens that it reads and writes together.
            timeout_s: of one attempt; while an answer streams, of the wait for its next piece.
            attempts: at a call that fails with 429, 5xx or a broken connection.
            tokenizer: the model's `tokenizer.json`.

        Raises:
            ModelUnavailable: the tokenizer's file can't be read.
        """
        self._model, self._window, self._timeout_s = model, window, timeout_s
        self._where = f"{model} at {url}"
        self._tokenizer = None if tokenizer is None else _tokenizer(tokenizer)
        # The library insists on a key; endpoints without keys ignore it. Retries are ours, so they are off there.
        self._client = openai.OpenAI(base_url=url, api_key=api_key or "none", max_retries=0, timeout=timeout_s)
        self._retrying = Retrying(
            retry=_is_worth_another_attempt,
            wait=_wait,
            stop=stop_after_attempt(attempts),
            reraise=True,
        )

    @property
    def description(self) -> LanguageModelDescription:
        """Name and window; the protocol tells no revision."""
        return LanguageModelDescription(name=self._model, window=self._window)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text; without a tokenizer its bytes (see the module)."""
        if self._tokenizer is None:
            return [len(encodable(text).encode()) for text in texts]
        encodings = self._tokenizer.encode_batch([encodable(text) for text in texts], add_special_tokens=False)
        return [len(encoding.ids) for encoding in encodings]

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        json_schema: Mapping[str, Any] | None = None,
        temperature: float = 0.0,
    ) -> Completion:
        """The whole answer at once; errors as `models.base.LanguageModel`."""
        body = self._body(messages, max_tokens, json_schema, temperature)
        try:
            raw = self._retrying(self._client.chat.completions.with_raw_response.create, **body)
            reply = _Reply.model_validate_json(raw.content)
        except openai.OpenAIError as error:
            self._raise(error)
        except ValueError as error:  # a body that is no JSON, or has no answer
            raise self._no_answer() from error
        if not reply.choices:
            raise self._no_answer()
        first = reply.choices[0]
        return Completion(text=first.message.content or "", whole=first.finish_reason != "length")

    def stream(self, messages: Sequence[Message], *, max_tokens: int, temperature: float = 0.0) -> CompletionStream:
        """The answer as it is written; errors as `models.base.LanguageModel`."""
        body = self._body(messages, max_tokens, None, temperature)
        try:
            opened: openai.Stream[ChatCompletionChunk] = self._retrying(
                self._client.chat.completions.create, stream=True, **body
            )
        except openai.OpenAIError as error:
            self._raise(error)
        return _Stream(opened, self)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _body(
        self, messages: Sequence[Message], max_tokens: int, schema: Mapping[str, Any] | None, temperature: float
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": message.role, "content": encodable(message.content)} for message in messages],
            "max_tokens": max_tokens,
            "temperature": temperature,
        }
        if schema is not None:
            wanted = {"name": "answer", "schema": dict(schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        return body

    def _raise(self, error: openai.OpenAIError) -> NoReturn:
        """Our error for one of the library's."""
        where = self._where
        if isinstance(error, openai.APITimeoutError):
            raise ModelTimeout(
                f"The language model did not answer within {self._timeout_s:g} s.",
                where=where,
                remedy="Try later, or raise MAFTEACH_LLM_TIMEOUT_S.",
            ) from error
        if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            what, remedy = "refuses the key", "Check MAFTEACH_LLM_API_KEY."
        elif isinstance(error, openai.APIStatusError) and error.status_code in _OVERLOADED:
            raise ModelOverloaded(
                f"The language model is overloaded ({error.status_code}).", where=where, remedy="Try again later."
            ) from error
        elif isinstance(error, _TRANSIENT):
            what, remedy = f"does not answer ({error})", "Check MAFTEACH_LLM_URL, and try later."
        else:
            what, remedy = f"refuses the request ({error})", "Check MAFTEACH_LLM_MODEL and MAFTEACH_LLM_WINDOW."
        raise ModelUnavailable(f"The language model {what}.", where=where, remedy=remedy) from error

    def _no_answer(self) -> ModelUnavailable:
        return ModelUnavailable(
            "The endpoint gives no answer.", where=self._where, remedy="Check that MAFTEACH_LLM_URL ends in /v1."
        )

    def _piece(self, chunk: ChatCompletionChunk) -> tuple[str, str | None]:
        """Text and reason of the end of one chunk; the last one of some endpoints has no choice at all."""
        try:
            if not chunk.choices:
                return "", None
            return chunk.choices[0].delta.content or "", chunk.choices[0].finish_reason
        except (AttributeError, TypeError) as error:  # the library lets any body pass
            raise self._no_answer() from error


class _Stream:
    """Implements `models.base.CompletionStream`."""

    def __init__(self, opened: openai.Stream[ChatCompletionChunk], model: OpenAICompatibleLanguageModel) -> None:
        self._opened, self._model = opened, model
        self.whole = False

    def __iter__(self) -> Iterator[str]:
        try:
            for chunk in self._opened:
                text, reason = self._model._piece(chunk)
                if reason is not None:
                    self.whole = reason != "length"
                if text:
                    yield text
        except openai.OpenAIError as error:
            self._model._raise(error)
        except ValueError as error:  # an event that is no JSON
            raise self._model._no_answer() from error

    def close(self) -> None:
        self._opened.close()


_backoff = wait_random_exponential(multiplier=FIRST_WAIT_S, max=LONGEST_WAIT_S)


def _is_worth_another_attempt(state: RetryCallState) -> bool:
    error = state.outcome.exception() if state.outcome else None
    return isinstance(error, _TRANSIENT) and not isinstance(error, openai.APITimeoutError)


def _wait(state: RetryCallState) -> float:
    """What the endpoint asks for in `Retry-After` (seconds), within bounds; else a random, growing time."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.response.headers.get("retry-after", "") if isinstance(error, openai.APIStatusError) else ""
    if asked.isascii() and asked.isdigit():
        return min(float(asked), LONGEST_RETRY_AFTER_S)
    return _backoff(state)


def _tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_buffer(path.read_bytes())
    except OSError as error:
        reason = error.strerror or str(error)
    except ValueError as error:
        reason = str(error)
    raise ModelUnavailable(
        f"The tokenizer can't be read: {reason}.",
        where=str(path),
        remedy="Set MAFTEACH_LLM_TOKENIZER to the model's tokenizer.json.",
    )
