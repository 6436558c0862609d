"""The language model over a real endpoint: answers, streams, failures by class."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from models.base import LanguageModel, Message
from models.factory import load_language_model
from models.language_model import OpenAICompatibleLanguageModel
from search_config.errors import InvalidSettings, ModelError, ModelOverloaded, ModelTimeout, ModelUnavailable
from search_config.settings import Settings
from tests.contracts.model_server import KEY, ModelServer, serving

CHAT = (Message("system", "כללים"), Message("user", "שאלה"))
TEXT = 'התעריף הוא 12.5 ש"ח. [1]'


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(lambda _: TEXT) as running:
        yield running


def model_of(server: ModelServer, **overrides: object) -> OpenAICompatibleLanguageModel:
    values: dict[str, object] = {"window": 4096, "timeout_s": 20.0, "attempts": 3, **overrides}
    return OpenAICompatibleLanguageModel(server.url, "scripted", str(values.pop("api_key", KEY)), **values)  # type: ignore[arg-type]


def test_it_is_a_language_model(server: ModelServer) -> None:
    model = model_of(server)
    assert isinstance(model, LanguageModel)
    assert (model.description.name, model.description.window) == ("scripted", 4096)


def test_an_answer_and_what_was_sent(server: ModelServer) -> None:
    done = model_of(server).complete(CHAT, max_tokens=64, json_schema={"type": "object"})
    assert (done.text, done.whole) == (TEXT, True)
    (sent,) = server.requests
    assert sent["messages"] == [{"role": "system", "content": "כללים"}, {"role": "user", "content": "שאלה"}]
    assert (sent["max_tokens"], sent["temperature"]) == (64, 0.0)
    assert sent["response_format"]["json_schema"]["schema"] == {"type": "object"}


def test_a_stream_is_the_same_text_in_pieces(server: ModelServer) -> None:
    pieces = model_of(server).stream(CHAT, max_tokens=64)
    assert "".join(pieces) == TEXT
    assert pieces.whole


@pytest.mark.parametrize("streaming", [False, True])
def test_a_cut_answer_is_known_as_one(server: ModelServer, streaming: bool) -> None:
    server.finish = "length"
    if streaming:
        pieces = model_of(server).stream(CHAT, max_tokens=64)
        list(pieces)
        assert not pieces.whole
    else:
        assert not model_of(server).complete(CHAT, max_tokens=64).whole


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_tried_again(server: ModelServer, status: int, streaming: bool) -> None:
    server.failures, server.retry_after = [status, status], "0"
    model = model_of(server)
    text = "".join(model.stream(CHAT, max_tokens=9)) if streaming else model.complete(CHAT, max_tokens=9).text
    assert text == TEXT
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("failures", "error", "code", "calls"),
    [
        ([429] * 3, ModelOverloaded, "model_overloaded", 3),
        ([503] * 3, ModelOverloaded, "model_overloaded", 3),
        ([500] * 3, ModelUnavailable, "model_unavailable", 3),
        ([400], ModelUnavailable, "model_unavailable", 1),
        ([404], ModelUnavailable, "model_unavailable", 1),
    ],
)
def test_failures_by_class(
    server: ModelServer, failures: list[int], error: type[ModelError], code: str, calls: int
) -> None:
    server.failures, server.retry_after = list(failures), "0"
    with pytest.raises(error) as raised:
        model_of(server).complete(CHAT, max_tokens=9)
    assert raised.value.code == code
    assert raised.value.remedy
    assert len(server.requests) == calls


def test_a_wrong_key_is_named_and_not_shown(server: ModelServer) -> None:
    with pytest.raises(ModelUnavailable, match="key") as raised:
        model_of(server, api_key="wrong-one").complete(CHAT, max_tokens=9)
    assert "wrong-one" not in str(raised.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize("streaming", [False, True])
def test_a_silent_model_is_waited_for_once(server: ModelServer, streaming: bool) -> None:
    server.hold_after = 1
    model = model_of(server, timeout_s=0.3)
    with pytest.raises(ModelTimeout):
        _ = list(model.stream(CHAT, max_tokens=9)) if streaming else model.complete(CHAT, max_tokens=9)
    assert len(server.requests) == 1


@pytest.mark.parametrize("raw", [b"<html>", b"{}", b'{"choices": []}', b'{"choices": [{"message": 3}]}'])
def test_a_body_that_is_no_answer(server: ModelServer, raw: bytes) -> None:
    server.raw = raw
    with pytest.raises(ModelUnavailable):
        model_of(server).complete(CHAT, max_tokens=9)


def test_nobody_there() -> None:
    with serving(lambda _: TEXT) as gone:
        url = gone.url
    model = OpenAICompatibleLanguageModel(url, "m", window=4096, timeout_s=5.0, attempts=1)
    with pytest.raises(ModelUnavailable, match="does not answer"):
        model.complete(CHAT, max_tokens=9)


def test_a_stream_that_is_closed_ends_the_call(server: ModelServer) -> None:
    server.script = lambda _: "מילה " * 400_000
    pieces = model_of(server).stream(CHAT, max_tokens=9)
    assert next(iter(pieces))
    pieces.close()
    assert server.left.wait(20)


def test_tokens_are_counted_by_the_tokenizer_or_bounded_by_bytes(server: ModelServer, tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = Tokenizer(models.WordLevel({"שלום": 0, "?": 1}, unk_token="?"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    file = tmp_path / "tokenizer.json"
    words.save(str(file))
    assert model_of(server, tokenizer=file).count_tokens(["שלום שלום עולם", ""]) == [3, 0]
    assert model_of(server).count_tokens(["שלום", "ab", ""]) == [8, 2, 0]
    file.write_text("{}", encoding="ascii")
    with pytest.raises(ModelUnavailable, match="tokenizer"):
        model_of(server, tokenizer=file)


def test_settings_choose_the_model() -> None:
    assert load_language_model(Settings(_env_file=None)) is None
    base: dict[str, object] = {"_env_file": None, "llm_url": "http://127.0.0.1:1/v1"}
    with pytest.raises(InvalidSettings, match="LLM_MODEL"):
        load_language_model(Settings(**base))  # type: ignore[arg-type]
    with pytest.raises(InvalidSettings, match="window"):
        load_language_model(Settings(**base, llm_model="m", llm_window=2048, llm_max_tokens=2000))  # type: ignore[arg-type]
    model = load_language_model(Settings(**base, llm_model="m"))  # type: ignore[arg-type]
    assert model is not None
    assert model.description.name == "m"
