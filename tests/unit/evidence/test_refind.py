"""Finding passages again: by locator, id, hash, surroundings, or not at all."""

from __future__ import annotations

from evaluation.evidence.cases import FrozenPassage
from evaluation.evidence.refind import Today, refind
from query.request import Hit
from search_config.records import Locator

BEFORE = "הפתיח של המסמך, שיש בו די אותיות כדי שיימצא פעם אחת בלבד. "
TEXT = "הפסקה שנשלפה."
AFTER = " הסיום של המסמך, גם הוא ארוך דיו כדי להימצא פעם אחת בלבד."
DOCUMENT = BEFORE + TEXT + AFTER


def frozen() -> FrozenPassage:
    from tests.unit.evidence.cases import passage

    made = passage(1, TEXT, start=len(BEFORE))
    return made.model_copy(update={"before": BEFORE, "after": AFTER})


def hit(text: str, *, chunk: str, document: str = "document-1") -> Hit:
    return Hit(
        rank=1, document_id=document, version=1, content_hash="c", chunk_id=chunk, title="", section="", content=text,
        language="he", locator=Locator(from_=3, to=3 + len(text)),
    )  # fmt: skip


def test_each_way_in_its_order() -> None:
    assert refind(frozen(), Today({"document-1": DOCUMENT}, ())).how == "locator"
    moved = "כותרת חדשה. " + DOCUMENT
    assert refind(frozen(), Today({"document-1": moved}, [hit(TEXT, chunk="chunk-1")])).how == "id"
    other = refind(frozen(), Today({}, [hit(TEXT, chunk="x", document="document-9")]))
    assert (other.how, other.document_id, other.from_) == ("hash", "document-9", 3)
    shifted = refind(frozen(), Today({"document-1": moved}, ()))
    assert (shifted.how, shifted.same_text) == ("hash", True)
    assert moved[shifted.from_ : shifted.to] == TEXT


def test_a_changed_passage_is_found_by_its_surroundings_with_its_new_text() -> None:
    today = BEFORE + "הפסקה שהוחלפה, ארוכה מעט יותר." + AFTER
    found = refind(frozen(), Today({"document-1": today}, ()))
    assert (found.how, found.same_text, found.text) == ("surroundings", False, "הפסקה שהוחלפה, ארוכה מעט יותר.")


def test_what_cannot_be_found_says_why() -> None:
    assert refind(frozen(), Today({}, ())).why_not == "its document is not there any more"
    found = refind(frozen(), Today({"document-1": "מסמך אחר לגמרי."}, ()))
    assert (found.how, found.same_text) == (None, False)
    assert found.why_not
    # Surroundings that stand twice lead nowhere.
    assert refind(frozen(), Today({"document-1": (BEFORE + "א" + AFTER) * 2}, ())).how is None
