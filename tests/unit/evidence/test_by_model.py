"""Claims by a model, over a real endpoint: taken where they are verbatim and whole, refused else."""

from __future__ import annotations

import json

import pytest

from evaluation.evidence.by_model import claims_by_model
from models.language_model import OpenAICompatibleLanguageModel
from search_config.errors import InvalidRequest
from tests.contracts.model_server import KEY, serving
from tests.unit.evidence.cases import AT, case

ANSWER = "Parking is free [1]. Entry costs 5 NIS."


def split(reply: str) -> list[str]:
    with serving(lambda _: reply) as server:
        model = OpenAICompatibleLanguageModel(server.url, "scripted", KEY, window=4096, timeout_s=20, attempts=1)
        try:
            made = claims_by_model(case(ANSWER), model, at=AT)
        finally:
            model.close()
        # The answer of the model was constrained.
        assert "claims" in json.dumps(server.requests[0]["response_format"])
    assert (made.operation, made.author) == ("model", "scripted")
    return [claim.text for claim in made.claims]


def test_verbatim_claims_are_taken() -> None:
    claims = ["Parking is free [1].", "Entry costs 5 NIS."]
    assert split(json.dumps({"claims": claims})) == claims


@pytest.mark.parametrize(
    "reply",
    ["no JSON", '{"claims": ["Parking is free [1]."]}', '{"claims": ["Parking is cheap.", "Entry costs 5 NIS."]}'],
)
def test_what_is_not_the_answer_is_refused(reply: str) -> None:
    with pytest.raises(InvalidRequest):
        split(reply)
