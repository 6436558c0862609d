"""Replaying many cases, and what must hold of a labelled set at every change of prompt, model or index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from evaluation.evidence.agreement import ProposalAgreement, proposal_agreement
from evaluation.evidence.base import now
from evaluation.evidence.file import CaseFile
from evaluation.evidence.folder import case_folders, load_case
from evaluation.evidence.labels import Label, load_labels, trapped
from evaluation.evidence.pack import build_pack
from evaluation.evidence.replay import Answerer, ReplayRun, replay
from evaluation.evidence.rows import Row
from evaluation.evidence.temporary import Progress, temporary_system
from ingest.registry import Registry
from models.base import Embedder, LanguageModel
from query.answer_request import AnswerRequest
from query.answer_result import AnswerResult
from query.answering import answer
from query.request import SearchRequest
from query.search import SearchContext
from search_config.client import Engine
from search_config.settings import Settings

# Share of plainly supported rows that the rules must propose so; below it they would be of no use to a reviewer.
LEAST_RECALL: Final = 0.6
# Where the corpus of a folder of frozen cases stands: beside it.
DOCUMENTS: Final = "documents"


@dataclass(frozen=True, slots=True)
class SuiteReport:
    """Runs of several cases.

    Attributes:
        agreement: of the proposals with labels; None where there are no labels.
        failures: what must hold and does not, each a sentence.
    """

    files: tuple[CaseFile, ...]
    runs: tuple[ReplayRun, ...]
    agreement: ProposalAgreement | None
    failures: tuple[str, ...]

    def summary(self) -> dict[str, Any]:
        """For machines; without the raw output of the searches."""
        return {
            "runs": [run.model_dump(mode="json", by_alias=True, exclude={"retrieval", "corpus"}) for run in self.runs],
            "agreement": None if self.agreement is None else self.agreement.model_dump(mode="json"),
            "failures": list(self.failures),
        }


def replay_folders(
    folders: Sequence[Path],
    documents: Path | None,
    *,
    engine: Engine,
    embedder: Embedder,
    settings: Settings,
    model: LanguageModel | None,
    app_version: str | None = None,
    progress: Progress | None = None,
) -> SuiteReport:
    """Replay frozen cases over their corpus, ingested for this run by today's system.

    Raises:
        InvalidDataset, EvidenceCorrupt, IndexingIncomplete
    """
    paths = [one for folder in folders for one in case_folders(folder)]
    files = [load_case(path) for path in paths]
    corpus = documents or folders[0].resolve().parent / DOCUMENTS
    if (folders[0] / "case.json").is_file() and documents is None:
        corpus = folders[0].resolve().parent.parent / DOCUMENTS
    runs: list[ReplayRun] = []
    for tenant, of_tenant in groupby(sorted(files, key=lambda one: one.case.tenant), key=lambda one: one.case.tenant):
        with temporary_system(
            corpus, tenant, engine=engine, embedder=embedder, settings=settings, progress=progress
        ) as system:
            runs += _runs(list(of_tenant), system.context, system.registry, model, app_version)
    pairs = [pair for path, file in zip(paths, files, strict=True) for pair in load_labels(path, file)]
    return _report(files, runs, pairs)


def replay_stored(
    files: Sequence[CaseFile],
    *,
    context: SearchContext,
    registry: Registry,
    model: LanguageModel | None,
    app_version: str | None = None,
) -> SuiteReport:
    """Replay cases against the live index."""
    return _report(files, _runs(files, context, registry, model, app_version), [])


def labelled(folders: Sequence[Path], files: Sequence[CaseFile]) -> ProposalAgreement:
    """Proposals against labels of folders; of stored cases, against decisions that reviewers agree on."""
    if folders:
        paths = [one for folder in folders for one in case_folders(folder)]
        return _agreement([pair for path in paths for pair in load_labels(path, load_case(path))])
    decided = []
    for file in files:
        for row in file.rows if file.sets else ():
            verdicts = {one.verdict.support for one in row.decisions}
            if len(verdicts) == 1:
                decided.append((row.claim_text, verdicts.pop(), row.proposal.support))
    return proposal_agreement(decided)


def suite_pack(report: SuiteReport) -> bytes:
    """The audit pack of the runs: the cases, and a record of every run."""
    return build_pack(report.files, runs={run.run_id: run for run in report.runs})


def _runs(
    files: Sequence[CaseFile],
    context: SearchContext,
    registry: Registry,
    model: LanguageModel | None,
    app_version: str | None,
) -> list[ReplayRun]:
    answerer = _answerer(context, model)
    return [
        replay(file, context=context, registry=registry, at=now(), answerer=answerer, app_version=app_version)
        for file in files
    ]


def _answerer(context: SearchContext, model: LanguageModel | None) -> Answerer:
    def write(request: SearchRequest) -> AnswerResult:
        return answer(AnswerRequest(search=request), context, model=model)

    return write


def _agreement(pairs: Sequence[tuple[Row, Label]]) -> ProposalAgreement:
    return proposal_agreement([(row.claim_text, label.support, row.proposal.support) for row, label in pairs])


def _report(files: Sequence[CaseFile], runs: Sequence[ReplayRun], pairs: Sequence[tuple[Row, Label]]) -> SuiteReport:
    failures = []
    for run in runs:
        lost = [one for one in run.refound if one.how is None]
        failures += [f"{run.case_id[:12]}: {one.document_name}: {one.why_not}" for one in lost]
        failures += [
            f"{run.case_id[:12]}: {row.proposal_before} became {row.proposal_after}: {row.claim_text}"
            for row in run.rows
            if not row.same
        ]
    agreement = _agreement(pairs) if pairs else None
    failures += [f"a trap is proposed as supported: {text}" for text in trapped(pairs)]
    if agreement is not None:
        plain = next(one for one in agreement.by_label if one.label == "supported")
        if plain.rows and plain.recall.value < LEAST_RECALL:
            failures.append(
                f"{plain.recall.value:.2f} of {plain.rows} supported rows are proposed so; {LEAST_RECALL} are needed"
            )
    return SuiteReport(files=tuple(files), runs=tuple(runs), agreement=agreement, failures=tuple(failures))
