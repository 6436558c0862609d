"""Cases asked through the normal search, refusal included, and judged by what stands first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evaluation.cases import Case, CaseSet, Quote, Span
from evaluation.index import TENANT, Progress, built_index
from evaluation.significance import Estimate, proportion
from evaluation.tables import show
from models.base import Embedder
from query.profile import Profile
from query.request import CONTEXT_SIZE, SearchRequest, SearchResult
from query.search import SearchContext, search
from search_config.client import Engine
from search_config.records import document_id
from search_config.settings import Settings

# Characters of a first passage that a list of failures shows.
SHOWN: Final = 90

Verdict = Literal["right", "wrong", "refused", "not judged"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class CaseResult(_Part):
    """What became of one case.

    Attributes:
        verdict: `refused` is a refusal where there is an answer; `not judged` a case that should be refused, asked
            with a profile that never refuses.
        rank, wrong_rank: of the first passages with the right and the tempting words, among those of a context.
        together: the passage that stands first holds both, so that this case says little.
    """

    id: str
    kind: str
    query: str
    verdict: Verdict
    rank: int | None
    wrong_rank: int | None
    together: bool
    first: str


class KindFigures(_Part):
    """One kind of cases.

    Attributes:
        right: None where none could be judged.
        in_context: a right passage is among those of a context.
        tempted: the tempting passage stands above the right one, or the right one is not in the context at all.
        together: one passage holds both.
    """

    cases: int
    right: Estimate | None
    in_context: int
    tempted: int
    together: int


class CasesReport(_Part):
    """All cases of a folder."""

    dataset: str
    dataset_hash: str
    profile: str
    refuses: bool
    kinds: dict[str, KindFigures]
    results: tuple[CaseResult, ...]


def run_cases(
    cases: CaseSet, *, engine: Engine, embedder: Embedder, settings: Settings, profile: Profile, progress: Progress
) -> CasesReport:
    """Index the documents for the time being, ask every case, and judge.

    Raises:
        InvalidProfile, IndexingIncomplete, EngineError
    """
    names = {document_id(TENANT, document.id): document.id for document in cases.dataset.documents}
    results = []
    with built_index(cases.dataset, engine=engine, embedder=embedder, settings=settings, progress=progress) as index:
        context = SearchContext(engine, index.info, embedder, profile, index.settings)
        for number, case in enumerate(cases.cases, start=1):
            answer = search(SearchRequest(tenant=TENANT, query=case.query, size=CONTEXT_SIZE), context)
            passages = [Span(names[hit.document_id], hit.locator.from_, hit.locator.to) for hit in answer.hits]
            refuses = profile.refusal is not None
            results.append(judged(case, answer, passages, cases.spans, refuses=refuses))
            progress(number, len(cases.cases), "cases")
    return CasesReport(
        dataset=cases.dataset.name,
        dataset_hash=cases.dataset.content_hash,
        profile=profile.label,
        refuses=profile.refusal is not None,
        kinds={kind: figures([result for result in results if result.kind == kind]) for kind in _kinds(results)},
        results=tuple(results),
    )


def judged(
    case: Case, answer: SearchResult, passages: Sequence[Span], spans: Mapping[Quote, Span], *, refuses: bool
) -> CaseResult:
    """Judge one answer.

    Args:
        passages: where the answer's hits stand, in their order.
        refuses: whether the profile can refuse at all.
    """
    right = [spans[quote] for quote in case.right]
    rank = _first(passages, right)
    wrong_rank = _first(passages, [spans[case.wrong]])
    verdict: Verdict
    if case.refuse:
        verdict = ("right" if answer.refused else "wrong") if refuses else "not judged"
    elif answer.refused:
        verdict = "refused"
    else:
        verdict = "right" if rank == 1 else "wrong"
    first = answer.hits[0] if answer.hits else None
    return CaseResult(
        id=case.id,
        kind=case.kind,
        query=case.query,
        verdict=verdict,
        rank=rank,
        wrong_rank=wrong_rank,
        together=rank == 1 and wrong_rank == 1,
        first="" if first is None else f"{passages[0].document_id}: {' '.join(first.content.split())[:SHOWN]}",
    )


def figures(results: Sequence[CaseResult]) -> KindFigures:
    """Shares of one kind."""
    counted = [result for result in results if result.verdict != "not judged"]
    return KindFigures(
        cases=len(results),
        right=proportion(sum(result.verdict == "right" for result in counted), len(counted)) if counted else None,
        in_context=sum(result.rank is not None for result in results),
        tempted=sum(_tempted(result) for result in results),
        together=sum(result.together for result in results),
    )


def cases_tables(report: CasesReport) -> RenderableType:
    """A row a kind, then every case that did not come out right."""
    head = f"{report.dataset}: {len(report.results)} cases, profile {report.profile}"
    if not report.refuses:
        head += "; this profile never refuses, so that cases without an answer are not judged"
    table = Table(title="Cases by kind", title_justify="left")
    for column in ("kind", "cases", "right", f"in the first {CONTEXT_SIZE}", "tempted", "both in one passage"):
        table.add_column(column)
    for kind, row in report.kinds.items():
        share = "not judged" if row.right is None else show(row.right)
        table.add_row(kind, str(row.cases), share, str(row.in_context), str(row.tempted), str(row.together))
    failed = Table(title="Not right", title_justify="left")
    for column in ("case", "verdict", "rank", "query", "first passage"):
        failed.add_column(column)
    for result in report.results:
        if result.verdict in ("wrong", "refused"):
            rank = "-" if result.rank is None else str(result.rank)
            failed.add_row(result.id, result.verdict, rank, Text(result.query), Text(result.first))
    return Group(Text(head), table, failed) if failed.row_count else Group(Text(head), table)


def _tempted(result: CaseResult) -> bool:
    return result.wrong_rank is not None and (result.rank is None or result.wrong_rank < result.rank)


def _first(passages: Sequence[Span], wanted: Sequence[Span]) -> int | None:
    """Rank, from 1, of the first passage that holds one of the spans."""
    holders = (rank for rank, passage in enumerate(passages, start=1) if any(passage.holds(span) for span in wanted))
    return next(holders, None)


def _kinds(results: Sequence[CaseResult]) -> list[str]:
    return list(dict.fromkeys(result.kind for result in results))
