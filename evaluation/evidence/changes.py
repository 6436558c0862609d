"""What is not as it was when a case was frozen, by stage. Pure."""

from __future__ import annotations

from typing import Literal

from evaluation.evidence.base import EvidenceRecord
from evaluation.evidence.cases import Case, CorpusSnapshot, GenerationIdentity, RetrievalIdentity
from evaluation.evidence.freeze import frozen_passages
from evaluation.evidence.refind import Refound
from query.request import SearchResult

Stage = Literal["corpus", "index", "retrieval", "passages", "generation", "answer"]


class Change(EvidenceRecord):
    """One thing that is not as it was."""

    stage: Stage
    what: str
    before: str
    after: str


def corpus_changes(before: CorpusSnapshot, after: CorpusSnapshot) -> list[Change]:
    """Documents that came, went or have another version."""
    changes: list[Change] = []
    if before.documents_hash != after.documents_hash:
        then = {one.document_id: one for one in before.documents}
        now = {one.document_id: one for one in after.documents}
        for one in sorted(then.keys() | now.keys()):
            old, new = then.get(one), now.get(one)
            if old is None or new is None or old.content_hash != new.content_hash or old.version != new.version:
                named = new or old
                changes.append(
                    Change(
                        stage="corpus",
                        what=named.name if named else one,
                        before=f"version {old.version}" if old else "absent",
                        after=f"version {new.version}" if new else "absent",
                    )
                )
        if not changes:
            counts = (str(before.documents_total), str(after.documents_total))
            changes.append(Change(stage="corpus", what="documents", before=counts[0], after=counts[1]))
    return changes


def identity_changes(before: RetrievalIdentity, after: RetrievalIdentity) -> list[Change]:
    """What finds passages otherwise: model, pipeline, analyzer, profile, weights, route."""
    then, now = before.model_dump(mode="json"), after.model_dump(mode="json")
    at_index = {"model", "pipeline", "analyzer"}
    return [
        Change(
            stage="index" if name in at_index else "retrieval", what=name, before=str(then[name]), after=str(now[name])
        )
        for name in then
        if then[name] != now[name]
    ]


def generation_changes(before: GenerationIdentity, after: GenerationIdentity | None) -> list[Change]:
    """What writes the answer otherwise: method, model, prompt, version of the application, locale; none where no answer
    was asked for."""
    if after is None:
        return []
    then, now = before.model_dump(mode="json"), after.model_dump(mode="json")
    return [
        Change(stage="generation", what=name, before=str(then[name]), after=str(now[name]))
        for name in then
        if then[name] != now[name]
    ]


def retrieval_changes(case: Case, result: SearchResult) -> list[Change]:
    """Passages at another rank, as far down as was frozen, and a refusal that came or went."""
    ranked = [one for one in case.passages if one.rank is not None]
    before = {one.text_sha256: one for one in ranked}
    after = {one.text_sha256: one for one in frozen_passages(result)}
    changes = []
    for key in [*before, *(key for key in after if key not in before)]:
        old, new = before.get(key), after.get(key)
        ranks = (str(old.rank) if old else "not retrieved", str(new.rank) if new else "not retrieved")
        named = old or new
        deeper = old is None and new is not None and (new.rank or 0) > len(ranked)
        if ranks[0] != ranks[1] and named is not None and not deeper:
            what = f"rank of {named.document_name} [{named.locator.from_}:{named.locator.to}]"
            changes.append(Change(stage="retrieval", what=what, before=ranks[0], after=ranks[1]))
    refused = bool(case.retrieval.get("refused"))
    if refused != result.refused:
        changes.append(
            Change(stage="retrieval", what="refused", before=str(refused).lower(), after=str(result.refused).lower())
        )
    return changes


def passage_changes(refound: tuple[Refound, ...]) -> list[Change]:
    """Passages that are not where they were."""
    return [
        Change(
            stage="passages",
            what=f"{one.document_name}, passage {one.chunk_id}",
            before="as frozen",
            after=f"found by {one.how}" + ("" if one.same_text else ", with other text")
            if one.how
            else f"can't be found: {one.why_not}",
        )
        for one in refound
        if one.how != "locator"
    ]


def answer_changes(case: Case, answer: str | None) -> list[Change]:
    """Another text; none where it was not asked for again."""
    if answer is None or answer == case.answer:
        return []
    return [Change(stage="answer", what="text", before=case.answer, after=answer)]
