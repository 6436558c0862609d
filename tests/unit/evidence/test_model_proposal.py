"""Proposals by a model, over a real endpoint: shown apart, in no count, nothing of a bad answer taken."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evaluation.evidence.claim_sets import split_claim
from evaluation.evidence.file import CaseFile
from evaluation.evidence.model_proposal import (
    NO_PASSAGE,
    NO_ROOM,
    NOT_OF_THE_FORM,
    TEMPERATURE,
    ModelProposal,
    proposed,
)
from evaluation.evidence.pack import build_pack
from evaluation.evidence.verify import verify_pack
from models.language_model import OpenAICompatibleLanguageModel
from search_config.errors import InvalidRequest
from tests.contracts.model_server import KEY, ModelServer, Request, serving
from tests.unit.evidence.cases import AT, case, file
from tests.unit.evidence.searches import search_result

ANSWER = "The fee is NIS 950 an hour [2]. Parking costs nothing."
YES = json.dumps({"support": "supported", "why": "It says so.", "missing": ""})
# A rewording that the rules know, one with another number, one that abstains, and one that says the claim again.
AGAIN = ("The fee is NIS 950 an hour [1].", "The fee is NIS 590 an hour [1].", "NO ANSWER", "The fee: NIS 950 an hour.")


def known() -> CaseFile:
    """A case whose search can be read again."""
    one = case(ANSWER)
    return file(one.model_copy(update={"retrieval": search_result(one)}))


def asked(server: ModelServer, of: CaseFile, *, resamples: int = 0, window: int = 8192) -> ModelProposal:
    model = OpenAICompatibleLanguageModel(server.url, "scripted", KEY, window=window, timeout_s=20, attempts=1)
    try:
        return proposed(of.case, of.claims, model, at=AT, resamples=resamples)
    finally:
        model.close()


def script(request: Request) -> str:
    """A verdict where a schema is asked for, else the answers above in turn."""
    if "response_format" in request:
        return YES
    script.turn += 1  # type: ignore[attr-defined]
    return AGAIN[script.turn % len(AGAIN)]  # type: ignore[attr-defined]


def test_each_claim_has_an_entailment_and_a_share_of_resamples() -> None:
    of = known()
    script.turn = -1  # type: ignore[attr-defined]
    with serving(script) as server:
        made = asked(server, of, resamples=4)
        judged = [one for one in server.requests if "response_format" in one]
        written = [one for one in server.requests if "response_format" not in one]
    assert [one["temperature"] for one in written] == [TEMPERATURE] * 4
    assert [one["temperature"] for one in judged] == [0.0]
    fee, parking = made.claims
    assert (fee.support, fee.kept, len(made.resamples)) == ("supported", 2, 4)
    # Without an attached passage there is nothing to ask the model.
    assert (parking.support, parking.missing, parking.kept) == ("cannot_be_evaluated", NO_PASSAGE, 0)
    # The passage is fenced, and the claim reaches the model without its mark.
    text = judged[0]["messages"][1]["content"]
    assert "Access lapses after 180 days." in text
    assert "[2]" not in text


def test_a_proposal_is_apart_and_in_no_count() -> None:
    of = known()
    with serving(lambda _: YES) as server:
        made = asked(server, of)
    after = replace(of, proposals=(made,))
    after.check()
    assert after.counts() == of.counts()
    assert after.counts().undecided == 2
    row = after.rows[0]
    assert row.by_model is not None
    assert (row.by_model.support, row.by_model.standing, row.by_model.kept) == (
        "supported", "a proposal, not a verdict", None,
    )  # fmt: skip
    assert row.decisions == ()
    pack = build_pack([after])
    assert verify_pack(pack).holds
    assert b"scripted" in pack


def test_a_claim_that_was_split_has_no_proposal_any_more() -> None:
    of = known()
    with serving(lambda _: YES) as server:
        made = asked(server, of)
    edited = split_claim(of.case, of.claims, of.claims.claims[0].claim_id, "NIS", author="dana", at=AT)
    after = replace(of, sets=(*of.sets, edited), proposals=(made,))
    after.check()
    assert [row.by_model is None for row in after.rows] == [True, True, False]


@pytest.mark.parametrize(
    "reply",
    ["no JSON", '{"support": "true", "why": "w", "missing": ""}', '{"support": "supported", "why": " ", "missing": ""}',
     '{"support": "cannot_be_evaluated", "why": "w", "missing": ""}'],
)  # fmt: skip
def test_what_is_no_judgement_is_not_taken(reply: str) -> None:
    with serving(lambda _: reply) as server:
        made = asked(server, known())
    assert (made.claims[0].support, made.claims[0].problem) == (None, NOT_OF_THE_FORM)


def test_passages_that_do_not_fit_are_not_cut() -> None:
    with serving(lambda _: YES) as server:
        made = asked(server, known(), window=600)
        assert server.requests == []
    assert (made.claims[0].support, made.claims[0].missing) == ("cannot_be_evaluated", NO_ROOM)


def test_a_search_that_cannot_be_read_is_said() -> None:
    with serving(lambda _: YES) as server, pytest.raises(InvalidRequest):
        asked(server, file(case(ANSWER)), resamples=1)


def test_a_proposal_on_other_claims_does_not_hold() -> None:
    of = known()
    with serving(lambda _: YES) as server:
        made = asked(server, of)
    with pytest.raises(InvalidRequest):
        replace(of, proposals=(made.model_copy(update={"claim_set": "0" * 64}),)).check()
