"""An exact answer as one sentence, in Hebrew or English. Pure."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Final

from query.metadata_result import CountedDocument, Excluded, MetadataAnswer

# Names in a sentence; the answer's `documents` and `values` have more.
SHOWN: Final = 10
HEBREW_FIELDS: Final = {
    "signed": "תאריך חתימה",
    "effective": "תאריך תחילה",
    "expires": "תאריך סיום",
    "amount": "סכום",
    "currency": "מטבע",
    "parties": "צדדים",
    "type": "סוג",
    "language": "שפה",
    "date": "תאריך",
}
ENGLISH_FIELDS: Final = {
    "signed": "date of signing",
    "effective": "date of beginning",
    "expires": "date of expiry",
}
HEBREW: Final = {
    "none": "לא נמצא מסמך כזה.",
    "no count": "אין מסמכים כאלה.",
    "currencies": "הסכומים אינם ידועים במטבע אחד: {currencies}.",
    "sum": "הסכום הכולל הוא {value}, לפי {count}.",
    "average": "הסכום הממוצע הוא {value}, לפי {count}.",
    "max": "הסכום הגבוה ביותר הוא {value}: {names}.",
    "min": "הסכום הנמוך ביותר הוא {value}: {names}.",
    "latest": "האחרון, לפי {field} {value}: {names}.",
    "earliest": "הראשון, לפי {field} {value}: {names}.",
    "who": "{people} (לפי {count}).",
    "told": "{field}: {each}.",
    "grouped": "{groups} (לפי {count}).",
    "names": "{value}: {people} (לפי {count}).",
    "count": "{count}: {names}.",
    "list": "{count}: {names}.",
}
ENGLISH: Final = {
    "none": "There is no such document.",
    "no count": "There are no such documents.",
    "currencies": "The amounts are not known in one currency: {currencies}.",
    "sum": "The total is {value}, of {count}.",
    "average": "The average is {value}, of {count}.",
    "max": "The largest amount is {value}: {names}.",
    "min": "The smallest amount is {value}: {names}.",
    "latest": "The latest by {field}, {value}: {names}.",
    "earliest": "The earliest by {field}, {value}: {names}.",
    "who": "{people} (in {count}).",
    "told": "By {field}: {each}.",
    "grouped": "{groups} (in {count}).",
    "names": "{value}: {people} (in {count}).",
    "count": "{count}: {names}.",
    "list": "{count}: {names}.",
}
# Of one document, and of several: Hebrew has another suffix and another verb.
HEBREW_STATES: Final = {
    "quarantined": ("בהסגר", "בהסגר"),
    "failed": ("שקליטתו נכשלה", "שקליטתם נכשלה"),
    "in_progress": ("שעדיין נקלט", "שעדיין נקלטים"),
}


def sentence(answer: MetadataAnswer, language: str) -> str:
    """The answer in words: what was counted, and what keeps it from being exact."""
    return " ".join(sentences(answer, language))


def sentences(answer: MetadataAnswer, language: str) -> tuple[str, ...]:
    """The same, one by one: first what was counted, then what keeps it from being exact."""
    hebrew = language == "he"
    if answer.not_understood:
        words = ", ".join(f"'{word}'" for word in answer.not_understood)
        if hebrew:
            return (f"אין תשובה מדויקת: לא הובן מה פירוש {words} בשדות המסמכים.",)
        return (f"No exact answer: the documents' fields do not say what {words} means.",)
    parts = [_told(answer, hebrew=hebrew)]
    parts += [_left_out(entry, hebrew=hebrew) for entry in answer.excluded if entry.reason != "stated_none"]
    if not answer.exact:
        parts.append("לכן אין זו תשובה מדויקת." if hebrew else "So this is not exact.")
    return tuple(parts)


def _case(answer: MetadataAnswer) -> str:
    """Which sentence the answer takes."""
    kind = str(answer.kind)
    if answer.counted == 0:
        return "no count" if kind == "count" and answer.field is None else "none"
    if kind in {"sum", "average", "max", "min"} and answer.value is None:
        return "currencies"
    if kind == "count" and answer.field is not None:
        return "grouped" if answer.value is None else "names"
    return "told" if kind in {"when", "amount"} else kind


def _told(answer: MetadataAnswer, *, hebrew: bool) -> str:
    templates = HEBREW if hebrew else ENGLISH
    names = HEBREW_FIELDS if hebrew else ENGLISH_FIELDS
    if answer.counted == 1:
        count = "מסמך אחד" if hebrew else "1 document"
    else:
        count = f"{answer.counted} {'מסמכים' if hebrew else 'documents'}"
    text = templates[_case(answer)].format(
        count=count,
        value=_value(answer.value, answer.currency),
        field=names.get(answer.field or "", answer.field or ""),
        names=_names(answer.documents, answer.counted, "ועוד" if hebrew else "and more:"),
        people=", ".join(entry.name for entry in answer.values[:SHOWN]) or "-",
        groups=", ".join(f"{entry.name}: {entry.documents}" for entry in answer.values),
        each=_each(answer.documents),
        currencies=_by_currency(answer),
    )
    # A name may bring its own: "Acme Ltd."
    return text[:-1] if text.endswith("..") and not text.endswith("...") else text


def _left_out(entry: Excluded, *, hebrew: bool) -> str:
    if hebrew:
        count = "במסמך אחד" if entry.documents == 1 else f"ב-{entry.documents} מסמכים"
        if entry.reason == "not_found":
            return f"{count} לא נמצא {HEBREW_FIELDS.get(entry.field or '', 'אחד השדות')}."
        one, several = HEBREW_STATES[entry.reason]
        if entry.documents == 1:
            return f"לא נספר מסמך אחד {one}."
        return f"לא נספרו {entry.documents} מסמכים {several}."
    number = "1 document" if entry.documents == 1 else f"{entry.documents} documents"
    if entry.reason == "not_found":
        return f"In {number} no {ENGLISH_FIELDS.get(entry.field or '', entry.field or 'value')} was found."
    return f"Not counted: {number} ({entry.reason.replace('_', ' ')})."


def _names(documents: tuple[CountedDocument, ...], total: int, more: str) -> str:
    shown = "; ".join(document.name for document in documents[:SHOWN])
    return shown if total <= SHOWN else f"{shown}; {more} {total - SHOWN}"


def _each(documents: tuple[CountedDocument, ...]) -> str:
    return "; ".join(f"{document.name}: {_value(document.value, document.currency)}" for document in documents[:SHOWN])


def _by_currency(answer: MetadataAnswer) -> str:
    return ", ".join(f"{_value(entry.total, entry.currency)} ({entry.documents})" for entry in answer.values) or "-"


def _value(value: int | Decimal | date | None, currency: str | None) -> str:
    if isinstance(value, date):
        return f"{value.day}.{value.month}.{value.year}"
    shown = f"{value:,}" if isinstance(value, int | Decimal) else "-"
    return f"{shown} {currency}" if currency else shown
