"""What a language model reads: every quote verbatim, every value read by our rules, or an issue."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from ingest.extract.registry import extract
from ingest.fields.by_model import read_fields_by_model
from ingest.fields.read import FieldsRead
from ingest.metadata import typed
from models.base import Completion, CompletionStream, LanguageModelDescription, Message
from search_config.document_fields import FieldStatus, Origin, Relation, Trouble

TEXT = 'הסכם 7/24\nנחתם ביום 15.2.24 בין דנה לוי לבין רון בר\nהתמורה: 12,500 ש"ח\nמחליף את הסכם 3/20\n'
NOT_FOUND = {"status": "not_found", "quote": ""}
FORM: dict[str, Any] = {
    "type": "contract",
    "parties": [{"quote": "דנה לוי", "kind": "person", "identifier": ""}],
    "signed": {"status": "value", "quote": "15.2.24"},
    "effective": NOT_FOUND,
    "expires": NOT_FOUND,
    "amount": {"status": "value", "quote": '12,500 ש"ח'},
    "references": [{"quote": "7/24", "relation": "own"}, {"quote": "3/20", "relation": "supersedes"}],
}


class Canned:
    """A model that gives one answer."""

    description = LanguageModelDescription("canned", 8_000)

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.schema: Mapping[str, Any] | None = None

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        json_schema: Mapping[str, Any] | None = None,
        temperature: float = 0.0,
    ) -> Completion:
        self.schema = json_schema
        return Completion(self.answer)

    def stream(self, messages: Sequence[Message], *, max_tokens: int, temperature: float = 0.0) -> CompletionStream:
        raise NotImplementedError


def _read(answer: str) -> FieldsRead:
    document = extract(TEXT.encode(), name="x.txt", max_bytes=10_000)
    model = Canned(answer)
    read = read_fields_by_model(document, typed(document.metadata), model)
    assert model.schema is not None
    return read


def test_a_whole_form() -> None:
    read = _read(json.dumps(FORM))
    fields = read.fields
    assert read.issues == ()
    assert (fields.signed.value, fields.signed.origin) == (date(2024, 2, 15), Origin.MODEL)
    assert (fields.amount.value, fields.currency.value) == (Decimal(12500), "ILS")
    assert [(one.reference, one.relation) for one in fields.refers_to] == [("3/20", Relation.SUPERSEDES)]
    assert fields.amount.place is not None
    assert TEXT[fields.amount.place.from_ : fields.amount.place.to] == '12,500 ש"ח'


@pytest.mark.parametrize(
    ("field", "quote", "trouble"),
    [
        ("signed", "16.2.24", Trouble.NOT_VERBATIM),
        ("signed", "7/24", Trouble.INVALID_VALUE),
        ("amount", "דנה לוי", Trouble.INVALID_VALUE),
    ],
)
def test_a_value_that_is_not_in_the_text_waits_for_a_person(field: str, quote: str, trouble: Trouble) -> None:
    read = _read(json.dumps({**FORM, field: {"status": "value", "quote": quote}}))
    assert [(issue.field, issue.trouble) for issue in read.issues] == [(field, trouble)]
    assert getattr(read.fields, field).status is FieldStatus.NOT_FOUND


def test_an_answer_that_is_no_form_is_an_issue() -> None:
    read = _read("I cannot do that.")
    assert [issue.trouble for issue in read.issues] == [Trouble.INVALID_VALUE]
