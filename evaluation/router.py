"""The router measured: its choices on labelled questions, and what they are worth end to end.

Layout of a folder
    questions.jsonl   one labelled question a line: id, question, route, split (`learn` or `heldout`), trait
    documents.jsonl   structured documents, one a line: the fields that are counted
    metadata.jsonl    questions about them: question, as_of, exact, and the answer (value, ids of the documents, names)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.significance import Estimate, PairedTest, proportion, sign_test
from models.base import Embedder
from query.request import Route
from query.routing import Router, RoutingExample
from query.routing_rules import ROUTES
from search_config.errors import InvalidDataset

QUESTIONS_FILE: Final = "questions.jsonl"
DOCUMENTS_FILE: Final = "documents.jsonl"
METADATA_FILE: Final = "metadata.jsonl"
Split = Literal["learn", "heldout"]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class RouterQuestion(_Line):
    """One labelled question."""

    id: str
    question: str = Field(min_length=1)
    route: Route
    split: Split
    trait: Literal["typo", "period", "mixed"] | None = None


class StructuredDocument(_Line):
    """One document by its fields alone."""

    id: str
    name: str
    type: str
    state: str = "ready"
    language: str = "he"
    parties: tuple[dict[str, str], ...] = ()
    signed: date | None = None
    effective: date | None = None
    expires: date | None = None
    amount: Decimal | None = None
    currency: str | None = None
    references: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    filed: str | None = Field(None, alias="date", description="The date that came with the file.")
    not_found: tuple[str, ...] = ()
    stated_none: tuple[str, ...] = ()
    superseded_by: str | None = None


class RightAnswer(_Line):
    """The answer to a question about structured documents; null parts are not asked for."""

    value: str | None = None
    ids: tuple[str, ...] = ()
    names: dict[str, int] | None = None


class MetadataQuestion(_Line):
    """One question about structured documents; without an answer where none is exact."""

    id: str
    question: str
    as_of: date
    exact: bool
    answer: RightAnswer | None = None


class Choice(BaseModel):
    """One question and the router's choice."""

    model_config = ConfigDict(frozen=True)

    id: str
    question: str
    label: Route
    route: Route
    by: str
    reason: str


class RouterReport(BaseModel):
    """Accuracy with Wilson's 95% interval: of all, by class, by trait of the question, by who decided."""

    model_config = ConfigDict(frozen=True)

    split: Split
    accuracy: Estimate
    by_route: dict[str, Estimate]
    by_trait: dict[str, Estimate]
    by_step: dict[str, Estimate]
    questions: int
    wrong: tuple[Choice, ...]


Record = TypeVar("Record", bound=_Line)


def read_lines(path: Path, record: type[Record]) -> tuple[Record, ...]:
    """The records of a file of JSON lines.

    Raises:
        InvalidDataset: the file is missing, or a line is no such record.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InvalidDataset("There is no such file.", where=str(path), remedy="docs/routing.md shows it.") from error
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(record.model_validate_json(line))
        except ValidationError as error:
            problem = error.errors()[0]
            raise InvalidDataset(f"line {number}: {problem['loc']} {problem['msg']}", where=str(path)) from error
    return tuple(found)


def evaluate_router(
    questions: Sequence[RouterQuestion], embedder: Embedder | None, *, split: Split, as_of: date
) -> RouterReport:
    """Route every question of a split.

    The labelled examples are the `learn` split; a question of that split is routed without its own label.
    """
    learnt = [
        RoutingExample(question=question.question, route=question.route)
        for question in questions
        if question.split == "learn"
    ]
    everyone = Router(learnt, embedder)
    choices = []
    for question in questions:
        if question.split != split:
            continue
        router = everyone
        if split == "learn":
            router = Router([example for example in learnt if example.question != question.question], None)
            if router.route(question.question, as_of).by == "unsure":
                router = Router([example for example in learnt if example.question != question.question], embedder)
        made = router.route(question.question, as_of)
        choices.append(
            Choice(
                id=question.id,
                question=question.question,
                label=question.route,
                route=made.route,
                by=made.by,
                reason=made.reason,
            )
        )
    traits = {question.id: question.trait or "plain" for question in questions}
    return RouterReport(
        split=split,
        accuracy=_share(choices),
        by_route=_grouped(choices, lambda choice: choice.label, ROUTES),
        by_trait=_grouped(choices, lambda choice: traits[choice.id], sorted(set(traits.values()))),
        by_step=_grouped(choices, lambda choice: choice.by, sorted({choice.by for choice in choices})),
        questions=len(choices),
        wrong=tuple(choice for choice in choices if choice.route != choice.label),
    )


def _share(choices: Sequence[Choice]) -> Estimate:
    return proportion(sum(choice.route == choice.label for choice in choices), len(choices))


def _grouped(choices: Sequence[Choice], key: Callable[[Choice], str], names: Iterable[str]) -> dict[str, Estimate]:
    groups = {name: [choice for choice in choices if key(choice) == name] for name in names}
    return {name: _share(group) for name, group in groups.items() if group}


class RouteFigures(BaseModel):
    """Right answers by one way of choosing routes."""

    model_config = ConfigDict(frozen=True)

    right: Estimate
    by_kind: dict[str, Estimate]


class EndToEndReport(BaseModel):
    """The same questions by the predicted route, the labelled one, and always both; compared question by question."""

    model_config = ConfigDict(frozen=True)

    questions: int
    routes: dict[str, RouteFigures]
    tests: tuple[PairedTest, ...]
    wrong: dict[str, tuple[str, ...]]


def compared(right: Mapping[str, Mapping[str, bool]], kinds: Mapping[str, str]) -> EndToEndReport:
    """Report what each way of choosing routes got right.

    Args:
        right: by way, then by question's id.
        kinds: `metadata` or `semantic`, by question's id.
    """
    order = sorted(kinds)
    figures = {}
    for way, outcomes in right.items():
        by_kind = {kind: [outcomes[id_] for id_ in order if kinds[id_] == kind] for kind in sorted(set(kinds.values()))}
        figures[way] = RouteFigures(
            right=proportion(sum(outcomes.values()), len(order)),
            by_kind={kind: proportion(sum(values), len(values)) for kind, values in by_kind.items()},
        )
    ways = list(right)
    tests = [
        sign_test(
            [float(right[ways[0]][id_]) for id_ in order],
            [float(right[other][id_]) for id_ in order],
            names=(ways[0], other),
            metric="right",
        )
        for other in ways[1:]
    ]
    wrong = {way: tuple(id_ for id_ in order if not outcomes[id_]) for way, outcomes in right.items()}
    return EndToEndReport(questions=len(order), routes=figures, tests=tuple(tests), wrong=wrong)
