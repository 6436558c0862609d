"""Cases for tests: small, with passages of their own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from evaluation.evidence.canonical import text_hash
from evaluation.evidence.cases import (
    Case,
    CorpusSnapshot,
    DisplayedCitation,
    FrozenPassage,
    GenerationIdentity,
    RetrievalIdentity,
)
from evaluation.evidence.claim_sets import first_claims
from evaluation.evidence.decisions import Support, Verdict
from evaluation.evidence.file import CaseFile
from search_config.records import Locator

AT: Final = datetime(2025, 3, 4, 5, 6, 7, tzinfo=UTC)
PASSAGES: Final = (
    'תו תושב ראשון עולה 46 ש"ח. התו תקף שנתיים, אלא אם הרכב נמכר.',
    "The fee is NIS 950 an hour. Access lapses after 180 days.",
)
ANSWER: Final = 'תו תושב ראשון עולה 46 ש"ח [1], והתו תקף שנתיים [1]. המדור ישיב בתוך שבעה ימי עבודה.'


def passage(rank: int, text: str, *, start: int = 10, groups: tuple[str, ...] = ()) -> FrozenPassage:
    return FrozenPassage(
        rank=rank,
        chunk_id=f"chunk-{rank}",
        document_id=f"document-{rank}",
        document_name=f"name-{rank}.md",
        version=1,
        content_hash="a" * 64,
        section="",
        language="he",
        locator=Locator(from_=start, to=start + len(text)),
        text=text,
        text_sha256=text_hash(text),
        before="לפני " * 20,
        after=" אחרי" * 20,
        groups=groups,
    )


def case(
    answer: str = ANSWER,
    passages: Sequence[str] = PASSAGES,
    *,
    tenant: str = "demo",
    groups: tuple[str, ...] = (),
    refused: bool = False,
) -> Case:
    """A case that cites each passage by its rank."""
    frozen = tuple(passage(rank, text, groups=groups) for rank, text in enumerate(passages, start=1))
    return Case(
        tenant=tenant,
        owner="dana",
        answered_at=AT,
        query="כמה עולה תו?",
        outcome="refusal" if refused else "answer",
        answer=answer,
        label="מצוטט מתוך המקורות, לא נבדקה נכונותו",
        citations=()
        if refused
        else tuple(
            DisplayedCitation(
                index=one.rank,
                document_id=one.document_id,
                document_name=one.document_name,
                version=1,
                content_hash=one.content_hash,
                chunk_id=one.chunk_id,
                locator=one.locator,
                locator_label="",
                quote=one.text,
                groups=groups,
            )
            for one in frozen
        ),
        filters={},
        retrieval={"hits": [{"score": 0.5}], "refused": refused},
        passages=frozen,
        corpus=CorpusSnapshot(
            index="demo-chunks-v000001", documents_total=0, documents_hash="b" * 64, documents=(), complete=True
        ),
        retrieval_identity=RetrievalIdentity(
            model="m", pipeline="p", analyzer="a", profile="default/1", weights={"bm25": 0.5}, route="semantic"
        ),
        generation_identity=GenerationIdentity(method="by hand", app_version="0", locale="he"),
    )


def file(one: Case | None = None) -> CaseFile:
    """A case with its claims by rules."""
    known = one or case()
    return CaseFile(case=known, sets=(first_claims(known, at=AT),))


def verdict(support: Support = "supported", **others: object) -> Verdict:
    return Verdict.model_validate(
        {"attachment": "attached", "attachment_reason": "r", "support": support, "support_reason": "r", **others}
    )
