"""Fields read at ingest: values with their places, stated nones, and what waits for a person."""

from __future__ import annotations

import time
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from evaluation.fields_labels import load_field_set
from evaluation.fields_run import misplaced, run_fields
from ingest.extract.base import ExtractedDocument
from ingest.extract.registry import extract
from ingest.fields.amounts import find_amounts
from ingest.fields.corrections import apply_corrections, parse_corrections, remaining
from ingest.fields.dates import find_dates
from ingest.fields.flat import flatten
from ingest.fields.number_words import number_of
from ingest.fields.read import FieldsRead, read_fields
from ingest.fields.resolve import resolve_references, superseded_ids
from ingest.fields.text import fold
from ingest.metadata import TypedMetadata, typed
from search_config.document_fields import FieldStatus, Origin, PartyKind, Relation, Trouble
from search_config.errors import InvalidRequest

FILE_LIMIT = 1_000_000
# Linear rules read a megabyte in well under a second; quadratic ones would take hours.
HOSTILE_SECONDS = 5.0


def _read(text: str) -> FieldsRead:
    document = extract(text.encode(), name="x.txt", max_bytes=FILE_LIMIT)
    return read_fields(document, typed(document.metadata))


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ('ט"ו בשבט תשפ"ד', date(2024, 1, 25)),
        ("כ״ט בניסן התשפ״ג", date(2023, 4, 20)),
        ('י"ד באדר ב\' תשפ"ד', date(2024, 3, 24)),
        ("15.2.24", date(2024, 2, 15)),
        ("15 בפברואר 2024", date(2024, 2, 15)),
        ("15 לחודש פברואר 2024", date(2024, 2, 15)),
        ("March 14, 2025", date(2025, 3, 14)),
        ("1st day of March, 2023", date(2023, 3, 1)),
        ("14/3/25", date(2025, 3, 14)),
        ("3/4/25", date(2025, 4, 3)),
        ("2023-11-09", date(2023, 11, 9)),
        ("12.12.99", date(1999, 12, 12)),
        ("15 בפבר' 2024", date(2024, 2, 15)),
        ("3 באוג׳ 23", date(2023, 8, 3)),
    ],
)
def test_forms_of_dates(written: str, day: date) -> None:
    (found,) = find_dates(fold(f"ביום {written} ואילך"))
    assert found.value == day
    assert f"ביום {written} ואילך"[found.start : found.end] == written


@pytest.mark.parametrize("written", ["51-234567-8", "4471-03-20", "22871-05-23", "10.0.0.12", "2.3.1", "050-5550144"])
def test_numbers_that_are_no_dates(written: str) -> None:
    assert find_dates(written) == []


@pytest.mark.parametrize(
    ("written", "trouble"),
    [
        ("31.2.24", Trouble.IMPOSSIBLE_DATE),
        ("ל' באייר תשפ\"ד", Trouble.IMPOSSIBLE_DATE),
        ("3/14/25", Trouble.AMBIGUOUS_DATE),
        ('י"ד באדר תשפ"ד', Trouble.AMBIGUOUS_DATE),
    ],
)
def test_dates_that_wait_for_a_person(written: str, trouble: Trouble) -> None:
    read = _read(f"הסכם\nנחתם ביום {written} בין דנה לוי לבין רון בר\n")
    assert read.fields.signed.status is FieldStatus.NOT_FOUND
    (issue,) = read.issues
    assert (issue.field, issue.trouble, issue.as_read) == ("signed", trouble, written)


@pytest.mark.parametrize(
    ("written", "value", "currency"),
    [
        ('12,500 ש"ח', "12500", "ILS"),
        ("₪ 1,200.50", "1200.50", "ILS"),
        ("USD 3k", "3000", "USD"),
        ("38.250,00 €", "38250.00", "EUR"),
        ('1.2 מיליון ש"ח', "1200000", "ILS"),
        ("שנים עשר אלף שקלים", "12000", "ILS"),
        ("-340.00 ש״ח", "-340.00", "ILS"),
        ("CHF 3'753.23", "3753.23", "CHF"),
    ],
)
def test_forms_of_amounts(written: str, value: str, currency: str) -> None:
    (found,) = find_amounts(fold(written))
    assert (found.value, found.currency) == (Decimal(value), currency)


def test_number_words() -> None:
    assert number_of("חמשת אלפים ושש מאות") == 5600
    assert number_of("one hundred and twenty thousand") == 120_000
    assert number_of("one two") is None


def test_the_line_of_the_specification() -> None:
    text = 'נחתם ביום 10 בפברואר 2023 בין עיריית גבעת הדר לבין Acme Ltd. (ח.פ. 51-234567-8), בסך 12,500 ש"ח'
    fields = _read(text).fields
    assert fields.signed.value == date(2023, 2, 10)
    assert (fields.amount.value, fields.currency.value) == (Decimal(12500), "ILS")
    parties = [one.value for one in fields.parties if one.value]
    assert [(one.name, one.kind, one.identifier) for one in parties] == [
        ("עיריית גבעת הדר", PartyKind.AUTHORITY, None),
        ("Acme Ltd.", PartyKind.VENDOR, "51-234567-8"),
    ]
    places = [fields.signed.place, fields.amount.place, *(one.place for one in fields.parties)]
    assert all(place is not None and text[place.from_ : place.to] == place.as_read for place in places)


def test_a_memo_without_amounts_has_no_issue() -> None:
    read = _read("מזכר\nלכל העובדים: המטבחון ייסגר ביום חמישי.\n")
    assert read.issues == ()
    assert read.fields.amount.status is FieldStatus.NOT_FOUND
    assert "amount" in flatten(read.fields).not_found


def test_stated_none_is_not_not_found() -> None:
    fields = _read("הסכם\nההסכם ניתן ללא תמורה ובתוקף ללא הגבלת זמן.\n").fields
    assert (fields.amount.status, fields.expires.status) == (FieldStatus.STATED_NONE, FieldStatus.STATED_NONE)
    assert flatten(fields).stated_none == ("expires", "amount")


@pytest.mark.parametrize(
    ("line", "trouble"),
    [
        ('סה"כ לתשלום: 5,000 ש"ח\nסה"כ לתשלום: 6,000 ש"ח', Trouble.CONTRADICTING_TOTALS),
        ('סה"כ לתשלום: -340.00 ש"ח', Trouble.NEGATIVE_AMOUNT),
        ('סכום ההזמנה: 10,000 ש"ח (אחד עשר אלף שקלים)', Trouble.CONTRADICTING_TOTALS),
    ],
)
def test_totals_that_wait_for_a_person(line: str, trouble: Trouble) -> None:
    read = _read(f"חשבונית מס 12\n{line}\n")
    assert [issue.trouble for issue in read.issues] == [trouble]
    assert read.fields.amount.status is FieldStatus.NOT_FOUND


def test_a_person_corrects_and_the_rest_stays() -> None:
    read = _read('הסכם\nנחתם ביום 31.2.24 בין דנה לוי לבין רון בר\nסה"כ לתשלום: 500 ש"ח\n')
    said = parse_corrections({"signed": "2024-02-29", "expires": "none"})
    fields = apply_corrections(read.fields, said)
    assert (fields.signed.value, fields.signed.origin) == (date(2024, 2, 29), Origin.PERSON)
    assert (fields.expires.status, fields.expires.origin) == (FieldStatus.STATED_NONE, Origin.PERSON)
    assert fields.amount == read.fields.amount
    assert len(read.issues) == 1
    assert remaining(read.issues, said) == ()


def test_corrections_that_do_not_validate_are_named_all_at_once() -> None:
    with pytest.raises(InvalidRequest, match=r"amount.*colour"):
        parse_corrections({"amount": "-5", "colour": "red"})


def test_references_are_resolved_and_replacing_is_told() -> None:
    read = _read("נוהל 7/2024\nנוהל זה מחליף את נוהל 12/2019.\nראו נוהל 5/2021.\n")
    fields = resolve_references(read.fields, {"12/2019": "old"}.get)
    assert [(one.reference, one.relation, one.document_id) for one in fields.refers_to] == [
        ("12/2019", Relation.SUPERSEDES, "old"),
        ("5/2021", Relation.REFERS, None),
    ]
    assert superseded_ids(fields) == ("old",)
    flat = flatten(fields)
    assert (flat.supersedes, flat.refers_to, flat.superseded_by) == (("old",), ("old", "5/2021"), None)


def test_front_matter_wins_where_it_is_valid() -> None:
    document = extract(
        "---\ntype: report\ndate: 2024-01-02\namount: -5\n---\n\n# הסכם\n\nנחתם ביום 1.1.2020\n".encode(),
        name="x.md",
        max_bytes=FILE_LIMIT,
    )
    read = read_fields(document, typed(document.metadata))
    assert (read.fields.type.value, read.fields.type.origin) == ("report", Origin.FILE)
    assert read.fields.signed.value == date(2024, 1, 2)
    assert [(issue.field, issue.trouble) for issue in read.issues] == [("amount", Trouble.INVALID_VALUE)]


@pytest.mark.parametrize(
    "part",
    [
        "1.1.",
        "\n",
        "בין א לבין ב ",
        'סה"כ לתשלום 5 ש"ח ',
        "אלף ",
        "הסכם מס' ",
        "ספק: א\n",
        '(להלן: "',
        "$ ",
        "ח.פ. 512345678 ",
    ],
)
def test_hostile_texts_take_linear_time(part: str) -> None:
    text = (part * FILE_LIMIT)[:FILE_LIMIT]
    document = ExtractedDocument(text=text, title="", blocks=(), media_type="text/plain")
    started = time.process_time()
    read_fields(document, TypedMetadata())
    assert time.process_time() - started < HOSTILE_SECONDS


def test_the_labelled_set(examples: Path) -> None:
    field_set = load_field_set(examples / "fields", max_file_bytes=FILE_LIMIT)
    assert len(field_set.labels) >= 80
    assert misplaced(field_set) == ()
    report = run_fields(field_set, ("dev",))
    assert report.splits[0].misses() == ()


def test_two_dates_with_a_hyphen_between_them() -> None:
    found = find_dates(fold("בין 15/02/2024-20/02/2024 בלבד"))
    assert [one.value for one in found] == [date(2024, 2, 15), date(2024, 2, 20)]


@pytest.mark.parametrize("written", ['12,500.- ש"ח', "12,500 שח", "12,500 ש''ח"])
def test_careless_shekels(written: str) -> None:
    (found,) = find_amounts(fold(f"בסך {written} בלבד"))
    assert (found.value, found.currency) == (Decimal(12500), "ILS")


def test_a_number_is_that_of_the_party_before_it() -> None:
    fields = _read(
        'הסכם שירותים\n\nבין עיריית גבעת הדר (להלן: "העירייה") לבין Acme Ltd. (ח.פ. 51-234567-8) (להלן: "הספק")'
    ).fields
    numbers = {one.value.name: one.value.identifier for one in fields.parties if one.value}
    assert numbers == {"עיריית גבעת הדר": None, "Acme Ltd.": "51-234567-8"}
