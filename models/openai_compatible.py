"""An embedding endpoint that speaks OpenAI's protocol: OpenAI itself, vLLM, text-embeddings-inference, Ollama.

Token counts: the protocol has no call for them and names no tokenizer, so a text's count is its length in bytes of
UTF-8. That is an upper bound for every tokenizer in use, since a token stands for at least one byte, and nothing
smaller is one: some byte-level vocabularies spend a token or more on each Hebrew letter, which has two bytes. Too many
tokens would be cut by the endpoint in silence, or refused; too small a chunk is only a smaller chunk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np
import openai
from pydantic import BaseModel
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from models.base import ModelDescription, Vectors
from models.text import encodable
from models.vectors import normalised
from search_config.errors import InvalidSettings, InvalidVector, ModelUnavailable

_SPECIAL_TOKENS = 2  # marks of start and end that most models add
# Texts of one request: text-embeddings-inference refuses more by default; OpenAI takes 2,048.
_BATCH_TEXTS = 32
# Bytes of one request, an upper bound of its tokens: OpenAI takes 300,000 tokens.
_BATCH_BYTES = 250_000
_TIMEOUT_S = 60.0  # a full batch of long texts on a processor without accelerator takes tens of seconds
_ATTEMPTS = 5
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.25, 20.0
# What may be gone at the next attempt: 429, 5xx, a timeout, a broken connection. Other refusals stay as they are.
_TRANSIENT = (openai.RateLimitError, openai.InternalServerError, openai.APITimeoutError, openai.APIConnectionError)


class _Row(BaseModel):
    index: int
    embedding: list[float]


class _Reply(BaseModel):
    """What is read of an answer; validated here, since the library lets any body pass."""

    data: list[_Row]


class OpenAICompatibleEmbedder:
    """Implements `models.base.Embedder`. Texts beyond the window are cut at it. Safe for use by several threads."""

    def __init__(
        self,
        url: str,
        model: str,
        api_key: str | None = None,
        *,
        dim: int,
        window: int,
        revision: str | None = None,
        query_prompt: str = "",
        passage_prompt: str = "",
    ) -> None:
        """Nothing is sent before the first text.

        Args:
            url: base URL, ending in `/v1`.
            model: the endpoint's name for it.
            api_key: left out for endpoints without keys.
            dim: length of its vectors; another one that comes back is refused.
            window: tokens that it reads, counted as bytes here.
            revision: of the weights, where the name alone does not fix them.
            query_prompt, passage_prompt: put before the texts, for models that were trained with them.

        Raises:
            InvalidSettings: the window leaves no room for text.
        """
        self._model = model
        self._dim = dim
        self._window = window
        self._revision = _revision(revision, query_prompt, passage_prompt)
        self._query_prompt, self._passage_prompt = query_prompt, passage_prompt
        self._where = f"{model} at {url}"
        if min(self.query_window, self.passage_window) < 1:
            raise InvalidSettings(
                "The window leaves no room for text behind the prompt.",
                where="MAFTEACH_EMBEDDER_WINDOW",
                remedy="Set the number of tokens that the endpoint's model reads.",
            )
        # The library insists on a key; endpoints without keys ignore it. Retries are ours, so they are off there.
        self._client = openai.OpenAI(base_url=url, api_key=api_key or "none", max_retries=0, timeout=_TIMEOUT_S)
        self._retrying = Retrying(
            retry=retry_if_exception_type(_TRANSIENT),
            wait=wait_random_exponential(multiplier=_FIRST_WAIT_S, max=_LONGEST_WAIT_S),
            stop=stop_after_attempt(_ATTEMPTS),
            reraise=True,
        )

    @property
    def description(self) -> ModelDescription:
        """The protocol tells no revision: it is the one given, with a hash of the prompts where there are any."""
        return ModelDescription(
            name=self._model, revision=self._revision, dim=self._dim, window=self._window, licence="unknown"
        )

    @property
    def passage_window(self) -> int:
        """Bytes left for a passage's own text."""
        return self._window - _SPECIAL_TOKENS - _bytes(self._passage_prompt)

    @property
    def query_window(self) -> int:
        """Bytes left for a query's own text."""
        return self._window - _SPECIAL_TOKENS - _bytes(self._query_prompt)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Bytes of each text in UTF-8: at least its tokens (see the module)."""
        return [_bytes(text) for text in texts]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """`(n, dim)` unit vectors of passages, in their order."""
        return self._embed([self._passage_prompt + _cut(text, self.passage_window) for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """`(n, dim)` unit vectors of queries, in their order."""
        return self._embed([self._query_prompt + _cut(text, self.query_window) for text in texts])

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _embed(self, texts: list[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self._dim), dtype=np.float32)
        return np.concatenate([self._vectors(batch) for batch in _batches(texts)])

    def _vectors(self, texts: list[str]) -> Vectors:
        try:
            reply = self._retrying(self._request, texts)
        except openai.AuthenticationError as error:
            raise self._unavailable("refuses the key", "Check MAFTEACH_EMBEDDER_API_KEY.") from error
        except _TRANSIENT as error:
            raise self._unavailable(
                f"does not answer ({error})", "Check MAFTEACH_EMBEDDER_URL, and try later."
            ) from error
        except openai.OpenAIError as error:
            raise self._unavailable(f"refuses the request ({error})", "Check MAFTEACH_EMBEDDER_MODEL.") from error
        except ValueError as error:  # a body that is no JSON, or has no vectors
            raise self._unavailable("gives no vectors", "Check that the URL ends in /v1.") from error
        rows = [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]
        if len(rows) != len(texts) or any(len(row) != self._dim for row in rows):
            raise InvalidVector(
                f"The endpoint gave {len(rows)} vectors for {len(texts)} texts, "
                f"of {sorted({len(row) for row in rows})} values instead of {self._dim}.",
                where=self._where,
                remedy="Check the model's name and MAFTEACH_EMBEDDER_DIM.",
            )
        return normalised(np.array(rows, dtype=np.float32), dim=self._dim, where=self._where)

    def _request(self, texts: list[str]) -> _Reply:
        # Asked for as numbers: the library's default, base64, is unknown to many endpoints.
        answer = self._client.embeddings.with_raw_response.create(
            model=self._model, input=texts, encoding_format="float"
        )
        return _Reply.model_validate_json(answer.content)

    def _unavailable(self, what: str, remedy: str) -> ModelUnavailable:
        return ModelUnavailable(f"The embedding endpoint {what}.", where=self._where, remedy=remedy)


def _bytes(text: str) -> int:
    return len(encodable(text).encode())


def _cut(text: str, size: int) -> str:
    """The longest beginning of at most `size` bytes; a blank text, which endpoints refuse, becomes one space."""
    return encodable(text).encode()[:size].decode(errors="ignore") or " "


def _batches(texts: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        length = _bytes(text)
        if batch and (len(batch) == _BATCH_TEXTS or size + length > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += length
    yield batch


def _revision(given: str | None, *prompts: str) -> str:
    base = given or "endpoint"
    if not any(prompts):
        return base
    digest = hashlib.sha256("\0".join(prompts).encode()).hexdigest()
    return f"{base}-{digest[:8]}"
