"""What an evaluation says: one frozen record, written as JSON and read back for comparisons."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Final

import psutil
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.refusal_report import RefusalReport
from evaluation.significance import Estimate, PairedTest, sign_test
from search_config.errors import InvalidRequest

GIB: Final = 1024**3

Figures = dict[str, Estimate]
Score = Callable[[int | None], float]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class Machine(_Part):
    """Where it was measured."""

    system: str
    python: str
    cores: int
    memory_gib: float

    @classmethod
    def here(cls) -> Machine:
        return cls(
            system=platform.platform(),
            python=platform.python_version(),
            cores=psutil.cpu_count() or 1,
            memory_gib=round(psutil.virtual_memory().total / GIB, 1),
        )


class Corpus(_Part):
    """What was indexed, and how fast."""

    documents: int
    characters: int
    sections: int
    passages: int
    strategy: str
    target: int
    model: str
    analyzer: str
    pipeline: str
    seconds_to_index: float
    ms_per_passage: float


class FoundBy(_Part):
    """Questions whose answer stands among the first k of a leg: of both, of one alone, of neither."""

    k: int
    both: int
    lexical_only: int
    dense_only: int
    neither: int
    examples: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class QuestionRanks(_Part):
    """Rank of the first right passage by stage, None where it is not among the candidates."""

    id: str
    query: str
    language: str
    phrasing: str | None
    ranks: dict[str, int | None]


class Report(_Part):
    """A whole evaluation."""

    dataset: str
    dataset_hash: str
    snapshot_date: date
    machine: Machine
    corpus: Corpus
    queries: int
    profile: str
    destroyed_answers: int
    destroyed_examples: tuple[str, ...] = ()
    stages: dict[str, Figures]
    shipped: str
    by_group: dict[str, dict[str, Figures]] = Field(default_factory=dict, description="`language:he` to stage figures.")
    aspects: Figures = Field(default_factory=dict, description="Share of the aspects covered among the first k.")
    found_by: FoundBy | None = None
    ms_per_query: dict[str, float]
    tests: tuple[PairedTest, ...]
    refusal: RefusalReport | None = Field(None, description="None where the profile never refuses.")
    held_out_questions: int = Field(
        0, description="Questions that the profile was learnt from, measured with the weights of their own fold."
    )
    questions: tuple[QuestionRanks, ...]

    def write(self, path: Path) -> None:
        """Write the report as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read_report(path: Path) -> Report:
    """Read a report back.

    Raises:
        InvalidRequest: no such file, or not a report.
    """
    try:
        return Report.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        raise InvalidRequest(
            "This is not a report of `mafteach evaluate --json`.", where=str(path), remedy="Write one with --json FILE."
        ) from error


def compare(new: Report, old: Report) -> list[PairedTest]:
    """Sign tests of the new report's shipped stage against the old one's, over the questions that both have.

    Compared are R@1, R@5 and the reciprocal rank.
    """
    before = {question.id: question.ranks.get(old.shipped) for question in old.questions}
    now = {question.id: question.ranks.get(new.shipped) for question in new.questions}
    common = sorted(before.keys() & now.keys())
    if not common:
        raise InvalidRequest("The two reports have no question in common.", where=old.dataset)
    tests = []
    for metric, score in (("recall@1", _within(1)), ("recall@5", _within(5)), ("mrr", _reciprocal)):
        tests.append(
            sign_test(
                [score(now[question]) for question in common],
                [score(before[question]) for question in common],
                names=("new", "old"),
                metric=metric,
            )
        )
    return tests


def _within(k: int) -> Score:
    return lambda rank: float(rank is not None and rank <= k)


def _reciprocal(rank: int | None) -> float:
    return 1.0 / rank if rank else 0.0
