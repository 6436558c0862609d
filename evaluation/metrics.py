"""Retrieval figures of one stage, by ir_measures; a question without results scores 0. Pure.

A passage is right when it is of a needle's document and holds the needle whole, at its place. `recall@k` is the share
of questions with a right passage among the first k (ir_measures' Success@k: one answer is enough), `mrr` the mean
reciprocal rank of the first right passage, `ndcg@10` has gain 1 for each right passage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import ir_measures
from pydantic import BaseModel, ConfigDict

from evaluation.dataset import Needle, Question
from evaluation.significance import Estimate, mean, proportion

DEFAULT_CUTOFFS: Final = (1, 4, 5, 8, 20)
NDCG_CUTOFF: Final = 10
MRR: Final = "mrr"
NDCG: Final = f"ndcg@{NDCG_CUTOFF}"

Qrels = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Sequence[str]]


class Passage(BaseModel):
    """A passage of the index as far as judging needs it."""

    model_config = ConfigDict(frozen=True)

    chunk_id: str
    document_id: str
    from_: int
    to: int

    def holds(self, document_id: str, needle: Needle) -> bool:
        """Whether the needle stands in it whole."""
        return self.document_id == document_id and self.from_ <= needle.from_ and needle.to <= self.to


class StageFigures(BaseModel):
    """Figures of one stage over all questions, and by question in their order."""

    model_config = ConfigDict(frozen=True)

    figures: dict[str, Estimate]
    by_question: dict[str, tuple[float, ...]]
    questions: tuple[str, ...]


def recall_name(k: int) -> str:
    """`recall@5`."""
    return f"recall@{k}"


def qrels(questions: Iterable[Question], passages: Iterable[Passage]) -> dict[str, dict[str, int]]:
    """Right passages of every question; a question whose needles no passage holds whole has none."""
    of_document: dict[str, list[Passage]] = {}
    for passage in passages:
        of_document.setdefault(passage.document_id, []).append(passage)
    judged: dict[str, dict[str, int]] = {}
    for question in questions:
        judged[question.id] = {
            passage.chunk_id: 1
            for document, needle in question.needle_places()
            for passage in of_document.get(document, [])
            if passage.holds(document, needle)
        }
    return judged


def figures(run: Run, judged: Qrels, cutoffs: Sequence[int] = DEFAULT_CUTOFFS) -> StageFigures:
    """Score one run.

    Args:
        run: chunk ids by question, best first; a question that is missing or empty scores 0.
        judged: right chunk ids by question; every question in it counts, whatever the run holds.
        cutoffs: the k of recall@k.
    """
    measures = {recall_name(k): ir_measures.Success @ k for k in cutoffs}
    measures |= {MRR: ir_measures.RR, NDCG: ir_measures.nDCG @ NDCG_CUTOFF}
    names = {str(measure): name for name, measure in measures.items()}
    questions = tuple(judged)
    values = {name: dict.fromkeys(questions, 0.0) for name in measures}
    # A question without any right passage is unknown to trec_eval: it keeps its 0.
    for metric in ir_measures.iter_calc(list(measures.values()), _trec(judged), _scored(run)):
        values[names[str(metric.measure)]][metric.query_id] = float(metric.value)
    by_question = {name: tuple(scores[question] for question in questions) for name, scores in values.items()}
    return StageFigures(
        figures={name: _estimate(name, scores) for name, scores in by_question.items()},
        by_question=by_question,
        questions=questions,
    )


def _estimate(name: str, scores: Sequence[float]) -> Estimate:
    if name.startswith("recall@"):
        return proportion(sum(score > 0 for score in scores), len(scores))
    return mean(scores)


def _trec(judged: Qrels) -> dict[str, dict[str, int]]:
    return {question: dict(right) for question, right in judged.items() if right}


def _scored(run: Run) -> dict[str, dict[str, float]]:
    """Scores that fall with the rank, so that every tool breaks ties as the ranking did."""
    return {question: {chunk: float(-rank) for rank, chunk in enumerate(ranking)} for question, ranking in run.items()}
