"""Precision and recall of the fields, by field, with intervals; development and held-out documents apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from pydantic import BaseModel, ConfigDict
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evaluation.fields_labels import FieldLabels, FieldSet, LabelledDate, Split
from evaluation.significance import Estimate, proportion
from evaluation.tables import show
from ingest.extract.base import ExtractedDocument
from ingest.fields.names import clean, key
from ingest.fields.read import FieldsRead, read_fields
from ingest.fields.text import fold
from ingest.metadata import TypedMetadata, typed
from search_config.document_fields import FieldReading, FieldStatus, Place

RECALL_MIN: Final = 0.85
QUARANTINED_MAX: Final = 0.15
VALIDATED_RIGHT_MIN: Final = 0.98
DATES: Final = ("signed", "effective", "expires")
ALL: Final = "all fields"

Read = Callable[[ExtractedDocument, TypedMetadata], FieldsRead]
Answers = set[tuple[object, ...]]


class FieldFigures(BaseModel):
    """One field. Precision is of the answers given, recall of those in the labels; a stated none is an answer."""

    model_config = ConfigDict(frozen=True)

    field: str
    labelled: int
    answered: int
    right: int
    precision: Estimate
    recall: Estimate


class SplitFigures(BaseModel):
    """All figures of one split."""

    model_config = ConfigDict(frozen=True)

    split: Split
    documents: int
    fields: tuple[FieldFigures, ...]
    quarantined: Estimate
    troubles_found: Estimate
    validated_right: Estimate
    validated: int
    wrong: tuple[str, ...]

    def misses(self) -> tuple[str, ...]:
        """Targets that do not hold."""
        overall = next(one for one in self.fields if one.field == ALL)
        checks = (
            (f"recall {overall.recall.value:.3f} < {RECALL_MIN}", overall.recall.value < RECALL_MIN),
            (f"quarantined {self.quarantined.value:.3f} > {QUARANTINED_MAX}", self.quarantined.value > QUARANTINED_MAX),
            (
                f"validated and right {self.validated_right.value:.3f} < {VALIDATED_RIGHT_MIN}",
                self.validated_right.value < VALIDATED_RIGHT_MIN,
            ),
        )
        low = [one for one in self.fields if one.labelled and one.recall.value < RECALL_MIN]
        return (
            *(f"{self.split}: {words}" for words, missed in checks if missed),
            *(f"{self.split}: recall of {one.field} {one.recall.value:.3f} < {RECALL_MIN}" for one in low),
        )


class FieldsReport(BaseModel):
    """Figures of the splits that were measured."""

    model_config = ConfigDict(frozen=True)

    splits: tuple[SplitFigures, ...]


def run_fields(field_set: FieldSet, splits: Sequence[Split], *, read: Read = read_fields) -> FieldsReport:
    """Read every document and compare.

    Args:
        field_set: labels and documents.
        splits: those to measure; the held-out one is to be looked at when nothing is changed any more.
        read: what reads; the rules.
    """
    return FieldsReport(
        splits=tuple(
            _split([one for one in field_set.labels if one.split == split], field_set, split, read) for split in splits
        )
    )


def _split(labels: Sequence[FieldLabels], field_set: FieldSet, split: Split, read: Read) -> SplitFigures:
    counts: dict[str, Counter[str]] = {}
    wrong: list[str] = []
    quarantined = troubles = troubles_found = 0
    for one in labels:
        document = field_set.documents[one.id]
        got = read(document, typed(document.metadata))
        quarantined += bool(got.issues)
        troubles += len(one.issues)
        troubles_found += len(set(one.issues) & {issue.trouble for issue in got.issues})
        for field, wanted, given in _answers(one, got):
            count = counts.setdefault(field, Counter())
            count += Counter(labelled=len(wanted), answered=len(given), right=len(wanted & given))
            counts[field] = count
            if wanted != given:
                wrong.append(f"{one.id} {field}: read {_words(given - wanted)}, labelled {_words(wanted - given)}")
    validated = Counter[str]()
    for field in (*DATES, "amount"):
        validated += counts.get(field, Counter())
    every = sum((count for field, count in counts.items() if field != "party kinds"), Counter())
    return SplitFigures(
        split=split,
        documents=len(labels),
        fields=(*(_figures(field, count) for field, count in counts.items()), _figures(ALL, every)),
        quarantined=proportion(quarantined, len(labels)),
        troubles_found=proportion(troubles_found, troubles),
        validated_right=proportion(validated["right"], validated["answered"]),
        validated=validated["answered"],
        wrong=tuple(wrong),
    )


def _figures(field: str, count: Counter[str]) -> FieldFigures:
    return FieldFigures(
        field=field,
        labelled=count["labelled"],
        answered=count["answered"],
        right=count["right"],
        precision=proportion(count["right"], count["answered"]),
        recall=proportion(count["right"], count["labelled"]),
    )


def _answers(label: FieldLabels, got: FieldsRead) -> Iterable[tuple[str, Answers, Answers]]:
    """Each field with the answers of the labels and those that were read."""
    fields = got.fields
    yield "type", {(label.type,)}, _single(fields.type)
    yield "language", {(label.language,)}, _single(fields.language)
    for name in DATES:
        wanted: LabelledDate | None = getattr(label, name)
        reading = getattr(fields, name)
        yield name, set() if wanted is None else {_answer(wanted.status, wanted.value)}, _single_or_none(reading)
    total = label.amount
    currency = fields.currency.value
    yield (
        "amount",
        set() if total is None else {(*_answer(total.status, total.value), total.currency)},
        {(*answer, currency) for answer in _single_or_none(fields.amount)},
    )
    parties = {_name(one.value.name): one.value for one in fields.parties if one.value is not None}
    wanted_parties = {_name(one.name): one for one in label.parties}
    yield "parties", {(name,) for name in wanted_parties}, {(name,) for name in parties}
    both = parties.keys() & wanted_parties.keys()
    yield (
        "party kinds",
        {(name, wanted_parties[name].kind) for name in both},
        {(name, parties[name].kind) for name in both},
    )
    numbered = {name for name in both if wanted_parties[name].identifier}
    yield (
        "identifiers",
        {(name, wanted_parties[name].identifier) for name in numbered},
        {(name, parties[name].identifier) for name in numbered if parties[name].identifier},
    )
    yield "references", {(one.value,) for one in label.references}, {(one.value,) for one in fields.references}
    yield (
        "refers to",
        {(one.reference, one.relation) for one in label.refers_to},
        {(one.reference, one.relation) for one in fields.refers_to},
    )


def _single(reading: FieldReading[Any]) -> Answers:
    return set() if reading.value is None else {(reading.value,)}


def _single_or_none(reading: FieldReading[Any]) -> Answers:
    return set() if reading.status is FieldStatus.NOT_FOUND else {_answer(reading.status, reading.value)}


def _answer(status: FieldStatus, value: object) -> tuple[object, ...]:
    return status, value


def _name(name: str) -> str:
    """A name without titles: whether "Mrs." belongs to it is no question of reading."""
    start, end = clean(fold(name))
    return key(name[start:end])


def _words(answers: Answers) -> str:
    return ", ".join(sorted(" ".join(str(part) for part in answer) for answer in answers)) or "nothing"


def misplaced(field_set: FieldSet, *, read: Read = read_fields) -> tuple[str, ...]:
    """Places whose words are not those of the text at that place; there must be none."""
    bad = []
    for name, document in field_set.documents.items():
        got = read(document, typed(document.metadata))
        for place in _places(got):
            if document.text[place.from_ : place.to] != place.as_read:
                bad.append(f"{name}: {place.as_read!r}")
    return tuple(bad)


def _places(got: FieldsRead) -> Iterable[Place]:
    fields = got.fields
    single: tuple[FieldReading[Any], ...] = (
        fields.type,
        fields.signed,
        fields.effective,
        fields.expires,
        fields.amount,
    )
    yield from (one.place for one in (*single, fields.currency, *fields.parties, *fields.references) if one.place)
    yield from (one.place for one in fields.refers_to if one.place)
    yield from (issue.place for issue in got.issues if issue.place)


def fields_tables(report: FieldsReport) -> RenderableType:
    """The report for people."""
    parts: list[RenderableType] = []
    for split in report.splits:
        table = Table(title=f"{split.split}, {split.documents} documents", title_justify="left")
        for heading in ("field", "labelled", "read", "right", "precision", "recall"):
            table.add_column(heading, justify="left" if heading == "field" else "right")
        for one in split.fields:
            table.add_row(
                one.field, str(one.labelled), str(one.answered), str(one.right), show(one.precision), show(one.recall)
            )
        parts.append(table)
        parts.append(
            Text(
                f"quarantined {show(split.quarantined)}; labelled troubles found {show(split.troubles_found)}; "
                f"totals and dates that pass validation right {show(split.validated_right)} of {split.validated}\n"
            )
        )
    return Group(*parts)
