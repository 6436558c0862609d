"""Which sum is the document's total: by the words beside each. Pure.

The total is what is to be paid, tax included where both are said; a contract's whole consideration; a report's total.
Prices of units, instalments, deposits, discounts and tax are none. Where one wording names two sums, no guess is made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Final

from ingest.fields.amounts import AmountFound, disagreeing_words, find_amounts, without_brackets
from ingest.fields.dates import DateFound
from ingest.fields.text import clause_before, line_after, line_before, place
from search_config.document_fields import AMOUNT_MAX, DocumentType, FieldReading, FieldStatus, QuarantineIssue, Trouble

_I: Final = re.IGNORECASE
_SUM: Final = r"(?:סה\"כ|סך[ -]?ה?כל|סך הכול|סך[ -]כולל|סכום כולל|סך כל|הסכום|total)"
_GAP: Final = r"[\s:.|(\"'),-]*$"

# Weights: of two sums the better said wins. The names are classes of wording, for contradictions.
GRAND, TO_PAY, WITH_TAX, TOTAL, WHOLE, BALANCE, SUM = 70, 65, 62, 50, 45, 30, 20
_CLASSES: Final = (
    (GRAND, re.compile(r"grand total", _I)),
    (
        TO_PAY,
        re.compile(
            rf"{_SUM}[^\n\d]{{0,20}}?(?:לתשלום|לזיכוי|ששולם|שולם)|סכום לתשלום|total (?:amount )?(?:due|payable"
            rf"|paid|credited|to pay)"
            r"|amount (?:due|payable|to pay)|total amount",
            _I,
        ),
    ),
    (WITH_TAX, re.compile(rf"{_SUM}[^\n\d]{{0,12}}?(?:כולל מע\"מ|incl\w*\.? (?:vat|tax))", _I)),
    (
        TOTAL,
        re.compile(
            rf"{_SUM}|התמורה (?:הכוללת|המלאה|הסופית)|(?:סך|סכום) כולל של|(?:עלות|תמורה|סכום|תקציב|מענק|מחיר"
            rf"|ה?כולל)[א-ת]* (?:ה?כוללת?|ב?סך כולל)"
            r"|[א-ת]+ הכוללים|ה?כולל(?:ת)?(?: הוא| היא| בסך| של)?[\s:]*$"
            r"|תקרת ההתקשרות|(?:התקשרות|תמורה|סך|תקציב|הזמנה)[^.\n\d]{0,40}לא [תי]עלה על|בסך כולל|in total"
            r"|whole (?:engagement|price)|maximum total value",
            _I,
        ),
    ),
    (
        WHOLE,
        re.compile(
            r"התמורה|תמורת|בתמורה ל|סכום ה(?:הלוואה|הסכם|התקשרות|עסקה|חוזה|הזמנה|תביעה|הצעה)|ערך ה(?:חוזה|הסכם"
            r"|עסקה)|היקף ההתקשרות|שווי|מחיר העבודה|אומדן עלות|עלות הפרויקט|שכר ה?טרחה"
            r"|contract (?:price|sum|value)|purchase price|in consideration|consideration of|agreed fee"
            r"|^\W*(?:fee|price|premium|cost)\b|sum of|total fee"
            r"|estimated at|refund of|final account|budget of|value of|price of",
            _I,
        ),
    ),
    (BALANCE, re.compile(r"יתר(?:ה|ת)|balance", _I)),
    (SUM, re.compile(r"בסך|(?:סך|סכום) של|בסכום|על סך|לשלם|ישלם|תשלם|ישולם|in the amount|shall pay|lends", _I)),
)
_PART: Final = re.compile(
    r"לפני מע\"מ|לא כולל מע\"מ[:\s]*$|חייב במע\"מ|(?<!כולל)(?:^|[\s|(])מע\"מ(?: \(?[\d.]+ ?%\)?)?"
    + _GAP
    + r"|תשלומים(?: חודשיים)?(?: שווים)? (?:של|בסך)"
    r"|ערבות|ביטוח|פיצוי|פי?קדון|מקדמה|הנח[הת]|קנס|פיגור|ליחידה|השתתפות עצמית|דמי השכירות החודשיים|חודשי(?:ת"
    r"|ים)?[^\n]{0,20}$|מחיר ליחידה|מחיר (?:ה?ארוחה|מנה|שעה)"
    r"|(?:רכישה|הזמנה|הוצאה|סכום|בסכום) (?:עד|של עד)|שער (?:המרה|ה?חליפין)"
    r"|sub-?\s?total|\bnet\b|before (?:vat|tax)|excl\w*\.? (?:vat|tax)|(?:vat|sales tax|tax)(?: \(?[\d.]+ ?%\)?)?"
    + _GAP
    + r"|deposit|discount|insurance|guarantee|rises? by|monthly|hourly|instal?ments? of|late payment|penalt"
    r"|per (?:month|hour|day|unit)|each at|@\s*$|\bat\s*$|orders? (?:over|up to|above)|insured up to|freight",
    _I,
)
_UNIT: Final = re.compile(
    r"^\s*\)?\s*,?\s*(?:לכל|כל אחד|כל אחת|ליחידה|לשעה|לחודש|ליום|לנפש|למ\"ר|לפני מע\"מ|per\b|each\b|a month"
    r"|a day|an hour|for each|/\s?(?:month|hour|unit|day)|monthly|before (?:vat|tax))",
    _I,
)
_IN_TOTAL: Final = re.compile(r"^\s*,?\s*(?:בסך הכול|בסך הכל|בסה\"כ|in total|in all\b|altogether)", _I)
_NET: Final = re.compile(r"לפני מע\"מ")
_TAX_AFTER: Final = re.compile(r"^\s*,?\s*\(?(?:כולל מע\"מ|incl\w*\.? (?:vat|tax))", _I)
_CURRENCY_WORD: Final = re.compile(r"\b(ILS|NIS|USD|EUR|GBP|CHF)\b")
_FREE: Final = re.compile(
    r"ללא (?:כל )?(?:תמורה|תשלום|עלות|שכר|חיוב|דמי \S+)|אינו כרוך בתשלום|(?<![א-ת])ב?חינם(?![א-ת])"
    r"|\bfree of charge\b|\b(?:no|without|at no|without any) (?:charge|consideration|cost|fee)\b|\bno (?:fee"
    r"|payment) is\b|אין תשלום|לא ישולם תשלום",
    _I,
)
_TO_BE_FREE: Final = re.compile(r"(?:לא|אינ[והםן])\s*$|\bnot\s*$")
# What is offered or bought under a limit is no total: "purchases up to 50,000".
_LIMIT: Final = re.compile(
    r"(?:רכישה|רכש|הוצאה|הזמנה|purchases?|orders?|expenses?)[^.\n]{0,30}(?:עד|מעל|over|up to|above|under)\s*$", _I
)
# Kinds in which one sum alone, beside a verb of paying, is the document's.
_SOLE: Final = frozenset(
    {
        DocumentType.CONTRACT,
        DocumentType.INVOICE,
        DocumentType.CORRESPONDENCE,
        DocumentType.PROTOCOL,
        DocumentType.REPORT,
    }
)
# A letter or a short contract of two pages: in longer texts "the sum of" is mostly a fine or a guarantee.
SHORT_CHARS: Final = 4_000
# Weak wording counts right beside its sum.
BESIDE_CHARS: Final = 50


@dataclass(frozen=True, slots=True)
class Total:
    """A document's total with its currency, and what can't be taken."""

    amount: FieldReading[Decimal]
    currency: FieldReading[str]
    issues: tuple[QuarantineIssue, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    found: AmountFound
    weight: int
    label: str


def read_total(text: str, folded: str, dates: Sequence[DateFound], kind: DocumentType) -> Total:
    """The total.

    Args:
        text: canonical.
        folded: the same, folded.
        dates: of the text; a date is no sum.
        kind: the document's type.
    """
    amounts = _beside_dates(find_amounts(folded), dates)
    doubtful = {id(pair[0]): pair for pair in disagreeing_words(folded, amounts)}
    amounts = without_brackets(folded, amounts)
    candidates = [made for one in amounts if (made := _candidate(folded, one, kind)) is not None]
    if not candidates:
        candidates = _sole(folded, amounts, kind)
    if not candidates:
        return _none(text, folded)
    weight = max(one.weight for one in candidates)
    best = [one for one in candidates if one.weight == weight]
    if _many_decisions(best, kind, len(folded)):
        return _none(text, folded)
    chosen = _pick(best)
    if chosen is None or id(chosen.found) in doubtful:
        pair = doubtful.get(id(chosen.found)) if chosen else None
        shown = [one.found for one in best] if pair is None else list(pair)
        return _refused(text, Trouble.CONTRADICTING_TOTALS, "Several sums are called the total.", shown)
    if chosen.found.value < 0:
        return _refused(text, Trouble.NEGATIVE_AMOUNT, "The total is below zero.", [chosen.found])
    if chosen.found.value > AMOUNT_MAX:
        return _refused(text, Trouble.INVALID_VALUE, "No sum is so large.", [chosen.found])
    return _total(text, folded, chosen.found, amounts)


def _beside_dates(amounts: Sequence[AmountFound], dates: Sequence[DateFound]) -> list[AmountFound]:
    """Sums that no date overlaps; both in reading order."""
    taken = iter(sorted((one.start, one.end) for one in dates))
    span = next(taken, None)
    kept = []
    for one in amounts:
        while span is not None and span[1] <= one.start:
            span = next(taken, None)
        if span is None or one.end <= span[0]:
            kept.append(one)
    return kept


def _many_decisions(best: Sequence[_Candidate], kind: DocumentType, length: int) -> bool:
    """Whether a protocol, a report or a letter names several sums, none of which is its total."""
    if kind in (DocumentType.CONTRACT, DocumentType.INVOICE) or best[0].weight >= WITH_TAX:
        return False
    if len({one.found.value for one in best}) == 1:
        return False
    labels = {one.label for one in best}
    return length > SHORT_CHARS or (len(labels) == len(best) and best[0].weight <= WHOLE)


def _candidate(folded: str, found: AmountFound, kind: DocumentType) -> _Candidate | None:
    """The sum with its weight; None where nothing calls it a total."""
    line = line_before(folded, found.start)
    left = clause_before(folded, found.start)
    after = line_after(folded, found.end)
    # On a line with several numbers only what stands behind the last of them speaks of this one.
    near = re.split(r"\d[\d.,']*(?:\s*(?:₪|ש\"ח|[$€£]))?(?=\s|$)", left)[-1] if _is_row(line) else left
    base = found.start - len(near)
    if found.currency is None and not _bare_total(line, after):
        return None
    if _IN_TOTAL.match(after):
        return _Candidate(found, TOTAL, line.strip())
    if _TAX_AFTER.match(after) and len(folded) <= SHORT_CHARS and not _PART.search(_NET.sub("", near)):
        return _Candidate(found, TOTAL, _label(line))
    if _UNIT.match(after) or _LIMIT.search(near):
        return None
    for weight, pattern in _CLASSES:
        cue = _last(pattern, near)
        if cue is None:
            continue
        if not _trusted(weight, kind, len(folded), found.start - (base + cue.end())):
            return None
        part = _last(_PART, near)
        if part is not None and part.end() > cue.start() and not (weight >= TO_PAY and part.start() < cue.start()):
            return None
        return _Candidate(found, weight, _label(line))
    return None


def _last(pattern: re.Pattern[str], words: str) -> re.Match[str] | None:
    """The last match: what stands nearest to the sum."""
    found = None
    for one in pattern.finditer(words):
        found = one
    return found


def _trusted(weight: int, kind: DocumentType, length: int, distance: int) -> bool:
    """Whether a wording is enough. Rules speak of sums that are no total: limits, fines; so do long texts."""
    if kind in (DocumentType.PROCEDURE, DocumentType.REPORT, DocumentType.OTHER) and weight < WHOLE:
        return False
    if kind is DocumentType.PROCEDURE:
        return weight >= WITH_TAX
    if kind is DocumentType.OTHER and weight <= WHOLE and length > SHORT_CHARS:
        return False
    if weight <= SUM and (kind not in _SOLE or length > SHORT_CHARS):
        return False
    return weight > WHOLE or distance <= BESIDE_CHARS


def _is_row(line: str) -> bool:
    return len(re.findall(r"\d[\d.,]*", line)) > 1


def _bare_total(line: str, after: str) -> bool:
    """A number without a currency counts on a line that begins with a word for total, and ends with the number."""
    return re.match(rf"^\W*{_SUM}|^\W*(?:grand|balance|amount) ", line, _I) is not None and not re.search(
        r"\d|[א-תA-Za-z]{2}", after
    )


def _label(line: str) -> str:
    return re.sub(r"[\d\W]+", " ", line).strip().lower()


def _pick(best: list[_Candidate]) -> _Candidate | None:
    """The one that is meant; None where equal words name different sums."""
    values = {(one.found.value, one.found.currency) for one in best}
    first = best[0]
    if len(values) == 1:
        return first
    if first.weight >= WITH_TAX:
        # The same sum in another currency, in brackets behind it, is a conversion.
        currencies = {one.found.currency for one in best}
        same_line = all(0 <= b.found.start - a.found.end <= len(" (or approx. ") for a, b in pairwise(best))
        return first if len(currencies) == len(best) and same_line else None
    by_label: dict[str, set[Decimal]] = {}
    for one in best:
        by_label.setdefault(one.label, set()).add(one.found.value)
    if first.weight == TOTAL:
        if any(len(sums) > 1 for label, sums in by_label.items() if label):
            return None
        if not all(one.found.value >= 0 for one in best):
            return min(best, key=lambda one: one.found.value)
        # A total of totals is the largest of them; before tax and with it, the one with it.
        return max(best, key=lambda one: one.found.value)
    if any(len(sums) > 1 for label, sums in by_label.items() if label):
        return None
    return first


def _sole(folded: str, amounts: Sequence[AmountFound], kind: DocumentType) -> list[_Candidate]:
    """The only sum of a document of a kind that speaks of one."""
    if kind not in (DocumentType.INVOICE, DocumentType.CORRESPONDENCE, DocumentType.CONTRACT):
        return []
    money = [one for one in amounts if one.currency is not None]
    if not money or len({(one.value, one.currency) for one in money}) > 1:
        return []
    one = money[0]
    if _UNIT.match(line_after(folded, one.end)) or _PART.search(clause_before(folded, one.start)):
        return []
    return [_Candidate(one, SUM, "")]


def _total(text: str, folded: str, found: AmountFound, amounts: Sequence[AmountFound]) -> Total:
    currency, where = found.currency, place(text, found.start, found.end)
    currency_place = where
    if currency is None:
        named = _CURRENCY_WORD.search(line_before(folded, found.start))
        used = {one.currency for one in amounts if one.currency}
        if named is not None:
            currency = {"NIS": "ILS"}.get(named[1], named[1])
            begins = found.start - len(line_before(folded, found.start))
            currency_place = place(text, begins + named.start(), begins + named.end())
        elif len(used) == 1:
            currency = next(iter(used))
            first = next(one for one in amounts if one.currency)
            currency_place = place(text, first.start, first.end)
    return Total(
        amount=FieldReading(status=FieldStatus.VALUE, value=found.value, place=where),
        currency=FieldReading(status=FieldStatus.VALUE, value=currency, place=currency_place)
        if currency
        else FieldReading(),
        issues=(),
    )


def _none(text: str, folded: str) -> Total:
    # In a long text what is free is one clause of many.
    for found in _FREE.finditer(folded) if len(folded) <= SHORT_CHARS else ():
        if _TO_BE_FREE.search(folded[max(0, found.start() - 8) : found.start()]):
            continue
        where = place(text, found.start(), found.end())
        return Total(FieldReading(status=FieldStatus.STATED_NONE, place=where), FieldReading(), ())
    return Total(FieldReading(), FieldReading(), ())


def _refused(text: str, trouble: Trouble, what: str, shown: Sequence[AmountFound]) -> Total:
    where = place(text, shown[0].start, shown[0].end)
    words = "; ".join(dict.fromkeys(text[one.start : one.end] for one in shown))
    issue = QuarantineIssue(field="amount", trouble=trouble, what=what, as_read=words, place=where)
    return Total(FieldReading(), FieldReading(), (issue,))
